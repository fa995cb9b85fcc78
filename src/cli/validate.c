/* SPDX-License-Identifier: Apache-2.0 */
/* `orrery validate`: what `orrery train` predicts beside what was measured. */
#include "cli/cli.h"

enum { FOLDERS_MOST = 16 };

struct validate_options {
    struct orr_train_validation validation;
    const char *folders[FOLDERS_MOST];
};

static enum orr_status cli_validate_read_folder(const struct param *row, const char *text, void *into,
                                                struct orr_error *err)
{
    struct validate_options *options = into;
    if (options->validation.folder_count == FOLDERS_MOST) {
        return error_set(err, ORR_ERANGE, "parameter '%s': more than %d folders", row->name, FOLDERS_MOST);
    }
    options->folders[options->validation.folder_count++] = text;
    return ORR_OK;
}

#define AT(field) .place = offsetof(struct validate_options, validation.field)

static const struct param validate_rows[] = {
    {"data", .kind = PARAM_READ, .group = PARAM_WHAT, .flags = PARAM_MANY, .value = "DIR",
     .read = cli_validate_read_folder,
     .help = "A folder with more measured runs: runs.csv (docs/train.md), and failed.csv with runs that ran out of "
             "memory; or both in DIR/runs. May be given several times"},
    {"quality", .kind = PARAM_TEXT, .group = PARAM_WHAT, .value = "LETTERS", AT(quality), .unwritten = "AB",
     .help = "Which rows count, by their column 'quality'"},
    {"unseen", .kind = PARAM_FLAG, .group = PARAM_WHAT, AT(unseen),
     .help = "Also predict every run with all measured runs of its own source left out. Takes twice the time"},
    {"output", .letter = 'o', .kind = PARAM_PATH, .group = PARAM_OUTPUT, .value = "PAGE", AT(output),
     .help = "Write a page (Markdown) too, with pictures in pictures/ beside it"},
    {"threads", .letter = 'j', .kind = PARAM_COUNT32, .group = PARAM_OTHER, .value = "N", .most = 1024, AT(threads),
     .unwritten = "all processors", .help = "Rows at once"},
    {0},
};

static int validate_execute(const struct cli_command *self, int argc, char **argv)
{
    struct validate_options options = {0};
    struct orr_error err = {0};
    int code = 0;
    if (!cli_begin(self, argc, argv, &options, &code)) {
        return code;
    }
    options.validation.folders = options.folders;
    return cli_end(orr_train_validate(&options.validation, stdout, &err), &err);
}

static const struct param_table validate_tables[] = {{validate_rows, 0, 0}, {0}};

static const struct cli_usage validate_usage = {
    .tables = validate_tables,
    .forms = "[--data DIR]",
    .about = "Compare predictions of `orrery train` with thousands of measured runs, by source, next to a constant "
             "MFU: errors of step times and memory, whether configurations that failed are predicted not to fit, how "
             "well different settings of a job are ranked. Runs used for fitting are listed separately.",
    .examples = "  orrery validate\n"
                "  orrery validate --unseen --data ../shared/data -o docs/accuracy.md\n",
};

const struct cli_command cli_validate = {.name = "validate",
                                         .summary = "compare predicted training steps with measured ones",
                                         .usage = &validate_usage,
                                         .run = validate_execute};
