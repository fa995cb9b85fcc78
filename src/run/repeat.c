/* SPDX-License-Identifier: Apache-2.0 */
/* One run by many seeds. Traces are read once and shared; each seed is a run of its own, so that what it takes depends
 * on nothing but the seed, and the figures are made from the times in the order of the seeds. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/numbers.h"
#include "base/thread_pool.h"
#include "orrery.h"

struct repeat {
    struct orr_run_options options; /* of every run but for its seed */
    uint64_t count;
    uint64_t *times;
    uint64_t taken;
    struct orr_error failed; /* the first by seed */
};

struct repeat_made {
    uint64_t time_ns;
    struct orr_error err;
};

static enum orr_status repeat_once(const struct orr_run_options *options, uint64_t *time_ns, struct orr_error *err)
{
    struct orr_run *run = NULL;
    enum orr_status status = orr_run_open(options, &run, err);
    if (status == ORR_OK) {
        status = orr_run_execute(run, err);
        *time_ns = orr_run_time_ns(run);
        orr_run_close(run);
    }
    return status;
}

static void *repeat_make(void *context, uint64_t piece)
{
    const struct repeat *repeat = context;
    struct repeat_made *made = calloc(1, sizeof *made);
    if (made != NULL) {
        struct orr_run_options own = repeat->options;
        own.seed = repeat->options.seed + piece;
        own.progress = NULL; /* that is for all of them together */
        (void)repeat_once(&own, &made->time_ns, &made->err);
    }
    return made;
}

static bool repeat_take(void *context, uint64_t piece, void *taken)
{
    struct repeat *repeat = context;
    struct repeat_made *made = taken;
    if (made == NULL) {
        (void)error_set(&repeat->failed, ORR_ENOMEM, "out of memory repeating a run");
    } else if (made->err.status != ORR_OK && repeat->failed.status == ORR_OK) {
        (void)error_set(&repeat->failed, made->err.status, "seed %" PRIu64 ": %s", repeat->options.seed + piece,
                        made->err.text);
    } else if (made->err.status == ORR_OK) {
        repeat->times[piece] = made->time_ns;
        repeat->taken++;
    }
    free(made);
    return repeat->failed.status == ORR_OK;
}

static bool repeat_goes_on(void *context)
{
    struct repeat *repeat = context;
    const struct orr_run_options *options = &repeat->options;
    const struct orr_progress now = {
        .nodes_done = repeat->taken, .nodes = repeat->count, .done = (double)repeat->taken / (double)repeat->count};
    if (options->progress == NULL || options->progress(options->progress_context, &now)) {
        return true;
    }
    if (repeat->failed.status == ORR_OK) {
        (void)error_set(&repeat->failed, ORR_EINTR, "interrupted after %" PRIu64 " of %" PRIu64 " runs", repeat->taken,
                        repeat->count);
    }
    return false;
}

static enum orr_status repeat_seeds(struct repeat *repeat, uint32_t threads, struct orr_error *err)
{
    enum { TICK_MS = 200 };
    threads = threads == 0 ? thread_pool_processors() : threads;
    struct thread_pool_work work = {.count = repeat->count,
                                    .window = 2 * threads,
                                    .ordered = true,
                                    .tick_ms = TICK_MS,
                                    .make = repeat_make,
                                    .take = repeat_take,
                                    .tick = repeat_goes_on,
                                    .context = repeat};
    enum orr_status status = thread_pool_run(threads, &work, err);
    if (status == ORR_OK && repeat->failed.status != ORR_OK) {
        *err = repeat->failed;
        status = err->status;
    }
    return status;
}

static enum orr_status repeat_figures(const uint64_t *times, struct orr_repeat *result, struct orr_error *err)
{
    uint32_t count = (uint32_t)result->count;
    double *sorted = malloc(count * sizeof *sorted);
    if (sorted == NULL) {
        return error_set(err, ORR_ENOMEM, "out of memory repeating a run");
    }
    double sum = 0;
    for (uint32_t i = 0; i < count; i++) {
        sorted[i] = (double)times[i];
        sum += sorted[i];
        if (i == 0 || times[i] < result->best_ns) {
            result->best_ns = times[i];
            result->best_seed = result->first_seed + i;
        }
        if (i == 0 || times[i] > result->worst_ns) {
            result->worst_ns = times[i];
            result->worst_seed = result->first_seed + i;
        }
    }
    result->mean_ns = sum / count;
    double squares = 0;
    for (uint32_t i = 0; i < count; i++) {
        squares += (sorted[i] - result->mean_ns) * (sorted[i] - result->mean_ns);
    }
    result->deviation_ns = count > 1 ? sqrt(squares / (count - 1)) : 0;
    numbers_sort(sorted, count);
    result->p50_ns = numbers_quantile(sorted, count, 0.5);
    result->p90_ns = numbers_quantile(sorted, count, 0.9);
    result->p99_ns = numbers_quantile(sorted, count, 0.99);
    free(sorted);
    return ORR_OK;
}

static enum orr_status repeat_plain(const struct orr_run_options *options, uint64_t *time_ns, struct orr_error *err)
{
    struct orr_run_options own = *options;
    own.jitter = 0;
    own.noise = (struct orr_noise){0};
    own.stragglers = NULL;
    return repeat_once(&own, time_ns, err);
}

enum orr_status orr_run_repeat(const struct orr_run_options *options, uint64_t count, uint32_t threads,
                               struct orr_repeat **result, struct orr_error *err)
{
    enum { MOST = 10000000 };
    if (count == 0 || count > MOST) {
        return error_set(err, ORR_ERANGE, "parameter 'repeat': %" PRIu64 " runs; from 1 to %d can be made", count,
                         MOST);
    }
    if (options->seed > UINT64_MAX - count) {
        return error_set(err, ORR_ERANGE,
                         "parameter 'seed': there are no %" PRIu64 " seeds from %" PRIu64
                         " on; the largest is %" PRIu64,
                         count, options->seed, UINT64_MAX - 1);
    }
    struct orr_repeat *made = calloc(1, sizeof *made + count * sizeof *made->times_ns);
    struct repeat repeat = {.options = *options, .count = count};
    if (made == NULL) {
        return error_set(err, ORR_ENOMEM, "out of memory repeating a run");
    }
    repeat.times = (uint64_t *)(made + 1);
    *made = (struct orr_repeat){.count = count, .first_seed = options->seed, .times_ns = repeat.times};
    struct orr_workload *loaded = NULL;
    enum orr_status status = ORR_OK;
    if (options->loaded == NULL) {
        status = orr_workload_open(options->workload, options->missing_is_cpu, options->memory_limit, &loaded, err);
        repeat.options.loaded = loaded;
    }
    struct orr_run_options plain = repeat.options;
    plain.progress = NULL;
    status = status == ORR_OK ? repeat_plain(&plain, &made->plain_ns, err) : status;
    if (status == ORR_OK) {
        status = repeat_seeds(&repeat, threads, err);
    }
    orr_workload_close(loaded);
    if (status == ORR_OK) {
        status = repeat_figures(repeat.times, made, err);
    }
    if (status != ORR_OK) {
        orr_repeat_free(made);
        return status;
    }
    *result = made;
    return ORR_OK;
}

void orr_repeat_free(struct orr_repeat *result)
{
    free(result);
}
