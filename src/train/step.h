/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A whole step: pieces costed once, laid out over stages and chunks, scheduled, gradients summed, weights updated. The
 * parts of the result add up to its time.
 */
#ifndef ORR_TRAIN_STEP_H
#define ORR_TRAIN_STEP_H

#include "base/mem.h"
#include "train/cost.h"

/* `job` is settled. ORR_ENOMEM where the account refuses. */
ORR_MUST_CHECK enum orr_status step_predict(const struct cost_machine *machine, const struct work_job *job,
                                            double device_bytes, struct mem *mem, struct orr_train_result *result,
                                            struct orr_error *err);

#endif
