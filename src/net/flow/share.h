/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Max-min fair shares of links: every flow gets the largest rate that takes nothing from a flow with less. A flow uses
 * some links, each at a cost (the link's time that one unit of rate takes, so a link is full at cost 1); its rate may
 * have a ceiling of its own. What the units are is the caller's business, and so are time and messages.
 *
 * Flows join and leave links; share_settle then finds the rates that follow, looking only at flows whose bottleneck the
 * changes reach. Flows are numbered by the caller, densely; nothing is allocated but growing arrays.
 */
#ifndef ORR_NET_FLOW_SHARE_H
#define ORR_NET_FLOW_SHARE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/mem.h"

enum { SHARE_NONE = UINT32_MAX };

/* One flow's use of one link. */
struct share_use {
    uint32_t link;
    uint32_t place; /* among the link's users, or SHARE_NONE */
    double cost;
};

struct share_link {
    uint32_t *users; /* places in `uses` */
    uint32_t count, capacity;
    double load;   /* of all users */
    bool is_dirty; /* somebody left */
    /* While settling. */
    uint32_t mark;
    uint32_t raised_count; /* users whose rates are being found anew */
    uint32_t rising;       /* those of them not settled yet */
    bool is_full;          /* a flow was settled by it */
    bool is_changed;       /* its users or their rates are not what they were */
    double fixed;          /* load of the others */
    double raised_cost, cost;
    double room;     /* left by all settled ones */
    double level;    /* rate at which it was full */
    double top;      /* largest rate found anew */
    uint64_t looked; /* users that were looked at */
    uint32_t root;   /* one link of those that hang together (share_connect) */
};

struct share_flow {
    double rate;
    double before;       /* the rate until the last settling, of flows in `found` */
    double ceiling;      /* INFINITY = none */
    uint32_t bottleneck; /* the link that holds it, or SHARE_NONE: its ceiling */
    uint32_t held_before;
    uint32_t mark;
    bool settled;
    bool is_fresh;
};

/* A bound that the common rate may meet: a link's, or a flow's ceiling. */
struct share_bound {
    double level;
    uint32_t index;
};

struct share_list {
    uint32_t *at;
    uint32_t count, capacity;
};

struct share_heap {
    struct share_bound *at;
    uint32_t count, capacity;
};

struct share {
    struct share_link *links;
    uint32_t link_count;
    struct share_flow *flows;
    uint32_t flow_capacity;
    struct share_use *uses; /* `room` a flow */
    uint32_t use_capacity;
    uint32_t room;
    double tolerance;        /* relative: rates this near are equal */
    uint32_t settling;       /* number of the last one */
    struct share_list fresh; /* flows that joined links */
    struct share_list dirty; /* links that were left */
    struct share_list found; /* flows whose rates were found anew by the last settling */
    struct share_list met;   /* links they use */
    uint64_t looked;         /* uses of links that it looked at */
    struct share_heap bounds, ceilings;
    struct mem *mem;
    bool failed; /* memory was refused; shares are not to be trusted */
};

/* Flows use at most `room` links. False when memory is refused. */
ORR_MUST_CHECK bool share_init(struct share *share, uint32_t links, uint32_t room, double tolerance, struct mem *mem);
void share_free(struct share *share);

/* A fresh flow under this number: no links, rate 0. Its uses are then given by share_set. */
void share_flow_start(struct share *share, uint32_t flow, double ceiling);
/* Says which link use `i` of a flow is, and its cost, without taking it up. */
void share_set(struct share *share, uint32_t flow, uint32_t i, uint32_t link, double cost);
/* Takes up uses [first, end), and gives them up again. One that costs nothing is not taken up; a flow that has none
 * else needs a ceiling. */
void share_join(struct share *share, uint32_t flow, uint32_t first, uint32_t end);
void share_leave(struct share *share, uint32_t flow, uint32_t first, uint32_t end);
/* Its rate is at most this from the next settling on. */
void share_set_ceiling(struct share *share, uint32_t flow, double ceiling);
/* From now on the flow's rate is at most what it is. */
void share_hold(struct share *share, uint32_t flow);

static inline struct share_use *share_uses(const struct share *share, uint32_t flow)
{
    return share->uses + (uint64_t)flow * share->room;
}

/* Whether anything joined or left since the last settling. */
static inline bool share_is_stale(const struct share *share)
{
    return share->fresh.count > 0 || share->dirty.count > 0;
}

/* Makes rates follow what joined and left; `found` then lists the flows that were looked at, with their rates before.
 */
void share_settle(struct share *share);

/* After a settling: finds which of its flows hang together, over links they use and over others in between. */
void share_connect(struct share *share);
/* Then: how many uses of links were looked at among those that one of them hangs together with. */
uint64_t share_connected_uses(const struct share *share, uint32_t flow);

#endif
