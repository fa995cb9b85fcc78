/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One simulation together with its entry in the result store: what `orrery lab run` and every point of a sweep are. The
 * run is entered before it starts and gets its results when it ends, whatever the end was (lab/store/store.h).
 *
 * Borrows everything for the call. Knows the public functions of a run and the store; prints nothing.
 */
#ifndef ORR_LAB_EXPERIMENT_H
#define ORR_LAB_EXPERIMENT_H

#include "lab/store/store.h"
#include "orrery.h"

struct lab_experiment {
    struct orr_run_options options;
    const struct orr_simai_simulation *simai; /* of a SimAI workload: what it was opened with; else NULL */
    const char *kind;                         /* "lab", "sweep" */
    const char *command;                      /* quoted for a shell, as `rerun` types it */
    const char *tag;                          /* or NULL */
    const char *topology;                     /* as asked for */
    const char *dims;                         /* logical, "4x4x8" */
    const char *results;                      /* the folder of its outputs, or NULL: none is kept */
    const struct lab_setting *settings;       /* every option that can change the result, with units */
    uint32_t setting_count;
    const struct lab_input *extra; /* inputs beyond the files that the options name */
    uint32_t extra_count;
    uint64_t steps;                   /* training steps in the traces; 0: not known */
    const struct lab_input *workload; /* its hash over `workload_traces` ranks, where that is known already; or NULL */
    uint32_t workload_traces;
};

struct lab_outcome {
    int64_t run; /* its number in the store; 0 without one */
    enum lab_run_state state;
    uint64_t total_ns, comm_ns, compute_ns, exposed_comm_ns; /* of the rank with most, in each */
    uint64_t wall_ms, events, messages;
    uint32_t world, source_world;
};

/*
 * Runs it. Inputs are hashed (traces, system, network, groups, memory, the topology that a packet configuration names,
 * and `extra`), and the run's fingerprint is made of the hashes and the settings. `store` may be NULL: nothing is kept.
 * `use` is called with the executed run, for outputs, before it is closed; it may be NULL, and its status becomes the
 * result's. Whatever the run's end was is in the store, also when its files could not be read, and is returned too; the
 * outcome is then filled as far as it is known.
 */
ORR_MUST_CHECK enum orr_status lab_experiment_run(const struct lab_experiment *experiment, struct lab_store *store,
                                                  enum orr_status (*use)(void *context, const struct orr_run *run,
                                                                         struct orr_error *err),
                                                  void *context, struct lab_outcome *outcome, struct orr_error *err);

struct lab_record;

/*
 * Runs it without a store, on any thread: `record` (initialised) gets all that lab_store_begin and lab_store_finish
 * want, whatever the run's end was. `see` is called with the executed run before it is closed, unless it could not be
 * opened; it may be NULL. The status is that of the recording; how the run ended is in the outcome, and why in `err`.
 */
ORR_MUST_CHECK enum orr_status lab_experiment_make(const struct lab_experiment *experiment,
                                                   void (*see)(void *context, const struct orr_run *run), void *context,
                                                   struct lab_record *record, struct lab_outcome *outcome,
                                                   struct orr_error *err);

/* What an executed run came to. */
void lab_outcome_read(const struct orr_run *run, enum orr_status status, uint64_t wall_ms, struct lab_outcome *outcome);

#endif
