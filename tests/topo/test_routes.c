/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Routes against a plain search from every destination over all nodes, which is what they are defined by: distances,
 * next ports in their order, the sums of the first way and the extremes, on random machines with hosts on one switch
 * and on several, NVSwitches, hosts joined directly, parallel links and links that are down.
 */
#include "topo/routes.h"

#include <string.h>

#include "tests/check.h"
#include "topo/way.h"

enum { NODES_MOST = 64, LINKS_MOST = 256, PAYLOAD = 1000 };

struct plain {
    uint32_t order[NODES_MOST];
    uint16_t hops[NODES_MOST];
    struct topo_pair pair[NODES_MOST];
};

struct random {
    uint64_t state;
};

static uint32_t draw(struct random *random, uint32_t below)
{
    random->state = random->state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(random->state >> 33) % below;
}

static uint32_t peer(const struct topo_graph *graph, uint32_t port)
{
    return graph->ports[graph->ports[port].peer].node;
}

/* Whether the search looks at `a` before `b`, ports of one node. */
static bool comes_before(const struct topo_graph *graph, uint32_t a, uint32_t b)
{
    uint32_t to_a = peer(graph, a);
    uint32_t to_b = peer(graph, b);
    bool host_a = graph->kinds[to_a] == TOPO_NODE_HOST;
    bool host_b = graph->kinds[to_b] == TOPO_NODE_HOST;
    if (host_a != host_b)
        return host_a;
    if (to_a != to_b)
        return host_a ? to_a < to_b : to_a > to_b;
    return a < b;
}

/* A node's ports in the order they are looked at; of parallel links the last, unless all count. */
static uint32_t list(const struct topo_graph *graph, uint32_t node, bool parallel, uint32_t *ports)
{
    uint32_t count = 0;
    for (uint32_t port = graph->port_start[node]; port < graph->port_start[node + 1]; port++) {
        uint32_t at = count++;
        for (; at > 0 && comes_before(graph, port, ports[at - 1]); at--)
            ports[at] = ports[at - 1];
        ports[at] = port;
    }
    uint32_t kept = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (parallel || i + 1 == count || peer(graph, ports[i]) != peer(graph, ports[i + 1]))
            ports[kept++] = ports[i];
    }
    return kept;
}

static void search(const struct topo_graph *graph, const uint8_t *down, bool parallel, uint32_t to, struct plain *plain)
{
    uint32_t line[NODES_MOST] = {to};
    uint32_t count = 1;
    memset(plain, 0, sizeof *plain);
    for (uint32_t node = 0; node < graph->node_count; node++)
        plain->hops[node] = TOPO_UNREACHABLE;
    plain->hops[to] = 0;
    plain->pair[to].rate_bps = UINT64_MAX;
    for (uint32_t at = 0; at < count; at++) {
        uint32_t ports[LINKS_MOST];
        uint32_t node = line[at];
        bool expands = node == to || graph->kinds[node] != TOPO_NODE_HOST;
        uint32_t ways = expands ? list(graph, node, parallel, ports) : 0;
        for (uint32_t i = 0; i < ways; i++) {
            const struct topo_link *link = &graph->links[graph->ports[ports[i]].link];
            uint32_t other = peer(graph, ports[i]);
            if (plain->hops[other] != TOPO_UNREACHABLE || down[graph->ports[ports[i]].link])
                continue;
            plain->hops[other] = (uint16_t)(plain->hops[node] + 1);
            plain->order[other] = count;
            plain->pair[other] = plain->pair[node];
            plain->pair[other].delay_ns += link->delay_ns;
            plain->pair[other].sending_ns += PAYLOAD * UINT64_C(8000000000) / link->rate_bps;
            if (link->rate_bps < plain->pair[other].rate_bps)
                plain->pair[other].rate_bps = link->rate_bps;
            line[count++] = other;
        }
    }
}

static uint32_t next(const struct topo_graph *graph, const uint8_t *down, bool parallel, const struct plain *plain,
                     uint32_t node, uint32_t to, uint32_t *found)
{
    uint32_t ports[LINKS_MOST];
    uint32_t ways = list(graph, node, parallel, ports);
    uint32_t count = 0;
    bool nvswitch = false;
    for (uint32_t pass = 0; pass < 2; pass++) {
        for (uint32_t i = 0; i < ways; i++) {
            uint32_t other = peer(graph, ports[i]);
            bool forwards = other == to || graph->kinds[other] != TOPO_NODE_HOST;
            bool nearer = forwards && !down[graph->ports[ports[i]].link] && plain->hops[node] != TOPO_UNREACHABLE &&
                          plain->hops[node] > 0 && plain->hops[other] + 1 == plain->hops[node];
            bool is_nvswitch = graph->kinds[other] == TOPO_NODE_NVSWITCH;
            if (pass == 0) {
                nvswitch = nvswitch || (nearer && is_nvswitch);
            } else if (nearer && is_nvswitch == nvswitch) {
                uint32_t at = count++;
                for (; at > 0 && plain->order[peer(graph, found[at - 1])] > plain->order[other]; at--)
                    found[at] = found[at - 1];
                found[at] = ports[i];
            }
        }
    }
    return count;
}

/* Hosts first; each on one to three switches, now and then beside another host. */
static void make_graph(struct random *random, struct topo_graph *graph, struct mem *mem)
{
    static const uint64_t rates[] = {UINT64_C(100000000000), UINT64_C(25000000000), UINT64_C(400000000000)};
    struct orr_error err = {0};
    struct topo_link links[LINKS_MOST];
    uint32_t hosts = 2 + draw(random, 20);
    uint32_t switches = 1 + draw(random, 12);
    uint32_t count = 0;
    bool equal = draw(random, 2) == 0;
    for (uint32_t host = 0; host < hosts; host++) {
        uint32_t uplinks = draw(random, 4) == 0 ? 1 + draw(random, 3) : 1;
        for (uint32_t i = 0; i < uplinks; i++) {
            uint32_t to = hosts + (uplinks == 1 ? host % switches : draw(random, switches));
            to = draw(random, 20) == 0 ? (host + 1) % hosts : to;
            links[count++] = (struct topo_link){.a = host, .b = to};
        }
    }
    for (uint32_t i = 0; i < 3 * switches; i++) {
        uint32_t a = draw(random, switches);
        uint32_t b = draw(random, switches);
        if (a != b)
            links[count++] = (struct topo_link){.a = hosts + a, .b = hosts + b};
    }
    CHECK_OK(topo_graph_init(graph, hosts + switches, count, mem, &err), &err);
    for (uint32_t node = hosts; node < hosts + switches; node++)
        graph->kinds[node] = draw(random, 4) == 0 ? TOPO_NODE_NVSWITCH : TOPO_NODE_SWITCH;
    for (uint32_t i = 0; i < count; i++) {
        links[i].rate_bps = equal ? rates[0] : rates[draw(random, 3)];
        links[i].delay_ns = equal ? 1000 : 500 + draw(random, 3) * 250;
        graph->links[i] = links[i];
    }
    CHECK_OK(topo_graph_finish(graph, &err), &err);
}

/* From every host, and from what lies on the ways. */
static void compare(struct topo_routes *routes, const struct topo_graph *graph, bool parallel)
{
    struct plain plain;
    uint64_t trip = 0;
    uint64_t window = 0;
    for (uint32_t to = 0; to < graph->node_count; to++) {
        search(graph, routes->down, parallel, to, &plain);
        for (uint32_t from = 0; from < graph->node_count; from++) {
            uint32_t want[LINKS_MOST];
            uint32_t got[LINKS_MOST];
            uint16_t hops = 0;
            CHECK(topo_routes_hops(routes, from, to, &hops) && hops == plain.hops[from], "%u hops, not %u", hops,
                  plain.hops[from]);
            uint32_t count = next(graph, routes->down, parallel, &plain, from, to, want);
            for (unsigned again = 0; again < 2; again++) { /* the second time from what is known already */
                CHECK_U64(topo_routes_next(routes, from, to, got, LINKS_MOST), count, "ways from %u to %u", from, to);
                CHECK(memcmp(want, got, count * sizeof *want) == 0, "their order");
                const struct topo_pair *pair = topo_routes_pair(routes, from, to);
                CHECK(pair != NULL && memcmp(pair, &plain.pair[from], sizeof *pair) == 0, "sums from %u to %u", from,
                      to);
            }
            bool hosts = graph->kinds[from] == TOPO_NODE_HOST && graph->kinds[to] == TOPO_NODE_HOST;
            if (hosts && from != to && hops != TOPO_UNREACHABLE) {
                uint64_t one = topo_way_round_trip_ns(&plain.pair[from]);
                uint64_t bytes = topo_way_window(&plain.pair[from]);
                trip = one > trip ? one : trip;
                window = bytes > window ? bytes : window;
            }
        }
    }
    uint64_t got_trip = 0;
    uint64_t got_window = 0;
    CHECK(topo_way_extremes(routes, &got_trip, &got_window), "memory is given");
    CHECK_U64(got_trip, trip, "the longest round trip");
    CHECK_U64(got_window, window, "the largest window");
}

static void routes_are_those_of_a_search_from_every_destination(void **state)
{
    (void)state;
    struct random random = {.state = 7};
    for (uint32_t round = 0; round < 400; round++) {
        struct mem mem = {0};
        struct orr_error err = {0};
        struct topo_graph graph;
        struct topo_routes routes;
        bool parallel = draw(&random, 2) == 0;
        make_graph(&random, &graph, &mem);
        CHECK_OK(topo_routes_init(&routes, &graph, PAYLOAD, parallel, &mem, &err), &err);
        compare(&routes, &graph, parallel);
        for (uint32_t i = 0; i < 3; i++)
            topo_routes_set_down(&routes, draw(&random, graph.link_count), i < 2);
        compare(&routes, &graph, parallel);
        topo_routes_free(&routes);
        topo_graph_free(&graph);
        CHECK_U64(mem.used, 0, "all memory is given back");
    }
}

TEST_MAIN(routes_are_those_of_a_search_from_every_destination)
