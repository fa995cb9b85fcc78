/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A message's fields are put one by one; a message inside another is made in a buffer of its own first, because its
 * length stands before it. Two such buffers are enough: node, attribute, list. Keys nobody knows are an error here and
 * not passed over: in a format that promises to bring everything back, an unread key is a loss.
 */
#include "convert/et_json_record.h"

#include <stdio.h>

#include "convert/et_json_value.h"
#include "io/value.h"
#include "trace/attr.h"
#include "trace/graph.h"

enum { KEY_ROOM = 48 };

void et_json_encoder_init(struct et_json_encoder *encoder, struct mem *mem, bool protobuf_names)
{
    *encoder = (struct et_json_encoder){.mem = mem, .protobuf_names = protobuf_names};
}

void et_json_encoder_free(struct et_json_encoder *encoder)
{
    mem_free(encoder->mem, encoder->record.data, encoder->record.capacity);
    for (size_t i = 0; i < 2; i++) {
        mem_free(encoder->mem, encoder->part[i].data, encoder->part[i].capacity);
    }
    *encoder = (struct et_json_encoder){.mem = encoder->mem};
}

/* ---- messages --------------------------------------------------------------------------------------------------- */

struct names {
    const char *ours, *protobuf;
};

static const char *et_json_record_name_of(const struct et_json_encoder *encoder, struct names names)
{
    return encoder->protobuf_names ? names.protobuf : names.ours;
}

static const struct json_item *et_json_record_member(const struct et_json_encoder *encoder,
                                                     const struct json_item *object, struct names names)
{
    const char *key = et_json_record_name_of(encoder, names);
    return key == NULL ? NULL : json_item_member(object, key);
}

/* Whether every key of an object is among `known`. */
static bool check_keys(struct et_json_encoder *encoder, const struct json_item *object, const char *what,
                       const struct names *known, size_t count)
{
    if (object->kind != JSON_ITEM_OBJECT) {
        return et_json_refuse(encoder, what, "an object");
    }
    for (const struct json_item *key = json_item_first(object); key != json_item_end(object);
         key = json_item_next(json_item_next(key))) {
        bool found = false;
        for (size_t i = 0; i < count && !found; i++) {
            const char *name = et_json_record_name_of(encoder, known[i]);
            found = name != NULL && json_item_is(key, name);
        }
        if (!found) {
            char text[KEY_ROOM];
            char shown[KEY_ROOM];
            (void)snprintf(text, sizeof text, "%.*s", (int)(key->length < KEY_ROOM ? key->length : KEY_ROOM),
                           key->text);
            (void)snprintf(encoder->problem, sizeof encoder->problem, "unknown key \"%s\" in %s",
                           io_text_printable(text, shown, sizeof shown), what);
            return false;
        }
    }
    return true;
}

static bool put_string_member(struct et_json_encoder *encoder, struct et_json_bytes *out, uint32_t field,
                              const struct json_item *object, struct names names)
{
    const struct json_item *item = et_json_record_member(encoder, object, names);
    if (item == NULL || (item->kind == JSON_ITEM_STRING && item->length == 0)) {
        return true;
    }
    return item->kind == JSON_ITEM_STRING ? et_json_put_block(encoder, out, field, item->text, item->length)
                                          : et_json_refuse(encoder, et_json_record_name_of(encoder, names), "a text");
}

static bool et_json_record_put_unknown(struct et_json_encoder *encoder, struct et_json_bytes *out,
                                       const struct json_item *object)
{
    const struct json_item *item = encoder->protobuf_names ? NULL : json_item_member(object, "unknown");
    return item == NULL || et_json_put_hex(encoder, out, item);
}

/* Field of protobuf's name for a value: "int64Val" is 9, "int64List" 10; 0 when it is none. */
static uint32_t protobuf_value_field(const struct json_item *key)
{
    static const struct {
        const char *name;
        uint32_t field;
    } kinds[] = {
#define TRACE_X(id, number, name, wire, integer) {name, number},
        TRACE_VALUES(TRACE_X)
#undef TRACE_X
    };
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        char name[KEY_ROOM];
        (void)snprintf(name, sizeof name, "%sVal", kinds[i].name);
        if (json_item_is(key, name)) {
            return kinds[i].field;
        }
        (void)snprintf(name, sizeof name, "%sList", kinds[i].name);
        if (json_item_is(key, name)) {
            return kinds[i].field + 1;
        }
    }
    return 0;
}

static bool find_protobuf_value(struct et_json_encoder *encoder, const struct json_item *attr, uint32_t *field,
                                const struct json_item **value)
{
    for (const struct json_item *key = json_item_first(attr); key != json_item_end(attr);
         key = json_item_next(json_item_next(key))) {
        uint32_t found = protobuf_value_field(key);
        if (found != 0) {
            *field = found;
            *value = json_item_next(key);
        } else if (!json_item_is(key, "name") && !json_item_is(key, "docString")) {
            return et_json_refuse(encoder, "a key of an attribute", "name, docString or a kind of value");
        }
    }
    if (*field != 0 && *field % 2 == 0) { /* a list is a message of its own */
        const struct json_item *values = json_item_member(*value, "values");
        if ((*value)->kind != JSON_ITEM_OBJECT) {
            return et_json_refuse(encoder, "the value of a list", "an object with \"values\"");
        }
        static const struct json_item empty = {.kind = JSON_ITEM_ARRAY, .span = 1};
        *value = values == NULL ? &empty : values;
    }
    return true;
}

static bool find_our_value(struct et_json_encoder *encoder, const struct json_item *attr, uint32_t *field,
                           const struct json_item **value)
{
    static const struct names known[] = {
        {"name", NULL}, {"doc", NULL}, {"kind", NULL}, {"value", NULL}, {"unknown", NULL}};
    const struct json_item *kind = json_item_member(attr, "kind");
    if (!check_keys(encoder, attr, "an attribute", known, sizeof known / sizeof known[0])) {
        return false;
    }
    *value = json_item_member(attr, "value");
    if (kind == NULL || kind->kind != JSON_ITEM_STRING) {
        return et_json_refuse(encoder, "kind", "a text");
    }
    if (json_item_is(kind, "no value")) {
        return true;
    }
    for (uint32_t i = TRACE_VALUE_DOUBLE; i < TRACE_VALUE_END; i++) {
        if (json_item_is(kind, trace_value_name(i))) {
            *field = i;
            return *value != NULL || et_json_refuse(encoder, "value", "there, though the attribute has a kind");
        }
    }
    return et_json_refuse(encoder, "kind", "a kind of value such as \"int64\" or \"bool list\"");
}

static bool et_json_record_put_attribute(struct et_json_encoder *encoder, struct et_json_bytes *out, uint32_t number,
                                         const struct json_item *attr)
{
    struct et_json_bytes *part = &encoder->part[0];
    uint32_t field = 0;
    const struct json_item *value = NULL;
    part->size = 0;
    if (attr->kind != JSON_ITEM_OBJECT) {
        return et_json_refuse(encoder, "an attribute", "an object");
    }
    if (!(encoder->protobuf_names ? find_protobuf_value : find_our_value)(encoder, attr, &field, &value) ||
        !put_string_member(encoder, part, 1, attr, (struct names){"name", "name"}) ||
        !put_string_member(encoder, part, 2, attr, (struct names){"doc", "docString"}) ||
        (field != 0 && !et_json_put_value(encoder, part, field, value)) ||
        !et_json_record_put_unknown(encoder, part, attr)) {
        return false;
    }
    const struct json_item *name = json_item_member(attr, "name");
    uint64_t bits = 0;
    bool negative = false;
    if (name != NULL && json_item_is(name, "comm_size") && field != 0 && et_json_read_bits(value, &bits, &negative)) {
        encoder->comm_bytes = negative ? 0 : bits;
    }
    return et_json_put_block(encoder, out, number, part->data, part->size);
}

static bool et_json_record_put_attributes(struct et_json_encoder *encoder, uint32_t number,
                                          const struct json_item *object)
{
    const struct json_item *list = et_json_record_member(encoder, object, (struct names){"attributes", "attr"});
    if (list == NULL) {
        return true;
    }
    if (list->kind != JSON_ITEM_ARRAY) {
        return et_json_refuse(encoder, "the attributes", "an array");
    }
    for (const struct json_item *item = json_item_first(list); item != json_item_end(list);
         item = json_item_next(item)) {
        if (!et_json_record_put_attribute(encoder, &encoder->record, number, item)) {
            return false;
        }
    }
    return true;
}

bool et_json_encode_metadata(struct et_json_encoder *encoder, const struct json_item *item)
{
    static const struct names known[] = {{"version", "version"}, {"attributes", "attr"}, {"unknown", NULL}};
    encoder->record.size = 0;
    return check_keys(encoder, item, "the metadata", known, sizeof known / sizeof known[0]) &&
           put_string_member(encoder, &encoder->record, 1, item, (struct names){"version", "version"}) &&
           et_json_record_put_attributes(encoder, 2, item) &&
           et_json_record_put_unknown(encoder, &encoder->record, item);
}

/* ---- nodes ------------------------------------------------------------------------------------------------------ */

static bool put_u64_member(struct et_json_encoder *encoder, uint32_t field, const struct json_item *object,
                           struct names names)
{
    const struct json_item *item = et_json_record_member(encoder, object, names);
    uint64_t bits = 0;
    bool negative = false;
    if (item == NULL) {
        return true;
    }
    if (!et_json_read_bits(item, &bits, &negative) || negative) {
        return et_json_refuse(encoder, et_json_record_name_of(encoder, names), "a whole number from 0 to 2^64-1");
    }
    return bits == 0 || (et_json_put_tag(encoder, &encoder->record, field, ET_JSON_WIRE_VARINT) &&
                         et_json_put_varint(encoder, &encoder->record, bits));
}

static bool put_deps(struct et_json_encoder *encoder, uint32_t field, const struct json_item *object,
                     struct names names)
{
    const struct json_item *list = et_json_record_member(encoder, object, names);
    struct et_json_bytes *packed = &encoder->part[0];
    packed->size = 0;
    if (list == NULL) {
        return true;
    }
    if (list->kind != JSON_ITEM_ARRAY) {
        return et_json_refuse(encoder, et_json_record_name_of(encoder, names), "an array");
    }
    for (const struct json_item *item = json_item_first(list); item != json_item_end(list);
         item = json_item_next(item)) {
        uint64_t bits = 0;
        bool negative = false;
        if (!et_json_read_bits(item, &bits, &negative) || negative) {
            return et_json_refuse(encoder, et_json_record_name_of(encoder, names), "an array of ids");
        }
        if (!et_json_put_varint(encoder, packed, bits)) {
            return false;
        }
    }
    return packed->size == 0 || et_json_put_block(encoder, &encoder->record, field, packed->data, packed->size);
}

/* A name with or without protobuf's "_NODE", or the number of a type without one. */
static bool put_type(struct et_json_encoder *encoder, const struct json_item *node)
{
    const struct json_item *item = json_item_member(node, "type");
    uint64_t bits = 0;
    bool negative = false;
    bool found = item == NULL;
    for (uint32_t i = 0; item != NULL && i < TRACE_NODE_TYPES && !found; i++) {
        char name[KEY_ROOM];
        (void)snprintf(name, sizeof name, "%s_NODE", trace_node_type_name(i));
        bits = i;
        found = json_item_is(item, trace_node_type_name(i)) || json_item_is(item, name);
    }
    if (!found && item->kind == JSON_ITEM_INT) {
        found = et_json_read_bits(item, &bits, &negative) && item->value.integer >= INT32_MIN &&
                item->value.integer <= INT32_MAX;
    }
    if (!found) {
        return et_json_refuse(encoder, "type", "a node type such as \"COMP\" or \"COMM_COLL\"");
    }
    encoder->type = bits;
    return bits == 0 || (et_json_put_tag(encoder, &encoder->record, 3, ET_JSON_WIRE_VARINT) &&
                         et_json_put_varint(encoder, &encoder->record, bits));
}

static bool et_json_record_put_io(struct et_json_encoder *encoder, uint32_t field, const struct json_item *node,
                                  const char *key)
{
    static const struct names known[] = {
        {"values", "values"}, {"shapes", "shapes"}, {"types", "types"}, {"unknown", NULL}};
    struct et_json_bytes *part = &encoder->part[0];
    const struct json_item *item = json_item_member(node, key);
    part->size = 0;
    if (item == NULL) {
        return true;
    }
    if (!check_keys(encoder, item, key, known, sizeof known / sizeof known[0])) {
        return false;
    }
    for (uint32_t i = 0; i < 3; i++) {
        if (!put_string_member(encoder, part, i + 1, item, known[i])) {
            return false;
        }
    }
    return et_json_record_put_unknown(encoder, part, item) &&
           et_json_put_block(encoder, &encoder->record, field, part->data, part->size);
}

bool et_json_encode_node(struct et_json_encoder *encoder, const struct json_item *item)
{
    static const struct names known[] = {
        {"id", "id"},
        {"name", "name"},
        {"type", "type"},
        {"ctrl_deps", "ctrlDeps"},
        {"data_deps", "dataDeps"},
        {"start_us", "startTimeMicros"},
        {"duration_us", "durationMicros"},
        {"inputs", "inputs"},
        {"outputs", "outputs"},
        {"attributes", "attr"},
        {"unknown", NULL},
    };
    encoder->record.size = 0;
    encoder->type = 0;
    encoder->comm_bytes = 0;
    return check_keys(encoder, item, "a node", known, sizeof known / sizeof known[0]) &&
           put_u64_member(encoder, 1, item, known[0]) &&
           put_string_member(encoder, &encoder->record, 2, item, known[1]) && put_type(encoder, item) &&
           put_deps(encoder, 4, item, known[3]) && put_deps(encoder, 5, item, known[4]) &&
           put_u64_member(encoder, 6, item, known[5]) && put_u64_member(encoder, 7, item, known[6]) &&
           et_json_record_put_io(encoder, 8, item, "inputs") && et_json_record_put_io(encoder, 9, item, "outputs") &&
           et_json_record_put_attributes(encoder, 10, item) &&
           et_json_record_put_unknown(encoder, &encoder->record, item);
}
