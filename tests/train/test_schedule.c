/* SPDX-License-Identifier: Apache-2.0 */
/* Pipelines: how long the schedules take against what is known of them in closed form. */
#include "tests/check.h"
#include "train/schedule.h"

static struct orr_error err;
static struct mem mem;

enum { STAGES_MOST = 64 };

static double pipeline_us(enum orr_train_schedule schedule, uint32_t stages, uint32_t chunks, uint32_t micro_batches,
                          struct schedule_chunk chunk)
{
    struct schedule_chunk all[STAGES_MOST];
    struct schedule_result result;
    for (uint32_t i = 0; i < stages * chunks; i++) {
        all[i] = chunk;
    }
    struct schedule_request request = {.schedule = schedule,
                                       .stages = stages,
                                       .chunks = chunks,
                                       .micro_batches = micro_batches,
                                       .chunk = all,
                                       .hidden_sends = true};
    CHECK_OK(schedule_run(&request, &mem, &result, &err), &err);
    return result.us;
}

static void one_forward_one_backward_waits_for_one_pass_less_than_it_has_stages(void **state)
{
    (void)state;
    for (uint32_t stages = 1; stages <= 16; stages *= 2) {
        for (uint32_t micro = stages; micro <= 4 * stages; micro += 3) {
            double us =
                pipeline_us(ORR_TRAIN_SCHEDULE_ONE_F_ONE_B, stages, 1, micro, (struct schedule_chunk){1, 2, 1, 0});
            CHECK_NEAR(us, 3.0 * (micro + stages - 1), 1e-9);
        }
    }
}

static void gpipe_takes_as_long_as_1f1b(void **state)
{
    (void)state;
    struct schedule_chunk chunk = {1, 2, 1, 0};
    double one = pipeline_us(ORR_TRAIN_SCHEDULE_ONE_F_ONE_B, 8, 1, 32, chunk);
    CHECK_NEAR(pipeline_us(ORR_TRAIN_SCHEDULE_GPIPE, 8, 1, 32, chunk), one, 1e-9);
}

static void interleaving_divides_the_bubble_by_the_chunks(void **state)
{
    (void)state;
    for (uint32_t chunks = 1; chunks <= 4; chunks++) {
        double us = pipeline_us(ORR_TRAIN_SCHEDULE_INTERLEAVED, 8, chunks, 32,
                                (struct schedule_chunk){12.0 / chunks, 24.0 / chunks, 12.0 / chunks, 0});
        CHECK_NEAR(us, 36.0 * 32 + 36.0 * 7 / chunks, 1e-9);
    }
}

static void weights_gradients_fill_the_bubble(void **state)
{
    (void)state;
    struct schedule_chunk chunk = {1, 2, 1, 0};
    double plain = pipeline_us(ORR_TRAIN_SCHEDULE_ONE_F_ONE_B, 4, 1, 16, chunk);
    double filled = pipeline_us(ORR_TRAIN_SCHEDULE_ZERO_BUBBLE, 4, 1, 16, chunk);
    CHECK(filled < plain, "%g, not below %g", filled, plain);
    CHECK(filled >= 3 * 16, "%g is less than the work", filled);
}

static void fewer_micro_batches_than_stages_go_through(void **state)
{
    (void)state;
    struct schedule_chunk chunk = {1, 2, 1, 0};
    for (int schedule = 0; schedule < ORR_TRAIN_SCHEDULE_COUNT; schedule++) {
        for (uint32_t micro = 1; micro < 8; micro++) {
            double us = pipeline_us((enum orr_train_schedule)schedule, 8, 1, micro, chunk);
            CHECK(us >= 3.0 * micro && us <= 3.0 * (micro + 2 * 8), "schedule %d, %u: %g", schedule, micro, us);
        }
    }
}

static void sends_that_block_cost_the_sender(void **state)
{
    (void)state;
    struct schedule_chunk all[4];
    struct schedule_result hidden, shown;
    for (int i = 0; i < 4; i++) {
        all[i] = (struct schedule_chunk){10, 20, 10, 1};
    }
    struct schedule_request request = {
        .stages = 4, .chunks = 1, .micro_batches = 16, .chunk = all, .hidden_sends = true};
    CHECK_OK(schedule_run(&request, &mem, &hidden, &err), &err);
    request.hidden_sends = false;
    CHECK_OK(schedule_run(&request, &mem, &shown, &err), &err);
    CHECK(shown.us > hidden.us, "%g and %g", shown.us, hidden.us);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_forward_one_backward_waits_for_one_pass_less_than_it_has_stages),
        cmocka_unit_test(gpipe_takes_as_long_as_1f1b),
        cmocka_unit_test(interleaving_divides_the_bubble_by_the_chunks),
        cmocka_unit_test(weights_gradients_fill_the_bubble),
        cmocka_unit_test(fewer_micro_batches_than_stages_go_through),
        cmocka_unit_test(sends_that_block_cost_the_sender),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
