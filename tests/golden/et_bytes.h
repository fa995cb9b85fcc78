/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A Chakra ET encoder for oracles: the wire format of spec §4.1 written down a second time, by hand, so that a mistake
 * in the library's own reader or writer cannot cancel itself out in the golden tests. Knows messages and attributes,
 * not what they mean; owns the bytes it grows.
 */
#ifndef ORR_TESTS_GOLDEN_ET_BYTES_H
#define ORR_TESTS_GOLDEN_ET_BYTES_H

#include <stddef.h>
#include <stdint.h>

struct et_bytes {
    uint8_t *data;
    size_t length;
    size_t capacity;
};

/* Attribute value kinds by their field number in the attribute's oneof. */
enum et_field {
    ET_INT32 = 7,
    ET_INT64 = 9,
    ET_UINT64 = 13,
    ET_BOOL = 27,
    ET_BOOL_LIST = 28,
    ET_STRING = 29,
};

void et_bytes_free(struct et_bytes *bytes);
void et_bytes_clear(struct et_bytes *bytes);
void et_bytes_append(struct et_bytes *bytes, const void *data, size_t length);

void et_put_varint(struct et_bytes *bytes, uint64_t value);
/* A varint field; proto3 leaves a zero out, and so does this. */
void et_put_number(struct et_bytes *bytes, unsigned field, uint64_t value);
void et_put_block(struct et_bytes *bytes, unsigned field, const void *data, size_t length);

/* An attribute of a node (field 10) with a number of `kind`; inside a oneof a zero is written too. */
void et_put_number_attribute(struct et_bytes *node, const char *name, enum et_field kind, uint64_t value);
void et_put_string_attribute(struct et_bytes *node, const char *name, const char *text, size_t length);
/* `flags` is a text of 0s and 1s. */
void et_put_flags_attribute(struct et_bytes *node, const char *name, const char *flags, size_t length);

#endif
