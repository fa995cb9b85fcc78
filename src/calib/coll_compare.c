/* SPDX-License-Identifier: Apache-2.0 */
/* Rows come in series, and the series of a machine follow each other, since they are sorted by everything but the
 * operation and the size first. */
#include "calib/coll_compare.h"

#include <math.h>
#include <string.h>

#include "base/numbers.h"

enum { LARGE_BYTES = 16 << 20 };

/* `logs` are ln(predicted / measured); they come back as absolute values in order. */
static struct coll_errors errors_of(double *logs, uint32_t count)
{
    struct coll_errors errors = {.count = count};
    double sum = 0;
    double signed_sum = 0;
    if (count == 0) {
        return errors;
    }
    for (uint32_t i = 0; i < count; i++) {
        signed_sum += logs[i];
        logs[i] = fabs(logs[i]);
        sum += logs[i];
    }
    numbers_sort(logs, count);
    errors.mean = expm1(sum / count);
    errors.bias = expm1(signed_sum / count);
    errors.median = expm1(logs[count / 2]);
    errors.ninetieth = expm1(logs[(uint32_t)(0.9 * (count - 1))]);
    errors.worst = expm1(logs[count - 1]);
    return errors;
}

static bool is_same_machine(const struct coll_item *a, const struct coll_item *b)
{
    return strcmp(a->source, b->source) == 0 && strcmp(a->gpu, b->gpu) == 0 && strcmp(a->nccl, b->nccl) == 0 &&
           a->row.question.nodes == b->row.question.nodes && a->row.question.gpus == b->row.question.gpus;
}

static double predict(const struct coll_item *item, const struct timing_curve *left_out)
{
    struct timing_machine machine = item->row.machine;
    struct orr_coll_answer answer;
    struct orr_error err;
    machine.left_out = left_out;
    return timing_estimate(&machine, &item->row.question, &answer, &err) == ORR_OK ? answer.us : NAN;
}

static const struct timing_curve *curve_of(const struct coll_item *item)
{
    const struct timing_curves shipped = timing_curves_shipped();
    const struct timing_curve *curves = shipped.curves; /* constants of the program */
    for (size_t i = 0; i < shipped.count; i++) {
        const struct timing_curve *curve = curves + i;
        if (strcmp(curve->source, item->source) == 0 && strcmp(curve->gpu, item->row.machine.gpu->name) == 0 &&
            curve->version == item->row.machine.version && curve->nodes == item->row.question.nodes &&
            curve->gpus == item->row.question.gpus) {
            return curve;
        }
    }
    return NULL;
}

static uint32_t logs_of(const struct coll_rows *rows, const double *predicted, uint32_t first, uint32_t count,
                        uint64_t above, double *logs)
{
    uint32_t kept = 0;
    for (uint32_t i = first; i < first + count; i++) {
        if (rows->items[i].row.question.bytes >= above && !isnan(predicted[i])) {
            logs[kept++] = log(predicted[i] / rows->items[i].row.us);
        }
    }
    return kept;
}

/* The items of one machine from `first` on. */
static void compare_machine(const struct coll_rows *rows, uint32_t first, uint32_t count, double *logs,
                            struct coll_compared *compared)
{
    struct coll_machine_errors *machine = &compared->machines[compared->machine_count];
    const struct timing_curve *own = curve_of(&rows->items[first]);
    *machine = (struct coll_machine_errors){.item = &rows->items[first]};
    for (uint32_t i = first; i < first + count; i++) {
        compared->predicted[i] = predict(&rows->items[i], NULL);
    }
    machine->all = errors_of(logs, logs_of(rows, compared->predicted, first, count, 0, logs));
    machine->large = errors_of(logs, logs_of(rows, compared->predicted, first, count, LARGE_BYTES + 1, logs));
    bool one_node = rows->items[first].row.question.nodes == 1;
    compared->fitted[compared->machine_count++] = own != NULL ? "curves" : one_node ? "" : "constants";
    if (own != NULL) {
        uint32_t kept = 0;
        for (uint32_t i = first; i < first + count; i++) {
            double us = predict(&rows->items[i], own);
            if (!isnan(us)) {
                logs[kept++] = log(us / rows->items[i].row.us);
            }
        }
        machine->left_out = errors_of(logs, kept);
    }
}

static void calib_coll_compare_ops(const struct coll_rows *rows, double *logs, struct coll_compared *compared)
{
    for (uint32_t op = 0; op < ORR_COLL_OP_COUNT; op++) {
        uint32_t kept = 0;
        for (uint32_t i = 0; i < rows->count; i++) {
            if (rows->items[i].row.question.op == op && !isnan(compared->predicted[i])) {
                logs[kept++] = log(compared->predicted[i] / rows->items[i].row.us);
            }
        }
        compared->ops[op] = errors_of(logs, kept);
    }
}

enum orr_status coll_compare(const struct coll_rows *rows, struct arena *arena, struct coll_compared *compared,
                             struct orr_error *err)
{
    size_t most = rows->count > 0 ? rows->count : 1;
    *compared = (struct coll_compared){.machines = arena_alloc(arena, most * sizeof *compared->machines),
                                       .predicted = arena_alloc(arena, most * sizeof *compared->predicted),
                                       .fitted = arena_alloc(arena, most * sizeof *compared->fitted)};
    double *logs = arena_alloc(arena, most * sizeof *logs);
    if (compared->machines == NULL || compared->predicted == NULL || compared->fitted == NULL || logs == NULL) {
        return mem_error(arena->mem, "the comparison", err);
    }
    for (uint32_t first = 0; first < rows->count;) {
        uint32_t end = first + 1;
        while (end < rows->count && is_same_machine(&rows->items[first], &rows->items[end])) {
            end++;
        }
        compare_machine(rows, first, end - first, logs, compared);
        first = end;
    }
    calib_coll_compare_ops(rows, logs, compared);
    return ORR_OK;
}
