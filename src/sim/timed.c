/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Collectives whose time is told, not simulated (parameter 'collective-times' model): the members meet, and once the
 * last one is there all of them are done after what NCCL or RCCL takes for it (coll/timing/timing.h). Nothing is sent;
 * the network carries the trace's own sends and receives alone.
 *
 * A rank is in one such collective inside its server and in one across servers at a time, as its links are: the next
 * one begins when the last one of its kind has ended on all its members. Groups that do not take in whole servers are
 * taken to come in parallel, as those of a training step do, so that all groups of a server share its NICs.
 */
#include "coll/timing/timing.h"
#include "sim/engine.h"

/* Members that wait for the others. */
struct sim_meeting {
    uint32_t group, order;
    int32_t type;          /* ranks that are at another collective do not meet */
    uint32_t first, count; /* operations, chained by their `meeting` */
};

struct sim_timed {
    struct sim_meeting *at; /* those that are not complete, in no order */
    uint32_t count, capacity;
    uint64_t *free_at;                /* two a rank: when its last one inside its server ends, and across servers */
    struct orr_coll_question *shapes; /* of all ranks, then by group; nodes 0: not looked at yet */
};

bool sim_timed_make(struct sim *sim)
{
    if (sim->config->timing == NULL) {
        return true;
    }
    sim->timed = arena_zalloc(&sim->arena, sizeof *sim->timed);
    if (sim->timed == NULL) {
        return false;
    }
    sim->timed->free_at = arena_zalloc(&sim->arena, 2 * (size_t)sim->rank_count * sizeof *sim->timed->free_at);
    sim->timed->shapes = arena_zalloc(&sim->arena, ((size_t)sim->config->group_count + 1) * sizeof *sim->timed->shapes);
    return sim->timed->free_at != NULL && sim->timed->shapes != NULL;
}

void sim_timed_free(struct sim *sim)
{
    if (sim->timed != NULL) {
        mem_free(sim->mem, sim->timed->at, (size_t)sim->timed->capacity * sizeof *sim->timed->at);
        sim->timed = NULL;
    }
}

static uint32_t sim_timed_member_count(const struct sim *sim, uint32_t group)
{
    return group == SIM_NONE ? sim->rank_count : sim->groups[group].group->count;
}

/* In ascending order. */
static uint32_t member_at(const struct sim *sim, uint32_t group, uint32_t place)
{
    return group == SIM_NONE ? place : sim->groups[group].sorted[place];
}

static const struct orr_coll_question *shape_of(struct sim *sim, uint32_t group)
{
    struct orr_coll_question *shape = &sim->timed->shapes[group == SIM_NONE ? 0 : group + 1];
    if (shape->nodes == 0) {
        uint32_t each = sim->nccl_servers.ranks_each > 0 ? sim->nccl_servers.ranks_each : 1;
        timing_place_ranks(group == SIM_NONE ? NULL : sim->groups[group].sorted, sim_timed_member_count(sim, group),
                           each, shape);
    }
    return shape;
}

static struct orr_coll_question question_of(struct sim *sim, const struct trace_node *node, uint32_t group)
{
    struct orr_coll_question question = *shape_of(sim, group);
    timing_ask((int)node->comm_type, node->comm_bytes, sim_timed_member_count(sim, group), &question);
    return question;
}

static uint64_t sim_timed_time_of(struct sim *sim, const struct trace_node *node, uint32_t group)
{
    struct orr_coll_question question = question_of(sim, node, group);
    uint64_t ns = timing_ns(sim->config->timing, &question);
    double factor = sim->config->timing_factor;
    return factor > 0 && ns < UINT64_C(1) << 52 ? (uint64_t)((double)ns * factor + 0.5) : ns;
}

/* All are there: each is done at the same time, once none of them is in an earlier one. */
static void begin(struct sim *sim, const struct sim_meeting *meeting, const struct trace_node *node)
{
    uint64_t start = sim->queue.now;
    size_t across = shape_of(sim, meeting->group)->nodes > 1;
    for (uint32_t i = meeting->first; i != 0; i = sim->operations.at[i].meeting) {
        uint64_t is_free = sim->timed->free_at[2 * (size_t)sim->operations.at[i].rank + across];
        start = is_free > start ? is_free : start;
    }
    uint64_t end = start + sim_timed_time_of(sim, node, meeting->group);
    for (uint32_t i = meeting->first; i != 0;) {
        uint32_t next = sim->operations.at[i].meeting;
        uint32_t rank = sim->operations.at[i].rank;
        sim->timed->free_at[2 * (size_t)rank + across] = end;
        sim_call_after(sim, rank, end - sim->queue.now, SIM_CALL_COLLECTIVE, i, 0);
        i = next;
    }
}

static struct sim_meeting *find(struct sim *sim, const struct sim_operation *operation)
{
    struct sim_timed *timed = sim->timed;
    int32_t type = sim->ranks[operation->rank].graph->nodes[operation->node].comm_type;
    for (uint32_t i = 0; i < timed->count; i++) {
        if (timed->at[i].group == operation->group && timed->at[i].order == operation->order &&
            timed->at[i].type == type) {
            return &timed->at[i];
        }
    }
    if (!mem_reserve(sim->mem, (void **)&timed->at, &timed->capacity, (uint64_t)timed->count + 1, sizeof *timed->at)) {
        return NULL;
    }
    timed->at[timed->count] = (struct sim_meeting){.group = operation->group, .order = operation->order, .type = type};
    return &timed->at[timed->count++];
}

void sim_timed_issue(struct sim *sim, uint32_t index)
{
    struct sim_operation *operation = &sim->operations.at[index];
    struct sim_meeting *meeting = find(sim, operation);
    if (meeting == NULL) {
        sim_fail_memory(sim);
        return;
    }
    operation->meeting = meeting->first;
    meeting->first = index;
    if (++meeting->count < sim_timed_member_count(sim, operation->group)) {
        return;
    }
    struct sim_meeting complete = *meeting;
    *meeting = sim->timed->at[--sim->timed->count];
    begin(sim, &complete, &sim->ranks[operation->rank].graph->nodes[operation->node]);
}

/* The first member that is not there. */
static uint32_t missing(const struct sim *sim, const struct sim_meeting *meeting)
{
    for (uint32_t place = 0; place < sim_timed_member_count(sim, meeting->group); place++) {
        uint32_t rank = member_at(sim, meeting->group, place);
        uint32_t i = meeting->first;
        while (i != 0 && sim->operations.at[i].rank != rank) {
            i = sim->operations.at[i].meeting;
        }
        if (i == 0) {
            return rank;
        }
    }
    return 0;
}

bool sim_timed_each(const struct sim *sim, uint32_t *meeting, uint32_t *operation, uint32_t *absent)
{
    for (; sim->timed != NULL && *meeting < sim->timed->count; ++*meeting, *operation = 0) {
        const struct sim_meeting *at = &sim->timed->at[*meeting];
        *operation = *operation == 0 ? at->first : sim->operations.at[*operation].meeting;
        if (*operation != 0) {
            *absent = missing(sim, at);
            return true;
        }
    }
    return false;
}
