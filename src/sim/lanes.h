/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What happens to a lane for every message: so short and so frequent that it is inline. Opening, finding and closing
 * lanes is in lanes.c.
 */
#ifndef ORR_SIM_LANES_H
#define ORR_SIM_LANES_H

#include "sim/engine.h"

/* Rank 0 for all (sim/symmetry.h): what leaves for a rank so many places on comes from as many places back. */
static inline void sim_lane_push_folded(struct sim *sim, uint32_t index)
{
    const struct sim_route *route = &sim->lanes.at[index].route;
    struct event_cause here = sim->queue.cause;
    sim->queue.cause.origin = net_fold_moved(&sim->net, here.origin, sim->symmetry->move | route->dst);
    (void)event_queue_push(&sim->queue, sim->queue.now + route->delay_ns, SIM_EVENT_LANE_ARRIVAL, index, 0);
    sim->queue.cause = here;
}

static inline void sim_lane_send(struct sim *sim, uint32_t index)
{
    struct sim_lane *lane = &sim->lanes.at[index];
    sim->result.messages++;
    lane->route.sent++;
    lane->under_way++;
    if (sim->net.contention) {
        net_send(&sim->net, index | SIM_LANE_FLAG, lane->route.src, lane->route.dst, lane->route.bytes, 1.0);
    } else if (__builtin_expect(sim->order.watched && sim->symmetry != NULL, 0)) {
        sim_lane_push_folded(sim, index);
    } else {
        (void)event_queue_push(&sim->queue, sim->queue.now + lane->route.delay_ns, SIM_EVENT_LANE_ARRIVAL, index, 0);
    }
}

static inline void sim_lane_recv(struct sim *sim, uint32_t index, uint32_t stream)
{
    struct sim_lane *lane = &sim->lanes.at[index];
    if (__builtin_expect(sim->symmetry != NULL, 0)) {
        sim_symmetry_lane(sim, index);
    }
    lane->receiver = stream;
    if (__builtin_expect(lane->early == 0, 1)) {
        lane->waiting++;
        return;
    }
    lane->early--;
    (void)event_queue_push(&sim->queue, sim->queue.now, SIM_EVENT_LANE_LATE_RECV, stream, 0);
}

static inline void sim_lane_arrived(struct sim *sim, uint32_t index)
{
    struct sim_lane *lane = &sim->lanes.at[index];
    if (__builtin_expect(sim->symmetry != NULL, 0)) {
        sim_symmetry_lane(sim, index);
    }
    lane->under_way--;
    if (__builtin_expect(lane->waiting == 0, 0)) {
        lane->early++;
        return;
    }
    lane->waiting--;
    uint32_t receiver = lane->receiver;
    if (lane->users == 0) {
        sim_lane_close_if_idle(sim, index);
    }
    sim_phase_received(sim, receiver);
}

#endif
