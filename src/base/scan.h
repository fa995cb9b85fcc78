/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whole numbers in texts, digit by digit: no sign, no blanks, no locale. What numbers mean (units, ranges, messages) is
 * others' (base/units.h, the readers); they are all made of these.
 */
#ifndef ORR_BASE_SCAN_H
#define ORR_BASE_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

static inline bool scan_is_digit(int c)
{
    return c >= '0' && c <= '9';
}

/* How many digits the text begins with, at most `length`, and their value: 0 without any, UINT64_MAX where it does not
 * fit. A text that ends with '\0' may be given any length. */
size_t scan_digits(const char *text, size_t length, uint64_t *value);

/* The same of a text that ends with '\0'. */
static inline size_t scan_number(const char *text, uint64_t *value)
{
    return scan_digits(text, SIZE_MAX, value);
}

/* Whether the text is nothing but digits, at least one, and their value `most` at most; else `*value` is as it was. */
bool scan_whole(const char *text, size_t length, uint64_t most, uint64_t *value);

#endif
