/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A collective in flight: operations (a collective node of one rank), the plan they share, streams (one chunk of it
 * going through its phases, spec analytical §6, §9) and the queues that admit them (§7).
 */
#ifndef ORR_SIM_STREAMS_H
#define ORR_SIM_STREAMS_H

#include "base/pool.h"
#include "coll/plan.h"
#include "coll/program.h"
#include "coll/tree.h"
#include "trace/graph.h"

struct sim_flow_plan;
struct sim_flow_run;

struct sim_phase {
    struct coll_phase coll;
    const struct sim_flow_plan *flows; /* COLL_BY_FLOWS */
    uint64_t memory_ns;                /* what one processed message costs in memory */
    uint64_t *step_memory_ns;          /* the same for each step of a halving phase */
};

/* A plan with its key: one per kind of collective met, shared by all ranks. */
struct sim_plan {
    int32_t type;
    uint32_t group; /* index, or SIM_NONE */
    uint64_t bytes; /* of one chunk */
    uint64_t dims;  /* involved */
    uint32_t root;  /* rooted collectives */
    uint32_t phase_count;
    bool fast_endpoint; /* sub-group rings, §13 */
    struct sim_plan *chain;
    struct sim_phase phases[];
};

/* A collective of one rank, in flight. */
struct sim_operation {
    uint32_t next;
    uint32_t rank;
    uint32_t node;
    uint32_t streams_left;
    uint32_t streams;
    const struct sim_plan *plan;    /* NULL for custom collectives */
    const struct trace_set *custom; /* or NULL */
    uint32_t group;                 /* index, or SIM_NONE */
    uint32_t order;                 /* how many of the group the rank issued before it */
    uint32_t meeting;               /* the next member of its group that waits (timed.c) */
};
POOL_DEFINE(sim_operations, struct sim_operation, next);

/* What a chunk drew for one of its phases when it was made. */
struct sim_draw {
    uint16_t queue;
    uint8_t clockwise;
    uint8_t second_tree;
    uint32_t ticket; /* place in the queue's admission order, policy safe */
};

enum { SIM_INLINE_DRAWS = 8 };

struct sim_tree_state {
    struct coll_tree_place place;
    uint32_t received, endpoints;
};

struct sim_program_state {
    struct coll_op *ops;
    uint32_t count, at;
};

struct sim_custom_run;

/* A chunk of a collective at one rank, going through its phases; the first fields are the packet machine of §9.1. */
struct sim_stream {
    /* What a ring touches for every message, together. */
    uint32_t next; /* in its queue's waiting line */
    uint32_t rank;
    uint32_t send_lane, recv_lane; /* ring: held for the phase, 0 = not yet */
    uint64_t memory_ns;
    uint64_t message_bytes;
    uint32_t sends_left;
    uint32_t plain;     /* z */
    uint32_t processed; /* nz */
    uint32_t parallel;  /* P */
    uint32_t inserted;
    uint8_t method; /* enum coll_method */
    uint8_t type;   /* enum coll_type of the phase */
    bool toggle, clockwise, fast, running, live;

    uint32_t ready; /* "free": endpoints done and not yet used for a send */
    uint32_t popped, received;
    int32_t tag;
    const struct sim_phase *phase; /* current */
    uint32_t index;                /* own place in the phase's ring */
    uint32_t operation;
    uint32_t queue; /* of this rank; SIM_NONE before the first phase */
    uint32_t phase_index;
    int32_t id;
    int32_t priority;
    uint32_t chunk;
    union {
        struct sim_tree_state tree;
        struct sim_program_state program;
        struct sim_custom_run *custom;
        struct sim_flow_run *flows;
    } of;
    struct sim_draw *more_draws; /* all draws, when they are too many for `draws`; else NULL */
    struct sim_draw draws[SIM_INLINE_DRAWS];
};
POOL_DEFINE(sim_streams, struct sim_stream, next);

static inline struct sim_draw *sim_stream_draw(struct sim_stream *stream, uint32_t phase)
{
    return stream->more_draws != NULL ? &stream->more_draws[phase] : &stream->draws[phase];
}

/* One queue of one rank's dimension: running streams are only counted, waiting ones are in line by priority. */
struct sim_stream_queue {
    uint32_t running;
    uint32_t head, tail;
    uint32_t tickets; /* given out */
    uint32_t serving; /* next ticket to be admitted */
};

#endif
