/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Messages between streams, which are nearly all messages there are: counted, not kept (struct sim_lane says why that
 * is enough). Where a run needs to tell messages apart, the same calls go through message.c.
 */
#include "sim/lanes.h"

static uint32_t lane_get(struct sim *sim, uint32_t src, uint32_t dst, int32_t tag, uint64_t bytes)
{
    if (sim->symmetry != NULL && src != 0) { /* to rank 0, for all: from it, as far as that */
        dst = src;
        src = 0;
    }
    uint32_t index = sim_routes_find(&sim->lane_routes, sim->lanes.at, src, dst, tag, bytes);
    if (index != 0) {
        return index;
    }
    index = sim_lanes_take(&sim->lanes, sim->mem, &sim->queue.failed);
    sim->lanes.at[index] = (struct sim_lane){0};
    struct sim_route route = {.src = src, .dst = dst, .tag = tag, .bytes = bytes};
    if (index != 0 && !sim_routes_add(&sim->lane_routes, sim->lanes.at, index, &route, &sim->net, sim->mem)) {
        sim_fail_memory(sim);
    }
    return index;
}

void sim_lane_close_if_idle(struct sim *sim, uint32_t index)
{
    const struct sim_lane *lane = &sim->lanes.at[index];
    if ((lane->under_way | lane->early | lane->waiting | lane->users) != 0 || index == 0) {
        return;
    }
    sim_routes_remove(&sim->lane_routes, sim->lanes.at, index, &sim->net);
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
