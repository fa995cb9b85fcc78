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

/* The files of measured steps in a folder of recordings: device traces by the importer's names, and training_R.json and
 * gpu_metrics_R.json of the same ranks and tag. ORR_EINVAL when there are none. */
ORR_MUST_CHECK enum orr_status calib_lab_find(const char *folder, const char *tag, struct arena *arena,
                                              const char ***paths, uint32_t *count, struct orr_error *err);

/* orr_lab_run with options->calibration or options->auto_calibrate. */
ORR_MUST_CHECK enum orr_status calib_lab_run(const struct orr_lab_options *options, const struct orr_notices *notices,
                                             FILE *stream, struct orr_lab_result *result, struct orr_error *err);

#endif
