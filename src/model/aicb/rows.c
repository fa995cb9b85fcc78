/* SPDX-License-Identifier: Apache-2.0 */
/* Printing is the whole cost of a generator: rows go out through one buffer of text a row, without stdio's formats. */
#include "model/aicb/rows.h"

#include <inttypes.h>
#include <string.h>

enum { ROWS_MAX = 1 << 27, LINE_BYTES = 512 };

enum orr_status aicb_rows_add(struct aicb_rows *rows, struct aicb_row row, struct orr_error *err)
{
    if (rows->count == ROWS_MAX) {
        return error_set(err, ORR_ERANGE, "more than the %d rows a file may have", ROWS_MAX);
    }
    if (rows->count == rows->capacity) {
        uint32_t capacity = rows->capacity == 0 ? 64 : 2 * rows->capacity;
        struct aicb_row *grown = arena_alloc(rows->arena, capacity * sizeof *grown);
        if (grown == NULL) {
            return mem_error(rows->arena->mem, "rows of a workload", err);
        }
        if (rows->count > 0) {
            memcpy(grown, rows->items, rows->count * sizeof *grown);
        }
        rows->items = grown;
        rows->capacity = capacity;
    }
    rows->items[rows->count++] = row;
    return ORR_OK;
}

static char *aicb_rows_put_text(char *at, const char *text)
{
    size_t length = strlen(text);
    memcpy(at, text, length);
    return at + length;
}

static char *aicb_rows_put_number(char *at, int64_t value)
{
    char digits[20];
    size_t count = 0;
    uint64_t rest = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
    do {
        digits[count++] = (char)('0' + rest % 10);
        rest /= 10;
    } while (rest != 0);
    if (value < 0) {
        *at++ = '-';
    }
    while (count > 0) {
        *at++ = digits[--count];
    }
    return at;
}

static char *put_pass(char *at, const struct aicb_pass *pass)
{
    at = aicb_rows_put_number(at, pass->compute_ns);
    *at++ = '\t';
    at = aicb_rows_put_text(at, pass->comm == NULL ? AICB_NONE : pass->comm);
    *at++ = '\t';
    at = aicb_rows_put_number(at, pass->bytes);
    *at++ = '\t';
    return at;
}

/* Names and operations are literals of ours, far shorter than a line. */
static void aicb_rows_write_rows(const struct aicb_rows *rows, FILE *stream)
{
    for (uint32_t i = 0; i < rows->count; i++) {
        const struct aicb_row *row = &rows->items[i];
        char line[LINE_BYTES];
        char *at = aicb_rows_put_text(line, row->name);
        at = aicb_rows_put_text(at, "\t-1\t");
        at = put_pass(at, &row->forward);
        at = put_pass(at, &row->input_gradient);
        at = put_pass(at, &row->weight_gradient);
        at = aicb_rows_put_text(at, "100\n");
        (void)fwrite(line, 1, (size_t)(at - line), stream);
    }
}

enum orr_status aicb_text_write(const struct aicb_text *text, FILE *stream, struct orr_error *err)
{
    uint32_t longest = text->first.count > text->again.count ? text->first.count : text->again.count;
    int64_t rows = (int64_t)text->lead.count + text->tail.count;
    if (text->repeats > 0) {
        if (text->repeats > ROWS_MAX / ((int64_t)longest + 1)) {
            return error_set(err, ORR_ERANGE,
                             "%" PRId64 " micro-batches of %" PRIu32 " rows are more than the %d rows a file may have",
                             text->repeats, longest, ROWS_MAX);
        }
        rows += text->first.count + (text->repeats - 1) * text->again.count;
    }
    (void)fprintf(stream, "%s\n%" PRId64 "\n", text->header, rows);
    aicb_rows_write_rows(&text->lead, stream);
    for (int64_t i = 0; i < text->repeats; i++) {
        aicb_rows_write_rows(i == 0 ? &text->first : &text->again, stream);
    }
    aicb_rows_write_rows(&text->tail, stream);
    return ORR_OK;
}
