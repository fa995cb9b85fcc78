/* SPDX-License-Identifier: Apache-2.0 */
/* Digits are made by hand because a timeline writes many millions of integers and printf is most of the cost there. */
#include "io/json_write.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "base/plain.h"

enum { INDENT_SPACES = 1, DIGITS_OF_U64 = 20 };

static void json_write_put_text(const struct json_writer *writer, const char *text, size_t length)
{
    (void)fwrite_unlocked(text, 1, length, writer->stream);
}

static void put_char(const struct json_writer *writer, char c)
{
    (void)fputc_unlocked(c, writer->stream);
}

static void json_write_put_line(const struct json_writer *writer)
{
    put_char(writer, '\n');
    for (unsigned int i = 0; i < writer->depth * INDENT_SPACES; i++) {
        put_char(writer, ' ');
    }
}

/* What must stand between the last thing and a new element. */
static void separate(struct json_writer *writer)
{
    if (writer->after_key) {
        writer->after_key = false;
        return;
    }
    if (writer->depth == 0) {
        return;
    }
    bool flat = writer->flat[writer->depth];
    if (writer->filled[writer->depth]) {
        put_char(writer, ',');
        if (flat) {
            put_char(writer, ' ');
        }
    }
    if (!flat) {
        json_write_put_line(writer);
    }
    writer->filled[writer->depth] = true;
}

static void open_container(struct json_writer *writer, char bracket, bool flat)
{
    separate(writer);
    put_char(writer, bracket);
    assert(writer->depth + 1 < JSON_WRITE_DEPTH);
    bool inherited = writer->depth > 0 && writer->flat[writer->depth];
    writer->depth++;
    writer->filled[writer->depth] = false;
    writer->flat[writer->depth] = flat || inherited;
}

static void close_container(struct json_writer *writer, char bracket)
{
    assert(writer->depth > 0 && !writer->after_key);
    bool line = writer->filled[writer->depth] && !writer->flat[writer->depth];
    writer->depth--;
    if (line) {
        json_write_put_line(writer);
    }
    put_char(writer, bracket);
}

void json_write_begin(struct json_writer *writer, FILE *stream)
{
    memset(writer, 0, sizeof *writer);
    writer->stream = stream;
}

void json_write_end(struct json_writer *writer)
{
    assert(writer->depth == 0);
    put_char(writer, '\n');
}

void json_write_object(struct json_writer *writer, bool flat)
{
    open_container(writer, '{', flat);
}

void json_write_object_end(struct json_writer *writer)
{
    close_container(writer, '}');
}

void json_write_document(struct json_writer *writer, FILE *stream)
{
    json_write_begin(writer, stream);
    json_write_object(writer, false);
}

void json_write_document_end(struct json_writer *writer)
{
    json_write_object_end(writer);
    json_write_end(writer);
}

void json_write_array(struct json_writer *writer, bool flat)
{
    open_container(writer, '[', flat);
}

void json_write_array_end(struct json_writer *writer)
{
    close_container(writer, ']');
}

void json_write_key(struct json_writer *writer, const char *key)
{
    separate(writer);
    put_char(writer, '"');
    json_write_put_text(writer, key, strlen(key));
    json_write_put_text(writer, "\": ", 3);
    writer->after_key = true;
}

/* Length of the well-formed UTF-8 sequence at `text` (RFC 3629: shortest form, no surrogates), or 0. */
static size_t utf8_length(const unsigned char *text)
{
    unsigned char a = text[0];
    if (a < 0x80) {
        return 1;
    }
    size_t length = a >= 0xC2 && a <= 0xDF ? 2 : (a & 0xF0) == 0xE0 ? 3 : a >= 0xF0 && a <= 0xF4 ? 4 : 0;
    for (size_t i = 1; i < length; i++) {
        if ((text[i] & 0xC0) != 0x80) {
            return 0;
        }
    }
    bool overlong = (a == 0xE0 && text[1] < 0xA0) || (a == 0xF0 && text[1] < 0x90);
    bool outside = (a == 0xED && text[1] > 0x9F) || (a == 0xF4 && text[1] > 0x8F);
    return overlong || outside ? 0 : length;
}

static void json_write_put_escaped(const struct json_writer *writer, unsigned char c)
{
    static const char hex[] = "0123456789abcdef";
    if (c == '"' || c == '\\') {
        put_char(writer, '\\');
        put_char(writer, (char)c);
    } else if (c == '\n') {
        json_write_put_text(writer, "\\n", 2);
    } else if (c == '\t') {
        json_write_put_text(writer, "\\t", 2);
    } else {
        json_write_put_text(writer, "\\u00", 4);
        put_char(writer, hex[c >> 4]);
        put_char(writer, hex[c & 15]);
    }
}

void json_write_string(struct json_writer *writer, const char *text)
{
    separate(writer);
    put_char(writer, '"');
    const unsigned char *at = (const unsigned char *)text;
    while (*at != '\0') {
        size_t length = utf8_length(at);
        if (length == 0) {
            json_write_put_text(writer, "\xEF\xBF\xBD", 3);
            length = 1;
        } else if (length == 1 && (*at < 0x20 || *at == '"' || *at == '\\' || *at == 0x7F)) {
            json_write_put_escaped(writer, *at);
        } else {
            json_write_put_text(writer, (const char *)at, length);
        }
        at += length;
    }
    put_char(writer, '"');
}

static void put_u64(const struct json_writer *writer, uint64_t value)
{
    char digits[DIGITS_OF_U64];
    size_t start = DIGITS_OF_U64;
    do {
        digits[--start] = (char)('0' + value % 10);
        value /= 10;
    } while (value != 0);
    json_write_put_text(writer, digits + start, DIGITS_OF_U64 - start);
}

void json_write_u64(struct json_writer *writer, uint64_t value)
{
    separate(writer);
    put_u64(writer, value);
}

void json_write_i64(struct json_writer *writer, int64_t value)
{
    separate(writer);
    if (value < 0) {
        put_char(writer, '-');
    }
    put_u64(writer, value < 0 ? 0 - (uint64_t)value : (uint64_t)value);
}

void json_write_bool(struct json_writer *writer, bool value)
{
    separate(writer);
    json_write_put_text(writer, value ? "true" : "false", value ? 4 : 5);
}

void json_write_null(struct json_writer *writer)
{
    separate(writer);
    json_write_put_text(writer, "null", 4);
}

void json_write_ns_as_us(struct json_writer *writer, uint64_t ns)
{
    separate(writer);
    put_u64(writer, ns / 1000);
    char decimals[4] = {'.', (char)('0' + ns / 100 % 10), (char)('0' + ns / 10 % 10), (char)('0' + ns % 10)};
    json_write_put_text(writer, decimals, sizeof decimals);
}

void json_write_fixed(struct json_writer *writer, double value, int decimals)
{
    if (!isfinite(value)) {
        json_write_null(writer);
        return;
    }
    separate(writer);
    char text[400]; /* DBL_MAX has 309 digits before the point */
    int length = plain_snprintf(text, sizeof text, "%.*f", decimals, value);
    for (int i = 0; i < length && i < (int)sizeof text; i++) {
        char c = text[i];
        if (c == '-' || (c >= '0' && c <= '9')) {
            put_char(writer, c);
        } else if (i > 0 && text[i - 1] >= '0' && text[i - 1] <= '9') {
            put_char(writer, '.'); /* the locale's point, of one byte or more */
        }
    }
}

void json_write_real(struct json_writer *writer, double value)
{
    char text[40];
    if (!isfinite(value)) {
        json_write_null(writer);
        return;
    }
    separate(writer);
    for (int digits = 15; digits <= 17; digits++) {
        (void)plain_snprintf(text, sizeof text, "%.*g", digits, value);
        if (plain_strtod(text, NULL) == value) {
            break;
        }
    }
    for (const char *at = text; *at != '\0'; at++) {
        put_char(writer, *at);
    }
}

void json_write_member_u64(struct json_writer *writer, const char *key, uint64_t value)
{
    json_write_key(writer, key);
    json_write_u64(writer, value);
}

void json_write_member_i64(struct json_writer *writer, const char *key, int64_t value)
{
    json_write_key(writer, key);
    json_write_i64(writer, value);
}

void json_write_member_bool(struct json_writer *writer, const char *key, bool value)
{
    json_write_key(writer, key);
    json_write_bool(writer, value);
}

void json_write_member_fixed(struct json_writer *writer, const char *key, double value, int decimals)
{
    json_write_key(writer, key);
    json_write_fixed(writer, value, decimals);
}

void json_write_member_string(struct json_writer *writer, const char *key, const char *text)
{
    json_write_key(writer, key);
    if (text != NULL) {
        json_write_string(writer, text);
    } else {
        json_write_null(writer);
    }
}

void json_write_member_object(struct json_writer *writer, const char *key, bool flat)
{
    json_write_key(writer, key);
    json_write_object(writer, flat);
}

void json_write_member_array(struct json_writer *writer, const char *key, bool flat)
{
    json_write_key(writer, key);
    json_write_array(writer, flat);
}
