/* SPDX-License-Identifier: Apache-2.0 */
/* Failures and checkpoints: the model's shares against a job that is played, failure by failure, and its optimum
 * against every other interval. */
#include <math.h>

#include "base/draw.h"
#include "orrery.h"
#include "tests/check.h"
#include "tests/prng.h"

#define SECOND UINT64_C(1000000000)
#define HOUR   (3600 * SECOND)

/* A job as it happens. Times in seconds. */
struct played {
    double rate, interval, write, restart, repair;
    uint64_t spares;
    uint64_t key, draws;
    double now, next_failure;
    double backs[64]; /* when broken nodes are back */
    uint32_t broken;
    double progress, checkpoints, restarts, waits, lost;
};

static double gap(struct played *job, double mean)
{
    return mean * draw_exponential(draw_key(job->key, job->draws++));
}

static void mend(struct played *job)
{
    for (uint32_t i = 0; i < job->broken;) {
        if (job->backs[i] <= job->now) {
            job->backs[i] = job->backs[--job->broken];
        } else {
            i++;
        }
    }
}

/* A node breaks; waits while more are broken than there are spares, then restarts until that goes well. */
static void break_down(struct played *job)
{
    for (;;) {
        job->now = job->next_failure;
        mend(job);
        if (job->repair > 0) {
            CHECK(job->broken < COUNT_OF(job->backs), "few are broken at once");
            job->backs[job->broken++] = job->now + gap(job, job->repair);
        }
        while (job->repair > 0 && job->broken > job->spares) {
            double first = job->backs[0];
            for (uint32_t i = 1; i < job->broken; i++) {
                first = fmin(first, job->backs[i]);
            }
            job->waits += first - job->now;
            job->now = first;
            mend(job);
        }
        job->next_failure = job->now + gap(job, 1 / job->rate);
        double end = fmin(job->now + job->restart, job->next_failure);
        job->restarts += end - job->now;
        if (job->now + job->restart <= job->next_failure) {
            job->now += job->restart;
            return;
        }
    }
}

static void play(struct played *job, uint32_t segments)
{
    job->next_failure = gap(job, 1 / job->rate);
    for (uint32_t done = 0; done < segments;) {
        if (job->now + job->interval + job->write <= job->next_failure) {
            job->now += job->interval + job->write;
            job->progress += job->interval;
            job->checkpoints += job->write;
            done++;
        } else {
            job->lost += job->next_failure - job->now;
            break_down(job);
        }
    }
}

static const struct orr_goodput_options jobs[] = {
    {.gpus = 16384,
     .gpus_per_node = 8,
     .gpu_mtbf_ns = 50000 * HOUR,
     .checkpoint_ns = 30 * SECOND,
     .restart_ns = 300 * SECOND},
    {.gpus = 4096,
     .gpus_per_node = 8,
     .node_mtbf_ns = 800 * HOUR,
     .checkpoint_ns = 120 * SECOND,
     .restart_ns = 600 * SECOND,
     .spares = 2,
     .repair_ns = 6 * HOUR},
    {.gpus = 1024,
     .gpus_per_node = 4,
     .node_mtbf_ns = 500 * HOUR,
     .gpu_mtbf_ns = 5000 * HOUR,
     .checkpoint_ns = 200 * SECOND,
     .restart_ns = 900 * SECOND,
     .spares = 0,
     .repair_ns = HOUR},
    {.gpus = 8, .gpus_per_node = 8, .node_mtbf_ns = HOUR, .checkpoint_ns = 1200 * SECOND, .restart_ns = 1500 * SECOND},
};

static void a_job_that_is_played_has_the_shares_that_are_told(void **state)
{
    (void)state;
    enum { SEGMENTS = 60000 };
    for (size_t i = 0; i < COUNT_OF(jobs); i++) {
        struct orr_goodput told;
        struct orr_error err = {0};
        CHECK_OK(orr_goodput_find(&jobs[i], &told, &err), &err);
        struct played job = {.rate = 1e9 / (double)told.failure_ns,
                             .interval = (double)told.best.interval_ns / 1e9,
                             .write = (double)told.checkpoint_ns / 1e9,
                             .restart = (double)jobs[i].restart_ns / 1e9,
                             .repair = (double)jobs[i].repair_ns / 1e9,
                             .spares = jobs[i].spares,
                             .key = 5 + i};
        play(&job, SEGMENTS);
        CHECK(fabs(job.progress / job.now - told.best.goodput) < 0.01, "job %zu: goodput %g, told %g", i,
              job.progress / job.now, told.best.goodput);
        CHECK(fabs(job.checkpoints / job.now - told.best.checkpoints) < 0.005, "job %zu: checkpoints", i);
        CHECK(fabs(job.lost / job.now - told.best.lost_work) < 0.01, "job %zu: lost %g, told %g", i, job.lost / job.now,
              told.best.lost_work);
        CHECK(fabs(job.restarts / job.now - told.best.restarts) < 0.01, "job %zu: restarts", i);
        CHECK(fabs(job.waits / job.now - told.best.repairs) < 0.01, "job %zu: waits %g, told %g", i,
              job.waits / job.now, told.best.repairs);
    }
}

static double sum_of(const struct orr_goodput_shares *shares)
{
    return shares->goodput + shares->checkpoints + shares->lost_work + shares->restarts + shares->repairs;
}

static void no_other_interval_is_better(void **state)
{
    (void)state;
    struct prng prng = {3};
    for (int trial = 0; trial < 300; trial++) {
        struct orr_goodput_options options = {.gpus = 1 + prng_below(&prng, 100000),
                                              .gpus_per_node = 8,
                                              .gpu_mtbf_ns = (1 + prng_below(&prng, 100000)) * HOUR,
                                              .checkpoint_ns = 1 + prng_below(&prng, 600) * SECOND,
                                              .restart_ns = prng_below(&prng, 1200) * SECOND};
        struct orr_goodput best;
        struct orr_error err = {0};
        if (orr_goodput_find(&options, &best, &err) != ORR_OK) {
            continue; /* it fails too often to get anywhere */
        }
        CHECK(fabs(sum_of(&best.best) - 1) < 1e-9, "shares are of the whole: %g", sum_of(&best.best));
        double most = best.best.goodput + 1e-12; /* where they coincide, the last bit may be anyone's */
        CHECK(best.young.goodput <= most && best.daly.goodput <= most, "trial %d", trial);
        for (int k = -20; k <= 20; k++) {
            struct orr_goodput other;
            options.interval_ns = (uint64_t)((double)best.best.interval_ns * exp(k * 0.1)) + 1;
            if (orr_goodput_find(&options, &other, &err) == ORR_OK) {
                CHECK(other.given.goodput <= best.best.goodput + 1e-9, "trial %d: %" PRIu64 " is better than %" PRIu64,
                      trial, options.interval_ns, best.best.interval_ns);
                CHECK(fabs(sum_of(&other.given) - 1) < 1e-6, "shares are of the whole");
            }
        }
    }
}

static void where_failures_are_rare_the_best_is_youngs_and_dalys(void **state)
{
    (void)state;
    struct orr_goodput_options options = {
        .gpus = 8, .gpus_per_node = 8, .node_mtbf_ns = 100000 * HOUR, .checkpoint_ns = SECOND};
    struct orr_goodput found;
    struct orr_error err = {0};
    CHECK_OK(orr_goodput_find(&options, &found, &err), &err);
    CHECK(fabs((double)found.young.interval_ns / (double)found.best.interval_ns - 1) < 1e-3, "Young");
    CHECK(fabs((double)found.daly.interval_ns / (double)found.best.interval_ns - 1) < 1e-5, "Daly");
    CHECK(found.best.goodput > 0.999, "hardly anything is lost");
}

static void checkpoints_lie_between_whole_steps(void **state)
{
    (void)state;
    struct orr_goodput_options options = jobs[0];
    struct orr_goodput free_choice;
    struct orr_goodput found;
    struct orr_error err = {0};
    CHECK_OK(orr_goodput_find(&options, &free_choice, &err), &err);
    options.step_ns = 17 * SECOND;
    CHECK_OK(orr_goodput_find(&options, &found, &err), &err);
    CHECK_U64(found.best.interval_ns % options.step_ns, 0, "whole steps");
    CHECK(found.best.goodput <= free_choice.best.goodput, "a choice of fewer");
    options.step_ns = 100 * HOUR;
    CHECK_OK(orr_goodput_find(&options, &found, &err), &err);
    CHECK_U64(found.best.interval_ns, options.step_ns, "one step at least");
}

static void a_checkpoint_of_a_model_is_its_parameters_and_their_optimizer(void **state)
{
    (void)state;
    struct orr_goodput_options options = jobs[0];
    struct orr_goodput found;
    struct orr_train_model model;
    struct orr_train_parameters parameters;
    struct orr_error err = {0};
    options.checkpoint_ns = 0;
    options.model = "llama3-8b";
    options.bytes_per_parameter = 14;
    options.checkpoint_gbytes_per_s = 2;
    CHECK_OK(orr_goodput_find(&options, &found, &err), &err);
    CHECK_OK(orr_train_model_find("llama3-8b", &model, &err), &err);
    orr_train_model_count(&model, &parameters);
    CHECK_U64(found.checkpoint_bytes, 14 * parameters.total, "bytes");
    CHECK_U64(found.checkpoint_ns, 7 * parameters.total, "at 2 bytes a nanosecond");
}

static void what_says_too_little_or_too_much_is_refused(void **state)
{
    (void)state;
    struct orr_goodput_options wrong[8];
    static const char *const says[] = {
        "missing parameter 'gpus'",    "nothing fails",        "how long does a checkpoint take?",
        "parameter 'checkpoint-rate'", "both say how large",   "parameter 'spares' needs parameter 'repair'",
        "not a whole number of steps", "it makes no progress",
    };
    for (size_t i = 0; i < COUNT_OF(wrong); i++) {
        wrong[i] = jobs[0];
    }
    wrong[0].gpus = 0;
    wrong[1].gpu_mtbf_ns = 0;
    wrong[2].checkpoint_ns = 0;
    wrong[3].checkpoint_ns = 0;
    wrong[3].checkpoint_bytes = 1000;
    wrong[4].checkpoint_bytes = 1000;
    wrong[4].model = "llama3-8b";
    wrong[5].spares = 3;
    wrong[6].interval_ns = 100;
    wrong[6].step_ns = 7;
    wrong[7].restart_ns = 10000 * HOUR;
    for (size_t i = 0; i < COUNT_OF(wrong); i++) {
        struct orr_goodput found = {.failure_ns = 7};
        struct orr_error err = {0};
        CHECK(orr_goodput_find(&wrong[i], &found, &err) != ORR_OK, "case %zu is refused", i);
        CHECK_CONTAINS(err.text, says[i]);
        CHECK_U64(found.failure_ns, 7, "an output is written only on success");
    }
}

TEST_MAIN(a_job_that_is_played_has_the_shares_that_are_told, no_other_interval_is_better,
          where_failures_are_rare_the_best_is_youngs_and_dalys, checkpoints_lie_between_whole_steps,
          a_checkpoint_of_a_model_is_its_parameters_and_their_optimizer, what_says_too_little_or_too_much_is_refused)
