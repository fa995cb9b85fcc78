/* SPDX-License-Identifier: Apache-2.0 */
/* Weights, gradients and states by how they are sharded; activations by how many micro-batches are in flight. */
#include "train/memory.h"

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
    return piece == NULL ? 0 : piece->again * piece->input_bytes + (1 - piece->again) * piece->kept_bytes;
}

/* Of a layer, of which selective recompute may keep a part. */
static double memory_kept_of(const struct work_job *job, const struct work_piece *piece)
{
    bool selective = job->plan->recompute == ORR_TRAIN_RECOMPUTE_SELECTIVE;
    double share = selective ? job->framework->selective_keeps : 1;
    return piece == NULL ? 0 : piece->input_bytes + share * (memory_kept(piece) - piece->input_bytes);
}

static double memory_weights(const struct work_piece *piece)
{
    return piece == NULL ? 0 : piece->parameters;
}

/* Gradients as kernels make them, before they are added to those kept in more bits: of the head and of a layer. */
static double memory_fresh(const struct work_job *job, const struct memory_stage *stage)
{
    const struct work_piece *layer = stage->sparse != NULL ? stage->sparse : stage->dense;
    if (job->framework->gradient_bytes <= 2) {
        return 0; /* these are the ones that are kept */
    }
    return 2 * ((stage->head != NULL ? stage->head->largest : 0) + (layer != NULL ? layer->largest : 0));
}

/* Hidden states of collectives that the host has launched and done with, while the device is not there yet: an
 * allocator may not use them again before that. It waits for the device rather than fail, and then they are free. */
static double memory_queued(const struct work_job *job, const struct memory_stage *stage, double needed, double usable)
{
    const struct orr_train_plan *plan = job->plan;
    double state = (double)plan->micro_batch * plan->seq / plan->cp * job->model->hidden * 2;
    double queued = stage->ahead && plan->tp > 1 ? job->framework->queued_states * state : 0;
    return needed + queued <= usable ? queued : 0;
}

static double memory_activations(const struct work_job *job, const struct memory_stage *stage)
{
    const struct work_piece *layer = stage->sparse != NULL ? stage->sparse : stage->dense;
    double layers = stage->dense_count * memory_kept_of(job, stage->dense) +
                    stage->sparse_count * memory_kept_of(job, stage->sparse);
    double ends = memory_kept(stage->embedding) + memory_kept(stage->head) + memory_kept(stage->loss);
    double again = layer != NULL ? layer->again * layer->kept_bytes : 0;
    return layers * memory_in_flight(job, stage->index) + ends + again;
}

/* Numbers of a framework may be set to anything: sums of what this gives still fit. */
static uint64_t memory_bytes(double bytes)
{
    if (!(bytes > 0)) {
        return 0;
    }
    return bytes < 1e18 ? (uint64_t)bytes : UINT64_C(1000000000000000000);
}

/* Activations as PyTorch itself holds them when it holds most. Gradients come as activations go, so that this is one of
 * three moments: when the loss's gradient is made, when the last layer is gone through (computed again, maybe), or when
 * the last weight's gradient is there. What is summed over ranks or micro-batches has its gradients all along. */
static void memory_at_peak(const struct work_job *job, const struct memory_stage *stage,
                           struct orr_train_memory *memory)
{
    const struct orr_train_plan *plan = job->plan;
    const struct work_piece *layer = stage->sparse != NULL ? stage->sparse : stage->dense;
    const struct work_piece *begin = model_is_transformer(job->model) ? stage->embedding : layer;
    bool all_along = plan->dp > 1 || plan_micro_batches(plan) > 1;
    double again = layer != NULL ? layer->again * layer->kept_bytes : 0;
    double ends = memory_kept(stage->head) + memory_kept(stage->loss);
    double head = stage->head != NULL ? memory_weights(stage->head) * job->framework->gradient_bytes : 0;
    double kept = memory_activations(job, stage) - ends - again;
    double first = kept + again + head + (layer != NULL ? layer->working_bytes : 0);
    double loss = kept + ends + (stage->loss != NULL ? stage->loss->working_bytes : 0);
    loss += plan->compile ? head : 0; /* the logits' gradient takes their place and is there as long as they */
    loss = loss > first ? loss : first;
    if (!all_along && loss > (double)memory->gradients + again) {
        memory->gradients = 0;
    }
    memory->activations = memory_bytes(all_along || memory->gradients == 0 ? loss : again);
    memory->buffers += memory_bytes(begin != NULL ? begin->input_bytes : 0); /* the samples */
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
    bool whole = plan->zero == 3 || plan->sharding != ORR_TRAIN_SHARDING_NONE;
    double shared = weights / shards + experts / expert_shards, all = weights + experts;
    double largest =
        stage->sparse != NULL ? stage->sparse->parameters + stage->sparse->experts : memory_weights(stage->dense);
    double buckets = plan->dp > 1 && !whole ? framework->bucket_bytes * all : 0;
    memory->weights = memory_bytes((whole ? shared : all) * 2 + (stage->dense != NULL ? stage->dense->fixed_bytes : 0));
    memory->gradients = memory_bytes((plan->zero >= 2 || whole ? shared : all) * framework->gradient_bytes + buckets);
    memory->optimizer = memory_bytes(shared * framework->state_bytes);
    memory->activations = memory_bytes(memory_activations(job, stage));
    memory->buffers =
        memory_bytes(framework->workspace * 1e9 + memory_fresh(job, stage) + (whole ? 2 * 2 * largest : 0));
    if (framework->eager) {
        memory_at_peak(job, stage, memory);
    }
    uint64_t needed = memory->weights + memory->gradients + memory->optimizer + memory->activations + memory->buffers;
    memory->device = memory_bytes(device_bytes * framework->usable);
    memory->fragmentation = memory_bytes(memory_queued(job, stage, (double)needed, (double)memory->device));
    memory->total = needed + memory->fragmentation;
    memory->fits = needed <= memory->device;
}
