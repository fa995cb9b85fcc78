/* SPDX-License-Identifier: Apache-2.0 */
/* Ranks that disagree about a collective: who is named, by rank and node id, on every algorithm. */
#include "tests/prng.h"
#include "tests/sim/bench_top.h"

static const struct {
    const char *machine;
    enum coll_algo algo;
} settings[] = {
    {"ring:8", COLL_RING},
    {"full:8", COLL_DIRECT},
    {"switch:8", COLL_HALVING_DOUBLING},
    {"switch:6", COLL_HALVING_DOUBLING},
    {"ring:8", COLL_DOUBLE_BINARY_TREE},
    {"ring:7", COLL_DOUBLE_BINARY_TREE},
    {"ring:4 ring:2", COLL_RING},
    {"ring:2 ring:2 ring:2", COLL_RING},
};

/* One of the settings, with knobs that must not matter turned at random. */
static uint32_t open_setting(struct bench *bench, size_t setting, struct prng *prng)
{
    bench_open(bench, settings[setting].machine);
    bench_use_algorithm(bench, settings[setting].algo, 0);
    bench->config.backend = prng_below(prng, 2) == 0 ? ORR_BACKEND_AWARE : ORR_BACKEND_UNAWARE;
    bench->config.policy = prng_below(prng, 2) == 0 ? ORR_POLICY_SAFE : ORR_POLICY_ASTRA;
    bench->config.jitter = prng_below(prng, 3) == 0 ? 0.25 : 0.0;
    bench->config.rendezvous = prng_below(prng, 4) == 0;
    bench->config.system.preferred_dataset_splits = 1 + prng_below(prng, 3);
    bench->config.system.active_chunks_per_dimension = bench->config.system.preferred_dataset_splits;
    return bench->config.dims.ranks;
}

/* Every finding is of this kind and has `rank` as its second. */
static void expect_blamed(const struct sim_stall *stall, enum sim_stall_kind kind, uint32_t rank, uint64_t seed)
{
    for (uint32_t i = 0; i < stall->finding_count; i++) {
        const struct sim_stall_finding *finding = &stall->findings[i];
        CHECK_U64(finding->kind, kind, "seed %" PRIu64 ": %s", seed, finding->text);
        CHECK_U64(finding->rank_count, 2, "seed %" PRIu64 ": %s", seed, finding->text);
        CHECK_U64(finding->ranks[1], rank, "seed %" PRIu64 ": %s", seed, finding->text);
        CHECK(finding->ranks[0] != rank, "seed %" PRIu64 ": %s", seed, finding->text);
    }
}

/* The same, but either of the two may stand first. */
static void expect_involved(const struct sim_stall *stall, enum sim_stall_kind kind, uint32_t rank, uint64_t node,
                            uint64_t others_node, uint64_t seed)
{
    for (uint32_t i = 0; i < stall->finding_count; i++) {
        const struct sim_stall_finding *finding = &stall->findings[i];
        CHECK_U64(finding->kind, kind, "seed %" PRIu64 ": %s", seed, finding->text);
        CHECK_U64(finding->rank_count, 2, "seed %" PRIu64 ": %s", seed, finding->text);
        CHECK_U64(finding->node_count, 2, "seed %" PRIu64 ": %s", seed, finding->text);
        uint32_t place = finding->ranks[0] == rank ? 0 : 1;
        CHECK_U64(finding->ranks[place], rank, "seed %" PRIu64 ": %s", seed, finding->text);
        CHECK_U64(finding->nodes[place], node, "seed %" PRIu64 ": %s", seed, finding->text);
        CHECK_U64(finding->nodes[1 - place], others_node, "seed %" PRIu64 ": %s", seed, finding->text);
    }
}

static void all_others(struct work *work, uint32_t ranks, uint32_t without, uint64_t id, int32_t type, uint64_t bytes)
{
    for (uint32_t rank = 0; rank < ranks; rank++) {
        if (rank != without) {
            work_collective(work, rank, id, type, bytes);
        }
    }
}

static void a_rank_that_never_joins_is_named(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 120; seed++) {
        struct prng prng = {seed};
        struct bench bench;
        uint32_t ranks = open_setting(&bench, seed % COUNT_OF(settings), &prng);
        uint32_t missing = prng_below(&prng, ranks);
        work_compute(&bench.work, EVERY_RANK, 1, 2);
        all_others(&bench.work, ranks, missing, 4, COLL_ALL_REDUCE, 65536);
        const struct sim_stall *stall = bench_stalls(&bench);
        expect_blamed(stall, SIM_STALL_RANK_NEVER_JOINS, missing, seed);
        for (uint32_t i = 0; i < stall->finding_count; i++) {
            CHECK_U64(stall->findings[i].node_count, 1, "seed %" PRIu64, seed);
            CHECK_U64(stall->findings[i].nodes[0], 4, "seed %" PRIu64, seed);
        }
        CHECK_U64(bench.result->ranks_finished, 1, "only the one that has nothing to do has finished");
        bench_close(&bench);
    }
}

static void a_member_that_never_joins_its_group_is_named(void **state)
{
    (void)state;
    static const uint32_t members[] = {6, 1, 4, 3};
    for (uint32_t missing = 0; missing < COUNT_OF(members); missing++) {
        struct bench bench;
        bench_open(&bench, "ring:8");
        bench_add_group(&bench, 5, COUNT_OF(members), members);
        for (uint32_t i = 0; i < COUNT_OF(members); i++) {
            if (i != missing) {
                work_collective(&bench.work, members[i], 9, COLL_ALL_GATHER, 4096)->group = 5;
            }
        }
        const struct sim_stall *stall = bench_stalls(&bench);
        expect_blamed(stall, SIM_STALL_RANK_NEVER_JOINS, members[missing], missing);
        CHECK_U64(bench.result->ranks_finished, 5, "those outside, and the missing one");
        bench_close(&bench);
    }
}

/* A rank that would join, could it only go on, is not blamed: what it waits for is. */
static void a_rank_that_is_held_up_itself_is_not_blamed(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 60; seed++) {
        struct prng prng = {seed};
        struct bench bench;
        uint32_t ranks = open_setting(&bench, seed % COUNT_OF(settings), &prng);
        uint32_t late = prng_below(&prng, ranks);
        uint32_t silent = (late + 1 + prng_below(&prng, ranks - 1)) % ranks;
        all_others(&bench.work, ranks, late, 4, COLL_ALL_REDUCE, 65536);
        work_recv(&bench.work, late, 2, silent, 500, 1);
        work_compute(&bench.work, late, 3, 5);
        work_after(&bench.work, 2);
        work_collective(&bench.work, late, 4, COLL_ALL_REDUCE, 65536);
        work_after(&bench.work, 3);
        const struct sim_stall *stall = bench_stalls(&bench);
        CHECK_U64(stall->finding_count, 1, "one reason, seed %" PRIu64, seed);
        CHECK_U64(stall->kind, SIM_STALL_UNMATCHED_RECV, "seed %" PRIu64, seed);
        CHECK_U64(stall->findings[0].ranks[0], late, "seed %" PRIu64, seed);
        CHECK_U64(stall->findings[0].ranks[1], silent, "seed %" PRIu64, seed);
        CHECK_U64(stall->findings[0].nodes[0], 2, "seed %" PRIu64, seed);
        bench_close(&bench);
    }
}

static void a_rank_with_another_size_is_named(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 120; seed++) {
        struct prng prng = {seed};
        struct bench bench;
        uint32_t ranks = open_setting(&bench, seed % COUNT_OF(settings), &prng);
        uint32_t odd = prng_below(&prng, ranks);
        all_others(&bench.work, ranks, odd, 4, COLL_ALL_REDUCE, 65536);
        work_collective(&bench.work, odd, 7, COLL_ALL_REDUCE, seed % 2 == 0 ? 131072 : 32768);
        const struct sim_stall *stall = bench_stalls(&bench);
        CHECK_U64(stall->kind, SIM_STALL_SIZES_DIFFER, "seed %" PRIu64 ": %s", seed, stall->findings[0].text);
        expect_involved(stall, SIM_STALL_SIZES_DIFFER, odd, 7, 4, seed);
        bench_close(&bench);
    }
}

/* A byte more or less may make a chunk more, other messages, or nothing but a rounding: whatever the machine makes of
 * it, the two nodes at odds are named. */
static void a_rank_whose_size_differs_by_one_byte_is_named(void **state)
{
    (void)state;
    uint32_t stalls = 0;
    uint32_t runs = 0;
    for (uint64_t seed = 1; seed <= 480; seed++) {
        struct prng prng = {seed};
        struct bench bench;
        uint32_t ranks = open_setting(&bench, seed % COUNT_OF(settings), &prng);
        uint32_t odd = prng_below(&prng, ranks);
        int32_t type = prng_below(&prng, 2) == 0 ? COLL_ALL_REDUCE : COLL_ALL_GATHER;
        bool more = prng_below(&prng, 2) == 0;
        bool last = prng_below(&prng, 2) == 0;
        for (uint32_t rank = 0; rank < ranks; rank++) {
            work_collective(&bench.work, rank, rank == odd ? 7 : 4, type, rank != odd ? 65536 : more ? 65537 : 65535);
            if (!last) {
                work_collective(&bench.work, rank, 9, COLL_ALL_REDUCE, 65536);
                work_after(&bench.work, rank == odd ? 7 : 4);
            }
        }
        enum orr_status status = bench_run(&bench);
        if (status == ORR_OK) {
            runs++;
            CHECK(bench.notes.count > 0, "seed %" PRIu64, seed);
            const char *note = bench.notes.lines[bench.notes.count - 1];
            CHECK_CONTAINS(note, "1 collective is not of one size on all ranks");
            CHECK_CONTAINS(note, more ? "65537 B" : "65535 B");
        } else {
            stalls++;
            CHECK_STATUS(status, ORR_ESTALL);
            const struct sim_stall *stall = &bench.result->stall;
            CHECK(stall->finding_count > 0, "seed %" PRIu64, seed);
            CHECK_U64(stall->kind, SIM_STALL_SIZES_DIFFER, "seed %" PRIu64 ": %s", seed, stall->findings[0].text);
            expect_involved(stall, SIM_STALL_SIZES_DIFFER, odd, 7, 4, seed);
        }
        bench_close(&bench);
    }
    CHECK(stalls > 50 && runs > 50, "%u stalls, %u runs: both must be seen", stalls, runs);
}

static void a_rank_with_another_order_is_named(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 60; seed++) {
        struct prng prng = {seed};
        struct bench bench;
        uint32_t ranks = open_setting(&bench, seed % COUNT_OF(settings), &prng);
        bench_use_algorithm(&bench, seed % 2 == 0 ? COLL_RING : COLL_DIRECT, 0);
        uint32_t odd = prng_below(&prng, ranks);
        for (uint32_t rank = 0; rank < ranks; rank++) {
            uint64_t first = rank == odd ? 8 : 5;
            uint64_t second = rank == odd ? 5 : 8;
            work_collective(&bench.work, rank, first, first == 5 ? COLL_ALL_REDUCE : COLL_ALL_GATHER, 65536);
            work_collective(&bench.work, rank, second, second == 5 ? COLL_ALL_REDUCE : COLL_ALL_GATHER, 65536);
            work_after(&bench.work, first);
        }
        const struct sim_stall *stall = bench_stalls(&bench);
        CHECK_U64(stall->kind, SIM_STALL_ORDER_DIFFERS, "seed %" PRIu64 ": %s", seed, stall->findings[0].text);
        expect_involved(stall, SIM_STALL_ORDER_DIFFERS, odd, 8, 5, seed);
        bench_close(&bench);
    }
}

/* Two sizes in another order are not two sizes at odds. */
static void the_same_sizes_in_another_order_are_told_as_order(void **state)
{
    (void)state;
    struct bench bench;
    bench_open(&bench, "ring:8");
    for (uint32_t rank = 0; rank < 8; rank++) {
        work_collective(&bench.work, rank, 1, COLL_ALL_REDUCE, rank == 3 ? 131072 : 65536);
        work_collective(&bench.work, rank, 2, COLL_ALL_REDUCE, rank == 3 ? 65536 : 131072);
        work_after(&bench.work, 1);
    }
    const struct sim_stall *stall = bench_stalls(&bench);
    CHECK_U64(stall->kind, SIM_STALL_ORDER_DIFFERS, "%s", stall->findings[0].text);
    bench_close(&bench);
}

/* Group A is {a, b}, group B is {b, a} too: a does A first, b does B first; through k ranks it is a cycle of k. */
static void groups_entered_in_a_circle_are_named_as_a_cycle(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 40; seed++) {
        struct prng prng = {seed};
        struct bench bench;
        uint32_t who[16];
        uint32_t pairs[8][2];
        bench_open(&bench, "ring:16");
        prng_shuffle(&prng, who, 16);
        uint32_t length = 3 + prng_below(&prng, 5);
        for (uint32_t i = 0; i < length; i++) {
            pairs[i][0] = who[i];
            pairs[i][1] = who[(i + 1) % length];
            bench_add_group(&bench, (int32_t)i + 1, 2, pairs[i]);
        }
        for (uint32_t i = 0; i < length; i++) { /* each first with the next one, then with the one before */
            work_collective(&bench.work, who[i], 1, COLL_ALL_REDUCE, 4096)->group = (int32_t)i + 1;
            work_collective(&bench.work, who[i], 2, COLL_ALL_REDUCE, 4096)->group =
                (int32_t)((i + length - 1) % length) + 1;
            work_after(&bench.work, 1);
        }
        const struct sim_stall *stall = bench_stalls(&bench);
        CHECK_U64(stall->finding_count, 1, "one cycle, seed %" PRIu64, seed);
        CHECK_U64(stall->kind, SIM_STALL_ORDER_DIFFERS, "seed %" PRIu64 ": %s", seed, stall->findings[0].text);
        const struct sim_stall_finding *finding = &stall->findings[0];
        CHECK_U64(finding->rank_count, length, "seed %" PRIu64 ": %s", seed, finding->text);
        uint32_t start = 0;
        while (start < length && who[start] != finding->ranks[0]) {
            start++;
        }
        for (uint32_t i = 0; i < length; i++) {
            CHECK_U64(finding->ranks[i], who[(start + i) % length], "seed %" PRIu64 ": %s", seed, finding->text);
            CHECK_U64(finding->nodes[i], 1, "seed %" PRIu64 ": %s", seed, finding->text);
        }
        bench_close(&bench);
    }
}

static void a_collective_and_a_message_that_wait_for_each_other_are_a_cycle(void **state)
{
    (void)state;
    struct bench bench;
    bench_open(&bench, "ring:2");
    work_collective(&bench.work, 0, 1, COLL_ALL_REDUCE, 4096);
    work_send(&bench.work, 0, 2, 1, 100, 5);
    work_after(&bench.work, 1);
    work_recv(&bench.work, 1, 3, 0, 100, 5);
    work_collective(&bench.work, 1, 4, COLL_ALL_REDUCE, 4096);
    work_after(&bench.work, 3);
    const struct sim_stall *stall = bench_stalls(&bench);
    CHECK_U64(stall->finding_count, 1, "one cycle");
    const struct sim_stall_finding *finding = stall_finding(stall, SIM_STALL_ORDER_DIFFERS);
    CHECK_U64(finding->rank_count, 2, "%s", finding->text);
    uint32_t zero = finding->ranks[0] == 0 ? 0 : 1;
    CHECK(finding->ranks[zero] == 0 && finding->nodes[zero] == 1, "rank 0 waits in its collective");
    CHECK(finding->ranks[1 - zero] == 1 && finding->nodes[1 - zero] == 3, "rank 1 waits to receive");
    bench_close(&bench);
}

/* A ring of messages as a custom all-reduce; `silent` sends nothing, `absent` does not take part. */
static void open_custom(struct bench *bench, uint32_t silent, uint32_t absent, bool receive_first)
{
    bench_open(bench, "ring:4");
    for (uint32_t rank = 0; rank < 4; rank++) {
        work_recv(&bench->custom, rank, 2, (rank + 3) % 4, 32768, 1);
        if (rank != silent) {
            work_send(&bench->custom, rank, 1, (rank + 1) % 4, 32768, 1);
            if (receive_first) {
                work_after(&bench->custom, 2);
            }
        }
    }
    bench_use_custom(bench, 4);
    for (uint32_t rank = 0; rank < 4; rank++) {
        if (rank != absent) {
            work_collective(&bench->work, rank, 5, COLL_ALL_REDUCE, 65536);
        }
    }
}

static void a_custom_collective_names_what_it_misses(void **state)
{
    (void)state;
    enum { NOBODY = 9 };
    for (uint32_t rank = 0; rank < 4; rank++) {
        for (uint32_t rendezvous = 0; rendezvous < 2; rendezvous++) {
            struct bench bench;
            open_custom(&bench, rank, NOBODY, false);
            bench.config.rendezvous = rendezvous != 0;
            const struct sim_stall *stall = bench_stalls(&bench);
            CHECK_U64(stall->finding_count, 1, "a message that is not in the custom trace");
            expect_blamed(stall, SIM_STALL_UNMATCHED_RECV, rank, rank);
            bench_close(&bench);

            open_custom(&bench, NOBODY, rank, false);
            bench.config.rendezvous = rendezvous != 0;
            stall = bench_stalls(&bench);
            expect_blamed(stall, SIM_STALL_RANK_NEVER_JOINS, rank, rank);
            bench_close(&bench);
        }
    }
    struct bench bench;
    open_custom(&bench, NOBODY, NOBODY, true);
    const struct sim_stall *stall = bench_stalls(&bench);
    CHECK_U64(stall->finding_count, 1, "one cycle");
    CHECK_U64(stall->findings[0].rank_count, 4, "of all four: %s", stall->findings[0].text);
    bench_close(&bench);
}

/* With as many chunks at work as there are, every chunk waits for the rank that is missing: told once. */
static void a_reason_is_told_once_however_many_chunks_wait(void **state)
{
    (void)state;
    struct bench bench;
    bench_open(&bench, "ring:4");
    bench.config.system.preferred_dataset_splits = 4;
    bench.config.system.active_chunks_per_dimension = 4;
    work_collective(&bench.work, 0, 1, COLL_ALL_REDUCE, 65536);
    work_collective(&bench.work, 1, 2, COLL_ALL_REDUCE, 65536);
    work_collective(&bench.work, 2, 3, COLL_ALL_REDUCE, 131072);
    const struct sim_stall *stall = bench_stalls(&bench);
    for (uint32_t i = 0; i < stall->finding_count; i++) {
        const struct sim_stall_finding *finding = &stall->findings[i];
        CHECK_U64(finding->node_count, finding->kind == SIM_STALL_RANK_NEVER_JOINS ? 1 : 2, "%s", finding->text);
        for (uint32_t j = 0; j < i; j++) {
            CHECK(strcmp(finding->text, stall->findings[j].text) != 0, "told once: %s", finding->text);
        }
    }
    CHECK_U64(stall->wait_total, 12, "chunks that wait");
    bench_close(&bench);
}

TEST_MAIN(a_rank_that_never_joins_is_named, a_member_that_never_joins_its_group_is_named,
          a_rank_that_is_held_up_itself_is_not_blamed, a_rank_with_another_size_is_named,
          a_rank_whose_size_differs_by_one_byte_is_named, a_rank_with_another_order_is_named,
          the_same_sizes_in_another_order_are_told_as_order, groups_entered_in_a_circle_are_named_as_a_cycle,
          a_collective_and_a_message_that_wait_for_each_other_are_a_cycle, a_custom_collective_names_what_it_misses,
          a_reason_is_told_once_however_many_chunks_wait)
