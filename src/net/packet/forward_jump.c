/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Skipping periods. Between two equal states every message advanced by a number of bytes and every counter by an
 * amount; so many times more is added, and times and sequence numbers are moved by as much. How often that may be done
 * is bounded by what would make the next period different: a message near its end, or something due at a fixed time.
 */
#include <string.h>

#include "base/ticks.h"
#include "net/packet/forward_state.h"

static uint64_t period_of(const struct forward_state *state, const struct packet_net *network)
{
    return network->net->queue->now - state->time_ns;
}

static uint64_t less(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* ---- how often ---- */

/* Within a period a message sends no more than its port does, so that with this much left its last packet, which may be
 * shorter, and its end are not seen. */
static uint64_t most_of_pair(const struct forward_state *state, const struct packet_net *network,
                             const struct forward_pair *kept)
{
    const struct packet_pair *pair = &network->pairs.at[kept->pair];
    uint64_t advance = pair->acked - kept->acked;
    uint64_t port = network->ports[pair->port].data_bytes - state->figures[pair->port].data_bytes;
    uint64_t margin = port + 2 * (uint64_t)network->config->payload_bytes;
    uint64_t ahead = pair->granted < pair->size && pair->granted > pair->sent ? pair->granted : pair->sent;
    if (advance == 0) {
        return UINT64_MAX;
    }
    return pair->size < ahead + margin ? 0 : (pair->size - ahead - margin) / advance;
}

static bool drifts_evenly(const struct forward_state *state, const struct packet_net *network,
                          const struct forward_pair *kept)
{
    const struct cc_law *law = network->law;
    return law->drifts_evenly == NULL || law->drifts_evenly(packet_cc_of(network, kept->pair)->state, network->config,
                                                            kept->drift, network->counts.marks != state->counts.marks);
}

/* What stays at its time must lie beyond the jump. Where it then shares its time with what has moved, it comes first,
 * which is right if all that moves would have been pushed after this moment: jumps are longer than the furthest of it
 * is away. */
static uint64_t most_of_events(const struct forward_state *state, const struct packet_net *network)
{
    uint64_t now = network->net->queue->now;
    uint64_t period = period_of(state, network);
    uint64_t first_fixed = UINT64_MAX;
    uint64_t last_moving = 0;
    for (uint32_t i = 0; i < state->events.count; i++) {
        const struct event_at *at = &state->events.at[i];
        if (at->moves) {
            last_moving = at->time; /* in order of time */
        } else {
            first_fixed = less(first_fixed, at->time);
        }
    }
    uint64_t most = (TICKS_MAX_NOW - now) / period;
    if (first_fixed == UINT64_MAX) {
        return most;
    }
    most = first_fixed <= now ? 0 : less(most, (first_fixed - now - 1) / period);
    return most * period > last_moving - now ? most : 0;
}

uint64_t forward_jump_most(const struct forward_state *state, struct packet_net *network)
{
    uint64_t period = period_of(state, network);
    if (period == 0 || (network->law->memory_ns != 0 && period > network->law->memory_ns / 2)) {
        return 0;
    }
    uint64_t most = most_of_events(state, network);
    bool advances = false;
    for (uint32_t i = 0; i < state->pair_count && most > 0; i++) {
        most = less(most, most_of_pair(state, network, &state->pairs[i]));
        advances = advances || network->pairs.at[state->pairs[i].pair].acked != state->pairs[i].acked;
        if (!drifts_evenly(state, network, &state->pairs[i])) {
            return 0;
        }
    }
    return advances ? most : 0; /* what gets nowhere is not brought there sooner */
}

/* ---- the jump ---- */

struct jump {
    const struct forward_state *state;
    struct packet_net *network;
    uint64_t times;
    uint64_t by_ns;
    uint64_t *bytes; /* by pair: how far its sequence numbers move */
};

/* Adds what was counted since the kept state so many times. */
static void forward_jump_add(const struct jump *jump, uint64_t *count, uint64_t before)
{
    *count += jump->times * (*count - before);
}

static void move_hop(const struct jump *jump, const struct packet_pair *pair, struct packet_hop *record, uint32_t hop)
{
    uint32_t port = forward_hop_port(jump->network, pair, hop);
    if (port == UINT32_MAX) {
        return;
    }
    uint64_t bytes = jump->network->ports[port].sent_bytes - jump->state->figures[port].sent_bytes;
    record->time_ns = (record->time_ns + jump->by_ns) & 0xffffff;
    record->sent = (record->sent + jump->times * (bytes / 128)) & 0xfffff;
}

static void move_packet(const struct jump *jump, uint32_t index)
{
    struct packet_net *network = jump->network;
    struct packet *packet = &network->packets.at[index];
    const struct cc_law *law = network->law;
    if (packet->kind >= PACKET_PAUSE) {
        return;
    }
    packet->seq += jump->bytes[packet->pair];
    if ((law->needs & CC_ROUND_TRIPS) != 0) {
        packet->sent_at += (uint32_t)jump->by_ns;
    } else if ((law->needs & CC_TELEMETRY) != 0) {
        struct packet_telemetry *telemetry = &network->telemetries.at[packet->telemetry];
        for (uint32_t i = 0; i < telemetry->count && telemetry->count <= PACKET_INT_HOPS; i++) {
            move_hop(jump, &network->pairs.at[packet->pair], &telemetry->hops[i], i);
        }
    }
}

static void move_line(const struct jump *jump, const struct packet_line *line)
{
    for (uint32_t i = line->head; i != 0; i = jump->network->packets.at[i].next) {
        move_packet(jump, i);
    }
}

static void move_mark(uint64_t *seq, uint64_t bytes)
{
    *seq += *seq == 0 ? 0 : bytes;
}

static void move_coming(const struct jump *jump, uint64_t *time)
{
    *time += *time > jump->network->net->queue->now ? jump->by_ns : 0;
}

static void move_control(const struct jump *jump, const struct forward_pair *kept)
{
    const struct packet_net *network = jump->network;
    uint32_t hop_bytes[CC_HOPS] = {0};
    if (network->law->move == NULL) {
        return;
    }
    for (uint32_t i = 0; i < CC_HOPS && (network->law->needs & CC_TELEMETRY) != 0; i++) {
        uint32_t port = forward_hop_port(network, &network->pairs.at[kept->pair], i);
        if (port != UINT32_MAX) {
            uint64_t bytes = network->ports[port].sent_bytes - jump->state->figures[port].sent_bytes;
            hop_bytes[i] = (uint32_t)(jump->times * (bytes / 128) * 128) & CC_HOP_SENT;
        }
    }
    const struct cc_move move = {.times = jump->times,
                                 .by_ns = jump->by_ns,
                                 .bytes = jump->bytes[kept->pair],
                                 .now_ns = network->net->queue->now,
                                 .hop_bytes = hop_bytes,
                                 .drift = kept->drift};
    network->law->move(packet_cc_of(network, kept->pair)->state, network->config, &move);
}

static void move_pair(const struct jump *jump, const struct forward_pair *kept)
{
    struct packet_pair *pair = &jump->network->pairs.at[kept->pair];
    uint64_t bytes = jump->bytes[kept->pair];
    jump->network->net->moved_bytes += (double)bytes;
    pair->acked += bytes;
    pair->sent += bytes;
    pair->expected += bytes;
    move_mark(&pair->nacked, bytes);
    move_coming(jump, &pair->nack_at);
    if (forward_moves_next(jump->network)) {
        pair->next_at += jump->by_ns;
    } else {
        move_coming(jump, &pair->next_at);
    }
    pair->credit += pair->credit < pair->size ? bytes : 0;
    pair->granted += pair->granted < pair->size ? bytes : 0;
    move_control(jump, kept);
}

static void move_queue(const struct jump *jump, uint32_t index)
{
    struct histogram_coarse *now = &jump->network->queues[index];
    const struct histogram_coarse *before = &jump->state->queues[index];
    for (uint32_t i = 0; i < HISTOGRAM_COARSE; i++) {
        now->count[i] += (uint32_t)jump->times * (now->count[i] - before->count[i]);
    }
}

static void move_port(const struct jump *jump, uint32_t index)
{
    struct packet_port *port = &jump->network->ports[index];
    const struct forward_figures *before = &jump->state->figures[index];
    port->timer_at += port->has_timer ? jump->by_ns : 0;
    move_coming(jump, &port->next_nic_pause);
    if (port->data_bytes == before->data_bytes && port->drop_count == before->drop_count) {
        return;
    }
    if (port->queue_most > 0) {
        move_queue(jump, index);
    }
    forward_jump_add(jump, &port->sent_bytes, before->sent_bytes);
    forward_jump_add(jump, &port->data_bytes, before->data_bytes);
    forward_jump_add(jump, &port->busy_ns, before->busy_ns);
    forward_jump_add(jump, &port->mark_count, before->mark_count);
    forward_jump_add(jump, &port->pause_count, before->pause_count);
    forward_jump_add(jump, &port->drop_count, before->drop_count);
}

static void move_counts(const struct jump *jump)
{
    struct packet_net *network = jump->network;
    const struct packet_counts *before = &jump->state->counts;
    struct packet_counts *counts = &network->counts;
    forward_jump_add(jump, &counts->transmissions, before->transmissions);
    forward_jump_add(jump, &counts->data_packets, before->data_packets);
    forward_jump_add(jump, &counts->marks, before->marks);
    forward_jump_add(jump, &counts->pauses, before->pauses);
    forward_jump_add(jump, &counts->resumes, before->resumes);
    forward_jump_add(jump, &counts->drops, before->drops);
    forward_jump_add(jump, &counts->nacks, before->nacks);
    forward_jump_add(jump, &network->net->queue->handled, jump->state->handled);
    if (network->streams.number != jump->state->streams) {
        uint64_t number = network->streams.number;
        forward_jump_add(jump, &number, jump->state->streams);
        mrg32k3a_streams_init(&network->streams, number);
    }
}

/* Telemetry is moved by what ports had counted before, so ports and counts come last. */
bool forward_jump(struct forward_state *state, struct packet_net *network, uint64_t times)
{
    struct event_queue *queue = network->net->queue;
    struct mem *mem = network->net->mem;
    size_t room = network->pairs.room.used * sizeof(uint64_t);
    struct jump jump = {.state = state, .network = network, .times = times};
    jump.by_ns = times * period_of(state, network);
    jump.bytes = mem_zalloc(mem, room);
    if (jump.bytes == NULL) {
        return false;
    }
    for (uint32_t i = 0; i < state->pair_count; i++) {
        uint32_t pair = state->pairs[i].pair;
        jump.bytes[pair] = times * (network->pairs.at[pair].acked - state->pairs[i].acked);
    }
    for (uint32_t i = 0; i < state->events.count; i++) {
        const struct event *event = &queue->events[state->events.at[i].event];
        if (state->events.at[i].moves && event->kind == NET_EVENT_PACKET_ARRIVED) {
            move_packet(&jump, event->b);
        }
    }
    for (uint32_t i = 0; i < state->pair_count; i++) {
        move_pair(&jump, &state->pairs[i]);
    }
    for (uint32_t i = 0; i < network->graph->port_count; i++) {
        move_line(&jump, &network->ports[i].high);
        move_line(&jump, &network->ports[i].low);
    }
    for (uint32_t i = 0; i < network->graph->port_count; i++) {
        move_port(&jump, i);
    }
    move_counts(&jump);
    network->progress_ns += jump.by_ns;
    event_order_move(&state->events, queue, jump.by_ns);
    mem_free(mem, jump.bytes, room);
    return true;
}
