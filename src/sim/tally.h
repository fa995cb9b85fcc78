/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an executor adds up as it goes, into the one result (sim/result.h), whether it plays traces or the rows of a
 * workload: each rank's time by what was in flight, communications by kind, group and size, and intervals.
 *
 * A rank's time is split while it passes: as long as at least one operation of a kind is in flight its clock runs, so
 * no list of intervals is needed for totals. The arrays belong to the result and are given back by sim_tally_free.
 */
#ifndef ORR_SIM_TALLY_H
#define ORR_SIM_TALLY_H

#include "sim/result.h"

enum { SIM_TALLY_BUCKETS = 1024 };

/* Of a run. All zero at first. */
struct sim_tally {
    uint32_t collective_capacity, interval_capacity;
    uint32_t buckets[SIM_TALLY_BUCKETS]; /* index + 1 into result.collectives */
};

/* Of a rank: operations in flight by kind, and since when. All zero at first. */
struct sim_clock {
    uint64_t settled_ns;
    uint64_t active_since[SIM_OP_KINDS];
    uint32_t active[SIM_OP_KINDS];
};

/* The time since the last call goes to the first of compute, communication and, with `other`, something else. */
static inline void sim_clock_settle(struct sim_clock *clock, struct sim_rank_result *result, bool other,
                                    uint64_t now_ns)
{
    uint64_t passed = now_ns - clock->settled_ns;
    clock->settled_ns = now_ns;
    if (clock->active[SIM_OP_GPU] > 0) {
        result->compute_ns += passed;
    } else if (clock->active[SIM_OP_COMM] > 0) {
        result->exposed_comm_ns += passed;
    } else if (other) {
        result->exposed_other_ns += passed;
    } else {
        result->idle_ns += passed;
    }
}

static inline void sim_clock_start(struct sim_clock *clock, struct sim_rank_result *result, enum sim_op_kind kind,
                                   bool other, uint64_t now_ns)
{
    sim_clock_settle(clock, result, other, now_ns);
    if (clock->active[kind]++ == 0) {
        clock->active_since[kind] = now_ns;
    }
    result->nodes_of[kind]++;
}

static inline void sim_clock_end(struct sim_clock *clock, struct sim_rank_result *result, enum sim_op_kind kind,
                                 uint64_t now_ns)
{
    sim_clock_settle(clock, result, true, now_ns);
    if (--clock->active[kind] == 0) {
        result->union_ns[kind] += now_ns - clock->active_since[kind];
    }
    result->last_end_ns = now_ns;
}

/* At the end of the run, whatever is still in flight. */
void sim_clock_close(struct sim_clock *clock, struct sim_rank_result *result, bool other, uint64_t now_ns);

/* A rank's part in a communication (enum coll_type, SIM_TYPE_SEND or SIM_TYPE_RECV) is over. False, here and below:
 * memory was refused. */
bool sim_tally_communication(struct sim_tally *tally, struct sim_result *result, struct mem *mem, int32_t type,
                             uint32_t group_size, uint64_t bytes, uint64_t start_ns, uint64_t end_ns);
bool sim_tally_interval(struct sim_tally *tally, struct sim_result *result, struct mem *mem,
                        struct sim_interval interval);
/* Puts the rows of communications in order; none may be added afterwards. */
void sim_tally_close(struct sim_result *result);
void sim_tally_free(struct sim_tally *tally, struct sim_result *result, struct mem *mem);

#endif
