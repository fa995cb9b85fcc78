/* SPDX-License-Identifier: Apache-2.0 */
/* Horovod timelines: fused tensors, compute between collectives, steps, cut files. */
#include "convert/horovod.h"
#include "tests/convert/converting.h"

/* Two tensors fused, then one of them again: pids 1 and 2; rank 0 has them ready at 101 and 115, the bytes move from
 * 130 to 190; in the second step at 300 and from 321 to 391. */
#define NAMES                                                                                                          \
    "[\n{\"name\":\"process_name\",\"ph\":\"M\",\"pid\":0,\"args\":{\"start_time_since_epoch_in_micros\":17}},\n"      \
    "{\"name\":\"process_name\",\"ph\":\"M\",\"pid\":1,\"args\":{\"name\":\"w1\"}},\n"                                 \
    "{\"name\":\"process_name\",\"ph\":\"M\",\"pid\":2,\"args\":{\"name\":\"w2\"}},\n"
#define B(name, ts, pid) "{\"ph\":\"B\",\"name\":\"" name "\",\"ts\":" #ts ",\"pid\":" #pid "},\n"
#define X(rank, ts, pid) "{\"ph\":\"X\",\"name\":\"" #rank "\",\"ts\":" #ts ",\"pid\":" #pid ",\"dur\":0},\n"
#define E(ts, pid)       "{\"ph\":\"E\",\"ts\":" #ts ",\"pid\":" #pid "},\n"
#define SIZED(ts, pid, dtype, shape)                                                                                   \
    "{\"ph\":\"E\",\"ts\":" #ts ",\"pid\":" #pid ",\"args\":{\"dtype\":\"" dtype "\",\"shape\":\"" shape "\"}},\n"
/* clang-format off */
#define FIRST_STEP                                                                                                     \
    B("NEGOTIATE_ALLREDUCE", 100, 1) X(0, 101, 1) X(1, 105, 1) E(120, 1)                                               \
    B("NEGOTIATE_ALLREDUCE", 115, 2) E(120, 2)                                                                         \
    B("ALLREDUCE", 121, 1) B("ALLREDUCE", 121, 2) B("QUEUE", 121, 1) E(125, 1)                                         \
    B("NCCL_ALLREDUCE", 130, 1) B("NCCL_ALLREDUCE", 131, 2) E(190, 1) E(190, 2)                                        \
    SIZED(191, 1, "float32", "[64, 3]") SIZED(191, 2, "float16", "[]")
#define SECOND_STEP                                                                                                    \
    B("NEGOTIATE_ALLREDUCE", 300, 1) E(320, 1)                                                                         \
    B("ALLREDUCE", 321, 1) "{\"ph\":\"i\",\"name\":\"CYCLE_START\",\"ts\":322,\"s\":\"g\"},\n"                      \
    SIZED(391, 1, "float32", "[64, 3]")
/* clang-format on */

static void tensors_of_one_interval_are_one_collective(void **state)
{
    (void)state;
    struct converting one;
    converting_begin(&one, "timeline.json");
    CHECK_OK(converting_run(&one, &horovod_converter, NAMES FIRST_STEP SECOND_STEP "{}]\n"), &one.err);
    CHECK_U64(one.summary.files, 2, "rank 1 was seen ready");
    CHECK(converting_has_note(&one, "3 tensors were fused into 2 collectives"), "it is told");
    /* 300 - 190: the second step's compute begins when the first step's collective has ended. */
    const char *want = " all-reduce w1 and 1 more=0:770 compute/110(0) all-reduce w1=0:768(0,1)";
    struct trace_document *document = converting_open(rank_path(&one, 0));
    CHECK_U64(document->nodes[0]->start_time_micros, 130, "start");
    CHECK_U64(document->nodes[0]->duration_micros, 60, "duration");
    CHECK_U64(named(document->nodes[0], "step")->int64_val, 0, "step");
    CHECK_U64(named(document->nodes[2], "step")->int64_val, 1, "step");
    CHECK_TEXT(named(document->nodes[2], "size_from")->string_val, "horovod");
    trace_document_free(document);
    CHECK(simulate(&one, 2) > 110000, "it runs");
    check_rank(&one, 0, want);
    check_rank(&one, 1, want);
    converting_end(&one);
}

static void compute_lies_between_tensors_becoming_ready(void **state)
{
    (void)state;
    struct converting one;
    converting_begin(&one, "between.json");
    one.request.ranks = 4;
    CHECK_OK(converting_run(&one, &horovod_converter,
                            NAMES B("NEGOTIATE_ALLREDUCE", 10, 1) E(20, 1) B("NEGOTIATE_ALLGATHER", 60, 2) E(65, 2)
                                B("ALLREDUCE", 20, 1) B("MPI_ALLREDUCE", 20, 1) E(80, 1) SIZED(81, 1, "float64", "[2]")
                                    B("ALLGATHER", 81, 2) B("MPI_ALLGATHER", 82, 2) E(90, 2)
                                        SIZED(91, 2, "int8", "[4, 5]") "{}]"),
             &one.err);
    check_rank(&one, 0, " all-reduce w1=0:16 compute/50 all-gather w2=2:5(0,1)");
    for (uint32_t r = 1; r < 4; r++)
        unlink(rank_path(&one, r));
    converting_end(&one);
}

static void a_file_that_was_cut_off_gives_what_is_whole(void **state)
{
    (void)state;
    static const char *const ends[] = {"", "]", "{\"ph\":\"B\",\"na",
                                       "{\"ph\":\"B\",\"name\":\"ALLREDUCE\",\"ts\":400,\"pid\":1}"};
    for (size_t i = 0; i < COUNT_OF(ends); i++) {
        struct converting one;
        char text[4096];
        converting_begin(&one, "cut.json");
        one.request.ranks = 1;
        snprintf(text, sizeof text, "%s%s", NAMES B("ALLREDUCE", 10, 1) SIZED(20, 1, "float32", "[2]"), ends[i]);
        CHECK_OK(converting_run(&one, &horovod_converter, text), &one.err);
        CHECK(converting_has_note(&one, "cut off"), "end %zu is not told", i);
        CHECK(i != 3 || converting_has_note(&one, "1 tensor is in the middle of an operation"), "not told");
        check_rank(&one, 0, " all-reduce w1=0:8");
        converting_end(&one);
    }
}

static const struct {
    const char *text, *message;
} bad[] = {
    {"{}", "no finished operation"},
    {"[]", "no finished operation"},
    {"[3]", "no object"},
    {NAMES B("ALLREDUCE", 10, 1) E(20, 1) "{}]", "no rank was seen ready"},
    {NAMES B("NEGOTIATE_ALLREDUCE", 9, 1) X(1, 9, 1) E(9, 1) B("ALLREDUCE", 10, 1) E(20, 1) "{}]",
     "the size of \"all-reduce w1\" is not in the timeline"},
    {"[{\"ph\":\"B\",\"name\":\"ALLREDUCE\",\"ts\":\"x\",\"pid\":1}]", ":1: an event whose \"ts\" is no time"},
    {"[{\"ph\":\"B\",\"name\":\"ALLREDUCE\",\"ts\":3}]", "an event without a pid"},
};

static void a_bad_timeline_is_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        struct converting one;
        converting_begin(&one, "bad.json");
        check_refused(&one, &horovod_converter, bad[i].text, bad[i].message);
        converting_end(&one);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tensors_of_one_interval_are_one_collective),
        cmocka_unit_test(compute_lies_between_tensors_becoming_ready),
        cmocka_unit_test(a_file_that_was_cut_off_gives_what_is_whole),
        cmocka_unit_test(a_bad_timeline_is_refused),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
