/*
 * A rank seldom has more than a few ticks to come, so those are looked for in the rank itself; only what finds no room
 * there goes through a hash table over all ranks.
 */
#include "sim/engine.h"

static uint32_t list_bucket(const struct sim *sim, uint32_t rank, uint64_t tick)
{
    uint64_t mixed = (tick ^ ((uint64_t)rank << 40)) * UINT64_C(0x9E3779B97F4A7C15);
    return (uint32_t)(mixed >> 40) & sim->list_bucket_mask;
}

static uint32_t find_list(const struct sim *sim, const struct sim_rank *state, uint32_t rank, uint64_t tick)
{
    for (uint32_t i = 0; i < SIM_RANK_LISTS; i++) {
        if (state->tick[i] == tick) {
            return state->list[i];
        }
    }
    if (state->more_lists == 0) {
        return 0;
    }
    uint32_t list = sim->list_buckets[list_bucket(sim, rank, tick)];
    while (list != 0 && (sim->lists.at[list].tick != tick || sim->lists.at[list].rank != rank)) {
        list = sim->lists.at[list].chain;
    }
    return list;
}

static uint32_t open_list(struct sim *sim, struct sim_rank *state, uint32_t rank, uint64_t tick)
{
    uint32_t index = sim_tick_lists_take(&sim->lists, sim->mem, &sim->queue.failed);
    sim->lists.at[index] = (struct sim_tick_list){.tick = tick, .rank = rank};
    event_queue_push(&sim->queue, tick, SIM_EVENT_TICK, index, rank);
    for (uint32_t i = 0; i < SIM_RANK_LISTS; i++) {
        if (state->tick[i] == UINT64_MAX) {
            state->tick[i] = tick;
            state->list[i] = index;
            return index;
        }
    }
    uint32_t *bucket = &sim->list_buckets[list_bucket(sim, rank, tick)];
    sim->lists.at[index].chain = *bucket;
    *bucket = index;
    state->more_lists++;
    return index;
}

static void close_list(struct sim *sim, struct sim_rank *state, uint32_t index)
{
    for (uint32_t i = 0; i < SIM_RANK_LISTS; i++) {
        if (state->list[i] == index) {
            state->tick[i] = UINT64_MAX;
            state->list[i] = 0;
            sim_tick_lists_give(&sim->lists, index);
            return;
        }
    }
    const struct sim_tick_list *list = &sim->lists.at[index];
    uint32_t *link = &sim->list_buckets[list_bucket(sim, list->rank, list->tick)];
    while (*link != index) {
        link = &sim->lists.at[*link].chain;
    }
    *link = list->chain;
    state->more_lists--;
    sim_tick_lists_give(&sim->lists, index);
}

void sim_call_after(struct sim *sim, uint32_t rank, uint64_t delay_ns, uint32_t kind, uint32_t a, uint32_t b)
{
    struct sim_rank *state = &sim->ranks[rank];
    uint64_t tick = sim->queue.now + delay_ns;
    uint32_t index = find_list(sim, state, rank, tick);
    if (index == 0) {
        index = open_list(sim, state, rank, tick);
    }
    uint32_t call = sim_calls_take(&sim->calls, sim->mem, &sim->queue.failed);
    sim->calls.at[call] = (struct sim_call){.kind = kind, .a = a, .b = b};
    struct sim_tick_list *list = &sim->lists.at[index];
    if (list->head == 0) {
        list->head = call;
    } else {
        sim->calls.at[list->tail].next = call;
    }
    list->tail = call;
}

static void run_call(struct sim *sim, uint32_t rank, const struct sim_call *call)
{
    switch ((enum sim_call_kind)call->kind) {
    case SIM_CALL_ENDPOINT:
        sim_endpoint_passed(sim, call->a, call->b);
        break;
    case SIM_CALL_GENERAL:
        sim_phase_general(sim, call->a);
        break;
    case SIM_CALL_NODE_DONE:
        sim_workload_node_done(sim, rank, call->a);
        break;
    case SIM_CALL_COLLECTIVE:
        sim_collective_none_left(sim, call->a);
        break;
    case SIM_CALL_MEMORY_NEXT:
        sim_memory_next(sim, call->a);
        break;
    case SIM_CALL_CUSTOM_DONE:
        sim_custom_node_done(sim, call->a, call->b);
        break;
    case SIM_CALL_BUS:
        sim_bus_call(sim, call->a, call->b);
        break;
    }
}

void sim_ticks_run(struct sim *sim, uint32_t index)
{
    uint32_t rank = sim->lists.at[index].rank;
    /* The list stays known while it runs: calls put off by 0 join it. */
    for (;;) {
        uint32_t call_index = sim->lists.at[index].head;
        if (call_index == 0 || sim->queue.failed) {
            break;
        }
        struct sim_call call = sim->calls.at[call_index];
        sim->lists.at[index].head = call.next;
        sim_calls_give(&sim->calls, call_index);
        run_call(sim, rank, &call);
    }
    close_list(sim, &sim->ranks[rank], index);
}
