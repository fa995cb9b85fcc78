/* SPDX-License-Identifier: Apache-2.0 */
/* `orrery trace ready`: is this recording usable? */
#include "cli/trace.h"

#include <stdlib.h>
#include <string.h>

struct ready_options {
    struct orr_ready_options ready;
    struct cli_forms forms;
    struct cli_ranks ranks;
    const char **tags;  /* room for every word of the command line */
    const char **paths; /* the same */
    bool names_tags;    /* words are tags from here on */
};

static enum orr_status add_tag(const struct param *row, const char *text, void *into, struct orr_error *err)
{
    struct ready_options *options = into;
    (void)row;
    (void)err;
    options->tags[options->ready.tag_count++] = text;
    return ORR_OK;
}

static enum orr_status compare_tag(const struct param *row, const char *text, void *into, struct orr_error *err)
{
    struct ready_options *options = into;
    options->ready.compare = options->names_tags = true;
    return add_tag(row, text, into, err);
}

static enum orr_status add_path(const struct param *row, const char *text, void *into, struct orr_error *err)
{
    struct ready_options *options = into;
    (void)row;
    (void)err;
    options->paths[options->ready.path_count++] = text;
    return ORR_OK;
}

/* Words are recordings; behind --compare all but the first are tags. */
static enum orr_status cli_trace_ready_take_word(void *into, const char *word, struct orr_error *err)
{
    const struct ready_options *options = into;
    bool tag = options->names_tags && options->ready.path_count > 0;
    return tag ? add_tag(NULL, word, into, err) : add_path(NULL, word, into, err);
}

#define AT(field) .place = offsetof(struct ready_options, field)

static const struct param rows[] = {
    {"tag", "model-tag", .kind = PARAM_READ, .flags = PARAM_MANY, .value = "TAG", .read = add_tag,
     .help = "Which run, where there are several", .unwritten = "all of them"},
    CLI_ROW_RANKS(struct ready_options, ranks),
    {"compare", .kind = PARAM_READ, .flags = PARAM_MANY, .value = "TAG", .read = compare_tag,
     .help = "Show runs side by side: this one and those named behind RECORDING"},
    {"all", .kind = PARAM_FLAG, AT(ready.compare), .help = "All runs side by side"},
    {"measure", .kind = PARAM_FLAG, AT(ready.measure),
     .help = "Also hold a simulation against the recording. It is imported to a temporary folder, and each rank is "
             "simulated with communications as long as recorded"},
    CLI_ROW_UNKNOWN_SIZE(struct ready_options, ready,
                         "Judge as if trace import were told this size for communications whose size is not recorded"),
    {"smoke-only", .kind = PARAM_FLAG, .group = PARAM_OUTPUT, AT(ready.brief),
     .help = "Print only what is wrong, and the verdict"},
    CLI_ROW_JSON(struct ready_options, forms.json),
    CLI_ROW_LIMIT(struct ready_options, ready.memory_limit),
    {"traces-dir", .kind = PARAM_READ, .flags = PARAM_HIDDEN | PARAM_MANY, .value = "DIR", .read = add_path,
     .help = "A recording, as ROCm-ASTRAsim's script has it"},
    {0},
};

static const struct param_table tables[] = {{rows, 0, 0}, {0}};

/* A recording is looked at once, whatever forms are asked for: it may be large. */
static enum orr_status cli_trace_ready_put_json(struct ready_options *options, bool *usable, struct orr_error *err)
{
    struct cli_text made;
    enum orr_status status = cli_text_open(&made, err);
    if (status != ORR_OK) {
        return status;
    }
    bool dash = strcmp(options->forms.json, "-") == 0;
    options->ready.also_json = made.stream;
    status = orr_trace_ready(&options->ready, dash ? NULL : stdout, usable, err);
    return cli_text_close(&made, status, options->forms.json, err);
}

static enum orr_status cli_trace_ready_look(struct ready_options *options, bool *usable, struct orr_error *err)
{
    if (options->ready.path_count == 0) {
        return error_set(err, ORR_EINVAL, "no recording given; name the folder or the files");
    }
    options->ready.paths = options->paths;
    options->ready.tags = options->tags;
    options->ready.ranks = options->ranks.list;
    options->ready.rank_count = options->ranks.count;
    enum orr_status status = cli_limit_default(&options->ready.memory_limit, err);
    if (options->forms.json != NULL && strcmp(options->forms.json, "-") != 0) {
        options->ready.writes = options->forms.json;
    }
    status = status == ORR_OK ? cli_forms_check(&options->forms, (struct cli_inputs){NULL, 0}, err) : status;
    return status != ORR_OK              ? status
           : options->forms.json == NULL ? orr_trace_ready(&options->ready, stdout, usable, err)
                                         : cli_trace_ready_put_json(options, usable, err);
}

static int run_ready(const struct cli_command *self, int argc, char **argv)
{
    struct ready_options options = {0};
    struct orr_error err = {0};
    bool usable = true;
    options.tags = calloc((size_t)argc + 1, sizeof *options.tags);
    options.paths = calloc((size_t)argc + 1, sizeof *options.paths);
    int exit_code = 0;
    enum orr_status status = ORR_OK;
    if (options.tags == NULL || options.paths == NULL) {
        status = error_set(&err, ORR_ENOMEM, "out of memory");
    } else if (cli_begin(self, argc, argv, &options, &exit_code)) {
        status = cli_trace_ready_look(&options, &usable, &err);
    }
    free(options.ranks.list);
    free((void *)options.tags);
    free((void *)options.paths);
    exit_code = status != ORR_OK ? cli_end(status, &err) : exit_code;
    return exit_code == 0 && !usable ? orr_status_exit_code(ORR_EFAIL) : exit_code;
}

static const char *const headings[PARAM_GROUPS] = {[PARAM_WHAT] = "What to look at:"};

static const struct cli_usage usage = {
    .tables = tables,
    .forms = "RECORDING...\nRECORDING --compare TAG [TAG...]",
    .about = "Tell whether recordings (files and folders, as for trace import) are usable, what is missing, and which "
             "option to record again with: counts of events, kernels, steps and collectives, the kind of "
             "parallelism, whether the network matters. The verdict is that of trace import, which is run without "
             "writing anything. Exit code 0: usable, 1: not.",
    .examples = "  orrery trace ready recording\n"
                "  orrery trace ready recording/device_0.json.gz\n"
                "  orrery trace ready recording --rank 0 --json -\n"
                "  orrery trace ready recording --all\n",
    .headings = headings,
    .argument = cli_trace_ready_take_word,
};

const struct cli_command cli_trace_ready = {
    .name = "ready", .summary = "tell whether a recording is usable", .usage = &usage, .run = run_ready};
