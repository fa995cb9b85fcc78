/* SPDX-License-Identifier: Apache-2.0 */
/* Communication by how it was known, of small traces that can be added up by hand. */
#include <stdlib.h>

#include "report/trace_text.h"
#include "tests/check.h"
#include "tests/trace/bytes.h"
#include "trace/provenance.h"

static struct mem mem;
static struct orr_error err;

static void add_text(struct bytes *node, const char *name, const char *text)
{
    struct bytes value = {.size = 0};
    bytes_text(&value, 29, text);
    bytes_attribute(node, name, &value);
}

static void add_node(struct bytes *file, uint64_t id, uint32_t type, uint64_t comm_type, uint64_t bytes,
                     const char *type_from, const char *size_from, int step)
{
    struct bytes node = {.size = 0};
    bytes_number(&node, 1, id);
    bytes_number(&node, 3, type);
    bytes_integer(&node, "comm_type", 9, comm_type);
    bytes_integer(&node, "comm_size", 9, bytes);
    if (type_from != NULL) {
        add_text(&node, TRACE_TYPE_FROM_NAME, type_from);
        add_text(&node, TRACE_SIZE_FROM_NAME, size_from);
    }
    if (step >= 0) {
        bytes_integer(&node, TRACE_STEP_NAME, 9, (uint64_t)step);
    }
    bytes_record(file, &node);
}

static struct trace_document *document_of(const struct bytes *file)
{
    struct trace_document *document = NULL;
    CHECK_OK(trace_document_parse(file->at, file->size, "f.et", &mem, &document, &err), &err);
    return document;
}

static void nodes_are_counted_by_type_and_evidence_and_by_step(void **state)
{
    (void)state;
    struct bytes file;
    bytes_begin(&file);
    add_node(&file, 1, TRACE_COMP, 0, 77, "kineto-args", "kineto-args", 1);
    add_node(&file, 2, TRACE_SEND, 0, 8, "kineto-args", "kineto-args", 2);
    add_node(&file, 3, TRACE_COLL, 0, 100, "op-name", "op-tensors", 1);
    add_node(&file, 4, TRACE_COLL, 0, 10, "kineto-args", "kineto-args", 1);
    add_node(&file, 5, TRACE_COLL, 0, 1, "op-name", "op-tensors", 2);
    add_node(&file, 6, TRACE_COLL, 6, 5, "op-name", "given", -1);
    struct trace_document *document = document_of(&file);
    struct trace_provenance table;
    CHECK_OK(trace_provenance_count(document, &mem, &table, &err), &err);
    static const struct {
        uint64_t count, bytes;
        const char *size_from;
    } want[] = {{1, 10, "kineto-args"}, {2, 101, "op-tensors"}, {1, 5, "given"}, {1, 8, "kineto-args"}};
    CHECK_U64(table.row_count, COUNT_OF(want), "rows");
    for (size_t i = 0; i < COUNT_OF(want); i++) {
        CHECK_U64(table.rows[i].count, want[i].count, "row %zu", i);
        CHECK_U64(table.rows[i].bytes, want[i].bytes, "row %zu", i);
        CHECK_TEXT(table.rows[i].size_from, want[i].size_from);
    }
    CHECK_U64(table.step_count, 3, "step 1: all-reduce; step 2: all-reduce, send");
    CHECK_U64(table.steps[0].bytes, 110, "step 1");
    CHECK_U64(table.steps[2].type, TRACE_SEND, "collectives come first");
    CHECK_U64(table.outside, 1, "in no step");
    CHECK_U64(table.unsaid, 0, "all say");
    trace_provenance_free(&table);
    trace_document_free(document);
    CHECK_U64(mem.used, 0, "all memory is given back");
}

static void a_trace_that_does_not_say_is_told_so(void **state)
{
    (void)state;
    struct bytes file;
    bytes_begin(&file);
    add_node(&file, 1, TRACE_COLL, 0, 100, NULL, NULL, -1);
    add_node(&file, 2, TRACE_COLL, 99, 1, NULL, NULL, -1);
    struct trace_document *document = document_of(&file);
    struct trace_provenance table;
    struct trace_stat stat;
    char *text = NULL;
    size_t size = 0;
    CHECK_OK(trace_stat(document, &mem, &stat, &err), &err);
    CHECK_OK(trace_provenance_count(document, &mem, &table, &err), &err);
    FILE *stream = open_memstream(&text, &size);
    trace_text_stat(document, &stat, &table, stream);
    trace_text_stat_json(document, &stat, &table, stream);
    (void)fclose(stream);
    CHECK_CONTAINS(text, "2 of 2 nodes do not say");
    CHECK_CONTAINS(text, "unknown collective");
    CHECK_CONTAINS(
        text, "{\"type\": \"all-reduce\", \"type_from\": null, \"size_from\": null, \"count\": 1, \"bytes\": 100}");
    CHECK(strstr(text, "by step\n") == NULL, "no node has a step");
    free(text);
    trace_provenance_free(&table);
    trace_document_free(document);
}

TEST_MAIN(nodes_are_counted_by_type_and_evidence_and_by_step, a_trace_that_does_not_say_is_told_so)
