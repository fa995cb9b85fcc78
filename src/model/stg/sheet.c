/* SPDX-License-Identifier: Apache-2.0 */
/* Cells of one row, turned into a tensor. References stay texts until the sheet is closed: they are kept in the fields
 * that will hold the tensors, so that no second table is needed. */
#include "model/stg/sheet.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/json.h"

static const char *const column_names[STG_COLUMN_COUNT] = {
#define STG_COLUMN(id, name) name,
    STG_COLUMNS(STG_COLUMN)
#undef STG_COLUMN
};

const char *stg_column_name(enum stg_column column)
{
    return column_names[column];
}

struct row {
    struct stg_graph *sheet;
    const char *where;
    const struct stg_cells *cells;
    struct orr_error *err;
};

struct cell {
    const char *text;
    size_t length;
    uint32_t column;
};

static struct cell stg_sheet_trimmed(const struct row *row, enum stg_column column)
{
    const char *text = row->cells->text[column];
    struct cell cell = {text == NULL ? "" : text, 0, row->cells->column[column]};
    while (*cell.text == ' ' || *cell.text == '\t') {
        cell.text++;
        cell.column++;
    }
    cell.length = strlen(cell.text);
    while (cell.length > 0 && (cell.text[cell.length - 1] == ' ' || cell.text[cell.length - 1] == '\t')) {
        cell.length--;
    }
    return cell;
}

static enum orr_status stg_sheet_refuse(const struct row *row, enum stg_column column, const char *why)
{
    struct cell cell = stg_sheet_trimmed(row, column);
    char text[64];
    char shown[160];
    (void)snprintf(text, sizeof text, "%.*s", (int)(cell.length < 60 ? cell.length : 60), cell.text);
    return error_set(row->err, ORR_EINVAL, "%s:%" PRIu32 ": %s: \"%s\" %s", row->where, cell.column,
                     column_names[column], io_text_printable(text, shown, sizeof shown), why);
}

/* A tensor's name: "x" or "x@0". */
static enum orr_status stg_sheet_read_name(const struct row *row, enum stg_column column, uint32_t *name)
{
    struct cell cell = stg_sheet_trimmed(row, column);
    const char *at = memchr(cell.text, '@', cell.length);
    if (at != NULL && (cell.text + cell.length - at != 2 || at[1] != '0')) {
        return stg_sheet_refuse(row, column, "has a revision other than @0");
    }
    size_t length = at != NULL ? (size_t)(at - cell.text) : cell.length;
    for (size_t i = 0; i < length; i++) {
        if ((unsigned char)cell.text[i] <= ' ' || cell.text[i] == '"' || (unsigned char)cell.text[i] >= 0x7f) {
            return stg_sheet_refuse(row, column, "is no name");
        }
    }
    if (length == 0 && cell.length > 0) {
        return stg_sheet_refuse(row, column, "is no name");
    }
    *name = length == 0 ? STG_NONE : stg_space_text(row->sheet->space, cell.text, length);
    return length > 0 && *name == STG_NONE ? stg_space_error(row->sheet->space, row->err) : ORR_OK;
}

static enum orr_status read_expr(const struct row *row, struct cell cell, uint32_t *expr)
{
    return stg_expr_parse(&row->sheet->space->exprs, row->where, cell.column, cell.text, cell.length, expr, row->err);
}

static enum orr_status stg_sheet_read_shape(const struct row *row, enum stg_column column, uint32_t *shape)
{
    uint32_t dims[STG_DIMS_MAX];
    uint32_t count = 0;
    struct cell cell = stg_sheet_trimmed(row, column);
    if (cell.length == 0) {
        return ORR_OK;
    }
    for (bool more = true; more;) {
        const char *comma = memchr(cell.text, ',', cell.length);
        struct cell dim = {cell.text, comma == NULL ? cell.length : (size_t)(comma - cell.text), cell.column};
        if (count == STG_DIMS_MAX) {
            return stg_sheet_refuse(row, column, "has more than 16 dimensions");
        }
        enum orr_status status = read_expr(row, dim, &dims[count++]);
        if (status != ORR_OK) {
            return status;
        }
        more = comma != NULL;
        if (more) {
            cell.column += (uint32_t)dim.length + 1;
            cell.length -= dim.length + 1;
            cell.text = comma + 1;
        }
    }
    *shape = stg_space_shape(row->sheet->space, dims, count);
    return *shape == STG_NONE ? stg_space_error(row->sheet->space, row->err) : ORR_OK;
}

static enum orr_status read_op(const struct row *row, enum stg_op *op)
{
    const char *known[STG_OP_COUNT + 1] = {NULL};
    struct cell cell = stg_sheet_trimmed(row, STG_COLUMN_OP_TYPE);
    for (unsigned i = 0; i < STG_OP_COUNT; i++) {
        known[i] = stg_op_word((enum stg_op)i);
        if (strlen(known[i]) == cell.length && memcmp(known[i], cell.text, cell.length) == 0 && i != STG_OP_SHADOW) {
            *op = (enum stg_op)i;
            return ORR_OK;
        }
    }
    return stg_sheet_refuse(row, STG_COLUMN_OP_TYPE, "is not one of T, I, A, M, E, E2, R, B, SLICE, C, CUSTOM");
}

/* "axis:size", "axis*factor" or "axis"; a negative axis counts from the end of x1_shape. */
static enum orr_status read_axis(const struct row *row, struct stg_tensor *tensor, char between)
{
    struct cell cell = stg_sheet_trimmed(row, STG_COLUMN_OP_ATTR);
    char *end = NULL;
    long axis = cell.length > 0 && (*cell.text == '-' || (*cell.text >= '0' && *cell.text <= '9'))
                    ? strtol(cell.text, &end, 10)
                    : 0;
    uint32_t count = tensor->shape[0] == STG_NONE ? 0 : row->sheet->space->shapes[tensor->shape[0]].count;
    bool fine = end != NULL && end <= cell.text + cell.length && axis < (long)count && axis >= -(long)count;
    if (fine && between == '\0') {
        fine = end == cell.text + cell.length;
    } else if (fine) {
        fine = *end == between;
    }
    if (!fine) {
        return stg_sheet_refuse(row, STG_COLUMN_OP_ATTR,
                                between == ':'   ? "is not \"axis:size\" with an axis of x1_shape"
                                : between == '*' ? "is not \"axis*factor\" with an axis of x1_shape"
                                                 : "is not an axis of x1_shape");
    }
    tensor->axis = (uint32_t)(axis < 0 ? axis + (long)count : axis);
    if (between == '\0') {
        return ORR_OK;
    }
    size_t used = (size_t)(end + 1 - cell.text);
    return read_expr(row, (struct cell){end + 1, cell.length - used, cell.column + (uint32_t)used}, &tensor->amount);
}

static enum orr_status read_attr(const struct row *row, struct stg_tensor *tensor)
{
    struct cell cell = stg_sheet_trimmed(row, STG_COLUMN_OP_ATTR);
    switch (tensor->op) {
    case STG_OP_EINSUM:
        tensor->letters = stg_space_text(row->sheet->space, cell.text, cell.length);
        return tensor->letters == STG_NONE ? stg_space_error(row->sheet->space, row->err) : ORR_OK;
    case STG_OP_ELEMENT:
    case STG_OP_ELEMENT2:
    case STG_OP_CUSTOM:
        return read_expr(row, cell, &tensor->amount);
    case STG_OP_SLICE:
        return read_axis(row, tensor, ':');
    case STG_OP_BROADCAST:
        return read_axis(row, tensor, '*');
    case STG_OP_CONCAT:
        return read_axis(row, tensor, '\0');
    case STG_OP_PLACEHOLDER:
    case STG_OP_IDENTITY:
    case STG_OP_ADD:
    case STG_OP_RESHAPE:
    case STG_OP_SHADOW:
    case STG_OP_COUNT:
    default:
        return cell.length == 0
                   ? ORR_OK
                   : stg_sheet_refuse(row, STG_COLUMN_OP_ATTR, "stands where this operation takes nothing");
    }
}

static enum orr_status read_grads(const struct row *row, bool *require_grads)
{
    struct cell cell = stg_sheet_trimmed(row, STG_COLUMN_REQUIRE_GRADS);
    if (cell.length != 1 || (*cell.text != 'Y' && *cell.text != 'N')) {
        return stg_sheet_refuse(row, STG_COLUMN_REQUIRE_GRADS, "is neither Y nor N");
    }
    *require_grads = *cell.text == 'Y';
    return ORR_OK;
}

/* {"data_deps": ["a", "b"]}: names, kept as texts until the sheet is closed. */
static enum orr_status read_extra(const struct row *row, uint32_t tensor, struct arena *arena)
{
    struct cell cell = stg_sheet_trimmed(row, STG_COLUMN_EXTRA_ATTR);
    if (cell.length == 0) {
        return ORR_OK;
    }
    struct io_value *root = NULL;
    enum orr_status status = io_json_parse(row->where, cell.text, cell.length, arena, &root, row->err);
    if (status != ORR_OK) {
        return status;
    }
    if (root->kind != IO_MAP || root->count > 1 || (root->count == 1 && strcmp(root->first->key, "data_deps") != 0)) {
        return stg_sheet_refuse(row, STG_COLUMN_EXTRA_ATTR, "is not {\"data_deps\": [names]}");
    }
    const struct io_value *list = root->first;
    for (struct io_value *item = list != NULL && list->kind == IO_LIST ? list->first : NULL; item != NULL;
         item = item->next) {
        uint32_t name = item->kind == IO_TEXT ? stg_space_text(row->sheet->space, item->text, strlen(item->text)) : 0;
        if (name == 0) {
            return stg_sheet_refuse(row, STG_COLUMN_EXTRA_ATTR, "has a name that is no text");
        }
        if (name == STG_NONE || !stg_graph_add_dep(row->sheet, tensor, name)) {
            return stg_space_error(row->sheet->space, row->err);
        }
    }
    return ORR_OK;
}

static enum orr_status read_shapes(const struct row *row, struct stg_tensor *tensor)
{
    enum orr_status status = stg_sheet_read_shape(row, STG_COLUMN_X1_SHAPE, &tensor->shape[0]);
    status = status == ORR_OK ? stg_sheet_read_shape(row, STG_COLUMN_X1_HIDDEN, &tensor->hidden[0]) : status;
    status = status == ORR_OK ? stg_sheet_read_shape(row, STG_COLUMN_X2_SHAPE, &tensor->shape[1]) : status;
    return status == ORR_OK ? stg_sheet_read_shape(row, STG_COLUMN_X2_HIDDEN, &tensor->hidden[1]) : status;
}

static enum orr_status stg_sheet_read_tensor(const struct row *row, struct stg_tensor *tensor)
{
    enum orr_status status = stg_sheet_read_name(row, STG_COLUMN_ID, &tensor->name);
    if (status == ORR_OK && tensor->name == STG_NONE) {
        return stg_sheet_refuse(row, STG_COLUMN_ID, "is no name");
    }
    status = status == ORR_OK ? read_grads(row, &tensor->require_grads) : status;
    status = status == ORR_OK ? stg_sheet_read_name(row, STG_COLUMN_X1, &tensor->x[0]) : status;
    status = status == ORR_OK ? stg_sheet_read_name(row, STG_COLUMN_X2, &tensor->x[1]) : status;
    status = status == ORR_OK ? read_op(row, &tensor->op) : status;
    status = status == ORR_OK ? read_shapes(row, tensor) : status;
    status = status == ORR_OK ? read_attr(row, tensor) : status;
    return status == ORR_OK ? stg_sheet_read_name(row, STG_COLUMN_GRAD_OF, &tensor->grad_of) : status;
}

enum orr_status stg_sheet_row(struct stg_graph *sheet, const char *where, const struct stg_cells *cells,
                              struct orr_error *err)
{
    const struct row row = {sheet, where, cells, err};
    struct stg_tensor read = {.amount = STG_NO_EXPR,
                              .shape = {STG_NONE, STG_NONE},
                              .hidden = {STG_NONE, STG_NONE},
                              .y_shape = STG_NONE,
                              .y_hidden = STG_NONE,
                              .ops = STG_NO_EXPR};
    enum orr_status status = stg_sheet_read_tensor(&row, &read);
    if (status != ORR_OK) {
        return status;
    }
    if (read.name < sheet->by_name_capacity && sheet->by_name[read.name] != STG_NONE) {
        return stg_sheet_refuse(&row, STG_COLUMN_ID, "stands twice in the sheet");
    }
    read.place = stg_space_text(sheet->space, where, strlen(where));
    uint32_t index = 0;
    struct stg_tensor *made = stg_graph_add(sheet, read.name, &index);
    if (made == NULL || read.place == STG_NONE) {
        return stg_space_error(sheet->space, err);
    }
    read.first_dep = sheet->dep_count;
    *made = read;
    struct arena arena;
    arena_init(&arena, sheet->space->mem);
    status = read_extra(&row, index, &arena);
    arena_free(&arena);
    return status;
}

/* ---- the whole sheet ---- */

static enum orr_status stg_sheet_unknown_name(const struct stg_graph *sheet, const char *where, const char *what,
                                              const char *name, struct orr_error *err)
{
    const char **known = malloc((sheet->count + 1) * sizeof *known);
    if (known == NULL) {
        return error_set(err, ORR_ENOMEM, "%s: out of memory", where);
    }
    for (uint32_t i = 0; i < sheet->count; i++) {
        known[i] = stg_space_name(sheet->space, sheet->tensors[i].name);
    }
    known[sheet->count] = NULL;
    char shown[160];
    struct error_proposal near = error_propose(name, known);
    enum orr_status status = error_set(err, ORR_EINVAL, "%s: %s \"%s\" is not in the sheet%s", where, what,
                                       io_text_printable(name, shown, sizeof shown), near.text);
    free(known);
    return status;
}

static enum orr_status look_up(const struct stg_graph *sheet, const struct stg_tensor *tensor, const char *what,
                               uint32_t *reference, struct orr_error *err)
{
    if (*reference == STG_NONE) {
        return ORR_OK;
    }
    const char *name = stg_space_name(sheet->space, *reference);
    uint32_t found = stg_graph_find(sheet, name, strlen(name));
    if (found == STG_NONE) {
        return stg_sheet_unknown_name(sheet, stg_space_name(sheet->space, tensor->place), what, name, err);
    }
    *reference = found;
    return ORR_OK;
}

enum orr_status stg_sheet_close(struct stg_graph *sheet, struct orr_error *err)
{
    enum orr_status status = ORR_OK;
    for (uint32_t i = 0; i < sheet->count && status == ORR_OK; i++) {
        struct stg_tensor *tensor = &sheet->tensors[i];
        status = look_up(sheet, tensor, "x1", &tensor->x[0], err);
        status = status == ORR_OK ? look_up(sheet, tensor, "x2", &tensor->x[1], err) : status;
        status = status == ORR_OK ? look_up(sheet, tensor, "grad_of", &tensor->grad_of, err) : status;
        for (uint32_t d = 0; d < tensor->dep_count && status == ORR_OK; d++) {
            status = look_up(sheet, tensor, "data_deps", &sheet->deps[tensor->first_dep + d], err);
        }
        status = status == ORR_OK ? stg_tensor_solve(sheet->space, tensor, err) : status;
        if (status == ORR_OK && tensor->op != STG_OP_PLACEHOLDER && tensor->x[0] == STG_NONE) {
            status =
                error_set(err, ORR_EINVAL, "%s: \"%s\" (%s) has no x1", stg_space_name(sheet->space, tensor->place),
                          stg_space_name(sheet->space, tensor->name), stg_op_word(tensor->op));
        }
        if (status == ORR_OK && tensor->x[1] != STG_NONE && tensor->shape[1] == STG_NONE) {
            status = error_set(err, ORR_EINVAL, "%s: \"%s\" has an x2 without x2_shape",
                               stg_space_name(sheet->space, tensor->place), stg_space_name(sheet->space, tensor->name));
        }
    }
    return status;
}

enum orr_status stg_sheet_port(struct stg_graph *sheet, const char *where, const char *name, bool input,
                               struct orr_error *err)
{
    size_t length = strcspn(name, "@");
    uint32_t found = stg_graph_find(sheet, name, length);
    if (found == STG_NONE) {
        return stg_sheet_unknown_name(sheet, where, input ? "in_tensors:" : "out_tensors:", name, err);
    }
    if (input && sheet->tensors[found].op != STG_OP_PLACEHOLDER) {
        return error_set(err, ORR_EINVAL, "%s: in_tensors: \"%s\" is made by %s; inputs are placeholders (T)", where,
                         stg_space_name(sheet->space, sheet->tensors[found].name),
                         stg_op_word(sheet->tensors[found].op));
    }
    if (input) {
        sheet->tensors[found].is_input = true;
    } else {
        sheet->tensors[found].is_output = true;
    }
    return ORR_OK;
}
