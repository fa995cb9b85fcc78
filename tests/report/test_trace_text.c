/* SPDX-License-Identifier: Apache-2.0 */
/* A trace as text: every kind of attribute there is, and texts of a file that cannot pretend to be lines of ours. */
#include "report/trace_text.h"

#include "compat/chakra/generator.h"
#include "tests/report/fixture.h"
#include "tests/report/printed.h"

/* The text of one of the generator's traces of a rank. */
static const char *shown(const char *family, uint64_t limit)
{
    struct mem mem = {0};
    struct orr_error err = {0};
    struct trace_document *document = NULL;
    char path[256];
    const char *folder = fixture_folder();
    const struct generator generator = {folder, 1, 5, 1024, 65536};
    CHECK_OK(generator_write(&generator, &mem, &err), &err);
    (void)snprintf(path, sizeof path, "%s/%s.0.et", folder, family);
    CHECK_OK(trace_document_read(path, &mem, &document, &err), &err);
    trace_text_show(document, limit, printed_begin());
    trace_document_free(document);
    fixture_remove(folder);
    CHECK_U64(mem.used, 0, "everything is given back");
    return printed_end();
}

/* The values are those of Chakra's own generator (spec chakra §10). */
static void every_kind_of_attribute_is_shown_with_its_value(void **state)
{
    (void)state;
    static const char *const lines[] = {
        "\"double\" double 1.2344999999999999",
        "\"double_list\" double list [1.2344999999999999, 2.3456000000000001]",
        "\"float\" float 1.23450005",
        "\"float_list\" float list [1.23450005, 2.34559989]",
        "\"int32\" int32 12345",
        "\"int32_list\" int32 list [12345, 23456]",
        "\"int64\" int64 9876543210",
        "\"int64_list\" int64 list [9876543210, 1234567890]",
        "\"uint32\" uint32 12345",
        "\"uint32_list\" uint32 list [12345, 23456]",
        "\"uint64\" uint64 9876543210",
        "\"uint64_list\" uint64 list [9876543210, 1234567890]",
        "\"sint32\" sint32 -12345",
        "\"sint32_list\" sint32 list [12345, -23456]",
        "\"sint64\" sint64 -9876543210",
        "\"sint64_list\" sint64 list [9876543210, -1234567890]",
        "\"fixed32\" fixed32 12345",
        "\"fixed32_list\" fixed32 list [12345, 23456]",
        "\"fixed64\" fixed64 9876543210",
        "\"fixed64_list\" fixed64 list [9876543210, 1234567890]",
        "\"sfixed32\" sfixed32 -12345",
        "\"sfixed32_list\" sfixed32 list [12345, -23456]",
        "\"sfixed64\" sfixed64 -9876543210",
        "\"sfixed64_list\" sfixed64 list [9876543210, -1234567890]",
        "\"bool\" bool true",
        "\"bool_list\" bool list [true, false, ",
        "\"string\" string \"12345\"",
        "\"string_list\" string list [\"12345\", \"12346\", ",
        "\"bytes\" bytes \"12345\"",
        "\"bytes_list\" bytes list [\"12345\", \"12346\", ",
    };
    const char *text = shown("one_metadata_node_all_types", 0);
    for (size_t i = 0; i < COUNT_OF(lines); i++) {
        CHECK_CONTAINS(text, lines[i]);
    }
}

static void as_many_nodes_are_shown_as_were_asked_for(void **state)
{
    (void)state;
    const char *text = shown("two_comp_nodes_dependent", 1);
    const char *first = strstr(text, "node ");
    CHECK(first != NULL, "%s", text);
    CHECK(strstr(first + 1, "\nnode ") == NULL, "%s", text);
    text = shown("two_comp_nodes_dependent", 0);
    first = strstr(text, "node ");
    CHECK(first != NULL && strstr(first + 1, "\nnode ") != NULL, "%s", text);
}

static void a_name_cannot_pretend_to_be_another_line(void **state)
{
    (void)state;
    struct mem mem = {0};
    Chakra__Node node = CHAKRA__NODE__INIT;
    Chakra__Node *nodes[] = {&node};
    Chakra__GlobalMetadata metadata = CHAKRA__GLOBAL_METADATA__INIT;
    node.id = 7;
    node.name = (char *)"one\nnode 8 \"two\\ \x1b[0m";
    struct trace_document document = {.name = "x.et", .metadata = &metadata, .nodes = nodes, .node_count = 1};
    arena_init(&document.arena, &mem);
    trace_text_show(&document, 0, printed_begin());
    const char *text = printed_end();
    CHECK_CONTAINS(text, "node 7 \"one\\nnode 8 \\\"two\\\\ \\x1b[0m\"");
    CHECK(strstr(text, "\nnode 8") == NULL, "%s", text);
    arena_free(&document.arena);
}

TEST_MAIN(every_kind_of_attribute_is_shown_with_its_value, as_many_nodes_are_shown_as_were_asked_for,
          a_name_cannot_pretend_to_be_another_line)
