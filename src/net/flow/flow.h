/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The flow network: messages as fluid on the same wired machine as the packet network (net/packet/packet.h), each over
 * the very ways its packets would take, at the max-min fair share of every link it crosses, acknowledgements included.
 * A message alone takes to the nanosecond what the packet network takes. Queues, marks and pauses are only where
 * messages contend under congestion control (contest.h); losses are not there. docs/fidelity.md says what that costs.
 *
 * Fluid is not right for every job. `flow` and `auto` look on while messages flow (judge.h) and say in the end, or as
 * soon as shares cost as much as packets, which network is to carry the whole job instead, if any (net_ops.instead):
 * `auto` the packet network wherever fluid is not right, `flow` only where so many packets are affordable. `net_shares`
 * is what carries a job by shares in any case, with contests.
 *
 * Behind net/net.h like every network: net.machine is a `struct packet_machine`, borrowed while the network is open.
 * Knows nothing of files, traces and collectives.
 */
#ifndef ORR_NET_FLOW_FLOW_H
#define ORR_NET_FLOW_FLOW_H

#include "net/packet/packet.h"

extern const struct net_ops net_shares;
extern const struct net_ops net_flow;
extern const struct net_ops net_auto;

struct flow_counts {
    uint64_t messages;
    uint64_t settlings; /* times at which shares were found anew */
    uint64_t settled;   /* flows looked at for that, all together */
};

#endif
