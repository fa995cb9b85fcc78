/* SPDX-License-Identifier: Apache-2.0 */
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

#include "base/arena.h"
#include "base/event_queue.h"
#include "base/notes.h"
#include "topo/alike.h"
#include "topo/dims.h"

/* Event kinds below NET_EVENT_KINDS belong to the network; the user's start there. */
enum net_event_kind {
    NET_EVENT_HOP,
    NET_EVENT_LINK_FREE,
    NET_EVENT_PACKET_SENT,
    NET_EVENT_PACKET_ARRIVED,
    NET_EVENT_PACKET_TIMER,
    NET_EVENT_PACKET_RESUME,
    NET_EVENT_PACKET_START,
    NET_EVENT_PACKET_CONTROL,
    NET_EVENT_FLOW_STEP,
    NET_EVENT_FLOW_ENDS,
    NET_EVENT_FLOW_SETTLE,
    NET_EVENT_PACKET_TIMEOUT,
    NET_EVENT_PACKET_SAMPLE,
    NET_EVENT_PACKET_LINK,
    NET_EVENT_PACKET_CREDIT,
    NET_EVENT_LINK_FAULT,
    NET_EVENT_KINDS
};

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

/* One direction of a link, after the run. The queue is the one a packet finds before it when it comes to leave a switch
 * that way, itself not counted; a host's messages wait in memory, not in a queue. */
struct net_link {
    uint32_t from, to; /* nodes */
    bool from_switch;
    uint64_t rate_bps;
    uint64_t bytes, busy_ns; /* all that went over it, headers and acknowledgements included */
    uint64_t marks, drops;   /* for want of room, of packets that would have gone this way */
    uint64_t pauses;         /* how often the far end asked this one to stop */
    uint64_t losses;         /* by errors of the link */
    uint64_t queue_p50, queue_p95, queue_p99, queue_most; /* bytes */
};

struct net_spread {
    uint64_t p50, p95, p99, most;
};

/* What a network with packets counted. */
struct topo_graph; /* topo/graph.h */

struct net_figures {
    const struct net_link *links; /* NULL in networks that have no such figures */
    uint32_t link_count;
    const struct topo_graph *graph; /* the machine whose links these are; borrowed from the network's owner */
    uint64_t flows;                 /* messages that arrived */
    struct net_spread duration_ns;
    struct net_spread slowdown_permille; /* duration in thousandths of the time on an empty network */
    uint64_t transmissions, data_packets, marks, pauses, drops, losses, timeouts;
    uint64_t in_flight_most; /* packets on links and in queues at one time */
    uint64_t jumps, skipped; /* fast-forward: how often, and how many of the transmissions were not made one by one */
};

/* One reason why messages will not arrive, found once nothing moves any more. */
struct net_stuck {
    const char *text; /* one sentence, no newline */
    const char *fix;  /* what to change, or NULL */
    uint32_t ranks[2];
    uint32_t rank_count;
};

/* From now on the links between two ranks, or of a rank and the switch of a dimension, have another rate, both ways. */
struct net_fault {
    uint64_t time_ns;
    uint32_t a, b; /* `b` NET_NO_MESSAGE: the switch of dimension `dim` */
    uint32_t dim;
    double factor; /* of the rate; 0: nothing goes over them */
};

/* Where rank 0 stands for all ranks of a machine that looks the same from each (sim/symmetry.h): it sends each message
 * to itself, for what a rank sends is what comes to it from the other side, and a link of rank 0's is that link at
 * every rank. The event queue keeps causes: `origin` says at which rank the events that led to this one began, seen
 * from where it happens. Below the number of ranks it is the offset from there to here; above, a name for a way that is
 * no offset (net_fold_moved), or that is another at some ranks. */
enum { NET_FOLD_WAYS = 16 };

struct net_fold {
    bool on;
    bool unsure;          /* two events used one thing in an order that may be another at another rank */
    uint32_t next_origin; /* not given out yet */
    uint32_t batch;       /* whose ways these are */
    uint32_t way_count;
    struct {
        uint64_t move;
        uint32_t origin, becomes;
    } ways[NET_FOLD_WAYS];
};

struct net;

/* A link on a message's way, and what the message takes there. */
struct net_hop {
    uint32_t link, dim;
    uint64_t busy_ns;  /* until the next one may begin */
    uint64_t cross_ns; /* until it is at the far end */
};

enum { NET_OWN_HOPS = 2 };

/* What went over a port. */
struct net_carried {
    double bytes, busy_ns;
};

/* Messages that are like one that is sent, in everything but the wires they go over, which are nobody else's: where
 * that one goes over a port of some place, each of them goes over its own of the same place, or, where there are
 * several, over one like it. They are not sent; the network counts them with the one that is. */
struct net_twins {
    uint32_t count;
    uint32_t places;
    const uint32_t *place;        /* by port, of the message that is sent */
    const bool *is_choice;        /* by port: it is one of several that such a message could take there */
    const uint32_t *const *ports; /* by twin and place */
    struct net_carried *carried;  /* by place: what each of them has sent there and count_twins has not seen yet */
};

/* Ends of a message are ranks. Beyond them: in a wired machine its switches by their numbers; in a network of
 * dimensions whose dimension 0 is switches, these, in order, from dims->ranks on. Such a message crosses one link of
 * that dimension, and its other end is on it. */
struct net_ops {
    const char *name;
    /* Without contention: the path from `src` to `dst` (another rank). NULL in the other kind. */
    struct net_path (*fixed_path)(const struct net *net, uint32_t src, uint32_t dst, uint64_t bytes);
    /* With contention; all NULL in the other kind. */
    enum orr_status (*open)(struct net *net, struct orr_error *err); /* makes net->state */
    void (*close)(struct net *net);                                  /* also after a failed open */
    void (*send)(struct net *net, uint32_t message, uint32_t src, uint32_t dst, uint64_t bytes, double stretch);
    uint32_t (*handle)(struct net *net, const struct event *event);
    /* May be NULL. What the network knows of messages that were sent and will never arrive: fills at most `room`
     * entries, texts in the arena, and returns how many it filled. */
    uint32_t (*explain)(const struct net *net, struct arena *arena, struct net_stuck *stuck, uint32_t room);
    /* May be NULL. The network's figures, in the arena; false when memory is refused. */
    bool (*figures)(const struct net *net, struct arena *arena, struct net_figures *figures);
    /* May be NULL. Asked when the run is over or the network gave up: which network has to carry the whole job from its
     * beginning instead, NULL = this one's answer stands. That one's answer stands. */
    const struct net_ops *(*instead)(const struct net *net);
    /* May be NULL. Whether there was something in the run that this network only estimates. */
    bool (*doubtful)(const struct net *net);
    /* May be NULL, which means no. Whether its answer will stand in any case, and whether it counts twins; known before
     * the first message. */
    bool (*takes_twins)(const struct net *net);
    /* Where twins are taken: these are to come no more, and what they carried is for the figures. */
    void (*count_twins)(struct net *net, struct net_twins *twins);
    /* May be NULL, which means no. From now on a message stands for all that the turns of these ranks take it to, and
     * goes over wires that stand for theirs. Before the first message, and where twins are taken. Of several equal ways
     * all are used alike where they are `spread`; else such a message parts the network. False: the machine does not
     * look the same from each of them, or no memory. */
    bool (*stand_for)(struct net *net, const struct topo_alike *alike, bool spread);
    /* NULL where a message's way has no links that are told apart. The links from `src` to `dst`, another rank, in
     * order; 0: there are others' between them, or more than one dimension. */
    uint32_t (*own_hops)(const struct net *net, uint32_t src, uint32_t dst, uint64_t bytes,
                         struct net_hop hops[NET_OWN_HOPS]);
    /* May be NULL where net_fixed_path is all there is to it. Fewer links are enough from now on; false: no memory. */
    bool (*fold)(struct net *net);
};

extern const struct net_ops net_unaware; /* spec analytical §11.1 */
extern const struct net_ops net_aware;   /* §11.2, in any number of dimensions */

struct net {
    const struct net_ops *ops;
    const struct topo_dims *dims;
    struct event_queue *queue;
    struct mem *mem;
    bool contention;
    bool gave_up;          /* with the queue's `failed` set: see net_ops.instead */
    bool parted;           /* with the queue's `failed` set: a message is not like others, send each by itself */
    double expected_bytes; /* that the job will send, more or less; set before the first message, 0 = not known */
    double moved_bytes;    /* of messages, that have arrived so far; unaware: not counted */
    struct net_dim_stats stats[TOPO_MAX_DIMS];
    struct net_fold fold;
    const struct net_fault *faults; /* aware: set before the first message, borrowed; wired machines have their own */
    uint32_t fault_count;
    const struct net_twins *twins; /* of the message being sent, valid until it has arrived; NULL = none */
    /* Of the message being sent: those of one connection of two ranks leave one after the other, as from one queue pair
     * of NCCL's. 0 = none, a queue pair of its own. Only where messages contend for wires. */
    uint32_t connection;
    void *state;         /* the model's own */
    const void *machine; /* what a model needs beyond the dimensions (packet_machine), or NULL; borrowed */
    void (*arrived)(void *context, uint32_t message);
    void *arrived_context;
};

/* Borrows dims, queue and mem. */
ORR_MUST_CHECK enum orr_status net_init(struct net *net, const struct net_ops *ops, const struct topo_dims *dims,
                                        struct event_queue *queue, struct mem *mem, struct orr_error *err);
/* The same for a model that needs to know a machine beyond its dimensions, and says itself when a message has arrived:
 * `arrived` is called in the middle of an event and may send. Borrows the machine too. */
ORR_MUST_CHECK enum orr_status net_init_machine(struct net *net, const struct net_ops *ops,
                                                const struct topo_dims *dims, const void *machine,
                                                void (*arrived)(void *context, uint32_t message), void *context,
                                                struct event_queue *queue, struct mem *mem, struct orr_error *err);
void net_free(struct net *net);
/* Before the first message. False: no memory. */
ORR_MUST_CHECK bool net_fold(struct net *net);
/* What an origin becomes a message's way further on. `move` is the offset, or above the number of ranks another number
 * for what each rank's peer is, the same for the same. */
uint32_t net_fold_moved(struct net *net, uint32_t origin, uint64_t move);

/* The last use of something that several events may want at once. */
struct net_touch {
    uint64_t time_ns;
    struct event_cause cause;
};

/* The event being handled uses it; fold.unsure, and the queue has failed, where another one did just before that may
 * come just after it elsewhere. */
void net_fold_touch(struct net *net, struct net_touch *touch);

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

/* One line for the user where the network only estimates what happened. */
ORR_MUST_CHECK enum orr_status net_note_doubt(const struct net *net, struct notes *notes, struct orr_error *err);

/* The share of the job's bytes that have arrived, as far as it is known how many there will be: 0 to 0.99. */
static inline double net_share_moved(const struct net *net)
{
    const double most = 0.99;
    double share = net->expected_bytes > 0 ? net->moved_bytes / net->expected_bytes : 0;
    return share < most ? share : most;
}

static inline const struct net_ops *net_instead(const struct net *net)
{
    return net->ops->instead == NULL ? NULL : net->ops->instead(net);
}

#endif
