/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The store's rows, read back: lists with filters, and one run with all that belongs to it. Rows live in the caller's
 * arena. What they look like on paper is report/store_text.h's.
 */
#ifndef ORR_LAB_STORE_READ_H
#define ORR_LAB_STORE_READ_H

#include "lab/store/store.h"
#include "orrery.h"
#include "report/store_text.h"

/* Runs that fit the filter, oldest first. ORR_EINVAL for a state or backend that does not exist, with the nearest. */
ORR_MUST_CHECK enum orr_status store_read_list(struct lab_store *store, const struct orr_store_filter *filter,
                                               struct arena *arena, struct store_run **runs, uint32_t *count,
                                               struct orr_error *err);

/* The number of the newest run; 0: there is none. */
ORR_MUST_CHECK enum orr_status store_read_newest(struct lab_store *store, int64_t *run, struct orr_error *err);

enum store_read {
    STORE_READ_RESULTS = 1, /* also ranks and collectives */
    STORE_READ_LOOK = 2,    /* also hash the inputs again, to say whether they are as they were */
};

/* One run (0: the newest) with its inputs, settings and calibrations, and `what` of enum store_read. ORR_EINVAL, naming
 * the newest, when there is no such run. */
ORR_MUST_CHECK enum orr_status store_read_view(struct lab_store *store, int64_t run, unsigned what, struct arena *arena,
                                               struct store_view *view, struct orr_error *err);

/* Calls `each` with every calibration, or with those of a run where `run` is not 0; texts are valid for the call. */
ORR_MUST_CHECK enum orr_status store_read_calibrations(struct lab_store *store, int64_t run,
                                                       enum orr_status (*each)(void *context,
                                                                               const struct store_calibration *row,
                                                                               struct orr_error *err),
                                                       void *context, struct orr_error *err);

#endif
