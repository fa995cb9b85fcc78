/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A recording made one graph: what ran on the host's threads, what ran on the device's streams, and who waited for
 * whom. link.h builds it from a host and a device trace, hdt/ours.h writes it to a file and reads it back, emit/emit.h
 * turns it into an ET file. Owns its memory; knows nothing of how the recordings looked.
 *
 * Nodes are numbered by their start; of equal ones the host's come before the device's, and around comes before inside.
 * A dependency always goes from a lower to a higher number. So there is no cycle, and no dependency on what is not
 * there.
 */
#ifndef ORR_CONVERT_PYTORCH_LINK_LINKED_H
#define ORR_CONVERT_PYTORCH_LINK_LINKED_H

#include "base/arena.h"
#include "base/intern.h"
#include "base/notes.h"
#include "convert/pytorch/collective/collective.h"

#define LINKED_NONE UINT32_MAX

/* kind, its word in a linked trace file. */
#define LINKED_KINDS(X)                                                                                                \
    X(OP, "op")               /* an op or annotation on a host thread */                                               \
    X(REST, "rest")           /* what an op still did after it had waited for the device */                            \
    X(GAP, "gap")             /* a host thread's time outside all ops */                                               \
    X(DEVICE, "device")       /* a kernel, copy or set on a stream */                                                  \
    X(COMM_OP, "comm-op")     /* a host op that communicates itself: gloo, MPI */                                      \
    X(COMM_BARE, "comm-bare") /* a collective of the device's library for which no kernel was recorded */

enum linked_kind {
#define LINKED_X(id, word) LINKED_##id,
    LINKED_KINDS(LINKED_X)
#undef LINKED_X
        LINKED_KIND_COUNT
};

static inline bool linked_kind_is_host(uint8_t kind)
{
    return kind <= LINKED_GAP;
}

struct linked_node {
    int64_t start_ns;    /* since the recording's first event */
    int64_t duration_ns; /* a device node's own; a host node's without what ran inside it and without waiting */
    int64_t rf_id;       /* -1 = none */
    uint32_t name;       /* in names */
    uint32_t parent;     /* node: the op around, for a device node the op that launched it; LINKED_NONE */
    uint32_t lane;       /* in lanes */
    uint32_t comm;       /* in comms, or LINKED_NONE */
    uint32_t host;       /* in the host trace's nodes, or LINKED_NONE */
    uint32_t first_dep;  /* in deps */
    uint32_t dep_count;
    int32_t step; /* in steps, or -1 */
    uint8_t kind; /* enum linked_kind */
};

/* A host thread or a stream of a device. Its nodes depend on each other in order. */
struct linked_lane {
    uint32_t text;  /* in names: thread or device, as recorded */
    int64_t stream; /* of a device */
    bool is_device;
};

struct linked_step {
    int64_t number; /* of ProfilerStep#N */
    int64_t start_ns, end_ns;
};

/* What was found, made and left out. */
struct linked_counts {
    uint64_t events;        /* in the device trace */
    int64_t span_ns;        /* first start to last end of its ops, annotations, calls and device work */
    int64_t outside_ns;     /* of it, before and after all nodes: calls of threads that did nothing else */
    uint64_t host_nodes;    /* ops in the host trace */
    uint64_t host_ops;      /* ops and annotations in the device trace */
    uint64_t matched;       /* in both */
    uint64_t without_times; /* in the host trace only: dropped */
    uint64_t device_in;     /* kernels, copies and sets recorded */
    uint64_t kernels, copies, sets;
    uint64_t launched;       /* of device_in: by a recorded call */
    uint64_t by_external_id; /* by External id, for want of a call */
    uint64_t unlaunched;     /* kept with their stream's order only */
    uint64_t waits_recorded; /* dependencies that synchronisation events state */
    uint64_t waits_inferred; /* dependencies inferred from event record, wait and synchronise calls */
    uint64_t handovers;      /* dependencies between host threads */
    uint64_t gaps;           /* nodes of host time outside ops */
    int64_t gap_ns;
    uint64_t untimed;                        /* ops, kernels, copies and sets whose times cannot be: left out */
    uint64_t overlapping;                    /* ops that end after the op they began in: cut to fit */
    uint64_t early;                          /* device nodes recorded as starting before their launch */
    uint64_t timed_comms[COMM_FAMILY_COUNT]; /* kernels that communicate and are simulated as long as they took */
    int64_t timed_ns;                        /* of them all */
    uint64_t against_time;                   /* dependencies left out because the clocks contradict them */
};

/* What speaks of one communication, until it is settled which it is. Indices as in struct comm_clue. */
struct linked_clue {
    uint32_t node;
    uint32_t first_op, op_count; /* in clue_ops */
    uint32_t device, launch;     /* in the device trace's comms, or KINETO_NONE */
    bool on_device;              /* the node's name is the kernel's */
    bool unlaunched;             /* the kernel has no launch of its own: left over from before the recording, or one of
                                    a graph, which is launched whole */
};

struct linked_clue_op {
    uint32_t name; /* in names */
    uint32_t host; /* in the host trace's comms, or HOST_NONE */
    uint32_t kineto;
};

struct linked_trace {
    struct linked_node *nodes;
    uint32_t node_count, node_capacity;
    uint32_t *deps; /* ascending within a node, none twice */
    uint32_t dep_count, dep_capacity;
    struct linked_lane *lanes;
    uint32_t lane_count, lane_capacity;
    struct linked_step *steps; /* by start */
    uint32_t step_count, step_capacity;
    struct comm_fact *comms; /* size_from PROVENANCE_GIVEN: not known, to be given */
    uint32_t comm_count, comm_capacity;
    struct linked_clue *clues;
    uint32_t clue_count, clue_capacity;
    struct linked_clue_op *clue_ops;
    uint32_t clue_op_count, clue_op_capacity;
    struct intern names;
    int64_t zero_ns; /* what start_ns counts from, on the clock of the machine that recorded */
    int64_t rank;    /* -1 = not said */
    uint32_t schema; /* of the host trace, in names; 0 = none */
    bool has_times;  /* false: a host trace alone, in which only the order is known */
    struct linked_counts counts;
    struct mem *mem;
};

static inline void linked_count_timed(struct linked_counts *counts, enum comm_family family, int64_t duration_ns)
{
    counts->timed_comms[family]++;
    if (__builtin_add_overflow(counts->timed_ns, duration_ns, &counts->timed_ns)) {
        counts->timed_ns = INT64_MAX;
    }
}

void linked_init(struct linked_trace *linked, struct mem *mem);
void linked_free(struct linked_trace *linked);

#endif
