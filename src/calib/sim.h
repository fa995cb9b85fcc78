/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The simulated side of a calibration, read back from a run of the result store: times, the steps in its traces, the
 * bytes its collectives need to move over a link, the bandwidth it was given.
 */
#ifndef ORR_CALIB_SIM_H
#define ORR_CALIB_SIM_H

#include "calib/steps_fit.h"
#include "lab/store/store.h"

/* `run` 0: the newest. ORR_EINVAL when there is no such run or it did not end well. Texts live in the arena. */
ORR_MUST_CHECK enum orr_status calib_sim_read(struct lab_store *store, int64_t run, struct arena *arena,
                                              struct calib_sim *sim, struct orr_error *err);

#endif
