/* SPDX-License-Identifier: Apache-2.0 */
/* Every writer in the field numbers nodes upwards and nearly densely, so both cases have a short way: nodes already in
 * order are not sorted, and an id that is an offset from the smallest one needs no search. The long ways (radix sort, a
 * table of id ranges) keep the time near linear whatever the ids are. */
#include "trace/graph_build.h"

#include <inttypes.h>
#include <string.h>

/* ---- order ---- */

struct id_place {
    uint64_t id;
    uint32_t place; /* in the file */
};

/* Stable, least significant byte first; bytes that are the same in all ids are skipped. Gives the array of the two that
 * holds the result. */
static struct id_place *sort_places(struct id_place *places, struct id_place *spare, uint32_t count)
{
    for (unsigned shift = 0; shift < 64; shift += 8) {
        uint32_t starts[257] = {0};
        for (uint32_t i = 0; i < count; i++) {
            starts[(places[i].id >> shift & 0xff) + 1]++;
        }
        if (starts[(places[0].id >> shift & 0xff) + 1] == count) {
            continue;
        }
        for (unsigned b = 0; b < 256; b++) {
            starts[b + 1] += starts[b];
        }
        for (uint32_t i = 0; i < count; i++) {
            spare[starts[places[i].id >> shift & 0xff]++] = places[i];
        }
        struct id_place *sorted = spare;
        spare = places;
        places = sorted;
    }
    return places;
}

/* Moves nodes and their dependency ranges so that index i holds what stood at places[i].place, following each cycle of
 * the permutation once; `places` is used up as the marker of what is done. */
static void move_nodes(struct trace_graph *graph, struct id_place *places)
{
    for (uint32_t i = 0; i < graph->node_count; i++) {
        if (places[i].place == i) {
            continue;
        }
        struct trace_node node = graph->nodes[i];
        uint32_t start = graph->parent_start[i];
        uint32_t written = graph->parent_written[i];
        uint32_t to = i;
        while (places[to].place != i) {
            uint32_t from = places[to].place;
            graph->nodes[to] = graph->nodes[from];
            graph->parent_start[to] = graph->parent_start[from];
            graph->parent_written[to] = graph->parent_written[from];
            places[to].place = to;
            to = from;
        }
        graph->nodes[to] = node;
        graph->parent_start[to] = start;
        graph->parent_written[to] = written;
        places[to].place = to;
    }
}

static enum orr_status fail_duplicate(struct et_read *read, uint64_t id, uint32_t first, uint32_t second)
{
    return error_set(read->err, ORR_EINVAL,
                     "%s: byte %" PRIu64 ": node id %" PRIu64 " is used again (first at byte %" PRIu64
                     "); ids must be unique",
                     read->name, et_read_node_offset(read, second), id, et_read_node_offset(read, first));
}

static enum orr_status order_unsorted(struct trace_graph *graph, struct et_read *read, struct id_place *places)
{
    uint32_t count = graph->node_count;
    for (uint32_t k = 0; k < count; k++) {
        places[k] = (struct id_place){.id = graph->nodes[k].id, .place = k};
    }
    struct id_place *sorted = sort_places(places, places + count, count);
    for (uint32_t i = 0; i < count; i++) {
        if (i > 0 && sorted[i - 1].id == sorted[i].id) {
            return fail_duplicate(read, sorted[i].id, sorted[i - 1].place, sorted[i].place);
        }
        graph->file_order[sorted[i].place] = i;
    }
    move_nodes(graph, sorted);
    return ORR_OK;
}

static enum orr_status order_nodes(struct trace_graph *graph, struct et_read *read)
{
    uint32_t count = graph->node_count;
    if (read->ascending) {
        for (uint32_t k = 0; k < count; k++) {
            graph->file_order[k] = k;
        }
        return ORR_OK;
    }
    size_t bytes = (size_t)count * 2 * sizeof(struct id_place);
    struct id_place *places = mem_alloc(read->mem, bytes);
    if (places == NULL) {
        return mem_error(read->mem, "sorting nodes by id", read->err);
    }
    enum orr_status status = order_unsorted(graph, read, places);
    mem_free(read->mem, places, bytes);
    return status;
}

/* ---- finding a node by id ---- */

/* Ids cut into equal ranges, about as many as nodes: a range's nodes stand together, so finding one is a look into the
 * table and a search among the few that share its range. No choice of ids makes that worse than a binary search. */
struct id_index {
    const struct trace_node *nodes;
    uint64_t first;   /* smallest id */
    uint64_t span;    /* largest id - first */
    uint32_t *starts; /* index of the first node of each range, and the node count; NULL: ids without a gap */
    size_t bytes;
    unsigned shift; /* a range has 2^shift ids */
};

static bool index_open(struct id_index *index, const struct trace_graph *graph, struct mem *mem)
{
    uint32_t count = graph->node_count;
    *index = (struct id_index){.nodes = graph->nodes, .first = graph->nodes[0].id};
    index->span = graph->nodes[count - 1].id - index->first;
    if (index->span == (uint64_t)count - 1) {
        return true;
    }
    while (index->span >> index->shift >= (uint64_t)count * 4) {
        index->shift++;
    }
    uint64_t ranges = (index->span >> index->shift) + 1;
    index->bytes = (size_t)(ranges + 1) * sizeof *index->starts;
    index->starts = mem_alloc(mem, index->bytes);
    if (index->starts == NULL) {
        return false;
    }
    uint64_t range = 0;
    for (uint32_t i = 0; i < count; i++) {
        while (range <= (graph->nodes[i].id - index->first) >> index->shift) {
            index->starts[range++] = i;
        }
    }
    index->starts[ranges] = count;
    return true;
}

static uint32_t index_find(const struct id_index *index, uint64_t id)
{
    uint64_t offset = id - index->first;
    if (offset > index->span) {
        return UINT32_MAX;
    }
    if (index->starts == NULL) {
        return (uint32_t)offset;
    }
    uint32_t low = index->starts[offset >> index->shift];
    uint32_t high = index->starts[(offset >> index->shift) + 1];
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (index->nodes[middle].id == id) {
            return middle;
        }
        if (index->nodes[middle].id < id) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return UINT32_MAX;
}

static enum orr_status graph_build_fail_missing(const struct trace_graph *graph, struct et_read *read,
                                                uint32_t dependency)
{
    uint32_t k = 0;
    while (k + 1 < graph->node_count && graph->parent_start[graph->file_order[k + 1]] <= dependency) {
        k++;
    }
    return error_set(read->err, ORR_EINVAL,
                     "%s: byte %" PRIu64 ": node %" PRIu64 " depends on node %" PRIu64 ", which is not in the file",
                     read->name, et_read_node_offset(read, k), graph->nodes[graph->file_order[k]].id,
                     read->deps.ids[dependency]);
}

/* Gives the first dependency that is not there, or the number of dependencies. */
static uint32_t resolve_all(const struct id_index *index, const uint64_t *ids, uint32_t count, uint32_t *parents)
{
    if (index->starts == NULL) {
        uint64_t largest = 0;
        for (uint32_t d = 0; d < count; d++) {
            uint64_t offset = ids[d] - index->first;
            largest = offset > largest ? offset : largest;
            parents[d] = (uint32_t)offset;
        }
        if (largest <= index->span) {
            return count;
        }
    }
    uint32_t d = 0;
    while (d < count && (parents[d] = index_find(index, ids[d])) != UINT32_MAX) {
        d++;
    }
    return d;
}

static enum orr_status graph_build_resolve(struct trace_graph *graph, struct et_read *read)
{
    struct id_index index;
    if (!index_open(&index, graph, read->mem)) {
        return mem_error(read->mem, "the index of node ids", read->err);
    }
    uint32_t missing = resolve_all(&index, read->deps.ids, read->deps.count, graph->parents);
    mem_free(read->mem, index.starts, index.bytes);
    return missing == read->deps.count ? ORR_OK : graph_build_fail_missing(graph, read, missing);
}

/* ---- children ---- */

enum { FEW_PARENTS = 16 };

/* Whether the parent at `at` stands before among the same node's. Few parents are compared with each other; of many,
 * each leaves a mark, so that a node with a million dependencies does not take their square. */
static bool is_repeat(const uint32_t *parents, uint32_t at, uint32_t written, uint32_t *marks, uint32_t mark)
{
    if (written > FEW_PARENTS) {
        bool repeat = marks[parents[at]] == mark;
        marks[parents[at]] = mark;
        return repeat;
    }
    for (uint32_t i = 0; i < at; i++) {
        if (parents[i] == parents[at]) {
            return true;
        }
    }
    return false;
}

/* Beside the nodes, because the edges are walked twice in no order and nodes are large: by node index, where its
 * children start (in the end; while they are filled in, where the next one goes), and how many parents it has. */
struct turn {
    uint32_t *next; /* one more than nodes */
    uint32_t *distinct;
    uint32_t *marks;
};

static void count_children(struct trace_graph *graph, const struct turn *turn)
{
    for (uint32_t k = 0; k < graph->node_count; k++) {
        uint32_t node = graph->file_order[k];
        uint32_t written = graph->parent_written[node];
        const uint32_t *parents = graph->parents + graph->parent_start[node];
        for (uint32_t i = 0; i < written; i++) {
            if (!is_repeat(parents, i, written, turn->marks, k + 1)) {
                turn->distinct[node]++;
                turn->next[parents[i] + 1]++;
                graph->child_total++;
            }
        }
    }
}

static void fill_children(struct trace_graph *graph, const struct turn *turn)
{
    for (uint32_t i = 0; i < graph->node_count; i++) {
        turn->next[i + 1] += turn->next[i];
    }
    for (uint32_t i = 0; i < graph->node_count; i++) {
        struct trace_node *node = &graph->nodes[i];
        node->parent_count = turn->distinct[i];
        node->first_child = turn->next[i];
        node->child_count = turn->next[i + 1] - turn->next[i];
        graph->longest_us = node->duration_us > graph->longest_us ? node->duration_us : graph->longest_us;
        graph->cycles_count += (node->has & TRACE_HAS_CYCLES) != 0;
        if (node->type != TRACE_COMP) {
            turn->distinct[graph->other_count++] = i; /* entries up to i have been used */
        }
    }
    for (uint32_t k = 0; k < graph->node_count; k++) {
        uint32_t node = graph->file_order[k];
        uint32_t written = graph->parent_written[node];
        const uint32_t *parents = graph->parents + graph->parent_start[node];
        for (uint32_t i = 0; i < written; i++) {
            if (!is_repeat(parents, i, written, turn->marks, k + 1)) {
                graph->children[turn->next[parents[i]]++] = node;
            }
        }
    }
}

static enum orr_status graph_build_turn_round(struct trace_graph *graph, struct et_read *read)
{
    size_t count = graph->node_count;
    size_t bytes = (3 * count + 1) * sizeof(uint32_t);
    uint32_t *words = mem_zalloc(read->mem, bytes);
    if (words == NULL) {
        return mem_error(read->mem, "turning dependencies into children", read->err);
    }
    struct turn turn = {.next = words, .distinct = words + count + 1, .marks = words + 2 * count + 1};
    count_children(graph, &turn);
    graph->children = arena_alloc(&graph->arena, (size_t)graph->child_total * sizeof *graph->children);
    if (graph->children != NULL) {
        memset(turn.marks, 0, count * sizeof *turn.marks);
        fill_children(graph, &turn);
        graph->others = arena_alloc(&graph->arena, graph->other_count * sizeof *graph->others);
        if (graph->others != NULL) {
            memcpy(graph->others, turn.distinct, graph->other_count * sizeof *graph->others);
        }
    }
    mem_free(read->mem, words, bytes);
    return graph->children == NULL || graph->others == NULL ? mem_error(read->mem, "a trace's edges", read->err)
                                                            : ORR_OK;
}

enum orr_status graph_build(struct trace_graph *graph, struct et_read *read)
{
    size_t bytes = (size_t)graph->node_count * sizeof(uint32_t);
    graph->parent_total = read->deps.count;
    graph->file_order = arena_alloc(&graph->arena, bytes);
    graph->parent_start = arena_alloc(&graph->arena, bytes);
    graph->parents = arena_alloc(&graph->arena, (size_t)graph->parent_total * sizeof *graph->parents);
    if (graph->file_order == NULL || graph->parent_start == NULL || graph->parents == NULL) {
        return mem_error(read->mem, "a trace", read->err);
    }
    uint32_t start = 0;
    for (uint32_t k = 0; k < graph->node_count; k++) {
        graph->parent_start[k] = start;
        start += graph->parent_written[k];
    }
    enum orr_status status = order_nodes(graph, read);
    if (status == ORR_OK && graph->node_count > 0) {
        status = graph_build_resolve(graph, read);
    }
    return status == ORR_OK ? graph_build_turn_round(graph, read) : status;
}
