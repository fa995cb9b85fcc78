/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Congestion control by the receiver, in the manner of UEC's credit and of NDP's pulls: a message may send one window
 * on its own account; then its receiver gives out credit, a packet's worth at a time and to all who want it in turn, as
 * fast as its own link can take the packets. So the last link is never asked for more than it has.
 */
#include "net/packet/engine.h"

static uint64_t interval_ns(const struct packet_net *network, uint32_t port)
{
    uint64_t size = (uint64_t)network->config->payload_bytes + network->data_header;
    return packet_sending_ns(network, size, network->ports[port].rate_bps);
}

static void arm(struct packet_net *network, uint32_t port_index)
{
    struct event_queue *queue = network->net->queue;
    network->ports[port_index].grants = 1;
    (void)event_queue_push(queue, queue->now + interval_ns(network, port_index), NET_EVENT_PACKET_CREDIT, port_index,
                           0);
}

void packet_credit_wanted(struct packet_net *network, uint32_t port_index, uint32_t pair_index)
{
    struct packet_port *port = &network->ports[port_index];
    struct packet_pair *pair = &network->pairs.at[pair_index];
    if (pair->wants || pair->finished || pair->granted >= pair->size) {
        return;
    }
    if (!mem_reserve(network->net->mem, (void **)&port->wanting, &port->wanting_capacity,
                     (uint64_t)port->wanting_count + 1, sizeof *port->wanting)) {
        network->net->queue->failed = true;
        return;
    }
    pair->wants = 1;
    pair->holders++; /* the list */
    port->wanting[port->wanting_count++] = pair_index;
    if (!port->grants) {
        arm(network, port_index);
    }
}

static void packet_credit_leave(struct packet_net *network, struct packet_port *port, uint32_t place)
{
    uint32_t pair = port->wanting[place];
    port->wanting_count--;
    for (uint32_t i = place; i < port->wanting_count; i++) {
        port->wanting[i] = port->wanting[i + 1];
    }
    network->pairs.at[pair].wants = 0;
    packet_pair_release(network, pair);
}

void packet_credit_give(struct packet_net *network, uint32_t port_index)
{
    struct packet_port *port = &network->ports[port_index];
    port->grants = 0;
    while (port->wanting_count > 0 &&
           network->pairs.at[port->wanting[port->last_granted % port->wanting_count]].finished) {
        packet_credit_leave(network, port, port->last_granted % port->wanting_count);
    }
    if (port->wanting_count == 0) {
        return;
    }
    uint32_t place = port->last_granted % port->wanting_count;
    uint32_t pair_index = port->wanting[place];
    uint32_t packet = packet_new(network);
    struct packet_pair *pair = &network->pairs.at[pair_index];
    struct packet *credit = &network->packets.at[packet];
    pair->granted += network->config->payload_bytes;
    pair->holders++;
    *credit = (struct packet){.kind = PACKET_CREDIT, .pair = pair_index, .seq = pair->granted};
    if (pair->granted >= pair->size) {
        packet_credit_leave(network, port, place);
        port->last_granted = place;
    } else {
        port->last_granted = place + 1;
    }
    if (port->wanting_count > 0) {
        arm(network, port_index);
    }
    packet_nic_answer(network, packet);
}
