/* SPDX-License-Identifier: Apache-2.0 */
/* Children are chained instead of held in arrays because neither syntax announces how many will come, and every reader
 * walks them once, in order. */
#include "io/value.h"

#include <inttypes.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/plain.h"
#include "base/scan.h"

enum { DESCRIBE_TEXT = 60 };

struct io_value *io_value_add(struct arena *arena, struct io_value *parent, enum io_kind kind, uint32_t line)
{
    struct io_value *value = arena_zalloc(arena, sizeof *value);
    if (value == NULL) {
        return NULL;
    }
    value->kind = kind;
    value->line = line;
    if (parent != NULL) {
        if (parent->last == NULL) {
            parent->first = value;
        } else {
            parent->last->next = value;
        }
        parent->last = value;
        parent->count++;
    }
    return value;
}

const struct io_value *io_value_member(const struct io_value *map, const char *key)
{
    const struct io_value *found = map != NULL && map->kind == IO_MAP ? map->first : NULL;
    while (found != NULL && strcmp(found->key, key) != 0) {
        found = found->next;
    }
    return found;
}

/* Length of a run of decimal digits. */
static size_t digits(const char *text)
{
    return strspn(text, "0123456789");
}

/* True when all of `text` has the form [+-]digits[.digits][e[+-]digits]; `whole` when there is only the first part. */
static bool number_form(const char *text, bool *whole)
{
    text += *text == '-' || *text == '+';
    size_t before = digits(text);
    if (before > 1 && text[0] == '0') {
        return false;
    }
    text += before;
    *whole = *text == '\0';
    size_t after = 0;
    if (*text == '.') {
        after = digits(text + 1);
        text += 1 + after;
    }
    if (before + after == 0) {
        return false;
    }
    if (*text == 'e' || *text == 'E') {
        text += text[1] == '-' || text[1] == '+' ? 2 : 1;
        size_t exponent = digits(text);
        if (exponent == 0) {
            return false;
        }
        text += exponent;
    }
    return *text == '\0';
}

static bool integer_parse(const char *text, int64_t *integer)
{
    bool negative = *text == '-';
    text += *text == '-' || *text == '+';
    uint64_t value = 0;
    if (!scan_whole(text, strlen(text), INT64_MAX, &value)) {
        return false;
    }
    *integer = negative ? -(int64_t)value : (int64_t)value;
    return true;
}

bool io_number_parse(const char *text, struct io_value *number)
{
    bool whole = false;
    if (!number_form(text, &whole)) {
        return false;
    }
    int64_t integer = 0;
    if (whole && integer_parse(text, &integer)) {
        number->kind = IO_INTEGER;
        number->integer = integer;
        return true;
    }
    locale_t plain = newlocale(LC_NUMERIC_MASK, "C", (locale_t)0);
    if (plain == (locale_t)0) {
        return false;
    }
    double real = strtod_l(text, NULL, plain);
    freelocale(plain);
    if (!isfinite(real)) {
        return false;
    }
    number->kind = IO_REAL;
    number->real = real;
    return true;
}

const char *io_text_printable(const char *text, char *buffer, size_t size)
{
    static const char cut[] = "…";
    size_t length = strlen(text);
    bool whole = length < size && length <= DESCRIBE_TEXT;
    if (!whole) {
        length = size - sizeof cut < DESCRIBE_TEXT ? size - sizeof cut : DESCRIBE_TEXT;
        while (length > 0 && ((unsigned char)text[length] & 0xc0u) == 0x80u) {
            length--; /* not inside a UTF-8 character */
        }
    }
    for (size_t i = 0; i < length; i++) {
        unsigned char c = (unsigned char)text[i];
        buffer[i] = text[i];
        if (c < 0x20u || c == 0x7fu) {
            buffer[i] = '?';
        }
    }
    memcpy(buffer + length, whole ? "" : cut, whole ? 1 : sizeof cut);
    return buffer;
}

const char *io_value_describe(const struct io_value *value, char *buffer, size_t size)
{
    char text[DESCRIBE_TEXT + 8];
    if (value->text != NULL && value->text[0] == '\0' && value->kind == IO_NULL) {
        (void)snprintf(buffer, size, "empty"); /* "key:" and nothing after it, in YAML */
        return buffer;
    }
    if (value->text != NULL) {
        (void)snprintf(buffer, size, value->kind == IO_TEXT ? "\"%s\"" : "%s",
                       io_text_printable(value->text, text, sizeof text));
        return buffer;
    }
    switch (value->kind) {
    case IO_NULL:
    case IO_TEXT:
        (void)snprintf(buffer, size, "null");
        break;
    case IO_BOOL:
        (void)snprintf(buffer, size, "%s", value->boolean ? "true" : "false");
        break;
    case IO_INTEGER:
        (void)snprintf(buffer, size, "%" PRId64, value->integer);
        break;
    case IO_REAL:
        (void)plain_snprintf(buffer, size, "%.10g", value->real);
        break;
    case IO_LIST:
    case IO_MAP:
        (void)snprintf(buffer, size, "a %s of %" PRIu32, value->kind == IO_LIST ? "list" : "map", value->count);
        break;
    }
    return buffer;
}
