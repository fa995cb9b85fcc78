/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Between the store and the tables of lab/store/metrics_csv.h: a run with its calibration as a row, and rows entered as
 * runs (kind "import") with their calibrations. An entered row keeps its cells as settings, so that it is exported as
 * it came; of our own runs the row is computed, per training step where the number of steps is known.
 */
#ifndef ORR_LAB_STORE_METRICS_STORE_H
#define ORR_LAB_STORE_METRICS_STORE_H

#include "lab/store/metrics_csv.h"
#include "lab/store/store.h"
#include "orrery.h"
#include "report/store_text.h"

/* Enters what metrics_read has read, all of it or nothing. A row of an experiment that is there already with the same
 * numbers is not entered again. `imported` gets its runs, calibrations and known rows. */
ORR_MUST_CHECK enum orr_status metrics_enter(struct lab_store *store, const char *path, const struct metrics_row *rows,
                                             uint32_t count, struct orr_store_imported *imported,
                                             struct orr_error *err);

/* metrics.csv: the runs that are done, each with its newest calibration; calibration_all.csv: the calibrations. */
ORR_MUST_CHECK enum orr_status metrics_export(struct lab_store *store, enum metrics_order order, FILE *stream,
                                              uint64_t *rows, struct orr_error *err);

/* The two tables in the folder of a run that is done: metrics.csv with its row, calibration_all.csv with every
 * calibration of the store. */
ORR_MUST_CHECK enum orr_status metrics_keep(struct lab_store *store, int64_t run, const char *folder,
                                            struct orr_error *err);

#endif
