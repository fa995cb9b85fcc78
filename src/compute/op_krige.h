/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the neighbours of a point make likely there: ordinary kriging over the nearest of scattered points. Two points
 * are alike by exp(-distance), and a little more when they are of one group (two GEMMs with the same m and n share
 * their tiles whatever k is). A point whose neighbours contradict it counts less.
 *
 * Knows numbers only. The caller owns the points.
 */
#ifndef ORR_COMPUTE_OP_KRIGE_H
#define ORR_COMPUTE_OP_KRIGE_H

#include "base/error.h"

enum { KRIGE_FEATURES = 8, KRIGE_NEAREST = 40 };

struct krige_point {
    double raw[KRIGE_FEATURES]; /* features as they are */
    double x[KRIGE_FEATURES];   /* and in units of how far each one reaches */
    double value;
    double doubt; /* variance beside that of all points */
    uint64_t group;
};

/* How alike points are: found by leaving points out (krige_tune). */
struct krige_likeness {
    double reach[KRIGE_FEATURES]; /* 0: the feature is not looked at */
    double nugget;                /* variance of one measurement against that of the field */
    double group;                 /* how much more alike points of one group are */
    double group_fade;            /* and how fast that goes with distance */
};

struct krige {
    struct krige_point *points;
    float (*coarse)[4]; /* room for `count`: the first features of all points, close together */
    uint32_t count;
    double pull; /* how much is known already of their mean being 0; in points */
    struct krige_likeness like;
};

/* After `like` or raw features have changed. */
void krige_scale(struct krige *krige);

/* What is likely at `query` (its raw features and group); `except` is left out (count: none). */
double krige_at(const struct krige *krige, const struct krige_point *query, uint32_t except);

/* Sets every point's doubt by how far it lies from what the others make likely. */
void krige_doubt(struct krige *krige, double *scratch);

/* Betters `like`, one number after the other, by the mean error of about `most` points that are left out in turn. */
void krige_tune(struct krige *krige, uint32_t most);

#endif
