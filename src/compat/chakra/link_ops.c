/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The operators of the device trace in order of time, how long each ran without what ran inside it, and which operator
 * of another thread it comes after (spec chakra §6.2 to §6.4).
 *
 * The original compares every operator with all that start inside it. Here two jumps save that: behind an operator that
 * lies inside, to the next one that ends later (what lies between adds nothing), and behind one that does not, to the
 * next one that ends sooner (nothing between can lie inside). The same intervals are taken away in the same order, so
 * that the last bit of a floating-point result is the same.
 */
#include <stdlib.h>

#include "compat/chakra/link_parts.h"

enum { GAP_US = 1000 }; /* a pause of a thread that starts a new group */

enum orr_status link_compat_no_memory(const struct compat *compat)
{
    return mem_error(compat->mem, "linking", compat->err);
}

static bool cat_is(const struct kineto_event *event, enum kineto_cat cat)
{
    return event->cat == cat && (event->has & KINETO_IS_ALIAS) == 0;
}

static bool link_compat_event_is_op(const struct compat *compat, const struct kineto_event *event)
{
    return (cat_is(event, KINETO_CPU_OP) || cat_is(event, KINETO_USER_ANNOTATION)) &&
           (compat->names[event->name] & COMPAT_PROFILER_STEP) == 0;
}

bool link_compat_event_is_gpu(const struct kineto_event *event)
{
    return cat_is(event, KINETO_KERNEL) || cat_is(event, KINETO_MEMCPY);
}

int64_t link_compat_external_id(const struct kineto_event *event)
{
    return (event->has & KINETO_EXTERNAL_ID_IS_ALIAS) == 0 ? event->external_id : -1;
}

static const struct kineto_event *op_event(const struct compat *compat, uint32_t op)
{
    return &compat->device->events[compat->ops[op].event];
}

uint32_t link_compat_find_op(const struct compat *compat, double ts_us, bool after)
{
    uint32_t low = 0;
    uint32_t high = compat->op_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        double ts = op_event(compat, middle)->ts_us;
        if (ts < ts_us || (after && ts == ts_us)) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

/* ---- names ---- */

/* Chakra's launches (spec §5); ours are more (kineto_is_launch). */
static const char *const launches[] = {
    "cuLaunchKernel",        "cuLaunchKernelEx",    "cudaLaunchKernel",
    "cudaLaunchKernelExC",   "cudaMemcpy",          "cudaMemcpyAsync",
    "cudaMemcpyFromSymbol",  "cudaMemcpyToSymbol",  "cudaLaunchCooperativeKernel",
    "hipLaunchKernel",       "hipExtLaunchKernel",  "hipExtModuleLaunchKernel",
    "hipModuleLaunchKernel", "hipMemcpyWithStream", "hipMemcpyAsync",
};

static uint8_t link_ops_describe(const char *name)
{
    unsigned says = 0;
    for (size_t i = 0; i < sizeof launches / sizeof launches[0]; i++) {
        says |= strcmp(name, launches[i]) == 0 ? COMPAT_LAUNCH : 0u;
    }
    says |= strstr(name, "ProfilerStep") != NULL ? COMPAT_PROFILER_STEP : 0u;
    says |= strcmp(name, "nccl:coalesced") == 0 ? COMPAT_COALESCED : 0u;
    says |= strcasestr(name, "nccl") != NULL ? COMPAT_NCCL : 0u;
    says |= strstr(name, "ncclDevKernel") != NULL ? COMPAT_NCCL_KERNEL : 0u;
    return (uint8_t)says;
}

static bool link_ops_describe_names(struct compat *compat)
{
    const struct intern *names = &compat->device->names;
    uint32_t count = intern_count(names);
    compat->names = mem_alloc(compat->mem, count);
    for (uint32_t i = 0; compat->names != NULL && i < count; i++) {
        compat->names[i] = link_ops_describe(intern_text(names, i));
    }
    return compat->names != NULL;
}

/* ---- the lists ---- */

static bool count_kinds(struct compat *compat)
{
    const struct kineto_trace *device = compat->device;
    for (uint32_t i = 0; i < device->event_count; i++) {
        compat->op_count += link_compat_event_is_op(compat, &device->events[i]);
        compat->gpu_count += link_compat_event_is_gpu(&device->events[i]);
    }
    compat->ops = mem_zalloc(compat->mem, compat->op_count * sizeof *compat->ops);
    compat->gpus = mem_zalloc(compat->mem, compat->gpu_count * sizeof *compat->gpus);
    compat->by_thread = mem_alloc(compat->mem, compat->op_count * sizeof *compat->by_thread);
    compat->thread_starts = mem_zalloc(compat->mem, (device->thread_count + 1u) * sizeof *compat->thread_starts);
    return compat->ops != NULL && compat->gpus != NULL && compat->by_thread != NULL && compat->thread_starts != NULL;
}

static enum orr_status add_launcher(struct compat *compat, uint32_t index)
{
    const struct kineto_event *event = &compat->device->events[index];
    uint32_t there = index;
    if (!number_map_add(&compat->launchers, event->correlation, &there)) {
        return link_compat_no_memory(compat);
    }
    if (there != index) {
        return error_set(
            compat->err, ORR_EINVAL,
            "correlation %lld belongs to two launches, traceEvents[%u] and [%u]; Chakra's linker cannot tell "
            "their kernels apart (orrery trace link links both without parameter 'compat' chakra)",
            (long long)event->correlation, compat->device->events[there].index, event->index);
    }
    return ORR_OK;
}

static enum orr_status fill_lists(struct compat *compat)
{
    const struct kineto_trace *device = compat->device;
    uint32_t ops = 0;
    uint32_t gpus = 0;
    for (uint32_t i = 0; i < device->event_count; i++) {
        const struct kineto_event *event = &device->events[i];
        enum orr_status status = ORR_OK;
        if (link_compat_event_is_op(compat, event)) {
            if ((event->has & KINETO_HAS_RF_ID) != 0 && !number_map_put(&compat->rf_ops, event->rf_id, ops)) {
                status = link_compat_no_memory(compat);
            }
            compat->thread_starts[event->tid + 1]++;
            compat->ops[ops++].event = i;
        } else if ((cat_is(event, KINETO_RUNTIME) || cat_is(event, KINETO_DRIVER)) &&
                   (compat->names[event->name] & COMPAT_LAUNCH) != 0) {
            status = add_launcher(compat, i);
        } else if (link_compat_event_is_gpu(event)) {
            compat->gpus[gpus++] = (struct compat_gpu){.event = i, .next = COMPAT_NONE};
        }
        if (status != ORR_OK) {
            return status;
        }
    }
    return ORR_OK;
}

static bool group_by_thread(struct compat *compat)
{
    uint32_t threads = compat->device->thread_count;
    size_t bytes = threads * sizeof(uint32_t);
    uint32_t *at = mem_alloc(compat->mem, bytes);
    if (at == NULL) {
        return false;
    }
    for (uint32_t i = 0; i < threads; i++) {
        compat->thread_starts[i + 1] += compat->thread_starts[i];
        at[i] = compat->thread_starts[i];
    }
    for (uint32_t op = 0; op < compat->op_count; op++) {
        compat->by_thread[at[op_event(compat, op)->tid]++] = op;
    }
    mem_free(compat->mem, at, bytes);
    return true;
}

/* ---- exclusive durations, §6.3 ---- */

struct span {
    double start, end, dur;
    uint32_t op;
    uint32_t later_end;  /* the next span that ends after this one; the count when there is none */
    uint32_t sooner_end; /* the next span that ends before this one */
    bool start_is_int, end_is_int;
};

static int link_ops_compare_spans(const void *left, const void *right)
{
    const struct span *a = left;
    const struct span *b = right;
    if (a->start != b->start) {
        return a->start < b->start ? -1 : 1;
    }
    if (a->dur != b->dur) {
        return a->dur < b->dur ? -1 : 1;
    }
    return a->op < b->op ? -1 : a->op > b->op;
}

/* The jumps are filled from the back, each one found along those already known. */
static void link_spans(struct span *spans, uint32_t count)
{
    for (uint32_t i = count; i-- > 0;) {
        uint32_t later = i + 1;
        uint32_t sooner = later;
        while (later < count && spans[later].end <= spans[i].end) {
            later = spans[later].later_end;
        }
        while (sooner < count && spans[sooner].end >= spans[i].end) {
            sooner = spans[sooner].sooner_end;
        }
        spans[i].later_end = later;
        spans[i].sooner_end = sooner;
    }
}

/* What is left of a duration, and whether Python's arithmetic would still have a whole number. */
struct rest {
    double us;
    bool is_int;
};

static void take_away(struct rest *rest, const struct span *first, const struct span *last)
{
    rest->us -= last->end - first->start;
    rest->is_int = rest->is_int && first->start_is_int && last->end_is_int;
}

/* `rest`, the duration of `i`, less what is covered by spans inside it which come later in the order. One interval
 * after the other is taken away, as the original does: taking away their sum rounds otherwise. */
static void take_covered(const struct span *spans, uint32_t count, uint32_t i, struct rest *rest)
{
    const struct span *first = NULL; /* starts the interval that is open */
    const struct span *last = NULL;  /* ends it */
    for (uint32_t j = i + 1; j < count && spans[j].start <= spans[i].end;) {
        const struct span *inner = &spans[j];
        if (inner->end > spans[i].end) {
            j = inner->sooner_end;
            continue;
        }
        if (first != NULL && inner->start <= last->end) {
            last = inner->end > last->end ? inner : last;
        } else {
            if (first != NULL) {
                take_away(rest, first, last);
            }
            first = inner;
            last = inner;
        }
        j = inner->later_end;
    }
    if (first != NULL) {
        take_away(rest, first, last);
    }
}

static void thread_exclusive(struct compat *compat, const uint32_t *ops, uint32_t count, struct span *spans)
{
    for (uint32_t i = 0; i < count; i++) {
        const struct kineto_event *event = op_event(compat, ops[i]);
        spans[i] = (struct span){
            .start = event->ts_us,
            .end = event->ts_us + event->dur_us,
            .dur = event->dur_us,
            .op = ops[i],
            .start_is_int = (event->has & KINETO_TS_IS_INT) != 0,
            .end_is_int = (event->has & KINETO_TS_IS_INT) != 0 &&
                          ((event->has & KINETO_DUR_IS_INT) != 0 || (event->has & KINETO_HAS_DUR) == 0),
        };
    }
    qsort(spans, count, sizeof *spans, link_ops_compare_spans);
    link_spans(spans, count);
    for (uint32_t i = 0; i < count; i++) {
        struct compat_op *op = &compat->ops[spans[i].op];
        uint16_t has = compat->device->events[op->event].has;
        struct rest rest = {spans[i].dur, (has & KINETO_DUR_IS_INT) != 0 || (has & KINETO_HAS_DUR) == 0};
        take_covered(spans, count, i, &rest);
        op->exclusive_us = rest.us;
        op->exclusive_is_int = rest.is_int;
        if (op->exclusive_us < 0) {
            op->exclusive_us = 0; /* rounding; the original stops here (spec, bug L11) */
        }
    }
}

static enum orr_status find_exclusive(struct compat *compat)
{
    uint32_t largest = 0;
    for (uint32_t i = 0; i < compat->device->thread_count; i++) {
        uint32_t count = compat->thread_starts[i + 1] - compat->thread_starts[i];
        largest = count > largest ? count : largest;
    }
    struct span *spans = mem_alloc(compat->mem, largest * sizeof *spans);
    if (spans == NULL) {
        return link_compat_no_memory(compat);
    }
    for (uint32_t i = 0; i < compat->device->thread_count; i++) {
        uint32_t first = compat->thread_starts[i];
        thread_exclusive(compat, compat->by_thread + first, compat->thread_starts[i + 1] - first, spans);
    }
    mem_free(compat->mem, spans, largest * sizeof *spans);
    return ORR_OK;
}

/* ---- order between threads, §6.4 ---- */

/* The operators that start at one moment. A thread is asked for what the others did last before a moment, so one
 * operator of each of two threads is enough: of the thread that was seen first, and of the one seen next. Of several in
 * a thread the first counts. */
struct moment {
    double ts_us;
    uint32_t op;
    uint32_t other; /* COMPAT_NONE when all are of one thread */
    uint32_t back;  /* then: the last moment before it with an operator of another thread */
};

static uint32_t link_ops_thread_of(const struct compat *compat, uint32_t op)
{
    return op_event(compat, op)->tid;
}

/* The thread's first operator tells when it was seen. */
static bool seen_before(const struct compat *compat, uint32_t op, uint32_t than)
{
    return than == COMPAT_NONE || compat->by_thread[compat->thread_starts[link_ops_thread_of(compat, op)]] <
                                      compat->by_thread[compat->thread_starts[link_ops_thread_of(compat, than)]];
}

static void add_to_moment(const struct compat *compat, struct moment *moment, uint32_t op)
{
    if (seen_before(compat, op, moment->op)) {
        moment->other = moment->op;
        moment->op = op;
    } else if (link_ops_thread_of(compat, op) != link_ops_thread_of(compat, moment->op) &&
               seen_before(compat, op, moment->other)) {
        moment->other = op;
    }
}

static uint32_t find_moments(const struct compat *compat, struct moment *moments)
{
    uint32_t count = 0;
    for (uint32_t op = 0; op < compat->op_count;) {
        struct moment *now = &moments[count];
        *now = (struct moment){op_event(compat, op)->ts_us, COMPAT_NONE, COMPAT_NONE, COMPAT_NONE};
        for (; op < compat->op_count && op_event(compat, op)->ts_us <= now->ts_us; op++) {
            add_to_moment(compat, now, op);
        }
        if (count > 0) {
            const struct moment *last = now - 1;
            bool same = last->other == COMPAT_NONE &&
                        link_ops_thread_of(compat, last->op) == link_ops_thread_of(compat, now->op);
            now->back = same ? last->back : count - 1;
        }
        count++;
    }
    return count;
}

/* The record function id of the last operator of another thread before `ts_us`; 0 = none. The original begins its
 * search at time 0, so that nothing at or before that is found. */
static int64_t find_dep(const struct compat *compat, const struct moment *moments, uint32_t count, uint32_t without,
                        double ts_us)
{
    uint32_t low = 0;
    while (low < count) {
        uint32_t middle = low + (count - low) / 2;
        if (moments[middle].ts_us < ts_us) {
            low = middle + 1;
        } else {
            count = middle;
        }
    }
    uint32_t at = low == 0 ? COMPAT_NONE : low - 1;
    if (at != COMPAT_NONE && moments[at].other == COMPAT_NONE &&
        link_ops_thread_of(compat, moments[at].op) == without) {
        at = moments[at].back;
    }
    if (at == COMPAT_NONE || moments[at].ts_us <= 0) {
        return 0;
    }
    const struct moment *found = &moments[at];
    const struct kineto_event *event =
        op_event(compat, link_ops_thread_of(compat, found->op) == without ? found->other : found->op);
    return (event->has & KINETO_HAS_RF_ID) != 0 ? event->rf_id : 0;
}

static void order_thread(struct compat *compat, const struct moment *moments, uint32_t count, uint32_t thread)
{
    int64_t dep = 0;
    for (uint32_t i = compat->thread_starts[thread]; i < compat->thread_starts[thread + 1]; i++) {
        const struct kineto_event *event = op_event(compat, compat->by_thread[i]);
        bool first = i == compat->thread_starts[thread];
        const struct kineto_event *before = first ? NULL : op_event(compat, compat->by_thread[i - 1]);
        if (first || event->ts_us - before->ts_us - before->dur_us > GAP_US) {
            dep = find_dep(compat, moments, count, thread, event->ts_us);
        }
        compat->ops[compat->by_thread[i]].dep_rf = dep;
    }
}

static enum orr_status find_order(struct compat *compat)
{
    size_t bytes = compat->op_count * sizeof(struct moment);
    struct moment *moments = mem_alloc(compat->mem, bytes);
    if (moments == NULL) {
        return link_compat_no_memory(compat);
    }
    uint32_t count = find_moments(compat, moments);
    for (uint32_t i = 0; i < compat->device->thread_count; i++) {
        order_thread(compat, moments, count, i);
    }
    mem_free(compat->mem, moments, bytes);
    return ORR_OK;
}

enum orr_status link_compat_order_ops(struct compat *compat)
{
    if (!link_ops_describe_names(compat) || !count_kinds(compat)) {
        return link_compat_no_memory(compat);
    }
    enum orr_status status = fill_lists(compat);
    if (status == ORR_OK && !group_by_thread(compat)) {
        status = link_compat_no_memory(compat);
    }
    if (status == ORR_OK) {
        status = find_exclusive(compat);
    }
    return status == ORR_OK ? find_order(compat) : status;
}
