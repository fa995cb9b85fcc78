/* SPDX-License-Identifier: Apache-2.0 */
/* Phases of rings that are worked out at once end when they do message by message, whenever each rank begins. */
#include "tests/prng.h"
#include "tests/sim/bench_top.h"

enum { MOST_RANKS = 128 };

static const char *const machines[] = {"ring:16",        "ring:17",          "ring:33",
                                       "switch:20",      "full:18",          "ring:16 ring:2",
                                       "ring:4 ring:16", "ring:16 switch:3", "ring:2 ring:16 ring:2"};

struct job {
    struct bench bench;
    uint32_t members[MOST_RANKS];
    double link_factors[MOST_RANKS];
};

/* Two groups that split the ranks, in some order. */
static void split(struct job *job, struct prng *prng)
{
    uint32_t ranks = job->bench.config.dims.ranks;
    uint32_t order[MOST_RANKS];
    bool shuffled = prng_below(prng, 2) == 0;
    prng_shuffle(prng, order, ranks);
    for (uint32_t i = 0; i < ranks && !shuffled; i++) {
        order[i] = i;
    }
    memcpy(job->members, order, ranks * sizeof *order);
    uint32_t first = 1 + prng_below(prng, ranks - 1);
    bench_add_group(&job->bench, 1, first, job->members);
    bench_add_group(&job->bench, 2, ranks - first, job->members + first);
}

/* On the aware network phases of different groups or chunks that meet on a link are not worked out at once; mostly they
 * do not meet. */
static void keep_apart(struct sim_config *config, struct prng *prng)
{
    if (config->backend == ORR_BACKEND_AWARE && prng_below(prng, 4) != 0) {
        config->system.active_chunks_per_dimension = 1;
        config->queues_per_dim = 1;
    }
}

/* In one order on all ranks; `last` is what each did last, `before` its last collective. */
static void put_collective(struct job *job, struct prng *prng, uint64_t id, uint64_t *last, uint64_t *before)
{
    static const int32_t types[] = {COLL_ALL_REDUCE, COLL_ALL_REDUCE, COLL_ALL_GATHER, COLL_REDUCE_SCATTER,
                                    COLL_ALL_TO_ALL};
    static const uint32_t sizes[] = {64, 3000, 100000, 4000000};
    int32_t type = types[prng_below(prng, COUNT_OF(types))];
    uint64_t bytes = 1 + prng_below(prng, sizes[prng_below(prng, COUNT_OF(sizes))]);
    bool whole = prng_below(prng, job->bench.config.backend == ORR_BACKEND_AWARE ? 8 : 2) != 1;
    for (uint32_t g = 0; g < 2; g++) {
        const struct sim_group *group = &job->bench.groups[g];
        for (uint32_t i = 0; i < group->count; i++) {
            uint32_t rank = group->ranks[i];
            work_collective(&job->bench.work, rank, id, type, bytes)->group = whole ? 0 : group->id;
            if (last[rank] != 0) {
                work_after(&job->bench.work, last[rank]);
            }
            if (before[rank] != 0 && before[rank] != last[rank]) {
                work_after(&job->bench.work, before[rank]);
            }
            last[rank] = id;
            before[rank] = id;
        }
    }
}

static void open_job(struct job *job, uint64_t seed, enum orr_backend backend)
{
    struct prng prng = {seed};
    struct bench *bench = &job->bench;
    bench_open(bench, machines[prng_below(&prng, COUNT_OF(machines))]);
    bench_use_algorithm(bench, COLL_RING, 0);
    struct sim_config *config = &bench->config;
    config->backend = backend;
    config->policy = prng_below(&prng, 3) == 0 ? ORR_POLICY_ASTRA : ORR_POLICY_SAFE;
    config->system.preferred_dataset_splits = 1 + prng_below(&prng, 4);
    config->system.active_chunks_per_dimension = 1 + prng_below(&prng, 3);
    config->system.local_mem_bw_gbps = prng_below(&prng, 3) == 0 ? 0 : 50;
    config->system.optimization = prng_below(&prng, 3) == 0 ? SIM_BASELINE : SIM_LOCAL_BW_AWARE;
    config->queues_per_dim = 1 + prng_below(&prng, 2);
    config->no_symmetry = true;
    keep_apart(config, &prng);
    for (uint32_t rank = 0; rank < config->dims.ranks; rank++) {
        job->link_factors[rank] = prng_below(&prng, 8) == 0 ? 0.5 : 1.0;
    }
    config->dims.link_factors = prng_below(&prng, 4) == 0 ? job->link_factors : NULL;
    split(job, &prng);
    uint64_t last[MOST_RANKS] = {0};
    uint64_t before[MOST_RANKS] = {0};
    uint32_t steps = 1 + prng_below(&prng, 5);
    uint32_t jitter = prng_below(&prng, 3);
    for (uint64_t id = 1; id <= 2 * steps; id += 2) {
        for (uint32_t rank = 0; rank < config->dims.ranks; rank++) {
            bool late = jitter == 2 || (jitter == 1 && (rank == 3 || rank == 7));
            work_compute(&bench->work, rank, id, 5 + (late ? prng_below(&prng, 30) : 0));
            if (last[rank] != 0 && prng_below(&prng, 4) != 0) {
                work_after(&bench->work, last[rank]);
            }
            last[rank] = prng_below(&prng, 5) != 0 ? id : last[rank];
        }
        put_collective(job, &prng, id + 1, last, before);
    }
}

/* How many of the jobs were worked out at once. */
static uint32_t compare_jobs(enum orr_backend backend, uint32_t trials)
{
    uint32_t at_once = 0;
    for (uint64_t seed = 1; seed <= trials; seed++) {
        static struct job job;
        open_job(&job, seed, backend);
        enum orr_status together = bench_run(&job.bench);
        uint64_t fingerprint = bench_fingerprint(&job.bench);
        at_once += job.bench.result->rings_at_once;
        bool was = job.bench.result->rings_at_once;
        job.bench.config.no_memo = true;
        CHECK_U64(bench_run(&job.bench), together, "seed %" PRIu64, seed);
        CHECK(!job.bench.result->rings_at_once, "message by message");
        CHECK_U64(bench_fingerprint(&job.bench), fingerprint, "seed %" PRIu64 ", at once: %d", seed, was);
        bench_close(&job.bench);
    }
    return at_once;
}

static void phases_at_once_end_when_they_do_message_by_message(void **state)
{
    (void)state;
    enum { TRIALS = 300 };
    uint32_t at_once = compare_jobs(ORR_BACKEND_UNAWARE, TRIALS);
    CHECK(at_once > TRIALS / 2, "of %u jobs %u", TRIALS, at_once);
}

static void on_links_that_messages_wait_for_they_do_too(void **state)
{
    (void)state;
    enum { TRIALS = 120 };
    uint32_t at_once = compare_jobs(ORR_BACKEND_AWARE, TRIALS);
    CHECK(at_once > TRIALS / 3, "of %u jobs %u", TRIALS, at_once);
}

static void phases_that_begin_alike_are_walked_once(void **state)
{
    (void)state;
    enum { STEPS = 40 };
    static const struct sim_device kinds[] = {{.scale = 1}, {.scale = 1.5, .name = "x1.5"}};
    static const uint16_t of_rank[8] = {0, 0, 0, 1};
    struct bench bench;
    bench_open(&bench, "ring:8");
    bench_use_algorithm(&bench, COLL_RING, 0);
    bench.config.backend = ORR_BACKEND_AWARE;
    bench.config.system.preferred_dataset_splits = 4;
    bench.config.devices = (struct sim_devices){.text = "3=x1.5", .kinds = kinds, .kind_count = 2, .of_rank = of_rank};
    for (uint64_t id = 1; id <= 2 * STEPS; id += 2) {
        work_compute(&bench.work, EVERY_RANK, id, 20);
        if (id > 1) {
            work_after(&bench.work, id - 1);
        }
        work_collective(&bench.work, EVERY_RANK, id + 1, COLL_ALL_REDUCE, 1 << 20);
        work_after(&bench.work, id);
    }
    (void)bench_completes(&bench);
    uint64_t fingerprint = bench_fingerprint(&bench);
    CHECK_U64(bench.result->ring_phases, 4 * STEPS, "chunks");
    CHECK(bench.result->ring_phases_alike >= 4 * (STEPS - 3), "%" PRIu64 " as one before them",
          bench.result->ring_phases_alike);
    bench.config.no_memo = true;
    (void)bench_completes(&bench);
    CHECK_U64(bench.result->ring_phases, 0, "message by message");
    CHECK_U64(bench_fingerprint(&bench), fingerprint, "what comes of it");
    bench_close(&bench);
}

TEST_MAIN(phases_at_once_end_when_they_do_message_by_message, on_links_that_messages_wait_for_they_do_too,
          phases_that_begin_alike_are_walked_once)
