/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The constants of one GPU or one network fitted to measured collectives: a descent along one constant after the other,
 * by factors that shrink, until none helps. Plain, without a random number, so that the same rows give the same
 * constants everywhere. The measure is the mean of |ln(model / measured)|, which one outlier does not move.
 */
#ifndef ORR_COLL_TIMING_FIT_H
#define ORR_COLL_TIMING_FIT_H

#include "coll/timing/timing.h"

/* One measurement, its machine settled; `machine.gpu` and `machine.fabric` may be the copies that are fitted. */
struct timing_row {
    struct timing_machine machine;
    struct orr_coll_question question;
    double us;
};

/* A constant that is fitted: its column, where it is, where the descent begins, and between what it stays. */
struct timing_constant {
    const char *name;
    double *value;
    double start, least, most;
};

/* Changes what `constants` point at; the error that is left. */
double timing_fit(const struct timing_constant *constants, size_t constant_count, const struct timing_row *rows,
                  size_t count);

/* The constants of a row that are fitted. */
/* FABRIC_PAIRS: how many of a network's constants, its last, are of exchanges of pairs alone. */
enum { TIMING_CONSTANTS_MOST = 20, TIMING_FABRIC_PAIRS = 7 };
size_t timing_gpu_constants(struct timing_gpu *gpu, struct timing_constant constants[TIMING_CONSTANTS_MOST]);
size_t timing_fabric_constants(struct timing_fabric *fabric, struct timing_constant constants[TIMING_CONSTANTS_MOST]);

#endif
