/* SPDX-License-Identifier: Apache-2.0 */
/* Steps are shown with what they carry and not with the evidence too: the first table has that, and a reader looks at
 * steps to see whether they are alike. */
#include "report/provenance_text.h"

#include <inttypes.h>

#include "coll/impl.h"
#include "report/number.h"

static const char *report_provenance_text_said(const char *from)
{
    return from[0] == '\0' ? "not said" : from;
}

static const char *type_text(const struct trace_provenance_row *row)
{
    if (row->type != TRACE_COLL) {
        return row->type == TRACE_SEND ? "send" : "receive";
    }
    return row->comm_type < 0 ? "unknown collective" : coll_type_name(row->comm_type);
}

static void show_amount(const struct trace_provenance_row *row, FILE *stream)
{
    (void)fprintf(stream, "%10" PRIu64 " nodes  %16" PRIu64 " B (%s)\n", row->count, row->bytes,
                  report_bytes((double)row->bytes).text);
}

void provenance_text_show(const struct trace_provenance *table, FILE *stream)
{
    (void)fputs("how communication was known\n", stream);
    if (table->nodes == 0) {
        (void)fputs("  the trace has no communication\n", stream);
        return;
    }
    if (table->unsaid > 0) {
        (void)fprintf(stream,
                      "  %" PRIu64 " of %" PRIu64
                      " nodes do not say (attributes type_from and size_from): not made from a recording by orrery\n",
                      table->unsaid, table->nodes);
    }
    (void)fprintf(stream, "  %-22s %-16s %s\n", "", "type from", "size from");
    for (uint32_t i = 0; i < table->row_count; i++) {
        const struct trace_provenance_row *row = &table->rows[i];
        (void)fprintf(stream, "  %-22s %-16.40s %-16.40s", type_text(row), report_provenance_text_said(row->type_from),
                      report_provenance_text_said(row->size_from));
        show_amount(row, stream);
    }
    if (table->step_count == 0) {
        return;
    }
    (void)fputs("communication by step\n", stream);
    for (uint32_t i = 0; i < table->step_count; i++) {
        const struct trace_provenance_row *row = &table->steps[i];
        (void)fprintf(stream, "  step %-17" PRId64 " %-22s", row->step, type_text(row));
        show_amount(row, stream);
    }
    if (table->outside > 0) {
        (void)fprintf(stream, "  outside all steps %" PRIu64 " nodes\n", table->outside);
    }
}

static void json_row(struct json_writer *json, const struct trace_provenance_row *row, bool is_step)
{
    json_write_object(json, true);
    if (is_step) {
        json_write_member_i64(json, "step", row->step);
    }
    json_write_member_string(json, "type", type_text(row));
    if (!is_step) {
        json_write_member_string(json, "type_from", row->type_from[0] == '\0' ? NULL : row->type_from);
        json_write_member_string(json, "size_from", row->size_from[0] == '\0' ? NULL : row->size_from);
    }
    json_write_member_u64(json, "count", row->count);
    json_write_member_u64(json, "bytes", row->bytes);
    json_write_object_end(json);
}

void provenance_text_json(const struct trace_provenance *table, struct json_writer *json)
{
    json_write_member_object(json, "provenance", false);
    json_write_member_u64(json, "nodes", table->nodes);
    json_write_member_u64(json, "nodes_that_do_not_say", table->unsaid);
    json_write_member_u64(json, "nodes_outside_steps", table->outside);
    json_write_member_array(json, "by_evidence", false);
    for (uint32_t i = 0; i < table->row_count; i++) {
        json_row(json, &table->rows[i], false);
    }
    json_write_array_end(json);
    json_write_member_array(json, "by_step", false);
    for (uint32_t i = 0; i < table->step_count; i++) {
        json_row(json, &table->steps[i], true);
    }
    json_write_array_end(json);
    json_write_object_end(json);
}
