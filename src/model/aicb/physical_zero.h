/* SPDX-License-Identifier: Apache-2.0 */
/*
 * DeepSpeed's ZeRO stages on a LLaMA-shaped model (spec simai §5.4 to §5.6): the list of parameters, and what a run
 * remembers about them. One state serves all three stages.
 */
#ifndef ORR_MODEL_AICB_PHYSICAL_ZERO_H
#define ORR_MODEL_AICB_PHYSICAL_ZERO_H

#include "model/aicb/physical_rows.h"

struct zero_param {
    int64_t x, y;   /* shape; y is 1 for a vector */
    int64_t count;  /* x * y */
    int64_t offset; /* in the model laid out in order */
    int64_t last;   /* ZeRO 3: when it was last asked for ahead of time; -1: not */
    bool gathered;
    bool persistent;
};

struct physical_zero {
    struct zero_param *params;
    uint32_t count;
    int64_t total;
    /* ZeRO 1 and 2: gradients not yet reduced, in the order they came */
    uint32_t *bucket;
    uint32_t bucket_count, bucket_capacity;
    int64_t bucket_elements;
    /* ZeRO 3 */
    int64_t live;      /* elements gathered */
    int64_t unreduced; /* gradient elements */
    uint32_t ahead;    /* next entry of the order of use (forward, then backward); 2 * count: no such order */
    const char *stage; /* word of the current pass */
};

/* Fails with ORR_EINVAL for degrees ZeRO does not have, ORR_ERANGE, ORR_ENOMEM. */
ORR_MUST_CHECK enum orr_status physical_zero_open(struct physical *p, struct physical_zero *zero,
                                                  struct orr_error *err);
void physical_zero_close(struct physical *p, struct physical_zero *zero);

/* Products of a parameter, where there are any: forward; gradients of the input and of the weight. */
void physical_zero_forward(struct physical *p, const struct zero_param *param);
void physical_zero_backward(struct physical *p, const struct zero_param *param, const char *weight_stage);

#endif
