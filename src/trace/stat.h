/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a trace amounts to: nodes by type, bytes by collective, the longest chain. Read from a document, so that it
 * works on files with faults too; what a fault keeps out (nodes on cycles) is counted.
 */
#ifndef ORR_TRACE_STAT_H
#define ORR_TRACE_STAT_H

#include "trace/document.h"
#include "trace/graph.h"

enum { TRACE_STAT_COLLECTIVES = 10 }; /* Chakra's collective types, 0 to 9 (spec analytical §4.1) */

struct trace_stat_traffic {
    uint64_t count;
    uint64_t bytes; /* sum of comm_size where given */
};

struct trace_stat {
    uint64_t nodes;
    uint64_t nodes_of[TRACE_NODE_TYPES];
    uint64_t nodes_unknown; /* of a type that does not exist */
    uint64_t cpu_nodes, gpu_nodes;
    uint64_t data_edges, ctrl_edges; /* as written */
    uint64_t edges;                  /* distinct, between nodes that are there */
    uint64_t missing_edges;          /* on nodes that are not there */
    uint64_t roots;                  /* nodes that wait for nothing */
    struct trace_stat_traffic collectives[TRACE_STAT_COLLECTIVES];
    struct trace_stat_traffic other_collectives; /* comm_type missing or none of Chakra's */
    struct trace_stat_traffic sends, recvs;
    uint64_t compute_us, compute_cpu_us; /* duration_micros of GPU and of CPU compute nodes */
    uint64_t duration_us;                /* of all nodes */
    /* The chain of dependencies with the largest sum of duration_micros; of several, the one with most nodes. */
    uint64_t critical_us;
    uint64_t critical_nodes;
    uint64_t critical_end_id; /* its last node; only if critical_nodes > 0 */
    uint64_t longest_chain;   /* nodes of the longest chain, whatever it lasts */
    uint64_t unordered_nodes; /* on or behind cycles: part of no chain */
};

/* Sums are modulo 2^64. Fails with ORR_ENOMEM only. */
ORR_MUST_CHECK enum orr_status trace_stat(const struct trace_document *document, struct mem *mem,
                                          struct trace_stat *stat, struct orr_error *err);

#endif
