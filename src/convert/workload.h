/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The graph a foreign format becomes on its way to ET files: operations of all ranks, each with what Chakra can say of
 * it, and who waits for whom, added in any order. Writing puts each rank's operations after those they wait for
 * (otherwise in the order they were added), numbers them from 0 without gaps, turns nanoseconds into Chakra's whole
 * microseconds, and makes one file a rank. A circle of dependencies is refused with the names in it.
 *
 * Readers own the workload and say what an operation is; knows nothing of any input format.
 */
#ifndef ORR_CONVERT_WORKLOAD_H
#define ORR_CONVERT_WORKLOAD_H

#include "base/intern.h"
#include "convert/comm_name.h"
#include "convert/convert.h"
#include "convert/provenance.h"
#include "trace/graph.h"

/* Ranks a workload can have: beyond it a number in a file is a mistake, not a machine. */
enum { WORKLOAD_RANKS_MAX = 1 << 20 };

enum workload_has {
    WORKLOAD_HAS_STEP = 1 << 0,
    WORKLOAD_HAS_STREAM = 1 << 1,
    WORKLOAD_HAS_TENSOR_BYTES = 1 << 2,
    WORKLOAD_HAS_NUM_OPS = 1 << 3,
    WORKLOAD_IS_CPU_OP = 1 << 4,
    WORKLOAD_HAS_ROOT = 1 << 5,
    WORKLOAD_HAS_COMM_SIZE = 1 << 6, /* needed by every communication */
};

struct workload_node {
    uint64_t line;     /* in the input, from 1, for messages; 0 = not known */
    uint64_t start_us; /* as recorded; 0 = not known */
    uint64_t duration_ns;
    uint64_t bytes; /* comm_size; at most INT64_MAX */
    uint64_t tensor_bytes;
    uint64_t num_ops;
    int64_t step;
    int64_t stream;
    uint32_t rank;
    uint32_t name;  /* in texts */
    uint32_t group; /* in texts; 0 = none */
    uint32_t lane;  /* durations below a microsecond are carried on within a lane of a rank; any small number */
    int32_t peer;   /* destination of a SEND, source of a RECV */
    int32_t tag;
    int32_t root;
    uint16_t has;      /* enum workload_has */
    uint8_t type;      /* enum trace_node_type */
    uint8_t comm_kind; /* of a COLL: a collective of enum comm_kind */
    uint8_t type_from; /* of a communication: enum provenance */
    uint8_t size_from;
};

struct workload_edge {
    uint32_t child, parent; /* of the same rank */
};

struct workload {
    struct mem *mem;
    struct intern texts;
    struct workload_node *nodes;
    struct workload_edge *edges;
    uint32_t node_count, node_capacity;
    uint32_t edge_count, edge_capacity;
    uint32_t ranks; /* files to write; at least 1 and above every node's rank */
    bool copies;    /* the nodes are all of rank 0, and every rank gets them */
};

void workload_init(struct workload *workload, struct mem *mem);
void workload_free(struct workload *workload);

/* Copies `node`; false when memory is refused (mem_error says why). */
ORR_MUST_CHECK bool workload_add(struct workload *workload, const struct workload_node *node, uint32_t *index);
/* `child` starts when `parent` has ended. Said twice it counts once. */
ORR_MUST_CHECK bool workload_depend(struct workload *workload, uint32_t child, uint32_t parent);
/* A text for a node's fields. */
ORR_MUST_CHECK bool workload_text(struct workload *workload, const char *text, size_t length, uint32_t *number);

/*
 * Sets how many ranks are written, from those found in the input and those asked for: the same number, or any number of
 * copies of a single rank that talks to no one by name. Else ORR_EINVAL.
 */
ORR_MUST_CHECK enum orr_status workload_set_ranks(struct workload *workload, const struct convert_request *request,
                                                  uint32_t found, struct orr_error *err);

/* Whether it can be written: ORR_EINVAL when operations wait for each other in a circle, or a rank has none. */
ORR_MUST_CHECK enum orr_status workload_check(const struct workload *workload, const char *input,
                                              struct orr_error *err);

/*
 * Checks and writes. One rank and an output that ends in ".et": that file. Else OUTPUT.R.et for each rank R, a ".et" at
 * the end of OUTPUT not counted. Nothing is written when anything is wrong with the workload.
 */
ORR_MUST_CHECK enum orr_status workload_write(const struct workload *workload, const struct convert_request *request,
                                              struct convert_summary *summary, struct orr_error *err);

/* Converts, by way of a workload or as the converter does it itself. */
ORR_MUST_CHECK enum orr_status workload_convert(const struct converter *converter,
                                                const struct convert_request *request, struct convert_summary *summary,
                                                struct orr_error *err);

/*
 * The bytes one rank puts in, which is what comm_size means, from the bytes it gets out: an all-gather's output is all
 * ranks' inputs, a reduce-scatter's is one rank's share. False when the result does not fit 63 bits.
 */
bool workload_input_bytes(enum comm_kind kind, uint64_t output_bytes, uint32_t ranks, uint64_t *input_bytes);

/* `request->unknown_size` for a communication of unknown size, or the error that asks for it: "file:line: the size of
 * NAME is not in REASON …". */
ORR_MUST_CHECK enum orr_status workload_unknown_size(const struct workload *workload,
                                                     const struct convert_request *request, const char *reason,
                                                     struct workload_node *node, struct orr_error *err);

#endif
