/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The laws stay as they are in the packet network, because what they do to a link is decided by details: which
 * acknowledgement ends a round trip, what the first mark starts, where a rate is rounded. Only what they read is
 * simpler: there is no loss, and a sender's acknowledgements come in order.
 */
#include "net/flow/control.h"

#include "net/packet/wire.h"

bool control_is_known(const struct packet_config *config)
{
    return config->cc_mode != PACKET_CC_SWIFT && config->cc_mode != PACKET_CC_CREDIT;
}

bool control_matters(const struct packet_config *config)
{
    switch ((enum packet_cc)config->cc_mode) {
    case PACKET_CC_DCQCN:
    case PACKET_CC_DCTCP:
        return config->enable_qcn;
    case PACKET_CC_HPCC:
    case PACKET_CC_TIMELY:
    case PACKET_CC_PINT:
        return true;
    case PACKET_CC_SWIFT:
    case PACKET_CC_CREDIT:
    case PACKET_CC_NONE:
        break;
    }
    return false;
}

struct packet_mark control_rule(const struct packet_config *config, uint64_t rate_bps)
{
    struct packet_mark rule = {0};
    for (uint32_t i = 0; i < config->mark_count; i++) {
        rule = config->marks[i].rate_bps == rate_bps ? config->marks[i] : rule;
    }
    return rule;
}

void control_sender_start(struct control_sender *sender, const struct packet_config *config)
{
    const uint64_t line = sender->line_bps;
    *sender = (struct control_sender){.size = sender->size,
                                      .sent = sender->sent,
                                      .acked = sender->acked,
                                      .window = sender->window,
                                      .base_rtt_ns = sender->base_rtt_ns,
                                      .line_bps = line,
                                      .rate_bps = line,
                                      .timer_ns = UINT64_MAX};
    switch ((enum packet_cc)config->cc_mode) {
    case PACKET_CC_DCQCN:
        sender->as.dcqcn.alpha_at = UINT64_MAX;
        sender->as.dcqcn.cut_at = UINT64_MAX;
        sender->as.dcqcn.increase_at = UINT64_MAX;
        break;
    case PACKET_CC_HPCC:
    case PACKET_CC_PINT:
        sender->as.hpcc.all = (struct control_use){.u = 1, .rate_bps = line};
        for (uint32_t i = 0; i < CONTROL_HOPS; i++) {
            sender->as.hpcc.per_hop[i] = sender->as.hpcc.all;
        }
        break;
    case PACKET_CC_DCTCP:
        sender->as.dctcp.alpha = 1;
        break;
    default:
        break;
    }
}

static uint64_t scaled(uint64_t rate_bps, double factor)
{
    return (uint64_t)((double)rate_bps * factor);
}

/* Never 0: that would be no pace at all. */
static uint64_t at_least(const struct packet_config *config, uint64_t rate_bps)
{
    uint64_t least = config->min_rate_bps == 0 ? 1 : config->min_rate_bps;
    return rate_bps < least ? least : rate_bps;
}

static uint64_t at_most(const struct control_sender *sender, uint64_t rate_bps)
{
    return rate_bps > sender->line_bps ? sender->line_bps : rate_bps;
}

/* ---- DCQCN ---- */

/* A timer of no time would never let time go on. */
static uint64_t timer_ns(double us)
{
    uint64_t ns = us < 1e12 ? (uint64_t)(us * 1000) : UINT64_C(1000000000000000);
    return ns == 0 ? 1 : ns;
}

static void dcqcn_arm(struct control_sender *sender)
{
    const struct control_dcqcn *dcqcn = &sender->as.dcqcn;
    uint64_t first = dcqcn->alpha_at < dcqcn->cut_at ? dcqcn->alpha_at : dcqcn->cut_at;
    sender->timer_ns = dcqcn->increase_at < first ? dcqcn->increase_at : first;
}

static void dcqcn_marked(struct control_sender *sender, const struct packet_config *config, uint64_t now_ns)
{
    struct control_dcqcn *dcqcn = &sender->as.dcqcn;
    dcqcn->marked_for_alpha = true;
    dcqcn->marked_for_rate = true;
    if (dcqcn->started) {
        return;
    }
    dcqcn->started = true;
    dcqcn->alpha = 1;
    dcqcn->marked_for_alpha = false;
    dcqcn->target_bps = sender->rate_bps;
    dcqcn->alpha_at = now_ns + timer_ns(config->alpha_resume_us);
    dcqcn->cut_at = now_ns + timer_ns(config->rate_decrease_us) + 1;
    dcqcn_arm(sender);
}

static void dcqcn_cut(struct control_sender *sender, const struct packet_config *config)
{
    struct control_dcqcn *dcqcn = &sender->as.dcqcn;
    if (dcqcn->marked_for_rate) {
        if (config->clamp_target_rate || dcqcn->stage != 0) {
            dcqcn->target_bps = sender->rate_bps;
        }
        sender->rate_bps = at_least(config, scaled(sender->rate_bps, 1 - dcqcn->alpha / 2));
        dcqcn->stage = 0;
        dcqcn->marked_for_rate = false;
        dcqcn->increase_at = dcqcn->cut_at + timer_ns(config->rp_timer_us);
    }
    dcqcn->cut_at += timer_ns(config->rate_decrease_us);
}

static void dcqcn_increase(struct control_sender *sender, const struct packet_config *config)
{
    struct control_dcqcn *dcqcn = &sender->as.dcqcn;
    if (dcqcn->stage >= config->fast_recovery_times) {
        uint64_t more = dcqcn->stage == config->fast_recovery_times ? config->rate_ai_bps : config->rate_hai_bps;
        dcqcn->target_bps = at_most(sender, dcqcn->target_bps + more);
    }
    sender->rate_bps = sender->rate_bps / 2 + dcqcn->target_bps / 2;
    dcqcn->stage++;
    dcqcn->increase_at += timer_ns(config->rp_timer_us);
}

static void dcqcn_alpha(struct control_sender *sender, const struct packet_config *config)
{
    struct control_dcqcn *dcqcn = &sender->as.dcqcn;
    dcqcn->alpha = (1 - config->ewma_gain) * dcqcn->alpha + (dcqcn->marked_for_alpha ? config->ewma_gain : 0);
    dcqcn->marked_for_alpha = false;
    dcqcn->alpha_at += timer_ns(config->alpha_resume_us);
}

enum dcqcn_timer { DCQCN_ALPHA, DCQCN_CUT, DCQCN_INCREASE, DCQCN_TIMERS };

/* Which timer runs out next, and when it was set. */
static enum dcqcn_timer dcqcn_first(const struct control_dcqcn *dcqcn, const struct packet_config *config,
                                    uint64_t at_ns, uint64_t *set_ns)
{
    const uint64_t at[DCQCN_TIMERS] = {dcqcn->alpha_at, dcqcn->cut_at, dcqcn->increase_at};
    const double us[DCQCN_TIMERS] = {config->alpha_resume_us, config->rate_decrease_us, config->rp_timer_us};
    enum dcqcn_timer first = DCQCN_ALPHA;
    *set_ns = UINT64_MAX;
    for (enum dcqcn_timer i = DCQCN_ALPHA; i < DCQCN_TIMERS; i++) {
        if (at[i] == at_ns && at_ns - timer_ns(us[i]) < *set_ns) {
            first = i;
            *set_ns = at_ns - timer_ns(us[i]);
        }
    }
    return first;
}

void control_sender_tick(struct control_sender *sender, const struct packet_config *config, uint64_t now_ns,
                         uint64_t since_ns)
{
    static void (*const run_out[])(struct control_sender *, const struct packet_config *) = {dcqcn_alpha, dcqcn_cut,
                                                                                             dcqcn_increase};
    while (sender->timer_ns <= now_ns) {
        uint64_t set_ns;
        enum dcqcn_timer first = dcqcn_first(&sender->as.dcqcn, config, sender->timer_ns, &set_ns);
        if (sender->timer_ns == now_ns && set_ns > since_ns) {
            break;
        }
        run_out[first](sender, config);
        dcqcn_arm(sender);
    }
}

/* ---- HPCC ---- */

/* These two move the time of the next packet by what the last one would have taken more or less. */
static void change_rate(struct control_sender *sender, const struct packet_config *config, uint64_t rate_bps)
{
    if (rate_bps == sender->rate_bps || rate_bps == 0 || sender->rate_bps == 0) {
        return; /* a line that carries nothing has no pace to change */
    }
    uint64_t before = wire_sending_ns(config, sender->last_bytes, sender->rate_bps);
    uint64_t after = wire_sending_ns(config, sender->last_bytes, rate_bps);
    uint64_t next = sender->next_ns + after;
    sender->next_ns = next > before ? next - before : 0;
    sender->rate_bps = rate_bps;
}

static double hop_use(const struct control_sender *sender, const struct control_hop *now,
                      const struct control_hop *before, uint64_t tau)
{
    double line = (double)now->rate_bps;
    double rate = tau == 0 ? 0 : (double)((now->sent_bytes - before->sent_bytes) * 8) / ((double)tau * 1e-9);
    uint64_t queued = now->queued_bytes < before->queued_bytes ? now->queued_bytes : before->queued_bytes;
    double held = wire_hpcc_bytes(sender->window, sender->base_rtt_ns, sender->line_bps);
    return rate / line + (double)queued * (double)sender->line_bps / line / held;
}

/* The next rate from the use of a link: multiplicative above the target or after enough additive steps. */
static uint64_t hpcc_rate(const struct control_sender *sender, const struct packet_config *config,
                          struct control_use *use)
{
    double excess = use->u / config->u_target;
    uint64_t rate = use->rate_bps;
    if (excess >= 1 || use->stage >= config->mi_thresh) {
        double fitting = (double)rate / excess;
        rate = fitting < 1e18 ? (uint64_t)fitting : UINT64_C(1000000000000000000);
        use->stage = 0;
    } else {
        use->stage++;
    }
    return at_most(sender, at_least(config, rate + config->rate_ai_bps));
}

static void hpcc_smooth(double *u, double seen, uint64_t tau, uint64_t base)
{
    tau = tau > base ? base : tau;
    *u = (*u * (double)(base - tau) + seen * (double)tau) / (double)base;
}

static void hpcc_update(struct control_sender *sender, const struct packet_config *config,
                        const struct control_ack *ack, bool full)
{
    struct control_hpcc *hpcc = &sender->as.hpcc;
    uint64_t rate = sender->line_bps;
    double most = 0;
    uint64_t most_tau = 0;
    bool any = false;
    for (uint32_t i = 0; i < ack->hop_count; i++) {
        const struct control_hop *now = &ack->hops[i];
        if (config->sample_feedback && now->queued_bytes == 0 && !full) {
            rate = hpcc->per_hop[i].rate_bps < rate ? hpcc->per_hop[i].rate_bps : rate;
            continue;
        }
        any = true;
        uint64_t tau = now->time_ns - hpcc->hops[i].time_ns;
        double use = hop_use(sender, now, &hpcc->hops[i], tau);
        hpcc->hops[i] = *now;
        if (config->multi_rate) {
            struct control_use next = hpcc->per_hop[i];
            hpcc_smooth(&next.u, use, tau, sender->base_rtt_ns);
            hpcc->per_hop[i].u = next.u;
            next.rate_bps = hpcc_rate(sender, config, &next);
            rate = next.rate_bps < rate ? next.rate_bps : rate;
            hpcc->per_hop[i] = full ? next : hpcc->per_hop[i];
        } else if (use > most) {
            most = use;
            most_tau = tau;
        }
    }
    if (!any) {
        return;
    }
    struct control_use next = hpcc->all;
    if (!config->multi_rate) {
        hpcc_smooth(&hpcc->all.u, most, most_tau, sender->base_rtt_ns);
        next.u = hpcc->all.u;
        rate = hpcc_rate(sender, config, &next);
    }
    change_rate(sender, config, rate);
    if (full) {
        hpcc->all.rate_bps = rate;
        hpcc->all.stage = next.stage;
    }
}

static void pint_update(struct control_sender *sender, const struct packet_config *config,
                        const struct control_ack *ack, bool full)
{
    struct control_use next = sender->as.hpcc.all;
    next.u = ack->use;
    next.rate_bps = hpcc_rate(sender, config, &next);
    change_rate(sender, config, next.rate_bps);
    if (full) {
        sender->as.hpcc.all = next;
    }
}

static void hpcc_ack(struct control_sender *sender, const struct packet_config *config, const struct control_ack *ack)
{
    struct control_hpcc *hpcc = &sender->as.hpcc;
    bool full = ack->acked > hpcc->update_at;
    bool tells = config->cc_mode == PACKET_CC_PINT ? ack->use > 0 : ack->hop_count > 0;
    bool is_fast = config->fast_react || config->cc_mode == PACKET_CC_PINT; /* PINT is whatever FAST_REACT says */
    if (!tells || (!full && !is_fast)) {
        return;
    }
    if (hpcc->update_at == 0) {
        hpcc->update_at = sender->sent;
        for (uint32_t i = 0; i < ack->hop_count; i++) {
            hpcc->hops[i] = ack->hops[i];
        }
        return;
    }
    (config->cc_mode == PACKET_CC_PINT ? pint_update : hpcc_update)(sender, config, ack, full);
    hpcc->update_at = full ? sender->sent : hpcc->update_at;
}

/* ---- TIMELY ---- */

static void timely_ack(struct control_sender *sender, const struct packet_config *config, const struct control_ack *ack)
{
    static const double share = 0.875, shortest_ns = 20000, low_ns = 50000, high_ns = 500000, beta = 0.8;
    struct control_timely *timely = &sender->as.timely;
    if (ack->acked <= timely->update_at) {
        return;
    }
    uint64_t rtt = ack->now_ns - ack->sent_ns;
    if (timely->update_at != 0) {
        timely->difference_ns =
            (1 - share) * timely->difference_ns + share * ((double)rtt - (double)timely->last_rtt_ns);
        double gradient = timely->difference_ns / shortest_ns;
        if ((double)rtt < low_ns || ((double)rtt <= high_ns && gradient <= 0)) {
            uint64_t more = timely->stage < 5 ? config->rate_ai_bps : config->rate_hai_bps;
            sender->rate_bps = at_most(sender, sender->rate_bps + more);
            timely->stage++;
        } else {
            double factor = (double)rtt > high_ns ? 1 - beta * (1 - high_ns / (double)rtt) : 1 - beta * gradient;
            sender->rate_bps = at_least(config, scaled(sender->rate_bps, factor < 0 ? 0 : factor));
            timely->stage = 0;
        }
    }
    if (sender->sent > timely->update_at) {
        timely->update_at = sender->sent;
        timely->last_rtt_ns = rtt;
    }
}

/* ---- DCTCP ---- */

static void dctcp_ack(struct control_sender *sender, const struct packet_config *config, const struct control_ack *ack)
{
    struct control_dctcp *dctcp = &sender->as.dctcp;
    bool new_batch = ack->acked > dctcp->update_at;
    dctcp->marks += ack->marked;
    if (new_batch && dctcp->update_at == 0) {
        dctcp->batch = sender->sent / config->payload_bytes + 1;
    } else if (new_batch) {
        double part = (double)dctcp->marks / (double)dctcp->batch;
        dctcp->alpha = (1 - config->ewma_gain) * dctcp->alpha + config->ewma_gain * (part > 1 ? 1 : part);
        dctcp->marks = 0;
        dctcp->batch = (sender->sent - ack->acked) / config->payload_bytes + 1;
    }
    dctcp->update_at = new_batch ? sender->sent : dctcp->update_at;
    dctcp->reduced = dctcp->reduced && ack->acked <= dctcp->cut_until;
    if (ack->marked > 0 && !dctcp->reduced) {
        sender->rate_bps = at_least(config, scaled(sender->rate_bps, 1 - dctcp->alpha / 2));
        dctcp->reduced = true;
        dctcp->cut_until = sender->sent;
    }
    if (!dctcp->reduced && new_batch) {
        sender->rate_bps = at_most(sender, sender->rate_bps + config->dctcp_rate_ai_bps);
    }
}

void control_sender_ack(struct control_sender *sender, const struct packet_config *config,
                        const struct control_ack *ack)
{
    sender->acked = ack->acked > sender->acked ? ack->acked : sender->acked;
    switch ((enum packet_cc)config->cc_mode) {
    case PACKET_CC_DCQCN:
        if (ack->marked > 0) {
            dcqcn_marked(sender, config, ack->now_ns);
        }
        break;
    case PACKET_CC_HPCC:
    case PACKET_CC_PINT:
        hpcc_ack(sender, config, ack);
        break;
    case PACKET_CC_TIMELY:
        timely_ack(sender, config, ack);
        break;
    case PACKET_CC_DCTCP:
        dctcp_ack(sender, config, ack);
        break;
    default:
        break;
    }
}
