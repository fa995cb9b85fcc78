/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lines through measurements: time = latency + bytes / bandwidth, in one to three ranges of sizes, as the protocols of
 * a collective library make them (NCCL's LL, LL128 and Simple). Pure arithmetic; knows no file, no collective, no link.
 *
 * What is made small is the relative error, so that 8 bytes count as much as 8 gigabytes, and a measurement that is far
 * off pulls with a bounded force only (Huber's loss), so that one in ten may be wrong. Equal input gives equal bits, in
 * whatever order it comes.
 */
#ifndef ORR_CALIB_FIT_H
#define ORR_CALIB_FIT_H

#include "base/mem.h"

enum { CALIB_RANGES_MAX = 3 };

/* When a fit is believed: name, limit, what is said when it is not kept. Spec rocm §1.9 has the limits but SIZES; a
 * spread is the interquartile range of the residuals over their median, so that it is about the better half. */
#define CALIB_RULES(X)                                                                                                 \
    X(SAMPLES, 3.0, "fewer than 3 measurements")                                                                       \
    X(SIZES, 2.0, "one size only, which is no line")                                                                   \
    X(SPREAD, 0.10, "residuals spread by 10 % or more")                                                                \
    X(ERROR, 0.05, "median error of 5 % or more")

enum calib_rule {
    CALIB_ACCEPTED,
#define CALIB_X(name, limit, text) CALIB_REFUSED_##name,
    CALIB_RULES(CALIB_X)
#undef CALIB_X
};

/* "accepted", or why not. */
const char *calib_rule_text(enum calib_rule rule);
double calib_rule_limit(enum calib_rule rule); /* of a CALIB_REFUSED_… */

/* What a set of residuals says; a residual is measured / fitted, 1 where they agree. */
struct calib_quality {
    uint32_t samples;
    uint32_t sizes;      /* different ones */
    double spread;       /* interquartile range of the residuals over their median */
    double median_error; /* of |residual - 1| */
    double mean_error;   /* of the same */
    double worst_error;  /* of the same, with the size it is at */
    uint64_t worst_bytes;
    double r2;            /* of log time: 1 = all of its variation is explained; 0 where there is none to explain */
    enum calib_rule rule; /* CALIB_ACCEPTED, or the first that is not kept */
};

/* Sizes from `from_bytes` to `to_bytes` were measured; a size between two ranges belongs to the lower one. */
struct calib_range {
    uint64_t from_bytes, to_bytes;
    double latency_us;  /* at least 0 */
    double us_per_byte; /* at least 0; 0: the time does not depend on the size here */
    struct calib_quality quality;
};

struct calib_fit {
    struct calib_range ranges[CALIB_RANGES_MAX]; /* by size */
    uint32_t range_count;
    struct calib_quality quality; /* over all ranges */
    double bic;                   /* by which the number of ranges was chosen: lower is better */
    /* Whether a latency, and a bandwidth, was seen at all: the smallest message must not spend more than half of its
     * time on its bytes, the largest not more than half on the latency. Else the number is an extrapolation. */
    bool latency_seen, bandwidth_seen;
};

struct calib_sample {
    uint64_t bytes; /* at least 1 */
    double time_us; /* finite, above 0 */
};

/* All zero: up to three ranges, found. */
struct calib_fit_options {
    uint32_t ranges_max;                   /* 1 to CALIB_RANGES_MAX; 0: CALIB_RANGES_MAX */
    uint64_t splits[CALIB_RANGES_MAX - 1]; /* given: the last size of each range but the last, ascending */
    uint32_t split_count;                  /* of them; 0: found */
};

/* Fits `count` samples (at least one), in any order; they are sorted in place. Fails with ORR_EINVAL (no sample,
 * options outside their limits, a given range without a measurement) or ORR_ENOMEM. A fit that is refused by the rules
 * is no error. */
ORR_MUST_CHECK enum orr_status calib_fit_make(struct calib_sample *samples, uint32_t count,
                                              const struct calib_fit_options *options, struct mem *mem,
                                              struct calib_fit *fit, struct orr_error *err);

/* Microseconds for a message. Outside of the measured sizes the nearest range goes on. */
double calib_fit_time(const struct calib_fit *fit, uint64_t bytes);

/* Median and spread of plain numbers that should be one (rates, times of equal steps): `spread` is IQR / median. The
 * rules but SIZES hold. Sorts in place; count at least 1. */
struct calib_middle {
    uint32_t samples;
    double median, spread, low, high;
    enum calib_rule rule;
};
struct calib_middle calib_middle_of(double *values, uint32_t count);

/* A line through points (x, y) that both are at least 0: the median of the slopes of all pairs (Theil and Sen), then
 * the median of the intercepts, neither below 0. `*found` is false when all x are equal. Fails with ORR_ENOMEM. */
ORR_MUST_CHECK enum orr_status calib_line_through(const double *x, const double *y, uint32_t count, struct mem *mem,
                                                  bool *found, double *intercept, double *slope, struct orr_error *err);

#endif
