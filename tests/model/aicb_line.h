/* SPDX-License-Identifier: Apache-2.0 */
/* Options of an AICB generator from one line ("--world_size 8 --moe_enable"), through the public interface. */
#ifndef ORR_TESTS_MODEL_AICB_LINE_H
#define ORR_TESTS_MODEL_AICB_LINE_H

#include <stdlib.h>

#include "tests/check.h"

/* Writes the workload to `path`; the status is that of the first thing refused. */
static inline enum orr_status aicb_line_write(enum orr_aicb_kind kind, bool compat, const char *line, const char *path,
                                              struct orr_error *err)
{
    struct orr_aicb *aicb = NULL;
    char *words = strdup(line);
    char *rest = NULL;
    enum orr_status status = orr_aicb_open(kind, compat, &aicb, err);
    CHECK(words != NULL && status == ORR_OK, "memory for a line");
    char *word = strtok_r(words, " ", &rest);
    while (word != NULL && status == ORR_OK) {
        char *value = strtok_r(NULL, " ", &rest);
        bool flag = value == NULL || strncmp(value, "--", 2) == 0;
        status = orr_aicb_set(aicb, word + 2, flag ? NULL : value, err);
        word = flag ? value : strtok_r(NULL, " ", &rest);
    }
    if (status == ORR_OK) {
        status = orr_aicb_write(aicb, path, NULL, err);
    }
    orr_aicb_close(aicb);
    free(words);
    return status;
}

/* The file, terminated, to be freed; NULL when it is not there. */
static inline char *aicb_line_read(const char *path, size_t *size)
{
    FILE *stream = fopen(path, "rb");
    char *text = NULL;
    *size = 0;
    if (stream == NULL) {
        return NULL;
    }
    for (size_t got = 1; got > 0; *size += got) {
        text = realloc(text, *size + (1 << 20) + 1);
        CHECK(text != NULL, "memory for a file");
        got = fread(text + *size, 1, 1 << 20, stream);
    }
    text[*size] = '\0';
    (void)fclose(stream);
    return text;
}

#endif
