/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fitted numbers put into a machine's files: copies of a system JSON and of a network (network YAML, or a physical
 * topology) with the link's bandwidth and latency and the memory's bandwidth in them. The originals are never changed.
 */
#ifndef ORR_CALIB_APPLY_H
#define ORR_CALIB_APPLY_H

#include <stdio.h>

#include "base/notes.h"
#include "calib/file.h"
#include "orrery.h"

/* Writes the copies, under the originals' names, and says to `stream` (unless NULL) what was changed in each.
 * ORR_EINVAL when the calibration has nothing to put into them, or an output would replace an input. */
ORR_MUST_CHECK enum orr_status calib_apply(const struct orr_calib_apply *apply, const struct calib *calib,
                                           struct arena *arena, struct notes *notes, FILE *stream,
                                           struct orr_error *err);

#endif
