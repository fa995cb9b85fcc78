/* SPDX-License-Identifier: Apache-2.0 */
/* Rows found by name, read from text, checked, compared and written. */
#include "param/param.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/plain.h"
#include "base/words.h"

/* ---- finding ---- */

bool param_belongs(const struct param_table *table, const struct param *row)
{
    return table->commands == 0 || (row->commands & table->commands) != 0;
}

static bool is_called(const struct param *row, const char *name, size_t length)
{
    return (strlen(row->name) == length && memcmp(row->name, name, length) == 0) ||
           words_have(row->synonyms, name, length, false);
}

struct param_found param_find(const struct param_table *tables, const char *name, size_t length)
{
    for (; tables->rows != NULL; tables++) {
        for (const struct param *row = tables->rows; row->name != NULL; row++) {
            if (param_belongs(tables, row) && is_called(row, name, length)) {
                return (struct param_found){row, tables->at};
            }
        }
    }
    return (struct param_found){0};
}

struct param_found param_find_letter(const struct param_table *tables, char letter)
{
    for (; tables->rows != NULL; tables++) {
        for (const struct param *row = tables->rows; row->name != NULL; row++) {
            if (param_belongs(tables, row) && row->letter == letter && letter != '\0') {
                return (struct param_found){row, tables->at};
            }
        }
    }
    return (struct param_found){0};
}

size_t param_names(const struct param_table *tables, const char *names[PARAM_NAMES_MOST + 1])
{
    size_t count = 0;
    for (; tables->rows != NULL; tables++) {
        for (const struct param *row = tables->rows; row->name != NULL && count < PARAM_NAMES_MOST; row++) {
            if (param_belongs(tables, row) && (row->flags & PARAM_HIDDEN) == 0) {
                names[count++] = row->name;
            }
        }
    }
    names[count] = NULL;
    return count;
}

/* ---- reading ---- */

static void *param_place_of(const struct param *row, void *into)
{
    return (char *)into + row->place;
}

/* Numbers have no alignment of their own in a struct that is only known by offsets. */
static void param_put(const struct param *row, void *into, const void *value, size_t size)
{
    memcpy(param_place_of(row, into), value, size);
}

/* `text` is the value as given, NULL: as it is in a struct. */
static enum orr_status check_real(const struct param *row, const char *where, const char *text, double value,
                                  struct orr_error *err)
{
    double most = row->real_most > 0 ? row->real_most : HUGE_VAL;
    char bounds[100];
    char number[40];
    if (isfinite(value) && value >= row->real_least && value <= most) {
        return ORR_OK;
    }
    (void)plain_snprintf(number, sizeof number, "%g", value);
    if (isfinite(most)) {
        (void)plain_snprintf(bounds, sizeof bounds, "is not between %g and %g", row->real_least, most);
    } else {
        (void)plain_snprintf(bounds, sizeof bounds, "must be a number of at least %g", row->real_least);
    }
    return error_set(err, ORR_ERANGE, "%s: %s %s", where, text != NULL ? text : number,
                     row->bounds != NULL ? row->bounds : bounds);
}

static const char *unit_of(const struct param *row)
{
    switch (row->kind) {
    case PARAM_TIME:
        return " ns";
    case PARAM_MICROSECONDS:
        return " us";
    case PARAM_SIZE:
        return " B";
    default:
        return "";
    }
}

static enum orr_status check_count(const struct param *row, const char *where, const char *text, uint64_t count,
                                   struct orr_error *err)
{
    char bounds[100];
    char number[40];
    const char *unit = unit_of(row);
    if (count >= row->least && (row->most == 0 || count <= row->most)) {
        return ORR_OK;
    }
    (void)snprintf(number, sizeof number, "%" PRIu64 "%s", count, unit);
    if (row->most > 0) {
        (void)snprintf(bounds, sizeof bounds, "is not between %" PRIu64 "%s and %" PRIu64 "%s", row->least, unit,
                       row->most, unit);
    } else {
        (void)snprintf(bounds, sizeof bounds, "must be at least %" PRIu64 "%s", row->least, unit);
    }
    return error_set(err, ORR_ERANGE, "%s: %s %s", where, text != NULL ? text : number,
                     row->bounds != NULL ? row->bounds : bounds);
}

static enum orr_status read_microseconds(const char *where, const char *text, uint64_t *us, struct orr_error *err)
{
    uint64_t ns = 0;
    enum orr_status status = param_parse_time(where, text, "us", &ns, err);
    if (status == ORR_OK && ns % 1000 != 0) {
        return error_set(err, ORR_EINVAL, "%s: %s is not a whole number of microseconds, which traces count in", where,
                         text);
    }
    *us = ns / 1000;
    return status;
}

static enum orr_status read_number(const struct param *row, const char *where, const char *text, void *into,
                                   struct orr_error *err)
{
    uint64_t number = 0;
    double real = 0;
    enum orr_status status = ORR_OK;
    switch (row->kind) {
    case PARAM_REAL:
        status = row->unit != NULL ? param_parse_rate(where, text, row->unit, &real, err)
                                   : param_parse_real(where, text, &real, err);
        status = status == ORR_OK ? check_real(row, where, text, real, err) : status;
        if (status == ORR_OK) {
            param_put(row, into, &real, sizeof real);
        }
        return status;
    case PARAM_TIME:
        status = param_parse_time(where, text, row->unit, &number, err);
        break;
    case PARAM_MICROSECONDS:
        status = read_microseconds(where, text, &number, err);
        break;
    case PARAM_SIZE:
        status = param_parse_size(where, text, &number, err);
        break;
    default:
        status = param_parse_count(where, text, row->least, row->most > 0 ? row->most : UINT64_MAX, &number, err);
        break;
    }
    status = status == ORR_OK ? check_count(row, where, text, number, err) : status;
    if (status == ORR_OK && row->kind == PARAM_COUNT32) {
        uint32_t narrow = (uint32_t)number;
        param_put(row, into, &narrow, sizeof narrow);
    } else if (status == ORR_OK) {
        param_put(row, into, &number, sizeof number);
    }
    return status;
}

static enum orr_status read_word(const struct param *row, const char *where, const char *text, void *into,
                                 struct orr_error *err)
{
    unsigned index = 0;
    enum orr_status status = param_parse_word(where, text, row->words, &index, err);
    if (status == ORR_OK && row->kind == PARAM_CHOICE) {
        bool second = index == 1;
        param_put(row, into, &second, sizeof second);
    } else if (status == ORR_OK) {
        int value = row->first + (int)index;
        param_put(row, into, &value, sizeof value);
    }
    return status;
}

static enum orr_status read_value(const struct param *row, const char *where, const char *text, void *into,
                                  struct orr_error *err)
{
    bool flag = true;
    enum orr_status status = ORR_OK;
    switch (row->kind) {
    case PARAM_FLAG:
        status = text != NULL ? param_parse_bool(where, text, &flag, err) : ORR_OK;
        if (status == ORR_OK) {
            param_put(row, into, &flag, sizeof flag);
        }
        return status;
    case PARAM_TEXT:
    case PARAM_PATH:
        param_put(row, into, &text, sizeof text);
        return ORR_OK;
    case PARAM_WORD:
    case PARAM_CHOICE:
        return read_word(row, where, text, into, err);
    case PARAM_READ:
        return row->read(row, text, into, err);
    default:
        return read_number(row, where, text, into, err);
    }
}

enum orr_status param_read(const struct param *row, const char *where, const char *text, void *into,
                           struct orr_error *err)
{
    char named[80];
    (void)snprintf(named, sizeof named, "parameter '%s'", row->name);
    where = where != NULL ? where : named;
    if (text == NULL && row->value != NULL && (row->flags & PARAM_OPTIONAL) == 0) {
        return error_set(err, ORR_EINVAL, "%s needs a value (%s)", where, row->value);
    }
    enum orr_status status = read_value(row, where, text, into, err);
    if (status == ORR_OK && row->given != 0) {
        *(bool *)((char *)into + row->given) = (row->flags & PARAM_CLEARS) == 0;
    }
    return status;
}

enum orr_status param_set(const struct param_table *tables, const char *whose, const char *name, const char *text,
                          void *options, struct orr_error *err)
{
    struct param_found found = param_find(tables, name, strlen(name));
    if (found.row != NULL) {
        return param_read(found.row, NULL, text, (char *)options + found.at, err);
    }
    const char *names[PARAM_NAMES_MOST + 1];
    (void)param_names(tables, names);
    struct error_proposal near = error_propose(name, names);
    return error_set(err, ORR_EINVAL, "%s has no parameter \"%.80s\"%s", whose, name, near.text);
}

void param_defaults(const struct param_table *tables, void *options)
{
    for (; tables->rows != NULL; tables++) {
        for (const struct param *row = tables->rows; row->name != NULL; row++) {
            struct orr_error err = {0};
            void *into = (char *)options + tables->at;
            if (row->initial != NULL && read_value(row, row->name, row->initial, into, &err) != ORR_OK) {
                abort(); /* a row that cannot read its own default; a test reads them all */
            }
        }
    }
}

/* ---- values that are there ---- */

static uint64_t count_of(const struct param *row, const void *from)
{
    uint64_t wide = 0;
    uint32_t narrow = 0;
    const char *place = (const char *)from + row->place;
    if (row->kind == PARAM_COUNT32) {
        memcpy(&narrow, place, sizeof narrow);
        return narrow;
    }
    memcpy(&wide, place, sizeof wide);
    return wide;
}

static double real_of(const struct param *row, const void *from)
{
    double real = 0;
    memcpy(&real, (const char *)from + row->place, sizeof real);
    return real;
}

static int word_of(const struct param *row, const void *from)
{
    int word = 0;
    memcpy(&word, (const char *)from + row->place, sizeof word);
    return word;
}

static bool flag_of(const struct param *row, const void *from)
{
    bool flag = false;
    memcpy(&flag, (const char *)from + row->place, sizeof flag);
    return flag;
}

static const char *text_of(const struct param *row, const void *from)
{
    const char *text = NULL;
    memcpy((void *)&text, (const char *)from + row->place, sizeof text);
    return text;
}

static size_t word_count(const struct param *row)
{
    size_t count = 0;
    while (row->words[count] != NULL) {
        count++;
    }
    return count;
}

enum orr_status param_check(const struct param *row, const void *from, struct orr_error *err)
{
    char where[80];
    (void)snprintf(where, sizeof where, "parameter '%s'", row->name);
    uint64_t count = 0;
    switch (row->kind) {
    case PARAM_WORD: {
        int64_t index = (int64_t)word_of(row, from) - row->first;
        bool unsaid = row->initial == NULL && word_of(row, from) == 0;
        if (!unsaid && (index < 0 || index >= (int64_t)word_count(row))) {
            return error_set(err, ORR_ERANGE, "%s: %d is no value of it; there are %zu, from %d on (%s)", where,
                             word_of(row, from), word_count(row), row->first, row->words[0]);
        }
        return ORR_OK;
    }
    case PARAM_REAL: {
        double real = real_of(row, from);
        return row->initial == NULL && real == 0 ? ORR_OK : check_real(row, where, NULL, real, err);
    }
    case PARAM_COUNT32:
    case PARAM_COUNT:
    case PARAM_TIME:
    case PARAM_MICROSECONDS:
    case PARAM_SIZE:
        count = count_of(row, from);
        return row->initial == NULL && count == 0 ? ORR_OK : check_count(row, where, NULL, count, err);
    default:
        return ORR_OK;
    }
}

bool param_same(const struct param *row, const void *a, const void *b)
{
    switch (row->kind) {
    case PARAM_FLAG:
    case PARAM_CHOICE:
        return flag_of(row, a) == flag_of(row, b);
    case PARAM_TEXT:
    case PARAM_PATH: {
        const char *x = text_of(row, a);
        const char *y = text_of(row, b);
        return x == y || (x != NULL && y != NULL && strcmp(x, y) == 0);
    }
    case PARAM_WORD:
        return word_of(row, a) == word_of(row, b);
    case PARAM_REAL:
        return real_of(row, a) == real_of(row, b);
    case PARAM_READ:
        return true;
    default:
        return count_of(row, a) == count_of(row, b);
    }
}

/* The shortest text that reads back as the same number. */
static void write_real(double value, FILE *stream)
{
    char text[40];
    for (int digits = 15; digits <= 17; digits++) {
        (void)plain_snprintf(text, sizeof text, "%.*g", digits, value);
        if (plain_strtod(text, NULL) == value) {
            break;
        }
    }
    (void)fputs(text, stream);
}

bool param_write(const struct param *row, const void *from, size_t index, FILE *stream)
{
    if (row->kind == PARAM_READ) {
        return row->write != NULL && row->write(row, from, index, stream);
    }
    if (index > 0) {
        return false;
    }
    switch (row->kind) {
    case PARAM_FLAG:
        return flag_of(row, from);
    case PARAM_CHOICE:
        (void)fputs(row->words[flag_of(row, from) ? 1 : 0], stream);
        return true;
    case PARAM_TEXT:
    case PARAM_PATH:
        (void)fputs(text_of(row, from) != NULL ? text_of(row, from) : "", stream);
        return text_of(row, from) != NULL;
    case PARAM_WORD: {
        int64_t word = (int64_t)word_of(row, from) - row->first;
        bool known = word >= 0 && word < (int64_t)word_count(row);
        (void)fputs(known ? row->words[word] : "", stream);
        return known;
    }
    case PARAM_REAL:
        write_real(real_of(row, from), stream);
        return true;
    default:
        (void)fprintf(stream, "%" PRIu64 "%s", count_of(row, from),
                      row->kind == PARAM_TIME           ? "ns"
                      : row->kind == PARAM_MICROSECONDS ? "us"
                                                        : "");
        return true;
    }
}
