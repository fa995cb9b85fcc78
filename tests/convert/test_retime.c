/* SPDX-License-Identifier: Apache-2.0 */
/* A recording that is imported and played again takes as long as it was recorded: every stretch of time of every thread
 * and stream is work, a wait that a dependency explains, or a gap. One kind of recording a test. */
#include <inttypes.h>
#include <stdlib.h>

#include "orrery.h"
#include "tests/convert/linking.h"

static struct linking linking;

/* Imports the lines and plays them, communications as recorded: nanoseconds. */
static uint64_t played_ns(const struct line *lines, size_t count)
{
    char path[64];
    char prefix[64];
    struct orr_error err = {0};
    struct orr_run *run = NULL;
    struct orr_import_options import;
    orr_import_options_init(&import);
    struct orr_run_options options;
    orr_run_options_init(&options);
    (void)snprintf(path, sizeof path, "%s/device_0.json", folder);
    (void)snprintf(prefix, sizeof prefix, "%s/played", folder);
    write_lines(path, lines, count);
    const char *paths[] = {path};
    import.paths = paths;
    import.path_count = 1;
    import.prefix = prefix;
    CHECK_OK(orr_trace_import(&import, NULL, NULL, &err), &err);
    options.workload = prefix;
    options.replay = true;
    CHECK_OK(orr_run_open(&options, &run, &err), &err);
    CHECK_OK(orr_run_execute(run, &err), &err);
    uint64_t time_ns = orr_run_time_ns(run);
    orr_run_close(run);
    return time_ns;
}

/* To a microsecond and one nanosecond for each node that takes none. */
#define CHECK_PLAYED(lines, want_us)                                                                                   \
    do {                                                                                                               \
        uint64_t got = played_ns((lines), COUNT_OF(lines));                                                            \
        uint64_t want = UINT64_C(1000) * (want_us);                                                                    \
        CHECK(got + 1000 >= want && got <= want + 1000, "%" PRIu64 " ns, not %" PRIu64, got, want);                    \
    } while (0)

static void an_ops_own_time_is_divided_at_its_launches(void **state)
{
    (void)state;
    const struct line lines[] = {{OP(1, "CompiledFxGraph", 0, 300, 1)}, {CALL(1, "cuLaunchKernel", 10, 5, 1)},
                                 {KERNEL(7, "triton_one", 20, 50, 1)},  {CALL(1, "cudaLaunchKernelExC", 100, 5, 2)},
                                 {KERNEL(7, "triton_two", 110, 50, 2)}, {KERNEL(7, "left over", 400, 10, 0)}};
    linking_open(&linking, lines, COUNT_OF(lines));
    CHECK_U64(node_at(&linking, "CompiledFxGraph")->duration_ns, 10000, "up to the first launch");
    CHECK_DEPS(&linking, "triton_one", "CompiledFxGraph");
    CHECK(node_depends(&linking, node_named(&linking, "triton_two", 0), node_named(&linking, "CompiledFxGraph", 1)),
          "the second comes behind the second piece");
    linking_close(&linking);
    CHECK_PLAYED(lines, 410);
}

static void time_that_nothing_explains_is_kept(void **state)
{
    (void)state;
    /* The host waits for something that was not recorded, and so does a kernel. */
    const struct line lines[] = {{OP(1, "a", 0, 20, 1)},         {CALL(1, "cudaLaunchKernel", 10, 5, 1)},
                                 {KERNEL(7, "one", 500, 10, 1)}, {CALL(1, "cudaLaunchKernel", 18, 1, 2)},
                                 {KERNEL(7, "two", 600, 10, 2)}, {CALL(1, "cudaStreamSynchronize", 30, 900, 3)},
                                 {OP(1, "b", 2000, 20, 2)}};
    CHECK_PLAYED(lines, 2020);
}

static void a_device_alone_keeps_its_gaps(void **state)
{
    (void)state;
    const struct line lines[] = {{KERNEL(7, "one", 0, 10, 0)},
                                 {KERNEL(7, "two", 50, 10, 0)},
                                 {KERNEL(20, "beside", 55, 100, 0)},
                                 {KERNEL(7, "three", 200, 10, 0)}};
    CHECK_PLAYED(lines, 210);
}

static void calls_of_a_thread_without_ops_are_what_it_did(void **state)
{
    (void)state;
    const struct line lines[] = {{CALL(1, "cudaLaunchKernel", 0, 5, 1)},
                                 {KERNEL(7, "one", 10, 20, 1)},
                                 {CALL(1, "cudaLaunchKernel", 100, 5, 2)},
                                 {KERNEL(7, "two", 110, 20, 2)},
                                 {CALL(2, "cudaEventQuery", 5000, 5, 9)}};
    linking_open(&linking, lines, COUNT_OF(lines));
    CHECK(node_depends(&linking, node_named(&linking, "two", 0), node_named(&linking, "cudaLaunchKernel", 1)) ||
              node_depends(&linking, node_named(&linking, "two", 0), node_named(&linking, "cudaLaunchKernel", 2)),
          "launched behind the host's time");
    CHECK_U64(linking.linked.counts.outside_ns, 4875000, "a thread that only asks is not in it, and is told of");
    linking_close(&linking);
    CHECK_PLAYED(lines, 130);
}

static void kernels_of_a_graph_run_side_by_side_as_recorded(void **state)
{
    (void)state;
    const struct line lines[] = {{OP(1, "replay", 0, 20, 1)},      {CALL(1, "cudaGraphLaunch", 5, 10, 1)},
                                 {KERNEL(7, "first", 20, 10, 1)},  {KERNEL(7, "reduce", 30, 200, 1)},
                                 {KERNEL(7, "branch", 40, 50, 1)}, {KERNEL(7, "branch on", 100, 50, 1)},
                                 {KERNEL(7, "join", 230, 10, 1)}};
    linking_open(&linking, lines, COUNT_OF(lines));
    CHECK(node_at(&linking, "branch")->lane != node_at(&linking, "reduce")->lane, "beside each other");
    CHECK(!node_depends(&linking, node_named(&linking, "branch", 0), node_named(&linking, "reduce", 0)), "no wait");
    CHECK(node_depends(&linking, node_named(&linking, "join", 0), node_named(&linking, "branch on", 0)), "both are");
    CHECK(node_depends(&linking, node_named(&linking, "join", 0), node_named(&linking, "reduce", 0)), "waited for");
    linking_close(&linking);
    CHECK_PLAYED(lines, 240);
}

static void a_kernel_that_began_a_little_early_keeps_its_place(void **state)
{
    (void)state;
    const struct line lines[] = {{OP(1, "a", 0, 10, 1)},
                                 {CALL(1, "cudaLaunchKernelExC", 5, 2, 1)},
                                 {CALL(1, "cudaLaunchKernelExC", 8, 2, 2)},
                                 {KERNEL(7, "one", 10, 20, 1)},
                                 {KERNEL(7, "two", 26, 24, 2)}};
    linking_open(&linking, lines, COUNT_OF(lines));
    CHECK(node_depends(&linking, node_named(&linking, "two", 0), node_named(&linking, "one", 0)), "in order");
    CHECK_U64(node_at(&linking, "two")->duration_ns, 20000, "what it took behind the other");
    linking_close(&linking);
    CHECK_PLAYED(lines, 50);
}

static void what_communicates_without_a_launch_is_timed_and_no_refusal(void **state)
{
    (void)state;
    const struct line lines[] = {{KERNEL(20, "ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t", 0, 40, 77)},
                                 {OP(1, "a", 10, 20, 1)},
                                 {CALL(1, "cudaGraphLaunch", 15, 10, 1)},
                                 {KERNEL(7, "ncclDevKernel_AllReduce_Sum_bf16_RING_LL", 50, 30, 1)}};
    CHECK_PLAYED(lines, 80);
}

static void a_profiler_step_among_the_operators_is_a_step(void **state)
{
    (void)state;
    const struct line lines[] = {{"Operator", 1, "ProfilerStep#3", 0, 1000, 0, NULL},
                                 {"Operator", 1, "aten::mm", 100, 50, 1, NULL},
                                 {"Runtime", 1, "cudaLaunchKernel", 110, 5, 1, NULL},
                                 {"kernel", 7, "gemm", 120, 500, 1, NULL}};
    linking_open(&linking, lines, COUNT_OF(lines));
    CHECK_U64(linking.linked.step_count, 1, "steps");
    CHECK_U64(node_named(&linking, "ProfilerStep#3", 0), LINKED_NONE, "no work of its own");
    linking_close(&linking);
    CHECK_PLAYED(lines, 1000);
}

static void collectives_of_the_host_that_overlapped_overlap(void **state)
{
    (void)state;
    const struct line lines[] = {{OP(1, "a", 0, 20, 1)},
                                 {MARK(2, "gloo:all_reduce|bytes=4096", 30, 500)},
                                 {MARK(3, "gloo:all_reduce|bytes=8192", 60, 500)},
                                 {OP(1, "b", 700, 20, 9)}};
    CHECK_PLAYED(lines, 720);
}

/* What `trace ready --measure` prints of the lines; the caller frees it. */
static char *measured(const struct line *lines, size_t count)
{
    char path[64];
    char *text = NULL;
    size_t size = 0;
    bool usable = false;
    struct orr_error err = {0};
    (void)snprintf(path, sizeof path, "%s/device_0.json", folder);
    write_lines(path, lines, count);
    const char *paths[] = {path};
    struct orr_ready_options options = {.paths = paths, .path_count = 1, .measure = true, .brief = true};
    FILE *stream = open_memstream(&text, &size);
    assert_non_null(stream);
    CHECK_OK(orr_trace_ready(&options, stream, &usable, &err), &err);
    assert_int_equal(fclose(stream), 0);
    CHECK(usable, "usable");
    return text;
}

static void ready_holds_the_recording_against_its_simulation(void **state)
{
    (void)state;
    const struct line lines[] = {
        {OP(1, "a", 0, 300, 1)}, {CALL(1, "cudaLaunchKernel", 10, 5, 1)}, {KERNEL(7, "k", 200, 210, 1)}};
    char *text = measured(lines, COUNT_OF(lines));
    CHECK_CONTAINS(text, "Measured");
    CHECK_CONTAINS(text, "rank 0    410.0 us   410.0 us");
    CHECK(strstr(text, "WARNING") == NULL, "%s", text);
    free(text);
}

static void a_difference_is_told_with_its_reason(void **state)
{
    (void)state;
    const struct line lines[] = {{OP(1, "a", 0, 300, 1)},
                                 {CALL(1, "cudaLaunchKernel", 10, 5, 1)},
                                 {KERNEL(7, "k", 200, 210, 1)},
                                 {CALL(2, "cudaEventQuery", 5000, 5, 9)}};
    char *text = measured(lines, COUNT_OF(lines));
    CHECK_CONTAINS(text,
                   "WARNING rank 0: simulated 91.8% shorter than recorded: 4.595 ms at its end were spent in calls of "
                   "threads that ran no op and launched nothing");
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CHECK_MAP(an_ops_own_time_is_divided_at_its_launches, time_that_nothing_explains_is_kept,
                  a_device_alone_keeps_its_gaps, calls_of_a_thread_without_ops_are_what_it_did,
                  kernels_of_a_graph_run_side_by_side_as_recorded, a_kernel_that_began_a_little_early_keeps_its_place,
                  what_communicates_without_a_launch_is_timed_and_no_refusal,
                  a_profiler_step_among_the_operators_is_a_step, collectives_of_the_host_that_overlapped_overlap),
        CHECK_MAP(ready_holds_the_recording_against_its_simulation, a_difference_is_told_with_its_reason)};
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
