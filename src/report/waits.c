/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Intervals are sorted once by rank, thread and start, and named by their place in that order from then on. A rank's
 * nodes are looked up through one array that is filled and emptied rank by rank. The path goes back from the interval
 * that ends last: to the member that came last where a communication had to wait for one, else to what it waited for on
 * its own rank; what lies between the end of the one and the beginning of the other belongs to nobody.
 */
#include "report/waits.h"

#include <stdlib.h>
#include <string.h>

#include "base/intern.h"

/* One rank's part in an operation of several. */
struct waits_member {
    uint64_t key;  /* of a group, or of source and destination */
    int64_t tag;   /* of a message; INT64_MIN: a collective */
    uint32_t turn; /* the how manieth of these on its rank */
    uint32_t place;
    uint64_t start_ns;
    bool receives;
};

struct waits_making {
    const struct sim_result *result;
    struct report_waits *waits;
    struct waits_member *members;
    uint32_t member_count;
    struct intern groups;
};

static const struct sim_interval *interval_at(const struct waits_making *making, uint32_t place)
{
    return &making->result->intervals[making->waits->order[place]];
}

static int waits_by_place(const void *a, const void *b, void *context)
{
    const struct waits_making *making = context;
    uint32_t i = *(const uint32_t *)a, j = *(const uint32_t *)b;
    const struct sim_interval *x = &making->result->intervals[i], *y = &making->result->intervals[j];
    uint32_t s = making->waits->thread[i], t = making->waits->thread[j];
    if (x->rank != y->rank) {
        return x->rank < y->rank ? -1 : 1;
    }
    if (s != t) {
        return s < t ? -1 : 1;
    }
    if (x->start_ns != y->start_ns) {
        return x->start_ns < y->start_ns ? -1 : 1;
    }
    return i < j ? -1 : i > j;
}

static enum orr_status waits_sort(struct waits_making *making, const struct report_lanes *lanes, struct orr_error *err)
{
    struct report_waits *waits = making->waits;
    uint32_t *by_interval = arena_alloc(&waits->arena, waits->count * sizeof *by_interval);
    waits->order = arena_alloc(&waits->arena, waits->count * sizeof *waits->order);
    waits->thread = arena_alloc(&waits->arena, waits->count * sizeof *waits->thread);
    waits->own = arena_alloc(&waits->arena, waits->count * sizeof *waits->own);
    waits->late = arena_alloc(&waits->arena, waits->count * sizeof *waits->late);
    waits->send = arena_alloc(&waits->arena, waits->count * sizeof *waits->send);
    waits->launch = arena_alloc(&waits->arena, waits->count * sizeof *waits->launch);
    if (by_interval == NULL || waits->order == NULL || waits->thread == NULL || waits->own == NULL ||
        waits->late == NULL || waits->send == NULL || waits->launch == NULL) {
        return mem_error(waits->arena.mem, "ordering the intervals of the timeline", err);
    }
    for (uint32_t i = 0; i < waits->count; i++) {
        by_interval[i] = report_lanes_thread(making->result, lanes, i);
        waits->order[i] = i;
        waits->own[i] = waits->late[i] = waits->send[i] = waits->launch[i] = REPORT_NO_WAIT;
    }
    uint32_t *by_place = waits->thread;
    waits->thread = by_interval;
    qsort_r(waits->order, waits->count, sizeof *waits->order, waits_by_place, making);
    waits->thread = by_place;
    for (uint32_t place = 0; place < waits->count; place++) {
        waits->thread[place] = by_interval[waits->order[place]];
    }
    return ORR_OK;
}

/* The later of two that had ended; intervals are kept in the order of their ends, which breaks ties. */
static int64_t waits_later(const struct waits_making *making, uint32_t place, int64_t one, int64_t other)
{
    const uint32_t *order = making->waits->order;
    if (other == REPORT_NO_WAIT ||
        interval_at(making, (uint32_t)other)->end_ns > interval_at(making, place)->start_ns ||
        order[other] >= order[place]) {
        return one;
    }
    return one == REPORT_NO_WAIT || order[other] > order[one] ? other : one;
}

/* `at` has the place of each node of the rank's graph, or REPORT_NO_WAIT. */
static void wait_on_rank(struct waits_making *making, uint32_t from, uint32_t to, const struct trace_graph *graph,
                         int64_t *at)
{
    struct report_waits *waits = making->waits;
    bool edges = graph->parents != NULL;
    for (uint32_t place = from; edges && place < to; place++) {
        at[interval_at(making, place)->node] = place;
    }
    for (uint32_t place = from; place < to; place++) {
        uint32_t node = interval_at(making, place)->node;
        int64_t best = REPORT_NO_WAIT;
        for (uint32_t i = 0; edges && i < graph->parent_written[node]; i++) {
            uint32_t parent = graph->parents[graph->parent_start[node] + i];
            best = waits_later(making, place, best, at[parent]);
            if (!graph->nodes[node].is_cpu_op && graph->nodes[parent].is_cpu_op) {
                waits->launch[place] = waits_later(making, place, waits->launch[place], at[parent]);
            }
        }
        if (place > from && waits->thread[place - 1] == waits->thread[place]) {
            best = waits_later(making, place, best, (int64_t)place - 1);
        }
        waits->own[place] = best;
    }
    for (uint32_t place = from; edges && place < to; place++) {
        at[interval_at(making, place)->node] = REPORT_NO_WAIT;
    }
}

static int waits_by_end(const void *a, const void *b, void *context)
{
    const uint32_t *order = context;
    uint32_t x = order[*(const uint32_t *)a], y = order[*(const uint32_t *)b];
    return x < y ? -1 : x > y;
}

/* Rows of a SimAI workload have no edges: a rank goes through them one by one, whatever the thread they are shown on.
 * `ended` is room for the rank's places. */
static void wait_on_rows(struct waits_making *making, uint32_t from, uint32_t to, uint32_t *ended)
{
    struct report_waits *waits = making->waits;
    for (uint32_t place = from; place < to; place++) {
        ended[place - from] = place;
    }
    qsort_r(ended, to - from, sizeof *ended, waits_by_end, waits->order);
    for (uint32_t place = from; place < to; place++) {
        uint32_t low = 0;
        for (uint32_t high = to - from; low < high;) {
            uint32_t middle = low + (high - low) / 2;
            bool over = interval_at(making, ended[middle])->end_ns <= interval_at(making, place)->start_ns;
            low = over ? middle + 1 : low;
            high = over ? high : middle;
        }
        waits->own[place] = low == 0 ? REPORT_NO_WAIT : (int64_t)ended[low - 1];
    }
}

/* ---- operations of several ranks ---- */

static int members_by_start(const void *a, const void *b)
{
    const struct waits_member *x = a, *y = b;
    if (x->key != y->key) {
        return x->key < y->key ? -1 : 1;
    }
    if (x->tag != y->tag) {
        return x->tag < y->tag ? -1 : 1;
    }
    if (x->receives != y->receives) {
        return x->receives ? 1 : -1;
    }
    if (x->start_ns != y->start_ns) {
        return x->start_ns < y->start_ns ? -1 : 1;
    }
    return x->place < y->place ? -1 : x->place > y->place;
}

static int members_by_turn(const void *a, const void *b)
{
    const struct waits_member *x = a, *y = b;
    if (x->key != y->key) {
        return x->key < y->key ? -1 : 1;
    }
    if (x->tag != y->tag) {
        return x->tag < y->tag ? -1 : 1;
    }
    if (x->turn != y->turn) {
        return x->turn < y->turn ? -1 : 1;
    }
    return x->place < y->place ? -1 : x->place > y->place;
}

static bool waits_same_list(const struct waits_member *a, const struct waits_member *b)
{
    return a->key == b->key && a->tag == b->tag && a->receives == b->receives;
}

static enum orr_status add_members(struct waits_making *making, uint32_t from, uint32_t to,
                                   const struct trace_graph *graph, struct orr_error *err)
{
    uint32_t first = making->member_count;
    for (uint32_t place = from; place < to; place++) {
        const struct sim_interval *interval = interval_at(making, place);
        const struct trace_node *node = &graph->nodes[interval->node];
        const char *group = graph->strings + node->group;
        uint32_t number = 0;
        struct waits_member member = {.place = place, .start_ns = interval->start_ns, .tag = INT64_MIN};
        if (node->type == TRACE_COLL) {
            if (!intern_add(&making->groups, group, strlen(group), &number)) {
                return mem_error(making->groups.mem, "the groups of the timeline", err);
            }
            member.key = (uint64_t)UINT32_MAX << 32 | number;
        } else if (node->type == TRACE_SEND || node->type == TRACE_RECV) {
            member.receives = node->type == TRACE_RECV;
            uint32_t source = member.receives ? (uint32_t)node->comm_src : interval->rank;
            uint32_t target = member.receives ? interval->rank : (uint32_t)node->comm_dst;
            member.key = (uint64_t)source << 32 | target;
            member.tag = node->comm_tag;
        } else {
            continue;
        }
        making->members[making->member_count++] = member;
    }
    struct waits_member *list = making->members + first;
    uint32_t count = making->member_count - first;
    qsort(list, count, sizeof *list, members_by_start);
    for (uint32_t i = 1; i < count; i++) {
        list[i].turn = waits_same_list(&list[i], &list[i - 1]) ? list[i - 1].turn + 1 : 0;
    }
    return ORR_OK;
}

/* Members of one operation: those that began before the last one came waited for it; a message's sender never does. */
static void wait_for_last(struct waits_making *making, const struct waits_member *members, uint32_t count)
{
    const struct waits_member *last = members, *sender = NULL;
    bool message = members->tag != INT64_MIN;
    for (uint32_t i = 0; i < count; i++) {
        last = members[i].start_ns > last->start_ns ? &members[i] : last;
        sender = message && !members[i].receives ? &members[i] : sender;
    }
    for (uint32_t i = 0; i < count; i++) {
        if (members[i].start_ns < last->start_ns && (!message || members[i].receives)) {
            making->waits->late[members[i].place] = last->place;
        }
        if (sender != NULL && members[i].receives) {
            making->waits->send[members[i].place] = sender->place;
        }
    }
}

static void match_members(struct waits_making *making)
{
    struct waits_member *list = making->members;
    qsort(list, making->member_count, sizeof *list, members_by_turn);
    for (uint32_t i = 0, end = 0; i < making->member_count; i = end) {
        for (end = i + 1; end < making->member_count && list[end].key == list[i].key && list[end].tag == list[i].tag &&
                          list[end].turn == list[i].turn;
             end++) {
        }
        wait_for_last(making, list + i, end - i);
    }
}

static enum orr_status waits_of_ranks(struct waits_making *making, struct orr_error *err)
{
    const struct trace_set *traces = making->result->config->traces;
    struct report_waits *waits = making->waits;
    uint32_t most = 1;
    for (uint32_t rank = 0; rank < making->result->rank_count; rank++) {
        uint32_t nodes = traces->ranks[rank].graph->node_count;
        most = nodes > most ? nodes : most;
    }
    int64_t *at = arena_alloc(&waits->arena, most * sizeof *at);
    bool rows = making->result->simai != NULL;
    making->members = arena_alloc(&waits->arena, waits->count * sizeof *making->members);
    uint32_t *ended = arena_alloc(&waits->arena, rows ? waits->count * sizeof *ended : 1);
    if (at == NULL || making->members == NULL || ended == NULL) {
        return mem_error(waits->arena.mem, "what the intervals of the timeline waited for", err);
    }
    for (uint32_t i = 0; i < most; i++) {
        at[i] = REPORT_NO_WAIT;
    }
    enum orr_status status = ORR_OK;
    for (uint32_t from = 0, to = 0; from < waits->count && status == ORR_OK; from = to) {
        uint32_t rank = interval_at(making, from)->rank;
        const struct trace_graph *graph = traces->ranks[rank].graph;
        for (to = from; to < waits->count && interval_at(making, to)->rank == rank; to++) {
        }
        if (rows) {
            wait_on_rows(making, from, to, ended);
        } else {
            wait_on_rank(making, from, to, graph, at);
            status = add_members(making, from, to, graph, err);
        }
    }
    match_members(making);
    return status;
}

/* ---- the path ---- */

static enum orr_status waits_path(struct waits_making *making, struct orr_error *err)
{
    struct report_waits *waits = making->waits;
    waits->path = arena_alloc(&waits->arena, waits->count * sizeof *waits->path);
    if (waits->path == NULL) {
        return mem_error(waits->arena.mem, "the critical path", err);
    }
    int64_t place = 0;
    for (uint32_t i = 1; i < waits->count; i++) {
        place = waits->order[i] > waits->order[place] ? i : place; /* kept in the order of their ends */
    }
    uint64_t until = interval_at(making, (uint32_t)place)->end_ns;
    while (place != REPORT_NO_WAIT && waits->path_count < waits->count) {
        int64_t last = waits->late[place] != REPORT_NO_WAIT ? waits->late[place] : place;
        uint64_t from = interval_at(making, (uint32_t)last)->start_ns;
        uint64_t end = interval_at(making, (uint32_t)place)->end_ns;
        until = end < until ? end : until;
        if (from < until) {
            waits->path[waits->path_count++] =
                (struct report_link){.event = (uint32_t)place, .from_ns = from, .to_ns = until};
            until = from;
        } else if (waits->own[last] != REPORT_NO_WAIT && waits->order[waits->own[last]] >= waits->order[place]) {
            break; /* not back in time: matched wrongly */
        }
        place = waits->own[last];
    }
    return ORR_OK;
}

enum orr_status report_waits_make(const struct sim_result *result, const struct report_lanes *lanes,
                                  struct report_waits *waits, struct orr_error *err)
{
    struct waits_making making = {.result = result, .waits = waits};
    *waits = (struct report_waits){.count = result->interval_count};
    arena_init(&waits->arena, result->config->traces->mem);
    if (waits->count == 0) {
        return ORR_OK;
    }
    intern_init(&making.groups, result->config->traces->mem);
    enum orr_status status = waits_sort(&making, lanes, err);
    status = status == ORR_OK ? waits_of_ranks(&making, err) : status;
    status = status == ORR_OK ? waits_path(&making, err) : status;
    intern_free(&making.groups);
    if (status != ORR_OK) {
        arena_free(&waits->arena);
    }
    return status;
}
