/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the parts of our linker share while one trace is linked (link.h says what they make of it). Internal to link/
 * and deps/; lives in one arena that goes when linking is done, but for the edges, which grow.
 *
 * While work goes on nodes have provisional numbers: host ops first, by start, then device nodes by start, then what
 * was added (collectives without a kernel, gaps, rests). number.c puts them in their final order.
 */
#ifndef ORR_CONVERT_PYTORCH_LINK_WORK_H
#define ORR_CONVERT_PYTORCH_LINK_WORK_H

#include "convert/pytorch/host/host.h"
#include "convert/pytorch/kineto/kineto.h"
#include "convert/pytorch/link/linked.h"

enum link_flag {
    LINK_HAS_CHILD = 1 << 0,
    LINK_IS_ANNOTATION = 1 << 1,
    LINK_IS_COMM = 1 << 2,         /* its name speaks of communication */
    LINK_HAS_COMM_CHILD = 1 << 3,  /* so does that of an op directly in it */
    LINK_HAS_COMM_KERNEL = 1 << 4, /* a communicating kernel was launched in it */
    LINK_UNDER_SOLID = 1 << 5,     /* an op around it is solid */
    LINK_IS_JOIN = 1 << 6,         /* a kernel of several communications that are nodes of their own */
    LINK_IS_ASYNC = 1 << 7,        /* a host library's send or receive that goes on after the op that asked for it */
};

/* A call to the device's library: a launch, a record, a wait, a synchronisation. */
struct link_call {
    int64_t start_ns, end_ns;
    int64_t correlation; /* -1 = none */
    uint32_t event;      /* in the device trace; KINETO_NONE for the stand-in launch of a collective without kernel */
    uint32_t thread;
    uint32_t owner; /* node: the innermost op around it; LINKED_NONE */
    uint32_t tail;  /* node: the op its thread began last before it, once the thread is walked (deps/host.c) its last
                       node before it; LINKED_NONE */
    uint32_t first_device, last_device; /* nodes it launched, by start; LINKED_NONE */
    uint32_t sync;                      /* event of the synchronisation it made, or KINETO_NONE */
    uint8_t call;                       /* enum kineto_call */
};

struct link_thread {
    uint32_t first_op, op_count;     /* in ops: nodes by start, around before inside */
    uint32_t first_call, call_count; /* in calls, by start */
    uint32_t first_busy, busy_count; /* in busy */
    uint32_t lane;
    bool calls_only; /* no op was recorded of it: its calls stand in for them */
};

/* A stream's nodes in order, and by when they were launched. */
struct link_lane {
    uint32_t first, count; /* in lane_nodes */
};

/* A thread idle for longer than this waited for something: Python needs less between two ops, mostly. */
enum { LINK_IDLE_NS = 200000 };

struct link_edge {
    uint32_t to, from;
};

struct link_key {
    int64_t key;
    uint32_t value;
};

struct link_work {
    const struct kineto_trace *kineto;
    const struct host_trace *host;
    struct linked_trace *out;
    struct mem *mem;
    struct notes *notes;
    struct arena arena;
    int64_t base_ns;                /* of the first event */
    const struct link_edge *stated; /* dependencies the input states, between positions of events (event.index) */
    uint32_t stated_count;
    bool retold; /* the device trace was made from the host trace: an event's index is its host node's */

    /* By node, for the recorded ones; grown together with out->nodes. */
    int64_t *ends;
    uint32_t *events; /* in the device trace, or KINETO_NONE */
    uint8_t *flags;
    uint32_t ends_capacity, events_capacity, flags_capacity;

    uint32_t op_total;     /* nodes below it are host ops */
    uint32_t device_total; /* the next so many are device nodes */

    uint32_t *name_map; /* by name in the device trace: number in out->names + 1, or 0 */
    uint8_t *name_call; /* by name: enum kineto_call + 1, or 0 */
    uint8_t *name_comm; /* by name: enum comm_kind + 1 as a host op's */

    struct link_thread *threads; /* by number of the device trace */
    uint32_t *ops;
    uint32_t *busy; /* solid ops with no solid op around, by thread and start */
    struct link_call *calls;
    uint32_t call_count, call_capacity;
    struct link_key *by_correlation; /* calls, by correlation then start */
    struct link_key *busy_ends;      /* the ops of busy, by end */
    struct link_key *comm_ops;       /* host ops that speak of communication, by start */
    struct link_key *comm_ends;      /* what the host's libraries communicated, by end */
    struct link_key *by_rf;          /* host ops by rf_id */
    struct link_key *host_rf;        /* nodes of the host trace by rf_id */
    uint32_t thread_count, correlation_count, busy_total, comm_op_count, comm_end_count, rf_count, host_rf_count;

    uint32_t *call_of;       /* by device node - op_total: call, or LINKED_NONE */
    struct link_lane *lanes; /* by lane; threads' lanes are empty */
    uint32_t *lane_nodes;
    uint32_t *sides;        /* by device node - op_total: which of the stream's nodes side by side it is among */
    int64_t *lane_launched; /* beside lane_nodes: the latest launch up to here */

    uint32_t *before;         /* by call: the device node its thread launched last before it; LINKED_NONE */
    uint32_t *next;           /* by call: the first its thread launched after it */
    uint32_t *wait_record;    /* by call: the record that a stream wait waits for, or LINKED_NONE */
    struct link_key *records; /* calls that record events, by start */
    uint32_t record_count;

    struct link_key *parts; /* communications that ran as one kernel, by kernel */
    uint32_t part_count, part_capacity;
    uint32_t *part_lanes;
    uint32_t part_lane_count, part_lane_capacity;

    struct link_edge *edges;
    uint32_t edge_count, edge_capacity;
    bool refused; /* memory was; checked at the end of each part */
};

/* Whether an event has a start and a length that can be: within 70 years of the clock's zero, 100 days long, and no
 * more than that after the first one. Sums of such times are far from overflow. */
enum { LINK_DAYS_NS_BITS = 53 };

static inline bool link_is_timed(const struct link_work *work, const struct kineto_event *event)
{
    return event->ph == 'X' && event->ts_us > -2.2e15 && event->ts_us < 2.2e15 && event->dur_us >= 0 &&
           event->dur_us < 9e12 && kineto_start_ns(event) - work->base_ns < INT64_C(1) << LINK_DAYS_NS_BITS;
}

static inline const char *link_event_name(const struct link_work *work, uint32_t event)
{
    return intern_text(&work->kineto->names, work->kineto->events[event].name);
}

static inline bool link_is_device(const struct link_work *work, uint32_t node)
{
    return work->out->nodes[node].kind == LINKED_DEVICE || work->out->nodes[node].kind == LINKED_COMM_BARE;
}

/* Whether time inside the op is its own: an annotation around ops is only a mark. */
static inline bool link_is_solid(const struct link_work *work, uint32_t node)
{
    return (work->flags[node] & LINK_IS_ANNOTATION) == 0 || (work->flags[node] & LINK_HAS_CHILD) == 0 ||
           work->out->nodes[node].kind == LINKED_COMM_OP;
}

/* Adds a node, LINKED_NONE when memory is refused. */
uint32_t link_node_add(struct link_work *work, const struct linked_node *node, int64_t end_ns, uint32_t event,
                       uint8_t flags);
/* `to` starts after `from` has ended. Nothing when either is LINKED_NONE, or they are the same. */
void link_edge_add(struct link_work *work, uint32_t to, uint32_t from);
/* The number in the linked trace of a name of the device trace. */
uint32_t link_name(struct link_work *work, uint32_t kineto_name);
void *link_alloc(struct link_work *work, uint64_t count, size_t item_bytes); /* NULL and `refused` when refused */

void link_numbers_sort(uint32_t *items, uint32_t count);
/* Sorts by key, then value. */
void link_keys_sort(struct link_key *keys, uint32_t count);
/* The first with this key, or count. */
uint32_t link_keys_find(const struct link_key *keys, uint32_t count, int64_t key);
/* How many keys are below it. */
uint32_t link_keys_below(const struct link_key *keys, uint32_t count, int64_t key);

/* The whole of linking, all of `work` but its input still zero. */
ORR_MUST_CHECK enum orr_status link_work_run(struct link_work *work, struct orr_error *err);

/* Within link_launch: the order of a stream's nodes (sides.c). */
void link_order_lane(struct link_work *work, const uint32_t *nodes, uint32_t count);
/* Within link_launch: kernels of several communications (coalesced.c). */
void link_coalesced(struct link_work *work);
bool link_is_collective(const struct link_work *work, uint32_t op); /* and not a wait, say */
uint32_t link_lane_add(struct link_work *work, uint32_t text, int64_t stream);

/* ---- the parts, in order ---- */

void link_collect(struct link_work *work);    /* nodes from events; threads' lists (collect.c) */
void link_nest(struct link_work *work);       /* parents, owners of calls, busy lists (nest.c) */
void link_launch(struct link_work *work);     /* devices' calls, lanes, launch and stream edges (launch.c) */
void link_waits(struct link_work *work);      /* between streams (deps/stream.c) */
void link_threads(struct link_work *work);    /* between host nodes, and from device to host (deps/host.c) */
void link_turns(struct link_work *work);      /* between collectives of the host's libraries (deps/turns.c) */
void link_stated(struct link_work *work);     /* what the input states (host.c) */
void link_join_parts(struct link_work *work); /* what kernels of several communications wait for (coalesced.c) */
void link_steps(struct link_work *work);      /* steps.c */
void link_clues(struct link_work *work);      /* comm.c */
void link_sides(struct link_work *work);      /* lanes for what overlapped on one stream (sides.c) */
void link_number(struct link_work *work);     /* final order, dependencies by node (number.c) */

/* ---- shared questions ---- */

/* The last node of a stream that was launched before `time_ns`, or LINKED_NONE. */
uint32_t link_lane_before(const struct link_work *work, uint32_t lane, int64_t time_ns);
/* The first one launched at or after it. */
uint32_t link_lane_after(const struct link_work *work, uint32_t lane, int64_t time_ns);
/* The lane of a stream on the device of `like`, a node or LINKED_NONE for the first device; LINKED_NONE. */
uint32_t link_lane_of_stream(const struct link_work *work, uint32_t like, int64_t stream);
/* The latest call of this correlation that began by `time_ns`; if none did, the first; LINKED_NONE. */
uint32_t link_call_of(const struct link_work *work, int64_t correlation, int64_t time_ns);
/* What an event recorded by this call stands for: the last device node of the stream then; LINKED_NONE. */
uint32_t link_recorded(const struct link_work *work, uint32_t record);
/* The op that created the host op `op` on another thread, or LINKED_NONE (deps/handover.c). */
uint32_t link_creator(const struct link_work *work, uint32_t op);
/* The node at whose end a thread that was idle from `idle_ns` on could start `op`; LINKED_NONE. */
uint32_t link_handover(const struct link_work *work, uint32_t thread, uint32_t op, int64_t idle_ns, bool first,
                       int64_t *released_ns);

#endif
