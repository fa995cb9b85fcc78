/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A SimAI workload as the executor runs it and reports name it: rows of compute and collectives, and how they are
 * divided into pipeline stages and micro-batches. Borrowed texts and arrays; whoever reads the file fills them in.
 */
#ifndef ORR_SIM_SIMAI_PROGRAM_H
#define ORR_SIM_SIMAI_PROGRAM_H

#include "coll/nccl.h"

enum simai_phase { SIMAI_FWD, SIMAI_IG, SIMAI_WG, SIMAI_PHASES };

extern const char *const simai_phase_names[SIMAI_PHASES];

enum { SIMAI_NO_COMM = -1 };

struct simai_cell {
    uint64_t compute_ns;
    uint64_t bytes;
    int32_t type;               /* enum coll_type, or SIMAI_NO_COMM */
    enum nccl_group_type group; /* where there is a type */
};

struct simai_row {
    const char *name;
    struct simai_cell cells[SIMAI_PHASES];
    uint64_t update_ns; /* after each of its collectives */
    bool is_checkpoint, is_initiate;
};

/* In which order the rows are run (spec simai §1). */
enum simai_order {
    SIMAI_ORDER_TRANSFORMER, /* HYBRID_TRANSFORMER and HYBRID_TRANSFORMER_FWD_IN_BCKWD */
    SIMAI_ORDER_MICRO,       /* the first row's weight-gradient collective alone */
    SIMAI_ORDER_DATA,
    SIMAI_ORDER_MODEL,
    SIMAI_ORDER_INFERENCE, /* forward only */
};

/* Rows before `batch_start[0]` are the step's beginning, those from `batch_start[batch_count]` on its end. */
struct simai_program {
    enum simai_order order;
    const struct simai_row *rows;
    uint32_t row_count;
    const uint32_t *batch_start; /* batch_count + 1 entries; used with several stages */
    uint32_t batch_count;
    uint32_t stages;      /* of the pipeline; 1 = none */
    uint32_t chunks;      /* of a stage's rows, which micro-batches come round to; 1 = 1F1B (trace/pipeline.h) */
    uint64_t stage_bytes; /* a rank sends the next stage's rank, and back */
    uint32_t pp, vpp, ga; /* as the header says, for SimAI's own reckoning */
};

/*
 * Where results and reports name an operation as a node of a trace: each cell of a row is two of them, its compute and
 * its collective; behind the rows follow the receives from the stage before and the stage after.
 */
static inline uint32_t simai_node_of(uint32_t row, enum simai_phase phase, bool is_comm)
{
    return (row * SIMAI_PHASES + (uint32_t)phase) * 2 + (is_comm ? 1 : 0);
}

static inline uint32_t simai_node_of_stage(const struct simai_program *program, uint32_t from)
{
    return program->row_count * SIMAI_PHASES * 2 + from;
}

/* Where a node runs: on three lanes (index + 1, as in struct trace_node) that every rank has. */
enum simai_lane { SIMAI_LANE_COMPUTE = 1, SIMAI_LANE_MODEL, SIMAI_LANE_DATA, SIMAI_LANES = 3 };

#endif
