/* SPDX-License-Identifier: Apache-2.0 */
/* Lists of numbers put in order, and what stands at a share of the way through them. Knows nothing of what they mean.
 */
#ifndef ORR_BASE_NUMBERS_H
#define ORR_BASE_NUMBERS_H

#include <stdint.h>

/* Ascending. No values need no list. */
void numbers_sort(double *values, uint32_t count);
/* Of at least one value in order; `share` from 0 to 1, linear between neighbours, as NumPy and R do by default. */
double numbers_quantile(const double *sorted, uint32_t count, double share);

/* For qsort: whole numbers, ascending. */
int numbers_order_u32(const void *a, const void *b);
int numbers_order_u64(const void *a, const void *b);

#endif
