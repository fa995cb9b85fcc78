/* SPDX-License-Identifier: Apache-2.0 */
/* The lossless form: what it keeps that the simulator's graph does not, and what it refuses although protobuf-c would
 * not. */
#include "tests/check.h"
#include "tests/trace/bytes.h"
#include "trace/document.h"

static struct trace_document *parse(const struct bytes *file, struct mem *mem)
{
    struct orr_error err = {0};
    struct trace_document *document = NULL;
    CHECK_OK(trace_document_parse(file->at, file->size, "f.et", mem, &document, &err), &err);
    return document;
}

static void unknown_fields_survive_reading_and_writing(void **state)
{
    (void)state;
    struct bytes file, node = {.size = 0}, attr = {.size = 0}, metadata = {.size = 0};
    file.size = 0;
    bytes_text(&metadata, 1, "9.9");
    bytes_number(&metadata, 31, 7);
    bytes_record(&file, &metadata);
    bytes_text(&attr, 1, "name");
    bytes_text(&attr, 2, "a doc string");
    bytes_number(&attr, 9, 5);
    bytes_text(&attr, 60, "of a later schema");
    bytes_number(&node, 1, 300);
    bytes_span(&node, 8, "", 0); /* inputs, there but empty */
    bytes_span(&node, 10, attr.at, attr.size);
    bytes_number(&node, 11, 1);
    bytes_add(&node, "\xfd\x01\x01\x02\x03\x04", 6);                  /* field 31, 4 bytes */
    bytes_add(&node, "\xf9\x0f\x01\x02\x03\x04\x05\x06\x07\x08", 10); /* field 255, 8 bytes */
    bytes_record(&file, &node);
    struct mem mem = {0};
    struct orr_error err = {0};
    struct trace_document *document = parse(&file, &mem);
    CHECK_U64(document->nodes[0]->base.n_unknown_fields, 3, "unknown fields of the node");
    uint8_t *again;
    size_t size;
    CHECK_OK(trace_document_encode(document->metadata, document->nodes, 1, &mem, &again, &size, &err), &err);
    CHECK_U64(size, file.size, "size");
    CHECK(memcmp(again, file.at, size) == 0, "the bytes differ");
    mem_free(&mem, again, size);
    trace_document_free(document);
    CHECK_U64(mem.used, 0, "all memory is given back");
}

static void a_list_that_is_not_packed_is_read_and_written_packed(void **state)
{
    (void)state;
    struct bytes loose, packed, node = {.size = 0};
    bytes_begin(&loose);
    bytes_number(&node, 1, 3);
    bytes_number(&node, 5, 1);
    bytes_number(&node, 5, 2);
    bytes_record(&loose, &node);
    bytes_begin(&packed);
    node.size = 0;
    bytes_number(&node, 1, 3);
    bytes_numbers(&node, 5, (uint64_t[]){1, 2}, 2);
    bytes_record(&packed, &node);
    struct mem mem = {0};
    struct orr_error err = {0};
    struct trace_document *document = parse(&loose, &mem);
    uint8_t *again;
    size_t size;
    CHECK_OK(trace_document_encode(document->metadata, document->nodes, 1, &mem, &again, &size, &err), &err);
    CHECK(size == packed.size && memcmp(again, packed.at, size) == 0, "the bytes differ");
    mem_free(&mem, again, size);
    trace_document_free(document);
}

static void what_a_simulation_refuses_is_kept_for_the_checks(void **state)
{
    (void)state;
    struct bytes file;
    bytes_begin(&file);
    bytes_node(&file, 1, 99, (uint64_t[]){7}, 1);
    bytes_node(&file, 1, 4, NULL, 0);
    struct mem mem = {0};
    struct trace_document *document = parse(&file, &mem);
    CHECK_U64(document->node_count, 2, "nodes");
    CHECK_U64(document->nodes[0]->type, 99, "type");
    trace_document_free(document);
}

static const struct {
    const char *bytes;
    size_t size;
    const char *says;
} refused[] = {
    {"", 0, "byte 0: the file is empty"},
    {"\x05\x0a", 2,
     "byte 0: a record of 5 bytes, but the file ends after 1 more: it is cut short or not a Chakra ET file"},
    {"{}\n", 3, "byte 0: the file is JSON; a Chakra ET file (protobuf) is wanted"},
    {"\x03\x0a\x01\xff", 4, "a text that is not UTF-8"},
    {"\x00\x05\x12\x03\x61\x00\x62", 7, "a NUL byte in a text"},
    {"\x00\x05\x52\x03\xda\x01\x00", 7, "a bool of the wrong wire type"},
    {"\x00\x07\x52\x05\xf2\x01\x02\x0a\x05", 9, "in a list: a length that runs past"},
    {"\x00\x07\x52\x05\x22\x03\x0a\x01\x00", 9, "the wrong wire type or does not end"},
    {"\x00\x02\x0a\x00", 4, "the wrong wire type or does not end"},
    {"\x00\x02\x00\x00", 4, "a field numbered 0"},
};

static void a_damaged_file_is_refused_with_the_byte(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(refused); i++) {
        struct mem mem = {0};
        struct orr_error err = {0};
        struct trace_document *document = NULL;
        CHECK_STATUS(
            trace_document_parse((const uint8_t *)refused[i].bytes, refused[i].size, "f.et", &mem, &document, &err),
            ORR_EINVAL);
        CHECK_CONTAINS(err.text, refused[i].says);
        CHECK_CONTAINS(err.text, "f.et: byte ");
        CHECK(document == NULL, "an output is written only on success");
        CHECK_U64(mem.used, 0, "no memory is kept");
    }
}

static void the_memory_limit_is_kept(void **state)
{
    (void)state;
    struct bytes file;
    bytes_begin(&file);
    for (uint64_t id = 0; id < 100; id++) {
        bytes_node(&file, id, 4, &(uint64_t){id / 2}, id > 0);
    }
    for (uint64_t limit = 1; limit < 60000; limit += 499) {
        struct mem mem = {.limit = limit};
        struct orr_error err = {0};
        struct trace_document *document = NULL;
        enum orr_status status = trace_document_parse(file.at, file.size, "f.et", &mem, &document, &err);
        CHECK(status == ORR_OK || status == ORR_ENOMEM, "%s", err.text);
        trace_document_free(document);
        CHECK_U64(mem.used, 0, "limit %" PRIu64, limit);
    }
}

TEST_MAIN(unknown_fields_survive_reading_and_writing, a_list_that_is_not_packed_is_read_and_written_packed,
          what_a_simulation_refuses_is_kept_for_the_checks, a_damaged_file_is_refused_with_the_byte,
          the_memory_limit_is_kept)
