/* SPDX-License-Identifier: Apache-2.0 */
/* Attributes are read in two steps, because nothing says that a name stands before its value: first the message is
 * walked for its name and its (last) value, then the value is stored if the name means something to a simulation. */
#include <inttypes.h>
#include <string.h>

#include "trace/attr.h"
#include "trace/et_read.h"

struct et_integer {
    uint64_t bits;
    bool negative;
};

/* What most attributes never come to stays out of the functions that all go through. */
#if defined(__GNUC__) || defined(__clang__)
#define ET_RARE __attribute__((noinline, cold))
#else
#define ET_RARE
#endif

static const uint8_t value_wire[TRACE_VALUE_END] = {
#define TRACE_X(id, number, name, wire, integer) [number] = (wire), [(number) + 1] = WIRE_BYTES,
    TRACE_VALUES(TRACE_X)
#undef TRACE_X
};

/* For "%.*s": a message has no room for a hostile name. */
static int name_width(const struct et_attribute *attr)
{
    return attr->name_length < 64 ? (int)attr->name_length : 64;
}

/* A field of an attribute that is neither its name nor a value of the right wire type. */
ET_RARE static bool read_odd_field(struct et_read *read, const struct et_attribute *attr,
                                   const struct wire_field *field)
{
    uint32_t number = wire_field_number(field);
    if (number <= 2 && wire_field_type(field) != WIRE_BYTES) {
        return et_fail(read, field->bytes, "an attribute's field %" PRIu32 " is not a string", number);
    }
    if (number == 2) {
        return et_check_text(read, field, "an attribute's doc_string");
    }
    if (number < TRACE_VALUE_END) {
        return et_fail(read, field->bytes, "the %s value of attribute \"%.*s\" has wire type %" PRIu32 ", not %u",
                       trace_value_name(number), name_width(attr), attr->name, wire_field_type(field),
                       value_wire[number]);
    }
    return true;
}

bool et_attribute_check_name(struct et_read *read, const struct et_attribute *attr)
{
    return wire_utf8_valid((const uint8_t *)attr->name, attr->name_length) ||
           et_fail(read, (const uint8_t *)attr->name, "an attribute's name is not UTF-8");
}

bool et_attribute_read(struct et_read *read, const struct wire_field *message, struct et_attribute *attr)
{
    struct wire_walk walk = wire_walk(message->bytes, message->value);
    struct wire_field field;
    attr->name = "";
    attr->name_length = 0;
    attr->kind = TRACE_VALUE_NONE;
    attr->value.value = 0;
    attr->value.bytes = message->bytes;
    attr->at = message->bytes;
    while (wire_next(&walk, &field)) {
        uint32_t number = wire_field_number(&field);
        if (field.tag == WIRE_TAG(1, WIRE_BYTES)) {
            if (attr->name_length != 0 && !et_attribute_check_name(read, attr)) {
                return false; /* named twice: the last counts, both must be UTF-8 */
            }
            attr->name = (const char *)field.bytes;
            attr->name_length = (size_t)field.value;
        } else if (number > 2 && number < TRACE_VALUE_END && wire_field_type(&field) == value_wire[number]) {
            if (number == TRACE_VALUE_STRING && !et_check_text(read, &field, "an attribute's value")) {
                return false;
            }
            attr->kind = number;
            attr->value.value = field.value;
            attr->value.bytes = field.bytes;
        } else if (!read_odd_field(read, attr, &field)) {
            return false;
        }
    }
    return walk.at == walk.end || et_fail_field(read, walk.at, walk.end, "in an attribute");
}

uint64_t et_record_id(const struct wire_field *record)
{
    uint64_t id = 0;
    struct wire_walk walk = wire_walk(record->bytes, record->value);
    struct wire_field field;
    while (wire_next(&walk, &field)) {
        id = field.tag == WIRE_TAG(1, WIRE_VARINT) ? field.value : id;
    }
    return id;
}

ET_RARE static bool fail_attribute(struct et_read *read, const struct wire_field *record,
                                   const struct et_attribute *attr, enum trace_attr which, const char *found)
{
    return et_fail(read, attr->at, "node %" PRIu64 ": attribute %.*s is %s; it must be %s", et_record_id(record),
                   name_width(attr), attr->name, found, trace_attr_shape_text(trace_attr_shape(which)));
}

static inline struct et_integer from_signed(int64_t value)
{
    return (struct et_integer){.bits = (uint64_t)value, .negative = value < 0};
}

static inline bool attribute_integer(const struct et_attribute *attr, struct et_integer *integer)
{
    uint64_t raw = attr->value.value;
    switch (attr->kind) {
    case TRACE_VALUE_BOOL:
        *integer = (struct et_integer){.bits = raw != 0};
        return true;
    case TRACE_VALUE_UINT64:
    case TRACE_VALUE_FIXED64:
        *integer = (struct et_integer){.bits = raw};
        return true;
    case TRACE_VALUE_UINT32:
    case TRACE_VALUE_FIXED32:
        *integer = (struct et_integer){.bits = raw & UINT32_MAX};
        return true;
    case TRACE_VALUE_INT64:
    case TRACE_VALUE_SFIXED64:
        *integer = from_signed((int64_t)raw);
        return true;
    case TRACE_VALUE_INT32:
    case TRACE_VALUE_SFIXED32:
        *integer = from_signed((int32_t)(uint32_t)raw);
        return true;
    case TRACE_VALUE_SINT32:
        *integer = from_signed(wire_zigzag(raw & UINT32_MAX));
        return true;
    case TRACE_VALUE_SINT64:
        *integer = from_signed(wire_zigzag(raw));
        return true;
    default:
        return false;
    }
}

static void add_flag(struct trace_node *node, bool set, bool *too_many)
{
    if (node->involved_dim_count == 64) {
        *too_many = true;
        return;
    }
    node->involved_dims |= (uint64_t)set << node->involved_dim_count;
    node->involved_dim_count++;
}

/* One packed run of a list whose elements have this wire type. */
static bool read_packed_flags(const struct wire_field *run, uint8_t wire, struct trace_node *node, bool *too_many)
{
    const uint8_t *at = run->bytes;
    const uint8_t *end = at + run->value;
    while (at < end && !*too_many) {
        uint64_t value;
        if (wire == WIRE_VARINT) {
            at = wire_varint(at, end, &value);
            if (at == NULL) {
                return false;
            }
        } else {
            size_t width = wire == WIRE_FIXED32 ? 4 : 8;
            if ((size_t)(end - at) < width) {
                return false;
            }
            value = wire == WIRE_FIXED32 ? wire_fixed32(at) : wire_fixed64(at);
            at += width;
        }
        add_flag(node, value != 0, too_many);
    }
    return true;
}

ET_RARE static bool read_flags(struct et_read *read, const struct wire_field *record, const struct et_attribute *attr,
                               struct trace_node *node)
{
    if (attr->kind < TRACE_VALUE_INT32_LIST || attr->kind >= TRACE_VALUE_END ||
        !trace_value_is_integer_list(attr->kind)) {
        return fail_attribute(read, record, attr, TRACE_ATTR_INVOLVED_DIM, trace_value_name(attr->kind));
    }
    uint8_t wire = value_wire[attr->kind - 1];
    bool too_many = false;
    struct wire_walk walk = wire_walk(attr->value.bytes, attr->value.value);
    struct wire_field field;
    while (wire_next(&walk, &field)) {
        if (field.tag == WIRE_TAG(1, wire)) {
            add_flag(node, field.value != 0, &too_many);
        } else if (wire_field_number(&field) == 1 &&
                   (wire_field_type(&field) != WIRE_BYTES || !read_packed_flags(&field, wire, node, &too_many))) {
            return et_fail(read, walk.from, "attribute involved_dim: a damaged list");
        }
        if (too_many) {
            return fail_attribute(read, record, attr, TRACE_ATTR_INVOLVED_DIM, "longer");
        }
    }
    if (walk.at != walk.end) {
        return et_fail_field(read, walk.at, walk.end, "in attribute involved_dim");
    }
    node->has |= TRACE_HAS_INVOLVED_DIM;
    return true;
}

ET_RARE static bool read_group(struct et_read *read, const struct wire_field *record, const struct et_attribute *attr,
                               struct trace_node *node)
{
    if (attr->kind == TRACE_VALUE_STRING) {
        return et_keep_text(read, attr->value.bytes, (size_t)attr->value.value, &node->group);
    }
    struct et_integer integer;
    if (!attribute_integer(attr, &integer)) {
        return fail_attribute(read, record, attr, TRACE_ATTR_PG_NAME, trace_value_name(attr->kind));
    }
    char text[24];
    int length = integer.negative ? snprintf(text, sizeof text, "%" PRId64, (int64_t)integer.bits)
                                  : snprintf(text, sizeof text, "%" PRIu64, integer.bits);
    return et_keep_text(read, (const uint8_t *)text, (size_t)length, &node->group);
}

ET_RARE static bool fail_negative(struct et_read *read, const struct wire_field *record,
                                  const struct et_attribute *attr, enum trace_attr which, struct et_integer integer)
{
    char found[24];
    (void)snprintf(found, sizeof found, "%" PRId64, (int64_t)integer.bits);
    return fail_attribute(read, record, attr, which, found);
}

static int32_t low32(uint64_t bits)
{
    return (int32_t)(uint32_t)bits;
}

/* Ranks, tags and priorities are 32-bit in ASTRA-sim and are cut to that as its casts do (spec analytical §1). A type
 * is not: a cut number could name another collective, so one that does not fit becomes one that does not exist. */
static void store_integer(struct trace_node *node, enum trace_attr which, struct et_integer integer)
{
    int64_t value = (int64_t)integer.bits;
    switch (which) {
    case TRACE_ATTR_IS_CPU_OP:
        node->is_cpu_op = integer.bits != 0;
        node->has |= TRACE_HAS_IS_CPU_OP;
        break;
    case TRACE_ATTR_COMM_TYPE:
        node->comm_type = value >= INT32_MIN && value <= INT32_MAX ? (int32_t)value : INT32_MIN;
        node->has |= TRACE_HAS_COMM_TYPE;
        break;
    case TRACE_ATTR_COMM_SIZE:
        node->comm_bytes = integer.bits;
        node->has |= TRACE_HAS_COMM_SIZE;
        break;
    case TRACE_ATTR_COMM_SRC:
        node->comm_src = low32(integer.bits);
        node->has |= TRACE_HAS_COMM_SRC;
        break;
    case TRACE_ATTR_COMM_DST:
        node->comm_dst = low32(integer.bits);
        node->has |= TRACE_HAS_COMM_DST;
        break;
    case TRACE_ATTR_COMM_TAG:
        node->comm_tag = low32(integer.bits);
        node->has |= TRACE_HAS_COMM_TAG;
        break;
    case TRACE_ATTR_COMM_PRIORITY:
        node->comm_priority = low32(integer.bits);
        break;
    case TRACE_ATTR_TENSOR_SIZE:
        node->tensor_bytes = integer.bits;
        node->has |= TRACE_HAS_TENSOR_SIZE;
        break;
    case TRACE_ATTR_NUM_OPS:
        node->num_ops = integer.bits;
        node->has |= TRACE_HAS_NUM_OPS;
        break;
    case TRACE_ATTR_ROOT:
        node->root = low32(integer.bits);
        node->has |= TRACE_HAS_ROOT;
        break;
    case TRACE_ATTR_INVOLVED_DIM:
    case TRACE_ATTR_PG_NAME:
    case TRACE_ATTR_COUNT:
        break;
    }
}

/* Which attribute tells a node's cycles where there are several: 3 before 2 before 1; 0: this one does not. */
static uint32_t cycles_rank(const char *name, size_t length)
{
    switch (length) {
    case 6:
        return memcmp(name, "cycles", 6) == 0;
    case 11:
        return memcmp(name, "exec_cycles", 11) == 0 ? 2 : 0;
    case 14:
        return memcmp(name, "compute_cycles", 14) == 0 ? 3 : 0;
    default:
        return 0;
    }
}

/* Cycles matter to few runs (orrery.h, ORR_COMPUTE_CYCLES): a value that is none is passed over, and the run that needs
 * it will say which node has none. */
static void take_cycles(struct et_read *read, const struct et_attribute *attr)
{
    uint32_t rank = cycles_rank(attr->name, attr->name_length);
    struct et_integer integer;
    if (rank > read->cycles_from && attribute_integer(attr, &integer) && !integer.negative) {
        read->cycles_from = rank;
        read->cycles = integer.bits;
    }
}

/* Where a node ran, as an import writes it; values that are no numbers are another tool's and say nothing. */
static void take_lane(struct et_read *read, const struct et_attribute *attr)
{
    struct et_lanes *lanes = &read->lanes;
    struct et_integer integer;
    bool is_stream = attr->name_length == 6 && memcmp(attr->name, "stream", 6) == 0;
    bool is_thread = attr->name_length == 3 && memcmp(attr->name, "tid", 3) == 0;
    bool is_part = attr->name_length == 4 && memcmp(attr->name, "lane", 4) == 0;
    if ((!is_stream && !is_thread && !is_part) || !attribute_integer(attr, &integer)) {
        return;
    }
    if (is_part) {
        lanes->said.part = (int64_t)integer.bits;
    } else if (is_stream || !lanes->told) {
        lanes->said.number = (int64_t)integer.bits;
        lanes->said.is_stream = is_stream;
        lanes->told = true;
    }
}

WIRE_INLINE bool apply(struct et_read *read, const struct wire_field *record, const struct et_attribute *attr,
                       struct trace_node *node)
{
    enum trace_attr which = trace_attr_find(attr->name, attr->name_length);
    if (which == TRACE_ATTR_COUNT) {
        take_cycles(read, attr);
        take_lane(read, attr);
        return et_attribute_check_name(read, attr); /* a name we know is UTF-8 */
    }
    if ((read->seen & UINT32_C(1) << which) != 0) {
        return true;
    }
    read->seen |= UINT32_C(1) << which;
    if (which == TRACE_ATTR_INVOLVED_DIM) {
        return read_flags(read, record, attr, node);
    }
    if (which == TRACE_ATTR_PG_NAME) {
        return read_group(read, record, attr, node);
    }
    struct et_integer integer;
    if (!attribute_integer(attr, &integer)) {
        return fail_attribute(read, record, attr, which, trace_value_name(attr->kind));
    }
    if (integer.negative && trace_attr_shape(which) == TRACE_SHAPE_SIZE) {
        return fail_negative(read, record, attr, which, integer);
    }
    store_integer(node, which, integer);
    return true;
}

/* The form every writer uses, a short name and then a number, and nothing else: false when it is any other, and
 * et_attribute_read must look. */
WIRE_INLINE bool read_plain(const uint8_t *at, const uint8_t *end, struct et_attribute *attr)
{
    if (end - at < 5 || at[0] != WIRE_TAG(1, WIRE_BYTES) || at[1] > end - at - 4) {
        return false;
    }
    attr->at = at;
    attr->name = (const char *)at + 2;
    attr->name_length = at[1];
    at += 2 + at[1];
    uint32_t tag = *at++;
    if (tag >= 0x80) {
        tag = (tag & 0x7f) | (uint32_t)*at++ << 7;
    }
    attr->kind = tag >> 3;
    attr->value.bytes = at;
    attr->value.value = 0;
    return (tag & 7) == WIRE_VARINT && attr->kind > 2 && attr->kind < TRACE_VALUE_END &&
           value_wire[attr->kind] == WIRE_VARINT && wire_varint(at, end, &attr->value.value) == end;
}

ET_RARE static bool take_any(struct et_read *read, const struct wire_field *record, const uint8_t *at,
                             const uint8_t *end, struct trace_node *node)
{
    struct et_attribute attr;
    const struct wire_field message = {.value = (uint64_t)(end - at), .bytes = at};
    return et_attribute_read(read, &message, &attr) && apply(read, record, &attr, node);
}

bool et_attribute_take(struct et_read *read, const struct wire_field *record, const uint8_t *at, const uint8_t *end,
                       struct trace_node *node)
{
    struct et_attribute attr;
    return read_plain(at, end, &attr) ? apply(read, record, &attr, node) : take_any(read, record, at, end, node);
}
