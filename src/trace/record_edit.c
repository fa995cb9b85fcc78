/* SPDX-License-Identifier: Apache-2.0 */
/* Fields are walked in the order they stand. A replaced field is written where its number belongs in a file written in
 * ascending order, which all writers do; in one that is not, at the first place that is not too early. Lengths inside
 * are a byte or two, so an attribute is built at the end of the buffer and moved up by the size of its length. */
#include "trace/record_edit.h"

#include <stdlib.h>
#include <string.h>

#include "base/scan.h"

/* ---- bytes ---- */

void record_buffer_init(struct record_buffer *buffer, struct mem *mem)
{
    *buffer = (struct record_buffer){.mem = mem};
}

void record_buffer_free(struct record_buffer *buffer)
{
    mem_free(buffer->mem, buffer->bytes, buffer->capacity);
    record_buffer_init(buffer, buffer->mem);
}

void record_buffer_clear(struct record_buffer *buffer)
{
    buffer->size = 0;
    buffer->refused = false;
}

static bool room(struct record_buffer *buffer, size_t more)
{
    buffer->refused = buffer->refused ||
                      !mem_reserve_bytes(buffer->mem, (void **)&buffer->bytes, &buffer->capacity, buffer->size, more);
    return !buffer->refused;
}

static void record_put_bytes(struct record_buffer *buffer, const void *bytes, size_t size)
{
    if (size > 0 && room(buffer, size)) {
        memcpy(buffer->bytes + buffer->size, bytes, size);
        buffer->size += size;
    }
}

static void record_put_varint(struct record_buffer *buffer, uint64_t value)
{
    uint8_t bytes[WIRE_VARINT_MAX];
    record_put_bytes(buffer, bytes, wire_varint_put(bytes, value));
}

void record_put_number(struct record_buffer *buffer, uint32_t field, uint64_t value)
{
    if (value != 0) {
        record_put_varint(buffer, WIRE_TAG(field, WIRE_VARINT));
        record_put_varint(buffer, value);
    }
}

static void record_put_span(struct record_buffer *buffer, uint32_t field, const void *bytes, size_t size)
{
    record_put_varint(buffer, WIRE_TAG(field, WIRE_BYTES));
    record_put_varint(buffer, size);
    record_put_bytes(buffer, bytes, size);
}

void record_put_text(struct record_buffer *buffer, uint32_t field, const char *text)
{
    if (text[0] != '\0') {
        record_put_span(buffer, field, text, strlen(text));
    }
}

/* The bytes from `begin` on become a span: their length is put before them. */
static void close_span(struct record_buffer *buffer, size_t begin)
{
    uint8_t length[WIRE_VARINT_MAX];
    if (buffer->refused) {
        return;
    }
    size_t size = wire_varint_put(length, buffer->size - begin);
    if (room(buffer, size)) {
        memmove(buffer->bytes + begin + size, buffer->bytes + begin, buffer->size - begin);
        memcpy(buffer->bytes + begin, length, size);
        buffer->size += size;
    }
}

void record_put_ids(struct record_buffer *buffer, uint32_t field, const uint64_t *ids, size_t count)
{
    if (count == 0) {
        return;
    }
    record_put_varint(buffer, WIRE_TAG(field, WIRE_BYTES));
    size_t begin = buffer->size;
    for (size_t i = 0; i < count; i++) {
        record_put_varint(buffer, ids[i]);
    }
    close_span(buffer, begin);
}

/* ---- values ---- */

static uint64_t zigzag(uint64_t value)
{
    return value << 1; /* of a value that is not negative */
}

/* The kind that holds `value`: the one given, else its 64-bit sister, else none. */
static uint32_t kind_for(uint32_t kind, uint64_t value, uint32_t fallback)
{
    bool fits31 = value <= INT32_MAX;
    bool fits63 = value <= INT64_MAX;
    switch (kind) {
    case TRACE_VALUE_INT32:
        return fits31 ? kind : fits63 ? TRACE_VALUE_INT64 : TRACE_VALUE_UINT64;
    case TRACE_VALUE_SINT32:
        return fits31 ? kind : fits63 ? TRACE_VALUE_SINT64 : TRACE_VALUE_UINT64;
    case TRACE_VALUE_SFIXED32:
        return fits31 ? kind : fits63 ? TRACE_VALUE_SFIXED64 : TRACE_VALUE_FIXED64;
    case TRACE_VALUE_INT64:
    case TRACE_VALUE_SINT64:
        return fits63 ? kind : TRACE_VALUE_UINT64;
    case TRACE_VALUE_SFIXED64:
        return fits63 ? kind : TRACE_VALUE_FIXED64;
    case TRACE_VALUE_UINT32:
        return value <= UINT32_MAX ? kind : TRACE_VALUE_UINT64;
    case TRACE_VALUE_FIXED32:
        return value <= UINT32_MAX ? kind : TRACE_VALUE_FIXED64;
    case TRACE_VALUE_UINT64:
    case TRACE_VALUE_FIXED64:
        return kind;
    case TRACE_VALUE_BOOL:
        return value <= 1 ? kind : fallback;
    default:
        return fallback;
    }
}

static void put_value(struct record_buffer *buffer, uint32_t kind, uint64_t value)
{
    uint64_t word64 = htole64(value);
    uint32_t word32 = htole32((uint32_t)value);
    switch (kind) {
    case TRACE_VALUE_FIXED32:
    case TRACE_VALUE_SFIXED32:
        record_put_varint(buffer, WIRE_TAG(kind, WIRE_FIXED32));
        record_put_bytes(buffer, &word32, sizeof word32);
        return;
    case TRACE_VALUE_FIXED64:
    case TRACE_VALUE_SFIXED64:
        record_put_varint(buffer, WIRE_TAG(kind, WIRE_FIXED64));
        record_put_bytes(buffer, &word64, sizeof word64);
        return;
    case TRACE_VALUE_SINT32:
    case TRACE_VALUE_SINT64:
        value = zigzag(value);
        break;
    default:
        break;
    }
    record_put_varint(buffer, WIRE_TAG(kind, WIRE_VARINT)); /* a oneof member is written also when it is 0 */
    record_put_varint(buffer, value);
}

void record_put_integer(struct record_buffer *buffer, const char *name, uint32_t kind, uint64_t value)
{
    record_put_varint(buffer, WIRE_TAG(RECORD_ATTR, WIRE_BYTES));
    size_t begin = buffer->size;
    record_put_text(buffer, 1, name);
    put_value(buffer, kind_for(kind, value, TRACE_VALUE_UINT64), value);
    close_span(buffer, begin);
}

void record_put_string(struct record_buffer *buffer, const char *name, struct record_text value)
{
    record_put_varint(buffer, WIRE_TAG(RECORD_ATTR, WIRE_BYTES));
    size_t begin = buffer->size;
    record_put_text(buffer, 1, name);
    record_put_span(buffer, TRACE_VALUE_STRING, value.text, value.length);
    close_span(buffer, begin);
}

/* ---- changes ---- */

static void note_change(struct record_change *change, struct record_attr_change wanted)
{
    for (uint32_t i = 0; i < change->attr_count; i++) {
        if (strcmp(change->attr[i].name, wanted.name) == 0) {
            change->attr[i] = wanted;
            return;
        }
    }
    if (change->attr_count < RECORD_ATTR_CHANGES) { /* no tool changes more names than there is room for */
        change->attr[change->attr_count++] = wanted;
    }
}

void record_change_integer(struct record_change *change, const char *name, uint32_t kind, uint64_t value)
{
    note_change(change,
                (struct record_attr_change){.name = name, .action = RECORD_SET_INTEGER, .kind = kind, .value = value});
}

void record_change_text(struct record_change *change, const char *name, struct record_text text)
{
    note_change(change, (struct record_attr_change){.name = name, .action = RECORD_SET_TEXT, .text = text});
}

void record_change_remove(struct record_change *change, const char *name)
{
    note_change(change, (struct record_attr_change){.name = name, .action = RECORD_REMOVE});
}

/* ---- rewriting ---- */

static void put_field(struct record_buffer *buffer, const struct record_change *change, enum record_field field)
{
    switch (field) {
    case RECORD_ID:
        record_put_number(buffer, field, change->id);
        break;
    case RECORD_NAME:
        if (change->name.length > 0) {
            record_put_span(buffer, field, change->name.text, change->name.length);
        }
        break;
    case RECORD_TYPE:
        record_put_number(buffer, field, change->type);
        break;
    case RECORD_CTRL:
        record_put_ids(buffer, field, change->ctrl, change->ctrl_count);
        break;
    case RECORD_DATA:
        record_put_ids(buffer, field, change->data, change->data_count);
        break;
    case RECORD_START:
        record_put_number(buffer, field, change->start_us);
        break;
    case RECORD_DURATION:
        record_put_number(buffer, field, change->duration_us);
        break;
    default:
        break;
    }
}

static bool small_number(struct record_text text, uint64_t *value)
{
    return scan_whole(text.text, text.length, UINT64_MAX, value);
}

/* The value an attribute gets; `kind` is the one it has, 0 for none. */
static void put_changed_value(struct record_buffer *buffer, const struct record_attr_change *change, uint32_t kind)
{
    uint64_t number = change->value;
    if (change->action == RECORD_SET_TEXT) {
        bool stays = trace_value_is_integer(kind) && kind != TRACE_VALUE_BOOL && small_number(change->text, &number);
        if (!stays) {
            record_put_span(buffer, TRACE_VALUE_STRING, change->text.text, change->text.length);
            return;
        }
    }
    put_value(buffer, kind_for(kind, number, change->kind), number);
}

static void put_new_attribute(struct record_buffer *buffer, const struct record_attr_change *change)
{
    if (change->action == RECORD_SET_TEXT) {
        record_put_string(buffer, change->name, change->text);
    } else if (change->action == RECORD_SET_INTEGER) {
        record_put_integer(buffer, change->name, change->kind, change->value);
    }
}

static struct record_attr_change *change_of(struct record_change *change, struct record_text name)
{
    for (uint32_t i = 0; i < change->attr_count; i++) {
        if (record_text_is(name, change->attr[i].name)) {
            return &change->attr[i];
        }
    }
    return NULL;
}

/* All of an attribute's message but its value, and the new value behind it. */
static void put_attribute(struct record_buffer *buffer, const struct wire_field *message,
                          const struct record_attribute *attr, const struct record_attr_change *change)
{
    struct wire_walk walk = wire_walk(message->bytes, message->value);
    struct wire_field field;
    bool written = false;
    record_put_varint(buffer, WIRE_TAG(RECORD_ATTR, WIRE_BYTES));
    size_t begin = buffer->size;
    while (wire_next(&walk, &field)) {
        uint32_t number = wire_field_number(&field);
        if (number > 2 && !written) {
            put_changed_value(buffer, change, attr->kind);
            written = true;
        }
        if (number <= 2 || number >= TRACE_VALUE_END) {
            record_put_bytes(buffer, walk.from, (size_t)(walk.at - walk.from));
        }
    }
    if (walk.at != walk.end) {
        buffer->refused = true; /* the file changed since it was scanned */
        return;
    }
    if (!written) {
        put_changed_value(buffer, change, attr->kind);
    }
    close_span(buffer, begin);
}

/* True when the attribute was dealt with; false: it is copied. The first of a name is set, a removed name goes
 * everywhere. */
static bool edit_attribute(struct record_buffer *buffer, const struct wire_field *message, struct record_change *change)
{
    struct record_attribute attr;
    if (change->attr_count == 0 || !record_attribute_read(message->bytes, (size_t)message->value, &attr)) {
        return false;
    }
    struct record_attr_change *wanted = change_of(change, attr.name);
    if (wanted == NULL || (wanted->done && wanted->action != RECORD_REMOVE)) {
        return false;
    }
    wanted->done = true;
    if (wanted->action != RECORD_REMOVE) {
        put_attribute(buffer, message, &attr, wanted);
    }
    return true;
}

/* Replaced fields whose place is before a field of this number. */
static void put_due(struct record_buffer *buffer, const struct record_change *change, uint32_t *due, uint32_t number)
{
    for (uint32_t field = RECORD_ID; field < number && field <= RECORD_DURATION; field++) {
        if ((*due & 1u << field) != 0) {
            put_field(buffer, change, (enum record_field)field);
            *due &= ~(1u << field);
        }
    }
}

static void put_missing_attributes(struct record_buffer *buffer, struct record_change *change)
{
    for (uint32_t i = 0; i < change->attr_count; i++) {
        if (!change->attr[i].done) {
            put_new_attribute(buffer, &change->attr[i]);
            change->attr[i].done = true;
        }
    }
}

void record_rewrite(struct record_buffer *buffer, const struct record *record, struct record_change *change)
{
    struct wire_walk walk = wire_walk(record->bytes, record->size);
    struct wire_field field;
    uint32_t due = change->fields;
    for (uint32_t i = 0; i < change->attr_count; i++) {
        change->attr[i].done = false;
    }
    while (wire_next(&walk, &field)) {
        uint32_t number = wire_field_number(&field);
        put_due(buffer, change, &due, number + 1);
        if (number > RECORD_ATTR) {
            put_missing_attributes(buffer, change); /* unknown fields stay last */
        }
        bool replaced = number <= RECORD_DURATION && (change->fields & 1u << number) != 0;
        bool edited = number == RECORD_ATTR && edit_attribute(buffer, &field, change);
        if (!replaced && !edited) {
            record_put_bytes(buffer, walk.from, (size_t)(walk.at - walk.from));
        }
    }
    if (walk.at != walk.end) {
        buffer->refused = true;
        return;
    }
    put_due(buffer, change, &due, UINT32_MAX);
    put_missing_attributes(buffer, change);
}

void record_write(FILE *stream, const void *bytes, size_t size)
{
    uint8_t length[WIRE_VARINT_MAX] = {0};
    size_t digits = wire_varint_put(length, size);
    (void)fwrite(length, 1, digits, stream);
    (void)fwrite(bytes, 1, size, stream);
}

/* ---- a walk over all nodes ---- */

static enum orr_status pass_read(struct record_pass *pass, struct orr_error *err)
{
    record_change_clear(&pass->change);
    enum orr_status status = record_reader_next(pass->reader, &pass->record, &pass->more, err);
    if (status == ORR_OK && pass->more) {
        status = record_scan(pass->reader, &pass->record, &pass->facts, err);
    }
    return status;
}

enum orr_status record_pass_open(struct record_pass *pass, struct record_reader *reader, FILE *stream, struct mem *mem,
                                 struct orr_error *err)
{
    *pass = (struct record_pass){.reader = reader, .stream = stream, .mem = mem};
    record_facts_init(&pass->facts);
    record_buffer_init(&pass->buffer, mem);
    enum orr_status status = record_reader_rewind(reader, err);
    status = status != ORR_OK ? status : record_reader_next(reader, &pass->record, &pass->more, err);
    if (status != ORR_OK) {
        return status;
    }
    if (stream != NULL) {
        record_write(stream, pass->record.bytes, pass->record.size); /* the metadata */
    }
    return pass_read(pass, err);
}

enum orr_status record_pass_next(struct record_pass *pass, struct orr_error *err)
{
    if (pass->stream != NULL && !record_change_any(&pass->change)) {
        record_write(pass->stream, pass->record.bytes, pass->record.size);
    } else if (pass->stream != NULL) {
        record_buffer_clear(&pass->buffer);
        record_rewrite(&pass->buffer, &pass->record, &pass->change);
        if (pass->buffer.refused) {
            return mem_error(pass->mem, "a record of a trace", err);
        }
        record_write(pass->stream, pass->buffer.bytes, pass->buffer.size);
    }
    return pass_read(pass, err);
}

void record_pass_close(struct record_pass *pass)
{
    record_facts_free(&pass->facts, pass->mem);
    record_buffer_free(&pass->buffer);
}
