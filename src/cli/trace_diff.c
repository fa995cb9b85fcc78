/* SPDX-License-Identifier: Apache-2.0 */
/* `orrery trace diff`: how two traces differ. The exit code is diff's: 0 the same, 1 different, 2 trouble. */
#include <stdlib.h>
#include <string.h>

#include "cli/trace.h"

struct diff_options {
    struct orr_diff_options diff;
    struct cli_forms forms;
    struct cli_words files;
    bool same;
};

/* A share, or a percentage. */
static enum orr_status read_share(const struct param *row, const char *text, void *into, struct orr_error *err)
{
    struct diff_options *options = into;
    size_t length = strlen(text);
    bool percent = length > 1 && text[length - 1] == '%';
    char *number = strndup(text, percent ? length - 1 : length);
    double share = 0;
    (void)row;
    if (number == NULL) {
        return error_set(err, ORR_ENOMEM, "out of memory");
    }
    enum orr_status status = param_parse_real("parameter 'tolerance'", number, &share, err);
    options->diff.tolerance = percent ? share / 100 : share;
    free(number);
    return status;
}

static const char *const by_words[] = {"id", "name", NULL};

static const struct param rows[] = {
    {"by", .kind = PARAM_CHOICE, .value = "id|name", .place = offsetof(struct diff_options, diff.by_name),
     .words = by_words, .initial = "id", .help = "Which nodes are the same: those of one id, or the k-th of one name"},
    {"tolerance", .kind = PARAM_READ, .value = "SHARE", .read = read_share,
     .help = "Durations may differ by this share of the first trace's: 0.05 or 5%", .unwritten = "0"},
    {"limit", .kind = PARAM_COUNT, .group = PARAM_OUTPUT, .value = "N",
     .place = offsetof(struct diff_options, diff.limit), .initial = "100",
     .help = "Show only the first N differences; all are counted; 0 shows all"},
    CLI_ROW_JSON(struct diff_options, forms.json),
    CLI_ROW_LIMIT(struct diff_options, diff.memory_limit),
    {0},
};

static const struct param_table tables[] = {{rows, 0, 0}, {0}};

static enum orr_status cli_trace_diff_check(const struct diff_options *options, struct orr_error *err)
{
    const struct cli_inputs inputs = {(const char *const *)options->files.list, options->files.count};
    if (options->files.count != 2) {
        return error_set(err, ORR_EINVAL, "two .et files are compared, and %zu %s given", options->files.count,
                         options->files.count == 1 ? "was" : "were");
    }
    return cli_forms_check(&options->forms, inputs, err);
}

static enum orr_status cli_trace_diff_compare(void *context, enum orr_form form, FILE *stream, struct orr_error *err)
{
    struct diff_options *options = context;
    options->diff.json = form == ORR_FORM_JSON;
    return orr_trace_diff(options->files.list[0], options->files.list[1], &options->diff, stream, &options->same, err);
}

static int run_diff(const struct cli_command *self, int argc, char **argv)
{
    struct diff_options options = {0};
    struct orr_error err = {0};
    int exit_code = 0;
    param_defaults(tables, &options);
    if (!cli_begin(self, argc, argv, &options, &exit_code)) {
        return exit_code;
    }
    enum orr_status status = cli_trace_diff_check(&options, &err);
    status = status != ORR_OK ? status : cli_limit_default(&options.diff.memory_limit, &err);
    status = status != ORR_OK ? status : cli_forms_put(&options.forms, cli_trace_diff_compare, &options, &err);
    return status != ORR_OK ? cli_end(status, &err) : options.same ? 0 : 1;
}

static const struct cli_usage usage = {
    .tables = tables,
    .forms = "BEFORE AFTER",
    .about = "Compare two Chakra ET files: nodes added and removed, and for the others their type, durations (us), "
             "sizes, dependencies and every other attribute. The order of attributes and of dependencies does not "
             "count.",
    .examples = "  orrery trace diff before.0.et after.0.et\n"
                "  orrery trace diff --by name --tolerance 5% --json - before.0.et after.0.et\n",
    .ending = "Exit code: 0 when they are the same, 1 when they differ, 2 when one cannot be read.",
    .words = offsetof(struct diff_options, files),
};

const struct cli_command cli_trace_diff = {
    .name = "diff", .summary = "compare two traces", .usage = &usage, .run = run_diff};
