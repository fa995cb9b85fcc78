/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tables of runs. All rows are read first; then each is a set of options of its own, predicted on any thread; then they
 * are written in their order. A column's name with - for _ is a parameter's; an empty field leaves the default.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/numbers.h"
#include "base/thread_pool.h"
#include "io/csv.h"
#include "io/outfile.h"
#include "param/param.h"
#include "train/predict.h"

enum { TABLE_COLUMNS = 256, TABLE_SOURCES = 64 };

/* What a column means. */
struct table_column {
    const char *name;
    const struct param *row; /* NULL: none of the parameters */
    uint32_t overlap;        /* bit of a column overlap_dp or the like; 0: none */
};

struct table_row {
    const char **fields;
    uint64_t line;
    bool is_predicted;
    double step_s, memory_gb, measured_s;
    bool fits;
    char bound_by[24];
    char status[200];
};

struct table {
    const struct orr_train_table *request;
    struct mem *mem;
    struct arena arena;
    struct table_column columns[TABLE_COLUMNS];
    uint32_t column_count;
    int step_column, source_column;
    struct table_row *rows;
    uint32_t row_capacity;
    uint64_t row_count;
    struct predict_data *data;
};

/* ---- reading ---- */

static const struct param *table_param(const char *column)
{
    static const struct param_table tables[] = {{param_train, 0, 0}, {0}};
    char name[48];
    size_t length = strlen(column);
    if (length >= sizeof name) {
        return NULL;
    }
    for (size_t i = 0; i <= length; i++) {
        name[i] = column[i] == '_' ? '-' : column[i];
    }
    return param_find(tables, name, length).row;
}

static enum orr_status table_read_header(struct table *table, const struct csv_row *header, struct orr_error *err)
{
    static const struct {
        const char *name;
        uint32_t bit;
    } overlaps[] = {{"overlap_dp", ORR_TRAIN_OVERLAP_DP},
                    {"overlap_tp", ORR_TRAIN_OVERLAP_TP},
                    {"overlap_pp", ORR_TRAIN_OVERLAP_PP},
                    {"overlap_ep", ORR_TRAIN_OVERLAP_EP}};
    if (header->count > TABLE_COLUMNS) {
        return error_set(err, ORR_ERANGE, "%s: more than %d columns", table->request->input, TABLE_COLUMNS);
    }
    table->column_count = header->count;
    table->step_column = table->source_column = -1;
    for (uint32_t i = 0; i < header->count; i++) {
        struct table_column *column = &table->columns[i];
        column->name = arena_strndup(&table->arena, header->fields[i].text, header->fields[i].length);
        if (column->name == NULL) {
            return mem_error(table->mem, "the table", err);
        }
        column->row = table_param(column->name);
        for (size_t k = 0; k < sizeof overlaps / sizeof overlaps[0]; k++) {
            column->overlap = strcmp(column->name, overlaps[k].name) == 0 ? overlaps[k].bit : column->overlap;
        }
        table->step_column = strcmp(column->name, "step_s") == 0 ? (int)i : table->step_column;
        table->source_column = strcmp(column->name, "source") == 0 ? (int)i : table->source_column;
    }
    return ORR_OK;
}

static enum orr_status table_keep_row(struct table *table, const struct csv_row *csv, struct orr_error *err)
{
    void *rows = table->rows;
    if (!mem_reserve(table->mem, &rows, &table->row_capacity, table->row_count + 1, sizeof *table->rows)) {
        return mem_error(table->mem, "the table", err);
    }
    table->rows = rows;
    struct table_row *row = &table->rows[table->row_count];
    *row = (struct table_row){.line = csv->line};
    row->fields = arena_alloc(&table->arena, table->column_count * sizeof *row->fields);
    for (uint32_t i = 0; i < table->column_count && row->fields != NULL; i++) {
        row->fields[i] = arena_strndup(&table->arena, csv->fields[i].text, csv->fields[i].length);
        if (row->fields[i] == NULL) {
            row->fields = NULL;
        }
    }
    table->row_count += row->fields != NULL;
    return row->fields != NULL ? ORR_OK : mem_error(table->mem, "the table", err);
}

static enum orr_status table_read(struct table *table, struct orr_error *err)
{
    struct csv_reader *reader = NULL;
    struct csv_row row;
    bool more = true;
    enum orr_status status = csv_reader_open(table->request->input, table->mem, &reader, err);
    if (status != ORR_OK) {
        return status;
    }
    status = table_read_header(table, csv_reader_header(reader), err);
    while (status == ORR_OK) {
        status = csv_reader_next(reader, &row, &more, err);
        if (status != ORR_OK || !more) {
            break;
        }
        status = table_keep_row(table, &row, err);
    }
    csv_reader_close(reader);
    return status;
}

/* ---- one row ---- */

static enum orr_status table_row_options(const struct table *table, const struct table_row *row,
                                         struct orr_train_options *options, struct orr_error *err)
{
    *options = *table->request->defaults;
    for (uint32_t i = 0; i < table->column_count; i++) {
        const struct table_column *column = &table->columns[i];
        const char *text = row->fields[i];
        if (text[0] == '\0') {
            continue;
        }
        if (column->overlap != 0) {
            options->plan.overlap = strcmp(text, "0") == 0 ? options->plan.overlap & ~column->overlap
                                                           : options->plan.overlap | column->overlap;
        } else if (column->row != NULL && strcmp(column->name, "model") != 0) {
            enum orr_status status = param_read(column->row, column->name, text, options, err);
            if (status != ORR_OK) {
                return status;
            }
        } else if (strcmp(column->name, "model") == 0 && options->shape.hidden == 0) {
            options->model = text;
        }
    }
    if (options->shape.hidden != 0) { /* the row says its shape itself; the name is for people */
        options->model = NULL;
    }
    return ORR_OK;
}

static void *table_predict(void *context, uint64_t piece)
{
    struct table *table = context;
    struct table_row *row = &table->rows[piece];
    struct orr_train_options options;
    struct orr_train_result result;
    struct orr_error err = {0};
    struct mem mem = {0};
    enum orr_status status = table_row_options(table, row, &options, &err);
    if (status == ORR_OK) {
        status = predict_step(table->data, &options, &mem, &result, &err);
    }
    row->is_predicted = status == ORR_OK;
    if (status == ORR_OK) {
        row->step_s = (double)result.step_ns * 1e-9;
        row->memory_gb = (double)result.memory.total * 1e-9;
        row->fits = result.memory.fits;
        memcpy(row->bound_by, result.bound_by, sizeof row->bound_by);
        (void)snprintf(row->status, sizeof row->status, "ok");
    } else {
        (void)param_spell(err.text, row->status, sizeof row->status);
    }
    row->measured_s = table->step_column >= 0 ? strtod(row->fields[table->step_column], NULL) : 0;
    return NULL;
}

static bool table_row_done(void *context, uint64_t piece, void *made)
{
    (void)context, (void)piece, (void)made;
    return true;
}

/* ---- writing ---- */

static void table_write(const struct table *table, FILE *stream)
{
    for (uint32_t i = 0; i < table->column_count; i++) {
        csv_write_field(table->columns[i].name, stream);
        (void)fputc(',', stream);
    }
    (void)fputs("predicted_step_s,predicted_memory_gb,fits,bound_by,error,status\n", stream);
    for (uint64_t i = 0; i < table->row_count; i++) {
        const struct table_row *row = &table->rows[i];
        for (uint32_t k = 0; k < table->column_count; k++) {
            csv_write_field(row->fields[k], stream);
            (void)fputc(',', stream);
        }
        if (row->is_predicted) {
            (void)fprintf(stream, "%.6g,%.4g,%d,%s,", row->step_s, row->memory_gb, row->fits, row->bound_by);
        } else {
            (void)fputs(",,,,", stream);
        }
        if (row->is_predicted && row->measured_s > 0) {
            (void)fprintf(stream, "%.4f", row->step_s / row->measured_s - 1);
        }
        (void)fputc(',', stream);
        csv_write_field(row->status, stream);
        (void)fputc('\n', stream);
    }
}

/* Errors of the rows of one source, or of all (NULL). */
static void table_sum(const struct table *table, const char *source, double *errors, struct orr_train_table_result *sum)
{
    *sum = (struct orr_train_table_result){0};
    for (uint64_t i = 0; i < table->row_count; i++) {
        const struct table_row *row = &table->rows[i];
        if (source != NULL && strcmp(row->fields[table->source_column], source) != 0) {
            continue;
        }
        sum->rows++;
        sum->predicted += row->is_predicted;
        if (row->is_predicted && row->measured_s > 0) {
            double error = row->step_s / row->measured_s - 1;
            sum->bias += error;
            sum->mean += fabs(error);
            errors[sum->measured++] = fabs(error);
        }
    }
    if (sum->measured > 0) {
        numbers_sort(errors, (uint32_t)sum->measured);
        sum->mean /= (double)sum->measured;
        sum->bias /= (double)sum->measured;
        sum->median = numbers_quantile(errors, (uint32_t)sum->measured, 0.5);
        sum->p90 = numbers_quantile(errors, (uint32_t)sum->measured, 0.9);
        sum->worst = errors[sum->measured - 1];
    }
}

static void table_print_sum(const char *name, const struct orr_train_table_result *sum, FILE *stream)
{
    (void)fprintf(stream, "%-24s %6" PRIu64 " %9" PRIu64, name, sum->rows, sum->predicted);
    if (sum->measured > 0) {
        (void)fprintf(stream, " %8.1f %8.1f %8.1f %8.1f %+8.1f", 100 * sum->mean, 100 * sum->median, 100 * sum->p90,
                      100 * sum->worst, 100 * sum->bias);
    }
    (void)fputc('\n', stream);
}

static enum orr_status table_summarise(const struct table *table, FILE *stream, struct orr_train_table_result *result,
                                       struct orr_error *err)
{
    const char *sources[TABLE_SOURCES];
    size_t count = 0, bytes = (table->row_count + 1) * sizeof(double);
    double *errors = mem_alloc(table->mem, bytes);
    if (errors == NULL) {
        return mem_error(table->mem, "the table", err);
    }
    if (stream != NULL) {
        (void)fprintf(stream, "%-24s %6s %9s %8s %8s %8s %8s %8s\n", "source", "rows", "predicted", "mean %", "median",
                      "p90", "worst", "bias");
    }
    for (uint64_t i = 0; stream != NULL && table->source_column >= 0 && i < table->row_count; i++) {
        const char *source = table->rows[i].fields[table->source_column];
        size_t k = 0;
        while (k < count && strcmp(sources[k], source) != 0) {
            k++;
        }
        if (k == count && count < TABLE_SOURCES) {
            struct orr_train_table_result sum;
            sources[count++] = source;
            table_sum(table, source, errors, &sum);
            table_print_sum(source, &sum, stream);
        }
    }
    table_sum(table, NULL, errors, result);
    if (stream != NULL) {
        table_print_sum("all", result, stream);
    }
    mem_free(table->mem, errors, bytes);
    return ORR_OK;
}

static enum orr_status table_output(const struct table *table, FILE *stream, struct orr_error *err)
{
    struct io_outfile *file = NULL;
    if (table->request->output == NULL) {
        table_write(table, stream);
        return error_of_stream(stream, "the table", err);
    }
    enum orr_status status =
        io_outfile_open(table->request->output, io_outfile_form_of(table->request->output), &file, err);
    if (status == ORR_OK) {
        table_write(table, io_outfile_stream(file));
        status = io_outfile_commit(file, err);
    }
    return status;
}

enum orr_status orr_train_predict_table(const struct orr_train_table *request, FILE *stream, FILE *summary,
                                        struct orr_train_table_result *result, struct orr_error *err)
{
    struct mem mem = {.limit = request->defaults->memory_limit};
    struct table table = {.request = request, .mem = &mem};
    arena_init(&table.arena, &mem);
    enum orr_status status = table_read(&table, err);
    if (status == ORR_OK) {
        status = predict_open(&table.data, err);
    }
    if (status == ORR_OK) {
        uint32_t threads = request->threads != 0 ? request->threads : thread_pool_processors();
        struct thread_pool_work work = {.count = table.row_count,
                                        .window = 4 * threads,
                                        .make = table_predict,
                                        .take = table_row_done,
                                        .context = &table,
                                        .tick_ms = 1000};
        status = thread_pool_run(threads, &work, err);
    }
    if (status == ORR_OK) {
        status = table_output(&table, stream, err);
    }
    if (status == ORR_OK) {
        status = table_summarise(&table, summary, result, err);
    }
    predict_close(table.data);
    mem_free(&mem, table.rows, table.row_capacity * sizeof *table.rows);
    arena_free(&table.arena);
    return status;
}
