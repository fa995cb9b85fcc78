/* SPDX-License-Identifier: Apache-2.0 */
/* Who waits for whom across streams and threads, one rule a test; a recording is a table of events. */
#include "tests/convert/linking.h"

static struct linking linking;

static void a_stream_waits_for_the_event_its_thread_recorded(void **state)
{
    (void)state;
    const struct line lines[] = {{OP(1, "a", 0, 50, 1)},
                                 {CALL(1, "cudaLaunchKernel", 5, 2, 1)},
                                 {CALL(1, "cudaEventRecord", 10, 1, 2)},
                                 {CALL(1, "cudaStreamWaitEvent", 12, 1, 3)},
                                 {CALL(1, "cudaLaunchKernel", 15, 2, 4)},
                                 {KERNEL(7, "gradient", 20, 10, 1)},
                                 {KERNEL(9, "reduce", 30, 10, 4)}};
    linking_open(&linking, lines, COUNT_OF(lines));
    CHECK_DEPS(&linking, "reduce", "a, gradient");
    CHECK_U64(linking.linked.counts.waits_inferred, 1, "inferred");
    linking_close(&linking);
}

static void hip_calls_speak_as_cuda_calls_do(void **state)
{
    (void)state;
    const struct line lines[] = {{OP(1, "a", 0, 50, 1)},
                                 {CALL(1, "hipExtModuleLaunchKernel", 5, 2, 1)},
                                 {CALL(1, "hipEventRecord", 10, 1, 2)},
                                 {CALL(1, "hipStreamWaitEvent", 12, 1, 3)},
                                 {CALL(1, "hipLaunchKernel", 15, 2, 4)},
                                 {KERNEL(0, "gradient", 20, 10, 1)},
                                 {KERNEL(3, "reduce", 30, 10, 4)},
                                 {CALL(1, "hipDeviceSynchronize", 31, 10, 5)},
                                 {OP(1, "b", 50, 5, 2)}};
    linking_open(&linking, lines, COUNT_OF(lines));
    CHECK_DEPS(&linking, "reduce", "a, gradient");
    CHECK_U64(linking.linked.counts.waits_inferred, 3, "one between streams, two for the host");
    linking_close(&linking);
}

static void a_wait_the_times_contradict_is_not_inferred(void **state)
{
    (void)state;
    const struct line lines[] = {{OP(1, "a", 0, 50, 1)},
                                 {CALL(1, "cudaLaunchKernel", 5, 2, 1)},
                                 {CALL(1, "cudaEventRecord", 10, 1, 2)},
                                 {CALL(1, "cudaStreamWaitEvent", 12, 1, 3)},
                                 {CALL(1, "cudaLaunchKernel", 15, 2, 4)},
                                 {KERNEL(7, "long", 20, 100, 1)},
                                 {KERNEL(9, "beside", 30, 10, 4)}};
    linking_open(&linking, lines, COUNT_OF(lines));
    CHECK_DEPS(&linking, "beside", "a");
    CHECK_U64(linking.linked.counts.waits_inferred, 0, "inferred");
    linking_close(&linking);
}

static void a_recorded_wait_is_taken_as_it_is(void **state)
{
    (void)state;
    const struct line lines[] = {
        {OP(1, "a", 0, 60, 1)},
        {CALL(1, "cudaLaunchKernel", 5, 2, 1)},
        {CALL(1, "cudaEventRecord", 10, 1, 2)},
        {CALL(1, "cudaLaunchKernel", 12, 2, 5)},
        {CALL(1, "cudaEventRecord", 14, 1, 6)},
        {CALL(1, "cudaStreamWaitEvent", 16, 1, 3)},
        {CALL(1, "cudaLaunchKernel", 18, 2, 4)},
        {KERNEL(7, "one", 20, 10, 1)},
        {KERNEL(8, "two", 20, 5, 5)},
        {KERNEL(9, "after", 40, 10, 4)},
        {SYNC(9, "Stream Wait Event", 16, 0, 3, "\"wait_on_stream\": 7, \"wait_on_cuda_event_record_corr_id\": 2")}};
    linking_open(&linking, lines, COUNT_OF(lines));
    CHECK_DEPS(&linking, "after", "a, one");
    CHECK_U64(linking.linked.counts.waits_recorded, 1, "recorded");
    CHECK_U64(linking.linked.counts.waits_inferred, 0, "inferred");
    linking_close(&linking);
}

static void what_follows_a_synchronise_waits_for_the_device(void **state)
{
    (void)state;
    const struct line lines[] = {{OP(1, "a", 0, 20, 1)},
                                 {CALL(1, "cudaLaunchKernel", 5, 2, 1)},
                                 {KERNEL(7, "work", 20, 60, 1)},
                                 {CALL(1, "cudaDeviceSynchronize", 30, 55, 2)},
                                 {OP(1, "b", 100, 10, 2)}};
    linking_open(&linking, lines, COUNT_OF(lines));
    /* 10 us of host before the call, then a wait that is nobody's time, then 20 us from the kernel's end on. */
    CHECK_U64(linking.linked.counts.gaps, 2, "gaps");
    CHECK_U64(linking.linked.counts.gap_ns, 30000, "host time");
    CHECK(node_depends(&linking, node_named(&linking, "host gap", 1), node_named(&linking, "work", 0)), "the wait");
    CHECK(!node_depends(&linking, node_named(&linking, "host gap", 0), node_named(&linking, "work", 0)), "too early");
    CHECK_DEPS(&linking, "b", "host gap");
    linking_close(&linking);
}

static void an_op_that_waits_inside_loses_that_time(void **state)
{
    (void)state;
    const struct line lines[] = {{OP(1, "item", 0, 100, 1)},
                                 {CALL(1, "cudaMemcpyAsync", 5, 5, 1)},
                                 {COPY(7, "Memcpy DtoH", 12, 60, 1)},
                                 {CALL(1, "cudaStreamSynchronize", 15, 60, 2)},
                                 {OP(1, "next", 100, 10, 2)}};
    linking_open(&linking, lines, COUNT_OF(lines));
    CHECK_U64(linking.linked.nodes[node_named(&linking, "item", 0)].duration_ns, 5000, "up to the launch");
    CHECK_U64(linking.linked.nodes[node_named(&linking, "item", 1)].duration_ns, 10000, "up to the call");
    CHECK_U64(linking.linked.nodes[node_named(&linking, "item", 2)].duration_ns, 28000, "from the copy's end on");
    CHECK(node_depends(&linking, node_named(&linking, "item", 2), node_named(&linking, "Memcpy DtoH", 0)), "the wait");
    CHECK_U64(linking.linked.nodes[node_named(&linking, "item", 2)].kind, LINKED_REST, "kind");
    linking_close(&linking);
}

static void a_copy_that_ended_within_its_call_was_waited_for(void **state)
{
    (void)state;
    const struct line lines[] = {{OP(1, "to", 0, 50, 1)},
                                 {CALL(1, "cudaMemcpyAsync", 5, 30, 1)},
                                 {COPY(7, "Memcpy HtoD (Pageable)", 10, 20, 1)},
                                 {OP(1, "next", 50, 10, 2)}};
    linking_open(&linking, lines, COUNT_OF(lines));
    CHECK_U64(linking.linked.counts.waits_inferred, 1, "inferred");
    CHECK_U64(linking.linked.nodes[node_named(&linking, "to", 0)].duration_ns +
                  linking.linked.nodes[node_named(&linking, "to", 1)].duration_ns,
              25000, "the op's own time");
    linking_close(&linking);
}

static void autograd_starts_when_the_main_thread_falls_silent(void **state)
{
    (void)state;
    const struct line lines[] = {{MARK(1, "train", 0, 5000)},
                                 {OP(1, "loss", 10, 90, 1)},
                                 {OP(2, "backward", 300, 700, 2)},
                                 {OP(2, "last", 1010, 90, 3)},
                                 {OP(1, "optimizer", 1500, 100, 4)}};
    linking_open(&linking, lines, COUNT_OF(lines));
    CHECK(node_depends(&linking, node_named(&linking, "host gap", 1), node_named(&linking, "loss", 0)), "handed over");
    CHECK_U64(linking.linked.nodes[node_named(&linking, "host gap", 1)].duration_ns, 200000, "from loss to backward");
    uint32_t optimizer = node_named(&linking, "optimizer", 0);
    uint32_t gap = linking.linked.deps[linking.linked.nodes[optimizer].first_dep];
    CHECK(node_depends(&linking, gap, node_named(&linking, "last", 0)), "handed back");
    CHECK_U64(linking.linked.nodes[gap].duration_ns, 400000, "from last to optimizer");
    CHECK_U64(linking.linked.counts.handovers, 2, "handovers");
    linking_close(&linking);
}

static void two_busy_threads_do_not_depend_on_each_other(void **state)
{
    (void)state;
    const struct line lines[] = {{OP(1, "a", 0, 100, 1)},   {OP(2, "x", 1, 105, 2)},  {OP(1, "b", 110, 100, 3)},
                                 {OP(2, "y", 108, 110, 4)}, {OP(1, "c", 240, 50, 5)}, {OP(2, "z", 220, 50, 6)}};
    linking_open(&linking, lines, COUNT_OF(lines));
    CHECK_U64(linking.linked.counts.handovers, 1, "only that the second thread began");
    linking_close(&linking);
}

static void a_workers_op_depends_on_the_op_that_made_it(void **state)
{
    (void)state;
    /* The worker's op took its number while c10d ran, before the copy in it did. */
    const struct line lines[] = {
        {OP(1, "kernels", 0, 20, 1)},
        {CALL(1, "cudaLaunchKernel", 5, 1, 1)},
        {KERNEL(7, "gradient", 10, 20, 1)},
        {OP(1, "c10d::allreduce_", 40, 60, 2)},
        {CALL(1, "cudaEventRecord", 42, 1, 2)},
        {CALL(1, "cudaStreamWaitEvent", 44, 1, 3)},
        {OP(1, "aten::copy_", 50, 20, 4)},
        {CALL(1, "cudaMemcpyAsync", 55, 2, 4)},
        {COPY(16, "Memcpy DtoH", 60, 90, 4)},
        {OP(1, "more", 101, 300, 5)},
        {"user_annotation", 2, "gloo:all_reduce", 120, 200, 3, "\"Input Dims\": [[100]], \"Input type\": [\"float\"]"},
        {CALL(2, "cudaStreamSynchronize", 125, 30, 5)},
        {OP(2, "back", 280, 20, 6)}};
    linking_open(&linking, lines, COUNT_OF(lines));
    const struct linked_node *gloo = node_at(&linking, "gloo:all_reduce");
    uint32_t index = node_named(&linking, "gloo:all_reduce", 0);
    CHECK_U64(gloo->kind, LINKED_COMM_OP, "kind");
    CHECK(node_depends(&linking, index, node_named(&linking, "Memcpy DtoH", 0)), "its input");
    CHECK_U64(gloo->start_ns, 150000, "it starts when its input is there");
    CHECK_DEPS(&linking, "Memcpy DtoH", "gradient, aten::copy_");
    CHECK_DEPS(&linking, "back", "gloo:all_reduce");
    CHECK_U64(linking.linked.clue_count, 1, "one communication");
    linking_close(&linking);
}

/* The second was taken by a worker that had done nothing before, and its input was there sooner. */
static void collectives_of_several_workers_come_in_the_order_they_were_asked_for(void **state)
{
    (void)state;
    const struct line lines[] = {{OP(1, "c10d::allreduce_", 0, 10, 1)},
                                 {"user_annotation", 2, "gloo:all_reduce", 60, 200, 2, NULL},
                                 {OP(1, "c10d::allgather_", 20, 10, 3)},
                                 {"user_annotation", 3, "gloo:all_gather", 50, 300, 4, NULL},
                                 {OP(1, "c10d::send", 40, 10, 5)},
                                 {"user_annotation", 4, "gloo:send", 70, 300, 6, NULL},
                                 {OP(1, "more", 60, 300, 7)}};
    linking_open(&linking, lines, COUNT_OF(lines));
    uint32_t first = node_named(&linking, "gloo:all_reduce", 0);
    uint32_t second = node_named(&linking, "gloo:all_gather", 0);
    CHECK(!node_depends(&linking, second, first), "they overlapped");
    const struct linked_node *before = &linking.linked.nodes[first];
    for (uint32_t i = 0; i < before->dep_count; i++) {
        CHECK(node_depends(&linking, second, linking.linked.deps[before->first_dep + i]),
              "the second waits for what the first waits for");
    }
    CHECK_U64(linking.linked.nodes[second].start_ns, 60001, "and does not start before it");
    CHECK(!node_depends(&linking, node_named(&linking, "gloo:send", 0), second), "a send waits for neither");
    CHECK_U64(linking.linked.counts.against_time, 0, "against time");
    linking_close(&linking);
}

/* gloo's receive begins in the op that asks for it and ends when its thread has waited for it. */
static void a_thread_that_waits_for_a_message_does_nothing_meanwhile(void **state)
{
    (void)state;
    const struct line lines[] = {{OP(1, "before", 0, 20, 1)},
                                 {OP(1, "c10d::recv_", 20, 40, 2)},
                                 {"user_annotation", 1, "gloo:recv", 50, 9950, 3, NULL},
                                 {OP(1, "after", 10005, 20, 4)}};
    linking_open(&linking, lines, COUNT_OF(lines));
    CHECK_DEPS(&linking, "gloo:recv", "c10d::recv_");
    CHECK(node_at(&linking, "gloo:recv")->start_ns == 20000, "it begins with the op that asks for it");
    CHECK(node_at(&linking, "gloo:recv")->duration_ns == 9980000, "and lasts until its range ends");
    CHECK_U64(linking.linked.counts.overlapping, 0, "nothing was cut");
    CHECK(linking.linked.counts.gap_ns == 5000, "the wait is no host time: %lld ns of gaps",
          (long long)linking.linked.counts.gap_ns);
    uint32_t gap = linking.linked.deps[node_at(&linking, "after")->first_dep];
    CHECK(node_depends(&linking, gap, node_named(&linking, "gloo:recv", 0)), "what follows waits for the message");
    CHECK(node_at(&linking, "c10d::recv_")->duration_ns == 10000, "%lld ns after the range began are the op's own",
          (long long)node_at(&linking, "c10d::recv_")->duration_ns);
    linking_close(&linking);
}

/* Two are asked for, something is computed, then both are waited for. */
static void work_beside_a_message_does_not_wait_for_it(void **state)
{
    (void)state;
    const struct line lines[] = {
        {OP(1, "c10d::send", 0, 10, 1)},   {"user_annotation", 1, "gloo:send", 5, 1000, 2, NULL},
        {OP(1, "c10d::recv_", 20, 10, 3)}, {"user_annotation", 1, "gloo:recv", 25, 1975, 4, NULL},
        {OP(1, "compute", 40, 500, 5)},    {OP(1, "after", 2010, 20, 6)}};
    linking_open(&linking, lines, COUNT_OF(lines));
    uint32_t send = node_named(&linking, "gloo:send", 0);
    uint32_t recv = node_named(&linking, "gloo:recv", 0);
    uint32_t gap = linking.linked.deps[node_at(&linking, "after")->first_dep];
    CHECK(!node_depends(&linking, node_named(&linking, "compute", 0), send), "compute goes on beside the send");
    CHECK(!node_depends(&linking, node_named(&linking, "compute", 0), recv), "and beside the receive");
    CHECK(node_depends(&linking, gap, send) && node_depends(&linking, gap, recv), "then both are waited for");
    linking_close(&linking);
}

static void an_op_that_only_waits_for_a_collective_takes_no_time_of_its_own(void **state)
{
    (void)state;
    const struct line lines[] = {{OP(1, "_c10d_functional::all_reduce", 0, 10, 1)},
                                 {"user_annotation", 2, "gloo:all_reduce", 12, 2000, 2, NULL},
                                 {OP(1, "_c10d_functional::wait_tensor", 20, 2010, 3)},
                                 {OP(1, "after", 2040, 20, 4)}};
    linking_open(&linking, lines, COUNT_OF(lines));
    const struct linked_node *wait = node_at(&linking, "_c10d_functional::wait_tensor");
    CHECK(wait->duration_ns == 0, "%lld ns", (long long)wait->duration_ns);
    bool waits = false;
    uint32_t gloo = node_named(&linking, "gloo:all_reduce", 0);
    for (uint32_t i = 0; i < linking.linked.node_count; i++) {
        waits = waits || (linking.linked.nodes[i].kind == LINKED_REST && node_depends(&linking, i, gloo));
    }
    CHECK(waits, "what it still does waits for the collective");
    linking_close(&linking);
}

static void a_worker_releases_the_thread_that_waits_for_its_event(void **state)
{
    (void)state;
    const struct line lines[] = {{OP(1, "before", 0, 20, 1)},
                                 {OP(2, "worker", 50, 100, 2)},
                                 {CALL(2, "cudaMemcpyAsync", 60, 5, 1)},
                                 {COPY(16, "Memcpy HtoD", 70, 20, 1)},
                                 {CALL(2, "cudaEventRecord", 140, 1, 2)},
                                 {CALL(1, "cudaStreamWaitEvent", 160, 1, 3)},
                                 {OP(1, "after", 170, 20, 3)},
                                 {CALL(1, "cudaLaunchKernel", 175, 2, 4)},
                                 {KERNEL(7, "update", 180, 10, 4)}};
    linking_open(&linking, lines, COUNT_OF(lines));
    CHECK_DEPS(&linking, "update", "Memcpy HtoD, after");
    uint32_t after = node_named(&linking, "after", 0);
    uint32_t gap = linking.linked.deps[linking.linked.nodes[after].first_dep];
    CHECK(node_depends(&linking, gap, node_named(&linking, "worker", 0)), "the host's wait");
    linking_close(&linking);
}

#define RECORD_COMM(name, ts, dur, id, more)                                                                           \
    "cpu_op", 1, name, ts, dur, id, "\"Collective name\": \"" more "\", \"In msg nelems\": 10, \"dtype\": \"Float\""

static void a_collective_without_kernel_starts_when_its_inputs_are_there(void **state)
{
    (void)state;
    const struct line lines[] = {{OP(1, "back", 0, 20, 1)},
                                 {CALL(1, "cudaLaunchKernel", 5, 1, 1)},
                                 {KERNEL(7, "gradient", 100, 50, 1)},
                                 {OP(1, "c10d::allreduce_", 20, 60, 2)},
                                 {RECORD_COMM("record_param_comms", 25, 40, 3, "allreduce")},
                                 {CALL(1, "cudaEventRecordWithFlags", 26, 1, 2)},
                                 {CALL(1, "cudaStreamWaitEvent", 28, 1, 3)},
                                 {MARK(1, "nccl:all_reduce", 30, 20)},
                                 {CALL(1, "cudaEventRecord", 40, 1, 4)},
                                 {RECORD_COMM("record_param_comms", 85, 5, 4, "wait")},
                                 {CALL(1, "cudaStreamWaitEvent", 100, 1, 5)},
                                 {OP(1, "copy", 110, 20, 5)},
                                 {CALL(1, "cudaLaunchKernel", 115, 1, 6)},
                                 {KERNEL(7, "unpack", 160, 10, 6)}};
    linking_open(&linking, lines, COUNT_OF(lines));
    CHECK_U64(linking.linked.clue_count, 1, "counted once, and a wait is none");
    uint32_t comm = node_named(&linking, "nccl:all_reduce", 2); /* behind two pieces of the range around it */
    CHECK(comm != LINKED_NONE && linking.linked.nodes[comm].kind == LINKED_COMM_BARE, "node %u", comm);
    CHECK(node_depends(&linking, comm, node_named(&linking, "gradient", 0)), "its input");
    CHECK_U64(linking.linked.nodes[comm].start_ns, 150000, "start");
    CHECK(node_depends(&linking, node_named(&linking, "unpack", 0), comm), "what waits for it");
    linking_close(&linking);
}

static void a_collective_with_a_kernel_is_that_kernel(void **state)
{
    (void)state;
    const struct line lines[] = {{OP(1, "c10d::allreduce_", 20, 60, 2)},
                                 {RECORD_COMM("record_param_comms", 25, 40, 3, "allreduce")},
                                 {MARK(1, "nccl:all_reduce", 30, 20)},
                                 {CALL(1, "cudaLaunchKernelExC", 35, 5, 4)},
                                 {KERNEL(20, "ncclDevKernel_AllReduce_Sum_f32_RING_LL(x)", 60, 10, 4)}};
    linking_open(&linking, lines, COUNT_OF(lines));
    CHECK_U64(linking.linked.clue_count, 1, "one");
    CHECK_U64(linking.linked.nodes[linking.linked.clues[0].node].kind, LINKED_DEVICE, "the kernel");
    CHECK_U64(linking.linked.clues[0].op_count, 3, "with all that speaks of it");
    linking_close(&linking);
}

static void communications_of_one_kernel_are_nodes_of_their_own(void **state)
{
    (void)state;
    const struct line lines[] = {{OP(1, "before", 0, 8, 1)},
                                 {CALL(1, "cudaLaunchKernel", 2, 1, 1)},
                                 {KERNEL(7, "activation", 10, 20, 1)},
                                 {OP(1, "c10d::send", 10, 10, 2)},
                                 {RECORD_COMM("record_param_comms", 12, 6, 3, "send")},
                                 {OP(1, "c10d::recv_", 20, 10, 4)},
                                 {RECORD_COMM("record_param_comms", 22, 6, 5, "recv")},
                                 {MARK(1, "nccl:coalesced", 30, 20)},
                                 {CALL(1, "cudaEventRecord", 31, 1, 2)},
                                 {CALL(1, "cudaStreamWaitEvent", 33, 1, 3)},
                                 {CALL(1, "cudaLaunchKernelExC", 35, 5, 4)},
                                 {KERNEL(20, "ncclDevKernel_SendRecv(x)", 60, 10, 4)},
                                 {CALL(1, "cudaEventRecord", 45, 1, 5)},
                                 {CALL(1, "cudaStreamWaitEvent", 52, 1, 6)},
                                 {OP(1, "use", 55, 10, 6)},
                                 {CALL(1, "cudaLaunchKernel", 57, 1, 7)},
                                 {KERNEL(7, "next layer", 80, 10, 7)}};
    linking_open(&linking, lines, COUNT_OF(lines));
    CHECK_U64(linking.linked.clue_count, 2, "a send and a receive");
    uint32_t kernel = node_named(&linking, "ncclDevKernel_SendRecv(x)", 0);
    CHECK_U64(linking.linked.nodes[kernel].duration_ns, 0, "their time is not counted twice");
    for (uint32_t i = 0; i < 2; i++) {
        uint32_t part = linking.linked.clues[i].node;
        CHECK(node_depends(&linking, kernel, part), "the kernel stands for part %u", i);
        CHECK(node_depends(&linking, part, node_named(&linking, "activation", 0)), "its input");
        CHECK(node_depends(&linking, part, node_named(&linking, "nccl:coalesced", 0)), "its launch");
    }
    CHECK(node_depends(&linking, node_named(&linking, "next layer", 0), kernel), "who waits");
    linking_close(&linking);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CHECK_MAP(a_stream_waits_for_the_event_its_thread_recorded, hip_calls_speak_as_cuda_calls_do,
                  a_wait_the_times_contradict_is_not_inferred, a_recorded_wait_is_taken_as_it_is,
                  what_follows_a_synchronise_waits_for_the_device, an_op_that_waits_inside_loses_that_time,
                  a_copy_that_ended_within_its_call_was_waited_for, autograd_starts_when_the_main_thread_falls_silent,
                  two_busy_threads_do_not_depend_on_each_other),
        CHECK_MAP(a_workers_op_depends_on_the_op_that_made_it,
                  collectives_of_several_workers_come_in_the_order_they_were_asked_for,
                  a_thread_that_waits_for_a_message_does_nothing_meanwhile, work_beside_a_message_does_not_wait_for_it,
                  an_op_that_only_waits_for_a_collective_takes_no_time_of_its_own,
                  a_worker_releases_the_thread_that_waits_for_its_event,
                  a_collective_without_kernel_starts_when_its_inputs_are_there,
                  a_collective_with_a_kernel_is_that_kernel, communications_of_one_kernel_are_nodes_of_their_own)};
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
