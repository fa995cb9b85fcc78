/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Traces of data-parallel training steps: a forward pass, a backward pass that makes the gradients bucket by bucket,
 * an all-reduce of each bucket as soon as it is full, and the optimizer after the last of them. No communication
 * before the first backward node; the time of a pass is shared among the buckets by their bytes.
 *
 * Every rank gets the same bytes.
 */
#ifndef ORR_MODEL_DDP_STEP_H
#define ORR_MODEL_DDP_STEP_H

#include "model/ddp/gradients.h"

struct ddp_step {
    const struct ddp_list *buckets;                 /* bytes each, at least one */
    uint64_t forward_us, backward_us, optimizer_us; /* a pass of 0 us has no nodes */
    uint64_t steps;                                 /* one after the other, at least 1 */
};

/* Writes PREFIX.0.et … PREFIX.(ranks-1).et, making missing folders. */
ORR_MUST_CHECK enum orr_status ddp_step_write(const struct ddp_step *step, const char *prefix, uint32_t ranks,
                                              struct mem *mem, struct orr_error *err);

#endif
