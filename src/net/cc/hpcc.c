/* SPDX-License-Identifier: Apache-2.0 */
/*
 * HPCC: from the records that switches write into packets follows how much of each link is in use, and from that the
 * rate that would bring the fullest to its target. Between full updates, once a round trip, the rate follows every
 * acknowledgement, always from where the last full one left it.
 */
#include "net/cc/use.h"

const uint64_t cc_coded_rates[CC_RATE_CODES] = {25000000000,  50000000000,   100000000000, 200000000000,
                                                400000000000, 1200000000000, 2400000000000};

unsigned cc_rate_code(uint64_t rate_bps)
{
    for (unsigned code = 0; code < CC_RATE_CODES; code++) {
        if (rate_bps == cc_coded_rates[code]) {
            return code;
        }
    }
    return 0;
}

static enum orr_status hpcc_check(const struct packet_config *config, const char *name, struct notes *notes,
                                  struct orr_error *err)
{
    return config->has_window
               ? ORR_OK
               : notes_add(notes, err,
                           "%s: HAS_WIN 0 with HPCC (CC_MODE 3) divides by 0 in the original, whose result depends on "
                           "the processor; here queues are weighed against the bytes of one base round trip at line "
                           "rate",
                           name);
}

struct hpcc {
    struct cc_hop hops[CC_HOPS];
    struct cc_use all, per_hop[CC_HOPS];
    uint64_t update_seq;
};

_Static_assert(sizeof(struct hpcc) <= CC_STATE_MOST, "the largest of all");

static void hpcc_start(void *state, const struct packet_config *config, struct cc_sender *sender)
{
    struct hpcc *hpcc = state;
    (void)config;
    hpcc->all = (struct cc_use){.u = 1, .rate_bps = sender->line_bps};
    for (unsigned i = 0; i < CC_HOPS; i++) {
        hpcc->per_hop[i] = hpcc->all;
    }
}

/*
 * The bytes that a queue is weighed against: the window. Without one (HAS_WIN 0) the reference divides by 0 and goes on
 * with what the processor makes of that; here it is then what the base round trip holds at the sender's line rate,
 * which is HPCC's own B x T, and a window of which would change nothing else.
 */
static double held_bytes(const struct cc_sender *sender)
{
    double held = (double)sender->line_bps * (double)sender->base_rtt_ns / 8e9;
    return sender->window > 0 ? (double)sender->window : held > 1 ? held : 1;
}

static double hop_use(const struct cc_sender *sender, const struct cc_hop *now, const struct cc_hop *before,
                      uint64_t tau)
{
    double line = (double)now->rate_bps;
    uint64_t bytes = (now->sent_bytes - before->sent_bytes) & CC_HOP_SENT;
    /* Two records of one time tell no rate. */
    double rate = tau == 0 ? 0 : (double)(bytes * 8) / ((double)tau * 1e-9);
    double queued = now->queued_bytes < before->queued_bytes ? now->queued_bytes : before->queued_bytes;
    return rate / line + queued * (double)sender->line_bps / line / held_bytes(sender);
}

static void smooth(double *u, double seen, uint64_t tau, uint64_t base)
{
    tau = tau > base ? base : tau;
    *u = (*u * (double)(base - tau) + seen * (double)tau) / (double)base;
}

/* One hop, where each has a rate of its own: the rate that follows. */
static uint64_t follow_hop(struct cc_use *hop, const struct packet_config *config, const struct cc_sender *sender,
                           double use, uint64_t tau, bool full)
{
    uint32_t stage = 0;
    smooth(&hop->u, use, tau, sender->base_rtt_ns);
    uint64_t rate = cc_use_rate(sender, config, hop, &stage);
    if (full) {
        hop->rate_bps = rate;
        hop->stage = stage;
    }
    return rate;
}

static void update(struct hpcc *hpcc, const struct packet_config *config, struct cc_sender *sender,
                   const struct cc_ack *ack, bool full)
{
    double most = 0;
    uint64_t most_tau = 0;
    bool any = false;
    uint64_t rate = sender->line_bps;
    uint32_t stage = hpcc->all.stage;
    for (uint32_t i = 0; i < ack->hop_count; i++) {
        const struct cc_hop *now = &ack->hops[i];
        if (config->sample_feedback && now->queued_bytes == 0 && !full) {
            rate = hpcc->per_hop[i].rate_bps < rate ? hpcc->per_hop[i].rate_bps : rate;
            continue;
        }
        any = true;
        uint64_t tau = (now->time_ns - hpcc->hops[i].time_ns) & CC_HOP_TIME;
        double use = hop_use(sender, now, &hpcc->hops[i], tau);
        hpcc->hops[i] = *now;
        if (config->multi_rate) {
            uint64_t hop_rate = follow_hop(&hpcc->per_hop[i], config, sender, use, tau, full);
            rate = hop_rate < rate ? hop_rate : rate;
        } else if (use > most) {
            most = use;
            most_tau = tau;
        }
    }
    if (!any) {
        return;
    }
    if (!config->multi_rate) {
        smooth(&hpcc->all.u, most, most_tau, sender->base_rtt_ns);
        rate = cc_use_rate(sender, config, &hpcc->all, &stage);
    }
    sender->rate_bps = rate;
    sender->paces_anew = true;
    if (full) {
        hpcc->all.rate_bps = rate;
        hpcc->all.stage = stage;
    }
}

static void hpcc_acked(void *state, const struct packet_config *config, struct cc_sender *sender,
                       const struct cc_ack *ack)
{
    struct hpcc *hpcc = state;
    bool full = ack->acked > hpcc->update_seq;
    if (!full && !config->fast_react) {
        return;
    }
    if (hpcc->update_seq == 0) {
        hpcc->update_seq = sender->sent;
        for (uint32_t i = 0; i < ack->hop_count && i < CC_HOPS; i++) {
            hpcc->hops[i] = ack->hops[i];
        }
        return;
    }
    if (ack->hop_count <= CC_HOPS) {
        update(hpcc, config, sender, ack, full);
    }
    if (full && sender->sent > hpcc->update_seq) {
        hpcc->update_seq = sender->sent;
    }
}

static void hpcc_tell(const void *state, const struct cc_teller *teller)
{
    const struct hpcc *hpcc = state;
    cc_tell_seq(teller, hpcc->update_seq);
    cc_tell_real(teller, hpcc->all.u);
    cc_tell(teller, hpcc->all.rate_bps);
    cc_tell(teller, hpcc->all.stage);
    for (uint32_t i = 0; i < teller->hop_count && teller->hop_count <= CC_HOPS && hpcc->update_seq != 0; i++) {
        const struct cc_hop *hop = &hpcc->hops[i];
        uint32_t ago = (uint32_t)(teller->now_ns - hop->time_ns) & CC_HOP_TIME;
        uint32_t since = (teller->hop_sent[i] - hop->sent_bytes) & CC_HOP_SENT;
        cc_tell(teller, ago | (uint64_t)since << 32);
        cc_tell(teller, hop->queued_bytes);
        cc_tell_real(teller, hpcc->per_hop[i].u);
        cc_tell(teller, hpcc->per_hop[i].rate_bps);
        cc_tell(teller, hpcc->per_hop[i].stage);
    }
}

static void hpcc_move(void *state, const struct packet_config *config, const struct cc_move *move)
{
    struct hpcc *hpcc = state;
    (void)config;
    for (uint32_t i = 0; i < CC_HOPS && hpcc->update_seq != 0; i++) {
        hpcc->hops[i].time_ns = (uint32_t)(hpcc->hops[i].time_ns + move->by_ns) & CC_HOP_TIME;
        hpcc->hops[i].sent_bytes = (hpcc->hops[i].sent_bytes + move->hop_bytes[i]) & CC_HOP_SENT;
    }
    cc_move_seq(&hpcc->update_seq, move);
}

const struct cc_law cc_hpcc = {
    .name = "hpcc",
    .number = PACKET_CC_HPCC,
    .in_files = true,
    .is_fluid = true,
    .check = hpcc_check,
    .needs = CC_TELEMETRY,
    .paces_anew = true,
    .header_bytes = 42,
    .state_bytes = sizeof(struct hpcc),
    .start = hpcc_start,
    .acked = hpcc_acked,
    .tell = hpcc_tell,
    .move = hpcc_move,
};
