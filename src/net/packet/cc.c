/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Congestion control: how a queue pair's rate follows marks, telemetry or round trips (spec packet A13). Each control
 * keeps its own numbers beside the pair; those of pairs that never meet congestion are never touched. Arithmetic is in
 * doubles truncated to whole bits a second, in the order of the reference, since the last digit decides nanoseconds.
 */
#include <string.h>

#include "net/packet/cc.h"

/* What a control timer is about; the rest of an event's second word is the stamp that says whether it still counts. */
enum control { CONTROL_ALPHA, CONTROL_DECREASE, CONTROL_INCREASE, CONTROL_KINDS = 4 };

static bool has_state(const struct packet_net *network)
{
    switch ((enum packet_cc)network->config->cc_mode) {
    case PACKET_CC_DCQCN:
    case PACKET_CC_HPCC:
    case PACKET_CC_TIMELY:
    case PACKET_CC_DCTCP:
    case PACKET_CC_PINT:
    case PACKET_CC_SWIFT:
        return true;
    case PACKET_CC_CREDIT:
    case PACKET_CC_NONE:
        break;
    }
    return false;
}

void packet_cc_start(struct packet_net *network, uint32_t pair_index)
{
    if (!has_state(network)) {
        return;
    }
    if (!mem_reserve(network->net->mem, (void **)&network->cc, &network->cc_capacity, (uint64_t)pair_index + 1,
                     sizeof *network->cc)) {
        network->net->queue->failed = true;
        return;
    }
    uint64_t rate = network->pairs.at[pair_index].max_rate_bps;
    struct packet_cc_state *state = packet_cc_of(network, pair_index);
    memset(state, 0, sizeof *state);
    switch ((enum packet_cc)network->config->cc_mode) {
    case PACKET_CC_HPCC:
    case PACKET_CC_PINT:
        state->as.hpcc.u = 1;
        state->as.hpcc.rate_bps = rate;
        for (unsigned i = 0; i < PACKET_INT_HOPS; i++) {
            state->as.hpcc.per_hop[i].u = 1;
            state->as.hpcc.per_hop[i].rate_bps = rate;
        }
        break;
    case PACKET_CC_TIMELY:
        state->as.timely.rate_bps = rate;
        break;
    case PACKET_CC_DCTCP:
        state->as.dctcp.alpha = 1;
        break;
    case PACKET_CC_SWIFT:
        packet_swift_start(network, pair_index);
        break;
    case PACKET_CC_DCQCN:
    case PACKET_CC_CREDIT:
    case PACKET_CC_NONE:
        break;
    }
}

void packet_cc_end(struct packet_net *network, uint32_t pair)
{
    network->pairs.at[pair].stamp++; /* timers on their way are void */
}

void packet_cc_free(struct packet_net *network)
{
    mem_free(network->net->mem, network->cc, (size_t)network->cc_capacity * sizeof *network->cc);
}

static uint64_t scaled(uint64_t rate_bps, double factor)
{
    return (uint64_t)((double)rate_bps * factor);
}

static uint64_t at_least(const struct packet_net *network, uint64_t rate_bps)
{
    return rate_bps < network->config->min_rate_bps ? network->config->min_rate_bps : rate_bps;
}

/* ---- DCQCN ---- */

static void schedule(struct packet_net *network, uint32_t pair, enum control what, double after_us, uint64_t more_ns,
                     uint32_t stamp)
{
    struct event_queue *queue = network->net->queue;
    uint64_t after = (uint64_t)(after_us * 1000) + more_ns;
    (void)event_queue_push(queue, queue->now + after, NET_EVENT_PACKET_CONTROL, pair,
                           stamp * CONTROL_KINDS + (uint32_t)what);
}

static void dcqcn_marked(struct packet_net *network, uint32_t pair_index)
{
    struct dcqcn *dcqcn = &packet_cc_of(network, pair_index)->as.dcqcn;
    struct packet_pair *pair = &network->pairs.at[pair_index];
    dcqcn->marked_for_alpha = 1;
    dcqcn->marked_for_rate = 1;
    if (dcqcn->started) {
        return;
    }
    dcqcn->started = 1;
    dcqcn->alpha = 1;
    dcqcn->marked_for_alpha = 0;
    dcqcn->target_bps = pair->rate_bps;
    schedule(network, pair_index, CONTROL_ALPHA, network->config->alpha_resume_us, 0, pair->stamp);
    /* One nanosecond later, so that the rate falls after alpha was brought up to date. */
    schedule(network, pair_index, CONTROL_DECREASE, network->config->rate_decrease_us, 1, pair->stamp);
}

static void dcqcn_alpha(struct packet_net *network, uint32_t pair_index)
{
    struct dcqcn *dcqcn = &packet_cc_of(network, pair_index)->as.dcqcn;
    double gain = network->config->ewma_gain;
    dcqcn->alpha = dcqcn->marked_for_alpha ? (1 - gain) * dcqcn->alpha + gain : (1 - gain) * dcqcn->alpha;
    dcqcn->marked_for_alpha = 0;
    schedule(network, pair_index, CONTROL_ALPHA, network->config->alpha_resume_us, 0,
             network->pairs.at[pair_index].stamp);
}

static void dcqcn_decrease(struct packet_net *network, uint32_t pair_index)
{
    struct dcqcn *dcqcn = &packet_cc_of(network, pair_index)->as.dcqcn;
    struct packet_pair *pair = &network->pairs.at[pair_index];
    schedule(network, pair_index, CONTROL_DECREASE, network->config->rate_decrease_us, 0, pair->stamp);
    if (!dcqcn->marked_for_rate) {
        return;
    }
    if (network->config->clamp_target_rate || dcqcn->stage != 0) {
        dcqcn->target_bps = pair->rate_bps;
    }
    pair->rate_bps = at_least(network, scaled(pair->rate_bps, 1 - dcqcn->alpha / 2));
    dcqcn->stage = 0;
    dcqcn->marked_for_rate = 0;
    dcqcn->increase_stamp++;
    schedule(network, pair_index, CONTROL_INCREASE, network->config->rp_timer_us, 0, dcqcn->increase_stamp);
}

static void dcqcn_increase(struct packet_net *network, uint32_t pair_index)
{
    struct dcqcn *dcqcn = &packet_cc_of(network, pair_index)->as.dcqcn;
    struct packet_pair *pair = &network->pairs.at[pair_index];
    const struct packet_config *config = network->config;
    schedule(network, pair_index, CONTROL_INCREASE, config->rp_timer_us, 0, dcqcn->increase_stamp);
    if (dcqcn->stage >= config->fast_recovery_times) {
        uint64_t more = dcqcn->stage == config->fast_recovery_times ? config->rate_ai_bps : config->rate_hai_bps;
        uint64_t target = dcqcn->target_bps + more;
        dcqcn->target_bps = target > pair->max_rate_bps ? pair->max_rate_bps : target;
    }
    pair->rate_bps = pair->rate_bps / 2 + dcqcn->target_bps / 2;
    dcqcn->stage++;
}

/* Timers of a message that gets no answer would tick for as long as its timeouts grow, to no end; the next mark starts
 * them again. */
void packet_cc_rest(struct packet_net *network, uint32_t pair)
{
    if (network->config->cc_mode == PACKET_CC_DCQCN && packet_cc_of(network, pair)->as.dcqcn.started) {
        struct dcqcn *dcqcn = &packet_cc_of(network, pair)->as.dcqcn;
        dcqcn->started = 0;
        dcqcn->stage = 0;
        dcqcn->marked_for_rate = 0;
        dcqcn->increase_stamp++;
        network->pairs.at[pair].stamp++;
    }
}

void packet_cc_timer(struct packet_net *network, uint32_t pair, uint32_t what)
{
    uint32_t stamp = what / CONTROL_KINDS;
    uint32_t kind = what % CONTROL_KINDS;
    uint32_t mask = UINT32_MAX / CONTROL_KINDS; /* a stamp loses its highest bits in the event */
    if (network->pairs.at[pair].finished) {
        return;
    }
    packet_turns_reopen(network, &network->pairs.at[pair]); /* a window may grow with the rate */
    if (kind == CONTROL_INCREASE) {
        if (stamp == (packet_cc_of(network, pair)->as.dcqcn.increase_stamp & mask)) {
            dcqcn_increase(network, pair);
        }
    } else if (stamp == (network->pairs.at[pair].stamp & mask)) {
        (kind == CONTROL_ALPHA ? dcqcn_alpha : dcqcn_decrease)(network, pair);
    }
}

/* ---- TIMELY ---- */

static void timely_ack(struct packet_net *network, uint32_t pair_index, const struct packet *ack)
{
    static const double share = 0.875, shortest_ns = 20000, low_ns = 50000, high_ns = 500000, beta = 0.8;
    struct timely *timely = &packet_cc_of(network, pair_index)->as.timely;
    struct packet_pair *pair = &network->pairs.at[pair_index];
    const struct packet_config *config = network->config;
    if (ack->seq <= timely->update_seq) {
        return;
    }
    uint64_t rtt = (uint32_t)network->net->queue->now - ack->sent_at;
    rtt &= UINT32_MAX;
    if (timely->update_seq != 0) {
        double difference =
            (1 - share) * timely->difference_ns + share * (double)((int64_t)rtt - (int64_t)timely->last_rtt_ns);
        double gradient = difference / shortest_ns;
        bool grows = (double)rtt < low_ns || ((double)rtt <= high_ns && gradient <= 0);
        if (grows) {
            uint64_t more = timely->stage < 5 ? config->rate_ai_bps : config->rate_hai_bps;
            uint64_t rate = timely->rate_bps + more;
            pair->rate_bps = rate > pair->max_rate_bps ? pair->max_rate_bps : rate;
            timely->stage++;
        } else {
            double factor = (double)rtt > high_ns ? 1 - beta * (1 - high_ns / (double)rtt) : 1 - beta * gradient;
            pair->rate_bps = at_least(network, scaled(timely->rate_bps, factor < 0 ? 0 : factor));
            timely->stage = 0;
        }
        timely->rate_bps = pair->rate_bps;
        timely->difference_ns = difference;
    }
    if (pair->sent > timely->update_seq) {
        timely->update_seq = pair->sent;
        timely->last_rtt_ns = rtt;
    }
}

/* ---- DCTCP ---- */

static void dctcp_ack(struct packet_net *network, uint32_t pair_index, const struct packet *ack)
{
    struct dctcp *dctcp = &packet_cc_of(network, pair_index)->as.dctcp;
    struct packet_pair *pair = &network->pairs.at[pair_index];
    const struct packet_config *config = network->config;
    bool new_batch = ack->seq > dctcp->update_seq;
    dctcp->marks += ack->marked;
    if (new_batch && dctcp->update_seq == 0) {
        dctcp->batch = pair->sent / config->payload_bytes + 1;
    } else if (new_batch) {
        double part = (double)dctcp->marks / (double)dctcp->batch;
        part = part > 1 ? 1 : part;
        dctcp->alpha = (1 - config->ewma_gain) * dctcp->alpha + config->ewma_gain * part;
        dctcp->marks = 0;
        dctcp->batch = (pair->sent - ack->seq) / config->payload_bytes + 1;
    }
    if (new_batch) {
        dctcp->update_seq = pair->sent;
    }
    if (dctcp->reduced && ack->seq > dctcp->high_seq) {
        dctcp->reduced = 0;
    }
    if (ack->marked && !dctcp->reduced) {
        pair->rate_bps = at_least(network, scaled(pair->rate_bps, 1 - dctcp->alpha / 2));
        dctcp->reduced = 1;
        dctcp->high_seq = pair->sent;
    }
    if (!dctcp->reduced && new_batch) {
        uint64_t rate = pair->rate_bps + config->dctcp_rate_ai_bps;
        pair->rate_bps = rate > pair->max_rate_bps ? pair->max_rate_bps : rate;
    }
}

void packet_cc_ack(struct packet_net *network, uint32_t pair, uint32_t packet)
{
    const struct packet *ack = &network->packets.at[packet];
    switch ((enum packet_cc)network->config->cc_mode) {
    case PACKET_CC_DCQCN:
        if (ack->marked) {
            dcqcn_marked(network, pair);
        }
        break;
    case PACKET_CC_HPCC:
        packet_hpcc_ack(network, pair, ack);
        break;
    case PACKET_CC_TIMELY:
        timely_ack(network, pair, ack);
        break;
    case PACKET_CC_DCTCP:
        dctcp_ack(network, pair, ack);
        break;
    case PACKET_CC_PINT:
        packet_pint_ack(network, pair, ack);
        break;
    case PACKET_CC_SWIFT:
        packet_swift_ack(network, pair, ack);
        break;
    case PACKET_CC_CREDIT:
    case PACKET_CC_NONE:
        break;
    }
}
