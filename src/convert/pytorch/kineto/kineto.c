/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The walk over a Kineto document and the order of what was kept. Events come thread by thread or as the recorder's
 * buffers were emptied, never by time; both linkers need them by time, so sorting is done here once. The keys are
 * sorted apart from the events, which are five times their size and move only once.
 */
#include "convert/pytorch/kineto/kineto.h"

#include <math.h>
#include <stdlib.h>

#include "convert/pytorch/kineto/window.h"

static const char *const arrays[] = {"traceEvents", "", NULL};

struct order {
    double ts_us;
    uint32_t from;
};

static int compare_order(const void *left, const void *right)
{
    const struct order *a = left;
    const struct order *b = right;
    if (a->ts_us != b->ts_us) {
        return a->ts_us < b->ts_us ? -1 : 1;
    }
    return a->from < b->from ? -1 : a->from > b->from;
}

/* Moves every event to where the order wants it, along the cycles of the permutation. */
static void permute(struct kineto_event *events, struct order *order, uint32_t count)
{
    for (uint32_t start = 0; start < count; start++) {
        if (order[start].from == start) {
            continue;
        }
        struct kineto_event first = events[start];
        uint32_t at = start;
        while (order[at].from != start) {
            uint32_t from = order[at].from;
            events[at] = events[from];
            order[at].from = at;
            at = from;
        }
        events[at] = first;
        order[at].from = at;
    }
}

static bool is_sorted(const struct kineto_trace *trace)
{
    for (uint32_t i = 1; i < trace->event_count; i++) {
        if (trace->events[i].ts_us < trace->events[i - 1].ts_us) {
            return false;
        }
    }
    return true;
}

bool kineto_sort(struct kineto_trace *trace)
{
    size_t bytes = (size_t)trace->event_count * sizeof(struct order);
    if (is_sorted(trace)) {
        return true;
    }
    struct order *order = mem_alloc(trace->mem, bytes);
    if (order == NULL) {
        return false;
    }
    for (uint32_t i = 0; i < trace->event_count; i++) {
        order[i] = (struct order){trace->events[i].ts_us, i};
    }
    qsort(order, trace->event_count, sizeof *order, compare_order);
    permute(trace->events, order, trace->event_count);
    mem_free(trace->mem, order, bytes);
    return true;
}

/* ---- reading ---- */

static enum orr_status read_element(struct kineto_reader *reader, const struct json_part *part, const char *path,
                                    struct orr_error *err)
{
    reader->trace->event_total++;
    if (part->index >= UINT32_MAX) {
        return error_set(err, ORR_ERANGE, "%s: byte %llu: more than %u trace events; split the recording", path,
                         (unsigned long long)part->offset, UINT32_MAX - 1);
    }
    if (!kineto_event_add(reader, (uint32_t)part->index, part->item)) {
        return mem_error(reader->trace->mem, "device trace events", err);
    }
    return ORR_OK;
}

static enum orr_status kineto_read_parts(struct kineto_reader *reader, struct json_stream *stream, bool *has_events,
                                         struct orr_error *err)
{
    const char *path = json_stream_path(stream);
    for (;;) {
        struct json_part part;
        bool more = false;
        enum orr_status status = json_stream_next(stream, &part, &more, err);
        if (status != ORR_OK || !more) {
            return status;
        }
        bool events = strcmp(part.key, "traceEvents") == 0 || part.key[0] == '\0';
        if (part.is_empty) {
            *has_events = *has_events || events;
        } else if (part.is_element) {
            *has_events = true;
            status = read_element(reader, &part, path, err);
        } else if (events) {
            status =
                error_set(err, ORR_EINVAL, "%s:%llu: \"traceEvents\" is no list; a Kineto trace has a list of events",
                          path, (unsigned long long)json_stream_line(stream, part.offset));
        } else if (!kineto_info_add(reader->trace, part.key, part.item)) {
            status = mem_error(reader->trace->mem, "device trace", err);
        }
        if (status != ORR_OK) {
            return status;
        }
    }
}

static enum orr_status note_losses(const struct kineto_reader *reader, const struct json_stream *stream,
                                   struct notes *notes, struct orr_error *err)
{
    const char *path = json_stream_path(stream);
    enum orr_status status = ORR_OK;
    if (json_stream_was_cut(stream)) {
        status = notes_add(notes, err, "%s: the file ends early; the %llu events before the cut are used", path,
                           (unsigned long long)reader->trace->event_total);
    }
    if (status == ORR_OK && reader->untimed > 0) {
        status = notes_add(notes, err, "%s: %llu events without a usable \"ts\" skipped", path,
                           (unsigned long long)reader->untimed);
    }
    if (status == ORR_OK && reader->unusable > 0) {
        status = notes_add(notes, err, "%s: %llu elements of \"traceEvents\" are no objects and were skipped", path,
                           (unsigned long long)reader->unusable);
    }
    return status;
}

static enum orr_status kineto_read_stream(struct kineto_trace *trace, struct json_stream *stream,
                                          struct kineto_window *window, struct notes *notes, struct orr_error *err)
{
    struct kineto_reader reader = {.trace = trace, .window = window};
    bool has_events = false;
    enum orr_status status = kineto_read_parts(&reader, stream, &has_events, err);
    if (status == ORR_OK && !has_events) {
        status =
            error_set(err, ORR_EINVAL, "%s: no \"traceEvents\" in it; a Kineto device trace has a list of that name",
                      json_stream_path(stream));
    }
    if (status == ORR_OK) {
        status = note_losses(&reader, stream, notes, err);
    }
    if (status == ORR_OK && !kineto_sort(trace)) {
        status = mem_error(trace->mem, "sorting device trace events", err);
    }
    if (status == ORR_OK && trace->first_ts_us > trace->last_end_us) {
        trace->first_ts_us = 0; /* not one event with a time */
        trace->last_end_us = 0;
    }
    trace->byte_count = json_stream_unpacked_size(stream);
    return status;
}

struct kineto_trace *kineto_trace_new(struct mem *mem)
{
    struct kineto_trace *trace = mem_zalloc(mem, sizeof *trace);
    if (trace != NULL) {
        trace->mem = mem;
        trace->first_ts_us = INFINITY;
        trace->last_end_us = -INFINITY;
        trace->info.rank = -1;
        trace->info.world_size = -1;
        intern_init(&trace->names, mem);
        intern_init(&trace->threads, mem);
        arena_init(&trace->arena, mem);
    }
    return trace;
}

/* One of the passes that only learn. */
static enum orr_status learn(const char *path, struct kineto_window *window, enum kineto_window_pass pass,
                             struct mem *mem, struct orr_error *err)
{
    struct json_stream *stream = NULL;
    struct kineto_reader reader = {.trace = kineto_trace_new(mem), .window = window};
    bool has_events = false;
    if (reader.trace == NULL) {
        return mem_error(mem, "device trace", err);
    }
    window->pass = pass;
    enum orr_status status = json_stream_open(path, arrays, JSON_STREAM_MAY_BE_CUT, mem, &stream, err);
    if (status == ORR_OK) {
        status = kineto_read_parts(&reader, stream, &has_events, err);
        json_stream_close(stream);
    }
    kineto_free(reader.trace);
    return status;
}

enum orr_status kineto_read_steps(const char *path, const int64_t *steps, uint32_t pair_count, struct mem *mem,
                                  struct notes *notes, struct kineto_trace **trace, struct orr_error *err)
{
    struct kineto_window window;
    struct json_stream *stream = NULL;
    kineto_window_init(&window, steps, pair_count, mem);
    struct kineto_trace *made = kineto_trace_new(mem);
    enum orr_status status =
        made == NULL ? mem_error(mem, "device trace", err) : learn(path, &window, KINETO_WINDOW_MARKS, mem, err);
    if (status == ORR_OK && window.start_us <= window.end_us) {
        status = learn(path, &window, KINETO_WINDOW_LINKS, mem, err);
    }
    window.pass = KINETO_WINDOW_EVENTS;
    if (status == ORR_OK) {
        status = json_stream_open(path, arrays, JSON_STREAM_MAY_BE_CUT, mem, &stream, err);
    }
    if (status == ORR_OK) {
        status = kineto_read_stream(made, stream, &window, notes, err);
        made->origin_us = window.origin_us;
        made->has_origin = isfinite(window.origin_us);
        made->marks_only = window.start_us > window.end_us;
    }
    json_stream_close(stream);
    kineto_window_free(&window);
    if (status != ORR_OK) {
        kineto_free(made);
        return status;
    }
    *trace = made;
    return ORR_OK;
}

enum orr_status kineto_read(const char *path, struct mem *mem, struct notes *notes, struct kineto_trace **trace,
                            struct orr_error *err)
{
    struct json_stream *stream = NULL;
    struct kineto_trace *made = kineto_trace_new(mem);
    if (made == NULL) {
        return mem_error(mem, "device trace", err);
    }
    enum orr_status status = json_stream_open(path, arrays, JSON_STREAM_MAY_BE_CUT, mem, &stream, err);
    if (status == ORR_OK) {
        status = kineto_read_stream(made, stream, NULL, notes, err);
        json_stream_close(stream);
    }
    if (status != ORR_OK) {
        kineto_free(made);
        return status;
    }
    *trace = made;
    return ORR_OK;
}

void kineto_free(struct kineto_trace *trace)
{
    if (trace == NULL) {
        return;
    }
    struct mem *mem = trace->mem;
    mem_free(mem, trace->events, trace->event_capacity * sizeof *trace->events);
    mem_free(mem, trace->comms, trace->comm_capacity * sizeof *trace->comms);
    mem_free(mem, trace->syncs, trace->sync_capacity * sizeof *trace->syncs);
    mem_free(mem, trace->copies, trace->copy_capacity * sizeof *trace->copies);
    mem_free(mem, trace->thread_firsts, trace->thread_capacity * sizeof *trace->thread_firsts);
    intern_free(&trace->names);
    intern_free(&trace->threads);
    arena_free(&trace->arena);
    mem_free(mem, trace, sizeof *trace);
}

/* ---- times ---- */

static int64_t nanoseconds(double us)
{
    double ns = round(us * 1000.0);
    if (ns >= 9.2e18) {
        return INT64_MAX / 2;
    }
    return ns <= -9.2e18 ? INT64_MIN / 2 : (int64_t)ns;
}

int64_t kineto_start_ns(const struct kineto_event *event)
{
    return nanoseconds(event->ts_us);
}

/* Start and length rounded apart, so that equal lengths stay equal. */
int64_t kineto_end_ns(const struct kineto_event *event)
{
    int64_t end;
    return __builtin_add_overflow(nanoseconds(event->ts_us), nanoseconds(event->dur_us), &end) ? INT64_MAX : end;
}
