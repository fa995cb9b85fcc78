/* SPDX-License-Identifier: Apache-2.0 */
/* Graphviz and GraphML, for drawing and for graph libraries: a node with its type, duration and size, and both kinds of
 * dependency, drawn solid (data) and dashed (control). An edge goes from the node waited for to the one that waits.
 * Edges may name nodes that come later; both formats allow that. */
#include <inttypes.h>

#include "convert/export_parts.h"
#include "io/xml_text.h"

static const char *type_name(const struct record_facts *facts)
{
    return facts->type < 0 ? "unknown" : trace_node_type_name((uint32_t)facts->type);
}

static bool export_graph_size_of(const struct record_facts *facts, uint64_t *bytes)
{
    bool comm = record_is_comm(facts->type);
    enum trace_attr which = comm ? TRACE_ATTR_COMM_SIZE : TRACE_ATTR_TENSOR_SIZE;
    *bytes = facts->value[which];
    return (facts->has & 1u << which) != 0;
}

/* ---- Graphviz ---- */

void export_dot_begin(FILE *stream)
{
    (void)fputs("digraph trace {\n"
                "  node [shape=box, style=filled, fontname=\"sans-serif\", fontsize=10];\n",
                stream);
}

static const char *dot_colour(const struct record_facts *facts)
{
    switch (facts->type) {
    case TRACE_COMP:
        return record_is_cpu(facts) ? "#f3e3b3" : "#bcd9f0";
    case TRACE_COLL:
        return "#f4b9a7";
    case TRACE_SEND:
    case TRACE_RECV:
        return "#e6c3e0";
    case TRACE_MEM_LOAD:
    case TRACE_MEM_STORE:
        return "#c5e3c0";
    default:
        return "#dddddd";
    }
}

static void dot_text(FILE *stream, struct record_text text)
{
    for (size_t i = 0; i < text.length; i++) {
        unsigned char c = (unsigned char)text.text[i];
        if (c == '"' || c == '\\') {
            (void)fputc('\\', stream);
        }
        (void)fputc(c < ' ' ? ' ' : c, stream);
    }
}

static void dot_edges(FILE *stream, const struct record_facts *facts, const struct record_ids *list, const char *style)
{
    for (uint32_t i = 0; i < list->count; i++) {
        (void)fprintf(stream, "  n%" PRIu64 " -> n%" PRIu64 "%s;\n", list->ids[i], facts->id, style);
    }
}

void export_dot_node(FILE *stream, const struct record_facts *facts)
{
    uint64_t bytes = 0;
    (void)fprintf(stream, "  n%" PRIu64 " [label=\"", facts->id);
    dot_text(stream, facts->name);
    (void)fprintf(stream, "\\n%s", type_name(facts));
    if (facts->duration_us > 0) {
        (void)fprintf(stream, "  %" PRIu64 " us", facts->duration_us);
    }
    if (export_graph_size_of(facts, &bytes)) {
        (void)fprintf(stream, "  %" PRIu64 " B", bytes);
    }
    (void)fprintf(stream, "\", fillcolor=\"%s\"];\n", dot_colour(facts));
    dot_edges(stream, facts, &facts->data, "");
    dot_edges(stream, facts, &facts->ctrl, " [style=dashed]");
}

void export_dot_end(FILE *stream)
{
    (void)fputs("}\n", stream);
}

/* ---- GraphML ---- */

static const struct {
    const char *id, *of, *name, *type;
} graphml_keys[] = {
    {"name", "node", "name", "string"},       {"type", "node", "type", "string"},
    {"start", "node", "start_us", "long"},    {"duration", "node", "duration_us", "long"},
    {"bytes", "node", "bytes", "long"},       {"cpu", "node", "is_cpu_op", "boolean"},
    {"comm", "node", "comm_type", "long"},    {"group", "node", "pg_name", "string"},
    {"kind", "edge", "dependency", "string"},
};

void export_graphml_begin(FILE *stream)
{
    (void)fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
                "<graphml xmlns=\"http://graphml.graphdrawing.org/xmlns\">\n",
                stream);
    for (size_t i = 0; i < sizeof graphml_keys / sizeof graphml_keys[0]; i++) {
        (void)fprintf(stream, "  <key id=\"%s\" for=\"%s\" attr.name=\"%s\" attr.type=\"%s\"/>\n", graphml_keys[i].id,
                      graphml_keys[i].of, graphml_keys[i].name, graphml_keys[i].type);
    }
    (void)fputs("  <graph id=\"trace\" edgedefault=\"directed\">\n", stream);
}

static void xml_data(FILE *stream, const char *key, struct record_text text)
{
    (void)fprintf(stream, "<data key=\"%s\">", key);
    io_xml_text(stream, text.text, text.length);
    (void)fputs("</data>", stream);
}

static void xml_number(FILE *stream, const char *key, uint64_t value)
{
    (void)fprintf(stream, "<data key=\"%s\">%" PRIu64 "</data>", key, value);
}

static void xml_edges(FILE *stream, const struct record_facts *facts, const struct record_ids *list, const char *kind)
{
    for (uint32_t i = 0; i < list->count; i++) {
        (void)fprintf(stream,
                      "    <edge source=\"n%" PRIu64 "\" target=\"n%" PRIu64 "\"><data key=\"kind\">%s</data></edge>\n",
                      list->ids[i], facts->id, kind);
    }
}

void export_graphml_node(FILE *stream, const struct record_facts *facts)
{
    uint64_t bytes = 0;
    const char *type = type_name(facts);
    (void)fprintf(stream, "    <node id=\"n%" PRIu64 "\">", facts->id);
    xml_data(stream, "name", facts->name);
    xml_data(stream, "type", (struct record_text){type, strlen(type)});
    xml_number(stream, "start", facts->start_us);
    xml_number(stream, "duration", facts->duration_us);
    if (export_graph_size_of(facts, &bytes)) {
        xml_number(stream, "bytes", bytes);
    }
    (void)fprintf(stream, "<data key=\"cpu\">%s</data>", record_is_cpu(facts) ? "true" : "false");
    if (facts->type == TRACE_COLL && (facts->has & 1u << TRACE_ATTR_COMM_TYPE) != 0) {
        xml_number(stream, "comm", facts->value[TRACE_ATTR_COMM_TYPE]);
    }
    if (facts->group.length > 0) {
        xml_data(stream, "group", facts->group);
    }
    (void)fputs("</node>\n", stream);
    xml_edges(stream, facts, &facts->data, "data");
    xml_edges(stream, facts, &facts->ctrl, "control");
}

void export_graphml_end(FILE *stream)
{
    (void)fputs("  </graph>\n</graphml>\n", stream);
}
