/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Predicted against measured, honestly: a fold of the shapes (the same shapes on every device) is held out of the fit
 * and asked for. Sets are fitted one after the other without their held-out rows; calls (stack torch) rest on kernels
 * that were fitted without them too.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "api/op_errors.h"
#include "api/op_fit.h"
#include "base/plain.h"
#include "compute/op_data.h"
#include "compute/op_table.h"
#include "io/outfile.h"
#include "orrery.h"
#include "report/rows.h"

enum { SIZE_CLASSES = 5, DOTS_MOST = 900 };

/* A held-out row and its answer. */
struct judged {
    const struct op_row *row;
    double predicted;
};

struct judging {
    struct mem mem;
    struct op_rows rows, used, held;
    struct judged *list;
    double *errors; /* room for as many */
    uint32_t count;
};

static uint32_t size_class(double us)
{
    const double ends[] = {10, 100, 1000, 10000};
    uint32_t class = 0;
    while (class < SIZE_CLASSES - 1 && us >= ends[class]) {
        class ++;
    }
    return class;
}

static const char *const size_names[SIZE_CLASSES] = {"below 10 us", "10 to 100 us", "100 us to 1 ms", "1 to 10 ms",
                                                     "above 10 ms"};

/* Which rows are summed up: those with the device, stack, kind, dtype and size of `like`, where that is given. */
struct filter {
    int device, stack, kind, dtype, size; /* -1: any */
};

static bool passes(const struct filter *f, const struct op_row *row)
{
    return (f->device < 0 || (uint32_t)f->device == row->device) && (f->stack < 0 || f->stack == (int)row->stack) &&
           (f->kind < 0 || f->kind == (int)row->op.kind) && (f->dtype < 0 || f->dtype == (int)row->op.dtype) &&
           (f->size < 0 || (uint32_t)f->size == size_class(row->us));
}

static struct op_errors sum_errors(struct judging *j, const struct filter *f)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < j->count; i++) {
        if (passes(f, j->list[i].row)) {
            j->errors[count++] = j->list[i].predicted / j->list[i].row->us - 1;
        }
    }
    return op_errors_of(j->errors, count);
}

/* Errors of some rows, by what they have in common; a text that is not part of it is "". */
struct compared_row {
    const char *by, *stack, *op, *device, *dtype, *size;
    struct op_errors errors;
};

#define COLUMN(...) REPORT_COLUMN(compared_row, __VA_ARGS__)
static const struct report_column compared_columns[] = {COLUMN("by", TEXT, 0, by),
                                                        COLUMN("stack", TEXT, 0, stack),
                                                        COLUMN("op", TEXT, 0, op),
                                                        COLUMN("device", TEXT, 0, device),
                                                        COLUMN("dtype", TEXT, 0, dtype),
                                                        COLUMN("size", TEXT, 0, size),
                                                        COLUMN("rows_held_out", U32, 0, errors.count),
                                                        COLUMN("mean_error", REAL, 4, errors.mean),
                                                        COLUMN("median_error", REAL, 4, errors.median),
                                                        COLUMN("p90_error", REAL, 4, errors.p90),
                                                        COLUMN("worst_error", REAL, 4, errors.worst),
                                                        COLUMN("bias", REAL, 4, errors.bias),
                                                        {0}};

/* Where a report goes, and as what. */
struct sink {
    enum orr_form form;
    FILE *stream;
    struct json_writer json;
};

static void write_line(struct sink *sink, const struct compared_row *row)
{
    const struct op_errors *e = &row->errors;
    const char *const parts[] = {row->device, row->stack, row->op, row->dtype, row->size};
    const char *between = "";
    if (e->count == 0) {
        return;
    }
    if (sink->form == ORR_FORM_JSON) {
        report_row_json(compared_columns, row, &sink->json);
        return;
    }
    if (sink->form == ORR_FORM_CSV) {
        report_row_csv(compared_columns, row, sink->stream);
        return;
    }
    bool all = row->op[0] == '\0' && row->size[0] == '\0';
    (void)fputs(all ? "| **" : "| ", sink->stream);
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        bool told = parts[i][0] != '\0' && (i != 1 || row->device[0] == '\0');
        (void)fprintf(sink->stream, "%s%s", told ? between : "", told ? parts[i] : "");
        between = told ? " " : between;
    }
    (void)plain_fprintf(sink->stream, "%s | %" PRIu32 " | %.2f | %.2f | %.2f | %.0f | %+.2f |\n", all ? ", all**" : "",
                        e->count, 100 * e->mean, 100 * e->median, 100 * e->p90, 100 * e->worst, 100 * e->bias);
}

static void write_heading(struct sink *sink, const char *title)
{
    if (sink->form == ORR_FORM_TEXT) {
        (void)fprintf(sink->stream,
                      "\n## %s\n\n| | rows held out | mean | median | 90th percentile | worst | bias "
                      "|\n|---|--:|--:|--:|--:|--:|--:|\n",
                      title);
    }
}

static void write_by_operator(struct judging *j, struct sink *sink)
{
    write_heading(sink, "By stack and operator");
    for (int stack = 0; stack < ORR_OP_STACK_COUNT; stack++) {
        struct compared_row row = {"stack", op_stack_name((enum orr_op_stack)stack), "", "", "", "", {0}};
        row.errors = sum_errors(j, &(struct filter){-1, stack, -1, -1, -1});
        write_line(sink, &row);
        row.by = "operator";
        for (int kind = 0; kind < ORR_OP_KINDS; kind++) {
            row.op = op_kind_name((enum orr_op_kind)kind);
            row.errors = sum_errors(j, &(struct filter){-1, stack, kind, -1, -1});
            write_line(sink, &row);
        }
    }
}

static void write_by_device(struct judging *j, struct sink *sink)
{
    write_heading(sink, "By device");
    for (uint32_t device = 0; device < device_count; device++) {
        for (int kind = 0; kind < ORR_OP_KINDS; kind++) {
            for (int dtype = 0; dtype < ORR_OP_DTYPE_COUNT; dtype++) {
                const struct compared_row row = {
                    "device",
                    op_stack_name(ORR_OP_SERVING),
                    op_kind_name((enum orr_op_kind)kind),
                    device_rows[device].name,
                    op_dtype_name((enum orr_op_dtype)dtype),
                    "",
                    sum_errors(j, &(struct filter){(int)device, ORR_OP_SERVING, kind, dtype, -1})};
                write_line(sink, &row);
            }
        }
    }
}

static void write_report(struct judging *j, enum orr_form form, FILE *stream)
{
    struct sink sink = {.form = form, .stream = stream};
    if (form == ORR_FORM_JSON) {
        json_write_begin(&sink.json, stream);
        json_write_array(&sink.json, false);
    } else if (form == ORR_FORM_CSV) {
        report_row_csv_head(compared_columns, stream);
    }
    write_by_operator(j, &sink);
    write_by_device(j, &sink);
    write_heading(&sink, "By size");
    for (int stack = 0; stack < ORR_OP_STACK_COUNT; stack++) {
        for (int size = 0; size < SIZE_CLASSES; size++) {
            const struct compared_row row = {"size",
                                             op_stack_name((enum orr_op_stack)stack),
                                             "",
                                             "",
                                             "",
                                             size_names[size],
                                             sum_errors(j, &(struct filter){-1, stack, -1, -1, size})};
            write_line(&sink, &row);
        }
    }
    if (form == ORR_FORM_JSON) {
        json_write_array_end(&sink.json);
        json_write_end(&sink.json);
    }
}

/* Measured to the right, predicted upwards, both from 1 us to 1 s on logarithmic scales; every so many rows a dot. */
static void write_drawing(const struct judging *j, int stack, FILE *stream)
{
    const double side = 420;
    uint32_t rows = 0;
    for (uint32_t i = 0; i < j->count; i++) {
        rows += (int)j->list[i].row->stack == stack;
    }
    (void)plain_fprintf(
        stream,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"-50 -10 %.0f %.0f\" font-family=\"sans-serif\" "
        "font-size=\"11\">\n<rect x=\"0\" y=\"0\" width=\"%.0f\" height=\"%.0f\" fill=\"none\" "
        "stroke=\"#888\"/>\n<path d=\"M0 %.0fL%.0f 0\" stroke=\"#c33\" stroke-width=\"0.7\"/>\n",
        side + 70, side + 50, side, side, side, side);
    for (int power = 0; power <= 6; power++) {
        (void)plain_fprintf(stream,
                            "<text x=\"%.0f\" y=\"%.0f\" text-anchor=\"middle\">1e%d</text><text x=\"-6\" y=\"%.0f\" "
                            "text-anchor=\"end\">1e%d</text>\n",
                            side * power / 6, side + 14, power, side - side * power / 6 + 4, power);
    }
    (void)plain_fprintf(stream,
                        "<text x=\"%.0f\" y=\"%.0f\" text-anchor=\"middle\">measured us (%s, %" PRIu32
                        " held out); predicted us upwards</text>\n<g fill=\"#246\" fill-opacity=\"0.35\">\n",
                        side / 2, side + 30, op_stack_name((enum orr_op_stack)stack), rows);
    uint32_t step = rows / DOTS_MOST + 1;
    uint32_t seen = 0;
    for (uint32_t i = 0; i < j->count; i++) {
        const struct judged *row = &j->list[i];
        if ((int)row->row->stack == stack && seen++ % step == 0) {
            (void)plain_fprintf(stream, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"1.4\"/>\n", side * log10(row->row->us) / 6,
                                side - side * log10(row->predicted) / 6);
        }
    }
    (void)fputs("</g>\n</svg>\n", stream);
}

static enum orr_status split_rows(struct judging *j, uint32_t folds, uint32_t fold, struct orr_error *err)
{
    enum orr_status status = ORR_OK;
    for (uint32_t i = 0; i < j->rows.count && status == ORR_OK; i++) {
        const struct op_row *row = &j->rows.list[i];
        status = op_rows_add(op_fold_of(&row->op, folds) == fold ? &j->held : &j->used, row, err);
    }
    op_rows_sort(&j->used);
    op_rows_sort(&j->held);
    return status;
}

static enum orr_status ask_held(struct judging *j, const struct orr_op_data *data, struct orr_error *err)
{
    j->list = mem_alloc(&j->mem, j->held.count * sizeof *j->list);
    j->errors = mem_alloc(&j->mem, j->held.count * sizeof *j->errors);
    if (j->list == NULL || j->errors == NULL) {
        return mem_error(&j->mem, "the comparison", err);
    }
    j->count = j->held.count;
    for (uint32_t i = 0; i < j->count; i++) {
        const struct op_row *row = &j->held.list[i];
        struct orr_op_prediction p;
        orr_op_predict(data, row->device, row->stack, &row->op, &p);
        j->list[i] = (struct judged){row, p.us};
    }
    return ORR_OK;
}

static enum orr_status write_drawings(const struct judging *j, const char *output, struct orr_error *err)
{
    enum orr_status status = ORR_OK;
    for (int stack = 0; stack < ORR_OP_STACK_COUNT && status == ORR_OK; stack++) {
        char path[4096];
        struct io_outfile *file = NULL;
        size_t length = strlen(output);
        length = length > 3 && strcmp(output + length - 3, ".md") == 0 ? length - 3 : length;
        (void)snprintf(path, sizeof path, "%.*s-%s.svg", (int)length, output, op_stack_name((enum orr_op_stack)stack));
        status = io_outfile_open(path, IO_OUTFILE_PLAIN, &file, err);
        if (status == ORR_OK) {
            write_drawing(j, stack, io_outfile_stream(file));
            status = io_outfile_commit(file, err);
        }
    }
    return status;
}

static enum orr_status op_compare_write_page(struct judging *j, const struct orr_op_compare_options *options,
                                             struct orr_error *err)
{
    struct io_outfile *file = NULL;
    enum orr_status status = io_outfile_open(options->output, IO_OUTFILE_PLAIN, &file, err);
    if (status != ORR_OK) {
        return status;
    }
    FILE *page = io_outfile_stream(file);
    (void)fprintf(
        page,
        "# Operators: predicted against measured\n\nMade by `orrery op compare`. One shape in %" PRIu32 " (%" PRIu32
        " of %" PRIu32
        " rows; the same shapes on every device) was held out of every fit and asked for afterwards; everything, "
        "constants and likeness, was fitted on the others. Errors are |predicted / measured - 1| in percent; the "
        "bias is the median of predicted / measured - 1. What the program ships is fitted on all rows.\n",
        options->folds, j->held.count, j->rows.count);
    write_report(j, ORR_FORM_TEXT, page);
    const char *slash = strrchr(options->output, '/');
    const char *name = slash != NULL ? slash + 1 : options->output;
    int length = (int)strcspn(name, ".");
    (void)fputs("\n## Pictures\n\n", page);
    for (int stack = 0; stack < ORR_OP_STACK_COUNT; stack++) {
        (void)fprintf(page, "![%s](%.*s-%s.svg)\n", op_stack_name((enum orr_op_stack)stack), length, name,
                      op_stack_name((enum orr_op_stack)stack));
    }
    status = io_outfile_commit(file, err);
    return status != ORR_OK ? status : write_drawings(j, options->output, err);
}

/* The text, unless another form takes its place, and the files. */
static enum orr_status write_forms(struct judging *j, const struct orr_op_compare_options *options, FILE *stream,
                                   struct orr_error *err)
{
    const char *const paths[] = {
        [ORR_FORM_TEXT] = NULL, [ORR_FORM_JSON] = options->json, [ORR_FORM_CSV] = options->csv};
    enum orr_form to_stream = ORR_FORM_TEXT;
    enum orr_status status = ORR_OK;
    for (int form = ORR_FORM_JSON; form <= ORR_FORM_CSV && status == ORR_OK; form++) {
        struct io_outfile *file = NULL;
        if (paths[form] == NULL) {
            continue;
        }
        if (strcmp(paths[form], "-") == 0) {
            to_stream = (enum orr_form)form;
            continue;
        }
        status = io_outfile_open(paths[form], IO_OUTFILE_PLAIN, &file, err);
        if (status == ORR_OK) {
            write_report(j, (enum orr_form)form, io_outfile_stream(file));
            status = io_outfile_commit(file, err);
        }
    }
    if (status == ORR_OK) {
        write_report(j, to_stream, stream);
        status = error_of_stream(stream, "the report", err);
    }
    return status;
}

enum orr_status orr_op_compare(const struct orr_op_compare_options *options, FILE *stream, struct orr_error *err)
{
    struct judging j = {.mem = {.limit = options->fit.memory_limit}};
    struct orr_op_data *data = NULL;
    j.rows.mem = j.used.mem = j.held.mem = &j.mem;
    enum orr_status status = options->folds < 2
                                 ? error_set(err, ORR_EINVAL, "parameter 'folds': from 2 on are accepted")
                                 : op_fit_read(&options->fit, &j.rows, err);
    status = status != ORR_OK ? status : split_rows(&j, options->folds, 0, err);
    if (status == ORR_OK && (j.held.count == 0 || j.used.count == 0)) {
        status = error_set(err, ORR_EINVAL, "%s: too few shapes to hold one in %" PRIu32 " of them out",
                           options->fit.inputs[0], options->folds);
    }
    status = status != ORR_OK ? status : op_fit_rows(&options->fit, &j.used, NULL, &data, err);
    status = status != ORR_OK ? status : ask_held(&j, data, err);
    status = status != ORR_OK ? status : write_forms(&j, options, stream, err);
    if (status == ORR_OK && options->output != NULL) {
        status = op_compare_write_page(&j, options, err);
    }
    orr_op_data_close(data);
    mem_free(&j.mem, j.list, j.count * sizeof *j.list);
    mem_free(&j.mem, j.errors, j.count * sizeof *j.errors);
    op_rows_free(&j.rows);
    op_rows_free(&j.used);
    op_rows_free(&j.held);
    return status;
}
