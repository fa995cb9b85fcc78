/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How long one message takes on an empty network, packet by packet, without sending any: to the nanosecond what the
 * packet network takes (spec packet A4 to A6), from sums over its links. The flow network sends at the pace found here
 * and adds what is left of the time, so that a message that meets nobody is exact.
 */
#ifndef ORR_NET_FLOW_ALONE_H
#define ORR_NET_FLOW_ALONE_H

#include "net/packet_config.h"
#include "topo/graph.h"

struct alone {
    double packets;      /* the message in full packets' wire bytes */
    double acks;         /* acknowledgements to each of those */
    double pace_ns;      /* one full packet each: the slowest link, or the window */
    bool window_bound;   /* the latter */
    bool in_rounds;      /* it still sends when the first acknowledgement is back */
    double slack_ns;     /* that acknowledgements may be late without holding it up */
    double round_ns;     /* from the first packet's start to its acknowledgement's return */
    uint64_t first_ns;   /* from the start to the first acknowledgement's leaving */
    uint64_t arrival_ns; /* to the last packet's arrival */
    uint64_t total_ns;   /* to the last acknowledgement's return */
};

/* `there` and `back` are ports; `window` in bytes, 0 = none. A message of no bytes is one packet of headers. */
struct alone alone_message(const struct topo_graph *graph, const struct packet_config *config, const uint32_t *there,
                           uint32_t hops_there, const uint32_t *back, uint32_t hops_back, uint64_t bytes,
                           uint64_t window);

#endif
