/* SPDX-License-Identifier: Apache-2.0 */
/* Sends and receives that do not meet: who is named, by rank and node id. */
#include "tests/prng.h"
#include "tests/sim/bench_top.h"

/* A pair of different ranks. */
static void draw_pair(struct prng *prng, uint32_t ranks, uint32_t *a, uint32_t *b)
{
    *a = prng_below(prng, ranks);
    *b = (*a + 1 + prng_below(prng, ranks - 1)) % ranks;
}

static void expect_finding(const struct sim_stall_finding *finding, uint32_t rank_count, const uint32_t *ranks,
                           uint32_t node_count, const uint64_t *nodes)
{
    CHECK_U64(finding->rank_count, rank_count, "%s", finding->text);
    for (uint32_t i = 0; i < rank_count; i++) {
        CHECK_U64(finding->ranks[i], ranks[i], "rank %u of: %s", i, finding->text);
    }
    CHECK_U64(finding->node_count, node_count, "%s", finding->text);
    for (uint32_t i = 0; i < node_count; i++) {
        CHECK_U64(finding->nodes[i], nodes[i], "node %u of: %s", i, finding->text);
    }
    CHECK(finding->fix != NULL, "there is something to change");
}

static void a_receive_without_a_send_is_named(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 40; seed++) {
        struct prng prng = {seed};
        struct bench bench;
        uint32_t a, b;
        bench_open(&bench, seed % 2 == 0 ? "ring:8" : "switch:2 ring:4");
        bench.config.backend = seed % 3 == 0 ? ORR_BACKEND_AWARE : ORR_BACKEND_UNAWARE;
        bench.config.rendezvous = seed % 5 == 0;
        draw_pair(&prng, 8, &a, &b);
        uint64_t id = 1 + prng_below(&prng, 1000000);
        work_compute(&bench.work, EVERY_RANK, 0, 3);
        work_recv(&bench.work, a, id, b, 100 + seed, (int32_t)seed);
        const struct sim_stall *stall = bench_stalls(&bench);
        CHECK_U64(stall->kind, SIM_STALL_UNMATCHED_RECV, "seed %" PRIu64, seed);
        CHECK_U64(stall->finding_count, 1, "seed %" PRIu64, seed);
        expect_finding(&stall->findings[0], 2, (uint32_t[]){a, b}, 1, &id);
        CHECK_U64(stall->wait_total, 1, "one thing waits");
        CHECK(stall->waits[0].rank == a && stall->waits[0].node == id, "it is the receive");
        CHECK_U64(bench.result->ranks_finished, 7, "the others have finished");
        bench_close(&bench);
    }
}

static void a_message_of_another_size_or_tag_is_named_with_its_receive(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 40; seed++) {
        struct prng prng = {seed};
        struct bench bench;
        uint32_t a, b;
        bool sizes = seed % 2 == 0;
        bench_open(&bench, "ring:8");
        draw_pair(&prng, 8, &a, &b);
        uint64_t sent = 1 + prng_below(&prng, 1000);
        uint64_t received = 1001 + prng_below(&prng, 1000);
        work_send(&bench.work, a, sent, b, 4096, 7);
        work_recv(&bench.work, b, received, a, sizes ? 4095 : 4096, sizes ? 7 : 8);
        const struct sim_stall *stall = bench_stalls(&bench);
        CHECK_U64(stall->kind, SIM_STALL_UNMATCHED_RECV, "seed %" PRIu64, seed);
        CHECK_U64(stall->finding_count, 1, "seed %" PRIu64, seed);
        expect_finding(&stall->findings[0], 2, (uint32_t[]){b, a}, 2, (uint64_t[]){received, sent});
        CHECK_CONTAINS(stall->findings[0].text, sizes ? "the sizes differ" : "the tags differ");
        bench_close(&bench);
    }
}

static void a_send_that_waits_for_its_receiver_is_named(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        struct prng prng = {seed};
        struct bench bench;
        uint32_t a, b;
        bench_open(&bench, "ring:8");
        bench.config.rendezvous = true;
        draw_pair(&prng, 8, &a, &b);
        uint64_t id = 1 + prng_below(&prng, 1000);
        work_send(&bench.work, a, id, b, 4096, 7);
        const struct sim_stall *stall = bench_stalls(&bench);
        CHECK_U64(stall->kind, SIM_STALL_UNMATCHED_SEND, "seed %" PRIu64, seed);
        CHECK_U64(stall->finding_count, 1, "seed %" PRIu64, seed);
        expect_finding(&stall->findings[0], 2, (uint32_t[]){a, b}, 1, &id);
        bench_close(&bench);
    }
}

static void a_send_nobody_receives_is_no_stall_without_rendezvous(void **state)
{
    (void)state;
    struct bench bench;
    bench_open(&bench, "ring:8");
    work_send(&bench.work, 2, 1, 3, 32768, 7);
    CHECK_U64(bench_completes(&bench), 1110, "it arrives, and that ends the send (spec analytical §10.2)");
    bench_close(&bench);
}

static void a_rendezvous_with_another_tag_names_both_sides(void **state)
{
    (void)state;
    struct bench bench;
    bench_open(&bench, "ring:8");
    bench.config.rendezvous = true;
    work_send(&bench.work, 2, 11, 5, 4096, 7);
    work_recv(&bench.work, 5, 12, 2, 4096, 8);
    const struct sim_stall *stall = bench_stalls(&bench);
    CHECK_U64(stall->finding_count, 2, "the send and the receive");
    expect_finding(stall_finding(stall, SIM_STALL_UNMATCHED_SEND), 2, (uint32_t[]){2, 5}, 1, (uint64_t[]){11});
    expect_finding(stall_finding(stall, SIM_STALL_UNMATCHED_RECV), 2, (uint32_t[]){5, 2}, 1, (uint64_t[]){12});
    bench_close(&bench);
}

enum { CYCLE_RANKS = 16 };

/* Ranks who[0], who[1], … each receive from the next one before they send to the one before. */
static void plant_cycle(struct work *work, const uint32_t *who, uint32_t length, const uint64_t *recv_id)
{
    for (uint32_t i = 0; i < length; i++) {
        uint32_t next = who[(i + 1) % length];
        uint32_t before = who[(i + length - 1) % length];
        work_recv(work, who[i], recv_id[i], next, 1000, 3);
        work_compute(work, who[i], recv_id[i] + 1, 5);
        work_after(work, recv_id[i]);
        work_send(work, who[i], recv_id[i] + 2, before, 1000, 3);
        work_after(work, recv_id[i] + 1);
    }
}

/* The finding goes round exactly these ranks in this order, starting anywhere. */
static void expect_cycle(const struct sim_stall_finding *finding, const uint32_t *who, const uint64_t *ids,
                         uint32_t length, uint64_t seed)
{
    CHECK_U64(finding->kind, SIM_STALL_MESSAGE_CYCLE, "%s", finding->text);
    CHECK_U64(finding->rank_count, length, "seed %" PRIu64 ": %s", seed, finding->text);
    CHECK_U64(finding->node_count, length, "seed %" PRIu64 ": %s", seed, finding->text);
    uint32_t start = 0;
    while (start < length && who[start] != finding->ranks[0]) {
        start++;
    }
    for (uint32_t i = 0; i < length; i++) {
        CHECK_U64(finding->ranks[i], who[(start + i) % length], "seed %" PRIu64 ": %s", seed, finding->text);
        CHECK_U64(finding->nodes[i], ids[(start + i) % length], "seed %" PRIu64 ": %s", seed, finding->text);
    }
}

static void receives_that_wait_for_each_other_are_named_in_a_cycle(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 100; seed++) {
        struct prng prng = {seed};
        struct bench bench;
        uint32_t who[CYCLE_RANKS];
        uint64_t ids[CYCLE_RANKS];
        bench_open(&bench, "ring:4 ring:4");
        bench.config.rendezvous = seed % 4 == 0;
        prng_shuffle(&prng, who, CYCLE_RANKS);
        uint32_t length = 2 + prng_below(&prng, CYCLE_RANKS - 4);
        for (uint32_t i = 0; i < length; i++) {
            ids[i] = 10 + 10 * prng_below(&prng, 1000);
        }
        plant_cycle(&bench.work, who, length, ids);
        /* Two who have nothing to do with it, and one who waits for one of them that are in it. */
        uint32_t outside = who[CYCLE_RANKS - 1];
        work_send(&bench.work, who[CYCLE_RANKS - 2], 1, outside, 77, 1);
        work_recv(&bench.work, outside, 1, who[CYCLE_RANKS - 2], 77, 1);
        work_recv(&bench.work, outside, 2, who[0], 78, 1);
        work_send(&bench.work, who[0], ids[0] + 3, outside, 78, 1);
        work_after(&bench.work, ids[0]);
        const struct sim_stall *stall = bench_stalls(&bench);
        CHECK_U64(stall->finding_count, 1, "one reason however many wait, seed %" PRIu64, seed);
        expect_cycle(&stall->findings[0], who, ids, length, seed);
        CHECK_U64(stall->wait_total, length + 1, "things that wait");
        bench_close(&bench);
    }
}

/* A rank in a cycle may wait for something else as well: the cycle is found all the same, and so is the rest. */
static void a_cycle_is_found_beside_another_wait_of_its_ranks(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 100; seed++) {
        struct prng prng = {seed};
        struct bench bench;
        uint32_t who[CYCLE_RANKS];
        uint64_t ids[CYCLE_RANKS];
        bench_open(&bench, "ring:4 ring:4");
        prng_shuffle(&prng, who, CYCLE_RANKS);
        uint32_t length = 2 + prng_below(&prng, CYCLE_RANKS - 4);
        for (uint32_t i = 0; i < length; i++) {
            ids[i] = 10 + 10 * prng_below(&prng, 1000);
        }
        plant_cycle(&bench.work, who, length, ids);
        uint32_t distracted = who[prng_below(&prng, length)];
        uint32_t silent = who[CYCLE_RANKS - 1];
        uint64_t other = seed % 2 == 0 ? 5 : 50000; /* before or after the one that matters */
        work_recv(&bench.work, distracted, other, silent, 123, 1);
        const struct sim_stall *stall = bench_stalls(&bench);
        CHECK_U64(stall->finding_count, 2, "the cycle and the other receive, seed %" PRIu64, seed);
        bool cycle_first = stall->findings[0].node_count == length && stall->findings[0].nodes[0] != other;
        expect_cycle(&stall->findings[cycle_first ? 0 : 1], who, ids, length, seed);
        expect_finding(&stall->findings[cycle_first ? 1 : 0], 2, (uint32_t[]){distracted, silent}, 1, &other);
        bench_close(&bench);
    }
}

/* More reasons than are told: each one told stays as it was told. */
static void the_last_finding_told_keeps_its_nodes(void **state)
{
    (void)state;
    struct bench bench;
    bench_open(&bench, "ring:64");
    for (uint32_t pair = 0; pair < 12; pair++) {
        work_send(&bench.work, 2 * pair + 1, 100 + pair, 2 * pair, 4096, 7);
        work_recv(&bench.work, 2 * pair, 200 + pair, 2 * pair + 1, 4096, 8);
    }
    work_recv(&bench.work, 40, 300, 41, 4096, 8);
    const struct sim_stall *stall = bench_stalls(&bench);
    CHECK(stall->finding_count >= 12, "findings told");
    for (uint32_t pair = 0; pair < 12; pair++) {
        expect_finding(&stall->findings[pair], 2, (uint32_t[]){2 * pair, 2 * pair + 1}, 2,
                       (uint64_t[]){200 + pair, 100 + pair});
    }
    CHECK_U64(stall->wait_total, 13, "things that wait, told or not");
    bench_close(&bench);
}

TEST_MAIN(a_receive_without_a_send_is_named, a_message_of_another_size_or_tag_is_named_with_its_receive,
          a_send_that_waits_for_its_receiver_is_named, a_send_nobody_receives_is_no_stall_without_rendezvous,
          a_rendezvous_with_another_tag_names_both_sides, receives_that_wait_for_each_other_are_named_in_a_cycle,
          a_cycle_is_found_beside_another_wait_of_its_ranks, the_last_finding_told_keeps_its_nodes)
