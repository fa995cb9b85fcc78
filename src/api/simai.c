/* SPDX-License-Identifier: Apache-2.0 */
/* The public function of SimAI's analytical mode: reads the files, counts (model/simai/), hands the numbers to report/.
 */
#include <stdio.h>
#include <string.h>

#include "base/notices.h"
#include "compat/simai/analytical.h"
#include "io/file.h"
#include "io/outfile.h"
#include "model/simai/fill.h"
#include "model/simai/table.h"
#include "param/param.h"
#include "report/simai.h"
#include "report/simai_table.h"
#include "train/row_times.h"

static const char default_ratios[] = "astra-sim-alibabacloud/inputs/ratio"; /* where SimAI itself looks */

struct job {
    const struct orr_simai_analytical *options;
    struct mem mem;
    struct notes notes;
    struct simai_text text;
    struct simai_ratios ratios;
    struct simai_busbw busbw;
    struct simai_machine machine;
    struct simai_analysis analysis;
};

/* ---- what the options say of the machine ---- */

static enum orr_status need(bool given, const char *what, struct orr_error *err)
{
    return given ? ORR_OK : error_set(err, ORR_EINVAL, "missing %s", what);
}

/* A file of bandwidths may say all that the machine would; which row lacks one shows later. */
static enum orr_status check_given(const struct orr_simai_analytical *options, struct orr_error *err)
{
    enum orr_status status = need(options->workload != NULL, "parameter 'workload' FILE (the workload)", err);
    status = status == ORR_OK ? need(options->gpus > 0, "parameter 'gpus' N (the number of GPUs)", err) : status;
    if (status != ORR_OK || options->compat || options->busbw != NULL) {
        return status;
    }
    status = need(options->gpus_per_server > 0, "parameter 'gpus-per-server' N", err);
    status = status == ORR_OK ? need(options->nics_per_server > 0, "parameter 'nics-per-server' N", err) : status;
    return status == ORR_OK
               ? need(options->nvlink > 0 || options->gpu_type != NULL,
                      "parameter 'nvlink' GB/s (NVLink bandwidth) or parameter 'gpu-type' H100 (B200, MI300X …)", err)
               : status;
}

static enum orr_status unknown_gpu(const char *type, struct orr_error *err)
{
    char names[128];
    simai_gpu_names(names, sizeof names);
    return error_set(err, ORR_EINVAL, "parameter 'gpu-type': \"%s\" is not one of %s", type, names);
}

/* A name that is not known is an error beside -nv and -nic too, which win over it. */
static enum orr_status find_bandwidths(struct job *job, struct orr_error *err)
{
    const struct orr_simai_analytical *options = job->options;
    const char *nic_type = options->nic_type != NULL ? options->nic_type : "cx7";
    bool automatic = options->busbw == NULL || options->nvlink > 0 || options->gpu_type != NULL;
    job->machine.nvlink = (float)options->nvlink;
    job->machine.nic = (float)options->nic;
    if (job->machine.nvlink <= 0 && options->gpu_type != NULL) {
        job->machine.nvlink = simai_gpu_nvlink(options->gpu_type);
        if (job->machine.nvlink <= 0) {
            return unknown_gpu(options->gpu_type, err);
        }
    }
    if (options->gpu_type != NULL && !options->compat && simai_gpu_nvlink(options->gpu_type) <= 0) {
        return unknown_gpu(options->gpu_type, err);
    }
    if (simai_nic_bandwidth(nic_type) <= 0 && (job->machine.nic <= 0 || !options->compat)) {
        return error_set(err, ORR_EINVAL, "parameter 'nic-type': \"%s\" is not one of cx6, cx7, bf3", nic_type);
    }
    if (job->machine.nic <= 0 && (automatic || options->nic_type != NULL)) {
        job->machine.nic = simai_nic_bandwidth(nic_type);
    }
    return ORR_OK;
}

static enum orr_status read_ratios(struct job *job, struct orr_error *err)
{
    const char *folder = job->options->ratio_folder;
    if (folder == NULL && file_exists(default_ratios)) {
        folder = default_ratios;
    }
    if (folder != NULL) {
        return simai_ratios_read(folder, &job->mem, &job->ratios, err);
    }
    if (job->options->busbw != NULL) {
        return ORR_OK; /* measured bandwidths need no ratio */
    }
    return notes_add(&job->notes, err,
                     "no tables of achieved bandwidth (%s, %s, %s): every collective runs at the full bandwidth; name "
                     "their folder with parameter 'ratio-dir'",
                     simai_ratio_names[0], simai_ratio_names[1], simai_ratio_names[2]);
}

static enum orr_status describe_machine(struct job *job, struct orr_error *err)
{
    const struct orr_simai_analytical *options = job->options;
    job->machine = (struct simai_machine){
        .gpus = (int32_t)options->gpus,
        .gpus_per_server = (int32_t)options->gpus_per_server,
        .nics_per_server = (int32_t)options->nics_per_server,
        .overlap = {[SIMAI_GROUP_TP] = (float)options->tp_overlap,
                    [SIMAI_GROUP_DP] = (float)options->dp_overlap,
                    [SIMAI_GROUP_EP] = (float)options->ep_overlap,
                    [SIMAI_GROUP_DP_EP] = (float)options->dp_overlap},
        .pp_overlap = (float)options->pp_overlap,
        .interleaved = options->schedule == ORR_SIMAI_INTERLEAVED,
        .ratios = &job->ratios,
        .busbw = options->busbw != NULL ? &job->busbw : NULL,
        /* SimAI documents -busbw and refuses it: no bytes to keep */
        .original = options->compat && options->busbw == NULL ? &simai_original : NULL,
    };
    enum orr_status status = find_bandwidths(job, err);
    if (status == ORR_OK && options->busbw != NULL) {
        status = simai_busbw_read(options->busbw, &job->mem, &job->busbw, err);
    }
    return status == ORR_OK ? read_ratios(job, err) : status;
}

/* ---- from what was counted to what is reported ---- */

static struct report_simai_row report_row(const struct simai_row *row)
{
    struct report_simai_row made = {.name = row->name.text, .name_length = row->name.length};
    for (unsigned phase = 0; phase < TEXT_PHASES; phase++) {
        const struct simai_cost *cost = &row->costs[phase];
        bool sends = cost->collective.op != SIMAI_OP_NONE;
        made.cells[phase] = (struct report_simai_cell){
            .compute = (double)cost->compute / 1000,
            .comm = (double)cost->comm / 1000,
            .exposed = (double)cost->exposed / 1000,
            .algorithm_rate = (double)cost->algorithm_rate,
            .bus_rate = (double)cost->bus_rate,
            .op = sends ? simai_op_names[cost->collective.op] : NULL,
            .group = cost->collective.group < SIMAI_GROUPS ? simai_group_names[cost->collective.group] : "?",
        };
    }
    return made;
}

static void fill_report(const struct job *job, struct report_simai_row *rows, struct report_simai *report)
{
    const struct simai_analysis *analysis = &job->analysis;
    const struct simai_sums *sums = &analysis->sums;
    *report = (struct report_simai){
        .label = job->options->label != NULL ? job->options->label : job->options->workload,
        .workload = job->options->workload,
        .rows = rows,
        .row_count = analysis->row_count,
        .exposed_all = sums->exposed_all,
        .pipeline = sums->pipeline,
        .bubble = sums->bubble,
        .compute = sums->compute,
        .total = sums->total,
        .chunks = analysis->chunks,
        .messages_hide = analysis->messages_hide,
        .pp_bytes = (uint64_t)job->text.values[SIMAI_PP_COMM],
        .gpus = job->machine.gpus,
        .gpus_per_server = job->machine.gpus_per_server,
        .tp = analysis->tp,
        .ep = analysis->ep,
        .cp = analysis->cp,
        .pp = analysis->pp,
        .dp = analysis->dp,
        .vpp = analysis->vpp,
        .ga = analysis->ga,
        .given_up = analysis->given_up,
    };
    for (unsigned group = 0; group < SIMAI_GROUPS; group++) {
        report->exposed[group] = sums->exposed[group];
        report->overlap[group] = (double)job->machine.overlap[group];
    }
    for (uint32_t i = 0; i < analysis->row_count; i++) {
        rows[i] = report_row(&analysis->rows[i]);
    }
}

static enum orr_status write_results(struct job *job, FILE *stream, struct orr_error *err)
{
    const struct orr_simai_analytical *options = job->options;
    size_t bytes = job->analysis.row_count * sizeof(struct report_simai_row);
    struct report_simai_row *rows = mem_alloc(&job->mem, bytes);
    struct report_simai report;
    if (rows == NULL) {
        return mem_error(&job->mem, "the report's rows", err);
    }
    fill_report(job, rows, &report);
    enum orr_status status = ORR_OK;
    for (unsigned i = 0; i < sizeof options->csv / sizeof options->csv[0] && status == ORR_OK; i++) {
        status = options->csv[i] != NULL ? report_simai_csv(&report, options->csv[i], err) : ORR_OK;
    }
    if (status == ORR_OK && options->chart != NULL) {
        status = report_simai_chart(&report, options->japanese, options->chart, err);
    }
    if (status == ORR_OK && stream != NULL && !report.given_up) {
        report_simai_text(&report, stream);
    }
    mem_free(&job->mem, rows, bytes);
    return status;
}

static enum orr_status api_simai_run(struct job *job, FILE *stream, struct orr_error *err)
{
    enum orr_status status =
        simai_analysis_make(&job->machine, &job->text, &job->mem, &job->notes, &job->analysis, err);
    if (status != ORR_OK) {
        return status;
    }
    if (job->analysis.given_up) {
        status = notes_add(&job->notes, err,
                           "%s: a collective is larger than the tables of achieved bandwidth; SimAI gives up here and "
                           "leaves an empty file, and so do we (without parameter 'compat' simai it is counted)",
                           job->options->workload);
    }
    status = status == ORR_OK ? write_results(job, stream, err) : status;
    simai_analysis_free(&job->analysis);
    return status;
}

/* Of rows without compute times, where the operator model is asked for them. */
static enum orr_status fill_times(struct job *job, struct orr_error *err)
{
    const struct orr_simai_analytical *options = job->options;
    struct aicb_part_times times;
    if (options->compute.times != ORR_SIMAI_TIMES_MODEL) {
        return options->compat ? ORR_OK : simai_note_untimed(&job->text, &job->notes, err);
    }
    enum orr_status status = row_times_of_text(&job->text, &options->compute, options->gpus, &job->mem, &times, err);
    return status == ORR_OK ? simai_fill_times(&job->text, &times, &job->notes, err) : status;
}

/* ---- AICB's table ---- */

static enum orr_status fill_table(struct job *job, const char *path, struct simai_table_sums *sums,
                                  struct orr_error *err)
{
    struct io_outfile *file = NULL;
    if (path == NULL) {
        return simai_table_time(&job->machine, job->options->workload, &job->mem, NULL, sums, err);
    }
    enum orr_status status = io_make_folder_above(path, err);
    status = status == ORR_OK ? io_outfile_open(path, io_outfile_form_of(path), &file, err) : status;
    if (status != ORR_OK) {
        return status;
    }
    status = simai_table_time(&job->machine, job->options->workload, &job->mem, io_outfile_stream(file), sums, err);
    return io_outfile_end(file, status, err);
}

static enum orr_status run_table(struct job *job, FILE *stream, struct orr_error *err)
{
    const struct orr_simai_analytical *options = job->options;
    struct simai_table_sums sums;
    if (options->chart != NULL) {
        return error_set(err, ORR_EINVAL, "%s: a table of AICB's has no chart", options->workload);
    }
    if (options->compute.times == ORR_SIMAI_TIMES_MODEL) {
        return error_set(err, ORR_EINVAL,
                         "parameter 'compute-times': %s is a table of AICB's, in which rows have no "
                         "compute times",
                         options->workload);
    }
    job->machine.original = NULL; /* SimAI reads no such file */
    enum orr_status status = fill_table(job, options->csv[0], &sums, err);
    if (status == ORR_OK && options->csv[1] != NULL) {
        status = fill_table(job, options->csv[1], &sums, err);
    }
    if (status == ORR_OK && stream != NULL) {
        struct report_simai_table report = {.workload = options->workload,
                                            .rows = sums.rows,
                                            .collectives = sums.collectives,
                                            .products = sums.products,
                                            .iterations = sums.iterations,
                                            .gpus = job->machine.gpus,
                                            .tp = sums.tp,
                                            .dp = sums.dp,
                                            .ep = sums.ep,
                                            .init_us = sums.init_us};
        for (unsigned i = 0; i < SIMAI_TABLE_PARTS; i++) {
            report.part_us[i] = sums.part_us[i];
        }
        report_simai_table_text(&report, stream);
    }
    return status;
}

static enum orr_status run_workload(struct job *job, FILE *stream, struct orr_error *err)
{
    bool is_table = false;
    enum orr_status status = simai_table_detect(job->options->workload, &job->mem, &is_table, err);
    if (status != ORR_OK || is_table) {
        return status == ORR_OK ? run_table(job, stream, err) : status;
    }
    status = simai_text_read(job->options->workload, &job->mem, true, &job->text, err);
    if (status == ORR_OK) {
        status = fill_times(job, err);
        status = status == ORR_OK ? api_simai_run(job, stream, err) : status;
        text_free(&job->text.workload);
    }
    return status;
}

enum orr_status orr_simai_analytical(const struct orr_simai_analytical *options, const struct orr_notices *notices,
                                     FILE *stream, struct orr_error *err)
{
    struct job job = {.options = options, .mem = {.limit = options->memory_limit}};
    enum orr_status status = check_given(options, err);
    status = status == ORR_OK ? param_simai_analytical_check(options, err) : status;
    if (status != ORR_OK) {
        return status;
    }
    notices_begin(&job.notes, &job.mem, notices);
    job.ratios.mem = &job.mem;
    status = describe_machine(&job, err);
    status = status == ORR_OK ? run_workload(&job, stream, err) : status;
    simai_ratios_free(&job.ratios);
    notices_end(&job.notes, notices);
    return status;
}
