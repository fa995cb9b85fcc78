/* SPDX-License-Identifier: Apache-2.0 */
/* The calculators: each rule of a job's arithmetic, and what is said when it does not divide. */
#include "model/calc.h"
#include "tests/check.h"

static const struct orr_calc_level *level(const struct orr_calc_groups *groups, const char *name)
{
    for (uint32_t i = 0; i < groups->level_count; i++) {
        if (strcmp(groups->levels[i].name, name) == 0) {
            return &groups->levels[i];
        }
    }
    CHECK(false, "no level %s", name);
    return NULL;
}

static const struct {
    enum orr_calc_nesting nesting;
    const char *name;
    uint64_t degree, groups, block, stride;
} levels[] = {
    /* 64 ranks, tp 4, pp 2, ep 2 */
    {ORR_CALC_FOLDED, "TP", 4, 16, 4, 1},     {ORR_CALC_FOLDED, "EP", 2, 32, 8, 4},
    {ORR_CALC_FOLDED, "DP_EP", 4, 16, 32, 8}, {ORR_CALC_FOLDED, "DP", 8, 8, 32, 4},
    {ORR_CALC_FOLDED, "PP", 2, 32, 64, 32},   {ORR_CALC_OWN, "TP", 4, 16, 4, 1},
    {ORR_CALC_OWN, "EP", 2, 32, 8, 4},        {ORR_CALC_OWN, "PP", 2, 32, 16, 8},
    {ORR_CALC_OWN, "DP", 4, 16, 64, 16},
};

static void ranks_fall_into_groups_under_both_nestings(void **state)
{
    const struct orr_calc_degrees degrees = {.world = 64, .tp = 4, .pp = 2, .ep = 2};
    (void)state;
    for (size_t i = 0; i < COUNT_OF(levels); i++) {
        struct orr_calc_groups groups;
        struct orr_error err = {0};
        CHECK_OK(calc_groups(&degrees, levels[i].nesting, &groups, &err), &err);
        const struct orr_calc_level *got = level(&groups, levels[i].name);
        CHECK_U64(got->degree, levels[i].degree, "%s", levels[i].name);
        CHECK_U64(got->groups, levels[i].groups, "%s", levels[i].name);
        CHECK_U64(got->block, levels[i].block, "%s", levels[i].name);
        CHECK_U64(got->stride, levels[i].stride, "%s", levels[i].name);
    }
}

static void the_world_follows_from_the_degrees(void **state)
{
    const struct orr_calc_degrees degrees = {.dp = 4, .tp = 2, .cp = 2, .pp = 3, .ep = 2};
    struct orr_calc_groups groups;
    struct orr_error err = {0};
    (void)state;
    CHECK_OK(calc_groups(&degrees, ORR_CALC_FOLDED, &groups, &err), &err);
    CHECK_U64(groups.degrees.world, 48, "4 x 3 x 2 x 2");
    CHECK_OK(calc_groups(&degrees, ORR_CALC_OWN, &groups, &err), &err);
    CHECK_U64(groups.degrees.world, 96, "and the experts");
}

static const struct {
    struct orr_calc_degrees degrees;
    enum orr_calc_nesting nesting;
    const char *reason;
} bad_groups[] = {
    {{.world = 100, .tp = 8, .pp = 2},
     ORR_CALC_FOLDED,
     "world 100 is not a multiple of 16 (world = dp x pp x cp x tp); the nearest that are: 96 and 112"},
    {{.world = 64, .tp = 8, .ep = 3},
     ORR_CALC_FOLDED,
     "ep 3 does not divide 8 (dp, in which ep is folded); the nearest that do: 2 and 4"},
    {{.world = 64, .tp = 4, .ep = 8, .experts = 12},
     ORR_CALC_FOLDED,
     "ep 8 does not divide 12 (experts % ep = 0); the nearest that do: 6 and 12"},
    {{.world = 64, .tp = 8, .ep = 3}, ORR_CALC_OWN, "world = dp x pp x ep x cp x tp"},
    {{.world = 64, .tp = 8, .dp = 4}, ORR_CALC_FOLDED, "dp 4 is not world / (the rest) = 64 / 8 = 8"},
    {{.tp = 8}, ORR_CALC_OWN, "give the number of ranks"},
    {{.dp = UINT64_MAX, .tp = 8}, ORR_CALC_OWN, "does not fit 64 bits"},
    {{.world = 3, .tp = 8}, ORR_CALC_OWN, "the nearest that are: 8"},
};

static void what_does_not_divide_names_the_rule_and_the_nearest_values(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(bad_groups); i++) {
        struct orr_calc_groups groups;
        struct orr_error err = {0};
        CHECK(calc_groups(&bad_groups[i].degrees, bad_groups[i].nesting, &groups, &err) != ORR_OK, "%s",
              bad_groups[i].reason);
        CHECK_CONTAINS(err.text, bad_groups[i].reason);
    }
}

static void the_third_of_batch_size_and_count_is_found(void **state)
{
    static const struct orr_calc_batch given[] = {
        {.dp = 16, .batch = 1024, .micro_batch = 2},
        {.dp = 16, .batch = 1024, .micro_batches = 32},
        {.dp = 16, .micro_batch = 2, .micro_batches = 32, .dataset = 10000},
    };
    (void)state;
    for (size_t i = 0; i < COUNT_OF(given); i++) {
        struct orr_calc_batch found;
        struct orr_error err = {0};
        CHECK_OK(calc_batch(&given[i], &found, &err), &err);
        CHECK_U64(found.batch, 1024, "batch");
        CHECK_U64(found.micro_batch, 2, "micro-batch");
        CHECK_U64(found.micro_batches, 32, "micro-batches");
        CHECK_U64(found.batches, given[i].dataset / 1024, "batches");
        CHECK_U64(found.left_over, given[i].dataset % 1024, "left over");
    }
}

static void a_batch_that_does_not_divide_names_the_nearest(void **state)
{
    struct orr_calc_batch found;
    struct orr_error err = {0};
    (void)state;
    CHECK_STATUS(calc_batch(&(struct orr_calc_batch){.dp = 16, .batch = 1000, .micro_batch = 3}, &found, &err),
                 ORR_EINVAL);
    CHECK_CONTAINS(err.text, "batch 1000 is not a multiple of 48");
    CHECK_CONTAINS(err.text, "960 and 1008");
    CHECK_STATUS(calc_batch(&(struct orr_calc_batch){.dp = 16, .batch = 1000}, &found, &err), ORR_EINVAL);
    CHECK_STATUS(
        calc_batch(&(struct orr_calc_batch){.dp = 2, .batch = 8, .micro_batch = 1, .micro_batches = 2}, &found, &err),
        ORR_EINVAL);
    CHECK_CONTAINS(err.text, "= 4");
}

static void a_stage_sends_two_bytes_a_value_and_its_part_with_sequence_parallelism(void **state)
{
    struct orr_calc_pp_comm given = {.micro_batch = 2, .seq = 4096, .hidden = 8192, .tp = 8};
    struct orr_error err = {0};
    uint64_t bytes = 0;
    (void)state;
    CHECK_OK(calc_pp_comm(&given, &bytes, &err), &err);
    CHECK_U64(bytes, UINT64_C(2) * 2 * 4096 * 8192, "whole");
    given.sequence_parallel = true;
    CHECK_OK(calc_pp_comm(&given, &bytes, &err), &err);
    CHECK_U64(bytes, UINT64_C(2) * 2 * 4096 * 8192 / 8, "an eighth");
    given.seq = 4097;
    CHECK_STATUS(calc_pp_comm(&given, &bytes, &err), ORR_EINVAL);
    CHECK_CONTAINS(err.text, "4096 and 4104");
}

TEST_MAIN(ranks_fall_into_groups_under_both_nestings, the_world_follows_from_the_degrees,
          what_does_not_divide_names_the_rule_and_the_nearest_values, the_third_of_batch_size_and_count_is_found,
          a_batch_that_does_not_divide_names_the_nearest,
          a_stage_sends_two_bytes_a_value_and_its_part_with_sequence_parallelism)
