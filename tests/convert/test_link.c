/* SPDX-License-Identifier: Apache-2.0 */
/* What linking makes of a recording: nodes, their order and time, launches and streams. Dependencies across streams and
 * threads are in test_deps.c. */
#include "tests/convert/hdt.h"
#include "tests/convert/linking.h"
#include "tests/convert/make_recording.h"

static struct linking linking;

static void host_ops_follow_each_other_on_their_thread(void **state)
{
    (void)state;
    const struct line lines[] = {{OP(1, "a", 0, 10, 1)}, {OP(1, "b", 10, 5, 2)}, {OP(1, "c", 15, 5, 3)}};
    linking_open(&linking, lines, COUNT_OF(lines));
    CHECK_U64(linking.linked.node_count, 3, "nodes");
    CHECK_DEPS(&linking, "a", "");
    CHECK_DEPS(&linking, "b", "a");
    CHECK_DEPS(&linking, "c", "b");
    linking_close(&linking);
}

static void an_op_has_only_its_own_time(void **state)
{
    (void)state;
    const struct line lines[] = {{OP(1, "outer", 0, 100, 1)},
                                 {OP(1, "inner", 20, 30, 2)},
                                 {OP(1, "innermost", 25, 5, 3)},
                                 {OP(1, "second", 60, 10.5, 4)}};
    linking_open(&linking, lines, COUNT_OF(lines));
    CHECK_U64(node_at(&linking, "outer")->duration_ns, 20000, "outer, up to the inner one");
    CHECK_U64(linking.linked.nodes[node_named(&linking, "outer", 1)].duration_ns, 10000, "between the two");
    CHECK_U64(linking.linked.nodes[node_named(&linking, "outer", 2)].duration_ns, 29500, "behind them");
    CHECK_U64(node_at(&linking, "inner")->duration_ns, 5000, "inner, up to the innermost");
    CHECK_U64(linking.linked.nodes[node_named(&linking, "inner", 1)].duration_ns, 20000, "behind it");
    CHECK_U64(node_at(&linking, "innermost")->duration_ns, 5000, "innermost");
    CHECK_U64(node_at(&linking, "second")->duration_ns, 10500, "second");
    CHECK_U64(node_at(&linking, "innermost")->parent, node_named(&linking, "inner", 0), "parent");
    linking_close(&linking);
}

static void of_ops_that_start_together_the_longer_is_around(void **state)
{
    (void)state;
    const struct line lines[] = {{OP(1, "inside", 0, 10, 2)}, {OP(1, "around", 0, 30, 1)}};
    linking_open(&linking, lines, COUNT_OF(lines));
    CHECK_U64(node_at(&linking, "around")->duration_ns, 0, "around");
    CHECK_U64(linking.linked.nodes[node_named(&linking, "around", 1)].duration_ns, 20000, "what it did then");
    CHECK_U64(node_at(&linking, "inside")->parent, node_named(&linking, "around", 0), "parent");
    CHECK_DEPS(&linking, "inside", "around");
    linking_close(&linking);
}

static void an_op_that_ends_after_the_one_around_is_cut(void **state)
{
    (void)state;
    const struct line lines[] = {{OP(1, "around", 0, 20, 1)}, {OP(1, "late", 10, 50, 2)}};
    linking_open(&linking, lines, COUNT_OF(lines));
    CHECK_U64(node_at(&linking, "late")->duration_ns, 10000, "late");
    CHECK_U64(node_at(&linking, "around")->duration_ns, 10000, "around");
    CHECK_U64(linking.linked.counts.overlapping, 1, "told");
    CHECK_U64(linking.notes.count, 2, "notes: that, and that no kernel was recorded");
    linking_close(&linking);
}

static void time_between_ops_is_a_gap(void **state)
{
    (void)state;
    const struct line lines[] = {{OP(1, "a", 0, 10, 1)}, {OP(1, "b", 50, 10, 2)}, {OP(1, "c", 60.4, 10, 3)}};
    linking_open(&linking, lines, COUNT_OF(lines));
    CHECK_U64(linking.linked.counts.gaps, 1, "gaps");
    CHECK_U64(node_at(&linking, "host gap")->duration_ns, 40000, "length");
    CHECK_U64(node_at(&linking, "host gap")->start_ns, 10000, "start");
    CHECK_DEPS(&linking, "host gap", "a");
    CHECK_DEPS(&linking, "b", "host gap");
    /* Less than a microsecond is no node, but not lost. */
    CHECK_U64(node_at(&linking, "b")->duration_ns, 10400, "the short gap");
    linking_close(&linking);
}

static void an_annotation_around_ops_is_a_mark_without_time(void **state)
{
    (void)state;
    const struct line lines[] = {
        {MARK(1, "epoch", 0, 100)}, {OP(1, "a", 10, 20, 1)}, {OP(1, "b", 50, 20, 2)}, {MARK(1, "leaf", 80, 5)}};
    linking_open(&linking, lines, COUNT_OF(lines));
    CHECK_U64(node_at(&linking, "epoch")->duration_ns, 0, "the mark");
    CHECK_U64(linking.linked.counts.gaps, 3, "before a, b and leaf");
    CHECK_U64(linking.linked.counts.gap_ns, 40000, "10, 20 and 10 us");
    CHECK_U64(node_at(&linking, "leaf")->duration_ns, 5000, "an annotation around nothing has its time");
    linking_close(&linking);
}

static void a_kernel_depends_on_its_launcher_and_its_stream(void **state)
{
    (void)state;
    const struct line lines[] = {{OP(1, "conv", 0, 50, 1)},
                                 {CALL(1, "cudaLaunchKernel", 10, 5, 7)},
                                 {CALL(1, "cudaLaunchKernel", 20, 5, 8)},
                                 {KERNEL(3, "first", 30, 10, 7)},
                                 {KERNEL(3, "second", 40, 10, 8)},
                                 {OP(1, "relu", 50, 10, 2)},
                                 {CALL(1, "cudaLaunchKernel", 52, 2, 9)},
                                 {KERNEL(4, "elsewhere", 60, 1, 9)}};
    linking_open(&linking, lines, COUNT_OF(lines));
    CHECK_DEPS(&linking, "first", "conv");
    CHECK_DEPS(&linking, "second", "conv, first");
    CHECK_DEPS(&linking, "elsewhere", "relu");
    CHECK_U64(linking.linked.counts.launched, 3, "launched");
    CHECK_U64(node_at(&linking, "second")->parent, node_named(&linking, "conv", 0), "parent");
    linking_close(&linking);
}

static void a_kernel_recorded_before_its_launch_comes_after_it(void **state)
{
    (void)state;
    const struct line lines[] = {
        {OP(1, "conv", 100, 50, 1)},    {CALL(1, "cudaLaunchKernel", 110, 5, 7)}, {KERNEL(3, "first", 60, 10, 7)},
        {OP(1, "relu", 150, 20, 2)},    {CALL(1, "cudaLaunchKernel", 162, 2, 8)}, {KERNEL(3, "second", 80, 10, 8)},
        {KERNEL(3, "third", 95, 10, 7)}};
    linking_open(&linking, lines, COUNT_OF(lines));
    CHECK_DEPS(&linking, "first", "conv");
    CHECK_DEPS(&linking, "second", "first, relu");
    CHECK_DEPS(&linking, "third", "conv, second");
    CHECK_U64(linking.linked.counts.against_time, 0, "nothing is left out");
    CHECK_U64(linking.linked.counts.early, 3, "and it is told");
    linking_close(&linking);
}

static void a_linkers_kernel_node_speaks_by_its_own_tensors(void **state)
{
    (void)state;
    char path[64];
    struct linking chakras = {0};
    struct host_trace *host = NULL;
    struct comm_groups groups;
    snprintf(path, sizeof path, "%s/hdt.json", folder);
    hdt_write(path, "1.0.2-chakra.0.0.4",
              HDT_FRONT "2~record_param_comms~1~\"inclusive_dur\": 9, \"ts\": 10\n"
                        "3~ncclDevKernel_AllReduce_Sum_f32_RING_LL~2~\"inclusive_dur\": 5, \"ts\": 12, \"cat\": "
                        "\"kernel\", \"stream\": 7~[[10, 11, 0, 1000, 4, \"cuda:0\"]]~"
                        "\"GenericList[Tensor(float)]\"\n");
    notes_init(&chakras.notes, &chakras.mem, false);
    comm_groups_init(&groups, &chakras.mem);
    CHECK_OK(host_read(path, &chakras.mem, &chakras.notes, &host, &chakras.err), &chakras.err);
    CHECK_OK(link_build_host(host, &chakras.mem, &chakras.notes, &chakras.linked, &chakras.err), &chakras.err);
    CHECK_OK(comm_groups_settle(&groups, 1, &chakras.err), &chakras.err);
    CHECK_OK(link_resolve(&chakras.linked, NULL, host, &groups, path, &chakras.err), &chakras.err);
    CHECK_U64(chakras.linked.comm_count, 1, "communications");
    CHECK_U64(chakras.linked.comms[0].bytes, 4000, "bytes");
    CHECK_U64(chakras.linked.comms[0].size_from, PROVENANCE_OP_TENSORS, "the tensors of the op that launched it");
    comm_groups_free(&groups);
    host_free(host);
    linking_close(&chakras);
}

static void a_launch_after_an_inner_op_depends_on_what_was_done_by_then(void **state)
{
    (void)state;
    const struct line lines[] = {{OP(1, "outer", 0, 50, 1)},
                                 {OP(1, "inner", 5, 10, 2)},
                                 {CALL(1, "hipLaunchKernel", 20, 5, 7)},
                                 {KERNEL(3, "k", 30, 10, 7)}};
    linking_open(&linking, lines, COUNT_OF(lines));
    CHECK(node_depends(&linking, node_named(&linking, "k", 0), node_named(&linking, "outer", 1)),
          "the piece before it");
    CHECK(node_depends(&linking, node_named(&linking, "outer", 1), node_named(&linking, "inner", 0)), "and the inner");
    CHECK_U64(node_at(&linking, "k")->parent, node_named(&linking, "outer", 0), "it was launched by the outer");
    linking_close(&linking);
}

static void a_graph_launch_has_many_kernels(void **state)
{
    (void)state;
    struct line lines[102] = {{OP(1, "replay", 0, 50, 1)}, {CALL(1, "cudaGraphLaunch", 10, 5, 7)}};
    for (int i = 0; i < 100; i++) {
        lines[2 + i] = (struct line){KERNEL(3, "k", 20 + i, 1, 7)};
    }
    linking_open(&linking, lines, COUNT_OF(lines));
    CHECK_U64(linking.linked.counts.launched, 100, "launched");
    for (uint32_t i = 1; i < 100; i++) {
        CHECK(node_depends(&linking, node_named(&linking, "k", i), node_named(&linking, "k", i - 1)), "kernel %u", i);
    }
    linking_close(&linking);
}

static void a_kernel_without_launch_is_kept_in_its_stream(void **state)
{
    (void)state;
    const struct line lines[] = {{OP(1, "op", 0, 50, 1)},
                                 {CALL(1, "cudaLaunchKernel", 10, 5, 7)},
                                 {KERNEL(3, "known", 20, 5, 7)},
                                 {KERNEL(3, "orphan", 30, 5, 1234)},
                                 {"kernel", 3, "by external id", 40, 5, 4321, "\"External id\": 11"},
                                 {"cpu_op", 1, "owner", 32, 2, 2, "\"External id\": 11"}};
    linking_open(&linking, lines, COUNT_OF(lines));
    CHECK_U64(linking.linked.counts.unlaunched, 1, "unlaunched");
    CHECK_U64(linking.linked.counts.by_external_id, 1, "by External id");
    CHECK_DEPS(&linking, "orphan", "known");
    CHECK_DEPS(&linking, "by external id", "orphan, owner");
    CHECK_U64(linking.notes.count, 1, "it is told");
    linking_close(&linking);
}

static void a_correlation_used_again_means_the_latest_call(void **state)
{
    (void)state;
    const struct line lines[] = {
        {OP(1, "a", 0, 20, 1)},   {CALL(1, "cudaLaunchKernel", 5, 1, 7)},   {KERNEL(3, "ka", 10, 5, 7)},
        {OP(1, "b", 100, 20, 2)}, {CALL(1, "cudaLaunchKernel", 105, 1, 7)}, {KERNEL(3, "kb", 110, 5, 7)}};
    linking_open(&linking, lines, COUNT_OF(lines));
    CHECK_DEPS(&linking, "ka", "a");
    CHECK_DEPS(&linking, "kb", "ka, b");
    linking_close(&linking);
}

static void nodes_belong_to_the_step_they_were_launched_in(void **state)
{
    (void)state;
    const struct line lines[] = {{MARK(1, "ProfilerStep#4", 0, 100)},
                                 {MARK(1, "ProfilerStep#5", 100, 100)},
                                 {OP(1, "a", 90, 5, 1)},
                                 {CALL(1, "cudaLaunchKernel", 92, 1, 7)},
                                 {KERNEL(3, "late", 150, 5, 7)},
                                 {OP(1, "b", 120, 5, 2)},
                                 {OP(1, "outside", 220, 5, 3)}};
    linking_open(&linking, lines, COUNT_OF(lines));
    CHECK_U64(linking.linked.step_count, 2, "steps");
    CHECK_U64(linking.linked.steps[node_at(&linking, "a")->step].number, 4, "a");
    CHECK_U64(linking.linked.steps[node_at(&linking, "late")->step].number, 4, "late");
    CHECK_U64(linking.linked.steps[node_at(&linking, "b")->step].number, 5, "b");
    CHECK(node_at(&linking, "outside")->step == -1, "outside");
    CHECK(node_named(&linking, "ProfilerStep#4", 0) == LINKED_NONE, "a step is no node");
    linking_close(&linking);
}

static void work_with_impossible_times_is_left_out_and_told(void **state)
{
    (void)state;
    const struct line lines[] = {{OP(1, "a", 0, 10, 1)},
                                 {OP(1, "endless", 20, 1e300, 2)},
                                 {OP(1, "b", 40, 10, 3)},
                                 {KERNEL(3, "far", 9e15, 10, 0)}};
    linking_open(&linking, lines, COUNT_OF(lines));
    CHECK_U64(linking.linked.counts.untimed, 2, "left out");
    CHECK(node_named(&linking, "endless", 0) == LINKED_NONE && node_named(&linking, "far", 0) == LINKED_NONE, "gone");
    CHECK(node_named(&linking, "b", 0) != LINKED_NONE, "the rest is there");
    linking_close(&linking);
}

static void every_dependency_goes_to_a_later_number(void **state)
{
    (void)state;
    struct line lines[600];
    uint32_t random = 1;
    for (size_t i = 0; i < COUNT_OF(lines); i++) {
        random = random * 1664525 + 1013904223;
        double ts = (random >> 8) % 5000;
        double dur = (random >> 20) % 40;
        int thread = (int)((random >> 4) % 3);
        switch (i % 4) {
        case 0:
            lines[i] = (struct line){OP(thread, "op", ts, dur, (int)i + 1)};
            break;
        case 1:
            lines[i] = (struct line){CALL(thread, "cudaLaunchKernel", ts, dur, (int)i)};
            break;
        case 2:
            lines[i] = (struct line){KERNEL(thread, "kernel", ts, dur, (int)i - 1)};
            break;
        default:
            lines[i] =
                (struct line){CALL(thread, i % 8 == 3 ? "cudaDeviceSynchronize" : "cudaStreamWaitEvent", ts, dur, 0)};
            break;
        }
    }
    linking_open(&linking, lines, COUNT_OF(lines));
    for (uint32_t i = 0; i < linking.linked.node_count; i++) {
        const struct linked_node *node = &linking.linked.nodes[i];
        CHECK(i == 0 || node->start_ns >= linking.linked.nodes[i - 1].start_ns, "node %u out of order", i);
        CHECK(node->duration_ns >= 0, "node %u has negative time", i);
        for (uint32_t d = 0; d < node->dep_count; d++) {
            CHECK(linking.linked.deps[node->first_dep + d] < i, "node %u", i);
        }
    }
    linking_close(&linking);
}

static void no_kernel_of_an_amd_recording_is_lost(void **state)
{
    (void)state;
    char path[64];
    struct made_recording made;
    struct linking amd = {0};
    CHECK(make_recording(
              &(struct make_recording){.folder = folder, .ranks = 2, .steps = 1, .kernels = 5500, .hip = true}, &made),
          "made");
    notes_init(&amd.notes, &amd.mem, false);
    snprintf(path, sizeof path, "%s/device_0.json", folder);
    CHECK_OK(kineto_read(path, &amd.mem, &amd.notes, &amd.kineto, &amd.err), &amd.err);
    CHECK_OK(link_build(amd.kineto, NULL, &amd.mem, &amd.notes, &amd.linked, &amd.err), &amd.err);
    uint64_t device = 0;
    for (uint32_t i = 0; i < amd.linked.node_count; i++) {
        device += amd.linked.nodes[i].kind == LINKED_DEVICE;
    }
    CHECK(made.device_work >= 5500, "%" PRIu64, made.device_work);
    CHECK_U64(device, made.device_work, "kernels, copies and sets");
    CHECK_U64(amd.linked.counts.launched, made.device_work, "all by their launch");
    linking_close(&amd);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CHECK_MAP(host_ops_follow_each_other_on_their_thread, an_op_has_only_its_own_time,
                  of_ops_that_start_together_the_longer_is_around, an_op_that_ends_after_the_one_around_is_cut,
                  time_between_ops_is_a_gap, an_annotation_around_ops_is_a_mark_without_time,
                  a_kernel_depends_on_its_launcher_and_its_stream, a_kernel_recorded_before_its_launch_comes_after_it,
                  a_launch_after_an_inner_op_depends_on_what_was_done_by_then, a_graph_launch_has_many_kernels,
                  a_kernel_without_launch_is_kept_in_its_stream, a_correlation_used_again_means_the_latest_call,
                  nodes_belong_to_the_step_they_were_launched_in, work_with_impossible_times_is_left_out_and_told,
                  every_dependency_goes_to_a_later_number, no_kernel_of_an_amd_recording_is_lost),
        CHECK_MAP(a_linkers_kernel_node_speaks_by_its_own_tensors)};
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
