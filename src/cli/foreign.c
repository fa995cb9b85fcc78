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

static enum orr_status no_memory(struct orr_error *err)
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
        return no_memory(err);
    }
    vector->made[vector->made_count++] = text;
    if (warning) {
        vector->warnings[vector->warning_count++] = text;
    } else {
        vector->argv[vector->argc++] = text;
    }
    return ORR_OK;
}

static const struct cli_foreign_option *find_foreign(const struct cli_foreign_option *table, const struct word *word)
{
    for (; table->name != NULL; table++) {
        if (strlen(table->name) == word->length && memcmp(table->name, word->name, word->length) == 0) {
            return table;
        }
    }
    return NULL;
}

/* Of the names of both tables; `*is_ours` says which table has it. */
static const char *find_nearest(const struct cli_foreign_option *table, const struct argp_option *ours,
                                const struct word *word, bool *is_ours)
{
    const char *names[NAMES_MAX + 1];
    size_t count = 0;
    char text[80];
    size_t length = word->length < sizeof text ? word->length : sizeof text - 1;
    memcpy(text, word->name, length);
    text[length] = '\0';
    *is_ours = true;
    for (; (ours->name != NULL || ours->key != 0 || ours->doc != NULL) && count < NAMES_MAX; ours++) {
        if (ours->name != NULL) {
            names[count++] = ours->name;
            if (length >= 3 && strncmp(ours->name, text, length) == 0) {
                return ours->name;
            }
        }
    }
    size_t own = count;
    for (; table->name != NULL && count < NAMES_MAX; table++) {
        names[count++] = table->name;
    }
    names[count] = NULL;
    const char *nearest = error_nearest(text, names);
    *is_ours = false;
    for (size_t i = 0; i < own; i++) {
        *is_ours = *is_ours || names[i] == nearest;
    }
    return nearest;
}

static bool is_option(const char *text)
{
    return text[0] == '-' && text[1] != '\0';
}

static void pass_ours(const struct argp_option *option, const struct word *word, int argc, char **argv, int *at,
                      struct cli_vector *vector)
{
    vector->argv[vector->argc++] = argv[*at];
    bool wants_next = option->arg != NULL && (option->flags & OPTION_ARG_OPTIONAL) == 0 && word->value == NULL;
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

static enum orr_status pass_unknown(const struct cli_foreign_option *table, const struct argp_option *ours,
                                    bool lenient, const struct word *word, int argc, char **argv, int *at,
                                    struct cli_vector *vector, struct orr_error *err)
{
    bool next_is_value = word->value == NULL && *at + 1 < argc && !is_option(argv[*at + 1]);
    bool near_ours = false;
    const char *nearest = find_nearest(table, ours, word, &near_ours);
    if (!lenient && ((nearest != NULL && near_ours) || (word->value == NULL && !next_is_value))) {
        vector->argv[vector->argc++] = argv[*at];
        return ORR_OK;
    }
    *at += next_is_value ? 1 : 0;
    int length = (int)(word->length < 80 ? word->length : 80);
    if (nearest != NULL) {
        return make(vector, true, err, "unknown option --%.*s is ignored; did you mean --%s?", length, word->name,
                    nearest);
    }
    return make(vector, true, err, "unknown option --%.*s is ignored", length, word->name);
}

/* A word that is no long option: one of our short ones, perhaps with its value, or a plain argument. */
static enum orr_status pass_other(const struct argp_option *ours, bool lenient, int argc, char **argv, int *at,
                                  struct cli_vector *vector, struct orr_error *err)
{
    const char *text = argv[*at];
    const struct argp_option *option = ours;
    while (option->name != NULL || option->key != 0 || option->doc != NULL) {
        if (is_option(text) && option->key == (unsigned char)text[1]) {
            break;
        }
        option++;
    }
    bool known = option->key != 0;
    if (lenient && !known) {
        return make(vector, true, err, "\"%s\" is ignored", text);
    }
    vector->argv[vector->argc++] = argv[*at];
    if (known && option->arg != NULL && text[2] == '\0' && *at + 1 < argc) {
        vector->argv[vector->argc++] = argv[++*at];
    }
    return ORR_OK;
}

enum orr_status cli_foreign_translate(const struct cli_foreign_option *table, const struct argp_option *ours,
                                      bool lenient, int argc, char **argv, struct cli_vector *vector,
                                      struct orr_error *err)
{
    size_t room = (size_t)argc + 1;
    *vector = (struct cli_vector){.argv = calloc(room, sizeof(char *)),
                                  .made = calloc(room, sizeof(char *)),
                                  .warnings = calloc(room, sizeof(char *))};
    enum orr_status status = ORR_OK;
    if (vector->argv == NULL || vector->made == NULL || vector->warnings == NULL) {
        status = no_memory(err);
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
        const struct argp_option *own = cli_options_find(ours, word.name, word.length);
        const struct cli_foreign_option *theirs = find_foreign(table, &word);
        if (own != NULL) {
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
