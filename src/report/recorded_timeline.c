/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows are found in a first walk over the nodes, because viewers want their names before the events; they are few, so a
 * list is enough. Host threads come first, then streams, each by number. A node that took no time and has no start is
 * no event of a recording and is left out.
 */
#include "report/recorded_timeline.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "io/json_write.h"
#include "trace/graph.h"

struct row {
    bool is_stream;
    int64_t number;
};

struct recorded_timeline {
    struct mem *mem;
    struct json_writer json;
    uint32_t process; /* of the next trace */
    struct row *rows;
    uint32_t row_count, row_capacity;
};

enum orr_status recorded_timeline_begin(FILE *stream, struct mem *mem, struct recorded_timeline **timeline,
                                        struct orr_error *err)
{
    struct recorded_timeline *made = mem_zalloc(mem, sizeof *made);
    if (made == NULL) {
        return mem_error(mem, "a timeline", err);
    }
    made->mem = mem;
    json_write_document(&made->json, stream);
    json_write_member_string(&made->json, "displayTimeUnit", "ns");
    json_write_member_array(&made->json, "traceEvents", false);
    *timeline = made;
    return ORR_OK;
}

void recorded_timeline_end(struct recorded_timeline *timeline)
{
    if (timeline == NULL) {
        return;
    }
    json_write_array_end(&timeline->json);
    json_write_document_end(&timeline->json);
    mem_free(timeline->mem, timeline->rows, timeline->row_capacity * sizeof *timeline->rows);
    mem_free(timeline->mem, timeline, sizeof *timeline);
}

/* ---- rows ------------------------------------------------------------------------------------------------------- */

static bool is_recorded(const Chakra__Node *node)
{
    return node->start_time_micros != 0 || node->duration_micros != 0;
}

static bool find_integer(const Chakra__Node *node, const char *name, int64_t *value)
{
    for (size_t i = 0; i < node->n_attr; i++) {
        uint64_t bits = 0;
        bool negative = false;
        if (strcmp(node->attr[i]->name, name) == 0) {
            bool found = trace_document_integer(node->attr[i], &bits, &negative);
            *value = (int64_t)bits;
            return found;
        }
    }
    return false;
}

static struct row report_recorded_timeline_row_of(const Chakra__Node *node)
{
    int64_t host = 0;
    struct row row = {.is_stream = !(find_integer(node, "is_cpu_op", &host) && host != 0)};
    (void)find_integer(node, row.is_stream ? "stream" : "tid", &row.number);
    return row;
}

static int compare_rows(const void *left, const void *right)
{
    const struct row *a = left;
    const struct row *b = right;
    if (a->is_stream != b->is_stream) {
        return a->is_stream ? 1 : -1;
    }
    return (a->number > b->number) - (a->number < b->number);
}

static uint32_t report_recorded_timeline_find_row(const struct recorded_timeline *timeline, struct row row)
{
    const struct row *found = bsearch(&row, timeline->rows, timeline->row_count, sizeof *timeline->rows, compare_rows);
    return (uint32_t)(found - timeline->rows);
}

/* One row a node, sorted, then each once: no search while they are unsorted. */
static enum orr_status find_rows(struct recorded_timeline *timeline, const struct trace_document *document,
                                 struct orr_error *err)
{
    timeline->row_count = 0;
    if (!MEM_GROW(timeline->mem, timeline->rows, timeline->row_capacity, document->node_count)) {
        return mem_error(timeline->mem, "the rows of a timeline", err);
    }
    for (uint32_t i = 0; i < document->node_count; i++) {
        if (is_recorded(document->nodes[i])) {
            timeline->rows[timeline->row_count++] = report_recorded_timeline_row_of(document->nodes[i]);
        }
    }
    if (timeline->row_count == 0) {
        return error_set(
            err, ORR_EINVAL,
            "%s: no node has a start or a duration; a timeline needs a recorded trace (for a simulated one "
            "give parameter 'system' and parameter 'network')",
            document->name);
    }
    qsort(timeline->rows, timeline->row_count, sizeof *timeline->rows, compare_rows);
    uint32_t unique = 0;
    for (uint32_t i = 0; i < timeline->row_count; i++) {
        if (unique == 0 || compare_rows(&timeline->rows[unique - 1], &timeline->rows[i]) != 0) {
            timeline->rows[unique++] = timeline->rows[i];
        }
    }
    timeline->row_count = unique;
    return ORR_OK;
}

/* ---- events ----------------------------------------------------------------------------------------------------- */

static void write_name(struct recorded_timeline *timeline, const char *what, uint32_t thread, const char *name)
{
    struct json_writer *json = &timeline->json;
    json_write_object(json, true);
    json_write_member_string(json, "ph", "M");
    json_write_member_string(json, "name", what);
    json_write_member_u64(json, "pid", timeline->process);
    json_write_member_u64(json, "tid", thread);
    json_write_member_object(json, "args", true);
    json_write_member_string(json, "name", name);
    json_write_object_end(json);
    json_write_object_end(json);
}

static void write_event(struct recorded_timeline *timeline, const Chakra__Node *node)
{
    struct json_writer *json = &timeline->json;
    int64_t value = 0;
    json_write_object(json, true);
    json_write_member_string(json, "ph", "X");
    json_write_member_string(json, "name", node->name);
    json_write_member_string(json, "cat", trace_node_type_name((uint32_t)node->type));
    json_write_member_u64(json, "pid", timeline->process);
    json_write_member_u64(json, "tid",
                          report_recorded_timeline_find_row(timeline, report_recorded_timeline_row_of(node)));
    json_write_member_u64(json, "ts", node->start_time_micros);
    json_write_member_u64(json, "dur", node->duration_micros);
    json_write_member_object(json, "args", true);
    json_write_member_u64(json, "id", node->id);
    if (find_integer(node, "comm_size", &value)) {
        json_write_member_i64(json, "bytes", value);
    }
    if (find_integer(node, "step", &value)) {
        json_write_member_i64(json, "step", value);
    }
    json_write_object_end(json);
    json_write_object_end(json);
}

enum orr_status recorded_timeline_add(struct recorded_timeline *timeline, const struct trace_document *document,
                                      struct orr_error *err)
{
    enum orr_status status = find_rows(timeline, document, err);
    if (status != ORR_OK) {
        return status;
    }
    write_name(timeline, "process_name", 0, document->name);
    for (uint32_t i = 0; i < timeline->row_count; i++) {
        char name[48];
        (void)snprintf(name, sizeof name, "%s %" PRId64, timeline->rows[i].is_stream ? "stream" : "host thread",
                       timeline->rows[i].number);
        write_name(timeline, "thread_name", i, name);
    }
    for (uint32_t i = 0; i < document->node_count; i++) {
        if (is_recorded(document->nodes[i])) {
            write_event(timeline, document->nodes[i]);
        }
    }
    timeline->process++;
    return ORR_OK;
}
