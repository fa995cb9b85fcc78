/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Each distinct trace is walked once, in the order in which its nodes become free; ranks that share a trace share its
 * bounds, since groups belong to the nodes. Three longest chains are carried along the edges together (compute alone,
 * latency alone, both with bandwidth). Bytes are counted as the engine cuts them, into chunks and then into shares,
 * both rounded down: a bound that counted the remainders would lie above what is sent.
 */
#include "sim/optimum.h"

#include <string.h>

#include "compute/roofline.h"
#include "net/packet/packet.h"
#include "sim/engine.h"

/* What a group's members can use: the rate of one member's links into the group, and the latency of the quickest. */
struct reach {
    double bytes_per_ns;
    uint64_t latency_ns;
    uint32_t ranks;
};

struct chains {
    uint64_t compute_ns, latency_ns, all_ns; /* until the node may start */
};

struct walk {
    struct sim *sim;
    bool custom;          /* collectives are what traces of their own say */
    struct reach whole;   /* the machine's own */
    struct reach *groups; /* by group */
    const struct trace_graph *graph;
    const struct sim_graph_info *info;
    const struct sim_device *device; /* that the graph runs on */
    struct chains *reached;          /* by node */
    uint32_t *parents_left;          /* by node */
    uint32_t *free;                  /* nodes that may start; a stack */
    uint8_t *walked;                 /* by graph and kind of device */
    double bus_bytes, received_bytes;
    uint64_t device_ns; /* all that the device computes */
    struct sim_optimum best;
};

static uint32_t links_of(const struct topo_dim *dim)
{
    switch (dim->kind) {
    case TOPO_RING:
        return dim->size > 2 ? 2 : 1;
    case TOPO_FULLY_CONNECTED:
        return dim->size - 1;
    default:
        return 1;
    }
}

static uint64_t whole_ns(double ns)
{
    return ns > 0 ? ticks_from_double(ns) : 0;
}

/* The best connected host, and the quickest link at a host. */
static struct reach wired_reach(const struct topo_graph *graph, uint32_t ranks)
{
    struct reach reach = {.ranks = ranks, .latency_ns = UINT64_MAX};
    for (uint32_t node = 0; node < graph->node_count; node++) {
        double rate = 0;
        for (uint32_t port = graph->port_start[node];
             graph->kinds[node] == TOPO_NODE_HOST && port < graph->port_start[node + 1]; port++) {
            const struct topo_link *link = &graph->links[graph->ports[port].link];
            rate += (double)link->rate_bps / 8e9;
            reach.latency_ns = link->delay_ns < reach.latency_ns ? link->delay_ns : reach.latency_ns;
        }
        reach.bytes_per_ns = rate > reach.bytes_per_ns ? rate : reach.bytes_per_ns;
    }
    reach.latency_ns = reach.latency_ns == UINT64_MAX ? 0 : reach.latency_ns;
    return reach;
}

static struct reach dims_reach(const struct topo_dims *dims, uint64_t spanned, uint32_t ranks)
{
    struct reach reach = {.ranks = ranks, .latency_ns = UINT64_MAX};
    double least = 1;
    double most = 1;
    topo_link_factor_range(dims, &least, &most);
    for (uint32_t d = 0; d < dims->count; d++) {
        if ((spanned >> d & 1) != 0) {
            const struct topo_dim *dim = &dims->dim[d];
            uint64_t latency = whole_ns(dim->latency_ns);
            reach.bytes_per_ns += links_of(dim) * dim->bytes_per_ns * most;
            reach.latency_ns = latency < reach.latency_ns ? latency : reach.latency_ns;
        }
    }
    reach.latency_ns = reach.latency_ns == UINT64_MAX ? 0 : reach.latency_ns;
    return reach;
}

/* Messages of a group go by the shortest way, so that they stay in the dimensions in which its members differ. */
static uint64_t spanned_by(const struct topo_dims *dims, const struct sim_group *group)
{
    uint64_t spanned = 0;
    for (uint32_t d = 0; d < dims->count; d++) {
        for (uint32_t i = 1; i < group->count; i++) {
            if (topo_coordinate(&dims->dim[d], group->ranks[i]) != topo_coordinate(&dims->dim[d], group->ranks[0])) {
                spanned |= UINT64_C(1) << d;
                break;
            }
        }
    }
    return spanned;
}

static uint32_t sim_optimum_ranks_in(const struct topo_dims *dims, uint64_t spanned)
{
    uint32_t ranks = 1;
    for (uint32_t d = 0; d < dims->count; d++) {
        ranks *= (spanned >> d & 1) != 0 ? dims->dim[d].size : 1;
    }
    return ranks;
}

static struct reach node_reach(const struct walk *walk, uint32_t index)
{
    const struct sim_config *config = walk->sim->config;
    const struct trace_node *node = &walk->graph->nodes[index];
    uint32_t group = sim_graph_group(walk->info, index);
    if (group != SIM_NONE) {
        return walk->groups[group];
    }
    if ((node->has & TRACE_HAS_INVOLVED_DIM) == 0) {
        return walk->whole;
    }
    uint32_t ranks = sim_optimum_ranks_in(&config->dims, node->involved_dims);
    if (config->packet == NULL) {
        return dims_reach(&config->dims, node->involved_dims, ranks);
    }
    return (struct reach){walk->whole.bytes_per_ns, walk->whole.latency_ns, ranks};
}

static void find_reaches(struct walk *walk)
{
    const struct sim_config *config = walk->sim->config;
    walk->whole = config->packet != NULL ? wired_reach(config->packet->graph, config->dims.ranks)
                                         : dims_reach(&config->dims, UINT64_MAX, config->dims.ranks);
    for (uint32_t i = 0; i < config->group_count; i++) {
        const struct sim_group *group = &config->groups[i];
        walk->groups[i] = walk->whole;
        if (config->packet == NULL) {
            walk->groups[i] = dims_reach(&config->dims, spanned_by(&config->dims, group), group->count);
        }
        walk->groups[i].ranks = group->count;
    }
}

/* Bytes that each member must send or receive at least; of an all-gather the trace has one member's share. */
static double least_bytes(const struct sim_config *config, const struct trace_node *node, uint32_t ranks)
{
    uint64_t splits = config->system.preferred_dataset_splits;
    uint64_t cuts = (splits == 0 ? 1 : splits) * ranks;
    if (node->comm_type == COLL_ALL_GATHER) {
        return (double)node->comm_bytes * (ranks - 1);
    }
    if (ranks < 2 || node->comm_bytes < cuts) {
        return 0;
    }
    return (double)(node->comm_bytes / cuts * cuts) * coll_bus_factor(node->comm_type, ranks);
}

/* A custom trace says itself what is sent; nothing general can be said of it. */
static bool is_custom(const struct sim_config *config)
{
    for (uint32_t i = 0; i < SIM_NATIVE_COUNT; i++) {
        if (config->system.implementation[i].custom != NULL) {
            return true;
        }
    }
    return config->system.custom_node_count > 0;
}

static bool in_network_reduction(const struct sim_config *config)
{
    const struct sim_implementation *reduce = &config->system.implementation[SIM_ALL_REDUCE];
    for (uint32_t i = 0; i < reduce->count; i++) {
        if (reduce->list[i].algo == COLL_NCCL && reduce->list[i].nccl != COLL_NCCL_RING &&
            reduce->list[i].nccl != COLL_NCCL_TREE) {
            return true;
        }
    }
    return false;
}

static uint64_t roofline_ns(const struct sim_config *config, const struct sim_device *device,
                            const struct trace_node *node)
{
    struct roofline roofline = sim_device_roofline(config, device);
    return node->tensor_bytes == 0
               ? 0
               : sim_compute_scaled(config, device,
                                    roofline_estimate(&roofline, node->num_ops, node->tensor_bytes).duration_ns);
}

/* What the node takes apart from messages: that which every schedule must wait for. */
static uint64_t own_ns(const struct sim_config *config, const struct sim_device *device, const struct trace_node *node)
{
    bool replayed = config->system.replay_only || (node->type == TRACE_COLL && node->comm_type == COLL_BROADCAST &&
                                                   config->broadcast == ORR_BROADCAST_REPLAY);
    if (replayed) {
        return sim_replay_ns(node);
    }
    switch ((enum trace_node_type)node->type) {
    case TRACE_COMP:
        if (node->is_cpu_op) {
            return sim_host_ns(config, node);
        }
        return sim_uses_roofline(config) ? roofline_ns(config, device, node) : sim_compute_ns(config, device, node);
    case TRACE_MEM_LOAD:
    case TRACE_MEM_STORE:
        return sim_memory_ns(config, node);
    default:
        return 0;
    }
}

/* The node's share of each chain, and what it adds to the sums. */
static struct chains node_least(struct walk *walk, uint32_t index)
{
    const struct sim_config *config = walk->sim->config;
    const struct trace_node *node = &walk->graph->nodes[index];
    uint64_t own = own_ns(config, walk->device, node);
    struct chains least = {.compute_ns = own, .all_ns = own};
    bool talks = own == 0 && !config->system.replay_only;
    if (node->type == TRACE_COMP && !node->is_cpu_op) {
        walk->device_ns += own;
    } else if (node->type == TRACE_COLL && talks && !walk->custom) {
        struct reach reach = node_reach(walk, index);
        double bytes = reach.ranks < 2 ? 0 : least_bytes(config, node, reach.ranks);
        if (node->comm_type == COLL_ALL_REDUCE && in_network_reduction(config)) {
            bytes /= 2; /* switches add and copy: a rank sends and receives its buffer once */
        }
        least.latency_ns = reach.ranks < 2 ? 0 : reach.latency_ns;
        uint64_t sending = reach.bytes_per_ns > 0 ? whole_ns(bytes / reach.bytes_per_ns) : 0;
        least.all_ns = sending > least.latency_ns ? sending : least.latency_ns;
        walk->bus_bytes += bytes;
    } else if (node->type == TRACE_SEND && talks) {
        walk->bus_bytes += (double)node->comm_bytes;
    } else if (node->type == TRACE_RECV && talks) {
        walk->received_bytes += (double)node->comm_bytes;
    }
    return least;
}

static uint64_t later(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static void walk_node(struct walk *walk, uint32_t index, uint32_t *free_count)
{
    const struct trace_node *node = &walk->graph->nodes[index];
    struct chains end = walk->reached[index];
    struct chains least = node_least(walk, index);
    end.compute_ns += least.compute_ns;
    end.latency_ns += least.latency_ns;
    end.all_ns += least.all_ns;
    walk->best.compute_ns = later(walk->best.compute_ns, end.compute_ns);
    walk->best.latency_ns = later(walk->best.latency_ns, end.latency_ns);
    walk->best.all_ns = later(walk->best.all_ns, end.all_ns);
    for (uint32_t i = 0; i < node->child_count; i++) {
        uint32_t child = walk->graph->children[node->first_child + i];
        struct chains *to = &walk->reached[child];
        to->compute_ns = later(to->compute_ns, end.compute_ns);
        to->latency_ns = later(to->latency_ns, end.latency_ns);
        to->all_ns = later(to->all_ns, end.all_ns);
        if (--walk->parents_left[child] == 0) {
            walk->free[(*free_count)++] = child;
        }
    }
}

static void walk_graph(struct walk *walk)
{
    const struct trace_graph *graph = walk->graph;
    uint32_t free_count = 0;
    memset(walk->reached, 0, graph->node_count * sizeof *walk->reached);
    for (uint32_t i = 0; i < graph->node_count; i++) {
        walk->parents_left[i] = graph->nodes[i].parent_count;
        if (walk->parents_left[i] == 0) {
            walk->free[free_count++] = i;
        }
    }
    walk->bus_bytes = walk->received_bytes = 0;
    walk->device_ns = 0;
    while (free_count > 0) {
        walk_node(walk, walk->free[--free_count], &free_count);
    }
    double bytes = walk->bus_bytes > walk->received_bytes ? walk->bus_bytes : walk->received_bytes;
    if (walk->whole.bytes_per_ns > 0) {
        walk->best.bandwidth_ns = later(walk->best.bandwidth_ns, whole_ns(bytes / walk->whole.bytes_per_ns));
    }
    if (walk->sim->config->policy != ORR_POLICY_STREAMS) {
        walk->best.compute_ns = later(walk->best.compute_ns, walk->device_ns);
    }
}

static uint32_t kind_count(const struct sim *sim)
{
    return sim->config->devices.kinds != NULL ? sim->config->devices.kind_count : 1;
}

static size_t walked_bytes(const struct sim *sim)
{
    return (size_t)sim->config->traces->graph_count * kind_count(sim);
}

/* Each rank's bound is one of the job, so that a graph is walked once for every kind of device that its ranks have. */
static void walk_ranks(struct walk *walk)
{
    const struct sim *sim = walk->sim;
    const struct sim_devices *devices = &sim->config->devices;
    for (uint32_t rank = 0; rank < sim->rank_count; rank++) {
        const struct sim_graph_info *info = sim->rank_graph[rank];
        uint32_t kind = devices->kinds != NULL ? devices->of_rank[rank] : 0;
        uint8_t *walked = &walk->walked[(size_t)(info - sim->graphs) * kind_count(sim) + kind];
        if (*walked == 0) {
            *walked = 1;
            walk->graph = info->graph;
            walk->info = info;
            walk->device = sim_device_of(sim->config, rank);
            walk_graph(walk);
        }
    }
}

static bool walk_begin(struct walk *walk, uint32_t most)
{
    struct mem *mem = walk->sim->mem;
    walk->reached = mem_alloc(mem, most * sizeof *walk->reached);
    walk->parents_left = mem_alloc(mem, most * sizeof *walk->parents_left);
    walk->free = mem_alloc(mem, most * sizeof *walk->free);
    walk->groups = mem_alloc(mem, walk->sim->config->group_count * sizeof *walk->groups);
    walk->walked = mem_zalloc(mem, walked_bytes(walk->sim));
    return walk->reached != NULL && walk->parents_left != NULL && walk->free != NULL && walk->groups != NULL &&
           walk->walked != NULL;
}

static void walk_end(struct walk *walk, uint32_t most)
{
    struct mem *mem = walk->sim->mem;
    mem_free(mem, walk->reached, most * sizeof *walk->reached);
    mem_free(mem, walk->parents_left, most * sizeof *walk->parents_left);
    mem_free(mem, walk->free, most * sizeof *walk->free);
    mem_free(mem, walk->walked, walked_bytes(walk->sim));
    mem_free(mem, walk->groups, walk->sim->config->group_count * sizeof *walk->groups);
}

void sim_optimum_find(struct sim *sim, struct sim_optimum *optimum)
{
    uint32_t most = 0;
    const struct trace_set *traces = sim->config->traces;
    for (uint32_t g = 0; g < traces->graph_count; g++) {
        most = traces->graphs[g]->node_count > most ? traces->graphs[g]->node_count : most;
    }
    struct walk walk = {.sim = sim, .custom = is_custom(sim->config)};
    *optimum = (struct sim_optimum){0};
    if (sim->config->noise.kind != ORR_NOISE_NONE || sim->config->straggling != NULL) {
        return; /* what a node takes at least is for chance to say */
    }
    if (walk_begin(&walk, most)) {
        find_reaches(&walk);
        walk_ranks(&walk);
        walk.best.all_ns = later(walk.best.all_ns, later(walk.best.compute_ns, walk.best.bandwidth_ns));
        *optimum = walk.best;
    }
    walk_end(&walk, most);
}
