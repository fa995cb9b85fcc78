/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A smaller trace that says nearly the same, at three levels:
 *
 *   comm   communication only: everything else is contracted away, so the order of communication stays and the time
 *          between goes;
 *   merge  rows of compute on one stream or thread become one node of the same duration (trace/chains.h);
 *   step   one node for each kind of work in each step: compute on the GPU and on the CPU, memory loads and stores,
 * each collective type in each group, each direction with each peer. Steps follow each other; in a step compute comes
 * first, then communication, collectives one after the other.
 *
 * What the change costs in accuracy is measured by simulating both, which is not done here.
 */
#ifndef ORR_TRACE_SIMPLIFY_H
#define ORR_TRACE_SIMPLIFY_H

#include <stdio.h>

#include "base/notes.h"
#include "trace/record.h"

enum simplify_level { SIMPLIFY_COMM, SIMPLIFY_STEP, SIMPLIFY_MERGE };

struct simplify_counts {
    uint64_t nodes_in, nodes_out;
    uint64_t deps_in, deps_out;
    uint64_t joints;
    uint64_t steps; /* of level step: the most that a file has */
};

/* As fix_trace; what had to be assumed goes to `notes`. */
ORR_MUST_CHECK enum orr_status simplify_trace(struct record_reader *reader, enum simplify_level level, FILE *stream,
                                              struct notes *notes, struct simplify_counts *counts, struct mem *mem,
                                              struct orr_error *err);

/* Level step, in a file of its own. */
ORR_MUST_CHECK enum orr_status simplify_steps(struct record_reader *reader, FILE *stream, struct notes *notes,
                                              struct simplify_counts *counts, struct mem *mem, struct orr_error *err);

#endif
