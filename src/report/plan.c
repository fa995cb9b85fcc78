/* SPDX-License-Identifier: Apache-2.0 */
#include "report/plan.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "io/json_write.h"
#include "report/chart.h"
#include "report/train.h"

enum { PLAN_PARTS_TOLD = 3 };

static const char *const plan_recomputes[] = {
#define WORD_X(symbol, word) word,
    ORR_TRAIN_RECOMPUTES(WORD_X)
#undef WORD_X
};

/* Where `slower` loses against `best`: its largest losses, in parts of the best step. */
static void plan_text_losses(const struct orr_train_result *best, const struct orr_train_result *slower, FILE *stream)
{
    const struct {
        const char *name;
        double lost;
    } parts[] = {
#define PART_X(key, name, field) {name, ((double)slower->field - (double)best->field) / (double)best->step_ns},
        REPORT_TRAIN_PARTS(PART_X)
#undef PART_X
    };
    size_t count = sizeof parts / sizeof parts[0];
    double before = 1e300;
    for (int told = 0; told < PLAN_PARTS_TOLD; told++) {
        size_t most = count;
        for (size_t i = 0; i < count; i++) {
            if (parts[i].lost < before && parts[i].lost > 0.002 &&
                (most == count || parts[i].lost > parts[most].lost)) {
                most = i;
            }
        }
        if (most == count) {
            break;
        }
        before = parts[most].lost;
        (void)fprintf(stream, "%s%s %+.1f %%", told == 0 ? ": " : ", ", parts[most].name, 100 * parts[most].lost);
    }
}

static double plan_slower(const struct orr_train_result *best, const struct orr_train_result *other)
{
    return 100 * ((double)other->step_ns / (double)best->step_ns - 1);
}

static void plan_text_row(const struct orr_train_result *row, const char *rank, bool on_front, FILE *stream)
{
    const struct orr_train_plan *plan = &row->plan;
    char order[ORR_TRAIN_ORDER_ROOM];
    (void)fprintf(stream,
                  "%4s %4" PRIu32 " %3" PRIu32 " %3" PRIu32 " %3" PRIu32 " %5" PRIu32 " %3" PRIu32 " %4" PRIu32
                  " %5" PRIu32 " %-9s %-14s %11.1f %9.0f %5.1f %8.1f%s  %s\n",
                  rank, plan->tp, plan->pp, plan->cp, plan->ep, plan->dp, plan->vpp, plan->zero, plan->micro_batch,
                  plan_recomputes[plan->recompute], orr_train_order_text(plan, false, order),
                  (double)row->step_ns * 1e-6, row->tokens_per_s_per_gpu, 100 * row->mfu,
                  (double)row->memory.total * 1e-9, on_front ? "*" : " ", row->bound_by);
}

static void plan_text_table(const struct orr_plan_result *result, FILE *stream)
{
    char rank[16];
    (void)fprintf(stream, "%4s %4s %3s %3s %3s %5s %3s %4s %5s %-9s %-14s %11s %9s %5s %8s   %s\n", "", "tp", "pp",
                  "cp", "ep", "dp", "vpp", "zero", "micro", "recompute", "order", "step ms", "tok/s/GPU", "MFU", "GB",
                  "bound by");
    for (uint32_t i = 0; i < result->count; i++) {
        (void)snprintf(rank, sizeof rank, "%" PRIu32, i + 1);
        plan_text_row(&result->rows[i].result, rank, result->rows[i].on_front, stream);
    }
    if (result->has_own) {
        plan_text_row(&result->own, "own", false, stream);
    }
}

static void plan_text_none(const struct orr_plan_result *result, FILE *stream)
{
    const struct orr_train_memory *memory = &result->smallest.memory;
    if (memory->total == 0) {
        (void)fputs("No plan is legal.\n", stream);
        return;
    }
    double states = (double)memory->weights + (double)memory->gradients + (double)memory->optimizer;
    (void)fprintf(stream, "No plan fits. The smallest needs %.1f GB of %.1f GB a GPU, %.1f GB too much:\n",
                  (double)memory->total * 1e-9, (double)memory->device * 1e-9,
                  ((double)memory->total - (double)memory->device) * 1e-9);
    plan_text_row(&result->smallest, "", false, stream);
    (void)fprintf(stream, "Weights, gradients and optimizer states are %.1f GB of it, activations %.1f GB: %s\n",
                  states * 1e-9, (double)memory->activations * 1e-9,
                  states > (double)memory->activations
                      ? "more GPUs, or ones with more memory, hold them."
                      : "shorter sequences (parameter 'seq'), or GPUs with more memory, leave room for them.");
}

/* By what the order of ranks of the best plan wins, and how the groups lie in both. */
static void plan_text_order(const struct orr_train_result *best, const struct orr_train_result *other, FILE *stream)
{
    char text[ORR_TRAIN_ORDER_ROOM];
    const struct orr_train_result *both[] = {best, other};
    double slower = plan_slower(best, other);
    (void)fprintf(stream, "Its ranks in %s order, %s, %s %.1f %%",
                  orr_train_order_is_usual(&other->plan) ? "the usual" : "another",
                  orr_train_order_text(&other->plan, false, text), slower < 0 ? "gain" : "lose",
                  slower < 0 ? -slower : slower);
    plan_text_losses(best, other, stream);
    for (int i = 0; i < 2; i++) {
        (void)fprintf(stream, "\n  %-14s ", orr_train_order_text(&both[i]->plan, false, text));
        report_train_places(both[i], stream);
    }
    (void)fputc('\n', stream);
}

void report_plan_text(const struct orr_plan_result *result, FILE *stream)
{
    const struct orr_train_result *any = result->count > 0 ? &result->rows[0].result : &result->smallest;
    (void)fprintf(stream,
                  "Job           %s on %" PRIu32 " x %s (%s), %" PRIu32 " samples of %" PRIu32 " tokens a step\n",
                  any->model.name, any->plan.gpus, any->device, any->framework, any->plan.global_batch, any->plan.seq);
    (void)fprintf(stream,
                  "Plans         %" PRIu64 " predicted of %" PRIu64 ": %" PRIu64 " need too much memory, %" PRIu64
                  " are not legal\n",
                  result->predicted, result->plans, result->too_large, result->refused);
    if (result->orders > 0) {
        (void)fprintf(stream, "Orders        %" PRIu64 " other orders of ranks predicted for those that fit\n",
                      result->orders);
    }
    if (result->count == 0) {
        plan_text_none(result, stream);
        return;
    }
    const struct orr_train_result *best = &result->rows[0].result;
    if (result->predicted == result->plans) {
        (void)fprintf(stream, "Best          of all of them; %.1f times as long as all products at the device's peak\n",
                      (double)best->step_ns * 1e-9 / result->bound_s);
    } else {
        (void)fprintf(stream, "Best          of those predicted %s; no plan takes less than %.1f ms, %.0f %% less\n",
                      result->interrupted ? "before the interruption" : "in time", result->bound_s * 1e3,
                      100 * (1 - result->bound_s * 1e9 / (double)best->step_ns));
    }
    plan_text_table(result, stream);
    if (result->count > 1) {
        const struct orr_train_result *second = &result->rows[1].result;
        (void)fprintf(stream, "The second loses %.1f %%", plan_slower(best, second));
        plan_text_losses(best, second, stream);
        (void)fputc('\n', stream);
    }
    if (result->has_other) {
        plan_text_order(best, &result->other, stream);
    }
    if (result->has_own) {
        double slower = plan_slower(best, &result->own);
        (void)fprintf(stream, "Yours is %.1f %% %s%s", slower < 0 ? -slower : slower, slower < 0 ? "faster" : "slower",
                      result->own.memory.fits ? "" : " and does not fit");
        plan_text_losses(best, &result->own, stream);
        (void)fputc('\n', stream);
    }
    (void)fputs("*: nothing above or below it is both faster and smaller. zero: 0 none, 1 states, 3 weights too.\n",
                stream);
}

static void plan_json_row(struct json_writer *writer, const struct orr_train_result *row)
{
    report_train_plan_json(&row->plan, writer);
    json_write_member_u64(writer, "step_time_ns", row->step_ns);
#define PART_X(key, name, field) json_write_member_u64(writer, key, row->field);
    REPORT_TRAIN_PARTS(PART_X)
#undef PART_X
    json_write_member_fixed(writer, "tokens_per_s_per_gpu", row->tokens_per_s_per_gpu, 3);
    json_write_member_fixed(writer, "mfu", row->mfu, 4);
    json_write_member_u64(writer, "memory_bytes", row->memory.total);
    json_write_member_bool(writer, "fits", row->memory.fits);
    json_write_member_string(writer, "bound_by", row->bound_by);
}

static void plan_json_job(struct json_writer *writer, const struct orr_train_result *row)
{
    json_write_member_string(writer, "model", row->model.name);
    json_write_member_string(writer, "device", row->device);
    json_write_member_string(writer, "framework", row->framework);
    json_write_member_u64(writer, "gpus", row->plan.gpus);
    json_write_member_u64(writer, "global_batch", row->plan.global_batch);
    json_write_member_u64(writer, "seq", row->plan.seq);
}

void report_plan_json(const struct orr_plan_result *result, FILE *stream)
{
    struct json_writer writer;
    json_write_document(&writer, stream);
    json_write_member_string(&writer, "kind", "plan");
    plan_json_job(&writer, result->count > 0 ? &result->rows[0].result : &result->smallest);
    json_write_member_u64(&writer, "plans", result->plans);
    json_write_member_u64(&writer, "predicted", result->predicted);
    json_write_member_bool(&writer, "interrupted", result->interrupted);
    json_write_member_u64(&writer, "refused", result->refused);
    json_write_member_u64(&writer, "too_large", result->too_large);
    json_write_member_u64(&writer, "orders", result->orders);
    json_write_member_fixed(&writer, "bound_s", result->bound_s, 6);
    json_write_member_array(&writer, "best", false);
    for (uint32_t i = 0; i < result->count; i++) {
        json_write_object(&writer, true);
        plan_json_row(&writer, &result->rows[i].result);
        json_write_member_bool(&writer, "on_front", result->rows[i].on_front);
        json_write_object_end(&writer);
    }
    json_write_array_end(&writer);
    if (result->has_other) {
        json_write_member_object(&writer, "other_order", true);
        plan_json_row(&writer, &result->other);
        json_write_object_end(&writer);
    }
    if (result->has_own) {
        json_write_member_object(&writer, "own", true);
        plan_json_row(&writer, &result->own);
        json_write_object_end(&writer);
    }
    json_write_document_end(&writer);
}

/* ---- the chart ---- */

enum { PLAN_LABEL = 96 };

static void plan_chart_label(const struct orr_train_plan *plan, const char *before, char label[PLAN_LABEL])
{
    (void)snprintf(label, PLAN_LABEL,
                   "%stp %" PRIu32 " pp %" PRIu32 " cp %" PRIu32 " ep %" PRIu32 " dp %" PRIu32 " zero %" PRIu32
                   " micro %" PRIu32 "%s%s",
                   before, plan->tp, plan->pp, plan->cp, plan->ep, plan->dp, plan->zero, plan->micro_batch,
                   plan->recompute == ORR_TRAIN_RECOMPUTE_NONE ? "" : " recompute ",
                   plan->recompute == ORR_TRAIN_RECOMPUTE_NONE ? "" : plan_recomputes[plan->recompute]);
}

static int plan_chart_order(const void *a, const void *b)
{
    const struct chart_point *p = a;
    const struct chart_point *q = b;
    if (p->x != q->x) {
        return p->x < q->x ? -1 : 1;
    }
    return p->y < q->y ? -1 : p->y > q->y ? 1 : strcmp(p->label, q->label);
}

void report_plan_chart(const struct orr_plan_result *result, FILE *stream)
{
    char labels[ORR_PLAN_TOP + 1][PLAN_LABEL];
    struct chart_point points[ORR_PLAN_TOP + 1];
    char title[160];
    struct chart_points chart = {
        .title = title, .x = "memory of a GPU, GB", .y = "step, ms", .points = points, .count = 0};
    for (uint32_t i = 0; i < result->count + (result->has_own ? 1 : 0); i++) {
        const struct orr_train_result *row = i < result->count ? &result->rows[i].result : &result->own;
        plan_chart_label(&row->plan, i < result->count ? "" : "own: ", labels[i]);
        bool on_front = i < result->count && result->rows[i].on_front;
        points[chart.count++] = (struct chart_point){.x = (double)row->memory.total * 1e-9,
                                                     .y = (double)row->step_ns * 1e-6,
                                                     .label = labels[i],
                                                     .joined = on_front,
                                                     .named = on_front || i == result->count};
    }
    qsort(points, chart.count, sizeof points[0], plan_chart_order);
    (void)snprintf(title, sizeof title, "%" PRIu32 " of %" PRIu64 " plans; joined: none is both faster and smaller",
                   chart.count, result->predicted);
    chart_points_put(&chart, stream);
}
