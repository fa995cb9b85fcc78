/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A table of fields. The published tables open with comments that say what the columns cannot (ranks, program), so
 * comments are read for these two; and some have their heading behind a #. Therefore not io/csv.h, which knows no
 * comment.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/scan.h"
#include "calib/read_text.h"

static const char separators[] = {',', ';', '\t'};

char calib_csv_heading(struct calib_word line, struct calib_columns *columns)
{
    struct calib_word fields[CALIB_WORDS_MAX];
    while (line.length > 0 && (*line.at == '#' || *line.at == ' ')) {
        line.at++;
        line.length--;
    }
    for (size_t i = 0; i < sizeof separators; i++) {
        uint32_t count = calib_fields_split(line, separators[i], fields);
        if (count == UINT32_MAX || count < 2) {
            continue;
        }
        calib_columns_parse(fields, count, columns);
        if (columns->whole) {
            return separators[i];
        }
    }
    return '\0';
}

/* "n_ranks=8", "ranks: 16" anywhere in a comment. */
static uint32_t ranks_in(struct calib_word line)
{
    uint32_t ranks = 0;
    const char *found = calib_word_find(line, "ranks");
    if (found == NULL) {
        return 0;
    }
    const char *end = line.at + line.length;
    const char *at = found + strlen("ranks");
    while (at < end && (*at == ' ' || *at == '=' || *at == ':')) {
        at++;
    }
    const char *digits = at;
    while (at < end && *at >= '0' && *at <= '9') {
        at++;
    }
    return calib_word_count((struct calib_word){digits, (uint32_t)(at - digits)}, &ranks) ? ranks : 0;
}

static void comment_take(struct calib_word line, struct calib_row *common)
{
    uint32_t ranks = ranks_in(line);
    int32_t type = calib_program_type(line);
    common->ranks = ranks >= 2 ? ranks : common->ranks;
    common->type = type != CALIB_TYPE_UNKNOWN ? type : common->type;
}

static enum orr_status no_heading(const struct calib_text *text, uint32_t line, struct calib_word found,
                                  struct orr_error *err)
{
    char head[CALIB_WORD_TEXT];
    return error_set(err, ORR_EINVAL,
                     "%s:%" PRIu32 ": \"%s\" has not one column of sizes and one or two of times; headings such as "
                     "size_bytes, size(KiB) and time_us, latency (ns) are looked for",
                     text->path, line, calib_word_text(found, head));
}

enum orr_status calib_read_csv(const struct calib_text *text, struct calib_rows *rows, struct orr_error *err)
{
    struct calib_lines lines = {.next = text->bytes};
    struct calib_columns columns = {.count = 0};
    struct calib_columns next;
    struct calib_row common = {.type = CALIB_TYPE_UNKNOWN};
    struct calib_word fields[CALIB_WORDS_MAX];
    enum orr_status status = ORR_OK;
    char separator = '\0';
    while (status == ORR_OK && calib_lines_next(text, &lines)) {
        bool comment = lines.line.length > 0 && lines.line.at[0] == '#';
        if (lines.line.length == 0) {
            continue;
        }
        char found = scan_is_digit(*lines.line.at) ? '\0' : calib_csv_heading(lines.line, &next);
        if (found != '\0') { /* also in the middle: tables one after the other */
            separator = found;
            columns = next;
            common.table = rows->tables++;
            continue;
        }
        if (comment) {
            comment_take(lines.line, &common);
            continue;
        }
        if (separator == '\0') {
            return no_heading(text, lines.number, lines.line, err);
        }
        if (calib_fields_split(lines.line, separator, fields) != columns.count) {
            calib_rows_leave_out(rows, CALIB_OUT_SHORT, lines.number);
            continue;
        }
        common.line = lines.number;
        status = calib_rows_add(rows, text, &columns, fields, &common, 0, err);
    }
    return status;
}
