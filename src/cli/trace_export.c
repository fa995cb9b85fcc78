/* SPDX-License-Identifier: Apache-2.0 */
/* `orrery trace export`: traces for other programs. */
#include <string.h>

#include "cli/trace.h"

struct export_options {
    struct orr_export_options export;
    bool has_format, strict;
    struct cli_words words; /* a format where --to does not say it, and the input */
    struct cli_warnings warnings;
};

#define AT(field) .place = offsetof(struct export_options, field)

static const char *const format_words[] = {"json", "dot", "graphml", "goal", NULL};

static const struct param rows[] = {
    {"to", .kind = PARAM_WORD, .value = "FORMAT", AT(export.format),
     .given = offsetof(struct export_options, has_format), .words = format_words, .first = ORR_EXPORT_JSON,
     .help = "What to write. json: everything, and back with trace convert --from json; dot: Graphviz; graphml: graph "
             "libraries; goal: a LogGOPSim schedule of all ranks, times in ns",
     .unwritten = "as the output's name ends (.json, .dot, .gv, .graphml, .goal, packed or not)"},
    {"groups", .kind = PARAM_PATH, .value = "FILE", AT(export.groups), .help = "goal: communicator groups file (JSON)",
     .unwritten = "none"},
    {"output", .letter = 'o', .kind = PARAM_PATH, .group = PARAM_OUTPUT, .flags = PARAM_DASH, .value = "OUT",
     AT(export.output), .help = "The file to write, packed when it ends in .gz or .zst",
     .unwritten = "standard output"},
    CLI_ROW_STRICT(struct export_options, strict),
    CLI_ROW_LIMIT(struct export_options, export.memory_limit),
    {0},
};

static const struct param_table tables[] = {{rows, 0, 0}, {0}};

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
    if (!options->has_format && options->words.count == 1 && options->export.output != NULL) {
        options->has_format = format_of_name(options->export.output, &options->export.format);
    }
    if (options->words.count == 0) {
        return error_set(err, ORR_EINVAL, "no input given; name a trace, or for goal the prefix of all ranks' traces");
    }
    size_t inputs = options->words.count - (options->has_format ? 0 : 1);
    if (inputs > 1) {
        return error_set(err, ORR_EINVAL, "%zu inputs given; one is exported at a time", inputs);
    }
    if (inputs == 0 && strchr(options->words.list[0], '.') != NULL) {
        return error_set(err, ORR_EINVAL, "missing --to json, dot, graphml or goal%s",
                         options->export.output == NULL ? "" : ", which the name behind -o does not end in either");
    }
    if (!options->has_format) {
        enum orr_status status = param_read(&rows[0], "--to", options->words.list[0], options, err);
        if (status != ORR_OK) {
            return status;
        }
    }
    if (inputs == 0) {
        return error_set(err, ORR_EINVAL, "no input given behind %s", options->words.list[0]);
    }
    options->export.input = options->words.list[options->words.count - 1];
    return ORR_OK;
}

static enum orr_status cli_trace_export_check(struct export_options *options, struct orr_error *err)
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

static int cli_trace_export_run_export(const struct cli_command *self, int argc, char **argv)
{
    struct export_options options = {0};
    struct orr_error err = {0};
    int exit_code = 0;
    if (!cli_begin(self, argc, argv, &options, &exit_code)) {
        return exit_code;
    }
    enum orr_status status = take_words(&options, &err);
    status = status != ORR_OK ? status : cli_trace_export_check(&options, &err);
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

static const struct cli_usage usage = {
    .tables = tables,
    .forms = "--to FORMAT FILE.et [-o OUT]\n--to goal PREFIX [-o OUT]\nFILE.et -o OUT.dot",
    .about = "Write a Chakra ET file as JSON, Graphviz or GraphML, or the traces PREFIX.0.et, PREFIX.1.et ... as one "
             "GOAL schedule in which collectives are point-to-point messages.",
    .examples = "  orrery trace export job.0.et -o job.json.gz\n"
                "  orrery trace export --to dot job.0.et | dot -Tsvg -o job.svg\n"
                "  orrery trace export --to goal traces/job -o job.goal\n",
    .words = offsetof(struct export_options, words),
};

const struct cli_command cli_trace_export = {.name = "export",
                                             .summary = "write a trace as JSON, Graphviz, GraphML or GOAL",
                                             .usage = &usage,
                                             .run = cli_trace_export_run_export};
