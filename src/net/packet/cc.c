/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Between queue pairs and the law of their congestion control (net/cc/): what an acknowledgement tells, the rate that
 * follows, and timers as events. What the law keeps lies beside the pairs; that of pairs which never meet congestion is
 * never touched.
 */
#include "net/packet/cc.h"

/* The second word of a timer's event: which one, and two stamps that say whether it still counts: the pair's, and how
 * often the timer was started anew. */
enum { TIMER_BITS = 2, STAMP_BITS = 15 };

_Static_assert(CC_TIMERS <= 1 << TIMER_BITS, "timers fit");

void packet_cc_open(struct packet_net *network)
{
    network->law = cc_law_of(network->config->cc_mode);
    size_t bytes = sizeof(struct packet_cc_kept) + network->law->state_bytes;
    network->cc_stride = network->law->state_bytes == 0 ? 0 : (uint32_t)((bytes + 7) / 8 * 8);
}

static struct cc_sender sender_of(const struct packet_pair *pair)
{
    return (struct cc_sender){.sent = pair->sent,
                              .window = pair->window,
                              .base_rtt_ns = pair->base_rtt_ns,
                              .line_bps = pair->max_rate_bps,
                              .rate_bps = pair->rate_bps,
                              .limit = pair->limit};
}

static uint32_t timer_word(const struct packet_net *network, uint32_t pair, uint32_t which)
{
    uint32_t mask = (UINT32_C(1) << STAMP_BITS) - 1;
    uint32_t restarts = packet_cc_of(network, pair)->restarts[which] & mask;
    return ((network->pairs.at[pair].stamp & mask) << STAMP_BITS | restarts) << TIMER_BITS | which;
}

/* Takes over what the law has changed; `ran_out` is the timer it was called for, CC_TIMERS = none. */
static void packet_cc_take_over(struct packet_net *network, uint32_t pair_index, const struct cc_sender *sender,
                                uint32_t ran_out)
{
    struct packet_pair *pair = &network->pairs.at[pair_index];
    struct event_queue *queue = network->net->queue;
    pair->limit = sender->limit;
    if (sender->paces_anew) {
        packet_pair_change_rate(network, pair, sender->rate_bps);
    } else {
        pair->rate_bps = sender->rate_bps;
    }
    for (uint32_t i = 0; i < CC_TIMERS && network->law->timer != NULL; i++) {
        if (sender->timer_ns[i] != 0) {
            packet_cc_of(network, pair_index)->restarts[i] += i == ran_out ? 0 : 1;
            (void)event_queue_push(queue, queue->now + sender->timer_ns[i], NET_EVENT_PACKET_CONTROL, pair_index,
                                   timer_word(network, pair_index, i));
        }
    }
}

void packet_cc_start(struct packet_net *network, uint32_t pair)
{
    if (network->cc_stride == 0) {
        return;
    }
    if (!mem_reserve(network->net->mem, (void **)&network->cc, &network->cc_capacity, (uint64_t)pair + 1,
                     network->cc_stride)) {
        network->net->queue->failed = true;
        return;
    }
    struct cc_sender sender = sender_of(&network->pairs.at[pair]);
    memset(packet_cc_of(network, pair), 0, network->cc_stride);
    network->law->start(packet_cc_of(network, pair)->state, network->config, &sender);
}

void packet_cc_end(struct packet_net *network, uint32_t pair)
{
    network->pairs.at[pair].stamp++; /* timers on their way are void */
}

void packet_cc_free(struct packet_net *network)
{
    mem_free(network->net->mem, network->cc, (size_t)network->cc_capacity * network->cc_stride);
}

/* Timers of a message that gets no answer would tick for as long as its timeouts grow, to no end. */
void packet_cc_rest(struct packet_net *network, uint32_t pair)
{
    if (network->law->rest != NULL && network->law->rest(packet_cc_of(network, pair)->state)) {
        network->pairs.at[pair].stamp++;
    }
}

void packet_cc_timer(struct packet_net *network, uint32_t pair, uint32_t what)
{
    uint32_t which = what & ((1u << TIMER_BITS) - 1);
    if (network->pairs.at[pair].finished) {
        return;
    }
    packet_turns_reopen(network, &network->pairs.at[pair]); /* a window may grow with the rate */
    if (what == timer_word(network, pair, which)) {
        struct cc_sender sender = sender_of(&network->pairs.at[pair]);
        network->law->timer(packet_cc_of(network, pair)->state, network->config, &sender, which);
        packet_cc_take_over(network, pair, &sender, which);
    }
}

void packet_cc_ack(struct packet_net *network, uint32_t pair, uint32_t packet)
{
    const struct cc_law *law = network->law;
    const struct packet *ack = &network->packets.at[packet];
    if (network->cc_stride == 0 || (law->by_marks_alone && !ack->marked)) {
        return;
    }
    struct cc_hop hops[CC_HOPS];
    struct cc_sender sender = sender_of(&network->pairs.at[pair]);
    struct cc_ack told = {.now_ns = network->net->queue->now, .acked = ack->seq, .marks = ack->marked};
    if ((law->needs & CC_ROUND_TRIPS) != 0) {
        told.rtt_ns = (uint32_t)((uint32_t)told.now_ns - ack->sent_at);
    } else if ((law->needs & CC_TELEMETRY) != 0) {
        packet_cc_hops(network, ack, hops, &told);
    } else if ((law->needs & CC_ONE_NUMBER) != 0 && !packet_cc_number(network, ack, &told)) {
        return;
    }
    law->acked(packet_cc_of(network, pair)->state, network->config, &sender, &told);
    packet_cc_take_over(network, pair, &sender, CC_TIMERS);
}
