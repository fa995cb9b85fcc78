/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every operation makes a draft on the stack, brings it into the one form it can have and looks it up. The key of a
 * product or sum is its text in numbers, kept by base/intern: a few hundred expressions serve a model of any size, so
 * clarity costs nothing here. A rational number times a sum is carried into the sum, and nothing else is distributed:
 * these are the rules by which the original's algebra decides that two dimensions are the same.
 */
#include "model/stg/expr.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/numbers.h"
#include "model/stg/expr_parts.h"

enum { FACTORS_MAX = 32, TERMS_MAX = 128, EXPONENT_MAX = 64, KEY_BYTES = 2400 };

struct draft {
    int64_t numerator, denominator;
    uint32_t count;
    struct stg_factor factors[FACTORS_MAX];
};

static const char *const symbol_names[STG_SYMBOL_COUNT + 1] = {
#define STG_SYMBOL(id, name) name,
    STG_SYMBOLS(STG_SYMBOL)
#undef STG_SYMBOL
        NULL,
};

const char *stg_symbol_name(enum stg_symbol symbol)
{
    return symbol_names[symbol];
}

enum stg_symbol stg_symbol_find(const char *name, size_t length)
{
    unsigned at = 0;
    while (at < STG_SYMBOL_COUNT &&
           (strlen(symbol_names[at]) != length || memcmp(symbol_names[at], name, length) != 0)) {
        at++;
    }
    return (enum stg_symbol)at;
}

const char *stg_symbol_nearest(const char *name)
{
    return error_nearest(name, symbol_names);
}

void stg_exprs_init(struct stg_exprs *exprs, struct mem *mem)
{
    *exprs = (struct stg_exprs){.mem = mem};
    intern_init(&exprs->product_keys, mem);
    intern_init(&exprs->sum_keys, mem);
}

void stg_exprs_free(struct stg_exprs *exprs)
{
    struct mem *mem = exprs->mem;
    mem_free(mem, exprs->products, exprs->product_capacity * sizeof *exprs->products);
    mem_free(mem, exprs->factors, exprs->factor_capacity * sizeof *exprs->factors);
    mem_free(mem, exprs->sums, exprs->sum_capacity * sizeof *exprs->sums);
    mem_free(mem, exprs->terms, exprs->term_capacity * sizeof *exprs->terms);
    intern_free(&exprs->product_keys);
    intern_free(&exprs->sum_keys);
    stg_exprs_init(exprs, mem);
}

static uint32_t stg_expr_fail(struct stg_exprs *exprs, enum stg_fault fault)
{
    if (exprs->fault == STG_FAULT_NONE) {
        exprs->fault = fault;
    }
    return STG_NO_EXPR;
}

enum orr_status stg_exprs_error(const struct stg_exprs *exprs, const char *what, struct orr_error *err)
{
    switch (exprs->fault) {
    case STG_FAULT_MEMORY:
        return mem_error(exprs->mem, "the expressions of a sheet", err);
    case STG_FAULT_ZERO:
        return error_set(err, ORR_EINVAL, "%s: a division by 0", what);
    case STG_FAULT_LARGE:
    case STG_FAULT_NONE:
    default:
        return error_set(err, ORR_ERANGE, "%s: an expression that is too large", what);
    }
}

/* ---- rational numbers ---- */

static __int128 gcd(__int128 a, __int128 b)
{
    a = a < 0 ? -a : a;
    b = b < 0 ? -b : b;
    while (b != 0) {
        __int128 rest = a % b;
        a = b;
        b = rest;
    }
    return a == 0 ? 1 : a;
}

struct ratio {
    __int128 over, under;
};

static struct ratio reduced(struct ratio ratio)
{
    __int128 common = gcd(ratio.over, ratio.under);
    common = ratio.under < 0 ? -common : common;
    return (struct ratio){ratio.over / common, ratio.under / common};
}

/* Clang, and its check for overflow of signed products, asks its own runtime for 128 bits, which is not linked
 * everywhere: sizes are multiplied without a sign. False when the product is too large. */
static bool product(__int128 a, __int128 b, __int128 *result)
{
    const unsigned __int128 most = ~(unsigned __int128)0 >> 1;
    unsigned __int128 size_a = a < 0 ? -(unsigned __int128)a : (unsigned __int128)a;
    unsigned __int128 size_b = b < 0 ? -(unsigned __int128)b : (unsigned __int128)b;
    if (size_b != 0 && size_a > most / size_b) {
        return false;
    }
    __int128 size = (__int128)(size_a * size_b);
    *result = (a < 0) != (b < 0) ? -size : size;
    return true;
}

static bool stg_expr_multiply(struct ratio a, struct ratio b, struct ratio *result)
{
    struct ratio first = reduced((struct ratio){a.over, b.under});
    struct ratio second = reduced((struct ratio){b.over, a.under});
    return product(first.over, second.over, &result->over) && product(first.under, second.under, &result->under);
}

static bool model_stg_expr_add(struct ratio a, struct ratio b, struct ratio *result)
{
    __int128 left = 0;
    __int128 right = 0;
    __int128 over = 0;
    __int128 under = 0;
    if (!product(a.over, b.under, &left) || !product(b.over, a.under, &right) ||
        __builtin_add_overflow(left, right, &over) || !product(a.under, b.under, &under)) {
        return false;
    }
    *result = reduced((struct ratio){over, under});
    return true;
}

static bool fits(struct ratio ratio)
{
    return ratio.over >= -INT64_MAX && ratio.over <= INT64_MAX && ratio.under <= INT64_MAX;
}

/* ---- products ---- */

static uint32_t symbols_of(const struct stg_exprs *exprs, uint32_t base)
{
    return base < STG_SYMBOL_COUNT ? UINT32_C(1) << base : exprs->sums[base - STG_SYMBOL_COUNT].symbols;
}

static size_t product_key(const struct draft *draft, char key[KEY_BYTES])
{
    size_t used = (size_t)snprintf(key, KEY_BYTES, "%" PRId64 "/%" PRId64, draft->numerator, draft->denominator);
    for (uint32_t i = 0; i < draft->count; i++) {
        used += (size_t)snprintf(key + used, KEY_BYTES - used, ";%" PRIu32 "^%" PRId32, draft->factors[i].base,
                                 draft->factors[i].exponent);
    }
    return used;
}

/* The number of a draft that is in its final form. */
static uint32_t keep_product(struct stg_exprs *exprs, const struct draft *draft)
{
    char key[KEY_BYTES];
    uint32_t known = intern_count(&exprs->product_keys);
    uint32_t number = 0;
    if (exprs->fault == STG_FAULT_MEMORY) { /* a key may then stand without its product */
        return STG_NO_EXPR;
    }
    if (!intern_add(&exprs->product_keys, key, product_key(draft, key), &number)) {
        return stg_expr_fail(exprs, STG_FAULT_MEMORY);
    }
    uint32_t index = number - 1;
    if (number < known) {
        return index;
    }
    if (!MEM_GROW(exprs->mem, exprs->products, exprs->product_capacity, index) ||
        !MEM_RESERVE(exprs->mem, exprs->factors, exprs->factor_capacity,
                     (uint64_t)exprs->factor_count + draft->count + 1)) {
        return stg_expr_fail(exprs, STG_FAULT_MEMORY);
    }
    struct stg_product *product = &exprs->products[index];
    *product = (struct stg_product){draft->numerator, draft->denominator, exprs->factor_count, draft->count, 0};
    for (uint32_t i = 0; i < draft->count; i++) {
        exprs->factors[exprs->factor_count++] = draft->factors[i];
        product->symbols |= symbols_of(exprs, draft->factors[i].base);
    }
    return index;
}

static void draft_of(const struct stg_exprs *exprs, uint32_t expr, struct draft *draft)
{
    const struct stg_product *product = &exprs->products[expr];
    draft->numerator = product->numerator;
    draft->denominator = product->denominator;
    draft->count = product->count;
    if (product->count > 0) {
        memcpy(draft->factors, exprs->factors + product->first, product->count * sizeof draft->factors[0]);
    }
}

static bool draft_scale(struct draft *draft, int64_t numerator, int64_t denominator)
{
    struct ratio result;
    struct ratio own = {draft->numerator, draft->denominator};
    if (!stg_expr_multiply(own, reduced((struct ratio){numerator, denominator}), &result) || !fits(result)) {
        return false;
    }
    draft->numerator = (int64_t)result.over;
    draft->denominator = (int64_t)result.under;
    return true;
}

static bool draft_factor(struct draft *draft, uint32_t base, int32_t exponent)
{
    uint32_t at = 0;
    while (at < draft->count && draft->factors[at].base < base) {
        at++;
    }
    if (at < draft->count && draft->factors[at].base == base) {
        int32_t both = draft->factors[at].exponent + exponent;
        draft->factors[at].exponent = both;
        if (both == 0) {
            draft->count--;
            memmove(draft->factors + at, draft->factors + at + 1, (draft->count - at) * sizeof draft->factors[0]);
        }
        return both <= EXPONENT_MAX && both >= -EXPONENT_MAX;
    }
    if (draft->count == FACTORS_MAX) {
        return false;
    }
    memmove(draft->factors + at + 1, draft->factors + at, (draft->count - at) * sizeof draft->factors[0]);
    draft->factors[at] = (struct stg_factor){base, exponent};
    draft->count++;
    return true;
}

/* ---- sums ---- */

struct terms {
    uint32_t count;
    uint32_t items[TERMS_MAX];
};

static bool same_factors(const struct stg_exprs *exprs, uint32_t a, uint32_t b)
{
    const struct stg_product *left = &exprs->products[a];
    const struct stg_product *right = &exprs->products[b];
    return left->count == right->count &&
           (left->count == 0 || memcmp(exprs->factors + left->first, exprs->factors + right->first,
                                       left->count * sizeof *exprs->factors) == 0);
}

/* Adds one product to the terms, joining it with the one that has the same factors. */
static bool terms_add(struct stg_exprs *exprs, struct terms *terms, uint32_t expr)
{
    if (stg_expr_is_zero(exprs, expr)) {
        return true;
    }
    for (uint32_t i = 0; i < terms->count; i++) {
        if (!same_factors(exprs, terms->items[i], expr)) {
            continue;
        }
        struct draft draft;
        struct ratio sum;
        const struct stg_product *own = &exprs->products[terms->items[i]];
        const struct stg_product *more = &exprs->products[expr];
        if (!model_stg_expr_add((struct ratio){own->numerator, own->denominator},
                                (struct ratio){more->numerator, more->denominator}, &sum) ||
            !fits(sum)) {
            (void)stg_expr_fail(exprs, STG_FAULT_LARGE);
            return false;
        }
        if (sum.over == 0) {
            terms->items[i] = terms->items[--terms->count];
            return true;
        }
        draft_of(exprs, expr, &draft);
        draft.numerator = (int64_t)sum.over;
        draft.denominator = (int64_t)sum.under;
        terms->items[i] = keep_product(exprs, &draft);
        return terms->items[i] != STG_NO_EXPR;
    }
    if (terms->count == TERMS_MAX) {
        (void)stg_expr_fail(exprs, STG_FAULT_LARGE);
        return false;
    }
    terms->items[terms->count++] = expr;
    return true;
}

static bool terms_add_all(struct stg_exprs *exprs, struct terms *terms, uint32_t expr)
{
    uint32_t sum = stg_bare_sum(exprs, expr);
    if (sum == UINT32_MAX) {
        return terms_add(exprs, terms, expr);
    }
    bool fine = true;
    for (uint32_t i = 0; i < exprs->sums[sum].count && fine; i++) {
        fine = terms_add(exprs, terms, exprs->terms[exprs->sums[sum].first + i]);
    }
    return fine;
}

static uint32_t keep_sum(struct stg_exprs *exprs, struct terms *terms)
{
    char key[KEY_BYTES];
    size_t used = 0;
    uint32_t known = intern_count(&exprs->sum_keys);
    uint32_t number = 0;
    qsort(terms->items, terms->count, sizeof terms->items[0], numbers_order_u32);
    for (uint32_t i = 0; i < terms->count; i++) {
        used += (size_t)snprintf(key + used, KEY_BYTES - used, ";%" PRIu32, terms->items[i]);
    }
    if (!intern_add(&exprs->sum_keys, key, used, &number)) {
        return stg_expr_fail(exprs, STG_FAULT_MEMORY);
    }
    uint32_t index = number - 1;
    if (number >= known) {
        if (!MEM_GROW(exprs->mem, exprs->sums, exprs->sum_capacity, index) ||
            !MEM_RESERVE(exprs->mem, exprs->terms, exprs->term_capacity, (uint64_t)exprs->term_count + terms->count)) {
            return stg_expr_fail(exprs, STG_FAULT_MEMORY);
        }
        struct stg_sum *sum = &exprs->sums[index];
        *sum = (struct stg_sum){exprs->term_count, terms->count, 0};
        for (uint32_t i = 0; i < terms->count; i++) {
            exprs->terms[exprs->term_count++] = terms->items[i];
            sum->symbols |= exprs->products[terms->items[i]].symbols;
        }
    }
    struct draft draft = {.numerator = 1, .denominator = 1, .count = 1, .factors = {{STG_SYMBOL_COUNT + index, 1}}};
    return keep_product(exprs, &draft);
}

static uint32_t terms_close(struct stg_exprs *exprs, struct terms *terms)
{
    if (terms->count == 0) {
        return stg_expr_number(exprs, 0, 1);
    }
    return terms->count == 1 ? terms->items[0] : keep_sum(exprs, terms);
}

/* A draft in its final form: a number times a bare sum is carried into the sum. */
static uint32_t draft_close(struct stg_exprs *exprs, struct draft *draft)
{
    if (draft->numerator == 0) {
        draft->count = 0;
        draft->denominator = 1;
    }
    bool carries = draft->count == 1 && draft->factors[0].exponent == 1 && draft->factors[0].base >= STG_SYMBOL_COUNT &&
                   (draft->numerator != 1 || draft->denominator != 1);
    if (!carries) {
        return keep_product(exprs, draft);
    }
    struct terms terms = {0};
    struct stg_sum sum = exprs->sums[draft->factors[0].base - STG_SYMBOL_COUNT];
    for (uint32_t i = 0; i < sum.count; i++) {
        struct draft term;
        draft_of(exprs, exprs->terms[sum.first + i], &term);
        if (!draft_scale(&term, draft->numerator, draft->denominator)) {
            return stg_expr_fail(exprs, STG_FAULT_LARGE);
        }
        uint32_t made = keep_product(exprs, &term);
        if (made == STG_NO_EXPR || !terms_add(exprs, &terms, made)) {
            return STG_NO_EXPR;
        }
    }
    return terms_close(exprs, &terms);
}

/* ---- operations ---- */

uint32_t stg_expr_number(struct stg_exprs *exprs, int64_t numerator, int64_t denominator)
{
    struct draft draft = {.numerator = 1, .denominator = 1};
    if (denominator == 0) {
        return stg_expr_fail(exprs, STG_FAULT_ZERO);
    }
    if (!draft_scale(&draft, numerator, denominator)) {
        return stg_expr_fail(exprs, STG_FAULT_LARGE);
    }
    return keep_product(exprs, &draft);
}

uint32_t stg_expr_symbol(struct stg_exprs *exprs, enum stg_symbol symbol)
{
    struct draft draft = {.numerator = 1, .denominator = 1, .count = 1, .factors = {{symbol, 1}}};
    return keep_product(exprs, &draft);
}

uint32_t stg_expr_add(struct stg_exprs *exprs, uint32_t a, uint32_t b)
{
    struct terms terms = {0};
    if (a == STG_NO_EXPR || b == STG_NO_EXPR || !terms_add_all(exprs, &terms, a) || !terms_add_all(exprs, &terms, b)) {
        return STG_NO_EXPR;
    }
    return terms_close(exprs, &terms);
}

uint32_t stg_expr_mul(struct stg_exprs *exprs, uint32_t a, uint32_t b)
{
    if (a == STG_NO_EXPR || b == STG_NO_EXPR) {
        return STG_NO_EXPR;
    }
    struct draft draft;
    draft_of(exprs, a, &draft);
    struct stg_product more = exprs->products[b];
    bool fine = draft_scale(&draft, more.numerator, more.denominator);
    for (uint32_t i = 0; i < more.count && fine; i++) {
        const struct stg_factor *factor = &exprs->factors[more.first + i];
        fine = draft_factor(&draft, factor->base, factor->exponent);
    }
    return fine ? draft_close(exprs, &draft) : stg_expr_fail(exprs, STG_FAULT_LARGE);
}

uint32_t stg_expr_pow(struct stg_exprs *exprs, uint32_t a, int32_t exponent)
{
    if (a == STG_NO_EXPR) {
        return STG_NO_EXPR;
    }
    struct draft base;
    struct draft draft = {.numerator = 1, .denominator = 1};
    draft_of(exprs, a, &base);
    if (exponent < 0 && base.numerator == 0) {
        return stg_expr_fail(exprs, STG_FAULT_ZERO);
    }
    if (exponent > EXPONENT_MAX || exponent < -EXPONENT_MAX) {
        return stg_expr_fail(exprs, STG_FAULT_LARGE);
    }
    int32_t times = exponent < 0 ? -exponent : exponent;
    for (int32_t i = 0; i < times; i++) {
        bool fine = exponent < 0 ? draft_scale(&draft, base.denominator, base.numerator)
                                 : draft_scale(&draft, base.numerator, base.denominator);
        if (!fine) {
            return stg_expr_fail(exprs, STG_FAULT_LARGE);
        }
    }
    for (uint32_t i = 0; i < base.count && exponent != 0; i++) {
        int64_t power = (int64_t)base.factors[i].exponent * exponent;
        if (power > EXPONENT_MAX || power < -EXPONENT_MAX ||
            !draft_factor(&draft, base.factors[i].base, (int32_t)power)) {
            return stg_expr_fail(exprs, STG_FAULT_LARGE);
        }
    }
    return draft_close(exprs, &draft);
}

uint32_t stg_expr_div(struct stg_exprs *exprs, uint32_t a, uint32_t b)
{
    return stg_expr_mul(exprs, a, stg_expr_pow(exprs, b, -1));
}

/* Sums stand in products and products in sums, as deep as the parser lets parentheses nest. */
uint32_t stg_expr_substitute(struct stg_exprs *exprs, uint32_t expr, const uint32_t to[STG_SYMBOL_COUNT])
{
    if (expr == STG_NO_EXPR) {
        return STG_NO_EXPR;
    }
    struct draft draft = {0};
    draft_of(exprs, expr, &draft);
    uint32_t result = stg_expr_number(exprs, draft.numerator, draft.denominator);
    for (uint32_t i = 0; i < draft.count; i++) {
        uint32_t base = draft.factors[i].base;
        uint32_t value = 0;
        if (base < STG_SYMBOL_COUNT) {
            value = to[base] != STG_NO_EXPR ? to[base] : stg_expr_symbol(exprs, (enum stg_symbol)base);
        } else {
            struct stg_sum sum = exprs->sums[base - STG_SYMBOL_COUNT];
            value = stg_expr_number(exprs, 0, 1);
            for (uint32_t t = 0; t < sum.count; t++) {
                value = stg_expr_add(exprs, value, stg_expr_substitute(exprs, exprs->terms[sum.first + t], to));
            }
        }
        result = stg_expr_mul(exprs, result, stg_expr_pow(exprs, value, draft.factors[i].exponent));
    }
    return result;
}

uint32_t stg_expr_symbols(const struct stg_exprs *exprs, uint32_t expr)
{
    return exprs->products[expr].symbols;
}

bool stg_expr_is_zero(const struct stg_exprs *exprs, uint32_t expr)
{
    return exprs->products[expr].numerator == 0;
}

/* ---- values ---- */

static bool product_value(const struct stg_exprs *exprs, uint32_t expr, const uint64_t values[STG_SYMBOL_COUNT],
                          struct ratio *value);

static bool sum_value(const struct stg_exprs *exprs, uint32_t number, const uint64_t values[STG_SYMBOL_COUNT],
                      struct ratio *value)
{
    const struct stg_sum *sum = &exprs->sums[number];
    *value = (struct ratio){0, 1};
    for (uint32_t i = 0; i < sum->count; i++) {
        struct ratio term;
        if (!product_value(exprs, exprs->terms[sum->first + i], values, &term) ||
            !model_stg_expr_add(*value, term, value)) {
            return false;
        }
    }
    return true;
}

static bool product_value(const struct stg_exprs *exprs, uint32_t expr, const uint64_t values[STG_SYMBOL_COUNT],
                          struct ratio *value)
{
    const struct stg_product *product = &exprs->products[expr];
    *value = (struct ratio){product->numerator, product->denominator};
    for (uint32_t i = 0; i < product->count; i++) {
        const struct stg_factor *factor = &exprs->factors[product->first + i];
        struct ratio base = {0, 1};
        if (factor->base < STG_SYMBOL_COUNT) {
            base.over = (__int128)values[factor->base];
        } else if (!sum_value(exprs, factor->base - STG_SYMBOL_COUNT, values, &base)) {
            return false;
        }
        if (factor->exponent < 0) {
            base = (struct ratio){base.under, base.over};
        }
        if (base.under == 0) {
            return false;
        }
        for (int32_t n = factor->exponent < 0 ? -factor->exponent : factor->exponent; n > 0; n--) {
            if (!stg_expr_multiply(*value, base, value)) {
                return false;
            }
        }
    }
    return true;
}

bool stg_expr_value(const struct stg_exprs *exprs, uint32_t expr, const uint64_t values[STG_SYMBOL_COUNT],
                    struct stg_value *value)
{
    struct ratio ratio;
    if (!product_value(exprs, expr, values, &ratio)) {
        return false;
    }
    ratio = reduced(ratio);
    if (!fits(ratio)) {
        return false;
    }
    *value = (struct stg_value){(int64_t)ratio.over, (int64_t)ratio.under};
    return true;
}
