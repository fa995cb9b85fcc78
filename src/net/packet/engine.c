/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Opening the packet network, starting messages on it, and handing its events to those who know them. The way of a
 * message is found once, when it is sent, and kept with its queue pair.
 */
#include "net/packet/forward.h"
#include "net/packet/wire.h"
#include "topo/way.h"

#include <inttypes.h>
#include <string.h>

/* ---- opening ---- */

static void set_switch_port(struct packet_net *network, struct packet_port *port)
{
    const struct packet_config *config = network->config;
    struct packet_switch *node = &network->switches[port->node];
    uint64_t nic_rate = network->ports[network->graph->port_start[0]].rate_bps;
    port->headroom = wire_headroom_bytes(port->rate_bps, port->delay_ns, config->headroom_factor);
    node->total_headroom += port->headroom;
    node->port_count++;
    port->shift = 3;
    for (uint64_t rate = port->rate_bps; rate > nic_rate && port->shift > 0; rate /= 2) {
        port->shift--;
    }
    port->mark = UINT32_MAX;
    for (uint32_t i = 0; i < config->mark_count; i++) {
        if (config->marks[i].rate_bps == port->rate_bps) {
            port->mark = i;
        }
    }
}

static uint32_t known_ns(const struct packet_net *network, uint32_t bytes, uint64_t rate_bps)
{
    uint64_t ns = packet_sending_ns(network, bytes, rate_bps);
    return ns <= UINT32_MAX ? (uint32_t)ns : 0;
}

/* The reference starts the same stream for every link that has a rate of its own; streams of one's own are numbered by
 * the seed and the link, well mixed. */
static struct mrg32k3a losses_of(const struct packet_net *network, uint64_t link)
{
    const struct packet_config *config = network->config;
    if (!config->own_losses) {
        return mrg32k3a_stream((UINT64_C(1) << 63) + 50);
    }
    uint64_t mixed = (config->loss_seed + 1) * UINT64_C(0x9e3779b97f4a7c15) + link;
    mixed = (mixed ^ mixed >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    mixed = (mixed ^ mixed >> 27) * UINT64_C(0x94d049bb133111eb);
    return mrg32k3a_stream(UINT64_C(1) << 63 | mixed >> 1);
}

void packet_port_set_rate(struct packet_net *network, struct packet_port *port, uint64_t rate_bps)
{
    port->rate_bps = rate_bps;
    port->full_ns = known_ns(network, network->full_size, rate_bps);
    port->ack_ns = known_ns(network, network->ack_size, rate_bps);
}

static void set_ports(struct packet_net *network)
{
    const struct topo_graph *graph = network->graph;
    uint32_t own_errors = 1;
    for (uint32_t i = 0; i < graph->port_count; i++) {
        const struct topo_port *from = &graph->ports[i];
        const struct topo_link *link = &graph->links[from->link];
        network->ports[i] = (struct packet_port){.rate_bps = link->rate_bps,
                                                 .delay_ns = link->delay_ns,
                                                 .node = from->node,
                                                 .peer = from->peer,
                                                 .index = from->index,
                                                 .is_switch = graph->kinds[from->node] != TOPO_NODE_HOST,
                                                 .is_nvswitch = graph->kinds[from->node] == TOPO_NODE_NVSWITCH};
        network->ports[i].ends =
            network->ports[i].is_nvswitch || (network->ports[i].is_switch && network->machine->switches_end);
        packet_port_set_rate(network, &network->ports[i], link->rate_bps);
    }
    /* Error 1 is the machine's own, shared; links with a rate of their own have one each, for both ends. */
    network->errors[1] = (struct packet_error){losses_of(network, graph->link_count), network->config->error_rate};
    for (uint32_t i = 0; i < graph->port_count; i++) {
        const struct topo_port *port = &graph->ports[i];
        const struct topo_link *link = &graph->links[port->link];
        if (link->error_rate > 0 && i < port->peer) {
            network->errors[++own_errors] = (struct packet_error){losses_of(network, port->link), link->error_rate};
            network->ports[i].error = own_errors;
            network->ports[port->peer].error = own_errors;
        } else if (link->error_rate <= 0 && network->config->error_rate > 0) {
            network->ports[i].error = 1;
        }
        if (network->ports[i].is_switch) {
            set_switch_port(network, &network->ports[i]);
        }
    }
    network->error_count = own_errors;
}

static void set_sizes(struct packet_net *network)
{
    const struct packet_config *config = network->config;
    network->data_header = wire_header_bytes(config);
    network->full_size = config->payload_bytes + network->data_header;
    network->stamps = cc_needs(config, CC_TELEMETRY | CC_ONE_NUMBER);
    network->ack_size = wire_ack_bytes(config);
    network->pause_size = wire_pause_bytes(config);
}

static enum orr_status packet_open(struct net *net, struct orr_error *err)
{
    const struct packet_machine *machine = net->machine;
    const struct topo_graph *graph = machine->graph;
    struct packet_net *network = mem_zalloc(net->mem, sizeof *network);
    if (network == NULL) {
        return mem_error(net->mem, "the network", err);
    }
    net->state = network;
    network->net = net;
    network->machine = machine;
    number_map_init(&network->last, net->mem);
    network->config = machine->config;
    network->graph = graph;
    packet_cc_open(network);
    enum orr_status status = topo_routes_init(&network->routes, graph, machine->config->payload_bytes,
                                              machine->config->parallel_links, net->mem, err);
    if (status != ORR_OK) {
        return status;
    }
    uint64_t lossy = 0;
    for (uint32_t i = 0; i < graph->link_count; i++) {
        lossy += graph->links[i].error_rate > 0 ? 1 : 0;
    }
    network->ports = mem_zalloc(net->mem, graph->port_count * sizeof *network->ports);
    network->switches = mem_zalloc(net->mem, graph->node_count * sizeof *network->switches);
    network->errors = mem_zalloc(net->mem, (graph->link_count + 2) * sizeof *network->errors);
    network->queues = mem_zalloc(net->mem, graph->port_count * sizeof *network->queues);
    if (network->queues == NULL || network->ports == NULL || network->switches == NULL || network->errors == NULL ||
        !source_ports_init(&network->next_ports, graph->node_count, net->mem) ||
        !packets_init(&network->packets, net->mem) || !telemetries_init(&network->telemetries, net->mem) ||
        !pairs_init(&network->pairs, net->mem)) {
        return mem_error(net->mem, "the network", err);
    }
    bool wants_pairs = machine->config->global_t || cc_needs(machine->config, CC_ONE_NUMBER);
    network->way_room = 2 * topo_way_most(&network->routes);
    if (network->way_room == 0 || !packet_routes_open(network) ||
        (wants_pairs && !topo_way_extremes(&network->routes, &network->max_rtt_ns, &network->max_bdp))) {
        return mem_error(net->mem, "the network", err);
    }
    set_sizes(network);
    set_ports(network);
    if (machine->queue_seen != NULL) {
        (void)event_queue_push(net->queue, machine->sample_start_ns, NET_EVENT_PACKET_SAMPLE, 0, 0);
    }
    c_random_init(&network->random);
    mrg32k3a_streams_init(&network->streams, 9 * (uint64_t)graph->node_count + 2 + 2 * lossy);
    packet_forward_open(network);
    return ORR_OK;
}

static void packet_close(struct net *net)
{
    struct packet_net *network = net->state;
    if (network == NULL) {
        return;
    }
    const struct topo_graph *graph = network->graph;
    for (uint32_t i = 0; network->ports != NULL && i < graph->port_count; i++) {
        struct packet_port *port = &network->ports[i];
        packet_turns_free(network, &port->turns);
        mem_free(net->mem, port->wanting, port->wanting_capacity * sizeof *port->wanting);
    }
    for (uint32_t i = 1; network->any_order && i < network->pairs.room.used; i++) {
        packet_early_free(network, &network->pairs.at[i]);
    }
    packet_forward_close(network);
    packet_routes_close(network);
    mem_free(net->mem, network->ports, graph->port_count * sizeof *network->ports);
    mem_free(net->mem, network->queues, graph->port_count * sizeof *network->queues);
    mem_free(net->mem, network->switches, graph->node_count * sizeof *network->switches);
    mem_free(net->mem, network->errors, (graph->link_count + 2) * sizeof *network->errors);
    source_ports_free(&network->next_ports);
    number_map_free(&network->last);
    mem_free(net->mem, network->ways, (size_t)network->way_capacity * sizeof *network->ways);
    mem_free(net->mem, network->starting, (size_t)network->starting_capacity * sizeof *network->starting);
    packet_cc_free(network);
    packets_free(&network->packets, net->mem);
    telemetries_free(&network->telemetries, net->mem);
    pairs_free(&network->pairs, net->mem);
    topo_routes_free(&network->routes);
    mem_free(net->mem, network, sizeof *network);
}

/* ---- sending ---- */

static bool way_slot(struct packet_net *network, uint32_t pair)
{
    return mem_reserve(network->net->mem, (void **)&network->ways, &network->way_capacity,
                       ((uint64_t)pair + 1) * network->way_room, sizeof *network->ways);
}

static void set_window(struct packet_net *network, struct packet_pair *pair)
{
    const struct packet_config *config = network->config;
    const struct topo_pair *way = topo_routes_pair(&network->routes, pair->src, pair->dst);
    uint64_t rtt = topo_way_round_trip_ns(way);
    uint64_t bdp = topo_way_window(way);
    pair->base_rtt_ns = config->global_t ? network->max_rtt_ns : rtt;
    pair->base_rtt_ns += pair->base_rtt_ns == 0 ? 1 : 0; /* controls divide by it */
    bool at_switch = network->graph->kinds[pair->src] != TOPO_NODE_HOST ||
                     network->graph->kinds[pair->dst] != TOPO_NODE_HOST; /* the reference knows no window there */
    pair->window = !config->has_window ? 0 : config->global_t ? network->max_bdp : at_switch ? 0 : bdp;
}

/* The message never arrives; the stall report says why. */
static void keep_unsent(struct packet_net *network, const struct packet_pair *pair, bool too_long)
{
    uint64_t count = network->unroutable + network->too_long;
    if (count < PACKET_UNSENT_KEPT) {
        network->unsent[count] = (struct packet_unsent){.size = pair->size, .src = pair->src, .dst = pair->dst};
    }
    *(too_long ? &network->too_long : &network->unroutable) += 1;
}

static bool is_too_long(const struct packet_net *network, const struct packet_pair *pair)
{
    return network->config->int_sizes && pair->size > INT32_MAX;
}

/* The ways there and back, or the first port alone where each hop decides. */
static bool find_ways(struct packet_net *network, uint32_t index)
{
    struct packet_pair *pair = &network->pairs.at[index];
    if (network->hop_by_hop) {
        const struct packet there = {.kind = PACKET_DATA, .pair = index};
        const struct packet back = {.kind = PACKET_ACK, .pair = index};
        pair->port = packet_route(network, pair->src, &there);
        return pair->port != UINT32_MAX && packet_route(network, pair->dst, &back) != UINT32_MAX;
    }
    uint32_t *way = network->ways + pair->way;
    uint32_t room = network->way_room / 2;
    struct topo_routes *routes = &network->routes;
    pair->hops_there = topo_way_find(routes, pair->src, pair->dst, pair->source_port, PACKET_DATA_PORT, way, room);
    pair->hops_back =
        topo_way_find(routes, pair->dst, pair->src, PACKET_DATA_PORT, pair->source_port, way + room, room);
    pair->port = way[0];
    return pair->hops_there > 0 && pair->hops_back > 0;
}

/* A pair that knows who it joins and not how; 0 when memory is refused. */
static uint32_t take_pair(struct packet_net *network, uint32_t message, uint32_t src, uint32_t dst, uint64_t bytes,
                          uint16_t source_port)
{
    struct net *net = network->net;
    uint32_t index = pairs_take(&network->pairs, net->mem, &net->queue->failed);
    struct packet_pair *pair = &network->pairs.at[index];
    uint32_t stamp = pair->stamp;
    if (index == 0 || !way_slot(network, index)) {
        net->queue->failed = true;
        return 0;
    }
    *pair = (struct packet_pair){.size = bytes, .message = message, .src = src, .dst = dst, .stamp = stamp};
    pair->source_port = source_port;
    pair->way = index * network->way_room;
    return index;
}

/* Ways, rate, window and credit; false when there is no way, or none for a message of this length. */
static bool set_course(struct packet_net *network, uint32_t index)
{
    const struct packet_config *config = network->config;
    struct packet_pair *pair = &network->pairs.at[index];
    if (!find_ways(network, index) || is_too_long(network, pair)) {
        return false;
    }
    pair->max_rate_bps = network->graph->links[network->graph->ports[pair->port].link].rate_bps;
    pair->rate_bps = pair->max_rate_bps;
    set_window(network, pair);
    uint64_t unasked = pair->window > config->payload_bytes ? pair->window : config->payload_bytes;
    pair->credit = network->law->is_by_receiver ? unasked : UINT64_MAX;
    pair->granted = pair->credit;
    return true;
}

static void give_up(struct packet_net *network, uint32_t index)
{
    const struct packet_pair *pair = &network->pairs.at[index];
    keep_unsent(network, pair, is_too_long(network, pair));
    packet_pair_left(network, index);
    pairs_give(&network->pairs, index);
}

uint64_t packet_next_change(const struct packet_net *network)
{
    uint64_t next = UINT64_MAX;
    for (uint32_t i = 0; i < network->config->link_change_count; i++) {
        uint64_t at = network->config->link_changes[i].time_ns;
        next = at > network->net->queue->now && at < next ? at : next;
    }
    return next;
}

enum { START_POSTED, START_AT_ONCE, START_WHEN_LINKS_CHANGE, START_KEPT };

/* Sets the pair off, now or when a link's change may have opened a way. The reference makes it two events later, at the
 * same time. */
static void set_out(struct packet_net *network, uint32_t index)
{
    struct event_queue *queue = network->net->queue;
    if (set_course(network, index)) {
        (void)event_queue_push(queue, queue->now + network->config->start_latency_ns, NET_EVENT_PACKET_START, index,
                               START_POSTED);
        return;
    }
    uint64_t later = is_too_long(network, &network->pairs.at[index]) ? UINT64_MAX : packet_next_change(network);
    if (later == UINT64_MAX) {
        give_up(network, index);
    } else {
        (void)event_queue_push(queue, later, NET_EVENT_PACKET_START, index, START_WHEN_LINKS_CHANGE);
    }
}

/* A queue pair of NCCL's sends one message after the other: here each message is one, which waits for the last of its
 * connection. */
static bool packet_follow(struct packet_net *network, uint32_t index)
{
    struct packet_pair *pair = &network->pairs.at[index];
    pair->connection = network->net->connection;
    if (pair->connection == 0) {
        return true;
    }
    uint32_t *last =
        number_map_at(&network->last, pair->connection, (int64_t)((uint64_t)pair->src << 32 | (uint64_t)pair->dst));
    if (last == NULL) {
        return false;
    }
    struct packet_pair *before = &network->pairs.at[*last]; /* a place that another message may have by now */
    pair->waits = *last != 0 && *last != index && before->connection == pair->connection && before->src == pair->src &&
                  before->dst == pair->dst && !before->has_left;
    if (pair->waits) {
        before->follower = index;
    }
    *last = index;
    return true;
}

void packet_pair_left(struct packet_net *network, uint32_t index)
{
    struct packet_pair *pair = &network->pairs.at[index];
    struct event_queue *queue = network->net->queue;
    pair->has_left = 1;
    if (pair->follower != 0) {
        struct packet_pair *next = &network->pairs.at[pair->follower];
        next->waits = 0;
        if (next->is_due) {
            (void)event_queue_push(queue, queue->now, NET_EVENT_PACKET_START, pair->follower, START_AT_ONCE);
        }
    }
}

static void packet_send(struct net *net, uint32_t message, uint32_t src, uint32_t dst, uint64_t bytes, double stretch)
{
    (void)stretch; /* jitter comes from the packets themselves */
    struct packet_net *network = net->state;
    uint16_t *counter = source_ports_of(&network->next_ports, src, dst);
    if (counter == NULL) {
        net->queue->failed = true;
        return;
    }
    uint32_t index = take_pair(network, message, src, dst, bytes, (uint16_t)(PACKET_FIRST_PORT + *counter));
    if (index != 0) {
        (*counter)++;
        net->queue->failed |= !packet_follow(network, index);
        set_out(network, index);
    }
}

/* Kept until all of this time are known. */
static void keep_starting(struct packet_net *network, uint32_t pair)
{
    struct event_queue *queue = network->net->queue;
    if (!mem_reserve(network->net->mem, (void **)&network->starting, &network->starting_capacity,
                     (uint64_t)network->starting_count + 1, sizeof *network->starting)) {
        queue->failed = true;
        return;
    }
    if (network->starting_count == 0) {
        (void)event_queue_push(queue, queue->now, NET_EVENT_PACKET_START, 0, START_KEPT);
    }
    network->starting[network->starting_count++] = pair;
}

/* One source after the other, each one's newest pair first. */
static void start_kept(struct packet_net *network)
{
    uint32_t count = network->starting_count;
    network->starting_count = 0;
    for (uint32_t first = 0, end = 0; first < count; first = end) {
        uint32_t src = network->pairs.at[network->starting[first]].src;
        for (end = first + 1; end < count && network->pairs.at[network->starting[end]].src == src; end++) {
        }
        for (uint32_t i = end; i-- > first;) {
            packet_pair_start(network, network->starting[i]);
        }
    }
}

static void packet_engine_start(struct packet_net *network, uint32_t pair, uint32_t how)
{
    struct event_queue *queue = network->net->queue;
    if (how == START_WHEN_LINKS_CHANGE) {
        set_out(network, pair);
    } else if (how == START_KEPT) {
        start_kept(network);
    } else if (network->config->newest_first) {
        keep_starting(network, pair);
    } else if (how == START_POSTED) {
        (void)event_queue_push(queue, queue->now, NET_EVENT_PACKET_START, pair, START_AT_ONCE);
    } else {
        network->pairs.at[pair].is_due = 1;
        if (!network->pairs.at[pair].waits) {
            packet_pair_start(network, pair);
        }
    }
}

/* In a large network most of what an event looks at has left the cache since it was looked at last. The next event of
 * the same time is known beforehand: its packet is fetched while this one is worked off. Without always_inline gcc
 * takes the function for one without effect. */
static inline __attribute__((always_inline)) void fetch_ahead(const struct packet_net *network)
{
    const struct event_queue *queue = network->net->queue;
    const struct event *next = event_queue_peek(queue);
    __builtin_prefetch(&queue->events[next->next]);
    if (next->kind == NET_EVENT_PACKET_ARRIVED) {
        __builtin_prefetch(&network->packets.at[next->b]);
    }
}

/* Events that by themselves send nothing: a rate that grows lets no packet go until something else asks its port. */
static bool can_send(uint32_t kind)
{
    return kind != NET_EVENT_PACKET_CONTROL && kind != NET_EVENT_PACKET_SAMPLE;
}

enum { TIMERS_IN_ROW = 1 << 14 };

/* Control timers set themselves again for as long as their message lives, and so for ever once it is stuck. When there
 * has been nothing else for long, it is looked whether anything else is to come at all; if not, the timers end, the
 * queue runs dry and the stall is seen. */
static void count_timer(struct packet_net *network)
{
    if (++network->timers_in_row >= TIMERS_IN_ROW) {
        network->timers_in_row = 0;
        network->at_rest = !event_queue_any(network->net->queue, can_send);
    }
}

static uint32_t packet_handle(struct net *net, const struct event *event)
{
    struct packet_net *network = net->state;
    fetch_ahead(network);
    if (__builtin_expect(network->is_livelocked, 0)) {
        return NET_NO_MESSAGE; /* so that the queue runs dry and the stall is seen */
    }
    switch ((enum net_event_kind)event->kind) {
    case NET_EVENT_PACKET_SENT:
        network->timers_in_row = 0;
        packet_port_free(network, event->a);
        if (__builtin_expect(event->a == network->forward_anchor, 0)) {
            packet_forward_step(network);
        }
        break;
    case NET_EVENT_PACKET_ARRIVED:
        packet_receive(network, event->a, event->b);
        break;
    case NET_EVENT_PACKET_TIMER:
        packet_nic_timer(network, event->a, event->b);
        break;
    case NET_EVENT_PACKET_RESUME:
        (event->b == 0 ? packet_nic_resume : packet_pause_expired)(network, event->a);
        break;
    case NET_EVENT_PACKET_SAMPLE:
        count_timer(network);
        if (!network->at_rest) {
            packet_sample(network);
        }
        break;
    case NET_EVENT_PACKET_LINK:
        packet_link_change(network, event->a);
        break;
    case NET_EVENT_PACKET_CREDIT:
        packet_credit_give(network, event->a);
        break;
    case NET_EVENT_PACKET_TIMEOUT:
        packet_pair_timeout(network, event->a, event->b);
        break;
    case NET_EVENT_PACKET_START:
        packet_engine_start(network, event->a, event->b);
        break;
    case NET_EVENT_PACKET_CONTROL:
        count_timer(network);
        if (!network->at_rest) {
            packet_cc_timer(network, event->a, event->b);
        }
        break;
    default:
        break;
    }
    if (__builtin_expect(--network->forward_wait == 0, 0)) {
        packet_forward_look(network);
    }
    return NET_NO_MESSAGE;
}

const struct net_ops net_packet = {
    .name = "packet",
    .open = packet_open,
    .close = packet_close,
    .send = packet_send,
    .handle = packet_handle,
    .explain = packet_explain,
    .figures = packet_figures,
};

const struct packet_counts *packet_counts(const struct net *net)
{
    const struct packet_net *network = net->state;
    return &network->counts;
}
