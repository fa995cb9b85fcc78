/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One sender of a contest and its congestion control: the law is the packet network's (net/cc/cc.h), told of several
 * packets at once where a sender has many on their way; its timers are times here, not events. Pure arithmetic on one
 * struct: knows nothing of flows, ports, queues and events.
 */
#ifndef ORR_NET_FLOW_CONTROL_H
#define ORR_NET_FLOW_CONTROL_H

#include "net/cc/cc.h"

struct control_sender {
    uint64_t size, sent, acked; /* payload bytes */
    uint64_t window;            /* of them on their way; 0 = any number */
    uint64_t limit;             /* the same, as the law has it */
    uint64_t base_rtt_ns;
    uint64_t line_bps, rate_bps;
    uint64_t next_ns;    /* its pace lets it send then */
    uint64_t last_bytes; /* of the last packet, on the wire */
    uint64_t timer_ns;   /* the next of its timers; UINT64_MAX = none is running */
    struct {
        uint64_t at_ns, set_ns;
    } timers[CC_TIMERS];
    uint64_t state[CC_STATE_MOST / 8]; /* the law's */
};

/* Marking at links of this rate; of a rate no map has, whatever waits is marked. */
struct packet_mark control_rule(const struct packet_config *config, uint64_t rate_bps);

/* Size, window, base round trip and line are set; it begins at its line's rate. */
void control_sender_start(struct control_sender *sender, const struct cc_law *law, const struct packet_config *config);
void control_sender_ack(struct control_sender *sender, const struct cc_law *law, const struct packet_config *config,
                        const struct cc_ack *ack);
/* Timers that are due before something that happens now and was to happen since then: of two that come together the
 * one set first is first. */
void control_sender_tick(struct control_sender *sender, const struct cc_law *law, const struct packet_config *config,
                         uint64_t now_ns, uint64_t since_ns);

/* Bytes that may be on their way, at least one; UINT64_MAX = any number. */
static inline uint64_t control_sender_window(const struct control_sender *sender, const struct packet_config *config)
{
    uint64_t window = sender->window == 0 ? UINT64_MAX : sender->window;
    if (sender->window != 0 && config->var_window && sender->rate_bps != sender->line_bps) {
        uint64_t scaled = (uint64_t)((unsigned __int128)sender->window * sender->rate_bps / sender->line_bps);
        window = scaled == 0 ? 1 : scaled;
    }
    return sender->limit != 0 && sender->limit < window ? sender->limit : window;
}

#endif
