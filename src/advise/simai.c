/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Advice on a SimAI workload. Its collectives are NCCL's on wires, so that what can be changed is what `simai simulate`
 * has options for: the ways that NCCL may take, the schedule of the pipeline, the delay before a message, the machine's
 * rates. Findings about links, ranks and idle time are those of any run; what a run of traces does not know is told
 * besides: whose collectives show (tensor, data, expert or context parallel), and the bubble.
 */
#include <stdlib.h>
#include <string.h>

#include "advise/run.h"
#include "base/thread_pool.h"
#include "param/param.h"
#include "report/number.h"
#include "report/summary.h"
#include "run/session.h"
#include "sim/simai/result.h"

enum { SIMAI_LATENCY_NS = 6000 }; /* of a job that does not say it */

static const struct param_table simai_tables[] = {
    {param_simai_simulation, 0, 0}, {param_run, PARAM_OF_SIMAI, offsetof(struct orr_simai_simulation, run)}, {0}};

struct simai_advice {
    struct advise_job job; /* the document, tries and threads; its run is not used */
    struct orr_simai_simulation simulation;
    struct advise_changes changes;
};

/* ---- trials ---- */

static bool simai_goes_on(void *context, const struct orr_progress *now)
{
    const uint64_t *bound_ns = context;
    return now->time_ns <= *bound_ns;
}

static enum orr_status simai_apply(const struct advise_change *change, struct orr_simai_simulation *options,
                                   struct orr_error *err)
{
    enum orr_status status = ORR_OK;
    for (uint32_t i = 0; i < change->setting_count && status == ORR_OK; i++) {
        const struct advise_setting *setting = &change->settings[i];
        struct param_found found = param_find(simai_tables, setting->option, strlen(setting->option));
        status = param_read(found.row, NULL, setting->value, (char *)options + found.at, err);
    }
    return status;
}

struct simai_made {
    enum orr_status status;
    uint64_t ns;
    struct orr_error err;
};

static void *simai_make(void *context, uint64_t piece)
{
    const struct simai_advice *advice = context;
    struct orr_simai_simulation options = advice->simulation;
    struct simai_made *made = calloc(1, sizeof *made);
    uint64_t bound_ns = advice->job.before_ns;
    struct orr_run *run = NULL;
    if (made == NULL) {
        return NULL;
    }
    options.run.progress = simai_goes_on;
    options.run.progress_context = &bound_ns;
    made->status = simai_apply(&advice->changes.list[piece], &options, &made->err);
    made->status = made->status == ORR_OK ? orr_simai_open(&options, &run, &made->err) : made->status;
    made->status = made->status == ORR_OK ? orr_run_execute(run, &made->err) : made->status;
    made->ns = made->status == ORR_OK ? orr_run_time_ns(run) : 0;
    orr_run_close(run);
    return made;
}

static bool simai_take(void *context, uint64_t piece, void *result)
{
    struct simai_advice *advice = context;
    struct simai_made *made = result;
    struct advise_change *change = &advice->changes.list[piece];
    if (made == NULL) {
        advice->job.document->failed = true;
        return false;
    }
    change->backend = advice->simulation.run.backend;
    change->before_ns = advice->job.before_ns;
    if (made->status == ORR_OK && made->ns <= change->before_ns) {
        change->after_ns = made->ns;
    } else if (made->status == ORR_ESTALL) {
        change->because = "the job stalls with it";
    } else if (made->status != ORR_OK && made->status != ORR_EINTR) {
        change->because = advise_text(advice->job.document, "%s", made->err.text);
    }
    free(made);
    return true;
}

/* ---- changes ---- */

static void simai_change(struct simai_advice *advice, const char *family, const char *kind, const char *title,
                         const char *option, const char *value)
{
    advise_option(advise_change(advice->job.document, &advice->changes, family, kind, title), option, value);
}

static void simai_changes(struct simai_advice *advice, const struct simai_result *simai)
{
    struct advise_document *document = advice->job.document;
    const struct orr_simai_simulation *now = &advice->simulation;
    uint64_t latency = now->has_send_latency ? now->send_latency_ns : SIMAI_LATENCY_NS;
    if (!now->nvls) {
        simai_change(advice, "nvls", "setting", "All-reduce in the NVLink switches (NVLS)", "nvls", "1");
    }
    if (!now->nvls_tree && !now->compat) {
        simai_change(advice, "nvls tree", "setting", "NVLS in the servers and trees between them", "nvls-tree", "1");
    }
    if (!now->pxn) {
        simai_change(advice, "pxn", "setting", "Cross servers from the receiver's rail (PXN)", "pxn", "1");
    }
    if (now->schedule == ORR_SIMAI_1F1B && simai->program->stages > 1 && simai->program->vpp > 1 && !now->compat) {
        simai_change(advice, "schedule", "setting", "Interleave the pipeline's stages in as many chunks as vpp says",
                     "schedule", "interleaved");
    }
    if (latency > 1) {
        simai_change(advice, "delay", "machine", "Half the delay before a message starts", "send-latency",
                     advise_text(document, "%lluns", (unsigned long long)latency / 2));
    }
    const char *line = advise_twice(document, now->run.machine), *rate = advise_twice(document, now->run.bandwidth);
    if (line != NULL || rate != NULL) {
        simai_change(advice, ADVISE_ALL_RATES, "machine", "Twice the rates that the machine's description names",
                     line != NULL ? "machine" : "bandwidth", line != NULL ? line : rate);
    }
}

/* ---- findings ---- */

static void simai_find_groups(const struct advise_view *view, const struct simai_result *simai)
{
    static const struct {
        const char *id, *what;
    } groups[] = {[NCCL_GROUP_TP] = {"exposed-tp", "Tensor-parallel collectives that nothing hides"},
                  [NCCL_GROUP_DP] = {"exposed-dp", "Data-parallel collectives that nothing hides"},
                  [NCCL_GROUP_EP] = {"exposed-ep", "Expert-parallel collectives that nothing hides"},
                  [NCCL_GROUP_DP_EP] = {"exposed-dp", "Collectives of experts' data parallelism that nothing hides"},
                  [NCCL_GROUP_CP] = {"exposed-cp", "Context-parallel collectives that nothing hides"}};
    enum { KINDS = sizeof groups / sizeof groups[0] };
    struct advise_document *document = view->job->document;
    double exposed[KINDS] = {0}, in_all[KINDS] = {0}, step = (double)view->result->end_ns;
    uint64_t bytes[KINDS] = {0}, count[KINDS] = {0};
    for (uint32_t row = 0; row < simai->program->row_count; row++) {
        for (uint32_t phase = 0; phase < SIMAI_PHASES; phase++) {
            const struct simai_cell *cell = &simai->program->rows[row].cells[phase];
            const struct simai_phase_result *one = &simai->rows[row][phase];
            if (cell->type != SIMAI_NO_COMM && (uint32_t)cell->group < KINDS) {
                exposed[cell->group] += (double)one->exposed_ns;
                in_all[cell->group] += (double)one->comm_ns;
                count[cell->group] += one->collectives;
                bytes[cell->group] += one->collectives * cell->bytes;
            }
        }
    }
    for (uint32_t kind = 0; kind < KINDS; kind++) {
        if (groups[kind].id == NULL || exposed[kind] < ADVISE_LEAST * step) {
            continue;
        }
        advise_find(document, groups[kind].id, exposed[kind] / step, groups[kind].what);
        advise_evidence(document, "rank 0 waits %s of %s for them", report_time(exposed[kind]).text,
                        report_time(step).text);
        if (count[kind] > 0 && in_all[kind] > 0) {
            double mean_ns = in_all[kind] / (double)count[kind];
            advise_evidence(document, "%llu collective%s, %s and %s in the mean", (unsigned long long)count[kind],
                            count[kind] == 1 ? "" : "s", report_bytes((double)bytes[kind] / (double)count[kind]).text,
                            report_time(mean_ns).text);
        }
        advise_number(document, "exposed_ns", exposed[kind]);
    }
}

static void simai_find_bubble(const struct advise_view *view, const struct simai_result *simai)
{
    struct advise_document *document = view->job->document;
    double step = (double)view->result->end_ns, wait = (double)simai->stage_wait_ns;
    if (simai->program->stages < 2 || wait < ADVISE_LEAST * step) {
        return;
    }
    advise_find(document, "bubble", wait / step, "Ranks wait for other stages of the pipeline");
    advise_evidence(document, "rank 0 waits %s for other stages, of it %s while the message is on its way",
                    report_time(wait).text, report_time((double)simai->stage_transfer_ns).text);
    advise_evidence(document, "%u stages and %u micro-batches a step", simai->program->stages,
                    simai->program->batch_count);
    advise_number(document, "stages", simai->program->stages);
    advise_number(document, "micro_batches", simai->program->batch_count);
    advise_number(document, "wait_ns", wait);
}

static void simai_summarise(const struct advise_view *view)
{
    struct advise_document *document = view->job->document;
    const struct advise_shares *shares = &view->shares;
    document->shown.summary = advise_text(
        document, "a mean rank spends %s in compute, %s in exposed communication, %s idle%s",
        report_share(shares->compute, 1).text, report_share(shares->comm, 1).text, report_share(shares->idle, 1).text,
        shares->compute * (double)view->result->end_ns < 1e-3 * (double)view->result->end_ns
            ? "; the workload has no compute times, so that this is communication alone"
            : "");
}

/* ---- all of it ---- */

/* "orrery simai simulate" and the rows of both tables that are not as they begin. */
static enum orr_status simai_command(struct simai_advice *advice, struct orr_error *err)
{
    struct orr_simai_simulation initial;
    struct advise_document *document = advice->job.document;
    orr_simai_simulation_init(&initial);
    enum orr_status status = advise_command(document, "orrery simai simulate", param_simai_simulation, 0,
                                            &advice->simulation, &initial, err);
    const char *own = document->shown.command;
    initial.run.workload = advice->simulation.run.workload; /* rows of its own */
    initial.run.backend = advice->simulation.run.backend;
    status = status == ORR_OK
                 ? advise_command(document, own, param_run, PARAM_OF_SIMAI, &advice->simulation.run, &initial.run, err)
                 : status;
    return status;
}

static enum orr_status simai_try(struct simai_advice *advice, struct orr_error *err)
{
    struct advise_job *job = &advice->job;
    uint32_t most = job->tries > 1 ? job->tries - 1 : 0;
    uint32_t count = advice->changes.count < most ? advice->changes.count : most;
    for (uint32_t i = count; i < advice->changes.count; i++) {
        advice->changes.list[i].because = "not tried: no tries were left (parameter 'tries')";
    }
    const struct thread_pool_work work = {.count = count,
                                          .window = 2 * job->threads,
                                          .ordered = true,
                                          .tick_ms = 1000,
                                          .make = simai_make,
                                          .take = simai_take,
                                          .context = advice};
    job->document->shown.simulations = 1 + (uint64_t)count;
    return count > 0 ? thread_pool_run(job->threads, &work, err) : ORR_OK;
}

static enum orr_status simai_look(struct simai_advice *advice, const struct orr_run *run, struct orr_error *err)
{
    struct advise_document *document = advice->job.document;
    struct advise_view view = {.job = &advice->job, .run = run, .result = session_result(run)};
    const struct simai_result *simai = view.result->simai;
    advice->job.before_ns = document->shown.before_ns = orr_run_time_ns(run);
    document->shown.network = report_backend_name(advice->simulation.run.backend);
    if (!advise_view_fill(&view, &document->arena)) {
        return mem_error(&document->mem, "what ranks wait for", err);
    }
    simai_changes(advice, simai);
    enum orr_status status = simai_try(advice, err);
    if (status == ORR_OK) {
        simai_find_groups(&view, simai);
        simai_find_bubble(&view, simai);
        advise_run_findings(&view, &advice->changes);
        advise_conclude(document, &advice->changes);
        simai_summarise(&view);
    }
    return status;
}

enum orr_status orr_advise_simai(const struct orr_simai_simulation *simulation, const struct orr_advise_options *asked,
                                 const struct orr_notices *notices, struct orr_advice **advice, struct orr_error *err)
{
    struct simai_advice made = {.simulation = *simulation,
                                .job = {.document = advise_document_new(simulation->run.memory_limit, err),
                                        .tries = asked->tries,
                                        .threads = asked->threads != 0 ? asked->threads : thread_pool_processors()}};
    struct orr_run *run = NULL;
    if (made.job.document == NULL) {
        return ORR_ENOMEM;
    }
    enum orr_status status = simai_command(&made, err);
    status = status == ORR_OK ? orr_simai_open(simulation, &run, err) : status;
    status = status == ORR_OK ? orr_run_execute(run, err) : status;
    for (size_t i = 0; run != NULL && notices != NULL && notices->warn != NULL && i < orr_run_warning_count(run); i++) {
        notices->warn(notices->context, orr_run_warning(run, i));
    }
    status = status == ORR_OK ? simai_look(&made, run, err) : status;
    status = status == ORR_OK ? advise_finish(made.job.document, err) : status;
    orr_run_close(run);
    if (status != ORR_OK) {
        orr_advice_free(&made.job.document->shown);
        return status;
    }
    *advice = &made.job.document->shown;
    return ORR_OK;
}
