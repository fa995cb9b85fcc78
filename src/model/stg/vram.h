/* SPDX-License-Identifier: Apache-2.0 */
/* What a rank of one stage keeps in memory. Under compat the original's own count, with what it counts twice or leaves
 * out; otherwise weights, Adam's two moments, gradients, and the activations that the backward pass looks at, of as
 * many micro-batches as a 1F1B schedule has in flight there. */
#ifndef ORR_MODEL_STG_VRAM_H
#define ORR_MODEL_STG_VRAM_H

#include "model/stg/facts.h"
#include "model/stg/stage.h"
#include "orrery/gen.h"

void stg_vram_stage(const struct stg_config *config, const struct stg_model *model, const struct stg_facts *facts,
                    const struct stg_stages *stages, uint32_t stage, struct orr_stg_memory *memory);

#endif
