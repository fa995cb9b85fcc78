/* SPDX-License-Identifier: Apache-2.0 */
/* Where results go is settled before any file is read: a name that cannot be is told at once. */
#include "cli/trace_edit.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

error_t cli_edit_parse(int key, char *arg, struct argp_state *state)
{
    struct cli_edit *edit = state->input;
    switch (key) {
    case 'o':
        edit->output = arg;
        return 0;
    case CLI_EDIT_IN_PLACE:
        edit->in_place = true;
        return 0;
    case CLI_EDIT_DRY_RUN:
        edit->dry_run = true;
        return 0;
    case CLI_EDIT_STRICT:
        edit->strict = true;
        return 0;
    case CLI_EDIT_LIMIT:
        return cli_options_status(cli_parse_limit("--memory-limit", arg, &edit->memory_limit, &edit->input.error));
    case ARGP_KEY_ARGS:
        edit->files = state->argv + state->next;
        edit->file_count = state->argc - state->next;
        return 0;
    case ARGP_KEY_ARG:
        return ARGP_ERR_UNKNOWN; /* makes argp ask with ARGP_KEY_ARGS */
    default:
        return cli_options_default(key, arg, state);
    }
}

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

static enum orr_status name_output(struct cli_edit *edit, int i, struct orr_error *err)
{
    const char *suffix = edit->file_count == 1 ? "" : rank_suffix(edit->files[i]);
    if (suffix == NULL) {
        return error_set(err, ORR_EINVAL,
                         "%s: with several inputs each must be named NAME.R.et, R a rank, so that PREFIX.R.et can be "
                         "written",
                         edit->files[i]);
    }
    /* An output is plain: what reads traces wants it so. */
    size_t length = suffix[0] == '\0' ? 0 : (size_t)(strstr(suffix + 1, ".et") - suffix) + 3;
    if (asprintf(&edit->made[i], "%s%.*s", edit->output, (int)length, suffix) < 0) {
        edit->made[i] = NULL;
        return error_set(err, ORR_ENOMEM, "out of memory");
    }
    for (int k = 0; access(edit->made[i], F_OK) == 0 && k < edit->file_count; k++) {
        if (cli_same_file(edit->made[i], edit->files[k])) {
            return error_set(err, ORR_EINVAL, "-o would replace the input %s; --in-place does that on purpose",
                             edit->files[k]);
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
    size_t count = (size_t)edit->file_count;
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

static enum orr_status lay_out(struct cli_edit *edit, const char *command, struct orr_error *err)
{
    int ways = (edit->output != NULL) + edit->in_place;
    if (edit->file_count == 0) {
        return error_set(err, ORR_EINVAL, "no file given; %s needs one or more .et files", command);
    }
    if (ways == 2) {
        return error_set(err, ORR_EINVAL, "-o and --in-place both say where to write; give one");
    }
    if (ways == 0 && !edit->dry_run) {
        return error_set(err, ORR_EINVAL, "missing -o OUT (where to write), --in-place or --dry-run");
    }
    edit->edits = calloc((size_t)edit->file_count, sizeof *edit->edits);
    edit->made = calloc((size_t)edit->file_count, sizeof(char *));
    if (edit->edits == NULL || edit->made == NULL) {
        return error_set(err, ORR_ENOMEM, "out of memory");
    }
    for (int i = 0; i < edit->file_count; i++) {
        edit->edits[i].input = edit->files[i];
        enum orr_status status = edit->output != NULL ? name_output(edit, i, err) : ORR_OK;
        if (status != ORR_OK) {
            return status;
        }
        if (!edit->dry_run) {
            edit->edits[i].output = edit->in_place ? edit->files[i] : edit->made[i];
        }
    }
    return edit->output != NULL ? check_distinct(edit, err) : ORR_OK;
}

bool cli_edit_begin(const struct cli_command *self, int argc, char **argv, struct cli_edit *edit, int *exit_code)
{
    struct orr_error err = {0};
    enum orr_status status = cli_options_parse(self, argc, argv, &edit->input, &err);
    if (status == ORR_OK && edit->input.help) {
        cli_print_help(self, argv[0], stdout);
        *exit_code = 0;
        return false;
    }
    status = status != ORR_OK ? status : lay_out(edit, argv[0], &err);
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
    for (int i = 0; edit->made != NULL && i < edit->file_count; i++) {
        free(edit->made[i]);
    }
    free((void *)edit->made);
    free(edit->edits);
    edit->made = NULL;
    edit->edits = NULL;
    cli_warnings_end(&edit->warnings);
    return cli_end(status, err);
}
