/* SPDX-License-Identifier: Apache-2.0 */
/* The graph's types are changed rather than the simulator's rules: a communication node of the CPU is a timed one or
 * none, both of which exist already, and the engine keeps one meaning of every node. */
#include "trace/unmarked.h"

/* The CPU's nodes take their time; without one there is nothing to do. Memory nodes are served wherever they run. */
static uint8_t type_on_cpu(const struct trace_node *node)
{
    if (node->type == TRACE_MEM_LOAD || node->type == TRACE_MEM_STORE) {
        return node->type;
    }
    return node->duration_us == 0 && node->num_ops == 0 ? TRACE_INVALID : TRACE_COMP;
}

static enum orr_status unmarked_list_others(struct trace_graph *graph, struct mem *mem, struct orr_error *err)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < graph->node_count; i++) {
        count += graph->nodes[i].type != TRACE_COMP;
    }
    uint32_t *others = arena_alloc(&graph->arena, count * sizeof *others);
    if (others == NULL) {
        return mem_error(mem, "the nodes that do not compute", err);
    }
    graph->others = others;
    graph->other_count = 0;
    for (uint32_t i = 0; i < graph->node_count; i++) {
        if (graph->nodes[i].type != TRACE_COMP) {
            others[graph->other_count++] = i;
        }
    }
    return ORR_OK;
}

enum orr_status trace_set_unmarked_to_cpu(struct trace_set *set, uint64_t *changed, struct orr_error *err)
{
    uint64_t count = 0;
    for (uint32_t g = set->borrowed; g < set->graph_count; g++) {
        struct trace_graph *graph = set->graphs[g];
        for (uint32_t i = 0; i < graph->node_count; i++) {
            struct trace_node *node = &graph->nodes[i];
            if ((node->has & TRACE_HAS_IS_CPU_OP) == 0) {
                node->type = type_on_cpu(node);
                node->is_cpu_op = 1;
                count++;
            }
        }
        enum orr_status status = unmarked_list_others(graph, set->mem, err);
        if (status != ORR_OK) {
            return status;
        }
    }
    *changed = count;
    return ORR_OK;
}
