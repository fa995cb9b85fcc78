/* SPDX-License-Identifier: Apache-2.0 */
/* Runs that are cut short: by a memory limit, wherever it strikes, and by whoever watches. */
#include "tests/sim/random_work.h"

/* ---- memory --------------------------------------------------------------------------------------------------- */

struct knobs {
    const char *what;
    const char *machine;
    enum coll_algo algo;
    enum orr_backend backend;
    bool jitter, rendezvous, bus, custom, stalls;
};

static const struct knobs cases[] = {
    {"ring", "ring:8", COLL_RING, ORR_BACKEND_UNAWARE, false, false, false, false, false},
    {"ring with contention", "ring:8", COLL_RING, ORR_BACKEND_AWARE, false, false, false, false, false},
    {"direct with jitter", "full:8", COLL_DIRECT, ORR_BACKEND_UNAWARE, true, false, false, false, false},
    {"rendezvous", "ring:6", COLL_DIRECT, ORR_BACKEND_AWARE, false, true, false, false, false},
    {"halving", "switch:8", COLL_HALVING_DOUBLING, ORR_BACKEND_AWARE, false, false, false, false, false},
    {"halving of six", "switch:6", COLL_HALVING_DOUBLING, ORR_BACKEND_UNAWARE, false, false, false, false, false},
    {"trees", "ring:7", COLL_DOUBLE_BINARY_TREE, ORR_BACKEND_UNAWARE, false, false, false, false, false},
    {"five dimensions", "ring:2 ring:2 ring:2 ring:2 ring:2", COLL_RING, ORR_BACKEND_UNAWARE, false, false, false,
     false, false},
    {"shared bus", "ring:4", COLL_RING, ORR_BACKEND_UNAWARE, false, false, true, false, false},
    {"custom", "ring:8", COLL_RING, ORR_BACKEND_AWARE, false, false, false, true, false},
    {"a stall", "ring:8", COLL_RING, ORR_BACKEND_UNAWARE, false, false, false, false, true},
    {"a deadlock", "ring:2 ring:2 ring:2", COLL_RING, ORR_BACKEND_UNAWARE, true, false, false, false, false},
};

static void open_case(struct bench *bench, const struct knobs *knobs, uint32_t *members)
{
    struct prng prng = {17};
    bench_open(bench, knobs->machine);
    bench_use_algorithm(bench, knobs->algo, 0);
    random_work(bench, &prng, 25, members);
    bench->config.policy = knobs->jitter ? ORR_POLICY_ASTRA : ORR_POLICY_SAFE;
    bench->config.queues_per_dim = 1;
    bench->config.backend = knobs->backend;
    bench->config.jitter = knobs->jitter ? 0.5 : 0.0;
    bench->config.rendezvous = knobs->rendezvous;
    bench->config.system.shared_bus = knobs->bus;
    bench->config.system.bus_L_ns = 3;
    bench->config.system.bus_G_ns_per_byte = 0.001;
    bench->config.keep_intervals = true;
    bench->config.keep_issue_order = true;
    uint32_t ranks = bench->config.dims.ranks;
    for (uint32_t rank = 0; knobs->custom && rank < ranks; rank++) {
        for (uint32_t k = 1; k < ranks; k++) {
            work_send(&bench->custom, rank, k, (rank + k) % ranks, 5000, (int32_t)k);
            work_recv(&bench->custom, rank, 100 + k, (rank + ranks - k) % ranks, 5000, (int32_t)k);
            if (k > 1) {
                work_after(&bench->custom, 100 + k - 1);
            }
        }
    }
    if (knobs->custom) {
        bench_use_custom(bench, ranks);
    }
    if (knobs->stalls) {
        work_recv(&bench->work, 1, 5000, 2, 1, 1);
        work_compute(&bench->work, 3, 5000, 1);
        work_after(&bench->work, 5000);
    }
}

/* Runs with every limit from `least` to `most`, and counts those that were refused. */
static uint32_t sweep(struct bench *bench, const char *what, uint64_t least, uint64_t most, enum orr_status unlimited)
{
    uint32_t refused = 0;
    uint64_t step = (most - least) / 200 + 1;
    for (uint64_t limit = least; limit <= most; limit += step) {
        bench->mem.limit = limit;
        enum orr_status status = bench_run(bench);
        CHECK(status == unlimited || status == ORR_ENOMEM, "%s, limit %" PRIu64 ": %s", what, limit, bench->err.text);
        CHECK(bench->mem.used <= limit, "the limit holds");
        if (status == ORR_ENOMEM) {
            CHECK_CONTAINS(bench->err.text, "limit");
            refused++;
        }
    }
    return refused;
}

static void a_run_with_too_little_memory_says_so_and_leaves_nothing(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct bench bench;
        uint32_t members[16];
        open_case(&bench, &cases[i], members);
        CHECK_OK(bench_create(&bench), &bench.err);
        uint64_t created = bench.mem.used;
        enum orr_status unlimited = bench_run(&bench);
        uint64_t peak = bench.mem.peak;
        CHECK(unlimited == ORR_OK || unlimited == ORR_ESTALL, "%s: %s", cases[i].what, bench.err.text);
        CHECK(unlimited == ORR_ESTALL || !cases[i].stalls, "%s stalls", cases[i].what);
        CHECK(sweep(&bench, cases[i].what, 1, created, unlimited) > 100, "%s: refused at the start", cases[i].what);
        CHECK(sweep(&bench, cases[i].what, created, peak, unlimited) > 10, "%s: refused on the way", cases[i].what);
        bench.mem.limit = peak;
        CHECK_STATUS(bench_run(&bench), unlimited);
        bench_close(&bench);
    }
}

/* ---- whoever watches ------------------------------------------------------------------------------------------ */

struct watch {
    uint32_t calls, stop_after;
    struct orr_progress last;
    bool backwards;
};

static bool look(void *context, const struct orr_progress *now)
{
    struct watch *watch = context;
    watch->backwards = watch->backwards || now->time_ns < watch->last.time_ns || now->events <= watch->last.events ||
                       now->messages < watch->last.messages || now->nodes_done < watch->last.nodes_done ||
                       now->done < watch->last.done || now->done > 1.0;
    watch->last = *now;
    watch->calls++;
    return watch->calls != watch->stop_after;
}

static void open_long_run(struct bench *bench)
{
    bench_open(bench, "ring:64");
    bench->config.no_symmetry = true;
    bench->config.no_memo = true;
    bench->config.system.preferred_dataset_splits = 4;
    work_compute(&bench->work, EVERY_RANK, 1, 1);
    for (uint64_t id = 2; id <= 4; id++) {
        work_collective(&bench->work, EVERY_RANK, id, COLL_ALL_REDUCE, 1 << 20);
        work_after(&bench->work, id - 1);
    }
}

static void progress_only_ever_goes_forward(void **state)
{
    (void)state;
    struct bench bench;
    struct watch watch = {0};
    open_long_run(&bench);
    CHECK_OK(bench_create(&bench), &bench.err);
    CHECK_OK(sim_run(bench.sim, look, &watch, &bench.err), &bench.err);
    CHECK(watch.calls >= 2, "a long run is watched %u times", watch.calls);
    CHECK(!watch.backwards, "nothing goes backwards");
    CHECK_U64(watch.last.ranks, 64, "ranks");
    CHECK_U64(watch.last.nodes, 4 * 64, "nodes");
    CHECK(watch.last.messages > 0 && watch.last.messages <= bench.result->messages, "messages are counted as they go");
    CHECK(watch.last.nodes_done >= 64, "the compute nodes are done");
    bench_close(&bench);
}

/* One chunk a rank, and no node that is over before the last byte has arrived. */
static void progress_is_seen_within_one_collective(void **state)
{
    (void)state;
    struct bench bench;
    struct watch watch = {.stop_after = 1};
    bench_open(&bench, "ring:64");
    bench.config.backend = ORR_BACKEND_AWARE;
    bench.config.no_symmetry = true;
    bench.config.no_memo = true;
    bench.config.system.preferred_dataset_splits = 1;
    work_collective(&bench.work, EVERY_RANK, 1, COLL_ALL_TO_ALL, 1 << 20);
    CHECK_OK(bench_create(&bench), &bench.err);
    CHECK_STATUS(sim_run(bench.sim, look, &watch, &bench.err), ORR_EINTR);
    CHECK_U64(watch.last.nodes_done, 0, "no node is over");
    CHECK(watch.last.done > 0.0 && watch.last.done < 1.0, "%g of the work is done", watch.last.done);
    bench_close(&bench);
}

/* The share that is told is the share of the work: in three dimensions an all-to-all sends its bytes nearly three
 * times.
 */
static bool look_for_standing(void *context, const struct orr_progress *now)
{
    uint32_t *counts = context;
    counts[0]++;
    counts[1] += now->done >= 0.98;
    return true;
}

static void progress_of_an_all_to_all_does_not_stand_at_its_end(void **state)
{
    (void)state;
    static const char *const machines[] = {"ring:64", "ring:4 ring:4 ring:4", "switch:16 switch:4"};
    for (size_t i = 0; i < COUNT_OF(machines); i++) {
        struct bench bench;
        uint32_t counts[2] = {0, 0};
        bench_open(&bench, machines[i]);
        bench.config.backend = ORR_BACKEND_AWARE;
        bench.config.no_symmetry = true;
        bench.config.system.preferred_dataset_splits = 1;
        work_collective(&bench.work, EVERY_RANK, 1, COLL_ALL_TO_ALL, 1 << 20);
        CHECK_OK(bench_create(&bench), &bench.err);
        CHECK_OK(sim_run(bench.sim, look_for_standing, counts, &bench.err), &bench.err);
        CHECK(counts[1] * 5 <= counts[0] + 5, "%s: %u of %u calls at the end", machines[i], counts[1], counts[0]);
        bench_close(&bench);
    }
}

static void a_run_that_is_stopped_keeps_what_it_knows(void **state)
{
    (void)state;
    struct bench bench;
    struct watch watch = {.stop_after = 1};
    open_long_run(&bench);
    uint64_t whole = bench_completes(&bench);
    CHECK_OK(bench_create(&bench), &bench.err);
    CHECK_STATUS(sim_run(bench.sim, look, &watch, &bench.err), ORR_EINTR);
    CHECK_U64(watch.calls, 1, "it is not asked again");
    const struct sim_result *result = bench.result;
    CHECK_U64(result->end_ns, watch.last.time_ns, "where it stopped");
    CHECK_U64(result->events, watch.last.events, "events up to there");
    CHECK_U64(result->messages, watch.last.messages, "messages up to there");
    CHECK(result->end_ns > 0 && result->end_ns < whole, "that is before the end");
    CHECK(result->ranks_finished < 64 && result->nodes_done >= 64, "something is done and something is not");
    CHECK_U64(result->stall.kind, SIM_STALL_NONE, "stopping is not stalling");
    for (uint32_t i = 0; i < 64; i++) {
        const struct sim_rank_result *rank = sim_result_rank(result, i);
        CHECK_U64(rank->compute_ns, 1000, "rank %u has computed", i);
        CHECK_U64(rank->compute_ns + rank->exposed_comm_ns + rank->exposed_other_ns + rank->idle_ns, result->end_ns,
                  "rank %u", i);
    }
    bench_close(&bench);
}

/* ---- time ----------------------------------------------------------------------------------------------------- */

static void expect_too_long(struct bench *bench, const char *what)
{
    CHECK_STATUS(bench_create(bench), ORR_EINVAL);
    CHECK_CONTAINS(bench->err.text, "node 7");
    CHECK_CONTAINS(bench->err.text, "rank ");
    CHECK_CONTAINS(bench->err.text, what);
    bench_close(bench);
}

/* Times are kept within what a clock can be advanced by: a node that needs more is refused, not cut short. */
static void a_node_that_would_take_years_is_refused_with_its_rank(void **state)
{
    (void)state;
    struct bench bench;
    bench_open(&bench, "ring:4");
    work_collective(&bench.work, EVERY_RANK, 7, COLL_ALL_REDUCE, UINT64_C(1) << 62);
    expect_too_long(&bench, "comm_size of 4611686018427387904 B");

    bench_open(&bench, "ring:4");
    work_send(&bench.work, 2, 7, 1, UINT64_C(1) << 62, 1);
    expect_too_long(&bench, "rank 2: with a comm_size of 4611686018427387904 B");

    bench_open(&bench, "ring:4");
    work_compute(&bench.work, 3, 7, 1000000);
    bench.config.tuning.compute_scale = 1e12;
    expect_too_long(&bench, "rank 3: with a duration of 1000000 us");

    bench_open(&bench, "ring:4");
    work_collective(&bench.work, EVERY_RANK, 7, COLL_ALL_REDUCE, 1 << 20);
    bench.config.system.shared_bus = true;
    bench.config.system.local_reduction_delay_ns = UINT64_C(1) << 60;
    expect_too_long(&bench, "comm_size of 1048576 B");
}

static void a_job_that_takes_centuries_names_the_node_it_is_in(void **state)
{
    (void)state;
    struct bench bench;
    bench_open(&bench, "ring:2");
    for (uint64_t id = 1; id <= 80; id++) {
        work_compute(&bench.work, 1, id, (UINT64_C(1) << 56) / 1000 - 1);
        if (id > 1) {
            work_after(&bench.work, id - 1);
        }
    }
    CHECK_STATUS(bench_run(&bench), ORR_EFAIL);
    CHECK_CONTAINS(bench.err.text, "simulated time has passed 2^62 ns while rank 1 is in node 65");
    bench_close(&bench);
}

TEST_MAIN(a_run_with_too_little_memory_says_so_and_leaves_nothing, progress_only_ever_goes_forward,
          progress_is_seen_within_one_collective, progress_of_an_all_to_all_does_not_stand_at_its_end,
          a_run_that_is_stopped_keeps_what_it_knows, a_node_that_would_take_years_is_refused_with_its_rank,
          a_job_that_takes_centuries_names_the_node_it_is_in)
