/*
 * The callback comes every so many events, far more often than anyone looks, so each part has a time before which it
 * does nothing. Rates are over the whole run: a simulation's events are even enough, and a figure that jumps tells
 * less.
 */
#include "cli/watch.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const uint64_t second_ns = 1000000000;
static const uint64_t first_draw_ns = 1000000000; /* a run shorter than this shows nothing */
static const uint64_t redraw_ns = 200000000;

static uint64_t clock_ns(void)
{
    struct timespec now = {0};
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * second_ns + (uint64_t)now.tv_nsec;
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
    return cli_write_file(watch->status_file, text, (size_t)length, err);
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
    *watch = (struct watch){.status_file = status_file, .start_ns = clock_ns()};
    const char *terminal = getenv("TERM");
    watch->draw = progress && isatty(STDERR_FILENO) == 1 && (terminal == NULL || strcmp(terminal, "dumb") != 0);
    return status_file == NULL ? ORR_OK : write_status(watch, WATCH_RUNNING, err);
}

void watch_begin(struct watch *watch)
{
    (void)sigemptyset(&watch->signals);
    static const int wanted[] = {SIGINT, SIGTERM};
    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++) {
        struct sigaction action = {0};
        /* A signal the parent had ignored (a job in the background) must stay ignored. */
        if (sigaction(wanted[i], NULL, &action) == 0 && action.sa_handler != SIG_IGN) {
            (void)sigaddset(&watch->signals, wanted[i]);
        }
    }
    watch->watching = sigprocmask(SIG_BLOCK, &watch->signals, NULL) == 0;
    watch->start_ns = clock_ns();
    watch->next_draw_ns = watch->start_ns + first_draw_ns;
    watch->next_status_ns = watch->start_ns;
}

static void release_signals(struct watch *watch)
{
    if (watch->watching) {
        (void)sigprocmask(SIG_UNBLOCK, &watch->signals, NULL);
        watch->watching = false;
    }
}

static bool stop_was_asked(struct watch *watch)
{
    const struct timespec at_once = {0};
    if (!watch->watching || sigtimedwait(&watch->signals, NULL, &at_once) < 0) {
        return false;
    }
    watch->interrupted = true;
    release_signals(watch);
    return true;
}

static void draw(struct watch *watch)
{
    char simulated[32];
    char left[32] = "unknown";
    format_time(watch->now.time_ns, simulated, sizeof simulated);
    double eta = eta_s(watch);
    if (eta >= 0) {
        (void)snprintf(left, sizeof left, "%.0f s", eta);
    }
    double percent = 100.0 * watch->now.done;
    (void)fprintf(stderr, "\r%s simulated, %.1f M events/s, %.0f %% of nodes done, ETA %s\033[K", simulated,
                  events_per_s(watch) / 1e6, percent, left);
    (void)fflush(stderr);
    watch->drawn = true;
}

bool watch_progress(void *context, const struct orr_progress *now)
{
    struct watch *watch = context;
    uint64_t clock = clock_ns();
    watch->now = *now;
    watch->elapsed_ns = clock - watch->start_ns;
    if (watch->draw && clock >= watch->next_draw_ns) {
        draw(watch);
        watch->next_draw_ns = clock + redraw_ns;
    }
    if (watch->status_file != NULL && clock >= watch->next_status_ns) {
        update_status(watch, WATCH_RUNNING);
        watch->next_status_ns = clock + second_ns;
    }
    return !stop_was_asked(watch);
}

void watch_end(struct watch *watch)
{
    watch->elapsed_ns = clock_ns() - watch->start_ns;
    if (watch->drawn) {
        (void)fputs("\r\033[K", stderr);
        (void)fflush(stderr);
        watch->drawn = false;
    }
    release_signals(watch);
}

void watch_finish(struct watch *watch, enum watch_state state)
{
    update_status(watch, state);
}
