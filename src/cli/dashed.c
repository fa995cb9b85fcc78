/* SPDX-License-Identifier: Apache-2.0 */
/* Every word of ours that is made is "--name=value" in one piece: so no value can be taken for an option. */
#include "cli/dashed.h"

#include <stdlib.h>
#include <string.h>

/* The row whose name is all of `word`, or all of it before an equals sign; `*value` is what follows that. */
static const struct cli_dashed *cli_dashed_find(const struct cli_dashed *table, const char *word, const char **value)
{
    const char *equals = word[0] == '-' ? strchr(word, '=') : NULL;
    size_t length = equals != NULL ? (size_t)(equals - word) : strlen(word);
    for (; table->theirs != NULL; table++) {
        if (strlen(table->theirs) == length && memcmp(table->theirs, word, length) == 0) {
            *value = equals != NULL ? equals + 1 : NULL;
            return table;
        }
    }
    return NULL;
}

static enum orr_status cli_dashed_add(struct cli_dashed_vector *vector, const char *name, const char *value,
                                      struct orr_error *err)
{
    char *text = NULL;
    int length = value != NULL ? asprintf(&text, "%s=%s", name, value) : asprintf(&text, "%s", name);
    if (length < 0) {
        return error_set(err, ORR_ENOMEM, "out of memory reading the options");
    }
    vector->made[vector->made_count++] = text;
    vector->argv[vector->argc++] = text;
    return ORR_OK;
}

static bool cli_dashed_is_option(const char *word)
{
    return word[0] == '-' && word[1] != '\0' && (word[1] < '0' || word[1] > '9') && word[1] != '.';
}

enum orr_status cli_dashed_translate(const struct cli_dashed *table, int argc, char **argv,
                                     struct cli_dashed_vector *vector, struct orr_error *err)
{
    size_t room = (size_t)argc + 1;
    *vector = (struct cli_dashed_vector){.argv = calloc(room, sizeof(char *)), .made = calloc(room, sizeof(char *))};
    enum orr_status status = vector->argv != NULL && vector->made != NULL
                                 ? ORR_OK
                                 : error_set(err, ORR_ENOMEM, "out of memory reading the options");
    for (int at = 0; at < argc && status == ORR_OK; at++) {
        const char *value = NULL;
        const struct cli_dashed *row = at == 0 ? NULL : cli_dashed_find(table, argv[at], &value);
        if (row == NULL) {
            vector->argv[vector->argc++] = argv[at];
            continue;
        }
        bool follows = at + 1 < argc && (row->when_alone == NULL || !cli_dashed_is_option(argv[at + 1]));
        if (value == NULL && !row->alone) {
            value = follows ? argv[++at] : row->when_alone;
        }
        status = cli_dashed_add(vector, row->ours, value, err);
    }
    if (status != ORR_OK) {
        cli_dashed_free(vector);
    }
    return status;
}

void cli_dashed_free(struct cli_dashed_vector *vector)
{
    for (int i = 0; i < vector->made_count; i++) {
        free(vector->made[i]);
    }
    free(vector->argv);
    free(vector->made);
    *vector = (struct cli_dashed_vector){0};
}
