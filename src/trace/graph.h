/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A trace as the simulator walks it: nodes in ascending id, each with the few facts that decide when it runs and how
 * long, and the dependency edges turned round (parent to children). Built once by a reader, never changed afterwards,
 * shared by all ranks whose files say the same.
 *
 * What a file holds beyond that (documentation, inputs, outputs, foreign attributes) is not here: trace/document.h
 * keeps everything, for tools that show or rewrite a file.
 */
#ifndef ORR_TRACE_GRAPH_H
#define ORR_TRACE_GRAPH_H

#include "base/arena.h"
#include "base/notes.h"

/* The metadata's attribute with which a trace says how it is run, and the one value that it has. */
#define TRACE_POLICY_KEY     "execution_policy"
#define TRACE_POLICY_STREAMS "streams"

/* Chakra's numbers (spec analytical §4.1). */
enum trace_node_type {
    TRACE_INVALID = 0,
    TRACE_METADATA = 1,
    TRACE_MEM_LOAD = 2,
    TRACE_MEM_STORE = 3,
    TRACE_COMP = 4,
    TRACE_SEND = 5,
    TRACE_RECV = 6,
    TRACE_COLL = 7,
    TRACE_NODE_TYPES
};

/* "COMM_COLL" and so on; "unknown" for a number that is no type. */
const char *trace_node_type_name(uint32_t type);

/* Which attributes a node has; what the simulator needs depends on the node's type and the configuration. */
enum trace_has {
    TRACE_HAS_COMM_SIZE = 1 << 0,
    TRACE_HAS_COMM_TYPE = 1 << 1,
    TRACE_HAS_COMM_SRC = 1 << 2,
    TRACE_HAS_COMM_DST = 1 << 3,
    TRACE_HAS_COMM_TAG = 1 << 4,
    TRACE_HAS_TENSOR_SIZE = 1 << 5,
    TRACE_HAS_NUM_OPS = 1 << 6,
    TRACE_HAS_INVOLVED_DIM = 1 << 7,
    TRACE_HAS_ROOT = 1 << 8,
    TRACE_HAS_IS_CPU_OP = 1 << 9,
    TRACE_HAS_CYCLES = 1 << 10, /* only of compute nodes */
};

struct trace_node {
    uint64_t id;
    uint64_t duration_us;
    union {
        uint64_t comm_bytes; /* comm_size */
        uint64_t cycles;     /* of a compute node: compute_cycles, exec_cycles or cycles, the first of these it has */
    };
    uint64_t tensor_bytes; /* tensor_size */
    uint64_t num_ops;
    uint64_t involved_dims; /* bit d = dimension d takes part; only with TRACE_HAS_INVOLVED_DIM */
    uint32_t name;          /* offset into graph->strings */
    uint32_t group;         /* pg_name: offset into graph->strings; 0 = none given */
    uint32_t first_child;   /* index into graph->children */
    uint32_t child_count;
    uint32_t parent_count; /* distinct parents, data and control together */
    int32_t comm_type;     /* coll/impl.h numbers, unchecked */
    int32_t comm_src;
    int32_t comm_dst;
    int32_t comm_tag;
    int32_t comm_priority;
    int32_t root; /* root_rank of a rooted collective */
    uint16_t has; /* enum trace_has */
    uint8_t type; /* enum trace_node_type */
    uint8_t is_cpu_op;
    uint8_t involved_dim_count; /* entries the attribute had, at most 64 */
    uint8_t zero[3];            /* always zero: nodes are compared as bytes */
    uint32_t lane;              /* index + 1 into graph->lanes: where it runs under policy streams; 0 = not told */
};

enum { TRACE_LANE_NONE = -1 };

/* A thread of the host or a stream of the device, as the attributes `tid`, `stream` and `lane` tell: one after the
 * other inside, side by side with the others. */
struct trace_lane {
    int64_t number; /* tid or stream */
    int64_t part;   /* `lane`: which of several of this number (another device's, a branch of a graph); mostly 0, and
                       TRACE_LANE_NONE of a wait that takes neither thread nor stream */
    bool is_stream;
};

/*
 * Two views of the dependencies. The collapsed one is what a simulation walks: a node's distinct parents are counted in
 * parent_count, and it appears once in the children of each. The written one is the file's own: for each node its data
 * dependencies and then its control dependencies, each in the order and as often as written, because the order in
 * which custom collectives issue their nodes follows it (spec analytical §19). A node that depends on itself is its own
 * child and so never becomes free.
 */
struct trace_graph {
    struct trace_node *nodes; /* ascending id, no id twice */
    uint32_t *children;       /* node indices, grouped by parent; in order of the children's place in the file */
    uint32_t *file_order;     /* node indices as they stood in the file */
    uint32_t *parents;        /* node indices, as written; node i's are parents[parent_start[i]] and the
                                 parent_written[i] - 1 after it; the ranges follow each other in file order */
    uint32_t *parent_start;   /* by node index */
    uint32_t *parent_written; /* by node index */
    uint32_t *others; /* indices of the nodes that are not compute, ascending: few, and what most questions are about */
    char *strings;    /* NUL-terminated, one after the other; offset 0 is "" */
    struct trace_lane *lanes; /* in order of first appearance */
    uint64_t longest_us;      /* largest duration of any node */
    uint32_t cycles_count;    /* nodes that tell their cycles */
    uint32_t other_count;
    uint32_t node_count;
    uint32_t child_total;  /* entries of children: distinct edges */
    uint32_t parent_total; /* entries of parents */
    uint32_t string_bytes;
    uint32_t lane_count;
    bool side_by_side;  /* the file's metadata ask for policy streams: TRACE_POLICY_KEY */
    struct arena arena; /* owns all of the above but nodes, parent_written and strings, which are blocks of their own */
};

/* Index of the node with this id, or UINT32_MAX. */
uint32_t trace_graph_find(const struct trace_graph *graph, uint64_t id);

/*
 * Reads a Chakra ET file that is already in memory; `name` starts the error messages. The graph keeps nothing of
 * `bytes`. Fails as trace_set_load does. A graph without nodes is fine here.
 */
ORR_MUST_CHECK enum orr_status trace_graph_parse(const uint8_t *bytes, size_t size, const char *name, struct mem *mem,
                                                 struct trace_graph **graph, struct orr_error *err);
void trace_graph_free(struct trace_graph *graph); /* NULL is fine */

/* Whether the metadata of the ET file at `path` ask for policy streams; no where it cannot be read. */
bool trace_file_side_by_side(const char *path, struct mem *mem);

/* Whether two graphs differ in nothing but a constant added to every id, modulo 2^64. */
bool trace_graph_equal(const struct trace_graph *a, const struct trace_graph *b);

static inline const char *trace_graph_name(const struct trace_graph *graph, uint32_t node)
{
    return graph->strings + graph->nodes[node].name;
}

/* One rank of a set: its graph, and what to add to the graph's ids to get the ids in this rank's file (modulo 2^64). */
struct trace_rank {
    const struct trace_graph *graph;
    uint64_t id_offset;
    uint32_t
        file; /* the rank in the file's name, for messages: another one where ranks were made (trace/replicate.h) */
};

static inline uint64_t trace_rank_node_id(const struct trace_rank *rank, uint32_t node)
{
    return rank->graph->nodes[node].id + rank->id_offset;
}

/* The traces of all ranks; ranks whose files are equal up to a constant added to every id share a graph. */
struct trace_set {
    struct trace_rank *ranks;
    uint32_t rank_count;
    uint32_t graph_count;
    uint32_t borrowed; /* of the graphs, the first so many are another set's, which frees them */
    struct trace_graph **graphs;
    struct mem *mem;
    char *prefix; /* for messages: files are PREFIX.RANK.et */
};

/*
 * Reads PREFIX.0.et … PREFIX.(ranks-1).et into a set owned by the caller. With `as_many_as_exist`, stops before the
 * first missing file instead of failing (at least one must exist).
 *
 * Fails with ORR_EIO (missing, unreadable, a directory, not a regular file), ORR_EINVAL (not a Chakra ET file, an
 * attribute of the wrong type, a node id used twice, a dependency on a node that is not there), ORR_ENOMEM. A file with
 * no node at all is a note, not an error; so is a file behind the last rank's.
 */
ORR_MUST_CHECK enum orr_status trace_set_load(const char *prefix, uint32_t ranks, bool as_many_as_exist,
                                              struct mem *mem, struct notes *notes, struct trace_set **set,
                                              struct orr_error *err);
/* An empty set: ranks without a graph, room for so many graphs, all NULL; NULL where memory is refused. */
struct trace_set *trace_set_new(const char *prefix, uint32_t ranks, uint32_t graphs, struct mem *mem);
void trace_set_free(struct trace_set *set); /* NULL is fine */

#endif
