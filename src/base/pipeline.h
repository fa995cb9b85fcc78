/*
 * The order in which a pipeline stage works on its micro-batches: as many forward as stages follow it, then one forward
 * and one backward in turn, then what is left backward (1F1B). Arithmetic only; whoever unrolls a pipeline asks here.
 */
#ifndef ORR_BASE_PIPELINE_H
#define ORR_BASE_PIPELINE_H

#include <stdbool.h>
#include <stdint.h>

struct pipeline_turn {
    uint32_t batch;
    bool forward;
};

/* What the stage (of `stages`, from 0) does in its `turn`, of 2 x `batches` in all. */
static inline struct pipeline_turn pipeline_turn_at(uint32_t stage, uint32_t stages, uint32_t batches, uint64_t turn)
{
    uint32_t ahead = stages - 1 - stage;
    uint32_t warm = ahead < batches ? ahead : batches;
    uint64_t steady = warm + 2 * (uint64_t)(batches - warm);
    if (turn < warm) {
        return (struct pipeline_turn){(uint32_t)turn, true};
    }
    if (turn >= steady) {
        return (struct pipeline_turn){(uint32_t)(turn - batches), false};
    }
    uint32_t pair = (uint32_t)((turn - warm) / 2);
    bool forward = (turn - warm) % 2 == 0;
    return (struct pipeline_turn){forward ? warm + pair : pair, forward};
}

#endif
