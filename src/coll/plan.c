/* SPDX-License-Identifier: Apache-2.0 */
/* The phase list is built front to back because sizes chain: each phase starts from what the one before left. */
#include "coll/plan.h"

static bool power_of_two(uint32_t n)
{
    return (n & (n - 1)) == 0;
}

static void set_ring(struct coll_phase *phase)
{
    uint32_t n = phase->ring.size;
    phase->parallel = 1;
    phase->processed = n - 1;
    phase->message_bytes = phase->type == COLL_ALL_GATHER ? phase->bytes : phase->bytes / n;
    phase->sends = phase->type == COLL_ALL_REDUCE ? 2 * (n - 1) : n - 1;
    if (phase->type == COLL_ALL_TO_ALL) {
        phase->sends = (uint32_t)((uint64_t)n * (n - 1) / 2);
    }
}

static void set_direct(struct coll_phase *phase, uint32_t window, bool group)
{
    uint32_t n = phase->ring.size;
    phase->parallel = window != 0 && window < n - 1 ? window : n - 1;
    phase->processed = group ? (n - 1) * phase->parallel : phase->parallel;
    phase->message_bytes = phase->type == COLL_ALL_GATHER ? phase->bytes : phase->bytes / n;
    phase->sends = phase->type == COLL_ALL_REDUCE ? 2 * (n - 1) : n - 1;
}

static void set_method(struct coll_phase *phase, const struct coll_impl *impl, bool group)
{
    switch (impl->algo) {
    case COLL_RING:
        phase->method = COLL_BY_RING;
        set_ring(phase);
        break;
    case COLL_DIRECT:
        phase->method = COLL_BY_DIRECT;
        set_direct(phase, impl->window, group);
        break;
    case COLL_HALVING_DOUBLING:
        phase->method = power_of_two(phase->ring.size) ? COLL_BY_HALVING : COLL_BY_PROGRAM;
        phase->parallel = 1;
        phase->processed = coll_log2_floor(phase->ring.size) - 1;
        phase->sends = coll_halving_sends(phase->type, phase->ring.size);
        break;
    case COLL_DOUBLE_BINARY_TREE:
        phase->method = COLL_BY_TREE;
        break;
    case COLL_NCCL:
        phase->method = COLL_BY_FLOWS;
        phase->nccl = impl->nccl;
        break;
    }
}

static uint64_t size_after(const struct coll_phase *phase)
{
    if (phase->method == COLL_BY_TREE) {
        return phase->bytes;
    }
    switch (phase->type) {
    case COLL_REDUCE_SCATTER:
        return phase->bytes / phase->ring.size;
    case COLL_ALL_GATHER:
        return phase->bytes * phase->ring.size;
    default:
        return phase->bytes;
    }
}

static uint64_t add_phase(struct coll_plan *plan, enum coll_type type, uint64_t bytes, const struct coll_dim *dims,
                          uint32_t dim, enum coll_queue_rule rule, bool group)
{
    struct coll_phase *phase = &plan->phases[plan->phase_count++];
    *phase = (struct coll_phase){.ring = dims[dim].ring, .bytes = bytes, .type = type, .rule = rule, .dim = dim};
    set_method(phase, &dims[dim].impl, group);
    return size_after(phase);
}

void coll_plan_build(enum coll_type type, uint64_t bytes, const struct coll_dim *dims, uint32_t count,
                     bool split_all_reduce, bool group, struct coll_plan *plan)
{
    plan->phase_count = 0;
    uint32_t used[COLL_MAX_DIMS];
    uint32_t used_count = 0;
    for (uint32_t d = 0; d < count; d++) {
        if (dims[d].ring.size > 1 && dims[d].involved) {
            used[used_count++] = d;
        }
    }
    if (used_count == 0) {
        return;
    }
    if (type != COLL_ALL_REDUCE || !split_all_reduce) {
        for (uint32_t i = 0; i < used_count; i++) {
            uint32_t dim = type == COLL_ALL_GATHER ? used[used_count - 1 - i] : used[i];
            bytes = add_phase(plan, type, bytes, dims, dim, COLL_QUEUE_ANY, group);
        }
        return;
    }
    uint32_t last = used_count - 1;
    for (uint32_t i = 0; i < last; i++) {
        bytes = add_phase(plan, COLL_REDUCE_SCATTER, bytes, dims, used[i], COLL_QUEUE_FIRST, group);
    }
    bytes = add_phase(plan, COLL_ALL_REDUCE, bytes, dims, used[last], COLL_QUEUE_FIRST, group);
    for (uint32_t i = last; i-- > 0;) {
        bytes = add_phase(plan, COLL_ALL_GATHER, bytes, dims, used[i], COLL_QUEUE_LAST, group);
    }
}
