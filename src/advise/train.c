/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Advice on a training step. Its work stays the same through all changes: GPUs, batch and sequence of the step as it
 * was asked for are settled first, and said in the command. Plans that do not fit into memory are never suggested; what
 * they would gain is told as a finding about memory.
 */
#include <stdlib.h>
#include <string.h>

#include "advise/advise.h"
#include "base/thread_pool.h"
#include "param/param.h"
#include "report/number.h"
#include "report/train.h"

struct train_advice {
    struct advise_document *document;
    struct orr_train_options job;
    struct orr_trainer *trainer;
    struct orr_train_result now;
    struct advise_changes changes;
    uint32_t threads;
    double spare_gain;    /* of changes that do not fit, the largest: share of the step */
    const char *spare;    /* what it was */
    double spare_missing; /* bytes that it lacks */
};

static uint64_t train_ns(const struct orr_train_result *result)
{
    return result->simulated.step_ns > 0 ? result->simulated.step_ns : result->step_ns;
}

/* ---- trials ---- */

static enum orr_status train_apply(const struct advise_change *change, struct orr_train_options *options,
                                   struct orr_error *err)
{
    static const struct param_table tables[] = {{param_train, 0, 0}, {0}};
    enum orr_status status = ORR_OK;
    for (uint32_t i = 0; i < change->setting_count && status == ORR_OK; i++) {
        const struct advise_setting *setting = &change->settings[i];
        struct param_found found = param_find(tables, setting->option, strlen(setting->option));
        status = param_read(found.row, NULL, setting->value, options, err);
    }
    return status;
}

struct train_made {
    enum orr_status status;
    struct orr_train_result result;
    struct orr_error err;
};

static void *train_make(void *context, uint64_t piece)
{
    const struct train_advice *advice = context;
    struct orr_train_options options = advice->job;
    struct train_made *made = calloc(1, sizeof *made);
    if (made != NULL) {
        made->status = train_apply(&advice->changes.list[piece], &options, &made->err);
        made->status = made->status == ORR_OK ? orr_trainer_step(advice->trainer, &options, &made->result, &made->err)
                                              : made->status;
    }
    return made;
}

/* A gain that memory forbids is remembered: it is what more memory would be worth. */
static void train_keep_spare(struct train_advice *advice, const struct advise_change *change,
                             const struct orr_train_result *result)
{
    double before = (double)train_ns(&advice->now);
    double gain = (before - (double)train_ns(result)) / before;
    if (gain > advice->spare_gain && advice->now.memory.fits) {
        advice->spare_gain = gain;
        advice->spare = change->title;
        advice->spare_missing = (double)result->memory.total - (double)result->memory.device;
    }
}

static bool train_take(void *context, uint64_t piece, void *result)
{
    struct train_advice *advice = context;
    struct train_made *made = result;
    struct advise_change *change = &advice->changes.list[piece];
    if (made == NULL) {
        advice->document->failed = true;
        return false;
    }
    if (made->status != ORR_OK) {
        change->because = advise_text(advice->document, "%s", made->err.text);
    } else if (!made->result.memory.fits) {
        train_keep_spare(advice, change, &made->result);
        change->because =
            advise_text(advice->document, "does not fit: %.1f GB of %.1f GB a GPU",
                        (double)made->result.memory.total * 1e-9, (double)made->result.memory.device * 1e-9);
    } else {
        change->after_ns = train_ns(&made->result);
    }
    change->backend = advice->now.simulated.backend;
    change->before_ns = advice->document->shown.before_ns;
    free(made);
    return true;
}

/* ---- changes ---- */

static struct advise_change *train_change(struct train_advice *advice, const char *family, const char *kind,
                                          const char *title, const char *option, const char *value)
{
    struct advise_change *change = advise_change(advice->document, &advice->changes, family, kind, title);
    if (option != NULL) {
        advise_option(change, option, value);
    }
    return change;
}

static void train_change_overlap(struct train_advice *advice)
{
    const struct orr_train_plan *plan = &advice->now.plan;
    const struct {
        const char *word, *what;
        uint32_t bit;
        bool used;
    } kinds[] = {{"dp", "data-parallel", ORR_TRAIN_OVERLAP_DP, plan->dp > 1},
                 {"tp", "tensor-parallel", ORR_TRAIN_OVERLAP_TP, plan->tp > 1},
                 {"pp", "pipeline", ORR_TRAIN_OVERLAP_PP, plan->pp > 1},
                 {"ep", "expert-parallel", ORR_TRAIN_OVERLAP_EP, plan->ep > 1}};
    const char *all = "";
    uint32_t missing = 0;
    for (size_t i = 0; i < 4; i++) {
        bool had = (plan->overlap & kinds[i].bit) != 0;
        if (had || kinds[i].used) {
            all = advise_text(advice->document, "%s%s%s", all, all[0] == '\0' ? "" : ",", kinds[i].word);
        }
        missing += !had && kinds[i].used ? 1 : 0;
    }
    for (size_t i = 0; i < 4; i++) {
        const char *list = "";
        for (size_t k = 0; k < 4; k++) {
            if (k == i || (plan->overlap & kinds[k].bit) != 0) {
                list = advise_text(advice->document, "%s%s%s", list, list[0] == '\0' ? "" : ",", kinds[k].word);
            }
        }
        if ((plan->overlap & kinds[i].bit) == 0 && kinds[i].used) {
            (void)train_change(advice, advise_text(advice->document, "overlap %s", kinds[i].word), "setting",
                               advise_text(advice->document, "Overlap %s communication with compute", kinds[i].what),
                               "overlap", list);
        }
    }
    if (missing > 1) {
        (void)train_change(advice, "overlap", "setting", "Overlap all communication with compute", "overlap", all);
    }
}

static void train_change_memory(struct train_advice *advice)
{
    const struct orr_train_plan *plan = &advice->now.plan;
    if (plan->recompute != ORR_TRAIN_RECOMPUTE_NONE) {
        (void)train_change(advice, "recompute", "setting", "Recompute nothing in the backward pass", "recompute",
                           "none");
    }
    if (plan->recompute == ORR_TRAIN_RECOMPUTE_FULL) {
        (void)train_change(advice, "recompute", "setting", "Recompute attention alone", "recompute", "selective");
    }
    for (uint32_t times = 2; times <= 4; times *= 2) {
        (void)train_change(advice, "micro-batch", "setting",
                           advise_text(advice->document, "Micro-batches of %u samples", plan->micro_batch * times),
                           "micro-batch", advise_text(advice->document, "%u", plan->micro_batch * times));
    }
    if (plan->micro_batch > 1) {
        (void)train_change(advice, "micro-batch", "setting",
                           advise_text(advice->document, "Micro-batches of %u samples", plan->micro_batch / 2),
                           "micro-batch", advise_text(advice->document, "%u", plan->micro_batch / 2));
    }
    if (plan->dp > 1 && plan->zero == 0 && plan->sharding == ORR_TRAIN_SHARDING_NONE) {
        (void)train_change(advice, "zero", "setting", "Divide the optimizer's states over data-parallel ranks", "zero",
                           "1");
    }
}

static void train_change_pipeline(struct train_advice *advice)
{
    const struct orr_train_plan *plan = &advice->now.plan;
    if (plan->tp > 1 && !plan->sp) {
        (void)train_change(advice, "sp", "setting", "Sequence parallelism", "sp", NULL);
    }
    if (plan->pp > 1) {
        for (uint32_t chunks = 2; chunks <= 8; chunks *= 2) {
            if (chunks != plan->vpp) {
                (void)train_change(
                    advice, "vpp", "setting",
                    advise_text(advice->document, "%u interleaved chunks on each pipeline stage", chunks), "vpp",
                    advise_text(advice->document, "%u", chunks));
            }
        }
        if (plan->schedule == ORR_TRAIN_SCHEDULE_ONE_F_ONE_B) {
            (void)train_change(advice, "schedule", "setting", "A zero-bubble pipeline schedule", "schedule",
                               "zero-bubble");
        }
    }
    const char *line = advise_twice(advice->document, advice->job.machine);
    if (line != NULL) {
        (void)train_change(advice, "rates", "machine", "Twice the rates that the machine's description names",
                           "machine", line);
    }
}

/* Buckets show where messages are sent: the predicted step hides what it can of their sum. */
static void train_change_buckets(struct train_advice *advice)
{
    const struct orr_train_plan *plan = &advice->now.plan;
    uint64_t ranks = UINT64_C(1000000) * plan->dp * plan->cp, usual = ranks > 40000000 ? ranks : 40000000;
    uint64_t now = plan->bucket > 0 ? plan->bucket : usual;
    if (!advice->job.simulates || plan->dp < 2 || (plan->overlap & ORR_TRAIN_OVERLAP_DP) == 0 || plan->zero == 3 ||
        plan->sharding != ORR_TRAIN_SHARDING_NONE) {
        return;
    }
    for (uint64_t size = now / 4; size <= now * 4 && size > 0 && size <= INT32_MAX; size *= 2) {
        if (size != now) {
            (void)train_change(advice, "buckets", "setting",
                               advise_text(advice->document, "Buckets of %llu weights in the sum of gradients",
                                           (unsigned long long)size),
                               "bucket-size", advise_text(advice->document, "%llu", (unsigned long long)size));
        }
    }
}

/* The planner's best of the same job, with all of its degrees said. */
static enum orr_status train_change_plan(struct train_advice *advice, struct orr_error *err)
{
    static const char *const recomputes[] = {
#define WORD_X(symbol, word) word,
        ORR_TRAIN_RECOMPUTES(WORD_X)
#undef WORD_X
    };
    struct orr_plan_options options;
    struct orr_plan_result *found = NULL;
    struct advise_document *document = advice->document;
    orr_plan_options_init(&options);
    options.job = advice->job;
    options.job.simulates = false;
    options.top = 1;
    options.threads = advice->threads;
    enum orr_status status = orr_plan_search(&options, &found, err);
    if (status == ORR_ENOMEM) {
        return status;
    }
    if (status == ORR_OK && found->count > 0) {
        const struct orr_train_plan *plan = &found->rows[0].result.plan;
        const struct {
            const char *option;
            uint32_t value;
        } degrees[] = {{"tp", plan->tp},  {"pp", plan->pp},   {"cp", plan->cp},     {"ep", plan->ep},
                       {"dp", plan->dp},  {"vpp", plan->vpp}, {"zero", plan->zero}, {"micro-batch", plan->micro_batch},
                       {"etp", plan->etp}};
        struct advise_change *change =
            train_change(advice, "plan", "job",
                         advise_text(document, "Divide the job otherwise (the best of %llu plans)",
                                     (unsigned long long)found->plans),
                         NULL, NULL);
        for (size_t i = 0; i < sizeof degrees / sizeof degrees[0]; i++) {
            advise_option(change, degrees[i].option, advise_text(document, "%u", degrees[i].value));
        }
        advise_option(change, "recompute", recomputes[plan->recompute]);
        if (plan->sp != advice->now.plan.sp) {
            advise_option(change, "sp", plan->sp ? NULL : "false");
        }
    }
    free(found);
    return ORR_OK;
}

/* ---- findings ---- */

static void train_find_parts(const struct train_advice *advice)
{
    static const char *const ids[] = {NULL,         NULL,         "exposed-tp", "exposed-cp",   "exposed-ep",
                                      "exposed-pp", "exposed-dp", "bubble",     "launch-bound", "optimizer"};
    const struct orr_train_result *now = &advice->now;
    const struct orr_train_plan *plan = &now->plan;
    struct advise_document *document = advice->document;
    const struct {
        const char *key, *name;
        uint64_t ns, simulated_ns;
    } parts[] = {
#define PART_X(key, name, field) {key, name, now->field, now->simulated.field},
        REPORT_TRAIN_PARTS(PART_X)
#undef PART_X
    };
    double step = (double)train_ns(now);
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        double ns = (double)(now->simulated.step_ns > 0 ? parts[i].simulated_ns : parts[i].ns);
        if (ids[i] == NULL || ns < ADVISE_LEAST * step) {
            continue;
        }
        advise_find(document, ids[i], ns / step,
                    advise_text(document, "%c%s%s", parts[i].name[0] - 'a' + 'A', parts[i].name + 1,
                                strncmp(ids[i], "exposed", 7) == 0 ? " that nothing hides" : ""));
        advise_evidence(document, "%s: %s of %s", parts[i].name, report_time(ns).text, report_time(step).text);
        if (strcmp(ids[i], "bubble") == 0) {
            uint64_t micro = (uint64_t)plan->micro_batch * plan->dp;
            uint64_t batches = micro > 0 ? plan->global_batch / micro : 0;
            advise_evidence(document, "%u stages and %llu micro-batches a step: a stage waits for %u of them", plan->pp,
                            (unsigned long long)batches, plan->pp - 1);
            advise_number(document, "micro_batches", (double)batches);
            advise_number(document, "stages", plan->pp);
        } else if (strncmp(ids[i], "exposed", 7) == 0) {
            advise_evidence(document, "tp %u, cp %u, ep %u, dp %u, pp %u on %u x %s", plan->tp, plan->cp, plan->ep,
                            plan->dp, plan->pp, plan->gpus, now->device);
        }
        advise_number(document, parts[i].key, ns);
    }
}

static void train_find_memory(const struct train_advice *advice)
{
    struct advise_document *document = advice->document;
    const struct orr_train_memory *memory = &advice->now.memory;
    if (!memory->fits) {
        advise_find(document, "memory-full", 0, "The step does not fit into the GPUs' memory");
        advise_evidence(
            document, "%.1f GB of %.1f GB a GPU: weights %.1f, gradients %.1f, optimizer %.1f, activations %.1f GB",
            (double)memory->total * 1e-9, (double)memory->device * 1e-9, (double)memory->weights * 1e-9,
            (double)memory->gradients * 1e-9, (double)memory->optimizer * 1e-9, (double)memory->activations * 1e-9);
        for (uint32_t i = 0; i < advice->changes.count; i++) {
            const struct advise_change *one = &advice->changes.list[i];
            if (one->after_ns > 0 && strcmp(one->family, "plan") == 0) {
                advise_evidence(document, "the best plan that fits takes %s: %s",
                                report_time((double)one->after_ns).text, advise_change_text(document, one));
            }
        }
        advise_number(document, "memory_bytes", (double)memory->total);
        advise_number(document, "device_bytes", (double)memory->device);
    } else if (advice->spare_gain > 0.01) {
        advise_find(document, "more-memory", advice->spare_gain, "More memory would make the step shorter");
        advise_evidence(document, "\"%s\" would take %s off the step and needs %.1f GB more a GPU", advice->spare,
                        report_share(advice->spare_gain, 1).text, advice->spare_missing * 1e-9);
        advise_number(document, "missing_bytes", advice->spare_missing);
        advise_number(document, "gain", advice->spare_gain);
    }
}

static void train_summarise(const struct train_advice *advice)
{
    const struct orr_train_result *now = &advice->now;
    struct advise_document *document = advice->document;
    bool simulated = now->simulated.step_ns > 0;
    double step = (double)train_ns(now);
    double kernels = simulated ? (double)(now->simulated.forward_ns + now->simulated.backward_ns)
                               : (double)(now->forward_ns + now->backward_ns);
    double comm = (double)(simulated ? now->simulated.exposed_comm_ns : now->exposed_comm_ns);
    double bubble = (double)(simulated ? now->simulated.bubble_ns : now->bubble_ns);
    double host = (double)(simulated ? now->simulated.launch_ns : now->launch_ns);
    document->shown.summary = advise_text(
        document, "kernels %s, communication that shows %s, bubble %s, host %s; MFU %.1f %%, %.1f of %.1f GB",
        report_share(kernels, step).text, report_share(comm, step).text, report_share(bubble, step).text,
        report_share(host, step).text, 100 * now->mfu, (double)now->memory.total * 1e-9,
        (double)now->memory.device * 1e-9);
}

/* ---- all of it ---- */

static enum orr_status train_command(struct train_advice *advice, struct orr_error *err)
{
    struct orr_train_options initial;
    orr_train_options_init(&initial);
    initial.backend = advice->job.simulates ? (enum orr_backend)(-1) : initial.backend;
    return advise_command(advice->document, "orrery train", param_train, 0, &advice->job, &initial, err);
}

static enum orr_status train_begin(struct train_advice *advice, struct orr_error *err)
{
    struct orr_train_plan *plan = &advice->job.plan;
    enum orr_status status = orr_trainer_open(&advice->trainer, err);
    status = status == ORR_OK ? orr_trainer_step(advice->trainer, &advice->job, &advice->now, err) : status;
    plan->gpus = advice->now.plan.gpus;
    plan->global_batch = advice->now.plan.global_batch;
    return status;
}

static enum orr_status train_look(struct train_advice *advice, struct orr_error *err)
{
    struct advise_document *document = advice->document;
    enum orr_status status = train_begin(advice, err);
    status = status == ORR_OK ? train_command(advice, err) : status;
    if (status != ORR_OK) {
        return status;
    }
    document->shown.before_ns = train_ns(&advice->now);
    document->shown.network = advice->job.simulates ? param_backends[advice->now.simulated.backend] : "";
    train_change_overlap(advice);
    train_change_memory(advice);
    train_change_pipeline(advice);
    train_change_buckets(advice);
    status = train_change_plan(advice, err);
    if (status != ORR_OK) {
        return status;
    }
    const struct thread_pool_work work = {.count = advice->changes.count,
                                          .window = 2 * advice->threads,
                                          .ordered = true,
                                          .tick_ms = 1000,
                                          .make = train_make,
                                          .take = train_take,
                                          .context = advice};
    status = thread_pool_run(advice->threads, &work, err);
    if (status == ORR_OK) {
        document->shown.simulations = 1 + (uint64_t)advice->changes.count;
        train_find_parts(advice);
        train_find_memory(advice);
        train_summarise(advice);
        advise_conclude(document, &advice->changes);
    }
    return status;
}

enum orr_status orr_advise_train(const struct orr_train_options *job, const struct orr_advise_options *options,
                                 struct orr_advice **advice, struct orr_error *err)
{
    struct train_advice made = {.document = advise_document_new(job->memory_limit, err),
                                .job = *job,
                                .threads = options->threads != 0 ? options->threads : thread_pool_processors()};
    if (made.document == NULL) {
        return ORR_ENOMEM;
    }
    enum orr_status status = train_look(&made, err);
    status = status == ORR_OK ? advise_finish(made.document, err) : status;
    orr_trainer_close(made.trainer);
    if (status != ORR_OK) {
        orr_advice_free(&made.document->shown);
        return status;
    }
    *advice = &made.document->shown;
    return ORR_OK;
}
