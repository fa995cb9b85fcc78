/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Messages between ranks before, while and after they are on the network: who sent them, who waits for them (spec
 * analytical §10). Two kinds of place where sends meet receives: channels, which keep each message, and lanes, which
 * only count them.
 */
#ifndef ORR_SIM_TRAFFIC_H
#define ORR_SIM_TRAFFIC_H

#include "base/pool.h"
#include "sim/routes.h"

/* Who hears of a message. */
enum sim_party_kind {
    SIM_PARTY_NOBODY,
    SIM_PARTY_STREAM,     /* a: stream */
    SIM_PARTY_NODE,       /* a: node of the rank's trace */
    SIM_PARTY_CUSTOM,     /* a: stream, b: node of the custom trace */
    SIM_PARTY_START_SEND, /* a: deferred; the receiver is ready (rendezvous) */
    SIM_PARTY_START_RECV, /* a: deferred; the sender has been told (rendezvous) */
    SIM_PARTY_FLOW,       /* a: stream, b: flow it was posted for; which one came is in the sender's b */
    SIM_PARTY_FLOW_SENT,  /* a: stream, b: flow, whose sender has another in line behind it */
};

struct sim_party {
    uint32_t kind;
    uint32_t a, b;
};

enum { SIM_MESSAGE_SENT = 1, SIM_MESSAGE_POSTED = 2, SIM_MESSAGE_ARRIVED = 4 };

/* The k-th send and the k-th receive of a channel, whichever came first. */
struct sim_message {
    uint32_t next, prev; /* in the channel */
    uint32_t channel;
    uint32_t flags;
    struct sim_party sender, receiver;
};
POOL_DEFINE(sim_messages, struct sim_message, next);

/* All messages with one tag, source, destination and size: they match in order. Lives while it has messages or users.
 */
struct sim_channel {
    struct sim_route route;
    uint32_t head, tail;
    uint32_t half; /* first message that has only one side, 0 = none */
    int32_t lead;  /* sends minus receives posted */
};
POOL_DEFINE(sim_channels, struct sim_channel, route.chain);

/*
 * The same for messages between streams, of which nobody needs to know one from the other: on the way they arrive in
 * the order they were sent, the sender hears nothing, and receives outstanding at one time all belong to one stream,
 * since a stream's tag is its own. So three counts are enough. Not used where order can break (jitter) or messages wait
 * for each other (rendezvous).
 */
struct sim_lane {
    uint32_t under_way;
    uint32_t early;    /* arrived before their receive was posted */
    uint32_t waiting;  /* receives posted before their message arrived */
    uint32_t receiver; /* stream */
    uint32_t users;    /* ring phases that hold on to it */
    struct sim_route route;
};
POOL_DEFINE(sim_lanes, struct sim_lane, route.chain);

/* Tells lanes from messages in what a network with contention carries. */
enum { SIM_LANE_FLAG = 1 << 30 };

/* A send or receive that waits for the rendezvous. */
struct sim_deferred {
    uint64_t bytes;
    uint32_t next;
    uint32_t src, dst;
    int32_t tag;
    struct sim_party party;
};
POOL_DEFINE(sim_deferreds, struct sim_deferred, next);

#endif
