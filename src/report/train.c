/* SPDX-License-Identifier: Apache-2.0 */
#include "report/train.h"

#include <inttypes.h>
#include <string.h>

#include "base/plain.h"
#include "io/json_write.h"
#include "param/param.h"
#include "report/chart.h"

#define TRAIN_MEMORY(X)                                                                                                \
    X("weights", weights)                                                                                              \
    X("gradients", gradients)                                                                                          \
    X("optimizer", optimizer)                                                                                          \
    X("activations", activations)                                                                                      \
    X("buffers", buffers)                                                                                              \
    X("fragmentation", fragmentation)

struct train_part {
    const char *name;
    uint64_t ns;
};

/* The parts that are not nothing, and their shares of the whole. */
static void train_text_parts(const struct train_part *parts, size_t count, uint64_t whole, FILE *stream)
{
    for (size_t i = 0; i < count; i++) {
        if (parts[i].ns != 0) {
            (void)fprintf(stream, "  %c %-32s %12.3f ms %5.1f %%\n", i == 0 ? '=' : '+', parts[i].name,
                          (double)parts[i].ns * 1e-6, 100.0 * (double)parts[i].ns / (double)whole);
        }
    }
}

#define TRAIN_PART_COUNT(key, name, field) +1
enum { TRAIN_PARTS_ALL = 0 REPORT_TRAIN_PARTS(TRAIN_PART_COUNT) };

static void train_text_step(const struct orr_train_result *result, FILE *stream)
{
#define PART_X(key, name, field) {name, result->field},
    const struct train_part parts[] = {REPORT_TRAIN_PARTS(PART_X)};
#undef PART_X
    (void)fprintf(stream, "Step time     %.3f ms, bound by %s\n", (double)result->step_ns * 1e-6, result->bound_by);
    train_text_parts(parts, TRAIN_PARTS_ALL, result->step_ns, stream);
}

static void train_text_simulated(const struct orr_train_result *result, FILE *stream)
{
    const struct orr_train_simulated *simulated = &result->simulated;
#define PART_X(key, name, field) {name, simulated->field},
    const struct train_part parts[] = {REPORT_TRAIN_PARTS(PART_X)};
#undef PART_X
    if (simulated->step_ns == 0) {
        return;
    }
    double by_pieces = (double)result->step_ns / (result->moved > 0 ? result->moved : 1);
    (void)fprintf(stream,
                  "Simulated     %.3f ms on %s, backend %s: %+.1f %% of the prediction by pieces; rank %" PRIu32 " of",
                  (double)simulated->step_ns * 1e-6, simulated->machine, param_backends[simulated->backend],
                  100 * ((double)simulated->step_ns / by_pieces - 1), simulated->rank);
    (void)fprintf(stream, " %" PRIu32 "%s\n", result->plan.gpus, simulated->idle > 0 ? ", other GPUs idle" : "");
    train_text_parts(parts, TRAIN_PARTS_ALL, simulated->step_ns, stream);
}

static void train_json_simulated(const struct orr_train_simulated *simulated, struct json_writer *writer)
{
    if (simulated->step_ns == 0) {
        return;
    }
    json_write_member_object(writer, "simulated", false);
    json_write_member_string(writer, "machine", simulated->machine);
    json_write_member_string(writer, "backend", param_backends[simulated->backend]);
    json_write_member_u64(writer, "step_time_ns", simulated->step_ns);
#define PART_X(key, name, field) json_write_member_u64(writer, key, simulated->field);
    REPORT_TRAIN_PARTS(PART_X)
#undef PART_X
    json_write_member_u64(writer, "exposed_comm_ns", simulated->exposed_comm_ns);
    json_write_member_u64(writer, "rank", simulated->rank);
    json_write_member_u64(writer, "idle_gpus", simulated->idle);
    json_write_member_u64(writer, "nodes", simulated->nodes);
    json_write_member_u64(writer, "messages", simulated->messages);
    json_write_object_end(writer);
}

static void train_text_memory(const struct orr_train_memory *memory, FILE *stream)
{
    const struct {
        const char *name;
        uint64_t bytes;
    } kinds[] = {
#define KIND_X(name, field) {name, memory->field},
        TRAIN_MEMORY(KIND_X)
#undef KIND_X
    };
    double over = (double)memory->total - (double)memory->device;
    (void)fprintf(stream, "Memory        %.1f GB of %.1f GB a GPU", (double)memory->total * 1e-9,
                  (double)memory->device * 1e-9);
    if (memory->fits) {
        (void)fprintf(stream, ": fits, %.1f GB left\n", -over * 1e-9);
    } else {
        (void)fprintf(stream, ": does not fit, %.1f GB too much\n", over * 1e-9);
    }
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        (void)fprintf(stream, "  %c %-32s %12.2f GB\n", i == 0 ? '=' : '+', kinds[i].name,
                      (double)kinds[i].bytes * 1e-9);
    }
}

static void train_text_error(const struct orr_train_result *result, FILE *stream)
{
    if (result->nearest_count == 0) {
        return;
    }
    (void)fprintf(stream,
                  "Error         %.0f %% in two of three cases; moved by %+.1f %%, as the nearest measured runs say:\n",
                  100 * result->error, 100 * (result->moved - 1));
    for (uint32_t i = 0; i < result->nearest_count; i++) {
        (void)fprintf(stream, "%s%s%s", i % 4 == 0 ? "                " : ", ", result->nearest[i].id,
                      i % 4 == 3 || i + 1 == result->nearest_count ? "\n" : "");
    }
}

/* Of GPUs alone; a trillion tokens is what people train with. */
static void train_text_price(const struct orr_train_result *result, FILE *stream)
{
    double tokens = (double)result->plan.global_batch * result->plan.seq;
    (void)plain_fprintf(stream, "Energy        %.0f W a GPU, %.3f kWh a step", result->watts, result->joules / 3.6e6);
    if (tokens > 0) {
        (void)plain_fprintf(stream, ", %.1f MWh a trillion tokens", result->joules / 3.6e9 / tokens * 1e12);
    }
    if (result->gpu_hour > 0) {
        (void)plain_fprintf(stream, "\nCost          %.4g a step", result->cost);
        if (tokens > 0) {
            (void)plain_fprintf(stream, ", %.0f a trillion tokens", result->cost / tokens * 1e12);
        }
        (void)plain_fprintf(stream, ", at %.4g for a GPU and hour", result->gpu_hour);
    }
    (void)fputc('\n', stream);
}

void report_train_places(const struct orr_train_result *result, FILE *stream)
{
#define WORD_X(symbol, word) word,
    static const char *const axes[] = {ORR_TRAIN_AXES(WORD_X)};
#undef WORD_X
    const char *between = "";
    for (int i = 0; i < ORR_TRAIN_AXIS_COUNT; i++) {
        const struct orr_train_place *place = &result->places[i];
        if (place->ranks > 1 && place->servers <= 1) {
            (void)fprintf(stream, "%s%s inside a server", between, axes[i]);
        } else if (place->ranks > 1) {
            (void)fprintf(stream, "%s%s over %" PRIu32 " servers, %" PRIu32 " in each", between, axes[i],
                          place->servers, place->inside);
        }
        between = place->ranks > 1 ? "; " : between;
    }
}

void report_train_text(const struct orr_train_result *result, FILE *stream)
{
    const struct orr_train_plan *plan = &result->plan;
    char order[ORR_TRAIN_ORDER_ROOM];
    (void)fprintf(stream, "Model         %s, %.3f billion parameters", result->model.name,
                  (double)result->parameters.total * 1e-9);
    if (result->parameters.active != result->parameters.total) {
        (void)fprintf(stream, ", %.3f of them for a token", (double)result->parameters.active * 1e-9);
    }
    (void)fprintf(stream,
                  "\nPlan          %" PRIu32 " x %s: tp %" PRIu32 ", pp %" PRIu32 ", cp %" PRIu32 ", ep %" PRIu32
                  ", dp %" PRIu32 "%s%s; %" PRIu32 " samples of %" PRIu32 " tokens in micro-batches of %" PRIu32
                  " (%s)\n",
                  plan->gpus, result->device, plan->tp, plan->pp, plan->cp, plan->ep, plan->dp,
                  orr_train_order_is_usual(plan) ? "" : ", order ",
                  orr_train_order_is_usual(plan) ? "" : orr_train_order_text(plan, false, order), plan->global_batch,
                  plan->seq, plan->micro_batch, result->framework);
    if (!orr_train_order_is_usual(plan)) {
        (void)fputs("Ranks         ", stream);
        report_train_places(result, stream);
        (void)fputc('\n', stream);
    }
    train_text_step(result, stream);
    train_text_simulated(result, stream);
    (void)fprintf(stream, "Throughput    %.0f tokens/s, %.1f a GPU; %.1f TFLOP/s a GPU, MFU %.1f %%\n",
                  result->tokens_per_s, result->tokens_per_s_per_gpu, result->tflops_per_gpu, 100 * result->mfu);
    train_text_error(result, stream);
    train_text_memory(&result->memory, stream);
    train_text_price(result, stream);
}

static void train_json_price(const struct orr_train_result *result, struct json_writer *writer)
{
    double tokens = (double)result->plan.global_batch * result->plan.seq;
    double trillion = tokens > 0 ? 1e12 / tokens : 0;
    json_write_member_fixed(writer, "watts_per_gpu", result->watts, 1);
    json_write_member_fixed(writer, "joules_per_step", result->joules, 1);
    json_write_member_fixed(writer, "kwh_per_trillion_tokens", result->joules / 3.6e6 * trillion, 1);
    if (result->gpu_hour > 0) {
        json_write_member_fixed(writer, "gpu_hour", result->gpu_hour, 6);
        json_write_member_fixed(writer, "cost_per_step", result->cost, 6);
        json_write_member_fixed(writer, "cost_per_trillion_tokens", result->cost * trillion, 2);
    }
}

void report_train_plan_json(const struct orr_train_plan *plan, struct json_writer *writer)
{
#define WORD_X(symbol, word) word,
    static const char *const recomputes[] = {ORR_TRAIN_RECOMPUTES(WORD_X)};
#undef WORD_X
    char order[ORR_TRAIN_ORDER_ROOM];
    json_write_member_u64(writer, "tp", plan->tp);
    json_write_member_u64(writer, "pp", plan->pp);
    json_write_member_u64(writer, "cp", plan->cp);
    json_write_member_u64(writer, "ep", plan->ep);
    json_write_member_u64(writer, "dp", plan->dp);
    json_write_member_string(writer, "order", orr_train_order_text(plan, true, order));
    json_write_member_u64(writer, "vpp", plan->vpp);
    json_write_member_u64(writer, "zero", plan->zero);
    json_write_member_u64(writer, "micro_batch", plan->micro_batch);
    json_write_member_string(writer, "recompute", recomputes[plan->recompute]);
}

void report_train_json(const struct orr_train_result *result, FILE *stream)
{
    struct json_writer writer;
    json_write_document(&writer, stream);
    json_write_member_string(&writer, "kind", "train");
    json_write_member_string(&writer, "model", result->model.name);
    json_write_member_string(&writer, "device", result->device);
    json_write_member_string(&writer, "framework", result->framework);
    json_write_member_u64(&writer, "gpus", result->plan.gpus);
    json_write_member_u64(&writer, "parameters", result->parameters.total);
    json_write_member_object(&writer, "plan", true);
    report_train_plan_json(&result->plan, &writer);
    json_write_member_u64(&writer, "global_batch", result->plan.global_batch);
    json_write_member_u64(&writer, "seq", result->plan.seq);
    json_write_object_end(&writer);
    json_write_member_u64(&writer, "step_time_ns", result->step_ns);
#define PART_X(key, name, field) json_write_member_u64(&writer, key, result->field);
    REPORT_TRAIN_PARTS(PART_X)
#undef PART_X
    json_write_member_u64(&writer, "exposed_comm_ns", result->exposed_comm_ns);
    json_write_member_fixed(&writer, "tokens_per_s", result->tokens_per_s, 3);
    json_write_member_fixed(&writer, "tokens_per_s_per_gpu", result->tokens_per_s_per_gpu, 3);
    json_write_member_fixed(&writer, "tflops_per_gpu", result->tflops_per_gpu, 3);
    json_write_member_fixed(&writer, "hardware_tflops_per_gpu", result->hardware_tflops_per_gpu, 3);
    json_write_member_fixed(&writer, "mfu", result->mfu, 4);
    json_write_member_fixed(&writer, "hfu", result->hfu, 4);
    json_write_member_object(&writer, "memory_bytes", false);
#define KIND_X(name, field) json_write_member_u64(&writer, name, result->memory.field);
    TRAIN_MEMORY(KIND_X)
#undef KIND_X
    json_write_member_u64(&writer, "total", result->memory.total);
    json_write_member_u64(&writer, "device", result->memory.device);
    json_write_object_end(&writer);
    json_write_member_fixed(&writer, "moved", result->moved, 4);
    json_write_member_fixed(&writer, "error_percent", 100 * result->error, 2);
    json_write_member_array(&writer, "nearest", false);
    for (uint32_t i = 0; i < result->nearest_count; i++) {
        json_write_object(&writer, true);
        json_write_member_string(&writer, "id", result->nearest[i].id);
        json_write_member_fixed(&writer, "error_percent", 100 * result->nearest[i].error, 2);
        json_write_object_end(&writer);
    }
    json_write_array_end(&writer);
    json_write_member_bool(&writer, "fits", result->memory.fits);
    json_write_member_string(&writer, "bound_by", result->bound_by);
    train_json_price(result, &writer);
    train_json_simulated(&result->simulated, &writer);
    json_write_document_end(&writer);
}

/* ---- the chart ---- */

enum { CHART_COMPUTE, CHART_COMMUNICATION, CHART_WAITING, TRAIN_LABEL = 48 };

/* Which colour a part has. */
static int train_part_kind(const char *key)
{
    return strncmp(key, "exposed", 7) == 0                                  ? CHART_COMMUNICATION
           : strcmp(key, "bubble_ns") == 0 || strcmp(key, "launch_ns") == 0 ? CHART_WAITING
                                                                            : CHART_COMPUTE;
}

void report_train_chart(const struct orr_train_result *result, FILE *stream)
{
#define PART_X(key, name, field) {key, name, result->field},
    const struct {
        const char *key, *name;
        uint64_t ns;
    } parts[] = {REPORT_TRAIN_PARTS(PART_X)};
#undef PART_X
    struct chart_bar bars[TRAIN_PARTS_ALL + 1] = {{0}};
    char values[TRAIN_PARTS_ALL + 1][TRAIN_LABEL], title[200];
    struct chart_bars chart = {
        .title = title, .parts = {"compute", "communication not hidden", "waiting"}, .bars = bars};
    struct chart_bar whole = {.label = "step", .value = values[TRAIN_PARTS_ALL]};
    double from = 0;
    for (size_t i = 0; i < TRAIN_PARTS_ALL; i++) {
        int kind = train_part_kind(parts[i].key);
        double ms = (double)parts[i].ns * 1e-6;
        if (parts[i].ns == 0) {
            continue;
        }
        struct chart_bar *bar = &bars[chart.count];
        *bar = (struct chart_bar){.label = parts[i].name, .from = from, .value = values[chart.count]};
        bar->parts[kind] = ms;
        whole.parts[kind] += ms;
        (void)plain_snprintf(values[chart.count++], TRAIN_LABEL, "%.1f ms, %.1f %%", ms,
                             100.0 * (double)parts[i].ns / (double)result->step_ns);
        from += ms;
    }
    (void)plain_snprintf(values[TRAIN_PARTS_ALL], TRAIN_LABEL, "%.1f ms", (double)result->step_ns * 1e-6);
    bars[chart.count++] = whole;
    (void)plain_snprintf(title, sizeof title, "%s on %" PRIu32 " x %s: %.0f tokens/s, MFU %.1f %%, %.1f GB a GPU",
                         result->model.name, result->plan.gpus, result->device, result->tokens_per_s, 100 * result->mfu,
                         (double)result->memory.total * 1e-9);
    chart_bars_put(&chart, stream);
}
