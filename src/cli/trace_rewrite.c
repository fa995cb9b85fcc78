/* SPDX-License-Identifier: Apache-2.0 */
/* `orrery trace rewrite`: other collectives, sizes, groups. */
#include "cli/trace_edit.h"

#include "cli/trace.h"

enum { KEY_MATCH = 256, KEY_FROM_TYPE, KEY_TYPE, KEY_BYTES, KEY_GROUP };

struct rewrite_options {
    struct cli_edit edit;
    struct orr_rewrite_options rewrite;
};

static const struct argp_option table[] = {
    {"match", KEY_MATCH, "PATTERN", 0,
     "Only communication nodes of such names: a shell pattern (nccl*), or /REGEX/ (POSIX extended) found anywhere in "
     "it. Default: all",
     0},
    {"from-type", KEY_FROM_TYPE, "TYPE", 0, "Only collectives of this type", 0},
    {"type", KEY_TYPE, "TYPE", 0,
     "Make them collectives of this type: all-reduce, all-gather, reduce-scatter, "
     "all-to-all, broadcast, reduce, gather, scatter, barrier",
     0},
    {"bytes", KEY_BYTES, "SIZE", 0, "Give them this size: 64KiB, 1MB, bytes", 0},
    {"set-group", KEY_GROUP, "NAME", 0, "Give them this group (pg_name); empty: none, which means all ranks", 0},
    CLI_EDIT_OPTIONS,
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct rewrite_options *options = state->input;
    switch (key) {
    case KEY_MATCH:
        options->rewrite.match = arg;
        return 0;
    case KEY_FROM_TYPE:
        options->rewrite.from_type = arg;
        return 0;
    case KEY_TYPE:
        options->rewrite.type = arg;
        return 0;
    case KEY_BYTES:
        options->rewrite.set_bytes = true;
        return cli_options_status(
            param_parse_size("--bytes", arg, &options->rewrite.bytes, &options->edit.input.error));
    case KEY_GROUP:
        options->rewrite.group = arg;
        return 0;
    default:
        return cli_edit_parse(key, arg, state);
    }
}

static int run(const struct cli_command *self, int argc, char **argv)
{
    struct rewrite_options options = {0};
    struct orr_error err = {0};
    int exit_code = 0;
    if (!cli_edit_begin(self, argc, argv, &options.edit, &exit_code)) {
        return exit_code;
    }
    struct orr_notices notices = cli_edit_notices(&options.edit);
    options.rewrite.memory_limit = options.edit.memory_limit;
    enum orr_status status = ORR_OK;
    if (options.rewrite.type == NULL && !options.rewrite.set_bytes && options.rewrite.group == NULL) {
        status = error_set(&err, ORR_EINVAL, "nothing to rewrite; give --type, --bytes or --set-group");
    }
    status = status != ORR_OK ? status
                              : orr_trace_rewrite(options.edit.edits, (size_t)options.edit.file_count, &options.rewrite,
                                                  &notices, stdout, &err);
    return cli_edit_end(&options.edit, status, &err);
}

static const struct argp argp = {
    .options = table,
    .parser = parse,
    .args_doc = "FILE... -o OUT",
    .doc = "Change the type, size or group of communication nodes in Chakra ET files. Every kind of integer attribute "
           "is read and keeps its kind; one too small for its new value becomes the 64-bit kind.\v"
           "Examples:\n  orrery trace rewrite --type all-to-all --bytes 1GiB job.*.et -o a2a/job\n"
           "  orrery trace rewrite --match '/all.?reduce/' --from-type all-reduce \\\n"
           "      --type reduce-scatter job.0.et -o rs.0.et\n",
};

const struct cli_command cli_trace_rewrite = {
    .name = "rewrite", .summary = "change type, size or group of communication", .argp = &argp, .run = run};
