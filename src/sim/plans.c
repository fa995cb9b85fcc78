/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Plans of the collectives met so far, by everything that decides them. A run has few: thousands of ranks and layers
 * share a handful of types and sizes. What memory costs is added here, because it needs the device and coll/ knows
 * none.
 */
#include <string.h>

#include "sim/engine.h"

enum { PLAN_BUCKETS = 1024 };

enum sim_native sim_native_of(int32_t type)
{
    switch (type) {
    case COLL_REDUCE_SCATTER:
    case COLL_REDUCE_SCATTER_BLOCK:
        return SIM_REDUCE_SCATTER;
    case COLL_ALL_GATHER:
        return SIM_ALL_GATHER;
    case COLL_ALL_TO_ALL:
        return SIM_ALL_TO_ALL;
    default:
        return SIM_ALL_REDUCE;
    }
}

static bool same_key(const struct sim_plan *a, const struct sim_plan *b)
{
    return a->type == b->type && a->group == b->group && a->bytes == b->bytes && a->dims == b->dims &&
           a->root == b->root;
}

static uint32_t sim_plans_bucket_of(const struct sim_plan *key)
{
    uint64_t mixed = key->bytes * UINT64_C(0x9E3779B97F4A7C15) ^ ((uint64_t)key->group << 20) ^ (uint64_t)key->type ^
                     (key->dims << 8) ^ ((uint64_t)key->root << 40);
    mixed ^= mixed >> 31;
    return (uint32_t)(mixed % PLAN_BUCKETS);
}

/* The dimensions a collective sees: the machine's, or the group as one ring (§13). */
static uint32_t plan_dims(const struct sim *sim, const struct sim_plan *key, struct coll_dim *dims, bool *sub_group)
{
    enum sim_native native = sim_native_of(key->type);
    bool whole = key->group == SIM_NONE || sim->groups[key->group].whole;
    *sub_group = !whole;
    if (whole && !coll_type_is_rooted(key->type)) {
        uint32_t count = sim->logical_count[native];
        memcpy(dims, sim->logical[native], count * sizeof *dims);
        for (uint32_t d = 0; d < count; d++) {
            dims[d].involved = key->group != SIM_NONE || (key->dims >> d & 1) != 0;
        }
        return count;
    }
    dims[0] = (struct coll_dim){.ring = {.size = sim->rank_count, .stride = 1}, .involved = true};
    if (!whole) {
        const struct sim_group *group = sim->groups[key->group].group;
        dims[0].ring = (struct coll_ring){.size = group->count, .members = group->ranks};
    }
    const struct sim_implementation *implementation = &sim->config->system.implementation[native];
    if (implementation->count == 1) {
        dims[0].impl = implementation->list[0];
    }
    return 1;
}

static void rooted_plan(const struct sim_plan *key, const struct coll_dim *dim, struct coll_plan *plan)
{
    plan->phase_count = dim->ring.size > 1 ? 1 : 0;
    plan->phases[0] = (struct coll_phase){.ring = dim->ring,
                                          .bytes = key->bytes,
                                          .method = COLL_BY_PROGRAM,
                                          .type = (enum coll_type)key->type,
                                          .rule = COLL_QUEUE_ANY};
}

static bool add_costs(struct sim *sim, struct sim_phase *phase)
{
    switch (phase->coll.method) {
    case COLL_BY_RING:
    case COLL_BY_DIRECT:
        phase->memory_ns = sim_memory_pass_ns(sim, phase->coll.message_bytes);
        break;
    case COLL_BY_HALVING: {
        uint32_t count = phase->coll.sends + 1;
        phase->coll.steps = arena_alloc(&sim->arena, count * sizeof *phase->coll.steps);
        phase->step_memory_ns = arena_alloc(&sim->arena, count * sizeof *phase->step_memory_ns);
        if (phase->coll.steps == NULL || phase->step_memory_ns == NULL) {
            return false;
        }
        coll_halving_steps(phase->coll.type, phase->coll.ring.size, phase->coll.bytes, phase->coll.sends,
                           phase->coll.steps);
        for (uint32_t i = 0; i < count; i++) {
            phase->step_memory_ns[i] = sim_memory_pass_ns(sim, phase->coll.steps[i].bytes);
        }
        break;
    }
    case COLL_BY_FLOWS:
        phase->flows = sim_flow_plan_make(sim, &phase->coll);
        return phase->flows != NULL;
    default:
        phase->memory_ns = sim_memory_pass_ns(sim, phase->coll.bytes);
        break;
    }
    return true;
}

static struct sim_plan *make_plan(struct sim *sim, const struct sim_plan *key)
{
    struct coll_dim dims[TOPO_MAX_DIMS];
    struct coll_plan layout;
    bool sub_group = false;
    uint32_t count = plan_dims(sim, key, dims, &sub_group);
    if (!coll_type_is_rooted(key->type)) {
        enum coll_type type = key->type == COLL_REDUCE_SCATTER_BLOCK ? COLL_REDUCE_SCATTER : (enum coll_type)key->type;
        bool split = sim->config->system.optimization == SIM_LOCAL_BW_AWARE;
        coll_plan_build(type, key->bytes, dims, count, split, sub_group, &layout);
    } else {
        rooted_plan(key, &dims[0], &layout);
    }
    struct sim_plan *plan = arena_zalloc(&sim->arena, sizeof *plan + layout.phase_count * sizeof plan->phases[0]);
    if (plan == NULL) {
        return NULL;
    }
    *plan = *key;
    plan->fast_endpoint = sub_group && !coll_type_is_rooted(key->type);
    plan->phase_count = layout.phase_count;
    for (uint32_t i = 0; i < layout.phase_count; i++) {
        plan->phases[i].coll = layout.phases[i];
        if (!add_costs(sim, &plan->phases[i])) {
            return NULL;
        }
    }
    return plan;
}

/* A rooted collective's root as a member index: an attribute names a rank; absent, the first member. */
static uint32_t root_of(const struct sim *sim, const struct trace_node *node, uint32_t group)
{
    if (!coll_type_is_rooted(node->comm_type) || (node->has & TRACE_HAS_ROOT) == 0) {
        return 0;
    }
    if (group == SIM_NONE || sim->groups[group].whole) {
        return (uint32_t)node->root;
    }
    return sim_group_place(sim, group, (uint32_t)node->root);
}

const struct sim_plan *sim_plan_get(struct sim *sim, const struct trace_node *node, uint32_t group, uint64_t chunk)
{
    struct sim_plan key = {.type = node->comm_type,
                           .group = group,
                           .bytes = chunk,
                           .dims = node->has & TRACE_HAS_INVOLVED_DIM ? node->involved_dims : UINT64_MAX,
                           .root = root_of(sim, node, group)};
    if (sim->plan_buckets == NULL) {
        sim->plan_buckets = arena_zalloc(&sim->arena, PLAN_BUCKETS * sizeof *sim->plan_buckets);
        if (sim->plan_buckets == NULL) {
            return NULL;
        }
    }
    struct sim_plan **bucket = &sim->plan_buckets[sim_plans_bucket_of(&key)];
    for (struct sim_plan *plan = *bucket; plan != NULL; plan = plan->chain) {
        if (same_key(plan, &key)) {
            return plan;
        }
    }
    struct sim_plan *plan = make_plan(sim, &key);
    if (plan != NULL) {
        plan->chain = *bucket;
        *bucket = plan;
    }
    return plan;
}
