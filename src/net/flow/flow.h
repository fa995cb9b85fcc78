/*
 * The flow network: messages as fluid on the same wired machine as the packet network (net/packet/packet.h), each over
 * the very ways its packets would take, at the max-min fair share of every link it crosses, acknowledgements included.
 * A message alone takes to the nanosecond what the packet network takes. Queues, marks and pauses are only where
 * messages contend under congestion control (contest.h); losses are not there. docs/fidelity.md says what that costs.
 *
 * `auto` is both: messages that share no link with another's data are fluid, the rest are packets. Sets of messages
 * that meet on any link are carried by one of the two, so that no link is in use by both; a message that is met while
 * it is fluid becomes packets from there on.
 *
 * Behind net/net.h like every network: net.machine is a `struct packet_machine`, borrowed while the network is open.
 * Knows nothing of files, traces and collectives.
 */
#ifndef ORR_NET_FLOW_FLOW_H
#define ORR_NET_FLOW_FLOW_H

#include "net/packet/packet.h"

extern const struct net_ops net_flow;
extern const struct net_ops net_auto;

struct flow_counts {
    uint64_t messages;
    uint64_t by_packets; /* of them, from the start or from some point on */
    uint64_t converted;  /* of those, the latter */
    uint64_t settlings;  /* times at which shares were found anew */
    uint64_t settled;    /* flows looked at for that, all together */
};

struct flow_counts flow_counts(const struct net *net);

#endif
