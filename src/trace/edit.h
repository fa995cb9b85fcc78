/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A trace being edited, in two walks over its file: the first keeps, for each node, its id, its type and its
 * dependencies as places in the file, some 20 bytes a node and 4 an edge; decisions are made on that; the second copies
 * the records, with the changes decided. Ten million nodes fit in a few hundred megabytes this way, and what nobody
 * decided about comes out as it was.
 *
 * Lives with every fault a file can have short of damage: ids used twice (the first one counts), dependencies on
 * missing nodes (EDIT_MISSING), cycles. The reader stays the caller's.
 */
#ifndef ORR_TRACE_EDIT_H
#define ORR_TRACE_EDIT_H

#include <stdio.h>

#include "trace/record_edit.h"

#define EDIT_CTRL    (UINT32_C(1) << 31) /* in a dependency: it is a control dependency, else a data dependency */
#define EDIT_INDEX   (~EDIT_CTRL)        /* in a dependency: the place of the node it names */
#define EDIT_MISSING (EDIT_INDEX)        /* as a place: no such node, or the dependency was taken out */

enum { EDIT_TYPE_UNKNOWN = 255 };

/* What becomes of a node. */
enum edit_fate {
    EDIT_KEEP,
    EDIT_REMOVE, /* its children get its parents (trace/contract.h) */
    EDIT_PASS,   /* stays, but its children wait for its parents and no longer for it */
    EDIT_JOINT,  /* was to be removed, and stays as an empty node because many meet many there */
    EDIT_DROP,   /* already cut out of the dependencies */
};

struct edit_dangling {
    uint64_t id; /* that is not there */
    uint32_t node;
    bool is_ctrl;
};

enum { EDIT_DANGLING_KEPT = 8 };

struct edit_graph {
    struct mem *mem;
    uint32_t node_count;
    uint64_t *ids;       /* by place in the file */
    uint8_t *type;       /* enum trace_node_type, or EDIT_TYPE_UNKNOWN */
    uint8_t *dirty;      /* its dependencies were changed and must be written */
    uint8_t *fate;       /* enum edit_fate */
    uint32_t *dep_start; /* node_count + 1 */
    uint32_t *deps;      /* data dependencies, then control, each in the order written */
    uint64_t *new_ids;   /* or NULL: ids stay */
    uint32_t *by_id;     /* places by ascending id, then place; NULL where ids ascend anyway */
    bool ascending;      /* ids do, strictly */
    uint64_t largest_id;
    uint32_t duplicates;                               /* nodes whose id an earlier one has */
    uint32_t first_duplicate;                          /* place of the first of them */
    uint64_t missing;                                  /* dependencies on nodes that are not there */
    struct edit_dangling dangling[EDIT_DANGLING_KEPT]; /* the first of them */
    /* capacities of the arrays above, in items */
    uint32_t id_capacity, type_capacity, start_capacity;
    uint32_t dep_capacity;
};

/* Called for each node in file order while a graph is read. */
typedef enum orr_status (*edit_visit)(void *context, uint32_t node, const struct record_facts *facts,
                                      struct orr_error *err);

/* Reads from the reader's first record on. `visit` may be NULL. ORR_EINVAL, ORR_EIO, ORR_ENOMEM. On success the caller
 * closes the graph. */
ORR_MUST_CHECK enum orr_status edit_graph_open(struct edit_graph *graph, struct record_reader *reader, edit_visit visit,
                                               void *context, struct mem *mem, struct orr_error *err);
void edit_graph_close(struct edit_graph *graph);

/* The place of the (first) node with this id, or EDIT_MISSING. `near` is a place to begin looking. */
uint32_t edit_graph_find(const struct edit_graph *graph, uint64_t id, uint32_t near);

/* The id a node is written with. */
static inline uint64_t edit_graph_id(const struct edit_graph *graph, uint32_t node)
{
    return graph->new_ids == NULL ? graph->ids[node] : graph->new_ids[node];
}

/* Takes new dependencies, whose arrays come from `mem` with just the room that is used. */
void edit_graph_replace(struct edit_graph *graph, uint32_t *dep_start, uint32_t *deps, uint32_t dep_total);

/* How many dependencies name each node; node_count items, from `mem`. NULL when refused. */
uint32_t *edit_graph_child_counts(const struct edit_graph *graph);

/* Called for each node that stays, before it is written: adds changes of its own. */
typedef enum orr_status (*edit_change)(void *context, uint32_t node, const struct record *record,
                                       struct record_change *change, struct orr_error *err);

struct edit_write {
    struct record_reader *reader; /* rewound by edit_write_nodes */
    const struct edit_graph *graph;
    FILE *stream;       /* write errors stay with it */
    edit_change change; /* may be NULL */
    void *context;
    bool without_metadata; /* of a second file in one output */
};

/* Copies the file with what was decided. */
ORR_MUST_CHECK enum orr_status edit_write_nodes(const struct edit_write *write, struct orr_error *err);

/* Writes a new joint: id, name, and what it depends on (data dependencies). */
void edit_write_joint(struct record_buffer *buffer, FILE *stream, uint64_t id, const char *name,
                      const uint64_t *parents, size_t count);

#endif
