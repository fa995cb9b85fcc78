/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a queue pair keeps for its congestion control (net/cc/cc.h): the law's own numbers, and how often each of its
 * timers was started anew, so that older ones are void. Included by what calls the law (cc.c), reads telemetry for it
 * (telemetry.c) and moves it in time (forward*.c).
 */
#ifndef ORR_NET_PACKET_CC_H
#define ORR_NET_PACKET_CC_H

#include "net/packet/engine.h"

struct packet_cc_kept {
    uint32_t restarts[CC_TIMERS];
    uint32_t padding;
    uint64_t state[]; /* the law's */
};

/* Only where the law keeps anything. */
static inline struct packet_cc_kept *packet_cc_of(const struct packet_net *network, uint32_t pair)
{
    return (struct packet_cc_kept *)(void *)(network->cc + (size_t)pair * network->cc_stride);
}

/* ---- telemetry.c ---- */

/* What the acknowledgement tells of the hops. */
void packet_cc_hops(const struct packet_net *network, const struct packet *ack, struct cc_hop hops[CC_HOPS],
                    struct cc_ack *told);
/* The one number of an acknowledgement; false when chance has it that this one is not looked at. */
bool packet_cc_number(struct packet_net *network, const struct packet *ack, struct cc_ack *told);

#endif
