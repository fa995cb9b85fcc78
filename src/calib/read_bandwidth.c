/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rocm-bandwidth-test prints matrices under titles: who reaches whom, distances, then the copy rates. Only the two
 * titles with "copy peak bandwidth" open a matrix that is read; any other line that is no row closes it. A device that
 * has no rate to itself is the host: the tool copies from accelerator memory only.
 */
#include <inttypes.h>

#include "calib/read_text.h"

enum { DEVICES_MAX = 128 };

struct matrix {
    bool open, both_ways;
    uint32_t devices[DEVICES_MAX]; /* of the columns */
    bool memory[DEVICES_MAX];      /* a rate to itself was found */
    uint32_t columns;
    uint32_t first; /* its first copy */
};

static enum orr_status rate_take(const struct calib_text *text, uint32_t line, struct matrix *matrix, uint32_t from,
                                 uint32_t column, struct calib_word word, struct calib_points *points,
                                 struct orr_error *err)
{
    char found[CALIB_WORD_TEXT];
    struct calib_copy copy = {
        .from = from, .to = matrix->devices[column], .both_ways = matrix->both_ways, .host = false};
    if (calib_word_is(word, "N/A")) {
        return ORR_OK;
    }
    if (!calib_word_number(word, &copy.gbytes_per_s) || !(copy.gbytes_per_s >= 0 && copy.gbytes_per_s <= 1e9)) {
        return error_set(err, ORR_EINVAL, "%s:%" PRIu32 ": \"%s\" is no bandwidth; a number of GB/s or N/A is needed",
                         text->path, line, calib_word_text(word, found));
    }
    if (copy.gbytes_per_s <= 0) {
        return ORR_OK;
    }
    matrix->memory[column] |= copy.from == copy.to;
    return calib_points_add_copy(points, &copy, text->mem, err);
}

static bool has_memory(const struct matrix *matrix, uint32_t device)
{
    for (uint32_t i = 0; i < matrix->columns; i++) {
        if (matrix->devices[i] == device) {
            return matrix->memory[i];
        }
    }
    return false;
}

/* Which copies have the host at one end shows only when the whole matrix is there. The matrix is symmetric in its
 * devices, so a row tells what a column does. */
static void matrix_close(struct matrix *matrix, struct calib_points *points)
{
    for (uint32_t i = matrix->first; matrix->open && i < points->copy_count; i++) {
        struct calib_copy *copy = &points->copies[i];
        copy->host = !has_memory(matrix, copy->from) || !has_memory(matrix, copy->to);
    }
    matrix->open = false;
}

static enum orr_status columns_take(const struct calib_text *text, uint32_t line, struct matrix *matrix,
                                    const struct calib_word *words, uint32_t count, struct orr_error *err)
{
    if (count > DEVICES_MAX + 1) {
        return error_set(err, ORR_EINVAL, "%s:%" PRIu32 ": a matrix of %" PRIu32 " devices; at most %d are read",
                         text->path, line, count - 1, DEVICES_MAX);
    }
    for (uint32_t i = 1; i < count; i++) {
        char found[CALIB_WORD_TEXT];
        if (!calib_word_count(words[i], &matrix->devices[i - 1])) {
            return error_set(err, ORR_EINVAL, "%s:%" PRIu32 ": \"%s\" is no number of a device", text->path, line,
                             calib_word_text(words[i], found));
        }
        matrix->memory[i - 1] = false;
    }
    matrix->columns = count - 1;
    return ORR_OK;
}

static enum orr_status calib_read_bandwidth_row_take(const struct calib_text *text, uint32_t line,
                                                     struct matrix *matrix, const struct calib_word *words,
                                                     uint32_t count, struct calib_points *points, struct orr_error *err)
{
    uint32_t from = 0;
    enum orr_status status = ORR_OK;
    if (!calib_word_count(words[0], &from) || count != matrix->columns + 1 || count == 1) {
        return error_set(err, ORR_EINVAL,
                         "%s:%" PRIu32 ": a row of %" PRIu32 " rates in a matrix of %" PRIu32 " columns", text->path,
                         line, count - 1, matrix->columns);
    }
    for (uint32_t i = 1; i < count && status == ORR_OK; i++) {
        status = rate_take(text, line, matrix, from, i - 1, words[i], points, err);
    }
    return status;
}

static bool matrix_title(struct calib_word line)
{
    return calib_word_find(line, "copy peak bandwidth") != NULL;
}

static enum orr_status calib_read_bandwidth_line_take(const struct calib_text *text, const struct calib_lines *lines,
                                                      struct matrix *matrix, struct calib_points *points,
                                                      struct orr_error *err)
{
    struct calib_word words[CALIB_WORDS_MAX];
    uint32_t device = 0;
    if (matrix_title(lines->line)) {
        matrix_close(matrix, points);
        if (calib_word_find(lines->line, "GB/s") == NULL) {
            return error_set(err, ORR_EINVAL, "%s:%" PRIu32 ": a matrix of bandwidths that are not in GB/s", text->path,
                             lines->number);
        }
        matrix->open = true;
        matrix->both_ways = calib_word_find(lines->line, "bidirectional") != NULL;
        matrix->columns = 0;
        matrix->first = points->copy_count;
        return ORR_OK;
    }
    uint32_t count = calib_words_split(lines->line, words);
    if (!matrix->open || count == 0) {
        return ORR_OK;
    }
    if (count != UINT32_MAX && calib_word_is(words[0], "D/D")) {
        return columns_take(text, lines->number, matrix, words, count, err);
    }
    if (count != UINT32_MAX && calib_word_count(words[0], &device)) {
        return calib_read_bandwidth_row_take(text, lines->number, matrix, words, count, points, err);
    }
    matrix_close(matrix, points);
    return ORR_OK;
}

enum orr_status calib_read_bandwidth(const struct calib_text *text, struct calib_points *points, struct orr_error *err)
{
    struct calib_lines lines = {.next = text->bytes};
    struct matrix matrix = {.open = false};
    enum orr_status status = ORR_OK;
    while (status == ORR_OK && calib_lines_next(text, &lines)) {
        status = calib_read_bandwidth_line_take(text, &lines, &matrix, points, err);
    }
    matrix_close(&matrix, points);
    return status;
}
