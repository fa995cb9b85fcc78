/* SPDX-License-Identifier: Apache-2.0 */
/*
 * TIMELY: the rate grows while round trips are short or become shorter, and shrinks with their gradient, or where they
 * are long with how long they are.
 */
#include "net/cc/cc.h"

static const double share = 0.875, shortest_ns = 20000, low_ns = 50000, high_ns = 500000, beta = 0.8;

enum { PATIENT_STAGES = 5 }; /* after so many increases in a row they are larger */

struct timely {
    double difference_ns;
    uint64_t last_rtt_ns;
    uint32_t stage;
    uint64_t update_seq;
};

static void timely_start(void *state, const struct packet_config *config, struct cc_sender *sender)
{
    (void)state;
    (void)config;
    (void)sender;
}

static void timely_acked(void *state, const struct packet_config *config, struct cc_sender *sender,
                         const struct cc_ack *ack)
{
    struct timely *timely = state;
    uint64_t rtt = ack->rtt_ns;
    if (ack->acked <= timely->update_seq) {
        return;
    }
    if (timely->update_seq != 0) {
        double difference =
            (1 - share) * timely->difference_ns + share * (double)((int64_t)rtt - (int64_t)timely->last_rtt_ns);
        double gradient = difference / shortest_ns;
        if ((double)rtt < low_ns || ((double)rtt <= high_ns && gradient <= 0)) {
            uint64_t more = timely->stage < PATIENT_STAGES ? config->rate_ai_bps : config->rate_hai_bps;
            sender->rate_bps = cc_at_most(sender, sender->rate_bps + more);
            timely->stage++;
        } else {
            double factor = (double)rtt > high_ns ? 1 - beta * (1 - high_ns / (double)rtt) : 1 - beta * gradient;
            sender->rate_bps = cc_at_least(config, cc_scaled(sender->rate_bps, factor < 0 ? 0 : factor));
            timely->stage = 0;
        }
        timely->difference_ns = difference;
    }
    if (sender->sent > timely->update_seq) {
        timely->update_seq = sender->sent;
        timely->last_rtt_ns = rtt;
    }
}

static void timely_tell(const void *state, const struct cc_teller *teller)
{
    const struct timely *timely = state;
    cc_tell_real(teller, timely->difference_ns);
    cc_tell(teller, timely->last_rtt_ns);
    cc_tell(teller, timely->stage < PATIENT_STAGES ? timely->stage : PATIENT_STAGES);
    cc_tell_seq(teller, timely->update_seq);
}

/* Beyond the last of them that counts, stages only count. */
static double timely_drift(const void *state)
{
    return ((const struct timely *)state)->stage;
}

static void timely_move(void *state, const struct packet_config *config, const struct cc_move *move)
{
    struct timely *timely = state;
    (void)config;
    timely->stage += (uint32_t)move->times * (timely->stage - (uint32_t)move->drift);
    cc_move_seq(&timely->update_seq, move);
}

const struct cc_law cc_timely = {
    .name = "timely",
    .number = PACKET_CC_TIMELY,
    .in_files = true,
    .is_fluid = true,
    .needs = CC_ROUND_TRIPS,
    .header_bytes = 8,
    .state_bytes = sizeof(struct timely),
    .start = timely_start,
    .acked = timely_acked,
    .tell = timely_tell,
    .drift = timely_drift,
    .move = timely_move,
};
