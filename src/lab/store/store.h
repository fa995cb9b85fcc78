/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The result store: one SQLite file (runs/orrery.db unless told otherwise) that keeps every run with what went into it
 * and what came out: inputs with hashes, the command, the version, the seed, results per rank and per collective, the
 * history of calibrations, and the points of sweeps. docs/store.md describes the tables; users query them.
 *
 * A run is entered when it starts, as "partial", and gets its results in one transaction when it ends: whatever kills
 * the program in between leaves a marked row and never half a result. Several programs may write to one store. Knows
 * how results are kept, not how they are made.
 */
#ifndef ORR_LAB_STORE_STORE_H
#define ORR_LAB_STORE_STORE_H

#include "base/arena.h"
#include "io/database.h"

/* word in the table, meaning */
#define LAB_RUN_STATES(X)                                                                                              \
    X(PARTIAL, "partial")         /* started, and not ended yet or never */                                            \
    X(DONE, "done")               /* all ranks finished */                                                             \
    X(STALLED, "stalled")         /* the simulated job cannot go on */                                                 \
    X(FAILED, "failed")           /* the run itself failed; `error` says why */                                        \
    X(INTERRUPTED, "interrupted") /* stopped by the user */

enum lab_run_state {
#define LAB_X(name, word) LAB_RUN_##name,
    LAB_RUN_STATES(LAB_X)
#undef LAB_X
        LAB_RUN_STATE_COUNT
};

const char *lab_run_state_word(enum lab_run_state state);

/* A file that went into a run. */
struct lab_input {
    const char *role; /* "workload", "system", "network", "topology", … */
    const char *path;
    const char *hash; /* XXH3 of its bytes, 128 bits, 32 hexadecimal digits */
    uint64_t bytes;
};

/* One option as it was finally used, with its unit in the value where it has one. */
struct lab_setting {
    const char *key, *value;
};

/* What is known of a run when it starts. Texts are borrowed for the call; NULL where not known. */
struct lab_manifest {
    const char *kind;         /* "run", "lab", "sweep" */
    const char *command;      /* as typed, quoted for a shell */
    const char *folder;       /* its working folder; `rerun` starts there */
    const char *tag;          /* the user's name for it */
    const char *backend;      /* "unaware", … */
    const char *topology;     /* as asked for */
    const char *logical_dims; /* "4x4x8" */
    const char *comm_scale;   /* "1", "127/64" */
    const char *fingerprint;  /* hash of the settings and the inputs' hashes: equal runs have equal ones */
    uint64_t seed;
    uint32_t world, source_world; /* ranks simulated, ranks of the traces */
    const struct lab_input *inputs;
    uint32_t input_count;
    const struct lab_setting *settings;
    uint32_t setting_count;
};

struct lab_rank_row {
    bool finished;
    uint64_t finish_ns, compute_ns, exposed_comm_ns, exposed_other_ns, idle_ns;
};

struct lab_collective_row {
    const char *type;
    uint32_t group_size;
    uint64_t bytes, count, total_ns, min_ns, max_ns;
};

struct lab_results {
    enum lab_run_state state;
    const char *error;   /* of a failed or stalled run, else NULL */
    uint64_t total_ns;   /* simulated */
    uint64_t steps;      /* training steps in the traces; 0: not known */
    uint64_t comm_ns;    /* of the rank with most: time with communication in flight */
    uint64_t compute_ns; /* of the rank with most: time with compute in flight */
    uint64_t wall_ms;    /* how long the simulation took */
    uint64_t events, messages, peak_bytes;
    const struct lab_rank_row *ranks;
    uint32_t rank_count;
    const struct lab_collective_row *collectives;
    uint32_t collective_count;
};

/* A finished comparison of one simulated step with a measured one. NaN where not known. */
struct lab_calibration {
    int64_t run; /* 0: none */
    const char *tag, *topology, *source, *flags, *notes;
    double alpha_us, alpha_comm_us, alpha_gpu_us; /* microseconds of reality for one simulated cycle, per step */
    double real_step_ms, real_comm_ms, real_kernel_ms;
    double sim_step_ms, sim_comm_ms, sim_gpu_ms;
    double lower_bound_ms, iqr;
    uint64_t samples, steps;
    uint32_t world;
    bool accepted;
};

struct lab_store;

/* Opens the store; for writing it is made where missing, and a file of an older form is brought to today's. A file that
 * a newer Orrery wrote is refused. */
ORR_MUST_CHECK enum orr_status lab_store_open(const char *path, enum io_database_mode mode, struct lab_store **store,
                                              struct orr_error *err);
void lab_store_close(struct lab_store *store); /* NULL is fine */

/* For readers of the tables (lists, exports): their own statements. */
struct io_database *lab_store_database(struct lab_store *store);

/* Until the matching end all entries are one transaction, for those who have many. The end takes the status of what was
 * entered and returns it, or that of the commit; when either is not ORR_OK, nothing of the batch is in the store. */
ORR_MUST_CHECK enum orr_status lab_store_batch(struct lab_store *store, struct orr_error *err);
ORR_MUST_CHECK enum orr_status lab_store_batch_end(struct lab_store *store, enum orr_status status,
                                                   struct orr_error *err);

/* Enters a run as partial, with its inputs and settings; `*run` is its number from then on. */
ORR_MUST_CHECK enum orr_status lab_store_begin(struct lab_store *store, const struct lab_manifest *manifest,
                                               int64_t *run, struct orr_error *err);
/* Gives the run its results: all of them or none. A run that is no longer partial is refused. */
ORR_MUST_CHECK enum orr_status lab_store_finish(struct lab_store *store, int64_t run, const struct lab_results *results,
                                                struct orr_error *err);

ORR_MUST_CHECK enum orr_status lab_store_calibrate(struct lab_store *store, const struct lab_calibration *calibration,
                                                   int64_t *id, struct orr_error *err);

/* ---- sweeps: a named list of points, each of which becomes a run ---- */

/* Enters the sweep of this fingerprint, or finds it when it was begun before. */
ORR_MUST_CHECK enum orr_status lab_store_sweep(struct lab_store *store, const char *name, const char *fingerprint,
                                               const char *command, int64_t *sweep, struct orr_error *err);
/* Says that point `index` became `run`. */
ORR_MUST_CHECK enum orr_status lab_store_point_done(struct lab_store *store, int64_t sweep, uint64_t index, int64_t run,
                                                    struct orr_error *err);

#endif
