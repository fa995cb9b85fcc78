/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/agree.h"

#include <inttypes.h>

#include "sim/waits.h"

static struct sim_agreements *table_of(const struct sim *sim, uint32_t group)
{
    return &sim->agreements[group == SIM_NONE ? 0 : 1 + group];
}

static uint32_t sim_agree_place_of(const struct sim *sim, uint32_t group, uint32_t rank)
{
    return group == SIM_NONE ? rank : sim_group_place(sim, group, rank);
}

static const struct trace_node *sim_agree_node_of(const struct sim *sim, const struct sim_issued *issued)
{
    return &sim->ranks[issued->rank].graph->nodes[issued->node];
}

bool sim_agree_make(struct sim *sim)
{
    uint32_t tables = 1 + sim->config->group_count;
    sim->agreements = arena_zalloc(&sim->arena, tables * sizeof *sim->agreements);
    for (uint32_t i = 0; sim->agreements != NULL && i < tables; i++) {
        struct sim_agreements *table = &sim->agreements[i];
        uint32_t members = i == 0 ? sim->rank_count : sim->config->groups[i - 1].count;
        table->first_apart = SIM_NONE;
        table->issued = arena_zalloc(&sim->arena, members * sizeof *table->issued);
        if (table->issued == NULL) {
            return false;
        }
    }
    return sim->agreements != NULL;
}

void sim_agree_free(struct sim *sim)
{
    for (uint32_t i = 0; sim->agreements != NULL && i < 1 + sim->config->group_count; i++) {
        struct sim_agreements *table = &sim->agreements[i];
        mem_free(sim->mem, table->at, (size_t)table->capacity * sizeof *table->at);
    }
    sim->agreements = NULL;
}

/* Whether two nodes are one collective of two sizes. A barrier has none; a custom algorithm does not look at it. */
static bool sizes_differ(const struct sim *sim, const struct sim_issued *a, const struct sim_operation *operation)
{
    const struct trace_node *one = sim_agree_node_of(sim, a);
    const struct trace_node *two = &sim->ranks[operation->rank].graph->nodes[operation->node];
    return operation->custom == NULL && one->comm_type == two->comm_type && one->comm_type != COLL_BARRIER &&
           one->comm_bytes != two->comm_bytes;
}

bool sim_agree_issue(struct sim *sim, struct sim_operation *operation)
{
    struct sim_agreements *table = table_of(sim, operation->group);
    struct sim_issued issued = {.rank = operation->rank, .node = operation->node, .streams = operation->streams};
    operation->order = table->issued[sim_agree_place_of(sim, operation->group, operation->rank)]++;
    if (operation->order == table->count) {
        if (!mem_reserve(sim->mem, (void **)&table->at, &table->capacity, (uint64_t)table->count + 1,
                         sizeof *table->at)) {
            return false;
        }
        table->at[table->count++] = (struct sim_agreement){.first = issued, .other.rank = SIM_NONE};
        return true;
    }
    struct sim_agreement *agreement = &table->at[operation->order];
    if (agreement->other.rank == SIM_NONE && sizes_differ(sim, &agreement->first, operation)) {
        agreement->other = issued;
        if (issued.streams != agreement->first.streams && operation->order < table->first_apart) {
            table->first_apart = operation->order;
        }
    }
    return true;
}

/* The collectives of a node's type and group in a rank's trace. */
struct tally {
    uint32_t all, of_size, of_size_to_come;
};

static struct tally count_like(const struct sim *sim, uint32_t rank, const struct sim_issued *like)
{
    const struct sim_rank *state = &sim->ranks[rank];
    const struct trace_node *wanted = sim_agree_node_of(sim, like);
    uint32_t group = sim_graph_group(sim->rank_graph[like->rank], like->node);
    struct tally tally = {0};
    for (uint32_t i = 0; i < state->graph->other_count; i++) {
        uint32_t node = state->graph->others[i];
        const struct trace_node *candidate = &state->graph->nodes[node];
        if (candidate->type == TRACE_COLL && candidate->comm_type == wanted->comm_type &&
            sim_graph_group(sim->rank_graph[rank], node) == group) {
            bool same = candidate->comm_bytes == wanted->comm_bytes;
            tally.all++;
            tally.of_size += same;
            tally.of_size_to_come += same && sim_node_to_come(state, node);
        }
    }
    return tally;
}

/* Two sizes at one place may be one collective of two sizes or two collectives out of order. Ranks with equally many
 * collectives have them in another order when they have the same sizes; where one lacks some, when the size that the
 * other is at still comes. */
static bool are_out_of_order(const struct sim *sim, const struct sim_agreement *odds)
{
    struct tally first_at_first = count_like(sim, odds->first.rank, &odds->first);
    struct tally first_at_other = count_like(sim, odds->other.rank, &odds->first);
    struct tally other_at_first = count_like(sim, odds->first.rank, &odds->other);
    struct tally other_at_other = count_like(sim, odds->other.rank, &odds->other);
    if (first_at_first.all == first_at_other.all) {
        return first_at_first.of_size == first_at_other.of_size && other_at_first.of_size == other_at_other.of_size;
    }
    return first_at_other.of_size_to_come > 0 || other_at_first.of_size_to_come > 0;
}

const struct sim_agreement *sim_agree_at_odds(const struct sim *sim, const struct sim_operation *operation,
                                              uint32_t peer)
{
    const struct sim_agreements *table = table_of(sim, operation->group);
    const struct sim_agreement *found = NULL;
    if (table->first_apart <= operation->order) {
        found = &table->at[table->first_apart];
    } else if (table->issued[sim_agree_place_of(sim, operation->group, peer)] > operation->order &&
               table->at[operation->order].other.rank != SIM_NONE) {
        found = &table->at[operation->order];
    }
    return found != NULL && are_out_of_order(sim, found) ? NULL : found;
}

enum orr_status sim_agree_warn(struct sim *sim, struct orr_error *err)
{
    const struct sim_agreement *example = NULL;
    uint64_t count = 0;
    for (uint32_t i = 0; i < 1 + sim->config->group_count; i++) {
        for (uint32_t k = 0; k < sim->agreements[i].count; k++) {
            const struct sim_agreement *agreement = &sim->agreements[i].at[k];
            count += agreement->other.rank != SIM_NONE;
            example = example == NULL && agreement->other.rank != SIM_NONE ? agreement : example;
        }
    }
    if (example == NULL) {
        return ORR_OK;
    }
    return notes_add(sim->notes, err,
                     "%" PRIu64 " collective%s not of one size on all ranks, such as %s on rank %u and %s on rank %u: "
                     "each rank sent what its own trace says; give a collective the same comm_size on all ranks",
                     count, count == 1 ? " is" : "s are", sim_say_node(sim, example->first.rank, example->first.node),
                     example->first.rank, sim_say_node(sim, example->other.rank, example->other.node),
                     example->other.rank);
}
