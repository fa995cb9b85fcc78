/* SPDX-License-Identifier: Apache-2.0 */
/* What makes ranks alike is asked of those who know: the traces here, the lists of NCCL, the network. */
#include "sim/alike.h"

#include "coll/nccl.h"
#include "net/packet/packet.h"
#include "sim/engine.h"

/* Rings and all-to-alls, of all ranks. */
static const char *alike_refuses_algorithm(const struct sim *sim, const struct trace_node *node)
{
    enum sim_native native = sim_native_of(node->comm_type);
    const struct coll_dim *dim = &sim->logical[native][0];
    uint32_t servers = sim->rank_count / sim->nccl_servers.ranks_each;
    if (sim->logical_count[native] != 1 || dim->impl.algo != COLL_NCCL ||
        (dim->impl.nccl != COLL_NCCL_AUTO && dim->impl.nccl != COLL_NCCL_RING)) {
        return "a collective is carried out by another algorithm than NCCL's rings";
    }
    bool can = (sim->config->has_nvls && servers <= 2) || sim->config->system.nccl_collnet;
    bool in_switch = dim->impl.nccl == COLL_NCCL_AUTO && can && node->comm_type == COLL_ALL_REDUCE;
    return in_switch ? "switches reduce what passes them" : NULL;
}

/* A group of all ranks is as good as none; where there are others, some collective may be theirs. */
static const char *alike_refuses_groups(const struct sim_config *config)
{
    for (uint32_t i = 0; i < config->group_count; i++) {
        if (config->groups[i].count != config->dims.ranks) {
            return "some collectives are of a part of the ranks";
        }
    }
    return NULL;
}

/* Places of a server need not be alike where servers are; false: neither are. */
static bool settle_for_fewer(struct sim *sim, struct topo_alike *alike)
{
    const struct topo_graph *graph = sim->config->packet->graph;
    uint32_t *stand = mem_alloc(sim->mem, graph->port_count * sizeof *stand);
    bool found = false;
    bool ok = stand != NULL && topo_alike_ports(graph, alike, sim->rank_count, stand, &found, sim->mem);
    if (ok && !found && alike->places < alike->each) {
        alike->places = alike->each;
        ok = topo_alike_ports(graph, alike, sim->rank_count, stand, &found, sim->mem);
    }
    mem_free(sim->mem, stand, graph->port_count * sizeof *stand);
    return ok && found && topo_alike_members(alike) > 1;
}

const char *sim_alike_find(struct sim *sim)
{
    const struct sim_config *config = sim->config;
    const struct trace_graph *graph = config->traces->ranks[0].graph;
    struct nccl_job job = {.gpus = sim->rank_count, .gpus_per_server = sim->nccl_servers.ranks_each, .as_nccl = true};
    struct topo_alike alike;
    const char *why = config->no_symmetry        ? "it was asked that every rank be carried out"
                      : config->dims.ranks < 2   ? "there is one rank"
                      : sim->carrier != NULL     ? "packets are moved"
                      : config->keep_issue_order ? "every rank's operations are to be kept"
                                                 : sim_symmetry_refuses_settings(config);
    why = why == NULL ? sim_symmetry_refuses_traces(config) : why;
    why = why == NULL ? alike_refuses_groups(config) : why;
    if (why == NULL && !nccl_alike_find(&job, &alike)) {
        why = "the machine is not made of equal servers";
    }
    bool any = !config->system.replay_only && graph->other_count > 0;
    why = why == NULL ? sim_symmetry_refuses_nodes(sim, alike_refuses_algorithm) : why;
    if (why != NULL || !any) {
        return why != NULL ? why : "nothing is sent";
    }
    sim->alike = arena_alloc(&sim->arena, sizeof *sim->alike);
    if (sim->alike == NULL || !settle_for_fewer(sim, &alike)) {
        sim->alike = NULL;
        return "the servers of the machine are not wired alike";
    }
    *sim->alike = alike;
    return NULL;
}

/* Messages of every rank, more or less. One of an all-to-all counts as a hundred: it meets those of all other ranks,
 * and so many of them use all ways alike the sooner. */
static double messages_of(const struct sim *sim)
{
    const struct trace_graph *graph = sim->config->traces->ranks[0].graph;
    double ranks = sim->rank_count;
    double channels =
        sim->nccl_servers.ranks_each < NCCL_MAX_CHANNELS ? sim->nccl_servers.ranks_each : NCCL_MAX_CHANNELS;
    double chunks = (double)sim->config->system.preferred_dataset_splits;
    double messages = 0;
    for (uint32_t i = 0; i < graph->other_count; i++) {
        const struct trace_node *node = &graph->nodes[graph->others[i]];
        if (node->type == TRACE_COLL) {
            messages += node->comm_type == COLL_ALL_TO_ALL   ? 100
                        : node->comm_type == COLL_ALL_REDUCE ? 2 * channels
                                                             : channels;
        }
    }
    return messages * ranks * ranks * chunks;
}

const char *sim_alike_begin(struct sim *sim)
{
    const double few = 1e7; /* that can be carried out one by one, each on the way that is its own */
    /* Rings over an odd number of servers change rails once. That is 2 % of an all-gather over three of them, and one
     * in a thousand beyond so many messages. */
    const double odd_few = 4e5;
    const struct net_ops *ops = sim->net.ops;
    if (!ops->takes_twins(&sim->net)) {
        return "the job is small enough to be moved by packets where shares are not right";
    }
    double messages = messages_of(sim);
    if (sim->alike->ranks < sim->rank_count && messages <= odd_few) {
        return "rings over an odd number of servers change rails on the way from the last to the first";
    }
    return ops->stand_for(&sim->net, sim->alike, messages > few) ? NULL
                                                                 : "the servers of the machine are not wired alike";
}

uint64_t sim_all_of(const struct sim *sim, uint64_t of_played)
{
    return sim->symmetry != NULL || sim->alike != NULL
               ? of_played / sim->played * sim->rank_count + of_played % sim->played * sim->rank_count / sim->played
               : of_played;
}
