/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Predicted against measured, machine by machine: a machine is one source, GPU, release and number of nodes and GPUs,
 * over all operations and sizes. Each is predicted twice where its own curves are shipped: as a user gets it, and with
 * what was measured on it left out, which is what a machine like it but never seen would get.
 */
#ifndef ORR_CALIB_COLL_COMPARE_H
#define ORR_CALIB_COLL_COMPARE_H

#include "calib/coll_rows.h"

/* Of |ln(predicted / measured)| as shares: 0.04 is 4 %. */
struct coll_errors {
    uint32_t count;
    double mean, median, ninetieth, worst; /* mean: of the logarithms, exp(mean) - 1 */
    double bias;                           /* exp(mean of ln) - 1 */
};

struct coll_machine_errors {
    const struct coll_item *item;  /* its first */
    struct coll_errors all, large; /* large: above 16 MiB */
    struct coll_errors left_out;   /* count 0: no curve of it is shipped */
};

struct coll_compared {
    struct coll_machine_errors *machines;
    uint32_t machine_count;
    double *predicted;   /* of every item */
    const char **fitted; /* of every machine: what of it was fitted on: "curves", "constants", "" */
    struct coll_errors ops[ORR_COLL_OP_COUNT];
};

/* In the arena. */
ORR_MUST_CHECK enum orr_status coll_compare(const struct coll_rows *rows, struct arena *arena,
                                            struct coll_compared *compared, struct orr_error *err);

#endif
