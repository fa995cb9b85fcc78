/* SPDX-License-Identifier: Apache-2.0 */
/* Arrays that grow and die together; the building is link.h's. */
#include "convert/pytorch/link/linked.h"

void linked_init(struct linked_trace *linked, struct mem *mem)
{
    *linked = (struct linked_trace){.mem = mem, .rank = -1};
    intern_init(&linked->names, mem);
}

void linked_free(struct linked_trace *linked)
{
    struct mem *mem = linked->mem;
    if (mem == NULL) {
        return;
    }
    mem_free(mem, linked->nodes, (size_t)linked->node_capacity * sizeof *linked->nodes);
    mem_free(mem, linked->deps, (size_t)linked->dep_capacity * sizeof *linked->deps);
    mem_free(mem, linked->lanes, (size_t)linked->lane_capacity * sizeof *linked->lanes);
    mem_free(mem, linked->steps, (size_t)linked->step_capacity * sizeof *linked->steps);
    mem_free(mem, linked->comms, (size_t)linked->comm_capacity * sizeof *linked->comms);
    mem_free(mem, linked->clues, (size_t)linked->clue_capacity * sizeof *linked->clues);
    mem_free(mem, linked->clue_ops, (size_t)linked->clue_op_capacity * sizeof *linked->clue_ops);
    intern_free(&linked->names);
    *linked = (struct linked_trace){.mem = mem, .rank = -1};
}
