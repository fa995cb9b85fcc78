/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A sweep while it runs and when it has ended (orrery.h, struct orr_sweep), in its parts: points are made on threads
 * (sweep/point.c), kept and found again in the store by the calling thread (sweep/keep.c), and driven from one place
 * (sweep/sweep.c). Threads see the options, the inputs and two atomic numbers; results belong to the calling thread.
 */
#ifndef ORR_LAB_SWEEP_SWEEP_H
#define ORR_LAB_SWEEP_SWEEP_H

#include <stdatomic.h>

#include "base/intern.h"
#include "base/notes.h"
#include "lab/experiment_record.h"
#include "lab/sweep/inputs.h"
#include "orrery.h"

/* A point that has ended, on its way to the calling thread. */
struct sweep_made {
    struct mem mem;
    struct arena arena;
    struct notes warnings;
    struct lab_record record;
    struct lab_outcome outcome;
    struct orr_error err;      /* why it did not end well */
    enum orr_status recording; /* ORR_OK: the record can be kept */
    uint64_t steps;
    uint64_t point;
};

/* A warning, once, with the first point that had it. */
struct sweep_warning {
    uint32_t line; /* its number among the texts */
    uint64_t point;
    uint32_t index; /* among the point's */
};

struct orr_sweep {
    const struct orr_sweep_options *options;
    uint64_t points;
    struct mem mem;
    struct arena arena;
    struct sweep_inputs inputs;
    bool strict;              /* all points are */
    enum orr_backend network; /* of the points that leave it open */
    /* shared with threads */
    atomic_bool stop;
    atomic_int_least64_t running; /* work in points that run, in thousandths of a point */
    /* of the calling thread */
    struct lab_store *store;
    int shard_fd;                     /* of a shard, in the place of the store; -1: none */
    struct sweep_made **gathered;     /* by point, while shards are read */
    int64_t number;                   /* of the sweep in the store */
    uint64_t *todo;                   /* points to run */
    uint64_t todo_count;              /* of the `points` there is room for */
    uint64_t ended;                   /* of these */
    struct orr_sweep_result *results; /* by point; texts in the arena */
    struct orr_sweep_progress now;
    struct intern lines;            /* of the warnings */
    struct sweep_warning *warnings; /* by the number of the line, less 1 */
    uint32_t warning_count, warning_capacity;
    enum orr_status status; /* of the keeping */
    struct orr_error err;
};

/* On any thread: runs one point to whatever end; NULL when there is no memory. */
struct sweep_made *sweep_point_make(struct orr_sweep *sweep, uint64_t point);
struct sweep_made *sweep_made_new(uint64_t point); /* empty; NULL when there is no memory */
void sweep_made_free(struct sweep_made *made);     /* NULL is fine */

/* The network a point runs on: the one that was asked for, else that of all. */
enum orr_backend sweep_network_of(const struct orr_sweep *sweep, uint64_t point);

/* The rest is for the calling thread. Opens the store, finds the sweep in it, and takes over the points that have ended
 * well or stalled there; those that failed are tried again. */
ORR_MUST_CHECK enum orr_status sweep_keep_open(struct orr_sweep *sweep, struct orr_error *err);
/* Takes a result over and puts it into the store, both of them for good. */
ORR_MUST_CHECK enum orr_status sweep_keep_add(struct orr_sweep *sweep, struct sweep_made *made, struct orr_error *err);

#endif
