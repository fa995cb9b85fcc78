/* SPDX-License-Identifier: Apache-2.0 */
/* SimAI's files, and the sums that several forms show. */
#include "report/simai_run.h"

#include <inttypes.h>

#include "io/outfile.h"

uint64_t report_simai_run_compute(const struct simai_result *rows)
{
    uint64_t sum = 0;
    for (uint32_t row = 0; row < rows->program->row_count; row++) {
        for (unsigned phase = 0; phase < SIMAI_PHASES; phase++) {
            sum += rows->rows[row][phase].compute_ns;
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

uint64_t report_simai_run_exposed(const struct simai_result *rows, enum nccl_group_type group)
{
    uint64_t sum = 0;
    for (uint32_t row = 0; row < rows->program->row_count; row++) {
        const struct simai_cell *cells = rows->program->rows[row].cells;
        const struct simai_phase_result *times = rows->rows[row];
        bool of_experts = is_in(&cells[SIMAI_WG], NCCL_GROUP_DP_EP);
        sum += group == model_group(cells) ? times[SIMAI_FWD].exposed_ns + times[SIMAI_IG].exposed_ns : 0;
        sum += group == (of_experts ? NCCL_GROUP_DP_EP : NCCL_GROUP_DP) ? times[SIMAI_WG].exposed_ns : 0;
    }
    return sum;
}

uint32_t report_simai_run_ranks(const struct simai_result *rows, uint32_t row, enum simai_phase phase)
{
    const struct simai_cell *cell = &rows->program->rows[row].cells[phase];
    uint32_t dp = rows->job.gpus / rows->program->stages / rows->job.tp;
    enum nccl_group_type plain = phase == SIMAI_WG ? NCCL_GROUP_DP : NCCL_GROUP_TP;
    switch (cell->type == SIMAI_NO_COMM ? plain : cell->group) {
    case NCCL_GROUP_TP:
        return rows->job.tp;
    case NCCL_GROUP_EP:
        return rows->job.ep;
    case NCCL_GROUP_CP:
        return rows->job.cp > 1 ? rows->job.cp : 1;
    case NCCL_GROUP_DP_EP:
        return dp / rows->job.ep;
    default:
        return dp;
    }
}

/* ---- files ---- */

static enum orr_status report_simai_run_write_file(const struct sim_result *result, const char *folder,
                                                   const char *name,
                                                   void (*put)(const struct sim_result *result, FILE *stream),
                                                   struct orr_error *err)
{
    char path[4096];
    struct io_outfile *file = NULL;
    if (snprintf(path, sizeof path, "%s/ncclFlowModel_%s", folder, name) >= (int)sizeof path) {
        return error_set(err, ORR_EINVAL, "%.80s...: the path is too long", folder);
    }
    enum orr_status status = io_outfile_open(path, IO_OUTFILE_PLAIN, &file, err);
    if (status != ORR_OK) {
        return status;
    }
    if (put != NULL) {
        put(result, io_outfile_stream(file));
    }
    return io_outfile_commit(file, err);
}

enum orr_status report_simai_run_files(const struct sim_result *result, const char *folder, struct orr_error *err)
{
    char detailed[64];
    (void)snprintf(detailed, sizeof detailed, "detailed_%" PRIu32 ".csv", result->simai->nodes);
    enum orr_status status = io_make_folder(folder, err);
    if (status == ORR_OK) {
        status = report_simai_run_write_file(result, folder, "EndToEnd.csv", report_simai_run_csv, err);
    }
    if (status == ORR_OK) {
        status = report_simai_run_write_file(result, folder, "test1_dimension_utilization_0.csv",
                                             report_simai_run_utilization, err);
    }
    return status == ORR_OK && result->simai->compat ? report_simai_run_write_file(result, folder, detailed, NULL, err)
                                                     : status;
}
