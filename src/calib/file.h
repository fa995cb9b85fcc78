/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A calibration: what was measured, what was simulated, the factors between them, by which rules they are believed, and
 * the few numbers that a later run takes from it. This is the struct that the fit fills (calib/steps_fit.h), the report
 * prints (calib/report.h) and the file below holds, so that a calibration is made once and used often.
 *
 * Everything is of one training step, in milliseconds unless the name says otherwise; NaN means not known. An alpha is
 * real / simulated, without a unit. Knows no trace and no run.
 */
#ifndef ORR_CALIB_FILE_H
#define ORR_CALIB_FILE_H

#include "base/arena.h"

/* The parts that a step's time is told by, measured or simulated. */
struct calib_side {
    double step_ms;
    double comm_ms;    /* communication in flight, whatever else was */
    double exposed_ms; /* of it: while no compute was */
    double gpu_ms;     /* compute in flight on the device */
};

/* A rule that an alpha is believed by, as printed: what, the limit, the value found. */
struct calib_check {
    const char *rule;
    const char *limit;
    const char *value;
    bool holds;
};

enum { CALIB_CHECKS_MOST = 8 };

struct calib {
    const char *tag, *topology, *source; /* "" where nothing is known */
    int64_t run;                         /* simulated figures are of this run of the store; 0: of none */
    uint32_t ranks;                      /* simulated; 0: not known */

    struct calib_side real, sim;
    double iqr_ms;           /* of the measured steps */
    uint64_t samples;        /* measured steps */
    bool traced;             /* real.step_ms is under the profiler */
    bool tuned;              /* what a run takes from a calibration was in the simulation already */
    uint64_t real_steps;     /* steps in one recording; 0: not known */
    uint64_t sim_steps;      /* steps in the simulated traces, by which sim was divided */
    double kernel_ms;        /* measured: kernels alone */
    double least_comm_ms;    /* measured: communication of the rank with least; real.comm_ms is of that with most */
    double untraced_ms;      /* measured: a step without the profiler */
    double untraced_iqr_ms;  /* of them */
    uint64_t untraced_steps; /* of them */
    double host_events;      /* that the profiler noted in a step */
    double profiler_us;      /* its cost for each of them */
    double held_out;         /* relative error of a prediction for steps that the alpha was not fitted on */
    double untraced_error;   /* relative error of the predicted step without the profiler, on such ranks */
    double gpu_mhz;

    double alpha, alpha_iqr, alpha_comm, alpha_gpu;
    double bus_bytes;       /* over a link in a step */
    double collectives;     /* in a step */
    double bandwidth_gbps;  /* configured in the simulation */
    double achieved_gbps;   /* by the measured communication */
    double lower_bound_ms;  /* bus_bytes at bandwidth_gbps */
    bool bandwidth_too_low; /* the verdict: the configured one is lower than the achieved one */

    struct calib_check checks[CALIB_CHECKS_MOST];
    uint32_t check_count;
    bool accepted;

    /* What a run takes from it. */
    double compute_scale;    /* of GPU compute; NaN: 1 */
    double host_factor;      /* of the host's operations, so that the step is that without a profiler; NaN: 1 */
    double sim_untraced_ms;  /* the simulated step with it */
    double launch_us;        /* of one collective; NaN: none fitted */
    double link_gbps;        /* fitted bandwidth and latency of a link; NaN: none fitted */
    double link_latency_us;  /* the same */
    double memory_gbytes_ps; /* local-mem-bw; NaN: none fitted */
};

/* Factors that a profiler, or another device of the same kind, can make; outside of these a fit has met something else,
 * and a run refuses them. Recordings of ours have host factors of 0.145 to 0.87. */
#define CALIB_HOST_LEAST    0.1
#define CALIB_HOST_MOST     1.0
#define CALIB_COMPUTE_LEAST 0.1
#define CALIB_COMPUTE_MOST  10.0

/* All NaN, 0 and "". */
struct calib calib_none(void);

/* Writes it as JSON, complete or not at all. */
ORR_MUST_CHECK enum orr_status calib_file_write(const char *path, const struct calib *calib, struct orr_error *err);

/* Reads what calib_file_write wrote, or a user made of it: only "format" is required. Texts live in the arena.
 * ORR_EINVAL with file and line, naming the nearest key for one that is not known; ORR_EIO, ORR_ENOMEM. */
ORR_MUST_CHECK enum orr_status calib_file_read(const char *path, struct arena *arena, struct calib *calib,
                                               struct orr_error *err);
ORR_MUST_CHECK enum orr_status calib_file_parse(const char *name, const char *text, size_t size, struct arena *arena,
                                                struct calib *calib, struct orr_error *err);

#endif
