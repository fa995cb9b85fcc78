/* SPDX-License-Identifier: Apache-2.0 */
/* `orrery trace scale`: more or less work by an exact factor. */
#include "cli/trace_edit.h"

#include "cli/trace.h"

struct scale_options {
    struct cli_edit edit;
    struct orr_scale_options scale;
};

#define AT(field) .place = offsetof(struct scale_options, scale.field)

static const struct param rows[] = {
    {"compute", .kind = PARAM_TEXT, .value = "P/Q", AT(compute),
     .help = "Multiply the durations (us) of compute nodes, and their num_ops, compute_cycles and runtime: 2, 1.5, "
             "127/64"},
    {"comm", .kind = PARAM_TEXT, .value = "P/Q", AT(comm), .help = "Multiply the bytes of communication nodes"},
    {"match", .kind = PARAM_TEXT, .value = "PATTERN", AT(match),
     .help = "Only nodes of such names: a shell pattern (nccl*), or /REGEX/ (POSIX extended) found anywhere in it",
     .unwritten = "all"},
    {0},
};

static const struct param_table tables[] = {
    {rows, 0, 0}, {cli_edit_rows, 0, offsetof(struct scale_options, edit)}, {0}};

static int run_scale(const struct cli_command *self, int argc, char **argv)
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
                              : orr_trace_scale(options.edit.edits, options.edit.files.count, &options.scale, &notices,
                                                stdout, &err);
    return cli_edit_end(&options.edit, status, &err);
}

static const struct cli_usage usage = {
    .tables = tables,
    .forms = "--compute P/Q FILE... -o OUT\n--comm P/Q FILE... -o OUT",
    .about = "Multiply the work in Chakra ET files by exact fractions. The remainder of rounding a duration is carried "
             "over to the next node, so that sums are right to 1 us; sizes are rounded to the nearest byte, with a "
             "warning where that was needed.",
    .examples = "  orrery trace scale --comm 127/64 traces/job.*.et -o scaled/job\n"
                "  orrery trace scale --compute 1.5 --match 'aten::conv*' job.0.et -o slow.0.et\n",
    .words = offsetof(struct scale_options, edit.files),
};

const struct cli_command cli_trace_scale = {
    .name = "scale", .summary = "multiply compute or communication", .usage = &usage, .run = run_scale};
