/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Between training.c and the two ways a layer becomes rows: with compute times (§2.4; ours in every case) and AICB's
 * without (§2.3). Nobody else includes it.
 */
#ifndef ORR_MODEL_AICB_TRAINING_ROWS_H
#define ORR_MODEL_AICB_TRAINING_ROWS_H

#include "model/aicb/compute_file.h"
#include "model/aicb/model.h"
#include "model/aicb/rows.h"

struct training {
    const struct aicb_options *o;
    struct aicb_shape s;
    struct aicb_model model;
    const struct aicb_times *times; /* NULL: not known */
    struct notes *notes;
    struct orr_error *err;
    int64_t activations; /* T: bytes of a micro-batch between layers */
    int64_t stale;       /* the weight gradient's time of the row timed last */
    enum aicb_part part; /* of the row before, where the operator model says times */
    bool overflow;
    enum orr_status status; /* of the first row that failed */
};

/* Adds a row unless one failed before. */
void training_add(struct training *t, struct aicb_rows *rows, struct aicb_row row);

/* A collective in the TP group, or nothing where the group is one rank. */
struct aicb_pass training_tp(const struct training *t, int64_t compute_ns, const char *comm, int64_t bytes);

/* Whether several ranks share a sequence, and so exchange keys and values. */
bool training_has_cp(const struct training *t);

/* The five rows of experts (§2.5); times are those of the first. */
void training_add_experts(struct training *t, struct aicb_rows *rows, struct aicb_part_time time);

/* One micro-batch. */
void training_add_layers(struct training *t, struct aicb_rows *rows);
void training_add_layers_plain(struct training *t, struct aicb_rows *rows);

#endif
