/* SPDX-License-Identifier: Apache-2.0 */
/* One walk, record by record; nothing of the graph is needed. Products are 128 bits wide, so only the result can be too
 * large, and that is refused. */
#include "trace/scale.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "trace/record_edit.h"

/* ---- factors ---- */

static uint64_t common_divisor(uint64_t a, uint64_t b)
{
    while (b != 0) {
        uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* Digits with at most one point, as a fraction. False when it is none or does not fit. */
static bool parse_decimal(const char *text, const char *end, struct scale_factor *factor)
{
    uint64_t over = 0;
    uint64_t under = 1;
    bool point = false;
    bool digit = false;
    for (; text < end; text++) {
        if (*text == '.' && !point) {
            point = true;
            continue;
        }
        if (*text < '0' || *text > '9' || __builtin_mul_overflow(over, UINT64_C(10), &over) ||
            __builtin_add_overflow(over, (uint64_t)(*text - '0'), &over) ||
            (point && __builtin_mul_overflow(under, UINT64_C(10), &under))) {
            return false;
        }
        digit = true;
    }
    *factor = (struct scale_factor){over, under};
    return digit;
}

enum orr_status scale_factor_parse(const char *option, const char *text, struct scale_factor *factor,
                                   struct orr_error *err)
{
    const char *slash = strchr(text, '/');
    const char *end = text + strlen(text);
    struct scale_factor top = {0, 1};
    struct scale_factor bottom = {1, 1};
    bool fine = parse_decimal(text, slash == NULL ? end : slash, &top) &&
                (slash == NULL || parse_decimal(slash + 1, end, &bottom));
    struct scale_factor made = {0, 0};
    fine = fine && !__builtin_mul_overflow(top.over, bottom.under, &made.over) &&
           !__builtin_mul_overflow(top.under, bottom.over, &made.under);
    if (!fine) {
        return error_set(err, ORR_EINVAL, "%s: \"%.60s\" is not a factor; 2, 1.5 and 127/64 are", option, text);
    }
    if (made.under == 0) {
        return error_set(err, ORR_ERANGE, "%s: \"%.60s\" divides by 0", option, text);
    }
    uint64_t divisor = common_divisor(made.over, made.under);
    *factor = (struct scale_factor){made.over / divisor, made.under / divisor};
    return ORR_OK;
}

static bool trace_scale_is_one(struct scale_factor factor)
{
    return factor.over == factor.under;
}

bool scale_nearest(struct scale_factor factor, uint64_t value, uint64_t *result, bool *exact)
{
    unsigned __int128 product = (unsigned __int128)value * factor.over;
    unsigned __int128 rounded = product / factor.under;
    uint64_t rest = (uint64_t)(product % factor.under);
    rounded += rest >= factor.under - rest ? 1 : 0;
    *exact = rest == 0;
    *result = (uint64_t)rounded;
    return rounded <= UINT64_MAX;
}

/* ---- nodes ---- */

struct scaling {
    const struct record_reader *reader;
    const struct scale_options *options;
    struct scale_counts *counts;
    uint64_t carried; /* of durations: what is owed, in under-ths of a microsecond, plus half of one */
    struct orr_error *err;
};

static enum orr_status trace_scale_fail_range(const struct scaling *scaling, const struct record_facts *facts,
                                              const char *what)
{
    return error_set(scaling->err, ORR_ERANGE, "%s: node %" PRIu64 ": %s does not fit 64 bits when scaled",
                     scaling->reader->path, facts->id, what);
}

static enum orr_status scale_compute(struct scaling *scaling, const struct record_facts *facts,
                                     struct record_change *change)
{
    struct scale_factor factor = scaling->options->compute;
    unsigned __int128 product = (unsigned __int128)facts->duration_us * factor.over + scaling->carried;
    unsigned __int128 whole = product / factor.under;
    if (whole > UINT64_MAX) {
        return trace_scale_fail_range(scaling, facts, "duration_micros");
    }
    scaling->carried = (uint64_t)(product % factor.under);
    scaling->counts->compute++;
    scaling->counts->compute_us_before += facts->duration_us;
    scaling->counts->compute_us += (uint64_t)whole;
    if ((uint64_t)whole != facts->duration_us) {
        change->fields |= 1u << RECORD_DURATION;
        change->duration_us = (uint64_t)whole;
    }
    static const enum record_amount amounts[] = {RECORD_AMOUNT_NUM_OPS, RECORD_AMOUNT_COMPUTE_CYCLES,
                                                 RECORD_AMOUNT_RUNTIME};
    for (size_t i = 0; i < sizeof amounts / sizeof amounts[0]; i++) {
        const char *name = record_amount_name(amounts[i]);
        uint64_t value = 0;
        bool exact = true;
        if ((facts->has_amount & 1u << amounts[i]) == 0) {
            continue;
        }
        if (!scale_nearest(factor, facts->amount[amounts[i]], &value, &exact)) {
            return trace_scale_fail_range(scaling, facts, name);
        }
        record_change_integer(change, name, TRACE_VALUE_INT64, value);
    }
    return ORR_OK;
}

static enum orr_status scale_comm(struct scaling *scaling, const struct record_facts *facts,
                                  struct record_change *change)
{
    uint64_t value = 0;
    bool exact = true;
    uint64_t before = facts->value[TRACE_ATTR_COMM_SIZE];
    if ((facts->has & 1u << TRACE_ATTR_COMM_SIZE) == 0) {
        return ORR_OK;
    }
    if (!scale_nearest(scaling->options->comm, before, &value, &exact)) {
        return trace_scale_fail_range(scaling, facts, "comm_size");
    }
    scaling->counts->comm++;
    scaling->counts->bytes_before += before;
    scaling->counts->bytes += value;
    scaling->counts->inexact += !exact;
    record_change_integer(change, "comm_size", TRACE_VALUE_INT64, value);
    return ORR_OK;
}

static enum orr_status scale_node(struct scaling *scaling, const struct record_facts *facts,
                                  struct record_change *change)
{
    const struct scale_options *options = scaling->options;
    scaling->counts->nodes++;
    bool compute = facts->type == TRACE_COMP && !trace_scale_is_one(options->compute);
    bool comm = record_is_comm(facts->type) && !trace_scale_is_one(options->comm);
    if ((!compute && !comm) || !pattern_matches(options->match, facts->name)) {
        return ORR_OK;
    }
    return compute ? scale_compute(scaling, facts, change) : scale_comm(scaling, facts, change);
}

static enum orr_status trace_scale_tell(const struct scaling *scaling, struct notes *notes)
{
    uint64_t inexact = scaling->counts->inexact;
    if (inexact == 0) {
        return ORR_OK;
    }
    return notes_add(notes, scaling->err,
                     "%s: %" PRIu64 " size%s not divisible by %" PRIu64 " and %s rounded to the nearest byte",
                     scaling->reader->path, inexact, inexact == 1 ? " is" : "s are", scaling->options->comm.under,
                     inexact == 1 ? "was" : "were");
}

enum orr_status scale_trace(struct record_reader *reader, const struct scale_options *options, FILE *stream,
                            struct notes *notes, struct scale_counts *counts, struct mem *mem, struct orr_error *err)
{
    struct scale_counts own = {0};
    struct scaling scaling = {
        .reader = reader, .options = options, .counts = &own, .carried = options->compute.under / 2, .err = err};
    struct record_pass pass;
    enum orr_status status = record_pass_open(&pass, reader, stream, mem, err);
    while (status == ORR_OK && pass.more) {
        status = scale_node(&scaling, &pass.facts, &pass.change);
        status = status != ORR_OK ? status : record_pass_next(&pass, err);
    }
    record_pass_close(&pass);
    status = status != ORR_OK ? status : trace_scale_tell(&scaling, notes);
    if (status == ORR_OK) {
        counts->nodes += own.nodes;
        counts->compute += own.compute;
        counts->comm += own.comm;
        counts->compute_us += own.compute_us;
        counts->compute_us_before += own.compute_us_before;
        counts->bytes += own.bytes;
        counts->bytes_before += own.bytes_before;
        counts->inexact += own.inexact;
    }
    return status;
}
