/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How long an operator takes by the roofline rule (spec analytical §5.4): limited by the device's peak or by its
 * memory, whichever is lower at the operator's intensity.
 */
#ifndef ORR_COMPUTE_ROOFLINE_H
#define ORR_COMPUTE_ROOFLINE_H

#include <stdbool.h>
#include <stdint.h>

struct roofline {
    double peak_flops;        /* operations a second */
    double memory_bytes_rate; /* bytes a second */
};

struct roofline_estimate {
    uint64_t duration_ns;
    double intensity;     /* operations a byte */
    double compute_share; /* achieved / peak */
    double memory_share;  /* achieved memory rate / memory rate */
    bool compute_bound;
};

/* `bytes` > 0. No operation at all takes no time. */
struct roofline_estimate roofline_estimate(const struct roofline *roofline, uint64_t ops, uint64_t bytes);

#endif
