/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A node is put together in one buffer of fixed size, so that its length can be written before it. Names come from the
 * benchmark and are short; what would not fit is cut, never overrun.
 */
#include "bench/et_writer.h"

#include <string.h>

enum wire { WIRE_VARINT = 0, WIRE_BYTES = 2 };
enum field {
    NODE_ID = 1,
    NODE_NAME = 2,
    NODE_TYPE = 3,
    NODE_DATA_DEPS = 5,
    NODE_DURATION = 7,
    NODE_INPUTS = 8,
    NODE_ATTR = 10
};
enum attribute { ATTR_NAME = 1, ATTR_INT64 = 9, ATTR_UINT64 = 13, ATTR_BOOL = 27 };
enum node_type { TYPE_COMP = 4, TYPE_COLL = 7 };

static size_t varint(uint8_t *out, uint64_t value)
{
    size_t n = 0;
    for (; value >= 0x80; value >>= 7)
        out[n++] = (uint8_t)(value | 0x80);
    out[n++] = (uint8_t)value;
    return n;
}

static void put(struct et_writer *writer, const void *bytes, size_t count)
{
    if (count > ET_NODE_BYTES - writer->used)
        count = ET_NODE_BYTES - writer->used;
    memcpy(writer->node + writer->used, bytes, count);
    writer->used += count;
}

static void put_varint(struct et_writer *writer, uint64_t value)
{
    uint8_t bytes[10] = {0};
    size_t count = varint(bytes, value);
    put(writer, bytes, count);
}

static void put_number(struct et_writer *writer, unsigned field, uint64_t value)
{
    put_varint(writer, field << 3 | WIRE_VARINT);
    put_varint(writer, value);
}

static void put_block(struct et_writer *writer, unsigned field, const void *bytes, size_t count)
{
    put_varint(writer, field << 3 | WIRE_BYTES);
    put_varint(writer, count);
    put(writer, bytes, count);
}

/* The attribute's own bytes are small enough for a buffer on the stack: names and values are the benchmark's. */
static void put_attribute(struct et_writer *writer, const char *name, unsigned kind, uint64_t value)
{
    uint8_t inner[64];
    size_t length = strlen(name);
    size_t n = 0;
    inner[n++] = ATTR_NAME << 3 | WIRE_BYTES;
    inner[n++] = (uint8_t)length;
    memcpy(inner + n, name, length);
    n += length;
    n += varint(inner + n, kind << 3 | WIRE_VARINT);
    n += varint(inner + n, value);
    put_block(writer, NODE_ATTR, inner, n);
}

static uint64_t begin(struct et_writer *writer, const char *name, unsigned type)
{
    writer->used = 0;
    put_number(writer, NODE_ID, writer->next_id);
    put_block(writer, NODE_NAME, name, strlen(name));
    put_number(writer, NODE_TYPE, type);
    return writer->next_id++;
}

static void put_parents(struct et_writer *writer, uint64_t parent, unsigned count)
{
    uint8_t packed[20];
    size_t n = 0;
    for (unsigned i = 0; i < count && parent != UINT64_MAX && parent >= i; i++)
        n += varint(packed + n, parent - i);
    if (n > 0)
        put_block(writer, NODE_DATA_DEPS, packed, n);
}

static void end(struct et_writer *writer)
{
    uint8_t length[10];
    size_t n = varint(length, writer->used);
    fwrite(length, 1, n, writer->file);
    fwrite(writer->node, 1, writer->used, writer->file);
    writer->bytes += n + writer->used;
}

bool et_open(struct et_writer *writer, const char *path)
{
    static const uint8_t metadata[] = {7, ATTR_NAME << 3 | WIRE_BYTES, 5, '0', '.', '0', '.', '4'};
    *writer = (struct et_writer){.file = fopen(path, "wb")};
    if (writer->file == NULL)
        return false;
    writer->bytes = fwrite(metadata, 1, sizeof metadata, writer->file);
    return true;
}

bool et_close(struct et_writer *writer)
{
    bool good = !ferror(writer->file);
    return fclose(writer->file) == 0 && good;
}

uint64_t et_compute(struct et_writer *writer, const char *name, uint64_t parent, unsigned parents, uint64_t duration_us)
{
    uint64_t id = begin(writer, name, TYPE_COMP);
    put_parents(writer, parent, parents);
    put_number(writer, NODE_DURATION, duration_us);
    put_attribute(writer, "is_cpu_op", ATTR_BOOL, 0);
    end(writer);
    return id;
}

uint64_t et_collective(struct et_writer *writer, const char *name, uint64_t parent, int type, uint64_t bytes)
{
    uint64_t id = begin(writer, name, TYPE_COLL);
    put_parents(writer, parent, 1);
    put_attribute(writer, "is_cpu_op", ATTR_BOOL, 0);
    put_attribute(writer, "comm_type", ATTR_INT64, (uint64_t)type);
    put_attribute(writer, "comm_size", ATTR_INT64, bytes);
    end(writer);
    return id;
}

uint64_t et_operator(struct et_writer *writer, const char *name, uint64_t parent, uint64_t duration_us, uint64_t ops,
                     uint64_t tensor_bytes)
{
    static const char values[] = "\n\x19[[4, 6, 0, 4096, 4, 'c']]\x12\x0e[[4096, 4096]]";
    uint64_t id = begin(writer, name, TYPE_COMP);
    put_parents(writer, parent, 2);
    put_number(writer, NODE_DURATION, duration_us);
    put_block(writer, NODE_INPUTS, values, sizeof values - 1);
    put_attribute(writer, "is_cpu_op", ATTR_BOOL, 0);
    put_attribute(writer, "num_ops", ATTR_INT64, ops);
    put_attribute(writer, "tensor_size", ATTR_UINT64, tensor_bytes);
    put_attribute(writer, "stream", ATTR_INT64, 7);
    end(writer);
    return id;
}
