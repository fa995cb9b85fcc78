/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The graph and its longest path (spec chakra §7, 6 and 7). Which of several paths of equal length is found depends on
 * the order in which nodes and edges were added, so that order is kept: an edge set again keeps its place, nodes are
 * visited generation by generation, the first of equal predecessors and the first of equal ends win.
 */
#include "compat/chakra/hta_parts.h"

static bool hta_path_name_node(struct hta_graph *graph, uint32_t node)
{
    if (!graph->nodes[node].there) {
        graph->nodes[node] =
            (struct hta_node){.first_out = HTA_NONE, .last_out = HTA_NONE, .first_in = HTA_NONE, .last_in = HTA_NONE};
        graph->nodes[node].there = true;
        graph->order[graph->order_count++] = node;
    }
    return true;
}

static bool hta_path_prepare(struct hta *hta)
{
    struct hta_graph *graph = &hta->graph;
    if (graph->nodes != NULL) {
        return true;
    }
    graph->node_count = hta->row_count * 2;
    graph->nodes = mem_zalloc(hta->mem, graph->node_count * sizeof *graph->nodes);
    graph->order = mem_alloc(hta->mem, graph->node_count * sizeof *graph->order);
    return graph->nodes != NULL && graph->order != NULL;
}

/* A wait for a whole device has an edge from each of its streams. A recording has a few streams; one with thousands,
 * made to be so, would have more edges than fit anywhere. */
enum { EDGES_ALWAYS = 1 << 20, EDGES_A_ROW = 16 };

bool hta_add_edge(struct hta *hta, uint32_t from, uint32_t to, int64_t weight, bool is_sync)
{
    struct hta_graph *graph = &hta->graph;
    uint32_t at = graph->edge_count;
    if (graph->edge_count >= EDGES_ALWAYS && graph->edge_count / EDGES_A_ROW >= hta->row_count) {
        return hta_fail(hta, "synchronisations with too many streams");
    }
    if (!hta_path_prepare(hta) || !number_map_add(&graph->by_ends, (int64_t)((uint64_t)from << 32 | to), &at) ||
        !MEM_GROW(hta->mem, graph->edges, graph->edge_capacity, graph->edge_count)) {
        return hta_no_memory(hta);
    }
    if (at < graph->edge_count) {
        graph->edges[at].weight = weight;
        graph->edges[at].is_sync = is_sync;
        return true;
    }
    if (!hta_path_name_node(graph, from) || !hta_path_name_node(graph, to)) {
        return false;
    }
    struct hta_node *source = &graph->nodes[from];
    struct hta_node *target = &graph->nodes[to];
    graph->edges[graph->edge_count++] = (struct hta_edge){
        .from = from, .to = to, .weight = weight, .next_out = HTA_NONE, .next_in = HTA_NONE, .is_sync = is_sync};
    *(source->last_out == HTA_NONE ? &source->first_out : &graph->edges[source->last_out].next_out) = at;
    source->last_out = at;
    *(target->last_in == HTA_NONE ? &target->first_in : &graph->edges[target->last_in].next_in) = at;
    target->last_in = at;
    target->in_count++;
    return true;
}

/* §7.6. A difference of -1 is a rounding of HTA's own. */
static bool hta_path_check(struct hta *hta)
{
    for (uint32_t i = 0; i < hta->graph.edge_count; i++) {
        struct hta_edge *edge = &hta->graph.edges[i];
        int64_t stream = hta->rows[edge->from / 2].stream;
        if (edge->weight < -1) {
            return hta_fail(hta, "an operator ends before one inside it");
        }
        edge->weight = edge->weight == -1 ? 0 : edge->weight;
        if (edge->is_sync && stream != -1 && stream == hta->rows[edge->to / 2].stream) {
            return hta_fail(hta, "a kernel waits for one of its own stream");
        }
    }
    return true;
}

struct reach {
    int64_t length;
    uint32_t by; /* edge, or HTA_NONE at a path's start */
};

static void reach_node(const struct hta_graph *graph, uint32_t node, struct reach *reach)
{
    struct reach best = {0, HTA_NONE};
    bool any = false;
    for (uint32_t e = graph->nodes[node].first_in; e != HTA_NONE; e = graph->edges[e].next_in) {
        int64_t length = reach[graph->edges[e].from].length + graph->edges[e].weight;
        if (!any || length > best.length) {
            best = (struct reach){length, e};
            any = true;
        }
    }
    reach[node] = best.length >= 0 ? best : (struct reach){0, HTA_NONE};
}

/* Visits the nodes generation by generation; `queue` has room for all. Returns the node where the longest path ends, or
 * HTA_NONE when there is a cycle. */
static uint32_t reach_all(struct hta_graph *graph, struct reach *reach, uint32_t *queue)
{
    uint32_t filled = 0;
    uint32_t end = HTA_NONE;
    for (uint32_t i = 0; i < graph->order_count; i++) {
        if (graph->nodes[graph->order[i]].in_count == 0) {
            queue[filled++] = graph->order[i];
        }
    }
    for (uint32_t i = 0; i < filled; i++) {
        uint32_t node = queue[i];
        reach_node(graph, node, reach);
        end = end == HTA_NONE || reach[node].length > reach[end].length ? node : end;
        for (uint32_t e = graph->nodes[node].first_out; e != HTA_NONE; e = graph->edges[e].next_out) {
            if (--graph->nodes[graph->edges[e].to].in_count == 0) {
                queue[filled++] = graph->edges[e].to;
            }
        }
    }
    return filled == graph->order_count ? end : HTA_NONE;
}

static bool hta_path_add_pair(struct hta *hta, const struct hta_edge *edge, struct hta_result *result)
{
    const struct kineto_event *start = hta_event(hta, edge->from / 2);
    const struct kineto_event *end = hta_event(hta, edge->to / 2);
    if ((start->has & KINETO_HAS_EXTERNAL_ID) == 0 || (end->has & KINETO_HAS_EXTERNAL_ID) == 0 ||
        ((start->has | end->has) & KINETO_EXTERNAL_ID_IS_ALIAS) != 0 || start->external_id == end->external_id) {
        return true;
    }
    if (!MEM_GROW(hta->mem, result->pairs, result->capacity, result->count)) {
        return hta_no_memory(hta);
    }
    result->pairs[result->count++] = (struct hta_pair){.start = start->external_id, .end = end->external_id};
    return true;
}

bool hta_walk_path(struct hta *hta, struct hta_result *result)
{
    struct hta_graph *graph = &hta->graph;
    if (graph->edge_count == 0) {
        return hta_fail(hta, "the first ProfilerStep holds no operator");
    }
    if (!hta_path_check(hta)) {
        return false;
    }
    size_t reach_bytes = graph->node_count * sizeof(struct reach);
    size_t queue_bytes = graph->order_count * sizeof(uint32_t);
    struct reach *reach = mem_alloc(hta->mem, reach_bytes);
    uint32_t *queue = mem_alloc(hta->mem, queue_bytes);
    bool done = reach != NULL && queue != NULL;
    uint32_t node = done ? reach_all(graph, reach, queue) : HTA_NONE;
    if (!done) {
        hta->no_memory = true;
    } else if (node == HTA_NONE) {
        done = hta_fail(hta, "what waits for what is a circle");
    }
    while (done && reach[node].by != HTA_NONE) {
        const struct hta_edge *edge = &graph->edges[reach[node].by];
        done = !edge->is_sync || hta_path_add_pair(hta, edge, result);
        node = edge->from;
    }
    mem_free(hta->mem, reach, reach_bytes);
    mem_free(hta->mem, queue, queue_bytes);
    return done;
}
