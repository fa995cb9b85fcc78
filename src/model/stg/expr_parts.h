/* SPDX-License-Identifier: Apache-2.0 */
/* How expressions are kept: shared by the files that are the expression module, and by no one else. */
#ifndef ORR_MODEL_STG_EXPR_PARTS_H
#define ORR_MODEL_STG_EXPR_PARTS_H

#include "model/stg/expr.h"

struct stg_factor {
    uint32_t base; /* a symbol, or STG_SYMBOL_COUNT + the number of a sum */
    int32_t exponent;
};

struct stg_product {
    int64_t numerator, denominator; /* lowest terms, denominator above 0 */
    uint32_t first, count;          /* factors, by rising base */
    uint32_t symbols;
};

/* Two terms or more, by rising number, no two with the same factors, none a bare sum. */
struct stg_sum {
    uint32_t first, count;
    uint32_t symbols;
};

/* The sum that an expression is, when it is nothing else; UINT32_MAX otherwise. */
static inline uint32_t stg_bare_sum(const struct stg_exprs *exprs, uint32_t expr)
{
    const struct stg_product *product = &exprs->products[expr];
    if (product->numerator != 1 || product->denominator != 1 || product->count != 1) {
        return UINT32_MAX;
    }
    const struct stg_factor *factor = &exprs->factors[product->first];
    return factor->exponent == 1 && factor->base >= STG_SYMBOL_COUNT ? factor->base - STG_SYMBOL_COUNT : UINT32_MAX;
}

#endif
