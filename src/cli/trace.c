/* SPDX-License-Identifier: Apache-2.0 */
/* `orrery trace`: the table of its subcommands, and those three that look into Chakra ET files. To these each file
 * stands alone, so one that cannot be read does not keep the rest from being shown; the exit code tells that it was
 * there. */
#include "cli/trace.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct trace_options {
    uint64_t limit;
    struct cli_forms forms;
    bool provenance;
    struct orr_trace_filter filter;
    struct cli_words files;
};

#define AT(field) .place = offsetof(struct orr_trace_filter, field)

const struct param cli_filter_rows[] = {
    {"name", .kind = PARAM_TEXT, .value = "PATTERN", AT(name),
     .help = "Only nodes of this name: a shell pattern (nccl*), or a regular expression between slashes "
             "(/all_?reduce/)"},
    {"type", .kind = PARAM_TEXT, .value = "LIST", AT(types),
     .help = "Only these: compute, cpu, gpu, memory, communication, collective, send, receive, other, or a collective "
             "such as all-reduce"},
    {"from", .kind = PARAM_MICROSECONDS, .value = "TIME", AT(from_us),
     .help = "Only nodes that started no earlier, counted from the first start: 5ms; a bare number is in us"},
    {"to", .kind = PARAM_MICROSECONDS, .value = "TIME", AT(to_us), .help = "Only nodes that started before this"},
    {0},
};

#undef AT
#define AT(field) .place = offsetof(struct trace_options, field)

static const struct param show_rows[] = {
    {"limit", .kind = PARAM_COUNT, .value = "N", AT(limit), .least = 1,
     .help = "Show only the first N nodes of each file", .unwritten = "all"},
    {0},
};

static const struct param stat_rows[] = {
    CLI_ROW_JSON(struct trace_options, forms.json),
    {"provenance", .kind = PARAM_FLAG, .group = PARAM_OUTPUT, AT(provenance),
     .help = "Also tell how the types and sizes of communication were known, and its bytes by step"},
    {0},
};

static const struct param check_rows[] = {{0}};

bool cli_filter_given(const struct orr_trace_filter *filter)
{
    return filter->name != NULL || filter->types != NULL || filter->from_us != 0 || filter->to_us != 0;
}

/* False when the command is over already, with its exit code. */
static bool read_options(const struct cli_command *self, int argc, char **argv, struct trace_options *options,
                         int *exit_code)
{
    struct orr_error err = {0};
    if (!cli_begin(self, argc, argv, options, exit_code)) {
        return false;
    }
    enum orr_status status = options->files.count == 0
                                 ? error_set(&err, ORR_EINVAL, "no file given; %s needs one or more .et files", argv[0])
                                 : cli_words_unfold(&options->files, &err);
    *exit_code = status != ORR_OK ? cli_fail(&err) : 0;
    return status == ORR_OK;
}

enum trace_verb { VERB_SHOW, VERB_STAT, VERB_CHECK };

/* Where the answers go; a stream that is NULL has none. */
struct trace_answers {
    enum trace_verb verb;
    FILE *text, *json;
};

static enum orr_status put_stats(struct orr_trace *trace, const struct trace_options *options,
                                 const struct trace_answers *answers, struct orr_error *err)
{
    unsigned flags = options->provenance ? ORR_STAT_PROVENANCE : 0;
    enum orr_status status = answers->text != NULL ? orr_trace_stat(trace, flags, answers->text, err) : ORR_OK;
    return status == ORR_OK && answers->json != NULL
               ? orr_trace_stat(trace, flags | (unsigned)ORR_STAT_JSON, answers->json, err)
               : status;
}

static enum orr_status cli_trace_apply(const struct trace_answers *answers, const struct trace_options *options,
                                       const char *path, uint64_t *findings, struct orr_error *err)
{
    struct orr_trace *trace = NULL;
    enum orr_status status = orr_trace_open(path, &trace, err);
    if (status == ORR_OK && cli_filter_given(&options->filter)) {
        uint64_t kept = 0;
        status = orr_trace_keep(trace, &options->filter, &kept, err);
    }
    if (status == ORR_OK) {
        status = answers->verb == VERB_SHOW    ? orr_trace_show(trace, options->limit, answers->text, err)
                 : answers->verb == VERB_CHECK ? orr_trace_check(trace, answers->text, findings, err)
                                               : put_stats(trace, options, answers, err);
    }
    orr_trace_close(trace);
    return status;
}

/* Every file in turn; the exit code is that of the first that failed. */
static int each_file(const struct trace_answers *answers, const struct trace_options *options)
{
    int exit_code = 0;
    bool lost = false; /* standard output takes no more, or there is no memory for the next file either */
    for (size_t i = 0; i < options->files.count && !lost; i++) {
        struct orr_error err = {0};
        uint64_t findings = 0;
        if (answers->verb != VERB_CHECK && answers->text != NULL && i > 0) {
            (void)putchar('\n');
        }
        if (answers->verb == VERB_SHOW && options->files.count > 1) {
            (void)printf("==> %s <==\n", options->files.list[i]);
        }
        if (answers->json != NULL && i > 0) {
            (void)fputs(",\n", answers->json);
        }
        int code = 0;
        if (cli_trace_apply(answers, options, options->files.list[i], &findings, &err) != ORR_OK) {
            (void)fflush(stdout);
            bool unwritten = ferror(stdout) != 0;
            lost = unwritten || err.status == ORR_ENOMEM;
            code = !unwritten ? cli_fail(&err) : cli_stdout_failed(err.text);
        } else if (answers->verb == VERB_CHECK) {
            (void)printf("%s: %" PRIu64 " finding%s\n", options->files.list[i], findings, findings == 1 ? "" : "s");
            code = findings == 0 ? 0 : orr_status_exit_code(ORR_EINVAL);
        }
        exit_code = exit_code == 0 ? code : exit_code;
    }
    return exit_code;
}

/* One file gives one object, several give an array of them, in the order named; nothing where one of them failed. */
static int stat_json(const struct trace_options *options, struct orr_error *err)
{
    struct cli_text made;
    bool list = options->files.count > 1;
    if (cli_text_open(&made, err) != ORR_OK) {
        return cli_fail(err);
    }
    (void)fputs(list ? "[\n" : "", made.stream);
    bool dash = strcmp(options->forms.json, "-") == 0;
    int code = each_file(&(struct trace_answers){VERB_STAT, dash ? NULL : stdout, made.stream}, options);
    (void)fputs(list ? "]\n" : "", made.stream);
    enum orr_status status = cli_text_close(&made, code == 0 ? ORR_OK : ORR_EFAIL, options->forms.json, err);
    return code == 0 && status != ORR_OK ? cli_fail(err) : code;
}

static int cli_trace_run_show(const struct cli_command *self, int argc, char **argv)
{
    struct trace_options options = {0};
    int exit_code = 0;
    if (read_options(self, argc, argv, &options, &exit_code)) {
        exit_code = each_file(&(struct trace_answers){VERB_SHOW, stdout, NULL}, &options);
        cli_words_free(&options.files);
    }
    return exit_code;
}

static int cli_trace_run_stat(const struct cli_command *self, int argc, char **argv)
{
    struct trace_options options = {0};
    int exit_code = 0;
    if (!read_options(self, argc, argv, &options, &exit_code)) {
        return exit_code;
    }
    struct orr_error err = {0};
    const struct cli_inputs inputs = {(const char *const *)options.files.list, options.files.count};
    if (cli_forms_check(&options.forms, inputs, &err) != ORR_OK) {
        exit_code = cli_fail(&err);
    } else {
        exit_code = options.forms.json != NULL ? stat_json(&options, &err)
                                               : each_file(&(struct trace_answers){VERB_STAT, stdout, NULL}, &options);
    }
    cli_words_free(&options.files);
    return exit_code;
}

static int cli_trace_run_check(const struct cli_command *self, int argc, char **argv)
{
    struct trace_options options = {0};
    int exit_code = 0;
    if (read_options(self, argc, argv, &options, &exit_code)) {
        exit_code = each_file(&(struct trace_answers){VERB_CHECK, stdout, NULL}, &options);
        cli_words_free(&options.files);
    }
    return exit_code;
}

static const struct param_table show_tables[] = {
    {show_rows, 0, 0}, {cli_filter_rows, 0, offsetof(struct trace_options, filter)}, {0}};
static const struct param_table stat_tables[] = {
    {stat_rows, 0, 0}, {cli_filter_rows, 0, offsetof(struct trace_options, filter)}, {0}};
static const struct param_table check_tables[] = {{check_rows, 0, 0}, {0}};

static const struct cli_usage show_usage = {
    .tables = show_tables,
    .forms = "FILE...",
    .about = "Print the nodes of Chakra ET files, every attribute with its type. Sizes are bytes, durations us.",
    .examples = "  orrery trace show traces/allreduce.0.et\n  orrery trace show --limit 10 traces/*.et\n"
                "  orrery trace show --type all-reduce --from 5ms traces/resnet50.0.et\n",
    .words = offsetof(struct trace_options, files),
};

static const struct cli_usage stat_usage = {
    .tables = stat_tables,
    .forms = "FILE...",
    .about = "Summarise Chakra ET files: nodes by kind, bytes per collective, length of the critical path. With "
             "--json, one file gives one object, several give an array.",
    .examples = "  orrery trace stat traces/allreduce.0.et\n"
                "  orrery trace stat --json - traces/allreduce.0.et\n"
                "  orrery trace stat --json stat.json traces/*.et\n"
                "  orrery trace stat --provenance traces/resnet50.0.et\n",
    .words = offsetof(struct trace_options, files),
};

static const struct cli_usage check_usage = {
    .tables = check_tables,
    .forms = "FILE...",
    .about = "Check Chakra ET files: duplicate ids, dependencies that are missing or form a cycle, attributes that are "
             "missing or of the wrong type. One line a finding, then a count for each file.",
    .examples = "  orrery trace check traces/*.et\n",
    .ending = "Exit code: 0 when nothing was found, 2 when something was or a file cannot be read.",
    .words = offsetof(struct trace_options, files),
};

static const struct cli_command trace_show = {
    .name = "show", .summary = "print the nodes of a trace", .usage = &show_usage, .run = cli_trace_run_show};
static const struct cli_command trace_stat = {
    .name = "stat", .summary = "summarise a trace", .usage = &stat_usage, .run = cli_trace_run_stat};
static const struct cli_command trace_check = {
    .name = "check", .summary = "find what is wrong with a trace", .usage = &check_usage, .run = cli_trace_run_check};

/* In the order a job goes through them: record, import, look, change, show. */
static const struct cli_command *const verbs[] = {
    &cli_trace_recipe, /* one a line */
    &cli_trace_ready,   &cli_trace_import,   &cli_trace_link,
    &cli_trace_convert, &trace_show,         &trace_stat,
    &trace_check,       &cli_trace_fix,      &cli_trace_simplify,
    &cli_trace_scale,   &cli_trace_rewrite,  &cli_trace_cut,
    &cli_trace_merge,   &cli_trace_compose,  &cli_trace_pack,
    &cli_trace_unpack,  &cli_trace_diff,     &cli_trace_export,
    &cli_trace_view,    &cli_trace_timeline, NULL,
};

const struct cli_command cli_trace = {
    .name = "trace",
    .summary = "import, convert, check, edit and draw traces (Chakra ET)",
    .subcommands = verbs,
    .about = "Examples:\n  orrery trace import recording -o traces/resnet50\n"
             "  orrery trace stat traces/resnet50.0.et\n"
             "  orrery trace view traces/resnet50.0.et -o resnet50.html\n",
    .run = cli_dispatch,
};
