/* SPDX-License-Identifier: Apache-2.0 */
/*
 * When a pipeline's stages do what: each stage has its list of passes in a schedule's order and takes the next one when
 * it is free and what the pass needs has come. Knows durations; no model and no machine.
 */
#ifndef ORR_TRAIN_SCHEDULE_H
#define ORR_TRAIN_SCHEDULE_H

#include "base/mem.h"
#include "orrery/train.h"

/* Microseconds of one micro-batch in one chunk. */
struct schedule_chunk {
    double forward, backward;
    double weight; /* of `backward`, the part that nothing waits for: gradients of weights */
    double send;   /* its result to the next chunk, and as long for the gradient back from there */
};

struct schedule_request {
    enum orr_train_schedule schedule;
    uint32_t stages, chunks; /* chunks of each stage */
    uint32_t micro_batches;
    const struct schedule_chunk *chunk; /* stages x chunks, in the order a micro-batch passes them */
    bool hidden_sends;                  /* a stage goes on while it sends; else it waits until it is sent */
    double *filled; /* NULL, or room for stages x passes: microseconds of weights' gradients done before each pass */
};

/* One pass of a stage. */
enum schedule_kind { SCHEDULE_FORWARD, SCHEDULE_BACKWARD };

struct schedule_step {
    enum schedule_kind kind;
    uint32_t micro_batch, chunk; /* chunk of the stage */
};

/* How many passes a stage has, and its i-th in the schedule's order (not of dualpipe). */
uint64_t schedule_passes(const struct schedule_request *request);
struct schedule_step schedule_step_of(const struct schedule_request *request, uint32_t stage, uint64_t i);

struct schedule_result {
    double us;      /* until the last stage is done */
    double busiest; /* of the stage that computes longest: its compute */
    uint32_t bottleneck;
};

/* ORR_ENOMEM where the account refuses. */
ORR_MUST_CHECK enum orr_status schedule_run(const struct schedule_request *request, struct mem *mem,
                                            struct schedule_result *result, struct orr_error *err);

#endif
