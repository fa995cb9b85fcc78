/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A calibration held against what it was not fitted on: every recorded step of every rank beside the same step in the
 * simulation of the traces. One of them, the first step of the first rank, is what the links are fitted on; all others
 * are held out, and their errors are what the calibration is worth. What was fitted is never among them.
 *
 * A step's length on both sides is that of its rank alone: measured by the profiler's mark, simulated from the end of
 * the step before to the end of the last node that belongs to it. All ranks of a simulation begin together; where
 * recordings that share a clock did not, what a rank's first step began earlier is added to its prediction.
 */
#ifndef ORR_CALIB_HOLDOUT_H
#define ORR_CALIB_HOLDOUT_H

#include <stdio.h>

#include "calib/steps.h"
#include "orrery.h"

struct calib_step {
    int64_t rank;
    uint32_t place; /* in the recording, from 1 */
    double real_ms;
    double sim_ms;   /* with what was fitted; NaN: the traces have no such step */
    double ahead_ms; /* of a first step: by so much it began before that of the fitted rank, and waited for it */
};

struct calib_holdout {
    struct calib_step *steps; /* by rank and place; the first is the fitted one */
    uint32_t count;
    double link_gbps; /* at which the fitted step is as long as it was measured, or nearest to it; NaN: not fitted */
    double alpha;     /* of the fitted step, measured / simulated, with that */
    double worst;     /* relative error of alpha * simulated on the held-out steps; NaN: there are none */
    double median;    /* of their errors' sizes */
};

/* Simulates `run` (traces of all ranks on the machine they were recorded on) as often as the fit needs. `start_gbps` is
 * where the search for the links' rate begins; NaN: the links are left alone. Lists live in the arena. Errors are those
 * of the runs and of reading traces. */
ORR_MUST_CHECK enum orr_status calib_holdout_make(const struct orr_run_options *run, const struct calib_measured *files,
                                                  uint32_t file_count, double start_gbps, struct arena *arena,
                                                  struct calib_holdout *holdout, struct orr_error *err);

/* What was fitted on, then the held-out steps, the worst of many. */
void calib_holdout_put(const struct calib_holdout *holdout, FILE *stream);

#endif
