/* SPDX-License-Identifier: Apache-2.0 */
/* A sheet's two files: the table through io/csv, the ports and symbols through io/json. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "io/csv.h"
#include "io/file.h"
#include "io/json.h"
#include "model/stg/sheet.h"

enum { PATH_BYTES = 4096 };

static enum orr_status check_header(const struct csv_row *header, const char *path, struct orr_error *err)
{
    const char *known[STG_COLUMN_COUNT + 1] = {NULL};
    for (unsigned i = 0; i < STG_COLUMN_COUNT; i++) {
        known[i] = stg_column_name((enum stg_column)i);
    }
    if (header->count != STG_COLUMN_COUNT && header->count != STG_COLUMN_COUNT - 1) {
        return error_set(err, ORR_EINVAL,
                         "%s:%" PRIu64 ": %" PRIu32
                         " columns; a sheet has id, require_grads, x1, x2, op_type, op_attr, "
                         "x1_shape, x1_hidden, x2_shape, x2_hidden, grad_of and, if need be, extra_attr",
                         path, header->line, header->count);
    }
    for (uint32_t i = 0; i < header->count; i++) {
        if (strcmp(header->fields[i].text, known[i]) != 0) {
            char shown[120];
            return error_set(err, ORR_EINVAL, "%s:%" PRIu64 ":%" PRIu32 ": column %" PRIu32 " is \"%s\", not \"%s\"",
                             path, header->line, header->fields[i].column, i + 1,
                             io_text_printable(header->fields[i].text, shown, sizeof shown), known[i]);
        }
    }
    return ORR_OK;
}

static enum orr_status stg_sheet_file_read_rows(struct csv_reader *reader, const char *path, struct stg_graph *sheet,
                                                struct orr_error *err)
{
    enum orr_status status = check_header(csv_reader_header(reader), path, err);
    bool more = true;
    while (status == ORR_OK) {
        struct csv_row row;
        status = csv_reader_next(reader, &row, &more, err);
        if (status != ORR_OK || !more) {
            return status;
        }
        struct stg_cells cells = {0};
        char where[PATH_BYTES + 32];
        for (uint32_t i = 0; i < row.count && i < STG_COLUMN_COUNT; i++) {
            cells.text[i] = row.fields[i].text;
            cells.column[i] = row.fields[i].column;
        }
        (void)snprintf(where, sizeof where, "%s:%" PRIu64, path, row.line);
        status = stg_sheet_row(sheet, where, &cells, err);
    }
    return status;
}

static enum orr_status read_table(const char *path, struct stg_graph *sheet, struct orr_error *err)
{
    struct csv_reader *reader = NULL;
    enum orr_status status = csv_reader_open(path, sheet->space->mem, &reader, err);
    if (status == ORR_OK) {
        status = stg_sheet_file_read_rows(reader, path, sheet, err);
        csv_reader_close(reader);
    }
    return status == ORR_OK ? stg_sheet_close(sheet, err) : status;
}

/* ---- NAME.json ---- */

static uint32_t symbols_used(const struct stg_graph *sheet)
{
    const struct stg_space *space = sheet->space;
    uint32_t used = 0;
    for (uint32_t i = 0; i < sheet->count; i++) {
        const struct stg_tensor *tensor = &sheet->tensors[i];
        const uint32_t shapes[] = {tensor->shape[0], tensor->hidden[0], tensor->shape[1], tensor->hidden[1]};
        for (size_t s = 0; s < 4; s++) {
            uint32_t count = 0;
            const uint32_t *dims = shapes[s] == STG_NONE ? NULL : stg_shape_dims(space, shapes[s], &count);
            for (uint32_t d = 0; d < count; d++) {
                used |= stg_expr_symbols(&space->exprs, dims[d]);
            }
        }
    }
    return used;
}

static enum orr_status check_symbols(const struct stg_graph *sheet, const char *path, const struct io_value *list,
                                     struct orr_error *err)
{
    uint32_t declared = 0;
    for (const struct io_value *item = list->first; item != NULL; item = item->next) {
        const char *name = item->kind == IO_TEXT ? item->text : "";
        enum stg_symbol symbol = stg_symbol_find(name, strlen(name));
        if (symbol == STG_SYMBOL_COUNT) {
            char shown[120];
            const char *nearest = stg_symbol_nearest(name);
            return error_set(err, ORR_EINVAL, "%s:%" PRIu32 ": unknown symbol %s%s%s%s", path, item->line,
                             io_value_describe(item, shown, sizeof shown), nearest == NULL ? "" : "; did you mean \"",
                             nearest == NULL ? "" : nearest, nearest == NULL ? "" : "\"?");
        }
        declared |= UINT32_C(1) << symbol;
    }
    uint32_t used = symbols_used(sheet);
    for (unsigned i = 0; i < STG_SYMBOL_COUNT; i++) {
        if (((used ^ declared) >> i & 1) != 0) {
            return error_set(err, ORR_EINVAL, "%s:%" PRIu32 ": symbols: \"%s\" is %s", path, list->line,
                             stg_symbol_name((enum stg_symbol)i),
                             (used >> i & 1) != 0 ? "used in the sheet but not listed" : "listed but not in any shape");
        }
    }
    return ORR_OK;
}

static enum orr_status take_list(struct stg_graph *sheet, const char *path, const struct io_value *list,
                                 struct orr_error *err)
{
    if (list->kind != IO_LIST) {
        char shown[120];
        return error_set(err, ORR_EINVAL, "%s:%" PRIu32 ": \"%s\" is %s, not a list of names", path, list->line,
                         list->key, io_value_describe(list, shown, sizeof shown));
    }
    if (strcmp(list->key, "symbols") == 0) {
        return check_symbols(sheet, path, list, err);
    }
    bool input = strcmp(list->key, "in_tensors") == 0;
    for (const struct io_value *item = list->first; item != NULL; item = item->next) {
        char where[PATH_BYTES + 32];
        (void)snprintf(where, sizeof where, "%s:%" PRIu32, path, item->line);
        enum orr_status status = stg_sheet_port(sheet, where, item->kind == IO_TEXT ? item->text : "", input, err);
        if (status != ORR_OK) {
            return status;
        }
    }
    return ORR_OK;
}

static enum orr_status take_ports(struct stg_graph *sheet, const char *path, const struct io_value *root,
                                  struct orr_error *err)
{
    static const char *const keys[] = {"symbols", "in_tensors", "out_tensors", NULL};
    bool seen[3] = {false};
    if (root->kind != IO_MAP) {
        return error_set(err, ORR_EINVAL, "%s:%" PRIu32 ": not {symbols, in_tensors, out_tensors}", path, root->line);
    }
    for (const struct io_value *item = root->first; item != NULL; item = item->next) {
        unsigned key = 0;
        while (keys[key] != NULL && strcmp(keys[key], item->key) != 0) {
            key++;
        }
        if (keys[key] == NULL) {
            char shown[120];
            struct error_proposal near = error_propose(item->key, keys);
            return error_set(err, ORR_EINVAL, "%s:%" PRIu32 ": unknown key \"%s\"%s", path, item->key_line,
                             io_text_printable(item->key, shown, sizeof shown), near.text);
        }
        seen[key] = true;
        enum orr_status status = take_list(sheet, path, item, err);
        if (status != ORR_OK) {
            return status;
        }
    }
    for (unsigned key = 0; key < 3; key++) {
        if (!seen[key]) {
            return error_set(err, ORR_EINVAL, "%s: \"%s\" is missing", path, keys[key]);
        }
    }
    return ORR_OK;
}

static enum orr_status read_ports(const char *path, struct stg_graph *sheet, struct orr_error *err)
{
    struct file_buffer buffer;
    struct arena arena;
    struct io_value *root = NULL;
    file_buffer_init(&buffer, sheet->space->mem);
    arena_init(&arena, sheet->space->mem);
    enum orr_status status = file_buffer_read(&buffer, path, err);
    if (status == ORR_OK) {
        status = io_json_parse(path, (const char *)buffer.bytes, buffer.size, &arena, &root, err);
    }
    if (status == ORR_OK) {
        status = take_ports(sheet, path, root, err);
    }
    arena_free(&arena);
    file_buffer_free(&buffer);
    return status;
}

enum orr_status stg_sheet_read(const char *table, const char *ports, struct stg_graph *sheet, struct orr_error *err)
{
    enum orr_status status = read_table(table, sheet, err);
    return status == ORR_OK ? read_ports(ports, sheet, err) : status;
}
