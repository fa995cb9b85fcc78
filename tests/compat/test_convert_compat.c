/* SPDX-License-Identifier: Apache-2.0 */
/* What Chakra's converter makes of small traces: the cases that were made to find its rules, restated, and what it said
 * about them (spec chakra §8). Each case is a few nodes and the lines they must come out as. */
#include "compat/chakra/convert.h"

#include <stdlib.h>

#include "tests/check.h"
#include "tests/convert/hdt.h"
#include "tests/folder.h"
#include "trace/document.h"

#define SCHEMA "1.0.2-chakra.0.0.4"
#define KERNEL "\"cat\": \"kernel\", \"stream\": 7, \"exclusive_dur\": 5"
#define GROUP  "{\"name\": \"pg_name\", \"type\": \"string\", \"value\": \"9\"}"

struct result {
    enum orr_status status;
    struct orr_error err;
    struct convert_summary summary;
    char text[4096]; /* a line a node: id type, c its control and d its data dependencies, t its time, b bytes … */
    char replay[8192];
};

static const Chakra__Attribute *find(const Chakra__Node *node, const char *name)
{
    for (size_t i = 0; i < node->n_attr; i++) {
        if (strcmp(node->attr[i]->name, name) == 0)
            return node->attr[i];
    }
    return NULL;
}

static void put_node(FILE *file, const Chakra__Node *node)
{
    static const char *const types[] = {"INVALID", "META", "LOAD", "STORE", "COMP", "SEND", "RECV", "COLL"};
    const Chakra__Attribute *attr = NULL;
    fprintf(file, "%" PRIu64 " %s", node->id, types[node->type]);
    for (size_t i = 0; i < node->n_ctrl_deps; i++)
        fprintf(file, " c%" PRIu64, node->ctrl_deps[i]);
    for (size_t i = 0; i < node->n_data_deps; i++)
        fprintf(file, " d%" PRIu64, node->data_deps[i]);
    fprintf(file, " t%" PRIu64, node->duration_micros);
    if ((attr = find(node, "comm_type")) != NULL)
        fprintf(file, " k%" PRId64, attr->int64_val);
    if ((attr = find(node, "comm_size")) != NULL)
        fprintf(file, " b%" PRId64, attr->int64_val);
    if ((attr = find(node, "pg_name")) != NULL)
        fprintf(file, " g%s", attr->string_val);
    if (find(node, "stream") == NULL)
        fprintf(file, " no-stream");
    fputc('\n', file);
}

static void read_back(const char *path, struct result *result)
{
    struct mem mem = {0};
    struct trace_document *document = NULL;
    CHECK_OK(trace_document_read(path, &mem, &document, &result->err), &result->err);
    FILE *file = fmemopen(result->text, sizeof result->text, "w");
    for (uint32_t i = 0; i < document->node_count; i++)
        put_node(file, document->nodes[i]);
    fclose(file);
    trace_document_free(document);
}

static void convert_file(const char *input, struct result *result)
{
    char output[64];
    struct mem mem = {0};
    struct notes notes;
    snprintf(output, sizeof output, "%s/out.et", folder);
    remove(output);
    notes_init(&notes, &mem, false);
    *result = (struct result){0};
    FILE *replay = fmemopen(result->replay, sizeof result->replay, "w");
    struct convert_request request = {
        .input = input, .output = output, .passes = 1, .replay = replay, .mem = &mem, .notes = &notes};
    result->status = pytorch_convert_compat(&request, &result->summary, &result->err);
    fclose(replay);
    notes_free(&notes);
    CHECK_U64(mem.used, 0, "all memory is given back: %s", input);
    if (result->status == ORR_OK) {
        read_back(output, result);
    } else {
        FILE *file = fopen(output, "r");
        CHECK(file == NULL, "a failed conversion leaves no file");
    }
}

static void convert(const char *schema, const char *nodes, struct result *result)
{
    char input[64];
    snprintf(input, sizeof input, "%s/hdt.json", folder);
    hdt_write(input, schema, nodes);
    convert_file(input, result);
}

struct graph_case {
    const char *what, *nodes, *want;
};

#define DUR "\"exclusive_dur\": 3"

static const struct graph_case graphs[] = {
    {"host ops chain in the order of ids, kernels hang on the op before them",
     HDT_FRONT "2~a~1~" DUR "\n3~a1~2~" DUR "\n4~k1~3~" KERNEL "\n5~k2~3~" KERNEL "\n6~a2~2~" DUR "\n7~k3~6~" KERNEL
               "\n8~b~1~" DUR "\n9~k4~8~" KERNEL,
     "1 COMP c0 t0\n2 COMP c1 d1 t3\n3 COMP c2 d2 t3\n4 COMP c3 d3 t5\n5 COMP c3 d3 t5\n6 COMP c2 d3 t3\n"
     "7 COMP c6 d6 t5\n8 COMP c1 d6 t3\n9 COMP c8 d8 t5\n"},
    {"each thread is a chain of its own, and waits where inter_thread_dep says",
     HDT_FRONT "2~a~1~" DUR "\n3~THREAD~0\n4~b~3~" DUR ", \"inter_thread_dep\": 2\n5~c~1~" DUR
               ", \"inter_thread_dep\": 4",
     "1 COMP c0 t0\n2 COMP c1 d1 t3\n3 COMP c0 t0\n4 COMP c3 d2 d3 t3\n5 COMP c1 d4 d2 t3\n"},
    {"a wait for node 0 counts as none", HDT_FRONT "2~a~1~" DUR ", \"inter_thread_dep\": 0\n3~b~1~" DUR,
     "1 COMP c0 t0\n2 COMP c1 d1 t3\n3 COMP c1 d2 t3\n"},
    {"sync_dep is never written", HDT_FRONT "2~a~1~" DUR "\n3~k~2~" KERNEL "\n4~b~1~" DUR ", \"sync_dep\": [3]",
     "1 COMP c0 t0\n2 COMP c1 d1 t3\n3 COMP c2 d2 t5\n4 COMP c1 d2 t3\n"},
    {"a kernel whose parent is not there is dropped", HDT_FRONT "2~a~1~" DUR "\n3~k~555~" KERNEL "\n4~b~1~" DUR,
     "1 COMP c0 t0\n2 COMP c1 d1 t3\n4 COMP c1 d2 t3\n"},
    {"the list of process groups is metadata, and part of the chain",
     HDT_FRONT "2~## process_group:init ##~1\n3~a~1~" DUR, "1 COMP c0 t0\n2 META c1 d1 t0\n3 COMP c1 d2 t3\n"},
    {"a parent that comes later in the file is no control dependency",
     "2~a~1~" DUR "\n3~b~1~" DUR "\n1~THREAD~0\n0~PROCESS~99", "1 COMP t0\n2 COMP d1 t3\n3 COMP d2 t3\n"},
    {"of an id that occurs twice the last counts, in the place of the first",
     HDT_FRONT "2~a~1~" DUR "\n3~b~1~" DUR "\n2~c~1~\"exclusive_dur\": 8",
     "1 COMP c0 t0\n2 COMP c1 d1 t8\n3 COMP c1 d2 t3\n"},
    {"an optimizer's step takes no time, and times are cut to whole us",
     HDT_FRONT "2~Optimizer.step#SGD.step~1~\"exclusive_dur\": 50\n3~b~1~\"exclusive_dur\": 3.999",
     "1 COMP c0 t0\n2 COMP c1 d1 t0\n3 COMP c1 d2 t3\n"},
    {"a stream that is null is left out, one that is missing is 0",
     HDT_FRONT "2~a~1~\"exclusive_dur\": 3\n3~k~2~\"cat\": \"kernel\", \"stream\": null, \"exclusive_dur\": 5",
     "1 COMP c0 t0\n2 COMP c1 d1 t3\n3 COMP c2 d2 t5 no-stream\n"},
    {"threads recorded by the graph observer are threads too",
     "0~[pytorch|profiler|execution_graph|process]~99\n1~[pytorch|profiler|execution_graph|thread]~0\n2~a~1~" DUR,
     "1 COMP c0 t0\n2 COMP c1 d1 t3\n"},
    {"a thread in a thread is walked once, with the same result",
     HDT_FRONT "2~a~1~" DUR "\n3~THREAD~2\n4~b~3~" DUR "\n5~c~1~" DUR,
     "1 COMP c0 t0\n2 COMP c1 d1 t3\n3 COMP c2 d2 t0\n4 COMP c3 d3 t3\n5 COMP c1 d4 t3\n"},
    {"a process whose parent is one of its own comes last in the chain", "0~PROCESS~2\n1~THREAD~0\n2~a~1~" DUR,
     "0 COMP d2 t0\n1 COMP c0 t0\n2 COMP c1 d1 t3\n"},
    {"a node nobody waits for and that waits for nobody is dropped", HDT_FRONT "2~stray~77~" DUR, ""},
};

static void a_graph_is_what_chakra_makes_of_it(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(graphs); i++) {
        struct result result;
        convert(SCHEMA, graphs[i].nodes, &result);
        CHECK(result.status == ORR_OK, "%s: %s", graphs[i].what, result.err.text);
        CHECK(strcmp(result.text, graphs[i].want) == 0, "%s:\n%sis not\n%s", graphs[i].what, result.text,
              graphs[i].want);
    }
}

/* Kernel, op around it, and the last line's end: type, collective number, bytes, group. The kernel hangs on
 * record_param_comms (group 9) below the op, or on the op itself. */
static const struct {
    const char *kernel, *op;
    bool direct;
    const char *want;
} communications[] = {
    {"ncclDevKernel_AllReduce_Sum_f32_RING_LL(x)", "c10d::x", false, "4 COLL c3 d3 t5 k0 b5000 g5\n"},
    {"ncclKernel_AllGather_RING_LL_Sum_int8_t(x)", "c10d::x", false, "4 COLL c3 d3 t5 k2 b5000 g5\n"},
    {"ncclDevKernel_Reduce_Scatter_Sum", "c10d::x", false, "4 COLL c3 d3 t5 k7 b5000 g5\n"},
    {"ncclDevKernel_Broadcast_RING_LL", "c10d::x", false, "4 COLL c3 d3 t5 k5 b5000 g5\n"},
    {"ncclDevKernel_AllToAll", "c10d::x", false, "4 COLL c3 d3 t5 k6 b5000 g5\n"},
    {"ncclDevKernel_AllGather_ReduceScatter", "c10d::x", false, "4 COLL c3 d3 t5 k2 b5000 g5\n"},
    {"rccl_AllReduce_kernel", "c10d::x", false, "4 COMP c3 d3 t5\n"},
    {"ncclDevKernel_SendRecv(x)", "nccl:send", false, "4 SEND c3 d3 t5 b5000 g9\n"},
    {"ncclDevKernel_SendRecv(x)", "nccl:recv 0<-1", false, "4 RECV c3 d3 t5 b5000 g9\n"},
    {"ncclDevKernel_SendRecv(x)", "nccl:sendrecv", false, "4 SEND c3 d3 t5 b5000 g9\n"},
    {"ncclDevKernel_SendRecv(x)", "nccl:all_to_all", false, "4 COLL c3 d3 t5 k6 b5000 g9\n"},
    {"ncclDevKernel_SendRecv(x)", "nccl:other", false, "4 COLL c3 d3 t5 k6 b5000 g9\n"},
    {"ncclDevKernel_SendRecv(x)", "nccl:send 0->1", true, "3 SEND c2 d2 t5 b5000 g5\n"},
    {"ncclDevKernel_SendRecv(x)", "nccl:recv", true, "3 RECV c2 d2 t5 b5000 g5\n"},
};

static void build_communication(size_t index, char *nodes, size_t size)
{
    static const char inputs[] = "[[10, 11, 0, 1000, 4, \"cuda:0\"]], [12, 13, 0, 500, 2, \"cuda:0\"], \"x\"~"
                                 "\"GenericList[Tensor(float)]\", \"Tensor(c10::Half)\", \"String\"";
    bool direct = communications[index].direct;
    snprintf(nodes, size, HDT_FRONT "2~%s~1~" DUR "\n%s%d~%s~%d~" KERNEL ", \"pg_name\": \"5\"~%s",
             communications[index].op, direct ? "" : "3~record_param_comms~2~" DUR "~~~" GROUP "\n", direct ? 3 : 4,
             communications[index].kernel, direct ? 2 : 3, inputs);
}

static void a_collective_is_told_by_its_kernel_and_a_message_by_its_op(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(communications); i++) {
        char nodes[2048];
        struct result result;
        build_communication(i, nodes, sizeof nodes);
        convert(SCHEMA, nodes, &result);
        CHECK(result.status == ORR_OK, "%s: %s", communications[i].kernel, result.err.text);
        size_t length = strlen(result.text);
        size_t want = strlen(communications[i].want);
        CHECK(length >= want && strcmp(result.text + length - want, communications[i].want) == 0,
              "%s below %s:\n%sdoes not end in\n%s", communications[i].kernel, communications[i].op, result.text,
              communications[i].want);
    }
}

static const struct {
    const char *schema, *nodes, *want;
} refusals[] = {
    {SCHEMA, HDT_FRONT "2~a~1~\"inter_thread_dep\": 3\n3~b~1~" DUR,
     "hdt.json:11: node 2 (a): the data dependencies form a cycle: 2 on 3 on 2"},
    {SCHEMA, HDT_FRONT "2~a~1~\"inter_thread_dep\": 777\n3~b~1~" DUR, "depends on node 777, which is not in the trace"},
    {SCHEMA, HDT_FRONT "2~a~1~" DUR "\n3~ncclDevKernel_Generic_4(x)~2~" KERNEL, "knows no collective by this name"},
    {SCHEMA, HDT_FRONT "2~a~1~" DUR "\n3~ncclDevKernel_Reduce_Sum_f32_RING_LL~2~" KERNEL, "knows no collective"},
    {SCHEMA, HDT_FRONT "2~a~1~" DUR "\n3~ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t(x)~2~" KERNEL,
     "knows no collective"},
    {SCHEMA, HDT_FRONT "2~a~1~" DUR "\n3~k~2~\"cat\": \"kernel\", \"stream\": \"0x0\"",
     "node 3 (k): \"stream\" is a text \"0x0\"; Chakra's converter takes whole numbers"},
    {SCHEMA, HDT_FRONT "2~a~1~\"exclusive_dur\": -3", "\"exclusive_dur\" is a number that is no time"},
    {SCHEMA, HDT_FRONT "2~a~1~" DUR "~~~{\"name\": \"rf_id\", \"value\": \"none\"}", "no attribute \"rf_id\""},
    {SCHEMA, HDT_FRONT "2~record_param_comms~55\n3~ncclDevKernel_SendRecv(x)~2~" KERNEL, "has no parent in the file"},
    {"1.0.1", HDT_FRONT "2~a~1~" DUR, "schema \"1.0.1\"; Chakra's converter reads 1.0.2"},
    {"1.0.4-chakra.0.0.4", HDT_FRONT "2~a~1~" DUR, "schema \"1.0.4-chakra.0.0.4\""},
    {"1.1.1-chakra.1.0.0", HDT_FRONT "2~a~1~" DUR, "schema \"1.1.1-chakra.1.0.0\""},
};

static void what_chakra_fails_on_is_a_sentence_and_no_file(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(refusals); i++) {
        struct result result;
        convert(refusals[i].schema, refusals[i].nodes, &result);
        CHECK(result.status == ORR_EINVAL, "case %zu is refused, not \"%s\"", i, orr_status_text(result.status));
        CHECK_CONTAINS(result.err.text, refusals[i].want);
    }
}

static void all_schemas_of_the_original_are_read(void **state)
{
    static const char *const schemas[] = {SCHEMA, "1.0.3-chakra.0.0.4", "1.1.0-chakra.0.0.4", "1.1.1-chakra.0.0.4"};
    (void)state;
    for (size_t i = 0; i < COUNT_OF(schemas); i++) {
        struct result result;
        convert(schemas[i], HDT_FRONT "2~a~1~" DUR, &result);
        CHECK(result.status == ORR_OK, "%s: %s", schemas[i], result.err.text);
        CHECK_TEXT(result.text, "1 COMP c0 t0\n2 COMP c1 d1 t3\n");
        CHECK_U64(result.summary.nodes, 2, "%s", schemas[i]);
    }
}

/* Where Python's recursion ends at 1000. */
static void a_chain_of_a_hundred_thousand_nodes_met_from_its_end_is_converted(void **state)
{
    enum { COUNT = 100000 };
    (void)state;
    char input[64];
    struct result result;
    snprintf(input, sizeof input, "%s/chain.json", folder);
    FILE *file = fopen(input, "w");
    char *nodes = malloc((size_t)COUNT * 32);
    size_t used = 0;
    for (int id = COUNT; id >= 2; id--)
        used += (size_t)sprintf(nodes + used, "%d~a~%d\n", id, id - 1);
    sprintf(nodes + used, "1~THREAD~0\n0~PROCESS~999999");
    hdt_put(file, SCHEMA, nodes, NULL);
    fclose(file);
    free(nodes);
    struct mem mem = {0};
    struct notes notes;
    notes_init(&notes, &mem, false);
    struct convert_request request = {.input = input, .output = "/dev/null", .mem = &mem, .notes = &notes};
    CHECK_OK(pytorch_convert_compat(&request, &result.summary, &result.err), &result.err);
    CHECK_U64(result.summary.nodes, COUNT, "every node of the chain");
    notes_free(&notes);
}

/* Children are released when their parent is issued: kernel 3 starts one tick after a, long before a ends. */
static void the_replay_is_that_of_simulate(void **state)
{
    (void)state;
    struct result result;
    convert(SCHEMA,
            HDT_FRONT
            "2~a~1~\"exclusive_dur\": 10\n3~k~2~" KERNEL
            "\n4~m~2~\"cat\": \"gpu_memcpy\", \"stream\": 7, \"exclusive_dur\": 0\n5~n~2~\"cat\": \"kernel\", "
            "\"stream\": null, \"exclusive_dur\": 2",
            &result);
    CHECK(result.status == ORR_OK, "%s", result.err.text);
    CHECK_TEXT(result.replay,
               "Issuing CPU Node ID 1 ([pytorch|profiler|execution_trace|thread]) at 0us with duration 0us, tid: 1\n"
               "CPU Node ID 1 completed at 1us, tid: 1\n"
               "Issuing CPU Node ID 2 (a) at 1us with duration 10us, tid: 1\n"
               "Issuing GPU Node ID 3 (k) at 2us on stream 7 with duration 5us, tid: stream 7\n"
               "Issuing GPU Node ID 5 (n) at 2us on stream None with duration 2us, tid: stream None\n"
               "GPU Node ID 5 on stream None completed at 4us, tid: stream None\n"
               "GPU Node ID 3 on stream 7 completed at 7us, tid: stream 7\n"
               "Issuing GPU Node ID 4 (m) at 7us on stream 7 with duration 0us, tid: stream 7\n"
               "GPU Node ID 4 on stream 7 completed at 8us, tid: stream 7\n"
               "CPU Node ID 2 completed at 11us, tid: 1\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_graph_is_what_chakra_makes_of_it),
        cmocka_unit_test(a_collective_is_told_by_its_kernel_and_a_message_by_its_op),
        cmocka_unit_test(what_chakra_fails_on_is_a_sentence_and_no_file),
        cmocka_unit_test(all_schemas_of_the_original_are_read),
        cmocka_unit_test(a_chain_of_a_hundred_thousand_nodes_met_from_its_end_is_converted),
        cmocka_unit_test(the_replay_is_that_of_simulate),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
