/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows of SimAI's workload text (spec simai §1) and how they are written. A row is twelve columns, of which two are
 * always the same; a text is a header line, the number of rows, and the rows in four runs, of which the two in the
 * middle are one micro-batch each: the first, and all others.
 *
 * Rows live in an arena; names and operations are literals. Knows no model.
 */
#ifndef ORR_MODEL_AICB_ROWS_H
#define ORR_MODEL_AICB_ROWS_H

#include "base/arena.h"

/* The operations that occur; a group is part of the word. */
#define AICB_NONE           "NONE"
#define AICB_ALLREDUCE      "ALLREDUCE"
#define AICB_ALLGATHER      "ALLGATHER"
#define AICB_REDUCESCATTER  "REDUCESCATTER"
#define AICB_ALLTOALL_EP    "ALLTOALL_EP"
#define AICB_ALLGATHER_EP   "ALLGATHER_EP"
#define AICB_ALLGATHER_DPEP "ALLGATHER_DP_EP"
#define AICB_SCATTER_DPEP   "REDUCESCATTER_DP_EP"
#define AICB_ALLGATHER_CP   "ALLGATHER_CP" /* ours: the format has no such group */
#define AICB_SCATTER_CP     "REDUCESCATTER_CP"

/* One pass of a layer: how long it computes, what it communicates after that. */
struct aicb_pass {
    int64_t compute_ns;
    const char *comm; /* NULL is NONE */
    int64_t bytes;
};

struct aicb_row {
    const char *name;
    struct aicb_pass forward, input_gradient, weight_gradient;
};

struct aicb_rows {
    struct arena *arena;
    struct aicb_row *items;
    uint32_t count, capacity;
};

struct aicb_text {
    const char *header;
    struct aicb_rows lead, first, again, tail;
    int64_t repeats; /* micro-batches: `first` once and `again` repeats - 1 times; 0: neither */
};

ORR_MUST_CHECK enum orr_status aicb_rows_add(struct aicb_rows *rows, struct aicb_row row, struct orr_error *err);

/* Fails with ORR_ERANGE when there would be more than 2^27 rows. What cannot be written is seen by who owns the
 * stream. */
ORR_MUST_CHECK enum orr_status aicb_text_write(const struct aicb_text *text, FILE *stream, struct orr_error *err);

#endif
