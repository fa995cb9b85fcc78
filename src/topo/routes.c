/*
 * The search looks at a node's neighbours hosts first in ascending number, then switches in descending number. That is
 * how the reference happens to keep them (a map ordered by address), and it decides which of several equal ways a hash
 * picks; it is as good an order as any other, so it is ours too.
 */
#include "topo/routes.h"

#include <stdlib.h>
#include <string.h>

struct neighbour {
    uint64_t key; /* hosts ascending, then switches descending */
    uint32_t port;
};

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

static uint32_t list_neighbours(struct topo_routes *routes, uint32_t node, struct neighbour *list, uint32_t *into)
{
    const struct topo_graph *graph = routes->graph;
    uint32_t count = 0;
    for (uint32_t port = graph->port_start[node]; port < graph->port_start[node + 1]; port++) {
        uint32_t other = graph->ports[graph->ports[port].peer].node;
        list[count++] = (struct neighbour){neighbour_key(graph, other), port};
    }
    qsort(list, count, sizeof *list, compare_neighbours);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < count; i++) {
        bool last = i + 1 == count || list[i + 1].key != list[i].key;
        if (last || routes->parallel) {
            into[kept++] = list[i].port;
        }
    }
    return kept;
}

enum orr_status topo_routes_init(struct topo_routes *routes, const struct topo_graph *graph, uint32_t payload_bytes,
                                 bool parallel, struct mem *mem, struct orr_error *err)
{
    size_t nodes = graph->node_count;
    *routes = (struct topo_routes){.graph = graph, .payload_bytes = payload_bytes, .parallel = parallel, .mem = mem};
    struct neighbour *list = mem_alloc(mem, graph->port_count * sizeof *list);
    routes->rows = mem_zalloc(mem, nodes * sizeof *routes->rows);
    routes->pairs = mem_zalloc(mem, nodes * sizeof *routes->pairs);
    routes->neighbour_start = mem_zalloc(mem, (nodes + 1) * sizeof *routes->neighbour_start);
    routes->neighbour_ports = mem_zalloc(mem, graph->port_count * sizeof *routes->neighbour_ports);
    routes->down = mem_zalloc(mem, graph->link_count);
    if (list == NULL || routes->rows == NULL || routes->pairs == NULL || routes->neighbour_start == NULL ||
        routes->neighbour_ports == NULL || routes->down == NULL) {
        mem_free(mem, list, graph->port_count * sizeof *list);
        topo_routes_free(routes);
        return mem_error(mem, "the network's routes", err);
    }
    for (uint32_t node = 0; node < nodes; node++) {
        routes->neighbour_start[node] = routes->neighbour_count;
        routes->neighbour_count +=
            list_neighbours(routes, node, list, routes->neighbour_ports + routes->neighbour_count);
    }
    routes->neighbour_start[nodes] = routes->neighbour_count;
    mem_free(mem, list, graph->port_count * sizeof *list);
    return ORR_OK;
}

static void forget_rows(struct topo_routes *routes)
{
    size_t nodes = routes->graph->node_count;
    for (size_t i = 0; routes->rows != NULL && i < nodes; i++) {
        mem_free(routes->mem, routes->rows[i], nodes * sizeof **routes->rows);
        routes->rows[i] = NULL;
    }
    for (size_t i = 0; routes->pairs != NULL && i < nodes; i++) {
        mem_free(routes->mem, routes->pairs[i], nodes * sizeof **routes->pairs);
        routes->pairs[i] = NULL;
    }
}

void topo_routes_free(struct topo_routes *routes)
{
    if (routes->mem == NULL) {
        return;
    }
    const struct topo_graph *graph = routes->graph;
    size_t nodes = graph->node_count;
    forget_rows(routes);
    mem_free(routes->mem, routes->rows, nodes * sizeof *routes->rows);
    mem_free(routes->mem, routes->pairs, nodes * sizeof *routes->pairs);
    mem_free(routes->mem, routes->neighbour_start, (nodes + 1) * sizeof *routes->neighbour_start);
    mem_free(routes->mem, routes->neighbour_ports, graph->port_count * sizeof *routes->neighbour_ports);
    mem_free(routes->mem, routes->down, graph->link_count);
    *routes = (struct topo_routes){0};
}

void topo_routes_set_down(struct topo_routes *routes, uint32_t link, bool down)
{
    routes->down[link] = down ? 1 : 0;
    forget_rows(routes);
}

/* One node met from another: its distance, and the sums of the way that found it first. */
static void meet(const struct topo_routes *routes, struct topo_pair *pairs, uint32_t from, uint32_t to, uint32_t port)
{
    const struct topo_link *link = &routes->graph->links[routes->graph->ports[port].link];
    pairs[to] = (struct topo_pair){
        .delay_ns = pairs[from].delay_ns + link->delay_ns,
        .sending_ns =
            pairs[from].sending_ns +
            (link->rate_bps > 0 ? (uint64_t)routes->payload_bytes * UINT64_C(8000000000) / link->rate_bps : 0),
        .rate_bps = link->rate_bps < pairs[from].rate_bps ? link->rate_bps : pairs[from].rate_bps,
    };
}

static void search(const struct topo_routes *routes, uint32_t host, struct topo_seen *row, struct topo_pair *pairs,
                   uint32_t *line)
{
    const struct topo_graph *graph = routes->graph;
    for (uint32_t node = 0; node < graph->node_count; node++) {
        row[node] = (struct topo_seen){.hops = TOPO_UNREACHABLE};
    }
    row[host] = (struct topo_seen){.hops = 0};
    pairs[host] = (struct topo_pair){.rate_bps = UINT64_MAX};
    line[0] = host;
    uint32_t count = 1;
    for (uint32_t at = 0; at < count; at++) {
        uint32_t node = line[at];
        if (node != host && graph->kinds[node] == TOPO_NODE_HOST) {
            continue;
        }
        for (uint32_t i = routes->neighbour_start[node]; i < routes->neighbour_start[node + 1]; i++) {
            uint32_t port = routes->neighbour_ports[i];
            uint32_t other = graph->ports[graph->ports[port].peer].node;
            if (row[other].hops == TOPO_UNREACHABLE && !routes->down[graph->ports[port].link]) {
                row[other] = (struct topo_seen){.order = count, .hops = (uint16_t)(row[node].hops + 1)};
                meet(routes, pairs, node, other, port);
                line[count++] = other;
            }
        }
    }
}

static bool make_row(struct topo_routes *routes, uint32_t host)
{
    size_t nodes = routes->graph->node_count;
    struct topo_seen *row = mem_alloc(routes->mem, nodes * sizeof *row);
    struct topo_pair *pairs = mem_zalloc(routes->mem, nodes * sizeof *pairs);
    uint32_t *line = mem_alloc(routes->mem, nodes * sizeof *line);
    bool made = row != NULL && pairs != NULL && line != NULL;
    if (made) {
        search(routes, host, row, pairs, line);
        routes->rows[host] = row;
        routes->pairs[host] = pairs;
    } else {
        mem_free(routes->mem, row, nodes * sizeof *row);
        mem_free(routes->mem, pairs, nodes * sizeof *pairs);
    }
    mem_free(routes->mem, line, nodes * sizeof *line);
    return made;
}

const struct topo_seen *topo_routes_to(struct topo_routes *routes, uint32_t host)
{
    return routes->rows[host] != NULL || make_row(routes, host) ? routes->rows[host] : NULL;
}

const struct topo_pair *topo_routes_pair(struct topo_routes *routes, uint32_t from, uint32_t host)
{
    return topo_routes_to(routes, host) != NULL ? &routes->pairs[host][from] : NULL;
}

uint32_t topo_routes_next(struct topo_routes *routes, uint32_t node, uint32_t host, uint32_t *ports, uint32_t room)
{
    const struct topo_graph *graph = routes->graph;
    const struct topo_seen *row = topo_routes_to(routes, host);
    uint32_t count = 0;
    bool by_nvswitch = false;
    if (row == NULL || row[node].hops == TOPO_UNREACHABLE || row[node].hops == 0) {
        return 0;
    }
    for (uint32_t i = routes->neighbour_start[node]; i < routes->neighbour_start[node + 1]; i++) {
        uint32_t port = routes->neighbour_ports[i];
        uint32_t other = graph->ports[graph->ports[port].peer].node;
        bool forwards = other == host || graph->kinds[other] != TOPO_NODE_HOST;
        if (!forwards || row[other].hops + 1 != row[node].hops || routes->down[graph->ports[port].link]) {
            continue;
        }
        /* A way through an NVSwitch is taken before any other of the same length (spec packet B5). */
        bool nvswitch = graph->kinds[other] == TOPO_NODE_NVSWITCH;
        if (nvswitch != by_nvswitch) {
            if (!nvswitch) {
                continue;
            }
            by_nvswitch = true;
            count = 0;
        }
        /* Kept in the order the search met the far ends; lists are short. */
        uint32_t place = count < room ? count : room;
        for (; place > 0; place--) {
            uint32_t before = graph->ports[graph->ports[ports[place - 1]].peer].node;
            if (row[before].order <= row[other].order) {
                break;
            }
            if (place < room) {
                ports[place] = ports[place - 1];
            }
        }
        if (place < room) {
            ports[place] = port;
        }
        count++;
    }
    return count;
}
