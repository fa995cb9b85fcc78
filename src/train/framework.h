/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How a training framework carries a step out, as data (presets/frameworks): what it fuses, what overlaps, in which
 * precision it sums, how long its host takes; a handful of numbers, each with the runs it was fitted on. Knows no
 * model.
 */
#ifndef ORR_TRAIN_FRAMEWORK_H
#define ORR_TRAIN_FRAMEWORK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

struct framework {
    const char *name, *synonyms, *source;
    /* What tools/fit-frameworks fitted on the fitted half of which sources' runs; a blank between two. */
    const char *fit_sources, *fit_numbers;
    /* How much longer all of it takes with older releases: "25.11=1.08 26.02=1.045 26.04=1.0", rising; of a release in
     * between the one before holds, of a later one the last. "": the runs show no difference. */
    const char *releases;
    bool unfused_attention; /* scores are written to memory: products, softmax and dropout of their own */
    bool eager;             /* PyTorch itself, operator by operator (train/work_eager.h) */
    bool fused;             /* bias, activation, dropout and sum in one kernel each */
    bool divided_states;    /* hidden states lie divided over the tensor-parallel ranks, whatever the plan says */
    bool stages_by_cost;    /* layers go to pipeline stages by their weights and the head's; else as many to each */
    bool host_or_kernels;   /* a pass takes the longer of the two; else the root of their squares' sum */
    bool async_tp;          /* backwards, tensor-parallel communication runs beside the products, where it overlaps */
    bool async_pp;          /* a stage goes on while it sends */
    bool ddp;              /* torch's DistributedDataParallel: gradients are summed whole beside the last backward pass;
                              with sharded states, in a pipeline, or beside tensor parallelism on the network behind it */
    bool shards;           /* weights are divided over data-parallel ranks where the plan says nothing */
    double gradient_bytes; /* of a value, as they are summed over ranks */
    double accumulate_bytes; /* read and written for each weight when a micro-batch's gradients are added up; 0: in
                                place */
    double optimizer_bytes;  /* read and written for each weight in a step */
    double state_bytes;      /* held for each weight beside it and its gradient */
    double bucket_bytes;     /* held for each weight's gradient besides, where it is summed over ranks */
    double logit_bytes;      /* held for each logit at once, as it comes and as the loss needs it */
    double kept_states;      /* hidden states a layer keeps besides those its operators need: copies */
    double queued_states;    /* whole hidden states that collectives still wait for, where the host is ahead of them */
    double workspace;        /* GB of libraries, and of small tensors */
    double usable;           /* share of a device's memory that tensors can have: the rest has the runtime's context,
                                communication buffers, and what an allocator cannot put together */
    double gemm, attention, stream; /* factors of what an operator takes by itself */
    double selective;               /* share of a layer's forward pass that selective recompute runs again */
    double selective_keeps;         /* of what a layer keeps besides its input, the share that stays where it does */
    double experts;                 /* factor of experts' products and of what brings tokens to them, besides */
    double attention_hopper; /* besides, of attention on devices from Hopper on: older kernels do not use all of them */
    double host_layer_us;    /* of the host for one layer forwards; backwards `host_backward` times that */
    double host_op_us;       /* of the host for one operator forwards, where each is counted (eager) */
    double host_power;       /* p: kernels and host beside each other take (kernels^p + host^p)^(1/p) */
    double host_backward, host_tp_us, host_micro_us, host_step_us;
    double host_pipeline_us;       /* of a layer forwards and each tensor-parallel rank, in a pipeline over servers */
    double host_zero_us;           /* of a step and each rank that has a share of the states */
    double comm;                   /* factor of what a collective takes by itself */
    double comm_rank_us;           /* of a tensor-parallel collective, for each rank outside the server */
    double overlap_tp, overlap_dp; /* share hidden where the plan overlaps it */
};

/* By name or synonym; ORR_EINVAL names the nearest. */
ORR_MUST_CHECK enum orr_status framework_find(const char *name, const struct framework **framework,
                                              struct orr_error *err);
const struct framework *framework_at(size_t index); /* NULL behind the last */

/* Whether a text begins with a release, up to a blank, a mark or the end: "26.04.01". */
bool framework_is_release(const char *text);
/* As a release carries it out; NULL: the newest. ORR_EINVAL where it is no release. */
ORR_MUST_CHECK enum orr_status framework_take_release(struct framework *framework, const char *release,
                                                      struct orr_error *err);
/* Kernels are launched by graphs of whole steps: the host needs no time for them. */
void framework_take_graphs(struct framework *framework);

/* Changes numbers by name: "gemm=1.1,host_layer=500". ORR_EINVAL names the nearest. */
ORR_MUST_CHECK enum orr_status framework_set(struct framework *framework, const char *text, struct orr_error *err);

#endif
