/* SPDX-License-Identifier: Apache-2.0 */
/* One walk over a node's fields. What the simulator's reader would refuse as damage is refused here with the same
 * strictness, so that a tool never hands on a file that cannot be read; faults of content are kept as facts. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace/record.h"

struct scan {
    const struct record_reader *reader;
    const struct record *record;
    struct record_facts *facts;
    uint32_t seen;         /* bit enum trace_attr */
    uint32_t seen_amounts; /* bit enum record_amount */
    bool seen_step;
    const uint8_t *at; /* of what is wrong */
    const char *what;  /* is wrong; NULL with a false return: memory */
};

static bool record_scan_fail(struct scan *scan, const uint8_t *at, const char *what)
{
    scan->at = at;
    scan->what = what;
    return false;
}

void record_facts_init(struct record_facts *facts)
{
    *facts = (struct record_facts){0};
}

void record_facts_free(struct record_facts *facts, struct mem *mem)
{
    mem_free(mem, facts->data.ids, facts->data.capacity * sizeof *facts->data.ids);
    mem_free(mem, facts->ctrl.ids, facts->ctrl.capacity * sizeof *facts->ctrl.ids);
    record_facts_init(facts);
}

static bool add_ids(struct scan *scan, const struct wire_field *field, struct record_ids *list)
{
    bool packed = wire_field_type(field) == WIRE_BYTES;
    uint64_t most = list->count + (packed ? field->value : 1); /* an id takes at least a byte */
    if (most > list->capacity && !MEM_RESERVE(scan->reader->mem, list->ids, list->capacity, most)) {
        return record_scan_fail(scan, field->bytes, NULL);
    }
    if (!packed) {
        list->ids[list->count++] = field->value;
        return true;
    }
    const uint8_t *end = field->bytes + field->value;
    for (const uint8_t *at = field->bytes; at < end;) {
        const uint8_t *next = wire_varint(at, end, &list->ids[list->count]);
        if (next == NULL) {
            return record_scan_fail(scan, at, "in a list of dependencies: a number that does not end");
        }
        list->count++;
        at = next;
    }
    return true;
}

/* ---- attributes ---- */

static uint64_t mixed(uint64_t hash, uint64_t value)
{
    hash = (hash ^ value) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ hash >> 29;
}

static uint64_t text_number(struct record_text text)
{
    uint64_t hash = text.length;
    for (size_t i = 0; i < text.length; i++) {
        hash = mixed(hash, (uint8_t)text.text[i]);
    }
    return hash;
}

static void record_scan_take_group(struct record_facts *facts, const struct record_attribute *attr, uint64_t bits,
                                   bool negative)
{
    if (attr->kind == TRACE_VALUE_STRING) {
        facts->group = (struct record_text){(const char *)attr->value.bytes, (size_t)attr->value.value};
        return;
    }
    int length = negative ? snprintf(facts->group_number, sizeof facts->group_number, "%" PRId64, (int64_t)bits)
                          : snprintf(facts->group_number, sizeof facts->group_number, "%" PRIu64, bits);
    facts->group = (struct record_text){facts->group_number, (size_t)length};
}

static void take_known(struct scan *scan, const struct record_attribute *attr, enum trace_attr which)
{
    struct record_facts *facts = scan->facts;
    if ((scan->seen & 1u << which) != 0) {
        return; /* the first of a name counts */
    }
    scan->seen |= 1u << which;
    if (!record_attribute_fits(attr, which)) {
        facts->wrong |= 1u << which;
        return;
    }
    uint64_t bits = 0;
    bool negative = false;
    (void)record_attribute_integer(attr, &bits, &negative);
    facts->has |= 1u << which;
    facts->value[which] = bits;
    if (which == TRACE_ATTR_PG_NAME) {
        record_scan_take_group(facts, attr, bits, negative);
    }
}

static bool describes_group(struct record_text name)
{
    static const char *const words[] = {"pg_name", "pg_desc", "backend_config", "group_size", "ranks"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (record_text_is(name, words[i])) {
            return true;
        }
    }
    return false;
}

static void take_ours(struct scan *scan, const struct record_attribute *attr)
{
    struct record_facts *facts = scan->facts;
    uint64_t bits = 0;
    bool negative = false;
    bool integer = record_attribute_integer(attr, &bits, &negative);
    if (integer && record_text_is(attr->name, "step") && !scan->seen_step) {
        scan->seen_step = facts->has_step = true;
        facts->step = (int64_t)bits;
    }
    if (integer && !negative && record_text_is(attr->name, "parent") && !facts->has_parent) {
        facts->has_parent = true;
        facts->parent = bits;
    }
    bool stream = record_text_is(attr->name, "stream");
    if (stream || record_text_is(attr->name, "tid")) {
        struct record_text text = {(const char *)attr->value.bytes, (size_t)attr->value.value};
        uint64_t number = integer ? bits : attr->kind == TRACE_VALUE_STRING ? text_number(text) : 0;
        facts->lane += mixed(stream ? 1 : 2, number); /* a sum: the order of attributes does not matter */
    }
    for (unsigned i = 0; i < RECORD_AMOUNT_COUNT; i++) {
        if (record_text_is(attr->name, record_amount_name(i)) && (scan->seen_amounts & 1u << i) == 0) {
            scan->seen_amounts |= 1u << i;
            facts->has_amount |= integer && !negative ? 1u << i : 0;
            facts->amount[i] = bits;
        }
    }
    facts->has_group_attributes = facts->has_group_attributes || describes_group(attr->name);
}

static bool is_text(struct record_text text)
{
    return wire_utf8_valid((const uint8_t *)text.text, text.length);
}

static bool take_attribute(struct scan *scan, const struct wire_field *field)
{
    struct record_attribute attr;
    if (!record_attribute_read(field->bytes, (size_t)field->value, &attr)) {
        return record_scan_fail(scan, field->bytes,
                                "in an attribute: a field that is not well-formed or of the wrong wire type");
    }
    bool text = attr.kind != TRACE_VALUE_STRING || wire_utf8_valid(attr.value.bytes, attr.value.value);
    if (!text || !is_text(attr.name) || !is_text(attr.doc)) {
        return record_scan_fail(scan, field->bytes, "a text of an attribute is not UTF-8");
    }
    enum trace_attr which = trace_attr_find(attr.name.text, attr.name.length);
    if (which != TRACE_ATTR_COUNT) {
        take_known(scan, &attr, which);
    }
    if (which == TRACE_ATTR_COUNT || which == TRACE_ATTR_NUM_OPS || which == TRACE_ATTR_TENSOR_SIZE ||
        which == TRACE_ATTR_PG_NAME) {
        take_ours(scan, &attr);
    }
    return true;
}

/* ---- fields ---- */

/* That a walk ended where its message does. */
static bool record_scan_whole(struct scan *scan, const struct wire_walk *walk)
{
    return walk->at == walk->end || record_scan_fail(scan, walk->at, wire_field_fault(walk->at, walk->end));
}

static bool check_io(struct scan *scan, const struct wire_field *message)
{
    struct wire_walk walk = wire_walk(message->bytes, message->value);
    struct wire_field field;
    while (wire_next(&walk, &field)) {
        if (wire_field_number(&field) <= 3 &&
            (wire_field_type(&field) != WIRE_BYTES || !wire_utf8_valid(field.bytes, field.value))) {
            return record_scan_fail(scan, walk.from, "a field of a node's inputs or outputs is not a UTF-8 text");
        }
    }
    return record_scan_whole(scan, &walk);
}

static bool take_span(struct scan *scan, const struct wire_field *field)
{
    struct record_facts *facts = scan->facts;
    switch (wire_field_number(field)) {
    case RECORD_NAME:
        facts->name = (struct record_text){(const char *)field->bytes, (size_t)field->value};
        return is_text(facts->name) || record_scan_fail(scan, field->bytes, "a node's name is not UTF-8");
    case RECORD_CTRL:
        return add_ids(scan, field, &facts->ctrl);
    case RECORD_DATA:
        return add_ids(scan, field, &facts->data);
    case RECORD_INPUTS:
    case RECORD_OUTPUTS:
        return check_io(scan, field);
    case RECORD_ATTR:
        return take_attribute(scan, field);
    default:
        return wire_field_number(field) > RECORD_ATTR ||
               record_scan_fail(scan, field->bytes, "a number of a node is written as a span");
    }
}

static bool record_scan_take_number(struct scan *scan, const struct wire_field *field)
{
    struct record_facts *facts = scan->facts;
    switch (wire_field_number(field)) {
    case RECORD_ID:
        facts->id = field->value;
        return true;
    case RECORD_TYPE:
        facts->type = (int32_t)(uint32_t)field->value;
        return true;
    case RECORD_CTRL:
        return add_ids(scan, field, &facts->ctrl);
    case RECORD_DATA:
        return add_ids(scan, field, &facts->data);
    case RECORD_START:
        facts->start_us = field->value;
        return true;
    case RECORD_DURATION:
        facts->duration_us = field->value;
        return true;
    default:
        return wire_field_number(field) > RECORD_ATTR ||
               record_scan_fail(scan, field->bytes, "a text or message of a node is written as a number");
    }
}

static bool scan_fields(struct scan *scan)
{
    struct wire_walk walk = wire_walk(scan->record->bytes, scan->record->size);
    struct wire_field field;
    while (wire_next(&walk, &field)) {
        bool fine;
        if (wire_field_type(&field) == WIRE_BYTES) {
            fine = take_span(scan, &field);
        } else if (wire_field_type(&field) == WIRE_VARINT) {
            fine = record_scan_take_number(scan, &field);
        } else {
            fine = wire_field_number(&field) > RECORD_ATTR ||
                   record_scan_fail(scan, walk.from, "a field of a node is written as a fixed-size number");
        }
        if (!fine) {
            return false;
        }
    }
    return record_scan_whole(scan, &walk);
}

static bool record_scan_holds(struct record_text text, const char *word)
{
    return memmem(text.text, text.length, word, strlen(word)) != NULL;
}

enum orr_status record_scan(const struct record_reader *reader, const struct record *record, struct record_facts *facts,
                            struct orr_error *err)
{
    struct record_ids data = facts->data;
    struct record_ids ctrl = facts->ctrl;
    *facts = (struct record_facts){.name = {"", 0}, .group = {"", 0}, .data = data, .ctrl = ctrl};
    facts->data.count = facts->ctrl.count = 0;
    struct scan scan = {.reader = reader, .record = record, .facts = facts};
    if (!scan_fields(&scan)) {
        return scan.what == NULL ? mem_error(reader->mem, "the dependencies of a trace", err)
                                 : record_error(reader, record, scan.at, scan.what, err);
    }
    facts->has_group_attributes = facts->has_group_attributes || record_scan_holds(facts->name, "process_group");
    return ORR_OK;
}
