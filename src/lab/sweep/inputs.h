/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the points of a sweep read, found before the first of them runs: the traces, each prefix once, loaded when the
 * first point wants them and let go when the last has ended; and the fingerprint of all files, which tells whether a
 * sweep in the store is still this one.
 *
 * Owns the traces. Threads share it from sweep_inputs_find on; loading is behind a lock of its own for each prefix.
 */
#ifndef ORR_LAB_SWEEP_INPUTS_H
#define ORR_LAB_SWEEP_INPUTS_H

#include <pthread.h>

#include "base/arena.h"
#include "io/hash.h"
#include "lab/store/store.h"
#include "orrery.h"

struct sweep_workload {
    const char *prefix;
    bool missing_is_cpu;
    struct lab_input input;      /* as the store has it */
    char hash[IO_HASH_TEXT];     /* of all traces that are there */
    uint32_t traces;             /* how many that are; 0: they cannot be read */
    pthread_mutex_t lock;        /* of the rest */
    bool tried;                  /* to load it */
    uint64_t tried_limit;        /* with this much memory; 0: any */
    struct orr_workload *loaded; /* NULL: each point reads its own, and says what is wrong with them */
    uint64_t steps;              /* training steps in them; 0: not known */
    uint64_t users;              /* points that have not ended */
};

struct sweep_inputs {
    struct mem mem;
    struct arena arena;
    struct sweep_workload **workloads;
    uint32_t count, capacity;
    uint32_t *of_point; /* which one; UINT32_MAX: none could be found */
    uint64_t points;
    struct lab_input *calibrations; /* as the store has them; found with the fingerprint */
    uint32_t calibration_count, calibration_capacity;
};

void sweep_inputs_init(struct sweep_inputs *inputs);
void sweep_inputs_free(struct sweep_inputs *inputs);

/* Finds the workload of every job. One that cannot be found is left to its point to complain about; recordings, which
 * every point would have to import, are refused. */
ORR_MUST_CHECK enum orr_status sweep_inputs_find(struct sweep_inputs *inputs, const struct orr_sweep_job *jobs,
                                                 uint64_t count, struct orr_error *err);

/* Of the version, `base`, all keys and values, and the bytes of every file the jobs name. */
ORR_MUST_CHECK enum orr_status sweep_inputs_fingerprint(struct sweep_inputs *inputs,
                                                        const struct orr_sweep_options *sweep, uint64_t count,
                                                        char text[IO_HASH_TEXT], struct orr_error *err);

/* Says that a point which would have used it will not run. Not for threads. */
void sweep_inputs_skip(struct sweep_inputs *inputs, uint64_t point);

/* The traces of a point, loaded; NULL where none were found. Each call needs a sweep_inputs_give. */
struct sweep_workload *sweep_inputs_take(struct sweep_inputs *inputs, uint64_t point, uint64_t memory_limit);
void sweep_inputs_give(struct sweep_workload *workload); /* NULL is fine */

/* The shared traces for a point that may have so much memory (0: any). NULL where reading them would have needed more:
 * the point then reads its own, so that what becomes of it does not depend on who came first. */
const struct orr_workload *sweep_workload_loaded(struct sweep_workload *workload, uint64_t memory_limit);

/* A calibration file with its hash; NULL for NULL and for one that cannot be read. */
const struct lab_input *sweep_inputs_calibration(const struct sweep_inputs *inputs, const char *path);

#endif
