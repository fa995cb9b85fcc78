/* SPDX-License-Identifier: Apache-2.0 */
/*
 * DCQCN: the first mark starts two timers, one that brings alpha, the share of marked time, up to date, and one that
 * cuts the rate by half of alpha where there was a mark. After a cut a third one lets the rate recover towards where it
 * was, then beyond.
 */
#include "net/cc/cc.h"

enum { ALPHA, DECREASE, INCREASE };

static enum orr_status dcqcn_check(const struct packet_config *config, const char *name, struct notes *notes,
                                   struct orr_error *err)
{
    const struct {
        const char *key;
        double us;
    } timers[] = {{"ALPHA_RESUME_INTERVAL", config->alpha_resume_us},
                  {"RATE_DECREASE_INTERVAL", config->rate_decrease_us},
                  {"RP_TIMER", config->rp_timer_us}};
    (void)notes;
    for (size_t i = 0; i < sizeof timers / sizeof timers[0]; i++) {
        if (timers[i].us < 0.001) {
            return error_set(
                err, ORR_ERANGE,
                "%s: %s is %g (microseconds); DCQCN (CC_MODE 1) needs at least 0.001, or time stands still", name,
                timers[i].key, timers[i].us);
        }
    }
    return ORR_OK;
}

struct dcqcn {
    double alpha;
    uint64_t target_bps;
    uint32_t stage;
    uint8_t started, marked_for_alpha, marked_for_rate;
};

static void dcqcn_start(void *state, const struct packet_config *config, struct cc_sender *sender)
{
    (void)state;
    (void)config;
    (void)sender;
}

static void dcqcn_acked(void *state, const struct packet_config *config, struct cc_sender *sender,
                        const struct cc_ack *ack)
{
    struct dcqcn *dcqcn = state;
    if (ack->marks == 0) {
        return;
    }
    dcqcn->marked_for_alpha = 1;
    dcqcn->marked_for_rate = 1;
    if (dcqcn->started) {
        return;
    }
    dcqcn->started = 1;
    dcqcn->alpha = 1;
    dcqcn->marked_for_alpha = 0;
    dcqcn->target_bps = sender->rate_bps;
    sender->timer_ns[ALPHA] = cc_timer_ns(config->alpha_resume_us);
    /* One nanosecond later, so that the rate falls after alpha was brought up to date. */
    sender->timer_ns[DECREASE] = cc_timer_ns(config->rate_decrease_us) + 1;
}

static void decrease(struct dcqcn *dcqcn, const struct packet_config *config, struct cc_sender *sender)
{
    sender->timer_ns[DECREASE] = cc_timer_ns(config->rate_decrease_us);
    if (!dcqcn->marked_for_rate) {
        return;
    }
    if (config->clamp_target_rate || dcqcn->stage != 0) {
        dcqcn->target_bps = sender->rate_bps;
    }
    sender->rate_bps = cc_at_least(config, cc_scaled(sender->rate_bps, 1 - dcqcn->alpha / 2));
    dcqcn->stage = 0;
    dcqcn->marked_for_rate = 0;
    sender->timer_ns[INCREASE] = cc_timer_ns(config->rp_timer_us);
}

static void increase(struct dcqcn *dcqcn, const struct packet_config *config, struct cc_sender *sender)
{
    sender->timer_ns[INCREASE] = cc_timer_ns(config->rp_timer_us);
    if (dcqcn->stage >= config->fast_recovery_times) {
        uint64_t more = dcqcn->stage == config->fast_recovery_times ? config->rate_ai_bps : config->rate_hai_bps;
        dcqcn->target_bps = cc_at_most(sender, dcqcn->target_bps + more);
    }
    sender->rate_bps = sender->rate_bps / 2 + dcqcn->target_bps / 2;
    dcqcn->stage++;
}

static void dcqcn_timer(void *state, const struct packet_config *config, struct cc_sender *sender, uint32_t which)
{
    struct dcqcn *dcqcn = state;
    if (which == DECREASE) {
        decrease(dcqcn, config, sender);
    } else if (which == INCREASE) {
        increase(dcqcn, config, sender);
    } else {
        double kept = (1 - config->ewma_gain) * dcqcn->alpha;
        dcqcn->alpha = dcqcn->marked_for_alpha ? kept + config->ewma_gain : kept;
        dcqcn->marked_for_alpha = 0;
        sender->timer_ns[ALPHA] = cc_timer_ns(config->alpha_resume_us);
    }
}

/* The next mark starts all of it again. */
static bool dcqcn_rest(void *state)
{
    struct dcqcn *dcqcn = state;
    bool was_started = dcqcn->started;
    dcqcn->started = 0;
    dcqcn->stage = was_started ? 0 : dcqcn->stage;
    dcqcn->marked_for_rate = 0;
    return was_started;
}

static void dcqcn_tell(const void *state, const struct cc_teller *teller)
{
    const struct dcqcn *dcqcn = state;
    cc_tell_real(teller, dcqcn->alpha);
    cc_tell(teller, dcqcn->target_bps);
    cc_tell(teller, dcqcn->stage | (uint64_t)dcqcn->started << 32 | (uint64_t)dcqcn->marked_for_alpha << 40 |
                        (uint64_t)dcqcn->marked_for_rate << 48);
}

const struct cc_law cc_dcqcn = {
    .name = "dcqcn",
    .number = PACKET_CC_DCQCN,
    .in_files = true,
    .is_fluid = true,
    .check = dcqcn_check,
    .by_marks_alone = true,
    .needs = CC_MARKS,
    .state_bytes = sizeof(struct dcqcn),
    .start = dcqcn_start,
    .acked = dcqcn_acked,
    .timer = dcqcn_timer,
    .rest = dcqcn_rest,
    .tell = dcqcn_tell,
};
