/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A record is built in one buffer that keeps its memory from record to record, because a length stands before it and
 * before each attribute inside. Attributes are small, so their length is worked out beforehand from the parts instead
 * of moving bytes afterwards. A refused allocation is remembered and told by et_record_end, which spares the callers a
 * status on every one of a dozen calls a node.
 */
#include "trace/et_write.h"

#include <assert.h>
#include <endian.h>
#include <string.h>

#include "io/outfile.h"
#include "io/wire.h"

/* What may come next; each call moves on. */
enum et_place { ET_BETWEEN, ET_NODE, ET_CTRL_DEPS, ET_DATA_DEPS, ET_TIMES, ET_INPUTS, ET_OUTPUTS, ET_ATTRIBUTES };

enum { NODE_ATTR = 10, METADATA_ATTR = 2 };

/* Field numbers of the attribute's value (spec chakra §1.1). */
enum {
    VALUE_DOUBLE = 3,
    VALUE_INT32 = 7,
    VALUE_INT64 = 9,
    VALUE_INT64_LIST = 10,
    VALUE_UINT32 = 11,
    VALUE_UINT64 = 13,
    VALUE_BOOL = 27,
    VALUE_BOOL_LIST = 28,
    VALUE_STRING = 29,
};

struct et_writer {
    struct mem *mem;
    struct io_outfile *file;
    FILE *stream;   /* the file's or a caller's; NULL: records are made and forgotten */
    uint8_t *bytes; /* of the record so far */
    size_t size, capacity;
    enum et_place place;
    bool has_metadata;
    bool in_metadata;
    bool refused; /* an allocation was */
};

static bool et_write_reserve(struct et_writer *writer, size_t more)
{
    writer->refused = writer->refused ||
                      !mem_reserve_bytes(writer->mem, (void **)&writer->bytes, &writer->capacity, writer->size, more);
    return !writer->refused;
}

static void add_varint(struct et_writer *writer, uint64_t value)
{
    if (et_write_reserve(writer, WIRE_VARINT_MAX)) {
        writer->size += wire_varint_put(writer->bytes + writer->size, value);
    }
}

static void add_bytes(struct et_writer *writer, const void *bytes, size_t size)
{
    if (size > 0 && et_write_reserve(writer, size)) {
        memcpy(writer->bytes + writer->size, bytes, size);
        writer->size += size;
    }
}

/* The length of the well-formed UTF-8 sequence at `at`, or 0. */
static size_t sequence(const uint8_t *at, const uint8_t *end)
{
    size_t length = at[0] < 0x80 ? 1 : at[0] < 0xe0 ? 2 : at[0] < 0xf0 ? 3 : 4;
    return (size_t)(end - at) >= length && wire_utf8_valid(at, length) ? length : 0;
}

static const char replacement[] = "\xef\xbf\xbd"; /* U+FFFD */

static size_t repaired_size(struct et_text text)
{
    const uint8_t *at = (const uint8_t *)text.text;
    const uint8_t *end = at + text.length;
    size_t size = 0;
    while (at < end) {
        size_t length = sequence(at, end);
        size += length > 0 ? length : sizeof replacement - 1;
        at += length > 0 ? length : 1;
    }
    return size;
}

static size_t text_size(struct et_text text)
{
    return text.length == 0 || wire_utf8_valid((const uint8_t *)text.text, text.length) ? text.length
                                                                                        : repaired_size(text);
}

/* The text, of which `size` (text_size) is known. */
static void add_text(struct et_writer *writer, struct et_text text, size_t size)
{
    if (size == text.length && (size == 0 || wire_utf8_valid((const uint8_t *)text.text, size))) {
        add_bytes(writer, text.text, size);
        return;
    }
    const uint8_t *at = (const uint8_t *)text.text;
    const uint8_t *end = at + text.length;
    while (at < end) {
        size_t length = sequence(at, end);
        add_bytes(writer, length > 0 ? (const void *)at : replacement, length > 0 ? length : sizeof replacement - 1);
        at += length > 0 ? length : 1;
    }
}

static void add_field_text(struct et_writer *writer, unsigned field, struct et_text text)
{
    if (text.length > 0) {
        size_t size = text_size(text);
        add_varint(writer, WIRE_TAG(field, WIRE_BYTES));
        add_varint(writer, size);
        add_text(writer, text, size);
    }
}

static void add_field_varint(struct et_writer *writer, unsigned field, uint64_t value)
{
    if (value != 0) {
        add_varint(writer, WIRE_TAG(field, WIRE_VARINT));
        add_varint(writer, value);
    }
}

static void et_write_advance(struct et_writer *writer, enum et_place to)
{
    assert(writer->place != ET_BETWEEN && writer->place < to && !writer->in_metadata);
    writer->place = to;
}

/* ---- records ---- */

void et_metadata_begin(struct et_writer *writer, struct et_text version)
{
    assert(writer->place == ET_BETWEEN && !writer->has_metadata);
    writer->has_metadata = true;
    writer->in_metadata = true;
    writer->place = ET_ATTRIBUTES;
    writer->size = 0;
    add_field_text(writer, 1, version);
}

void et_node_begin(struct et_writer *writer, uint64_t id, struct et_text name, enum trace_node_type type)
{
    assert(writer->place == ET_BETWEEN && writer->has_metadata);
    writer->place = ET_NODE;
    writer->size = 0;
    add_field_varint(writer, 1, id);
    add_field_text(writer, 2, name);
    add_field_varint(writer, 3, (uint64_t)type);
}

static void add_packed(struct et_writer *writer, unsigned field, const uint64_t *values, size_t count)
{
    if (count == 0) {
        return;
    }
    size_t size = 0;
    for (size_t i = 0; i < count; i++) {
        size += wire_varint_size(values[i]);
    }
    add_varint(writer, WIRE_TAG(field, WIRE_BYTES));
    add_varint(writer, size);
    for (size_t i = 0; i < count; i++) {
        add_varint(writer, values[i]);
    }
}

void et_node_ctrl_deps(struct et_writer *writer, const uint64_t *ids, size_t count)
{
    et_write_advance(writer, ET_CTRL_DEPS);
    add_packed(writer, 4, ids, count);
}

void et_node_data_deps(struct et_writer *writer, const uint64_t *ids, size_t count)
{
    et_write_advance(writer, ET_DATA_DEPS);
    add_packed(writer, 5, ids, count);
}

void et_node_times(struct et_writer *writer, uint64_t start_us, uint64_t duration_us)
{
    et_write_advance(writer, ET_TIMES);
    add_field_varint(writer, 6, start_us);
    add_field_varint(writer, 7, duration_us);
}

static size_t field_text_size(struct et_text text)
{
    size_t size = text_size(text);
    return size == 0 ? 0 : 1 + wire_varint_size(size) + size;
}

static void et_write_add_io(struct et_writer *writer, unsigned field, struct et_text values, struct et_text shapes,
                            struct et_text types)
{
    add_varint(writer, WIRE_TAG(field, WIRE_BYTES));
    add_varint(writer, field_text_size(values) + field_text_size(shapes) + field_text_size(types));
    add_field_text(writer, 1, values);
    add_field_text(writer, 2, shapes);
    add_field_text(writer, 3, types);
}

void et_node_inputs(struct et_writer *writer, struct et_text values, struct et_text shapes, struct et_text types)
{
    et_write_advance(writer, ET_INPUTS);
    et_write_add_io(writer, 8, values, shapes, types);
}

void et_node_outputs(struct et_writer *writer, struct et_text values, struct et_text shapes, struct et_text types)
{
    et_write_advance(writer, ET_OUTPUTS);
    et_write_add_io(writer, 9, values, shapes, types);
}

/* ---- attributes ---- */

/* Begins an attribute whose value takes `value_size` bytes, its tag included. */
static void et_write_attr_begin(struct et_writer *writer, const char *name, size_t value_size)
{
    assert(writer->place != ET_BETWEEN);
    writer->place = ET_ATTRIBUTES;
    struct et_text text = et_text(name);
    add_varint(writer, WIRE_TAG(writer->in_metadata ? METADATA_ATTR : NODE_ATTR, WIRE_BYTES));
    add_varint(writer, field_text_size(text) + value_size);
    add_field_text(writer, 1, text);
}

static void attr_varint(struct et_writer *writer, const char *name, unsigned field, uint64_t value)
{
    uint64_t tag = WIRE_TAG(field, WIRE_VARINT);
    et_write_attr_begin(writer, name, wire_varint_size(tag) + wire_varint_size(value));
    add_varint(writer, tag);
    add_varint(writer, value);
}

void et_attr_double(struct et_writer *writer, const char *name, double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    bits = htole64(bits);
    et_write_attr_begin(writer, name, 1 + sizeof bits);
    add_varint(writer, WIRE_TAG(VALUE_DOUBLE, WIRE_FIXED64));
    add_bytes(writer, &bits, sizeof bits);
}

void et_attr_int32(struct et_writer *writer, const char *name, int32_t value)
{
    attr_varint(writer, name, VALUE_INT32, (uint64_t)(int64_t)value); /* negative ones take ten bytes, as in protobuf */
}

void et_attr_int64(struct et_writer *writer, const char *name, int64_t value)
{
    attr_varint(writer, name, VALUE_INT64, (uint64_t)value);
}

void et_attr_uint32(struct et_writer *writer, const char *name, uint32_t value)
{
    attr_varint(writer, name, VALUE_UINT32, value);
}

void et_attr_uint64(struct et_writer *writer, const char *name, uint64_t value)
{
    attr_varint(writer, name, VALUE_UINT64, value);
}

void et_attr_bool(struct et_writer *writer, const char *name, bool value)
{
    attr_varint(writer, name, VALUE_BOOL, value ? 1 : 0);
}

void et_attr_string(struct et_writer *writer, const char *name, struct et_text value)
{
    uint64_t tag = WIRE_TAG(VALUE_STRING, WIRE_BYTES);
    size_t size = text_size(value);
    et_write_attr_begin(writer, name, wire_varint_size(tag) + wire_varint_size(size) + size);
    add_varint(writer, tag);
    add_varint(writer, size);
    add_text(writer, value, size);
}

/* Begins a list whose packed values take `size` bytes; an empty one is a list without its only field. */
static void attr_list_begin(struct et_writer *writer, const char *name, unsigned field, size_t size)
{
    uint64_t tag = WIRE_TAG(field, WIRE_BYTES);
    size_t message = size == 0 ? 0 : 1 + wire_varint_size(size) + size;
    et_write_attr_begin(writer, name, wire_varint_size(tag) + wire_varint_size(message) + message);
    add_varint(writer, tag);
    add_varint(writer, message);
    if (size > 0) {
        add_varint(writer, WIRE_TAG(1, WIRE_BYTES));
        add_varint(writer, size);
    }
}

void et_attr_bool_list(struct et_writer *writer, const char *name, const bool *values, size_t count)
{
    attr_list_begin(writer, name, VALUE_BOOL_LIST, count);
    for (size_t i = 0; i < count; i++) {
        add_varint(writer, values[i] ? 1 : 0);
    }
}

void et_attr_int64_list(struct et_writer *writer, const char *name, const int64_t *values, size_t count)
{
    size_t size = 0;
    for (size_t i = 0; i < count; i++) {
        size += wire_varint_size((uint64_t)values[i]);
    }
    attr_list_begin(writer, name, VALUE_INT64_LIST, size);
    for (size_t i = 0; i < count; i++) {
        add_varint(writer, (uint64_t)values[i]);
    }
}

enum orr_status et_record_end(struct et_writer *writer, struct orr_error *err)
{
    assert(writer->place != ET_BETWEEN);
    writer->place = ET_BETWEEN;
    writer->in_metadata = false;
    if (writer->refused) {
        return mem_error(writer->mem, "a node of the trace to write", err);
    }
    if (writer->stream == NULL) {
        return ORR_OK;
    }
    uint8_t length[WIRE_VARINT_MAX];
    size_t length_size = wire_varint_put(length, writer->size);
    /* A write that fails is remembered by the stream and told by the finish. */
    (void)fwrite(length, 1, length_size, writer->stream);
    if (writer->size > 0) { /* metadata may be empty before there is a buffer */
        (void)fwrite(writer->bytes, 1, writer->size, writer->stream);
    }
    return ORR_OK;
}

/* ---- the file ---- */

static void writer_free(struct et_writer *writer)
{
    struct mem *mem = writer->mem;
    mem_free(mem, writer->bytes, writer->capacity);
    mem_free(mem, writer, sizeof *writer);
}

enum orr_status et_writer_open(const char *path, struct mem *mem, struct et_writer **writer, struct orr_error *err)
{
    enum orr_status status = io_make_folder_above(path, err);
    if (status != ORR_OK) {
        return status;
    }
    struct et_writer *made = mem_zalloc(mem, sizeof *made);
    if (made == NULL) {
        return mem_error(mem, "writing a trace", err);
    }
    made->mem = mem;
    status = io_outfile_open(path, IO_OUTFILE_PLAIN, &made->file, err);
    if (status != ORR_OK) {
        writer_free(made);
        return status;
    }
    made->stream = io_outfile_stream(made->file);
    *writer = made;
    return ORR_OK;
}

enum orr_status et_writer_open_stream(FILE *stream, struct mem *mem, struct et_writer **writer, struct orr_error *err)
{
    struct et_writer *made = mem_zalloc(mem, sizeof *made);
    if (made == NULL) {
        return mem_error(mem, "writing a trace", err);
    }
    made->mem = mem;
    made->stream = stream;
    *writer = made;
    return ORR_OK;
}

enum orr_status et_writer_open_nowhere(struct mem *mem, struct et_writer **writer, struct orr_error *err)
{
    return et_writer_open_stream(NULL, mem, writer, err);
}

enum orr_status et_writer_finish(struct et_writer *writer, struct orr_error *err)
{
    assert(writer->place == ET_BETWEEN);
    return writer->file == NULL ? ORR_OK : io_outfile_finish(writer->file, err);
}

enum orr_status et_writer_commit(struct et_writer *writer, struct orr_error *err)
{
    assert(writer->place == ET_BETWEEN);
    enum orr_status status = writer->file == NULL ? ORR_OK : io_outfile_commit(writer->file, err);
    writer_free(writer);
    return status;
}

void et_writer_abort(struct et_writer *writer)
{
    if (writer != NULL) {
        if (writer->file != NULL) {
            io_outfile_abort(writer->file);
        }
        writer_free(writer);
    }
}
