/*
 * The engine's inside: every struct that a running simulation is made of, and the functions its files call across each
 * other. Only files of sim/ include this; everyone else sees sim/sim.h.
 *
 * A simulation is pools of plain structs in `struct sim`, an event queue and a network. The parts, one file each:
 *   ticks      what a rank does after a delay (spec analytical §2.2)
 *   message    sends meet receives (§10)
 *   workload   which node of a trace runs when (§5)
 *   collective a collective node becomes chunks, a chunk becomes a stream of phases (§6)
 *   scheduler  which streams of a rank run at once (§7)
 *   endpoint   the delay before a message may leave, bus: its detailed form (§8)
 *   packets, trees, programs, custom: what a stream does in a phase (§9, §14)
 *   memory     remote memory (§12)
 *   stall_*    what to say when nothing can go on
 */
#ifndef ORR_SIM_ENGINE_H
#define ORR_SIM_ENGINE_H

#include "base/event_queue.h"
#include "base/hash_order.h"
#include "base/pool.h"
#include "base/ticks.h"
#include "coll/plan.h"
#include "coll/program.h"
#include "coll/tree.h"
#include "net/net.h"
#include "sim/result.h"
#include "sim/sim.h"

enum { SIM_NONE = UINT32_MAX };

/* ---- events and calls ----------------------------------------------------------------------------------------- */

enum sim_event_kind {
    SIM_EVENT_ARRIVAL = NET_EVENT_KINDS, /* a: message; networks without contention */
    SIM_EVENT_LANE_ARRIVAL,              /* a: lane; networks without contention */
    SIM_EVENT_LATE_RECV,                 /* a: message that had arrived before its receive was posted */
    SIM_EVENT_LANE_LATE_RECV,            /* a: stream; the same on a lane */
    SIM_EVENT_CALLS,                     /* a, b: first and last of several calls of one rank */
    /* What a rank has put off to a tick; the event is the call when it is the rank's only one for that tick. */
    SIM_CALL_ENDPOINT,    /* a: stream, b: memory code; the endpoint delay is over */
    SIM_CALL_GENERAL,     /* a: stream; the memory delay is over */
    SIM_CALL_NODE_DONE,   /* a: node, b: rank */
    SIM_CALL_COLLECTIVE,  /* a: operation with no stream to wait for */
    SIM_CALL_MEMORY_NEXT, /* a: memory server, b: rank */
    SIM_CALL_CUSTOM_DONE, /* a: stream, b: node of the custom trace */
    SIM_CALL_BUS,         /* a: bus side, b: enum bus_event */
};

/* One of several calls of one rank for one tick: they run back to back, where the first of them stood. */
struct sim_call {
    uint32_t next;
    uint32_t kind;
    uint32_t a, b;
};
POOL_DEFINE(sim_calls, struct sim_call, next);

/* A tick to come that found no room in its rank. */
struct sim_far_tick {
    uint64_t tick;
    uint32_t rank;
    uint32_t event;
    uint32_t chain; /* next in the hash bucket, or next free */
};
POOL_DEFINE(sim_far_ticks, struct sim_far_tick, chain);

/* ---- messages ------------------------------------------------------------------------------------------------- */

/* Who hears of a message. */
enum sim_party_kind {
    SIM_PARTY_NOBODY,
    SIM_PARTY_STREAM,     /* a: stream */
    SIM_PARTY_NODE,       /* a: node of the rank's trace */
    SIM_PARTY_CUSTOM,     /* a: stream, b: node of the custom trace */
    SIM_PARTY_START_SEND, /* a: deferred; the receiver is ready (rendezvous) */
    SIM_PARTY_START_RECV, /* a: deferred; the sender has been told (rendezvous) */
};

struct sim_party {
    uint32_t kind;
    uint32_t a, b;
};

enum { SIM_MESSAGE_SENT = 1, SIM_MESSAGE_POSTED = 2, SIM_MESSAGE_ARRIVED = 4 };

/* The k-th send and the k-th receive of a channel, whichever came first. */
struct sim_message {
    uint32_t next, prev; /* in the channel */
    uint32_t channel;
    uint32_t flags;
    struct sim_party sender, receiver;
};
POOL_DEFINE(sim_messages, struct sim_message, next);

/* All messages with one tag, source, destination and size: they match in order. Lives while it has messages or users.
 */
struct sim_channel {
    uint64_t bytes;
    uint64_t delay_ns;     /* without contention */
    uint64_t serialise_ns; /* without contention */
    uint64_t sent;
    uint32_t src, dst;
    int32_t tag;
    uint32_t chain; /* in the hash bucket */
    uint32_t head, tail;
    uint32_t half; /* first message that has only one side, 0 = none */
    int32_t lead;  /* sends minus receives posted */
    uint16_t dim, hops;
};
POOL_DEFINE(sim_channels, struct sim_channel, chain);

/*
 * The same for messages between streams, of which nobody needs to know one from the other: on the way they arrive in
 * the order they were sent, the sender hears nothing, and receives outstanding at one time all belong to one stream,
 * since a stream's tag is its own. So three counts are enough. Not used where order can break (jitter) or messages wait
 * for each other (rendezvous).
 */
struct sim_lane {
    uint64_t delay_ns; /* without contention */
    uint64_t sent;
    uint32_t under_way;
    uint32_t early;    /* arrived before their receive was posted */
    uint32_t waiting;  /* receives posted before their message arrived */
    uint32_t receiver; /* stream */
    uint32_t users;    /* ring phases that hold on to it */
    uint32_t src, dst;
    int32_t tag;
    uint64_t bytes;
    uint64_t serialise_ns; /* without contention */
    uint32_t chain;        /* in the hash bucket */
    uint16_t dim, hops;
};
POOL_DEFINE(sim_lanes, struct sim_lane, chain);

/* Tells lanes from messages in what a network with contention carries. */
enum { SIM_LANE_FLAG = 1 << 30 };

/* A send or receive that waits for the rendezvous. */
struct sim_deferred {
    uint64_t bytes;
    uint32_t next;
    uint32_t src, dst;
    int32_t tag;
    struct sim_party party;
};
POOL_DEFINE(sim_deferreds, struct sim_deferred, next);

/* ---- collectives ---------------------------------------------------------------------------------------------- */

struct sim_phase {
    struct coll_phase coll;
    uint64_t memory_ns;       /* what one processed message costs in memory */
    uint64_t *step_memory_ns; /* the same for each step of a halving phase */
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
    uint64_t chunk_bytes;
    const struct sim_plan *plan;    /* NULL for custom collectives */
    const struct trace_set *custom; /* or NULL */
    uint32_t group;                 /* index, or SIM_NONE */
};
POOL_DEFINE(sim_operations, struct sim_operation, next);

/* What a chunk drew for one of its phases when it was made. */
struct sim_draw {
    uint16_t queue;
    uint8_t clockwise;
    uint8_t second_tree;
    uint32_t ticket; /* place in the queue's admission order, --policy safe */
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

/* ---- ranks ---------------------------------------------------------------------------------------------------- */

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

struct sim_rank {
    /* Ticks for which calls are put off, with their event; further ones are in the simulation's hash table. */
    uint64_t tick[SIM_RANK_TICKS];
    uint32_t event[SIM_RANK_TICKS];
    uint32_t ticks;
    uint32_t far_ticks;

    const struct trace_graph *graph;
    uint32_t *parents_left;
    uint64_t *started; /* by node */
    struct sim_ready ready[SIM_SLOTS];
    uint32_t ongoing;
    uint32_t slot[SIM_SLOT_NONE]; /* node held, or SIM_NONE */
    bool passing;                 /* inside an issue pass: newly free nodes wait in `late` */
    bool finished;
    struct sim_ready late;
    uint32_t *issue_order; /* keep_issue_order */
    uint32_t issued;

    int32_t priority_counter;
    int32_t stream_counter;
    struct sim_cursors *cursors; /* by logical dimension */

    /* Time accounts: nodes in flight by kind, and since when. */
    uint32_t active[SIM_OP_KINDS];
    uint64_t active_since[SIM_OP_KINDS];
    uint64_t account_since;
};

struct sim_group_state {
    const struct sim_group *group;
    const uint32_t *sorted;    /* member ranks ascending */
    const uint32_t *sorted_at; /* where each of them stands in the file's order */
    bool whole;                /* all ranks: the machine's own topology, its own stream ids */
    int32_t *next_stream;      /* by member place: stream ids, counted at each member alike */
    uint8_t *ring_logged;      /* by member place: one bit per native collective */
};

/* What setup found out about a graph's nodes. */
struct sim_graph_info {
    const struct trace_graph *graph;
    uint32_t *group;  /* by node: group index or SIM_NONE */
    bool names_ranks; /* has communication nodes: to be checked rank by rank */
};

struct sim_memory_server {
    uint32_t *waiting; /* rank, node pairs in a ring buffer */
    uint32_t head, count, capacity;
    bool busy;
};

struct sim_buses;
struct custom_layout;

struct sim_jitter_pair {
    uint64_t key;   /* source, destination */
    uint32_t count; /* messages sent */
};

struct sim {
    const struct sim_config *config;
    struct mem *mem;
    struct notes *notes;
    struct arena arena; /* setup: lives as long as the simulation */
    struct event_queue queue;
    struct net net;
    struct sim_rank *ranks;
    uint32_t rank_count;
    struct sim_graph_info *graphs;
    struct sim_graph_info **rank_graph;
    struct sim_group_state *groups;

    struct sim_calls calls;
    struct sim_far_ticks far_ticks;
    uint32_t *far_buckets;
    uint32_t far_bucket_mask;
    uint32_t running_rank; /* whose calls are being run, or SIM_NONE */
    uint32_t running_head, running_tail;
    struct sim_messages messages;
    struct sim_channels channels;
    uint32_t *channel_buckets;
    uint32_t channel_bucket_mask;
    uint32_t channel_count;
    struct sim_lanes lanes;
    uint32_t *lane_buckets;
    uint32_t lane_bucket_mask;
    uint32_t lane_count;
    bool use_lanes;
    bool plain_rings; /* lanes, and an endpoint that is just a delay: rings take the shortest way */
    struct sim_deferreds deferreds;
    struct sim_streams streams;
    struct sim_operations operations;
    struct sim_plan **plan_buckets;
    struct sim_stream_queue *queues; /* rank * queues_per_rank + queue */
    uint32_t queues_per_rank;
    uint32_t queues_per_dim;
    uint32_t threshold; /* streams a queue runs at once (§7.1) */
    struct coll_dim logical[SIM_NATIVE_COUNT][TOPO_MAX_DIMS];
    uint32_t logical_count[SIM_NATIVE_COUNT];
    struct sim_memory_server *servers;
    uint32_t server_count;
    struct sim_buses *buses; /* model-shared-bus */
    struct custom_layout *custom_layouts;
    struct sim_jitter_pair *jitter_pairs; /* hash table, open addressing */
    uint64_t jitter_mask, jitter_used;
    uint64_t endpoint_ns;
    double nodes_under_way; /* collectives in flight, each by the share of its chunks that are done */
    bool in_network;        /* the event being handled came straight from the network */

    struct sim_result result;
    uint32_t *collective_buckets; /* index + 1 into result.collectives */
    uint32_t collective_capacity, log_capacity, interval_capacity;
};

static inline struct sim_rank *sim_rank_at(struct sim *sim, uint32_t rank)
{
    return &sim->ranks[rank];
}

/* Memory was refused: the loop ends before the next event. */
static inline void sim_fail_memory(struct sim *sim)
{
    sim->queue.failed = true;
}

/* ---- ticks.c -------------------------------------------------------------------------------------------------- */

/* Puts off a call of `rank` by `delay_ns`, in general. */
void sim_call_after_others(struct sim *sim, uint32_t rank, uint64_t delay_ns, uint32_t kind, uint32_t a, uint32_t b);

/* The same; a rank that has nothing else put off is the common case. */
static inline void sim_call_after(struct sim *sim, uint32_t rank, uint64_t delay_ns, uint32_t kind, uint32_t a,
                                  uint32_t b)
{
    struct sim_rank *state = &sim->ranks[rank];
    if (__builtin_expect((state->ticks | state->far_ticks) != 0 || delay_ns == 0, 0)) {
        sim_call_after_others(sim, rank, delay_ns, kind, a, b);
        return;
    }
    uint64_t tick = sim->queue.now + delay_ns;
    state->tick[0] = tick;
    state->event[0] = event_queue_push(&sim->queue, tick, kind, a, b);
    state->ticks = 1;
}

/* Runs the calls of an event of kind SIM_EVENT_CALLS or SIM_CALL_… */
void sim_calls_run(struct sim *sim, const struct event *event);
/* The two halves of that around one call of `rank`, for the loop's most frequent ones. */
void sim_calls_run_rest(struct sim *sim);
void sim_far_tick_forget(struct sim *sim, uint32_t rank);

static inline void sim_calls_begin(struct sim *sim, uint32_t rank)
{
    struct sim_rank *state = &sim->ranks[rank];
    sim->running_rank = rank;
    for (uint32_t i = 0; i < state->ticks; i++) {
        if (state->tick[i] == sim->queue.now) {
            uint32_t last = --state->ticks;
            state->tick[i] = state->tick[last];
            state->event[i] = state->event[last];
            return;
        }
    }
    sim_far_tick_forget(sim, rank);
}

static inline void sim_calls_end(struct sim *sim)
{
    if (__builtin_expect(sim->running_head != 0, 0)) {
        sim_calls_run_rest(sim);
    }
    sim->running_rank = SIM_NONE;
}

/* ---- message.c, lanes.c --------------------------------------------------------------------------------------- */

enum { SIM_TAG_RANGE = 500000000, SIM_TAG_RENDEZVOUS = 1000000000 };

static inline int32_t sim_tag_native(int32_t tag)
{
    return tag % SIM_TAG_RANGE;
}

static inline int32_t sim_tag_collective(int32_t tag)
{
    return tag % SIM_TAG_RANGE + SIM_TAG_RANGE;
}

void sim_send(struct sim *sim, uint32_t src, uint32_t dst, int32_t tag, uint64_t bytes, struct sim_party sender);
void sim_recv(struct sim *sim, uint32_t src, uint32_t dst, int32_t tag, uint64_t bytes, struct sim_party receiver);

/* Messages between streams, by whichever means the run allows. */
void sim_stream_send(struct sim *sim, uint32_t stream, uint32_t dst, uint64_t bytes);
void sim_stream_recv(struct sim *sim, uint32_t stream, uint32_t src, uint64_t bytes);

/* A lane that the caller holds on to. */
uint32_t sim_lane_hold(struct sim *sim, uint32_t src, uint32_t dst, int32_t tag, uint64_t bytes);
void sim_lane_drop(struct sim *sim, uint32_t lane);
void sim_lane_close_if_idle(struct sim *sim, uint32_t lane); /* sends and receives are in lanes.h */
void sim_lanes_settle(struct sim *sim);

void sim_message_arrived(struct sim *sim, uint32_t message);
void sim_message_late_recv(struct sim *sim, uint32_t message);
/* Adds the traffic of channels still open to the dimensions' accounts. */
void sim_channels_settle(struct sim *sim);
/* A note about messages that arrived and that no rank ever received. */
ORR_MUST_CHECK enum orr_status sim_messages_warn_unclaimed(struct sim *sim, struct orr_error *err);

/* 1 + J*u for the next message of the pair; jitter.c. */
double sim_jitter_stretch(struct sim *sim, uint32_t src, uint32_t dst);
void sim_jitter_free(struct sim *sim);

/* ---- workload.c ----------------------------------------------------------------------------------------------- */

/* The first issue pass of a rank, at time 0. */
void sim_workload_start(struct sim *sim, uint32_t rank);
void sim_workload_node_done(struct sim *sim, uint32_t rank, uint32_t node);
enum sim_op_kind sim_node_kind(const struct trace_node *node);
enum sim_slot sim_node_slot(const struct trace_node *node);

/* ---- account.c ------------------------------------------------------------------------------------------------ */

void sim_account_start(struct sim *sim, uint32_t rank, uint32_t node);
void sim_account_end(struct sim *sim, uint32_t rank, uint32_t node);
void sim_account_finish(struct sim *sim, uint32_t rank);
void sim_account_close(struct sim *sim); /* at the end of the run */
void sim_log(struct sim *sim, struct sim_log_entry entry);

/* ---- collective.c, plans.c ------------------------------------------------------------------------------------ */

void sim_collective_issue(struct sim *sim, uint32_t rank, uint32_t node);
void sim_collective_stream_done(struct sim *sim, uint32_t operation);
void sim_collective_none_left(struct sim *sim, uint32_t operation);
/* Bytes of one chunk and how many there are (§6.3). */
void sim_collective_chunks(const struct sim *sim, int32_t type, uint64_t bytes, uint64_t *chunk, uint64_t *count);
enum sim_native sim_native_of(int32_t type);
const struct trace_set *sim_custom_of(const struct sim *sim, uint32_t rank, uint32_t node);
/* Which member of the group a rank is, by the file's order; SIM_NONE if it is not one. */
uint32_t sim_group_place(const struct sim *sim, uint32_t group, uint32_t rank);
/* The plan of a collective node's chunk; NULL when memory is refused. */
const struct sim_plan *sim_plan_get(struct sim *sim, const struct trace_node *node, uint32_t group, uint64_t chunk);

/* ---- scheduler.c ---------------------------------------------------------------------------------------------- */

/* Starts a new stream, or moves one on whose phase has ended (§7.4). */
void sim_stream_proceed(struct sim *sim, uint32_t stream);

/* ---- endpoint.c, bus.c ---------------------------------------------------------------------------------------- */

/* Sub-group rings take this whatever the configuration says (spec analytical §13). */
enum { SIM_FAST_ENDPOINT_NS = 10 };

/* What follows the endpoint delay: nothing, or the memory delay of step `code - 1`. */
enum { SIM_MEMORY_SKIP = 0 };

struct sim_bundle {
    uint64_t bytes;
    uint32_t memory_code; /* SIM_MEMORY_SKIP or step + 1 */
    bool send_back;
    bool to_npu;
};

/* What passing the endpoint takes when there is no bus. */
static inline uint64_t sim_endpoint_delay(const struct sim *sim, const struct sim_stream *stream)
{
    return stream->fast ? SIM_FAST_ENDPOINT_NS : sim->endpoint_ns;
}

void sim_endpoint_bundle(struct sim *sim, uint32_t stream, struct sim_bundle bundle);
/* What it costs to reduce `bytes` in local memory. */
uint64_t sim_memory_pass_ns(const struct sim *sim, uint64_t bytes);
void sim_endpoint_passed(struct sim *sim, uint32_t stream, uint32_t memory_code);

ORR_MUST_CHECK enum orr_status sim_buses_create(struct sim *sim, struct orr_error *err);
void sim_buses_free(struct sim *sim);
void sim_bus_request(struct sim *sim, uint32_t stream, struct sim_bundle bundle);
uint32_t sim_bus_rank(uint32_t side);
void sim_bus_call(struct sim *sim, uint32_t side, uint32_t event);

/* ---- what streams do ------------------------------------------------------------------------------------------ */

void sim_phase_start(struct sim *sim, uint32_t stream);    /* event Init */
void sim_phase_general(struct sim *sim, uint32_t stream);  /* the endpoint is done */
void sim_phase_received(struct sim *sim, uint32_t stream); /* a receive has matched */

void sim_tree_start(struct sim *sim, uint32_t stream);
void sim_tree_general(struct sim *sim, uint32_t stream);
void sim_tree_received(struct sim *sim, uint32_t stream);

void sim_program_start(struct sim *sim, uint32_t stream);
void sim_program_general(struct sim *sim, uint32_t stream);
void sim_program_received(struct sim *sim, uint32_t stream);
void sim_program_end(struct sim *sim, struct sim_stream *stream);

void sim_custom_start(struct sim *sim, uint32_t stream);
void sim_custom_node_done(struct sim *sim, uint32_t stream, uint32_t node);
void sim_custom_free(struct sim *sim, struct sim_custom_run *run);
uint32_t sim_custom_ongoing(const struct sim_custom_run *run);
/* Which file of a custom trace set a rank plays: its rank, or its place in the sorted group. */
uint32_t sim_custom_position(const struct sim *sim, uint32_t group, uint32_t rank);

/* ---- memory.c ------------------------------------------------------------------------------------------------- */

void sim_memory_access(struct sim *sim, uint32_t rank, uint32_t node);
void sim_memory_next(struct sim *sim, uint32_t server);

/* ---- check.c, stall.c ----------------------------------------------------------------------------------------- */

ORR_MUST_CHECK enum orr_status sim_check(struct sim *sim, struct orr_error *err);
/* Fills result.stall. */
void sim_stall_diagnose(struct sim *sim);

#endif
