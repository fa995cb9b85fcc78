/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The search looks at a node's neighbours hosts first in ascending number, then switches in descending number. That is
 * how the reference happens to keep them (a map ordered by address), and it decides which of several equal ways a hash
 * picks; it is as good an order as any other, so it is ours too.
 *
 * When the search meets a node, all that are nearer to its beginning have been met. So it can rest there: the next
 * ports of that node, and the way from it, are known.
 */
#include "topo/routes_rows.h"

#include <stdlib.h>
#include <string.h>

#include "base/sets.h"

/* Rows kept at a time; a machine whose rows need more makes some of them again. */
#define ROW_BYTES_MOST (UINT64_C(256) << 20)

enum { KNOWN_MOST = 1 << 17 }; /* about five megabytes */

struct neighbour {
    uint64_t key; /* hosts ascending, then switches descending */
    uint32_t port;
};

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
        list[count++] = (struct neighbour){neighbour_key(graph, topo_rows_peer_of(routes, port)), port};
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
    routes->part = mem_zalloc(mem, nodes * sizeof *routes->part);
    routes->in_part = mem_zalloc(mem, nodes * sizeof *routes->in_part);
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
    routes->fans = mem_zalloc(mem, TOPO_FANS * sizeof *routes->fans);
    return routes->part != NULL && routes->in_part != NULL && routes->known != NULL && routes->fans != NULL &&
           routes->neighbours != NULL && routes->number != NULL && routes->switches != NULL && routes->row_of != NULL &&
           routes->kinds.at != NULL && routes->kind_node != NULL && routes->rows != NULL &&
           routes->neighbour_start != NULL && routes->switch_start != NULL && routes->neighbour_ports != NULL &&
           routes->down != NULL;
}

/* A search need not look on when it has met all there are; servers' own switches hang together with none. */
static void find_parts_of(struct topo_routes *routes)
{
    for (uint32_t number = 0; number < routes->switch_count; number++) {
        routes->part[number] = number;
    }
    for (uint32_t number = 0; number < routes->switch_count; number++) {
        uint32_t node = routes->switches[number];
        for (uint32_t i = routes->switch_start[node]; i < routes->neighbour_start[node + 1]; i++) {
            routes->part[sets_find(routes->part, routes->neighbours[i])] = sets_find(routes->part, number);
        }
    }
    for (uint32_t number = 0; number < routes->switch_count; number++) {
        routes->part[number] = sets_find(routes->part, number);
        routes->in_part[routes->part[number]]++;
    }
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
        if (!topo_rows_is_host(routes, node)) {
            routes->number[node] = routes->switch_count;
            routes->switches[routes->switch_count++] = node;
        }
        list_neighbours(routes, node, list);
    }
    routes->neighbour_start[nodes] = routes->neighbour_count;
    for (uint32_t i = 0; i < routes->neighbour_count; i++) {
        uint32_t node = topo_rows_peer_of(routes, routes->neighbour_ports[i]);
        routes->neighbours[i] = topo_rows_is_host(routes, node) ? node : routes->number[node];
    }
    mem_free(mem, list, graph->port_count * sizeof *list);
    find_parts_of(routes);
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
    mem_free(mem, routes->part, nodes * sizeof *routes->part);
    mem_free(mem, routes->in_part, nodes * sizeof *routes->in_part);
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
    mem_free(mem, routes->fans, TOPO_FANS * sizeof *routes->fans);
    *routes = (struct topo_routes){0};
}

/* ---- kinds of destinations ---- */

/* The next switch that a search from this node would begin at, from place `at` of its neighbours on; a switch begins at
 * itself, which is told once. UINT32_MAX behind the last. */
static uint32_t next_root(const struct topo_routes *routes, uint32_t node, uint32_t *at, uint32_t before)
{
    if (!topo_rows_is_host(routes, node)) {
        return before == UINT32_MAX ? node : UINT32_MAX;
    }
    while (*at < routes->neighbour_start[node + 1]) {
        uint32_t port = routes->neighbour_ports[(*at)++];
        uint32_t other = topo_rows_peer_of(routes, port);
        if (other != before && topo_rows_is_up(routes, port)) {
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

uint32_t topo_rows_hash(const struct topo_routes *routes, uint32_t node)
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
    return topo_rows_hash(routes, routes->kind_node[*kind]);
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
    uint32_t *kind = topo_kinds_place(routes, &routes->kinds, topo_rows_hash(routes, node), node);
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
    memset(routes->fans, 0, TOPO_FANS * sizeof *routes->fans);
}

/* ---- the search ---- */

static void meet(struct topo_row *row, uint32_t number, uint32_t met_by, uint16_t hops)
{
    row->line[row->count++] = number;
    row->seen[number] = (struct topo_seen){.place = row->count, .met_by = met_by, .hops = hops};
}

/* How many more a search can meet that begins at this switch too. */
static uint32_t in_new_part(const struct topo_routes *routes, const struct topo_row *row, uint32_t number)
{
    for (uint32_t i = 0; i < row->count; i++) {
        if (routes->part[row->line[i]] == routes->part[number]) {
            return 0;
        }
    }
    return routes->in_part[routes->part[number]];
}

struct topo_row *topo_rows_to(struct topo_routes *routes, uint32_t node)
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
        row->most += in_new_part(routes, row, routes->number[root]);
        meet(row, routes->number[root], UINT32_MAX, 0);
    }
    return row;
}

bool topo_rows_go_on(const struct topo_routes *routes, struct topo_row *row)
{
    if (row->at == row->count || row->count == row->most) {
        return false; /* nobody is in line, or nobody is left to be met */
    }
    uint32_t number = row->line[row->at++];
    uint32_t from = routes->switches[number];
    uint16_t hops = (uint16_t)(row->seen[number].hops + 1);
    for (uint32_t i = routes->switch_start[from]; i < routes->neighbour_start[from + 1]; i++) {
        if (row->seen[routes->neighbours[i]].place == 0 && topo_rows_is_up(routes, routes->neighbour_ports[i])) {
            meet(row, routes->neighbours[i], routes->neighbour_ports[i], hops);
        }
    }
    return true;
}
