/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who awaits what: SimAI posts the receive of a step when the receiver's own flow of that step goes out (ring flows and
 * those without parents), or one step before (all others). A message that comes earlier lies there until then (spec
 * packet B6, B7). Where flows of one pair take different ways this shows, because a later step may overtake.
 */
#include "sim/simai/plan.h"

#include <string.h>

#include "sim/simai/engine.h"

enum { IDLE_FLOWS_MOST = 1 << 19 };

uint32_t simai_plan_member(const struct nccl_group *group, uint32_t node)
{
    const uint32_t *list = group->ranks;
    uint32_t count = group->rank_count;
    uint32_t base = 0;
    if (count > 0 && node > list[count - 1]) {
        list = group->switches;
        base = count;
        count = group->switch_count;
    }
    uint32_t low = 0;
    while (count > 1) {
        uint32_t half = count / 2;
        low += list[low + half] <= node ? half : 0;
        count -= half;
    }
    return base + low;
}

/* ---- whose flows are whose ---- */

static bool index_flows(struct simai_plan *plan, const struct nccl_group *group)
{
    uint32_t count = plan->flows.count;
    plan->members = group->rank_count + group->switch_count;
    plan->own_start = arena_zalloc(&plan->arena, ((size_t)plan->members + 2) * sizeof *plan->own_start);
    plan->recvs = arena_zalloc(&plan->arena, ((size_t)plan->members + 1) * sizeof *plan->recvs);
    plan->own = arena_alloc(&plan->arena, ((size_t)count + 1) * sizeof *plan->own);
    if (plan->own_start == NULL || plan->recvs == NULL || plan->own == NULL) {
        return false;
    }
    for (uint32_t i = 0; i < count; i++) {
        const struct nccl_flow *flow = &plan->flows.flows[i];
        plan->own_start[simai_plan_member(group, flow->src) + 2]++;
        plan->recvs[simai_plan_member(group, flow->dst)]++;
        plan->in_line = plan->in_line || (flow->parent_count == 0 && flow->chunk > 0);
    }
    for (uint32_t i = 0; i < plan->members; i++) {
        plan->own_start[i + 2] += plan->own_start[i + 1];
    }
    for (uint32_t i = 0; i < count; i++) {
        plan->own[plan->own_start[simai_plan_member(group, plan->flows.flows[i].src) + 1]++] = i;
    }
    return true;
}

/* ---- who awaits what ---- */

/* The first flow of each member in each step of each channel, by rule: 0 = awaits its own step, 1 = the next. */
struct poster_table {
    uint32_t *first[2];
    uint64_t steps; /* of all channels */
    uint32_t chunks, members;
};

static unsigned rule_of(const struct nccl_flow *flow)
{
    return flow->connection == NCCL_CONN_RING || flow->parent_count == 0 ? 0 : 1;
}

static bool is_prev(const struct simai_plan *plan, const struct nccl_flow *flow, uint32_t rank)
{
    for (uint32_t i = 0; i < flow->prev_count; i++) {
        if (plan->flows.prevs[flow->prev + i] == rank) {
            return true;
        }
    }
    return false;
}

static uint32_t poster_of(const struct simai_plan *plan, const struct poster_table *table, const struct nccl_flow *flow,
                          uint32_t member, bool compat)
{
    for (unsigned rule = 0; rule < (compat ? 2 : 1); rule++) {
        if (flow->chunk < rule) {
            continue;
        }
        uint64_t step = (uint64_t)flow->channel * table->chunks + flow->chunk - rule;
        uint32_t found = table->first[rule][step * table->members + member];
        if (found != SIMAI_NO_FLOW && is_prev(plan, &plan->flows.flows[found], flow->src)) {
            return found;
        }
    }
    return SIMAI_NO_FLOW;
}

static void simai_plan_fill_table(const struct simai_plan *plan, const struct nccl_group *group,
                                  struct poster_table *table)
{
    memset(table->first[0], 0xff, table->steps * table->members * sizeof *table->first[0]);
    memset(table->first[1], 0xff, table->steps * table->members * sizeof *table->first[1]);
    for (uint32_t i = plan->flows.count; i-- > 0;) {
        const struct nccl_flow *flow = &plan->flows.flows[i];
        uint64_t step = (uint64_t)flow->channel * table->chunks + flow->chunk;
        table->first[rule_of(flow)][step * table->members + simai_plan_member(group, flow->src)] = i;
    }
}

static bool find_posters(struct simai_plan *plan, const struct nccl_group *group, bool compat, struct mem *mem)
{
    uint32_t count = plan->flows.count;
    struct poster_table table = {.members = plan->members};
    plan->poster = arena_alloc(&plan->arena, ((size_t)count + 1) * sizeof *plan->poster);
    if (plan->poster == NULL) {
        return false;
    }
    for (uint32_t i = 0; i < count; i++) {
        const struct nccl_flow *flow = &plan->flows.flows[i];
        plan->channels = flow->channel >= plan->channels ? flow->channel + 1 : plan->channels;
        table.chunks = flow->chunk >= table.chunks ? flow->chunk + 1 : table.chunks;
        plan->poster[i] = SIMAI_NO_FLOW;
    }
    table.steps = (uint64_t)plan->channels * table.chunks;
    size_t bytes = (size_t)(table.steps * table.members) * sizeof *table.first[0];
    table.first[0] = mem_alloc(mem, bytes);
    table.first[1] = mem_alloc(mem, bytes);
    bool made = table.first[0] != NULL && table.first[1] != NULL;
    if (made) {
        simai_plan_fill_table(plan, group, &table);
        for (uint32_t i = 0; i < count; i++) {
            const struct nccl_flow *flow = &plan->flows.flows[i];
            plan->poster[i] = poster_of(plan, &table, flow, simai_plan_member(group, flow->dst), compat);
        }
    }
    mem_free(mem, table.first[0], bytes);
    mem_free(mem, table.first[1], bytes);
    return made;
}

/* ---- taking and giving ---- */

/* Inside a server every channel's ring goes round the same way. */
struct nccl_choice simai_plan_choice(const struct nccl_job *job, const struct simai_group *group, int32_t type,
                                     uint64_t bytes, bool merged)
{
    struct nccl_choice choice = nccl_choose(job, &group->nccl, (enum coll_type)type, bytes);
    if (merged && choice.algo == NCCL_RING && group->nccl.node_count == 1) {
        choice.channels = 1;
    }
    return choice;
}

static enum orr_status fill_plan(struct simai_plan *plan, const struct nccl_job *job, struct simai_group *group,
                                 bool merged, struct mem *mem, struct orr_error *err)
{
    struct nccl_choice choice = simai_plan_choice(job, group, plan->type, plan->bytes, merged);
    enum orr_status status = nccl_flows_build(job, &group->nccl, &group->channels, &choice, (enum coll_type)plan->type,
                                              plan->bytes, &plan->arena, &plan->flows, err);
    if (status == ORR_OK && (!index_flows(plan, &group->nccl) || !find_posters(plan, &group->nccl, job->compat, mem))) {
        status = mem_error(mem, "a collective's flows", err);
    }
    return status;
}

static void simai_plan_drop(struct simai_plans *plans, struct simai_plan *plan)
{
    struct simai_plan **at = &plans->first;
    while (*at != plan) {
        at = &(*at)->next;
    }
    *at = plan->next;
    arena_free(&plan->arena);
    mem_free(plans->mem, plan, sizeof *plan);
}

static struct simai_plan *simai_plan_find(const struct simai_plans *plans, uint32_t group, int32_t type, uint64_t bytes)
{
    struct simai_plan *plan = plans->first;
    while (plan != NULL && (plan->group != group || plan->type != type || plan->bytes != bytes)) {
        plan = plan->next;
    }
    return plan;
}

struct simai_plan *simai_plan_take(struct simai_plans *plans, const struct nccl_job *job, struct simai_group *group,
                                   uint32_t group_index, int32_t type, uint64_t bytes, struct orr_error *err)
{
    struct simai_plan *plan = simai_plan_find(plans, group_index, type, bytes);
    if (plan != NULL) {
        plans->idle_flows -= plan->users == 0 ? plan->flows.count : 0;
        plan->users++;
        return plan;
    }
    plan = mem_zalloc(plans->mem, sizeof *plan);
    if (plan == NULL) {
        (void)mem_error(plans->mem, "a collective's flows", err);
        return NULL;
    }
    arena_init(&plan->arena, plans->mem);
    plan->group = group_index;
    plan->type = type;
    plan->bytes = bytes;
    if (fill_plan(plan, job, group, plans->merged, plans->mem, err) != ORR_OK) {
        arena_free(&plan->arena);
        mem_free(plans->mem, plan, sizeof *plan);
        return NULL;
    }
    plan->users = 1;
    plan->next = plans->first;
    plans->first = plan;
    return plan;
}

void simai_plan_give(struct simai_plans *plans, struct simai_plan *plan)
{
    if (--plan->users > 0) {
        return;
    }
    plans->idle_flows += plan->flows.count;
    struct simai_plan *next = NULL;
    for (struct simai_plan *at = plans->first; at != NULL && plans->idle_flows > IDLE_FLOWS_MOST; at = next) {
        next = at->next;
        if (at->users == 0) {
            plans->idle_flows -= at->flows.count;
            simai_plan_drop(plans, at);
        }
    }
}

void simai_plans_free(struct simai_plans *plans)
{
    while (plans->first != NULL) {
        simai_plan_drop(plans, plans->first);
    }
}
