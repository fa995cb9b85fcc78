/* SPDX-License-Identifier: Apache-2.0 */
/* Where the time of a run of traces went: nodes told to the tally (sim/tally.h), and what ASTRA-sim reports of them. */
#include <string.h>

#include "compat/astra/hash_order.h"
#include "sim/engine.h"

static uint32_t group_size_of(const struct sim *sim, uint32_t rank, uint32_t node)
{
    uint32_t group = sim_graph_group(sim->rank_graph[rank], node);
    return group == SIM_NONE ? sim->rank_count : sim->groups[group].group->count;
}

static void account_collective(struct sim *sim, uint32_t rank, uint32_t node, uint64_t start_ns)
{
    const struct trace_node *trace_node = &sim->ranks[rank].graph->nodes[node];
    int32_t type = trace_node->comm_type;
    uint32_t group_size = 2;
    if (trace_node->type == TRACE_COLL) {
        group_size = group_size_of(sim, rank, node);
    } else {
        type = trace_node->type == TRACE_SEND ? SIM_TYPE_SEND : SIM_TYPE_RECV;
    }
    if (!sim_tally_communication(&sim->tally, &sim->result, sim->mem, type, group_size, trace_node->comm_bytes,
                                 start_ns, sim->queue.now)) {
        sim_fail_memory(sim);
    }
}

static uint64_t *started_at(struct sim_rank *state, uint32_t node)
{
    if (state->held != NULL) {
        return &state->node_started[node];
    }
    enum sim_slot slot = sim_node_slot(&state->graph->nodes[node]);
    return slot == SIM_SLOT_NONE ? &state->node_started[node] : &state->slot_started[slot];
}

uint64_t sim_account_since(const struct sim *sim, uint32_t rank, uint32_t node)
{
    return *started_at(&sim->ranks[rank], node);
}

void sim_account_start(struct sim *sim, uint32_t rank, uint32_t node)
{
    struct sim_rank *state = &sim->ranks[rank];
    struct sim_rank_result *result = &sim->result.rows[rank];
    enum sim_op_kind kind = sim_node_kind(&state->graph->nodes[node]);
    sim_clock_start(&state->clock, result, kind, state->ongoing > 0, sim->queue.now);
    *started_at(state, node) = sim->queue.now;
    if (state->issue_order != NULL) {
        state->issue_order[state->issued] = node;
    }
    state->issued++;
}

void sim_account_end(struct sim *sim, uint32_t rank, uint32_t node)
{
    struct sim_rank *state = &sim->ranks[rank];
    struct sim_rank_result *result = &sim->result.rows[rank];
    const struct trace_node *trace_node = &state->graph->nodes[node];
    enum sim_op_kind kind = sim_node_kind(trace_node);
    sim_clock_end(&state->clock, result, kind, sim->queue.now);
    result->nodes_done++;
    sim->result.nodes_done++;
    uint64_t started_ns = *started_at(state, node);
    if (trace_node->type >= TRACE_SEND) {
        account_collective(sim, rank, node, started_ns);
    }
    bool kept = sim->config->keep_intervals && (sim->config->kept_rank == 0 || sim->config->kept_rank == rank + 1);
    if (kept && !sim_tally_interval(&sim->tally, &sim->result, sim->mem,
                                    (struct sim_interval){
                                        .rank = rank,
                                        .node = node,
                                        .start_ns = started_ns,
                                        .end_ns = sim->queue.now,
                                        .slot = (uint8_t)sim_node_slot(trace_node),
                                        .lane = state->held != NULL ? trace_node->lane : 0,
                                    })) {
        sim_fail_memory(sim);
    }
}

/* The order in which ASTRA-sim meets the operator kinds when it walks its table of node statistics (§16.2, §19). */
static void find_kind_order(struct sim *sim, uint32_t rank)
{
    const struct sim_rank *state = &sim->ranks[rank];
    struct sim_rank_result *result = &sim->result.rows[rank];
    const struct trace_rank *trace = &sim->config->traces->ranks[rank];
    struct hash_order order;
    hash_order_init(&order, sim->mem);
    bool added = false;
    for (uint32_t i = 0; i < state->issued; i++) {
        if (!hash_order_insert(&order, trace_rank_node_id(trace, state->issue_order[i]), &added)) {
            sim_fail_memory(sim);
            break;
        }
    }
    uint32_t seen = 0;
    result->kind_order_count = 0;
    for (uint32_t i = hash_order_first(&order); i != 0; i = hash_order_next(&order, i)) {
        uint32_t node = trace_graph_find(trace->graph, hash_order_key(&order, i) - trace->id_offset);
        enum sim_op_kind kind = sim_node_kind(&trace->graph->nodes[node]);
        if ((seen >> kind & 1) == 0) {
            seen |= UINT32_C(1) << kind;
            result->kind_order[result->kind_order_count++] = (uint8_t)kind;
        }
    }
    hash_order_free(&order);
}

void sim_account_finish(struct sim *sim, uint32_t rank)
{
    struct sim_rank_result *result = &sim->result.rows[rank];
    /* Nodes in or behind a dependency cycle never run: ASTRA-sim calls such a rank finished, we do not. */
    result->finished = result->nodes_done == sim->ranks[rank].graph->node_count;
    result->finish_ns = sim->queue.now;
    result->network_finish = sim->in_network;
    result->statistics_failed = result->nodes_of[SIM_OP_CPU] + result->nodes_of[SIM_OP_REMOTE_MEM] +
                                    result->nodes_of[SIM_OP_REPLAY] + result->nodes_of[SIM_OP_INVALID] >
                                0;
    if (sim->ranks[rank].issue_order != NULL) {
        find_kind_order(sim, rank);
    }
    sim->result.ranks_finished += result->finished;
    if (sim->symmetry != NULL) {
        sim_symmetry_finish(sim);
    }
    sim_log(sim, (struct sim_log_entry){.kind = SIM_LOG_FINISH, .rank = rank});
}

void sim_log(struct sim *sim, struct sim_log_entry entry)
{
    struct sim_result *result = &sim->result;
    if (!mem_reserve(sim->mem, (void **)&result->log, &sim->log_capacity, (uint64_t)result->log_count + 1,
                     sizeof *result->log)) {
        sim_fail_memory(sim);
        return;
    }
    result->log[result->log_count++] = entry;
}

void sim_account_close(struct sim *sim)
{
    struct sim_result *result = &sim->result;
    sim_share_close(sim);
    sim_routes_settle(&sim->channel_routes, sim->channels.at, &sim->net);
    sim_routes_settle(&sim->lane_routes, sim->lanes.at, &sim->net);
    result->events = sim->queue.handled;
    result->end_ns = sim->queue.now;
    for (uint32_t rank = 0; rank < sim->played; rank++) {
        struct sim_rank *state = &sim->ranks[rank];
        sim_clock_close(&state->clock, &result->rows[rank], state->ongoing > 0, sim->queue.now);
        memcpy(result->rows[rank].unreleased, state->slot, sizeof state->slot);
    }
    for (uint32_t d = 0; d < sim->config->dims.count; d++) {
        const struct net_dim_stats *stats = &sim->net.stats[d];
        result->dims[d] = (struct sim_dim_result){.messages = stats->messages,
                                                  .bytes = stats->bytes,
                                                  .busy_ns = stats->busy_ns,
                                                  .links = stats->links,
                                                  .queued = stats->queued};
    }
    if (sim->net.ops->figures != NULL && !sim->net.ops->figures(&sim->net, &sim->arena, &result->network)) {
        sim_fail_memory(sim);
    }
    sim_tally_close(result);
}
