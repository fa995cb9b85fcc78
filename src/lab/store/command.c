/* SPDX-License-Identifier: Apache-2.0 */
/* No shell is asked: the command is ours, and its words are given to the program as they are. Whatever a shell alone
 * could make sense of is refused, since it was not we who wrote it there. */
#include "lab/store/command.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lab/store/read.h"

static const char shell_only[] = "$`|&;<>()*?~#\n\r";

struct splitting {
    const char *from;
    char *to;
    bool within; /* a word has begun */
};

static enum orr_status take_quoted(struct splitting *s, char quote, struct orr_error *err)
{
    for (; *s->from != quote; s->from++) {
        if (*s->from == '\0') {
            return error_set(err, ORR_EINVAL, "the command has a quote that is not closed");
        }
        if (quote == '"' && *s->from == '\\' && s->from[1] != '\0' && strchr("\"\\$`", s->from[1]) != NULL) {
            s->from++;
        } else if (quote == '"' && (*s->from == '$' || *s->from == '`')) {
            return error_set(err, ORR_EINVAL, "the command has a '%c', which only a shell understands", *s->from);
        }
        *s->to++ = *s->from;
    }
    s->from++;
    return ORR_OK;
}

static enum orr_status store_command_take(struct splitting *s, struct orr_error *err)
{
    char c = *s->from;
    s->within = true;
    if (c == '\'' || c == '"') {
        s->from++;
        return take_quoted(s, c, err);
    }
    if (c == '\\' && s->from[1] != '\0') {
        s->from++;
    } else if (strchr(shell_only, c) != NULL) {
        return c < ' ' ? error_set(err, ORR_EINVAL, "the command has more than one line")
                       : error_set(err, ORR_EINVAL, "the command has a '%c', which only a shell understands", c);
    }
    *s->to++ = *s->from++;
    return ORR_OK;
}

/* s->to has room for the line and one byte more, `list` for half as many words and two more. */
static enum orr_status split(struct splitting *s, char **list, struct orr_error *err)
{
    enum orr_status status = ORR_OK;
    size_t count = 0;
    while (status == ORR_OK && *s->from != '\0') {
        if (*s->from == ' ' || *s->from == '\t') {
            s->from++;
            if (s->within) {
                *s->to++ = '\0';
                s->within = false;
            }
            continue;
        }
        if (!s->within) {
            list[count++] = s->to;
        }
        status = store_command_take(s, err);
    }
    return status;
}

enum orr_status store_command_split(const char *line, char ***words, struct orr_error *err)
{
    size_t length = strlen(line);
    char *text = calloc(1, length + 2);
    char **list = calloc(length / 2 + 2, sizeof *list);
    enum orr_status status = ORR_ENOMEM;
    if (text == NULL || list == NULL) {
        (void)error_set(err, status, "out of memory for a command of %zu bytes", length);
    } else {
        struct splitting s = {.from = line, .to = text};
        status = split(&s, list, err);
        if (status == ORR_OK && list[0] == NULL) {
            status = ORR_EINVAL;
            (void)error_set(err, status, "the command has no words");
        }
    }
    if (status != ORR_OK) {
        free(text);
        free((void *)list);
        return status;
    }
    *words = list;
    return ORR_OK;
}

/* ---- a run's ---- */

static enum orr_status check_words(const struct store_run *run, char **words, struct orr_error *err)
{
    const char *slash = strrchr(words[0], '/');
    if (strcmp(slash != NULL ? slash + 1 : words[0], "orrery") != 0) {
        return error_set(err, ORR_EINVAL, "run %" PRId64 ": its command starts %.60s, not orrery", run->id, words[0]);
    }
    return ORR_OK;
}

static enum orr_status store_command_check_inputs(const struct store_view *view, bool force, struct notes *notes,
                                                  uint64_t *different, struct orr_error *err)
{
    enum orr_status status = ORR_OK;
    for (uint32_t i = 0; status == ORR_OK && i < view->input_count; i++) {
        const struct store_input *input = &view->inputs[i];
        const char *what = input->now == STORE_INPUT_GONE ? "is not there any more" : "has changed since";
        if (input->now == STORE_INPUT_SAME) {
            continue;
        }
        (*different)++;
        if (force) {
            status =
                notes_add(notes, err, "run %" PRId64 ": its %s %s %s", view->run.id, input->role, input->path, what);
        } else {
            status = error_set(err, ORR_EINVAL,
                               "run %" PRId64
                               ": its %s %s %s, so that the result would be another one; parameter 'force' runs it "
                               "all the same",
                               view->run.id, input->role, input->path, what);
        }
    }
    return status;
}

static enum orr_status store_command_fill(const struct store_view *view, bool force, struct notes *notes,
                                          struct orr_store_command *command, struct orr_error *err)
{
    const struct store_run *run = &view->run;
    struct orr_error reason = {0};
    if (run->command[0] == '\0') {
        return error_set(err, ORR_EINVAL, "run %" PRId64 " has no command: it was %s", run->id,
                         strcmp(run->kind, "import") == 0 ? "imported from a table" : "entered without one");
    }
    enum orr_status status = store_command_split(run->command, &command->words, &reason);
    if (status != ORR_OK) {
        return error_set(err, status, "run %" PRId64 ": %s", run->id, reason.text);
    }
    status = check_words(run, command->words, err);
    status = status != ORR_OK ? status : store_command_check_inputs(view, force, notes, &command->different, err);
    if (status == ORR_OK && strcmp(run->version, orr_version()) != 0) {
        status = notes_add(notes, err, "run %" PRId64 " was made by version %s; this is %s", run->id, run->version,
                           orr_version());
    }
    if (status == ORR_OK && run->folder[0] != '\0') {
        command->folder = strdup(run->folder);
        status = command->folder != NULL ? ORR_OK : error_set(err, ORR_ENOMEM, "out of memory for a path");
    }
    return status;
}

enum orr_status store_command_read(struct lab_store *store, int64_t run, bool force, struct notes *notes,
                                   struct orr_store_command *command, struct orr_error *err)
{
    struct mem mem = {0};
    struct arena arena;
    struct store_view view;
    struct orr_store_command made = {.run = 0};
    arena_init(&arena, &mem);
    enum orr_status status = store_read_view(store, run, STORE_READ_LOOK, &arena, &view, err);
    status = status != ORR_OK ? status : store_command_fill(&view, force, notes, &made, err);
    status = status != ORR_OK ? status : store_read_newest(store, &made.last, err);
    if (status == ORR_OK) {
        made.run = view.run.id;
        *command = made;
    } else {
        orr_store_command_free(&made);
    }
    arena_free(&arena);
    return status;
}

enum orr_status store_command_again(struct lab_store *store, const struct orr_store_command *command, int64_t *again,
                                    struct orr_error *err)
{
    struct io_statement *statement = NULL;
    bool row = false;
    enum orr_status status = io_statement_prepare(
        lab_store_database(store),
        "SELECT min(id) FROM run WHERE id > ?1 AND command = (SELECT command FROM run WHERE id = ?2)", &statement, err);
    if (status == ORR_OK) {
        io_bind_int(statement, 1, command->last);
        io_bind_int(statement, 2, command->run);
        status = io_statement_step(statement, &row, err);
    }
    if (status == ORR_OK) {
        *again = row ? io_column_int(statement, 0) : 0;
    }
    io_statement_free(statement);
    return status;
}
