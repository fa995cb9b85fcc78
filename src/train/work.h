/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What one GPU does for one micro-batch in one piece of a model (an embedding, a layer, a head): operators with their
 * shapes and collectives with their sizes, forwards and backwards, in the order they are issued. Made of the model, of
 * how it is divided, and of what the framework fuses. No time in here: train/cost.h asks for that, and train/trace.h
 * writes the same lists out as Chakra nodes.
 */
#ifndef ORR_TRAIN_WORK_H
#define ORR_TRAIN_WORK_H

#include "orrery/op.h"
#include "train/framework.h"
#include "train/model.h"
#include "train/plan.h"

enum work_comm {
    WORK_COMPUTE, /* none: an operator */
    WORK_TP_GATHER,
    WORK_TP_SCATTER,
    WORK_TP_REDUCE,
    WORK_CP_SHIFT, /* keys and values go once round the ranks of one sequence */
    WORK_EP_DISPATCH,
    WORK_EP_COMBINE,
    WORK_DP_EXCHANGE, /* all-to-all of the data-parallel ranks */
    WORK_COMMS
};

struct work_item {
    const char *name;
    enum work_comm comm;
    struct orr_op op; /* of an operator */
    double bytes;     /* of a collective, as nccl-tests counts */
    double times;     /* how often, one after the other; of an expert's operators: experts of this rank */
    double launches;  /* operators that the host issues for it; 0: as often as it is there */
    double us;        /* of one; train/cost.h fills it, and for an operator the two after it */
    double flops, moved;
    double stall; /* of `us` of a collective: what nothing hides */
};

enum { WORK_ITEMS_MOST = 160 };

struct work_list {
    struct work_item items[WORK_ITEMS_MOST];
    uint32_t count;
};

/* Whether an item of a backward list is a product that only weights' gradients come from: the second of its pair. */
bool work_is_weight(const struct work_list *list, uint32_t item);

struct work_piece {
    const char *name;
    struct work_list forward, backward;
    double again;               /* share of its forward pass that runs again before the backward pass */
    uint32_t again_items;       /* of it, so many items from the first; 0: all */
    double parameters, experts; /* this rank's weights; of them those of experts */
    double kept_bytes;          /* activations held from forward to backward, for one micro-batch */
    double input_bytes;         /* of its input alone: what is held where all of it runs again */
    double largest;             /* weight of them: values of the largest one that a kernel makes a gradient of */
    double working_bytes;       /* eager: gradients beside them, when most are */
    double fixed_bytes;         /* of tables that are updated where they lie, without gradients or states */
};

struct work_job {
    const struct orr_train_model *model;
    const struct orr_train_plan *plan;
    const struct framework *framework;
};

/* For those who write such lists: an item at the end; the dtype of products; the share that runs again. */
struct work_item *work_append(struct work_list *list, const char *name);
/* Attention forwards (`op`) and backwards of the piece's layers, which may look at a window of the tokens. */
void work_attend(const struct work_job *job, struct work_piece *piece, struct orr_op op);
enum orr_op_dtype work_dtype(const struct work_job *job);
double work_again(const struct work_job *job);

void work_embedding(const struct work_job *job, struct work_piece *piece);
void work_layer(const struct work_job *job, bool with_experts, struct work_piece *piece);
void work_head(const struct work_job *job, struct work_piece *piece); /* logits */
void work_loss(const struct work_job *job, struct work_piece *piece);

#endif
