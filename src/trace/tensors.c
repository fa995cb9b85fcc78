/* SPDX-License-Identifier: Apache-2.0 */
/* One pass over the records. ASTRA-sim reads sizes with std::stoull, which stops at what is no digit: STG writes some
 * as "4096.0", and a fraction is passed over here too. */
#include "trace/tensors.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/scan.h"

enum { LIST_TEXT = 1 }; /* field of a list's texts */

struct reading {
    struct record_reader reader;
    struct record record;
    uint64_t id;
    struct trace_tensors *made;
    struct orr_error *err;
};

static enum orr_status trace_tensors_no_memory(const struct reading *reading)
{
    return mem_error(reading->made->mem, "the tensors of a trace", reading->err);
}

static enum orr_status fail_list(const struct reading *reading, const uint8_t *at, const char *name, const char *found)
{
    char text[256];
    (void)snprintf(text, sizeof text,
                   "node %" PRIu64 ": attribute %s %s; it must be a list in which a tensor's name and its bytes take "
                   "turns",
                   reading->id, name, found);
    for (char *c = text; *c != '\0'; c++) {
        *c = (unsigned char)*c < ' ' ? '?' : *c; /* what was found is the file's; a message is one line */
    }
    return record_error(&reading->reader, &reading->record, at, text, reading->err);
}

/* Digits, and perhaps a fraction. */
static bool read_bytes(const struct wire_field *text, uint64_t *bytes)
{
    uint64_t value = 0;
    size_t length = (size_t)text->value;
    size_t at = scan_digits((const char *)text->bytes, length, &value);
    bool any = at > 0 && value < UINT64_MAX;
    if (any && at < length && text->bytes[at] == '.') {
        for (at++; at < length && text->bytes[at] >= '0' && text->bytes[at] <= '9';) {
            at++;
        }
    }
    *bytes = value;
    return any && at == length;
}

static enum orr_status add_use(struct reading *reading, const struct wire_field *name, uint64_t bytes)
{
    struct trace_tensors *made = reading->made;
    uint32_t number = 0;
    if (!intern_add(&made->names, (const char *)name->bytes, (size_t)name->value, &number) ||
        !MEM_GROW(made->mem, made->uses, made->use_capacity, made->use_count)) {
        return trace_tensors_no_memory(reading);
    }
    made->uses[made->use_count++] = (struct trace_tensor_use){.bytes = bytes, .tensor = number};
    return ORR_OK;
}

/* Adds the uses of one list. */
static enum orr_status trace_tensors_read_list(struct reading *reading, const char *name, const struct wire_field *list)
{
    struct wire_walk walk = wire_walk(list->bytes, list->value);
    struct wire_field field;
    struct wire_field tensor = {0};
    bool named = false;
    enum orr_status status = ORR_OK;
    while (status == ORR_OK && wire_next(&walk, &field)) {
        if (field.tag != WIRE_TAG(LIST_TEXT, WIRE_BYTES)) {
            continue;
        }
        if (!wire_utf8_valid(field.bytes, field.value)) {
            return fail_list(reading, field.bytes, name, "has a text that is not UTF-8");
        }
        uint64_t bytes = 0;
        if (named && !read_bytes(&field, &bytes)) {
            char found[96];
            (void)snprintf(found, sizeof found, "has the bytes \"%.*s\"", (int)(field.value < 32 ? field.value : 32),
                           (const char *)field.bytes);
            return fail_list(reading, field.bytes, name, found);
        }
        if (named && bytes > 0) {
            status = add_use(reading, &tensor, bytes);
        }
        tensor = field;
        named = !named;
    }
    if (status == ORR_OK && walk.at != walk.end) {
        return fail_list(reading, walk.at, name, "is damaged");
    }
    return status == ORR_OK && named ? fail_list(reading, list->bytes, name, "has an odd number of texts") : status;
}

/* The first attribute of the name, or false; in a record that is well-formed. */
static bool find_attribute(const struct record *record, const char *name, struct record_attribute *attr)
{
    struct wire_walk walk = wire_walk(record->bytes, record->size);
    struct wire_field field;
    while (wire_next(&walk, &field)) {
        if (field.tag == WIRE_TAG(RECORD_ATTR, WIRE_BYTES) &&
            record_attribute_read(field.bytes, (size_t)field.value, attr) && record_text_is(attr->name, name)) {
            return true;
        }
    }
    return false;
}

static enum orr_status trace_tensors_read_node(struct reading *reading)
{
    static const char *const names[] = {"inputs", "outputs"};
    struct trace_tensors *made = reading->made;
    uint32_t counts[2] = {0, 0};
    bool told = true;
    uint32_t first = made->use_count;
    for (size_t i = 0; i < 2; i++) {
        struct record_attribute attr;
        uint32_t before = made->use_count;
        bool found = find_attribute(&reading->record, names[i], &attr);
        told = told && found;
        if (found && attr.kind == TRACE_VALUE_STRING_LIST) {
            enum orr_status status = trace_tensors_read_list(reading, names[i], &attr.value);
            if (status != ORR_OK) {
                return status;
            }
        }
        counts[i] = made->use_count - before;
    }
    made->untold += !told;
    if (made->use_count == first) {
        return ORR_OK;
    }
    if (!MEM_GROW(made->mem, made->nodes, made->node_capacity, made->node_count)) {
        return trace_tensors_no_memory(reading);
    }
    made->nodes[made->node_count++] =
        (struct trace_tensor_node){.id = reading->id, .first = first, .inputs = counts[0], .outputs = counts[1]};
    return ORR_OK;
}

static int trace_tensors_compare_ids(const void *left, const void *right)
{
    const struct trace_tensor_node *a = left;
    const struct trace_tensor_node *b = right;
    return a->id < b->id ? -1 : a->id > b->id;
}

/* The reader is open; it is closed here. */
static enum orr_status read_all(struct reading *reading, struct mem *mem, struct trace_tensors **tensors)
{
    struct record_facts facts;
    bool more = false;
    reading->made = mem_zalloc(mem, sizeof *reading->made);
    if (reading->made == NULL) {
        record_reader_close(&reading->reader);
        return mem_error(mem, "the tensors of a trace", reading->err);
    }
    reading->made->mem = mem;
    intern_init(&reading->made->names, mem);
    record_facts_init(&facts);
    enum orr_status status = record_reader_next(&reading->reader, &reading->record, &more, reading->err); /* metadata */
    while (status == ORR_OK && more) {
        status = record_reader_next(&reading->reader, &reading->record, &more, reading->err);
        if (status == ORR_OK && more) {
            status = record_scan(&reading->reader, &reading->record, &facts, reading->err);
        }
        if (status == ORR_OK && more) {
            reading->id = facts.id;
            status = trace_tensors_read_node(reading);
        }
    }
    record_facts_free(&facts, mem);
    record_reader_close(&reading->reader);
    if (status != ORR_OK) {
        trace_tensors_free(reading->made);
        return status;
    }
    if (reading->made->node_count > 1) {
        qsort(reading->made->nodes, reading->made->node_count, sizeof *reading->made->nodes, trace_tensors_compare_ids);
    }
    *tensors = reading->made;
    return ORR_OK;
}

enum orr_status trace_tensors_load(const char *path, struct mem *mem, struct trace_tensors **tensors,
                                   struct orr_error *err)
{
    struct reading reading = {.err = err};
    enum orr_status status = record_reader_open(&reading.reader, path, mem, err);
    return status == ORR_OK ? read_all(&reading, mem, tensors) : status;
}

enum orr_status trace_tensors_parse(const uint8_t *bytes, size_t size, const char *name, struct mem *mem,
                                    struct trace_tensors **tensors, struct orr_error *err)
{
    struct reading reading = {.err = err};
    enum orr_status status = record_reader_open_bytes(&reading.reader, bytes, size, name, mem, err);
    return status == ORR_OK ? read_all(&reading, mem, tensors) : status;
}

void trace_tensors_free(struct trace_tensors *tensors)
{
    if (tensors == NULL) {
        return;
    }
    struct mem *mem = tensors->mem;
    intern_free(&tensors->names);
    mem_free(mem, tensors->nodes, tensors->node_capacity * sizeof *tensors->nodes);
    mem_free(mem, tensors->uses, tensors->use_capacity * sizeof *tensors->uses);
    mem_free(mem, tensors, sizeof *tensors);
}

const struct trace_tensor_node *trace_tensors_find(const struct trace_tensors *tensors, uint64_t id)
{
    uint32_t low = 0;
    uint32_t high = tensors->node_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (tensors->nodes[middle].id < id) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < tensors->node_count && tensors->nodes[low].id == id ? &tensors->nodes[low] : NULL;
}

bool trace_tensors_equal(const struct trace_tensors *a, const struct trace_tensors *b)
{
    if (a->node_count != b->node_count || a->use_count != b->use_count || a->untold != b->untold ||
        a->names.byte_count != b->names.byte_count || intern_count(&a->names) != intern_count(&b->names)) {
        return false;
    }
    for (uint32_t i = 0; i < a->node_count; i++) {
        const struct trace_tensor_node *one = &a->nodes[i];
        const struct trace_tensor_node *other = &b->nodes[i];
        if (one->id != other->id || one->first != other->first || one->inputs != other->inputs ||
            one->outputs != other->outputs) {
            return false;
        }
    }
    for (uint32_t i = 0; i < a->use_count; i++) {
        if (a->uses[i].bytes != b->uses[i].bytes || a->uses[i].tensor != b->uses[i].tensor) {
            return false;
        }
    }
    return a->names.byte_count == 0 || memcmp(a->names.bytes, b->names.bytes, a->names.byte_count) == 0;
}
