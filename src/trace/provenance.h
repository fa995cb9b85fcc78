/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The communication of a trace by how its type and size were known: what the attributes type_from, size_from and step
 * add up to, which converters
 * leave on the nodes they make from a recording. Reads a document, so that traces of any origin can be asked; one
 * without the attributes has its nodes counted as not saying. Owns its rows; texts are the document's.
 */
#ifndef ORR_TRACE_PROVENANCE_H
#define ORR_TRACE_PROVENANCE_H

#include "trace/document.h"
#include "trace/graph.h"

#define TRACE_STEP_NAME      "step"      /* int64: the step a node belongs to */
#define TRACE_TYPE_FROM_NAME "type_from" /* string: how a communication's type was known */
#define TRACE_SIZE_FROM_NAME "size_from" /* string: how its size was known */

struct trace_provenance_row {
    uint8_t type;          /* enum trace_node_type: TRACE_SEND, TRACE_RECV or TRACE_COLL */
    int32_t comm_type;     /* Chakra's number of a collective; -1 = none or no such */
    const char *type_from; /* "" = the node does not say */
    const char *size_from;
    int64_t step; /* only in steps */
    uint64_t count;
    uint64_t bytes; /* modulo 2^64 */
};

struct trace_provenance {
    struct trace_provenance_row *rows; /* by type, then texts */
    uint32_t row_count;
    struct trace_provenance_row *steps; /* by step, then type; texts are "" */
    uint32_t step_count;
    uint64_t nodes;   /* that communicate */
    uint64_t unsaid;  /* of these, without type_from or size_from */
    uint64_t outside; /* of these, in no step */
    uint32_t capacity;
    struct mem *mem;
};

/* Fails with ORR_ENOMEM only. */
ORR_MUST_CHECK enum orr_status trace_provenance_count(const struct trace_document *document, struct mem *mem,
                                                      struct trace_provenance *table, struct orr_error *err);
void trace_provenance_free(struct trace_provenance *table);

#endif
