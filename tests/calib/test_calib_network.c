/* SPDX-License-Identifier: Apache-2.0 */
/* From collectives to links, with the numbers of spec rocm §1.10, §2.1 and F3, and planted machines. */
#include <math.h>

#include "calib/bench.h"
#include "coll/impl.h"
#include "tests/check.h"

struct bench {
    struct mem mem;
    struct arena arena;
    struct notes notes;
    struct calib_points points;
    struct calib_network network;
};

static void bench_open(struct bench *bench)
{
    *bench = (struct bench){0};
    arena_init(&bench->arena, &bench->mem);
    notes_init(&bench->notes, &bench->mem, false);
}

static void bench_close(struct bench *bench)
{
    calib_points_free(&bench->points, &bench->mem);
    notes_free(&bench->notes);
    arena_free(&bench->arena);
    CHECK_U64(bench->mem.used, 0, "everything is given back");
}

static void add(struct bench *bench, int32_t type, uint32_t ranks, uint64_t bytes, double time_us, bool in_place)
{
    struct orr_error err = {0};
    struct calib_point point = {type, ranks, bytes, time_us, in_place};
    CHECK_OK(calib_points_add(&bench->points, &point, &bench->mem, &err), &err);
}

static void add_copy(struct bench *bench, uint32_t from, uint32_t to, double rate, bool host, bool both_ways)
{
    struct orr_error err = {0};
    struct calib_copy copy = {from, to, rate, both_ways, host};
    CHECK_OK(calib_points_add_copy(&bench->points, &copy, &bench->mem, &err), &err);
}

static void fit(struct bench *bench, struct calib_network_options options)
{
    struct orr_error err = {0};
    CHECK_OK(calib_network_fit(&bench->points, &options, &bench->arena, &bench->notes, &bench->network, &err), &err);
}

static bool noted(const struct bench *bench, const char *part)
{
    for (uint32_t i = 0; i < bench->notes.count; i++) {
        if (strstr(bench->notes.lines[i], part) != NULL) {
            return true;
        }
    }
    return false;
}

static void bus_factors_are_those_of_the_tests(void **state)
{
    (void)state;
    CHECK_NEAR(coll_bus_factor(COLL_ALL_REDUCE, 2), 1, 1e-15);
    CHECK_NEAR(coll_bus_factor(COLL_ALL_REDUCE, 8), 1.75, 1e-15);
    CHECK_NEAR(coll_bus_factor(COLL_ALL_REDUCE, 128), 127.0 / 64, 1e-15);
    CHECK_NEAR(coll_bus_factor(COLL_ALL_GATHER, 8), 0.875, 1e-15);
    CHECK_NEAR(coll_bus_factor(COLL_REDUCE_SCATTER, 4), 0.75, 1e-15);
    CHECK_NEAR(coll_bus_factor(COLL_ALL_TO_ALL, 2), 0.5, 1e-15);
    CHECK_NEAR(coll_bus_factor(COLL_BROADCAST, 8), 1, 1e-15);
    CHECK(coll_bus_factor(COLL_BARRIER, 8) == 0, "a barrier carries nothing");
}

static void steps_are_those_of_the_algorithm(void **state)
{
    (void)state;
    CHECK_U64(calib_step_count(CALIB_STEPS_RING, COLL_ALL_REDUCE, 8), 14, "2 (N - 1)");
    CHECK_U64(calib_step_count(CALIB_STEPS_RING, COLL_ALL_GATHER, 8), 7, "N - 1");
    CHECK_U64(calib_step_count(CALIB_STEPS_TREE, COLL_ALL_REDUCE, 8), 6, "2 log2 N");
    CHECK_U64(calib_step_count(CALIB_STEPS_TREE, COLL_ALL_REDUCE, 9), 8, "2 log2 N, upwards");
    CHECK_U64(calib_step_count(CALIB_STEPS_TREE, COLL_BROADCAST, 2), 1, "log2 N");
    CHECK_U64(calib_step_count(CALIB_STEPS_ONE, COLL_ALL_REDUCE, 8), 1, "whatever it is");
}

/* Spec rocm §1.10: 25 us over one switch are 12.5 us a link. */
static void twenty_five_microseconds_over_a_switch_are_twelve_and_a_half_a_link(void **state)
{
    (void)state;
    struct bench bench;
    bench_open(&bench);
    for (uint64_t bytes = 8; bytes <= 1024; bytes *= 2) {
        add(&bench, COLL_ALL_REDUCE, 2, bytes, 25, false);
    }
    fit(&bench, (struct calib_network_options){.hops = CALIB_PATH_SWITCH, .steps = CALIB_STEPS_ONE});
    CHECK_NEAR(bench.network.link_latency_us.value, 12.5, 1e-9);
    CHECK(bench.network.link_latency_us.accepted, "eight equal times");
    CHECK(!bench.network.link_gbytes_per_s.known, "a kilobyte shows no bandwidth");
    CHECK(bench.network.overhead == CALIB_OVERHEAD_UNKNOWN && !bench.network.overhead_us.known, "one number of ranks");
    CHECK_CONTAINS(calib_overhead_text(bench.network.overhead), "cannot be told apart");
    fit(&bench, (struct calib_network_options){.hops = CALIB_PATH_SWITCH});
    CHECK_NEAR(bench.network.link_latency_us.value, 6.25, 1e-9); /* two steps: 2 x 2 x 6.25 = 25 */
    CHECK_NEAR(bench.network.message_link_us.value, 12.5, 1e-9);
    fit(&bench, (struct calib_network_options){
                    .hops = CALIB_PATH_SWITCH, .steps = CALIB_STEPS_ONE, .overhead_given = true, .overhead_us = 5});
    CHECK_NEAR(bench.network.link_latency_us.value, 10, 1e-9);
    CHECK(bench.network.overhead == CALIB_OVERHEAD_GIVEN, "given");
    fit(&bench, (struct calib_network_options){.hops = CALIB_PATH_LEAF_SPINE, .steps = CALIB_STEPS_ONE});
    CHECK_NEAR(bench.network.link_latency_us.value, 6.25, 1e-9);
    bench_close(&bench);
}

/* Spec rocm §2.1: 8 to 1024 B took 25.8 to 33.8 us, 12.9 to 16.9 us a link. */
static void the_measured_small_messages_give_the_range_of_the_link(void **state)
{
    (void)state;
    static const struct {
        uint64_t bytes;
        double time_us, link_us;
    } cases[] = {{8, 25.8, 12.9}, {1024, 33.8, 16.9}};
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct bench bench;
        bench_open(&bench);
        for (int k = 0; k < 3; k++) {
            add(&bench, COLL_ALL_REDUCE, 2, cases[i].bytes, cases[i].time_us, false);
        }
        fit(&bench, (struct calib_network_options){.hops = CALIB_PATH_SWITCH, .steps = CALIB_STEPS_ONE});
        CHECK_NEAR(bench.network.link_latency_us.value, cases[i].link_us, 1e-12);
        CHECK(!bench.network.link_latency_us.accepted, "one size");
        bench_close(&bench);
    }
}

/* Spec rocm §2.1: 512 MB at 65 Gbps = 8.125 GB/s; on two ranks the bus carries each byte once. */
static void half_a_gigabyte_at_sixty_five_gigabits_is_found_as_such(void **state)
{
    (void)state;
    struct bench bench;
    bench_open(&bench);
    for (uint64_t bytes = 8; bytes <= 536870912; bytes *= 2) {
        add(&bench, COLL_ALL_REDUCE, 2, bytes, 25.8 + (double)bytes / 8125.0, false);
    }
    fit(&bench, (struct calib_network_options){.hops = 2});
    CHECK_NEAR(bench.network.link_gbytes_per_s.value * 8, 65, 1e-9);
    CHECK_NEAR(bench.network.groups[0].latency_us, 25.8, 1e-9);
    CHECK_NEAR(calib_fit_time(&bench.network.groups[0].fit, 536870912), 25.8 + 66076.42, 1e-6);
    CHECK(bench.network.link_gbytes_per_s.accepted, "a clean line");
    CHECK(bench.network.groups[0].best_bus_gbytes_per_s < 8.125, "the best single one pays the latency too");
    bench_close(&bench);
}

/* latency of N ranks = 20 us of launching + 2 (N - 1) steps x 2 links x 1.5 us; 40 GB/s on the bus. */
static void overhead_and_latency_come_apart_over_several_numbers_of_ranks(void **state)
{
    (void)state;
    static const uint32_t ranks[] = {2, 4, 8, 16};
    struct bench bench;
    bench_open(&bench);
    for (uint32_t r = 0; r < COUNT_OF(ranks); r++) {
        double latency = 20 + 2.0 * (ranks[r] - 1) * 2 * 1.5;
        for (uint64_t bytes = 8; bytes <= 1 << 28; bytes *= 4) {
            double carried = coll_bus_factor(COLL_ALL_REDUCE, ranks[r]) * (double)bytes;
            add(&bench, COLL_ALL_REDUCE, ranks[r], bytes, latency + carried / 40e3, false);
        }
    }
    fit(&bench, (struct calib_network_options){.hops = 2});
    CHECK_U64(bench.network.group_count, 4, "a group a number of ranks");
    CHECK(bench.network.overhead == CALIB_OVERHEAD_FITTED, "four numbers of steps");
    CHECK_NEAR(bench.network.overhead_us.value, 20, 1e-6);
    CHECK(bench.network.overhead_us.accepted, "a clean line");
    CHECK_NEAR(bench.network.link_latency_us.value, 1.5, 1e-6);
    CHECK_NEAR(bench.network.link_gbytes_per_s.value, 40, 1e-6);
    CHECK_U64(bench.network.link_gbytes_per_s.sources, 4, "the median of four");
    CHECK_U64(bench.notes.count, 0, "nothing to remark");
    bench_close(&bench);
}

/* An all-gather of N has half the steps of an all-reduce: two types are two numbers of steps too. */
static void two_collectives_on_one_number_of_ranks_tell_the_overhead_too(void **state)
{
    (void)state;
    struct bench bench;
    bench_open(&bench);
    for (uint64_t bytes = 8; bytes <= 1 << 24; bytes *= 8) {
        add(&bench, COLL_ALL_REDUCE, 8, bytes, 10 + 14 * 2 + 1.75 * (double)bytes / 1e4, true);
        add(&bench, COLL_ALL_GATHER, 8, bytes, 10 + 7 * 2 + 0.875 * (double)bytes / 1e4, true);
    }
    fit(&bench, (struct calib_network_options){0});
    CHECK_NEAR(bench.network.overhead_us.value, 10, 1e-6);
    CHECK_NEAR(bench.network.link_latency_us.value, 2, 1e-6);
    CHECK(!bench.network.overhead_us.accepted, "two points are always on a line");
    CHECK_TEXT(bench.network.overhead_us.reason, "fewer than 3 measurements");
    bench_close(&bench);
}

/* 10 us + 2 GB/s up to 32 KiB, 60 us + 100 GB/s beyond. A link has one latency: the 50 us of the second line count as
 * bytes. At 1 GiB they are 0.5 % of the time, and the bandwidth is that much lower. */
static void a_link_has_the_first_latency_and_what_the_largest_messages_then_show(void **state)
{
    (void)state;
    struct bench bench;
    bench_open(&bench);
    for (uint64_t bytes = 64; bytes <= 32768; bytes *= 2) {
        add(&bench, COLL_BROADCAST, 4, bytes, 10 + (double)bytes / 2e3, false);
    }
    for (uint64_t bytes = (uint64_t)1 << 28; bytes <= (uint64_t)1 << 32; bytes *= 2) {
        add(&bench, COLL_BROADCAST, 4, bytes, 60 + (double)bytes / 100e3, false);
    }
    fit(&bench, (struct calib_network_options){0});
    const struct calib_group *group = &bench.network.groups[0];
    CHECK_U64(group->fit.range_count, 2, "two lines");
    CHECK_NEAR(group->latency_us, 10, 1e-6);
    CHECK_NEAR(group->bus_gbytes_per_s, 100 / (1 + 50 / (1073741824.0 / 100e3)), 1e-6); /* 1 GiB is the middle one */
    CHECK(group->fit.quality.worst_error < 1e-6, "both lines are exact");
    CHECK(group->pair_worst_error > 1, "32 KiB took 26.4 us, not 10.3");
    bench_close(&bench);
}

static void what_is_not_measured_is_not_known(void **state)
{
    (void)state;
    struct bench bench;
    bench_open(&bench);
    for (uint64_t bytes = (uint64_t)1 << 27; bytes <= (uint64_t)1 << 32; bytes *= 2) {
        add(&bench, COLL_ALL_REDUCE, 8, bytes, 30 + (double)bytes / 2.6e5, false);
    }
    fit(&bench, (struct calib_network_options){0});
    CHECK(!bench.network.link_latency_us.known && bench.network.overhead == CALIB_OVERHEAD_NONE, "128 MiB and more");
    CHECK(noted(&bench, "does not show a latency"), "and it says so");
    CHECK_NEAR(bench.network.link_gbytes_per_s.value, 1.75 * 260, 1e-6);
    bench_close(&bench);
}

static void collectives_on_different_links_are_not_averaged_in_silence(void **state)
{
    (void)state;
    struct bench bench;
    bench_open(&bench);
    for (uint64_t bytes = 1 << 10; bytes <= 1 << 30; bytes *= 4) {
        add(&bench, COLL_ALL_REDUCE, 8, bytes, 30 + 1.75 * (double)bytes / 230e3, false);
        add(&bench, COLL_ALL_REDUCE, 16, bytes, 60 + 1.875 * (double)bytes / 40e3, false);
    }
    fit(&bench, (struct calib_network_options){0});
    CHECK(!bench.network.link_gbytes_per_s.accepted, "230 is not 40");
    CHECK_NEAR(bench.network.link_gbytes_per_s.low, 40, 1e-6);
    CHECK_NEAR(bench.network.link_gbytes_per_s.high, 230, 1e-6);
    CHECK(noted(&bench, "one link cannot have both"), "and it says so");
    bench_close(&bench);
}

static void in_place_and_out_of_place_may_be_fitted_apart(void **state)
{
    (void)state;
    struct bench bench;
    struct orr_error err = {0};
    bench_open(&bench);
    for (uint64_t bytes = 8; bytes <= 1 << 26; bytes *= 8) {
        add(&bench, COLL_ALL_REDUCE, 4, bytes, 10 + (double)bytes / 1e4, false);
        add(&bench, COLL_ALL_REDUCE, 4, bytes, 12 + (double)bytes / 1e4, true);
    }
    fit(&bench, (struct calib_network_options){.place = CALIB_PLACE_OUT});
    CHECK_NEAR(bench.network.groups[0].latency_us, 10, 1e-6);
    fit(&bench, (struct calib_network_options){.place = CALIB_PLACE_IN});
    CHECK_NEAR(bench.network.groups[0].latency_us, 12, 1e-6);
    CHECK_U64(bench.network.groups[0].fit.quality.samples, 8, "half of them");
    add(&bench, COLL_BROADCAST, 4, 8, 10, false);
    struct calib_network_options options = {.place = CALIB_PLACE_IN};
    CHECK_STATUS(calib_network_fit(&bench.points, &options, &bench.arena, &bench.notes, &bench.network, &err),
                 ORR_EINVAL);
    CHECK_CONTAINS(err.text, "broadcast over 4 ranks was measured out of place only");
    bench_close(&bench);
}

/* Spec rocm §2.1: 540.849 / 14.045 / 14.046 / 540.064 GB/s. */
static void copies_give_memory_peers_and_host(void **state)
{
    (void)state;
    struct bench bench;
    bench_open(&bench);
    add_copy(&bench, 1, 1, 540.849, false, false);
    add_copy(&bench, 1, 2, 14.045, false, false);
    add_copy(&bench, 2, 1, 14.046, false, false);
    add_copy(&bench, 2, 2, 540.064, false, false);
    add_copy(&bench, 0, 1, 13.2, true, false);
    add_copy(&bench, 1, 2, 27.5, false, true);
    fit(&bench, (struct calib_network_options){0});
    CHECK_NEAR(bench.network.memory_gbytes_per_s.value, (540.849 + 540.064) / 2, 1e-12);
    CHECK_NEAR(bench.network.peer_gbytes_per_s.value, 14.0455, 1e-12);
    CHECK_NEAR(bench.network.host_gbytes_per_s.value, 13.2, 1e-12);
    CHECK(bench.network.memory_gbytes_per_s.accepted && bench.network.peer_gbytes_per_s.accepted, "they agree");
    CHECK(!bench.network.link_gbytes_per_s.known, "no collective was measured");
    add_copy(&bench, 1, 3, 50, false, false);
    add_copy(&bench, 3, 1, 50, false, false);
    fit(&bench, (struct calib_network_options){0});
    CHECK(!bench.network.peer_gbytes_per_s.accepted, "two kinds of links");
    bench_close(&bench);
}

static void nonsense_is_refused(void **state)
{
    (void)state;
    struct bench bench;
    struct orr_error err = {0};
    bench_open(&bench);
    struct calib_network_options options = {0};
    CHECK_STATUS(calib_network_fit(&bench.points, &options, &bench.arena, &bench.notes, &bench.network, &err),
                 ORR_EINVAL);
    static const struct calib_point wrong[] = {{COLL_ALL_REDUCE, 1, 8, 1, false},
                                               {COLL_ALL_REDUCE, 2, 0, 1, false},
                                               {COLL_ALL_REDUCE, 2, 8, 0, false},
                                               {COLL_ALL_REDUCE, 2, 8, (double)NAN, false},
                                               {COLL_ALL_REDUCE, 2, 8, (double)INFINITY, false},
                                               {99, 2, 8, 1, false},
                                               {-1, 2, 8, 1, false}};
    for (size_t i = 0; i < COUNT_OF(wrong); i++) {
        CHECK_STATUS(calib_points_add(&bench.points, &wrong[i], &bench.mem, &err), ORR_EINVAL);
    }
    struct calib_copy standing = {0, 1, 0, false, false};
    CHECK_STATUS(calib_points_add_copy(&bench.points, &standing, &bench.mem, &err), ORR_EINVAL);
    CHECK_U64(bench.points.count + bench.points.copy_count, 0, "nothing was added");
    add(&bench, COLL_ALL_REDUCE, 2, 8, 10, false);
    options = (struct calib_network_options){.overhead_given = true, .overhead_us = -1};
    CHECK_STATUS(calib_network_fit(&bench.points, &options, &bench.arena, &bench.notes, &bench.network, &err),
                 ORR_EINVAL);
    bench_close(&bench);
}

static void options_are_words_and_a_wrong_word_is_named(void **state)
{
    (void)state;
    struct orr_error err = {0};
    struct calib_read_options reading;
    struct calib_network_options fitting;
    struct orr_calib_options options;
    orr_calib_options_init(&options);
    CHECK_OK(calib_bench_options(&options, &reading, &fitting, &err), &err);
    CHECK(reading.form == CALIB_FORM_AUTO && reading.type == CALIB_TYPE_UNKNOWN && fitting.steps == CALIB_STEPS_RING &&
              fitting.place == CALIB_PLACE_ANY && fitting.fit.split_count == 0,
          "nothing given");
    options.bench_form = "csv";
    options.bench_collective = "ALL_GATHER";
    options.bench_place = "in";
    options.bench_steps = "one";
    options.bench_ranges = 2;
    options.bench_splits[0] = 4096;
    options.bench_split_count = 1;
    options.ranks = 8;
    CHECK_OK(calib_bench_options(&options, &reading, &fitting, &err), &err);
    CHECK(reading.form == CALIB_FORM_CSV && reading.type == COLL_ALL_GATHER && reading.ranks == 8, "reading");
    CHECK(fitting.steps == CALIB_STEPS_ONE && fitting.place == CALIB_PLACE_IN, "fitting");
    CHECK_U64(fitting.fit.splits[0], 4096, "the split");
    options.bench_place = "inside";
    CHECK_STATUS(calib_bench_options(&options, &reading, &fitting, &err), ORR_EINVAL);
    CHECK_TEXT(err.text, "parameter 'place': \"inside\" is none of any, out and in");
    options.bench_place = NULL;
    options.bench_collective = "all-redose";
    CHECK_STATUS(calib_bench_options(&options, &reading, &fitting, &err), ORR_EINVAL);
    CHECK_CONTAINS(err.text, "did you mean \"all-reduce\"?");
}

TEST_MAIN(bus_factors_are_those_of_the_tests, steps_are_those_of_the_algorithm,
          twenty_five_microseconds_over_a_switch_are_twelve_and_a_half_a_link,
          the_measured_small_messages_give_the_range_of_the_link,
          half_a_gigabyte_at_sixty_five_gigabits_is_found_as_such,
          overhead_and_latency_come_apart_over_several_numbers_of_ranks,
          two_collectives_on_one_number_of_ranks_tell_the_overhead_too,
          a_link_has_the_first_latency_and_what_the_largest_messages_then_show, what_is_not_measured_is_not_known,
          collectives_on_different_links_are_not_averaged_in_silence, in_place_and_out_of_place_may_be_fitted_apart,
          copies_give_memory_peers_and_host, nonsense_is_refused, options_are_words_and_a_wrong_word_is_named)
