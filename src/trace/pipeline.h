/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The order in which a pipeline stage works on its micro-batches. 1F1B: as many forward as stages follow it, then one
 * forward and one backward in turn, then what is left backward. Interleaved: the stage's layers are cut into chunks, so
 * that a micro-batch comes round to it once for each; micro-batches go in groups of as many as there are stages, a
 * group's chunk after chunk, and more of them are under way before the first turns back. Arithmetic only; whoever
 * unrolls a pipeline, or times one, asks here.
 */
#ifndef ORR_TRACE_PIPELINE_H
#define ORR_TRACE_PIPELINE_H

#include <stdbool.h>
#include <stdint.h>

/* One chunk is 1F1B. */
struct pipeline_shape {
    uint32_t stages, batches, chunks;
};

struct pipeline_turn {
    uint32_t batch, chunk;
    bool forward;
};

/* What the stage (of `stages`, from 0) does in its `turn`, of 2 x `batches` in all. */
static inline struct pipeline_turn pipeline_turn_at(uint32_t stage, uint32_t stages, uint32_t batches, uint64_t turn)
{
    uint32_t ahead = stages - 1 - stage;
    uint32_t warm = ahead < batches ? ahead : batches;
    uint64_t steady = warm + 2 * (uint64_t)(batches - warm);
    if (turn < warm) {
        return (struct pipeline_turn){.batch = (uint32_t)turn, .forward = true};
    }
    if (turn >= steady) {
        return (struct pipeline_turn){.batch = (uint32_t)(turn - batches)};
    }
    uint32_t pair = (uint32_t)((turn - warm) / 2);
    bool forward = (turn - warm) % 2 == 0;
    return (struct pipeline_turn){.batch = forward ? warm + pair : pair, .forward = forward};
}

/* With chunks the last group is filled up with micro-batches that are not there, so that one order serves all. */
static inline uint64_t pipeline_turns(const struct pipeline_shape *shape)
{
    uint64_t groups = ((uint64_t)shape->batches + shape->stages - 1) / shape->stages;
    return shape->chunks == 1 ? 2 * (uint64_t)shape->batches : 2 * groups * shape->stages * shape->chunks;
}

static inline struct pipeline_turn pipeline_place(const struct pipeline_shape *shape, uint64_t index, bool forward)
{
    uint64_t round = (uint64_t)shape->stages * shape->chunks;
    uint32_t chunk = (uint32_t)(index % round / shape->stages);
    return (struct pipeline_turn){.batch = (uint32_t)(index / round * shape->stages + index % shape->stages),
                                  .chunk = forward ? chunk : shape->chunks - 1 - chunk,
                                  .forward = forward};
}

/* What the stage does in its `turn`; false when it has nothing to do in it. */
static inline bool pipeline_turn_of(const struct pipeline_shape *shape, uint32_t stage, uint64_t turn,
                                    struct pipeline_turn *now)
{
    if (shape->chunks == 1) {
        *now = pipeline_turn_at(stage, shape->stages, shape->batches, turn);
        return true;
    }
    uint64_t half = pipeline_turns(shape) / 2;
    uint64_t warm = 2 * (uint64_t)(shape->stages - 1 - stage) + (uint64_t)(shape->chunks - 1) * shape->stages;
    warm = warm < half ? warm : half;
    uint64_t steady = warm + 2 * (half - warm);
    if (turn < warm) {
        *now = pipeline_place(shape, turn, true);
    } else if (turn >= steady) {
        *now = pipeline_place(shape, turn - half, false);
    } else {
        bool forward = (turn - warm) % 2 == 0;
        uint64_t pair = (turn - warm) / 2;
        *now = pipeline_place(shape, forward ? warm + pair : pair, forward);
    }
    return now->batch < shape->batches;
}

/* Whether a turn waits for a message of another stage, and sends one: all but where the model begins and ends. Stages
 * are a ring, since a chunk behind the last stage's goes on at the first. */
static inline bool pipeline_receives(const struct pipeline_shape *shape, uint32_t stage, struct pipeline_turn turn)
{
    return turn.forward ? stage > 0 || turn.chunk > 0 : stage + 1 < shape->stages || turn.chunk + 1 < shape->chunks;
}

static inline bool pipeline_sends(const struct pipeline_shape *shape, uint32_t stage, struct pipeline_turn turn)
{
    return turn.forward ? stage + 1 < shape->stages || turn.chunk + 1 < shape->chunks : stage > 0 || turn.chunk > 0;
}

/* The first row of a chunk of a micro-batch whose rows are `first` to `end` - 1; of `chunks` itself, `end`. Rows are
 * dealt out evenly; the first, the embedding, is one more for the first chunk. */
static inline uint32_t pipeline_chunk_start(uint32_t first, uint32_t end, uint32_t chunk, uint32_t chunks)
{
    uint32_t lead = end - first > chunks ? 1 : 0;
    return chunk == 0 ? first : first + lead + (uint32_t)((uint64_t)(end - first - lead) * chunk / chunks);
}

#endif
