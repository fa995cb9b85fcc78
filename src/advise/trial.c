/* SPDX-License-Identifier: Apache-2.0 */
/* A trial is a run like any other with a few options more. One that has taken longer than what it is held against is
 * given up: simulated time never goes back, so that nothing is lost but its exact length. */
#include "advise/advise.h"

#include <stdlib.h>
#include <string.h>

#include "base/thread_pool.h"

static bool trial_goes_on(void *context, const struct orr_progress *now)
{
    const uint64_t *bound_ns = context;
    return now->time_ns <= *bound_ns;
}

static enum orr_status trial_apply(const struct advise_change *change, struct orr_run_options *options,
                                   struct orr_override *overrides, struct orr_error *err)
{
    enum orr_status status = ORR_OK;
    if (options->override_count > 0) {
        memcpy(overrides, options->overrides, options->override_count * sizeof *overrides);
    }
    options->overrides = overrides;
    for (uint32_t i = 0; change != NULL && i < change->setting_count && status == ORR_OK; i++) {
        const struct advise_setting *setting = &change->settings[i];
        if (setting->key == NULL) {
            status = orr_run_set(options, setting->option, setting->value, err);
        } else {
            overrides[options->override_count++] = (struct orr_override){
                .key = setting->key, .value = setting->value, .origin = "parameter 'set'", .line = i + 1};
        }
    }
    return status;
}

enum orr_status advise_simulate(const struct advise_job *job, const struct advise_change *change,
                                enum orr_backend backend, uint64_t bound_ns, uint64_t *ns, struct orr_error *err)
{
    struct orr_run_options options = job->options;
    struct orr_run *run = NULL;
    struct orr_override *overrides = calloc(options.override_count + ADVISE_SETTINGS, sizeof *overrides);
    if (overrides == NULL) {
        return error_set(err, ORR_ENOMEM, "out of memory for a trial");
    }
    options.backend = backend;
    options.progress = trial_goes_on;
    options.progress_context = &bound_ns;
    enum orr_status status = trial_apply(change, &options, overrides, err);
    status = status == ORR_OK ? orr_run_open(&options, &run, err) : status;
    status = status == ORR_OK ? orr_run_execute(run, err) : status;
    if (status == ORR_OK) {
        *ns = orr_run_time_ns(run);
    }
    orr_run_close(run);
    free(overrides);
    return status;
}

/* ---- many ---- */

struct trial_made {
    enum orr_status status;
    uint64_t ns;
    struct orr_error err;
};

struct trial_work {
    struct advise_job *job;
    struct advise_changes *changes;
    uint32_t first;
    bool failed; /* memory ran out for a result */
};

static void *trial_make(void *context, uint64_t piece)
{
    struct trial_work *work = context;
    struct trial_made *made = calloc(1, sizeof *made);
    const struct advise_change *change = &work->changes->list[work->first + piece];
    if (made != NULL) {
        made->status = advise_simulate(work->job, change, change->backend, change->before_ns, &made->ns, &made->err);
    }
    return made;
}

static bool trial_take(void *context, uint64_t piece, void *result)
{
    struct trial_work *work = context;
    struct trial_made *made = result;
    struct advise_change *change = &work->changes->list[work->first + piece];
    if (made == NULL) {
        work->failed = true;
        return false;
    }
    if (made->status == ORR_OK && made->ns <= change->before_ns) {
        change->after_ns = made->ns;
    } else if (made->status == ORR_ESTALL) {
        change->because = "the job stalls with it";
    } else if (made->status != ORR_OK && made->status != ORR_EINTR) {
        change->because = advise_text(work->job->document, "%s", made->err.text);
    }
    free(made);
    return true;
}

/* The changes that can be tried come first; the others have their reason. */
static uint32_t trial_prepare(struct advise_job *job, struct advise_changes *changes, uint32_t first)
{
    uint64_t left = job->tries > job->simulations ? job->tries - job->simulations : 0;
    uint32_t count = 0;
    for (uint32_t i = first; i < changes->count; i++) {
        struct advise_change change = changes->list[i];
        change.backend = change.contends ? job->shared : job->options.backend;
        change.before_ns = change.contends ? job->shared_ns : job->before_ns;
        change.because = change.before_ns == 0 ? job->not_shared
                         : count == left       ? "not tried: no tries were left (parameter 'tries')"
                                               : NULL;
        if (change.because == NULL && first + count != i) {
            changes->list[i] = changes->list[first + count];
        }
        changes->list[change.because == NULL ? first + count : i] = change;
        count += change.because == NULL ? 1 : 0;
    }
    return count;
}

enum orr_status advise_try(struct advise_job *job, struct advise_changes *changes, uint32_t first,
                           struct orr_error *err)
{
    uint32_t count = trial_prepare(job, changes, first);
    job->simulations += count;
    struct trial_work context = {.job = job, .changes = changes, .first = first};
    const struct thread_pool_work work = {.count = count,
                                          .window = 2 * job->threads,
                                          .ordered = true,
                                          .tick_ms = 1000,
                                          .make = trial_make,
                                          .take = trial_take,
                                          .context = &context};
    enum orr_status status = count > 0 ? thread_pool_run(job->threads, &work, err) : ORR_OK;
    return status == ORR_OK && context.failed ? error_set(err, ORR_ENOMEM, "out of memory for trials") : status;
}
