/* SPDX-License-Identifier: Apache-2.0 */
/*
 * All measured collectives of some tables in memory, in series: one source, GPU, release, number of nodes and GPUs and
 * operation, its rows by ascending size. What the comparison and the fit work on. Rows without a time are left out;
 * rows that say something unknown are an error with their place.
 */
#ifndef ORR_CALIB_COLL_ROWS_H
#define ORR_CALIB_COLL_ROWS_H

#include "base/arena.h"
#include "coll/timing/fit.h"

struct coll_item {
    struct timing_row row;
    const char *source, *gpu, *nccl; /* as the table has them */
};

struct coll_series {
    uint32_t first, count; /* of the items */
};

struct coll_rows {
    struct coll_item *items;
    uint32_t count, capacity;
    struct coll_series *series;
    uint32_t series_count, series_capacity;
};

/* Texts and machines live in the arena, which is of the same account as `mem`. */
ORR_MUST_CHECK enum orr_status coll_rows_read(const char *const *paths, size_t count, struct arena *arena,
                                              struct mem *mem, struct coll_rows *rows, struct orr_error *err);
void coll_rows_free(struct coll_rows *rows, struct mem *mem);

#endif
