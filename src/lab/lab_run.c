/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The order is: settle, take a number and a folder, bring in the traces, write the machine, run. What fails before the
 * run leaves no folder behind; from then on folder and store keep whatever came out.
 */
#include "lab/lab_run.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "io/outfile.h"
#include "lab/store/metrics_store.h"
#include "report/lab_text.h"
#include "run/network_choice.h"

/* ---- the folder ---- */

/* The number the next run will have unless another program is faster. */
static enum orr_status next_number(struct lab_store *store, int64_t *number, struct orr_error *err)
{
    struct io_statement *statement = NULL;
    bool row = false;
    enum orr_status status =
        io_statement_prepare(lab_store_database(store), "SELECT coalesce(max(id), 0) + 1 FROM run", &statement, err);
    if (status == ORR_OK) {
        status = io_statement_step(statement, &row, err);
    }
    if (status == ORR_OK) {
        *number = row ? io_column_int(statement, 0) : 1;
    }
    io_statement_free(statement);
    return status;
}

static enum orr_status lab_run_make_folder(struct lab_plan *plan, struct lab_store *store, struct orr_error *err)
{
    enum { TRIES = 10000 };
    const char *tag = plan->options->tag;
    int64_t number = 0;
    enum orr_status status = next_number(store, &number, err);
    if (status == ORR_OK) {
        status = io_make_folder(plan->output, err);
    }
    for (int i = 0; status == ORR_OK && i < TRIES; i++) {
        const char *path = arena_printf(&plan->arena, "%s/%04" PRId64 "_%s%s%s", plan->output, number + i,
                                        tag != NULL ? tag : "", tag != NULL ? "_" : "", plan->name);
        if (path == NULL) {
            return mem_error(&plan->mem, "the name of a folder", err);
        }
        if (mkdir(path, 0777) == 0) {
            plan->folder = path;
            return ORR_OK;
        }
        if (errno != EEXIST) {
            return error_system(err, errno, "%s: cannot be made", path);
        }
    }
    return status != ORR_OK ? status
                            : error_set(err, ORR_EIO, "%s: has a folder for each number from %" PRId64 " on already",
                                        plan->output, number);
}

/* Of a run that never began: only what this program may have put there, so that nothing of the user's goes. */
static void drop_folder(struct lab_plan *plan)
{
    static const char *const names[] = {"network.yml", "system.json",  "logical.json", "config.txt",
                                        "import.txt",  "topology.txt", "traces",       ""};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const char *path = arena_printf(&plan->arena, "%s/%s", plan->folder, names[i]);
        if (path != NULL && unlink(path) != 0) {
            (void)rmdir(path);
        }
    }
}

/* ---- before the run ---- */

/* Into the run's folder, with the importer's report beside the traces. */
static enum orr_status lab_run_import(struct lab_plan *plan, struct orr_error *err)
{
    struct io_outfile *report = NULL;
    const char *prefix = arena_printf(&plan->arena, "%s/traces/job", plan->folder);
    const char *path = arena_printf(&plan->arena, "%s/import.txt", plan->folder);
    if (prefix == NULL || path == NULL) {
        return mem_error(&plan->mem, "a path", err);
    }
    const struct orr_import_options options = {.folder = plan->workload.recording,
                                               .prefix = prefix,
                                               .tag = plan->options->recording_tag,
                                               .memory_limit = plan->options->run.memory_limit};
    enum orr_status status = io_outfile_open(path, IO_OUTFILE_PLAIN, &report, err);
    if (status != ORR_OK) {
        return status;
    }
    status = orr_trace_import(&options, plan->notices, io_outfile_stream(report), err);
    if (status != ORR_OK) {
        io_outfile_abort(report);
        return status;
    }
    plan->workload.prefix = prefix;
    status = io_outfile_commit(report, err);
    return status == ORR_OK ? run_workload_groups(prefix, &plan->arena, &plan->workload.groups, err) : status;
}

static enum orr_status lab_run_prepare(struct lab_plan *plan, struct orr_error *err)
{
    const struct run_machine_request request = {.machine = &plan->machine,
                                                .folder = plan->folder,
                                                .system = plan->options->run.system,
                                                .backend = plan->backend,
                                                .rates = &plan->rates,
                                                .times = &plan->times,
                                                .notices = plan->notices};
    enum orr_status status = plan->workload.recording == NULL ? ORR_OK : lab_run_import(plan, err);
    if (status == ORR_OK) {
        status = run_workload_steps(plan->workload.prefix, &plan->mem, &plan->steps, err);
    }
    if (status == ORR_OK) {
        status = run_machine_write(&request, &plan->arena, &plan->files, err);
    }
    return status == ORR_OK ? lab_plan_settings(plan, err) : status;
}

/* ---- the run ---- */

struct keeping {
    struct lab_plan *plan;
    FILE *stream;
};

static enum orr_status keep_file(struct lab_plan *plan, const struct orr_run *run, enum orr_output output,
                                 const char *name, struct orr_error *err)
{
    const char *path = arena_printf(&plan->arena, "%s%s%s", plan->folder, name[0] != '\0' ? "/" : "", name);
    return path == NULL ? mem_error(&plan->mem, "a path", err) : orr_run_write(run, output, path, NULL, err);
}

static enum orr_status lab_run_report(const struct lab_plan *plan, const struct orr_run *run, struct orr_error *err)
{
    struct orr_report *report = NULL;
    enum orr_status status = orr_report_open(NULL, plan->options->run.memory_limit, &report, err);
    status = status == ORR_OK ? orr_report_command(report, plan->options->command, err) : status;
    status = status == ORR_OK ? orr_report_add_run(report, plan->name, run, err) : status;
    status = status == ORR_OK ? orr_report_write(report, plan->options->report, NULL, err) : status;
    orr_report_close(report);
    return status;
}

static void pass_warnings(const struct lab_plan *plan, const struct orr_run *run)
{
    for (size_t i = 0; plan->notices != NULL && plan->notices->warn != NULL && i < orr_run_warning_count(run); i++) {
        plan->notices->warn(plan->notices->context, orr_run_warning(run, i));
    }
}

static struct report_lab lab_run_describe(const struct lab_plan *plan)
{
    const struct orr_growth *growth = &plan->options->run.growth;
    bool file = plan->machine.kind == RUN_MACHINE_FILE;
    return (struct report_lab){.folder = plan->folder,
                               .workload = plan->options->run.workload,
                               .machine = plan->name,
                               .dims = plan->dims,
                               .rates = file ? NULL : plan->rates.list,
                               .times = plan->times.list,
                               .backend = run_backend_word(plan->backend),
                               .world = plan->world,
                               .traces = plan->workload.ranks,
                               .steps = plan->steps,
                               .grown = plan->grows,
                               .strong = growth->strong,
                               .comm_scale = growth->comm_scale};
}

/* The parts of the mean rank's time, and what most of the communication is. */
static void read_results(const struct orr_run *run, struct report_lab *lab)
{
    lab->total_ns = orr_run_time_ns(run);
    orr_run_optimum(run, &lab->optimum);
    for (uint32_t rank = 0; rank < lab->world; rank++) {
        struct orr_rank_result row;
        orr_run_rank(run, rank, &row);
        const uint64_t ns[REPORT_LAB_PARTS] = {row.compute_ns, row.exposed_comm_ns, row.exposed_other_ns, row.idle_ns};
        for (int i = 0; i < REPORT_LAB_PARTS; i++) {
            lab->parts_ns[i] += (double)ns[i] / lab->world;
        }
        lab->finished += row.finished;
    }
    for (uint32_t i = 0; i < orr_run_collective_count(run); i++) {
        struct orr_collective_result row;
        orr_run_collective(run, i, &row);
        lab->most = row.total_ns > lab->most.total_ns ? row : lab->most;
    }
}

static enum orr_status lab_run_keep(void *context, const struct orr_run *run, struct orr_error *err)
{
    const struct keeping *keeping = context;
    struct lab_plan *plan = keeping->plan;
    const struct {
        const char *name;
        enum orr_output output;
        bool wanted;
    } files[] = {{"summary.txt", ORR_OUTPUT_TEXT, true},
                 {"stdout.log", ORR_OUTPUT_ASTRA, true},
                 {"result.json", ORR_OUTPUT_JSON, true},
                 {"", ORR_OUTPUT_CSV, true},
                 {"timeline.json.gz", ORR_OUTPUT_TIMELINE, plan->options->timeline}};
    enum orr_status status = ORR_OK;
    pass_warnings(plan, run);
    for (size_t i = 0; status == ORR_OK && i < sizeof files / sizeof files[0]; i++) {
        status = files[i].wanted ? keep_file(plan, run, files[i].output, files[i].name, err) : ORR_OK;
    }
    if (status == ORR_OK && plan->options->report != NULL) {
        status = lab_run_report(plan, run, err);
    }
    if (status == ORR_OK && keeping->stream != NULL) {
        struct report_lab lab = lab_run_describe(plan);
        read_results(run, &lab);
        report_lab_put(&lab, keeping->stream);
        status = error_of_stream(keeping->stream, "the summary", err);
    }
    return status;
}

/* Where all of it is: what only the store could say, and comes last. */
static enum orr_status tell_place(struct lab_plan *plan, int64_t number, FILE *stream, struct orr_error *err)
{
    struct report_lab lab = lab_run_describe(plan);
    lab.number = number;
    lab.repeat = lab_plan_repeat(plan);
    lab.store = lab_shell_word(&plan->arena, plan->store);
    if (lab.repeat == NULL || lab.store == NULL) {
        return mem_error(&plan->mem, "a summary", err);
    }
    report_lab_place(&lab, stream);
    return error_of_stream(stream, "the summary", err);
}

static enum orr_status lab_run_simulate(struct lab_plan *plan, struct lab_store *store, FILE *stream,
                                        struct lab_outcome *outcome, struct orr_error *err)
{
    struct keeping keeping = {.plan = plan, .stream = stream};
    struct lab_experiment experiment = {.kind = "lab",
                                        .command = plan->options->command,
                                        .tag = plan->options->tag,
                                        .topology = plan->name,
                                        .dims = plan->dims,
                                        .results = plan->folder,
                                        .settings = plan->settings,
                                        .setting_count = plan->setting_count,
                                        .steps = plan->steps};
    struct orr_error later = {0};
    lab_plan_run_options(plan, &experiment.options);
    enum orr_status status = lab_experiment_run(&experiment, store, lab_run_keep, &keeping, outcome, err);
    if (outcome->run == 0) {
        return status;
    }
    enum orr_status noted = lab_plan_manifest(plan, store, outcome, status == ORR_OK ? NULL : err->text, &later);
    if (noted == ORR_OK && status == ORR_OK) {
        noted = metrics_keep(store, outcome->run, plan->folder, &later);
    }
    if (noted == ORR_OK && stream != NULL) {
        noted = tell_place(plan, outcome->run, stream, &later);
    }
    if (status == ORR_OK && noted != ORR_OK) {
        *err = later;
        status = noted;
    }
    return status;
}

static enum orr_status lab_run_carry_out(struct lab_plan *plan, struct lab_store *store, FILE *stream,
                                         struct orr_lab_result *result, struct orr_error *err)
{
    struct lab_outcome outcome = {0};
    enum orr_status status = lab_run_make_folder(plan, store, err);
    if (status != ORR_OK) {
        return status;
    }
    status = lab_run_prepare(plan, err);
    if (status != ORR_OK) {
        drop_folder(plan);
        return status;
    }
    status = lab_run_simulate(plan, store, stream, &outcome, err);
    *result = (struct orr_lab_result){.run = outcome.run,
                                      .time_ns = outcome.total_ns,
                                      .steps = plan->steps,
                                      .world = outcome.world,
                                      .source_world = outcome.source_world};
    (void)snprintf(result->folder, sizeof result->folder, "%s", plan->folder);
    return status;
}

enum orr_status lab_run(const struct orr_lab_options *options, const struct orr_notices *notices, FILE *stream,
                        struct orr_lab_result *result, struct orr_error *err)
{
    struct lab_plan plan;
    struct lab_store *store = NULL;
    struct orr_error why = {0};
    lab_plan_init(&plan, options, notices);
    *result = (struct orr_lab_result){0};
    enum orr_status status = lab_plan_make(&plan, &why);
    if (status == ORR_OK) {
        status = lab_store_open(plan.store, IO_DATABASE_WRITE, &store, &why);
    }
    if (status == ORR_OK) {
        status = lab_run_carry_out(&plan, store, stream, result, &why);
    }
    lab_store_close(store);
    lab_plan_free(&plan);
    if (status != ORR_OK && err != NULL) {
        *err = why;
    }
    return status;
}
