/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Swift (Kumar et al., SIGCOMM 2020) on the network's delay alone: the bytes on their way grow by a packet a round trip
 * while round trips stay below a target, and shrink in proportion to how far they exceed it, at most once a round trip.
 * Below a packet's worth it is the pace that shrinks. The target is half as much again as the empty network's round
 * trip.
 */
#include "net/packet/cc.h"

static const double beta = 0.8, most_cut = 0.5, least_packets = 0.01;

static double target_ns(const struct packet_pair *pair)
{
    return 1.5 * (double)pair->base_rtt_ns;
}

static void apply(struct packet_net *network, struct packet_pair *pair, double window)
{
    double rate = window * 8e9 / (double)pair->base_rtt_ns;
    double payload = network->config->payload_bytes;
    pair->limit = (uint64_t)(window > payload ? window : payload);
    packet_pair_change_rate(network, pair, packet_cc_bounded(network, pair, (uint64_t)(rate < 1e18 ? rate : 1e18)));
}

void packet_swift_start(struct packet_net *network, uint32_t pair_index)
{
    struct packet_pair *pair = &network->pairs.at[pair_index];
    struct swift *swift = &packet_cc_of(network, pair_index)->as.swift;
    swift->window = (double)pair->max_rate_bps / 8e9 * (double)pair->base_rtt_ns;
    swift->cut_ns = 0;
}

void packet_swift_ack(struct packet_net *network, uint32_t pair_index, const struct packet *ack)
{
    struct packet_pair *pair = &network->pairs.at[pair_index];
    struct swift *swift = &packet_cc_of(network, pair_index)->as.swift;
    uint64_t now = network->net->queue->now;
    double delay = (double)((uint32_t)now - ack->sent_at);
    double payload = network->config->payload_bytes;
    double whole = (double)pair->max_rate_bps / 8e9 * target_ns(pair);
    if (delay <= target_ns(pair)) {
        swift->window += payload * payload / (swift->window > payload ? swift->window : payload);
    } else if ((double)(now - swift->cut_ns) >= delay) {
        double keep = 1 - beta * (delay - target_ns(pair)) / delay;
        swift->window *= keep < 1 - most_cut ? 1 - most_cut : keep;
        swift->cut_ns = now;
    }
    swift->window = swift->window > whole ? whole : swift->window;
    swift->window = swift->window < least_packets * payload ? least_packets * payload : swift->window;
    apply(network, pair, swift->window);
}
