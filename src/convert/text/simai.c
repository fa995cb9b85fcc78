/* SPDX-License-Identifier: Apache-2.0 */
/* What the rows mean for a trace: which ranks form which group, and the checks a conversion needs. A key that says
 * nothing about the graph (vpp, mode: AICB has unrolled them into the rows) is checked and otherwise not needed. */
#include "convert/text/simai.h"

#include <inttypes.h>
#include <string.h>

#include "convert/text/simai_batches.h"

/* ---- rows ---- */

static enum orr_status read_simai(const struct convert_request *request, struct simai_text *simai,
                                  struct orr_error *err)
{
    enum orr_status status = simai_text_read(request->input, request->mem, false, simai, err);
    if (status != ORR_OK) {
        return status;
    }
    status = simai_checkpoints_mark(simai, err);
    if (status == ORR_OK && simai->workload.strategy == TEXT_HYBRID_CUSTOMIZED) {
        status = error_set(err, ORR_EINVAL,
                           "%s:1: HYBRID_CUSTOMIZED with SimAI's header keys; the two do not go "
                           "together",
                           request->input);
    }
    simai->workload.last_bottom_layer = simai->values[SIMAI_DLRM];
    if (status == ORR_OK && simai->workload.last_bottom_layer >= (int64_t)simai->workload.layer_count &&
        simai->workload.layer_count > 0) {
        status = error_set(err, ORR_ERANGE, "%s:1: %s %" PRId64 " of %" PRIu32 " rows, counted from 0", request->input,
                           simai_key_names[SIMAI_DLRM], simai->workload.last_bottom_layer, simai->workload.layer_count);
    }
    if (status != ORR_OK) {
        text_free(&simai->workload);
    }
    return status;
}

/* ---- ranks ---- */

static uint64_t degree(const struct simai_text *simai, enum simai_key key)
{
    return simai->values[key] > 0 ? (uint64_t)simai->values[key] : 1;
}

static enum orr_status text_simai_count_ranks(const struct convert_request *request, const struct simai_text *simai,
                                              uint32_t *ranks, struct orr_error *err)
{
    int64_t written = simai->values[SIMAI_GPUS];
    if (request->ranks == 0 && (written < 1 || written > UINT32_MAX)) {
        return error_set(err, written == 0 ? ORR_EINVAL : ORR_ERANGE,
                         "%s:1: all_gpus: is %" PRId64 "; give the number of ranks there or as parameter 'ranks' N",
                         request->input, written);
    }
    *ranks = request->ranks != 0 ? request->ranks : (uint32_t)written;
    if (request->ranks != 0 && written != 0 && written != (int64_t)request->ranks) {
        return notes_add(request->notes, err, "%s:1: all_gpus: is %" PRId64 ", but %" PRIu32 " ranks were asked for",
                         request->input, written, request->ranks);
    }
    return ORR_OK;
}

static enum orr_status text_simai_lay_out(const struct convert_request *request, const struct simai_text *simai,
                                          uint32_t ranks, struct work *work, struct orr_error *err)
{
    uint64_t tp = degree(simai, SIMAI_TP);
    uint64_t pp = degree(simai, SIMAI_PP);
    uint64_t ep = degree(simai, SIMAI_EP);
    if (tp > ranks || pp > ranks || ranks % (tp * pp) != 0) {
        return error_set(err, ORR_EINVAL, "%s:1: %" PRIu32 " ranks do not divide into TP %" PRIu64 " times PP %" PRIu64,
                         request->input, ranks, tp, pp);
    }
    uint64_t dp = ranks / (tp * pp);
    uint64_t around = dp % ep == 0 ? dp : ranks / tp; /* as SimAI itself: expert groups may reach over stages */
    if (ep > ranks || around % ep != 0) {
        return error_set(err, ORR_EINVAL,
                         "%s:1: expert parallelism of %" PRIu64 " does not divide data parallelism of %" PRIu64
                         " (%" PRIu32 " ranks / TP %" PRIu64 " / PP %" PRIu64 ")",
                         request->input, ep, dp, ranks, tp, pp);
    }
    uint64_t cp = degree(simai, SIMAI_CP);
    if (cp > dp || dp % cp != 0) {
        return error_set(err, ORR_EINVAL,
                         "%s:1: context parallelism of %" PRIu64 " does not divide the %" PRIu64
                         " ranks that TP and PP leave (%" PRIu32 " ranks / TP %" PRIu64 " / PP %" PRIu64 ")",
                         request->input, cp, dp, ranks, tp, pp);
    }
    work->layouts[WORK_CP] = (struct work_layout){.stride = (uint32_t)tp, .count = (uint32_t)cp};
    work->layouts[WORK_TP] = (struct work_layout){.stride = 1, .count = (uint32_t)tp};
    work->layouts[WORK_DP] = (struct work_layout){.stride = (uint32_t)tp, .count = (uint32_t)dp};
    work->layouts[WORK_EP] = (struct work_layout){.stride = (uint32_t)tp, .count = (uint32_t)ep};
    work->layouts[WORK_DP_EP] = (struct work_layout){.stride = (uint32_t)(tp * ep), .count = (uint32_t)(around / ep)};
    if (around != dp) {
        return notes_add(request->notes, err,
                         "%s:1: expert parallelism of %" PRIu64 " does not fit a stage's %" PRIu64
                         " data-parallel ranks; its groups reach over the pipeline stages",
                         request->input, ep, dp);
    }
    return ORR_OK;
}

/* ---- stages ---- */

/* What one conversion holds: the text, and the stage that is being built. */
struct simai_job {
    const struct convert_request *request;
    struct simai_text simai;
    struct arena arena;
    struct text_pipeline pipeline;
    uint32_t ranks;
};

static enum orr_status find_stages(struct simai_job *job, struct orr_error *err)
{
    const struct convert_request *request = job->request;
    struct text_pipeline *pipeline = &job->pipeline;
    uint64_t stages = degree(&job->simai, SIMAI_PP);
    enum text_strategy strategy = job->simai.workload.strategy;
    bool piped = strategy == TEXT_HYBRID_TRANSFORMER || strategy == TEXT_HYBRID_TRANSFORMER_FWD_IN_BCKWD;
    pipeline->stages = 1;
    if (stages == 1 || !piped) {
        return ORR_OK;
    }
    enum orr_status status = simai_batches_find(&job->simai, &job->arena, request->notes, &pipeline->batch_start,
                                                &pipeline->batch_count, err);
    pipeline->stages = (uint32_t)stages; /* no more than there are ranks */
    pipeline->stride = job->ranks / pipeline->stages;
    pipeline->bytes = job->simai.values[SIMAI_PP_COMM];
    job->simai.workload.pipeline = pipeline;
    if (status == ORR_OK && pipeline->bytes == 0) {
        pipeline->bytes = 1;
        status =
            notes_add(request->notes, err, "%s:1: pp: is %" PRIu64 " without pp_comm: stages send each other one byte",
                      request->input, stages);
    }
    return status;
}

static enum orr_status open_job(struct simai_job *job, struct work *work, struct orr_error *err)
{
    enum orr_status status = read_simai(job->request, &job->simai, err);
    if (status != ORR_OK) {
        return status;
    }
    status = text_simai_count_ranks(job->request, &job->simai, &job->ranks, err);
    status = status == ORR_OK ? text_simai_lay_out(job->request, &job->simai, job->ranks, work, err) : status;
    status = status == ORR_OK ? find_stages(job, err) : status;
    if (status != ORR_OK) {
        text_free(&job->simai.workload);
    }
    return status;
}

static enum orr_status build_stage(struct simai_job *job, uint32_t stage, struct work *work, struct orr_error *err)
{
    job->pipeline.stage = stage;
    return text_graph(&job->simai.workload, job->ranks, job->request->passes, work, job->request->notes, err);
}

/* Stage by stage, so that one is held at a time. What a text has wrong shows in the first, before any file is written.
 */
static enum orr_status write_stages(struct simai_job *job, struct work *work, struct convert_summary *summary,
                                    struct orr_error *err)
{
    struct convert_summary sum = {0};
    uint32_t stages = job->pipeline.stages;
    uint32_t block = job->ranks / stages;
    enum orr_status status = ORR_OK;
    for (uint32_t stage = 0; stage < stages && status == ORR_OK; stage++) {
        if (stage > 0) {
            struct work next;
            work_init(&next, job->request->mem);
            memcpy(next.layouts, work->layouts, sizeof next.layouts);
            work_free(work);
            *work = next;
        }
        status = build_stage(job, stage, work, err);
        if (status == ORR_OK) {
            status =
                work_write_ranks(work, job->request->output, stage * block, (stage + 1) * block, job->ranks, &sum, err);
        }
    }
    status = status == ORR_OK ? work_write_groups(work, job->request->output, job->ranks, err) : status;
    if (status == ORR_OK) {
        *summary = sum;
    }
    return status;
}

enum orr_status simai_graph(const struct convert_request *request, struct work *work, uint32_t *ranks,
                            struct orr_error *err)
{
    struct simai_job job = {.request = request};
    arena_init(&job.arena, request->mem);
    enum orr_status status = open_job(&job, work, err);
    if (status == ORR_OK) {
        status = build_stage(&job, 0, work, err);
        text_free(&job.simai.workload);
    }
    *ranks = job.ranks;
    arena_free(&job.arena);
    return status;
}

/*
 * Ranks are numbered as AICB does: tensor parallelism fastest, then context, expert, data and pipeline parallelism.
 * Writes one file for each of all_gpus ranks (request->ranks, where given, wins) and PREFIX.groups.json.
 */
static enum orr_status simai_convert(const struct convert_request *request, struct convert_summary *summary,
                                     struct orr_error *err)
{
    struct simai_job job = {.request = request};
    struct work work;
    work_init(&work, request->mem);
    arena_init(&job.arena, request->mem);
    enum orr_status status = open_job(&job, &work, err);
    if (status == ORR_OK) {
        status = write_stages(&job, &work, summary, err);
        text_free(&job.simai.workload);
    }
    arena_free(&job.arena);
    work_free(&work);
    return status;
}

const struct converter simai_converter = {.write = simai_convert, .knows_ranks = true, .knows_passes = true};
