/* SPDX-License-Identifier: Apache-2.0 */
/* Work on several threads: each piece once, bounded, in order where that is asked for, and stopped when told. */
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

#include "base/thread_pool.h"
#include "tests/check.h"

enum { PIECES = 500 };

struct watcher {
    atomic_int begun, most; /* begun and not taken: now, and at most */
    atomic_int seen[PIECES];
    int taken;
    uint64_t last;
    bool in_order;
    int stop_after; /* 0: never */
    int ticks;
    int stop_at_tick; /* 0: never */
};

static void *make(void *context, uint64_t piece)
{
    struct watcher *watcher = context;
    int now = atomic_fetch_add(&watcher->begun, 1) + 1;
    int most = atomic_load(&watcher->most);
    while (now > most && !atomic_compare_exchange_weak(&watcher->most, &most, now)) {
    }
    atomic_fetch_add(&watcher->seen[piece], 1);
    if (piece % 7 == 0) { /* some are slow, so that results come out of order */
        const struct timespec nap = {.tv_nsec = 300000};
        (void)nanosleep(&nap, NULL);
    }
    uint64_t *made = malloc(sizeof *made);
    if (made != NULL) {
        *made = piece * 3;
    }
    return made;
}

static bool take(void *context, uint64_t piece, void *made)
{
    struct watcher *watcher = context;
    CHECK(made != NULL && *(uint64_t *)made == piece * 3, "piece %" PRIu64 " has its own result", piece);
    free(made);
    watcher->in_order = watcher->in_order && (watcher->taken == 0 || piece == watcher->last + 1);
    watcher->last = piece;
    watcher->taken++;
    atomic_fetch_sub(&watcher->begun, 1);
    return watcher->stop_after == 0 || watcher->taken < watcher->stop_after;
}

static bool tick(void *context)
{
    struct watcher *watcher = context;
    watcher->ticks++;
    return watcher->stop_at_tick == 0 || watcher->ticks < watcher->stop_at_tick;
}

static void run(struct watcher *watcher, uint32_t threads, uint32_t window, bool ordered)
{
    struct orr_error err = {0};
    const struct thread_pool_work work = {.count = PIECES,
                                          .window = window,
                                          .ordered = ordered,
                                          .tick_ms = 50,
                                          .make = make,
                                          .take = take,
                                          .tick = tick,
                                          .context = watcher};
    watcher->in_order = true;
    CHECK_OK(thread_pool_run(threads, &work, &err), &err);
}

static void every_piece_is_made_and_taken_once_whatever_the_threads(void **state)
{
    (void)state;
    static const uint32_t threads[] = {1, 2, 8, 1000};
    for (size_t i = 0; i < COUNT_OF(threads); i++) {
        struct watcher watcher = {0};
        run(&watcher, threads[i], 16, false);
        CHECK_U64(watcher.taken, PIECES, "%" PRIu32 " threads", threads[i]);
        for (int piece = 0; piece < PIECES; piece++) {
            CHECK_U64(watcher.seen[piece], 1, "piece %d", piece);
        }
    }
}

static void no_more_than_the_window_is_begun_and_not_taken(void **state)
{
    (void)state;
    static const uint32_t windows[] = {1, 3, 16};
    for (size_t i = 0; i < COUNT_OF(windows); i++) {
        struct watcher watcher = {0};
        run(&watcher, 8, windows[i], i % 2 == 0);
        CHECK((uint32_t)watcher.most <= windows[i], "%d begun at once, window %" PRIu32, watcher.most, windows[i]);
    }
}

static void results_are_taken_in_order_where_that_is_asked_for(void **state)
{
    (void)state;
    struct watcher watcher = {0};
    run(&watcher, 8, 16, true);
    CHECK(watcher.in_order && watcher.taken == PIECES, "in order");
}

static void a_false_answer_ends_it_and_what_was_begun_is_still_taken(void **state)
{
    (void)state;
    struct watcher by_take = {.stop_after = 20};
    struct watcher by_tick = {.stop_at_tick = 20};
    struct watcher *both[] = {&by_take, &by_tick};
    for (size_t i = 0; i < COUNT_OF(both); i++) {
        run(both[i], 4, 8, false);
        CHECK(both[i]->taken < PIECES, "%d taken", both[i]->taken);
        CHECK_U64(both[i]->begun, 0, "nothing begun is left");
    }
}

static void no_work_is_no_error(void **state)
{
    (void)state;
    struct orr_error err = {0};
    const struct thread_pool_work work = {.window = 1, .make = make, .take = take};
    CHECK_OK(thread_pool_run(4, &work, &err), &err);
    CHECK(thread_pool_processors() >= 1, "there is a processor");
}

TEST_MAIN(every_piece_is_made_and_taken_once_whatever_the_threads, no_more_than_the_window_is_begun_and_not_taken,
          results_are_taken_in_order_where_that_is_asked_for, a_false_answer_ends_it_and_what_was_begun_is_still_taken,
          no_work_is_no_error)
