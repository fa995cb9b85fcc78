/* SPDX-License-Identifier: Apache-2.0 */
/*
 * DCTCP on rates: alpha follows the share of marked packets, round trip by round trip; a mark cuts the rate by half of
 * alpha, once a round trip, and a round trip without one adds to it.
 */
#include "net/cc/cc.h"

struct dctcp {
    double alpha;
    uint64_t update_seq, batch, high_seq;
    uint32_t marks;
    uint8_t reduced;
};

static void dctcp_start(void *state, const struct packet_config *config, struct cc_sender *sender)
{
    (void)config;
    (void)sender;
    ((struct dctcp *)state)->alpha = 1;
}

static void dctcp_acked(void *state, const struct packet_config *config, struct cc_sender *sender,
                        const struct cc_ack *ack)
{
    struct dctcp *dctcp = state;
    bool new_batch = ack->acked > dctcp->update_seq;
    dctcp->marks += ack->marks;
    if (new_batch && dctcp->update_seq == 0) {
        dctcp->batch = sender->sent / config->payload_bytes + 1;
    } else if (new_batch) {
        double part = (double)dctcp->marks / (double)dctcp->batch;
        part = part > 1 ? 1 : part;
        dctcp->alpha = (1 - config->ewma_gain) * dctcp->alpha + config->ewma_gain * part;
        dctcp->marks = 0;
        dctcp->batch = (sender->sent - ack->acked) / config->payload_bytes + 1;
    }
    if (new_batch) {
        dctcp->update_seq = sender->sent;
    }
    if (dctcp->reduced && ack->acked > dctcp->high_seq) {
        dctcp->reduced = 0;
    }
    if (ack->marks > 0 && !dctcp->reduced) {
        sender->rate_bps = cc_at_least(config, cc_scaled(sender->rate_bps, 1 - dctcp->alpha / 2));
        dctcp->reduced = 1;
        dctcp->high_seq = sender->sent;
    }
    if (!dctcp->reduced && new_batch) {
        sender->rate_bps = cc_at_most(sender, sender->rate_bps + config->dctcp_rate_ai_bps);
    }
}

static void dctcp_tell(const void *state, const struct cc_teller *teller)
{
    const struct dctcp *dctcp = state;
    cc_tell_seq(teller, dctcp->update_seq);
    cc_tell_seq(teller, dctcp->reduced ? dctcp->high_seq : 0);
    cc_tell(teller, dctcp->batch);
    cc_tell(teller, dctcp->marks | (uint64_t)dctcp->reduced << 32);
}

/* Without marks alpha is multiplied by the same factor at every batch, and nothing else looks at it. */
static double dctcp_drift(const void *state)
{
    return ((const struct dctcp *)state)->alpha;
}

/* How often within the period, or UINT64_MAX when that is not what happened. */
static uint64_t alpha_steps(const struct packet_config *config, double before, double after)
{
    enum { MOST = 1 << 20 };
    double factor = 1 - config->ewma_gain;
    uint64_t steps = 0;
    while (before != after && steps < MOST) {
        double next = factor * before;
        if (next == before) {
            return UINT64_MAX;
        }
        before = next;
        steps++;
    }
    return steps < MOST ? steps : UINT64_MAX;
}

static bool dctcp_drifts_evenly(const void *state, const struct packet_config *config, double drift, bool marked)
{
    uint64_t steps = alpha_steps(config, drift, ((const struct dctcp *)state)->alpha);
    return steps == 0 || (!marked && steps != UINT64_MAX);
}

static void dctcp_move(void *state, const struct packet_config *config, const struct cc_move *move)
{
    struct dctcp *dctcp = state;
    uint64_t steps = move->times * alpha_steps(config, move->drift, dctcp->alpha);
    double factor = 1 - config->ewma_gain;
    double before = -1;
    cc_move_seq(&dctcp->update_seq, move);
    cc_move_seq(&dctcp->high_seq, move);
    while (steps-- > 0 && before != dctcp->alpha) {
        before = dctcp->alpha;
        dctcp->alpha = factor * before;
    }
}

const struct cc_law cc_dctcp = {
    .name = "dctcp",
    .number = PACKET_CC_DCTCP,
    .in_files = true,
    .is_fluid = true,
    .needs = CC_MARKS,
    .state_bytes = sizeof(struct dctcp),
    .start = dctcp_start,
    .acked = dctcp_acked,
    .tell = dctcp_tell,
    .drift = dctcp_drift,
    .drifts_evenly = dctcp_drifts_evenly,
    .move = dctcp_move,
};
