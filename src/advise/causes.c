/* SPDX-License-Identifier: Apache-2.0 */
/* Members of one collective are found as the engine matches them: the n-th of a group on each of its ranks. Ends of
 * messages likewise, by sender, receiver and tag. */
#include "advise/causes.h"

#include <stdlib.h>
#include <string.h>

enum { NOT_COMMUNICATION = UINT32_MAX };

/* One communication of one rank. */
struct causes_part {
    uint64_t start_ns, end_ns;
    uint64_t met_ns; /* when the last member or the send was there */
    uint64_t order;  /* among the rank's own of the same meeting */
    uint64_t key[2]; /* of the meeting: a group, or sender, receiver and tag */
    uint32_t rank, row;
    uint32_t place; /* in result->intervals: keeps orders the same everywhere */
    bool is_send, is_receive;
};

static const struct trace_node *causes_node(const struct sim_result *result, const struct sim_interval *interval)
{
    return &result->config->traces->ranks[interval->rank].graph->nodes[interval->node];
}

/* The row of result->collectives whose kind a node is of. */
static uint32_t causes_row(const struct sim_result *result, const struct trace_node *node, uint32_t group_size)
{
    int32_t type = node->type == TRACE_SEND   ? SIM_TYPE_SEND
                   : node->type == TRACE_RECV ? SIM_TYPE_RECV
                                              : node->comm_type;
    for (uint32_t i = 0; i < result->collective_count; i++) {
        const struct sim_collective_result *row = &result->collectives[i];
        if (row->type == type && row->bytes == node->comm_bytes && (type < 0 || row->group_size == group_size)) {
            return i;
        }
    }
    return NOT_COMMUNICATION;
}

static uint32_t causes_group_size(const struct sim_config *config, uint64_t id)
{
    for (uint32_t i = 0; id != 0 && i < config->group_count; i++) {
        if ((uint64_t)config->groups[i].id == id) {
            return config->groups[i].count;
        }
    }
    return config->dims.ranks;
}

static void causes_describe(const struct sim_result *result, uint32_t place, struct causes_part *part)
{
    const struct sim_interval *interval = &result->intervals[place];
    const struct trace_node *node = causes_node(result, interval);
    const char *group = result->config->traces->ranks[interval->rank].graph->strings + node->group;
    *part = (struct causes_part){.start_ns = interval->start_ns,
                                 .end_ns = interval->end_ns,
                                 .rank = interval->rank,
                                 .place = place,
                                 .is_send = node->type == TRACE_SEND,
                                 .is_receive = node->type == TRACE_RECV};
    if (part->is_send || part->is_receive) {
        uint64_t from = part->is_send ? interval->rank : (uint32_t)node->comm_src;
        uint64_t to = part->is_send ? (uint32_t)node->comm_dst : interval->rank;
        part->key[0] = (UINT64_C(1) << 63) | from << 32 | to;
        part->key[1] = (uint32_t)node->comm_tag;
    } else {
        part->key[0] = node->group == 0 ? 0 : strtoull(group, NULL, 10);
        /* A group that is not told by a number is all ranks; one of the same members may have two names. */
    }
    part->row = causes_row(result, node, causes_group_size(result->config, part->key[0]));
}

static int causes_compare(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

/* By rank and meeting, in order of time. */
static int causes_by_rank(const void *a, const void *b)
{
    const struct causes_part *one = a, *other = b;
    int order = causes_compare(one->key[0], other->key[0]);
    order = order != 0 ? order : causes_compare(one->key[1], other->key[1]);
    order = order != 0 ? order : causes_compare(one->rank, other->rank);
    order = order != 0 ? order : causes_compare(one->is_send, other->is_send);
    order = order != 0 ? order : causes_compare(one->start_ns, other->start_ns);
    return order != 0 ? order : causes_compare(one->place, other->place);
}

static int causes_by_meeting(const void *a, const void *b)
{
    const struct causes_part *one = a, *other = b;
    int order = causes_compare(one->key[0], other->key[0]);
    order = order != 0 ? order : causes_compare(one->key[1], other->key[1]);
    order = order != 0 ? order : causes_compare(one->order, other->order);
    order = order != 0 ? order : causes_compare(one->rank, other->rank);
    return order != 0 ? order : causes_compare(one->place, other->place);
}

static bool causes_same_meeting(const struct causes_part *a, const struct causes_part *b)
{
    return a->key[0] == b->key[0] && a->key[1] == b->key[1] && a->order == b->order;
}

static void causes_number(struct causes_part *parts, uint32_t count)
{
    for (uint32_t i = 1; i < count; i++) {
        const struct causes_part *before = &parts[i - 1];
        bool same = before->key[0] == parts[i].key[0] && before->key[1] == parts[i].key[1] &&
                    before->rank == parts[i].rank && before->is_send == parts[i].is_send;
        parts[i].order = same ? before->order + 1 : 0;
    }
}

/* The members [first, end) of one collective: who is last, and what that costs the others. */
static void causes_meet(struct causes_part *parts, uint32_t first, uint32_t end, struct advise_causes *causes)
{
    uint32_t last = first;
    uint32_t as_late = 0;
    bool message = parts[first].is_send || parts[first].is_receive;
    uint64_t met_ns = 0;
    for (uint32_t i = first; i < end; i++) {
        last = parts[i].start_ns > parts[last].start_ns ? i : last;
        met_ns = (!message || parts[i].is_send) && parts[i].start_ns > met_ns ? parts[i].start_ns : met_ns;
    }
    double waited = 0;
    for (uint32_t i = first; i < end; i++) {
        parts[i].met_ns = met_ns < parts[i].end_ns ? met_ns : parts[i].end_ns;
        parts[i].met_ns = parts[i].met_ns > parts[i].start_ns ? parts[i].met_ns : parts[i].start_ns;
        waited += (double)(parts[i].met_ns - parts[i].start_ns);
        as_late += parts[i].start_ns == parts[last].start_ns ? 1 : 0;
    }
    if (!message && waited > 0) {
        causes->collectives++;
        causes->kept_waiting_ns[parts[last].rank] += as_late == 1 ? waited : 0;
        causes->last[parts[last].rank] += as_late == 1 ? 1 : 0;
    }
}

/* ---- what is exposed ---- */

struct causes_edge {
    uint64_t ns;
    uint32_t rank;
    uint32_t row;  /* NOT_COMMUNICATION: a kernel */
    int8_t kernel; /* what begins or ends: +1, -1 */
    int8_t late, moving;
};

static int causes_by_time(const void *a, const void *b)
{
    const struct causes_edge *one = a, *other = b;
    int order = causes_compare(one->rank, other->rank);
    return order != 0 ? order : causes_compare(one->ns, other->ns);
}

static uint32_t causes_edges(const struct sim_result *result, const struct causes_part *parts, uint32_t part_count,
                             struct causes_edge *edges)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < part_count; i++) {
        const struct causes_part *part = &parts[i];
        if (part->row != NOT_COMMUNICATION) {
            edges[count++] = (struct causes_edge){part->start_ns, part->rank, part->row, 0, 1, 0};
            edges[count++] = (struct causes_edge){part->met_ns, part->rank, part->row, 0, -1, 1};
            edges[count++] = (struct causes_edge){part->end_ns, part->rank, part->row, 0, 0, -1};
        }
    }
    for (uint32_t i = 0; i < result->interval_count; i++) {
        const struct sim_interval *interval = &result->intervals[i];
        const struct trace_node *node = causes_node(result, interval);
        if (node->type == TRACE_COMP && !node->is_cpu_op) {
            edges[count++] = (struct causes_edge){interval->start_ns, interval->rank, NOT_COMMUNICATION, 1, 0, 0};
            edges[count++] = (struct causes_edge){interval->end_ns, interval->rank, NOT_COMMUNICATION, -1, 0, 0};
        }
    }
    qsort(edges, count, sizeof *edges, causes_by_time);
    return count;
}

struct causes_now {
    int64_t kernels;
    int32_t *late, *moving; /* by row */
};

/* `ns` of a rank go to the first row that moves bytes, else to the first that waits. */
static void causes_attribute(const struct sim_result *result, const struct causes_now *now, double ns,
                             struct advise_causes *causes)
{
    if (now->kernels > 0 || ns <= 0) {
        return;
    }
    for (int waits = 0; waits < 2; waits++) {
        for (uint32_t row = 0; row < result->collective_count; row++) {
            if ((waits == 0 ? now->moving : now->late)[row] <= 0) {
                continue;
            }
            bool receive = result->collectives[row].type == SIM_TYPE_RECV;
            *(waits == 0 ? &causes->rows[row].moving_ns : &causes->rows[row].late_ns) += ns;
            *(waits == 0 ? &causes->moving_ns : receive ? &causes->receive_ns : &causes->late_ns) += ns;
            return;
        }
    }
}

static void causes_sweep(const struct sim_result *result, const struct causes_edge *edges, uint32_t count,
                         struct causes_now *now, struct advise_causes *causes)
{
    for (uint32_t i = 0; i < count; i++) {
        const struct causes_edge *edge = &edges[i];
        if (i > 0 && edges[i - 1].rank == edge->rank) {
            causes_attribute(result, now, (double)(edge->ns - edges[i - 1].ns), causes);
        }
        now->kernels += edge->kernel;
        if (edge->row != NOT_COMMUNICATION) {
            now->late[edge->row] += edge->late;
            now->moving[edge->row] += edge->moving;
            causes->rows[edge->row].count += edge->late > 0 ? 1 : 0;
        }
    }
}

bool advise_causes_of(const struct sim_result *result, struct arena *arena, struct advise_causes *causes)
{
    uint32_t ranks = result->rank_count, rows = result->collective_count + 1, count = 0;
    struct causes_part *parts = arena_alloc(arena, ((size_t)result->interval_count + 1) * sizeof *parts);
    struct causes_edge *edges = arena_alloc(arena, (3 * (size_t)result->interval_count + 1) * sizeof *edges);
    struct causes_now now = {.late = arena_zalloc(arena, rows * sizeof *now.late),
                             .moving = arena_zalloc(arena, rows * sizeof *now.moving)};
    *causes = (struct advise_causes){.rows = arena_zalloc(arena, rows * sizeof *causes->rows),
                                     .kept_waiting_ns = arena_zalloc(arena, ranks * sizeof *causes->kept_waiting_ns),
                                     .last = arena_zalloc(arena, ranks * sizeof *causes->last)};
    if (parts == NULL || edges == NULL || now.late == NULL || now.moving == NULL || causes->rows == NULL ||
        causes->kept_waiting_ns == NULL || causes->last == NULL) {
        return false;
    }
    for (uint32_t i = 0; i < result->interval_count; i++) {
        if (causes_node(result, &result->intervals[i])->type >= TRACE_SEND) {
            causes_describe(result, i, &parts[count++]);
        }
    }
    qsort(parts, count, sizeof *parts, causes_by_rank);
    causes_number(parts, count);
    qsort(parts, count, sizeof *parts, causes_by_meeting);
    for (uint32_t first = 0, end = 0; first < count; first = end) {
        while (end < count && causes_same_meeting(&parts[first], &parts[end])) {
            end++;
        }
        causes_meet(parts, first, end, causes);
    }
    causes_sweep(result, edges, causes_edges(result, parts, count, edges), &now, causes);
    return true;
}
