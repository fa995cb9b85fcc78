/* SPDX-License-Identifier: Apache-2.0 */
/* The rare half of the wire format, kept out of line so that the common half stays small enough to inline: long
 * varints, text that is not ASCII, and explaining a fault, which decodes the same bytes again rather than carry a
 * reason through every successful read. */
#include "io/wire.h"

const uint8_t *wire_varint_long(const uint8_t *at, const uint8_t *end, uint64_t *value)
{
    const uint8_t *last = end - at > WIRE_VARINT_MAX ? at + WIRE_VARINT_MAX : end;
    uint64_t result = 0;
    for (unsigned shift = 0; at < last; shift += 7) {
        uint8_t byte = *at++;
        result |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80) {
            *value = result;
            return at;
        }
    }
    return NULL;
}

const uint8_t *wire_tag_long(const uint8_t *at, const uint8_t *end, uint32_t *tag)
{
    uint64_t value;
    const uint8_t *next = wire_varint(at, end, &value);
    if (next == NULL || next - at > WIRE_TAG_MAX || value > UINT32_MAX || value < 8) {
        return NULL;
    }
    *tag = (uint32_t)value;
    return next;
}

const uint8_t *wire_length_long(const uint8_t *at, const uint8_t *end, uint64_t *length)
{
    const uint8_t *next = wire_varint(at, end, length);
    return next != NULL && next - at <= WIRE_TAG_MAX && *length <= (uint64_t)(end - next) ? next : NULL;
}

const uint8_t *wire_fixed(const uint8_t *next, const uint8_t *end, struct wire_field *field)
{
    switch (field->tag & 7) {
    case WIRE_FIXED64:
        if (end - next < 8) {
            return NULL;
        }
        field->value = wire_fixed64(next);
        return next + 8;
    case WIRE_FIXED32:
        if (end - next < 4) {
            return NULL;
        }
        field->value = wire_fixed32(next);
        return next + 4;
    default:
        return NULL;
    }
}

static const char *length_fault(const uint8_t *at, const uint8_t *end)
{
    uint64_t length;
    const uint8_t *next = wire_varint(at, end, &length);
    if (next == NULL || next - at > WIRE_TAG_MAX) {
        return "a length that does not end";
    }
    return "a length that runs past the end of its message";
}

const char *wire_field_fault(const uint8_t *at, const uint8_t *end)
{
    uint64_t tag;
    const uint8_t *next = wire_varint(at, end, &tag);
    if (next == NULL || next - at > WIRE_TAG_MAX || tag > UINT32_MAX) {
        return "a field tag that does not end";
    }
    if (tag < 8) {
        return "a field numbered 0";
    }
    switch (tag & 7) {
    case WIRE_VARINT:
        return "a number that does not end";
    case WIRE_BYTES:
        return length_fault(next, end);
    case WIRE_FIXED64:
    case WIRE_FIXED32:
        return "a fixed-size number cut short";
    default:
        return "a wire type that proto3 does not have";
    }
}

/* Length of the well-formed sequence at `at`, or 0. Overlong forms, surrogates and values above U+10FFFF are not
 * well-formed (Unicode 15, table 3-7). */
static size_t utf8_sequence(const uint8_t *at, const uint8_t *end)
{
    uint8_t lead = at[0];
    if (lead < 0x80) {
        return 1;
    }
    size_t length = lead >= 0xc2 && lead <= 0xdf   ? 2
                    : lead >= 0xe0 && lead <= 0xef ? 3
                    : lead >= 0xf0 && lead <= 0xf4 ? 4
                                                   : 0;
    if (length == 0 || (size_t)(end - at) < length) {
        return 0;
    }
    uint8_t low = lead == 0xe0 ? 0xa0 : lead == 0xf0 ? 0x90 : 0x80;
    uint8_t high = lead == 0xed ? 0x9f : lead == 0xf4 ? 0x8f : 0xbf;
    if (at[1] < low || at[1] > high) {
        return 0;
    }
    for (size_t i = 2; i < length; i++) {
        if ((at[i] & 0xc0) != 0x80) {
            return 0;
        }
    }
    return length;
}

bool wire_utf8_valid_long(const uint8_t *at, const uint8_t *end)
{
    while (at < end) {
        size_t length = utf8_sequence(at, end);
        if (length == 0) {
            return false;
        }
        at += length;
    }
    return true;
}
