/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How near the simulation of a recording comes to the recording: imported to a temporary folder, each rank played alone
 * with every communication as long as it was recorded, since one rank's recording cannot tell the others'. Fills
 * `measure` of a run's ranks.
 */
#ifndef ORR_API_READY_MEASURE_H
#define ORR_API_READY_MEASURE_H

#include "convert/pytorch/ready/ready.h"

/* Fails with ORR_EIO where TMPDIR, else /tmp, cannot be written to, and as an import and a run do. */
ORR_MUST_CHECK enum orr_status ready_measure(const struct ready_request *request, struct ready_run *run,
                                             struct orr_error *err);

#endif
