/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The search looks at a node's neighbours hosts first in ascending number, then switches in descending number. That is
 * how the reference happens to keep them (a map ordered by address), and it decides which of several equal ways a hash
 * picks; it is as good an order as any other, so it is ours too.
 *
 * When the search meets a node, all that are nearer to its beginning have been met. So it can rest there: the next
 * ports of that node, and the way from it, are known.
 */
#include "topo/routes.h"

#include <stdlib.h>
#include <string.h>

/* Rows kept at a time; a machine whose rows need more makes some of them again. */
#define ROW_BYTES_MOST (UINT64_C(256) << 20)

enum { KNOWN_MOST = 1 << 17 }; /* about five megabytes */

struct neighbour {
    uint64_t key; /* hosts ascending, then switches descending */
    uint32_t port;
};

static bool is_host(const struct topo_routes *routes, uint32_t node)
{
    return routes->graph->kinds[node] == TOPO_NODE_HOST;
}

static uint32_t peer_of(const struct topo_routes *routes, uint32_t port)
{
    return routes->graph->ports[routes->graph->ports[port].peer].node;
}

static bool is_up(const struct topo_routes *routes, uint32_t port)
{
    return !routes->any_down || !routes->down[routes->graph->ports[port].link];
}

/* ---- opening ---- */

static uint64_t neighbour_key(const struct topo_graph *graph, uint32_t node)
{
    return graph->kinds[node] == TOPO_NODE_HOST ? node : (UINT64_C(1) << 32) + (UINT32_MAX - node);
}

static int compare_neighbours(const void *left, const void *right)
{
    const struct neighbour *a = left;
    const struct neighbour *b = right;
    if (a->key != b->key) {
        return a->key < b->key ? -1 : 1;
    }
    return (a->port > b->port) - (a->port < b->port);
}

static void list_neighbours(struct topo_routes *routes, uint32_t node, struct neighbour *list)
{
    const struct topo_graph *graph = routes->graph;
    uint32_t count = 0;
    for (uint32_t port = graph->port_start[node]; port < graph->port_start[node + 1]; port++) {
        list[count++] = (struct neighbour){neighbour_key(graph, peer_of(routes, port)), port};
    }
    qsort(list, count, sizeof *list, compare_neighbours);
    routes->neighbour_start[node] = routes->neighbour_count;
    routes->switch_start[node] = UINT32_MAX;
    for (uint32_t i = 0; i < count; i++) {
        bool last = i + 1 == count || list[i + 1].key != list[i].key;
        if (!last && !routes->parallel) {
            continue;
        }
        if (list[i].key >> 32 != 0 && routes->switch_start[node] == UINT32_MAX) {
            routes->switch_start[node] = routes->neighbour_count;
        }
        routes->neighbour_ports[routes->neighbour_count++] = list[i].port;
    }
    if (routes->switch_start[node] == UINT32_MAX) {
        routes->switch_start[node] = routes->neighbour_count;
    }
}

static bool take_arrays(struct topo_routes *routes)
{
    const struct topo_graph *graph = routes->graph;
    size_t nodes = graph->node_count;
    struct mem *mem = routes->mem;
    routes->kinds.size = 16;
    while (routes->kinds.size < 2 * nodes) {
        routes->kinds.size *= 2;
    }
    routes->number = mem_zalloc(mem, nodes * sizeof *routes->number);
    routes->switches = mem_zalloc(mem, nodes * sizeof *routes->switches);
    routes->row_of = mem_zalloc(mem, nodes * sizeof *routes->row_of);
    routes->kinds.at = mem_zalloc(mem, routes->kinds.size * sizeof *routes->kinds.at);
    routes->kind_node = mem_zalloc(mem, (nodes + 1) * sizeof *routes->kind_node);
    routes->rows = mem_zalloc(mem, (nodes + 1) * sizeof *routes->rows);
    routes->neighbour_start = mem_zalloc(mem, (nodes + 1) * sizeof *routes->neighbour_start);
    routes->switch_start = mem_zalloc(mem, (nodes + 1) * sizeof *routes->switch_start);
    routes->neighbour_ports = mem_zalloc(mem, graph->port_count * sizeof *routes->neighbour_ports);
    routes->neighbours = mem_zalloc(mem, graph->port_count * sizeof *routes->neighbours);
    routes->down = mem_zalloc(mem, graph->link_count);
    routes->known_room = 4 * (uint64_t)routes->kinds.size < KNOWN_MOST ? 4 * routes->kinds.size : KNOWN_MOST;
    routes->known = mem_zalloc(mem, routes->known_room * sizeof *routes->known);
    return routes->known != NULL && routes->neighbours != NULL && routes->number != NULL && routes->switches != NULL &&
           routes->row_of != NULL && routes->kinds.at != NULL && routes->kind_node != NULL && routes->rows != NULL &&
           routes->neighbour_start != NULL && routes->switch_start != NULL && routes->neighbour_ports != NULL &&
           routes->down != NULL;
}

enum orr_status topo_routes_init(struct topo_routes *routes, const struct topo_graph *graph, uint32_t payload_bytes,
                                 bool parallel, struct mem *mem, struct orr_error *err)
{
    uint32_t nodes = graph->node_count;
    *routes = (struct topo_routes){.graph = graph, .payload_bytes = payload_bytes, .parallel = parallel, .mem = mem};
    struct neighbour *list = mem_alloc(mem, graph->port_count * sizeof *list);
    if (!take_arrays(routes) || list == NULL) {
        mem_free(mem, list, graph->port_count * sizeof *list);
        topo_routes_free(routes);
        return mem_error(mem, "the network's routes", err);
    }
    for (uint32_t node = 0; node < nodes; node++) {
        if (!is_host(routes, node)) {
            routes->number[node] = routes->switch_count;
            routes->switches[routes->switch_count++] = node;
        }
        list_neighbours(routes, node, list);
    }
    routes->neighbour_start[nodes] = routes->neighbour_count;
    for (uint32_t i = 0; i < routes->neighbour_count; i++) {
        uint32_t node = peer_of(routes, routes->neighbour_ports[i]);
        routes->neighbours[i] = is_host(routes, node) ? node : routes->number[node];
    }
    mem_free(mem, list, graph->port_count * sizeof *list);
    return ORR_OK;
}

static size_t bytes_of_row(const struct topo_routes *routes)
{
    return (size_t)routes->switch_count * (sizeof(struct topo_seen) + sizeof(uint32_t));
}

static void drop_row(struct topo_routes *routes, struct topo_row *row)
{
    if (row->seen != NULL) {
        mem_free(routes->mem, row->seen, bytes_of_row(routes));
        routes->row_bytes -= bytes_of_row(routes);
        *row = (struct topo_row){0};
    }
}

static void drop_rows(struct topo_routes *routes)
{
    for (uint32_t i = 1; routes->rows != NULL && i <= routes->row_count; i++) {
        drop_row(routes, &routes->rows[i]);
    }
}

void topo_routes_free(struct topo_routes *routes)
{
    struct mem *mem = routes->mem;
    if (mem == NULL) {
        return;
    }
    const struct topo_graph *graph = routes->graph;
    size_t nodes = graph->node_count;
    drop_rows(routes);
    mem_free(mem, routes->number, nodes * sizeof *routes->number);
    mem_free(mem, routes->switches, nodes * sizeof *routes->switches);
    mem_free(mem, routes->row_of, nodes * sizeof *routes->row_of);
    mem_free(mem, routes->kinds.at, routes->kinds.size * sizeof *routes->kinds.at);
    mem_free(mem, routes->kind_node, (nodes + 1) * sizeof *routes->kind_node);
    mem_free(mem, routes->rows, (nodes + 1) * sizeof *routes->rows);
    mem_free(mem, routes->neighbour_start, (nodes + 1) * sizeof *routes->neighbour_start);
    mem_free(mem, routes->switch_start, (nodes + 1) * sizeof *routes->switch_start);
    mem_free(mem, routes->neighbour_ports, graph->port_count * sizeof *routes->neighbour_ports);
    mem_free(mem, routes->neighbours, graph->port_count * sizeof *routes->neighbours);
    mem_free(mem, routes->down, graph->link_count);
    mem_free(mem, routes->known, routes->known_room * sizeof *routes->known);
    *routes = (struct topo_routes){0};
}

/* ---- kinds of destinations ---- */

/* The next switch that a search from this node would begin at, from place `at` of its neighbours on; a switch begins at
 * itself, which is told once. UINT32_MAX behind the last. */
static uint32_t next_root(const struct topo_routes *routes, uint32_t node, uint32_t *at, uint32_t before)
{
    if (!is_host(routes, node)) {
        return before == UINT32_MAX ? node : UINT32_MAX;
    }
    while (*at < routes->neighbour_start[node + 1]) {
        uint32_t port = routes->neighbour_ports[(*at)++];
        uint32_t other = peer_of(routes, port);
        if (other != before && is_up(routes, port)) {
            return other;
        }
    }
    return UINT32_MAX;
}

static bool same_roots(const struct topo_routes *routes, uint32_t a, uint32_t b)
{
    uint32_t at_a = routes->switch_start[a];
    uint32_t at_b = routes->switch_start[b];
    uint32_t root_a = UINT32_MAX;
    uint32_t root_b = UINT32_MAX;
    do {
        root_a = next_root(routes, a, &at_a, root_a);
        root_b = next_root(routes, b, &at_b, root_b);
    } while (root_a == root_b && root_a != UINT32_MAX);
    return root_a == root_b;
}

static uint32_t hash_roots(const struct topo_routes *routes, uint32_t node)
{
    uint64_t hash = 0;
    uint32_t at = routes->switch_start[node];
    for (uint32_t root = next_root(routes, node, &at, UINT32_MAX); root != UINT32_MAX;
         root = next_root(routes, node, &at, root)) {
        hash = (hash ^ root) * UINT64_C(0x9e3779b97f4a7c15);
        hash ^= hash >> 29;
    }
    return (uint32_t)(hash >> 16);
}

static uint32_t kind_hash_of(const struct topo_routes *routes, const uint32_t *kind)
{
    return hash_roots(routes, routes->kind_node[*kind]);
}

static bool kind_is(const struct topo_routes *routes, const uint32_t *kind, uint32_t node)
{
    return same_roots(routes, routes->kind_node[*kind], node);
}

MAP_DEFINE(topo_kinds, uint32_t, uint32_t, const struct topo_routes *, kind_hash_of, kind_is, MAP_NO_NUMBER);

/* Which row serves this destination. */
static uint32_t topo_routes_kind_of(struct topo_routes *routes, uint32_t node)
{
    if (routes->row_of[node] != 0) {
        return routes->row_of[node];
    }
    uint32_t *kind = topo_kinds_place(routes, &routes->kinds, hash_roots(routes, node), node);
    if (*kind == 0) {
        *kind = ++routes->row_count;
        routes->kind_node[routes->row_count] = node;
    }
    routes->row_of[node] = *kind;
    return routes->row_of[node];
}

void topo_routes_set_down(struct topo_routes *routes, uint32_t link, bool down)
{
    routes->down[link] = down ? 1 : 0;
    routes->any_down = memchr(routes->down, 1, routes->graph->link_count) != NULL;
    drop_rows(routes);
    routes->row_count = 0;
    memset(routes->row_of, 0, routes->graph->node_count * sizeof *routes->row_of);
    memset(routes->kinds.at, 0, routes->kinds.size * sizeof *routes->kinds.at);
    memset(routes->known, 0, routes->known_room * sizeof *routes->known);
}

/* ---- the search ---- */

static void meet(struct topo_row *row, uint32_t number, uint32_t met_by, uint16_t hops)
{
    row->line[row->count++] = number;
    row->seen[number] = (struct topo_seen){.place = row->count, .met_by = met_by, .hops = hops};
}

/* The row of this destination, its search begun; NULL when memory is refused. */
static struct topo_row *row_to(struct topo_routes *routes, uint32_t node)
{
    struct topo_row *row = &routes->rows[topo_routes_kind_of(routes, node)];
    if (row->seen != NULL || routes->switch_count == 0) {
        return row;
    }
    if (routes->row_bytes + bytes_of_row(routes) > ROW_BYTES_MOST) {
        drop_rows(routes);
    }
    row->seen = mem_zalloc(routes->mem, bytes_of_row(routes));
    if (row->seen == NULL) {
        return NULL;
    }
    routes->row_bytes += bytes_of_row(routes);
    row->line = (uint32_t *)(void *)(row->seen + routes->switch_count);
    uint32_t at = routes->switch_start[node];
    for (uint32_t root = next_root(routes, node, &at, UINT32_MAX); root != UINT32_MAX;
         root = next_root(routes, node, &at, root)) {
        meet(row, routes->number[root], UINT32_MAX, 0);
    }
    return row;
}

/* Looks at the neighbours of the next switch in line; false when there is none left. */
static bool topo_routes_go_on(const struct topo_routes *routes, struct topo_row *row)
{
    if (row->at == row->count || row->count == routes->switch_count) {
        return false; /* nobody is in line, or nobody is left to be met */
    }
    uint32_t number = row->line[row->at++];
    uint32_t from = routes->switches[number];
    uint16_t hops = (uint16_t)(row->seen[number].hops + 1);
    for (uint32_t i = routes->switch_start[from]; i < routes->neighbour_start[from + 1]; i++) {
        if (row->seen[routes->neighbours[i]].place == 0 && is_up(routes, routes->neighbour_ports[i])) {
            meet(row, routes->neighbours[i], routes->neighbour_ports[i], hops);
        }
    }
    return true;
}

/* The switch as this search sees it, which goes on until it meets it; NULL when it never does. */
static const struct topo_seen *seen_by(const struct topo_routes *routes, struct topo_row *row, uint32_t node)
{
    const struct topo_seen *seen = &row->seen[routes->number[node]];
    while (seen->place == 0 && topo_routes_go_on(routes, row)) {
    }
    return seen->place == 0 ? NULL : seen;
}

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
        if (peer_of(routes, port) == to && is_up(routes, port)) {
            return port;
        }
    }
    return UINT32_MAX;
}

/* Of a switch, which the search has met or meets now. */
static struct step switch_step(const struct topo_routes *routes, struct topo_row *row, uint32_t node, uint32_t to)
{
    const struct topo_seen *seen = seen_by(routes, row, node);
    bool to_host = is_host(routes, to);
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
    if (is_host(routes, to)) {
        best.port = joining_port(routes, to, routes->neighbour_start[node], routes->switch_start[node]);
        best.hops = best.port == UINT32_MAX ? TOPO_UNREACHABLE : 1;
    }
    for (uint32_t i = routes->switch_start[node]; best.hops != 1 && i < routes->neighbour_start[node + 1]; i++) {
        uint32_t port = routes->neighbour_ports[i];
        const struct topo_seen *seen = is_up(routes, port) ? seen_by(routes, row, peer_of(routes, port)) : NULL;
        if (seen != NULL && seen->place < least) {
            least = seen->place;
            best = (struct step){port, (uint16_t)(seen->hops + 1 + (is_host(routes, to) ? 1 : 0))};
        }
    }
    return best;
}

static struct step step_of(const struct topo_routes *routes, struct topo_row *row, uint32_t node, uint32_t to)
{
    if (node == to) {
        return (struct step){UINT32_MAX, 0};
    }
    return (is_host(routes, node) ? host_step : switch_step)(routes, row, node, to);
}

bool topo_routes_hops(struct topo_routes *routes, uint32_t from, uint32_t to, uint16_t *hops)
{
    struct topo_row *row = row_to(routes, to);
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
        node = peer_of(routes, step.port);
    }
    return pair;
}

static struct topo_known *topo_routes_place_of(const struct topo_routes *routes, uint32_t from, uint32_t to)
{
    uint32_t hash = (from * UINT32_C(0x9e3779b1)) ^ (to * UINT32_C(0x85ebca6b));
    return &routes->known[(hash >> 12) & (routes->known_room - 1)];
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
    struct topo_row *row = row_to(routes, to);
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
    bool nvswitch = routes->graph->kinds[peer_of(routes, port)] == TOPO_NODE_NVSWITCH;
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
        uint32_t before = peer_of(routes, choice->ports[at - 1]);
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
    bool host = is_host(routes, to);
    uint32_t first = host ? routes->neighbour_start[node] : routes->switch_start[node];
    uint32_t last = host ? routes->switch_start[node] : routes->neighbour_start[node + 1];
    for (uint32_t i = first; i < last; i++) {
        uint32_t port = routes->neighbour_ports[i];
        if (peer_of(routes, port) == to && is_up(routes, port)) {
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
    struct topo_row *row = row_to(routes, host);
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
    int wanted = step.hops - 1 - (is_host(routes, host) ? 1 : 0);
    for (uint32_t i = routes->switch_start[node]; i < routes->neighbour_start[node + 1]; i++) {
        uint32_t port = routes->neighbour_ports[i];
        const struct topo_seen *seen = &row->seen[routes->neighbours[i]];
        if (seen->place != 0 && seen->hops == wanted && is_up(routes, port)) {
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
    uint32_t count = find_next(routes, node, host, ports, room);
    if (is_known && count == 1 && room > 0) {
        known->next = ports[0];
    } else if (count == 1 && room > 0 && is_host(routes, node)) { /* from switches few ways are the only ones */
        *known = (struct topo_known){.from = node, .to = host, .next = ports[0]};
    }
    return count;
}

/* ---- all of them ---- */

uint32_t topo_routes_farthest(struct topo_routes *routes, uint32_t from)
{
    struct topo_row *row = row_to(routes, from);
    if (row == NULL) {
        return 0;
    }
    while (topo_routes_go_on(routes, row)) {
    }
    uint32_t last = row->count == 0 ? 0 : row->seen[row->line[row->count - 1]].hops;
    return last + 2; /* a host hangs on either end */
}

/* Hosts that hang on the same switches by equal links, so that their ways differ in nothing that is summed up. */
struct alike {
    uint32_t first, second; /* two of them; UINT32_MAX where there is only one */
};

MAP_STRUCT(alike_table, uint32_t); /* of places in `at`, from 1 */

struct alikes {
    const struct topo_routes *routes;
    struct alike *at;
    uint32_t count;
    struct alike_table table;
};

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
        alike = peer_of(routes, port_a) == peer_of(routes, port_b) && is_up(routes, port_a) == is_up(routes, port_b) &&
                link_a->rate_bps == link_b->rate_bps && link_a->delay_ns == link_b->delay_ns;
    }
    return alike;
}

static uint32_t alike_hash_of(const struct alikes *alikes, const uint32_t *place)
{
    return hash_roots(alikes->routes, alikes->at[*place - 1].first);
}

static bool alike_is(const struct alikes *alikes, const uint32_t *place, uint32_t host)
{
    return hang_alike(alikes->routes, alikes->at[*place - 1].first, host);
}

MAP_DEFINE(alike_table, uint32_t, uint32_t, const struct alikes *, alike_hash_of, alike_is, MAP_NO_NUMBER);

static void add_alike(struct alikes *alikes, uint32_t host)
{
    uint32_t *place = alike_table_place(alikes, &alikes->table, hash_roots(alikes->routes, host), host);
    if (*place == 0) {
        alikes->at[alikes->count] = (struct alike){host, UINT32_MAX};
        *place = ++alikes->count;
    } else if (alikes->at[*place - 1].second == UINT32_MAX) {
        alikes->at[*place - 1].second = host;
    }
}

/* Sums of the ways from all switches, by number. */
static void sum_row(const struct topo_routes *routes, struct topo_row *row, uint32_t to, struct topo_pair *sums)
{
    while (topo_routes_go_on(routes, row)) {
    }
    for (uint32_t i = 0; i < row->count; i++) {
        uint32_t number = row->line[i];
        struct step step = switch_step(routes, row, routes->switches[number], to);
        uint32_t next = peer_of(routes, step.port);
        sums[number] = next == to ? (struct topo_pair){.rate_bps = UINT64_MAX} : sums[routes->number[next]];
        add_link(routes, step.port, &sums[number]);
    }
}

/* Whether a host at the same switch, behind a link of the same kind, has been seen on its way to this destination. */
static bool is_again(const struct topo_routes *routes, uint32_t port, uint32_t to, uint32_t *seen_from)
{
    const struct topo_graph *graph = routes->graph;
    uint32_t number = routes->number[peer_of(routes, port)];
    uint32_t link = graph->ports[port].link;
    const uint32_t *last = &seen_from[2 * (size_t)number];
    bool again = last[0] == to && graph->links[last[1]].rate_bps == graph->links[link].rate_bps &&
                 graph->links[last[1]].delay_ns == graph->links[link].delay_ns;
    seen_from[2 * (size_t)number] = to;
    seen_from[2 * (size_t)number + 1] = link;
    return again;
}

static struct topo_pair sum_from(const struct topo_routes *routes, struct topo_row *row, uint32_t from, uint32_t to,
                                 const struct topo_pair *sums, uint32_t *seen_from)
{
    struct step step = host_step(routes, row, from, to);
    if (step.port == UINT32_MAX || (step.hops != 1 && is_again(routes, step.port, to, seen_from))) {
        return (struct topo_pair){0};
    }
    struct topo_pair pair =
        step.hops == 1 ? (struct topo_pair){.rate_bps = UINT64_MAX} : sums[routes->number[peer_of(routes, step.port)]];
    add_link(routes, step.port, &pair);
    return pair;
}

static bool visit_all(struct topo_routes *routes, const struct alikes *alikes, struct topo_pair *sums,
                      uint32_t *seen_from, void (*visit)(void *context, const struct topo_pair *pair), void *context)
{
    for (uint32_t i = 0; i < alikes->count; i++) {
        uint32_t to = alikes->at[i].first;
        struct topo_row *row = row_to(routes, to);
        if (row == NULL) {
            return false;
        }
        sum_row(routes, row, to, sums);
        for (uint32_t k = 0; k < alikes->count; k++) {
            uint32_t from = k == i ? alikes->at[k].second : alikes->at[k].first;
            struct topo_pair pair = {0};
            if (from != UINT32_MAX) {
                pair = sum_from(routes, row, from, to, sums, seen_from);
            }
            if (pair.rate_bps != 0) {
                visit(context, &pair);
            }
        }
    }
    return true;
}

bool topo_routes_each_pair(struct topo_routes *routes, void (*visit)(void *context, const struct topo_pair *pair),
                           void *context)
{
    size_t nodes = routes->graph->node_count;
    struct alikes alikes = {.routes = routes, .at = mem_alloc(routes->mem, nodes * sizeof *alikes.at)};
    bool done = alike_table_widen(&alikes, &alikes.table, routes->mem, routes->kinds.size);
    struct topo_pair *sums = mem_zalloc(routes->mem, (routes->switch_count + 1) * sizeof *sums);
    size_t seen_bytes = 2 * ((size_t)routes->switch_count + 1) * sizeof(uint32_t);
    uint32_t *seen_from = mem_alloc(routes->mem, seen_bytes);
    done = done && alikes.at != NULL && sums != NULL && seen_from != NULL;
    if (done) {
        memset(seen_from, 0xff, seen_bytes);
    }
    for (uint32_t node = 0; done && node < nodes; node++) {
        if (is_host(routes, node)) {
            add_alike(&alikes, node);
        }
    }
    done = done && visit_all(routes, &alikes, sums, seen_from, visit, context);
    mem_free(routes->mem, alikes.at, nodes * sizeof *alikes.at);
    alike_table_free(&alikes.table, routes->mem);
    mem_free(routes->mem, sums, (routes->switch_count + 1) * sizeof *sums);
    mem_free(routes->mem, seen_from, seen_bytes);
    return done;
}
