/* SPDX-License-Identifier: Apache-2.0 */
/* Many runs that differ in a few values, on all processors. Included by orrery.h. */
#ifndef ORRERY_SWEEP_H
#define ORRERY_SWEEP_H

#include "orrery/cluster.h"
#include "orrery/lab.h"
#include "orrery/run.h"

ORR_BEGIN

/* ---- sweeps: many runs that differ in a few values ------------------------------------------------------------- */

/* What varies in a sweep, and what its points share (docs/sweeps.md). */
struct orr_sweep_plan;

/* Texts are borrowed for the call. */
struct orr_sweep_plan_options {
    const char *file;        /* YAML, or NULL */
    const char *const *vary; /* "key=a,b,c" each; behind those of the file */
    size_t vary_count;
    bool zip; /* the first values of all keys make a point, then the second ones; else every combination does */
};

/* ORR_EINVAL with the place and the nearest key. */
ORR_MUST_CHECK enum orr_status orr_sweep_plan_open(const struct orr_sweep_plan_options *options,
                                                   struct orr_sweep_plan **plan, struct orr_error *err);
void orr_sweep_plan_close(struct orr_sweep_plan *plan); /* NULL is fine */

/* What is returned is valid until the plan is closed. */
const char *orr_sweep_plan_name(const struct orr_sweep_plan *plan); /* NULL: the file gives none */
bool orr_sweep_plan_is_lab(const struct orr_sweep_plan *plan);      /* points are `orrery lab run`, not `orrery run` */
/* The options that the file has for all points, as words of a command line; returns how many. */
size_t orr_sweep_plan_words(const struct orr_sweep_plan *plan, const char *const **words);
/* Where one of them is said, for messages. */
void orr_sweep_plan_word_place(const struct orr_sweep_plan *plan, size_t word, const char **file, uint32_t *line);

struct orr_sweep_key {
    const char *name;
    const char *origin; /* where it was said: the file's name, or "--vary" */
    uint32_t line;      /* there, from 1 */
};

size_t orr_sweep_plan_key_count(const struct orr_sweep_plan *plan);
void orr_sweep_plan_key(const struct orr_sweep_plan *plan, size_t key, struct orr_sweep_key *found);
/* Points count from 0 here, and from 1 wherever people see them. The last key changes first. */
uint64_t orr_sweep_plan_point_count(const struct orr_sweep_plan *plan);
const char *orr_sweep_plan_value(const struct orr_sweep_plan *plan, uint64_t point, size_t key);

/* Which configuration file a key belongs to: "system.endpoint-delay", or "endpoint-delay" where one file alone has it.
 * `*file` is the option that names that file, `*key` a part of `text`. `wired`: the network file is a packet
 * configuration. `options` (NULL-terminated) are other names that may have been meant, for the proposal. */
ORR_MUST_CHECK enum orr_status orr_config_key(const struct orr_sweep_key *text, bool wired, const char *const *options,
                                              const char **file, const char **key, struct orr_error *err);

/* A point: what `orrery run` or `orrery lab run` would do, with keys of its configuration files replaced. */
struct orr_sweep_job {
    const struct orr_run_options *run; /* or NULL */
    const struct orr_lab_options *lab; /* where run is NULL */
    const struct orr_override *overrides;
    size_t override_count;
    const char *calibration; /* the file that run->tuning was read from: an input like the others; or NULL */
    bool strict;             /* the point's warnings are errors */
};

struct orr_sweep_progress {
    uint64_t points;                /* of the sweep */
    uint64_t kept;                  /* that were in the store already */
    uint64_t left;                  /* that this call runs and that have not ended */
    uint64_t done, failed, stalled; /* those included */
    double running;                 /* points' worth of work in those that run now */
    uint64_t limited;               /* of those that failed: for want of memory */
};

/* All is borrowed until orr_sweep_close. */
struct orr_sweep_options {
    const struct orr_sweep_plan *plan;
    const struct orr_sweep_job *jobs; /* one for each point of the plan */
    const char *base;                 /* what the points share, as text: another one is another sweep */
    const char *store;                /* NULL: runs/orrery.db */
    const char *command;              /* begins with "orrery sweep", quoted for a shell; or NULL */
    const char *tag;                  /* of the runs; NULL: the plan's name */
    uint32_t threads;                 /* 0: one for each processor */
    bool fresh;                       /* points that are in the store are run again */
    const uint64_t *only;             /* these points, even where they are in the store, and no others; or NULL */
    size_t only_count;
    /* Divided: this call runs points `shard`, `shard` + `shards` … (from 1), and keeps them in a file beside the store
     * (docs/cluster.md). `shards` 0: it is not. */
    uint32_t shard, shards;
    struct orr_cluster *cluster; /* the processes that run the points, each with so many threads; NULL: this one */
    bool collect;                /* the points of such files are put into the store, and none is run */
    /* Several times a second, on the calling thread; a false return ends the sweep. May be NULL. */
    bool (*progress)(void *context, const struct orr_sweep_progress *now);
    void *progress_context;
};

struct orr_sweep;

/* Runs every point that the store does not have yet, and keeps each as a run when it ends. With `collect`, ORR_EINTR
 * also where points are missing. In a worker of a cluster `*sweep` is NULL. Points that fail or stall are results, not
 * errors. ORR_EINTR: ended by the callback; what has ended is kept and can be written. `*sweep` is given on ORR_OK and
 * ORR_EINTR. Warnings of the points are told once each. */
ORR_MUST_CHECK enum orr_status orr_sweep_run(const struct orr_sweep_options *options, const struct orr_notices *notices,
                                             struct orr_sweep **sweep, struct orr_error *err);
void orr_sweep_close(struct orr_sweep *sweep); /* NULL is fine */

enum orr_sweep_state { ORR_SWEEP_MISSING, ORR_SWEEP_DONE, ORR_SWEEP_STALLED, ORR_SWEEP_FAILED };

struct orr_sweep_result {
    enum orr_sweep_state state;                    /* MISSING: it was not run */
    int64_t run;                                   /* its number in the store */
    const char *error;                             /* of a failed or stalled point; valid until orr_sweep_close */
    uint64_t time_ns;                              /* simulated; so far, of a stalled one */
    uint64_t steps;                                /* training steps in the traces; 0: not known */
    uint64_t comm_ns, compute_ns, exposed_comm_ns; /* of the rank with most, in each */
    uint32_t world;
    const char *network;  /* it ran on: "unaware", "flow" …; "" where it did not run */
    bool another_network; /* it is from the store, and its network is not the one it would run on now: not ranked */
};

void orr_sweep_progress(const struct orr_sweep *sweep, struct orr_sweep_progress *end);
void orr_sweep_result(const struct orr_sweep *sweep, uint64_t point, struct orr_sweep_result *result);

enum orr_sweep_form { ORR_SWEEP_TEXT, ORR_SWEEP_CSV, ORR_SWEEP_JSON, ORR_SWEEP_CHART };
enum orr_sweep_rank { ORR_SWEEP_BY_TIME, ORR_SWEEP_BY_EXPOSED, ORR_SWEEP_BY_COMM, ORR_SWEEP_BY_COMPUTE };

/* TEXT: the points, best first, at most `best` (0: all), and those that failed or stalled with the reason. CSV and
 * JSON: all points in their own order, each with its rank. CHART: the best as bars (SVG). To `path`, or to `stream`
 * where that is NULL. */
ORR_MUST_CHECK enum orr_status orr_sweep_write(const struct orr_sweep *sweep, enum orr_sweep_form form,
                                               enum orr_sweep_rank by, uint64_t best, const char *path, FILE *stream,
                                               struct orr_error *err);

ORR_END

#endif
