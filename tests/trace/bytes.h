/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Chakra ET files written byte by byte, so that tests can make what no writer would: fields in odd order, lists not
 * packed, numbers of the wrong wire type, records cut short. Independent of the code under test.
 */
#ifndef ORR_TESTS_TRACE_BYTES_H
#define ORR_TESTS_TRACE_BYTES_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct bytes {
    uint8_t at[8192];
    size_t size;
};

static inline void bytes_add(struct bytes *bytes, const void *more, size_t size)
{
    if (size > sizeof bytes->at - bytes->size) {
        abort(); /* a test's file is small */
    }
    memcpy(bytes->at + bytes->size, more, size);
    bytes->size += size;
}

static inline void bytes_varint(struct bytes *bytes, uint64_t value)
{
    for (; value >= 0x80; value >>= 7) {
        bytes_add(bytes, &(uint8_t){(uint8_t)(value | 0x80)}, 1);
    }
    bytes_add(bytes, &(uint8_t){(uint8_t)value}, 1);
}

/* A number under this field number. */
static inline void bytes_number(struct bytes *bytes, uint32_t field, uint64_t value)
{
    bytes_varint(bytes, (uint64_t)field << 3);
    bytes_varint(bytes, value);
}

static inline void bytes_span(struct bytes *bytes, uint32_t field, const void *span, size_t size)
{
    bytes_varint(bytes, (uint64_t)field << 3 | 2);
    bytes_varint(bytes, size);
    bytes_add(bytes, span, size);
}

static inline void bytes_text(struct bytes *bytes, uint32_t field, const char *text)
{
    bytes_span(bytes, field, text, strlen(text));
}

/* A packed list of numbers. */
static inline void bytes_numbers(struct bytes *bytes, uint32_t field, const uint64_t *values, size_t count)
{
    struct bytes list = {.size = 0};
    for (size_t i = 0; i < count; i++) {
        bytes_varint(&list, values[i]);
    }
    bytes_span(bytes, field, list.at, list.size);
}

/* An attribute of a node whose value field is already encoded. */
static inline void bytes_attribute(struct bytes *node, const char *name, const struct bytes *value)
{
    struct bytes attr = {.size = 0};
    bytes_text(&attr, 1, name);
    bytes_add(&attr, value->at, value->size);
    bytes_span(node, 10, attr.at, attr.size);
}

static inline void bytes_integer(struct bytes *node, const char *name, uint32_t field, uint64_t value)
{
    struct bytes encoded = {.size = 0};
    bytes_number(&encoded, field, value);
    bytes_attribute(node, name, &encoded);
}

static inline void bytes_record(struct bytes *file, const struct bytes *message)
{
    bytes_varint(file, message->size);
    bytes_add(file, message->at, message->size);
}

/* A file with its metadata and nothing else yet. */
static inline void bytes_begin(struct bytes *file)
{
    struct bytes metadata = {.size = 0};
    bytes_text(&metadata, 1, "0.0.4");
    file->size = 0;
    bytes_record(file, &metadata);
}

/* A node of this id and type with these data dependencies. */
static inline void bytes_node(struct bytes *file, uint64_t id, uint32_t type, const uint64_t *parents, size_t count)
{
    struct bytes node = {.size = 0};
    bytes_number(&node, 1, id);
    bytes_number(&node, 3, type);
    if (count > 0) {
        bytes_numbers(&node, 5, parents, count);
    }
    bytes_record(file, &node);
}

#endif
