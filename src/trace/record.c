/* SPDX-License-Identifier: Apache-2.0 */
/* The reader is the window of io/file.h again, but over a stream that unpacks: records are contiguous, the buffer grows
 * to the largest of them and no more. A record's length is the file's word, so the buffer is doubled as bytes really
 * come and never sized by it. */
#include "trace/record.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace/foreign.h"

enum { WINDOW_BYTES = 256 << 10 };

/* ---- reading ---- */

static enum orr_status trace_record_fill(struct record_reader *reader, struct orr_error *err)
{
    while (reader->size < reader->capacity && !reader->at_end) {
        size_t got = 0;
        enum orr_status status =
            io_stream_read(reader->stream, reader->buffer + reader->size, reader->capacity - reader->size, &got, err);
        if (status != ORR_OK) {
            return status;
        }
        reader->size += got;
        reader->at_end = got == 0;
    }
    return ORR_OK;
}

/* Drops what was used and reads on behind the rest; when nothing was used the buffer grows. */
static enum orr_status trace_record_move(struct record_reader *reader, struct orr_error *err)
{
    if (reader->used == 0 && reader->size == reader->capacity) {
        size_t wider = reader->capacity * 2;
        uint8_t *grown = mem_resize(reader->mem, reader->buffer, reader->capacity, wider);
        if (grown == NULL) {
            return mem_error(reader->mem, "a record of a trace", err);
        }
        reader->buffer = grown;
        reader->bytes = grown;
        reader->capacity = wider;
    }
    memmove(reader->buffer, reader->buffer + reader->used, reader->size - reader->used);
    reader->offset += reader->used;
    reader->size -= reader->used;
    reader->used = 0;
    return trace_record_fill(reader, err);
}

static enum orr_status check_not_empty(const struct record_reader *reader, struct orr_error *err)
{
    return reader->size > 0
               ? ORR_OK
               : error_set(err, ORR_EINVAL, "%s: byte 0: the file is empty; a Chakra ET file starts with its metadata",
                           reader->path);
}

enum orr_status record_reader_open(struct record_reader *reader, const char *path, struct mem *mem,
                                   struct orr_error *err)
{
    struct record_reader made = {.mem = mem, .path = strdup(path), .capacity = WINDOW_BYTES};
    made.buffer = mem_alloc(mem, made.capacity);
    made.bytes = made.buffer;
    enum orr_status status = ORR_OK;
    if (made.path == NULL || made.buffer == NULL) {
        made.capacity = made.buffer == NULL ? 0 : made.capacity;
        status = mem_error(mem, "reading a trace", err);
    }
    status = status != ORR_OK ? status : io_stream_open(path, mem, &made.stream, err);
    status = status != ORR_OK ? status : trace_record_fill(&made, err);
    status = status != ORR_OK ? status : check_not_empty(&made, err);
    made.foreign = status == ORR_OK ? trace_foreign(made.bytes, made.size) : NULL;
    if (status != ORR_OK) {
        record_reader_close(&made);
        return status;
    }
    *reader = made;
    return ORR_OK;
}

enum orr_status record_reader_open_bytes(struct record_reader *reader, const uint8_t *bytes, size_t size,
                                         const char *name, struct mem *mem, struct orr_error *err)
{
    struct record_reader made = {.mem = mem,
                                 .path = strdup(name),
                                 .bytes = bytes,
                                 .size = size,
                                 .at_end = true,
                                 .foreign = trace_foreign(bytes, size)};
    enum orr_status status = made.path == NULL ? mem_error(mem, "reading a trace", err) : check_not_empty(&made, err);
    if (status != ORR_OK) {
        record_reader_close(&made);
        return status;
    }
    *reader = made;
    return ORR_OK;
}

void record_reader_close(struct record_reader *reader)
{
    io_stream_close(reader->stream);
    if (reader->buffer != NULL) {
        mem_free(reader->mem, reader->buffer, reader->capacity);
    }
    free(reader->path);
    *reader = (struct record_reader){0};
}

enum orr_status record_reader_rewind(struct record_reader *reader, struct orr_error *err)
{
    reader->used = 0;
    if (reader->stream == NULL) {
        return ORR_OK;
    }
    enum orr_status status = io_stream_rewind(reader->stream, err);
    reader->size = 0;
    reader->offset = 0;
    reader->at_end = false;
    return status != ORR_OK ? status : trace_record_fill(reader, err);
}

static enum orr_status fail_cut(const struct record_reader *reader, struct orr_error *err)
{
    const uint8_t *at = reader->bytes + reader->used;
    const uint8_t *end = reader->bytes + reader->size;
    uint64_t length = 0;
    const uint8_t *next = wire_varint(at, end, &length);
    uint64_t byte = reader->offset + reader->used;
    if (reader->foreign != NULL) {
        return error_set(err, ORR_EINVAL, "%s: byte 0: %s", reader->path, reader->foreign);
    }
    if (next == NULL || next - at > WIRE_TAG_MAX) {
        return error_set(err, ORR_EINVAL,
                         "%s: byte %" PRIu64
                         ": a record's length does not end: the file is cut short or not a Chakra ET file",
                         reader->path, byte);
    }
    return error_set(err, ORR_EINVAL,
                     "%s: byte %" PRIu64 ": a record of %" PRIu64
                     " bytes, but the file ends after %zu more: it is cut short or not a Chakra ET file",
                     reader->path, byte, length, (size_t)(end - next));
}

enum orr_status record_reader_next(struct record_reader *reader, struct record *record, bool *more,
                                   struct orr_error *err)
{
    for (;;) {
        const uint8_t *end = reader->bytes + reader->size;
        uint64_t length = 0;
        const uint8_t *found = wire_length(reader->bytes + reader->used, end, &length);
        if (found != NULL) {
            *record = (struct record){found, (size_t)length, reader->offset + (uint64_t)(found - reader->bytes)};
            reader->used = (size_t)(found - reader->bytes) + (size_t)length;
            *more = true;
            return ORR_OK;
        }
        if (reader->at_end) {
            if (reader->used < reader->size) {
                return fail_cut(reader, err);
            }
            *more = false;
            return ORR_OK;
        }
        enum orr_status status = trace_record_move(reader, err);
        if (status != ORR_OK) {
            return status;
        }
    }
}

enum orr_status record_error(const struct record_reader *reader, const struct record *record, const uint8_t *at,
                             const char *what, struct orr_error *err)
{
    if (reader->foreign != NULL) {
        return error_set(err, ORR_EINVAL, "%s: byte 0: %s", reader->path, reader->foreign);
    }
    return error_set(err, ORR_EINVAL, "%s: byte %" PRIu64 ": %s: the file is damaged or not a Chakra ET file",
                     reader->path, record->offset + (uint64_t)(at - record->bytes), what);
}

/* ---- attributes ---- */

static uint32_t wire_of_kind(uint32_t kind)
{
    switch (kind) {
#define TRACE_X(id, number, name, wire, integer)                                                                       \
    case (number):                                                                                                     \
        return (wire);                                                                                                 \
    case (number) + 1:                                                                                                 \
        return WIRE_BYTES;
        TRACE_VALUES(TRACE_X)
#undef TRACE_X
    default:
        return 7; /* no wire type */
    }
}

bool record_attribute_read(const uint8_t *bytes, size_t size, struct record_attribute *attr)
{
    struct wire_walk walk = wire_walk(bytes, size);
    struct wire_field field;
    *attr = (struct record_attribute){.name = {"", 0}, .doc = {"", 0}};
    while (wire_next(&walk, &field)) {
        uint32_t number = wire_field_number(&field);
        if (number <= 2) {
            if (wire_field_type(&field) != WIRE_BYTES) {
                return false;
            }
            *(number == 1 ? &attr->name : &attr->doc) =
                (struct record_text){(const char *)field.bytes, (size_t)field.value};
        } else if (number < TRACE_VALUE_END) {
            if (wire_field_type(&field) != wire_of_kind(number)) {
                return false;
            }
            attr->kind = number;
            attr->value = field;
        }
    }
    return walk.at == walk.end;
}

struct record_text record_span(const uint8_t *bytes, size_t size, uint32_t number)
{
    struct wire_walk walk = wire_walk(bytes, size);
    struct wire_field field;
    struct record_text found = {"", 0};
    while (wire_next(&walk, &field)) {
        if (field.tag == WIRE_TAG(number, WIRE_BYTES)) {
            found = (struct record_text){(const char *)field.bytes, (size_t)field.value};
        }
    }
    return found;
}

static bool is_signed(int64_t value, uint64_t *bits, bool *negative)
{
    *bits = (uint64_t)value;
    *negative = value < 0;
    return true;
}

bool record_attribute_integer(const struct record_attribute *attr, uint64_t *bits, bool *negative)
{
    uint64_t value = attr->value.value;
    *negative = false;
    switch (attr->kind) {
    case TRACE_VALUE_INT32:
    case TRACE_VALUE_SFIXED32:
        return is_signed((int32_t)(uint32_t)value, bits, negative);
    case TRACE_VALUE_INT64:
    case TRACE_VALUE_SFIXED64:
        return is_signed((int64_t)value, bits, negative);
    case TRACE_VALUE_SINT32:
        return is_signed((int32_t)wire_zigzag((uint32_t)value), bits, negative);
    case TRACE_VALUE_SINT64:
        return is_signed(wire_zigzag(value), bits, negative);
    case TRACE_VALUE_UINT32:
    case TRACE_VALUE_FIXED32:
        *bits = (uint32_t)value;
        return true;
    case TRACE_VALUE_UINT64:
    case TRACE_VALUE_FIXED64:
        *bits = value;
        return true;
    case TRACE_VALUE_BOOL:
        *bits = value != 0;
        return true;
    default:
        return false;
    }
}

enum { FLAGS_MOST = 64 };

/* Entries of a list of integers; more than the simulator takes when it is no such list. */
static uint64_t trace_record_list_length(const struct record_attribute *attr)
{
    if (!trace_value_is_integer_list(attr->kind)) {
        return UINT64_MAX;
    }
    uint32_t wire = wire_of_kind(attr->kind - 1);
    struct wire_walk walk = wire_walk(attr->value.bytes, attr->value.value);
    struct wire_field field;
    uint64_t count = 0;
    while (wire_next(&walk, &field)) {
        if (wire_field_number(&field) != 1) {
            continue;
        }
        if (wire_field_type(&field) != WIRE_BYTES) {
            count++;
            continue;
        }
        uint64_t width = wire == WIRE_FIXED64 ? 8 : 4;
        if (wire != WIRE_VARINT) {
            count += field.value / width;
            continue;
        }
        for (uint64_t i = 0; i < field.value; i++) {
            count += field.bytes[i] < 0x80;
        }
    }
    return walk.at == walk.end ? count : UINT64_MAX;
}

bool record_attribute_fits(const struct record_attribute *attr, enum trace_attr which)
{
    uint64_t bits = 0;
    bool negative = false;
    switch (trace_attr_shape(which)) {
    case TRACE_SHAPE_INTEGER:
        return record_attribute_integer(attr, &bits, &negative);
    case TRACE_SHAPE_SIZE:
        return record_attribute_integer(attr, &bits, &negative) && !negative;
    case TRACE_SHAPE_FLAGS:
        return trace_record_list_length(attr) <= FLAGS_MOST;
    case TRACE_SHAPE_TEXT:
        return attr->kind == TRACE_VALUE_STRING || record_attribute_integer(attr, &bits, &negative);
    }
    return false;
}

const char *record_amount_name(enum record_amount amount)
{
    static const char *const names[] = {
#define RECORD_X(id, name) name,
        RECORD_AMOUNTS(RECORD_X)
#undef RECORD_X
    };
    return names[amount];
}
