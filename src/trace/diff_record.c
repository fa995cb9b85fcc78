/* SPDX-License-Identifier: Apache-2.0 */
/* Attributes are matched by name and how many of that name came before, so that their order does not matter. A node has
 * a dozen at most, so looking each one up is quick; one with more than ATTRIBUTES is compared as far as that. */
#include "trace/diff_record.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/plain.h"

enum { ATTRIBUTES = 256, TEXT = 160 };

bool diff_duration(const struct diff_options *options, uint64_t a, uint64_t b)
{
    uint64_t apart = a > b ? a - b : b - a;
    return apart > 0 && (double)apart > options->tolerance * (double)a;
}

void diff_tell(struct diff_pair *pair, const char *what, const char *before, const char *after)
{
    pair->any = true;
    pair->item.what = what;
    pair->item.before = before;
    pair->item.after = after;
    pair->options->item(pair->options->context, &pair->item);
}

static void copy_text(char text[TEXT], struct record_text from)
{
    int length = from.length > TEXT - 20 ? TEXT - 20 : (int)from.length;
    (void)snprintf(text, TEXT, "\"%.*s%s\"", length, from.text, (size_t)length < from.length ? "..." : "");
}

static void value_text(const struct record_attribute *attr, char text[TEXT])
{
    uint64_t bits = 0;
    bool negative = false;
    const char *kind = trace_value_name(attr->kind);
    uint32_t word = (uint32_t)attr->value.value;
    float real = 0;
    double wide = 0;
    if (record_attribute_integer(attr, &bits, &negative)) {
        (void)(negative ? snprintf(text, TEXT, "%s %" PRId64, kind, (int64_t)bits)
                        : snprintf(text, TEXT, "%s %" PRIu64, kind, bits));
        return;
    }
    switch (attr->kind) {
    case TRACE_VALUE_DOUBLE:
        memcpy(&wide, &attr->value.value, sizeof wide);
        (void)plain_snprintf(text, TEXT, "%s %.17g", kind, wide);
        return;
    case TRACE_VALUE_FLOAT:
        memcpy(&real, &word, sizeof real);
        (void)plain_snprintf(text, TEXT, "%s %.9g", kind, (double)real);
        return;
    case TRACE_VALUE_STRING:
        copy_text(text, (struct record_text){(const char *)attr->value.bytes, (size_t)attr->value.value});
        return;
    case TRACE_VALUE_NONE:
        (void)snprintf(text, TEXT, "%s", kind);
        return;
    default:
        (void)snprintf(text, TEXT, "%s of %" PRIu64 " bytes", kind, attr->value.value);
        return;
    }
}

/* ---- attributes ---- */

struct attributes {
    struct record_attribute list[ATTRIBUTES];
    bool matched[ATTRIBUTES];
    uint32_t count;
};

static void diff_record_collect(const struct record *record, uint32_t number, struct attributes *attributes)
{
    struct wire_walk walk = wire_walk(record->bytes, record->size);
    struct wire_field field;
    attributes->count = 0;
    while (attributes->count < ATTRIBUTES && wire_next(&walk, &field)) {
        if (field.tag == WIRE_TAG(number, WIRE_BYTES) &&
            record_attribute_read(field.bytes, (size_t)field.value, &attributes->list[attributes->count])) {
            attributes->matched[attributes->count++] = false;
        }
    }
}

static bool diff_record_same_text(struct record_text a, struct record_text b)
{
    return a.length == b.length && memcmp(a.text, b.text, a.length) == 0;
}

static bool same_value(const struct record_attribute *a, const struct record_attribute *b)
{
    if (a->kind != b->kind || !diff_record_same_text(a->doc, b->doc) || a->value.value != b->value.value) {
        return false;
    }
    return a->kind == TRACE_VALUE_NONE || wire_field_type(&a->value) != WIRE_BYTES ||
           memcmp(a->value.bytes, b->value.bytes, (size_t)a->value.value) == 0;
}

static void count_attribute(struct diff_counts *counts, struct record_text name)
{
    if (record_text_is(name, "comm_size") || record_text_is(name, "tensor_size")) {
        counts->sizes++;
    } else if (record_text_is(name, "comm_type")) {
        counts->types++;
    } else {
        counts->others++;
    }
}

static void tell_attribute(struct diff_pair *pair, const struct record_attribute *a, const struct record_attribute *b)
{
    char before[TEXT] = "-";
    char after[TEXT] = "-";
    char name[TEXT];
    struct record_text called = {.text = ""}; /* alike in both, where there are two */
    if (a != NULL) {
        called = a->name;
        value_text(a, before);
    }
    if (b != NULL) {
        called = b->name;
        value_text(b, after);
    }
    (void)snprintf(name, sizeof name, "%.*s", called.length > TEXT - 1 ? TEXT - 1 : (int)called.length, called.text);
    count_attribute(pair->counts, called);
    diff_tell(pair, name, before, after);
}

static void diff_attributes(struct diff_pair *pair)
{
    struct attributes a;
    struct attributes b;
    uint32_t number = pair->item.kind == DIFF_METADATA ? 2 : RECORD_ATTR;
    diff_record_collect(&pair->a, number, &a);
    diff_record_collect(&pair->b, number, &b);
    for (uint32_t i = 0; i < a.count; i++) {
        uint32_t j = 0;
        while (j < b.count && (b.matched[j] || !diff_record_same_text(a.list[i].name, b.list[j].name))) {
            j++;
        }
        if (j < b.count) {
            b.matched[j] = true;
        }
        if (j == b.count || !same_value(&a.list[i], &b.list[j])) {
            tell_attribute(pair, &a.list[i], j < b.count ? &b.list[j] : NULL);
        }
    }
    for (uint32_t j = 0; j < b.count; j++) {
        if (!b.matched[j]) {
            tell_attribute(pair, NULL, &b.list[j]);
        }
    }
}

/* ---- other fields ---- */

static void diff_span(struct diff_pair *pair, uint32_t number, const char *what, bool is_text)
{
    struct record_text a = record_span(pair->a.bytes, pair->a.size, number);
    struct record_text b = record_span(pair->b.bytes, pair->b.size, number);
    char before[TEXT];
    char after[TEXT];
    if (diff_record_same_text(a, b)) {
        return;
    }
    pair->counts->others++;
    if (is_text) {
        copy_text(before, a);
        copy_text(after, b);
    } else {
        (void)snprintf(before, sizeof before, "%zu bytes", a.length);
        (void)snprintf(after, sizeof after, "%zu bytes", b.length);
    }
    diff_tell(pair, what, before, after);
}

static void diff_number(struct diff_pair *pair, const char *what, uint64_t a, uint64_t b, uint64_t *count)
{
    char before[24];
    char after[24];
    (void)snprintf(before, sizeof before, "%" PRIu64, a);
    (void)snprintf(after, sizeof after, "%" PRIu64, b);
    ++*count;
    diff_tell(pair, what, before, after);
}

/* Fields no schema of ours has, all together. */
static uint64_t unknown_bytes(const struct record *record, uint64_t *sum)
{
    struct wire_walk walk = wire_walk(record->bytes, record->size);
    struct wire_field field;
    uint64_t bytes = 0;
    *sum = 0;
    while (wire_next(&walk, &field)) {
        for (const uint8_t *byte = walk.from; wire_field_number(&field) > RECORD_ATTR && byte < walk.at; byte++) {
            *sum = *sum * UINT64_C(0x100000001b3) + *byte;
            bytes++;
        }
    }
    return bytes;
}

static void diff_unknown(struct diff_pair *pair)
{
    uint64_t sum_a = 0;
    uint64_t sum_b = 0;
    uint64_t a = unknown_bytes(&pair->a, &sum_a);
    uint64_t b = unknown_bytes(&pair->b, &sum_b);
    if (a != b || sum_a != sum_b) {
        diff_number(pair, "unknown fields (bytes)", a, b, &pair->counts->others);
    }
}

static void diff_type(struct diff_pair *pair)
{
    uint32_t a = (uint32_t)pair->facts_a.type;
    uint32_t b = (uint32_t)pair->facts_b.type;
    if (a != b) {
        pair->counts->types++;
        diff_tell(pair, "type", trace_node_type_name(a), trace_node_type_name(b));
    }
}

void diff_records(struct diff_pair *pair)
{
    struct diff_counts *counts = pair->counts;
    if (pair->item.kind == DIFF_METADATA) {
        diff_span(pair, 1, "version", true);
        diff_attributes(pair);
        return;
    }
    diff_span(pair, RECORD_NAME, "name", true);
    diff_type(pair);
    if (pair->facts_a.start_us != pair->facts_b.start_us) {
        diff_number(pair, "start_us", pair->facts_a.start_us, pair->facts_b.start_us, &counts->others);
    }
    if (diff_duration(pair->options, pair->facts_a.duration_us, pair->facts_b.duration_us)) {
        diff_number(pair, "duration_us", pair->facts_a.duration_us, pair->facts_b.duration_us, &counts->durations);
    }
    diff_span(pair, RECORD_INPUTS, "inputs", false);
    diff_span(pair, RECORD_OUTPUTS, "outputs", false);
    diff_attributes(pair);
    diff_unknown(pair);
}
