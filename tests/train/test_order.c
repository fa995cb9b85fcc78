/* SPDX-License-Identifier: Apache-2.0 */
/* How ranks are numbered: groups divide the ranks, lie in servers as they are costed, and are Megatron-LM's. */
#include "tests/check.h"
#include "tests/prng.h"

#include "coll/timing/timing.h"
#include "planner/orders.h"
#include "train/order.h"

static struct orr_error err;

static struct orr_train_plan shuffled(uint64_t seed)
{
    static const uint32_t powers[] = {1, 2, 4, 8};
    struct prng prng = {seed};
    struct orr_train_plan plan = {.tp = powers[prng_below(&prng, 4)],
                                  .cp = powers[prng_below(&prng, 3)],
                                  .dp = powers[prng_below(&prng, 4)],
                                  .pp = powers[prng_below(&prng, 4)]};
    plan.ep = powers[prng_below(&prng, 3)];
    plan.ep = plan.tp * plan.cp * plan.dp % plan.ep == 0 ? plan.ep : 1;
    plan.etp = plan.ep > 1 ? 1 : plan.tp;
    plan.gpus = plan.tp * plan.cp * plan.dp * plan.pp;
    for (uint8_t i = 0; i < ORR_TRAIN_AXIS_COUNT; i++) {
        uint32_t other = prng_below(&prng, i + 1u);
        plan.order[i] = plan.order[other];
        plan.order[other] = i + 1;
    }
    return plan;
}

static void every_rank_is_in_one_group_of_each_kind(void **state)
{
    (void)state;
    uint32_t legal = 0;
    for (uint64_t seed = 0; seed < 400; seed++) {
        struct orr_train_plan plan = shuffled(seed);
        if (order_settle(&plan, &err) != ORR_OK) {
            CHECK(plan.ep > 1 && plan.pp > 1, "seed %" PRIu64 ": %s", seed, err.text);
            continue;
        }
        legal++;
        for (int kind = 0; kind <= ORDER_KINDS; kind++) {
            const struct work_layout group =
                kind == ORDER_KINDS ? order_stages(&plan) : order_groups(&plan, (enum order_kind)kind);
            uint32_t size = work_layout_size(&group), seen = 0;
            for (uint32_t i = 0; i < plan.gpus / size; i++) {
                for (uint32_t k = 0; k < size; k++, seen++) {
                    uint64_t rank = work_layout_member(&group, i, k);
                    CHECK(rank < plan.gpus, "seed %" PRIu64 " kind %d: rank %" PRIu64, seed, kind, rank);
                    CHECK_U64(work_layout_group(&group, (uint32_t)rank), i, "seed %" PRIu64 " kind %d", seed, kind);
                    CHECK(k == 0 || rank > work_layout_member(&group, i, k - 1), "seed %" PRIu64, seed);
                    CHECK(kind == ORDER_KINDS || order_stage_of(&plan, (uint32_t)rank) ==
                                                     order_stage_of(&plan, (uint32_t)work_layout_member(&group, i, 0)),
                          "seed %" PRIu64 " kind %d: a group is inside a stage", seed, kind);
                }
            }
            CHECK_U64(seen, plan.gpus, "seed %" PRIu64 " kind %d", seed, kind);
        }
    }
    CHECK(legal > 250, "%u plans", legal);
}

/* What is costed is what the ranks that are written say. */
static void groups_are_costed_as_their_ranks_lie_in_servers(void **state)
{
    (void)state;
    enum { SERVER = 8 };
    for (uint64_t seed = 0; seed < 400; seed++) {
        struct orr_train_plan plan = shuffled(seed);
        if (order_settle(&plan, &err) != ORR_OK || plan.gpus < SERVER) {
            continue;
        }
        for (int kind = 0; kind < ORDER_KINDS; kind++) {
            const struct work_layout group = order_groups(&plan, (enum order_kind)kind);
            struct order_place place = order_place_of(&group, SERVER);
            uint32_t size = work_layout_size(&group), ranks[256];
            for (uint32_t i = 0; i < plan.gpus / size && size > 1; i++) {
                struct orr_coll_question question;
                for (uint32_t k = 0; k < size; k++) {
                    ranks[k] = (uint32_t)work_layout_member(&group, i, k);
                }
                timing_place_ranks(ranks, size, SERVER, &question);
                CHECK(question.gpus == place.inside && question.nodes == place.servers &&
                          question.groups == place.groups,
                      "seed %" PRIu64 " kind %d: %u in %u, costed %u in %u", seed, kind, question.gpus, question.nodes,
                      place.inside, place.servers);
            }
        }
    }
}

static void groups_are_those_of_megatron(void **state)
{
    (void)state;
    /* 16 GPUs of tp 2, pp 4: what parallel_state.py says in its comments, and what its --use-tp-pp-dp-mapping means. */
    struct orr_train_plan plan = {.gpus = 16, .tp = 2, .cp = 1, .ep = 1, .etp = 2, .dp = 2, .pp = 4};
    CHECK_OK(order_settle(&plan, &err), &err);
    struct work_layout dp = order_groups(&plan, ORDER_DP), pp = order_stages(&plan);
    CHECK(work_layout_member(&dp, 0, 1) == 2 && work_layout_member(&dp, 1, 0) == 1, "dp: 0 and 2, 1 and 3");
    CHECK(work_layout_member(&pp, 0, 1) == 4 && work_layout_member(&pp, 0, 3) == 12, "pp: 0, 4, 8, 12");
    struct orr_train_plan other = plan;
    memcpy(other.order, (uint8_t[]){1, 2, 3, 5, 4}, sizeof other.order);
    dp = order_groups(&other, ORDER_DP), pp = order_stages(&other);
    CHECK(work_layout_member(&dp, 0, 1) == 8 && work_layout_member(&pp, 0, 3) == 6, "dp: 0 and 8; pp: 0, 2, 4, 6");
    /* cp and dp that pp lies between are two digits. */
    struct orr_train_plan both = {.gpus = 16, .tp = 2, .cp = 2, .ep = 1, .etp = 2, .dp = 2, .pp = 2};
    memcpy(both.order, other.order, sizeof both.order);
    CHECK_OK(order_settle(&both, &err), &err);
    dp = order_groups(&both, ORDER_DP);
    static const uint64_t wanted[] = {0, 2, 8, 10};
    for (uint32_t k = 0; k < 4; k++) {
        CHECK_U64(work_layout_member(&dp, 0, k), wanted[k], "member %u", k);
    }
    /* One digit where they follow each other, whichever is first. */
    memcpy(both.order, (uint8_t[]){1, 4, 2, 5, 3}, sizeof both.order);
    dp = order_groups(&both, ORDER_DP);
    CHECK(dp.count == 4 && dp.outer_count <= 1 && dp.stride == 2, "%u ranks", dp.count);
}

static void an_order_that_cannot_be_is_refused(void **state)
{
    (void)state;
    static const struct {
        const char *order, *says;
    } bad[] = {{"tp-xp", "\"xp\" is none of tp, cp, ep, dp, pp"},
               {"tp-pp-tp", "\"tp\" stands in it twice"},
               {"", "\"\" is none of"},
               {"tp,dp", "\"tp,dp\" is none of"},
               {"tp-pp-ep", "it says nothing of dp, of which there are 4"},
               {"tp-cp-ep-pp-dp", "they must be the same ranks, as they are where pp stands last"}};
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        struct orr_train_options options;
        struct orr_train_result result;
        orr_train_options_init(&options);
        options.model = "mixtral-8x7b", options.machine = "dgx-h100:2";
        options.plan.tp = 2, options.plan.pp = 2, options.plan.dp = 4, options.plan.ep = 4;
        enum orr_status status = orr_train_set(&options, "order", bad[i].order, &err);
        status = status == ORR_OK ? orr_train_step(&options, &result, &err) : status;
        CHECK(status == ORR_EINVAL && strstr(err.text, bad[i].says) != NULL, "%s: %s", bad[i].order, err.text);
    }
    /* Experts that take in as many ranks as tp and cp do may have it. */
    struct orr_train_plan plan = {.gpus = 16, .tp = 2, .cp = 2, .ep = 4, .etp = 1, .dp = 2, .pp = 2};
    memcpy(plan.order, (uint8_t[]){1, 2, 3, 5, 4}, sizeof plan.order);
    CHECK_OK(order_settle(&plan, &err), &err);
}

static void orders_that_lie_alike_are_listed_once(void **state)
{
    (void)state;
    uint8_t orders[ORDERS_MOST][ORR_TRAIN_AXIS_COUNT];
    static const uint8_t usual[] = {1, 2, 3, 4, 5};
    struct orr_train_plan plan = {.gpus = 64, .tp = 8, .cp = 1, .ep = 1, .etp = 8, .dp = 2, .pp = 4};
    CHECK_OK(order_settle(&plan, &err), &err);
    /* Whole servers of tp: dp and pp cross in either order, and lie inside in no other way than two of dp or four, two
     * or one stages. */
    uint32_t count = orders_list(&plan, 8, orders);
    CHECK(memcmp(orders[0], usual, sizeof usual) == 0 && count == 5, "%u orders", count);
    CHECK_U64(orders_list(&plan, 64, orders), 1 + 3, "in one server the stages' distance alone differs");
    struct orr_train_plan one = {.gpus = 8, .tp = 8, .cp = 1, .ep = 1, .etp = 8, .dp = 1, .pp = 1};
    CHECK_OK(order_settle(&one, &err), &err);
    CHECK_U64(orders_list(&one, 8, orders), 1, "one axis has one order");
}

/* By the closed form and by a simulation of the written ranks with the same collective times. */
static void prediction_and_simulation_rank_orders_alike(void **state)
{
    (void)state;
    static const char *const orders[] = {"tp-dp-pp", "tp-pp-dp", "pp-tp-dp", "dp-tp-pp", "dp-pp-tp"};
    double predicted[COUNT_OF(orders)], simulated[COUNT_OF(orders)];
    for (size_t i = 0; i < COUNT_OF(orders); i++) {
        struct orr_train_options options;
        struct orr_train_result result;
        orr_train_options_init(&options);
        options.model = "llama3-8b", options.machine = "dgx-h100:4", options.without_neighbours = true;
        options.plan.tp = 2, options.plan.pp = 4, options.plan.zero = 1, options.plan.global_batch = 32;
        options.simulates = true, options.collective_times = ORR_COLLECTIVES_MODEL;
        CHECK_OK(orr_train_set(&options, "order", orders[i], &err), &err);
        CHECK_OK(orr_train_step(&options, &result, &err), &err);
        predicted[i] = (double)result.step_ns;
        simulated[i] = (double)result.simulated.step_ns;
        CHECK(fabs(simulated[i] / predicted[i] - 1) < 0.05, "%s: %.3f ms, simulated %.3f", orders[i],
              predicted[i] * 1e-6, simulated[i] * 1e-6);
        CHECK_NEAR((double)result.simulated.exposed_tp_ns, (double)result.exposed_tp_ns, 0.02);
    }
    for (size_t i = 0; i < COUNT_OF(orders); i++) {
        for (size_t k = 0; k < i; k++) {
            bool apart = fabs(predicted[i] / predicted[k] - 1) > 0.02;
            CHECK(!apart || (predicted[i] < predicted[k]) == (simulated[i] < simulated[k]), "%s and %s", orders[i],
                  orders[k]);
        }
    }
    CHECK(predicted[4] > 1.05 * predicted[0], "tp over servers is slow");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_rank_is_in_one_group_of_each_kind),
        cmocka_unit_test(groups_are_costed_as_their_ranks_lie_in_servers),
        cmocka_unit_test(groups_are_those_of_megatron),
        cmocka_unit_test(an_order_that_cannot_be_is_refused),
        cmocka_unit_test(orders_that_lie_alike_are_listed_once),
        cmocka_unit_test(prediction_and_simulation_rank_orders_alike),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
