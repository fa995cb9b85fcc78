/* SPDX-License-Identifier: Apache-2.0 */
/*
 * All-reduce over double binary trees: in each tree a share of the bytes is summed towards the root and the sum handed
 * down again, in chunks that follow one another. A rank sends up when all below it have sent, and down as soon as the
 * sum has reached it.
 *
 * The chunk is NCCL's for the Simple protocol: half a megabyte, halved while the chunks are few compared with the depth
 * of the tree, because then the pipeline never fills.
 */
#include "coll/nccl_parts.h"

enum { LARGEST_CHUNK = 512 * 1024 };

/* One tree, in an order that begins at the root and has every rank after the one above it. */
struct walk {
    const struct nccl_tree_place *places;
    uint32_t count;
    uint32_t *order; /* places */
    uint32_t *depth;
    uint32_t *up;   /* the flow that a place sent up */
    uint32_t *down; /* the flow that it got from above */
};

static void open_tree(const struct nccl_builder *builder, struct walk *walk, uint32_t channel)
{
    const struct nccl_channels *channels = builder->channels;
    walk->places = channels->trees + (size_t)(channel % channels->tree_count) * channels->rank_count;
    uint32_t found = 0;
    for (uint32_t i = 0; i < walk->count && found == 0; i++) {
        if (walk->places[i].up < 0) {
            walk->order[found++] = i;
            walk->depth[i] = 0;
        }
    }
    for (uint32_t i = 0; i < found; i++) {
        const struct nccl_tree_place *place = &walk->places[walk->order[i]];
        for (uint32_t k = 0; k < place->down_count; k++) {
            uint32_t below = nccl_rank_place(builder->group->ranks, walk->count, place->down[k]);
            walk->order[found++] = below;
            walk->depth[below] = walk->depth[walk->order[i]] + 1;
        }
    }
}

static uint32_t nccl_tree_place_of(const struct nccl_builder *builder, const struct walk *walk, uint32_t rank)
{
    return nccl_rank_place(builder->group->ranks, walk->count, rank);
}

/* Parents of what `place` sends when it has heard from all below it. */
static void wait_for_below(struct nccl_builder *builder, const struct walk *walk, const struct nccl_tree_place *place)
{
    for (uint32_t k = 0; k < place->down_count; k++) {
        nccl_builder_parent(builder, walk->up[nccl_tree_place_of(builder, walk, place->down[k])]);
    }
}

static uint32_t prevs_below(struct nccl_builder *builder, const struct nccl_tree_place *place)
{
    uint32_t first = builder->prev_count;
    for (uint32_t k = 0; k < place->down_count; k++) {
        (void)nccl_builder_prev(builder, place->down[k]);
    }
    return first;
}

static void send_up(struct nccl_builder *builder, struct walk *walk, struct nccl_flow like)
{
    for (uint32_t i = walk->count; i > 1; i--) {
        uint32_t at = walk->order[i - 1];
        const struct nccl_tree_place *place = &walk->places[at];
        like.src = place->rank;
        like.dst = (uint32_t)place->up;
        like.reduces = true;
        like.prev = prevs_below(builder, place);
        like.prev_count = place->down_count;
        walk->up[at] = nccl_builder_add(builder, like);
        wait_for_below(builder, walk, place);
    }
}

static void send_down(struct nccl_builder *builder, struct walk *walk, struct nccl_flow like)
{
    for (uint32_t i = 0; i < walk->count; i++) {
        uint32_t at = walk->order[i];
        const struct nccl_tree_place *place = &walk->places[at];
        like.src = place->rank;
        like.prev = i == 0 ? prevs_below(builder, place) : nccl_builder_prev(builder, (uint32_t)place->up);
        like.prev_count = i == 0 ? place->down_count : 1;
        for (uint32_t k = 0; k < place->down_count; k++) {
            like.dst = place->down[k];
            uint32_t id = nccl_builder_add(builder, like);
            walk->down[nccl_tree_place_of(builder, walk, place->down[k])] = id;
            if (i == 0) {
                wait_for_below(builder, walk, place);
            } else {
                nccl_builder_parent(builder, walk->down[at]);
            }
        }
    }
}

static uint64_t chunk_for(uint64_t bytes, uint32_t depth)
{
    static const struct {
        uint32_t fill; /* chunks wanted per level */
        uint32_t least;
    } stages[] = {{8, 128 * 1024}, {4, 64 * 1024}, {1, 32 * 1024}};
    uint64_t chunk = LARGEST_CHUNK;
    for (uint32_t i = 0; i < sizeof stages / sizeof stages[0]; i++) {
        while (bytes / chunk < (uint64_t)depth * stages[i].fill && chunk > stages[i].least) {
            chunk /= 2;
        }
    }
    return chunk;
}

static enum orr_status nccl_tree_prepare(struct nccl_builder *builder, struct walk *walk, struct orr_error *err)
{
    uint32_t n = builder->channels->rank_count;
    uint32_t *work = NULL;
    enum orr_status status = nccl_builder_work(builder, UINT64_C(4) * n, sizeof *work, &work, err);
    if (status == ORR_OK) {
        *walk = (struct walk){
            .count = n, .order = work, .depth = work + n, .up = work + 2 * (size_t)n, .down = work + 3 * (size_t)n};
    }
    return status;
}

enum orr_status nccl_tree_flows(struct nccl_builder *builder, uint64_t bytes, struct orr_error *err)
{
    struct walk walk;
    enum orr_status status = nccl_tree_prepare(builder, &walk, err);
    if (status != ORR_OK) {
        return status;
    }
    uint32_t trees = 2 * builder->choice->channels;
    open_tree(builder, &walk, 0);
    uint64_t largest = nccl_share(bytes, trees, 0);
    uint64_t chunk = builder->choice->chunk_bytes;
    chunk = chunk == 0 ? chunk_for(largest, walk.depth[walk.order[walk.count - 1]] + 1) : chunk;
    uint64_t chunks = nccl_chunk_count(largest, chunk);
    uint64_t flows = nccl_times(nccl_times(UINT64_C(2) * (walk.count - 1), trees), chunks);
    /* Each edge of the tree is a parent once on the way up and once on the way down; the root's are for every child. */
    status = nccl_builder_reserve(builder, flows, flows + 9 * chunks * trees, flows + chunks * trees, err);
    for (uint32_t t = 0; t < trees && status == ORR_OK; t++) {
        open_tree(builder, &walk, t);
        uint64_t share = nccl_share(bytes, trees, t);
        uint64_t count = nccl_chunk_count(share, chunk);
        for (uint64_t k = 0; k < count; k++) {
            struct nccl_flow like = nccl_piece(share, count, k, t, NCCL_CONN_TREE);
            send_up(builder, &walk, like);
            send_down(builder, &walk, like);
        }
    }
    return status;
}
