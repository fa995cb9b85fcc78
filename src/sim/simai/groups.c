/* SPDX-License-Identifier: Apache-2.0 */
/* Every rank's group of each type. With pipeline stages the groups of one stage are those of a job of that size; the
 * other stages' are the same, further on. */
#include <inttypes.h>

#include "sim/simai/engine.h"

static bool make_tables(struct simai *simai)
{
    for (unsigned type = 0; type < NCCL_GROUP_TYPES; type++) {
        simai->group_of[type] = arena_alloc(&simai->arena, (size_t)simai->rank_count * sizeof *simai->group_of[type]);
        simai->place_of[type] = arena_zalloc(&simai->arena, (size_t)simai->rank_count * sizeof *simai->place_of[type]);
        if (simai->group_of[type] == NULL || simai->place_of[type] == NULL) {
            return false;
        }
        for (uint32_t rank = 0; rank < simai->rank_count; rank++) {
            simai->group_of[type][rank] = UINT32_MAX;
        }
    }
    return true;
}

/* A later group of the same ranks takes their place, as in SimAI. */
static void simai_groups_enter(struct simai *simai, uint32_t index)
{
    const struct nccl_group *group = &simai->groups[index].nccl;
    for (uint32_t i = 0; i < group->rank_count; i++) {
        simai->group_of[group->type][group->ranks[i]] = index;
        simai->place_of[group->type][group->ranks[i]] = i;
    }
}

static enum orr_status shift_group(struct simai *simai, const struct nccl_group *from, uint32_t by,
                                   struct nccl_group *to, struct orr_error *err)
{
    uint32_t *ranks = arena_alloc(&simai->arena, (size_t)from->rank_count * sizeof *ranks);
    if (ranks == NULL) {
        return mem_error(simai->mem, "the groups", err);
    }
    for (uint32_t i = 0; i < from->rank_count; i++) {
        ranks[i] = from->ranks[i] + by;
    }
    enum orr_status status = nccl_group_build(&simai->config->job, ranks, from->rank_count, &simai->arena, to, err);
    to->type = from->type;
    to->index = from->index;
    return status;
}

enum orr_status simai_groups_make(struct simai *simai, struct orr_error *err)
{
    struct nccl_job stage = simai->config->job;
    struct nccl_group *groups = NULL;
    uint32_t stages = simai->config->program->stages;
    uint32_t count = 0;
    stage.gpus /= stages;
    enum orr_status status = nccl_groups_build(&stage, &simai->arena, &groups, &count, err);
    if (status != ORR_OK) {
        return status;
    }
    simai->groups = arena_zalloc(&simai->arena, (size_t)count * stages * sizeof *simai->groups);
    if (simai->groups == NULL || !make_tables(simai)) {
        return mem_error(simai->mem, "the groups", err);
    }
    for (uint32_t s = 0; s < stages; s++) {
        for (uint32_t i = 0; i < count && status == ORR_OK; i++) {
            struct nccl_group *made = &simai->groups[simai->group_count].nccl;
            if (stages == 1) {
                *made = groups[i];
            } else {
                status = shift_group(simai, &groups[i], s * stage.gpus, made, err);
            }
            if (status == ORR_OK) {
                simai_groups_enter(simai, simai->group_count++);
            }
        }
    }
    return status;
}
