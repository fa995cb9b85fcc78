/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/order.h"

#include "sim/engine.h"

void sim_order_give_up(struct sim *sim)
{
    if (sim->symmetry != NULL) {
        sim->net.fold.unsure = true;
    } else {
        sim->rings_unsure = true;
    }
    sim->queue.failed = true;
}

/* Calls stand in the order in which they were put off. One rank for all: by different batches, or by events that began
 * at one rank, it is the same everywhere. Phases at once: it is known of calls that were put off at different times, or
 * that one event put off. */
static bool either_first(const struct sim *sim, const struct sim_call *one, const struct sim_call *next)
{
    if (sim->symmetry != NULL) {
        return one->cause.batch == next->cause.batch && one->cause.origin != next->cause.origin;
    }
    return sim_rings_time(one->cause) == sim_rings_time(next->cause) && one->cause.event != next->cause.event;
}

void sim_order_calls(struct sim *sim, uint32_t first)
{
    struct sim_order *order = &sim->order;
    const struct sim_call *calls = sim->calls.at;
    order->mixed = false;
    order->count = 0;
    for (uint32_t call = first; calls[call].next != 0 && !order->mixed; call = calls[call].next) {
        order->mixed = either_first(sim, &calls[call], &calls[calls[call].next]);
    }
}

/* What is caused from here on has a place of its own. */
static void lose_place(struct sim *sim)
{
    if (sim->symmetry != NULL) {
        sim->queue.cause.origin = sim->net.fold.next_origin++;
    } else {
        sim->queue.cause.event = sim_rings_next_event(sim);
    }
}

/* Whether it is no matter which of two calls comes first. Streams that go on only stand in line: places that become
 * free go to the same streams in the end, if they stand at different queues or have tickets. Of the streams of a
 * collective that are done, any may be the last. */
static bool either_way(const struct sim *sim, const struct sim_change *one, const struct sim_change *other)
{
    if (one->kind == SIM_CHANGE_OTHER || other->kind == SIM_CHANGE_OTHER) {
        return false;
    }
    if (one->kind == SIM_CHANGE_LAST || other->kind == SIM_CHANGE_LAST) {
        return one->operation == other->operation;
    }
    bool both_stand = one->kind == SIM_CHANGE_STANDS && other->kind == SIM_CHANGE_STANDS;
    return !both_stand || one->queue != other->queue || sim->config->policy != ORR_POLICY_ASTRA;
}

static void sim_order_note(struct sim *sim, struct sim_change made)
{
    struct sim_order *order = &sim->order;
    made.call = order->call;
    bool good = order->count < SIM_ORDER_CHANGES;
    for (uint32_t i = 0; i < order->count; i++) {
        const struct sim_change *before = &order->changes[i];
        good = good && (before->call == made.call || either_way(sim, before, &made));
    }
    if (!good) {
        sim_order_give_up(sim);
        return;
    }
    order->changes[order->count++] = made;
}

void sim_order_call(struct sim *sim, uint32_t kind)
{
    struct sim_order *order = &sim->order;
    order->call++;
    if (order->mixed) {
        lose_place(sim);
        bool goes_on = kind == SIM_CALL_ENDPOINT || kind == SIM_CALL_GENERAL || kind == SIM_CALL_RING_END ||
                       kind == SIM_CALL_RING_LAST;
        if (!goes_on) {
            sim_order_note(sim, (struct sim_change){.kind = SIM_CHANGE_OTHER});
        }
    }
}

void sim_order_calls_end(struct sim *sim)
{
    sim->order.mixed = false;
}

void sim_order_proceed(struct sim *sim, uint32_t index, uint32_t queue)
{
    if (!sim->order.mixed) {
        return;
    }
    const struct sim_stream *stream = &sim->streams.at[index];
    struct sim_change made = {.kind = SIM_CHANGE_STANDS, .operation = stream->operation, .queue = queue};
    if (queue == SIM_NONE) {
        bool last = sim->operations.at[stream->operation].streams_left == 1;
        made.kind = last ? SIM_CHANGE_LAST : SIM_CHANGE_ENDS;
    } else {
        uint32_t head = sim->queues[(size_t)stream->rank * sim->queues_per_rank + queue].head;
        bool may_overtake = head != 0 && sim->streams.at[head].priority != stream->priority;
        made.kind = may_overtake ? SIM_CHANGE_OTHER : SIM_CHANGE_STANDS;
    }
    sim_order_note(sim, made);
}

/* That it starts is certain, but not before or after which other. */
void sim_order_start(struct sim *sim)
{
    if (sim->order.mixed) {
        lose_place(sim);
    }
}
