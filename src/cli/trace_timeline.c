/* SPDX-License-Identifier: Apache-2.0 */
/* `orrery trace timeline`: when what ran, as recorded in the traces themselves, or as a simulation of them has it. */
#include "cli/trace.h"

#include <string.h>

struct timeline_command {
    struct orr_run_options run;
    const char *output;
    struct cli_words files;
};

static const struct param rows[] = {
    {"output", .letter = 'o', .kind = PARAM_PATH, .group = PARAM_OUTPUT, .value = "OUT",
     .place = offsetof(struct timeline_command, output),
     .help = "Required: the timeline, Chrome trace JSON, or of a simulation OUT.pftrace, Perfetto's protobuf, or "
             "OUT/, a file a rank as PyTorch records them; compressed when OUT ends in .gz"},
    {0},
};

static const struct param_table tables[] = {
    {rows, 0, 0}, {param_run, PARAM_OF_TRACE, offsetof(struct timeline_command, run)}, {0}};

static const struct cli_usage usage = {
    .tables = tables,
    .forms = "FILE.et... -o OUT\nPREFIX --system FILE --network FILE -o OUT",
    .about = "Write a timeline for chrome://tracing or Perfetto: of traces as they were recorded (start times and "
             "durations of their nodes, us), one process a file; or, with --system and --network, of a simulation of "
             "PREFIX.R.et.",
    .examples = "  orrery trace timeline traces/resnet50.*.et -o recorded.json.gz\n"
                "  orrery trace timeline traces/resnet50 -s system.json -n network.yml \\\n"
                "      -o simulated.json.gz\n",
    .words = offsetof(struct timeline_command, files),
};

static bool simulates(const struct timeline_command *command)
{
    return command->run.system != NULL || command->run.network != NULL;
}

static enum orr_status check_replaces(const struct timeline_command *command, struct orr_error *err)
{
    const char *const machine[] = {command->run.system, command->run.network, command->run.logical, command->run.memory,
                                   command->run.groups};
    for (size_t i = 0; i < sizeof machine / sizeof machine[0]; i++) {
        if (cli_same_file(command->output, machine[i])) {
            return error_set(err, ORR_EINVAL, "-o would replace a file of the machine: %s", machine[i]);
        }
    }
    for (size_t i = 0; i < command->files.count; i++) {
        if (cli_same_file(command->output, command->files.list[i]) ||
            (simulates(command) && cli_is_rank_file(command->output, command->files.list[i]))) {
            return error_set(err, ORR_EINVAL, "-o would replace the input %s", command->output);
        }
    }
    return ORR_OK;
}

static enum orr_status cli_trace_timeline_check(const struct timeline_command *command, struct orr_error *err)
{
    if (command->files.count == 0) {
        return error_set(err, ORR_EINVAL, "no trace given; name .et files, or a prefix with --system and --network");
    }
    if (command->output == NULL) {
        return error_set(err, ORR_EINVAL, "missing -o OUT (the timeline: .json or .json.gz)");
    }
    if (!simulates(command) && strstr(command->output, ".pftrace") != NULL) {
        return error_set(err, ORR_EINVAL,
                         "%s: the timeline of recorded traces is Chrome's JSON; Perfetto's own form is of a simulation "
                         "(--system and --network)",
                         command->output);
    }
    if (simulates(command) && (command->run.system == NULL || command->run.network == NULL)) {
        return error_set(err, ORR_EINVAL, "a simulation needs both --system and --network");
    }
    if (simulates(command) && command->files.count != 1) {
        return error_set(err, ORR_EINVAL, "%zu arguments; a simulation takes one prefix PREFIX of PREFIX.R.et",
                         command->files.count);
    }
    bool machine = command->run.logical != NULL || command->run.memory != NULL || command->run.groups != NULL;
    if (!simulates(command) && (machine || !command->run.backend_open)) {
        return error_set(
            err, ORR_EINVAL,
            "--logical, --memory, --groups and --backend are for a simulation: give --system and --network too");
    }
    enum orr_status status = check_replaces(command, err);
    enum orr_status (*check)(const char *option, const char *path, struct orr_error *err) =
        simulates(command) ? cli_check_timeline : cli_check_writable;
    return status == ORR_OK ? check("-o", command->output, err) : status;
}

static enum orr_status cli_trace_timeline_simulate(struct timeline_command *command, struct orr_error *err)
{
    struct orr_run *run = NULL;
    struct cli_warnings warnings = {0};
    command->run.workload = command->files.list[0];
    command->run.keep_intervals = true;
    enum orr_status status = orr_run_open(&command->run, &run, err);
    if (status == ORR_OK) {
        status = orr_run_execute(run, err);
    }
    for (size_t i = 0; run != NULL && i < orr_run_warning_count(run); i++) {
        cli_warn(&warnings, orr_run_warning(run, i));
    }
    cli_warnings_end(&warnings);
    if (status == ORR_OK) {
        status = orr_run_write(run, ORR_OUTPUT_TIMELINE, command->output, NULL, err);
    }
    orr_run_close(run);
    return status;
}

static int run_timeline(const struct cli_command *self, int argc, char **argv)
{
    struct timeline_command command = {0};
    orr_run_options_init(&command.run);
    struct orr_error err = {0};
    int exit_code = 0;
    if (!cli_begin(self, argc, argv, &command, &exit_code)) {
        return exit_code;
    }
    enum orr_status status = cli_trace_timeline_check(&command, &err);
    if (status == ORR_OK) {
        status = simulates(&command) ? cli_trace_timeline_simulate(&command, &err)
                                     : orr_trace_timeline((const char *const *)command.files.list, command.files.count,
                                                          command.output, &err);
    }
    if (status != ORR_OK) {
        return cli_fail(&err);
    }
    (void)printf("Wrote %s.\n", command.output);
    return 0;
}

const struct cli_command cli_trace_timeline = {
    .name = "timeline",
    .summary = "when what ran, recorded or simulated (Chrome trace JSON)",
    .usage = &usage,
    .run = run_timeline,
};
