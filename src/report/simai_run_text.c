/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where rank 0's time went, and the dearest rows. Rows that repeat (AICB unrolls layers and micro-batches) are added up
 * by name, phase, operation and size.
 */
#include <inttypes.h>
#include <string.h>

#include "report/number.h"
#include "report/simai_run.h"
#include "report/summary.h"
#include "report/table.h"

enum { MOST_ROWS = 10, MOST_KINDS = 512 };

struct row_sum {
    uint32_t row; /* the first of its kind */
    enum simai_phase phase;
    uint64_t count, compute_ns, exposed_ns, comm_ns, collectives;
};

static bool report_simai_run_text_same_kind(const struct simai_program *program, const struct row_sum *sum,
                                            uint32_t row, enum simai_phase phase)
{
    const struct simai_row *a = &program->rows[sum->row];
    const struct simai_row *b = &program->rows[row];
    const struct simai_cell *x = &a->cells[phase];
    const struct simai_cell *y = &b->cells[phase];
    return sum->phase == phase && strcmp(a->name, b->name) == 0 && x->type == y->type && x->bytes == y->bytes &&
           x->group == y->group;
}

static void report_simai_run_text_add_row(const struct simai_result *result, uint32_t row, enum simai_phase phase,
                                          struct row_sum *sums, uint32_t *count)
{
    const struct simai_phase_result *times = &result->rows[row][phase];
    uint32_t i = 0;
    while (i < *count && !report_simai_run_text_same_kind(result->program, &sums[i], row, phase)) {
        i++;
    }
    if (i == MOST_KINDS || times->compute_ns + times->comm_ns == 0) {
        return;
    }
    if (i == *count) {
        sums[(*count)++] = (struct row_sum){.row = row, .phase = phase};
    }
    sums[i].count++;
    sums[i].compute_ns += times->compute_ns;
    sums[i].exposed_ns += times->exposed_ns;
    sums[i].comm_ns += times->comm_ns;
    sums[i].collectives += times->collectives;
}

static uint64_t cost(const struct row_sum *sum)
{
    return sum->compute_ns + sum->exposed_ns;
}

/* The dearest of those not shown yet; ties go to the first in the file. */
static uint32_t dearest(const struct row_sum *sums, uint32_t count, const bool *shown)
{
    uint32_t best = UINT32_MAX;
    for (uint32_t i = 0; i < count; i++) {
        if (!shown[i] && (best == UINT32_MAX || cost(&sums[i]) > cost(&sums[best]))) {
            best = i;
        }
    }
    return best;
}

static void sum_cells(const struct simai_result *result, const struct row_sum *sum, struct report_table *table)
{
    const struct simai_cell *cell = &result->program->rows[sum->row].cells[sum->phase];
    char times[24];
    (void)snprintf(times, sizeof times, "%" PRIu64 "x", sum->count);
    bool sends = cell->type != SIMAI_NO_COMM && sum->collectives > 0;
    report_table_row(table);
    report_table_cell(table, result->program->rows[sum->row].name);
    report_table_cell(table, simai_phase_names[sum->phase]);
    report_table_cell(table, times);
    report_table_cell(table, report_time((double)sum->compute_ns).text);
    report_table_cell(table, sends ? coll_type_name(cell->type) : "-");
    report_table_cell(table, sends ? nccl_group_names[cell->group] : "-");
    report_table_cell(table, sends ? report_bytes((double)cell->bytes).text : "-");
    report_table_cell(table, sends ? report_time((double)sum->exposed_ns).text : "-");
    double ranks = (double)report_simai_run_ranks(result, sum->row, sum->phase);
    double factor = (cell->type == COLL_ALL_REDUCE ? 2 : 1) * (ranks - 1) / ranks;
    double rate = sum->comm_ns > 0 ? (double)cell->bytes * (double)sum->collectives / (double)sum->comm_ns : 0;
    report_table_cell(table, sends ? report_fixed(rate * factor, 1).text : "-");
}

static void print_rows(const struct simai_result *result, FILE *stream)
{
    static const char *const head[] = {"Row",   "phase", "",        "compute", "collective",
                                       "group", "size",  "exposed", "bus GB/s"};
    static const uint32_t left = 1u | 1u << 1 | 1u << 4 | 1u << 5;
    struct row_sum sums[MOST_KINDS];
    bool shown[MOST_KINDS] = {false};
    uint32_t count = 0;
    for (uint32_t row = 0; row < result->program->row_count; row++) {
        for (unsigned phase = 0; phase < SIMAI_PHASES; phase++) {
            report_simai_run_text_add_row(result, row, (enum simai_phase)phase, sums, &count);
        }
    }
    struct report_table table;
    report_table_begin(&table, left);
    report_table_row(&table);
    for (size_t i = 0; i < sizeof head / sizeof head[0]; i++) {
        report_table_cell(&table, head[i]);
    }
    for (uint32_t i = 0; i < MOST_ROWS && i < count; i++) {
        uint32_t next = dearest(sums, count, shown);
        shown[next] = true;
        sum_cells(result, &sums[next], &table);
    }
    report_table_print(&table, stream);
}

static void print_part(const char *what, uint64_t ns, uint64_t whole, FILE *stream)
{
    if (ns > 0) {
        (void)fprintf(stream, "  %-36s %12s %7s\n", what, report_time((double)ns).text,
                      report_share((double)ns, (double)whole).text);
    }
}

static void report_simai_run_text_print_parts(const struct simai_result *result, uint64_t whole, FILE *stream)
{
    static const struct {
        const char *words;
        enum nccl_group_type group;
    } parts[] = {{"exposed tensor parallelism", NCCL_GROUP_TP},
                 {"exposed context parallelism", NCCL_GROUP_CP},
                 {"exposed expert parallelism", NCCL_GROUP_EP},
                 {"exposed data parallelism", NCCL_GROUP_DP},
                 {"exposed data parallelism of experts", NCCL_GROUP_DP_EP}};
    uint64_t compute = report_simai_run_compute(result);
    uint64_t sum = compute + result->stage_wait_ns;
    (void)fputs("Rank 0's time\n", stream);
    print_part("compute", compute, whole, stream);
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        uint64_t ns = report_simai_run_exposed(result, parts[i].group);
        sum += ns;
        print_part(parts[i].words, ns, whole, stream);
    }
    print_part("messages of other pipeline stages", result->stage_transfer_ns, whole, stream);
    print_part("pipeline bubble", result->stage_wait_ns - result->stage_transfer_ns, whole, stream);
    print_part("between rows", whole > sum ? whole - sum : 0, whole, stream);
}

void report_simai_run_head(const struct sim_result *result, FILE *stream)
{
    const struct simai_result *rows = result->simai;
    const struct nccl_job *job = &rows->job;
    uint32_t servers = (job->gpus + job->gpus_per_server - 1) / job->gpus_per_server;
    uint32_t stages = rows->program->stages;
    char cp[32] = "";
    if (job->cp > 1) {
        (void)snprintf(cp, sizeof cp, ", CP %" PRIu32, job->cp);
    }
    (void)fprintf(stream,
                  "%-11s%" PRIu32 " GPUs in %" PRIu32 " server%s; TP %" PRIu32 ", DP %" PRIu32 ", EP %" PRIu32
                  ", PP %" PRIu32 "%s; %s network%s\n",
                  "Machine", job->gpus, servers, servers == 1 ? "" : "s", job->tp, job->gpus / stages / job->tp,
                  job->ep, stages, cp, report_backend_name(result->config->backend),
                  result->by_packets ? ", by packets" : "");
    (void)fprintf(stream,
                  "%-11s%" PRIu32 " row%s, %" PRIu64 " collectives, %" PRIu64 " messages of %s, %" PRIu64 " events\n",
                  "Work", rows->program->row_count, rows->program->row_count == 1 ? "" : "s", rows->collectives,
                  result->messages, report_bytes((double)rows->flow_bytes).text, result->events);
}

void report_simai_run_text(const struct sim_result *result, FILE *stream)
{
    if (sim_result_rank(result, 0)->finished) {
        report_simai_run_text_print_parts(result->simai, sim_result_rank(result, 0)->finish_ns, stream);
        (void)fputc('\n', stream);
    }
    print_rows(result->simai, stream);
}
