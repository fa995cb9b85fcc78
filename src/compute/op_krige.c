/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Forty neighbours and a Cholesky factor a query: fast enough to fill grids when fitting, never called when predicting.
 * The neighbours are found by looking at all points, which for some thousands of points costs as much as the factor.
 */
#include "compute/op_krige.h"

#include <math.h>
#include <string.h>

#include "base/numbers.h"

void krige_scale(struct krige *krige)
{
    for (uint32_t i = 0; i < krige->count; i++) {
        for (int f = 0; f < KRIGE_FEATURES; f++) {
            double reach = krige->like.reach[f];
            krige->points[i].x[f] = reach > 0 ? krige->points[i].raw[f] / reach : 0;
        }
        for (int f = 0; f < 4; f++) {
            krige->coarse[i][f] = (float)krige->points[i].x[f];
        }
    }
}

static double square_distance(const struct krige_point *a, const struct krige_point *b)
{
    double sum = 0;
    for (int f = 0; f < KRIGE_FEATURES; f++) {
        double d = a->x[f] - b->x[f];
        sum += d * d;
    }
    return sum;
}

static double likeness(const struct krige_likeness *like, const struct krige_point *a, const struct krige_point *b)
{
    double distance = sqrt(square_distance(a, b));
    double sum = exp(-distance);
    if (a->group == b->group) {
        sum += like->group * exp(-distance * like->group_fade);
    }
    return sum;
}

struct near {
    double distance;
    uint32_t index;
};

static uint32_t find_nearest(const struct krige *krige, const struct krige_point *query, uint32_t except,
                             struct near nearest[KRIGE_NEAREST])
{
    const float q[4] = {(float)query->x[0], (float)query->x[1], (float)query->x[2], (float)query->x[3]};
    uint32_t found = 0;
    float worst = INFINITY;
    for (uint32_t i = 0; i < krige->count; i++) {
        const float *c = krige->coarse[i];
        float a = q[0] - c[0];
        float b = q[1] - c[1];
        float d = q[2] - c[2];
        float e = q[3] - c[3];
        if ((a * a + b * b) + (d * d + e * e) >= worst || i == except) {
            continue; /* most points, by the first features alone */
        }
        double distance = square_distance(query, &krige->points[i]);
        distance = query->group == krige->points[i].group ? distance / 2 : distance;
        if (found == KRIGE_NEAREST && distance >= nearest[found - 1].distance) {
            continue;
        }
        uint32_t at = found < KRIGE_NEAREST ? found++ : found - 1;
        for (; at > 0 && nearest[at - 1].distance > distance; at--) {
            nearest[at] = nearest[at - 1];
        }
        nearest[at] = (struct near){distance, i};
        worst = found == KRIGE_NEAREST ? (float)(2.01 * nearest[found - 1].distance) : INFINITY;
    }
    return found;
}

/* What is left of the covariance's rows and of the three right sides as columns are taken out of them. */
struct factor {
    double rows[KRIGE_NEAREST][KRIGE_NEAREST];
    double value[KRIGE_NEAREST], one[KRIGE_NEAREST], here[KRIGE_NEAREST];
};

/* Column after column, each row updated from front to back: no sum waits for another. */
static void take_columns(struct factor *f, uint32_t count)
{
    double column[KRIGE_NEAREST];
    for (uint32_t k = 0; k < count; k++) {
        double pivot = f->rows[k][k];
        double root = sqrt(pivot > 1e-9 ? pivot : 1e-9);
        f->value[k] /= root;
        f->one[k] /= root;
        f->here[k] /= root;
        for (uint32_t a = k + 1; a < count; a++) {
            column[a] = f->rows[a][k] / root;
        }
        for (uint32_t a = k + 1; a < count; a++) {
            double here = column[a];
            double *row = f->rows[a];
            for (uint32_t b = k + 1; b <= a; b++) {
                row[b] -= here * column[b];
            }
            f->value[a] -= here * f->value[k];
            f->one[a] -= here * f->one[k];
            f->here[a] -= here * f->here[k];
        }
    }
}

double krige_at(const struct krige *krige, const struct krige_point *query, uint32_t except)
{
    struct near nearest[KRIGE_NEAREST];
    struct factor f;
    uint32_t count = find_nearest(krige, query, except, nearest);
    for (uint32_t a = 0; a < count; a++) {
        const struct krige_point *point = &krige->points[nearest[a].index];
        f.value[a] = point->value;
        f.one[a] = 1;
        f.here[a] = likeness(&krige->like, query, point);
        for (uint32_t b = 0; b < a; b++) {
            f.rows[a][b] = likeness(&krige->like, point, &krige->points[nearest[b].index]);
        }
        f.rows[a][a] = 1 + krige->like.group + krige->like.nugget + point->doubt;
    }
    take_columns(&f, count);
    double ones = 0;
    double values = 0;
    double here_one = 0;
    double here_value = 0;
    for (uint32_t a = 0; a < count; a++) {
        ones += f.one[a] * f.one[a];
        values += f.one[a] * f.value[a];
        here_one += f.here[a] * f.one[a];
        here_value += f.here[a] * f.value[a];
    }
    double mean = ones > 0 ? values / (ones + krige->pull) : 0;
    return mean + here_value - mean * here_one;
}

void krige_doubt(struct krige *krige, double *scratch)
{
    uint32_t count = krige->count;
    for (uint32_t i = 0; i < count; i++) {
        krige->points[i].doubt = 0;
    }
    for (int round = 0; round < 2 && count > 8; round++) {
        double *sorted = scratch + count;
        for (uint32_t i = 0; i < count; i++) {
            scratch[i] = fabs(krige_at(krige, &krige->points[i], i) - krige->points[i].value);
            sorted[i] = scratch[i];
        }
        numbers_sort(sorted, count);
        double usual = 1.48 * sorted[count / 2] + 1e-6;
        for (uint32_t i = 0; i < count; i++) {
            double times = scratch[i] / usual;
            krige->points[i].doubt = times > 2 ? 0.02 * (times * times / 4 - 1) : 0;
        }
    }
}

static double mean_error(struct krige *krige, uint32_t step)
{
    double sum = 0;
    uint32_t tried = 0;
    krige_scale(krige);
    for (uint32_t i = 0; i < krige->count; i += step, tried++) {
        sum += fabs(krige_at(krige, &krige->points[i], i) - krige->points[i].value);
    }
    return sum / tried;
}

void krige_tune(struct krige *krige, uint32_t most)
{
    double *numbers[KRIGE_FEATURES + 3];
    uint32_t count = 0;
    uint32_t step = krige->count / most + 1;
    for (int f = 0; f < KRIGE_FEATURES; f++) {
        if (krige->like.reach[f] > 0) {
            numbers[count++] = &krige->like.reach[f];
        }
    }
    numbers[count++] = &krige->like.nugget;
    numbers[count++] = &krige->like.group;
    numbers[count++] = &krige->like.group_fade;
    double best = mean_error(krige, step);
    for (uint32_t i = 0; i < count; i++) {
        for (double factor = 1.6; factor > 0.6; factor -= 0.975) { /* 1.6, then 1 / 1.6 */
            for (int tries = 0; tries < 4; tries++) {
                double before = *numbers[i];
                *numbers[i] *= factor;
                double error = mean_error(krige, step);
                if (error >= best * 0.999) {
                    *numbers[i] = before;
                    break;
                }
                best = error;
            }
        }
    }
    krige_scale(krige);
}
