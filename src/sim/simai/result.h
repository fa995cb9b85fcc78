/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a run of a SimAI workload leaves behind, for reports: plain arrays, owned by the run. Row by row the times are
 * rank 0's, which is what SimAI reports.
 */
#ifndef ORR_SIM_SIMAI_RESULT_H
#define ORR_SIM_SIMAI_RESULT_H

#include "net/net.h"
#include "sim/simai/program.h"
#include "sim/stall.h"

struct simai_phase_result {
    uint64_t compute_ns, exposed_ns, comm_ns;
    uint64_t collectives;
};

enum simai_interval_kind { SIMAI_INTERVAL_COMPUTE, SIMAI_INTERVAL_COMM, SIMAI_INTERVAL_STAGE };

/* STAGE: waiting for a message of another pipeline stage; row and phase mean nothing. */
struct simai_interval {
    uint64_t start_ns, end_ns;
    uint32_t rank, row;
    uint8_t phase; /* enum simai_phase */
    uint8_t kind;  /* enum simai_interval_kind */
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
    uint64_t *finish_ns;                             /* by rank; UINT64_MAX: never */
    uint64_t end_ns;                                 /* the last rank's, or where the run stopped */
    uint64_t pass_ns;                                /* rank 0 has nothing more to start */
    uint64_t stage_wait_ns;                          /* rank 0 waited for other stages */
    uint64_t stage_transfer_ns;                      /* of that, while the awaited message was on its way */
    uint64_t collectives;                            /* of groups, not of ranks */
    uint64_t followed;                               /* of them, those that did what others like them did */
    uint64_t flows, flow_bytes, last_flow_ns;
    uint64_t events;
    uint32_t ranks, ranks_finished;
    const struct simai_interval *intervals;
    uint32_t interval_count;
    const struct simai_busy *busy;
    uint32_t busy_count;
    struct net_figures network;
    bool by_packets; /* flow or auto was asked for, and packets it was */
    struct sim_stall stall;
};

#endif
