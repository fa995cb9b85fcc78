/* SPDX-License-Identifier: Apache-2.0 */
/* Compute that varies by chance (sim/noise.c): none of it is the plain run, and a factor is the same however it is said
 * and whoever else runs. */
#include <math.h>

#include "tests/sim/bench_top.h"

enum { RANKS = 8, STEPS = 4 };

/* Compute and an all-reduce in turn, on every rank. */
static void open_steps(struct bench *bench)
{
    bench_open(bench, "ring:8");
    for (uint64_t id = 1; id <= 2 * STEPS; id += 2) {
        work_compute(&bench->work, EVERY_RANK, id, 50);
        if (id > 1) {
            work_after(&bench->work, id - 1);
        }
        work_collective(&bench->work, EVERY_RANK, id + 1, COLL_ALL_REDUCE, 100000);
        work_after(&bench->work, id);
    }
}

static void a_spread_of_nothing_is_the_plain_run(void **state)
{
    (void)state;
    struct bench bench;
    open_steps(&bench);
    uint64_t end = bench_completes(&bench);
    uint64_t plain = bench_fingerprint(&bench);
    for (int kind = ORR_NOISE_NONE; kind <= ORR_NOISE_EXPONENTIAL; kind++) {
        for (int per = ORR_NOISE_PER_NODE; per <= ORR_NOISE_PER_STEP; per++) {
            bench.config.noise = (struct orr_noise){(enum orr_noise_kind)kind, (enum orr_noise_per)per, 0};
            CHECK_U64(bench_completes(&bench), end, "kind %d per %d", kind, per);
            CHECK_U64(bench.result->ranks_played, 1, "one rank still stands for all");
            bench.config.noise.kind = ORR_NOISE_NONE;
            CHECK_U64(bench_completes(&bench), end, "and none");
            CHECK_U64(bench_fingerprint(&bench), plain, "kind %d per %d", kind, per);
        }
    }
    bench_close(&bench);
}

static void a_straggler_is_a_device_of_that_factor(void **state)
{
    (void)state;
    static const double slow[RANKS] = {1, 1, 1.3, 1, 1, 2, 1, 1};
    static const struct sim_device kinds[] = {
        {.scale = 1, .link_factor = 1},
        {.scale = 1.3, .link_factor = 1, .name = "x1.3"},
        {.scale = 2, .link_factor = 1, .name = "x2"},
    };
    static const uint16_t of_rank[RANKS] = {0, 0, 1, 0, 0, 2, 0, 0};
    for (int backend = ORR_BACKEND_UNAWARE; backend <= ORR_BACKEND_AWARE; backend++) {
        struct bench bench;
        open_steps(&bench);
        bench.config.backend = (enum orr_backend)backend;
        bench.config.straggling = slow;
        uint64_t end = bench_completes(&bench);
        uint64_t ends[RANKS];
        for (uint32_t rank = 0; rank < RANKS; rank++) {
            ends[rank] = sim_result_rank(bench.result, rank)->finish_ns;
        }
        bench.config.straggling = NULL;
        bench.config.devices =
            (struct sim_devices){.text = "2=x1.3,5=x2", .kinds = kinds, .kind_count = 3, .of_rank = of_rank};
        CHECK_U64(bench_completes(&bench), end, "backend %d", backend);
        for (uint32_t rank = 0; rank < RANKS; rank++) {
            CHECK_U64(sim_result_rank(bench.result, rank)->finish_ns, ends[rank], "rank %u", rank);
        }
        bench_close(&bench);
    }
}

static void factors_are_drawn_from_seed_rank_and_node_alone(void **state)
{
    (void)state;
    struct bench bench;
    open_steps(&bench);
    struct sim_config *config = &bench.config;
    config->noise = (struct orr_noise){ORR_NOISE_NORMAL, ORR_NOISE_PER_NODE, 0.1};
    double first = sim_noise_factor(config, 3, 4);
    CHECK(first != sim_noise_factor(config, 3, 5) && first != sim_noise_factor(config, 4, 4), "each its own");
    uint64_t end = bench_completes(&bench);
    CHECK(sim_noise_factor(config, 3, 4) == first, "a run changes nothing");
    CHECK_U64(bench_completes(&bench), end, "the same seed, the same run");
    config->seed = 1;
    CHECK(bench_completes(&bench) != end, "another seed, another run");
    config->noise.per = ORR_NOISE_PER_RANK;
    CHECK(sim_noise_factor(config, 3, 4) == sim_noise_factor(config, 3, 5), "a rank has one factor");
    config->noise.per = ORR_NOISE_PER_STEP;
    CHECK(sim_noise_factor(config, 3, 4) == sim_noise_factor(config, 6, 7), "and a step one for all");
    (void)bench_completes(&bench);
    CHECK_U64(bench.result->ranks_played, 1, "all ranks alike: one stands for all");
    uint64_t together = bench_fingerprint(&bench);
    config->no_symmetry = true;
    (void)bench_completes(&bench);
    CHECK_U64(bench_fingerprint(&bench), together, "and gives what each gives by itself");
    bench_close(&bench);
}

static void factors_have_mean_and_spread_as_asked(void **state)
{
    (void)state;
    enum { NODES = 20000 };
    static const struct {
        enum orr_noise_kind kind;
        double mean, deviation;
    } kinds[] = {{ORR_NOISE_NORMAL, 1, 0.2},
                 {ORR_NOISE_LOGNORMAL, 1, 0.2},
                 {ORR_NOISE_UNIFORM, 1, 0.2 / 1.7320508},
                 {ORR_NOISE_EXPONENTIAL, 1.2, 0.2}};
    for (size_t i = 0; i < COUNT_OF(kinds); i++) {
        struct sim_config config = {.noise = {kinds[i].kind, ORR_NOISE_PER_NODE, 0.2}, .seed = 11};
        double sum = 0;
        double squares = 0;
        for (uint32_t node = 0; node < NODES; node++) {
            double factor = sim_noise_factor(&config, 0, node);
            sum += factor;
            squares += factor * factor;
        }
        double mean = sum / NODES;
        double deviation = sqrt(squares / NODES - mean * mean);
        CHECK(fabs(mean - kinds[i].mean) < 0.006, "kind %zu: mean %g", i, mean);
        CHECK(fabs(deviation - kinds[i].deviation) < 0.006, "kind %zu: deviation %g", i, deviation);
    }
}

TEST_MAIN(a_spread_of_nothing_is_the_plain_run, a_straggler_is_a_device_of_that_factor,
          factors_are_drawn_from_seed_rank_and_node_alone, factors_have_mean_and_spread_as_asked)
