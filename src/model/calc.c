/* SPDX-License-Identifier: Apache-2.0 */
/* Two functions decide every divisibility (multiple, divisor), so that all messages have one form: what was given, the
 * rule, the values next to it that keep the rule. */
#include "model/calc.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const uint64_t SEARCH_MAX = UINT64_C(1) << 24;

static uint64_t times(uint64_t a, uint64_t b, bool *overflow)
{
    uint64_t product = 0;
    *overflow = __builtin_mul_overflow(a, b, &product) || *overflow;
    return product;
}

static enum orr_status model_calc_too_large(struct orr_error *err)
{
    return error_set(err, ORR_ERANGE, "the product of these numbers does not fit 64 bits");
}

/* The largest multiple of `of` below `value` and the smallest above it; 0 where there is none. */
static void calc_near_multiples(uint64_t value, uint64_t of, uint64_t *below, uint64_t *above)
{
    *below = value / of * of;
    *above = *below > UINT64_MAX - of ? 0 : *below + of;
}

/* Divisors come in pairs around the root, where the search ends; for a number of more than 48 bits before that, since
 * the values are only proposals. */
void calc_near_divisors(uint64_t value, uint64_t of, uint64_t *below, uint64_t *above)
{
    *below = 0;
    *above = 0;
    for (uint64_t small = 1; small <= of / small && small <= SEARCH_MAX; small++) {
        if (of % small != 0) {
            continue;
        }
        const uint64_t pair[2] = {small, of / small};
        for (unsigned i = 0; i < 2; i++) {
            *below = pair[i] < value && pair[i] > *below ? pair[i] : *below;
            *above = pair[i] > value && (*above == 0 || pair[i] < *above) ? pair[i] : *above;
        }
    }
}

struct near_text {
    char text[64];
};

static struct near_text near_values(uint64_t below, uint64_t above)
{
    struct near_text near = {""};
    if (below != 0 && above != 0) {
        (void)snprintf(near.text, sizeof near.text, "%" PRIu64 " and %" PRIu64, below, above);
    } else {
        (void)snprintf(near.text, sizeof near.text, "%" PRIu64, below != 0 ? below : above);
    }
    return near;
}

static enum orr_status check_multiple(const char *what, uint64_t value, const char *rule, uint64_t of,
                                      struct orr_error *err)
{
    uint64_t below = 0;
    uint64_t above = 0;
    if (value % of == 0) {
        return ORR_OK;
    }
    calc_near_multiples(value, of, &below, &above);
    return error_set(err, ORR_EINVAL, "%s %" PRIu64 " is not a multiple of %" PRIu64 " (%s); the nearest that are: %s",
                     what, value, of, rule, near_values(below, above).text);
}

static enum orr_status check_divisor(const char *what, uint64_t value, const char *rule, uint64_t of,
                                     struct orr_error *err)
{
    uint64_t below = 0;
    uint64_t above = 0;
    if (of % value == 0) {
        return ORR_OK;
    }
    calc_near_divisors(value, of, &below, &above);
    return error_set(err, ORR_EINVAL, "%s %" PRIu64 " does not divide %" PRIu64 " (%s); the nearest that do: %s", what,
                     value, of, rule, near_values(below, above).text);
}

/* ---- groups ---- */

/* The first level's ranks are neighbours. */
static void add_level(struct orr_calc_groups *groups, const char *name, uint64_t degree, uint64_t stride)
{
    groups->levels[groups->level_count++] = (struct orr_calc_level){
        .name = name,
        .degree = degree,
        .stride = stride,
        .block = stride * degree,
        .groups = groups->degrees.world / degree,
    };
}

/* EP inside DP, as Megatron-LM and AICB number ranks: tp, cp, ep, dp, pp, the first fastest. */
static void lay_folded(struct orr_calc_groups *groups)
{
    const struct orr_calc_degrees *d = &groups->degrees;
    uint64_t replica = d->tp * d->cp;
    add_level(groups, "TP", d->tp, 1);
    add_level(groups, "CP", d->cp, d->tp);
    add_level(groups, "EP", d->ep, replica);
    add_level(groups, "DP_EP", d->dp / d->ep, replica * d->ep);
    add_level(groups, "DP", d->dp, replica);
    add_level(groups, "PP", d->pp, replica * d->dp);
}

/* EP a level of its own: tp, cp, ep, pp, dp. */
static void lay_own(struct orr_calc_groups *groups)
{
    const struct orr_calc_degrees *d = &groups->degrees;
    uint64_t experts = d->tp * d->cp;
    add_level(groups, "TP", d->tp, 1);
    add_level(groups, "CP", d->cp, d->tp);
    add_level(groups, "EP", d->ep, experts);
    add_level(groups, "PP", d->pp, experts * d->ep);
    add_level(groups, "DP", d->dp, experts * d->ep * d->pp);
}

/* Whichever of world and dp is missing follows from the other. */
static enum orr_status settle_world(struct orr_calc_degrees *d, bool own, struct orr_error *err)
{
    bool overflow = false;
    const char *rule = own ? "world = dp x pp x ep x cp x tp" : "world = dp x pp x cp x tp";
    uint64_t replica = times(times(d->tp, d->cp, &overflow), d->pp, &overflow);
    replica = own ? times(replica, d->ep, &overflow) : replica;
    if (overflow) {
        return model_calc_too_large(err);
    }
    if (d->world == 0) {
        d->world = times(replica, d->dp, &overflow);
        return overflow ? model_calc_too_large(err) : ORR_OK;
    }
    enum orr_status status = check_multiple("world", d->world, rule, replica, err);
    if (status == ORR_OK && d->dp != 0 && d->dp != d->world / replica) {
        return error_set(err, ORR_EINVAL,
                         "dp %" PRIu64 " is not world / (the rest) = %" PRIu64 " / %" PRIu64 " = %" PRIu64 " (%s)",
                         d->dp, d->world, replica, d->world / replica, rule);
    }
    d->dp = d->world / replica;
    return status;
}

enum orr_status calc_groups(const struct orr_calc_degrees *degrees, enum orr_calc_nesting nesting,
                            struct orr_calc_groups *groups, struct orr_error *err)
{
    struct orr_calc_groups made = {.degrees = *degrees};
    struct orr_calc_degrees *d = &made.degrees;
    uint64_t *const defaults[] = {&d->tp, &d->cp, &d->ep, &d->pp};
    bool own = nesting == ORR_CALC_OWN;
    for (size_t i = 0; i < sizeof defaults / sizeof defaults[0]; i++) {
        *defaults[i] = *defaults[i] == 0 ? 1 : *defaults[i];
    }
    if (d->world == 0 && d->dp == 0) {
        return error_set(err, ORR_EINVAL, "give the number of ranks (world) or the degree of data parallelism (dp)");
    }
    enum orr_status status = settle_world(d, own, err);
    if (status == ORR_OK && !own) {
        status = check_divisor("ep", d->ep, "dp, in which ep is folded", d->dp, err);
    }
    if (status == ORR_OK && d->experts != 0) {
        status = check_divisor("ep", d->ep, "experts % ep = 0", d->experts, err);
    }
    if (status != ORR_OK) {
        return status;
    }
    if (own) {
        lay_own(&made);
    } else {
        lay_folded(&made);
    }
    *groups = made;
    return ORR_OK;
}

/* ---- batches ---- */

enum orr_status calc_batch(const struct orr_calc_batch *given, struct orr_calc_batch *whole, struct orr_error *err)
{
    struct orr_calc_batch b = *given;
    bool overflow = false;
    static const char rule[] = "batch = dp x micro-batches x micro-batch";
    enum orr_status status = ORR_OK;
    b.dp = b.dp == 0 ? 1 : b.dp;
    if ((b.batch == 0) + (b.micro_batch == 0) + (b.micro_batches == 0) > 1) {
        return error_set(err, ORR_EINVAL, "two of batch, micro-batch and micro-batches are needed: %s", rule);
    }
    uint64_t others = times(b.dp, b.micro_batch == 0 ? 1 : b.micro_batch, &overflow);
    others = times(others, b.micro_batches == 0 ? 1 : b.micro_batches, &overflow);
    if (overflow) {
        return model_calc_too_large(err);
    }
    if (b.batch == 0) {
        b.batch = others;
    }
    status = check_multiple("batch", b.batch, rule, others, err);
    if (status == ORR_OK && given->batch != 0 && given->micro_batch != 0 && given->micro_batches != 0 &&
        b.batch != others) {
        status = error_set(err, ORR_EINVAL,
                           "batch %" PRIu64 " is not dp x micro-batches x micro-batch = %" PRIu64 " x %" PRIu64
                           " x %" PRIu64 " = %" PRIu64,
                           b.batch, b.dp, b.micro_batches, b.micro_batch, others);
    }
    if (status != ORR_OK) {
        return status;
    }
    b.micro_batch = b.micro_batch == 0 ? b.batch / others : b.micro_batch;
    b.micro_batches = b.micro_batches == 0 ? b.batch / others : b.micro_batches;
    b.batches = b.dataset / b.batch;
    b.left_over = b.dataset % b.batch;
    *whole = b;
    return ORR_OK;
}

/* ---- what a stage sends ---- */

enum orr_status calc_pp_comm(const struct orr_calc_pp_comm *given, uint64_t *bytes, struct orr_error *err)
{
    bool overflow = false;
    uint64_t tp = given->tp == 0 ? 1 : given->tp;
    uint64_t per_value = given->value_bytes == 0 ? 2 : given->value_bytes;
    if (given->micro_batch == 0 || given->seq == 0 || given->hidden == 0) {
        return error_set(err, ORR_EINVAL, "micro-batch, sequence length and hidden size must be at least 1");
    }
    if (given->sequence_parallel) {
        enum orr_status status = check_multiple("the sequence length", given->seq,
                                                "with sequence parallelism every TP rank has seq / tp tokens", tp, err);
        if (status != ORR_OK) {
            return status;
        }
    }
    uint64_t tokens = times(given->micro_batch, given->sequence_parallel ? given->seq / tp : given->seq, &overflow);
    uint64_t made = times(times(tokens, given->hidden, &overflow), per_value, &overflow);
    if (overflow) {
        return model_calc_too_large(err);
    }
    *bytes = made;
    return ORR_OK;
}
