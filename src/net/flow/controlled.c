/*
 * Which links are under congestion control, and what it lets their messages have. A link comes under control when it is
 * full and more can arrive than it carries; the messages that it holds back are its senders until they end, or until
 * one is left at its full rate. Every part of a round trip its queue and its senders take a step (control.h), and each
 * sender's part of what then leaves the queue is the ceiling of its message's share.
 */
#include <math.h>

#include "net/flow/control.h"
#include "net/flow/engine.h"
#include "net/packet/wire.h"

/* Shares are settled anew when one of them is to change by more than this. */
#define CHANGE_LEAST 0.02

enum { BUFFER_RESERVE = 4096 }; /* of every port, beside the shared buffer */

struct flow_sender {
    struct control_sender control;
    double ceiling; /* of the message alone */
    uint32_t port;  /* that it is a sender of; SHARE_NONE = of none */
};

struct flow_queue {
    struct control_queue control;
    uint32_t met;  /* number of the last step that met this port */
    double wanted; /* by those who come this way to the port of that step */
    bool active;
};

struct flow_controls {
    struct flow_queue *queues;   /* by port */
    struct flow_sender *senders; /* by flow */
    uint32_t sender_capacity;
    uint32_t steps;
    double packet;          /* bytes of a full one */
    struct share_list ways; /* in, to a port; room for all ports */
    struct mrg32k3a random;
};

bool flow_controls_open(struct flow_net *network)
{
    const struct packet_machine *machine = network->machine;
    struct mem *mem = network->net->mem;
    if (!control_matters(machine->config)) {
        return true;
    }
    network->controls = mem_zalloc(mem, sizeof *network->controls);
    if (network->controls == NULL) {
        return false;
    }
    network->controls->random = mrg32k3a_stream(1);
    network->controls->packet = (double)machine->config->payload_bytes + wire_header_bytes(machine->config);
    network->controls->queues = mem_zalloc(mem, machine->graph->port_count * sizeof *network->controls->queues);
    network->controls->ways.at = mem_zalloc(mem, machine->graph->port_count * sizeof *network->controls->ways.at);
    return network->controls->queues != NULL && network->controls->ways.at != NULL;
}

void flow_controls_close(struct flow_net *network)
{
    struct flow_controls *controls = network->controls;
    struct mem *mem = network->net->mem;
    if (controls != NULL) {
        mem_free(mem, controls->queues, network->machine->graph->port_count * sizeof *controls->queues);
        mem_free(mem, controls->ways.at, network->machine->graph->port_count * sizeof *controls->ways.at);
        mem_free(mem, controls->senders, (size_t)controls->sender_capacity * sizeof *controls->senders);
        mem_free(mem, controls, sizeof *controls);
    }
}

bool flow_controls_start(struct flow_net *network, uint32_t flow)
{
    struct flow_controls *controls = network->controls;
    if (!mem_reserve(network->net->mem, (void **)&controls->senders, &controls->sender_capacity, (uint64_t)flow + 1,
                     sizeof *controls->senders)) {
        return false;
    }
    controls->senders[flow].port = SHARE_NONE;
    controls->senders[flow].ceiling = network->share.flows[flow].ceiling;
    return true;
}

static double bytes_a_ns(const struct flow_net *network, uint32_t port)
{
    const struct topo_graph *graph = network->machine->graph;
    return (double)graph->links[graph->ports[port].link].rate_bps / 8e9;
}

static uint32_t flow_of(const struct flow_net *network, uint32_t use)
{
    return use / network->share.room;
}

/* Data that have crossed another link before: at its own host's port a message waits in no queue. */
static bool is_data(const struct flow_net *network, uint32_t use)
{
    uint32_t hop = use % network->share.room;
    return hop > 0 && hop < network->half && network->flows.at[flow_of(network, use)].sending;
}

/* A message that this port holds back becomes one of its senders. */
static void claim(struct flow_net *network, uint32_t port, uint32_t flow_index)
{
    const struct flow *flow = &network->flows.at[flow_index];
    struct flow_sender *sender = &network->controls->senders[flow_index];
    const struct topo_pair *pair = topo_routes_pair(&network->routes, flow->src, flow->dst);
    uint64_t round_trip = network->machine->config->global_t ? network->longest_rtt_ns
                          : pair == NULL                     ? 0
                                                             : topo_way_round_trip_ns(pair);
    sender->port = port;
    sender->control.line = bytes_a_ns(network, share_uses(&network->share, flow_index)[0].link);
    sender->control.window = (double)flow_window(network, flow);
    sender->control.round_trip = fmax(1, (double)round_trip);
    sender->control.rate = -1; /* it has not started */
}

/* What of the message has not crossed its slowest link yet. */
static double bytes_left(const struct flow_net *network, uint32_t index)
{
    const struct flow *flow = &network->flows.at[index];
    double gone = network->share.flows[index].rate * ((double)network->net->queue->now - flow->since_ns);
    return fmax(0, flow->left - gone) * network->controls->packet;
}

/* Bytes that may wait for a port of a switch before its peers are paused: every way in may hold an eighth of what all
 * of them leave of the shared buffer (spec packet A8). */
static double room_of(const struct flow_net *network, uint32_t port, uint32_t ways_in)
{
    const struct packet_config *config = network->machine->config;
    const struct topo_graph *graph = network->machine->graph;
    uint32_t node = graph->ports[port].node;
    double shared = (double)config->buffer_bytes;
    for (uint32_t i = graph->port_start[node]; config->pfc_enabled && i < graph->port_start[node + 1]; i++) {
        const struct topo_link *link = &graph->links[graph->ports[i].link];
        shared -= BUFFER_RESERVE + (double)link->rate_bps / 8e9 * (double)link->delay_ns * config->headroom_factor;
    }
    return !config->pfc_enabled ? INFINITY : fmax(0, shared) * ways_in / (8.0 + ways_in) + ways_in * BUFFER_RESERVE;
}

struct tally {
    double flight, others, round_trip, switches;
    uint32_t senders, fresh, ways_in;
};

/* Who is at the port: senders, those it now holds back too, and others, who leave it that much less. */
static struct tally count(struct flow_net *network, uint32_t port)
{
    struct flow_controls *controls = network->controls;
    const struct share *share = &network->share;
    const struct share_link *link = &share->links[port];
    struct tally tally = {0};
    controls->steps++;
    for (uint32_t u = 0; u < link->count; u++) {
        uint32_t flow = flow_of(network, link->users[u]);
        const struct share_use *use = &share->uses[link->users[u]];
        struct flow_sender *sender = &controls->senders[flow];
        if (is_data(network, link->users[u]) && sender->port == SHARE_NONE && share->flows[flow].bottleneck == port) {
            claim(network, port, flow);
        }
        if (sender->port != port || !is_data(network, link->users[u])) {
            tally.others += share->flows[flow].rate * use->cost;
            continue;
        }
        uint32_t before = share->uses[link->users[u] - 1].link;
        if (controls->queues[before].met != controls->steps) {
            controls->queues[before].met = controls->steps;
            tally.ways_in++;
        }
        sender->control.left = bytes_left(network, flow);
        bool fresh = sender->control.rate < 0;
        tally.senders++;
        tally.fresh += fresh ? 1 : 0;
        tally.round_trip += sender->control.round_trip;
        tally.switches += network->flows.at[flow].hops_there - 1.0;
        tally.flight += fresh ? 0 : sender->control.flight;
    }
    return tally;
}

static void begin_senders(struct flow_net *network, uint32_t port, uint32_t senders)
{
    const struct share_link *link = &network->share.links[port];
    struct control_queue *queue = &network->controls->queues[port].control;
    for (uint32_t u = 0; u < link->count; u++) {
        struct flow_sender *sender = &network->controls->senders[flow_of(network, link->users[u])];
        if (sender->port == port && sender->control.rate < 0) {
            control_sender_start(&sender->control, queue, senders);
            queue->flight += sender->control.flight;
        }
    }
}

/* Brings the queue's account up to date; the number of its senders. */
static uint32_t describe(struct flow_net *network, uint32_t port)
{
    struct control_queue *queue = &network->controls->queues[port].control;
    struct tally tally = count(network, port);
    if (tally.senders == 0) {
        return 0;
    }
    queue->capacity = bytes_a_ns(network, port) * fmax(0.01, 1 - tally.others);
    queue->room = room_of(network, port, tally.ways_in);
    queue->room_before = queue->room * (tally.switches / tally.senders - 1);
    queue->round_trip = tally.round_trip / tally.senders;
    queue->flight = tally.flight;
    if (tally.fresh > 0) {
        begin_senders(network, port, tally.senders);
    }
    return tally.senders;
}

static void set_ceiling(struct flow_net *network, uint32_t flow, double ceiling)
{
    double before = network->share.flows[flow].ceiling;
    if (!(fabs(ceiling - before) <= CHANGE_LEAST * fmin(ceiling, before))) {
        share_set_ceiling(&network->share, flow, ceiling);
        flow_settle_later(network);
    }
}

/* What the senders of each way in would have if nothing waited, and of all together what leaves. */
static void sum_up(struct flow_net *network, uint32_t port)
{
    const struct share *share = &network->share;
    const struct share_link *link = &share->links[port];
    struct flow_controls *controls = network->controls;
    struct control_queue *queue = &controls->queues[port].control;
    queue->leaving = 0;
    controls->ways.count = 0;
    controls->steps++;
    for (uint32_t u = 0; u < link->count; u++) {
        const struct flow_sender *sender = &controls->senders[flow_of(network, link->users[u])];
        if (sender->port != port || !is_data(network, link->users[u])) {
            continue;
        }
        queue->leaving += control_sender_leaving(&sender->control, queue);
        uint32_t before = share->uses[link->users[u] - 1].link;
        struct flow_queue *way = &controls->queues[before];
        if (way->met != controls->steps) {
            way->met = controls->steps;
            way->wanted = 0;
            controls->ways.at[controls->ways.count++] = before;
        }
        way->wanted += sender->control.flight / sender->control.round_trip;
    }
}

/* What a way may have at most, so that all ways together have what the port carries. */
static double way_bound(const struct flow_controls *controls, double capacity)
{
    double bound = capacity / controls->ways.count;
    for (uint32_t round = 0; round < controls->ways.count; round++) {
        double rest = capacity;
        uint32_t above = 0;
        for (uint32_t i = 0; i < controls->ways.count; i++) {
            double wanted = controls->queues[controls->ways.at[i]].wanted;
            rest -= wanted <= bound ? wanted : 0;
            above += wanted > bound ? 1 : 0;
        }
        if (above == 0 || rest / above <= bound) {
            break;
        }
        bound = rest / above;
    }
    return bound;
}

/* Every sender takes its step, and has what leaves of its own. What waits at the port leaves in the order it came; but
 * where several senders share a way in, most of theirs waits farther back, and the port serves the ways alike. */
static void step_senders(struct flow_net *network, uint32_t port, uint32_t senders, bool all_free)
{
    const struct packet_config *config = network->machine->config;
    const struct share_link *link = &network->share.links[port];
    struct flow_controls *controls = network->controls;
    struct control_queue *queue = &controls->queues[port].control;
    sum_up(network, port);
    control_queue_step(queue);
    bool waits = queue->flight > queue->capacity * queue->round_trip; /* then the link is full */
    bool by_way = waits && senders > controls->ways.count;
    double bound = by_way  ? way_bound(controls, queue->capacity)
                   : waits ? queue->capacity / queue->leaving
                           : fmin(1, queue->capacity / queue->leaving);
    for (uint32_t u = 0; u < link->count; u++) {
        uint32_t flow = flow_of(network, link->users[u]);
        struct flow_sender *sender = &controls->senders[flow];
        if (sender->port != port || !is_data(network, link->users[u])) {
            continue;
        }
        double leaving = control_sender_leaving(&sender->control, queue) * bound;
        if (by_way) {
            double wanted = controls->queues[network->share.uses[link->users[u] - 1].link].wanted;
            leaving = sender->control.flight / sender->control.round_trip * fmin(1, bound / wanted);
        }
        control_sender_step(&sender->control, config, queue, leaving, &controls->random);
        bool bounds = !all_free && !waits;
        set_ceiling(network, flow, bounds ? fmin(sender->ceiling, leaving / queue->packet) : sender->ceiling);
        sender->port = all_free ? SHARE_NONE : port;
    }
}

static bool is_one_free(struct flow_net *network, uint32_t port, uint32_t senders)
{
    const struct share_link *link = &network->share.links[port];
    for (uint32_t u = 0; senders == 1 && u < link->count; u++) {
        const struct flow_sender *sender = &network->controls->senders[flow_of(network, link->users[u])];
        if (sender->port == port) {
            return control_sender_is_free(&sender->control, &network->controls->queues[port].control);
        }
    }
    return false;
}

void flow_controls_step(struct flow_net *network, uint32_t port)
{
    struct flow_queue *queue = &network->controls->queues[port];
    uint32_t senders = describe(network, port);
    if (senders == 0) {
        queue->active = false;
        return;
    }
    queue->active = !is_one_free(network, port, senders);
    step_senders(network, port, senders, !queue->active);
    if (queue->active) {
        flow_controls_later(network, port, (uint64_t)fmax(1, control_step_ns(&queue->control)));
    }
}

/* Whether more can come than the port carries, and so much that the control would notice. */
static bool is_met(struct flow_net *network, uint32_t port)
{
    const struct packet_config *config = network->machine->config;
    const struct share *share = &network->share;
    const struct share_link *link = &share->links[port];
    double inflow = 0, most = 0, round_trip = 0, senders = 0;
    bool bounded = config->has_window;
    network->controls->steps++;
    for (uint32_t u = 0; u < link->count; u++) {
        uint32_t flow = flow_of(network, link->users[u]);
        if (!is_data(network, link->users[u]) || share->flows[flow].bottleneck != port ||
            network->controls->senders[flow].port != SHARE_NONE) {
            continue;
        }
        const struct flow *message = &network->flows.at[flow];
        struct flow_queue *before = &network->controls->queues[share->uses[link->users[u] - 1].link];
        inflow +=
            before->met != network->controls->steps ? bytes_a_ns(network, share->uses[link->users[u] - 1].link) : 0;
        before->met = network->controls->steps;
        most += (double)flow_window(network, message);
        const struct topo_pair *pair = topo_routes_pair(&network->routes, message->src, message->dst);
        round_trip += pair == NULL ? 0 : (double)topo_way_round_trip_ns(pair);
        senders++;
    }
    double capacity = bytes_a_ns(network, port);
    if (senders < 2 || inflow <= capacity * 1.001) {
        return false;
    }
    struct control_queue *queue = &network->controls->queues[port].control;
    return config->cc_mode != PACKET_CC_DCQCN || !bounded ||
           most - capacity * round_trip / senders > queue->rule.kmin_bytes;
}

void flow_controls_look(struct flow_net *network)
{
    const struct share *share = &network->share;
    const struct topo_graph *graph = network->machine->graph;
    const struct packet_config *config = network->machine->config;
    for (uint32_t i = 0; i < share->met.count; i++) {
        uint32_t port = share->met.at[i];
        struct flow_queue *queue = &network->controls->queues[port];
        if (queue->active || !share->links[port].is_full || graph->kinds[graph->ports[port].node] == TOPO_NODE_HOST) {
            continue;
        }
        queue->control =
            (struct control_queue){.packet = (double)config->payload_bytes + wire_header_bytes(config),
                                   .rule = control_rule(config, graph->links[graph->ports[port].link].rate_bps)};
        if (is_met(network, port)) {
            queue->active = true;
            flow_controls_later(network, port, 0);
        }
    }
}
