/* SPDX-License-Identifier: Apache-2.0 */
/* Chakra graphs as JSON: the feeder's workload, our export and the jsonizer's texts. */
#include "convert/export.h"
#include "convert/json_workload.h"
#include "tests/convert/converting.h"

static void the_feeders_workload_becomes_a_graph(void **state)
{
    (void)state;
    struct converting one;
    converting_begin(&one, "workload.json");
    CHECK_OK(converting_run(
                 &one, &json_converter,
                 "{\"workload_name\": \"w\", \"workload_graph\": [\n"
                 "{\"Id\": 7, \"Name\": \"b\", \"NodeType\": 7, \"data_deps\": [5], \"ctrlDeps\": [3], "
                 "\"comm_type\": 0, \"comm_size\": 64, \"is_cpu_op\": false},\n"
                 "{\"Id\": 5, \"Name\": \"a\", \"NodeType\": \"COMP_NODE\", \"runtime\": 3},\n"
                 "{\"Id\": 9, \"Name\": \"c10d::allreduce_\", \"NodeType\": 7, \"runtime\": 2, \"is_cpu_op\": true, "
                 "\"data_deps\": [7, 1]},\n"
                 "{\"Id\": 10, \"Name\": \"ncclDevKernel_Broadcast_RING_LL(x)\", \"NodeType\": 7, "
                 "\"comm_size\": 8, \"data_deps\": [9]}], \"ngpus\": 1}"),
             &one.err);
    CHECK(converting_has_note(&one, "1 control dependency on nodes that are not there dropped"), "told");
    CHECK(converting_has_note(&one, "1 data dependency on nodes that are not there dropped"), "told");
    CHECK(converting_has_note(&one, "1 communication node of the host taken for compute"), "told");
    check_rank(&one, 0, " a/3 b=0:64(0) c10d::allreduce_~/2(1) ncclDevKernel_Broadcast_RING_LL(x)=5:8(2)");
    converting_end(&one);
}

/* Every kind of value, single and in lists, an unknown type, unknown fields, an empty message. */
static const char everything[] =
    "{\"format\": \"orrery-trace\", \"version\": 1,\n"
    " \"metadata\": {\"version\": \"0.0.4\", \"attributes\": [{\"name\": \"m\", \"doc\": \"d\", \"kind\": \"no "
    "value\"}]},\n"
    " \"nodes\": [\n"
    "{\"id\": 18446744073709551615, \"name\": \"n\\u00e9\", \"type\": \"COMM_COLL\", \"ctrl_deps\": [0, 300], "
    "\"data_deps\": [1], \"start_us\": 5, \"duration_us\": 6, \"inputs\": {\"values\": \"v\", \"shapes\": \"s\", "
    "\"types\": "
    "\"t\"}, \"outputs\": {}, \"attributes\": [\n"
    " {\"name\": \"a\", \"kind\": \"double\", \"value\": 0.1}, {\"name\": \"b\", \"kind\": \"float\", \"value\": "
    "-1.5},\n"
    " {\"name\": \"c\", \"kind\": \"int32\", \"value\": -2147483648}, {\"name\": \"d\", \"kind\": \"int64\", "
    "\"value\": -1},\n"
    " {\"name\": \"e\", \"kind\": \"uint32\", \"value\": 4294967295},\n"
    " {\"name\": \"f\", \"kind\": \"uint64\", \"value\": 18446744073709551615},\n"
    " {\"name\": \"g\", \"kind\": \"sint32\", \"value\": -3}, {\"name\": \"h\", \"kind\": \"sint64\", \"value\": "
    "-9223372036854775808},\n"
    " {\"name\": \"i\", \"kind\": \"fixed32\", \"value\": 7}, {\"name\": \"j\", \"kind\": \"fixed64\", \"value\": 8},\n"
    " {\"name\": \"k\", \"kind\": \"sfixed32\", \"value\": -7}, {\"name\": \"l\", \"kind\": \"sfixed64\", \"value\": "
    "-8},\n"
    " {\"name\": \"m\", \"kind\": \"bool\", \"value\": false}, {\"name\": \"n\", \"kind\": \"string\", \"value\": "
    "\"\"},\n"
    " {\"name\": \"o\", \"kind\": \"bytes\", \"value\": \"00ff10\"},\n"
    " {\"name\": \"p\", \"kind\": \"double list\", \"value\": [1.0, NaN, -Infinity]},\n"
    " {\"name\": \"q\", \"kind\": \"sint64 list\", \"value\": [1, -1]}, {\"name\": \"r\", \"kind\": \"bool list\", "
    "\"value\": []},\n"
    " {\"name\": \"s\", \"kind\": \"string list\", \"value\": [\"x\", \"\"]},\n"
    " {\"name\": \"t\", \"kind\": \"bytes list\", \"value\": [\"ab\"]}, {\"name\": \"u\", \"kind\": \"float list\", "
    "\"value\": [0.5]},\n"
    " {\"name\": \"v\", \"kind\": \"fixed64 list\", \"value\": [1, 2], \"unknown\": \"9a0600\"}], \"unknown\": "
    "\"f8060a\"},\n"
    "{\"id\": 0, \"type\": 77}]}\n";

/* What a file says as our JSON; to be freed. */
static char *exported(const char *path)
{
    struct mem mem = {0};
    struct orr_error err = {0};
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);
    CHECK_OK(export_trace(path, EXPORT_JSON, stream, &mem, &err), &err);
    fclose(stream);
    return text;
}

static void an_export_comes_back_as_the_same_bytes(void **state)
{
    (void)state;
    struct converting one;
    struct mem mem = {0};
    struct file_buffer first;
    struct file_buffer second;
    converting_begin(&one, "export.json");
    CHECK_OK(converting_run(&one, &json_converter, everything), &one.err);
    CHECK_U64(one.summary.nodes, 2, "nodes");
    CHECK_U64(one.summary.collectives, 1, "collectives");
    file_buffer_init(&first, &mem);
    file_buffer_init(&second, &mem);
    CHECK_OK(file_buffer_read(&first, rank_path(&one, 0), &one.err), &one.err);
    struct trace_document *document = converting_open(rank_path(&one, 0));
    const Chakra__Node *node = document->nodes[0];
    CHECK_U64(node->id, UINT64_MAX, "id");
    CHECK_U64(node->attr[2]->int32_val, INT32_MIN, "int32");
    CHECK_U64(node->attr[7]->sint64_val, INT64_MIN, "sint64");
    CHECK_U64(node->attr[10]->sfixed32_val, -7, "sfixed32");
    CHECK_U64(node->attr[16]->sint64_list->values[1], -1, "sint64 list");
    CHECK_U64(node->attr[18]->string_list->n_values, 2, "string list");
    CHECK_U64(node->attr[14]->bytes_val.len, 3, "bytes");
    CHECK_U64(node->base.n_unknown_fields, 1, "unknown");
    CHECK_U64(document->nodes[1]->type, 77, "unknown type");
    trace_document_free(document);

    char *text = exported(rank_path(&one, 0));
    CHECK_OK(converting_run(&one, &json_converter, text), &one.err);
    CHECK_OK(file_buffer_read(&second, rank_path(&one, 0), &one.err), &one.err);
    CHECK(first.size == second.size && memcmp(first.bytes, second.bytes, first.size) == 0, "bytes differ:\n%s", text);
    free(text);
    file_buffer_free(&first);
    file_buffer_free(&second);
    unlink(rank_path(&one, 0));
    converting_end(&one);
}

static void the_jsonizers_texts_are_read_back(void **state)
{
    (void)state;
    struct converting one;
    converting_begin(&one, "jsonized.json");
    CHECK_OK(converting_run(
                 &one, &json_converter,
                 "{\n  \"version\": \"1.0.0\"\n}{\n  \"name\": \"a}{\\\"\", \"type\": \"COMP_NODE\", "
                 "\"durationMicros\": \"7\"\n}{\n \"id\": \"1\", \"name\": \"g\", \"type\": \"COMM_COLL_NODE\", "
                 "\"dataDeps\": [\"0\"], \"attr\": [{\"name\": \"comm_type\", \"int64Val\": \"2\"}, {\"name\": "
                 "\"comm_size\", \"int64Val\": \"96\"}, {\"name\": \"x\", \"doubleList\": {\"values\": [0.5, "
                 "\"NaN\"]}}, {\"name\": \"y\", \"bytesVal\": \"AP8=\"}, {\"name\": \"z\", \"boolList\": {}}]\n}"),
             &one.err);
    CHECK_U64(one.summary.comm_bytes, 96, "bytes");
    struct trace_document *document = converting_open(rank_path(&one, 0));
    CHECK_U64(document->nodes[1]->attr[3]->bytes_val.len, 2, "base64");
    CHECK_U64(document->nodes[1]->attr[3]->bytes_val.data[1], 0xff, "base64");
    CHECK_U64(document->nodes[1]->attr[2]->double_list->n_values, 2, "list");
    trace_document_free(document);
    check_rank(&one, 0, " a}{\"/7 g=2:96(0)");
    converting_end(&one);
}

static const struct {
    const char *text, *message;
} bad[] = {
    {"", "no JSON object"},
    {"[]", "no JSON object"},
    {"{\"foo\": 1}", "no workload_graph with nodes"},
    {"{\r\n}\r\n", "no workload_graph with nodes"},
    {"{\"workload_graph\": [{\"Name\": \"a\"}]}", ":1: a node without \"Id\""},
    {"{\"workload_graph\": [\n{\"Id\": 1, \"NodeType\": 9}]}", ":2: \"NodeType\" is none of 2 to 7"},
    {"{\"workload_graph\": [{\"Id\": 1, \"NodeType\": 4}, {\"Id\": 1, \"NodeType\": 4}]}", "two nodes have the Id 1"},
    {"{\"workload_graph\": [{\"Id\": 1, \"NodeType\": 7, \"comm_type\": 0}]}", "is not in \"comm_size\""},
    {"{\"workload_graph\": [{\"Id\": 1, \"NodeType\": 4, \"data_deps\": [1]}]}", "1 operation in a circle"},
    {"{\"format\": \"orrery-trace\", \"version\": 2}", "\"version\" of the format is not 1"},
    {"{\"format\": \"orrery-trace\", \"nodes\": [{\"id\": -1}]}", "\"id\" is not a whole number"},
    {"{\"format\": \"orrery-trace\", \"nodes\": [{\"di\": 1}]}", "unknown key \"di\" in a node"},
    {"{\"format\": \"orrery-trace\", \"no\\tdes\": []}", "unknown key \"no?des\""},
    {"{\"format\": \"orrery-trace\", \"nodes\": [{\"type\": \"COMPUTE\"}]}", "\"type\" is not a node type"},
    {"{\"format\": \"orrery-trace\", \"nodes\": [{\"attributes\": [{\"name\": \"a\", \"kind\": \"int32\", \"value\": "
     "2147483648}]}]}",
     "a whole number that fits it"},
    {"{\"version\": \"1\"}{\"id\": \"x\"}", "\"id\" is not a whole number"},
    {"{\"version\": \"1\"}{\"id\": \"1\"", "json"},
};

static void a_bad_document_is_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        struct converting one;
        converting_begin(&one, "bad.json");
        check_refused(&one, &json_converter, bad[i].text, bad[i].message);
        converting_end(&one);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_feeders_workload_becomes_a_graph),
        cmocka_unit_test(an_export_comes_back_as_the_same_bytes),
        cmocka_unit_test(the_jsonizers_texts_are_read_back),
        cmocka_unit_test(a_bad_document_is_refused),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
