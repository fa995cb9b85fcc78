/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a workload is: a folder with the traces of one job (PREFIX.R.et), the prefix itself, or a folder with
 * recordings that still have to be imported. Counts the ranks, finds the groups file beside the traces, and counts the
 * training steps in them.
 *
 * Texts live in the caller's arena. Reads names, and one trace for its steps; runs nothing.
 */
#ifndef ORR_RUN_WORKLOAD_FIND_H
#define ORR_RUN_WORKLOAD_FIND_H

#include "base/arena.h"

struct run_workload {
    const char *prefix;    /* rank R's trace is PREFIX.R.et; NULL: recordings */
    const char *groups;    /* the groups file beside the traces, or NULL */
    const char *recording; /* the folder, or NULL */
    uint32_t ranks;        /* ranks 0 to ranks - 1 are there */
};

/*
 * `prefix` (NULL: the only one there) chooses among the traces of a folder, `tag` (NULL: the only one) among its
 * recordings. Traces go before recordings. ORR_EINVAL: nothing there, several prefixes (naming them), a rank missing in
 * the row; ORR_EIO.
 */
ORR_MUST_CHECK enum orr_status run_workload_find(const char *workload, const char *prefix, const char *tag,
                                                 struct arena *arena, struct run_workload *found,
                                                 struct orr_error *err);

/* The groups file beside the traces: PREFIX.groups.json, or PREFIX.json where that holds groups, as STG names it; NULL
 * where there is none. */
ORR_MUST_CHECK enum orr_status run_workload_groups(const char *prefix, struct arena *arena, const char **groups,
                                                   struct orr_error *err);

/* Says what is wrong with a prefix at which there is no trace of rank 0, where that can be told: it is a trace itself,
 * or a folder. ORR_OK: nothing is. */
ORR_MUST_CHECK enum orr_status run_workload_hint(const char *workload, struct arena *arena, struct orr_error *err);

/* ORR_EINVAL where there is a trace of a rank that the machine does not have. */
ORR_MUST_CHECK enum orr_status run_workload_surplus(const char *prefix, uint32_t ranks, struct arena *arena,
                                                    struct orr_error *err);

/* How many different training steps the nodes of rank 0 belong to; 0: it does not say, or it is in an archive. */
ORR_MUST_CHECK enum orr_status run_workload_steps(const char *prefix, struct mem *mem, uint64_t *steps,
                                                  struct orr_error *err);

#endif
