/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The deadlock of spec analytical §7.5: chunks of one all-reduce that hold each other's slots. Under --policy astra it
 * happens and is named; under --policy safe it does not; where it can happen there is a warning, elsewhere none.
 */
#include <stdlib.h>

#include "sim/waits.h"
#include "tests/sim/bench_top.h"

struct trial {
    const char *machine;
    uint32_t splits, active;
    uint64_t seed;
    double jitter;
    enum orr_policy policy;
    uint32_t collectives;
};

/* All-reduces one after the other, of a size that is cut evenly. */
static enum orr_status run_trial(struct bench *bench, const struct trial *trial)
{
    bench_open(bench, trial->machine);
    bench->config.policy = trial->policy;
    bench->config.jitter = trial->jitter;
    bench->config.seed = trial->seed;
    bench->config.system.preferred_dataset_splits = trial->splits;
    bench->config.system.active_chunks_per_dimension = trial->active;
    for (uint32_t i = 0; i < trial->collectives; i++) {
        work_collective(&bench->work, EVERY_RANK, i + 1, COLL_ALL_REDUCE, UINT64_C(1) << 20);
        if (i > 0) {
            work_after(&bench->work, i);
        }
    }
    return bench_run(bench);
}

static bool warned(const struct bench *bench)
{
    for (uint32_t i = 0; i < bench->notes.count; i++) {
        if (strstr(bench->notes.lines[i], "deadlock") != NULL) {
            return true;
        }
    }
    return false;
}

/* Whether some stuck thing of rank `a` at this node really waits for rank `b`. */
static bool waits_for(const struct bench *bench, const struct sim_waits *waits, uint32_t a, uint64_t node, uint32_t b,
                      enum sim_stall_what kind)
{
    for (uint32_t i = waits->first_of_rank[a]; i < waits->first_of_rank[a + 1]; i++) {
        const struct sim_wait *wait = &waits->at[i];
        uint64_t id = trace_rank_node_id(&bench->config.traces->ranks[a], wait->node);
        if (wait->kind == kind && wait->peer == b && id == node) {
            return true;
        }
    }
    return false;
}

/* The dimension that the n-th wait of the sentence is about: with one queue a dimension, whose slots it uses. */
static uint32_t dimension_told(const char *text, uint32_t n)
{
    static const char mark[] = "over dimension ";
    const char *at = strstr(text, mark);
    while (n-- > 0 && at != NULL) {
        at = strstr(at + 1, mark);
    }
    CHECK(at != NULL, "every wait names its dimension: %s", text);
    return (uint32_t)strtoul(at + strlen(mark), NULL, 10);
}

/* Each entry waits for the next: for a slot that its own rank holds, or for a message of a neighbour. */
static void expect_real_cycle(struct bench *bench, const struct sim_stall_finding *finding, uint64_t seed)
{
    struct sim_waits waits;
    CHECK(sim_waits_collect(bench->sim, &waits), "memory is given");
    uint32_t slots = 0;
    uint32_t messages = 0;
    CHECK_U64(finding->rank_count, finding->node_count, "a node for each rank");
    CHECK(finding->rank_count >= 4, "at least two ranks, each with a slot held and a slot wanted");
    for (uint32_t i = 0; i < finding->rank_count; i++) {
        uint32_t rank = finding->ranks[i];
        uint32_t next = finding->ranks[(i + 1) % finding->rank_count];
        bool slot = rank == next;
        CHECK(waits_for(bench, &waits, rank, finding->nodes[i], next,
                        slot ? SIM_STALL_WHAT_SLOT : SIM_STALL_WHAT_MESSAGE),
              "seed %" PRIu64 ": rank %u waits for rank %u: %s", seed, rank, next, finding->text);
        if (slot) {
            CHECK_U64(dimension_told(finding->text, i), dimension_told(finding->text, (i + 1) % finding->rank_count),
                      "whoever is next holds a slot of the same dimension: %s", finding->text);
        }
        slots += slot;
        messages += !slot;
    }
    CHECK(slots > 0 && messages > 1, "slots are held and messages awaited: %s", finding->text);
    mem_free(&bench->mem, waits.at, waits.capacity * sizeof *waits.at);
}

static void ranks_out_of_step_deadlock_under_astra_and_the_cycle_is_named(void **state)
{
    (void)state;
    uint32_t stalls = 0;
    uint32_t trials = 0;
    for (uint32_t splits = 2; splits <= 4; splits += 2) {
        for (uint32_t active = 1; active <= 2; active++) {
            for (uint64_t seed = 1; seed <= 10; seed++) {
                struct trial trial = {"ring:2 ring:2 ring:2", splits, active, seed, 0.5, ORR_POLICY_ASTRA, 1};
                struct bench bench;
                enum orr_status status = run_trial(&bench, &trial);
                bool risky = active < splits;
                trials += risky;
                CHECK(warned(&bench) == risky, "a warning where %u of %u chunks run", active, splits);
                CHECK(status == ORR_OK || status == ORR_ESTALL, "%s", bench.err.text);
                if (status == ORR_ESTALL) {
                    CHECK(risky, "with a slot for each chunk nothing stalls: %s", bench.err.text);
                    CHECK_U64(bench.result->stall.kind, SIM_STALL_ADMISSION_CYCLE, "%s", bench.err.text);
                    expect_real_cycle(&bench, stall_finding(&bench.result->stall, SIM_STALL_ADMISSION_CYCLE), seed);
                    stalls++;
                }
                bench_close(&bench);
            }
        }
    }
    CHECK(stalls >= 5, "%u of %u risky runs stalled", stalls, trials);
}

static void cycles_on_larger_machines_are_named_too(void **state)
{
    (void)state;
    static const struct trial trials[] = {
        {"ring:2 ring:2 ring:2 ring:2", 16, 2, 0, 8.0, ORR_POLICY_ASTRA, 1},
        {"ring:3 ring:3 ring:3", 8, 1, 0, 0.5, ORR_POLICY_ASTRA, 1},
        {"ring:4 ring:4 ring:2", 16, 3, 0, 8.0, ORR_POLICY_ASTRA, 1},
    };
    for (size_t i = 0; i < COUNT_OF(trials); i++) {
        uint32_t stalls = 0;
        for (uint64_t seed = 1; seed <= 6; seed++) {
            struct trial trial = trials[i];
            struct bench bench;
            trial.seed = seed;
            if (run_trial(&bench, &trial) == ORR_ESTALL) {
                stalls++;
                for (uint32_t f = 0; f < bench.result->stall.finding_count; f++) {
                    CHECK_U64(bench.result->stall.findings[f].kind, SIM_STALL_ADMISSION_CYCLE, "%s", bench.err.text);
                    expect_real_cycle(&bench, &bench.result->stall.findings[f], seed);
                }
            }
            bench_close(&bench);
        }
        CHECK(stalls > 0, "%s stalls", trials[i].machine);
    }
}

/* Ranks a little out of step, and so far out of step that chunks overtake each other within a dimension. */
static void safe_admission_never_deadlocks(void **state)
{
    (void)state;
    static const char *const machines[] = {"ring:2 ring:2 ring:2", "ring:4 ring:4 ring:2", "ring:3 ring:3 ring:3",
                                           "ring:2 switch:4 full:3", "ring:2 ring:2 ring:2 ring:2"};
    for (size_t m = 0; m < COUNT_OF(machines); m++) {
        for (uint32_t splits = 2; splits <= 8; splits *= 2) {
            for (uint32_t active = 1; active <= 3; active++) {
                for (uint64_t seed = 1; seed <= (m == 0 ? 10 : 4); seed++) {
                    double jitter = seed % 2 == 0 ? 8.0 : 0.5;
                    struct trial trial = {machines[m], splits, active, seed, jitter, ORR_POLICY_SAFE, 2};
                    struct bench bench;
                    enum orr_status status = run_trial(&bench, &trial);
                    CHECK(status == ORR_OK, "%s, %u of %u chunks, seed %" PRIu64 ": %s", machines[m], active, splits,
                          seed, bench.err.text);
                    CHECK(!warned(&bench), "nothing to warn of");
                    bench_close(&bench);
                }
            }
        }
    }
}

static void safe_admission_never_deadlocks_with_skewed_starts(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 12; seed++) {
        struct bench bench;
        bench_open(&bench, "ring:2 ring:2 ring:2");
        bench.config.policy = ORR_POLICY_SAFE;
        bench.config.backend = seed % 2 == 0 ? ORR_BACKEND_AWARE : ORR_BACKEND_UNAWARE;
        bench.config.system.preferred_dataset_splits = 4;
        bench.config.system.active_chunks_per_dimension = 1 + seed % 2;
        for (uint32_t rank = 0; rank < 8; rank++) {
            work_compute(&bench.work, rank, 1, 1 + rank * seed * 7 % 50);
        }
        for (uint64_t id = 2; id <= 4; id++) {
            work_collective(&bench.work, EVERY_RANK, id, COLL_ALL_REDUCE, UINT64_C(1) << 20);
            work_after(&bench.work, id - 1);
        }
        (void)bench_completes(&bench);
        bench_close(&bench);
    }
}

/* Safe is not one after the other: while one chunk gathers the next one scatters. */
static void safe_admission_lets_chunks_overlap(void **state)
{
    (void)state;
    uint64_t end[2];
    for (uint32_t i = 0; i < 2; i++) {
        struct bench bench;
        bench_open(&bench, "ring:4 ring:4 ring:4");
        bench.config.policy = ORR_POLICY_SAFE;
        bench.config.system.preferred_dataset_splits = i == 0 ? 1 : 8;
        work_collective(&bench.work, EVERY_RANK, 1, COLL_ALL_REDUCE, i == 0 ? 1 << 20 : 8 << 20);
        end[i] = bench_completes(&bench);
        bench_close(&bench);
    }
    CHECK(end[1] < 8 * end[0] * 3 / 4, "eight chunks take %" PRIu64 ", one takes %" PRIu64, end[1], end[0]);
}

static void ranks_in_step_do_not_deadlock(void **state)
{
    (void)state;
    static const char *const machines[] = {"ring:2 ring:2 ring:2", "ring:4 ring:4 ring:2", "ring:3 ring:3 ring:3"};
    for (size_t m = 0; m < COUNT_OF(machines); m++) {
        for (uint32_t active = 1; active <= 2; active++) {
            struct trial trial = {machines[m], 4, active, 0, 0.0, ORR_POLICY_ASTRA, 1};
            struct bench bench;
            CHECK_OK(run_trial(&bench, &trial), &bench.err);
            CHECK(warned(&bench), "that it could is said all the same");
            bench_close(&bench);
        }
    }
}

static void one_all_reduce_over_two_dimensions_stands_mild_jitter(void **state)
{
    (void)state;
    static const char *const machines[] = {"ring:2 ring:2", "ring:4 ring:4", "ring:3 switch:4"};
    for (size_t m = 0; m < COUNT_OF(machines); m++) {
        for (uint32_t active = 1; active <= 3; active++) {
            for (uint64_t seed = 1; seed <= 20; seed++) {
                struct trial trial = {machines[m], 8, active, seed, 0.5, ORR_POLICY_ASTRA, 1};
                struct bench bench;
                CHECK_OK(run_trial(&bench, &trial), &bench.err);
                CHECK(!warned(&bench), "nothing to warn of");
                bench_close(&bench);
            }
        }
    }
}

/* What the warning proposes works. */
static void queues_of_their_own_and_a_slot_for_each_chunk_rule_it_out(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        for (uint32_t remedy = 0; remedy < 2; remedy++) {
            struct bench bench;
            bench_open(&bench, "ring:2 ring:2 ring:2");
            bench.config.jitter = seed % 2 == 0 ? 8.0 : 0.5;
            bench.config.seed = seed;
            bench.config.system.preferred_dataset_splits = 4;
            bench.config.system.active_chunks_per_dimension = remedy == 0 ? 4 : 1;
            bench.config.queues_per_dim = remedy == 0 ? 1 : 2;
            work_collective(&bench.work, EVERY_RANK, 1, COLL_ALL_REDUCE, UINT64_C(1) << 20);
            (void)bench_completes(&bench);
            CHECK(!warned(&bench), "nothing to warn of");
            bench_close(&bench);
        }
    }
}

static const struct {
    const char *what;
    const char *machine;
    uint32_t splits, active, queues;
    enum orr_policy policy;
    enum sim_optimization optimization;
    int32_t type;
    const char *dims;
    bool want;
} warnings[] = {
    {"risky", "ring:2 ring:2 ring:2", 2, 1, 1, ORR_POLICY_ASTRA, SIM_LOCAL_BW_AWARE, COLL_ALL_REDUCE, NULL, true},
    {"four dimensions", "ring:2 ring:2 ring:2 ring:2", 4, 3, 1, ORR_POLICY_ASTRA, SIM_LOCAL_BW_AWARE, COLL_ALL_REDUCE,
     NULL, true},
    {"an uneven size makes one chunk more", "ring:2 ring:2 ring:2", 3, 3, 1, ORR_POLICY_ASTRA, SIM_LOCAL_BW_AWARE,
     COLL_ALL_REDUCE, NULL, true},
    {"two dimensions", "ring:4 ring:2", 2, 1, 1, ORR_POLICY_ASTRA, SIM_LOCAL_BW_AWARE, COLL_ALL_REDUCE, NULL, false},
    {"two of three take part", "ring:2 ring:2 ring:2", 2, 1, 1, ORR_POLICY_ASTRA, SIM_LOCAL_BW_AWARE, COLL_ALL_REDUCE,
     "110", false},
    {"all three take part", "ring:2 ring:2 ring:2", 2, 1, 1, ORR_POLICY_ASTRA, SIM_LOCAL_BW_AWARE, COLL_ALL_REDUCE,
     "111", true},
    {"a slot for each chunk", "ring:2 ring:2 ring:2", 2, 2, 1, ORR_POLICY_ASTRA, SIM_LOCAL_BW_AWARE, COLL_ALL_REDUCE,
     NULL, false},
    {"two queues", "ring:2 ring:2 ring:2", 2, 1, 2, ORR_POLICY_ASTRA, SIM_LOCAL_BW_AWARE, COLL_ALL_REDUCE, NULL, false},
    {"safe", "ring:2 ring:2 ring:2", 2, 1, 1, ORR_POLICY_SAFE, SIM_LOCAL_BW_AWARE, COLL_ALL_REDUCE, NULL, false},
    {"baseline", "ring:2 ring:2 ring:2", 2, 1, 1, ORR_POLICY_ASTRA, SIM_BASELINE, COLL_ALL_REDUCE, NULL, false},
    {"an all-gather", "ring:2 ring:2 ring:2", 2, 1, 1, ORR_POLICY_ASTRA, SIM_LOCAL_BW_AWARE, COLL_ALL_GATHER, NULL,
     false},
};

static void a_warning_is_given_exactly_where_it_can_happen(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(warnings); i++) {
        struct bench bench;
        bench_open(&bench, warnings[i].machine);
        bench.config.policy = warnings[i].policy;
        bench.config.queues_per_dim = warnings[i].queues;
        bench.config.system.optimization = warnings[i].optimization;
        bench.config.system.preferred_dataset_splits = warnings[i].splits;
        bench.config.system.active_chunks_per_dimension = warnings[i].active;
        work_collective(&bench.work, EVERY_RANK, 1, warnings[i].type, 65536)->dims = warnings[i].dims;
        CHECK_OK(bench_create(&bench), &bench.err);
        CHECK(warned(&bench) == warnings[i].want, "%s", warnings[i].what);
        bench_close(&bench);
    }
}

static void in_strict_mode_the_warning_is_an_error(void **state)
{
    (void)state;
    struct bench bench;
    bench_open(&bench, "ring:2 ring:2 ring:2");
    bench.config.system.preferred_dataset_splits = 2;
    bench.notes.strict = true;
    work_collective(&bench.work, EVERY_RANK, 1, COLL_ALL_REDUCE, 65536);
    CHECK_STATUS(bench_create(&bench), ORR_EINVAL);
    CHECK_CONTAINS(bench.err.text, "deadlock");
    bench_close(&bench);
}

TEST_MAIN(ranks_out_of_step_deadlock_under_astra_and_the_cycle_is_named, cycles_on_larger_machines_are_named_too,
          safe_admission_never_deadlocks, safe_admission_never_deadlocks_with_skewed_starts,
          safe_admission_lets_chunks_overlap, ranks_in_step_do_not_deadlock,
          one_all_reduce_over_two_dimensions_stands_mild_jitter,
          queues_of_their_own_and_a_slot_for_each_chunk_rule_it_out, a_warning_is_given_exactly_where_it_can_happen,
          in_strict_mode_the_warning_is_an_error)
