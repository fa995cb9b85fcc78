/* SPDX-License-Identifier: Apache-2.0 */
/* What a run adds up adds up: each rank's time, each dimension's traffic, the rows of collectives. */
#include "tests/sim/random_work.h"

static void expect_whole_time(const struct sim_result *result, uint64_t seed)
{
    for (uint32_t i = 0; i < result->rank_count; i++) {
        const struct sim_rank_result *rank = sim_result_rank(result, i);
        uint64_t sum = rank->compute_ns + rank->exposed_comm_ns + rank->exposed_other_ns + rank->idle_ns;
        CHECK_U64(sum, result->end_ns, "rank %u, seed %" PRIu64, i, seed);
        CHECK(rank->finish_ns <= result->end_ns, "rank %u ends within the run", i);
        CHECK(rank->last_end_ns <= result->end_ns, "rank %u's nodes end within the run", i);
        CHECK_U64(rank->union_ns[SIM_OP_GPU], rank->compute_ns, "compute comes first, rank %u", i);
        CHECK(rank->union_ns[SIM_OP_COMM] >= rank->exposed_comm_ns, "what is exposed was in flight, rank %u", i);
    }
}

static uint64_t messages_in_dimensions(const struct bench *bench)
{
    uint64_t messages = 0;
    for (uint32_t d = 0; d < bench->config.dims.count; d++) {
        messages += bench->result->dims[d].messages;
    }
    return messages;
}

static void every_nanosecond_of_a_rank_is_counted_once(void **state)
{
    (void)state;
    static const char *const machines[] = {"ring:8", "switch:6", "ring:4 ring:2", "full:5"};
    for (uint64_t seed = 1; seed <= 60; seed++) {
        struct prng prng = {seed};
        struct bench bench;
        uint32_t members[16];
        bench_open(&bench, machines[seed % COUNT_OF(machines)]);
        random_work(&bench, &prng, 40, members);
        bench.config.backend = seed % 2 == 0 ? ORR_BACKEND_AWARE : ORR_BACKEND_UNAWARE;
        bench.config.keep_intervals = true;
        uint64_t end = bench_completes(&bench);
        expect_whole_time(bench.result, seed);
        uint64_t last = 0;
        for (uint32_t i = 0; i < bench.result->rank_count; i++) {
            last =
                sim_result_rank(bench.result, i)->finish_ns > last ? sim_result_rank(bench.result, i)->finish_ns : last;
        }
        CHECK_U64(end, last, "the run ends with its last rank, seed %" PRIu64, seed);
        CHECK_U64(bench.result->interval_count, bench.result->nodes, "an interval for each node");
        bench_close(&bench);
    }
}

static void time_goes_to_the_first_account_that_applies(void **state)
{
    (void)state;
    struct bench bench;
    bench_open(&bench, "ring:2");
    bench.config.memory = (struct sim_memory){.kind = SIM_MEMORY_PER_NPU, .latency_ns = 400, .bandwidth_gbps = 10};
    /* Rank 0: CPU 0-5 us, GPU 5-8 us beside a message of 1110 ns, then memory for 400 + 1000 ns; rank 1 only receives.
     */
    work_compute(&bench.work, 0, 1, 5)->cpu = true;
    work_compute(&bench.work, 0, 2, 3);
    work_after(&bench.work, 1);
    work_send(&bench.work, 0, 3, 1, 32768, 0);
    work_after(&bench.work, 1);
    work_add(&bench.work, 0, 4, TRACE_MEM_STORE)->bytes = 10000;
    work_after(&bench.work, 2);
    work_recv(&bench.work, 1, 5, 0, 32768, 0);
    CHECK_U64(bench_completes(&bench), 9400, "the end");
    const struct sim_rank_result *rank = bench.result->rows;
    CHECK_U64(rank[0].compute_ns, 3000, "compute, whatever else goes on");
    CHECK_U64(rank[0].exposed_comm_ns, 0, "the message is hidden behind it");
    CHECK_U64(rank[0].exposed_other_ns, 5000 + 1400, "CPU and memory");
    CHECK_U64(rank[0].idle_ns, 0, "rank 0 is never idle");
    CHECK_U64(rank[1].exposed_comm_ns, 5000 + 1110, "rank 1 waits for its message");
    CHECK_U64(rank[1].idle_ns, 9400 - 6110, "and has nothing to do afterwards");
    CHECK_U64(rank[1].finish_ns, 6110, "since it has finished");
    bench_close(&bench);
}

/* Intervals are the long way to the same sums. */
static void intervals_add_up_to_the_same_unions(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        struct prng prng = {seed};
        struct bench bench;
        uint32_t members[16];
        bench_open(&bench, "ring:4");
        random_work(&bench, &prng, 30, members);
        bench.config.keep_intervals = true;
        (void)bench_completes(&bench);
        for (uint32_t rank = 0; rank < 4; rank++) {
            /* One compute slot: its intervals do not overlap. */
            uint64_t compute = 0;
            for (uint32_t i = 0; i < bench.result->interval_count; i++) {
                const struct sim_interval *interval = &bench.result->intervals[i];
                CHECK(interval->start_ns <= interval->end_ns, "time goes forward");
                CHECK(i == 0 || bench.result->intervals[i - 1].end_ns <= interval->end_ns, "in order of their end");
                if (interval->rank == rank && interval->slot == SIM_SLOT_COMP) {
                    compute += interval->end_ns - interval->start_ns;
                }
            }
            CHECK_U64(sim_result_rank(bench.result, rank)->compute_ns, compute, "rank %u, seed %" PRIu64, rank, seed);
            CHECK_U64(sim_result_rank(bench.result, rank)->gpu_busy_ns, compute, "rank %u, seed %" PRIu64, rank, seed);
        }
        bench_close(&bench);
    }
}

static void dimensions_share_the_messages_among_them(void **state)
{
    (void)state;
    static const char *const machines[] = {"ring:8", "ring:4 ring:2", "ring:2 switch:4 full:3", "switch:6", "full:5"};
    static const int32_t types[] = {COLL_ALL_REDUCE, COLL_REDUCE_SCATTER, COLL_ALL_GATHER, COLL_ALL_TO_ALL};
    for (size_t m = 0; m < COUNT_OF(machines); m++) {
        for (size_t t = 0; t < COUNT_OF(types); t++) {
            uint64_t bytes[2][TOPO_MAX_DIMS];
            for (uint32_t backend = 0; backend < 2; backend++) {
                struct bench bench;
                bench_open(&bench, machines[m]);
                bench.config.backend = (enum orr_backend)backend;
                bench.config.system.preferred_dataset_splits = 2;
                bench.config.policy = ORR_POLICY_SAFE;
                work_collective(&bench.work, EVERY_RANK, 1, types[t], 1 << 20);
                (void)bench_completes(&bench);
                CHECK_U64(messages_in_dimensions(&bench), bench.result->messages, "%s, %s", machines[m],
                          coll_type_name(types[t]));
                for (uint32_t d = 0; d < bench.config.dims.count; d++) {
                    bytes[backend][d] = bench.result->dims[d].bytes;
                    CHECK(bench.result->dims[d].links > 0, "a dimension has links");
                    CHECK(bench.result->dims[d].busy_ns <= bench.result->dims[d].links * bench.result->end_ns,
                          "a link is busy no longer than the run lasts");
                    CHECK_U64(bytes[backend][d], bytes[0][d], "both networks carry the same, dimension %u", d);
                }
                bench_close(&bench);
            }
        }
    }
}

/* 2(n - 1) messages of an n-th for each rank and chunk. */
static void the_traffic_of_a_ring_all_reduce_is_known(void **state)
{
    (void)state;
    struct bench bench;
    bench_open(&bench, "ring:8");
    bench.config.system.preferred_dataset_splits = 4;
    work_collective(&bench.work, EVERY_RANK, 1, COLL_ALL_REDUCE, 1 << 20);
    (void)bench_completes(&bench);
    CHECK_U64(bench.result->messages, 4 * 8 * 14, "messages");
    CHECK_U64(bench.result->dims[0].bytes, 4 * 8 * 14 * 32768, "bytes");
    CHECK_U64(bench.result->dims[0].busy_ns, 4 * 8 * 14 * 610, "time on links");
    CHECK_U64(bench.result->dims[0].links, 16, "links");
    bench_close(&bench);
}

static void collectives_have_a_row_for_each_kind_and_size(void **state)
{
    (void)state;
    static const uint32_t pair[] = {3, 1};
    struct bench bench;
    bench_open(&bench, "ring:4");
    bench.config.policy = ORR_POLICY_SAFE;
    bench_add_group(&bench, 1, 2, pair);
    work_collective(&bench.work, EVERY_RANK, 1, COLL_ALL_REDUCE, 4096);
    work_collective(&bench.work, EVERY_RANK, 2, COLL_ALL_REDUCE, 4096);
    work_after(&bench.work, 1);
    work_collective(&bench.work, EVERY_RANK, 3, COLL_ALL_GATHER, 8192);
    work_after(&bench.work, 2);
    for (uint32_t i = 0; i < 2; i++) {
        work_collective(&bench.work, pair[i], 4, COLL_ALL_REDUCE, 4096)->group = 1;
        work_after(&bench.work, 3);
    }
    work_send(&bench.work, 0, 5, 2, 100, 0);
    work_recv(&bench.work, 2, 5, 0, 100, 0);
    (void)bench_completes(&bench);
    static const struct {
        int32_t type;
        uint32_t group_size;
        uint64_t bytes, count;
    } want[] = {{SIM_TYPE_RECV, 2, 100, 1},
                {SIM_TYPE_SEND, 2, 100, 1},
                {COLL_ALL_REDUCE, 2, 4096, 2},
                {COLL_ALL_REDUCE, 4, 4096, 8},
                {COLL_ALL_GATHER, 4, 8192, 4}};
    CHECK_U64(bench.result->collective_count, COUNT_OF(want), "rows");
    for (size_t i = 0; i < COUNT_OF(want); i++) {
        const struct sim_collective_result *row = &bench.result->collectives[i];
        CHECK(row->type == want[i].type, "type of row %zu", i);
        CHECK_U64(row->group_size, want[i].group_size, "ranks of row %zu", i);
        CHECK_U64(row->bytes, want[i].bytes, "bytes of row %zu", i);
        CHECK_U64(row->count, want[i].count, "count of row %zu", i);
        CHECK(row->min_ns <= row->max_ns && row->total_ns <= row->count * row->max_ns, "times of row %zu", i);
        CHECK(row->first_start_ns + row->max_ns <= bench.result->end_ns, "row %zu lies within the run", i);
    }
    bench_close(&bench);
}

static void a_stalled_run_is_accounted_up_to_where_it_stopped(void **state)
{
    (void)state;
    struct bench bench;
    bench_open(&bench, "ring:4");
    work_compute(&bench.work, EVERY_RANK, 1, 5);
    work_recv(&bench.work, 2, 2, 3, 100, 0);
    CHECK_STATUS(bench_run(&bench), ORR_ESTALL);
    expect_whole_time(bench.result, 0);
    CHECK_U64(bench.result->end_ns, 5000, "the last thing that happened");
    CHECK_U64(bench.result->ranks_finished, 3, "ranks finished");
    CHECK_U64(bench.result->nodes_done, 4, "nodes done");
    bench_close(&bench);
}

TEST_MAIN(every_nanosecond_of_a_rank_is_counted_once, time_goes_to_the_first_account_that_applies,
          intervals_add_up_to_the_same_unions, dimensions_share_the_messages_among_them,
          the_traffic_of_a_ring_all_reduce_is_known, collectives_have_a_row_for_each_kind_and_size,
          a_stalled_run_is_accounted_up_to_where_it_stopped)
