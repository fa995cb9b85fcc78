/* SPDX-License-Identifier: Apache-2.0 */
/* Which phases a chunk goes through (spec analytical §6.5), and with which numbers (§9.2-9.5). */
#include "coll/plan.h"
#include "tests/check.h"

enum { DIMS = 3 };

static const uint32_t sizes[DIMS] = {2, 4, 8};

static void make_dims(struct coll_dim *dims, enum coll_algo algo)
{
    uint32_t stride = 1;
    for (uint32_t d = 0; d < DIMS; d++) {
        dims[d] = (struct coll_dim){.ring = {.size = sizes[d], .stride = stride}, .impl = {.algo = algo}};
        dims[d].involved = true;
        stride *= sizes[d];
    }
}

struct want {
    enum coll_type type;
    uint32_t dim;
    uint64_t bytes, message;
    uint32_t sends;
    enum coll_queue_rule rule;
};

static void expect_phases(const struct coll_plan *plan, const struct want *want, uint32_t count, const char *what)
{
    CHECK_U64(plan->phase_count, count, "%s: phases", what);
    for (uint32_t i = 0; i < count; i++) {
        const struct coll_phase *phase = &plan->phases[i];
        CHECK_U64(phase->type, want[i].type, "%s: type of phase %u", what, i);
        CHECK_U64(phase->dim, want[i].dim, "%s: dimension of phase %u", what, i);
        CHECK_U64(phase->ring.size, sizes[want[i].dim], "%s: ring of phase %u", what, i);
        CHECK_U64(phase->bytes, want[i].bytes, "%s: bytes of phase %u", what, i);
        CHECK_U64(phase->message_bytes, want[i].message, "%s: message of phase %u", what, i);
        CHECK_U64(phase->sends, want[i].sends, "%s: sends of phase %u", what, i);
        CHECK_U64(phase->rule, want[i].rule, "%s: queue rule of phase %u", what, i);
    }
}

static void an_all_reduce_scatters_down_reduces_and_gathers_back(void **state)
{
    (void)state;
    struct coll_dim dims[DIMS];
    struct coll_plan plan;
    make_dims(dims, COLL_RING);
    static const struct want want[] = {
        {COLL_REDUCE_SCATTER, 0, 6400, 3200, 1, COLL_QUEUE_FIRST},
        {COLL_REDUCE_SCATTER, 1, 3200, 800, 3, COLL_QUEUE_FIRST},
        {COLL_ALL_REDUCE, 2, 800, 100, 14, COLL_QUEUE_FIRST},
        {COLL_ALL_GATHER, 1, 800, 800, 3, COLL_QUEUE_LAST},
        {COLL_ALL_GATHER, 0, 3200, 3200, 1, COLL_QUEUE_LAST},
    };
    coll_plan_build(COLL_ALL_REDUCE, 6400, dims, DIMS, true, false, &plan);
    expect_phases(&plan, want, COUNT_OF(want), "localBWAware");
}

static void a_baseline_all_reduce_is_one_all_reduce_a_dimension(void **state)
{
    (void)state;
    struct coll_dim dims[DIMS];
    struct coll_plan plan;
    make_dims(dims, COLL_RING);
    static const struct want want[] = {
        {COLL_ALL_REDUCE, 0, 6400, 3200, 2, COLL_QUEUE_ANY},
        {COLL_ALL_REDUCE, 1, 6400, 1600, 6, COLL_QUEUE_ANY},
        {COLL_ALL_REDUCE, 2, 6400, 800, 14, COLL_QUEUE_ANY},
    };
    coll_plan_build(COLL_ALL_REDUCE, 6400, dims, DIMS, false, false, &plan);
    expect_phases(&plan, want, COUNT_OF(want), "baseline");
}

static void the_other_collectives_are_one_phase_a_dimension(void **state)
{
    (void)state;
    struct coll_dim dims[DIMS];
    struct coll_plan plan;
    make_dims(dims, COLL_RING);
    static const struct want scatter[] = {
        {COLL_REDUCE_SCATTER, 0, 6400, 3200, 1, COLL_QUEUE_ANY},
        {COLL_REDUCE_SCATTER, 1, 3200, 800, 3, COLL_QUEUE_ANY},
        {COLL_REDUCE_SCATTER, 2, 800, 100, 7, COLL_QUEUE_ANY},
    };
    static const struct want gather[] = {
        {COLL_ALL_GATHER, 2, 100, 100, 7, COLL_QUEUE_ANY},
        {COLL_ALL_GATHER, 1, 800, 800, 3, COLL_QUEUE_ANY},
        {COLL_ALL_GATHER, 0, 3200, 3200, 1, COLL_QUEUE_ANY},
    };
    static const struct want to_all[] = {
        {COLL_ALL_TO_ALL, 0, 6400, 3200, 1, COLL_QUEUE_ANY},
        {COLL_ALL_TO_ALL, 1, 6400, 1600, 6, COLL_QUEUE_ANY},
        {COLL_ALL_TO_ALL, 2, 6400, 800, 28, COLL_QUEUE_ANY},
    };
    coll_plan_build(COLL_REDUCE_SCATTER, 6400, dims, DIMS, true, false, &plan);
    expect_phases(&plan, scatter, COUNT_OF(scatter), "reduce-scatter");
    coll_plan_build(COLL_ALL_GATHER, 100, dims, DIMS, true, false, &plan);
    expect_phases(&plan, gather, COUNT_OF(gather), "all-gather");
    coll_plan_build(COLL_ALL_TO_ALL, 6400, dims, DIMS, true, false, &plan);
    expect_phases(&plan, to_all, COUNT_OF(to_all), "all-to-all");
}

static void a_dimension_not_involved_or_of_one_is_left_out(void **state)
{
    (void)state;
    struct coll_dim dims[DIMS];
    struct coll_plan plan;
    make_dims(dims, COLL_RING);
    dims[2].involved = false;
    static const struct want want[] = {
        {COLL_REDUCE_SCATTER, 0, 6400, 3200, 1, COLL_QUEUE_FIRST},
        {COLL_ALL_REDUCE, 1, 3200, 800, 6, COLL_QUEUE_FIRST},
        {COLL_ALL_GATHER, 0, 3200, 3200, 1, COLL_QUEUE_LAST},
    };
    coll_plan_build(COLL_ALL_REDUCE, 6400, dims, DIMS, true, false, &plan);
    expect_phases(&plan, want, COUNT_OF(want), "without the last dimension");
    dims[0].ring.size = 1;
    coll_plan_build(COLL_ALL_REDUCE, 6400, dims, DIMS, true, false, &plan);
    CHECK_U64(plan.phase_count, 1, "a dimension of one has nobody to talk to");
    CHECK_U64(plan.phases[0].dim, 1, "the middle one is left");
    dims[1].involved = false;
    coll_plan_build(COLL_ALL_REDUCE, 6400, dims, DIMS, true, false, &plan);
    CHECK_U64(plan.phase_count, 0, "no dimension, no phase");
    coll_plan_build(COLL_ALL_GATHER, 6400, dims, 0, true, false, &plan);
    CHECK_U64(plan.phase_count, 0, "no dimension at all");
}

static void direct_keeps_as_many_in_flight_as_its_window_allows(void **state)
{
    (void)state;
    static const struct {
        uint32_t window;
        bool group;
        uint32_t parallel, processed;
    } rows[] = {
        {0, false, 7, 7}, {3, false, 3, 3}, {7, false, 7, 7}, {100, false, 7, 7}, {0, true, 7, 49}, {3, true, 3, 21},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct coll_dim dim = {.ring = {.size = 8, .stride = 1}, .involved = true};
        struct coll_plan plan;
        dim.impl = (struct coll_impl){.algo = COLL_DIRECT, .window = rows[i].window};
        coll_plan_build(COLL_ALL_REDUCE, 800, &dim, 1, true, rows[i].group, &plan);
        CHECK_U64(plan.phases[0].parallel, rows[i].parallel, "window %u", rows[i].window);
        CHECK_U64(plan.phases[0].processed, rows[i].processed, "window %u", rows[i].window);
        CHECK_U64(plan.phases[0].sends, 14, "all-reduce among 8");
        CHECK_U64(plan.phases[0].message_bytes, 100, "an eighth");
    }
}

static void halving_is_a_program_where_members_do_not_pair_up(void **state)
{
    (void)state;
    for (uint32_t size = 2; size <= 70; size++) {
        struct coll_dim dim = {.ring = {.size = size, .stride = 1}, .impl = {.algo = COLL_HALVING_DOUBLING}};
        struct coll_plan plan;
        dim.involved = true;
        coll_plan_build(COLL_ALL_REDUCE, 1 << 20, &dim, 1, true, false, &plan);
        bool power = (size & (size - 1)) == 0;
        CHECK_U64(plan.phases[0].method, power ? COLL_BY_HALVING : COLL_BY_PROGRAM, "%u members", size);
    }
}

static void a_tree_leaves_the_size_as_it_is(void **state)
{
    (void)state;
    struct coll_dim dims[DIMS];
    struct coll_plan plan;
    make_dims(dims, COLL_DOUBLE_BINARY_TREE);
    coll_plan_build(COLL_ALL_REDUCE, 6400, dims, DIMS, true, false, &plan);
    CHECK_U64(plan.phase_count, 5, "phases");
    for (uint32_t i = 0; i < plan.phase_count; i++) {
        CHECK_U64(plan.phases[i].method, COLL_BY_TREE, "phase %u", i);
        CHECK_U64(plan.phases[i].bytes, 6400, "phase %u", i);
    }
}

TEST_MAIN(an_all_reduce_scatters_down_reduces_and_gathers_back, a_baseline_all_reduce_is_one_all_reduce_a_dimension,
          the_other_collectives_are_one_phase_a_dimension, a_dimension_not_involved_or_of_one_is_left_out,
          direct_keeps_as_many_in_flight_as_its_window_allows, halving_is_a_program_where_members_do_not_pair_up,
          a_tree_leaves_the_size_as_it_is)
