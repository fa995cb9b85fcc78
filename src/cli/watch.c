/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The callback comes every so many events, far more often than anyone looks, so each part has a time before which it
 * does nothing. Rates are over the whole run: a simulation's events are even enough, and a figure that jumps tells
 * less.
 *
 * A signal handler can tell of a signal only through an object of static storage, so `stops` below is the one variable
 * the program has that is not on a stack. The library has none: to it, the wish to stop is what the callback answers.
 */
#include "cli/watch.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"

static const uint64_t second_ns = 1000000000;
static const uint64_t first_draw_ns = 1000000000; /* a run shorter than this shows nothing */
static const uint64_t redraw_ns = 200000000;

/* After so long it is looked whether the end is far, and so far is worth a word. */
static const uint64_t patience_ns = 5000000000;
static const double far_s = 60;

/* Signals that asked to stop so far, 0 or 1: with the second the program ends. Written by on_signal alone. */
static volatile sig_atomic_t stops;

static const int wanted[WATCH_SIGNALS] = {SIGINT, SIGTERM};

/* The second goes to the signal's usual effect, which ends the program wherever it is; being blocked in its own
 * handler, it arrives when this returns. */
static void on_signal(int number)
{
    if (stops == 0) {
        stops = 1;
        return;
    }
    (void)sigaction(number, &(struct sigaction){.sa_handler = SIG_DFL}, NULL);
    (void)raise(number);
}

static double events_per_s(const struct watch *watch)
{
    return watch->elapsed_ns == 0 ? 0 : (double)watch->now.events / ((double)watch->elapsed_ns / (double)second_ns);
}

/* From the share of the work done; negative while nothing can be said. */
static double eta_s(const struct watch *watch)
{
    if (!(watch->now.done > 0.0 && watch->now.done <= 1.0)) {
        return -1;
    }
    double left = (1.0 - watch->now.done) / watch->now.done;
    return left * (double)watch->elapsed_ns / (double)second_ns;
}

static void format_time(uint64_t time_ns, char *text, size_t size)
{
    static const struct {
        double ns;
        const char *unit;
    } units[] = {{1e9, "s"}, {1e6, "ms"}, {1e3, "us"}};
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        if ((double)time_ns >= units[i].ns) {
            (void)snprintf(text, size, "%.2f %s", (double)time_ns / units[i].ns, units[i].unit);
            return;
        }
    }
    (void)snprintf(text, size, "%" PRIu64 " ns", time_ns);
}

static enum orr_status write_status(const struct watch *watch, enum watch_state state, struct orr_error *err)
{
    static const char *const names[] = {
#define WATCH_X(name, text) text,
        WATCH_STATES(WATCH_X)
#undef WATCH_X
    };
    double eta = state == WATCH_RUNNING ? eta_s(watch) : state == WATCH_DONE ? 0 : -1;
    char eta_text[32] = "null";
    if (eta >= 0) {
        (void)snprintf(eta_text, sizeof eta_text, "%.1f", eta);
    }
    const struct orr_progress *now = &watch->now;
    char text[640];
    int length = snprintf(text, sizeof text,
                          "{\"state\": \"%s\", \"simulated_ns\": %" PRIu64 ", \"events\": %" PRIu64
                          ", \"events_per_s\": %.0f, \"messages\": %" PRIu64 ", \"nodes_done\": %" PRIu64
                          ", \"nodes\": %" PRIu64 ", \"ranks_finished\": %" PRIu32 ", \"ranks\": %" PRIu32
                          ", \"elapsed_s\": %.1f, \"eta_s\": %s, \"pid\": %ld}\n",
                          names[state], now->time_ns, now->events, events_per_s(watch), now->messages, now->nodes_done,
                          now->nodes, now->ranks_finished, now->ranks, (double)watch->elapsed_ns / (double)second_ns,
                          eta_text, (long)getpid());
    return orr_file_write(watch->status_file, text, (size_t)length, err);
}

static void update_status(struct watch *watch, enum watch_state state)
{
    struct orr_error err = {0};
    if (watch->status_file == NULL || watch->status_failed || write_status(watch, state, &err) == ORR_OK) {
        return;
    }
    watch->status_failed = true;
    cli_error("warning: %s; the status is no longer updated", err.text);
}

enum orr_status watch_init(struct watch *watch, const char *status_file, bool progress, struct orr_error *err)
{
    *watch = (struct watch){.status_file = status_file, .start_ns = clock_now_ns()};
    const char *terminal = getenv("TERM");
    watch->draw = progress && isatty(STDERR_FILENO) == 1 && (terminal == NULL || strcmp(terminal, "dumb") != 0);
    return status_file == NULL ? ORR_OK : write_status(watch, WATCH_RUNNING, err);
}

void watch_begin(struct watch *watch)
{
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
    (void)sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < WATCH_SIGNALS; i++) {
        (void)sigaddset(&action.sa_mask, wanted[i]);
    }
    for (size_t i = 0; i < WATCH_SIGNALS; i++) {
        /* A signal the parent had ignored (a job in the background) must stay ignored. */
        watch->taken[i] = sigaction(wanted[i], NULL, &watch->before[i]) == 0 &&
                          watch->before[i].sa_handler != SIG_IGN && sigaction(wanted[i], &action, NULL) == 0;
    }
    watch->start_ns = clock_now_ns();
    watch->next_draw_ns = watch->start_ns + first_draw_ns;
    watch->next_status_ns = watch->start_ns;
}

static void cli_watch_draw(struct watch *watch)
{
    char simulated[32];
    char left[32] = "unknown";
    format_time(watch->now.time_ns, simulated, sizeof simulated);
    double eta = eta_s(watch);
    if (eta >= 0) {
        (void)snprintf(left, sizeof left, "%.0f s", eta);
    }
    static const char full[] = "####################";
    int bars = (int)(watch->now.done * (double)(sizeof full - 1));
    (void)fprintf(stderr, "\r[%-20.*s] %3.0f %%, ETA %s; ", bars, full, 100.0 * watch->now.done, left);
    if (watch->unit != NULL) {
        (void)fprintf(stderr, "%llu of %llu %s\033[K", (unsigned long long)watch->now.nodes_done,
                      (unsigned long long)watch->now.nodes, watch->unit);
    } else {
        (void)fprintf(stderr, "%s simulated, %.1f M events/s\033[K", simulated, events_per_s(watch) / 1e6);
    }
    (void)fflush(stderr);
    watch->drawn = true;
}

static void tell_what_is_sooner(struct watch *watch)
{
    double eta = eta_s(watch);
    if (watch->elapsed_ns < patience_ns || eta < far_s) {
        return;
    }
    watch_end(watch);
    cli_error("about %.0f minutes to go, after %.1f million messages; %s", eta / 60 + 0.5,
              (double)watch->now.messages / 1e6, watch->sooner);
    watch->sooner = NULL;
}

bool watch_progress(void *context, const struct orr_progress *now)
{
    struct watch *watch = context;
    uint64_t clock = clock_now_ns();
    watch->now = *now;
    watch->elapsed_ns = clock - watch->start_ns;
    if (watch->sooner != NULL) {
        tell_what_is_sooner(watch);
    }
    if (watch->draw && clock >= watch->next_draw_ns) {
        cli_watch_draw(watch);
        watch->next_draw_ns = clock + redraw_ns;
    }
    if (watch->status_file != NULL && clock >= watch->next_status_ns) {
        update_status(watch, WATCH_RUNNING);
        watch->next_status_ns = clock + second_ns;
    }
    return stops == 0;
}

void watch_end(struct watch *watch)
{
    watch->elapsed_ns = clock_now_ns() - watch->start_ns;
    if (watch->drawn) {
        (void)fputs("\r\033[K", stderr);
        (void)fflush(stderr);
        watch->drawn = false;
    }
}

void watch_finish(struct watch *watch, enum watch_state state)
{
    update_status(watch, state);
    for (size_t i = 0; i < WATCH_SIGNALS; i++) {
        if (watch->taken[i]) {
            (void)sigaction(wanted[i], &watch->before[i], NULL);
            watch->taken[i] = false;
        }
    }
}
