/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the two readers of Chakra ET files owe each other, as one function that takes any bytes: the tests feed it
 * random and damaged documents, the fuzzer whatever it likes. The lossless reader (protobuf-c) is the oracle.
 */
#ifndef ORR_TESTS_TRACE_AGREE_H
#define ORR_TESTS_TRACE_AGREE_H

#include <string.h>

#include "trace/check.h"
#include "trace/document.h"
#include "trace/graph.h"
#include "trace/stat.h"

/* Findings that the simulator's reader refuses; the others it leaves to the run. */
static inline bool agree_refused(enum trace_finding_kind kind)
{
    return kind == TRACE_FINDING_DUPLICATE_ID || kind == TRACE_FINDING_UNKNOWN_TYPE ||
           kind == TRACE_FINDING_WRONG_ATTRIBUTE || kind == TRACE_FINDING_MISSING_DEPENDENCY;
}

static inline uint64_t agree_integer(const Chakra__Node *node, enum trace_attr which)
{
    const Chakra__Attribute *attr = trace_document_attribute(node, which);
    uint64_t bits = 0;
    bool negative;
    return attr != NULL && trace_document_integer(attr, &bits, &negative) ? bits : 0;
}

/* Why node `k` of the file is not the same in both, or NULL. */
static inline const char *agree_node(const struct trace_graph *graph, const struct trace_document *document, uint32_t k)
{
    uint32_t at = graph->file_order[k];
    const struct trace_node *fast = &graph->nodes[at];
    const Chakra__Node *whole = document->nodes[k];
    static const struct {
        enum trace_attr attr;
        uint16_t has;
    } attrs[] = {{TRACE_ATTR_COMM_SIZE, TRACE_HAS_COMM_SIZE},       {TRACE_ATTR_COMM_TYPE, TRACE_HAS_COMM_TYPE},
                 {TRACE_ATTR_COMM_SRC, TRACE_HAS_COMM_SRC},         {TRACE_ATTR_COMM_DST, TRACE_HAS_COMM_DST},
                 {TRACE_ATTR_COMM_TAG, TRACE_HAS_COMM_TAG},         {TRACE_ATTR_TENSOR_SIZE, TRACE_HAS_TENSOR_SIZE},
                 {TRACE_ATTR_NUM_OPS, TRACE_HAS_NUM_OPS},           {TRACE_ATTR_ROOT, TRACE_HAS_ROOT},
                 {TRACE_ATTR_INVOLVED_DIM, TRACE_HAS_INVOLVED_DIM}, {TRACE_ATTR_IS_CPU_OP, TRACE_HAS_IS_CPU_OP}};
    for (size_t i = 0; i < sizeof attrs / sizeof attrs[0]; i++) {
        if ((trace_document_attribute(whole, attrs[i].attr) != NULL) != ((fast->has & attrs[i].has) != 0)) {
            return "a node has an attribute in one reader only";
        }
    }
    if (fast->id != whole->id || fast->type != (uint32_t)whole->type || fast->duration_us != whole->duration_micros ||
        strcmp(trace_graph_name(graph, at), whole->name) != 0) {
        return "a node's id, type, duration or name differs";
    }
    if (fast->comm_bytes != agree_integer(whole, TRACE_ATTR_COMM_SIZE) ||
        fast->tensor_bytes != agree_integer(whole, TRACE_ATTR_TENSOR_SIZE) ||
        fast->num_ops != agree_integer(whole, TRACE_ATTR_NUM_OPS) ||
        (uint32_t)fast->comm_src != (uint32_t)agree_integer(whole, TRACE_ATTR_COMM_SRC) ||
        (uint32_t)fast->comm_dst != (uint32_t)agree_integer(whole, TRACE_ATTR_COMM_DST) ||
        (uint32_t)fast->comm_tag != (uint32_t)agree_integer(whole, TRACE_ATTR_COMM_TAG) ||
        (uint32_t)fast->comm_priority != (uint32_t)agree_integer(whole, TRACE_ATTR_COMM_PRIORITY) ||
        (uint32_t)fast->root != (uint32_t)agree_integer(whole, TRACE_ATTR_ROOT) ||
        (fast->is_cpu_op != 0) != (agree_integer(whole, TRACE_ATTR_IS_CPU_OP) != 0)) {
        return "an attribute's value differs";
    }
    if (graph->parent_written[at] != whole->n_data_deps + whole->n_ctrl_deps) {
        return "a node's number of dependencies differs";
    }
    for (uint32_t p = 0; p < graph->parent_written[at]; p++) {
        uint64_t id = p < whole->n_data_deps ? whole->data_deps[p] : whole->ctrl_deps[p - whole->n_data_deps];
        if (graph->nodes[graph->parents[graph->parent_start[at] + p]].id != id) {
            return "a node's dependencies differ, or their order";
        }
    }
    return NULL;
}

/* The graph's two views of the edges say the same, and every index is one. */
static inline const char *agree_edges(const struct trace_graph *graph)
{
    uint64_t children = 0;
    uint64_t parents = 0;
    for (uint32_t i = 0; i < graph->node_count; i++) {
        const struct trace_node *node = &graph->nodes[i];
        if (node->first_child != children || (i > 0 && node->id <= node[-1].id)) {
            return "children are not grouped, or nodes not ascending";
        }
        children += node->child_count;
        parents += node->parent_count;
    }
    if (children != graph->child_total || parents != children) {
        return "parents and children do not add up";
    }
    for (uint32_t c = 0; c < graph->child_total; c++) {
        if (graph->children[c] >= graph->node_count) {
            return "a child is no node";
        }
    }
    return NULL;
}

static inline const char *agree_graphs(const struct trace_graph *graph, const struct trace_document *document)
{
    if (graph->node_count != document->node_count) {
        return "the readers found different numbers of nodes";
    }
    const char *complaint = agree_edges(graph);
    for (uint32_t k = 0; k < graph->node_count && complaint == NULL; k++) {
        complaint = agree_node(graph, document, k);
    }
    return complaint;
}

/* The document written and read again is the same document: writing is a fixed point. */
static inline const char *agree_rewrite(const struct trace_document *document, struct mem *mem)
{
    uint8_t *first, *second;
    size_t first_size, second_size;
    struct trace_document *again;
    struct orr_error err;
    if (trace_document_encode(document->metadata, document->nodes, document->node_count, mem, &first, &first_size,
                              &err) != ORR_OK) {
        return "a document that was read cannot be written";
    }
    const char *complaint = "a document that was written cannot be read";
    if (trace_document_parse(first, first_size, "again", mem, &again, &err) == ORR_OK) {
        complaint = "a document that was written cannot be written again";
        if (trace_document_encode(again->metadata, again->nodes, again->node_count, mem, &second, &second_size, &err) ==
            ORR_OK) {
            bool same = first_size == second_size && memcmp(first, second, first_size) == 0;
            complaint = same ? NULL : "a document changes when it is written again";
            mem_free(mem, second, second_size);
        }
        trace_document_free(again);
    }
    mem_free(mem, first, first_size);
    return complaint;
}

static inline const char *agree_document(const struct trace_graph *graph, const struct trace_document *document,
                                         struct mem *mem)
{
    struct trace_findings findings;
    struct trace_stat stat;
    struct orr_error err;
    if (trace_check(document, mem, &findings, &err) != ORR_OK || trace_stat(document, mem, &stat, &err) != ORR_OK) {
        return "check or stat failed";
    }
    bool refused = false;
    for (uint32_t i = 0; i < findings.count; i++) {
        refused = refused || agree_refused(findings.items[i].kind);
    }
    trace_findings_free(&findings);
    if (refused != (graph == NULL)) {
        return refused ? "the simulator's reader accepts what check finds unusable"
                       : "the simulator's reader refuses a file without such a fault";
    }
    const char *complaint = graph == NULL ? NULL : agree_graphs(graph, document);
    return complaint == NULL ? agree_rewrite(document, mem) : complaint;
}

/* NULL when the readers, check and stat are consistent about these bytes. The three things the simulator's reader may
 * overlook are those of trace/document.h: a NUL in a text, and the inside of lists, of strings or of anything else. */
static inline const char *agree(const uint8_t *bytes, size_t size)
{
    struct mem mem = {0};
    struct trace_graph *graph = NULL;
    struct trace_document *document = NULL;
    struct orr_error fast_error = {0};
    struct orr_error whole_error = {0};
    enum orr_status fast = trace_graph_parse(bytes, size, "f", &mem, &graph, &fast_error);
    enum orr_status whole = trace_document_parse(bytes, size, "f", &mem, &document, &whole_error);
    const char *complaint = NULL;
    if (whole == ORR_OK) {
        complaint = agree_document(fast == ORR_OK ? graph : NULL, document, &mem);
    } else if (fast == ORR_OK && strstr(whole_error.text, "a NUL byte in a text") == NULL &&
               strstr(whole_error.text, "in a list: ") == NULL &&
               strstr(whole_error.text, "wrong wire type or does not end") == NULL) {
        complaint = "the simulator's reader accepts a file that is not well-formed";
    }
    if (complaint == NULL && ((fast != ORR_OK && strncmp(fast_error.text, "f: byte ", 8) != 0) ||
                              (whole != ORR_OK && strncmp(whole_error.text, "f: byte ", 8) != 0))) {
        complaint = "an error does not say where";
    }
    trace_graph_free(graph);
    trace_document_free(document);
    if (complaint == NULL && mem.used != 0) {
        complaint = "memory is left over";
    }
    return complaint;
}

#endif
