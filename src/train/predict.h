/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From what a user asks for to a prediction: model, machine, framework and plan settled, data opened once and shared by
 * many predictions, also of several threads (a lock guards what is opened on the way).
 */
#ifndef ORR_TRAIN_PREDICT_H
#define ORR_TRAIN_PREDICT_H

#include "base/mem.h"
#include "orrery.h"
#include "train/cost.h"

struct predict_data;
struct device;

ORR_MUST_CHECK enum orr_status predict_open(struct predict_data **data, struct orr_error *err);
void predict_close(struct predict_data *data); /* NULL is fine */
/* Whether half of the room for different machines is taken: predict_step is refused for a new one when all of it is.
 * Forgetting them makes room, while nobody predicts. */
bool predict_is_full(struct predict_data *data);
void predict_forget_machines(struct predict_data *data);

/* The model of a job, settled, the GPUs of a server, and in the job what follows from model and machine: GPUs and
 * sequence. */
ORR_MUST_CHECK enum orr_status predict_asked(struct orr_train_options *options, struct orr_train_model *model,
                                             uint32_t *server, struct orr_error *err);
/* All that a step is made of. `job` points into it, so that it must not be copied. */
struct predict_job {
    struct orr_train_model model;
    struct orr_train_plan plan;
    struct framework framework;
    const char *framework_name;
    const struct device *device;
    struct cost_machine cost;
    struct work_job job;
};

ORR_MUST_CHECK enum orr_status predict_settle(struct predict_data *data, const struct orr_train_options *options,
                                              struct predict_job *job, struct orr_error *err);

ORR_MUST_CHECK enum orr_status predict_step(struct predict_data *data, const struct orr_train_options *options,
                                            struct mem *mem, struct orr_train_result *result, struct orr_error *err);

#endif
