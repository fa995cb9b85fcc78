/* SPDX-License-Identifier: Apache-2.0 */
/* The clock that measures how long something takes here: it never goes back, and says nothing of the date. */
#ifndef ORR_BASE_CLOCK_H
#define ORR_BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

static inline uint64_t clock_now_ns(void)
{
    struct timespec now = {0};
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000U + (uint64_t)now.tv_nsec;
}

static inline uint64_t clock_now_ms(void)
{
    return clock_now_ns() / 1000000;
}

#endif
