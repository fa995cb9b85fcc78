/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Numbers that should be one, and lines through a handful of points: the latencies of groups, the rates of pairs. Few
 * and of very different weight, so that medians decide and not sums.
 */
#include "base/numbers.h"
#include "calib/fit_line.h"

struct calib_middle calib_middle_of(double *values, uint32_t count)
{
    numbers_sort(values, count);
    struct calib_middle middle = {
        .samples = count, .median = numbers_quantile(values, count, 0.5), .low = values[0], .high = values[count - 1]};
    double range = numbers_quantile(values, count, 0.75) - numbers_quantile(values, count, 0.25);
    middle.spread = middle.median > 0 ? range / middle.median : 0;
    if (count < calib_rule_limit(CALIB_REFUSED_SAMPLES)) {
        middle.rule = CALIB_REFUSED_SAMPLES;
    } else if (!(middle.spread < calib_rule_limit(CALIB_REFUSED_SPREAD))) {
        middle.rule = CALIB_REFUSED_SPREAD;
    }
    return middle;
}

/* More points than this are thinned out evenly: all pairs of them are looked at. */
enum { LINE_POINTS = 1024 };

static uint32_t slopes_of(const double *x, const double *y, uint32_t count, uint32_t every, double *slopes)
{
    uint32_t pairs = 0;
    for (uint32_t i = 0; i < count; i += every) {
        for (uint32_t k = i + every; k < count; k += every) {
            if (x[i] != x[k]) {
                slopes[pairs++] = (y[k] - y[i]) / (x[k] - x[i]);
            }
        }
    }
    return pairs;
}

/* The median over the points of y - slope x, or, for a line through the origin, of y / x. */
static double middle_over(const double *x, const double *y, uint32_t count, uint32_t every, const double *slope,
                          double *numbers)
{
    uint32_t points = 0;
    for (uint32_t i = 0; i < count; i += every) {
        if (slope != NULL || x[i] > 0) {
            numbers[points++] = slope != NULL ? y[i] - *slope * x[i] : y[i] / x[i];
        }
    }
    numbers_sort(numbers, points);
    return points > 0 ? numbers_quantile(numbers, points, 0.5) : 0;
}

enum orr_status calib_line_through(const double *x, const double *y, uint32_t count, struct mem *mem, bool *found,
                                   double *intercept, double *slope, struct orr_error *err)
{
    uint32_t every = 1 + (count - (count > 0)) / LINE_POINTS;
    size_t used = ((size_t)count + every - 1) / every;
    size_t bytes = (used * used / 2 + used + 1) * sizeof(double);
    double *numbers = mem_alloc(mem, bytes);
    if (numbers == NULL) {
        return mem_error(mem, "fitting measurements", err);
    }
    uint32_t pairs = slopes_of(x, y, count, every, numbers);
    *found = pairs > 0;
    if (pairs > 0) {
        numbers_sort(numbers, pairs);
        double steep = numbers_quantile(numbers, pairs, 0.5);
        steep = steep > 0 ? steep : 0;
        double foot = middle_over(x, y, count, every, &steep, numbers);
        *slope = foot < 0 ? middle_over(x, y, count, every, NULL, numbers) : steep;
        *intercept = foot < 0 ? 0 : foot;
    }
    mem_free(mem, numbers, bytes);
    return ORR_OK;
}
