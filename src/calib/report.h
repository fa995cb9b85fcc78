/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A calibration on paper: real, simulated and the analytic lower bound side by side, why they differ in numbers, the
 * rules and the verdict. Reads a finished `struct calib`; decides nothing.
 */
#ifndef ORR_CALIB_REPORT_H
#define ORR_CALIB_REPORT_H

#include <stdio.h>

#include "calib/file.h"
#include "calib/network.h"
#include "calib/steps_fit.h"

/* Everything, for people. */
void calib_report_put(const struct calib *calib, FILE *stream);

/* What measured collectives and copies gave: a line for each range of each group, then the numbers of a link. */
void calib_report_network(const struct calib_network *network, FILE *stream);

/* One line about the same steps once the simulation was tuned. */
void calib_report_after(const struct calib *calib, FILE *stream);

/* What it makes of another run's simulated step: a few lines below that run's summary. */
void calib_report_prediction(const struct calib *calib, double sim_step_ms, FILE *stream);

/* The verdict in one line: "accepted", or "refused: samples 1, at least 3 wanted". */
const char *calib_report_verdict(const struct calib *calib, char *text, size_t size);

/* Words for the store's column "flags": what the spec's scripts flag, with commas; "" for nothing. */
const char *calib_report_flags(const struct calib *calib);

#endif
