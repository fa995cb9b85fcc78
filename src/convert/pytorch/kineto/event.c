/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One event of a Kineto trace. The members are walked once, by length and then by text: half a million events with a
 * dozen members each leave no time for looking up every key in turn.
 *
 * Traces of several years and two vendors come by here: numbers as text, a stream as "0x0", categories with capital
 * letters or under HIP's name. What is spelt otherwise than NVIDIA's PyTorch of today does is read all the same and
 * marked as an alias, because the compatible linker must not see it (spec chakra §5).
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "convert/pytorch/kineto/window.h"

static bool is(const struct json_item *key, const char *text, size_t length)
{
    return key->length == length && memcmp(key->text, text, length) == 0;
}
#define IS(key, literal) is(key, literal, sizeof(literal) - 1)
#define ROW(literal)     literal, sizeof(literal) - 1

static const struct {
    const char *text;
    enum kineto_cat cat;
    bool alias;
} cats[] = {
    {"cpu_op", KINETO_CPU_OP, false},
    {"kernel", KINETO_KERNEL, false},
    {"cuda_runtime", KINETO_RUNTIME, false},
    {"cuda_driver", KINETO_DRIVER, false},
    {"user_annotation", KINETO_USER_ANNOTATION, false},
    {"gpu_memcpy", KINETO_MEMCPY, false},
    {"gpu_memset", KINETO_MEMSET, false},
    {"cuda_sync", KINETO_SYNC, false},
    {"gpu_user_annotation", KINETO_GPU_ANNOTATION, false},
    {"hip_runtime", KINETO_RUNTIME, true},
    {"hip_driver", KINETO_DRIVER, true},
    {"hip_sync", KINETO_SYNC, true},
    {"privateuse1_runtime", KINETO_RUNTIME, true},
    {"privateuse1_driver", KINETO_DRIVER, true},
    {"mtia_runtime", KINETO_RUNTIME, true},
    {"Operator", KINETO_CPU_OP, true},
    {"Kernel", KINETO_KERNEL, true},
    {"Runtime", KINETO_RUNTIME, true},
    {"Memcpy", KINETO_MEMCPY, true},
    {"Memset", KINETO_MEMSET, true},
};

static enum kineto_cat kineto_event_cat_of(const struct json_item *item, bool *alias)
{
    for (size_t i = 0; i < sizeof cats / sizeof cats[0]; i++) {
        if (is(item, cats[i].text, strlen(cats[i].text))) {
            *alias = cats[i].alias;
            return cats[i].cat;
        }
    }
    return KINETO_OTHER;
}

bool kineto_integer(const struct json_item *item, int64_t *value)
{
    if (item->kind == JSON_ITEM_INT) {
        *value = item->value.integer;
        return true;
    }
    if (item->kind == JSON_ITEM_REAL && item->value.real == floor(item->value.real) && fabs(item->value.real) < 9e18) {
        *value = (int64_t)item->value.real;
        return true;
    }
    char text[32];
    char *end = NULL;
    if (item->kind != JSON_ITEM_STRING || item->length == 0 || item->length >= sizeof text) {
        return false;
    }
    memcpy(text, item->text, item->length);
    text[item->length] = '\0';
    bool hexadecimal = strncmp(text, "0x", 2) == 0 || strncmp(text, "0X", 2) == 0;
    errno = 0;
    long long number = strtoll(text, &end, hexadecimal ? 16 : 10);
    if (end == text || *end != '\0' || errno != 0) {
        return false;
    }
    *value = number;
    return true;
}

static bool kineto_event_time_of(const struct json_item *item, double *us, bool *whole)
{
    double value;
    switch (item->kind) {
    case JSON_ITEM_INT:
        value = (double)item->value.integer;
        break;
    case JSON_ITEM_REAL:
    case JSON_ITEM_BIG:
        value = item->value.real;
        break;
    default:
        return false;
    }
    if (!isfinite(value)) {
        return false;
    }
    *us = value;
    *whole = item->kind != JSON_ITEM_REAL;
    return true;
}

/* ---- arguments ---- */

/* What args say beyond the event's own fields; kept only where something was said. */
struct arguments {
    struct kineto_comm comm;
    struct kineto_sync sync;
    struct kineto_copy copy;
    const struct json_item *input_dims, *input_types;
    bool has_comm, has_sync, has_copy;
};

static bool kineto_event_text_of(struct kineto_trace *trace, const struct json_item *item, uint32_t *number, bool *said)
{
    const char *text = item->kind == JSON_ITEM_ARRAY || item->kind == JSON_ITEM_OBJECT ? NULL : item->text;
    if (text == NULL || item->length == 0) {
        return true;
    }
    *said = true;
    return intern_add(&trace->names, text, item->length, number);
}

static void kineto_event_count_of(const struct json_item *item, uint64_t *count, bool *said)
{
    int64_t value;
    if (kineto_integer(item, &value) && value >= 0) {
        *count = (uint64_t)value;
        *said = true;
    }
}

static void kineto_event_rank_of(const struct json_item *item, int64_t *rank, bool *said)
{
    *said = kineto_integer(item, rank) || *said;
}

/* The keys of communication. */
static bool take_comm(struct kineto_trace *trace, struct arguments *out, const struct json_item *key,
                      const struct json_item *value)
{
    struct kineto_comm *comm = &out->comm;
    bool *said = &out->has_comm;
    const struct {
        const char *key;
        size_t length;
        uint32_t *text;
        uint64_t *count;
        int64_t *rank;
    } rows[] = {
        {ROW("Collective name"), &comm->collective, NULL, NULL},
        {ROW("dtype"), &comm->dtype, NULL, NULL},
        {ROW("Process Group Name"), &comm->group_name, NULL, NULL},
        {ROW("Process Group Description"), &comm->group_text, NULL, NULL},
        {ROW("Process Group Ranks"), &comm->group_ranks, NULL, NULL},
        {ROW("In split size"), &comm->in_split, NULL, NULL},
        {ROW("Out split size"), &comm->out_split, NULL, NULL},
        {ROW("In msg nelems"), NULL, &comm->in_elements, NULL},
        {ROW("Out msg nelems"), NULL, &comm->out_elements, NULL},
        {ROW("Group size"), NULL, &comm->group_size, NULL},
        {ROW("Src Rank"), NULL, NULL, &comm->src_rank},
        {ROW("Dst Rank"), NULL, NULL, &comm->dst_rank},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (!is(key, rows[i].key, rows[i].length)) {
            continue;
        }
        if (rows[i].text != NULL) {
            return kineto_event_text_of(trace, value, rows[i].text, said);
        }
        if (rows[i].count != NULL) {
            kineto_event_count_of(value, rows[i].count, said);
        } else if (rows[i].rank != NULL) {
            kineto_event_rank_of(value, rows[i].rank, said);
        }
        return true;
    }
    return true;
}

static bool take_stream(struct kineto_trace *trace, struct kineto_event *event, const struct json_item *value)
{
    if (value->kind == JSON_ITEM_NULL) {
        event->has |= KINETO_STREAM_IS_NULL;
        return true;
    }
    event->has |= KINETO_HAS_STREAM;
    (void)kineto_integer(value, &event->stream);
    if (value->kind == JSON_ITEM_STRING) {
        event->has |= KINETO_STREAM_IS_TEXT;
        return intern_add(&trace->names, value->text, value->length, &event->stream_text);
    }
    return true;
}

static bool kineto_event_take_number(struct kineto_event *event, const struct json_item *key,
                                     const struct json_item *value)
{
    if (IS(key, "External id") || IS(key, "external id")) {
        if (kineto_integer(value, &event->external_id)) {
            event->has |= KINETO_HAS_EXTERNAL_ID;
            event->has |= key->text[0] == 'e' ? KINETO_EXTERNAL_ID_IS_ALIAS : 0;
        }
    } else if (IS(key, "correlation")) {
        event->has |= kineto_integer(value, &event->correlation) ? KINETO_HAS_CORRELATION : 0;
    } else if (IS(key, "Record function id")) {
        event->has |= kineto_integer(value, &event->rf_id) ? KINETO_HAS_RF_ID : 0;
    } else {
        return false;
    }
    return true;
}

static bool kineto_event_take_argument(struct kineto_trace *trace, struct kineto_event *event,
                                       const struct json_item *key, const struct json_item *value,
                                       struct arguments *out)
{
    if (IS(key, "stream")) {
        return take_stream(trace, event, value);
    }
    if (kineto_event_take_number(event, key, value)) {
        return true;
    }
    if (IS(key, "Input Dims")) {
        out->input_dims = value;
    } else if (IS(key, "Input type")) {
        out->input_types = value;
    } else if (IS(key, "bytes")) {
        kineto_event_count_of(value, &out->copy.bytes, &out->has_copy);
    } else if (IS(key, "wait_on_stream")) {
        kineto_event_rank_of(value, &out->sync.wait_stream, &out->has_sync);
    } else if (IS(key, "wait_on_cuda_event_record_corr_id")) {
        kineto_event_rank_of(value, &out->sync.wait_record_corr, &out->has_sync);
    } else if (IS(key, "wait_on_cuda_event_id")) {
        kineto_event_rank_of(value, &out->sync.wait_event, &out->has_sync);
    } else {
        if (IS(key, "Process Group Name") && value->kind == JSON_ITEM_STRING) {
            event->has |= KINETO_HAS_PG_NAME;
        }
        return take_comm(trace, out, key, value);
    }
    return true;
}

/* ---- the size of a collective's tensors ---- */

static const struct {
    const char *type;
    uint32_t bytes;
} widths[] = {
    {"float", 4},
    {"double", 8},
    {"c10::Half", 2},
    {"c10::BFloat16", 2},
    {"int", 4},
    {"long int", 8},
    {"long", 8},
    {"long long", 8},
    {"short int", 2},
    {"short", 2},
    {"signed char", 1},
    {"char", 1},
    {"bool", 1},
    {"c10::complex<float>", 8},
    {"unsigned char", 1},
    {"c10::Float8_e4m3fn", 1},
    {"c10::Float8_e5m2", 1},
    {"c10::Float8_e4m3fnuz", 1},
    {"c10::Float8_e5m2fnuz", 1},
};

/* False when it is no tensor of a type whose width is known, or too large for 64 bits. */
static bool tensor_bytes(const struct json_item *dims, const struct json_item *type, uint64_t *bytes)
{
    uint64_t total = 0;
    for (size_t i = 0; i < sizeof widths / sizeof widths[0] && total == 0; i++) {
        total = json_item_is(type, widths[i].type) ? widths[i].bytes : 0;
    }
    if (total == 0) {
        return false;
    }
    for (const struct json_item *d = json_item_first(dims); d != json_item_end(dims); d = json_item_next(d)) {
        if (d->kind != JSON_ITEM_INT || d->value.integer < 0 ||
            __builtin_mul_overflow(total, (uint64_t)d->value.integer, &total)) {
            return false;
        }
    }
    *bytes = total;
    return true;
}

/* Arguments that are no tensors have empty dimensions and are passed over; a list of tensors makes the sum unknown.
 * `*first` is the size of the first tensor. */
static uint64_t input_bytes(const struct json_item *dims, const struct json_item *types, uint64_t *first)
{
    uint64_t sum = 0;
    bool any = false;
    *first = UINT64_MAX;
    if (dims == NULL || types == NULL || dims->kind != JSON_ITEM_ARRAY || types->kind != JSON_ITEM_ARRAY) {
        return UINT64_MAX;
    }
    const struct json_item *type = json_item_first(types);
    for (const struct json_item *d = json_item_first(dims); d != json_item_end(dims); d = json_item_next(d)) {
        uint64_t bytes = 0;
        if (type == json_item_end(types)) {
            return UINT64_MAX;
        }
        if (d->kind == JSON_ITEM_ARRAY && d->span > 1) {
            if (!tensor_bytes(d, type, &bytes) || __builtin_add_overflow(sum, bytes, &sum)) {
                return UINT64_MAX;
            }
            *first = any ? *first : bytes;
            any = true;
        }
        type = json_item_next(type);
    }
    return any ? sum : UINT64_MAX;
}

static bool name_is_comm(const char *name)
{
    static const char *const parts[] = {"nccl",       "rccl",      "c10d::",        "gloo:",     "record_param_comms",
                                        "mccl",       "xccl",      "all_reduce",    "allreduce", "AllReduce",
                                        "all_gather", "allgather", "reduce_scatter"};
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        if (strstr(name, parts[i]) != NULL) {
            return true;
        }
    }
    return false;
}

/* ---- keeping ---- */

static bool keep_comm(struct kineto_trace *trace, struct kineto_event *event, struct arguments *said)
{
    if (!said->has_comm && (said->input_dims == NULL || !name_is_comm(intern_text(&trace->names, event->name)))) {
        return true;
    }
    said->comm.input_bytes = input_bytes(said->input_dims, said->input_types, &said->comm.first_bytes);
    if (!MEM_GROW(trace->mem, trace->comms, trace->comm_capacity, trace->comm_count)) {
        return false;
    }
    event->pg_name = said->comm.group_name;
    event->comm = trace->comm_count;
    trace->comms[trace->comm_count++] = said->comm;
    return true;
}

static bool keep_extra(struct kineto_trace *trace, struct kineto_event *event, const struct arguments *said)
{
    bool copies = event->cat == KINETO_MEMCPY || event->cat == KINETO_MEMSET;
    if (copies && said->has_copy) {
        if (!MEM_GROW(trace->mem, trace->copies, trace->copy_capacity, trace->copy_count)) {
            return false;
        }
        event->extra = trace->copy_count;
        trace->copies[trace->copy_count++] = said->copy;
    } else if (!copies && (said->has_sync || event->cat == KINETO_SYNC)) {
        if (!MEM_GROW(trace->mem, trace->syncs, trace->sync_capacity, trace->sync_count)) {
            return false;
        }
        event->extra = trace->sync_count;
        trace->syncs[trace->sync_count++] = said->sync;
    }
    return true;
}

static bool kineto_event_keep(struct kineto_reader *reader, struct kineto_event *event, const struct json_item *name,
                              const struct json_item *args)
{
    struct kineto_trace *trace = reader->trace;
    struct arguments said = {
        .comm = {.in_elements = UINT64_MAX,
                 .out_elements = UINT64_MAX,
                 .group_size = UINT64_MAX,
                 .src_rank = -1,
                 .dst_rank = -1},
        .sync = {.wait_stream = -1, .wait_record_corr = -1, .wait_event = -1},
    };
    const struct json_item *end = args == NULL ? NULL : json_item_end(args);
    for (const struct json_item *key = args == NULL ? NULL : json_item_first(args); key != end;) {
        const struct json_item *value = json_item_next(key);
        if (!kineto_event_take_argument(trace, event, key, value, &said)) {
            return false;
        }
        key = json_item_next(value);
    }
    if (event->cat == KINETO_OTHER && (event->has & KINETO_HAS_EXTERNAL_ID) == 0) {
        return true;
    }
    if (name != NULL && name->kind == JSON_ITEM_STRING &&
        !intern_add(&trace->names, name->text, name->length, &event->name)) {
        return false;
    }
    if (!keep_comm(trace, event, &said) || !keep_extra(trace, event, &said) ||
        !MEM_GROW(trace->mem, trace->events, trace->event_capacity, trace->event_count)) {
        return false;
    }
    trace->events[trace->event_count++] = *event;
    return true;
}

/* ---- one event ---- */

struct members {
    const struct json_item *ph, *cat, *name, *pid, *tid, *ts, *dur, *args;
};

static void kineto_event_find_members(const struct json_item *item, struct members *found)
{
    for (const struct json_item *key = json_item_first(item); key != json_item_end(item);) {
        const struct json_item *value = json_item_next(key);
        switch (key->length) {
        case 2:
            found->ph = IS(key, "ph") ? value : found->ph;
            found->ts = IS(key, "ts") ? value : found->ts;
            break;
        case 3:
            found->cat = IS(key, "cat") ? value : found->cat;
            found->pid = IS(key, "pid") ? value : found->pid;
            found->tid = IS(key, "tid") ? value : found->tid;
            found->dur = IS(key, "dur") ? value : found->dur;
            break;
        case 4:
            found->name = IS(key, "name") ? value : found->name;
            found->args = IS(key, "args") && value->kind == JSON_ITEM_OBJECT ? value : found->args;
            break;
        default:
            break;
        }
        key = json_item_next(value);
    }
}

static bool has_text(const struct json_item *item)
{
    return item != NULL && item->text != NULL && item->length > 0;
}

/* Through a memory of the last one. `number` is of the text's place in `texts`. */
static bool add_cached(struct intern *texts, const char *text, uint32_t length, char last[64], uint32_t *last_length,
                       uint32_t *last_number, uint32_t *number)
{
    if (length == *last_length && length > 0 && memcmp(text, last, length) == 0) {
        *number = *last_number;
        return true;
    }
    if (!intern_add(texts, text, length, number)) {
        return false;
    }
    if (length < 64) {
        memcpy(last, text, length);
        *last_length = length;
        *last_number = *number;
    }
    return true;
}

/* The thread's number, and its first event. An event that names none belongs to thread 0, as in Chakra. */
static bool kineto_event_place(struct kineto_reader *reader, const struct json_item *tid, double ts_us, uint32_t index,
                               uint32_t *thread)
{
    struct kineto_trace *trace = reader->trace;
    uint32_t number;
    if (!add_cached(&trace->threads, has_text(tid) ? tid->text : "0", has_text(tid) ? tid->length : 1, reader->tid_text,
                    &reader->tid_length, &reader->tid_number, &number)) {
        return false;
    }
    if (number == 0) {
        number = 1; /* a text cut at a NUL byte to nothing */
    }
    *thread = number - 1;
    if (*thread >= trace->thread_count) {
        if (!MEM_GROW(trace->mem, trace->thread_firsts, trace->thread_capacity, *thread)) {
            return false;
        }
        while (trace->thread_count <= *thread) {
            trace->thread_firsts[trace->thread_count++] = (struct kineto_thread){ts_us, index};
        }
    }
    struct kineto_thread *first = &trace->thread_firsts[*thread];
    if (ts_us < first->first_ts_us) {
        *first = (struct kineto_thread){ts_us, index};
    }
    return true;
}

static void kineto_event_widen(struct kineto_trace *trace, double start, double end)
{
    trace->first_ts_us = start < trace->first_ts_us ? start : trace->first_ts_us;
    trace->last_end_us = end > trace->last_end_us ? end : trace->last_end_us;
}

bool kineto_event_add(struct kineto_reader *reader, uint32_t index, const struct json_item *item)
{
    struct members found = {0};
    bool whole = false;
    bool alias = false;
    if (item->kind != JSON_ITEM_OBJECT) {
        reader->unusable++;
        return true;
    }
    kineto_event_find_members(item, &found);
    char ph = has_text(found.ph) ? found.ph->text[0] : 'X';
    struct kineto_event event = {.external_id = -1,
                                 .rf_id = -1,
                                 .correlation = -1,
                                 .stream = -1,
                                 .index = index,
                                 .comm = KINETO_NONE,
                                 .extra = KINETO_NONE,
                                 .ph = ph};
    event.cat = (uint8_t)(has_text(found.cat) ? kineto_event_cat_of(found.cat, &alias) : KINETO_OTHER);
    event.has = alias ? KINETO_IS_ALIAS : 0;
    if (found.ts == NULL || !kineto_event_time_of(found.ts, &event.ts_us, &whole)) {
        reader->untimed += event.cat != KINETO_OTHER;
        return true;
    }
    event.has |= whole ? KINETO_TS_IS_INT : 0;
    if (found.dur != NULL && kineto_event_time_of(found.dur, &event.dur_us, &whole)) {
        event.has |= KINETO_HAS_DUR | (whole ? KINETO_DUR_IS_INT : 0);
    }
    event.has |= has_text(found.tid) ? KINETO_HAS_TID : 0;
    if (!kineto_event_place(reader, found.tid, event.ts_us, index, &event.tid)) {
        return false;
    }
    kineto_event_widen(reader->trace, event.ts_us, event.ts_us + event.dur_us);
    /* Flow arrows, counters and names: nothing of theirs is used. */
    if (ph == 's' || ph == 'f' || ph == 't' || ph == 'M' || ph == 'C' ||
        (event.cat == KINETO_OTHER && found.args == NULL)) {
        return true;
    }
    if (reader->window != NULL && !kineto_window_takes(reader->window, &event, found.name, found.args)) {
        return !reader->window->refused;
    }
    if (has_text(found.pid) && !add_cached(&reader->trace->names, found.pid->text, found.pid->length, reader->pid_text,
                                           &reader->pid_length, &reader->pid_number, &event.pid)) {
        return false;
    }
    return kineto_event_keep(reader, &event, found.name, found.args);
}
