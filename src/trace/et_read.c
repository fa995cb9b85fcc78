/* SPDX-License-Identifier: Apache-2.0 */
/* The feed of the simulator, written by hand because a tree of messages costs several times the file in allocations
 * and most of what it would hold is thrown away: fields go from the wire straight into struct trace_node. The file
 * comes through a window that fits the processor's cache; touching it all in memory first would cost as much as reading
 * it.
 *
 * Everything that is read is checked, and all that is skipped is checked to be well-formed fields; only lists in
 * attributes that mean nothing to a simulation are not looked into. Where protobuf-c (trace/document.h) accepts a file,
 * this does too, up to the rules that are ours: ids are unique, dependencies exist, attributes have the right kind. */
#include "trace/et_read.h"

#include "trace/attr.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/plain.h"
#include "io/wire.h"
#include "trace/foreign.h"

bool et_fail(struct et_read *read, const uint8_t *at, const char *fmt, ...)
{
    char text[512];
    va_list args;
    va_start(args, fmt);
    (void)plain_vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    for (char *c = text; *c != '\0'; c++) {
        *c = (unsigned char)*c < ' ' ? '?' : *c; /* names come from the file; a message is one line */
    }
    read->status = error_set(read->err, ORR_EINVAL, "%s: byte %" PRIu64 ": %s", read->name,
                             read->offset + (uint64_t)(at - read->begin), text);
    return false;
}

bool et_fail_field(struct et_read *read, const uint8_t *at, const uint8_t *end, const char *where)
{
    return et_fail(read, at, "%s: %s: the file is damaged or not a Chakra ET file", where, wire_field_fault(at, end));
}

bool et_fail_memory(struct et_read *read, const char *what)
{
    char text[512];
    (void)snprintf(text, sizeof text, "%s of %s", what, read->name);
    read->status = mem_error(read->mem, text, read->err);
    return false;
}

static uint32_t text_slot(const uint8_t *bytes, size_t length)
{
    uint64_t head = 0;
    uint64_t tail = 0;
    size_t part = length < 8 ? length : 8;
    memcpy(&head, bytes, part);
    memcpy(&tail, bytes + length - part, part);
    uint64_t hash = (head ^ (tail << 29 | tail >> 35) ^ length) * UINT64_C(0x9e3779b97f4a7c15);
    return (uint32_t)(hash >> 32) % ET_RECENT_NAMES;
}

bool et_keep_text(struct et_read *read, const uint8_t *bytes, size_t length, uint32_t *offset)
{
    if (length == 0) {
        *offset = 0;
        return true;
    }
    uint32_t *recent = &read->recent[text_slot(bytes, length)];
    if (read->string_bytes - *recent > length && memcmp(read->strings + *recent, bytes, length) == 0 &&
        read->strings[*recent + length] == '\0') {
        *offset = *recent;
        return true;
    }
    if (!mem_reserve(read->mem, (void **)&read->strings, &read->string_capacity,
                     (uint64_t)read->string_bytes + length + 1, 1)) {
        return et_fail_memory(read, "the names");
    }
    *offset = *recent = read->string_bytes;
    memcpy(read->strings + read->string_bytes, bytes, length);
    read->strings[read->string_bytes + length] = '\0';
    read->string_bytes += (uint32_t)length + 1;
    return true;
}

/* ---- nodes ---- */

static bool reserve_ids(struct et_read *read, struct et_list *list, uint64_t more)
{
    return list->count + more <= list->capacity ||
           MEM_RESERVE(read->mem, list->ids, list->capacity, list->count + more) ||
           et_fail_memory(read, "the dependencies");
}

static bool read_packed_ids(struct et_read *read, const struct wire_field *field, struct et_list *list)
{
    if (field->value == 0) {
        return true;
    }
    if (!reserve_ids(read, list, field->value)) { /* an id takes at least a byte */
        return false;
    }
    const uint8_t *end = field->bytes + field->value;
    uint64_t *next_id = list->ids + list->count;
    for (const uint8_t *at = field->bytes; at < end;) {
        const uint8_t *next = wire_varint(at, end, next_id++);
        if (next == NULL) {
            return et_fail(read, at, "in a list of dependencies: a number that does not end");
        }
        at = next;
    }
    list->count = (uint32_t)(next_id - list->ids);
    return true;
}

static bool read_single_id(struct et_read *read, uint64_t id, struct et_list *list)
{
    if (!reserve_ids(read, list, 1)) {
        return false;
    }
    list->ids[list->count++] = id;
    return true;
}

static bool check_io_info(struct et_read *read, const struct wire_field *message)
{
    struct wire_walk walk = wire_walk(message->bytes, message->value);
    struct wire_field field;
    while (wire_next(&walk, &field)) {
        if (wire_field_number(&field) <= 3) {
            if (wire_field_type(&field) != WIRE_BYTES) {
                return et_fail(read, walk.from, "a field of a node's inputs or outputs is not a string");
            }
            if (!et_check_text(read, &field, "a text of a node's inputs or outputs")) {
                return false;
            }
        }
    }
    return walk.at == walk.end || et_fail_field(read, walk.at, walk.end, "in a node's inputs or outputs");
}

static bool fail_wire_type(struct et_read *read, const struct wire_field *record, const struct wire_field *field)
{
    return et_fail(read, field->bytes, "node %" PRIu64 ": field %" PRIu32 " has wire type %" PRIu32,
                   et_record_id(record), wire_field_number(field), wire_field_type(field));
}

/* A field whose content is a span. `field` is in the record of a node. */
static bool read_node_span(struct et_read *read, const struct wire_field *record, const struct wire_field *field,
                           struct trace_node *node)
{
    switch (wire_field_number(field)) {
    case 10:
        return et_attribute_take(read, record, field->bytes, field->bytes + field->value, node);
    case 2:
        return et_check_text(read, field, "a node's name") &&
               et_keep_text(read, field->bytes, (size_t)field->value, &node->name);
    case 4:
        return read_packed_ids(read, field, &read->ctrl);
    case 5:
        return read_packed_ids(read, field, &read->deps);
    case 8:
    case 9:
        return check_io_info(read, field);
    default:
        return wire_field_number(field) > 10 || fail_wire_type(read, record, field);
    }
}

static bool read_node_number(struct et_read *read, const struct wire_field *record, const struct wire_field *field,
                             struct trace_node *node)
{
    switch (wire_field_number(field)) {
    case 1:
        node->id = field->value;
        return true;
    case 3:
        read->type = (int32_t)(uint32_t)field->value; /* an enum has 32 bits, and the last one counts */
        return true;
    case 4:
        return read_single_id(read, field->value, &read->ctrl);
    case 5:
        return read_single_id(read, field->value, &read->deps);
    case 6: /* start_time_micros */
        return true;
    case 7:
        node->duration_us = field->value;
        return true;
    default:
        return wire_field_number(field) > 10 || fail_wire_type(read, record, field);
    }
}

static bool read_node_fields(struct et_read *read, const struct wire_field *record, struct trace_node *node)
{
    struct wire_walk walk = wire_walk(record->bytes, record->value);
    struct wire_field field;
    while (wire_next(&walk, &field)) {
        bool fine;
        if (wire_field_type(&field) == WIRE_BYTES) {
            fine = read_node_span(read, record, &field, node);
        } else if (wire_field_type(&field) == WIRE_VARINT) {
            fine = read_node_number(read, record, &field, node);
        } else {
            fine = wire_field_number(&field) > 10 || fail_wire_type(read, record, &field);
        }
        if (!fine) {
            return false;
        }
    }
    return walk.at == walk.end || et_fail_field(read, walk.at, walk.end, "in a node");
}

static bool append_control(struct et_read *read)
{
    struct et_list *deps = &read->deps;
    uint64_t need = (uint64_t)deps->count + read->ctrl.count;
    if (!MEM_RESERVE(read->mem, deps->ids, deps->capacity, need)) {
        return et_fail_memory(read, "the dependencies");
    }
    memcpy(deps->ids + deps->count, read->ctrl.ids, read->ctrl.count * sizeof *deps->ids);
    deps->count = (uint32_t)need;
    read->ctrl.count = 0;
    return true;
}

static bool et_read_node(struct et_read *read, const struct wire_field *record)
{
    uint32_t k = read->node_count;
    struct trace_node *node = &read->nodes[k];
    memset(node, 0, sizeof *node);
    read->seen = 0;
    read->cycles_from = 0;
    read->type = 0;
    uint32_t before = read->deps.count;
    if (!read_node_fields(read, record, node)) {
        return false;
    }
    if (read->type < 0 || read->type >= TRACE_NODE_TYPES) {
        return et_fail(read, record->bytes, "node %" PRIu64 ": node type %" PRId32 " is unknown; types are 0 to %d",
                       node->id, read->type, TRACE_NODE_TYPES - 1);
    }
    node->type = (uint8_t)read->type;
    if (read->cycles_from != 0 && node->type == TRACE_COMP) {
        node->cycles = read->cycles;
        node->has |= TRACE_HAS_CYCLES;
    }
    if (read->ctrl.count > 0 && !append_control(read)) {
        return false;
    }
    if (!et_lane_settle(read, node)) {
        return false;
    }
    read->written[k] = read->deps.count - before;
    read->ascending = read->ascending && (k == 0 || node[-1].id < node->id);
    read->node_count++;
    return true;
}

/* ---- the file ---- */

static bool asks_for_streams(const struct et_attribute *attr)
{
    static const char key[] = TRACE_POLICY_KEY;
    static const char value[] = TRACE_POLICY_STREAMS;
    return attr->kind == TRACE_VALUE_STRING && attr->name_length == sizeof key - 1 &&
           memcmp(attr->name, key, sizeof key - 1) == 0 && attr->value.value == sizeof value - 1 &&
           memcmp(attr->value.bytes, value, sizeof value - 1) == 0;
}

static bool read_metadata(struct et_read *read, const struct wire_field *record)
{
    struct wire_walk walk = wire_walk(record->bytes, record->value);
    struct wire_field field;
    while (wire_next(&walk, &field)) {
        uint32_t number = wire_field_number(&field);
        if (number <= 2 && wire_field_type(&field) != WIRE_BYTES) {
            return et_fail(read, walk.from,
                           "the first record is not Chakra's GlobalMetadata: field %" PRIu32 " has wire type %" PRIu32,
                           number, wire_field_type(&field));
        }
        if (number == 1 && !et_check_text(read, &field, "the metadata's version")) {
            return false;
        }
        struct et_attribute attr;
        if (number == 2) {
            if (!et_attribute_read(read, &field, &attr) || !et_attribute_check_name(read, &attr)) {
                return false;
            }
            read->lanes.side_by_side = read->lanes.side_by_side || asks_for_streams(&attr);
        }
    }
    return walk.at == walk.end || et_fail_field(read, walk.at, walk.end, "in the metadata");
}

/* Moves the window so that `*at` comes first; false when there are no more bytes, or on an error (read->status). */
static bool more_bytes(struct et_read *read, const uint8_t **at)
{
    if (read->window == NULL || read->window->at_end) {
        return false;
    }
    read->status = file_window_move(read->window, (size_t)(*at - read->begin), read->err);
    read->begin = read->window->bytes;
    read->end = read->begin + read->window->size;
    read->offset = read->window->offset;
    *at = read->begin;
    return read->status == ORR_OK;
}

/* The record at `*at`, as if it were a field; `*at` is then behind it. False at the end of the file, when there is only
 * part of a record (`*at` is before it), and on an error. */
static inline bool next_record(struct et_read *read, const uint8_t **at, struct wire_field *record)
{
    record->bytes = wire_length(*at, read->end, &record->value);
    while (record->bytes == NULL) {
        if (!more_bytes(read, at)) {
            return false;
        }
        record->bytes = wire_length(*at, read->end, &record->value);
    }
    *at = record->bytes + record->value;
    return true;
}

static bool fail_record(struct et_read *read, const uint8_t *at)
{
    uint64_t length;
    const uint8_t *next = wire_varint(at, read->end, &length);
    if (next == NULL || next - at > WIRE_TAG_MAX) {
        return et_fail(read, at, "a record's length does not end: the file is cut short or not a Chakra ET file");
    }
    return et_fail(read, at,
                   "a record of %" PRIu64
                   " bytes, but the file ends after %zu more: it is cut short or not a Chakra ET file",
                   length, (size_t)(read->end - next));
}

/* Room for one more node. After the first few hundred the rest is foreseen from how far into the file they reached, so
 * that the array is seldom moved and never much too large. */
static bool et_read_reserve_node(struct et_read *read, const uint8_t *at)
{
    enum { FIRST = 256 };
    uint64_t done = read->offset + (uint64_t)(at - read->begin);
    double share = (double)read->file_size / (double)(done == 0 ? 1 : done);
    uint64_t need = (uint64_t)read->node_count + 1;
    if (read->node_count >= FIRST && share > 1) {
        double foreseen = (double)read->node_count * share * 1.02 + 1;
        need = foreseen < (double)UINT32_MAX ? (uint64_t)foreseen : need;
    }
    if (!MEM_RESERVE(read->mem, read->nodes, read->node_capacity, need) ||
        !MEM_RESERVE(read->mem, read->written, read->written_capacity, read->node_capacity)) {
        return et_fail_memory(read, "the nodes");
    }
    mem_advise_large(read->nodes, (size_t)read->node_capacity * sizeof *read->nodes);
    return true;
}

static bool et_read_nodes(struct et_read *read, const uint8_t *at)
{
    struct wire_field record;
    while (next_record(read, &at, &record)) {
        if (read->node_count == read->node_capacity && !et_read_reserve_node(read, at)) {
            return false;
        }
        if (!et_read_node(read, &record)) {
            return false;
        }
    }
    return read->status == ORR_OK && (at == read->end || fail_record(read, at));
}

/* A file of another kind has that as its fault, not the place where it stopped making sense. */
static enum orr_status say_foreign(struct et_read *read, const char *foreign)
{
    if (foreign != NULL && read->status == ORR_EINVAL) {
        read->status = error_set(read->err, ORR_EINVAL, "%s: byte 0: %s", read->name, foreign);
    }
    return read->status;
}

enum orr_status et_read_file(struct et_read *read)
{
    read->ascending = true;
    if (!mem_reserve(read->mem, (void **)&read->strings, &read->string_capacity, 1, 1)) {
        (void)et_fail_memory(read, "the names");
        return read->status;
    }
    read->strings[0] = '\0';
    read->string_bytes = 1;
    const uint8_t *at = read->begin;
    const char *foreign = trace_foreign(at, (size_t)(read->end - at));
    struct wire_field record;
    if (at == read->end) {
        (void)et_fail(read, at, "the file is empty; a Chakra ET file starts with its metadata");
    } else if (!next_record(read, &at, &record)) {
        (void)(read->status == ORR_OK && fail_record(read, at));
    } else if (read_metadata(read, &record)) {
        (void)et_read_nodes(read, at);
    }
    return say_foreign(read, foreign);
}

enum orr_status et_read_head(struct et_read *read)
{
    const uint8_t *at = read->begin;
    const char *foreign = trace_foreign(at, (size_t)(read->end - at));
    struct wire_field record;
    if (!next_record(read, &at, &record)) {
        (void)(read->status == ORR_OK && fail_record(read, at));
    } else {
        (void)read_metadata(read, &record);
    }
    return say_foreign(read, foreign);
}

void et_read_free(struct et_read *read)
{
    mem_free(read->mem, read->nodes, (size_t)read->node_capacity * sizeof *read->nodes);
    mem_free(read->mem, read->written, (size_t)read->written_capacity * sizeof *read->written);
    mem_free(read->mem, read->deps.ids, (size_t)read->deps.capacity * sizeof *read->deps.ids);
    mem_free(read->mem, read->ctrl.ids, (size_t)read->ctrl.capacity * sizeof *read->ctrl.ids);
    mem_free(read->mem, read->strings, read->string_capacity);
    et_lanes_free(read);
}

uint64_t et_read_node_offset(struct et_read *read, uint32_t k)
{
    struct wire_field record;
    if (read->window != NULL) {
        struct orr_error ignored; /* the message at hand is the one that matters */
        if (file_window_rewind(read->window, &ignored) != ORR_OK) {
            return 0;
        }
        read->begin = read->window->bytes;
        read->end = read->begin + read->window->size;
        read->offset = 0;
    }
    const uint8_t *at = read->begin;
    for (uint32_t i = 0; i <= k; i++) { /* the metadata too */
        if (!next_record(read, &at, &record)) {
            break;
        }
    }
    return read->offset + (uint64_t)(at - read->begin);
}
