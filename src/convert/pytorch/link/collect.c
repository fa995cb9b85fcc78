/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The first part of linking: every event that is work becomes a node, every call that launches, records, waits or
 * synchronises a call, and each host thread gets the list of its ops. The device trace is sorted by time already; what
 * is left to do is to put of two ops that start together the longer one first, since it is around the other.
 */
#include <stdlib.h>

#include "convert/comm_name.h"
#include "convert/pytorch/link/work.h"

void *link_alloc(struct link_work *work, uint64_t count, size_t item_bytes)
{
    void *block = count > SIZE_MAX / item_bytes ? NULL : arena_zalloc(&work->arena, (size_t)count * item_bytes);
    work->refused = work->refused || block == NULL;
    return block;
}

uint32_t link_node_add(struct link_work *work, const struct linked_node *node, int64_t end_ns, uint32_t event,
                       uint8_t flags)
{
    struct linked_trace *out = work->out;
    uint64_t need = (uint64_t)out->node_count + 1;
    if (need >= LINKED_NONE || !MEM_RESERVE(work->mem, out->nodes, out->node_capacity, need) ||
        !MEM_RESERVE(work->mem, work->ends, work->ends_capacity, need) ||
        !MEM_RESERVE(work->mem, work->events, work->events_capacity, need) ||
        !MEM_RESERVE(work->mem, work->flags, work->flags_capacity, need)) {
        work->refused = true;
        return LINKED_NONE;
    }
    uint32_t index = out->node_count++;
    out->nodes[index] = *node;
    work->ends[index] = end_ns;
    work->events[index] = event;
    work->flags[index] = flags;
    return index;
}

void link_edge_add(struct link_work *work, uint32_t to, uint32_t from)
{
    if (to == LINKED_NONE || from == LINKED_NONE || to == from || work->refused) {
        return;
    }
    if (!MEM_GROW(work->mem, work->edges, work->edge_capacity, work->edge_count)) {
        work->refused = true;
        return;
    }
    work->edges[work->edge_count++] = (struct link_edge){.to = to, .from = from};
}

uint32_t link_name(struct link_work *work, uint32_t kineto_name)
{
    uint32_t number = work->name_map[kineto_name];
    if (number == 0) {
        const struct intern *names = &work->kineto->names;
        if (!intern_add(&work->out->names, intern_text(names, kineto_name), intern_length(names, kineto_name),
                        &number)) {
            work->refused = true;
            return 0;
        }
        work->name_map[kineto_name] = number + 1;
        return number;
    }
    return number - 1;
}

/* ---- keys ---- */

static int link_collect_compare_keys(const void *left, const void *right)
{
    const struct link_key *a = left;
    const struct link_key *b = right;
    if (a->key != b->key) {
        return a->key < b->key ? -1 : 1;
    }
    return a->value < b->value ? -1 : a->value > b->value;
}

void link_keys_sort(struct link_key *keys, uint32_t count)
{
    bool sorted = true;
    for (uint32_t i = 1; i < count && sorted; i++) {
        sorted = link_collect_compare_keys(&keys[i - 1], &keys[i]) <= 0;
    }
    if (!sorted) {
        qsort(keys, count, sizeof *keys, link_collect_compare_keys);
    }
}

uint32_t link_keys_below(const struct link_key *keys, uint32_t count, int64_t key)
{
    uint32_t low = 0;
    uint32_t high = count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (keys[middle].key < key) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

uint32_t link_keys_find(const struct link_key *keys, uint32_t count, int64_t key)
{
    uint32_t at = link_keys_below(keys, count, key);
    return at < count && keys[at].key == key ? at : count;
}

/* ---- collecting ---- */

/* What is no work: a profiler's step, which covers everything (steps.c), and the list of groups. */
static bool link_collect_is_mark(const char *name)
{
    return strncmp(name, "ProfilerStep", 12) == 0 || strstr(name, "process_group:init") != NULL;
}

static bool is_device_work(const struct kineto_event *event)
{
    return event->cat == KINETO_KERNEL || event->cat == KINETO_MEMCPY || event->cat == KINETO_MEMSET;
}

static bool is_host_op(const struct link_work *work, const struct kineto_event *event)
{
    if (event->cat == KINETO_RUNTIME || event->cat == KINETO_DRIVER) {
        return work->threads[event->tid].calls_only;
    }
    return (event->cat == KINETO_CPU_OP || event->cat == KINETO_USER_ANNOTATION) &&
           !link_collect_is_mark(intern_text(&work->kineto->names, event->name));
}

/* A thread of which no op was recorded, but that drove the device (a program without PyTorch's ops, or one whose ops
 * were not asked for): its calls are all it is known to have done, and stand in for ops. A thread that launched nothing
 * that was recorded is of no matter. */
static void find_call_threads(struct link_work *work)
{
    const struct kineto_trace *kineto = work->kineto;
    struct link_key *launched = link_alloc(work, kineto->event_count, sizeof *launched);
    uint32_t count = 0;
    for (uint32_t i = 0; i < kineto->event_count && !work->refused; i++) {
        const struct kineto_event *event = &kineto->events[i];
        if (is_device_work(event) && event->correlation > 0) {
            launched[count++] = (struct link_key){.key = event->correlation, .value = i};
        }
    }
    if (work->refused) {
        return;
    }
    link_keys_sort(launched, count);
    for (uint32_t i = 0; i < kineto->event_count; i++) {
        const struct kineto_event *event = &kineto->events[i];
        if ((event->cat == KINETO_RUNTIME || event->cat == KINETO_DRIVER) && event->correlation > 0 &&
            !work->threads[event->tid].calls_only) {
            work->threads[event->tid].calls_only = link_keys_find(launched, count, event->correlation) < count;
        }
    }
    for (uint32_t i = 0; i < kineto->event_count; i++) {
        const struct kineto_event *event = &kineto->events[i];
        if ((event->cat == KINETO_CPU_OP || event->cat == KINETO_USER_ANNOTATION) && link_is_timed(work, event) &&
            !link_collect_is_mark(intern_text(&kineto->names, event->name))) {
            work->threads[event->tid].calls_only = false;
        }
    }
}

static uint8_t op_comm_kind(struct link_work *work, uint32_t name)
{
    if (work->name_comm[name] == 0) {
        work->name_comm[name] = (uint8_t)(comm_name_op(intern_text(&work->kineto->names, name)) + 1);
    }
    return (uint8_t)(work->name_comm[name] - 1);
}

static void link_collect_add_op(struct link_work *work, uint32_t index)
{
    const struct kineto_event *event = &work->kineto->events[index];
    uint8_t flags = event->cat == KINETO_USER_ANNOTATION ? LINK_IS_ANNOTATION : 0;
    if (op_comm_kind(work, event->name) != COMM_NONE) {
        flags |= LINK_IS_COMM;
    }
    int64_t start = kineto_start_ns(event) - work->base_ns;
    (void)link_node_add(work,
                        &(struct linked_node){.start_ns = start,
                                              .rf_id = (event->has & KINETO_HAS_RF_ID) != 0 ? event->rf_id : -1,
                                              .name = link_name(work, event->name),
                                              .parent = LINKED_NONE,
                                              .lane = event->tid,
                                              .comm = LINKED_NONE,
                                              .host = LINKED_NONE,
                                              .step = -1,
                                              .kind = LINKED_OP},
                        kineto_end_ns(event) - work->base_ns, index, flags);
}

static void add_device(struct link_work *work, uint32_t index)
{
    const struct kineto_event *event = &work->kineto->events[index];
    struct linked_counts *counts = &work->out->counts;
    int64_t start = kineto_start_ns(event) - work->base_ns;
    int64_t end = kineto_end_ns(event) - work->base_ns;
    (void)link_node_add(work,
                        &(struct linked_node){.start_ns = start,
                                              .duration_ns = end - start,
                                              .rf_id = -1,
                                              .name = link_name(work, event->name),
                                              .parent = LINKED_NONE,
                                              .comm = LINKED_NONE,
                                              .host = LINKED_NONE,
                                              .step = -1,
                                              .kind = LINKED_DEVICE},
                        end, index, 0);
    counts->device_in++;
    counts->kernels += event->cat == KINETO_KERNEL;
    counts->copies += event->cat == KINETO_MEMCPY;
    counts->sets += event->cat == KINETO_MEMSET;
}

static int compare_longer_first(const void *left, const void *right)
{
    const struct link_key *a = left;
    const struct link_key *b = right;
    if (a->key != b->key) {
        return a->key > b->key ? -1 : 1;
    }
    return a->value < b->value ? -1 : a->value > b->value;
}

/* Of ops that start together the one that ends last is around the others. `keys` are ends by event. */
static void link_collect_add_ops(struct link_work *work, struct link_key *run, uint32_t count)
{
    if (count > 1) {
        qsort(run, count, sizeof *run, compare_longer_first);
    }
    for (uint32_t i = 0; i < count; i++) {
        link_collect_add_op(work, run[i].value);
    }
}

static void collect_ops(struct link_work *work)
{
    const struct kineto_trace *kineto = work->kineto;
    struct link_key *run = NULL;
    uint32_t capacity = 0;
    uint32_t count = 0;
    int64_t run_start = 0;
    for (uint32_t i = 0; i < kineto->event_count && !work->refused; i++) {
        const struct kineto_event *event = &kineto->events[i];
        if (!is_host_op(work, event)) {
            continue;
        }
        if (!link_is_timed(work, event)) {
            work->out->counts.untimed++;
            continue;
        }
        int64_t start = kineto_start_ns(event);
        if (count > 0 && start != run_start) {
            link_collect_add_ops(work, run, count);
            count = 0;
        }
        run_start = start;
        if (!MEM_GROW(work->mem, run, capacity, count)) {
            work->refused = true;
            break;
        }
        run[count++] = (struct link_key){.key = kineto_end_ns(event), .value = i};
    }
    link_collect_add_ops(work, run, count);
    mem_free(work->mem, run, (size_t)capacity * sizeof *run);
    work->op_total = work->out->node_count;
    work->out->counts.host_ops = work->op_total;
}

static void collect_devices(struct link_work *work)
{
    for (uint32_t i = 0; i < work->kineto->event_count && !work->refused; i++) {
        const struct kineto_event *event = &work->kineto->events[i];
        if (is_device_work(event) && link_is_timed(work, event)) {
            add_device(work, i);
        } else {
            work->out->counts.untimed += is_device_work(event);
        }
    }
    work->device_total = work->out->node_count - work->op_total;
}

/* Each thread's ops one after the other, in order. */
static void list_ops(struct link_work *work)
{
    uint32_t first = 0;
    work->ops = link_alloc(work, work->op_total, sizeof *work->ops);
    work->busy = link_alloc(work, work->op_total, sizeof *work->busy);
    if (work->refused) {
        return;
    }
    for (uint32_t i = 0; i < work->op_total; i++) {
        work->threads[work->out->nodes[i].lane].op_count++;
    }
    for (uint32_t t = 0; t < work->thread_count; t++) {
        work->threads[t].first_op = first;
        first += work->threads[t].op_count;
        work->threads[t].op_count = 0;
    }
    for (uint32_t i = 0; i < work->op_total; i++) {
        struct link_thread *thread = &work->threads[work->out->nodes[i].lane];
        work->ops[thread->first_op + thread->op_count++] = i;
    }
}

/* Threads that ran ops or called the device's library become lanes; a stream's number is a thread's only by accident
 * of the format. */
static void list_lanes(struct link_work *work)
{
    struct linked_trace *out = work->out;
    for (uint32_t t = 0; t < work->thread_count && !work->refused; t++) {
        if (work->threads[t].op_count == 0) {
            continue;
        }
        const char *text = intern_text(&work->kineto->threads, t + 1);
        uint32_t number = 0;
        if (!intern_add(&out->names, text, strlen(text), &number) ||
            !MEM_GROW(work->mem, out->lanes, out->lane_capacity, out->lane_count)) {
            work->refused = true;
            return;
        }
        work->threads[t].lane = out->lane_count;
        out->lanes[out->lane_count++] = (struct linked_lane){.text = number, .stream = -1};
    }
    for (uint32_t i = 0; i < work->op_total && !work->refused; i++) {
        out->nodes[i].lane = work->threads[out->nodes[i].lane].lane;
    }
}

static void list_rf(struct link_work *work)
{
    work->by_rf = link_alloc(work, work->op_total, sizeof *work->by_rf);
    if (work->refused) {
        return;
    }
    for (uint32_t i = 0; i < work->op_total; i++) {
        if (work->out->nodes[i].rf_id > 0) {
            work->by_rf[work->rf_count++] = (struct link_key){.key = work->out->nodes[i].rf_id, .value = i};
        }
    }
    link_keys_sort(work->by_rf, work->rf_count);
}

static bool link_collect_is_frame(const struct host_trace *host, const struct host_node *node)
{
    const char *name = intern_text(&host->names, node->name);
    return strncmp(name, "[pytorch|profiler|", 18) == 0 || link_collect_is_mark(name);
}

/* Of a retold trace a kernel has its node too: a linker's copy of the op that launched it. */
static void match_retold(struct link_work *work)
{
    for (uint32_t i = 0; i < work->op_total + work->device_total; i++) {
        work->out->nodes[i].host = work->kineto->events[work->events[i]].index;
    }
    work->out->counts.matched = work->op_total;
}

static void match_by_rf(struct link_work *work)
{
    for (uint32_t i = 0; i < work->op_total; i++) {
        struct linked_node *op = &work->out->nodes[i];
        uint32_t at =
            op->rf_id > 0 ? link_keys_find(work->host_rf, work->host_rf_count, op->rf_id) : work->host_rf_count;
        if (at < work->host_rf_count) {
            op->host = work->host_rf[at].value;
            work->out->counts.matched++;
        }
    }
}

/* The host trace says what ops were given; which of its ops ran when, the device trace says. */
static void link_collect_match_host(struct link_work *work)
{
    const struct host_trace *host = work->host;
    struct linked_counts *counts = &work->out->counts;
    if (host == NULL) {
        return;
    }
    work->host_rf = link_alloc(work, host->node_count, sizeof *work->host_rf);
    if (work->refused) {
        return;
    }
    for (uint32_t i = 0; i < host->node_count; i++) {
        const struct host_node *node = &host->nodes[i];
        if (link_collect_is_frame(host, node) || (node->has & HOST_HAS_CAT) != 0) {
            continue;
        }
        counts->host_nodes++;
        if ((node->has & HOST_HAS_RF_ID) != 0 && node->rf_id > 0) {
            work->host_rf[work->host_rf_count++] = (struct link_key){.key = node->rf_id, .value = i};
        }
    }
    link_keys_sort(work->host_rf, work->host_rf_count);
    if (work->retold) {
        match_retold(work);
    } else {
        match_by_rf(work);
    }
    counts->without_times = counts->host_nodes > counts->matched ? counts->host_nodes - counts->matched : 0;
}

void link_collect(struct link_work *work)
{
    uint32_t names = intern_count(&work->kineto->names);
    work->thread_count = work->kineto->thread_count;
    work->name_map = link_alloc(work, names, sizeof *work->name_map);
    work->name_call = link_alloc(work, names, sizeof *work->name_call);
    work->name_comm = link_alloc(work, names, sizeof *work->name_comm);
    work->threads = link_alloc(work, (uint64_t)work->thread_count + 1, sizeof *work->threads);
    if (work->refused) {
        return;
    }
    work->out->counts.events = work->kineto->event_total;
    find_call_threads(work);
    collect_ops(work);
    collect_devices(work);
    if (!work->refused) {
        list_ops(work);
    }
    if (!work->refused) {
        list_lanes(work);
    }
    if (!work->refused) {
        list_rf(work);
    }
    if (!work->refused) {
        link_collect_match_host(work);
    }
}
