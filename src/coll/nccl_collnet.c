/* SPDX-License-Identifier: Apache-2.0 */
/*
 * All-reduce in the switches of the network (NCCL's CollNet over SHARP). Each channel has one rank of each server as
 * its head, as with NVLS: the server's own switch, or where it has none the head itself, adds up what the server's
 * ranks have. The heads give their sums to the switches they hang on; a switch adds up what comes from below and gives
 * it to the one above, and the root's sum comes down the same tree. So a head's link carries its channel's part once
 * each way, however many servers there are; a ring's carries it nearly twice.
 *
 * Chunks are laid out one after the other, all alike: what one chunk's flow is, the same place of the next chunk is
 * again.
 */
#include "coll/nccl_parts.h"

/* One channel: its tree, and which flows of the present chunk came from where. */
struct net_tree {
    const uint32_t *first; /* of each server in group.ranks */
    uint32_t servers;
    uint32_t channel;
    uint32_t root, end;   /* places of the tree's switches */
    const uint32_t *up;   /* by place */
    const uint32_t *leaf; /* by server */
    uint32_t number;      /* of the switch at place 0 */
    bool has_switches;    /* inside the servers */
    /* What is below each switch of the tree, by place less root: the first, and by server and place the one after. */
    uint32_t *first_server, *next_server, *first_child, *next_child;
    uint32_t *sent, *got;  /* flows by server: head to its switch, the switch to it */
    uint32_t *rose, *fell; /* flows by place less root: to the switch above, from it */
};

static uint32_t net_head_of(const struct nccl_builder *builder, const struct net_tree *tree, uint32_t server)
{
    uint32_t lo = tree->first[server];
    return builder->group->ranks[lo + tree->channel % (tree->first[server + 1] - lo)];
}

/* ---- inside a server ---- */

/* The other ranks of the head's server to it; returns how many. */
static uint32_t gather_at_head(struct nccl_builder *builder, uint32_t lo, uint32_t hi, uint32_t head,
                               struct nccl_flow like)
{
    uint32_t at = nccl_rank_place(builder->group->ranks, builder->group->rank_count, head);
    (void)nccl_nvls_gather(builder, lo, at, head, like);
    (void)nccl_nvls_gather(builder, at + 1, hi, head, like);
    return hi - lo - 1;
}

static void net_server_up(struct nccl_builder *builder, struct net_tree *tree, uint32_t server, struct nccl_flow like)
{
    uint32_t lo = tree->first[server];
    uint32_t hi = tree->first[server + 1];
    uint32_t head = net_head_of(builder, tree, server);
    uint32_t first = builder->flows->count;
    uint32_t count = 0;
    if (hi - lo > 1 && tree->has_switches) {
        struct nccl_flow inside = like;
        inside.connection = NCCL_CONN_NVLS;
        inside.src = nccl_nvls_switch(builder, tree->servers, server, tree->channel);
        inside.dst = head;
        (void)nccl_nvls_gather(builder, lo, hi, inside.src, inside);
        uint32_t summed = nccl_builder_add(builder, inside);
        nccl_nvls_wait_for(builder, first, hi - lo);
        first = summed;
        count = 1;
    } else if (hi - lo > 1) {
        count = gather_at_head(builder, lo, hi, head, like);
    }
    like.src = head;
    like.dst = tree->number + tree->leaf[server];
    like.reduces = true;
    tree->sent[server] = nccl_builder_add(builder, like);
    nccl_nvls_wait_for(builder, first, count);
}

static void net_server_down(struct nccl_builder *builder, const struct net_tree *tree, uint32_t server,
                            struct nccl_flow like)
{
    uint32_t lo = tree->first[server];
    uint32_t hi = tree->first[server + 1];
    uint32_t head = net_head_of(builder, tree, server);
    if (hi - lo < 2) {
        return;
    }
    if (!tree->has_switches) {
        uint32_t at = nccl_rank_place(builder->group->ranks, builder->group->rank_count, head);
        nccl_nvls_multicast(builder, lo, at, head, tree->got[server], 1, like);
        nccl_nvls_multicast(builder, at + 1, hi, head, tree->got[server], 1, like);
        return;
    }
    like.connection = NCCL_CONN_NVLS;
    like.src = head;
    like.dst = nccl_nvls_switch(builder, tree->servers, server, tree->channel);
    uint32_t handed = nccl_builder_add(builder, like);
    nccl_builder_parent(builder, tree->got[server]);
    nccl_nvls_multicast(builder, lo, hi, like.dst, handed, 1, like);
}

/* ---- between the servers ---- */

static void hang(struct net_tree *tree)
{
    uint32_t count = tree->end - tree->root;
    for (uint32_t i = 0; i < count; i++) {
        tree->first_server[i] = NCCL_NO_SERVER;
        tree->first_child[i] = NCCL_NO_FLOW;
    }
    for (uint32_t s = tree->servers; s > 0; s--) {
        uint32_t at = tree->leaf[s - 1] - tree->root;
        tree->next_server[s - 1] = tree->first_server[at];
        tree->first_server[at] = s - 1;
    }
    for (uint32_t i = count; i > 1; i--) {
        uint32_t above = tree->up[tree->root + i - 1] - tree->root;
        tree->next_child[i - 1] = tree->first_child[above];
        tree->first_child[above] = i - 1;
    }
}

/* Parents of what a switch sends when all below it has been added up. */
static void net_wait_for_below(struct nccl_builder *builder, const struct net_tree *tree, uint32_t at)
{
    for (uint32_t s = tree->first_server[at]; s != NCCL_NO_SERVER; s = tree->next_server[s]) {
        nccl_builder_parent(builder, tree->sent[s]);
    }
    for (uint32_t child = tree->first_child[at]; child != NCCL_NO_FLOW; child = tree->next_child[child]) {
        nccl_builder_parent(builder, tree->rose[child]);
    }
}

/* One of the copies that a switch hands out; all wait for the same. */
static uint32_t hand_down(struct nccl_builder *builder, const struct net_tree *tree, uint32_t at, uint32_t one,
                          struct nccl_flow like)
{
    uint32_t id = nccl_builder_add(builder, like);
    if (one != NCCL_NO_FLOW) {
        nccl_builder_parents_of(builder, one);
    } else if (at == 0) {
        net_wait_for_below(builder, tree, at);
    } else {
        nccl_builder_parent(builder, tree->fell[at]);
    }
    return id;
}

static void switch_down(struct nccl_builder *builder, struct net_tree *tree, uint32_t at, struct nccl_flow like)
{
    uint32_t one = NCCL_NO_FLOW;
    like.src = tree->number + tree->root + at;
    for (uint32_t child = tree->first_child[at]; child != NCCL_NO_FLOW; child = tree->next_child[child]) {
        like.dst = tree->number + tree->root + child;
        tree->fell[child] = hand_down(builder, tree, at, one, like);
        one = one == NCCL_NO_FLOW ? tree->fell[child] : one;
    }
    for (uint32_t s = tree->first_server[at]; s != NCCL_NO_SERVER; s = tree->next_server[s]) {
        like.dst = net_head_of(builder, tree, s);
        tree->got[s] = hand_down(builder, tree, at, one, like);
        one = one == NCCL_NO_FLOW ? tree->got[s] : one;
    }
}

static void net_one_chunk(struct nccl_builder *builder, struct net_tree *tree, struct nccl_flow like)
{
    for (uint32_t s = 0; s < tree->servers; s++) {
        net_server_up(builder, tree, s, like);
    }
    for (uint32_t at = tree->end - tree->root - 1; at > 0; at--) {
        struct nccl_flow rising = like;
        rising.src = tree->number + tree->root + at;
        rising.dst = tree->number + tree->up[tree->root + at];
        rising.reduces = true;
        tree->rose[at] = nccl_builder_add(builder, rising);
        net_wait_for_below(builder, tree, at);
    }
    for (uint32_t at = 0; at < tree->end - tree->root; at++) {
        switch_down(builder, tree, at, like);
    }
    for (uint32_t s = 0; s < tree->servers; s++) {
        net_server_down(builder, tree, s, like);
    }
}

/* ---- the whole ---- */

/* A switch for each channel, which all its heads hang on. */
static enum orr_status nccl_collnet_flat(struct nccl_builder *builder, uint32_t servers,
                                         struct nccl_switch_trees *trees, struct orr_error *err)
{
    uint32_t channels = builder->choice->channels;
    uint32_t *places = NULL;
    uint32_t *leaf = NULL;
    enum orr_status status = nccl_builder_work(builder, channels + UINT64_C(1), sizeof *places, &places, err);
    if (status == ORR_OK) {
        status = nccl_builder_work(builder, (uint64_t)channels * servers, sizeof *leaf, &leaf, err);
    }
    for (uint32_t c = 0; c <= channels && status == ORR_OK; c++) {
        places[c] = c;
    }
    for (size_t i = 0; i < (size_t)channels * servers && status == ORR_OK; i++) {
        leaf[i] = (uint32_t)(i / servers);
    }
    *trees = (struct nccl_switch_trees){.first = places, .up = places, .leaf = leaf};
    return status;
}

static enum orr_status nccl_collnet_prepare(struct nccl_builder *builder, struct net_tree *tree,
                                            const struct nccl_switch_trees *trees, struct orr_error *err)
{
    uint64_t most = 0;
    for (uint32_t c = 0; c < builder->choice->channels; c++) {
        uint32_t switches = trees->first[c + 1] - trees->first[c];
        most = switches > most ? switches : most;
    }
    uint32_t *work = NULL;
    enum orr_status status =
        nccl_builder_work(builder, 5 * most + 3 * (uint64_t)tree->servers, sizeof *work, &work, err);
    if (status == ORR_OK) {
        uint32_t **by_place[] = {&tree->first_server, &tree->first_child, &tree->next_child, &tree->rose, &tree->fell};
        uint32_t **by_server[] = {&tree->next_server, &tree->sent, &tree->got};
        for (size_t i = 0; i < sizeof by_place / sizeof by_place[0]; i++) {
            *by_place[i] = work + i * most;
        }
        for (size_t i = 0; i < sizeof by_server / sizeof by_server[0]; i++) {
            *by_server[i] = work + 5 * most + i * tree->servers;
        }
    }
    return status;
}

/* Flows and their parents of one chunk of the channel whose tree is `tree`; entries of prev lists are not more. */
static void nccl_collnet_count(const struct nccl_builder *builder, const struct net_tree *tree, uint64_t *flows,
                               uint64_t *parents)
{
    uint64_t ranks = builder->group->rank_count;
    uint64_t switches = tree->end - tree->root;
    uint64_t at_root = 0; /* what is below the root, all of which all its copies wait for */
    for (uint32_t s = 0; s < tree->servers; s++) {
        at_root += tree->leaf[s] == tree->root;
    }
    for (uint32_t at = 1; at < switches; at++) {
        at_root += tree->up[tree->root + at] == tree->root;
    }
    *flows = 2 * ranks + UINT64_C(4) * tree->servers + 2 * switches;
    /* Children are counted for each copy by itself. */
    *parents = 4 * *flows + at_root * at_root;
}

static void take_channel(struct net_tree *tree, const struct nccl_switch_trees *trees, uint32_t channel)
{
    tree->channel = channel;
    tree->root = trees->first[channel];
    tree->end = trees->first[channel + 1];
    tree->leaf = trees->leaf + (size_t)channel * tree->servers;
}

static enum orr_status nccl_collnet_reserve(struct nccl_builder *builder, struct net_tree *tree,
                                            const struct nccl_switch_trees *trees, uint64_t bytes,
                                            struct orr_error *err)
{
    uint32_t channels = builder->choice->channels;
    uint64_t all_flows = 0;
    uint64_t all_parents = 0;
    for (uint32_t c = 0; c < channels; c++) {
        uint64_t flows = 0;
        uint64_t parents = 0;
        uint64_t chunks = nccl_nvls_chunks(builder, nccl_share(bytes, channels, c));
        take_channel(tree, trees, c);
        nccl_collnet_count(builder, tree, &flows, &parents);
        all_flows += nccl_times(chunks, flows);
        all_parents += nccl_times(chunks, parents);
    }
    return nccl_builder_reserve(builder, all_flows, all_parents, all_flows, err);
}

static void nccl_collnet_one_channel(struct nccl_builder *builder, struct net_tree *tree, uint64_t bytes)
{
    uint64_t chunks = nccl_nvls_chunks(builder, bytes);
    hang(tree);
    for (uint64_t k = 0; k < chunks; k++) {
        net_one_chunk(builder, tree, nccl_piece(bytes, chunks, k, tree->channel, NCCL_CONN_COLLNET));
    }
}

enum orr_status nccl_collnet_flows(struct nccl_builder *builder, uint64_t bytes, struct orr_error *err)
{
    if (builder->job->compat) {
        return error_set(err, ORR_EINVAL, "SimAI has no reductions in the network's switches: use ring");
    }
    const struct nccl_switch_trees *trees = builder->choice->trees;
    uint32_t channels = builder->choice->channels;
    struct net_tree tree = {.number = nccl_first_tree_switch(builder->job),
                            .has_switches = builder->group->switch_count > 0};
    struct nccl_switch_trees flat;
    uint32_t *first = NULL;
    enum orr_status status = nccl_servers_of(builder->job, builder->group, builder->arena, &first, &tree.servers, err);
    if (status == ORR_OK && trees == NULL) {
        status = nccl_collnet_flat(builder, tree.servers, &flat, err);
        trees = &flat;
    }
    if (status == ORR_OK) {
        status = nccl_collnet_prepare(builder, &tree, trees, err);
    }
    if (status != ORR_OK) {
        return status;
    }
    tree.first = first;
    tree.up = trees->up;
    status = nccl_collnet_reserve(builder, &tree, trees, bytes, err);
    for (uint32_t c = 0; c < channels && status == ORR_OK; c++) {
        take_channel(&tree, trees, c);
        nccl_collnet_one_channel(builder, &tree, nccl_share(bytes, channels, c));
    }
    return status;
}
