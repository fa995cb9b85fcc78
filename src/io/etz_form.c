/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A form is the metadata with its length, then for each node the zigzag distance of its id from the one before (of the
 * first: from the base), then its parts in their order, each behind a varint of (length << 2 | kind), and a 0:
 *
 *   0  an attribute that is a group's name: the one of this number, from 1, in the list of names
 *   1  bytes as they are
 *   2  a packed list of dependencies: its tag, then so many distances from the node's id
 *   3  an attribute that is a partner's rank: the bytes before the number, then its distance from the rank
 *
 * Lengths of records, lists and such attributes follow from what is in them and are not kept, so that ids may take
 * other numbers of bytes. Distances are taken modulo 2^64. The list of names has a length before each attribute.
 */
#include "io/etz_form.h"

#include <string.h>

#include "io/wire.h"

enum { NAMES_MOST = 64 }; /* that are looked through for each node; others are copied */
enum { PART_END = 0, PART_NAME = 0, PART_BYTES = 1, PART_DEPENDENCIES = 2, PART_PARTNER = 3 };

enum {
    TAG_ID = WIRE_TAG(1, WIRE_VARINT),
    TAG_CTRL = WIRE_TAG(4, WIRE_BYTES),
    TAG_DATA = WIRE_TAG(5, WIRE_BYTES),
    TAG_ATTRIBUTE = WIRE_TAG(10, WIRE_BYTES),
    TAG_ATTRIBUTE_NAME = WIRE_TAG(1, WIRE_BYTES),
};

void etz_bytes_put(struct etz_bytes *bytes, const void *more, size_t size)
{
    bytes->refused =
        bytes->refused || !mem_reserve_bytes(bytes->mem, (void **)&bytes->at, &bytes->capacity, bytes->size, size + 1);
    if (!bytes->refused && size > 0) {
        memcpy(bytes->at + bytes->size, more, size);
        bytes->size += size;
    }
}

void etz_bytes_number(struct etz_bytes *bytes, uint64_t value)
{
    uint8_t varint[WIRE_VARINT_MAX];
    etz_bytes_put(bytes, varint, wire_varint_put(varint, value));
}

void etz_bytes_free(struct etz_bytes *bytes)
{
    mem_free(bytes->mem, bytes->at, bytes->capacity);
    *bytes = (struct etz_bytes){.mem = bytes->mem};
}

void etz_form_init(struct etz_form *form, struct mem *mem)
{
    *form = (struct etz_form){.body = {.mem = mem}, .names = {.mem = mem}};
}

void etz_form_free(struct etz_form *form)
{
    etz_bytes_free(&form->body);
    etz_bytes_free(&form->names);
}

bool etz_form_refused(const struct etz_form *form)
{
    return form->body.refused || form->names.refused;
}

static void put_distance(struct etz_bytes *bytes, uint64_t distance)
{
    etz_bytes_number(bytes, distance << 1 ^ (0 - (distance >> 63)));
}

/* ---- into the form ---- */

/* The number of an attribute that is a name and a varint, if the name is that of a partner; NULL for any other. */
static const uint8_t *partner_value(const struct wire_field *attribute, uint64_t *value)
{
    const uint8_t *end = attribute->bytes + attribute->value;
    struct wire_field name;
    struct wire_field number = {0};
    const uint8_t *next = wire_field_read(attribute->bytes, end, &name);
    if (next == NULL || name.tag != TAG_ATTRIBUTE_NAME || name.value != 8 ||
        (memcmp(name.bytes, "comm_src", 8) != 0 && memcmp(name.bytes, "comm_dst", 8) != 0)) {
        return NULL;
    }
    next = wire_field_read(next, end, &number);
    *value = number.value;
    return next == end && wire_field_type(&number) == WIRE_VARINT ? number.bytes : NULL;
}

/* Whether an attribute is what a group is called. */
static bool is_group_name(const struct wire_field *attribute)
{
    struct wire_field name;
    return wire_field_read(attribute->bytes, attribute->bytes + attribute->value, &name) != NULL &&
           name.tag == TAG_ATTRIBUTE_NAME && name.value == 7 && memcmp(name.bytes, "pg_name", 7) == 0;
}

/* The attribute that is number `wanted` in the list, from 1; or the number of one that has these bytes: 0 where it is
 * not there, `*count` is how many are. */
static uint32_t find_name(const struct etz_bytes *names, uint32_t wanted, struct wire_field *attribute, uint32_t *count)
{
    const uint8_t *at = names->at;
    const uint8_t *end = names->size == 0 ? at : at + names->size;
    uint32_t number = 0;
    while (at < end) {
        uint64_t length = 0;
        at = wire_length(at, end, &length);
        if (at == NULL) {
            break;
        }
        number++;
        bool same = wanted == 0 && length == attribute->value && memcmp(at, attribute->bytes, (size_t)length) == 0;
        if (same || number == wanted) {
            attribute->bytes = at;
            attribute->value = length;
            return number;
        }
        at += length;
    }
    *count = number;
    return 0;
}

/* False where the list is full. */
static bool etz_put_name(struct etz_form *form, struct wire_field *attribute)
{
    uint32_t count = 0;
    uint32_t number = find_name(&form->names, 0, attribute, &count);
    if (number == 0 && count < NAMES_MOST) {
        etz_bytes_number(&form->names, attribute->value);
        etz_bytes_put(&form->names, attribute->bytes, (size_t)attribute->value);
        number = count + 1;
    }
    if (number > 0) {
        etz_bytes_number(&form->body, (uint64_t)number << 2 | PART_NAME);
    }
    return number > 0;
}

static bool put_dependencies(struct etz_bytes *form, const struct wire_field *list, uint64_t id)
{
    const uint8_t *end = list->bytes + list->value;
    uint64_t count = 0;
    uint64_t value = 0;
    for (const uint8_t *at = list->bytes; at < end; count++) {
        at = wire_varint(at, end, &value);
        if (at == NULL) {
            return false;
        }
    }
    etz_bytes_number(form, count << 2 | PART_DEPENDENCIES);
    etz_bytes_number(form, list->tag);
    for (const uint8_t *at = list->bytes; at < end;) {
        at = wire_varint(at, end, &value);
        put_distance(form, id - value);
    }
    return true;
}

static void etz_put_bytes(struct etz_bytes *form, const uint8_t *from, const uint8_t *to)
{
    if (to > from) {
        etz_bytes_number(form, (uint64_t)(to - from) << 2 | PART_BYTES);
        etz_bytes_put(form, from, (size_t)(to - from));
    }
}

/* A field that is not copied, in the form; false for any other. `*well` becomes false where it is not well-formed. */
static bool etz_put_field(struct etz_form *form, struct wire_field *field, uint64_t id, bool *well)
{
    uint64_t value = 0;
    if (field->tag == TAG_CTRL || field->tag == TAG_DATA) {
        *well = put_dependencies(&form->body, field, id);
        return true;
    }
    if (field->tag != TAG_ATTRIBUTE) {
        return false;
    }
    const uint8_t *number = partner_value(field, &value);
    if (number != NULL) {
        etz_bytes_number(&form->body, (uint64_t)(number - field->bytes) << 2 | PART_PARTNER);
        etz_bytes_put(&form->body, field->bytes, (size_t)(number - field->bytes));
        put_distance(&form->body, value - form->rank);
        form->by_rank = true;
        return true;
    }
    return is_group_name(field) && etz_put_name(form, field);
}

/* The parts behind the id. What is copied between two others is one part, and stands before the one that ends it. */
static bool etz_put_parts(struct etz_form *form, const uint8_t *at, const uint8_t *end, uint64_t id)
{
    const uint8_t *copied = at;
    bool well = true;
    while (at < end && well) {
        struct wire_field field;
        const uint8_t *next = wire_field_read(at, end, &field);
        if (next == NULL) {
            return false;
        }
        size_t before = form->body.size;
        etz_put_bytes(&form->body, copied, at);
        if (etz_put_field(form, &field, id, &well)) {
            copied = next;
        } else {
            form->body.size = before; /* copied with what follows */
        }
        at = next;
    }
    etz_put_bytes(&form->body, copied, end);
    etz_bytes_number(&form->body, PART_END);
    return well;
}

bool etz_form_make(const uint8_t *file, size_t size, struct etz_form *form)
{
    const uint8_t *end = file + size;
    uint64_t length = 0;
    uint64_t before = 0;
    bool first = true;
    const uint8_t *at = wire_length(file, end, &length);
    form->body.size = form->names.size = 0;
    form->base = 0;
    form->by_rank = false;
    if (at == NULL) {
        return false;
    }
    etz_bytes_number(&form->body, length);
    etz_bytes_put(&form->body, at, (size_t)length);
    for (at += length; at < end; at += length) {
        struct wire_field id = {0};
        at = wire_length(at, end, &length);
        if (at == NULL) {
            return false;
        }
        const uint8_t *parts = wire_field_read(at, at + length, &id);
        bool has_id = parts != NULL && id.tag == TAG_ID;
        id.value = has_id ? id.value : 0;
        form->base = first ? id.value : form->base;
        put_distance(&form->body, id.value - (first ? form->base : before));
        if (!etz_put_parts(form, has_id ? parts : at, at + length, id.value)) {
            return false;
        }
        before = id.value;
        first = false;
    }
    return !etz_form_refused(form);
}

/* ---- and back ---- */

struct undoing {
    const struct etz_form *form;
    const uint8_t *at, *end; /* what is left of its body */
    struct etz_bytes record; /* the one being made */
    struct etz_bytes list;
};

static bool etz_take_number(struct undoing *undoing, uint64_t *value)
{
    const uint8_t *next = wire_varint(undoing->at, undoing->end, value);
    undoing->at = next != NULL ? next : undoing->at;
    return next != NULL;
}

static bool take_distance(struct undoing *undoing, uint64_t *distance)
{
    uint64_t value = 0;
    bool taken = etz_take_number(undoing, &value);
    *distance = (uint64_t)wire_zigzag(value);
    return taken;
}

static bool etz_take_bytes(struct undoing *undoing, uint64_t length, struct etz_bytes *into)
{
    if (length > (uint64_t)(undoing->end - undoing->at)) {
        return false;
    }
    etz_bytes_put(into, undoing->at, (size_t)length);
    undoing->at += length;
    return true;
}

/* What is in the list becomes a field of the record. */
static void close_list(struct undoing *undoing, uint64_t tag)
{
    etz_bytes_number(&undoing->record, tag);
    etz_bytes_number(&undoing->record, undoing->list.size);
    etz_bytes_put(&undoing->record, undoing->list.at, undoing->list.size);
    undoing->record.refused = undoing->record.refused || undoing->list.refused;
    undoing->list.size = 0;
}

static bool etz_take_part(struct undoing *undoing, uint64_t head, uint64_t id)
{
    uint64_t distance = 0;
    uint64_t tag = 0;
    uint32_t unasked = 0;
    struct wire_field name = {0};
    switch (head & 3) {
    case PART_NAME:
        if (head >> 2 > NAMES_MOST || find_name(&undoing->form->names, (uint32_t)(head >> 2), &name, &unasked) == 0) {
            return false;
        }
        etz_bytes_put(&undoing->list, name.bytes, (size_t)name.value);
        close_list(undoing, TAG_ATTRIBUTE);
        return true;
    case PART_BYTES:
        return etz_take_bytes(undoing, head >> 2, &undoing->record);
    case PART_PARTNER:
        if (!etz_take_bytes(undoing, head >> 2, &undoing->list) || !take_distance(undoing, &distance)) {
            return false;
        }
        etz_bytes_number(&undoing->list, distance + undoing->form->rank);
        close_list(undoing, TAG_ATTRIBUTE);
        return true;
    case PART_DEPENDENCIES:
        if (!etz_take_number(undoing, &tag)) {
            return false;
        }
        for (uint64_t i = 0; i < head >> 2; i++) {
            if (!take_distance(undoing, &distance)) {
                return false;
            }
            etz_bytes_number(&undoing->list, id - distance);
        }
        close_list(undoing, tag);
        return true;
    default: /* there are four */
        return false;
    }
}

static bool etz_take_record(struct undoing *undoing, uint64_t id)
{
    uint64_t head = 0;
    undoing->record.size = 0;
    if (id != 0) {
        etz_bytes_number(&undoing->record, TAG_ID);
        etz_bytes_number(&undoing->record, id);
    }
    while (etz_take_number(undoing, &head)) {
        if (head == PART_END) {
            return !undoing->record.refused;
        }
        if (!etz_take_part(undoing, head, id)) {
            return false;
        }
    }
    return false;
}

bool etz_form_undo(const struct etz_form *form, struct etz_bytes *file)
{
    struct undoing undoing = {.form = form,
                              .at = form->body.at,
                              .end = form->body.size == 0 ? form->body.at : form->body.at + form->body.size,
                              .record = {.mem = file->mem},
                              .list = {.mem = file->mem}};
    uint64_t length = 0;
    uint64_t id = form->base;
    uint64_t distance = 0;
    bool whole = etz_take_number(&undoing, &length);
    if (whole) {
        etz_bytes_number(file, length);
        whole = etz_take_bytes(&undoing, length, file);
    }
    while (whole && undoing.at < undoing.end) {
        whole = take_distance(&undoing, &distance);
        id += distance;
        whole = whole && etz_take_record(&undoing, id);
        if (whole) {
            etz_bytes_number(file, undoing.record.size);
            etz_bytes_put(file, undoing.record.at, undoing.record.size);
        }
    }
    etz_bytes_free(&undoing.record);
    etz_bytes_free(&undoing.list);
    return whole && !file->refused;
}
