/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Each event is read by the reader that linking uses (kineto/parts.h), so that both understand the same dialects, into
 * a trace that is emptied again at once. Only the texts of names stay between events, because most names come again;
 * a recording with names without end makes them start anew.
 */
#include "convert/pytorch/ready/scan.h"

#include <math.h>
#include <stdlib.h>

#include "convert/pytorch/host/fields.h"
#include "convert/pytorch/host/host.h"
#include "convert/pytorch/kineto/parts.h"
#include "convert/pytorch/kineto/rocprof.h"

/* ---- durations ---- */

enum { CLASS_BITS = 6, CLASSES = (63 - CLASS_BITS + 1) << CLASS_BITS, NAMES_MOST = 4 << 20 };

struct ready_class {
    uint64_t count;
    double sum_us;
};

static uint32_t class_of(double us)
{
    uint64_t ns = !(us > 0) ? 0 : us < 9e15 ? (uint64_t)(us * 1000.0) : UINT64_C(9000000000000000000);
    if (ns < 1u << CLASS_BITS) {
        return (uint32_t)ns;
    }
    uint32_t power = 63 - (uint32_t)__builtin_clzll(ns) - CLASS_BITS;
    return ((power + 1) << CLASS_BITS) + (uint32_t)(ns >> power) - (1u << CLASS_BITS);
}

static bool add_time(struct ready_times *times, double us, struct mem *mem)
{
    if (times->classes == NULL) {
        times->classes = mem_zalloc(mem, CLASSES * sizeof *times->classes);
        if (times->classes == NULL) {
            return false;
        }
    }
    struct ready_class *class = &times->classes[class_of(us)];
    class->count++;
    class->sum_us += us;
    times->count++;
    times->sum_us += us;
    return true;
}

/* The mean of the class that the `rank`th shortest is in. */
static double nth(const struct ready_times *times, uint64_t rank)
{
    uint64_t before = 0;
    for (uint32_t i = 0; i < CLASSES; i++) {
        before += times->classes[i].count;
        if (before > rank) {
            return times->classes[i].sum_us / (double)times->classes[i].count;
        }
    }
    return 0;
}

static void ready_scan_settle_times(struct ready_times *times, struct mem *mem)
{
    if (times->classes == NULL) {
        return;
    }
    double low = nth(times, (times->count - 1) / 2);
    double high = nth(times, times->count / 2);
    times->median_us = low == high ? low : (low + high) / 2;
    mem_free(mem, times->classes, CLASSES * sizeof *times->classes);
    times->classes = NULL;
}

/* At the end of the file, or of the attempt to read it. */
static void settle_all_times(struct ready_device *device, struct mem *mem)
{
    for (unsigned level = 0; level < READY_LEVELS; level++) {
        for (unsigned kind = 0; kind < COMM_KIND_COUNT; kind++) {
            ready_scan_settle_times(&device->comms[level][kind].times, mem);
        }
    }
    for (size_t i = 0; i < sizeof device->steps / sizeof device->steps[0]; i++) {
        ready_scan_settle_times(&device->steps[i], mem);
    }
}

/* ---- what was counted ---- */

const char *ready_level_text(enum ready_level level)
{
    static const char *const texts[READY_LEVELS] = {"kernels", "record_param_comms", "annotations", "ops"};
    return texts[level];
}

const struct ready_times *ready_steps(const struct ready_device *device)
{
    const struct ready_times *steps = device->steps;
    return steps[0].count > 0 ? &steps[0] : steps[1].count > 0 ? &steps[1] : &steps[2];
}

uint64_t ready_comm_count(const struct ready_device *device, enum comm_kind kind, enum ready_level *level)
{
    for (unsigned i = 0; i < READY_LEVELS; i++) {
        if (device->comms[i][kind].count > 0) {
            *level = (enum ready_level)i;
            return device->is_imported ? device->imported[kind].count : device->comms[i][kind].count;
        }
    }
    *level = READY_OP;
    return device->is_imported ? device->imported[kind].count : 0;
}

bool ready_comm_bytes(const struct ready_device *device, enum comm_kind kind, uint64_t *bytes)
{
    if (device->is_imported) {
        *bytes = device->imported[kind].bytes;
        return device->imported[kind].count > 0;
    }
    for (unsigned i = 0; i < READY_LEVELS; i++) {
        if (device->comms[i][kind].sized > 0) {
            *bytes = device->comms[i][kind].bytes;
            return true;
        }
    }
    return false;
}

/* ---- one event ---- */

struct scanning {
    struct ready_device *device;
    struct kineto_reader reader;
    struct kineto_trace *trace; /* holds one event at most */
    struct kineto_trace *about; /* what the file says of the whole recording */
    struct mem *mem;
};

/* Bytes that an event says a communication has: elements and their type, or the tensors' shapes, or a tag. */
static bool ready_scan_bytes_of(const struct kineto_trace *trace, const struct kineto_event *event, const char *name,
                                uint64_t *bytes)
{
    const char *tag = strstr(name, "|bytes=");
    if (tag != NULL && tag[7] >= '0' && tag[7] <= '9') {
        *bytes = strtoull(tag + 7, NULL, 10);
        return true;
    }
    if (event->comm == KINETO_NONE) {
        return false;
    }
    const struct kineto_comm *comm = &trace->comms[event->comm];
    uint32_t width = comm_dtype_bytes(intern_text(&trace->names, comm->dtype));
    if (comm->in_elements != UINT64_MAX && width > 0 && !__builtin_mul_overflow(comm->in_elements, width, bytes)) {
        return true;
    }
    *bytes = comm->input_bytes;
    return comm->input_bytes != UINT64_MAX;
}

/* The collective an event's arguments name, where its own name says only that it is one. */
static enum comm_kind kind_by_argument(const struct kineto_trace *trace, const struct kineto_event *event,
                                       enum comm_kind kind)
{
    if (kind != COMM_UNKNOWN || event->comm == KINETO_NONE || trace->comms[event->comm].collective == 0) {
        return kind;
    }
    return comm_name_word(intern_text(&trace->names, trace->comms[event->comm].collective));
}

static bool ready_scan_add_comm(struct scanning *scan, enum ready_level level, enum comm_kind kind,
                                const struct kineto_event *event, const char *name)
{
    uint64_t bytes = 0;
    if (kind == COMM_NONE) {
        return true;
    }
    struct ready_comm *comm = &scan->device->comms[level][kind];
    comm->count++;
    if (ready_scan_bytes_of(scan->trace, event, name, &bytes)) {
        comm->sized++;
        comm->bytes = __builtin_add_overflow(comm->bytes, bytes, &comm->bytes) ? UINT64_MAX : comm->bytes;
    }
    return add_time(&comm->times, event->dur_us, scan->mem);
}

static void ready_scan_add_stream(struct ready_device *device, const struct kineto_event *event)
{
    uint32_t i = 0;
    if ((event->has & KINETO_HAS_STREAM) == 0) {
        return;
    }
    while (i < device->stream_count && device->streams[i] != event->stream) {
        i++;
    }
    if (i == device->stream_count && i < READY_STREAMS) {
        device->streams[device->stream_count++] = event->stream;
    }
}

static bool take_kernel(struct scanning *scan, const struct kineto_event *event, const char *name)
{
    struct ready_device *device = scan->device;
    enum comm_kind kind = comm_name_kernel(name);
    device->kernels++;
    if (kind == COMM_NONE) {
        device->compute_us += event->dur_us;
        return true;
    }
    device->comm_kernels++;
    device->comm_us += event->dur_us;
    enum comm_kind told = kind_by_argument(scan->trace, event, kind);
    kind = told == COMM_NONE ? kind : told;
    device->unnamed_kernels += kind == COMM_UNKNOWN;
    return ready_scan_add_comm(scan, READY_KERNEL, kind, event, name);
}

static bool take_host_op(struct scanning *scan, const struct kineto_event *event, const char *name)
{
    struct ready_device *device = scan->device;
    device->host_ops++;
    if (strncmp(name, "ProfilerStep#", 13) == 0) {
        return add_time(&device->steps[1], event->dur_us, scan->mem);
    }
    enum comm_kind kind = comm_name_op(name);
    if (strcmp(name, "record_param_comms") != 0) {
        return ready_scan_add_comm(scan, READY_OP, kind, event, name);
    }
    device->param_comms++;
    return ready_scan_add_comm(scan, READY_PARAM_COMMS, kind_by_argument(scan->trace, event, kind), event, name);
}

static void ready_scan_take_call(struct ready_device *device, const char *name)
{
    device->calls++;
    switch (kineto_call_of(name)) {
    case KINETO_CALL_LAUNCH:
        device->launches++;
        break;
    case KINETO_CALL_EVENT_RECORD:
        device->event_records++;
        break;
    case KINETO_CALL_STREAM_WAIT:
        device->stream_waits++;
        break;
    case KINETO_CALL_EVENT_SYNC:
    case KINETO_CALL_STREAM_SYNC:
    case KINETO_CALL_DEVICE_SYNC:
        device->synchronises++;
        break;
    case KINETO_CALL_OTHER:
        break;
    }
}

static void take_device_work(struct ready_device *device, const struct kineto_event *event)
{
    device->copies += event->cat == KINETO_MEMCPY;
    device->sets += event->cat == KINETO_MEMSET;
    device->unlinked += (event->has & KINETO_HAS_CORRELATION) == 0;
    ready_scan_add_stream(device, event);
}

/* One of NCCL's or RCCL's lasts as long as it takes to enqueue: their work is kernels. */
static bool take_annotation(struct scanning *scan, const struct kineto_event *event, const char *name)
{
    enum comm_kind kind = comm_name_op(name);
    bool enqueues = strncmp(name, "nccl", 4) == 0 || strncmp(name, "rccl", 4) == 0;
    scan->device->host_comm_us += kind == COMM_NONE || enqueues ? 0 : event->dur_us;
    scan->device->fsdp = scan->device->fsdp || strncmp(name, "FSDP::", 6) == 0;
    return ready_scan_add_comm(scan, READY_ANNOTATION, kind, event, name);
}

static bool ready_scan_take_event(struct scanning *scan, const struct kineto_event *event)
{
    struct ready_device *device = scan->device;
    const char *name = intern_text(&scan->trace->names, event->name);
    if ((event->has & KINETO_HAS_RF_ID) != 0) {
        device->least_rf = device->least_rf < 0 || event->rf_id < device->least_rf ? event->rf_id : device->least_rf;
        device->most_rf = event->rf_id > device->most_rf ? event->rf_id : device->most_rf;
    }
    switch ((enum kineto_cat)event->cat) {
    case KINETO_KERNEL:
        take_device_work(device, event);
        return take_kernel(scan, event, name);
    case KINETO_MEMCPY:
    case KINETO_MEMSET:
        take_device_work(device, event);
        return true;
    case KINETO_CPU_OP:
        return take_host_op(scan, event, name);
    case KINETO_RUNTIME:
    case KINETO_DRIVER:
        ready_scan_take_call(device, name);
        return true;
    case KINETO_SYNC:
        device->sync_events++;
        return true;
    case KINETO_USER_ANNOTATION:
        device->annotations++;
        if (strncmp(name, "ProfilerStep#", 13) == 0) {
            return add_time(&device->steps[0], event->dur_us, scan->mem);
        }
        return take_annotation(scan, event, name);
    case KINETO_GPU_ANNOTATION:
        return strncmp(name, "ProfilerStep#", 13) != 0 || add_time(&device->steps[2], event->dur_us, scan->mem);
    case KINETO_OTHER:
    case KINETO_CATS:
        break;
    }
    return true;
}

static void ready_scan_forget_names(struct scanning *scan)
{
    struct kineto_trace *trace = scan->trace;
    if (trace->names.byte_count + trace->threads.byte_count < NAMES_MOST) {
        return;
    }
    intern_free(&trace->names);
    intern_free(&trace->threads);
    intern_init(&trace->names, scan->mem);
    intern_init(&trace->threads, scan->mem);
    trace->thread_count = 0;
    scan->reader.tid_length = scan->reader.pid_length = 0;
}

static bool take_element(struct scanning *scan, const struct json_part *part)
{
    struct kineto_trace *trace = scan->trace;
    const struct json_item *cat = json_item_member(part->item, "cat");
    scan->device->events++;
    scan->device->python += cat != NULL && json_item_is(cat, "python_function");
    if (!kineto_event_add(&scan->reader, (uint32_t)(part->index & UINT32_MAX), part->item)) {
        return false;
    }
    bool fine = trace->event_count == 0 || ready_scan_take_event(scan, &trace->events[0]);
    trace->event_count = trace->comm_count = trace->sync_count = trace->copy_count = 0;
    ready_scan_forget_names(scan);
    return fine;
}

/* ---- a device trace ---- */

static bool is_amd(const char *name)
{
    static const char *const words[] = {"AMD", "Radeon", "Instinct", "gfx"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (strstr(name, words[i]) != NULL) {
            return true;
        }
    }
    return false;
}

static enum orr_status ready_scan_read_parts(struct scanning *scan, struct json_stream *stream, bool *has_events,
                                             struct orr_error *err)
{
    for (;;) {
        struct json_part part;
        bool more = false;
        enum orr_status status = json_stream_next(stream, &part, &more, err);
        if (status != ORR_OK || !more) {
            return status;
        }
        bool events = strcmp(part.key, "traceEvents") == 0 || part.key[0] == '\0';
        *has_events = *has_events || (events && (part.is_element || part.is_empty));
        if (part.is_element ? !take_element(scan, &part)
                            : !part.is_empty && !kineto_info_add(scan->about, part.key, part.item)) {
            return mem_error(scan->mem, "names in a device trace", err);
        }
        scan->device->amd |= strncmp(part.key, "hip_", 4) == 0 || strncmp(part.key, "roctracer", 9) == 0;
    }
}

static void finish_device(struct scanning *scan, const struct json_stream *stream)
{
    struct ready_device *device = scan->device;
    const struct kineto_info *info = &scan->about->info;
    device->there = true;
    device->cut = json_stream_was_cut(stream);
    device->bytes = json_stream_unpacked_size(stream);
    device->unusable = scan->reader.untimed + scan->reader.unusable;
    device->rank = info->rank;
    device->world_size = info->world_size;
    if (scan->trace->first_ts_us <= scan->trace->last_end_us) {
        device->first_us = scan->trace->first_ts_us;
        device->last_us = scan->trace->last_end_us;
    }
    (void)snprintf(device->device, sizeof device->device, "%s", intern_text(&scan->about->names, info->device));
    host_text_clean(device->device);
    device->amd = device->amd || is_amd(device->device);
}

static enum orr_status scan_device(struct scanning *scan, const char *path, struct orr_error *err)
{
    static const char *const arrays[] = {"traceEvents", "", NULL};
    struct json_stream *stream = NULL;
    bool has_events = false;
    enum orr_status status = json_stream_open(path, arrays, JSON_STREAM_MAY_BE_CUT, scan->mem, &stream, err);
    status = status != ORR_OK ? status : ready_scan_read_parts(scan, stream, &has_events, err);
    if (status == ORR_OK && !has_events) {
        status =
            error_set(err, ORR_EINVAL, "%s: no \"traceEvents\" in it; this is no device trace of the profiler", path);
    }
    if (status == ORR_OK) {
        finish_device(scan, stream);
    }
    json_stream_close(stream);
    return status;
}

enum orr_status ready_scan_device(const char *path, struct mem *mem, struct ready_device *device, struct orr_error *err)
{
    struct ready_device made = {.least_rf = -1, .most_rf = -1};
    struct scanning scan = {.device = &made, .mem = mem};
    scan.trace = scan.reader.trace = kineto_trace_new(mem);
    scan.about = kineto_trace_new(mem);
    enum orr_status status = scan.trace == NULL || scan.about == NULL ? mem_error(mem, "a device trace", err)
                                                                      : scan_device(&scan, path, err);
    settle_all_times(&made, mem);
    if (status == ORR_OK) {
        *device = made;
    }
    kineto_free(scan.trace);
    kineto_free(scan.about);
    return status;
}

/* ---- a trace of rocprofv3 ---- */

enum orr_status ready_scan_rocprof(const char *path, struct mem *mem, struct ready_device *device,
                                   struct orr_error *err)
{
    struct ready_device made = {.least_rf = -1, .most_rf = -1, .rank = -1, .world_size = -1, .amd = true};
    struct kineto_trace *trace = NULL;
    struct notes notes;
    notes_init(&notes, mem, false);
    enum orr_status status = rocprof_read(path, mem, &notes, &trace, err);
    struct scanning scan = {.device = &made, .mem = mem, .trace = trace};
    for (uint32_t i = 0; status == ORR_OK && i < trace->event_count; i++) {
        if (!ready_scan_take_event(&scan, &trace->events[i])) {
            status = mem_error(mem, "a trace of rocprofv3", err);
        }
    }
    settle_all_times(&made, mem);
    if (status == ORR_OK) {
        made.there = true;
        made.bytes = trace->byte_count;
        made.events = trace->event_total;
        made.unusable = trace->event_total - trace->event_count;
        made.first_us = trace->first_ts_us;
        made.last_us = trace->last_end_us;
        *device = made;
    }
    kineto_free(trace);
    notes_free(&notes);
    return status;
}

/* ---- a host trace ---- */

static void ready_scan_take_node(struct ready_host *host, const struct json_item *item)
{
    struct host_fields fields;
    int64_t rf = -1;
    if (item->kind != JSON_ITEM_OBJECT) {
        return;
    }
    host_fields_find(item, &fields);
    const struct json_item *name = host_field(&fields, HOST_FIELD_NAME);
    bool named = host_item_is_text(name) && name->length > 0;
    host->nodes++;
    host->param_comms += named && json_item_is(name, "record_param_comms");
    host->comms += named && host_name_is_comm(name->text, name->length);
    /* What the observer adds itself ("[pytorch|…", "## …") is numbered apart from the ops. */
    if (named && name->text[0] != '[' && name->text[0] != '#' &&
        host_item_i64(host_field(&fields, HOST_FIELD_RF_ID), &rf) && rf >= 0) {
        host->least_rf = host->least_rf < 0 || rf < host->least_rf ? rf : host->least_rf;
        host->most_rf = rf > host->most_rf ? rf : host->most_rf;
    }
}

static enum orr_status ready_scan_read_nodes(struct ready_host *host, struct json_stream *stream, bool *has_nodes,
                                             struct orr_error *err)
{
    for (;;) {
        struct json_part part;
        bool more = false;
        enum orr_status status = json_stream_next(stream, &part, &more, err);
        if (status == ORR_EINVAL && *has_nodes && json_stream_document_end(stream) != UINT64_MAX) {
            host->several = true; /* a recorder that was started again */
            return ORR_OK;
        }
        if (status != ORR_OK || !more) {
            return status;
        }
        bool nodes = strcmp(part.key, "nodes") == 0;
        *has_nodes = *has_nodes || (nodes && (part.is_element || part.is_empty));
        if (nodes && part.is_element) {
            ready_scan_take_node(host, part.item);
        } else if (strcmp(part.key, "schema") == 0 && !part.is_empty && part.item->kind == JSON_ITEM_STRING) {
            (void)snprintf(host->schema, sizeof host->schema, "%.*s",
                           (int)(part.item->length < READY_NAME ? part.item->length : READY_NAME - 1), part.item->text);
            host_text_clean(host->schema);
        }
    }
}

enum orr_status ready_scan_host(const char *path, struct mem *mem, struct ready_host *host, struct orr_error *err)
{
    static const char *const arrays[] = {"nodes", NULL};
    struct json_stream *stream = NULL;
    struct ready_host made = {.there = true, .least_rf = -1, .most_rf = -1};
    bool has_nodes = false;
    enum orr_status status = json_stream_open(path, arrays, JSON_STREAM_MAY_BE_CUT, mem, &stream, err);
    status = status != ORR_OK ? status : ready_scan_read_nodes(&made, stream, &has_nodes, err);
    if (status == ORR_OK && !has_nodes) {
        status = error_set(err, ORR_EINVAL, "%s: no \"nodes\" in it; this is no execution trace", path);
    }
    if (status == ORR_OK) {
        made.cut = json_stream_was_cut(stream);
        made.bytes = json_stream_unpacked_size(stream);
        *host = made;
    }
    json_stream_close(stream);
    return status;
}
