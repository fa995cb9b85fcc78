/* SPDX-License-Identifier: Apache-2.0 */
/* `orrery trace merge`: several traces of one rank in one. */
#include "cli/trace.h"

enum { KEY_PARALLEL = 256, KEY_STRICT, KEY_LIMIT };

struct merge_options {
    struct cli_input input;
    const char *output;
    bool parallel, strict;
    uint64_t memory_limit;
    int file_count;
    char **files;
    struct cli_warnings warnings;
};

static const struct argp_option table[] = {
    {"output", 'o', "OUT", 0, "The file to write. Required; missing folders are made", 0},
    {"parallel", KEY_PARALLEL, NULL, 0, "Side by side, without waiting for each other. Default: one after the other",
     0},
    {"strict", KEY_STRICT, NULL, 0, CLI_STRICT_HELP, 0},
    {"memory-limit", KEY_LIMIT, "SIZE", 0, CLI_LIMIT_HELP, 0},
    CLI_HELP_OPTION,
    {0},
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct merge_options *options = state->input;
    switch (key) {
    case 'o':
        options->output = arg;
        return 0;
    case KEY_PARALLEL:
        options->parallel = true;
        return 0;
    case KEY_STRICT:
        options->strict = true;
        return 0;
    case KEY_LIMIT:
        return cli_options_status(
            cli_parse_limit("--memory-limit", arg, &options->memory_limit, &options->input.error));
    case ARGP_KEY_ARGS:
        options->files = state->argv + state->next;
        options->file_count = state->argc - state->next;
        return 0;
    case ARGP_KEY_ARG:
        return ARGP_ERR_UNKNOWN; /* makes argp ask with ARGP_KEY_ARGS */
    default:
        return cli_options_default(key, arg, state);
    }
}

static enum orr_status check(const struct merge_options *options, struct orr_error *err)
{
    if (options->file_count < 1) {
        return error_set(err, ORR_EINVAL, "no file given; orrery trace merge needs one or more .et files");
    }
    if (options->output == NULL || options->output[0] == '\0') {
        return error_set(err, ORR_EINVAL, "missing -o OUT (where to write)");
    }
    for (int i = 0; i < options->file_count; i++) {
        if (cli_same_file(options->output, options->files[i])) {
            return error_set(err, ORR_EINVAL, "-o would replace the input %s", options->files[i]);
        }
    }
    return cli_check_name("-o", options->output, err);
}

static int run(const struct cli_command *self, int argc, char **argv)
{
    struct merge_options options = {0};
    struct orr_error err = {0};
    enum orr_status status = cli_options_parse(self, argc, argv, &options.input, &err);
    if (status == ORR_OK && options.input.help) {
        cli_print_help(self, argv[0], stdout);
        return 0;
    }
    status = status != ORR_OK ? status : check(&options, &err);
    status = status != ORR_OK ? status : cli_limit_default(&options.memory_limit, &err);
    if (status == ORR_OK) {
        struct orr_notices notices = cli_notices(&options.warnings, options.strict);
        status = orr_trace_merge((const char *const *)options.files, (size_t)options.file_count, options.output,
                                 options.parallel, options.memory_limit, &notices, stdout, &err);
        cli_warnings_end(&options.warnings);
    }
    return cli_end(status, &err);
}

static const struct argp argp = {
    .options = table,
    .parser = parse,
    .args_doc = "FILE... -o OUT",
    .doc = "Make one Chakra ET file of several of the same rank: each starts when the one before has ended, or all "
           "start at once (--parallel). The first keeps its ids, the others get ids above.\v"
           "Examples:\n  orrery trace merge warmup.0.et step.0.et step.0.et -o job.0.et\n"
           "  orrery trace merge --parallel a.0.et b.0.et -o both.0.et\n",
};

const struct cli_command cli_trace_merge = {
    .name = "merge", .summary = "several traces of one rank in one", .argp = &argp, .run = run};
