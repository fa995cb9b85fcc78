/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How long what a GPU does takes on a machine: operators from the operator model, collectives from the collective
 * model, each by the shape and group it really has. Holds the opened data; knows frameworks' factors; no schedule.
 */
#ifndef ORR_TRAIN_COST_H
#define ORR_TRAIN_COST_H

#include "orrery/colltime.h"
#include "orrery/op.h"
#include "train/order.h"
#include "train/work.h"

struct cost_machine {
    const struct orr_op_data *ops;
    uint32_t device;
    bool is_recent;          /* its architecture is Hopper or a later one */
    double matrix_to_vector; /* bf16 peak of matrix units over fp32 peak of vector units */
    double throttled;        /* how much longer products take in a whole step than by themselves, by power */
    double cached; /* of what the cache of an A100 saves kernels that move bytes, the share that its own does */
    const struct orr_coll_timer *timer;
    uint32_t node_gpus; /* GPUs that share one NVLink domain or server */
};

/* A collective of a group of ranks (train/order.h) as it lies in the machine. */
double cost_collective_us(const struct cost_machine *machine, enum orr_coll_op op, struct work_layout group,
                          double bytes);
/* What a stage sends to the next one, in the same server or in another. */
double cost_send_us(const struct cost_machine *machine, const struct orr_train_plan *plan, bool crosses, double bytes);
double cost_throttled(double peak_tflops, double watts);
double cost_stream_us(const struct cost_machine *machine, double bytes);

/* Microseconds of a piece for one micro-batch. */
struct cost_pass {
    double compute; /* kernels */
    double weight;  /* of them: gradients of weights */
    double tp, cp, ep;
    double stall;    /* of `tp`: what neither kernels nor the host hide, since ranks of other servers are waited for */
    double launches; /* kernels and collectives issued */
};
struct cost_piece {
    struct cost_pass forward, backward; /* backward: with what runs again */
    double hardware_flops;              /* of both, matrix products alone */
    double forward_flops;               /* of them, forwards */
};

void cost_piece(const struct cost_machine *machine, const struct work_job *job, struct work_piece *piece,
                struct cost_piece *cost);

#endif
