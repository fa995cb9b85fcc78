/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Chakra's generator (spec chakra §10): fourteen families of tiny traces that show one kind of node each, one file a
 * rank and family, FOLDER/FAMILY.RANK.et. Node ids run on over the whole run. For traces to simulate with,
 * `orrery gen` (model/gen.h) is the better tool: these sends and receives name no peer.
 */
#ifndef ORR_COMPAT_CHAKRA_GENERATOR_H
#define ORR_COMPAT_CHAKRA_GENERATOR_H

#include "base/mem.h"

struct generator {
    const char *folder; /* made where missing */
    uint32_t ranks;
    uint64_t runtime_us;   /* of compute nodes */
    uint64_t tensor_bytes; /* of memory, send and receive nodes */
    int64_t comm_bytes;    /* of collectives */
};

ORR_MUST_CHECK enum orr_status generator_write(const struct generator *generator, struct mem *mem,
                                               struct orr_error *err);

#endif
