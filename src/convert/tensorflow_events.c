/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two passes, because the names of processes and threads may stand behind the events they explain: the first learns the
 * lines, the second keeps the events of those that matter. In this format every argument is a text, numbers too; plain
 * numbers are taken as well.
 */
#include "convert/tensorflow_events.h"

#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "convert/hlo.h"
#include "io/json_stream.h"

enum { WORD = 256, DEVICE_NONE = UINT32_MAX };

struct reading {
    struct tf_trace *trace;
    struct json_stream *stream;
    struct intern pids;     /* as written */
    struct intern line_ids; /* "PID TID" */
    uint32_t *devices;      /* by process; DEVICE_NONE for a host's */
    uint32_t process_capacity;
    uint64_t offset; /* of the event at hand */
};

static enum orr_status tensorflow_events_refused(const struct reading *reading, struct orr_error *err)
{
    return mem_error(reading->trace->mem, "the trace's events", err);
}

static enum orr_status tensorflow_events_fail_event(struct reading *reading, const char *what, struct orr_error *err)
{
    return error_set(err, ORR_EINVAL, "%s:%" PRIu64 ": %s", json_stream_path(reading->stream),
                     json_stream_line(reading->stream, reading->offset), what);
}

/* ---- values ----------------------------------------------------------------------------------------------------- */

static void tensorflow_events_copy_text(const struct json_item *item, char word[WORD])
{
    bool has = item != NULL && item->text != NULL;
    (void)snprintf(word, WORD, "%.*s", has ? (int)(item->length < WORD ? item->length : WORD) : 0,
                   has ? item->text : "");
}

static bool tensorflow_events_read_integer(const struct json_item *item, int64_t *value)
{
    char word[WORD];
    char *end = NULL;
    tensorflow_events_copy_text(item, word);
    long long got = strtoll(word, &end, 10);
    if (word[0] == '\0' || *end != '\0' || got == LLONG_MAX || got == LLONG_MIN) {
        return false;
    }
    *value = got;
    return true;
}

/* Microseconds, with decimals, in ns. */
static bool tensorflow_events_read_time(const struct json_item *item, uint64_t *ns)
{
    double us = -1;
    if (item != NULL && item->kind == JSON_ITEM_INT) {
        us = (double)item->value.integer;
    } else if (item != NULL && item->kind == JSON_ITEM_REAL) {
        us = item->value.real;
    }
    if (!(us >= 0 && us < 9e15)) {
        return false;
    }
    *ns = (uint64_t)(us * 1000 + 0.5);
    return true;
}

static bool intern_item(struct intern *intern, const struct json_item *item, uint32_t *number)
{
    *number = 0;
    return item == NULL || item->kind != JSON_ITEM_STRING || intern_add(intern, item->text, item->length, number);
}

/* ---- lines ------------------------------------------------------------------------------------------------------ */

static bool find_process(struct reading *reading, const struct json_item *event, uint32_t *number)
{
    char pid[WORD];
    char key[WORD + 8];
    uint32_t before = intern_count(&reading->pids);
    tensorflow_events_copy_text(json_item_member(event, "pid"), pid);
    (void)snprintf(key, sizeof key, "pid %s", pid);
    if (!intern_add(&reading->pids, key, strlen(key), number) ||
        !MEM_RESERVE(reading->trace->mem, reading->devices, reading->process_capacity, intern_count(&reading->pids))) {
        return false;
    }
    if (*number >= before) {
        reading->devices[*number] = DEVICE_NONE;
    }
    return true;
}

static bool find_line(struct reading *reading, const struct json_item *event, uint32_t process, uint32_t *number)
{
    char key[WORD + 16];
    char tid[WORD];
    struct tf_trace *trace = reading->trace;
    uint32_t before = intern_count(&reading->line_ids);
    tensorflow_events_copy_text(json_item_member(event, "tid"), tid);
    (void)snprintf(key, sizeof key, "%" PRIu32 " %s", process, tid);
    if (!intern_add(&reading->line_ids, key, strlen(key), number) ||
        !MEM_RESERVE(trace->mem, trace->lines, trace->line_capacity, intern_count(&reading->line_ids))) {
        return false;
    }
    trace->line_count = intern_count(&reading->line_ids);
    if (*number >= before) {
        trace->lines[*number] = (struct tf_line){.device = DEVICE_NONE, .stream = strtoll(tid, NULL, 10)};
    }
    return true;
}

/* "/device:GPU:0" or "host /device:TPU:3"; a device that is the host's processor is none. */
static enum orr_status name_process(struct reading *reading, uint32_t process, const struct json_item *name,
                                    struct orr_error *err)
{
    char text[WORD];
    struct tf_trace *trace = reading->trace;
    tensorflow_events_copy_text(name, text);
    const char *device = strstr(text, "/device:");
    if (device == NULL || strncmp(device, "/device:CPU", 11) == 0 || reading->devices[process] != DEVICE_NONE) {
        return ORR_OK;
    }
    const char *colon = strrchr(device, ':');
    struct tf_device made = {.number = (uint32_t)strtoul(colon + 1, NULL, 10), .is_gpu = strstr(device, "GPU") != NULL};
    if (!intern_add(&trace->texts, text, strlen(text), &made.name) ||
        !MEM_GROW(trace->mem, trace->devices, trace->device_capacity, trace->device_count)) {
        return tensorflow_events_refused(reading, err);
    }
    reading->devices[process] = trace->device_count;
    trace->devices[trace->device_count++] = made;
    return ORR_OK;
}

static void name_line(struct tf_line *line, const struct json_item *name)
{
    static const struct {
        const char *name;
        enum tf_line_kind kind;
    } known[] = {
        {"Steps", TF_LINE_STEPS},
        {"XLA Ops", TF_LINE_OPS},
        {"XLA Modules", TF_LINE_DERIVED},
        {"Async XLA Ops", TF_LINE_DERIVED},
        {"Framework Name Scope", TF_LINE_DERIVED},
        {"Framework Ops", TF_LINE_DERIVED},
        {"TensorFlow Name Scope", TF_LINE_DERIVED},
        {"TensorFlow Ops", TF_LINE_DERIVED},
        {"Source code", TF_LINE_DERIVED},
        {"Launch Stats", TF_LINE_DERIVED},
    };
    char text[WORD];
    tensorflow_events_copy_text(name, text);
    const char *number = strchr(text, '#');
    if (strncmp(text, "Stream", 6) == 0 && number != NULL) {
        line->stream = strtoll(number + 1, NULL, 10);
    }
    line->kind = TF_LINE_STREAM; /* of a GPU; elsewhere settled below */
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (strcmp(text, known[i].name) == 0) {
            line->kind = known[i].kind;
        }
    }
}

static enum orr_status tensorflow_events_take_name(struct reading *reading, const struct json_item *event,
                                                   struct orr_error *err)
{
    const struct json_item *phase = json_item_member(event, "ph");
    const struct json_item *what = json_item_member(event, "name");
    const struct json_item *args = json_item_member(event, "args");
    const struct json_item *name = args == NULL ? NULL : json_item_member(args, "name");
    uint32_t process = 0;
    uint32_t line = 0;
    if (phase == NULL || !json_item_is(phase, "M") || what == NULL || name == NULL) {
        return ORR_OK;
    }
    bool names_line = json_item_is(what, "thread_name");
    if (!names_line && !json_item_is(what, "process_name")) {
        return ORR_OK;
    }
    if (!find_process(reading, event, &process) || (names_line && !find_line(reading, event, process, &line))) {
        return tensorflow_events_refused(reading, err);
    }
    if (names_line) {
        name_line(&reading->trace->lines[line], name);
        return ORR_OK;
    }
    return name_process(reading, process, name, err);
}

/* A line's kind once all names are known: streams are a GPU's, and a line without a name is one of them. */
static enum tf_line_kind settle_line(const struct reading *reading, uint32_t process, struct tf_line *line)
{
    line->device = reading->devices[process];
    if (line->device == DEVICE_NONE) {
        return TF_LINE_HOST;
    }
    if (line->kind == TF_LINE_OTHER || line->kind == TF_LINE_STREAM) {
        return reading->trace->devices[line->device].is_gpu ? TF_LINE_STREAM : TF_LINE_OTHER;
    }
    return line->kind;
}

/* ---- events ----------------------------------------------------------------------------------------------------- */

/* "kind_src:… size:4096 dest:0". */
static bool read_copied(const struct json_item *item, uint64_t *bytes)
{
    char text[WORD];
    tensorflow_events_copy_text(item, text);
    const char *size = strstr(text, "size:");
    if (size == NULL || size[5] < '0' || size[5] > '9') {
        return false;
    }
    *bytes = strtoull(size + 5, NULL, 10);
    return *bytes <= INT64_MAX;
}

/* Both "MODULE OP" and "OP": a kernel may know only the operation. The first to tell wins. */
static enum orr_status keep_size(struct reading *reading, const struct tf_size *size, const struct tf_event *event,
                                 struct orr_error *err)
{
    struct tf_trace *trace = reading->trace;
    for (unsigned with_module = 0; with_module < 2; with_module++) {
        char key[32];
        uint32_t number = 0;
        uint32_t before = intern_count(&trace->keys);
        (void)snprintf(key, sizeof key, "%" PRIu32 " %" PRIu32, with_module ? event->module : 0, event->op);
        if (!intern_add(&trace->keys, key, strlen(key), &number) ||
            !MEM_RESERVE(trace->mem, trace->sizes, trace->size_capacity, intern_count(&trace->keys))) {
            return tensorflow_events_refused(reading, err);
        }
        if (number >= before || (!trace->sizes[number].has_shape && size->has_shape)) {
            trace->sizes[number] = *size;
        }
    }
    return ORR_OK;
}

/* On an XLA line the event's name is the operation. */
static enum orr_status take_size(struct reading *reading, const struct json_item *args, const struct tf_event *event,
                                 struct orr_error *err)
{
    struct tf_size size = {0};
    enum hlo_half half = HLO_WHOLE;
    int64_t accessed = 0;
    const char *op = intern_text(&reading->trace->texts, event->op);
    enum comm_kind kind = hlo_name_kind(op, strlen(op), &half);
    const struct json_item *shape = json_item_member(args, "shape_with_layout");
    if (kind == COMM_NONE) {
        return ORR_OK;
    }
    if (shape != NULL && shape->kind == JSON_ITEM_STRING) {
        bool first_only = half == HLO_START && kind == COMM_ALL_GATHER && shape->length > 0 && shape->text[0] == '(';
        size.has_shape = hlo_shape_bytes(shape->text, shape->length, first_only, &size.shape_bytes);
    }
    size.has_accessed =
        tensorflow_events_read_integer(json_item_member(args, "bytes_accessed"), &accessed) && accessed > 0;
    size.accessed = (uint64_t)accessed;
    return size.has_shape || size.has_accessed ? keep_size(reading, &size, event, err) : ORR_OK;
}

static enum orr_status tensorflow_events_take_group(struct reading *reading, const struct tf_event *event,
                                                    struct orr_error *err)
{
    struct tf_trace *trace = reading->trace;
    char key[32];
    uint32_t number = 0;
    uint32_t before = intern_count(&trace->groups);
    (void)snprintf(key, sizeof key, "%" PRId64, event->group);
    if (!intern_add(&trace->groups, key, strlen(key), &number) ||
        !MEM_RESERVE(trace->mem, trace->step_of_group, trace->group_capacity, intern_count(&trace->groups))) {
        return tensorflow_events_refused(reading, err);
    }
    if (number >= before) {
        trace->step_of_group[number] = event->step;
    }
    return ORR_OK;
}

static enum orr_status take_step(struct reading *reading, const struct tf_event *event, uint32_t device,
                                 struct orr_error *err)
{
    struct tf_trace *trace = reading->trace;
    const char *name = intern_text(&trace->texts, event->name);
    char *end = NULL;
    long long number = strtoll(name, &end, 10);
    if (name[0] < '0' || name[0] > '9' || *end != '\0') {
        return ORR_OK;
    }
    if (!MEM_GROW(trace->mem, trace->steps, trace->step_capacity, trace->step_count)) {
        return tensorflow_events_refused(reading, err);
    }
    trace->steps[trace->step_count++] =
        (struct tf_step){event->start_ns, event->start_ns + event->duration_ns, number, device};
    return ORR_OK;
}

static enum orr_status read_event(struct reading *reading, const struct json_item *item, struct tf_event *event,
                                  struct orr_error *err)
{
    struct intern *texts = &reading->trace->texts;
    const struct json_item *args = json_item_member(item, "args");
    const struct json_item *duration = json_item_member(item, "dur");
    if (!tensorflow_events_read_time(json_item_member(item, "ts"), &event->start_ns) ||
        (duration != NULL && !tensorflow_events_read_time(duration, &event->duration_ns))) {
        return tensorflow_events_fail_event(reading, "an event whose \"ts\" or \"dur\" is no time in microseconds",
                                            err);
    }
    bool good = intern_item(texts, json_item_member(item, "name"), &event->name);
    if (args != NULL) {
        good = good && intern_item(texts, json_item_member(args, "hlo_op"), &event->op) &&
               intern_item(texts, json_item_member(args, "hlo_module"), &event->module);
        event->has |=
            tensorflow_events_read_integer(json_item_member(args, "step_num"), &event->step) ? TF_HAS_STEP : 0;
        event->has |=
            tensorflow_events_read_integer(json_item_member(args, "group_id"), &event->group) ? TF_HAS_GROUP : 0;
        event->has |= read_copied(json_item_member(args, "memcpy_details"), &event->copied) ? TF_HAS_COPIED : 0;
    }
    return good ? ORR_OK : tensorflow_events_refused(reading, err);
}

static enum orr_status tensorflow_events_keep_event(struct reading *reading, const struct tf_event *event,
                                                    struct orr_error *err)
{
    struct tf_trace *trace = reading->trace;
    struct tf_line *line = &trace->lines[event->line];
    struct tf_device *device = &trace->devices[line->device];
    if (!MEM_GROW(trace->mem, trace->events, trace->event_capacity, trace->event_count)) {
        return tensorflow_events_refused(reading, err);
    }
    trace->events[trace->event_count++] = *event;
    device->has_streams |= line->kind == TF_LINE_STREAM;
    device->kernels++;
    return ORR_OK;
}

static enum orr_status tensorflow_events_take_event(struct reading *reading, const struct json_item *item,
                                                    struct orr_error *err)
{
    struct tf_trace *trace = reading->trace;
    const struct json_item *phase = json_item_member(item, "ph");
    const struct json_item *args = json_item_member(item, "args");
    struct tf_event event = {0};
    uint32_t process = 0;
    if (phase == NULL || !json_item_is(phase, "X")) {
        return ORR_OK;
    }
    if (!find_process(reading, item, &process) || !find_line(reading, item, process, &event.line)) {
        return tensorflow_events_refused(reading, err);
    }
    enum tf_line_kind kind = settle_line(reading, process, &trace->lines[event.line]);
    trace->lines[event.line].kind = kind;
    if (kind == TF_LINE_OTHER ||
        (kind == TF_LINE_HOST && (args == NULL || json_item_member(args, "step_num") == NULL))) {
        return ORR_OK;
    }
    enum orr_status status = read_event(reading, item, &event, err);
    if (status != ORR_OK) {
        return status;
    }
    if (kind == TF_LINE_HOST) {
        bool both = (event.has & TF_HAS_STEP) != 0 && (event.has & TF_HAS_GROUP) != 0;
        return both ? tensorflow_events_take_group(reading, &event, err) : ORR_OK;
    }
    if (kind == TF_LINE_STEPS) {
        return take_step(reading, &event, trace->lines[event.line].device, err);
    }
    if (kind != TF_LINE_STREAM && event.op == 0) {
        event.op = event.name;
    }
    if (args != NULL && event.op != 0) {
        status = take_size(reading, args, &event, err);
    }
    return status == ORR_OK && kind != TF_LINE_DERIVED ? tensorflow_events_keep_event(reading, &event, err) : status;
}

/* ---- passes ----------------------------------------------------------------------------------------------------- */

static enum orr_status read_pass(struct reading *reading,
                                 enum orr_status (*take)(struct reading *, const struct json_item *,
                                                         struct orr_error *),
                                 struct orr_error *err)
{
    struct json_part part;
    bool more = true;
    enum orr_status status = json_stream_next(reading->stream, &part, &more, err);
    while (status == ORR_OK && more) {
        reading->offset = part.offset;
        if (part.is_element && part.item->kind == JSON_ITEM_OBJECT) {
            status = take(reading, part.item, err);
        }
        if (status == ORR_OK) {
            status = json_stream_next(reading->stream, &part, &more, err);
        }
    }
    return status;
}

static enum orr_status tensorflow_events_read_all(struct reading *reading, struct orr_error *err)
{
    enum orr_status status = read_pass(reading, tensorflow_events_take_name, err);
    if (status == ORR_OK && reading->trace->device_count == 0) {
        return error_set(err, ORR_EINVAL,
                         "%s: no process of it is a device (\"/device:GPU:0\", \"/device:TPU:0\"); a TensorFlow or JAX "
                         "profile with device events is needed",
                         json_stream_path(reading->stream));
    }
    if (status == ORR_OK) {
        status = json_stream_restart(reading->stream, 0, UINT64_MAX, err);
    }
    return status == ORR_OK ? read_pass(reading, tensorflow_events_take_event, err) : status;
}

enum orr_status tf_trace_read(const char *path, struct mem *mem, struct tf_trace *trace, struct orr_error *err)
{
    static const char *const arrays[] = {"traceEvents", "", NULL};
    struct reading reading = {.trace = trace};
    *trace = (struct tf_trace){.mem = mem};
    intern_init(&trace->texts, mem);
    intern_init(&trace->keys, mem);
    intern_init(&trace->groups, mem);
    intern_init(&reading.pids, mem);
    intern_init(&reading.line_ids, mem);
    enum orr_status status = json_stream_open(path, arrays, 0, mem, &reading.stream, err);
    if (status == ORR_OK) {
        status = tensorflow_events_read_all(&reading, err);
    }
    json_stream_close(reading.stream);
    intern_free(&reading.pids);
    intern_free(&reading.line_ids);
    mem_free(mem, reading.devices, reading.process_capacity * sizeof *reading.devices);
    if (status != ORR_OK) {
        tf_trace_free(trace);
    }
    return status;
}

void tf_trace_free(struct tf_trace *trace)
{
    struct mem *mem = trace->mem;
    intern_free(&trace->texts);
    intern_free(&trace->keys);
    intern_free(&trace->groups);
    mem_free(mem, trace->devices, trace->device_capacity * sizeof *trace->devices);
    mem_free(mem, trace->lines, trace->line_capacity * sizeof *trace->lines);
    mem_free(mem, trace->events, trace->event_capacity * sizeof *trace->events);
    mem_free(mem, trace->sizes, trace->size_capacity * sizeof *trace->sizes);
    mem_free(mem, trace->steps, trace->step_capacity * sizeof *trace->steps);
    mem_free(mem, trace->step_of_group, trace->group_capacity * sizeof *trace->step_of_group);
    *trace = (struct tf_trace){.mem = mem};
}

const struct tf_size *tf_trace_size(const struct tf_trace *trace, uint32_t module, uint32_t op)
{
    const uint32_t modules[] = {module, 0};
    for (size_t i = 0; i < 2; i++) {
        char key[32];
        (void)snprintf(key, sizeof key, "%" PRIu32 " %" PRIu32, modules[i], op);
        uint32_t number = intern_find(&trace->keys, key, strlen(key));
        if (number != UINT32_MAX) {
            return &trace->sizes[number];
        }
    }
    return NULL;
}

int64_t tf_trace_group_step(const struct tf_trace *trace, int64_t group)
{
    char key[32];
    (void)snprintf(key, sizeof key, "%" PRId64, group);
    uint32_t number = intern_find(&trace->groups, key, strlen(key));
    return number == UINT32_MAX ? INT64_MIN : trace->step_of_group[number];
}
