/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Times first, in any order that respects dependencies (a queue of nodes whose parents are done), then a sort by time,
 * depth and place. Depth keeps parents before children where a node takes no time; the place makes the order the file's
 * and nobody else's.
 */
#include "trace/compose_order.h"

#include <inttypes.h>
#include <stdlib.h>

struct key {
    uint64_t end;
    uint32_t depth, node;
};

struct ordering {
    const struct edit_graph *graph;
    const uint64_t *weight;
    uint32_t *kid_start, *kids; /* who waits for a node: node_count + 1, and all dependencies */
    uint32_t *missing;          /* parents not yet done */
    uint32_t *queue;
    struct key *keys;
};

static bool is_ordered(const struct edit_graph *graph)
{
    for (uint32_t node = 0; node < graph->node_count; node++) {
        for (uint32_t i = graph->dep_start[node]; i < graph->dep_start[node + 1]; i++) {
            uint32_t parent = graph->deps[i] & EDIT_INDEX;
            if (parent != EDIT_MISSING && parent >= node) {
                return false;
            }
        }
    }
    return true;
}

static void list_kids(struct ordering *o)
{
    const struct edit_graph *graph = o->graph;
    for (uint32_t i = 0; i < graph->dep_start[graph->node_count]; i++) {
        uint32_t parent = graph->deps[i] & EDIT_INDEX;
        if (parent != EDIT_MISSING) {
            o->kid_start[parent + 1]++;
        }
    }
    for (uint32_t node = 0; node < graph->node_count; node++) {
        o->kid_start[node + 1] += o->kid_start[node];
    }
    /* Until the lists are full, `missing` counts what each holds already. */
    for (uint32_t node = 0; node < graph->node_count; node++) {
        for (uint32_t i = graph->dep_start[node]; i < graph->dep_start[node + 1]; i++) {
            uint32_t parent = graph->deps[i] & EDIT_INDEX;
            if (parent != EDIT_MISSING) {
                o->kids[o->kid_start[parent] + o->missing[parent]++] = node;
            }
        }
    }
    for (uint32_t node = 0; node < graph->node_count; node++) {
        o->missing[node] = 0;
        for (uint32_t i = graph->dep_start[node]; i < graph->dep_start[node + 1]; i++) {
            o->missing[node] += (graph->deps[i] & EDIT_INDEX) != EDIT_MISSING;
        }
    }
}

static void compose_order_finish_node(struct ordering *o, uint32_t node, uint32_t *queued)
{
    struct key *key = &o->keys[node];
    if (__builtin_add_overflow(key->end, o->weight[node], &key->end)) {
        key->end = UINT64_MAX;
    }
    for (uint32_t i = o->kid_start[node]; i < o->kid_start[node + 1]; i++) {
        struct key *kid = &o->keys[o->kids[i]];
        kid->end = key->end > kid->end ? key->end : kid->end;
        kid->depth = key->depth + 1 > kid->depth ? key->depth + 1 : kid->depth;
        if (--o->missing[o->kids[i]] == 0) {
            o->queue[(*queued)++] = o->kids[i];
        }
    }
}

static int compose_order_compare_keys(const void *left, const void *right)
{
    const struct key *a = left;
    const struct key *b = right;
    if (a->end != b->end) {
        return a->end < b->end ? -1 : 1;
    }
    if (a->depth != b->depth) {
        return a->depth < b->depth ? -1 : 1;
    }
    return a->node < b->node ? -1 : a->node > b->node;
}

static enum orr_status sort_nodes(struct ordering *o, const char *path, uint32_t *order, struct orr_error *err)
{
    uint32_t count = o->graph->node_count;
    uint32_t queued = 0;
    list_kids(o);
    for (uint32_t node = 0; node < count; node++) {
        o->keys[node] = (struct key){.node = node};
        if (o->missing[node] == 0) {
            o->queue[queued++] = node;
        }
    }
    for (uint32_t done = 0; done < queued; done++) {
        compose_order_finish_node(o, o->queue[done], &queued);
    }
    for (uint32_t node = 0; queued < count && node < count; node++) {
        if (o->missing[node] > 0) {
            return error_set(err, ORR_EINVAL,
                             "%s: node %" PRIu64 " waits for itself in a circle; orrery trace fix repairs that", path,
                             o->graph->ids[node]);
        }
    }
    qsort(o->keys, count, sizeof *o->keys, compose_order_compare_keys);
    for (uint32_t i = 0; i < count; i++) {
        order[i] = o->keys[i].node;
    }
    return ORR_OK;
}

enum orr_status compose_order(const struct edit_graph *graph, const uint64_t *weight, const char *path, uint32_t *order,
                              struct orr_error *err)
{
    if (is_ordered(graph)) {
        for (uint32_t node = 0; node < graph->node_count; node++) {
            order[node] = node;
        }
        return ORR_OK;
    }
    struct arena arena;
    arena_init(&arena, graph->mem);
    size_t count = graph->node_count;
    struct ordering o = {.graph = graph, .weight = weight};
    o.kid_start = arena_zalloc(&arena, (count + 1) * sizeof *o.kid_start);
    o.kids = arena_alloc(&arena, ((size_t)graph->dep_start[count] + 1) * sizeof *o.kids);
    o.missing = arena_zalloc(&arena, count * sizeof *o.missing);
    o.queue = arena_alloc(&arena, count * sizeof *o.queue);
    o.keys = arena_alloc(&arena, count * sizeof *o.keys);
    enum orr_status status = ORR_OK;
    if (o.kid_start == NULL || o.kids == NULL || o.missing == NULL || o.queue == NULL || o.keys == NULL) {
        status = mem_error(graph->mem, "the order of a trace", err);
    } else {
        status = sort_nodes(&o, path, order, err);
    }
    arena_free(&arena);
    return status;
}
