/*
 * Which node of a rank's trace runs when (spec analytical §5). Free nodes wait in one heap per hardware slot, smallest
 * id first. Walking all free nodes in ascending id and issuing those whose slot is free, as ASTRA-sim does, is the same
 * as always taking the smallest head among the slots that are free: nothing releases a slot inside a pass except nodes
 * that finish at once, and those leave it as they found it. Nodes that become free inside a pass are kept back until it
 * ends.
 */
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

static void ready_push(struct sim *sim, struct sim_ready *ready, uint32_t node)
{
    if (!mem_reserve(sim->mem, (void **)&ready->items, &ready->capacity, (uint64_t)ready->count + 1,
                     sizeof *ready->items)) {
        sim_fail_memory(sim);
        return;
    }
    uint32_t at = ready->count++;
    while (at > 0 && ready->items[(at - 1) / 2] > node) {
        ready->items[at] = ready->items[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    ready->items[at] = node;
}

static uint32_t ready_pop(struct sim_ready *ready)
{
    uint32_t top = ready->items[0];
    uint32_t last = ready->items[--ready->count];
    uint32_t at = 0;
    for (;;) {
        uint32_t child = 2 * at + 1;
        if (child >= ready->count) {
            break;
        }
        if (child + 1 < ready->count && ready->items[child + 1] < ready->items[child]) {
            child++;
        }
        if (ready->items[child] >= last) {
            break;
        }
        ready->items[at] = ready->items[child];
        at = child;
    }
    ready->items[at] = last;
    return top;
}

static void node_is_free(struct sim *sim, struct sim_rank *state, uint32_t node)
{
    struct sim_ready *ready = &state->ready[sim_node_slot(&state->graph->nodes[node])];
    ready_push(sim, state->passing ? &state->late : ready, node);
}

/* Releases the slot and frees children; no issue pass. */
static void finish_node(struct sim *sim, uint32_t rank, uint32_t node)
{
    struct sim_rank *state = &sim->ranks[rank];
    const struct trace_node *trace_node = &state->graph->nodes[node];
    enum sim_slot slot = sim_node_slot(trace_node);
    if (slot != SIM_SLOT_NONE) {
        state->slot[slot] = SIM_NONE;
    }
    state->ongoing--;
    sim_account_end(sim, rank, node);
    const uint32_t *children = state->graph->children + trace_node->first_child;
    for (uint32_t i = 0; i < trace_node->child_count; i++) {
        if (--state->parents_left[children[i]] == 0) {
            node_is_free(sim, state, children[i]);
        }
    }
}

static void issue_timed(struct sim *sim, uint32_t rank, uint32_t node, uint64_t duration_ns, bool gpu_busy)
{
    if (gpu_busy) {
        sim->result.ranks[rank].gpu_busy_ns += duration_ns;
    }
    sim_call_after(sim, rank, duration_ns, SIM_CALL_NODE_DONE, node, rank);
}

static void issue_roofline(struct sim *sim, uint32_t rank, uint32_t node)
{
    const struct sim_system *system = &sim->config->system;
    const struct trace_node *trace_node = &sim->ranks[rank].graph->nodes[node];
    struct roofline roofline = {.peak_flops = system->peak_perf_tflops * 1e12,
                                .memory_bytes_rate = system->local_mem_bw_gbps * 1e9};
    if (trace_node->tensor_bytes == 0) {
        finish_node(sim, rank, node);
        return;
    }
    struct roofline_estimate estimate = roofline_estimate(&roofline, trace_node->num_ops, trace_node->tensor_bytes);
    struct sim_rank_result *result = &sim->result.ranks[rank];
    double weight = (double)estimate.duration_ns;
    result->roofline_weight += weight;
    result->compute_bound += estimate.compute_bound ? weight : 0.0;
    result->compute_utilization += estimate.compute_share * weight;
    result->memory_utilization += estimate.memory_share * weight;
    result->operation_intensity += estimate.intensity * weight;
    issue_timed(sim, rank, node, sim_compute_scaled(sim->config, estimate.duration_ns), true);
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
        issue_timed(sim, rank, node, sim_compute_ns(sim->config, trace_node), true);
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

static void issue(struct sim *sim, uint32_t rank, uint32_t node)
{
    struct sim_rank *state = &sim->ranks[rank];
    const struct trace_node *trace_node = &state->graph->nodes[node];
    enum sim_slot slot = sim_node_slot(trace_node);
    if (slot != SIM_SLOT_NONE) {
        state->slot[slot] = node;
    }
    state->ongoing++;
    sim_account_start(sim, rank, node);
    if (sim->config->system.replay_only) {
        issue_timed(sim, rank, node, sim_replay_ns(trace_node), !trace_node->is_cpu_op);
    } else {
        issue_by_type(sim, rank, node);
    }
}

/* The slot whose next node has the smallest id among those that can take one, or SIM_SLOTS. */
static enum sim_slot next_slot(const struct sim_rank *state)
{
    enum sim_slot best = SIM_SLOTS;
    for (enum sim_slot slot = SIM_SLOT_CPU; slot < SIM_SLOTS; slot++) {
        bool room = slot == SIM_SLOT_NONE || state->slot[slot] == SIM_NONE;
        if (room && state->ready[slot].count > 0 &&
            (best == SIM_SLOTS || state->ready[slot].items[0] < state->ready[best].items[0])) {
            best = slot;
        }
    }
    return best;
}

static void issue_pass(struct sim *sim, uint32_t rank)
{
    struct sim_rank *state = &sim->ranks[rank];
    state->passing = true;
    for (enum sim_slot slot = next_slot(state); slot != SIM_SLOTS && !sim->queue.failed; slot = next_slot(state)) {
        issue(sim, rank, ready_pop(&state->ready[slot]));
    }
    state->passing = false;
    while (state->late.count > 0) {
        node_is_free(sim, state, ready_pop(&state->late));
    }
}

static bool anything_ready(const struct sim_rank *state)
{
    for (uint32_t slot = 0; slot < SIM_SLOTS; slot++) {
        if (state->ready[slot].count > 0) {
            return true;
        }
    }
    return false;
}

static void issue_and_check_end(struct sim *sim, uint32_t rank)
{
    struct sim_rank *state = &sim->ranks[rank];
    do {
        issue_pass(sim, rank);
        /* Children of a node that finished at once wait for the next completion; with none to come, they go now. */
    } while (state->ongoing == 0 && anything_ready(state) && !sim->queue.failed);
    if (state->ongoing == 0 && !anything_ready(state) && !state->finished) {
        state->finished = true;
        sim_account_finish(sim, rank);
    }
}

void sim_workload_start(struct sim *sim, uint32_t rank)
{
    struct sim_rank *state = &sim->ranks[rank];
    for (uint32_t node = 0; node < state->graph->node_count; node++) {
        if (state->parents_left[node] == 0) {
            node_is_free(sim, state, node);
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
