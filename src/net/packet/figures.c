/* SPDX-License-Identifier: Apache-2.0 */
/* What the network counted while it ran, put in order for reports once it stands still. */
#include <math.h>

#include "net/packet/engine.h"

uint64_t histogram_coarse_at(const struct histogram_coarse *histogram, double share, uint64_t most)
{
    uint64_t total = 0;
    for (uint32_t i = 0; i < HISTOGRAM_COARSE; i++) {
        total += histogram->count[i];
    }
    uint64_t wanted = (uint64_t)ceil(share * (double)total);
    uint64_t seen = 0;
    for (uint32_t i = 0; i < HISTOGRAM_COARSE; i++) {
        seen += histogram->count[i];
        if (seen >= wanted && seen > 0) {
            uint64_t value = histogram_value(i, HISTOGRAM_COARSE_BITS);
            return value < most ? value : most;
        }
    }
    return 0;
}

uint64_t histogram_fine_at(const struct histogram_fine *histogram, double share)
{
    uint64_t wanted = (uint64_t)ceil(share * (double)histogram->total);
    uint64_t seen = 0;
    for (uint32_t i = 0; i < HISTOGRAM_FINE; i++) {
        seen += histogram->count[i];
        if (seen >= wanted && seen > 0) {
            uint64_t value = histogram_value(i, HISTOGRAM_FINE_BITS);
            return value < histogram->most ? value : histogram->most;
        }
    }
    return 0;
}

void packet_flow_count(struct packet_net *network, uint64_t duration_ns, uint64_t standalone_ns)
{
    histogram_fine_add(&network->durations, duration_ns, 1);
    histogram_fine_add(&network->slowdowns, standalone_ns == 0 ? 0 : duration_ns * 1000 / standalone_ns, 1);
}

enum { SAMPLE_NS = 100, SAMPLE_LEAST_BYTES = 1000 };

/* Ends by itself when nothing else is to come: a sample must not keep a run alive that has stalled. */
void packet_sample(struct packet_net *network)
{
    struct event_queue *queue = network->net->queue;
    const struct packet_machine *machine = network->machine;
    bool more = true;
    for (uint32_t i = 0; i < network->graph->port_count && more; i++) {
        const struct packet_port *port = &network->ports[i];
        if (port->is_switch && port->low_bytes >= SAMPLE_LEAST_BYTES) {
            bool last = i + 1 == network->graph->port_start[port->node + 1];
            more = machine->queue_seen(machine->context, queue->now, port->node, port->index, port->low_bytes, last);
        }
    }
    if (more && !event_queue_is_empty(queue)) {
        (void)event_queue_push(queue, queue->now + SAMPLE_NS, NET_EVENT_PACKET_SAMPLE, 0, 0);
    }
}

static struct net_link packet_figures_link_of(const struct packet_net *network, uint32_t index)
{
    const struct packet_port *port = &network->ports[index];
    struct net_link link = {
        .from = port->node,
        .to = network->ports[port->peer].node,
        .from_switch = port->is_switch != 0,
        .rate_bps = port->rate_bps,
        .bytes = port->data_bytes,
        .busy_ns = port->busy_ns,
        .marks = port->mark_count,
        .pauses = network->ports[port->peer].pause_count, /* those the far end sent against this direction */
        .drops = port->drop_count,
        .losses = network->ports[port->peer].loss_count,
        .queue_most = port->queue_most,
    };
    if (network->queues != NULL && port->is_switch) {
        const struct histogram_coarse *queue = &network->queues[index];
        link.queue_p50 = histogram_coarse_at(queue, 0.50, port->queue_most);
        link.queue_p95 = histogram_coarse_at(queue, 0.95, port->queue_most);
        link.queue_p99 = histogram_coarse_at(queue, 0.99, port->queue_most);
    }
    return link;
}

static struct net_spread packet_figures_spread_of(const struct histogram_fine *histogram)
{
    return (struct net_spread){.p50 = histogram_fine_at(histogram, 0.50),
                               .p95 = histogram_fine_at(histogram, 0.95),
                               .p99 = histogram_fine_at(histogram, 0.99),
                               .most = histogram->most};
}

bool packet_figures(const struct net *net, struct arena *arena, struct net_figures *figures)
{
    const struct packet_net *network = net->state;
    uint32_t count = network->graph->port_count;
    struct net_link *links = arena_alloc(arena, (size_t)count * sizeof *links);
    if (links == NULL) {
        return false;
    }
    for (uint32_t i = 0; i < count; i++) {
        links[i] = packet_figures_link_of(network, i);
    }
    *figures = (struct net_figures){
        .links = links,
        .link_count = count,
        .graph = network->graph,
        .flows = network->durations.total,
        .duration_ns = packet_figures_spread_of(&network->durations),
        .slowdown_permille = packet_figures_spread_of(&network->slowdowns),
        .transmissions = network->counts.transmissions,
        .in_flight_most = network->in_flight_most,
        .data_packets = network->counts.data_packets,
        .marks = network->counts.marks,
        .pauses = network->counts.pauses,
        .drops = network->counts.drops,
        .losses = network->counts.losses,
        .timeouts = network->counts.timeouts,
        .jumps = network->counts.jumps,
        .skipped = network->counts.skipped,
    };
    return true;
}
