/* SPDX-License-Identifier: Apache-2.0 */
/* Texts from a file may hold anything, so they are quoted with control characters escaped: one node can then never
 * look like two, nor a terminal be told to do something. */
#include "report/trace_text.h"

#include <inttypes.h>
#include <string.h>

#include "base/plain.h"
#include "coll/impl.h"
#include "io/json_write.h"
#include "report/number.h"
#include "report/provenance_text.h"

static void quote_bytes(const uint8_t *bytes, size_t length, bool is_text, FILE *stream)
{
    (void)fputc('"', stream);
    for (size_t i = 0; i < length; i++) {
        uint8_t c = bytes[i];
        if (c == '"' || c == '\\') {
            (void)fprintf(stream, "\\%c", c);
        } else if (c == '\n') {
            (void)fputs("\\n", stream);
        } else if (c < ' ' || c == 0x7f || (c >= 0x80 && !is_text)) {
            (void)fprintf(stream, "\\x%02x", c);
        } else {
            (void)fputc(c, stream);
        }
    }
    (void)fputc('"', stream);
}

static void quote(const char *text, FILE *stream)
{
    quote_bytes((const uint8_t *)text, strlen(text), true, stream);
}

/* ---- show ---- */

#define PRINT_LIST(list, format, cast)                                                                                 \
    do {                                                                                                               \
        (void)fputc('[', stream);                                                                                      \
        for (size_t i = 0; i < (list)->n_values; i++) {                                                                \
            (void)plain_fprintf(stream, "%s" format, i == 0 ? "" : ", ", (cast)(list)->values[i]);                     \
        }                                                                                                              \
        (void)fputc(']', stream);                                                                                      \
    } while (0)

/* Seventeen and nine significant digits give the same double and float back. */
static bool print_number(const Chakra__Attribute *attr, FILE *stream)
{
    uint64_t bits;
    bool negative;
    switch ((uint32_t)attr->value_case) {
    case TRACE_VALUE_DOUBLE:
        (void)plain_fprintf(stream, "%.17g", attr->double_val);
        return true;
    case TRACE_VALUE_FLOAT:
        (void)plain_fprintf(stream, "%.9g", (double)attr->float_val);
        return true;
    case TRACE_VALUE_BOOL:
        (void)fputs(attr->bool_val != 0 ? "true" : "false", stream);
        return true;
    default:
        if (!trace_document_integer(attr, &bits, &negative)) {
            return false;
        }
        if (negative) {
            (void)fprintf(stream, "%" PRId64, (int64_t)bits);
        } else {
            (void)fprintf(stream, "%" PRIu64, bits);
        }
        return true;
    }
}

static bool print_number_list(const Chakra__Attribute *attr, FILE *stream)
{
    switch ((uint32_t)attr->value_case) {
    case TRACE_VALUE_DOUBLE_LIST:
        PRINT_LIST(attr->double_list, "%.17g", double);
        return true;
    case TRACE_VALUE_FLOAT_LIST:
        PRINT_LIST(attr->float_list, "%.9g", double);
        return true;
    case TRACE_VALUE_INT32_LIST:
        PRINT_LIST(attr->int32_list, "%" PRId64, int64_t);
        return true;
    case TRACE_VALUE_INT64_LIST:
        PRINT_LIST(attr->int64_list, "%" PRId64, int64_t);
        return true;
    case TRACE_VALUE_UINT32_LIST:
        PRINT_LIST(attr->uint32_list, "%" PRIu64, uint64_t);
        return true;
    case TRACE_VALUE_UINT64_LIST:
        PRINT_LIST(attr->uint64_list, "%" PRIu64, uint64_t);
        return true;
    case TRACE_VALUE_SINT32_LIST:
        PRINT_LIST(attr->sint32_list, "%" PRId64, int64_t);
        return true;
    case TRACE_VALUE_SINT64_LIST:
        PRINT_LIST(attr->sint64_list, "%" PRId64, int64_t);
        return true;
    case TRACE_VALUE_FIXED32_LIST:
        PRINT_LIST(attr->fixed32_list, "%" PRIu64, uint64_t);
        return true;
    case TRACE_VALUE_FIXED64_LIST:
        PRINT_LIST(attr->fixed64_list, "%" PRIu64, uint64_t);
        return true;
    case TRACE_VALUE_SFIXED32_LIST:
        PRINT_LIST(attr->sfixed32_list, "%" PRId64, int64_t);
        return true;
    case TRACE_VALUE_SFIXED64_LIST:
        PRINT_LIST(attr->sfixed64_list, "%" PRId64, int64_t);
        return true;
    default:
        return false;
    }
}

static void print_other_list(const Chakra__Attribute *attr, FILE *stream)
{
    uint32_t kind = (uint32_t)attr->value_case;
    size_t count = kind == TRACE_VALUE_BOOL_LIST     ? attr->bool_list->n_values
                   : kind == TRACE_VALUE_STRING_LIST ? attr->string_list->n_values
                                                     : attr->bytes_list->n_values;
    (void)fputc('[', stream);
    for (size_t i = 0; i < count; i++) {
        (void)fputs(i == 0 ? "" : ", ", stream);
        if (kind == TRACE_VALUE_BOOL_LIST) {
            (void)fputs(attr->bool_list->values[i] != 0 ? "true" : "false", stream);
        } else if (kind == TRACE_VALUE_STRING_LIST) {
            quote(attr->string_list->values[i], stream);
        } else {
            quote_bytes(attr->bytes_list->values[i].data, attr->bytes_list->values[i].len, false, stream);
        }
    }
    (void)fputc(']', stream);
}

static void print_value(const Chakra__Attribute *attr, FILE *stream)
{
    if (print_number(attr, stream) || print_number_list(attr, stream)) {
        return;
    }
    switch ((uint32_t)attr->value_case) {
    case TRACE_VALUE_STRING:
        quote(attr->string_val, stream);
        return;
    case TRACE_VALUE_BYTES:
        quote_bytes(attr->bytes_val.data, attr->bytes_val.len, false, stream);
        return;
    case TRACE_VALUE_BOOL_LIST:
    case TRACE_VALUE_STRING_LIST:
    case TRACE_VALUE_BYTES_LIST:
        print_other_list(attr, stream);
        return;
    default:
        return; /* no value */
    }
}

static void print_unknown(const ProtobufCMessage *message, const char *indent, FILE *stream)
{
    for (unsigned i = 0; i < message->n_unknown_fields; i++) {
        const ProtobufCMessageUnknownField *field = &message->unknown_fields[i];
        (void)fprintf(stream, "%sunknown field %" PRIu32 " (wire type %u, %zu bytes) ", indent, field->tag,
                      (unsigned)field->wire_type, field->len);
        quote_bytes(field->data, field->len, false, stream);
        (void)fputc('\n', stream);
    }
}

static void show_attribute(const Chakra__Attribute *attr, FILE *stream)
{
    (void)fputs("    ", stream);
    quote(attr->name, stream);
    (void)fprintf(stream, " %s ", trace_value_name((uint32_t)attr->value_case));
    print_value(attr, stream);
    if (trace_attr_find(attr->name, strlen(attr->name)) == TRACE_ATTR_COMM_TYPE) {
        uint64_t bits;
        bool negative;
        const char *name =
            trace_document_integer(attr, &bits, &negative) && bits <= INT32_MAX ? coll_type_name((int32_t)bits) : NULL;
        (void)fprintf(stream, name == NULL ? "%s" : " (%s)", name == NULL ? "" : name);
    }
    (void)fputc('\n', stream);
    if (attr->doc_string[0] != '\0') {
        (void)fputs("        doc ", stream);
        quote(attr->doc_string, stream);
        (void)fputc('\n', stream);
    }
    print_unknown(&attr->base, "        ", stream);
}

static void show_ids(const char *label, const uint64_t *ids, size_t count, FILE *stream)
{
    if (count > 0) {
        (void)fprintf(stream, "    %s", label);
        for (size_t i = 0; i < count; i++) {
            (void)fprintf(stream, " %" PRIu64, ids[i]);
        }
        (void)fputc('\n', stream);
    }
}

static void show_io(const char *label, const Chakra__IoInfo *io, FILE *stream)
{
    if (io == NULL) {
        return;
    }
    (void)fprintf(stream, "    %s values ", label);
    quote(io->values, stream);
    (void)fputs(" shapes ", stream);
    quote(io->shapes, stream);
    (void)fputs(" types ", stream);
    quote(io->types, stream);
    (void)fputc('\n', stream);
    print_unknown(&io->base, "        ", stream);
}

static void show_node(const Chakra__Node *node, FILE *stream)
{
    (void)fprintf(stream, "node %" PRIu64 " ", node->id);
    quote(node->name, stream);
    (void)fprintf(stream, " %s", trace_node_type_name((uint32_t)node->type));
    if ((uint32_t)node->type >= TRACE_NODE_TYPES) {
        (void)fprintf(stream, " type %d", (int)node->type);
    }
    (void)fputc('\n', stream);
    if (node->start_time_micros != 0) {
        (void)fprintf(stream, "    start %" PRIu64 " us\n", node->start_time_micros);
    }
    if (node->duration_micros != 0) {
        (void)fprintf(stream, "    duration %" PRIu64 " us\n", node->duration_micros);
    }
    show_ids("data dependencies", node->data_deps, node->n_data_deps, stream);
    show_ids("control dependencies", node->ctrl_deps, node->n_ctrl_deps, stream);
    show_io("inputs", node->inputs, stream);
    show_io("outputs", node->outputs, stream);
    for (size_t i = 0; i < node->n_attr; i++) {
        show_attribute(node->attr[i], stream);
    }
    print_unknown(&node->base, "    ", stream);
}

void trace_text_show(const struct trace_document *document, uint64_t limit, FILE *stream)
{
    (void)fputs("metadata version ", stream);
    quote(document->metadata->version, stream);
    (void)fputc('\n', stream);
    for (size_t i = 0; i < document->metadata->n_attr; i++) {
        show_attribute(document->metadata->attr[i], stream);
    }
    print_unknown(&document->metadata->base, "    ", stream);
    uint32_t shown = limit == 0 || limit > document->node_count ? document->node_count : (uint32_t)limit;
    for (uint32_t i = 0; i < shown; i++) {
        show_node(document->nodes[i], stream);
    }
    if (shown < document->node_count) {
        (void)fprintf(stream, "(%" PRIu32 " more nodes)\n", document->node_count - shown);
    }
}

/* ---- stat ---- */

static void stat_traffic(const char *name, const struct trace_stat_traffic *traffic, FILE *stream)
{
    if (traffic->count > 0) {
        (void)fprintf(stream, "  %-22s %10" PRIu64 " nodes  %16" PRIu64 " B (%s)\n", name, traffic->count,
                      traffic->bytes, report_bytes((double)traffic->bytes).text);
    }
}

void trace_text_stat(const struct trace_document *document, const struct trace_stat *stat,
                     const struct trace_provenance *provenance, FILE *stream)
{
    (void)fprintf(stream, "%s\n", document->name);
    (void)fprintf(stream, "nodes %" PRIu64 " (GPU %" PRIu64 ", CPU %" PRIu64 ")\n", stat->nodes, stat->gpu_nodes,
                  stat->cpu_nodes);
    for (uint32_t type = 0; type < TRACE_NODE_TYPES; type++) {
        if (stat->nodes_of[type] > 0) {
            (void)fprintf(stream, "  %-22s %10" PRIu64 "\n", trace_node_type_name(type), stat->nodes_of[type]);
        }
    }
    if (stat->nodes_unknown > 0) {
        (void)fprintf(stream, "  %-22s %10" PRIu64 "\n", "of unknown type", stat->nodes_unknown);
    }
    (void)fputs("communication\n", stream);
    for (int32_t type = 0; type < TRACE_STAT_COLLECTIVES; type++) {
        stat_traffic(coll_type_name(type), &stat->collectives[type], stream);
    }
    stat_traffic("unknown collective", &stat->other_collectives, stream);
    stat_traffic("send", &stat->sends, stream);
    stat_traffic("receive", &stat->recvs, stream);
    (void)fprintf(stream,
                  "dependencies %" PRIu64 " data, %" PRIu64 " control; %" PRIu64 " distinct edges, %" PRIu64
                  " on missing nodes, %" PRIu64 " roots\n",
                  stat->data_edges, stat->ctrl_edges, stat->edges, stat->missing_edges, stat->roots);
    (void)fprintf(stream, "compute %" PRIu64 " us on GPU, %" PRIu64 " us on CPU; all nodes %" PRIu64 " us\n",
                  stat->compute_us, stat->compute_cpu_us, stat->duration_us);
    (void)fprintf(stream, "critical path %" PRIu64 " us in %" PRIu64 " nodes", stat->critical_us, stat->critical_nodes);
    if (stat->critical_nodes > 0) {
        (void)fprintf(stream, ", ending at node %" PRIu64, stat->critical_end_id);
    }
    (void)fprintf(stream, "; longest chain %" PRIu64 " nodes\n", stat->longest_chain);
    if (stat->unordered_nodes > 0) {
        (void)fprintf(stream, "%" PRIu64 " nodes on or behind dependency cycles are part of no path\n",
                      stat->unordered_nodes);
    }
    if (provenance != NULL) {
        provenance_text_show(provenance, stream);
    }
}

static void json_traffic(struct json_writer *json, const char *key, const struct trace_stat_traffic *traffic)
{
    json_write_member_object(json, key, true);
    json_write_member_u64(json, "count", traffic->count);
    json_write_member_u64(json, "bytes", traffic->bytes);
    json_write_object_end(json);
}

static void json_counts(struct json_writer *json, const struct trace_stat *stat)
{
    json_write_member_u64(json, "nodes", stat->nodes);
    json_write_member_u64(json, "gpu_nodes", stat->gpu_nodes);
    json_write_member_u64(json, "cpu_nodes", stat->cpu_nodes);
    json_write_member_object(json, "nodes_by_type", false);
    for (uint32_t type = 0; type < TRACE_NODE_TYPES; type++) {
        json_write_member_u64(json, trace_node_type_name(type), stat->nodes_of[type]);
    }
    json_write_member_u64(json, "unknown", stat->nodes_unknown);
    json_write_object_end(json);
    json_write_member_object(json, "collectives", false);
    for (int32_t type = 0; type < TRACE_STAT_COLLECTIVES; type++) {
        json_traffic(json, coll_type_name(type), &stat->collectives[type]);
    }
    json_traffic(json, "unknown", &stat->other_collectives);
    json_write_object_end(json);
    json_traffic(json, "sends", &stat->sends);
    json_traffic(json, "receives", &stat->recvs);
}

void trace_text_stat_json(const struct trace_document *document, const struct trace_stat *stat,
                          const struct trace_provenance *provenance, FILE *stream)
{
    struct json_writer json;
    json_write_document(&json, stream);
    json_write_member_string(&json, "file", document->name);
    json_counts(&json, stat);
    json_write_member_u64(&json, "data_dependencies", stat->data_edges);
    json_write_member_u64(&json, "control_dependencies", stat->ctrl_edges);
    json_write_member_u64(&json, "edges", stat->edges);
    json_write_member_u64(&json, "missing_dependencies", stat->missing_edges);
    json_write_member_u64(&json, "roots", stat->roots);
    json_write_member_u64(&json, "compute_us", stat->compute_us);
    json_write_member_u64(&json, "compute_cpu_us", stat->compute_cpu_us);
    json_write_member_u64(&json, "duration_us", stat->duration_us);
    json_write_member_u64(&json, "critical_path_us", stat->critical_us);
    json_write_member_u64(&json, "critical_path_nodes", stat->critical_nodes);
    json_write_key(&json, "critical_path_end");
    if (stat->critical_nodes > 0) {
        json_write_u64(&json, stat->critical_end_id);
    } else {
        json_write_null(&json);
    }
    json_write_member_u64(&json, "longest_chain_nodes", stat->longest_chain);
    json_write_member_u64(&json, "nodes_without_order", stat->unordered_nodes);
    if (provenance != NULL) {
        provenance_text_json(provenance, &json);
    }
    json_write_document_end(&json);
}

/* ---- check ---- */

void trace_text_findings(const struct trace_document *document, const struct trace_findings *findings, FILE *stream)
{
    for (uint32_t i = 0; i < findings->count; i++) {
        (void)fprintf(stream, "%s: %s\n", document->name, findings->items[i].text);
    }
}
