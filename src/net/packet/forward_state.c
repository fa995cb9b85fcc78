/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One walk over the network both writes the words of a state and compares with them: a field cannot be in the one and
 * be forgotten in the other. What tells states apart soonest comes first, and the port where they differed last is
 * looked at before anything else, so that most comparisons end after a few words.
 */
#include "net/packet/forward_state.h"

#include <string.h>

struct walk {
    struct forward_state *state;
    struct packet_net *network;
    uint64_t now;
    uint32_t at;    /* comparing: the next word */
    bool compares;  /* else writes */
    bool ends;      /* differs, or cannot be told */
    uint64_t words; /* looked at */
};

static void forward_state_tell(struct walk *walk, uint64_t word)
{
    struct forward_state *state = walk->state;
    walk->words++;
    if (walk->compares) {
        walk->ends = walk->ends || walk->at >= state->count || state->words[walk->at] != word;
        walk->at++;
        return;
    }
    if (state->count == state->capacity &&
        !mem_reserve(walk->network->net->mem, (void **)&state->words, &state->capacity, (uint64_t)state->count + 1,
                     sizeof *state->words)) {
        walk->ends = true;
        return;
    }
    state->words[state->count++] = word;
}

static void tell_two(struct walk *walk, uint32_t low, uint32_t high)
{
    forward_state_tell(walk, low | (uint64_t)high << 32);
}

/* Of a time that only matters while it is to come. */
static void tell_coming(struct walk *walk, uint64_t time)
{
    forward_state_tell(walk, time > walk->now ? time - walk->now : 0);
}

/* ---- packets ---- */

uint32_t forward_hop_port(const struct packet_net *network, const struct packet_pair *pair, uint32_t hop)
{
    for (uint32_t i = 1; i < pair->hops_there; i++) {
        uint32_t port = network->ways[pair->way + i];
        if (network->ports[port].is_switch && !network->ports[port].is_nvswitch && hop-- == 0) {
            return port;
        }
    }
    return UINT32_MAX;
}

static void tell_hop(struct walk *walk, const struct packet_pair *pair, const struct packet_hop *record, uint32_t hop)
{
    uint32_t port = forward_hop_port(walk->network, pair, hop);
    uint64_t sent = port == UINT32_MAX ? 0 : walk->network->ports[port].sent_bytes / 128;
    tell_two(walk, (uint32_t)(walk->now - record->time_ns) & 0xffffff, (uint32_t)(sent - record->sent) & 0xfffff);
    forward_state_tell(walk, record->queued);
}

/* Ways of more hops than a packet has room for are never looked at. */
static void tell_telemetry(struct walk *walk, const struct packet *packet, const struct packet_pair *pair)
{
    const struct packet_telemetry *telemetry = &walk->network->telemetries.at[packet->telemetry];
    forward_state_tell(walk, telemetry->count);
    for (uint32_t i = 0; i < telemetry->count && telemetry->count <= PACKET_INT_HOPS; i++) {
        tell_hop(walk, pair, &telemetry->hops[i], i);
    }
}

static void tell_packet(struct walk *walk, uint32_t index)
{
    const struct packet *packet = &walk->network->packets.at[index];
    const struct cc_law *law = walk->network->law;
    tell_two(walk, packet->pair, packet->size | (uint32_t)packet->kind << 24 | (uint32_t)packet->marked << 31);
    if (packet->kind >= PACKET_PAUSE) {
        return;
    }
    const struct packet_pair *pair = &walk->network->pairs.at[packet->pair];
    forward_state_tell(walk, packet->seq - (pair->finished ? 0 : pair->acked));
    tell_two(walk, packet->way, packet->came_by);
    if ((law->needs & CC_ROUND_TRIPS) != 0) {
        uint32_t age = (uint32_t)walk->now - packet->sent_at;
        forward_state_tell(walk, age);
        walk->ends = walk->ends || (law->memory_ns != 0 && age > law->memory_ns / 2);
    } else if ((law->needs & CC_TELEMETRY) != 0) {
        tell_telemetry(walk, packet, pair);
    }
}

static void tell_line(struct walk *walk, const struct packet_line *line)
{
    uint32_t packet = line->head;
    for (; packet != 0 && !walk->ends; packet = walk->network->packets.at[packet].next) {
        tell_packet(walk, packet);
    }
    forward_state_tell(walk, UINT64_MAX); /* no packet begins so */
}

/* ---- queue pairs ---- */

/* Told from what is acknowledged; 0 means none. */
static void tell_mark(struct walk *walk, const struct packet_pair *pair, uint64_t seq)
{
    forward_state_tell(walk, seq == 0 ? UINT64_MAX : seq - pair->acked);
}

static void tell_word(void *context, uint64_t word)
{
    forward_state_tell(context, word);
}

/* What drifts where nothing looks at it is not told; forward_jump.c takes care of it. */
static void tell_control(struct walk *walk, uint32_t index)
{
    const struct packet_net *network = walk->network;
    const struct packet_pair *pair = &network->pairs.at[index];
    uint32_t hop_sent[CC_HOPS + 1] = {0};
    struct cc_teller teller = {
        .word = tell_word, .context = walk, .now_ns = walk->now, .acked = pair->acked, .hop_sent = hop_sent};
    if (network->law->tell == NULL) {
        return;
    }
    uint32_t port = UINT32_MAX;
    while ((network->law->needs & CC_TELEMETRY) != 0 && teller.hop_count <= CC_HOPS &&
           (port = forward_hop_port(network, pair, teller.hop_count)) != UINT32_MAX) {
        hop_sent[teller.hop_count++] = (uint32_t)(network->ports[port].sent_bytes / 128 * 128) & CC_HOP_SENT;
    }
    network->law->tell(packet_cc_of(network, index)->state, &teller);
    for (uint32_t i = 0; i < CC_TIMERS && network->law->timer != NULL; i++) {
        forward_state_tell(walk, packet_cc_of(network, index)->restarts[i]);
    }
}

/* Where acknowledgements are not sent for every packet, which ones are depends on the place in the message. */
static void tell_phase(struct walk *walk, const struct packet_pair *pair)
{
    const struct packet_config *config = walk->network->config;
    forward_state_tell(walk, pair->expected < config->ack_interval ? pair->expected : config->ack_interval);
    if (config->chunk_bytes > 0 && (config->back_to_zero || pair->expected < config->ack_interval)) {
        forward_state_tell(walk, pair->expected % config->chunk_bytes);
    }
}

static void keep_pair(struct walk *walk, uint32_t index)
{
    struct forward_state *state = walk->state;
    const struct cc_law *law = walk->network->law;
    if (!mem_reserve(walk->network->net->mem, (void **)&state->pairs, &state->pair_capacity,
                     (uint64_t)state->pair_count + 1, sizeof *state->pairs)) {
        walk->ends = true;
        return;
    }
    struct forward_pair *kept = &state->pairs[state->pair_count++];
    *kept = (struct forward_pair){.acked = walk->network->pairs.at[index].acked, .pair = index};
    if (law->drift != NULL) {
        kept->drift = law->drift(packet_cc_of(walk->network, index)->state);
    }
}

static void forward_state_tell_pair(struct walk *walk, uint32_t index)
{
    const struct packet_pair *pair = &walk->network->pairs.at[index];
    tell_two(walk, index,
             pair->finished | (uint32_t)pair->wants << 1 | (uint32_t)pair->watched << 2 |
                 (uint32_t)pair->timeouts << 8);
    if (pair->finished) {
        /* Its pace counts for the port's timer until it is swept out, and no jump would move it. */
        walk->ends = walk->ends || pair->next_at > walk->now;
        return;
    }
    forward_state_tell(walk, pair->sent - pair->acked);
    forward_state_tell(walk, pair->expected - pair->acked);
    if (forward_moves_next(walk->network)) {
        forward_state_tell(walk, pair->next_at - walk->now);
    } else {
        tell_coming(walk, pair->next_at);
    }
    forward_state_tell(walk, pair->rate_bps);
    tell_two(walk, pair->last_size, pair->holders);
    tell_mark(walk, pair, pair->nacked);
    tell_coming(walk, pair->nack_at);
    forward_state_tell(walk, pair->limit);
    if (walk->network->law->is_by_receiver) {
        forward_state_tell(walk, pair->credit < pair->size ? pair->credit - pair->acked : UINT64_MAX);
        forward_state_tell(walk, pair->granted < pair->size ? pair->granted - pair->acked : UINT64_MAX);
    }
    tell_phase(walk, pair);
    tell_control(walk, index);
    if (!walk->compares && !walk->ends) {
        keep_pair(walk, index);
    }
}

/* ---- ports ---- */

static void tell_nic(struct walk *walk, const struct packet_port *port)
{
    const struct packet_config *config = walk->network->config;
    const struct packet_turns *turns = &port->turns;
    forward_state_tell(walk, port->has_timer ? port->timer_at - walk->now : UINT64_MAX);
    tell_two(walk, turns->last, turns->count);
    for (uint32_t i = 0; i < turns->count && !walk->ends; i++) {
        if (i % 64 == 0) {
            uint64_t rest = turns->count - i < 64 ? UINT64_MAX >> (64 - (turns->count - i)) : UINT64_MAX;
            forward_state_tell(walk, turns->open[i / 64] & rest);
        }
        forward_state_tell_pair(walk, turns->pairs[i]);
    }
    if (walk->network->law->is_by_receiver) {
        tell_two(walk, port->last_granted, port->wanting_count);
        for (uint32_t i = 0; i < port->wanting_count; i++) {
            forward_state_tell(walk, port->wanting[i]);
        }
    }
    if (config->nic_total_pause > 0) {
        forward_state_tell(walk, port->nic_pauses);
        tell_coming(walk, port->next_nic_pause);
    }
}

static void tell_port(struct walk *walk, uint32_t index)
{
    const struct packet_port *port = &walk->network->ports[index];
    forward_state_tell(walk, port->busy | (uint64_t)port->paused << 8 | (uint64_t)port->peer_paused << 16 |
                                 (uint64_t)port->has_timer << 24 | (uint64_t)port->is_down << 32 |
                                 (uint64_t)port->grants << 40 | (uint64_t)port->own_turn << 48);
    if (!port->is_switch || port->ends) {
        tell_nic(walk, port);
    }
    if (port->is_switch) {
        forward_state_tell(walk, port->low_bytes);
        forward_state_tell(walk, port->high_bytes);
        forward_state_tell(walk, port->ingress_bytes);
        forward_state_tell(walk, port->headroom_used);
        if ((walk->network->law->needs & CC_TELEMETRY) != 0) {
            forward_state_tell(walk, port->sent_bytes % 128);
        }
        tell_line(walk, &port->low);
    }
    tell_line(walk, &port->high);
}

/* ---- the whole ---- */

/* What no period may change: draws of chance, losses, and what is written down as it happens. */
static void tell_chance(struct walk *walk)
{
    const struct packet_net *network = walk->network;
    const struct packet_counts *counts = &network->counts;
    forward_state_tell(walk, network->streams.number - counts->pauses - counts->resumes);
    forward_state_tell(walk, counts->losses);
    forward_state_tell(walk, counts->timeouts);
    if (network->machine->pause_seen != NULL) {
        forward_state_tell(walk, counts->pauses + counts->resumes);
    }
    bool lossy = network->config->error_rate > 0 || network->error_count > 1;
    for (uint32_t i = 1; lossy && i <= network->error_count; i++) {
        for (uint32_t word = 0; word < 6; word++) {
            forward_state_tell(walk, network->errors[i].random.s[word]);
        }
    }
}

/* Whether it comes round with the packets. DCQCN's timers would, were there not numbers behind them that never do. */
static bool moves(const struct event *event)
{
    return event->kind == NET_EVENT_PACKET_SENT || event->kind == NET_EVENT_PACKET_ARRIVED ||
           event->kind == NET_EVENT_PACKET_TIMER || event->kind == NET_EVENT_PACKET_CREDIT;
}

static void tell_event(struct walk *walk, const struct event_at *at)
{
    const struct packet_net *network = walk->network;
    const struct event *event = &network->net->queue->events[at->event];
    tell_two(walk, event->a, event->kind);
    if (!at->moves) {
        forward_state_tell(walk, at->time);
        forward_state_tell(walk, event->b);
        return;
    }
    forward_state_tell(walk, at->time - walk->now);
    if (event->kind == NET_EVENT_PACKET_ARRIVED) {
        tell_packet(walk, event->b);
    } else if (event->kind == NET_EVENT_PACKET_TIMER) {
        forward_state_tell(walk, event->b == network->ports[event->a].timer_stamp);
    }
}

static void keep_event(struct walk *walk, const struct event_at *at)
{
    struct forward_state *state = walk->state;
    const struct event *event = &walk->network->net->queue->events[at->event];
    if (!mem_reserve(walk->network->net->mem, (void **)&state->moving, &state->moving_capacity,
                     (uint64_t)state->moving_count + 1, sizeof *state->moving)) {
        walk->ends = true;
        return;
    }
    state->moving[state->moving_count++] =
        (struct forward_event){.ahead_ns = at->time - walk->now, .kind = event->kind, .a = event->a};
}

/* Whether what differed last certainly still does: the first event of its time, where that is near, is another. What
 * keeps the whole from recurring is often one gap in a train of packets, on its way round. */
static bool suspect_differs(const struct forward_state *state, const struct event_queue *queue)
{
    uint32_t place = state->suspect_event;
    if (place >= state->moving_count || state->moving[place].ahead_ns >= EVENT_WHEEL) {
        return false;
    }
    const struct forward_event *kept = &state->moving[place];
    while (kept > state->moving && kept[-1].ahead_ns == kept->ahead_ns) {
        kept--;
    }
    uint32_t index = queue->wheel[(queue->now + kept->ahead_ns) % EVENT_WHEEL].head;
    while (index != 0 && !moves(&queue->events[index])) {
        index = queue->events[index].next;
    }
    const struct event *event = &queue->events[index];
    return index == 0 || event->kind != kept->kind || event->a != kept->a;
}

static void tell_events(struct walk *walk)
{
    struct event_order *order = &walk->state->events;
    const struct event_queue *queue = walk->network->net->queue;
    if (!event_order_list(order, queue)) {
        walk->ends = true;
        return;
    }
    for (uint32_t i = 0; i < order->count && !walk->ends; i++) {
        order->at[i].moves = moves(&queue->events[order->at[i].event]);
        if (!order->at[i].moves) {
            tell_event(walk, &order->at[i]);
        }
    }
    uint32_t number = 0;
    for (uint32_t i = 0; i < order->count && !walk->ends; i++) {
        if (!order->at[i].moves) {
            continue;
        }
        tell_event(walk, &order->at[i]);
        if (!walk->compares) {
            keep_event(walk, &order->at[i]);
        } else if (walk->ends) {
            walk->state->suspect_event = number;
        }
        number++;
    }
    walk->words += order->count;
}

static void tell_all(struct walk *walk)
{
    const struct topo_graph *graph = walk->network->graph;
    tell_chance(walk);
    for (uint32_t i = 0; i < graph->node_count && !walk->ends; i++) {
        if (graph->kinds[i] != TOPO_NODE_HOST) {
            forward_state_tell(walk, walk->network->switches[i].shared_used);
        }
    }
    for (uint32_t i = 0; i < graph->port_count && !walk->ends; i++) {
        if (!walk->compares) {
            walk->state->port_start[i] = walk->state->count;
        }
        tell_port(walk, i);
        if (walk->ends) {
            walk->state->suspect = i;
        }
    }
    if (!walk->ends) {
        tell_events(walk);
    }
}

/* ---- keeping and comparing ---- */

bool forward_state_open(struct forward_state *state, struct packet_net *network)
{
    size_t ports = network->graph->port_count;
    struct mem *mem = network->net->mem;
    state->port_start = mem_zalloc(mem, ports * sizeof *state->port_start);
    state->figures = mem_zalloc(mem, ports * sizeof *state->figures);
    state->queues = mem_zalloc(mem, ports * sizeof *state->queues);
    return state->port_start != NULL && state->figures != NULL && state->queues != NULL;
}

void forward_state_close(struct forward_state *state, struct packet_net *network)
{
    size_t ports = network->graph->port_count;
    struct mem *mem = network->net->mem;
    mem_free(mem, state->port_start, ports * sizeof *state->port_start);
    mem_free(mem, state->figures, ports * sizeof *state->figures);
    mem_free(mem, state->queues, ports * sizeof *state->queues);
    mem_free(mem, state->words, (size_t)state->capacity * sizeof *state->words);
    mem_free(mem, state->pairs, (size_t)state->pair_capacity * sizeof *state->pairs);
    mem_free(mem, state->moving, (size_t)state->moving_capacity * sizeof *state->moving);
    event_order_free(&state->events, mem);
}

static void keep_figures(struct forward_state *state, const struct packet_net *network)
{
    for (uint32_t i = 0; i < network->graph->port_count; i++) {
        const struct packet_port *port = &network->ports[i];
        state->figures[i] = (struct forward_figures){.sent_bytes = port->sent_bytes,
                                                     .data_bytes = port->data_bytes,
                                                     .busy_ns = port->busy_ns,
                                                     .mark_count = port->mark_count,
                                                     .pause_count = port->pause_count,
                                                     .drop_count = port->drop_count};
        if (port->queue_most > 0) {
            state->queues[i] = network->queues[i];
        }
    }
    state->counts = network->counts;
    state->time_ns = network->net->queue->now;
    state->handled = network->net->queue->handled;
    state->streams = network->streams.number;
}

bool forward_state_keep(struct forward_state *state, struct packet_net *network, uint64_t *words)
{
    struct walk walk = {.state = state, .network = network, .now = network->net->queue->now};
    state->count = 0;
    state->pair_count = 0;
    state->moving_count = 0;
    state->suspect_event = UINT32_MAX;
    tell_all(&walk);
    *words += walk.words;
    if (!walk.ends) {
        keep_figures(state, network);
    }
    return !walk.ends;
}

bool forward_state_recurs(struct forward_state *state, struct packet_net *network, uint64_t *words)
{
    struct walk walk = {.state = state, .network = network, .now = network->net->queue->now, .compares = true};
    if (suspect_differs(state, network->net->queue)) {
        *words += 1;
        return false;
    }
    walk.at = state->port_start[state->suspect];
    tell_port(&walk, state->suspect);
    if (!walk.ends) {
        walk.at = 0;
        tell_all(&walk);
    }
    *words += walk.words;
    return !walk.ends && walk.at == state->count;
}
