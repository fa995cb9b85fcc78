/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One line through sorted samples and what it is worth: the inner half of calib/fit.h, which decides where ranges begin
 * and end. Not for others.
 */
#ifndef ORR_CALIB_FIT_LINE_H
#define ORR_CALIB_FIT_LINE_H

#include "calib/fit.h"

struct calib_line {
    double latency_us, us_per_byte; /* neither below 0, not both 0 */
    double loss;                    /* sum over the samples of |fitted / measured - 1|, each at most 1 */
};

/* `samples` are sorted by size; count at least 1. `inverse` has 1 / time of each: thousands of lines are fitted through
 * the same samples. `scratch` has room for `count` numbers. */
struct calib_line calib_line_fit(const struct calib_sample *samples, const double *inverse, uint32_t count,
                                 double *scratch);

static inline double calib_line_time(const struct calib_line *line, uint64_t bytes)
{
    return line->latency_us + line->us_per_byte * (double)bytes;
}

#endif
