/* SPDX-License-Identifier: Apache-2.0 */
/*
 * GraphML as networkx writes a simple directed graph (spec chakra §12): nodes in the order in which they are first
 * mentioned, edges grouped by where they start and in the order in which they were added, one edge a pair, the kind
 * last given to it. A pair met again is found by sorting, not by a table of pairs: edges are by far the most there is.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/intern.h"
#include "base/number_map.h"
#include "compat/chakra/visualizer.h"
#include "trace/record.h"

struct graph_node {
    uint64_t id;
    uint32_t label; /* in labels */
    bool has_label; /* else only mentioned as a dependency */
};

struct graph_edge {
    uint32_t from, to; /* places in nodes */
    uint32_t order;
    bool is_control;
};

struct graph {
    struct mem *mem;
    struct intern labels;
    struct number_map places; /* in nodes, by id */
    struct graph_node *nodes;
    uint32_t node_count, node_capacity;
    struct graph_edge *edges;
    uint32_t edge_count, edge_capacity;
};

static void graph_free(struct graph *graph)
{
    mem_free(graph->mem, graph->nodes, graph->node_capacity * sizeof *graph->nodes);
    mem_free(graph->mem, graph->edges, graph->edge_capacity * sizeof *graph->edges);
    number_map_free(&graph->places);
    intern_free(&graph->labels);
}

/* ---- reading ---- */

static bool visualizer_graphml_place_of(struct graph *graph, uint64_t id, uint32_t *place)
{
    *place = graph->node_count;
    if (!MEM_GROW(graph->mem, graph->nodes, graph->node_capacity, graph->node_count) ||
        !number_map_add(&graph->places, (int64_t)id, place)) {
        return false;
    }
    if (*place == graph->node_count) {
        graph->nodes[graph->node_count++] = (struct graph_node){.id = id};
    }
    return true;
}

static bool visualizer_graphml_add_edges(struct graph *graph, const struct record_ids *from, uint32_t to,
                                         bool is_control)
{
    for (uint32_t i = 0; i < from->count; i++) {
        uint32_t place;
        if (!visualizer_graphml_place_of(graph, from->ids[i], &place) ||
            !MEM_GROW(graph->mem, graph->edges, graph->edge_capacity, graph->edge_count)) {
            return false;
        }
        graph->edges[graph->edge_count] = (struct graph_edge){place, to, graph->edge_count, is_control};
        graph->edge_count++;
    }
    return true;
}

/* XML knows no control characters but tab and line ends, not even escaped. */
static bool is_xml(struct record_text text)
{
    for (size_t i = 0; i < text.length; i++) {
        unsigned char c = (unsigned char)text.text[i];
        if (c < 0x20 && c != '\t' && c != '\n' && c != '\r') {
            return false;
        }
    }
    return true;
}

static enum orr_status visualizer_graphml_add_node(struct graph *graph, const char *input,
                                                   const struct record_facts *node, struct orr_error *err)
{
    uint32_t place;
    uint32_t label;
    if (!is_xml(node->name)) {
        return error_set(err, ORR_EINVAL,
                         "%s: the name of node %" PRIu64 " has a control character, which GraphML "
                         "cannot hold",
                         input, node->id);
    }
    if (!visualizer_graphml_place_of(graph, node->id, &place) ||
        !intern_add(&graph->labels, node->name.text, node->name.length, &label)) {
        return mem_error(graph->mem, "the nodes of a graph", err);
    }
    graph->nodes[place].label = label;
    graph->nodes[place].has_label = true;
    if (!visualizer_graphml_add_edges(graph, &node->data, place, false) ||
        !visualizer_graphml_add_edges(graph, &node->ctrl, place, true)) {
        return mem_error(graph->mem, "the edges of a graph", err);
    }
    return ORR_OK;
}

static enum orr_status read_graph(struct graph *graph, const char *input, struct orr_error *err)
{
    struct record_reader reader;
    struct record_facts node;
    bool more = true;
    enum orr_status status = record_reader_open(&reader, input, graph->mem, err);
    if (status != ORR_OK) {
        return status;
    }
    record_facts_init(&node);
    for (uint64_t count = 0; status == ORR_OK && more; count++) {
        struct record record;
        status = record_reader_next(&reader, &record, &more, err);
        if (status != ORR_OK || !more || (record.size == 0 && count > 0)) {
            break; /* a record of length 0 ends the file for Chakra's readers */
        }
        if (count > 0) {
            status = record_scan(&reader, &record, &node, err);
            status = status == ORR_OK ? visualizer_graphml_add_node(graph, input, &node, err) : status;
        }
    }
    record_facts_free(&node, graph->mem);
    record_reader_close(&reader);
    return status;
}

/* ---- one edge a pair ---- */

static int compare_u32(uint32_t a, uint32_t b)
{
    return (a > b) - (a < b);
}

static int visualizer_graphml_by_pair(const void *left, const void *right)
{
    const struct graph_edge *a = left;
    const struct graph_edge *b = right;
    int from = compare_u32(a->from, b->from);
    int to = compare_u32(a->to, b->to);
    return from != 0 ? from : to != 0 ? to : compare_u32(a->order, b->order);
}

static int by_start(const void *left, const void *right)
{
    const struct graph_edge *a = left;
    const struct graph_edge *b = right;
    int from = compare_u32(a->from, b->from);
    return from != 0 ? from : compare_u32(a->order, b->order);
}

static void merge_edges(struct graph *graph)
{
    uint32_t kept = 0;
    if (graph->edge_count == 0) {
        return;
    }
    qsort(graph->edges, graph->edge_count, sizeof *graph->edges, visualizer_graphml_by_pair);
    for (uint32_t i = 0; i < graph->edge_count; i++) {
        const struct graph_edge *edge = &graph->edges[i];
        struct graph_edge *last = kept > 0 ? &graph->edges[kept - 1] : NULL;
        if (last != NULL && last->from == edge->from && last->to == edge->to) {
            last->is_control = edge->is_control; /* the place is the first one's */
        } else {
            graph->edges[kept++] = *edge;
        }
    }
    graph->edge_count = kept;
    qsort(graph->edges, graph->edge_count, sizeof *graph->edges, by_start);
}

/* ---- writing ---- */

static void visualizer_graphml_put_text(FILE *stream, const char *text)
{
    for (; *text != '\0'; text++) {
        switch (*text) {
        case '&':
            (void)fputs("&amp;", stream);
            break;
        case '<':
            (void)fputs("&lt;", stream);
            break;
        case '>':
            (void)fputs("&gt;", stream);
            break;
        case '\r':
            (void)fputs("&#13;", stream);
            break;
        default:
            (void)fputc(*text, stream);
        }
    }
}

static void visualizer_graphml_put_head(FILE *stream, const struct graph *graph)
{
    bool labelled = false;
    for (uint32_t i = 0; i < graph->node_count; i++) {
        labelled = labelled || graph->nodes[i].has_label;
    }
    (void)fputs("<?xml version='1.0' encoding='utf-8'?>\n"
                "<graphml xmlns=\"http://graphml.graphdrawing.org/xmlns\" "
                "xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\" "
                "xsi:schemaLocation=\"http://graphml.graphdrawing.org/xmlns "
                "http://graphml.graphdrawing.org/xmlns/1.0/graphml.xsd\">",
                stream);
    if (graph->edge_count > 0) {
        (void)fputs("<key id=\"d1\" for=\"edge\" attr.name=\"dependency\" attr.type=\"string\"/>\n", stream);
    }
    if (labelled) {
        (void)fputs("<key id=\"d0\" for=\"node\" attr.name=\"label\" attr.type=\"string\"/>\n", stream);
    }
    (void)fputs("<graph edgedefault=\"directed\">", stream);
}

static void put_graph(FILE *stream, const struct graph *graph)
{
    visualizer_graphml_put_head(stream, graph);
    for (uint32_t i = 0; i < graph->node_count; i++) {
        const struct graph_node *node = &graph->nodes[i];
        if (!node->has_label) {
            (void)fprintf(stream, "<node id=\"%" PRIu64 "\"/>\n", node->id);
            continue;
        }
        const char *label = intern_text(&graph->labels, node->label);
        (void)fprintf(stream, "<node id=\"%" PRIu64 "\">\n  ", node->id);
        if (label[0] == '\0') {
            (void)fputs("<data key=\"d0\"/>", stream);
        } else {
            (void)fputs("<data key=\"d0\">", stream);
            visualizer_graphml_put_text(stream, label);
            (void)fputs("</data>", stream);
        }
        (void)fputs("\n</node>\n", stream);
    }
    for (uint32_t i = 0; i < graph->edge_count; i++) {
        const struct graph_edge *edge = &graph->edges[i];
        (void)fprintf(stream,
                      "<edge source=\"%" PRIu64 "\" target=\"%" PRIu64 "\">\n  <data key=\"d1\">%s</data>\n</edge>\n",
                      graph->nodes[edge->from].id, graph->nodes[edge->to].id, edge->is_control ? "control" : "data");
    }
    (void)fputs("</graph></graphml>", stream);
}

enum orr_status visualizer_graphml(const char *input, FILE *stream, struct mem *mem, struct orr_error *err)
{
    struct graph graph = {.mem = mem};
    intern_init(&graph.labels, mem);
    number_map_init(&graph.places, mem);
    enum orr_status status = read_graph(&graph, input, err);
    if (status == ORR_OK) {
        merge_edges(&graph);
        put_graph(stream, &graph);
    }
    graph_free(&graph);
    return status;
}
