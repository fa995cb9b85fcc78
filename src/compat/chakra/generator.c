/* SPDX-License-Identifier: Apache-2.0 */
/* A family is a row. The one that shows every kind of attribute needs kinds no converter writes, so it alone is made of
 * protobuf-c's structs; the values in it are Chakra's own. */
#include "compat/chakra/generator.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "io/file.h"
#include "trace/document.h"
#include "trace/et_write.h"

enum family_kind { FAMILY_ALL_KINDS, FAMILY_TENSOR, FAMILY_COMPUTE, FAMILY_PAIR, FAMILY_CHAIN, FAMILY_COLLECTIVE };

struct family {
    const char *file;
    const char *node;
    uint8_t kind;
    uint8_t type;      /* enum trace_node_type */
    int32_t comm_type; /* Chakra's number */
};

enum { BARRIER = 9 };

/* In the order in which ids are given out. */
static const struct family families[] = {
    {"one_metadata_node_all_types", "METADATA_NODE", FAMILY_ALL_KINDS, TRACE_METADATA, 0},
    {"one_remote_mem_load_node", "MEM_LOAD_NODE", FAMILY_TENSOR, TRACE_MEM_LOAD, 0},
    {"one_remote_mem_store_node", "MEM_STORE_NODE", FAMILY_TENSOR, TRACE_MEM_STORE, 0},
    {"one_comp_node", "COMP_NODE", FAMILY_COMPUTE, TRACE_COMP, 0},
    {"two_comp_nodes_independent", "COMP_NODE", FAMILY_PAIR, TRACE_COMP, 0},
    {"two_comp_nodes_dependent", "COMP_NODE", FAMILY_CHAIN, TRACE_COMP, 0},
    {"ALL_REDUCE", "ALL_REDUCE", FAMILY_COLLECTIVE, TRACE_COLL, 0},
    {"ALL_TO_ALL", "ALL_TO_ALL", FAMILY_COLLECTIVE, TRACE_COLL, 6},
    {"ALL_GATHER", "ALL_GATHER", FAMILY_COLLECTIVE, TRACE_COLL, 2},
    {"REDUCE_SCATTER", "REDUCE_SCATTER", FAMILY_COLLECTIVE, TRACE_COLL, 7},
    {"BROADCAST", "BROADCAST", FAMILY_COLLECTIVE, TRACE_COLL, 5},
    {"BARRIER", "BARRIER", FAMILY_COLLECTIVE, TRACE_COLL, BARRIER},
    {"one_comm_send_node", "COMM_SEND_NODE", FAMILY_TENSOR, TRACE_SEND, 0},
    {"one_comm_recv_node", "COMM_RECV_NODE", FAMILY_TENSOR, TRACE_RECV, 0},
};

#define VERSION "1.0.0"

/* ---- every kind of attribute ---- */

enum { TEXTS = 10, ATTRIBUTES = 30, TEXT_FIRST = 12345, TEXT_ROOM = 8 };

/* member, CASE, Kind, type, has a doc string, single value, list of two. */
#define NUMBER_KINDS(X)                                                                                                \
    X(double, DOUBLE, Double, double, true, 1.2345, 1.2345, 2.3456)                                                    \
    X(float, FLOAT, Float, float, true, 1.2345F, 1.2345F, 2.3456F)                                                     \
    X(int32, INT32, Int32, int32_t, true, 12345, 12345, 23456)                                                         \
    X(int64, INT64, Int64, int64_t, true, 9876543210, 9876543210, 1234567890)                                          \
    X(uint32, UINT32, Uint32, uint32_t, true, 12345, 12345, 23456)                                                     \
    X(uint64, UINT64, Uint64, uint64_t, true, 9876543210, 9876543210, 1234567890)                                      \
    X(sint32, SINT32, Sint32, int32_t, true, -12345, 12345, -23456)                                                    \
    X(sint64, SINT64, Sint64, int64_t, true, -9876543210, 9876543210, -1234567890)                                     \
    X(fixed32, FIXED32, Fixed32, uint32_t, false, 12345, 12345, 23456)                                                 \
    X(fixed64, FIXED64, Fixed64, uint64_t, false, 9876543210, 9876543210, 1234567890)                                  \
    X(sfixed32, SFIXED32, Sfixed32, int32_t, false, -12345, 12345, -23456)                                             \
    X(sfixed64, SFIXED64, Sfixed64, int64_t, false, -9876543210, 9876543210, -1234567890)

struct all_kinds {
    Chakra__Node node;
    Chakra__Attribute attributes[ATTRIBUTES];
    Chakra__Attribute *list[ATTRIBUTES];
#define GENERATOR_X(member, CASE, Kind, type, doc, one, first, second)                                                 \
    Chakra__##Kind##List member##_list;                                                                                \
    type member##_values[2];
    NUMBER_KINDS(GENERATOR_X)
#undef GENERATOR_X
    Chakra__BoolList bool_list;
    protobuf_c_boolean bool_values[TEXTS];
    Chakra__StringList string_list;
    char texts[TEXTS][TEXT_ROOM];
    char *string_values[TEXTS];
    Chakra__BytesList bytes_list;
    ProtobufCBinaryData bytes_values[TEXTS];
};

/* protobuf-c's strings are not const, though packing only reads them. */
static char *constant(const char *text)
{
    return (char *)(uintptr_t)text;
}

static Chakra__Attribute *next_attribute(struct all_kinds *all, const char *name, bool has_doc, uint32_t value_case)
{
    Chakra__Attribute *attr = &all->attributes[all->node.n_attr];
    chakra__attribute__init(attr);
    attr->name = constant(name);
    if (has_doc) {
        attr->doc_string = constant(name);
    }
    attr->value_case = (Chakra__Attribute__ValueCase)value_case;
    all->list[all->node.n_attr++] = attr;
    return attr;
}

static void add_numbers(struct all_kinds *all)
{
    Chakra__Attribute *attr;
#define GENERATOR_X(member, CASE, Kind, type, doc, one, first, second)                                                 \
    attr = next_attribute(all, #member, doc, CHAKRA__ATTRIBUTE__VALUE_##CASE##_VAL);                                   \
    attr->member##_val = (one);                                                                                        \
    attr = next_attribute(all, #member "_list", false, CHAKRA__ATTRIBUTE__VALUE_##CASE##_LIST);                        \
    chakra__##member##_list__init(&all->member##_list);                                                                \
    all->member##_values[0] = (first);                                                                                 \
    all->member##_values[1] = (second);                                                                                \
    all->member##_list.n_values = 2;                                                                                   \
    all->member##_list.values = all->member##_values;                                                                  \
    attr->member##_list = &all->member##_list;
    NUMBER_KINDS(GENERATOR_X)
#undef GENERATOR_X
}

static void generator_add_texts(struct all_kinds *all)
{
    chakra__bool_list__init(&all->bool_list);
    chakra__string_list__init(&all->string_list);
    chakra__bytes_list__init(&all->bytes_list);
    for (unsigned i = 0; i < TEXTS; i++) {
        (void)snprintf(all->texts[i], TEXT_ROOM, "%u", TEXT_FIRST + i);
        all->bool_values[i] = i % 2 == 0;
        all->string_values[i] = all->texts[i];
        all->bytes_values[i] = (ProtobufCBinaryData){strlen(all->texts[i]), (uint8_t *)all->texts[i]};
    }
    all->bool_list.n_values = all->string_list.n_values = all->bytes_list.n_values = TEXTS;
    all->bool_list.values = all->bool_values;
    all->string_list.values = all->string_values;
    all->bytes_list.values = all->bytes_values;
    next_attribute(all, "bool", true, CHAKRA__ATTRIBUTE__VALUE_BOOL_VAL)->bool_val = true;
    next_attribute(all, "bool_list", false, CHAKRA__ATTRIBUTE__VALUE_BOOL_LIST)->bool_list = &all->bool_list;
    next_attribute(all, "string", true, CHAKRA__ATTRIBUTE__VALUE_STRING_VAL)->string_val = all->texts[0];
    next_attribute(all, "string_list", false, CHAKRA__ATTRIBUTE__VALUE_STRING_LIST)->string_list = &all->string_list;
    next_attribute(all, "bytes", false, CHAKRA__ATTRIBUTE__VALUE_BYTES_VAL)->bytes_val = all->bytes_values[0];
    next_attribute(all, "bytes_list", false, CHAKRA__ATTRIBUTE__VALUE_BYTES_LIST)->bytes_list = &all->bytes_list;
}

static enum orr_status write_all_kinds(const struct family *family, uint64_t id, const char *path, struct mem *mem,
                                       struct orr_error *err)
{
    struct all_kinds all;
    uint8_t *bytes = NULL;
    size_t size = 0;
    chakra__node__init(&all.node);
    all.node.id = id;
    all.node.name = constant(family->node);
    all.node.type = (Chakra__NodeType)family->type;
    all.node.attr = all.list;
    add_numbers(&all);
    generator_add_texts(&all);
    Chakra__Node *nodes[1] = {&all.node};
    Chakra__GlobalMetadata metadata = CHAKRA__GLOBAL_METADATA__INIT;
    metadata.version = constant(VERSION);
    enum orr_status status = trace_document_encode(&metadata, nodes, 1, mem, &bytes, &size, err);
    if (status == ORR_OK) {
        status = file_write(path, bytes, size, err);
        mem_free(mem, bytes, size);
    }
    return status;
}

/* ---- the other families ---- */

static enum orr_status generator_write_node(const struct generator *generator, const struct family *family, uint64_t id,
                                            const uint64_t *parent, struct et_writer *writer, struct orr_error *err)
{
    et_node_begin(writer, id, et_text(family->node), (enum trace_node_type)family->type);
    et_node_data_deps(writer, parent, parent != NULL);
    et_node_times(writer, 0, family->type == TRACE_COMP ? generator->runtime_us : 0);
    et_attr_bool(writer, "is_cpu_op", false);
    if (family->kind == FAMILY_TENSOR) {
        et_attr_uint64(writer, "tensor_size", generator->tensor_bytes);
    }
    if (family->kind == FAMILY_COLLECTIVE) {
        et_attr_int64(writer, "comm_type", family->comm_type);
        et_attr_int64(writer, "comm_size", family->comm_type == BARRIER ? 0 : generator->comm_bytes);
    }
    return et_record_end(writer, err);
}

static enum orr_status generator_write_nodes(const struct generator *generator, const struct family *family,
                                             uint64_t id, const char *path, struct mem *mem, struct orr_error *err)
{
    struct et_writer *writer = NULL;
    enum orr_status status = et_writer_open(path, mem, &writer, err);
    if (status != ORR_OK) {
        return status;
    }
    et_metadata_begin(writer, et_text(VERSION));
    status = et_record_end(writer, err);
    if (status == ORR_OK) {
        status = generator_write_node(generator, family, id, NULL, writer, err);
    }
    if (status == ORR_OK && (family->kind == FAMILY_PAIR || family->kind == FAMILY_CHAIN)) {
        status =
            generator_write_node(generator, family, id + 1, family->kind == FAMILY_CHAIN ? &id : NULL, writer, err);
    }
    if (status != ORR_OK) {
        et_writer_abort(writer);
        return status;
    }
    return et_writer_commit(writer, err);
}

static enum orr_status generator_write_file(const struct generator *generator, const struct family *family,
                                            uint32_t rank, uint64_t id, struct mem *mem, struct orr_error *err)
{
    char *path = NULL;
    if (asprintf(&path, "%s/%s.%" PRIu32 ".et", generator->folder, family->file, rank) < 0) {
        return error_set(err, ORR_ENOMEM, "%s: out of memory", generator->folder);
    }
    enum orr_status status = family->kind == FAMILY_ALL_KINDS
                                 ? write_all_kinds(family, id, path, mem, err)
                                 : generator_write_nodes(generator, family, id, path, mem, err);
    free(path);
    return status;
}

enum orr_status generator_write(const struct generator *generator, struct mem *mem, struct orr_error *err)
{
    uint64_t id = 0;
    enum orr_status status = ORR_OK;
    for (size_t i = 0; i < sizeof families / sizeof families[0]; i++) {
        const struct family *family = &families[i];
        for (uint32_t rank = 0; rank < generator->ranks && status == ORR_OK; rank++) {
            status = generator_write_file(generator, family, rank, id, mem, err);
            id += family->kind == FAMILY_PAIR || family->kind == FAMILY_CHAIN ? 2 : 1;
        }
    }
    return status;
}
