/* SPDX-License-Identifier: Apache-2.0 */
/* `orrery trace cut`: some of a trace's steps. */
#include "cli/trace_edit.h"

#include <string.h>

#include "cli/trace.h"

enum { KEY_STEP = 256 };

struct cut_options {
    struct cli_edit edit;
    bool has_step;
    uint64_t first, last;
};

static const struct argp_option table[] = {
    {"step", KEY_STEP, "K[-L]", 0, "Keep the nodes of step K, or of steps K to L. Required", 0},
    CLI_EDIT_OPTIONS,
};

static enum orr_status parse_steps(struct cut_options *options, char *arg)
{
    struct orr_error *err = &options->edit.input.error;
    char *dash = strchr(arg, '-');
    options->has_step = true;
    if (dash == NULL) {
        enum orr_status status = param_parse_count("--step", arg, 0, INT64_MAX, &options->first, err);
        options->last = options->first;
        return status;
    }
    *dash = '\0';
    enum orr_status status = param_parse_count("--step", arg, 0, INT64_MAX, &options->first, err);
    *dash = '-';
    status = status != ORR_OK ? status : param_parse_count("--step", dash + 1, 0, INT64_MAX, &options->last, err);
    if (status == ORR_OK && options->last < options->first) {
        status = error_set(err, ORR_ERANGE, "--step: %s ends before it begins", arg);
    }
    return status;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct cut_options *options = state->input;
    return key == KEY_STEP ? cli_options_status(parse_steps(options, arg)) : cli_edit_parse(key, arg, state);
}

static int run(const struct cli_command *self, int argc, char **argv)
{
    struct cut_options options = {0};
    struct orr_error err = {0};
    int exit_code = 0;
    if (!cli_edit_begin(self, argc, argv, &options.edit, &exit_code)) {
        return exit_code;
    }
    struct orr_notices notices = cli_edit_notices(&options.edit);
    enum orr_status status = ORR_OK;
    if (!options.has_step) {
        status = error_set(&err, ORR_EINVAL, "missing --step K[-L] (the steps to keep)");
    }
    status = status != ORR_OK
                 ? status
                 : orr_trace_cut(options.edit.edits, (size_t)options.edit.file_count, (int64_t)options.first,
                                 (int64_t)options.last, options.edit.memory_limit, &notices, stdout, &err);
    return cli_edit_end(&options.edit, status, &err);
}

static const struct argp argp = {
    .options = table,
    .parser = parse,
    .args_doc = "--step K[-L] FILE... -o OUT",
    .doc = "Cut training steps out of Chakra ET files. A node's step is its attribute \"step\", or the ProfilerStep#N "
           "it starts in. Dependencies on what was cut lead to what that waited for; start times begin at 0.\v"
           "Examples:\n  orrery trace cut --step 1 job.0.et -o step1.0.et\n"
           "  orrery trace cut --step 1-3 traces/job.*.et -o steps/job\n",
};

const struct cli_command cli_trace_cut = {
    .name = "cut", .summary = "keep some of a trace's steps", .argp = &argp, .run = run};
