/* SPDX-License-Identifier: Apache-2.0 */
#include "base/scan.h"

size_t scan_digits(const char *text, size_t length, uint64_t *value)
{
    uint64_t sum = 0;
    size_t at = 0;
    for (; at < length && scan_is_digit(text[at]); at++) {
        uint64_t digit = (uint64_t)(text[at] - '0');
        sum = sum > (UINT64_MAX - digit) / 10 ? UINT64_MAX : sum * 10 + digit;
    }
    *value = sum;
    return at;
}

bool scan_whole(const char *text, size_t length, uint64_t most, uint64_t *value)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < length; i++) {
        uint64_t digit = (uint64_t)(text[i] - '0');
        if (!scan_is_digit(text[i]) || digit > most || sum > (most - digit) / 10) {
            return false;
        }
        sum = sum * 10 + digit;
    }
    *value = length > 0 ? sum : *value;
    return length > 0;
}
