/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One pass over the words. Each is ours, theirs or unknown; whether the next word is its value follows from the table
 * that knows it, and for an unknown one from whether the next word looks like an option, because no command that reads
 * foreign options takes plain arguments.
 */
#include "cli/foreign.h"

#include <stdlib.h>
#include <string.h>

enum { NAMES_MAX = 96 };

struct word {
    const char *name; /* without dashes; not terminated at `length` */
    size_t length;
    const char *value; /* after '=', or NULL */
};

static enum orr_status cli_foreign_no_memory(struct orr_error *err)
{
    return error_set(err, ORR_ENOMEM, "out of memory reading the options");
}

static enum orr_status make(struct cli_vector *vector, bool warning, struct orr_error *err, const char *fmt, ...)
    ORR_PRINTF(4, 5);

static enum orr_status make(struct cli_vector *vector, bool warning, struct orr_error *err, const char *fmt, ...)
{
    char *text = NULL;
    va_list args;
    va_start(args, fmt);
    int length = vasprintf(&text, fmt, args);
    va_end(args);
    if (length < 0) {
        return cli_foreign_no_memory(err);
    }
    vector->made[vector->made_count++] = text;
    if (warning) {
        vector->warnings[vector->warning_count++] = text;
    } else {
        vector->argv[vector->argc++] = text;
    }
    return ORR_OK;
}

static const struct cli_foreign_option *cli_foreign_find_foreign(const struct cli_foreign_option *table,
                                                                 const struct word *word)
{
    for (; table->name != NULL; table++) {
        if (strlen(table->name) == word->length && memcmp(table->name, word->name, word->length) == 0) {
            return table;
        }
    }
    return NULL;
}

/* Of the names of both tables. */
static const char *cli_foreign_find_nearest(const struct cli_foreign_option *table, const struct param_table *ours,
                                            const struct word *word)
{
    const char *names[PARAM_NAMES_MOST + NAMES_MAX + 1];
    char text[80];
    (void)snprintf(text, sizeof text, "%.*s", (int)(word->length < 79 ? word->length : 79), word->name);
    size_t count = param_names(ours, names);
    for (size_t i = 0; i < count && word->length >= 3; i++) {
        if (strncmp(names[i], text, strlen(text)) == 0) {
            return names[i];
        }
    }
    for (size_t i = 0; table->name != NULL && i < NAMES_MAX; table++, i++) {
        names[count++] = table->name;
    }
    names[count] = NULL;
    return error_nearest(text, names);
}

static bool cli_foreign_is_option(const char *text)
{
    return text[0] == '-' && text[1] != '\0';
}

static void pass_ours(const struct param *option, const struct word *word, int argc, char **argv, int *at,
                      struct cli_vector *vector)
{
    vector->argv[vector->argc++] = argv[*at];
    bool wants_next = option->value != NULL && (option->flags & PARAM_OPTIONAL) == 0 && word->value == NULL;
    if (wants_next && *at + 1 < argc) {
        vector->argv[vector->argc++] = argv[++*at];
    }
}

static enum orr_status pass_theirs(const struct cli_foreign_option *option, const struct word *word, int argc,
                                   char **argv, int *at, struct cli_vector *vector, struct orr_error *err)
{
    const char *value = word->value;
    if (option->kind == CLI_FOREIGN_BOOL) {
        bool truth = true;
        if (value == NULL && *at + 1 < argc && param_parse_bool("", argv[*at + 1], &truth, NULL) == ORR_OK) {
            value = argv[++*at];
        }
        return make(vector, false, err, "--%s=%s", option->ours, value != NULL ? value : "true");
    }
    if (value == NULL) {
        if (*at + 1 >= argc) {
            return error_set(err, ORR_EINVAL, "--%s needs a value", option->name);
        }
        value = argv[++*at];
    }
    if (option->kind == CLI_FOREIGN_NO_EFFECT) {
        return make(vector, true, err, "--%s has no effect: %s", option->name, option->reason);
    }
    return make(vector, false, err, "--%s=%s", option->ours, value);
}

/* One that is unknown is for our reader to refuse, unless we stand in for a program that ignores it. One that is near
 * a name of theirs alone is refused here, since our reader does not know those. */
static enum orr_status pass_unknown(const struct cli_foreign_option *table, const struct param_table *ours,
                                    bool lenient, const struct word *word, int argc, char **argv, int *at,
                                    struct cli_vector *vector, struct orr_error *err)
{
    const char *nearest = cli_foreign_find_nearest(table, ours, word);
    int length = (int)(word->length < 80 ? word->length : 80);
    if (!lenient && nearest != NULL && param_find(ours, nearest, strlen(nearest)).row == NULL) {
        return error_set(err, ORR_EINVAL, "unknown option --%.*s; did you mean --%s?", length, word->name, nearest);
    }
    if (!lenient) {
        vector->argv[vector->argc++] = argv[*at];
        return ORR_OK;
    }
    *at += word->value == NULL && *at + 1 < argc && !cli_foreign_is_option(argv[*at + 1]) ? 1 : 0;
    return nearest != NULL ? make(vector, true, err, "unknown option --%.*s is ignored; did you mean --%s?", length,
                                  word->name, nearest)
                           : make(vector, true, err, "unknown option --%.*s is ignored", length, word->name);
}

/* A word that is no long option: one of our short ones, perhaps with its value, or a plain argument. */
static enum orr_status pass_other(const struct param_table *ours, bool lenient, int argc, char **argv, int *at,
                                  struct cli_vector *vector, struct orr_error *err)
{
    const char *text = argv[*at];
    const struct param *option = cli_foreign_is_option(text) ? param_find_letter(ours, text[1]).row : NULL;
    if (lenient && option == NULL && strcmp(text, "-h") != 0) {
        return make(vector, true, err, "\"%s\" is ignored", text);
    }
    vector->argv[vector->argc++] = argv[*at];
    if (option != NULL && option->value != NULL && text[2] == '\0' && *at + 1 < argc) {
        vector->argv[vector->argc++] = argv[++*at];
    }
    return ORR_OK;
}

static bool asks_for_help(const struct word *word)
{
    return word->value == NULL && (strcmp(word->name, "help") == 0 || strcmp(word->name, "help-all") == 0);
}

enum orr_status cli_foreign_translate(const struct cli_foreign_option *table, const struct cli_command *command,
                                      bool lenient, int argc, char **argv, struct cli_vector *vector,
                                      struct orr_error *err)
{
    const struct param_table *ours = command->usage->tables;
    size_t room = (size_t)argc + 1;
    *vector = (struct cli_vector){.argv = calloc(room, sizeof(char *)),
                                  .made = calloc(room, sizeof(char *)),
                                  .warnings = calloc(room, sizeof(char *))};
    enum orr_status status = ORR_OK;
    if (vector->argv == NULL || vector->made == NULL || vector->warnings == NULL) {
        status = cli_foreign_no_memory(err);
    } else {
        vector->argv[vector->argc++] = argv[0];
    }
    for (int at = 1; at < argc && status == ORR_OK; at++) {
        if (strncmp(argv[at], "--", 2) != 0 || argv[at][2] == '\0') {
            status = pass_other(ours, lenient, argc, argv, &at, vector, err);
            continue;
        }
        const char *equals = strchr(argv[at], '=');
        struct word word = {.name = argv[at] + 2, .value = equals != NULL ? equals + 1 : NULL};
        word.length = equals != NULL ? (size_t)(equals - word.name) : strlen(word.name);
        const struct param *own = param_find(ours, word.name, word.length).row;
        const struct cli_foreign_option *theirs = cli_foreign_find_foreign(table, &word);
        if (asks_for_help(&word)) {
            vector->argv[vector->argc++] = argv[at];
        } else if (own != NULL && (!lenient || theirs == NULL)) {
            pass_ours(own, &word, argc, argv, &at, vector);
        } else if (theirs != NULL) {
            status = pass_theirs(theirs, &word, argc, argv, &at, vector, err);
        } else {
            status = pass_unknown(table, ours, lenient, &word, argc, argv, &at, vector, err);
        }
    }
    if (status != ORR_OK) {
        cli_vector_free(vector);
    }
    return status;
}

void cli_vector_free(struct cli_vector *vector)
{
    for (int i = 0; i < vector->made_count; i++) {
        free(vector->made[i]);
    }
    free(vector->argv);
    free(vector->made);
    free(vector->warnings);
    *vector = (struct cli_vector){0};
}
