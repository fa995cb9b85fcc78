/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the program does while a simulation runs: the progress line on a terminal, the status file, and the wish to
 * stop (Ctrl-C, SIGTERM). All of it happens inside the library's progress callback, so there is no thread, and the
 * signal handler does no more than count. From watch_begin to watch_finish the first signal ends the simulation, or
 * nothing when that has ended already, so that the outputs are written whole; the second ends the program at once.
 *
 * Owns the progress line and the status file. Knows only what struct orr_progress says.
 */
#ifndef ORR_CLI_WATCH_H
#define ORR_CLI_WATCH_H

#include <signal.h>

#include "cli/cli.h"

#define WATCH_STATES(X)                                                                                                \
    X(RUNNING, "running")                                                                                              \
    X(DONE, "done")                                                                                                    \
    X(STALLED, "stalled")                                                                                              \
    X(INTERRUPTED, "interrupted")                                                                                      \
    X(FAILED, "failed")

enum watch_state {
#define WATCH_X(name, text) WATCH_##name,
    WATCH_STATES(WATCH_X)
#undef WATCH_X
};

enum { WATCH_SIGNALS = 2 }; /* SIGINT, SIGTERM */

struct watch {
    const char *status_file;   /* or NULL */
    bool draw;                 /* progress on standard error */
    bool drawn;                /* a line is there to be cleaned */
    const char *unit;          /* what is counted where nothing is simulated: "plans"; else NULL */
    const char *sooner;        /* what answers sooner, said once where the end is minutes away; NULL: nothing does */
    bool status_failed;        /* the status file could not be written; said once */
    bool taken[WATCH_SIGNALS]; /* signals we handle; those the parent ignores we leave */
    struct sigaction before[WATCH_SIGNALS];
    uint64_t start_ns; /* of the monotonic clock */
    uint64_t next_draw_ns;
    uint64_t next_status_ns;
    uint64_t elapsed_ns;
    struct orr_progress now;
};

/* Writes the status file a first time, so that a path that cannot be written is an error before any work is done. */
ORR_MUST_CHECK enum orr_status watch_init(struct watch *watch, const char *status_file, bool progress,
                                          struct orr_error *err);
void watch_begin(struct watch *watch);                              /* before orr_run_execute */
bool watch_progress(void *context, const struct orr_progress *now); /* for orr_run_options.progress */
void watch_end(struct watch *watch);                                /* after it: the line is gone */
/* When all outputs are written: last word in the status file, signals as they were before. */
void watch_finish(struct watch *watch, enum watch_state state);

#endif
