/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The engine's inside: every struct that a running simulation is made of, and the functions its files call across each
 * other. Only files of sim/ include this; everyone else sees sim/sim.h.
 *
 * A simulation is pools of plain structs in `struct sim`, an event queue and a network. The parts, one file each:
 * - ticks: what a rank does after a delay (spec analytical §2.2)
 * - message: sends meet receives (§10); lanes: the same between streams; routes: what both know of a path
 * - workload: what the nodes of a trace do (§5); slots: which of them may go; contention: kernels that share a device
 * - memory: remote memory (§12)
 * - collective, plans: a collective node becomes chunks, a chunk becomes a stream of phases (§6)
 * - agree: whether all ranks mean the same collective
 * - scheduler: which streams of a rank run at once (§7)
 * - endpoint: the delay before a message may leave; bus: its detailed form (§8)
 * - packets, trees, programs, custom: what a stream does in a phase (§9, §14); flows: the same for NCCL's lists
 * - symmetry: one rank for all, where they do the same; alike: one of each class, on the flow network; rings: phases
 *   worked out at once;
 *   order: what both must not change
 * - account: where time went; check: whether traces and machine fit together, before the run
 * - noise: compute that varies by chance
 * - optimum: how short the run could have been at best
 * - usage, spill: what ranks held in memory, and where what did not fit would go
 * - stall: what to say when nothing can go on; waits, dependency_cycle: what it is made from
 */
#ifndef ORR_SIM_ENGINE_H
#define ORR_SIM_ENGINE_H

#include "base/event_queue.h"
#include "base/number_map.h"
#include "base/ticks.h"
#include "net/net.h"
#include "sim/agree.h"
#include "sim/alike.h"
#include "sim/events.h"
#include "sim/order.h"
#include "sim/ranks.h"
#include "sim/rings.h"
#include "sim/servers.h"
#include "sim/sim.h"
#include "sim/streams.h"
#include "sim/symmetry.h"
#include "sim/traffic.h"

/* A remote memory that serves one request at a time. */
struct sim_memory_server {
    uint32_t *waiting; /* rank, node pairs in a ring buffer */
    uint32_t head, count, capacity;
    bool busy;
};

struct sim_buses;
struct custom_layout;
struct roofline;

struct sim {
    const struct sim_config *config;
    struct mem *mem;
    struct notes *notes;
    bool has_untimed_broadcast; /* found by the check, told with the other warnings */
    struct arena arena;         /* setup: lives as long as the simulation */
    struct event_queue queue;
    struct net net;
    const struct net_ops *carrier; /* the network that does the job instead of the one asked for; NULL = none */
    struct sim_rank *ranks;        /* those that are carried out: all, or rank 0 */
    uint32_t rank_count;
    uint32_t played;               /* how many these are */
    struct sim_symmetry *symmetry; /* rank 0 for all; NULL = every rank by itself */
    struct topo_alike *alike;      /* ranks of wired machines that stand for others (alike.h); NULL = none */
    struct sim_order order;
    struct sim_rings *rings; /* ring phases at once; NULL = message by message */
    bool rings_unsure;       /* they were tried, and have to be played message by message */
    struct sim_servers nccl_servers;
    struct sim_graph_info *graphs;
    struct sim_graph_info **rank_graph;
    struct sim_group_state *groups;
    struct sim_agreements *agreements; /* of all ranks, then by group */
    struct sim_timed *timed;           /* NULL: collectives are simulated */

    struct sim_calls calls;
    struct sim_far_ticks far_ticks;
    uint32_t *far_buckets;
    uint32_t far_bucket_mask;
    uint32_t running_rank; /* whose calls are being run, or SIM_NONE */
    uint32_t running_head, running_tail;
    struct sim_messages messages;
    struct sim_channels channels;
    struct sim_routes channel_routes;
    struct sim_lanes lanes;
    struct sim_routes lane_routes;
    bool use_lanes;
    bool plain_rings; /* lanes, and an endpoint that is just a delay: rings take the shortest way */
    struct sim_deferreds deferreds;
    struct sim_streams streams;
    struct sim_operations operations;
    struct sim_plan **plan_buckets;
    struct sim_stream_queue *queues; /* rank * queues_per_rank + queue */
    uint32_t queues_per_rank;
    uint32_t queues_per_set; /* of one stream's collectives; the same but under policy streams */
    uint32_t queues_per_dim;
    uint32_t threshold; /* streams a queue runs at once (§7.1) */
    struct coll_dim logical[SIM_NATIVE_COUNT][TOPO_MAX_DIMS];
    uint32_t logical_count[SIM_NATIVE_COUNT];
    struct sim_memory_server *servers;
    uint32_t server_count;
    struct sim_buses *buses; /* model-shared-bus */
    struct custom_layout *custom_layouts;
    struct number_map jitter_pairs; /* messages sent, by source and destination */
    uint64_t endpoint_ns;
    double nodes_under_way; /* collectives in flight, each by the share of its chunks that are done */
    double extra_bytes;     /* of all-to-alls beyond net.expected_bytes: what they send again in each dimension */
    bool interrupted;       /* the progress callback asked to stop; queue.failed is set with it */
    bool in_network;        /* the event being handled came straight from the network */

    bool (*progress)(void *, const struct orr_progress *); /* or NULL */
    void *progress_context;
    struct sim_result result;
    struct sim_tally tally;
    uint32_t log_capacity;
};

/* Memory was refused: the loop ends before the next event. */
static inline void sim_fail_memory(struct sim *sim)
{
    sim->queue.failed = true;
}

/* Tells the progress callback; false, and the loop ends before the next event, when it asks to stop. run.c. */
bool sim_keeps_going(struct sim *sim);

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
    if (__builtin_expect(state->ticks == 1 && state->tick[0] == sim->queue.now, 1)) {
        state->ticks = 0;
        return;
    }
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

void sim_message_arrived(struct sim *sim, uint32_t message);
/* The network's word that a message or lane has arrived; `context` is the simulation. */
void sim_message_off_network(void *context, uint32_t message);
void sim_message_late_recv(struct sim *sim, uint32_t message);
/* A note about messages that arrived and that no rank ever received. */
ORR_MUST_CHECK enum orr_status sim_messages_warn_unclaimed(struct sim *sim, struct orr_error *err);

/* 1 + J*u for the next message of the pair; jitter.c. */
double sim_jitter_stretch(struct sim *sim, uint32_t src, uint32_t dst);
void sim_jitter_free(struct sim *sim);

/* ---- workload.c ----------------------------------------------------------------------------------------------- */

/* The first issue pass of a rank, at time 0. */
void sim_workload_start(struct sim *sim, uint32_t rank);
void sim_workload_node_done(struct sim *sim, uint32_t rank, uint32_t node);
/* What came before a communication, by the run's tuning, is over: it starts. */
void sim_workload_launched(struct sim *sim, uint32_t rank, uint32_t node);
/* How long a node takes by the duration it carries; at least 1 ns (spec analytical §5.3). */
static inline uint64_t sim_replay_ns(const struct trace_node *node)
{
    return node->duration_us == 0 ? 1 : node->duration_us * 1000;
}

enum sim_op_kind sim_node_kind(const struct trace_node *node);

/* ---- slots.c -------------------------------------------------------------------------------------------------- */

static inline bool sim_side_by_side(const struct sim_config *config)
{
    return config->policy == ORR_POLICY_STREAMS;
}

bool sim_slots_make(struct sim *sim, struct sim_rank *state); /* false when memory is refused */
void sim_slots_free(struct sim *sim, struct sim_rank *state);
/* All a node depends on is done. */
void sim_slots_offer(struct sim *sim, struct sim_rank *state, uint32_t node);
/* What became free inside the pass that has ended. */
void sim_slots_offer_late(struct sim *sim, struct sim_rank *state);
/* The next node to issue, which then holds its slot; SIM_NONE when none may go. */
uint32_t sim_slots_take(struct sim *sim, struct sim_rank *state);
void sim_slots_release(struct sim *sim, struct sim_rank *state, uint32_t node);
bool sim_slots_any_free(const struct sim_rank *state);
/* For the diagnosis of a stall: the node that holds a node's slot, or SIM_NONE; whether a free node was not issued. */
uint32_t sim_slots_holder(const struct sim_rank *state, uint32_t node);
bool sim_slots_is_waiting(const struct sim_rank *state, uint32_t node);
/* By ASTRA-sim's rule. */
enum sim_slot sim_node_slot(const struct trace_node *node);

/* ---- contention.c --------------------------------------------------------------------------------------------- */

bool sim_share_make(struct sim *sim, struct sim_rank *state); /* false when memory is refused */
void sim_share_free(struct sim *sim, struct sim_rank *state);
void sim_share_start(struct sim *sim, uint32_t rank, uint32_t node, uint64_t duration_ns);
/* A communication of the rank began or ended. */
void sim_share_changed(struct sim *sim, uint32_t rank);
void sim_share_due(struct sim *sim, uint32_t rank, uint32_t foreseen);
void sim_share_close(struct sim *sim); /* at the end of the run, before the accounts are closed */

/* ---- compute_time.c ------------------------------------------------------------------------------------------ */

/* How long a GPU compute node takes that does not go by the roofline. */
uint64_t sim_compute_ns(const struct sim_config *config, const struct sim_device *device,
                        const struct trace_node *node);
uint64_t sim_host_ns(const struct sim_config *config, const struct trace_node *node);
/* By the run's factor of compute times and the device's. */
uint64_t sim_compute_scaled(const struct sim_config *config, const struct sim_device *device, uint64_t ns);
struct roofline sim_device_roofline(const struct sim_config *config, const struct sim_device *device);
/* Is there what the run's source of compute times needs? Warns of nodes that have no time. */
ORR_MUST_CHECK enum orr_status sim_compute_check(struct sim *sim, struct orr_error *err);

/* ---- optimum.c ------------------------------------------------------------------------------------------------ */

/* Lower bounds of the job on the machine; all 0 where memory for the search is refused. */
void sim_optimum_find(struct sim *sim, struct sim_optimum *optimum);

/* ---- usage.c, spill.c ----------------------------------------------------------------------------------------- */

/* What each rank held over time, from the intervals of its nodes; false when memory is refused. */
ORR_MUST_CHECK bool sim_usage_find(struct sim *sim, struct sim_usage *usage);
void sim_usage_free(struct sim *sim, struct sim_usage *usage);
/* Of usage whose ranks are known. */
ORR_MUST_CHECK bool sim_spill_find(struct sim *sim, const struct sim_usage *usage, struct sim_spill *spill);

/* ---- account.c ------------------------------------------------------------------------------------------------ */

void sim_account_start(struct sim *sim, uint32_t rank, uint32_t node);
void sim_account_end(struct sim *sim, uint32_t rank, uint32_t node);
/* When a node in flight began. */
uint64_t sim_account_since(const struct sim *sim, uint32_t rank, uint32_t node);
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

/* ---- timed.c -------------------------------------------------------------------------------------------------- */

/* Nothing where collectives are simulated. False: no memory. */
bool sim_timed_make(struct sim *sim);
void sim_timed_free(struct sim *sim);
/* A member of a collective has come. */
void sim_timed_issue(struct sim *sim, uint32_t operation);
/* Walks the members that still wait, from meeting 0 and operation 0 on, each with a member that is not there. */
bool sim_timed_each(const struct sim *sim, uint32_t *meeting, uint32_t *operation, uint32_t *absent);

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
/* Which file of a custom trace set a rank plays: its rank, or its place in the sorted group. */
uint32_t sim_custom_position(const struct sim *sim, uint32_t group, uint32_t rank);

/* NCCL's lists of flows (coll/nccl.h); flows.c. NULL when memory is refused. */
const struct sim_flow_plan *sim_flow_plan_make(struct sim *sim, const struct coll_phase *phase);
/* Whether ncclCollnet can be on this machine for all ranks: switches of the network join them, or one server's own does
 * (also when memory is refused, which the run then tells). */
bool sim_flows_has_trees(const struct sim *sim);
/* Named errors of what NCCL's lists cannot do, and a note where another algorithm stands in. */
ORR_MUST_CHECK enum orr_status sim_flows_check(const struct sim *sim, struct orr_error *err);
/* Why a collective node cannot be carried out so, or NULL. */
const char *sim_flows_leave_out(const struct sim *sim, const struct trace_node *node, uint32_t group);
const char *sim_flows_refuse(const struct sim *sim, const struct trace_node *node, uint32_t group);
void sim_flows_start(struct sim *sim, uint32_t stream);
void sim_flows_call(struct sim *sim, uint32_t stream, uint32_t flow);
void sim_flows_received(struct sim *sim, uint32_t stream, uint32_t posted, uint32_t came);
/* To the sender, of a flow that has another in line behind it. */
void sim_flows_arrived(struct sim *sim, uint32_t stream, uint32_t flow);
void sim_flows_end(struct sim *sim, struct sim_stream *stream);
/* The rank that sends a flow of the stream's list, itself or for a switch. */
uint32_t sim_flows_sender(const struct sim *sim, uint32_t stream, uint32_t flow);

/* ---- memory.c ------------------------------------------------------------------------------------------------- */

/* What an access to remote memory takes where nobody else wants it. */
uint64_t sim_memory_ns(const struct sim_config *config, const struct trace_node *node);
void sim_memory_access(struct sim *sim, uint32_t rank, uint32_t node);
void sim_memory_next(struct sim *sim, uint32_t server);

/* ---- setup.c -------------------------------------------------------------------------------------------------- */

/* As it was when created, on another network (NULL: the same); every rank by itself where one did not do for all,
 * message by message where that was not enough. */
ORR_MUST_CHECK enum orr_status sim_start_over(struct sim *sim, const struct net_ops *carrier, struct orr_error *err);

/* ---- check.c, stall.c ----------------------------------------------------------------------------------------- */

/* What needs no state: before anything is allocated for it. */
ORR_MUST_CHECK enum orr_status sim_check_machine(const struct sim_config *config, struct orr_error *err);
ORR_MUST_CHECK enum orr_status sim_check(struct sim *sim, struct orr_error *err);
ORR_MUST_CHECK enum orr_status sim_check_warn(struct sim *sim, struct orr_error *err); /* part of it: notes alone */

/* Whether a node ends within TICKS_MAX_STEP, and whether compute nodes of a graph have to be asked; check_times.c. */
bool sim_time_fits(const struct sim *sim, const struct trace_node *node);
bool sim_compute_times_may_not_fit(const struct sim_config *config, const struct trace_graph *graph);
/* Fills result.stall. */
void sim_stall_diagnose(struct sim *sim);

#endif
