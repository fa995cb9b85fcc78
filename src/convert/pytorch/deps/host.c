/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What each host thread did, one thing after the other: ops with the time that is their own, the time between them, and
 * the waiting that is neither. A thread is walked with a stack of open ops and a cursor up to which its time is
 * accounted for. Time goes to the innermost solid op, or, where only annotations or nothing is open, to a gap. An op's
 * own time is divided where it launches work, where an inner op ends and where it waits, each piece a node in its
 * place: what it launched comes behind what it had done by then, and not behind all it ever did.
 *
 * A synchronising call divides: what was before it is host time, then the thread waited until the device was done, and
 * what its thread does next depends on that. The wait itself is nobody's time: in a simulation it comes of itself. The
 * same holds where the range of a message of the thread's ends: it ends when somebody has waited for it.
 */
#include "convert/pytorch/link/work.h"

enum {
    GAP_NS = 1000,  /* shorter gaps are added to the op before them */
    SLACK_NS = 2000 /* host and device clocks agree to about this */
};

struct frame {
    uint32_t op;
    uint32_t account; /* the node that its time goes to: itself, or what it did after a launch, a wait, an inner op */
};

struct walk {
    struct link_work *work;
    uint32_t thread;
    struct frame *open;
    uint32_t open_count, open_capacity;
    uint32_t solid_count; /* of the open ones */
    uint32_t *pending;    /* nodes that the thread's next node has to wait for */
    uint32_t pending_count, pending_capacity;
    uint32_t *waited; /* by lane: the last node this thread waited for, + 1 */
    uint32_t *waited_thread;
    struct link_key *under_way; /* messages that the thread asked for and has not waited for, by end */
    uint32_t under_way_count, under_way_capacity;
    uint32_t tail; /* the thread's last node */
    uint32_t gap_name;
    int64_t cursor;
    int64_t next_start;   /* of the op after the one that starts; INT64_MAX */
    uint32_t step_thread; /* the one that drives: whose steps are marked; LINKED_NONE */
    int64_t steps_start, steps_end;
    bool begun;
    bool divided; /* something depends on the tail as far as it has come: more time is another node's */
};

static void pend(struct walk *walk, uint32_t node)
{
    if (node == LINKED_NONE) {
        return;
    }
    if (!MEM_GROW(walk->work->mem, walk->pending, walk->pending_capacity, walk->pending_count)) {
        walk->work->refused = true;
        return;
    }
    walk->pending[walk->pending_count++] = node;
}

/* `node` is what the thread does next. */
static void deps_host_follow(struct walk *walk, uint32_t node)
{
    link_edge_add(walk->work, node, walk->tail);
    for (uint32_t i = 0; i < walk->pending_count; i++) {
        link_edge_add(walk->work, node, walk->pending[i]);
    }
    walk->pending_count = 0;
    walk->tail = node;
    walk->divided = false;
}

static uint32_t add_made(struct walk *walk, enum linked_kind kind, uint32_t name, int64_t start_ns, int64_t end_ns)
{
    uint32_t parent = walk->open_count > 0 ? walk->open[walk->open_count - 1].op : LINKED_NONE;
    int64_t begin_ns = start_ns;
    for (uint32_t i = 0; i < walk->pending_count; i++) {
        /* A copy of no length that started this very moment comes before it all the same. */
        int64_t source_ns = walk->work->out->nodes[walk->pending[i]].start_ns;
        begin_ns = source_ns >= begin_ns && source_ns < end_ns ? source_ns + 1 : begin_ns;
    }
    uint32_t node = link_node_add(walk->work,
                                  &(struct linked_node){.start_ns = begin_ns,
                                                        .duration_ns = end_ns - start_ns,
                                                        .rf_id = -1,
                                                        .name = name,
                                                        .parent = parent,
                                                        .lane = walk->work->threads[walk->thread].lane,
                                                        .comm = LINKED_NONE,
                                                        .host = LINKED_NONE,
                                                        .step = -1,
                                                        .kind = (uint8_t)kind},
                                  end_ns, KINETO_NONE, 0);
    if (node != LINKED_NONE) {
        deps_host_follow(walk, node);
    }
    return node;
}

/* Time of the innermost open op, which is solid. */
static void account_op(struct walk *walk, int64_t until)
{
    struct frame *frame = &walk->open[walk->open_count - 1];
    struct linked_trace *out = walk->work->out;
    int64_t time = until - walk->cursor;
    if (time <= 0) {
        return;
    }
    bool whole = out->nodes[frame->op].kind == LINKED_COMM_OP; /* its time is the communication's */
    bool goes_on = walk->tail == frame->account && !walk->divided && walk->pending_count == 0;
    if (!whole && !goes_on && time >= GAP_NS) {
        uint32_t rest = add_made(walk, LINKED_REST, out->nodes[frame->op].name, walk->cursor, until);
        frame->account = rest != LINKED_NONE ? rest : frame->account;
    } else if (!whole && walk->tail != LINKED_NONE && out->nodes[walk->tail].kind <= LINKED_GAP) {
        out->nodes[walk->tail].duration_ns += time;
    } else {
        out->nodes[frame->account].duration_ns += time;
    }
    walk->cursor = until;
}

/* Time outside all solid ops, up to `until`, where `op` starts (LINKED_NONE: a call). */
static void account_gap(struct walk *walk, int64_t until, uint32_t op)
{
    struct link_work *work = walk->work;
    int64_t from = walk->cursor;
    if (op != LINKED_NONE) {
        int64_t released = until;
        uint32_t giver = link_handover(work, walk->thread, op, from, !walk->begun, &released);
        if (giver != LINKED_NONE) {
            pend(walk, giver);
            work->out->counts.handovers++;
            from = !walk->begun || released > from ? released : from;
        } else if (!walk->begun) {
            from = until;
        }
    }
    if (!walk->begun && op == LINKED_NONE) {
        return; /* a thread that only calls the library so far */
    }
    if (until - from >= GAP_NS) {
        (void)add_made(walk, LINKED_GAP, walk->gap_name, from, until);
        work->out->counts.gaps++;
        if (__builtin_add_overflow(work->out->counts.gap_ns, until - from, &work->out->counts.gap_ns)) {
            work->out->counts.gap_ns = INT64_MAX;
        }
    } else if (until > from && walk->tail != LINKED_NONE && work->out->nodes[walk->tail].kind <= LINKED_GAP) {
        work->out->nodes[walk->tail].duration_ns += until - from;
    }
    walk->cursor = until;
}

static void account(struct walk *walk, int64_t until, uint32_t op)
{
    if (walk->open_count > 0 && walk->solid_count > 0) {
        account_op(walk, until);
    } else if (op != LINKED_NONE || walk->begun) {
        account_gap(walk, until, op);
    }
}

static void close_until(struct walk *walk, int64_t time_ns)
{
    struct link_work *work = walk->work;
    while (walk->open_count > 0 && work->ends[walk->open[walk->open_count - 1].op] <= time_ns) {
        uint32_t op = walk->open[walk->open_count - 1].op;
        if (link_is_solid(work, op)) {
            account_op(walk, work->ends[op]);
            walk->solid_count--;
        }
        walk->open_count--;
    }
}

/* ---- messages of a host library ---- */

/* An entry of what the thread will have waited for, in its place by end. */
static void add_under_way(struct walk *walk, uint32_t op)
{
    struct link_work *work = walk->work;
    if (!MEM_GROW(work->mem, walk->under_way, walk->under_way_capacity, walk->under_way_count)) {
        work->refused = true;
        return;
    }
    uint32_t at = walk->under_way_count++;
    for (; at > 0 && walk->under_way[at - 1].key > work->ends[op]; at--) {
        walk->under_way[at] = walk->under_way[at - 1];
    }
    walk->under_way[at] = (struct link_key){.key = work->ends[op], .value = op};
}

/* An op that only waits for a collective: _c10d_functional::wait_tensor and its like. */
static bool is_wait(const struct link_work *work, uint32_t op)
{
    const char *name = intern_text(&work->out->names, work->out->nodes[op].name);
    const char *last = strrchr(name, ':');
    return strstr(name, "c10d") != NULL && last != NULL && strncmp(last + 1, "wait", 4) == 0;
}

/* What ended last while the thread was in such an op is what it waited for. */
static void begin_wait(struct walk *walk, uint32_t op)
{
    const struct link_work *work = walk->work;
    uint32_t at = link_keys_below(work->comm_ends, work->comm_end_count, work->ends[op] + 1);
    if (at > 0 && work->comm_ends[at - 1].key > work->out->nodes[op].start_ns &&
        (work->flags[work->comm_ends[at - 1].value] & LINK_IS_ASYNC) == 0) {
        add_under_way(walk, work->comm_ends[at - 1].value);
    }
}

/* The library carries it out in the op that asks for it, as far as it can: time of that op up to the range's start is
 * the message's. The thread goes on; the message is none of its ops. */
static void begin_message(struct walk *walk, uint32_t op)
{
    struct link_work *work = walk->work;
    struct linked_node *node = &work->out->nodes[op];
    link_edge_add(work, op, walk->tail);
    for (uint32_t i = 0; i < walk->pending_count; i++) {
        link_edge_add(work, op, walk->pending[i]);
    }
    add_under_way(walk, op);
    int64_t asked = walk->cursor < node->start_ns ? walk->cursor : node->start_ns;
    walk->cursor = node->start_ns > walk->cursor ? node->start_ns : walk->cursor;
    node->duration_ns = work->ends[op] - asked;
    node->start_ns = asked;
}

/* Where the thread did nothing else, or was in a call that communicates, it waited for what ended then. A message that
 * ended while it was busy was waited for by somebody else. */
static void end_messages(struct walk *walk, int64_t until)
{
    struct link_work *work = walk->work;
    uint32_t taken = 0;
    for (; taken < walk->under_way_count && walk->under_way[taken].key <= until; taken++) {
        int64_t end = walk->under_way[taken].key;
        close_until(walk, end);
        uint32_t inner = walk->solid_count == 0 ? LINKED_NONE : walk->open[walk->open_count - 1].op;
        if (inner == LINKED_NONE || (work->flags[inner] & LINK_IS_COMM) != 0 || is_wait(work, inner)) {
            pend(walk, walk->under_way[taken].value);
            walk->cursor = end > walk->cursor ? end : walk->cursor;
        }
    }
    walk->under_way_count -= taken;
    if (taken > 0) {
        memmove(walk->under_way, walk->under_way + taken, walk->under_way_count * sizeof *walk->under_way);
    }
}

/* ---- what a host library's collective waits for ---- */

/* The copies to the host that the op which enqueued it launched: the collective's input. It starts when the last of
 * them is there, and not before. */
static void wait_for_inputs(struct walk *walk, uint32_t op)
{
    struct link_work *work = walk->work;
    uint32_t creator = link_creator(work, op);
    if (creator == LINKED_NONE) {
        return;
    }
    const struct link_thread *thread = &work->threads[work->kineto->events[work->events[creator]].tid];
    if (thread->call_count == 0) {
        return;
    }
    const struct link_call *calls = work->calls + thread->first_call;
    uint32_t low = 0;
    uint32_t high = thread->call_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (calls[middle].start_ns < work->out->nodes[creator].start_ns) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    uint32_t input = LINKED_NONE;
    for (; low < thread->call_count && calls[low].start_ns < work->ends[creator]; low++) {
        uint32_t device = calls[low].last_device;
        if (device != LINKED_NONE && work->ends[device] <= work->ends[op]) {
            input = device;
        }
    }
    if (input == LINKED_NONE) {
        return;
    }
    if (work->ends[input] > work->out->nodes[op].start_ns && work->ends[input] <= walk->next_start) {
        work->out->nodes[op].start_ns = work->ends[input];
    }
    link_edge_add(work, op, input);
    work->out->counts.waits_inferred++;
}

/* ---- synchronising calls ---- */

/* The last node of the lane launched before the call and done by its end. */
static uint32_t done_on_lane(const struct link_work *work, uint32_t lane, int64_t launched_ns, int64_t done_ns)
{
    enum { TRIED = 64 };
    uint32_t node = link_lane_before(work, lane, launched_ns);
    for (uint32_t tried = 0; node != LINKED_NONE && tried < TRIED; tried++) {
        if (work->ends[node] <= done_ns + SLACK_NS) {
            return node;
        }
        uint32_t call = node < work->op_total + work->device_total ? work->call_of[node - work->op_total] : LINKED_NONE;
        node = call == LINKED_NONE ? LINKED_NONE : link_lane_before(work, lane, work->calls[call].start_ns);
    }
    return LINKED_NONE;
}

/* Notes the wait for `node` and moves the time it took until. Nothing when the thread has waited for it before. */
static void deps_host_wait_for(struct walk *walk, uint32_t node, uint64_t *count, int64_t *done_ns)
{
    struct link_work *work = walk->work;
    if (node == LINKED_NONE) {
        return;
    }
    *done_ns = work->ends[node] > *done_ns ? work->ends[node] : *done_ns;
    uint32_t lane = work->out->nodes[node].lane;
    if (walk->waited_thread[lane] == walk->thread + 1 && walk->waited[lane] == node) {
        return;
    }
    walk->waited_thread[lane] = walk->thread + 1;
    walk->waited[lane] = node;
    pend(walk, node);
    ++*count;
}

static void wait_for_all(struct walk *walk, const struct link_call *call, uint64_t *count, int64_t *done_ns)
{
    for (uint32_t l = 0; l < walk->work->out->lane_count; l++) {
        if (walk->work->lanes[l].count > 0) {
            deps_host_wait_for(walk, done_on_lane(walk->work, l, call->start_ns, call->end_ns), count, done_ns);
        }
    }
}

/* False when the synchronisation event does not say what was waited for. */
static bool sync_recorded(struct walk *walk, uint32_t index, int64_t *done_ns)
{
    struct link_work *work = walk->work;
    const struct link_call *call = &work->calls[index];
    const struct kineto_event *event = &work->kineto->events[call->sync];
    const struct kineto_sync *sync = &work->kineto->syncs[event->extra];
    uint64_t *count = &work->out->counts.waits_recorded;
    uint32_t like = work->before[index];
    uint32_t lane = sync->wait_stream >= 0 ? link_lane_of_stream(work, like, sync->wait_stream) : LINKED_NONE;
    if (lane == LINKED_NONE) {
        if (call->call == KINETO_CALL_DEVICE_SYNC) {
            wait_for_all(walk, call, count, done_ns);
        }
        return call->call == KINETO_CALL_DEVICE_SYNC;
    }
    uint32_t record = link_call_of(work, sync->wait_record_corr, call->start_ns);
    int64_t launched = record != LINKED_NONE ? work->calls[record].start_ns : call->start_ns;
    deps_host_wait_for(walk, done_on_lane(work, lane, launched, call->end_ns), count, done_ns);
    return true;
}

/* An event's synchronisation: the thread's own last record, else the latest that was done by the call's end. */
static uint32_t synced_record(const struct link_work *work, uint32_t index)
{
    enum { TRIED = 64 };
    const struct link_call *call = &work->calls[index];
    uint32_t other = LINKED_NONE;
    uint32_t at = link_keys_below(work->records, work->record_count, call->start_ns);
    for (uint32_t i = at; i > 0 && at - i < TRIED; i--) {
        uint32_t record = work->records[i - 1].value;
        uint32_t node = link_recorded(work, record);
        if (node == LINKED_NONE || work->ends[node] > call->end_ns + SLACK_NS) {
            continue;
        }
        if (work->calls[record].thread == call->thread) {
            return node;
        }
        other = other == LINKED_NONE ? node : other;
    }
    return other;
}

static void sync_inferred(struct walk *walk, uint32_t index, int64_t *done_ns)
{
    struct link_work *work = walk->work;
    const struct link_call *call = &work->calls[index];
    uint64_t *count = &work->out->counts.waits_inferred;
    switch ((enum kineto_call)call->call) {
    case KINETO_CALL_DEVICE_SYNC:
        wait_for_all(walk, call, count, done_ns);
        break;
    case KINETO_CALL_STREAM_SYNC:
        if (work->before[index] != LINKED_NONE) {
            uint32_t lane = work->out->nodes[work->before[index]].lane;
            deps_host_wait_for(walk, done_on_lane(work, lane, call->start_ns, call->end_ns), count, done_ns);
        }
        break;
    case KINETO_CALL_EVENT_SYNC:
        deps_host_wait_for(walk, synced_record(work, index), count, done_ns);
        break;
    case KINETO_CALL_LAUNCH: /* a copy that was over before the call returned: the call waited for it */
        if (call->last_device != LINKED_NONE && work->events[call->last_device] != KINETO_NONE &&
            work->kineto->events[work->events[call->last_device]].cat == KINETO_MEMCPY &&
            work->ends[call->last_device] <= call->end_ns) {
            deps_host_wait_for(walk, call->last_device, count, done_ns);
        }
        break;
    default:
        break;
    }
}

/* An event that another thread recorded: that thread had come so far, and this one, where it was idle for long, waited
 * for it. */
static void wait_handed_over(struct walk *walk, uint32_t index)
{
    struct link_work *work = walk->work;
    const struct link_call *call = &work->calls[index];
    uint32_t record = work->wait_record[index];
    if (record == LINKED_NONE || work->calls[record].thread == walk->thread ||
        work->calls[record].tail == LINKED_NONE) {
        return;
    }
    int64_t recorded = work->calls[record].start_ns;
    if (walk->begun && walk->solid_count == 0 && recorded > walk->cursor &&
        call->start_ns - walk->cursor >= LINK_IDLE_NS) {
        walk->cursor = recorded;
    } else {
        account(walk, call->start_ns, LINKED_NONE);
    }
    pend(walk, work->calls[record].tail);
    work->out->counts.handovers++;
}

/* What the call launches comes behind the thread's time up to here. */
static void launch(struct walk *walk, uint32_t index)
{
    struct link_work *work = walk->work;
    struct link_call *call = &work->calls[index];
    if (!walk->begun || (call->owner != LINKED_NONE && work->out->nodes[call->owner].kind == LINKED_COMM_OP)) {
        return;
    }
    account(walk, call->start_ns, LINKED_NONE);
    call->tail = walk->tail;
    walk->divided = true;
}

static void deps_host_take_call(struct walk *walk, uint32_t index)
{
    struct link_work *work = walk->work;
    const struct link_call *call = &work->calls[index];
    int64_t done = INT64_MIN;
    end_messages(walk, call->start_ns);
    close_until(walk, call->start_ns);
    if (call->first_device != LINKED_NONE) {
        launch(walk, index);
    }
    uint32_t before = walk->pending_count;
    if (call->call == KINETO_CALL_STREAM_WAIT) {
        wait_handed_over(walk, index);
        return;
    }
    if (call->owner != LINKED_NONE && work->out->nodes[call->owner].kind == LINKED_COMM_OP) {
        return; /* it waits for its inputs, which it depends on already */
    }
    if (call->sync == KINETO_NONE || !sync_recorded(walk, index, &done)) {
        sync_inferred(walk, index, &done);
    }
    if (done == INT64_MIN) {
        return;
    }
    uint32_t added = walk->pending_count - before;
    walk->pending_count = before; /* what was before the call does not wait for it */
    account(walk, call->start_ns, LINKED_NONE);
    for (uint32_t i = 0; i < added; i++) {
        walk->pending[walk->pending_count++] = walk->pending[before + i];
    }
    done = done < call->end_ns ? done : call->end_ns;
    walk->cursor = walk->begun && done > walk->cursor ? done : walk->cursor;
}

/* ---- a thread ---- */

static void deps_host_open_op(struct walk *walk, uint32_t op)
{
    struct link_work *work = walk->work;
    int64_t start = work->out->nodes[op].start_ns;
    end_messages(walk, start);
    close_until(walk, start);
    if ((work->flags[op] & LINK_IS_ASYNC) != 0) {
        begin_message(walk, op);
        return;
    }
    account(walk, start, op);
    if (work->out->nodes[op].kind == LINKED_COMM_OP) {
        wait_for_inputs(walk, op);
        start = work->out->nodes[op].start_ns;
    }
    deps_host_follow(walk, op);
    walk->cursor = start > walk->cursor || !walk->begun ? start : walk->cursor;
    walk->begun = true;
    if (!MEM_GROW(work->mem, walk->open, walk->open_capacity, walk->open_count)) {
        work->refused = true;
        return;
    }
    walk->open[walk->open_count++] = (struct frame){.op = op, .account = op};
    if (is_wait(work, op)) {
        begin_wait(walk, op);
    }
    walk->solid_count += link_is_solid(work, op);
}

static void deps_host_walk_thread(struct walk *walk)
{
    struct link_work *work = walk->work;
    const struct link_thread *thread = &work->threads[walk->thread];
    uint32_t op = 0;
    uint32_t call = 0;
    walk->open_count = walk->solid_count = walk->pending_count = walk->under_way_count = 0;
    walk->tail = LINKED_NONE;
    /* Before its first op and after its last, the thread that drives was busy as long as it was in a step. */
    walk->begun = walk->thread == walk->step_thread;
    walk->cursor = walk->begun ? walk->steps_start : 0;
    while ((op < thread->op_count || call < thread->call_count) && !work->refused) {
        uint32_t node = op < thread->op_count ? work->ops[thread->first_op + op] : LINKED_NONE;
        uint32_t index = thread->first_call + call;
        if (node != LINKED_NONE &&
            (call >= thread->call_count || work->out->nodes[node].start_ns <= work->calls[index].start_ns)) {
            op++;
            walk->next_start =
                op < thread->op_count ? work->out->nodes[work->ops[thread->first_op + op]].start_ns : INT64_MAX;
            deps_host_open_op(walk, node);
        } else {
            deps_host_take_call(walk, index);
            call++;
        }
    }
    if (!work->refused) {
        end_messages(walk, INT64_MAX);
        close_until(walk, INT64_MAX);
    }
    int64_t end = walk->thread == walk->step_thread ? walk->steps_end : INT64_MIN;
    for (uint32_t i = 0; i < thread->call_count; i++) { /* such as the wait for the device when the recording ends */
        const struct link_call *last = &work->calls[thread->first_call + i];
        bool known = last->event != KINETO_NONE && kineto_is_call(link_event_name(work, last->event));
        end = known && last->end_ns > end ? last->end_ns : end;
    }
    if (!work->refused && walk->begun && end > walk->cursor) {
        account_gap(walk, end, LINKED_NONE);
    }
}

static void link_launches(struct link_work *work)
{
    for (uint32_t i = 0; i < work->device_total && !work->refused; i++) {
        uint32_t call = work->call_of[i];
        if (call != LINKED_NONE) {
            link_edge_add(work, work->op_total + i, work->calls[call].tail);
        }
    }
}

static void deps_host_find_steps(struct walk *walk)
{
    const struct link_work *work = walk->work;
    walk->step_thread = LINKED_NONE;
    for (uint32_t i = 0; i < work->kineto->event_count; i++) {
        const struct kineto_event *event = &work->kineto->events[i];
        if ((event->cat != KINETO_USER_ANNOTATION && event->cat != KINETO_CPU_OP) || !link_is_timed(work, event) ||
            strncmp(link_event_name(work, i), "ProfilerStep#", 13) != 0) {
            continue;
        }
        int64_t end = kineto_end_ns(event) - work->base_ns;
        if (walk->step_thread == LINKED_NONE) {
            walk->step_thread = event->tid;
            walk->steps_start = walk->steps_end = kineto_start_ns(event) - work->base_ns;
        }
        walk->steps_end = event->tid == walk->step_thread && end > walk->steps_end ? end : walk->steps_end;
    }
}

void link_threads(struct link_work *work)
{
    struct walk walk = {.work = work};
    deps_host_find_steps(&walk);
    walk.waited = link_alloc(work, (uint64_t)work->out->lane_count + 1, sizeof *walk.waited);
    walk.waited_thread = link_alloc(work, (uint64_t)work->out->lane_count + 1, sizeof *walk.waited_thread);
    if (!work->refused && !intern_add(&work->out->names, "host gap", 8, &walk.gap_name)) {
        work->refused = true;
    }
    for (walk.thread = 0; walk.thread < work->thread_count && !work->refused; walk.thread++) {
        if (work->threads[walk.thread].op_count > 0) {
            deps_host_walk_thread(&walk);
        }
    }
    link_launches(work);
    mem_free(work->mem, walk.open, (size_t)walk.open_capacity * sizeof *walk.open);
    mem_free(work->mem, walk.pending, (size_t)walk.pending_capacity * sizeof *walk.pending);
    mem_free(work->mem, walk.under_way, (size_t)walk.under_way_capacity * sizeof *walk.under_way);
}
