/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lays out NCCL's list of flows for one kind of collective and turns it into what streams follow (flows.c): each
 * member's sends and receives in the order of the list, and what stands in line.
 */
#include "sim/flow_plan.h"

#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "coll/nccl.h"
#include "coll/timing/timing.h"
#include "net/packet/packet.h"
#include "sim/engine.h"
#include "sim/switch_trees.h"

/* A list on its way to be a plan. */
struct making {
    const struct sim *sim;
    struct arena scratch;
    struct nccl_job job;
    struct nccl_group group;
    struct nccl_flows list;
    struct sim_switch_trees trees; /* NCCL_COLLNET */
    struct sim_flow_plan *plan;
};

static bool is_of_tree(const struct making *making, uint32_t node)
{
    return making->trees.channels > 0 && node >= nccl_first_tree_switch(&making->job);
}

/* The member that acts for a rank or, in the numbers of the list, for a switch. A switch of the network has one of
 * those below it, without whose data it could send nothing anyway. */
static uint32_t actor_of(const struct making *making, uint32_t node)
{
    const struct sim_flow_plan *plan = making->plan;
    if (making->sim->alike != NULL) {
        return topo_alike_class_of(making->sim->alike, node);
    }
    if (node < making->job.gpus) {
        return sim_flows_member_of(plan, node);
    }
    if (is_of_tree(making, node)) {
        return making->trees.lowest[node - nccl_first_tree_switch(&making->job)];
    }
    uint32_t server = (node - making->job.gpus) / making->job.switches_per_server;
    uint32_t member = sim_flows_member_of(plan, server * making->job.gpus_per_server);
    return plan->ranks[member] / making->job.gpus_per_server < server ? member + 1 : member;
}

/* The number in the network of a rank or switch of the list. */
static uint32_t sim_flows_node_of(const struct making *making, uint32_t node)
{
    return node < making->job.gpus    ? node
           : is_of_tree(making, node) ? making->trees.nodes[node - nccl_first_tree_switch(&making->job)]
                                      : making->sim->nccl_servers.switches[node - making->job.gpus];
}

static bool zalloc_u32(struct sim *sim, uint32_t **array, size_t count)
{
    *array = arena_zalloc(&sim->arena, count * sizeof **array);
    return *array != NULL;
}

static bool sim_flows_make_arrays(struct sim *sim, struct sim_flow_plan *plan, const struct nccl_group *group,
                                  uint64_t children)
{
    uint32_t *ranks = NULL;
    uint32_t members = sim->alike != NULL ? sim->played : group->rank_count;
    plan->flows = arena_zalloc(&sim->arena, (size_t)plan->count * sizeof *plan->flows);
    if (plan->flows == NULL || !zalloc_u32(sim, &ranks, members) || !zalloc_u32(sim, &plan->children, children) ||
        !zalloc_u32(sim, &plan->parents, plan->count) || !zalloc_u32(sim, &plan->sends, plan->count) ||
        !zalloc_u32(sim, &plan->recvs, plan->count) || !zalloc_u32(sim, &plan->send_first, members + UINT64_C(1)) ||
        !zalloc_u32(sim, &plan->recv_first, members + UINT64_C(1))) {
        return false;
    }
    for (uint32_t i = 0; i < members; i++) {
        ranks[i] = sim->alike != NULL ? i : group->ranks[i]; /* classes are what is played */
    }
    plan->ranks = ranks;
    plan->member_count = members;
    return true;
}

static int in_order_of_lines(const void *a, const void *b)
{
    const uint64_t *x = a;
    const uint64_t *y = b;
    return (*x > *y) - (*x < *y);
}

/* Flows in the order of receiving: of rings and pairs line by line, and in a line that of the list, which others keep
 * to. NULL: no memory. */
static uint64_t *sort_by_line(const struct sim_flow_plan *plan, enum nccl_algo algo, struct arena *scratch)
{
    uint64_t *order = arena_alloc(scratch, (plan->count + UINT64_C(1)) * sizeof *order);
    bool sorted = true;
    for (uint32_t i = 0; order != NULL && i < plan->count; i++) {
        order[i] = (uint64_t)plan->flows[i].line << 32 | i;
        sorted = sorted && (i == 0 || order[i - 1] < order[i]);
    }
    if (order != NULL && !sorted && algo == NCCL_RING) {
        qsort(order, plan->count, sizeof *order, in_order_of_lines);
    }
    return order;
}

/* Each member's sends and receives. */
static bool sort_by_member(struct making *making)
{
    const struct nccl_flows *list = &making->list;
    struct sim_flow_plan *plan = making->plan;
    const uint64_t *order = sort_by_line(plan, list->choice.algo, &making->scratch);
    if (order == NULL) {
        return false;
    }
    for (uint32_t i = 0; i < plan->count; i++) {
        uint32_t next = (uint32_t)order[i];
        plan->flows[i].send_at = plan->send_first[actor_of(making, list->flows[i].src) + 1]++;
        plan->flows[next].recv_at = plan->recv_first[actor_of(making, list->flows[next].dst) + 1]++;
    }
    for (uint32_t m = 0; m < plan->member_count; m++) {
        plan->send_first[m + 1] += plan->send_first[m];
        plan->recv_first[m + 1] += plan->recv_first[m];
    }
    for (uint32_t i = 0; i < plan->count; i++) {
        const struct sim_flow *flow = &plan->flows[i];
        uint32_t sender = actor_of(making, list->flows[i].src);
        plan->sends[plan->send_first[sender] + flow->send_at] = i;
        plan->recvs[plan->recv_first[actor_of(making, list->flows[i].dst)] + flow->recv_at] = i;
        plan->parents[plan->send_first[sender] + flow->send_at] = list->flows[i].parent_count;
    }
    return true;
}

/* Ranks' shares of a ring may differ by a byte, which would be a packet more. NCCL's slices are all of one size, and on
 * wires, where messages of one rank to another overtake each other, the larger ones would fall behind lap by lap: they
 * are all as large as the largest there. 0: they stay what they are. */
static uint64_t slice_bytes(const struct sim *sim, const struct nccl_flows *list, bool pairs)
{
    uint64_t largest = 0;
    bool evened = sim->config->packet != NULL && list->choice.algo == NCCL_RING && !pairs;
    for (uint32_t i = 0; evened && i < list->count; i++) {
        largest = list->flows[i].bytes > largest ? list->flows[i].bytes : largest;
    }
    return largest;
}

/* Reductions in the switch do not reach a link's whole rate: they take as long as so many more bytes would. Of others a
 * protocol may have flags among the data. */
static uint64_t bytes_on_links(const struct sim *sim, const struct nccl_flow *flow, uint64_t slice,
                               const struct timing_message *cost)
{
    double efficiency = sim->config->system.nccl_nvls_efficiency;
    if (flow->connection != NCCL_CONN_NVLS) {
        uint64_t bytes = flow->bytes + 1 == slice ? slice : flow->bytes;
        return (uint64_t)((double)bytes * cost->bytes);
    }
    return efficiency <= 0 || efficiency >= 1 ? flow->bytes : (uint64_t)((double)flow->bytes / efficiency);
}

/* What the system's protocol costs; the switch has none. */
static struct timing_message flow_message_cost(const struct sim *sim, enum nccl_algo algo)
{
    enum sim_nccl_protocol protocol = sim->config->system.nccl_protocol;
    bool in_switch = algo == NCCL_NVLS || algo == NCCL_NVLS_TREE || algo == NCCL_COLLNET;
    if (protocol == SIM_NCCL_WIRES || in_switch) {
        return (struct timing_message){.bytes = 1};
    }
    return timing_message_cost(algo == NCCL_TREE, (unsigned)protocol - SIM_NCCL_LL);
}

static uint32_t flow_step_ns(const struct sim *sim, const struct nccl_flow *flow, const struct timing_message *cost)
{
    uint32_t each = sim->nccl_servers.ranks_each > 0 ? sim->nccl_servers.ranks_each : 1;
    bool inside = flow->src / each == flow->dst / each;
    return (uint32_t)((inside ? cost->inside_us : cost->between_us) * 1e3 + 0.5);
}

/* `flow` waits for the arrival of the one before it. */
static void stand_behind(struct sim_flow_plan *plan, uint32_t member, uint32_t before, uint32_t flow)
{
    plan->flows[before].next_in_line = flow;
    plan->parents[plan->send_first[member] + plan->flows[flow].send_at]++;
}

/* Lines up what ranks give to switches of their own accord. A flow with one before it has one more to wait for. */
static bool sim_flows_stand_in_line(const struct making *making, struct arena *scratch)
{
    const struct nccl_flows *list = &making->list;
    struct sim_flow_plan *plan = making->plan;
    uint32_t channels = 0;
    for (uint32_t i = 0; i < list->count; i++) {
        channels = list->flows[i].channel >= channels ? list->flows[i].channel + 1 : channels;
    }
    size_t places = (size_t)plan->member_count * channels;
    uint32_t *last = arena_alloc(scratch, places * sizeof *last);
    for (size_t i = 0; last != NULL && i < places; i++) {
        last[i] = SIM_NONE;
    }
    for (uint32_t i = 0; last != NULL && i < list->count; i++) {
        const struct nccl_flow *flow = &list->flows[i];
        if (flow->parent_count > 0 || flow->dst < making->job.gpus || flow->connection == NCCL_CONN_COLLNET) {
            continue;
        }
        uint32_t member = sim_flows_member_of(plan, flow->src);
        uint32_t *before = &last[(size_t)member * channels + flow->channel];
        if (*before != SIM_NONE) {
            stand_behind(plan, member, *before, i);
        }
        *before = i;
    }
    return last != NULL;
}

/* How many chunks are on a link of a tree at once: as many as keep it filled while the next is being heard of. More
 * would arrive together, and go on together. */
static uint32_t chunks_on_link(const struct making *making)
{
    enum { MOST = 16 };
    uint64_t filling = making->trees.in_flight_bytes / making->list.choice.chunk_bytes + 2;
    return (uint32_t)(filling < MOST ? filling : MOST);
}

/* Lines up the chunks on each link of the trees of switches. All chunks of a channel are laid out alike, so that the
 * one before is found by its distance. */
static void stand_in_trees(const struct making *making)
{
    const struct nccl_flows *list = &making->list;
    uint32_t window = chunks_on_link(making);
    uint32_t first = 0; /* of the channel */
    for (uint32_t end = 0; first < list->count; first = end) {
        while (end < list->count && list->flows[end].channel == list->flows[first].channel) {
            end++;
        }
        uint32_t distance = (end - first) / list->flows[first].chunk_count * window;
        for (uint32_t i = first; i < end; i++) {
            const struct nccl_flow *flow = &list->flows[i];
            if (flow->connection == NCCL_CONN_COLLNET && flow->chunk >= window) {
                stand_behind(making->plan, actor_of(making, flow->src), i - distance, i);
            }
        }
    }
}

/* What its receiver hands on to another server for its sender (PXN). */
static bool is_handed_on(const struct nccl_flows *list, const struct nccl_flow *flow)
{
    return flow->child_count == 1 && list->flows[list->links[flow->children]].connection == NCCL_CONN_PXN_INIT;
}

/* The line in which a receive stands. Of a channel's one after the other; but what a switch receives, and what is only
 * handed on, waits for nothing of the channel, and sends and receives of pairs are at work side by side. */
static uint32_t recv_line(const struct making *making, const struct nccl_flow *flow, bool pairs)
{
    const struct sim *sim = making->sim;
    const struct nccl_flows *list = &making->list;
    const struct topo_alike *alike = sim->alike;
    if (pairs) {
        return alike != NULL ? topo_alike_class_of(alike, flow->src) * sim->rank_count + flow->dst : flow->src;
    }
    uint32_t channel =
        alike != NULL ? nccl_alike_channel(alike, list->choice.channels, flow->channel, flow->dst) : flow->channel;
    if (making->trees.channels > 0 && flow->dst >= sim->rank_count) { /* a member may act for several */
        return 4 * (NCCL_MAX_CHANNELS * flow->dst + channel) + (flow->reduces ? 1 : 3);
    }
    return 2 * channel + (flow->dst < sim->rank_count && !is_handed_on(list, flow) ? 0 : 1);
}

/* A communicator's own number, from its members: what it says is which connections are not the same. */
static uint32_t communicator_of(const struct nccl_group *group)
{
    uint64_t hash = group->rank_count;
    for (uint32_t i = 0; i < group->rank_count; i++) {
        hash = map_mix(hash ^ group->ranks[i]);
    }
    return (uint32_t)(hash >> 40);
}

/* The queue pair that a flow is sent by. Channels of rings and trees have one each, and send what they have one after
 * the other. Switches are written to in no order, and pairs of ranks exchange one message. */
static uint32_t connection_of(const struct nccl_flow *flow, uint32_t communicator, bool pairs)
{
    bool in_order = !pairs && (flow->connection == NCCL_CONN_RING || flow->connection == NCCL_CONN_PXN_INIT ||
                               flow->connection == NCCL_CONN_TREE);
    return in_order ? 1 + flow->channel + communicator * 2 * NCCL_MAX_CHANNELS : 0;
}

static bool take_over(struct making *making, struct sim *sim, bool pairs)
{
    const struct nccl_flows *list = &making->list;
    struct sim_flow_plan *plan = arena_zalloc(&sim->arena, sizeof *plan);
    uint64_t children = 0;
    for (uint32_t i = 0; i < list->count; i++) {
        children += list->flows[i].child_count;
    }
    making->plan = plan;
    if (plan == NULL) {
        return false;
    }
    const struct timing_message cost = flow_message_cost(sim, list->choice.algo);
    const uint64_t slice = slice_bytes(sim, list, pairs);
    const uint32_t communicator = communicator_of(&making->group);
    plan->start_ns = (uint32_t)(cost.start_us * 1e3 + 0.5);
    plan->count = list->count;
    if (!sim_flows_make_arrays(sim, plan, &making->group, children)) {
        return false;
    }
    uint32_t at = 0;
    for (uint32_t i = 0; i < list->count; i++) {
        const struct nccl_flow *from = &list->flows[i];
        plan->flows[i] = (struct sim_flow){.bytes = bytes_on_links(sim, from, slice, &cost),
                                           .step_ns = flow_step_ns(sim, from, &cost),
                                           .src = sim_flows_node_of(making, from->src),
                                           .dst = sim_flows_node_of(making, from->dst),
                                           .from = plan->ranks[actor_of(making, from->src)],
                                           .line = recv_line(making, from, pairs),
                                           .connection = connection_of(from, communicator, pairs),
                                           .next_in_line = SIM_NONE,
                                           .first_child = at,
                                           .child_count = from->child_count,
                                           .reduces = from->reduces};
        if (from->child_count > 0) {
            memcpy(plan->children + at, list->links + from->children, from->child_count * sizeof *plan->children);
        }
        at += from->child_count;
    }
    if (!sort_by_member(making)) {
        return false;
    }
    if (making->trees.channels > 0) {
        stand_in_trees(making);
    }
    return sim_flows_stand_in_line(making, &making->scratch);
}

/* What NCCL chooses by itself: reductions in the switch for an all-reduce where GPUs and machine can, and where the
 * tree between the servers is no longer than one edge. On more of them a network card carries as much for the trees as
 * for a ring, and the ring needs no switch. Reductions in the network's switches are those of the server's own where
 * there is one server. */
static bool reduces_in_switch(const struct sim *sim, const struct coll_phase *phase, const struct nccl_group *group)
{
    bool chosen = phase->nccl == COLL_NCCL_AUTO && sim->config->has_nvls && phase->type == COLL_ALL_REDUCE;
    return phase->nccl == COLL_NCCL_NVLS || (chosen && group->node_count <= 2) ||
           (phase->nccl == COLL_NCCL_COLLNET && group->node_count == 1 && sim->config->packet != NULL);
}

static struct nccl_choice choice_of(const struct making *making, const struct coll_phase *phase, uint64_t bytes)
{
    enum { PARTS = 64, LEAST = 64 * 1024 };
    struct nccl_choice choice = nccl_choose(&making->job, &making->group, phase->type, bytes);
    if (phase->nccl == COLL_NCCL_TREE) {
        choice.algo = NCCL_TREE;
    }
    if (making->trees.channels > 0) {
        choice.algo = NCCL_COLLNET;
        choice.channels = making->trees.channels;
        choice.trees = &making->trees.list;
    }
    if (choice.algo == NCCL_NVLS || choice.algo == NCCL_NVLS_TREE || choice.algo == NCCL_COLLNET) {
        /* NCCL's are smaller still; what goes up must overlap what comes down. How many matters: on packets an
         * all-reduce of one H100 server reaches 391, 408 and 431 GB/s with 16, 32 and 64. 64 was chosen with the
         * measured figures of one and two servers in view (docs/nccl.md), so that these are no test of it. */
        uint64_t part = bytes / choice.channels / PARTS;
        choice.chunk_bytes = part > LEAST ? part : LEAST;
    }
    return choice;
}

static struct nccl_job flow_plans_job_of(const struct sim *sim)
{
    return (struct nccl_job){.gpus = sim->rank_count,
                             .gpus_per_server = sim->nccl_servers.ranks_each,
                             .switches_per_server = sim->nccl_servers.switches_each,
                             .tp = sim->rank_count,
                             .ep = 1,
                             .has_nvls = true,
                             .pxn = sim->nccl_servers.joined,
                             .as_nccl = true,
                             .alike = sim->alike};
}

/* Looks for trees of the network's switches. Ranks whose server cannot add up what they have, because nothing but the
 * network joins them or because nobody said what a server is, are servers of their own. One server needs no network. */
static enum orr_status find_trees(struct making *making, const uint32_t *ranks, uint32_t count)
{
    const struct sim_servers *servers = &making->sim->nccl_servers;
    const struct packet_machine *machine = making->sim->config->packet;
    struct nccl_group group = {.type = NCCL_GROUP_TP};
    struct nccl_job job = making->job;
    if (machine == NULL) {
        return ORR_OK;
    }
    if (!servers->told || !(servers->meshed || servers->switches_each > 0)) {
        job.gpus_per_server = 1;
        job.switches_per_server = 0;
    }
    enum orr_status status = nccl_group_build(&job, ranks, count, &making->scratch, &group, NULL);
    if (status == ORR_OK && group.node_count > 1) {
        status = sim_switch_trees_find(machine->graph, servers, &job, &group, &making->scratch, &making->trees);
    }
    if (status == ORR_OK && making->trees.channels > 0) {
        making->job = job;
        making->group = group;
    }
    return status;
}

bool sim_flows_has_trees(const struct sim *sim)
{
    struct making making = {.sim = sim, .job = flow_plans_job_of(sim)};
    arena_init(&making.scratch, sim->mem);
    uint32_t *ranks = arena_alloc(&making.scratch, sim->rank_count * sizeof *ranks);
    for (uint32_t i = 0; ranks != NULL && i < sim->rank_count; i++) {
        ranks[i] = i;
    }
    bool refused = ranks == NULL || find_trees(&making, ranks, sim->rank_count) != ORR_OK;
    bool one_server = sim->config->packet != NULL && making.job.switches_per_server > 0 &&
                      making.job.gpus <= making.job.gpus_per_server;
    arena_free(&making.scratch);
    return refused || one_server || making.trees.channels > 0;
}

static enum orr_status build_list(struct making *making, const struct coll_phase *phase)
{
    struct nccl_channels channels;
    struct arena *scratch = &making->scratch;
    const struct topo_alike *alike = making->sim->alike;
    uint32_t count = alike != NULL ? alike->ranks : phase->ring.size;
    uint32_t *ranks = arena_alloc(scratch, count * sizeof *ranks);
    if (ranks == NULL) {
        return ORR_ENOMEM;
    }
    for (uint32_t i = 0; i < count; i++) {
        ranks[i] = phase->ring.members != NULL && alike == NULL ? phase->ring.members[i] : i * phase->ring.stride;
    }
    enum orr_status status = nccl_group_build(&making->job, ranks, count, scratch, &making->group, NULL);
    making->job.nvls = reduces_in_switch(making->sim, phase, &making->group);
    bool chosen = phase->nccl == COLL_NCCL_AUTO && making->sim->config->system.nccl_collnet;
    if (status == ORR_OK && phase->type == COLL_ALL_REDUCE && (phase->nccl == COLL_NCCL_COLLNET || chosen)) {
        status = find_trees(making, ranks, count);
    }
    if (status == ORR_OK) {
        status = nccl_channels_build(&making->job, &making->group, scratch, &channels, NULL);
    }
    if (status != ORR_OK) {
        return status;
    }
    /* An all-gather's size is what a rank gives, here and in ASTRA-sim; what it has at the end in NCCL. */
    uint64_t bytes = phase->type == COLL_ALL_GATHER ? phase->bytes * phase->ring.size : phase->bytes;
    struct nccl_choice choice = choice_of(making, phase, bytes);
    return nccl_flows_build(&making->job, &making->group, &channels, &choice, phase->type, bytes, scratch,
                            &making->list, NULL);
}

const struct sim_flow_plan *sim_flow_plan_make(struct sim *sim, const struct coll_phase *phase)
{
    struct making making = {.sim = sim, .job = flow_plans_job_of(sim), .group = {.type = NCCL_GROUP_TP}};
    arena_init(&making.scratch, sim->mem);
    bool made = build_list(&making, phase) == ORR_OK && take_over(&making, sim, phase->type == COLL_ALL_TO_ALL);
    arena_free(&making.scratch);
    return made ? making.plan : NULL;
}
