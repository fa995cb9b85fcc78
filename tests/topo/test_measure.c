/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Measures of machines against what they are defined by: distances and numbers of ways against a table of all pairs
 * relaxed until nothing changes, the bisection against the cheapest of all ways to put the switches on two sides, on
 * random machines small enough for both; and the counts of machines that can be seen.
 */
#include "topo/measure.h"

#include <math.h>

#include "tests/topo/drawn.h"

static struct topo_measure measured(const struct topo_graph *graph, struct mem *mem)
{
    struct orr_error err = {0};
    struct topo_measure measure;
    CHECK_OK(topo_measure(graph, mem, &measure, &err), &err);
    return measure;
}

static void counts_are_those_one_can_see(void **state)
{
    (void)state;
    struct mem mem = {0};
    /* Two servers of two GPUs with an NVSwitch each, a leaf each, one spine; a second cable between one leaf and it. */
    struct topo_graph graph =
        drawn("hhhhnnsss 0-4@900 1-4@900 2-5@900 3-5@900 0-6 1-6 2-7 3-7 6-8@400 6-8@400 7-8@400", &mem);
    struct topo_measure got = measured(&graph, &mem);
    CHECK_U64(got.hosts, 4, "hosts");
    CHECK_U64(got.switches, 3, "switches");
    CHECK_U64(got.nvswitches, 2, "NVSwitches");
    CHECK_U64(got.links, 11, "links");
    CHECK_U64(got.parallel_links, 1, "beyond the first");
    CHECK_U64(got.nvswitch_links, 4, "at an NVSwitch");
    CHECK_U64(got.host_links, 4, "of hosts to switches");
    CHECK_U64(got.switch_links, 3, "between switches");
    CHECK_U64(got.host_degree_least, 2, "every host has two");
    CHECK_U64(got.host_degree_most, 2, "every host has two");
    CHECK_U64(got.host_bps_least, 1000, "both links together");
    CHECK_U64(got.host_bps_most, 1000, "both links together");
    CHECK(!got.forwarding, "no host forwards");
    CHECK_U64(got.between_hosts.diameter, 4, "over both leaves and the spine");
    CHECK_U64(got.between_hosts.unreached_pairs, 0, "all reach each other");
    CHECK(got.has_bisection, "it is small");
    CHECK_U64(got.bisection_bps, 200, "two hosts' links to their leaf are the narrowest");
    topo_graph_free(&graph);
    CHECK_U64(mem.used, 0, "everything is given back");
}

static void hosts_forward_only_where_they_must(void **state)
{
    (void)state;
    struct mem mem = {0};
    struct topo_graph ring = drawn("hhhh 0-1 1-2 2-3 3-0", &mem);
    struct topo_measure got = measured(&ring, &mem);
    CHECK(got.forwarding, "a ring of hosts needs it");
    CHECK_U64(got.between_hosts.diameter, 2, "across");
    CHECK_NEAR(got.between_hosts.average, 4.0 / 3, 1e-12);
    CHECK_U64(got.bisection_bps, 200, "two cables cross the middle");
    topo_graph_free(&ring);
    CHECK_U64(mem.used, 0, "everything is given back");
}

static void a_switch_that_hangs_where_a_host_does_is_no_host(void **state)
{
    (void)state;
    struct mem mem = {0};
    /* Hosts 0 and 1 and the idle switch 5 hang on switch 3, host 2 on switch 4. */
    struct topo_graph graph = drawn("hhhsss 0-3 1-3 2-4 3-4 5-3", &mem);
    struct topo_measure got = measured(&graph, &mem);
    CHECK_NEAR(got.between_hosts.average, (2 + 3 + 3) / 3.0, 1e-12);
    topo_graph_free(&graph);
    CHECK_U64(mem.used, 0, "everything is given back");
}

/* ---- random machines ---- */

enum { HOSTS_MOST = 6, SWITCHES_MOST = 5, NODES_MOST = HOSTS_MOST + SWITCHES_MOST, FAR = 1000 };

static uint32_t draw(uint64_t *random, uint32_t below)
{
    *random = *random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(*random >> 33) % below;
}

/* Every host on one switch at least; switches in a tree, and some links more. */
static struct topo_graph random_machine(uint64_t *random, struct mem *mem)
{
    struct orr_error err = {0};
    struct topo_graph graph;
    uint32_t hosts = 2 + draw(random, HOSTS_MOST - 1);
    uint32_t switches = 1 + draw(random, SWITCHES_MOST);
    uint32_t more = draw(random, 6);
    uint32_t at = 0;
    CHECK_OK(topo_graph_init(&graph, hosts + switches, hosts + switches - 1 + more, mem, &err), &err);
    for (uint32_t i = 0; i < hosts + switches; i++) {
        graph.kinds[i] = i < hosts ? TOPO_NODE_HOST : TOPO_NODE_SWITCH;
        if (i != hosts) {
            graph.links[at++] = (struct topo_link){
                .a = i, .b = hosts + draw(random, i < hosts ? switches : i - hosts), .rate_bps = 1 + draw(random, 9)};
        }
    }
    while (at < graph.link_count) {
        uint32_t a = draw(random, hosts + switches);
        uint32_t b = hosts + draw(random, switches);
        if (a != b) {
            graph.links[at++] = (struct topo_link){.a = a, .b = b, .rate_bps = 1 + draw(random, 9)};
        }
    }
    CHECK_OK(topo_graph_finish(&graph, &err), &err);
    return graph;
}

struct table {
    uint32_t hops[NODES_MOST][NODES_MOST];
    double ways[NODES_MOST][NODES_MOST];
};

static bool joined(const struct topo_graph *graph, uint32_t a, uint32_t b)
{
    for (uint32_t i = 0; i < graph->link_count; i++) {
        const struct topo_link *link = &graph->links[i];
        if ((link->a == a && link->b == b) || (link->a == b && link->b == a)) {
            return true;
        }
    }
    return false;
}

static void relax(const struct topo_graph *graph, struct table *table)
{
    uint32_t nodes = graph->node_count;
    for (uint32_t a = 0; a < nodes; a++) {
        for (uint32_t b = 0; b < nodes; b++) {
            table->hops[a][b] = a == b ? 0 : joined(graph, a, b) ? 1 : FAR;
        }
    }
    for (uint32_t over = 0; over < nodes; over++) {
        for (uint32_t a = 0; graph->kinds[over] != TOPO_NODE_HOST && a < nodes; a++) {
            for (uint32_t b = 0; b < nodes; b++) {
                uint32_t sum = table->hops[a][over] + table->hops[over][b];
                table->hops[a][b] = sum < table->hops[a][b] ? sum : table->hops[a][b];
            }
        }
    }
    /* Ways of one more hop from those that are shorter by one, through the neighbour of the destination. */
    for (uint32_t a = 0; a < nodes; a++) {
        for (uint32_t hops = 0; hops < nodes; hops++) {
            for (uint32_t b = 0; b < nodes; b++) {
                if (table->hops[a][b] != hops) {
                    continue;
                }
                table->ways[a][b] = hops == 0;
                for (uint32_t over = 0; over < nodes; over++) {
                    bool passes = over == a || graph->kinds[over] != TOPO_NODE_HOST;
                    if (hops > 0 && passes && table->hops[a][over] == hops - 1 && joined(graph, over, b)) {
                        table->ways[a][b] += table->ways[a][over];
                    }
                }
            }
        }
    }
}

/* The cheapest cut between the lower and the upper half of the hosts. */
static uint64_t least_cut(const struct topo_graph *graph, uint32_t hosts)
{
    uint32_t switches = graph->node_count - hosts;
    uint64_t least = UINT64_MAX;
    for (uint32_t sides = 0; sides < 1u << switches; sides++) {
        uint64_t cut = 0;
        for (uint32_t i = 0; i < graph->link_count; i++) {
            bool upper[2];
            const uint32_t ends[2] = {graph->links[i].a, graph->links[i].b};
            for (unsigned e = 0; e < 2; e++) {
                upper[e] = ends[e] < hosts ? ends[e] >= hosts / 2 : (sides >> (ends[e] - hosts) & 1) != 0;
            }
            cut += upper[0] != upper[1] ? graph->links[i].rate_bps : 0;
        }
        least = cut < least ? cut : least;
    }
    return least;
}

static void compare(const struct topo_graph *graph, const struct topo_measure *got, unsigned number)
{
    static struct table table;
    uint32_t diameter = 0;
    double hops = 0;
    double most = 0;
    double least = INFINITY;
    relax(graph, &table);
    for (uint32_t a = 0; a < got->hosts; a++) {
        for (uint32_t b = 0; b < got->hosts; b++) {
            if (a != b) {
                hops += table.hops[a][b];
                diameter = table.hops[a][b] > diameter ? table.hops[a][b] : diameter;
                most = fmax(most, table.ways[a][b]);
                least = fmin(least, table.ways[a][b]);
            }
        }
    }
    CHECK_U64(got->between_hosts.diameter, diameter, "machine %u", number);
    CHECK_NEAR(got->between_hosts.average, hops / ((double)got->hosts * (got->hosts - 1)), 1e-12);
    CHECK_NEAR(got->between_hosts.ways_most, most, 1e-12);
    CHECK_NEAR(got->between_hosts.ways_least, least, 1e-12);
    CHECK_U64(got->between_hosts.sampled, 0, "machine %u is small enough for all", number);
    CHECK_U64(got->bisection_bps, least_cut(graph, got->hosts), "machine %u", number);
}

static void random_machines_measure_as_defined(void **state)
{
    (void)state;
    uint64_t random = 20261116;
    for (unsigned i = 0; i < 400; i++) {
        struct mem mem = {0};
        struct topo_graph graph = random_machine(&random, &mem);
        struct topo_measure got = measured(&graph, &mem);
        CHECK(!got.forwarding && got.has_bisection, "machine %u hangs together over its switches", i);
        compare(&graph, &got, i);
        topo_graph_free(&graph);
        CHECK_U64(mem.used, 0, "everything is given back");
    }
}

TEST_MAIN(counts_are_those_one_can_see, hosts_forward_only_where_they_must,
          a_switch_that_hangs_where_a_host_does_is_no_host, random_machines_measure_as_defined)
