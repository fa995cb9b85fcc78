/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What holds a job up and what would help: findings with their evidence, and changes that were each simulated. Also the
 * collectives of a job tuned by simulation. Included by orrery.h.
 */
#ifndef ORRERY_ADVISE_H
#define ORRERY_ADVISE_H

#include <stdio.h>

#include "orrery/run.h"
#include "orrery/simai.h"
#include "orrery/train.h"

ORR_BEGIN

struct orr_advice_number {
    const char *name; /* with its unit: "wait_ns", "rank" */
    double value;
};

/* Something that holds the job up. */
struct orr_advice_finding {
    const char *id; /* "straggler", "late-ranks", "slow-link", … (docs/advise.md) */
    const char *title;
    const char *severity; /* "high", "medium" or "low", by the share */
    double share;         /* of the step; 0: not told */
    const char *const *evidence;
    size_t evidence_count;
    const struct orr_advice_number *numbers;
    size_t number_count;
};

/* A change that helps; the job was simulated with it. */
struct orr_advice_suggestion {
    const char *title;
    const char *kind;    /* "setting": of software; "machine": another one; "job": the job itself changes */
    const char *change;  /* options to add to the command of the job */
    const char *repeat;  /* the whole command, which gives after_ns */
    const char *network; /* that before_ns and after_ns are of, where it is another than the advice's */
    uint64_t before_ns, after_ns;
    double gain; /* share of before_ns */
};

/* A change that is not suggested. */
struct orr_advice_trial {
    const char *title, *change;
    const char *because; /* "no gain", or a reason */
};

/* Texts and lists belong to it. */
struct orr_advice {
    const char *command; /* of the job */
    const char *network; /* that all runs were simulated on; "": they were predicted */
    uint64_t before_ns;  /* of all its steps, as all times here */
    uint64_t steps;      /* that it is, where it says so; 0: not told */
    uint64_t simulations;
    const char *summary; /* where the time goes, one sentence */
    const struct orr_advice_finding *findings;
    size_t finding_count;
    const struct orr_advice_suggestion *suggestions; /* the largest gain first */
    size_t suggestion_count;
    const struct orr_advice_trial *trials;
    size_t trial_count;
};

/* Start from orr_advise_options_init. */
struct orr_advise_options {
    size_t size;      /* of this struct */
    uint32_t tries;   /* simulations at most */
    uint32_t threads; /* 0: all processors */
};

void orr_advise_options_init(struct orr_advise_options *options);

/* A job of traces. ORR_ESTALL where it stalls; warnings of its run go to `notices` (or NULL). The caller frees what it
 * gets. */
ORR_MUST_CHECK enum orr_status orr_advise_run(const struct orr_run_options *job,
                                              const struct orr_advise_options *options,
                                              const struct orr_notices *notices, struct orr_advice **advice,
                                              struct orr_error *err);
/* A training step; with job->simulates all times are those of the simulated step. */
ORR_MUST_CHECK enum orr_status orr_advise_train(const struct orr_train_options *job,
                                                const struct orr_advise_options *options, struct orr_advice **advice,
                                                struct orr_error *err);
/* A SimAI workload on a wired machine, as orr_simai_open simulates it. */
ORR_MUST_CHECK enum orr_status orr_advise_simai(const struct orr_simai_simulation *job,
                                                const struct orr_advise_options *options,
                                                const struct orr_notices *notices, struct orr_advice **advice,
                                                struct orr_error *err);
void orr_advice_free(struct orr_advice *advice); /* NULL is fine */

/* For people; as JSON ("kind": "advice"). */
ORR_MUST_CHECK enum orr_status orr_advice_print(const struct orr_advice *advice, FILE *stream, struct orr_error *err);
ORR_MUST_CHECK enum orr_status orr_advice_json(const struct orr_advice *advice, FILE *stream, struct orr_error *err);

/* ---- the collectives of a job, tuned ------------------------------------------------------------------------------
 */

/* Start from orr_tune_options_init. */
struct orr_tune_options {
    size_t size;        /* of this struct */
    uint32_t tries;     /* simulations at most */
    uint32_t threads;   /* 0: all processors */
    const char *system; /* where the system file is to be, for `repeat`; NULL: "system.json" */
    bool nccl;          /* settings of NCCL are wanted too */
};

/* A setting that is another now. */
struct orr_tuned_setting {
    const char *key; /* of the system file; "order of dimensions" */
    const char *before, *after;
    uint64_t alone_ns; /* the job with this one changed and no other; 0: it does not run so */
};

/* Collectives of one kind and size. */
struct orr_tuned_collective {
    const char *type;
    uint32_t group_size;
    uint64_t bytes, count;      /* count: each rank's participation */
    double before_ns, after_ns; /* in the mean */
};

/* Texts and lists belong to it. */
struct orr_tuned {
    const char *command, *network;
    uint64_t before_ns, after_ns; /* of the job; the same where nothing is better */
    uint64_t combinations, simulations;
    bool is_whole; /* all combinations were looked at: none is better; else none next to it is */
    bool ran_out;  /* of tries: neither is known */
    const struct orr_tuned_setting *settings;
    size_t setting_count;
    const struct orr_tuned_collective *collectives;
    size_t collective_count;
    const char *file; /* the system file, with which `repeat` takes after_ns */
    const char *repeat;
    const char *nccl; /* environment variables of NCCL with what they gain as comments; NULL: not asked for */
};

void orr_tune_options_init(struct orr_tune_options *options);

/* Algorithms of each kind of collective, chunks, chunks in flight, the order of dimensions. Where the job leaves the
 * network open, one whose links are shared. Nothing is written; the caller frees what it gets. */
ORR_MUST_CHECK enum orr_status orr_tune_collectives(const struct orr_run_options *job,
                                                    const struct orr_tune_options *options,
                                                    const struct orr_notices *notices, struct orr_tuned **tuned,
                                                    struct orr_error *err);
void orr_tuned_free(struct orr_tuned *tuned); /* NULL is fine */

/* For people; as JSON ("kind": "tuning"). */
ORR_MUST_CHECK enum orr_status orr_tuned_print(const struct orr_tuned *tuned, FILE *stream, struct orr_error *err);
ORR_MUST_CHECK enum orr_status orr_tuned_json(const struct orr_tuned *tuned, FILE *stream, struct orr_error *err);

ORR_END

#endif
