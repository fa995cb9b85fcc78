/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The schedule is timed twice, with and without messages: what it takes more than the work of one stage is the bubble,
 * and what messages add is theirs. Micro-batches are those the rows hold (simai_batches.h); where the rows hold another
 * number than the header's ga: says, they are taken for ga equal ones, as SimAI's own formula does.
 */
#include "model/simai/stages.h"

#include <inttypes.h>

#include "convert/text/simai_batches.h"
#include "model/simai/pipeline.h"

static const double GIB = 1024.0 * 1024.0 * 1024.0;

struct stages {
    const struct simai_machine *machine;
    const struct simai_text *text;
    struct simai_analysis *analysis;
    struct arena arena;
    const uint32_t *start; /* of the micro-batches; NULL: equal parts of all rows */
    struct simai_pipeline pipeline;
    double work; /* of one stage on all micro-batches, us */
};

static double forward_us(const struct simai_row *row)
{
    return (double)(row->costs[TEXT_FWD].compute + row->costs[TEXT_FWD].exposed) / 1000;
}

/* The weight gradient's collective runs beside what follows. */
static double backward_us(const struct simai_row *row)
{
    const struct simai_cost *input = &row->costs[TEXT_IG];
    return (double)(input->compute + input->exposed + row->costs[TEXT_WG].compute) / 1000;
}

static enum orr_status find_batches(struct stages *stages, struct orr_error *err)
{
    struct pipeline_shape *shape = &stages->pipeline.shape;
    struct simai_analysis *analysis = stages->analysis;
    const uint32_t *start = NULL;
    uint32_t count = 0;
    struct notes unsaid; /* that ga: differs is no matter here */
    notes_init(&unsaid, analysis->mem, false);
    enum orr_status status = simai_batches_find(stages->text, &stages->arena, &unsaid, &start, &count, err);
    notes_free(&unsaid);
    if (status != ORR_OK) {
        return status;
    }
    *shape = (struct pipeline_shape){.stages = (uint32_t)analysis->pp, .batches = (uint32_t)analysis->ga, .chunks = 1};
    if (stages->machine->interleaved) {
        shape->chunks = (uint32_t)analysis->vpp;
    }
    if (count != shape->batches) {
        return ORR_OK;
    }
    stages->start = start;
    for (uint32_t batch = 0; batch < count; batch++) {
        uint32_t rows = start[batch + 1] - start[batch];
        shape->chunks = rows < shape->chunks ? rows : shape->chunks;
    }
    shape->chunks = shape->chunks == 0 ? 1 : shape->chunks;
    return ORR_OK;
}

static void add_rows(struct stages *stages, uint32_t first, uint32_t end, double *forward, double *backward)
{
    for (uint32_t row = first; row < end; row++) {
        *forward += forward_us(&stages->analysis->rows[row]);
        *backward += backward_us(&stages->analysis->rows[row]);
    }
}

static enum orr_status fill_work(struct stages *stages, struct orr_error *err)
{
    const struct pipeline_shape *shape = &stages->pipeline.shape;
    uint64_t cells = (uint64_t)shape->batches * shape->chunks;
    if (!simai_pipeline_fits(shape)) { /* it says so itself */
        return simai_pipeline_span(&stages->pipeline, stages->analysis->mem, &stages->work, err);
    }
    double *work = arena_zalloc(&stages->arena, 2 * (size_t)cells * sizeof *work);
    if (work == NULL) {
        return mem_error(stages->analysis->mem, "a pipeline's micro-batches", err);
    }
    double all[2] = {0, 0};
    add_rows(stages, 0, stages->start == NULL ? stages->analysis->row_count : 0, &all[0], &all[1]);
    for (uint32_t batch = 0; batch < shape->batches; batch++) {
        for (uint32_t chunk = 0; chunk < shape->chunks; chunk++) {
            double *forward = &work[(uint64_t)batch * shape->chunks + chunk];
            double *backward = forward + cells;
            *forward = all[0] / (double)cells;
            *backward = all[1] / (double)cells;
            if (stages->start != NULL) {
                const uint32_t *start = &stages->start[batch];
                add_rows(stages, pipeline_chunk_start(start[0], start[1], chunk, shape->chunks),
                         pipeline_chunk_start(start[0], start[1], chunk + 1, shape->chunks), forward, backward);
            }
            stages->work += *forward + *backward;
        }
    }
    stages->pipeline.forward = work;
    stages->pipeline.backward = work + cells;
    return ORR_OK;
}

/* GB/s of a rank to its place in the next stage: on one server NVLink's, else its share of the NICs; 0: not known. */
static double message_rate(const struct simai_machine *machine)
{
    if (machine->busbw != NULL && machine->busbw->pp > 0) {
        return machine->busbw->pp;
    }
    if (machine->gpus <= machine->gpus_per_server && machine->nvlink > 0) {
        return (double)machine->nvlink;
    }
    bool shared = machine->nics_per_server > 0 && machine->nics_per_server < machine->gpus_per_server;
    return (double)machine->nic * (shared ? (double)machine->nics_per_server / machine->gpus_per_server : 1);
}

static enum orr_status time_message(struct stages *stages, struct notes *notes, struct orr_error *err)
{
    const struct simai_machine *machine = stages->machine;
    int64_t bytes = stages->text->values[SIMAI_PP_COMM];
    double rate = message_rate(machine);
    double hidden = machine->pp_overlap < 0 ? 0 : (double)machine->pp_overlap;
    stages->analysis->messages_hide = hidden >= 1;
    if (bytes == 0 || hidden >= 1) {
        return ORR_OK;
    }
    if (!(rate > 0) && machine->pp_overlap < 0) {
        stages->analysis->messages_hide = true;
        return notes_add(
            notes, err,
            "%s:1: what pipeline stages send is not counted: nothing says how fast; give parameter 'nic' GB/s, or "
            "busbw in section PP of the file of parameter 'busbw'",
            stages->text->workload.path);
    }
    if (!(rate > 0)) {
        return error_set(err, ORR_EINVAL,
                         "%s:1: stages send each other %" PRId64
                         " bytes, but nothing says how fast; give parameter 'nic' GB/s, or "
                         "parameter 'busbw' FILE with busbw in section PP",
                         stages->text->workload.path, bytes);
    }
    stages->pipeline.message = (double)bytes / GIB / rate * 1e6 * (1 - hidden);
    return ORR_OK;
}

static enum orr_status time_stages(struct stages *stages, struct orr_error *err)
{
    struct mem *mem = stages->analysis->mem;
    struct simai_pipeline silent = stages->pipeline;
    double span = 0;
    double sending = 0;
    silent.message = 0;
    enum orr_status status = simai_pipeline_span(&silent, mem, &span, err);
    if (status == ORR_OK) {
        status = simai_pipeline_span(&stages->pipeline, mem, &sending, err);
    }
    if (status == ORR_OK) {
        stages->analysis->chunks = stages->pipeline.shape.chunks;
        stages->analysis->sums.bubble = span > stages->work ? span - stages->work : 0;
        stages->analysis->sums.pipeline = sending > span ? sending - span : 0;
    }
    return status;
}

enum orr_status simai_stages_count(const struct simai_machine *machine, const struct simai_text *text,
                                   struct simai_analysis *analysis, struct notes *notes, struct orr_error *err)
{
    struct stages stages = {.machine = machine, .text = text, .analysis = analysis};
    if (analysis->pp == 1) {
        return ORR_OK;
    }
    arena_init(&stages.arena, analysis->mem);
    enum orr_status status = find_batches(&stages, err);
    status = status == ORR_OK ? fill_work(&stages, err) : status;
    status = status == ORR_OK ? time_message(&stages, notes, err) : status;
    status = status == ORR_OK ? time_stages(&stages, err) : status;
    arena_free(&stages.arena);
    return status;
}
