/* SPDX-License-Identifier: Apache-2.0 */
/* What a step takes from the wall and from the purse: power of the GPUs by what they do, price by their hours. Knows no
 * model and no network. */
#ifndef ORR_TRAIN_ENERGY_H
#define ORR_TRAIN_ENERGY_H

#include "orrery/train.h"

/* Fills watts, joules, gpu_hour and cost; the parts of the step are settled. */
void energy_of_step(const struct orr_train_options *options, struct orr_train_result *result);

#endif
