/* SPDX-License-Identifier: Apache-2.0 */
/* Whole numbers are carried as 64 bits in two's complement, as varints do; each kind then says which of them fit it. */
#include "convert/et_json_value.h"

#include <errno.h>
#include <stdlib.h>

#include "io/wire.h"
#include "trace/attr.h"

enum { SHOWN = 64 };

bool et_json_refuse(struct et_json_encoder *encoder, const char *key, const char *expected)
{
    (void)snprintf(encoder->problem, sizeof encoder->problem, "\"%s\" is not %s", key, expected);
    return false;
}

/* ---- wire ------------------------------------------------------------------------------------------------------- */

static bool et_json_put_bytes(struct et_json_encoder *encoder, struct et_json_bytes *out, const void *bytes,
                              size_t size)
{
    if (!mem_reserve(encoder->mem, (void **)&out->data, &out->capacity, (uint64_t)out->size + size, 1)) {
        encoder->problem[0] = '\0';
        return false;
    }
    if (size > 0) {
        memcpy(out->data + out->size, bytes, size);
        out->size += (uint32_t)size;
    }
    return true;
}

bool et_json_put_varint(struct et_json_encoder *encoder, struct et_json_bytes *out, uint64_t value)
{
    uint8_t bytes[WIRE_VARINT_MAX];
    return et_json_put_bytes(encoder, out, bytes, wire_varint_put(bytes, value));
}

bool et_json_put_tag(struct et_json_encoder *encoder, struct et_json_bytes *out, uint32_t field, enum et_json_wire wire)
{
    return et_json_put_varint(encoder, out, (uint64_t)field << 3 | (uint64_t)wire);
}

bool et_json_put_block(struct et_json_encoder *encoder, struct et_json_bytes *out, uint32_t field, const void *bytes,
                       size_t size)
{
    return et_json_put_tag(encoder, out, field, ET_JSON_WIRE_BYTES) && et_json_put_varint(encoder, out, size) &&
           et_json_put_bytes(encoder, out, bytes, size);
}

static bool put_fixed(struct et_json_encoder *encoder, struct et_json_bytes *out, uint64_t bits, size_t size)
{
    uint8_t bytes[8];
    for (size_t i = 0; i < size; i++) {
        bytes[i] = (uint8_t)(bits >> (8 * i));
    }
    return et_json_put_bytes(encoder, out, bytes, size);
}

/* ---- scalars ---------------------------------------------------------------------------------------------------- */

bool et_json_read_bits(const struct json_item *item, uint64_t *bits, bool *negative)
{
    char text[32];
    char *end = NULL;
    bool is_number = item->kind == JSON_ITEM_INT || item->kind == JSON_ITEM_BIG;
    if ((!is_number && item->kind != JSON_ITEM_STRING) || item->length == 0 || item->length >= sizeof text) {
        return false;
    }
    memcpy(text, item->text, item->length);
    text[item->length] = '\0';
    *negative = text[0] == '-';
    const char *digits = text + *negative;
    if (digits[0] < '0' || digits[0] > '9') {
        return false;
    }
    errno = 0;
    uint64_t magnitude = strtoull(digits, &end, 10);
    if (errno != 0 || *end != '\0' || (*negative && magnitude > (uint64_t)INT64_MAX + 1)) {
        return false;
    }
    *bits = *negative ? (uint64_t)0 - magnitude : magnitude;
    *negative = *negative && magnitude != 0;
    return true;
}

static bool et_json_value_read_real(const struct json_item *item, double *real)
{
    if (item->kind == JSON_ITEM_INT) {
        *real = (double)item->value.integer;
        return true;
    }
    if (item->kind == JSON_ITEM_REAL || item->kind == JSON_ITEM_BIG) {
        *real = item->value.real;
        return true;
    }
    static const char *const names[] = {"NaN", "Infinity", "-Infinity"};
    const double values[] = {__builtin_nan(""), __builtin_inf(), -__builtin_inf()};
    for (size_t i = 0; i < 3; i++) {
        if (json_item_is(item, names[i])) {
            *real = values[i];
            return true;
        }
    }
    return false;
}

static int et_json_value_hex_digit(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

bool et_json_put_hex(struct et_json_encoder *encoder, struct et_json_bytes *out, const struct json_item *item)
{
    if (item->kind != JSON_ITEM_STRING || item->length % 2 != 0) {
        return et_json_refuse(encoder, "a value of bytes", "a text of hexadecimal digits");
    }
    for (uint32_t i = 0; i < item->length; i += 2) {
        int high = et_json_value_hex_digit(item->text[i]);
        int low = et_json_value_hex_digit(item->text[i + 1]);
        uint8_t byte = (uint8_t)(high * 16 + low);
        if (high < 0 || low < 0) {
            return et_json_refuse(encoder, "a value of bytes", "a text of hexadecimal digits");
        }
        if (!et_json_put_bytes(encoder, out, &byte, 1)) {
            return false;
        }
    }
    return true;
}

static int base64_digit(char c)
{
    return c >= 'A' && c <= 'Z'   ? c - 'A'
           : c >= 'a' && c <= 'z' ? c - 'a' + 26
           : c >= '0' && c <= '9' ? c - '0' + 52
           : c == '+' || c == '-' ? 62
           : c == '/' || c == '_' ? 63
                                  : -1;
}

static bool et_json_value_put_base64(struct et_json_encoder *encoder, struct et_json_bytes *out,
                                     const struct json_item *item)
{
    uint32_t bits = 0;
    unsigned held = 0;
    uint32_t length = item->kind == JSON_ITEM_STRING ? item->length : 0;
    bool good = item->kind == JSON_ITEM_STRING;
    while (length > 0 && item->text[length - 1] == '=') {
        length--;
    }
    for (uint32_t i = 0; good && i < length; i++) {
        int digit = base64_digit(item->text[i]);
        good = digit >= 0;
        bits = bits << 6 | (uint32_t)(digit & 63);
        held += 6;
        if (good && held >= 8) {
            held -= 8;
            uint8_t byte = (uint8_t)(bits >> held);
            if (!et_json_put_bytes(encoder, out, &byte, 1)) {
                return false;
            }
        }
    }
    return good || et_json_refuse(encoder, "a value of bytes", "a text in base64");
}

/* ---- one value of an attribute ---------------------------------------------------------------------------------- */

/* What fits a kind of whole number; the bits as varints carry them. */
static bool fit_integer(uint32_t kind, const struct json_item *item, uint64_t *bits)
{
    bool negative = false;
    if (!et_json_read_bits(item, bits, &negative)) {
        return false;
    }
    int64_t value = (int64_t)*bits;
    switch (kind) {
    case TRACE_VALUE_INT32:
    case TRACE_VALUE_SINT32:
    case TRACE_VALUE_SFIXED32:
        if ((!negative && *bits > INT32_MAX) || (negative && value < INT32_MIN)) {
            return false;
        }
        break;
    case TRACE_VALUE_UINT32:
    case TRACE_VALUE_FIXED32:
        if (negative || *bits > UINT32_MAX) {
            return false;
        }
        break;
    case TRACE_VALUE_UINT64:
    case TRACE_VALUE_FIXED64:
        if (negative) {
            return false;
        }
        break;
    default:
        if (!negative && *bits > INT64_MAX) {
            return false;
        }
        break;
    }
    if (kind == TRACE_VALUE_SINT32 || kind == TRACE_VALUE_SINT64) {
        *bits = *bits << 1 ^ (negative ? UINT64_MAX : 0);
        *bits = kind == TRACE_VALUE_SINT32 ? (uint32_t)*bits : *bits;
    }
    return true;
}

static enum et_json_wire et_json_value_wire_of(uint32_t kind)
{
    switch (kind) {
#define TRACE_X(id, number, name, wire_type, integer)                                                                  \
    case TRACE_VALUE_##id:                                                                                             \
        return (enum et_json_wire)(wire_type);
        TRACE_VALUES(TRACE_X)
#undef TRACE_X
    default:
        return ET_JSON_WIRE_BYTES;
    }
}

/* A number or bool of a kind without its tag, as it stands in a packed list. */
static bool et_json_value_put_number(struct et_json_encoder *encoder, struct et_json_bytes *out, uint32_t kind,
                                     const struct json_item *item)
{
    uint64_t bits = 0;
    double real = 0;
    if (kind == TRACE_VALUE_BOOL) {
        if (item->kind != JSON_ITEM_TRUE && item->kind != JSON_ITEM_FALSE) {
            return et_json_refuse(encoder, "a value of kind bool", "true or false");
        }
        return et_json_put_varint(encoder, out, item->kind == JSON_ITEM_TRUE);
    }
    if (kind == TRACE_VALUE_DOUBLE || kind == TRACE_VALUE_FLOAT) {
        if (!et_json_value_read_real(item, &real)) {
            return et_json_refuse(encoder, "a value of kind double or float", "a number");
        }
        float narrow = (float)real;
        uint32_t narrow_bits = 0;
        memcpy(&bits, &real, sizeof bits);
        memcpy(&narrow_bits, &narrow, sizeof narrow_bits);
        return kind == TRACE_VALUE_DOUBLE ? put_fixed(encoder, out, bits, 8) : put_fixed(encoder, out, narrow_bits, 4);
    }
    if (!fit_integer(kind, item, &bits)) {
        char what[SHOWN];
        (void)snprintf(what, sizeof what, "a value of kind %s", trace_value_name(kind));
        return et_json_refuse(encoder, what, "a whole number that fits it");
    }
    switch (et_json_value_wire_of(kind)) {
    case ET_JSON_WIRE_64:
        return put_fixed(encoder, out, bits, 8);
    case ET_JSON_WIRE_32:
        return put_fixed(encoder, out, bits, 4);
    default:
        return et_json_put_varint(encoder, out, bits);
    }
}

/* A string or bytes with its tag. */
static bool et_json_value_put_text(struct et_json_encoder *encoder, struct et_json_bytes *out, uint32_t field,
                                   uint32_t kind, const struct json_item *item)
{
    struct et_json_bytes bytes = {0};
    if (kind == TRACE_VALUE_STRING) {
        return item->kind == JSON_ITEM_STRING ? et_json_put_block(encoder, out, field, item->text, item->length)
                                              : et_json_refuse(encoder, "a value of kind string", "a text");
    }
    bool good = (encoder->protobuf_names ? et_json_value_put_base64 : et_json_put_hex)(encoder, &bytes, item) &&
                et_json_put_block(encoder, out, field, bytes.data, bytes.size);
    mem_free(encoder->mem, bytes.data, bytes.capacity);
    return good;
}

static bool is_text_kind(uint32_t kind)
{
    return kind == TRACE_VALUE_STRING || kind == TRACE_VALUE_BYTES;
}

/* A list message: field 1, packed for numbers. */
static bool et_json_value_put_list(struct et_json_encoder *encoder, struct et_json_bytes *out, uint32_t field,
                                   const struct json_item *array)
{
    uint32_t kind = field - 1;
    struct et_json_bytes *list = &encoder->part[1];
    struct et_json_bytes packed = {0};
    bool good = true;
    list->size = 0;
    for (const struct json_item *item = json_item_first(array); good && item != json_item_end(array);
         item = json_item_next(item)) {
        good = is_text_kind(kind) ? et_json_value_put_text(encoder, list, 1, kind, item)
                                  : et_json_value_put_number(encoder, &packed, kind, item);
    }
    if (good && packed.size > 0) {
        good = et_json_put_block(encoder, list, 1, packed.data, packed.size);
    }
    mem_free(encoder->mem, packed.data, packed.capacity);
    return good && et_json_put_block(encoder, out, field, list->data, list->size);
}

bool et_json_put_value(struct et_json_encoder *encoder, struct et_json_bytes *out, uint32_t field,
                       const struct json_item *value)
{
    if (field % 2 == 0) { /* lists have the even numbers */
        return value->kind == JSON_ITEM_ARRAY ? et_json_value_put_list(encoder, out, field, value)
                                              : et_json_refuse(encoder, "the value of a list", "an array");
    }
    if (is_text_kind(field)) {
        return et_json_value_put_text(encoder, out, field, field, value);
    }
    return et_json_put_tag(encoder, out, field, et_json_value_wire_of(field)) &&
           et_json_value_put_number(encoder, out, field, value);
}
