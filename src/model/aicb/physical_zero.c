/* SPDX-License-Identifier: Apache-2.0 */
/* ZeRO 1 and 2 (spec simai §5.4, §5.5), and the list of parameters that ZeRO 3 has too. */
#include "model/aicb/physical_zero.h"

#include <inttypes.h>

static const int64_t LAYERS_MAX = 1 << 20;
enum { LAYER_PARAMS = 9 };

static void aicb_physical_zero_add(struct physical *p, struct physical_zero *zero, int64_t x, int64_t y)
{
    struct zero_param *param = &zero->params[zero->count++];
    *param = (struct zero_param){.x = x, .y = y, .count = physical_mul(p, x, y), .offset = zero->total, .last = -1};
    zero->total = physical_sum(p, zero->total, param->count);
}

static void list_params(struct physical *p, struct physical_zero *zero)
{
    const struct aicb_options *o = p->o;
    int64_t h = o->hidden_size;
    int64_t inner = physical_mul(p, p->shape.head_dim, p->shape.heads);
    int64_t kv = o->fix.attention_shape ? physical_mul(p, p->shape.head_dim, p->shape.kv_heads) : inner;
    aicb_physical_zero_add(p, zero, o->vocab_size, h);
    for (int64_t i = 0; i < p->shape.layers; i++) {
        aicb_physical_zero_add(p, zero, h, 1);
        aicb_physical_zero_add(p, zero, h, inner);
        aicb_physical_zero_add(p, zero, h, kv);
        aicb_physical_zero_add(p, zero, h, kv);
        aicb_physical_zero_add(p, zero, inner, h);
        aicb_physical_zero_add(p, zero, h, 1);
        aicb_physical_zero_add(p, zero, h, p->shape.ffn);
        aicb_physical_zero_add(p, zero, p->shape.ffn, h);
        aicb_physical_zero_add(p, zero, h, p->shape.ffn);
    }
    aicb_physical_zero_add(p, zero, h, 1);
    aicb_physical_zero_add(p, zero, h, o->vocab_size);
}

static void mark_persistent(struct physical *p, struct physical_zero *zero)
{
    int64_t kept = 0;
    for (uint32_t i = 0; i < zero->count; i++) {
        struct zero_param *param = &zero->params[i];
        param->persistent = physical_sum(p, param->count, kept) <= p->o->model_persistence_threshold &&
                            param->count <= p->o->param_persistence_threshold;
        kept += param->persistent ? param->count : 0;
    }
}

static enum orr_status aicb_physical_zero_check(const struct physical *p, struct orr_error *err)
{
    const struct aicb_options *o = p->o;
    if (p->fix.zero_degrees && (o->pp > 1 || o->tp > 1)) {
        return error_set(
            err, ORR_EINVAL,
            "parameter 'frame' DeepSpeed divides the model by ZeRO alone: parameter 'tensor_model_parallel_size' and "
            "parameter 'pipeline_model_parallel' must be 1");
    }
    if (!p->fix.zero_amp && o->amp_enabled && o->stage != 3) {
        return error_set(err, ORR_EINVAL,
                         "parameter 'amp_enabled' with ZeRO %" PRId64
                         ": AICB crashes; without parameter 'compat' aicb it works",
                         o->stage);
    }
    return p->shape.layers <= LAYERS_MAX
               ? ORR_OK
               : error_set(err, ORR_ERANGE, "parameter 'num_layers' %" PRId64 " is above %" PRId64, p->shape.layers,
                           LAYERS_MAX);
}

enum orr_status physical_zero_open(struct physical *p, struct physical_zero *zero, struct orr_error *err)
{
    *zero = (struct physical_zero){0};
    enum orr_status status = aicb_physical_zero_check(p, err);
    if (status != ORR_OK) {
        return status;
    }
    size_t count = (size_t)p->shape.layers * LAYER_PARAMS + 3;
    zero->params = mem_zalloc(p->mem, count * sizeof *zero->params);
    if (zero->params == NULL) {
        return mem_error(p->mem, "a model's parameters", err);
    }
    list_params(p, zero);
    mark_persistent(p, zero);
    zero->ahead = 2 * zero->count;
    return ORR_OK;
}

void physical_zero_close(struct physical *p, struct physical_zero *zero)
{
    mem_free(p->mem, zero->params, zero->count * sizeof *zero->params);
    mem_free(p->mem, zero->bucket, zero->bucket_capacity * sizeof *zero->bucket);
    *zero = (struct physical_zero){0};
}

/* ---- products ---- */

static bool has_products(const struct physical *p, const struct zero_param *param)
{
    return (p->o->computation_enable || p->o->aiob_enable) && param->y != 1;
}

void physical_zero_forward(struct physical *p, const struct zero_param *param)
{
    if (has_products(p, param)) {
        physical_compute(p,
                         (struct physical_product){p->o->micro_batch, p->o->seq_length, param->x, param->x, param->y},
                         "forward.computation", "");
    }
}

void physical_zero_backward(struct physical *p, const struct zero_param *param, const char *weight_stage)
{
    const struct aicb_options *o = p->o;
    int64_t tokens = physical_mul(p, o->micro_batch, o->seq_length);
    int64_t in = p->fix.zero_products ? param->y : param->x;
    int64_t out = p->fix.zero_products ? param->x : param->y;
    if (has_products(p, param)) {
        physical_compute(p, (struct physical_product){o->micro_batch, o->seq_length, in, in, out},
                         "backward.computation", "");
        physical_compute(p, (struct physical_product){0, param->x, tokens, tokens, param->y}, weight_stage, "");
    }
}

/* ---- buckets of gradients ---- */

static void aicb_physical_zero_collective(struct physical *p, const char *op, int64_t elements, const char *stage)
{
    physical_collective(p, op, PHYSICAL_DP, p->shape.dp, physical_mul(p, 2, elements), stage);
}

/* One reduction for every stretch of the bucket that one rank owns. Parameters lie in the bucket from the last to the
 * first. */
static void reduce_by_owner(struct physical *p, struct physical_zero *zero, const char *stage)
{
    int64_t part = (zero->total + p->shape.dp - 1) / p->shape.dp;
    int64_t owner = -1;
    int64_t start = 0;
    int64_t end = 0;
    if (p->o->fix.lone_groups && p->shape.dp == 1) {
        return;
    }
    for (uint32_t i = zero->bucket_count; i > 0 && physical_good(p); i--) {
        const struct zero_param *param = &zero->params[zero->bucket[i - 1]];
        int64_t stop = param->offset + param->count;
        for (int64_t at = param->offset; at < stop && physical_good(p); at = end) {
            int64_t its = at / part;
            int64_t border = (its + 1) * part;
            if (its != owner && owner >= 0) {
                physical_put(p, (struct physical_row){"reduce", PHYSICAL_DP, p->shape.dp, 2 * (end - start), stage,
                                                      owner, PHYSICAL_UNKNOWN, NULL, false});
            }
            start = its != owner ? at : start;
            owner = its;
            end = stop < border ? stop : border;
        }
    }
    if (owner >= 0) {
        physical_put(p, (struct physical_row){"reduce", PHYSICAL_DP, p->shape.dp, 2 * (end - start), stage, owner,
                                              PHYSICAL_UNKNOWN, NULL, false});
    }
}

static void flush(struct physical *p, struct physical_zero *zero, bool in_step)
{
    bool by_owner = p->o->stage != 1 && p->o->contiguous_gradients;
    if (by_owner) {
        reduce_by_owner(p, zero, in_step ? "step.average_tensor" : "backward.average_tensor");
    } else if (zero->bucket_count > 0 || !p->fix.zero_bucket) {
        aicb_physical_zero_collective(p, "all_reduce", zero->bucket_elements,
                                      in_step ? "step.allreduce_bucket" : "backward.allreduce_bucket");
    }
    zero->bucket_count = 0;
    zero->bucket_elements = 0;
}

/* ---- ZeRO 1 and 2 ---- */

static void zero_init(struct physical *p, void *state)
{
    const struct physical_zero *zero = state;
    for (uint32_t i = 0; i < zero->count && !p->o->amp_enabled; i++) {
        aicb_physical_zero_collective(p, "broadcast", zero->params[i].count, "init");
    }
    int64_t elements = p->fix.zero_barrier ? 0 : zero->params[zero->count - 1].count;
    physical_collective(p, "barrier", PHYSICAL_ALL, p->shape.dp, physical_mul(p, 2, elements), "init.__init__");
}

static void zero_forward(struct physical *p, void *state)
{
    const struct physical_zero *zero = state;
    for (uint32_t i = 0; i < zero->count; i++) {
        physical_zero_forward(p, &zero->params[i]);
    }
}

static void zero_backward(struct physical *p, void *state)
{
    struct physical_zero *zero = state;
    for (uint32_t i = zero->count; i > 0 && physical_good(p); i--) {
        const struct zero_param *param = &zero->params[i - 1];
        if (physical_sum(p, param->count, zero->bucket_elements) > p->o->reduce_bucket_size) {
            flush(p, zero, false);
        }
        if (!MEM_GROW(p->mem, zero->bucket, zero->bucket_capacity, zero->bucket_count)) {
            p->no_memory = true;
            return;
        }
        zero->bucket[zero->bucket_count++] = i - 1;
        zero->bucket_elements += param->count;
        physical_zero_backward(p, param, "backward.computation");
    }
    if (p->fix.zero_bucket) {
        flush(p, zero, false);
    }
}

static void zero_step(struct physical *p, void *state)
{
    struct physical_zero *zero = state;
    int64_t ranks = p->shape.dp;
    if (!p->fix.zero_bucket || zero->bucket_count > 0) {
        flush(p, zero, true);
    }
    physical_collective(p, "all_reduce", PHYSICAL_DP, ranks, 1, "step.has_overflow");
    int64_t shards = zero->total / p->o->allgather_bucket_size;
    shards = shards > 1 ? shards : 1;
    int64_t shard = zero->total / shards;
    for (int64_t i = 0; i < shards && physical_good(p); i++) {
        int64_t elements = i == shards - 1 ? zero->total - i * shard : shard;
        int64_t padded = physical_mul(p, (elements + ranks - 1) / ranks, ranks);
        aicb_physical_zero_collective(p, "all_gather", padded, "step.all_gather_dp_groups");
    }
}

const struct physical_family physical_zero_12 = {zero_init, zero_forward, zero_backward, zero_step, NULL};
