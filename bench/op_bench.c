/* SPDX-License-Identifier: Apache-2.0 */
/* Shapes of GEMM and attention in turn, on and off the grid, on devices with data and without; the target is 2 us each.
 */
#include "bench/op_bench.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>

#include "bench/child.h"
#include "orrery.h"

static const struct op_case {
    const char *name, *title;
    uint32_t opens;
    uint64_t predictions;
    bool collectives;
} cases[] = {
    {"op-open", "the operators' data opened 20 times", 20, 0, false},
    {"op-predict", "10 million predictions of operators", 1, 10000000, false},
    {"coll-time", "a million times of collectives", 1, 1000000, true},
};
enum { CASES = sizeof cases / sizeof cases[0] };

const char *bench_op_name(int index)
{
    return index < CASES ? cases[index].name : NULL;
}

const char *bench_op_title(int index)
{
    return index < CASES ? cases[index].title : NULL;
}

static bool run_once(const void *context, void *result)
{
    const struct op_case *item = context;
    static const char *const names[] = {"h100", "gb300", "a100", "mi300x"};
    struct orr_op_data *data = NULL;
    struct orr_error err = {0};
    uint32_t devices[4];
    double sum = 0;
    for (uint32_t i = 0; i < item->opens; i++) {
        orr_op_data_close(data);
        data = NULL;
        if (orr_op_data_open(NULL, 0, &data, &err) != ORR_OK) {
            (void)fprintf(stderr, "%s: %s\n", item->name, err.text);
            return false;
        }
    }
    for (int i = 0; i < 4; i++) {
        if (orr_op_device_find(names[i], &devices[i], &err) != ORR_OK) {
            return false;
        }
    }
    for (uint64_t i = 0; i < item->predictions; i++) {
        struct orr_op_prediction p;
        struct orr_op op = {.kind = ORR_OP_GEMM, .dims = {i % 8000 + 1, 128 * (i % 97 + 1), 64 * (i % 113 + 1)}};
        if (i % 4 == 3) {
            op = (struct orr_op){.kind = ORR_OP_ATTENTION, .dims = {i % 16 + 1, i % 9000 + 1, 32, 8, 128}};
        }
        orr_op_predict(data, devices[i % 4], i % 2 == 0 ? ORR_OP_SERVING : ORR_OP_KERNEL, &op, &p);
        sum += p.us;
    }
    orr_op_data_close(data);
    *(double *)result = sum;
    return isfinite(sum);
}

/* Measured, carried over and modelled in turn: one node, several, racks. */
static bool time_collectives(const void *context, void *result)
{
    const struct op_case *item = context;
    static const char *const gpus[] = {"h100", "gb200", "b300", "mi300x"};
    struct orr_coll_timer *timers[4] = {NULL};
    struct orr_error err = {0};
    double sum = 0;
    bool is_open = true;
    for (int i = 0; i < 4 && is_open; i++) {
        const struct orr_coll_machine machine = {.gpu = gpus[i]};
        is_open = orr_coll_timer_open(&machine, &timers[i], &err) == ORR_OK;
    }
    for (uint64_t i = 0; i < item->predictions && is_open; i++) {
        const struct orr_coll_question question = {.op = (enum orr_coll_op)(i % ORR_COLL_OP_COUNT),
                                                   .bytes = UINT64_C(1) << i % 32,
                                                   .nodes = (uint32_t)(i % 5 == 0 ? 1 : i % 130 + 1),
                                                   .gpus = i % 3 == 0 ? 4 : 8};
        struct orr_coll_answer answer;
        is_open = orr_coll_time(timers[i / 7 % 4], &question, &answer, &err) == ORR_OK;
        sum += is_open ? answer.us : 0;
    }
    for (int i = 0; i < 4; i++) {
        orr_coll_timer_close(timers[i]);
    }
    if (!is_open) {
        (void)fprintf(stderr, "%s: %s\n", item->name, err.text);
    }
    *(double *)result = sum;
    return is_open && isfinite(sum);
}

bool bench_op_run(int index, unsigned repeat)
{
    const struct op_case *item = &cases[index];
    double best = INFINITY;
    for (unsigned i = 0; i < repeat || i == 0; i++) {
        struct bench_usage usage;
        double sum = 0;
        if (!bench_child(item->collectives ? time_collectives : run_once, item, &sum, sizeof sum, &usage) ||
            !usage.complete) {
            return false;
        }
        double seconds = usage.user_s + usage.system_s;
        best = seconds < best ? seconds : best;
    }
    double each = best / (item->predictions > 0 ? (double)item->predictions : item->opens);
    (void)printf("%-14s %8.3f s, %.3g us each\n", item->name, best, each * 1e6);
    return true;
}
