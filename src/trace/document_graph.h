/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The dependencies of a document as indices, for tools that must live with faults: ids used twice (the first one
 * counts), dependencies on nodes that are not there (left out and counted), cycles (their nodes have no place in the
 * order). The simulator's graph (trace/graph.h) refuses what this describes.
 */
#ifndef ORR_TRACE_DOCUMENT_GRAPH_H
#define ORR_TRACE_DOCUMENT_GRAPH_H

#include "trace/document.h"

struct document_graph {
    uint32_t node_count;
    uint32_t *by_id;        /* node indices (places in the file), by ascending id, then place */
    uint32_t *parent_start; /* node_count + 1 */
    uint32_t *parents;      /* node indices, each node's distinct and in ascending order; a node may be its own */
    uint32_t *order;        /* the nodes that can be ordered, parents before children */
    uint32_t ordered_count; /* less than node_count when there are cycles */
    uint64_t data_edges, ctrl_edges; /* as written */
    uint64_t missing_edges;          /* of these, on nodes that are not there */
    struct arena arena;              /* owns the arrays */
};

ORR_MUST_CHECK enum orr_status document_graph_open(struct document_graph *graph, const struct trace_document *document,
                                                   struct mem *mem, struct orr_error *err);
void document_graph_close(struct document_graph *graph);

/* Index of the (first) node with this id, or UINT32_MAX. */
uint32_t document_graph_find(const struct document_graph *graph, const struct trace_document *document, uint64_t id);

#endif
