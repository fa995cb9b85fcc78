/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A block is what one flow carries: of a ring's laps, the part that began at one place of one channel's ring; of all
 * others, one chunk of one channel. Blocks hold a single number each, and their bytes must be the same wherever they
 * go, and add up to the collective's.
 *
 * Whoever waits for nothing more is carried out last come, first served: chains run ahead as far as their dependencies
 * let them, which is as far from the order of the list as one gets.
 */
#include "api/doctor/flows.h"

#include <inttypes.h>

#include "api/doctor/stage.h"

enum { CHUNK = 96, BYTES_FOR_EACH = 192 }; /* several chunks a channel where the algorithm has chunks */

struct scene {
    const struct doctor_flow_act *act;
    struct arena *arena;
    struct nccl_job job;
    struct nccl_group group;
    struct nccl_channels channels;
    struct nccl_flows flows;
    struct nccl_switch_trees trees;
    uint32_t *position; /* of a rank in the ring of a channel: ring_count x gpus */
    uint32_t *rank_at;  /* the inverse */
    uint32_t block_count;
    uint64_t bytes;
    uint64_t *block_bytes;
    int64_t *values; /* nodes x blocks */
    uint32_t node_count;
};

static bool laps(const struct doctor_flow_act *act)
{
    return act->algo == NCCL_RING &&
           (act->type == COLL_ALL_REDUCE || act->type == COLL_ALL_GATHER || act->type == COLL_REDUCE_SCATTER);
}

static int64_t *value(const struct scene *scene, uint32_t node, uint32_t block)
{
    return &scene->values[(size_t)node * scene->block_count + block];
}

static uint32_t block_of(const struct scene *scene, const struct nccl_flow *flow)
{
    uint32_t n = scene->act->gpus;
    if (!laps(scene->act)) {
        return flow->channel * flow->chunk_count + flow->chunk;
    }
    uint32_t at = scene->position[(flow->channel % scene->channels.ring_count) * n + flow->src];
    return flow->channel * n + (at + 2 * n - flow->chunk % n) % n;
}

/* Two levels of switches: a root, and below it one for so many servers, the same for all channels. */
static enum orr_status build_trees(struct scene *scene, struct nccl_choice *choice, struct orr_error *err)
{
    uint32_t each = scene->act->heads_on_switch;
    uint32_t servers = scene->group.node_count;
    uint32_t switches = 1 + (servers + each - 1) / each;
    uint32_t *first = arena_alloc(scene->arena, (choice->channels + UINT64_C(1)) * sizeof *first);
    uint32_t *up = arena_alloc(scene->arena, (size_t)choice->channels * switches * sizeof *up);
    uint32_t *leaf = arena_alloc(scene->arena, (size_t)choice->channels * servers * sizeof *leaf);
    if (first == NULL || up == NULL || leaf == NULL) {
        return mem_error(scene->arena->mem, "a collective acted out", err);
    }
    for (uint32_t c = 0; c < choice->channels; c++) {
        first[c] = c * switches;
        for (uint32_t i = 0; i < switches; i++) {
            up[first[c] + i] = first[c];
        }
        for (uint32_t s = 0; s < servers; s++) {
            leaf[c * servers + s] = first[c] + 1 + s / each;
        }
    }
    first[choice->channels] = choice->channels * switches;
    scene->trees = (struct nccl_switch_trees){.first = first, .up = up, .leaf = leaf};
    choice->trees = &scene->trees;
    return ORR_OK;
}

static enum orr_status build(struct scene *scene, struct orr_error *err)
{
    const struct doctor_flow_act *act = scene->act;
    uint32_t ranks[DOCTOR_BLOCKS_MOST];
    uint32_t count = 0;
    for (uint32_t i = 0; i < act->gpus; i++) {
        if (act->members == 0 || (act->members >> i & 1) != 0) {
            ranks[count++] = i;
        }
    }
    scene->job = (struct nccl_job){.gpus = act->gpus,
                                   .gpus_per_server = act->gpus_per_server,
                                   .switches_per_server = act->is_meshed ? 0 : 1,
                                   .tp = act->gpus,
                                   .ep = 1,
                                   .has_nvls = true,
                                   .as_nccl = true,
                                   .nvls = act->algo == NCCL_NVLS};
    enum orr_status status = nccl_group_build(&scene->job, ranks, count, scene->arena, &scene->group, err);
    if (status == ORR_OK) {
        status = nccl_channels_build(&scene->job, &scene->group, scene->arena, &scene->channels, err);
    }
    if (status != ORR_OK) {
        return status;
    }
    scene->bytes = (uint64_t)BYTES_FOR_EACH * act->gpus * act->gpus_per_server;
    struct nccl_choice choice = nccl_choose(&scene->job, &scene->group, act->type, scene->bytes);
    choice.algo = act->algo;
    choice.root = act->root;
    choice.chunk_bytes = laps(act) ? 0 : CHUNK;
    if (act->heads_on_switch > 0) {
        status = build_trees(scene, &choice, err);
        if (status != ORR_OK) {
            return status;
        }
    }
    return nccl_flows_build(&scene->job, &scene->group, &scene->channels, &choice, act->type, scene->bytes,
                            scene->arena, &scene->flows, err);
}

/* Follows each ring from rank 0 on. */
static enum orr_status walk_rings(struct scene *scene, struct orr_error *err)
{
    const struct nccl_channels *channels = &scene->channels;
    uint32_t n = scene->act->gpus;
    size_t places = (size_t)channels->ring_count * n;
    scene->position = arena_zalloc(scene->arena, places * sizeof *scene->position);
    scene->rank_at = arena_zalloc(scene->arena, places * sizeof *scene->rank_at);
    if (scene->position == NULL || scene->rank_at == NULL) {
        return mem_error(scene->arena->mem, "a collective acted out", err);
    }
    for (uint32_t c = 0; c < channels->ring_count; c++) {
        uint32_t rank = 0;
        for (uint32_t i = 0; i < n; i++) {
            scene->position[c * n + rank] = i;
            scene->rank_at[c * n + i] = rank;
            rank = channels->rings[c * n + rank].next; /* the group is all ranks, so places are ranks */
        }
        if (rank != 0) {
            return error_set(err, ORR_EFAIL, "the ring of channel %" PRIu32 " does not close after %" PRIu32 " ranks",
                             c, n);
        }
    }
    return ORR_OK;
}

static enum orr_status measure_blocks(struct scene *scene, struct orr_error *err)
{
    const struct nccl_flows *flows = &scene->flows;
    for (uint32_t i = 0; i < flows->count; i++) {
        const struct nccl_flow *flow = &flows->flows[i];
        uint32_t block = block_of(scene, flow);
        uint32_t node = flow->src > flow->dst ? flow->src : flow->dst;
        scene->block_count = block >= scene->block_count ? block + 1 : scene->block_count;
        scene->node_count = node >= scene->node_count ? node + 1 : scene->node_count;
    }
    scene->block_bytes = arena_zalloc(scene->arena, scene->block_count * sizeof *scene->block_bytes);
    scene->values = arena_zalloc(scene->arena, (size_t)scene->node_count * scene->block_count * sizeof *scene->values);
    if (scene->block_bytes == NULL || scene->values == NULL) {
        return mem_error(scene->arena->mem, "a collective acted out", err);
    }
    uint64_t total = 0;
    for (uint32_t i = 0; i < flows->count; i++) {
        const struct nccl_flow *flow = &flows->flows[i];
        uint64_t *bytes = &scene->block_bytes[block_of(scene, flow)];
        total += *bytes == 0 ? flow->bytes : 0;
        *bytes = *bytes == 0 ? flow->bytes : *bytes;
        if (*bytes != flow->bytes) {
            return error_set(err, ORR_EFAIL, "a block of %" PRIu64 " bytes goes on with %" PRIu64, *bytes, flow->bytes);
        }
    }
    return total == scene->bytes
               ? ORR_OK
               : error_set(err, ORR_EFAIL, "%" PRIu64 " of %" PRIu64 " bytes are sent", total, scene->bytes);
}

/* The rank that begins an all-gather with the block, or ends a reduce-scatter with it. */
static uint32_t owner(const struct scene *scene, uint32_t block)
{
    uint32_t n = scene->act->gpus;
    uint32_t began = block % n;
    uint32_t place = scene->act->type == COLL_REDUCE_SCATTER ? (began + n - 1) % n : began;
    return scene->rank_at[(block / n % scene->channels.ring_count) * n + place];
}

static bool doctor_flows_begins_with(const struct scene *scene, uint32_t rank, uint32_t block)
{
    switch (scene->act->type) {
    case COLL_ALL_GATHER:
        return owner(scene, block) == rank;
    case COLL_BROADCAST:
        return rank == scene->act->root;
    default:
        return true;
    }
}

static bool doctor_flows_ends_with(const struct scene *scene, uint32_t rank, uint32_t block)
{
    switch (scene->act->type) {
    case COLL_REDUCE_SCATTER:
        return owner(scene, block) == rank;
    case COLL_REDUCE:
        return rank == scene->act->root;
    default:
        return true;
    }
}

static void carry(const struct scene *scene, const struct nccl_flow *flow, bool spoil)
{
    uint32_t block = block_of(scene, flow);
    int64_t sent = *value(scene, flow->src, block) + (spoil ? 1 : 0);
    int64_t *to = value(scene, flow->dst, block);
    *to = flow->reduces ? *to + sent : sent;
}

static enum orr_status doctor_flows_run(struct scene *scene, uint64_t spoiled, struct orr_error *err)
{
    const struct nccl_flows *flows = &scene->flows;
    uint32_t *waits = arena_alloc(scene->arena, flows->count * sizeof *waits);
    uint32_t *ready = arena_alloc(scene->arena, flows->count * sizeof *ready);
    uint32_t ready_count = 0;
    uint64_t done = 0;
    if (waits == NULL || ready == NULL) {
        return mem_error(scene->arena->mem, "a collective acted out", err);
    }
    for (uint32_t i = 0; i < flows->count; i++) {
        waits[i] = flows->flows[i].parent_count;
        if (waits[i] == 0) {
            ready[ready_count++] = i;
        }
    }
    while (ready_count > 0) {
        const struct nccl_flow *flow = &flows->flows[ready[--ready_count]];
        carry(scene, flow, ++done == spoiled);
        for (uint32_t k = 0; k < flow->child_count; k++) {
            uint32_t child = flows->links[flow->children + k];
            if (--waits[child] == 0) {
                ready[ready_count++] = child;
            }
        }
    }
    return done == flows->count ? ORR_OK
                                : error_set(err, ORR_EFAIL, "%" PRIu64 " of %" PRIu32 " messages can never be sent",
                                            flows->count - done, flows->count);
}

static enum orr_status doctor_flows_check_values(const struct scene *scene, struct orr_error *err)
{
    uint32_t n = scene->group.rank_count;
    for (uint32_t b = 0; b < scene->block_count; b++) {
        int64_t want = 0;
        int64_t mean = 0;
        for (uint32_t i = 0; i < n; i++) {
            uint32_t rank = scene->group.ranks[i];
            want += doctor_flows_begins_with(scene, rank, b) ? doctor_number(n, rank, b, 0) : 0;
            mean += doctor_number(n, rank, b, 0) / n;
        }
        for (uint32_t i = 0; i < n; i++) {
            uint32_t rank = scene->group.ranks[i];
            int64_t got = *value(scene, rank, b);
            bool averages = scene->act->type != COLL_ALL_REDUCE || (got % n == 0 && got / n == mean);
            if (doctor_flows_ends_with(scene, rank, b) && (got != want || !averages)) {
                return error_set(err, ORR_EFAIL, "block %" PRIu32 " is %" PRId64 " at rank %" PRIu32 ", not %" PRId64,
                                 b, got, rank, want);
            }
        }
    }
    return ORR_OK;
}

enum orr_status doctor_flow_act_run(const struct doctor_flow_act *act, uint64_t spoiled, struct arena *arena,
                                    uint64_t *messages, struct orr_error *err)
{
    struct scene scene = {.act = act, .arena = arena};
    *messages = 0;
    enum orr_status status = build(&scene, err);
    if (status == ORR_OK) {
        *messages = scene.flows.count;
        status = act->members == 0 ? walk_rings(&scene, err) : ORR_OK;
    }
    if (status == ORR_OK) {
        status = measure_blocks(&scene, err);
    }
    if (status != ORR_OK) {
        return status;
    }
    for (uint32_t i = 0; i < scene.group.rank_count; i++) {
        uint32_t rank = scene.group.ranks[i];
        for (uint32_t b = 0; b < scene.block_count; b++) {
            *value(&scene, rank, b) =
                doctor_flows_begins_with(&scene, rank, b) ? doctor_number(scene.group.rank_count, rank, b, 0) : -1;
        }
    }
    status = doctor_flows_run(&scene, spoiled, err);
    return status == ORR_OK ? doctor_flows_check_values(&scene, err) : status;
}
