/* SPDX-License-Identifier: Apache-2.0 */
/* Collectives that ASTRA-sim cannot do, hangs in or refuses: here they end, and not before they can. */
#include "tests/sim/bench_top.h"

/* Spec analytical §18, to know that the bench measures what the golden cases measure. */
static void the_worked_examples_come_out(void **state)
{
    (void)state;
    struct bench bench;
    bench_open(&bench, "ring:8");
    bench.config.system.preferred_dataset_splits = 4;
    work_collective(&bench.work, EVERY_RANK, 1, COLL_ALL_REDUCE, 1 << 20);
    CHECK_U64(bench_completes(&bench), 117780, "ring of 8");
    bench.config.backend = ORR_BACKEND_AWARE;
    CHECK_U64(bench_completes(&bench), 117780, "ring of 8 with contention");
    bench_close(&bench);

    bench_open(&bench, "full:8");
    bench.config.system.preferred_dataset_splits = 4;
    work_collective(&bench.work, EVERY_RANK, 1, COLL_ALL_REDUCE, 1 << 20);
    CHECK_U64(bench_completes(&bench), 16860, "8 fully connected");
    bench_close(&bench);
}

static void an_endpoint_without_delay_costs_nothing(void **state)
{
    (void)state;
    struct bench bench;
    bench_open(&bench, "ring:8");
    bench.config.system.endpoint_delay_ns = 0;
    work_collective(&bench.work, EVERY_RANK, 1, COLL_ALL_REDUCE, 262144);
    CHECK_U64(bench_completes(&bench), 14 * 1110 + 7 * 1965, "messages and memory, nothing else");
    bench.config.backend = ORR_BACKEND_AWARE;
    CHECK_U64(bench_completes(&bench), 14 * 1110 + 7 * 1965, "with contention");
    bench.config.rendezvous = true;
    (void)bench_completes(&bench);
    bench_close(&bench);
}

static void nobody_to_talk_to_takes_no_time(void **state)
{
    (void)state;
    static const uint32_t alone[] = {2};
    static const int32_t types[] = {COLL_ALL_REDUCE, COLL_ALL_GATHER, COLL_REDUCE_SCATTER, COLL_ALL_TO_ALL,
                                    COLL_REDUCE,     COLL_BROADCAST,  COLL_BARRIER};
    for (size_t t = 0; t < COUNT_OF(types); t++) {
        struct bench bench;
        bench_open(&bench, "ring:4");
        bench.config.broadcast = ORR_BROADCAST_SIMULATE;
        bench.config.system.preferred_dataset_splits = 4;
        bench_add_group(&bench, 1, 1, alone);
        work_collective(&bench.work, 2, 1, types[t], 1 << 20)->group = 1;
        work_compute(&bench.work, 2, 2, 3);
        work_after(&bench.work, 1);
        CHECK_U64(bench_completes(&bench), 3000, "a group of one: %s", coll_type_name(types[t]));
        CHECK_U64(bench.result->messages, 0, "messages");
        bench_close(&bench);
    }
    for (size_t t = 0; t < 4; t++) {
        struct bench bench;
        bench_open(&bench, "ring:4 ring:2");
        work_collective(&bench.work, EVERY_RANK, 1, types[t], 1 << 20)->dims = "00";
        work_collective(&bench.work, EVERY_RANK, 2, types[t], 1 << 20)->dims = "01";
        work_after(&bench.work, 1);
        CHECK(bench_completes(&bench) > 0, "the second one is done");
        uint64_t both = bench.result->end_ns;
        bench_close(&bench);
        bench_open(&bench, "ring:4 ring:2");
        work_collective(&bench.work, EVERY_RANK, 2, types[t], 1 << 20)->dims = "01";
        CHECK_U64(bench_completes(&bench), both, "%s over no dimension takes no time", coll_type_name(types[t]));
        bench_close(&bench);
    }
}

static void an_all_gather_smaller_than_its_chunks_has_a_chunk_a_byte(void **state)
{
    (void)state;
    for (uint64_t bytes = 1; bytes <= 9; bytes++) {
        struct bench bench;
        bench_open(&bench, "ring:4");
        bench.config.system.preferred_dataset_splits = 8;
        work_collective(&bench.work, EVERY_RANK, 1, COLL_ALL_GATHER, bytes);
        (void)bench_completes(&bench);
        uint64_t chunks = bytes <= 8 ? bytes : 9; /* 9 / 8 = 1 byte again */
        CHECK_U64(bench.result->messages, chunks * 4 * 3, "%" PRIu64 " bytes", bytes);
        bench_close(&bench);
    }
    struct bench bench;
    bench_open(&bench, "ring:4");
    work_collective(&bench.work, EVERY_RANK, 1, COLL_ALL_GATHER, 0);
    CHECK_U64(bench_completes(&bench), 0, "nothing to gather");
    bench_close(&bench);
}

static void a_custom_collective_in_several_chunks_ends_with_its_trace(void **state)
{
    (void)state;
    for (uint32_t splits = 1; splits <= 4; splits++) {
        struct bench bench;
        bench_open(&bench, "ring:4");
        bench.config.system.preferred_dataset_splits = splits;
        for (uint32_t rank = 0; rank < 4; rank++) {
            work_send(&bench.custom, rank, 1, (rank + 1) % 4, 32768, 1);
            work_recv(&bench.custom, rank, 2, (rank + 3) % 4, 32768, 1);
            work_compute(&bench.custom, rank, 3, 2);
            work_after(&bench.custom, 2);
        }
        bench_use_custom(&bench, 4);
        work_collective(&bench.work, EVERY_RANK, 1, COLL_ALL_REDUCE, 1 << 20);
        work_compute(&bench.work, EVERY_RANK, 2, 1);
        work_after(&bench.work, 1);
        CHECK_U64(bench_completes(&bench), 1110 + 2000 + 1000, "%u chunks", splits);
        CHECK_U64(bench.result->messages, 4, "its trace is played once");
        bench_close(&bench);
    }
}

/* ---- nodes that do nothing ------------------------------------------------------------------------------------ */

static void children_of_nothing_go_at_the_next_completion_or_at_once(void **state)
{
    (void)state;
    static const enum trace_node_type types[] = {TRACE_INVALID, TRACE_METADATA};
    for (size_t t = 0; t < COUNT_OF(types); t++) {
        struct bench bench;
        bench_open(&bench, "ring:2");
        work_add(&bench.work, 0, 1, types[t]);
        work_add(&bench.work, 0, 2, types[t]);
        work_after(&bench.work, 1);
        work_compute(&bench.work, 0, 3, 5);
        work_after(&bench.work, 2);
        CHECK_U64(bench_completes(&bench), 5000, "nothing else is in flight: they go at once");
        bench_close(&bench);

        bench_open(&bench, "ring:2");
        work_add(&bench.work, 0, 1, types[t]);
        work_compute(&bench.work, 0, 2, 10)->cpu = true;
        work_compute(&bench.work, 0, 3, 5);
        work_after(&bench.work, 1);
        CHECK_U64(bench_completes(&bench), 15000, "an operator is: they wait for its end (spec analytical §5.6)");
        bench_close(&bench);

        bench_open(&bench, "ring:2");
        work_add(&bench.work, 0, 1, types[t]);
        CHECK_U64(bench_completes(&bench), 0, "nothing alone takes no time");
        bench_close(&bench);
    }
}

/* ---- rooted collectives and barriers -------------------------------------------------------------------------- */

enum { ENDPOINT = 10, BYTES = 32768, MESSAGE = 1110 };

static uint32_t most_bits_below(uint32_t n)
{
    uint32_t most = 0;
    for (uint32_t v = 0; v < n; v++) {
        uint32_t bits = (uint32_t)__builtin_popcount(v);
        most = bits > most ? bits : most;
    }
    return most;
}

static void a_broadcast_takes_as_long_as_its_tree_is_deep(void **state)
{
    (void)state;
    for (uint32_t n = 2; n <= 17; n++) {
        char machine[16];
        struct bench bench;
        (void)snprintf(machine, sizeof machine, "full:%u", n);
        bench_open(&bench, machine);
        bench.config.broadcast = ORR_BROADCAST_SIMULATE;
        work_collective(&bench.work, EVERY_RANK, 1, COLL_BROADCAST, BYTES);
        CHECK_U64(bench_completes(&bench), ENDPOINT + most_bits_below(n) * (MESSAGE + ENDPOINT), "%u ranks", n);
        CHECK_U64(bench.result->messages, n - 1, "each rank is told once");
        bench_close(&bench);
    }
}

/* Two ranks: one message, and at the root the three passes over memory of spec analytical §8. */
static void a_reduction_pays_for_memory_and_a_gather_does_not(void **state)
{
    (void)state;
    static const struct {
        int32_t type;
        uint64_t bytes, end;
    } rows[] = {{COLL_REDUCE, BYTES, ENDPOINT + MESSAGE + ENDPOINT + 1965},
                {COLL_GATHER, 2 * BYTES, ENDPOINT + MESSAGE + ENDPOINT},
                {COLL_BROADCAST, BYTES, ENDPOINT + MESSAGE + ENDPOINT},
                {COLL_SCATTER, 2 * BYTES, ENDPOINT + MESSAGE + ENDPOINT}};
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct bench bench;
        bench_open(&bench, "full:2");
        bench.config.broadcast = ORR_BROADCAST_SIMULATE;
        work_collective(&bench.work, EVERY_RANK, 1, rows[i].type, rows[i].bytes);
        CHECK_U64(bench_completes(&bench), rows[i].end, "%s", coll_type_name(rows[i].type));
        bench_close(&bench);
    }
}

static void a_barrier_takes_a_round_for_each_doubling(void **state)
{
    (void)state;
    for (uint32_t n = 2; n <= 17; n++) {
        char machine[16];
        struct bench bench;
        uint32_t rounds = 0;
        while (UINT32_C(1) << rounds < n) {
            rounds++;
        }
        (void)snprintf(machine, sizeof machine, "full:%u", n);
        bench_open(&bench, machine);
        bench.config.broadcast = ORR_BROADCAST_SIMULATE;
        work_compute(&bench.work, n - 1, 1, 7); /* the last one comes late */
        for (uint32_t rank = 0; rank < n; rank++) {
            work_collective(&bench.work, rank, 2, COLL_BARRIER, 0);
            if (rank == n - 1) {
                work_after(&bench.work, 1);
            }
        }
        CHECK_U64(bench_completes(&bench), 7000 + ENDPOINT + rounds * (500 + ENDPOINT), "%u ranks", n);
        for (uint32_t rank = 0; rank < n; rank++) {
            CHECK(sim_result_rank(bench.result, rank)->finish_ns > 7000, "rank %u of %u waits for the last one", rank,
                  n);
        }
        bench_close(&bench);
    }
}

static const struct {
    int32_t type;
    bool root_first; /* the root hands out and is done first; else it collects and is done last */
} rooted[] = {{COLL_BROADCAST, true}, {COLL_SCATTER, true}, {COLL_REDUCE, false}, {COLL_GATHER, false}};

static void expect_root(const struct bench *bench, const uint32_t *members, uint32_t count, uint32_t root, size_t type)
{
    for (uint32_t i = 0; i < count; i++) {
        uint64_t at_root = sim_result_rank(bench->result, root)->finish_ns;
        uint64_t elsewhere = sim_result_rank(bench->result, members[i])->finish_ns;
        if (members[i] != root) {
            CHECK(rooted[type].root_first ? at_root < elsewhere : at_root > elsewhere, "%s, root %u: rank %u",
                  coll_type_name(rooted[type].type), root, members[i]);
        }
    }
}

static void the_root_named_is_the_root(void **state)
{
    (void)state;
    static const char *const machines[] = {"ring:6", "full:6", "ring:3 ring:2"};
    static const uint32_t all[] = {0, 1, 2, 3, 4, 5};
    for (size_t m = 0; m < COUNT_OF(machines); m++) {
        for (size_t t = 0; t < COUNT_OF(rooted); t++) {
            for (uint32_t root = 0; root < 6; root++) {
                struct bench bench;
                bench_open(&bench, machines[m]);
                bench.config.broadcast = ORR_BROADCAST_SIMULATE;
                bench.config.backend = root % 2 == 0 ? ORR_BACKEND_AWARE : ORR_BACKEND_UNAWARE;
                struct work_node *node = work_collective(&bench.work, EVERY_RANK, 1, rooted[t].type, 6 * BYTES);
                node->root = root;
                node->has_root = true;
                CHECK(bench_completes(&bench) >= MESSAGE, "at least one message is waited for");
                expect_root(&bench, all, 6, root, t);
                bench_close(&bench);
            }
        }
    }
}

static void a_root_in_a_group_is_named_by_its_rank(void **state)
{
    (void)state;
    static const uint32_t members[] = {6, 1, 4, 3, 7};
    for (size_t t = 0; t < COUNT_OF(rooted); t++) {
        for (uint32_t i = 0; i < COUNT_OF(members); i++) {
            struct bench bench;
            bench_open(&bench, "full:8");
            bench.config.broadcast = ORR_BROADCAST_SIMULATE;
            bench_add_group(&bench, 2, COUNT_OF(members), members);
            for (uint32_t j = 0; j < COUNT_OF(members); j++) {
                struct work_node *node = work_collective(&bench.work, members[j], 1, rooted[t].type, 5 * BYTES);
                node->group = 2;
                node->root = members[i];
                node->has_root = true;
            }
            (void)bench_completes(&bench);
            expect_root(&bench, members, COUNT_OF(members), members[i], t);
            CHECK_U64(bench.result->messages, COUNT_OF(members) - 1, "a tree among the members");
            CHECK_U64(sim_result_rank(bench.result, 0)->finish_ns, 0, "others have nothing to do with it");
            bench_close(&bench);
        }
    }
}

/* What comes to the root, or leaves it, passes its links: n - 1 shares over at most two of them in a ring. */
static void a_root_cannot_be_faster_than_its_links(void **state)
{
    (void)state;
    for (size_t t = 0; t < COUNT_OF(rooted); t++) {
        struct bench bench;
        uint64_t share = 53687091; /* a millisecond each */
        bench_open(&bench, "ring:8");
        bench.config.broadcast = ORR_BROADCAST_SIMULATE;
        bench.config.backend = ORR_BACKEND_AWARE;
        work_collective(&bench.work, EVERY_RANK, 1, rooted[t].type, 8 * share);
        bool whole = rooted[t].type == COLL_BROADCAST || rooted[t].type == COLL_REDUCE;
        uint64_t least = whole ? 8000000 : 7 * 1000000 / 2;
        CHECK(bench_completes(&bench) >= least, "%s ends at %" PRIu64, coll_type_name(rooted[t].type),
              bench.result->end_ns);
        bench_close(&bench);
    }
}

static void a_reduce_scatter_block_is_a_reduce_scatter(void **state)
{
    (void)state;
    static const char *const machines[] = {"ring:8", "full:5", "switch:8", "switch:6", "ring:2 ring:4"};
    for (size_t m = 0; m < COUNT_OF(machines); m++) {
        uint64_t end[2];
        for (uint32_t i = 0; i < 2; i++) {
            struct bench bench;
            bench_open(&bench, machines[m]);
            bench.config.broadcast = ORR_BROADCAST_SIMULATE;
            bench.config.system.preferred_dataset_splits = 3;
            work_collective(&bench.work, EVERY_RANK, 1, i == 0 ? COLL_REDUCE_SCATTER : COLL_REDUCE_SCATTER_BLOCK,
                            1 << 20);
            end[i] = bench_completes(&bench);
            bench_close(&bench);
        }
        CHECK_U64(end[1], end[0], "%s", machines[m]);
    }
}

static void what_is_not_simulated_is_refused_by_name(void **state)
{
    (void)state;
    static const int32_t types[] = {COLL_REDUCE, COLL_GATHER, COLL_SCATTER, COLL_BARRIER, COLL_REDUCE_SCATTER_BLOCK};
    for (size_t t = 0; t < COUNT_OF(types); t++) {
        struct bench bench;
        bench_open(&bench, "ring:4");
        work_collective(&bench.work, 3, 77, types[t], 4096);
        CHECK_STATUS(bench_create(&bench), ORR_EINVAL);
        CHECK_CONTAINS(bench.err.text, "bench.3.et: node 77");
        CHECK_CONTAINS(bench.err.text, coll_type_name(types[t]));
        bench_close(&bench);
    }
    struct bench bench;
    bench_open(&bench, "ring:4");
    work_collective(&bench.work, EVERY_RANK, 1, COLL_BROADCAST, 4096)->duration_us = 6;
    CHECK_U64(bench_completes(&bench), 6000, "a broadcast is replayed");
    bench_close(&bench);
}

/* ---- any number of members ------------------------------------------------------------------------------------ */

static void halving_and_trees_work_for_any_number_of_ranks(void **state)
{
    (void)state;
    static const enum coll_algo algos[] = {COLL_HALVING_DOUBLING, COLL_DOUBLE_BINARY_TREE};
    static const int32_t types[] = {COLL_ALL_REDUCE, COLL_REDUCE_SCATTER, COLL_ALL_GATHER};
    static const uint32_t sizes[] = {2, 3, 5, 6, 7, 8, 12};
    for (uint32_t i = 0; i < COUNT_OF(sizes) * COUNT_OF(algos) * COUNT_OF(types) * 2; i++) {
        uint32_t n = sizes[i / 12];
        char machine[16];
        struct bench bench;
        (void)snprintf(machine, sizeof machine, "switch:%u", n);
        bench_open(&bench, machine);
        bench_use_algorithm(&bench, algos[i % 2], 0);
        bench.config.backend = i / 2 % 2 == 0 ? ORR_BACKEND_AWARE : ORR_BACKEND_UNAWARE;
        bench.config.system.preferred_dataset_splits = 3;
        bench.config.system.active_chunks_per_dimension = 2;
        work_collective(&bench.work, EVERY_RANK, 1, types[i / 4 % 3], 1 << 20);
        work_collective(&bench.work, EVERY_RANK, 2, types[i / 4 % 3], 1000);
        work_after(&bench.work, 1);
        CHECK(bench_completes(&bench) > 1000, "%u ranks", n);
        if (algos[i % 2] == COLL_DOUBLE_BINARY_TREE) {
            CHECK_U64(bench.result->messages % (2 * (n - 1)), 0, "up and down each edge, %u ranks", n);
        }
        bench_close(&bench);
    }
}

static void halving_and_trees_work_in_any_group(void **state)
{
    (void)state;
    static const enum coll_algo algos[] = {COLL_HALVING_DOUBLING, COLL_DOUBLE_BINARY_TREE, COLL_DIRECT, COLL_RING};
    static const uint32_t order[] = {11, 3, 7, 0, 5, 9, 2, 8, 1, 10, 4, 6};
    for (size_t a = 0; a < COUNT_OF(algos); a++) {
        for (uint32_t n = 2; n <= 12; n++) {
            struct bench bench;
            bench_open(&bench, "switch:12");
            bench_use_algorithm(&bench, algos[a], 0);
            bench.config.policy = ORR_POLICY_SAFE;
            bench.config.queues_per_dim = 1 + n % 2;
            bench.config.system.preferred_dataset_splits = 3;
            bench_add_group(&bench, 4, n, order);
            for (uint32_t i = 0; i < n; i++) {
                work_collective(&bench.work, order[i], 1, COLL_ALL_REDUCE, 100000)->group = 4;
            }
            /* And afterwards all together, though some come from a group and some do not. */
            for (uint32_t i = 0; i < 12; i++) {
                work_collective(&bench.work, order[i], 2, COLL_ALL_REDUCE, 100000);
                if (i < n) {
                    work_after(&bench.work, 1);
                }
            }
            (void)bench_completes(&bench);
            bench_close(&bench);
        }
    }
}

TEST_MAIN(the_worked_examples_come_out, an_endpoint_without_delay_costs_nothing, nobody_to_talk_to_takes_no_time,
          an_all_gather_smaller_than_its_chunks_has_a_chunk_a_byte,
          a_custom_collective_in_several_chunks_ends_with_its_trace,
          children_of_nothing_go_at_the_next_completion_or_at_once, a_broadcast_takes_as_long_as_its_tree_is_deep,
          a_reduction_pays_for_memory_and_a_gather_does_not, a_barrier_takes_a_round_for_each_doubling,
          the_root_named_is_the_root, a_root_in_a_group_is_named_by_its_rank, a_root_cannot_be_faster_than_its_links,
          a_reduce_scatter_block_is_a_reduce_scatter, what_is_not_simulated_is_refused_by_name,
          halving_and_trees_work_for_any_number_of_ranks, halving_and_trees_work_in_any_group)
