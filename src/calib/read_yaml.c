/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The same tables as YAML or JSON. A table is a map: `collective` and `ranks` hold for all of it, and its measurements
 * are columns of equal length (size_bytes: […], time_us: […]) or rows under `points`, `rows` or `data`, each a map of
 * headings or, with `columns: […]`, a list. The file is one table, a list of them, or a plain list of rows. Scalars are
 * taken as written, so that "1 MiB" and "20us" mean what they do in the other forms.
 */
#include <inttypes.h>
#include <string.h>

#include "calib/read_text.h"
#include "io/yaml.h"

static struct calib_word calib_read_yaml_word_of(const char *text)
{
    return (struct calib_word){text, (uint32_t)strlen(text)};
}

static bool calib_read_yaml_is_scalar(const struct io_value *value)
{
    return value->kind != IO_LIST && value->kind != IO_MAP && value->text != NULL;
}

static enum orr_status bad(const struct calib_text *text, const struct io_value *value, const char *needed,
                           struct orr_error *err)
{
    char found[128];
    return error_set(err, ORR_EINVAL, "%s:%" PRIu32 ": %s where %s is needed", text->path, value->line,
                     io_value_describe(value, found, sizeof found), needed);
}

/* ---- rows ---- */

/* Headings of a map's scalars, with the fields beside them. */
static enum orr_status map_split(const struct calib_text *text, const struct io_value *map,
                                 struct calib_word words[CALIB_WORDS_MAX], struct calib_word fields[CALIB_WORDS_MAX],
                                 uint32_t *count, struct orr_error *err)
{
    *count = 0;
    for (const struct io_value *value = map->first; value != NULL; value = value->next) {
        if (!calib_read_yaml_is_scalar(value)) {
            return bad(text, value, "a number or a word", err);
        }
        if (*count == CALIB_WORDS_MAX) {
            return bad(text, map, "a map of fewer keys", err);
        }
        words[*count] = calib_read_yaml_word_of(value->key);
        fields[(*count)++] = calib_read_yaml_word_of(value->text);
    }
    return ORR_OK;
}

static enum orr_status row_of_map(const struct calib_text *text, const struct io_value *map, struct calib_rows *rows,
                                  const struct calib_row *common, struct orr_error *err)
{
    struct calib_word words[CALIB_WORDS_MAX];
    struct calib_word fields[CALIB_WORDS_MAX];
    struct calib_columns columns;
    uint32_t count = 0;
    enum orr_status status = map_split(text, map, words, fields, &count, err);
    if (status != ORR_OK) {
        return status;
    }
    calib_columns_parse(words, count, &columns);
    if (!columns.whole) {
        return bad(text, map, "a row with a size (size_bytes) and one or two times (time_us)", err);
    }
    struct calib_row row = *common;
    row.line = map->line;
    return calib_rows_add(rows, text, &columns, fields, &row, 0, err);
}

static enum orr_status row_of_list(const struct calib_text *text, const struct io_value *list,
                                   const struct calib_columns *columns, struct calib_rows *rows,
                                   const struct calib_row *common, struct orr_error *err)
{
    struct calib_word fields[CALIB_WORDS_MAX];
    uint32_t count = 0;
    if (columns == NULL || list->count != columns->count) {
        return bad(text, list, "a map, or a list as long as columns:,", err);
    }
    for (const struct io_value *value = list->first; value != NULL; value = value->next) {
        if (!calib_read_yaml_is_scalar(value)) {
            return bad(text, value, "a number or a word", err);
        }
        fields[count++] = calib_read_yaml_word_of(value->text);
    }
    struct calib_row row = *common;
    row.line = list->line;
    return calib_rows_add(rows, text, columns, fields, &row, 0, err);
}

/* ---- tables ---- */

/* The parts of a table's map; the rest is passed over. */
struct table {
    const struct io_value *rows, *columns;
    const struct io_value *lists[CALIB_WORDS_MAX]; /* columns by their own keys */
    struct calib_word words[CALIB_WORDS_MAX];
    uint32_t list_count;
};

static enum orr_status table_split(const struct calib_text *text, const struct io_value *map, struct table *table,
                                   struct calib_row *common, struct orr_error *err)
{
    static const char *const rows[] = {"points", "rows", "data", "measurements", "results"};
    for (const struct io_value *value = map->first; value != NULL; value = value->next) {
        struct calib_word key = calib_read_yaml_word_of(value->key);
        enum calib_heading_kind kind = calib_heading_parse(key).kind;
        if (value->kind == IO_LIST && calib_word_is(key, "columns")) {
            table->columns = value;
        } else if (value->kind == IO_LIST && kind != CALIB_HEAD_OTHER && table->list_count < CALIB_WORDS_MAX) {
            table->words[table->list_count] = key;
            table->lists[table->list_count++] = value;
        } else if (calib_read_yaml_is_scalar(value) && kind == CALIB_HEAD_TYPE) {
            common->type = calib_type_of(calib_read_yaml_word_of(value->text));
            if (common->type == CALIB_TYPE_UNKNOWN) {
                return bad(text, value, "the name of a collective", err);
            }
        } else if (calib_read_yaml_is_scalar(value) && kind == CALIB_HEAD_RANKS &&
                   (!calib_word_count(calib_read_yaml_word_of(value->text), &common->ranks) || common->ranks < 2)) {
            return bad(text, value, "a number of ranks, at least 2,", err);
        }
        for (size_t i = 0; value->kind == IO_LIST && i < sizeof rows / sizeof rows[0]; i++) {
            table->rows = calib_word_is(key, rows[i]) ? value : table->rows;
        }
    }
    return ORR_OK;
}

static enum orr_status columns_of(const struct calib_text *text, const struct io_value *list,
                                  struct calib_columns *columns, struct orr_error *err)
{
    struct calib_word words[CALIB_WORDS_MAX];
    uint32_t count = 0;
    for (const struct io_value *value = list->first; value != NULL && count < CALIB_WORDS_MAX; value = value->next) {
        if (!calib_read_yaml_is_scalar(value)) {
            return bad(text, value, "the heading of a column", err);
        }
        words[count++] = calib_read_yaml_word_of(value->text);
    }
    calib_columns_parse(words, count, columns);
    return columns->whole ? ORR_OK : bad(text, list, "a list of headings with a size and one or two times", err);
}

static enum orr_status rows_take(const struct calib_text *text, const struct io_value *list,
                                 const struct calib_columns *columns, struct calib_rows *rows,
                                 const struct calib_row *common, struct orr_error *err)
{
    enum orr_status status = ORR_OK;
    for (const struct io_value *row = list->first; row != NULL && status == ORR_OK; row = row->next) {
        if (row->kind == IO_MAP) {
            status = row_of_map(text, row, rows, common, err);
        } else if (row->kind == IO_LIST) {
            status = row_of_list(text, row, columns, rows, common, err);
        } else {
            status = bad(text, row, "a row (a map or a list)", err);
        }
    }
    return status;
}

/* size_bytes: [8, 16], time_us: [20, 21] */
static enum orr_status lists_take(const struct calib_text *text, struct table *table, struct calib_rows *rows,
                                  const struct calib_row *common, struct orr_error *err)
{
    struct calib_columns columns;
    struct calib_word fields[CALIB_WORDS_MAX];
    const struct io_value *at[CALIB_WORDS_MAX];
    enum orr_status status = ORR_OK;
    calib_columns_parse(table->words, table->list_count, &columns);
    if (!columns.whole) {
        return bad(text, table->lists[0], "one list of sizes and one or two of times", err);
    }
    for (uint32_t i = 0; i < table->list_count; i++) {
        if (table->lists[i]->count != table->lists[0]->count) {
            return bad(text, table->lists[i], "a column as long as the others", err);
        }
        at[i] = table->lists[i]->first;
    }
    for (uint32_t row = 0; row < table->lists[0]->count && status == ORR_OK; row++) {
        struct calib_row common_row = *common;
        common_row.line = at[0]->line;
        for (uint32_t i = 0; i < table->list_count; i++) {
            if (!calib_read_yaml_is_scalar(at[i])) {
                return bad(text, at[i], "a number or a word", err);
            }
            fields[i] = calib_read_yaml_word_of(at[i]->text);
            at[i] = at[i]->next;
        }
        status = calib_rows_add(rows, text, &columns, fields, &common_row, 0, err);
    }
    return status;
}

static enum orr_status table_take(const struct calib_text *text, const struct io_value *map, bool *is_table,
                                  struct calib_rows *rows, struct orr_error *err)
{
    struct table table = {.list_count = 0};
    struct calib_columns columns;
    struct calib_row common = {.type = CALIB_TYPE_UNKNOWN};
    enum orr_status status = table_split(text, map, &table, &common, err);
    *is_table = table.rows != NULL || table.list_count > 0;
    if (status != ORR_OK || !*is_table) {
        return status;
    }
    common.table = rows->tables++;
    if (table.rows == NULL) {
        return lists_take(text, &table, rows, &common, err);
    }
    if (table.columns != NULL) {
        status = columns_of(text, table.columns, &columns, err);
    }
    return status != ORR_OK ? status
                            : rows_take(text, table.rows, table.columns != NULL ? &columns : NULL, rows, &common, err);
}

static enum orr_status root_take(const struct calib_text *text, const struct io_value *root, struct calib_rows *rows,
                                 struct orr_error *err)
{
    bool is_table = false;
    struct calib_row common = {.type = CALIB_TYPE_UNKNOWN, .table = rows->tables++};
    enum orr_status status = ORR_OK;
    if (root->kind == IO_MAP) {
        status = table_take(text, root, &is_table, rows, err);
        return status != ORR_OK || is_table ? status : bad(text, root, "a map with points: or columns of numbers", err);
    }
    if (root->kind != IO_LIST) {
        return bad(text, root, "a table", err);
    }
    for (const struct io_value *item = root->first; item != NULL && status == ORR_OK; item = item->next) {
        if (item->kind != IO_MAP) {
            return bad(text, item, "a row or a table (a map)", err);
        }
        status = table_take(text, item, &is_table, rows, err);
        if (status == ORR_OK && !is_table) {
            status = row_of_map(text, item, rows, &common, err);
        }
    }
    return status;
}

enum orr_status calib_read_yaml(const struct calib_text *text, struct calib_rows *rows, struct orr_error *err)
{
    struct arena arena;
    struct io_value *root = NULL;
    arena_init(&arena, text->mem);
    enum orr_status status = io_yaml_parse(text->path, text->bytes, text->size, &arena, &root, err);
    if (status == ORR_OK) {
        status = root_take(text, root, rows, err);
    }
    arena_free(&arena);
    return status;
}
