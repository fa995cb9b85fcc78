/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Measured training steps: how long a step really took, read from whatever the user's recording left behind. One file
 * gives one `struct calib_measured`: training_R.json (steps without a profiler), gpu_metrics_*.json in both of its
 * forms (spec rocm §1.1), a bare list of step times, or a Kineto device trace, whose ProfilerStep marks are steps under
 * the profiler and whose kernels say what they were made of. Files are told apart by what is in them.
 *
 * Times are milliseconds of one step, always: a file that holds several steps is divided by their number here and
 * nowhere else (spec rocm F2). What a file does not say is NaN. Lists live in the caller's arena. Knows nothing of
 * simulated times.
 */
#ifndef ORR_CALIB_STEPS_H
#define ORR_CALIB_STEPS_H

#include "base/arena.h"
#include "base/notes.h"

/* name in reports, what it is */
#define CALIB_STEP_FORMS(X)                                                                                            \
    X(TRAINING, "training")       /* training_R.json: steps without a profiler */                                      \
    X(GPU_METRICS, "gpu-metrics") /* gpu_metrics_*.json: the clock, and step times in the historic form */             \
    X(LIST, "list")               /* [12.1, 12.3, ...], milliseconds */                                                \
    X(KINETO, "profiler")         /* ProfilerStep marks of a device trace */

enum calib_step_form {
#define CALIB_X(name, word) CALIB_STEP_##name,
    CALIB_STEP_FORMS(CALIB_X)
#undef CALIB_X
};

/* What one file says. */
struct calib_measured {
    const char *path; /* borrowed from the caller */
    enum calib_step_form form;
    bool traced;            /* the profiler ran: its cost is in the times */
    int64_t rank;           /* as the file says, else as its name does: device_R.json; -1: neither */
    uint64_t samples;       /* steps behind the median, which may be more than those listed; 0: no step times */
    const double *steps_ms; /* single steps, in the file's order; a lone median is a list of one */
    uint32_t step_count;
    double median_ms;
    double first_ms; /* when the first step began, on the clock of the machine; NaN: not said */

    /* Of a device trace, per step; NaN elsewhere. Overlapping intervals count once. */
    double comm_ms;    /* communication: nccl and rccl kernels, else the ranges gloo and mpi leave on the host */
    double exposed_ms; /* of it: while the device did nothing else */
    double device_ms;  /* kernels, copies and sets that are no communication */
    double kernel_ms;  /* the sum of such kernels alone: spec rocm §1.9's real_t_kernel_ms */
    double collectives;
    double host_events; /* operators, ranges, runtime and driver calls that the profiler had to note inside a step */

    double gpu_mhz; /* core clock while training: the median, else the highest, when above 500 MHz */
};

/*
 * Reads one file, plain, gzip or zstd. Warnings (what could not be used) go to `notes`. ORR_EINVAL with file and line
 * for what is none of the forms or holds times that cannot be (zero, negative, longer than a year), ORR_EIO,
 * ORR_ENOMEM.
 */
ORR_MUST_CHECK enum orr_status calib_measured_read(const char *path, struct arena *arena, struct notes *notes,
                                                   struct calib_measured *measured, struct orr_error *err);

/* The Kineto part of it, for a file known to be a device trace. */
ORR_MUST_CHECK enum orr_status calib_measured_kineto(const char *path, struct arena *arena, struct notes *notes,
                                                     struct calib_measured *measured, struct orr_error *err);

/* A file that says nothing yet. */
struct calib_measured calib_measured_none(const char *path);

/* ---- numbers of several files ---- */

/* A median with its spread; all NaN and 0 where there is nothing. */
struct calib_spread {
    uint64_t samples;
    uint32_t listed; /* values that the quartiles are of */
    double median;
    double iqr; /* between the quartiles, by linear interpolation; NaN for less than two values */
};

/* Over `count` values, which are put in order. */
struct calib_spread calib_spread_of(double *values, uint32_t count);

/* All listed steps of the files that have `traced` as given, and of `rank` alone unless that is -1. */
ORR_MUST_CHECK enum orr_status calib_steps_pool(const struct calib_measured *files, uint32_t count, bool traced,
                                                int64_t rank, struct arena *arena, struct calib_spread *spread,
                                                struct orr_error *err);

#endif
