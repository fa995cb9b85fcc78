/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Many independent pieces of work on a few threads, their results handed back on the caller's own thread, one at a
 * time. What is shared between the pieces must be read-only; what a piece makes belongs to its result. Only sweeps use
 * it: a single simulation is sequential.
 *
 * Bounded: at most `window` pieces are begun and not yet taken, so that a slow taker holds the threads back instead of
 * filling the memory. No globals: the threads live as long as the call. They take no signals; those come to the caller.
 */
#ifndef ORR_BASE_THREAD_POOL_H
#define ORR_BASE_THREAD_POOL_H

#include "base/error.h"

struct thread_pool_work {
    uint64_t count;  /* pieces, begun in order 0, 1, 2 … */
    uint32_t window; /* at least 1; fewer than threads leaves some idle */
    bool ordered;    /* results are taken in the order of the pieces, else as they come */
    uint32_t tick_ms;
    /* On any thread. The result may be NULL; it is taken all the same. */
    void *(*make)(void *context, uint64_t piece);
    /* On the caller's thread. False: begin nothing more; what is begun is still taken. */
    bool (*take)(void *context, uint64_t piece, void *made);
    /* On the caller's thread, after every result and at least every tick_ms; false as for take. May be NULL. */
    bool (*tick)(void *context);
    void *context;
};

/* The processors this process may use; at least 1. */
uint32_t thread_pool_processors(void);

/* Ends when all pieces are taken, or, after a false answer, all that were begun. ORR_ENOMEM when not even one thread
 * can be had; fewer than `threads` are no error. */
ORR_MUST_CHECK enum orr_status thread_pool_run(uint32_t threads, const struct thread_pool_work *work,
                                               struct orr_error *err);

#endif
