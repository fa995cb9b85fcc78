/*
 * The networks: something that takes a message at one rank and hands it over at another, later. They know the machine's
 * dimensions and the event queue they share with their user, and nothing of what a message means: a message is a number
 * given by the sender, which comes back when it has arrived.
 *
 * A model is a table of functions (struct net_ops), of one of two kinds. Without contention a delay depends on the pair
 * and the size alone: the model gives the path, and users schedule arrivals themselves. With contention the model takes
 * the message and puts its own events in the queue; the user hands each of them back to net_handle.
 */
#ifndef ORR_NET_NET_H
#define ORR_NET_NET_H

#include "base/event_queue.h"
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

struct net;

struct net_ops {
    const char *name;
    /* Without contention: the path from `src` to `dst` (another rank). NULL in the other kind. */
    struct net_path (*fixed_path)(const struct net *net, uint32_t src, uint32_t dst, uint64_t bytes);
    /* With contention; all NULL in the other kind. */
    enum orr_status (*open)(struct net *net, struct orr_error *err); /* makes net->state */
    void (*close)(struct net *net);                                  /* also after a failed open */
    void (*send)(struct net *net, uint32_t message, uint32_t src, uint32_t dst, uint64_t bytes, double stretch);
    uint32_t (*handle)(struct net *net, const struct event *event);
};

extern const struct net_ops net_unaware; /* spec analytical §11.1 */
extern const struct net_ops net_aware;   /* §11.2, in any number of dimensions */

struct net {
    const struct net_ops *ops;
    const struct topo_dims *dims;
    struct event_queue *queue;
    struct mem *mem;
    bool contention;
    struct net_dim_stats stats[TOPO_MAX_DIMS];
    void *state; /* the model's own */
};

/* Borrows dims, queue and mem. */
ORR_MUST_CHECK enum orr_status net_init(struct net *net, const struct net_ops *ops, const struct topo_dims *dims,
                                        struct event_queue *queue, struct mem *mem, struct orr_error *err);
void net_free(struct net *net);

static inline struct net_path net_fixed_path(const struct net *net, uint32_t src, uint32_t dst, uint64_t bytes)
{
    return net->ops->fixed_path(net, src, dst, bytes);
}

/* Sends now; each hop's delay is multiplied by `stretch`. */
static inline void net_send(struct net *net, uint32_t message, uint32_t src, uint32_t dst, uint64_t bytes,
                            double stretch)
{
    net->ops->send(net, message, src, dst, bytes, stretch);
}

/* Handles one of the network's events; the message that has arrived by it, or NET_NO_MESSAGE. */
static inline uint32_t net_handle(struct net *net, const struct event *event)
{
    return net->ops->handle(net, event);
}

#endif
