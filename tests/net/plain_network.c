/* SPDX-License-Identifier: Apache-2.0 */
/* Nothing here is shared with src/net: not the queue, not the numbering of links, not the way a route is found. */
#include "tests/net/plain_network.h"

#include "tests/check.h"

enum { LINKS = 4096, EVENTS = 1 << 15, HOPS = 64, MESSAGES = 1024 };

enum kind { SEND, ARRIVE, FREE };

struct plain_event {
    uint64_t time;
    enum kind kind;
    uint32_t what; /* message, or link of FREE */
};

struct plain_link {
    uint64_t from, to; /* devices */
    const struct topo_dim *dim;
    int busy;
    uint32_t line[MESSAGES];
    uint32_t waiting;
};

struct route {
    uint64_t devices[HOPS];
    const struct topo_dim *dims[HOPS];
    uint32_t hops, at;
};

struct plain {
    struct plain_link links[LINKS];
    uint32_t link_count;
    struct plain_event events[EVENTS];
    uint32_t event_count;
    struct route routes[MESSAGES];
    const struct topo_dims *dims;
};

static struct plain plain;

/* Switches get numbers above those of ranks: one for each line of each switched dimension. */
static uint64_t switch_of(uint32_t d, const struct topo_dim *dim, uint32_t rank)
{
    uint32_t line = rank - rank / dim->stride % dim->size * dim->stride;
    return (uint64_t)(d + 1) << 32 | line;
}

static void add_hop(struct route *route, uint64_t device, const struct topo_dim *dim)
{
    CHECK(route->hops + 1 < HOPS, "routes are short");
    route->dims[route->hops] = dim;
    route->devices[++route->hops] = device;
}

static void make_route(const struct topo_dims *dims, uint32_t src, uint32_t dst, struct route *route)
{
    *route = (struct route){.devices = {src}};
    uint32_t at = src;
    for (uint32_t d = 0; d < dims->count; d++) {
        const struct topo_dim *dim = &dims->dim[d];
        uint32_t from = at / dim->stride % dim->size;
        uint32_t to = dst / dim->stride % dim->size;
        uint32_t base = at - from * dim->stride;
        if (from == to) {
            continue;
        }
        if (dim->kind == TOPO_RING) {
            uint32_t clockwise = (to + dim->size - from) % dim->size;
            uint32_t step = dim->size - clockwise < clockwise ? dim->size - 1 : 1;
            while (from != to) {
                from = (from + step) % dim->size;
                add_hop(route, base + from * dim->stride, dim);
            }
        } else {
            if (dim->kind == TOPO_SWITCH) {
                add_hop(route, switch_of(d, dim, at), dim);
            }
            add_hop(route, base + to * dim->stride, dim);
        }
        at = base + to * dim->stride;
    }
}

static uint32_t link_between(uint64_t from, uint64_t to, const struct topo_dim *dim)
{
    for (uint32_t i = 0; i < plain.link_count; i++) {
        if (plain.links[i].from == from && plain.links[i].to == to) {
            return i;
        }
    }
    CHECK(plain.link_count < LINKS, "the machine is small");
    struct plain_link *link = &plain.links[plain.link_count];
    link->from = from;
    link->to = to;
    link->dim = dim;
    link->busy = 0;
    link->waiting = 0;
    return plain.link_count++;
}

static void schedule(uint64_t time, enum kind kind, uint32_t what)
{
    CHECK(plain.event_count < EVENTS, "there is little traffic");
    plain.events[plain.event_count++] = (struct plain_event){.time = time, .kind = kind, .what = what};
}

static void transmit(struct plain_link *link, uint32_t index, const struct plain_message *message, uint64_t now,
                     uint32_t link_index)
{
    const double *factors = plain.dims->link_factors;
    double factor = factors != NULL && link->from < plain.dims->ranks ? factors[link->from] : 1e9;
    factor = factors != NULL && link->to < plain.dims->ranks && factors[link->to] < factor ? factors[link->to] : factor;
    double rate = link->dim->bandwidth_gibps * 1073741824.0 / 1000000000.0;
    double serialise = (double)message->bytes / (factors != NULL ? rate * factor : rate);
    link->busy = 1;
    schedule(now + (uint64_t)(link->dim->latency_ns + serialise), ARRIVE, index);
    schedule(now + (uint64_t)serialise, FREE, link_index);
}

static void enter(uint32_t index, const struct plain_message *messages, uint64_t now)
{
    struct route *route = &plain.routes[index];
    uint32_t at = route->at;
    uint32_t link_index = link_between(route->devices[at], route->devices[at + 1], route->dims[at]);
    struct plain_link *link = &plain.links[link_index];
    if (link->busy) {
        link->line[link->waiting++] = index;
    } else {
        transmit(link, index, &messages[index], now, link_index);
    }
}

static void handle(const struct plain_event *event, struct plain_message *messages)
{
    if (event->kind == SEND) {
        enter(event->what, messages, event->time);
        return;
    }
    if (event->kind == ARRIVE) {
        struct route *route = &plain.routes[event->what];
        if (++route->at == route->hops) {
            messages[event->what].arrival = event->time;
        } else {
            enter(event->what, messages, event->time);
        }
        return;
    }
    struct plain_link *link = &plain.links[event->what];
    link->busy = 0;
    if (link->waiting > 0) {
        uint32_t index = link->line[0];
        link->waiting--;
        memmove(link->line, link->line + 1, link->waiting * sizeof link->line[0]);
        transmit(link, index, &messages[index], event->time, event->what);
    }
}

void plain_network_run(const struct topo_dims *dims, struct plain_message *messages, uint32_t count)
{
    CHECK(count <= MESSAGES, "there are few messages");
    plain.dims = dims;
    plain.link_count = 0;
    plain.event_count = 0;
    for (uint32_t i = 0; i < count; i++) {
        make_route(dims, messages[i].src, messages[i].dst, &plain.routes[i]);
        messages[i].arrival = UINT64_MAX;
        schedule(messages[i].at, SEND, i);
    }
    for (uint32_t done = 0; done < plain.event_count; done++) {
        uint32_t best = done;
        for (uint32_t i = done; i < plain.event_count; i++) {
            if (plain.events[i].time < plain.events[best].time) {
                best = i;
            }
        }
        /* The rest keep their order, which decides ties. */
        struct plain_event next = plain.events[best];
        memmove(plain.events + done + 1, plain.events + done, (best - done) * sizeof next);
        plain.events[done] = next;
        handle(&next, messages);
    }
}
