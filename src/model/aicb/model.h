/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The layers of one pipeline stage as AICB walks them, with the parameters that one rank holds of each (spec simai
 * §2.2), for Megatron's transformer (dense or with experts) and DeepSeek's. With sequence parallelism the list has
 * every linear layer; without it attention and the MLP are one piece each. The fixes decide how parameters are counted.
 *
 * Knows no rows and no times.
 */
#ifndef ORR_MODEL_AICB_MODEL_H
#define ORR_MODEL_AICB_MODEL_H

#include "model/aicb/options.h"

enum aicb_piece_kind {
    AICB_PIECE_EMBEDDING,
    AICB_PIECE_LINEAR, /* not divided among the TP ranks */
    AICB_PIECE_COLUMN, /* its output is divided */
    AICB_PIECE_ROW,    /* its input is divided */
    AICB_PIECE_WHOLE,  /* attention or MLP in one */
    AICB_PIECE_EXPERTS,
    AICB_PIECE_FINAL,  /* the output layer, a column */
    AICB_PIECE_COUNTED /* parameters without a row: normalisations, routers */
};

struct aicb_piece {
    const char *name;
    enum aicb_piece_kind kind;
    bool attention; /* "attention" in the name */
    int64_t params; /* of one rank */
    int64_t width;  /* values a token that are gathered before it, or scattered behind it */
};

struct aicb_model {
    struct aicb_piece *pieces;
    uint32_t count, capacity;
    bool split;    /* every linear layer by itself */
    bool experts;  /* some layer has them */
    int64_t total; /* parameters */
    int64_t moe;   /* of these: experts' */
    int64_t norms; /* of these: normalisations' */
};

/* Pieces live in `arena`. Fails with ORR_EINVAL when a width does not divide, ORR_ERANGE when a count does not fit 64
 * bits, ORR_ENOMEM. */
ORR_MUST_CHECK enum orr_status aicb_model_build(const struct aicb_options *options, const struct aicb_shape *shape,
                                                struct arena *arena, struct aicb_model *model, struct orr_error *err);

#endif
