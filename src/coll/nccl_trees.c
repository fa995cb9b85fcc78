/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two binary trees over the servers, the second with every server's number one higher, so that who is a leaf in one has
 * children in the other. Inside a server the channel's ranks form a chain below the one that talks to other servers.
 *
 * The tree is the one in which a walk from left to right meets 0, 1, 2, …: a server is as high as the zeros at the end
 * of its number plus one are many, its children stand half that power of two to the left and right. Where the right
 * child would be past the end, what is left of its subtree hangs there instead: the highest one of it.
 * (SimAI joins neighbours in fours instead; the trees are the same. NCCL's own has server 0 on top of it, which SimAI's
 * second tree has for powers of two.)
 */
#include <stdlib.h>

#include "coll/nccl_parts.h"

/* Largest power of two that divides n > 0. */
static uint32_t low_bit(uint32_t n)
{
    return n & (~n + 1);
}

static uint32_t right_child(uint32_t count, uint32_t server, uint32_t half)
{
    for (uint32_t step = half; step > 0; step /= 2) {
        if (server + step < count) {
            return server + step;
        }
    }
    return NCCL_NO_SERVER;
}

static uint32_t nccl_trees_root_of(uint32_t count)
{
    uint32_t power = 1;
    while (power <= count / 2) {
        power *= 2;
    }
    return power - 1;
}

static struct nccl_server_node first_tree(uint32_t count, uint32_t server)
{
    uint32_t half = low_bit(server + 1) / 2;
    struct nccl_server_node node = {{NCCL_NO_SERVER, NCCL_NO_SERVER}, NCCL_NO_SERVER};
    if (half > 0) {
        node.child[0] = server - half;
        node.child[1] = right_child(count, server, half);
    }
    uint32_t up = nccl_trees_root_of(count);
    while (up != server) { /* down from the root: as deep as the tree is high */
        node.up = up;
        up = server < up ? up - low_bit(up + 1) / 2 : right_child(count, up, low_bit(up + 1) / 2);
    }
    return node;
}

struct nccl_server_node nccl_server_tree(uint32_t count, uint32_t tree, uint32_t server)
{
    if (tree == 0) {
        return first_tree(count, server);
    }
    struct nccl_server_node node = first_tree(count, (server + count - 1) % count);
    for (uint32_t i = 0; i < 2; i++) {
        node.child[i] = node.child[i] == NCCL_NO_SERVER ? NCCL_NO_SERVER : (node.child[i] + 1) % count;
    }
    node.up = node.up == NCCL_NO_SERVER ? NCCL_NO_SERVER : (node.up + 1) % count;
    return node;
}

/* Links the places of one server into its chain and the first of them to other servers. */
static void fill_server(const struct nccl_group *group, const uint32_t *first, uint32_t servers, uint32_t channel,
                        uint32_t server, struct nccl_tree_place *places)
{
    uint32_t lo = first[server];
    uint32_t local = first[server + 1] - lo;
    uint32_t ring = channel / 2;
    for (uint32_t i = 0; i + 1 < local; i++) {
        struct nccl_tree_place *above = &places[lo + (ring + i) % local];
        struct nccl_tree_place *below = &places[lo + (ring + i + 1) % local];
        above->down[above->down_count++] = below->rank;
        below->up = above->rank;
    }
    struct nccl_server_node node = nccl_server_tree(servers, channel % 2, server);
    struct nccl_tree_place *head = &places[lo + ring % local];
    for (uint32_t i = 0; i < 2; i++) {
        uint32_t child = node.child[i];
        if (child != NCCL_NO_SERVER) {
            uint32_t width = first[child + 1] - first[child];
            head->down[head->down_count++] = group->ranks[first[child] + ring % width];
        }
    }
    if (node.up != NCCL_NO_SERVER) {
        uint32_t width = first[node.up + 1] - first[node.up];
        head->up = group->ranks[first[node.up] + ring % width];
    }
}

void nccl_trees_fill(const struct nccl_group *group, uint32_t servers, const uint32_t *first, uint32_t rings,
                     struct nccl_tree_place *trees)
{
    for (uint32_t channel = 0; channel < 2 * rings; channel++) {
        struct nccl_tree_place *places = trees + (size_t)channel * group->rank_count;
        for (uint32_t i = 0; i < group->rank_count; i++) {
            places[i] = (struct nccl_tree_place){.rank = group->ranks[i], .up = -1};
        }
        for (uint32_t server = 0; server < servers; server++) {
            fill_server(group, first, servers, channel, server, places);
        }
    }
}
