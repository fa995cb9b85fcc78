/* SPDX-License-Identifier: Apache-2.0 */
/* `orrery lab run`: a workload on a machine that is made of a name, kept with everything that went into it. The library
 * does it and writes the summary; here are the options, the progress line and the exit code. */
#include "base/text_stream.h"
#include "cli/lab.h"
#include "cli/watch.h"

#include <stdlib.h>
#include <string.h>

#define AT(field) .place = offsetof(struct lab_command, field)

static const struct param rows[] = {
    {"workload", .letter = 'w', .kind = PARAM_PATH, .group = PARAM_WHAT, .value = "DIR", AT(lab.run.workload),
     .help = "Required: a folder with the traces of a job (PREFIX.R.et), their prefix, or a folder with recordings of "
             "PyTorch, which are imported first"},
    {"prefix", .kind = PARAM_TEXT, .group = PARAM_WHAT, .value = "NAME", AT(lab.prefix),
     .help = "Which traces of the folder, where it has those of several jobs"},
    {"model-tag", .kind = PARAM_TEXT, .group = PARAM_WHAT, .flags = PARAM_RARE, .value = "TAG", AT(lab.recording_tag),
     .help = "Which recordings of the folder: host_R_TAG.json"},
    {"virtual-scale", .kind = PARAM_COUNT32, .group = PARAM_GROWTH, .value = "K", AT(lab.virtual_scale), .least = 1,
     .most = INT32_MAX, .help = "K ranks for every trace"},
    {"world-size", "virtual-world", .kind = PARAM_COUNT32, .group = PARAM_GROWTH, .value = "N", AT(lab.world_size),
     .least = 1, .most = INT32_MAX, .help = "N ranks in all. A topology that names its size has the last word"},
    {"calibration", .kind = PARAM_PATH, .group = PARAM_COMPUTE, .value = "FILE", AT(lab.calibration),
     .help = "Use what orrery calib fit found: the scale of compute, the overhead of launching a collective, and "
             "bandwidth and latency where no option says them. The summary ends with the calibrated step time"},
    {"auto-calibrate", .kind = PARAM_FLAG, .group = PARAM_COMPUTE, AT(lab.auto_calibrate),
     .help = "Make the calibration first: simulate the traced world, hold it against the steps measured beside the "
             "traces (device_R.json, training_R.json), and use what comes of it"},
    {"trace-dir", .kind = PARAM_PATH, .group = PARAM_COMPUTE, .flags = PARAM_RARE, .value = "DIR", AT(lab.trace_folder),
     .help = "--auto-calibrate: the folder of the recording",
     .unwritten = "that of the traces, or pytorch_traces or recording beside it"},
    {"output-dir", .letter = 'o', .kind = PARAM_PATH, .group = PARAM_OUTPUT, .flags = PARAM_SINGLE, .value = "DIR",
     AT(lab.output_folder), .help = "The run gets a folder of its own in DIR", .unwritten = "runs"},
    {"store", .kind = PARAM_PATH, .group = PARAM_OUTPUT, .flags = PARAM_SINGLE, .value = "FILE", AT(lab.store),
     .help = "Result store (SQLite)", .unwritten = "orrery.db in the output folder"},
    {"tag", .kind = PARAM_TEXT, .group = PARAM_OUTPUT, .value = "NAME", AT(lab.tag),
     .help = "A name for the run, also part of its folder's"},
    {"timeline", .kind = PARAM_FLAG, .group = PARAM_OUTPUT, .flags = PARAM_SINGLE, AT(lab.timeline),
     .help = "Also timeline.json.gz, for Perfetto"},
    CLI_ROW_REPORT(struct lab_command, lab.report),
    {"quiet", .letter = 'q', .kind = PARAM_FLAG, .group = PARAM_OTHER, AT(quiet),
     .help = "Neither warnings nor progress"},
    {"no-progress", .kind = PARAM_FLAG, .group = PARAM_OTHER, .flags = PARAM_RARE, AT(no_progress),
     .help = "No progress line on a terminal"},
    {0},
};

static const struct param_table tables[] = {
    {rows, 0, 0}, {param_run, PARAM_OF_LAB, offsetof(struct lab_command, lab.run)}, {0}};

const char *lab_command_single(const struct lab_command *command)
{
    static const struct lab_command none;
    for (const struct param *row = rows; row->name != NULL; row++) {
        if ((row->flags & PARAM_SINGLE) != 0 && !param_same(row, command, &none)) {
            return row->name;
        }
    }
    return NULL;
}

static enum watch_state state_of(enum orr_status status)
{
    switch (status) {
    case ORR_OK:
        return WATCH_DONE;
    case ORR_ESTALL:
        return WATCH_STALLED;
    case ORR_EINTR:
        return WATCH_INTERRUPTED;
    default:
        return WATCH_FAILED;
    }
}

/* The summary waits until the progress line is gone: both may be on one terminal. */
static enum orr_status cli_lab_run_simulate(struct lab_command *command, FILE *summary, struct orr_error *err)
{
    struct cli_warnings warnings = {.quiet = command->quiet};
    const struct orr_notices notices = cli_notices(&warnings, command->lab.run.strict);
    struct orr_lab_result result;
    struct watch watch;
    enum orr_status status = cli_limit_default(&command->lab.run.memory_limit, err);
    if (status == ORR_OK && command->lab.report != NULL) {
        status = cli_check_writable("--report", command->lab.report, err);
    }
    if (status == ORR_OK) {
        status = watch_init(&watch, NULL, !command->quiet && !command->no_progress, err);
    }
    if (status != ORR_OK) {
        return status;
    }
    command->lab.run.progress = watch_progress;
    command->lab.run.progress_context = &watch;
    watch_begin(&watch);
    status = orr_lab_run(&command->lab, &notices, summary, &result, err);
    watch_end(&watch);
    cli_warnings_end(&warnings);
    watch_finish(&watch, state_of(status));
    return status;
}

static enum orr_status run_and_print(struct lab_command *command, struct orr_error *err)
{
    char *text = NULL;
    size_t size = 0;
    FILE *summary = text_stream_open(&text, &size);
    if (summary == NULL) {
        return error_set(err, ORR_ENOMEM, "out of memory");
    }
    enum orr_status status = cli_lab_run_simulate(command, summary, err);
    if (fclose(summary) != 0 && status == ORR_OK) {
        status = error_set(err, ORR_ENOMEM, "out of memory making the output");
    }
    (void)fputs(text != NULL ? text : "", stdout);
    free(text);
    return status;
}

static int run_lab_run(const struct cli_command *self, int argc, char **argv)
{
    struct lab_command command = {0};
    struct orr_error err = {0};
    int exit_code = 0;
    orr_lab_options_init(&command.lab);
    if (!cli_begin(self, argc, argv, &command, &exit_code)) {
        orr_run_options_free(&command.lab.run);
        return exit_code;
    }
    char *typed = cli_quote_command(argc, argv);
    command.lab.command = typed;
    enum orr_status status =
        typed == NULL ? error_set(&err, ORR_ENOMEM, "out of memory") : run_and_print(&command, &err);
    free(typed);
    orr_run_options_free(&command.lab.run);
    return cli_end(status, &err);
}

static const struct cli_usage usage = {
    .tables = tables,
    .forms = "--workload DIR",
    .about = "Simulate a workload on a named machine, growing it to the machine's size if there are fewer traces than "
             "ranks, and store the run: a folder with the machine's files, results and a manifest, and an entry in the "
             "result store. docs/lab.md describes the names.",
    .examples = "  orrery lab run --workload recording --topology 2gpu_auto1d_2 \\\n"
                "      --bandwidth 25 --latency 1 --output-dir runs/\n"
                "  orrery lab run --workload traces --prefix resnet50 \\\n"
                "      --topology 128gpu_torus3d_16 --virtual-scale 64 --tag grown\n"
                "  orrery lab run -w traces/resnet50 --topology fattree --world-size 32\n"
                "  orrery lab run --workload recording --topology 128gpu_torus3d_16 \\\n"
                "      --virtual-scale 64 --auto-calibrate\n",
};

const struct cli_command cli_lab_run = {.name = "run",
                                        .summary = "simulate on a machine by name, and keep the result",
                                        .usage = &usage,
                                        .run = run_lab_run};
