/* SPDX-License-Identifier: Apache-2.0 */
/* Names are compared without regard to case; the unit behind a name is found by asking units_parse, so that no list of
 * units is kept twice. */
#include "convert/csv_columns.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/units.h"
#include "io/value.h"

enum { ALIASES = 3, WORD = 80 };
enum unit_kind { KIND_NONE, KIND_TIME, KIND_SIZE };

static const struct {
    enum unit_kind kind;
    const char *bare;
    const char *aliases[ALIASES];
} meanings[CSV_COLUMN_COUNT] = {
#define CSV_X(id, kind, bare, ...) {KIND_##kind, bare, {__VA_ARGS__}},
    CSV_COLUMNS(CSV_X)
#undef CSV_X
};

static bool unit_value(const char *unit, size_t length, enum unit_kind kind, uint64_t *value)
{
    char text[WORD];
    if (length == 0 || length + 2 > sizeof text || kind == KIND_NONE || unit[0] == '.' ||
        (unit[0] >= '0' && unit[0] <= '9')) {
        return false;
    }
    (void)snprintf(text, sizeof text, "1%.*s", (int)length, unit);
    return units_parse(text, kind == KIND_TIME ? UNITS_TIME : UNITS_SIZE, kind == KIND_TIME ? "ns" : "B", value,
                       NULL) == ORR_OK;
}

/* Splits "duration_ms", "duration (ms)", "duration [ms]" into the name's length and the unit's value; false when no
 * unit of the kind is behind the name. */
static bool split_unit(const char *text, size_t length, enum unit_kind kind, size_t *name_length, uint64_t *unit)
{
    size_t end = length;
    if (end > 0 && (text[end - 1] == ')' || text[end - 1] == ']')) {
        end--;
    }
    size_t begin = end;
    while (begin > 0 && strchr("_([ ", text[begin - 1]) == NULL) {
        begin--;
    }
    if (begin == 0 || !unit_value(text + begin, end - begin, kind, unit)) {
        return false;
    }
    begin--;
    while (begin > 0 && text[begin - 1] == ' ') {
        begin--;
    }
    *name_length = begin;
    return true;
}

static bool csv_columns_same(const char *text, size_t length, const char *word)
{
    return strlen(word) == length && strncasecmp(text, word, length) == 0;
}

static bool is_alias(enum csv_column column, const char *text, size_t length)
{
    for (size_t i = 0; i < ALIASES; i++) {
        if (csv_columns_same(text, length, meanings[column].aliases[i])) {
            return true;
        }
    }
    return false;
}

/* What a header's or a map's word means, CSV_COLUMN_COUNT for nothing; `*unit` is 0 when the word has none. */
static enum csv_column find_meaning(const char *text, size_t length, uint64_t *unit)
{
    for (enum csv_column column = 0; column < CSV_COLUMN_COUNT; column++) {
        size_t name_length = 0;
        *unit = 0;
        if (is_alias(column, text, length)) {
            return column;
        }
        if (split_unit(text, length, meanings[column].kind, &name_length, unit) &&
            is_alias(column, text, name_length)) {
            return column;
        }
    }
    *unit = 0;
    return CSV_COLUMN_COUNT;
}

static void set_column(struct csv_columns *columns, enum csv_column column, uint32_t at, uint64_t unit)
{
    const char *bare = meanings[column].bare;
    columns->at[column] = at;
    columns->unit[column] = unit;
    if (unit == 0 && !unit_value(bare, strlen(bare), meanings[column].kind, &columns->unit[column])) {
        columns->unit[column] = 1;
    }
}

static void csv_columns_trim(const char **text, size_t *length)
{
    while (*length > 0 && (**text == ' ' || **text == '\t')) {
        (*text)++;
        (*length)--;
    }
    while (*length > 0 && ((*text)[*length - 1] == ' ' || (*text)[*length - 1] == '\t')) {
        (*length)--;
    }
}

/* ---- the map ---------------------------------------------------------------------------------------------------- */

static const char *nearest_name(const char *text, size_t length)
{
    const char *names[CSV_COLUMN_COUNT + 1] = {0};
    char word[WORD];
    for (size_t i = 0; i < CSV_COLUMN_COUNT; i++) {
        names[i] = meanings[i].aliases[0];
    }
    (void)snprintf(word, sizeof word, "%.*s", (int)(length < WORD ? length : WORD - 1), text);
    return error_nearest(word, names);
}

static enum orr_status fail_meaning(const char *text, size_t length, struct orr_error *err)
{
    const char *nearest = nearest_name(text, length);
    if (nearest != NULL) {
        return error_set(err, ORR_EINVAL, "parameter 'map': \"%.*s\" is no meaning of a column; did you mean \"%s\"?",
                         (int)(length < WORD ? length : WORD), text, nearest);
    }
    return error_set(
        err, ORR_EINVAL,
        "parameter 'map': \"%.*s\" is no meaning of a column; known are id, name, rank, type, duration_us, start_us, "
        "deps, bytes, comm, group, stream, peer, tag, root, step, num_ops",
        (int)(length < WORD ? length : WORD), text);
}

/* A column by its name, else by its number from 1. */
static enum orr_status csv_columns_find_field(const struct csv_row *header, const char *text, size_t length,
                                              const char *path, uint32_t *at, struct orr_error *err)
{
    for (uint32_t i = 0; i < header->count; i++) {
        const char *name = header->fields[i].text;
        size_t size = header->fields[i].length;
        csv_columns_trim(&name, &size);
        if (size == length && memcmp(name, text, length) == 0) {
            *at = i;
            return ORR_OK;
        }
    }
    char word[WORD];
    (void)snprintf(word, sizeof word, "%.*s", (int)(length < WORD ? length : WORD - 1), text);
    char *end = NULL;
    unsigned long number = strtoul(word, &end, 10);
    if (word[0] >= '0' && word[0] <= '9' && *end == '\0' && number >= 1 && number <= header->count) {
        *at = (uint32_t)number - 1;
        return ORR_OK;
    }
    return error_set(err, ORR_EINVAL,
                     "%s:%" PRIu64 ": the map names the column \"%s\", which is neither in the header nor a number "
                     "from 1 to %" PRIu32,
                     path, header->line, word, header->count);
}

static enum orr_status csv_columns_read_map(const struct csv_row *header, const char *map, const char *path,
                                            struct csv_columns *columns, struct orr_error *err)
{
    while (*map != '\0') {
        const char *end = strchrnul(map, ',');
        const char *equals = memchr(map, '=', (size_t)(end - map));
        if (equals == NULL) {
            return error_set(err, ORR_EINVAL, "parameter 'map': \"%.*s\" is no pair MEANING=COLUMN",
                             (int)(end - map < WORD ? end - map : WORD), map);
        }
        const char *left = map;
        const char *right = equals + 1;
        size_t left_length = (size_t)(equals - map);
        size_t right_length = (size_t)(end - right);
        csv_columns_trim(&left, &left_length);
        csv_columns_trim(&right, &right_length);
        uint64_t unit = 0;
        uint32_t at = 0;
        enum csv_column column = find_meaning(left, left_length, &unit);
        if (column == CSV_COLUMN_COUNT) {
            return fail_meaning(left, left_length, err);
        }
        enum orr_status status = csv_columns_find_field(header, right, right_length, path, &at, err);
        if (status != ORR_OK) {
            return status;
        }
        size_t name_length = 0;
        if (unit == 0) {
            (void)split_unit(header->fields[at].text, header->fields[at].length, meanings[column].kind, &name_length,
                             &unit);
        }
        set_column(columns, column, at, unit);
        map = *end == ',' ? end + 1 : end;
    }
    return ORR_OK;
}

/* ---- the header ------------------------------------------------------------------------------------------------- */

static bool is_mapped(const struct csv_columns *columns, uint32_t field)
{
    for (size_t i = 0; i < CSV_COLUMN_COUNT; i++) {
        if (columns->at[i] == field) {
            return true;
        }
    }
    return false;
}

static enum orr_status read_names(const struct csv_row *header, const char *path, struct notes *notes,
                                  struct csv_columns *columns, struct orr_error *err)
{
    enum orr_status status = ORR_OK;
    for (uint32_t i = 0; status == ORR_OK && i < header->count; i++) {
        const char *text = header->fields[i].text;
        size_t length = header->fields[i].length;
        uint64_t unit = 0;
        csv_columns_trim(&text, &length);
        enum csv_column column = find_meaning(text, length, &unit);
        if (is_mapped(columns, i)) {
            continue;
        }
        if (column != CSV_COLUMN_COUNT && columns->at[column] == CSV_ABSENT) {
            set_column(columns, column, i, unit);
        } else if (column == CSV_COLUMN_COUNT && nearest_name(text, length) != NULL) {
            char shown[WORD];
            status = notes_add(notes, err, "%s:%" PRIu64 ": the column \"%s\" is not used; did you mean \"%s\"?", path,
                               header->line, io_text_printable(header->fields[i].text, shown, sizeof shown),
                               nearest_name(text, length));
        }
    }
    return status;
}

enum orr_status csv_columns_find(const struct csv_row *header, const char *map, const char *path, struct notes *notes,
                                 struct csv_columns *columns, struct orr_error *err)
{
    struct csv_columns found = {0};
    bool any = false;
    for (size_t i = 0; i < CSV_COLUMN_COUNT; i++) {
        found.at[i] = CSV_ABSENT;
        found.unit[i] = 1;
        found.name[i] = meanings[i].aliases[0];
    }
    enum orr_status status = map == NULL ? ORR_OK : csv_columns_read_map(header, map, path, &found, err);
    if (status == ORR_OK) {
        status = read_names(header, path, notes, &found, err);
    }
    if (status != ORR_OK) {
        return status;
    }
    any = found.at[CSV_COLUMN_DURATION] != CSV_ABSENT || found.at[CSV_COLUMN_COMM] != CSV_ABSENT ||
          found.at[CSV_COLUMN_TYPE] != CSV_ABSENT;
    if (!any) {
        return error_set(err, ORR_EINVAL,
                         "%s:%" PRIu64 ": none of the columns is a duration, a comm or a type; name them in the header "
                         "or with parameter 'map', as in parameter 'map' duration_us=COLUMN,comm=COLUMN",
                         path, header->line);
    }
    *columns = found;
    return ORR_OK;
}
