/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Headings are read word by word: "size(B)", "size_bytes", "message size [KiB]" and "time_us", "Latency (us)" all come
 * apart into words of which one says what it is, one may be a unit, and the others must be known to mean nothing. A
 * heading with a foreign word is a column of something else: "hidden size" is no message size, "iteration time" no time
 * of a collective.
 */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "calib/read_text.h"

/* ---- units ---- */

struct unit {
    const char *name;
    double factor;
};

static const struct unit size_units[] = {
    {"B", 1.0},  {"byte", 1.0},      {"bytes", 1.0}, {"KB", 1e3},           {"KiB", 1024.0},
    {"MB", 1e6}, {"MiB", 1048576.0}, {"GB", 1e9},    {"GiB", 1073741824.0},
};

static const struct unit time_units[] = {
    {"ns", 1e-3},          {"nsec", 1e-3},     {"nanoseconds", 1e-3}, {"us", 1.0},      {"usec", 1.0},
    {"microseconds", 1.0}, {"\xc2\xb5s", 1.0}, {"\xce\xbcs", 1.0},    {"ms", 1e3},      {"msec", 1e3},
    {"milliseconds", 1e3}, {"s", 1e6},         {"sec", 1e6},          {"seconds", 1e6},
};

static double unit_find(const struct unit *units, size_t count, struct calib_word word)
{
    for (size_t i = 0; i < count; i++) {
        if (calib_word_is(word, units[i].name)) {
            return units[i].factor;
        }
    }
    return 0;
}

static double size_unit(struct calib_word word)
{
    return unit_find(size_units, sizeof size_units / sizeof size_units[0], word);
}

static double time_unit_of(struct calib_word word)
{
    return unit_find(time_units, sizeof time_units / sizeof time_units[0], word);
}

/* ---- headings ---- */

static bool is_one_of(struct calib_word word, const char *const *names)
{
    for (; *names != NULL; names++) {
        if (calib_word_is(word, *names)) {
            return true;
        }
    }
    return false;
}

/* The next run of letters, digits and bytes of UTF-8. */
static bool next_part(struct calib_word heading, uint32_t *at, struct calib_word *part)
{
    static const char between[] = " \t_-()[]{}/,.:;#*'\"";
    while (*at < heading.length && memchr(between, heading.at[*at], sizeof between - 1) != NULL) {
        (*at)++;
    }
    uint32_t start = *at;
    while (*at < heading.length && memchr(between, heading.at[*at], sizeof between - 1) == NULL) {
        (*at)++;
    }
    *part = (struct calib_word){heading.at + start, *at - start};
    return *at > start;
}

/* What a heading is made of. */
struct parts {
    bool size, bytes, time, bus, type, ranks, in, out, place, foreign;
    double size_unit, time_unit, rate;
};

static void part_take(struct calib_word part, struct parts *parts)
{
    static const char *const sizes[] = {"size", "msgsize", "nbytes", NULL};
    static const char *const times[] = {"time", "latency", "lat", "duration", "elapsed", NULL};
    static const char *const buses[] = {"busbw", "bus", NULL};
    static const char *const types[] = {"collective", "coll", "operation", NULL};
    static const char *const counts[] = {"ranks", "nranks", "gpus", "ngpus", "npus", "world", "nprocs", NULL};
    static const char *const fillers[] = {"message", "msg",     "buffer", "data",  "total",     "avg", "mean",
                                          "median",  "of",      "n",      "num",   "nr",        "the", "bandwidth",
                                          "bw",      "average", "number", "count", "worldsize", NULL};
    double bytes = size_unit(part);
    double time = time_unit_of(part);
    parts->size |= is_one_of(part, sizes);
    parts->time |= is_one_of(part, times);
    parts->bus |= is_one_of(part, buses);
    parts->type |= is_one_of(part, types);
    parts->ranks |= is_one_of(part, counts) || calib_word_is(part, "worldsize");
    parts->in |= calib_word_is(part, "in") || calib_word_is(part, "inplace");
    parts->place |= calib_word_is(part, "place") || calib_word_is(part, "inplace") || calib_word_is(part, "outofplace");
    parts->out |= calib_word_is(part, "out") || calib_word_is(part, "outofplace");
    parts->bytes |= calib_word_is(part, "bytes") || calib_word_is(part, "nbytes");
    parts->size_unit = bytes > 0 ? bytes : parts->size_unit;
    parts->time_unit = time > 0 ? time : parts->time_unit;
    bool rate = calib_word_is(part, "gbps");
    if (rate) { /* GBps or Gbps: here the case tells */
        parts->rate = part.at[1] == 'b' ? 0.125 : 1.0;
    }
    bool known = bytes > 0 || time > 0 || rate || is_one_of(part, sizes) || is_one_of(part, times) ||
                 is_one_of(part, buses) || is_one_of(part, types) || is_one_of(part, counts) ||
                 is_one_of(part, fillers) || calib_word_is(part, "in") || calib_word_is(part, "out") ||
                 calib_word_is(part, "place") || calib_word_is(part, "inplace") || calib_word_is(part, "outofplace");
    parts->foreign |= !known;
}

struct calib_heading calib_heading_parse(struct calib_word word)
{
    static const char *const reductions[] = {"redop", "reduction", NULL};
    static const char *const wrongs[] = {"#wrong", "wrong", NULL};
    struct parts parts = {0};
    struct calib_word part;
    uint32_t at = 0;
    uint32_t count = 0;
    if (is_one_of(word, reductions)) {
        return (struct calib_heading){.kind = CALIB_HEAD_REDUCTION};
    }
    if (is_one_of(word, wrongs)) {
        return (struct calib_heading){.kind = CALIB_HEAD_WRONG};
    }
    if (calib_word_is(word, "root")) {
        return (struct calib_heading){.kind = CALIB_HEAD_ROOT};
    }
    while (next_part(word, &at, &part)) {
        part_take(part, &parts);
        count++;
    }
    bool in_place = parts.in && parts.place && !parts.out;
    if (parts.foreign || count == 0) {
        return (struct calib_heading){.kind = CALIB_HEAD_OTHER};
    }
    if (parts.bus) {
        return (struct calib_heading){CALIB_HEAD_BUS, parts.rate > 0 ? parts.rate : 1.0, in_place};
    }
    if (parts.ranks) { /* before size: world_size */
        return (struct calib_heading){.kind = CALIB_HEAD_RANKS};
    }
    if (parts.time || (count == 1 && parts.time_unit > 0)) {
        return (struct calib_heading){CALIB_HEAD_TIME, parts.time_unit, in_place};
    }
    if (parts.size || parts.bytes) {
        return (struct calib_heading){CALIB_HEAD_SIZE, parts.size_unit, false};
    }
    return (struct calib_heading){.kind = parts.type ? CALIB_HEAD_TYPE : CALIB_HEAD_OTHER};
}

void calib_columns_parse(const struct calib_word *words, uint32_t count, struct calib_columns *columns)
{
    uint32_t sizes = 0;
    uint32_t times = 0;
    columns->count = count;
    for (uint32_t i = 0; i < count; i++) {
        columns->heads[i] = calib_heading_parse(words[i]);
        sizes += columns->heads[i].kind == CALIB_HEAD_SIZE;
        if (columns->heads[i].kind == CALIB_HEAD_TIME) {
            times++;
        }
        /* The tools print two equal blocks: out of place, then in place. */
        columns->heads[i].in_place |= times == 2;
    }
    columns->whole = sizes == 1 && (times == 1 || times == 2);
}

/* ---- quantities ---- */

/* "37.9", "37.9us", "1 MiB": the number, and its unit, 0 where there is none. False when it is not such. */
static bool quantity_parse(struct calib_word field, bool is_time, double *number, double *unit)
{
    uint32_t length = 0;
    while (length < field.length && strchr("+-.0123456789", field.at[length]) != NULL && field.at[length] != '\0') {
        length++;
    }
    if (length < field.length && (field.at[length] == 'e' || field.at[length] == 'E')) { /* 1e+06 */
        uint32_t end = length + 1;
        while (end < field.length && strchr("+-0123456789", field.at[end]) != NULL && field.at[end] != '\0') {
            end++;
        }
        length = end > length + 1 ? end : length;
    }
    struct calib_word suffix = {field.at + length, field.length - length};
    while (suffix.length > 0 && *suffix.at == ' ') {
        suffix.at++;
        suffix.length--;
    }
    /* A heading in small letters is a matter of taste, "8 Gb" behind a number is bits. */
    bool bits = !is_time && suffix.length > 0 && suffix.at[suffix.length - 1] == 'b';
    *unit = is_time ? time_unit_of(suffix) : bits ? 0 : size_unit(suffix);
    return calib_word_number((struct calib_word){field.at, length}, number) && (suffix.length == 0 || *unit > 0);
}

static enum orr_status size_read(const struct calib_text *text, struct calib_word field, double unit, uint32_t line,
                                 uint64_t *bytes, struct orr_error *err)
{
    char found[CALIB_WORD_TEXT];
    double number = 0;
    double own = 0;
    if (!quantity_parse(field, false, &number, &own)) {
        return error_set(err, ORR_EINVAL,
                         "%s:%" PRIu32 ": \"%s\" is no size; a number, or one with B, KB, KiB, MB, MiB, "
                         "GB or GiB, is needed",
                         text->path, line, calib_word_text(field, found));
    }
    double value = number * (own > 0 ? own : unit > 0 ? unit : 1.0);
    if (!(value >= 0 && value < 9.2e18) || value != floor(value)) {
        return error_set(err, ORR_EINVAL, "%s:%" PRIu32 ": \"%s\" is no whole number of bytes below 2^63", text->path,
                         line, calib_word_text(field, found));
    }
    *bytes = (uint64_t)value;
    return ORR_OK;
}

static enum orr_status time_read(const struct calib_text *text, struct calib_word field, double unit, uint32_t line,
                                 double *time_us, struct orr_error *err)
{
    char found[CALIB_WORD_TEXT];
    double number = 0;
    double own = 0;
    if (!quantity_parse(field, true, &number, &own)) {
        return error_set(err, ORR_EINVAL,
                         "%s:%" PRIu32 ": \"%s\" is no time; a number, or one with ns, us, ms or s, is needed",
                         text->path, line, calib_word_text(field, found));
    }
    unit = own > 0 ? own : unit;
    if (unit <= 0) {
        return error_set(err, ORR_EINVAL,
                         "%s:%" PRIu32 ": the time \"%s\" has no unit; name the column time_us (or _ns, _ms, _s), or "
                         "write the unit behind the number",
                         text->path, line, calib_word_text(field, found));
    }
    double value = number * unit;
    if (!(value >= 0 && value <= 1e15)) {
        return error_set(err, ORR_EINVAL, "%s:%" PRIu32 ": \"%s\" is out of range for a time", text->path, line,
                         calib_word_text(field, found));
    }
    *time_us = value < 1e-6 ? 0 : value; /* below a picosecond nothing was measured */
    return ORR_OK;
}

/* ---- rows ---- */

void calib_rows_leave_out(struct calib_rows *rows, enum calib_out reason, uint32_t line)
{
    if (rows->left_out[reason]++ == 0) {
        rows->left_out_line[reason] = line;
    }
}

/* Of a row's fields, what holds for both of its measurements. */
static enum orr_status common_take(const struct calib_text *text, struct calib_heading head, struct calib_word field,
                                   struct calib_row *row, struct orr_error *err)
{
    char found[CALIB_WORD_TEXT];
    double number = 0;
    switch (head.kind) {
    case CALIB_HEAD_SIZE:
        return size_read(text, field, head.unit, row->line, &row->bytes, err);
    case CALIB_HEAD_TYPE:
        row->type = calib_type_of(field);
        if (row->type == CALIB_TYPE_UNKNOWN) {
            return error_set(err, ORR_EINVAL, "%s:%" PRIu32 ": unknown collective \"%s\"", text->path, row->line,
                             calib_word_text(field, found));
        }
        return ORR_OK;
    case CALIB_HEAD_RANKS:
        if (!calib_word_count(field, &row->ranks) || row->ranks < 2) {
            return error_set(err, ORR_EINVAL, "%s:%" PRIu32 ": \"%s\" ranks; a whole number, at least 2, is needed",
                             text->path, row->line, calib_word_text(field, found));
        }
        return ORR_OK;
    case CALIB_HEAD_REDUCTION:
        row->gathers = calib_word_is(field, "none");
        row->reduces = !row->gathers;
        return ORR_OK;
    case CALIB_HEAD_ROOT:
        row->rooted = calib_word_number(field, &number) && number >= 0;
        return ORR_OK;
    default:
        return ORR_OK;
    }
}

static enum orr_status row_push(struct calib_rows *rows, const struct calib_row *row, struct mem *mem,
                                struct orr_error *err)
{
    if (!mem_reserve(mem, (void **)&rows->items, &rows->capacity, (uint64_t)rows->count + 1, sizeof *rows->items)) {
        return mem_error(mem, "measurements", err);
    }
    rows->items[rows->count++] = *row;
    return ORR_OK;
}

/* The measurement whose time is in column `at`, with what follows it up to the next time. */
static enum orr_status measure_take(struct calib_rows *rows, const struct calib_text *text,
                                    const struct calib_columns *columns, const struct calib_word *fields, uint32_t at,
                                    struct calib_row row, double time_unit, struct orr_error *err)
{
    struct calib_heading head = columns->heads[at];
    bool wrong = false;
    enum orr_status status =
        time_read(text, fields[at], head.unit > 0 ? head.unit : time_unit, row.line, &row.time_us, err);
    if (status != ORR_OK) {
        return status;
    }
    row.in_place = head.in_place;
    for (uint32_t i = at + 1; i < columns->count && columns->heads[i].kind != CALIB_HEAD_TIME; i++) {
        double number = 0;
        bool is_number = calib_word_number(fields[i], &number);
        if (columns->heads[i].kind == CALIB_HEAD_BUS) {
            row.bus = is_number && number > 0 && number < 1e9 ? number * columns->heads[i].unit : 0;
        }
        wrong |= columns->heads[i].kind == CALIB_HEAD_WRONG && is_number && number > 0;
    }
    if (wrong || row.bytes == 0 || row.time_us <= 0 || row.type == CALIB_TYPE_OTHER) {
        calib_rows_leave_out(rows,
                             wrong                          ? CALIB_OUT_WRONG
                             : row.type == CALIB_TYPE_OTHER ? CALIB_OUT_OTHER
                                                            : CALIB_OUT_EMPTY,
                             row.line);
        return ORR_OK;
    }
    return row_push(rows, &row, text->mem, err);
}

enum orr_status calib_rows_add(struct calib_rows *rows, const struct calib_text *text,
                               const struct calib_columns *columns, const struct calib_word *fields,
                               const struct calib_row *common, double time_unit, struct orr_error *err)
{
    struct calib_row row = *common;
    enum orr_status status = ORR_OK;
    for (uint32_t i = 0; i < columns->count && status == ORR_OK; i++) {
        status = common_take(text, columns->heads[i], fields[i], &row, err);
    }
    for (uint32_t i = 0; i < columns->count && status == ORR_OK; i++) {
        if (columns->heads[i].kind == CALIB_HEAD_TIME) {
            status = measure_take(rows, text, columns, fields, i, row, time_unit, err);
        }
    }
    return status;
}
