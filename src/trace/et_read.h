/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From the bytes of a Chakra ET file to nodes in file order with dependencies still named by id: the first half of
 * reading a trace_graph. The second half (trace/graph_build.h) sorts, resolves and turns the edges round. Private to
 * trace/graph.c and the two halves.
 */
#ifndef ORR_TRACE_ET_READ_H
#define ORR_TRACE_ET_READ_H

#include "base/map.h"
#include "io/file.h"
#include "io/wire.h"
#include "trace/graph.h"

enum { ET_RECENT_NAMES = 2048 };

struct et_list {
    uint64_t *ids;
    uint32_t count;
    uint32_t capacity;
};

/* Threads and streams met so far, and what the node being read says of its own. */
MAP_STRUCT(et_lane_table, uint32_t);

struct et_lanes {
    struct trace_lane *at;
    uint32_t count, capacity;
    struct et_lane_table table; /* of index + 1 */
    struct trace_lane said;
    bool told;
    bool side_by_side; /* the metadata's word */
};

/* One file being read, from memory or through a window. Nodes and their numbers of dependencies are in file order;
 * graph.c takes them over when all went well. */
struct et_read {
    const char *name;           /* of the file, for messages */
    const uint8_t *begin, *end; /* the bytes at hand */
    uint64_t offset;            /* of `begin` in the file */
    uint64_t file_size;
    struct file_window *window; /* or NULL: the whole file is at hand */
    struct mem *mem;
    struct trace_node *nodes;
    uint32_t *written; /* dependencies of each node */
    uint32_t node_count, node_capacity, written_capacity;
    struct et_list deps; /* of all nodes, one after the other: data dependencies, then control, as written */
    struct et_list ctrl; /* of the node being read */
    char *strings;
    uint32_t string_bytes, string_capacity;
    uint32_t recent[ET_RECENT_NAMES]; /* offsets of strings stored lately, by hash: traces repeat names endlessly */
    bool ascending;                   /* ids so far */
    uint32_t seen;                    /* attributes the node being read has had: bit enum trace_attr */
    uint32_t cycles_from; /* of the node being read: 0 no cycles, else how good the attribute is that told them */
    uint64_t cycles;
    int32_t type; /* of the node being read, as last written */
    struct et_lanes lanes;
    enum orr_status status;
    struct orr_error *err;
};

/* Reads everything. Whether it fails or not, et_read_free gives back what nobody took over. */
ORR_MUST_CHECK enum orr_status et_read_file(struct et_read *read);
void et_read_free(struct et_read *read);
/* Reads the first record alone. */
ORR_MUST_CHECK enum orr_status et_read_head(struct et_read *read);

/* Where the record of the file's k-th node starts, in bytes: for messages, found by walking the file again. */
uint64_t et_read_node_offset(struct et_read *read, uint32_t k);

/* ---- between et_read.c and et_attr.c ---- */

struct et_attribute {
    const char *name;
    size_t name_length;
    uint32_t kind; /* enum trace_value */
    struct wire_field value;
    const uint8_t *at; /* for messages */
};

/* These set the error and give false. */
bool et_fail(struct et_read *read, const uint8_t *at, const char *fmt, ...) ORR_PRINTF(3, 4);
bool et_fail_field(struct et_read *read, const uint8_t *at, const uint8_t *end, const char *where);
bool et_fail_memory(struct et_read *read, const char *what);

static inline bool et_check_text(struct et_read *read, const struct wire_field *field, const char *what)
{
    return wire_utf8_valid(field->bytes, field->value) || et_fail(read, field->bytes, "%s is not UTF-8", what);
}

/* Stores a text, once as long as it keeps coming; `*offset` is where it is in the graph's strings. */
bool et_keep_text(struct et_read *read, const uint8_t *bytes, size_t length, uint32_t *offset);

/* The id of a node's record: for messages, since it may stand behind what is at fault. */
uint64_t et_record_id(const struct wire_field *record);

/* What a node's attributes said of its thread or stream becomes its lane. et_lanes.c. */
bool et_lane_settle(struct et_read *read, struct trace_node *node);
void et_lanes_free(struct et_read *read);

/* Reads an attribute's message; the name is left to be checked. */
bool et_attribute_read(struct et_read *read, const struct wire_field *message, struct et_attribute *attr);
bool et_attribute_check_name(struct et_read *read, const struct et_attribute *attr);

/* Reads and checks an attribute of a node, and stores it if it is one that matters and the first of its name; `record`
 * is the node's. */
bool et_attribute_take(struct et_read *read, const struct wire_field *record, const uint8_t *at, const uint8_t *end,
                       struct trace_node *node);

#endif
