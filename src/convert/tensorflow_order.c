/* SPDX-License-Identifier: Apache-2.0 */
/* Indices are sorted, not events; every comparison ends in the place in the file, so that the order is one. */
#include "convert/tensorflow_order.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static enum orr_status tensorflow_order_refused(const struct tf_order *order, struct orr_error *err)
{
    return mem_error(order->trace->mem, "the trace's kernels", err);
}

struct sort_context {
    const struct tf_trace *trace;
    const uint32_t *rank_of;
};

static int compare_events(const void *left, const void *right, void *context)
{
    const struct sort_context *sort = context;
    uint32_t i = *(const uint32_t *)left;
    uint32_t j = *(const uint32_t *)right;
    const struct tf_event *a = &sort->trace->events[i];
    const struct tf_event *b = &sort->trace->events[j];
    uint32_t rank_a = sort->rank_of[sort->trace->lines[a->line].device];
    uint32_t rank_b = sort->rank_of[sort->trace->lines[b->line].device];
    if (rank_a != rank_b) {
        return rank_a < rank_b ? -1 : 1;
    }
    if (a->start_ns != b->start_ns) {
        return a->start_ns < b->start_ns ? -1 : 1;
    }
    if (a->duration_ns != b->duration_ns) {
        return a->duration_ns > b->duration_ns ? -1 : 1; /* what contains the other first */
    }
    return (i > j) - (i < j);
}

/* By the text before the number, then by the number. */
static int compare_devices(const void *left, const void *right, void *context)
{
    const struct tf_trace *trace = context;
    uint32_t i = *(const uint32_t *)left;
    uint32_t j = *(const uint32_t *)right;
    const struct tf_device *a = &trace->devices[i];
    const struct tf_device *b = &trace->devices[j];
    const char *name_a = intern_text(&trace->texts, a->name);
    const char *name_b = intern_text(&trace->texts, b->name);
    size_t length_a = (size_t)(strrchr(name_a, ':') - name_a);
    size_t length_b = (size_t)(strrchr(name_b, ':') - name_b);
    int order = memcmp(name_a, name_b, length_a < length_b ? length_a : length_b);
    if (order != 0 || length_a != length_b) {
        return order != 0 ? order : (length_a > length_b) - (length_a < length_b);
    }
    if (a->number != b->number) {
        return a->number < b->number ? -1 : 1;
    }
    return (i > j) - (i < j);
}

static bool is_used(const struct tf_order *order, const struct tf_event *event)
{
    const struct tf_line *line = &order->trace->lines[event->line];
    return order->trace->devices[line->device].has_streams == (line->kind == TF_LINE_STREAM);
}

static enum orr_status rank_devices(struct tf_order *order, const char *path, struct notes *notes,
                                    struct orr_error *err)
{
    const struct tf_trace *trace = order->trace;
    uint32_t *sorted = mem_alloc(trace->mem, (size_t)trace->device_count * sizeof *sorted);
    uint32_t idle = 0;
    if (sorted == NULL || !MEM_RESERVE(trace->mem, order->rank_of, order->rank_capacity, trace->device_count)) {
        mem_free(trace->mem, sorted, (size_t)trace->device_count * sizeof *sorted);
        return tensorflow_order_refused(order, err);
    }
    for (uint32_t i = 0; i < trace->device_count; i++) {
        sorted[i] = i;
    }
    qsort_r(sorted, trace->device_count, sizeof *sorted, compare_devices, (void *)(uintptr_t)trace);
    for (uint32_t i = 0; i < trace->device_count; i++) {
        bool works = trace->devices[sorted[i]].kernels > 0;
        order->rank_of[sorted[i]] = works ? order->ranks++ : TF_NO_RANK;
        idle += !works;
    }
    mem_free(trace->mem, sorted, (size_t)trace->device_count * sizeof *sorted);
    if (order->ranks == 0) {
        return error_set(err, ORR_EINVAL, "%s: no kernel on any of its %" PRIu32 " device%s", path, trace->device_count,
                         trace->device_count == 1 ? "" : "s");
    }
    return idle == 0 ? ORR_OK
                     : notes_add(notes, err, "%s: %" PRIu32 " device%s without a kernel left out", path, idle,
                                 idle == 1 ? "" : "s");
}

static enum orr_status sort_events(struct tf_order *order, struct orr_error *err)
{
    const struct tf_trace *trace = order->trace;
    struct sort_context context = {trace, order->rank_of};
    uint64_t events = (uint64_t)trace->event_count + 1;
    if (!MEM_RESERVE(trace->mem, order->events, order->event_capacity, events) ||
        !MEM_RESERVE(trace->mem, order->own_ns, order->own_capacity, events)) {
        return tensorflow_order_refused(order, err);
    }
    for (uint32_t i = 0; i < trace->event_count; i++) {
        order->own_ns[i] = trace->events[i].duration_ns;
        if (is_used(order, &trace->events[i])) {
            order->events[order->used++] = i;
        }
    }
    qsort_r(order->events, order->used, sizeof *order->events, compare_events, &context);
    return ORR_OK;
}

/* Takes from each operation of an XLA line what the operations inside it last: `stack` holds those still open. */
static enum orr_status find_own_times(struct tf_order *order, struct orr_error *err)
{
    const struct tf_trace *trace = order->trace;
    uint32_t *stack = mem_alloc(trace->mem, ((size_t)order->used + 1) * sizeof *stack);
    uint32_t depth = 0;
    if (stack == NULL) {
        return tensorflow_order_refused(order, err);
    }
    for (uint32_t i = 0; i < order->used; i++) {
        const struct tf_event *event = &trace->events[order->events[i]];
        if (trace->lines[event->line].kind != TF_LINE_OPS) {
            continue;
        }
        while (depth > 0) {
            const struct tf_event *outer = &trace->events[stack[depth - 1]];
            if (outer->line == event->line && outer->start_ns + outer->duration_ns > event->start_ns) {
                break;
            }
            depth--;
        }
        if (depth > 0) {
            uint64_t *own = &order->own_ns[stack[depth - 1]];
            *own -= *own < event->duration_ns ? *own : event->duration_ns;
        }
        stack[depth++] = order->events[i];
    }
    mem_free(trace->mem, stack, ((size_t)order->used + 1) * sizeof *stack);
    return ORR_OK;
}

enum orr_status tf_order_make(const struct tf_trace *trace, const char *path, struct notes *notes,
                              struct tf_order *order, struct orr_error *err)
{
    *order = (struct tf_order){.trace = trace};
    enum orr_status status = rank_devices(order, path, notes, err);
    if (status == ORR_OK) {
        status = sort_events(order, err);
    }
    return status == ORR_OK ? find_own_times(order, err) : status;
}

void tf_order_free(struct tf_order *order)
{
    struct mem *mem = order->trace->mem;
    mem_free(mem, order->events, order->event_capacity * sizeof *order->events);
    mem_free(mem, order->rank_of, order->rank_capacity * sizeof *order->rank_of);
    mem_free(mem, order->own_ns, order->own_capacity * sizeof *order->own_ns);
}
