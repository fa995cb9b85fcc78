/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The small JSON documents are read part by part with the reader of large ones, because whether a file is a device
 * trace of gigabytes is known only once its first members have been seen. Keys carry their units; a key that is not in
 * the table below is somebody else's and passed over.
 */
#include "calib/steps.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/numbers.h"
#include "io/json_stream.h"

enum { STEPS_MOST = 1 << 24 };                        /* listed steps of one file: years of training */
static const double LONGEST_MS = 366.0 * 86400 * 1e3; /* nobody waits longer for a step */

struct calib_measured calib_measured_none(const char *path)
{
    return (struct calib_measured){.path = path,
                                   .rank = -1,
                                   .median_ms = NAN,
                                   .first_ms = NAN,
                                   .comm_ms = NAN,
                                   .exposed_ms = NAN,
                                   .device_ms = NAN,
                                   .kernel_ms = NAN,
                                   .collectives = NAN,
                                   .host_events = NAN,
                                   .gpu_mhz = NAN};
}

/* ---- numbers ---- */

struct calib_spread calib_spread_of(double *values, uint32_t count)
{
    if (count == 0) {
        return (struct calib_spread){.median = NAN, .iqr = NAN};
    }
    numbers_sort(values, count);
    return (struct calib_spread){
        .samples = count,
        .listed = count,
        .median = numbers_quantile(values, count, 0.5),
        .iqr = count < 2 ? NAN : numbers_quantile(values, count, 0.75) - numbers_quantile(values, count, 0.25)};
}

static bool calib_steps_is_wanted(const struct calib_measured *file, bool traced, int64_t rank)
{
    return file->samples != 0 && file->traced == traced && (rank < 0 || file->rank == rank);
}

enum orr_status calib_steps_pool(const struct calib_measured *files, uint32_t count, bool traced, int64_t rank,
                                 struct arena *arena, struct calib_spread *spread, struct orr_error *err)
{
    uint64_t total = 0;
    uint64_t samples = 0;
    for (uint32_t i = 0; i < count; i++) {
        total += calib_steps_is_wanted(&files[i], traced, rank) ? files[i].step_count : 0;
        samples += calib_steps_is_wanted(&files[i], traced, rank) ? files[i].samples : 0;
    }
    double *values = total > UINT32_MAX ? NULL : arena_alloc(arena, (size_t)(total + 1) * sizeof *values);
    if (values == NULL) {
        return mem_error(arena->mem, "measured steps", err);
    }
    uint32_t used = 0;
    for (uint32_t i = 0; i < count; i++) {
        for (uint32_t k = 0; calib_steps_is_wanted(&files[i], traced, rank) && k < files[i].step_count; k++) {
            values[used++] = files[i].steps_ms[k];
        }
    }
    *spread = calib_spread_of(values, used);
    spread->samples = samples;
    return ORR_OK;
}

/* ---- small documents ---- */

/* name, what it holds, milliseconds in one unit of it */
#define CALIB_KEYS(X)                                                                                                  \
    X("step_ms_median", MEDIAN, 1)                                                                                     \
    X("step_us_median", MEDIAN, 1e-3)                                                                                  \
    X("step_ns_median", MEDIAN, 1e-6)                                                                                  \
    X("step_s_median", MEDIAN, 1e3)                                                                                    \
    X("step_times_ms", STEPS, 1)                                                                                       \
    X("step_times_us", STEPS, 1e-3)                                                                                    \
    X("step_times_ns", STEPS, 1e-6)                                                                                    \
    X("step_times_s", STEPS, 1e3)                                                                                      \
    X("step_ms", STEPS, 1)                                                                                             \
    X("steps_ms", STEPS, 1)                                                                                            \
    X("untraced_ms", STEPS, 1)                                                                                         \
    X("steps", COUNT, 0)                                                                                               \
    X("step_count", COUNT, 0)                                                                                          \
    X("epoch_duration_seconds", EPOCH, 1e3)                                                                            \
    X("rank", RANK, 0)                                                                                                 \
    X("sclk_median_mhz", CLOCK, 0)                                                                                     \
    X("sclk_max_mhz", CLOCK_MOST, 0)                                                                                   \
    X("sclk_avg_mhz", METRICS, 0)                                                                                      \
    X("gpu_frequency_stats", CLOCKS, 0)

enum key_kind {
    KEY_STEPS,
    KEY_MEDIAN,
    KEY_COUNT,
    KEY_EPOCH,
    KEY_RANK,
    KEY_CLOCK,
    KEY_CLOCK_MOST,
    KEY_METRICS,
    KEY_CLOCKS
};

struct reading {
    struct json_stream *stream;
    struct arena *arena;
    struct calib_measured *into;
    double *steps_ms;
    uint32_t capacity;
    uint64_t count;            /* "steps", "step_count" */
    double epoch_ms;           /* "epoch_duration_seconds" */
    double lone_ms;            /* a median that was told: of no use where the steps themselves are listed */
    double clock, clock_most;  /* MHz */
    bool has_clock, is_kineto; /* keys of gpu_metrics were there; "traceEvents" was */
    struct orr_error *err;
};

static bool item_real(const struct json_item *item, double *value)
{
    if (item != NULL && item->kind == JSON_ITEM_INT) {
        *value = (double)item->value.integer;
    } else if (item != NULL && (item->kind == JSON_ITEM_REAL || item->kind == JSON_ITEM_BIG)) {
        *value = item->value.real;
    } else {
        return false;
    }
    return true;
}

static enum orr_status calib_steps_refuse(struct reading *r, const struct json_part *part, const char *what)
{
    return error_set(r->err, ORR_EINVAL, "%s:%" PRIu64 ": \"%.40s\" %s", json_stream_path(r->stream),
                     json_stream_line(r->stream, part->offset), part->key, what);
}

static enum orr_status calib_steps_read_time(struct reading *r, const struct json_part *part,
                                             const struct json_item *item, double unit, double *ms)
{
    double value = 0;
    if (!item_real(item, &value)) {
        return calib_steps_refuse(r, part, "is not the time of a step: a number is expected");
    }
    value *= unit;
    if (!(value > 0 && value <= LONGEST_MS)) {
        return calib_steps_refuse(r, part, "has the time of a step that cannot be: above 0 and up to a year is");
    }
    *ms = value;
    return ORR_OK;
}

static enum orr_status calib_steps_add_step(struct reading *r, const struct json_part *part,
                                            const struct json_item *item, double unit)
{
    struct calib_measured *into = r->into;
    double value = 0;
    enum orr_status status = calib_steps_read_time(r, part, item, unit, &value);
    if (status != ORR_OK) {
        return status;
    }
    if (into->step_count == STEPS_MOST) {
        return calib_steps_refuse(r, part, "lists too many steps: up to 16777216 are read");
    }
    if (into->step_count == r->capacity) {
        uint32_t capacity = r->capacity == 0 ? 16 : 2 * r->capacity;
        double *grown = arena_alloc(r->arena, capacity * sizeof *grown);
        if (grown == NULL) {
            return mem_error(r->arena->mem, "measured steps", r->err);
        }
        if (into->step_count > 0) {
            memcpy(grown, r->steps_ms, into->step_count * sizeof *grown);
        }
        r->steps_ms = grown;
        r->capacity = capacity;
    }
    r->steps_ms[into->step_count++] = value;
    return ORR_OK;
}

static enum orr_status add_list(struct reading *r, const struct json_part *part, const struct json_item *list,
                                double unit)
{
    enum orr_status status = ORR_OK;
    for (const struct json_item *at = json_item_first(list); status == ORR_OK && at != json_item_end(list);
         at = json_item_next(at)) {
        status = calib_steps_add_step(r, part, at, unit);
    }
    return status;
}

/* {mean, median, min, max, samples}: samples may be their number or the times themselves. */
static enum orr_status add_summary(struct reading *r, const struct json_part *part, double unit)
{
    const struct json_item *samples = json_item_member(part->item, "samples");
    const struct json_item *median = json_item_member(part->item, "median");
    uint64_t count = 0;
    if (samples != NULL && samples->kind == JSON_ITEM_ARRAY && samples->span > 1) {
        return add_list(r, part, samples, unit);
    }
    if (samples != NULL && json_item_u64(samples, &count)) {
        r->count = count;
    }
    return calib_steps_read_time(r, part, median != NULL ? median : json_item_member(part->item, "mean"), unit,
                                 &r->lone_ms);
}

static enum orr_status take_steps(struct reading *r, const struct json_part *part, double unit)
{
    if (part->item->kind == JSON_ITEM_ARRAY) {
        return add_list(r, part, part->item, unit);
    }
    return part->item->kind == JSON_ITEM_OBJECT ? add_summary(r, part, unit)
                                                : calib_steps_add_step(r, part, part->item, unit);
}

static enum orr_status take_number(struct reading *r, const struct json_part *part, enum key_kind kind, double unit)
{
    double value = 0;
    uint64_t count = 0;
    if (kind == KEY_COUNT || kind == KEY_RANK) {
        if (!json_item_u64(part->item, &count) || count > INT32_MAX) {
            return calib_steps_refuse(r, part,
                                      kind == KEY_RANK
                                          ? "is not a rank"
                                          : "is not a number of steps (their times: \"step_times_ms\": [...])");
        }
        if (kind == KEY_RANK) {
            r->into->rank = (int64_t)count;
        } else {
            r->count = count;
        }
        return ORR_OK;
    }
    if (!item_real(part->item, &value) || !(value >= 0)) {
        return calib_steps_refuse(r, part, "is not a number from 0");
    }
    if (kind == KEY_EPOCH) {
        r->epoch_ms = value * unit;
    } else if (kind == KEY_CLOCK) {
        r->clock = value;
    } else if (kind == KEY_CLOCK_MOST) {
        r->clock_most = value;
    }
    return ORR_OK;
}

static void take_clocks(struct reading *r, const struct json_item *stats)
{
    const struct json_item *sclk = json_item_member(stats, "sclk_mhz");
    double value = 0;
    if (item_real(json_item_member(sclk, "median"), &value)) {
        r->clock = value;
    }
    if (item_real(json_item_member(sclk, "max"), &value)) {
        r->clock_most = value;
    }
}

static enum orr_status take_part(struct reading *r, const struct json_part *part)
{
    static const struct {
        const char *name;
        enum key_kind kind;
        double unit;
    } keys[] = {
#define CALIB_X(name, kind, unit) {name, KEY_##kind, unit},
        CALIB_KEYS(CALIB_X)
#undef CALIB_X
    };
    if (part->is_element) {
        return calib_steps_add_step(r, part, part->item, 1);
    }
    for (size_t i = 0; part->item != NULL && i < sizeof keys / sizeof keys[0]; i++) {
        if (strcmp(part->key, keys[i].name) != 0) {
            continue;
        }
        r->has_clock |= keys[i].kind >= KEY_CLOCK;
        switch (keys[i].kind) {
        case KEY_STEPS:
            return r->into->step_count > 0
                       ? calib_steps_refuse(r, part, "lists steps, which another member has done already")
                       : take_steps(r, part, keys[i].unit);
        case KEY_MEDIAN:
            return calib_steps_read_time(r, part, part->item, keys[i].unit, &r->lone_ms);
        case KEY_CLOCKS:
            take_clocks(r, part->item);
            return ORR_OK;
        case KEY_METRICS:
            return ORR_OK;
        default:
            return take_number(r, part, keys[i].kind, keys[i].unit);
        }
    }
    return ORR_OK;
}

static enum orr_status calib_steps_read_parts(struct reading *r)
{
    struct json_part part;
    bool more = true;
    enum orr_status status = json_stream_next(r->stream, &part, &more, r->err);
    while (status == ORR_OK && more && !r->is_kineto) {
        r->is_kineto = strcmp(part.key, "traceEvents") == 0;
        r->into->form =
            part.is_element || (part.is_empty && part.key[0] == '\0') ? CALIB_STEP_LIST : CALIB_STEP_TRAINING;
        status = r->is_kineto ? ORR_OK : take_part(r, &part);
        if (status == ORR_OK && !r->is_kineto) {
            status = json_stream_next(r->stream, &part, &more, r->err);
        }
    }
    return status;
}

/* What the keys together say. */
static enum orr_status calib_steps_settle(struct reading *r)
{
    struct calib_measured *into = r->into;
    double *copy = arena_alloc(r->arena, ((size_t)into->step_count + 1) * sizeof *copy);
    if (copy == NULL) {
        return mem_error(r->arena->mem, "measured steps", r->err);
    }
    into->form = r->has_clock ? CALIB_STEP_GPU_METRICS : into->form;
    into->gpu_mhz = r->clock > 500 ? r->clock : r->clock_most > 500 ? r->clock_most : NAN;
    double mean = r->count > 0 ? r->epoch_ms / (double)r->count : 0; /* of an epoch: better than nothing */
    double lone = r->lone_ms > 0 ? r->lone_ms : mean;
    if (into->step_count == 0 && lone > 0 && lone <= LONGEST_MS) {
        r->steps_ms = copy;
        r->steps_ms[into->step_count++] = lone;
        copy = arena_alloc(r->arena, sizeof *copy);
        if (copy == NULL) {
            return mem_error(r->arena->mem, "measured steps", r->err);
        }
    }
    if (into->step_count == 0 && !r->has_clock) {
        return error_set(r->err, ORR_EINVAL,
                         "%s: has no step times: a device trace with ProfilerStep marks, \"step_ms_median\", "
                         "\"step_times_ms\" or a list of milliseconds is expected",
                         into->path);
    }
    if (into->step_count > 0) {
        memcpy(copy, r->steps_ms, into->step_count * sizeof *copy);
        into->median_ms = calib_spread_of(copy, into->step_count).median;
    }
    into->steps_ms = r->steps_ms;
    into->samples = into->step_count == 1 && r->count > 1 ? r->count : into->step_count;
    return ORR_OK;
}

/* "device_3.json", "gpu_metrics_3_resnet50.json", "trace_rank_3_epoch_2.json": the first number between underscores. */
static int64_t rank_of_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    for (const char *at = strchr(slash != NULL ? slash : path, '_'); at != NULL; at = strchr(at + 1, '_')) {
        size_t digits = strspn(at + 1, "0123456789");
        if (digits > 0 && digits < 10 && (at[1 + digits] == '.' || at[1 + digits] == '_')) {
            return strtol(at + 1, NULL, 10);
        }
    }
    return -1;
}

static enum orr_status calib_steps_read_file(const char *path, struct arena *arena, struct notes *notes,
                                             struct calib_measured *measured, struct orr_error *err)
{
    static const char *const arrays[] = {"traceEvents", "", NULL};
    struct calib_measured made = calib_measured_none(path);
    struct reading r = {.arena = arena, .into = &made, .err = err};
    enum orr_status status = json_stream_open(path, arrays, 0, arena->mem, &r.stream, err);
    if (status != ORR_OK) {
        return status;
    }
    status = calib_steps_read_parts(&r);
    if (status == ORR_OK && !r.is_kineto) {
        status = calib_steps_settle(&r);
    }
    json_stream_close(r.stream);
    if (status == ORR_OK && r.is_kineto) {
        return calib_measured_kineto(path, arena, notes, measured, err);
    }
    if (status == ORR_OK) {
        *measured = made;
    }
    return status;
}

enum orr_status calib_measured_read(const char *path, struct arena *arena, struct notes *notes,
                                    struct calib_measured *measured, struct orr_error *err)
{
    enum orr_status status = calib_steps_read_file(path, arena, notes, measured, err);
    if (status == ORR_OK && measured->rank < 0) {
        measured->rank = rank_of_name(path);
    }
    return status;
}
