/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hosts: queue pairs that send within a window at a pace, and a receiver that acknowledges (spec packet A6). A port
 * serves acknowledgements first, then its queue pairs in turn (turns.c).
 */
#include <string.h>

#include "net/packet/engine.h"
#include "net/packet/wire.h"
#include "topo/way.h"

enum { NACK_PERIOD_NS = 500000, NIC_PAUSE_NS = 10000, NIC_PAUSE_PERIOD_NS = 1010000 };

static bool is_finished(const struct packet_pair *pair)
{
    return pair->acked >= pair->size;
}

/* A span of packets is over: whether it got anywhere. */
static bool was_in_vain(struct packet_net *network, const struct packet_pair *pair)
{
    uint64_t now = network->net->queue->now;
    uint64_t got = network->span_bytes / network->config->payload_bytes;
    if (now - network->span_ns <= packet_patience_ns(network, pair)) {
        return false; /* it grows until it is long enough */
    }
    bool in_vain = got < network->span_sent / PACKET_LIVELOCK_SHARE;
    network->span_ns = now;
    network->span_sent = 0;
    network->span_bytes = 0;
    return in_vain;
}

/* What is sent again and again and does not get through would keep a run going for ever. A link that comes back may end
 * that. */
static void packet_nic_count_sent(struct packet_net *network, const struct packet_pair *pair)
{
    network->sent_since++;
    network->span_sent++;
    bool stands = network->sent_since > PACKET_LIVELOCK_SENT &&
                  network->net->queue->now - network->progress_ns > packet_patience_ns(network, pair);
    bool crawls = network->span_sent >= PACKET_LIVELOCK_SPAN && was_in_vain(network, pair);
    if ((stands || crawls) && packet_next_change(network) == UINT64_MAX) {
        network->is_livelocked = true;
    }
}

static void progress(struct packet_net *network, uint64_t bytes)
{
    network->progress_ns = network->net->queue->now;
    network->sent_since = 0;
    network->span_bytes += bytes;
    network->net->moved_bytes += (double)bytes;
}

static uint32_t make_data(struct packet_net *network, uint32_t pair_index)
{
    uint32_t packet = packet_new(network);
    struct packet *data = &network->packets.at[packet];
    struct packet_pair *pair = &network->pairs.at[pair_index];
    const struct packet_config *config = network->config;
    uint64_t left = packet_bytes_left(pair);
    uint32_t length = left < config->payload_bytes ? (uint32_t)left : config->payload_bytes;
    data->pair = pair_index;
    data->kind = PACKET_DATA;
    data->seq = pair->sent;
    data->size = (length + network->data_header) & PACKET_SIZE_MOST;
    data->way = pair->way + 1;
    packet_tag(network, packet);
    pair->sent += length;
    pair->holders++;
    network->counts.data_packets++;
    packet_nic_count_sent(network, pair);
    return packet;
}

/* With nothing to send now, wakes the port when the first pair may send again. */
static void arm_timer(struct packet_net *network, uint32_t port_index)
{
    struct packet_port *port = &network->ports[port_index];
    struct event_queue *queue = network->net->queue;
    if (port->has_timer) {
        return;
    }
    uint64_t at = packet_turns_wake_ns(network, port);
    if (at != UINT64_MAX) {
        port->has_timer = 1;
        port->timer_at = at;
        (void)event_queue_push(queue, at, NET_EVENT_PACKET_TIMER, port_index, ++port->timer_stamp);
    }
}

void packet_nic_go(struct packet_net *network, uint32_t port_index)
{
    struct packet_port *port = &network->ports[port_index];
    uint8_t ack_class = network->config->ack_high_prio ? 0 : PACKET_CLASS;
    if (port->high.head != 0 && (port->paused & (1u << ack_class)) == 0) {
        packet_transmit(network, port_index, packet_line_take(network, &port->high));
        return;
    }
    uint32_t pair_index = packet_turns_next(network, port);
    if (pair_index == 0) {
        arm_timer(network, port_index);
        return;
    }
    uint32_t packet = make_data(network, pair_index);
    packet_transmit(network, port_index, packet);
    struct packet_pair *pair = &network->pairs.at[pair_index];
    pair->last_size = network->packets.at[packet].size;
    uint64_t rate = network->config->rate_bound ? pair->rate_bps : pair->max_rate_bps;
    uint64_t pace = rate == port->rate_bps ? packet_port_sending_ns(network, port, pair->last_size)
                                           : packet_sending_ns(network, pair->last_size, rate);
    pair->next_at = network->net->queue->now + pace;
    if (pair->sent >= pair->size && !pair->has_left) {
        packet_pair_left(network, pair_index);
    }
    if (pair->sent >= pair->size && network->machine->departed != NULL) {
        network->machine->departed(network->machine->departed_context, pair->message,
                                   network->net->queue->now + packet_port_sending_ns(network, port, pair->last_size));
    }
}

void packet_nic_timer(struct packet_net *network, uint32_t port_index, uint32_t stamp)
{
    struct packet_port *port = &network->ports[port_index];
    if (port->timer_stamp == stamp) {
        port->has_timer = 0;
        packet_port_go(network, port_index);
    }
}

void packet_pair_change_rate(struct packet_net *network, struct packet_pair *pair, uint64_t rate_bps)
{
    struct packet_port *port = &network->ports[pair->port];
    struct event_queue *queue = network->net->queue;
    uint64_t before = packet_sending_ns(network, pair->last_size, pair->rate_bps);
    uint64_t after = packet_sending_ns(network, pair->last_size, rate_bps);
    pair->next_at += after - before; /* modulo 2^64: it may become earlier */
    if (port->has_timer && pair->next_at < port->timer_at) {
        port->timer_at = pair->next_at < queue->now ? queue->now : pair->next_at;
        (void)event_queue_push(queue, port->timer_at, NET_EVENT_PACKET_TIMER, pair->port, ++port->timer_stamp);
    }
    pair->rate_bps = rate_bps;
    packet_turns_reopen(network, pair);
}

/* ---- receiving ---- */

static void packet_nic_send_frame(struct packet_net *network, uint32_t port_index, enum packet_kind kind)
{
    uint32_t packet = packet_new(network);
    struct packet *frame = &network->packets.at[packet];
    frame->kind = (uint32_t)kind & PACKET_KIND_MOST;
    frame->pair = PACKET_CLASS;
    frame->size = network->pause_size & PACKET_SIZE_MOST;
    mrg32k3a_streams_skip(&network->streams); /* the reference draws the frame's identification */
    packet_line_add(network, &network->ports[port_index].high, packet);
    packet_port_go(network, port_index);
}

/* The port that the receiver's packets of this pair leave by; UINT32_MAX when no way is left. */
static uint32_t answer_port(struct packet_net *network, const struct packet *answer)
{
    const struct packet_pair *pair = &network->pairs.at[answer->pair];
    return network->hop_by_hop ? packet_route(network, pair->dst, answer)
                               : network->ways[pair->way + network->way_room / 2];
}

/* The artificial pauses of NIC_TOTAL_PAUSE_TIME: a frame to the switch now, and its end ten microseconds later, by the
 * port that the acknowledgement takes. A host's are counted together, at its first port. */
static void pause_switch(struct packet_net *network, uint32_t node, uint32_t pair)
{
    struct packet_port *first = &network->ports[network->graph->port_start[node]];
    struct event_queue *queue = network->net->queue;
    const struct packet answer = {.kind = PACKET_ACK, .pair = pair};
    if (first->nic_pauses >= network->config->nic_total_pause || queue->now < first->next_nic_pause) {
        return;
    }
    uint32_t out = answer_port(network, &answer);
    if (out != UINT32_MAX) {
        first->nic_pauses++;
        first->next_nic_pause = queue->now + NIC_PAUSE_PERIOD_NS;
        (void)event_queue_push(queue, queue->now + NIC_PAUSE_NS, NET_EVENT_PACKET_RESUME, out, 0);
        packet_nic_send_frame(network, out, PACKET_PAUSE);
    }
}

void packet_nic_resume(struct packet_net *network, uint32_t port_index)
{
    packet_nic_send_frame(network, port_index, PACKET_RESUME);
}

void packet_nic_answer(struct packet_net *network, uint32_t packet)
{
    struct packet *answer = &network->packets.at[packet];
    const struct packet_pair *pair = &network->pairs.at[answer->pair];
    uint32_t back = pair->way + network->way_room / 2;
    answer->size = network->ack_size & PACKET_SIZE_MOST;
    answer->way = back + 1;
    uint32_t out = answer_port(network, answer);
    if (out == UINT32_MAX) {
        network->counts.drops++;
        packet_drop(network, packet);
        return;
    }
    packet_line_add(network, &network->ports[out].high, packet);
    packet_port_go(network, out);
}

static void acknowledge(struct packet_net *network, uint32_t packet, enum packet_kind kind)
{
    struct packet *ack = &network->packets.at[packet];
    struct packet_pair *pair = &network->pairs.at[ack->pair];
    ack->kind = (uint32_t)kind & PACKET_KIND_MOST;
    ack->seq = pair->expected;
    packet_nic_answer(network, packet);
}

/* ---- packets in any order ---- */

static size_t early_bytes(const struct packet_net *network, const struct packet_pair *pair)
{
    uint64_t packets = pair->size / network->config->payload_bytes + 1;
    return (size_t)(packets / 64 + 1) * sizeof *pair->early;
}

void packet_early_free(struct packet_net *network, struct packet_pair *pair)
{
    if (pair->early != NULL) {
        mem_free(network->net->mem, pair->early, early_bytes(network, pair));
        pair->early = NULL;
    }
}

/* What comes before its turn is remembered, so that nothing but a loss is sent twice; all are acknowledged. */
static void data_in_any_order(struct packet_net *network, uint32_t packet)
{
    const struct packet *data = &network->packets.at[packet];
    struct packet_pair *pair = &network->pairs.at[data->pair];
    uint64_t payload = network->config->payload_bytes;
    if (data->seq == pair->expected) {
        pair->expected += packet_payload(network, data);
        for (uint64_t n = pair->expected / payload;
             pair->early != NULL && pair->expected < pair->size && (pair->early[n / 64] >> n % 64 & 1) != 0; n++) {
            uint64_t left = pair->size - pair->expected;
            pair->expected += left < payload ? left : payload;
        }
    } else if (data->seq > pair->expected && !pair->finished) {
        if (pair->early == NULL) {
            pair->early = mem_zalloc(network->net->mem, early_bytes(network, pair));
        }
        if (pair->early == NULL) {
            network->net->queue->failed = true;
        } else {
            uint64_t n = data->seq / payload;
            pair->early[n / 64] |= UINT64_C(1) << n % 64;
        }
    }
    acknowledge(network, packet, PACKET_ACK);
}

static void data_received(struct packet_net *network, uint32_t port_index, uint32_t packet)
{
    const struct packet *data = &network->packets.at[packet];
    struct packet_pair *pair = &network->pairs.at[data->pair];
    const struct packet_config *config = network->config;
    uint64_t now = network->net->queue->now;
    if (config->nic_total_pause > 0 && (!network->ports[port_index].ends || network->ports[port_index].is_nvswitch)) {
        pause_switch(network, pair->dst, data->pair);
        data = &network->packets.at[packet]; /* the frame may have moved the pool */
    }
    if (network->law->is_by_receiver) {
        packet_credit_wanted(network, port_index, data->pair);
    }
    if (network->any_order) {
        data_in_any_order(network, packet);
        return;
    }
    if (data->seq == pair->expected) {
        pair->expected += packet_payload(network, data);
        pair->nacked = config->back_to_zero ? pair->nacked : 0; /* only there it may be expected a second time */
        if (pair->expected >= config->ack_interval ||
            (config->chunk_bytes > 0 && pair->expected % config->chunk_bytes == 0)) {
            acknowledge(network, packet, PACKET_ACK);
            return;
        }
    } else if (data->seq > pair->expected && (now >= pair->nack_at || pair->nacked != pair->expected + 1)) {
        pair->nacked = pair->expected + 1;
        pair->nack_at = now + NACK_PERIOD_NS;
        if (config->back_to_zero && config->chunk_bytes > 0) {
            pair->expected -= pair->expected % config->chunk_bytes;
        }
        network->counts.nacks++;
        acknowledge(network, packet, PACKET_NACK);
        return;
    } else if (data->seq < pair->expected && config->timeouts) {
        acknowledge(network, packet, PACKET_ACK); /* a repeat: its acknowledgement was lost */
        return;
    }
    packet_drop(network, packet);
}

static uint64_t standalone_ns(struct packet_net *network, const struct packet_pair *pair)
{
    const struct topo_pair *way = topo_routes_pair(&network->routes, pair->src, pair->dst);
    if (way == NULL || way->rate_bps == 0) {
        return 0; /* a link has gone down since */
    }
    return wire_standalone_ns(network->config, topo_way_round_trip_ns(way), way->rate_bps, pair->size);
}

static void packet_nic_finish(struct packet_net *network, uint32_t pair_index)
{
    struct packet_pair *pair = &network->pairs.at[pair_index];
    pair->finished = 1;
    packet_turns_end(network, pair);
    pair->expected = 0; /* the receiver forgets too: what still arrives is answered as if it began anew */
    pair->nacked = 0;
    packet_early_free(network, pair);
    packet_cc_end(network, pair_index);
    uint64_t duration = network->net->queue->now - pair->start_ns;
    uint64_t standalone = standalone_ns(network, pair);
    packet_flow_count(network, duration, standalone);
    if (network->machine->flow_done != NULL) {
        struct packet_flow flow = {
            .src = pair->src,
            .dst = pair->dst,
            .port = pair->source_port,
            .bytes = pair->size,
            .start_ns = pair->start_ns,
            .duration_ns = duration,
            .standalone_ns = standalone,
        };
        network->machine->flow_done(network->machine->context, &flow);
    }
    network->net->arrived(network->net->arrived_context, pair->message);
}

static void ack_received(struct packet_net *network, uint32_t packet)
{
    const struct packet *ack = &network->packets.at[packet];
    uint32_t pair_index = ack->pair;
    struct packet_pair *pair = &network->pairs.at[pair_index];
    uint32_t port = pair->port;
    if (pair->finished) {
        packet_drop(network, packet);
        return;
    }
    const struct packet_config *config = network->config;
    uint64_t acked = ack->seq;
    bool is_nack = ack->kind == PACKET_NACK;
    if (config->back_to_zero && config->chunk_bytes > 0 && !(config->timeouts && acked >= pair->size)) {
        acked -= acked % config->chunk_bytes;
    }
    if (acked > pair->acked) {
        progress(network, acked - pair->acked);
        pair->acked = acked;
        pair->timeouts = 0;
        if (config->timeouts && acked > pair->sent) {
            pair->sent = acked; /* what a timeout had given up for lost was there */
        }
    }
    if (is_finished(pair)) {
        packet_nic_finish(network, pair_index); /* may start new messages, which may move the pool */
        pair = &network->pairs.at[pair_index];
    }
    if (is_nack) {
        pair->sent = pair->acked;
    }
    /* The reference's telemetry controls look at the last ACK of a finished pair too, and draw numbers for it. */
    if (!pair->finished || network->stamps) {
        packet_cc_ack(network, pair_index, packet);
    }
    packet_turns_reopen(network, pair);
    packet_drop(network, packet);
    packet_port_go(network, port);
}

static void credit_received(struct packet_net *network, uint32_t packet)
{
    const struct packet *credit = &network->packets.at[packet];
    struct packet_pair *pair = &network->pairs.at[credit->pair];
    uint32_t port = pair->port;
    pair->credit = credit->seq > pair->credit ? credit->seq : pair->credit;
    packet_turns_reopen(network, pair);
    packet_drop(network, packet);
    packet_port_go(network, port);
}

void packet_nic_receive(struct packet_net *network, uint32_t port_index, uint32_t packet)
{
    uint8_t kind = network->packets.at[packet].kind;
    if (kind == PACKET_DATA) {
        data_received(network, port_index, packet);
    } else if (kind == PACKET_CREDIT) {
        credit_received(network, packet);
    } else {
        ack_received(network, packet);
    }
}

/* ---- what was lost ---- */

static uint64_t timeout_of(const struct packet_net *network, const struct packet_pair *pair)
{
    uint64_t first = network->config->timeout_ns;
    unsigned doublings = pair->timeouts < PACKET_TIMEOUT_DOUBLINGS ? pair->timeouts : PACKET_TIMEOUT_DOUBLINGS;
    return (first > 0 ? first : 4 * pair->base_rtt_ns + 1000000) << doublings;
}

uint64_t packet_patience_ns(const struct packet_net *network, const struct packet_pair *pair)
{
    const struct packet_config *config = network->config;
    uint64_t timeout = config->timeout_ns > 0 ? config->timeout_ns : 4 * pair->base_rtt_ns + 1000000;
    uint64_t slowest = packet_sending_ns(network, network->full_size, config->min_rate_bps);
    return PACKET_LIVELOCK_PERIODS * (timeout + NACK_PERIOD_NS + slowest);
}

/* Something sent is not acknowledged, or there is more to send and no credit for it. */
static bool is_left_alone(const struct packet_pair *pair)
{
    return pair->acked < pair->sent || (pair->sent >= pair->credit && pair->sent < pair->size);
}

/* Where the way from the source has changed, the pair moves to the port that it now leaves by. */
static void packet_nic_change_port(struct packet_net *network, uint32_t pair_index)
{
    struct packet_pair *pair = &network->pairs.at[pair_index];
    const struct packet probe = {.kind = PACKET_DATA, .pair = pair_index};
    uint32_t now = packet_route(network, pair->src, &probe);
    if (now == UINT32_MAX || now == pair->port) {
        return;
    }
    packet_turns_remove(network, pair_index);
    pair->port = now;
    (void)packet_turns_add(network, pair_index);
}

/*
 * With nothing of a pair in the network, whatever it has not got acknowledged is lost: only then a timeout is set. A
 * run that loses nothing has none, so that timeouts neither cost it time nor change it, and a network that stands still
 * because of pauses is not kept going by them.
 */
void packet_pair_alone(struct packet_net *network, uint32_t pair_index)
{
    struct packet_pair *pair = &network->pairs.at[pair_index];
    struct event_queue *queue = network->net->queue;
    if (pair->holders > 1u + pair->wants) {
        return;
    }
    if (pair->holders == 0) {
        pair->stamp++;
        pairs_give(&network->pairs, pair_index);
    } else if (network->config->timeouts && !pair->finished && !pair->watched && is_left_alone(pair)) {
        pair->watched = 1;
        (void)event_queue_push(queue, queue->now + timeout_of(network, pair), NET_EVENT_PACKET_TIMEOUT, pair_index,
                               pair->stamp);
    }
}

void packet_pair_timeout(struct packet_net *network, uint32_t pair_index, uint32_t stamp)
{
    struct packet_pair *pair = &network->pairs.at[pair_index];
    if (pair->stamp != stamp || pair->finished) {
        return;
    }
    pair->watched = 0;
    if (pair->holders > 1u + pair->wants || !is_left_alone(pair) || pair->timeouts == PACKET_TIMEOUTS_MOST) {
        return;
    }
    pair->timeouts++;
    pair->sent = pair->acked;
    if (pair->timeouts > 1) {
        packet_cc_rest(network, pair_index);
    }
    if (pair->credit < pair->sent + network->config->payload_bytes) {
        pair->credit = pair->sent + network->config->payload_bytes; /* the credit was lost: one packet asks again */
    }
    network->counts.timeouts++;
    if (network->hop_by_hop) {
        packet_nic_change_port(network, pair_index);
    }
    packet_turns_reopen(network, pair);
    packet_port_go(network, pair->port);
}

/* ---- starting ---- */

void packet_pair_start(struct packet_net *network, uint32_t pair_index)
{
    struct packet_pair *pair = &network->pairs.at[pair_index];
    if (!packet_turns_add(network, pair_index)) {
        return;
    }
    network->started++;
    progress(network, 0);
    pair->holders = 1; /* the port's list */
    pair->start_ns = network->net->queue->now;
    pair->next_at = pair->start_ns;
    packet_cc_start(network, pair_index);
    packet_port_go(network, pair->port);
}
