/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Collectives as NCCL builds them: channels that are rings, double binary trees or reductions in switches, laid out
 * as a list of flows with dependencies (spec simai §6, §7, §14). Who sends what to whom after what; never when, and
 * nothing of networks.
 *
 * Algorithm, protocol and channel count are fields of one structure (struct nccl_choice), so that a cost-based choice
 * can fill it later. Everything made here lives in the arena that the caller gives.
 */
#ifndef ORR_COLL_NCCL_H
#define ORR_COLL_NCCL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "coll/impl.h"
#include "topo/alike.h"

/* NCCL's own numbers. */
enum nccl_algo { NCCL_TREE = 0, NCCL_RING = 1, NCCL_COLLNET = 2, NCCL_NVLS = 4, NCCL_NVLS_TREE = 5 };
enum nccl_protocol { NCCL_PROTOCOL_NONE = -1, NCCL_LL = 0, NCCL_LL128 = 1, NCCL_SIMPLE = 2 };

enum { NCCL_MAX_CHANNELS = 32 }; /* not under compat */

/* In the order in which groups are numbered. */
enum nccl_group_type { NCCL_GROUP_TP, NCCL_GROUP_DP, NCCL_GROUP_EP, NCCL_GROUP_DP_EP, NCCL_GROUP_CP, NCCL_GROUP_TYPES };

extern const char *const nccl_group_names[NCCL_GROUP_TYPES]; /* "tp", "dp_ep" */

/* What of the machine and the job the layout depends on. NVSwitches are numbered after the GPUs, server by server. */
struct nccl_job {
    uint32_t gpus, gpus_per_server, switches_per_server;
    uint32_t tp, ep; /* dp = gpus / tp; at least 1 each */
    uint32_t cp;     /* context parallelism, inside dp; 0 and 1: none. Not under compat */
    bool has_nvls;   /* the GPU type can reduce in its NVLink switch (H100, H800; by default H20 and later too) */
    bool nvls, pxn;  /* asked for: AS_NVLS_ENABLE, AS_PXN_ENABLE */
    bool as_nccl;    /* rings keep to their rails and switches reduce for heads; else SimAI's layout of both */
    bool nvls_tree;  /* asked for by itself: AS_NVLSTREE_ENABLE; groups on one server stay rings then */
    bool compat;     /* as SimAI 1.6: its holes too (spec §7, §14); otherwise they are filled */
    /* Of flows that are alike one is listed, as nccl_alike_find allows; NULL: each. Rings and all-to-all of all ranks.
     */
    const struct topo_alike *alike;
};

struct nccl_group {
    enum nccl_group_type type;
    uint32_t index;      /* as printed in the dump; under compat duplicates are counted, the last wins */
    uint32_t node_count; /* servers */
    uint32_t rank_count;
    const uint32_t *ranks; /* ascending in ring order */
    uint32_t switch_count;
    const uint32_t *switches; /* NVSwitch ids of the servers touched, ascending */
};

/* Trees of the network's switches that add up what passes them (SHARP), one for each channel, their switches in one
 * array: a tree's root first, each after the one above it. Switches are numbered after the NVSwitches by their place in
 * it; one of two trees has two places. */
struct nccl_switch_trees {
    const uint32_t *first; /* place of each tree's root, by channel; one more at the end */
    const uint32_t *up;    /* by place: that of the switch above; of a root itself */
    const uint32_t *leaf;  /* channels x servers of the group: place of the switch that the server's head hangs on */
};

struct nccl_choice {
    enum nccl_algo algo;
    enum nccl_protocol protocol;
    uint32_t channels;    /* rings; trees come in pairs per ring. More than were built: they are used in turn */
    uint32_t root;        /* broadcast, reduce, gather, scatter: place in group.ranks; otherwise unused */
    uint64_t chunk_bytes; /* largest message; 0: rings do not cut, the others by their own rule. Not under compat */
    bool pxn;
    const struct nccl_switch_trees *trees; /* NCCL_COLLNET, for all channels; NULL: each has a switch of its own */
};

/* One rank's place in one channel's ring. */
struct nccl_ring_place {
    uint32_t rank, prev, next, node_recv, node_send;
};

struct nccl_tree_place {
    uint32_t rank;
    int64_t up; /* -1 at the root */
    uint32_t down_count;
    uint32_t down[3];
};

struct nccl_channels {
    uint32_t ring_count, tree_count;
    uint32_t rank_count;
    uint32_t ring_size; /* rank_count; under compat fewer when the servers do not divide the group evenly */
    const struct nccl_ring_place *rings; /* ring_count x ring_size, ranks ascending within a channel */
    const struct nccl_tree_place *trees; /* tree_count x rank_count, ranks ascending within a channel */
};

enum nccl_connection {
    NCCL_CONN_RING,
    NCCL_CONN_PXN_INIT,
    NCCL_CONN_NVLS,
    NCCL_CONN_TREE,
    NCCL_CONN_PAIR,
    NCCL_CONN_COLLNET
};

/* One message. It may leave when all its parents have been received whole. Parents and children are runs in
 * nccl_flows.links. */
struct nccl_flow {
    uint64_t bytes;
    uint32_t src, dst; /* ranks, NVSwitch ids, or switches of trees */
    uint32_t channel;
    uint32_t chunk, chunk_count;
    uint32_t parents, parent_count; /* first in links, how many */
    uint32_t children, child_count;
    uint32_t prev, prev_count; /* ranks whose data must be at src first: runs in nccl_flows.prevs */
    uint8_t connection;        /* enum nccl_connection */
    bool reduces;              /* dst adds what arrives to its own */
};

/* Flows in order of their ids (the index), which run on across the channels. */
struct nccl_flows {
    uint64_t total_bytes;
    uint32_t count;
    struct nccl_flow *flows;
    uint32_t *links, *prevs;
    struct nccl_choice choice;
};

/* The number of the first switch of nccl_switch_trees: those after the NVSwitches of all servers. */
static inline uint32_t nccl_first_tree_switch(const struct nccl_job *job)
{
    return job->gpus + ((job->gpus - 1) / job->gpus_per_server + 1) * job->switches_per_server;
}

/* All groups of the job in the order of their indices. */
ORR_MUST_CHECK enum orr_status nccl_groups_build(const struct nccl_job *job, struct arena *arena,
                                                 struct nccl_group **groups, uint32_t *count, struct orr_error *err);

/* The group of that type which `rank` is finally assigned to; NULL when it has none. */
const struct nccl_group *nccl_group_find(const struct nccl_group *groups, uint32_t count, enum nccl_group_type type,
                                         uint32_t rank);

/* A group of any ranks (a communicator): in ascending order, its own copy. `type` and `index` are the caller's. */
ORR_MUST_CHECK enum orr_status nccl_group_build(const struct nccl_job *job, const uint32_t *ranks, uint32_t count,
                                                struct arena *arena, struct nccl_group *group, struct orr_error *err);

ORR_MUST_CHECK enum orr_status nccl_channels_build(const struct nccl_job *job, const struct nccl_group *group,
                                                   struct arena *arena, struct nccl_channels *channels,
                                                   struct orr_error *err);

/* Algorithm by the rules of spec §7 (compat) or by ours; the caller may change the result before building flows. */
struct nccl_choice nccl_choose(const struct nccl_job *job, const struct nccl_group *group, enum coll_type type,
                               uint64_t bytes);

/* Whether the NVLink switch of a GPU type reduces what passes it (NVLS): the generations from Hopper on, by name. */
bool nccl_gpu_has_nvls(const char *gpu_type);

/* The flows of one collective of `bytes` over the group: the whole buffer, of which all-gather, reduce-scatter and
 * all-to-all move a share of one n-th each. An algorithm that cannot do the collective or does not fit the group is
 * ORR_EINVAL; more flows than 32-bit ids is ORR_ERANGE. */
ORR_MUST_CHECK enum orr_status nccl_flows_build(const struct nccl_job *job, const struct nccl_group *group,
                                                const struct nccl_channels *channels, const struct nccl_choice *choice,
                                                enum coll_type type, uint64_t bytes, struct arena *arena,
                                                struct nccl_flows *flows, struct orr_error *err);

/* Which ranks of the job do the same in the rings and the all-to-all of all of them; false: none do. Lists for them are
 * of the group of those that are turned. */
bool nccl_alike_find(const struct nccl_job *job, struct topo_alike *alike);
/* The channel of a flow that comes to `rank` in one of `channels`, seen from the rank that is carried out for it. */
uint32_t nccl_alike_channel(const struct topo_alike *alike, uint32_t channels, uint32_t channel, uint32_t rank);

/* What ncclSend and ncclRecv between ncclGroupStart and ncclGroupEnd become: one message a pair, over PXN when asked.
 */
struct nccl_pair {
    uint32_t src, dst; /* ranks */
    uint64_t bytes;
};

ORR_MUST_CHECK enum orr_status nccl_pairs_build(const struct nccl_job *job, const struct nccl_pair *pairs,
                                                uint32_t count, bool pxn, struct arena *arena, struct nccl_flows *flows,
                                                struct orr_error *err);

#endif
