/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who carries the points of a sweep out. A sweep hands its points to an executor and gets results back on its own
 * thread, as they end; it does not know where they were made. These are the threads of this process; with processes on
 * other machines, results are carried in bytes (io/crew.h).
 */
#ifndef ORR_LAB_SWEEP_EXEC_H
#define ORR_LAB_SWEEP_EXEC_H

#include "base/error.h"

struct sweep_work {
    uint64_t count; /* points still to be made, from 0 */
    /* Makes one, wherever that is; NULL: there was no memory for the result. */
    void *(*make)(void *context, uint64_t point);
    /* The caller's thread: takes a result over. False: begin no more. */
    bool (*take)(void *context, uint64_t point, void *made);
    /* The caller's thread, several times a second. False: begin no more. */
    bool (*tick)(void *context);
    void *context;
};

struct sweep_executor;

struct sweep_executor_ops {
    /* Ends when every point that was begun has been taken. */
    ORR_MUST_CHECK enum orr_status (*carry_out)(struct sweep_executor *executor, const struct sweep_work *work,
                                                struct orr_error *err);
    void (*close)(struct sweep_executor *executor);
};

struct sweep_executor {
    const struct sweep_executor_ops *ops;
};

/* Threads of this process; 0: as many as it may use processors. */
ORR_MUST_CHECK enum orr_status sweep_threads_open(uint32_t threads, struct sweep_executor **executor,
                                                  struct orr_error *err);

#endif
