/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What bounds a run, in one sentence with a number. The step is split in three that add up: the work (compute, memory,
 * CPU) of a mean rank, what the rank with most work has beyond that (imbalance), and what even that rank spends
 * otherwise (communication or idling). The largest of the three is the bound. Taking the rank with most work as the
 * yardstick matters: ranks that wait for a slow one inside a collective look as if communication held them up.
 *
 * Each of them is named for what it is: compute that waits for the device's memory (by the roofline), the host or
 * remote memory, the launching of communications, communication by bandwidth, by latency or by what
 * ranks do with a message that has arrived (whichever a message of mean size spends longest on); on wires the busiest
 * link is named, and bandwidth is the bound where that link is busy for most of the time that ranks wait.
 */
#ifndef ORR_REPORT_BOUND_H
#define ORR_REPORT_BOUND_H

#include "report/summary.h"

#define REPORT_BOUNDS(X)                                                                                               \
    X(NOTHING, "nothing")                                                                                              \
    X(COMPUTE, "compute")                                                                                              \
    X(MEMORY, "memory")                                                                                                \
    X(HOST, "host")                                                                                                    \
    X(LAUNCH, "launch")                                                                                                \
    X(IMBALANCE, "imbalance")                                                                                          \
    X(COMMUNICATION, "communication")                                                                                  \
    X(BANDWIDTH, "bandwidth-bound communication")                                                                      \
    X(LATENCY, "latency-bound communication")                                                                          \
    X(ENDPOINTS, "endpoint-bound communication")                                                                       \
    X(RECEIVES, "receives")                                                                                            \
    X(IDLE, "idle")                                                                                                    \
    X(UNFINISHED, "unfinished")

enum report_bound_kind {
#define REPORT_X(name, words) REPORT_BOUND_##name,
    REPORT_BOUNDS(REPORT_X)
#undef REPORT_X
};

/* Of traces that ask for streams, as imported recordings do, with the host as it was recorded. */
#define REPORT_PROFILED_HOST                                                                                           \
    "in a profiler's recording part of the host's time is the profiler's own work, which orrery calib fit takes out"

bool report_host_is_profiled(const struct sim_result *result);

struct report_bound {
    enum report_bound_kind kind;
    double share;       /* of the step, 0 to 1 */
    uint32_t rank;      /* the rank that matters most: most work, or last; UINT32_MAX = none */
    int32_t collective; /* communication, RECEIVES: type with most time, else INT32_MIN */
    uint32_t dimension; /* communication: with the highest utilisation; UINT32_MAX = none carried anything */
    char sentence[640]; /* ASCII, ends in a full stop */
};

const char *report_bound_name(enum report_bound_kind kind);
struct report_bound report_bound_of(const struct sim_result *result);

#endif
