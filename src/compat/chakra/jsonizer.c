/* SPDX-License-Identifier: Apache-2.0 */
/*
 * protobuf-c's descriptors say everything protobuf's JSON is made from (names, numbers, kinds), so one walk over them
 * prints any message and no field is named here. Records pass one at a time through trace/document.h, which checks
 * what protobuf-c lets pass.
 */
#include "compat/chakra/jsonizer.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/plain.h"
#include "compat/chakra/ascii_json.h"
#include "io/file.h"
#include "io/json_stream.h"
#include "io/outfile.h"
#include "trace/document.h"
#include "trace/record.h"

enum { INDENT = 2 };

static void new_line(FILE *stream, unsigned depth)
{
    (void)fprintf(stream, "\n%*s", (int)(depth * INDENT), "");
}

/* ---- values ---- */

static void jsonizer_put_real(FILE *stream, double value)
{
    char text[JSON_REAL_ROOM];
    if (isnan(value)) {
        (void)fputs("\"NaN\"", stream);
    } else if (isinf(value)) {
        (void)fputs(value < 0 ? "\"-Infinity\"" : "\"Infinity\"", stream);
    } else {
        (void)json_real_repr(value, text);
        (void)fputs(text, stream);
    }
}

/* The fewest digits, from six up, that give the same 32-bit number; then printed as the 64-bit one they are. */
static void put_float(FILE *stream, float value)
{
    double shortest = value;
    for (int digits = 6; digits <= 9 && isfinite(value); digits++) {
        char text[32];
        (void)plain_snprintf(text, sizeof text, "%.*g", digits, (double)value);
        shortest = plain_strtod(text, NULL);
        if ((float)shortest >= value && (float)shortest <= value) {
            break;
        }
    }
    jsonizer_put_real(stream, shortest);
}

static void jsonizer_put_base64(FILE *stream, const ProtobufCBinaryData *bytes)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    (void)fputc('"', stream);
    for (size_t i = 0; i < bytes->len; i += 3) {
        size_t left = bytes->len - i;
        uint32_t group = (uint32_t)bytes->data[i] << 16;
        group |= left > 1 ? (uint32_t)bytes->data[i + 1] << 8 : 0;
        group |= left > 2 ? bytes->data[i + 2] : 0;
        (void)fputc(digits[group >> 18], stream);
        (void)fputc(digits[group >> 12 & 63], stream);
        (void)fputc(left > 1 ? digits[group >> 6 & 63] : '=', stream);
        (void)fputc(left > 2 ? digits[group & 63] : '=', stream);
    }
    (void)fputc('"', stream);
}

static void put_enum(FILE *stream, const ProtobufCEnumDescriptor *descriptor, int value)
{
    const ProtobufCEnumValue *named = protobuf_c_enum_descriptor_get_value(descriptor, value);
    if (named != NULL) {
        (void)fprintf(stream, "\"%s\"", named->name);
    } else {
        (void)fprintf(stream, "%d", value);
    }
}

static void jsonizer_put_message(FILE *stream, const ProtobufCMessage *message, unsigned depth);

static void jsonizer_put_value(FILE *stream, const ProtobufCFieldDescriptor *field, const void *at, unsigned depth)
{
    switch (field->type) {
    case PROTOBUF_C_TYPE_INT32:
    case PROTOBUF_C_TYPE_SINT32:
    case PROTOBUF_C_TYPE_SFIXED32:
        (void)fprintf(stream, "%" PRId32, *(const int32_t *)at);
        break;
    case PROTOBUF_C_TYPE_INT64:
    case PROTOBUF_C_TYPE_SINT64:
    case PROTOBUF_C_TYPE_SFIXED64:
        (void)fprintf(stream, "\"%" PRId64 "\"", *(const int64_t *)at);
        break;
    case PROTOBUF_C_TYPE_UINT32:
    case PROTOBUF_C_TYPE_FIXED32:
        (void)fprintf(stream, "%" PRIu32, *(const uint32_t *)at);
        break;
    case PROTOBUF_C_TYPE_UINT64:
    case PROTOBUF_C_TYPE_FIXED64:
        (void)fprintf(stream, "\"%" PRIu64 "\"", *(const uint64_t *)at);
        break;
    case PROTOBUF_C_TYPE_FLOAT:
        put_float(stream, *(const float *)at);
        break;
    case PROTOBUF_C_TYPE_DOUBLE:
        jsonizer_put_real(stream, *(const double *)at);
        break;
    case PROTOBUF_C_TYPE_BOOL:
        (void)fputs(*(const protobuf_c_boolean *)at ? "true" : "false", stream);
        break;
    case PROTOBUF_C_TYPE_ENUM:
        put_enum(stream, field->descriptor, *(const int *)at);
        break;
    case PROTOBUF_C_TYPE_STRING:
        ascii_json_string(stream, *(char *const *)at, strlen(*(char *const *)at));
        break;
    case PROTOBUF_C_TYPE_BYTES:
        jsonizer_put_base64(stream, at);
        break;
    case PROTOBUF_C_TYPE_MESSAGE:
        jsonizer_put_message(stream, *(const ProtobufCMessage *const *)at, depth);
        break;
    }
}

/* ---- messages ---- */

static size_t value_size(const ProtobufCFieldDescriptor *field)
{
    switch (field->type) {
    case PROTOBUF_C_TYPE_INT64:
    case PROTOBUF_C_TYPE_SINT64:
    case PROTOBUF_C_TYPE_SFIXED64:
    case PROTOBUF_C_TYPE_UINT64:
    case PROTOBUF_C_TYPE_FIXED64:
    case PROTOBUF_C_TYPE_DOUBLE:
        return sizeof(uint64_t);
    case PROTOBUF_C_TYPE_BOOL:
        return sizeof(protobuf_c_boolean);
    case PROTOBUF_C_TYPE_STRING:
    case PROTOBUF_C_TYPE_MESSAGE:
        return sizeof(void *);
    case PROTOBUF_C_TYPE_BYTES:
        return sizeof(ProtobufCBinaryData);
    default:
        return sizeof(uint32_t);
    }
}

/* proto3 shows a single field when it is not zero, a member of a oneof when it is the one that is set. */
static bool jsonizer_is_shown(const ProtobufCMessage *message, const ProtobufCFieldDescriptor *field)
{
    const char *base = (const char *)message;
    const void *at = base + field->offset;
    if (field->label == PROTOBUF_C_LABEL_REPEATED) {
        return *(const size_t *)(const void *)(base + field->quantifier_offset) > 0;
    }
    if ((field->flags & PROTOBUF_C_FIELD_FLAG_ONEOF) != 0) {
        return *(const uint32_t *)(const void *)(base + field->quantifier_offset) == field->id;
    }
    if (field->type == PROTOBUF_C_TYPE_STRING) {
        return (*(char *const *)at)[0] != '\0';
    }
    static const char zero[sizeof(ProtobufCBinaryData)];
    return memcmp(at, zero, value_size(field)) != 0;
}

static void jsonizer_put_list(FILE *stream, const ProtobufCMessage *message, const ProtobufCFieldDescriptor *field,
                              unsigned depth)
{
    const char *base = (const char *)message;
    size_t count = *(const size_t *)(const void *)(base + field->quantifier_offset);
    const char *values = *(const char *const *)(const void *)(base + field->offset);
    (void)fputc('[', stream);
    for (size_t i = 0; i < count; i++) {
        (void)fputs(i == 0 ? "" : ",", stream);
        new_line(stream, depth + 1);
        jsonizer_put_value(stream, field, values + i * value_size(field), depth + 1);
    }
    new_line(stream, depth);
    (void)fputc(']', stream);
}

/* duration_micros becomes durationMicros. */
static void jsonizer_put_key(FILE *stream, const char *name)
{
    (void)fputc('"', stream);
    for (bool upper = false; *name != '\0'; name++) {
        if (*name != '_') {
            (void)fputc(upper && *name >= 'a' && *name <= 'z' ? *name - 'a' + 'A' : *name, stream);
        }
        upper = *name == '_';
    }
    (void)fputs("\": ", stream);
}

/* Calls itself no deeper than messages nest in the schema: node, attribute, list. */
static void jsonizer_put_message(FILE *stream, const ProtobufCMessage *message, unsigned depth)
{
    bool filled = false;
    (void)fputc('{', stream);
    for (unsigned i = 0; i < message->descriptor->n_fields; i++) {
        const ProtobufCFieldDescriptor *field = &message->descriptor->fields[i];
        if (!jsonizer_is_shown(message, field)) {
            continue;
        }
        (void)fputs(filled ? "," : "", stream);
        new_line(stream, depth + 1);
        jsonizer_put_key(stream, field->name);
        if (field->label == PROTOBUF_C_LABEL_REPEATED) {
            jsonizer_put_list(stream, message, field, depth + 1);
        } else {
            jsonizer_put_value(stream, field, (const char *)message + field->offset, depth + 1);
        }
        filled = true;
    }
    if (filled) {
        new_line(stream, depth);
    }
    (void)fputc('}', stream);
}

/* ---- files ---- */

/* Decodes the record as the only one of a file of its own: as metadata, or behind metadata that are empty. */
static enum orr_status jsonizer_put_record(FILE *stream, const struct record_reader *reader,
                                           const struct record *record, bool is_metadata, struct file_buffer *buffer,
                                           struct orr_error *err)
{
    enum { HEAD = 8 };
    struct trace_document *document = NULL;
    size_t need = record->size + HEAD;
    if (buffer->capacity < need) {
        uint8_t *grown = mem_resize(buffer->mem, buffer->bytes, buffer->capacity, need * 2);
        if (grown == NULL) {
            return mem_error(buffer->mem, "a record of a trace", err);
        }
        buffer->bytes = grown;
        buffer->capacity = need * 2;
    }
    size_t used = 0;
    if (!is_metadata) {
        buffer->bytes[used++] = 0;
    }
    size_t length = record->size;
    for (; length >= 0x80; length >>= 7) {
        buffer->bytes[used++] = (uint8_t)(length | 0x80);
    }
    buffer->bytes[used++] = (uint8_t)length;
    memcpy(buffer->bytes + used, record->bytes, record->size);
    char name[600];
    (void)snprintf(name, sizeof name, "%.500s: record at byte %" PRIu64, reader->path, record->offset);
    enum orr_status status =
        trace_document_parse(buffer->bytes, used + record->size, name, buffer->mem, &document, err);
    if (status == ORR_OK) {
        jsonizer_put_message(stream, is_metadata ? &document->metadata->base : &document->nodes[0]->base, 0);
        trace_document_free(document);
    }
    return status;
}

static enum orr_status put_records(FILE *stream, struct record_reader *reader, struct notes *notes,
                                   struct orr_error *err)
{
    struct file_buffer buffer;
    struct record record;
    bool more = true;
    enum orr_status status = ORR_OK;
    file_buffer_init(&buffer, reader->mem);
    for (uint64_t count = 0; status == ORR_OK; count++) {
        status = record_reader_next(reader, &record, &more, err);
        if (status != ORR_OK || !more) {
            break;
        }
        if (record.size == 0 && count > 0) {
            status =
                notes_add(notes, err, "%s: byte %" PRIu64 ": a record of length 0 ends the file for Chakra's readers",
                          reader->path, record.offset);
            break;
        }
        status = jsonizer_put_record(stream, reader, &record, count == 0, &buffer, err);
    }
    file_buffer_free(&buffer);
    return status;
}

enum orr_status jsonizer_write(const char *input, const char *output, struct mem *mem, struct notes *notes,
                               struct orr_error *err)
{
    struct record_reader reader;
    struct io_outfile *file = NULL;
    enum orr_status status = record_reader_open(&reader, input, mem, err);
    if (status != ORR_OK) {
        return status;
    }
    status = io_outfile_open(output, IO_OUTFILE_PLAIN, &file, err);
    if (status == ORR_OK) {
        status = put_records(io_outfile_stream(file), &reader, notes, err);
        status = io_outfile_end(file, status, err);
    }
    record_reader_close(&reader);
    return status;
}
