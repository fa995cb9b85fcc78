/* SPDX-License-Identifier: Apache-2.0 */
#include "base/numbers.h"

#include <stdlib.h>

static int numbers_compare(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;
    return (x > y) - (x < y);
}

void numbers_sort(double *values, uint32_t count)
{
    if (count > 1) {
        qsort(values, count, sizeof *values, numbers_compare);
    }
}

double numbers_quantile(const double *sorted, uint32_t count, double share)
{
    double place = share * (double)(count - 1);
    uint32_t below = (uint32_t)place;
    if (below + 1 >= count) {
        return sorted[count - 1];
    }
    return sorted[below] + (place - (double)below) * (sorted[below + 1] - sorted[below]);
}

int numbers_order_u32(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a;
    uint32_t y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

int numbers_order_u64(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a;
    uint64_t y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}
