/* SPDX-License-Identifier: Apache-2.0 */
/* Values lean to the edges (0, 1, -1, the largest), where encodings go wrong. */
#include "tests/trace/random_document.h"

#include <stdlib.h>
#include <string.h>

uint64_t random_next(uint64_t *seed)
{
    uint64_t x = *seed += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

static void *take(struct arena *arena, size_t bytes)
{
    void *block = arena_zalloc(arena, bytes == 0 ? 1 : bytes);
    if (block == NULL) {
        abort();
    }
    return block;
}

static uint64_t below(uint64_t *seed, uint64_t limit)
{
    return random_next(seed) % limit;
}

static uint64_t edgy(uint64_t *seed)
{
    static const uint64_t edges[] = {0, 1, 2, 127, 128, 16384, INT32_MAX, UINT32_MAX, INT64_MAX, UINT64_MAX};
    return below(seed, 3) == 0 ? random_next(seed) : edges[below(seed, sizeof edges / sizeof edges[0])];
}

static char *some_text(struct arena *arena, uint64_t *seed)
{
    static const char *const texts[] = {"", "a", "aten::mm", "caf\xc3\xa9",
                                        "a rather long text, longer than a word or two"};
    const char *text = texts[below(seed, sizeof texts / sizeof texts[0])];
    char *copy = arena_strndup(arena, text, strlen(text));
    if (copy == NULL) {
        abort();
    }
    return copy;
}

/* One list message of `count` values, each set by `set`, which sees `list` and `i`. */
#define MAKE_LIST(kind, member, type, set)                                                                             \
    case TRACE_VALUE_##kind##_LIST: {                                                                                  \
        attr->member##_list = take(arena, sizeof *attr->member##_list);                                                \
        chakra__##member##_list__init(attr->member##_list);                                                            \
        attr->member##_list->n_values = count;                                                                         \
        attr->member##_list->values = take(arena, count * sizeof *attr->member##_list->values);                        \
        for (size_t i = 0; i < count; i++) {                                                                           \
            attr->member##_list->values[i] = (type)(set);                                                              \
        }                                                                                                              \
        break;                                                                                                         \
    }

static void set_list(struct arena *arena, uint64_t *seed, Chakra__Attribute *attr)
{
    size_t count = below(seed, 5);
    switch ((uint32_t)attr->value_case) {
        MAKE_LIST(DOUBLE, double, double, (double)below(seed, 1000) / 7)
        MAKE_LIST(FLOAT, float, float, (double)below(seed, 1000) / 7)
        MAKE_LIST(INT32, int32, int32_t, (uint32_t)edgy(seed))
        MAKE_LIST(INT64, int64, int64_t, edgy(seed))
        MAKE_LIST(UINT32, uint32, uint32_t, edgy(seed))
        MAKE_LIST(UINT64, uint64, uint64_t, edgy(seed))
        MAKE_LIST(SINT32, sint32, int32_t, (uint32_t)edgy(seed))
        MAKE_LIST(SINT64, sint64, int64_t, edgy(seed))
        MAKE_LIST(FIXED32, fixed32, uint32_t, edgy(seed))
        MAKE_LIST(FIXED64, fixed64, uint64_t, edgy(seed))
        MAKE_LIST(SFIXED32, sfixed32, int32_t, (uint32_t)edgy(seed))
        MAKE_LIST(SFIXED64, sfixed64, int64_t, edgy(seed))
        MAKE_LIST(BOOL, bool, protobuf_c_boolean, below(seed, 2))
        MAKE_LIST(STRING, string, char *, some_text(arena, seed))
    default:
        attr->bytes_list = take(arena, sizeof *attr->bytes_list);
        chakra__bytes_list__init(attr->bytes_list);
        attr->bytes_list->n_values = count;
        attr->bytes_list->values = take(arena, count * sizeof *attr->bytes_list->values);
        for (size_t i = 0; i < count; i++) {
            attr->bytes_list->values[i].len = below(seed, 4);
            attr->bytes_list->values[i].data = take(arena, 4);
        }
        break;
    }
}

static void set_single(struct arena *arena, uint64_t *seed, Chakra__Attribute *attr)
{
    uint64_t value = edgy(seed);
    switch ((uint32_t)attr->value_case) {
    case TRACE_VALUE_DOUBLE:
        attr->double_val = (double)below(seed, 1000) / 3;
        break;
    case TRACE_VALUE_FLOAT:
        attr->float_val = (float)below(seed, 1000) / 3;
        break;
    case TRACE_VALUE_INT32:
    case TRACE_VALUE_SINT32:
    case TRACE_VALUE_SFIXED32:
        attr->int32_val = (int32_t)(uint32_t)value;
        break;
    case TRACE_VALUE_UINT32:
    case TRACE_VALUE_FIXED32:
        attr->uint32_val = (uint32_t)value;
        break;
    case TRACE_VALUE_BOOL:
        attr->bool_val = value & 1;
        break;
    case TRACE_VALUE_STRING:
        attr->string_val = some_text(arena, seed);
        break;
    case TRACE_VALUE_BYTES:
        attr->bytes_val.len = below(seed, 6);
        attr->bytes_val.data = take(arena, 8);
        memcpy(attr->bytes_val.data, &value, sizeof value);
        break;
    default:
        attr->uint64_val = value;
        break;
    }
}

static Chakra__Attribute *some_attribute(struct arena *arena, uint64_t *seed, const char *name, uint32_t kind)
{
    Chakra__Attribute *attr = take(arena, sizeof *attr);
    chakra__attribute__init(attr);
    attr->name = arena_strndup(arena, name, strlen(name));
    attr->doc_string = some_text(arena, seed);
    attr->value_case = (Chakra__Attribute__ValueCase)kind;
    if (kind == TRACE_VALUE_NONE) {
        return attr;
    }
    if (kind % 2 == 0) {
        set_list(arena, seed, attr);
    } else {
        set_single(arena, seed, attr);
    }
    return attr;
}

/* A kind that this attribute may have. */
static uint32_t fitting_kind(uint64_t *seed, enum trace_attr which)
{
    static const uint32_t integers[] = {TRACE_VALUE_INT32,    TRACE_VALUE_INT64,   TRACE_VALUE_UINT32,
                                        TRACE_VALUE_UINT64,   TRACE_VALUE_SINT32,  TRACE_VALUE_SINT64,
                                        TRACE_VALUE_FIXED32,  TRACE_VALUE_FIXED64, TRACE_VALUE_SFIXED32,
                                        TRACE_VALUE_SFIXED64, TRACE_VALUE_BOOL};
    static const uint32_t sizes[] = {TRACE_VALUE_UINT32, TRACE_VALUE_UINT64, TRACE_VALUE_FIXED32, TRACE_VALUE_FIXED64,
                                     TRACE_VALUE_BOOL};
    switch (trace_attr_shape(which)) {
    case TRACE_SHAPE_SIZE:
        return sizes[below(seed, sizeof sizes / sizeof sizes[0])];
    case TRACE_SHAPE_FLAGS:
        return integers[below(seed, sizeof integers / sizeof integers[0])] + 1;
    case TRACE_SHAPE_TEXT:
        return below(seed, 2) == 0 ? TRACE_VALUE_STRING : integers[below(seed, sizeof integers / sizeof integers[0])];
    case TRACE_SHAPE_INTEGER:
        break;
    }
    return integers[below(seed, sizeof integers / sizeof integers[0])];
}

static uint32_t any_kind(uint64_t *seed)
{
    return below(seed, 20) == 0 ? TRACE_VALUE_NONE : 3 + (uint32_t)below(seed, TRACE_VALUE_END - 3);
}

static void add_attributes(struct arena *arena, uint64_t *seed, Chakra__Node *node, bool faults)
{
    size_t count = below(seed, 8);
    node->attr = take(arena, count * sizeof(Chakra__Attribute *));
    for (size_t i = 0; i < count; i++) {
        if (below(seed, 4) == 0) {
            node->attr[node->n_attr++] = some_attribute(arena, seed, "rf_id", any_kind(seed));
            continue;
        }
        enum trace_attr which = (enum trace_attr)below(seed, TRACE_ATTR_COUNT);
        uint32_t kind = faults && below(seed, 30) == 0 ? any_kind(seed) : fitting_kind(seed, which);
        node->attr[node->n_attr++] = some_attribute(arena, seed, trace_attr_name(which), kind);
    }
}

static Chakra__IoInfo *some_io(struct arena *arena, uint64_t *seed)
{
    Chakra__IoInfo *io = take(arena, sizeof *io);
    chakra__io_info__init(io);
    io->values = some_text(arena, seed);
    io->shapes = some_text(arena, seed);
    io->types = some_text(arena, seed);
    return io;
}

/* Dependencies on earlier nodes of the file, or, for faults, on any id. */
static uint64_t *some_parents(struct arena *arena, uint64_t *seed, const struct random_document *document, uint32_t at,
                              bool faults, size_t *count)
{
    *count = at == 0 ? 0 : below(seed, below(seed, 10) == 0 ? 40 : 4);
    uint64_t *ids = take(arena, *count * sizeof *ids);
    for (size_t i = 0; i < *count; i++) {
        ids[i] = document->nodes[below(seed, at)]->id;
        if (faults && below(seed, 40) == 0) {
            ids[i] += below(seed, 3) * 7;
        }
    }
    return ids;
}

struct random_document random_document_make(struct arena *arena, uint64_t *seed, bool faults)
{
    struct random_document document = {.node_count = (uint32_t)below(seed, 24)};
    uint64_t step = below(seed, 3) == 0 ? 1 : 7 + below(seed, 2) * below(seed, UINT64_C(1) << 40);
    uint64_t first = edgy(seed);
    bool backwards = below(seed, 3) == 0;
    document.metadata = take(arena, sizeof *document.metadata);
    chakra__global_metadata__init(document.metadata);
    document.metadata->version = some_text(arena, seed);
    document.metadata->n_attr = 1;
    document.metadata->attr = take(arena, sizeof(Chakra__Attribute *));
    document.metadata->attr[0] = some_attribute(arena, seed, "schema", any_kind(seed));
    document.nodes = take(arena, document.node_count * sizeof(Chakra__Node *));
    for (uint32_t i = 0; i < document.node_count; i++) {
        Chakra__Node *node = document.nodes[i] = take(arena, sizeof *node);
        chakra__node__init(node);
        node->id = first + step * (backwards ? document.node_count - i : i);
        if (faults && below(seed, 40) == 0) {
            node->id = document.nodes[0]->id;
        }
        node->name = some_text(arena, seed);
        node->type = (Chakra__NodeType)below(seed, faults && below(seed, 40) == 0 ? 12 : 8);
        node->data_deps = some_parents(arena, seed, &document, i, faults, &node->n_data_deps);
        node->ctrl_deps = some_parents(arena, seed, &document, i, faults, &node->n_ctrl_deps);
        node->start_time_micros = edgy(seed);
        node->duration_micros = edgy(seed);
        node->inputs = below(seed, 2) == 0 ? some_io(arena, seed) : NULL;
        node->outputs = below(seed, 2) == 0 ? some_io(arena, seed) : NULL;
        add_attributes(arena, seed, node, faults);
    }
    return document;
}
