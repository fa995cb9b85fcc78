/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One lock, two conditions. Pieces are large (a whole simulation), so that what a lock costs does not show; what
 * matters is that nobody waits while there is something to do, and that the lock is never held during the work itself.
 */
#include "base/thread_pool.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct slot {
    uint64_t piece;
    void *made;
    bool full;
};

struct pool {
    const struct thread_pool_work *work;
    pthread_mutex_t lock;
    pthread_cond_t room; /* to the threads: a piece may be begun, or none will be any more */
    pthread_cond_t come; /* to the caller: a result lies there */
    uint64_t begun, made, taken;
    bool stop;
    struct slot *slots; /* ring of `window`: by piece where ordered, else by the order of coming */
};

uint32_t thread_pool_processors(void)
{
    cpu_set_t allowed; /* too small for machines of more than 1024, which the second question is for */
    long count =
        sched_getaffinity(0, sizeof allowed, &allowed) == 0 ? CPU_COUNT(&allowed) : sysconf(_SC_NPROCESSORS_ONLN);
    return count > 0 ? (uint32_t)count : 1;
}

static void thread_pool_put(struct pool *pool, uint64_t piece, void *made)
{
    uint64_t at = pool->work->ordered ? piece : pool->made;
    pool->slots[at % pool->work->window] = (struct slot){piece, made, true};
    pool->made++;
    (void)pthread_cond_signal(&pool->come);
}

static void *thread_main(void *context)
{
    struct pool *pool = context;
    const struct thread_pool_work *work = pool->work;
    (void)pthread_mutex_lock(&pool->lock);
    while (!pool->stop && pool->begun < work->count) {
        if (pool->begun - pool->taken >= work->window) {
            (void)pthread_cond_wait(&pool->room, &pool->lock);
            continue;
        }
        uint64_t piece = pool->begun++;
        (void)pthread_mutex_unlock(&pool->lock);
        void *made = work->make(work->context, piece);
        (void)pthread_mutex_lock(&pool->lock);
        thread_pool_put(pool, piece, made);
    }
    (void)pthread_mutex_unlock(&pool->lock);
    return NULL;
}

static void wait_a_tick(struct pool *pool)
{
    struct timespec until = {0};
    (void)clock_gettime(CLOCK_MONOTONIC, &until);
    uint64_t ns = (uint64_t)until.tv_nsec + (uint64_t)pool->work->tick_ms * 1000000;
    until.tv_sec += (time_t)(ns / 1000000000);
    until.tv_nsec = (long)(ns % 1000000000);
    (void)pthread_cond_timedwait(&pool->come, &pool->lock, &until);
}

/* With the lock held, and gives it back held. */
static void take_one(struct pool *pool, struct slot *slot)
{
    const struct thread_pool_work *work = pool->work;
    const struct slot found = *slot;
    slot->full = false;
    (void)pthread_mutex_unlock(&pool->lock);
    bool go_on = work->take(work->context, found.piece, found.made);
    (void)pthread_mutex_lock(&pool->lock);
    pool->stop = pool->stop || !go_on;
    pool->taken++;
    (void)pthread_cond_broadcast(&pool->room);
}

static void take_all(struct pool *pool)
{
    const struct thread_pool_work *work = pool->work;
    (void)pthread_mutex_lock(&pool->lock);
    while (pool->taken < (pool->stop ? pool->begun : work->count)) {
        struct slot *slot = &pool->slots[pool->taken % work->window];
        if (slot->full) {
            take_one(pool, slot);
        } else {
            wait_a_tick(pool);
        }
        (void)pthread_mutex_unlock(&pool->lock);
        bool go_on = work->tick == NULL || work->tick(work->context);
        (void)pthread_mutex_lock(&pool->lock);
        pool->stop = pool->stop || !go_on;
    }
    pool->stop = true;
    (void)pthread_cond_broadcast(&pool->room);
    (void)pthread_mutex_unlock(&pool->lock);
}

/* Signals are blocked while the threads are made, which inherit that. */
static uint32_t thread_pool_start(struct pool *pool, pthread_t *threads, uint32_t count)
{
    sigset_t all;
    sigset_t before;
    uint32_t made = 0;
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    while (made < count && pthread_create(&threads[made], NULL, thread_main, pool) == 0) {
        made++;
    }
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    return made;
}

static enum orr_status base_thread_pool_run(struct pool *pool, uint32_t count, struct orr_error *err)
{
    pthread_t *threads = calloc(count, sizeof *threads);
    uint32_t made = threads == NULL ? 0 : thread_pool_start(pool, threads, count);
    if (made > 0) {
        take_all(pool);
    }
    for (uint32_t i = 0; i < made; i++) {
        (void)pthread_join(threads[i], NULL);
    }
    free(threads);
    return made > 0 ? ORR_OK : error_set(err, ORR_ENOMEM, "out of memory: no thread can be started");
}

enum orr_status thread_pool_run(uint32_t threads, const struct thread_pool_work *work, struct orr_error *err)
{
    if (work->count == 0) {
        return ORR_OK;
    }
    uint32_t count = threads < work->count ? threads : (uint32_t)work->count;
    struct pool pool = {.work = work, .slots = calloc(work->window, sizeof *pool.slots)};
    if (pool.slots == NULL) {
        return error_set(err, ORR_ENOMEM, "out of memory for %u results at once", (unsigned)work->window);
    }
    pthread_condattr_t clock;
    (void)pthread_condattr_init(&clock);
    (void)pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    (void)pthread_mutex_init(&pool.lock, NULL);
    (void)pthread_cond_init(&pool.room, NULL);
    (void)pthread_cond_init(&pool.come, &clock);
    enum orr_status status = base_thread_pool_run(&pool, count == 0 ? 1 : count, err);
    (void)pthread_cond_destroy(&pool.come);
    (void)pthread_cond_destroy(&pool.room);
    (void)pthread_mutex_destroy(&pool.lock);
    (void)pthread_condattr_destroy(&clock);
    free(pool.slots);
    return status;
}
