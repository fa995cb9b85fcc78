/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a profiler does to the host, as one factor: the simulated traced world is made as long as a step that was
 * measured without a profiler, by making the host's operations shorter. Unlike a time that is subtracted, the factor
 * lets what the slow host had hidden come to light: communication that a traced step covers may be exposed without it.
 */
#ifndef ORR_CALIB_HOST_H
#define ORR_CALIB_HOST_H

#include "calib/file.h"
#include "orrery.h"

/* Fills host_factor and sim_untraced_ms: the factor, at most 1, at which a step of `run` lasts untraced_ms, or the
 * nearest it comes to. Simulates a dozen times; nothing is kept. Errors are those of the runs. */
ORR_MUST_CHECK enum orr_status calib_host_fit(const struct orr_run_options *run, struct calib *calib,
                                              struct orr_error *err);

#endif
