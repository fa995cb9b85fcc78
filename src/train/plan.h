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
/* Layers of virtual chunk `chunk` (0 to pp * vpp - 1, in the order a micro-batch passes them): those that do not divide
 * evenly go to the chunks in the middle, since the ends have embedding and head. */
uint32_t plan_layers_of(const struct orr_train_model *model, const struct orr_train_plan *plan, uint32_t chunk);
/* Ranks that share one shard of the optimizer's states (ZeRO 1 to 3); 1: all have all. */
uint32_t plan_optimizer_shards(const struct orr_train_plan *plan);

#endif
