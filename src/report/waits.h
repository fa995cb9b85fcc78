/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What each interval of a run waited for, and the chain of intervals that the end of the run waited for. Made from what
 * the run left behind alone: the edges of the traces, what ran before on the same thread, and who came last to a
 * collective or sent what was received. Where several ended before an interval began, it waited for the last of them.
 *
 * Operations of several ranks are matched by their order: the k-th of a group on one rank and the k-th of it on another
 * are one operation, as the engine requires.
 */
#ifndef ORR_REPORT_WAITS_H
#define ORR_REPORT_WAITS_H

#include "report/lanes.h"

enum { REPORT_NO_WAIT = -1 };

/* A part of the critical path: of the interval at place `event` the time from `from_ns` to `to_ns`. */
struct report_link {
    uint32_t event;
    uint64_t from_ns, to_ns;
};

struct report_waits {
    struct arena arena;
    uint32_t *order;  /* intervals by rank, thread, start; a place is an index into it */
    uint32_t *thread; /* by place */
    int64_t *own;     /* by place: the place of what it waited for on its rank, or REPORT_NO_WAIT */
    int64_t *late;    /* by place: of a communication, the place of the member that came last, where that is another */
    int64_t *send;    /* by place: of a receive, the place of its send */
    int64_t *
        launch; /* by place: of what runs on the device, the place of the last operator of the host among its parents */
    uint32_t count;
    struct report_link *path; /* last part first */
    uint32_t path_count;
};

/* Of a run with intervals. The caller frees the arena. ORR_ENOMEM. */
ORR_MUST_CHECK enum orr_status report_waits_make(const struct sim_result *result, const struct report_lanes *lanes,
                                                 struct report_waits *waits, struct orr_error *err);

#endif
