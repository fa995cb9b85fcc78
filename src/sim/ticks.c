/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a rank does after a delay (spec analytical §2.2). All calls of one rank for one tick run back to back where the
 * first of them stands in the queue. Most ticks have one call, so the event is the call, and becomes a list only when a
 * second one joins; the rank remembers which ticks it has events for. It seldom has more than a few: those are looked
 * for in the rank itself, and only what finds no room there goes through a hash table over all ranks.
 */
#include "sim/engine.h"

static uint32_t far_bucket(const struct sim *sim, uint32_t rank, uint64_t tick)
{
    uint64_t mixed = (tick ^ ((uint64_t)rank << 40)) * UINT64_C(0x9E3779B97F4A7C15);
    return (uint32_t)(mixed >> 40) & sim->far_bucket_mask;
}

static uint32_t find_far(const struct sim *sim, uint32_t rank, uint64_t tick)
{
    uint32_t far = sim->far_buckets[far_bucket(sim, rank, tick)];
    while (far != 0 && (sim->far_ticks.at[far].tick != tick || sim->far_ticks.at[far].rank != rank)) {
        far = sim->far_ticks.at[far].chain;
    }
    return far;
}

static void add_far(struct sim *sim, struct sim_rank *state, uint32_t rank, uint64_t tick, uint32_t event)
{
    uint32_t far = sim_far_ticks_take(&sim->far_ticks, sim->mem, &sim->queue.failed);
    uint32_t *bucket = &sim->far_buckets[far_bucket(sim, rank, tick)];
    sim->far_ticks.at[far] = (struct sim_far_tick){.tick = tick, .rank = rank, .event = event, .chain = *bucket};
    *bucket = far;
    state->far_ticks++;
}

void sim_far_tick_forget(struct sim *sim, uint32_t rank)
{
    uint64_t tick = sim->queue.now;
    uint32_t *link = &sim->far_buckets[far_bucket(sim, rank, tick)];
    while (sim->far_ticks.at[*link].tick != tick || sim->far_ticks.at[*link].rank != rank) {
        link = &sim->far_ticks.at[*link].chain;
    }
    uint32_t far = *link;
    *link = sim->far_ticks.at[far].chain;
    sim_far_ticks_give(&sim->far_ticks, far);
    sim->ranks[rank].far_ticks--;
}

static uint32_t make_call(struct sim *sim, uint32_t kind, uint32_t a, uint32_t b)
{
    uint32_t call = sim_calls_take(&sim->calls, sim->mem, &sim->queue.failed);
    sim->calls.at[call] = (struct sim_call){.kind = kind, .a = a, .b = b, .cause = sim->queue.cause};
    return call;
}

/* With ring phases that are worked out at once, calls are not put off in the order in which they would be otherwise,
 * but carry when that would be. */
static void insert_in_time(struct sim *sim, struct event *event, uint32_t added)
{
    struct sim_call *calls = sim->calls.at;
    uint64_t time = sim_rings_time(calls[added].cause);
    uint32_t before = 0;
    uint32_t at = event->a;
    for (; at != 0 && sim_rings_time(calls[at].cause) <= time; at = calls[at].next) {
        before = at;
    }
    calls[added].next = at;
    if (before == 0) {
        event->a = added;
    } else {
        calls[before].next = added;
    }
    if (at == 0) {
        event->b = added;
    }
}

/* A further call for a tick that has its event: the event turns into a list if it is not one yet. */
static void join_event(struct sim *sim, uint32_t event_index, uint32_t kind, uint32_t a, uint32_t b)
{
    struct event *event = &sim->queue.events[event_index];
    if (event->kind != SIM_EVENT_CALLS) {
        uint32_t first = make_call(sim, event->kind, event->a, event->b);
        if (sim->queue.causes != NULL) {
            sim->calls.at[first].cause = sim->queue.causes[event_index];
        }
        event->kind = SIM_EVENT_CALLS;
        event->a = first;
        event->b = first;
    }
    uint32_t call = make_call(sim, kind, a, b);
    if (sim->rings != NULL) {
        insert_in_time(sim, event, call);
        return;
    }
    sim->calls.at[event->b].next = call;
    event->b = call;
}

static void join_running(struct sim *sim, uint32_t kind, uint32_t a, uint32_t b)
{
    uint32_t call = make_call(sim, kind, a, b);
    if (sim->running_head == 0) {
        sim->running_head = call;
    } else {
        sim->calls.at[sim->running_tail].next = call;
    }
    sim->running_tail = call;
}

void sim_call_after_others(struct sim *sim, uint32_t rank, uint64_t delay_ns, uint32_t kind, uint32_t a, uint32_t b)
{
    struct sim_rank *state = &sim->ranks[rank];
    uint64_t tick = sim->queue.now + delay_ns;
    if (delay_ns == 0 && sim->running_rank == rank) {
        join_running(sim, kind, a, b);
        return;
    }
    for (uint32_t i = 0; i < state->ticks; i++) {
        if (state->tick[i] == tick) {
            join_event(sim, state->event[i], kind, a, b);
            return;
        }
    }
    if (__builtin_expect(state->far_ticks != 0, 0)) {
        uint32_t far = find_far(sim, rank, tick);
        if (far != 0) {
            join_event(sim, sim->far_ticks.at[far].event, kind, a, b);
            return;
        }
    }
    uint32_t event = event_queue_push(&sim->queue, tick, kind, a, b);
    if (__builtin_expect(state->ticks == SIM_RANK_TICKS, 0)) {
        add_far(sim, state, rank, tick, event);
    } else {
        state->tick[state->ticks] = tick;
        state->event[state->ticks] = event;
        state->ticks++;
    }
}

static void run_call(struct sim *sim, uint32_t kind, uint32_t a, uint32_t b)
{
    if (sim->order.watched) {
        sim_order_call(sim, kind);
    }
    switch (kind) {
    case SIM_CALL_ENDPOINT:
        sim_endpoint_passed(sim, a, b);
        break;
    case SIM_CALL_GENERAL:
        sim_phase_general(sim, a);
        break;
    case SIM_CALL_NODE_DONE:
        sim_workload_node_done(sim, b, a);
        break;
    case SIM_CALL_SHARED:
        sim_share_due(sim, b, a);
        break;
    case SIM_CALL_LAUNCHED:
        sim_workload_launched(sim, b, a);
        break;
    case SIM_CALL_COLLECTIVE:
        sim_collective_none_left(sim, a);
        break;
    case SIM_CALL_MEMORY_NEXT:
        sim_memory_next(sim, a);
        break;
    case SIM_CALL_CUSTOM_DONE:
        sim_custom_node_done(sim, a, b);
        break;
    case SIM_CALL_RING_END:
        sim_stream_proceed(sim, a);
        break;
    case SIM_CALL_RING_LAST:
        sim_call_after(sim, sim->streams.at[a].rank, 0, SIM_CALL_RING_END, a, 0);
        break;
    case SIM_CALL_FLOW:
        sim_flows_call(sim, a, b);
        break;
    default:
        sim_bus_call(sim, a, b);
        break;
    }
}

static uint32_t rank_of_call(const struct sim *sim, uint32_t kind, uint32_t a, uint32_t b)
{
    switch (kind) {
    case SIM_CALL_NODE_DONE:
    case SIM_CALL_SHARED:
    case SIM_CALL_LAUNCHED:
    case SIM_CALL_MEMORY_NEXT:
        return b;
    case SIM_CALL_COLLECTIVE:
        return sim->operations.at[a].rank;
    case SIM_CALL_BUS:
        return sim_bus_rank(a);
    default:
        return sim->streams.at[a].rank;
    }
}

void sim_calls_run_rest(struct sim *sim)
{
    while (sim->running_head != 0 && !sim->queue.failed) {
        uint32_t index = sim->running_head;
        struct sim_call call = sim->calls.at[index];
        sim->running_head = call.next;
        sim_calls_give(&sim->calls, index);
        run_call(sim, call.kind, call.a, call.b);
    }
}

/* The tick is forgotten before its calls run; calls put off by 0 find `running_rank` and join them. */
void sim_calls_run(struct sim *sim, const struct event *event)
{
    if (event->kind == SIM_EVENT_CALLS) {
        const struct sim_call *first = &sim->calls.at[event->a];
        sim_calls_begin(sim, rank_of_call(sim, first->kind, first->a, first->b));
        sim->running_head = event->a;
        sim->running_tail = event->b;
        if (sim->order.watched) {
            sim_order_calls(sim, event->a);
        }
    } else {
        sim_calls_begin(sim, rank_of_call(sim, event->kind, event->a, event->b));
        run_call(sim, event->kind, event->a, event->b);
    }
    sim_calls_end(sim);
    if (sim->order.watched) {
        sim_order_calls_end(sim);
    }
}
