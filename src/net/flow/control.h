/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What congestion control makes of one sender: how its rate follows marks, telemetry or round trips, and when its
 * window and its pace let it send. The laws are those of the packet network's controls (net/packet/cc.c, hpcc.c), on
 * the same whole bits a second and with the same parameters; here they are told of several packets at once where a
 * sender has many on their way. Pure arithmetic on one struct: knows nothing of flows, ports, queues and events.
 */
#ifndef ORR_NET_FLOW_CONTROL_H
#define ORR_NET_FLOW_CONTROL_H

#include <stdbool.h>
#include <stdint.h>

#include "topo/packet_config.h"

enum { CONTROL_HOPS = 5 }; /* that telemetry has room for */

/* What a queue writes into a packet that leaves it (spec packet A8), in the units it is rounded to. */
struct control_hop {
    uint64_t time_ns;
    uint64_t sent_bytes; /* until then, in whole 128s */
    uint64_t queued_bytes;
    uint64_t rate_bps;
};

/* The acknowledgement of one packet or of several that were sent together. */
struct control_ack {
    uint64_t now_ns, sent_ns;
    uint64_t acked; /* bytes, with these */
    uint32_t marked;
    uint32_t hop_count;
    const struct control_hop *hops;
    double use; /* PINT: of the fullest link */
};

struct control_dcqcn {
    double alpha;
    uint64_t target_bps;
    uint64_t alpha_at, cut_at, increase_at; /* UINT64_MAX = not running */
    uint32_t stage;
    bool started, marked_for_alpha, marked_for_rate;
};

struct control_use {
    double u;
    uint64_t rate_bps; /* what the next rate is reckoned from */
    uint32_t stage;
};

struct control_hpcc {
    struct control_hop hops[CONTROL_HOPS];
    struct control_use all, per_hop[CONTROL_HOPS];
    uint64_t update_at; /* bytes acknowledged at which a round trip is over */
};

struct control_timely {
    double difference_ns;
    uint64_t last_rtt_ns, update_at;
    uint32_t stage;
};

struct control_dctcp {
    double alpha;
    uint64_t update_at, batch, cut_until;
    uint32_t marks;
    bool reduced;
};

struct control_sender {
    uint64_t size, sent, acked; /* payload bytes */
    uint64_t window;            /* of them on their way; 0 = any number */
    uint64_t base_rtt_ns;
    uint64_t line_bps, rate_bps;
    uint64_t next_ns;    /* its pace lets it send then */
    uint64_t last_bytes; /* of the last packet, on the wire */
    uint64_t timer_ns;   /* the next of its timers */
    union {
        struct control_dcqcn dcqcn;
        struct control_hpcc hpcc;
        struct control_timely timely;
        struct control_dctcp dctcp;
    } as;
};

/* Whether the control's law is here; fixed windows are one. */
bool control_is_known(const struct packet_config *config);
/* Whether it can leave a link unused at all. */
bool control_matters(const struct packet_config *config);
/* Marking at links of this rate; of a rate no map has, whatever waits is marked. */
struct packet_mark control_rule(const struct packet_config *config, uint64_t rate_bps);

/* Size, window, base round trip and line are set; it begins at its line's rate. */
void control_sender_start(struct control_sender *sender, const struct packet_config *config);
void control_sender_ack(struct control_sender *sender, const struct packet_config *config,
                        const struct control_ack *ack);
/* Timers that are due before something that happens now and was to happen since then: of two that come together the
 * one set first is first. */
void control_sender_tick(struct control_sender *sender, const struct packet_config *config, uint64_t now_ns,
                         uint64_t since_ns);

/* Bytes that may be on their way, at least one; UINT64_MAX = any number. */
static inline uint64_t control_sender_window(const struct control_sender *sender, const struct packet_config *config)
{
    if (sender->window == 0) {
        return UINT64_MAX;
    }
    if (!config->var_window || sender->rate_bps == sender->line_bps) {
        return sender->window;
    }
    uint64_t scaled = (uint64_t)((unsigned __int128)sender->window * sender->rate_bps / sender->line_bps);
    return scaled == 0 ? 1 : scaled;
}

#endif
