/* SPDX-License-Identifier: Apache-2.0 */
/* `orrery trace scale`: more or less work by an exact factor. */
#include "cli/trace_edit.h"

#include "cli/trace.h"

enum { KEY_COMPUTE = 256, KEY_COMM, KEY_MATCH };

struct scale_options {
    struct cli_edit edit;
    struct orr_scale_options scale;
};

static const struct argp_option table[] = {
    {"compute", KEY_COMPUTE, "P/Q", 0,
     "Multiply the durations (us) of compute nodes, and their num_ops, compute_cycles and runtime: 2, 1.5, 127/64", 0},
    {"comm", KEY_COMM, "P/Q", 0, "Multiply the bytes of communication nodes", 0},
    {"match", KEY_MATCH, "PATTERN", 0,
     "Only nodes of such names: a shell pattern (nccl*), or /REGEX/ (POSIX extended) found anywhere in it. Default: "
     "all",
     0},
    CLI_EDIT_OPTIONS,
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct scale_options *options = state->input;
    switch (key) {
    case KEY_COMPUTE:
        options->scale.compute = arg;
        return 0;
    case KEY_COMM:
        options->scale.comm = arg;
        return 0;
    case KEY_MATCH:
        options->scale.match = arg;
        return 0;
    default:
        return cli_edit_parse(key, arg, state);
    }
}

static int run(const struct cli_command *self, int argc, char **argv)
{
    struct scale_options options = {0};
    struct orr_error err = {0};
    int exit_code = 0;
    if (!cli_edit_begin(self, argc, argv, &options.edit, &exit_code)) {
        return exit_code;
    }
    struct orr_notices notices = cli_edit_notices(&options.edit);
    options.scale.memory_limit = options.edit.memory_limit;
    enum orr_status status = ORR_OK;
    if (options.scale.compute == NULL && options.scale.comm == NULL) {
        status = error_set(&err, ORR_EINVAL, "nothing to scale; give --compute P/Q, --comm P/Q or both");
    }
    status = status != ORR_OK ? status
                              : orr_trace_scale(options.edit.edits, (size_t)options.edit.file_count, &options.scale,
                                                &notices, stdout, &err);
    return cli_edit_end(&options.edit, status, &err);
}

static const struct argp argp = {
    .options = table,
    .parser = parse,
    .args_doc = "--compute P/Q FILE... -o OUT\n--comm P/Q FILE... -o OUT",
    .doc = "Multiply the work in Chakra ET files by exact fractions. What rounding leaves of a duration is carried to "
           "the next node, so that their sum is right to 1 us; sizes are rounded to the nearest byte, with a warning "
           "where that was needed.\v"
           "Examples:\n  orrery trace scale --comm 127/64 traces/job.*.et -o scaled/job\n"
           "  orrery trace scale --compute 1.5 --match 'aten::conv*' job.0.et -o slow.0.et\n",
};

const struct cli_command cli_trace_scale = {
    .name = "scale", .summary = "multiply compute or communication", .argp = &argp, .run = run};
