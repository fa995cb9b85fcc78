/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From measured and simulated steps to an alpha: real / simulated, per step on both sides (spec rocm F2), its spread,
 * what it would predict of steps it was not fitted on, what the profiler costs, and the rules by which it is believed.
 * Arithmetic only: files are read by calib/steps.h, runs by calib/sim.h, words are calib/report.h's.
 */
#ifndef ORR_CALIB_STEPS_FIT_H
#define ORR_CALIB_STEPS_FIT_H

#include "calib/file.h"
#include "calib/steps.h"

/* The simulated side, whole: all steps of the traces. NaN and 0 where not known. */
struct calib_sim {
    int64_t run;                         /* of the store; 0: none */
    const char *tag, *topology;          /* "" */
    double wall_ns, comm_ns, exposed_ns; /* of the job; of the rank with most, in each */
    double gpu_ns;
    uint64_t steps; /* in the traces; 0: not known */
    uint32_t ranks;
    double bus_bytes;      /* over a link, all steps */
    double collectives;    /* of one rank, all steps */
    double bandwidth_gbps; /* configured, of all links of a rank together */
    double launch_us;      /* what the simulation already has for launching a collective */
    double compute_factor; /* and by what its compute was already multiplied; 1 */
};

struct calib_sim calib_sim_none(void);

/* What is known besides the files. */
struct calib_question {
    const struct calib_measured *files;
    uint32_t file_count;
    struct calib_sim sim;
    int64_t rank;       /* fit on the steps of this rank, hold the others out; -1: on all */
    bool untraced;      /* alpha against the steps without a profiler even where there are others */
    uint64_t steps;     /* the user's word for the steps in the simulated traces; 0: none */
    double real_ms[3];  /* step, communication, kernels as given; NaN: from the files */
    double profiler_us; /* of an event, as another recording says; NaN: fitted where both kinds of step are known */
};

/* How to divide, in words for a message, when the two sides hold different numbers of steps: ORR_EINVAL. Without any
 * measured step: ORR_EINVAL. Texts of the result live in the arena. */
ORR_MUST_CHECK enum orr_status calib_steps_fit(const struct calib_question *question, struct arena *arena,
                                               struct calib *calib, struct orr_error *err);

/* Adds a rule's row, or gives the row of that name another value, and says anew whether the calibration is believed.
 * The texts but `value` must outlive it. ORR_ENOMEM. */
ORR_MUST_CHECK enum orr_status calib_check_set(struct calib *calib, struct arena *arena, const char *rule,
                                               const char *limit, const char *value, bool holds, struct orr_error *err);

/* What the calibration makes of a simulated step of another machine, run with what calib_tune takes from it. */
struct calib_prediction {
    double scaled_ms;   /* what the simulation lacks grows with the rest: alpha times */
    double added_ms;    /* it stays as it is: plus real - simulated */
    double untraced_ms; /* the second without the profiler; NaN: not known */
    bool is_untraced;   /* all of them are: the run had the host factor */
};
struct calib_prediction calib_predict(const struct calib *calib, double sim_step_ms);

#endif
