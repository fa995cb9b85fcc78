/* SPDX-License-Identifier: Apache-2.0 */
/* Ring, direct and halving-doubling, known by step number alone: acted out, every message meets its receive and every
 * contribution arrives. */
#include "coll/plan.h"
#include "tests/check.h"
#include "tests/coll/exchange.h"

enum { MOST = 40 };

static struct exchange exchange;

static void plan_one_dim(enum coll_algo algo, uint32_t window, enum coll_type type, uint32_t size, uint64_t bytes,
                         struct coll_plan *plan)
{
    struct coll_dim dim = {.ring = {.size = size, .stride = 1}, .impl = {.algo = algo, .window = window}};
    dim.involved = true;
    coll_plan_build(type, bytes, &dim, 1, true, false, plan);
    CHECK_U64(plan->phase_count, 1, "one dimension, one phase");
}

/* The packet machine without its clock: message k of every member leaves after its message k - P has come. */
static void act_packets(const struct coll_phase *phase, bool clockwise)
{
    uint32_t n = phase->ring.size;
    struct coll_halving_step steps[COLL_HALVING_MAX_STEPS];
    if (phase->method == COLL_BY_HALVING) {
        coll_halving_steps(phase->type, n, phase->bytes, phase->sends, steps);
    }
    exchange_begin(&exchange, n);
    for (uint32_t member = 0; member < n; member++) {
        for (uint32_t k = 0; k < phase->sends; k++) {
            uint32_t distance = phase->method == COLL_BY_DIRECT ? coll_direct_distance(n, k) : 1;
            uint32_t to = coll_ring_walk(&phase->ring, member, distance, clockwise);
            uint32_t from = coll_ring_walk(&phase->ring, member, distance, !clockwise);
            uint64_t bytes = phase->message_bytes;
            if (phase->method == COLL_BY_HALVING) {
                to = coll_halving_partner(&phase->ring, member, steps[k].offset);
                from = to;
                bytes = steps[k].bytes;
            }
            exchange_add(&exchange, member, true, to, bytes);
            exchange_add(&exchange, member, false, from, bytes);
        }
    }
    exchange_run(&exchange, coll_type_name((int32_t)phase->type));
}

static void expect_all_known(uint32_t size, const char *what)
{
    for (uint32_t member = 0; member < size; member++) {
        CHECK_U64(exchange.members[member].known, (UINT64_C(1) << size) - 1, "%s: member %u of %u", what, member, size);
    }
}

static const enum coll_type all_types[] = {COLL_ALL_REDUCE, COLL_REDUCE_SCATTER, COLL_ALL_GATHER, COLL_ALL_TO_ALL};

static void ring_messages_meet_their_receives_and_carry_everything_round(void **state)
{
    (void)state;
    struct coll_plan plan;
    for (uint32_t size = 2; size <= MOST; size++) {
        for (size_t t = 0; t < COUNT_OF(all_types); t++) {
            for (int clockwise = 0; clockwise <= 1; clockwise++) {
                plan_one_dim(COLL_RING, 0, all_types[t], size, 4096, &plan);
                act_packets(&plan.phases[0], clockwise != 0);
                expect_all_known(size, "ring");
            }
        }
    }
}

static void direct_messages_meet_their_receives_and_go_to_every_other(void **state)
{
    (void)state;
    struct coll_plan plan;
    for (uint32_t size = 2; size <= MOST; size++) {
        for (size_t t = 0; t < COUNT_OF(all_types); t++) {
            for (int clockwise = 0; clockwise <= 1; clockwise++) {
                plan_one_dim(COLL_DIRECT, size / 4, all_types[t], size, 4096, &plan);
                act_packets(&plan.phases[0], clockwise != 0);
                expect_all_known(size, "direct");
            }
        }
        for (uint32_t member = 0; member < size; member++) {
            uint64_t met = 0;
            for (uint32_t k = 0; k + 1 < size; k++) {
                struct coll_ring ring = {.size = size, .stride = 1};
                uint32_t to = coll_ring_walk(&ring, member, coll_direct_distance(size, k), 1);
                CHECK(to != member, "nobody sends to itself");
                met |= UINT64_C(1) << to;
            }
            met |= UINT64_C(1) << member;
            CHECK_U64(met, (UINT64_C(1) << size) - 1, "whom member %u of %u reaches", member, size);
        }
    }
}

static void halving_partners_are_each_others_partners_and_all_is_combined(void **state)
{
    (void)state;
    struct coll_plan plan;
    for (uint32_t size = 2; size <= 32; size *= 2) {
        for (size_t t = 0; t < 3; t++) {
            plan_one_dim(COLL_HALVING_DOUBLING, 0, all_types[t], size, 4096, &plan);
            CHECK_U64(plan.phases[0].method, COLL_BY_HALVING, "%u is a power of two", size);
            act_packets(&plan.phases[0], true);
            expect_all_known(size, "halving-doubling");
        }
        struct coll_ring ring = {.size = size, .stride = 1};
        for (uint32_t offset = 1; offset < size; offset *= 2) {
            for (uint32_t member = 0; member < size; member++) {
                uint32_t partner = coll_halving_partner(&ring, member, offset);
                CHECK_U64(coll_halving_partner(&ring, partner, offset), member, "offset %u of %u", offset, size);
            }
        }
    }
}

/* Spec analytical §9.4, n = 8. */
static void halving_sizes_are_truncated_step_by_step(void **state)
{
    (void)state;
    static const struct {
        enum coll_type type;
        uint64_t bytes;
        uint32_t offset[6];
        uint64_t sizes[6];
        uint32_t sends;
    } rows[] = {
        {COLL_ALL_REDUCE, 4096, {1, 2, 4, 4, 2, 1}, {2048, 1024, 512, 512, 1024, 2048}, 6},
        {COLL_ALL_REDUCE, 1001, {1, 2, 4, 4, 2, 1}, {500, 250, 125, 124, 248, 496}, 6},
        {COLL_REDUCE_SCATTER, 1001, {1, 2, 4}, {500, 250, 125}, 3},
        {COLL_ALL_GATHER, 1001, {4, 2, 1}, {1001, 2002, 4004}, 3},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct coll_halving_step steps[COLL_HALVING_MAX_STEPS];
        CHECK_U64(coll_halving_sends(rows[i].type, 8), rows[i].sends, "row %zu", i);
        coll_halving_steps(rows[i].type, 8, rows[i].bytes, rows[i].sends, steps);
        for (uint32_t k = 0; k < rows[i].sends; k++) {
            CHECK_U64(steps[k].offset, rows[i].offset[k], "row %zu, offset %u", i, k);
            CHECK_U64(steps[k].bytes, rows[i].sizes[k], "row %zu, size %u", i, k);
        }
    }
}

static void a_group_ring_walks_its_members_in_the_order_given(void **state)
{
    (void)state;
    static const uint32_t members[] = {9, 2, 7, 4};
    struct coll_ring ring = {.size = 4, .members = members};
    CHECK_U64(coll_ring_rank(&ring, 9, 0, coll_ring_walk(&ring, 0, 1, 1)), 2, "after the first comes the second");
    CHECK_U64(coll_ring_rank(&ring, 9, 0, coll_ring_walk(&ring, 0, 1, 0)), 4, "before the first comes the last");
    struct coll_ring grid = {.size = 4, .stride = 3};
    CHECK_U64(coll_ring_grid_index(&grid, 17), 1, "rank 17 in a ring of every third");
    CHECK_U64(coll_ring_rank(&grid, 17, 1, 3), 23, "member 3 of the same ring");
}

TEST_MAIN(ring_messages_meet_their_receives_and_carry_everything_round,
          direct_messages_meet_their_receives_and_go_to_every_other,
          halving_partners_are_each_others_partners_and_all_is_combined, halving_sizes_are_truncated_step_by_step,
          a_group_ring_walks_its_members_in_the_order_given)
