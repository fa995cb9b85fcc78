/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The second part of linking: what ran inside what. A thread's ops and calls are walked in order of start with a stack
 * of the ops that are open; the op around another is the innermost open one. Ops that end after the one they began in
 * (a rounded time) are cut to fit, so that a thread's time is a tree. The range of a host library's send or receive is
 * no part of that tree: it ends where its message has passed, whatever its thread did meanwhile.
 */
#include "convert/comm_name.h"
#include "convert/pytorch/link/work.h"

struct nest {
    struct link_work *work;
    uint32_t *open; /* nodes */
    uint32_t open_count, open_capacity;
    uint32_t tail; /* the op begun last */
};

enum { CUT_IS_ODD_NS = 2000 }; /* profilers round starts and lengths to a microsecond each */

static enum kineto_call call_kind(struct link_work *work, uint32_t name)
{
    if (work->name_call[name] == 0) {
        work->name_call[name] = (uint8_t)(kineto_call_of(intern_text(&work->kineto->names, name)) + 1);
    }
    return (enum kineto_call)(work->name_call[name] - 1);
}

static void close_before(struct nest *nest, int64_t time_ns)
{
    while (nest->open_count > 0 && nest->work->ends[nest->open[nest->open_count - 1]] <= time_ns) {
        nest->open_count--;
    }
}

/* A host op that communicates by itself, on a thread of its library's or the caller's. */
static bool link_nest_is_host_library(const char *name)
{
    return strncmp(name, "gloo:", 5) == 0 || strncmp(name, "mpi:", 4) == 0 || strncmp(name, "ucc:", 4) == 0;
}

/* Whether `op` is a message that the op around it only asked for. A rounded time makes none. */
static bool outlives(const struct link_work *work, uint32_t op, uint32_t around)
{
    return (work->flags[op] & LINK_IS_COMM) != 0 && (work->flags[around] & LINK_IS_COMM) != 0 &&
           link_nest_is_host_library(intern_text(&work->out->names, work->out->nodes[op].name)) &&
           work->ends[op] > work->ends[around];
}

static void link_nest_open_op(struct nest *nest, uint32_t op)
{
    struct link_work *work = nest->work;
    struct linked_node *node = &work->out->nodes[op];
    close_before(nest, node->start_ns);
    if (nest->open_count > 0) {
        uint32_t parent = nest->open[nest->open_count - 1];
        node->parent = parent;
        work->flags[parent] |= LINK_HAS_CHILD;
        if ((work->flags[op] & LINK_IS_COMM) != 0) {
            work->flags[parent] |= LINK_HAS_COMM_CHILD;
        }
        if (outlives(work, op, parent)) {
            work->flags[op] |= LINK_IS_ASYNC;
            return;
        }
        if (work->ends[op] > work->ends[parent]) {
            work->out->counts.overlapping += work->ends[op] - work->ends[parent] > CUT_IS_ODD_NS;
            work->ends[op] = work->ends[parent];
        }
    }
    nest->tail = op;
    if (!MEM_GROW(work->mem, nest->open, nest->open_capacity, nest->open_count)) {
        work->refused = true;
        return;
    }
    nest->open[nest->open_count++] = op;
}

static void link_nest_add_call(struct nest *nest, const struct link_call *call)
{
    struct link_work *work = nest->work;
    if (!MEM_GROW(work->mem, work->calls, work->call_capacity, work->call_count)) {
        work->refused = true;
        return;
    }
    struct link_call *made = &work->calls[work->call_count++];
    *made = *call;
    made->owner = nest->open_count > 0 ? nest->open[nest->open_count - 1] : LINKED_NONE;
    made->tail = nest->tail;
    made->first_device = LINKED_NONE;
    made->last_device = LINKED_NONE;
    made->sync = KINETO_NONE;
}

/* Calls that do nothing we know are kept too where they have a correlation: what launched a kernel is told by that, and
 * not by a list of names. */
static void link_nest_take_call(struct nest *nest, uint32_t thread, uint32_t index)
{
    const struct kineto_event *event = &nest->work->kineto->events[index];
    enum kineto_call kind = call_kind(nest->work, event->name);
    bool has_correlation = (event->has & KINETO_HAS_CORRELATION) != 0 && event->correlation > 0;
    if (kind == KINETO_CALL_OTHER && !has_correlation) {
        return;
    }
    int64_t start = kineto_start_ns(event) - nest->work->base_ns;
    close_before(nest, start);
    link_nest_add_call(nest, &(struct link_call){.start_ns = start,
                                                 .end_ns = kineto_end_ns(event) - nest->work->base_ns,
                                                 .correlation = has_correlation ? event->correlation : -1,
                                                 .event = index,
                                                 .thread = thread,
                                                 .call = (uint8_t)kind});
}

/* Names of libraries that run on the device. */
static bool is_device_library(const char *name)
{
    static const char *const prefixes[] = {"nccl:", "rccl:", "xccl:", "hccl:", "record_param_comms"};
    for (size_t i = 0; i < sizeof prefixes / sizeof prefixes[0]; i++) {
        if (strncmp(name, prefixes[i], strlen(prefixes[i])) == 0) {
            return true;
        }
    }
    return false;
}

/* Where a collective could be that left no kernel: it takes part in the order of launches. */
static void take_stand_in(struct nest *nest, uint32_t thread, uint32_t op)
{
    const struct linked_node *node = &nest->work->out->nodes[op];
    if ((nest->work->flags[op] & LINK_IS_COMM) == 0 ||
        !is_device_library(intern_text(&nest->work->out->names, node->name))) {
        return;
    }
    link_nest_add_call(nest, &(struct link_call){.start_ns = node->start_ns,
                                                 .end_ns = node->start_ns,
                                                 .correlation = -1,
                                                 .event = KINETO_NONE,
                                                 .thread = thread,
                                                 .call = KINETO_CALL_LAUNCH});
}

static void nest_thread(struct nest *nest, uint32_t number, const uint32_t *call_events, uint32_t call_event_count)
{
    struct link_work *work = nest->work;
    struct link_thread *thread = &work->threads[number];
    uint32_t op = 0;
    uint32_t call = 0;
    nest->open_count = 0;
    nest->tail = LINKED_NONE;
    thread->first_call = work->call_count;
    while ((op < thread->op_count || call < call_event_count) && !work->refused) {
        bool op_first = op < thread->op_count;
        if (op_first && call < call_event_count) {
            int64_t call_start = kineto_start_ns(&work->kineto->events[call_events[call]]) - work->base_ns;
            op_first = work->out->nodes[work->ops[thread->first_op + op]].start_ns <= call_start;
        }
        if (op_first) {
            uint32_t node = work->ops[thread->first_op + op++];
            link_nest_open_op(nest, node);
            take_stand_in(nest, number, node);
        } else {
            link_nest_take_call(nest, number, call_events[call++]);
        }
    }
    thread->call_count = work->call_count - thread->first_call;
}

static bool link_nest_is_call(const struct link_work *work, const struct kineto_event *event)
{
    return (event->cat == KINETO_RUNTIME || event->cat == KINETO_DRIVER) && link_is_timed(work, event);
}

/* The calls of each thread, in order of start: counted, then laid out. */
static uint32_t *list_calls(struct link_work *work, uint32_t *first)
{
    const struct kineto_trace *kineto = work->kineto;
    uint32_t total = 0;
    for (uint32_t i = 0; i < kineto->event_count; i++) {
        if (link_nest_is_call(work, &kineto->events[i])) {
            first[kineto->events[i].tid + 1]++;
            total++;
        }
    }
    for (uint32_t t = 0; t < work->thread_count; t++) {
        first[t + 1] += first[t];
    }
    uint32_t *list = link_alloc(work, total, sizeof *list);
    uint32_t *next = link_alloc(work, (uint64_t)work->thread_count + 1, sizeof *next);
    if (work->refused) {
        return NULL;
    }
    for (uint32_t i = 0; i < kineto->event_count; i++) {
        if (link_nest_is_call(work, &kineto->events[i])) {
            uint32_t tid = kineto->events[i].tid;
            list[first[tid] + next[tid]++] = i;
        }
    }
    return list;
}

static void mark_busy(struct link_work *work)
{
    uint32_t count = 0;
    for (uint32_t t = 0; t < work->thread_count; t++) {
        struct link_thread *thread = &work->threads[t];
        thread->first_busy = count;
        for (uint32_t i = 0; i < thread->op_count; i++) {
            uint32_t op = work->ops[thread->first_op + i];
            struct linked_node *node = &work->out->nodes[op];
            if ((work->flags[op] & (LINK_IS_COMM | LINK_HAS_COMM_CHILD)) == LINK_IS_COMM &&
                link_nest_is_host_library(intern_text(&work->out->names, node->name))) {
                node->kind = LINKED_COMM_OP;
            }
            if (node->parent != LINKED_NONE &&
                ((work->flags[node->parent] & LINK_UNDER_SOLID) != 0 || link_is_solid(work, node->parent))) {
                work->flags[op] |= LINK_UNDER_SOLID;
            } else if (link_is_solid(work, op)) {
                work->busy[count++] = op;
            }
        }
        thread->busy_count = count - thread->first_busy;
    }
}

/* Lists over all threads, for the search of handovers and of what was waited for. */
static void list_all(struct link_work *work)
{
    const struct linked_trace *out = work->out;
    work->busy_ends = link_alloc(work, work->op_total, sizeof *work->busy_ends);
    work->comm_ops = link_alloc(work, work->op_total, sizeof *work->comm_ops);
    work->comm_ends = link_alloc(work, work->op_total, sizeof *work->comm_ends);
    if (work->refused) {
        return;
    }
    for (uint32_t t = 0; t < work->thread_count; t++) {
        for (uint32_t i = 0; i < work->threads[t].busy_count; i++) {
            uint32_t op = work->busy[work->threads[t].first_busy + i];
            work->busy_ends[work->busy_total++] = (struct link_key){.key = work->ends[op], .value = op};
        }
    }
    link_keys_sort(work->busy_ends, work->busy_total);
    for (uint32_t i = 0; i < work->op_total; i++) {
        if ((work->flags[i] & LINK_IS_COMM) != 0 && out->nodes[i].kind == LINKED_OP) {
            work->comm_ops[work->comm_op_count++] = (struct link_key){.key = out->nodes[i].start_ns, .value = i};
        }
        if (out->nodes[i].kind == LINKED_COMM_OP) {
            work->comm_ends[work->comm_end_count++] = (struct link_key){.key = work->ends[i], .value = i};
        }
    }
    link_keys_sort(work->comm_ends, work->comm_end_count);
}

void link_nest(struct link_work *work)
{
    struct nest nest = {.work = work};
    uint32_t *first = link_alloc(work, (uint64_t)work->thread_count + 2, sizeof *first);
    uint32_t *list = work->refused ? NULL : list_calls(work, first);
    for (uint32_t t = 0; t < work->thread_count && !work->refused; t++) {
        nest_thread(&nest, t, list + first[t], first[t + 1] - first[t]);
    }
    mem_free(work->mem, nest.open, (size_t)nest.open_capacity * sizeof *nest.open);
    if (!work->refused) {
        mark_busy(work);
        list_all(work);
    }
}
