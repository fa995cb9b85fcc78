/* SPDX-License-Identifier: Apache-2.0 */
/* `orrery trace ready`: is this recording usable? */
#include "cli/trace.h"

#include <stdlib.h>
#include <string.h>

enum {
    KEY_TAG = 256,
    KEY_RANKS,
    KEY_COMPARE,
    KEY_ALL,
    KEY_SMOKE,
    KEY_FOLDER,
    KEY_JSON,
    KEY_LIMIT,
    KEY_UNKNOWN_SIZE,
    KEY_MEASURE
};

struct ready_options {
    struct cli_input input;
    struct orr_ready_options ready;
    const char *json; /* a path, "-", or NULL */
    uint32_t *ranks;
    const char **tags;  /* room for every word of the command line */
    const char **paths; /* the same */
    bool names_tags;    /* words are tags from here on */
};

static const struct argp_option table[] = {
    {"tag", KEY_TAG, "TAG", 0, "Which run, where there are several. Default: all of them", 0},
    {"model-tag", KEY_TAG, "TAG", OPTION_HIDDEN, NULL, 0},
    {"rank", KEY_RANKS, "LIST", 0, "Only these ranks, such as 0,2-5, or auto: all that are there (default)", 0},
    {"ranks", KEY_RANKS, "LIST", OPTION_HIDDEN, NULL, 0},
    {"compare", KEY_COMPARE, "TAG", 0, "Show runs side by side: this one and those named behind DIR", 0},
    {"all", KEY_ALL, NULL, 0, "All runs side by side", 0},
    {"measure", KEY_MEASURE, NULL, 0,
     "Import it to a temporary folder, simulate each rank with communications as long as recorded, and hold that "
     "against "
     "the recording",
     0},
    {"smoke-only", KEY_SMOKE, NULL, 0, "Print only what is wrong, and the verdict", 0},
    {"traces-dir", KEY_FOLDER, "DIR", OPTION_HIDDEN, NULL, 0},
    {"unknown-size", KEY_UNKNOWN_SIZE, "BYTES", 0,
     "Judge as if trace import were told this size for communications whose size is not recorded", 0},
    {"json", KEY_JSON, "OUT", 0, "Write JSON to the file OUT instead, or to standard output when OUT is -", 0},
    {"memory-limit", KEY_LIMIT, "SIZE", 0, CLI_LIMIT_HELP, 0},
    CLI_HELP_OPTION,
    {0},
};

/* Words are recordings; behind --compare all but the first are tags. */
static error_t take_word(const char *arg, struct ready_options *options)
{
    if (options->names_tags && options->ready.path_count > 0) {
        options->tags[options->ready.tag_count++] = arg;
    } else {
        options->paths[options->ready.path_count++] = arg;
    }
    return 0;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct ready_options *options = state->input;
    struct orr_error *err = &options->input.error;
    switch (key) {
    case KEY_COMPARE:
        options->ready.compare = options->names_tags = true;
        options->tags[options->ready.tag_count++] = arg;
        return 0;
    case KEY_TAG:
        options->tags[options->ready.tag_count++] = arg;
        return 0;
    case KEY_RANKS:
        if (strcmp(arg, "auto") == 0) {
            options->ready.rank_count = 0;
            return 0;
        }
        return cli_options_status(cli_parse_ranks("--rank", arg, &options->ranks, &options->ready.rank_count, err));
    case KEY_ALL:
        options->ready.compare = true;
        return 0;
    case KEY_MEASURE:
        options->ready.measure = true;
        return 0;
    case KEY_SMOKE:
        options->ready.brief = true;
        return 0;
    case KEY_FOLDER:
        options->paths[options->ready.path_count++] = arg;
        return 0;
    case KEY_UNKNOWN_SIZE:
        options->ready.has_unknown_size = true;
        return cli_options_status(param_parse_size("--unknown-size", arg, &options->ready.unknown_size, err));
    case KEY_JSON:
        options->json = arg;
        return 0;
    case KEY_LIMIT:
        return cli_options_status(cli_parse_limit("--memory-limit", arg, &options->ready.memory_limit, err));
    case ARGP_KEY_ARG:
        return take_word(arg, options);
    default:
        return cli_options_default(key, arg, state);
    }
}

static enum orr_status put_json(struct ready_options *options, bool *usable, struct orr_error *err)
{
    struct cli_text made;
    enum orr_status status = cli_text_open(&made, err);
    options->ready.json = true;
    return status != ORR_OK
               ? status
               : cli_text_close(&made, orr_trace_ready(&options->ready, made.stream, usable, err), options->json, err);
}

static enum orr_status look(struct ready_options *options, bool *usable, struct orr_error *err)
{
    if (options->ready.path_count == 0) {
        return error_set(err, ORR_EINVAL, "no recording given; name the folder or the files");
    }
    options->ready.paths = options->paths;
    options->ready.tags = options->tags;
    options->ready.ranks = options->ranks;
    enum orr_status status = cli_limit_default(&options->ready.memory_limit, err);
    if (status != ORR_OK || options->json == NULL) {
        return status != ORR_OK ? status : orr_trace_ready(&options->ready, stdout, usable, err);
    }
    if (strcmp(options->json, "-") != 0) {
        options->ready.writes = options->json;
        status = cli_check_writable("--json", options->json, err);
    }
    return status != ORR_OK ? status : put_json(options, usable, err);
}

static int run(const struct cli_command *self, int argc, char **argv)
{
    struct ready_options options = {0};
    struct orr_error err = {0};
    bool usable = true;
    options.tags = calloc((size_t)argc + 1, sizeof *options.tags);
    options.paths = calloc((size_t)argc + 1, sizeof *options.paths);
    enum orr_status status = options.tags == NULL || options.paths == NULL
                                 ? error_set(&err, ORR_ENOMEM, "out of memory")
                                 : cli_options_parse(self, argc, argv, &options.input, &err);
    if (status == ORR_OK && options.input.help) {
        cli_print_help(self, argv[0], stdout);
    } else if (status == ORR_OK) {
        status = look(&options, &usable, &err);
    }
    free(options.ranks);
    free((void *)options.tags);
    free((void *)options.paths);
    int exit_code = cli_end(status, &err);
    return exit_code == 0 && !usable ? orr_status_exit_code(ORR_EFAIL) : exit_code;
}

static const struct argp argp = {
    .options = table,
    .parser = parse,
    .args_doc = "RECORDING...\nRECORDING --compare TAG [TAG...]",
    .doc = "Tell whether recordings (files and folders, as of trace import) can be used, what is missing in them, and "
           "with which option to record again: counts of events, kernels, steps and collectives, the kind of "
           "parallelism, whether the network matters. The verdict is that of trace import, which is tried without "
           "writing anything. Exit code 0: usable, 1: not.\v"
           "Examples:\n"
           "  orrery trace ready recording\n"
           "  orrery trace ready recording/device_0.json.gz\n"
           "  orrery trace ready recording --rank 0 --json -\n"
           "  orrery trace ready recording --all\n",
};

const struct cli_command cli_trace_ready = {
    .name = "ready", .summary = "tell whether a recording is usable", .argp = &argp, .run = run};
