/*
 * Hosts: queue pairs that send within a window at a pace, and a receiver that acknowledges (spec packet A6). A port
 * serves acknowledgements first, then its queue pairs in turn; the turn, and what happens to it when finished pairs are
 * swept out of the list, are the reference's, because they decide who sends next among flows that started together.
 */
#include <string.h>

#include "net/packet/engine.h"
#include "net/packet/wire.h"
#include "topo/way.h"

enum { NACK_PERIOD_NS = 500000, NIC_PAUSE_NS = 10000, NIC_PAUSE_PERIOD_NS = 1010000 };

static uint64_t bytes_left(const struct packet_pair *pair)
{
    return pair->size >= pair->sent ? pair->size - pair->sent : 0;
}

static bool is_finished(const struct packet_pair *pair)
{
    return pair->acked >= pair->size;
}

static bool is_window_bound(const struct packet_net *network, const struct packet_pair *pair)
{
    uint64_t window = pair->window;
    if (pair->sent >= pair->credit || (pair->limit > 0 && pair->sent - pair->acked >= pair->limit)) {
        return true;
    }
    if (window == 0) {
        return false;
    }
    if (network->config->var_window) {
        window = (uint64_t)((unsigned __int128)window * pair->rate_bps / pair->max_rate_bps);
        window = window == 0 ? 1 : window;
    }
    return pair->sent - pair->acked >= window;
}

/* Drops finished pairs from the list, from the first one seen on; gives the new place of the one at `chosen`. */
static uint32_t sweep(struct packet_net *network, struct packet_port *port, uint32_t first, uint32_t chosen)
{
    uint32_t kept = first;
    for (uint32_t i = first; i < port->pair_count; i++) {
        uint32_t pair = port->pairs[i];
        if (!network->pairs.at[pair].finished) {
            chosen = i == chosen ? kept : chosen;
            port->pairs[kept++] = pair;
        } else {
            packet_pair_release(network, pair);
        }
    }
    port->pair_count = kept;
    return chosen;
}

/* The place of the pair whose turn it is, or UINT32_MAX. */
static uint32_t choose(struct packet_net *network, struct packet_port *port)
{
    uint64_t now = network->net->queue->now;
    uint32_t count = port->pair_count;
    uint32_t chosen = UINT32_MAX;
    uint32_t finished = UINT32_MAX;
    bool waits = false; /* some pair may send, but not yet */
    bool paused = (port->paused & (1u << PACKET_CLASS)) != 0;
    for (uint32_t turn = 1; turn <= count; turn++) {
        uint32_t place = (turn + port->last_served) % count;
        const struct packet_pair *pair = &network->pairs.at[port->pairs[place]];
        if (!paused && bytes_left(pair) > 0 && !is_window_bound(network, pair)) {
            if (pair->next_at > now) {
                waits = true;
                continue;
            }
            chosen = place;
            break;
        }
        if (pair->finished && place < finished) {
            finished = place;
        }
    }
    port->all_blocked = chosen == UINT32_MAX && !waits && !paused;
    return finished == UINT32_MAX ? chosen : sweep(network, port, finished, chosen);
}

static uint32_t make_data(struct packet_net *network, uint32_t pair_index)
{
    uint32_t packet = packet_new(network);
    struct packet *data = &network->packets.at[packet];
    struct packet_pair *pair = &network->pairs.at[pair_index];
    uint64_t left = bytes_left(pair);
    data->pair = pair_index;
    data->kind = PACKET_DATA;
    data->seq = pair->sent;
    data->length = left < network->config->payload_bytes ? (uint32_t)left : network->config->payload_bytes;
    data->size = data->length + network->data_header;
    data->hop = 1;
    data->sent_at = (uint32_t)network->net->queue->now;
    if (network->config->cc_mode == PACKET_CC_HPCC) {
        data->telemetry = telemetries_take(&network->telemetries, network->net->mem, &network->net->queue->failed);
        network->telemetries.at[data->telemetry].count = 0;
        memset(network->telemetries.at[data->telemetry].hops, 0, sizeof network->telemetries.at[0].hops);
    }
    pair->sent += data->length;
    pair->holders++;
    network->counts.data_packets++;
    return packet;
}

/* With nothing to send now, wakes the port when the first pair may send again. */
static void arm_timer(struct packet_net *network, uint32_t port_index)
{
    struct packet_port *port = &network->ports[port_index];
    struct event_queue *queue = network->net->queue;
    uint64_t at = UINT64_MAX;
    if (port->has_timer) {
        return;
    }
    for (uint32_t i = 0; i < port->pair_count; i++) {
        const struct packet_pair *pair = &network->pairs.at[port->pairs[i]];
        if (bytes_left(pair) > 0 && pair->next_at < at) {
            at = pair->next_at;
            if (at <= queue->now) {
                return; /* one that is held up by its window, not by its pace: its acknowledgement will wake the port */
            }
        }
    }
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
    uint32_t place = port->all_blocked ? UINT32_MAX : choose(network, port);
    if (place == UINT32_MAX) {
        arm_timer(network, port_index);
        return;
    }
    uint32_t pair_index = port->pairs[place];
    port->last_served = place;
    uint32_t packet = make_data(network, pair_index);
    packet_transmit(network, port_index, packet);
    struct packet_pair *pair = &network->pairs.at[pair_index];
    pair->last_size = network->packets.at[packet].size;
    uint64_t rate = network->config->rate_bound ? pair->rate_bps : pair->max_rate_bps;
    pair->next_at = network->net->queue->now + packet_sending_ns(network, pair->last_size, rate);
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
    port->all_blocked = 0;
}

/* ---- receiving ---- */

static void send_frame(struct packet_net *network, uint32_t port_index, enum packet_kind kind)
{
    uint32_t packet = packet_new(network);
    struct packet *frame = &network->packets.at[packet];
    frame->kind = (uint8_t)kind;
    frame->pair = PACKET_CLASS;
    frame->size = network->pause_size;
    packet_line_add(network, &network->ports[port_index].high, packet);
    packet_port_go(network, port_index);
}

/* The artificial pauses of NIC_TOTAL_PAUSE_TIME: a frame to the switch now, and its end ten microseconds later. */
static void pause_switch(struct packet_net *network, uint32_t port_index)
{
    struct packet_port *port = &network->ports[port_index];
    struct event_queue *queue = network->net->queue;
    if (port->nic_pauses < network->config->nic_total_pause && queue->now >= port->next_nic_pause) {
        port->nic_pauses++;
        port->next_nic_pause = queue->now + NIC_PAUSE_PERIOD_NS;
        (void)event_queue_push(queue, queue->now + NIC_PAUSE_NS, NET_EVENT_PACKET_RESUME, port_index, 0);
        send_frame(network, port_index, PACKET_PAUSE);
    }
}

void packet_nic_resume(struct packet_net *network, uint32_t port_index)
{
    send_frame(network, port_index, PACKET_RESUME);
}

void packet_nic_answer(struct packet_net *network, uint32_t packet)
{
    struct packet *answer = &network->packets.at[packet];
    const struct packet_pair *pair = &network->pairs.at[answer->pair];
    answer->size = network->ack_size;
    answer->length = 0;
    answer->hop = 1;
    uint32_t out = network->hop_by_hop ? packet_route(network, pair->dst, answer)
                                       : network->ways[pair->way + network->way_room / 2];
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
    ack->kind = (uint8_t)kind;
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
        pair->expected += data->length;
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
    if (config->nic_total_pause > 0) {
        pause_switch(network, port_index);
        data = &network->packets.at[packet]; /* the frame may have moved the pool */
    }
    if (config->cc_mode == PACKET_CC_CREDIT) {
        packet_credit_wanted(network, port_index, data->pair);
    }
    if (network->any_order) {
        data_in_any_order(network, packet);
        return;
    }
    if (data->seq == pair->expected) {
        pair->expected += data->length;
        pair->nacked = 0;
        if (pair->expected >= config->ack_interval ||
            (config->chunk_bytes > 0 && pair->expected % config->chunk_bytes == 0)) {
            acknowledge(network, packet, PACKET_ACK);
            return;
        }
    } else if (data->seq > pair->expected && (now >= pair->nack_at || pair->nacked != pair->expected + 1)) {
        pair->nacked = pair->expected + 1;
        pair->nack_at = now + NACK_PERIOD_NS;
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

static void finish(struct packet_net *network, uint32_t pair_index)
{
    struct packet_pair *pair = &network->pairs.at[pair_index];
    pair->finished = 1;
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
        pair->acked = acked;
        pair->timeouts = 0;
        if (config->timeouts && acked > pair->sent) {
            pair->sent = acked; /* what a timeout had given up for lost was there */
        }
    }
    if (is_finished(pair)) {
        finish(network, pair_index); /* may start new messages, which may move the pool */
        pair = &network->pairs.at[pair_index];
    }
    if (is_nack) {
        pair->sent = pair->acked;
    }
    /* The reference's telemetry controls look at the last ACK of a finished pair too, and draw numbers for it. */
    bool by_telemetry = network->config->cc_mode == PACKET_CC_HPCC || network->config->cc_mode == PACKET_CC_PINT;
    if (!pair->finished || by_telemetry) {
        packet_cc_ack(network, pair_index, packet);
    }
    packet_drop(network, packet);
    network->ports[port].all_blocked = 0;
    packet_port_go(network, port);
}

static void credit_received(struct packet_net *network, uint32_t packet)
{
    const struct packet *credit = &network->packets.at[packet];
    struct packet_pair *pair = &network->pairs.at[credit->pair];
    uint32_t port = pair->port;
    pair->credit = credit->seq > pair->credit ? credit->seq : pair->credit;
    packet_drop(network, packet);
    network->ports[port].all_blocked = 0;
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

/* Something sent is not acknowledged, or there is more to send and no credit for it. */
static bool is_left_alone(const struct packet_pair *pair)
{
    return pair->acked < pair->sent || (pair->sent >= pair->credit && pair->sent < pair->size);
}

/* Where the way from the source has changed, the pair moves to the port that it now leaves by. */
static void change_port(struct packet_net *network, uint32_t pair_index)
{
    struct packet_pair *pair = &network->pairs.at[pair_index];
    struct packet_port *before = &network->ports[pair->port];
    const struct packet probe = {.kind = PACKET_DATA, .pair = pair_index};
    uint32_t now = packet_route(network, pair->src, &probe);
    if (now == UINT32_MAX || now == pair->port) {
        return;
    }
    struct packet_port *after = &network->ports[now];
    if (!mem_reserve(network->net->mem, (void **)&after->pairs, &after->pair_capacity, (uint64_t)after->pair_count + 1,
                     sizeof *after->pairs)) {
        network->net->queue->failed = true;
        return;
    }
    uint32_t kept = 0;
    for (uint32_t i = 0; i < before->pair_count; i++) {
        if (before->pairs[i] != pair_index) {
            before->pairs[kept++] = before->pairs[i];
        }
    }
    before->pair_count = kept;
    before->last_served = 0;
    before->all_blocked = 0;
    after->all_blocked = 0;
    after->pairs[after->pair_count++] = pair_index;
    pair->port = now;
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
    if (pair->credit < pair->sent + network->config->payload_bytes) {
        pair->credit = pair->sent + network->config->payload_bytes; /* the credit was lost: one packet asks again */
    }
    network->counts.timeouts++;
    if (network->hop_by_hop) {
        change_port(network, pair_index);
    }
    network->ports[pair->port].all_blocked = 0;
    packet_port_go(network, pair->port);
}

/* ---- starting ---- */

void packet_pair_start(struct packet_net *network, uint32_t pair_index)
{
    struct packet_pair *pair = &network->pairs.at[pair_index];
    struct packet_port *port = &network->ports[pair->port];
    if (!mem_reserve(network->net->mem, (void **)&port->pairs, &port->pair_capacity, (uint64_t)port->pair_count + 1,
                     sizeof *port->pairs)) {
        network->net->queue->failed = true;
        return;
    }
    pair->holders = 1; /* the port's list */
    pair->start_ns = network->net->queue->now;
    pair->next_at = pair->start_ns;
    port->all_blocked = 0;
    port->pairs[port->pair_count++] = pair_index;
    packet_cc_start(network, pair_index);
    packet_port_go(network, pair->port);
}
