/* SPDX-License-Identifier: Apache-2.0 */
/* The store's runs as one table or one document, for programs that do not read SQLite. */
#ifndef ORR_LAB_STORE_EXPORT_H
#define ORR_LAB_STORE_EXPORT_H

#include <stdio.h>

#include "lab/store/store.h"

/* A header and a row a run, with every column of the table `run`; empty where the table has NULL. */
ORR_MUST_CHECK enum orr_status store_export_csv(struct lab_store *store, FILE *stream, uint64_t *rows,
                                                struct orr_error *err);
/* All runs with all that belongs to them, and all calibrations. */
ORR_MUST_CHECK enum orr_status store_export_json(struct lab_store *store, FILE *stream, uint64_t *rows,
                                                 struct orr_error *err);

#endif
