/* SPDX-License-Identifier: Apache-2.0 */
/* One rank for all gives every rank the numbers that it has by itself, whatever is run on whatever machine. */
#include "tests/prng.h"
#include "tests/sim/bench_top.h"

static const char *const machines[] = {
    "ring:8",
    "ring:5",
    "ring:2",
    "switch:6",
    "switch:8",
    "full:5",
    "full:2",
    "ring:4 ring:4",
    "ring:3 ring:4",
    "ring:4 ring:2",
    "switch:4 ring:4",
    "full:3 full:3",
    "ring:2 ring:2",
    "ring:3 switch:2",
    "full:4 switch:4",
    "ring:4 ring:3 ring:2",
    "ring:2 switch:3 full:2",
    "ring:2 ring:2 ring:2 ring:2",
};

/* Every rank the same: collectives of all sizes, of all ranks or of some dimensions, and what runs beside them. */
static void same_work(struct bench *bench, struct prng *prng)
{
    static const int32_t types[] = {COLL_ALL_REDUCE, COLL_ALL_GATHER, COLL_REDUCE_SCATTER, COLL_ALL_TO_ALL};
    static const uint32_t sizes[] = {1, 64, 3000, 100000, 4000000};
    uint32_t nodes = 1 + prng_below(prng, 12);
    uint64_t last = 0;
    for (uint64_t id = 1; id <= nodes; id++) {
        uint32_t what = prng_below(prng, 8);
        if (what < 4) {
            uint64_t bytes = 1 + prng_below(prng, sizes[prng_below(prng, COUNT_OF(sizes))]);
            struct work_node *node =
                work_collective(&bench->work, EVERY_RANK, id, types[prng_below(prng, COUNT_OF(types))], bytes);
            node->dims = prng_below(prng, 4) == 0 ? "1" : NULL;
            node->group = prng_below(prng, 4) == 0 && bench->config.group_count > 0 ? 3 : 0;
        } else if (what == 4) {
            work_compute(&bench->work, EVERY_RANK, id, prng_below(prng, 3))->cpu = true;
        } else if (what == 5) {
            work_add(&bench->work, EVERY_RANK, id, TRACE_MEM_LOAD)->bytes = 5000;
        } else {
            work_compute(&bench->work, EVERY_RANK, id, prng_below(prng, 30));
        }
        if (last != 0 && prng_below(prng, 3) != 0) {
            work_after(&bench->work, 1 + prng_below(prng, (uint32_t)last));
        }
        last = id;
    }
}

static void random_settings(struct bench *bench, struct prng *prng)
{
    static const enum coll_algo algorithms[] = {COLL_RING, COLL_DIRECT, COLL_HALVING_DOUBLING};
    struct sim_config *config = &bench->config;
    if (prng_below(prng, 2) == 0) {
        bench_use_algorithm(bench, algorithms[prng_below(prng, COUNT_OF(algorithms))], prng_below(prng, 3));
    }
    for (uint32_t native = 0; native < SIM_NATIVE_COUNT && prng_below(prng, 6) == 0; native++) {
        config->system.implementation[native].list[0].one = true;
        config->system.implementation[native].count = 1;
    }
    config->backend = prng_below(prng, 2) == 0 ? ORR_BACKEND_AWARE : ORR_BACKEND_UNAWARE;
    config->policy = prng_below(prng, 3) == 0 ? ORR_POLICY_ASTRA : ORR_POLICY_SAFE;
    config->memory = (struct sim_memory){.kind = SIM_MEMORY_PER_NPU, .latency_ns = 300, .bandwidth_gbps = 10};
    config->system.scheduling = prng_below(prng, 2) == 0 ? SIM_LIFO : SIM_FIFO;
    config->system.optimization = prng_below(prng, 3) == 0 ? SIM_BASELINE : SIM_LOCAL_BW_AWARE;
    config->system.preferred_dataset_splits = 1 + prng_below(prng, 6);
    config->system.active_chunks_per_dimension = 1 + prng_below(prng, 4);
    config->system.endpoint_delay_ns = prng_below(prng, 5) == 0 ? prng_below(prng, 3) : 10;
    config->system.local_mem_bw_gbps = prng_below(prng, 3) == 0 ? 0 : 50;
    config->queues_per_dim = 1 + prng_below(prng, 3);
    config->contention = prng_below(prng, 5) == 0 ? 0.5 : 0;
    config->keep_issue_order = prng_below(prng, 2) == 0;
    config->no_memo = true;
    static double link_factors[64];
    for (uint32_t rank = 0; rank < COUNT_OF(link_factors); rank++) {
        link_factors[rank] = 0.5;
    }
    config->dims.link_factors = prng_below(prng, 6) == 0 ? link_factors : NULL;
    for (uint32_t d = 0; d < config->dims.count; d++) {
        config->dims.dim[d].latency_ns = prng_below(prng, 3) == 0 ? prng_below(prng, 20) : 500;
    }
}

enum { TRIALS = 1500, MOST_RANKS = 64 };

static void open_random(struct bench *bench, uint64_t seed, uint32_t *members)
{
    struct prng prng = {seed};
    bench_open(bench, machines[prng_below(&prng, COUNT_OF(machines))]);
    random_settings(bench, &prng);
    if (prng_below(&prng, 2) == 0) {
        prng_shuffle(&prng, members, bench->config.dims.ranks);
        bench_add_group(bench, 3, bench->config.dims.ranks, members);
    }
    same_work(bench, &prng);
}

static void one_rank_for_all_ends_as_all_ranks_do(void **state)
{
    (void)state;
    uint32_t folded = 0;
    uint32_t members[MOST_RANKS];
    for (uint64_t seed = 1; seed <= TRIALS; seed++) {
        struct bench bench;
        open_random(&bench, seed, members);
        enum orr_status together = bench_run(&bench);
        uint64_t fingerprint = bench_fingerprint(&bench);
        uint64_t events = bench.result->events;
        bool alone = bench.result->ranks_played == 1;
        folded += alone;
        bench.config.no_symmetry = true;
        CHECK_U64(bench_run(&bench), together, "seed %" PRIu64, seed);
        CHECK_U64(bench.result->ranks_played, bench.config.dims.ranks, "every rank");
        CHECK_U64(bench_fingerprint(&bench), fingerprint, "seed %" PRIu64 ", folded: %d", seed, alone);
        CHECK_U64(bench.result->events, events, "events, seed %" PRIu64, seed);
        bench_close(&bench);
    }
    CHECK(folded > TRIALS / 2, "of %u jobs %u were folded", TRIALS, folded);
}

static void a_large_machine_costs_what_one_rank_does(void **state)
{
    (void)state;
    for (uint32_t backend = ORR_BACKEND_UNAWARE; backend <= ORR_BACKEND_AWARE; backend++) {
        struct bench bench;
        bench_open(&bench, "ring:64 ring:64 ring:24");
        bench.config.backend = (enum orr_backend)backend;
        bench.config.system.preferred_dataset_splits = 4;
        work_collective(&bench.work, EVERY_RANK, 1, COLL_ALL_REDUCE, UINT64_C(1) << 30);
        (void)bench_completes(&bench);
        CHECK_U64(bench.result->ranks_played, 1, "rank 0 for all");
        CHECK_U64(bench.result->messages, UINT64_C(98304) * 4 * (63 + 63 + 46 + 63 + 63), "messages of all ranks");
        CHECK_U64(bench.result->ranks_finished, 98304, "ranks");
        CHECK_U64(sim_result_rank(bench.result, 98303)->finish_ns, bench.result->end_ns, "the last rank's end");
        CHECK(bench.mem.peak < UINT64_C(98304) * 200, "%" PRIu64 " B for 98304 ranks", (uint64_t)bench.mem.peak);
        bench_close(&bench);
    }
}

/* What makes ranks differ; each by itself is enough. */
static void two_devices(struct bench *bench)
{
    static const struct sim_device kinds[] = {{.scale = 1}, {.scale = 2, .name = "x2"}};
    static const uint16_t of_rank[8] = {0, 0, 0, 1};
    bench->config.devices = (struct sim_devices){.text = "3=x2", .kinds = kinds, .kind_count = 2, .of_rank = of_rank};
}

static void another_trace(struct bench *bench)
{
    work_compute(&bench->work, 5, 9, 1);
}

static void a_message(struct bench *bench)
{
    work_send(&bench->work, 0, 9, 1, 100, 0);
    work_recv(&bench->work, 1, 9, 0, 100, 0);
}

static void a_tree(struct bench *bench)
{
    bench_use_algorithm(bench, COLL_DOUBLE_BINARY_TREE, 0);
}

static void one_memory(struct bench *bench)
{
    work_add(&bench->work, EVERY_RANK, 9, TRACE_MEM_LOAD)->bytes = 5000;
    bench->config.memory = (struct sim_memory){.kind = SIM_MEMORY_POOL, .latency_ns = 300, .bandwidth_gbps = 10};
}

static void a_barrier(struct bench *bench)
{
    work_collective(&bench->work, EVERY_RANK, 9, COLL_BARRIER, 1);
    bench->config.broadcast = ORR_BROADCAST_SIMULATE;
}

static void chance(struct bench *bench)
{
    bench->config.jitter = 0.1;
}

static void intervals(struct bench *bench)
{
    bench->config.keep_intervals = true;
}

static void ranks_that_may_differ_are_carried_out_one_by_one(void **state)
{
    (void)state;
    static const struct {
        void (*make)(struct bench *bench);
        const char *because;
    } cases[] = {
        {two_devices, "different devices"}, {another_trace, "different traces"},
        {a_message, "different traces"},    {a_tree, "different parts"},
        {one_memory, "one memory"},         {a_barrier, "a root"},
        {chance, "each delayed by chance"}, {intervals, "operations are to be kept"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct bench bench;
        bench_open(&bench, "ring:8");
        work_compute(&bench.work, EVERY_RANK, 1, 10);
        work_collective(&bench.work, EVERY_RANK, 2, COLL_ALL_REDUCE, 1 << 20);
        cases[i].make(&bench);
        (void)bench_completes(&bench);
        CHECK_U64(bench.result->ranks_played, 8, "case %zu", i);
        CHECK_CONTAINS(bench.result->plain_because, cases[i].because);
        bench_close(&bench);
    }
}

static void a_job_that_stalls_is_told_of_rank_by_rank(void **state)
{
    (void)state;
    struct bench bench;
    bench_open(&bench, "ring:4 ring:2");
    work_collective(&bench.work, EVERY_RANK, 1, COLL_ALL_REDUCE, 1 << 20);
    work_compute(&bench.work, EVERY_RANK, 2, 1);
    work_after(&bench.work, 3);
    work_compute(&bench.work, EVERY_RANK, 3, 1);
    work_after(&bench.work, 2);
    const struct sim_stall *stall = bench_stalls(&bench);
    CHECK_U64(bench.result->ranks_played, 8, "every rank");
    CHECK_CONTAINS(bench.result->plain_because, "stalls");
    CHECK(stall->finding_count > 0, "the cycle is found");
    bench_close(&bench);
}

TEST_MAIN(one_rank_for_all_ends_as_all_ranks_do, a_large_machine_costs_what_one_rank_does,
          ranks_that_may_differ_are_carried_out_one_by_one, a_job_that_stalls_is_told_of_rank_by_rank)
