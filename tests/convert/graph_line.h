/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A small ET file as one line, so that a table of cases reads as sentences. First the first node's id and ':', then for
 * each node its name without Chakra's prefix (a collective's begins with '*'), the duration "/US" or the type and size
 * ":TYPE:BYTES", the group "@ID" and the dimensions "#1000…" where given, and "<ID,ID" for what it waits for.
 */
#ifndef ORR_TESTS_CONVERT_GRAPH_LINE_H
#define ORR_TESTS_CONVERT_GRAPH_LINE_H

#include <stdlib.h>

#include "tests/check.h"
#include "trace/document.h"

static const Chakra__Attribute *graph_line_find(const Chakra__Node *node, const char *name)
{
    for (size_t i = 0; i < node->n_attr; i++) {
        if (strcmp(node->attr[i]->name, name) == 0)
            return node->attr[i];
    }
    return NULL;
}

static void graph_line_deps(FILE *stream, const Chakra__Node *node)
{
    for (size_t i = 0; i < node->n_data_deps; i++)
        fprintf(stream, "%c%" PRIu64, i == 0 ? '<' : ',', node->data_deps[i]);
}

static void graph_line_node(FILE *stream, const Chakra__Node *node)
{
    bool comm = node->type == CHAKRA__NODE_TYPE__COMM_COLL_NODE;
    bool sends = node->type == CHAKRA__NODE_TYPE__COMM_SEND_NODE;
    if (sends || node->type == CHAKRA__NODE_TYPE__COMM_RECV_NODE) {
        fprintf(stream, " %s%" PRId32 ":%" PRId64 "#%" PRId32, sends ? "to" : "from",
                graph_line_find(node, sends ? "comm_dst" : "comm_src")->int32_val,
                graph_line_find(node, "comm_size")->int64_val, graph_line_find(node, "comm_tag")->int32_val);
        graph_line_deps(stream, node);
        return;
    }
    const char *prefix = comm ? "COMM_COLL_NODE_" : "COMP_NODE_";
    CHECK(strncmp(node->name, prefix, strlen(prefix)) == 0, "%s", node->name);
    fprintf(stream, " %s%s", comm ? "*" : "", node->name + strlen(prefix));
    if (comm) {
        const Chakra__Attribute *group = graph_line_find(node, "pg_name");
        const Chakra__Attribute *dims = graph_line_find(node, "involved_dim");
        fprintf(stream, ":%" PRId64 ":%" PRId64, graph_line_find(node, "comm_type")->int64_val,
                graph_line_find(node, "comm_size")->int64_val);
        if (group != NULL)
            fprintf(stream, "@%s", group->string_val);
        for (size_t i = 0; dims != NULL && i < dims->bool_list->n_values; i++)
            fprintf(stream, "%s%d", i == 0 ? "#" : "", dims->bool_list->values[i]);
    } else {
        fprintf(stream, "/%" PRIu64, node->duration_micros);
    }
    graph_line_deps(stream, node);
}

/* To be freed. */
static char *graph_line(const char *path)
{
    struct mem mem = {0};
    struct orr_error err = {0};
    struct trace_document *document = NULL;
    char *text = NULL;
    size_t size = 0;
    CHECK_OK(trace_document_read(path, &mem, &document, &err), &err);
    FILE *stream = open_memstream(&text, &size);
    fprintf(stream, "%" PRIu64 ":", document->node_count > 0 ? document->nodes[0]->id : 0);
    for (uint32_t i = 0; i < document->node_count; i++)
        graph_line_node(stream, document->nodes[i]);
    fclose(stream);
    trace_document_free(document);
    return text;
}

#endif
