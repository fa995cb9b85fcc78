/*
 * What congestion control makes of senders that meet at one queue: they cut their rates when it grows, and while they
 * have cut too much, or have not climbed back yet, the link is not full. Each sender keeps what its control keeps, and
 * the bytes it has on their way; time goes by a part of a round trip at once.
 *
 * The laws are those of the packet network's controls (net/packet/cc.c, hpcc.c) with the same parameters. Pure
 * arithmetic on two structs: knows nothing of flows, ports and events (controlled.c).
 */
#ifndef ORR_NET_FLOW_CONTROL_H
#define ORR_NET_FLOW_CONTROL_H

#include <stdbool.h>
#include <stdint.h>

#include "net/packet/mrg32k3a.h"
#include "topo/packet_config.h"

/* Steps of a mean round trip, which is what it takes from a sender to the queue and back; steps remembered. */
enum { CONTROL_STEPS = 4, CONTROL_KEPT = 16 };

/* The queue of one link. Rates in bytes a nanosecond, times in ns. */
struct control_queue {
    double capacity;              /* what the link has for these senders */
    double room;                  /* bytes that may wait here before the peers are paused */
    double room_before;           /* and elsewhere on the ways, before the senders are */
    double round_trip;            /* on an empty network, mean of the senders */
    double packet;                /* bytes on the wire */
    double flight;                /* of all senders */
    double leaving;               /* what would leave of that, had the link no bound */
    double waiting[CONTROL_KEPT]; /* bytes that waited, step by step */
    uint32_t place;               /* the latest of them */
    struct packet_mark rule;
};

struct control_sender {
    double line;       /* its host's link */
    double window;     /* bytes, 0 = none */
    double round_trip; /* on an empty network */
    double left;       /* bytes that have not left the queue yet; the caller's */
    double flight;     /* what was sent of these and is not acknowledged, and what fills the network from the start */
    double filled;     /* the latter */
    double rate;
    double reference;                     /* what the next rate is reckoned from; DCQCN: the target */
    double now, alpha;                    /* since it was started */
    double alpha_at, cut_at, increase_at; /* DCQCN: timers, 0 = none */
    double use;                           /* HPCC: of the link, smoothed */
    double round_at;                      /* HPCC, TIMELY: when the round trip under way is over */
    double round;                         /* how long it takes */
    double difference, last_rtt;          /* TIMELY; 0 = none yet */
    uint32_t stage;
    bool marked_for_alpha, marked_for_rate;
};

/* Whether this control can leave a link unused at all. */
bool control_matters(const struct packet_config *config);
struct packet_mark control_rule(const struct packet_config *config, uint64_t rate_bps);

/* The sender's line, window and round trip are set; it begins at its line's rate. */
void control_sender_start(struct control_sender *sender, const struct control_queue *queue, uint32_t senders);

static inline double control_step_ns(const struct control_queue *queue)
{
    return queue->round_trip / CONTROL_STEPS;
}

/* What would leave of a sender's bytes if the link had no bound: they are there for a round trip, and as long as all
 * that waits takes to leave. The caller sums it up. */
double control_sender_leaving(const struct control_sender *sender, const struct control_queue *queue);
/* The queue's `flight` and `leaving` are sums over its senders: what waits is noted. */
void control_queue_step(struct control_queue *queue);
/* One step of a sender, of whose bytes so many leave a nanosecond. */
void control_sender_step(struct control_sender *sender, const struct packet_config *config,
                         const struct control_queue *queue, double leaving, struct mrg32k3a *random);
/* Nothing holds it back. */
bool control_sender_is_free(const struct control_sender *sender, const struct control_queue *queue);

#endif
