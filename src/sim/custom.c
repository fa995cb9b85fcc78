/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A collective that is itself a trace (spec analytical §14): each rank plays one file of sends, receives and compute
 * nodes. The order in which ASTRA-sim issues nodes that are free together is the order of its hash containers (§19),
 * and shows where links are shared, so it is reproduced: the order of each node's children and of the first free nodes
 * is found once per file, the set of free nodes lives as long as the run.
 */
#include <string.h>

#include "compat/astra/hash_order.h"
#include "sim/engine.h"

struct custom_layout {
    struct custom_layout *next;
    const struct trace_graph *graph;
    uint64_t id_offset;
    uint32_t *children; /* as graph->children, in hash order */
    uint32_t *roots;
    uint32_t root_count;
};

struct sim_custom_run {
    const struct custom_layout *layout;
    const struct trace_graph *graph;
    const struct sim_group *group; /* or NULL */
    uint32_t *parents_left;
    struct hash_order free_nodes;
    uint32_t ongoing;
};

uint32_t sim_custom_position(const struct sim *sim, uint32_t group, uint32_t rank)
{
    if (group == SIM_NONE) {
        return rank;
    }
    const struct sim_group_state *state = &sim->groups[group];
    uint32_t position = 0;
    while (position < state->group->count && state->sorted[position] != rank) {
        position++;
    }
    return position;
}

static uint64_t id_of(const struct custom_layout *layout, uint32_t node)
{
    return layout->graph->nodes[node].id + layout->id_offset;
}

static uint32_t sim_custom_node_of(const struct custom_layout *layout, uint64_t id)
{
    return trace_graph_find(layout->graph, id - layout->id_offset);
}

/* Replays how the file is read: node by node, each with the set of its parents. */
struct reading {
    struct hash_order seen;      /* ids in the order of the table of nodes */
    struct hash_order *children; /* by node */
};

static bool sim_custom_read_node(struct sim *sim, const struct custom_layout *layout, struct reading *reading,
                                 uint32_t node)
{
    const struct trace_graph *graph = layout->graph;
    struct hash_order parents;
    hash_order_init(&parents, sim->mem);
    bool added = false;
    bool ok = true;
    const uint32_t *written = graph->parents + graph->parent_start[node];
    for (uint32_t i = 0; ok && i < graph->parent_written[node]; i++) {
        ok = hash_order_insert(&parents, id_of(layout, written[i]), &added);
    }
    ok = ok && hash_order_insert(&reading->seen, id_of(layout, node), &added);
    for (uint32_t i = hash_order_first(&parents); ok && i != 0; i = hash_order_next(&parents, i)) {
        uint64_t parent = hash_order_key(&parents, i);
        ok = hash_order_insert(&reading->seen, parent, &added) &&
             hash_order_insert(&reading->children[sim_custom_node_of(layout, parent)], id_of(layout, node), &added);
    }
    hash_order_free(&parents);
    return ok;
}

static void copy_order(const struct custom_layout *layout, struct reading *reading, uint32_t *children, uint32_t *roots,
                       uint32_t *root_count)
{
    const struct trace_graph *graph = layout->graph;
    for (uint32_t node = 0; node < graph->node_count; node++) {
        uint32_t at = graph->nodes[node].first_child;
        const struct hash_order *set = &reading->children[node];
        for (uint32_t i = hash_order_first(set); i != 0; i = hash_order_next(set, i)) {
            children[at++] = sim_custom_node_of(layout, hash_order_key(set, i));
        }
    }
    for (uint32_t i = hash_order_first(&reading->seen); i != 0; i = hash_order_next(&reading->seen, i)) {
        uint32_t node = sim_custom_node_of(layout, hash_order_key(&reading->seen, i));
        if (graph->nodes[node].parent_count == 0) {
            roots[(*root_count)++] = node;
        }
    }
}

static bool fill_layout(struct sim *sim, struct custom_layout *layout)
{
    const struct trace_graph *graph = layout->graph;
    struct reading reading = {0};
    hash_order_init(&reading.seen, sim->mem);
    reading.children = mem_zalloc(sim->mem, graph->node_count * sizeof *reading.children);
    layout->children = arena_alloc(&sim->arena, graph->child_total * sizeof *layout->children);
    layout->roots = arena_alloc(&sim->arena, graph->node_count * sizeof *layout->roots);
    bool ok = reading.children != NULL && layout->children != NULL && layout->roots != NULL;
    for (uint32_t node = 0; ok && node < graph->node_count; node++) {
        hash_order_init(&reading.children[node], sim->mem);
    }
    for (uint32_t i = 0; ok && i < graph->node_count; i++) {
        ok = sim_custom_read_node(sim, layout, &reading, graph->file_order[i]);
    }
    if (ok) {
        copy_order(layout, &reading, layout->children, layout->roots, &layout->root_count);
    }
    for (uint32_t node = 0; reading.children != NULL && node < graph->node_count; node++) {
        hash_order_free(&reading.children[node]);
    }
    mem_free(sim->mem, reading.children, graph->node_count * sizeof *reading.children);
    hash_order_free(&reading.seen);
    return ok;
}

static const struct custom_layout *layout_of(struct sim *sim, const struct trace_rank *trace)
{
    for (struct custom_layout *layout = sim->custom_layouts; layout != NULL; layout = layout->next) {
        if (layout->graph == trace->graph && layout->id_offset == trace->id_offset) {
            return layout;
        }
    }
    struct custom_layout *layout = arena_zalloc(&sim->arena, sizeof *layout);
    if (layout == NULL) {
        return NULL;
    }
    layout->graph = trace->graph;
    layout->id_offset = trace->id_offset;
    if (!fill_layout(sim, layout)) {
        return NULL;
    }
    layout->next = sim->custom_layouts;
    sim->custom_layouts = layout;
    return layout;
}

static bool add_free(struct sim *sim, struct sim_custom_run *run, uint32_t node)
{
    bool added = false;
    if (!hash_order_insert(&run->free_nodes, id_of(run->layout, node), &added)) {
        sim_fail_memory(sim);
        return false;
    }
    return true;
}

static struct sim_custom_run *make_run(struct sim *sim, const struct sim_operation *operation)
{
    uint32_t position = sim_custom_position(sim, operation->group, operation->rank);
    const struct trace_rank *trace = &operation->custom->ranks[position];
    struct sim_custom_run *run = mem_zalloc(sim->mem, sizeof *run);
    if (run == NULL) {
        return NULL;
    }
    run->graph = trace->graph;
    run->group = operation->group == SIM_NONE ? NULL : sim->groups[operation->group].group;
    hash_order_init(&run->free_nodes, sim->mem);
    run->layout = layout_of(sim, trace);
    run->parents_left = mem_alloc(sim->mem, run->graph->node_count * sizeof *run->parents_left);
    if (run->layout == NULL || run->parents_left == NULL) {
        sim_custom_free(sim, run);
        return NULL;
    }
    for (uint32_t node = 0; node < run->graph->node_count; node++) {
        run->parents_left[node] = run->graph->nodes[node].parent_count;
    }
    for (uint32_t i = 0; i < run->layout->root_count; i++) {
        (void)add_free(sim, run, run->layout->roots[i]);
    }
    return run;
}

void sim_custom_free(struct sim *sim, struct sim_custom_run *run)
{
    if (run != NULL) {
        hash_order_free(&run->free_nodes);
        mem_free(sim->mem, run->parents_left, run->graph->node_count * sizeof *run->parents_left);
        mem_free(sim->mem, run, sizeof *run);
    }
}

static void finish_custom_node(struct sim *sim, struct sim_custom_run *run, uint32_t node)
{
    run->ongoing--;
    const struct trace_node *trace_node = &run->graph->nodes[node];
    for (uint32_t i = 0; i < trace_node->child_count; i++) {
        uint32_t child = run->layout->children[trace_node->first_child + i];
        if (--run->parents_left[child] == 0) {
            (void)add_free(sim, run, child);
        }
    }
}

static void issue_custom_node(struct sim *sim, uint32_t index, struct sim_custom_run *run, uint32_t node)
{
    const struct trace_node *trace_node = &run->graph->nodes[node];
    uint32_t rank = sim->streams.at[index].rank;
    struct sim_party party = {.kind = SIM_PARTY_CUSTOM, .a = index, .b = node};
    int32_t tag = sim_tag_native(trace_node->comm_tag);
    run->ongoing++;
    switch ((enum trace_node_type)trace_node->type) {
    case TRACE_SEND: {
        uint32_t to = (uint32_t)trace_node->comm_dst;
        sim_send(sim, rank, run->group == NULL ? to : run->group->ranks[to], tag, trace_node->comm_bytes, party);
        break;
    }
    case TRACE_RECV: {
        uint32_t from = (uint32_t)trace_node->comm_src;
        sim_recv(sim, run->group == NULL ? from : run->group->ranks[from], rank, tag, trace_node->comm_bytes, party);
        break;
    }
    case TRACE_COMP:
        sim_call_after(sim, rank, sim_replay_ns(trace_node), SIM_CALL_CUSTOM_DONE, index, node);
        break;
    default:
        finish_custom_node(sim, run, node); /* metadata: nothing to do */
        break;
    }
}

/* Issues all nodes that are free, in the order a copy of the set would be walked; ends the phase when nothing is left.
 */
static void sim_custom_step(struct sim *sim, uint32_t index)
{
    struct sim_custom_run *run = sim->streams.at[index].of.custom;
    while (run->free_nodes.count > 0 && !sim->queue.failed) {
        uint32_t count = run->free_nodes.count;
        uint64_t *ids = mem_alloc(sim->mem, count * sizeof *ids);
        if (ids == NULL) {
            sim_fail_memory(sim);
            return;
        }
        uint32_t at = 0;
        for (uint32_t i = hash_order_first(&run->free_nodes); i != 0; i = hash_order_next(&run->free_nodes, i)) {
            ids[at++] = hash_order_key(&run->free_nodes, i);
        }
        for (uint32_t i = 0; i < count; i++) {
            hash_order_erase(&run->free_nodes, ids[i]);
            issue_custom_node(sim, index, run, sim_custom_node_of(run->layout, ids[i]));
        }
        mem_free(sim->mem, ids, count * sizeof *ids);
    }
    if (run->ongoing == 0 && !sim->queue.failed) {
        sim->streams.at[index].of.custom = NULL;
        sim_custom_free(sim, run);
        sim_stream_proceed(sim, index);
    }
}

void sim_custom_start(struct sim *sim, uint32_t index)
{
    struct sim_operation operation = sim->operations.at[sim->streams.at[index].operation];
    struct sim_custom_run *run = make_run(sim, &operation);
    if (run == NULL) {
        sim_fail_memory(sim);
        return;
    }
    sim->streams.at[index].of.custom = run;
    sim_custom_step(sim, index);
}

void sim_custom_node_done(struct sim *sim, uint32_t index, uint32_t node)
{
    finish_custom_node(sim, sim->streams.at[index].of.custom, node);
    sim_custom_step(sim, index);
}
