/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What PyTorch itself issues, operator by operator, without a training library between: each function adds the kernels
 * of one module forwards, those of its gradient backwards, its weights, and the tensors that autograd keeps. Compiled
 * models have chains of small kernels in one and keep less. For models and plans that one GPU holds whole (data
 * parallelism aside); train/work.h calls these for frameworks that say `eager`. No time in here.
 */
#ifndef ORR_TRAIN_WORK_EAGER_H
#define ORR_TRAIN_WORK_EAGER_H

#include "train/work.h"

struct eager {
    const struct work_job *job;
    struct work_piece *piece;
    bool compiled;
    double value; /* bytes of one */
};

/* Whether the lists of this job are those of PyTorch itself. */
bool eager_is_meant(const struct work_job *job);
struct eager eager_begin(const struct work_job *job, struct work_piece *piece, const char *name);

/* One kernel that goes over rows x cols values. */
void eager_kernel(const struct eager *eager, struct work_list *list, const char *name, enum orr_op_kind kind,
                  double rows, double cols);
/* One that moves `bytes`, or a chain of `launches` that do together. */
void eager_move(const struct eager *eager, struct work_list *list, const char *name, double bytes, double launches);
/* A linear layer: one product forwards, two and the sum for a bias backwards. */
void eager_linear(const struct eager *eager, const char *name, double rows, double out, double in, bool bias);
/* A convolution over a square picture; `is_first`: nothing waits for its input's gradient. */
void eager_convolution(const struct eager *eager, const char *name, const uint64_t dims[ORR_OP_DIMS], bool is_first,
                       bool bias);
/* Cross entropy of float32 logits, which are made of `rows` x `classes` values. */
void eager_loss(const struct eager *eager, double rows, double classes);
/* A value that autograd keeps, of each of rows x cols. */
void eager_keep(const struct eager *eager, double rows, double cols);

void eager_embedding(const struct work_job *job, struct work_piece *piece);
void eager_layer(const struct work_job *job, bool with_experts, struct work_piece *piece);
void eager_head(const struct work_job *job, struct work_piece *piece);

#endif
