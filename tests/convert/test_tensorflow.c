/* SPDX-License-Identifier: Apache-2.0 */
/* TensorFlow and JAX profiles: streams and XLA lines, sizes from HLO, steps, several devices. */
#include "convert/hlo.h"
#include "convert/tensorflow.h"
#include "tests/convert/converting.h"

#define PROCESS(pid, name)                                                                                             \
    "{\"ph\":\"M\",\"pid\":" #pid ",\"name\":\"process_name\",\"args\":{\"name\":\"" name "\"}},\n"
#define LINE(pid, tid, name)                                                                                           \
    "{\"ph\":\"M\",\"pid\":" #pid ",\"tid\":" #tid ",\"name\":\"thread_name\",\"args\":{\"name\":\"" name "\"}},\n"
#define EVENT(pid, tid, ts, dur, name, args)                                                                           \
    "{\"ph\":\"X\",\"pid\":" #pid ",\"tid\":" #tid ",\"ts\":" #ts ",\"dur\":" #dur ",\"name\":\"" name                 \
    "\",\"args\":{" args "}},\n"
#define ARG(key, value) "\"" key "\":\"" value "\""
#define BEGIN           "{\"displayTimeUnit\":\"ns\",\"metadata\":{\"highres-ticks\":true},\"traceEvents\":[\n"
#define END             "{}]}\n"

static const char gpu[] = BEGIN EVENT(1, 13, 100.25, 4.5, "gemm", ARG("group_id", "5")) /* before its names */
    PROCESS(1, "/device:GPU:0") PROCESS(9, "/host:CPU") LINE(1, 13, "Stream #13(Compute)") LINE(1, 14, "Stream #14")
        LINE(1, 2, "XLA Ops") LINE(1, 3, "Steps") LINE(9, 2, "python") EVENT(
            1, 2, 100, 60, "all-reduce.3", ARG("shape_with_layout", "(f32[128,4]{1,0:T(8,128)}, bf16[2]{0})"))
            EVENT(1, 3, 100, 99, "4", "") EVENT(9, 2, 90, 400, "train", ARG("step_num", "7") "," ARG("group_id", "5"))
                EVENT(9, 2, 95, 3, "dispatch", "")
                    EVENT(1, 14, 105.25, 40.5, "ncclDevKernel_AllReduce_Sum_f32_RING_LL(x)",
                          ARG("hlo_op", "all-reduce.3") "," ARG("group_id", "5"))
                        EVENT(1, 13, 106, 10.75, "gelu", ARG("group_id", "5")) EVENT(1, 13, 150, 4.5, "adam", "")
                            EVENT(1, 13, 155, 2, "MemcpyD2H",
                                  ARG("memcpy_details", "kind_src:device kind_dst:host size:4096 dest:0 async:1")) END;

static void kernels_follow_their_streams_and_what_they_waited_for(void **state)
{
    (void)state;
    struct converting one;
    converting_begin(&one, "gpu.json");
    CHECK_OK(converting_run(&one, &tensorflow_converter, gpu), &one.err);
    CHECK(converting_has_note(&one, "2 dependencies between streams inferred"), "it is told");
    struct trace_document *document = converting_open(rank_path(&one, 0));
    CHECK_U64(document->node_count, 5, "the XLA line says the same again and is not counted");
    CHECK_TEXT(named(document->nodes[1], "type_from")->string_val, "kernel-name");
    CHECK_TEXT(named(document->nodes[1], "size_from")->string_val, "hlo-shape");
    CHECK_U64(named(document->nodes[1], "stream")->int64_val, 14, "stream");
    CHECK_U64(named(document->nodes[1], "step")->int64_val, 7, "its group's step");
    CHECK_U64(named(document->nodes[3], "step")->int64_val, 4, "the step it lies in");
    CHECK_U64(named(document->nodes[4], "tensor_size")->uint64_val, 4096, "what was copied");
    trace_document_free(document);
    check_rank(&one, 0,
               " gemm/4 ncclDevKernel_AllReduce_Sum_f32_RING_LL(x)=0:2052(0) gelu/11(0) adam/4(1,2) MemcpyD2H/2(3)");
    converting_end(&one);
}

static const char tpu[] = BEGIN PROCESS(3, "/device:TPU:10") PROCESS(2, "/device:TPU:9") LINE(3, 1, "XLA Ops")
    LINE(2, 1, "XLA Ops") LINE(2, 2, "XLA Modules") LINE(2, 3, "Async XLA Ops") EVENT(2, 2, 0, 900, "jit_step", "")
        EVENT(2, 1, 0, 100, "while.1", "") EVENT(2, 1, 10, 20, "fusion.1", "") EVENT(2, 1, 30, 40, "fusion.2", "")
            EVENT(2, 1, 100, 1, "all-gather-start.4", ARG("shape_with_layout", "(bf16[8]{0}, bf16[16]{0})"))
                EVENT(2, 1, 101, 50, "fusion.3", "") EVENT(2, 1, 151, 9, "all-gather-done.4", "")
                    EVENT(2, 1, 160, 5, "reduce.7", "")
                        EVENT(2, 1, 165, 5, "reduce-scatter.2", ARG("bytes_accessed", "300"))
                            EVENT(2, 1, 170, 5, "collective-permute.2", "") EVENT(3, 1, 0, 5, "copy.1", "") END;

static void xla_lines_are_chains_with_starts_and_dones(void **state)
{
    (void)state;
    struct converting one;
    converting_begin(&one, "tpu.json");
    CHECK_OK(converting_run(&one, &tensorflow_converter, tpu), &one.err);
    CHECK_U64(one.summary.files, 2, "a rank a device, in the order of their numbers");
    CHECK(converting_has_note(&one, "1 operation between pairs of ranks kept as compute"), "it is told");
    check_rank(&one, 0,
               " while.1/40 fusion.1/20(0) fusion.2/40(1) all-gather-start.4=2:16(2) fusion.3/50(2) reduce.7/5(3,4)"
               " reduce-scatter.2=7:200(5) collective-permute.2/5(6)");
    check_rank(&one, 1, " copy.1/5");
    converting_end(&one);
}

static void a_step_begins_after_the_collectives_of_the_one_before(void **state)
{
    (void)state;
    struct converting one;
    converting_begin(&one, "steps.json");
    one.request.has_unknown_size = true;
    one.request.unknown_size = 64;
    one.request.ranks = 2;
    CHECK_OK(converting_run(&one, &tensorflow_converter,
                            BEGIN PROCESS(1, "/device:GPU:0") LINE(1, 1, "Stream #1") LINE(1, 2, "Stream #2")
                                EVENT(1, 1, 0, 10, "a", ARG("step_num", "1"))
                                    EVENT(1, 2, 10, 10, "ncclKernel_AllGather_RING_LL_Sum_int8_t(x)",
                                          ARG("step_num", "1")) EVENT(1, 1, 10, 30, "b", ARG("step_num", "1"))
                                        EVENT(1, 1, 40, 30, "c", ARG("step_num", "2")) END),
             &one.err);
    CHECK(converting_has_note(&one, "the one device in it was copied to 2 ranks"), "it is told");
    CHECK(simulate(&one, 2) >= 70000, "it runs");
    check_rank(&one, 0, " a/10 b/30(0) ncclKernel_AllGather_RING_LL_Sum_int8_t(x)=2:64(0) c/30(1,2)");
    unlink(rank_path(&one, 1));
    converting_end(&one);
}

static const struct {
    const char *text, *message;
} bad[] = {
    {"{\"traceEvents\":[{}]}", "no process of it is a device"},
    {BEGIN PROCESS(1, "/device:GPU:0") END, "no kernel on any of its 1 device"},
    {BEGIN PROCESS(1, "/device:GPU:0") EVENT(1, 1, 1, 1, "ncclDevKernel_AllReduce_Sum_f32_RING_LL(x)", "") END,
     "the size of \"ncclDevKernel_AllReduce_Sum_f32_RING_LL(x)\" is not in the trace"},
    {BEGIN PROCESS(1, "/device:GPU:0") EVENT(1, 1, 1, 1, "ncclDevKernel_AllGather_RING_LL(x)",
                                             ARG("hlo_op", "all-gather.1") "," ARG("shape_with_layout", "f32[8]")) END,
     "the trace without the number of ranks (parameter 'ranks')"},
    {BEGIN PROCESS(1, "/device:GPU:0") EVENT(1, 1, -1, 1, "k", "") END, ":3: an event whose \"ts\""},
    {"{\"traceEvents\":[", "no JSON"},
};

static void a_bad_profile_is_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        struct converting one;
        converting_begin(&one, "bad.json");
        CHECK_STATUS(converting_run(&one, &tensorflow_converter, bad[i].text), ORR_EINVAL);
        CHECK(i == COUNT_OF(bad) - 1 || strstr(one.err.text, bad[i].message) != NULL, "\"%s\" is not \"%s\"",
              one.err.text, bad[i].message);
        converting_end(&one);
    }
}

static const struct {
    const char *shape;
    bool first_only;
    uint64_t want; /* UINT64_MAX: refused */
} shapes[] = {
    {"f32[128,4]{1,0}", false, 2048},
    {"pred[]", false, 1},
    {"(f32[2]{0}, bf16[3]{0})", false, 14},
    {"((f32[2], f32[3]), (f32[20], f32[30]))", true, 20},
    {"(bf16[8]{0:T(8,128)(2,1)S(1)}, bf16[16]{0})", true, 16},
    {"s4[3]", false, 2},
    {"f8e4m3fn[16]", false, 16},
    {"f32[<=8]", false, 32},
    {"(f32[4], token[])", false, 16},
    {"q17[4]", false, UINT64_MAX},
    {"f32[18446744073709551615,3]", false, UINT64_MAX},
    {"f32[", false, UINT64_MAX},
    {"", false, UINT64_MAX},
    {"f32[2])", false, UINT64_MAX},
};

static void a_shape_gives_its_bytes(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(shapes); i++) {
        uint64_t got = UINT64_MAX;
        (void)hlo_shape_bytes(shapes[i].shape, strlen(shapes[i].shape), shapes[i].first_only, &got);
        CHECK_U64(got, shapes[i].want, "%s", shapes[i].shape);
    }
}

static void only_whole_names_are_collectives(void **state)
{
    (void)state;
    enum hlo_half half = HLO_WHOLE;
    CHECK(hlo_name_kind("reduce.3", 8, &half) == COMM_NONE, "reduce is local");
    CHECK(hlo_name_kind("all-reduce-scatter-fusion", 25, &half) == COMM_NONE, "no such operation");
    CHECK(hlo_name_kind("%reduce-scatter-done.1.clone", 28, &half) == COMM_REDUCE_SCATTER && half == HLO_DONE, "done");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kernels_follow_their_streams_and_what_they_waited_for),
        cmocka_unit_test(xla_lines_are_chains_with_starts_and_dones),
        cmocka_unit_test(a_step_begins_after_the_collectives_of_the_one_before),
        cmocka_unit_test(a_bad_profile_is_refused),
        cmocka_unit_test(a_shape_gives_its_bytes),
        cmocka_unit_test(only_whole_names_are_collectives),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
