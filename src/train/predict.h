/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From what a user asks for to a prediction: model, machine, framework and plan settled, data opened once and shared by
 * many predictions, also of several threads (a lock guards what is opened on the way).
 */
#ifndef ORR_TRAIN_PREDICT_H
#define ORR_TRAIN_PREDICT_H

#include "base/mem.h"
#include "orrery.h"

struct predict_data;

ORR_MUST_CHECK enum orr_status predict_open(struct predict_data **data, struct orr_error *err);
void predict_close(struct predict_data *data); /* NULL is fine */

/* The model of a job, settled, and in the job what follows from model and machine: GPUs and sequence. */
ORR_MUST_CHECK enum orr_status predict_job(struct orr_train_options *options, struct orr_train_model *model,
                                           struct orr_error *err);

ORR_MUST_CHECK enum orr_status predict_step(struct predict_data *data, const struct orr_train_options *options,
                                            struct mem *mem, struct orr_train_result *result, struct orr_error *err);

#endif
