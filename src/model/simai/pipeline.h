/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How long a pipeline of equal stages takes, by its schedule (trace/pipeline.h): every stage works through its turns in
 * order, each as soon as its message has come. No network: a message takes the same time everywhere and waits for no
 * other. With one the same as running it, where nothing contends.
 */
#ifndef ORR_MODEL_SIMAI_PIPELINE_H
#define ORR_MODEL_SIMAI_PIPELINE_H

#include "base/mem.h"
#include "trace/pipeline.h"

struct simai_pipeline {
    struct pipeline_shape shape;
    const double *forward, *backward; /* by batch x chunks + chunk: what a stage spends on it, us */
    double message;                   /* us */
};

/* Whether there are no more turns than are counted (2^26). */
bool simai_pipeline_fits(const struct pipeline_shape *shape);

/* From the first stage's first turn to the last turn of all. Fails with ORR_ENOMEM and ORR_ERANGE. */
ORR_MUST_CHECK enum orr_status simai_pipeline_span(const struct simai_pipeline *pipeline, struct mem *mem,
                                                   double *span_us, struct orr_error *err);

#endif
