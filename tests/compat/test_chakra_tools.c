/* SPDX-License-Identifier: Apache-2.0 */
/* Chakra's small tools, on files small enough to read: jsonizer, visualizer, timeline, generator. */
#include <unistd.h>

#include <xxhash.h>

#include "compat/chakra/generator.h"
#include "compat/chakra/jsonizer.h"
#include "compat/chakra/timeline.h"
#include "compat/chakra/visualizer.h"
#include "io/file.h"
#include "tests/check.h"
#include "tests/folder.h"
#include "trace/document.h"
#include "trace/et_write.h"

static const char *in_folder(const char *name)
{
    static char paths[4][64];
    static unsigned next;
    char *path = paths[next++ % 4];
    snprintf(path, sizeof paths[0], "%s/%s", folder, name);
    return path;
}

/* To be freed; NULL when the file is not there. */
static char *content(const char *path)
{
    struct mem mem = {0};
    struct file_buffer buffer;
    char *text = NULL;
    file_buffer_init(&buffer, &mem);
    if (file_exists(path) && file_buffer_read(&buffer, path, NULL) == ORR_OK)
        text = strndup((const char *)buffer.bytes, buffer.size);
    file_buffer_free(&buffer);
    return text;
}

#define CHECK_FILE(path, want)                                                                                         \
    do {                                                                                                               \
        char *check_file = content(path);                                                                              \
        CHECK(check_file != NULL && strcmp(check_file, (want)) == 0, "%s",                                             \
              check_file == NULL ? "no file" : check_file);                                                            \
        free(check_file);                                                                                              \
    } while (0)

/* Two nodes: the second depends on the first in both ways, twice on it by data, and on 9, which is not there. */
static const char *two_nodes(void)
{
    struct mem mem = {0};
    struct orr_error err = {0};
    struct et_writer *writer = NULL;
    const char *path = in_folder("two.et");
    CHECK_OK(et_writer_open(path, &mem, &writer, &err), &err);
    et_metadata_begin(writer, et_text(""));
    CHECK_OK(et_record_end(writer, &err), &err);
    et_node_begin(writer, 0, et_text("aten::add-{\xce\xbb\xf0\x9f\x98\x80}\"\n"), TRACE_COMP);
    et_node_times(writer, 7, 9);
    et_node_inputs(writer, et_text("[]"), et_text(""), et_text(""));
    et_attr_double(writer, "d", 1e16);
    et_attr_bool_list(writer, "none", NULL, 0);
    CHECK_OK(et_record_end(writer, &err), &err);
    et_node_begin(writer, 5, et_text("graph"), (enum trace_node_type)42);
    et_node_ctrl_deps(writer, (const uint64_t[]){0}, 1);
    et_node_data_deps(writer, (const uint64_t[]){9, 0, 0}, 3);
    CHECK_OK(et_record_end(writer, &err), &err);
    CHECK_OK(et_writer_commit(writer, &err), &err);
    return path;
}

static enum orr_status jsonize(const char *input, const char *output, char note[200], struct orr_error *err)
{
    struct mem mem = {0};
    struct notes notes;
    notes_init(&notes, &mem, false);
    enum orr_status status = jsonizer_write(input, output, &mem, &notes, err);
    snprintf(note, 200, "%s", notes.count > 0 ? notes.lines[0] : "");
    notes_free(&notes);
    CHECK_U64(mem.used, 0, "nothing is left");
    return status;
}

static void records_become_protobufs_json_without_a_separator(void **state)
{
    (void)state;
    struct orr_error err = {0};
    char note[200];
    CHECK_OK(jsonize(two_nodes(), in_folder("two.json"), note, &err), &err);
    CHECK_TEXT(note, "");
    CHECK_FILE(
        in_folder("two.json"),
        "{}{\n  \"name\": \"aten::add-{\\u03bb\\ud83d\\ude00}\\\"\\n\",\n  \"type\": \"COMP_NODE\",\n"
        "  \"startTimeMicros\": \"7\",\n  \"durationMicros\": \"9\",\n  \"inputs\": {\n    \"values\": \"[]\"\n  },\n"
        "  \"attr\": [\n    {\n      \"name\": \"d\",\n      \"doubleVal\": 1e+16\n    },\n"
        "    {\n      \"name\": \"none\",\n      \"boolList\": {}\n    }\n  ]\n}"
        "{\n  \"id\": \"5\",\n  \"name\": \"graph\",\n  \"type\": 42,\n  \"ctrlDeps\": [\n    \"0\"\n  ],\n"
        "  \"dataDeps\": [\n    \"9\",\n    \"0\",\n    \"0\"\n  ]\n}");
}

static const struct {
    const char *bytes;
    size_t size;
    const char *json, *note, *error;
} records[] = {
    {"\x00\x02\x08\x01\x00\x02\x08\x02", 8, "{}{\n  \"id\": \"1\"\n}", "byte 5: a record of length 0 ends the file",
     NULL},
    {"\x00\x09\x52\x07\x0a\x01x\x2d\x00\x00\x80", 11, NULL, NULL, "record at byte 2"},
    {"\x00\x0a\x52\x08\x0a\x01x\x2d\x00\x00\x80\x7f", 12,
     "{}{\n  \"attr\": [\n    {\n      \"name\": \"x\",\n      \"floatVal\": \"Infinity\"\n    }\n  ]\n}", "", NULL},
    {"\x00\x0a\x52\x08\x0a\x01x\x2d\xcd\xcc\xcc\x3d", 12,
     "{}{\n  \"attr\": [\n    {\n      \"name\": \"x\",\n      \"floatVal\": 0.1\n    }\n  ]\n}", "", NULL},
    {"\x00\x03\x12\x01\xff", 5, NULL, NULL, "not UTF-8"},
    {"\x00\x05\x08", 3, NULL, NULL, "cut short"},
    {"", 0, NULL, NULL, "the file is empty"},
};

static void damaged_records_leave_no_file(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(records); i++) {
        struct orr_error err = {0};
        char note[200];
        const char *output = in_folder("record.json");
        unlink(output);
        CHECK_OK(file_write(in_folder("record.et"), records[i].bytes, records[i].size, &err), &err);
        enum orr_status status = jsonize(in_folder("record.et"), output, note, &err);
        if (records[i].error != NULL) {
            CHECK_STATUS(status, ORR_EINVAL);
            CHECK_CONTAINS(err.text, records[i].error);
            CHECK(!file_exists(output), "case %zu leaves a file", i);
        } else {
            CHECK_OK(status, &err);
            CHECK_FILE(output, records[i].json);
            CHECK_CONTAINS(note, records[i].note);
        }
    }
}

/* ---- visualizer ---- */

static enum orr_status visualize(const char *output, bool source, struct orr_error *err)
{
    struct mem mem = {0};
    struct notes notes;
    notes_init(&notes, &mem, false);
    enum orr_status status = visualizer_write(two_nodes(), output, source, &mem, &notes, err);
    notes_free(&notes);
    CHECK_U64(mem.used, 0, "nothing is left");
    return status;
}

static void the_source_escapes_what_a_label_would_take_for_structure(void **state)
{
    (void)state;
    struct orr_error err = {0};
    CHECK_OK(visualize(in_folder("two.dot"), true, &err), &err);
    CHECK_FILE(in_folder("two.dot"),
               "digraph {\n"
               "\t0 [label=\"aten::add\\-\\{\xce\xbb\xf0\x9f\x98\x80\\}\\\"\n\" id=0 shape=record]\n"
               "\t5 [label=\"graph\" id=5 shape=record]\n"
               "\t9 -> 5 [arrowhead=normal]\n"
               "\t0 -> 5 [arrowhead=normal]\n"
               "\t0 -> 5 [arrowhead=normal]\n"
               "\t0 -> 5 [arrowhead=tee]\n"
               "}\n");
}

static void graphml_has_one_edge_a_pair_and_the_last_kind(void **state)
{
    (void)state;
    struct orr_error err = {0};
    CHECK_OK(visualize(in_folder("two.graphml"), false, &err), &err);
    char *text = content(in_folder("two.graphml"));
    CHECK_CONTAINS(text, "attr.type=\"string\"/>\n<graph edgedefault=\"directed\"><node id=\"0\">\n"
                         "  <data key=\"d0\">aten::add-{\xce\xbb\xf0\x9f\x98\x80}\"\n</data>\n</node>\n"
                         "<node id=\"5\">\n  <data key=\"d0\">graph</data>\n</node>\n"
                         "<node id=\"9\"/>\n"
                         "<edge source=\"0\" target=\"5\">\n  <data key=\"d1\">control</data>\n</edge>\n"
                         "<edge source=\"9\" target=\"5\">\n  <data key=\"d1\">data</data>\n</edge>\n"
                         "</graph></graphml>");
    free(text);
}

static void a_name_of_another_kind_is_refused(void **state)
{
    (void)state;
    struct orr_error err = {0};
    CHECK_STATUS(visualize(in_folder("two.png"), false, &err), ORR_EINVAL);
    CHECK_CONTAINS(err.text, "two.png: the name must end in .dot, .pdf or .graphml");
    CHECK_STATUS(visualize(in_folder("two.pdf"), true, &err), ORR_EINVAL);
}

static void without_graphviz_a_dot_is_source_and_a_pdf_an_error(void **state)
{
    (void)state;
    struct orr_error err = {0};
    char *path = strdup(getenv("PATH"));
    CHECK(setenv("PATH", "/nowhere", 1) == 0, "no memory");
    CHECK_OK(visualize(in_folder("plain.dot"), false, &err), &err);
    CHECK_STATUS(visualize(in_folder("plain.pdf"), false, &err), ORR_EFAIL);
    CHECK(setenv("PATH", path, 1) == 0, "no memory");
    free(path);
    CHECK_CONTAINS(err.text, "Graphviz's program dot, which is not installed");
    CHECK(!file_exists(in_folder("plain.pdf")), "no file");
    char *text = content(in_folder("plain.dot"));
    CHECK(strncmp(text, "digraph {\n\t0 [label=", 20) == 0, "%s", text);
    free(text);
}

/* ---- timeline ---- */

#define ISSUE "issue,sys->id=1,tick=3000,node->id=4,node->name="
#define BACK  "callback,sys->id=1,tick=4500,node->id=4,node->name=whatever\n"
#define EVENT                                                                                                          \
    "{\"pid\": 1, \"tid\": %s, \"ts\": 0.002, \"dur\": 0.001, \"ph\": \"X\", \"name\": \"%s\", \"args\": {\"ms\": "    \
    "0.001}}"

static const struct {
    const char *log, *row, *name, *error;
} logs[] = {
    {ISSUE "COMP_NODE_a\n" BACK, "3", "COMP_NODE_a", NULL},
    {"a comment\n" ISSUE "COMM_COLL_NODE_\xce\xbb\r\n" BACK, "4", "COMM_COLL_NODE_\\u03bb", NULL},
    {ISSUE "MEM_LOAD_NODE_REMOTE_MEMORY\n" BACK, "2", "MEM_LOAD_NODE_REMOTE_MEMORY", NULL},
    {ISSUE "MEM_STORE_NODE_LOCAL_MEMORY=x,y\n" BACK, "1", "MEM_STORE_NODE_LOCAL_MEMORY", NULL},
    {ISSUE "aten::mm\n" BACK, NULL, NULL, "log.csv:2: the name \"aten::mm\" does not tell the node's type"},
    {BACK, NULL, NULL, "log.csv:1: node 4 of NPU 1 calls back but was not issued"},
    {ISSUE "COMP_NODE\n" BACK BACK, NULL, NULL, "log.csv:3: node 4 of NPU 1 calls back but was not issued"},
    {"issue,a=9,b=0,c=1,d=COMP_NODE\n", NULL, NULL, "log.csv:1: NPU 9 of 2"},
    {"issue,a=1,b=0\n", NULL, NULL, "log.csv:1: fewer than five columns"},
    {"issue,a=1,b=x,c=1,d=COMP_NODE\n", NULL, NULL, "log.csv:1: a column is no whole number"},
    {"reissue,a=1,b=1,c=1,d=COMP_NODE\n", NULL, NULL, "log.csv:1: neither issue nor callback"},
};

static void a_log_becomes_events_in_the_order_of_callbacks(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(logs); i++) {
        struct mem mem = {0};
        struct orr_error err = {0};
        struct timeline timeline = {in_folder("log.csv"), in_folder("log.json"), 2, 1500};
        unlink(timeline.output);
        CHECK_OK(file_write(timeline.input, logs[i].log, strlen(logs[i].log), &err), &err);
        enum orr_status status = timeline_write(&timeline, &mem, &err);
        CHECK_U64(mem.used, 0, "nothing is left");
        if (logs[i].error != NULL) {
            CHECK(status != ORR_OK, "%s", logs[i].error);
            CHECK_CONTAINS(err.text, logs[i].error);
            CHECK(!file_exists(timeline.output), "%s leaves a file", logs[i].error);
            continue;
        }
        char want[512];
        int used = snprintf(want, sizeof want, "{\"meta_user\": \"aras\", \"traceEvents\": [");
        used += snprintf(want + used, sizeof want - (size_t)used, EVENT, logs[i].row, logs[i].name);
        snprintf(want + used, sizeof want - (size_t)used, "], \"meta_cpu_count\": 2}");
        CHECK_OK(status, &err);
        CHECK_FILE(timeline.output, want);
    }
}

/* ---- generator ---- */

/* File and XXH64 of its bytes: what Chakra's generator wrote for one rank. */
static const struct {
    const char *file;
    uint64_t hash;
} families[] = {
    {"ALL_GATHER", 0x51789020649ca2bb},
    {"ALL_REDUCE", 0x1a7162a3f1a80253},
    {"ALL_TO_ALL", 0x4f7cf47023526aeb},
    {"BARRIER", 0xd8443901f0509159},
    {"BROADCAST", 0xf64821d89b3e7439},
    {"REDUCE_SCATTER", 0x246b51abe5420092},
    {"one_comm_recv_node", 0x5a119cb53723ae83},
    {"one_comm_send_node", 0xa326b565799ecd9e},
    {"one_comp_node", 0x2d0f78052918a7d9},
    {"one_metadata_node_all_types", 0x981d3c5b8852a584},
    {"one_remote_mem_load_node", 0x77211eec79344c40},
    {"one_remote_mem_store_node", 0x45011c8811ec172a},
    {"two_comp_nodes_dependent", 0xdc6cdcdc971e7bd7},
    {"two_comp_nodes_independent", 0xf63af258f3d59ddb},
};

static void every_family_has_the_originals_bytes(void **state)
{
    (void)state;
    struct mem mem = {0};
    struct orr_error err = {0};
    struct generator generator = {in_folder("families"), 1, 5, 1024, 65536};
    CHECK_OK(generator_write(&generator, &mem, &err), &err);
    for (size_t i = 0; i < COUNT_OF(families); i++) {
        struct file_buffer buffer;
        char path[128];
        snprintf(path, sizeof path, "%s/families/%s.0.et", folder, families[i].file);
        file_buffer_init(&buffer, &mem);
        CHECK_OK(file_buffer_read(&buffer, path, &err), &err);
        CHECK_U64(XXH64(buffer.bytes, buffer.size, 0), families[i].hash, "%s", families[i].file);
        file_buffer_free(&buffer);
    }
    CHECK_U64(mem.used, 0, "nothing is left");
}

int main(void)
{
    const struct CMUnitTest tests[] = {CHECK_MAP(
        records_become_protobufs_json_without_a_separator, damaged_records_leave_no_file,
        the_source_escapes_what_a_label_would_take_for_structure, graphml_has_one_edge_a_pair_and_the_last_kind,
        a_name_of_another_kind_is_refused, without_graphviz_a_dot_is_source_and_a_pdf_an_error,
        a_log_becomes_events_in_the_order_of_callbacks, every_family_has_the_originals_bytes)};
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
