/* SPDX-License-Identifier: Apache-2.0 */
/* How short a run could be at best (sim/optimum.h). 50 GiB/s are 53.6870912 bytes a nanosecond. */
#include "tests/sim/bench_top.h"

static const uint64_t MIB = 1 << 20;

static void a_collective_needs_its_bytes_over_all_links(void **state)
{
    (void)state;
    static const struct {
        const char *machine;
        int32_t type;
        uint64_t bandwidth_ns; /* bytes a rank must send over the rate of its links */
    } cases[] = {
        {"ring:8", COLL_ALL_REDUCE, 17089},             /* 2 * 7/8 MiB over two links */
        {"ring:2", COLL_ALL_REDUCE, 19531},             /* 1 MiB over one */
        {"switch:8", COLL_ALL_REDUCE, 34179},           /* one link up */
        {"full:8", COLL_ALL_REDUCE, 4882},              /* seven */
        {"ring:4 switch:4", COLL_REDUCE_SCATTER, 6103}, /* 15/16 MiB over three */
        {"ring:8", COLL_ALL_GATHER, 68359},             /* seven others' MiB */
        {"ring:8", COLL_ALL_TO_ALL, 8544},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct bench bench;
        bench_open(&bench, cases[i].machine);
        work_collective(&bench.work, EVERY_RANK, 1, cases[i].type, MIB);
        uint64_t time_ns = bench_completes(&bench);
        const struct sim_optimum *best = &bench.result->optimum;
        CHECK_U64(best->bandwidth_ns, cases[i].bandwidth_ns, "%s", cases[i].machine);
        CHECK_U64(best->latency_ns, 500, "%s", cases[i].machine);
        CHECK_U64(best->compute_ns, 0, "%s", cases[i].machine);
        CHECK_U64(best->all_ns, cases[i].bandwidth_ns, "%s", cases[i].machine);
        CHECK(time_ns >= best->all_ns, "%s: %llu ns", cases[i].machine, (unsigned long long)time_ns);
        bench_close(&bench);
    }
}

static void compute_that_can_hide_communication_is_not_added_to_it(void **state)
{
    (void)state;
    struct bench bench;
    bench_open(&bench, "ring:2");
    work_compute(&bench.work, EVERY_RANK, 1, 30);
    work_collective(&bench.work, EVERY_RANK, 2, COLL_ALL_REDUCE, MIB);
    (void)bench_completes(&bench);
    CHECK_U64(bench.result->optimum.all_ns, 30000, "side by side");
    bench_close(&bench);

    bench_open(&bench, "ring:2");
    work_compute(&bench.work, EVERY_RANK, 1, 30);
    work_collective(&bench.work, EVERY_RANK, 2, COLL_ALL_REDUCE, MIB);
    work_after(&bench.work, 1);
    (void)bench_completes(&bench);
    CHECK_U64(bench.result->optimum.all_ns, 30000 + 19531, "one after the other");
    CHECK_U64(bench.result->optimum.compute_ns, 30000, "compute alone");
    bench_close(&bench);
}

static void a_device_computes_one_thing_at_a_time(void **state)
{
    (void)state;
    struct bench bench;
    bench_open(&bench, "ring:2");
    for (uint64_t id = 1; id <= 5; id++) {
        work_compute(&bench.work, EVERY_RANK, id, 10);
    }
    CHECK_U64(bench_completes(&bench), 50000, "the run");
    CHECK_U64(bench.result->optimum.compute_ns, 50000, "no chain, and yet one after the other");
    bench_close(&bench);
}

static void small_collectives_one_after_the_other_are_bound_by_latency(void **state)
{
    (void)state;
    struct bench bench;
    bench_open(&bench, "ring:4");
    for (uint64_t id = 1; id <= 10; id++) {
        work_collective(&bench.work, EVERY_RANK, id, COLL_ALL_REDUCE, 64);
        if (id > 1) {
            work_after(&bench.work, id - 1);
        }
    }
    (void)bench_completes(&bench);
    CHECK_U64(bench.result->optimum.latency_ns, 10 * 500, "ten times a link");
    CHECK_U64(bench.result->optimum.all_ns, 10 * 500, "nothing else matters");
    bench_close(&bench);
}

static void a_group_has_the_links_of_the_dimensions_it_spans(void **state)
{
    (void)state;
    static const uint32_t row[] = {0, 1, 2, 3};
    struct bench bench;
    bench_open(&bench, "ring:4 switch:2");
    bench_add_group(&bench, 1, COUNT_OF(row), row);
    for (uint32_t i = 0; i < COUNT_OF(row); i++) {
        work_collective(&bench.work, row[i], 1, COLL_ALL_REDUCE, MIB)->group = 1;
    }
    for (uint32_t rank = 4; rank < 8; rank++) {
        work_compute(&bench.work, rank, 1, 1);
    }
    (void)bench_completes(&bench);
    CHECK_U64(bench.result->optimum.all_ns, 14648, "1.5 MiB over the ring's two links, not the switch's");
    bench_close(&bench);
}

static void a_stalled_run_has_no_optimum(void **state)
{
    (void)state;
    struct bench bench;
    bench_open(&bench, "ring:2");
    work_recv(&bench.work, 0, 1, 1, 64, 1);
    work_compute(&bench.work, 1, 1, 1);
    (void)bench_stalls(&bench);
    CHECK_U64(bench.result->optimum.all_ns, 0, "nothing to hold it against");
    bench_close(&bench);
}

TEST_MAIN(a_collective_needs_its_bytes_over_all_links, compute_that_can_hide_communication_is_not_added_to_it,
          a_device_computes_one_thing_at_a_time, small_collectives_one_after_the_other_are_bound_by_latency,
          a_group_has_the_links_of_the_dimensions_it_spans, a_stalled_run_has_no_optimum)
