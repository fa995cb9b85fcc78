/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Between the public functions that import (one recording, a batch of them) and look at recordings: the list of what
 * was named, and one job imported with its report.
 */
#ifndef ORR_API_IMPORT_ONE_H
#define ORR_API_IMPORT_ONE_H

#include "convert/pytorch/import/import.h"
#include "orrery.h"

/* The folder, where there is one, and the paths, in one list in `arena`. ORR_EINVAL when there is none. */
ORR_MUST_CHECK enum orr_status import_paths(const char *folder, const char *const *paths, size_t path_count,
                                            struct arena *arena, const char *const **all, uint32_t *count,
                                            struct orr_error *err);

/* For the last table of a batch. */
struct import_sum {
    uint64_t nodes;
    int64_t step_ns; /* mean over the ranks of the mean length of a step; 0 = none recorded */
};

/* Imports one job to options->prefix, where `pattern_rest` is not NULL followed by the word of its dominant collective
 * and that; the report goes to `stream`, which may be NULL, as may `sum`. */
ORR_MUST_CHECK enum orr_status import_pairs(const struct orr_import_options *options, const char *pattern_rest,
                                            const struct import_pair *pairs, uint32_t count,
                                            const struct orr_notices *notices, struct mem *mem, FILE *stream,
                                            struct import_sum *sum, struct orr_error *err);

#endif
