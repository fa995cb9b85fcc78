/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Steps and what they were made of, from a device trace. A step has a mark of the host (user_annotation) and often a
 * second one of the device (gpu_user_annotation), which is only as long as the device was busy: the host's counts, the
 * device's only where there is no other (spec rocm §1.9). Kineto's times are microseconds whatever displayTimeUnit
 * says; a step above a thousand seconds can only be in nanoseconds, and then so is all of its file.
 *
 * Work on the device overlaps, so times are unions of intervals and not sums, as the simulated ones they are held
 * against are.
 */
#include "calib/steps.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "convert/comm_name.h"
#include "convert/pytorch/kineto/kineto.h"

static const double NS_ABOVE_US = 1e9; /* a step above this is in nanoseconds */

struct span {
    double begin_us, end_us;
};

struct spans {
    struct span *items;
    uint32_t count, capacity;
};

struct looking {
    const struct kineto_trace *trace;
    struct mem *mem;
    double unit_us;     /* of the file's times: 1, or 1e-3 */
    struct spans steps; /* one a step */
    struct spans comm, device;
    double kernel_us;
    uint64_t collectives, host_events;
};

/* As the file has them. */
static bool calib_steps_kineto_add(struct looking *l, struct spans *spans, double begin_us, double dur_us)
{
    if (!mem_reserve(l->mem, (void **)&spans->items, &spans->capacity, (uint64_t)spans->count + 1,
                     sizeof *spans->items)) {
        return false;
    }
    spans->items[spans->count++] = (struct span){begin_us * l->unit_us, (begin_us + dur_us) * l->unit_us};
    return true;
}

static void calib_steps_kineto_drop(struct looking *l, struct spans *spans)
{
    mem_free(l->mem, spans->items, spans->capacity * sizeof *spans->items);
    *spans = (struct spans){0};
}

static int compare_spans(const void *a, const void *b)
{
    const struct span *x = a;
    const struct span *y = b;
    int order = (x->begin_us > y->begin_us) - (x->begin_us < y->begin_us);
    return order != 0 ? order : (x->end_us > y->end_us) - (x->end_us < y->end_us);
}

/* In order, without overlaps; returns their length in us. */
static double merge(struct spans *spans)
{
    uint32_t kept = 0;
    double length = 0;
    if (spans->count == 0) {
        return 0;
    }
    qsort(spans->items, spans->count, sizeof *spans->items, compare_spans);
    for (uint32_t i = 1; i < spans->count; i++) {
        struct span *last = &spans->items[kept];
        if (spans->items[i].begin_us <= last->end_us) {
            last->end_us = fmax(last->end_us, spans->items[i].end_us);
        } else {
            spans->items[++kept] = spans->items[i];
        }
    }
    spans->count = kept + 1;
    for (uint32_t i = 0; i < spans->count; i++) {
        length += spans->items[i].end_us - spans->items[i].begin_us;
    }
    return length;
}

/* How much of `a` lies in `b`; both merged. */
static double overlap(const struct spans *a, const struct spans *b)
{
    double length = 0;
    uint32_t k = 0;
    for (uint32_t i = 0; i < a->count; i++) {
        while (k < b->count && b->items[k].end_us <= a->items[i].begin_us) {
            k++;
        }
        for (uint32_t j = k; j < b->count && b->items[j].begin_us < a->items[i].end_us; j++) {
            double begin = fmax(a->items[i].begin_us, b->items[j].begin_us);
            length += fmax(0, fmin(a->items[i].end_us, b->items[j].end_us) - begin);
        }
    }
    return length;
}

/* ---- steps ---- */

static const char *calib_steps_kineto_name_of(const struct looking *l, const struct kineto_event *event)
{
    return intern_text(&l->trace->names, event->name);
}

static bool is_step(const struct looking *l, const struct kineto_event *event, uint8_t cat)
{
    return event->cat == cat && (event->has & KINETO_HAS_DUR) != 0 && event->dur_us > 0 &&
           strncmp(calib_steps_kineto_name_of(l, event), "ProfilerStep#", 13) == 0;
}

/* Names are numbers of the trace's own table, so equal names are equal numbers; events come by time, and the first of a
 * name is kept. */
static enum orr_status find_steps(struct looking *l, uint8_t cat, struct orr_error *err)
{
    uint32_t names = intern_count(&l->trace->names);
    bool *seen = mem_zalloc(l->mem, names);
    bool fine = seen != NULL;
    for (uint32_t i = 0; i < l->trace->event_count; i++) {
        const struct kineto_event *event = &l->trace->events[i];
        l->unit_us = is_step(l, event, cat) && event->dur_us > NS_ABOVE_US ? 1e-3 : l->unit_us;
    }
    for (uint32_t i = 0; fine && i < l->trace->event_count; i++) {
        const struct kineto_event *event = &l->trace->events[i];
        if (is_step(l, event, cat) && !seen[event->name]) {
            seen[event->name] = true;
            fine = calib_steps_kineto_add(l, &l->steps, event->ts_us, event->dur_us);
        }
    }
    mem_free(l->mem, seen, names);
    return fine ? ORR_OK : mem_error(l->mem, "the steps of a device trace", err);
}

/* Steps do not overlap, and come by time. */
static bool in_step(const struct looking *l, double time)
{
    double ts_us = time * l->unit_us;
    uint32_t low = 0;
    uint32_t high = l->steps.count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (l->steps.items[middle].end_us <= ts_us) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < l->steps.count && l->steps.items[low].begin_us <= ts_us;
}

/* ---- what they are made of ---- */

/* Collectives that the host carries out leave a range of their own: "gloo:all_reduce". NCCL's ranges only launch. */
static bool is_host_comm(const char *name)
{
    return strncmp(name, "gloo:", 5) == 0 || strncmp(name, "mpi:", 4) == 0 || strncmp(name, "ucc:", 4) == 0;
}

static bool take_event(struct looking *l, const struct kineto_event *event, bool has_kernels)
{
    const char *name = calib_steps_kineto_name_of(l, event);
    double dur = (event->has & KINETO_HAS_DUR) != 0 && event->dur_us > 0 ? event->dur_us : 0;
    switch (event->cat) {
    case KINETO_KERNEL:
        if (comm_name_kernel(name) != COMM_NONE) {
            l->collectives++;
            return calib_steps_kineto_add(l, &l->comm, event->ts_us, dur);
        }
        l->kernel_us += dur * l->unit_us;
        return calib_steps_kineto_add(l, &l->device, event->ts_us, dur);
    case KINETO_MEMCPY:
    case KINETO_MEMSET:
        return calib_steps_kineto_add(l, &l->device, event->ts_us, dur);
    case KINETO_USER_ANNOTATION:
        l->host_events += in_step(l, event->ts_us);
        if (!has_kernels && is_host_comm(name) && comm_name_op(name) != COMM_NONE) {
            l->collectives++;
            return calib_steps_kineto_add(l, &l->comm, event->ts_us, dur);
        }
        return true;
    case KINETO_CPU_OP:
    case KINETO_RUNTIME:
    case KINETO_DRIVER:
        l->host_events += in_step(l, event->ts_us);
        return true;
    default:
        return true;
    }
}

static bool has_comm_kernels(const struct looking *l)
{
    for (uint32_t i = 0; i < l->trace->event_count; i++) {
        const struct kineto_event *event = &l->trace->events[i];
        if (event->cat == KINETO_KERNEL && comm_name_kernel(calib_steps_kineto_name_of(l, event)) != COMM_NONE) {
            return true;
        }
    }
    return false;
}

static enum orr_status take_events(struct looking *l, struct calib_measured *made, struct orr_error *err)
{
    bool has_kernels = has_comm_kernels(l);
    double steps = (double)l->steps.count;
    for (uint32_t i = 0; i < l->trace->event_count; i++) {
        if (!take_event(l, &l->trace->events[i], has_kernels)) {
            return mem_error(l->mem, "the intervals of a device trace", err);
        }
    }
    double comm_us = merge(&l->comm);
    double device_us = merge(&l->device);
    made->comm_ms = comm_us / 1e3 / steps;
    made->exposed_ms = (comm_us - overlap(&l->comm, &l->device)) / 1e3 / steps;
    made->device_ms = device_us / 1e3 / steps;
    made->kernel_ms = l->kernel_us / 1e3 / steps;
    made->collectives = (double)l->collectives / steps;
    made->host_events = (double)l->host_events / steps;
    return ORR_OK;
}

static enum orr_status calib_steps_kineto_list_steps(struct looking *l, struct arena *arena,
                                                     struct calib_measured *made, struct orr_error *err)
{
    double *steps_ms = arena_alloc(arena, 2 * (size_t)l->steps.count * sizeof *steps_ms);
    if (steps_ms == NULL) {
        return mem_error(arena->mem, "measured steps", err);
    }
    for (uint32_t i = 0; i < l->steps.count; i++) {
        steps_ms[i] = (l->steps.items[i].end_us - l->steps.items[i].begin_us) / 1e3;
        steps_ms[l->steps.count + i] = steps_ms[i];
    }
    made->form = CALIB_STEP_KINETO;
    made->traced = true;
    made->rank = l->trace->info.rank;
    made->steps_ms = steps_ms;
    made->step_count = l->steps.count;
    made->samples = l->steps.count;
    made->median_ms = calib_spread_of(steps_ms + l->steps.count, l->steps.count).median;
    return ORR_OK;
}

static enum orr_status calib_steps_kineto_look(struct looking *l, struct arena *arena, struct calib_measured *made,
                                               struct orr_error *err)
{
    enum orr_status status = find_steps(l, KINETO_USER_ANNOTATION, err);
    if (status == ORR_OK && l->steps.count == 0) {
        status = find_steps(l, KINETO_GPU_ANNOTATION, err);
    }
    if (status == ORR_OK && l->steps.count == 0) {
        status = error_set(
            err, ORR_EINVAL,
            "%s: has no ProfilerStep marks: record with a schedule and prof.step() (orrery trace recipe)", made->path);
    }
    if (status == ORR_OK) {
        status = calib_steps_kineto_list_steps(l, arena, made, err);
    }
    if (status == ORR_OK && l->trace->info.base_time_ns != 0) {
        made->first_ms = (double)l->trace->info.base_time_ns / 1e6 + l->steps.items[0].begin_us / 1e3;
    }
    return status == ORR_OK ? take_events(l, made, err) : status;
}

enum orr_status calib_measured_kineto(const char *path, struct arena *arena, struct notes *notes,
                                      struct calib_measured *measured, struct orr_error *err)
{
    struct calib_measured made = calib_measured_none(path);
    struct kineto_trace *trace = NULL;
    enum orr_status status = kineto_read(path, arena->mem, notes, &trace, err);
    if (status != ORR_OK) {
        return status;
    }
    struct looking l = {.trace = trace, .mem = arena->mem, .unit_us = 1};
    status = calib_steps_kineto_look(&l, arena, &made, err);
    calib_steps_kineto_drop(&l, &l.steps);
    calib_steps_kineto_drop(&l, &l.comm);
    calib_steps_kineto_drop(&l, &l.device);
    kineto_free(trace);
    if (status == ORR_OK) {
        *measured = made;
    }
    return status;
}
