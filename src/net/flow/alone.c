/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Full packets of one message never wait for each other but behind the slowest link so far, so packet p leaves link i
 * at the sum of sending times and delays up to there, plus p times the slowest of them. Only the last packet, which may
 * be short, can catch up with the one before it: those two are followed link by link. A window smaller than a round
 * trip makes the sender work in rounds of as many packets as it holds, each as long as a round trip.
 */
#include "net/flow/alone.h"

#include <math.h>

#include "net/packet/wire.h"

/* The last two packets: when each has wholly arrived at the place looked at. */
struct last_two {
    uint64_t before, last;
};

static const struct topo_link *flow_alone_link_of(const struct topo_graph *graph, uint32_t port)
{
    return &graph->links[graph->ports[port].link];
}

static uint64_t flow_alone_larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* Sending times and delays of a single packet of this size over all ports. */
static uint64_t crossing_ns(const struct topo_graph *graph, const struct packet_config *config, const uint32_t *ports,
                            uint32_t count, uint64_t bytes)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < count; i++) {
        const struct topo_link *link = flow_alone_link_of(graph, ports[i]);
        sum += wire_sending_ns(config, bytes, link->rate_bps) + link->delay_ns;
    }
    return sum;
}

static uint64_t slowest_ns(const struct topo_graph *graph, const struct packet_config *config, const uint32_t *ports,
                           uint32_t count, uint64_t bytes)
{
    uint64_t slowest = 0;
    for (uint32_t i = 0; i < count; i++) {
        slowest =
            flow_alone_larger(slowest, wire_sending_ns(config, bytes, flow_alone_link_of(graph, ports[i])->rate_bps));
    }
    return slowest;
}

/* When the sender may begin the last packet, and how the full one before it came: when its round began and how many
 * others of the round were before it. */
struct last_round {
    uint64_t begins;
    bool has_before;
    uint64_t before_begins, before_place;
};

static struct last_two arrivals(const struct topo_graph *graph, const struct packet_config *config,
                                const uint32_t *there, uint32_t hops, struct last_round round, uint64_t full_bytes,
                                uint64_t last_bytes)
{
    struct last_two at = {0, round.begins};
    uint64_t sum = 0;
    uint64_t slowest = 0;
    for (uint32_t i = 0; i < hops; i++) {
        const struct topo_link *link = flow_alone_link_of(graph, there[i]);
        uint64_t sending = wire_sending_ns(config, full_bytes, link->rate_bps);
        slowest = flow_alone_larger(slowest, sending);
        sum += sending;
        at.before = round.has_before ? round.before_begins + sum + round.before_place * slowest : 0;
        at.last = flow_alone_larger(at.before, at.last) + wire_sending_ns(config, last_bytes, link->rate_bps) +
                  link->delay_ns;
        at.before += round.has_before ? link->delay_ns : 0;
        sum += link->delay_ns;
    }
    return at;
}

/* The acknowledgements of the two, back at the sender. */
static uint64_t return_ns(const struct topo_graph *graph, const struct packet_config *config, const uint32_t *back,
                          uint32_t hops, struct last_two at)
{
    for (uint32_t i = 0; i < hops; i++) {
        const struct topo_link *link = flow_alone_link_of(graph, back[i]);
        uint64_t sending = wire_sending_ns(config, wire_ack_bytes(config), link->rate_bps);
        at.before += at.before == 0 ? 0 : sending;
        at.last = flow_alone_larger(at.before, at.last) + sending + link->delay_ns;
        at.before += at.before == 0 ? 0 : link->delay_ns;
    }
    return at.last;
}

struct alone alone_message(const struct topo_graph *graph, const struct packet_config *config, const uint32_t *there,
                           uint32_t hops_there, const uint32_t *back, uint32_t hops_back, uint64_t bytes,
                           uint64_t window)
{
    uint64_t payload = config->payload_bytes;
    uint64_t header = wire_header_bytes(config);
    uint64_t count = bytes == 0 ? 1 : (bytes + payload - 1) / payload;
    uint64_t last_bytes = header + bytes - (count - 1) * payload;
    uint64_t full_bytes = payload + header;
    uint64_t slowest = slowest_ns(graph, config, there, hops_there, full_bytes);
    uint64_t first = crossing_ns(graph, config, there, hops_there, count > 1 ? full_bytes : last_bytes);
    uint64_t round = first + crossing_ns(graph, config, back, hops_back, wire_ack_bytes(config));
    struct alone alone = {
        .packets = (double)(count - 1) + (double)last_bytes / (double)full_bytes,
        .pace_ns = (double)slowest,
        .first_ns = first,
        .in_rounds = count * slowest > round,
        .slack_ns = INFINITY,
        .round_ns = (double)round,
    };
    alone.acks = (double)count / alone.packets;
    uint64_t held = window == 0 ? count : (window + payload - 1) / payload;
    if (held < count) {
        alone.slack_ns = fmax(0, (double)held * (double)slowest - (double)round);
    }
    if (held < count && held * slowest < round) {
        alone.window_bound = true;
        alone.pace_ns = (double)round / (double)held;
    } else {
        held = count;
    }
    held = held == 0 ? 1 : held; /* a message has at least one packet */
    struct last_round last = {.begins = (count - 1) / held * round, .has_before = count > 1};
    if (last.has_before) {
        last.before_begins = (count - 2) / held * round;
        last.before_place = (count - 2) % held;
    }
    struct last_two at = arrivals(graph, config, there, hops_there, last, full_bytes, last_bytes);
    alone.arrival_ns = at.last;
    alone.total_ns = return_ns(graph, config, back, hops_back, at);
    return alone;
}
