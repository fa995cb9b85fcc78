/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which algorithm carries out a collective, and the builder that all of them use. Flows, parents and prev lists are
 * three arrays of a size that each algorithm knows beforehand; the children are counted and placed in two passes over
 * the parents, so that a list costs time and memory in proportion to its length.
 */
#include <string.h>

#include "coll/nccl_parts.h"

enum { NVLS_COMPAT_RANKS = 8 }; /* below so many SimAI does not think of NVLS */

/* No buffer is larger, and counts of chunks stay far from the end of 64 bits. */
#define MOST_BYTES (UINT64_C(1) << 50)

enum orr_status nccl_builder_reserve(struct nccl_builder *builder, uint64_t flows, uint64_t parents, uint64_t prevs,
                                     struct orr_error *err)
{
    if (flows >= UINT32_MAX || parents >= UINT32_MAX || prevs >= UINT32_MAX) {
        return error_set(err, ORR_ERANGE,
                         "the collective of %u ranks has %llu flows; at most 4294967294 can be numbered: use fewer "
                         "channels or larger chunks",
                         builder->group == NULL ? 0 : builder->group->rank_count, (unsigned long long)flows);
    }
    struct nccl_flows *made = builder->flows;
    made->flows = arena_alloc(builder->arena, flows * sizeof *made->flows);
    made->links = arena_alloc(builder->arena, 2 * parents * sizeof *made->links);
    made->prevs = arena_alloc(builder->arena, prevs * sizeof *made->prevs);
    if (made->flows == NULL || made->links == NULL || made->prevs == NULL) {
        return mem_error(builder->arena->mem, "the flows of a collective", err);
    }
    builder->link_room = 2 * parents;
    return ORR_OK;
}

enum orr_status nccl_builder_work(struct nccl_builder *builder, uint64_t count, size_t item_bytes, void *array,
                                  struct orr_error *err)
{
    void *made = arena_zalloc(builder->arena, count * item_bytes);
    if (made == NULL) {
        return mem_error(builder->arena->mem, "the layout of a collective", err);
    }
    memcpy(array, &made, sizeof made);
    return ORR_OK;
}

uint32_t nccl_builder_prev(struct nccl_builder *builder, uint32_t rank)
{
    builder->flows->prevs[builder->prev_count] = rank;
    return builder->prev_count++;
}

uint32_t nccl_builder_add(struct nccl_builder *builder, struct nccl_flow flow)
{
    struct nccl_flows *made = builder->flows;
    flow.parents = builder->link_count;
    flow.parent_count = 0;
    made->flows[made->count] = flow;
    return made->count++;
}

void nccl_builder_parent(struct nccl_builder *builder, uint32_t parent)
{
    if (parent == NCCL_NO_FLOW) {
        return;
    }
    struct nccl_flows *made = builder->flows;
    made->links[builder->link_count++] = parent;
    made->flows[made->count - 1].parent_count++;
}

void nccl_builder_parents_of(struct nccl_builder *builder, uint32_t other)
{
    struct nccl_flows *made = builder->flows;
    made->flows[made->count - 1].parents = made->flows[other].parents;
    made->flows[made->count - 1].parent_count = made->flows[other].parent_count;
}

enum orr_status nccl_builder_finish(struct nccl_builder *builder, struct orr_error *err)
{
    struct nccl_flows *made = builder->flows;
    uint64_t children = 0;
    for (uint32_t i = 0; i < made->count; i++) {
        made->flows[i].child_count = 0;
        if (made->flows[i].bytes > UINT64_MAX - made->total_bytes) {
            return error_set(err, ORR_ERANGE, "the bytes of the collective's flows do not fit 64 bits");
        }
        made->total_bytes += made->flows[i].bytes;
        children += made->flows[i].parent_count;
    }
    if (builder->link_count + children > builder->link_room) {
        return error_set(err, ORR_EFAIL, "the flows of a collective have more parents than were foreseen");
    }
    for (uint32_t i = 0; i < made->count; i++) {
        for (uint32_t k = 0; k < made->flows[i].parent_count; k++) {
            made->flows[made->links[made->flows[i].parents + k]].child_count++;
        }
    }
    uint32_t at = builder->link_count;
    for (uint32_t i = 0; i < made->count; i++) {
        made->flows[i].children = at;
        at += made->flows[i].child_count;
        made->flows[i].child_count = 0;
    }
    for (uint32_t i = 0; i < made->count; i++) {
        for (uint32_t k = 0; k < made->flows[i].parent_count; k++) {
            struct nccl_flow *parent = &made->flows[made->links[made->flows[i].parents + k]];
            made->links[parent->children + parent->child_count++] = i;
        }
    }
    return ORR_OK;
}

uint32_t nccl_rank_place(const uint32_t *ranks, uint32_t count, uint32_t rank)
{
    uint32_t lo = 0;
    uint32_t hi = count;
    while (lo < hi) {
        uint32_t middle = lo + (hi - lo) / 2;
        if (ranks[middle] < rank) {
            lo = middle + 1;
        } else {
            hi = middle;
        }
    }
    return lo < count && ranks[lo] == rank ? lo : count;
}

uint32_t nccl_relay_of(const struct nccl_builder *builder, uint32_t src, uint32_t dst)
{
    const struct nccl_job *job = builder->job;
    const struct nccl_group *group = builder->group;
    uint32_t server = nccl_server_of(job, src);
    uint32_t relay = server * job->gpus_per_server + dst % job->gpus_per_server;
    if (server == nccl_server_of(job, dst)) {
        return src;
    }
    bool member =
        group == NULL ? relay < job->gpus : nccl_rank_place(group->ranks, group->rank_count, relay) < group->rank_count;
    return member ? relay : src;
}

/* Ranks on the server of the group that has the fewest. */
static uint32_t fewest_local(const struct nccl_job *job, const struct nccl_group *group)
{
    uint32_t fewest = UINT32_MAX;
    uint32_t run = 0;
    for (uint32_t i = 0; i < group->rank_count; i++) {
        run++;
        bool last = i + 1 == group->rank_count;
        if (last || nccl_server_of(job, group->ranks[i]) != nccl_server_of(job, group->ranks[i + 1])) {
            fewest = run < fewest ? run : fewest;
            run = 0;
        }
    }
    return fewest;
}

static enum nccl_algo choose_algo(const struct nccl_job *job, const struct nccl_group *group, enum coll_type type)
{
    bool wanted = job->nvls || (job->nvls_tree && !job->compat && group->node_count > 1);
    if (!wanted || !job->has_nvls) {
        return NCCL_RING;
    }
    if (job->compat) {
        bool fits = type == COLL_ALL_REDUCE && group->type == NCCL_GROUP_TP && group->rank_count >= NVLS_COMPAT_RANKS;
        return fits ? NCCL_NVLS : NCCL_RING;
    }
    if (group->switch_count == 0 || fewest_local(job, group) < 2) {
        return NCCL_RING;
    }
    if (group->node_count > 1) {
        return type == COLL_ALL_REDUCE ? NCCL_NVLS_TREE : NCCL_RING;
    }
    return type == COLL_ALL_REDUCE || type == COLL_ALL_GATHER || type == COLL_REDUCE_SCATTER ||
                   type == COLL_REDUCE_SCATTER_BLOCK
               ? NCCL_NVLS
               : NCCL_RING;
}

bool nccl_gpu_has_nvls(const char *gpu_type)
{
    return gpu_type[0] == 'H' || gpu_type[0] == 'B' || strncmp(gpu_type, "GB", 2) == 0;
}

struct nccl_choice nccl_choose(const struct nccl_job *job, const struct nccl_group *group, enum coll_type type,
                               uint64_t bytes)
{
    (void)bytes; /* for the choice by cost */
    uint32_t local = job->compat ? group->rank_count / group->node_count : fewest_local(job, group);
    return (struct nccl_choice){
        .algo = choose_algo(job, group, type),
        .protocol = job->compat ? NCCL_PROTOCOL_NONE : NCCL_SIMPLE,
        .channels = job->compat || local < NCCL_MAX_CHANNELS ? local : NCCL_MAX_CHANNELS,
        .pxn = job->pxn && !(job->compat && type == COLL_ALL_GATHER), /* it compares the variable's address there */
    };
}

static enum orr_status cannot(enum coll_type type, const char *algo, const char *can, struct orr_error *err)
{
    return error_set(err, ORR_EINVAL, "NCCL has no %s for %s, only for %s: use the ring", algo,
                     coll_type_name((int32_t)type), can);
}

static enum orr_status all_reduce_flows(struct nccl_builder *builder, enum coll_type type, uint64_t bytes,
                                        struct orr_error *err)
{
    switch (builder->choice->algo) {
    case NCCL_TREE:
        return type == COLL_ALL_REDUCE && !builder->job->compat ? nccl_tree_flows(builder, bytes, err)
               : type == COLL_ALL_REDUCE                        ? nccl_ring_flows(builder, type, bytes, err)
                                                                : cannot(type, "tree", "all-reduce", err);
    case NCCL_NVLS:
        return nccl_nvls_flows(builder, type, bytes, err);
    case NCCL_NVLS_TREE:
        return type == COLL_ALL_REDUCE ? nccl_nvls_tree_flows(builder, bytes, err)
                                       : cannot(type, "NVLS tree", "all-reduce", err);
    case NCCL_COLLNET:
        return type == COLL_ALL_REDUCE ? nccl_collnet_flows(builder, bytes, err)
                                       : cannot(type, "reduction in the network's switches", "all-reduce", err);
    case NCCL_RING:
    default:
        return builder->job->alike != NULL ? nccl_alike_ring_flows(builder, type, bytes, err)
                                           : nccl_ring_flows(builder, type, bytes, err);
    }
}

static enum orr_status coll_nccl_flows_build(struct nccl_builder *builder, enum coll_type type, uint64_t bytes,
                                             struct orr_error *err)
{
    if (type == COLL_REDUCE_SCATTER_BLOCK) {
        type = COLL_REDUCE_SCATTER;
    }
    switch (type) {
    case COLL_ALL_REDUCE:
    case COLL_ALL_GATHER:
    case COLL_REDUCE_SCATTER:
        return all_reduce_flows(builder, type, bytes, err);
    case COLL_BARRIER:
        return all_reduce_flows(builder, COLL_ALL_REDUCE, 1, err);
    default:
        break;
    }
    if (builder->choice->algo != NCCL_RING) {
        return cannot(type,
                      builder->choice->algo == NCCL_TREE      ? "tree"
                      : builder->choice->algo == NCCL_COLLNET ? "reduction in the network's switches"
                                                              : "NVLS",
                      "all-reduce (NVLS also for all-gather and reduce-scatter)", err);
    }
    switch (type) {
    case COLL_ALL_TO_ALL:
        return builder->job->alike != NULL ? nccl_alike_exchange_flows(builder, bytes, err)
                                           : nccl_exchange_flows(builder, bytes, err);
    case COLL_BROADCAST:
    case COLL_REDUCE:
        return nccl_chain_flows(builder, type, bytes, err);
    default:
        return nccl_star_flows(builder, type, bytes, err);
    }
}

enum orr_status nccl_flows_build(const struct nccl_job *job, const struct nccl_group *group,
                                 const struct nccl_channels *channels, const struct nccl_choice *choice,
                                 enum coll_type type, uint64_t bytes, struct arena *arena, struct nccl_flows *flows,
                                 struct orr_error *err)
{
    if (choice->channels == 0 || choice->root >= group->rank_count) {
        return error_set(err, ORR_EINVAL, "%u channels and root %u: at least 1 channel, and one of %u ranks as root",
                         choice->channels, choice->root, group->rank_count);
    }
    uint32_t most = channels->ring_count > NCCL_MAX_CHANNELS ? channels->ring_count : NCCL_MAX_CHANNELS;
    if (choice->channels > most || bytes > MOST_BYTES) {
        return error_set(err, ORR_ERANGE, "%u channels and %llu bytes: at most %u channels and 2^50 bytes",
                         choice->channels, (unsigned long long)bytes, most);
    }
    struct nccl_flows made = {.choice = *choice};
    struct nccl_builder builder = {
        .job = job, .group = group, .channels = channels, .choice = choice, .arena = arena, .flows = &made};
    enum orr_status status = coll_nccl_flows_build(&builder, type, bytes, err);
    if (status == ORR_OK) {
        status = nccl_builder_finish(&builder, err);
    }
    if (status == ORR_OK) {
        *flows = made;
    }
    return status;
}
