/* SPDX-License-Identifier: Apache-2.0 */
/* A node is linked to its only parent when it is that parent's only child; rows are then followed to their first node,
 * each node once. Sums that pass 64 bits are refused: no trace lasts that long, and a wrapped one would be a lie. */
#include "trace/chains.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

void chains_init(struct chains *chains, struct mem *mem)
{
    *chains = (struct chains){.mem = mem};
}

void chains_free(struct chains *chains)
{
    mem_free(chains->mem, chains->key, (size_t)chains->capacity[0] * sizeof *chains->key);
    mem_free(chains->mem, chains->duration_us, (size_t)chains->capacity[1] * sizeof *chains->duration_us);
    mem_free(chains->mem, chains->has_amount, chains->capacity[2]);
    for (unsigned i = 0; i < RECORD_AMOUNT_COUNT; i++) {
        mem_free(chains->mem, chains->amount[i], (size_t)chains->capacity[3 + i] * sizeof *chains->amount[i]);
    }
    mem_free(chains->mem, chains->length, chains->length == NULL ? 0 : chains->node_count * sizeof *chains->length);
    chains_init(chains, chains->mem);
}

/* Makes the array of an amount reach to `node`; nodes before had none. */
static bool reserve_amount(struct chains *chains, unsigned which, uint32_t node)
{
    uint32_t before = chains->capacity[3 + which];
    if (!MEM_GROW(chains->mem, chains->amount[which], chains->capacity[3 + which], node)) {
        return false;
    }
    uint32_t after = chains->capacity[3 + which];
    memset(chains->amount[which] + before, 0, (size_t)(after - before) * sizeof *chains->amount[which]);
    return true;
}

enum orr_status chains_add(struct chains *chains, const struct record_facts *facts, uint64_t key, struct orr_error *err)
{
    uint32_t node = chains->node_count;
    uint64_t need = (uint64_t)node + 1;
    bool fine = MEM_RESERVE(chains->mem, chains->key, chains->capacity[0], need) &&
                MEM_RESERVE(chains->mem, chains->duration_us, chains->capacity[1], need) &&
                mem_reserve(chains->mem, (void **)&chains->has_amount, &chains->capacity[2], need, 1);
    for (unsigned i = 0; fine && key != 0 && i < RECORD_AMOUNT_COUNT; i++) {
        if ((facts->has_amount & 1u << i) != 0) {
            fine = reserve_amount(chains, i, node);
            if (fine) {
                chains->amount[i][node] = facts->amount[i];
            }
        }
    }
    if (!fine) {
        return mem_error(chains->mem, "the durations of a trace", err);
    }
    chains->key[node] = key;
    chains->duration_us[node] = facts->duration_us;
    chains->has_amount[node] = (uint8_t)facts->has_amount;
    chains->node_count++;
    return ORR_OK;
}

uint64_t chains_key(const struct record_facts *facts)
{
    if (facts->type != TRACE_COMP) {
        return 0;
    }
    uint64_t key = facts->lane ^ (record_is_cpu(facts) ? UINT64_C(0x5851f42d4c957f2d) : 0);
    key ^= facts->has_step ? ((uint64_t)facts->step + 1) * UINT64_C(0x9e3779b97f4a7c15) : 0;
    return key == 0 ? 1 : key;
}

struct merging {
    struct chains *chains;
    struct edit_graph *graph;
    uint32_t *parent;   /* by node: its only parent, or EDIT_MISSING */
    uint32_t *children; /* by node: distinct children */
    uint32_t *last;     /* by node: 1 + the child counted last; later: 1 + the row's first node */
};

static void count_families(struct merging *merging)
{
    const struct edit_graph *graph = merging->graph;
    for (uint32_t node = 0; node < graph->node_count; node++) {
        uint32_t only = EDIT_MISSING;
        bool several = false;
        for (uint32_t d = graph->dep_start[node]; d < graph->dep_start[node + 1]; d++) {
            uint32_t parent = graph->deps[d] & EDIT_INDEX;
            if (parent == EDIT_MISSING) {
                several = true; /* a fault stays visible */
                continue;
            }
            several = several || (only != EDIT_MISSING && only != parent);
            only = parent;
            if (merging->last[parent] != node + 1) {
                merging->last[parent] = node + 1;
                merging->children[parent]++;
            }
        }
        merging->parent[node] = several ? EDIT_MISSING : only;
    }
}

static bool joins(const struct merging *merging, uint32_t node)
{
    const struct chains *chains = merging->chains;
    const struct edit_graph *graph = merging->graph;
    uint32_t parent = merging->parent[node];
    return parent != EDIT_MISSING && parent != node && merging->children[parent] == 1 && chains->key[node] != 0 &&
           chains->key[node] == chains->key[parent] && graph->fate[node] == EDIT_KEEP &&
           graph->fate[parent] == EDIT_KEEP && chains->has_amount[node] == chains->has_amount[parent];
}

/* The first node of the row a node is in, or EDIT_MISSING when the row runs in a circle. Every node passed remembers
 * it. */
static uint32_t trace_chains_first_of(struct merging *merging, uint32_t node)
{
    uint32_t first = node;
    uint32_t steps = 0;
    while (merging->last[first] == 0 && merging->parent[first] != EDIT_MISSING) {
        first = merging->parent[first];
        if (++steps > merging->graph->node_count) {
            return EDIT_MISSING;
        }
    }
    uint32_t known = merging->last[first] != 0 ? merging->last[first] - 1 : first;
    while (node != first) {
        merging->last[node] = known + 1;
        node = merging->parent[node];
    }
    merging->last[first] = known + 1;
    return known;
}

static bool trace_chains_add_up(struct chains *chains, uint32_t first, uint32_t node)
{
    bool fits =
        !__builtin_add_overflow(chains->duration_us[first], chains->duration_us[node], &chains->duration_us[first]);
    for (unsigned i = 0; i < RECORD_AMOUNT_COUNT; i++) {
        if ((chains->has_amount[first] & 1u << i) != 0) {
            fits =
                !__builtin_add_overflow(chains->amount[i][first], chains->amount[i][node], &chains->amount[i][first]) &&
                fits;
        }
    }
    chains->length[first]++;
    chains->length[node] = 0;
    chains->merged++;
    return fits;
}

static void point_at_firsts(struct merging *merging)
{
    struct edit_graph *graph = merging->graph;
    for (uint32_t node = 0; node < graph->node_count; node++) {
        for (uint32_t d = graph->dep_start[node]; d < graph->dep_start[node + 1]; d++) {
            uint32_t parent = graph->deps[d] & EDIT_INDEX;
            if (parent != EDIT_MISSING && merging->last[parent] - 1 != parent) {
                graph->deps[d] = (merging->last[parent] - 1) | (graph->deps[d] & EDIT_CTRL);
                graph->dirty[node] = 1;
            }
        }
    }
}

static enum orr_status trace_chains_merge(struct merging *merging, const char *path, struct orr_error *err)
{
    struct edit_graph *graph = merging->graph;
    count_families(merging);
    for (uint32_t node = 0; node < graph->node_count; node++) {
        merging->chains->length[node] = 1;
        merging->last[node] = 0;
    }
    for (uint32_t node = 0; node < graph->node_count; node++) {
        if (!joins(merging, node)) {
            merging->last[node] = node + 1;
        }
    }
    for (uint32_t node = 0; node < graph->node_count; node++) {
        uint32_t first = trace_chains_first_of(merging, node);
        if (first == EDIT_MISSING) {
            return error_set(err, ORR_EINVAL,
                             "%s: node %" PRIu64
                             ": it waits for itself through other nodes; orrery trace fix repairs that",
                             path, graph->ids[node]);
        }
        if (first == node) {
            continue;
        }
        graph->fate[node] = EDIT_DROP;
        if (!trace_chains_add_up(merging->chains, first, node)) {
            return error_set(err, ORR_ERANGE, "%s: node %" PRIu64 ": durations or amounts add up to more than 64 bits",
                             path, graph->ids[first]);
        }
    }
    point_at_firsts(merging);
    return ORR_OK;
}

enum orr_status chains_merge(struct chains *chains, struct edit_graph *graph, const char *path, struct orr_error *err)
{
    size_t count = graph->node_count;
    size_t bytes = 3 * count * sizeof(uint32_t);
    uint32_t *words = mem_zalloc(graph->mem, bytes);
    chains->length = mem_alloc(graph->mem, count * sizeof *chains->length);
    enum orr_status status = ORR_OK;
    if (words == NULL || chains->length == NULL) {
        status = mem_error(graph->mem, "rows of compute nodes", err);
    } else {
        struct merging merging = {chains, graph, words, words + count, words + 2 * count};
        status = trace_chains_merge(&merging, path, err);
    }
    mem_free(graph->mem, words, words == NULL ? 0 : bytes);
    return status;
}

void chains_change(const struct chains *chains, uint32_t node, struct record_change *change)
{
    if (chains->length == NULL || chains->length[node] < 2) {
        return;
    }
    change->fields |= 1u << RECORD_DURATION;
    change->duration_us = chains->duration_us[node];
    for (unsigned i = 0; i < RECORD_AMOUNT_COUNT; i++) {
        if ((chains->has_amount[node] & 1u << i) != 0) {
            record_change_integer(change, record_amount_name(i), TRACE_VALUE_INT64, chains->amount[i][node]);
        }
    }
    record_change_integer(change, "merged", TRACE_VALUE_INT64, chains->length[node]);
}
