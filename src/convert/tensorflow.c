/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Devices become ranks, in the order of their names and numbers. Within a device:
 *
 * A stream's kernels wait for each other in order. Between streams the trace says nothing, so what can be seen is
 * taken: a collective waits for what had ended on every other stream when it began (its input), and any kernel waits
 * for what ended on another stream while its own stream stood idle before it (it was waiting). The first kernel of a
 * step waits for all collectives of the steps before. Idle time itself is not kept: on another machine it would be
 * another time.
 *
 * On an "XLA Ops" line (a TPU's) operations run one after the other; a "-start" begins a collective beside them and its
 * "-done" is where the line waits for it. Operations that contain others (while loops) keep the time that is their own.
 */
#include "convert/tensorflow.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "convert/hlo.h"
#include "convert/tensorflow_order.h"

enum { NODE_NONE = UINT32_MAX };

/* The last nodes of a line, as the walk over a device's events goes. */
struct tail {
    uint32_t node;      /* what the next one waits for; NODE_NONE */
    uint64_t end_ns;    /* of that */
    uint32_t ended;     /* the latest that has ended before the event at hand began */
    uint64_t ended_ns;  /* its end */
    uint32_t last_coll; /* the latest collective */
    uint32_t extra;     /* a collective the next one waits for besides (a "-done" stood before it) */
};

/* A "-start" whose "-done" has not come. */
struct open_start {
    uint32_t node;
    uint32_t op; /* its name */
    enum comm_kind kind;
};

struct building {
    const struct convert_request *request;
    struct workload *workload;
    struct tf_trace trace;
    struct tf_order order;
    uint32_t *texts;    /* by text of the trace: the workload's number, 0 = not yet */
    struct tail *tails; /* by line */
    uint32_t *lines;    /* of the device at hand */
    struct open_start *open;
    uint32_t text_capacity, tail_capacity, line_capacity, open_capacity;
    uint32_t line_count, open_count;
    uint32_t group_ranks;   /* taking part in a collective */
    uint64_t between_pairs; /* point-to-point operations kept as compute */
    uint64_t crossing;      /* dependencies inferred between streams */
    uint64_t lonely;        /* "-done" without a "-start" */
    int64_t last_step;
    bool has_step;
};

static enum orr_status tensorflow_refused(const struct building *building, struct orr_error *err)
{
    return mem_error(building->workload->mem, "the trace's kernels", err);
}

static const char *tensorflow_text_of(const struct building *building, uint32_t number)
{
    return intern_text(&building->trace.texts, number);
}

/* ---- what an event is ------------------------------------------------------------------------------------------- */

struct kernel {
    enum comm_kind kind;
    enum hlo_half half;
    enum provenance type_from;
};

static struct kernel classify(const struct building *building, const struct tf_event *event)
{
    struct kernel kernel = {.kind = COMM_NONE};
    const char *name = tensorflow_text_of(building, event->name);
    const char *op = tensorflow_text_of(building, event->op);
    enum comm_kind by_op = hlo_name_kind(op, strlen(op), &kernel.half);
    if (building->trace.lines[event->line].kind == TF_LINE_OPS) {
        kernel.kind = by_op;
        kernel.type_from = PROVENANCE_HLO_OP;
        return kernel;
    }
    kernel.half = HLO_WHOLE; /* on a stream a kernel is all there is */
    kernel.kind = comm_name_kernel(name);
    kernel.type_from = PROVENANCE_KERNEL_NAME;
    bool copies = (event->has & TF_HAS_COPIED) != 0 || strncasecmp(name, "mem", 3) == 0;
    if (by_op != COMM_NONE && !copies && !comm_kind_is_collective(kernel.kind)) {
        kernel.kind = by_op;
        kernel.type_from = PROVENANCE_HLO_OP;
    }
    return kernel;
}

/* The input of one rank from what the operation reads and writes together. */
static bool from_accessed(enum comm_kind kind, uint64_t accessed, uint32_t ranks, uint64_t *bytes)
{
    uint64_t n = ranks;
    if (kind == COMM_ALL_GATHER) {
        *bytes = accessed / (n + 1);
    } else if (kind == COMM_REDUCE_SCATTER) {
        *bytes = accessed / (n + 1) * n;
    } else {
        *bytes = accessed / 2;
    }
    return *bytes <= INT64_MAX;
}

static enum orr_status tensorflow_set_size(const struct building *building, const struct tf_event *event,
                                           const struct kernel *kernel, struct workload_node *node,
                                           struct orr_error *err)
{
    const struct tf_size *size = event->op == 0 ? NULL : tf_trace_size(&building->trace, event->module, event->op);
    const char *op = tensorflow_text_of(building, event->op);
    enum hlo_half half = HLO_WHOLE;
    bool is_input = hlo_name_kind(op, strlen(op), &half) == COMM_ALL_GATHER && half == HLO_START;
    bool needs_ranks = (kernel->kind == COMM_ALL_GATHER && !is_input) || kernel->kind == COMM_REDUCE_SCATTER;
    node->has |= WORKLOAD_HAS_COMM_SIZE;
    if (size != NULL && !(needs_ranks && building->group_ranks == 1)) {
        enum comm_kind kind = is_input ? COMM_ALL_REDUCE : kernel->kind;
        node->size_from = PROVENANCE_HLO_SHAPE;
        if (size->has_shape && workload_input_bytes(kind, size->shape_bytes, building->group_ranks, &node->bytes)) {
            return ORR_OK;
        }
        node->size_from = PROVENANCE_HLO_BYTES;
        if (size->has_accessed && from_accessed(kernel->kind, size->accessed, building->group_ranks, &node->bytes)) {
            return ORR_OK;
        }
    }
    return workload_unknown_size(building->workload, building->request,
                                 size == NULL ? "the trace (no XLA operation with a shape belongs to it)"
                                              : "the trace without the number of ranks (parameter 'ranks')",
                                 node, err);
}

/* The step: of the event itself, of its group, else the device's "Steps" event it lies in. */
static void set_step(const struct building *building, const struct tf_event *event, struct workload_node *node)
{
    const struct tf_trace *trace = &building->trace;
    int64_t step = (event->has & TF_HAS_STEP) != 0 ? event->step : INT64_MIN;
    if (step == INT64_MIN && (event->has & TF_HAS_GROUP) != 0) {
        step = tf_trace_group_step(trace, event->group);
    }
    uint32_t low = 0;
    uint32_t high = step == INT64_MIN ? trace->step_count : 0;
    uint32_t device = trace->lines[event->line].device;
    while (low < high) { /* steps are sorted by device and start: the last that begins at or before the event */
        uint32_t middle = low + (high - low) / 2;
        const struct tf_step *at = &trace->steps[middle];
        if (at->device < device || (at->device == device && at->start_ns <= event->start_ns)) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    if (low > 0 && trace->steps[low - 1].device == device && trace->steps[low - 1].end_ns > event->start_ns) {
        step = trace->steps[low - 1].number;
    }
    if (step != INT64_MIN) {
        node->step = step;
        node->has |= WORKLOAD_HAS_STEP;
    }
}

static int tensorflow_compare_steps(const void *left, const void *right)
{
    const struct tf_step *a = left;
    const struct tf_step *b = right;
    if (a->device != b->device) {
        return a->device < b->device ? -1 : 1;
    }
    if (a->start_ns != b->start_ns) {
        return a->start_ns < b->start_ns ? -1 : 1;
    }
    if (a->number != b->number) {
        return a->number < b->number ? -1 : 1;
    }
    return (a->end_ns > b->end_ns) - (a->end_ns < b->end_ns);
}

/* ---- nodes ------------------------------------------------------------------------------------------------------ */

static enum orr_status tensorflow_depend(struct building *building, uint32_t child, uint32_t parent,
                                         struct orr_error *err)
{
    return parent == NODE_NONE || workload_depend(building->workload, child, parent)
               ? ORR_OK
               : tensorflow_refused(building, err);
}

static enum orr_status make_node(struct building *building, uint32_t index, const struct kernel *kernel, uint32_t *made,
                                 struct orr_error *err)
{
    const struct tf_event *event = &building->trace.events[index];
    const struct tf_line *line = &building->trace.lines[event->line];
    struct workload_node node = {
        .rank = building->order.rank_of[line->device],
        .type = TRACE_COMP,
        .start_us = event->start_ns / 1000,
        .duration_ns = building->order.own_ns[index],
        .lane = event->line,
        .stream = line->stream,
        .has = WORKLOAD_HAS_STREAM,
        .tensor_bytes = event->copied,
    };
    uint32_t *text = &building->texts[event->name];
    const char *name = tensorflow_text_of(building, event->name);
    if (*text == 0 && !workload_text(building->workload, name, strlen(name), text)) {
        return tensorflow_refused(building, err);
    }
    node.name = *text;
    node.has |= (event->has & TF_HAS_COPIED) != 0 ? WORKLOAD_HAS_TENSOR_BYTES : 0;
    set_step(building, event, &node);
    enum orr_status status = ORR_OK;
    if (comm_kind_is_collective(kernel->kind)) {
        node.type = TRACE_COLL;
        node.comm_kind = (uint8_t)kernel->kind;
        node.type_from = (uint8_t)kernel->type_from;
        status = tensorflow_set_size(building, event, kernel, &node, err);
    } else {
        building->between_pairs += kernel->kind != COMM_NONE;
    }
    if (status == ORR_OK && !workload_add(building->workload, &node, made)) {
        return tensorflow_refused(building, err);
    }
    return status;
}

/* The first kernel of a later step waits for the collectives of the steps before. */
static enum orr_status wait_for_step(struct building *building, uint32_t node, struct orr_error *err)
{
    const struct workload_node *made = &building->workload->nodes[node];
    enum orr_status status = ORR_OK;
    if ((made->has & WORKLOAD_HAS_STEP) == 0) {
        return ORR_OK;
    }
    bool later = building->has_step && made->step > building->last_step;
    for (uint32_t i = 0; status == ORR_OK && later && i < building->line_count; i++) {
        uint32_t last = building->tails[building->lines[i]].last_coll;
        status = tensorflow_depend(building, node, last, err);
        building->crossing += last != NODE_NONE;
    }
    if (!building->has_step || later) {
        building->last_step = made->step;
        building->has_step = true;
    }
    return status;
}

/* Moves every other line's mark up to the event's start, and adds what can be seen of waiting. */
static enum orr_status wait_across(struct building *building, uint32_t node, const struct tf_event *event,
                                   bool is_collective, struct orr_error *err)
{
    const struct tail *own = &building->tails[event->line];
    enum orr_status status = ORR_OK;
    for (uint32_t i = 0; status == ORR_OK && i < building->line_count; i++) {
        struct tail *other = &building->tails[building->lines[i]];
        if (building->lines[i] == event->line) {
            continue;
        }
        if (other->node != NODE_NONE && other->end_ns <= event->start_ns) {
            other->ended = other->node;
            other->ended_ns = other->end_ns;
        }
        bool waited = own->node == NODE_NONE || other->ended_ns > own->end_ns;
        if (other->ended != NODE_NONE && (is_collective || waited)) {
            status = tensorflow_depend(building, node, other->ended, err);
            building->crossing++;
        }
    }
    return status;
}

static void tensorflow_append(struct building *building, uint32_t line, uint32_t node, uint64_t end_ns,
                              bool is_collective)
{
    struct tail *tail = &building->tails[line];
    if (tail->node != NODE_NONE) {
        tail->ended = tail->node; /* it has: a stream runs one at a time */
        tail->ended_ns = tail->end_ns;
    }
    tail->node = node;
    tail->end_ns = end_ns;
    tail->last_coll = is_collective ? node : tail->last_coll;
}

static enum orr_status tensorflow_add_kernel(struct building *building, uint32_t index, struct orr_error *err)
{
    const struct tf_event *event = &building->trace.events[index];
    struct kernel kernel = classify(building, event);
    bool is_collective = comm_kind_is_collective(kernel.kind);
    uint32_t node = 0;
    enum orr_status status = make_node(building, index, &kernel, &node, err);
    if (status == ORR_OK) {
        status = tensorflow_depend(building, node, building->tails[event->line].node, err);
    }
    if (status == ORR_OK) {
        status = wait_across(building, node, event, is_collective, err);
    }
    if (status == ORR_OK) {
        status = wait_for_step(building, node, err);
    }
    tensorflow_append(building, event->line, node, event->start_ns + event->duration_ns, is_collective);
    return status;
}

/* The start a "-done" belongs to: of the same kind and suffix, else the oldest of the kind. */
static uint32_t find_start(const struct building *building, const struct tf_event *done, enum comm_kind kind)
{
    const char *op = tensorflow_text_of(building, done->op);
    size_t length = 0;
    const char *suffix = hlo_name_suffix(op, strlen(op), &length);
    uint32_t oldest = NODE_NONE;
    for (uint32_t i = 0; i < building->open_count; i++) {
        const struct open_start *start = &building->open[i];
        const char *name = tensorflow_text_of(building, start->op);
        size_t other_length = 0;
        const char *other = hlo_name_suffix(name, strlen(name), &other_length);
        if (start->kind == kind && length == other_length && memcmp(suffix, other, length) == 0) {
            return i;
        }
        oldest = oldest == NODE_NONE && start->kind == kind ? i : oldest;
    }
    return oldest;
}

static enum orr_status open_start(struct building *building, uint32_t node, const struct tf_event *event,
                                  enum comm_kind kind, struct orr_error *err)
{
    if (!MEM_GROW(building->workload->mem, building->open, building->open_capacity, building->open_count)) {
        return tensorflow_refused(building, err);
    }
    building->open[building->open_count++] = (struct open_start){node, event->op, kind};
    return ORR_OK;
}

/* An operation of an XLA line. */
static enum orr_status tensorflow_add_operation(struct building *building, uint32_t index, struct orr_error *err)
{
    const struct tf_event *event = &building->trace.events[index];
    struct tail *tail = &building->tails[event->line];
    struct kernel kernel = classify(building, event);
    bool is_collective = comm_kind_is_collective(kernel.kind);
    uint32_t node = 0;
    if (is_collective && kernel.half == HLO_DONE) {
        uint32_t start = find_start(building, event, kernel.kind);
        if (start != NODE_NONE) {
            if (tail->node == NODE_NONE) {
                tail->node = building->open[start].node;
            } else {
                tail->extra = building->open[start].node;
            }
            memmove(&building->open[start], &building->open[start + 1],
                    (building->open_count - start - 1) * sizeof *building->open);
            building->open_count--;
            return ORR_OK;
        }
        building->lonely++;
    }
    enum orr_status status = make_node(building, index, &kernel, &node, err);
    if (status == ORR_OK) {
        status = tensorflow_depend(building, node, tail->node, err);
    }
    if (status == ORR_OK) {
        status = tensorflow_depend(building, node, tail->extra, err);
    }
    if (status == ORR_OK) {
        status = wait_for_step(building, node, err);
    }
    if (status == ORR_OK && is_collective && kernel.half == HLO_START) {
        tail->last_coll = node;
        return open_start(building, node, event, kernel.kind, err);
    }
    tail->extra = NODE_NONE;
    tensorflow_append(building, event->line, node, event->start_ns + event->duration_ns, is_collective);
    return status;
}

/* ---- devices ---------------------------------------------------------------------------------------------------- */

static void begin_device(struct building *building, uint32_t device)
{
    building->line_count = 0;
    building->open_count = 0;
    building->has_step = false;
    for (uint32_t i = 1; i < building->trace.line_count; i++) {
        const struct tf_line *line = &building->trace.lines[i];
        if (line->device == device && (line->kind == TF_LINE_STREAM || line->kind == TF_LINE_OPS)) {
            building->lines[building->line_count++] = i;
            building->tails[i] =
                (struct tail){.node = NODE_NONE, .ended = NODE_NONE, .last_coll = NODE_NONE, .extra = NODE_NONE};
        }
    }
}

static enum orr_status tensorflow_build(struct building *building, struct orr_error *err)
{
    const struct tf_trace *trace = &building->trace;
    uint32_t device = NODE_NONE;
    enum orr_status status = ORR_OK;
    for (uint32_t i = 0; status == ORR_OK && i < building->order.used; i++) {
        uint32_t index = building->order.events[i];
        const struct tf_line *line = &trace->lines[trace->events[index].line];
        if (line->device != device) {
            device = line->device;
            begin_device(building, device);
        }
        status = line->kind == TF_LINE_OPS ? tensorflow_add_operation(building, index, err)
                                           : tensorflow_add_kernel(building, index, err);
    }
    return status;
}

static enum orr_status tensorflow_add_notes(struct building *building, struct orr_error *err)
{
    struct notes *notes = building->request->notes;
    const char *input = building->request->input;
    enum orr_status status = ORR_OK;
    if (building->crossing > 0) {
        status = notes_add(notes, err,
                           "%s: %" PRIu64 " dependenc%s between streams inferred from the times; the trace has none",
                           input, building->crossing, building->crossing == 1 ? "y" : "ies");
    }
    if (status == ORR_OK && building->between_pairs > 0) {
        status =
            notes_add(notes, err,
                      "%s: %" PRIu64 " operation%s between pairs of ranks kept as compute of the recorded time, since "
                      "who talks to whom is not in the trace",
                      input, building->between_pairs, building->between_pairs == 1 ? "" : "s");
    }
    if (status == ORR_OK && building->lonely > 0) {
        status = notes_add(notes, err, "%s: %" PRIu64 " \"-done\" without a \"-start\" taken for the whole collective",
                           input, building->lonely);
    }
    if (status == ORR_OK && building->workload->copies) {
        status = notes_add(notes, err, "%s: the one device in it was copied to %" PRIu32 " ranks", input,
                           building->workload->ranks);
    }
    return status;
}

static enum orr_status tensorflow_reserve(struct building *building, struct orr_error *err)
{
    const struct tf_trace *trace = &building->trace;
    uint64_t lines = (uint64_t)trace->line_count + 1;
    if (!MEM_RESERVE(trace->mem, building->texts, building->text_capacity, intern_count(&trace->texts)) ||
        !MEM_RESERVE(trace->mem, building->tails, building->tail_capacity, lines) ||
        !MEM_RESERVE(trace->mem, building->lines, building->line_capacity, lines)) {
        return tensorflow_refused(building, err);
    }
    memset(building->texts, 0, (size_t)intern_count(&trace->texts) * sizeof *building->texts);
    return ORR_OK;
}

static enum orr_status tensorflow_build_all(struct building *building, struct orr_error *err)
{
    struct tf_trace *trace = &building->trace;
    const struct convert_request *request = building->request;
    enum orr_status status = tf_order_make(trace, request->input, request->notes, &building->order, err);
    if (status == ORR_OK) {
        status = tensorflow_reserve(building, err);
    }
    if (status == ORR_OK) {
        status = workload_set_ranks(building->workload, request, building->order.ranks, err);
    }
    if (status != ORR_OK) {
        return status;
    }
    building->group_ranks = building->workload->ranks;
    if (trace->step_count > 0) {
        qsort(trace->steps, trace->step_count, sizeof *trace->steps, tensorflow_compare_steps);
    }
    status = tensorflow_build(building, err);
    return status == ORR_OK ? tensorflow_add_notes(building, err) : status;
}

enum orr_status tensorflow_read(const struct convert_request *request, struct workload *workload, struct orr_error *err)
{
    struct building building = {.request = request, .workload = workload};
    struct mem *mem = workload->mem;
    enum orr_status status = tf_trace_read(request->input, mem, &building.trace, err);
    if (status != ORR_OK) {
        return status;
    }
    status = tensorflow_build_all(&building, err);
    tf_order_free(&building.order);
    tf_trace_free(&building.trace);
    mem_free(mem, building.texts, building.text_capacity * sizeof *building.texts);
    mem_free(mem, building.tails, building.tail_capacity * sizeof *building.tails);
    mem_free(mem, building.lines, building.line_capacity * sizeof *building.lines);
    mem_free(mem, building.open, building.open_capacity * sizeof *building.open);
    return status;
}

const struct converter tensorflow_converter = {
    .read = tensorflow_read, .knows_ranks = true, .knows_unknown_size = true};
