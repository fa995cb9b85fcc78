/* SPDX-License-Identifier: Apache-2.0 */
/* What went over the links as fluid, and what messages took, for reports. Queues, marks and the like are of packets. */
#include "base/arena.h"
#include "net/flow/engine.h"
#include "net/packet/wire.h"

/* What one message puts on each of its ports: there, then back. */
struct load {
    struct net_carried there, back; /* busy in multiples of the port's own cost */
};

static void add_load(struct net_carried *sum, const struct net_carried *load, double cost)
{
    sum->bytes += load->bytes;
    sum->busy_ns += load->busy_ns * cost;
}

static struct net_carried as_used(const struct flow_net *network, uint32_t port, struct net_carried load)
{
    double used = flow_used(network, port);
    return (struct net_carried){load.bytes * used, load.busy_ns * used};
}

static void add_way(struct flow_net *network, const uint32_t *ways, const struct flow *flow, const struct load *load)
{
    for (uint32_t i = 0; i < flow->hops_there; i++) {
        struct net_carried there = as_used(network, ways[i], load->there);
        add_load(&network->carried[ways[i]], &there, network->data_cost[ways[i]]);
    }
    for (uint32_t i = network->half; i < network->half + flow->hops_back; i++) {
        struct net_carried back = as_used(network, ways[i], load->back);
        add_load(&network->carried[ways[i]], &back, network->ack_cost[ways[i]]);
    }
}

/* The ways of a message that is like this one: of several, those it would have taken itself. */
static void twin_ways(struct flow_net *network, const struct flow *flow, uint32_t index, uint32_t twin)
{
    const struct share_use *uses = share_uses(&network->share, index);
    const uint32_t *ports = flow->twins->ports[twin];
    const uint32_t *place = flow->twins->place;
    const struct topo_port *graph_ports = network->machine->graph->ports;
    uint32_t half = network->half;
    uint32_t src = graph_ports[ports[place[uses[0].link]]].node;
    uint32_t dst = graph_ports[ports[place[uses[half].link]]].node;
    (void)topo_way_find(&network->routes, src, dst, flow->source_port, TOPO_WAY_DATA_PORT, network->way, half);
    (void)topo_way_find(&network->routes, dst, src, TOPO_WAY_DATA_PORT, flow->source_port, network->way + half, half);
}

/* Where there is no choice, all twins put the same on the same places. */
static void add_places(struct flow_net *network, const struct flow *flow, const struct load *load)
{
    const uint32_t *place = flow->twins->place;
    for (uint32_t i = 0; i < flow->hops_there; i++) {
        uint32_t port = network->way[i];
        add_load(&flow->twins->carried[place[port]], &load->there, network->data_cost[port]);
    }
    for (uint32_t i = network->half; i < network->half + flow->hops_back; i++) {
        uint32_t port = network->way[i];
        add_load(&flow->twins->carried[place[port]], &load->back, network->ack_cost[port]);
    }
}

void flow_count_twins(struct net *net, struct net_twins *twins)
{
    struct flow_net *network = net->state;
    for (uint32_t i = 0; i < twins->places; i++) {
        for (uint32_t twin = 0; twin < twins->count; twin++) {
            add_load(&network->carried[twins->ports[twin][i]], &twins->carried[i], 1);
        }
        twins->carried[i] = (struct net_carried){0};
    }
}

void flow_count_links(struct flow_net *network, uint32_t index, double packets)
{
    const struct packet_config *config = network->machine->config;
    const struct flow *flow = &network->flows.at[index];
    const struct share_use *uses = share_uses(&network->share, index);
    struct load load = {.there = {packets * network->full_bytes, packets},
                        .back = {packets * flow->acks * wire_ack_bytes(config), packets * flow->acks}};
    bool has_choice = false;
    for (uint32_t i = 0; i < 2 * network->half; i++) {
        bool is_way = i < flow->hops_there || (i >= network->half && i < network->half + flow->hops_back);
        network->way[i] = uses[i].link;
        has_choice |= is_way && flow->twins != NULL && flow->twins->is_choice[uses[i].link];
    }
    add_way(network, network->way, flow, &load);
    if (flow->twins != NULL && !has_choice) {
        add_places(network, flow, &load);
    }
    for (uint32_t twin = 0; has_choice && twin < flow->twins->count; twin++) {
        twin_ways(network, flow, index, twin);
        add_way(network, network->way, flow, &load);
    }
}

uint64_t flow_count_message(struct flow_net *network, const struct flow *flow)
{
    const struct topo_pair *pair = topo_routes_pair(&network->routes, flow->src, flow->dst);
    uint64_t alone =
        wire_standalone_ns(network->machine->config, topo_way_round_trip_ns(pair), pair->rate_bps, flow->bytes);
    uint64_t duration = network->net->queue->now - flow->start_ns;
    uint64_t times =
        network->stand != NULL ? network->members : UINT64_C(1) + (flow->twins == NULL ? 0 : flow->twins->count);
    histogram_fine_add(&network->durations, duration, times);
    histogram_fine_add(&network->slowdowns, alone == 0 ? 0 : duration * 1000 / alone, times);
    return alone;
}

static struct net_spread flow_figures_spread_of(const struct histogram_fine *histogram)
{
    return (struct net_spread){.p50 = histogram_fine_at(histogram, 0.50),
                               .p95 = histogram_fine_at(histogram, 0.95),
                               .p99 = histogram_fine_at(histogram, 0.99),
                               .most = histogram->most};
}

bool flow_add_figures(const struct flow_net *network, struct arena *arena, struct net_figures *figures)
{
    const struct topo_graph *graph = network->machine->graph;
    struct net_link *links = arena_zalloc(arena, (size_t)graph->port_count * sizeof *links);
    if (links == NULL) {
        return false;
    }
    for (uint32_t i = 0; i < graph->port_count; i++) {
        const struct topo_port *port = &graph->ports[i];
        if (figures->links != NULL) {
            links[i] = figures->links[i];
        } else {
            links[i].from = port->node;
            links[i].to = graph->ports[port->peer].node;
            links[i].from_switch = graph->kinds[port->node] != TOPO_NODE_HOST;
            links[i].rate_bps = graph->links[port->link].rate_bps;
        }
        const struct net_carried *carried = &network->carried[flow_stands_for(network, i)];
        links[i].bytes += (uint64_t)(carried->bytes + 0.5);
        links[i].busy_ns += (uint64_t)(carried->busy_ns + 0.5);
    }
    figures->links = links;
    figures->link_count = graph->port_count;
    figures->graph = graph;
    figures->flows = network->durations.total;
    figures->duration_ns = flow_figures_spread_of(&network->durations);
    figures->slowdown_permille = flow_figures_spread_of(&network->slowdowns);
    return true;
}
