/* SPDX-License-Identifier: Apache-2.0 */
/* What a run left behind, for parts of the lab that look at single nodes; valid until the run is closed. */
#ifndef ORR_RUN_RESULT_H
#define ORR_RUN_RESULT_H

#include "orrery.h"
#include "sim/result.h"

const struct sim_result *lab_run_result(const struct orr_run *run);

#endif
