/* SPDX-License-Identifier: Apache-2.0 */
/* Dependencies that go round: the ids named are the cycle, in order, and nothing but the cycle. */
#include "tests/prng.h"
#include "tests/sim/bench_top.h"

enum { LONGEST = 40 };

/* Distinct ids in no order; node i depends on node i + 1, the last on the first. */
static uint32_t plant_cycle(struct work *work, struct prng *prng, uint32_t rank, uint64_t *ids)
{
    uint32_t order[LONGEST];
    uint32_t length = 1 + prng_below(prng, LONGEST);
    prng_shuffle(prng, order, length);
    for (uint32_t i = 0; i < length; i++) {
        ids[i] = 1000 + 7 * (uint64_t)order[i];
    }
    for (uint32_t i = 0; i < length; i++) {
        if (prng_below(prng, 3) == 0) {
            work_collective(work, rank, ids[i], COLL_ALL_REDUCE, 4096);
        } else {
            work_compute(work, rank, ids[i], 1);
        }
        if (prng_below(prng, 2) == 0) {
            work_after(work, 1); /* something that is done */
        }
        work_after(work, ids[(i + 1) % length]);
    }
    return length;
}

static void expect_cycle(const struct sim_stall_finding *finding, uint32_t rank, const uint64_t *ids, uint32_t length,
                         uint64_t seed)
{
    CHECK_U64(finding->kind, SIM_STALL_DEPENDENCY_CYCLE, "seed %" PRIu64 ": %s", seed, finding->text);
    CHECK_U64(finding->node_count, length, "seed %" PRIu64 ": %s", seed, finding->text);
    uint32_t start = 0;
    while (start < length && ids[start] != finding->nodes[0]) {
        start++;
    }
    for (uint32_t i = 0; i < length; i++) {
        CHECK_U64(finding->ranks[i], rank, "seed %" PRIu64 ": %s", seed, finding->text);
        CHECK_U64(finding->nodes[i], ids[(start + i) % length], "seed %" PRIu64 ": %s", seed, finding->text);
    }
}

static void a_cycle_is_named_by_its_ids_in_order(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 100; seed++) {
        struct prng prng = {seed};
        struct bench bench;
        uint64_t ids[LONGEST];
        bench_open(&bench, "ring:4");
        uint32_t rank = prng_below(&prng, 4);
        work_compute(&bench.work, EVERY_RANK, 1, 2);
        uint32_t length = plant_cycle(&bench.work, &prng, rank, ids);
        /* Nodes that wait for the cycle without being in it. */
        work_compute(&bench.work, rank, 3, 1);
        work_after(&bench.work, ids[length - 1]);
        work_compute(&bench.work, rank, 5000, 1);
        work_after(&bench.work, 3);
        const struct sim_stall *stall = bench_stalls(&bench);
        CHECK_U64(stall->finding_count, 1, "seed %" PRIu64, seed);
        expect_cycle(&stall->findings[0], rank, ids, length, seed);
        bench_close(&bench);
    }
}

/* The rank does all its other work and looks finished; ASTRA-sim would say that it is. */
static void a_cycle_off_the_main_path_is_named_and_its_rank_has_not_finished(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 50; seed++) {
        struct prng prng = {seed};
        struct bench bench;
        uint64_t ids[LONGEST];
        bench_open(&bench, "ring:4");
        uint32_t rank = prng_below(&prng, 4);
        work_compute(&bench.work, EVERY_RANK, 1, 2);
        work_collective(&bench.work, EVERY_RANK, 2, COLL_ALL_REDUCE, 65536);
        work_after(&bench.work, 1);
        uint32_t length = plant_cycle(&bench.work, &prng, rank, ids);
        const struct sim_stall *stall = bench_stalls(&bench);
        CHECK_U64(stall->finding_count, 1, "seed %" PRIu64, seed);
        expect_cycle(&stall->findings[0], rank, ids, length, seed);
        CHECK_U64(bench.result->ranks_finished, 3, "a rank with nodes left has not finished, seed %" PRIu64, seed);
        CHECK_U64(bench.result->nodes - bench.result->nodes_done, length, "nodes left, seed %" PRIu64, seed);
        CHECK_U64(stall->wait_total, 0, "nothing is in flight");
        bench_close(&bench);
    }
}

static void a_trace_that_is_one_cycle_has_nothing_to_begin_with(void **state)
{
    (void)state;
    struct bench bench;
    bench_open(&bench, "ring:2");
    work_compute(&bench.work, 1, 10, 1);
    work_after(&bench.work, 20);
    work_compute(&bench.work, 1, 20, 1);
    work_after(&bench.work, 10);
    const struct sim_stall *stall = bench_stalls(&bench);
    expect_cycle(&stall->findings[0], 1, (uint64_t[]){10, 20}, 2, 0);
    CHECK_U64(bench.result->end_ns, 0, "nothing happened");
    bench_close(&bench);
}

/* Others wait in a collective for the rank with the cycle: the cycle is the reason, and the only one. */
static void a_collective_behind_a_cycle_blames_the_cycle(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 30; seed++) {
        struct prng prng = {seed};
        struct bench bench;
        uint64_t ids[LONGEST];
        bench_open(&bench, seed % 2 == 0 ? "ring:4" : "full:4");
        uint32_t rank = prng_below(&prng, 4);
        work_compute(&bench.work, EVERY_RANK, 1, 2);
        uint32_t length = plant_cycle(&bench.work, &prng, rank, ids);
        for (uint32_t r = 0; r < 4; r++) {
            work_collective(&bench.work, r, 2, COLL_ALL_REDUCE, 65536);
            if (r == rank) {
                work_after(&bench.work, ids[0]);
            }
        }
        const struct sim_stall *stall = bench_stalls(&bench);
        CHECK_U64(stall->finding_count, 1, "seed %" PRIu64, seed);
        expect_cycle(&stall->findings[0], rank, ids, length, seed);
        bench_close(&bench);
    }
}

static void cycles_on_several_ranks_are_all_named(void **state)
{
    (void)state;
    struct bench bench;
    bench_open(&bench, "ring:4");
    for (uint32_t rank = 1; rank < 4; rank++) {
        work_compute(&bench.work, rank, 10 * rank, 1);
        work_after(&bench.work, 10 * rank + 1);
        work_compute(&bench.work, rank, 10 * rank + 1, 1);
        work_after(&bench.work, 10 * rank);
    }
    const struct sim_stall *stall = bench_stalls(&bench);
    CHECK_U64(stall->finding_count, 3, "one a rank");
    for (uint32_t rank = 1; rank < 4; rank++) {
        expect_cycle(&stall->findings[rank - 1], rank, (uint64_t[]){10 * rank, 10 * rank + 1}, 2, 0);
    }
    bench_close(&bench);
}

TEST_MAIN(a_cycle_is_named_by_its_ids_in_order, a_cycle_off_the_main_path_is_named_and_its_rank_has_not_finished,
          a_trace_that_is_one_cycle_has_nothing_to_begin_with, a_collective_behind_a_cycle_blames_the_cycle,
          cycles_on_several_ranks_are_all_named)
