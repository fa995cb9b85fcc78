/* SPDX-License-Identifier: Apache-2.0 */
/* Ways read out of the rows: a way is followed from its beginning, step by step towards the destination that the row
 * was searched from; what was asked for before is remembered. */
#include "topo/routes_rows.h"

#include <stdlib.h>
#include <string.h>

/* ---- from any node to any other ---- */

/* The first step from a node, as the search took it last. */
struct step {
    uint32_t port; /* of the node; UINT32_MAX when there is no way or it is there already */
    uint16_t hops; /* in all, or TOPO_UNREACHABLE */
};

/* Of the ports at these places of a node's neighbours, the first that is up and leads to `to`; UINT32_MAX when none
 * does. */
static uint32_t joining_port(const struct topo_routes *routes, uint32_t to, uint32_t first, uint32_t last)
{
    for (uint32_t i = first; i < last; i++) {
        uint32_t port = routes->neighbour_ports[i];
        if (topo_rows_peer_of(routes, port) == to && topo_rows_is_up(routes, port)) {
            return port;
        }
    }
    return UINT32_MAX;
}

/* Of a switch, which the search has met or meets now. */
static struct step switch_step(const struct topo_routes *routes, struct topo_row *row, uint32_t node, uint32_t to)
{
    const struct topo_seen *seen = topo_rows_seen_by(routes, row, node);
    bool to_host = topo_rows_is_host(routes, to);
    if (seen == NULL) {
        return (struct step){UINT32_MAX, TOPO_UNREACHABLE};
    }
    uint32_t met_by = seen->met_by;
    if (met_by == UINT32_MAX && to_host) { /* the search began here, so there is a link */
        met_by = joining_port(routes, node, routes->switch_start[to], routes->neighbour_start[to + 1]);
    }
    return (struct step){met_by == UINT32_MAX ? UINT32_MAX : routes->graph->ports[met_by].peer,
                         (uint16_t)(seen->hops + (to_host ? 1 : 0))};
}

/* Of a host: to a host beside it, or to the switch of its own that the search met first. */
static struct step host_step(const struct topo_routes *routes, struct topo_row *row, uint32_t node, uint32_t to)
{
    struct step best = {UINT32_MAX, TOPO_UNREACHABLE};
    uint32_t least = UINT32_MAX;
    if (topo_rows_is_host(routes, to)) {
        best.port = joining_port(routes, to, routes->neighbour_start[node], routes->switch_start[node]);
        best.hops = best.port == UINT32_MAX ? TOPO_UNREACHABLE : 1;
    }
    for (uint32_t i = routes->switch_start[node]; best.hops != 1 && i < routes->neighbour_start[node + 1]; i++) {
        uint32_t port = routes->neighbour_ports[i];
        const struct topo_seen *seen =
            topo_rows_is_up(routes, port) ? topo_rows_seen_by(routes, row, topo_rows_peer_of(routes, port)) : NULL;
        if (seen != NULL && seen->place < least) {
            least = seen->place;
            best = (struct step){port, (uint16_t)(seen->hops + 1 + (topo_rows_is_host(routes, to) ? 1 : 0))};
        }
    }
    return best;
}

static struct step step_of(const struct topo_routes *routes, struct topo_row *row, uint32_t node, uint32_t to)
{
    if (node == to) {
        return (struct step){UINT32_MAX, 0};
    }
    return (topo_rows_is_host(routes, node) ? host_step : switch_step)(routes, row, node, to);
}

bool topo_routes_hops(struct topo_routes *routes, uint32_t from, uint32_t to, uint16_t *hops)
{
    struct topo_row *row = topo_rows_to(routes, to);
    if (row == NULL) {
        return false;
    }
    *hops = step_of(routes, row, from, to).hops;
    return true;
}

static void add_link(const struct topo_routes *routes, uint32_t port, struct topo_pair *pair)
{
    const struct topo_link *link = &routes->graph->links[routes->graph->ports[port].link];
    pair->delay_ns += link->delay_ns;
    pair->sending_ns +=
        link->rate_bps > 0 ? (uint64_t)routes->payload_bytes * UINT64_C(8000000000) / link->rate_bps : 0;
    pair->rate_bps = link->rate_bps < pair->rate_bps ? link->rate_bps : pair->rate_bps;
}

static struct topo_pair sum_way(const struct topo_routes *routes, struct topo_row *row, uint32_t from, uint32_t to)
{
    struct topo_pair pair = {.rate_bps = UINT64_MAX};
    for (uint32_t node = from; node != to;) {
        struct step step = step_of(routes, row, node, to);
        if (step.port == UINT32_MAX) {
            return (struct topo_pair){0};
        }
        add_link(routes, step.port, &pair);
        node = topo_rows_peer_of(routes, step.port);
    }
    return pair;
}

static uint32_t pair_hash(uint32_t from, uint32_t to)
{
    return ((from * UINT32_C(0x9e3779b1)) ^ (to * UINT32_C(0x85ebca6b))) >> 12;
}

static struct topo_known *topo_routes_place_of(const struct topo_routes *routes, uint32_t from, uint32_t to)
{
    return &routes->known[pair_hash(from, to) & (routes->known_room - 1)];
}

static bool topo_routes_is_of(const struct topo_known *known, uint32_t from, uint32_t to)
{
    return known->from == from && known->to == to && from != to;
}

const struct topo_pair *topo_routes_pair(struct topo_routes *routes, uint32_t from, uint32_t to)
{
    struct topo_known *known = topo_routes_place_of(routes, from, to);
    bool is_known = topo_routes_is_of(known, from, to);
    if (is_known && known->pair.rate_bps != 0) {
        return &known->pair;
    }
    struct topo_row *row = topo_rows_to(routes, to);
    if (row == NULL) {
        return NULL;
    }
    *known = (struct topo_known){from, to, is_known ? known->next : UINT32_MAX, sum_way(routes, row, from, to)};
    return &known->pair;
}

/* ---- equal ways ---- */

/* Ports towards switches in the order the search met them, those to NVSwitches alone where there are any. */
struct choice {
    uint32_t *ports;
    uint32_t room, count;
    bool by_nvswitch;
};

static void topo_routes_choose(const struct topo_routes *routes, const struct topo_row *row, struct choice *choice,
                               uint32_t port, uint32_t place)
{
    /* A way through an NVSwitch is taken before any other of the same length (spec packet B5). */
    bool nvswitch = routes->graph->kinds[topo_rows_peer_of(routes, port)] == TOPO_NODE_NVSWITCH;
    if (nvswitch != choice->by_nvswitch) {
        if (!nvswitch) {
            return;
        }
        choice->by_nvswitch = true;
        choice->count = 0;
    }
    /* Lists are short. */
    uint32_t at = choice->count < choice->room ? choice->count : choice->room;
    for (; at > 0; at--) {
        uint32_t before = topo_rows_peer_of(routes, choice->ports[at - 1]);
        if (row->seen[routes->number[before]].place <= place) {
            break;
        }
        if (at < choice->room) {
            choice->ports[at] = choice->ports[at - 1];
        }
    }
    if (at < choice->room) {
        choice->ports[at] = port;
    }
    choice->count++;
}

static uint32_t ports_beside(const struct topo_routes *routes, uint32_t node, uint32_t to, uint32_t *ports,
                             uint32_t room)
{
    uint32_t count = 0;
    bool host = topo_rows_is_host(routes, to);
    uint32_t first = host ? routes->neighbour_start[node] : routes->switch_start[node];
    uint32_t last = host ? routes->switch_start[node] : routes->neighbour_start[node + 1];
    for (uint32_t i = first; i < last; i++) {
        uint32_t port = routes->neighbour_ports[i];
        if (topo_rows_peer_of(routes, port) == to && topo_rows_is_up(routes, port)) {
            if (count < room) {
                ports[count] = port;
            }
            count++;
        }
    }
    return count;
}

static uint32_t find_next(struct topo_routes *routes, uint32_t node, uint32_t host, uint32_t *ports, uint32_t room)
{
    struct topo_row *row = topo_rows_to(routes, host);
    struct step step = {UINT32_MAX, 0};
    if (row != NULL) {
        step = step_of(routes, row, node, host);
    }
    if (step.hops == TOPO_UNREACHABLE || step.hops == 0) {
        return 0;
    }
    if (step.hops == 1) {
        return ports_beside(routes, node, host, ports, room);
    }
    struct choice choice = {.ports = ports, .room = room};
    int wanted = step.hops - 1 - (topo_rows_is_host(routes, host) ? 1 : 0);
    for (uint32_t i = routes->switch_start[node]; i < routes->neighbour_start[node + 1]; i++) {
        uint32_t port = routes->neighbour_ports[i];
        const struct topo_seen *seen = &row->seen[routes->neighbours[i]];
        if (seen->place != 0 && seen->hops == wanted && topo_rows_is_up(routes, port)) {
            topo_routes_choose(routes, row, &choice, port, seen->place);
        }
    }
    return choice.count;
}

uint32_t topo_routes_next(struct topo_routes *routes, uint32_t node, uint32_t host, uint32_t *ports, uint32_t room)
{
    struct topo_known *known = topo_routes_place_of(routes, node, host);
    bool is_known = topo_routes_is_of(known, node, host);
    if (is_known && known->next != UINT32_MAX && room > 0) {
        ports[0] = known->next;
        return 1;
    }
    struct topo_fan *fan = &routes->fans[pair_hash(node, host) % TOPO_FANS];
    if (fan->from == node && fan->to == host && node != host && fan->count <= room) {
        memcpy(ports, fan->ports, fan->count * sizeof *ports);
        return fan->count;
    }
    uint32_t count = find_next(routes, node, host, ports, room);
    if (count > 1 && count <= TOPO_FAN_MOST && count <= room) {
        *fan = (struct topo_fan){.from = node, .to = host, .count = count};
        memcpy(fan->ports, ports, count * sizeof *ports);
    }
    if (is_known && count == 1 && room > 0) {
        known->next = ports[0];
    } else if (count == 1 && room > 0 &&
               topo_rows_is_host(routes, node)) { /* from switches few ways are the only ones */
        *known = (struct topo_known){.from = node, .to = host, .next = ports[0]};
    }
    return count;
}

/* ---- all of them ---- */

uint32_t topo_routes_farthest(struct topo_routes *routes, uint32_t from)
{
    struct topo_row *row = topo_rows_to(routes, from);
    if (row == NULL) {
        return 0;
    }
    while (topo_rows_go_on(routes, row)) {
    }
    uint32_t last = row->count == 0 ? 0 : row->seen[row->line[row->count - 1]].hops;
    return last + 2; /* a host hangs on either end */
}

/* Hosts that hang on the same switches by equal links, so that the ways to them differ in nothing that is summed up. */
MAP_STRUCT(alike_table, uint32_t); /* of places in `at`, from 1 */

struct alikes {
    const struct topo_routes *routes;
    uint32_t *at; /* one of each */
    uint32_t count;
    struct alike_table table;
};

static bool links_alike(const struct topo_link *a, const struct topo_link *b)
{
    return a->rate_bps == b->rate_bps && a->delay_ns == b->delay_ns;
}

static bool hang_alike(const struct topo_routes *routes, uint32_t a, uint32_t b)
{
    uint32_t count = routes->neighbour_start[a + 1] - routes->neighbour_start[a];
    bool alike = count == routes->neighbour_start[b + 1] - routes->neighbour_start[b] &&
                 routes->switch_start[a] == routes->neighbour_start[a] &&
                 routes->switch_start[b] == routes->neighbour_start[b];
    for (uint32_t i = 0; alike && i < count; i++) {
        uint32_t port_a = routes->neighbour_ports[routes->neighbour_start[a] + i];
        uint32_t port_b = routes->neighbour_ports[routes->neighbour_start[b] + i];
        const struct topo_link *link_a = &routes->graph->links[routes->graph->ports[port_a].link];
        const struct topo_link *link_b = &routes->graph->links[routes->graph->ports[port_b].link];
        alike = topo_rows_peer_of(routes, port_a) == topo_rows_peer_of(routes, port_b) &&
                topo_rows_is_up(routes, port_a) == topo_rows_is_up(routes, port_b) && links_alike(link_a, link_b);
    }
    return alike;
}

static uint32_t alike_hash_of(const struct alikes *alikes, const uint32_t *place)
{
    return topo_rows_hash(alikes->routes, alikes->at[*place - 1]);
}

static bool alike_is(const struct alikes *alikes, const uint32_t *place, uint32_t host)
{
    return hang_alike(alikes->routes, alikes->at[*place - 1], host);
}

MAP_DEFINE(alike_table, uint32_t, uint32_t, const struct alikes *, alike_hash_of, alike_is, MAP_NO_NUMBER);

static void add_alike(struct alikes *alikes, uint32_t host)
{
    uint32_t *place = alike_table_place(alikes, &alikes->table, topo_rows_hash(alikes->routes, host), host);
    if (*place == 0) {
        alikes->at[alikes->count] = host;
        *place = ++alikes->count;
    }
}

/* Sums of the ways from all switches, by number. */
static void sum_row(const struct topo_routes *routes, struct topo_row *row, uint32_t to, struct topo_pair *sums)
{
    while (topo_rows_go_on(routes, row)) {
    }
    for (uint32_t i = 0; i < row->count; i++) {
        uint32_t number = row->line[i];
        struct step step = switch_step(routes, row, routes->switches[number], to);
        uint32_t next = topo_rows_peer_of(routes, step.port);
        sums[number] = next == to ? (struct topo_pair){.rate_bps = UINT64_MAX} : sums[routes->number[next]];
        add_link(routes, step.port, &sums[number]);
    }
}

static const struct topo_link *link_of(const struct topo_routes *routes, uint32_t port)
{
    return &routes->graph->links[routes->graph->ports[port].link];
}

/* What all visits share. Hosts tell of their links themselves: of parallel ones each side has its own in mind. */
struct visits {
    struct topo_routes *routes;
    const struct topo_visitor *visitor;
    struct topo_pair *sums; /* by switch: from there */
    uint32_t *kinds;        /* from a switch's neighbour_start on: ports of its hosts, one for each kind of link */
    uint32_t *kind_count;   /* by switch */
};

static void add_kind(struct visits *visits, uint32_t port)
{
    const struct topo_routes *routes = visits->routes;
    uint32_t node = topo_rows_peer_of(routes, port);
    uint32_t *kinds = visits->kinds + routes->neighbour_start[node];
    uint32_t *count = &visits->kind_count[routes->number[node]];
    for (uint32_t i = 0; i < *count; i++) {
        if (links_alike(link_of(routes, kinds[i]), link_of(routes, port))) {
            return;
        }
    }
    kinds[(*count)++] = port;
}

/* Whether a host's way to `to` begins over this switch by a link of that kind. */
static bool begins_so(const struct topo_routes *routes, struct topo_row *row, uint32_t host, uint32_t node,
                      const struct topo_link *kind, uint32_t to)
{
    struct step step = host != to ? host_step(routes, row, host, to) : (struct step){UINT32_MAX, 0};
    return step.port != UINT32_MAX && step.hops != 1 && topo_rows_peer_of(routes, step.port) == node &&
           links_alike(link_of(routes, step.port), kind);
}

/* One host of a switch on its way over it to `to` is enough, of those behind links of one kind. */
static void visit_one(const struct visits *visits, struct topo_row *row, uint32_t node, const struct topo_link *kind,
                      uint32_t to, const struct topo_pair *pair)
{
    const struct topo_routes *routes = visits->routes;
    for (uint32_t i = routes->neighbour_start[node]; i < routes->switch_start[node]; i++) {
        if (begins_so(routes, row, routes->neighbours[i], node, kind, to)) {
            visits->visitor->visit(visits->visitor->context, pair);
            return;
        }
    }
}

static void visit_switch(const struct visits *visits, struct topo_row *row, uint32_t number, uint32_t to)
{
    const struct topo_routes *routes = visits->routes;
    uint32_t node = routes->switches[number];
    for (uint32_t i = 0; i < visits->kind_count[number]; i++) {
        uint32_t port = visits->kinds[routes->neighbour_start[node] + i];
        struct topo_pair pair = visits->sums[number];
        add_link(routes, port, &pair);
        if (visits->visitor->wants(visits->visitor->context, &pair)) {
            visit_one(visits, row, node, link_of(routes, port), to, &pair);
        }
    }
}

/* Hosts joined without a switch between them. */
static void visit_beside(const struct visits *visits, uint32_t to)
{
    const struct topo_routes *routes = visits->routes;
    for (uint32_t i = routes->neighbour_start[to]; i < routes->switch_start[to]; i++) {
        uint32_t other = routes->neighbours[i];
        uint32_t port = joining_port(routes, to, routes->neighbour_start[other], routes->switch_start[other]);
        struct topo_pair pair = {.rate_bps = UINT64_MAX};
        if (port != UINT32_MAX) {
            add_link(routes, port, &pair);
            visits->visitor->visit(visits->visitor->context, &pair);
        }
    }
}

static bool visit_all(struct visits *visits, const struct alikes *alikes)
{
    for (uint32_t i = 0; i < alikes->count; i++) {
        uint32_t to = alikes->at[i];
        struct topo_row *row = topo_rows_to(visits->routes, to);
        if (row == NULL) {
            return false;
        }
        sum_row(visits->routes, row, to, visits->sums);
        for (uint32_t k = 0; k < row->count; k++) {
            visit_switch(visits, row, row->line[k], to);
        }
        visit_beside(visits, to);
    }
    return true;
}

static void add_host(struct visits *visits, struct alikes *alikes, uint32_t host)
{
    const struct topo_routes *routes = visits->routes;
    add_alike(alikes, host);
    for (uint32_t i = routes->switch_start[host]; i < routes->neighbour_start[host + 1]; i++) {
        add_kind(visits, routes->neighbour_ports[i]);
    }
}

bool topo_routes_each_pair(struct topo_routes *routes, const struct topo_visitor *visitor)
{
    struct mem *mem = routes->mem;
    size_t nodes = routes->graph->node_count;
    size_t switches = (size_t)routes->switch_count + 1;
    size_t ports = (size_t)routes->neighbour_count + 1;
    struct alikes alikes = {.routes = routes, .at = mem_alloc(mem, nodes * sizeof *alikes.at)};
    struct visits visits = {.routes = routes,
                            .visitor = visitor,
                            .sums = mem_zalloc(mem, switches * sizeof *visits.sums),
                            .kinds = mem_alloc(mem, ports * sizeof *visits.kinds),
                            .kind_count = mem_zalloc(mem, switches * sizeof *visits.kind_count)};
    bool done = alike_table_widen(&alikes, &alikes.table, mem, routes->kinds.size) && alikes.at != NULL &&
                visits.sums != NULL && visits.kinds != NULL && visits.kind_count != NULL;
    for (uint32_t node = 0; done && node < nodes; node++) {
        if (topo_rows_is_host(routes, node)) {
            add_host(&visits, &alikes, node);
        }
    }
    done = done && visit_all(&visits, &alikes);
    mem_free(mem, alikes.at, nodes * sizeof *alikes.at);
    alike_table_free(&alikes.table, mem);
    mem_free(mem, visits.sums, switches * sizeof *visits.sums);
    mem_free(mem, visits.kinds, ports * sizeof *visits.kinds);
    mem_free(mem, visits.kind_count, switches * sizeof *visits.kind_count);
    return done;
}
