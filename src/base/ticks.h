/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Durations that come out of floating point, as whole nanoseconds: truncated towards zero, the way ASTRA-sim's are, and
 * kept within what a clock can be advanced by without wrapping. Not a number counts as no time.
 */
#ifndef ORR_BASE_TICKS_H
#define ORR_BASE_TICKS_H

#include <stdint.h>

/* Over two years of simulated time in one step. */
#define TICKS_MAX_STEP (UINT64_C(1) << 56)
/* A run that gets here is not a run any more. */
#define TICKS_MAX_NOW (UINT64_C(1) << 62)

static inline uint64_t ticks_from_double(double ns)
{
    if (!(ns > 0.0)) {
        return 0;
    }
    return ns < (double)TICKS_MAX_STEP ? (uint64_t)ns : TICKS_MAX_STEP;
}

#endif
