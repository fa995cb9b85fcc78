/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The arithmetic of sheets: shapes, operation counts and slices are expressions over nineteen known symbols (Batch,
 * Dmodel, tp, …). An expression is a rational coefficient times powers of symbols and of sums; each is kept once, so
 * that two expressions are equal exactly when their numbers are, and "is this dimension split over tp" is a bit test.
 * Nothing is ever expanded: (Head + 2*KVHead)/tp stays as it is, which is also how the original prints it.
 *
 * Failures (memory, a coefficient beyond 64 bits, a division by 0) are remembered in `fault` and pass through every
 * later operation as STG_NO_EXPR, so that a chain of operations is checked once, at its end. Knows no file.
 */
#ifndef ORR_MODEL_STG_EXPR_H
#define ORR_MODEL_STG_EXPR_H

#include "base/intern.h"

#define STG_SYMBOLS(X)                                                                                                 \
    X(BATCH, "Batch")                                                                                                  \
    X(MICRO_BATCH, "MicroBatch")                                                                                       \
    X(SEQ, "Seq")                                                                                                      \
    X(DMODEL, "Dmodel")                                                                                                \
    X(DFF, "Dff")                                                                                                      \
    X(HEAD, "Head")                                                                                                    \
    X(KV_HEAD, "KVHead")                                                                                               \
    X(DVOCAL, "Dvocal")                                                                                                \
    X(DIN, "Din")                                                                                                      \
    X(DOUT, "Dout")                                                                                                    \
    X(EXPERTS, "Experts")                                                                                              \
    X(K_EXPERTS, "KExperts")                                                                                           \
    X(DP, "dp")                                                                                                        \
    X(TP, "tp")                                                                                                        \
    X(CP, "cp")                                                                                                        \
    X(EP, "ep")                                                                                                        \
    X(FSDP, "fsdp")                                                                                                    \
    X(PP, "pp")                                                                                                        \
    X(SP, "sp") /* how far tensor parallelism splits the sequence: tp or 1 */

enum stg_symbol {
#define STG_SYMBOL(id, name) STG_##id,
    STG_SYMBOLS(STG_SYMBOL)
#undef STG_SYMBOL
        STG_SYMBOL_COUNT
};

enum { STG_NO_EXPR = UINT32_MAX };

enum stg_fault { STG_FAULT_NONE, STG_FAULT_MEMORY, STG_FAULT_LARGE, STG_FAULT_ZERO };

struct stg_product;
struct stg_factor;
struct stg_sum;

struct stg_exprs {
    struct mem *mem;
    struct intern product_keys, sum_keys; /* a product's number is that of its key, less one */
    struct stg_product *products;
    struct stg_factor *factors;
    struct stg_sum *sums;
    uint32_t *terms;
    uint32_t product_capacity, factor_count, factor_capacity, sum_capacity, term_count, term_capacity;
    enum stg_fault fault; /* the first one */
};

void stg_exprs_init(struct stg_exprs *exprs, struct mem *mem);
void stg_exprs_free(struct stg_exprs *exprs);

const char *stg_symbol_name(enum stg_symbol symbol);
/* STG_SYMBOL_COUNT when there is none of this name. */
enum stg_symbol stg_symbol_find(const char *name, size_t length);
const char *stg_symbol_nearest(const char *name);

uint32_t stg_expr_number(struct stg_exprs *exprs, int64_t numerator, int64_t denominator);
uint32_t stg_expr_symbol(struct stg_exprs *exprs, enum stg_symbol symbol);
uint32_t stg_expr_add(struct stg_exprs *exprs, uint32_t a, uint32_t b);
uint32_t stg_expr_mul(struct stg_exprs *exprs, uint32_t a, uint32_t b);
uint32_t stg_expr_div(struct stg_exprs *exprs, uint32_t a, uint32_t b);
uint32_t stg_expr_pow(struct stg_exprs *exprs, uint32_t a, int32_t exponent);

/* `to[s]` for each symbol, STG_NO_EXPR where it stays. */
uint32_t stg_expr_substitute(struct stg_exprs *exprs, uint32_t expr, const uint32_t to[STG_SYMBOL_COUNT]);

/* A bit for each symbol that stands in it. */
uint32_t stg_expr_symbols(const struct stg_exprs *exprs, uint32_t expr);
bool stg_expr_is_zero(const struct stg_exprs *exprs, uint32_t expr);

/* In lowest terms. */
struct stg_value {
    int64_t numerator, denominator;
};

/* False when it does not fit (in between, 128 bits are used) or divides by 0. */
ORR_MUST_CHECK bool stg_expr_value(const struct stg_exprs *exprs, uint32_t expr,
                                   const uint64_t values[STG_SYMBOL_COUNT], struct stg_value *value);

/* Says in one line what `fault` was; `what` names the file and place. */
enum orr_status stg_exprs_error(const struct stg_exprs *exprs, const char *what, struct orr_error *err);

/*
 * Reads + - * / ** ( ), whole and decimal numbers and the known symbols. `where` ("file:line") and `column` (of the
 * text's first byte) begin the message. ORR_EINVAL, ORR_ERANGE or ORR_ENOMEM.
 */
ORR_MUST_CHECK enum orr_status stg_expr_parse(struct stg_exprs *exprs, const char *where, uint32_t column,
                                              const char *text, size_t length, uint32_t *expr, struct orr_error *err);

#endif
