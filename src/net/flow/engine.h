/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The inside of the flow network: the life of a message as fluid (flow.c), those that contend under congestion control
 * (controlled.c), what is counted (figures.c), and what the judge looks at (judge.c).
 */
#ifndef ORR_NET_FLOW_ENGINE_H
#define ORR_NET_FLOW_ENGINE_H

#include "base/number_map.h"
#include "base/pool.h"
#include "net/flow/alone.h"
#include "net/flow/flow.h"
#include "net/flow/share.h"
#include "net/packet/histogram.h"
#include "net/source_ports.h"
#include "topo/way.h"

struct flow_controls;
struct flow_judge;

struct flow {
    double packets;  /* full ones, all together */
    double acks;     /* to each of them */
    double left;     /* full packets, at `since` */
    double since_ns; /* when the rate was set */
    double ends_ns;  /* when nothing is left, at that rate */
    double alone_ns; /* that it takes on an empty network */
    double tail_ns;  /* from there to the last packet's arrival */
    double after_ns; /* from there to the last acknowledgement's return */
    double first_ns; /* from its start to the first packet's arrival */
    uint64_t bytes, start_ns;
    const struct net_twins *twins; /* NULL = none */
    uint32_t message;
    uint32_t number; /* in the order of sending */
    uint32_t src, dst;
    uint32_t place;      /* in `ends`, + 1; 0 = not there */
    uint32_t next;       /* free list */
    uint32_t connection; /* 0 = none */
    uint32_t follower;   /* the next of its connection, which waits for it to leave; 0 = none */
    uint16_t hops_there, hops_back;
    uint16_t source_port;
    uint8_t sending;                                /* data are under way */
    uint8_t waits, is_due, has_left;                /* for the one before it; and could start; its data are gone */
    uint8_t acks_count;                             /* a single packet's one does not */
    uint8_t contends;                               /* its end is for congestion control to say */
    uint8_t in_rounds, is_tight, is_short, is_held; /* for the judge */
};

POOL_DEFINE(flows, struct flow, next);

/* The way of messages between two nodes, there and, `half` ports on, back. */
struct flow_way {
    uint32_t src, dst; /* src + 1; 0 = none */
    uint64_t bytes;
    uint32_t *ports;
    struct alone alone; /* of that many bytes */
    uint16_t hops_there, hops_back;
    bool has_choice; /* each message has its own */
};

struct flow_net {
    struct net *net;
    const struct packet_machine *machine;
    struct topo_routes routes;
    struct flows flows;
    uint32_t sending;   /* of them, as fluid */
    struct share share; /* links are ports; a flow's uses are its ports there, then at `half` those back */
    uint32_t half;
    struct flow_way *ways; /* kept ones (ways.c) */
    uint32_t *way_ports;   /* theirs, and of one that is not kept: */
    uint32_t *way;
    uint32_t way_count;
    struct source_ports next_ports;
    struct number_map last; /* message of a connection, by connection and ends */
    uint64_t longest_rtt_ns, largest_window;
    double *data_cost, *ack_cost; /* by port: ns of a full packet, of an acknowledgement */
    uint32_t *ends;               /* heap of flows by ends_ns */
    uint32_t end_count, end_capacity;
    uint64_t wake_at; /* the first end in the queue, UINT64_MAX = none */
    uint32_t wake_stamp;
    uint64_t rest_until; /* no settling before: the last one was large */
    uint64_t packet_ns;  /* of a full one at the first host */
    bool settling;       /* an event is on its way */
    struct flow_counts counts;
    struct net_carried *carried; /* by port, as fluid */
    struct histogram_fine durations, slowdowns;
    uint64_t lost; /* messages without a way, and the first one's ends */
    uint32_t lost_src, lost_dst;
    struct flow_controls *controls; /* congestion control; NULL where it leaves no link idle, or while judged */
    struct flow_judge *judge;       /* NULL where this network's answer stands in any case */
    bool can_contend;               /* a congestion control is there that may hold messages back */
    uint32_t full_bytes;            /* of a packet, on the wire */
    uint32_t *stand;                /* by port: who stands for it; NULL = each for itself (stand.c) */
    double *used;                   /* by port: how often a message that stands for others uses one of its class */
    uint32_t members;               /* messages that one stands for, itself counted; 0 where none do */
    bool spread;                    /* they use equal ways alike */
};

/* ---- flow.c ---- */

/* Shares are to be settled before time goes on. */
void flow_settle_later(struct flow_net *network);

/* Bytes that may be on their way; 0 = any number. */
uint64_t flow_window(struct flow_net *network, const struct flow *flow);
/* Congestion control takes its next step then. */
void flow_controls_later(struct flow_net *network, uint64_t after_ns);
/* From now on a contest says when this message ends. */
void flow_take_over(struct flow_net *network, uint32_t index);
/* Its data have left the last queue then, have arrived, and are acknowledged. */
void flow_leaves_at(struct flow_net *network, uint32_t index, uint64_t left_ns, uint64_t arrived_ns, uint64_t done_ns);
/* It goes on by itself, with this part of it still to send. */
void flow_give_back(struct flow_net *network, uint32_t index, double part);

/* The data of a message begin to flow; `after` the one of its connection that has just left, 0 = none. */
void flow_start(struct flow_net *network, uint32_t index, uint32_t after);

/* ---- rest.c ---- */

/* How long shares stay as they are after a settling that was much work for messages that meet, directly or over others:
 * what goes on elsewhere is no reason to wait. While messages contend that may be a round trip, for then the contest
 * looks at shares and is looked at, but no more than a small part of what they last. */
uint64_t flow_rest_ns(struct flow_net *network);

/* ---- ways.c ---- */

bool flow_ways_open(struct flow_net *network);
void flow_ways_close(struct flow_net *network);
/* The way of a message and what it takes alone, until the next call; false when there is none. */
bool flow_way_of(struct flow_net *network, const struct flow *flow, struct flow_way *found);

/* ---- follow.c ---- */

/* A message that is about to be sent waits for the last of its connection, if that is still there. False when memory is
 * refused. */
bool flow_follow(struct flow_net *network, uint32_t index);
/* Its data have left: the next of its connection may go. */
void flow_followed(struct flow_net *network, uint32_t index);

/* ---- ends.c ---- */

/* Puts a flow where its end belongs, or takes it out. */
void flow_ends_set(struct flow_net *network, uint32_t flow);
void flow_ends_drop(struct flow_net *network, uint32_t flow);

/* ---- controlled.c ---- */

bool flow_controls_open(struct flow_net *network);
void flow_controls_close(struct flow_net *network);
/* Shares were settled: have links become full that must be controlled? */
void flow_controls_look(struct flow_net *network);
/* From one step of a contest to the next; 0 while there is none. */
uint64_t flow_controls_step_ns(const struct flow_net *network);
void flow_controls_step(struct flow_net *network);
/* Why messages that contend never arrive, once nothing moves any more. */
uint32_t flow_controls_explain(const struct flow_net *network, struct arena *arena, struct net_stuck *stuck,
                               uint32_t room);
/* A flow of this number is about to start. False when memory is refused. */
bool flow_controls_start(struct flow_net *network, uint32_t flow);

/* ---- stand.c ---- */

/* net_ops.stand_for */
bool flow_stand_for(struct net *net, const struct topo_alike *alike, bool spread);
/* Whether some node of a way could have sent the message another way. */
bool flow_has_choice(struct flow_net *network, uint32_t dst, const uint32_t *way, uint32_t hops);
void flow_stand_close(struct flow_net *network);

static inline uint32_t flow_stands_for(const struct flow_net *network, uint32_t port)
{
    return network->stand == NULL ? port : network->stand[port];
}

static inline double flow_used(const struct flow_net *network, uint32_t port)
{
    return network->stand == NULL ? 1 : network->used[port];
}

/* Messages under way, those that others stand for counted. */
static inline uint64_t flow_sending(const struct flow_net *network)
{
    return (uint64_t)network->sending * (network->stand == NULL ? 1 : network->members);
}

/* A number for where a use of a port comes from: the port before it, and where messages stand for others, which all go
 * over one, whom it is for. */
static inline uint32_t flow_comes_by(const struct flow_net *network, uint32_t use)
{
    return network->stand == NULL ? network->share.uses[use - 1].link
                                  : network->flows.at[use / network->share.room].dst;
}

/* ---- figures.c ---- */

/* So much of a message, in full packets, has gone over its links, and its acknowledgements back. */
void flow_count_links(struct flow_net *network, uint32_t index, double packets);
/* net_ops.count_twins */
void flow_count_twins(struct net *net, struct net_twins *twins);
/* A message has arrived, now; what it takes alone, as fct.txt has it. */
uint64_t flow_count_message(struct flow_net *network, const struct flow *flow);
/* Adds the fluid's part to what packets counted, or to nothing. */
bool flow_add_figures(const struct flow_net *network, struct arena *arena, struct net_figures *figures);

#endif
