/* SPDX-License-Identifier: Apache-2.0 */
/* Nodes are built on the stack as protobuf-c's structs and encoded once; the same bytes then go to every rank. The
 * attributes are those Chakra's own generator writes, less involved_dim: left out, it means all dimensions, whatever
 * network the trace is run on (spec analytical §6.5). */
#include "model/gen.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "io/etz.h"
#include "io/file.h"
#include "trace/document.h"
#include "trace/graph.h"

enum { GEN_ALL_REDUCE = 0, GEN_ALL_GATHER = 2 }; /* spec analytical §4.1 */
enum { GEN_ATTRIBUTES = 3, GEN_NODES = 3 };

struct gen_node {
    Chakra__Node node;
    Chakra__Attribute attributes[GEN_ATTRIBUTES];
    Chakra__Attribute *attribute_list[GEN_ATTRIBUTES];
    uint64_t parent;
};

/* protobuf-c's strings are not const, though packing only reads them. */
static char *model_gen_text(const char *constant)
{
    return (char *)(uintptr_t)constant;
}

static Chakra__Attribute *add_attribute(struct gen_node *made, const char *name)
{
    Chakra__Attribute *attr = &made->attributes[made->node.n_attr];
    chakra__attribute__init(attr);
    attr->name = model_gen_text(name);
    made->attribute_list[made->node.n_attr++] = attr;
    made->node.attr = made->attribute_list;
    return attr;
}

static void add_integer(struct gen_node *made, const char *name, uint64_t value)
{
    Chakra__Attribute *attr = add_attribute(made, name);
    attr->value_case = CHAKRA__ATTRIBUTE__VALUE_INT64_VAL;
    attr->int64_val = (int64_t)value;
}

/* `parent` 0 = none: ids start at 1. */
static void init_node(struct gen_node *made, uint64_t id, const char *name, enum trace_node_type type, uint64_t parent)
{
    chakra__node__init(&made->node);
    made->node.id = id;
    made->node.name = model_gen_text(name);
    made->node.type = (Chakra__NodeType)type;
    made->parent = parent;
    if (parent != 0) {
        made->node.data_deps = &made->parent;
        made->node.n_data_deps = 1;
    }
    Chakra__Attribute *is_cpu = add_attribute(made, "is_cpu_op");
    is_cpu->value_case = CHAKRA__ATTRIBUTE__VALUE_BOOL_VAL;
    is_cpu->bool_val = 0;
}

static void init_collective(struct gen_node *made, uint64_t id, const char *name, int32_t type, uint64_t bytes,
                            uint64_t parent)
{
    init_node(made, id, name, TRACE_COLL, parent);
    add_integer(made, "comm_type", (uint64_t)type);
    add_integer(made, "comm_size", bytes);
}

static uint32_t init_pattern(const struct model_gen *gen, struct gen_node made[GEN_NODES])
{
    if (gen->pattern == ORR_PATTERN_COLLECTIVE) {
        init_collective(&made[0], 1, gen->name, gen->comm_type, gen->bytes, 0);
        return 1;
    }
    init_collective(&made[0], 1, "all-reduce", GEN_ALL_REDUCE, gen->bytes, 0);
    init_collective(&made[1], 2, "all-gather", GEN_ALL_GATHER, gen->bytes * 2, 1);
    init_node(&made[2], 3, "compute", TRACE_COMP, 1);
    made[2].node.duration_micros = gen->compute_us;
    return 3;
}

enum orr_status model_gen_encode(const struct model_gen *gen, struct mem *mem, uint8_t **bytes, size_t *size,
                                 struct orr_error *err)
{
    uint64_t most = gen->pattern == ORR_PATTERN_COLLECTIVE ? INT64_MAX : INT64_MAX / 2;
    if (gen->bytes > most) {
        return error_set(err, ORR_ERANGE, "a collective of %" PRIu64 " bytes; at most %" PRIu64 " can be written",
                         gen->bytes, most);
    }
    struct gen_node made[GEN_NODES];
    Chakra__Node *nodes[GEN_NODES];
    uint32_t count = init_pattern(gen, made);
    for (uint32_t i = 0; i < count; i++) {
        nodes[i] = &made[i].node;
    }
    Chakra__GlobalMetadata metadata = CHAKRA__GLOBAL_METADATA__INIT;
    metadata.version = model_gen_text("0.0.4");
    return trace_document_encode(&metadata, nodes, count, mem, bytes, size, err);
}

static enum orr_status model_gen_pack(const uint8_t *bytes, size_t size, const char *output, uint32_t ranks,
                                      struct mem *mem, struct orr_error *err)
{
    struct etz_writer *archive = NULL;
    struct etz_counts counts;
    enum orr_status status = etz_writer_open(output, mem, &archive, err);
    for (uint32_t rank = 0; rank < ranks && status == ORR_OK; rank++) {
        status = etz_writer_add(archive, bytes, size, err);
    }
    if (status == ORR_OK) {
        return etz_writer_commit(archive, &counts, err);
    }
    etz_writer_abort(archive);
    return status;
}

enum orr_status model_gen_write(const struct model_gen *gen, const char *prefix, uint32_t ranks, struct mem *mem,
                                struct orr_error *err)
{
    uint8_t *bytes = NULL;
    size_t size = 0;
    enum orr_status status = model_gen_encode(gen, mem, &bytes, &size, err);
    if (status != ORR_OK) {
        return status;
    }
    if (etz_is_output(prefix)) {
        status = model_gen_pack(bytes, size, prefix, ranks, mem, err);
        ranks = 0;
    }
    for (uint32_t rank = 0; rank < ranks && status == ORR_OK; rank++) {
        char *path;
        if (asprintf(&path, "%s.%" PRIu32 ".et", prefix, rank) < 0) {
            status = error_set(err, ORR_ENOMEM, "%s: out of memory", prefix);
            break;
        }
        status = file_write(path, bytes, size, err);
        free(path);
    }
    mem_free(mem, bytes, size);
    return status;
}
