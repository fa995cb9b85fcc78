/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Everything goes by places in one order that respects dependencies (compose_order.h). A step's buckets stand in it
 * right behind the work they wait for, and only what stands behind the last of that work is made to wait for them: all
 * dependencies old and new go one way, so that there can be no cycle, whatever names and steps say.
 */
#include "trace/compose_plan.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "trace/compose_order.h"

enum { AROUND_MOST = 64 }; /* ops around a node that are looked at */

void compose_plan_init(struct compose_plan *plan, const struct pattern *backward, struct mem *mem)
{
    *plan = (struct compose_plan){.mem = mem, .backward = backward};
    steps_init(&plan->steps, mem);
    arena_init(&plan->arena, mem);
}

void compose_plan_free(struct compose_plan *plan)
{
    mem_free(plan->mem, plan->nodes, (size_t)plan->node_capacity * sizeof *plan->nodes);
    steps_free(&plan->steps);
    arena_free(&plan->arena);
}

static enum orr_status compose_plan_no_memory(const struct compose_plan *plan, struct orr_error *err)
{
    return mem_error(plan->mem, "the plan of a trace's buckets", err);
}

/* ---- nodes ---- */

static bool compose_plan_holds(struct record_text name, const char *part)
{
    return memmem(name.text, name.length, part, strlen(part)) != NULL;
}

static bool compose_plan_is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* The part as a word of its own: what stands beside it is no letter. */
static bool has_word(struct record_text name, const char *word)
{
    size_t length = strlen(word);
    const char *end = name.text + name.length;
    for (const char *at = name.text; (size_t)(end - at) >= length; at++) {
        if (memcmp(at, word, length) == 0 && (at == name.text || !compose_plan_is_letter(at[-1])) &&
            (at + length == end || !compose_plan_is_letter(at[length]))) {
            return true;
        }
    }
    return false;
}

/* autograd's ops and functions, the kernels of the vendors' libraries, and what our text workloads call their nodes. */
static bool is_backward(const struct compose_plan *plan, struct record_text name)
{
    static const char *const parts[] = {"Backward", "backward", "autograd::engine::", "wgrad", "dgrad"};
    static const char *const words[] = {"bwd", "BWD", "WG", "IG", "wg", "ig"};
    if (plan->backward != NULL) {
        return pattern_matches(plan->backward, name);
    }
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        if (compose_plan_holds(name, parts[i])) {
            return true;
        }
    }
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (has_word(name, words[i])) {
            return true;
        }
    }
    return false;
}

enum orr_status compose_plan_add(struct compose_plan *plan, const struct record_facts *facts, struct orr_error *err)
{
    struct compose_node node = {.duration_us = facts->duration_us, .parent = facts->parent};
    bool compute = facts->type == TRACE_COMP;
    node.ops = (facts->has_amount & 1u << RECORD_AMOUNT_NUM_OPS) != 0 ? facts->amount[RECORD_AMOUNT_NUM_OPS] : 0;
    node.flags |= !compute ? 0 : record_is_cpu(facts) ? COMPOSE_HOST : COMPOSE_DEVICE;
    node.flags |= is_backward(plan, facts->name) ? COMPOSE_BACKWARD : 0;
    node.flags |= facts->has_parent ? COMPOSE_HAS_PARENT : 0;
    if (!MEM_GROW(plan->mem, plan->nodes, plan->node_capacity, plan->node_count)) {
        return compose_plan_no_memory(plan, err);
    }
    plan->nodes[plan->node_count++] = node;
    return steps_add(&plan->steps, facts, err);
}

/* ---- what the buckets go by ---- */

static void mark_work(struct compose_plan *plan)
{
    uint8_t kinds = 0;
    for (uint32_t i = 0; i < plan->node_count; i++) {
        kinds |= plan->nodes[i].flags & (COMPOSE_DEVICE | COMPOSE_HOST);
    }
    plan->on_host = (kinds & COMPOSE_DEVICE) == 0;
    uint8_t wanted = plan->on_host ? COMPOSE_HOST : COMPOSE_DEVICE;
    for (uint32_t i = 0; i < plan->node_count; i++) {
        plan->nodes[i].flags |= (plan->nodes[i].flags & wanted) != 0 ? COMPOSE_WORK : 0;
    }
}

/* A kernel is backward work when an op around its launch is: names of kernels rarely tell. */
static void mark_inside(struct compose_plan *plan, const struct edit_graph *graph)
{
    for (uint32_t i = 0; i < plan->node_count; i++) {
        uint32_t at = i;
        bool backward = false;
        for (unsigned depth = 0; depth < AROUND_MOST && !backward; depth++) {
            backward = (plan->nodes[at].flags & COMPOSE_BACKWARD) != 0;
            uint32_t around = (plan->nodes[at].flags & COMPOSE_HAS_PARENT) == 0
                                  ? EDIT_MISSING
                                  : edit_graph_find(graph, plan->nodes[at].parent, at);
            if (around == EDIT_MISSING) {
                break;
            }
            at = around;
        }
        plan->nodes[i].flags |= backward ? COMPOSE_BACKWARD : 0;
    }
}

/* Durations where there are any, else operations, else each node counts the same. */
static uint64_t *compose_plan_weigh(struct compose_plan *plan)
{
    bool timed = false;
    bool counted = false;
    uint64_t *weight = arena_alloc(&plan->arena, (size_t)plan->node_count * sizeof *weight);
    for (uint32_t i = 0; i < plan->node_count; i++) {
        bool work = (plan->nodes[i].flags & COMPOSE_WORK) != 0;
        timed = timed || (work && plan->nodes[i].duration_us > 0);
        counted = counted || (work && plan->nodes[i].ops > 0);
    }
    for (uint32_t i = 0; weight != NULL && i < plan->node_count; i++) {
        const struct compose_node *node = &plan->nodes[i];
        bool work = (node->flags & COMPOSE_WORK) != 0;
        weight[i] = timed ? node->duration_us : !work ? 0 : counted ? node->ops : 1;
    }
    return weight;
}

/* ---- steps ---- */

struct span {
    int64_t step;
    uint32_t first, count; /* in listed */
    uint32_t last; /* place in the order of the last node its buckets wait for; never before an earlier step's */
};

struct making {
    struct compose_plan *plan;
    const struct edit_graph *graph;
    const struct compose_buckets *buckets;
    uint64_t *weight;
    uint32_t *order;  /* places in the file */
    uint32_t *span;   /* by node, of work: its step in spans */
    uint32_t *listed; /* work, by step and within by order */
    uint32_t *bucket; /* by node, of what is listed: the bucket that its gradients are in */
    struct span *spans;
    uint32_t span_count;
};

static int compose_plan_compare_steps(const void *left, const void *right)
{
    const struct span *a = left;
    const struct span *b = right;
    return a->step < b->step ? -1 : a->step > b->step;
}

static uint32_t find_span(const struct making *making, int64_t step)
{
    struct span key = {.step = step};
    const struct span *found =
        bsearch(&key, making->spans, making->span_count, sizeof *making->spans, compose_plan_compare_steps);
    return found == NULL ? UINT32_MAX : (uint32_t)(found - making->spans);
}

static int64_t compose_plan_step_of(const struct making *making, uint32_t node)
{
    return making->plan->steps_known ? making->plan->steps.step[node] : STEPS_NONE;
}

static bool is_in_a_step(const struct making *making, uint32_t node)
{
    return (making->plan->nodes[node].flags & COMPOSE_WORK) != 0 &&
           (!making->plan->steps_known || making->plan->steps.step[node] != STEPS_NONE);
}

/* The steps that have work, in their order; one of unknown number where the trace has none. */
static bool compose_plan_find_spans(struct making *making)
{
    uint32_t count = making->plan->node_count;
    making->spans = arena_zalloc(&making->plan->arena, ((size_t)count + 1) * sizeof *making->spans);
    if (making->spans == NULL) {
        return false;
    }
    for (uint32_t i = 0; i < count; i++) {
        int64_t step = compose_plan_step_of(making, i);
        bool again = making->span_count > 0 && making->spans[making->span_count - 1].step == step;
        if (is_in_a_step(making, i) && !again) {
            making->spans[making->span_count++].step = step;
        }
    }
    if (making->span_count == 0) { /* no compute at all: the buckets wait for nothing */
        making->spans[making->span_count++].step = STEPS_NONE;
    }
    qsort(making->spans, making->span_count, sizeof *making->spans, compose_plan_compare_steps);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < making->span_count; i++) {
        if (kept == 0 || making->spans[kept - 1].step != making->spans[i].step) {
            making->spans[kept++] = making->spans[i];
        }
    }
    making->span_count = kept;
    return true;
}

/* Chooses what each step's buckets wait for and lists it: backward work, else all work. */
static bool list_work(struct making *making, bool overlap)
{
    struct compose_plan *plan = making->plan;
    uint32_t *backward = arena_zalloc(&plan->arena, making->span_count * sizeof *backward);
    making->listed = arena_alloc(&plan->arena, (size_t)plan->node_count * sizeof *making->listed);
    if (backward == NULL || making->listed == NULL) {
        return false;
    }
    for (uint32_t i = 0; i < plan->node_count; i++) {
        making->span[i] = is_in_a_step(making, i) ? find_span(making, compose_plan_step_of(making, i)) : UINT32_MAX;
        if (making->span[i] != UINT32_MAX) {
            backward[making->span[i]] += overlap && (plan->nodes[i].flags & COMPOSE_BACKWARD) != 0;
        }
    }
    for (uint32_t i = 0; i < plan->node_count; i++) {
        uint32_t span = making->span[i];
        if (span != UINT32_MAX && (backward[span] == 0 || (plan->nodes[i].flags & COMPOSE_BACKWARD) != 0)) {
            plan->nodes[i].flags |= COMPOSE_CHOSEN;
            making->spans[span].count++;
        }
    }
    uint32_t total = 0;
    for (uint32_t i = 0; i < making->span_count; i++) {
        making->spans[i].first = total;
        total += making->spans[i].count;
        making->spans[i].count = 0;
        plan->overlapped += backward[i] > 0;
    }
    for (uint32_t at = 0; at < plan->node_count; at++) {
        uint32_t node = making->order[at];
        if ((plan->nodes[node].flags & COMPOSE_CHOSEN) != 0) {
            struct span *span = &making->spans[making->span[node]];
            making->listed[span->first + span->count++] = node;
            span->last = at;
        }
    }
    for (uint32_t i = 1; i < making->span_count; i++) {
        uint32_t before = making->spans[i - 1].last;
        making->spans[i].last = making->spans[i].last > before ? making->spans[i].last : before;
    }
    return true;
}

/* ---- buckets ---- */

/* A step's work as its buckets take it up, from first to last. */
struct progress {
    const struct span *span;
    uint32_t taken;       /* of the span's list */
    uint64_t done, total; /* weight of that, and of all */
};

/* Takes up work until its share is that of the gradients in buckets 0 to `index`; all that is left with `rest`. */
static void compose_plan_advance(struct making *making, struct progress *now, uint32_t index, bool rest)
{
    uint64_t bytes = compose_buckets_before(making->buckets, making->buckets->count);
    uint64_t until = compose_buckets_before(making->buckets, index + 1);
    while (now->taken < now->span->count &&
           (rest || now->taken == 0 || (unsigned __int128)now->done * bytes < (unsigned __int128)until * now->total)) {
        uint32_t node = making->listed[now->span->first + now->taken++];
        now->done += making->weight[node];
        making->bucket[node] = making->plan->bucket_count;
    }
}

/* `overlaps`: the list is the backward pass and the buckets spread over it; else all come behind its end. */
static void place_buckets(struct making *making, const struct span *span, bool overlaps)
{
    struct compose_plan *plan = making->plan;
    const struct compose_buckets *buckets = making->buckets;
    struct progress now = {.span = span};
    for (uint32_t i = 0; i < span->count; i++) {
        if (__builtin_add_overflow(now.total, making->weight[making->listed[span->first + i]], &now.total)) {
            overlaps = false; /* such durations are no durations */
        }
    }
    for (uint32_t i = 0; i < buckets->count; i++) {
        compose_plan_advance(making, &now, i, i + 1 == buckets->count || !overlaps);
        plan->buckets[plan->bucket_count++] = (struct compose_bucket){.bytes = compose_buckets_before(buckets, i + 1) -
                                                                               compose_buckets_before(buckets, i),
                                                                      .behind = UINT32_MAX,
                                                                      .step = span->step};
    }
}

/* ---- what they wait for ---- */

/* By node: the first bucket that has work which depends on the node; UINT32_MAX: none. */
static uint32_t *find_covers(const struct making *making)
{
    struct compose_plan *plan = making->plan;
    const struct edit_graph *graph = making->graph;
    uint32_t *covers = arena_alloc(&plan->arena, (size_t)plan->node_count * sizeof *covers);
    if (covers == NULL) {
        return NULL;
    }
    memset(covers, 0xff, (size_t)plan->node_count * sizeof *covers);
    for (uint32_t at = plan->node_count; at-- > 0;) {
        uint32_t node = making->order[at];
        uint32_t here = (plan->nodes[node].flags & COMPOSE_CHOSEN) != 0 ? making->bucket[node] : covers[node];
        for (uint32_t i = graph->dep_start[node]; i < graph->dep_start[node + 1]; i++) {
            uint32_t parent = graph->deps[i] & EDIT_INDEX;
            if (parent != EDIT_MISSING) {
                covers[parent] = here < covers[parent] ? here : covers[parent];
            }
        }
    }
    return covers;
}

/* A bucket waits for all its work: by name for what nothing else in it, or in a bucket before it, depends on. Streams
 * do not help: a simulation goes by dependencies alone. */
static bool place_deps(struct making *making)
{
    struct compose_plan *plan = making->plan;
    const struct span *last = &making->spans[making->span_count - 1];
    const uint32_t *covers = find_covers(making);
    uint32_t listed = last->first + last->count;
    uint32_t total = 0;
    plan->deps = arena_alloc(&plan->arena, (size_t)listed * sizeof *plan->deps);
    if (covers == NULL || plan->deps == NULL) {
        return false;
    }
    for (uint32_t i = 0; i < listed; i++) { /* by step and order, which is by bucket */
        uint32_t node = making->listed[i];
        struct compose_bucket *bucket = &plan->buckets[making->bucket[node]];
        if (covers[node] <= making->bucket[node]) {
            continue;
        }
        bucket->first_dep = bucket->dep_count == 0 ? total : bucket->first_dep;
        bucket->dep_count++;
        bucket->behind = bucket->behind == UINT32_MAX || node > bucket->behind ? node : bucket->behind;
        plan->deps[total++] = node;
    }
    for (uint32_t i = 1; i < plan->bucket_count; i++) {
        uint32_t before = plan->buckets[i - 1].behind;
        uint32_t *behind = &plan->buckets[i].behind;
        *behind = *behind == UINT32_MAX || (before != UINT32_MAX && before > *behind) ? before : *behind;
    }
    return true;
}

/* ---- who waits for them ---- */

/* The work behind a step's backward pass that depends on it, unless something it depends on waits already. */
static bool place_gates(struct making *making)
{
    struct compose_plan *plan = making->plan;
    const struct edit_graph *graph = making->graph;
    size_t bytes = (size_t)plan->node_count * sizeof(uint32_t);
    uint32_t *reached = arena_zalloc(&plan->arena, bytes); /* 1 + latest step whose work it depends on */
    uint32_t *waits = arena_zalloc(&plan->arena, bytes);   /* 1 + latest step whose buckets it depends on */
    plan->gate = arena_zalloc(&plan->arena, bytes);
    if (reached == NULL || waits == NULL || plan->gate == NULL) {
        return false;
    }
    for (uint32_t at = 0; at < plan->node_count; at++) {
        uint32_t node = making->order[at];
        for (uint32_t i = graph->dep_start[node]; i < graph->dep_start[node + 1]; i++) {
            uint32_t parent = graph->deps[i] & EDIT_INDEX;
            if (parent != EDIT_MISSING) {
                reached[node] = reached[parent] > reached[node] ? reached[parent] : reached[node];
                waits[node] = waits[parent] > waits[node] ? waits[parent] : waits[node];
            }
        }
        /* Within a step's backward pass it is the step before that must be over. */
        uint32_t step = reached[node];
        step -= step > 0 && at <= making->spans[step - 1].last ? 1 : 0;
        if ((plan->nodes[node].flags & COMPOSE_WORK) != 0 && step > waits[node] && at > making->spans[step - 1].last) {
            plan->gate[node] = step * making->buckets->count;
            waits[node] = step;
        }
        if ((plan->nodes[node].flags & COMPOSE_CHOSEN) != 0 && making->span[node] + 1 > reached[node]) {
            reached[node] = making->span[node] + 1;
        }
    }
    return true;
}

/* ---- the whole ---- */

static bool compose_plan_make_room(struct making *making)
{
    struct compose_plan *plan = making->plan;
    size_t nodes = plan->node_count;
    making->weight = compose_plan_weigh(plan);
    making->order = arena_alloc(&plan->arena, nodes * sizeof *making->order);
    making->span = arena_alloc(&plan->arena, nodes * sizeof *making->span);
    making->bucket = arena_alloc(&plan->arena, nodes * sizeof *making->bucket);
    return making->weight != NULL && making->order != NULL && making->span != NULL && making->bucket != NULL;
}

static bool compose_plan_make_buckets(struct making *making, bool overlap)
{
    struct compose_plan *plan = making->plan;
    size_t total = (size_t)making->span_count * making->buckets->count;
    plan->buckets = arena_alloc(&plan->arena, total * sizeof *plan->buckets);
    if (plan->buckets == NULL || !list_work(making, overlap)) {
        return false;
    }
    for (uint32_t i = 0; i < making->span_count; i++) {
        const struct span *span = &making->spans[i];
        uint32_t node = span->count > 0 ? making->listed[span->first] : UINT32_MAX;
        bool backward = node != UINT32_MAX && overlap && (plan->nodes[node].flags & COMPOSE_BACKWARD) != 0;
        place_buckets(making, span, backward);
    }
    plan->step_count = making->span_count;
    return place_deps(making) && place_gates(making);
}

enum orr_status compose_plan_make(struct compose_plan *plan, const struct edit_graph *graph,
                                  const struct compose_buckets *buckets, bool overlap, const char *path,
                                  struct orr_error *err)
{
    struct making making = {.plan = plan, .graph = graph, .buckets = buckets};
    plan->steps_known = steps_settle(&plan->steps);
    mark_work(plan);
    mark_inside(plan, graph);
    if (!compose_plan_make_room(&making)) {
        return compose_plan_no_memory(plan, err);
    }
    enum orr_status status = compose_order(graph, making.weight, path, making.order, err);
    if (status != ORR_OK) {
        return status;
    }
    if (!compose_plan_find_spans(&making)) {
        return compose_plan_no_memory(plan, err);
    }
    if ((uint64_t)making.span_count * buckets->count >= UINT32_MAX) {
        return error_set(err, ORR_ERANGE, "%s: %" PRIu32 " steps of %" PRIu32 " buckets are more than %" PRIu32, path,
                         making.span_count, buckets->count, UINT32_MAX - 1);
    }
    return compose_plan_make_buckets(&making, overlap) ? ORR_OK : compose_plan_no_memory(plan, err);
}
