/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is wrong with a trace, node by node: everything that would make a simulation refuse it, or wait for ever, or
 * leave nodes out. Each finding is one sentence with its node ids kept as numbers too. Finding nothing means that the
 * simulator's reader (trace/graph.h) accepts the file and that every node can run; whether ranks fit together is not
 * visible in one file.
 */
#ifndef ORR_TRACE_CHECK_H
#define ORR_TRACE_CHECK_H

#include "trace/document.h"

#define TRACE_FINDINGS(X)                                                                                              \
    X(NO_NODE, "no node")                                                                                              \
    X(DUPLICATE_ID, "duplicate id")                                                                                    \
    X(UNKNOWN_TYPE, "unknown node type")                                                                               \
    X(MISSING_ATTRIBUTE, "missing attribute")                                                                          \
    X(WRONG_ATTRIBUTE, "attribute of the wrong kind")                                                                  \
    X(OUT_OF_RANGE, "value that no run accepts")                                                                       \
    X(SELF_DEPENDENCY, "self dependency")                                                                              \
    X(MISSING_DEPENDENCY, "missing dependency")                                                                        \
    X(CYCLE, "dependency cycle")                                                                                       \
    X(UNREACHABLE, "unreachable nodes")

enum trace_finding_kind {
#define TRACE_X(id, text) TRACE_FINDING_##id,
    TRACE_FINDINGS(TRACE_X)
#undef TRACE_X
        TRACE_FINDING_KINDS
};

const char *trace_finding_kind_name(enum trace_finding_kind kind);

struct trace_finding {
    enum trace_finding_kind kind;
    const char *text;    /* one sentence, no newline */
    const uint64_t *ids; /* the node at fault first; then the id it names, or the rest of the cycle in order (each
                            depends on the next, the last on the first), or all unreachable nodes; of NO_NODE, none */
    uint32_t id_count;
};

struct trace_findings {
    struct trace_finding *items; /* by node in file order, then cycles, then unreachable nodes */
    uint32_t count, capacity;
    struct arena arena; /* owns texts and ids */
};

/* Fails with ORR_ENOMEM only. On success the caller frees the findings. */
ORR_MUST_CHECK enum orr_status trace_check(const struct trace_document *document, struct mem *mem,
                                           struct trace_findings *findings, struct orr_error *err);
void trace_findings_free(struct trace_findings *findings);

#endif
