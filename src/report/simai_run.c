/* SPDX-License-Identifier: Apache-2.0 */
/* Which form goes where, and the sums that several of them show. */
#include "report/simai_run.h"

#include <errno.h>
#include <string.h>

#include "io/outfile.h"
#include "report/stall.h"

uint64_t report_simai_run_compute(const struct simai_result *result)
{
    uint64_t sum = 0;
    for (uint32_t row = 0; row < result->program->row_count; row++) {
        for (unsigned phase = 0; phase < SIMAI_PHASES; phase++) {
            sum += result->rows[row][phase].compute_ns;
        }
    }
    return sum;
}

static bool is_in(const struct simai_cell *cell, enum nccl_group_type group)
{
    return cell->type != SIMAI_NO_COMM && cell->group == group;
}

/* What a row's forward pass and input gradient are booked under: by the forward pass, as SimAI does; rows of context
 * parallelism have nothing else in either. */
static enum nccl_group_type model_group(const struct simai_cell *cells)
{
    if (is_in(&cells[SIMAI_FWD], NCCL_GROUP_CP) || is_in(&cells[SIMAI_IG], NCCL_GROUP_CP)) {
        return NCCL_GROUP_CP;
    }
    return is_in(&cells[SIMAI_FWD], NCCL_GROUP_EP) ? NCCL_GROUP_EP : NCCL_GROUP_TP;
}

uint64_t report_simai_run_exposed(const struct simai_result *result, enum nccl_group_type group)
{
    uint64_t sum = 0;
    for (uint32_t row = 0; row < result->program->row_count; row++) {
        const struct simai_cell *cells = result->program->rows[row].cells;
        const struct simai_phase_result *times = result->rows[row];
        bool of_experts = is_in(&cells[SIMAI_WG], NCCL_GROUP_DP_EP);
        sum += group == model_group(cells) ? times[SIMAI_FWD].exposed_ns + times[SIMAI_IG].exposed_ns : 0;
        sum += group == (of_experts ? NCCL_GROUP_DP_EP : NCCL_GROUP_DP) ? times[SIMAI_WG].exposed_ns : 0;
    }
    return sum;
}

uint32_t report_simai_run_ranks(const struct simai_result *result, uint32_t row, enum simai_phase phase)
{
    const struct simai_cell *cell = &result->program->rows[row].cells[phase];
    uint32_t dp = result->job.gpus / result->program->stages / result->job.tp;
    enum nccl_group_type plain = phase == SIMAI_WG ? NCCL_GROUP_DP : NCCL_GROUP_TP;
    switch (cell->type == SIMAI_NO_COMM ? plain : cell->group) {
    case NCCL_GROUP_TP:
        return result->job.tp;
    case NCCL_GROUP_EP:
        return result->job.ep;
    case NCCL_GROUP_CP:
        return result->job.cp > 1 ? result->job.cp : 1;
    case NCCL_GROUP_DP_EP:
        return dp / result->job.ep;
    default:
        return dp;
    }
}

static void put_stall(const struct report_simai_run *report, FILE *stream)
{
    const struct simai_result *result = report->result;
    const struct sim_result shown = {.rank_count = result->ranks,
                                     .ranks_finished = result->ranks_finished,
                                     .end_ns = result->end_ns,
                                     .stall = result->stall};
    report_stall_write(&shown, stream);
}

static void put(const struct report_simai_run *report, enum orr_simai_output output, FILE *stream)
{
    switch (output) {
    case ORR_SIMAI_TEXT:
        report_simai_run_text(report, stream);
        break;
    case ORR_SIMAI_LOG:
        report_simai_run_log(report, stream);
        break;
    case ORR_SIMAI_JSON:
        report_simai_run_json(report, stream);
        break;
    case ORR_SIMAI_CSV:
        report_simai_run_csv(report, stream);
        break;
    case ORR_SIMAI_UTILIZATION:
        report_simai_run_utilization(report, stream);
        break;
    case ORR_SIMAI_TIMELINE:
        report_simai_run_timeline(report, stream);
        break;
    case ORR_SIMAI_STALL:
        put_stall(report, stream);
        break;
    case ORR_SIMAI_FCT:
    case ORR_SIMAI_PFC:
        break; /* the network's, not the run's */
    }
}

enum orr_status report_simai_run_write(const struct report_simai_run *report, enum orr_simai_output output,
                                       const char *path, FILE *stream, struct orr_error *err)
{
    if (path == NULL) {
        put(report, output, stream);
        return error_of_stream(stream, "the output", err);
    }
    struct io_outfile *file = NULL;
    enum io_outfile_form form = output == ORR_SIMAI_TIMELINE ? io_outfile_form_of(path) : IO_OUTFILE_PLAIN;
    enum orr_status status = io_outfile_open(path, form, &file, err);
    if (status != ORR_OK) {
        return status;
    }
    put(report, output, io_outfile_stream(file));
    return io_outfile_commit(file, err);
}
