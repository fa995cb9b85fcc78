/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What one layer of Megatron's and DeepSeek's models is made of, as a rank runs it: linear layers whole, divided by
 * columns or by rows, and blocks of experts (spec simai §5.3). A layer is one of two kinds, which all layers of a stage
 * repeat. Owns nothing.
 */
#ifndef ORR_MODEL_AICB_PHYSICAL_PARTS_H
#define ORR_MODEL_AICB_PHYSICAL_PARTS_H

#include "model/aicb/physical_rows.h"

enum physical_part_kind { PHYSICAL_LINEAR, PHYSICAL_COLUMN, PHYSICAL_ROW, PHYSICAL_EXPERTS };
enum { PHYSICAL_PARTS_MAX = 8 };

struct physical_part {
    enum physical_part_kind kind;
    const char *name;
    int64_t in, out; /* undivided */
};

struct physical_layer {
    struct physical_part parts[PHYSICAL_PARTS_MAX];
    unsigned count;
};

struct physical_parts {
    struct physical_layer dense, expert; /* by kind of layer */
    struct physical_part final;
    int64_t layers, dense_layers;               /* of this stage; the dense ones come first */
    int64_t stage;                              /* whose view is written, from 0 */
    bool first, last;                           /* stage of the pipeline */
    int64_t params, expert_params, norm_params; /* of this rank; the second is part of the first */
};

/* Fails with ORR_EINVAL where a width does not divide among the TP ranks, or for a stage that is not there. */
ORR_MUST_CHECK enum orr_status physical_parts_make(struct physical *p, struct physical_parts *parts,
                                                   struct orr_error *err);

#endif
