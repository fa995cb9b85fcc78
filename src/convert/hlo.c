/* SPDX-License-Identifier: Apache-2.0 */
/* Names are compared whole, up to the first '.': "reduce", "gather" and "scatter" are local operations in HLO, so
 * looking for words inside names would find collectives where there are none. Shapes are read without a grammar of
 * layouts: whatever stands in braces is passed over. */
#include "convert/hlo.h"

#include <string.h>

#include "base/scan.h"

static const struct {
    const char *name;
    enum comm_kind kind;
} operations[] = {
    {"all-reduce", COMM_ALL_REDUCE},
    {"all-gather", COMM_ALL_GATHER},
    {"reduce-scatter", COMM_REDUCE_SCATTER},
    {"all-to-all", COMM_ALL_TO_ALL},
    {"ragged-all-to-all", COMM_ALL_TO_ALL},
    {"collective-broadcast", COMM_BROADCAST},
    {"collective-permute", COMM_UNKNOWN},
    {"send", COMM_UNKNOWN},
    {"recv", COMM_UNKNOWN},
};

static bool drop_end(const char *name, size_t *length, const char *end)
{
    size_t size = strlen(end);
    if (*length <= size || memcmp(name + *length - size, end, size) != 0) {
        return false;
    }
    *length -= size;
    return true;
}

enum comm_kind hlo_name_kind(const char *name, size_t length, enum hlo_half *half)
{
    *half = HLO_WHOLE;
    if (length > 0 && name[0] == '%') {
        name++;
        length--;
    }
    const char *dot = memchr(name, '.', length);
    length = dot == NULL ? length : (size_t)(dot - name);
    if (drop_end(name, &length, "-start")) {
        *half = HLO_START;
    } else if (drop_end(name, &length, "-done")) {
        *half = HLO_DONE;
    }
    for (size_t i = 0; i < sizeof operations / sizeof operations[0]; i++) {
        if (strlen(operations[i].name) == length && memcmp(operations[i].name, name, length) == 0) {
            return operations[i].kind;
        }
    }
    return COMM_NONE;
}

const char *hlo_name_suffix(const char *name, size_t length, size_t *suffix_length)
{
    const char *dot = length == 0 ? NULL : memchr(name, '.', length);
    *suffix_length = dot == NULL ? 0 : length - (size_t)(dot + 1 - name);
    return dot == NULL ? "" : dot + 1;
}

/* Bits of one element; 0 for what is no element type. "token" and "opaque" take none and are no elements either. */
static uint64_t type_bits(const char *type, size_t length)
{
    static const struct {
        const char *name;
        uint64_t bits;
    } types[] = {
        {"pred", 8}, {"s2", 2},   {"u2", 2},   {"s4", 4},   {"u4", 4},    {"f4e2m1fn", 4}, {"s8", 8},
        {"u8", 8},   {"s16", 16}, {"u16", 16}, {"f16", 16}, {"bf16", 16}, {"s32", 32},     {"u32", 32},
        {"f32", 32}, {"s64", 64}, {"u64", 64}, {"f64", 64}, {"c64", 64},  {"c128", 128},
    };
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        if (strlen(types[i].name) == length && memcmp(types[i].name, type, length) == 0) {
            return types[i].bits;
        }
    }
    return length > 2 && memcmp(type, "f8", 2) == 0 ? 8 : 0;
}

/* "2,64]": the product of the extents, up to and with the bracket. "<=" before a bounded one is passed over. */
static bool read_extents(const char *shape, size_t length, size_t *at, uint64_t *product)
{
    *product = 1;
    while (*at < length && shape[*at] != ']') {
        uint64_t extent = 0;
        for (; *at < length && strchr(" ,<=", shape[*at]) != NULL; ++*at) {
        }
        size_t digits = scan_digits(shape + *at, length - *at, &extent);
        *at += digits;
        if (digits == 0 || extent == UINT64_MAX || __builtin_mul_overflow(*product, extent, product)) {
            return false;
        }
    }
    return (*at)++ < length;
}

static void skip_braces(const char *shape, size_t length, size_t *at)
{
    size_t depth = 0;
    do {
        depth += shape[*at] == '{';
        depth -= shape[*at] == '}';
        ++*at;
    } while (*at < length && depth > 0);
}

/* "f32[2,64]" at `*at`. */
static bool read_array(const char *shape, size_t length, size_t *at, uint64_t *bytes)
{
    size_t begin = *at;
    uint64_t elements = 0;
    uint64_t bits = 0;
    while (*at < length && strchr("[(){}, ", shape[*at]) == NULL) {
        ++*at;
    }
    size_t type_length = *at - begin;
    *bytes = 0;
    if (*at == length || shape[*at] != '[') {
        return type_length == 5 && memcmp(shape + begin, "token", 5) == 0;
    }
    ++*at;
    uint64_t width = type_bits(shape + begin, type_length);
    if (!read_extents(shape, length, at, &elements) || __builtin_mul_overflow(elements, width, &bits)) {
        return false;
    }
    *bytes = bits / 8 + (bits % 8 != 0);
    return width != 0 || (type_length == 5 && memcmp(shape + begin, "token", 5) == 0) ||
           (type_length == 6 && memcmp(shape + begin, "opaque", 6) == 0);
}

bool hlo_shape_bytes(const char *shape, size_t length, bool first_only, uint64_t *bytes)
{
    size_t depth = 0;
    uint64_t sum = 0;
    bool any = false;
    for (size_t at = 0; at < length;) {
        char c = shape[at];
        if (c == '{') {
            skip_braces(shape, length, &at);
        } else if (c == '(' || c == ')') {
            depth += c == '(';
            if (c == ')' && depth-- == 0) {
                return false;
            }
            at++;
        } else if (c == ',' || c == ' ') {
            if (c == ',' && first_only && depth == 1 && any) {
                break;
            }
            at++;
        } else {
            uint64_t one = 0;
            if (!read_array(shape, length, &at, &one) || __builtin_add_overflow(sum, one, &sum)) {
                return false;
            }
            any = true;
        }
    }
    if (!any || sum > INT64_MAX) {
        return false;
    }
    *bytes = sum;
    return true;
}
