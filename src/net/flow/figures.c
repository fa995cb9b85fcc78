/* SPDX-License-Identifier: Apache-2.0 */
/* What went over the links as fluid, and what messages took, for reports. Queues, marks and the like are of packets. */
#include "base/arena.h"
#include "net/flow/engine.h"
#include "net/packet/wire.h"

void flow_count_links(struct flow_net *network, uint32_t index, double packets)
{
    const struct packet_config *config = network->machine->config;
    const struct flow *flow = &network->flows.at[index];
    const struct share_use *uses = share_uses(&network->share, index);
    double full_bytes = (double)config->payload_bytes + wire_header_bytes(config);
    for (uint32_t i = 0; i < flow->hops_there; i++) {
        network->carried[uses[i].link].bytes += packets * full_bytes;
        network->carried[uses[i].link].busy_ns += packets * uses[i].cost;
    }
    for (uint32_t i = network->half; i < network->half + flow->hops_back; i++) {
        network->carried[uses[i].link].bytes += packets * flow->acks * wire_ack_bytes(config);
        network->carried[uses[i].link].busy_ns += packets * uses[i].cost;
    }
}

uint64_t flow_count_message(struct flow_net *network, const struct flow *flow)
{
    const struct topo_pair *pair = topo_routes_pair(&network->routes, flow->src, flow->dst);
    uint64_t alone =
        wire_standalone_ns(network->machine->config, topo_way_round_trip_ns(pair), pair->rate_bps, flow->bytes);
    uint64_t duration = network->net->queue->now - flow->start_ns;
    histogram_fine_add(&network->durations, duration);
    histogram_fine_add(&network->slowdowns, alone == 0 ? 0 : duration * 1000 / alone);
    return alone;
}

static struct net_spread spread_of(const struct histogram_fine *histogram)
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
    figures->duration_ns = spread_of(&network->durations);
    figures->slowdown_permille = spread_of(&network->slowdowns);
    return true;
}
