/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How a contest is put together: which links its senders cross, which of them have queues, what lies between. A sender
 * that joins while its message is under way brings its packets along: those that would be past the queues come back to
 * it as they would have, the others arrive.
 */
#include "net/flow/contest.h"

#include "net/flow/contest_buffer.h"
#include "net/packet/wire.h"

enum { DUE_LEAST = 16 };

static void due_free(struct contest *contest)
{
    size_t count = contest->due_capacity;
    mem_free(contest->mem, contest->due, count * sizeof *contest->due);
    mem_free(contest->mem, contest->winners, 2 * count * sizeof *contest->winners);
}

static bool due_grow(struct contest *contest, uint32_t leaves)
{
    struct mem *mem = contest->mem;
    size_t before = contest->due_capacity;
    size_t after = before == 0 ? DUE_LEAST : before;
    while (after < leaves) {
        after *= 2;
    }
    if (after == before) {
        return true;
    }
    struct contest_due *due = mem_alloc(mem, after * sizeof *due);
    struct contest_winner *winners = mem_alloc(mem, 2 * after * sizeof *winners);
    if (due == NULL || winners == NULL) {
        mem_free(mem, due, after * sizeof *due);
        mem_free(mem, winners, 2 * after * sizeof *winners);
        return false;
    }
    for (uint32_t i = 0; i < after; i++) {
        due[i] = i < before ? contest->due[i] : (struct contest_due){.at_ns = UINT64_MAX};
        winners[after + i] = (struct contest_winner){due[i].at_ns, i};
    }
    due_free(contest);
    contest->due = due;
    contest->winners = winners;
    contest->due_capacity = (uint32_t)after;
    for (size_t i = after - 1; i >= 1; i--) {
        winners[i] = contest_first(contest, &winners[2 * i]);
    }
    return true;
}

/* A mark on one packet cuts a rate in half, telemetry and round trips tell much the same on the next packet. */
static bool is_by_marks(const struct contest *contest)
{
    return cc_needs(contest->config, CC_MARKS);
}

bool contest_open(struct contest *contest)
{
    contest->law = cc_law_of(contest->config->cc_mode);
    contest->full_bytes = contest->config->payload_bytes + wire_header_bytes(contest->config);
    contest->free_sender = CONTEST_NONE;
    contest->round_parts = is_by_marks(contest) ? 64 : 32;
    return contest_packets_init(&contest->packets, contest->mem) && due_grow(contest, DUE_LEAST);
}

void contest_close(struct contest *contest)
{
    struct mem *mem = contest->mem;
    for (uint32_t i = 0; i < contest->link_count; i++) {
        mem_free(mem, contest->links[i].coming,
                 (size_t)contest->links[i].coming_capacity * sizeof *contest->links[i].coming);
    }
    mem_free(mem, contest->links, (size_t)contest->link_capacity * sizeof *contest->links);
    mem_free(mem, contest->senders, (size_t)contest->sender_capacity * sizeof *contest->senders);
    mem_free(mem, contest->legs, (size_t)contest->leg_capacity * sizeof *contest->legs);
    mem_free(mem, contest->nodes, (size_t)contest->node_capacity * sizeof *contest->nodes);
    mem_free(mem, contest->ingresses, (size_t)contest->ingress_capacity * sizeof *contest->ingresses);
    mem_free(mem, contest->hops, (size_t)contest->hop_capacity * sizeof *contest->hops);
    due_free(contest);
    contest_packets_free(&contest->packets, mem);
    *contest = (struct contest){0};
}

/* Room for one more of something; its place, or CONTEST_NONE. */
static uint32_t contest_join_add(struct contest *contest, void **items, uint32_t *count, uint32_t *capacity,
                                 size_t item_bytes)
{
    if (*count == *capacity && !mem_reserve(contest->mem, items, capacity, (uint64_t)*count + 1, item_bytes)) {
        contest->failed = true;
        return CONTEST_NONE;
    }
    return (*count)++;
}

static const struct topo_link *wire_of(const struct contest *contest, uint32_t port)
{
    return &contest->graph->links[contest->graph->ports[port].link];
}

/* ---- links ---- */

static uint32_t link_at(struct contest *contest, uint32_t port)
{
    for (uint32_t i = 0; i < contest->link_count; i++) {
        if (contest->links[i].port == port) {
            return i;
        }
    }
    uint32_t at = contest_join_add(contest, (void **)&contest->links, &contest->link_count, &contest->link_capacity,
                                   sizeof *contest->links);
    if (at == CONTEST_NONE || !due_grow(contest, 2 * contest->link_count)) {
        contest->link_count -= at == CONTEST_NONE ? 0 : 1;
        contest->failed = true;
        return CONTEST_NONE;
    }
    uint8_t kind = contest->graph->kinds[contest->graph->ports[port].node];
    uint64_t rate = wire_of(contest, port)->rate_bps;
    contest->links[at] = (struct contest_link){.port = port,
                                               .is_host = kind == TOPO_NODE_HOST,
                                               .rate_bps = rate,
                                               .full_ns = wire_sending_ns(contest->config, contest->full_bytes, rate),
                                               .slower = 1,
                                               .node = CONTEST_NONE,
                                               .rule = control_rule(contest->config, rate),
                                               .marks = contest->config->enable_qcn && kind == TOPO_NODE_SWITCH};
    return at;
}

void contest_set_part(struct contest *contest, uint32_t index, double part)
{
    struct contest_link *link = &contest->links[index];
    uint64_t alone = wire_sending_ns(contest->config, contest->full_bytes, link->rate_bps);
    link->slower = part >= 1 ? 1 : 1 / part;
    link->full_ns = part >= 1 ? alone : (uint64_t)((double)alone * link->slower + 0.5);
}

/* ---- buffers ---- */

static uint64_t headroom_of(const struct contest *contest, uint32_t port)
{
    const struct topo_link *wire = wire_of(contest, port);
    return wire->rate_bps * wire->delay_ns / 8 / UINT64_C(1000000000) * contest->config->headroom_factor;
}

static uint32_t contest_join_node_at(struct contest *contest, uint32_t node)
{
    for (uint32_t i = 0; i < contest->node_count; i++) {
        if (contest->nodes[i].node == node) {
            return i;
        }
    }
    uint32_t at = contest_join_add(contest, (void **)&contest->nodes, &contest->node_count, &contest->node_capacity,
                                   sizeof *contest->nodes);
    if (at == CONTEST_NONE) {
        return at;
    }
    const struct topo_graph *graph = contest->graph;
    uint64_t taken = 0;
    for (uint32_t i = graph->port_start[node]; i < graph->port_start[node + 1]; i++) {
        taken += CONTEST_RESERVE + headroom_of(contest, i);
    }
    contest->nodes[at] = (struct contest_node){.node = node, .room = (uint32_t)(contest->config->buffer_bytes - taken)};
    return at;
}

/* The way into the switch that a link leads to. */
static uint32_t ingress_at(struct contest *contest, uint32_t link)
{
    const struct topo_graph *graph = contest->graph;
    uint32_t port = graph->ports[contest->links[link].port].peer;
    if (graph->kinds[graph->ports[port].node] != TOPO_NODE_SWITCH) {
        return CONTEST_NONE;
    }
    for (uint32_t i = 0; i < contest->ingress_count; i++) {
        if (contest->ingresses[i].port == port) {
            return i;
        }
    }
    uint32_t node = contest_join_node_at(contest, graph->ports[port].node);
    uint32_t at = node == CONTEST_NONE
                      ? CONTEST_NONE
                      : contest_join_add(contest, (void **)&contest->ingresses, &contest->ingress_count,
                                         &contest->ingress_capacity, sizeof *contest->ingresses);
    if (at == CONTEST_NONE) {
        return at;
    }
    uint64_t rate = contest->links[link].rate_bps;
    uint32_t shift = 3;
    for (uint64_t r = rate; r > wire_of(contest, graph->port_start[0])->rate_bps && shift > 0; r /= 2) {
        shift--;
    }
    uint64_t frame = wire_sending_ns(contest->config, wire_pause_bytes(contest->config), rate);
    contest->ingresses[at] = (struct contest_ingress){
        .port = port, .node = node, .link = link, .shift = shift, .frame_ns = frame + wire_of(contest, port)->delay_ns};
    return at;
}

/* ---- senders ---- */

/* The legs of a sender's way. */
static void set_legs(struct contest *contest, uint32_t index, const struct contest_entry *entry)
{
    struct contest_leg *legs = contest_legs(contest, index);
    uint32_t count = 0;
    uint32_t before = contest->senders[index].link;
    struct contest_leg leg = {.delay_ns = wire_of(contest, entry->there[0])->delay_ns};
    for (uint32_t i = 1; i < entry->hops_there; i++) {
        const struct topo_link *wire = wire_of(contest, entry->there[i]);
        if (contest->buffers || entry->is_queue[i]) {
            const struct topo_link *last = wire_of(contest, entry->there[i - 1]);
            leg.last_ns = wire_sending_ns(contest->config, contest->full_bytes, last->rate_bps) + last->delay_ns;
            leg.link = link_at(contest, entry->there[i]);
            leg.ingress = contest->buffers && before != CONTEST_NONE ? ingress_at(contest, before) : CONTEST_NONE;
            before = leg.link;
            if (leg.link == CONTEST_NONE) {
                return;
            }
            if (leg.ingress != CONTEST_NONE) {
                contest->links[leg.link].node = contest->ingresses[leg.ingress].node;
            }
            legs[count++] = leg;
            leg = (struct contest_leg){.delay_ns = wire->delay_ns};
        } else {
            before = CONTEST_NONE;
            leg.delay_ns += wire->delay_ns;
            leg.full_ns += wire_sending_ns(contest->config, contest->full_bytes, wire->rate_bps);
            leg.byte_ns += 8e9 / (double)wire->rate_bps;
        }
    }
    leg.link = CONTEST_NONE;
    leg.ingress = CONTEST_NONE;
    legs[count++] = leg;
    contest->senders[index].leg_count = count;
}

/* Of a full packet, whatever others have of the link: what joins is on its way already, and what is sent later, when
 * others may have less, must not come before it. */
static uint64_t link_alone_ns(const struct contest *contest, uint32_t link)
{
    return wire_sending_ns(contest->config, contest->full_bytes, contest->links[link].rate_bps);
}

/* What is on its way when a message joins. */
static void bring_along(struct contest *contest, uint32_t index, const struct contest_entry *entry)
{
    struct contest_sender *sender = &contest->senders[index];
    uint64_t payload = contest->config->payload_bytes;
    const struct contest_leg *legs = contest_legs(contest, index);
    uint64_t to_queue = link_alone_ns(contest, sender->link) + contest_leg_ns(contest, legs, contest->full_bytes);
    uint64_t round = to_queue + sender->back_ns;
    for (uint32_t i = 1; i < sender->leg_count; i++) {
        round += link_alone_ns(contest, legs[i - 1].link) + contest_leg_ns(contest, &legs[i], contest->full_bytes);
    }
    double fits = (double)round / entry->pace_ns;
    uint64_t count = entry->sent / payload;
    count = fits < (double)count ? (uint64_t)fits : count;
    sender->control.sent = entry->sent;
    sender->control.acked = sender->control.sent - count * payload;
    sender->departed = sender->control.acked;
    for (uint64_t k = count; k >= 1 && !contest->failed; k--) {
        uint64_t age = (uint64_t)((double)k * entry->pace_ns);
        uint32_t taken = contest_packet_take(contest, index);
        struct contest_packet *packet = &contest->packets.at[taken];
        packet->bytes = contest->full_bytes;
        packet->sent_ns = contest->now_ns > age ? contest->now_ns - age : 0;
        packet->end = contest->senders[index].control.sent - (k - 1) * payload;
        if (age < to_queue) {
            packet->at_ns = contest->now_ns + to_queue - age;
            contest_add_coming(contest, legs[0].link, taken);
        } else {
            contest->senders[index].departed = packet->end;
            contest_add_ack(contest, taken, contest->now_ns + (round > age ? round - age : 1));
        }
    }
}

static uint32_t sender_place(struct contest *contest)
{
    uint32_t at = contest->free_sender;
    if (at != CONTEST_NONE) {
        contest->free_sender = contest->senders[at].next;
        return at;
    }
    at = contest_join_add(contest, (void **)&contest->senders, &contest->sender_count, &contest->sender_capacity,
                          sizeof *contest->senders);
    if (at != CONTEST_NONE &&
        (!due_grow(contest, 2 * contest->sender_count) ||
         !mem_reserve(contest->mem, (void **)&contest->legs, &contest->leg_capacity,
                      (uint64_t)contest->sender_count * contest->leg_room, sizeof *contest->legs))) {
        contest->sender_count--;
        contest->failed = true;
        return CONTEST_NONE;
    }
    return at;
}

/* Packets that go as one, at full rate. */
static uint32_t contest_join_group_of(const struct contest *contest, const struct contest_entry *entry,
                                      uint64_t rate_bps)
{
    double most = is_by_marks(contest) ? 2048 : 128; /* in a round trip */
    double held = (double)entry->base_rtt_ns * (double)rate_bps / 8e9 / contest->full_bytes / most;
    return held < 2 ? 1 : held < 1e6 ? (uint32_t)held : 1000000;
}

uint32_t contest_join(struct contest *contest, const struct contest_entry *entry)
{
    uint32_t at = sender_place(contest);
    uint32_t link = at == CONTEST_NONE ? CONTEST_NONE : link_at(contest, entry->there[0]);
    if (link == CONTEST_NONE) {
        return CONTEST_NONE;
    }
    struct contest_sender *sender = &contest->senders[at];
    uint64_t line = contest->links[link].rate_bps;
    *sender = (struct contest_sender){.flow = entry->flow, .link = link, .active = true};
    sender->group = contest_join_group_of(contest, entry, line);
    sender->control = (struct control_sender){.size = entry->size,
                                              .window = entry->window,
                                              .base_rtt_ns = entry->base_rtt_ns == 0 ? 1 : entry->base_rtt_ns,
                                              .line_bps = line};
    control_sender_start(&sender->control, contest->law, contest->config);
    set_legs(contest, at, entry);
    for (uint32_t i = 0; i < entry->hops_back; i++) {
        const struct topo_link *wire = wire_of(contest, entry->back[i]);
        sender->back_last_ns =
            wire_sending_ns(contest->config, wire_ack_bytes(contest->config), wire->rate_bps) + wire->delay_ns;
        sender->back_ns += sender->back_last_ns;
    }
    contest->active_count++;
    if (contest->failed) {
        return CONTEST_NONE;
    }
    if (entry->sent > 0) {
        bring_along(contest, at, entry);
    }
    const struct contest_due now = {contest->now_ns, contest->now_ns, contest->order++};
    contest_due_by(contest, contest_leaf_of_sender(at), now);
    return at;
}

void contest_leave(struct contest *contest, uint32_t index)
{
    struct contest_sender *sender = &contest->senders[index];
    if (!sender->active) {
        return;
    }
    sender->active = false;
    contest->active_count--;
    if (sender->pending == 0) {
        sender->next = contest->free_sender;
        contest->free_sender = index;
    }
}
