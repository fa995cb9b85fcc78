/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The file is one object: "rocprofiler-sdk-tool" is a list with an element for each process, each with the names
 * (strings, kernel_symbols) and the records (buffer_records) by kind. Names may stand behind the records, so an element
 * is taken whole. Of several processes the one with the most kernels is read: ranks write a file each, helpers of the
 * program come along.
 */
#include "convert/pytorch/kineto/rocprof.h"

#include <inttypes.h>
#include <math.h>

#include "base/number_map.h"
#include "convert/pytorch/kineto/parts.h"

struct reading {
    struct kineto_trace *trace;
    const struct json_item *process;
    struct number_map symbols; /* kernel id to number in the trace's names */
    const struct json_item *strings;
    uint64_t unusable; /* records without times */
};

static const struct json_item *kineto_rocprof_member(const struct json_item *object, const char *key)
{
    return object == NULL || object->kind != JSON_ITEM_OBJECT ? NULL : json_item_member(object, key);
}

static const struct json_item *list(const struct json_item *object, const char *key)
{
    const struct json_item *item = kineto_rocprof_member(object, key);
    return item != NULL && item->kind == JSON_ITEM_ARRAY ? item : NULL;
}

static bool kineto_rocprof_integer(const struct json_item *object, const char *key, int64_t *value)
{
    const struct json_item *item = kineto_rocprof_member(object, key);
    return item != NULL && kineto_integer(item, value);
}

/* A handle: {"handle": N}, or the number itself. */
static bool kineto_rocprof_handle(const struct json_item *object, const char *key, int64_t *value)
{
    return kineto_rocprof_integer(kineto_rocprof_member(object, key), "handle", value) ||
           kineto_rocprof_integer(object, key, value);
}

/* The n-th element; NULL when there is none. */
static const struct json_item *element(const struct json_item *array, int64_t n)
{
    if (array == NULL || n < 0) {
        return NULL;
    }
    for (const struct json_item *e = json_item_first(array); e != json_item_end(array); e = json_item_next(e)) {
        if (n-- == 0) {
            return e;
        }
    }
    return NULL;
}

/* ---- names ---- */

static bool read_symbols(struct reading *reading)
{
    const struct json_item *symbols = list(reading->process, "kernel_symbols");
    if (symbols == NULL) {
        return true;
    }
    for (const struct json_item *s = json_item_first(symbols); s != json_item_end(symbols); s = json_item_next(s)) {
        static const char *const keys[] = {"formatted_kernel_name", "truncated_kernel_name", "kernel_name"};
        int64_t id = 0;
        uint32_t name = 0;
        const struct json_item *text = NULL;
        for (size_t i = 0; i < sizeof keys / sizeof keys[0] && (text == NULL || text->length == 0); i++) {
            text = kineto_rocprof_member(s, keys[i]);
            text = text != NULL && text->kind == JSON_ITEM_STRING ? text : NULL;
        }
        if (text == NULL || !kineto_rocprof_integer(s, "kernel_id", &id)) {
            continue;
        }
        if (!intern_add(&reading->trace->names, text->text, text->length, &name) ||
            !number_map_put(&reading->symbols, id, name)) {
            return false;
        }
    }
    return true;
}

/* What an API's record is called: strings.buffer_records[kind].operations[operation]. */
static bool operation_name(struct reading *reading, const struct json_item *record, uint32_t *name)
{
    int64_t kind = -1;
    int64_t operation = -1;
    const struct json_item *text = NULL;
    if (kineto_rocprof_integer(record, "kind", &kind) && kineto_rocprof_integer(record, "operation", &operation)) {
        text = element(list(element(list(reading->strings, "buffer_records"), kind), "operations"), operation);
    }
    if (text == NULL || text->kind != JSON_ITEM_STRING) {
        return intern_add(&reading->trace->names, "HIP call", 8, name);
    }
    return intern_add(&reading->trace->names, text->text, text->length, name);
}

/* ---- records ---- */

static bool kineto_rocprof_place(struct kineto_trace *trace, const char *text, double ts_us, uint32_t *thread)
{
    uint32_t number = 0;
    if (!intern_add(&trace->threads, text, strlen(text), &number)) {
        return false;
    }
    *thread = number - 1;
    if (!MEM_GROW(trace->mem, trace->thread_firsts, trace->thread_capacity, *thread)) {
        return false;
    }
    while (trace->thread_count <= *thread) {
        trace->thread_firsts[trace->thread_count++] = (struct kineto_thread){ts_us, trace->event_count};
    }
    struct kineto_thread *first = &trace->thread_firsts[*thread];
    if (ts_us < first->first_ts_us) {
        *first = (struct kineto_thread){ts_us, trace->event_count};
    }
    return true;
}

static bool kineto_rocprof_add_event(struct kineto_trace *trace, struct kineto_event *event, const char *row)
{
    event->index = trace->event_count;
    if (!kineto_rocprof_place(trace, row, event->ts_us, &event->tid) ||
        !MEM_GROW(trace->mem, trace->events, trace->event_capacity, trace->event_count)) {
        return false;
    }
    double end = event->ts_us + event->dur_us;
    trace->first_ts_us = event->ts_us < trace->first_ts_us ? event->ts_us : trace->first_ts_us;
    trace->last_end_us = end > trace->last_end_us ? end : trace->last_end_us;
    trace->events[trace->event_count++] = *event;
    return true;
}

static bool read_record(struct reading *reading, const struct json_item *record, enum kineto_cat cat)
{
    int64_t start = 0;
    int64_t end = 0;
    int64_t thread = 0;
    int64_t kernel = -1;
    char row[64];
    struct kineto_event event = {.external_id = -1,
                                 .rf_id = -1,
                                 .correlation = -1,
                                 .stream = -1,
                                 .comm = KINETO_NONE,
                                 .extra = KINETO_NONE,
                                 .ph = 'X',
                                 .cat = (uint8_t)cat,
                                 .has = KINETO_HAS_DUR | KINETO_HAS_TID};
    reading->trace->event_total++;
    if (!kineto_rocprof_integer(record, "start_timestamp", &start) ||
        !kineto_rocprof_integer(record, "end_timestamp", &end) || end < start || start < 0) {
        reading->unusable++;
        return true;
    }
    event.ts_us = (double)start / 1000.0;
    event.dur_us = (double)(end - start) / 1000.0;
    event.has |= kineto_rocprof_integer(kineto_rocprof_member(record, "correlation_id"), "internal", &event.correlation)
                     ? KINETO_HAS_CORRELATION
                     : 0;
    (void)kineto_rocprof_integer(record, "thread_id", &thread);
    if (cat == KINETO_RUNTIME) {
        (void)snprintf(row, sizeof row, "%" PRId64, thread);
        return operation_name(reading, record, &event.name) && kineto_rocprof_add_event(reading->trace, &event, row);
    }
    const struct json_item *info = kineto_rocprof_member(record, "dispatch_info");
    int64_t stream = 0;
    if (!kineto_rocprof_handle(record, "stream_id", &stream) && !kineto_rocprof_handle(info, "queue_id", &stream)) {
        stream = cat == KINETO_MEMCPY ? -2 : 0; /* copies of old versions say neither: a row of their own */
    }
    event.stream = stream;
    event.has |= KINETO_HAS_STREAM;
    (void)snprintf(row, sizeof row, "stream %" PRId64, stream);
    if (cat == KINETO_MEMCPY) {
        return operation_name(reading, record, &event.name) && kineto_rocprof_add_event(reading->trace, &event, row);
    }
    if (!kineto_rocprof_integer(info, "kernel_id", &kernel) ||
        !number_map_get(&reading->symbols, kernel, &event.name)) {
        if (!intern_add(&reading->trace->names, "kernel", 6, &event.name)) {
            return false;
        }
    }
    return kineto_rocprof_add_event(reading->trace, &event, row);
}

static bool read_process(struct reading *reading)
{
    static const struct {
        const char *key;
        enum kineto_cat cat;
    } kinds[] = {{"hip_api", KINETO_RUNTIME}, {"kernel_dispatch", KINETO_KERNEL}, {"memory_copy", KINETO_MEMCPY}};
    const struct json_item *records = kineto_rocprof_member(reading->process, "buffer_records");
    reading->strings = kineto_rocprof_member(reading->process, "strings");
    if (!read_symbols(reading)) {
        return false;
    }
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        const struct json_item *all = list(records, kinds[i].key);
        for (const struct json_item *r = all == NULL ? NULL : json_item_first(all);
             r != NULL && r != json_item_end(all); r = json_item_next(r)) {
            if (!read_record(reading, r, kinds[i].cat)) {
                return false;
            }
        }
    }
    return true;
}

/* ---- the file ---- */

static uint32_t kernels_of(const struct json_item *process)
{
    const struct json_item *all = list(kineto_rocprof_member(process, "buffer_records"), "kernel_dispatch");
    uint32_t count = 0;
    for (const struct json_item *r = all == NULL ? NULL : json_item_first(all); r != NULL && r != json_item_end(all);
         r = json_item_next(r)) {
        count++;
    }
    return count;
}

static const struct json_item *pick_process(const struct json_item *tool)
{
    const struct json_item *best = tool->kind == JSON_ITEM_OBJECT ? tool : NULL;
    if (tool->kind != JSON_ITEM_ARRAY) {
        return best;
    }
    for (const struct json_item *p = json_item_first(tool); p != json_item_end(tool); p = json_item_next(p)) {
        if (p->kind == JSON_ITEM_OBJECT && (best == NULL || kernels_of(p) > kernels_of(best))) {
            best = p;
        }
    }
    return best;
}

static enum orr_status kineto_rocprof_read_file(struct reading *reading, struct json_stream *stream, struct mem *mem,
                                                struct orr_error *err)
{
    for (;;) {
        struct json_part part;
        bool more = false;
        enum orr_status status = json_stream_next(stream, &part, &more, err);
        if (status != ORR_OK || !more) {
            return status;
        }
        if (strcmp(part.key, "rocprofiler-sdk-tool") != 0 || part.item == NULL) {
            continue;
        }
        reading->process = pick_process(part.item);
        if (reading->process != NULL && reading->trace->event_count == 0 && !read_process(reading)) {
            return mem_error(mem, "a trace of rocprofv3", err);
        }
    }
}

static enum orr_status kineto_rocprof_check(const struct reading *reading, const char *path, struct notes *notes,
                                            struct orr_error *err)
{
    if (reading->trace->event_count == 0) {
        return error_set(err, ORR_EINVAL,
                         "%s: neither kernels (kernel_dispatch) nor calls (hip_api) are in it; record with rocprofv3 "
                         "--output-format json --hip-trace --kernel-trace",
                         path);
    }
    return reading->unusable == 0
               ? ORR_OK
               : notes_add(notes, err, "%s: %" PRIu64 " records without usable times skipped", path, reading->unusable);
}

enum orr_status rocprof_read(const char *path, struct mem *mem, struct notes *notes, struct kineto_trace **trace,
                             struct orr_error *err)
{
    struct json_stream *stream = NULL;
    struct reading reading = {.trace = kineto_trace_new(mem)};
    static const char *const arrays[] = {NULL};
    number_map_init(&reading.symbols, mem);
    enum orr_status status = reading.trace == NULL ? mem_error(mem, "a trace of rocprofv3", err)
                                                   : json_stream_open(path, arrays, 0, mem, &stream, err);
    if (status == ORR_OK) {
        status = kineto_rocprof_read_file(&reading, stream, mem, err);
        reading.trace->byte_count = json_stream_unpacked_size(stream);
    }
    json_stream_close(stream);
    number_map_free(&reading.symbols);
    status = status != ORR_OK ? status : kineto_rocprof_check(&reading, path, notes, err);
    if (status == ORR_OK && !kineto_sort(reading.trace)) {
        status = mem_error(mem, "a trace of rocprofv3", err);
    }
    if (status != ORR_OK) {
        kineto_free(reading.trace);
        return status;
    }
    *trace = reading.trace;
    return ORR_OK;
}
