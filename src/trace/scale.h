/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A trace's work multiplied by exact fractions: compute (duration_micros of compute nodes, and their num_ops,
 * compute_cycles and runtime) and communication (comm_size). A double cannot hold 127/64 of a prime number of bytes,
 * and rounding it once broke published results (spec rocm §0, F13); here factors are whole numbers over whole numbers.
 *
 * Durations carry what rounding left over from one node to the next, so that their sum is right to a microsecond;
 * everything else is rounded to the nearest, halves up, on its own.
 */
#ifndef ORR_TRACE_SCALE_H
#define ORR_TRACE_SCALE_H

#include <stdio.h>

#include "base/notes.h"
#include "trace/pattern.h"

struct scale_factor {
    uint64_t over, under; /* over / under; both 1: nothing changes. `under` is not 0 */
};

struct scale_options {
    struct scale_factor compute, comm;
    const struct pattern *match; /* only nodes of such names */
};

struct scale_counts {
    uint64_t nodes;
    uint64_t compute, comm;                 /* nodes changed */
    uint64_t compute_us, compute_us_before; /* durations of the matching compute nodes */
    uint64_t bytes, bytes_before;           /* comm_size of the matching communication nodes */
    uint64_t inexact;                       /* sizes that were not divisible and so were rounded */
};

/* "3/2", "1.5", "2"; ORR_EINVAL or ORR_ERANGE, with `option` before the message. */
ORR_MUST_CHECK enum orr_status scale_factor_parse(const char *option, const char *text, struct scale_factor *factor,
                                                  struct orr_error *err);

/* value * factor to the nearest, halves up; `*exact` when nothing had to be rounded. False when it does not fit. */
bool scale_nearest(struct scale_factor factor, uint64_t value, uint64_t *result, bool *exact);

/* Writes the scaled trace to `stream`, or nothing when that is NULL; write errors stay with it. `*counts` is added to.
 * ORR_ERANGE when a value would not fit 64 bits; else as fix_trace. */
ORR_MUST_CHECK enum orr_status scale_trace(struct record_reader *reader, const struct scale_options *options,
                                           FILE *stream, struct notes *notes, struct scale_counts *counts,
                                           struct mem *mem, struct orr_error *err);

#endif
