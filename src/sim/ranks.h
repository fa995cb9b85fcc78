/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A rank: where it is in its trace, what its slots hold, what it has put off (spec analytical §5); and what setup found
 * out about groups and traces.
 */
#ifndef ORR_SIM_RANKS_H
#define ORR_SIM_RANKS_H

#include "sim/tally.h"

/* No node, no rank, no group. */
enum { SIM_NONE = UINT32_MAX };

enum { SIM_RANK_TICKS = 3 };

/* Node indices, smallest first. */
struct sim_ready {
    uint32_t *items;
    uint32_t count, capacity;
};

/* Where the next phase of a dimension takes its queue (§6.6), and which tree is next (§9.5). */
struct sim_cursors {
    uint16_t any, first, last;
    uint8_t second_tree[SIM_NATIVE_COUNT];
};

struct sim_share;

struct sim_rank {
    /* Ticks for which calls are put off, with their event; further ones are in the simulation's hash table. */
    uint64_t tick[SIM_RANK_TICKS];
    uint32_t event[SIM_RANK_TICKS];
    uint32_t ticks;
    uint32_t far_ticks;

    const struct trace_graph *graph;
    uint32_t *parents_left;
    uint64_t slot_started[SIM_SLOT_NONE]; /* when the node in the slot was issued */
    uint64_t *node_started;               /* the same by node, where several of a slot are in flight: receives, and all
                                             nodes under policy streams; NULL where there are none such */
    struct sim_ready ready[SIM_SLOTS];
    uint32_t ongoing;
    uint32_t slot[SIM_SLOT_NONE]; /* node held, or SIM_NONE */
    uint32_t *held;               /* policy streams: node held by thread or stream, or SIM_NONE; else NULL */
    struct sim_ready *waiting;    /* beside it: free nodes that found it held */
    uint32_t side_count;          /* of both */
    const uint16_t *queue_set;    /* policy streams: by lane, which queues its collectives stand in; else NULL */
    struct sim_share *share;      /* contention: kernels in flight; else NULL */
    bool passing;                 /* inside an issue pass: newly free nodes wait in `late` */
    bool finished;
    struct sim_ready late;
    uint32_t *issue_order; /* keep_issue_order */
    uint32_t issued;

    int32_t priority_counter;
    int32_t stream_counter;
    struct sim_cursors *cursors; /* by logical dimension */

    struct sim_clock clock;
};

/* How a member carries out a group's collectives of one type: decided by the first it issues, and kept (spec analytical
 * §13), whatever later nodes ask for. */
struct sim_group_choice {
    const struct trace_set *custom; /* NULL = the native algorithm */
    bool decided;
};

struct sim_group_state {
    const struct sim_group *group;
    const uint32_t *sorted;                              /* member ranks ascending */
    const uint32_t *sorted_at;                           /* where each of them stands in the file's order */
    bool whole;                                          /* all ranks: the machine's own topology, its own stream ids */
    int32_t *next_stream;                                /* by member place: stream ids, counted at each member alike */
    uint8_t *ring_logged;                                /* by member place: one bit per native collective */
    struct sim_group_choice (*choice)[SIM_NATIVE_COUNT]; /* by member place */
    struct sim_cursors *cursors;                         /* by member place: a sub-group's own, policy safe */
};

/* What setup found out about a graph's nodes. */
struct sim_graph_info {
    const struct trace_graph *graph;
    uint32_t *group; /* by node: group index or SIM_NONE; NULL where no node names a group */
};

static inline uint32_t sim_graph_group(const struct sim_graph_info *info, uint32_t node)
{
    return info->group == NULL ? SIM_NONE : info->group[node];
}

#endif
