/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reductions in the NVLink switch. All-gather: the switch multicasts each rank's part. Reduce-scatter: it sums each
 * rank's part.
 *
 * All-reduce: each channel has one rank of each server as its head: the switch gives the server's sum to the head, the
 * heads add up over the tree of the servers, and each head has its switch multicast the result. So a GPU's link carries
 * the buffer and one head's part of it, both ways. Two channels per head, one for each of the two trees; on one server
 * (NVLS) there is no tree and one channel per head. SimAI has the switch send each sum to all at once on one server,
 * and on several chooses NVLS and then sends nothing.
 */
#include "coll/nccl_parts.h"

enum { CHUNKS = 4 };

uint64_t nccl_nvls_chunks(const struct nccl_builder *builder, uint64_t bytes)
{
    uint64_t chunk = builder->choice->chunk_bytes;
    if (builder->job->compat || (chunk == 0 && bytes >= CHUNKS)) {
        return CHUNKS;
    }
    return chunk == 0 ? bytes : nccl_chunk_count(bytes, chunk);
}

uint32_t nccl_nvls_gather(struct nccl_builder *builder, uint32_t lo, uint32_t hi, uint32_t to, struct nccl_flow like)
{
    uint32_t first = builder->flows->count;
    like.dst = to;
    like.reduces = true;
    like.prev = nccl_builder_prev(builder, to);
    like.prev_count = 1;
    for (uint32_t i = lo; i < hi; i++) {
        like.src = builder->group->ranks[i];
        (void)nccl_builder_add(builder, like);
    }
    return first;
}

void nccl_nvls_wait_for(struct nccl_builder *builder, uint32_t first, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        nccl_builder_parent(builder, first + i);
    }
}

void nccl_nvls_multicast(struct nccl_builder *builder, uint32_t lo, uint32_t hi, uint32_t from, uint32_t first,
                         uint32_t count, struct nccl_flow like)
{
    like.src = from;
    like.prev = builder->prev_count;
    like.prev_count = count;
    for (uint32_t i = 0; i < count; i++) {
        (void)nccl_builder_prev(builder, builder->flows->flows[first + i].src);
    }
    uint32_t one = NCCL_NO_FLOW;
    for (uint32_t i = lo; i < hi; i++) {
        like.dst = builder->group->ranks[i];
        uint32_t id = nccl_builder_add(builder, like);
        if (one == NCCL_NO_FLOW) {
            nccl_nvls_wait_for(builder, first, count);
            one = id;
        } else {
            nccl_builder_parents_of(builder, one);
        }
    }
}

enum orr_status nccl_nvls_reserve(struct nccl_builder *builder, uint64_t times, uint64_t flows, uint64_t parents,
                                  uint64_t prevs, struct orr_error *err)
{
    return nccl_builder_reserve(builder, nccl_times(times, flows), nccl_times(times, parents), nccl_times(times, prevs),
                                err);
}

/* SimAI's: all ranks to the switch, the switch to all ranks. */
static enum orr_status star_all_reduce(struct nccl_builder *builder, uint64_t bytes, struct orr_error *err)
{
    const struct nccl_group *group = builder->group;
    uint32_t n = group->rank_count;
    uint32_t switches = group->switch_count;
    bool compat = builder->job->compat;
    uint64_t chunks = nccl_nvls_chunks(builder, nccl_share(bytes, switches, 0));
    enum orr_status status =
        nccl_nvls_reserve(builder, chunks * switches, UINT64_C(2) * n, (uint64_t)n * n, n + UINT64_C(1), err);
    for (uint64_t k = 0; k < chunks && status == ORR_OK; k++) {
        for (uint32_t j = 0; j < switches; j++) {
            struct nccl_flow like = nccl_piece(nccl_share(bytes, switches, j), chunks, k, j, NCCL_CONN_NVLS);
            if (compat) {
                like.bytes = bytes / chunks;
                like.channel = 0;
            }
            if (compat || like.bytes > 0) {
                uint32_t first = nccl_nvls_gather(builder, 0, n, group->switches[j], like);
                nccl_nvls_multicast(builder, 0, n, group->switches[j], first, n, like);
            }
        }
    }
    return status;
}

/* One rank's part of an all-gather: to the switch, and from it to all others. */
static void gather_part(struct nccl_builder *builder, uint32_t owner, uint32_t by, const struct nccl_flow *like)
{
    uint32_t n = builder->group->rank_count;
    uint32_t first = nccl_nvls_gather(builder, owner, owner + 1, by, *like);
    nccl_nvls_multicast(builder, 0, owner, by, first, 1, *like);
    nccl_nvls_multicast(builder, owner + 1, n, by, first, 1, *like);
}

static void scatter_part(struct nccl_builder *builder, uint32_t owner, uint32_t by, const struct nccl_flow *like)
{
    uint32_t n = builder->group->rank_count;
    uint32_t first = nccl_nvls_gather(builder, 0, n, by, *like);
    nccl_nvls_multicast(builder, owner, owner + 1, by, first, n, *like);
}

static enum orr_status star_parts(struct nccl_builder *builder, enum coll_type type, uint64_t bytes,
                                  struct orr_error *err)
{
    const struct nccl_group *group = builder->group;
    uint32_t n = group->rank_count;
    uint64_t chunks = nccl_nvls_chunks(builder, nccl_share(bytes, n, 0));
    enum orr_status status =
        nccl_nvls_reserve(builder, chunks, (uint64_t)n * (n + 1), (uint64_t)n * n, (uint64_t)n * (n + 2), err);
    for (uint64_t k = 0; k < chunks && status == ORR_OK; k++) {
        for (uint32_t owner = 0; owner < n; owner++) {
            uint32_t j = owner % group->switch_count;
            struct nccl_flow like = nccl_piece(nccl_share(bytes, n, owner), chunks, k, j, NCCL_CONN_NVLS);
            if (like.bytes == 0) {
                continue;
            }
            if (type == COLL_ALL_GATHER) {
                gather_part(builder, owner, group->switches[j], &like);
            } else {
                scatter_part(builder, owner, group->switches[j], &like);
            }
        }
    }
    return status;
}

enum orr_status nccl_nvls_flows(struct nccl_builder *builder, enum coll_type type, uint64_t bytes,
                                struct orr_error *err)
{
    if (builder->group->node_count > 1) {
        return builder->job->compat ? nccl_builder_reserve(builder, 0, 0, 0, err)
                                    : error_set(err, ORR_EINVAL,
                                                "NVLS reaches the GPUs of one server, and this group is on %u: use "
                                                "nvls-tree (all-reduce) or ring",
                                                builder->group->node_count);
    }
    if (builder->group->switch_count == 0) {
        return error_set(err, ORR_EINVAL, "NVLS needs an NVLink switch, and the servers have none: use ring or tree");
    }
    if (type != COLL_ALL_REDUCE) {
        return star_parts(builder, type, bytes, err);
    }
    return builder->job->as_nccl ? nccl_nvls_tree_flows(builder, bytes, err) : star_all_reduce(builder, bytes, err);
}

/* One channel of NVLS_TREE: which servers, their heads and what they last sent or got. */
struct forest {
    const uint32_t *first; /* of each server in group.ranks */
    uint32_t servers;
    uint32_t tree, head, channel;
    uint32_t *order;             /* servers, the root first, each after the one above it */
    uint32_t *summed, *up, *got; /* flows: switch to head, head to the head above, the head above to this one */
};

static uint32_t head_of(const struct nccl_builder *builder, const struct forest *forest, uint32_t server)
{
    uint32_t lo = forest->first[server];
    return builder->group->ranks[lo + forest->head % (forest->first[server + 1] - lo)];
}

uint32_t nccl_nvls_switch(const struct nccl_builder *builder, uint32_t servers, uint32_t server, uint32_t channel)
{
    uint32_t per_server = builder->group->switch_count / servers;
    return builder->group->switches[server * per_server + channel % per_server];
}

static void order_servers(struct forest *forest)
{
    uint32_t found = 0;
    for (uint32_t s = 0; s < forest->servers && found == 0; s++) {
        if (nccl_server_tree(forest->servers, forest->tree, s).up == NCCL_NO_SERVER) {
            forest->order[found++] = s;
        }
    }
    for (uint32_t i = 0; i < found; i++) {
        struct nccl_server_node node = nccl_server_tree(forest->servers, forest->tree, forest->order[i]);
        for (uint32_t k = 0; k < 2; k++) {
            if (node.child[k] != NCCL_NO_SERVER) {
                forest->order[found++] = node.child[k];
            }
        }
    }
}

/* Parents of what a head sends on when its server and those below it have been added up. */
static void wait_for_sum(struct nccl_builder *builder, const struct forest *forest, uint32_t server,
                         const struct nccl_server_node *node)
{
    nccl_builder_parent(builder, forest->summed[server]);
    for (uint32_t k = 0; k < 2; k++) {
        if (node->child[k] != NCCL_NO_SERVER) {
            nccl_builder_parent(builder, forest->up[node->child[k]]);
        }
    }
}

static void server_up(struct nccl_builder *builder, struct forest *forest, uint32_t server, struct nccl_flow like)
{
    uint32_t lo = forest->first[server];
    uint32_t hi = forest->first[server + 1];
    uint32_t by = nccl_nvls_switch(builder, forest->servers, server, forest->channel);
    uint32_t first = nccl_nvls_gather(builder, lo, hi, by, like);
    like.src = by;
    like.dst = head_of(builder, forest, server);
    forest->summed[server] = nccl_builder_add(builder, like);
    nccl_nvls_wait_for(builder, first, hi - lo);
    struct nccl_server_node node = nccl_server_tree(forest->servers, forest->tree, server);
    if (node.up != NCCL_NO_SERVER) {
        like.src = like.dst;
        like.dst = head_of(builder, forest, node.up);
        like.connection = NCCL_CONN_TREE;
        like.reduces = true;
        forest->up[server] = nccl_builder_add(builder, like);
        wait_for_sum(builder, forest, server, &node);
    }
}

/* Parents of what a head sends when it has the result. */
static void wait_for_result(struct nccl_builder *builder, const struct forest *forest, uint32_t server,
                            const struct nccl_server_node *node)
{
    if (node->up == NCCL_NO_SERVER) {
        wait_for_sum(builder, forest, server, node);
    } else {
        nccl_builder_parent(builder, forest->got[server]);
    }
}

static void server_down(struct nccl_builder *builder, struct forest *forest, uint32_t server, struct nccl_flow like)
{
    struct nccl_server_node node = nccl_server_tree(forest->servers, forest->tree, server);
    uint32_t by = nccl_nvls_switch(builder, forest->servers, server, forest->channel);
    struct nccl_flow across = like;
    across.connection = NCCL_CONN_TREE;
    across.src = head_of(builder, forest, server);
    for (uint32_t k = 0; k < 2; k++) {
        if (node.child[k] != NCCL_NO_SERVER) {
            across.dst = head_of(builder, forest, node.child[k]);
            forest->got[node.child[k]] = nccl_builder_add(builder, across);
            wait_for_result(builder, forest, server, &node);
        }
    }
    like.src = across.src;
    like.dst = by;
    uint32_t handed = nccl_builder_add(builder, like);
    wait_for_result(builder, forest, server, &node);
    nccl_nvls_multicast(builder, forest->first[server], forest->first[server + 1], by, handed, 1, like);
}

static enum orr_status nccl_nvls_prepare(struct nccl_builder *builder, struct forest *forest, uint32_t *heads,
                                         struct orr_error *err)
{
    uint32_t *first = NULL;
    uint32_t servers = 0;
    uint32_t *work = NULL;
    enum orr_status status = nccl_servers_of(builder->job, builder->group, builder->arena, &first, &servers, err);
    if (status == ORR_OK) {
        status = nccl_builder_work(builder, UINT64_C(4) * servers, sizeof *work, &work, err);
    }
    if (status != ORR_OK) {
        return status;
    }
    *forest = (struct forest){.first = first,
                              .servers = servers,
                              .order = work,
                              .summed = work + servers,
                              .up = work + 2 * (size_t)servers,
                              .got = work + 3 * (size_t)servers};
    *heads = NCCL_MAX_CHANNELS / 2;
    for (uint32_t s = 0; s < servers; s++) {
        uint32_t local = first[s + 1] - first[s];
        *heads = local < *heads ? local : *heads;
    }
    return ORR_OK;
}

static void nccl_nvls_one_channel(struct nccl_builder *builder, struct forest *forest, uint64_t bytes)
{
    uint64_t chunks = nccl_nvls_chunks(builder, bytes);
    order_servers(forest);
    for (uint64_t k = 0; k < chunks; k++) {
        struct nccl_flow like = nccl_piece(bytes, chunks, k, forest->channel, NCCL_CONN_NVLS);
        for (uint32_t i = forest->servers; i > 0; i--) {
            server_up(builder, forest, forest->order[i - 1], like);
        }
        for (uint32_t i = 0; i < forest->servers; i++) {
            server_down(builder, forest, forest->order[i], like);
        }
    }
}

enum orr_status nccl_nvls_tree_flows(struct nccl_builder *builder, uint64_t bytes, struct orr_error *err)
{
    if (builder->job->compat || builder->group->switch_count == 0) {
        return builder->job->compat
                   ? nccl_builder_reserve(builder, 0, 0, 0, err)
                   : error_set(err, ORR_EINVAL,
                               "NVLS needs an NVLink switch, and the servers have none: use ring or tree");
    }
    struct forest forest;
    uint32_t heads = 0;
    enum orr_status status = nccl_nvls_prepare(builder, &forest, &heads, err);
    if (status != ORR_OK) {
        return status;
    }
    uint32_t channels = forest.servers > 1 ? 2 * heads : heads;
    uint64_t times = nccl_nvls_chunks(builder, nccl_share(bytes, channels, 0)) * channels;
    uint64_t flows = UINT64_C(2) * builder->group->rank_count + UINT64_C(4) * forest.servers;
    uint64_t parents = UINT64_C(2) * builder->group->rank_count + UINT64_C(16) * forest.servers;
    status = nccl_nvls_reserve(builder, times, flows, parents, UINT64_C(2) * forest.servers, err);
    for (uint32_t c = 0; c < channels && status == ORR_OK; c++) {
        forest.channel = c;
        forest.tree = c / heads;
        forest.head = c % heads;
        nccl_nvls_one_channel(builder, &forest, nccl_share(bytes, channels, c));
    }
    return status;
}
