/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A ring visits the servers in order and, in channel c, the ranks of each server from its c-th one on: so that every
 * rank is once the one that talks to the next server, and all its network cards are used. There are as many channels as
 * the server with the fewest ranks of the group has, and no more than NCCL allows.
 *
 * Network cards of the same number are on one rail, and what changes rails crosses the switches above them. NCCL turns
 * the rings of every other server round for that reason (its release notes for 2.20: rings over several cards without
 * cross-rail traffic): what leaves a server by its last rank enters the next one by the rank of the same place. With an
 * odd number of servers the way from the last to the first one still changes rails; PXN takes it (nccl_ring.c).
 *
 * SimAI turns no server round (nccl_job.as_nccl says which is wanted), and divides the group by the number of its
 * servers instead of looking where the ranks are; under compat the ranks that are left over by that division have no
 * place in a ring, as there.
 */
#include <stdlib.h>

#include "coll/nccl_parts.h"

static enum orr_status even_servers(const struct nccl_group *group, struct arena *arena, uint32_t **first,
                                    uint32_t *count, struct orr_error *err)
{
    uint32_t *at = arena_alloc(arena, (group->node_count + UINT64_C(1)) * sizeof *at);
    if (at == NULL) {
        return mem_error(arena->mem, "the servers of a group", err);
    }
    for (uint32_t i = 0; i <= group->node_count; i++) {
        at[i] = i * (group->rank_count / group->node_count);
    }
    *first = at;
    *count = group->node_count;
    return ORR_OK;
}

enum orr_status nccl_servers_of(const struct nccl_job *job, const struct nccl_group *group, struct arena *arena,
                                uint32_t **first, uint32_t *count, struct orr_error *err)
{
    if (job->compat) {
        return even_servers(group, arena, first, count, err);
    }
    uint32_t *at = arena_alloc(arena, (group->node_count + UINT64_C(1)) * sizeof *at);
    if (at == NULL) {
        return mem_error(arena->mem, "the servers of a group", err);
    }
    uint32_t servers = 0;
    for (uint32_t i = 0; i < group->rank_count; i++) {
        if (i == 0 || nccl_server_of(job, group->ranks[i]) != nccl_server_of(job, group->ranks[i - 1])) {
            at[servers++] = i;
        }
    }
    at[servers] = group->rank_count;
    *first = at;
    *count = servers;
    return ORR_OK;
}

/* One channel's way through the servers. */
struct course {
    const uint32_t *first; /* of each server in the group's ranks */
    uint32_t servers;
    uint32_t ring;
    bool turns; /* every other server is visited the other way round */
};

/* Where among the group's ranks the step-th one visited in a server is. */
static uint32_t visited(const struct course *course, uint32_t server, uint32_t step)
{
    uint32_t lo = course->first[server];
    uint32_t local = course->first[server + 1] - lo;
    uint32_t place = course->turns && server % 2 == 1 ? local - 1 - step : step;
    return local == 0 ? 0 : lo + (course->ring + place) % local;
}

static void fill_ring(const struct nccl_group *group, const struct course *course, struct nccl_ring_place *places)
{
    uint32_t last = course->servers - 1;
    uint32_t prev = group->ranks[visited(course, last, course->first[last + 1] - course->first[last] - 1)];
    for (uint32_t s = 0; s < course->servers; s++) {
        uint32_t local = course->first[s + 1] - course->first[s];
        uint32_t across = group->ranks[visited(course, s == last ? 0 : s + 1, 0)];
        for (uint32_t i = 0; i < local; i++) {
            struct nccl_ring_place *place = &places[visited(course, s, i)];
            place->rank = group->ranks[visited(course, s, i)];
            place->prev = prev;
            place->next = i + 1 < local ? group->ranks[visited(course, s, i + 1)] : across;
            place->node_recv = group->ranks[visited(course, s, 0)];
            place->node_send = group->ranks[visited(course, s, local - 1)];
            prev = place->rank;
        }
    }
}

enum orr_status nccl_channels_build(const struct nccl_job *job, const struct nccl_group *group, struct arena *arena,
                                    struct nccl_channels *channels, struct orr_error *err)
{
    if (group->rank_count < 2) {
        return error_set(err, ORR_EINVAL, "a group of %u ranks has no channels", group->rank_count);
    }
    uint32_t *first = NULL;
    uint32_t servers = 0;
    enum orr_status status = nccl_servers_of(job, group, arena, &first, &servers, err);
    if (status != ORR_OK || first == NULL) {
        return status;
    }
    struct nccl_channels made = {.rank_count = group->rank_count, .ring_size = first[servers]};
    made.ring_count = job->compat ? UINT32_MAX : NCCL_MAX_CHANNELS;
    for (uint32_t s = 0; s < servers; s++) {
        uint32_t local = first[s + 1] - first[s];
        made.ring_count = local < made.ring_count ? local : made.ring_count;
    }
    made.tree_count = 2 * made.ring_count;
    uint64_t ring_places = (uint64_t)made.ring_count * made.ring_size;
    uint64_t tree_places = (uint64_t)made.tree_count * made.rank_count;
    struct nccl_ring_place *rings = arena_alloc(arena, ring_places * sizeof *rings);
    struct nccl_tree_place *trees = arena_alloc(arena, tree_places * sizeof *trees);
    if (rings == NULL || trees == NULL) {
        return mem_error(arena->mem, "the channels of a group", err);
    }
    for (uint32_t c = 0; c < made.ring_count; c++) {
        struct course course = {.first = first, .servers = servers, .ring = c, .turns = job->as_nccl};
        fill_ring(group, &course, rings + (size_t)c * made.ring_size);
    }
    nccl_trees_fill(group, servers, first, made.ring_count, trees);
    made.rings = rings;
    made.trees = trees;
    *channels = made;
    return ORR_OK;
}
