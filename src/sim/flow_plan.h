/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One of NCCL's lists of flows (coll/nccl.h) as the streams that carry it out read it: who sends and receives what in
 * which order, shared by all ranks and chunks. Made by flow_plans.c in the run's arena, read by flows.c; nobody else
 * looks inside.
 */
#ifndef ORR_SIM_FLOW_PLAN_H
#define ORR_SIM_FLOW_PLAN_H

#include <stdbool.h>
#include <stdint.h>

struct sim_flow {
    uint64_t bytes;
    uint32_t src, dst;     /* ranks, or switches by their numbers in the network */
    uint32_t from;         /* the rank that sends it: src, or the one that acts for the switch */
    uint32_t line;         /* in which it is received */
    uint32_t next_in_line; /* what its sender sends when it has arrived; SIM_NONE: nothing */
    uint32_t first_child, child_count;
    uint32_t send_at, recv_at; /* place among the sends of src, among the receives of dst */
    uint32_t step_ns;          /* of the protocol, before what waits for it may go */
    uint32_t connection;       /* of its ends; 0 = none */
    bool reduces;
};

struct sim_flow_plan {
    uint32_t count, member_count;
    uint32_t start_ns; /* of the protocol, before the first send */
    struct sim_flow *flows;
    uint32_t *children;
    const uint32_t *ranks; /* ascending */
    uint32_t *parents;     /* of each send, in the order of `sends` */
    uint32_t *sends, *recvs;
    uint32_t *send_first, *recv_first; /* by member, one more at the end */
};

/* Place of a rank among the members, which are in ascending order. */
static inline uint32_t sim_flows_member_of(const struct sim_flow_plan *plan, uint32_t rank)
{
    uint32_t lo = 0;
    uint32_t hi = plan->member_count;
    while (lo + 1 < hi) {
        uint32_t middle = lo + (hi - lo) / 2;
        if (plan->ranks[middle] <= rank) {
            lo = middle;
        } else {
            hi = middle;
        }
    }
    return lo;
}

#endif
