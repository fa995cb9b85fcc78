/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Measurements of a network, whatever they were read from: collectives with their size and time, and copies between two
 * devices with their rate. What the readers of calib/read.h fill and what calib/network.h fits; a trace's own
 * collectives become the same points.
 *
 * Bytes are those nccl-tests and rccl-tests count: the whole buffer of one rank on the side where it is larger (what an
 * all-reduce reduces, what an all-gather ends with, what a reduce-scatter begins with, what an all-to-all sends).
 * Times are microseconds as reals, since that is what the tools print. Knows no file.
 */
#ifndef ORR_CALIB_POINTS_H
#define ORR_CALIB_POINTS_H

#include "base/mem.h"

struct calib_point {
    int32_t type;   /* enum coll_type */
    uint32_t ranks; /* at least 2 */
    uint64_t bytes; /* at least 1 */
    double time_us; /* finite, above 0 */
    bool in_place;
};

/* Devices are numbered as the tool does; a copy of a device to itself measures its memory. */
struct calib_copy {
    uint32_t from, to;
    double gbytes_per_s; /* 10^9 bytes a second, above 0 */
    bool both_ways;      /* both directions at once, summed */
    bool host;           /* one of the two is no accelerator */
};

/* Starts as {0}; grows in the account it is given, always the same one. */
struct calib_points {
    struct calib_point *items;
    uint32_t count, capacity;
    struct calib_copy *copies;
    uint32_t copy_count, copy_capacity;
};

void calib_points_free(struct calib_points *points, struct mem *mem); /* leaves it empty and usable */

/* ORR_EINVAL when a number is not as said above, without file or line: for points that do not come from a file; readers
 * check before. ORR_ENOMEM. */
ORR_MUST_CHECK enum orr_status calib_points_add(struct calib_points *points, const struct calib_point *point,
                                                struct mem *mem, struct orr_error *err);
ORR_MUST_CHECK enum orr_status calib_points_add_copy(struct calib_points *points, const struct calib_copy *copy,
                                                     struct mem *mem, struct orr_error *err);

#endif
