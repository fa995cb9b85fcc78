/* SPDX-License-Identifier: Apache-2.0 */
/*
 * When each communication of each rank was in flight (ORR_OUTPUT_COMM_INTERVALS), as CSV: rank by rank, by start, a
 * comment after each rank with the number of intervals, their sum and the time with at least one: what a comparison of
 * recorded and simulated communication begins with (spec rocm §1.12).
 */
#ifndef ORR_REPORT_COMM_INTERVALS_H
#define ORR_REPORT_COMM_INTERVALS_H

#include <stdio.h>

#include "sim/result.h"

/* Needs a run made with keep_intervals. Memory is taken from the account of the run's traces and given back. Fails with
 * ORR_EINVAL without intervals, or ORR_ENOMEM; write errors stay with the stream. */
ORR_MUST_CHECK enum orr_status report_comm_intervals_write(const struct sim_result *result, FILE *stream,
                                                           struct orr_error *err);

#endif
