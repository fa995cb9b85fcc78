/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every group of a job is an arithmetic progression of ranks (spec simai §6), so a group is found by its first rank,
 * stride and length and its members are written down once, however often SimAI counts it.
 */
#include <stdlib.h>
#include <string.h>

#include "coll/nccl_parts.h"

const char *const nccl_group_names[NCCL_GROUP_TYPES] = {"tp", "dp", "ep", "dp_ep", "cp"};

struct progression {
    uint32_t first, stride, count;
};

/* How the groups of one type are laid out: `blocks` x `positions` groups, each counted `copies` times in a row. */
struct family {
    enum nccl_group_type type;
    uint32_t blocks, positions, copies;
    uint32_t block_step, position_step; /* from one group's first rank to the next one's */
    uint32_t stride, count;
};

static enum orr_status check_job(const struct nccl_job *job, struct orr_error *err)
{
    if (job->gpus == 0 || job->gpus_per_server == 0 || job->tp == 0 || job->ep == 0) {
        return error_set(err, ORR_EINVAL, "GPUs (%u), GPUs per server (%u), TP (%u) and EP (%u) must be at least 1",
                         job->gpus, job->gpus_per_server, job->tp, job->ep);
    }
    if (job->compat && job->gpus % job->gpus_per_server != 0) {
        return error_set(err, ORR_EINVAL, "%u GPUs do not fill servers of %u, which SimAI requires", job->gpus,
                         job->gpus_per_server);
    }
    if (job->gpus % job->tp != 0) {
        return error_set(err, ORR_EINVAL, "TP %u does not divide %u GPUs", job->tp, job->gpus);
    }
    if (job->gpus / job->tp % job->ep != 0) {
        return error_set(err, ORR_EINVAL, "EP %u does not divide DP %u (%u GPUs / TP %u)", job->ep, job->gpus / job->tp,
                         job->gpus, job->tp);
    }
    if (job->cp > 1 && job->gpus / job->tp % job->cp != 0) {
        return error_set(err, ORR_EINVAL, "CP %u does not divide DP %u (%u GPUs / TP %u)", job->cp, job->gpus / job->tp,
                         job->gpus, job->tp);
    }
    uint64_t servers = (job->gpus - 1) / job->gpus_per_server + 1;
    if (job->gpus + servers * job->switches_per_server > UINT32_MAX) {
        return error_set(err, ORR_ERANGE, "%u GPUs and %u switches in each of %llu servers are more than 32-bit ids",
                         job->gpus, job->switches_per_server, (unsigned long long)servers);
    }
    return ORR_OK;
}

static void nccl_groups_describe(const struct nccl_job *job, struct family families[NCCL_GROUP_TYPES])
{
    uint32_t tp = job->tp;
    uint32_t dp = job->gpus / tp;
    uint32_t ep = job->ep;
    uint32_t dp_ep = dp / ep;
    uint32_t cp = job->cp > 1 && !job->compat ? job->cp : 1;
    families[0] = (struct family){NCCL_GROUP_TP, dp, 1, 1, tp, 0, 1, tp};
    families[1] = (struct family){NCCL_GROUP_DP, 1, tp, 1, 0, 1, tp, dp};
    families[2] = (struct family){NCCL_GROUP_EP, dp_ep, tp, job->compat ? ep : 1, ep * tp, 1, tp, ep};
    families[3] = (struct family){NCCL_GROUP_DP_EP, ep, tp, job->compat ? dp_ep : 1, tp, 1, ep * tp, dp_ep};
    families[4] = (struct family){NCCL_GROUP_CP, dp / cp, tp, 1, cp * tp, 1, tp, cp};
    for (uint32_t i = 0; i < NCCL_GROUP_TYPES; i++) {
        /* SimAI takes the expert groups from the TP groups, which there are none of when TP is 1. */
        bool lost = job->compat && tp == 1 && (i == NCCL_GROUP_EP || i == NCCL_GROUP_DP_EP);
        if (families[i].count < 2 || lost) {
            families[i].blocks = 0;
        }
    }
}

/* Servers touched and their switches. */
static enum orr_status add_servers(const struct nccl_job *job, struct arena *arena, struct nccl_group *group,
                                   struct orr_error *err)
{
    uint32_t per_server = job->compat && job->switches_per_server > 0 ? 1 : job->switches_per_server;
    uint64_t room = (uint64_t)group->rank_count * per_server;
    uint32_t *switches = arena_alloc(arena, room * sizeof *switches);
    if (switches == NULL) {
        return mem_error(arena->mem, "the switches of a group", err);
    }
    group->node_count = 0;
    group->switch_count = 0;
    for (uint32_t i = 0; i < group->rank_count; i++) {
        uint32_t server = nccl_server_of(job, group->ranks[i]);
        if (i > 0 && server == nccl_server_of(job, group->ranks[i - 1])) {
            continue;
        }
        group->node_count++;
        for (uint32_t k = 0; k < per_server; k++) {
            switches[group->switch_count++] = job->gpus + server * per_server + k;
        }
    }
    group->switches = switches;
    if (job->compat && group->type == NCCL_GROUP_TP) {
        group->node_count = (group->rank_count - 1) / job->gpus_per_server + 1; /* not those it really touches */
    }
    return ORR_OK;
}

static enum orr_status fill_group(const struct nccl_job *job, const struct progression *from, struct arena *arena,
                                  struct nccl_group *group, struct orr_error *err)
{
    uint32_t *ranks = arena_alloc(arena, (uint64_t)from->count * sizeof *ranks);
    if (ranks == NULL) {
        return mem_error(arena->mem, "the ranks of a group", err);
    }
    for (uint32_t i = 0; i < from->count; i++) {
        ranks[i] = from->first + i * from->stride;
    }
    group->ranks = ranks;
    group->rank_count = from->count;
    return add_servers(job, arena, group, err);
}

/* One block of a family: its groups, then the copies that share their arrays. */
static enum orr_status fill_block(const struct nccl_job *job, const struct family *family, uint32_t block,
                                  struct arena *arena, struct nccl_group *groups, uint32_t at, struct orr_error *err)
{
    for (uint32_t position = 0; position < family->positions; position++) {
        struct nccl_group *group = &groups[at + position];
        *group = (struct nccl_group){.type = family->type};
        struct progression from = {block * family->block_step + position * family->position_step, family->stride,
                                   family->count};
        enum orr_status status = fill_group(job, &from, arena, group, err);
        if (status != ORR_OK) {
            return status;
        }
    }
    for (uint32_t copy = 1; copy < family->copies; copy++) {
        memcpy(&groups[at + copy * family->positions], &groups[at], family->positions * sizeof *groups);
    }
    return ORR_OK;
}

enum orr_status nccl_groups_build(const struct nccl_job *job, struct arena *arena, struct nccl_group **groups,
                                  uint32_t *count, struct orr_error *err)
{
    enum orr_status status = check_job(job, err);
    if (status != ORR_OK) {
        return status;
    }
    struct family families[NCCL_GROUP_TYPES];
    nccl_groups_describe(job, families);
    uint64_t total = 0;
    for (uint32_t i = 0; i < NCCL_GROUP_TYPES; i++) {
        total += (uint64_t)families[i].blocks * families[i].positions * families[i].copies;
    }
    struct nccl_group *made = arena_alloc(arena, total * sizeof *made);
    if (made == NULL) {
        return mem_error(arena->mem, "the groups of a job", err);
    }
    uint32_t at = 0;
    for (uint32_t i = 0; i < NCCL_GROUP_TYPES && status == ORR_OK; i++) {
        for (uint32_t block = 0; block < families[i].blocks && status == ORR_OK; block++) {
            status = fill_block(job, &families[i], block, arena, made, at, err);
            at += families[i].positions * families[i].copies;
        }
    }
    if (status != ORR_OK) {
        return status;
    }
    for (uint32_t i = 0; i < at; i++) {
        made[i].index = i;
    }
    *groups = made;
    *count = at;
    return ORR_OK;
}

static bool has_rank(const struct nccl_group *group, uint32_t rank)
{
    uint32_t first = group->ranks[0];
    uint32_t stride = group->ranks[1] - first;
    return rank >= first && (rank - first) % stride == 0 && (rank - first) / stride < group->rank_count;
}

const struct nccl_group *nccl_group_find(const struct nccl_group *groups, uint32_t count, enum nccl_group_type type,
                                         uint32_t rank)
{
    for (uint32_t i = count; i > 0; i--) {
        if (groups[i - 1].type == type && has_rank(&groups[i - 1], rank)) {
            return &groups[i - 1];
        }
    }
    return NULL;
}

static int by_rank(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a;
    uint32_t y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

enum orr_status nccl_group_build(const struct nccl_job *job, const uint32_t *ranks, uint32_t count, struct arena *arena,
                                 struct nccl_group *group, struct orr_error *err)
{
    struct nccl_group made = {.type = group->type, .index = group->index, .rank_count = count};
    uint32_t *copy = arena_alloc(arena, (uint64_t)count * sizeof *copy);
    if (copy == NULL) {
        return mem_error(arena->mem, "the ranks of a group", err);
    }
    memcpy(copy, ranks, count * sizeof *copy);
    qsort(copy, count, sizeof *copy, by_rank);
    for (uint32_t i = 0; i < count; i++) {
        if (copy[i] >= job->gpus || (i > 0 && copy[i] == copy[i - 1])) {
            return error_set(err, ORR_EINVAL, "rank %u is %s", copy[i],
                             copy[i] >= job->gpus ? "not one of the job's GPUs" : "twice in its group");
        }
    }
    made.ranks = copy;
    enum orr_status status = add_servers(job, arena, &made, err);
    if (status == ORR_OK) {
        *group = made;
    }
    return status;
}
