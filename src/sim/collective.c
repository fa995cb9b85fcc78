/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A collective node becomes streams, one a chunk, each with its phases, queues and directions drawn when it is made
 * (spec analytical §6). Cursors and counters belong to the rank, so ranks that issue the same collectives draw alike.
 */
#include "sim/engine.h"

/* A collective of very many chunks takes a while to set up. */
enum { STREAMS_BEFORE_PROGRESS = 1 << 14 };

uint32_t sim_group_place(const struct sim *sim, uint32_t group, uint32_t rank)
{
    const struct sim_group_state *state = &sim->groups[group];
    uint32_t lo = 0;
    uint32_t hi = state->group->count;
    while (lo < hi) {
        uint32_t middle = lo + (hi - lo) / 2;
        if (state->sorted[middle] < rank) {
            lo = middle + 1;
        } else {
            hi = middle;
        }
    }
    return lo < state->group->count && state->sorted[lo] == rank ? state->sorted_at[lo] : SIM_NONE;
}

const struct trace_set *sim_custom_of(const struct sim *sim, uint32_t rank, uint32_t node)
{
    const struct sim_system *system = &sim->config->system;
    const struct trace_rank *trace = &sim->config->traces->ranks[rank];
    uint64_t id = trace_rank_node_id(trace, node);
    for (uint32_t i = 0; i < system->custom_node_count; i++) {
        if (system->custom_nodes[i].node_id == id) {
            return system->custom_nodes[i].custom;
        }
    }
    int32_t type = trace->graph->nodes[node].comm_type;
    bool configurable =
        type == COLL_ALL_REDUCE || type == COLL_REDUCE_SCATTER || type == COLL_ALL_GATHER || type == COLL_ALL_TO_ALL;
    return configurable ? system->implementation[sim_native_of(type)].custom : NULL;
}

void sim_collective_chunks(const struct sim *sim, int32_t type, uint64_t bytes, uint64_t *chunk, uint64_t *count)
{
    uint64_t splits = sim->config->system.preferred_dataset_splits;
    /* ASTRA-sim rounds down, and what is left is a chunk more, as large as the others. NCCL's lists take what there is.
     */
    bool whole = sim->logical[sim_native_of(type)][0].impl.algo == COLL_NCCL && bytes % splits != 0;
    *chunk = bytes / splits + (whole ? 1 : 0);
    if (type != COLL_ALL_GATHER && *chunk < sim->rank_count) {
        *chunk = sim->rank_count;
        bytes = splits * sim->rank_count;
    }
    if (*chunk == 0) {
        *chunk = 1; /* an all-gather smaller than its number of chunks: ASTRA-sim loops for ever */
    }
    *count = bytes / *chunk + (bytes % *chunk != 0 ? 1 : 0);
}

static int32_t draw_priority(struct sim *sim, struct sim_rank *state, const struct trace_node *node)
{
    switch (sim->config->system.scheduling) {
    case SIM_LIFO:
        return state->priority_counter++;
    case SIM_FIFO:
        return state->priority_counter--;
    case SIM_EXPLICIT:
        break;
    }
    return node->comm_priority;
}

/* ASTRA-sim advances a rank's own counter for group collectives too, so that ranks which took part in a different
 * number of them disagree on the tags of the next common collective, and hang. Policy safe counts apart. */
static bool counts_as_common(const struct sim *sim, uint32_t group)
{
    return group == SIM_NONE || sim->config->policy == ORR_POLICY_ASTRA;
}

static int32_t draw_stream_id(struct sim *sim, struct sim_rank *state, uint32_t group, uint32_t rank)
{
    int32_t id = state->stream_counter;
    state->stream_counter += counts_as_common(sim, group);
    if (group == SIM_NONE) {
        return id;
    }
    return sim->groups[group].next_stream[sim_group_place(sim, group, rank)]++;
}

/* The same with cursors: moved by a sub-group's collectives they would send its members another way round than the
 * other ranks in the next common one. */
static struct sim_cursors *cursors_of(struct sim *sim, uint32_t rank, uint32_t group, uint32_t dim)
{
    if (counts_as_common(sim, group) || sim->groups[group].whole) {
        return &sim->ranks[rank].cursors[dim];
    }
    return &sim->groups[group].cursors[sim_group_place(sim, group, rank)];
}

/* The first queue of the stream that a collective's kernel occupies. */
static uint32_t first_queue(const struct sim *sim, const struct sim_operation *operation)
{
    const struct sim_rank *state = &sim->ranks[operation->rank];
    return state->queue_set == NULL ? 0
                                    : state->queue_set[state->graph->nodes[operation->node].lane] * sim->queues_per_set;
}

/* Queue and direction (§6.6); the gather half has a second set of queues under policy safe. */
static struct sim_draw draw_phase(struct sim *sim, uint32_t rank, const struct sim_operation *operation,
                                  const struct coll_phase *phase, enum sim_native native)
{
    uint32_t group = operation->group;
    struct sim_cursors *cursors = cursors_of(sim, rank, group, phase->dim);
    uint16_t queues = (uint16_t)sim->queues_per_dim;
    uint16_t half = queues / 2;
    uint32_t base = first_queue(sim, operation) + phase->dim * queues;
    struct sim_draw draw = {.clockwise = 1};
    switch (phase->rule) {
    case COLL_QUEUE_ANY:
        draw.clockwise = !(queues > 1 && cursors->any >= half);
        draw.queue = (uint16_t)(base + cursors->any);
        cursors->any = (uint16_t)(cursors->any + 1 == queues ? 0 : cursors->any + 1);
        break;
    case COLL_QUEUE_FIRST:
        draw.queue = (uint16_t)(base + cursors->first);
        cursors->first = (uint16_t)(cursors->first + 1 >= half ? 0 : cursors->first + 1);
        break;
    case COLL_QUEUE_LAST:
        draw.clockwise = 0;
        draw.queue = (uint16_t)(base + cursors->last);
        cursors->last = (uint16_t)(cursors->last + 1 >= queues ? half : cursors->last + 1);
        if (sim->config->policy != ORR_POLICY_ASTRA) {
            draw.queue = (uint16_t)(draw.queue + sim->queues_per_set / 2);
        }
        break;
    }
    if (phase->method == COLL_BY_TREE) {
        draw.second_tree = cursors->second_tree[native];
        cursors->second_tree[native] = !cursors->second_tree[native];
    }
    draw.ticket = sim->queues[(size_t)rank * sim->queues_per_rank + draw.queue].tickets++;
    return draw;
}

static bool draw_phases(struct sim *sim, uint32_t index, const struct sim_operation *operation)
{
    struct sim_stream *stream = &sim->streams.at[index];
    if (operation->plan == NULL) {
        uint32_t queue = first_queue(sim, operation);
        stream->draws[0] = (struct sim_draw){.clockwise = 1, .queue = (uint16_t)queue};
        stream->draws[0].ticket = sim->queues[(size_t)stream->rank * sim->queues_per_rank + queue].tickets++;
        return true;
    }
    uint32_t count = operation->plan->phase_count;
    if (count > SIM_INLINE_DRAWS) {
        stream->more_draws = mem_alloc(sim->mem, count * sizeof *stream->more_draws);
        if (stream->more_draws == NULL) {
            return false;
        }
    }
    enum sim_native native = sim_native_of(operation->plan->type);
    for (uint32_t i = 0; i < count; i++) {
        *sim_stream_draw(stream, i) =
            draw_phase(sim, stream->rank, operation, &operation->plan->phases[i].coll, native);
    }
    return true;
}

/* Chunk after chunk: each is made and started before the next one is. */
static void make_stream(struct sim *sim, uint32_t operation, uint32_t chunk, int32_t priority)
{
    uint32_t index = sim_streams_take(&sim->streams, sim->mem, &sim->queue.failed);
    if (index == 0) {
        return;
    }
    struct sim_operation op = sim->operations.at[operation];
    struct sim_stream *stream = &sim->streams.at[index];
    *stream = (struct sim_stream){
        .live = true, .rank = op.rank, .operation = operation, .queue = SIM_NONE, .priority = priority, .chunk = chunk};
    if (!draw_phases(sim, index, &op)) {
        sim_fail_memory(sim);
        return;
    }
    stream->id = draw_stream_id(sim, &sim->ranks[op.rank], op.group, op.rank);
    stream->tag = sim_tag_collective(stream->id);
    sim_stream_proceed(sim, index);
}

static void log_group_ring(struct sim *sim, uint32_t rank, uint32_t group, int32_t type)
{
    struct sim_group_state *state = &sim->groups[group];
    enum sim_native native = sim_native_of(type);
    uint32_t place = sim_group_place(sim, group, rank);
    if (state->whole || (state->ring_logged[place] >> native & 1) != 0) {
        return;
    }
    state->ring_logged[place] |= (uint8_t)(1 << native);
    sim_log(sim, (struct sim_log_entry){
                     .kind = SIM_LOG_GROUP_RING, .rank = rank, .ring_size = state->group->count, .ring_index = place});
}

/* The custom algorithm a collective is carried out by, or NULL. */
static const struct trace_set *choose_custom(struct sim *sim, uint32_t rank, uint32_t node, uint32_t group)
{
    int32_t type = sim->ranks[rank].graph->nodes[node].comm_type;
    if (group == SIM_NONE || coll_type_is_rooted(type)) {
        return sim_custom_of(sim, rank, node);
    }
    uint32_t place = sim_group_place(sim, group, rank);
    struct sim_group_choice *choice = &sim->groups[group].choice[place][sim_native_of(type)];
    if (!choice->decided) {
        *choice = (struct sim_group_choice){.decided = true, .custom = sim_custom_of(sim, rank, node)};
    }
    return choice->custom;
}

/* Nobody to talk to: done within the tick. Stream ids are used up as if there were, so that ranks stay in step. */
static void complete_alone(struct sim *sim, uint32_t operation, uint32_t streams)
{
    const struct sim_operation *op = &sim->operations.at[operation];
    if (counts_as_common(sim, op->group)) {
        sim->ranks[op->rank].stream_counter += (int32_t)streams;
    }
    sim_call_after(sim, op->rank, 0, SIM_CALL_COLLECTIVE, operation, 0);
}

void sim_collective_issue(struct sim *sim, uint32_t rank, uint32_t node)
{
    struct sim_rank *state = &sim->ranks[rank];
    const struct trace_node *trace_node = &state->graph->nodes[node];
    int32_t type = trace_node->comm_type;
    struct sim_operation operation = {
        .rank = rank, .node = node, .group = sim_graph_group(sim->rank_graph[rank], node)};
    operation.custom = choose_custom(sim, rank, node, operation.group);
    uint64_t chunk = trace_node->comm_bytes;
    uint64_t count = 1;
    if (operation.group != SIM_NONE && !coll_type_is_rooted(type)) {
        log_group_ring(sim, rank, operation.group, type);
    }
    if (operation.custom == NULL && sim->timed == NULL) {
        if (!coll_type_is_rooted(type)) {
            sim_collective_chunks(sim, type, trace_node->comm_bytes, &chunk, &count);
        }
        operation.plan = sim_plan_get(sim, trace_node, operation.group, chunk);
        if (operation.plan == NULL || count > INT32_MAX) {
            sim_fail_memory(sim);
            return;
        }
    }
    int32_t priority = draw_priority(sim, state, trace_node);
    operation.streams = (uint32_t)count;
    operation.streams_left = (uint32_t)count;
    if (!sim_agree_issue(sim, &operation)) {
        sim_fail_memory(sim);
        return;
    }
    uint32_t index = sim_operations_take(&sim->operations, sim->mem, &sim->queue.failed);
    if (index == 0) {
        return;
    }
    sim->operations.at[index] = operation;
    if (operation.custom == NULL && sim->timed != NULL) {
        sim_timed_issue(sim, index);
        return;
    }
    if (count == 0 || (operation.plan != NULL && operation.plan->phase_count == 0)) {
        complete_alone(sim, index, (uint32_t)count);
        return;
    }
    for (uint32_t i = 0; i < count && !sim->queue.failed; i++) {
        make_stream(sim, index, i, priority);
        if (i % STREAMS_BEFORE_PROGRESS == STREAMS_BEFORE_PROGRESS - 1) {
            (void)sim_keeps_going(sim);
        }
    }
}

void sim_collective_stream_done(struct sim *sim, uint32_t operation)
{
    const struct sim_operation *op = &sim->operations.at[operation];
    sim_workload_node_done(sim, op->rank, op->node);
}

void sim_collective_none_left(struct sim *sim, uint32_t operation)
{
    uint32_t rank = sim->operations.at[operation].rank;
    uint32_t node = sim->operations.at[operation].node;
    sim_operations_give(&sim->operations, operation);
    sim_workload_node_done(sim, rank, node);
}
