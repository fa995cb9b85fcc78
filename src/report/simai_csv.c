/* SPDX-License-Identifier: Apache-2.0 */
/* The layout is SimAI's: keys and sums first, then a line a row. Numbers go through report_fixed, whose "nan" has no
 * sign on any machine. */
#include "report/simai.h"

#include <math.h>

#include "io/outfile.h"
#include "report/number.h"

/* Expose_CP_comm is there where the workload has such a group, which SimAI's have not. */
static const char sums_line[] = "File name, Expose DP comm, Expose DP_EP comm, Expose TP comm, Expose_EP_comm, "
                                "%sExpose_PP_comm, bubble time, total comp, total exposed comm, Total time\n";
static const char rows_line[] = "layer_name,Analytical_test,fwd compute,wg compute,ig compute,fwd exposed comm,wg "
                                "exposed comm,ig exposed comm,fwd total comm,algbw,busbw,wg total comm,algbw,busbw,ig "
                                "total comm,algbw,busbw\n";

/* Forward, weight gradient, input gradient: the order of the columns. */
static const enum report_simai_phase columns[REPORT_SIMAI_PHASES] = {REPORT_SIMAI_FWD, REPORT_SIMAI_WG,
                                                                     REPORT_SIMAI_IG};

static struct report_number whole(double value)
{
    return isfinite(value) ? report_fixed(value, 0) : (struct report_number){"NaN or Inf"};
}

static void write_sum(const struct report_simai *report, double value, FILE *stream)
{
    (void)fprintf(stream, ", %s (%s%%)", whole(value).text, report_fixed(value / report->total * 100, 2).text);
}

static void write_sums(const struct report_simai *report, FILE *stream)
{
    (void)fprintf(stream, sums_line, report->cp > 1 ? "Expose_CP_comm, " : "");
    (void)fputs(report->label, stream);
    write_sum(report, report->exposed[REPORT_SIMAI_DP], stream);
    write_sum(report, report->exposed[REPORT_SIMAI_DP_EP], stream);
    write_sum(report, report->exposed[REPORT_SIMAI_TP], stream);
    write_sum(report, report->exposed[REPORT_SIMAI_EP], stream);
    if (report->cp > 1) {
        write_sum(report, report->exposed[REPORT_SIMAI_CP], stream);
    }
    write_sum(report, report->pipeline, stream);
    write_sum(report, report->bubble, stream);
    write_sum(report, report->compute, stream);
    write_sum(report, report->exposed_all, stream);
    (void)fprintf(stream, ", %s\n", whole(report->total).text);
}

static void write_row(const struct report_simai_row *row, FILE *stream)
{
    (void)fwrite(row->name, 1, row->name_length, stream);
    (void)fputs(",Analytical_test", stream);
    for (unsigned i = 0; i < REPORT_SIMAI_PHASES; i++) {
        (void)fprintf(stream, ",%s", whole(row->cells[columns[i]].compute).text);
    }
    for (unsigned i = 0; i < REPORT_SIMAI_PHASES; i++) {
        (void)fprintf(stream, ",%s", whole(row->cells[columns[i]].exposed).text);
    }
    for (unsigned i = 0; i < REPORT_SIMAI_PHASES; i++) {
        const struct report_simai_cell *cell = &row->cells[columns[i]];
        (void)fprintf(stream, ",%s,%s,%s", whole(cell->comm).text, report_fixed(cell->algorithm_rate, 2).text,
                      report_fixed(cell->bus_rate, 2).text);
    }
    (void)fputc('\n', stream);
}

enum orr_status report_simai_csv(const struct report_simai *report, const char *path, struct orr_error *err)
{
    struct io_outfile *file = NULL;
    enum orr_status status = io_make_folder_above(path, err);
    status = status == ORR_OK ? io_outfile_open(path, io_outfile_form_of(path), &file, err) : status;
    if (status != ORR_OK) {
        return status;
    }
    FILE *stream = io_outfile_stream(file);
    if (!report->given_up) {
        write_sums(report, stream);
        (void)fputs(rows_line, stream);
        for (uint32_t i = 0; i < report->row_count; i++) {
            write_row(&report->rows[i], stream);
        }
    }
    return io_outfile_commit(file, err);
}
