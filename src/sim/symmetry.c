/* SPDX-License-Identifier: Apache-2.0 */
/* Every event of the run is rank 0's, so that what the plain engine would have to compare between ranks is two numbers
 * beside the event: the batch that caused it, and how far it has come from where it began. */
#include "sim/symmetry.h"

#include "sim/engine.h"

/* ---- before the run ---- */

const char *sim_symmetry_refuses_traces(const struct sim_config *config)
{
    const struct trace_set *traces = config->traces;
    const struct sim_devices *devices = &config->devices;
    if (sim_noise_parts_ranks(config)) {
        return "some ranks compute slower than others, by chance";
    }
    for (uint32_t rank = 1; rank < config->dims.ranks; rank++) {
        if (traces->ranks[rank].graph != traces->ranks[0].graph) {
            return "ranks have different traces";
        }
        if (config->keep_issue_order && traces->ranks[rank].id_offset != traces->ranks[0].id_offset) {
            return "ranks number their nodes differently, which shows in ASTRA-sim's output";
        }
        if (devices->kinds != NULL && devices->of_rank[rank] != devices->of_rank[0]) {
            return "ranks compute on different devices";
        }
        if (config->dims.link_factors != NULL && config->dims.link_factors[rank] != config->dims.link_factors[0]) {
            return "ranks have links of different rates";
        }
    }
    return NULL;
}

const char *sim_symmetry_refuses_settings(const struct sim_config *config)
{
    if (config->fault_count > 0) {
        return "links have faults";
    }
    if (config->rendezvous || config->jitter > 0.0) {
        return "messages wait for each other, or are each delayed by chance";
    }
    if (config->keep_intervals || config->tensors != NULL) {
        return "every rank's operations are to be kept";
    }
    return config->timing != NULL ? "collectives are timed, not simulated" : NULL;
}

static const char *refuses_network(const struct sim_config *config)
{
    if (config->backend != ORR_BACKEND_UNAWARE && config->backend != ORR_BACKEND_AWARE) {
        return "only networks of dimensions look the same from every rank";
    }
    bool meet = config->system.shared_bus || config->system.endpoint_delay_ns == 0;
    return meet ? "messages meet at the endpoint" : NULL;
}

/* Whether every member's part in a phase is that of member 0, turned. */
static bool turns(const struct sim *sim, const struct coll_dim *dim, uint32_t index)
{
    bool whole = dim->impl.one && index == 0 && sim->config->dims.count > 1;
    switch (dim->impl.algo) {
    case COLL_RING:
    case COLL_DIRECT:
        return !whole || sim->config->backend == ORR_BACKEND_UNAWARE;
    case COLL_HALVING_DOUBLING: /* to and from a partner, each on its own side: the way is as long for both */
        return sim->config->backend == ORR_BACKEND_UNAWARE && (dim->ring.size & (dim->ring.size - 1)) == 0;
    default:
        return false;
    }
}

static const char *refuses_algorithm(const struct sim *sim, const struct trace_node *node)
{
    enum sim_native native = sim_native_of(node->comm_type);
    for (uint32_t d = 0; d < sim->logical_count[native]; d++) {
        if (!turns(sim, &sim->logical[native][d], d)) {
            return "members of a collective have different parts in it";
        }
    }
    return NULL;
}

static const char *refuses_collective(const struct sim *sim, const struct trace_node *node,
                                      sim_refuses_algorithm *refuses)
{
    if (node->comm_type == COLL_BROADCAST && sim->config->broadcast == ORR_BROADCAST_REPLAY) {
        return NULL;
    }
    if (coll_type_is_rooted(node->comm_type)) {
        return "a collective has a root";
    }
    bool custom = sim->config->system.implementation[sim_native_of(node->comm_type)].custom != NULL ||
                  sim->config->system.custom_node_count > 0;
    return custom ? "a collective has a trace of its own" : refuses(sim, node);
}

static const char *refuses_node(const struct sim *sim, const struct trace_node *node, sim_refuses_algorithm *refuses)
{
    switch ((enum trace_node_type)node->type) {
    case TRACE_SEND:
    case TRACE_RECV:
        return "a message names a rank";
    case TRACE_MEM_LOAD:
    case TRACE_MEM_STORE:
        return sim->config->memory.kind == SIM_MEMORY_PER_NPU ? NULL : "ranks stand in line for one memory";
    case TRACE_COLL:
        return refuses_collective(sim, node, refuses);
    default:
        return NULL;
    }
}

const char *sim_symmetry_refuses_nodes(const struct sim *sim, sim_refuses_algorithm *refuses)
{
    const struct trace_graph *graph = sim->config->traces->ranks[0].graph;
    const char *why = NULL;
    for (uint32_t i = 0; why == NULL && !sim->config->system.replay_only && i < graph->other_count; i++) {
        why = refuses_node(sim, &graph->nodes[graph->others[i]], refuses);
    }
    return why;
}

const char *sim_symmetry_refuses(const struct sim *sim)
{
    const struct sim_config *config = sim->config;
    const char *why = config->no_symmetry      ? "it was asked that every rank be carried out"
                      : config->dims.ranks < 2 ? "there is one rank"
                                               : refuses_network(config);
    why = why == NULL ? sim_symmetry_refuses_settings(config) : why;
    why = why == NULL ? sim_symmetry_refuses_traces(config) : why;
    return why == NULL ? sim_symmetry_refuses_nodes(sim, refuses_algorithm) : why;
}

/* ---- while it runs ---- */

bool sim_symmetry_begin(struct sim *sim)
{
    sim->symmetry = mem_zalloc(sim->mem, sizeof *sim->symmetry);
    sim->order.watched = true;
    return sim->symmetry != NULL && net_fold(&sim->net);
}

void sim_symmetry_free(struct sim *sim)
{
    if (sim->symmetry != NULL) {
        mem_free(sim->mem, sim->symmetry->lanes, (size_t)sim->symmetry->lane_capacity * sizeof *sim->symmetry->lanes);
        mem_free(sim->mem, sim->symmetry, sizeof *sim->symmetry);
        sim->symmetry = NULL;
    }
}

void sim_symmetry_event(struct sim *sim)
{
    struct sim_symmetry *symmetry = sim->symmetry;
    struct event_queue *queue = &sim->queue;
    struct event_cause cause = event_queue_cause(queue);
    if (queue->now != symmetry->time_ns || cause.batch != symmetry->from || symmetry->batch == 0) {
        symmetry->time_ns = queue->now;
        symmetry->from = cause.batch;
        symmetry->batch++;
    }
    queue->cause = (struct event_cause){.batch = symmetry->batch, .origin = cause.origin};
    if (symmetry->batch == UINT32_MAX || sim->net.fold.next_origin > UINT32_MAX / 2) {
        sim_order_give_up(sim); /* numbers for them have run out */
    }
}

void sim_symmetry_peers(struct sim *sim, enum sim_symmetry_peers peers)
{
    sim->symmetry->move = (uint64_t)peers << 32;
}

void sim_symmetry_finish(struct sim *sim)
{
    sim->symmetry->finish_origin = sim->queue.cause.origin;
    if (sim->config->keep_issue_order && sim->queue.cause.origin >= sim->rank_count) {
        sim_order_give_up(sim); /* which rank is the first to end is not known */
    }
}

void sim_symmetry_lane(struct sim *sim, uint32_t lane)
{
    struct sim_symmetry *symmetry = sim->symmetry;
    uint32_t known = symmetry->lane_capacity;
    if (!mem_reserve(sim->mem, (void **)&symmetry->lanes, &symmetry->lane_capacity, (uint64_t)lane + 1,
                     sizeof *symmetry->lanes)) {
        sim_fail_memory(sim);
        return;
    }
    for (uint32_t i = known; i < symmetry->lane_capacity; i++) {
        symmetry->lanes[i] = (struct net_touch){.time_ns = UINT64_MAX};
    }
    net_fold_touch(&sim->net, &symmetry->lanes[lane]);
}

/* ---- after it ---- */

/* Ranks end in the order in which what ended them began. */
static bool spread_log(struct sim *sim)
{
    struct sim_result *result = &sim->result;
    uint32_t ranks = sim->rank_count;
    for (uint32_t first = 0; first < ranks; first++) {
        sim_log(sim, (struct sim_log_entry){
                         .kind = SIM_LOG_FINISH,
                         .rank = topo_rank_moved(&sim->config->dims, first, sim->symmetry->finish_origin)});
    }
    return result->log_count == ranks;
}

bool sim_symmetry_spread(struct sim *sim)
{
    struct sim_result *result = &sim->result;
    result->alike = sim->alike;
    if (sim->symmetry != NULL) { /* a network of shares has other events than it would have had */
        result->events = sim_all_of(sim, result->events);
    }
    result->messages = sim_all_of(sim, result->messages);
    result->nodes = sim_all_of(sim, result->nodes);
    result->nodes_done = sim_all_of(sim, result->nodes_done);
    result->ranks_finished = (uint32_t)sim_all_of(sim, result->ranks_finished);
    for (uint32_t i = 0; i < result->collective_count; i++) {
        result->collectives[i].count = sim_all_of(sim, result->collectives[i].count);
        result->collectives[i].total_ns = sim_all_of(sim, result->collectives[i].total_ns);
    }
    for (uint32_t d = 0; d < sim->config->dims.count; d++) {
        struct sim_dim_result *dim = &result->dims[d];
        dim->messages = sim_all_of(sim, dim->messages);
        dim->bytes = sim_all_of(sim, dim->bytes);
        dim->busy_ns = sim_all_of(sim, dim->busy_ns);
        dim->queued = sim_all_of(sim, dim->queued);
    }
    result->log_count = 0;
    return !sim->config->keep_issue_order || spread_log(sim);
}
