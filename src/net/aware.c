/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A message holds one link at a time and waits in that link's line when it is busy. At each rank it goes on along the
 * lowest dimension in which it is not yet home; within a ring it keeps the shorter way round (clockwise at a tie), so
 * the route never has to be stored. A switch is crossed by two links, up and down.
 *
 * The arrival is scheduled before the link is freed: with equal times that order shows (spec analytical §11.2).
 *
 * Folded (struct net_fold), a message stays at rank 0 and its destination comes nearer; the links are rank 0's, that
 * down from a switch included, which is the one that other ranks' messages for it come by.
 */
#include <inttypes.h>
#include <stdio.h>

#include "base/pool.h"
#include "base/ticks.h"
#include "net/net.h"

struct link {
    uint32_t head, tail; /* transits waiting, 0 = none */
    uint32_t busy;
    uint32_t down; /* by a fault: what comes waits */
};

/* A message on its way. */
struct transit {
    uint64_t bytes;
    uint64_t since_ns; /* waits for a link */
    double stretch;    /* multiplies each hop's delay (jitter) */
    uint32_t message;
    uint32_t at; /* rank last visited */
    uint32_t dst;
    uint32_t next;     /* in a link's queue, or next free */
    uint8_t in_switch; /* at the switch of the dimension being crossed */
    uint8_t counted;   /* 1 + the dimension that has counted it, 0 = none yet */
    uint32_t move;     /* folded: how far the link being crossed leads */
};

POOL_DEFINE(transits, struct transit, next);

struct aware {
    struct link *links;
    uint64_t first_link[TOPO_MAX_DIMS + 1]; /* a dimension's links are consecutive */
    struct transits transits;
    struct net_touch *touches; /* folded: by link */
    double *factors;           /* of the rate, by link; NULL: 1. Folded: of all */
    bool has_faults;           /* they are in the queue */
};

/* Places in the link table: simple addresses matter more than a few unused entries. */
static uint64_t link_places(uint32_t ranks, const struct topo_dim *dim)
{
    return (uint64_t)ranks * (dim->kind == TOPO_FULLY_CONNECTED ? dim->size : 2);
}

static uint64_t lay_out_links(struct aware *aware, const struct topo_dims *dims, uint32_t ranks)
{
    uint64_t places = 0;
    for (uint32_t d = 0; d < dims->count; d++) {
        aware->first_link[d] = places;
        places += link_places(ranks, &dims->dim[d]);
    }
    aware->first_link[dims->count] = places;
    return places;
}

/* Of a link by its place in the table. */
static double factor_of(const struct net *net, uint32_t d, uint32_t place)
{
    const struct topo_dim *dim = &net->dims->dim[d];
    uint32_t each = dim->kind == TOPO_FULLY_CONNECTED ? dim->size : 2;
    uint32_t rank = place / each;
    uint32_t from = topo_coordinate(dim, rank);
    uint32_t to = place % each; /* of a mesh */
    if (dim->kind == TOPO_SWITCH) {
        return topo_link_factor(net->dims, rank, net->dims->ranks);
    }
    if (dim->kind == TOPO_RING) {
        to = (to == 0 ? from + 1 : from + dim->size - 1) % dim->size;
    }
    return topo_link_factor(net->dims, rank, rank + (to - from) * dim->stride);
}

static bool make_factors(struct net *net, size_t places, bool wanted)
{
    struct aware *aware = net->state;
    if (!wanted || aware->factors != NULL) {
        return true;
    }
    aware->factors = mem_alloc(net->mem, places * sizeof *aware->factors);
    for (uint32_t d = 0; aware->factors != NULL && d < net->dims->count; d++) {
        for (uint64_t link = aware->first_link[d]; link < aware->first_link[d + 1]; link++) {
            aware->factors[link] = factor_of(net, d, (uint32_t)(link - aware->first_link[d]));
        }
    }
    return aware->factors != NULL;
}

static enum orr_status aware_open(struct net *net, struct orr_error *err)
{
    struct aware *aware = mem_zalloc(net->mem, sizeof *aware);
    if (aware == NULL) {
        return mem_error(net->mem, "the network", err);
    }
    net->state = aware;
    uint64_t places = lay_out_links(aware, net->dims, net->dims->ranks);
    if (places > UINT32_MAX) {
        return error_set(err, ORR_ENOMEM, "the network has %" PRIu64 " links; at most %" PRIu32 " can be simulated",
                         places, UINT32_MAX);
    }
    aware->links = mem_zalloc(net->mem, (size_t)places * sizeof *aware->links);
    if (aware->links == NULL || !transits_init(&aware->transits, net->mem) ||
        !make_factors(net, (size_t)places, net->dims->link_factors != NULL)) {
        return mem_error(net->mem, "the table of links", err);
    }
    return ORR_OK;
}

static void free_links(struct net *net, struct aware *aware)
{
    size_t places = (size_t)aware->first_link[net->dims->count];
    mem_free(net->mem, aware->links, places * sizeof *aware->links);
    mem_free(net->mem, aware->factors, places * sizeof *aware->factors);
    aware->factors = NULL;
    if (aware->touches != NULL) {
        mem_free(net->mem, aware->touches, places * sizeof *aware->touches);
    }
}

static bool aware_fold(struct net *net)
{
    struct aware *aware = net->state;
    free_links(net, aware);
    size_t places = (size_t)lay_out_links(aware, net->dims, 1);
    aware->links = mem_zalloc(net->mem, places * sizeof *aware->links);
    aware->touches = mem_zalloc(net->mem, places * sizeof *aware->touches);
    return aware->links != NULL && aware->touches != NULL && make_factors(net, places, net->dims->link_factors != NULL);
}

static void aware_close(struct net *net)
{
    struct aware *aware = net->state;
    if (aware != NULL) {
        free_links(net, aware);
        transits_free(&aware->transits, net->mem);
        mem_free(net->mem, aware, sizeof *aware);
    }
}

/* The dimension to cross next from rank `at` to `dst`, and both coordinates in it. */
static uint32_t next_dim(const struct net *net, uint32_t at, uint32_t dst, uint32_t *from, uint32_t *to)
{
    if (net->dims->count == 1) {
        *from = at;
        *to = dst;
        return 0;
    }
    for (uint32_t d = 0;; d++) {
        *from = topo_coordinate(&net->dims->dim[d], at);
        *to = topo_coordinate(&net->dims->dim[d], dst);
        if (*from != *to) {
            return d;
        }
    }
}

/* The link out of where the transit stands; moves it to the link's far end, where it will be once it has crossed. */
static uint32_t net_aware_step(const struct net *net, struct transit *transit, uint32_t *dim_index)
{
    const struct aware *aware = net->state;
    uint32_t from = 0;
    uint32_t to = 0;
    if (transit->at >= net->dims->ranks || transit->dst >= net->dims->ranks) {
        bool up = transit->at < net->dims->ranks;
        uint32_t rank = up ? transit->at : transit->dst;
        transit->at = transit->dst;
        *dim_index = 0;
        return (uint32_t)aware->first_link[0] + 2 * rank + (up ? 0 : 1);
    }
    uint32_t d = next_dim(net, transit->at, transit->dst, &from, &to);
    const struct topo_dim *dim = &net->dims->dim[d];
    uint32_t first = (uint32_t)aware->first_link[d];
    uint32_t at = transit->at;
    uint32_t target = at + (to - from) * dim->stride; /* modulo 2^32: to may be below from */
    *dim_index = d;
    switch (dim->kind) {
    case TOPO_RING: {
        uint32_t clockwise = to >= from ? to - from : to + dim->size - from;
        bool backwards = dim->size - clockwise < clockwise;
        uint32_t next = backwards ? (from == 0 ? dim->size - 1 : from - 1) : (from + 1 == dim->size ? 0 : from + 1);
        transit->at = at + (next - from) * dim->stride;
        return first + 2 * at + (backwards ? 1 : 0);
    }
    case TOPO_SWITCH:
        if (!transit->in_switch) {
            transit->in_switch = 1;
            return first + 2 * at;
        }
        transit->in_switch = 0;
        transit->at = target;
        return first + 2 * target + 1;
    case TOPO_FULLY_CONNECTED:
        break;
    }
    transit->at = target;
    return first + at * dim->size + to;
}

/* The same at rank 0, which stays there while its destination moves towards it. Ways to a switch lead to the rank
 * behind it, whose link is next. */
static uint32_t net_aware_step_folded(const struct net *net, struct transit *transit, uint32_t *d)
{
    const struct aware *aware = net->state;
    bool inside = transit->in_switch != 0;
    uint32_t from = 0;
    uint32_t to = 0;
    const struct topo_dim *dim = &net->dims->dim[next_dim(net, 0, transit->dst, &from, &to)];
    (void)net_aware_step(net, transit, d);
    uint32_t first = (uint32_t)aware->first_link[*d];
    uint32_t far_end = transit->at;
    transit->move = inside ? 0 : transit->in_switch ? to * dim->stride : far_end;
    transit->dst = topo_rank_offset(net->dims, far_end, transit->dst);
    transit->at = 0;
    switch (dim->kind) {
    case TOPO_SWITCH:
        return first + (inside ? 1 : 0);
    case TOPO_FULLY_CONNECTED:
        return first + to;
    case TOPO_RING:
        break;
    }
    return first + (topo_coordinate(dim, far_end) == 1 ? 0 : 1);
}

static void push_hop(struct net *net, uint32_t index, uint64_t time)
{
    struct event_queue *queue = net->queue;
    struct event_cause here = queue->cause;
    if (net->fold.on) {
        queue->cause.origin = net_fold_moved(net, here.origin, ((struct aware *)net->state)->transits.at[index].move);
    }
    (void)event_queue_push(queue, time, NET_EVENT_HOP, index, 0);
    queue->cause = here;
}

static struct net_hop hop_of(const struct net *net, uint32_t link, uint32_t d, uint64_t bytes)
{
    const struct aware *aware = net->state;
    const struct topo_dim *dim = &net->dims->dim[d];
    double rate = aware->factors == NULL ? dim->bytes_per_ns : dim->bytes_per_ns * aware->factors[link];
    double serialise = (double)bytes / rate;
    return (struct net_hop){.link = link,
                            .dim = d,
                            .busy_ns = ticks_from_double(serialise),
                            .cross_ns = ticks_from_double(dim->latency_ns + serialise)};
}

static uint32_t aware_own_hops(const struct net *net, uint32_t src, uint32_t dst, uint64_t bytes,
                               struct net_hop hops[NET_OWN_HOPS])
{
    struct transit transit = {.at = src, .dst = dst};
    uint32_t count = 0;
    uint32_t d = 0;
    while ((transit.at != dst || transit.in_switch) && count < NET_OWN_HOPS) {
        uint32_t link = net_aware_step(net, &transit, &d);
        hops[count++] = hop_of(net, link, d, bytes);
    }
    uint32_t own = net->dims->dim[d].kind == TOPO_SWITCH ? 2 : 1;
    return transit.at == dst && !transit.in_switch && count == own && hops[0].dim == d ? count : 0;
}

static void net_aware_transmit(struct net *net, uint32_t index, uint32_t link, uint32_t d)
{
    struct aware *aware = net->state;
    struct transit *transit = &aware->transits.at[index];
    struct event_queue *queue = net->queue;
    const struct net_hop hop = hop_of(net, link, d, transit->bytes);
    uint64_t arrival = hop.cross_ns;
    if (transit->stretch != 1.0) {
        arrival = ticks_from_double((double)arrival * transit->stretch);
    }
    aware->links[link].busy = 1;
    net->stats[d].bytes += transit->bytes;
    net->stats[d].busy_ns += hop.busy_ns;
    if (transit->counted != d + 1) {
        transit->counted = (uint8_t)(d + 1);
        net->stats[d].messages++;
    }
    push_hop(net, index, queue->now + arrival);
    (void)event_queue_push(queue, queue->now + hop.busy_ns, NET_EVENT_LINK_FREE, link, d);
}

static void enter_link(struct net *net, uint32_t index)
{
    struct aware *aware = net->state;
    struct transit *transit = &aware->transits.at[index];
    uint32_t d = 0;
    uint32_t link_index = net->fold.on ? net_aware_step_folded(net, transit, &d) : net_aware_step(net, transit, &d);
    if (net->fold.on) {
        net_fold_touch(net, &aware->touches[link_index]);
    }
    struct link *link = &aware->links[link_index];
    if (!link->busy && !link->down) {
        net_aware_transmit(net, index, link_index, d);
        return;
    }
    transit->next = 0;
    transit->since_ns = net->queue->now;
    if (link->head == 0) {
        link->head = index;
    } else {
        aware->transits.at[link->tail].next = index;
    }
    link->tail = index;
    net->stats[d].queued++;
}

/* ---- faults ---- */

/* The links of a fault, one each way. */
static uint32_t links_of_fault(const struct net *net, const struct net_fault *fault, uint32_t links[2])
{
    const struct aware *aware = net->state;
    uint32_t d = fault->dim;
    if (fault->b == NET_NO_MESSAGE) {
        links[0] = (uint32_t)aware->first_link[d] + 2 * fault->a;
        links[1] = links[0] + 1;
        return d;
    }
    struct transit there = {.at = fault->a, .dst = fault->b};
    struct transit back = {.at = fault->b, .dst = fault->a};
    links[0] = net_aware_step(net, &there, &d);
    links[1] = net_aware_step(net, &back, &d);
    return d;
}

static void begin_next(struct net *net, uint32_t link_index, uint32_t d)
{
    struct aware *aware = net->state;
    struct link *link = &aware->links[link_index];
    uint32_t index = link->head;
    if (index != 0 && !link->busy && !link->down) {
        link->head = aware->transits.at[index].next;
        /* Which of a message and the end of the one before is handled first at one nanosecond is no matter. */
        net->stats[d].queued -= aware->transits.at[index].since_ns == net->queue->now;
        net_aware_transmit(net, index, link_index, d);
    }
}

/* What is on a link arrives; what comes after goes at the new rate. */
static void fault_change_links(struct net *net, const struct net_fault *fault)
{
    struct aware *aware = net->state;
    uint32_t links[2];
    uint32_t d = links_of_fault(net, fault, links);
    for (uint32_t i = 0; i < 2; i++) {
        double own = factor_of(net, d, links[i] - (uint32_t)aware->first_link[d]);
        aware->factors[links[i]] = own * fault->factor;
        aware->links[links[i]].down = fault->factor == 0.0;
        begin_next(net, links[i], d);
    }
}

static void begin_faults(struct net *net)
{
    struct aware *aware = net->state;
    aware->has_faults = true;
    if (!make_factors(net, (size_t)aware->first_link[net->dims->count], true)) {
        net->queue->failed = true;
        return;
    }
    for (uint32_t i = 0; i < net->fault_count; i++) {
        if (net->faults[i].time_ns <= net->queue->now) {
            fault_change_links(net, &net->faults[i]);
        } else {
            (void)event_queue_push(net->queue, net->faults[i].time_ns, NET_EVENT_LINK_FAULT, i, 0);
        }
    }
}

static uint32_t waiting_at(const struct aware *aware, const struct link *link)
{
    uint32_t count = 0;
    for (uint32_t index = link->head; index != 0; index = aware->transits.at[index].next) {
        count++;
    }
    return count;
}

/* Links that never come back, and what stands before them. */
static uint32_t aware_explain(const struct net *net, struct arena *arena, struct net_stuck *stuck, uint32_t room)
{
    const struct aware *aware = net->state;
    uint32_t told = 0;
    for (uint32_t i = 0; i < net->fault_count && told < room; i++) {
        const struct net_fault *fault = &net->faults[i];
        uint32_t links[2];
        (void)links_of_fault(net, fault, links);
        uint32_t waiting = waiting_at(aware, &aware->links[links[0]]) + waiting_at(aware, &aware->links[links[1]]);
        if (fault->factor != 0.0 || waiting == 0 || !aware->links[links[0]].down) {
            continue;
        }
        bool at_switch = fault->b == NET_NO_MESSAGE;
        char far_end[40];
        (void)snprintf(far_end, sizeof far_end, at_switch ? "the switch of dimension %" PRIu32 : "rank %" PRIu32,
                       at_switch ? fault->dim : fault->b);
        const char *text = arena_printf(arena,
                                        "the link between rank %" PRIu32 " and %s is down since %" PRIu64
                                        " ns, and %" PRIu32 " message%s for it",
                                        fault->a, far_end, fault->time_ns, waiting, waiting == 1 ? " waits" : "s wait");
        if (text != NULL) {
            stuck[told++] = (struct net_stuck){.text = text,
                                               .fix = "let the link come back (until, in the file of parameter "
                                                      "'faults')",
                                               .ranks = {fault->a, at_switch ? fault->a : fault->b},
                                               .rank_count = at_switch ? 1 : 2};
        }
    }
    return told;
}

static void aware_send(struct net *net, uint32_t message, uint32_t src, uint32_t dst, uint64_t bytes, double stretch)
{
    struct aware *aware = net->state;
    if (net->fault_count > 0 && !aware->has_faults) {
        begin_faults(net);
    }
    /* After a refused allocation the caller may have nothing real to send; the loop is about to stop. */
    uint32_t index = net->queue->failed ? 0 : transits_take(&aware->transits, net->mem, &net->queue->failed);
    if (index == 0) {
        return;
    }
    aware->transits.at[index] =
        (struct transit){.bytes = bytes, .stretch = stretch, .message = message, .at = src, .dst = dst};
    enter_link(net, index);
}

static uint32_t aware_handle(struct net *net, const struct event *event)
{
    struct aware *aware = net->state;
    if (event->kind == NET_EVENT_LINK_FREE) {
        struct link *link = &aware->links[event->a];
        if (net->fold.on) {
            net_fold_touch(net, &aware->touches[event->a]);
        }
        link->busy = 0;
        begin_next(net, event->a, event->b);
        return NET_NO_MESSAGE;
    }
    if (event->kind == NET_EVENT_LINK_FAULT) {
        fault_change_links(net, &net->faults[event->a]);
        return NET_NO_MESSAGE;
    }
    struct transit *transit = &aware->transits.at[event->a];
    if (transit->at != transit->dst || transit->in_switch) {
        enter_link(net, event->a);
        return NET_NO_MESSAGE;
    }
    uint32_t message = transit->message;
    net->moved_bytes += (double)transit->bytes;
    transits_give(&aware->transits, event->a);
    return message;
}

const struct net_ops net_aware = {.name = "congestion-aware",
                                  .open = aware_open,
                                  .close = aware_close,
                                  .send = aware_send,
                                  .handle = aware_handle,
                                  .explain = aware_explain,
                                  .own_hops = aware_own_hops,
                                  .fold = aware_fold};
