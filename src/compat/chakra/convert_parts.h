/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files of the compatible converter share: the compact nodes and the steps on them. Private to
 * convert_compat*.c; everything is owned by the struct compat and freed by convert.c.
 */
#ifndef ORR_COMPAT_CHAKRA_CONVERT_PARTS_H
#define ORR_COMPAT_CHAKRA_CONVERT_PARTS_H

#include "convert/convert.h"
#include "convert/pytorch/host/host.h"
#include "trace/et_write.h"

#define COMPAT_NONE UINT32_MAX

enum compat_kind { COMPAT_CPU, COMPAT_GPU, COMPAT_METADATA };

/* One JSON node, or the last of those that share an id. Nodes lie in the order of a Python dict filled from the file.
 */
struct compat_node {
    uint64_t id;
    uint64_t duration_us;  /* known once written */
    uint64_t inter_thread; /* data dependency; 0 = none (0 counts as none in the original too) */
    uint32_t host;         /* in the trace's nodes */
    uint32_t parent;       /* COMPAT_NONE = not in the file */
    uint32_t first_child;  /* ascending ids */
    uint32_t next_sibling;
    uint32_t first_gpu; /* the children on the device, in dict order */
    uint32_t next_gpu;
    uint32_t before;     /* data dependency: the node before it in its thread, or COMPAT_NONE */
    uint8_t kind;        /* enum compat_kind */
    uint8_t type;        /* enum trace_node_type */
    uint8_t comm_type;   /* of a collective */
    bool made;           /* has a node in the output (before dangling ones are removed) */
    bool follows_parent; /* ctrl_deps = [parent] */
    bool visited;        /* by the walk of a thread */
    bool listed;         /* some node depends on it */
    bool dangling;       /* neither depends nor is depended on: removed */
};

struct compat {
    struct host_trace *trace;
    struct mem *mem;
    struct compat_node *nodes;
    uint32_t count, capacity;
    uint32_t *by_id; /* nodes in ascending id */
    uint32_t *order; /* nodes in the order in which the original makes them; made_count of them */
    uint32_t made_count;
};

static inline const struct host_node *compat_host(const struct compat *compat, uint32_t node)
{
    return &compat->trace->nodes[compat->nodes[node].host];
}

static inline const char *compat_name(const struct compat *compat, uint32_t node)
{
    return intern_text(&compat->trace->names, compat_host(compat, node)->name);
}

/* ORR_EINVAL, "file:line: node 7 (its name): " before the message. */
enum orr_status compat_fail(const struct compat *compat, uint32_t node, struct orr_error *err, const char *fmt, ...)
    ORR_PRINTF(4, 5);

/* The node of an id, or COMPAT_NONE. */
uint32_t compat_find(const struct compat *compat, uint64_t id);

/* convert_nodes.c: the nodes with their parents and children (§8.1-3), then which of them the output has, and
 * as what (§8.4-6). */
ORR_MUST_CHECK enum orr_status compat_nodes_collect(struct compat *compat, struct orr_error *err);
ORR_MUST_CHECK enum orr_status compat_nodes_make(struct compat *compat, struct orr_error *err);

/* convert_deps.c: data dependencies, removal of dangling nodes, check for cycles (§8.8-10). */
ORR_MUST_CHECK enum orr_status compat_deps_find(struct compat *compat, struct orr_error *err);
ORR_MUST_CHECK enum orr_status compat_deps_check(struct compat *compat, struct orr_error *err);

/* A node's data dependencies as ids, in the order of the file; at most two. */
unsigned compat_deps_of(const struct compat *compat, uint32_t node, uint64_t ids[2]);

/* convert_write.c: the second pass (§8.4, 7, 11). */
ORR_MUST_CHECK enum orr_status compat_write(struct compat *compat, struct et_writer *writer,
                                            struct convert_summary *summary, struct orr_error *err);

/* convert_replay.c: --simulate (§8.12). */
ORR_MUST_CHECK enum orr_status compat_replay(const struct compat *compat, FILE *stream, struct orr_error *err);

#endif
