/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Swift (Kumar et al., SIGCOMM 2020) on the network's delay alone: the bytes on their way grow by a packet a round trip
 * while round trips stay below a target, and shrink in proportion to how far they exceed it, at most once a round trip.
 * Below a packet's worth it is the pace that shrinks. The target is half as much again as the empty network's round
 * trip.
 */
#include "net/cc/cc.h"

static const double beta = 0.8, most_cut = 0.5, least_packets = 0.01;

/* Whether a round trip has passed since the last cut is all that is asked. What is this long ago, or never was, is
 * longer than any round trip, as long as no packet and no period is half as old. */
enum { LONG_NS = 1 << 20 };

struct swift {
    double window; /* bytes on their way */
    uint64_t cut_ns;
};

static double target_ns(const struct cc_sender *sender)
{
    return 1.5 * (double)sender->base_rtt_ns;
}

static void swift_start(void *state, const struct packet_config *config, struct cc_sender *sender)
{
    (void)config;
    ((struct swift *)state)->window = (double)sender->line_bps / 8e9 * (double)sender->base_rtt_ns;
}

static void swift_acked(void *state, const struct packet_config *config, struct cc_sender *sender,
                        const struct cc_ack *ack)
{
    struct swift *swift = state;
    double delay = (double)ack->rtt_ns;
    double payload = config->payload_bytes;
    double whole = (double)sender->line_bps / 8e9 * target_ns(sender);
    if (delay <= target_ns(sender)) {
        swift->window += payload * payload / (swift->window > payload ? swift->window : payload);
    } else if ((double)(ack->now_ns - swift->cut_ns) >= delay) {
        double keep = 1 - beta * (delay - target_ns(sender)) / delay;
        swift->window *= keep < 1 - most_cut ? 1 - most_cut : keep;
        swift->cut_ns = ack->now_ns;
    }
    swift->window = swift->window > whole ? whole : swift->window;
    swift->window = swift->window < least_packets * payload ? least_packets * payload : swift->window;
    double rate = swift->window * 8e9 / (double)sender->base_rtt_ns;
    sender->limit = (uint64_t)(swift->window > payload ? swift->window : payload);
    sender->rate_bps = cc_at_most(sender, cc_at_least(config, (uint64_t)(rate < 1e18 ? rate : 1e18)));
    sender->paces_anew = true;
}

static uint64_t cut_ago(const struct swift *swift, uint64_t now_ns)
{
    uint64_t ago = now_ns - swift->cut_ns;
    return swift->cut_ns == 0 || ago > LONG_NS ? LONG_NS : ago;
}

static void swift_tell(const void *state, const struct cc_teller *teller)
{
    const struct swift *swift = state;
    cc_tell_real(teller, swift->window);
    cc_tell(teller, cut_ago(swift, teller->now_ns));
}

static void swift_move(void *state, const struct packet_config *config, const struct cc_move *move)
{
    struct swift *swift = state;
    (void)config;
    swift->cut_ns += cut_ago(swift, move->now_ns) == LONG_NS ? 0 : move->by_ns;
}

const struct cc_law cc_swift = {
    .name = "swift",
    .number = PACKET_CC_SWIFT,
    .is_fluid = true,
    .needs = CC_ROUND_TRIPS,
    .paces_anew = true,
    .header_bytes = 8,
    .memory_ns = LONG_NS,
    .state_bytes = sizeof(struct swift),
    .start = swift_start,
    .acked = swift_acked,
    .tell = swift_tell,
    .move = swift_move,
};
