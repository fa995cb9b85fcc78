/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the congestion controls keep for a queue pair, and how they divide the work: cc.c has the dispatch and the
 * controls by marks and round trips, hpcc.c those by telemetry, swift.c Swift; credit.c keeps nothing here. Only the
 * files of congestion control include this.
 */
#ifndef ORR_NET_PACKET_CC_H
#define ORR_NET_PACKET_CC_H

#include "net/packet/engine.h"

struct dcqcn {
    double alpha;
    uint64_t target_bps;
    uint32_t stage;
    uint32_t increase_stamp;
    uint8_t started, marked_for_alpha, marked_for_rate;
};

struct hpcc {
    struct packet_hop hops[PACKET_INT_HOPS];
    double u;
    uint64_t rate_bps; /* the reference rate */
    uint32_t stage;
    uint64_t update_seq;
    struct {
        double u;
        uint64_t rate_bps;
        uint32_t stage;
    } per_hop[PACKET_INT_HOPS];
};

struct timely {
    double difference_ns;
    uint64_t rate_bps;
    uint64_t last_rtt_ns;
    uint32_t stage;
    uint64_t update_seq;
};

struct dctcp {
    double alpha;
    uint64_t update_seq, batch, high_seq;
    uint32_t marks;
    uint8_t reduced;
};

struct swift {
    double window; /* bytes on their way */
    uint64_t cut_ns;
};

struct packet_cc_state {
    union {
        struct swift swift;
        struct dcqcn dcqcn;
        struct hpcc hpcc;
        struct timely timely;
        struct dctcp dctcp;
    } as;
};

static inline struct packet_cc_state *packet_cc_of(struct packet_net *network, uint32_t pair)
{
    return &network->cc[pair];
}

/* A rate within the configuration's floor and the host's line. */
static inline uint64_t packet_cc_bounded(const struct packet_net *network, const struct packet_pair *pair,
                                         uint64_t rate_bps)
{
    uint64_t least = network->config->min_rate_bps;
    rate_bps = rate_bps < least ? least : rate_bps;
    return rate_bps > pair->max_rate_bps ? pair->max_rate_bps : rate_bps;
}

/* ---- swift.c ---- */

void packet_swift_start(struct packet_net *network, uint32_t pair);
void packet_swift_ack(struct packet_net *network, uint32_t pair, const struct packet *ack);

/* ---- hpcc.c ---- */

void packet_hpcc_ack(struct packet_net *network, uint32_t pair, const struct packet *ack);
void packet_pint_ack(struct packet_net *network, uint32_t pair, const struct packet *ack);

#endif
