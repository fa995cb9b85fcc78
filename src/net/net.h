/*
 * The networks: something that takes a message at one rank and hands it over at another, later. They know the machine's
 * dimensions and the event queue they share with their user, and nothing of what a message means: a message is a number
 * given by the sender, which comes back when it has arrived.
 *
 * unaware (spec analytical §11.1): a delay that depends on the pair and the size alone. Users may ask for it once and
 * schedule arrivals themselves (net_fixed_path), which is what the engine does.
 * aware (§11.2, extended to any number of dimensions): directed links with first-come-first-served queues, store and
 * forward, dimension-ordered routes.
 */
#ifndef ORR_NET_NET_H
#define ORR_NET_NET_H

#include "base/event_queue.h"
#include "base/pool.h"
#include "topo/dims.h"

/* Event kinds below NET_EVENT_KINDS belong to the network; the user's start there. */
enum net_event_kind { NET_EVENT_HOP, NET_EVENT_LINK_FREE, NET_EVENT_KINDS };

enum { NET_NO_MESSAGE = UINT32_MAX };

/* A message counts once in each dimension it crosses; bytes and time on every link. */
struct net_dim_stats {
    uint64_t messages, bytes, busy_ns, links, queued;
};

/* What the pair and the size decide on a network without contention. */
struct net_path {
    uint64_t delay_ns;
    uint64_t serialise_ns; /* time one link is busy */
    uint32_t hops;
    uint32_t dim;
};

struct net_link {
    uint32_t head, tail; /* transits waiting, 0 = none */
    uint32_t busy;
};

/* A message on its way. */
struct net_transit {
    uint64_t bytes;
    double stretch; /* multiplies each hop's delay (jitter) */
    uint32_t message;
    uint32_t at; /* rank last visited */
    uint32_t dst;
    uint32_t next;     /* in a link's queue, or next free */
    uint8_t in_switch; /* at the switch of the dimension being crossed */
    uint8_t counted;   /* 1 + the dimension that has counted it, 0 = none yet */
};

POOL_DEFINE(net_transits, struct net_transit, next);

struct net {
    const struct topo_dims *dims;
    struct event_queue *queue;
    struct mem *mem;
    bool contention;
    struct net_dim_stats stats[TOPO_MAX_DIMS];
    /* aware only */
    struct net_link *links;
    uint64_t first_link[TOPO_MAX_DIMS + 1]; /* a dimension's links are consecutive */
    struct net_transits transits;
};

/* Borrows dims, queue and mem. */
ORR_MUST_CHECK enum orr_status net_init(struct net *net, bool contention, const struct topo_dims *dims,
                                        struct event_queue *queue, struct mem *mem, struct orr_error *err);
void net_free(struct net *net);

/* Network without contention: the path from `src` to `dst` (another rank). */
struct net_path net_fixed_path(const struct net *net, uint32_t src, uint32_t dst, uint64_t bytes);

/* Network with contention: sends now. */
void net_send(struct net *net, uint32_t message, uint32_t src, uint32_t dst, uint64_t bytes, double stretch);

/* Handles one of the network's events; the message that has arrived by it, or NET_NO_MESSAGE. */
uint32_t net_handle(struct net *net, const struct event *event);

#endif
