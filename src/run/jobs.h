/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Several jobs on one machine made into one workload: each job's traces with their ranks and groups renumbered to those
 * of the machine it was given; ranks that no job has do nothing. What a job calls all ranks is a group then. The engine
 * knows nothing of it.
 *
 * The traces made borrow from those read, which are kept here until run_jobs_free.
 */
#ifndef ORR_RUN_JOBS_H
#define ORR_RUN_JOBS_H

#include "base/notes.h"
#include "orrery.h"
#include "sim/config.h"

struct run_job {
    const char *name;
    struct trace_set *read;
    const uint32_t *ranks; /* of the machine, by the job's; as many as read->rank_count */
};

struct run_jobs {
    struct run_job *list; /* in the arena */
    uint32_t count;
};

/* With options->only_job the ranks of the others do nothing. `*traces` is the caller's to free, before run_jobs_free.
 * ORR_EINVAL or ORR_ERANGE: there are too many ranks, one is given twice or is not there; and as reading traces and
 * groups fails. */
ORR_MUST_CHECK enum orr_status run_jobs_take(struct run_jobs *jobs, const struct orr_run_options *options,
                                             uint32_t ranks, struct arena *arena, struct notes *notes,
                                             struct trace_set **traces, struct sim_config *config,
                                             struct orr_error *err);
void run_jobs_free(struct run_jobs *jobs);

#endif
