/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kahn's algorithm with the smallest index first: no recursion, the same result on every machine, and an input that was
 * in order already stays as it is. Edges are grouped by counting, so that nothing here is slower than the number of
 * edges, but for the heap.
 */
#include "convert/workload_order.h"

#include <inttypes.h>

#include "base/heap.h"

enum { NAMED_IN_CYCLE = 4 };

static bool order_alloc(struct workload_order *order, const struct workload *workload)
{
    size_t nodes = (size_t)workload->node_count + 2;
    size_t edges = (size_t)workload->edge_count + 1;
    size_t ranks = (size_t)workload->ranks + 2;
    *order = (struct workload_order){.words = edges * 2 + nodes * 5 + ranks};
    order->block = mem_zalloc(workload->mem, order->words * sizeof *order->block);
    if (order->block == NULL) {
        return false;
    }
    uint32_t *at = order->block;
    order->parents = at;
    order->children = at += edges;
    order->parent_start = at += edges;
    order->child_start = at += nodes;
    order->nodes = at += nodes;
    order->place = at += nodes;
    order->scratch = at += nodes;
    order->rank_start = at + nodes;
    return true;
}

void workload_order_free(struct workload_order *order, struct mem *mem)
{
    mem_free(mem, order->block, order->words * sizeof *order->block);
}

/* Counting sort of one end of the edges by the other, in the order they were added. */
static void workload_order_group_edges(const struct workload *workload, bool by_child, uint32_t *start, uint32_t *items)
{
    for (uint32_t i = 0; i < workload->edge_count; i++) {
        const struct workload_edge *edge = &workload->edges[i];
        start[(by_child ? edge->child : edge->parent) + 2]++;
    }
    for (uint32_t i = 2; i <= workload->node_count; i++) {
        start[i] += start[i - 1];
    }
    for (uint32_t i = 0; i < workload->edge_count; i++) {
        const struct workload_edge *edge = &workload->edges[i];
        items[start[(by_child ? edge->child : edge->parent) + 1]++] = by_child ? edge->parent : edge->child;
    }
}

/* The smallest index comes first. */
#define ORDER_IS_BEFORE(context, a, b) (*(a) < *(b))
HEAP_DEFINE(order_heap, uint32_t, const void *, ORDER_IS_BEFORE, HEAP_PUT);

/* Nodes in an order that respects the edges, into order->scratch; how many came out. `waiting` is by node. */
static uint32_t workload_order_sort_nodes(const struct workload *workload, struct workload_order *order,
                                          uint32_t *waiting)
{
    uint32_t *heap = order->nodes;
    uint32_t ready = 0;
    uint32_t done = 0;
    for (uint32_t i = 0; i < workload->node_count; i++) {
        waiting[i] = order->parent_start[i + 1] - order->parent_start[i];
        if (waiting[i] == 0) {
            order_heap_push(NULL, heap, &ready, i);
        }
    }
    while (ready > 0) {
        uint32_t node = order_heap_pop(NULL, heap, &ready);
        order->scratch[done++] = node;
        for (uint32_t c = order->child_start[node]; c < order->child_start[node + 1]; c++) {
            if (--waiting[order->children[c]] == 0) {
                order_heap_push(NULL, heap, &ready, order->children[c]);
            }
        }
    }
    return done;
}

static void workload_order_name_node(const struct workload *workload, uint32_t index, char *text, size_t size)
{
    const struct workload_node *node = &workload->nodes[index];
    char name[WORKLOAD_NAME_ROOM];
    if (node->line != 0) {
        (void)snprintf(text, size, "\"%s\" (line %" PRIu64 ")", workload_node_printable(workload, node, name),
                       node->line);
    } else {
        (void)snprintf(text, size, "\"%s\"", workload_node_printable(workload, node, name));
    }
}

/* Every node that still waits has a parent that waits, so going from parent to parent comes round. */
static enum orr_status workload_order_fail_cycle(const struct workload *workload, const struct workload_order *order,
                                                 const uint32_t *waiting, const char *input, struct orr_error *err)
{
    uint32_t node = 0;
    while (waiting[node] == 0) {
        node++;
    }
    uint32_t start = node;
    char names[NAMED_IN_CYCLE * 104] = "";
    size_t used = 0;
    for (uint32_t pass = 0; pass < 2; pass++) {
        uint32_t length = 0;
        uint32_t steps = pass == 0 ? workload->node_count : UINT32_MAX; /* first walk: surely inside a circle */
        do {
            char one[100];
            workload_order_name_node(workload, node, one, sizeof one);
            if (pass == 1 && length < NAMED_IN_CYCLE) {
                used += (size_t)snprintf(names + used, sizeof names - used, "%s%s", length == 0 ? "" : ", ", one);
            }
            uint32_t p = order->parent_start[node];
            while (waiting[order->parents[p]] == 0) {
                p++;
            }
            node = order->parents[p];
            length++;
        } while (pass == 0 ? --steps > 0 : node != start);
        if (pass == 1) {
            return error_set(err, ORR_EINVAL,
                             "%s: %" PRIu32 " operation%s in a circle, each waiting for the next: %s%s", input, length,
                             length == 1 ? "" : "s", names, length > NAMED_IN_CYCLE ? ", …" : "");
        }
        start = node;
    }
    return ORR_EINVAL;
}

/* Sorted, then a rank after the other; ids count from 0 in each. */
static enum orr_status order_ranks(const struct workload *workload, struct workload_order *order, const char *input,
                                   struct orr_error *err)
{
    workload_order_group_edges(workload, true, order->parent_start, order->parents);
    workload_order_group_edges(workload, false, order->child_start, order->children);
    uint32_t *waiting = order->place;
    if (workload_order_sort_nodes(workload, order, waiting) != workload->node_count) {
        return workload_order_fail_cycle(workload, order, waiting, input, err);
    }
    uint32_t *start = order->rank_start;
    for (uint32_t i = 0; i < workload->node_count; i++) {
        start[workload->nodes[i].rank + 2]++;
    }
    for (uint32_t r = 0; r < (workload->copies ? 1 : workload->ranks); r++) {
        if (start[r + 2] == 0) {
            return error_set(err, ORR_EINVAL, "%s: rank %" PRIu32 " of %" PRIu32 " has no operation", input, r,
                             workload->ranks);
        }
    }
    for (uint32_t r = 2; r <= workload->ranks; r++) {
        start[r] += start[r - 1];
    }
    for (uint32_t i = 0; i < workload->node_count; i++) {
        order->nodes[start[workload->nodes[order->scratch[i]].rank + 1]++] = order->scratch[i];
    }
    for (uint32_t r = 0; r < workload->ranks; r++) {
        for (uint32_t i = start[r]; i < start[r + 1]; i++) {
            order->place[order->nodes[i]] = i - start[r];
        }
    }
    return ORR_OK;
}

enum orr_status workload_order_make(const struct workload *workload, const char *input, struct workload_order *order,
                                    struct orr_error *err)
{
    if (!order_alloc(order, workload)) {
        return mem_error(workload->mem, "the order of the operations", err);
    }
    enum orr_status status = order_ranks(workload, order, input, err);
    if (status != ORR_OK) {
        workload_order_free(order, workload->mem);
        *order = (struct workload_order){0};
    }
    return status;
}

enum orr_status workload_check(const struct workload *workload, const char *input, struct orr_error *err)
{
    struct workload_order order;
    enum orr_status status = workload_order_make(workload, input, &order, err);
    workload_order_free(&order, workload->mem);
    return status;
}
