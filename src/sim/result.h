/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a simulation leaves behind: plain arrays that reports read. Owned by the simulation; valid until it is freed.
 */
#ifndef ORR_SIM_RESULT_H
#define ORR_SIM_RESULT_H

#include "net/net.h"
#include "sim/config.h"
#include "sim/optimum.h"
#include "sim/stall.h"
#include "sim/usage.h"
#include "topo/alike.h"

/* ASTRA-sim's operator kinds, in the order of its enumeration. */
enum sim_op_kind {
    SIM_OP_CPU,
    SIM_OP_GPU,
    SIM_OP_COMM,
    SIM_OP_REMOTE_MEM,
    SIM_OP_REPLAY,
    SIM_OP_INVALID,
    SIM_OP_KINDS
};

enum sim_slot { SIM_SLOT_CPU, SIM_SLOT_COMP, SIM_SLOT_COMM, SIM_SLOT_NONE, SIM_SLOTS };

struct sim_rank_result {
    bool finished;
    bool statistics_failed; /* ASTRA-sim's post-processing throws for this rank (spec analytical §5.7) */
    bool network_finish;    /* the last completion came straight from the network: there that exception aborts */
    uint64_t finish_ns;
    uint64_t gpu_busy_ns;            /* sum of GPU durations, overlaps counted twice as ASTRA-sim does */
    uint64_t last_end_ns;            /* largest end of any node: its "Wall time" */
    uint64_t union_ns[SIM_OP_KINDS]; /* time with at least one node of the kind in flight */
    uint32_t nodes_of[SIM_OP_KINDS];
    /* Each nanosecond up to the end of the run counted once, first that applies. */
    uint64_t compute_ns, exposed_comm_ns, exposed_other_ns, idle_ns;
    uint32_t nodes_done;
    uint8_t kind_order[SIM_OP_KINDS]; /* order of the type lines in ASTRA-sim's report; with keep_issue_order */
    uint8_t kind_order_count;
    /* Roofline sums over GPU compute nodes, weighted by duration; the weight starts at 1 (spec analytical §16.2). */
    double roofline_weight, compute_bound, compute_utilization, memory_utilization, operation_intensity;
    uint32_t unreleased[3]; /* node index held in the CPU / compute / communication slot at the end, or UINT32_MAX */
};

/* Rows of point-to-point nodes stand beside those of collectives. */
enum { SIM_TYPE_SEND = -1, SIM_TYPE_RECV = -2 };

/* One row per (collective type, group size, bytes) met in the run. */
struct sim_collective_result {
    int32_t type; /* enum coll_type, SIM_TYPE_SEND or SIM_TYPE_RECV */
    uint32_t group_size;
    uint64_t bytes; /* of one operation, as the trace says */
    uint64_t count; /* operations finished, each rank's participation counted */
    uint64_t total_ns, min_ns, max_ns;
    uint64_t first_start_ns, last_end_ns;
    uint32_t chain; /* the engine's, meaningless afterwards */
};

struct sim_dim_result {
    uint64_t messages; /* that crossed it */
    uint64_t bytes;    /* put on this dimension's links, each hop counted */
    uint64_t busy_ns;  /* sum over links of the time they were serialising */
    uint64_t links;    /* directed links of the dimension */
    uint64_t queued;   /* aware: messages that found their link busy */
};

enum sim_log_kind { SIM_LOG_GROUP_RING, SIM_LOG_FINISH };

/* What ASTRA-sim logs while it runs, in its order. */
struct sim_log_entry {
    enum sim_log_kind kind;
    uint32_t rank;
    uint32_t ring_size;  /* GROUP_RING */
    uint32_t ring_index; /* GROUP_RING */
};

/* One node's (slot's) interval; with keep_intervals. Also phases of chunks, so that a timeline can show them. */
struct sim_interval {
    uint32_t rank;
    uint32_t node; /* index in the rank's graph */
    uint64_t start_ns, end_ns;
    uint8_t slot;  /* enum sim_slot */
    uint32_t lane; /* policy streams: the node's, as in struct trace_node; else 0 */
};

struct simai_result;

struct sim_result {
    const struct sim_config *config;
    uint32_t rank_count;
    struct sim_rank_result *rows;   /* of those that were carried out: read by sim_result_rank */
    const struct topo_alike *alike; /* whose row is whose, where some stand for others of their class; else NULL */
    uint64_t end_ns;                /* last finish, or where the run stopped */
    uint64_t events, messages;
    uint64_t nodes_done, nodes;
    uint64_t untimed; /* GPU compute nodes, where none of them has a time and each takes 1 ns; else 0 */
    uint32_t ranks_finished;
    struct sim_collective_result *collectives; /* sorted by type, group size, bytes */
    uint32_t collective_count;
    struct sim_dim_result dims[TOPO_MAX_DIMS];
    struct sim_log_entry *log; /* of ranks that one stands for, with keep_issue_order */
    uint32_t log_count;
    struct sim_interval *intervals; /* in order of their end */
    uint32_t interval_count;
    struct sim_optimum optimum;       /* of a run that ended; all 0 where memory did not suffice to find it */
    struct net_figures network;       /* links and flows, of a network that has them */
    uint32_t ranks_played;            /* how many were carried out: all of them, or rank 0 for all (symmetry.c) */
    const char *plain_because;        /* why every rank was, as half a sentence; NULL: rank 0 stands for all */
    bool rings_at_once;               /* ring phases were worked out, not played message by message (rings.c) */
    uint64_t ring_phases;             /* of these: how many */
    uint64_t ring_phases_alike;       /* of these: aware, those that began like one before them, and end like it */
    bool by_packets;                  /* flow or auto was asked for, and packets it was */
    struct sim_usage usage;           /* of memory, where sim_config.tensors are given */
    struct sim_stall stall;           /* what held the run up; stall.kind == SIM_STALL_NONE when it ended well */
    const struct simai_result *simai; /* of a run of SimAI's rows, what only that has (sim/simai/result.h); else NULL */
};

/* A rank's row: its own, or that of the rank that was carried out for it. */
static inline const struct sim_rank_result *sim_result_rank(const struct sim_result *result, uint32_t rank)
{
    return &result->rows[result->alike != NULL       ? topo_alike_class_of(result->alike, rank)
                         : result->ranks_played == 1 ? 0
                                                     : rank];
}

#endif
