/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Huber's estimate by repeated weighted least squares. Each sample is a row (1/t) a + (x/t) b = 1, so that its residual
 * is the relative error as it stands. A residual beyond 1.345 robust standard deviations weighs less the further off it
 * is; the deviation comes from the median of the residuals, which bad samples do not move. The usual trouble of such
 * fits, a bad sample far out in x, does not arise: in these rows a sample that is too slow lies nearer to the origin
 * than a good one.
 *
 * Latency and bandwidth are physical: neither may be negative. With two unknowns, the best line in the quadrant is the
 * best one anywhere or lies on the axis that was crossed.
 */
#include "calib/fit_line.h"

#include <math.h>
#include <stdlib.h>

/* Iterations; a fit of clean data ends after 3, of data with outliers after about 20. */
enum { LINE_ROUNDS = 40 };
/* Below this size, samples of one size tell a latency, above it a bandwidth: where NCCL's rings leave the flat part. */
enum { LINE_LATENCY_BYTES = 64 << 10 };

static const double line_huber = 1.345;  /* 95 % of least squares' efficiency on clean data */
static const double line_sigma = 1.4826; /* standard deviation over median deviation, of a normal distribution */
/* The tools print four digits: a deviation below this is not seen, and dividing by it would be noise. */
static const double line_floor = 1e-5;
static const double line_still = 1e-9; /* relative change at which it has settled */

/* The `rank`-th smallest; the values are left partly ordered. Hoare's selection with the middle as pivot: ordered
 * input, the usual one here, is the best case. */
static double select_rank(double *values, uint32_t count, uint32_t rank)
{
    uint32_t low = 0;
    uint32_t high = count - 1;
    while (low < high) {
        double pivot = values[low + (high - low) / 2];
        uint32_t i = low;
        uint32_t k = high;
        while (i <= k) {
            for (; values[i] < pivot; i++) {
            }
            for (; values[k] > pivot; k--) {
            }
            if (i <= k) {
                double swap = values[i];
                values[i] = values[k];
                values[k] = swap;
                i++;
                if (k == 0) {
                    break;
                }
                k--;
            }
        }
        if (rank <= k) {
            high = k;
        } else if (rank >= i) {
            low = i;
        } else {
            break;
        }
    }
    return values[rank];
}

/* What a line is fitted to. */
struct rows {
    const struct calib_sample *samples;
    const double *inverse;
    uint32_t count;
};

/* fitted / measured - 1 */
static double calib_fit_line_residual_of(const struct calib_line *line, const struct rows *rows, uint32_t at)
{
    return calib_line_time(line, rows->samples[at].bytes) * rows->inverse[at] - 1.0;
}

/* Least squares with the weight of each sample by its residual from `from` and the width `width`; NULL: all weigh 1. */
static struct calib_line weighted(const struct rows *rows, const struct calib_line *from, double width)
{
    double uu = 0;
    double uv = 0;
    double vv = 0;
    double u1 = 0;
    double v1 = 0;
    for (uint32_t i = 0; i < rows->count; i++) {
        double away = from != NULL ? fabs(calib_fit_line_residual_of(from, rows, i)) : 0;
        double weight = away > width ? width / away : 1.0;
        double u = rows->inverse[i];
        double v = (double)rows->samples[i].bytes * u;
        uu += weight * u * u;
        uv += weight * u * v;
        vv += weight * v * v;
        u1 += weight * u;
        v1 += weight * v;
    }
    double det = uu * vv - uv * uv;
    double a = det > 0 ? (u1 * vv - v1 * uv) / det : -1;
    double b = det > 0 ? (v1 * uu - u1 * uv) / det : 0;
    if (!(a >= 0)) {
        a = 0;
        b = v1 / vv;
    } else if (!(b >= 0)) {
        a = u1 / uu;
        b = 0;
    }
    return (struct calib_line){a, b, 0};
}

/* Samples of one size: their median, as a latency or as a bandwidth. */
static struct calib_line one_size(const struct rows *rows, double *scratch)
{
    for (uint32_t i = 0; i < rows->count; i++) {
        scratch[i] = rows->samples[i].time_us;
    }
    double time = select_rank(scratch, rows->count, rows->count / 2);
    uint64_t bytes = rows->samples[0].bytes;
    return bytes < LINE_LATENCY_BYTES ? (struct calib_line){time, 0, 0}
                                      : (struct calib_line){0, time / (double)bytes, 0};
}

static double calib_fit_line_width_of(const struct calib_line *line, const struct rows *rows, double *scratch)
{
    for (uint32_t i = 0; i < rows->count; i++) {
        scratch[i] = fabs(calib_fit_line_residual_of(line, rows, i));
    }
    double deviation = line_sigma * select_rank(scratch, rows->count, rows->count / 2);
    return line_huber * (deviation > line_floor ? deviation : line_floor);
}

static bool settled(double a, double b)
{
    return fabs(a - b) <= line_still * fabs(b);
}

struct calib_line calib_line_fit(const struct calib_sample *samples, const double *inverse, uint32_t count,
                                 double *scratch)
{
    struct rows rows = {samples, inverse, count};
    struct calib_line line;
    if (samples[0].bytes == samples[count - 1].bytes) {
        line = one_size(&rows, scratch);
    } else {
        line = weighted(&rows, NULL, 0);
        for (int round = 0; round < LINE_ROUNDS; round++) {
            struct calib_line next = weighted(&rows, &line, calib_fit_line_width_of(&line, &rows, scratch));
            bool still = settled(line.latency_us, next.latency_us) && settled(line.us_per_byte, next.us_per_byte);
            line = next;
            if (still) {
                break;
            }
        }
    }
    for (uint32_t i = 0; i < count; i++) {
        double away = fabs(calib_fit_line_residual_of(&line, &rows, i));
        line.loss += away < 1.0 ? away : 1.0;
    }
    return line;
}
