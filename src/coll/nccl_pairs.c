/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Collectives that NCCL makes of sends and receives: all-to-all as every ordered pair, gather and scatter as one pair
 * per rank and root, and lists of pairs as a program gives them. All at once, without dependencies.
 *
 * PXN: a message to another server goes over NVLink to the GPU there that sits on the same rail as its receiver, and
 * then across, so that no message leaves its rail. Only over ranks of the group, and not under compat, where SimAI
 * leaves all-to-all alone.
 */
#include "coll/nccl_parts.h"

static void nccl_pairs_add_pair(struct nccl_builder *builder, uint32_t src, uint32_t dst, struct nccl_flow like)
{
    uint32_t relay = builder->choice->pxn && !builder->job->compat ? nccl_relay_of(builder, src, dst) : src;
    like.chunk_count = 1;
    like.src = src;
    like.dst = relay == src ? dst : relay;
    uint32_t first = nccl_builder_add(builder, like);
    if (relay != src) {
        like.src = relay;
        like.dst = dst;
        like.prev = nccl_builder_prev(builder, src);
        like.prev_count = 1;
        like.connection = NCCL_CONN_PXN_INIT;
        (void)nccl_builder_add(builder, like);
        nccl_builder_parent(builder, first);
    }
}

enum orr_status nccl_exchange_flows(struct nccl_builder *builder, uint64_t bytes, struct orr_error *err)
{
    const struct nccl_group *group = builder->group;
    bool compat = builder->job->compat;
    uint32_t n = group->rank_count;
    uint64_t pairs = (uint64_t)n * (n - 1);
    uint64_t ways = builder->choice->pxn && !compat ? 2 : 1;
    enum orr_status status = nccl_builder_reserve(builder, ways * pairs, pairs, ways * pairs, err);
    for (uint32_t i = 0; i < n && status == ORR_OK; i++) {
        struct nccl_flow like = {.prev = builder->prev_count, .prev_count = n - 1, .connection = NCCL_CONN_RING};
        for (uint32_t j = 0; j < n; j++) {
            if (j != i) {
                (void)nccl_builder_prev(builder, group->ranks[j]);
            }
        }
        for (uint32_t j = 0; j < n; j++) {
            like.bytes = compat ? bytes / n : nccl_share(bytes, n, j);
            if (j != i && (compat || like.bytes > 0)) {
                nccl_pairs_add_pair(builder, group->ranks[i], group->ranks[j], like);
            }
        }
    }
    return status;
}

enum orr_status nccl_star_flows(struct nccl_builder *builder, enum coll_type type, uint64_t bytes,
                                struct orr_error *err)
{
    const struct nccl_group *group = builder->group;
    uint32_t n = group->rank_count;
    enum orr_status status = nccl_builder_reserve(builder, UINT64_C(2) * n, n, n, err);
    uint32_t root = group->ranks[builder->choice->root];
    for (uint32_t i = 0; i < n && status == ORR_OK; i++) {
        struct nccl_flow like = {.bytes = nccl_share(bytes, n, i), .connection = NCCL_CONN_PAIR};
        if (i != builder->choice->root && like.bytes > 0) {
            bool gather = type == COLL_GATHER;
            nccl_pairs_add_pair(builder, gather ? group->ranks[i] : root, gather ? root : group->ranks[i], like);
        }
    }
    return status;
}

enum orr_status nccl_pairs_build(const struct nccl_job *job, const struct nccl_pair *pairs, uint32_t count, bool pxn,
                                 struct arena *arena, struct nccl_flows *flows, struct orr_error *err)
{
    struct nccl_choice choice = {.algo = NCCL_RING, .protocol = NCCL_SIMPLE, .channels = 1, .pxn = pxn};
    struct nccl_flows made = {.choice = choice};
    struct nccl_builder builder = {.job = job, .choice = &choice, .arena = arena, .flows = &made};
    enum orr_status status = nccl_builder_reserve(&builder, UINT64_C(2) * count, count, count, err);
    for (uint32_t i = 0; i < count && status == ORR_OK; i++) {
        if (pairs[i].src >= job->gpus || pairs[i].dst >= job->gpus || pairs[i].src == pairs[i].dst) {
            return error_set(err, ORR_EINVAL, "a message from %u to %u: two different ranks below %u are needed",
                             pairs[i].src, pairs[i].dst, job->gpus);
        }
        struct nccl_flow like = {.bytes = pairs[i].bytes, .connection = NCCL_CONN_PAIR};
        nccl_pairs_add_pair(&builder, pairs[i].src, pairs[i].dst, like);
    }
    if (status == ORR_OK) {
        status = nccl_builder_finish(&builder, err);
    }
    if (status == ORR_OK) {
        *flows = made;
    }
    return status;
}
