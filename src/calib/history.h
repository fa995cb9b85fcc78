/* SPDX-License-Identifier: Apache-2.0 */
/* The calibrations that a store keeps, as a list, oldest first. */
#ifndef ORR_CALIB_HISTORY_H
#define ORR_CALIB_HISTORY_H

#include <stdio.h>

#include "lab/store/store.h"
#include "orrery.h"

ORR_MUST_CHECK enum orr_status calib_history_put(struct lab_store *store, enum orr_store_form form, FILE *stream,
                                                 struct orr_error *err);

#endif
