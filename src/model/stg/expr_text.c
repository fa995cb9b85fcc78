/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Expressions as the original prints them, since it glues shapes to the names of tensors: symbols by ASCII order, sums
 * behind them, the divisor in parentheses when it has several factors; the terms of a sum by falling powers of the
 * symbols in that order.
 */
#include <stdlib.h>
#include <string.h>

#include "model/stg/expr_parts.h"
#include "model/stg/expr_text.h"

enum { FACTORS_MAX = 32 };

static void print_product(const struct stg_exprs *exprs, uint32_t expr, bool unsigned_, struct stg_text *text);

static int by_name(const void *a, const void *b)
{
    uint32_t left = ((const struct stg_factor *)a)->base;
    uint32_t right = ((const struct stg_factor *)b)->base;
    if (left < STG_SYMBOL_COUNT && right < STG_SYMBOL_COUNT) {
        return strcmp(stg_symbol_name((enum stg_symbol)left), stg_symbol_name((enum stg_symbol)right));
    }
    return (left > right) - (left < right);
}

/* The power of `symbol` in a product; sums in it do not count. */
static int32_t power_of(const struct stg_exprs *exprs, uint32_t expr, uint32_t symbol)
{
    const struct stg_product *product = &exprs->products[expr];
    for (uint32_t i = 0; i < product->count; i++) {
        if (exprs->factors[product->first + i].base == symbol) {
            return exprs->factors[product->first + i].exponent;
        }
    }
    return 0;
}

static void symbols_by_name(struct stg_factor sorted[STG_SYMBOL_COUNT])
{
    for (uint32_t i = 0; i < STG_SYMBOL_COUNT; i++) {
        sorted[i] = (struct stg_factor){i, 0};
    }
    qsort(sorted, STG_SYMBOL_COUNT, sizeof sorted[0], by_name);
}

/* Whether `a` is printed before `b`. */
static bool before(const struct stg_exprs *exprs, const struct stg_factor sorted[STG_SYMBOL_COUNT], uint32_t a,
                   uint32_t b)
{
    for (uint32_t i = 0; i < STG_SYMBOL_COUNT; i++) {
        int32_t left = power_of(exprs, a, sorted[i].base);
        int32_t right = power_of(exprs, b, sorted[i].base);
        if (left != right) {
            return left > right;
        }
    }
    return a < b;
}

static void print_sum(const struct stg_exprs *exprs, uint32_t number, struct stg_text *text)
{
    const struct stg_sum *sum = &exprs->sums[number];
    struct stg_factor sorted[STG_SYMBOL_COUNT];
    symbols_by_name(sorted);
    uint32_t last = STG_NO_EXPR;
    for (uint32_t done = 0; done < sum->count; done++) {
        uint32_t next = STG_NO_EXPR;
        for (uint32_t i = 0; i < sum->count; i++) {
            uint32_t term = exprs->terms[sum->first + i];
            bool later = last == STG_NO_EXPR || before(exprs, sorted, last, term);
            if (later && (next == STG_NO_EXPR || before(exprs, sorted, term, next))) {
                next = term;
            }
        }
        bool negative = exprs->products[next].numerator < 0;
        stg_text_add(text, done == 0 ? (negative ? "-" : "") : (negative ? " - " : " + "));
        print_product(exprs, next, true, text);
        last = next;
    }
}

static void print_factor(const struct stg_exprs *exprs, uint32_t base, int32_t exponent, struct stg_text *text)
{
    if (base < STG_SYMBOL_COUNT) {
        stg_text_add(text, stg_symbol_name((enum stg_symbol)base));
    } else {
        stg_text_add(text, "(");
        print_sum(exprs, base - STG_SYMBOL_COUNT, text);
        stg_text_add(text, ")");
    }
    if (exponent != 1) {
        stg_text_add(text, "**");
        stg_text_number(text, (uint64_t)exponent);
    }
}

/* The factors with a power of the given sign, behind the whole number `number` unless that is 1. */
static uint32_t print_side(const struct stg_exprs *exprs, const struct stg_factor *factors, uint32_t count, int sign,
                           uint64_t number, struct stg_text *text)
{
    uint32_t printed = 0;
    if (number != 1) {
        stg_text_number(text, number);
        printed = 1;
    }
    for (uint32_t i = 0; i < count; i++) {
        if (factors[i].exponent * sign > 0) {
            stg_text_add(text, printed++ == 0 ? "" : "*");
            print_factor(exprs, factors[i].base, factors[i].exponent * sign, text);
        }
    }
    return printed;
}

static void print_product(const struct stg_exprs *exprs, uint32_t expr, bool unsigned_, struct stg_text *text)
{
    const struct stg_product *product = &exprs->products[expr];
    struct stg_factor factors[FACTORS_MAX];
    uint32_t below = product->denominator != 1;
    memcpy(factors, exprs->factors + product->first, product->count * sizeof factors[0]);
    qsort(factors, product->count, sizeof factors[0], by_name);
    for (uint32_t i = 0; i < product->count; i++) {
        below += factors[i].exponent < 0;
    }
    bool negative = product->numerator < 0;
    uint64_t number = negative ? (uint64_t)-product->numerator : (uint64_t)product->numerator;
    stg_text_add(text, negative && !unsigned_ ? "-" : "");
    if (print_side(exprs, factors, product->count, 1, number, text) == 0) {
        stg_text_add(text, "1");
    }
    if (below > 0) {
        stg_text_add(text, below > 1 ? "/(" : "/");
        (void)print_side(exprs, factors, product->count, -1, (uint64_t)product->denominator, text);
        stg_text_add(text, below > 1 ? ")" : "");
    }
}

void stg_expr_print(const struct stg_exprs *exprs, uint32_t expr, struct stg_text *text)
{
    uint32_t sum = stg_bare_sum(exprs, expr);
    if (sum != UINT32_MAX) {
        print_sum(exprs, sum, text);
    } else {
        print_product(exprs, expr, false, text);
    }
}
