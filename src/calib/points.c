/* SPDX-License-Identifier: Apache-2.0 */
/* The limits are those of the fit (calib/fit.c squares reciprocals of times), held here so that no reader has to know
 * them. */
#include "calib/points.h"

#include <inttypes.h>

#include "coll/impl.h"

static const double time_min_us = 1e-6;
static const double time_max_us = 1e15;
static const double rate_max = 1e9; /* GB/s */

void calib_points_free(struct calib_points *points, struct mem *mem)
{
    mem_free(mem, points->items, points->capacity * sizeof *points->items);
    mem_free(mem, points->copies, points->copy_capacity * sizeof *points->copies);
    *points = (struct calib_points){0};
}

enum orr_status calib_points_add(struct calib_points *points, const struct calib_point *point, struct mem *mem,
                                 struct orr_error *err)
{
    if (coll_type_name(point->type) == NULL || point->ranks < 2 || point->bytes == 0 ||
        !(point->time_us >= time_min_us && point->time_us <= time_max_us)) {
        return error_set(err, ORR_EINVAL,
                         "a collective of type %" PRId32 " over %" PRIu32 " ranks, %" PRIu64
                         " bytes in %g us; a known type, at least 2 ranks, at least 1 byte and %g to %g us are needed",
                         point->type, point->ranks, point->bytes, point->time_us, time_min_us, time_max_us);
    }
    if (!mem_reserve(mem, (void **)&points->items, &points->capacity, (uint64_t)points->count + 1,
                     sizeof *points->items)) {
        return mem_error(mem, "measurements", err);
    }
    points->items[points->count++] = *point;
    return ORR_OK;
}

enum orr_status calib_points_add_copy(struct calib_points *points, const struct calib_copy *copy, struct mem *mem,
                                      struct orr_error *err)
{
    if (!(copy->gbytes_per_s > 0 && copy->gbytes_per_s <= rate_max)) {
        return error_set(err, ORR_EINVAL, "a copy at %g GB/s; above 0 and at most %g are accepted", copy->gbytes_per_s,
                         rate_max);
    }
    if (!mem_reserve(mem, (void **)&points->copies, &points->copy_capacity, (uint64_t)points->copy_count + 1,
                     sizeof *points->copies)) {
        return mem_error(mem, "measurements", err);
    }
    points->copies[points->copy_count++] = *copy;
    return ORR_OK;
}
