/* SPDX-License-Identifier: Apache-2.0 */
/* What went over the links as fluid, and what messages took, for reports. Queues, marks and the like are of packets. */
#include "base/arena.h"
#include "net/flow/engine.h"
#include "net/packet/wire.h"

/* What one message puts on each of its ports: there, then back. */
struct load {
    struct flow_carried there, back; /* busy in multiples of the port's own cost */
};

static void add_way(struct flow_net *network, const uint32_t *ways, const struct flow *flow, const struct load *load)
{
    for (uint32_t i = 0; i < flow->hops_there; i++) {
        network->carried[ways[i]].bytes += load->there.bytes;
        network->carried[ways[i]].busy_ns += load->there.busy_ns * network->data_cost[ways[i]];
    }
    for (uint32_t i = network->half; i < network->half + flow->hops_back; i++) {
        network->carried[ways[i]].bytes += load->back.bytes;
        network->carried[ways[i]].busy_ns += load->back.busy_ns * network->ack_cost[ways[i]];
    }
}

/* The ways of a message that is like this one; of several, those it would have taken itself. */
static void twin_ways(struct flow_net *network, const struct flow *flow, uint32_t index, uint32_t twin, bool has_choice)
{
    const struct share_use *uses = share_uses(&network->share, index);
    const uint32_t *ports = flow->twins->ports[twin];
    const uint32_t *place = flow->twins->place;
    const struct topo_port *graph_ports = network->machine->graph->ports;
    uint32_t half = network->half;
    for (uint32_t i = 0; i < flow->hops_there; i++) {
        network->way[i] = ports[place[uses[i].link]];
    }
    for (uint32_t i = half; i < half + flow->hops_back; i++) {
        network->way[i] = ports[place[uses[i].link]];
    }
    if (has_choice) {
        uint32_t src = graph_ports[network->way[0]].node;
        uint32_t dst = graph_ports[network->way[half]].node;
        (void)topo_way_find(&network->routes, src, dst, flow->source_port, TOPO_WAY_DATA_PORT, network->way, half);
        (void)topo_way_find(&network->routes, dst, src, TOPO_WAY_DATA_PORT, flow->source_port, network->way + half,
                            half);
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
    for (uint32_t twin = 0; flow->twins != NULL && twin < flow->twins->count; twin++) {
        twin_ways(network, flow, index, twin, has_choice);
        add_way(network, network->way, flow, &load);
    }
}

uint64_t flow_count_message(struct flow_net *network, const struct flow *flow)
{
    const struct topo_pair *pair = topo_routes_pair(&network->routes, flow->src, flow->dst);
    uint64_t alone =
        wire_standalone_ns(network->machine->config, topo_way_round_trip_ns(pair), pair->rate_bps, flow->bytes);
    uint64_t duration = network->net->queue->now - flow->start_ns;
    uint64_t times = UINT64_C(1) + (flow->twins == NULL ? 0 : flow->twins->count);
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
        links[i].bytes += (uint64_t)(network->carried[i].bytes + 0.5);
        links[i].busy_ns += (uint64_t)(network->carried[i].busy_ns + 0.5);
    }
    figures->links = links;
    figures->link_count = graph->port_count;
    figures->flows = network->durations.total;
    figures->duration_ns = flow_figures_spread_of(&network->durations);
    figures->slowdown_permille = flow_figures_spread_of(&network->slowdowns);
    return true;
}
