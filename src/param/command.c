/* SPDX-License-Identifier: Apache-2.0 */
/* Parameters as the words of a command: what a user can give to a shell to have the same again. */
#include "param/param.h"

#include <stdlib.h>
#include <string.h>

#include "base/text_stream.h"

void param_write_word(const char *word, FILE *stream)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:,=+@%";
    bool bare = word[0] != '\0' && word[strspn(word, plain)] == '\0';
    (void)fputs(bare ? "" : "'", stream);
    for (const char *at = word; *at != '\0'; at++) {
        (void)(*at == '\'' ? fputs("'\\''", stream) : fputc(*at, stream));
    }
    (void)fputs(bare ? "" : "'", stream);
}

/* Value number `index` behind the row's name; false where there is none. */
static bool param_write_option(const struct param *row, const void *from, size_t index, FILE *stream, bool *failed)
{
    char *text = NULL;
    size_t size = 0;
    FILE *value = text_stream_open(&text, &size);
    bool there = value != NULL && param_write(row, from, index, value);
    *failed = value == NULL || fclose(value) != 0;
    if (there && !*failed) {
        (void)fprintf(stream, " --%s%s", row->name, size == 0 ? "" : " ");
        if (size > 0) {
            param_write_word(text, stream);
        }
    }
    free(text);
    return there && !*failed;
}

enum orr_status param_write_command(const struct param *rows, unsigned commands, const void *from, const void *initial,
                                    FILE *stream, struct orr_error *err)
{
    bool failed = false;
    for (const struct param *row = rows; row->name != NULL && !failed; row++) {
        bool of_command = commands == 0 || (row->commands & commands) != 0;
        bool told = of_command && (row->kind == PARAM_READ || !param_same(row, from, initial));
        for (size_t index = 0; told; index++) {
            told = param_write_option(row, from, index, stream, &failed);
        }
    }
    return failed ? error_set(err, ORR_ENOMEM, "out of memory for a command") : ORR_OK;
}
