/* SPDX-License-Identifier: Apache-2.0 */
#include "calib/watch.h"

#include <math.h>

/* Of one number of each file, the lower one of two; NaN where none has it. */
static double watch_median(const struct calib_measured *files, uint32_t count, size_t place, double *room)
{
    uint32_t known = 0;
    for (uint32_t i = 0; i < count; i++) {
        double value = *(const double *)(const void *)((const char *)&files[i] + place);
        if (!isnan(value)) {
            room[known++] = value;
        }
    }
    (void)calib_spread_of(room, known); /* puts them in order */
    return known == 0 ? (double)NAN : room[(known - 1) / 2];
}

static double watch_least(const struct calib_measured *files, uint32_t count, size_t place)
{
    double least = NAN;
    for (uint32_t i = 0; i < count; i++) {
        least =
            fmin(least, *(const double *)(const void *)((const char *)&files[i] + place)); /* fmin passes NaN over */
    }
    return least;
}

struct calib_window calib_window_of(const struct calib_measured *files, uint32_t count, double *room)
{
    struct calib_window window = {.ranks = count};
    for (uint32_t i = 0; i < count; i++) {
        window.steps = files[i].samples > window.steps ? files[i].samples : window.steps;
    }
    window.measured = (struct calib_expected){
        .step_ms = watch_median(files, count, offsetof(struct calib_measured, median_ms), room),
        .device_ms = watch_median(files, count, offsetof(struct calib_measured, device_ms), room),
        .comm_ms = watch_least(files, count, offsetof(struct calib_measured, comm_ms)),
        .exposed_ms = watch_least(files, count, offsetof(struct calib_measured, exposed_ms)),
    };
    return window;
}

/* NaN is never more. */
static bool is_more(double measured, double expected, double tolerance)
{
    return measured > expected * (1 + tolerance);
}

uint32_t calib_window_judge(const struct calib_measured *files, uint32_t count, const struct calib_window *window,
                            const struct calib_expected *expected, double tolerance, double *room,
                            struct calib_alarm *alarms)
{
    const struct calib_expected *measured = &window->measured;
    uint32_t found = 0;
    if (is_more(measured->step_ms, expected->step_ms, tolerance)) {
        alarms[found++] = (struct calib_alarm){ORR_WATCH_DRIFT, -1, measured->step_ms, expected->step_ms};
    }
    double usual = watch_median(files, count, offsetof(struct calib_measured, device_ms), room);
    for (uint32_t i = 0; count > 1 && i < count; i++) {
        if (is_more(files[i].device_ms, usual, tolerance)) {
            alarms[found++] = (struct calib_alarm){ORR_WATCH_STRAGGLER, files[i].rank, files[i].device_ms, usual};
        }
    }
    /* What is exposed is what the step waits for; where it is not known what of it is, all communication. */
    bool by_exposed = !isnan(expected->exposed_ms) && isnan(expected->comm_ms);
    double slow = by_exposed ? measured->exposed_ms : measured->comm_ms;
    double fine = by_exposed ? expected->exposed_ms : expected->comm_ms;
    bool weighs = slow - fine > tolerance * measured->step_ms / 10; /* a tenth of a percent of a step is no link */
    if (weighs && is_more(slow, fine, tolerance)) {
        alarms[found++] = (struct calib_alarm){ORR_WATCH_LINKS, -1, slow, fine};
    }
    return found;
}
