/* SPDX-License-Identifier: Apache-2.0 */
/* What one GPU of a stage holds while it trains, by kind. Knows no time. */
#ifndef ORR_TRAIN_MEMORY_H
#define ORR_TRAIN_MEMORY_H

#include "train/work.h"

/* The pieces of one stage: how many of each. */
struct memory_stage {
    const struct work_piece *embedding, *dense, *sparse, *head, *loss; /* NULL: the stage has none */
    uint32_t dense_count, sparse_count;
    uint32_t index; /* of the stage */
    bool ahead;     /* its host launches faster than kernels run */
};

void memory_of_stage(const struct work_job *job, const struct memory_stage *stage, double device_bytes,
                     struct orr_train_memory *memory);

#endif
