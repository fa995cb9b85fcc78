/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The last part of linking: the provisional nodes in their final order, and the edges as each node's list of
 * dependencies. Sorted by start with a radix sort, which is stable, so that of equal starts the order is that of
 * putting in: host ops (around before inside), what the host did between them, device nodes. An edge against that order
 * is left out, so that none is ever part of a cycle.
 */
#include <stdlib.h>

#include "base/numbers.h"
#include "convert/pytorch/link/work.h"

enum { DIGIT_BITS = 11, DIGITS = 1 << DIGIT_BITS };

/* One pass of the radix sort, by the digit at `shift`. */
static void sort_pass(const struct linked_node *nodes, int64_t least, unsigned shift, const uint32_t *from,
                      uint32_t *to, uint32_t count)
{
    uint32_t first[DIGITS + 1] = {0};
    for (uint32_t i = 0; i < count; i++) {
        first[((((uint64_t)nodes[from[i]].start_ns - (uint64_t)least) >> shift) & (DIGITS - 1)) + 1]++;
    }
    for (uint32_t d = 0; d < DIGITS; d++) {
        first[d + 1] += first[d];
    }
    for (uint32_t i = 0; i < count; i++) {
        to[first[(((uint64_t)nodes[from[i]].start_ns - (uint64_t)least) >> shift) & (DIGITS - 1)]++] = from[i];
    }
}

static uint32_t *link_number_sort_nodes(struct link_work *work, uint32_t *order, uint32_t *scratch)
{
    const struct linked_trace *out = work->out;
    int64_t least = INT64_MAX;
    int64_t most = INT64_MIN;
    for (uint32_t i = 0; i < out->node_count; i++) {
        least = out->nodes[i].start_ns < least ? out->nodes[i].start_ns : least;
        most = out->nodes[i].start_ns > most ? out->nodes[i].start_ns : most;
    }
    uint64_t span = out->node_count == 0 ? 0 : (uint64_t)most - (uint64_t)least;
    for (unsigned shift = 0; shift < 64 && (span >> shift) != 0; shift += DIGIT_BITS) {
        sort_pass(out->nodes, least, shift, order, scratch, out->node_count);
        uint32_t *swap = order;
        order = scratch;
        scratch = swap;
    }
    return order;
}

/* The clocks of host and device drift apart: a kernel may be recorded as starting before its launch. It comes after it
 * all the same, and what follows on its stream after both. */
static void settle_starts(struct link_work *work)
{
    struct linked_node *nodes = work->out->nodes;
    for (uint32_t i = 0; i < work->edge_count; i++) {
        const struct link_edge *edge = &work->edges[i];
        if (link_is_device(work, edge->to) && !link_is_device(work, edge->from) &&
            nodes[edge->to].start_ns < nodes[edge->from].start_ns) {
            nodes[edge->to].start_ns = nodes[edge->from].start_ns;
            work->out->counts.early++;
        }
    }
    for (uint32_t i = 1; i < work->device_total && work->lane_nodes != NULL; i++) {
        const struct linked_node *before = &nodes[work->lane_nodes[i - 1]];
        struct linked_node *node = &nodes[work->lane_nodes[i]];
        if (node->lane == before->lane && node->start_ns < before->start_ns) {
            node->start_ns = before->start_ns;
        }
    }
}

static uint32_t *list_nodes(struct link_work *work)
{
    const struct linked_trace *out = work->out;
    uint32_t *order = link_alloc(work, out->node_count, sizeof *order);
    uint32_t count = 0;
    for (uint32_t i = 0; i < work->op_total && !work->refused; i++) {
        order[count++] = i;
    }
    for (uint32_t i = work->op_total; i < out->node_count && !work->refused; i++) {
        if (!link_is_device(work, i)) {
            order[count++] = i;
        }
    }
    for (uint32_t i = work->op_total; i < out->node_count && !work->refused; i++) {
        if (link_is_device(work, i)) {
            order[count++] = i;
        }
    }
    return order;
}

/* Nodes, and what names them, by their final numbers. */
static void link_number_renumber(struct link_work *work, const uint32_t *order, const uint32_t *number)
{
    struct linked_trace *out = work->out;
    size_t bytes = (size_t)out->node_count * sizeof *out->nodes;
    struct linked_node *sorted = mem_alloc(work->mem, bytes);
    if (sorted == NULL) {
        work->refused = true;
        return;
    }
    for (uint32_t i = 0; i < out->node_count; i++) {
        sorted[i] = out->nodes[order[i]];
        if (sorted[i].parent != LINKED_NONE) {
            sorted[i].parent = number[sorted[i].parent];
        }
    }
    mem_free(work->mem, out->nodes, (size_t)out->node_capacity * sizeof *out->nodes);
    out->nodes = sorted;
    out->node_capacity = out->node_count;
    for (uint32_t i = 0; i < out->clue_count; i++) {
        out->clues[i].node = number[out->clues[i].node];
    }
}

/* A handful, mostly; many only behind a wait for a device with many streams. */
void link_numbers_sort(uint32_t *items, uint32_t count)
{
    enum { HANDFUL = 16 };
    if (count > HANDFUL) {
        qsort(items, count, sizeof *items, numbers_order_u32);
        return;
    }
    for (uint32_t i = 1; i < count; i++) {
        uint32_t item = items[i];
        uint32_t at = i;
        for (; at > 0 && items[at - 1] > item; at--) {
            items[at] = items[at - 1];
        }
        items[at] = item;
    }
}

/* Dependencies of all nodes, grouped; each list sorted, duplicates removed. */
static void link_number_group_edges(struct link_work *work, const uint32_t *number)
{
    struct linked_trace *out = work->out;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < work->edge_count; i++) {
        struct link_edge edge = {.to = number[work->edges[i].to], .from = number[work->edges[i].from]};
        out->counts.against_time += edge.from >= edge.to;
        if (edge.from < edge.to) {
            out->nodes[edge.to].dep_count++;
            work->edges[kept++] = edge;
        }
    }
    /* One more than there are: a node without dependencies has a place for its list all the same. */
    if (!MEM_GROW(work->mem, out->deps, out->dep_capacity, kept)) {
        work->refused = true;
        return;
    }
    uint32_t first = 0;
    for (uint32_t i = 0; i < out->node_count; i++) {
        out->nodes[i].first_dep = first;
        first += out->nodes[i].dep_count;
        out->nodes[i].dep_count = 0;
    }
    for (uint32_t i = 0; i < kept; i++) {
        struct linked_node *node = &out->nodes[work->edges[i].to];
        out->deps[node->first_dep + node->dep_count++] = work->edges[i].from;
    }
    uint32_t used = 0;
    for (uint32_t i = 0; i < out->node_count; i++) {
        struct linked_node *node = &out->nodes[i];
        uint32_t *list = out->deps + node->first_dep;
        uint32_t begin = used;
        link_numbers_sort(list, node->dep_count);
        for (uint32_t d = 0; d < node->dep_count; d++) {
            if (used == begin || list[d] != out->deps[used - 1]) {
                out->deps[used++] = list[d];
            }
        }
        node->first_dep = begin;
        node->dep_count = used - begin;
    }
    out->dep_count = used;
}

void link_number(struct link_work *work)
{
    uint32_t count = work->out->node_count;
    settle_starts(work);
    uint32_t *order = list_nodes(work);
    uint32_t *scratch = link_alloc(work, count, sizeof *scratch);
    uint32_t *number = link_alloc(work, count, sizeof *number);
    if (work->refused) {
        return;
    }
    order = link_number_sort_nodes(work, order, scratch);
    for (uint32_t i = 0; i < count; i++) {
        number[order[i]] = i;
    }
    link_number_renumber(work, order, number);
    if (!work->refused) {
        link_number_group_edges(work, number);
    }
}
