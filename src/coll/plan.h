/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What one chunk of a collective goes through: a list of phases, one per dimension used and direction (spec analytical
 * §6). A plan is the same for every rank and chunk; what differs (the place in a ring, the queue) is added by the
 * engine.
 */
#ifndef ORR_COLL_PLAN_H
#define ORR_COLL_PLAN_H

#include <stdbool.h>
#include <stdint.h>

#include "coll/impl.h"
#include "coll/ring.h"
#include "coll/steps.h"

enum { COLL_MAX_DIMS = 16, COLL_MAX_PHASES = 2 * COLL_MAX_DIMS };

/* How the members of a phase work. */
enum coll_method {
    COLL_BY_RING,
    COLL_BY_DIRECT,
    COLL_BY_HALVING,
    COLL_BY_TREE,
    COLL_BY_PROGRAM, /* coll/program.h */
    COLL_BY_TRACE,   /* a custom collective */
    COLL_BY_FLOWS,   /* coll/nccl.h */
};

/* From which end of a dimension's queues a phase takes its queue, and so its direction (§6.6). */
enum coll_queue_rule { COLL_QUEUE_ANY, COLL_QUEUE_FIRST, COLL_QUEUE_LAST };

struct coll_phase {
    struct coll_ring ring;
    uint64_t bytes;         /* of the phase */
    uint64_t message_bytes; /* ring, direct */
    enum coll_method method;
    enum coll_type type;
    enum coll_queue_rule rule;
    enum coll_nccl nccl; /* flows */
    uint32_t dim;        /* logical dimension: whose queues it uses */
    uint32_t parallel;   /* P: messages a member keeps in flight */
    uint32_t processed;  /* NZ: receives of a round that pass memory, after P that do not (§9.1) */
    uint32_t sends;
    struct coll_halving_step *steps; /* halving: sends + 1 entries */
};

struct coll_plan {
    uint32_t phase_count;
    struct coll_phase phases[COLL_MAX_PHASES];
};

/* One logical dimension of a collective. */
struct coll_dim {
    struct coll_ring ring;
    struct coll_impl impl;
    bool involved;
};

/*
 * Lays out the phases of one chunk of `bytes` over `count` dimensions. `split_all_reduce`: reduce-scatter up to the
 * last dimension used, all-reduce there, all-gather back (localBWAware); else one all-reduce per dimension. `group`
 * selects the sub-group variant of direct (§9.3). Leaves `steps` of halving phases NULL: the caller owns that memory
 * and calls coll_halving_steps. A plan of no phase means that there is nobody to talk to.
 */
void coll_plan_build(enum coll_type type, uint64_t bytes, const struct coll_dim *dims, uint32_t count,
                     bool split_all_reduce, bool group, struct coll_plan *plan);

#endif
