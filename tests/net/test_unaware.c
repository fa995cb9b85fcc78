/* SPDX-License-Identifier: Apache-2.0 */
/* The network without contention: one formula (spec analytical §11.1), in integers worked out by hand. */
#include "net/net.h"
#include "tests/check.h"

struct machine {
    const char *what;
    struct topo_dims dims;
};

/* 50 GB/s of 2^30 bytes are 53.6870912 bytes a nanosecond. */
#define DIM(KIND, SIZE, BANDWIDTH, LATENCY)                                                                            \
    {                                                                                                                  \
        .kind = TOPO_##KIND, .size = (SIZE), .bandwidth_gibps = (BANDWIDTH), .latency_ns = (LATENCY)                   \
    }

static const struct machine machines[] = {
    {"a ring of 8", {.count = 1, .dim = {DIM(RING, 8, 50, 500)}}},
    {"8 fully connected", {.count = 1, .dim = {DIM(FULLY_CONNECTED, 8, 50, 500)}}},
    {"8 at a switch", {.count = 1, .dim = {DIM(SWITCH, 8, 50, 500)}}},
    {"a ring of 2", {.count = 1, .dim = {DIM(RING, 2, 50, 500)}}},
    {"half a nanosecond", {.count = 1, .dim = {DIM(RING, 8, 50, 0.5)}}},
    {"4 x 2 x 3", {.count = 3, .dim = {DIM(RING, 4, 50, 500), DIM(SWITCH, 2, 25, 700), DIM(RING, 3, 10, 1000)}}},
};

static const struct {
    uint32_t machine, src, dst;
    uint64_t bytes, delay;
    uint32_t hops, dim;
} rows[] = {
    {0, 0, 1, 32768, 1110, 1, 0},                                 /* §18: trunc(500 + 610.35) */
    {0, 7, 0, 32768, 1110, 1, 0},                                 /* the ring closes */
    {0, 0, 7, 32768, 1110, 1, 0},                                 /* and is walked the shorter way */
    {0, 0, 3, 32768, 2110, 3, 0},                                 /* serialised once, not at every hop */
    {0, 0, 4, 32768, 2610, 4, 0},                                 /* half way round */
    {0, 0, 5, 32768, 2110, 3, 0},                                 /* the other way */
    {0, 2, 1, 524288, 10265, 1, 0},                               /* §18: trunc(500 + 9765.6) */
    {1, 0, 5, 32768, 1110, 1, 0},   {2, 0, 5, 32768, 1610, 2, 0}, /* up and down */
    {3, 0, 1, 32768, 1110, 1, 0},   {3, 1, 0, 32768, 1110, 1, 0}, {4, 0, 1, 1, 0, 1, 0}, /* trunc(0.5 + 0.018) */
    {4, 0, 1, 27, 1, 1, 0}, /* trunc(0.5 + 0.503): halves are kept until the end */
    {4, 0, 3, 1, 1, 3, 0},          {5, 0, 3, 32768, 1110, 1, 0}, {5, 0, 4, 32768, 2620, 2, 1}, /* 2 * 700 + 1220.70 */
    {5, 0, 8, 32768, 4051, 1, 2},                                                               /* 1000 + 3051.76 */
    {5, 0, 16, 32768, 4051, 1, 2}, /* the other way round the ring of 3 */
    {5, 0, 23, 32768, 1110, 1, 0}, /* all coordinates differ: the lowest dimension alone counts */
    {5, 0, 20, 32768, 2620, 2, 1},
};

static void a_delay_is_hops_times_latency_plus_one_serialisation(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct topo_dims dims = machines[rows[i].machine].dims;
        struct mem mem = {0};
        struct net net;
        struct orr_error err = {0};
        CHECK(topo_dims_finish(&dims), "the machine is small enough");
        CHECK_OK(net_init(&net, &net_unaware, &dims, NULL, &mem, &err), &err);
        struct net_path path = net_fixed_path(&net, rows[i].src, rows[i].dst, rows[i].bytes);
        const char *what = machines[rows[i].machine].what;
        CHECK_U64(path.delay_ns, rows[i].delay, "%s, %u to %u", what, rows[i].src, rows[i].dst);
        CHECK_U64(path.hops, rows[i].hops, "%s, %u to %u", what, rows[i].src, rows[i].dst);
        CHECK_U64(path.dim, rows[i].dim, "%s, %u to %u", what, rows[i].src, rows[i].dst);
        net_free(&net);
        CHECK_U64(mem.used, 0, "all memory is given back");
    }
}

static void a_way_is_as_fast_as_its_slower_end(void **state)
{
    (void)state;
    static const double factors[8] = {1, 0.5, 2, 2, 1, 1, 1, 1};
    struct topo_dims dims = {.count = 1, .dim = {DIM(SWITCH, 8, 50, 500)}, .link_factors = factors};
    struct mem mem = {0};
    struct net net;
    struct orr_error err = {0};
    CHECK(topo_dims_finish(&dims), "the machine is small enough");
    CHECK_OK(net_init(&net, &net_unaware, &dims, NULL, &mem, &err), &err);
    CHECK_U64(net_fixed_path(&net, 0, 4, 32768).delay_ns, 1610, "as it is");
    CHECK_U64(net_fixed_path(&net, 0, 1, 32768).delay_ns, 1000 + 1220, "half as fast");
    CHECK_U64(net_fixed_path(&net, 2, 1, 32768).delay_ns, 1000 + 1220, "the slower end");
    CHECK_U64(net_fixed_path(&net, 0, 2, 32768).delay_ns, 1610, "one fast end makes no fast link");
    CHECK_U64(net_fixed_path(&net, 3, 2, 32768).delay_ns, 1000 + 305, "two do");
    net_free(&net);
}

static void a_delay_too_long_to_count_is_kept_within_the_clock(void **state)
{
    (void)state;
    struct topo_dims dims = {.count = 1, .dim = {DIM(RING, 8, 1e-9, 500)}};
    struct mem mem = {0};
    struct net net;
    struct orr_error err = {0};
    CHECK(topo_dims_finish(&dims), "the machine is small enough");
    CHECK_OK(net_init(&net, &net_unaware, &dims, NULL, &mem, &err), &err);
    CHECK_U64(net_fixed_path(&net, 0, 1, UINT64_MAX).delay_ns, UINT64_C(1) << 56, "the longest step");
    net_free(&net);
}

static void the_two_ways_between_a_pair_take_the_same_time(void **state)
{
    (void)state;
    for (size_t m = 0; m < COUNT_OF(machines); m++) {
        struct topo_dims dims = machines[m].dims;
        struct mem mem = {0};
        struct net net;
        struct orr_error err = {0};
        CHECK(topo_dims_finish(&dims), "the machine is small enough");
        CHECK_OK(net_init(&net, &net_unaware, &dims, NULL, &mem, &err), &err);
        for (uint32_t a = 0; a < dims.ranks; a++) {
            for (uint32_t b = 0; b < dims.ranks; b++) {
                if (a != b) {
                    CHECK_U64(net_fixed_path(&net, a, b, 1000).delay_ns, net_fixed_path(&net, b, a, 1000).delay_ns,
                              "%s, %u and %u", machines[m].what, a, b);
                }
            }
        }
        net_free(&net);
    }
}

TEST_MAIN(a_delay_is_hops_times_latency_plus_one_serialisation, a_delay_too_long_to_count_is_kept_within_the_clock,
          the_two_ways_between_a_pair_take_the_same_time, a_way_is_as_fast_as_its_slower_end)
