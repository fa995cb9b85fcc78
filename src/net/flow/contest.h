/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Senders that contend for ports of switches: what each of them sends and when, what waits where they meet, and what
 * their congestion controls make of it. Only that is reckoned packet by packet: the queues of switches to which more
 * can come than leaves, in the order of the packet network (spec packet A4, A6, A8). Links that need no queue, and the
 * way back of acknowledgements, are delays. A sender that has hundreds of packets on their way sends several as one.
 *
 * Owned by the flow network (controlled.c). Borrows graph, configuration and the streams of chance. Knows nothing of
 * messages, shares and events: it is told who sends, over which ports, how much of those ports others have, and until
 * when to go on.
 */
#ifndef ORR_NET_FLOW_CONTEST_H
#define ORR_NET_FLOW_CONTEST_H

#include "base/pool.h"
#include "net/flow/control.h"
#include "net/net.h"
#include "net/packet/c_random.h"
#include "net/packet/mrg32k3a.h"
#include "topo/graph.h"

enum { CONTEST_NONE = UINT32_MAX };

/* One packet, or several of one sender that go together. */
struct contest_packet {
    uint64_t at_ns;   /* the first one's arrival where it is going */
    uint64_t sent_ns; /* by its sender */
    uint64_t end;     /* payload bytes of the message, with these */
    double use;       /* PINT: of the fullest link so far */
    uint32_t bytes;   /* of each on the wire; the last of a message may be shorter */
    uint32_t count;
    uint32_t spread_ns; /* between the arrivals of the first and the last */
    uint32_t next;      /* in a line, or free */
    uint32_t sender;
    uint16_t leg; /* the sender's, that it is on */
    uint16_t hop_count;
    uint32_t marked;
    uint32_t order; /* of acknowledgements */
};

POOL_DEFINE(contest_packets, struct contest_packet, next);

/* Whether a link may send, told by pause frames that are on their way to it. */
enum { CONTEST_FRAMES = 8 };
struct contest_gate {
    uint64_t at_ns[CONTEST_FRAMES]; /* pause, resume and so on in turn */
    uint32_t first, count;
    bool paused;
};

/* When a link or a sender is to be looked at. Of equal times that is first which was known first, as in a queue of
 * events: since when it is known, and in which order. */
struct contest_due {
    uint64_t at_ns, since_ns;
    uint32_t order;
};

/* Who is first of two and when, beside each other: where many contend most of the time goes into looking at these. */
struct contest_winner {
    uint64_t at_ns;
    uint32_t leaf;
};

/* A packet that is on its way to a queue. Of those that come together, the first is the one that was first on the last
 * link before it, and of those the first sent. */
struct contest_coming {
    struct contest_due due;
    uint32_t packet;
};

/* A host's link, or a queue at a switch: what stands before it and how fast it sends. */
struct contest_link {
    uint32_t port;
    bool is_host;
    uint64_t rate_bps;
    uint64_t full_ns; /* of a full packet, what others have taken into account */
    double slower;    /* than alone, because of others */
    uint64_t busy_until;
    struct contest_gate gate;
    uint32_t head, tail;          /* packets that wait; of a host's link senders that could send, by number plus one */
    uint64_t last_ns, last_bytes; /* when it last began to send, and what */
    uint32_t last_order;
    /* Of queues only. */
    uint32_t node; /* account of its switch; CONTEST_NONE: none */
    uint64_t queued_bytes, sent_bytes;
    struct contest_coming *coming; /* heap by arrival */
    uint32_t coming_count, coming_capacity;
    struct packet_mark rule;
    bool marks;
    double pint_u;
};

/* A switch's buffer, and one way into it (spec packet A8). */
struct contest_node {
    uint32_t node;
    uint32_t room, used; /* shared bytes; sums wrap as the reference's do */
};

struct contest_ingress {
    uint32_t port; /* of the switch */
    uint32_t node; /* account */
    uint32_t link; /* that feeds it */
    uint32_t shift;
    uint64_t bytes, over_bytes; /* held: of the shared buffer, of its own headroom */
    uint64_t frame_ns;          /* until a pause is heeded */
    bool asked;                 /* to pause */
};

/* From one queue to the next: links without a queue between them. */
struct contest_leg {
    uint32_t link;    /* where it leads, CONTEST_NONE: the receiver */
    uint32_t ingress; /* by which it enters that switch, CONTEST_NONE: buffers cannot fill */
    uint64_t delay_ns, full_ns;
    double byte_ns;   /* sending times between, of a packet's byte */
    uint64_t last_ns; /* of a full packet on the last link */
};

struct contest_sender {
    uint32_t flow; /* the caller's */
    uint32_t link; /* its host's */
    uint32_t leg_count;
    uint32_t pending;               /* packets and acknowledgements on their way */
    uint32_t next;                  /* free */
    uint64_t back_ns, back_last_ns; /* of acknowledgements; on their last link */
    uint64_t sending_ns;            /* when it last began to send */
    uint32_t sending_order;
    uint32_t head, tail;           /* acknowledgements on their way */
    uint32_t group;                /* packets sent as one, at most */
    uint64_t departed;             /* payload bytes that have left the last queue */
    uint64_t departed_ns, done_ns; /* of the last packet: leaves that queue, is acknowledged; 0 = not yet */
    bool active;
    bool in_turn; /* its link knows that it could send */
    struct control_sender control;
};

struct contest {
    const struct topo_graph *graph;
    const struct packet_config *config;
    const struct cc_law *law; /* of the configuration */
    struct mrg32k3a_streams *streams;
    struct c_random *random;
    struct mem *mem;
    uint64_t now_ns;
    uint64_t longest_rtt_ns; /* PINT */
    uint32_t full_bytes;
    uint32_t round_parts; /* a sender's packets of one round trip are sent as so many or more */
    bool buffers;         /* can fill: all switches on the ways are queues */
    bool failed;          /* memory was refused */
    uint32_t active_count;
    uint32_t order; /* of what is sent */
    struct contest_packets packets;
    struct cc_hop *hops; /* CC_HOPS a packet */
    uint32_t hop_capacity;
    struct contest_link *links;
    uint32_t link_count, link_capacity;
    struct contest_sender *senders;
    uint32_t sender_count, sender_capacity;
    uint32_t free_sender;     /* CONTEST_NONE = none */
    struct contest_leg *legs; /* leg_room a sender */
    uint32_t leg_room, leg_capacity;
    struct contest_node *nodes;
    uint32_t node_count, node_capacity;
    struct contest_ingress *ingresses;
    uint32_t ingress_count, ingress_capacity;
    struct contest_due *due;        /* of links (even) and senders (odd) */
    struct contest_winner *winners; /* tournament over these */
    uint32_t due_capacity;
};

/* What a sender is, when it joins. */
struct contest_entry {
    uint32_t flow;
    const uint32_t *there, *back; /* ports */
    uint32_t hops_there, hops_back;
    const bool *is_queue; /* by hop there: others of the contest cross it too */
    uint64_t size, sent;  /* payload bytes; what was sent before, whole packets, is on its way at a pace of: */
    double pace_ns;
    uint64_t window, base_rtt_ns;
};

/* `contest` is all zero but for graph, config, streams, random, mem, now_ns, longest_rtt_ns, leg_room (switches on the
 * longest way and one more) and buffers. */
ORR_MUST_CHECK bool contest_open(struct contest *contest);
void contest_close(struct contest *contest);
/* A sender, from now on; its number. Refused memory shows in `failed`. */
uint32_t contest_join(struct contest *contest, const struct contest_entry *entry);
/* It is done, or goes on elsewhere. */
void contest_leave(struct contest *contest, uint32_t sender);
/* Others leave so much of a link, more than 0 and at most 1. */
void contest_set_part(struct contest *contest, uint32_t link, double part);
/* Everything that happens before this time. */
void contest_advance(struct contest *contest, uint64_t until_ns);
/* When the next thing happens; UINT64_MAX = never. */
static inline uint64_t contest_next_ns(const struct contest *contest)
{
    return contest->winners[1].at_ns;
}
/* What waits in queues. */
uint64_t contest_queued_bytes(const struct contest *contest);
/* Whether a port is one of its queues. */
bool contest_has_port(const struct contest *contest, uint32_t port);
/* Why nothing will ever happen in it again: fills at most `room` entries, and returns how many. */
uint32_t contest_explain(const struct contest *contest, struct arena *arena, struct net_stuck *stuck, uint32_t room);

/* ---- contest.c, for contest_join.c ---- */

/* A link or a sender is to be looked at by then at the latest. */
void contest_due_by(struct contest *contest, uint32_t leaf, struct contest_due by);
static inline bool contest_is_before(const struct contest_due *a, const struct contest_due *b)
{
    if (a->at_ns != b->at_ns) {
        return a->at_ns < b->at_ns;
    }
    return a->since_ns != b->since_ns ? a->since_ns < b->since_ns : (int32_t)(a->order - b->order) < 0;
}

/* Which of two is first. Written so that the usual case, unequal times, needs no guess about a branch. */
static inline struct contest_winner contest_first(const struct contest *contest, const struct contest_winner *two)
{
    const struct contest_due *due = contest->due;
    if (__builtin_expect(two[0].at_ns == two[1].at_ns && two[0].at_ns != UINT64_MAX, 0)) {
        return two[contest_is_before(&due[two[1].leaf], &due[two[0].leaf]) ? 1 : 0];
    }
    return two[two[1].at_ns < two[0].at_ns ? 1 : 0];
}

void contest_add_coming(struct contest *contest, uint32_t link, uint32_t packet);
void contest_add_ack(struct contest *contest, uint32_t packet, uint64_t at_ns);
uint32_t contest_packet_take(struct contest *contest, uint32_t sender);

static inline uint32_t contest_leaf_of_link(uint32_t link)
{
    return 2 * link;
}

static inline uint32_t contest_leaf_of_sender(uint32_t sender)
{
    return 2 * sender + 1;
}

static inline struct contest_leg *contest_legs(const struct contest *contest, uint32_t sender)
{
    return contest->legs + (uint64_t)sender * contest->leg_room;
}

static inline uint64_t contest_leg_ns(const struct contest *contest, const struct contest_leg *leg, uint32_t bytes)
{
    return leg->delay_ns + (bytes == contest->full_bytes ? leg->full_ns : (uint64_t)(bytes * leg->byte_ns + 0.5));
}

#endif
