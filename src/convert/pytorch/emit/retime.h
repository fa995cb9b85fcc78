/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The self-check of an import: played as soon as its dependencies allow, does the graph run as it was recorded?
 * Internal to emit/; works on what select.h chose, before anything is written.
 *
 * A node that would start sooner than it was recorded has waited for something that the recording does not tell (the
 * way of a launch to the device, a device idle between two kernels, another process). That time becomes a gap node
 * behind what it waited for last, so that it is not lost. A dependency whose end was recorded after the start of what
 * depends on it did not hold, and is left out. Everything else follows from the dependencies, as before.
 */
#ifndef ORR_CONVERT_PYTORCH_EMIT_RETIME_H
#define ORR_CONVERT_PYTORCH_EMIT_RETIME_H

#include "convert/pytorch/emit/select.h"

/* The gap before a node; ns == 0: none. */
struct emit_gap {
    int64_t start_ns, ns;
    uint32_t after; /* node it comes behind, or LINKED_NONE: the recording's start */
    uint32_t id;
    bool holds; /* its node's thread or stream is taken meanwhile; else nothing is */
};

struct emit_retiming {
    struct emit_gap *gaps; /* by node; NULL where nothing is retimed */
    uint64_t count;
    struct mem *mem;
};

/* Retimes and gives all written nodes and gaps their ids from `first_id` on; `counts` gets what was found. False when
 * memory is refused. */
bool emit_retime(struct emit_retiming *retiming, struct emit_selection *selection, const struct linked_trace *linked,
                 const struct emit_options *options, uint32_t first_id, struct emit_counts *counts);
void emit_retiming_free(struct emit_retiming *retiming);

#endif
