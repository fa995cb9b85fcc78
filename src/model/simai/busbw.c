/* SPDX-License-Identifier: Apache-2.0 */
/* One line, one fact: a label (only before the first section), a section, or a key with its value. Blanks and comments
 * are dropped before any of this is asked. */
#include "model/simai/busbw.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "io/file.h"
#include "io/value.h"

enum { WORD_SIZE = 64, SECTION_NONE = -1, SECTION_PP = SIMAI_GROUPS };

static const char *const section_names[] = {"TP", "DP", "EP", "DP_EP", "CP", "PP", NULL};
static const char *const key_names[] = {"allreduce", "allgather", "reducescatter", "alltoall", NULL};

struct busbw_line {
    const char *name;
    uint64_t number;
    char key[WORD_SIZE];
    char value[WORD_SIZE];
    bool has_colon;
};

static size_t trim(const char **text, size_t length)
{
    while (length > 0 && ((*text)[0] == ' ' || (*text)[0] == '\t')) {
        (*text)++;
        length--;
    }
    while (length > 0 && memchr(" \t\r", (*text)[length - 1], 3) != NULL) {
        length--;
    }
    return length;
}

static enum orr_status simai_busbw_keep(const struct busbw_line *line, const char *text, size_t length,
                                        char word[WORD_SIZE], struct orr_error *err)
{
    length = trim(&text, length);
    for (size_t i = 0; i < length; i++) {
        if ((unsigned char)text[i] < ' ' || (unsigned char)text[i] == 0x7f) {
            return error_set(err, ORR_EINVAL, "%s:%" PRIu64 ": a control character", line->name, line->number);
        }
    }
    if (length >= WORD_SIZE) {
        return error_set(err, ORR_EINVAL, "%s:%" PRIu64 ": \"%.40s…\" is too long for a key or value", line->name,
                         line->number, text);
    }
    memcpy(word, text, length);
    word[length] = '\0';
    return ORR_OK;
}

/* Up to the newline, without the comment, cut at the colon; the comma that the shipped file puts behind its keys goes.
 */
static enum orr_status cut(struct busbw_line *line, const char *text, size_t length, struct orr_error *err)
{
    const char *comment = memchr(text, '#', length);
    length = comment != NULL ? (size_t)(comment - text) : length;
    const char *colon = memchr(text, ':', length);
    line->has_colon = colon != NULL;
    line->value[0] = '\0';
    size_t key_length = colon != NULL ? (size_t)(colon - text) : length;
    enum orr_status status = simai_busbw_keep(line, text, key_length, line->key, err);
    if (status == ORR_OK && colon != NULL) {
        status = simai_busbw_keep(line, colon + 1, length - key_length - 1, line->value, err);
    }
    size_t end = strlen(line->key);
    if (status == ORR_OK && colon != NULL && end > 0 && line->key[end - 1] == ',') {
        line->key[end - 1] = '\0';
    }
    return status;
}

static int simai_busbw_find(const char *const *words, const char *word)
{
    for (int i = 0; words[i] != NULL; i++) {
        if (strcmp(words[i], word) == 0) {
            return i;
        }
    }
    return -1;
}

static enum orr_status simai_busbw_unknown(const struct busbw_line *line, const char *what, const char *const *words,
                                           const char *list, struct orr_error *err)
{
    const char *nearest = error_nearest(line->key, words);
    return error_set(err, ORR_EINVAL, "%s:%" PRIu64 ": unknown %s \"%s\"; %s%s%s", line->name, line->number, what,
                     line->key, nearest != NULL ? "did you mean \"" : list, nearest != NULL ? nearest : "",
                     nearest != NULL ? "\"?" : "");
}

/* 0 for null, ~ and nothing. */
static enum orr_status read_bandwidth(const struct busbw_line *line, double *value, struct orr_error *err)
{
    struct io_value number = {0};
    if (line->value[0] == '\0' || strcmp(line->value, "null") == 0 || strcmp(line->value, "~") == 0) {
        *value = 0;
        return ORR_OK;
    }
    if (!io_number_parse(line->value, &number)) {
        return error_set(err, ORR_EINVAL, "%s:%" PRIu64 ": %s is a bandwidth in GB/s or null, not \"%s\"", line->name,
                         line->number, line->key, line->value);
    }
    double found = number.kind == IO_INTEGER ? (double)number.integer : number.real;
    if (!(found > 0)) {
        return error_set(err, ORR_ERANGE, "%s:%" PRIu64 ": %s is %s; a bandwidth is above 0, or null", line->name,
                         line->number, line->key, line->value);
    }
    *value = found;
    return ORR_OK;
}

static enum orr_status simai_busbw_read_key(const struct busbw_line *line, int section, struct simai_busbw *busbw,
                                            struct orr_error *err)
{
    if (section == SECTION_NONE) {
        return error_set(err, ORR_EINVAL, "%s:%" PRIu64 ": \"%s\" stands before the first section (TP:, DP:, EP:, PP:)",
                         line->name, line->number, line->key);
    }
    if (section == SECTION_PP) {
        static const char *const only[] = {"busbw", NULL};
        return simai_busbw_find(only, line->key) < 0
                   ? simai_busbw_unknown(line, "key", only, "section PP has busbw", err)
                   : read_bandwidth(line, &busbw->pp, err);
    }
    int op = simai_busbw_find(key_names, line->key);
    if (op < 0) {
        return simai_busbw_unknown(line, "key", key_names, "known are allreduce, allgather, reducescatter, alltoall",
                                   err);
    }
    return read_bandwidth(line, &busbw->value[section][SIMAI_OP_ALLREDUCE + op], err);
}

static enum orr_status simai_busbw_read_line(const struct busbw_line *line, int *section, bool *labelled,
                                             struct simai_busbw *busbw, struct orr_error *err)
{
    if (line->key[0] == '\0' && !line->has_colon) {
        return ORR_OK;
    }
    if (!line->has_colon) {
        if (*labelled || *section != SECTION_NONE) {
            return error_set(err, ORR_EINVAL, "%s:%" PRIu64 ": \"%s\" is neither a section nor \"key: value\"",
                             line->name, line->number, line->key);
        }
        *labelled = true; /* the tutorial's first line: a name for the file */
        return ORR_OK;
    }
    int found = simai_busbw_find(section_names, line->key);
    if (found >= 0 && line->value[0] == '\0') {
        *section = found;
        return ORR_OK;
    }
    if (line->value[0] == '\0' && simai_busbw_find(key_names, line->key) < 0 && strcmp(line->key, "busbw") != 0) {
        return simai_busbw_unknown(line, "section", section_names, "known are TP, DP, EP, DP_EP, CP, PP", err);
    }
    return simai_busbw_read_key(line, *section, busbw, err);
}

static bool has_value(const struct simai_busbw *busbw)
{
    bool found = busbw->pp > 0;
    for (unsigned group = 0; group < SIMAI_GROUPS; group++) {
        for (unsigned op = SIMAI_OP_ALLREDUCE; op < SIMAI_OPS; op++) {
            found = found || busbw->value[group][op] > 0;
        }
    }
    return found;
}

/* What section EP says of operations that are carried out between expert groups. */
static void move_expert_values(struct simai_busbw *busbw)
{
    for (unsigned op = SIMAI_OP_ALLREDUCE; op < SIMAI_OPS; op++) {
        if (op != SIMAI_OP_ALLTOALL) {
            double *between = &busbw->value[SIMAI_GROUP_DP_EP][op];
            *between = *between > 0 ? *between : busbw->value[SIMAI_GROUP_EP][op];
            busbw->value[SIMAI_GROUP_EP][op] = 0;
        }
    }
}

enum orr_status simai_busbw_parse(const char *name, const char *text, size_t size, struct simai_busbw *busbw,
                                  struct orr_error *err)
{
    struct simai_busbw made = {0};
    struct busbw_line line = {.name = name};
    int section = SECTION_NONE;
    bool labelled = false;
    enum orr_status status = ORR_OK;
    for (const char *at = text, *end = text + size; at < end && status == ORR_OK;) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        const char *stop = newline != NULL ? newline : end;
        line.number++;
        status = cut(&line, at, (size_t)(stop - at), err);
        status = status == ORR_OK ? simai_busbw_read_line(&line, &section, &labelled, &made, err) : status;
        at = stop + (newline != NULL);
    }
    if (status == ORR_OK && !has_value(&made)) {
        return error_set(err, ORR_EINVAL,
                         "%s: no bandwidth in it; a section (TP:, DP:, EP:, DP_EP:, CP:, PP:) and lines such as "
                         "\"allreduce: 300\" (GB/s) are expected",
                         name);
    }
    if (status == ORR_OK) {
        move_expert_values(&made);
        *busbw = made;
    }
    return status;
}

enum orr_status simai_busbw_read(const char *path, struct mem *mem, struct simai_busbw *busbw, struct orr_error *err)
{
    struct file_buffer file;
    file_buffer_init(&file, mem);
    enum orr_status status = file_buffer_read(&file, path, err);
    if (status == ORR_OK) {
        status = simai_busbw_parse(path, (const char *)file.bytes, file.size, busbw, err);
    }
    file_buffer_free(&file);
    return status;
}
