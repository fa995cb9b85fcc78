/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Trees of a wired machine's switches over which an all-reduce is added up in the network (SHARP), one for each channel
 * of a collective. Switches inside servers are no part of them, and hosts do not forward. Knows the graph, the servers
 * and who is in the group; not what is sent.
 */
#ifndef ORR_SIM_SWITCH_TREES_H
#define ORR_SIM_SWITCH_TREES_H

#include "coll/nccl.h"
#include "sim/servers.h"
#include "topo/graph.h"

struct sim_switch_trees {
    struct nccl_switch_trees list; /* for coll/nccl.h */
    uint32_t channels;             /* 0: the switches do not join the group's servers */
    const uint32_t *nodes;         /* by place: the switch's number in the network */
    const uint32_t *lowest;        /* by place: the first member, in the group's order, of those below it */
    uint64_t in_flight_bytes;      /* on the longest of the trees' links, while its first byte is on its way */
};

/* The trees of the group's channels, in the arena: as many as the server with the fewest members has, times the
 * switches that the worst-joined of the heads hangs on. A tree's root is the switch whose farthest leaf is nearest, of
 * these the one nearest to all; equals are taken in turn. */
ORR_MUST_CHECK enum orr_status sim_switch_trees_find(const struct topo_graph *graph, const struct sim_servers *servers,
                                                     const struct nccl_job *job, const struct nccl_group *group,
                                                     struct arena *arena, struct sim_switch_trees *trees);

#endif
