/* SPDX-License-Identifier: Apache-2.0 */
/* The way of a flow: one of the shortest, the same for the same addresses and ports, and spread over all equal ones. */
#include "topo/way.h"

#include <stdlib.h>

#include "tests/prng.h"
#include "tests/topo/drawn.h"

enum { PAYLOAD = 1000, ROOM = 32 };

struct bench {
    struct mem mem;
    struct topo_graph graph;
    struct topo_routes routes;
};

static void bench_open(struct bench *bench, const char *line)
{
    struct orr_error err = {0};
    *bench = (struct bench){0};
    bench->graph = drawn(line, &bench->mem);
    CHECK_OK(topo_routes_init(&bench->routes, &bench->graph, PAYLOAD, false, &bench->mem, &err), &err);
}

static void bench_close(struct bench *bench)
{
    topo_routes_free(&bench->routes);
    topo_graph_free(&bench->graph);
    CHECK_U64(bench->mem.used, 0, "everything is given back");
}

/* The nodes a way goes through, "0 4 1"; checked link by link. */
static const char *nodes_of(const struct topo_graph *graph, uint32_t src, const uint32_t *way, uint32_t hops)
{
    static char text[256];
    size_t length = (size_t)snprintf(text, sizeof text, "%" PRIu32, src);
    uint32_t node = src;
    for (uint32_t i = 0; i < hops; i++) {
        CHECK_U64(graph->ports[way[i]].node, node, "hop %" PRIu32 " leaves where the last one ended", i);
        node = graph->ports[graph->ports[way[i]].peer].node;
        length += (size_t)snprintf(text + length, sizeof text - length, " %" PRIu32, node);
    }
    return text;
}

static void the_hash_is_murmurhash3_of_twelve_bytes(void **state)
{
    (void)state;
    /* From an implementation by bytes, which gives the published 0xba6bd213 of "test". */
    static const struct {
        uint32_t words[3], seed, hash;
    } known[] = {
        {{0, 0, 0}, 0, 0xd941144b},
        {{0x0b000001, 0x0b000101, 0x00642710}, TOPO_WAY_HOST_SEED, 0xe7b55057},
        {{0x0b000001, 0x0b000101, 0x00642711}, 17, 0xe4657e8e},
        {{0xffffffff, 0xffffffff, 0xffffffff}, 0xffffffff, 0x906fb002},
    };
    for (size_t i = 0; i < COUNT_OF(known); i++) {
        const uint32_t *words = known[i].words;
        CHECK_U64(topo_way_hash(words[0], words[1], words[2], known[i].seed), known[i].hash, "vector %zu", i);
    }
}

static void addresses_count_by_256_in_the_third_and_second_byte(void **state)
{
    (void)state;
    CHECK_U64(topo_way_address(0), 0x0b000001, "11.0.0.1");
    CHECK_U64(topo_way_address(255), 0x0b00ff01, "11.0.255.1");
    CHECK_U64(topo_way_address(256), 0x0b010001, "11.1.0.1");
    CHECK_U64(topo_way_address(515), 0x0b020301, "11.2.3.1");
}

static void a_lone_way_is_taken_by_every_flow(void **state)
{
    (void)state;
    struct bench bench;
    bench_open(&bench, "hhsss 0-2 2-3 3-4 4-1 2-4"); /* the way over 3 is longer */
    for (uint32_t port = 0; port < 50; port++) {
        uint32_t way[ROOM];
        uint16_t hops = topo_way_find(&bench.routes, 0, 1, port, TOPO_WAY_DATA_PORT, way, ROOM);
        CHECK_TEXT(nodes_of(&bench.graph, 0, way, hops), "0 2 4 1");
    }
    bench_close(&bench);
}

/* Two leaves under four spines: every spine gets its share, and a flow stays where it is. */
static void flows_spread_over_equal_ways_and_each_keeps_its_own(void **state)
{
    (void)state;
    struct bench bench;
    uint32_t taken[4] = {0};
    bench_open(&bench, "hhssssss 0-2 1-3 2-4 2-5 2-6 2-7 3-4 3-5 3-6 3-7");
    for (uint32_t port = TOPO_WAY_FIRST_PORT; port < TOPO_WAY_FIRST_PORT + 400; port++) {
        uint32_t way[ROOM];
        uint32_t again[ROOM];
        CHECK_U64(topo_way_find(&bench.routes, 0, 1, port, TOPO_WAY_DATA_PORT, way, ROOM), 4, "hops");
        CHECK_U64(topo_way_find(&bench.routes, 0, 1, port, TOPO_WAY_DATA_PORT, again, ROOM), 4, "hops");
        assert_memory_equal(way, again, 4 * sizeof way[0]);
        taken[bench.graph.ports[bench.graph.ports[way[1]].peer].node - 4]++;
    }
    for (int spine = 0; spine < 4; spine++) {
        CHECK(taken[spine] > 60 && taken[spine] < 140, "spine %d carries %" PRIu32 " of 400 flows", spine,
              taken[spine]);
    }
    bench_close(&bench);
}

static void two_switches_split_the_same_flows_differently(void **state)
{
    (void)state;
    struct bench bench;
    unsigned same = 0;
    /* Switch 2 chooses between 3 and 4, and the next one between 5 and 6. */
    bench_open(&bench, "hhsssssss 0-2 2-3 2-4 3-5 3-6 4-5 4-6 5-7 6-7 7-1");
    for (uint32_t port = 0; port < 200; port++) {
        uint32_t way[ROOM];
        CHECK_U64(topo_way_find(&bench.routes, 0, 1, port, TOPO_WAY_DATA_PORT, way, ROOM), 5, "hops");
        uint32_t first = bench.graph.ports[bench.graph.ports[way[1]].peer].node - 3;
        uint32_t second = bench.graph.ports[bench.graph.ports[way[2]].peer].node - 5;
        same += first == second;
    }
    CHECK(same > 60 && same < 140, "%u of 200 flows turn the same way twice", same);
    bench_close(&bench);
}

static void a_link_that_is_down_is_gone_around_and_where_none_is_left_there_is_no_way(void **state)
{
    (void)state;
    struct bench bench;
    uint32_t way[ROOM];
    bench_open(&bench, "hhssss 0-2 1-3 2-3 2-4 4-5 5-3");
    CHECK_TEXT(nodes_of(&bench.graph, 0, way, topo_way_find(&bench.routes, 0, 1, 1, 2, way, ROOM)), "0 2 3 1");
    topo_routes_set_down(&bench.routes, 2, true);
    CHECK_TEXT(nodes_of(&bench.graph, 0, way, topo_way_find(&bench.routes, 0, 1, 1, 2, way, ROOM)), "0 2 4 5 3 1");
    topo_routes_set_down(&bench.routes, 1, true);
    CHECK_U64(topo_way_find(&bench.routes, 0, 1, 1, 2, way, ROOM), 0, "host 1 hangs on nothing");
    topo_routes_set_down(&bench.routes, 1, false);
    topo_routes_set_down(&bench.routes, 2, false);
    CHECK_TEXT(nodes_of(&bench.graph, 0, way, topo_way_find(&bench.routes, 0, 1, 1, 2, way, ROOM)), "0 2 3 1");
    CHECK_U64(topo_way_find(&bench.routes, 0, 1, 1, 2, way, 2), 0, "two places do not hold three links");
    bench_close(&bench);
}

/* Hosts on switches, these on each other at random and not always all together, with random links on top. */
static void draw(struct prng *prng, char *line, size_t size, uint32_t *hosts)
{
    uint32_t switches = 1 + prng_below(prng, 8);
    *hosts = 2 + prng_below(prng, 8);
    size_t at = 0;
    for (uint32_t i = 0; i < *hosts + switches; i++) {
        line[at++] = i < *hosts ? 'h' : 's';
    }
    for (uint32_t i = 0; i < *hosts + switches; i++) {
        uint32_t up = i < *hosts ? *hosts + prng_below(prng, switches) : *hosts + prng_below(prng, i - *hosts + 1);
        if (up != i) {
            at += (size_t)snprintf(line + at, size - at, " %" PRIu32 "-%" PRIu32, i, up);
        }
    }
    for (uint32_t extra = prng_below(prng, 10); extra > 0 && switches > 1; extra--) {
        uint32_t a = *hosts + prng_below(prng, switches);
        uint32_t b = *hosts + prng_below(prng, switches);
        if (a != b) {
            at += (size_t)snprintf(line + at, size - at, " %" PRIu32 "-%" PRIu32, a, b);
        }
    }
}

static void on_random_machines_every_way_is_a_shortest_one_where_there_is_one(void **state)
{
    (void)state;
    struct prng prng = {.state = 14};
    for (unsigned machine = 0; machine < 300; machine++) {
        char line[512];
        uint32_t hosts = 0;
        struct bench bench;
        draw(&prng, line, sizeof line, &hosts);
        bench_open(&bench, line);
        uint32_t most = topo_way_most(&bench.routes);
        for (uint32_t src = 0; src < hosts; src++) {
            for (uint32_t dst = 0; dst < hosts; dst++) {
                uint32_t way[ROOM];
                uint16_t shortest = 0;
                assert_true(topo_routes_hops(&bench.routes, src, dst, &shortest));
                uint32_t hops = topo_way_find(&bench.routes, src, dst, prng_below(&prng, 60000), 100, way, ROOM);
                CHECK_U64(hops, shortest == TOPO_UNREACHABLE ? 0 : shortest, "%s: from %" PRIu32 " to %" PRIu32, line,
                          src, dst);
                CHECK(hops <= most, "%s: %" PRIu32 " links, at most %" PRIu32, line, hops, most);
                (void)nodes_of(&bench.graph, src, way, hops);
            }
        }
        bench_close(&bench);
    }
}

/* A link delays by 1 ns, and 1000 bytes take 8 us at 1 Gb/s. */
static void the_window_is_what_a_round_trip_holds_at_the_slowest_rate(void **state)
{
    (void)state;
    struct bench bench;
    uint64_t trip = 0;
    uint64_t window = 0;
    bench_open(&bench, "hhhs 0-3@1000000000 1-3@1000000000 2-3@500000000");
    const struct topo_pair *pair = topo_routes_pair(&bench.routes, 0, 1);
    CHECK_U64(topo_way_round_trip_ns(pair), 2 * 2 + 2 * 8000, "two delays each way, and 8 us on each link");
    CHECK_U64(topo_way_window(pair), 16004 / 8, "at 1 Gb/s, 1 bit a ns");
    assert_true(topo_way_extremes(&bench.routes, &trip, &window));
    CHECK_U64(trip, 2 * 2 + 8000 + 16000, "to the slow host");
    CHECK_U64(window, 16004 / 8, "between the fast ones: 24004 ns at half the rate hold less");
    bench_close(&bench);
}

TEST_MAIN(the_hash_is_murmurhash3_of_twelve_bytes, addresses_count_by_256_in_the_third_and_second_byte,
          a_lone_way_is_taken_by_every_flow, flows_spread_over_equal_ways_and_each_keeps_its_own,
          two_switches_split_the_same_flows_differently,
          a_link_that_is_down_is_gone_around_and_where_none_is_left_there_is_no_way,
          on_random_machines_every_way_is_a_shortest_one_where_there_is_one,
          the_window_is_what_a_round_trip_holds_at_the_slowest_rate)
