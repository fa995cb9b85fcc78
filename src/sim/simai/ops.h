/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rows of a workload as one list of operations a stage: what a rank does after what. Every state of SimAI's loop
 * over the layers ends with one nanosecond (spec packet B8), which is an operation too.
 */
#ifndef ORR_SIM_SIMAI_OPS_H
#define ORR_SIM_SIMAI_OPS_H

#include "base/mem.h"
#include "sim/simai/program.h"

enum simai_op_kind {
    SIMAI_OP_COMPUTE,
    SIMAI_OP_COMM,      /* and stand still until it is over */
    SIMAI_OP_START,     /* a collective that runs beside what follows */
    SIMAI_OP_WAIT,      /* for the collective that the operation of the number `row` has started */
    SIMAI_OP_STEP,      /* one nanosecond */
    SIMAI_OP_RECV_BACK, /* from the stage before */
    SIMAI_OP_RECV_AHEAD,
    SIMAI_OP_SEND_AHEAD, /* to the next stage */
    SIMAI_OP_SEND_BACK,
    SIMAI_OP_PASS_ENDS, /* for the record */
    SIMAI_OP_END,       /* when all collectives are over */
};

struct simai_op {
    uint32_t row;
    uint8_t kind;  /* enum simai_op_kind */
    uint8_t phase; /* enum simai_phase */
};

struct simai_ops {
    struct simai_op *at;
    uint32_t count, capacity;
};

ORR_MUST_CHECK enum orr_status simai_ops_make(const struct simai_program *program, uint32_t stage, struct mem *mem,
                                              struct simai_ops *ops, struct orr_error *err);
void simai_ops_free(struct simai_ops *ops, struct mem *mem);

#endif
