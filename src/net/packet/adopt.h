/*
 * A message that somebody else has carried so far and whose packets are wanted from now on: those that would be on
 * their way are put where they would be, and the sender goes on from there. For networks that move packets only where
 * it matters.
 */
#ifndef ORR_NET_PACKET_ADOPT_H
#define ORR_NET_PACKET_ADOPT_H

#include "net/net.h"

struct packet_adopted {
    uint32_t message, src, dst;
    uint16_t source_port;
    uint64_t bytes, start_ns;
    uint64_t packets_sent;   /* whole ones, all full */
    uint64_t last_packet_ns; /* when the last of them began to leave, not after now */
    double pace_ns;          /* from one packet's beginning to the next one's */
};

/* False when there is no way or no memory. */
bool packet_adopt(struct net *net, const struct packet_adopted *adopted);

#endif
