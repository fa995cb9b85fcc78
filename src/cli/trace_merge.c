/* SPDX-License-Identifier: Apache-2.0 */
/* `orrery trace merge`: several traces of one rank in one. */
#include "cli/trace.h"

struct merge_options {
    const char *output;
    bool concurrent, strict;
    uint64_t memory_limit;
    struct cli_words files;
    struct cli_warnings warnings;
};

static const struct param rows[] = {
    {"concurrent", "parallel", .kind = PARAM_FLAG, .place = offsetof(struct merge_options, concurrent),
     .help = "Side by side, without waiting for each other", .unwritten = "one after the other"},
    {"output", .letter = 'o', .kind = PARAM_PATH, .group = PARAM_OUTPUT, .value = "OUT",
     .place = offsetof(struct merge_options, output), .help = "Required: the file to write. Missing folders are made"},
    CLI_ROW_STRICT(struct merge_options, strict),
    CLI_ROW_LIMIT(struct merge_options, memory_limit),
    {0},
};

static const struct param_table tables[] = {{rows, 0, 0}, {0}};

static enum orr_status cli_trace_merge_check(const struct merge_options *options, struct orr_error *err)
{
    if (options->files.count < 1) {
        return error_set(err, ORR_EINVAL, "no file given; orrery trace merge needs one or more .et files");
    }
    if (options->output == NULL || options->output[0] == '\0') {
        return error_set(err, ORR_EINVAL, "missing -o OUT (where to write)");
    }
    for (size_t i = 0; i < options->files.count; i++) {
        if (cli_same_file(options->output, options->files.list[i])) {
            return error_set(err, ORR_EINVAL, "-o would replace the input %s", options->files.list[i]);
        }
    }
    return cli_check_name("-o", options->output, err);
}

static int run_merge(const struct cli_command *self, int argc, char **argv)
{
    struct merge_options options = {0};
    struct orr_error err = {0};
    int exit_code = 0;
    if (!cli_begin(self, argc, argv, &options, &exit_code)) {
        return exit_code;
    }
    enum orr_status status = cli_trace_merge_check(&options, &err);
    status = status != ORR_OK ? status : cli_limit_default(&options.memory_limit, &err);
    if (status == ORR_OK) {
        struct orr_notices notices = cli_notices(&options.warnings, options.strict);
        status = orr_trace_merge((const char *const *)options.files.list, options.files.count, options.output,
                                 options.concurrent, options.memory_limit, &notices, stdout, &err);
        cli_warnings_end(&options.warnings);
    }
    return cli_end(status, &err);
}

static const struct cli_usage usage = {
    .tables = tables,
    .forms = "FILE... -o OUT",
    .about = "Make one Chakra ET file of several of the same rank: each starts when the one before has ended, or all "
             "start at once (--concurrent). The first keeps its ids, the others get ids above.",
    .examples = "  orrery trace merge warmup.0.et step.0.et step.0.et -o job.0.et\n"
                "  orrery trace merge --concurrent a.0.et b.0.et -o both.0.et\n",
    .words = offsetof(struct merge_options, files),
};

const struct cli_command cli_trace_merge = {
    .name = "merge", .summary = "several traces of one rank in one", .usage = &usage, .run = run_merge};
