/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A whole step: pieces costed once, laid out over stages and chunks, scheduled, gradients summed, weights updated. The
 * parts of the result add up to its time.
 */
#ifndef ORR_TRAIN_STEP_H
#define ORR_TRAIN_STEP_H

#include "base/mem.h"
#include "train/cost.h"
#include "train/schedule.h"

/* `job` is settled. ORR_ENOMEM where the account refuses. */
ORR_MUST_CHECK enum orr_status step_predict(const struct cost_machine *machine, const struct work_job *job,
                                            double device_bytes, struct mem *mem, struct orr_train_result *result,
                                            struct orr_error *err);

/* ---- a step taken apart: for who plays it some other way (train/roles.h) ---- */

enum { STEP_EMBEDDING, STEP_DENSE, STEP_SPARSE, STEP_HEAD, STEP_LOSS, STEP_PIECES };

/* What of a collective runs beside compute, 0 to 1. */
double step_hidden_share(const struct work_job *job, enum work_comm comm, bool backward);
/* Whether a stage goes on while it sends. */
bool step_hides_sends(const struct work_job *job);
/* Whether gradients are summed and weights gathered while passes run, where all ranks have all weights. */
bool step_sums_beside(const struct cost_machine *machine, const struct work_job *job);
/* What gradients are summed with. */
enum orr_coll_op step_sum_op(const struct work_job *job);
/* Whether layer `layer` is STEP_SPARSE, else STEP_DENSE. */
bool step_has_experts(const struct orr_train_model *model, uint32_t layer);

/* Microseconds. Chunks are those of all stages in the order a micro-batch passes them. */
struct step_layout {
    struct work_piece piece[STEP_PIECES];
    struct cost_piece cost[STEP_PIECES];
    struct schedule_chunk *chunks;
    double *launch;    /* of chunk i: what the host adds to a forward and a backward pass together */
    double *optimizer; /* of stage i */
    size_t chunk_count, stage_count;
};

ORR_MUST_CHECK enum orr_status step_layout_make(const struct cost_machine *machine, const struct work_job *job,
                                                struct mem *mem, struct step_layout **layout, struct orr_error *err);
void step_layout_free(struct step_layout *layout, struct mem *mem); /* NULL is fine */

#endif
