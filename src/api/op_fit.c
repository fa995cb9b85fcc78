/* SPDX-License-Identifier: Apache-2.0 */
/* Tables of measurements into files of sets: read all, put the rows of a set together, fit one set after the other. */
#include <inttypes.h>
#include <string.h>

#include "api/op_fit.h"
#include "base/plain.h"
#include "compute/op_data.h"
#include "compute/op_table.h"
#include "io/outfile.h"
#include "orrery.h"

/* "device", "device:op", "device:op:dtype"; each part may be left empty. */
static bool api_op_fit_is_wanted(const char *only, const struct op_row *row)
{
    const char *parts[] = {device_rows[row->device].name, op_kind_name(row->op.kind), op_dtype_name(row->op.dtype)};
    for (int i = 0; i < 3 && only != NULL; i++) {
        size_t length = strcspn(only, ":");
        if (length > 0 && (strlen(parts[i]) != length || strncmp(parts[i], only, length) != 0)) {
            return false;
        }
        only = only[length] == ':' ? only + length + 1 : NULL;
    }
    return true;
}

enum orr_status op_fit_read(const struct orr_op_fit_options *options, struct op_rows *rows, struct orr_error *err)
{
    enum orr_status status = ORR_OK;
    for (size_t i = 0; i < options->input_count && status == ORR_OK; i++) {
        const struct orr_op_table_options table_options = {.input = options->inputs[i],
                                                           .op = options->op,
                                                           .device = options->device,
                                                           .dtype = options->dtype,
                                                           .stack = options->stack};
        struct op_table table;
        status = op_table_open(&table_options, rows->mem, &table, err);
        for (bool more = true; status == ORR_OK;) {
            struct op_row row;
            struct csv_row csv;
            status = op_table_next(&table, &row, &csv, &more, err);
            if (status != ORR_OK || !more) {
                break;
            }
            row.table = (uint32_t)i;
            /* An optimizer is asked by its elements alone: many tensors of as many in all take longer. */
            bool is_taken = row.us > 0 && row.tensors <= 1 && api_op_fit_is_wanted(options->only, &row);
            status = is_taken ? op_rows_add(rows, &row, err) : ORR_OK;
            if (is_taken && row.kernel_us > 0 && status == ORR_OK) {
                row.stack = ORR_OP_KERNEL;
                row.us = row.kernel_us;
                status = op_rows_add(rows, &row, err);
            }
        }
        if (status == ORR_OK || table.reader != NULL) {
            op_table_close(&table);
        }
    }
    if (status == ORR_OK && rows->count == 0) {
        status = error_set(err, ORR_EINVAL, "%s: no measurement with a time%s", options->inputs[0],
                           options->only != NULL ? " among those asked for" : "");
    }
    op_rows_sort(rows);
    return status;
}

static void api_op_fit_tell(const struct op_set *set, FILE *stream)
{
    (void)plain_fprintf(stream, "%-13s %-22s %-10s %-8s %8" PRIu32 " rows, median %.2f %%, p90 %.2f %%\n",
                        device_rows[set->device].name, op_kind_name(set->kind), op_dtype_name(set->dtype),
                        op_stack_name(set->stack), set->rows, 100 * set->median, 100 * set->p90);
    (void)fflush(stream);
}

struct fitting {
    const struct op_rows *rows;
    const struct orr_op_fit_options *options;
    const struct orr_op_data *known; /* for calls; NULL: kernels are fitted */
    FILE *stream;
    uint32_t first; /* sets before it were not fitted here: rows of the same operator correct them */
};

/* The set that the rows correct, or NULL. */
static const struct op_set *corrected(const struct fitting *f, const struct op_sets *sets, const struct op_row *row)
{
    for (uint32_t i = f->first; i-- > 0;) {
        const struct op_set *set = sets->list[i];
        if (set->device == row->device && set->stack == row->stack && set->kind == row->op.kind &&
            set->dtype == row->op.dtype) {
            return set;
        }
    }
    return NULL;
}

/* What a set names as its origin: the source that was given, else the table's name. */
static const char *source_of(const struct fitting *f, const struct op_row *row)
{
    const char *path = f->options->inputs[row->table];
    const char *slash = strrchr(path, '/');
    return f->options->source != NULL ? f->options->source : slash != NULL ? slash + 1 : path;
}

/* The largest sets first: the others of their family start from them. */
static enum orr_status fit_all(const struct fitting *f, struct op_sets *sets, struct orr_error *err)
{
    const struct op_rows *rows = f->rows;
    enum orr_status status = ORR_OK;
    for (uint32_t below = UINT32_MAX; status == ORR_OK;) {
        uint32_t largest = 0;
        for (uint32_t at = 0; at < rows->count; at += op_rows_of_set(rows, at)) {
            uint32_t count = op_rows_of_set(rows, at);
            largest = count < below && count > largest ? count : largest;
        }
        if (largest == 0) {
            break;
        }
        for (uint32_t at = 0; at < rows->count && status == ORR_OK; at += op_rows_of_set(rows, at)) {
            bool is_call = rows->list[at].stack == ORR_OP_TORCH;
            if (op_rows_of_set(rows, at) != largest || is_call != (f->known != NULL)) {
                continue;
            }
            status = op_fit_set(&rows->list[at], largest, source_of(f, &rows->list[at]), f->known,
                                corrected(f, sets, &rows->list[at]), sets, err);
            if (status == ORR_OK && f->stream != NULL) {
                api_op_fit_tell(sets->list[sets->count - 1], f->stream);
            }
        }
        below = largest;
    }
    return status;
}

/* Appends to `sets`: kernels, then calls, which rest on kernels that are there by then. */
static enum orr_status fit_rows(const struct orr_op_fit_options *options, const struct op_rows *rows, FILE *stream,
                                struct op_sets *sets, struct orr_error *err)
{
    struct fitting fitting = {rows, options, NULL, stream, sets->count};
    struct orr_op_data *known = NULL;
    enum orr_status status = fit_all(&fitting, sets, err);
    if (status != ORR_OK) {
        return status;
    }
    struct op_sets view = *sets; /* the sets stay ours; the answers have an account of their own */
    view.mem = (struct mem){.limit = 0};
    status = op_data_make(&view, NULL, &known, err);
    if (status == ORR_OK) {
        fitting.known = known;
        status = fit_all(&fitting, sets, err);
        (void)op_data_release(known);
    }
    return status;
}

enum orr_status op_fit_rows(const struct orr_op_fit_options *options, const struct op_rows *rows, FILE *stream,
                            struct orr_op_data **data, struct orr_error *err)
{
    struct op_sets sets = {.mem = {.limit = options->memory_limit}};
    enum orr_status status = fit_rows(options, rows, stream, &sets, err);
    status = status != ORR_OK ? status : op_data_make(&sets, NULL, data, err);
    if (status != ORR_OK) {
        op_sets_free(&sets);
    }
    return status;
}

/* Those from `first` on. */
static enum orr_status api_op_fit_write_all(const struct orr_op_fit_options *options, const struct op_sets *sets,
                                            uint32_t first, struct orr_error *err)
{
    if (options->output == NULL) {
        return ORR_OK;
    }
    if (options->import) {
        return op_sets_write(sets, first, device_count, options->output, err);
    }
    enum orr_status status = io_make_folder(options->output, err);
    for (uint32_t device = 0; device < device_count && status == ORR_OK; device++) {
        bool has_some = false;
        for (uint32_t i = first; i < sets->count; i++) {
            has_some = has_some || sets->list[i]->device == device;
        }
        if (has_some) {
            char path[4096];
            (void)snprintf(path, sizeof path, "%s/%s.ops.zst", options->output, device_rows[device].name);
            status = op_sets_write(sets, first, device, path, err);
        }
    }
    return status;
}

enum orr_status orr_op_fit(const struct orr_op_fit_options *options, FILE *stream, struct orr_error *err)
{
    struct mem mem = {.limit = options->memory_limit};
    struct op_rows rows = {.mem = &mem};
    struct op_sets sets = {.mem = {.limit = options->memory_limit}};
    enum orr_status status = op_fit_read(options, &rows, err);
    status = status == ORR_OK && options->import ? op_sets_shipped(&sets, err) : status;
    uint32_t first = sets.count;
    status = status != ORR_OK ? status : fit_rows(options, &rows, stream, &sets, err);
    status = status != ORR_OK ? status : api_op_fit_write_all(options, &sets, first, err);
    op_sets_free(&sets);
    op_rows_free(&rows);
    return status;
}
