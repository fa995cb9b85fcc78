/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One small state a tensor (Horovod's "process"): how deep its events are nested, and what of the operation in flight
 * is known. That is all a nesting of begins and ends needs, since an end carries no name.
 */
#include "convert/horovod_ops.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "io/json_stream.h"
#include "io/value.h"

enum { WORD = 64, SHAPE_ROOM = 512 };

enum phase { PHASE_NONE, PHASE_NEGOTIATE, PHASE_OPERATION, PHASE_OTHER };

struct tensor {
    uint64_t ready_ns, begin_ns;
    uint64_t moved_from_ns, moved_until_ns;
    uint32_t depth;      /* begins without an end */
    uint32_t move_depth; /* the depth at which bytes are moving; 0 = they are not */
    uint32_t name;       /* in names */
    enum phase phase;
    enum comm_kind kind;
    bool has_ready, has_moved;
};

struct reading {
    struct horovod_ops *ops;
    struct json_stream *stream;
    struct notes *notes;
    struct intern pids;
    struct tensor *tensors; /* by number of the pid */
    uint32_t tensor_capacity;
    uint64_t lost_ends;    /* ends without a begin */
    uint64_t other_phases; /* operations that are no communication */
    char other_name[WORD]; /* the first of them */
    uint64_t offset;       /* of the event at hand */
};

static enum orr_status horovod_ops_refused(const struct reading *reading, struct orr_error *err)
{
    return mem_error(reading->ops->mem, "the timeline's operations", err);
}

static enum orr_status horovod_ops_fail_event(struct reading *reading, const char *what, struct orr_error *err)
{
    return error_set(err, ORR_EINVAL, "%s:%" PRIu64 ": %s", json_stream_path(reading->stream),
                     json_stream_line(reading->stream, reading->offset), what);
}

static void horovod_ops_copy_text(const struct json_item *item, char word[WORD])
{
    bool is_text = item != NULL && item->kind == JSON_ITEM_STRING;
    (void)snprintf(word, WORD, "%.*s", is_text ? (int)(item->length < WORD ? item->length : WORD) : 0,
                   is_text ? item->text : "");
}

/* Microseconds as written, in ns. */
static bool horovod_ops_read_time(const struct json_item *item, uint64_t *ns)
{
    if (item != NULL && item->kind == JSON_ITEM_INT && item->value.integer >= 0 &&
        item->value.integer <= INT64_MAX / 1000) {
        *ns = (uint64_t)item->value.integer * 1000;
        return true;
    }
    if (item != NULL && item->kind == JSON_ITEM_REAL && item->value.real >= 0 && item->value.real < 9e15) {
        *ns = (uint64_t)(item->value.real * 1000 + 0.5);
        return true;
    }
    return false;
}

/* The tensor of an event, new where its pid is; NULL, with the error set and its status in `status`, when there can be
 * none. */
static struct tensor *find_tensor(struct reading *reading, const struct json_item *event, enum orr_status *status,
                                  struct orr_error *err)
{
    const struct json_item *pid = json_item_member(event, "pid");
    uint32_t before = intern_count(&reading->pids);
    uint32_t number = 0;
    if (pid == NULL || (pid->kind != JSON_ITEM_INT && pid->kind != JSON_ITEM_STRING) || pid->length == 0) {
        *status = horovod_ops_fail_event(
            reading, "an event without a pid; in a Horovod timeline every tensor is a process", err);
        return NULL;
    }
    if (!intern_add(&reading->pids, pid->text, pid->length, &number) ||
        !MEM_RESERVE(reading->ops->mem, reading->tensors, reading->tensor_capacity, intern_count(&reading->pids))) {
        *status = horovod_ops_refused(reading, err);
        return NULL;
    }
    if (number >= before) {
        reading->tensors[number] = (struct tensor){0};
    }
    return &reading->tensors[number];
}

/* ---- sizes ------------------------------------------------------------------------------------------------------ */

/* "[1024, 256]": the product; "[]" is one element. False when it is no shape or too large. */
static bool horovod_ops_read_shape(const char *text, uint64_t *elements)
{
    uint64_t product = 1;
    text += strspn(text, " ");
    if (*text++ != '[') {
        return false;
    }
    for (text += strspn(text, " "); *text != ']'; text += strspn(text, ", ")) {
        if (*text < '0' || *text > '9') {
            return false;
        }
        char *end = NULL;
        uint64_t extent = strtoull(text, &end, 10);
        if (__builtin_mul_overflow(product, extent, &product)) {
            return false;
        }
        text = end;
    }
    *elements = product;
    return true;
}

static bool horovod_ops_read_size(const struct json_item *args, uint64_t *bytes)
{
    char dtype[WORD];
    char shape[SHAPE_ROOM];
    uint64_t elements = 0;
    const struct json_item *item = args == NULL ? NULL : json_item_member(args, "shape");
    if (item == NULL || item->kind != JSON_ITEM_STRING || item->length >= sizeof shape) {
        return false;
    }
    memcpy(shape, item->text, item->length);
    shape[item->length] = '\0';
    horovod_ops_copy_text(json_item_member(args, "dtype"), dtype);
    uint64_t width = comm_dtype_bytes(dtype);
    return width != 0 && horovod_ops_read_shape(shape, &elements) && !__builtin_mul_overflow(elements, width, bytes) &&
           *bytes <= INT64_MAX;
}

/* ---- events ----------------------------------------------------------------------------------------------------- */

static bool horovod_ops_begins(const char *text, const char *front)
{
    return strncmp(text, front, strlen(front)) == 0;
}

/* What moves bytes between ranks; copies into fusion buffers and the like do not. */
static bool is_moving(const char *activity)
{
    static const char *const fronts[] = {"NCCL_", "MPI_", "GLOO_", "CCL_", "DDL_", "ONECCL_"};
    for (size_t i = 0; i < sizeof fronts / sizeof fronts[0]; i++) {
        if (horovod_ops_begins(activity, fronts[i])) {
            return comm_name_word(activity) != COMM_NONE;
        }
    }
    return false;
}

static enum comm_kind operation_kind(const char *name)
{
    if (horovod_ops_begins(name, "ADASUM")) {
        return COMM_ALL_REDUCE;
    }
    enum comm_kind kind = comm_name_word(name);
    return comm_kind_is_collective(kind) ? kind : COMM_NONE;
}

static void begin_operation(struct reading *reading, struct tensor *tensor, const char *name, uint64_t now)
{
    tensor->kind = operation_kind(name);
    tensor->phase = tensor->kind == COMM_NONE ? PHASE_OTHER : PHASE_OPERATION;
    tensor->begin_ns = now;
    tensor->has_moved = false;
    tensor->move_depth = 0;
    if (!tensor->has_ready) {
        tensor->ready_ns = now;
    }
    if (tensor->phase == PHASE_OTHER && reading->other_phases++ == 0) {
        (void)snprintf(reading->other_name, sizeof reading->other_name, "%s", name);
    }
}

static void horovod_ops_begin_event(struct reading *reading, struct tensor *tensor, const char *name, uint64_t now)
{
    static const char negotiate[] = "NEGOTIATE_";
    if (tensor->depth == 0 && horovod_ops_begins(name, negotiate)) {
        tensor->phase = PHASE_NEGOTIATE;
        tensor->ready_ns = now;
        tensor->has_ready = true;
    } else if (tensor->depth == 0) {
        begin_operation(reading, tensor, name, now);
    } else if (tensor->phase == PHASE_OPERATION && tensor->move_depth == 0 && is_moving(name)) {
        tensor->move_depth = tensor->depth + 1;
        tensor->moved_from_ns = tensor->has_moved ? tensor->moved_from_ns : now;
        tensor->has_moved = true;
    }
    tensor->depth++;
}

static enum orr_status horovod_ops_add_operation(struct reading *reading, struct tensor *tensor, uint64_t now,
                                                 const struct json_item *args, struct orr_error *err)
{
    struct horovod_ops *ops = reading->ops;
    struct horovod_op op = {
        .ready_ns = tensor->ready_ns,
        .start_ns = tensor->has_moved ? tensor->moved_from_ns : tensor->begin_ns,
        .end_ns = tensor->has_moved ? tensor->moved_until_ns : now,
        .tensor = (uint32_t)(tensor - reading->tensors),
        .name = tensor->name,
        .kind = tensor->kind,
    };
    op.has_size = horovod_ops_read_size(args, &op.bytes);
    op.end_ns = op.end_ns < op.start_ns ? op.start_ns : op.end_ns;
    if (!MEM_GROW(ops->mem, ops->items, ops->capacity, ops->count)) {
        return horovod_ops_refused(reading, err);
    }
    ops->items[ops->count++] = op;
    tensor->has_ready = false;
    return ORR_OK;
}

static enum orr_status end_event(struct reading *reading, struct tensor *tensor, uint64_t now,
                                 const struct json_item *args, struct orr_error *err)
{
    if (tensor->depth == 0) {
        reading->lost_ends++;
        return ORR_OK;
    }
    if (tensor->move_depth == tensor->depth) {
        tensor->moved_until_ns = now;
        tensor->move_depth = 0;
    }
    tensor->depth--;
    if (tensor->depth > 0) {
        return ORR_OK;
    }
    enum phase phase = tensor->phase;
    tensor->phase = PHASE_NONE;
    return phase == PHASE_OPERATION ? horovod_ops_add_operation(reading, tensor, now, args, err) : ORR_OK;
}

/* "rank R is ready", inside a negotiation. */
static void note_rank(struct reading *reading, struct tensor *tensor, const char *name, uint64_t now)
{
    char *end = NULL;
    unsigned long rank = strtoul(name, &end, 10);
    if (tensor->phase != PHASE_NEGOTIATE || name[0] < '0' || name[0] > '9' || *end != '\0' || rank >= INT32_MAX) {
        return;
    }
    if (rank == 0) {
        tensor->ready_ns = now;
    }
    reading->ops->ranks = rank >= reading->ops->ranks ? (uint32_t)rank + 1 : reading->ops->ranks;
}

static enum orr_status name_tensor(struct reading *reading, const struct json_item *event, struct orr_error *err)
{
    const struct json_item *args = json_item_member(event, "args");
    const struct json_item *name = args == NULL ? NULL : json_item_member(args, "name");
    const struct json_item *what = json_item_member(event, "name");
    if (what == NULL || !json_item_is(what, "process_name") || name == NULL || name->kind != JSON_ITEM_STRING) {
        return ORR_OK;
    }
    enum orr_status status = ORR_OK;
    struct tensor *tensor = find_tensor(reading, event, &status, err);
    if (tensor != NULL && !intern_add(&reading->ops->names, name->text, name->length, &tensor->name)) {
        status = horovod_ops_refused(reading, err);
    }
    return status;
}

static enum orr_status horovod_ops_take_event(struct reading *reading, const struct json_item *event,
                                              struct orr_error *err)
{
    char phase[WORD];
    char name[WORD];
    uint64_t now = 0;
    enum orr_status status = ORR_OK;
    if (event->kind != JSON_ITEM_OBJECT) {
        return horovod_ops_fail_event(reading, "an element that is no object; a Horovod timeline is an array of events",
                                      err);
    }
    horovod_ops_copy_text(json_item_member(event, "ph"), phase);
    horovod_ops_copy_text(json_item_member(event, "name"), name);
    if (strcmp(phase, "M") == 0) {
        return name_tensor(reading, event, err);
    }
    if (strcmp(phase, "B") != 0 && strcmp(phase, "E") != 0 && strcmp(phase, "X") != 0) {
        return ORR_OK; /* cycle marks, and events without a phase */
    }
    if (!horovod_ops_read_time(json_item_member(event, "ts"), &now)) {
        return horovod_ops_fail_event(reading, "an event whose \"ts\" is no time in microseconds", err);
    }
    struct tensor *tensor = find_tensor(reading, event, &status, err);
    if (tensor == NULL) {
        return status;
    }
    if (phase[0] == 'E') {
        return end_event(reading, tensor, now, json_item_member(event, "args"), err);
    }
    if (phase[0] == 'X') {
        note_rank(reading, tensor, name, now);
    } else {
        horovod_ops_begin_event(reading, tensor, name, now);
    }
    return ORR_OK;
}

static enum orr_status horovod_ops_add_notes(struct reading *reading, struct orr_error *err)
{
    const char *path = json_stream_path(reading->stream);
    enum orr_status status = ORR_OK;
    uint64_t open = 0;
    for (uint32_t i = 1; i < intern_count(&reading->pids); i++) {
        open += reading->tensors[i].depth > 0;
    }
    if (json_stream_was_cut(reading->stream)) {
        status = notes_add(reading->notes, err, "%s: the file is cut off; what is whole was read", path);
    }
    if (status == ORR_OK && open > 0) {
        status = notes_add(reading->notes, err, "%s: %" PRIu64 " tensor%s in the middle of an operation at the end; %s",
                           path, open, open == 1 ? " is" : "s are", open == 1 ? "it was dropped" : "they were dropped");
    }
    if (status == ORR_OK && reading->lost_ends > 0) {
        status = notes_add(reading->notes, err, "%s: %" PRIu64 " end%s without a begin dropped", path,
                           reading->lost_ends, reading->lost_ends == 1 ? "" : "s");
    }
    if (status == ORR_OK && reading->other_phases > 0) {
        char shown[WORD];
        status = notes_add(reading->notes, err, "%s: %" PRIu64 " operation%s that %s no communication dropped: %s",
                           path, reading->other_phases, reading->other_phases == 1 ? "" : "s",
                           reading->other_phases == 1 ? "is" : "are",
                           io_text_printable(reading->other_name, shown, sizeof shown));
    }
    return status;
}

static enum orr_status read_events(struct reading *reading, struct orr_error *err)
{
    struct json_part part;
    bool more = true;
    enum orr_status status = json_stream_next(reading->stream, &part, &more, err);
    while (status == ORR_OK && more) {
        reading->offset = part.offset;
        if (part.is_element) {
            status = horovod_ops_take_event(reading, part.item, err);
        } else if (!part.is_empty && part.key[0] == '\0') {
            status = horovod_ops_fail_event(reading, "a Horovod timeline is an array of events", err);
        }
        if (status == ORR_OK) {
            status = json_stream_next(reading->stream, &part, &more, err);
        }
    }
    reading->ops->tensor_count = intern_count(&reading->pids);
    return status == ORR_OK ? horovod_ops_add_notes(reading, err) : status;
}

enum orr_status horovod_ops_read(const char *path, struct mem *mem, struct notes *notes, struct horovod_ops *ops,
                                 struct orr_error *err)
{
    static const char *const arrays[] = {"", "traceEvents", NULL};
    struct reading reading = {.ops = ops, .notes = notes};
    *ops = (struct horovod_ops){.mem = mem};
    intern_init(&ops->names, mem);
    intern_init(&reading.pids, mem);
    enum orr_status status = json_stream_open(path, arrays, JSON_STREAM_MAY_BE_CUT, mem, &reading.stream, err);
    if (status == ORR_OK) {
        status = read_events(&reading, err);
    }
    json_stream_close(reading.stream);
    intern_free(&reading.pids);
    mem_free(mem, reading.tensors, reading.tensor_capacity * sizeof *reading.tensors);
    if (status != ORR_OK) {
        horovod_ops_free(ops);
    }
    return status;
}

void horovod_ops_free(struct horovod_ops *ops)
{
    intern_free(&ops->names);
    mem_free(ops->mem, ops->items, ops->capacity * sizeof *ops->items);
    *ops = (struct horovod_ops){.mem = ops->mem};
}
