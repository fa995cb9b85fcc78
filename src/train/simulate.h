/* SPDX-License-Identifier: Apache-2.0 */
/* A step simulated: its workload made in memory (train/trace.h), run on the machine's network, and where the time of
 * its busiest stage went. */
#ifndef ORR_TRAIN_SIMULATE_H
#define ORR_TRAIN_SIMULATE_H

#include "train/predict.h"

ORR_MUST_CHECK enum orr_status simulate_step(const struct predict_job *job, const struct orr_train_options *options,
                                             struct orr_train_simulated *simulated, struct orr_error *err);

#endif
