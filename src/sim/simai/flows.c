/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Collectives as flows that wait for each other. A flow is inserted when its parents have been received and its source
 * has come to the collective; it then crosses the memory bus, is ready, and is sent. It is received when the network
 * says that it has arrived and the receiver awaits it (plan.c). A rank is done with a collective when all its flows
 * have left and all that come to it have been received.
 */
#include <string.h>

#include "sim/simai/engine.h"

static const struct nccl_group *group_of(const struct simai *simai, const struct simai_coll *coll)
{
    return &simai->groups[coll->group].nccl;
}

static struct simai_member *simai_flows_member_of(const struct simai *simai, const struct simai_coll *coll,
                                                  uint32_t node)
{
    const struct nccl_group *group = group_of(simai, coll);
    return &coll->members[node < simai->rank_count ? simai->place_of[group->type][node]
                                                   : simai_plan_member(group, node)];
}

/* ---- making and ending ---- */

static uint32_t simai_flows_member_count(const struct simai *simai, const struct simai_coll *coll)
{
    const struct nccl_group *group = group_of(simai, coll);
    return group->rank_count + group->switch_count;
}

static void free_twins(struct simai *simai, struct net_twins *twins)
{
    if (twins != NULL) {
        if (simai->net.state != NULL) {
            simai->net.ops->count_twins(&simai->net, twins);
        }
        mem_free(simai->mem, twins->carried, (size_t)twins->places * sizeof *twins->carried);
        mem_free(simai->mem, (void *)(uintptr_t)twins->ports, (size_t)twins->count * sizeof *twins->ports);
        mem_free(simai->mem, twins, sizeof *twins);
    }
}

void simai_coll_free(struct simai *simai, uint32_t index)
{
    struct simai_coll *coll = &simai->colls.at[index];
    struct simai_plan *plan = coll->plan;
    uint32_t *at = &simai->groups[coll->group].colls;
    while (*at != index) {
        at = &simai->colls.at[*at].next;
    }
    *at = coll->next;
    mem_free(simai->mem, coll->members, (size_t)simai_flows_member_count(simai, coll) * sizeof *coll->members);
    mem_free(simai->mem, coll->early, (size_t)coll->early_capacity * sizeof *coll->early);
    free_twins(simai, coll->twins);
    if (plan != NULL) {
        mem_free(simai->mem, coll->flow_state, ((size_t)plan->flows.count + 1) * sizeof *coll->flow_state);
        mem_free(simai->mem, coll->rounds, (size_t)plan->members * plan->channels * sizeof *coll->rounds);
        simai_plan_give(&simai->plans, plan);
    }
    simai_colls_give(&simai->colls, index);
}

enum orr_status simai_group_channels(struct simai *simai, struct simai_group *group, struct orr_error *err)
{
    if (group->has_channels) {
        return ORR_OK;
    }
    group->has_channels = true;
    return nccl_channels_build(&simai->config->job, &group->nccl, &simai->arena, &group->channels, err);
}

static bool fill_coll(struct simai *simai, struct simai_coll *coll)
{
    const struct simai_plan *plan = coll->plan;
    coll->flow_state = mem_alloc(simai->mem, ((size_t)plan->flows.count + 1) * sizeof *coll->flow_state);
    coll->rounds = mem_zalloc(simai->mem, (size_t)plan->members * plan->channels * sizeof *coll->rounds);
    if (coll->flow_state == NULL || coll->rounds == NULL) {
        return false; /* the collective is freed with the run */
    }
    for (uint32_t i = 0; i < plan->flows.count; i++) {
        coll->flow_state[i] = plan->flows.flows[i].parent_count;
    }
    for (uint32_t i = 0; i < plan->members; i++) {
        struct simai_member *member = &coll->members[i];
        member->sends_left = plan->own_start[i + 1] - plan->own_start[i];
        member->recvs_left = plan->recvs[i];
    }
    return true;
}

static const struct simai_op *simai_flows_op_at(const struct simai *simai, uint32_t rank, uint32_t op)
{
    return simai->only_op != NULL ? simai->only_op : &simai->ops[simai_stage_of(simai, rank)].at[op];
}

const struct simai_op *simai_coll_op(const struct simai *simai, const struct simai_coll *coll)
{
    return simai_flows_op_at(simai, group_of(simai, coll)->ranks[0], coll->op);
}

const struct simai_cell *simai_coll_cell(const struct simai *simai, const struct simai_coll *coll)
{
    const struct simai_op *op = simai_coll_op(simai, coll);
    return &simai->config->program->rows[op->row].cells[op->phase];
}

bool simai_coll_open(struct simai *simai, uint32_t index)
{
    struct simai_coll *coll = &simai->colls.at[index];
    struct simai_group *group = &simai->groups[coll->group];
    const struct simai_cell *cell = simai_coll_cell(simai, coll);
    enum orr_status status = simai_group_channels(simai, group, &simai->failure);
    if (status == ORR_OK) {
        coll->plan = simai_plan_take(&simai->plans, &simai->config->job, group, coll->group, cell->type, cell->bytes,
                                     &simai->failure);
    }
    if (coll->plan != NULL && fill_coll(simai, coll)) {
        return true;
    }
    if (coll->plan != NULL) {
        (void)mem_error(simai->mem, "a collective", &simai->failure);
    }
    simai_fail(simai);
    return false;
}

/* Not opened yet. */
static uint32_t make_coll(struct simai *simai, uint32_t group_index, uint32_t op)
{
    struct simai_group *group = &simai->groups[group_index];
    uint32_t index = simai_colls_take(&simai->colls, simai->mem, &simai->queue.failed);
    struct simai_coll *coll = &simai->colls.at[index];
    size_t members = (size_t)group->nccl.rank_count + group->nccl.switch_count;
    if (index != 0) {
        *coll = (struct simai_coll){.group = group_index, .op = op, .ranks_left = group->nccl.rank_count};
        coll->members = mem_zalloc(simai->mem, members * sizeof *coll->members);
    }
    if (index == 0 || coll->members == NULL) {
        (void)mem_error(simai->mem, "a collective", &simai->failure);
        simai_colls_give(&simai->colls, index);
        simai_fail(simai);
        return 0;
    }
    for (size_t i = group->nccl.rank_count; i < members; i++) {
        coll->members[i].started = true; /* switches are always there */
    }
    coll->next = group->colls;
    group->colls = index;
    simai->result.collectives++;
    return index;
}

uint32_t simai_coll_join(struct simai *simai, uint32_t rank, uint32_t op_index, uint32_t part)
{
    const struct simai_op *op = simai_flows_op_at(simai, rank, op_index);
    const struct simai_cell *cell = &simai->config->program->rows[op->row].cells[op->phase];
    uint32_t group = simai->group_of[cell->group][rank];
    uint32_t index = simai->groups[group].colls;
    while (index != 0 && simai->colls.at[index].op != op_index) {
        index = simai->colls.at[index].next;
    }
    if (index == 0) {
        index = make_coll(simai, group, op_index);
        bool is_timed = simai->config->run->timing != NULL;
        if (index == 0 || (!simai->gathers && !is_timed && !simai_coll_open(simai, index))) {
            return 0;
        }
    }
    simai_flows_member_of(simai, &simai->colls.at[index], rank)->part = part;
    return index;
}

/* ---- a flow's way ---- */

/*
 * What a message waits for before it is ready. SimAI sends the messages of a channel in rounds of one more than it has
 * neighbours in the dimension; all but a round's first are reduced, in a reduce-scatter always, in an all-reduce when
 * the rank's toggle stands so, which every round of every channel turns. With an even number of channels that is hardly
 * ever the case.
 */
static uint64_t bus_ns(const struct simai *simai, struct simai_coll *coll, const struct nccl_flow *flow)
{
    const struct simai_op *op = simai_coll_op(simai, coll);
    struct simai_member *member = simai_flows_member_of(simai, coll, flow->src);
    uint32_t place = (uint32_t)(member - coll->members);
    uint32_t *left = &coll->rounds[(size_t)place * coll->plan->channels + flow->channel];
    uint32_t ring = op->phase == SIMAI_WG ? simai->config->nodes / simai->config->job.tp : simai->config->job.tp;
    bool first = *left == 0;
    if (first) {
        *left = ring > 1 ? ring : 2;
        member->reduces = !member->reduces;
    }
    (*left)--;
    bool all_reduce = coll->plan->type == COLL_ALL_REDUCE && coll->plan->flows.choice.algo != NCCL_NVLS;
    bool reduced = coll->plan->type == COLL_REDUCE_SCATTER || (all_reduce && member->reduces);
    return SIMAI_BUS_NS + (reduced && !first ? SIMAI_REDUCTION_NS : 0);
}

/* Begins its way over the bus at that time. */
static void insert(struct simai *simai, uint32_t coll_index, uint32_t flow, uint64_t at_ns)
{
    struct simai_coll *coll = &simai->colls.at[coll_index];
    const struct nccl_flow *one = &coll->plan->flows.flows[flow];
    uint32_t message = simai_messages_take(&simai->messages, simai->mem, &simai->queue.failed);
    simai->messages.at[message] = (struct simai_message){
        .coll = coll_index,
        .flow = flow,
        .src = one->src,
        .dst = one->dst,
    };
    coll->flow_state[flow] |= SIMAI_FLOW_INSERTED;
    (void)event_queue_push(&simai->queue, at_ns + bus_ns(simai, coll, one), SIMAI_EVENT_READY, message, 0);
}

void simai_coll_end_member(struct simai *simai, uint32_t coll_index, uint32_t place)
{
    struct simai_member *member = &simai->colls.at[coll_index].members[place];
    uint32_t part = member->part;
    if (part == 0) {
        simai_part_ways(simai); /* a follower's rank has not come, or the collective is over for it */
        return;
    }
    member->part = 0;
    if (simai->recall.done != NULL) {
        simai_recall_done(simai, place);
    } else {
        simai_part_done(simai, part);
    }
    if (--simai->colls.at[coll_index].ranks_left == 0) {
        simai_coll_free(simai, coll_index);
    }
}

/* Done when nothing is left to send or receive; a rank without flows is done by default, and never in SimAI. What one
 * does its followers do. */
static void simai_flows_end_if_done(struct simai *simai, uint32_t coll_index, const struct simai_member *member)
{
    if (!member->started || member->part == 0 || member->sends_left > 0 || member->recvs_left > 0) {
        return;
    }
    uint32_t place = (uint32_t)(member - simai->colls.at[coll_index].members);
    uint32_t follower = simai->colls.at[coll_index].followers;
    while (follower != 0) {
        uint32_t next = simai->colls.at[follower].next_follower;
        simai_coll_end_member(simai, follower, place);
        follower = next;
    }
    simai_coll_end_member(simai, coll_index, place);
}

void simai_coll_begin(struct simai *simai, uint32_t coll_index, uint32_t place, uint64_t at_ns)
{
    const struct simai_coll *coll = &simai->colls.at[coll_index];
    const struct simai_plan *plan = coll->plan;
    for (uint32_t i = plan->own_start[place]; i < plan->own_start[place + 1]; i++) {
        uint32_t flow = plan->own[i];
        const struct nccl_flow *one = &plan->flows.flows[flow];
        bool in_line = one->parent_count == 0 && one->chunk > 0;
        if ((coll->flow_state[flow] & ~SIMAI_FLOW_AWAITED) == 0 && !in_line) {
            insert(simai, coll_index, flow, at_ns);
        }
    }
    bool idle = plan->own_start[place] == plan->own_start[place + 1] && plan->recvs[place] == 0;
    if (!idle || !simai->config->compat) {
        simai_flows_end_if_done(simai, coll_index, &simai->colls.at[coll_index].members[place]);
    }
}

void simai_coll_start(struct simai *simai, uint32_t coll_index, uint32_t rank)
{
    const struct simai_coll *coll = &simai->colls.at[coll_index];
    struct simai_member *member = simai_flows_member_of(simai, coll, rank);
    uint32_t place = (uint32_t)(member - coll->members);
    member->started = true;
    if (simai->config->run->timing != NULL) {
        simai_timed_start(simai, coll_index);
    } else if (simai_recall_takes(simai, coll_index)) {
        simai_recall_start(simai, coll_index, place);
    } else if (simai->gathers) {
        simai_gather_later(simai, coll_index, place);
    } else {
        simai_coll_begin(simai, coll_index, place, simai->queue.now);
    }
}

/* The receiver has it. */
static void receive(struct simai *simai, uint32_t coll_index, uint32_t flow)
{
    struct simai_coll *coll = &simai->colls.at[coll_index];
    const struct nccl_flow *one = &coll->plan->flows.flows[flow];
    const uint32_t *children = coll->plan->flows.links + one->children;
    struct simai_member *member = simai_flows_member_of(simai, coll, one->dst);
    member->recvs_left--;
    for (uint32_t i = 0; i < one->child_count; i++) {
        uint32_t *state = &coll->flow_state[children[i]];
        *state -= 1; /* one parent less */
        if ((*state & SIMAI_FLOW_PARENTS) == 0 && (*state & SIMAI_FLOW_INSERTED) == 0 &&
            simai_flows_member_of(simai, coll, coll->plan->flows.flows[children[i]].src)->started) {
            insert(simai, coll_index, children[i], simai->queue.now);
        }
    }
    simai_flows_end_if_done(simai, coll_index, member);
}

/* What lies there because this flow was not ready. The collective outlives this: its flow has not left yet. */
static void take_early(struct simai *simai, uint32_t coll_index, uint32_t poster)
{
    struct simai_coll *coll = &simai->colls.at[coll_index];
    uint32_t kept = 0;
    uint32_t taken = 0;
    for (uint32_t i = 0; i < coll->early_count; i++) {
        uint32_t flow = coll->early[i];
        bool is_awaited = coll->plan->poster[flow] == poster;
        coll->early[kept] = flow;
        kept += is_awaited ? 0 : 1;
        taken += is_awaited ? 1 : 0;
        if (is_awaited) {
            receive(simai, coll_index, flow);
            coll = &simai->colls.at[coll_index]; /* the pool may have moved */
        }
    }
    coll->early_count -= taken;
}

static uint64_t simai_flows_bytes_of(const struct simai *simai, const struct simai_message *message)
{
    const struct simai_program *program = simai->config->program;
    uint64_t bytes = message->coll == SIMAI_NO_COLL
                         ? program->stage_bytes
                         : simai->colls.at[message->coll].plan->flows.flows[message->flow].bytes;
    return bytes == 0 ? 1 : bytes; /* spec packet B6 */
}

void simai_message_ready(struct simai *simai, uint32_t index)
{
    struct simai_message message = simai->messages.at[index];
    if (message.coll != SIMAI_NO_COLL) {
        struct simai_coll *coll = &simai->colls.at[message.coll];
        uint32_t *state = &coll->flow_state[message.flow];
        *state |= SIMAI_FLOW_READY;
        if ((*state & SIMAI_FLOW_AWAITED) != 0) {
            *state &= ~SIMAI_FLOW_AWAITED;
            take_early(simai, message.coll, message.flow);
        }
    }
    uint64_t bytes = simai_flows_bytes_of(simai, &message);
    const struct net_twins *twins = message.coll == SIMAI_NO_COLL ? NULL : simai->colls.at[message.coll].twins;
    uint64_t alike = UINT64_C(1) + (twins == NULL ? 0 : twins->count);
    simai->run.messages += alike;
    simai->result.flow_bytes += alike * bytes;
    simai->net.twins = twins;
    net_send(&simai->net, index, message.src, message.dst, bytes, 1.0);
}

/* The next of those that go out one after the other. */
static void simai_flows_next_in_line(struct simai *simai, uint32_t coll_index, const struct nccl_flow *sent)
{
    const struct simai_coll *coll = &simai->colls.at[coll_index];
    const struct simai_plan *plan = coll->plan;
    uint32_t place = (uint32_t)(simai_flows_member_of(simai, coll, sent->src) - coll->members);
    for (uint32_t i = plan->own_start[place]; i < plan->own_start[place + 1]; i++) {
        const struct nccl_flow *one = &plan->flows.flows[plan->own[i]];
        if (one->parent_count == 0 && one->channel == sent->channel && one->dst == sent->dst && one->chunk > 0 &&
            (coll->flow_state[plan->own[i]] & SIMAI_FLOW_INSERTED) == 0) {
            insert(simai, coll_index, plan->own[i], simai->queue.now);
            return;
        }
    }
}

static void free_if_over(struct simai *simai, uint32_t index)
{
    const struct simai_message *message = &simai->messages.at[index];
    if (message->arrived && message->departed) {
        simai_messages_give(&simai->messages, index);
    }
}

static void count_sent(struct simai *simai, const struct simai_message *message)
{
    if (message->coll == SIMAI_NO_COLL || !simai_is_counted_sent(simai->config, simai_flows_bytes_of(simai, message))) {
        return;
    }
    struct simai_coll *coll = &simai->colls.at[message->coll];
    const struct nccl_flow *flow = &coll->plan->flows.flows[message->flow];
    struct simai_member *member = simai_flows_member_of(simai, coll, flow->src);
    member->sends_left--;
    if (coll->plan->in_line && flow->parent_count == 0) {
        simai_flows_next_in_line(simai, message->coll, flow);
    }
    simai_flows_end_if_done(simai, message->coll, member);
}

void simai_message_sent(struct simai *simai, uint32_t index)
{
    struct simai_message message = simai->messages.at[index];
    count_sent(simai, &message);
    free_if_over(simai, index);
}

void simai_message_departed(struct simai *simai, uint32_t index, uint64_t at_ns)
{
    struct simai_message *message = &simai->messages.at[index];
    if (!message->departed) {
        message->departed = true;
        (void)event_queue_push(&simai->queue, at_ns, SIMAI_EVENT_SENT, index, 0);
    }
}

static void keep_early(struct simai *simai, struct simai_coll *coll, uint32_t flow)
{
    if (mem_reserve(simai->mem, (void **)&coll->early, &coll->early_capacity, (uint64_t)coll->early_count + 1,
                    sizeof *coll->early)) {
        coll->early[coll->early_count++] = flow;
    } else {
        simai->queue.failed = true;
    }
}

void simai_message_arrived(void *context, uint32_t index)
{
    struct simai *simai = context;
    simai->messages.at[index].arrived = true;
    struct simai_message message = simai->messages.at[index];
    simai->result.last_flow_ns = simai->queue.now;
    if (!message.departed) {
        simai->messages.at[index].departed = true; /* this network does not tell */
        count_sent(simai, &message);
    }
    if (message.coll == SIMAI_NO_COLL) {
        simai_stage_arrived(simai, message.dst, message.flow == 1);
    } else {
        struct simai_coll *coll = &simai->colls.at[message.coll];
        uint32_t poster = coll->plan->poster[message.flow];
        if (poster == SIMAI_NO_FLOW || (coll->flow_state[poster] & SIMAI_FLOW_READY) != 0) {
            receive(simai, message.coll, message.flow);
        } else {
            coll->flow_state[poster] |= SIMAI_FLOW_AWAITED;
            keep_early(simai, coll, message.flow);
        }
    }
    free_if_over(simai, index);
}

void simai_stage_send(struct simai *simai, uint32_t src, uint32_t dst, bool ahead)
{
    uint32_t message = simai_messages_take(&simai->messages, simai->mem, &simai->queue.failed);
    simai->messages.at[message] = (struct simai_message){
        .coll = SIMAI_NO_COLL,
        .flow = ahead ? 1 : 0,
        .src = src,
        .dst = dst,
    };
    (void)event_queue_push(&simai->queue, simai->queue.now + SIMAI_BUS_NS, SIMAI_EVENT_READY, message, 0);
}

/* It takes a packet of 61 to 8999 bytes that leaves for it (spec packet B6). */
bool simai_is_counted_sent(const struct simai_config *config, uint64_t bytes)
{
    const struct packet_config *network = config->machine->config;
    uint64_t header = network->link_header_bytes + UINT64_C(34) + network->long_seq_bytes;
    uint64_t payload = network->payload_bytes;
    uint64_t last = bytes % payload == 0 ? payload : bytes % payload;
    uint64_t full = bytes >= payload ? payload : last;
    return !config->compat || (last + header > 60 && last + header < 9000) ||
           (full + header > 60 && full + header < 9000);
}
