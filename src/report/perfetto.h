/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What ran when, as Perfetto's own protobuf (a Trace of TracePackets with TrackDescriptors, TrackEvents, interned
 * names, flows and counters): the events of report/events.h in a third of the bytes of Chrome's JSON, with nanoseconds
 * as whole numbers. For ui.perfetto.dev and trace_processor.
 *
 * One track "job" over all; under it one a rank, and under that one a thread. Slices of a track must nest, so those
 * that overlap go to a further track of the same name, which viewers draw as one.
 */
#ifndef ORR_REPORT_PERFETTO_H
#define ORR_REPORT_PERFETTO_H

#include <stdio.h>

#include "sim/result.h"

/* Needs a run made with keep_intervals. Memory is taken from the account of the run's traces and given back. Fails with
 * ORR_EINVAL without intervals, or ORR_ENOMEM; write errors stay with the stream. */
ORR_MUST_CHECK enum orr_status report_perfetto_write(const struct sim_result *result, FILE *stream,
                                                     struct orr_error *err);

#endif
