/* SPDX-License-Identifier: Apache-2.0 */
/* --policy streams: what runs side by side on a rank, and what kernels in flight take from each other. */
#include "tests/sim/bench_top.h"

static struct work_node *on_stream(struct work *work, uint64_t id, uint64_t duration_us, int64_t stream)
{
    struct work_node *node = work_compute(work, EVERY_RANK, id, duration_us);
    node->thread = stream;
    return node;
}

static void streams_and_threads_run_side_by_side(void **state)
{
    (void)state;
    struct bench bench;
    bench_open(&bench, "ring:2");
    on_stream(&bench.work, 1, 10, 7);
    on_stream(&bench.work, 2, 10, 7);
    on_stream(&bench.work, 3, 15, 20);
    on_stream(&bench.work, 4, 5, 100)->cpu = true;
    on_stream(&bench.work, 5, 18, 101)->cpu = true;
    bench.config.policy = ORR_POLICY_ASTRA;
    CHECK_U64(bench_completes(&bench), 35000, "one GPU operation at a time");
    bench.config.policy = ORR_POLICY_STREAMS;
    CHECK_U64(bench_completes(&bench), 20000, "the longer of two streams and two threads");
    bench_close(&bench);
}

static void lanes_of_one_stream_run_side_by_side(void **state)
{
    (void)state;
    struct bench bench;
    bench_open(&bench, "ring:2");
    bench.config.policy = ORR_POLICY_STREAMS;
    on_stream(&bench.work, 1, 10, 7);
    on_stream(&bench.work, 2, 12, 7)->part = 1;
    CHECK_U64(bench_completes(&bench), 12000, "another device's stream of the same number");
    bench_close(&bench);
}

static void nodes_that_name_no_stream_keep_the_three_slots(void **state)
{
    (void)state;
    struct bench bench;
    bench_open(&bench, "ring:2");
    bench.config.policy = ORR_POLICY_STREAMS;
    work_compute(&bench.work, EVERY_RANK, 1, 10);
    work_compute(&bench.work, EVERY_RANK, 2, 10);
    work_compute(&bench.work, EVERY_RANK, 3, 15)->cpu = true;
    CHECK_U64(bench_completes(&bench), 20000, "two GPU operations after each other, one of the CPU beside them");
    bench_close(&bench);
}

static void a_collective_occupies_its_stream_and_no_other(void **state)
{
    (void)state;
    struct bench bench;
    bench_open(&bench, "ring:4");
    bench.config.policy = ORR_POLICY_STREAMS;
    work_collective(&bench.work, EVERY_RANK, 1, COLL_ALL_REDUCE, 1 << 20)->thread = 20;
    uint64_t alone = bench_completes(&bench);
    bench_close(&bench);
    bench_open(&bench, "ring:4");
    bench.config.policy = ORR_POLICY_STREAMS;
    work_collective(&bench.work, EVERY_RANK, 1, COLL_ALL_REDUCE, 1 << 20)->thread = 20;
    on_stream(&bench.work, 2, 3, 20);
    work_collective(&bench.work, EVERY_RANK, 3, COLL_ALL_REDUCE, 1 << 20)->thread = 24;
    on_stream(&bench.work, 4, 4, 7);
    CHECK_U64(bench_completes(&bench), alone + 3000, "a kernel of the same stream waits, the other streams do not");
    bench_close(&bench);
}

/* With one line of admission each would stand behind the one that waits for it elsewhere. */
static void collectives_of_two_streams_may_come_in_another_order_on_each_rank(void **state)
{
    (void)state;
    static const uint32_t all[] = {0, 1};
    struct bench bench;
    bench_open(&bench, "ring:2");
    bench_add_group(&bench, 1, 2, all);
    bench_add_group(&bench, 2, 2, all);
    for (uint32_t rank = 0; rank < 2; rank++) {
        for (uint32_t i = 0; i < 2; i++) {
            int32_t group = (int32_t)(rank == 0 ? i + 1 : 2 - i);
            struct work_node *node = work_collective(&bench.work, rank, i + 1, COLL_ALL_REDUCE, 1 << 20);
            node->group = group;
            node->thread = 20 + group;
        }
    }
    bench.config.policy = ORR_POLICY_STREAMS;
    (void)bench_completes(&bench);
    bench_close(&bench);
}

static void a_stall_on_one_stream_names_the_collective_that_the_peer_is_in(void **state)
{
    (void)state;
    struct bench bench;
    bench_open(&bench, "ring:2");
    bench.config.policy = ORR_POLICY_STREAMS;
    work_collective(&bench.work, 0, 1, COLL_ALL_REDUCE, 1 << 20)->thread = 20;
    work_collective(&bench.work, 1, 1, COLL_ALL_REDUCE, 1 << 21)->thread = 20;
    const struct sim_stall *stall = bench_stalls(&bench);
    (void)stall_finding(stall, SIM_STALL_SIZES_DIFFER);
    bench_close(&bench);
}

static void kernels_in_flight_share_the_device_as_much_as_asked(void **state)
{
    (void)state;
    static const struct {
        double contention;
        uint64_t want_ns;
    } cases[] = {{0.0, 20000}, {0.5, 25000}, {1.0, 30000}};
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct bench bench;
        bench_open(&bench, "ring:2");
        bench.config.policy = ORR_POLICY_STREAMS;
        bench.config.contention = cases[i].contention;
        on_stream(&bench.work, 1, 10, 7);
        on_stream(&bench.work, 2, 20, 20);
        on_stream(&bench.work, 3, 25, 100)->cpu = true;
        /* Until the first is done both go at 1/(1+F): it takes 10(1+F) us, and the other has 10 us left. */
        uint64_t want = cases[i].want_ns > 25000 ? cases[i].want_ns : 25000;
        CHECK_U64(bench_completes(&bench), want, "contention %g", cases[i].contention);
        CHECK_U64(sim_result_rank(bench.result, 0)->union_ns[SIM_OP_GPU], cases[i].want_ns, "contention %g",
                  cases[i].contention);
        bench_close(&bench);
    }
}

static void a_communication_slows_the_kernel_beside_it_and_keeps_its_own_time(void **state)
{
    (void)state;
    struct bench bench;
    bench_open(&bench, "ring:2");
    bench.config.policy = ORR_POLICY_STREAMS;
    work_collective(&bench.work, EVERY_RANK, 1, COLL_ALL_REDUCE, 1 << 20)->thread = 20;
    uint64_t alone = bench_completes(&bench);
    bench_close(&bench);
    bench_open(&bench, "ring:2");
    bench.config.policy = ORR_POLICY_STREAMS;
    bench.config.contention = 1.0;
    work_collective(&bench.work, EVERY_RANK, 1, COLL_ALL_REDUCE, 1 << 20)->thread = 20;
    on_stream(&bench.work, 2, 100, 7);
    CHECK_U64(bench_completes(&bench), 100000 + alone / 2 + alone % 2, "half speed as long as the collective runs");
    CHECK_U64(sim_result_rank(bench.result, 0)->union_ns[SIM_OP_COMM], alone, "the network's time");
    bench_close(&bench);
}

TEST_MAIN(streams_and_threads_run_side_by_side, lanes_of_one_stream_run_side_by_side,
          nodes_that_name_no_stream_keep_the_three_slots, a_collective_occupies_its_stream_and_no_other,
          collectives_of_two_streams_may_come_in_another_order_on_each_rank,
          a_stall_on_one_stream_names_the_collective_that_the_peer_is_in,
          kernels_in_flight_share_the_device_as_much_as_asked,
          a_communication_slows_the_kernel_beside_it_and_keeps_its_own_time)
