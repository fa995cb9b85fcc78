/*
 * The packets on their way are those whose acknowledgements are not back yet, so a round trip's worth. Each is put at
 * the next node it reaches, at the time it gets there if nobody is in its way; the link it is on is not marked busy,
 * which is wrong by less than one packet's time.
 */
#include "net/packet/adopt.h"

#include "net/packet/engine.h"

/* Where a packet is: the event that is next for it. */
struct whereabouts {
    uint64_t at_ns; /* arrival at the next node */
    uint16_t hop;   /* ports behind it by then, of the way there or back */
    bool is_ack;
    bool is_back; /* nothing is left of it */
};

static uint64_t packet_start(const struct packet_adopted *adopted, uint64_t packet)
{
    double before = (double)(adopted->packets_sent - 1 - packet) * adopted->pace_ns;
    return before >= (double)adopted->last_packet_ns ? 0 : adopted->last_packet_ns - (uint64_t)before;
}

static struct whereabouts find(const struct packet_net *network, const struct packet_pair *pair, uint64_t start_ns)
{
    uint64_t now = network->net->queue->now;
    struct whereabouts where = {.at_ns = start_ns};
    for (uint32_t i = 0; i < (uint32_t)pair->hops_there + pair->hops_back; i++) {
        where.is_ack = i >= pair->hops_there;
        where.hop = (uint16_t)(where.is_ack ? i - pair->hops_there + 1u : i + 1u);
        uint32_t place = where.is_ack ? network->way_room / 2 + i - pair->hops_there : i;
        const struct packet_port *port = &network->ports[network->ways[pair->way + place]];
        where.at_ns +=
            packet_sending_ns(network, where.is_ack ? network->ack_size : network->full_size, port->rate_bps);
        where.at_ns += port->delay_ns;
        if (where.at_ns > now) {
            return where;
        }
    }
    where.is_back = true;
    return where;
}

static void put(struct packet_net *network, uint32_t pair_index, uint64_t number, struct whereabouts where)
{
    uint32_t payload = network->config->payload_bytes;
    uint32_t index = packet_new(network);
    struct packet *packet = &network->packets.at[index];
    struct packet_pair *pair = &network->pairs.at[pair_index];
    uint32_t way = pair->way + (where.is_ack ? network->way_room / 2 : 0);
    packet->pair = pair_index;
    packet->kind = (where.is_ack ? PACKET_ACK : PACKET_DATA) & PACKET_KIND_MOST;
    packet->seq = number * payload + (where.is_ack ? payload : 0);
    packet->size = (where.is_ack ? network->ack_size : network->full_size) & PACKET_SIZE_MOST;
    packet->way = way + where.hop;
    packet_tag(network, index);
    pair->holders++;
    uint32_t peer = network->ports[network->ways[way + where.hop - 1]].peer;
    (void)event_queue_push(network->net->queue, where.at_ns, NET_EVENT_PACKET_ARRIVED, peer, index);
}

bool packet_adopt(struct net *net, const struct packet_adopted *adopted)
{
    struct packet_net *network = net->state;
    uint64_t payload = network->config->payload_bytes;
    uint32_t index =
        packet_pair_open(network, adopted->message, adopted->src, adopted->dst, adopted->bytes, adopted->source_port);
    if (index == 0) {
        return false;
    }
    struct packet_pair *pair = &network->pairs.at[index];
    uint64_t first = adopted->packets_sent; /* of those on their way */
    uint64_t arrived = 0;
    while (first > 0) {
        struct whereabouts where = find(network, pair, packet_start(adopted, first - 1));
        arrived = arrived == 0 && (where.is_ack || where.is_back) ? first : arrived;
        if (where.is_back) {
            break;
        }
        first--;
    }
    pair->sent = adopted->packets_sent * payload;
    pair->acked = first * payload;
    pair->expected = arrived * payload;
    packet_pair_start(network, index);
    network->pairs.at[index].start_ns = adopted->start_ns;
    network->counts.data_packets += adopted->packets_sent - first;
    for (uint64_t number = first; number < adopted->packets_sent; number++) {
        pair = &network->pairs.at[index];
        put(network, index, number, find(network, pair, packet_start(adopted, number)));
    }
    return true;
}
