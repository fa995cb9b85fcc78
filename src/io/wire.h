/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The protobuf wire format, one field at a time: varints, fixed words, length-prefixed spans, and what to say when the
 * bytes are none of these. Readers that know a schema stand on this when a tree of messages would cost more than the
 * file itself; the functions are inline because a trace has some ten fields to a hundred bytes.
 *
 * Owns nothing, allocates nothing, reads only between the two pointers it is given; knows no message and no file.
 */
#ifndef ORR_IO_WIRE_H
#define ORR_IO_WIRE_H

#include <endian.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum wire_type { WIRE_VARINT = 0, WIRE_FIXED64 = 1, WIRE_BYTES = 2, WIRE_FIXED32 = 5 };

enum { WIRE_VARINT_MAX = 10, WIRE_TAG_MAX = 5 };

/* For the few functions that are the inner loop of a reader: compilers judge them too large to inline, and a call for
 * each of ten million fields costs more than the field. */
#if defined(__GNUC__) || defined(__clang__)
#define WIRE_INLINE static inline __attribute__((always_inline))
#else
#define WIRE_INLINE static inline
#endif

/* What a tag reads as; usable in `case`. */
#define WIRE_TAG(number, type) ((uint32_t)(number) << 3 | (uint32_t)(type))

struct wire_field {
    uint32_t tag;         /* WIRE_TAG(number, type) */
    uint64_t value;       /* the varint or fixed word; of a span, its length */
    const uint8_t *bytes; /* the span's first byte; of a number, where it stands */
};

static inline uint32_t wire_field_number(const struct wire_field *field)
{
    return field->tag >> 3;
}

static inline uint32_t wire_field_type(const struct wire_field *field)
{
    return field->tag & 7;
}

/* The byte after the varint at `at`, or NULL when it does not end before `end` or within ten bytes. Bits above the 64th
 * are dropped, as protobuf's own readers do. */
const uint8_t *wire_varint_long(const uint8_t *at, const uint8_t *end, uint64_t *value);

WIRE_INLINE const uint8_t *wire_varint(const uint8_t *at, const uint8_t *end, uint64_t *value)
{
    if (at < end && at[0] < 0x80) {
        *value = at[0];
        return at + 1;
    }
    if (end - at >= 2 && at[1] < 0x80) {
        *value = (uint64_t)(at[0] & 0x7f) | (uint64_t)at[1] << 7;
        return at + 2;
    }
    if (end - at >= 3 && at[2] < 0x80) {
        *value = (uint64_t)(at[0] & 0x7f) | (uint64_t)(at[1] & 0x7f) << 7 | (uint64_t)at[2] << 14;
        return at + 3;
    }
    return wire_varint_long(at, end, value);
}

/* How many bytes a varint takes, and writing it: at most WIRE_VARINT_MAX bytes at `at`; gives how many. */
static inline size_t wire_varint_size(uint64_t value)
{
    size_t size = 1;
    for (; value >= 0x80; value >>= 7) {
        size++;
    }
    return size;
}

static inline size_t wire_varint_put(uint8_t *at, uint64_t value)
{
    size_t size = 0;
    for (; value >= 0x80; value >>= 7) {
        at[size++] = (uint8_t)(value | 0x80);
    }
    at[size++] = (uint8_t)value;
    return size;
}

/* The tag at `at` when it takes more than a byte, or NULL when it is no tag. */
const uint8_t *wire_tag_long(const uint8_t *at, const uint8_t *end, uint32_t *tag);

static inline uint32_t wire_fixed32(const uint8_t *at)
{
    uint32_t word;
    memcpy(&word, at, sizeof word);
    return le32toh(word);
}

static inline uint64_t wire_fixed64(const uint8_t *at)
{
    uint64_t word;
    memcpy(&word, at, sizeof word);
    return le64toh(word);
}

static inline int64_t wire_zigzag(uint64_t value)
{
    return (int64_t)(value >> 1 ^ (0 - (value & 1)));
}

/* A length as it stands before a span or a record: at most five bytes long, and the span must fit before `end`. */
const uint8_t *wire_length_long(const uint8_t *at, const uint8_t *end, uint64_t *length);

WIRE_INLINE const uint8_t *wire_length(const uint8_t *at, const uint8_t *end, uint64_t *length)
{
    if (at < end && at[0] < end - at && at[0] < 0x80) {
        *length = at[0];
        return at + 1;
    }
    return wire_length_long(at, end, length);
}

/* The fixed word at `next`, of the width the field's tag says; NULL when it says none. */
const uint8_t *wire_fixed(const uint8_t *next, const uint8_t *end, struct wire_field *field);

/* Reads the field at `at` whole. Gives the byte after it, or NULL when there is no well-formed field; wire_field_fault
 * then says why. Groups (wire types 3 and 4) are not well-formed: proto3 has none. */
WIRE_INLINE const uint8_t *wire_field_read(const uint8_t *at, const uint8_t *end, struct wire_field *field)
{
    const uint8_t *next = at + 1;
    if (at < end && at[0] >= 8 && at[0] < 0x80) {
        field->tag = at[0];
    } else {
        next = wire_tag_long(at, end, &field->tag);
        if (next == NULL) {
            return NULL;
        }
    }
    if ((field->tag & 7) == WIRE_BYTES) {
        field->bytes = wire_length(next, end, &field->value);
        return field->bytes == NULL ? NULL : field->bytes + field->value;
    }
    field->bytes = next;
    if ((field->tag & 7) == WIRE_VARINT) {
        return wire_varint(next, end, &field->value);
    }
    return wire_fixed(next, end, field);
}

/* A walk over the fields of a message; `from` is where the field last read begins. */
struct wire_walk {
    const uint8_t *from, *at, *end;
};

static inline struct wire_walk wire_walk(const uint8_t *bytes, uint64_t size)
{
    return (struct wire_walk){bytes, bytes, bytes + size};
}

/* The next field. False when there is none: at the end of the message (`at` is `end`), or because what follows is not
 * well-formed (`at` is before it). */
WIRE_INLINE bool wire_next(struct wire_walk *walk, struct wire_field *field)
{
    walk->from = walk->at;
    const uint8_t *next = walk->at < walk->end ? wire_field_read(walk->at, walk->end, field) : NULL;
    walk->at = next != NULL ? next : walk->at;
    return next != NULL;
}

/* Why wire_field_read gave NULL for the same bytes: a phrase, no newline. */
const char *wire_field_fault(const uint8_t *at, const uint8_t *end);

/* Proto3 strings are UTF-8. Names are nearly always ASCII, which is looked at eight bytes at a time. */
bool wire_utf8_valid_long(const uint8_t *at, const uint8_t *end);

WIRE_INLINE bool wire_utf8_valid(const uint8_t *bytes, uint64_t length)
{
    const uint64_t high = UINT64_C(0x8080808080808080);
    const uint8_t *end = bytes + length;
    uint64_t word = 0;
    uint64_t seen = 0;
    if (length >= 8) {
        for (const uint8_t *at = bytes; end - at > 8; at += 8) {
            memcpy(&word, at, sizeof word);
            seen |= word;
        }
        memcpy(&word, end - 8, sizeof word); /* overlaps the one before */
        seen |= word;
    } else {
        for (const uint8_t *at = bytes; at < end; at++) {
            seen |= *at;
        }
    }
    return (seen & high) == 0 || wire_utf8_valid_long(bytes, end);
}

#endif
