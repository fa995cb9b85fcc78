/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The life of a message: it starts, its data flow at a share that others change, the last of it has left, the tail of
 * its acknowledgements flows back, it has arrived. A share is a rate in full packets a nanosecond; a flow keeps what
 * was left of it when its rate was last set, and is looked at again only when the rate changes.
 *
 * Changes of one time are settled together, by an event that lets everything else of that time go first: collectives
 * start and end hundreds of messages at once. Ends are kept in a heap, since most of them change before they come, and
 * only the first one is put into the queue; an earlier one makes it void by a stamp.
 *
 * Acknowledgements are part of the flow on the links back: they begin when the first packet would have arrived, at
 * whatever rate the data have, and go on for as long after the data's end, at the data's last rate. On rings, where
 * every host sends and acknowledges at once, they are a twentieth of the traffic.
 */
#include <inttypes.h>
#include <math.h>

#include "base/arena.h"
#include "net/flow/control.h"
#include "net/flow/engine.h"
#include "net/flow/judge.h"
#include "net/packet/wire.h"

/* Far below what a packet's granularity makes of a rate. */
#define SHARE_TOLERANCE 1e-6

/* A message is short when the way there and back takes more than this part of the time its packets do. */
#define SHORT_PART 0.01

/* A window is tight when acknowledgements may be late by more than this part of a round trip beyond its slack. */
#define TIGHT_PART 0.01

/* Times that rates give are not exact: a whole nanosecond and what is above it by less than this are one. */
#define TIME_SLACK 0x1.1p-10

/* Packets a nanosecond where a packet takes less than the half nanosecond that counts as one. */
#define INSTANT_RATE 1e6

/* FLOW_CONTROL is about all flows that contend; the others are about one. */
enum flow_step { FLOW_STARTS, FLOW_LEAVES, FLOW_ACKS_BEGIN, FLOW_ACKS_END, FLOW_ARRIVES, FLOW_CONTROL };

/* ---- opening ---- */

static bool open_arrays(struct flow_net *network)
{
    struct net *net = network->net;
    const struct topo_graph *graph = network->machine->graph;
    const struct packet_config *config = network->machine->config;
    network->half = topo_way_most(&network->routes);
    if (network->half == 0 || !flows_init(&network->flows, net->mem) ||
        !share_init(&network->share, graph->port_count, 2 * network->half, SHARE_TOLERANCE, net->mem)) {
        return false;
    }
    network->carried = mem_zalloc(net->mem, graph->port_count * sizeof *network->carried);
    network->data_cost = mem_zalloc(net->mem, graph->port_count * sizeof *network->data_cost);
    network->ack_cost = mem_zalloc(net->mem, graph->port_count * sizeof *network->ack_cost);
    if (!flow_ways_open(network) || !source_ports_init(&network->next_ports, graph->node_count, net->mem) ||
        network->data_cost == NULL || network->ack_cost == NULL || network->carried == NULL) {
        return false;
    }
    network->full_bytes = config->payload_bytes + wire_header_bytes(config);
    for (uint32_t port = 0; port < graph->port_count; port++) {
        uint64_t rate = graph->links[graph->ports[port].link].rate_bps;
        network->data_cost[port] = (double)wire_sending_ns(config, network->full_bytes, rate);
        network->packet_ns = port == 0 ? (uint64_t)network->data_cost[0] : network->packet_ns;
        network->ack_cost[port] = (double)wire_sending_ns(config, wire_ack_bytes(config), rate);
    }
    bool wants_extremes = config->global_t || cc_needs(config, CC_ONE_NUMBER);
    return !wants_extremes || topo_way_extremes(&network->routes, &network->longest_rtt_ns, &network->largest_window);
}

/* Who has the last word: this network, with its contests, or a judge that looks on and has none. */
enum flow_kind { FLOW_FOR_GOOD, FLOW_WHERE_PACKETS_ARE_DEAR, FLOW_WHERE_IT_IS_RIGHT };

static enum orr_status open_as(struct net *net, enum flow_kind kind, struct orr_error *err)
{
    const struct packet_machine *machine = net->machine;
    struct flow_net *network = mem_zalloc(net->mem, sizeof *network);
    if (network == NULL) {
        return mem_error(net->mem, "the network", err);
    }
    net->state = network;
    network->net = net;
    network->machine = machine;
    network->wake_at = UINT64_MAX;
    number_map_init(&network->last, net->mem);
    enum orr_status status = topo_routes_init(&network->routes, machine->graph, machine->config->payload_bytes,
                                              machine->config->parallel_links, net->mem, err);
    if (status != ORR_OK) {
        return status;
    }
    network->can_contend = cc_matters(machine->config);
    bool opened = open_arrays(network) &&
                  (kind == FLOW_FOR_GOOD ? flow_controls_open(network)
                                         : judge_open(network, kind == FLOW_WHERE_PACKETS_ARE_DEAR) != NULL);
    return opened ? ORR_OK : mem_error(net->mem, "the network", err);
}

static enum orr_status shares_open(struct net *net, struct orr_error *err)
{
    return open_as(net, FLOW_FOR_GOOD, err);
}

static enum orr_status flow_open(struct net *net, struct orr_error *err)
{
    return open_as(net, FLOW_WHERE_PACKETS_ARE_DEAR, err);
}

static enum orr_status auto_open(struct net *net, struct orr_error *err)
{
    return open_as(net, FLOW_WHERE_IT_IS_RIGHT, err);
}

static void flow_close(struct net *net)
{
    struct flow_net *network = net->state;
    if (network == NULL) {
        return;
    }
    size_t ports = network->machine->graph->port_count;
    flow_ways_close(network);
    source_ports_free(&network->next_ports);
    number_map_free(&network->last);
    mem_free(net->mem, network->carried, ports * sizeof *network->carried);
    mem_free(net->mem, network->data_cost, ports * sizeof *network->data_cost);
    mem_free(net->mem, network->ack_cost, ports * sizeof *network->ack_cost);
    mem_free(net->mem, network->ends, (size_t)network->end_capacity * sizeof *network->ends);
    flow_controls_close(network);
    judge_close(network);
    flow_stand_close(network);
    share_free(&network->share);
    flows_free(&network->flows, net->mem);
    topo_routes_free(&network->routes);
    mem_free(net->mem, network, sizeof *network);
}

/* ---- ends ---- */

/* Makes sure that the queue holds the first end. */
static void wake_for_first(struct flow_net *network)
{
    if (network->end_count == 0) {
        return;
    }
    double first = ceil(network->flows.at[network->ends[0]].ends_ns - TIME_SLACK);
    uint64_t now = network->net->queue->now;
    uint64_t at = first < (double)now ? now : first < 0x1p62 ? (uint64_t)first : UINT64_C(1) << 62;
    if (at < network->wake_at) {
        network->wake_at = at;
        (void)event_queue_push(network->net->queue, at, NET_EVENT_FLOW_ENDS, ++network->wake_stamp, 0);
    }
}

/* ---- changes ---- */

void flow_settle_later(struct flow_net *network)
{
    if (!network->settling && share_is_stale(&network->share)) {
        network->settling = true;
        uint64_t now = network->net->queue->now;
        uint64_t at = network->rest_until > now ? network->rest_until : now;
        (void)event_queue_push(network->net->queue, at, NET_EVENT_FLOW_SETTLE, 0, 0);
    }
}

static void flow_settle(struct flow_net *network)
{
    struct event_queue *queue = network->net->queue;
    struct share *share = &network->share;
    if (event_queue_peek(queue) != &queue->events[0]) {
        (void)event_queue_push(queue, queue->now, NET_EVENT_FLOW_SETTLE, 0, 0);
        return;
    }
    network->settling = false;
    share_settle(share);
    network->counts.settlings++;
    network->counts.settled += share->found.count;
    network->rest_until = queue->now + flow_rest_ns(network);
    double now = (double)queue->now;
    for (uint32_t i = 0; i < share->found.count; i++) {
        uint32_t index = share->found.at[i];
        struct flow *flow = &network->flows.at[index];
        const struct share_flow *shared = &share->flows[index];
        if (!flow->sending || shared->rate == shared->before) {
            continue;
        }
        flow->left = fmax(0, flow->left - shared->before * (now - flow->since_ns));
        flow->since_ns = now;
        if (!flow->contends) {
            flow->ends_ns = shared->rate > 0 ? now + flow->left / shared->rate : INFINITY;
            flow_ends_set(network, index);
        }
    }
    wake_for_first(network);
    queue->failed |= share->failed;
    if (network->controls != NULL && !queue->failed) {
        flow_controls_look(network);
    } else if (network->judge != NULL) {
        judge_settled(network);
    }
}

static void push_step(struct flow_net *network, double at_ns, uint32_t flow, enum flow_step step)
{
    struct event_queue *queue = network->net->queue;
    uint64_t at = at_ns <= (double)queue->now ? queue->now : (uint64_t)(at_ns + (0.5 + TIME_SLACK));
    (void)event_queue_push(queue, at < queue->now ? queue->now : at, NET_EVENT_FLOW_STEP, flow, step);
}

void flow_controls_later(struct flow_net *network, uint64_t after_ns)
{
    struct event_queue *queue = network->net->queue;
    (void)event_queue_push(queue, queue->now + after_ns, NET_EVENT_FLOW_STEP, 0, FLOW_CONTROL);
}

/* All data have left the sender: the links there are free, the acknowledgements still to come keep the last rate. */
static void end_data(struct flow_net *network, uint32_t index)
{
    struct flow *flow = &network->flows.at[index];
    flow->sending = 0;
    network->sending--;
    flow_count_links(network, index, flow->packets);
    share_leave(&network->share, index, 0, flow->hops_there);
    share_hold(&network->share, index);
    if (network->judge != NULL) {
        judge_ends(network, index);
    }
    if (flow->acks_count) {
        push_step(network, flow->ends_ns + flow->tail_ns, index, FLOW_ACKS_END);
    }
    push_step(network, flow->ends_ns + flow->after_ns, index, FLOW_ARRIVES);
    flow_followed(network, index);
}

static void end_due(struct flow_net *network, uint32_t stamp)
{
    if (stamp != network->wake_stamp) {
        return;
    }
    double now = (double)network->net->queue->now + TIME_SLACK;
    network->wake_at = UINT64_MAX;
    while (network->end_count > 0 && network->flows.at[network->ends[0]].ends_ns <= now) {
        uint32_t index = network->ends[0];
        flow_ends_drop(network, index);
        end_data(network, index);
    }
    flow_settle_later(network);
    wake_for_first(network);
}

/* ---- under congestion control ---- */

/* There is one contest for all, so that those in it are no longer like others. */
void flow_take_over(struct flow_net *network, uint32_t index)
{
    if (network->flows.at[index].twins != NULL) {
        network->net->parted = true;
        network->net->queue->failed = true;
    }
    network->flows.at[index].contends = 1;
    flow_ends_drop(network, index);
}

void flow_leaves_at(struct flow_net *network, uint32_t index, uint64_t left_ns, uint64_t arrived_ns, uint64_t done_ns)
{
    struct flow *flow = &network->flows.at[index];
    flow->ends_ns = (double)left_ns;
    flow->tail_ns = (double)(arrived_ns - left_ns);
    flow->after_ns = (double)(done_ns - left_ns);
    push_step(network, flow->ends_ns, index, FLOW_LEAVES);
}

void flow_give_back(struct flow_net *network, uint32_t index, double part)
{
    struct flow *flow = &network->flows.at[index];
    double rate = network->share.flows[index].rate;
    flow->contends = 0;
    flow->left = flow->packets * part;
    flow->since_ns = (double)network->net->queue->now;
    flow->ends_ns = rate > 0 ? flow->since_ns + flow->left / rate : INFINITY;
    flow_ends_set(network, index);
    wake_for_first(network);
}

static void flow_leave(struct flow_net *network, uint32_t index)
{
    end_data(network, index);
    flow_settle_later(network);
}

/* ---- a message ---- */

/* Whoever follows another goes on at its rate, until shares are settled, so that a link is not idle between them. */
static void flow_go_on(struct flow_net *network, uint32_t index, uint32_t after)
{
    struct flow *flow = &network->flows.at[index];
    double rate = network->flows.at[after].contends ? 0 : network->share.flows[after].rate;
    network->share.flows[index].rate = rate;
    if (rate > 0) {
        flow->ends_ns = flow->since_ns + flow->left / rate;
        flow_ends_set(network, index);
    }
    if (flow->acks_count) {
        push_step(network, flow->since_ns + flow->first_ns, index, FLOW_ACKS_BEGIN);
    }
}

void flow_start(struct flow_net *network, uint32_t index, uint32_t after)
{
    struct flow *flow = &network->flows.at[index];
    flow->start_ns = network->net->queue->now;
    flow->since_ns = (double)flow->start_ns;
    flow->sending = 1;
    network->sending++;
    if (after != 0) {
        flow_go_on(network, index, after);
    }
    share_join(&network->share, index, 0, flow->hops_there);
    if (network->judge != NULL) {
        judge_starts(network, index);
    }
    flow_settle_later(network);
}

static void acks_begin(struct flow_net *network, uint32_t index)
{
    const struct flow *flow = &network->flows.at[index];
    share_join(&network->share, index, network->half, network->half + flow->hops_back);
    if (network->judge != NULL) {
        judge_acks_begin(network, index);
    }
    flow_settle_later(network);
}

static void acks_end(struct flow_net *network, uint32_t index)
{
    const struct flow *flow = &network->flows.at[index];
    share_leave(&network->share, index, network->half, network->half + flow->hops_back);
    flow_settle_later(network);
}

static void arrive(struct flow_net *network, uint32_t index)
{
    struct flow *flow = &network->flows.at[index];
    uint32_t message = flow->message;
    uint64_t alone_ns = flow_count_message(network, flow);
    if (network->machine->flow_done != NULL) {
        struct packet_flow done = {
            .src = flow->src,
            .dst = flow->dst,
            .port = flow->source_port,
            .bytes = flow->bytes,
            .start_ns = flow->start_ns,
            .duration_ns = network->net->queue->now - flow->start_ns,
            .standalone_ns = alone_ns,
        };
        network->machine->flow_done(network->machine->context, &done);
    }
    network->net->moved_bytes += (double)flow->bytes * (network->stand == NULL ? 1 : network->members);
    flows_give(&network->flows, index);
    network->net->arrived(network->net->arrived_context, message);
}

uint64_t flow_window(struct flow_net *network, const struct flow *flow)
{
    const struct packet_config *config = network->machine->config;
    if (!config->has_window || config->global_t) {
        return config->has_window ? network->largest_window : 0;
    }
    return topo_way_window(topo_routes_pair(&network->routes, flow->src, flow->dst));
}

/* Finds the way there and back and what the message takes alone; false when there is no way. */
static bool plan(struct flow_net *network, uint32_t index)
{
    struct flow *flow = &network->flows.at[index];
    const struct packet_machine *machine = network->machine;
    uint32_t half = network->half;
    uint32_t port = flow->source_port;
    struct flow_way way;
    if (!flow_way_of(network, flow, &way)) {
        return false;
    }
    const struct alone alone = way.alone;
    const uint32_t *there = way.ports;
    const uint32_t *back = way.ports + half;
    flow->hops_there = way.hops_there;
    flow->hops_back = way.hops_back;
    bool is_new = network->stand != NULL && !network->spread && port == TOPO_WAY_FIRST_PORT;
    if (is_new && (flow_has_choice(network, flow->dst, there, flow->hops_there) ||
                   flow_has_choice(network, flow->src, back, flow->hops_back))) {
        network->net->parted = true;
        network->net->queue->failed = true;
    }
    flow->packets = alone.packets;
    flow->left = alone.packets;
    flow->alone_ns = (double)alone.total_ns;
    flow->tail_ns = (double)alone.arrival_ns - alone.packets * alone.pace_ns;
    flow->after_ns = (double)alone.total_ns - alone.packets * alone.pace_ns;
    bool is_instant = alone.pace_ns <= 0; /* its packets take no time: it has a rate all the same */
    share_flow_start(&network->share, index,
                     is_instant                                     ? INSTANT_RATE
                     : alone.window_bound || network->stand != NULL ? 1 / alone.pace_ns
                                                                    : INFINITY);
    if (network->share.failed || (network->controls != NULL && !flow_controls_start(network, index))) {
        network->net->queue->failed = true;
        return false;
    }
    for (uint32_t i = 0; i < flow->hops_there; i++) {
        share_set(&network->share, index, i, flow_stands_for(network, there[i]),
                  network->data_cost[there[i]] * flow_used(network, there[i]));
    }
    double ack_waits = 0; /* one packet's time on each link: what acknowledgements may wait behind data */
    for (uint32_t i = 0; i < flow->hops_back; i++) {
        share_set(&network->share, index, half + i, flow_stands_for(network, back[i]),
                  network->ack_cost[back[i]] * alone.acks * flow_used(network, back[i]));
        ack_waits += network->data_cost[back[i]];
    }
    flow->acks = alone.acks;
    struct judge_facts facts = {
        .packets = alone.packets,
        .transmissions = alone.packets * flow->hops_there + alone.packets * alone.acks * flow->hops_back,
        .in_rounds = alone.in_rounds,
        .is_tight = alone.slack_ns + TIGHT_PART * alone.round_ns < ack_waits,
        .is_short = (flow->after_ns > SHORT_PART * alone.packets * alone.pace_ns),
    };
    if (!flow_follow(network, index)) {
        network->net->queue->failed = true;
        return false;
    }
    double starts = (double)(network->net->queue->now + machine->config->start_latency_ns);
    push_step(network, starts, index, FLOW_STARTS);
    if (network->judge != NULL) {
        judge_sent(network, index, &facts);
    }
    flow->acks_count = alone.arrival_ns > alone.first_ns;
    flow->first_ns = (double)alone.first_ns;
    if (flow->acks_count && !flow->waits) {
        push_step(network, starts + (double)alone.first_ns, index, FLOW_ACKS_BEGIN);
    }
    return true;
}

static void flow_send(struct net *net, uint32_t message, uint32_t src, uint32_t dst, uint64_t bytes, double stretch)
{
    (void)stretch; /* jitter is a delay's, and here a delay is other messages' doing */
    struct flow_net *network = net->state;
    bool is_first = network->judge != NULL && network->counts.messages == 0;
    if (is_first && !judge_begins(network) && !flow_controls_open(network)) {
        net->queue->failed = true;
    }
    uint16_t *counter = source_ports_of(&network->next_ports, src, dst);
    uint32_t index = counter == NULL ? 0 : flows_take(&network->flows, net->mem, &net->queue->failed);
    if (index == 0) {
        net->queue->failed = true;
        return;
    }
    network->flows.at[index] =
        (struct flow){.bytes = bytes, .message = message, .src = src, .dst = dst, .twins = net->twins};
    network->flows.at[index].connection = net->connection;
    network->flows.at[index].source_port = (uint16_t)(TOPO_WAY_FIRST_PORT + (*counter)++);
    network->flows.at[index].number = (uint32_t)network->counts.messages++;
    if (!plan(network, index)) {
        /* The message never arrives. */
        network->lost_src = network->lost == 0 ? src : network->lost_src;
        network->lost_dst = network->lost == 0 ? dst : network->lost_dst;
        network->lost++;
        flows_give(&network->flows, index);
    }
}

static void net_flow_flow_step(struct flow_net *network, uint32_t index, enum flow_step what)
{
    switch (what) {
    case FLOW_STARTS:
        if (network->flows.at[index].waits) {
            network->flows.at[index].is_due = 1;
        } else {
            flow_start(network, index, 0);
        }
        break;
    case FLOW_LEAVES:
        flow_leave(network, index);
        break;
    case FLOW_ACKS_BEGIN:
        acks_begin(network, index);
        break;
    case FLOW_ACKS_END:
        acks_end(network, index);
        break;
    case FLOW_ARRIVES:
        arrive(network, index);
        break;
    case FLOW_CONTROL:
        flow_controls_step(network);
        break;
    }
}

static uint32_t flow_handle(struct net *net, const struct event *event)
{
    struct flow_net *network = net->state;
    switch ((enum net_event_kind)event->kind) {
    case NET_EVENT_FLOW_STEP:
        net_flow_flow_step(network, event->a, (enum flow_step)event->b);
        break;
    case NET_EVENT_FLOW_ENDS:
        end_due(network, event->a);
        break;
    case NET_EVENT_FLOW_SETTLE:
        flow_settle(network);
        break;
    default:
        break;
    }
    return NET_NO_MESSAGE;
}

static uint32_t explain_lost(const struct flow_net *network, struct arena *arena, struct net_stuck *stuck,
                             uint32_t room)
{
    if (network->lost == 0 || room == 0) {
        return 0;
    }
    const char *text = arena_printf(
        arena, "no way joins host %" PRIu32 " to host %" PRIu32 ": this and %" PRIu64 " other messages cannot be sent",
        network->lost_src, network->lost_dst, network->lost - 1);
    if (text == NULL) {
        return 0;
    }
    stuck[0] = (struct net_stuck){.text = text,
                                  .fix = "join them over switches in the topology file: hosts do not forward",
                                  .ranks = {network->lost_src, network->lost_dst},
                                  .rank_count = 2};
    return 1;
}

static uint32_t flow_explain(const struct net *net, struct arena *arena, struct net_stuck *stuck, uint32_t room)
{
    const struct flow_net *network = net->state;
    uint32_t filled = explain_lost(network, arena, stuck, room);
    return filled + flow_controls_explain(network, arena, stuck + filled, room - filled);
}

static bool flow_figures(const struct net *net, struct arena *arena, struct net_figures *figures)
{
    *figures = (struct net_figures){0};
    return flow_add_figures(net->state, arena, figures);
}

const struct net_ops net_shares = {
    .name = "flow",
    .open = shares_open,
    .close = flow_close,
    .send = flow_send,
    .handle = flow_handle,
    .explain = flow_explain,
    .figures = flow_figures,
    .takes_twins = judge_takes_twins,
    .count_twins = flow_count_twins,
};

const struct net_ops net_flow = {
    .name = "flow",
    .open = flow_open,
    .close = flow_close,
    .send = flow_send,
    .handle = flow_handle,
    .explain = flow_explain,
    .figures = flow_figures,
    .instead = judge_instead,
    .doubtful = judge_doubtful,
    .takes_twins = judge_takes_twins,
    .count_twins = flow_count_twins,
    .stand_for = flow_stand_for,
};

const struct net_ops net_auto = {
    .name = "auto",
    .open = auto_open,
    .close = flow_close,
    .send = flow_send,
    .handle = flow_handle,
    .explain = flow_explain,
    .figures = flow_figures,
    .instead = judge_instead,
    .doubtful = judge_doubtful,
};
