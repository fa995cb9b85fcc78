/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A step as a workload: every stage built once (train/roles.h), then its ranks, as Chakra ET files or as the traces of
 * a run in memory. Knows formats through convert/ and trace/ alone.
 */
#ifndef ORR_TRAIN_TRACE_H
#define ORR_TRAIN_TRACE_H

#include "train/predict.h"
#include "train/step.h"

/* The stage that computes longest: its number. */
uint32_t train_trace_busiest(const struct predict_job *job, const struct step_layout *layout);

/* The marks (enum role_part) of a stage's nodes, by node index; of `count` bytes, on the account. */
struct train_trace_marks {
    uint8_t *at;
    uint32_t count;
};

/* The workload in memory, of a machine with `ranks` ranks, of which those behind the job's are idle; kernels between
 * two communications are one node. `marks` are those of stage `stage`, to be freed with mem_free on `mem`. */
ORR_MUST_CHECK enum orr_status train_trace_load(const struct predict_job *job, const struct step_layout *layout,
                                                uint32_t ranks, uint64_t memory_limit, uint32_t stage, struct mem *mem,
                                                struct train_trace_marks *marks, struct orr_workload **workload,
                                                struct orr_error *err);

#endif
