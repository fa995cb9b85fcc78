/*
 * Messages between streams, which are nearly all messages there are: counted, not kept (struct sim_lane says why that
 * is enough). Where a run needs to tell messages apart, the same calls go through message.c.
 */
#include "sim/lanes.h"

static uint32_t lane_hash(const struct sim *sim, uint32_t src, uint32_t dst, int32_t tag, uint64_t bytes)
{
    uint64_t mixed = ((uint64_t)src << 32 | dst) * UINT64_C(0x9E3779B97F4A7C15);
    mixed ^= ((uint64_t)(uint32_t)tag << 32 ^ bytes) * UINT64_C(0xC2B2AE3D27D4EB4F);
    mixed ^= mixed >> 29;
    return (uint32_t)((mixed * UINT64_C(0x165667B19E3779F9)) >> 32) & sim->lane_bucket_mask;
}

static uint32_t *lane_bucket(const struct sim *sim, const struct sim_lane *lane)
{
    return &sim->lane_buckets[lane_hash(sim, lane->src, lane->dst, lane->tag, lane->bytes)];
}

static void widen_table(struct sim *sim)
{
    uint32_t old_count = sim->lane_bucket_mask + 1;
    uint32_t *wider = mem_zalloc(sim->mem, (size_t)old_count * 2 * sizeof *wider);
    if (wider == NULL) {
        sim_fail_memory(sim);
        return;
    }
    uint32_t *old = sim->lane_buckets;
    sim->lane_buckets = wider;
    sim->lane_bucket_mask = old_count * 2 - 1;
    for (uint32_t i = 0; i < old_count; i++) {
        uint32_t index = old[i];
        while (index != 0) {
            struct sim_lane *lane = &sim->lanes.at[index];
            uint32_t following = lane->chain;
            uint32_t *bucket = lane_bucket(sim, lane);
            lane->chain = *bucket;
            *bucket = index;
            index = following;
        }
    }
    mem_free(sim->mem, old, (size_t)old_count * sizeof *old);
}

static uint32_t lane_open(struct sim *sim, uint32_t src, uint32_t dst, int32_t tag, uint64_t bytes)
{
    uint32_t index = sim_lanes_take(&sim->lanes, sim->mem, &sim->queue.failed);
    struct sim_lane *lane = &sim->lanes.at[index];
    *lane = (struct sim_lane){.bytes = bytes, .src = src, .dst = dst, .tag = tag};
    if (index == 0) {
        return 0;
    }
    uint32_t *bucket = lane_bucket(sim, lane);
    lane->chain = *bucket;
    *bucket = index;
    if (!sim->net.contention) {
        struct net_path path = net_fixed_path(&sim->net, src, dst, bytes);
        lane->delay_ns = path.delay_ns;
        lane->serialise_ns = path.serialise_ns;
        lane->dim = (uint16_t)path.dim;
        lane->hops = (uint16_t)(path.hops < UINT16_MAX ? path.hops : UINT16_MAX);
    }
    if (++sim->lane_count > sim->lane_bucket_mask) {
        widen_table(sim);
    }
    return index;
}

static uint32_t lane_get(struct sim *sim, uint32_t src, uint32_t dst, int32_t tag, uint64_t bytes)
{
    uint32_t index = sim->lane_buckets[lane_hash(sim, src, dst, tag, bytes)];
    for (; index != 0; index = sim->lanes.at[index].chain) {
        const struct sim_lane *lane = &sim->lanes.at[index];
        if (lane->src == src && lane->dst == dst && lane->tag == tag && lane->bytes == bytes) {
            return index;
        }
    }
    return lane_open(sim, src, dst, tag, bytes);
}

static void lane_settle(struct sim *sim, struct sim_lane *lane)
{
    if (!sim->net.contention && lane->sent != 0) {
        struct net_dim_stats *stats = &sim->net.stats[lane->dim];
        stats->messages += lane->sent;
        stats->bytes += lane->sent * lane->bytes * lane->hops;
        stats->busy_ns += lane->sent * lane->serialise_ns * lane->hops;
    }
    lane->sent = 0;
}

void sim_lanes_settle(struct sim *sim)
{
    for (uint32_t bucket = 0; bucket <= sim->lane_bucket_mask; bucket++) {
        for (uint32_t index = sim->lane_buckets[bucket]; index != 0; index = sim->lanes.at[index].chain) {
            lane_settle(sim, &sim->lanes.at[index]);
        }
    }
}

void sim_lane_close_if_idle(struct sim *sim, uint32_t index)
{
    struct sim_lane *lane = &sim->lanes.at[index];
    if ((lane->under_way | lane->early | lane->waiting | lane->users) != 0 || index == 0) {
        return;
    }
    lane_settle(sim, lane);
    uint32_t *link = lane_bucket(sim, lane);
    while (*link != index) {
        link = &sim->lanes.at[*link].chain;
    }
    *link = lane->chain;
    sim->lane_count--;
    sim_lanes_give(&sim->lanes, index);
}

uint32_t sim_lane_hold(struct sim *sim, uint32_t src, uint32_t dst, int32_t tag, uint64_t bytes)
{
    uint32_t index = lane_get(sim, src, dst, tag, bytes);
    sim->lanes.at[index].users++;
    return index;
}

void sim_lane_drop(struct sim *sim, uint32_t index)
{
    sim->lanes.at[index].users--;
    sim_lane_close_if_idle(sim, index);
}

void sim_stream_send(struct sim *sim, uint32_t stream_index, uint32_t dst, uint64_t bytes)
{
    const struct sim_stream *stream = &sim->streams.at[stream_index];
    if (sim->use_lanes) {
        sim_lane_send(sim, lane_get(sim, stream->rank, dst, stream->tag, bytes));
    } else {
        sim_send(sim, stream->rank, dst, stream->tag, bytes, (struct sim_party){.kind = SIM_PARTY_NOBODY});
    }
}

void sim_stream_recv(struct sim *sim, uint32_t stream_index, uint32_t src, uint64_t bytes)
{
    const struct sim_stream *stream = &sim->streams.at[stream_index];
    if (sim->use_lanes) {
        uint32_t lane = lane_get(sim, src, stream->rank, stream->tag, bytes);
        sim_lane_recv(sim, lane, stream_index);
        sim_lane_close_if_idle(sim, lane);
    } else {
        sim_recv(sim, src, stream->rank, stream->tag, bytes,
                 (struct sim_party){.kind = SIM_PARTY_STREAM, .a = stream_index});
    }
}
