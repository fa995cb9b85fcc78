/* `orrery trace ready`: is this recording usable? */
#include "cli/trace.h"

#include <stdlib.h>
#include <string.h>

enum { KEY_TAG = 256, KEY_RANKS, KEY_COMPARE, KEY_ALL, KEY_SMOKE, KEY_FOLDER, KEY_JSON, KEY_LIMIT };

struct ready_options {
    struct cli_input input;
    struct orr_ready_options ready;
    const char *json; /* a path, "-", or NULL */
    uint32_t *ranks;
    const char **tags; /* room for every word of the command line */
};

static const struct argp_option table[] = {
    {"tag", KEY_TAG, "TAG", 0, "Which run, where files are named host_R_TAG.json. Default: all of them", 0},
    {"model-tag", KEY_TAG, "TAG", OPTION_HIDDEN, NULL, 0},
    {"rank", KEY_RANKS, "LIST", 0, "Only these ranks, such as 0,2-5, or auto: all that are there (default)", 0},
    {"ranks", KEY_RANKS, "LIST", OPTION_HIDDEN, NULL, 0},
    {"compare", KEY_COMPARE, "TAG", 0, "Show runs side by side: this one and those named behind DIR", 0},
    {"all", KEY_ALL, NULL, 0, "All runs side by side", 0},
    {"smoke-only", KEY_SMOKE, NULL, 0, "Print only what is wrong, and the verdict", 0},
    {"traces-dir", KEY_FOLDER, "DIR", OPTION_HIDDEN, NULL, 0},
    {"json", KEY_JSON, "OUT", 0, "Write JSON to the file OUT instead, or to standard output when OUT is -", 0},
    {"memory-limit", KEY_LIMIT, "SIZE", 0, CLI_LIMIT_HELP, 0},
    CLI_HELP_OPTION,
    {0},
};

/* The first word is the folder, further ones are tags to compare. */
static error_t take_word(const char *arg, struct ready_options *options)
{
    if (options->ready.folder == NULL) {
        options->ready.folder = arg;
        return 0;
    }
    if (!options->ready.compare) {
        return cli_options_status(error_set(&options->input.error, ORR_EINVAL,
                                            "a second folder \"%.200s\"; one is looked at at a time (--compare TAG "
                                            "takes more tags)",
                                            arg));
    }
    options->tags[options->ready.tag_count++] = arg;
    return 0;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct ready_options *options = state->input;
    struct orr_error *err = &options->input.error;
    switch (key) {
    case KEY_COMPARE:
        options->ready.compare = true;
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
    case KEY_SMOKE:
        options->ready.brief = true;
        return 0;
    case KEY_FOLDER:
        options->ready.folder = arg;
        return 0;
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
    if (options->ready.folder == NULL) {
        return error_set(err, ORR_EINVAL, "no folder given; name the one with the recordings");
    }
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
    enum orr_status status = options.tags == NULL ? error_set(&err, ORR_ENOMEM, "out of memory")
                                                  : cli_options_parse(self, argc, argv, &options.input, &err);
    if (status == ORR_OK && options.input.help) {
        cli_print_help(self, argv[0], stdout);
    } else if (status == ORR_OK) {
        status = look(&options, &usable, &err);
    }
    free(options.ranks);
    free((void *)options.tags);
    int exit_code = cli_end(status, &err);
    return exit_code == 0 && !usable ? orr_status_exit_code(ORR_EFAIL) : exit_code;
}

static const struct argp argp = {
    .options = table,
    .parser = parse,
    .args_doc = "DIR\nDIR --compare TAG [TAG...]",
    .doc = "Tell whether the PyTorch recordings in DIR (as of trace import) can be used, what is missing in them, and "
           "with which option to record again: counts of events, kernels, steps and collectives, the kind of "
           "parallelism, whether the network matters. Files are read once and never held, however large. Exit code 0: "
           "usable, 1: not.\v"
           "Examples:\n"
           "  orrery trace ready recording\n"
           "  orrery trace ready recording --rank 0 --json -\n"
           "  orrery trace ready recording --all\n",
};

const struct cli_command cli_trace_ready = {
    .name = "ready", .summary = "tell whether a recording is usable", .argp = &argp, .run = run};
