/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hop by hop: the ports that lie on shortest ways, in the order of the search, and a hash that picks one. Hosts hash
 * with the reference's library seed, switches with their number, so that two switches split the same flows differently.
 */
#include "topo/way.h"

enum { WAYS_MOST = 4096 };

static uint32_t rotate(uint32_t x, unsigned by)
{
    return x << by | x >> (32 - by);
}

uint32_t topo_way_hash(uint32_t from, uint32_t to, uint32_t ports, uint32_t seed)
{
    const uint32_t words[3] = {from, to, ports};
    uint32_t h = seed;
    for (unsigned i = 0; i < 3; i++) {
        h ^= rotate(words[i] * UINT32_C(0xcc9e2d51), 15) * UINT32_C(0x1b873593);
        h = rotate(h, 13) * 5 + UINT32_C(0xe6546b64);
    }
    h ^= sizeof words;
    h = (h ^ h >> 16) * UINT32_C(0x85ebca6b);
    h = (h ^ h >> 13) * UINT32_C(0xc2b2ae35);
    return h ^ h >> 16;
}

uint32_t topo_way_address(uint32_t node)
{
    return UINT32_C(0x0b000001) + ((node / 256) << 16) + ((node % 256) << 8);
}

/* The port of `node` towards a host beside it: found from the host, which has few ports where a switch has many. None
 * when several links join them or it is down, which is for the search to tell. */
static uint32_t last_port(const struct topo_routes *routes, uint32_t node, uint32_t host)
{
    const struct topo_graph *graph = routes->graph;
    uint32_t found = UINT32_MAX;
    for (uint32_t port = graph->port_start[host]; port < graph->port_start[host + 1]; port++) {
        const struct topo_port *peer = &graph->ports[graph->ports[port].peer];
        if (peer->node == node) {
            if (found != UINT32_MAX || routes->down[peer->link]) {
                return UINT32_MAX;
            }
            found = graph->ports[port].peer;
        }
    }
    return found;
}

uint16_t topo_way_find(struct topo_routes *routes, uint32_t src, uint32_t dst, uint32_t src_port, uint32_t dst_port,
                       uint32_t *way, uint32_t room)
{
    const struct topo_graph *graph = routes->graph;
    uint32_t ports[WAYS_MOST];
    uint16_t hops = 0;
    uint32_t node = src;
    while (node != dst && hops < room) {
        ports[0] = last_port(routes, node, dst);
        uint32_t count = ports[0] != UINT32_MAX ? 1 : topo_routes_next(routes, node, dst, ports, WAYS_MOST);
        if (count == 0) {
            return 0;
        }
        count = count > WAYS_MOST ? WAYS_MOST : count;
        uint32_t seed = node == src ? TOPO_WAY_HOST_SEED : node;
        uint32_t hash = topo_way_hash(topo_way_address(src), topo_way_address(dst), src_port | dst_port << 16, seed);
        way[hops++] = ports[hash % count];
        node = graph->ports[graph->ports[way[hops - 1]].peer].node;
    }
    return node == dst ? hops : 0;
}

/* At most twice the distance of the farthest node from any one of them; hosts that host 0 has no way to are asked
 * themselves. */
uint32_t topo_way_most(struct topo_routes *routes)
{
    const struct topo_graph *graph = routes->graph;
    uint32_t farthest = topo_routes_farthest(routes, 0);
    for (uint32_t node = 1; farthest > 0 && node < graph->node_count; node++) {
        uint16_t hops = 0;
        if (graph->kinds[node] == TOPO_NODE_HOST && !topo_routes_hops(routes, node, 0, &hops)) {
            return 0;
        }
        if (hops == TOPO_UNREACHABLE) {
            uint32_t here = topo_routes_farthest(routes, node);
            farthest = here == 0 ? 0 : here > farthest ? here : farthest;
        }
    }
    return 2 * farthest;
}

struct extremes {
    uint64_t round_trip_ns, window;
};

static bool topo_way_is_wider(const void *context, const struct topo_pair *pair)
{
    const struct extremes *extremes = context;
    return topo_way_round_trip_ns(pair) > extremes->round_trip_ns || topo_way_window(pair) > extremes->window;
}

static void topo_way_widen(void *context, const struct topo_pair *pair)
{
    struct extremes *extremes = context;
    uint64_t trip = topo_way_round_trip_ns(pair);
    uint64_t bytes = topo_way_window(pair);
    extremes->round_trip_ns = trip > extremes->round_trip_ns ? trip : extremes->round_trip_ns;
    extremes->window = bytes > extremes->window ? bytes : extremes->window;
}

bool topo_way_extremes(struct topo_routes *routes, uint64_t *round_trip_ns, uint64_t *window)
{
    struct extremes extremes = {0};
    const struct topo_visitor visitor = {topo_way_is_wider, topo_way_widen, &extremes};
    if (!topo_routes_each_pair(routes, &visitor)) {
        return false;
    }
    *round_trip_ns = extremes.round_trip_ns;
    *window = extremes.window;
    return true;
}
