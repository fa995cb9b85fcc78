/* SPDX-License-Identifier: Apache-2.0 */
/* A machine as dimensions: what is worked out of sizes and bandwidths. */
#include "topo/dims.h"

#include "tests/check.h"

static struct topo_dims grid(const uint32_t *sizes, uint32_t count)
{
    struct topo_dims dims = {.count = count};
    for (uint32_t d = 0; d < count; d++) {
        dims.dim[d].size = sizes[d];
        dims.dim[d].bandwidth_gibps = 50;
    }
    return dims;
}

static void dimension_0_varies_fastest(void **state)
{
    (void)state;
    static const uint32_t sizes[] = {4, 2, 3};
    struct topo_dims dims = grid(sizes, 3);
    assert_true(topo_dims_finish(&dims));
    CHECK_U64(dims.ranks, 24, "ranks");
    CHECK_U64(dims.dim[0].stride, 1, "next to each other");
    CHECK_U64(dims.dim[1].stride, 4, "behind a whole first dimension");
    CHECK_U64(dims.dim[2].stride, 8, "behind both");
}

static void coordinates_name_a_rank_and_no_other(void **state)
{
    (void)state;
    static const uint32_t sizes[] = {3, 5, 2, 7};
    struct topo_dims dims = grid(sizes, 4);
    assert_true(topo_dims_finish(&dims));
    for (uint32_t rank = 0; rank < dims.ranks; rank++) {
        uint32_t back = 0;
        for (uint32_t d = 0; d < dims.count; d++) {
            uint32_t at = topo_coordinate(&dims.dim[d], rank);
            CHECK(at < sizes[d], "coordinate %" PRIu32 " of rank %" PRIu32 " is %" PRIu32, d, rank, at);
            back += at * dims.dim[d].stride;
        }
        CHECK_U64(back, rank, "the rank of its coordinates");
    }
}

static void the_offset_between_two_ranks_leads_from_one_to_the_other(void **state)
{
    (void)state;
    static const uint32_t sizes[] = {3, 5, 2};
    struct topo_dims dims = grid(sizes, 3);
    assert_true(topo_dims_finish(&dims));
    for (uint32_t from = 0; from < dims.ranks; from++) {
        for (uint32_t to = 0; to < dims.ranks; to++) {
            uint32_t offset = topo_rank_offset(&dims, from, to);
            CHECK_U64(topo_rank_moved(&dims, from, offset), to, "from %" PRIu32 " by %" PRIu32, from, offset);
        }
    }
    CHECK_U64(topo_rank_moved(&dims, 2, 1), 0, "round in dimension 0, and no further");
}

/* 50 * 2^30 / 1e9 is not 50 * (2^30 / 1e9) to the last bit for every bandwidth. */
static void a_bandwidth_is_multiplied_before_it_is_divided(void **state)
{
    (void)state;
    unsigned differing = 0;
    for (uint32_t gibps = 1; gibps <= 1000; gibps++) {
        static const uint32_t sizes[] = {2};
        struct topo_dims dims = grid(sizes, 1);
        dims.dim[0].bandwidth_gibps = gibps;
        assert_true(topo_dims_finish(&dims));
        double wanted = (double)gibps * 1073741824.0 / 1e9;
        double other = (double)gibps * (1073741824.0 / 1e9);
        CHECK(dims.dim[0].bytes_per_ns == wanted, "%" PRIu32 " GiB/s", gibps);
        differing += wanted != other;
    }
    CHECK(differing > 0, "the order matters for none of them");
}

static void more_ranks_than_31_bits_count_are_refused(void **state)
{
    (void)state;
    static const uint32_t most[] = {65536, 32767}, over[] = {65536, 32768}, far[] = {65536, 65536, 65536, 65536};
    struct topo_dims dims = grid(most, 2);
    assert_true(topo_dims_finish(&dims));
    CHECK_U64(dims.ranks, 65536ull * 32767, "just below");
    dims = grid(over, 2);
    assert_false(topo_dims_finish(&dims));
    dims = grid(far, 4); /* 2^64: its low bits would say 0 */
    assert_false(topo_dims_finish(&dims));
}

static void kinds_are_called_as_network_files_call_them(void **state)
{
    (void)state;
    CHECK_TEXT(topo_kind_name(TOPO_RING), "Ring");
    CHECK_TEXT(topo_kind_name(TOPO_FULLY_CONNECTED), "FullyConnected");
    CHECK_TEXT(topo_kind_name(TOPO_SWITCH), "Switch");
    CHECK_TEXT(topo_kind_name((enum topo_kind)7), "unknown");
}

TEST_MAIN(dimension_0_varies_fastest, coordinates_name_a_rank_and_no_other,
          the_offset_between_two_ranks_leads_from_one_to_the_other, a_bandwidth_is_multiplied_before_it_is_divided,
          more_ranks_than_31_bits_count_are_refused, kinds_are_called_as_network_files_call_them)
