/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A job that runs, followed: a training job by the profiler's recordings that appear in a folder, each held against
 * what was simulated or against the job's own beginning; a simulation by its status file. docs/watch.md. Included by
 * orrery.h.
 */
#ifndef ORRERY_WATCH_H
#define ORRERY_WATCH_H

#include "orrery/base.h"

ORR_BEGIN

/* symbol, word, what it says */
#define ORR_WATCH_ALARMS(X)                                                                                            \
    X(DRIFT, "drift", "steps take longer than expected")                                                               \
    X(STRAGGLER, "straggler", "one rank computes longer than the others")                                              \
    X(LINKS, "links", "communication takes longer on every rank")

enum orr_watch_alarm_kind {
#define ORR_X(symbol, word, text) ORR_WATCH_##symbol,
    ORR_WATCH_ALARMS(ORR_X)
#undef ORR_X
        ORR_WATCH_ALARM_COUNT
};

/* Start from orr_watch_options_init. Texts are borrowed until orr_watch_close. */
struct orr_watch_options {
    size_t size;
    const char *folder;   /* where recordings appear: Kineto device traces, plain or gzip */
    const char *expected; /* what --json of run or train wrote of the same job; NULL: the first window is the measure */
    double step_ms;       /* or the step alone; 0: not said */
    double tolerance;     /* share of the expected beyond which there is an alarm */
};

struct orr_watch_seen {
    uint32_t files;   /* read so far */
    uint32_t waiting; /* in the folder, and not whole yet */
    uint32_t windows; /* judged: one recording of every rank each */
    uint32_t ranks;
    uint64_t alarms;
};

struct orr_watch;

void orr_watch_options_init(struct orr_watch_options *options);
/* ORR_EINVAL where the folder is none or the expectation says no time of a step. */
ORR_MUST_CHECK enum orr_status orr_watch_open(const struct orr_watch_options *options, struct orr_watch **watch,
                                              struct orr_error *err);
/* Reads what is new and judges each window of which all ranks are there, with `last` all of them: a line each and one
 * for each alarm to `stream`. Files that are still written are looked at again the next time. `notices` may be NULL. */
ORR_MUST_CHECK enum orr_status orr_watch_look(struct orr_watch *watch, bool last, const struct orr_notices *notices,
                                              FILE *stream, struct orr_watch_seen *seen, struct orr_error *err);
/* All windows and alarms so far, as JSON. */
ORR_MUST_CHECK enum orr_status orr_watch_json(const struct orr_watch *watch, FILE *stream, struct orr_error *err);
void orr_watch_close(struct orr_watch *watch); /* NULL is fine */

/* The status file of a simulation (orrery run --status-file). */
struct orr_status_now {
    char state[16]; /* "running", "done", "stalled", "interrupted", "failed" */
    uint64_t simulated_ns, events, nodes_done, nodes;
    double elapsed_s, eta_s; /* eta: NAN where nothing can be said */
    bool lost;               /* it says "running", and its process is gone from this machine */
};

ORR_MUST_CHECK enum orr_status orr_status_read(const char *path, struct orr_status_now *now, struct orr_error *err);

ORR_END

#endif
