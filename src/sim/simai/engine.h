/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The inside of the executor. A rank is a place in a list of operations (ops.c) that all ranks of its stage share, and
 * two lines of collectives: those of the forward and input-gradient columns, and those of the weight gradients. Of each
 * line one is under way at a time, as in SimAI.
 *
 * A collective is one object for all ranks of a group, made when the first of them comes to it. Its flows are a plan
 * (plan.c), shared by all collectives of the same group, type and size; per flow the collective keeps four bytes. Flows
 * on their way are messages in a pool.
 */
#ifndef ORR_SIM_SIMAI_ENGINE_H
#define ORR_SIM_SIMAI_ENGINE_H

#include "base/arena.h"
#include "base/pool.h"
#include "sim/simai/ops.h"
#include "sim/simai/plan.h"
#include "sim/simai/recall.h"
#include "sim/simai/simai.h"
#include "sim/simai/twins.h"
#include "sim/tally.h"

enum simai_event {
    SIMAI_EVENT_STEP = NET_EVENT_KINDS, /* a rank goes on */
    SIMAI_EVENT_READY,                  /* a message has crossed the memory bus */
    SIMAI_EVENT_SENT,                   /* the last byte of a message has left */
    SIMAI_EVENT_UPDATED,                /* a rank's part in a collective is over, its update too */
    SIMAI_EVENT_TIMED,                  /* a collective whose time was told is over */
    SIMAI_EVENT_GATHER,                 /* the collectives that ranks have come to since the last one begin */
    SIMAI_EVENT_RECALLED,               /* members of a collective that was carried out before are done */
    SIMAI_EVENT_COMES,                  /* a member comes to the collective of a side run, or begins it */
};

/* Every hop of the memory bus takes so long (spec packet B7), and one read or write of memory: a reduction is two reads
 * and a write. */
enum { SIMAI_BUS_NS = 10, SIMAI_REDUCTION_NS = 30 };

enum simai_line { SIMAI_LINE_MODEL, SIMAI_LINE_DATA, SIMAI_LINES };

/* One flow's state: parents that have not come, and flags. */
#define SIMAI_FLOW_INSERTED UINT32_C(0x80000000) /* on its way to the bus, or beyond */
#define SIMAI_FLOW_READY    UINT32_C(0x40000000) /* past the bus: what its source awaits in this step may be taken */
#define SIMAI_FLOW_AWAITED  UINT32_C(0x20000000) /* something that came early waits for it to be ready */
#define SIMAI_FLOW_PARENTS  UINT32_C(0x1fffffff)

struct simai_member {
    uint32_t sends_left, recvs_left;
    uint32_t part;    /* the rank's part, 0 before it has come to the collective */
    uint64_t came_ns; /* where it may be one that was carried out before (recall.h) */
    bool started;
    bool reduces; /* SimAI's toggle: whether the messages of an all-reduce are being reduced */
};

struct simai_coll {
    struct simai_plan *plan;      /* NULL until it is opened; a follower's is its leader's */
    uint32_t *flow_state;         /* not in a follower, nor rounds */
    struct simai_member *members; /* the group's ranks, then its NVSwitches */
    uint32_t *rounds;             /* by member and channel: messages left of the round */
    uint32_t group;               /* in simai.groups */
    uint32_t op;                  /* which operation of the list */
    uint32_t ranks_left;
    uint32_t *early; /* flows that have come and that nobody awaits yet */
    uint32_t early_count, early_capacity;
    uint32_t leader;                    /* the collective it follows; 0: it is carried out itself */
    uint32_t followers, follower_count; /* the first, and how many there are */
    uint32_t next_follower;             /* of the same leader */
    struct net_twins *twins;            /* for the network, with followers */
    const struct simai_known *known;    /* the same, carried out before */
    uint32_t came, came_count, came_at; /* ranks that came last: the first in simai.gathered, and in which gathering */
    uint32_t next;                      /* of the same group; free list */
};

/* A rank has come to a collective. */
struct simai_start {
    uint64_t at_ns;
    uint32_t coll, group, op, member;
};

POOL_DEFINE(simai_colls, struct simai_coll, next);

enum simai_part_state { SIMAI_PART_WAITS, SIMAI_PART_RUNS, SIMAI_PART_UPDATES };

/* A rank's part in one collective. */
struct simai_part {
    uint64_t created_ns, started_ns;
    uint32_t rank, coll, op;
    uint32_t next;  /* of the same rank, in the order they were issued; free list */
    uint8_t state;  /* enum simai_part_state */
    uint8_t line;   /* enum simai_line */
    bool is_waited; /* the rank stands still until it is over */
};

POOL_DEFINE(simai_parts, struct simai_part, next);

enum { SIMAI_NO_COLL = 0 };

struct simai_message {
    uint32_t coll; /* 0: between pipeline stages */
    uint32_t flow; /* of the plan; between stages: 1 = to the next stage, 0 = back */
    uint32_t src, dst;
    uint32_t next; /* free list */
    bool departed, arrived;
};

POOL_DEFINE(simai_messages, struct simai_message, next);

/* What a rank stands still for. */
enum simai_wait { SIMAI_RUNS, SIMAI_COMPUTES, SIMAI_WAITS_PART, SIMAI_WAITS_STAGE, SIMAI_WAITS_END, SIMAI_FINISHED };

struct simai_rank {
    uint64_t since_ns; /* of the wait, or of computing */
    struct sim_clock clock;
    uint32_t op;    /* the next */
    uint32_t parts; /* first */
    uint32_t running[SIMAI_LINES];
    uint32_t came[2];    /* messages from the stage behind (0) and ahead (1) that nobody has taken yet */
    uint64_t sent_ns[2]; /* when the newest of them was sent */
    uint8_t wait;        /* enum simai_wait */
    uint8_t wait_from;   /* SIMAI_WAITS_STAGE: index into came */
    bool is_starting;    /* the next collective of a line, which may be over at once */
};

struct simai_group {
    struct nccl_group nccl;
    struct nccl_channels channels; /* made when first needed */
    uint32_t colls;                /* live, linked */
    bool has_channels;
};

/* Who may follow: nobody; those whose ranks all come at one time; those whose same ranks do. */
enum simai_together { SIMAI_APART, SIMAI_WHOLE, SIMAI_ANY };

struct simai {
    const struct simai_config *config;
    struct mem *mem;
    struct notes *notes;
    struct arena arena;
    struct event_queue queue;
    struct net net;
    const struct net_ops *carrier; /* the network that does the job instead of the one asked for; NULL = none */
    struct topo_dims dims;
    struct packet_machine machine; /* with a word when messages leave */
    struct simai_ops *ops;         /* by stage */
    struct simai_rank *ranks;
    uint32_t rank_count;
    struct simai_group *groups;
    uint32_t group_count;
    uint32_t *group_of[NCCL_GROUP_TYPES]; /* by rank; UINT32_MAX: none */
    uint32_t *place_of[NCCL_GROUP_TYPES]; /* by rank: place in that group */
    struct simai_plans plans;
    struct simai_twins twins;
    struct simai_recall recall;
    const struct simai_op *only_op; /* in a side run: what is carried out */
    bool gathers;                   /* collectives begin by instants: on fluid networks */
    struct simai_start *starts;     /* not gathered yet */
    uint32_t start_count, start_capacity;
    struct simai_start *gathered; /* by the last gathering */
    uint32_t gathered_count, gathered_capacity;
    uint32_t gatherings;
    struct simai_colls colls;
    struct simai_parts parts;
    struct simai_messages messages;
    struct sim_tally tally;
    struct simai_busy *busy;
    uint32_t busy_capacity;
    uint8_t together; /* enum simai_together */
    bool parted;      /* followers did something else than their leader: again, with less of it */
    bool broken;      /* an error was found in the middle of an event: `failure` */
    struct orr_error failure;
    struct sim_result run;
    struct simai_result result; /* of it, what SimAI's rows alone have */
};

/* ---- rank.c ---- */

/* Lets the rank do what it can. */
void simai_rank_go(struct simai *simai, uint32_t rank);
/* The rank's part is done but for the update. */
void simai_part_done(struct simai *simai, uint32_t part);
void simai_part_updated(struct simai *simai, uint32_t part);
/* A message from another stage has come. */
void simai_stage_arrived(struct simai *simai, uint32_t rank, bool from_behind);
/* The stage a rank belongs to. */
uint32_t simai_stage_of(const struct simai *simai, uint32_t rank);

/* ---- flows.c ---- */

/* The collective of the rank's group for this operation, found or made; 0: there is none to carry out, or no memory. */
uint32_t simai_coll_join(struct simai *simai, uint32_t rank, uint32_t op, uint32_t part);
void simai_coll_start(struct simai *simai, uint32_t coll, uint32_t rank);
void simai_stage_send(struct simai *simai, uint32_t src, uint32_t dst, bool ahead);
void simai_message_ready(struct simai *simai, uint32_t message);
void simai_message_sent(struct simai *simai, uint32_t message);
void simai_message_arrived(void *context, uint32_t message);
void simai_message_departed(struct simai *simai, uint32_t message, uint64_t at_ns);
void simai_coll_free(struct simai *simai, uint32_t coll);
/* Whether SimAI would ever count a message of this size as sent (spec packet B6). */
bool simai_is_counted_sent(const struct simai_config *config, uint64_t bytes);

/* What it is for ranks of that stage, and what the row says of it. */
const struct simai_op *simai_coll_op(const struct simai *simai, const struct simai_coll *coll);
const struct simai_cell *simai_coll_cell(const struct simai *simai, const struct simai_coll *coll);
/* The rank that is this member of the group is done with it. */
void simai_coll_end_member(struct simai *simai, uint32_t coll, uint32_t member);

/* ---- run.c ---- */

void simai_handle(struct simai *simai, const struct event *event);
/* Gives back everything but the structure itself. */
void simai_clear(struct simai *simai);

/* ---- timed.c ---- */

/* One more rank has come to a collective whose time is told; and it is over. */
void simai_timed_start(struct simai *simai, uint32_t coll);
void simai_timed_end(struct simai *simai, uint32_t coll);

/* ---- flows.c ---- */

/* Makes it ready to be carried out. */
bool simai_coll_open(struct simai *simai, uint32_t coll);
/* The rank that is this member of the group sends what waits for nothing else, beginning at that time. */
void simai_coll_begin(struct simai *simai, uint32_t coll, uint32_t member, uint64_t at_ns);
ORR_MUST_CHECK enum orr_status simai_group_channels(struct simai *simai, struct simai_group *group,
                                                    struct orr_error *err);

/* ---- follow.c ---- */

/* A rank has come to a collective that begins with all others of this time. */
void simai_gather_later(struct simai *simai, uint32_t coll, uint32_t member);
void simai_gather(struct simai *simai);
/* Followers have done something else than their leaders. */
void simai_part_ways(struct simai *simai);

/* ---- groups.c ---- */

ORR_MUST_CHECK enum orr_status simai_groups_make(struct simai *simai, struct orr_error *err);

/* ---- stall.c ---- */

/* Fills run.stall. */
ORR_MUST_CHECK enum orr_status simai_explain(struct simai *simai, struct orr_error *err);

/* An error in the middle of an event ends the run. */
static inline void simai_fail(struct simai *simai)
{
    simai->broken = true;
    simai->queue.failed = true;
}

#endif
