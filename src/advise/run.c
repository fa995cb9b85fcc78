/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The job as it is, once for its time and once for its intervals; then every change; then the findings, which use both.
 *
 * The network that `orrery run` takes by itself lets messages pass through each other. A setting that only puts more of
 * them on a link at once looks like a gain there and is none, so that settings of collectives are tried on the network
 * whose links are shared.
 */
#include "advise/run.h"

#include <string.h>

#include "base/thread_pool.h"
#include "param/param.h"
#include "report/number.h"
#include "report/summary.h"
#include "run/session.h"
#include "run/workload_find.h"

enum { NODES_MOST = 4 << 20, MESSAGES_MOST = 5 << 20 };

/* ---- settings ---- */

/* Where settings are tried: on the job's own network, unless that lets messages pass through each other. */
static enum orr_status settle_shared(struct advise_job *job, const struct sim_result *result, struct orr_error *err)
{
    job->shared = job->options.backend;
    job->shared_ns = job->before_ns;
    if (job->shared != ORR_BACKEND_UNAWARE) {
        return ORR_OK;
    }
    job->shared = ORR_BACKEND_AWARE;
    job->shared_ns = 0;
    job->not_shared = "not tried: too many messages for a network whose links are shared";
    if (result->messages > MESSAGES_MOST) {
        return ORR_OK;
    }
    struct orr_error why = {0};
    job->simulations++;
    enum orr_status status = advise_simulate(job, NULL, job->shared, UINT64_MAX, &job->shared_ns, &why);
    if (status == ORR_ENOMEM) {
        *err = why;
        return status;
    }
    job->not_shared = "not tried: the job does not run on a network whose links are shared";
    return ORR_OK;
}

/* The settings that help one by one as one change; the order of dimensions has the lists of algorithms in it. */
static bool advise_joins(const struct advise_change *change)
{
    return change->contends && strcmp(change->family, "order of dimensions") != 0;
}

static bool join_best(struct advise_document *document, struct advise_changes *changes)
{
    struct advise_change joined = {.family = "together",
                                   .kind = "setting",
                                   .title = "The settings that help one by one, together",
                                   .contends = true};
    uint32_t members = 0;
    for (uint32_t i = 0; i < changes->count; i++) {
        const struct advise_change *one = &changes->list[i];
        if (advise_joins(one) && one == advise_best_of(changes, one->family) &&
            joined.setting_count + one->setting_count <= ADVISE_SETTINGS) {
            memcpy(&joined.settings[joined.setting_count], one->settings, one->setting_count * sizeof one->settings[0]);
            joined.setting_count += one->setting_count;
            members++;
        }
    }
    if (members > 1) {
        *advise_change(document, changes, joined.family, joined.kind, joined.title) = joined;
    }
    return members > 1;
}

/* Together they must be better than the best of them alone. */
static void judge_joined(const struct advise_changes *changes)
{
    struct advise_change *joined = &changes->list[changes->count - 1];
    for (uint32_t i = 0; i + 1 < changes->count; i++) {
        const struct advise_change *one = &changes->list[i];
        if (advise_joins(one) && advise_helps(one) && one->after_ns <= joined->after_ns && joined->because == NULL) {
            joined->because = "no better than one of them alone";
        }
    }
}

/* ---- all of it ---- */

static enum orr_status try_all(struct advise_view *view, struct advise_changes *changes, struct orr_error *err)
{
    struct advise_job *job = view->job;
    advise_run_changes(view, changes);
    bool contends = false;
    for (uint32_t i = 0; i < changes->count; i++) {
        contends = contends || changes->list[i].contends;
    }
    enum orr_status status = contends ? settle_shared(job, view->result, err) : ORR_OK;
    status = status == ORR_OK ? advise_try(job, changes, 0, err) : status;
    if (status == ORR_OK && join_best(job->document, changes)) {
        status = advise_try(job, changes, changes->count - 1, err);
        judge_joined(changes);
    }
    return status;
}

static void summarise(const struct advise_view *view)
{
    struct advise_document *document = view->job->document;
    const struct advise_shares *shares = &view->shares;
    document->shown.summary =
        advise_text(document,
                    "a mean rank spends %s in compute, %s in exposed communication%s, %s in the host and "
                    "memory, %s idle",
                    report_share(shares->compute, 1).text, report_share(shares->comm, 1).text,
                    !view->has_causes ? ""
                                      : advise_text(document, " (%s bytes that move, %s waiting for other ranks)",
                                                    report_share(shares->moving, 1).text,
                                                    report_share(shares->late + shares->receives, 1).text),
                    report_share(shares->other, 1).text, report_share(shares->idle, 1).text);
}

static enum orr_status look(struct advise_job *job, const struct orr_run *run, struct orr_error *err)
{
    struct advise_document *document = job->document;
    struct advise_view view = {.job = job, .run = run, .result = session_result(run)};
    struct advise_changes changes = {0};
    view.has_causes = session_config(run)->keep_intervals;
    bool known = !view.has_causes || advise_causes_of(view.result, &document->arena, &view.causes);
    if (!known || !advise_view_fill(&view, &document->arena)) {
        return mem_error(&document->mem, "what ranks wait for", err);
    }
    enum orr_status status = try_all(&view, &changes, err);
    if (status == ORR_OK) {
        document->shown.simulations = job->simulations;
        advise_run_findings(&view, &changes);
        advise_conclude(document, &changes);
        summarise(&view);
    }
    return status;
}

static enum orr_status advise_run_once(const struct orr_run_options *options, struct orr_run **run,
                                       struct orr_error *err)
{
    enum orr_status status = orr_run_open(options, run, err);
    return status == ORR_OK ? orr_run_execute(*run, err) : status;
}

/* As it is, on the network it chooses; then again with what each rank did when. */
static enum orr_status advise_job_run(struct advise_job *job, const struct orr_notices *notices, struct orr_error *err)
{
    struct orr_run *run = NULL;
    enum orr_status status = advise_run_once(&job->options, &run, err);
    for (size_t i = 0; run != NULL && notices != NULL && notices->warn != NULL && i < orr_run_warning_count(run); i++) {
        notices->warn(notices->context, orr_run_warning(run, i));
    }
    if (status == ORR_OK) {
        job->before_ns = job->document->shown.before_ns = orr_run_time_ns(run);
        job->options.backend = orr_run_backend(run);
        job->options.backend_open = false;
        job->document->shown.network = report_backend_name(job->options.backend);
        job->simulations = 1;
        struct orr_run_options initial;
        orr_run_options_init(&initial);
        initial.backend = (enum orr_backend)(-1);
        status = advise_command(job->document, "orrery run", param_run, PARAM_OF_RUN, &job->options, &initial, err);
    }
    bool again = status == ORR_OK && session_result(run)->nodes <= NODES_MOST;
    if (again) {
        orr_run_close(run);
        run = NULL;
        struct orr_run_options kept = job->options;
        kept.keep_intervals = true;
        job->simulations++;
        status = advise_run_once(&kept, &run, err);
    }
    status = status == ORR_OK ? look(job, run, err) : status;
    orr_run_close(run);
    return status;
}

enum orr_status orr_advise_run(const struct orr_run_options *options, const struct orr_advise_options *asked,
                               const struct orr_notices *notices, struct orr_advice **advice, struct orr_error *err)
{
    struct orr_workload *loaded = NULL;
    struct advise_job job = {.options = *options,
                             .tries = asked->tries,
                             .threads = asked->threads != 0 ? asked->threads : thread_pool_processors()};
    enum orr_status status = orr_run_settle(&job.options, err);
    if (status != ORR_OK) {
        return status;
    }
    job.document = advise_document_new(options->memory_limit, err);
    if (job.document == NULL) {
        return ORR_ENOMEM;
    }
    if (options->loaded == NULL) {
        status = orr_workload_open(options->workload, options->missing_is_cpu, options->memory_limit, &loaded, err);
        job.options.loaded = loaded;
    }
    if (status == ORR_OK && options->workload != NULL) {
        status = run_workload_steps(options->workload, &job.document->mem, &job.document->shown.steps, err);
    }
    status = status == ORR_OK ? advise_job_run(&job, notices, err) : status;
    status = status == ORR_OK ? advise_finish(job.document, err) : status;
    orr_workload_close(loaded);
    if (status != ORR_OK) {
        orr_advice_free(&job.document->shown);
        return status;
    }
    *advice = &job.document->shown;
    return ORR_OK;
}
