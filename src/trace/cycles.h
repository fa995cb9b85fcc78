/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Dependency cycles taken out of a trace with as few and as weak dependencies as one walk can tell. The same file loses
 * the same dependencies everywhere:
 *
 *   1. Data dependencies alone are walked in file order, depth first; one that leads back into the walk is removed.
 *   2. Both kinds are walked the same way; a control dependency that leads back is removed.
 *   3. Where a data dependency leads back there, some control dependency of the knot (nodes that all wait for each
 *      other) is at fault: those that go against the order the data dependencies give the knot are removed.
 *
 * So a data dependency is removed only where data dependencies alone form a cycle. Time and memory are linear in nodes
 * and edges, and nothing recurses.
 */
#ifndef ORR_TRACE_CYCLES_H
#define ORR_TRACE_CYCLES_H

#include "trace/edit.h"

/* Told of each dependency removed, in the order removed. */
typedef void (*cycles_removed)(void *context, uint32_t node, uint32_t parent, bool is_ctrl);

/* Self dependencies count as cycles of one and should be gone already. Removed dependencies become EDIT_MISSING, and
 * the nodes that had them dirty. ORR_ENOMEM only. */
ORR_MUST_CHECK enum orr_status cycles_break(struct edit_graph *graph, cycles_removed removed, void *context,
                                            struct orr_error *err);

#endif
