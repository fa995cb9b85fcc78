/* SPDX-License-Identifier: Apache-2.0 */
/* Marsaglia's polar method needs nothing but a logarithm and a square root; points outside the circle are drawn again
 * under the next number. */
#include "base/draw.h"

#include <math.h>

#include "base/map.h"

uint64_t draw_key(uint64_t key, uint64_t part)
{
    return map_mix(map_mix(key) ^ part);
}

double draw_uniform(uint64_t key)
{
    return (double)(map_mix(key) >> 11) * 0x1p-53;
}

double draw_normal(uint64_t key)
{
    for (uint64_t try = 0;; try += 2) {
        double u = 2.0 * draw_uniform(draw_key(key, try)) - 1.0;
        double v = 2.0 * draw_uniform(draw_key(key, try + 1)) - 1.0;
        double s = u * u + v * v;
        if (s > 0.0 && s < 1.0) {
            return u * sqrt(-2.0 * draw_log(s) / s);
        }
    }
}

double draw_exponential(uint64_t key)
{
    return -draw_log(1.0 - draw_uniform(key));
}

static const double ln2 = 0.6931471805599453;

/* With x = m * 2^e, m near 1: log m = 2 artanh((m - 1) / (m + 1)), by its series. */
double draw_log(double x)
{
    int exponent = 0;
    double m = frexp(x, &exponent);
    if (m < 0.7071067811865476) {
        m *= 2.0;
        exponent--;
    }
    double t = (m - 1.0) / (m + 1.0);
    double square = t * t;
    double sum = 0.0;
    for (int k = 27; k >= 1; k -= 2) {
        sum = sum * square + 1.0 / k;
    }
    return 2.0 * t * sum + exponent * ln2;
}

/* exp x = 2^k exp r with r at most half of ln 2, by its series. */
double draw_exp(double x)
{
    if (x > 709.0) {
        return INFINITY;
    }
    if (x < -745.0) {
        return 0.0;
    }
    double k = floor(x / ln2 + 0.5);
    double r = x - k * ln2;
    double sum = 1.0;
    for (int n = 18; n >= 1; n--) {
        sum = 1.0 + r / n * sum;
    }
    return ldexp(sum, (int)k);
}
