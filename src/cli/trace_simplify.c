/* SPDX-License-Identifier: Apache-2.0 */
/* `orrery trace simplify`: smaller traces, and what the difference costs. */
#include "cli/trace_edit.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/trace.h"

struct simplify_options {
    struct cli_edit edit;
    enum orr_simplify level;
    bool has_level, measure;
    struct orr_run_options machine;
};

static const char *const level_words[] = {"comm", "step", "merge", NULL};

static const struct param rows[] = {
    {"level", .kind = PARAM_WORD, .value = "LEVEL", .place = offsetof(struct simplify_options, level),
     .given = offsetof(struct simplify_options, has_level), .words = level_words, .first = ORR_SIMPLIFY_COMM,
     .help = "Required, what is left. comm: communication only, order kept; step: one node for each kind of work in "
             "each step; merge: rows of compute on one stream become one node"},
    {"measure", .kind = PARAM_FLAG, .place = offsetof(struct simplify_options, measure),
     .help = "Simulate the traces before and after and print both times. Needs parameter 'system', parameter "
             "'network' and the traces of all ranks"},
    {0},
};

static const struct param_table tables[] = {{rows, 0, 0},
                                            {param_run, PARAM_OF_TRACE, offsetof(struct simplify_options, machine)},
                                            {cli_edit_rows, 0, offsetof(struct simplify_options, edit)},
                                            {0}};

/* PREFIX of PREFIX.R.et; NULL for any other name. The caller frees it. */
static char *cli_trace_simplify_prefix_of(const char *path)
{
    size_t length = strlen(path);
    if (length < 6 || strcmp(path + length - 3, ".et") != 0) {
        return NULL;
    }
    size_t at = length - 3;
    while (at > 0 && path[at - 1] >= '0' && path[at - 1] <= '9') {
        at--;
    }
    return at > 1 && at < length - 3 && path[at - 1] == '.' ? strndup(path, at - 1) : NULL;
}

static enum orr_status cli_trace_simplify_measure(struct simplify_options *options, const struct orr_notices *notices,
                                                  struct orr_error *err)
{
    const struct orr_edit *first = &options->edit.edits[0];
    char *before = cli_trace_simplify_prefix_of(first->input);
    char *after = cli_trace_simplify_prefix_of(first->output);
    enum orr_status status = ORR_OK;
    if (before == NULL || after == NULL) {
        status = error_set(err, ORR_EINVAL,
                           "--measure needs inputs and outputs named PREFIX.R.et, for all ranks R; %s -> %s is not",
                           first->input, first->output);
    }
    status = status != ORR_OK ? status : orr_trace_measure(before, after, &options->machine, notices, stdout, err);
    free(before);
    free(after);
    return status;
}

static enum orr_status cli_trace_simplify_check(const struct simplify_options *options, struct orr_error *err)
{
    bool machine = options->machine.system != NULL && options->machine.network != NULL;
    if (!options->has_level) {
        return error_set(err, ORR_EINVAL, "missing --level comm, step or merge");
    }
    const struct orr_run_options *of = &options->machine;
    bool named =
        of->system != NULL || of->network != NULL || of->logical != NULL || of->memory != NULL || of->groups != NULL;
    if (!options->measure && (named || !of->backend_open)) {
        return error_set(err, ORR_EINVAL, "a machine is for --measure; give that too");
    }
    for (size_t i = 0; options->measure && i < options->edit.files.count; i++) {
        const char *output = options->edit.edits[i].output;
        if (cli_same_file(output, of->system) || cli_same_file(output, of->network) ||
            cli_same_file(output, of->logical) || cli_same_file(output, of->memory) ||
            cli_same_file(output, of->groups)) {
            return error_set(err, ORR_EINVAL, "-o would replace a file of the machine: %s", output);
        }
    }
    if (options->measure && !machine) {
        return error_set(err, ORR_EINVAL, "--measure needs --system FILE and --network FILE");
    }
    if (options->measure && options->edit.output == NULL) {
        return error_set(err, ORR_EINVAL, "--measure compares two sets of traces; write the new one with -o");
    }
    if (options->measure && options->edit.dry_run) {
        return error_set(err, ORR_EINVAL, "--measure simulates what was written; --dry-run writes nothing");
    }
    return ORR_OK;
}

static int run_simplify(const struct cli_command *self, int argc, char **argv)
{
    struct simplify_options options = {0};
    orr_run_options_init(&options.machine);
    struct orr_error err = {0};
    int exit_code = 0;
    if (!cli_edit_begin(self, argc, argv, &options.edit, &exit_code)) {
        return exit_code;
    }
    struct orr_notices notices = cli_edit_notices(&options.edit);
    options.machine.memory_limit = options.edit.memory_limit;
    enum orr_status status = cli_trace_simplify_check(&options, &err);
    status = status != ORR_OK ? status
                              : orr_trace_simplify(options.edit.edits, options.edit.files.count, options.level,
                                                   options.edit.memory_limit, &notices, stdout, &err);
    if (status == ORR_OK && options.measure) {
        status = cli_trace_simplify_measure(&options, &notices, &err);
    }
    return cli_edit_end(&options.edit, status, &err);
}

static const char *const headings[PARAM_GROUPS] = {
    [PARAM_WHAT] = "What to do, and the machine of --measure:", [PARAM_NETWORK] = "Its network:"};

static const struct cli_usage usage = {
    .tables = tables,
    .forms = "--level LEVEL FILE... -o OUT",
    .about = "Make Chakra ET files smaller. Everything but communication is removed with its time (comm), or only rows "
             "of compute are merged (merge), or each training step becomes a handful of nodes (step).",
    .examples = "  orrery trace simplify --level merge traces/job.*.et -o small/job\n"
                "  orrery trace simplify --level step --measure -s system.json -n network.yml \\\n"
                "      traces/job.*.et -o small/job\n",
    .headings = headings,
    .words = offsetof(struct simplify_options, edit.files),
};

const struct cli_command cli_trace_simplify = {
    .name = "simplify", .summary = "make a trace smaller, and measure the error", .usage = &usage, .run = run_simplify};
