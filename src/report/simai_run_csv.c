/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SimAI's own forms of a result, digit for digit where the times are SimAI's: microseconds with six decimals, rates in
 * 32-bit floats (spec packet B9). What is no number is spelt the same on every machine.
 */
#include <inttypes.h>
#include <math.h>

#include "report/number.h"
#include "report/simai_run.h"

enum { WINDOW_NS = 10000 };

static const double NS_PER_US = 1000.0;

static double us(uint64_t ns)
{
    return (double)ns / NS_PER_US;
}

static void report_simai_run_csv_put_number(double value, FILE *stream)
{
    (void)fprintf(stream, ",%s", report_fixed(value, 6).text);
}

/* ---- rates ---- */

static void put_rates(const struct simai_result *rows, uint32_t row, enum simai_phase phase, FILE *stream)
{
    const struct simai_cell *cell = &rows->program->rows[row].cells[phase];
    uint64_t ns = rows->rows[row][phase].comm_ns;
    uint32_t ranks = report_simai_run_ranks(rows, row, phase);
    double gib = 1.0 / (1024.0 * 1024.0 * 1024.0);
    double bytes = (double)cell->bytes;
    float algorithm = ns > 0 ? (float)(bytes / us(ns) * 1000000 * gib) : cell->bytes > 0 ? INFINITY : NAN;
    float twice = cell->type == COLL_ALL_REDUCE ? algorithm * 2 : algorithm;
    float bus = cell->type == SIMAI_NO_COMM ? 0 : (float)((double)(twice * (float)(ranks - 1)) / (double)ranks);
    report_simai_run_csv_put_number(us(ns), stream);
    report_simai_run_csv_put_number((double)algorithm, stream);
    report_simai_run_csv_put_number((double)bus, stream);
}

/* ---- EndToEnd.csv ---- */

static void put_part(double value, double total, FILE *stream)
{
    (void)fprintf(stream, ", %s (%s%%)", report_fixed(value, 0).text, report_fixed(value / total * 100, 2).text);
}

/* What the whole pipeline adds, in microseconds. SimAI does not run stages and reckons the bubble from one pass. */
static double bubble_us(const struct simai_result *rows)
{
    if (!rows->compat) {
        return us(rows->stage_wait_ns - rows->stage_transfer_ns);
    }
    double sum = 0;
    for (uint32_t row = 0; row < rows->program->row_count; row++) {
        const struct simai_phase_result *times = rows->rows[row];
        const char *name = rows->program->rows[row].name;
        bool counts = false;
        for (const char *a = name, *b = "embedding_layer"; !counts && (*a != '\0' || *b != '\0'); a++, b++) {
            counts = *a != *b;
        }
        uint64_t ns = times[SIMAI_FWD].exposed_ns + times[SIMAI_FWD].compute_ns + times[SIMAI_WG].compute_ns +
                      times[SIMAI_IG].compute_ns + times[SIMAI_IG].exposed_ns;
        sum += counts ? us(ns) : 0;
    }
    return sum * ((double)(rows->program->pp - 1) / ((double)rows->program->ga * rows->program->vpp));
}

static void put_sums(const struct sim_result *result, FILE *stream)
{
    const struct simai_result *rows = result->simai;
    double compute = us(report_simai_run_compute(rows));
    double bubble = bubble_us(rows);
    double pipeline = rows->compat ? 0 : us(rows->stage_transfer_ns);
    double exposed = us(sim_result_rank(result, 0)->finish_ns) - compute - (rows->compat ? 0 : bubble + pipeline);
    double total = compute + exposed + bubble + pipeline;
    bool has_cp = rows->job.cp > 1; /* a column that SimAI's table has not */
    (void)fprintf(stream,
                  "File name, Expose DP comm, Expose DP_EP comm, Expose TP comm, Expose_EP_comm, %sExpose_PP_comm, "
                  "bubble time, total comp, total exposed comm, Total time\ntest1",
                  has_cp ? "Expose_CP_comm, " : "");
    put_part(us(report_simai_run_exposed(rows, NCCL_GROUP_DP)), total, stream);
    put_part(us(report_simai_run_exposed(rows, NCCL_GROUP_DP_EP)), total, stream);
    put_part(us(report_simai_run_exposed(rows, NCCL_GROUP_TP)), total, stream);
    put_part(us(report_simai_run_exposed(rows, NCCL_GROUP_EP)), total, stream);
    if (has_cp) {
        put_part(us(report_simai_run_exposed(rows, NCCL_GROUP_CP)), total, stream);
    }
    put_part(pipeline, total, stream);
    put_part(bubble, total, stream);
    put_part(compute, total, stream);
    put_part(exposed, total, stream);
    (void)fprintf(stream, ", %s\n", report_fixed(total, 0).text);
}

static void report_simai_run_csv_put_row(const struct sim_result *result, uint32_t row, FILE *stream)
{
    const struct simai_result *rows = result->simai;
    static const enum simai_phase order[] = {SIMAI_FWD, SIMAI_WG, SIMAI_IG};
    const struct simai_phase_result *times = rows->rows[row];
    (void)fprintf(stream, "%s,test1", rows->program->rows[row].name);
    for (unsigned i = 0; i < SIMAI_PHASES; i++) {
        report_simai_run_csv_put_number(us(times[order[i]].compute_ns), stream);
    }
    for (unsigned i = 0; i < SIMAI_PHASES; i++) {
        report_simai_run_csv_put_number(us(times[order[i]].exposed_ns), stream);
    }
    for (unsigned i = 0; i < SIMAI_PHASES; i++) {
        put_rates(rows, row, order[i], stream);
    }
    report_simai_run_csv_put_number(us(sim_result_rank(result, 0)->finish_ns), stream);
    (void)fputc('\n', stream);
}

static void put_totals(const struct sim_result *result, FILE *stream)
{
    const struct simai_result *rows = result->simai;
    static const enum simai_phase order[] = {SIMAI_FWD, SIMAI_WG, SIMAI_IG};
    double sums[3][SIMAI_PHASES] = {{0}};
    for (uint32_t row = 0; row < rows->program->row_count; row++) {
        for (unsigned i = 0; i < SIMAI_PHASES; i++) {
            const struct simai_phase_result *times = &rows->rows[row][order[i]];
            sums[0][i] += us(times->compute_ns);
            sums[1][i] += us(times->exposed_ns);
            sums[2][i] += us(times->comm_ns);
        }
    }
    (void)fputs("SUM,test1", stream);
    for (unsigned kind = 0; kind < 3; kind++) {
        for (unsigned i = 0; i < SIMAI_PHASES; i++) {
            report_simai_run_csv_put_number(sums[kind][i], stream);
            (void)fputs(kind == 2 ? ",NONE,NONE" : "", stream);
        }
    }
    double compute = us(report_simai_run_compute(rows));
    double total = us(sim_result_rank(result, 0)->finish_ns);
    (void)fprintf(stream, "\ntotal exposed comm,%s,total comp,%s,total time,%s\n",
                  report_fixed(total - compute, 6).text, report_fixed(compute, 6).text, report_fixed(total, 6).text);
}

void report_simai_run_csv(const struct sim_result *result, FILE *stream)
{
    const struct simai_result *rows = result->simai;
    put_sums(result, stream);
    (void)fputs("layer_name,test1,fwd compute,wg compute,ig compute,fwd exposed comm,wg exposed comm,ig exposed comm,"
                "fwd total comm,algbw,busbw,wg total comm,algbw,busbw,ig total comm,algbw,busbw,workload finished "
                "at\n",
                stream);
    for (uint32_t row = 0; row < rows->program->row_count; row++) {
        report_simai_run_csv_put_row(result, row, stream);
    }
    put_totals(result, stream);
}

/* ---- test1_dimension_utilization_0.csv ---- */

/* How much of the window a line had a collective under way. */
static uint64_t busy_in(const struct simai_result *rows, uint32_t line, uint64_t from, uint64_t to)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < rows->busy_count; i++) {
        const struct simai_busy *busy = &rows->busy[i];
        uint64_t start = busy->start_ns > from ? busy->start_ns : from;
        uint64_t end = busy->end_ns < to ? busy->end_ns : to;
        sum += busy->line == line && end > start ? end - start : 0;
    }
    return sum;
}

void report_simai_run_utilization(const struct sim_result *result, FILE *stream)
{
    const struct simai_result *rows = result->simai;
    uint32_t lines = rows->job.tp > 1 && rows->job.tp < rows->nodes ? 2 : 1;
    (void)fprintf(stream, " time (us) ,dim1 util,%s\n", lines == 2 ? "dim2 util," : "");
    for (uint64_t end = WINDOW_NS; end <= sim_result_rank(result, 0)->finish_ns; end += WINDOW_NS) {
        (void)fprintf(stream, "%s", report_fixed(us(end), 6).text);
        for (uint32_t line = 0; line < lines; line++) {
            uint32_t shown = lines == 1 && rows->job.tp == 1 ? 1 : line;
            report_simai_run_csv_put_number((double)busy_in(rows, shown, end - WINDOW_NS, end) / WINDOW_NS * 100,
                                            stream);
        }
        (void)fputs(",\n", stream);
    }
    (void)fputs(lines == 2 ? ",,\n" : ",\n", stream);
}

/* ---- what SimAI prints ---- */

static void put_layer(const struct simai_result *rows, uint32_t row, FILE *stream)
{
    static const struct {
        const char *words;
        enum simai_phase phase;
        unsigned kind;
    } lines[] = {{"fwd pass compute", SIMAI_FWD, 0},
                 {"weight grad compute", SIMAI_WG, 0},
                 {"input grad compute", SIMAI_IG, 0},
                 {"idle waiting for fwd finish", SIMAI_FWD, 1},
                 {"idle waiting for weight grad finish", SIMAI_WG, 1},
                 {"idle waiting for input grad finish", SIMAI_IG, 1},
                 {"fwd pass comm", SIMAI_FWD, 2},
                 {"weight grad comm", SIMAI_WG, 2},
                 {"input grad comm", SIMAI_IG, 2}};
    const char *name = rows->program->rows[row].name;
    const struct simai_phase_result *times = rows->rows[row];
    uint64_t collectives = times[SIMAI_FWD].collectives + times[SIMAI_IG].collectives + times[SIMAI_WG].collectives;
    (void)fprintf(stream,
                  "*******************\nLayer id: %s\nTotal collectives issued for this layer: %" PRIu64
                  "\n*************************  Workload stats  ************************* %s\n",
                  name, collectives, name);
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        const struct simai_phase_result *one = &times[lines[i].phase];
        uint64_t ns = lines[i].kind == 0 ? one->compute_ns : lines[i].kind == 1 ? one->exposed_ns : one->comm_ns;
        (void)fprintf(stream, "id: %s ,Total cycles spent %s%s: %" PRIu64 "\n", name, lines[i].kind == 1 ? "" : "on ",
                      lines[i].words, ns);
    }
}

void report_simai_run_log(const struct sim_result *result, FILE *stream)
{
    const struct simai_result *rows = result->simai;
    (void)fprintf(stream, "pass: 0 finished at time: %" PRIu64 "\n", rows->pass_ns);
    for (uint32_t row = 0; row < rows->program->row_count; row++) {
        put_layer(rows, row, stream);
    }
    (void)fprintf(stream,
                  "*************************\nall passes finished at time: %" PRIu64 ", id of first layer: %s\n",
                  sim_result_rank(result, 0)->finish_ns, rows->program->rows[0].name);
}
