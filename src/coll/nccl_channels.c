/*
 * A ring visits the servers in order and, in channel c, the ranks of each server from its c-th one on: so that every
 * rank is once the one that talks to the next server, and all its network cards are used. There are as many channels as
 * the server with the fewest ranks of the group has, and no more than NCCL allows.
 *
 * SimAI divides the group by the number of its servers instead of looking where the ranks are; under compat the ranks
 * that are left over by that division have no place in a ring, as there.
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

/* The place-th rank of a server whose ranks are lo..hi-1 of the group, in channel `ring`. */
static uint32_t local_rank(const struct nccl_group *group, uint32_t lo, uint32_t hi, uint32_t ring, uint32_t place)
{
    return lo < hi ? group->ranks[lo + (ring + place) % (hi - lo)] : 0;
}

static void fill_ring(const struct nccl_group *group, const uint32_t *first, uint32_t servers, uint32_t ring,
                      struct nccl_ring_place *places)
{
    uint32_t last = servers - 1;
    uint32_t prev = local_rank(group, first[last], first[servers], ring, first[servers] - first[last] - 1);
    for (uint32_t s = 0; s < servers; s++) {
        uint32_t lo = first[s];
        uint32_t hi = first[s + 1];
        uint32_t after = s == last ? 0 : s + 1;
        uint32_t across = local_rank(group, first[after], first[after + 1], ring, 0);
        for (uint32_t i = 0; i < hi - lo; i++) {
            struct nccl_ring_place *place = &places[lo + (ring + i) % (hi - lo)];
            place->rank = local_rank(group, lo, hi, ring, i);
            place->prev = prev;
            place->next = i + 1 < hi - lo ? local_rank(group, lo, hi, ring, i + 1) : across;
            place->node_recv = local_rank(group, lo, hi, ring, 0);
            place->node_send = local_rank(group, lo, hi, ring, hi - lo - 1);
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
        fill_ring(group, first, servers, c, rings + (size_t)c * made.ring_size);
    }
    nccl_trees_fill(group, servers, first, made.ring_count, trees);
    made.rings = rings;
    made.trees = trees;
    *channels = made;
    return ORR_OK;
}
