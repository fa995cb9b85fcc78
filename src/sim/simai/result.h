/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a run of a SimAI workload leaves behind beyond the result that every run has (sim/result.h): plain arrays, owned
 * by the run. Row by row the times are rank 0's, which is what SimAI reports.
 */
#ifndef ORR_SIM_SIMAI_RESULT_H
#define ORR_SIM_SIMAI_RESULT_H

#include "sim/result.h"
#include "sim/simai/program.h"

struct simai_phase_result {
    uint64_t compute_ns, exposed_ns, comm_ns;
    uint64_t collectives;
};

/* One of rank 0's two lines of collectives had one under way. */
struct simai_busy {
    uint64_t start_ns, end_ns;
    uint32_t line; /* 0: forward and input gradient, 1: weight gradient */
};

struct simai_result {
    const struct simai_program *program;
    struct nccl_job job;
    uint32_t nodes; /* ranks and NVSwitches */
    bool compat;
    struct simai_phase_result (*rows)[SIMAI_PHASES]; /* rank 0's, by row, as SimAI reports them */
    uint64_t pass_ns;                                /* rank 0 has nothing more to start */
    uint64_t stage_wait_ns;                          /* rank 0 waited for other stages */
    uint64_t stage_transfer_ns;                      /* of that, while the awaited message was on its way */
    uint64_t collectives;                            /* of groups, not of ranks */
    uint64_t followed;                               /* of them, those that did what others like them did */
    uint64_t flow_bytes, last_flow_ns;
    const struct simai_busy *busy;
    uint32_t busy_count;
};

#endif
