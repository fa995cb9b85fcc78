/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How a job is divided: degrees of parallelism, batches, what they must divide. Knows shapes; no machine, no time.
 */
#ifndef ORR_TRAIN_PLAN_H
#define ORR_TRAIN_PLAN_H

#include "base/error.h"
#include "orrery/train.h"

/* Of one data-parallel rank in a step. */
uint32_t plan_micro_batches(const struct orr_train_plan *plan);

/* What a virtual chunk has (0 to pp * vpp - 1, in the order a micro-batch passes them). */
struct plan_chunk {
    uint32_t first, layers;
    bool embedding, head, loss;
};
/* As many layers each; those that do not divide evenly go to the chunks in the middle, since the ends have embedding
 * and head. `by_cost`: each chunk is filled until what it and those before it cost exceeds its share, a layer and the
 * head costing as many operations as they have weights (nanotron's rule: the last chunk may be left with the loss). */
struct plan_chunk plan_chunk_of(const struct orr_train_model *model, const struct orr_train_plan *plan, bool by_cost,
                                uint32_t chunk);
/* Ranks that share one shard of the optimizer's states (ZeRO 1 to 3); 1: all have all. */
uint32_t plan_optimizer_shards(const struct orr_train_plan *plan);
/* Of hybrid sharding that does not say its groups: as many of the ranks that share weights as lie in one server. */
void plan_settle_group(struct orr_train_plan *plan, uint32_t node_gpus);

#endif
