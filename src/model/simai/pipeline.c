/* SPDX-License-Identifier: Apache-2.0 */
/* Stages are visited in turn, and each goes on until it has to wait for a message that is not there yet. What has been
 * done when is kept for both directions of every stage, batch and chunk: below 0 means not yet. */
#include "model/simai/pipeline.h"

#include <inttypes.h>

enum { TURNS_MAX = 1 << 26 };

struct walk {
    const struct simai_pipeline *pipeline;
    double *done[2]; /* backward, forward; by stage, batch and chunk */
    uint64_t per_stage;
    double *clock;  /* by stage */
    uint64_t *turn; /* by stage: the next */
};

static double *done_at(const struct walk *walk, uint32_t stage, uint32_t batch, uint32_t chunk, bool forward)
{
    return &walk->done[forward][stage * walk->per_stage + (uint64_t)batch * walk->pipeline->shape.chunks + chunk];
}

/* When what the turn waits for is there; below 0: not yet. */
static double ready_at(const struct walk *walk, uint32_t stage, struct pipeline_turn turn)
{
    const struct pipeline_shape *shape = &walk->pipeline->shape;
    if (!pipeline_receives(shape, stage, turn)) {
        return 0;
    }
    bool wraps = turn.forward ? stage == 0 : stage + 1 == shape->stages;
    uint32_t from = turn.forward ? (wraps ? shape->stages - 1 : stage - 1) : (wraps ? 0 : stage + 1);
    uint32_t chunk = !wraps ? turn.chunk : turn.forward ? turn.chunk - 1 : turn.chunk + 1;
    double sent = *done_at(walk, from, turn.batch, chunk, turn.forward);
    return sent < 0 ? sent : sent + walk->pipeline->message;
}

/* Whether the stage got any further. */
static bool advance(const struct walk *walk, uint32_t stage)
{
    const struct pipeline_shape *shape = &walk->pipeline->shape;
    uint64_t before = walk->turn[stage];
    while (walk->turn[stage] < pipeline_turns(shape)) {
        struct pipeline_turn now;
        if (pipeline_turn_of(shape, stage, walk->turn[stage], &now)) {
            double ready = ready_at(walk, stage, now);
            if (ready < 0) {
                break;
            }
            const double *work = now.forward ? walk->pipeline->forward : walk->pipeline->backward;
            double start = ready > walk->clock[stage] ? ready : walk->clock[stage];
            walk->clock[stage] = start + work[(uint64_t)now.batch * shape->chunks + now.chunk];
            *done_at(walk, stage, now.batch, now.chunk, now.forward) = walk->clock[stage];
        }
        walk->turn[stage]++;
    }
    return walk->turn[stage] > before;
}

bool simai_pipeline_fits(const struct pipeline_shape *shape)
{
    uint64_t cells = (uint64_t)shape->batches * shape->chunks;
    return cells <= TURNS_MAX && cells * shape->stages <= TURNS_MAX;
}

enum orr_status simai_pipeline_span(const struct simai_pipeline *pipeline, struct mem *mem, double *span_us,
                                    struct orr_error *err)
{
    const struct pipeline_shape *shape = &pipeline->shape;
    uint64_t cells = (uint64_t)shape->batches * shape->chunks;
    if (!simai_pipeline_fits(shape)) {
        return error_set(err, ORR_ERANGE,
                         "%" PRIu32 " stages of %" PRIu32 " micro-batches in %" PRIu32
                         " chunks are more than a pipeline is counted with (2^26 turns)",
                         shape->stages, shape->batches, shape->chunks);
    }
    size_t count = (size_t)(cells * shape->stages);
    size_t bytes = 2 * count * sizeof(double) + shape->stages * (sizeof(double) + sizeof(uint64_t));
    double *room = mem_zalloc(mem, bytes);
    if (room == NULL) {
        return mem_error(mem, "a pipeline's turns", err);
    }
    struct walk walk = {.pipeline = pipeline, .done = {room, room + count}, .per_stage = cells};
    walk.clock = room + 2 * count;
    walk.turn = (uint64_t *)(void *)(walk.clock + shape->stages);
    for (size_t i = 0; i < 2 * count; i++) {
        room[i] = -1;
    }
    bool moved = true;
    while (moved) {
        moved = false;
        for (uint32_t stage = 0; stage < shape->stages; stage++) {
            moved = advance(&walk, stage) || moved;
        }
    }
    *span_us = 0;
    for (uint32_t stage = 0; stage < shape->stages; stage++) {
        *span_us = walk.clock[stage] > *span_us ? walk.clock[stage] : *span_us;
    }
    mem_free(mem, room, bytes);
    return ORR_OK;
}
