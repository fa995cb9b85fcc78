/* SPDX-License-Identifier: Apache-2.0 */
/* Programs that end, with one thing spoilt at one rank: the run stalls, and the rank at fault is among those named. */
#include "tests/sim/random_work.h"

static const char *const machines[] = {"ring:8", "switch:6", "full:5", "ring:4 ring:2", "ring:2 switch:3 full:2",
                                       "ring:7"};

struct setting {
    struct bench bench;
    struct prng prng;
    uint32_t members[16];
};

static void open_setting(struct setting *setting, uint64_t seed)
{
    setting->prng = (struct prng){seed};
    bench_open(&setting->bench, machines[seed % COUNT_OF(machines)]);
    random_work(&setting->bench, &setting->prng, 5 + prng_below(&setting->prng, 40), setting->members);
    setting->bench.config.backend = seed / 2 % 2 == 0 ? ORR_BACKEND_AWARE : ORR_BACKEND_UNAWARE;
    setting->bench.config.jitter = seed % 3 == 0 ? 0.3 : 0.0;
}

/* Each waits for each in these. */
static bool everyone_is_needed(const struct bench *bench, const struct work_node *node)
{
    bool rooted = node->comm_type == COLL_BROADCAST || node->comm_type == COLL_REDUCE ||
                  node->comm_type == COLL_GATHER || node->comm_type == COLL_SCATTER;
    return node->type == TRACE_COLL && !rooted && (node->group == 0 || bench->groups[0].count > 1);
}

/* Replaces a node that `spoils` picks by a moment of compute, so that the rest goes on as it was. */
static struct work_node *spoil(struct setting *setting, bool (*spoils)(const struct bench *, const struct work_node *))
{
    struct work *work = &setting->bench.work;
    uint32_t start = work->count == 0 ? 0 : prng_below(&setting->prng, work->count);
    for (uint32_t i = 0; i < work->count; i++) {
        struct work_node *node = &work->nodes[(start + i) % work->count];
        if (spoils(&setting->bench, node)) {
            node->type = TRACE_COMP;
            node->duration_us = 1;
            return node;
        }
    }
    return NULL;
}

static bool names(const struct sim_stall_finding *finding, uint32_t rank)
{
    for (uint32_t i = 0; i < finding->rank_count; i++) {
        if (finding->ranks[i] == rank) {
            return true;
        }
    }
    return false;
}

static void expect_named(const struct sim_stall *stall, uint32_t rank, uint64_t seed)
{
    for (uint32_t i = 0; i < stall->finding_count; i++) {
        if (names(&stall->findings[i], rank)) {
            return;
        }
    }
    for (uint32_t i = 0; i < stall->finding_count; i++) {
        print_error("found: %s: %s\n", sim_stall_kind_name(stall->findings[i].kind), stall->findings[i].text);
    }
    CHECK(false, "seed %" PRIu64 ": rank %u is named", seed, rank);
}

static void a_rank_that_leaves_a_collective_out_is_among_those_named(void **state)
{
    (void)state;
    uint32_t stalls = 0;
    for (uint64_t seed = 1; seed <= 200; seed++) {
        struct setting setting;
        open_setting(&setting, seed);
        const struct work_node *left_out = spoil(&setting, everyone_is_needed);
        if (left_out != NULL) {
            uint32_t rank = left_out->rank;
            expect_named(bench_stalls(&setting.bench), rank, seed);
            stalls++;
        }
        bench_close(&setting.bench);
    }
    CHECK(stalls > 150, "stalls were planted: %u", stalls);
}

static bool is_send(const struct bench *bench, const struct work_node *node)
{
    (void)bench;
    return node->type == TRACE_SEND;
}

static void a_send_left_out_is_missed_by_its_receiver(void **state)
{
    (void)state;
    uint32_t stalls = 0;
    for (uint64_t seed = 1; seed <= 200; seed++) {
        struct setting setting;
        open_setting(&setting, seed);
        const struct work_node *left_out = spoil(&setting, is_send);
        if (left_out != NULL) {
            uint32_t from = left_out->rank;
            uint32_t to = left_out->peer;
            const struct sim_stall *stall = bench_stalls(&setting.bench);
            bool found = false;
            for (uint32_t i = 0; i < stall->finding_count; i++) {
                const struct sim_stall_finding *finding = &stall->findings[i];
                found = found || (finding->kind == SIM_STALL_UNMATCHED_RECV && finding->ranks[0] == to &&
                                  finding->ranks[1] == from);
            }
            CHECK(found, "seed %" PRIu64 ": rank %u misses a message from rank %u: %s", seed, to, from,
                  stall->findings[0].text);
            stalls++;
        }
        bench_close(&setting.bench);
    }
    CHECK(stalls > 100, "stalls were planted: %u", stalls);
}

static bool is_shared(const struct bench *bench, const struct work_node *node)
{
    return everyone_is_needed(bench, node) && node->comm_type != COLL_BARRIER;
}

/* One rank makes a collective ten times as large. */
static void a_rank_with_a_larger_collective_is_among_those_named(void **state)
{
    (void)state;
    uint32_t stalls = 0;
    for (uint64_t seed = 1; seed <= 200; seed++) {
        struct setting setting;
        open_setting(&setting, seed);
        struct work_node *larger = spoil(&setting, is_shared);
        if (larger != NULL) {
            larger->type = TRACE_COLL;
            larger->duration_us = 0;
            larger->bytes = larger->bytes * 10 + 1000000;
            uint32_t rank = larger->rank;
            const struct sim_stall *stall = bench_stalls(&setting.bench);
            expect_named(stall, rank, seed);
            stalls++;
        }
        bench_close(&setting.bench);
    }
    CHECK(stalls > 150, "stalls were planted: %u", stalls);
}

TEST_MAIN(a_rank_that_leaves_a_collective_out_is_among_those_named, a_send_left_out_is_missed_by_its_receiver,
          a_rank_with_a_larger_collective_is_among_those_named)
