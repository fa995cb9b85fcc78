/* SPDX-License-Identifier: Apache-2.0 */
/* Sizes go through double and truncate at each step because ASTRA-sim's do: S/2, S/4, … and back up from the truncated
 * value, so that odd sizes shrink the same way. */
#include "coll/steps.h"

uint32_t coll_halving_sends(enum coll_type type, uint32_t ring_size)
{
    uint32_t levels = coll_log2_floor(ring_size);
    return type == COLL_ALL_REDUCE ? 2 * levels : levels;
}

void coll_halving_steps(enum coll_type type, uint32_t ring_size, uint64_t bytes, uint32_t sends,
                        struct coll_halving_step *steps)
{
    uint64_t offset = type == COLL_ALL_GATHER ? ring_size / 2 : 1;
    double factor = type == COLL_ALL_GATHER ? 0.5 : 2.0;
    uint64_t message = type == COLL_ALL_GATHER ? bytes : bytes / 2;
    for (uint32_t step = 0; step <= sends; step++) {
        steps[step] = (struct coll_halving_step){.offset = (uint32_t)offset, .bytes = message};
        offset = (uint64_t)((double)offset * factor);
        message = (uint64_t)((double)message / factor);
        if (offset == ring_size && type == COLL_ALL_REDUCE) {
            factor = 0.5;
            offset = (uint64_t)((double)offset * factor);
            message = (uint64_t)((double)message / factor);
        }
    }
}
