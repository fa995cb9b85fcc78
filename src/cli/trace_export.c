/* SPDX-License-Identifier: Apache-2.0 */
/* `orrery trace export`: traces for other programs. */
#include <string.h>

#include "cli/trace.h"

enum { KEY_TO = 256, KEY_GROUPS, KEY_STRICT, KEY_LIMIT };

struct export_options {
    struct cli_input input;
    struct orr_export_options export;
    bool has_format, strict;
    int word_count;
    char **words; /* a format where --to does not say it, and the input */
    struct cli_warnings warnings;
};

static const struct argp_option table[] = {
    {"to", KEY_TO, "FORMAT", 0,
     "json: everything, and back with trace convert --from json; dot: Graphviz; graphml: graph libraries; goal: a "
     "LogGOPSim schedule of all ranks, times in ns. Default: as the output's name ends (.json, .dot, .gv, .graphml, "
     ".goal, packed or not)",
     0},
    {"output", 'o', "OUT", 0, "The file to write, packed when it ends in .gz or .zst. Default: standard output", 0},
    {"groups", KEY_GROUPS, "FILE", 0, "goal: communicator groups file (JSON). Default: none", 0},
    {"strict", KEY_STRICT, NULL, 0, CLI_STRICT_HELP, 0},
    {"memory-limit", KEY_LIMIT, "SIZE", 0, CLI_LIMIT_HELP, 0},
    CLI_HELP_OPTION,
    {0},
};

static const char *const format_words[] = {"json", "dot", "graphml", "goal", NULL};

static enum orr_status parse_format(struct export_options *options, const char *word)
{
    unsigned index = 0;
    enum orr_status status = param_parse_word("--to", word, format_words, &index, &options->input.error);
    options->export.format = (enum orr_export)index;
    options->has_format = true;
    return status;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct export_options *options = state->input;
    struct orr_error *err = &options->input.error;
    switch (key) {
    case KEY_TO:
        return cli_options_status(parse_format(options, arg));
    case 'o':
        options->export.output = arg;
        return 0;
    case KEY_GROUPS:
        options->export.groups = arg;
        return 0;
    case KEY_STRICT:
        options->strict = true;
        return 0;
    case KEY_LIMIT:
        return cli_options_status(cli_parse_limit("--memory-limit", arg, &options->export.memory_limit, err));
    case ARGP_KEY_ARGS:
        options->words = state->argv + state->next;
        options->word_count = state->argc - state->next;
        return 0;
    case ARGP_KEY_ARG:
        return ARGP_ERR_UNKNOWN; /* makes argp ask with ARGP_KEY_ARGS */
    default:
        return cli_options_default(key, arg, state);
    }
}

/* The format that the output's name ends in, packing aside. */
static bool format_of_name(const char *path, enum orr_export *format)
{
    static const struct {
        const char *end;
        enum orr_export format;
    } ends[] = {{".json", ORR_EXPORT_JSON},
                {".dot", ORR_EXPORT_DOT},
                {".gv", ORR_EXPORT_DOT},
                {".graphml", ORR_EXPORT_GRAPHML},
                {".goal", ORR_EXPORT_GOAL}};
    static const char *const packings[] = {"", ".gz", ".zst"};
    size_t length = strlen(path);
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
        for (size_t p = 0; p < sizeof packings / sizeof packings[0]; p++) {
            size_t end = strlen(ends[i].end);
            size_t packing = strlen(packings[p]);
            if (length > end + packing && strcmp(path + length - packing, packings[p]) == 0 &&
                memcmp(path + length - packing - end, ends[i].end, end) == 0) {
                *format = ends[i].format;
                return true;
            }
        }
    }
    return false;
}

/* The input, and the format before it where neither --to nor the output's name says it. */
static enum orr_status take_words(struct export_options *options, struct orr_error *err)
{
    if (!options->has_format && options->word_count == 1 && options->export.output != NULL) {
        options->has_format = format_of_name(options->export.output, &options->export.format);
    }
    int inputs = options->word_count - (options->has_format ? 0 : 1);
    if (options->word_count == 0) {
        return error_set(err, ORR_EINVAL, "no input given; name a trace, or for goal the prefix of all ranks' traces");
    }
    if (inputs > 1) {
        return error_set(err, ORR_EINVAL, "%d inputs given; one is exported at a time", inputs);
    }
    if (inputs == 0 && strchr(options->words[0], '.') != NULL) {
        return error_set(err, ORR_EINVAL, "missing --to json, dot, graphml or goal%s",
                         options->export.output == NULL ? "" : ", which the name behind -o does not end in either");
    }
    if (!options->has_format && parse_format(options, options->words[0]) != ORR_OK) {
        *err = options->input.error;
        return err->status;
    }
    if (inputs == 0) {
        return error_set(err, ORR_EINVAL, "no input given behind %s", options->words[0]);
    }
    options->export.input = options->words[options->word_count - 1];
    return ORR_OK;
}

static enum orr_status check(struct export_options *options, struct orr_error *err)
{
    struct orr_export_options *export = &options->export;
    bool goal = export->format == ORR_EXPORT_GOAL;
    size_t length = strlen(export->input);
    if (export->groups != NULL && !goal) {
        return error_set(err, ORR_EINVAL, "--groups is for --to goal only");
    }
    if (goal && length > 3 && strcmp(export->input + length - 3, ".et") == 0) {
        return error_set(err, ORR_EINVAL, "%s: goal is written of all ranks; give PREFIX of PREFIX.R.et",
                         export->input);
    }
    if (export->output != NULL && strcmp(export->output, "-") == 0) {
        export->output = NULL;
    }
    if (export->output == NULL) {
        return ORR_OK;
    }
    if (cli_same_file(export->output, export->input) || (goal && cli_is_rank_file(export->output, export->input))) {
        return error_set(err, ORR_EINVAL, "-o would replace the input %s", export->output);
    }
    if (cli_same_file(export->output, export->groups)) {
        return error_set(err, ORR_EINVAL, "-o would replace the file of --groups: %s", export->groups);
    }
    return cli_check_name("-o", export->output, err);
}

static int run(const struct cli_command *self, int argc, char **argv)
{
    struct export_options options = {0};
    struct orr_error err = {0};
    enum orr_status status = cli_options_parse(self, argc, argv, &options.input, &err);
    if (status == ORR_OK && options.input.help) {
        cli_print_help(self, argv[0], stdout);
        return 0;
    }
    status = status != ORR_OK ? status : take_words(&options, &err);
    status = status != ORR_OK ? status : check(&options, &err);
    status = status != ORR_OK ? status : cli_limit_default(&options.export.memory_limit, &err);
    if (status == ORR_OK) {
        struct orr_notices notices = cli_notices(&options.warnings, options.strict);
        status = orr_trace_export(&options.export, &notices, stdout, &err);
        cli_warnings_end(&options.warnings);
    }
    if (status == ORR_OK && options.export.output != NULL) {
        (void)printf("Wrote %s.\n", options.export.output);
    }
    return cli_end(status, &err);
}

static const struct argp argp = {
    .options = table,
    .parser = parse,
    .args_doc = "--to FORMAT FILE.et [-o OUT]\n--to goal PREFIX [-o OUT]\nFILE.et -o OUT.dot",
    .doc = "Write a Chakra ET file as JSON, Graphviz or GraphML, or the traces PREFIX.0.et, PREFIX.1.et ... as one "
           "GOAL schedule in which collectives are point-to-point messages.\v"
           "Examples:\n  orrery trace export job.0.et -o job.json.gz\n"
           "  orrery trace export --to dot job.0.et | dot -Tsvg -o job.svg\n"
           "  orrery trace export --to goal traces/job -o job.goal\n",
};

const struct cli_command cli_trace_export = {
    .name = "export", .summary = "write a trace as JSON, Graphviz, GraphML or GOAL", .argp = &argp, .run = run};
