/* SPDX-License-Identifier: Apache-2.0 */
/* `orrery run`: options to a run that is opened, and what its files ask for beyond them. */
#include "cli/run.h"

#include <string.h>

static enum orr_status cli_run_check_outputs(const struct run_options *options, struct orr_error *err)
{
    const struct run_input inputs[] = {{"--system", options->run.system},       {"--network", options->run.network},
                                       {"--memory", options->run.memory},       {"--groups", options->run.groups},
                                       {"--calibration", options->calibration}, {"--logical", options->run.logical},
                                       {"TOPOLOGY_FILE", options->topology},    {NULL, NULL}};
    return run_outputs_check(&options->out, inputs, options->run.workload, err);
}

/* Outputs that files ask for: the system file's track-local-mem, and with --compat astra (`named`) those that the
 * network configuration names, unless an option says otherwise. */
static enum orr_status cli_run_take_named_files(struct run_options *options, const struct orr_run *run, bool named,
                                                struct orr_error *err)
{
    options->out.local_mem = orr_run_named_file(run, ORR_OUTPUT_LOCAL_MEM);
    const struct {
        const char **path;
        enum orr_output output;
    } files[] = {{&options->out.fct, ORR_OUTPUT_FCT},
                 {&options->out.pfc, ORR_OUTPUT_PFC},
                 {&options->out.qlen, ORR_OUTPUT_QLEN}};
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        if (named && *files[i].path == NULL) {
            *files[i].path = orr_run_named_file(run, files[i].output);
        }
    }
    options->topology = named ? orr_run_named_file(run, ORR_OUTPUT_TEXT) : options->topology;
    return named || options->out.local_mem != NULL ? cli_run_check_outputs(options, err) : ORR_OK;
}

static enum orr_status repeat_answer(void *context, enum orr_form form, FILE *stream, struct orr_error *err)
{
    return orr_repeat_write(context, form, stream, err);
}

static enum orr_status jobs_answer(void *context, enum orr_form form, FILE *stream, struct orr_error *err)
{
    return orr_jobs_write(context, form, stream, err);
}

/* Several jobs, together and alone. */
static int cli_run_jobs(struct run_options *options, struct watch *watch, struct cli_warnings *warnings)
{
    struct orr_error err = {0};
    struct orr_jobs *result = NULL;
    watch_begin(watch);
    enum orr_status status = orr_jobs_run(&options->run, &result, &err);
    watch_end(watch);
    cli_warnings_end(warnings);
    const struct cli_forms forms = {.json = options->out.format == ORR_OUTPUT_JSON ? "-" : options->out.json};
    if (status == ORR_OK) {
        status = cli_forms_put(&forms, jobs_answer, result, &err);
    }
    orr_jobs_free(result);
    watch_finish(watch, status == ORR_OK ? WATCH_DONE : status == ORR_EINTR ? WATCH_INTERRUPTED : WATCH_FAILED);
    return status == ORR_OK ? 0 : cli_fail(&err);
}

/* The same job by many seeds. */
static int cli_run_repeat(struct run_options *options, struct watch *watch, struct cli_warnings *warnings)
{
    struct orr_error err = {0};
    struct orr_repeat *result = NULL;
    watch_begin(watch);
    enum orr_status status = orr_run_repeat(&options->run, options->repeat, options->threads, &result, &err);
    watch_end(watch);
    cli_warnings_end(warnings);
    const struct cli_forms forms = {.json = options->out.format == ORR_OUTPUT_JSON ? "-" : options->out.json};
    if (status == ORR_OK) {
        status = cli_forms_put(&forms, repeat_answer, result, &err);
    }
    orr_repeat_free(result);
    watch_finish(watch, status == ORR_OK ? WATCH_DONE : status == ORR_EINTR ? WATCH_INTERRUPTED : WATCH_FAILED);
    return status == ORR_OK ? 0 : cli_fail(&err);
}

static int cli_run_simulate(struct run_options *options, struct cli_warnings *warnings)
{
    struct orr_error err = {0};
    struct watch watch;
    if (cli_run_check_outputs(options, &err) != ORR_OK ||
        watch_init(&watch, options->out.status_file, !options->out.quiet && !options->out.no_progress, &err) !=
            ORR_OK) {
        return cli_fail(&err);
    }
    bool is_told = !options->out.quiet && !options->out.no_progress;
    if (is_told && options->run.machine != NULL && options->run.collective_times == ORR_COLLECTIVES_SIMULATED) {
        watch.sooner = "--collective-times model answers at once, with times of collectives as they are measured";
    }
    const struct orr_notices notices = cli_notices(warnings, options->run.strict);
    if (options->calibration != NULL &&
        orr_calib_tuning(options->calibration, &notices, &options->run.tuning, &err) != ORR_OK) {
        watch_finish(&watch, WATCH_FAILED);
        return cli_fail(&err);
    }
    options->run.keep_intervals =
        options->out.timeline != NULL || options->out.report != NULL || options->out.comm_intervals != NULL;
    bool named = options->run.compat == ORR_COMPAT_ASTRA && options->run.backend == ORR_BACKEND_PACKET;
    options->run.keep_flows = named || options->out.fct != NULL || options->out.pfc != NULL;
    options->run.keep_queues = named || options->out.qlen != NULL;
    options->run.keep_issue_order = options->out.format == ORR_OUTPUT_ASTRA;
    options->run.progress = watch_progress;
    options->run.progress_context = &watch;
    if (options->run.job_count > 0) {
        return cli_run_jobs(options, &watch, warnings);
    }
    if (options->repeat > 0) {
        return cli_run_repeat(options, &watch, warnings);
    }
    struct orr_run *run = NULL;
    if (orr_run_open(&options->run, &run, &err) != ORR_OK) {
        cli_warnings_end(warnings);
        watch_finish(&watch, WATCH_FAILED);
        return cli_fail(&err);
    }
    int exit_code = 0;
    if (cli_run_take_named_files(options, run, named, &err) != ORR_OK) {
        cli_warnings_end(warnings);
        watch_finish(&watch, WATCH_FAILED);
        exit_code = cli_fail(&err);
    } else {
        exit_code = run_execute(run, &options->out, &watch, warnings);
    }
    orr_run_close(run);
    return exit_code;
}

static int cli_run_with(const struct cli_command *self, bool lenient, int argc, char **argv,
                        struct run_options *options)
{
    struct cli_vector vector = {0};
    struct orr_error err = {0};
    enum cli_help help = CLI_HELP_NONE;
    int exit_code = 0;
    options->out.argc = argc;
    options->out.argv = argv;
    if (run_options_read(self, lenient, argc, argv, options, &vector, &help, &err) != ORR_OK) {
        exit_code = cli_fail(&err);
    } else if (help != CLI_HELP_NONE) {
        cli_print_options(self, "orrery run", help, stdout);
    } else {
        struct cli_warnings warnings = {.quiet = options->out.quiet};
        for (int i = 0; i < vector.warning_count; i++) {
            cli_warn(&warnings, vector.warnings[i]);
        }
        exit_code = cli_run_simulate(options, &warnings);
    }
    cli_vector_free(&vector);
    orr_run_options_free(&options->run);
    return exit_code;
}

static int run_run(const struct cli_command *self, int argc, char **argv)
{
    struct run_options options = {.out.format = ORR_OUTPUT_TEXT};
    orr_run_options_init(&options.run);
    return cli_run_with(self, false, argc, argv, &options);
}

bool cli_run_astra_name(const char *name, enum orr_backend *backend)
{
    static const char *const names[] = {"AstraSim_Analytical_Congestion_Unaware",
                                        "AstraSim_Analytical_Congestion_Aware", "AstraSimNetwork"};
    static const enum orr_backend backends[] = {ORR_BACKEND_UNAWARE, ORR_BACKEND_AWARE, ORR_BACKEND_PACKET};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (strcmp(name, names[i]) == 0) {
            *backend = backends[i];
            return true;
        }
    }
    return false;
}

int cli_run_as_astra(enum orr_backend backend, int argc, char **argv)
{
    struct run_options options = {.out.format = ORR_OUTPUT_ASTRA};
    orr_run_options_init(&options.run);
    options.run.backend = backend;
    options.run.compat = ORR_COMPAT_ASTRA;
    return cli_run_with(&cli_run, true, argc, argv, &options);
}

const struct cli_command cli_run = {
    .name = "run", .summary = "simulate traces on a machine", .usage = &run_usage, .run = run_run};
