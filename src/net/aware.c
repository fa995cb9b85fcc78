/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A message holds one link at a time and waits in that link's line when it is busy. At each rank it goes on along the
 * lowest dimension in which it is not yet home; within a ring it keeps the shorter way round (clockwise at a tie), so
 * the route never has to be stored. A switch is crossed by two links, up and down.
 *
 * The arrival is scheduled before the link is freed: with equal times that order shows (spec analytical §11.2).
 */
#include <inttypes.h>

#include "base/pool.h"
#include "base/ticks.h"
#include "net/net.h"

struct link {
    uint32_t head, tail; /* transits waiting, 0 = none */
    uint32_t busy;
};

/* A message on its way. */
struct transit {
    uint64_t bytes;
    double stretch; /* multiplies each hop's delay (jitter) */
    uint32_t message;
    uint32_t at; /* rank last visited */
    uint32_t dst;
    uint32_t next;     /* in a link's queue, or next free */
    uint8_t in_switch; /* at the switch of the dimension being crossed */
    uint8_t counted;   /* 1 + the dimension that has counted it, 0 = none yet */
};

POOL_DEFINE(transits, struct transit, next);

struct aware {
    struct link *links;
    uint64_t first_link[TOPO_MAX_DIMS + 1]; /* a dimension's links are consecutive */
    struct transits transits;
};

/* Places in the link table: simple addresses matter more than a few unused entries. */
static uint64_t link_places(const struct topo_dims *dims, const struct topo_dim *dim)
{
    return (uint64_t)dims->ranks * (dim->kind == TOPO_FULLY_CONNECTED ? dim->size : 2);
}

static enum orr_status aware_open(struct net *net, struct orr_error *err)
{
    struct aware *aware = mem_zalloc(net->mem, sizeof *aware);
    if (aware == NULL) {
        return mem_error(net->mem, "the network", err);
    }
    net->state = aware;
    uint64_t places = 0;
    for (uint32_t d = 0; d < net->dims->count; d++) {
        aware->first_link[d] = places;
        places += link_places(net->dims, &net->dims->dim[d]);
    }
    aware->first_link[net->dims->count] = places;
    if (places > UINT32_MAX) {
        return error_set(err, ORR_ENOMEM, "the network has %" PRIu64 " links; at most %" PRIu32 " can be simulated",
                         places, UINT32_MAX);
    }
    aware->links = mem_zalloc(net->mem, (size_t)places * sizeof *aware->links);
    if (aware->links == NULL || !transits_init(&aware->transits, net->mem)) {
        return mem_error(net->mem, "the table of links", err);
    }
    return ORR_OK;
}

static void aware_close(struct net *net)
{
    struct aware *aware = net->state;
    if (aware != NULL) {
        mem_free(net->mem, aware->links, (size_t)aware->first_link[net->dims->count] * sizeof *aware->links);
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

static void net_aware_transmit(struct net *net, uint32_t index, uint32_t link, uint32_t d)
{
    struct aware *aware = net->state;
    struct transit *transit = &aware->transits.at[index];
    const struct topo_dim *dim = &net->dims->dim[d];
    struct event_queue *queue = net->queue;
    double serialise = (double)transit->bytes / dim->bytes_per_ns;
    uint64_t arrival = ticks_from_double(dim->latency_ns + serialise);
    if (transit->stretch != 1.0) {
        arrival = ticks_from_double((double)arrival * transit->stretch);
    }
    uint64_t busy = ticks_from_double(serialise);
    aware->links[link].busy = 1;
    net->stats[d].bytes += transit->bytes;
    net->stats[d].busy_ns += busy;
    if (transit->counted != d + 1) {
        transit->counted = (uint8_t)(d + 1);
        net->stats[d].messages++;
    }
    (void)event_queue_push(queue, queue->now + arrival, NET_EVENT_HOP, index, 0);
    (void)event_queue_push(queue, queue->now + busy, NET_EVENT_LINK_FREE, link, d);
}

static void enter_link(struct net *net, uint32_t index)
{
    struct aware *aware = net->state;
    struct transit *transit = &aware->transits.at[index];
    uint32_t d = 0;
    uint32_t link_index = net_aware_step(net, transit, &d);
    struct link *link = &aware->links[link_index];
    if (!link->busy) {
        net_aware_transmit(net, index, link_index, d);
        return;
    }
    transit->next = 0;
    if (link->head == 0) {
        link->head = index;
    } else {
        aware->transits.at[link->tail].next = index;
    }
    link->tail = index;
    net->stats[d].queued++;
}

static void aware_send(struct net *net, uint32_t message, uint32_t src, uint32_t dst, uint64_t bytes, double stretch)
{
    struct aware *aware = net->state;
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
        link->busy = 0;
        uint32_t index = link->head;
        if (index != 0) {
            link->head = aware->transits.at[index].next;
            net_aware_transmit(net, index, event->a, event->b);
        }
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

const struct net_ops net_aware = {
    .name = "congestion-aware", .open = aware_open, .close = aware_close, .send = aware_send, .handle = aware_handle};
