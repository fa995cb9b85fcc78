/* SPDX-License-Identifier: Apache-2.0 */
/* One walk over the node's keys fills a table, so that a node costs the same however many of its fields are asked for.
 * Keys are told apart by length first: hardly two that occur together share it. */
#include "convert/pytorch/host/fields.h"

#include <errno.h>
#include <stdlib.h>

static const struct {
    const char *key;
    uint8_t length, where;
} rows[HOST_FIELD_COUNT] = {
#define HOST_X(field, key, where) {key, sizeof(key) - 1, where},
    HOST_FIELDS(HOST_X)
#undef HOST_X
};

const char *host_field_key(enum host_field field)
{
    return rows[field].key;
}

static void host_fields_put(struct host_fields *fields, const struct json_item *key, const struct json_item *value,
                            unsigned where)
{
    for (size_t i = 0; i < HOST_FIELD_COUNT; i++) {
        if (rows[i].length == key->length && (rows[i].where & where) != 0 &&
            memcmp(rows[i].key, key->text, key->length) == 0) {
            fields->at[i] = value;
            return;
        }
    }
}

/* {"name": …, "type": …, "value": …}, walked once: there are ten of them a node. */
static void put_attr(struct host_fields *fields, const struct json_item *attr)
{
    const struct json_item *name = NULL;
    const struct json_item *value = NULL;
    if (attr->kind != JSON_ITEM_OBJECT) {
        return;
    }
    for (const struct json_item *key = json_item_first(attr); key != json_item_end(attr);) {
        const struct json_item *at = json_item_next(key);
        if (key->length == 4 && memcmp(key->text, "name", 4) == 0) {
            name = at;
        } else if (key->length == 5 && memcmp(key->text, "value", 5) == 0) {
            value = at;
        }
        key = json_item_next(at);
    }
    if (host_item_is_text(name) && value != NULL) {
        host_fields_put(fields, name, value, HOST_IN_ATTRS);
    }
}

void host_fields_find(const struct json_item *node, struct host_fields *fields)
{
    *fields = (struct host_fields){0};
    for (const struct json_item *key = json_item_first(node); key != json_item_end(node);) {
        const struct json_item *value = json_item_next(key);
        host_fields_put(fields, key, value, HOST_IN_NODE);
        key = json_item_next(value);
    }
    const struct json_item *attrs = fields->at[HOST_FIELD_ATTRS];
    if (attrs == NULL || attrs->kind != JSON_ITEM_ARRAY) {
        return;
    }
    for (const struct json_item *attr = json_item_first(attrs); attr != json_item_end(attrs);
         attr = json_item_next(attr)) {
        put_attr(fields, attr);
    }
}

/* Beyond int64_t: the text is copied because it is not terminated. */
static bool parse_big(const struct json_item *item, uint64_t *value)
{
    char text[24];
    if (item->length >= sizeof text || item->text[0] == '-') {
        return false;
    }
    memcpy(text, item->text, item->length);
    text[item->length] = '\0';
    errno = 0;
    *value = strtoull(text, NULL, 10);
    return errno == 0;
}

bool host_item_u64(const struct json_item *item, uint64_t *value)
{
    if (item == NULL || (item->kind != JSON_ITEM_INT && item->kind != JSON_ITEM_BIG)) {
        return false;
    }
    if (item->kind == JSON_ITEM_BIG) {
        return parse_big(item, value);
    }
    if (item->value.integer < 0) {
        return false;
    }
    *value = (uint64_t)item->value.integer;
    return true;
}

bool host_item_i64(const struct json_item *item, int64_t *value)
{
    uint64_t big = 0;
    if (item == NULL || (item->kind != JSON_ITEM_INT && item->kind != JSON_ITEM_BIG)) {
        return false;
    }
    if (item->kind == JSON_ITEM_BIG) {
        if (!parse_big(item, &big)) {
            return false;
        }
        *value = (int64_t)big;
        return true;
    }
    *value = item->value.integer;
    return true;
}

bool host_item_real(const struct json_item *item, double *value)
{
    if (item == NULL) {
        return false;
    }
    switch (item->kind) {
    case JSON_ITEM_INT:
        *value = (double)item->value.integer;
        return true;
    case JSON_ITEM_BIG:
    case JSON_ITEM_REAL:
        *value = item->value.real;
        return true;
    default:
        return false;
    }
}

static struct host_io io_of(const struct host_fields *fields, enum host_field values, enum host_field shapes,
                            enum host_field types)
{
    const struct json_item *item = fields->at[values];
    if (item != NULL && item->kind == JSON_ITEM_OBJECT) {
        return (struct host_io){json_item_member(item, "values"), json_item_member(item, "shapes"),
                                json_item_member(item, "types")};
    }
    return (struct host_io){item, fields->at[shapes], fields->at[types]};
}

struct host_io host_fields_inputs(const struct host_fields *fields)
{
    return io_of(fields, HOST_FIELD_INPUTS, HOST_FIELD_INPUT_SHAPES, HOST_FIELD_INPUT_TYPES);
}

struct host_io host_fields_outputs(const struct host_fields *fields)
{
    return io_of(fields, HOST_FIELD_OUTPUTS, HOST_FIELD_OUTPUT_SHAPES, HOST_FIELD_OUTPUT_TYPES);
}

const char *host_item_kind(const struct json_item *item)
{
    static const char *const texts[] = {
        [JSON_ITEM_NULL] = "null",     [JSON_ITEM_FALSE] = "false",  [JSON_ITEM_TRUE] = "true",
        [JSON_ITEM_INT] = "a number",  [JSON_ITEM_BIG] = "a number", [JSON_ITEM_REAL] = "a fraction",
        [JSON_ITEM_STRING] = "a text", [JSON_ITEM_ARRAY] = "a list", [JSON_ITEM_OBJECT] = "an object",
    };
    return item == NULL ? "nothing" : texts[item->kind];
}
