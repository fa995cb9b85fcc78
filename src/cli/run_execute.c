/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An opened run executed and written, for `run` and `simai simulate` alike. One that stalls or is interrupted still
 * writes every output that was asked for, because what is known then is what the user needs to see; the exit code and
 * standard error say what happened.
 */
#include "cli/run.h"

#include <inttypes.h>
#include <stdlib.h>

/* Reports what went wrong with one output; the exit code is that of the first. False when the others are not worth
 * trying: memory that ran out is said once. */
static bool note_failure(const struct orr_error *err, int *exit_code)
{
    int code = cli_fail(err);
    *exit_code = *exit_code == 0 ? code : *exit_code;
    return err->status != ORR_ENOMEM;
}

static bool write_standard_output(const struct run_outputs *outputs, const struct orr_run *run, int *exit_code)
{
    struct orr_error err = {0};
    if (orr_run_write(run, outputs->format, NULL, stdout, &err) == ORR_OK) {
        return true;
    }
    if (ferror(stdout) == 0) {
        return note_failure(&err, exit_code);
    }
    *exit_code = cli_stdout_failed(err.text);
    return true;
}

static enum orr_status cli_run_execute_report(const struct run_outputs *outputs, const struct orr_run *run,
                                              struct orr_error *err)
{
    struct orr_report *report = NULL;
    char *command = cli_quote_command(outputs->argc, outputs->argv);
    enum orr_status status = orr_report_open(NULL, 0, &report, err);
    status = status == ORR_OK ? orr_report_command(report, command, err) : status;
    status = status == ORR_OK ? orr_report_add_run(report, outputs->argv[0], run, err) : status;
    status = status == ORR_OK ? orr_report_write(report, outputs->report, NULL, err) : status;
    orr_report_close(report);
    free(command);
    return status;
}

/* Standard output comes first: it is the result, and cannot fail for want of room for the others. */
static int write_outputs(const struct run_outputs *outputs, const struct orr_run *run, bool ended)
{
    const struct {
        const char *path;
        enum orr_output output;
    } files[] = {{outputs->json, ORR_OUTPUT_JSON},
                 {outputs->csv, ORR_OUTPUT_CSV},
                 {outputs->timeline, ORR_OUTPUT_TIMELINE},
                 {outputs->fct, ORR_OUTPUT_FCT},
                 {outputs->pfc, ORR_OUTPUT_PFC},
                 {outputs->qlen, ORR_OUTPUT_QLEN},
                 {outputs->comm_intervals, ORR_OUTPUT_COMM_INTERVALS},
                 {outputs->local_mem, ORR_OUTPUT_LOCAL_MEM},
                 {ended ? outputs->simai : NULL, ORR_OUTPUT_SIMAI_FILES}};
    int exit_code = 0;
    bool silent = outputs->format == ORR_OUTPUT_SIMAI_LOG && !ended; /* SimAI says nothing either */
    bool go_on = silent || write_standard_output(outputs, run, &exit_code);
    for (size_t i = 0; go_on && i < sizeof files / sizeof files[0]; i++) {
        struct orr_error err = {0};
        if (files[i].path != NULL && orr_run_write(run, files[i].output, files[i].path, NULL, &err) != ORR_OK) {
            go_on = note_failure(&err, &exit_code);
        }
    }
    struct orr_error err = {0};
    if (go_on && outputs->report != NULL && cli_run_execute_report(outputs, run, &err) != ORR_OK) {
        (void)note_failure(&err, &exit_code);
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

int run_execute(struct orr_run *run, const struct run_outputs *outputs, struct watch *watch,
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
    bool ended = outcome == ORR_OK;
    if (ended) {
        int exit_code = write_outputs(outputs, run, ended);
        watch_finish(watch, exit_code == 0 ? WATCH_DONE : WATCH_FAILED);
        return exit_code;
    }
    if (outcome == ORR_ESTALL || outcome == ORR_EINTR) {
        (void)write_outputs(outputs, run, ended);
    }
    int exit_code = outcome == ORR_ESTALL ? report_stall(run, &err) : cli_fail(&err);
    watch_finish(watch, outcome == ORR_ESTALL  ? WATCH_STALLED
                        : outcome == ORR_EINTR ? WATCH_INTERRUPTED
                                               : WATCH_FAILED);
    return exit_code;
}
