/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `orrery run`: read, simulate, write. A run that stalls or is interrupted still writes every output that was asked
 * for, because what is known then is what the user needs to see; the exit code and standard error say what happened.
 */
#include "cli/run.h"
#include "cli/watch.h"

#include <inttypes.h>
#include <string.h>

/* Reports what went wrong with one output; the exit code is that of the first. False when the others are not worth
 * trying: memory that ran out is said once. */
static bool note_failure(const struct orr_error *err, int *exit_code)
{
    int code = cli_fail(err);
    *exit_code = *exit_code == 0 ? code : *exit_code;
    return err->status != ORR_ENOMEM;
}

static bool write_standard_output(const struct run_options *options, const struct orr_run *run, int *exit_code)
{
    struct orr_error err = {0};
    if (orr_run_write(run, options->format, NULL, stdout, &err) == ORR_OK) {
        return true;
    }
    if (ferror(stdout) == 0) {
        return note_failure(&err, exit_code);
    }
    *exit_code = cli_stdout_failed(err.text);
    return true;
}

/* Standard output comes first: it is the result, and cannot fail for want of room for the others. */
static int write_outputs(const struct run_options *options, const struct orr_run *run)
{
    const struct {
        const char *path;
        enum orr_output output;
    } files[] = {{options->json, ORR_OUTPUT_JSON},
                 {options->csv, ORR_OUTPUT_CSV},
                 {options->timeline, ORR_OUTPUT_TIMELINE},
                 {options->fct, ORR_OUTPUT_FCT},
                 {options->pfc, ORR_OUTPUT_PFC},
                 {options->qlen, ORR_OUTPUT_QLEN},
                 {options->comm_intervals, ORR_OUTPUT_COMM_INTERVALS},
                 {options->local_mem, ORR_OUTPUT_LOCAL_MEM}};
    int exit_code = 0;
    bool go_on = write_standard_output(options, run, &exit_code);
    for (size_t i = 0; go_on && i < sizeof files / sizeof files[0]; i++) {
        struct orr_error err = {0};
        if (files[i].path != NULL && orr_run_write(run, files[i].output, files[i].path, NULL, &err) != ORR_OK) {
            go_on = note_failure(&err, &exit_code);
        }
    }
    return exit_code;
}

/* The diagnosis, and a last line that says no more than how far it went: the library's own would repeat a finding. */
static int report_stall(const struct orr_run *run, const struct orr_error *summary)
{
    struct orr_error err = {0};
    if (orr_run_write(run, ORR_OUTPUT_STALL, NULL, stderr, &err) != ORR_OK) {
        (void)cli_fail(&err);
        return cli_fail(summary);
    }
    uint32_t ranks = orr_run_rank_count(run);
    uint32_t unfinished = 0;
    for (uint32_t rank = 0; rank < ranks; rank++) {
        struct orr_rank_result result;
        orr_run_rank(run, rank, &result);
        unfinished += result.finished ? 0 : 1;
    }
    cli_error("stalled at %" PRIu64 " ns with %" PRIu32 " of %" PRIu32 " ranks unfinished", orr_run_time_ns(run),
              unfinished, ranks);
    return orr_status_exit_code(summary->status);
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
        int exit_code = write_outputs(options, run);
        watch_finish(watch, exit_code == 0 ? WATCH_DONE : WATCH_FAILED);
        return exit_code;
    }
    if (outcome == ORR_ESTALL || outcome == ORR_EINTR) {
        (void)write_outputs(options, run);
    }
    int exit_code = outcome == ORR_ESTALL ? report_stall(run, &err) : cli_fail(&err);
    watch_finish(watch, outcome == ORR_ESTALL  ? WATCH_STALLED
                        : outcome == ORR_EINTR ? WATCH_INTERRUPTED
                                               : WATCH_FAILED);
    return exit_code;
}

/* Outputs that files ask for: the system file's track-local-mem, and with --compat astra (`named`) those that the
 * network configuration names, unless an option says otherwise. */
static enum orr_status take_named_files(struct run_options *options, const struct orr_run *run, bool named,
                                        struct orr_error *err)
{
    options->local_mem = orr_run_named_file(run, ORR_OUTPUT_LOCAL_MEM);
    const struct {
        const char **path;
        enum orr_output output;
    } files[] = {{&options->fct, ORR_OUTPUT_FCT}, {&options->pfc, ORR_OUTPUT_PFC}, {&options->qlen, ORR_OUTPUT_QLEN}};
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        if (named && *files[i].path == NULL) {
            *files[i].path = orr_run_named_file(run, files[i].output);
        }
    }
    options->topology = named ? orr_run_named_file(run, ORR_OUTPUT_TEXT) : options->topology;
    return named || options->local_mem != NULL ? run_outputs_check(options, err) : ORR_OK;
}

static int simulate(struct run_options *options, struct cli_warnings *warnings)
{
    struct orr_error err = {0};
    struct watch watch;
    if (run_outputs_check(options, &err) != ORR_OK ||
        watch_init(&watch, options->status_file, !options->quiet && !options->no_progress, &err) != ORR_OK) {
        return cli_fail(&err);
    }
    const struct orr_notices notices = cli_notices(warnings, options->run.strict);
    if (options->calibration != NULL &&
        orr_calib_tuning(options->calibration, &notices, &options->run.tuning, &err) != ORR_OK) {
        watch_finish(&watch, WATCH_FAILED);
        return cli_fail(&err);
    }
    options->run.keep_intervals = options->timeline != NULL || options->comm_intervals != NULL;
    bool named = options->run.compat == ORR_COMPAT_ASTRA && options->run.backend == ORR_BACKEND_PACKET;
    options->run.keep_flows = named || options->fct != NULL || options->pfc != NULL;
    options->run.keep_queues = named || options->qlen != NULL;
    options->run.keep_issue_order = options->format == ORR_OUTPUT_ASTRA;
    options->run.progress = watch_progress;
    options->run.progress_context = &watch;
    struct orr_run *run = NULL;
    if (orr_run_open(&options->run, &run, &err) != ORR_OK) {
        cli_warnings_end(warnings);
        watch_finish(&watch, WATCH_FAILED);
        return cli_fail(&err);
    }
    int exit_code = 0;
    if (take_named_files(options, run, named, &err) != ORR_OK) {
        cli_warnings_end(warnings);
        watch_finish(&watch, WATCH_FAILED);
        exit_code = cli_fail(&err);
    } else {
        exit_code = execute(options, run, &watch, warnings);
    }
    orr_run_close(run);
    return exit_code;
}

static int run_with(const struct cli_command *self, bool lenient, int argc, char **argv, struct run_options *options)
{
    struct cli_vector vector = {0};
    struct orr_error err = {0};
    enum cli_help help = CLI_HELP_NONE;
    int exit_code = 0;
    if (run_options_read(self, lenient, argc, argv, options, &vector, &help, &err) != ORR_OK) {
        exit_code = cli_fail(&err);
    } else if (help != CLI_HELP_NONE) {
        cli_print_options(self, "orrery run", help, stdout);
    } else {
        struct cli_warnings warnings = {.quiet = options->quiet};
        for (int i = 0; i < vector.warning_count; i++) {
            cli_warn(&warnings, vector.warnings[i]);
        }
        exit_code = simulate(options, &warnings);
    }
    cli_vector_free(&vector);
    orr_run_options_free(&options->run);
    return exit_code;
}

static int run_run(const struct cli_command *self, int argc, char **argv)
{
    struct run_options options = {.format = ORR_OUTPUT_TEXT};
    orr_run_options_init(&options.run);
    options.run.backend_open = true;
    return run_with(self, false, argc, argv, &options);
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
    struct run_options options = {.format = ORR_OUTPUT_ASTRA};
    orr_run_options_init(&options.run);
    options.run.backend = backend;
    options.run.compat = ORR_COMPAT_ASTRA;
    return run_with(&cli_run, true, argc, argv, &options);
}

const struct cli_command cli_run = {
    .name = "run", .summary = "simulate traces on a machine", .usage = &run_usage, .run = run_run};
