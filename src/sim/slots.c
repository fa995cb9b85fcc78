/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which free node of a rank may be issued next.
 *
 * By ASTRA-sim's rule (spec analytical §5) a rank has three slots: CPU, compute, communication. Free nodes wait in one
 * heap per slot, smallest id first. Walking all free nodes in ascending id and issuing those whose slot is free, as
 * ASTRA-sim does, is the same as always taking the smallest head among the slots that are free: nothing releases a slot
 * inside a pass except nodes that finish at once, and those leave it as they found it. Nodes that become free inside a
 * pass are kept back until it ends.
 *
 * Policy streams gives every thread and every stream that the trace names a slot of its own; nodes that name none
 * share the three. There may be hundreds of slots, so free nodes stand in one heap, and those that find their slot held
 * wait in the slot's own. Sends and receives hold none: one may have to wait for the other, and what follows them on
 * their stream depends on them in the trace. Nothing is kept back.
 */
#include "base/heap.h"
#include "sim/engine.h"

/* The lowest node first. */
#define READY_IS_BEFORE(context, a, b) (*(a) < *(b))
HEAP_DEFINE(ready_heap, uint32_t, const void *, READY_IS_BEFORE, HEAP_PUT);

static void ready_push(struct sim *sim, struct sim_ready *ready, uint32_t node)
{
    if (!mem_reserve(sim->mem, (void **)&ready->items, &ready->capacity, (uint64_t)ready->count + 1,
                     sizeof *ready->items)) {
        sim_fail_memory(sim);
        return;
    }
    ready_heap_push(NULL, ready->items, &ready->count, node);
}

static uint32_t ready_pop(struct sim_ready *ready)
{
    return ready_heap_pop(NULL, ready->items, &ready->count);
}

enum sim_slot sim_node_slot(const struct trace_node *node)
{
    if (node->is_cpu_op) {
        return SIM_SLOT_CPU;
    }
    if (node->type == TRACE_COMP) {
        return SIM_SLOT_COMP;
    }
    return node->type == TRACE_RECV ? SIM_SLOT_NONE : SIM_SLOT_COMM;
}

/* ---- a slot for each thread and stream ---- */

/* Index into `held` and `waiting`; SIM_NONE: the node holds no slot. */
static uint32_t side_of(const struct sim_rank *state, uint32_t index)
{
    const struct trace_node *node = &state->graph->nodes[index];
    if (node->lane != 0 && state->graph->lanes[node->lane - 1].part == TRACE_LANE_NONE) {
        return SIM_NONE;
    }
    if (node->type == TRACE_SEND || node->type == TRACE_RECV || node->type == TRACE_METADATA) {
        return SIM_NONE;
    }
    return node->lane != 0 ? SIM_SLOT_NONE + node->lane - 1 : (uint32_t)sim_node_slot(node);
}

bool sim_slots_make(struct sim *sim, struct sim_rank *state)
{
    for (uint32_t i = 0; i < SIM_SLOT_NONE; i++) {
        state->slot[i] = SIM_NONE;
    }
    if (!sim_side_by_side(sim->config)) {
        return true;
    }
    state->side_count = SIM_SLOT_NONE + state->graph->lane_count;
    state->held = arena_alloc(&sim->arena, state->side_count * sizeof *state->held);
    state->waiting = arena_zalloc(&sim->arena, state->side_count * sizeof *state->waiting);
    if (state->held == NULL || state->waiting == NULL) {
        return false;
    }
    for (uint32_t i = 0; i < state->side_count; i++) {
        state->held[i] = SIM_NONE;
    }
    return true;
}

void sim_slots_free(struct sim *sim, struct sim_rank *state)
{
    for (uint32_t slot = 0; slot < SIM_SLOTS; slot++) {
        mem_free(sim->mem, state->ready[slot].items, state->ready[slot].capacity * sizeof(uint32_t));
    }
    for (uint32_t i = 0; state->waiting != NULL && i < state->side_count; i++) {
        mem_free(sim->mem, state->waiting[i].items, state->waiting[i].capacity * sizeof(uint32_t));
    }
    mem_free(sim->mem, state->late.items, state->late.capacity * sizeof(uint32_t));
}

static uint32_t next_side(struct sim *sim, struct sim_rank *state)
{
    struct sim_ready *free_nodes = &state->ready[0];
    while (free_nodes->count > 0 && !sim->queue.failed) {
        uint32_t node = ready_pop(free_nodes);
        uint32_t side = side_of(state, node);
        if (side == SIM_NONE) {
            return node;
        }
        if (state->held[side] == SIM_NONE) {
            state->held[side] = node;
            return node;
        }
        ready_push(sim, &state->waiting[side], node);
    }
    return SIM_NONE;
}

static void release_side(struct sim *sim, struct sim_rank *state, uint32_t node)
{
    uint32_t side = side_of(state, node);
    if (side == SIM_NONE) {
        return;
    }
    state->held[side] = SIM_NONE;
    if (state->waiting[side].count > 0) {
        ready_push(sim, &state->ready[0], ready_pop(&state->waiting[side]));
    }
}

/* ---- both ---- */

void sim_slots_offer(struct sim *sim, struct sim_rank *state, uint32_t node)
{
    if (state->held != NULL) {
        ready_push(sim, &state->ready[0], node);
        return;
    }
    struct sim_ready *ready = &state->ready[sim_node_slot(&state->graph->nodes[node])];
    ready_push(sim, state->passing ? &state->late : ready, node);
}

void sim_slots_offer_late(struct sim *sim, struct sim_rank *state)
{
    while (state->late.count > 0) {
        sim_slots_offer(sim, state, ready_pop(&state->late));
    }
}

uint32_t sim_slots_take(struct sim *sim, struct sim_rank *state)
{
    if (state->held != NULL) {
        return next_side(sim, state);
    }
    enum sim_slot best = SIM_SLOTS;
    for (enum sim_slot slot = SIM_SLOT_CPU; slot < SIM_SLOTS; slot++) {
        bool room = slot == SIM_SLOT_NONE || state->slot[slot] == SIM_NONE;
        if (room && state->ready[slot].count > 0 &&
            (best == SIM_SLOTS || state->ready[slot].items[0] < state->ready[best].items[0])) {
            best = slot;
        }
    }
    if (best == SIM_SLOTS) {
        return SIM_NONE;
    }
    uint32_t node = ready_pop(&state->ready[best]);
    if (best != SIM_SLOT_NONE) {
        state->slot[best] = node;
    }
    return node;
}

void sim_slots_release(struct sim *sim, struct sim_rank *state, uint32_t node)
{
    if (state->held != NULL) {
        release_side(sim, state, node);
        return;
    }
    enum sim_slot slot = sim_node_slot(&state->graph->nodes[node]);
    if (slot != SIM_SLOT_NONE) {
        state->slot[slot] = SIM_NONE;
    }
}

bool sim_slots_any_free(const struct sim_rank *state)
{
    for (uint32_t slot = 0; slot < SIM_SLOTS; slot++) {
        if (state->ready[slot].count > 0) {
            return true;
        }
    }
    return false;
}

uint32_t sim_slots_holder(const struct sim_rank *state, uint32_t node)
{
    if (state->held != NULL) {
        uint32_t side = side_of(state, node);
        return side == SIM_NONE ? SIM_NONE : state->held[side];
    }
    enum sim_slot slot = sim_node_slot(&state->graph->nodes[node]);
    return slot == SIM_SLOT_NONE ? SIM_NONE : state->slot[slot];
}

static bool has(const struct sim_ready *ready, uint32_t node)
{
    for (uint32_t i = 0; i < ready->count; i++) {
        if (ready->items[i] == node) {
            return true;
        }
    }
    return false;
}

bool sim_slots_is_waiting(const struct sim_rank *state, uint32_t node)
{
    if (state->held == NULL) {
        return has(&state->ready[sim_node_slot(&state->graph->nodes[node])], node);
    }
    uint32_t side = side_of(state, node);
    return has(&state->ready[0], node) || (side != SIM_NONE && has(&state->waiting[side], node));
}
