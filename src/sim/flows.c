/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A stream that carries out its part of NCCL's list of flows (coll/nccl.h). The list is laid out once per kind of
 * collective and shared by all ranks and chunks; a stream only has counters: how many parents each of its sends still
 * waits for, and which of its receives have come.
 *
 * A receive passes the endpoint, and memory where the data is added up, before the sends that wait for it may go; the
 * first sends pass the endpoint once. Receives are posted in the order of the list, one at a time in each channel, as
 * NCCL's kernels work through a channel. So a stall shows the message that is missing and not all that follow it.
 * That order cannot lock: of the flows not yet received, the one with the lowest number has been sent, because its
 * parents have lower numbers, and is the next to be received in its line. What a rank only hands on to another server
 * stands in a line of its own, as proxies do that for it; and in an all-to-all, where kernels serve their peers side by
 * side, there is a line for each of them. (In one line a rank would hand on what it has when all before it have sent to
 * it, and servers would take turns.)
 *
 * What is sent to an NVLink switch is received, and what the switch sends is sent, on behalf of the switch by the
 * lowest member on its server: the message goes to and from the switch in the network, and the member's stream keeps
 * the count. A switch's receives stand in no line with its member's own, which come later than the next chunks at the
 * switch.
 *
 * Channels may send messages of one size between the same two ranks, and those meet receives in the order of posting,
 * whoever's they are. Hence a receive hears which flow came; when that one had no receive of its own yet, the one that
 * it took is posted again.
 */
#include <stdlib.h>
#include <string.h>

#include "coll/nccl.h"
#include "coll/timing/timing.h"
#include "sim/engine.h"

/* 40 bytes of memory each, and the lists: more would be a machine that the ring serves better. */
enum { MOST_FLOWS = 1 << 28 };

struct sim_flow {
    uint64_t bytes;
    uint32_t src, dst;     /* ranks, or switches by their numbers in the network */
    uint32_t from;         /* the rank that sends it: src, or the one that acts for the switch */
    uint32_t line;         /* in which it is received */
    uint32_t next_in_line; /* what its sender sends when it has arrived; SIM_NONE: nothing */
    uint32_t first_child, child_count;
    uint32_t send_at, recv_at; /* place among the sends of src, among the receives of dst */
    uint32_t step_ns;          /* of the protocol, before what waits for it may go */
    bool reduces;
};

struct sim_flow_plan {
    uint32_t count, member_count;
    uint32_t start_ns; /* of the protocol, before the first send */
    struct sim_flow *flows;
    uint32_t *children;
    const uint32_t *ranks; /* ascending */
    uint32_t *parents;     /* of each send, in the order of `sends` */
    uint32_t *sends, *recvs;
    uint32_t *send_first, *recv_first; /* by member, one more at the end */
};

enum { FLOW_POSTED = 1, FLOW_CAME = 2 };

struct sim_flow_run {
    size_t bytes; /* of this block */
    uint32_t member;
    uint32_t sends_left, recvs_left;
    uint32_t *parents_left; /* by own send */
    uint8_t *state;         /* by own receive: FLOW_… */
};

/* ---- before the run ------------------------------------------------------------------------------------------- */

static enum coll_nccl wanted(const struct sim *sim, enum coll_type type)
{
    return sim->logical[sim_native_of((int32_t)type)][0].impl.nccl;
}

/* Whether the node leaves out a dimension that has more than one rank. */
static bool leaves_out(const struct sim *sim, const struct trace_node *node)
{
    for (uint32_t d = 0; d < sim->config->dims.count; d++) {
        if (sim->config->dims.dim[d].size > 1 && (node->involved_dims >> d & 1) == 0) {
            return true;
        }
    }
    return false;
}

const char *sim_flows_leave_out(const struct sim *sim, const struct trace_node *node, uint32_t group)
{
    bool some = group == SIM_NONE && (node->has & TRACE_HAS_INVOLVED_DIM) != 0 && leaves_out(sim, node);
    return some ? "involved_dim leaves out a dimension, and NCCL's collectives are over all ranks or those of a "
                  "communicator group; give it a pg_name"
                : NULL;
}

const char *sim_flows_refuse(const struct sim *sim, const struct trace_node *node, uint32_t group)
{
    enum coll_type type = (enum coll_type)node->comm_type;
    uint32_t members = group == SIM_NONE ? sim->rank_count : sim->groups[group].group->count;
    const char *why = sim_flows_leave_out(sim, node, group);
    if (why != NULL) {
        return why;
    }
    if (wanted(sim, type) == COLL_NCCL_TREE && type != COLL_ALL_REDUCE) {
        return "NCCL has trees for all-reduce only; use nccl or ncclRing";
    }
    uint32_t each = sim->nccl_servers.ranks_each;
    uint64_t local = each < NCCL_MAX_CHANNELS ? each : NCCL_MAX_CHANNELS;
    uint64_t flows = type == COLL_ALL_TO_ALL ? (uint64_t)members * members : 2 * local * members * members;
    flows /= sim->alike != NULL ? topo_alike_members(sim->alike) : 1;
    if (flows > MOST_FLOWS) {
        return "NCCL's list of flows for so many ranks and channels has more than 2^28 entries; use ring, or give "
               "nccl-gpus-per-server";
    }
    return node->comm_bytes > (UINT64_C(1) << 50) / members ? "a collective of more than 2^50 bytes in all" : NULL;
}

enum orr_status sim_flows_check(const struct sim *sim, struct orr_error *err)
{
    const struct sim_system *system = &sim->config->system;
    for (uint32_t i = 0; i < SIM_NATIVE_COUNT; i++) {
        if (system->implementation[i].count == 0 || system->implementation[i].list[0].algo != COLL_NCCL) {
            continue;
        }
        if (system->shared_bus) {
            return error_set(err, ORR_EINVAL,
                             "the algorithms nccl... do not model the shared bus: remove model-shared-bus or use ring");
        }
        if (system->implementation[i].list[0].nccl == COLL_NCCL_NVLS && sim->nccl_servers.switches_each == 0) {
            enum orr_status status = notes_add(sim->notes, err,
                                               "ncclNvls: the machine has no switches that exactly the %u ranks of a "
                                               "server are on; NCCL's ring is used instead",
                                               sim->nccl_servers.ranks_each);
            if (status != ORR_OK) {
                return status;
            }
        }
    }
    return ORR_OK;
}

/* ---- the plan ------------------------------------------------------------------------------------------------- */

static uint32_t sim_flows_member_of(const struct sim_flow_plan *plan, uint32_t rank)
{
    uint32_t lo = 0;
    uint32_t hi = plan->member_count;
    while (lo + 1 < hi) {
        uint32_t middle = lo + (hi - lo) / 2;
        if (plan->ranks[middle] <= rank) {
            lo = middle;
        } else {
            hi = middle;
        }
    }
    return lo;
}

/* The member that acts for a rank or, in the numbers of the list, for a switch. */
static uint32_t actor_of(const struct sim *sim, const struct sim_flow_plan *plan, uint32_t node)
{
    if (sim->alike != NULL) {
        return topo_alike_class_of(sim->alike, node);
    }
    if (node < sim->rank_count) {
        return sim_flows_member_of(plan, node);
    }
    uint32_t server = (node - sim->rank_count) / sim->nccl_servers.switches_each;
    uint32_t member = sim_flows_member_of(plan, server * sim->nccl_servers.ranks_each);
    return plan->ranks[member] / sim->nccl_servers.ranks_each < server ? member + 1 : member;
}

/* The number in the network of a rank or switch of the list. */
static uint32_t sim_flows_node_of(const struct sim *sim, uint32_t node)
{
    return node < sim->rank_count ? node : sim->nccl_servers.switches[node - sim->rank_count];
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
static bool sort_by_member(const struct sim *sim, struct sim_flow_plan *plan, const struct nccl_flows *list,
                           struct arena *scratch)
{
    const uint64_t *order = sort_by_line(plan, list->choice.algo, scratch);
    if (order == NULL) {
        return false;
    }
    for (uint32_t i = 0; i < plan->count; i++) {
        uint32_t next = (uint32_t)order[i];
        plan->flows[i].send_at = plan->send_first[actor_of(sim, plan, list->flows[i].src) + 1]++;
        plan->flows[next].recv_at = plan->recv_first[actor_of(sim, plan, list->flows[next].dst) + 1]++;
    }
    for (uint32_t m = 0; m < plan->member_count; m++) {
        plan->send_first[m + 1] += plan->send_first[m];
        plan->recv_first[m + 1] += plan->recv_first[m];
    }
    for (uint32_t i = 0; i < plan->count; i++) {
        const struct sim_flow *flow = &plan->flows[i];
        uint32_t sender = actor_of(sim, plan, list->flows[i].src);
        plan->sends[plan->send_first[sender] + flow->send_at] = i;
        plan->recvs[plan->recv_first[actor_of(sim, plan, list->flows[i].dst)] + flow->recv_at] = i;
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
    bool in_switch = algo == NCCL_NVLS || algo == NCCL_NVLS_TREE;
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

/* Lines up what ranks give to switches of their own accord. A flow with one before it has one more to wait for. */
static bool sim_flows_stand_in_line(const struct sim *sim, struct sim_flow_plan *plan, const struct nccl_flows *list,
                                    struct arena *scratch)
{
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
        if (flow->parent_count > 0 || flow->dst < sim->rank_count) {
            continue;
        }
        uint32_t member = sim_flows_member_of(plan, flow->src);
        uint32_t *before = &last[(size_t)member * channels + flow->channel];
        if (*before != SIM_NONE) {
            plan->flows[*before].next_in_line = i;
            plan->parents[plan->send_first[member] + plan->flows[i].send_at]++;
        }
        *before = i;
    }
    return last != NULL;
}

/* What its receiver hands on to another server for its sender (PXN). */
static bool is_handed_on(const struct nccl_flows *list, const struct nccl_flow *flow)
{
    return flow->child_count == 1 && list->flows[list->links[flow->children]].connection == NCCL_CONN_PXN_INIT;
}

/* The line in which a receive stands. Of a channel's one after the other; but what a switch receives, and what is only
 * handed on, waits for nothing of the channel, and sends and receives of pairs are at work side by side. */
static uint32_t recv_line(const struct sim *sim, const struct nccl_flows *list, const struct nccl_flow *flow,
                          bool pairs)
{
    const struct topo_alike *alike = sim->alike;
    if (pairs) {
        return alike != NULL ? topo_alike_class_of(alike, flow->src) * sim->rank_count + flow->dst : flow->src;
    }
    uint32_t channel =
        alike != NULL ? nccl_alike_channel(alike, list->choice.channels, flow->channel, flow->dst) : flow->channel;
    return 2 * channel + (flow->dst < sim->rank_count && !is_handed_on(list, flow) ? 0 : 1);
}

static struct sim_flow_plan *take_over(struct sim *sim, const struct nccl_flows *list, const struct nccl_group *group,
                                       bool pairs, struct arena *scratch)
{
    struct sim_flow_plan *plan = arena_zalloc(&sim->arena, sizeof *plan);
    uint64_t children = 0;
    for (uint32_t i = 0; i < list->count; i++) {
        children += list->flows[i].child_count;
    }
    if (plan == NULL) {
        return NULL;
    }
    const struct timing_message cost = flow_message_cost(sim, list->choice.algo);
    const uint64_t slice = slice_bytes(sim, list, pairs);
    plan->start_ns = (uint32_t)(cost.start_us * 1e3 + 0.5);
    plan->count = list->count;
    if (!sim_flows_make_arrays(sim, plan, group, children)) {
        return NULL;
    }
    uint32_t at = 0;
    for (uint32_t i = 0; i < list->count; i++) {
        const struct nccl_flow *from = &list->flows[i];
        plan->flows[i] = (struct sim_flow){.bytes = bytes_on_links(sim, from, slice, &cost),
                                           .step_ns = flow_step_ns(sim, from, &cost),
                                           .src = sim_flows_node_of(sim, from->src),
                                           .dst = sim_flows_node_of(sim, from->dst),
                                           .from = plan->ranks[actor_of(sim, plan, from->src)],
                                           .line = recv_line(sim, list, from, pairs),
                                           .next_in_line = SIM_NONE,
                                           .first_child = at,
                                           .child_count = from->child_count,
                                           .reduces = from->reduces};
        if (from->child_count > 0) {
            memcpy(plan->children + at, list->links + from->children, from->child_count * sizeof *plan->children);
        }
        at += from->child_count;
    }
    bool sorted = sort_by_member(sim, plan, list, scratch);
    return sorted && sim_flows_stand_in_line(sim, plan, list, scratch) ? plan : NULL;
}

/* What NCCL chooses by itself: reductions in the switch for an all-reduce where GPUs and machine can, and where the
 * tree between the servers is no longer than one edge. On more of them a network card carries as much for the trees as
 * for a ring, and the ring needs no switch. */
static bool reduces_in_switch(const struct sim *sim, const struct coll_phase *phase, const struct nccl_group *group)
{
    bool chosen = phase->nccl == COLL_NCCL_AUTO && sim->config->has_nvls && phase->type == COLL_ALL_REDUCE;
    return phase->nccl == COLL_NCCL_NVLS || (chosen && group->node_count <= 2);
}

static struct nccl_choice choice_of(const struct nccl_job *job, const struct nccl_group *group,
                                    const struct coll_phase *phase, uint64_t bytes)
{
    enum { PARTS = 64, LEAST = 64 * 1024 };
    struct nccl_choice choice = nccl_choose(job, group, phase->type, bytes);
    if (phase->nccl == COLL_NCCL_TREE) {
        choice.algo = NCCL_TREE;
    }
    if (choice.algo == NCCL_NVLS || choice.algo == NCCL_NVLS_TREE) {
        /* NCCL's are smaller still; what goes up must overlap what comes down. How many matters: on packets an
         * all-reduce of one H100 server reaches 391, 408 and 431 GB/s with 16, 32 and 64. 64 was chosen with the
         * measured figures of one and two servers in view (docs/nccl.md), so that these are no test of it. */
        uint64_t part = bytes / choice.channels / PARTS;
        choice.chunk_bytes = part > LEAST ? part : LEAST;
    }
    return choice;
}

static enum orr_status build_list(const struct sim *sim, const struct coll_phase *phase, struct arena *scratch,
                                  struct nccl_group *group, struct nccl_flows *list)
{
    struct nccl_job job = {.gpus = sim->rank_count,
                           .gpus_per_server = sim->nccl_servers.ranks_each,
                           .switches_per_server = sim->nccl_servers.switches_each,
                           .tp = sim->rank_count,
                           .ep = 1,
                           .has_nvls = true,
                           .pxn = sim->nccl_servers.joined,
                           .as_nccl = true,
                           .alike = sim->alike};
    struct nccl_channels channels;
    uint32_t count = sim->alike != NULL ? sim->alike->ranks : phase->ring.size;
    uint32_t *ranks = arena_alloc(scratch, count * sizeof *ranks);
    if (ranks == NULL) {
        return ORR_ENOMEM;
    }
    for (uint32_t i = 0; i < count; i++) {
        ranks[i] = phase->ring.members != NULL && sim->alike == NULL ? phase->ring.members[i] : i * phase->ring.stride;
    }
    enum orr_status status = nccl_group_build(&job, ranks, count, scratch, group, NULL);
    job.nvls = reduces_in_switch(sim, phase, group);
    if (status == ORR_OK) {
        status = nccl_channels_build(&job, group, scratch, &channels, NULL);
    }
    if (status != ORR_OK) {
        return status;
    }
    /* An all-gather's size is what a rank gives, here and in ASTRA-sim; what it has at the end in NCCL. */
    uint64_t bytes = phase->type == COLL_ALL_GATHER ? phase->bytes * phase->ring.size : phase->bytes;
    struct nccl_choice choice = choice_of(&job, group, phase, bytes);
    return nccl_flows_build(&job, group, &channels, &choice, phase->type, bytes, scratch, list, NULL);
}

const struct sim_flow_plan *sim_flow_plan_make(struct sim *sim, const struct coll_phase *phase)
{
    struct arena scratch;
    struct nccl_group group = {.type = NCCL_GROUP_TP};
    struct nccl_flows list;
    arena_init(&scratch, sim->mem);
    struct sim_flow_plan *plan = NULL;
    if (build_list(sim, phase, &scratch, &group, &list) == ORR_OK) {
        plan = take_over(sim, &list, &group, phase->type == COLL_ALL_TO_ALL, &scratch);
    }
    arena_free(&scratch);
    return plan;
}

/* ---- the run -------------------------------------------------------------------------------------------------- */

static void send_flow(struct sim *sim, uint32_t index, const struct sim_flow_plan *plan, uint32_t flow)
{
    const struct sim_stream *stream = &sim->streams.at[index];
    stream->of.flows->sends_left--;
    /* The sender hears of its arrival where something stands in line behind it; the receiver asks for the number. */
    bool heard = plan->flows[flow].next_in_line != SIM_NONE;
    struct sim_party sender = {.kind = heard ? SIM_PARTY_FLOW_SENT : SIM_PARTY_NOBODY, .a = index, .b = flow};
    sim_send(sim, plan->flows[flow].src, plan->flows[flow].dst, stream->tag, plan->flows[flow].bytes, sender);
}

static void post(struct sim *sim, uint32_t index, const struct sim_flow_plan *plan, uint32_t flow)
{
    struct sim_stream *stream = &sim->streams.at[index];
    stream->of.flows->state[plan->flows[flow].recv_at] |= FLOW_POSTED;
    struct sim_party receiver = {.kind = SIM_PARTY_FLOW, .a = index, .b = flow};
    sim_recv(sim, plan->flows[flow].src, plan->flows[flow].dst, stream->tag, plan->flows[flow].bytes, receiver);
}

/* Posts the next receive of a line from place `at` on that has not come yet. */
static void post_from(struct sim *sim, uint32_t index, const struct sim_flow_plan *plan, uint32_t at, uint32_t line)
{
    const struct sim_flow_run *run = sim->streams.at[index].of.flows;
    uint32_t first = plan->recv_first[run->member];
    uint32_t count = plan->recv_first[run->member + 1] - first;
    while (at < count && plan->flows[plan->recvs[first + at]].line == line) {
        if (run->state[at] == 0) {
            post(sim, index, plan, plan->recvs[first + at]);
            return;
        }
        if (run->state[at] == FLOW_POSTED) {
            return; /* one at a time */
        }
        at++;
    }
}

void sim_flows_end(struct sim *sim, struct sim_stream *stream)
{
    struct sim_flow_run *run = stream->of.flows;
    stream->of.flows = NULL;
    if (run != NULL) {
        mem_free(sim->mem, run, run->bytes);
    }
}

static void sim_flows_end_if_done(struct sim *sim, uint32_t index)
{
    struct sim_stream *stream = &sim->streams.at[index];
    if (stream->of.flows->sends_left == 0 && stream->of.flows->recvs_left == 0) {
        sim_flows_end(sim, stream);
        sim_stream_proceed(sim, index);
    }
}

void sim_flows_start(struct sim *sim, uint32_t index)
{
    struct sim_stream *stream = &sim->streams.at[index];
    const struct sim_flow_plan *plan = stream->phase->flows;
    uint32_t member = sim_flows_member_of(plan, stream->rank);
    uint32_t sends = plan->send_first[member + 1] - plan->send_first[member];
    uint32_t recvs = plan->recv_first[member + 1] - plan->recv_first[member];
    size_t bytes = sizeof(struct sim_flow_run) + sends * sizeof(uint32_t) + recvs;
    struct sim_flow_run *run = mem_zalloc(sim->mem, bytes);
    stream->of.flows = run;
    if (run == NULL) {
        sim_fail_memory(sim);
        return;
    }
    *run = (struct sim_flow_run){.bytes = bytes, .member = member, .sends_left = sends, .recvs_left = recvs};
    run->parents_left = (uint32_t *)(run + 1);
    run->state = (uint8_t *)(run->parents_left + sends);
    memcpy(run->parents_left, plan->parents + plan->send_first[member], sends * sizeof *run->parents_left);
    sim_call_after(sim, stream->rank, sim_endpoint_delay(sim, stream) + plan->start_ns, SIM_CALL_FLOW, index, SIM_NONE);
}

static void sim_flows_begin(struct sim *sim, uint32_t index, const struct sim_flow_plan *plan)
{
    const struct sim_flow_run *run = sim->streams.at[index].of.flows;
    for (uint32_t i = plan->send_first[run->member]; i < plan->send_first[run->member + 1]; i++) {
        if (plan->parents[i] == 0) {
            send_flow(sim, index, plan, plan->sends[i]);
        }
    }
    uint32_t first = plan->recv_first[run->member];
    uint32_t count = plan->recv_first[run->member + 1] - first;
    for (uint32_t at = 0; at < count; at++) {
        uint32_t line = plan->flows[plan->recvs[first + at]].line;
        if (at == 0 || line != plan->flows[plan->recvs[first + at - 1]].line) {
            post_from(sim, index, plan, at, line);
        }
    }
}

void sim_flows_call(struct sim *sim, uint32_t index, uint32_t flow)
{
    struct sim_stream *stream = &sim->streams.at[index];
    const struct sim_flow_plan *plan = stream->phase->flows;
    if (flow == SIM_NONE) {
        sim_flows_begin(sim, index, plan);
    } else {
        stream->of.flows->recvs_left--;
        const struct sim_flow *came = &plan->flows[flow];
        for (uint32_t i = 0; i < came->child_count; i++) {
            uint32_t child = plan->children[came->first_child + i];
            if (--stream->of.flows->parents_left[plan->flows[child].send_at] == 0) {
                send_flow(sim, index, plan, child);
            }
        }
    }
    sim_flows_end_if_done(sim, index);
}

void sim_flows_arrived(struct sim *sim, uint32_t index, uint32_t flow)
{
    const struct sim_stream *stream = &sim->streams.at[index];
    const struct sim_flow_plan *plan = stream->phase->flows;
    uint32_t next = plan->flows[flow].next_in_line;
    if (--stream->of.flows->parents_left[plan->flows[next].send_at] == 0) {
        send_flow(sim, index, plan, next);
        sim_flows_end_if_done(sim, index);
    }
}

void sim_flows_received(struct sim *sim, uint32_t index, uint32_t posted, uint32_t came)
{
    struct sim_stream *stream = &sim->streams.at[index];
    const struct sim_flow_plan *plan = stream->phase->flows;
    const struct sim_flow *flow = &plan->flows[came];
    uint8_t *state = &stream->of.flows->state[flow->recv_at];
    bool had_own = (*state & FLOW_POSTED) != 0;
    *state |= FLOW_CAME;
    if (posted != came && !had_own) {
        post(sim, index, plan, posted);
    }
    if (had_own) {
        post_from(sim, index, plan, flow->recv_at + 1, flow->line);
    }
    bool at_rank = flow->dst < sim->rank_count; /* a switch has neither endpoint nor memory */
    uint64_t endpoint_ns = at_rank ? sim_endpoint_delay(sim, stream) : 0;
    uint64_t memory_ns = at_rank && flow->reduces ? sim_memory_pass_ns(sim, flow->bytes) : 0;
    sim_call_after(sim, stream->rank, endpoint_ns + memory_ns + flow->step_ns, SIM_CALL_FLOW, index, came);
}

uint32_t sim_flows_sender(const struct sim *sim, uint32_t index, uint32_t flow)
{
    return sim->streams.at[index].phase->flows->flows[flow].from;
}
