/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One training step, or a few in a row, cut out of a trace: the nodes of other steps go, and so do nodes outside all
 * steps but those that describe process groups; who waited for them waits for what they waited for (trace/contract.h).
 * Start times are moved so that the first node left starts at 0.
 */
#ifndef ORR_TRACE_CUT_H
#define ORR_TRACE_CUT_H

#include <stdio.h>

#include "trace/record.h"

struct cut_options {
    int64_t first, last; /* steps to keep */
};

struct cut_counts {
    uint64_t nodes_in, nodes_out;
    uint64_t joints;
};

/* As fix_trace. ORR_EINVAL when the trace has no steps, or none of these. */
ORR_MUST_CHECK enum orr_status cut_trace(struct record_reader *reader, const struct cut_options *options, FILE *stream,
                                         struct cut_counts *counts, struct mem *mem, struct orr_error *err);

#endif
