/* SPDX-License-Identifier: Apache-2.0 */
/*
 * PINT: HPCC's law on one number, the use of the fullest link, which packets carry rounded by chance (spec packet A8).
 * Every acknowledgement that tells it is followed; those of one round trip all start from the same rate.
 */
#include "net/cc/use.h"

struct pint {
    struct cc_use use;
    uint64_t update_seq;
};

static void pint_start(void *state, const struct packet_config *config, struct cc_sender *sender)
{
    (void)config;
    ((struct pint *)state)->use = (struct cc_use){.u = 1, .rate_bps = sender->line_bps};
}

static void pint_acked(void *state, const struct packet_config *config, struct cc_sender *sender,
                       const struct cc_ack *ack)
{
    struct pint *pint = state;
    bool full = ack->acked > pint->update_seq; /* if not, it reacts all the same: FAST_REACT is HPCC's alone */
    if (pint->update_seq == 0) {
        pint->update_seq = sender->sent;
        return;
    }
    uint32_t stage = 0;
    pint->use.u = ack->use;
    sender->rate_bps = cc_use_rate(sender, config, &pint->use, &stage);
    sender->paces_anew = true;
    if (full) {
        pint->use.rate_bps = sender->rate_bps;
        pint->use.stage = stage;
        pint->update_seq = sender->sent > pint->update_seq ? sender->sent : pint->update_seq;
    }
}

const struct cc_law cc_pint = {
    .name = "pint",
    .number = PACKET_CC_PINT,
    .in_files = true,
    .is_fluid = true,
    .needs = CC_ONE_NUMBER,
    .paces_anew = true,
    .header_bytes = 2,
    .state_bytes = sizeof(struct pint),
    .start = pint_start,
    .acked = pint_acked,
};
