/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which thread of a drawing an interval goes to: the hardware slots of its rank, or the thread or stream that the trace
 * names. Receives hold no slot and may overlap, which a thread cannot show: they are spread over as many as are needed,
 * up to 32, the last of which takes the rest.
 */
#ifndef ORR_REPORT_LANES_H
#define ORR_REPORT_LANES_H

#include "base/arena.h"
#include "sim/result.h"

/* Threads and streams that a trace names come behind the slots and the receives. */
enum { REPORT_RECEIVE_LANES = 32, REPORT_FIRST_NAMED = SIM_SLOT_NONE + REPORT_RECEIVE_LANES, REPORT_LANE_NAME = 64 };

/* Which thread each interval goes to, and which threads each rank has. */
struct report_lanes {
    struct arena arena; /* owns the arrays; on the account of the traces, which is the run's and has its limit */
    uint8_t *lane;      /* per interval: 0 except for receives */
    uint32_t *order;    /* indices of the receives, by rank, start, index */
    uint32_t receives;
    uint32_t *used; /* per rank: receive threads in use */
    uint8_t *slots; /* per rank: bit s = slot s has an interval */
    bool named;     /* there are intervals on threads and streams that the trace names */
};

/* The caller frees the arena. ORR_ENOMEM. */
ORR_MUST_CHECK enum orr_status report_lanes_make(const struct sim_result *result, struct report_lanes *lanes,
                                                 struct orr_error *err);
uint32_t report_lanes_thread(const struct sim_result *result, const struct report_lanes *lanes, uint32_t interval);
void report_lanes_name(const struct sim_result *result, uint32_t rank, uint32_t thread, char text[REPORT_LANE_NAME]);

#endif
