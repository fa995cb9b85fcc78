/* SPDX-License-Identifier: Apache-2.0 */
/* `orrery trace simplify`: smaller traces, and what the difference costs. */
#include "cli/trace_edit.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/trace.h"

enum { KEY_LEVEL = 256, KEY_MEASURE, KEY_MEMORY, KEY_GROUPS, KEY_BACKEND };

struct simplify_options {
    struct cli_edit edit;
    enum orr_simplify level;
    bool has_level, has_backend, measure;
    struct orr_run_options machine;
};

static const struct argp_option table[] = {
    {"level", KEY_LEVEL, "LEVEL", 0,
     "comm: communication only, order kept; step: one node for each kind of work in each step; merge: rows of compute "
     "on one stream become one node. Required",
     0},
    {"measure", KEY_MEASURE, NULL, 0,
     "Simulate the traces before and after and print both times. Needs --system, "
     "--network and the traces of all ranks",
     0},
    {"system", 's', "FILE", 0, "--measure: system file (JSON)", 0},
    {"network", 'n', "FILE", 0, "--measure: network file (YAML)", 0},
    {"memory", KEY_MEMORY, "FILE", 0, "--measure: remote memory file (JSON). Default: no remote memory", 0},
    {"groups", KEY_GROUPS, "FILE", 0, "--measure: communicator groups file (JSON). Default: none", 0},
    {"backend", KEY_BACKEND, "NAME", 0, "--measure: network model, unaware (of congestion; default) or aware", 0},
    CLI_EDIT_OPTIONS,
};

static const char *const level_words[] = {"comm", "step", "merge", NULL};
static const char *const backend_words[] = {"unaware", "aware", NULL};

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct simplify_options *options = state->input;
    struct orr_error *err = &options->edit.input.error;
    unsigned index = 0;
    enum orr_status status = ORR_OK;
    switch (key) {
    case KEY_LEVEL:
        status = param_parse_word("--level", arg, level_words, &index, err);
        options->level = (enum orr_simplify)index;
        options->has_level = true;
        return cli_options_status(status);
    case KEY_MEASURE:
        options->measure = true;
        return 0;
    case 's':
        options->machine.system = arg;
        return 0;
    case 'n':
        options->machine.network = arg;
        return 0;
    case KEY_MEMORY:
        options->machine.memory = arg;
        return 0;
    case KEY_GROUPS:
        options->machine.groups = arg;
        return 0;
    case KEY_BACKEND:
        status = param_parse_word("--backend", arg, backend_words, &index, err);
        options->has_backend = true;
        options->machine.backend = index == 0 ? ORR_BACKEND_UNAWARE : ORR_BACKEND_AWARE;
        return cli_options_status(status);
    default:
        return cli_edit_parse(key, arg, state);
    }
}

/* PREFIX of PREFIX.R.et; NULL for any other name. The caller frees it. */
static char *prefix_of(const char *path)
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

static enum orr_status measure(struct simplify_options *options, const struct orr_notices *notices,
                               struct orr_error *err)
{
    const struct orr_edit *first = &options->edit.edits[0];
    char *before = prefix_of(first->input);
    char *after = prefix_of(first->output);
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

static enum orr_status check(const struct simplify_options *options, struct orr_error *err)
{
    bool machine = options->machine.system != NULL && options->machine.network != NULL;
    if (!options->has_level) {
        return error_set(err, ORR_EINVAL, "missing --level comm, step or merge");
    }
    const struct orr_run_options *of = &options->machine;
    bool named = of->system != NULL || of->network != NULL || of->memory != NULL || of->groups != NULL;
    if (!options->measure && (named || options->has_backend)) {
        return error_set(err, ORR_EINVAL, "a machine is for --measure; give that too");
    }
    for (int i = 0; options->measure && i < options->edit.file_count; i++) {
        const char *output = options->edit.edits[i].output;
        if (cli_same_file(output, of->system) || cli_same_file(output, of->network) ||
            cli_same_file(output, of->memory) || cli_same_file(output, of->groups)) {
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

static int run(const struct cli_command *self, int argc, char **argv)
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
    enum orr_status status = check(&options, &err);
    status = status != ORR_OK ? status
                              : orr_trace_simplify(options.edit.edits, (size_t)options.edit.file_count, options.level,
                                                   options.edit.memory_limit, &notices, stdout, &err);
    if (status == ORR_OK && options.measure) {
        status = measure(&options, &notices, &err);
    }
    return cli_edit_end(&options.edit, status, &err);
}

static const struct argp argp = {
    .options = table,
    .parser = parse,
    .args_doc = "--level LEVEL FILE... -o OUT",
    .doc = "Make Chakra ET files smaller. Everything but communication is removed with its time (comm), or only rows "
           "of compute are merged (merge), or each training step becomes a handful of nodes (step).\v"
           "Examples:\n  orrery trace simplify --level merge traces/job.*.et -o small/job\n"
           "  orrery trace simplify --level step --measure -s system.json -n network.yml \\\n"
           "      traces/job.*.et -o small/job\n",
};

const struct cli_command cli_trace_simplify = {
    .name = "simplify", .summary = "make a trace smaller, and measure the error", .argp = &argp, .run = run};
