/* SPDX-License-Identifier: Apache-2.0 */
/* Columns are looked up once by name, rows are read by number. A row that cannot be understood is refused with its
 * place: a table of measurements with holes would give a fit with holes. */
#include "compute/op_table.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/plain.h"
#include "compute/op_data.h"
#include "compute/op_shape.h"
#include "io/value.h"

enum {
    COLUMN_OP,
    COLUMN_DEVICE,
    COLUMN_DTYPE,
    COLUMN_STACK,
    COLUMN_SHAPE,
    COLUMN_P0,
    COLUMN_P1,
    COLUMN_P2,
    COLUMN_P3,
    COLUMN_US,
    COLUMN_KERNEL_US,
    COLUMN_CAUSAL,
    COLUMN_KV_SEQ,
    COLUMN_V_HEAD_DIM,
    COLUMN_STATE_BYTES,
    COLUMN_DIMS
};

/* By the names above; a blank between names that mean the same, the first that is there counts. */
static const char *const column_names[] = {
    "op operator", "device gpu", "dtype type", "stack",      "shape",
    "p0",          "p1",         "p2",         "p3",         "us us_best latency_us time_us",
    "kernel_us",   "causal",     "kv_seq",     "v_head_dim", "state_bytes",
};
static const char *const dim_names[] = {"m",        "n",        "k",      "batch",  "groups", "seq",      "heads",
                                        "kv_heads", "head_dim", "rows",   "cols",   "vocab",  "elements", "channels",
                                        "filters",  "size",     "kernel", "stride", "height", "width",    NULL};

static int32_t compute_op_table_find_column(const struct csv_row *header, const char *names)
{
    for (const char *at = names; *at != '\0'; at += strspn(at, " ")) {
        size_t length = strcspn(at, " ");
        for (uint32_t i = 0; i < header->count; i++) {
            if (header->fields[i].length == length && strncasecmp(header->fields[i].text, at, length) == 0) {
                return (int32_t)i;
            }
        }
        at += length;
    }
    return -1;
}

enum orr_status op_table_open(const struct orr_op_table_options *options, struct mem *mem, struct op_table *table,
                              struct orr_error *err)
{
    *table = (struct op_table){.path = options->input, .defaults = *options};
    enum orr_status status = csv_reader_open(options->input, mem, &table->reader, err);
    if (status != ORR_OK) {
        return status;
    }
    const struct csv_row *header = csv_reader_header(table->reader);
    for (int i = 0; i < COLUMN_DIMS; i++) {
        table->columns[i] = compute_op_table_find_column(header, column_names[i]);
    }
    for (int i = 0; dim_names[i] != NULL; i++) {
        table->columns[COLUMN_DIMS + i] = compute_op_table_find_column(header, dim_names[i]);
    }
    table->is_positional = table->columns[COLUMN_P0] >= 0 || table->columns[COLUMN_SHAPE] >= 0;
    if (options->device == NULL && table->columns[COLUMN_DEVICE] < 0) {
        status = error_set(err, ORR_EINVAL, "%s: no column \"device\": give parameter 'device' for all rows",
                           options->input);
    } else if (options->op == NULL && table->columns[COLUMN_OP] < 0) {
        status = error_set(err, ORR_EINVAL, "%s: no column \"op\": give parameter 'op' for all rows", options->input);
    }
    if (status != ORR_OK) {
        op_table_close(table);
    }
    return status;
}

void op_table_close(struct op_table *table)
{
    csv_reader_close(table->reader);
    table->reader = NULL;
}

/* The text of a column, or `otherwise` where the table or the row has none. */
static const char *field(const struct op_table *table, const struct csv_row *csv, int column, const char *otherwise)
{
    int32_t at = table->columns[column];
    return at >= 0 && csv->fields[at].length > 0 ? csv->fields[at].text : otherwise;
}

struct place {
    const struct op_table *table;
    const struct csv_row *csv;
    struct orr_error *err;
};

static enum orr_status compute_op_table_refuse(const struct place *p, const char *what, const char *found)
{
    char shown[64];
    return error_set(p->err, ORR_EINVAL, "%s:%" PRIu64 ": %s, found \"%s\"", p->table->path, p->csv->line, what,
                     io_text_printable(found, shown, sizeof shown));
}

static enum orr_status compute_op_table_pass_on(const struct place *p, const struct orr_error *why)
{
    return error_set(p->err, why->status, "%s:%" PRIu64 ": %s", p->table->path, p->csv->line, why->text);
}

/* A whole number up to 10^13, also written as 4096.0. */
static enum orr_status compute_op_table_read_count(const struct place *p, const char *what, const char *text,
                                                   uint64_t *value)
{
    char *end = NULL;
    double number = text[0] >= '0' && text[0] <= '9' ? plain_strtod(text, &end) : -1;
    if (end == NULL || *end != '\0' || !(number >= 0) || number > 1e13 || floor(number) < number) {
        char said[80];
        (void)snprintf(said, sizeof said, "accepted for %.30s: a whole number up to 10^13", what);
        return compute_op_table_refuse(p, said, text);
    }
    *value = (uint64_t)number;
    return ORR_OK;
}

static int dim_column(const char *name, size_t length)
{
    for (int i = 0; dim_names[i] != NULL; i++) {
        if (strlen(dim_names[i]) == length && strncmp(dim_names[i], name, length) == 0) {
            return COLUMN_DIMS + i;
        }
    }
    return -1;
}

/* A column by its name; NULL: the row has none. */
static const char *dim_text(const struct place *p, const char *name, size_t length)
{
    int column = dim_column(name, length);
    return column >= 0 ? field(p->table, p->csv, column, NULL) : NULL;
}

/* What stands in a column of another name: rows and columns in m, n and k, a picture's side in height, groups in
 * batch. */
static const char *other_text(const struct place *p, const struct orr_op *op, uint32_t index, const char *name)
{
    static const char *const letters[] = {"m", "n", "k"};
    if (op_family_of(op->kind) == OP_FAMILY_STREAM && index < 3) {
        return dim_text(p, letters[index], 1);
    }
    return strncmp(name, "size", 4) == 0     ? dim_text(p, "height", 6)
           : strncmp(name, "groups", 6) == 0 ? dim_text(p, "batch", 5)
                                             : NULL;
}

/* Values as rows of channels (pictures) or of heads (rotary embedding): "batch channels height width", "batch seq heads
 * head_dim". False: the row has no such columns. */
static enum orr_status read_folded(const struct place *p, struct orr_op *op, bool *is_folded)
{
    static const char *const pictures[] = {"batch", "height", "width", "channels"};
    static const char *const heads[] = {"batch", "seq", "heads", "head_dim"};
    const char *const *names = op->kind == ORR_OP_ROPE ? heads : pictures;
    bool is_kind = op->kind == ORR_OP_ROPE || op->kind == ORR_OP_BATCHNORM || op->kind == ORR_OP_BATCHNORM_BACKWARD ||
                   op->kind == ORR_OP_MAXPOOL || op->kind == ORR_OP_MAXPOOL_BACKWARD;
    uint64_t values[4] = {0};
    *is_folded = is_kind && dim_text(p, names[3], strlen(names[3])) != NULL;
    for (int i = 0; i < 4 && *is_folded; i++) {
        const char *text = dim_text(p, names[i], strlen(names[i]));
        enum orr_status status = compute_op_table_read_count(p, names[i], text != NULL ? text : "", &values[i]);
        if (status != ORR_OK) {
            return status;
        }
        if (values[i] > 10000000) {
            return compute_op_table_refuse(p, "accepted for a picture or heads: numbers up to ten million", text);
        }
    }
    double rows = (double)values[0] * (double)values[1] * (double)values[2];
    op->dims[0] = rows < 1e13 ? (uint64_t)rows : (uint64_t)1e13;
    op->dims[1] = values[3];
    return ORR_OK;
}

static enum orr_status read_named(const struct place *p, struct orr_op *op)
{
    bool is_folded = false;
    enum orr_status status = read_folded(p, op, &is_folded);
    for (uint32_t i = 0; i < op_dim_count(op->kind) && status == ORR_OK && !is_folded; i++) {
        size_t length = 0;
        const char *name = op_dim_name(op->kind, i, &length);
        const char *text = dim_text(p, name, length);
        text = text != NULL ? text : other_text(p, op, i, name);
        bool is_kv = op_family_of(op->kind) == OP_FAMILY_ATTENTION && i == 3;
        if (text == NULL && is_kv) {
            op->dims[i] = op->dims[2]; /* every head has its own keys */
            continue;
        }
        if (text == NULL) {
            return error_set(p->err, ORR_EINVAL, "%s:%" PRIu64 ": %s needs a column \"%.*s\"", p->table->path,
                             p->csv->line, op_kind_name(op->kind), (int)length, name);
        }
        status = compute_op_table_read_count(p, name, text, &op->dims[i]);
    }
    return status;
}

static enum orr_status read_dims(const struct place *p, struct orr_op *op)
{
    size_t length = 0;
    const char *first = op_dim_name(op->kind, 0, &length);
    const char *shape = field(p->table, p->csv, COLUMN_SHAPE, NULL);
    if (shape != NULL) {
        struct orr_error why = {0};
        return orr_op_shape(shape, op, &why) == ORR_OK ? ORR_OK : compute_op_table_pass_on(p, &why);
    }
    bool is_named = dim_text(p, first, length) != NULL;
    if (!is_named && field(p->table, p->csv, COLUMN_P0, NULL) != NULL) {
        uint64_t values[ORR_OP_DIMS] = {0};
        for (int i = 0; i < 4; i++) {
            enum orr_status status = compute_op_table_read_count(
                p, "a number of the shape", field(p->table, p->csv, COLUMN_P0 + i, "0"), &values[i]);
            if (status != ORR_OK) {
                return status;
            }
        }
        op_shape_place(values, op);
        return ORR_OK;
    }
    return read_named(p, op);
}

static enum orr_status compute_op_table_check_dims(const struct place *p, const struct orr_op *op)
{
    for (uint32_t i = 0; i < op_dim_count(op->kind); i++) {
        if (op->dims[i] == 0) {
            size_t length = 0;
            const char *name = op_dim_name(op->kind, i, &length);
            return error_set(p->err, ORR_EINVAL, "%s:%" PRIu64 ": %.*s of %s is 0: from 1 on are accepted",
                             p->table->path, p->csv->line, (int)length, name, op_kind_name(op->kind));
        }
    }
    return ORR_OK;
}

/* An optimizer's "batch" is the number of tensors that its elements are spread over. */
static enum orr_status compute_op_table_read_tensors(const struct place *p, struct op_row *row)
{
    const char *text = row->op.kind == ORR_OP_ADAMW || row->op.kind == ORR_OP_SGD ? dim_text(p, "batch", 5) : NULL;
    return text != NULL ? compute_op_table_read_count(p, "batch", text, &row->tensors) : ORR_OK;
}

static enum orr_status compute_op_table_read_extras(const struct place *p, struct orr_op *op)
{
    static const int extra_columns[] = {COLUMN_KV_SEQ, COLUMN_V_HEAD_DIM, COLUMN_STATE_BYTES};
    /* Our H200 tables, which have numbers for columns, hold attention over all keys. */
    const char *causal = field(p->table, p->csv, COLUMN_CAUSAL, p->table->is_positional ? "0" : "1");
    uint64_t values[3] = {0};
    for (int i = 0; i < 3; i++) {
        const char *name = column_names[extra_columns[i]];
        enum orr_status status =
            compute_op_table_read_count(p, name, field(p->table, p->csv, extra_columns[i], "0"), &values[i]);
        if (status == ORR_OK && i > 0 && values[i] > 1000000) {
            status = compute_op_table_refuse(p, "accepted for v_head_dim and state_bytes: up to a million",
                                             field(p->table, p->csv, extra_columns[i], "0"));
        }
        if (status != ORR_OK) {
            return status;
        }
    }
    if (op_family_of(op->kind) == OP_FAMILY_ATTENTION) {
        op->full = op_kind_of(op) != op->kind || strchr("0fFnN", causal[0]) != NULL;
        op->kind = op_kind_of(op);
    }
    op->kv_seq = values[0];
    op->v_head_dim = (uint32_t)values[1];
    op->state_bytes = (uint32_t)values[2];
    return ORR_OK;
}

/* `text` may be NULL: there is no time. */
static enum orr_status read_time(const struct place *p, const char *text, double *us)
{
    char *end = NULL;
    *us = 0;
    if (text == NULL) {
        return ORR_OK;
    }
    *us = plain_strtod(text, &end);
    if (end == text || *end != '\0' || !(*us > 0) || !(*us < 1e12)) {
        return compute_op_table_refuse(p, "accepted for a time: microseconds above 0", text);
    }
    return ORR_OK;
}

enum orr_status op_table_next(struct op_table *table, struct op_row *row, struct csv_row *csv, bool *more,
                              struct orr_error *err)
{
    enum orr_status status = csv_reader_next(table->reader, csv, more, err);
    return status != ORR_OK || !*more ? status : op_table_row(table, csv, row, err);
}

enum orr_status op_table_row(const struct op_table *table, const struct csv_row *csv, struct op_row *row,
                             struct orr_error *err)
{
    const struct place p = {table, csv, err};
    const char *device = field(table, csv, COLUMN_DEVICE, table->defaults.device);
    const char *op = field(table, csv, COLUMN_OP, table->defaults.op);
    const char *stack = field(table, csv, COLUMN_STACK, table->defaults.stack);
    const char *dtype = field(table, csv, COLUMN_DTYPE, table->defaults.dtype);
    struct orr_error why = {0};
    *row = (struct op_row){.us = 0};
    if (device == NULL || op == NULL) {
        return compute_op_table_refuse(&p, "accepted: an operator and a device in every row", "");
    }
    if (orr_op_kind_find(op, &row->op.kind, &why) != ORR_OK || device_named(device, &row->device, &why) != ORR_OK ||
        orr_op_dtype_find(dtype != NULL ? dtype : "bf16", &row->op.dtype, &why) != ORR_OK) {
        return compute_op_table_pass_on(&p, &why);
    }
    row->stack = op_stack_meant(row->op.kind, device, table->is_positional);
    if (stack != NULL && orr_op_stack_find(stack, &row->stack, &why) != ORR_OK) {
        return compute_op_table_pass_on(&p, &why);
    }
    enum orr_status status = read_dims(&p, &row->op);
    status = status != ORR_OK ? status : compute_op_table_check_dims(&p, &row->op);
    status = status != ORR_OK ? status : compute_op_table_read_extras(&p, &row->op);
    status = status != ORR_OK ? status : compute_op_table_read_tensors(&p, row);
    const char *kernel = field(table, csv, COLUMN_KERNEL_US, NULL);
    const char *time = field(table, csv, COLUMN_US, NULL);
    bool is_kernel = row->stack == ORR_OP_KERNEL && kernel != NULL;
    status = status != ORR_OK ? status : read_time(&p, is_kernel ? kernel : time, &row->us);
    /* A table with both times and without a stack, as collect/bench_ops.py writes it, tells of calls and kernels. */
    bool is_both = stack == NULL && time != NULL && kernel != NULL;
    row->stack = is_both ? ORR_OP_TORCH : row->stack;
    return status != ORR_OK ? status : read_time(&p, is_both ? kernel : NULL, &row->kernel_us);
}
