/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A node that never ran, though nothing it depends on is running, has a parent that never ran either. Following such
 * parents must come round to a node seen before: that is the cycle. No recursion and no search tree: any such walk will
 * do.
 */
#include "sim/waits.h"

static uint32_t blocked_parent(const struct sim_rank *state, uint32_t node)
{
    const struct trace_graph *graph = state->graph;
    const uint32_t *parents = graph->parents + graph->parent_start[node];
    for (uint32_t i = 0; i < graph->parent_written[node]; i++) {
        if (state->parents_left[parents[i]] > 0) {
            return parents[i];
        }
    }
    return SIM_NONE;
}

uint32_t sim_find_dependency_cycle(struct sim *sim, uint32_t rank, uint32_t *nodes, uint32_t room)
{
    const struct sim_rank *state = &sim->ranks[rank];
    uint32_t count = state->graph->node_count;
    uint32_t *seen = mem_zalloc(sim->mem, (size_t)count * sizeof *seen); /* walk number */
    if (seen == NULL) {
        return 0;
    }
    uint32_t length = 0;
    for (uint32_t start = 0; start < count && length == 0; start++) {
        uint32_t at = state->parents_left[start] > 0 ? start : SIM_NONE;
        while (at != SIM_NONE && seen[at] == 0) {
            seen[at] = start + 1;
            at = blocked_parent(state, at);
        }
        if (at == SIM_NONE || seen[at] != start + 1) {
            continue; /* ends at a node that is running, or in an earlier walk */
        }
        uint32_t first = at;
        do {
            if (length < room) {
                nodes[length] = at;
            }
            length++;
            at = blocked_parent(state, at);
        } while (at != first);
    }
    mem_free(sim->mem, seen, (size_t)count * sizeof *seen);
    return length;
}
