/* SPDX-License-Identifier: Apache-2.0 */
/* `orrery trace rewrite`: other collectives, sizes, groups. */
#include "cli/trace_edit.h"

#include "cli/trace.h"

struct rewrite_options {
    struct cli_edit edit;
    struct orr_rewrite_options rewrite;
};

#define AT(field) .place = offsetof(struct rewrite_options, rewrite.field)

static const struct param rows[] = {
    {"match", .kind = PARAM_TEXT, .value = "PATTERN", AT(match),
     .help = "Only communication nodes of such names: a shell pattern (nccl*), or /REGEX/ (POSIX extended) found "
             "anywhere in it",
     .unwritten = "all"},
    {"from-type", .kind = PARAM_TEXT, .value = "TYPE", AT(from_type), .help = "Only collectives of this type"},
    {"type", .kind = PARAM_TEXT, .value = "TYPE", AT(type),
     .help = "Make them collectives of this type: all-reduce, all-gather, reduce-scatter, all-to-all, broadcast, "
             "reduce, gather, scatter, barrier"},
    {"bytes", .kind = PARAM_SIZE, .value = "SIZE", AT(bytes),
     .given = offsetof(struct rewrite_options, rewrite.set_bytes), .help = "Give them this size: 64KiB, 1MB, bytes"},
    {"set-group", .kind = PARAM_TEXT, .value = "NAME", AT(group),
     .help = "Give them this group (pg_name); empty: none, which means all ranks"},
    {0},
};

static const struct param_table tables[] = {
    {rows, 0, 0}, {cli_edit_rows, 0, offsetof(struct rewrite_options, edit)}, {0}};

static int run_rewrite(const struct cli_command *self, int argc, char **argv)
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
                              : orr_trace_rewrite(options.edit.edits, options.edit.files.count, &options.rewrite,
                                                  &notices, stdout, &err);
    return cli_edit_end(&options.edit, status, &err);
}

static const char *const headings[PARAM_GROUPS] = {[PARAM_WHAT] = "Which, and what they become:"};

static const struct cli_usage usage = {
    .tables = tables,
    .forms = "FILE... -o OUT",
    .about = "Change the type, size or group of communication nodes in Chakra ET files. Every kind of integer "
             "attribute is read and keeps its kind; one too small for its new value becomes the 64-bit kind.",
    .examples = "  orrery trace rewrite --type all-to-all --bytes 1GiB job.*.et -o a2a/job\n"
                "  orrery trace rewrite --match '/all.?reduce/' --from-type all-reduce \\\n"
                "      --type reduce-scatter job.0.et -o rs.0.et\n",
    .headings = headings,
    .words = offsetof(struct rewrite_options, edit.files),
};

const struct cli_command cli_trace_rewrite = {
    .name = "rewrite", .summary = "change type, size or group of communication", .usage = &usage, .run = run_rewrite};
