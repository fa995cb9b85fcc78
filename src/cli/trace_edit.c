/* SPDX-License-Identifier: Apache-2.0 */
/* Where results go is settled before any file is read: a name that cannot be is told at once. */
#include "cli/trace_edit.h"

#include "cli/trace.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define AT(field) .place = offsetof(struct cli_edit, field)

const struct param cli_edit_rows[] = {
    {"output", .letter = 'o', .kind = PARAM_PATH, .group = PARAM_OUTPUT, .value = "OUT", AT(output),
     .help = "The file to write; with several inputs NAME.R.et, PREFIX of PREFIX.R.et. Missing folders are made"},
    {"in-place", .kind = PARAM_FLAG, .group = PARAM_OUTPUT, AT(in_place),
     .help = "Replace the inputs, all of them or none"},
    {"dry-run", .kind = PARAM_FLAG, .group = PARAM_OUTPUT, AT(dry_run), .help = "Write nothing; only report"},
    CLI_ROW_STRICT(struct cli_edit, strict),
    CLI_ROW_LIMIT(struct cli_edit, memory_limit),
    {0},
};

/* ".R.et" of NAME.R.et, with .gz or .zst behind it; NULL for any other name. */
static const char *rank_suffix(const char *path)
{
    size_t length = strlen(path);
    static const char *const endings[] = {".et", ".et.gz", ".et.zst"};
    for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++) {
        size_t ending = strlen(endings[i]);
        if (length <= ending || strcmp(path + length - ending, endings[i]) != 0) {
            continue;
        }
        const char *dot = path + length - ending;
        const char *at = dot;
        while (at > path && at[-1] >= '0' && at[-1] <= '9') {
            at--;
        }
        return at < dot && at > path && at[-1] == '.' ? at - 1 : NULL;
    }
    return NULL;
}

static enum orr_status name_output(struct cli_edit *edit, size_t i, struct orr_error *err)
{
    const char *suffix = edit->files.count == 1 ? "" : rank_suffix(edit->files.list[i]);
    if (suffix == NULL) {
        return error_set(err, ORR_EINVAL,
                         "%s: with several inputs each must be named NAME.R.et, R a rank, so that PREFIX.R.et can be "
                         "written",
                         edit->files.list[i]);
    }
    /* An output is plain: what reads traces wants it so. */
    size_t length = suffix[0] == '\0' ? 0 : (size_t)(strstr(suffix + 1, ".et") - suffix) + 3;
    if (asprintf(&edit->made[i], "%s%.*s", edit->output, (int)length, suffix) < 0) {
        edit->made[i] = NULL;
        return error_set(err, ORR_ENOMEM, "out of memory");
    }
    for (size_t k = 0; access(edit->made[i], F_OK) == 0 && k < edit->files.count; k++) {
        if (cli_same_file(edit->made[i], edit->files.list[k])) {
            return error_set(err, ORR_EINVAL, "-o would replace the input %s; --in-place does that on purpose",
                             edit->files.list[k]);
        }
    }
    return cli_check_name("-o", edit->made[i], err);
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Two inputs of one rank would be written to one file. */
static enum orr_status check_distinct(const struct cli_edit *edit, struct orr_error *err)
{
    size_t count = edit->files.count;
    char **sorted = malloc(count * sizeof(char *));
    if (sorted == NULL) {
        return error_set(err, ORR_ENOMEM, "out of memory");
    }
    memcpy((void *)sorted, (const void *)edit->made, count * sizeof(char *));
    qsort((void *)sorted, count, sizeof(char *), compare_names);
    enum orr_status status = ORR_OK;
    for (size_t i = 1; status == ORR_OK && i < count; i++) {
        if (strcmp(sorted[i], sorted[i - 1]) == 0) {
            status = error_set(err, ORR_EINVAL, "two inputs would both be written to %s", sorted[i]);
        }
    }
    free((void *)sorted);
    return status;
}

static enum orr_status cli_trace_edit_lay_out(struct cli_edit *edit, const char *command, struct orr_error *err)
{
    int ways = (edit->output != NULL) + edit->in_place;
    if (edit->files.count == 0) {
        return error_set(err, ORR_EINVAL, "no file given; %s needs one or more .et files", command);
    }
    if (ways == 2) {
        return error_set(err, ORR_EINVAL, "-o and --in-place both say where to write; give one");
    }
    if (edit->output != NULL && cli_is_archive(edit->output)) {
        return error_set(err, ORR_EINVAL, "-o %s: files are written, of which orrery trace pack makes an archive",
                         edit->output);
    }
    if (ways == 0 && !edit->dry_run) {
        return error_set(err, ORR_EINVAL, "missing -o OUT (where to write), --in-place or --dry-run");
    }
    edit->edits = calloc(edit->files.count, sizeof *edit->edits);
    edit->made = calloc(edit->files.count, sizeof(char *));
    if (edit->edits == NULL || edit->made == NULL) {
        return error_set(err, ORR_ENOMEM, "out of memory");
    }
    for (size_t i = 0; i < edit->files.count; i++) {
        edit->edits[i].input = edit->files.list[i];
        enum orr_status status = edit->output != NULL ? name_output(edit, i, err) : ORR_OK;
        if (status != ORR_OK) {
            return status;
        }
        if (!edit->dry_run) {
            edit->edits[i].output = edit->in_place ? edit->files.list[i] : edit->made[i];
        }
    }
    return edit->output != NULL ? check_distinct(edit, err) : ORR_OK;
}

bool cli_edit_begin(const struct cli_command *self, int argc, char **argv, struct cli_edit *edit, int *exit_code)
{
    struct orr_error err = {0};
    if (!cli_begin(self, argc, argv, edit, exit_code)) {
        return false;
    }
    enum orr_status status = cli_words_unfold(&edit->files, &err);
    status = status != ORR_OK ? status : cli_trace_edit_lay_out(edit, argv[0], &err);
    status = status != ORR_OK ? status : cli_limit_default(&edit->memory_limit, &err);
    if (status != ORR_OK) {
        *exit_code = cli_edit_end(edit, status, &err);
        return false;
    }
    return true;
}

struct orr_notices cli_edit_notices(struct cli_edit *edit)
{
    return cli_notices(&edit->warnings, edit->strict);
}

int cli_edit_end(struct cli_edit *edit, enum orr_status status, const struct orr_error *err)
{
    for (size_t i = 0; edit->made != NULL && i < edit->files.count; i++) {
        free(edit->made[i]);
    }
    free((void *)edit->made);
    free(edit->edits);
    edit->made = NULL;
    edit->edits = NULL;
    cli_words_free(&edit->files);
    cli_warnings_end(&edit->warnings);
    return cli_end(status, err);
}
