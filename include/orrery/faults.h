/* SPDX-License-Identifier: Apache-2.0 */
/* Clusters as they are: what chance does to a run, what failures leave of a job's time. Included by orrery.h.
 * docs/faults.md. */
#ifndef ORRERY_FAULTS_H
#define ORRERY_FAULTS_H

#include "orrery/run.h"

ORR_BEGIN

/* ---- a run by many seeds ---------------------------------------------------------------------------------------- */

struct orr_repeat {
    uint64_t count;      /* seeds, from first_seed on */
    uint64_t first_seed; /* that of the options */
    uint64_t plain_ns;   /* what the run takes without jitter, noise and stragglers */
    double mean_ns, deviation_ns;
    double p50_ns, p90_ns, p99_ns; /* linear between neighbours */
    uint64_t best_ns, worst_ns;
    uint64_t best_seed, worst_seed;
    const uint64_t *times_ns; /* by seed, `count` of them; lives as long as the result */
};

/* Runs `options` once for each seed, on `threads` threads (0: as many as there are processors), and once without
 * chance. The same figures whatever the threads. Progress callbacks are asked whether to go on (ORR_EINTR), with runs
 * as nodes. A run that fails or stalls fails all, with its seed. Free the result with orr_repeat_free. */
ORR_MUST_CHECK enum orr_status orr_run_repeat(const struct orr_run_options *options, uint64_t count, uint32_t threads,
                                              struct orr_repeat **result, struct orr_error *err);
void orr_repeat_free(struct orr_repeat *result); /* NULL is fine */
/* TEXT or JSON. */
ORR_MUST_CHECK enum orr_status orr_repeat_write(const struct orr_repeat *result, enum orr_form form, FILE *stream,
                                                struct orr_error *err);

/* ---- failures and checkpoints -------------------------------------------------------------------------------------
 */

/*
 * How much of a long job's time makes progress. Failures come by chance at a constant rate (exponential gaps, any time
 * but while the job waits for repair); work since the last checkpoint is lost with each, then the job restarts, and
 * again where it fails while doing so. Start from orr_goodput_options_init.
 */
struct orr_goodput_options {
    uint64_t gpus;                      /* that the job uses; spares are besides */
    uint64_t gpus_per_node;             /* 8 */
    uint64_t gpu_mtbf_ns, node_mtbf_ns; /* mean time between failures of one GPU, of one node; 0: it does not fail */
    const char *model;                  /* a checkpoint is its parameters times bytes_per_parameter; or NULL */
    double bytes_per_parameter;         /* 14: bf16 weights, fp32 master weights and both moments of Adam */
    uint64_t checkpoint_bytes;          /* instead of `model` */
    double checkpoint_gbytes_per_s;     /* the rate at which all of it is written, 1e9 bytes a second */
    uint64_t checkpoint_ns;             /* instead of bytes and rate: how long the job stands still for a checkpoint */
    uint64_t restart_ns;                /* from a failure until work goes on from the last checkpoint */
    uint64_t spares;                    /* nodes that take the place of broken ones; with repair_ns */
    uint64_t repair_ns;                 /* mean time until a broken node is back, exponential; 0: the restart has it */
    uint64_t interval_ns;               /* work between two checkpoints; 0: the best */
    uint64_t step_ns;                   /* checkpoints lie between whole steps of this; 0: anywhere */
};

/* Shares of the whole time; they add up to 1. */
struct orr_goodput_shares {
    uint64_t interval_ns; /* of work */
    double goodput;       /* progress */
    double checkpoints;   /* writing those that count */
    double lost_work;     /* done again, checkpoints cut short included */
    double restarts;
    double repairs; /* waiting for nodes, all spares being in use */
};

struct orr_goodput {
    uint64_t failure_ns; /* mean time between failures of the job */
    uint64_t checkpoint_bytes, checkpoint_ns;
    struct orr_goodput_shares best;  /* by the exact optimum of the model */
    struct orr_goodput_shares young; /* by Young's square root of 2 x checkpoint x mean time between failures */
    struct orr_goodput_shares daly;  /* by Daly's estimate of higher order */
    struct orr_goodput_shares given; /* by interval_ns; all 0 where that is 0 */
};

void orr_goodput_options_init(struct orr_goodput_options *options);
/* ORR_EINVAL or ORR_ERANGE where they say too little, or what cannot be. */
ORR_MUST_CHECK enum orr_status orr_goodput_find(const struct orr_goodput_options *options, struct orr_goodput *result,
                                                struct orr_error *err);
ORR_MUST_CHECK enum orr_status orr_goodput_write(const struct orr_goodput_options *options,
                                                 const struct orr_goodput *result, enum orr_form form, FILE *stream,
                                                 struct orr_error *err);

/* ---- several jobs on one machine ----------------------------------------------------------------------------------
 */

struct orr_job_row {
    char name[64];
    uint32_t ranks;
    uint64_t together_ns; /* until its last rank is done, with the others there */
    uint64_t alone_ns;    /* on the same ranks, with the others idle */
};

/* One direction of a link that at least two jobs use, with what each of them puts on it alone. */
struct orr_job_link {
    uint32_t from, to;  /* nodes */
    uint32_t jobs;      /* that use it */
    uint64_t bytes;     /* of all of them, each alone */
    double utilisation; /* with all of them there */
};

enum { ORR_JOB_LINKS = 20 };

struct orr_jobs {
    const struct orr_job_row *rows; /* as the options have them; live as long as the result */
    uint32_t count;
    uint32_t link_count;                      /* of those below */
    uint32_t shared_links;                    /* how many there are; wired machines alone */
    struct orr_job_link links[ORR_JOB_LINKS]; /* the busiest */
    uint64_t queued_together, queued_alone;   /* AWARE: messages that found their link busy; of all jobs, each alone */
};

/* Runs the jobs of the options together, and each of them alone. Free the result with orr_jobs_free. */
ORR_MUST_CHECK enum orr_status orr_jobs_run(const struct orr_run_options *options, struct orr_jobs **result,
                                            struct orr_error *err);
void orr_jobs_free(struct orr_jobs *result); /* NULL is fine */
ORR_MUST_CHECK enum orr_status orr_jobs_write(const struct orr_jobs *result, enum orr_form form, FILE *stream,
                                              struct orr_error *err);

ORR_END

#endif
