/*
 * `orrery run`: read, simulate, write. A run that stalls or is interrupted still writes every output that was asked
 * for, because what is known then is what the user needs to see; the exit code and standard error say what happened.
 */
#include "cli/run.h"
#include "cli/watch.h"

#include <string.h>

static const char short_usage[] =
    "Usage: orrery run --workload PREFIX --system FILE --network FILE [OPTION...]\n"
    "\n"
    "Example:\n"
    "  orrery gen collective --type all-reduce --bytes 1MiB --npus 8 -o traces/allreduce\n"
    "  orrery run --workload traces/allreduce --system system.json --network network.yml\n"
    "\n"
    "orrery run --help shows all options with their units.\n";

/* Reports what went wrong with one output; the exit code is that of the first. */
static void note_failure(const struct orr_error *err, int *exit_code)
{
    int code = cli_fail(err);
    *exit_code = *exit_code == 0 ? code : *exit_code;
}

/* What can be known before the work: an hour of simulation should not end with a folder that is not there. */
static enum orr_status check_outputs(const struct run_options *options, struct orr_error *err)
{
    const struct {
        const char *option, *path;
    } files[] = {{"--json", options->json}, {"--timeline", options->timeline}, {"--status-file", options->status_file}};
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        enum orr_status status =
            files[i].path == NULL ? ORR_OK : cli_check_writable(files[i].option, files[i].path, err);
        if (status != ORR_OK) {
            return status;
        }
    }
    return ORR_OK;
}

static int write_outputs(const struct run_options *options, const struct orr_run *run, enum orr_status outcome)
{
    const struct {
        const char *path;
        enum orr_output output;
    } files[] = {
        {options->json, ORR_OUTPUT_JSON}, {options->csv, ORR_OUTPUT_CSV}, {options->timeline, ORR_OUTPUT_TIMELINE}};
    int exit_code = 0;
    struct orr_error err = {0};
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        if (files[i].path != NULL && orr_run_write(run, files[i].output, files[i].path, NULL, &err) != ORR_OK) {
            note_failure(&err, &exit_code);
        }
    }
    if (orr_run_write(run, options->format, NULL, stdout, &err) != ORR_OK) {
        if (ferror(stdout) != 0) {
            exit_code = cli_stdout_failed(err.text);
        } else {
            note_failure(&err, &exit_code);
        }
    }
    if (outcome == ORR_ESTALL && orr_run_write(run, ORR_OUTPUT_STALL, NULL, stderr, &err) != ORR_OK) {
        note_failure(&err, &exit_code);
    }
    return exit_code;
}

static void print_warnings(const struct orr_run *run, size_t *printed, struct cli_warnings *warnings)
{
    for (size_t count = orr_run_warning_count(run); *printed < count; (*printed)++) {
        cli_warn(warnings, orr_run_warning(run, *printed));
    }
}

static int execute(const struct run_options *options, struct orr_run *run, struct watch *watch,
                   struct cli_warnings *warnings)
{
    struct orr_error err = {0};
    size_t printed = 0;
    print_warnings(run, &printed, warnings);
    watch_begin(watch);
    enum orr_status outcome = orr_run_execute(run, &err);
    watch_end(watch);
    print_warnings(run, &printed, warnings);
    cli_warnings_end(warnings);
    if (outcome == ORR_OK) {
        int exit_code = write_outputs(options, run, outcome);
        watch_finish(watch, exit_code == 0 ? WATCH_DONE : WATCH_FAILED);
        return exit_code;
    }
    if (outcome == ORR_ESTALL || outcome == ORR_EINTR) {
        (void)write_outputs(options, run, outcome);
    }
    watch_finish(watch, outcome == ORR_ESTALL  ? WATCH_STALLED
                        : outcome == ORR_EINTR ? WATCH_INTERRUPTED
                                               : WATCH_FAILED);
    return cli_fail(&err);
}

static int simulate(struct run_options *options, struct cli_warnings *warnings)
{
    struct orr_error err = {0};
    struct watch watch;
    if (check_outputs(options, &err) != ORR_OK ||
        watch_init(&watch, options->status_file, !options->quiet && !options->no_progress, &err) != ORR_OK) {
        return cli_fail(&err);
    }
    options->run.keep_intervals = options->timeline != NULL;
    options->run.keep_issue_order = options->format == ORR_OUTPUT_ASTRA;
    options->run.progress = watch_progress;
    options->run.progress_context = &watch;
    struct orr_run *run = NULL;
    if (orr_run_open(&options->run, &run, &err) != ORR_OK) {
        cli_warnings_end(warnings);
        watch_finish(&watch, WATCH_FAILED);
        return cli_fail(&err);
    }
    int exit_code = execute(options, run, &watch, warnings);
    orr_run_close(run);
    return exit_code;
}

static int run_with(const struct cli_command *self, bool lenient, int argc, char **argv, struct run_options *options)
{
    struct cli_vector vector = {0};
    struct orr_error err = {0};
    int exit_code = 0;
    if (run_options_read(self, lenient, argc, argv, options, &vector, &err) != ORR_OK) {
        exit_code = cli_fail(&err);
    } else if (options->input.help) {
        cli_print_help(self, "orrery run", stdout);
    } else {
        struct cli_warnings warnings = {.quiet = options->quiet};
        for (int i = 0; i < vector.warning_count; i++) {
            cli_warn(&warnings, vector.warnings[i]);
        }
        exit_code = simulate(options, &warnings);
    }
    cli_vector_free(&vector);
    return exit_code;
}

static int run_run(const struct cli_command *self, int argc, char **argv)
{
    if (argc == 1) {
        (void)fputs(short_usage, stderr);
        return orr_status_exit_code(ORR_EINVAL);
    }
    struct run_options options = {.run = ORR_RUN_OPTIONS_DEFAULT, .format = ORR_OUTPUT_TEXT};
    return run_with(self, false, argc, argv, &options);
}

bool cli_run_astra_name(const char *name, enum orr_backend *backend)
{
    static const char *const names[] = {"AstraSim_Analytical_Congestion_Unaware",
                                        "AstraSim_Analytical_Congestion_Aware"};
    static const enum orr_backend backends[] = {ORR_BACKEND_UNAWARE, ORR_BACKEND_AWARE};
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
    struct run_options options = {.run = ORR_RUN_OPTIONS_DEFAULT, .format = ORR_OUTPUT_ASTRA};
    options.run.backend = backend;
    return run_with(&cli_run, true, argc, argv, &options);
}

const struct cli_command cli_run = {
    .name = "run", .summary = "simulate traces on a machine", .argp = &run_argp, .run = run_run};
