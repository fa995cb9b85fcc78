/* SPDX-License-Identifier: Apache-2.0 */
/* How far predictions of operators were off, in a few figures: of a table, of a part of a comparison. */
#ifndef ORR_API_OP_ERRORS_H
#define ORR_API_OP_ERRORS_H

#include <stdint.h>

struct op_errors {
    uint32_t count;
    double mean, median, p90, worst; /* of the sizes of the errors */
    double bias;                     /* their median, with its sign */
};

/* Of predicted / measured - 1; the values come back as sizes, in order. */
struct op_errors op_errors_of(double *errors, uint32_t count);

#endif
