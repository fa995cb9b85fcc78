/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Communications that were called one by one and ran as one kernel: batched sends and receives, coalesced collectives.
 * The calls (c10d::send, record_param_comms, nccl:send …) launch nothing; the kernel follows under an op named
 * "…coalesced", which says nothing of them. Each call becomes a communication of its own, at the kernel's time and
 * waiting for what the kernel waits for; the kernel stays as the node without time that waits for all of them, so that
 * whatever waits for the kernel waits for them.
 */
#include "convert/pytorch/link/work.h"

/* The innermost op around a kernel that speaks of communication, if that is a coalesced one. */
static bool is_coalesced(const struct link_work *work, uint32_t kernel)
{
    uint32_t op = work->out->nodes[kernel].parent;
    while (op != LINKED_NONE && (work->flags[op] & LINK_IS_COMM) == 0) {
        op = work->out->nodes[op].parent;
    }
    return op != LINKED_NONE && strstr(intern_text(&work->out->names, work->out->nodes[op].name), "coalesced") != NULL;
}

static bool is_part(const struct link_work *work, uint32_t call)
{
    uint32_t op = work->calls[call].owner;
    return work->calls[call].event == KINETO_NONE && op != LINKED_NONE &&
           (work->flags[op] & (LINK_HAS_COMM_CHILD | LINK_HAS_COMM_KERNEL)) == 0 && link_is_collective(work, op);
}

/* The `index`th communications of all kernels share a lane. */
static uint32_t lane_of_part(struct link_work *work, uint32_t index)
{
    while (work->part_lane_count <= index && !work->refused) {
        if (!MEM_GROW(work->mem, work->part_lanes, work->part_lane_capacity, work->part_lane_count)) {
            work->refused = true;
            return 0;
        }
        work->part_lanes[work->part_lane_count++] = link_lane_add(work, 0, -1);
    }
    return work->refused ? 0 : work->part_lanes[index];
}

static void coalesced_add_part(struct link_work *work, uint32_t call, uint32_t kernel, uint32_t index)
{
    uint32_t op = work->calls[call].owner;
    const struct linked_node *around = &work->out->nodes[op];
    struct linked_node made = {.start_ns = work->out->nodes[kernel].start_ns,
                               .duration_ns = work->ends[kernel] - work->out->nodes[kernel].start_ns,
                               .rf_id = around->rf_id,
                               .name = around->name,
                               .parent = op,
                               .lane = lane_of_part(work, index),
                               .comm = LINKED_NONE,
                               .host = around->host,
                               .step = -1,
                               .kind = LINKED_COMM_BARE};
    uint32_t node =
        work->refused ? LINKED_NONE : link_node_add(work, &made, work->ends[kernel], work->events[op], LINK_IS_COMM);
    if (node == LINKED_NONE || !MEM_GROW(work->mem, work->parts, work->part_capacity, work->part_count)) {
        work->refused = true;
        return;
    }
    work->parts[work->part_count++] = (struct link_key){.key = kernel, .value = node};
    for (; op != LINKED_NONE && (work->flags[op] & LINK_IS_COMM) != 0; op = work->out->nodes[op].parent) {
        work->flags[op] |= LINK_HAS_COMM_KERNEL;
    }
}

/* `from`: the first call after the last kernel that communicated. */
static void gather_parts(struct link_work *work, uint32_t from, uint32_t call)
{
    uint32_t kernel = work->calls[call].first_device;
    uint32_t count = 0;
    for (uint32_t i = from; i < call && !work->refused; i++) {
        if (is_part(work, i)) {
            coalesced_add_part(work, i, kernel, count++);
        }
    }
    if (count > 0 && !work->refused) {
        struct linked_node *node = &work->out->nodes[kernel];
        work->flags[kernel] = (uint8_t)((work->flags[kernel] & ~LINK_IS_COMM) | LINK_IS_JOIN);
        node->start_ns += node->duration_ns; /* behind its parts */
        node->duration_ns = 0;
    }
}

void link_coalesced(struct link_work *work)
{
    uint32_t from = 0;
    for (uint32_t i = 0; i < work->call_count && !work->refused; i++) {
        from = i == 0 || work->calls[i].thread != work->calls[i - 1].thread ? i : from;
        uint32_t kernel = work->calls[i].first_device;
        if (kernel == LINKED_NONE || (work->flags[kernel] & LINK_IS_COMM) == 0) {
            continue;
        }
        if (is_coalesced(work, kernel)) {
            gather_parts(work, from, i);
        }
        from = i + 1;
    }
}

/* Parts are in order of their kernels but for kernels of several threads. */
void link_join_parts(struct link_work *work)
{
    uint32_t edges = work->edge_count;
    link_keys_sort(work->parts, work->part_count);
    for (uint32_t i = 0; i < edges && work->part_count > 0 && !work->refused; i++) {
        struct link_edge edge = work->edges[i];
        if ((work->flags[edge.to] & LINK_IS_JOIN) == 0) {
            continue;
        }
        for (uint32_t at = link_keys_find(work->parts, work->part_count, edge.to);
             at < work->part_count && work->parts[at].key == edge.to; at++) {
            link_edge_add(work, work->parts[at].value, edge.from);
        }
    }
    for (uint32_t i = 0; i < work->part_count; i++) {
        link_edge_add(work, (uint32_t)work->parts[i].key, work->parts[i].value);
    }
}
