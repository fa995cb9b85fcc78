/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What goes round the rings. All-reduce, all-gather and reduce-scatter: in each step every rank sends one chunk to the
 * next rank, and may do so when it has the previous rank's chunk of the step before. Broadcast and reduce: a chain
 * along the ring, begun and ended at the root, that many chunks follow one another through.
 *
 * By default no byte is lost to a division: the channels share the bytes, the ranks share a channel's, larger shares
 * first. At step s the rank at place p of the ring sends the chunk that rank p - s began with, so a chunk's size goes
 * round with it, and one of no bytes is left out in every step. Under compat all chunks have the rounded-down size.
 *
 * PXN: what would change rails on its way to the next server is handed over NVLink to the rank of the group that sits
 * on the receiver's rail, and that one sends it across. SimAI hands everything that leaves a server to the rank by
 * which the ring entered it.
 */
#include "coll/nccl_parts.h"

enum { CHAIN_CHUNK = 512 * 1024 }; /* NCCL's Simple protocol: a buffer of 4 MiB in 8 steps */

/* One channel's ring, ready to be walked. */
struct ring {
    const struct nccl_ring_place *places;
    uint32_t size;
    uint32_t channel;
    uint32_t *before;   /* place of the previous rank */
    uint32_t *position; /* how far along the ring from place 0 */
    uint32_t *order;    /* the place at each position */
    uint32_t *last;     /* last flow across, by the place it left from */
    uint32_t *prevs;    /* first of the two prev entries of a place */
    uint32_t *relay;    /* who hands on what a place sends, or the place's own rank */
    bool pxn;
};

static enum orr_status nccl_ring_prepare(struct nccl_builder *builder, struct ring *ring, struct orr_error *err)
{
    uint32_t size = builder->channels->ring_size;
    uint32_t *work = NULL;
    enum orr_status status = nccl_builder_work(builder, UINT64_C(6) * size, sizeof *work, &work, err);
    if (status != ORR_OK) {
        return status;
    }
    *ring = (struct ring){.size = size,
                          .before = work,
                          .position = work + size,
                          .order = work + 2 * (size_t)size,
                          .last = work + 3 * (size_t)size,
                          .prevs = work + 4 * (size_t)size,
                          .relay = work + 5 * (size_t)size};
    ring->pxn = builder->choice->pxn && builder->group->node_count > 1;
    return ORR_OK;
}

static uint32_t nccl_ring_place_of(const struct ring *ring, uint32_t rank)
{
    uint32_t lo = 0;
    uint32_t hi = ring->size;
    while (lo + 1 < hi) {
        uint32_t middle = lo + (hi - lo) / 2;
        if (ring->places[middle].rank <= rank) {
            lo = middle;
        } else {
            hi = middle;
        }
    }
    return lo;
}

/* Who hands on to the next server what a place sends there; the place's own rank where the way is straight. */
static uint32_t relay_of(const struct nccl_builder *builder, const struct ring *ring,
                         const struct nccl_ring_place *place)
{
    if (!ring->pxn || place->node_send != place->rank) {
        return place->rank;
    }
    return builder->job->compat ? place->node_recv : nccl_relay_of(builder, place->rank, place->next);
}

static void open_channel(struct nccl_builder *builder, struct ring *ring, uint32_t channel)
{
    const struct nccl_channels *channels = builder->channels;
    ring->channel = channel;
    ring->places = channels->rings + (size_t)(channel % channels->ring_count) * channels->ring_size;
    for (uint32_t i = 0, at = 0; i < ring->size; i++) {
        ring->position[at] = i;
        ring->order[i] = at;
        uint32_t next = nccl_ring_place_of(ring, ring->places[at].next);
        ring->before[next] = at;
        at = next;
    }
    for (uint32_t i = 0; i < ring->size; i++) {
        ring->relay[i] = relay_of(builder, ring, &ring->places[i]);
    }
    for (uint32_t i = 0; i < ring->size; i++) {
        const struct nccl_ring_place *place = &ring->places[i];
        ring->prevs[i] = nccl_builder_prev(builder, ring->relay[ring->before[i]]);
        (void)nccl_builder_prev(builder, place->rank);
        ring->last[i] = NCCL_NO_FLOW;
    }
}

/* One chunk from a place to the next; returns the flow that arrives there. */
static uint32_t hop(struct nccl_builder *builder, const struct ring *ring, uint32_t at, uint32_t parent,
                    const struct nccl_flow *like)
{
    const struct nccl_ring_place *place = &ring->places[at];
    struct nccl_flow flow = *like;
    flow.channel = ring->channel;
    flow.src = place->rank;
    flow.dst = place->next;
    flow.prev = ring->prevs[at];
    flow.prev_count = 1;
    flow.connection = NCCL_CONN_RING;
    if (ring->relay[at] == place->rank) {
        uint32_t id = nccl_builder_add(builder, flow);
        nccl_builder_parent(builder, parent);
        return id;
    }
    flow.dst = ring->relay[at];
    flow.reduces = false; /* only passed on */
    uint32_t inside = nccl_builder_add(builder, flow);
    nccl_builder_parent(builder, parent);
    flow.src = ring->relay[at];
    flow.dst = place->next;
    flow.prev = ring->prevs[at] + 1;
    flow.connection = like->connection;
    flow.reduces = like->reduces;
    uint32_t across = nccl_builder_add(builder, flow);
    nccl_builder_parent(builder, inside);
    return across;
}

/* What a round of a channel carries, and in how many steps. */
struct lap {
    uint64_t bytes;
    uint64_t rounds, round;
    uint32_t steps;
    uint32_t reduce_steps; /* the first so many add up, the others hand on */
    bool reduce_scatter;
    bool compat;
};

static uint64_t chunk_bytes(const struct lap *lap, const struct ring *ring, uint32_t at, uint32_t step)
{
    if (lap->compat) {
        return lap->bytes;
    }
    uint64_t round_bytes = nccl_share(lap->bytes, lap->rounds, lap->round);
    uint32_t moved = step % ring->size;
    uint32_t began = (ring->position[at] + ring->size - moved) % ring->size;
    return nccl_share(round_bytes, ring->size, began);
}

static void one_step(struct nccl_builder *builder, struct ring *ring, const struct lap *lap, uint32_t step,
                     uint32_t *now)
{
    /* SimAI calls the hop across PXN_INIT, in a reduce-scatter only that of the first step. */
    bool named = !(lap->compat && lap->reduce_scatter && step > 0);
    struct nccl_flow like = {.chunk = (uint32_t)(lap->round * lap->steps + step),
                             .chunk_count = (uint32_t)(lap->rounds * lap->steps),
                             .connection = named ? NCCL_CONN_PXN_INIT : NCCL_CONN_RING,
                             .reduces = step < lap->reduce_steps};
    for (uint32_t at = 0; at < ring->size; at++) {
        like.bytes = chunk_bytes(lap, ring, at, step);
        now[at] = like.bytes == 0 ? NCCL_NO_FLOW : hop(builder, ring, at, ring->last[ring->before[at]], &like);
    }
}

static void nccl_ring_one_channel(struct nccl_builder *builder, struct ring *ring, struct lap *lap, uint32_t *other)
{
    for (lap->round = 0; lap->round < lap->rounds; lap->round++) {
        for (uint32_t step = 0; step < lap->steps; step++) {
            one_step(builder, ring, lap, step, other);
            uint32_t *old = ring->last;
            ring->last = other;
            other = old;
        }
    }
}

/* Bytes of a channel: all its ranks' chunks by default, one rank's under compat. */
static uint64_t channel_bytes(const struct nccl_builder *builder, uint64_t bytes, uint32_t channel)
{
    if (builder->job->compat) {
        return bytes / builder->group->rank_count / builder->choice->channels;
    }
    return nccl_share(bytes, builder->choice->channels, channel);
}

static uint64_t rounds_of(const struct nccl_builder *builder, uint64_t bytes)
{
    uint64_t chunk = builder->choice->chunk_bytes;
    uint64_t largest = nccl_share(bytes, builder->choice->channels, 0);
    if (chunk == 0 || builder->job->compat || largest == 0) {
        return 1;
    }
    return nccl_chunk_count(nccl_share(largest, builder->group->rank_count, 0), chunk);
}

enum orr_status nccl_ring_flows(struct nccl_builder *builder, enum coll_type type, uint64_t bytes,
                                struct orr_error *err)
{
    uint32_t ranks = builder->group->rank_count;
    uint32_t size = builder->channels->ring_size;
    uint32_t channels = builder->choice->channels;
    struct lap lap = {.rounds = rounds_of(builder, bytes),
                      .steps = type == COLL_ALL_REDUCE ? 2 * (ranks - 1) : ranks - 1,
                      .reduce_steps = type == COLL_ALL_GATHER ? 0 : ranks - 1,
                      .reduce_scatter = type == COLL_REDUCE_SCATTER,
                      .compat = builder->job->compat};
    struct ring ring;
    enum orr_status status = nccl_ring_prepare(builder, &ring, err);
    if (status != ORR_OK) {
        return status;
    }
    uint64_t across = ring.pxn ? builder->group->node_count : 0;
    uint64_t steps = nccl_times(lap.rounds, lap.steps);
    uint64_t flows = nccl_times(nccl_times(size + across, channels), steps);
    flows = channel_bytes(builder, bytes, 0) == 0 ? 0 : flows;
    status = nccl_builder_reserve(builder, flows, flows, UINT64_C(2) * size * channels, err);
    uint32_t *other = NULL;
    if (status == ORR_OK) {
        status = nccl_builder_work(builder, size, sizeof *other, &other, err);
    }
    uint32_t *last = ring.last;
    for (uint32_t c = 0; c < channels && status == ORR_OK && flows > 0; c++) {
        ring.last = last;
        open_channel(builder, &ring, c);
        lap.bytes = channel_bytes(builder, bytes, c);
        nccl_ring_one_channel(builder, &ring, &lap, other);
    }
    return status;
}

/* One channel of a broadcast or reduce: `bytes` from position `first` of the ring over all others. */
static void one_chain(struct nccl_builder *builder, const struct ring *ring, uint32_t first, uint64_t bytes,
                      uint64_t chunks, bool reduces)
{
    for (uint64_t k = 0; k < chunks; k++) {
        struct nccl_flow like = {.bytes = nccl_share(bytes, chunks, k),
                                 .chunk = (uint32_t)k,
                                 .chunk_count = (uint32_t)chunks,
                                 .connection = NCCL_CONN_PXN_INIT,
                                 .reduces = reduces};
        uint32_t parent = NCCL_NO_FLOW;
        for (uint32_t i = 0; i + 1 < ring->size; i++) {
            parent = hop(builder, ring, ring->order[(first + i) % ring->size], parent, &like);
        }
    }
}

enum orr_status nccl_chain_flows(struct nccl_builder *builder, enum coll_type type, uint64_t bytes,
                                 struct orr_error *err)
{
    uint32_t size = builder->channels->ring_size;
    uint32_t channels = builder->choice->channels;
    uint64_t chunk = builder->choice->chunk_bytes == 0 ? CHAIN_CHUNK : builder->choice->chunk_bytes;
    uint64_t chunks = nccl_chunk_count(nccl_share(bytes, channels, 0), chunk);
    struct ring ring;
    enum orr_status status = nccl_ring_prepare(builder, &ring, err);
    if (status != ORR_OK) {
        return status;
    }
    uint64_t hops = size - 1 + (ring.pxn ? builder->group->node_count : 0);
    uint64_t flows = nccl_times(nccl_times(chunks, hops), channels);
    status = nccl_builder_reserve(builder, flows, flows, UINT64_C(2) * size * channels, err);
    for (uint32_t c = 0; c < channels && status == ORR_OK; c++) {
        open_channel(builder, &ring, c);
        uint64_t share = nccl_share(bytes, channels, c);
        uint32_t root = ring.position[nccl_ring_place_of(&ring, builder->group->ranks[builder->choice->root])];
        bool reduces = type == COLL_REDUCE;
        one_chain(builder, &ring, reduces ? root + 1 : root, share, nccl_chunk_count(share, chunk), reduces);
    }
    return status;
}
