/* SPDX-License-Identifier: Apache-2.0 */
/* Everything is appended to a growing buffer; nested messages are built in a small one first because their length goes
 * in front of them. Out of memory ends the test: there is nothing to test without it. */
#include "tests/golden/et_bytes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WIRE_VARINT = 0, WIRE_BLOCK = 2, NODE_ATTRIBUTE = 10 };

void et_bytes_free(struct et_bytes *bytes)
{
    free(bytes->data);
    *bytes = (struct et_bytes){0};
}

void et_bytes_clear(struct et_bytes *bytes)
{
    bytes->length = 0;
}

void et_bytes_append(struct et_bytes *bytes, const void *data, size_t length)
{
    if (bytes->length + length > bytes->capacity) {
        size_t capacity = 2 * (bytes->length + length) + 64;
        uint8_t *grown = realloc(bytes->data, capacity);
        if (grown == NULL) {
            perror("et_bytes");
            abort();
        }
        bytes->data = grown;
        bytes->capacity = capacity;
    }
    if (length > 0)
        memcpy(bytes->data + bytes->length, data, length);
    bytes->length += length;
}

void et_put_varint(struct et_bytes *bytes, uint64_t value)
{
    uint8_t out[10];
    size_t length = 0;
    for (; value >= 0x80; value >>= 7)
        out[length++] = (uint8_t)(value | 0x80);
    out[length++] = (uint8_t)value;
    et_bytes_append(bytes, out, length);
}

static void put_key(struct et_bytes *bytes, unsigned field, unsigned wire)
{
    et_put_varint(bytes, (uint64_t)field << 3 | wire);
}

void et_put_number(struct et_bytes *bytes, unsigned field, uint64_t value)
{
    if (value == 0)
        return;
    put_key(bytes, field, WIRE_VARINT);
    et_put_varint(bytes, value);
}

void et_put_block(struct et_bytes *bytes, unsigned field, const void *data, size_t length)
{
    put_key(bytes, field, WIRE_BLOCK);
    et_put_varint(bytes, length);
    et_bytes_append(bytes, data, length);
}

void et_put_number_attribute(struct et_bytes *node, const char *name, enum et_field kind, uint64_t value)
{
    struct et_bytes attribute = {0};
    et_put_block(&attribute, 1, name, strlen(name));
    put_key(&attribute, kind, WIRE_VARINT);
    et_put_varint(&attribute, value);
    et_put_block(node, NODE_ATTRIBUTE, attribute.data, attribute.length);
    et_bytes_free(&attribute);
}

void et_put_string_attribute(struct et_bytes *node, const char *name, const char *text, size_t length)
{
    struct et_bytes attribute = {0};
    et_put_block(&attribute, 1, name, strlen(name));
    et_put_block(&attribute, ET_STRING, text, length);
    et_put_block(node, NODE_ATTRIBUTE, attribute.data, attribute.length);
    et_bytes_free(&attribute);
}

void et_put_flags_attribute(struct et_bytes *node, const char *name, const char *flags, size_t length)
{
    struct et_bytes packed = {0};
    struct et_bytes list = {0};
    struct et_bytes attribute = {0};
    for (size_t i = 0; i < length; i++)
        et_put_varint(&packed, flags[i] == '1');
    et_put_block(&list, 1, packed.data, packed.length);
    et_put_block(&attribute, 1, name, strlen(name));
    et_put_block(&attribute, ET_BOOL_LIST, list.data, list.length);
    et_put_block(node, NODE_ATTRIBUTE, attribute.data, attribute.length);
    et_bytes_free(&packed);
    et_bytes_free(&list);
    et_bytes_free(&attribute);
}
