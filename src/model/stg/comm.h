/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The collective rule: what must happen between a tensor as its producer leaves it and as its consumer wants it. For
 * each parallel symbol the tensor is partial (the symbol stands in `hidden`), split (in a dimension) or whole; from
 * partial to whole is an all-reduce, from partial to split a reduce-scatter, from split to whole an all-gather, from
 * one dimension to another an all-to-all; whole to split costs nothing, and nothing becomes partial (spec simai §12.2).
 *
 * A dimension may be split over several symbols: each counts by itself, and two dimensions are the same when they are
 * so without their parallel symbols.
 */
#ifndef ORR_MODEL_STG_COMM_H
#define ORR_MODEL_STG_COMM_H

#include "model/stg/graph.h"

enum { STG_PARALLEL_MAX = 4 };

/* Chakra's numbers (spec analytical §4.1). */
enum stg_coll { STG_ALL_REDUCE = 0, STG_ALL_GATHER = 2, STG_ALL_TO_ALL = 6, STG_REDUCE_SCATTER = 7 };

struct stg_rules {
    enum stg_symbol symbols[STG_PARALLEL_MAX]; /* those with a degree above 1, in the order dp, tp, cp, ep */
    uint32_t count;
};

struct stg_layout {
    uint32_t shape, hidden;
};

struct stg_comms {
    struct {
        enum stg_coll type;
        enum stg_symbol symbol;
    } list[STG_PARALLEL_MAX];
    uint32_t count;
    uint32_t sliced; /* symbols over which a whole tensor is cut: work done in vain */
};

/* ORR_EINVAL when something would have to become partial; `where` begins the message. ORR_ERANGE, ORR_ENOMEM. */
ORR_MUST_CHECK enum orr_status stg_comms_find(struct stg_space *space, const struct stg_rules *rules,
                                              struct stg_layout from, struct stg_layout to, const char *where,
                                              struct stg_comms *comms, struct orr_error *err);

#endif
