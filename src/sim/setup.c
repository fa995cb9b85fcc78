/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Making and unmaking a simulation. All memory that depends on the number of ranks is laid out here; the pools grow as
 * the run needs them.
 */
#include <stdlib.h>
#include <string.h>

#include "net/flow/flow.h"
#include "sim/engine.h"

enum { FAR_TICK_BUCKETS = 1 << 14 };

static bool zalloc_into(struct sim *sim, void *pointer, size_t count, size_t bytes)
{
    void *block = count > SIZE_MAX / (bytes == 0 ? 1 : bytes) ? NULL : arena_zalloc(&sim->arena, count * bytes);
    memcpy(pointer, &block, sizeof block);
    return block != NULL;
}

static bool make_pools(struct sim *sim)
{
    struct mem *mem = sim->mem;
    sim->far_bucket_mask = FAR_TICK_BUCKETS - 1;
    sim->running_rank = SIM_NONE;
    sim->use_lanes = !sim->config->rendezvous && !(sim->config->jitter > 0.0);
    return event_queue_init(&sim->queue, mem) && sim_calls_init(&sim->calls, mem) &&
           sim_far_ticks_init(&sim->far_ticks, mem) && sim_lanes_init(&sim->lanes, mem) &&
           sim_messages_init(&sim->messages, mem) && sim_channels_init(&sim->channels, mem) &&
           sim_deferreds_init(&sim->deferreds, mem) && sim_streams_init(&sim->streams, mem) &&
           sim_operations_init(&sim->operations, mem) &&
           sim_routes_init(&sim->channel_routes, sizeof(struct sim_channel), offsetof(struct sim_channel, route),
                           mem) &&
           sim_routes_init(&sim->lane_routes, sizeof(struct sim_lane), offsetof(struct sim_lane, route), mem) &&
           zalloc_into(sim, &sim->far_buckets, (size_t)sim->far_bucket_mask + 1, sizeof *sim->far_buckets);
}

/* The logical topology of each collective type (spec analytical §6.2). */
static void make_logical_dims(struct sim *sim)
{
    const struct sim_config *config = sim->config;
    for (uint32_t native = 0; native < SIM_NATIVE_COUNT; native++) {
        const struct sim_implementation *implementation = &config->system.implementation[native];
        uint32_t count = 0;
        for (uint32_t d = 0; d < implementation->count && d < config->dims.count; d++) {
            struct coll_dim *dim = &sim->logical[native][count++];
            dim->impl = implementation->list[d];
            dim->ring = (struct coll_ring){.size = config->dims.dim[d].size, .stride = config->dims.dim[d].stride};
            if (dim->impl.one) {
                dim->ring = (struct coll_ring){.size = config->dims.ranks, .stride = 1};
                break;
            }
        }
        sim->logical_count[native] = count;
    }
}

static bool has_receives(const struct trace_graph *graph)
{
    for (uint32_t i = 0; i < graph->other_count; i++) {
        if (graph->nodes[graph->others[i]].type == TRACE_RECV) {
            return true;
        }
    }
    return false;
}

static bool make_rank(struct sim *sim, uint32_t index)
{
    const struct sim_config *config = sim->config;
    struct sim_rank *rank = &sim->ranks[index];
    rank->graph = config->traces->ranks[index].graph;
    bool several = sim_side_by_side(config) || has_receives(rank->graph);
    uint32_t nodes = rank->graph->node_count;
    if (!sim_slots_make(sim, rank) || !sim_share_make(sim, rank) ||
        !zalloc_into(sim, &rank->parents_left, nodes, sizeof *rank->parents_left) ||
        (several && !zalloc_into(sim, &rank->node_started, nodes, sizeof *rank->node_started)) ||
        !zalloc_into(sim, &rank->cursors, config->dims.count, sizeof *rank->cursors) ||
        (config->keep_issue_order && !zalloc_into(sim, &rank->issue_order, nodes, sizeof *rank->issue_order))) {
        return false;
    }
    for (uint32_t node = 0; node < nodes; node++) {
        rank->parents_left[node] = rank->graph->nodes[node].parent_count;
    }
    for (uint32_t d = 0; d < config->dims.count; d++) {
        rank->cursors[d].last = (uint16_t)(sim->queues_per_dim / 2);
    }
    sim->result.rows[index].roofline_weight = 1.0;
    sim->result.nodes += nodes;
    return true;
}

/* Collectives of different streams of a rank may be in flight in another order than at its fellows. Each stream has
 * queues of its own, so that none stands in line behind one that waits for it elsewhere; `most` is raised to what the
 * rank needs. */
static bool make_queue_sets(struct sim *sim, uint32_t index, uint32_t room, uint32_t *most)
{
    struct sim_rank *rank = &sim->ranks[index];
    const struct trace_graph *graph = rank->graph;
    if (!sim_side_by_side(sim->config)) {
        return true;
    }
    if (index > 0 && sim->ranks[index - 1].graph == graph) {
        rank->queue_set = sim->ranks[index - 1].queue_set;
        return true;
    }
    uint16_t *sets = NULL;
    uint32_t count = 0;
    if (!zalloc_into(sim, &sets, (size_t)graph->lane_count + 1, sizeof *sets)) {
        return false;
    }
    for (uint32_t i = 0; i < graph->other_count; i++) {
        const struct trace_node *node = &graph->nodes[graph->others[i]];
        if (node->type == TRACE_COLL && node->lane != 0 && sets[node->lane] == 0) {
            sets[node->lane] = (uint16_t)(count + 1 < room ? ++count : count);
        }
    }
    *most = count + 1 > *most ? count + 1 : *most;
    rank->queue_set = sets;
    return true;
}

static bool make_queues(struct sim *sim)
{
    uint32_t most = 1;
    for (uint32_t rank = 0; rank < sim->played; rank++) {
        if (!make_queue_sets(sim, rank, UINT16_MAX / sim->queues_per_set, &most)) {
            return false;
        }
    }
    sim->queues_per_rank = sim->queues_per_set * most;
    return zalloc_into(sim, &sim->queues, (size_t)sim->played * sim->queues_per_rank, sizeof *sim->queues);
}

static bool make_ranks(struct sim *sim)
{
    const struct sim_config *config = sim->config;
    sim->queues_per_dim = config->queues_per_dim;
    uint32_t halves = config->policy == ORR_POLICY_ASTRA ? 1 : 2;
    sim->queues_per_set = config->dims.count * config->queues_per_dim * halves;
    uint32_t active = config->system.active_chunks_per_dimension;
    sim->threshold = active / config->queues_per_dim + (active % config->queues_per_dim != 0 ? 1 : 0);
    if (!zalloc_into(sim, &sim->ranks, sim->played, sizeof *sim->ranks) ||
        !zalloc_into(sim, &sim->result.rows, sim->played, sizeof *sim->result.rows)) {
        return false;
    }
    for (uint32_t rank = 0; rank < sim->played; rank++) {
        if (!make_rank(sim, rank)) {
            return false;
        }
    }
    return make_queues(sim);
}

static int compare_members(const void *left, const void *right)
{
    const uint64_t *a = left;
    const uint64_t *b = right;
    return *a < *b ? -1 : *a > *b;
}

static bool make_group(struct sim *sim, struct sim_group_state *state, const struct sim_group *group)
{
    uint64_t *members = NULL; /* rank above, place below: sorts by rank */
    uint32_t *sorted = NULL;
    uint32_t *sorted_at = NULL;
    state->group = group;
    state->whole = group->count == sim->rank_count;
    if (!zalloc_into(sim, &members, group->count, sizeof *members) ||
        !zalloc_into(sim, &sorted, group->count, sizeof *sorted) ||
        !zalloc_into(sim, &sorted_at, group->count, sizeof *sorted_at) ||
        !zalloc_into(sim, &state->next_stream, group->count, sizeof *state->next_stream) ||
        !zalloc_into(sim, &state->cursors, group->count, sizeof *state->cursors) ||
        !zalloc_into(sim, &state->ring_logged, group->count, sizeof *state->ring_logged) ||
        !zalloc_into(sim, &state->choice, group->count, sizeof *state->choice)) {
        return false;
    }
    for (uint32_t place = 0; place < group->count; place++) {
        members[place] = (uint64_t)group->ranks[place] << 32 | place;
        state->next_stream[place] = (int32_t)((uint32_t)group->id * 1000000u);
        state->cursors[place].last = (uint16_t)(sim->queues_per_dim / 2);
    }
    qsort(members, group->count, sizeof *members, compare_members);
    for (uint32_t i = 0; i < group->count; i++) {
        sorted[i] = (uint32_t)(members[i] >> 32);
        sorted_at[i] = (uint32_t)members[i];
    }
    state->sorted = sorted;
    state->sorted_at = sorted_at;
    return true;
}

static bool make_groups(struct sim *sim)
{
    const struct sim_config *config = sim->config;
    if (!zalloc_into(sim, &sim->groups, config->group_count, sizeof *sim->groups)) {
        return false;
    }
    for (uint32_t i = 0; i < config->group_count; i++) {
        if (!make_group(sim, &sim->groups[i], &config->groups[i])) {
            return false;
        }
    }
    return true;
}

static bool make_servers(struct sim *sim)
{
    const struct sim_memory *memory = &sim->config->memory;
    sim->server_count = 0;
    if (memory->kind == SIM_MEMORY_POOL) {
        sim->server_count = 1;
    } else if (memory->kind == SIM_MEMORY_PER_NODE && memory->npus_per_node > 0) {
        sim->server_count = (uint32_t)((sim->rank_count - 1) / memory->npus_per_node + 1);
    }
    return zalloc_into(sim, &sim->servers, sim->server_count, sizeof *sim->servers);
}

static enum orr_status sim_setup_fill(struct sim *sim, struct orr_error *err)
{
    const struct sim_config *config = sim->config;
    make_logical_dims(sim);
    struct sim_result *result = &sim->result;
    if (sim_servers_find(config, &sim->arena, &sim->nccl_servers) != ORR_OK) {
        return mem_error(sim->mem, "the servers of the machine", err);
    }
    if (result->plain_because == NULL) {
        result->plain_because = config->backend == ORR_BACKEND_FLOW ? sim_alike_find(sim) : sim_symmetry_refuses(sim);
    }
    sim->played = sim->alike != NULL              ? topo_alike_classes(sim->alike)
                  : result->plain_because == NULL ? 1
                                                  : sim->rank_count;
    result->ranks_played = sim->played;
    if (!make_pools(sim) || !make_ranks(sim) || !make_groups(sim) || !sim_agree_make(sim) || !sim_timed_make(sim) ||
        !make_servers(sim)) {
        return mem_error(sim->mem, "the simulation's state", err);
    }
    sim->plain_rings = sim->use_lanes && !config->system.shared_bus;
    sim->endpoint_ns = config->system.endpoint_delay_ns;
    if (config->system.shared_bus) {
        enum orr_status status = sim_buses_create(sim, err);
        if (status != ORR_OK) {
            return status;
        }
    }
    static const struct net_ops *const networks[] = {[ORR_BACKEND_UNAWARE] = &net_unaware,
                                                     [ORR_BACKEND_AWARE] = &net_aware,
                                                     [ORR_BACKEND_PACKET] = &net_packet,
                                                     [ORR_BACKEND_FLOW] = &net_flow,
                                                     [ORR_BACKEND_AUTO] = &net_auto};
    const struct net_ops *carrier = sim->carrier != NULL ? sim->carrier : networks[config->backend];
    enum orr_status status = net_init_machine(&sim->net, carrier, &config->dims, config->packet,
                                              sim_message_off_network, sim, &sim->queue, sim->mem, err);
    sim->net.faults = config->faults;
    sim->net.fault_count = config->fault_count;
    bool one_for_all = result->plain_because == NULL && sim->alike == NULL;
    if (status == ORR_OK && one_for_all && !sim_symmetry_begin(sim)) {
        return mem_error(sim->mem, "the simulation's state", err);
    }
    result->rings_at_once = sim->played > 1 && !sim->rings_unsure && sim_rings_fit(sim);
    if (status == ORR_OK && result->rings_at_once && !sim_rings_begin(sim)) {
        return mem_error(sim->mem, "the simulation's state", err);
    }
    return status != ORR_OK ? status : sim_check(sim, err);
}

/* From what is given, and nothing else. */
static enum orr_status sim_setup_begin(struct sim *sim, struct orr_error *err)
{
    sim->rank_count = sim->config->dims.ranks;
    sim->result.config = sim->config;
    sim->result.rank_count = sim->rank_count;
    sim->result.by_packets = sim->carrier == &net_packet;
    arena_init(&sim->arena, sim->mem);
    return sim_setup_fill(sim, err);
}

enum orr_status sim_create(const struct sim_config *config, struct mem *mem, struct notes *notes, struct sim **created,
                           struct orr_error *err)
{
    enum orr_status status = sim_check_machine(config, err);
    if (status != ORR_OK) {
        return status;
    }
    struct sim *sim = mem_zalloc(mem, sizeof *sim);
    if (sim == NULL) {
        return mem_error(mem, "the simulation", err);
    }
    sim->config = config;
    sim->mem = mem;
    number_map_init(&sim->jitter_pairs, mem);
    sim->notes = notes;
    status = sim_setup_begin(sim, err);
    if (status != ORR_OK) {
        sim_free(sim);
        return status;
    }
    *created = sim;
    return ORR_OK;
}

static void free_streams(struct sim *sim)
{
    for (uint32_t i = 1; i < sim->streams.room.used; i++) {
        struct sim_stream *stream = &sim->streams.at[i];
        if (!stream->live) {
            continue;
        }
        if (stream->more_draws != NULL) {
            uint32_t phases = sim->operations.at[stream->operation].plan->phase_count;
            mem_free(sim->mem, stream->more_draws, phases * sizeof *stream->more_draws);
        }
        if (stream->running && stream->method == COLL_BY_PROGRAM) {
            sim_program_end(sim, stream);
        }
        if (stream->running && stream->method == COLL_BY_TRACE) {
            sim_custom_free(sim, stream->of.custom);
        }
        if (stream->running && stream->method == COLL_BY_FLOWS) {
            sim_flows_end(sim, stream);
        }
    }
    sim_streams_free(&sim->streams, sim->mem);
}

/* Everything but the simulation itself. */
static void sim_setup_clear(struct sim *sim)
{
    struct mem *mem = sim->mem;
    free_streams(sim);
    for (uint32_t rank = 0; sim->ranks != NULL && rank < sim->played; rank++) {
        sim_slots_free(sim, &sim->ranks[rank]);
        sim_share_free(sim, &sim->ranks[rank]);
    }
    for (uint32_t i = 0; sim->servers != NULL && i < sim->server_count; i++) {
        mem_free(mem, sim->servers[i].waiting, (size_t)sim->servers[i].capacity * 2 * sizeof(uint32_t));
    }
    sim_agree_free(sim);
    sim_timed_free(sim);
    sim_routes_free(&sim->channel_routes, mem);
    sim_routes_free(&sim->lane_routes, mem);
    sim_usage_free(sim, &sim->result.usage);
    sim_tally_free(&sim->tally, &sim->result, mem);
    mem_free(mem, sim->result.log, (size_t)sim->log_capacity * sizeof *sim->result.log);
    sim_calls_free(&sim->calls, mem);
    sim_far_ticks_free(&sim->far_ticks, mem);
    sim_lanes_free(&sim->lanes, mem);
    sim_messages_free(&sim->messages, mem);
    sim_channels_free(&sim->channels, mem);
    sim_deferreds_free(&sim->deferreds, mem);
    sim_operations_free(&sim->operations, mem);
    sim_jitter_free(sim);
    sim_symmetry_free(sim);
    sim_rings_free(sim);
    sim_buses_free(sim);
    net_free(&sim->net);
    event_queue_free(&sim->queue);
    arena_free(&sim->arena);
}

void sim_free(struct sim *sim)
{
    if (sim != NULL) {
        struct mem *mem = sim->mem;
        sim_setup_clear(sim);
        mem_free(mem, sim, sizeof *sim);
    }
}

enum orr_status sim_start_over(struct sim *sim, const struct net_ops *carrier, struct orr_error *err)
{
    sim_setup_clear(sim);
    *sim = (struct sim){.config = sim->config,
                        .mem = sim->mem,
                        .notes = sim->notes,
                        .progress = sim->progress,
                        .progress_context = sim->progress_context,
                        .carrier = carrier,
                        .rings_unsure = sim->rings_unsure,
                        .result.plain_because = sim->result.plain_because};
    const struct packet_machine *machine = sim->config->packet;
    if (machine != NULL && machine->started_over != NULL) {
        machine->started_over(machine->context);
    }
    enum orr_status status = sim_setup_begin(sim, err);
    if (status != ORR_OK) {
        net_free(&sim->net);
        sim->result.rank_count = 0; /* nothing of it can be read */
    }
    return status;
}
