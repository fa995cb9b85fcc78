/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A lab run that uses a calibration: one from a file, or one that is made first, from the recording itself. Made first
 * means: the traced world is simulated as it was recorded, held against the steps that were measured beside the traces,
 * and what comes of that goes into the run that was asked for. Both runs, and the calibration, are kept.
 */
#ifndef ORR_CALIB_LAB_H
#define ORR_CALIB_LAB_H

#include <stdio.h>

#include "base/arena.h"
#include "orrery.h"

/* orr_lab_run with options->calibration or options->auto_calibrate. */
ORR_MUST_CHECK enum orr_status calib_lab_run(const struct orr_lab_options *options, const struct orr_notices *notices,
                                             FILE *stream, struct orr_lab_result *result, struct orr_error *err);

#endif
