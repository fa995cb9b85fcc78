/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ZeRO 3 (spec simai §5.6): parameters are gathered before they are used and given up after; from the second
 * micro-batch on, the order of use is known and they are gathered ahead of it. That order is always forward 0..n-1,
 * then backward n-1..0, so that what is left of it is one number.
 */
#include "model/aicb/physical_zero.h"

static void aicb_physical_zero3_collective(struct physical *p, const char *op, int64_t elements, const char *stage)
{
    physical_collective(p, op, PHYSICAL_DP, p->shape.dp, physical_mul(p, 2, elements), stage);
}

static bool knows_order(const struct physical_zero *zero)
{
    return zero->ahead < 2 * zero->count;
}

static void aicb_physical_zero3_take(struct physical_zero *zero, struct zero_param *param)
{
    param->gathered = true;
    zero->live += param->count;
}

static void gather_row(struct physical *p, const struct physical_zero *zero, int64_t elements)
{
    aicb_physical_zero3_collective(p, "all_gather", elements,
                                   zero->stage[0] == 'f'   ? "forward.allgather_fn"
                                   : zero->stage[0] == 'b' ? "backward.allgather_fn"
                                                           : "step.allgather_fn");
}

static void aicb_physical_zero3_compute(struct physical *p, const struct physical_zero *zero,
                                        const struct zero_param *param)
{
    if (zero->stage[0] == 'f') {
        physical_zero_forward(p, param);
    } else if (zero->stage[0] == 'b') {
        physical_zero_backward(p, param, p->fix.zero_products ? "backward.computation" : "");
    }
}

static void gather_now(struct physical *p, struct physical_zero *zero, struct zero_param *param)
{
    if (!param->gathered) {
        gather_row(p, zero, param->count);
        aicb_physical_zero3_take(zero, param);
    }
    if (!p->fix.zero_products) {
        aicb_physical_zero3_compute(p, zero, param);
    }
}

/* What one gather ahead of time collects; the indices are kept because AICB writes the products behind it. */
struct collected {
    uint32_t *indices;
    uint32_t count;
    int64_t elements;
};

static void aicb_physical_zero3_collect(struct physical_zero *zero, struct collected *collected, uint32_t index)
{
    struct zero_param *param = &zero->params[index];
    aicb_physical_zero3_take(zero, param);
    collected->elements += param->count;
    collected->indices[collected->count++] = index;
}

static void gather_ahead(struct physical *p, struct physical_zero *zero, uint32_t index)
{
    struct collected collected = {.indices = mem_alloc(p->mem, zero->count * sizeof(uint32_t))};
    if (collected.indices == NULL) {
        p->no_memory = true;
        return;
    }
    if (!zero->params[index].gathered) {
        aicb_physical_zero3_collect(zero, &collected, index);
        zero->ahead++;
    }
    while (knows_order(zero) && collected.elements < p->o->prefetch_bucket_size &&
           zero->live < p->o->max_live_parameters) {
        uint32_t time = zero->ahead++;
        uint32_t next = time < zero->count ? time : 2 * zero->count - 1 - time;
        struct zero_param *param = &zero->params[next];
        param->last = param->last > (int64_t)time ? param->last : (int64_t)time;
        if (!param->gathered) {
            aicb_physical_zero3_collect(zero, &collected, next);
        }
    }
    if (collected.count > 0) {
        gather_row(p, zero, collected.elements);
    }
    for (uint32_t i = 0; i < collected.count && !p->fix.zero_products; i++) {
        aicb_physical_zero3_compute(p, zero, &zero->params[collected.indices[i]]);
    }
    mem_free(p->mem, collected.indices, zero->count * sizeof(uint32_t));
}

static void use(struct physical *p, struct physical_zero *zero, uint32_t index, uint32_t time)
{
    struct zero_param *param = &zero->params[index];
    if (knows_order(zero)) {
        gather_ahead(p, zero, index);
    } else {
        gather_now(p, zero, param);
    }
    if (p->fix.zero_products) {
        aicb_physical_zero3_compute(p, zero, param);
    }
    if (!knows_order(zero) || !(param->persistent || param->last > (int64_t)time)) {
        param->gathered = false;
        zero->live -= param->count;
    }
}

static void zero3_init(struct physical *p, void *state)
{
    const struct physical_zero *zero = state;
    for (uint32_t i = 0; i < zero->count && !p->o->amp_enabled; i++) {
        physical_broadcast(p, PHYSICAL_DP, p->shape.dp, physical_mul(p, 2, zero->params[i].count),
                           "init._broadcast_model");
    }
    physical_collective(p, "barrier", PHYSICAL_ALL, p->shape.dp, 0,
                        "init._create_fp16_partitions_with_defragmentation");
    for (unsigned i = 0; i < 2; i++) {
        physical_collective(p, "barrier", PHYSICAL_ALL, p->shape.dp, 0, "init._setup_for_real_optimizer");
    }
    for (uint32_t i = 0; i < zero->count; i++) {
        aicb_physical_zero3_collective(p, "all_gather", zero->params[i].count, "init._allgather_params");
    }
}

static void zero3_forward(struct physical *p, void *state)
{
    struct physical_zero *zero = state;
    zero->stage = "forward";
    for (uint32_t i = 0; i < zero->count && physical_good(p); i++) {
        use(p, zero, i, i);
    }
}

static void zero3_backward(struct physical *p, void *state)
{
    struct physical_zero *zero = state;
    zero->stage = "backward";
    for (uint32_t step = 0; step < zero->count && physical_good(p); step++) {
        uint32_t i = zero->count - 1 - step;
        int64_t elements = zero->params[i].count;
        use(p, zero, i, zero->count + step);
        if (physical_sum(p, elements, zero->unreduced) > p->o->reduce_bucket_size) {
            aicb_physical_zero3_collective(p, "reduce_scatter", zero->unreduced, "backward.reduce_scatter_fn");
            zero->unreduced = 0;
        }
        zero->unreduced += elements;
    }
    zero->ahead = 0;
    for (uint32_t i = 0; i < zero->count; i++) {
        zero->params[i].last = -1;
    }
}

static void zero3_step(struct physical *p, void *state)
{
    struct physical_zero *zero = state;
    zero->stage = "step";
    aicb_physical_zero3_collective(p, "reduce_scatter", zero->unreduced, "step.reduce_scatter_fn");
    zero->unreduced = 0;
    physical_collective(p, "all_reduce", PHYSICAL_DP, p->shape.dp, 1, "step.has_overflow");
    physical_collective(p, "all_reduce", PHYSICAL_DP, p->shape.dp, 8, "step.get_grad_norm_direct");
    for (uint32_t i = 0; i < zero->count; i++) {
        zero->params[i].gathered = false;
    }
    zero->live = 0;
    for (uint32_t i = 0; i < zero->count && physical_good(p); i++) {
        if (zero->params[i].persistent) {
            gather_now(p, zero, &zero->params[i]);
        }
    }
}

const struct physical_family physical_zero_3 = {zero3_init, zero3_forward, zero3_backward, zero3_step, NULL};
