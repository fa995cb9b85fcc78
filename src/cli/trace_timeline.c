/* SPDX-License-Identifier: Apache-2.0 */
/* `orrery trace timeline`: when what ran, as recorded in the traces themselves, or as a simulation of them has it. */
#include "cli/trace.h"

enum { KEY_BACKEND = 256, KEY_MEMORY, KEY_GROUPS };

struct timeline_command {
    struct cli_input input;
    struct orr_run_options run;
    const char *output;
    bool has_backend;
    int file_count;
    char **files;
};

static const struct argp_option table[] = {
    {"output", 'o', "OUT", 0, "The timeline: Chrome trace JSON, compressed when OUT ends in .gz. Required", 0},
    {NULL, 0, NULL, 0, "To simulate instead (both are needed; the argument is then the traces' prefix):", 1},
    {"system", 's', "FILE", 0, "System file (JSON)", 1},
    {"network", 'n', "FILE", 0, "Network file (YAML)", 1},
    {"memory", KEY_MEMORY, "FILE", 0, "Remote memory file (JSON). Default: no remote memory", 1},
    {"groups", KEY_GROUPS, "FILE", 0, "Communicator groups file (JSON). Default: none", 1},
    {"backend", KEY_BACKEND, "NAME", 0, "Network model: unaware (of congestion; default) or aware", 1},
    CLI_HELP_OPTION,
    {0},
};

static const char *const backends[] = {"unaware", "aware", NULL};

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct timeline_command *command = state->input;
    unsigned index = 0;
    switch (key) {
    case 'o':
        command->output = arg;
        return 0;
    case 's':
        command->run.system = arg;
        return 0;
    case 'n':
        command->run.network = arg;
        return 0;
    case KEY_MEMORY:
        command->run.memory = arg;
        return 0;
    case KEY_GROUPS:
        command->run.groups = arg;
        return 0;
    case KEY_BACKEND: {
        enum orr_status status = param_parse_word("--backend", arg, backends, &index, &command->input.error);
        command->run.backend = (enum orr_backend)index;
        command->has_backend = true;
        return cli_options_status(status);
    }
    case ARGP_KEY_ARGS:
        command->files = state->argv + state->next;
        command->file_count = state->argc - state->next;
        return 0;
    case ARGP_KEY_ARG:
        return ARGP_ERR_UNKNOWN; /* makes argp ask with ARGP_KEY_ARGS */
    default:
        return cli_options_default(key, arg, state);
    }
}

static const struct argp timeline_argp = {
    .options = table,
    .parser = parse,
    .args_doc = "FILE.et... -o OUT\nPREFIX --system FILE --network FILE -o OUT",
    .doc =
        "Write a timeline for chrome://tracing or Perfetto: of traces as they were recorded (start times and durations "
        "of their nodes, us), one process a file; or, with --system and --network, of a simulation of PREFIX.R.et.\v"
        "Examples:\n  orrery trace timeline traces/resnet50.*.et -o recorded.json.gz\n"
        "  orrery trace timeline traces/resnet50 -s system.json -n network.yml \\\n"
        "      -o simulated.json.gz\n",
};

static bool simulates(const struct timeline_command *command)
{
    return command->run.system != NULL || command->run.network != NULL;
}

static enum orr_status check_replaces(const struct timeline_command *command, struct orr_error *err)
{
    const char *const machine[] = {command->run.system, command->run.network, command->run.memory, command->run.groups};
    for (size_t i = 0; i < sizeof machine / sizeof machine[0]; i++) {
        if (cli_same_file(command->output, machine[i])) {
            return error_set(err, ORR_EINVAL, "-o would replace a file of the machine: %s", machine[i]);
        }
    }
    for (int i = 0; i < command->file_count; i++) {
        if (cli_same_file(command->output, command->files[i]) ||
            (simulates(command) && cli_is_rank_file(command->output, command->files[i]))) {
            return error_set(err, ORR_EINVAL, "-o would replace the input %s", command->output);
        }
    }
    return ORR_OK;
}

static enum orr_status check(const struct timeline_command *command, struct orr_error *err)
{
    if (command->file_count == 0) {
        return error_set(err, ORR_EINVAL, "no trace given; name .et files, or a prefix with --system and --network");
    }
    if (command->output == NULL) {
        return error_set(err, ORR_EINVAL, "missing -o OUT (the timeline: .json or .json.gz)");
    }
    if (simulates(command) && (command->run.system == NULL || command->run.network == NULL)) {
        return error_set(err, ORR_EINVAL, "a simulation needs both --system and --network");
    }
    if (simulates(command) && command->file_count != 1) {
        return error_set(err, ORR_EINVAL, "%d arguments; a simulation takes one prefix PREFIX of PREFIX.R.et",
                         command->file_count);
    }
    if (!simulates(command) && (command->run.memory != NULL || command->run.groups != NULL || command->has_backend)) {
        return error_set(err, ORR_EINVAL,
                         "--memory, --groups and --backend are for a simulation: give --system and --network too");
    }
    enum orr_status status = check_replaces(command, err);
    return status == ORR_OK ? cli_check_writable("-o", command->output, err) : status;
}

static enum orr_status simulate(struct timeline_command *command, struct orr_error *err)
{
    struct orr_run *run = NULL;
    struct cli_warnings warnings = {0};
    command->run.workload = command->files[0];
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
    enum orr_status status = cli_options_parse(self, argc, argv, &command.input, &err);
    if (status == ORR_OK && command.input.help) {
        cli_print_help(self, argv[0], stdout);
        return 0;
    }
    if (status == ORR_OK) {
        status = check(&command, &err);
    }
    if (status == ORR_OK) {
        status = simulates(&command) ? simulate(&command, &err)
                                     : orr_trace_timeline((const char *const *)command.files,
                                                          (size_t)command.file_count, command.output, &err);
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
    .argp = &timeline_argp,
    .run = run_timeline,
};
