/* SPDX-License-Identifier: Apache-2.0 */
/* `orrery lab list`, `show`, `diff`: what a result store holds. */
#include "cli/lab.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { KEY_STORE = 256, KEY_LIMIT, KEY_TAG, KEY_STATE, KEY_BACKEND, KEY_KIND, KEY_JSON };

struct store_options {
    struct cli_input input;
    const char *store;
    struct orr_store_filter filter;
    const char *json; /* a path, "-", or NULL: text */
    uint64_t runs[2];
    unsigned run_count;
};

#define JSON_OPTION                                                                                                    \
    {                                                                                                                  \
        "json", KEY_JSON, "OUT", 0, "Write JSON to the file OUT instead, or to standard output when OUT is -", 0       \
    }
#define STORE_OPTION                                                                                                   \
    {                                                                                                                  \
        "store", KEY_STORE, "FILE", 0, CLI_STORE_HELP, 0                                                               \
    }

static const struct argp_option list_options[] = {
    {"tag", KEY_TAG, "NAME", 0, "Only runs with this tag", 0},
    {"state", KEY_STATE, "WORD", 0, "Only runs that are partial, done, stalled, failed or interrupted", 0},
    {"backend", KEY_BACKEND, "NAME", 0, "Only runs on unaware, aware, packet, flow or auto", 0},
    {"kind", KEY_KIND, "NAME", 0, "Only runs of one kind: lab, import", 0},
    {"limit", KEY_LIMIT, "N", 0, "Only the newest N. Default: all", 0},
    STORE_OPTION,
    JSON_OPTION,
    CLI_HELP_OPTION,
    {0},
};

static const struct argp_option show_options[] = {STORE_OPTION, JSON_OPTION, CLI_HELP_OPTION, {0}};

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct store_options *options = state->input;
    struct orr_error *err = &options->input.error;
    switch (key) {
    case KEY_STORE:
        options->store = arg;
        return 0;
    case KEY_TAG:
        options->filter.tag = arg;
        return 0;
    case KEY_STATE:
        options->filter.state = arg;
        return 0;
    case KEY_BACKEND:
        options->filter.backend = arg;
        return 0;
    case KEY_KIND:
        options->filter.kind = arg;
        return 0;
    case KEY_LIMIT:
        return cli_options_status(param_parse_count("--limit", arg, 1, INT64_MAX, &options->filter.newest, err));
    case KEY_JSON:
        options->json = arg;
        return 0;
    default:
        return cli_options_default(key, arg, state);
    }
}

/* With the numbers of runs behind the options. */
static error_t parse_runs(int key, char *arg, struct argp_state *state)
{
    struct store_options *options = state->input;
    if (key == ARGP_KEY_ARG && options->run_count < 2) {
        uint64_t *run = &options->runs[options->run_count++];
        return cli_options_status(param_parse_count("RUN", arg, 1, INT64_MAX, run, &options->input.error));
    }
    return parse(key, arg, state);
}

static enum orr_status answer(const struct cli_command *self, const struct store_options *options, FILE *stream,
                              bool *same, struct orr_error *err)
{
    enum orr_store_form form = options->json != NULL ? ORR_STORE_JSON : ORR_STORE_TEXT;
    if (strcmp(self->name, "list") == 0) {
        return orr_store_list(options->store, &options->filter, form, stream, err);
    }
    if (strcmp(self->name, "show") == 0) {
        return orr_store_show(options->store, (int64_t)options->runs[0], form, stream, err);
    }
    return orr_store_diff(options->store, (int64_t)options->runs[0], (int64_t)options->runs[1], form, stream, same,
                          err);
}

static enum orr_status check(const struct cli_command *self, const struct store_options *options, struct orr_error *err)
{
    bool is_diff = strcmp(self->name, "diff") == 0;
    if (is_diff && options->run_count != 2) {
        return error_set(err, ORR_EINVAL, "two runs are compared, by their numbers in the store: orrery lab diff 1 2");
    }
    if (!is_diff && options->run_count > 1) {
        return error_set(err, ORR_EINVAL, "one run is shown; orrery lab diff compares two");
    }
    if (options->json == NULL || strcmp(options->json, "-") == 0) {
        return ORR_OK;
    }
    if (cli_same_file(options->json, options->store)) {
        return error_set(err, ORR_EINVAL, "--json would replace the store %s", options->store);
    }
    return cli_check_writable("--json", options->json, err);
}

/* What goes to a file is made whole first. */
static enum orr_status write_answer(const struct cli_command *self, const struct store_options *options, bool *same,
                                    struct orr_error *err)
{
    if (options->json == NULL || strcmp(options->json, "-") == 0) {
        return answer(self, options, stdout, same, err);
    }
    struct cli_text made;
    enum orr_status status = cli_text_open(&made, err);
    return status != ORR_OK ? status
                            : cli_text_close(&made, answer(self, options, made.stream, same, err), options->json, err);
}

static int run(const struct cli_command *self, int argc, char **argv)
{
    struct store_options options = {.store = CLI_STORE_DEFAULT};
    struct orr_error err = {0};
    bool same = true;
    enum orr_status status = cli_options_parse(self, argc, argv, &options.input, &err);
    if (status == ORR_OK && options.input.help) {
        cli_print_help(self, argv[0], stdout);
        return 0;
    }
    status = status != ORR_OK ? status : check(self, &options, &err);
    status = status != ORR_OK ? status : write_answer(self, &options, &same, &err);
    return status != ORR_OK ? cli_end(status, &err) : same ? 0 : 1;
}

static const struct argp list_argp = {
    .options = list_options,
    .parser = parse,
    .doc = "List the runs of a result store, newest last: what ran on what, and how long it takes. Times are simulated "
           "ones.\v"
           "Examples:\n"
           "  orrery lab list --limit 20\n"
           "  orrery lab list --state done --backend unaware --json runs.json\n",
};

static const struct argp show_argp = {
    .options = show_options,
    .parser = parse_runs,
    .args_doc = "[RUN]",
    .doc = "Show all that a result store knows of one run: the command, inputs with their hashes and whether the files "
           "are still the same, settings, results (over the ranks: least, median, most), collectives, calibrations. "
           "Without RUN the newest.\v"
           "Examples:\n"
           "  orrery lab show\n"
           "  orrery lab show 1 --json -\n",
};

static const struct argp diff_argp = {
    .options = show_options,
    .parser = parse_runs,
    .args_doc = "BEFORE AFTER",
    .doc = "Compare two runs: settings and inputs that differ, and all results with the change in percent.\v"
           "Exit code: 0 when the simulated results are the same, 1 when they differ, 2 when a run is not there.\n\n"
           "Examples:\n"
           "  orrery lab diff 1 1\n"
           "  orrery lab diff 1 1 --json -\n",
};

const struct cli_command cli_lab_list = {
    .name = "list", .summary = "list the runs of a result store", .argp = &list_argp, .run = run};
const struct cli_command cli_lab_show = {
    .name = "show", .summary = "show one run of a result store", .argp = &show_argp, .run = run};
const struct cli_command cli_lab_diff = {.name = "diff", .summary = "compare two runs", .argp = &diff_argp, .run = run};
