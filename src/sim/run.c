/* SPDX-License-Identifier: Apache-2.0 */
/* The loop. Events carry numbers, so this switch is the whole of the engine's dispatch. */
#include <inttypes.h>
#include <math.h>

#include "net/packet/packet.h"
#include "sim/lanes.h"
#include "sim/waits.h"

enum { PROGRESS_EVERY = 1 << 16 };

void sim_message_off_network(void *context, uint32_t message)
{
    struct sim *sim = context;
    sim->in_network = true;
    if ((message & SIM_LANE_FLAG) != 0) {
        sim_lane_arrived(sim, message & ~(uint32_t)SIM_LANE_FLAG);
    } else {
        sim_message_arrived(sim, message);
    }
    sim->in_network = false;
}

static void sim_run_handle(struct sim *sim, const struct event *event)
{
    switch (event->kind) {
    case NET_EVENT_HOP:
    case NET_EVENT_LINK_FREE:
    case NET_EVENT_LINK_FAULT:
    case NET_EVENT_PACKET_SENT:
    case NET_EVENT_PACKET_ARRIVED:
    case NET_EVENT_PACKET_TIMER:
    case NET_EVENT_PACKET_RESUME:
    case NET_EVENT_PACKET_START:
    case NET_EVENT_PACKET_CONTROL:
    case NET_EVENT_PACKET_TIMEOUT:
    case NET_EVENT_PACKET_SAMPLE:
    case NET_EVENT_PACKET_LINK:
    case NET_EVENT_PACKET_CREDIT:
    case NET_EVENT_FLOW_STEP:
    case NET_EVENT_FLOW_ENDS:
    case NET_EVENT_FLOW_SETTLE: {
        uint32_t message = net_handle(&sim->net, event);
        if (message != NET_NO_MESSAGE) {
            sim_message_off_network(sim, message);
        }
        break;
    }
    case SIM_EVENT_LANE_ARRIVAL:
        sim_lane_arrived(sim, event->a);
        break;
    case SIM_EVENT_LANE_LATE_RECV:
        sim_phase_received(sim, event->a);
        break;
    case SIM_CALL_ENDPOINT:
        sim_calls_begin(sim, sim->streams.at[event->a].rank);
        sim_endpoint_passed(sim, event->a, event->b);
        sim_calls_end(sim);
        break;
    case SIM_CALL_GENERAL:
        sim_calls_begin(sim, sim->streams.at[event->a].rank);
        sim_phase_general(sim, event->a);
        sim_calls_end(sim);
        break;
    case SIM_EVENT_ARRIVAL:
        sim_message_off_network(sim, event->a);
        break;
    case SIM_EVENT_LATE_RECV:
        sim->in_network = true;
        sim_message_late_recv(sim, event->a);
        sim->in_network = false;
        break;
    default:
        sim_calls_run(sim, event);
        break;
    }
}

/* What the next event will touch is on its way from memory while this one is handled. */
static inline void look_ahead(const struct sim *sim)
{
    const struct event *next = event_queue_peek(&sim->queue);
    if (next->kind == SIM_EVENT_LANE_ARRIVAL) {
        __builtin_prefetch(&sim->lanes.at[next->a]);
    } else if (next->kind == SIM_CALL_ENDPOINT || next->kind == SIM_CALL_GENERAL) {
        __builtin_prefetch(&sim->streams.at[next->a]);
    }
}

static struct orr_progress sim_run_progress_now(const struct sim *sim)
{
    double nodes = sim->result.nodes == 0 ? 1 : (double)sim->result.nodes;
    bool over = sim->result.nodes_done == sim->result.nodes;

    /* Nodes and chunks tell nothing of one large message, bytes nothing of compute. */
    double expected = sim->net.expected_bytes > 0 ? sim->net.expected_bytes + sim->extra_bytes : 0;
    double share = expected > 0 ? fmin(sim->net.moved_bytes / expected, 0.99) : 0;
    double done = fmax(((double)sim->result.nodes_done + sim->nodes_under_way) / nodes, share);
    return (struct orr_progress){.time_ns = sim->queue.now,
                                 .events =
                                     sim->alike != NULL ? sim->queue.handled : sim_all_of(sim, sim->queue.handled),
                                 .messages = sim_all_of(sim, sim->result.messages),
                                 .ranks_finished = (uint32_t)sim_all_of(sim, sim->result.ranks_finished),
                                 .ranks = sim->rank_count,
                                 .nodes_done = sim_all_of(sim, sim->result.nodes_done),
                                 .nodes = sim_all_of(sim, sim->result.nodes),
                                 .done = over ? 1.0 : fmin(done, 1.0)};
}

bool sim_keeps_going(struct sim *sim)
{
    if (sim->progress == NULL) {
        return true;
    }
    struct orr_progress now = sim_run_progress_now(sim);
    if (!sim->progress(sim->progress_context, &now)) {
        sim->interrupted = true;
        sim->queue.failed = true;
    }
    return !sim->interrupted;
}

/* The nodes in flight are those that would end too late. */
static enum orr_status fail_late(struct sim *sim, struct orr_error *err)
{
    for (uint32_t rank = 0; rank < sim->played; rank++) {
        const struct sim_rank *state = &sim->ranks[rank];
        for (uint32_t slot = 0; slot < SIM_SLOT_NONE; slot++) {
            if (state->slot[slot] != SIM_NONE) {
                return error_set(err, ORR_EFAIL,
                                 "simulated time has passed 2^62 ns while rank %u is in %s; a duration, size or "
                                 "latency is out of range",
                                 rank, sim_say_node(sim, rank, state->slot[slot]));
            }
        }
    }
    return error_set(err, ORR_EFAIL, "simulated time has passed 2^62 ns; a duration, size or latency is out of range");
}

/* For the shortcuts, which have to know what is caused by what. */
static void note_cause(struct sim *sim)
{
    if (sim->symmetry != NULL) {
        sim_symmetry_event(sim);
    }
    if (sim->rings != NULL) {
        sim_rings_event(sim);
    }
}

static enum orr_status sim_run_loop(struct sim *sim, struct orr_error *err)
{
    struct event event;
    uint32_t until_progress = PROGRESS_EVERY;
    while (!sim->queue.failed && event_queue_pop(&sim->queue, &event)) {
        if (__builtin_expect(sim->queue.now > TICKS_MAX_NOW, 0)) {
            return fail_late(sim, err);
        }
        look_ahead(sim);
        if (__builtin_expect(sim->order.watched, 0)) {
            note_cause(sim);
        }
        sim_run_handle(sim, &event);
        if (sim->net.machine != NULL && sim->result.nodes_done == sim->result.nodes) {
            break; /* timers and acknowledgements on their way have nothing to tell */
        }
        if (--until_progress == 0) {
            until_progress = PROGRESS_EVERY;
            (void)sim_keeps_going(sim);
        }
    }
    if (sim->interrupted) {
        return error_set(err, ORR_EINTR, "interrupted at %" PRIu64 " ns of simulated time", sim->queue.now);
    }
    bool memory = !sim->net.gave_up && !sim->net.parted && !sim->net.fold.unsure && !sim->rings_unsure;
    return sim->queue.failed && memory ? mem_error(sim->mem, "the running simulation", err) : ORR_OK;
}

/* What the job will send, for a network that weighs its means: each rank's own messages, and of collectives what their
 * usual algorithms send. */
static double sim_run_expected_bytes(const struct sim *sim)
{
    double sum = 0;
    for (uint32_t rank = 0; rank < sim->played; rank++) {
        const struct trace_graph *graph = sim->ranks[rank].graph;
        for (uint32_t i = 0; i < graph->other_count; i++) {
            const struct trace_node *node = &graph->nodes[graph->others[i]];
            if (node->type == TRACE_COLL && node->comm_type == COLL_ALL_GATHER) {
                uint32_t group = sim_graph_group(sim->rank_graph[rank], graph->others[i]);
                uint32_t members = group == SIM_NONE ? sim->rank_count : sim->groups[group].group->count;
                sum += (double)node->comm_bytes * members;
            } else if (node->type == TRACE_COLL) {
                sum += (double)node->comm_bytes * (node->comm_type == COLL_ALL_REDUCE ? 2 : 1);
            } else if (node->type == TRACE_SEND) {
                sum += (double)node->comm_bytes;
            }
        }
    }
    return sum;
}

/* An all-to-all sends its bytes again in every dimension, and in a ring past those in between. Only progress is told by
 * this: what a network chooses by is the sum above. */
static double extra_bytes_of(const struct sim *sim)
{
    double factor = sim->logical_count[SIM_ALL_TO_ALL] > 0 ? 0 : 1;
    double bytes = 0;
    for (uint32_t d = 0; d < sim->logical_count[SIM_ALL_TO_ALL]; d++) {
        const struct coll_dim *dim = &sim->logical[SIM_ALL_TO_ALL][d];
        double size = (double)dim->ring.size;
        factor += dim->impl.algo == COLL_RING ? (size - 1) / 2 : dim->impl.algo == COLL_DIRECT ? (size - 1) / size : 1;
    }
    for (uint32_t rank = 0; rank < sim->played; rank++) {
        const struct trace_graph *graph = sim->ranks[rank].graph;
        for (uint32_t i = 0; i < graph->other_count; i++) {
            const struct trace_node *node = &graph->nodes[graph->others[i]];
            bool whole = node->type == TRACE_COLL && node->comm_type == COLL_ALL_TO_ALL &&
                         sim_graph_group(sim->rank_graph[rank], graph->others[i]) == SIM_NONE;
            bytes += whole ? (double)node->comm_bytes : 0;
        }
    }
    return (factor - 1) * bytes;
}

/* Again, with every rank by itself. */
static enum orr_status sim_run_part(struct sim *sim, const char *because, struct orr_error *err)
{
    sim->result.plain_because = because;
    return sim_start_over(sim, NULL, err);
}

static void sim_run_expect(struct sim *sim)
{
    bool asked = sim->net.ops->instead != NULL || (sim->net.contention && sim->progress != NULL);
    double each = (double)sim_all_of(sim, sim->played) / sim->played;
    sim->net.expected_bytes = asked ? each * sim_run_expected_bytes(sim) : 0;
    sim->extra_bytes = asked && sim->progress != NULL ? each * extra_bytes_of(sim) : 0;
}

static enum orr_status sim_run_play(struct sim *sim, struct orr_error *err)
{
    sim_run_expect(sim);
    const char *parts = sim->alike != NULL ? sim_alike_begin(sim) : NULL;
    if (parts != NULL) {
        enum orr_status status = sim_run_part(sim, parts, err);
        if (status != ORR_OK) {
            return status;
        }
        sim_run_expect(sim);
    }
    for (uint32_t rank = 0; rank < sim->played && !sim->queue.failed; rank++) {
        sim_workload_start(sim, rank);
    }
    return sim_run_loop(sim, err);
}

/* Again, on the network that the first one names. */
static enum orr_status sim_run_play_again(struct sim *sim, struct orr_error *err)
{
    const struct net_ops *instead = net_instead(&sim->net);
    enum orr_status status = instead == &net_packet ? ORR_OK : net_note_doubt(&sim->net, sim->notes, err);
    if (instead == NULL || status != ORR_OK) {
        return status;
    }
    status = sim_start_over(sim, instead, err);
    return status == ORR_OK ? sim_run_play(sim, err) : status;
}

/* Again with every rank by itself, where one could not stand for all, and then message by message; a job that stalls is
 * told of rank by rank, by what each waits for. */
static enum orr_status sim_run_play_plain(struct sim *sim, struct orr_error *err)
{
    enum orr_status status = ORR_OK;
    while (status == ORR_OK && (sim->symmetry != NULL || sim->alike != NULL || sim->rings != NULL)) {
        bool unsure = sim->net.fold.unsure || sim->net.parted || sim->rings_unsure;
        if (sim->result.nodes_done == sim->result.nodes && !unsure) {
            break;
        }
        const char *because = sim->result.plain_because;
        if (sim->symmetry != NULL || sim->alike != NULL) {
            because = sim->net.parted ? "messages contend under a congestion control, or have several ways to go"
                      : unsure        ? "what happens to a rank at one nanosecond depends on its number"
                                      : "the job stalls";
        }
        sim->rings_unsure = sim->rings != NULL || !unsure;
        status = sim_run_part(sim, because, err);
        status = status == ORR_OK ? sim_run_play(sim, err) : status;
    }
    return status;
}

enum orr_status sim_run(struct sim *sim, bool (*progress)(void *, const struct orr_progress *), void *context,
                        struct orr_error *err)
{
    sim->progress = progress;
    sim->progress_context = context;
    sim->mem->refused = 0; /* of what came before: looked at when this run is over */
    enum orr_status status = sim_run_play(sim, err);
    if (status == ORR_OK) {
        status = sim_run_play_plain(sim, err);
    }
    if (status == ORR_OK) {
        status = sim_run_play_again(sim, err);
    }
    if (sim->net.ops == NULL) {
        return status; /* it could not be made again */
    }
    sim_account_close(sim);
    if ((sim->symmetry != NULL || sim->alike != NULL) && !sim_symmetry_spread(sim)) {
        return mem_error(sim->mem, "the results of the ranks", err);
    }
    if (status != ORR_OK) {
        return status;
    }
    if (sim->config->tensors != NULL && !sim_usage_find(sim, &sim->result.usage)) {
        return mem_error(sim->mem, "what ranks hold in memory", err);
    }
    if (sim->result.nodes_done == sim->result.nodes) {
        sim->mem->refused = 0;
        sim_optimum_find(sim, &sim->result.optimum);
        if (sim->mem->refused != 0) {
            return mem_error(sim->mem, "the run's optimum", err);
        }
        status = sim_agree_warn(sim, err);
        return status == ORR_OK ? sim_messages_warn_unclaimed(sim, err) : status;
    }
    if (sim->mem->refused == 0) {
        sim_stall_diagnose(sim);
    }
    if (sim->mem->refused != 0) { /* whoever was refused may have left work undone: that is no stall of the job */
        return mem_error(sim->mem, "the running simulation", err);
    }
    const struct sim_stall *stall = &sim->result.stall;
    return error_set(err, ORR_ESTALL, "stalled at %" PRIu64 " ns with %u of %u ranks unfinished: %s", sim->queue.now,
                     sim->rank_count - sim->result.ranks_finished, sim->rank_count,
                     stall->finding_count > 0 ? stall->findings[0].text : sim_stall_kind_name(stall->kind));
}

const struct sim_result *sim_result(const struct sim *sim)
{
    return &sim->result;
}
