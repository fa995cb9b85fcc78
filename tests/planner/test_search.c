/* SPDX-License-Identifier: Apache-2.0 */
/* Plans that are searched: the best is one that `orrery train` finds best too, whatever is fixed and on any threads. */
#include "tests/check.h"

#include <stdlib.h>

static struct orr_error err;

static struct orr_plan_options asked(const char *model, const char *machine, uint32_t batch)
{
    struct orr_plan_options options;
    orr_plan_options_init(&options);
    options.job.model = model;
    options.job.machine = machine;
    options.job.plan.global_batch = batch;
    return options;
}

static struct orr_plan_result *found(const struct orr_plan_options *options)
{
    struct orr_plan_result *result = NULL;
    CHECK_OK(orr_plan_search(options, &result, &err), &err);
    return result;
}

static void no_plan_that_is_tried_by_hand_is_faster(void **state)
{
    (void)state;
    static const struct {
        uint32_t tp, pp, cp, zero, micro;
    } tried[] = {{1, 1, 1, 1, 1}, {2, 1, 1, 1, 1}, {8, 1, 1, 0, 2}, {1, 2, 1, 1, 1}, {2, 4, 1, 1, 2}, {1, 1, 2, 3, 1}};
    struct orr_plan_options options = asked("llama3-8b", "dgx-h100:2", 128);
    options.job.without_neighbours = true; /* all are then predicted by pieces, and the search is exact */
    struct orr_plan_result *result = found(&options);
    CHECK(result->count == 10 && result->predicted == result->plans, "%u plans", result->count);
    for (size_t i = 0; i < COUNT_OF(tried); i++) {
        struct orr_train_options job = options.job;
        struct orr_train_result one;
        job.plan.tp = tried[i].tp, job.plan.pp = tried[i].pp, job.plan.cp = tried[i].cp;
        job.plan.zero = tried[i].zero, job.plan.micro_batch = tried[i].micro, job.plan.sp = tried[i].tp > 1;
        CHECK_OK(orr_train_step(&job, &one, &err), &err);
        CHECK(!one.memory.fits || one.step_ns >= result->rows[0].result.step_ns, "plan %zu", i);
    }
    for (uint32_t i = 1; i < result->count; i++) {
        CHECK(result->rows[i].result.step_ns >= result->rows[i - 1].result.step_ns, "row %u", i);
        CHECK(result->rows[i].result.memory.fits, "row %u", i);
    }
    CHECK((double)result->rows[0].result.step_ns * 1e-9 > result->bound_s && result->bound_s > 0, "the bound");
    free(result);
}

static void what_is_fixed_stays(void **state)
{
    (void)state;
    struct orr_plan_options options = asked("mixtral-8x7b", "dgx-h100:4", 256);
    options.fix = "tp=2,zero=1,recompute=full";
    struct orr_plan_result *result = found(&options);
    CHECK(result->count > 0, "there is one");
    for (uint32_t i = 0; i < result->count; i++) {
        const struct orr_train_plan *plan = &result->rows[i].result.plan;
        CHECK(plan->tp == 2 && plan->zero == 1 && plan->recompute == ORR_TRAIN_RECOMPUTE_FULL, "row %u", i);
    }
    free(result);
    options.fix = "tpp=2";
    CHECK(orr_plan_search(&options, &result, &err) == ORR_EINVAL, "no such degree");
    CHECK(strstr(err.text, "'fix'") != NULL && strstr(err.text, "tp") != NULL, "%s", err.text);
    options.fix = "tp";
    CHECK(orr_plan_search(&options, &result, &err) == ORR_EINVAL, "no value");
    options.job.simulates = true;
    options.fix = NULL;
    CHECK(orr_plan_search(&options, &result, &err) == ORR_EINVAL, "thousands of simulations");
    CHECK(strstr(err.text, "parameter 'backend': plans are predicted") != NULL, "%s", err.text);
    options.job.simulates = false;
    options.fix = "tp=3";
    CHECK(orr_plan_search(&options, &result, &err) == ORR_EINVAL, "nothing is divided so");
}

static void the_best_order_of_ranks_is_found_and_told(void **state)
{
    (void)state;
    static const char *const orders[] = {"tp-cp-ep-dp-pp", "tp-cp-ep-pp-dp", "dp-tp-cp-ep-pp",
                                         "cp-tp-ep-dp-pp", "pp-tp-cp-ep-dp", "pp-dp-tp-cp-ep"};
    struct orr_plan_options options = asked("llama3-70b", "dgx-h100:8", 64);
    options.job.without_neighbours = true;
    options.fix = "tp=2,pp=4,cp=2,zero=1,recompute=full,micro-batch=1,vpp=1";
    struct orr_plan_result *result = found(&options);
    const struct orr_train_result *best = &result->rows[0].result;
    CHECK(result->count == 1 && result->orders > 5, "%u plans, %" PRIu64 " orders", result->count, result->orders);
    for (size_t i = 0; i < COUNT_OF(orders); i++) {
        char fix[128];
        (void)snprintf(fix, sizeof fix, "%s,order=%s", options.fix, orders[i]);
        struct orr_plan_options fixed = options;
        struct orr_train_options job = options.job;
        struct orr_train_result one;
        fixed.fix = fix;
        struct orr_plan_result *other = found(&fixed);
        CHECK(other->count == 1 && other->orders == 0 && !other->has_other, "%s is not searched", orders[i]);
        CHECK(other->rows[0].result.step_ns >= best->step_ns, "%s", orders[i]);
        job.plan = other->rows[0].result.plan;
        memset(job.plan.order, 0, sizeof job.plan.order);
        CHECK_OK(orr_train_set(&job, "order", orders[i], &err), &err);
        CHECK_OK(orr_train_step(&job, &one, &err), &err);
        CHECK_U64(one.step_ns, other->rows[0].result.step_ns, "%s as orrery train tells it", orders[i]);
        free(other);
    }
    CHECK(result->has_other && result->other.step_ns >= best->step_ns, "by how much another is slower");
    free(result);
    options.fix = "order=tp-dp-tp";
    CHECK(orr_plan_search(&options, &result, &err) == ORR_EINVAL, "an order with tp twice");
}

static void threads_change_nothing(void **state)
{
    (void)state;
    struct orr_plan_options options = asked("llama3-8b", "dgx-h100:1", 64);
    options.threads = 1;
    struct orr_plan_result *one = found(&options);
    options.threads = 3;
    struct orr_plan_result *three = found(&options);
    CHECK(one->count == three->count, "%u and %u", one->count, three->count);
    for (uint32_t i = 0; i < one->count; i++) {
        CHECK(memcmp(&one->rows[i].result.plan, &three->rows[i].result.plan, sizeof one->rows[i].result.plan) == 0,
              "row %u", i);
        CHECK_U64(one->rows[i].result.step_ns, three->rows[i].result.step_ns, "row %u", i);
    }
    free(one);
    free(three);
}

static void where_nothing_fits_the_smallest_is_told(void **state)
{
    (void)state;
    struct orr_plan_options options = asked("llama3-405b", "dgx-h100:1", 64);
    struct orr_plan_result *result = found(&options);
    CHECK_U64(result->count, 0, "plans that fit");
    CHECK(result->smallest.memory.total > result->smallest.memory.device, "405 billion do not fit on eight GPUs");
    CHECK_U64(result->too_large + result->refused, result->predicted, "all are too large");
    free(result);
    char text[4096] = "";
    options = asked("llama3-8b", "dgx-h100:1", 64);
    options.max_memory_gb = 5;
    result = found(&options);
    CHECK(result->count == 0 && result->smallest.memory.device == 5000000000, "the limit is what was said");
    FILE *stream = fmemopen(text, sizeof text, "w");
    CHECK_OK(orr_plan_print(result, stream, &err), &err);
    (void)fclose(stream);
    CHECK(strstr(text, "GB of 5.0 GB a GPU") != NULL && strstr(text, "more GPUs") != NULL, "%s", text);
    free(result);
}

static void ones_own_plan_is_compared(void **state)
{
    (void)state;
    struct orr_plan_options options = asked("llama3-8b", "dgx-h100:1", 64);
    options.job.plan.tp = 8;
    struct orr_plan_result *result = found(&options);
    CHECK(result->has_own && result->own.plan.tp == 8, "tp is %u", result->own.plan.tp);
    CHECK(result->own.step_ns > result->rows[0].result.step_ns, "eight ways are too many");
    free(result);
    options.job.plan.tp = 0;
    result = found(&options);
    CHECK(!result->has_own, "nothing was said");
    free(result);
}

static void the_objective_says_what_is_best(void **state)
{
    (void)state;
    struct orr_plan_options options = asked("llama3-8b", "dgx-h100:2", 128);
    struct orr_plan_result *fast = found(&options);
    options.objective = ORR_PLAN_JOULES;
    struct orr_plan_result *saving = found(&options);
    options.objective = ORR_PLAN_MEMORY;
    struct orr_plan_result *small = found(&options);
    CHECK(saving->rows[0].result.joules <= fast->rows[0].result.joules, "%g J", saving->rows[0].result.joules);
    CHECK(small->rows[0].result.memory.total < fast->rows[0].result.memory.total, "%" PRIu64 " bytes",
          small->rows[0].result.memory.total);
    for (uint32_t i = 1; i < saving->count; i++) {
        CHECK(saving->rows[i].result.joules >= saving->rows[i - 1].result.joules, "row %u", i);
    }
    free(fast);
    free(saving);
    free(small);
}

static void a_search_without_time_tells_that_it_did_not_end(void **state)
{
    (void)state;
    struct orr_plan_options options = asked("llama3-70b", "dgx-h100:64", 1024);
    options.seconds = 1e-6;
    struct orr_plan_result *result = found(&options);
    CHECK(result->predicted < result->plans, "%" PRIu64 " of %" PRIu64, result->predicted, result->plans);
    CHECK(result->count <= 1 && !result->has_other, "measured runs are asked of %u plans", result->count);
    free(result);
}

static bool until_fifty(void *context, uint64_t predicted, uint64_t plans)
{
    uint64_t *most = context;
    *most = plans;
    return predicted < 50;
}

static void a_search_that_is_ended_tells_what_it_had_found(void **state)
{
    (void)state;
    struct orr_plan_options options = asked("llama3-8b", "dgx-h100:2", 128);
    uint64_t plans = 0;
    char text[4096] = "";
    struct orr_plan_result *result = NULL;
    options.progress = until_fifty;
    options.progress_context = &plans;
    options.threads = 1;
    CHECK(orr_plan_search(&options, &result, &err) == ORR_EINTR, "%s", err.text);
    CHECK(result != NULL && result->interrupted && result->count > 0, "a table");
    CHECK(result->predicted >= 50 && result->predicted < plans && result->plans == plans, "%" PRIu64 " of %" PRIu64,
          result->predicted, result->plans);
    FILE *stream = fmemopen(text, sizeof text, "w");
    CHECK_OK(orr_plan_print(result, stream, &err), &err);
    (void)fclose(stream);
    CHECK(strstr(text, "of those predicted before the interruption") != NULL, "%s", text);
    free(result);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_plan_that_is_tried_by_hand_is_faster),
        cmocka_unit_test(what_is_fixed_stays),
        cmocka_unit_test(the_best_order_of_ranks_is_found_and_told),
        cmocka_unit_test(threads_change_nothing),
        cmocka_unit_test(where_nothing_fits_the_smallest_is_told),
        cmocka_unit_test(ones_own_plan_is_compared),
        cmocka_unit_test(the_objective_says_what_is_best),
        cmocka_unit_test(a_search_without_time_tells_that_it_did_not_end),
        cmocka_unit_test(a_search_that_is_ended_tells_what_it_had_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
