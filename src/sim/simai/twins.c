/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A group's wires are found by going all equal shortest ways of all its messages, there and back, in the order in which
 * the search lists them. What is met is added up in one mark: which place a wire has among those met before, its rate
 * and delay, what it joins, and between which members the message is. Equal marks are equal walks, and equal walks over
 * different wires are what makes groups alike. A wire that a second group comes to takes both out.
 *
 * Which members send to which is asked of the flow lists themselves, of collectives so small that a list is short: a
 * ring's two bytes a channel go over all its hops. Other algorithms, of groups that are not too large, may send from
 * everybody to everybody.
 */
#include "sim/simai/twins.h"

#include <stdlib.h>
#include <string.h>

#include "sim/simai/engine.h"
#include "topo/routes.h"

enum { WAYS_MOST = 4096, ALL_PAIRS_MOST = 64 };

struct walk {
    struct simai *simai;
    const struct topo_graph *graph;
    struct topo_routes routes;
    uint32_t *owner; /* by port: the group that uses it and one; 0 = none */
    uint32_t *met;   /* by node: number of the last way that met it */
    uint32_t *line;  /* nodes of a way, in the order met */
    uint32_t *next;  /* ports of a node on shortest ways */
    bool *shares;    /* by group */
    uint32_t ways;
    uint32_t group;
    uint32_t *ports; /* of the group, so far; room for all */
    uint32_t port_count;
    uint64_t mark;
};

static void mark_with(struct walk *walk, uint64_t value)
{
    uint64_t mixed = (walk->mark ^ value) * UINT64_C(0x9E3779B97F4A7C15);
    mixed = (mixed ^ mixed >> 29) * UINT64_C(0xBF58476D1CE4E5B9);
    walk->mark = mixed ^ mixed >> 32;
}

static void meet_port(struct walk *walk, uint32_t port)
{
    const struct topo_graph *graph = walk->graph;
    uint32_t *place = walk->simai->twins.place;
    uint32_t owner = walk->owner[port];
    if (owner == 0) {
        const struct topo_link *link = &graph->links[graph->ports[port].link];
        walk->owner[port] = walk->group + 1;
        place[port] = walk->port_count;
        walk->ports[walk->port_count++] = port;
        mark_with(walk, link->rate_bps);
        mark_with(walk, link->delay_ns);
        mark_with(walk, link->error_rate > 0);
        mark_with(walk, graph->kinds[graph->ports[port].node]);
        mark_with(walk, graph->kinds[graph->ports[graph->ports[port].peer].node]);
    } else if (owner != walk->group + 1) {
        walk->shares[owner - 1] = true;
        walk->shares[walk->group] = true;
    }
    mark_with(walk, place[port]);
}

/* All shortest ways from one node to another. */
static void go(struct walk *walk, uint32_t src, uint32_t dst)
{
    uint32_t count = 1;
    walk->ways++;
    walk->line[0] = src;
    walk->met[src] = walk->ways;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t node = walk->line[i];
        uint32_t branches = node == dst ? 0 : topo_routes_next(&walk->routes, node, dst, walk->next, WAYS_MOST);
        branches = branches > WAYS_MOST ? WAYS_MOST : branches;
        mark_with(walk, branches);
        for (uint32_t b = 0; b < branches; b++) {
            uint32_t peer = walk->graph->ports[walk->graph->ports[walk->next[b]].peer].node;
            meet_port(walk, walk->next[b]);
            walk->simai->twins.is_choice[walk->next[b]] |= branches > 1;
            if (walk->met[peer] != walk->ways) {
                walk->met[peer] = walk->ways;
                walk->line[count++] = peer;
            }
        }
    }
}

static void go_both_ways(struct walk *walk, uint32_t src, uint32_t dst)
{
    go(walk, src, dst);
    go(walk, dst, src);
}

/* ---- who sends to whom ---- */

static enum orr_status go_by_list(struct walk *walk, struct simai_group *group, const struct nccl_choice *choice,
                                  struct orr_error *err)
{
    struct arena arena;
    struct nccl_flows flows;
    arena_init(&arena, walk->simai->mem);
    enum orr_status status = nccl_flows_build(&walk->simai->config->job, &group->nccl, &group->channels, choice,
                                              COLL_ALL_GATHER, 2 * (uint64_t)choice->channels, &arena, &flows, err);
    for (uint32_t i = 0; status == ORR_OK && i < flows.count; i++) {
        const struct nccl_flow *flow = &flows.flows[i];
        mark_with(walk, simai_plan_member(&group->nccl, flow->src));
        mark_with(walk, simai_plan_member(&group->nccl, flow->dst));
        mark_with(walk, flow->channel);
        mark_with(walk, flow->parent_count);
        go_both_ways(walk, flow->src, flow->dst);
    }
    arena_free(&arena);
    return status;
}

static void go_to_all(struct walk *walk, const struct nccl_group *group)
{
    uint32_t members = group->rank_count + group->switch_count;
    for (uint32_t a = 0; a < members; a++) {
        for (uint32_t b = a + 1; b < members; b++) {
            uint32_t from = a < group->rank_count ? group->ranks[a] : group->switches[a - group->rank_count];
            uint32_t to = b < group->rank_count ? group->ranks[b] : group->switches[b - group->rank_count];
            go_both_ways(walk, from, to);
        }
    }
}

static bool goes_round(int32_t type)
{
    return type == COLL_ALL_REDUCE || type == COLL_ALL_GATHER || type == COLL_REDUCE_SCATTER ||
           type == COLL_REDUCE_SCATTER_BLOCK;
}

/* The group's part in one kind of collective. False: there are too many pairs to look at. */
static enum orr_status go_collective(struct walk *walk, int32_t type, bool *rings, bool *known, struct orr_error *err)
{
    struct simai *simai = walk->simai;
    struct simai_group *group = &simai->groups[walk->group];
    struct nccl_choice choice = simai_plan_choice(&simai->config->job, group, type, 0, simai->plans.merged);
    enum orr_status status = simai_group_channels(simai, group, err);
    mark_with(walk, (uint64_t)type << 32 | (uint64_t)choice.algo << 16 | choice.channels);
    if (status == ORR_OK && choice.algo == NCCL_RING && goes_round(type)) {
        status = *rings ? ORR_OK : go_by_list(walk, group, &choice, err);
        *rings = true;
    } else if (status == ORR_OK) {
        *known = group->nccl.rank_count + group->nccl.switch_count <= ALL_PAIRS_MOST;
        if (*known) {
            go_to_all(walk, &group->nccl);
        }
    }
    return status;
}

/* Bits of the collectives' types that groups of a type carry out; and whether two at a time, of both lines. */
static void find_used(const struct simai_program *program, uint64_t used[NCCL_GROUP_TYPES], bool both[NCCL_GROUP_TYPES])
{
    unsigned lines[NCCL_GROUP_TYPES] = {0};
    for (uint32_t row = 0; row < program->row_count; row++) {
        for (unsigned phase = 0; phase < SIMAI_PHASES; phase++) {
            const struct simai_cell *cell = &program->rows[row].cells[phase];
            if (cell->type != SIMAI_NO_COMM) {
                used[cell->group] |= UINT64_C(1) << cell->type;
                lines[cell->group] |= phase == SIMAI_WG ? 1 : 2;
                both[cell->group] = lines[cell->group] == 3;
            }
        }
    }
}

static enum orr_status go_group(struct walk *walk, uint64_t types, bool *known, struct orr_error *err)
{
    struct simai *simai = walk->simai;
    const struct nccl_group *group = &simai->groups[walk->group].nccl;
    struct simai_kin *kin = &simai->twins.kin[walk->group];
    enum orr_status status = ORR_OK;
    bool rings = false;
    walk->port_count = 0;
    walk->mark = 0;
    mark_with(walk, (uint64_t)group->rank_count << 32 | group->switch_count);
    if (!simai_recall_is_for(simai)) { /* those who follow do the same at the same time */
        mark_with(walk, simai_stage_of(simai, group->ranks[0]));
    }
    for (int32_t type = 0; type < 64 && status == ORR_OK && *known; type++) {
        if ((types >> type & 1) != 0) {
            status = go_collective(walk, type, &rings, known, err);
        }
    }
    kin->mark = walk->mark;
    kin->port_count = walk->port_count;
    kin->ports = arena_alloc(&simai->arena, ((size_t)walk->port_count + 1) * sizeof *kin->ports);
    if (status == ORR_OK && kin->ports == NULL) {
        return mem_error(simai->mem, "the groups' wires", err);
    }
    if (status == ORR_OK) {
        memcpy(kin->ports, walk->ports, (size_t)walk->port_count * sizeof *kin->ports);
    }
    return status;
}

/* What pipeline stages hand each other belongs to no group. */
static void go_stages(struct walk *walk)
{
    const struct simai *simai = walk->simai;
    uint32_t stride = simai->rank_count / simai->config->program->stages;
    walk->group = simai->group_count;
    walk->port_count = 0;
    for (uint32_t rank = 0; stride < simai->rank_count && rank < simai->rank_count; rank++) {
        go_both_ways(walk, rank, (rank + stride) % simai->rank_count);
    }
}

static enum orr_status go_all(struct walk *walk, bool *known, struct orr_error *err)
{
    struct simai *simai = walk->simai;
    uint64_t used[NCCL_GROUP_TYPES] = {0};
    bool both[NCCL_GROUP_TYPES] = {false};
    enum orr_status status = ORR_OK;
    find_used(simai->config->program, used, both);
    for (uint32_t group = 0; group < simai->group_count && status == ORR_OK && *known; group++) {
        const struct nccl_group *one = &simai->groups[group].nccl;
        bool is_used = one->rank_count > 1 && simai->group_of[one->type][one->ranks[0]] == group;
        if (is_used && used[one->type] != 0) {
            walk->group = group;
            walk->shares[group] |= both[one->type] && simai_recall_is_for(simai);
            status = go_group(walk, used[one->type], known, err);
        } else {
            walk->shares[group] = true;
        }
    }
    if (status == ORR_OK && *known) {
        go_stages(walk);
    }
    return status;
}

/* ---- kinds ---- */

struct ranked_kin {
    uint64_t mark;
    uint32_t port_count, group;
};

static int by_mark(const void *a, const void *b)
{
    const struct ranked_kin *x = a;
    const struct ranked_kin *y = b;
    if (x->mark != y->mark) {
        return x->mark < y->mark ? -1 : 1;
    }
    if (x->port_count != y->port_count) {
        return x->port_count < y->port_count ? -1 : 1;
    }
    return x->group < y->group ? -1 : x->group > y->group;
}

static bool number_kinds(struct simai *simai, const bool *shares)
{
    struct simai_twins *twins = &simai->twins;
    size_t bytes = (size_t)simai->group_count * sizeof(struct ranked_kin);
    struct ranked_kin *ranked = mem_alloc(simai->mem, bytes);
    uint32_t count = 0;
    if (ranked == NULL) {
        return false;
    }
    for (uint32_t group = 0; group < simai->group_count; group++) {
        twins->kin[group].kind = SIMAI_NO_KIND;
        if (!shares[group]) {
            ranked[count++] = (struct ranked_kin){twins->kin[group].mark, twins->kin[group].port_count, group};
        }
    }
    qsort(ranked, count, sizeof *ranked, by_mark);
    for (uint32_t i = 0; i < count; i++) {
        bool same = i > 0 && ranked[i].mark == ranked[i - 1].mark && ranked[i].port_count == ranked[i - 1].port_count;
        twins->kinds += same ? 0 : 1;
        twins->kin[ranked[i].group].kind = twins->kinds - 1;
    }
    mem_free(simai->mem, ranked, bytes);
    twins->leader = arena_zalloc(&simai->arena, ((size_t)twins->kinds + 1) * sizeof *twins->leader);
    twins->led_at = arena_zalloc(&simai->arena, ((size_t)twins->kinds + 1) * sizeof *twins->led_at);
    return twins->leader != NULL && twins->led_at != NULL;
}

static bool make_walk(struct walk *walk)
{
    struct simai *simai = walk->simai;
    struct mem *mem = simai->mem;
    size_t ports = walk->graph->port_count;
    simai->twins.kin = arena_zalloc(&simai->arena, ((size_t)simai->group_count + 1) * sizeof *simai->twins.kin);
    simai->twins.place = arena_zalloc(&simai->arena, (ports + 1) * sizeof *simai->twins.place);
    simai->twins.is_choice = arena_zalloc(&simai->arena, (ports + 1) * sizeof *simai->twins.is_choice);
    walk->owner = mem_zalloc(mem, ports * sizeof *walk->owner);
    walk->ports = mem_zalloc(mem, ports * sizeof *walk->ports);
    walk->met = mem_zalloc(mem, walk->graph->node_count * sizeof *walk->met);
    walk->line = mem_zalloc(mem, walk->graph->node_count * sizeof *walk->line);
    walk->next = mem_zalloc(mem, WAYS_MOST * sizeof *walk->next);
    walk->shares = mem_zalloc(mem, ((size_t)simai->group_count + 1) * sizeof *walk->shares);
    return simai->twins.kin != NULL && simai->twins.place != NULL && simai->twins.is_choice != NULL &&
           walk->owner != NULL && walk->ports != NULL && walk->met != NULL && walk->line != NULL &&
           walk->next != NULL && walk->shares != NULL;
}

static void free_walk(struct walk *walk)
{
    struct mem *mem = walk->simai->mem;
    size_t ports = walk->graph->port_count;
    mem_free(mem, walk->owner, ports * sizeof *walk->owner);
    mem_free(mem, walk->ports, ports * sizeof *walk->ports);
    mem_free(mem, walk->met, walk->graph->node_count * sizeof *walk->met);
    mem_free(mem, walk->line, walk->graph->node_count * sizeof *walk->line);
    mem_free(mem, walk->next, WAYS_MOST * sizeof *walk->next);
    mem_free(mem, walk->shares, ((size_t)walk->simai->group_count + 1) * sizeof *walk->shares);
    topo_routes_free(&walk->routes);
}

enum orr_status simai_twins_find(struct simai *simai, struct orr_error *err)
{
    const struct packet_machine *machine = simai->config->machine;
    struct walk walk = {.simai = simai, .graph = machine->graph};
    bool known = true;
    enum orr_status status = topo_routes_init(&walk.routes, machine->graph, machine->config->payload_bytes,
                                              machine->config->parallel_links, simai->mem, err);
    if (status == ORR_OK && !make_walk(&walk)) {
        status = mem_error(simai->mem, "the groups' wires", err);
    }
    if (status == ORR_OK) {
        status = go_all(&walk, &known, err);
    }
    if (status == ORR_OK && known && !number_kinds(simai, walk.shares)) {
        status = mem_error(simai->mem, "the groups' wires", err);
    }
    if (status != ORR_OK || !known) {
        simai->twins = (struct simai_twins){0};
    }
    free_walk(&walk);
    return status;
}
