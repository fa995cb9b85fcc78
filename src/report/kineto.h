/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A simulated run as PyTorch's profiler would have recorded it: a folder with one file a rank (rank_R.json.gz), with
 * the categories, names and arguments that Holistic Trace Analysis, TensorBoard's plugin and `orrery trace import` read
 * in a recording. Communications are kernels of NCCL by name, loads and stores copies, everything else of the device
 * compute kernels; streams are the threads of report/lanes.h.
 *
 * What the recording of a real job shows and a simulation has no time for is there without taking any: each kernel's
 * launch, the events by which streams wait for each other, the wait of the host for the device at the end.
 */
#ifndef ORR_REPORT_KINETO_H
#define ORR_REPORT_KINETO_H

#include "sim/result.h"

/* Needs a run made with keep_intervals. All files appear or none. Fails with ORR_EINVAL without intervals, ORR_EIO or
 * ORR_ENOMEM. */
ORR_MUST_CHECK enum orr_status report_kineto_write(const struct sim_result *result, const char *folder,
                                                   struct orr_error *err);

#endif
