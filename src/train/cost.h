/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How long what a GPU does takes on a machine: operators from the operator model, collectives from the collective
 * model, each by the shape and group it really has. Holds the opened data; knows frameworks' factors; no schedule.
 */
#ifndef ORR_TRAIN_COST_H
#define ORR_TRAIN_COST_H

#include "orrery/colltime.h"
#include "orrery/op.h"
#include "train/work.h"

struct cost_machine {
    const struct orr_op_data *ops;
    uint32_t device;
    bool is_recent;          /* its architecture is Hopper or a later one */
    double matrix_to_vector; /* bf16 peak of matrix units over fp32 peak of vector units */
    double throttled;        /* how much longer products take in a whole step than by themselves, by power */
    const struct orr_coll_timer *timer;
    uint32_t node_gpus; /* GPUs that share one NVLink domain or server */
};

/* A group of ranks as they lie in the machine: `size` ranks, `stride` apart. */
struct cost_group {
    uint32_t size, stride;
};
struct cost_group cost_group_tp(const struct orr_train_plan *plan);
struct cost_group cost_group_cp(const struct orr_train_plan *plan);
struct cost_group cost_group_dp(const struct orr_train_plan *plan); /* with cp: those that share weights */
/* Of these, those that divide weights among them, all but with hybrid sharding; and those that have the same part. */
struct cost_group cost_group_shards(const struct orr_train_plan *plan);
struct cost_group cost_group_replicas(const struct orr_train_plan *plan);
struct cost_group cost_group_ep(const struct orr_train_plan *plan);
struct cost_group cost_group_experts_dp(const struct orr_train_plan *plan); /* those that share experts */
struct cost_group cost_group_pp(const struct orr_train_plan *plan);         /* a stage and the next */

double cost_collective_us(const struct cost_machine *machine, enum orr_coll_op op, struct cost_group group,
                          double bytes);
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
