/* SPDX-License-Identifier: Apache-2.0 */
/* Operators asked for by the table, and what data there is. The model is in compute/. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "api/op_errors.h"
#include "base/plain.h"
#include "compute/op_data.h"
#include "compute/op_table.h"
#include "io/outfile.h"
#include "orrery.h"
#include "report/rows.h"

static const char *const bounds[] = {"launch", "compute", "memory"};
static const char *const methods[] = {
#define OP_X(symbol, name) name,
    ORR_OP_METHODS(OP_X)
#undef OP_X
};

static const char *const stack_texts[] = {
#define OP_X(symbol, name, text) name ": " text,
    ORR_OP_STACKS(OP_X)
#undef OP_X
};

struct answering {
    struct op_table table;
    struct orr_op_data *data;
    struct mem *mem;
    double *errors; /* predicted / measured - 1 */
    uint32_t count, capacity;
};

/* None is called as a measured time is (kernel_us), or a table with such a column would lose it. */
static const char *const api_op_added[] = {
    "predicted_us",
    "predicted_kernel_us",
    "predicted_launch_us",
    "bound_by",
    "method",
    "from",
    "spread",
    "error",
    "by_stack",
    "status",
    NULL,
};

static void write_header(const struct csv_row *header, FILE *stream)
{
    csv_write_kept(header, header, api_op_added, ',', stream);
    csv_write_added(api_op_added, ',', stream);
}

static enum orr_status answer_row(struct answering *a, const struct op_row *row, const struct csv_row *csv,
                                  FILE *stream, struct orr_error *err)
{
    struct orr_op_prediction p;
    orr_op_predict(a->data, row->device, row->stack, &row->op, &p);
    csv_write_kept(csv_reader_header(a->table.reader), csv, api_op_added, ',', stream);
    (void)plain_fprintf(stream, "%.4g,%.4g,%.4g,%s,%s,%s,%.3g,", p.us, p.kernel_us, p.launch_us, bounds[p.bound],
                        methods[p.method], p.device != NULL ? p.device : "", p.spread);
    if (row->us > 0) {
        double error = p.us / row->us - 1;
        (void)plain_fprintf(stream, "%.4f", error);
        if (!MEM_GROW(a->mem, a->errors, a->capacity, a->count)) {
            return mem_error(a->mem, "the errors", err);
        }
        a->errors[a->count++] = error;
    }
    (void)plain_fprintf(stream, ",%s,ok\n", op_stack_name(row->stack));
    return ORR_OK;
}

static void api_op_sum_up(struct answering *a, struct orr_op_table_result *result)
{
    struct op_errors errors = op_errors_of(a->errors, a->count);
    result->measured = errors.count;
    result->mean = errors.mean;
    result->median = errors.median;
    result->p90 = errors.p90;
    result->worst = errors.worst;
    result->bias = errors.bias;
}

static enum orr_status answer_all(struct answering *a, FILE *stream, struct orr_op_table_result *result,
                                  struct orr_error *err)
{
    enum orr_status status = ORR_OK;
    struct orr_error first = {0};
    write_header(csv_reader_header(a->table.reader), stream);
    for (bool more = true; status == ORR_OK;) {
        struct op_row row;
        struct csv_row csv = {.count = 0};
        struct orr_error why = {0};
        status = csv_reader_next(a->table.reader, &csv, &more, &why);
        bool is_ragged = status == ORR_EINVAL && csv.count > 0; /* the reader goes on behind it */
        if (status != ORR_OK && !is_ragged) {
            return error_set(err, status, "%s", why.text);
        }
        if (!more) {
            status = ORR_OK;
            break;
        }
        result->rows++;
        status = ORR_OK;
        if (!is_ragged && op_table_row(&a->table, &csv, &row, &why) == ORR_OK) {
            status = answer_row(a, &row, &csv, stream, err);
            continue;
        }
        csv_write_kept(csv_reader_header(a->table.reader), &csv, api_op_added, ',', stream);
        (void)fputs(",,,,,,,,,", stream);
        csv_write_field(why.text, stream);
        (void)fputc('\n', stream);
        first = result->refused++ == 0 ? why : first;
    }
    if (status == ORR_OK && result->refused > 0 && result->refused == result->rows) {
        status = error_set(err, first.status, "%s", first.text); /* not one row was understood */
    }
    return status;
}

enum orr_status orr_op_predict_table(const struct orr_op_table_options *options, FILE *stream,
                                     struct orr_op_table_result *result, struct orr_error *err)
{
    struct mem mem = {.limit = options->memory_limit};
    struct answering a = {.mem = &mem};
    struct io_outfile *file = NULL;
    struct orr_op_table_result sums = {0};
    enum orr_status status =
        orr_op_data_open_without(options->files, options->file_count, options->without, &a.data, err);
    status = status != ORR_OK ? status : op_table_open(options, &mem, &a.table, err);
    if (status == ORR_OK && options->output != NULL) {
        status = io_outfile_open(options->output, io_outfile_form_of(options->output), &file, err);
    }
    if (status == ORR_OK) {
        FILE *out = file != NULL ? io_outfile_stream(file) : stream;
        status = answer_all(&a, out, &sums, err);
        status = status == ORR_OK && file == NULL ? error_of_stream(stream, "the table", err) : status;
    }
    status = io_outfile_end(file, status, err);
    api_op_sum_up(&a, &sums);
    if (status == ORR_OK && result != NULL) {
        *result = sums;
    }
    mem_free(&mem, a.errors, a.capacity * sizeof *a.errors);
    op_table_close(&a.table);
    orr_op_data_close(a.data);
    return status;
}

/* A time as people read it. */
static void tell_time(double us, FILE *stream)
{
    const char *unit = us < 1e4 ? "us" : us < 1e6 ? "ms" : "s";
    (void)plain_fprintf(stream, "%.4g %s", us < 1e4 ? us : us < 1e6 ? us / 1e3 : us / 1e6, unit);
}

static void tell_trust(const struct orr_op *op, const struct device *device, const struct orr_op_prediction *p,
                       FILE *stream)
{
    if (p->method == ORR_OP_BY_RELATIVE || p->method == ORR_OP_BY_DATASHEET) {
        (void)plain_fprintf(
            stream,
            "Trust     nothing of the kind was measured on %s; of devices left out so, 9 of 10 shapes were within "
            "%.1f %%\n",
            device->name, 100 * p->spread);
    } else {
        (void)plain_fprintf(stream, "Trust     9 of 10 shapes held out of that data were within %.1f %%%s\n",
                            100 * p->spread, p->method == ORR_OP_BY_MODEL ? "; this one lies outside of it" : "");
    }
    if (p->flops > 0 && !op_has_type(device, op->dtype)) {
        (void)plain_fprintf(stream,
                            "Type      %s has no units for %s by its data sheet: counted at the rate of the next wider "
                            "type\n",
                            device->name, op_dtype_name(op->dtype));
    }
}

/* A question and its answer. */
struct told {
    const struct orr_op *op;
    const char *stack; /* that was asked for; NULL: none was */
    uint32_t device;
    enum orr_op_stack meant;
    struct orr_op_prediction p;
};

static void tell_text(const struct told *told, FILE *stream)
{
    const struct orr_op_prediction *p = &told->p;
    struct orr_op near = {.kind = told->op->kind};
    char shape[160];
    memcpy(near.dims, p->nearest, sizeof near.dims);
    (void)orr_op_shape_text(told->op, shape, sizeof shape);
    (void)plain_fprintf(stream, "%s %s %s on %s, stack %s\n", op_kind_name(op_kind_of(told->op)),
                        op_dtype_name(told->op->dtype), shape, device_rows[told->device].name,
                        op_stack_name(told->meant));
    (void)plain_fprintf(stream, "Stack     %s%s\n", stack_texts[told->meant],
                        told->stack == NULL ? " (meant where no stack is asked for)" : "");
    (void)fputs("Time      ", stream);
    tell_time(p->us, stream);
    (void)fputs(", ", stream);
    tell_time(p->kernel_us, stream);
    (void)plain_fprintf(stream, " of it on the device; no less than %.3g us to launch\nRates     ", p->launch_us);
    if (p->flops > 0) {
        (void)plain_fprintf(stream, "%.4g TFLOP/s, ", p->flops / p->us / 1e6);
    }
    (void)plain_fprintf(stream, "%.4g GB/s; bound by %s\n", p->bytes / p->us / 1e3, bounds[p->bound]);
    (void)orr_op_shape_text(&near, shape, sizeof shape);
    (void)plain_fprintf(stream, "From      %s%s%s%s%s\n", methods[p->method], p->device != NULL ? ", " : "",
                        p->device != NULL ? p->device : "", p->nearest[0] > 0 ? "; measured nearby: " : "",
                        p->nearest[0] > 0 ? shape : "");
    tell_trust(told->op, &device_rows[told->device], p, stream);
}

static void tell_json(const struct told *told, FILE *stream)
{
    const struct orr_op_prediction *p = &told->p;
    struct orr_op near = {.kind = told->op->kind};
    struct json_writer json;
    char shape[160];
    memcpy(near.dims, p->nearest, sizeof near.dims);
    (void)orr_op_shape_text(told->op, shape, sizeof shape);
    json_write_document(&json, stream);
    json_write_member_string(&json, "op", op_kind_name(op_kind_of(told->op)));
    json_write_member_string(&json, "dtype", op_dtype_name(told->op->dtype));
    json_write_member_string(&json, "shape", shape);
    json_write_member_string(&json, "device", device_rows[told->device].name);
    json_write_member_string(&json, "stack", op_stack_name(told->meant));
    json_write_member_fixed(&json, "us", p->us, 4);
    json_write_member_fixed(&json, "kernel_us", p->kernel_us, 4);
    json_write_member_fixed(&json, "launch_us", p->launch_us, 4);
    json_write_member_fixed(&json, "flops", p->flops, 0);
    json_write_member_fixed(&json, "bytes", p->bytes, 0);
    json_write_member_string(&json, "bound_by", bounds[p->bound]);
    json_write_member_string(&json, "method", methods[p->method]);
    json_write_member_string(&json, "from", p->device);
    (void)orr_op_shape_text(&near, shape, sizeof shape);
    json_write_member_string(&json, "nearest", p->nearest[0] > 0 ? shape : NULL);
    json_write_member_fixed(&json, "spread", p->spread, 4);
    json_write_document_end(&json);
}

enum orr_status orr_op_tell(const struct orr_op_data *data, const char *device, const char *stack,
                            const struct orr_op *op, enum orr_form form, FILE *stream, struct orr_error *err)
{
    struct told told = {.op = op, .stack = stack, .meant = orr_op_stack_meant(op->kind, device)};
    enum orr_status status = device_named(device, &told.device, err);
    status = status == ORR_OK && stack != NULL ? orr_op_stack_find(stack, &told.meant, err) : status;
    if (status == ORR_OK && form == ORR_FORM_CSV) {
        status = error_set(err, ORR_EINVAL, "one operator is no table: as text or as JSON");
    }
    if (status != ORR_OK) {
        return status;
    }
    orr_op_predict(data, told.device, told.meant, op, &told.p);
    (form == ORR_FORM_JSON ? tell_json : tell_text)(&told, stream);
    return error_of_stream(stream, "the answer", err);
}

static void list_set(const struct op_set *set, bool is_long, FILE *stream)
{
    (void)plain_fprintf(stream, "%-13s %-22s %-10s %-8s %8" PRIu32 " %7.1f %7.1f\n", device_rows[set->device].name,
                        op_kind_name(set->kind), op_dtype_name(set->dtype), op_stack_name(set->stack), set->rows,
                        100 * set->median, 100 * set->p90);
    if (!is_long) {
        return;
    }
    const struct op_family_row *family = &op_families[op_set_family(set->stack, set->kind)];
    (void)plain_fprintf(stream, "  measured by %s\n", set->source);
    for (uint32_t i = 0; i < family->count; i++) {
        (void)plain_fprintf(stream, "  %-14s %10.4g  %s\n", family->constants[i].name, set->constants[i],
                            family->constants[i].text);
    }
}

/* A set as a row of a document or a table. */
struct set_row {
    const char *device, *op, *dtype, *stack, *source;
    uint32_t rows;
    double median, p90;
};

#define COLUMN(...) REPORT_COLUMN(set_row, __VA_ARGS__)
static const struct report_column set_columns[] = {
    COLUMN("device", TEXT, 0, device), COLUMN("op", TEXT, 0, op),         COLUMN("dtype", TEXT, 0, dtype),
    COLUMN("stack", TEXT, 0, stack),   COLUMN("rows", U32, 0, rows),      COLUMN("median_error", REAL, 4, median),
    COLUMN("p90_error", REAL, 4, p90), COLUMN("source", TEXT, 0, source), {0}};

static void list_rows(const struct orr_op_data *data, uint32_t only, bool is_json, FILE *stream)
{
    struct json_writer json;
    if (is_json) {
        json_write_begin(&json, stream);
        json_write_array(&json, false);
    } else {
        report_row_csv_head(set_columns, stream);
    }
    for (uint32_t i = 0; i < data->sets.count; i++) {
        const struct op_set *set = data->sets.list[i];
        const struct set_row row = {device_rows[set->device].name,
                                    op_kind_name(set->kind),
                                    op_dtype_name(set->dtype),
                                    op_stack_name(set->stack),
                                    set->source,
                                    set->rows,
                                    set->median,
                                    set->p90};
        if (only != device_count && set->device != only) {
            continue;
        }
        if (is_json) {
            report_row_json(set_columns, &row, &json);
        } else {
            report_row_csv(set_columns, &row, stream);
        }
    }
    if (is_json) {
        json_write_array_end(&json);
        json_write_end(&json);
    }
}

enum orr_status orr_op_list(const struct orr_op_data *data, const char *device, enum orr_form form, FILE *stream,
                            struct orr_error *err)
{
    uint32_t only = device_count;
    enum orr_status status = device != NULL ? device_named(device, &only, err) : ORR_OK;
    if (status != ORR_OK) {
        return status;
    }
    if (form != ORR_FORM_TEXT) {
        list_rows(data, only, form == ORR_FORM_JSON, stream);
        return error_of_stream(stream, "the list", err);
    }
    (void)plain_fprintf(stream, "%-13s %-22s %-10s %-8s %8s %7s %7s\n", "device", "operator", "dtype", "stack", "rows",
                        "median%", "p90%");
    bool is_alone = only < device_count; /* nothing is its own */
    for (uint32_t i = 0; i < data->sets.count; i++) {
        if (only == device_count || data->sets.list[i]->device == only) {
            is_alone = false;
            list_set(data->sets.list[i], only < device_count, stream);
        }
    }
    if (is_alone) {
        const struct op_answer *answer = op_data_answer(data, only, ORR_OP_SERVING, ORR_OP_GEMM, ORR_OP_BF16);
        (void)plain_fprintf(stream, "%s: nothing measured; answered from %s, carried by %s\n", device_rows[only].name,
                            answer->set != NULL ? device_rows[answer->set->device].name : "its data sheet",
                            answer->method == ORR_OP_BY_RELATIVE ? "what bounds it (a relative)" : "data sheet");
    }
    (void)fputs("Devices:", stream);
    for (uint32_t i = 0; i < device_count; i++) {
        (void)plain_fprintf(stream, " %s", device_rows[i].name);
    }
    (void)fputs("\nOperators:", stream);
    for (uint32_t i = 0; i < ORR_OP_KINDS; i++) {
        (void)plain_fprintf(stream, " %s", op_kind_name((enum orr_op_kind)i));
    }
    (void)fputc('\n', stream);
    return error_of_stream(stream, "the list", err);
}
