/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How work passes from one host thread to another. Three kinds of evidence, best first:
 *
 *  - A library's worker runs an op that another thread made: PyTorch numbers its record functions as they are made, so
 *    an op whose number is lower than that of ops which started before it was made by the op that has the number below.
 *  - A thread was idle for long, and another fell silent meanwhile: autograd's thread after the forward pass, the main
 *    thread after the backward pass, a thread that waits for a worker's collective.
 *  - A thread's very first op: whatever ended last before it.
 *
 * Short idle times prove nothing, for Python takes its time between any two ops.
 */
#include "convert/pytorch/link/work.h"

enum {
    NUMBER_RACE_NS = 2000, /* a number is taken a moment before the time is */
    TRIED = 64             /* neighbours looked at: a bound for traces made to hurt */
};

static uint32_t handover_thread_of(const struct link_work *work, uint32_t op)
{
    return work->kineto->events[work->events[op]].tid;
}

/* The node a thread had begun last at a time, among recorded ops. */
static uint32_t link_tail_at(const struct link_work *work, uint32_t thread, int64_t time_ns)
{
    const struct link_thread *list = &work->threads[thread];
    uint32_t low = 0;
    uint32_t high = list->op_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (work->out->nodes[work->ops[list->first_op + middle]].start_ns < time_ns) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low == 0 ? LINKED_NONE : work->ops[list->first_op + low - 1];
}

/* The outermost op around that still speaks of communication: c10d::allreduce_, not the copy in it. */
static uint32_t whole_comm(const struct link_work *work, uint32_t op)
{
    uint32_t found = op;
    for (uint32_t up = op; up != LINKED_NONE; up = work->out->nodes[up].parent) {
        if ((work->flags[up] & LINK_IS_COMM) != 0) {
            found = up;
        }
    }
    return found;
}

static uint32_t creator_by_number(const struct link_work *work, uint32_t op)
{
    const struct linked_node *node = &work->out->nodes[op];
    uint32_t thread = handover_thread_of(work, op);
    if (node->rf_id <= 0) {
        return LINKED_NONE;
    }
    uint32_t at = link_keys_find(work->by_rf, work->rf_count, node->rf_id);
    bool made_early = false;
    for (uint32_t i = at + 1; i < work->rf_count && i <= at + TRIED && !made_early; i++) {
        uint32_t later = work->by_rf[i].value;
        made_early = handover_thread_of(work, later) != thread &&
                     work->out->nodes[later].start_ns + NUMBER_RACE_NS < node->start_ns;
    }
    for (uint32_t i = at; i > 0 && at - i < TRIED && made_early; i--) {
        uint32_t earlier = work->by_rf[i - 1].value;
        if (handover_thread_of(work, earlier) != thread && work->out->nodes[earlier].start_ns < node->start_ns) {
            return whole_comm(work, earlier);
        }
    }
    return LINKED_NONE;
}

/* For traces without numbers: the communication that another thread began last. */
static uint32_t creator_by_name(const struct link_work *work, uint32_t op)
{
    int64_t start = work->out->nodes[op].start_ns;
    uint32_t at = link_keys_below(work->comm_ops, work->comm_op_count, start);
    for (uint32_t i = at; i > 0 && at - i < TRIED; i--) {
        uint32_t found = work->comm_ops[i - 1].value;
        if (handover_thread_of(work, found) != handover_thread_of(work, op)) {
            return whole_comm(work, found);
        }
    }
    return LINKED_NONE;
}

uint32_t link_creator(const struct link_work *work, uint32_t op)
{
    if ((work->flags[op] & LINK_IS_ASYNC) != 0) {
        return LINKED_NONE; /* its own thread asked for it: the op around */
    }
    uint32_t creator = creator_by_number(work, op);
    if (creator == LINKED_NONE && work->out->nodes[op].kind == LINKED_COMM_OP) {
        creator = creator_by_name(work, op);
    }
    return creator;
}

/* Whether the op is the last solid one that its thread began before the time. */
static bool is_silent_after(const struct link_work *work, uint32_t op, int64_t time_ns)
{
    const struct link_thread *list = &work->threads[handover_thread_of(work, op)];
    uint32_t low = 0;
    uint32_t high = list->busy_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (work->out->nodes[work->busy[list->first_busy + middle]].start_ns < time_ns) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low > 0 && work->busy[list->first_busy + low - 1] == op;
}

/* Of the threads that fell silent between the two times, the last to do so: its last op. */
static uint32_t latest_silent(const struct link_work *work, uint32_t thread, int64_t idle_ns, int64_t time_ns)
{
    uint32_t at = link_keys_below(work->busy_ends, work->busy_total, time_ns + 1);
    for (uint32_t i = at; i > 0 && at - i < TRIED && work->busy_ends[i - 1].key > idle_ns; i--) {
        uint32_t op = work->busy_ends[i - 1].value;
        if (handover_thread_of(work, op) != thread && is_silent_after(work, op, time_ns)) {
            return op;
        }
    }
    return LINKED_NONE;
}

/* Host ops are numbered by start. */
static uint32_t latest_begun(const struct link_work *work, uint32_t thread, uint32_t op)
{
    for (uint32_t i = op; i > 0 && op - i < TRIED; i--) {
        if (handover_thread_of(work, i - 1) != thread &&
            work->out->nodes[i - 1].start_ns < work->out->nodes[op].start_ns) {
            return i - 1;
        }
    }
    return LINKED_NONE;
}

/* The node begun last inside `op`, or itself, before a time. */
static uint32_t tail_inside(const struct link_work *work, uint32_t op, int64_t time_ns)
{
    int64_t end = work->ends[op] < time_ns ? work->ends[op] : time_ns;
    uint32_t tail = link_tail_at(work, handover_thread_of(work, op), end);
    return tail == LINKED_NONE || tail < op ? op : tail;
}

uint32_t link_handover(const struct link_work *work, uint32_t thread, uint32_t op, int64_t idle_ns, bool first,
                       int64_t *released_ns)
{
    int64_t start = work->out->nodes[op].start_ns;
    bool is_long = first || start - idle_ns >= LINK_IDLE_NS;
    uint32_t from = is_long || work->out->nodes[op].kind == LINKED_COMM_OP ? link_creator(work, op) : LINKED_NONE;
    if (from == LINKED_NONE && is_long) {
        from = latest_silent(work, thread, first ? INT64_MIN : idle_ns, start);
    }
    if (from != LINKED_NONE) {
        *released_ns = work->ends[from] < start ? work->ends[from] : start;
        return tail_inside(work, from, start);
    }
    *released_ns = start;
    return first ? latest_begun(work, thread, op) : LINKED_NONE;
}
