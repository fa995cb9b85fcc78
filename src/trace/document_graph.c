/* SPDX-License-Identifier: Apache-2.0 */
/* Sorting and binary search everywhere: a document is for people and tools, its size is what they can look at, and the
 * same few lines serve dense ids, sparse ids and ids used twice. The order is Kahn's, without recursion. */
#include "trace/document_graph.h"
#include "base/numbers.h"

#include <stdlib.h>
#include <string.h>

struct by_id {
    uint64_t id;
    uint32_t place;
};

static int document_graph_compare_ids(const void *a, const void *b)
{
    const struct by_id *x = a;
    const struct by_id *y = b;
    if (x->id != y->id) {
        return x->id < y->id ? -1 : 1;
    }
    return x->place < y->place ? -1 : x->place > y->place;
}

static bool document_graph_sort_by_id(struct document_graph *graph, const struct trace_document *document,
                                      struct mem *mem)
{
    size_t bytes = graph->node_count * sizeof(struct by_id);
    struct by_id *pairs = mem_alloc(mem, bytes);
    if (pairs == NULL) {
        return false;
    }
    for (uint32_t i = 0; i < graph->node_count; i++) {
        pairs[i] = (struct by_id){.id = document->nodes[i]->id, .place = i};
    }
    qsort(pairs, graph->node_count, sizeof *pairs, document_graph_compare_ids);
    for (uint32_t i = 0; i < graph->node_count; i++) {
        graph->by_id[i] = pairs[i].place;
    }
    mem_free(mem, pairs, bytes);
    return true;
}

uint32_t document_graph_find(const struct document_graph *graph, const struct trace_document *document, uint64_t id)
{
    uint32_t low = 0;
    uint32_t high = graph->node_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (document->nodes[graph->by_id[middle]]->id < id) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    if (low == graph->node_count || document->nodes[graph->by_id[low]]->id != id) {
        return UINT32_MAX;
    }
    return graph->by_id[low];
}

/* Adds the dependencies that are there to `parents`; gives how many. */
static uint32_t document_graph_resolve(struct document_graph *graph, const struct trace_document *document,
                                       const uint64_t *ids, size_t count, uint32_t *parents)
{
    uint32_t found = 0;
    for (size_t i = 0; i < count; i++) {
        parents[found] = document_graph_find(graph, document, ids[i]);
        if (parents[found] == UINT32_MAX) {
            graph->missing_edges++;
        } else {
            found++;
        }
    }
    return found;
}

static void fill_parents(struct document_graph *graph, const struct trace_document *document)
{
    uint32_t next = 0;
    for (uint32_t i = 0; i < graph->node_count; i++) {
        const Chakra__Node *node = document->nodes[i];
        uint32_t *mine = graph->parents + next;
        graph->parent_start[i] = next;
        uint32_t count = document_graph_resolve(graph, document, node->data_deps, node->n_data_deps, mine);
        count += document_graph_resolve(graph, document, node->ctrl_deps, node->n_ctrl_deps, mine + count);
        qsort(mine, count, sizeof *mine, numbers_order_u32);
        uint32_t distinct = 0;
        for (uint32_t p = 0; p < count; p++) {
            if (p == 0 || mine[p] != mine[p - 1]) {
                mine[distinct++] = mine[p];
            }
        }
        next += distinct;
    }
    graph->parent_start[graph->node_count] = next;
}

struct kahn {
    uint32_t *waits;       /* parents not yet placed */
    uint32_t *child_start; /* node_count + 1 */
    uint32_t *children;
};

static void document_graph_turn_round(const struct document_graph *graph, struct kahn *kahn)
{
    for (uint32_t i = 0; i < graph->node_count; i++) {
        kahn->waits[i] = graph->parent_start[i + 1] - graph->parent_start[i];
        for (uint32_t p = graph->parent_start[i]; p < graph->parent_start[i + 1]; p++) {
            kahn->child_start[graph->parents[p] + 1]++;
        }
    }
    for (uint32_t i = 0; i < graph->node_count; i++) {
        kahn->child_start[i + 1] += kahn->child_start[i];
    }
    /* Filled from the back, each start moving down to its place again. */
    for (uint32_t i = 0; i < graph->node_count; i++) {
        for (uint32_t p = graph->parent_start[i]; p < graph->parent_start[i + 1]; p++) {
            kahn->children[--kahn->child_start[graph->parents[p] + 1]] = i;
        }
    }
}

static void place_all(struct document_graph *graph, const struct kahn *kahn)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < graph->node_count; i++) {
        if (kahn->waits[i] == 0) {
            graph->order[count++] = i;
        }
    }
    for (uint32_t done = 0; done < count; done++) {
        uint32_t node = graph->order[done];
        uint32_t end =
            node + 2 <= graph->node_count ? kahn->child_start[node + 2] : graph->parent_start[graph->node_count];
        for (uint32_t c = kahn->child_start[node + 1]; c < end; c++) {
            if (--kahn->waits[kahn->children[c]] == 0) {
                graph->order[count++] = kahn->children[c];
            }
        }
    }
    graph->ordered_count = count;
}

static bool document_graph_put_in_order(struct document_graph *graph, struct mem *mem)
{
    size_t count = graph->node_count;
    size_t bytes = (2 * count + 1 + graph->parent_start[count]) * sizeof(uint32_t);
    uint32_t *words = mem_zalloc(mem, bytes);
    if (words == NULL) {
        return false;
    }
    struct kahn kahn = {.waits = words, .child_start = words + count, .children = words + 2 * count + 1};
    document_graph_turn_round(graph, &kahn);
    place_all(graph, &kahn);
    mem_free(mem, words, bytes);
    return true;
}

static bool document_graph_build(struct document_graph *graph, const struct trace_document *document, struct mem *mem)
{
    uint64_t edges = 0;
    for (uint32_t i = 0; i < graph->node_count; i++) {
        graph->data_edges += document->nodes[i]->n_data_deps;
        graph->ctrl_edges += document->nodes[i]->n_ctrl_deps;
    }
    edges = graph->data_edges + graph->ctrl_edges;
    size_t words = (size_t)graph->node_count + 1;
    graph->by_id = arena_alloc(&graph->arena, words * sizeof(uint32_t));
    graph->order = arena_alloc(&graph->arena, words * sizeof(uint32_t));
    graph->parent_start = arena_alloc(&graph->arena, words * sizeof(uint32_t));
    graph->parents = edges >= UINT32_MAX ? NULL : arena_alloc(&graph->arena, (size_t)(edges + 1) * sizeof(uint32_t));
    if (graph->by_id == NULL || graph->order == NULL || graph->parent_start == NULL || graph->parents == NULL ||
        !document_graph_sort_by_id(graph, document, mem)) {
        return false;
    }
    fill_parents(graph, document);
    return document_graph_put_in_order(graph, mem);
}

enum orr_status document_graph_open(struct document_graph *graph, const struct trace_document *document,
                                    struct mem *mem, struct orr_error *err)
{
    struct document_graph made = {.node_count = document->node_count};
    arena_init(&made.arena, mem);
    if (!document_graph_build(&made, document, mem)) {
        arena_free(&made.arena);
        return mem_error(mem, "the dependencies of a trace", err);
    }
    *graph = made;
    return ORR_OK;
}

void document_graph_close(struct document_graph *graph)
{
    arena_free(&graph->arena);
}
