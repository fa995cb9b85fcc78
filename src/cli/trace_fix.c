/* SPDX-License-Identifier: Apache-2.0 */
/* `orrery trace fix`: make traces fit to run. */
#include "cli/trace_edit.h"

#include "cli/trace.h"

enum { KEY_CPU = 256, KEY_UNKNOWN_SIZE, KEY_RENUMBER };

struct fix_options {
    struct cli_edit edit;
    struct orr_fix_options fix;
};

static const struct argp_option table[] = {
    {"cpu", KEY_CPU, "keep|drop|merge", 0,
     "CPU compute nodes. drop: they go with their time, and what waited for them waits for what they waited for; "
     "merge: rows of them become one node each that lasts as long as they did. Default: keep",
     0},
    {"unknown-size", KEY_UNKNOWN_SIZE, "BYTES", 0,
     "Size of communication and memory nodes that have none: 64KiB, 1MB, bytes. Without this it is an error", 0},
    {"renumber", KEY_RENUMBER, NULL, 0, "Give nodes whose id is used before new ids. Without this it is an error", 0},
    CLI_EDIT_OPTIONS,
};

static const char *const cpu_words[] = {"keep", "drop", "merge", NULL};

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct fix_options *options = state->input;
    struct orr_error *err = &options->edit.input.error;
    unsigned index = 0;
    enum orr_status status = ORR_OK;
    switch (key) {
    case KEY_CPU:
        status = param_parse_word("--cpu", arg, cpu_words, &index, err);
        options->fix.cpu = (enum orr_fix_cpu)index;
        return cli_options_status(status);
    case KEY_UNKNOWN_SIZE:
        options->fix.has_unknown_size = true;
        return cli_options_status(param_parse_size("--unknown-size", arg, &options->fix.unknown_size, err));
    case KEY_RENUMBER:
        options->fix.renumber = true;
        return 0;
    default:
        return cli_edit_parse(key, arg, state);
    }
}

static int run(const struct cli_command *self, int argc, char **argv)
{
    struct fix_options options = {0};
    struct orr_error err = {0};
    int exit_code = 0;
    if (!cli_edit_begin(self, argc, argv, &options.edit, &exit_code)) {
        return exit_code;
    }
    struct orr_notices notices = cli_edit_notices(&options.edit);
    options.fix.memory_limit = options.edit.memory_limit;
    enum orr_status status =
        orr_trace_fix(options.edit.edits, (size_t)options.edit.file_count, &options.fix, &notices, stdout, &err);
    return cli_edit_end(&options.edit, status, &err);
}

static const struct argp argp = {
    .options = table,
    .parser = parse,
    .args_doc = "FILE... -o OUT",
    .doc = "Repair Chakra ET files until `orrery trace check` finds nothing: dependencies on the node itself, on "
           "missing nodes and in cycles, nodes that cannot run, attributes that are missing or of the wrong kind. "
           "Removed nodes are bypassed, so that order survives. Prints a table of what was done.\v"
           "Exit code: 0 when all files are fit to run now, 2 when one cannot be repaired, or with --strict when "
           "anything was found.\n\n"
           "Examples:\n  orrery trace fix broken.0.et -o fixed.0.et\n"
           "  orrery trace fix traces/job.*.et -o fixed/job\n"
           "  orrery trace fix --dry-run --cpu drop traces/*.et\n"
           "  orrery trace fix --in-place --unknown-size 1MiB job.0.et\n",
};

const struct cli_command cli_trace_fix = {
    .name = "fix", .summary = "repair a trace until it runs", .argp = &argp, .run = run};
