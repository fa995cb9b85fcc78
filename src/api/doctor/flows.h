/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The numeric test of NCCL's lists of messages (coll/nccl.h): each flow carries one block of whole numbers when the
 * flows it waits for have arrived, in the least convenient order that this allows, so that a dependency that is missing
 * shows as a wrong sum.
 */
#ifndef ORR_API_DOCTOR_FLOWS_H
#define ORR_API_DOCTOR_FLOWS_H

#include "coll/nccl.h"

/* All-reduce by ring, tree, NVLS or the network's switches; all-gather, reduce-scatter, broadcast and reduce by ring.
 */
struct doctor_flow_act {
    enum nccl_algo algo;
    enum coll_type type;
    uint32_t gpus, gpus_per_server;
    uint32_t root; /* place in the group */
    /* NCCL_COLLNET: */
    uint64_t members;         /* bit a rank of the group; 0: all */
    uint32_t heads_on_switch; /* servers on one switch below the root; 0: all hang on the root */
    bool is_meshed;           /* the servers have no switches of their own */
};

/* As doctor_act_run of api/doctor/steps.h. `spoiled` counts flows in the order of their arrival. */
ORR_MUST_CHECK enum orr_status doctor_flow_act_run(const struct doctor_flow_act *act, uint64_t spoiled,
                                                   struct arena *arena, uint64_t *messages, struct orr_error *err);

#endif
