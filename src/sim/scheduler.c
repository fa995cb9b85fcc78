/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which streams of a rank run at once (spec analytical §7). Each queue runs up to `threshold` streams; the rest stand
 * in line by priority, first come first served among equals. Streams that run are at the front of ASTRA-sim's list by
 * construction, so here they are only counted.
 *
 * Policy safe differs in two ways that together rule out the deadlock of §7.5. The gather half of an all-reduce has
 * queues of its own (collective.c draws them), and a queue admits streams in the order in which their chunks were made
 * (tickets), not in the order in which they happen to arrive. All ranks then admit in the same order, and the oldest
 * unfinished chunk can always go on. Policy streams does the same within each stream, which has queues of its own.
 */
#include "sim/engine.h"

static struct sim_stream_queue *queue_at(struct sim *sim, uint32_t rank, uint32_t queue)
{
    return &sim->queues[(size_t)rank * sim->queues_per_rank + queue];
}

static void sim_scheduler_stand_in_line(struct sim *sim, struct sim_stream_queue *queue, uint32_t index)
{
    struct sim_stream *streams = sim->streams.at;
    int32_t priority = streams[index].priority;
    if (queue->head == 0) {
        streams[index].next = 0;
        queue->head = index;
        queue->tail = index;
        return;
    }
    if (streams[queue->tail].priority >= priority) {
        streams[index].next = 0;
        streams[queue->tail].next = index;
        queue->tail = index;
        return;
    }
    uint32_t *link = &queue->head;
    while (streams[*link].priority >= priority) {
        link = &streams[*link].next;
    }
    streams[index].next = *link;
    *link = index;
}

/* Takes the next stream to be admitted out of the line; 0 when none may go. */
static uint32_t sim_scheduler_next_in_line(struct sim *sim, struct sim_stream_queue *queue)
{
    struct sim_stream *streams = sim->streams.at;
    uint32_t before = 0;
    uint32_t index = queue->head;
    if (sim->config->policy != ORR_POLICY_ASTRA) {
        while (index != 0 && sim_stream_draw(&streams[index], streams[index].phase_index)->ticket != queue->serving) {
            before = index;
            index = streams[index].next;
        }
    }
    if (index == 0) {
        return 0;
    }
    if (before == 0) {
        queue->head = streams[index].next;
    } else {
        streams[before].next = streams[index].next;
    }
    if (queue->tail == index) {
        queue->tail = before;
    }
    queue->serving++;
    return index;
}

static void kick(struct sim *sim, uint32_t rank, uint32_t queue_index)
{
    while (!sim->queue.failed) {
        struct sim_stream_queue *queue = queue_at(sim, rank, queue_index);
        if (queue->running >= sim->threshold) {
            return;
        }
        uint32_t index = sim_scheduler_next_in_line(sim, queue);
        if (index == 0) {
            return;
        }
        /* Counted before it starts, so that a phase that ends at once finds its own place taken. */
        queue->running++;
        sim->streams.at[index].running = true;
        if (sim->order.watched) {
            sim_order_start(sim);
        }
        sim_phase_start(sim, index);
    }
}

static void enter_phase(struct sim *sim, uint32_t index, uint32_t phase_index)
{
    struct sim_stream *stream = &sim->streams.at[index];
    const struct sim_operation *operation = &sim->operations.at[stream->operation];
    const struct sim_draw *draw = sim_stream_draw(stream, phase_index);
    stream->phase_index = phase_index;
    stream->queue = draw->queue;
    stream->clockwise = draw->clockwise != 0;
    stream->running = false;
    if (operation->plan == NULL) {
        stream->method = COLL_BY_TRACE;
        return;
    }
    stream->phase = &operation->plan->phases[phase_index];
    stream->method = (uint8_t)stream->phase->coll.method;
    stream->type = (uint8_t)stream->phase->coll.type;
    stream->fast = operation->plan->fast_endpoint;
    stream->index = operation->plan->group != SIM_NONE && stream->phase->coll.ring.members != NULL
                        ? sim_group_place(sim, operation->plan->group, stream->rank)
                        : coll_ring_grid_index(&stream->phase->coll.ring, stream->rank);
}

static void release_stream(struct sim *sim, uint32_t index)
{
    struct sim_stream *stream = &sim->streams.at[index];
    const struct sim_operation *operation = &sim->operations.at[stream->operation];
    if (stream->more_draws != NULL) {
        mem_free(sim->mem, stream->more_draws, operation->plan->phase_count * sizeof *stream->more_draws);
        stream->more_draws = NULL;
    }
    stream->live = false;
    sim_streams_give(&sim->streams, index);
}

static void finish_stream(struct sim *sim, uint32_t index)
{
    uint32_t rank = sim->streams.at[index].rank;
    uint32_t queue_index = sim->streams.at[index].queue;
    uint32_t operation = sim->streams.at[index].operation;
    /* The workload may issue its next collective from in here, while this stream still holds its place (§7.4). */
    bool last = --sim->operations.at[operation].streams_left == 0;
    double share = 1.0 / sim->operations.at[operation].streams;
    sim->nodes_under_way += last ? share - 1.0 : share;
    if (last) {
        sim_collective_stream_done(sim, operation);
    }
    release_stream(sim, index);
    if (last) {
        sim_operations_give(&sim->operations, operation);
    }
    queue_at(sim, rank, queue_index)->running--;
    kick(sim, rank, queue_index);
}

void sim_stream_proceed(struct sim *sim, uint32_t index)
{
    struct sim_stream *stream = &sim->streams.at[index];
    const struct sim_operation *operation = &sim->operations.at[stream->operation];
    uint32_t rank = stream->rank;
    uint32_t previous = stream->queue;
    uint32_t phases = operation->plan == NULL ? 1 : operation->plan->phase_count;
    uint32_t following = previous == SIM_NONE ? 0 : stream->phase_index + 1;
    if (sim->order.watched) {
        sim_order_proceed(sim, index, following == phases ? SIM_NONE : sim_stream_draw(stream, following)->queue);
    }
    if (following == phases) {
        finish_stream(sim, index);
        return;
    }
    enter_phase(sim, index, following);
    uint32_t queue_index = sim->streams.at[index].queue;
    sim_scheduler_stand_in_line(sim, queue_at(sim, rank, queue_index), index);
    if (previous != SIM_NONE) {
        queue_at(sim, rank, previous)->running--;
        kick(sim, rank, previous);
    }
    kick(sim, rank, queue_index);
}
