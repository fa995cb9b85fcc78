/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What ran when, as Chrome trace events with the fields PyTorch's profiler writes (ORR_OUTPUT_TIMELINE): one process
 * per rank, one thread per hardware slot, for chrome://tracing, Perfetto and tools that read Kineto files. ts and dur
 * are microseconds with the nanoseconds as decimals, exact. Arrows and counters are those of report/events.h; a process
 * behind the ranks has the counters of all of them.
 *
 * Receives hold no slot and may overlap, which a thread of a viewer cannot show; they are spread over as many receive
 * threads as are needed, up to 32, the last of which takes the rest.
 */
#ifndef ORR_REPORT_TIMELINE_H
#define ORR_REPORT_TIMELINE_H

#include <stdio.h>

#include "sim/result.h"

/* Needs a run made with keep_intervals. Memory is taken from the account of the run's traces and given back. Fails with
 * ORR_EINVAL without intervals, or ORR_ENOMEM; write errors stay with the stream. */
ORR_MUST_CHECK enum orr_status report_timeline_write(const struct sim_result *result, FILE *stream,
                                                     struct orr_error *err);

#endif
