/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Several traces of one rank made into one, one after the other (what starts a trace waits for what ended the one
 * before; where many meet many, through one joint of no duration) or side by side. The first keeps its ids, the others
 * get ids above; start times of a later trace are moved behind the end of the one before. The metadata is the first's.
 */
#ifndef ORR_TRACE_MERGE_H
#define ORR_TRACE_MERGE_H

#include <stdio.h>

#include "base/notes.h"

struct merge_counts {
    uint64_t files;
    uint64_t nodes; /* written, joints included */
    uint64_t joints;
    uint64_t links; /* dependencies between traces */
};

/* Write errors stay with `stream`. ORR_EINVAL when a trace has ids used twice or dependencies on missing nodes (trace
 * fix repairs them), ORR_ERANGE when ids run out; else as fix_trace. */
ORR_MUST_CHECK enum orr_status merge_traces(const char *const *paths, size_t count, bool parallel, FILE *stream,
                                            struct notes *notes, struct merge_counts *counts, struct mem *mem,
                                            struct orr_error *err);

#endif
