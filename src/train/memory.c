/* SPDX-License-Identifier: Apache-2.0 */
/* Weights, gradients and states by how they are sharded; activations by how many micro-batches are in flight. */
#include "train/memory.h"

enum {
    MEMORY_CONTEXT_BYTES = 1 << 30
}; /* the runtime's own, libraries' work space, communication buffers of a group */

/* Micro-batches whose activations a stage holds at once, in chunks of a stage. */
static double memory_in_flight(const struct work_job *job, uint32_t stage)
{
    const struct orr_train_plan *plan = job->plan;
    double all = plan_micro_batches(plan), behind = plan->pp - stage;
    if (plan->pp == 1) {
        return 1;
    }
    if (plan->schedule == ORR_TRAIN_SCHEDULE_GPIPE) {
        return all;
    }
    if (plan->schedule == ORR_TRAIN_SCHEDULE_DUALPIPE) {
        behind = plan->pp + 1.0;
    }
    if (plan->vpp > 1) { /* chunks that are warm, of vpp each */
        double warm = 2.0 * (plan->pp - stage - 1) + (plan->vpp - 1.0) * plan->pp + 1;
        behind = warm / plan->vpp;
    }
    return behind < all ? behind : all;
}

static double memory_kept(const struct work_piece *piece)
{
    return piece == NULL ? 0 : (piece->again ? piece->input_bytes : piece->kept_bytes);
}

static double memory_weights(const struct work_piece *piece)
{
    return piece == NULL ? 0 : piece->parameters;
}

void memory_of_stage(const struct work_job *job, const struct memory_stage *stage, double device_bytes,
                     struct orr_train_memory *memory)
{
    const struct orr_train_plan *plan = job->plan;
    const struct framework *framework = job->framework;
    double shards = plan_optimizer_shards(plan),
           experts = stage->sparse_count * (stage->sparse ? stage->sparse->experts : 0);
    double weights = memory_weights(stage->embedding) + memory_weights(stage->head) +
                     stage->dense_count * memory_weights(stage->dense) +
                     stage->sparse_count * memory_weights(stage->sparse);
    double expert_shards = shards > 1 ? shards * plan->tp / ((double)plan->etp * plan->ep) : 1;
    expert_shards = expert_shards < 1 ? 1 : expert_shards;
    bool whole = plan->zero == 3 || plan->sharding == ORR_TRAIN_SHARDING_FULL;
    double held = whole ? weights / shards + experts / expert_shards : weights + experts;
    double summed = plan->zero >= 2 || whole ? weights / shards + experts / expert_shards : weights + experts;
    double largest =
        stage->sparse != NULL ? stage->sparse->parameters + stage->sparse->experts : memory_weights(stage->dense);
    double layers = stage->dense_count * memory_kept(stage->dense) + stage->sparse_count * memory_kept(stage->sparse);
    double ends = memory_kept(stage->embedding) + memory_kept(stage->head) + memory_kept(stage->loss);
    const struct work_piece *layer = stage->sparse != NULL ? stage->sparse : stage->dense;
    double working = layer != NULL && layer->again ? layer->kept_bytes : 0;
    working += stage->loss != NULL ? stage->loss->working_bytes : 0;
    memory->weights = (uint64_t)(held * 2);
    memory->gradients = (uint64_t)(summed * framework->gradient_bytes);
    memory->optimizer = (uint64_t)((weights / shards + experts / expert_shards) * framework->state_bytes);
    memory->activations = (uint64_t)(layers * memory_in_flight(job, stage->index) + ends + working);
    memory->buffers = (uint64_t)(MEMORY_CONTEXT_BYTES + (whole ? 2 * 2 * largest : 0));
    memory->fragmentation = (uint64_t)(0.03 * (double)memory->activations);
    memory->total = memory->weights + memory->gradients + memory->optimizer + memory->activations + memory->buffers +
                    memory->fragmentation;
    memory->device = (uint64_t)device_bytes;
    memory->fits = memory->total <= memory->device;
}
