/* SPDX-License-Identifier: Apache-2.0 */
#include "api/op_errors.h"

#include <math.h>

#include "base/numbers.h"

struct op_errors op_errors_of(double *errors, uint32_t count)
{
    struct op_errors e = {.count = count};
    if (count == 0) {
        return e;
    }
    numbers_sort(errors, count);
    e.bias = errors[count / 2];
    for (uint32_t i = 0; i < count; i++) {
        errors[i] = fabs(errors[i]);
    }
    numbers_sort(errors, count);
    for (uint32_t i = 0; i < count; i++) {
        e.mean += errors[i] / count;
    }
    e.median = errors[count / 2];
    e.p90 = errors[(uint64_t)count * 9 / 10];
    e.worst = errors[count - 1];
    return e;
}
