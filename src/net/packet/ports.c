/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Packets over links and through switches. A transmission is two events, the port's next idle moment and the arrival at
 * the peer, pushed in that order; everything else happens within an event. The order of the few steps inside an arrival
 * and a departure follows the reference (spec packet A4, A8), because with equal times it shows.
 */
#include <string.h>

#include "net/packet/buffer.h"
#include "net/packet/wire.h"

enum { PAUSE_MOST_NS = 335000 }; /* what a pause frame can ask for at most, at 100 Gbit/s */

uint64_t packet_sending_ns(const struct packet_net *network, uint64_t bytes, uint64_t rate_bps)
{
    return wire_sending_ns(network->config, bytes, rate_bps);
}

uint32_t packet_new(struct packet_net *network)
{
    uint32_t index = packets_take(&network->packets, network->net->mem, &network->net->queue->failed);
    network->packets.at[index] = (struct packet){0};
    network->in_flight_most = index > network->in_flight_most ? index : network->in_flight_most;
    return index;
}

void packet_tag(struct packet_net *network, uint32_t packet_index)
{
    struct packet *packet = &network->packets.at[packet_index];
    if ((network->law->needs & CC_TELEMETRY) != 0) {
        uint32_t taken = telemetries_take(&network->telemetries, network->net->mem, &network->net->queue->failed);
        memset(&network->telemetries.at[taken], 0, sizeof network->telemetries.at[taken]);
        packet->telemetry = taken;
    } else if ((network->law->needs & CC_ONE_NUMBER) == 0) {
        packet->sent_at = (uint32_t)network->net->queue->now;
    }
}

void packet_drop(struct packet_net *network, uint32_t packet)
{
    struct packet *gone = &network->packets.at[packet];
    if (gone->telemetry != 0 && (network->law->needs & CC_TELEMETRY) != 0) {
        telemetries_give(&network->telemetries, gone->telemetry);
        gone->telemetry = 0;
    }
    if (gone->kind < PACKET_PAUSE) {
        packet_pair_release(network, gone->pair);
    }
    packets_give(&network->packets, packet);
}

void packet_transmit(struct packet_net *network, uint32_t port_index, uint32_t packet)
{
    struct packet_port *port = &network->ports[port_index];
    struct event_queue *queue = network->net->queue;
    uint32_t size = network->packets.at[packet].size;
    uint64_t sending = packet_port_sending_ns(network, port, size);
    port->busy = 1;
    port->busy_ns += sending;
    port->data_bytes += size;
    network->counts.transmissions++;
    (void)event_queue_push(queue, queue->now + sending, NET_EVENT_PACKET_SENT, port_index, 0);
    (void)event_queue_push(queue, queue->now + sending + port->delay_ns, NET_EVENT_PACKET_ARRIVED, port->peer, packet);
}

/* ---- switches ---- */

/* A pause or resume frame to the peer of an ingress port; it overtakes everything but the packet being sent. */
static __attribute__((noinline)) void send_pause(struct packet_net *network, uint32_t port_index, enum packet_kind kind)
{
    uint32_t packet = packet_new(network);
    struct packet *frame = &network->packets.at[packet];
    struct packet_port *port = &network->ports[port_index];
    frame->kind = (uint32_t)kind & PACKET_KIND_MOST;
    frame->pair = PACKET_CLASS;
    frame->size = network->pause_size & PACKET_SIZE_MOST;
    mrg32k3a_streams_skip(&network->streams); /* the reference draws the frame's identification */
    packet_line_add(network, &port->high, packet);
    port->high_bytes += frame->size;
    if (kind == PACKET_PAUSE) {
        network->counts.pauses++;
        port->pause_count++;
    } else {
        network->counts.resumes++;
    }
    packet_port_go(network, port_index);
}

static __attribute__((noinline)) bool is_drawn(struct packet_net *network, const struct packet_mark *rule,
                                               double queued)
{
    double probability = rule->pmax * (queued - rule->kmin_bytes) / (rule->kmax_bytes - rule->kmin_bytes);
    struct mrg32k3a random = mrg32k3a_streams_take(&network->streams);
    return mrg32k3a_uniform(&random) < probability;
}

static void mark(struct packet_net *network, struct packet_port *port, struct packet *packet)
{
    static const struct packet_mark none = {0}; /* a rate no map has: all that waits is marked, as in the reference */
    if (!network->config->enable_qcn || port->is_nvswitch) {
        return;
    }
    const struct packet_mark *rule = port->mark == UINT32_MAX ? &none : &network->config->marks[port->mark];
    double queued = (double)port->low_bytes;
    bool marks = queued > rule->kmax_bytes;
    if (!marks && queued > rule->kmin_bytes) {
        marks = is_drawn(network, rule, queued);
    }
    /* An acknowledgement carries its data packet's mark; its own would have no effect. */
    if (marks && packet->kind == PACKET_DATA) {
        packet->marked = 1;
        port->mark_count++;
        network->counts.marks++;
    }
}

/* A packet of class 3 leaves the queue: its place is free, it may be marked, and its sender's peer may go on. */
static void leave_queue(struct packet_net *network, uint32_t port_index, uint32_t packet)
{
    struct packet_port *port = &network->ports[port_index];
    struct packet *leaving = &network->packets.at[packet];
    uint32_t came_by = leaving->came_by;
    struct packet_port *ingress = &network->ports[came_by];
    buffer_remove(network, ingress, leaving->size);
    port->low_bytes -= leaving->size;
    mark(network, port, leaving);
    if (buffer_may_resume(network, ingress)) {
        ingress->peer_paused = 0;
        send_pause(network, came_by, PACKET_RESUME);
    }
}

/* What starts at this switch, which takes turns with what passes through it; whether there was any. */
static bool own_goes(struct packet_net *network, uint32_t port_index)
{
    network->ports[port_index].own_turn = 0;
    packet_nic_go(network, port_index);
    return network->ports[port_index].busy != 0;
}

static void switch_go(struct packet_net *network, uint32_t port_index)
{
    struct packet_port *port = &network->ports[port_index];
    uint32_t packet;
    if (port->is_nvswitch && (port->high.head != 0 || port->low.head == 0)) {
        packet_nic_go(network, port_index); /* what starts or is answered here */
        return;
    }
    if (port->high.head != 0) {
        packet = packet_line_take(network, &port->high);
        bool is_pause = network->packets.at[packet].kind >= PACKET_PAUSE; /* else an answer to what ended here */
        port->high_bytes -= is_pause ? network->packets.at[packet].size : 0;
    } else if (port->ends && (port->low.head == 0 || port->own_turn) && own_goes(network, port_index)) {
        return;
    } else if (port->low.head != 0 && (port->paused & (1u << PACKET_CLASS)) == 0) {
        packet = packet_line_take(network, &port->low);
        leave_queue(network, port_index, packet);
        port->own_turn = port->ends && !port->is_nvswitch;
    } else {
        return;
    }
    if (network->stamps && !port->is_nvswitch) {
        packet_cc_stamp(network, port_index, packet);
    }
    packet_transmit(network, port_index, packet);
}

/* The port a packet leaves the switch by; UINT32_MAX when there is none any more. */
static uint32_t next_port(struct packet_net *network, uint32_t node, struct packet *packet)
{
    if (network->hop_by_hop) {
        return packet_route(network, node, packet);
    }
    return network->ways[packet->way++];
}

static void switch_receive(struct packet_net *network, uint32_t port_index, uint32_t packet)
{
    struct packet *arrived = &network->packets.at[packet];
    struct packet_port *ingress = &network->ports[port_index];
    uint32_t out = next_port(network, ingress->node, arrived);
    if (out == UINT32_MAX) {
        network->counts.drops++;
        packet_drop(network, packet);
        return;
    }
    if (!buffer_admits(network, ingress, arrived->size)) {
        network->counts.drops++;
        network->ports[out].drop_count++;
        packet_drop(network, packet);
        return;
    }
    buffer_add(network, ingress, arrived->size);
    arrived->came_by = port_index;
    if (!ingress->is_nvswitch && buffer_must_pause(network, ingress)) {
        ingress->peer_paused = 1;
        send_pause(network, port_index, PACKET_PAUSE);
    }
    struct packet_port *egress = &network->ports[out];
    packet_line_add(network, &egress->low, packet);
    histogram_coarse_add(&network->queues[out], egress->low_bytes);
    egress->low_bytes += network->packets.at[packet].size;
    egress->queue_most = egress->low_bytes > egress->queue_most ? egress->low_bytes : egress->queue_most;
    packet_port_go(network, out);
}

/* ---- both ---- */

void packet_port_go(struct packet_net *network, uint32_t port_index)
{
    const struct packet_port *port = &network->ports[port_index];
    if (port->busy) {
        return;
    }
    if (port->is_switch) {
        switch_go(network, port_index);
    } else {
        packet_nic_go(network, port_index);
    }
}

void packet_port_free(struct packet_net *network, uint32_t port_index)
{
    network->ports[port_index].busy = 0;
    packet_port_go(network, port_index);
}

/* Whether the link lost it. Everything can be lost, pause frames too (spec packet A7). */
static bool packet_ports_is_lost(struct packet_net *network, const struct packet_port *port)
{
    if (__builtin_expect(port->is_down, 0)) {
        return true;
    }
    if (port->error == 0) {
        return false;
    }
    struct packet_error *error = &network->errors[port->error];
    return mrg32k3a_uniform(&error->random) < error->rate;
}

static void pause_received(struct packet_net *network, uint32_t port_index, uint32_t packet)
{
    struct packet_port *port = &network->ports[port_index];
    bool pause = network->packets.at[packet].kind == PACKET_PAUSE;
    uint8_t class_bit = (uint8_t)(1u << network->packets.at[packet].pair);
    packet_drop(network, packet);
    if (!network->config->pfc_enabled) {
        return;
    }
    if (network->machine->pause_seen != NULL) {
        network->machine->pause_seen(network->machine->context, network->net->queue->now, port->node,
                                     port->is_switch != 0, port->index, pause);
    }
    if (pause) {
        port->paused |= class_bit;
    } else {
        port->paused &= (uint8_t)~class_bit;
        packet_port_go(network, port_index);
    }
}

/* A pause that nobody renews ends by itself, unless the peer has asked anew. */
void packet_pause_expired(struct packet_net *network, uint32_t port_index)
{
    struct packet_port *port = &network->ports[port_index];
    if (!network->ports[port->peer].peer_paused) {
        port->paused = 0;
        packet_port_go(network, port_index);
    }
}

/* Whether it was sent to this node, where that is a switch. */
static bool ends_here(const struct packet_net *network, const struct packet_port *port, uint32_t packet)
{
    const struct packet *arrived = &network->packets.at[packet];
    const struct packet_pair *pair = &network->pairs.at[arrived->pair];
    return port->ends && (arrived->kind == PACKET_DATA ? pair->dst : pair->src) == port->node;
}

void packet_receive(struct packet_net *network, uint32_t port_index, uint32_t packet)
{
    const struct packet_port *port = &network->ports[port_index];
    if (packet_ports_is_lost(network, port)) {
        network->counts.losses++;
        network->ports[port_index].loss_count++;
        if (network->packets.at[packet].kind == PACKET_RESUME && network->config->timeouts) {
            struct event_queue *queue = network->net->queue;
            (void)event_queue_push(queue, queue->now + PAUSE_MOST_NS, NET_EVENT_PACKET_RESUME, port_index, 1);
        }
        packet_drop(network, packet);
    } else if (network->packets.at[packet].kind >= PACKET_PAUSE) {
        pause_received(network, port_index, packet);
    } else if (port->is_switch && !ends_here(network, port, packet)) {
        switch_receive(network, port_index, packet);
    } else {
        packet_nic_receive(network, port_index, packet);
    }
}
