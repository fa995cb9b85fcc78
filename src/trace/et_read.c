/* The feed of the simulator, written by hand because a tree of messages costs several times the file in allocations
 * and most of what it would hold is thrown away: fields go from the wire straight into struct trace_node. A first walk
 * over the record lengths counts the nodes, so that they are read into one array of the right size.
 *
 * Everything that is read is checked, and all that is skipped is checked to be well-formed fields; only lists in
 * attributes that mean nothing to a simulation are not looked into. Where protobuf-c (trace/document.h) accepts a file,
 * this does too, up to the rules that are ours: ids are unique, dependencies exist, attributes have the right kind. */
#include "trace/et_read.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "io/wire.h"

bool et_fail(struct et_read *read, const uint8_t *at, const char *fmt, ...)
{
    char text[512];
    va_list args;
    va_start(args, fmt);
    (void)vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    for (char *c = text; *c != '\0'; c++) {
        *c = (unsigned char)*c < ' ' ? '?' : *c; /* names come from the file; a message is one line */
    }
    read->status = error_set(read->err, ORR_EINVAL, "%s: byte %zu: %s", read->name, (size_t)(at - read->begin), text);
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

static bool read_dependencies(struct et_read *read, const struct wire_field *field, struct et_list *list)
{
    bool packed = wire_field_type(field) == WIRE_BYTES;
    uint64_t most = packed ? field->value : 1; /* an id takes at least a byte */
    if (list->count + most > list->capacity &&
        !mem_reserve(read->mem, (void **)&list->ids, &list->capacity, list->count + most, sizeof *list->ids)) {
        return et_fail_memory(read, "the dependencies");
    }
    if (!packed) {
        list->ids[list->count++] = field->value;
        return true;
    }
    const uint8_t *end = field->bytes + field->value;
    for (const uint8_t *at = field->bytes; at < end;) {
        const uint8_t *next = wire_varint(at, end, &list->ids[list->count]);
        if (next == NULL) {
            return et_fail(read, at, "in a list of dependencies: a number that does not end");
        }
        list->count++;
        at = next;
    }
    return true;
}

static bool check_io_info(struct et_read *read, const struct wire_field *message)
{
    const uint8_t *at = message->bytes;
    const uint8_t *end = at + message->value;
    while (at < end) {
        struct wire_field field;
        const uint8_t *next = wire_field_read(at, end, &field);
        if (next == NULL) {
            return et_fail_field(read, at, end, "in a node's inputs or outputs");
        }
        if (wire_field_number(&field) <= 3) {
            if (wire_field_type(&field) != WIRE_BYTES) {
                return et_fail(read, at, "a field of a node's inputs or outputs is not a string");
            }
            if (!et_check_text(read, &field, "a text of a node's inputs or outputs")) {
                return false;
            }
        }
        at = next;
    }
    return true;
}

static bool read_node_field(struct et_read *read, const struct wire_field *record, const uint8_t *at,
                            const struct wire_field *field, struct trace_node *node)
{
    switch (field->tag) {
    case WIRE_TAG(1, WIRE_VARINT):
        node->id = field->value;
        return true;
    case WIRE_TAG(2, WIRE_BYTES):
        return et_check_text(read, field, "a node's name") &&
               et_keep_text(read, field->bytes, (size_t)field->value, &node->name);
    case WIRE_TAG(3, WIRE_VARINT):
        read->type = (int32_t)(uint32_t)field->value; /* an enum has 32 bits, and the last one counts */
        return true;
    case WIRE_TAG(4, WIRE_BYTES):
    case WIRE_TAG(4, WIRE_VARINT):
        return read_dependencies(read, field, &read->ctrl);
    case WIRE_TAG(5, WIRE_BYTES):
    case WIRE_TAG(5, WIRE_VARINT):
        return read_dependencies(read, field, &read->deps);
    case WIRE_TAG(6, WIRE_VARINT): /* start_time_micros */
        return true;
    case WIRE_TAG(7, WIRE_VARINT):
        node->duration_us = field->value;
        return true;
    case WIRE_TAG(8, WIRE_BYTES):
    case WIRE_TAG(9, WIRE_BYTES):
        return check_io_info(read, field);
    case WIRE_TAG(10, WIRE_BYTES):
        return et_attribute_take(read, record, field, node);
    default:
        return wire_field_number(field) > 10 ||
               et_fail(read, at, "node %" PRIu64 ": field %" PRIu32 " has wire type %" PRIu32, et_record_id(record),
                       wire_field_number(field), wire_field_type(field));
    }
}

/* The fields every node has, by their one-byte tags; anything else, also what is damaged, is left to read_node_field.
 * Gives where it stopped. */
static const uint8_t *read_common_fields(struct et_read *read, const struct wire_field *record, const uint8_t *at,
                                         const uint8_t *end, struct trace_node *node)
{
    while (at < end) {
        struct wire_field field;
        const uint8_t *next;
        switch (*at) {
        case WIRE_TAG(1, WIRE_VARINT):
            next = wire_varint(at + 1, end, &node->id);
            break;
        case WIRE_TAG(7, WIRE_VARINT):
            next = wire_varint(at + 1, end, &node->duration_us);
            break;
        case WIRE_TAG(10, WIRE_BYTES):
            field.bytes = wire_length(at + 1, end, &field.value);
            if (field.bytes == NULL || !et_attribute_take(read, record, &field, node)) {
                return at;
            }
            next = field.bytes + field.value;
            break;
        default:
            return at;
        }
        if (next == NULL) {
            return at;
        }
        at = next;
    }
    return at;
}

static bool append_control(struct et_read *read)
{
    struct et_list *deps = &read->deps;
    uint64_t need = (uint64_t)deps->count + read->ctrl.count;
    if (!mem_reserve(read->mem, (void **)&deps->ids, &deps->capacity, need, sizeof *deps->ids)) {
        return et_fail_memory(read, "the dependencies");
    }
    memcpy(deps->ids + deps->count, read->ctrl.ids, read->ctrl.count * sizeof *deps->ids);
    deps->count = (uint32_t)need;
    read->ctrl.count = 0;
    return true;
}

static bool read_node(struct et_read *read, const struct wire_field *record, uint32_t k)
{
    struct trace_node *node = &read->graph->nodes[k];
    memset(node, 0, sizeof *node);
    read->seen = 0;
    read->type = 0;
    uint32_t before = read->deps.count;
    const uint8_t *at = record->bytes;
    const uint8_t *end = at + record->value;
    while ((at = read_common_fields(read, record, at, end, node)) < end) {
        struct wire_field field;
        if (read->status != ORR_OK) {
            return false;
        }
        const uint8_t *next = wire_field_read(at, end, &field);
        if (next == NULL) {
            return et_fail_field(read, at, end, "in a node");
        }
        if (!read_node_field(read, record, at, &field, node)) {
            return false;
        }
        at = next;
    }
    if (read->type < 0 || read->type >= TRACE_NODE_TYPES) {
        return et_fail(read, record->bytes, "node %" PRIu64 ": node type %" PRId32 " is unknown; types are 0 to %d",
                       node->id, read->type, TRACE_NODE_TYPES - 1);
    }
    node->type = (uint8_t)read->type;
    if (read->ctrl.count > 0 && !append_control(read)) {
        return false;
    }
    read->graph->parent_written[k] = read->deps.count - before;
    read->ascending = read->ascending && (k == 0 || node[-1].id < node->id);
    return true;
}

/* ---- the file ---- */

static bool read_metadata(struct et_read *read, const struct wire_field *record)
{
    const uint8_t *at = record->bytes;
    const uint8_t *end = at + record->value;
    while (at < end) {
        struct wire_field field;
        const uint8_t *next = wire_field_read(at, end, &field);
        if (next == NULL) {
            return et_fail_field(read, at, end, "in the metadata");
        }
        uint32_t number = wire_field_number(&field);
        if (number <= 2 && wire_field_type(&field) != WIRE_BYTES) {
            return et_fail(read, at,
                           "the first record is not Chakra's GlobalMetadata: field %" PRIu32 " has wire type %" PRIu32,
                           number, wire_field_type(&field));
        }
        if (number == 1 && !et_check_text(read, &field, "the metadata's version")) {
            return false;
        }
        struct et_attribute attr;
        if (number == 2 && !(et_attribute_read(read, &field, &attr) && et_attribute_check_name(read, &attr))) {
            return false;
        }
        at = next;
    }
    return true;
}

/* The record at `at`, as if it were a field; the byte after it, or NULL. */
static const uint8_t *next_record(const uint8_t *at, const uint8_t *end, struct wire_field *record)
{
    record->bytes = wire_length(at, end, &record->value);
    return record->bytes == NULL ? NULL : record->bytes + record->value;
}

static bool fail_record(struct et_read *read, const uint8_t *at)
{
    uint64_t length;
    const uint8_t *next = wire_varint(at, read->end, &length);
    size_t left = (size_t)(read->end - at);
    if (left >= 2 && at == read->begin && at[0] == 0x1f && at[1] == 0x8b) {
        return et_fail(read, at, "the file is compressed with gzip; unpack it first");
    }
    if (next == NULL || next - at > WIRE_TAG_MAX) {
        return et_fail(read, at, "a record's length does not end: the file is cut short or not a Chakra ET file");
    }
    return et_fail(read, at,
                   "a record of %" PRIu64
                   " bytes, but the file ends after %zu more: it is cut short or not a Chakra ET file",
                   length, (size_t)(read->end - next));
}

static bool count_nodes(struct et_read *read, uint32_t *count)
{
    uint64_t records = 0;
    struct wire_field record;
    for (const uint8_t *at = read->first_node; at < read->end; records++) {
        const uint8_t *next = next_record(at, read->end, &record);
        if (next == NULL) {
            return fail_record(read, at);
        }
        at = next;
    }
    if (records >= UINT32_MAX) {
        return et_fail(read, read->first_node, "%" PRIu64 " nodes; at most %" PRIu32 " can be read", records,
                       UINT32_MAX - 1);
    }
    *count = (uint32_t)records;
    return true;
}

static bool prepare(struct et_read *read)
{
    struct trace_graph *graph = read->graph;
    struct wire_field record;
    if (read->begin == read->end) {
        return et_fail(read, read->begin, "the file is empty; a Chakra ET file starts with its metadata");
    }
    read->first_node = next_record(read->begin, read->end, &record);
    if (read->first_node == NULL) {
        return fail_record(read, read->begin);
    }
    if (!read_metadata(read, &record) || !count_nodes(read, &graph->node_count)) {
        return false;
    }
    graph->nodes = arena_alloc(&graph->arena, (size_t)graph->node_count * sizeof *graph->nodes);
    graph->parent_written = arena_alloc(&graph->arena, (size_t)graph->node_count * sizeof *graph->parent_written);
    if (graph->nodes == NULL || graph->parent_written == NULL) {
        return et_fail_memory(read, "the nodes");
    }
    mem_advise_large(graph->nodes, (size_t)graph->node_count * sizeof *graph->nodes);
    if (!mem_reserve(read->mem, (void **)&read->strings, &read->string_capacity, 1, 1)) {
        return et_fail_memory(read, "the names");
    }
    read->strings[0] = '\0';
    read->string_bytes = 1;
    return true;
}

enum orr_status et_read_file(struct et_read *read)
{
    read->status = ORR_OK;
    read->ascending = true;
    if (!prepare(read)) {
        return read->status;
    }
    const uint8_t *at = read->first_node;
    for (uint32_t k = 0; k < read->graph->node_count; k++) {
        struct wire_field record;
        at = next_record(at, read->end, &record);
        if (!read_node(read, &record, k)) {
            return read->status;
        }
    }
    return ORR_OK;
}

void et_read_free(struct et_read *read)
{
    mem_free(read->mem, read->deps.ids, (size_t)read->deps.capacity * sizeof *read->deps.ids);
    mem_free(read->mem, read->ctrl.ids, (size_t)read->ctrl.capacity * sizeof *read->ctrl.ids);
    mem_free(read->mem, read->strings, read->string_capacity);
}

size_t et_read_node_offset(const struct et_read *read, uint32_t k)
{
    struct wire_field record;
    const uint8_t *at = read->first_node;
    for (uint32_t i = 0; i < k; i++) {
        at = next_record(at, read->end, &record);
    }
    return (size_t)(at - read->begin);
}
