/* SPDX-License-Identifier: Apache-2.0 */
/* The number is kept as decimal digits and a power of ten and multiplied by the unit before any division, in 128 bits:
 * "0.1us" is exactly 100 ns, which no binary floating-point step could promise. */
#include "base/units.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/scan.h"

struct units_row {
    const char *suffix;
    enum units_kind kind;
    uint64_t factor;
};

static const struct units_row units_rows[] = {
#define ORR_X(suffix, kind, factor) {suffix, UNITS_##kind, factor},
    ORR_UNITS(ORR_X)
#undef ORR_X
};

enum { UNITS_COUNT = sizeof units_rows / sizeof units_rows[0] };

static const char *const kind_words[] = {[UNITS_RATE] = "a rate", [UNITS_TIME] = "a time", [UNITS_SIZE] = "a size"};

static const char *const kind_examples[] = {
    [UNITS_RATE] = "\"400Gbps\" or \"50GB/s\"", [UNITS_TIME] = "\"1.5us\"", [UNITS_SIZE] = "\"64MiB\" or \"1.5GB\""};

/* A decimal number: digits * 10^exponent. */
struct units_number {
    unsigned __int128 digits;
    int exponent;
};

/* digits * factor (below 2^40) must stay in 128 bits. */
static const unsigned __int128 units_digits_limit = (unsigned __int128)1 << 84;

/* False when the digits are more than any quantity needs. */
static bool units_scan_digits(const char **at, struct units_number *number, int exponent_step)
{
    for (; scan_is_digit(**at); (*at)++) {
        if (number->digits >= units_digits_limit || number->exponent < -90) {
            return false;
        }
        number->digits = number->digits * 10 + (unsigned)(**at - '0');
        number->exponent += exponent_step;
    }
    return true;
}

static enum orr_status units_scan_exponent(const char *text, const char **at, struct units_number *number,
                                           struct orr_error *err)
{
    const char *mark = *at;
    if (*mark != 'e' && *mark != 'E') {
        return ORR_OK;
    }
    const char *digits = mark + 1;
    int sign = *digits == '-' ? -1 : 1;
    digits += *digits == '-' || *digits == '+';
    if (!scan_is_digit(*digits)) {
        return ORR_OK; /* a suffix that begins with e, to be refused as such */
    }
    int exponent = 0;
    for (; scan_is_digit(*digits); digits++) {
        exponent = exponent * 10 + (*digits - '0');
        if (exponent > 99) {
            return error_set(err, ORR_ERANGE, "\"%.60s\" is out of range: the exponent is larger than 99", text);
        }
    }
    number->exponent += sign * exponent;
    *at = digits;
    return ORR_OK;
}

static enum orr_status units_scan_number(const char *text, enum units_kind kind, const char **at,
                                         struct units_number *number, struct orr_error *err)
{
    if (*text == '-') {
        return error_set(err, ORR_EINVAL, "\"%.60s\" is negative; a quantity is 0 or more", text);
    }
    *at = text + (*text == '+');
    const char *first = *at;
    if (!units_scan_digits(at, number, 0)) {
        return error_set(err, ORR_ERANGE, "\"%.60s\" does not fit 64 bits", text);
    }
    size_t seen = (size_t)(*at - first);
    if (**at == '.') {
        (*at)++;
        first = *at;
        if (!units_scan_digits(at, number, -1)) {
            return error_set(err, ORR_EINVAL, "\"%.60s\" has more digits than a quantity can have", text);
        }
        seen += (size_t)(*at - first);
    }
    if (seen == 0) {
        return error_set(err, ORR_EINVAL, "\"%.60s\" is not a number with a unit, such as %s", text,
                         kind_examples[kind]);
    }
    return units_scan_exponent(text, at, number, err);
}

static enum orr_status find_unit(const char *suffix, enum units_kind kind, const struct units_row **unit,
                                 struct orr_error *err)
{
    const char *same_kind[UNITS_COUNT + 1] = {NULL};
    char accepted[128] = "";
    size_t count = 0;
    for (size_t i = 0; i < UNITS_COUNT; i++) {
        const struct units_row *row = &units_rows[i];
        if (row->kind == kind) {
            size_t used = strlen(accepted);
            (void)snprintf(accepted + used, sizeof accepted - used, "%s%s", count == 0 ? "" : ", ", row->suffix);
            same_kind[count++] = row->suffix;
        }
        if (strcmp(row->suffix, suffix) == 0) {
            *unit = row;
        }
    }
    if (*unit == NULL) {
        const char *nearest = error_nearest(suffix, same_kind);
        if (nearest != NULL) {
            return error_set(err, ORR_EINVAL, "unknown unit \"%.30s\"; did you mean \"%s\"?", suffix, nearest);
        }
        return error_set(err, ORR_EINVAL, "unknown unit \"%.30s\"; accepted: %s", suffix, accepted);
    }
    if ((*unit)->kind != kind) {
        return error_set(err, ORR_EINVAL, "\"%s\" is the unit of %s, where %s is wanted; accepted: %s", suffix,
                         kind_words[(*unit)->kind], kind_words[kind], accepted);
    }
    return ORR_OK;
}

static enum orr_status units_scale(const char *text, struct units_number number, uint64_t factor, uint64_t *value,
                                   struct orr_error *err)
{
    unsigned __int128 whole = number.digits * factor;
    for (; number.exponent < 0 && whole != 0; number.exponent++) {
        if (whole % 10 != 0) {
            return error_set(err, ORR_EINVAL, "\"%.60s\" is not a whole number of bits a second, nanoseconds or bytes",
                             text);
        }
        whole /= 10;
    }
    for (; number.exponent > 0 && whole != 0 && whole <= UINT64_MAX; number.exponent--) {
        whole *= 10;
    }
    if (whole > UINT64_MAX) {
        return error_set(err, ORR_ERANGE, "\"%.60s\" does not fit 64 bits", text);
    }
    *value = (uint64_t)whole;
    return ORR_OK;
}

enum orr_status units_parse(const char *text, enum units_kind kind, const char *bare_suffix, uint64_t *value,
                            struct orr_error *err)
{
    text += strspn(text, " \t");
    struct units_number number = {0};
    const char *at = text;
    enum orr_status status = units_scan_number(text, kind, &at, &number, err);
    if (status != ORR_OK) {
        return status;
    }
    at += strspn(at, " \t");
    char suffix[64];
    size_t length = strlen(at);
    while (length > 0 && (at[length - 1] == ' ' || at[length - 1] == '\t')) {
        length--;
    }
    if (length >= sizeof suffix) {
        return error_set(err, ORR_EINVAL, "\"%.30s…\" is not a unit", at);
    }
    memcpy(suffix, at, length);
    suffix[length] = '\0';
    const struct units_row *unit = NULL;
    status = find_unit(length == 0 ? bare_suffix : suffix, kind, &unit, err);
    return status != ORR_OK ? status : units_scale(text, number, unit->factor, value, err);
}
