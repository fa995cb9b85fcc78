/* SPDX-License-Identifier: Apache-2.0 */
/* protobuf-c does the decoding, record by record, into our arena. What it lets pass (texts that are not UTF-8 or hold a
 * NUL, bools of any wire type, a field numbered 0) is looked for on the wire before, where lengths are still known. */
#include "trace/document.h"

#include <inttypes.h>
#include <string.h>

#include "io/file.h"
#include "io/wire.h"
#include "trace/foreign.h"

/* ---- what protobuf-c lets pass ---- */

/* Fields that need a look: texts, bools, and messages that may hold some. */
enum walk_message { WALK_METADATA, WALK_NODE, WALK_IO, WALK_ATTRIBUTE, WALK_LIST, WALK_STRINGS, WALK_BOOLS };
enum walk_kind { WALK_TEXT, WALK_BOOL, WALK_PACKED_BOOL, WALK_MESSAGE };

struct walk_field {
    uint8_t message, number; /* enum walk_message, field number */
    uint8_t kind;            /* enum walk_kind */
    uint8_t inner;           /* enum walk_message, of a WALK_MESSAGE */
};

static const struct walk_field walk_fields[] = {
    {WALK_METADATA, 1, WALK_TEXT, 0},
    {WALK_METADATA, 2, WALK_MESSAGE, WALK_ATTRIBUTE},
    {WALK_NODE, 2, WALK_TEXT, 0},
    {WALK_NODE, 8, WALK_MESSAGE, WALK_IO},
    {WALK_NODE, 9, WALK_MESSAGE, WALK_IO},
    {WALK_NODE, 10, WALK_MESSAGE, WALK_ATTRIBUTE},
    {WALK_IO, 1, WALK_TEXT, 0},
    {WALK_IO, 2, WALK_TEXT, 0},
    {WALK_IO, 3, WALK_TEXT, 0},
    {WALK_ATTRIBUTE, 1, WALK_TEXT, 0},
    {WALK_ATTRIBUTE, 2, WALK_TEXT, 0},
    {WALK_ATTRIBUTE, TRACE_VALUE_BOOL, WALK_BOOL, 0},
    {WALK_ATTRIBUTE, TRACE_VALUE_BOOL_LIST, WALK_MESSAGE, WALK_BOOLS},
    {WALK_ATTRIBUTE, TRACE_VALUE_STRING, WALK_TEXT, 0},
    {WALK_ATTRIBUTE, TRACE_VALUE_STRING_LIST, WALK_MESSAGE, WALK_STRINGS},
    {WALK_STRINGS, 1, WALK_TEXT, 0},
    {WALK_BOOLS, 1, WALK_PACKED_BOOL, 0},
};

/* A list of anything else: its fields must at least be fields. */
static const struct walk_field other_list = {WALK_ATTRIBUTE, 0, WALK_MESSAGE, WALK_LIST};

static const struct walk_field *walk_field_find(unsigned message, uint32_t number)
{
    for (size_t i = 0; i < sizeof walk_fields / sizeof walk_fields[0]; i++) {
        if (walk_fields[i].message == message && walk_fields[i].number == number) {
            return &walk_fields[i];
        }
    }
    bool is_list = message == WALK_ATTRIBUTE && number > 2 && number < TRACE_VALUE_END && number % 2 == 0;
    return is_list ? &other_list : NULL;
}

struct fault {
    const uint8_t *at;
    const char *where;
    const char *what;
};

/* What is wrong with a field of this kind, or NULL. A text or message of another wire type is left to protobuf-c, which
 * refuses it. */
static const char *field_fault(enum walk_kind kind, const struct wire_field *field)
{
    uint32_t wire = wire_field_type(field);
    if (kind == WALK_BOOL || kind == WALK_PACKED_BOOL) {
        bool fits = wire == WIRE_VARINT || (wire == WIRE_BYTES && kind == WALK_PACKED_BOOL);
        return fits ? NULL : "a bool of the wrong wire type";
    }
    if (kind == WALK_TEXT && wire == WIRE_BYTES) {
        if (!wire_utf8_valid(field->bytes, field->value)) {
            return "a text that is not UTF-8";
        }
        return memchr(field->bytes, 0, (size_t)field->value) == NULL ? NULL : "a NUL byte in a text";
    }
    return NULL;
}

/* False with the fault, if there is one. Calls itself no deeper than messages nest: metadata or node, attribute, list.
 */
static bool document_walk(unsigned message, const uint8_t *at, const uint8_t *end, struct fault *fault)
{
    struct wire_walk walk = {at, at, end};
    struct wire_field field;
    fault->where = message >= WALK_LIST ? "in a list: " : "";
    while (wire_next(&walk, &field)) {
        fault->at = walk.from;
        const struct walk_field *known = walk_field_find(message, wire_field_number(&field));
        if (known != NULL) {
            fault->what = field_fault((enum walk_kind)known->kind, &field);
            if (fault->what != NULL) {
                return false;
            }
            if (known->kind == WALK_MESSAGE && wire_field_type(&field) == WIRE_BYTES) {
                if (!document_walk(known->inner, field.bytes, walk.at, fault)) {
                    return false;
                }
                fault->where = "";
            }
        }
    }
    if (walk.at != walk.end) {
        fault->at = walk.at;
        fault->what = wire_field_fault(walk.at, walk.end);
    }
    return walk.at == walk.end;
}

/* ---- decoding ---- */

/* protobuf-c's memory is the arena's. It also takes and gives back scratch space for records of many fields, which an
 * arena would lose each time: the last one given back is kept for the next. */
enum { SCRATCH_SLOTS = 4, SCRATCH_BYTES = 512 };

struct scratch {
    void *block;
    size_t bytes;
    bool free;
};

struct decoder {
    const char *name;
    const uint8_t *begin, *end;
    struct trace_document *document;
    struct mem *mem;
    struct orr_error *err;
    uint32_t capacity; /* of the document's nodes, while they are read */
    struct scratch scratch[SCRATCH_SLOTS];
    unsigned newest;
};

static void *decoder_alloc(void *data, size_t bytes)
{
    struct decoder *decoder = data;
    if (bytes < SCRATCH_BYTES) {
        return arena_alloc(&decoder->document->arena, bytes);
    }
    for (unsigned i = 0; i < SCRATCH_SLOTS; i++) {
        struct scratch *slot = &decoder->scratch[i];
        if (slot->free && slot->bytes >= bytes && slot->bytes / 4 <= bytes) {
            slot->free = false;
            return slot->block;
        }
    }
    void *block = arena_alloc(&decoder->document->arena, bytes);
    decoder->newest = (decoder->newest + 1) % SCRATCH_SLOTS;
    decoder->scratch[decoder->newest] = (struct scratch){.block = block, .bytes = bytes};
    return block;
}

static void decoder_free(void *data, void *block)
{
    struct decoder *decoder = data;
    for (unsigned i = 0; block != NULL && i < SCRATCH_SLOTS; i++) {
        if (decoder->scratch[i].block == block) {
            decoder->scratch[i].free = true;
        }
    }
}

static enum orr_status decode_fail(const struct decoder *decoder, const uint8_t *at, const char *where,
                                   const char *what)
{
    return error_set(decoder->err, ORR_EINVAL, "%s: byte %zu: %s%s: the file is damaged or not a Chakra ET file",
                     decoder->name, (size_t)(at - decoder->begin), where, what);
}

static enum orr_status decode_record(struct decoder *decoder, unsigned kind, const uint8_t *at, size_t size,
                                     ProtobufCMessage **message)
{
    struct fault fault;
    if (!document_walk(kind, at, at + size, &fault)) {
        return decode_fail(decoder, fault.at, fault.where, fault.what);
    }
    ProtobufCAllocator allocator = {.alloc = decoder_alloc, .free = decoder_free, .allocator_data = decoder};
    const ProtobufCMessageDescriptor *descriptor =
        kind == WALK_METADATA ? &chakra__global_metadata__descriptor : &chakra__node__descriptor;
    decoder->mem->refused = 0;
    *message = protobuf_c_message_unpack(descriptor, &allocator, size, at);
    if (*message == NULL && decoder->mem->refused != 0) {
        return mem_error(decoder->mem, "a trace read whole", decoder->err);
    }
    if (*message == NULL) {
        return decode_fail(decoder, at, "", "a field of this record has the wrong wire type or does not end");
    }
    return ORR_OK;
}

/* In the words of the simulator's reader (trace/et_read.c), so that a file has one fault whatever looks at it. */
static enum orr_status fail_length(const struct decoder *decoder, const uint8_t *at)
{
    size_t byte = (size_t)(at - decoder->begin);
    uint64_t length;
    const uint8_t *next = wire_varint(at, decoder->end, &length);
    if (next == NULL || next - at > WIRE_TAG_MAX) {
        return error_set(decoder->err, ORR_EINVAL,
                         "%s: byte %zu: a record's length does not end: the file is cut short or not a Chakra ET file",
                         decoder->name, byte);
    }
    return error_set(decoder->err, ORR_EINVAL,
                     "%s: byte %zu: a record of %" PRIu64
                     " bytes, but the file ends after %zu more: it is cut short or not a Chakra ET file",
                     decoder->name, byte, length, (size_t)(decoder->end - next));
}

static enum orr_status decode_next(struct decoder *decoder, const uint8_t **at)
{
    struct trace_document *document = decoder->document;
    uint64_t size;
    const uint8_t *record = wire_length(*at, decoder->end, &size);
    if (record == NULL) {
        return fail_length(decoder, *at);
    }
    bool first = document->metadata == NULL;
    ProtobufCMessage *message = NULL;
    enum orr_status status = decode_record(decoder, first ? WALK_METADATA : WALK_NODE, record, (size_t)size, &message);
    if (status != ORR_OK) {
        return status;
    }
    *at = record + size;
    if (first) {
        document->metadata = (Chakra__GlobalMetadata *)message;
        return ORR_OK;
    }
    if (!MEM_GROW(decoder->mem, document->nodes, decoder->capacity, document->node_count)) {
        return mem_error(decoder->mem, "a trace read whole", decoder->err);
    }
    document->nodes[document->node_count++] = (Chakra__Node *)message;
    return ORR_OK;
}

static enum orr_status decode_all(struct decoder *decoder)
{
    if (decoder->begin == decoder->end) {
        return error_set(decoder->err, ORR_EINVAL,
                         "%s: byte 0: the file is empty; a Chakra ET file starts with its metadata", decoder->name);
    }
    for (const uint8_t *at = decoder->begin; at < decoder->end;) {
        enum orr_status status = decode_next(decoder, &at);
        if (status != ORR_OK) {
            return status;
        }
    }
    return ORR_OK;
}

/* Moves the array of nodes, which grew outside, into the arena. */
static enum orr_status settle_nodes(struct decoder *decoder, enum orr_status status)
{
    struct trace_document *document = decoder->document;
    Chakra__Node **grown = document->nodes;
    if (status == ORR_OK) {
        size_t bytes = document->node_count * sizeof *grown;
        document->nodes = arena_alloc(&document->arena, bytes);
        if (document->nodes == NULL) {
            status = mem_error(decoder->mem, "a trace read whole", decoder->err);
        } else if (bytes > 0) {
            memcpy((void *)document->nodes, (const void *)grown, bytes);
        }
    }
    mem_free(decoder->mem, (void *)grown, decoder->capacity * sizeof *grown);
    return status;
}

enum orr_status trace_document_parse(const uint8_t *bytes, size_t size, const char *name, struct mem *mem,
                                     struct trace_document **document, struct orr_error *err)
{
    struct arena arena;
    arena_init(&arena, mem);
    struct trace_document *made = arena_zalloc(&arena, sizeof *made);
    if (made == NULL) {
        return mem_error(mem, "a trace read whole", err);
    }
    made->arena = arena;
    made->name = arena_strndup(&made->arena, name, strlen(name));
    if (made->name == NULL) {
        trace_document_free(made);
        return mem_error(mem, "a trace read whole", err);
    }
    struct decoder decoder = {
        .name = name, .begin = bytes, .end = bytes + size, .document = made, .mem = mem, .err = err};
    enum orr_status status = settle_nodes(&decoder, decode_all(&decoder));
    if (status != ORR_OK) {
        trace_document_free(made);
        const char *foreign = status == ORR_EINVAL ? trace_foreign(bytes, size) : NULL;
        return foreign == NULL ? status : error_set(err, ORR_EINVAL, "%s: byte 0: %s", name, foreign);
    }
    *document = made;
    return ORR_OK;
}

enum orr_status trace_document_read(const char *path, struct mem *mem, struct trace_document **document,
                                    struct orr_error *err)
{
    struct file_buffer file;
    file_buffer_init(&file, mem);
    enum orr_status status = file_buffer_read(&file, path, err);
    if (status == ORR_OK) {
        status = trace_document_parse(file.bytes, file.size, path, mem, document, err);
    }
    file_buffer_free(&file);
    return status;
}

void trace_document_free(struct trace_document *document)
{
    if (document != NULL) {
        struct arena arena = document->arena; /* it holds the struct that holds it */
        arena_free(&arena);
    }
}

/* ---- encoding ---- */

static size_t length_size(size_t length)
{
    size_t bytes = 1;
    for (; length >= 0x80; length >>= 7) {
        bytes++;
    }
    return bytes;
}

static uint8_t *put_record(const ProtobufCMessage *message, uint8_t *at)
{
    size_t length = protobuf_c_message_get_packed_size(message);
    for (; length >= 0x80; length >>= 7) {
        *at++ = (uint8_t)(length | 0x80);
    }
    *at++ = (uint8_t)length;
    return at + protobuf_c_message_pack(message, at);
}

static size_t record_size(const ProtobufCMessage *message)
{
    size_t length = protobuf_c_message_get_packed_size(message);
    return length_size(length) + length;
}

enum orr_status trace_document_encode(const Chakra__GlobalMetadata *metadata, Chakra__Node *const *nodes,
                                      uint32_t node_count, struct mem *mem, uint8_t **bytes, size_t *size,
                                      struct orr_error *err)
{
    size_t total = record_size(&metadata->base);
    for (uint32_t i = 0; i < node_count; i++) {
        total += record_size(&nodes[i]->base);
    }
    uint8_t *made = mem_alloc(mem, total);
    if (made == NULL) {
        return mem_error(mem, "encoding a trace", err);
    }
    uint8_t *at = put_record(&metadata->base, made);
    for (uint32_t i = 0; i < node_count; i++) {
        at = put_record(&nodes[i]->base, at);
    }
    *bytes = made;
    *size = total;
    return ORR_OK;
}

enum orr_status trace_document_write(const struct trace_document *document, const char *path, struct orr_error *err)
{
    uint8_t *bytes = NULL;
    size_t size = 0;
    struct mem *mem = document->arena.mem;
    enum orr_status status =
        trace_document_encode(document->metadata, document->nodes, document->node_count, mem, &bytes, &size, err);
    if (status != ORR_OK) {
        return status;
    }
    status = file_write(path, bytes, size, err);
    mem_free(mem, bytes, size);
    return status;
}

/* ---- attributes ---- */

const Chakra__Attribute *trace_document_attribute(const Chakra__Node *node, enum trace_attr which)
{
    for (size_t i = 0; i < node->n_attr; i++) {
        if (trace_attr_find(node->attr[i]->name, strlen(node->attr[i]->name)) == which) {
            return node->attr[i];
        }
    }
    return NULL;
}

static bool integer_is(int64_t value, uint64_t *bits, bool *negative)
{
    *bits = (uint64_t)value;
    *negative = value < 0;
    return true;
}

bool trace_document_integer(const Chakra__Attribute *attr, uint64_t *bits, bool *negative)
{
    *negative = false;
    switch ((uint32_t)attr->value_case) {
    case TRACE_VALUE_INT32:
        return integer_is(attr->int32_val, bits, negative);
    case TRACE_VALUE_INT64:
        return integer_is(attr->int64_val, bits, negative);
    case TRACE_VALUE_SINT32:
        return integer_is(attr->sint32_val, bits, negative);
    case TRACE_VALUE_SINT64:
        return integer_is(attr->sint64_val, bits, negative);
    case TRACE_VALUE_SFIXED32:
        return integer_is(attr->sfixed32_val, bits, negative);
    case TRACE_VALUE_SFIXED64:
        return integer_is(attr->sfixed64_val, bits, negative);
    case TRACE_VALUE_UINT32:
        *bits = attr->uint32_val;
        return true;
    case TRACE_VALUE_FIXED32:
        *bits = attr->fixed32_val;
        return true;
    case TRACE_VALUE_UINT64:
        *bits = attr->uint64_val;
        return true;
    case TRACE_VALUE_FIXED64:
        *bits = attr->fixed64_val;
        return true;
    case TRACE_VALUE_BOOL:
        *bits = attr->bool_val != 0;
        return true;
    default:
        return false;
    }
}

bool trace_document_is_host(const Chakra__Node *node)
{
    uint64_t bits = 0;
    bool negative = false;
    const Chakra__Attribute *attr = trace_document_attribute(node, TRACE_ATTR_IS_CPU_OP);
    return attr != NULL && trace_document_integer(attr, &bits, &negative) && bits != 0;
}
