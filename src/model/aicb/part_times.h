/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compute times of a workload's rows that were worked out from shapes, instead of measured (compute_file.h): what a row
 * is by its name, and how long each of these takes in its three passes. Who knows operators fills the table
 * (train/row_times.h); generators take times from it, and so do readers of a text whose rows have none.
 *
 * Knows neither models nor devices.
 */
#ifndef ORR_MODEL_AICB_PART_TIMES_H
#define ORR_MODEL_AICB_PART_TIMES_H

#include <stddef.h>
#include <stdint.h>

enum aicb_part {
    AICB_PART_NONE,      /* a row that computes nothing */
    AICB_PART_EMBEDDING, /* its backward pass is the weight's */
    AICB_PART_QKV,       /* the norm before it too, and what comes before attention */
    AICB_PART_Q_DOWN,    /* latent attention: four products */
    AICB_PART_Q_UP,
    AICB_PART_KV_DOWN,
    AICB_PART_KV_UP,
    AICB_PART_ATTENTION_OUT, /* attention, and the product behind it */
    AICB_PART_MLP_IN,        /* with the activation */
    AICB_PART_MLP_OUT,
    AICB_PART_EXPERTS,   /* all of them: router, tokens put in order and back, products */
    AICB_PART_SHARED_IN, /* of experts that every token goes to */
    AICB_PART_SHARED_OUT,
    AICB_PART_FINAL,     /* logits */
    AICB_PART_LOSS,      /* of a micro-batch; its backward pass is the input's */
    AICB_PART_UPDATE,    /* of a step: the optimizer */
    AICB_PART_ATTENTION, /* sums, where a layer's half is one row: of QKV to ATTENTION_OUT */
    AICB_PART_MLP,
    AICB_PART_SHARED,
    AICB_PARTS
};

struct aicb_part_time {
    int64_t forward, input_gradient, weight_gradient; /* ns */
};

struct aicb_part_times {
    struct aicb_part_time of[AICB_PARTS];
};

/* What the row `name` of `length` bytes is; `before` is the part of the row before it, since shared experts have the
 * names of an MLP and stand behind the others. Of the five rows of experts the first computes. */
enum aicb_part aicb_part_of(const char *name, size_t length, enum aicb_part before);

/* Fills the sums. */
void aicb_part_times_sum(struct aicb_part_times *times);

#endif
