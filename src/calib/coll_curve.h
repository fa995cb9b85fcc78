/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Measured times as a curve: one value at every power of two between the smallest and the largest size, never falling
 * with the size (repeats of small collectives scatter by a fifth, and a larger one is not quicker), for
 * coll/timing/timing.h.
 */
#ifndef ORR_CALIB_COLL_CURVE_H
#define ORR_CALIB_COLL_CURVE_H

#include <stdint.h>

#include "orrery/base.h"

struct coll_measured {
    uint64_t bytes;
    double us;
};

enum { COLL_CURVE_MOST = 48 };

/* `points` ascending by size, at least one of them above 0 bytes. How many values there are, from 2^first; 0: none. */
uint32_t coll_curve_make(const struct coll_measured *points, uint32_t count, uint32_t *first,
                         float values[COLL_CURVE_MOST]);

#endif
