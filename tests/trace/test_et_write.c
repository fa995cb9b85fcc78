/* SPDX-License-Identifier: Apache-2.0 */
/* Writing ET files record by record: the bytes are protobuf's own, and what was written reads back. */
#include <stdlib.h>
#include <unistd.h>

#include "io/file.h"
#include "tests/check.h"
#include "tests/folder.h"
#include "trace/document.h"
#include "trace/et_write.h"

static struct et_writer *open_writer(struct mem *mem, const char *name)
{
    struct et_writer *writer = NULL;
    struct orr_error err = {0};
    CHECK_OK(et_writer_open(folder_path(name), mem, &writer, &err), &err);
    return writer;
}

static void end_record(struct et_writer *writer)
{
    struct orr_error err = {0};
    CHECK_OK(et_record_end(writer, &err), &err);
}

static void read_back(struct mem *mem, const char *name, struct file_buffer *buffer)
{
    struct orr_error err = {0};
    file_buffer_init(buffer, mem);
    CHECK_OK(file_buffer_read(buffer, folder_path(name), &err), &err);
}

static void zero_fields_are_left_out_but_attribute_values_are_not(void **state)
{
    (void)state;
    struct mem mem = {0};
    struct orr_error err = {0};
    struct et_writer *writer = open_writer(&mem, "zero.et");
    et_metadata_begin(writer, et_text(""));
    end_record(writer);
    et_node_begin(writer, 0, et_text("n"), TRACE_COMP);
    et_node_ctrl_deps(writer, NULL, 0);
    et_node_data_deps(writer, (const uint64_t[]){0, 300}, 2);
    et_node_times(writer, 0, 0);
    et_node_inputs(writer, et_text(""), et_text(""), et_text(""));
    et_attr_bool(writer, "b", false);
    et_attr_int64(writer, "i", -1);
    et_attr_string(writer, "s", et_text(""));
    end_record(writer);
    CHECK_OK(et_writer_commit(writer, &err), &err);
    struct file_buffer buffer;
    read_back(&mem, "zero.et", &buffer);
    static const uint8_t want[] = {
        0,                                                                               /* empty metadata */
        44,                                                                              /* the node's length */
        0x12, 1,  'n',                                                                   /* name; no id */
        0x18, 4,                                                                         /* type */
        0x2a, 3,  0,    0xac, 2,                                                         /* data_deps 0 and 300 */
        0x42, 0,                                                                         /* inputs, empty */
        0x52, 6,  0x0a, 1,    'b', 0xd8, 1,    0,                                        /* false is written */
        0x52, 14, 0x0a, 1,    'i', 0x48, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, /* ten bytes of -1 */
        0xff, 1,                                                                         /* … */
        0x52, 6,  0x0a, 1,    's', 0xea, 1,    0,                                        /* "" is written */
    };
    CHECK_U64(buffer.size, 1 + 1 + want[1], "file size");
    CHECK_U64(sizeof want, buffer.size, "expected bytes");
    assert_memory_equal(buffer.bytes, want, sizeof want);
    file_buffer_free(&buffer);
    CHECK_U64(mem.used, 0, "memory given back");
}

/* The reader that keeps everything writes the canonical form; what it gives back must be what was written. */
static void what_is_written_is_protobufs_own_form(void **state)
{
    (void)state;
    struct mem mem = {0};
    struct orr_error err = {0};
    struct et_writer *writer = open_writer(&mem, "all.et");
    et_metadata_begin(writer, et_text("0.0.4"));
    et_attr_string(writer, "schema", et_text("1.1.1"));
    et_attr_uint64(writer, "pid", UINT64_MAX);
    end_record(writer);
    for (uint64_t id = 0; id < 100; id++) {
        uint64_t deps[3] = {id / 2, id * 1000, UINT64_MAX - id};
        et_node_begin(writer, id * 977, et_text("name"), (enum trace_node_type)(id % TRACE_NODE_TYPES));
        et_node_ctrl_deps(writer, deps, id % 4 > 2 ? 3 : id % 4);
        et_node_data_deps(writer, deps, id % 3);
        et_node_times(writer, id * 5000000000, id * 77);
        et_node_inputs(writer, et_text("[1, 2]"), et_text(id % 2 == 0 ? "" : "[[]]"), et_text("['Int']"));
        et_node_outputs(writer, et_text(""), et_text(""), et_text(""));
        et_attr_double(writer, "d", (double)id / 3);
        et_attr_int32(writer, "i32", (int32_t)id - 50);
        et_attr_int64(writer, "i64", INT64_MIN + (int64_t)id);
        et_attr_uint32(writer, "u32", UINT32_MAX - (uint32_t)id);
        et_attr_bool(writer, "yes", true);
        et_attr_bool_list(writer, "dims", (const bool[]){true, false, true}, id % 4 > 2 ? 3 : id % 4);
        et_attr_int64_list(writer, "ranks", (const int64_t[]){-1, 5, 1 << 20}, id % 4 > 2 ? 3 : id % 4);
        end_record(writer);
    }
    CHECK_OK(et_writer_finish(writer, &err), &err);
    CHECK_OK(et_writer_commit(writer, &err), &err);
    struct file_buffer buffer;
    read_back(&mem, "all.et", &buffer);
    struct trace_document *document = NULL;
    CHECK_OK(trace_document_parse(buffer.bytes, buffer.size, "all.et", &mem, &document, &err), &err);
    CHECK_U64(document->node_count, 100, "nodes");
    uint8_t *bytes = NULL;
    size_t size = 0;
    CHECK_OK(
        trace_document_encode(document->metadata, document->nodes, document->node_count, &mem, &bytes, &size, &err),
        &err);
    CHECK_U64(size, buffer.size, "size after a round trip");
    assert_memory_equal(bytes, buffer.bytes, size);
    mem_free(&mem, bytes, size);
    trace_document_free(document);
    file_buffer_free(&buffer);
}

static void what_is_not_utf8_is_replaced(void **state)
{
    (void)state;
    static const struct {
        const char *given, *want;
    } cases[] = {
        {"plain", "plain"},
        {"\xc3\xa9t\xc3\xa9", "\xc3\xa9t\xc3\xa9"},
        {"a\xff z", "a\xef\xbf\xbd z"},
        {"cut \xe2\x82", "cut \xef\xbf\xbd\xef\xbf\xbd"},
        {"\x80", "\xef\xbf\xbd"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct mem mem = {0};
        struct orr_error err = {0};
        struct et_writer *writer = open_writer(&mem, "utf8.et");
        et_metadata_begin(writer, et_text(""));
        end_record(writer);
        et_node_begin(writer, 1, et_text(cases[i].given), TRACE_COMP);
        et_attr_string(writer, "s", et_text(cases[i].given));
        end_record(writer);
        CHECK_OK(et_writer_commit(writer, &err), &err);
        struct trace_document *document = NULL;
        CHECK_OK(trace_document_read(folder_path("utf8.et"), &mem, &document, &err), &err);
        CHECK_TEXT(document->nodes[0]->name, cases[i].want);
        CHECK_TEXT(document->nodes[0]->attr[0]->string_val, cases[i].want);
        trace_document_free(document);
    }
}

static void without_a_commit_no_file_appears(void **state)
{
    (void)state;
    struct mem mem = {0};
    struct et_writer *writer = open_writer(&mem, "never/was.et");
    et_metadata_begin(writer, et_text(""));
    end_record(writer);
    et_writer_abort(writer);
    assert_int_equal(access(folder_path("never/was.et"), F_OK), -1);
    CHECK_U64(mem.used, 0, "memory given back");
}

static void a_refused_allocation_is_an_error_at_the_records_end(void **state)
{
    (void)state;
    struct mem mem = {.limit = 8192};
    struct orr_error err = {0};
    struct et_writer *writer = open_writer(&mem, "large.et");
    et_metadata_begin(writer, et_text(""));
    end_record(writer);
    static char large[20000];
    memset(large, 'x', sizeof large);
    et_node_begin(writer, 1, (struct et_text){large, sizeof large}, TRACE_COMP);
    CHECK_STATUS(et_record_end(writer, &err), ORR_ENOMEM);
    et_writer_abort(writer);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(zero_fields_are_left_out_but_attribute_values_are_not),
        cmocka_unit_test(what_is_written_is_protobufs_own_form),
        cmocka_unit_test(what_is_not_utf8_is_replaced),
        cmocka_unit_test(without_a_commit_no_file_appears),
        cmocka_unit_test(a_refused_allocation_is_an_error_at_the_records_end),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
