/* SPDX-License-Identifier: Apache-2.0 */
/* Fitting a simulation to measurements. Included by orrery.h. */
#ifndef ORRERY_CALIB_H
#define ORRERY_CALIB_H

#include "orrery/lab.h"
#include "orrery/run.h"

ORR_BEGIN

/* ---- calibration ------------------------------------------------------------------------------------------------- */

/*
 * Measured steps held against a simulated one, and measured collectives turned into a link (docs/calibration.md). Texts
 * and lists are borrowed for the call; NULL and 0: not given. Start from orr_calib_options_init.
 */
struct orr_calib_options {
    const char *const *measured; /* step times: device traces, training_R.json, gpu_metrics_*.json, lists */
    size_t measured_count;
    double real_step_ms, real_comm_ms, real_kernel_ms; /* of one step; go before what the files say */
    int64_t rank;                                      /* fit on this rank and hold the others out; -1: on all */
    bool untraced;                                     /* alpha against the steps without a profiler */
    const char *profiler; /* its cost for each event, from another recording: "13us"; NULL: fitted where it can be */

    const char *store; /* result store: where `run` is looked up and the calibration is kept; NULL: neither */
    bool has_run;
    int64_t run;                                   /* the simulated side is this run of the store; 0: the newest */
    uint64_t sim_wall_ns, sim_comm_ns, sim_gpu_ns; /* or these, over all steps of the traces */
    uint64_t sim_steps;                            /* in the simulated traces */
    uint64_t steps;                                /* the user's word for it, where the sides disagree */
    uint64_t comm_bytes;                           /* all-reduced in a step */
    uint64_t collectives;                          /* in a step */
    uint32_t ranks;
    const char *bandwidth; /* configured: "65Gbps" */
    const char *machine;   /* that was simulated, as in a run (docs/machines.md): says ranks and, unless it leaves that
                            * open, bandwidth; NULL: none */

    const char *const *bench; /* measured collectives and copies: nccl-tests, rccl-tests, rocm-bandwidth-test, tables */
    size_t bench_count;
    uint32_t hops;                /* links between two ranks in them; 0: 1 */
    const char *launch;           /* overhead of a collective, "25us"; NULL: fitted where it can be */
    const char *bench_form;       /* "tests", "bandwidth", "csv", "yaml", "trace"; NULL: by content */
    const char *bench_collective; /* what was measured, "all-reduce"; NULL: as the files say */
    const char *bench_place;      /* "any", "out", "in": measurements in or out of place; NULL: any */
    const char *bench_steps;      /* messages of a small collective: "ring", "tree", "one"; NULL: ring */
    uint32_t bench_ranges;        /* of sizes, at most: 1 to 3; 0: 3 */
    uint64_t bench_splits[2];     /* or given: the last size of each range but the last, ascending */
    uint32_t bench_split_count;

    const char *tag;       /* for the store */
    const char *output;    /* calibration file, JSON */
    uint64_t memory_limit; /* bytes; 0 = 80 % of the machine */
};
void orr_calib_options_init(struct orr_calib_options *options); /* the defaults */

/* NaN where not known. */
struct orr_calib_result {
    int64_t id;                          /* in the store; 0: not kept */
    double alpha, alpha_comm, alpha_gpu; /* real / simulated, of one step */
    double real_step_ms, sim_step_ms;
    double lower_bound_ms, achieved_gbps;
    double profiler_us;              /* what the profiler costs for each host event */
    double held_out, untraced_error; /* relative, on ranks or steps that were not fitted on */
    bool bandwidth_too_low;          /* the configured bandwidth is lower than the one the trace achieved */
    bool accepted;
};

/* Fits, and reports to `stream` unless that is NULL. Sides that hold different numbers of steps are refused unless
 * `steps` says how many the simulated traces have. `notices` may be NULL. */
ORR_MUST_CHECK enum orr_status orr_calib_fit(const struct orr_calib_options *options, const struct orr_notices *notices,
                                             FILE *stream, struct orr_calib_result *result, struct orr_error *err);

/* A calibration file, or the history that a store keeps, newest last. */
ORR_MUST_CHECK enum orr_status orr_calib_show(const char *path, FILE *stream, struct orr_error *err);
ORR_MUST_CHECK enum orr_status orr_calib_history(const char *store, enum orr_store_form form, FILE *stream,
                                                 struct orr_error *err);

/* What a calibration file changes in a run: fields of `tuning` that are 0 are filled. A calibration that was refused by
 * its rules is a warning. */
ORR_MUST_CHECK enum orr_status orr_calib_tuning(const char *path, const struct orr_notices *notices,
                                                struct orr_tuning *tuning, struct orr_error *err);

/* Writes copies of a system and a network file with the fitted numbers in them to a folder, made where missing. */
struct orr_calib_apply {
    const char *calibration;
    const char *system, *network; /* system JSON; network YAML or physical topology; NULL: none */
    const char *machine;          /* or all files of this one, by name (docs/machines.md); NULL: none */
    const char *folder;
    const char *dims; /* which dimensions of a network YAML get the link, "0" or "0,1"; NULL: all */
};
ORR_MUST_CHECK enum orr_status orr_calib_apply(const struct orr_calib_apply *apply, const struct orr_notices *notices,
                                               FILE *stream, struct orr_error *err);

ORR_END

#endif
