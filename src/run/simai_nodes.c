/* SPDX-License-Identifier: Apache-2.0 */
/* Reports name what was done by nodes of traces. The rows of a workload are few beside their ranks, so that one graph
 * without edges stands for all of them: a name, a kind, a size. */
#include "run/simai_program.h"

#include <string.h>

/* Appends a text; its offset. The room was counted before. */
static uint32_t add_string(struct trace_graph *graph, const char *text)
{
    uint32_t at = graph->string_bytes;
    size_t size = strlen(text) + 1;
    memcpy(graph->strings + at, text, size);
    graph->string_bytes += (uint32_t)size;
    return at;
}

static void add_cell(struct trace_graph *graph, const struct simai_row *row, uint32_t index, enum simai_phase phase,
                     uint32_t name, const uint32_t *groups)
{
    const struct simai_cell *cell = &row->cells[phase];
    struct trace_node *compute = &graph->nodes[simai_node_of(index, phase, false)];
    struct trace_node *comm = &graph->nodes[simai_node_of(index, phase, true)];
    *compute = (struct trace_node){.type = TRACE_COMP, .name = name, .lane = SIMAI_LANE_COMPUTE};
    *comm = (struct trace_node){.type = TRACE_COLL,
                                .name = name,
                                .comm_bytes = cell->bytes,
                                .comm_type = cell->type,
                                .group = cell->type == SIMAI_NO_COMM ? 0 : groups[cell->group],
                                .lane = phase == SIMAI_WG ? SIMAI_LANE_DATA : SIMAI_LANE_MODEL};
}

static void run_simai_nodes_fill(const struct simai_program *program, struct trace_graph *graph)
{
    static const char *const stages[] = {"from the stage before", "from the stage after"};
    uint32_t groups[NCCL_GROUP_TYPES];
    (void)add_string(graph, "");
    for (uint32_t i = 0; i < NCCL_GROUP_TYPES; i++) {
        groups[i] = add_string(graph, nccl_group_names[i]);
    }
    for (uint32_t i = 0; i < program->row_count; i++) {
        uint32_t name = add_string(graph, program->rows[i].name);
        for (unsigned phase = 0; phase < SIMAI_PHASES; phase++) {
            add_cell(graph, &program->rows[i], i, (enum simai_phase)phase, name, groups);
        }
    }
    for (uint32_t from = 0; from < 2; from++) {
        graph->nodes[simai_node_of_stage(program, from)] = (struct trace_node){.type = TRACE_RECV,
                                                                               .name = add_string(graph, stages[from]),
                                                                               .comm_bytes = program->stage_bytes,
                                                                               .lane = SIMAI_LANE_MODEL};
    }
    for (uint32_t i = 0; i < graph->node_count; i++) {
        graph->nodes[i].id = i;
    }
}

enum orr_status run_simai_nodes_make(const struct simai_program *program, const char *path, uint32_t gpus,
                                     struct arena *arena, struct trace_set *set, struct orr_error *err)
{
    enum { FIXED_STRINGS = 128 };
    size_t room = FIXED_STRINGS;
    for (uint32_t i = 0; i < program->row_count; i++) {
        room += strlen(program->rows[i].name) + 1;
    }
    struct trace_graph *graph = arena_zalloc(arena, sizeof *graph);
    struct trace_rank *ranks = arena_zalloc(arena, (size_t)gpus * sizeof *ranks);
    char *prefix = arena_strndup(arena, path, strlen(path));
    if (graph == NULL || ranks == NULL || prefix == NULL) {
        return mem_error(arena->mem, "the workload's rows", err);
    }
    graph->node_count = simai_node_of_stage(program, 2);
    graph->nodes = arena_zalloc(arena, (size_t)graph->node_count * sizeof *graph->nodes);
    graph->strings = arena_alloc(arena, room);
    graph->lanes = arena_zalloc(arena, SIMAI_LANES * sizeof *graph->lanes);
    if (graph->nodes == NULL || graph->strings == NULL || graph->lanes == NULL) {
        return mem_error(arena->mem, "the workload's rows", err);
    }
    graph->lane_count = SIMAI_LANES;
    run_simai_nodes_fill(program, graph);
    for (uint32_t rank = 0; rank < gpus; rank++) {
        ranks[rank] = (struct trace_rank){.graph = graph, .file = rank};
    }
    *set = (struct trace_set){.ranks = ranks, .rank_count = gpus, .mem = arena->mem, .prefix = prefix};
    return ORR_OK;
}
