/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every published table of collectives, read and fitted: that each is readable, how near the fit comes, and which are
 * refused. The table is the one of docs/calibration-network.md. Skipped (exit 77) where the measurements are not there:
 * they are looked for in $ORRERY_SHARED, else in `shared` beside the source tree.
 *
 * Usage: test_calib_published SOURCE-FOLDER
 */
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#include "calib/network.h"
#include "coll/impl.h"
#include "tests/check.h"

enum { SKIPPED = 77 };

/* Errors in percent, rounded to a tenth: of the ranges, and of one latency and one bandwidth alone. The bandwidth is a
 * link's, in GB/s. */
static const struct published {
    const char *name;
    double mean_error, pair_error, bus;
    uint32_t points, ranks, ranges;
    bool accepted; /* the bandwidth */
} published[] = {
    {"nccl_allreduce_a100-40gb_2x8_tail.csv", 0.0, 0.0, 237.9, 1, 16, 1, false},
    {"nccl_allreduce_a100-sxm4-80gb_1x8_mpi.csv", 6.1, 15.2, 214.1, 20, 8, 2, true},
    {"nccl_allreduce_a100-sxm4-80gb_1x8_proc1.csv", 2.6, 16.0, 228.9, 20, 8, 3, true},
    {"nccl_allreduce_h100-sxm_1x8_nvls.csv", 1.5, 1.6, 472.9, 6, 8, 1, true},
    {"nccl_allreduce_h100_oci_2x8.csv", 0.0, 0.1, 466.5, 5, 16, 1, true},
    {"rccl_allreduce_mi300x_1x8.csv", 3.6, 16.8, 311.9, 21, 8, 3, true},
    {"rccl_allreduce_mi300x_2x8.csv", 2.1, 7.7, 342.5, 11, 16, 2, true},
    {"vtrain_nccl_lut/a100_allreduce_2gpu_1MB-1024MB.csv", 0.4, 2.1, 195.4, 2048, 2, 3, true},
    {"vtrain_nccl_lut/a100_allreduce_3gpu_1MB-1024MB.csv", 0.4, 1.7, 211.5, 2048, 3, 3, true},
    {"vtrain_nccl_lut/a100_allreduce_4gpu_1MB-1024MB.csv", 0.5, 2.0, 221.0, 2048, 4, 3, true},
    {"vtrain_nccl_lut/a100_allreduce_5gpu_1MB-1024MB.csv", 0.7, 2.1, 223.1, 2048, 5, 3, true},
    {"vtrain_nccl_lut/a100_allreduce_7gpu_1MB-1024MB.csv", 0.9, 2.2, 227.4, 2048, 7, 3, true},
    {"vtrain_nccl_lut/a100_allreduce_8gpu_1MB-1024MB.csv", 1.0, 2.1, 228.4, 2048, 8, 3, true},
    {"vtrain_nccl_lut/v100_allreduce_2gpu_1MB-1024MB.csv", 0.1, 0.1, 22.6, 2048, 2, 1, true},
    {"vtrain_nccl_lut/v100_allreduce_3gpu_1MB-1024MB.csv", 0.1, 0.4, 45.2, 2048, 3, 2, true},
    {"vtrain_nccl_lut/v100_allreduce_4gpu_1MB-1024MB.csv", 0.2, 0.5, 85.6, 2048, 4, 3, true},
    {"vtrain_nccl_lut/v100_allreduce_5gpu_1MB-1024MB.csv", 0.1, 0.2, 37.2, 2048, 5, 3, true},
    {"vtrain_nccl_lut/v100_allreduce_6gpu_1MB-1024MB.csv", 0.1, 0.4, 45.9, 2048, 6, 2, true},
    {"vtrain_nccl_lut/v100_allreduce_7gpu_1MB-1024MB.csv", 0.2, 0.5, 87.3, 2048, 7, 3, true},
    {"vtrain_nccl_lut/v100_allreduce_8gpu_1MB-1024MB.csv", 0.3, 0.9, 135.1, 2048, 8, 3, true},
};

/* Tables of something else. */
static const char *const others[] = {
    "korthikanti_2205.05198_table5.csv", "korthikanti_fig1_memory_gib.csv",    "megatron_sc21_table1.csv",
    "vtrain_megatron_ds_a100_multi.csv", "vtrain_megatron_ds_a100_single.csv",
};

static char shared[1024];

struct bench {
    struct mem mem;
    struct notes notes;
    struct arena arena;
    struct calib_points points;
    struct calib_read_result result;
    struct orr_error err;
};

static enum orr_status bench_read(struct bench *bench, const char *name)
{
    char path[2048];
    const struct calib_read_options options = CALIB_READ_OPTIONS_DEFAULT;
    (void)snprintf(path, sizeof path, "%s/data/published/%s", shared, name);
    return calib_read(path, &options, &bench->mem, &bench->notes, &bench->points, &bench->result, &bench->err);
}

static void bench_open(struct bench *bench)
{
    *bench = (struct bench){0};
    notes_init(&bench->notes, &bench->mem, false);
    arena_init(&bench->arena, &bench->mem);
}

static void bench_close(struct bench *bench)
{
    calib_points_free(&bench->points, &bench->mem);
    notes_free(&bench->notes);
    arena_free(&bench->arena);
    CHECK_U64(bench->mem.used, 0, "everything is given back");
}

static void check_published(const struct published *want)
{
    struct bench bench;
    struct calib_network network;
    const struct calib_network_options options = {0};
    bench_open(&bench);
    CHECK_OK(bench_read(&bench, want->name), &bench.err);
    CHECK_OK(calib_network_fit(&bench.points, &options, &bench.arena, &bench.notes, &network, &bench.err), &bench.err);
    const struct calib_group *group = &network.groups[0];
    printf("%s: %u ranges, mean error %.1f %%, of one latency and bandwidth %.1f %%, %.1f GB/s\n", want->name,
           group->fit.range_count, 100 * group->fit.quality.mean_error, 100 * group->pair_mean_error,
           group->bus_gbytes_per_s);
    CHECK_U64(bench.result.points, want->points, "%s", want->name);
    CHECK_U64(network.group_count, 1, "%s", want->name);
    CHECK_U64(group->type, COLL_ALL_REDUCE, "%s", want->name);
    CHECK_U64(group->ranks, want->ranks, "%s", want->name);
    CHECK_U64(group->fit.range_count, want->ranges, "%s", want->name);
    CHECK(fabs(100 * group->fit.quality.mean_error - want->mean_error) < 0.06, "%s: %g %%", want->name,
          100 * group->fit.quality.mean_error);
    CHECK(fabs(100 * group->pair_mean_error - want->pair_error) < 0.06, "%s: %g %%", want->name,
          100 * group->pair_mean_error);
    CHECK(fabs(network.link_gbytes_per_s.value - want->bus) < 0.06, "%s: %g GB/s", want->name,
          network.link_gbytes_per_s.value);
    CHECK(network.link_gbytes_per_s.accepted == want->accepted, "%s", want->name);
    bench_close(&bench);
}

static void every_published_table_is_read_and_fitted(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(published); i++) {
        check_published(&published[i]);
    }
}

static void tables_of_something_else_are_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(others); i++) {
        struct bench bench;
        bench_open(&bench);
        CHECK_STATUS(bench_read(&bench, others[i]), ORR_EINVAL);
        CHECK_CONTAINS(bench.err.text, "has not one column of sizes");
        bench_close(&bench);
    }
}

/* 2 to 8 A100 on one switch: 38.5 us of launching, and the rest falls on the steps. */
static void numbers_of_ranks_together_give_the_overhead(void **state)
{
    (void)state;
    struct bench bench;
    struct calib_network network;
    const struct calib_network_options options = {0};
    bench_open(&bench);
    for (size_t i = 0; i < COUNT_OF(published); i++) {
        if (strstr(published[i].name, "/a100") != NULL) {
            CHECK_OK(bench_read(&bench, published[i].name), &bench.err);
        }
    }
    CHECK_OK(calib_network_fit(&bench.points, &options, &bench.arena, &bench.notes, &network, &bench.err), &bench.err);
    CHECK_U64(network.group_count, 6, "2, 3, 4, 5, 7 and 8");
    CHECK(network.overhead == CALIB_OVERHEAD_FITTED && network.overhead_us.accepted, "six numbers of steps");
    CHECK(fabs(network.overhead_us.value - 38.5) < 0.1, "%g us", network.overhead_us.value);
    CHECK(fabs(network.link_gbytes_per_s.value - 222.0) < 0.1, "%g GB/s", network.link_gbytes_per_s.value);
    bench_close(&bench);
}

int main(int argc, char **argv)
{
    const char *named = getenv("ORRERY_SHARED");
    bool given = named != NULL && named[0] != '\0';
    char path[2048];
    (void)snprintf(shared, sizeof shared, "%s%s", given ? named : argc > 1 ? argv[1] : ".", given ? "" : "/../shared");
    (void)snprintf(path, sizeof path, "%s/data/published/%s", shared, published[0].name);
    if (access(path, R_OK) != 0) {
        printf("skipped: no %s\n", path);
        return SKIPPED;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_published_table_is_read_and_fitted),
        cmocka_unit_test(tables_of_something_else_are_refused),
        cmocka_unit_test(numbers_of_ranks_together_give_the_overhead),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
