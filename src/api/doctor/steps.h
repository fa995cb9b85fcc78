/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The numeric test of the algorithms that a system file names (ring, direct, halving-doubling, double binary tree, and
 * the rooted ones): who sends how much to whom comes from coll/, what is in the messages is added here, and the result
 * is compared with what the collective promises. It is the all-reduce, broadcast and all-gather test that Horovod's
 * users run on their GPUs (spec rocm §1.11), without GPUs.
 */
#ifndef ORR_API_DOCTOR_STEPS_H
#define ORR_API_DOCTOR_STEPS_H

#include "api/doctor/stage.h"
#include "coll/impl.h"

enum { DOCTOR_DIMS_MOST = 3 };

/* One collective on a grid of at most DOCTOR_BLOCKS_MOST members (all-to-all: at most 8, in one dimension; tree, rooted
 * and halving of another number than a power of two: in one dimension). */
struct doctor_act {
    enum coll_algo algo; /* of rooted types: unused */
    enum coll_type type;
    uint32_t dims[DOCTOR_DIMS_MOST];
    uint32_t dim_count;
    uint32_t root;
    bool backwards;  /* rings turn the other way */
    bool dim_by_dim; /* an all-reduce in each dimension, instead of reduce-scatter there and all-gather back */
};

/* Acts it out; `spoiled` as in api/doctor/stage.h. ORR_EFAIL with what came out wrong; `*messages` is how many there
 * were, also then. Of all-reduce the mean is checked as well as the sum. */
ORR_MUST_CHECK enum orr_status doctor_act_run(const struct doctor_act *act, uint64_t spoiled, struct arena *arena,
                                              uint64_t *messages, struct orr_error *err);

#endif
