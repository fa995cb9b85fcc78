/* SPDX-License-Identifier: Apache-2.0 */
/* `orrery trace cut`: some of a trace's steps. */
#include "cli/trace_edit.h"

#include <string.h>

#include "cli/trace.h"

struct cut_options {
    struct cli_edit edit;
    bool has_step;
    uint64_t first, last;
};

/* One step, or the first and the last of several. */
static enum orr_status cli_trace_cut_read_steps(const struct param *row, const char *text, void *into,
                                                struct orr_error *err)
{
    struct cut_options *options = into;
    static const char where[] = "parameter 'step'";
    char first[40];
    const char *dash = strchr(text, '-');
    (void)row;
    (void)snprintf(first, sizeof first, "%.*s", (int)strcspn(text, "-"), text);
    enum orr_status status = param_parse_count(where, first, 0, INT64_MAX, &options->first, err);
    options->last = options->first;
    if (status == ORR_OK && dash != NULL) {
        status = param_parse_count(where, dash + 1, 0, INT64_MAX, &options->last, err);
    }
    if (status == ORR_OK && options->last < options->first) {
        status = error_set(err, ORR_ERANGE, "%s: %s ends before it begins", where, text);
    }
    return status;
}

static const struct param rows[] = {
    {"step", .kind = PARAM_READ, .value = "K[-L]", .given = offsetof(struct cut_options, has_step),
     .read = cli_trace_cut_read_steps, .help = "Required: keep the nodes of step K, or of steps K to L"},
    {0},
};

static const struct param_table tables[] = {{rows, 0, 0}, {cli_edit_rows, 0, offsetof(struct cut_options, edit)}, {0}};

static int run_cut(const struct cli_command *self, int argc, char **argv)
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
    status = status != ORR_OK ? status
                              : orr_trace_cut(options.edit.edits, options.edit.files.count, (int64_t)options.first,
                                              (int64_t)options.last, options.edit.memory_limit, &notices, stdout, &err);
    return cli_edit_end(&options.edit, status, &err);
}

static const struct cli_usage usage = {
    .tables = tables,
    .forms = "--step K[-L] FILE... -o OUT",
    .about = "Cut training steps out of Chakra ET files. A node's step is its attribute \"step\", or the "
             "ProfilerStep#N it starts in. Dependencies on removed nodes are replaced by what those waited for; start "
             "times begin at 0.",
    .examples = "  orrery trace cut --step 1 job.0.et -o step1.0.et\n"
                "  orrery trace cut --step 1-3 traces/job.*.et -o steps/job\n",
    .words = offsetof(struct cut_options, edit.files),
};

const struct cli_command cli_trace_cut = {
    .name = "cut", .summary = "keep some of a trace's steps", .usage = &usage, .run = run_cut};
