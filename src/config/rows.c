/* SPDX-License-Identifier: Apache-2.0 */
/* What begins with a bracket is JSON, for no header does. */
#include "config/rows.h"

#include <inttypes.h>
#include <string.h>

#include "base/plain.h"
#include "io/csv.h"
#include "io/json.h"

enum { PLACE_MOST = 300, NUMBER_MOST = 40, SHOWN_MOST = 64 };

struct rows_reading {
    const struct config_rows *rows;
    const char *name;
    char where[PLACE_MOST];
    struct orr_error *err;
};

static void rows_place(struct rows_reading *reading, uint64_t line)
{
    (void)snprintf(reading->where, sizeof reading->where, "%.200s:%" PRIu64, reading->name, line);
}

static enum orr_status find_column(const struct rows_reading *reading, const char *name, uint32_t *column)
{
    const char *const *columns = reading->rows->columns;
    char known[PLACE_MOST] = "";
    for (uint32_t i = 0; columns[i] != NULL; i++) {
        if (strcmp(name, columns[i]) == 0) {
            *column = i;
            return ORR_OK;
        }
        size_t used = strlen(known);
        (void)snprintf(known + used, sizeof known - used, "%s%s", i > 0 ? ", " : "", columns[i]);
    }
    char shown[SHOWN_MOST];
    const char *near = error_nearest(name, columns);
    return error_set(reading->err, ORR_EINVAL, "%s: no column \"%s\"%s%s%s; there are %s", reading->where,
                     io_text_printable(name, shown, sizeof shown), near != NULL ? " (did you mean \"" : "",
                     near != NULL ? near : "", near != NULL ? "\"?)" : "", known);
}

static const char *some(const char *text)
{
    return text != NULL && text[0] != '\0' ? text : NULL;
}

static enum orr_status give(struct rows_reading *reading, const char *const *cells)
{
    return reading->rows->take(reading->rows->context, reading->where, cells, reading->err);
}

static enum orr_status read_csv_rows(struct rows_reading *reading, struct csv_reader *reader)
{
    uint32_t column_of[CONFIG_ROWS_COLUMNS];
    const struct csv_row *header = csv_reader_header(reader);
    enum orr_status status = ORR_OK;
    rows_place(reading, header->line);
    for (uint32_t i = 0; i < header->count && status == ORR_OK; i++) {
        status = i < CONFIG_ROWS_COLUMNS
                     ? find_column(reading, header->fields[i].text, &column_of[i])
                     : error_set(reading->err, ORR_EINVAL, "%s: %" PRIu32 " columns", reading->where, header->count);
    }
    struct csv_row row;
    for (bool more = true; more && status == ORR_OK;) {
        const char *cells[CONFIG_ROWS_COLUMNS] = {NULL};
        status = csv_reader_next(reader, &row, &more, reading->err);
        for (uint32_t i = 0; status == ORR_OK && more && i < row.count; i++) {
            cells[column_of[i]] = some(row.fields[i].text);
        }
        if (status == ORR_OK && more) {
            rows_place(reading, row.line);
            status = give(reading, cells);
        }
    }
    return status;
}

static enum orr_status rows_read_csv(struct rows_reading *reading, const char *text, size_t size, struct mem *mem)
{
    struct csv_reader *reader = NULL;
    enum orr_status status = csv_reader_open_text(reading->name, text, size, mem, &reader, reading->err);
    if (status == ORR_OK) {
        status = read_csv_rows(reading, reader);
        csv_reader_close(reader);
    }
    return status;
}

static enum orr_status read_object(struct rows_reading *reading, const struct io_value *row)
{
    const char *cells[CONFIG_ROWS_COLUMNS] = {NULL};
    char numbers[CONFIG_ROWS_COLUMNS][NUMBER_MOST];
    rows_place(reading, row->line);
    if (row->kind != IO_MAP) {
        return error_set(reading->err, ORR_EINVAL, "%s: not an object such as {\"%s\": ...}", reading->where,
                         reading->rows->columns[0]);
    }
    for (const struct io_value *value = row->first; value != NULL; value = value->next) {
        uint32_t column = 0;
        enum orr_status status = find_column(reading, value->key, &column);
        if (status != ORR_OK) {
            return status;
        }
        if (value->kind == IO_INTEGER) {
            (void)snprintf(numbers[column], NUMBER_MOST, "%" PRId64, value->integer);
        } else if (value->kind == IO_REAL) {
            (void)plain_snprintf(numbers[column], NUMBER_MOST, "%.17g", value->real);
        } else if (value->kind != IO_TEXT) {
            return error_set(reading->err, ORR_EINVAL, "%s: \"%s\" is neither a number nor a text", reading->where,
                             reading->rows->columns[column]);
        }
        cells[column] = some(value->kind == IO_TEXT ? value->text : numbers[column]);
    }
    return give(reading, cells);
}

static enum orr_status rows_read_json(struct rows_reading *reading, const char *text, size_t size, struct arena *arena)
{
    struct io_value *root = NULL;
    enum orr_status status = io_json_parse(reading->name, text, size, arena, &root, reading->err);
    if (status != ORR_OK) {
        return status;
    }
    if (root->kind == IO_MAP && root->count == 1 && strcmp(root->first->key, reading->rows->key) == 0) {
        root = root->first;
    }
    if (root->kind != IO_LIST) {
        return error_set(reading->err, ORR_EINVAL, "%s:%" PRIu32 ": not a list of objects, alone or as \"%s\"",
                         reading->name, root->line, reading->rows->key);
    }
    for (const struct io_value *row = root->first; row != NULL && status == ORR_OK; row = row->next) {
        status = read_object(reading, row);
    }
    return status;
}

enum orr_status config_rows_read(const char *name, const char *text, size_t size, struct arena *arena,
                                 const struct config_rows *rows, struct orr_error *err)
{
    struct rows_reading reading = {.rows = rows, .name = name, .err = err};
    size_t blank = 0;
    while (blank < size && strchr(" \t\r\n", text[blank]) != NULL && text[blank] != '\0') {
        blank++;
    }
    bool json = blank < size && (text[blank] == '[' || text[blank] == '{');
    return json ? rows_read_json(&reading, text, size, arena) : rows_read_csv(&reading, text, size, arena->mem);
}
