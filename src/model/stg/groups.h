/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which rank stands where: pp slowest, then ep, cp, tp, and dp fastest; and the communicator groups along each of the
 * four, numbered from 1: all dp groups, then tp, cp, ep (spec simai §12.3). Under compat groups of one rank are listed
 * too, and get numbers.
 */
#ifndef ORR_MODEL_STG_GROUPS_H
#define ORR_MODEL_STG_GROUPS_H

#include "model/stg/image.h"
#include "model/stg/model.h"

enum { STG_AXES = 4 };

struct stg_mapping {
    uint32_t degree[STG_AXES]; /* of dp, tp, cp, ep: dp is fastest */
    uint32_t first[STG_AXES];  /* number of the first group along the axis; 0 where there is none */
    uint32_t axes;             /* 3, or 4 with experts */
    uint32_t stages, stage_size;
};

void stg_mapping_init(struct stg_mapping *mapping, const struct stg_config *config);
void stg_mapping_rank(const struct stg_mapping *mapping, uint32_t rank, struct stg_rank *own);

/* Prints {"1": [0, 1], …}; the number of groups. */
uint32_t stg_mapping_print(const struct stg_mapping *mapping, struct stg_text *text);

#endif
