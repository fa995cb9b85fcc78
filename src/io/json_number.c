/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Numbers, read and written. Most in a trace are short integers or times with three decimals: those are done here, the
 * second by one exact division (both operands are exact in a double, so the result is the nearest one). The rest goes
 * to the C++ library, which is exact too but slower.
 */
#include <math.h>

#include "io/json_flatten.h"

/* Python refuses longer integers since 3.11 (sys.int_info.default_max_str_digits): reading them takes quadratic time.
 */
enum { INTEGER_DIGITS = 4300, EXACT_POWERS = 23 };

static const double powers[EXACT_POWERS] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                            1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

static inline bool is_digit(char c)
{
    return (unsigned char)(c - '0') < 10;
}

static uint32_t word_read(const char *text, struct json_item *item, const char **what)
{
    static const struct {
        const char *word;
        uint32_t length;
        enum json_item_kind kind;
        double real;
    } words[] = {{"true", 4, JSON_ITEM_TRUE, 0},
                 {"false", 5, JSON_ITEM_FALSE, 0},
                 {"null", 4, JSON_ITEM_NULL, 0},
                 {"NaN", 3, JSON_ITEM_REAL, (double)NAN},
                 {"Infinity", 8, JSON_ITEM_REAL, (double)INFINITY},
                 {"-Infinity", 9, JSON_ITEM_REAL, -(double)INFINITY}};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (strncmp(text, words[i].word, words[i].length) == 0) {
            bool real = words[i].kind == JSON_ITEM_REAL;
            *item = (struct json_item){.text = real ? text : NULL,
                                       .length = real ? words[i].length : 0,
                                       .span = 1,
                                       .value.real = words[i].real,
                                       .kind = words[i].kind};
            return words[i].length;
        }
    }
    *what = "a value";
    return 0;
}

struct decimal {
    uint64_t digits; /* as one integer; meaningless above 19 of them */
    uint32_t count;  /* of digits, on both sides of the point */
    uint32_t behind; /* the point */
    const char *end;
};

static inline void digits_read(struct decimal *decimal, bool behind)
{
    const char *at = decimal->end;
    uint64_t digits = decimal->digits;
    for (; is_digit(*at); at++) {
        digits = digits * 10 + (uint64_t)(*at - '0');
    }
    uint32_t more = (uint32_t)(at - decimal->end);
    decimal->digits = digits;
    decimal->count += more;
    decimal->behind += behind ? more : 0;
    decimal->end = at;
}

/* The part behind the digits before the point; NULL when it is malformed. */
static const char *fraction_read(struct decimal *decimal, bool *exponent)
{
    if (*decimal->end == '.') {
        decimal->end++;
        if (!is_digit(*decimal->end)) {
            return NULL;
        }
        digits_read(decimal, true);
    }
    *exponent = *decimal->end == 'e' || *decimal->end == 'E';
    if (*exponent) {
        decimal->end += decimal->end[1] == '+' || decimal->end[1] == '-' ? 2 : 1;
        if (!is_digit(*decimal->end)) {
            return NULL;
        }
        while (is_digit(*decimal->end)) {
            decimal->end++;
        }
    }
    return decimal->end;
}

static void integer_set(struct json_item *item, const struct decimal *decimal, bool negative)
{
    uint64_t limit = (uint64_t)INT64_MAX + (negative ? 1 : 0);
    if (decimal->count <= 19 && decimal->digits <= limit) {
        item->kind = JSON_ITEM_INT;
        item->value.integer = (int64_t)(negative ? 0 - decimal->digits : decimal->digits);
    } else {
        item->kind = JSON_ITEM_BIG;
        item->value.real = json_shim_real(item->text, item->length);
    }
}

static void real_set(struct json_item *item, const struct decimal *decimal, bool negative, bool exponent)
{
    item->kind = JSON_ITEM_REAL;
    if (!exponent && decimal->count <= 19 && decimal->digits <= (uint64_t)1 << 53 && decimal->behind < EXACT_POWERS) {
        double value = (double)decimal->digits / powers[decimal->behind];
        item->value.real = negative ? -value : value;
    } else {
        item->value.real = json_shim_real(item->text, item->length);
    }
}

uint32_t json_scalar_read(const char *text, struct json_item *item, const char **what)
{
    bool negative = *text == '-';
    struct decimal decimal = {.end = text + (negative ? 1 : 0)};
    if (!is_digit(*decimal.end)) {
        return word_read(text, item, what);
    }
    const char *first = decimal.end;
    digits_read(&decimal, false);
    if (*first == '0' && decimal.end - first > 1) {
        *what = "a number without leading zeros";
        return 0;
    }
    bool whole = *decimal.end != '.' && *decimal.end != 'e' && *decimal.end != 'E';
    bool exponent = false;
    if (!whole && fraction_read(&decimal, &exponent) == NULL) {
        *what = "a number with digits behind its point and in its exponent";
        return 0;
    }
    if (whole && decimal.count > INTEGER_DIGITS) {
        *what = "an integer of at most 4300 digits";
        return 0;
    }
    uint32_t length = (uint32_t)(decimal.end - text);
    *item = (struct json_item){.text = text, .length = length, .span = 1};
    if (whole) {
        integer_set(item, &decimal, negative);
    } else {
        real_set(item, &decimal, negative, exponent);
    }
    return length;
}

/* Python's repr: digits plain while the exponent is from -4 to 15, with ".0" behind a whole number; beyond that one
 * digit, a point where more follow, and an exponent of at least two digits. */
unsigned json_real_repr(double value, char text[JSON_REAL_ROOM])
{
    if (!isfinite(value)) {
        const char *word = isnan(value) ? "nan" : value < 0 ? "-inf" : "inf";
        return (unsigned)snprintf(text, JSON_REAL_ROOM, "%s", word);
    }
    char made[JSON_REAL_ROOM];
    unsigned length = json_shim_digits(value, made, sizeof made);
    char digits[JSON_REAL_ROOM] = "";
    int count = 0;
    unsigned at = made[0] == '-' ? 1 : 0;
    for (; at < length && made[at] != 'e'; at++) {
        if (made[at] != '.') {
            digits[count++] = made[at];
        }
    }
    int exponent = 0;
    for (unsigned i = at + 2; i < length; i++) {
        exponent = exponent * 10 + (made[i] - '0');
    }
    exponent = made[at + 1] == '-' ? -exponent : exponent;
    const char *sign = made[0] == '-' ? "-" : "";
    if (exponent < -4 || exponent >= 16) {
        return (unsigned)snprintf(text, JSON_REAL_ROOM, "%s%c%s%.*se%c%02d", sign, digits[0], count > 1 ? "." : "",
                                  count - 1, digits + 1, exponent < 0 ? '-' : '+', exponent < 0 ? -exponent : exponent);
    }
    if (exponent < 0) {
        return (unsigned)snprintf(text, JSON_REAL_ROOM, "%s0.%.*s%.*s", sign, -exponent - 1, "000", count, digits);
    }
    int before = exponent + 1;
    int zeros = before > count ? before - count : 0;
    const char *behind = before < count ? digits + before : "0";
    return (unsigned)snprintf(text, JSON_REAL_ROOM, "%s%.*s%.*s.%.*s", sign, before - zeros, digits, zeros,
                              "000000000000000", before < count ? count - before : 1, behind);
}
