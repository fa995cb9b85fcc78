/* SPDX-License-Identifier: Apache-2.0 */
/* A table of runs with what is predicted beside it, in its own order, and how far off that is by source. */
#include <inttypes.h>
#include <string.h>

#include "base/plain.h"
#include "io/csv.h"
#include "io/outfile.h"
#include "train/runs.h"

enum { TABLE_SOURCES = 64 };

static bool table_is_measured(const struct runs_row *row)
{
    return row->is_predicted && row->measured_s > 0;
}

static double table_error(const struct runs_row *row)
{
    return (double)row->result.step_ns * 1e-9 / row->measured_s - 1;
}

static const char *const table_added[] = {
    "predicted_step_s",
    "predicted_memory_gb",
    "fits",
    "bound_by",
    "exposed_comm_s",
    "bubble_s",
    "launch_s",
    "expected_error",
    "error",
    "status",
    NULL,
};

static void table_write(const struct runs *runs, FILE *stream)
{
    for (uint32_t i = 0; i < runs->column_count; i++) {
        if (!csv_is_added(runs->columns[i].name, table_added)) {
            csv_write_field(runs->columns[i].name, stream);
            (void)fputc(',', stream);
        }
    }
    csv_write_added(table_added, ',', stream);
    for (uint32_t i = 0; i < runs->row_count; i++) {
        const struct runs_row *row = &runs->rows[i];
        const struct orr_train_result *result = &row->result;
        for (uint32_t k = 0; k < runs->column_count; k++) {
            if (!csv_is_added(runs->columns[k].name, table_added)) {
                csv_write_field(row->fields[k], stream);
                (void)fputc(',', stream);
            }
        }
        if (row->is_predicted) {
            (void)plain_fprintf(stream, "%.6g,%.4g,%d,%s,%.4g,%.4g,%.4g,%.4f,", (double)result->step_ns * 1e-9,
                                (double)result->memory.total * 1e-9, result->memory.fits, result->bound_by,
                                (double)result->exposed_comm_ns * 1e-9, (double)result->bubble_ns * 1e-9,
                                (double)result->launch_ns * 1e-9, result->error);
        } else {
            (void)fputs(",,,,,,,,", stream);
        }
        if (table_is_measured(row)) {
            (void)plain_fprintf(stream, "%.4f", table_error(row));
        }
        (void)fputc(',', stream);
        csv_write_field(row->status, stream);
        (void)fputc('\n', stream);
    }
}

/* Errors of the rows of one source, or of all (NULL). */
static void table_sum(const struct runs *runs, const char *source, double *errors, struct orr_train_table_result *sum)
{
    uint32_t count = 0;
    *sum = (struct orr_train_table_result){0};
    for (uint32_t i = 0; i < runs->row_count; i++) {
        const struct runs_row *row = &runs->rows[i];
        if (source != NULL && strcmp(runs_field(runs, row, RUNS_SOURCE), source) != 0) {
            continue;
        }
        sum->rows++;
        sum->predicted += row->is_predicted;
        if (table_is_measured(row)) {
            errors[count++] = table_error(row);
        }
    }
    runs_errors(errors, count, sum);
}

static void table_print_sum(const char *name, const struct orr_train_table_result *sum, FILE *stream)
{
    (void)fprintf(stream, "%-24s %6" PRIu64 " %9" PRIu64, name, sum->rows, sum->predicted);
    if (sum->measured > 0) {
        (void)plain_fprintf(stream, " %8.1f %8.1f %8.1f %8.1f %+8.1f", 100 * sum->mean, 100 * sum->median,
                            100 * sum->p90, 100 * sum->worst, 100 * sum->bias);
    }
    (void)fputc('\n', stream);
}

static enum orr_status table_summarise(const struct runs *runs, FILE *stream, struct orr_train_table_result *result,
                                       struct orr_error *err)
{
    const char *sources[TABLE_SOURCES];
    size_t count = 0, bytes = ((size_t)runs->row_count + 1) * sizeof(double);
    double *errors = mem_alloc(runs->mem, bytes);
    if (errors == NULL) {
        return mem_error(runs->mem, "the table", err);
    }
    if (stream != NULL) {
        (void)fprintf(stream, "%-24s %6s %9s %8s %8s %8s %8s %8s\n", "source", "rows", "predicted", "mean %", "median",
                      "p90", "worst", "bias");
    }
    for (uint32_t i = 0; stream != NULL && runs->meanings[RUNS_SOURCE] >= 0 && i < runs->row_count; i++) {
        const char *source = runs_field(runs, &runs->rows[i], RUNS_SOURCE);
        size_t k = 0;
        while (k < count && strcmp(sources[k], source) != 0) {
            k++;
        }
        if (k == count && count < TABLE_SOURCES) {
            struct orr_train_table_result sum;
            sources[count++] = source;
            table_sum(runs, source, errors, &sum);
            table_print_sum(source, &sum, stream);
        }
    }
    table_sum(runs, NULL, errors, result);
    if (stream != NULL) {
        table_print_sum("all", result, stream);
    }
    mem_free(runs->mem, errors, bytes);
    return ORR_OK;
}

static enum orr_status table_output(const struct runs *runs, const char *output, FILE *stream, struct orr_error *err)
{
    struct io_outfile *file = NULL;
    if (output == NULL) {
        table_write(runs, stream);
        return error_of_stream(stream, "the table", err);
    }
    enum orr_status status = io_outfile_open(output, io_outfile_form_of(output), &file, err);
    if (status == ORR_OK) {
        table_write(runs, io_outfile_stream(file));
        status = io_outfile_commit(file, err);
    }
    return status;
}

enum orr_status orr_train_predict_table(const struct orr_train_table *request, FILE *stream, FILE *summary,
                                        struct orr_train_table_result *result, struct orr_error *err)
{
    struct mem mem = {.limit = request->defaults->memory_limit};
    if (request->defaults->simulates) {
        return error_set(err, ORR_EINVAL, "parameter 'backend' is for one step; the rows of a table are predicted");
    }
    struct runs_request what = {.defaults = request->defaults, .threads = request->threads};
    struct neighbours *neighbours = NULL;
    struct runs runs;
    runs_init(&runs, &mem);
    enum orr_status status = runs_read(&runs, request->input, err);
    status = status != ORR_OK ? status : predict_open(&what.data, err);
    if (status == ORR_OK && !request->defaults->without_neighbours) {
        status = neighbours_open(what.data, NULL, request->threads, &neighbours, err);
        what.neighbours = neighbours;
    }
    status = status != ORR_OK ? status : runs_predict(&runs, &what, err);
    status = status != ORR_OK ? status : table_output(&runs, request->output, stream, err);
    status = status != ORR_OK ? status : table_summarise(&runs, summary, result, err);
    neighbours_close(neighbours);
    predict_close(what.data);
    runs_free(&runs);
    return status;
}
