/* SPDX-License-Identifier: Apache-2.0 */
/* Written by hand instead of through io/json_write.h: texts come with a length and may hold any character, a node is
 * one line, and members are left out where the record has nothing to say, so that reading it back gives the same
 * bytes. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "convert/export_parts.h"
#include "io/json_stream.h"

/* ---- values ---- */

static void export_json_put_text(FILE *stream, struct record_text text)
{
    (void)fputc('"', stream);
    for (size_t i = 0; i < text.length; i++) {
        unsigned char c = (unsigned char)text.text[i];
        if (c == '"' || c == '\\') {
            (void)fprintf(stream, "\\%c", c);
        } else if (c < ' ') {
            (void)fprintf(stream, "\\u%04x", c);
        } else {
            (void)fputc(c, stream);
        }
    }
    (void)fputc('"', stream);
}

static void put_hex(FILE *stream, const uint8_t *bytes, size_t size)
{
    (void)fputc('"', stream);
    for (size_t i = 0; i < size; i++) {
        (void)fprintf(stream, "%02x", bytes[i]);
    }
    (void)fputc('"', stream);
}

static void export_json_put_real(FILE *stream, double value)
{
    char text[JSON_REAL_ROOM];
    if (isfinite(value)) {
        (void)json_real_repr(value, text);
        (void)fputs(text, stream);
    } else {
        (void)fputs(isnan(value) ? "NaN" : value < 0 ? "-Infinity" : "Infinity", stream);
    }
}

/* A value of a single kind. */
static void export_json_put_value(FILE *stream, const struct record_attribute *attr)
{
    uint64_t bits = 0;
    bool negative = false;
    uint32_t word = (uint32_t)attr->value.value;
    float real = 0;
    double wide = 0;
    switch (attr->kind) {
    case TRACE_VALUE_DOUBLE:
        memcpy(&wide, &attr->value.value, sizeof wide);
        export_json_put_real(stream, wide);
        return;
    case TRACE_VALUE_FLOAT:
        memcpy(&real, &word, sizeof real);
        export_json_put_real(stream, (double)real);
        return;
    case TRACE_VALUE_STRING:
        export_json_put_text(stream, (struct record_text){(const char *)attr->value.bytes, (size_t)attr->value.value});
        return;
    case TRACE_VALUE_BYTES:
        put_hex(stream, attr->value.bytes, (size_t)attr->value.value);
        return;
    case TRACE_VALUE_BOOL:
        (void)fputs(attr->value.value != 0 ? "true" : "false", stream);
        return;
    default:
        (void)record_attribute_integer(attr, &bits, &negative);
        (void)(negative ? fprintf(stream, "%" PRId64, (int64_t)bits) : fprintf(stream, "%" PRIu64, bits));
        return;
    }
}

/* The wire type of one entry of a list. */
static uint32_t entry_wire(uint32_t kind)
{
    switch (kind) {
#define TRACE_X(id, number, name, wire, integer)                                                                       \
    case (number):                                                                                                     \
        return (wire);
        TRACE_VALUES(TRACE_X)
#undef TRACE_X
    default:
        return WIRE_BYTES;
    }
}

/* The entry at `at` in packed bytes; NULL when it is cut short. */
static const uint8_t *packed_entry(const uint8_t *at, const uint8_t *end, uint32_t wire, struct wire_field *field)
{
    field->tag = WIRE_TAG(1, wire);
    field->bytes = at;
    return wire == WIRE_VARINT ? wire_varint(at, end, &field->value) : wire_fixed(at, end, field);
}

/* False when the list is not well-formed. */
static bool export_json_put_list(FILE *stream, const struct record_attribute *list)
{
    struct record_attribute entry = {.kind = list->kind - 1};
    uint32_t wire = entry_wire(entry.kind);
    struct wire_walk walk = wire_walk(list->value.bytes, list->value.value);
    const char *between = "";
    (void)fputc('[', stream);
    while (wire_next(&walk, &entry.value)) {
        if (wire_field_number(&entry.value) != 1) {
            continue;
        }
        bool packed = wire != WIRE_BYTES && wire_field_type(&entry.value) == WIRE_BYTES;
        if (!packed && wire_field_type(&entry.value) != wire) {
            return false;
        }
        const uint8_t *part = entry.value.bytes;
        const uint8_t *part_end = part + (packed ? entry.value.value : 0);
        do {
            if (packed && part < part_end) {
                part = packed_entry(part, part_end, wire, &entry.value);
            } else if (packed) {
                break;
            }
            if (part == NULL) {
                return false;
            }
            (void)fputs(between, stream);
            export_json_put_value(stream, &entry);
            between = ", ";
        } while (packed && part < part_end);
    }
    (void)fputc(']', stream);
    return walk.at == walk.end;
}

/* ---- messages ---- */

/* Fields from `number` on, as hexadecimal, where there are any. */
static void export_json_put_unknown(FILE *stream, const uint8_t *bytes, size_t size, uint32_t number,
                                    const char *between)
{
    struct wire_walk walk = wire_walk(bytes, size);
    struct wire_field field;
    bool any = false;
    while (wire_next(&walk, &field)) {
        if (wire_field_number(&field) >= number) {
            (void)fputs(any ? "" : between, stream);
            (void)fputs(any ? "" : "\"unknown\": \"", stream);
            for (const uint8_t *byte = walk.from; byte < walk.at; byte++) {
                (void)fprintf(stream, "%02x", *byte);
            }
            any = true;
        }
    }
    (void)fputs(any ? "\"" : "", stream);
}

static bool export_json_put_attribute(FILE *stream, const struct wire_field *message)
{
    struct record_attribute attr;
    if (!record_attribute_read(message->bytes, (size_t)message->value, &attr)) {
        return false;
    }
    (void)fputs("{\"name\": ", stream);
    export_json_put_text(stream, attr.name);
    if (attr.doc.length > 0) {
        (void)fputs(", \"doc\": ", stream);
        export_json_put_text(stream, attr.doc);
    }
    (void)fprintf(stream, ", \"kind\": \"%s\"", trace_value_name(attr.kind));
    bool fine = true;
    if (attr.kind != TRACE_VALUE_NONE) {
        (void)fputs(", \"value\": ", stream);
        if (attr.kind % 2 == 0) { /* lists have the even numbers */
            fine = export_json_put_list(stream, &attr);
        } else {
            export_json_put_value(stream, &attr);
        }
    }
    export_json_put_unknown(stream, message->bytes, (size_t)message->value, TRACE_VALUE_END, ", ");
    (void)fputc('}', stream);
    return fine;
}

/* All fields of this number as attributes; `first` stands before the list where there is one. */
static bool export_json_put_attributes(FILE *stream, const struct record *record, uint32_t number, const char *first)
{
    struct wire_walk walk = wire_walk(record->bytes, record->size);
    struct wire_field field;
    bool any = false;
    bool fine = true;
    while (fine && wire_next(&walk, &field)) {
        if (field.tag == WIRE_TAG(number, WIRE_BYTES)) {
            (void)fputs(any ? ", " : first, stream);
            (void)fputs(any ? "" : "\"attributes\": [", stream);
            fine = export_json_put_attribute(stream, &field);
            any = true;
        }
    }
    (void)fputs(any ? "]" : "", stream);
    return fine && walk.at == walk.end;
}

static void export_json_put_io(FILE *stream, const struct wire_field *message, const char *key)
{
    static const char *const names[] = {"", "values", "shapes", "types"};
    const char *between = "";
    (void)fprintf(stream, ", \"%s\": {", key);
    for (uint32_t number = 1; number <= 3; number++) {
        struct record_text text = record_span(message->bytes, (size_t)message->value, number);
        if (text.length > 0) {
            (void)fprintf(stream, "%s\"%s\": ", between, names[number]);
            export_json_put_text(stream, text);
            between = ", ";
        }
    }
    export_json_put_unknown(stream, message->bytes, (size_t)message->value, 4, between);
    (void)fputc('}', stream);
}

/* Inputs or outputs, the last of several. */
static void put_io_field(FILE *stream, const struct record *record, uint32_t number, const char *key)
{
    struct wire_walk walk = wire_walk(record->bytes, record->size);
    struct wire_field field;
    struct wire_field found = {0};
    while (wire_next(&walk, &field)) {
        found = field.tag == WIRE_TAG(number, WIRE_BYTES) ? field : found;
    }
    if (found.tag != 0) {
        export_json_put_io(stream, &found, key);
    }
}

static void put_ids(FILE *stream, const struct record_ids *list, const char *key)
{
    if (list->count == 0) {
        return;
    }
    (void)fprintf(stream, ", \"%s\": [", key);
    for (uint32_t i = 0; i < list->count; i++) {
        (void)fprintf(stream, "%s%" PRIu64, i == 0 ? "" : ", ", list->ids[i]);
    }
    (void)fputc(']', stream);
}

/* ---- the document ---- */

bool export_json_metadata(FILE *stream, const struct record *record)
{
    struct record_text version = record_span(record->bytes, record->size, 1); /* damage is seen with the attributes */
    if (!wire_utf8_valid((const uint8_t *)version.text, version.length)) {
        return false;
    }
    (void)fputs("{\"format\": \"orrery-trace\", \"version\": 1,\n\"metadata\": {\"version\": ", stream);
    export_json_put_text(stream, version);
    if (!export_json_put_attributes(stream, record, 2, ", ")) {
        return false;
    }
    export_json_put_unknown(stream, record->bytes, record->size, 3, ", ");
    (void)fputs("},\n\"nodes\": [", stream);
    return true;
}

bool export_json_node(FILE *stream, const struct record *record, const struct record_facts *facts, bool first)
{
    (void)fprintf(stream, "%s{\"id\": %" PRIu64, first ? "\n" : ",\n", facts->id);
    if (facts->name.length > 0) {
        (void)fputs(", \"name\": ", stream);
        export_json_put_text(stream, facts->name);
    }
    if (facts->type >= 0 && facts->type < TRACE_NODE_TYPES) {
        (void)fprintf(stream, ", \"type\": \"%s\"", trace_node_type_name((uint32_t)facts->type));
    } else {
        (void)fprintf(stream, ", \"type\": %" PRId32, facts->type);
    }
    put_ids(stream, &facts->ctrl, "ctrl_deps");
    put_ids(stream, &facts->data, "data_deps");
    if (facts->start_us != 0) {
        (void)fprintf(stream, ", \"start_us\": %" PRIu64, facts->start_us);
    }
    if (facts->duration_us != 0) {
        (void)fprintf(stream, ", \"duration_us\": %" PRIu64, facts->duration_us);
    }
    put_io_field(stream, record, RECORD_INPUTS, "inputs");
    put_io_field(stream, record, RECORD_OUTPUTS, "outputs");
    bool fine = export_json_put_attributes(stream, record, RECORD_ATTR, ", ");
    export_json_put_unknown(stream, record->bytes, record->size, RECORD_ATTR + 1, ", ");
    (void)fputc('}', stream);
    return fine;
}

void export_json_end(FILE *stream)
{
    (void)fputs("\n]}\n", stream);
}
