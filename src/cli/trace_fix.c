/* SPDX-License-Identifier: Apache-2.0 */
/* `orrery trace fix`: make traces fit to run. */
#include "cli/trace_edit.h"

#include "cli/trace.h"

struct fix_options {
    struct cli_edit edit;
    struct orr_fix_options fix;
};

static const char *const cpu_words[] = {"keep", "drop", "merge", NULL};

static const struct param rows[] = {
    {"cpu", .kind = PARAM_WORD, .value = "keep|drop|merge", .place = offsetof(struct fix_options, fix.cpu),
     .words = cpu_words, .first = ORR_FIX_CPU_KEEP, .initial = "keep",
     .help = "CPU compute nodes. drop: they go with their time, and what waited for them waits for what they waited "
             "for; merge: rows of them become one node each that lasts as long as they did"},
    CLI_ROW_UNKNOWN_SIZE(struct fix_options, fix,
                         "Size of communication and memory nodes that have none: 64KiB, 1MB, bytes. Without this it "
                         "is an error"),
    {"renumber", .kind = PARAM_FLAG, .place = offsetof(struct fix_options, fix.renumber),
     .help = "Give nodes whose id is used before new ids. Without this it is an error"},
    {0},
};

static const struct param_table tables[] = {{rows, 0, 0}, {cli_edit_rows, 0, offsetof(struct fix_options, edit)}, {0}};

static int run_fix(const struct cli_command *self, int argc, char **argv)
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
        orr_trace_fix(options.edit.edits, options.edit.files.count, &options.fix, &notices, stdout, &err);
    return cli_edit_end(&options.edit, status, &err);
}

static const struct cli_usage usage = {
    .tables = tables,
    .forms = "FILE... -o OUT",
    .about = "Repair Chakra ET files until `orrery trace check` finds nothing: dependencies on the node itself, on "
             "missing nodes and in cycles, nodes that cannot run, attributes that are missing or of the wrong kind. "
             "Removed nodes are bypassed, so that the order is preserved. Prints a table of what was done.",
    .examples = "  orrery trace fix broken.0.et -o fixed.0.et\n"
                "  orrery trace fix traces/job.*.et -o fixed/job\n"
                "  orrery trace fix --dry-run --cpu drop traces/*.et\n"
                "  orrery trace fix --in-place --unknown-size 1MiB job.0.et\n",
    .ending = "Exit code: 0 when all files are fit to run now, 2 when one cannot be repaired, or with --strict when "
              "anything was found.",
    .words = offsetof(struct fix_options, edit.files),
};

const struct cli_command cli_trace_fix = {
    .name = "fix", .summary = "repair a trace until it runs", .usage = &usage, .run = run_fix};
