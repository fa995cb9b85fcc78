/* SPDX-License-Identifier: Apache-2.0 */
/* The same input gives the same answer: again, beside other simulations, and by either way messages are kept. */
#include <pthread.h>

#include "tests/sim/random_work.h"

static const char *const machines[] = {"ring:8", "switch:6", "full:5", "ring:4 ring:2", "ring:2 switch:3 full:2",
                                       "ring:2", "switch:7"};

struct setting {
    struct bench bench;
    uint32_t members[16];
};

static void open_setting(struct setting *setting, uint64_t seed)
{
    struct prng prng = {seed};
    struct bench *bench = &setting->bench;
    bench_open(bench, machines[seed % COUNT_OF(machines)]);
    if (prng_below(&prng, 3) == 0) {
        bench_use_algorithm(bench, COLL_DOUBLE_BINARY_TREE, 0);
    }
    random_work(bench, &prng, 30, setting->members);
    bench->config.backend = prng_below(&prng, 2) == 0 ? ORR_BACKEND_AWARE : ORR_BACKEND_UNAWARE;
    bench->config.rendezvous = prng_below(&prng, 4) == 0;
    bench->config.system.shared_bus = prng_below(&prng, 4) == 0;
    bench->config.system.bus_L_ns = 3;
    bench->config.system.bus_o_ns = 2;
    bench->config.system.bus_g_ns = 5;
    bench->config.system.bus_G_ns_per_byte = 0.001;
    bench->config.keep_issue_order = true;
    bench->config.seed = seed;
}

static void any_program_ends_and_ends_alike_again(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 80; seed++) {
        struct setting setting;
        open_setting(&setting, seed);
        setting.bench.config.jitter = seed % 3 == 0 ? 0.3 : 0.0;
        CHECK_OK(bench_run(&setting.bench), &setting.bench.err);
        uint64_t first = bench_fingerprint(&setting.bench);
        uint64_t events = setting.bench.result->events;
        CHECK_OK(bench_run(&setting.bench), &setting.bench.err);
        CHECK_U64(bench_fingerprint(&setting.bench), first, "seed %" PRIu64, seed);
        CHECK_U64(setting.bench.result->events, events, "events, seed %" PRIu64, seed);
        bench_close(&setting.bench);
    }
}

static void without_jitter_the_seed_does_not_matter(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        struct setting setting;
        open_setting(&setting, seed);
        (void)bench_completes(&setting.bench);
        uint64_t first = bench_fingerprint(&setting.bench);
        setting.bench.config.seed = 99;
        (void)bench_completes(&setting.bench);
        CHECK_U64(bench_fingerprint(&setting.bench), first, "seed %" PRIu64, seed);
        bench_close(&setting.bench);
    }
}

/* A jitter too small to change a delay makes the engine keep each message instead of counting them. */
static void messages_kept_and_messages_counted_give_the_same_times(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 80; seed++) {
        struct setting setting;
        open_setting(&setting, seed);
        setting.bench.config.rendezvous = false;
        (void)bench_completes(&setting.bench);
        uint64_t counted = bench_fingerprint(&setting.bench);
        setting.bench.config.jitter = 1e-300;
        (void)bench_completes(&setting.bench);
        CHECK_U64(bench_fingerprint(&setting.bench), counted, "seed %" PRIu64, seed);
        bench_close(&setting.bench);
    }
}

static void jitter_is_the_same_for_the_same_seed_and_another_for_another(void **state)
{
    (void)state;
    struct bench bench;
    uint64_t end[4];
    bench_open(&bench, "ring:8");
    work_collective(&bench.work, EVERY_RANK, 1, COLL_ALL_REDUCE, 1 << 20);
    uint64_t steady = bench_completes(&bench);
    bench.config.jitter = 0.5;
    for (uint32_t i = 0; i < 4; i++) {
        bench.config.seed = i / 2;
        end[i] = bench_completes(&bench);
        CHECK(end[i] > steady, "jitter only ever delays: %" PRIu64 " after %" PRIu64, end[i], steady);
        CHECK(end[i] < 2 * steady, "by no more than half of each delay");
    }
    CHECK_U64(end[0], end[1], "the same seed");
    CHECK_U64(end[2], end[3], "the same seed");
    CHECK(end[0] != end[2], "another seed");
    bench_close(&bench);
}

enum { MESSAGES = 200 };

/* Delays of messages from 0 to 1, one after the other, while 2 sends to 3 or does not. */
static void measure_delays(bool beside, enum orr_backend backend, uint64_t *delays)
{
    struct bench bench;
    bench_open(&bench, "full:4");
    bench.config.jitter = 0.5;
    bench.config.backend = backend;
    bench.config.keep_intervals = true;
    for (uint64_t id = 1; id <= MESSAGES; id++) {
        work_send(&bench.work, 0, id, 1, 32768, 0);
        if (id > 1) {
            work_after(&bench.work, id - 1);
        }
        if (beside) {
            work_send(&bench.work, 2, id, 3, 32768, 0);
        }
    }
    (void)bench_completes(&bench);
    uint32_t count = 0;
    for (uint32_t i = 0; i < bench.result->interval_count; i++) {
        const struct sim_interval *interval = &bench.result->intervals[i];
        if (interval->rank == 0) {
            delays[count++] = interval->end_ns - interval->start_ns;
        }
    }
    CHECK_U64(count, MESSAGES, "messages from 0");
    bench_close(&bench);
}

/* 1 + J*u, u from the pair and how many messages it has sent: nothing that other pairs do changes it. */
static void each_message_has_a_delay_of_its_own_that_others_do_not_change(void **state)
{
    (void)state;
    for (uint32_t backend = 0; backend < 2; backend++) {
        uint64_t alone[MESSAGES];
        uint64_t beside[MESSAGES];
        measure_delays(false, (enum orr_backend)backend, alone);
        measure_delays(true, (enum orr_backend)backend, beside);
        uint64_t sum = 0;
        uint32_t repeats = 0;
        for (uint32_t i = 0; i < MESSAGES; i++) {
            CHECK(alone[i] >= 1110 && alone[i] < 1110 * 3 / 2, "message %u takes %" PRIu64, i, alone[i]);
            CHECK_U64(beside[i], alone[i], "message %u beside others", i);
            sum += alone[i];
            repeats += i > 0 && alone[i] == alone[i - 1];
        }
        CHECK(repeats < MESSAGES / 20, "delays differ");
        uint64_t mean = sum / MESSAGES;
        CHECK(mean > 1110 * 119 / 100 && mean < 1110 * 131 / 100, "on average a quarter more: %" PRIu64, mean);
    }
}

enum { THREADS = 8, ROUNDS = 4 };

struct job {
    struct bench *bench;
    uint64_t fingerprints[ROUNDS];
    enum orr_status status[ROUNDS];
};

static void *work_through(void *context)
{
    struct job *job = context;
    for (uint32_t round = 0; round < ROUNDS; round++) {
        job->status[round] = bench_run(job->bench);
        job->fingerprints[round] = job->bench->result == NULL ? 0 : bench_fingerprint(job->bench);
    }
    return NULL;
}

/* Runs all jobs at once and compares each with what it gave alone. */
static void run_together(struct job *jobs)
{
    pthread_t threads[THREADS];
    uint64_t alone[THREADS];
    enum orr_status status[THREADS];
    for (uint32_t i = 0; i < THREADS; i++) {
        status[i] = bench_run(jobs[i].bench);
        CHECK(status[i] == ORR_OK || status[i] == ORR_ESTALL, "%s", jobs[i].bench->err.text);
        alone[i] = bench_fingerprint(jobs[i].bench);
    }
    for (uint32_t i = 0; i < THREADS; i++) {
        CHECK(pthread_create(&threads[i], NULL, work_through, &jobs[i]) == 0, "a thread starts");
    }
    for (uint32_t i = 0; i < THREADS; i++) {
        CHECK(pthread_join(threads[i], NULL) == 0, "a thread ends");
    }
    for (uint32_t i = 0; i < THREADS; i++) {
        for (uint32_t round = 0; round < ROUNDS; round++) {
            CHECK_STATUS(jobs[i].status[round], status[i]);
            CHECK_U64(jobs[i].fingerprints[round], alone[i], "simulation %u, round %u", i, round);
        }
    }
}

static void simulations_at_once_do_not_disturb_each_other(void **state)
{
    (void)state;
    struct setting settings[THREADS];
    struct job jobs[THREADS] = {0};
    for (uint32_t i = 0; i < THREADS; i++) {
        open_setting(&settings[i], 100 + i);
        settings[i].bench.config.jitter = i % 2 == 0 ? 0.25 : 0.0;
        jobs[i].bench = &settings[i].bench;
    }
    run_together(jobs);
    for (uint32_t i = 0; i < THREADS; i++) {
        bench_close(&settings[i].bench);
    }
}

/* As in a sweep: one set of traces, many machines; some of them deadlock. */
static void simulations_at_once_may_share_their_traces(void **state)
{
    (void)state;
    struct bench benches[THREADS];
    struct job jobs[THREADS] = {0};
    for (uint32_t i = 0; i < THREADS; i++) {
        bench_open(&benches[i], "ring:2 ring:2 ring:2");
        benches[i].config.jitter = 0.5;
        benches[i].config.seed = i;
        benches[i].config.system.preferred_dataset_splits = 4;
        benches[i].config.traces = &benches[0].work.set;
        jobs[i].bench = &benches[i];
    }
    work_collective(&benches[0].work, EVERY_RANK, 1, COLL_ALL_REDUCE, 1 << 20);
    work_collective(&benches[0].work, EVERY_RANK, 2, COLL_ALL_GATHER, 1 << 20);
    work_after(&benches[0].work, 1);
    run_together(jobs);
    for (uint32_t i = 0; i < THREADS; i++) {
        bench_close(&benches[i]);
    }
}

TEST_MAIN(any_program_ends_and_ends_alike_again, without_jitter_the_seed_does_not_matter,
          messages_kept_and_messages_counted_give_the_same_times,
          jitter_is_the_same_for_the_same_seed_and_another_for_another,
          each_message_has_a_delay_of_its_own_that_others_do_not_change, simulations_at_once_do_not_disturb_each_other,
          simulations_at_once_may_share_their_traces)
