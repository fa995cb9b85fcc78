/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One window of a running job judged: the recordings of all ranks over the same few steps, beside what was expected.
 * Ranks of a synchronous job end their steps together, so who is slow shows in what the ranks compute and not in how
 * long their steps are; and links that are slow show in the rank that waits least. Knows neither files nor printing.
 */
#ifndef ORR_CALIB_WATCH_H
#define ORR_CALIB_WATCH_H

#include "calib/steps.h"
#include "orrery/watch.h"

/* Milliseconds of one step; NaN: not known. */
struct calib_expected {
    double step_ms, device_ms, comm_ms, exposed_ms;
};

struct calib_window {
    uint32_t ranks;
    uint64_t steps; /* of the rank with most */
    /* Medians over the ranks; the least of communication, which is without waiting for others. */
    struct calib_expected measured;
};

struct calib_alarm {
    enum orr_watch_alarm_kind kind;
    int64_t rank; /* of a straggler; else -1 */
    double measured_ms, expected_ms;
};

/* Sums a window up. */
struct calib_window calib_window_of(const struct calib_measured *files, uint32_t count, double *room);
/* What is wrong with it, at most one of each kind and a straggler a rank, in that order; returns how many. `room` holds
 * `count` numbers, `alarms` has places for `count` + 2. */
uint32_t calib_window_judge(const struct calib_measured *files, uint32_t count, const struct calib_window *window,
                            const struct calib_expected *expected, double tolerance, double *room,
                            struct calib_alarm *alarms);

#endif
