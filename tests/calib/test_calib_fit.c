/* SPDX-License-Identifier: Apache-2.0 */
/* What the fits promise, with numbers worked out by hand: lines that were planted come back, bad measurements do not
 * move them, and a fit that says nothing is refused with the reason. */
#include <math.h>
#include <stdlib.h>

#include "calib/network.h"
#include "coll/impl.h"
#include "tests/check.h"

static struct calib_fit fit_of(struct calib_sample *samples, uint32_t count, struct calib_fit_options options)
{
    struct mem mem = {0};
    struct orr_error err = {0};
    struct calib_fit fit = {0};
    CHECK_OK(calib_fit_make(samples, count, &options, &mem, &fit, &err), &err);
    CHECK_U64(mem.used, 0, "everything is given back");
    return fit;
}

/* Sizes 8 B … 8 B << (count - 1) on the line. */
static void plant(struct calib_sample *samples, uint32_t count, double latency_us, double gbytes_per_s)
{
    for (uint32_t i = 0; i < count; i++) {
        uint64_t bytes = (uint64_t)8 << i;
        samples[i] = (struct calib_sample){bytes, latency_us + (double)bytes / (gbytes_per_s * 1e3)};
    }
}

static void a_planted_line_is_found_again(void **state)
{
    (void)state;
    static const struct {
        double latency_us, gbytes_per_s;
    } cases[] = {{25, 8.125}, {5, 200}, {0.5, 50}, {1000, 1}, {14, 0.001}};
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct calib_sample samples[30];
        plant(samples, 30, cases[i].latency_us, cases[i].gbytes_per_s);
        struct calib_fit fit = fit_of(samples, 30, (struct calib_fit_options){0});
        CHECK_U64(fit.range_count, 1, "one line is one range");
        CHECK_NEAR(fit.ranges[0].latency_us, cases[i].latency_us, 1e-9);
        CHECK_NEAR(1e-3 / fit.ranges[0].us_per_byte, cases[i].gbytes_per_s, 1e-9);
        CHECK(fit.quality.rule == CALIB_ACCEPTED, "%s", calib_rule_text(fit.quality.rule));
        CHECK(fit.quality.worst_error < 1e-9 && fit.quality.r2 > 1 - 1e-9, "the line is exact");
        CHECK(fit.latency_seen && fit.bandwidth_seen, "both ends were measured");
    }
}

static void one_bad_measurement_in_ten_moves_a_line_by_less_than_a_hundredth(void **state)
{
    (void)state;
    static const double wrong[] = {3.0, 10.0, 0.5, 100.0};
    for (size_t w = 0; w < COUNT_OF(wrong); w++) {
        struct calib_sample samples[30];
        plant(samples, 30, 25, 8.125);
        for (uint32_t i = 0; i < 30; i++) { /* 1 % of regular noise */
            samples[i].time_us *= 1 + 0.01 * sin(7.0 * i);
        }
        samples[4].time_us *= wrong[w];
        samples[17].time_us *= wrong[w];
        samples[26].time_us *= wrong[w];
        struct calib_fit fit = fit_of(samples, 30, (struct calib_fit_options){.ranges_max = 1});
        CHECK_NEAR(fit.ranges[0].latency_us, 25, 0.01);
        CHECK_NEAR(1e-3 / fit.ranges[0].us_per_byte, 8.125, 0.01);
        CHECK(fit.quality.rule == CALIB_ACCEPTED, "%s", calib_rule_text(fit.quality.rule));
        CHECK(fit.quality.worst_error > 0.4, "the worst is still told: %g", fit.quality.worst_error);
    }
}

static void without_noise_bad_measurements_do_not_move_a_line_at_all(void **state)
{
    (void)state;
    struct calib_sample samples[30];
    plant(samples, 30, 25, 8.125);
    samples[3].time_us *= 5;
    samples[12].time_us *= 5;
    samples[29].time_us *= 5;
    struct calib_fit fit = fit_of(samples, 30, (struct calib_fit_options){.ranges_max = 1});
    CHECK_NEAR(fit.ranges[0].latency_us, 25, 1e-4);
    CHECK_NEAR(1e-3 / fit.ranges[0].us_per_byte, 8.125, 1e-4);
}

/* LL up to 32 KiB, LL128 up to 2 MiB, Simple beyond: 10 us + 2 GB/s, 18 us + 20 GB/s, 60 us + 100 GB/s. */
static void plant_protocols(struct calib_sample samples[28])
{
    static const struct {
        double latency_us, gbytes_per_s;
    } protocols[] = {{10, 2}, {18, 20}, {60, 100}};
    for (uint32_t i = 0; i < 28; i++) {
        uint64_t bytes = (uint64_t)8 << i;
        int p = bytes <= 32768 ? 0 : bytes <= 2097152 ? 1 : 2;
        samples[i] =
            (struct calib_sample){bytes, protocols[p].latency_us + (double)bytes / (protocols[p].gbytes_per_s * 1e3)};
    }
}

static void three_protocols_are_told_apart(void **state)
{
    (void)state;
    struct calib_sample samples[28];
    plant_protocols(samples);
    struct calib_fit fit = fit_of(samples, 28, (struct calib_fit_options){0});
    CHECK_U64(fit.range_count, 3, "three lines");
    CHECK_U64(fit.ranges[0].to_bytes, 32768, "the first ends where it was planted");
    CHECK_U64(fit.ranges[1].from_bytes, 65536, "the second begins with the next size");
    CHECK_U64(fit.ranges[1].to_bytes, 2097152, "the second ends where it was planted");
    CHECK_NEAR(fit.ranges[0].latency_us, 10, 1e-6);
    CHECK_NEAR(1e-3 / fit.ranges[1].us_per_byte, 20, 1e-6);
    CHECK_NEAR(1e-3 / fit.ranges[2].us_per_byte, 100, 1e-6);
    CHECK_NEAR(calib_fit_time(&fit, 40000), 10 + 40000 / 2e3, 1e-6); /* between two ranges: the lower one */
    CHECK_NEAR(calib_fit_time(&fit, (uint64_t)1 << 40), 60 + 1099511627776.0 / 1e5, 1e-6);
}

static void ranges_may_be_limited_or_given(void **state)
{
    (void)state;
    struct calib_sample samples[28];
    plant_protocols(samples);
    struct calib_fit two = fit_of(samples, 28, (struct calib_fit_options){.ranges_max = 2});
    CHECK_U64(two.range_count, 2, "not more than asked for");
    struct calib_fit given =
        fit_of(samples, 28, (struct calib_fit_options){.splits = {1024, 1048576}, .split_count = 2});
    CHECK_U64(given.range_count, 3, "as given");
    CHECK_U64(given.ranges[0].to_bytes, 1024, "the split is the last size of its range");
    CHECK_U64(given.ranges[1].to_bytes, 1048576, "the split is the last size of its range");
    CHECK(given.bic > fit_of(samples, 28, (struct calib_fit_options){0}).bic, "what is found is better");
}

static void a_given_range_without_a_measurement_is_refused(void **state)
{
    (void)state;
    struct mem mem = {0};
    struct orr_error err = {0};
    struct calib_fit fit = {.range_count = 7};
    struct calib_sample samples[4];
    plant(samples, 4, 10, 1);
    struct calib_fit_options above = {.splits = {64}, .split_count = 1};
    CHECK_STATUS(calib_fit_make(samples, 4, &above, &mem, &fit, &err), ORR_EINVAL);
    CHECK_CONTAINS(err.text, "no measurement in the range of sizes above 64 bytes");
    struct calib_fit_options below = {.splits = {7}, .split_count = 1};
    CHECK_STATUS(calib_fit_make(samples, 4, &below, &mem, &fit, &err), ORR_EINVAL);
    CHECK_CONTAINS(err.text, "no measurement in the range of sizes up to 7 bytes");
    struct calib_fit_options falling = {.splits = {32, 16}, .split_count = 2};
    CHECK_STATUS(calib_fit_make(samples, 4, &falling, &mem, &fit, &err), ORR_EINVAL);
    CHECK_STATUS(calib_fit_make(samples, 0, &(struct calib_fit_options){0}, &mem, &fit, &err), ORR_EINVAL);
    CHECK_STATUS(calib_fit_make(samples, 4, &(struct calib_fit_options){.ranges_max = 4}, &mem, &fit, &err),
                 ORR_EINVAL);
    samples[2].time_us = -1;
    CHECK_STATUS(calib_fit_make(samples, 4, &(struct calib_fit_options){0}, &mem, &fit, &err), ORR_EINVAL);
    CHECK_U64(fit.range_count, 7, "an output is written only on success");
    CHECK_U64(mem.used, 0, "everything is given back");
}

static void the_order_of_the_measurements_does_not_matter(void **state)
{
    (void)state;
    struct calib_sample samples[28];
    struct calib_sample turned[28];
    plant_protocols(samples);
    for (uint32_t i = 0; i < 28; i++) {
        samples[i].time_us *= 1 + 0.03 * sin(3.0 * i);
        turned[27 - i] = samples[i];
    }
    struct calib_fit a = fit_of(samples, 28, (struct calib_fit_options){0});
    struct calib_fit b = fit_of(turned, 28, (struct calib_fit_options){0});
    CHECK(a.ranges[0].latency_us == b.ranges[0].latency_us && a.bic == b.bic &&
              a.quality.mean_error == b.quality.mean_error,
          "the same bits");
}

static void a_fit_is_refused_by_the_first_rule_it_breaks(void **state)
{
    (void)state;
    struct calib_sample two[] = {{8, 10}, {16, 11}};
    CHECK(fit_of(two, 2, (struct calib_fit_options){0}).quality.rule == CALIB_REFUSED_SAMPLES, "two points are a line");
    struct calib_sample same[] = {{1 << 20, 100}, {1 << 20, 101}, {1 << 20, 99}};
    struct calib_fit one_size = fit_of(same, 3, (struct calib_fit_options){0});
    CHECK(one_size.quality.rule == CALIB_REFUSED_SIZES, "one size is no line");
    CHECK_NEAR(one_size.ranges[0].us_per_byte, 100.0 / 1048576, 1e-12);
    CHECK(!one_size.latency_seen, "a megabyte shows no latency");
    struct calib_sample wild[] = {{8, 10}, {16, 14}, {32, 10}, {64, 14}, {128, 10}, {256, 14}};
    CHECK(fit_of(wild, 6, (struct calib_fit_options){0}).quality.rule == CALIB_REFUSED_SPREAD, "10 or 14");
    CHECK_NEAR(calib_rule_limit(CALIB_REFUSED_SPREAD), 0.10, 0);
    CHECK_NEAR(calib_rule_limit(CALIB_REFUSED_ERROR), 0.05, 0);
    CHECK_NEAR(calib_rule_limit(CALIB_REFUSED_SAMPLES), 3, 0);
    CHECK_TEXT(calib_rule_text(CALIB_ACCEPTED), "accepted");
}

static void neither_latency_nor_bandwidth_is_negative(void **state)
{
    (void)state;
    struct calib_sample falling[] = {{8, 20}, {1024, 15}, {4096, 13}, {16384, 12}};
    struct calib_fit fit = fit_of(falling, 4, (struct calib_fit_options){0});
    CHECK(fit.ranges[0].us_per_byte == 0 && fit.ranges[0].latency_us > 0, "a time that falls is a latency");
    CHECK(!fit.bandwidth_seen, "no bandwidth shows");
    struct calib_sample steep[] = {{1 << 20, 10}, {1 << 21, 25}, {1 << 22, 60}};
    fit = fit_of(steep, 3, (struct calib_fit_options){0});
    CHECK(fit.ranges[0].latency_us == 0 && fit.ranges[0].us_per_byte > 0, "a line from below zero is a bandwidth");
}

/* Two protocols in a table of 100,000 rows; looked at row by row this would take minutes, and a run of the test too. */
static void a_table_of_very_many_rows_is_fitted_as_a_short_one_is(void **state)
{
    (void)state;
    enum { ROWS = 100000, SPLIT = 1 << 20 };
    struct calib_sample *samples = calloc(ROWS, sizeof *samples);
    assert_non_null(samples);
    for (uint32_t i = 0; i < ROWS; i++) {
        uint64_t bytes = (uint64_t)(i + 1) * 64;
        double time = bytes <= SPLIT ? 10 + (double)bytes / 2e3 : 200 + (double)bytes / 20e3;
        samples[i] = (struct calib_sample){bytes, time * (i % 2 == 0 ? 1.005 : 0.995)};
    }
    struct calib_fit fit = fit_of(samples, ROWS, (struct calib_fit_options){0});
    CHECK_U64(fit.range_count, 2, "ranges");
    CHECK_U64(fit.quality.samples, ROWS, "all of them are judged");
    CHECK(fit.ranges[0].to_bytes > SPLIT - 64 * 64 && fit.ranges[0].to_bytes < SPLIT + 64 * 64, "split at %llu",
          (unsigned long long)fit.ranges[0].to_bytes);
    CHECK_NEAR(fit.ranges[0].latency_us, 10, 0.1);
    CHECK_NEAR(1e-3 / fit.ranges[1].us_per_byte, 20, 0.1);
    free(samples);
}

static void medians_and_lines_are_the_textbook_ones(void **state)
{
    (void)state;
    struct mem mem = {0};
    struct orr_error err = {0};
    double values[] = {4, 1, 3, 2};
    struct calib_middle middle = calib_middle_of(values, 4);
    CHECK_NEAR(middle.median, 2.5, 1e-12);
    CHECK_NEAR(middle.spread, 1.5 / 2.5, 1e-12); /* quartiles 1.75 and 3.25 */
    CHECK(middle.rule == CALIB_REFUSED_SPREAD, "it spreads");
    double x[] = {2, 6, 14, 14};
    double y[] = {16, 28, 52, 500};
    bool found = false;
    double foot = 0;
    double slope = 0;
    CHECK_OK(calib_line_through(x, y, 4, &mem, &found, &foot, &slope, &err), &err);
    CHECK(found, "different x");
    CHECK_NEAR(slope, 3, 1e-12); /* 16 = 10 + 2 x 3, 28, 52; slopes 3 3 3 40.3 59 */
    CHECK_NEAR(foot, 10, 1e-12);
    double same[] = {2, 2};
    CHECK_OK(calib_line_through(same, y, 2, &mem, &found, &foot, &slope, &err), &err);
    CHECK(!found, "one x is no line");
    double below[] = {1, 5, 9};
    CHECK_OK(calib_line_through((double[]){1, 2, 3}, below, 3, &mem, &found, &foot, &slope, &err), &err);
    CHECK(foot == 0, "not below zero"); /* then the median of y / x: 1, 2.5, 3 */
    CHECK_NEAR(slope, 2.5, 1e-12);
    CHECK_U64(mem.used, 0, "everything is given back");
}

TEST_MAIN(a_planted_line_is_found_again, one_bad_measurement_in_ten_moves_a_line_by_less_than_a_hundredth,
          without_noise_bad_measurements_do_not_move_a_line_at_all, three_protocols_are_told_apart,
          ranges_may_be_limited_or_given, a_given_range_without_a_measurement_is_refused,
          the_order_of_the_measurements_does_not_matter, a_fit_is_refused_by_the_first_rule_it_breaks,
          neither_latency_nor_bandwidth_is_negative, a_table_of_very_many_rows_is_fitted_as_a_short_one_is,
          medians_and_lines_are_the_textbook_ones)
