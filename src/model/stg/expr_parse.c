/* SPDX-License-Identifier: Apache-2.0 */
/* Recursive descent over one cell; parentheses nest no deeper than a number says, so that no text can exhaust the
 * stack. Precedence is Python's, since that is what the public sheets were written for. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/scan.h"
#include "io/value.h"
#include "model/stg/expr_parts.h"

enum { DEPTH_MAX = 32, WORD_MAX = 60 };

struct parser {
    struct stg_exprs *exprs;
    const char *where;
    const char *text, *at, *end;
    uint32_t column;
    unsigned depth;
    struct orr_error *err;
    enum orr_status status; /* the first failure; expressions are then STG_NO_EXPR */
};

static uint32_t parse_sum(struct parser *parser);

static uint32_t stg_expr_parse_refuse(struct parser *parser, enum orr_status status, const char *what)
{
    if (parser->status == ORR_OK) {
        char word[WORD_MAX + 4];
        char shown[2 * WORD_MAX];
        size_t left = (size_t)(parser->end - parser->at);
        (void)snprintf(word, sizeof word, "%.*s", (int)(left < WORD_MAX ? left : WORD_MAX), parser->at);
        parser->status = error_set(parser->err, status, "%s:%" PRIu32 ": %s \"%s\"", parser->where,
                                   parser->column + (uint32_t)(parser->at - parser->text), what,
                                   io_text_printable(word, shown, sizeof shown));
    }
    return STG_NO_EXPR;
}

static uint32_t checked(struct parser *parser, uint32_t expr)
{
    if (expr == STG_NO_EXPR && parser->status == ORR_OK) {
        char place[400];
        (void)snprintf(place, sizeof place, "%s:%" PRIu32, parser->where,
                       parser->column + (uint32_t)(parser->at - parser->text));
        parser->status = stg_exprs_error(parser->exprs, place, parser->err);
    }
    return expr;
}

static char peek(struct parser *parser)
{
    while (parser->at < parser->end && (*parser->at == ' ' || *parser->at == '\t')) {
        parser->at++;
    }
    return parser->at < parser->end ? *parser->at : '\0';
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static uint32_t parse_number(struct parser *parser)
{
    const char *start = parser->at;
    int64_t digits = 0;
    int64_t scale = 1;
    bool point = false;
    for (; parser->at < parser->end && (scan_is_digit(*parser->at) || (*parser->at == '.' && !point)); parser->at++) {
        if (*parser->at == '.') {
            point = true;
            continue;
        }
        if (digits > INT64_MAX / 10 - 1 || scale > INT64_MAX / 10) {
            parser->at = start;
            return stg_expr_parse_refuse(parser, ORR_ERANGE, "too large a number:");
        }
        digits = digits * 10 + (*parser->at - '0');
        scale = point ? scale * 10 : scale;
    }
    return checked(parser, stg_expr_number(parser->exprs, digits, scale));
}

static uint32_t parse_symbol(struct parser *parser)
{
    const char *start = parser->at;
    while (parser->at < parser->end && (is_letter(*parser->at) || scan_is_digit(*parser->at))) {
        parser->at++;
    }
    size_t length = (size_t)(parser->at - start);
    enum stg_symbol symbol = stg_symbol_find(start, length);
    if (symbol != STG_SYMBOL_COUNT) {
        return checked(parser, stg_expr_symbol(parser->exprs, symbol));
    }
    char word[WORD_MAX + 4];
    char what[WORD_MAX * 3];
    (void)snprintf(word, sizeof word, "%.*s", (int)(length < WORD_MAX ? length : WORD_MAX), start);
    const char *nearest = stg_symbol_nearest(word);
    (void)snprintf(what, sizeof what, "unknown symbol%s%s%s in", nearest == NULL ? "" : " (did you mean ",
                   nearest == NULL ? "" : nearest, nearest == NULL ? "" : "?)");
    parser->at = start;
    return stg_expr_parse_refuse(parser, ORR_EINVAL, what);
}

static uint32_t parse_atom(struct parser *parser)
{
    char next = peek(parser);
    if (scan_is_digit(next) || next == '.') {
        return parse_number(parser);
    }
    if (is_letter(next)) {
        return parse_symbol(parser);
    }
    if (next != '(') {
        return stg_expr_parse_refuse(parser, ORR_EINVAL, "a number, a symbol or \"(\" is missing before");
    }
    if (++parser->depth > DEPTH_MAX) {
        return stg_expr_parse_refuse(parser, ORR_ERANGE, "parentheses nest too deep at");
    }
    parser->at++;
    uint32_t inner = parse_sum(parser);
    if (inner != STG_NO_EXPR && peek(parser) != ')') {
        return stg_expr_parse_refuse(parser, ORR_EINVAL, "\")\" is missing before");
    }
    parser->at += inner != STG_NO_EXPR;
    parser->depth--;
    return inner;
}

/* An exponent is a whole number, written out. */
static uint32_t parse_power(struct parser *parser)
{
    uint32_t base = parse_atom(parser);
    if (base == STG_NO_EXPR || peek(parser) != '*' || parser->end - parser->at < 2 || parser->at[1] != '*') {
        return base;
    }
    parser->at += 2;
    bool negative = peek(parser) == '-';
    parser->at += negative;
    int32_t exponent = 0;
    if (!scan_is_digit(peek(parser))) {
        return stg_expr_parse_refuse(parser, ORR_EINVAL, "a whole number is missing before");
    }
    for (; parser->at < parser->end && scan_is_digit(*parser->at) && exponent < 1000; parser->at++) {
        exponent = exponent * 10 + (*parser->at - '0');
    }
    return checked(parser, stg_expr_pow(parser->exprs, base, negative ? -exponent : exponent));
}

static uint32_t parse_signed(struct parser *parser)
{
    bool negative = false;
    for (char next = peek(parser); next == '-' || next == '+'; next = peek(parser)) {
        negative ^= next == '-';
        parser->at++;
    }
    uint32_t value = parse_power(parser);
    if (negative && value != STG_NO_EXPR) {
        value = checked(parser, stg_expr_mul(parser->exprs, value, stg_expr_number(parser->exprs, -1, 1)));
    }
    return value;
}

static uint32_t parse_term(struct parser *parser)
{
    uint32_t left = parse_signed(parser);
    for (char next = peek(parser); left != STG_NO_EXPR && (next == '*' || next == '/'); next = peek(parser)) {
        parser->at++;
        uint32_t right = parse_signed(parser);
        if (right == STG_NO_EXPR) {
            return STG_NO_EXPR;
        }
        left = checked(parser, next == '*' ? stg_expr_mul(parser->exprs, left, right)
                                           : stg_expr_div(parser->exprs, left, right));
    }
    return left;
}

static uint32_t parse_sum(struct parser *parser)
{
    uint32_t left = parse_term(parser);
    for (char next = peek(parser); left != STG_NO_EXPR && (next == '+' || next == '-'); next = peek(parser)) {
        parser->at++;
        uint32_t right = parse_term(parser);
        if (right == STG_NO_EXPR) {
            return STG_NO_EXPR;
        }
        if (next == '-') {
            right = checked(parser, stg_expr_mul(parser->exprs, right, stg_expr_number(parser->exprs, -1, 1)));
        }
        left = checked(parser, stg_expr_add(parser->exprs, left, right));
    }
    return left;
}

enum orr_status stg_expr_parse(struct stg_exprs *exprs, const char *where, uint32_t column, const char *text,
                               size_t length, uint32_t *expr, struct orr_error *err)
{
    struct parser parser = {.exprs = exprs,
                            .where = where,
                            .text = text,
                            .at = text,
                            .end = text + length,
                            .column = column,
                            .err = err,
                            .status = ORR_OK};
    uint32_t value = parse_sum(&parser);
    if (value != STG_NO_EXPR && peek(&parser) != '\0') {
        value = stg_expr_parse_refuse(&parser, ORR_EINVAL, "\"+\", \"-\", \"*\" or \"/\" is missing before");
    }
    if (value != STG_NO_EXPR && parser.at < parser.end) {
        value = stg_expr_parse_refuse(&parser, ORR_EINVAL, "an expression ends before");
    }
    if (value == STG_NO_EXPR) {
        return parser.status;
    }
    *expr = value;
    return ORR_OK;
}
