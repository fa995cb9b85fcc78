/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A point of `orrery run` is its options as they are, with the sweep's overrides and the shared traces. A point of
 * `orrery lab run` is planned as that command plans it; the files of its machine are made in memory only, since a
 * thousand folders would say no more than a row of the table.
 */
#include <stdlib.h>
#include <string.h>

#include "lab/lab_run.h"
#include "lab/sweep/plan.h"
#include "lab/sweep/sweep.h"

enum { SETTINGS_MOST = LAB_SETTINGS_MOST + SWEEP_KEYS_MOST + 1, THOUSAND = 1000 };

struct making {
    struct orr_sweep *sweep;
    struct sweep_made *made;
    int64_t told; /* thousandths of this point that sweep->running has */
    struct lab_experiment experiment;
    struct lab_setting settings[SETTINGS_MOST];
    struct orr_lab_options lab; /* of a lab point: its own, on the network of all */
    struct lab_plan plan;
    struct run_texts texts;
};

struct sweep_made *sweep_made_new(uint64_t point)
{
    struct sweep_made *made = calloc(1, sizeof *made);
    if (made != NULL) {
        made->point = point;
        arena_init(&made->arena, &made->mem);
        notes_init(&made->warnings, &made->mem, false);
        lab_record_init(&made->record);
    }
    return made;
}

void sweep_made_free(struct sweep_made *made)
{
    if (made != NULL) {
        lab_record_free(&made->record);
        notes_free(&made->warnings);
        arena_free(&made->arena);
        free(made);
    }
}

/* ---- while it runs ---- */

static bool sweep_point_on_progress(void *context, const struct orr_progress *now)
{
    struct making *making = context;
    int64_t share = now->done > 0 ? (int64_t)(now->done * THOUSAND) : 0;
    atomic_fetch_add_explicit(&making->sweep->running, share - making->told, memory_order_relaxed);
    making->told = share;
    return !atomic_load_explicit(&making->sweep->stop, memory_order_relaxed);
}

/* Of a strict point the run itself has made errors of them. A warning that finds no room is not worth failing for. */
static void keep_warning(void *context, const char *line)
{
    struct sweep_made *made = context;
    struct orr_error unsaid = {0};
    if (notes_add(&made->warnings, &unsaid, "%s", line) != ORR_OK) {
        return;
    }
}

static void sweep_point_keep_warnings(void *context, const struct orr_run *run)
{
    for (size_t i = 0; i < orr_run_warning_count(run); i++) {
        keep_warning(context, orr_run_warning(run, i));
    }
}

/* ---- what it is ---- */

static bool is_strict(const struct making *making, const struct orr_sweep_job *job)
{
    return making->sweep->strict || job->strict;
}

static void sweep_point_set(struct making *making, const char *key, const char *value)
{
    struct lab_experiment *experiment = &making->experiment;
    for (uint32_t i = 0; i < experiment->setting_count; i++) {
        if (strcmp(making->settings[i].key, key) == 0) {
            return; /* the plan of a lab run has said it, with its unit */
        }
    }
    making->settings[experiment->setting_count++] = (struct lab_setting){key, value};
}

static void set_varied(struct making *making)
{
    const struct orr_sweep_options *options = making->sweep->options;
    for (size_t key = 0; key < orr_sweep_plan_key_count(options->plan); key++) {
        struct orr_sweep_key said;
        orr_sweep_plan_key(options->plan, key, &said);
        sweep_point_set(making, said.name, orr_sweep_plan_value(options->plan, making->made->point, key));
    }
    sweep_point_set(making, "options", options->base != NULL ? options->base : "");
    making->experiment.settings = making->settings;
}

/* "orrery sweep --point=7 ...": what does this point alone again. */
static const char *sweep_point_command_of(const struct making *making)
{
    static const char start[] = "orrery sweep";
    const char *command = making->sweep->options->command;
    if (command == NULL || strncmp(command, start, sizeof start - 1) != 0) {
        return command;
    }
    return arena_printf(&making->made->arena, "%s --point=%llu%s", start, (unsigned long long)making->made->point + 1,
                        command + sizeof start - 1);
}

/* The job's own behind those that its run, or the plan of a lab run, has. */
static enum orr_status set_overrides(struct making *making, const struct orr_sweep_job *job, struct orr_error *err)
{
    struct orr_run_options *run = &making->experiment.options;
    size_t count = run->override_count + job->override_count;
    struct orr_override *all = arena_alloc(&making->made->arena, (count + 1) * sizeof *all);
    if (all == NULL) {
        return mem_error(&making->made->mem, "the overrides of a point", err);
    }
    for (size_t i = 0; i < count; i++) {
        all[i] = i < run->override_count ? run->overrides[i] : job->overrides[i - run->override_count];
    }
    run->overrides = all;
    run->override_count = count;
    return ORR_OK;
}

static enum orr_status plan_lab(struct making *making, const struct orr_lab_options *options, uint64_t steps,
                                struct orr_error *err)
{
    struct lab_plan *plan = &making->plan;
    struct lab_experiment *experiment = &making->experiment;
    enum orr_status status = lab_plan_make(plan, err);
    plan->folder = "machine";
    plan->steps = steps;
    if (status == ORR_OK) {
        const struct run_machine_request request = {.machine = &plan->machine,
                                                    .folder = plan->folder,
                                                    .system = options->run.system,
                                                    .backend = plan->backend,
                                                    .rates = &plan->rates,
                                                    .times = &plan->times,
                                                    .notices = plan->notices,
                                                    .texts = &making->texts};
        status = run_machine_write(&request, &plan->arena, &plan->files, err);
    }
    if (status == ORR_OK) {
        status = lab_plan_settings(plan, err);
    }
    if (status != ORR_OK) {
        return status;
    }
    lab_plan_run_options(plan, &experiment->options);
    experiment->options.texts = making->texts.text;
    experiment->options.text_count = making->texts.count;
    experiment->topology = plan->name;
    experiment->dims = plan->dims;
    for (uint32_t i = 0; i < plan->setting_count; i++) {
        sweep_point_set(making, plan->settings[i].key, plan->settings[i].value);
    }
    return ORR_OK;
}

/* ---- running it ---- */

static void run_experiment(struct making *making, const struct orr_sweep_job *job, struct sweep_workload *workload)
{
    struct sweep_made *made = making->made;
    struct lab_experiment *experiment = &making->experiment;
    struct orr_run_options *run = &experiment->options;
    made->recording = set_overrides(making, job, &made->err);
    if (made->recording != ORR_OK) {
        return;
    }
    set_varied(making);
    run->strict = run->strict || is_strict(making, job);
    run->progress = sweep_point_on_progress;
    run->progress_context = making;
    if (workload != NULL) {
        run->loaded = sweep_workload_loaded(workload, run->memory_limit);
        experiment->workload = workload->traces > 0 ? &workload->input : NULL;
        experiment->workload_traces = workload->traces;
        experiment->steps = workload->steps;
    }
    const struct lab_input *calibration = sweep_inputs_calibration(&making->sweep->inputs, job->calibration);
    experiment->extra = calibration;
    experiment->extra_count = calibration == NULL ? 0 : 1;
    made->recording =
        lab_experiment_make(experiment, sweep_point_keep_warnings, made, &made->record, &made->outcome, &made->err);
}

/* A point that could not even be planned is kept like one whose files could not be read. */
static void keep_unplanned(struct making *making)
{
    struct sweep_made *made = making->made;
    struct orr_error later = {0};
    made->outcome.state = LAB_RUN_FAILED;
    set_varied(making);
    made->recording = lab_record_describe(&made->record, &making->experiment, NULL, &later);
    if (made->recording == ORR_OK) {
        made->recording =
            lab_record_results(&made->record, &making->experiment, NULL, &made->outcome, made->err.text, &later);
    }
}

/* The settings, and the texts of a lab plan, outlive the thread's stack: the store gets them later. */
static enum orr_status copy_texts(struct making *making, struct orr_error *err)
{
    struct sweep_made *made = making->made;
    struct lab_manifest *manifest = &made->record.manifest;
    struct lab_setting *settings = arena_alloc(&made->arena, (manifest->setting_count + 1) * sizeof *settings);
    const char **texts[] = {&manifest->topology, &manifest->logical_dims, &manifest->comm_scale};
    bool kept = settings != NULL;
    for (uint32_t i = 0; kept && i < manifest->setting_count; i++) {
        const char *value = manifest->settings[i].value;
        settings[i].key = manifest->settings[i].key; /* constants, or names of the plan's keys */
        settings[i].value = arena_strndup(&made->arena, value, strlen(value));
        kept = settings[i].value != NULL;
    }
    for (size_t i = 0; kept && i < sizeof texts / sizeof texts[0]; i++) {
        const char *text = *texts[i];
        *texts[i] = text == NULL ? NULL : arena_strndup(&made->arena, text, strlen(text));
        kept = text == NULL || *texts[i] != NULL;
    }
    manifest->settings = settings;
    return kept ? ORR_OK : mem_error(&made->mem, "the settings of a point", err);
}

static void lab_sweep_point_make(struct making *making, const struct orr_sweep_job *job,
                                 struct sweep_workload *workload)
{
    struct orr_sweep *sweep = making->sweep;
    struct sweep_made *made = making->made;
    const struct orr_notices notices = {.warn = keep_warning, .context = made, .strict = is_strict(making, job)};
    enum orr_status planned = ORR_OK;
    making->experiment = (struct lab_experiment){
        .kind = "sweep",
        .command = sweep_point_command_of(making),
        .tag = sweep->options->tag != NULL ? sweep->options->tag : orr_sweep_plan_name(sweep->options->plan)};
    if (job->run != NULL) {
        making->experiment.options = *job->run;
        making->experiment.options.backend = sweep_network_of(sweep, making->made->point);
        making->experiment.options.backend_open = false;
    } else {
        making->lab = *job->lab;
        making->lab.run.backend = sweep_network_of(sweep, making->made->point);
        making->lab.run.backend_open = false;
        lab_plan_init(&making->plan, &making->lab, &notices);
        making->experiment.tag = job->lab->tag != NULL ? job->lab->tag : making->experiment.tag;
        planned = plan_lab(making, &making->lab, workload == NULL ? 0 : workload->steps, &made->err);
    }
    if (planned == ORR_OK) {
        run_experiment(making, job, workload);
    } else {
        keep_unplanned(making);
    }
    if (made->recording == ORR_OK) {
        made->recording = copy_texts(making, &made->err);
    }
    if (job->run == NULL) {
        lab_plan_free(&making->plan);
    }
}

static uint64_t limit_of(const struct orr_sweep_job *job)
{
    return job->run != NULL ? job->run->memory_limit : job->lab->run.memory_limit;
}

struct sweep_made *sweep_point_make(struct orr_sweep *sweep, uint64_t point)
{
    const struct orr_sweep_job *job = &sweep->options->jobs[point];
    struct sweep_made *made = sweep_made_new(point);
    struct making *making = calloc(1, sizeof *making);
    if (made == NULL || making == NULL) {
        sweep_made_free(made);
        free(making);
        return NULL;
    }
    struct sweep_workload *workload = sweep_inputs_take(&sweep->inputs, point, limit_of(job));
    making->sweep = sweep;
    making->made = made;
    lab_sweep_point_make(making, job, workload);
    made->steps = workload == NULL ? 0 : workload->steps;
    atomic_fetch_sub_explicit(&sweep->running, making->told, memory_order_relaxed);
    sweep_inputs_give(workload);
    free(making);
    return made;
}
