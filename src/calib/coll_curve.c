/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Between two measured sizes the logarithms are joined by a line. Neighbours that fall are pooled to their median,
 * again and again until none falls: the monotone curve with the least sum of distances.
 */
#include "calib/coll_curve.h"

#include <math.h>
#include <string.h>

#include "base/numbers.h"

static double median(const double *values, uint32_t count)
{
    double sorted[COLL_CURVE_MOST];
    memcpy(sorted, values, count * sizeof *values);
    numbers_sort(sorted, count);
    return count % 2 == 1 ? sorted[count / 2] : (sorted[count / 2 - 1] + sorted[count / 2]) / 2;
}

/* The measured points at the powers of two; false where `bytes` lies outside of them. */
static bool value_at(const struct coll_measured *points, uint32_t count, double bytes, double *us)
{
    for (uint32_t i = 0; i < count; i++) {
        if ((double)points[i].bytes == bytes) {
            *us = points[i].us;
            return true;
        }
        if (i > 0 && (double)points[i - 1].bytes < bytes && bytes < (double)points[i].bytes &&
            points[i - 1].bytes > 0) {
            double part =
                log(bytes / (double)points[i - 1].bytes) / log((double)points[i].bytes / (double)points[i - 1].bytes);
            *us = points[i - 1].us * pow(points[i].us / points[i - 1].us, part);
            return true;
        }
    }
    return false;
}

static void pool(double *values, uint32_t count)
{
    uint32_t starts[COLL_CURVE_MOST + 1];
    double levels[COLL_CURVE_MOST];
    double raw[COLL_CURVE_MOST];
    uint32_t blocks = 0;
    memcpy(raw, values, count * sizeof *raw);
    for (uint32_t i = 0; i < count; i++) {
        starts[blocks] = i;
        levels[blocks++] = raw[i];
        while (blocks > 1 && levels[blocks - 2] > levels[blocks - 1]) {
            blocks--;
            levels[blocks - 1] = median(raw + starts[blocks - 1], i + 1 - starts[blocks - 1]);
        }
    }
    starts[blocks] = count;
    for (uint32_t b = 0; b < blocks; b++) {
        for (uint32_t i = starts[b]; i < starts[b + 1]; i++) {
            values[i] = levels[b];
        }
    }
}

uint32_t coll_curve_make(const struct coll_measured *points, uint32_t count, uint32_t *first,
                         float values[COLL_CURVE_MOST])
{
    double us[COLL_CURVE_MOST];
    uint32_t made = 0;
    for (uint32_t power = 0; power < COLL_CURVE_MOST; power++) {
        if (!value_at(points, count, ldexp(1, (int)power), &us[made])) {
            continue;
        }
        if (made == 0) {
            *first = power;
        }
        made++;
    }
    pool(us, made);
    for (uint32_t i = 0; i < made; i++) {
        values[i] = (float)us[i];
    }
    return made;
}
