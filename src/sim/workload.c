/* SPDX-License-Identifier: Apache-2.0 */
/* What a rank's trace does as its nodes become free (spec analytical §5): issue, carry out by type, finish. Which of
 * the free ones may go is the slots' business (slots.c). */
#include "compute/roofline.h"
#include "sim/engine.h"

enum sim_op_kind sim_node_kind(const struct trace_node *node)
{
    switch ((enum trace_node_type)node->type) {
    case TRACE_COMP:
        return node->is_cpu_op ? SIM_OP_CPU : SIM_OP_GPU;
    case TRACE_SEND:
    case TRACE_RECV:
    case TRACE_COLL:
        return SIM_OP_COMM;
    case TRACE_MEM_LOAD:
    case TRACE_MEM_STORE:
        return SIM_OP_REMOTE_MEM;
    default:
        return SIM_OP_INVALID;
    }
}

/* Releases the slot and frees children; no issue pass. */
static void finish_node(struct sim *sim, uint32_t rank, uint32_t node)
{
    struct sim_rank *state = &sim->ranks[rank];
    const struct trace_node *trace_node = &state->graph->nodes[node];
    sim_slots_release(sim, state, node);
    state->ongoing--;
    sim_account_end(sim, rank, node);
    if (sim_node_kind(trace_node) == SIM_OP_COMM) {
        sim_share_changed(sim, rank);
    }
    const uint32_t *children = state->graph->children + trace_node->first_child;
    for (uint32_t i = 0; i < trace_node->child_count; i++) {
        if (--state->parents_left[children[i]] == 0) {
            sim_slots_offer(sim, state, children[i]);
        }
    }
}

static void issue_timed(struct sim *sim, uint32_t rank, uint32_t node, uint64_t duration_ns, bool gpu_busy)
{
    if (gpu_busy) {
        sim->result.rows[rank].gpu_busy_ns += duration_ns;
        if (sim->ranks[rank].share != NULL) {
            sim_share_start(sim, rank, node, duration_ns);
            return;
        }
    }
    sim_call_after(sim, rank, duration_ns, SIM_CALL_NODE_DONE, node, rank);
}

/* GPU compute, with what chance adds to it or takes from it; something is always left. */
static void issue_gpu_compute(struct sim *sim, uint32_t rank, uint32_t node, uint64_t duration_ns)
{
    double factor = sim_noise_factor(sim->config, rank, node);
    if (factor != 1.0 && duration_ns > 0) {
        duration_ns = ticks_from_double((double)duration_ns * factor + 0.5);
        duration_ns = duration_ns > 0 ? duration_ns : 1;
    }
    issue_timed(sim, rank, node, duration_ns, true);
}

static void issue_roofline(struct sim *sim, uint32_t rank, uint32_t node)
{
    const struct trace_node *trace_node = &sim->ranks[rank].graph->nodes[node];
    const struct sim_device *device = sim_device_of(sim->config, rank);
    struct roofline roofline = sim_device_roofline(sim->config, device);
    if (trace_node->tensor_bytes == 0) {
        finish_node(sim, rank, node);
        return;
    }
    struct roofline_estimate estimate = roofline_estimate(&roofline, trace_node->num_ops, trace_node->tensor_bytes);
    struct sim_rank_result *result = &sim->result.rows[rank];
    double weight = (double)estimate.duration_ns;
    result->roofline_weight += weight;
    result->compute_bound += estimate.compute_bound ? weight : 0.0;
    result->compute_utilization += estimate.compute_share * weight;
    result->memory_utilization += estimate.memory_share * weight;
    result->operation_intensity += estimate.intensity * weight;
    issue_gpu_compute(sim, rank, node, sim_compute_scaled(sim->config, device, estimate.duration_ns));
}

static void issue_send(struct sim *sim, uint32_t rank, uint32_t node)
{
    const struct trace_node *trace_node = &sim->ranks[rank].graph->nodes[node];
    sim_send(sim, rank, (uint32_t)trace_node->comm_dst, sim_tag_native(trace_node->comm_tag), trace_node->comm_bytes,
             (struct sim_party){.kind = SIM_PARTY_NODE, .a = node});
}

static void issue_recv(struct sim *sim, uint32_t rank, uint32_t node)
{
    const struct trace_node *trace_node = &sim->ranks[rank].graph->nodes[node];
    sim_recv(sim, (uint32_t)trace_node->comm_src, rank, sim_tag_native(trace_node->comm_tag), trace_node->comm_bytes,
             (struct sim_party){.kind = SIM_PARTY_NODE, .a = node});
}

static void issue_comm(struct sim *sim, uint32_t rank, uint32_t node)
{
    switch ((enum trace_node_type)sim->ranks[rank].graph->nodes[node].type) {
    case TRACE_SEND:
        issue_send(sim, rank, node);
        break;
    case TRACE_RECV:
        issue_recv(sim, rank, node);
        break;
    default:
        sim_collective_issue(sim, rank, node);
        break;
    }
}

void sim_workload_launched(struct sim *sim, uint32_t rank, uint32_t node)
{
    issue_comm(sim, rank, node);
}

static void issue_compute(struct sim *sim, uint32_t rank, uint32_t node)
{
    const struct trace_node *trace_node = &sim->ranks[rank].graph->nodes[node];
    if (trace_node->is_cpu_op) {
        issue_timed(sim, rank, node, sim_host_ns(sim->config, trace_node), false);
    } else if (sim_uses_roofline(sim->config)) {
        issue_roofline(sim, rank, node);
    } else {
        issue_gpu_compute(sim, rank, node, sim_compute_ns(sim->config, sim_device_of(sim->config, rank), trace_node));
    }
}

static void issue_by_type(struct sim *sim, uint32_t rank, uint32_t node)
{
    const struct sim_config *config = sim->config;
    const struct trace_node *trace_node = &sim->ranks[rank].graph->nodes[node];
    switch ((enum trace_node_type)trace_node->type) {
    case TRACE_COMP:
        issue_compute(sim, rank, node);
        break;
    case TRACE_MEM_LOAD:
    case TRACE_MEM_STORE:
        sim_memory_access(sim, rank, node);
        break;
    case TRACE_SEND:
    case TRACE_RECV:
    case TRACE_COLL:
        if (trace_node->type == TRACE_COLL && trace_node->comm_type == COLL_BROADCAST &&
            config->broadcast == ORR_BROADCAST_REPLAY) {
            issue_timed(sim, rank, node, sim_replay_ns(trace_node), false);
        } else if (config->tuning.launch_ns > 0) {
            sim_call_after(sim, rank, config->tuning.launch_ns, SIM_CALL_LAUNCHED, node, rank);
        } else {
            issue_comm(sim, rank, node);
        }
        break;
    default:
        finish_node(sim, rank, node); /* INVALID, METADATA */
        break;
    }
}

static void sim_workload_issue(struct sim *sim, uint32_t rank, uint32_t node)
{
    struct sim_rank *state = &sim->ranks[rank];
    const struct trace_node *trace_node = &state->graph->nodes[node];
    state->ongoing++;
    sim_account_start(sim, rank, node);
    if (sim_node_kind(trace_node) == SIM_OP_COMM) {
        sim_share_changed(sim, rank);
    }
    if (sim->config->system.replay_only) {
        issue_timed(sim, rank, node, sim_replay_ns(trace_node), !trace_node->is_cpu_op);
    } else {
        issue_by_type(sim, rank, node);
    }
}

static void issue_pass(struct sim *sim, uint32_t rank)
{
    struct sim_rank *state = &sim->ranks[rank];
    state->passing = true;
    while (!sim->queue.failed) {
        uint32_t node = sim_slots_take(sim, state);
        if (node == SIM_NONE) {
            break;
        }
        sim_workload_issue(sim, rank, node);
    }
    state->passing = false;
    sim_slots_offer_late(sim, state);
}

static void issue_and_check_end(struct sim *sim, uint32_t rank)
{
    struct sim_rank *state = &sim->ranks[rank];
    do {
        issue_pass(sim, rank);
        /* Children of a node that finished at once wait for the next completion; with none to come, they go now. */
    } while (state->ongoing == 0 && sim_slots_any_free(state) && !sim->queue.failed);
    if (state->ongoing == 0 && !sim_slots_any_free(state) && !state->finished) {
        state->finished = true;
        sim_account_finish(sim, rank);
    }
}

void sim_workload_start(struct sim *sim, uint32_t rank)
{
    struct sim_rank *state = &sim->ranks[rank];
    for (uint32_t node = 0; node < state->graph->node_count; node++) {
        if (state->parents_left[node] == 0) {
            sim_slots_offer(sim, state, node);
        }
    }
    issue_and_check_end(sim, rank);
}

void sim_workload_node_done(struct sim *sim, uint32_t rank, uint32_t node)
{
    finish_node(sim, rank, node);
    if (!sim->ranks[rank].passing) {
        issue_and_check_end(sim, rank);
    }
}
