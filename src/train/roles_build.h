/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One stage's nodes while they are made. A chain of kernels is what the compute stream does; `front` is what its next
 * node waits for. Private to roles.c (the passes of a schedule), roles_run.c (kernels and the collectives between them)
 * and roles_data.c (what data-parallel ranks do).
 */
#ifndef ORR_TRAIN_ROLES_BUILD_H
#define ORR_TRAIN_ROLES_BUILD_H

#include "train/roles.h"

enum { ROLE_FRONT = 12, ROLE_NAME = 80 };

/* Streams of a rank. Gathers and sums over data-parallel ranks share one: so all ranks issue them in one order. */
enum role_stream { ROLE_ON_COMPUTE, ROLE_ON_TP, ROLE_ON_CP, ROLE_ON_EP, ROLE_ON_PP, ROLE_ON_DP, ROLE_ON_REPLICAS };

struct role_front {
    uint32_t at[ROLE_FRONT];
    uint32_t count;
};

/* A piece of a chunk, in the order of the model. */
struct role_piece {
    uint32_t kind;   /* STEP_* */
    uint32_t layer;  /* for names */
    uint32_t bucket; /* of the stage: those whose gradients are summed at once; from 0 in the order of forward passes */
};

struct role_chunk {
    struct role_piece *pieces;
    uint32_t count;
    uint32_t layers; /* of them */
};

/* A pass of a schedule. */
struct role_pass {
    enum schedule_kind kind;
    char letter;          /* for names: F, B, or W of weights' gradients by themselves */
    bool without_weights; /* they are left for later */
    uint32_t micro_batch, chunk, order;
    bool is_first, is_last; /* of its chunk's micro-batches */
};

struct role_gather {
    uint32_t node[2]; /* dense weights, experts; WORK_NONE: there are none */
    bool issued;
};

/* Data-parallel communication that starts within the next run: so far into it that the framework's share is left of it
 * to run beside. */
struct role_delayed {
    const char *what; /* NULL: there is none */
    uint32_t number;
    double weights[2];
    uint32_t *node; /* of a gather: where its nodes are told; else NULL */
};

/* A kernel or a collective of a run. */
struct role_entry {
    const struct work_item *item;
    const struct role_piece *piece;
    bool backward;
    double share; /* of it: what runs again may do so in part */
};

struct role_builder {
    const struct role_request *request;
    const struct orr_train_plan *plan;
    struct work *work;
    uint32_t stage;
    struct role_chunk *chunks; /* of the stage */
    bool sums_beside;          /* gradients and weights go over data-parallel ranks while passes run */
    uint32_t bucket_count;
    struct role_gather *gathers;         /* by bucket: of a step's beginning */
    struct work_item again[STEP_PIECES]; /* what a backward pass takes beside its lists: what selectively runs again */
    struct role_front front;
    double owed;                /* of kernels, what whole microseconds have not told yet */
    uint32_t sums[WORK_GROUPS]; /* by group: the last sum of gradients; WORK_NONE */
    struct role_entry *run;     /* what comes before the next boundary */
    uint32_t run_count, run_capacity;
    double run_launch;
    struct role_pass pass; /* the run's */
    struct role_delayed gather, sum;
    uint32_t received; /* what the pass waits for besides, but not what is gathered for it; WORK_NONE */
    enum orr_status status;
    struct orr_error *err;
};

/* Appends a node that waits for `front`; WORK_NONE when it could not, which `status` tells. */
uint32_t role_add(struct role_builder *builder, struct work_node *node, const struct role_front *front);
void role_front_join(struct role_front *front, uint32_t node); /* WORK_NONE: nothing */
const char *role_name(struct role_builder *builder, const char *format, ...) ORR_PRINTF(2, 3);
/* Kernels on the chain. */
void role_compute(struct role_builder *builder, const char *name, double us, double flops, double moved,
                  enum role_part part);
/* The host on the chain. */
void role_host(struct role_builder *builder, const char *name, double us);
/* `bytes` as nccl-tests counts them; not on the chain. WORK_NONE where a group has one rank. */
uint32_t role_collective(struct role_builder *builder, const char *name, int32_t type, enum work_group group,
                         double bytes, enum role_stream stream, enum role_part part, const struct role_front *front);

/* ---- roles_run.c ---- */

/* Adds a piece's pass to the run, or its weights' gradients alone; role_run_flush makes nodes of the run. */
void role_run_add(struct role_builder *builder, const struct role_piece *piece, bool weights_alone);
void role_run_flush(struct role_builder *builder);
/* Microseconds of a piece's weights' gradients. */
double role_weights_us(const struct role_builder *builder, const struct role_piece *piece);

/* ---- roles_data.c ---- */

/* Lays the stage's pieces out in buckets. */
void role_data_buckets(struct role_builder *builder);
/* Before the first pass: weights are asked for, whatever the first pass waits for. */
void role_data_begin(struct role_builder *builder);
/* Around the piece with index `index` of the pass's chunk. */
void role_data_before(struct role_builder *builder, uint32_t index);
void role_data_after(struct role_builder *builder, uint32_t index);
/* Makes nodes of what was delayed. */
void role_data_start(struct role_builder *builder);
/* Behind the last pass: what was not summed yet, the optimizer, weights gathered. */
void role_data_end(struct role_builder *builder);

#endif
