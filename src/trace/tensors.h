/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tensors that the nodes of one trace read and write: the attributes "inputs" and "outputs" as ASTRA-sim's
 * track-local-mem wants them, lists of texts in which a tensor's name and its bytes take turns. Few traces have them
 * (those of STG do) and few runs ask, so they are read from the file on their own and the graph (trace/graph.h) knows
 * nothing of them.
 *
 * Owned by whoever loads them; never changed afterwards. What becomes of the tensors in a run is not known here.
 */
#ifndef ORR_TRACE_TENSORS_H
#define ORR_TRACE_TENSORS_H

#include "base/intern.h"
#include "trace/record.h"

struct trace_tensor_use {
    uint64_t bytes;  /* above 0: ASTRA-sim passes over tensors without any */
    uint32_t tensor; /* number in `names` */
};

/* A node that names tensors. */
struct trace_tensor_node {
    uint64_t id;
    uint32_t first;  /* of its uses, inputs before outputs, each in the file's order */
    uint32_t inputs; /* of them */
    uint32_t outputs;
};

struct trace_tensors {
    struct mem *mem;
    struct intern names;
    struct trace_tensor_node *nodes; /* ascending id */
    struct trace_tensor_use *uses;
    uint32_t node_count, node_capacity;
    uint32_t use_count, use_capacity;
    uint32_t untold; /* nodes that lack one of the two attributes */
};

/* Reads the file at `path`, plain or packed; the caller frees it. ORR_EIO; ORR_EINVAL with the node: a list that is not
 * in pairs, bytes that are no number; ORR_ENOMEM. */
ORR_MUST_CHECK enum orr_status trace_tensors_load(const char *path, struct mem *mem, struct trace_tensors **tensors,
                                                  struct orr_error *err);
/* The same for a file that is already in memory; keeps nothing of `bytes`. */
ORR_MUST_CHECK enum orr_status trace_tensors_parse(const uint8_t *bytes, size_t size, const char *name, struct mem *mem,
                                                   struct trace_tensors **tensors, struct orr_error *err);
void trace_tensors_free(struct trace_tensors *tensors); /* NULL is fine */

/* NULL for a node that names none. */
const struct trace_tensor_node *trace_tensors_find(const struct trace_tensors *tensors, uint64_t id);

/* Whether two say the same. */
bool trace_tensors_equal(const struct trace_tensors *a, const struct trace_tensors *b);

#endif
