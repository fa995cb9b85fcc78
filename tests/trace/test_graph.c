/* SPDX-License-Identifier: Apache-2.0 */
/* The simulator's reader: what of a file ends up where in the graph, and which files it refuses, in which words. */
#include "tests/check.h"
#include "tests/trace/bytes.h"
#include "trace/attr.h"
#include "trace/graph.h"

static struct trace_graph *parse(const struct bytes *file, struct mem *mem)
{
    struct orr_error err = {0};
    struct trace_graph *graph = NULL;
    CHECK_OK(trace_graph_parse(file->at, file->size, "f.et", mem, &graph, &err), &err);
    return graph;
}

/* The error of a file that must be refused; the graph pointer must stay as it was, and no memory be kept. */
static const char *refuse(const struct bytes *file)
{
    static struct orr_error err;
    struct mem mem = {0};
    struct trace_graph *untouched = (struct trace_graph *)&mem;
    err.text[0] = '\0';
    CHECK_STATUS(trace_graph_parse(file->at, file->size, "f.et", &mem, &untouched, &err), ORR_EINVAL);
    CHECK(untouched == (struct trace_graph *)&mem, "an output is written only on success");
    CHECK_U64(mem.used, 0, "no memory is kept: %s", err.text);
    CHECK(strncmp(err.text, "f.et: byte ", 11) == 0, "\"%s\" says where", err.text);
    CHECK(strchr(err.text, '\n') == NULL, "one line");
    return err.text;
}

static void a_node_is_read_whole_whatever_the_order_of_its_fields(void **state)
{
    (void)state;
    struct bytes file, node = {.size = 0};
    bytes_begin(&file);
    bytes_integer(&node, "comm_size", 9, 4096);
    bytes_number(&node, 99, 1); /* unknown */
    bytes_integer(&node, "comm_type", 9, 7);
    bytes_number(&node, 7, 50);
    bytes_number(&node, 3, TRACE_COLL);
    bytes_text(&node, 2, "first name");
    bytes_text(&node, 2, "gradients");
    bytes_integer(&node, "is_cpu_op", 27, 1);
    bytes_number(&node, 1, 42);
    bytes_record(&file, &node);
    struct mem mem = {0};
    struct trace_graph *graph = parse(&file, &mem);
    CHECK_U64(graph->node_count, 1, "nodes");
    const struct trace_node *read = graph->nodes;
    CHECK_U64(read->id, 42, "id");
    CHECK_U64(read->type, TRACE_COLL, "type");
    CHECK_U64(read->duration_us, 50, "duration");
    CHECK_U64(read->comm_bytes, 4096, "comm_size");
    CHECK_U64(read->comm_type, 7, "comm_type");
    CHECK_U64(read->is_cpu_op, 1, "is_cpu_op");
    CHECK_U64(read->has, TRACE_HAS_COMM_SIZE | TRACE_HAS_COMM_TYPE | TRACE_HAS_IS_CPU_OP, "has");
    CHECK_TEXT(trace_graph_name(graph, 0), "gradients");
    trace_graph_free(graph);
    CHECK_U64(mem.used, 0, "all memory is given back");
}

/* Every integer kind, holding -3 where it can and 3 where it cannot. */
static const struct {
    uint32_t field;
    const char *bytes;
    size_t size;
    int32_t want;
} integers[] = {
    {7, "\x38\xfd\xff\xff\xff\xff\xff\xff\xff\xff\x01", 11, -3},
    {7, "\x38\xfd\xff\xff\xff\x0f", 6, -3},
    {9, "\x48\xfd\xff\xff\xff\xff\xff\xff\xff\xff\x01", 11, -3},
    {11, "\x58\x03", 2, 3},
    {13, "\x68\x03", 2, 3},
    {15, "\x78\x05", 2, -3},
    {17, "\x88\x01\x05", 3, -3},
    {19, "\x9d\x01\x03\x00\x00\x00", 6, 3},
    {21, "\xa9\x01\x03\x00\x00\x00\x00\x00\x00\x00", 10, 3},
    {23, "\xbd\x01\xfd\xff\xff\xff", 6, -3},
    {25, "\xc9\x01\xfd\xff\xff\xff\xff\xff\xff\xff", 10, -3},
    {27, "\xd8\x01\x01", 3, 1},
};

static void every_integer_kind_is_accepted_where_an_integer_is_meant(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(integers); i++) {
        struct bytes file, node = {.size = 0}, value = {.size = 0};
        bytes_begin(&file);
        bytes_number(&node, 1, 1);
        bytes_add(&value, integers[i].bytes, integers[i].size);
        bytes_attribute(&node, "comm_tag", &value);
        bytes_attribute(&node, "root_rank", &value);
        bytes_attribute(&node, "pg_name", &value);
        bytes_record(&file, &node);
        struct mem mem = {0};
        struct trace_graph *graph = parse(&file, &mem);
        char text[16];
        (void)snprintf(text, sizeof text, "%d", integers[i].want);
        CHECK(graph->nodes[0].comm_tag == integers[i].want, "comm_tag as %s is %d", trace_value_name(integers[i].field),
              graph->nodes[0].comm_tag);
        CHECK(graph->nodes[0].root == integers[i].want, "root as %s", trace_value_name(integers[i].field));
        CHECK_TEXT(graph->strings + graph->nodes[0].group, text);
        trace_graph_free(graph);
    }
}

static void ranks_and_tags_are_cut_to_32_bits_and_sizes_are_not(void **state)
{
    (void)state;
    struct bytes file, node = {.size = 0};
    bytes_begin(&file);
    bytes_number(&node, 1, 1);
    bytes_integer(&node, "comm_tag", 9, UINT64_C(0x1fffffffe));
    bytes_integer(&node, "comm_src", 13, UINT64_C(0x100000005));
    bytes_integer(&node, "comm_dst", 9, (uint64_t)-1);
    bytes_integer(&node, "comm_priority", 9, UINT64_C(0x180000000));
    bytes_integer(&node, "comm_size", 9, UINT64_C(0x123456789a));
    bytes_integer(&node, "comm_root", 7, 6);
    bytes_record(&file, &node);
    struct mem mem = {0};
    struct trace_graph *graph = parse(&file, &mem);
    CHECK(graph->nodes[0].comm_tag == -2, "tag %d", graph->nodes[0].comm_tag);
    CHECK(graph->nodes[0].comm_src == 5, "src %d", graph->nodes[0].comm_src);
    CHECK(graph->nodes[0].comm_dst == -1, "dst %d", graph->nodes[0].comm_dst);
    CHECK(graph->nodes[0].comm_priority == INT32_MIN, "priority %d", graph->nodes[0].comm_priority);
    CHECK_U64(graph->nodes[0].comm_bytes, UINT64_C(0x123456789a), "size");
    CHECK(graph->nodes[0].root == 6, "root %d", graph->nodes[0].root);
    trace_graph_free(graph);
}

static void the_first_attribute_of_a_name_wins(void **state)
{
    (void)state;
    struct bytes file, node = {.size = 0}, text = {.size = 0};
    bytes_begin(&file);
    bytes_integer(&node, "num_ops", 9, 1);
    bytes_text(&text, 29, "not looked at");
    bytes_attribute(&node, "num_ops", &text);
    bytes_integer(&node, "num_ops", 9, 2);
    bytes_record(&file, &node);
    struct mem mem = {0};
    struct trace_graph *graph = parse(&file, &mem);
    CHECK_U64(graph->nodes[0].num_ops, 1, "num_ops");
    trace_graph_free(graph);
}

static void involved_dim_is_a_list_of_bools_or_integers_packed_or_not(void **state)
{
    (void)state;
    static const struct {
        uint32_t field;
        const char *list;
        size_t size;
    } lists[] = {{28, "\x0a\x03\x01\x00\x01", 5},
                 {28, "\x08\x01\x08\x00\x08\x01", 6},
                 {28, "\x0a\x01\x01\x08\x00\x0a\x01\x01", 8},
                 {10, "\x0a\x03\x05\x00\x01", 5},
                 {16, "\x0a\x03\x01\x00\x02", 5},
                 {20, "\x0a\x0c\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x80", 14},
                 {26,
                  "\x09\x01\x00\x00\x00\x00\x00\x00\x00\x0a\x10\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00"
                  "\x00\x00\x00",
                  27}};
    for (size_t i = 0; i < COUNT_OF(lists); i++) {
        struct bytes file, node = {.size = 0}, value = {.size = 0};
        bytes_begin(&file);
        bytes_span(&value, lists[i].field, lists[i].list, lists[i].size);
        bytes_attribute(&node, "involved_dim", &value);
        bytes_record(&file, &node);
        struct mem mem = {0};
        struct trace_graph *graph = parse(&file, &mem);
        CHECK_U64(graph->nodes[0].involved_dim_count, 3, "case %zu", i);
        CHECK_U64(graph->nodes[0].involved_dims, 5, "case %zu", i);
        CHECK_U64(graph->nodes[0].has, TRACE_HAS_INVOLVED_DIM, "case %zu", i);
        trace_graph_free(graph);
    }
}

static void nodes_are_sorted_and_the_file_order_is_kept(void **state)
{
    (void)state;
    static const uint64_t ids[] = {30, 10, UINT64_C(1) << 60, 20, 5};
    static const uint32_t order[] = {3, 1, 4, 2, 0};
    struct bytes file;
    bytes_begin(&file);
    for (size_t k = 0; k < COUNT_OF(ids); k++) {
        bytes_node(&file, ids[k], TRACE_COMP, &ids[(k + 1) % COUNT_OF(ids)], k == 2 ? 1 : 0);
    }
    struct mem mem = {0};
    struct trace_graph *graph = parse(&file, &mem);
    for (uint32_t k = 0; k < COUNT_OF(ids); k++) {
        CHECK_U64(graph->file_order[k], order[k], "place %u", k);
        CHECK_U64(graph->nodes[order[k]].id, ids[k], "place %u", k);
        CHECK_U64(trace_graph_find(graph, ids[k]), order[k], "found by id");
    }
    CHECK_U64(trace_graph_find(graph, 11), UINT32_MAX, "an id that is not there");
    CHECK_U64(graph->parents[graph->parent_start[4]], 2, "the parent of the node of largest id is node 20");
    trace_graph_free(graph);
}

static void dependencies_collapse_for_running_and_are_kept_as_written(void **state)
{
    (void)state;
    struct bytes file, node = {.size = 0};
    bytes_begin(&file);
    bytes_node(&file, 1, TRACE_COMP, NULL, 0);
    bytes_node(&file, 2, TRACE_COMP, NULL, 0);
    bytes_number(&node, 1, 3);
    bytes_numbers(&node, 4, (uint64_t[]){1, 2}, 2); /* control, written first */
    bytes_number(&node, 5, 2);                      /* data, not packed */
    bytes_number(&node, 5, 2);
    bytes_number(&node, 4, 1);
    bytes_record(&file, &node);
    struct mem mem = {0};
    struct trace_graph *graph = parse(&file, &mem);
    static const uint32_t written[] = {1, 1, 0, 1, 0}; /* node indices: data 2 2, control 1 2 1 */
    CHECK_U64(graph->parent_written[2], COUNT_OF(written), "written");
    for (uint32_t i = 0; i < COUNT_OF(written); i++) {
        CHECK_U64(graph->parents[graph->parent_start[2] + i], written[i], "dependency %u", i);
    }
    CHECK_U64(graph->nodes[2].parent_count, 2, "distinct parents");
    CHECK_U64(graph->child_total, 2, "distinct edges");
    CHECK_U64(graph->nodes[0].child_count, 1, "children of 1");
    CHECK_U64(graph->children[graph->nodes[1].first_child], 2, "the child of 2");
    trace_graph_free(graph);
}

static void many_repeated_dependencies_collapse_too(void **state)
{
    (void)state;
    uint64_t parents[100];
    struct bytes file;
    bytes_begin(&file);
    for (uint64_t id = 0; id < 10; id++) {
        bytes_node(&file, id * 1000, TRACE_COMP, NULL, 0);
    }
    for (size_t i = 0; i < COUNT_OF(parents); i++) {
        parents[i] = i % 10 * 1000;
    }
    bytes_node(&file, 77, TRACE_COMP, parents, COUNT_OF(parents));
    bytes_node(&file, 78, TRACE_COMP, parents, COUNT_OF(parents));
    struct mem mem = {0};
    struct trace_graph *graph = parse(&file, &mem);
    CHECK_U64(graph->nodes[trace_graph_find(graph, 77)].parent_count, 10, "distinct parents");
    CHECK_U64(graph->child_total, 20, "distinct edges");
    CHECK_U64(graph->parent_total, 200, "written edges");
    trace_graph_free(graph);
}

static void a_self_dependency_and_a_cycle_load_but_never_become_free(void **state)
{
    (void)state;
    struct bytes file;
    bytes_begin(&file);
    bytes_node(&file, 1, TRACE_COMP, (uint64_t[]){1}, 1);
    bytes_node(&file, 2, TRACE_COMP, (uint64_t[]){3}, 1);
    bytes_node(&file, 3, TRACE_COMP, (uint64_t[]){2}, 1);
    struct mem mem = {0};
    struct trace_graph *graph = parse(&file, &mem);
    for (uint32_t i = 0; i < 3; i++) {
        CHECK_U64(graph->nodes[i].parent_count, 1, "node %u waits", i);
    }
    CHECK_U64(graph->children[graph->nodes[0].first_child], 0, "a node that waits for itself is its own child");
    trace_graph_free(graph);
}

static void a_trace_without_nodes_is_a_graph_without_nodes(void **state)
{
    (void)state;
    struct bytes file;
    bytes_begin(&file);
    struct mem mem = {0};
    struct trace_graph *graph = parse(&file, &mem);
    CHECK_U64(graph->node_count, 0, "nodes");
    CHECK_U64(trace_graph_find(graph, 0), UINT32_MAX, "nothing is found");
    trace_graph_free(graph);
}

static void a_faulty_dependency_or_id_is_named_with_both_places(void **state)
{
    (void)state;
    struct bytes file;
    bytes_begin(&file);
    bytes_node(&file, 1, TRACE_COMP, NULL, 0);
    bytes_node(&file, 8, TRACE_COMP, (uint64_t[]){1, 99}, 2);
    CHECK_CONTAINS(refuse(&file), "byte 13: node 8 depends on node 99, which is not in the file");
    bytes_begin(&file);
    bytes_node(&file, 5, TRACE_COMP, NULL, 0);
    bytes_node(&file, 1, TRACE_COMP, NULL, 0);
    bytes_node(&file, 5, TRACE_COMP, NULL, 0);
    CHECK_CONTAINS(refuse(&file), "byte 18: node id 5 is used again (first at byte 8)");
}

static void a_node_type_that_does_not_exist_is_refused(void **state)
{
    (void)state;
    struct bytes file;
    bytes_begin(&file);
    bytes_node(&file, 3, 8, NULL, 0);
    CHECK_CONTAINS(refuse(&file), "node 3: node type 8 is unknown; types are 0 to 7");
}

static void an_attribute_of_the_wrong_kind_is_named_with_its_node(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        const char *value;
        size_t size;
        const char *says;
    } cases[] = {
        {"comm_size", "\x19\0\0\0\0\0\0\0\0", 9, "attribute comm_size is double; it must be an integer"},
        {"comm_tag", "\xea\x01\x01x", 4, "attribute comm_tag is string; it must be an integer"},
        {"comm_dst", "", 0, "attribute comm_dst is no value; it must be an integer"},
        {"num_ops", "\x48\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 11, "attribute num_ops is -1; it must be"},
        {"involved_dim", "\xd8\x01\x01", 3, "attribute involved_dim is bool; it must be a list"},
        {"involved_dim", "\xe2\x01\x03\x0a\x01\x80", 6, "involved_dim: a damaged list"},
        {"pg_name", "\x2d\0\0\0\0", 5, "attribute pg_name is float; it must be a string"},
        {"anything", "\x4a\x00", 2, "the int64 value of attribute \"anything\" has wire type 2, not 0"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct bytes file, node = {.size = 0}, value = {.size = 0};
        bytes_begin(&file);
        bytes_add(&value, cases[i].value, cases[i].size);
        bytes_attribute(&node, cases[i].name, &value);
        bytes_number(&node, 1, 17); /* behind what is at fault */
        bytes_record(&file, &node);
        const char *said = refuse(&file);
        CHECK_CONTAINS(said, cases[i].says);
        CHECK(strstr(cases[i].says, "it must be") == NULL || strstr(said, "node 17: ") != NULL, "\"%s\" names 17",
              said);
    }
}

static const struct {
    const char *bytes;
    size_t size;
    const char *says;
} damaged[] = {
    {"", 0, "byte 0: the file is empty"},
    {"\x07\x0a\x05", 3, "byte 0: a record of 7 bytes, but the file ends after 2 more"},
    {"\x80", 1, "byte 0: a record's length does not end"},
    {"{\"schema\": 1}", 13, "byte 0: the file is JSON; a Chakra ET file (protobuf) is wanted"},
    {"{}", 2, "the file is JSON"},
    {"\xef\xbb\xbf [\r\n]", 8, "the file is JSON"},
    {"\x1f\x8b\x08\x00", 4, "gzip"},
    {"\x02\x08\x01", 3, "byte 1: the first record is not Chakra's GlobalMetadata"},
    {"\x00\x05\x08", 3, "byte 1: a record of 5 bytes"},
    {"\x00\x01\x08", 3, "byte 2: in a node: a number that does not end"},
    {"\x00\x02\x0a\x00", 4, "node 0: field 1 has wire type 2"},
    {"\x00\x04\x12\x02\xff\xfe", 6, "byte 4: a node's name is not UTF-8"},
    {"\x00\x03\x2a\x01\x80", 5, "in a list of dependencies: a number that does not end"},
    {"\x00\x04\x42\x02\x0a\x05", 6, "in a node's inputs or outputs: a length that runs past"},
    {"\x00\x02\x52\x01", 4, "in a node: a length that runs past"},
};

static void a_damaged_file_is_refused_with_the_byte(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(damaged); i++) {
        struct bytes file = {.size = 0};
        bytes_add(&file, damaged[i].bytes, damaged[i].size);
        CHECK_CONTAINS(refuse(&file), damaged[i].says);
    }
}

static void the_memory_limit_is_kept(void **state)
{
    (void)state;
    struct bytes file;
    bytes_begin(&file);
    for (uint64_t id = 0; id < 500; id++) {
        bytes_node(&file, id, TRACE_COMP, &(uint64_t){id / 2}, id > 0);
    }
    for (uint64_t limit = 0; limit < 100000; limit += 997) {
        struct mem mem = {.limit = limit + 1};
        struct orr_error err = {0};
        struct trace_graph *graph = NULL;
        enum orr_status status = trace_graph_parse(file.at, file.size, "f.et", &mem, &graph, &err);
        CHECK(status == ORR_OK || status == ORR_ENOMEM, "%s", err.text);
        trace_graph_free(graph);
        CHECK_U64(mem.used, 0, "limit %" PRIu64, limit);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CHECK_MAP(a_node_is_read_whole_whatever_the_order_of_its_fields,
                  every_integer_kind_is_accepted_where_an_integer_is_meant,
                  ranks_and_tags_are_cut_to_32_bits_and_sizes_are_not, the_first_attribute_of_a_name_wins,
                  involved_dim_is_a_list_of_bools_or_integers_packed_or_not,
                  nodes_are_sorted_and_the_file_order_is_kept,
                  dependencies_collapse_for_running_and_are_kept_as_written, many_repeated_dependencies_collapse_too),
        CHECK_MAP(a_self_dependency_and_a_cycle_load_but_never_become_free,
                  a_trace_without_nodes_is_a_graph_without_nodes, a_faulty_dependency_or_id_is_named_with_both_places,
                  a_node_type_that_does_not_exist_is_refused, an_attribute_of_the_wrong_kind_is_named_with_its_node,
                  a_damaged_file_is_refused_with_the_byte, the_memory_limit_is_kept)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
