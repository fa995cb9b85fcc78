/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What HPCC and PINT have in common: the next rate from the use of a path, multiplicative above the target or after
 * enough additive steps. Only their two files include this.
 */
#ifndef ORR_NET_CC_USE_H
#define ORR_NET_CC_USE_H

#include "net/cc/cc.h"

struct cc_use {
    double u;
    uint64_t rate_bps; /* what the next rate is reckoned from */
    uint32_t stage;
};

static inline uint64_t cc_use_rate(const struct cc_sender *sender, const struct packet_config *config,
                                   const struct cc_use *use, uint32_t *stage)
{
    double excess = use->u / config->u_target;
    uint64_t rate = use->rate_bps;
    if (excess >= 1 || use->stage >= config->mi_thresh) {
        double fitting = (double)rate / excess; /* by a use that may be next to nothing */
        rate = fitting < 0x1p62 ? (uint64_t)fitting : UINT64_C(1) << 62;
        *stage = 0;
    } else {
        *stage = use->stage + 1;
    }
    return cc_at_most(sender, cc_at_least(config, rate + config->rate_ai_bps));
}

#endif
