/* SPDX-License-Identifier: Apache-2.0 */
/* The window is small, since a result that waits to be taken holds the memory of its ranks' rows, and not so small that
 * threads wait for a commit. */
#include "lab/sweep/exec.h"

#include <stdlib.h>

#include "base/thread_pool.h"

enum { WINDOW = 16, WINDOW_PER_THREAD = 1, TICK_MS = 50, THREADS_MOST = 1024 };

struct threads_executor {
    struct sweep_executor base;
    uint32_t threads;
};

static enum orr_status sweep_exec_carry_out(struct sweep_executor *executor, const struct sweep_work *work,
                                            struct orr_error *err)
{
    const struct threads_executor *self = (const struct threads_executor *)executor;
    const struct thread_pool_work pieces = {.count = work->count,
                                            .window = WINDOW + self->threads * WINDOW_PER_THREAD,
                                            .tick_ms = TICK_MS,
                                            .make = work->make,
                                            .take = work->take,
                                            .tick = work->tick,
                                            .context = work->context};
    return thread_pool_run(self->threads, &pieces, err);
}

static void close_threads(struct sweep_executor *executor)
{
    free(executor);
}

static const struct sweep_executor_ops threads_ops = {.carry_out = sweep_exec_carry_out, .close = close_threads};

enum orr_status sweep_threads_open(uint32_t threads, struct sweep_executor **executor, struct orr_error *err)
{
    struct threads_executor *opened = calloc(1, sizeof *opened);
    if (opened == NULL) {
        return error_set(err, ORR_ENOMEM, "out of memory for a list of threads");
    }
    uint32_t wanted = threads == 0 ? thread_pool_processors() : threads;
    *opened =
        (struct threads_executor){.base = {&threads_ops}, .threads = wanted < THREADS_MOST ? wanted : THREADS_MOST};
    *executor = &opened->base;
    return ORR_OK;
}
