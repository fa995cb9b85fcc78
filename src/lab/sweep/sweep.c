/* SPDX-License-Identifier: Apache-2.0 */
/* The order is: find what the points read, find what the store has, run the rest, tell the warnings in the order of the
 * points. Whatever ends a sweep early, what has ended is in the store. */
#include "lab/sweep/sweep.h"

#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

#include "io/crew.h"
#include "lab/sweep/exec.h"
#include "lab/sweep/wire.h"
#include "run/network_choice.h"

enum { WARNINGS_MOST = 200 };

static void *sweep_make(void *context, uint64_t index)
{
    struct orr_sweep *sweep = context;
    return sweep_point_make(sweep, sweep->todo[index]);
}

static bool sweep_take(void *context, uint64_t index, void *made)
{
    struct orr_sweep *sweep = context;
    if (sweep->status != ORR_OK) {
        sweep_made_free(made);
        return false;
    }
    sweep->status = made != NULL ? sweep_keep_add(sweep, made, &sweep->err)
                                 : error_set(&sweep->err, ORR_ENOMEM, "out of memory for the result of point %llu",
                                             (unsigned long long)sweep->todo[index] + 1);
    return sweep->status == ORR_OK;
}

static bool tick(void *context)
{
    struct orr_sweep *sweep = context;
    const struct orr_sweep_options *options = sweep->options;
    sweep->now.left = sweep->todo_count - sweep->ended;
    sweep->now.running = (double)atomic_load_explicit(&sweep->running, memory_order_relaxed) / 1000;
    bool go_on = options->progress == NULL || options->progress(options->progress_context, &sweep->now);
    if (!go_on || sweep->status != ORR_OK) {
        atomic_store_explicit(&sweep->stop, true, memory_order_relaxed);
    }
    return !atomic_load_explicit(&sweep->stop, memory_order_relaxed);
}

/* ---- by other processes too: points go as numbers, results come as bytes ---- */

static bool sweep_crew_make(void *context, uint64_t point, struct etz_bytes *bytes)
{
    struct sweep_made *made = sweep_point_make(context, point);
    bool carried = made != NULL && sweep_wire_put(made, bytes);
    sweep_made_free(made);
    return carried;
}

static bool sweep_crew_take(void *context, uint64_t point, const uint8_t *bytes, size_t size)
{
    struct orr_sweep *sweep = context;
    struct sweep_made *made = sweep->status == ORR_OK ? sweep_wire_take(bytes, size) : NULL;
    if (sweep->status == ORR_OK && (made == NULL || made->point != point)) {
        sweep_made_free(made);
        sweep->status =
            error_set(&sweep->err, ORR_EFAIL, "what a worker sent for point %" PRIu64 " is no result", point + 1);
    } else if (sweep->status == ORR_OK) {
        sweep->status = sweep_keep_add(sweep, made, &sweep->err);
    }
    return sweep->status == ORR_OK;
}

static void sweep_crew_stop(void *context)
{
    struct orr_sweep *sweep = context;
    atomic_store_explicit(&sweep->stop, true, memory_order_relaxed);
}

static enum orr_status sweep_crew_run(struct orr_sweep *sweep, struct orr_error *err)
{
    struct orr_cluster *cluster = sweep->options->cluster;
    uint32_t threads = sweep->options->threads > 0 ? sweep->options->threads : 1; /* there is a process a processor */
    const struct crew_work work = {.pieces = sweep->todo,
                                   .count = sweep->todo_count,
                                   .make = sweep_crew_make,
                                   .take = sweep_crew_take,
                                   .tick = tick,
                                   .stop = sweep_crew_stop,
                                   .context = sweep};
    enum orr_status status =
        cluster->is_worker ? crew_serve(cluster, threads, &work, err) : crew_lead(cluster, threads, &work, err);
    if (status == ORR_OK && sweep->status != ORR_OK) {
        *err = sweep->err;
        status = sweep->status;
    }
    return status;
}

static enum orr_status sweep_carry_out(struct orr_sweep *sweep, struct orr_error *err)
{
    if (sweep->options->cluster != NULL) {
        return sweep_crew_run(sweep, err);
    }
    struct sweep_executor *executor = NULL;
    const struct sweep_work work = {
        .count = sweep->todo_count, .make = sweep_make, .take = sweep_take, .tick = tick, .context = sweep};
    enum orr_status status = sweep_threads_open(sweep->options->threads, &executor, err);
    if (status != ORR_OK) {
        return status;
    }
    status = executor->ops->carry_out(executor, &work, err);
    executor->ops->close(executor);
    if (status == ORR_OK && sweep->status != ORR_OK) {
        *err = sweep->err;
        status = sweep->status;
    }
    return status;
}

static int compare_warnings(const void *a, const void *b)
{
    const struct sweep_warning *x = a;
    const struct sweep_warning *y = b;
    if (x->point != y->point) {
        return x->point < y->point ? -1 : 1;
    }
    return (x->index > y->index) - (x->index < y->index);
}

/* Where every point has its own, the first ones say enough, and how many there are. */
static void tell_warnings(struct orr_sweep *sweep, const struct orr_notices *notices)
{
    if (notices == NULL || notices->warn == NULL || sweep->warning_count == 0) {
        return;
    }
    uint32_t told = sweep->warning_count <= WARNINGS_MOST ? sweep->warning_count : WARNINGS_MOST;
    qsort(sweep->warnings, sweep->warning_count, sizeof *sweep->warnings, compare_warnings);
    for (uint32_t i = 0; i < told; i++) {
        notices->warn(notices->context, intern_text(&sweep->lines, sweep->warnings[i].line));
    }
    if (told < sweep->warning_count) {
        char line[80];
        (void)snprintf(line, sizeof line, "and %" PRIu32 " other warnings of later points",
                       sweep->warning_count - told);
        notices->warn(notices->context, line);
    }
}

enum orr_backend sweep_network_of(const struct orr_sweep *sweep, uint64_t point)
{
    const struct orr_sweep_job *job = &sweep->options->jobs[point];
    if (job->run != NULL) {
        bool open = job->run->backend_open && (job->run->machine != NULL || sweep->network == ORR_BACKEND_AWARE);
        return open ? sweep->network : job->run->backend;
    }
    return job->lab->run.backend_open ? sweep->network : job->lab->run.backend;
}

static bool sweep_is_worker(const struct orr_sweep *sweep)
{
    return sweep->options->cluster != NULL && sweep->options->cluster->is_worker;
}

static enum orr_status sweep_prepare(struct orr_sweep *sweep, struct orr_error *err)
{
    sweep->results = arena_zalloc(&sweep->arena, (size_t)sweep->points * sizeof *sweep->results);
    sweep->todo = arena_alloc(&sweep->arena, (size_t)sweep->points * sizeof *sweep->todo);
    if (sweep->results == NULL || sweep->todo == NULL) {
        return mem_error(&sweep->mem, "the points of a sweep", err);
    }
    enum orr_status status = run_network_for_all(sweep->options->jobs, sweep->points, &sweep->network, err);
    if (status != ORR_OK) {
        return status;
    }
    status = sweep_inputs_find(&sweep->inputs, sweep->options->jobs, sweep->points, err);
    if (status != ORR_OK || !sweep_is_worker(sweep)) {
        return status == ORR_OK ? sweep_keep_open(sweep, err) : status;
    }
    char unused[IO_HASH_TEXT]; /* calibrations are found with it */
    return sweep_inputs_fingerprint(&sweep->inputs, sweep->options, sweep->points, unused, err);
}

/* The same line as of a single run, once. */
static enum orr_status tell_network(const struct orr_notices *notices, struct orr_error *err)
{
    if (notices != NULL && notices->strict) {
        return error_set(err, ORR_EINVAL, "%s (parameter 'strict')", RUN_WHY_AWARE);
    }
    if (notices != NULL && notices->warn != NULL) {
        notices->warn(notices->context, RUN_WHY_AWARE);
    }
    return ORR_OK;
}

enum orr_status orr_sweep_run(const struct orr_sweep_options *options, const struct orr_notices *notices,
                              struct orr_sweep **sweep, struct orr_error *err)
{
    struct orr_sweep *opened = calloc(1, sizeof *opened);
    if (opened == NULL) {
        return error_set(err, ORR_ENOMEM, "out of memory: a sweep needs %zu bytes", sizeof *opened);
    }
    opened->options = options;
    opened->shard_fd = -1;
    opened->points = orr_sweep_plan_point_count(options->plan);
    opened->now.points = opened->points;
    opened->strict = notices != NULL && notices->strict;
    arena_init(&opened->arena, &opened->mem);
    intern_init(&opened->lines, &opened->mem);
    sweep_inputs_init(&opened->inputs);
    enum orr_status status = sweep_prepare(opened, err);
    if (status == ORR_OK && opened->network == ORR_BACKEND_AWARE && !sweep_is_worker(opened)) {
        status = tell_network(notices, err);
    }
    if (status == ORR_OK) {
        status = options->collect ? ORR_OK : sweep_carry_out(opened, err);
        tell_warnings(opened, notices);
    }
    lab_store_close(opened->store);
    opened->store = NULL;
    if (status != ORR_OK || sweep_is_worker(opened)) {
        orr_sweep_close(opened);
        return status;
    }
    *sweep = opened;
    opened->now.running = 0;
    opened->now.left = opened->todo_count - opened->ended;
    if (options->collect && opened->now.left > 0) {
        return error_set(err, ORR_EINTR,
                         "%" PRIu64 " of %" PRIu64 " points are in no shard's file; the same command without parameter "
                         "'collect' runs them",
                         opened->now.left, opened->points);
    }
    return opened->ended == opened->todo_count
               ? ORR_OK
               : error_set(err, ORR_EINTR, "interrupted; the same command goes on where it was stopped");
}

void orr_sweep_close(struct orr_sweep *sweep)
{
    if (sweep == NULL) {
        return;
    }
    if (sweep->shard_fd >= 0) {
        (void)close(sweep->shard_fd);
    }
    sweep_inputs_free(&sweep->inputs);
    intern_free(&sweep->lines);
    mem_free(&sweep->mem, sweep->warnings, (size_t)sweep->warning_capacity * sizeof *sweep->warnings);
    arena_free(&sweep->arena);
    free(sweep);
}

void orr_sweep_progress(const struct orr_sweep *sweep, struct orr_sweep_progress *end)
{
    *end = sweep->now;
}

void orr_sweep_result(const struct orr_sweep *sweep, uint64_t point, struct orr_sweep_result *result)
{
    *result = sweep->results[point];
}
