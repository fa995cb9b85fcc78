/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every point that ends becomes one transaction at once: a run with all that belongs to it, and the line that says
 * which point it is. A program that is killed loses only the points that were being run; what was committed is there,
 * once. With a write-ahead log that is not flushed each time, a transaction costs far less than any simulation.
 *
 * Numbers of points count from 1 in the store, as they do for people.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lab/sweep/shard.h"
#include "run/network_choice.h"

static enum orr_sweep_state sweep_keep_state_of(enum lab_run_state state)
{
    switch (state) {
    case LAB_RUN_DONE:
        return ORR_SWEEP_DONE;
    case LAB_RUN_STALLED:
        return ORR_SWEEP_STALLED;
    case LAB_RUN_FAILED:
        return ORR_SWEEP_FAILED;
    default:
        return ORR_SWEEP_MISSING;
    }
}

static void sweep_keep_count(struct orr_sweep *sweep, enum orr_sweep_state state)
{
    sweep->now.done += state == ORR_SWEEP_DONE ? 1 : 0;
    sweep->now.stalled += state == ORR_SWEEP_STALLED ? 1 : 0;
    sweep->now.failed += state == ORR_SWEEP_FAILED ? 1 : 0;
}

/* ---- what is there already ---- */

static enum lab_run_state state_of_word(const char *word)
{
    unsigned state = 0;
    while (state < LAB_RUN_STATE_COUNT && strcmp(lab_run_state_word((enum lab_run_state)state), word) != 0) {
        state++;
    }
    return (enum lab_run_state)state;
}

/* The store's word for a network as one that stays; "" for any other. */
static const char *network_word(const char *word)
{
    for (int i = 0; i <= ORR_BACKEND_AUTO; i++) {
        if (strcmp(word, run_backend_word((enum orr_backend)i)) == 0) {
            return run_backend_word((enum orr_backend)i);
        }
    }
    return "";
}

static enum orr_status take_row(struct orr_sweep *sweep, const struct io_statement *row, struct orr_error *err)
{
    int64_t number = io_column_int(row, 0);
    enum orr_sweep_state state = sweep_keep_state_of(state_of_word(io_column_text(row, 2)));
    if (number < 1 || (uint64_t)number > sweep->points || state == ORR_SWEEP_MISSING) {
        return ORR_OK;
    }
    const char *error = io_column_text(row, 3);
    struct orr_sweep_result *result = &sweep->results[number - 1];
    *result = (struct orr_sweep_result){.state = state,
                                        .run = io_column_int(row, 1),
                                        .error = arena_strndup(&sweep->arena, error, strlen(error)),
                                        .time_ns = (uint64_t)io_column_int(row, 4),
                                        .steps = (uint64_t)io_column_int(row, 5),
                                        .comm_ns = (uint64_t)io_column_int(row, 6),
                                        .compute_ns = (uint64_t)io_column_int(row, 7),
                                        .exposed_comm_ns = (uint64_t)io_column_int(row, 8),
                                        .world = (uint32_t)io_column_int(row, 9)};
    result->network = network_word(io_column_text(row, 10));
    result->another_network =
        strcmp(result->network, run_backend_word(sweep_network_of(sweep, (uint64_t)number - 1))) != 0;
    return result->error == NULL ? mem_error(&sweep->mem, "the results of a sweep", err) : ORR_OK;
}

static enum orr_status read_kept(struct orr_sweep *sweep, struct orr_error *err)
{
    static const char sql[] = "SELECT number, run.id, state, error, total_ns, steps, comm_ns, compute_ns,"
                              " (SELECT max(exposed_comm_ns) FROM rank WHERE rank.run = run.id), world, backend"
                              " FROM point JOIN run ON run.id = point.run WHERE sweep = ?1";
    struct io_statement *statement = NULL;
    bool row = false;
    enum orr_status status = io_statement_prepare(lab_store_database(sweep->store), sql, &statement, err);
    if (status == ORR_OK) {
        io_bind_int(statement, 1, sweep->number);
        status = io_statement_step(statement, &row, err);
    }
    while (status == ORR_OK && row) {
        status = take_row(sweep, statement, err);
        if (status == ORR_OK) {
            status = io_statement_step(statement, &row, err);
        }
    }
    io_statement_free(statement);
    return status;
}

/* Every `shards`-th point is this call's; all of them where it is not divided. */
static bool sweep_keep_is_ours(const struct orr_sweep_options *options, uint64_t point)
{
    return options->shards == 0 || point % options->shards == options->shard - 1;
}

static bool is_asked_for(const struct orr_sweep *sweep, uint64_t point)
{
    const struct orr_sweep_options *options = sweep->options;
    for (size_t i = 0; i < options->only_count; i++) {
        if (options->only[i] == point) {
            return true;
        }
    }
    return false;
}

/* What has to be run. A point that failed may find its file now; one that stalled will stall again. */
static void sweep_keep_choose(struct orr_sweep *sweep)
{
    const struct orr_sweep_options *options = sweep->options;
    for (uint64_t point = 0; point < sweep->points; point++) {
        enum orr_sweep_state state = sweep->results[point].state;
        bool has = (state == ORR_SWEEP_DONE || state == ORR_SWEEP_STALLED) && !options->fresh;
        if (sweep_keep_is_ours(options, point) && (options->only != NULL ? is_asked_for(sweep, point) : !has)) {
            sweep->todo[sweep->todo_count++] = point;
            sweep->results[point] = (struct orr_sweep_result){0};
        } else {
            sweep_inputs_skip(&sweep->inputs, point);
            sweep_keep_count(sweep, state);
            sweep->now.kept += state == ORR_SWEEP_MISSING ? 0 : 1;
        }
    }
}

/* ---- what comes ---- */

/* Each line once, with the first point that has it, so that the order does not depend on who was faster. */
static enum orr_status sweep_keep_warnings(struct orr_sweep *sweep, const struct sweep_made *made,
                                           struct orr_error *err)
{
    for (uint32_t i = 0; i < made->warnings.count; i++) {
        const char *line = made->warnings.lines[i];
        uint32_t number = 0;
        bool kept = intern_add(&sweep->lines, line, strlen(line), &number) &&
                    MEM_RESERVE(&sweep->mem, sweep->warnings, sweep->warning_capacity, number);
        if (!kept) {
            return mem_error(&sweep->mem, "the warnings of a sweep", err);
        }
        if (number > sweep->warning_count) {
            sweep->warnings[sweep->warning_count++] = (struct sweep_warning){number, made->point, i};
        } else if (number > 0 && made->point < sweep->warnings[number - 1].point) {
            sweep->warnings[number - 1] = (struct sweep_warning){number, made->point, i};
        }
    }
    return ORR_OK;
}

static enum orr_status keep_one(struct orr_sweep *sweep, struct sweep_made *made, struct orr_error *err)
{
    int64_t run = 0;
    if (made->recording != ORR_OK) {
        return ORR_OK; /* there is nothing to keep but the reason, which the table has */
    }
    enum orr_status status = lab_store_begin(sweep->store, &made->record.manifest, &run, err);
    if (status == ORR_OK) {
        status = lab_store_finish(sweep->store, run, &made->record.results, err);
    }
    if (status == ORR_OK) {
        status = lab_store_point_done(sweep->store, sweep->number, made->point + 1, run, err);
    }
    made->outcome.run = run;
    return status;
}

static enum orr_status sweep_keep_settle(struct orr_sweep *sweep, const struct sweep_made *made, struct orr_error *err)
{
    const struct lab_outcome *outcome = &made->outcome;
    struct orr_sweep_result *result = &sweep->results[made->point];
    enum orr_sweep_state state = made->recording == ORR_OK ? sweep_keep_state_of(outcome->state) : ORR_SWEEP_FAILED;
    const char *error = state == ORR_SWEEP_DONE ? "" : made->err.text;
    *result = (struct orr_sweep_result){.state = state,
                                        .run = outcome->run,
                                        .error = arena_strndup(&sweep->arena, error, strlen(error)),
                                        .time_ns = outcome->total_ns,
                                        .steps = made->steps,
                                        .comm_ns = outcome->comm_ns,
                                        .compute_ns = outcome->compute_ns,
                                        .exposed_comm_ns = outcome->exposed_comm_ns,
                                        .world = outcome->world,
                                        .network = run_backend_word(sweep_network_of(sweep, made->point))};
    sweep_keep_count(sweep, state);
    sweep->now.limited += state == ORR_SWEEP_FAILED && made->err.status == ORR_ENOMEM ? 1 : 0;
    sweep->ended++;
    return result->error == NULL ? mem_error(&sweep->mem, "the results of a sweep", err) : ORR_OK;
}

static enum orr_status commit(struct orr_sweep *sweep, struct sweep_made *made, struct orr_error *err)
{
    if (sweep->shard_fd >= 0) {
        enum orr_status added = sweep_shard_add(sweep, made, err);
        return added == ORR_OK ? sweep_keep_settle(sweep, made, err) : added;
    }
    enum orr_status status = lab_store_batch(sweep->store, err);
    if (status == ORR_OK) {
        status = lab_store_batch_end(sweep->store, keep_one(sweep, made, err), err);
    }
    return status == ORR_OK ? sweep_keep_settle(sweep, made, err) : status;
}

enum orr_status sweep_keep_add(struct orr_sweep *sweep, struct sweep_made *made, struct orr_error *err)
{
    bool interrupted =
        made->recording == ORR_OK && made->outcome.state == LAB_RUN_INTERRUPTED; /* it will be run again */
    enum orr_status status = interrupted ? ORR_OK : sweep_keep_warnings(sweep, made, err);
    if (status == ORR_OK && !interrupted) {
        status = commit(sweep, made, err);
    }
    sweep_made_free(made);
    return status;
}

/* ---- opening ---- */

/* A point that a shard had already. What has failed is tried again, so that only what stays is settled. */
static enum orr_status keep_seen(struct orr_sweep *sweep, struct sweep_made *made, struct orr_error *err)
{
    bool stays = made->recording == ORR_OK && made->outcome.state != LAB_RUN_FAILED;
    enum orr_status status = stays && !sweep->options->fresh ? sweep_keep_settle(sweep, made, err) : ORR_OK;
    sweep_made_free(made);
    sweep->ended = 0; /* counted with what was kept */
    sweep->now = (struct orr_sweep_progress){.points = sweep->points};
    return status;
}

static enum orr_status keep_open_store(struct orr_sweep *sweep, const char *fingerprint, struct orr_error *err)
{
    const struct orr_sweep_options *options = sweep->options;
    const char *path = options->store != NULL ? options->store : "runs/orrery.db";
    enum orr_status status = lab_store_open(path, IO_DATABASE_WRITE, &sweep->store, err);
    if (status == ORR_OK) {
        status = lab_store_sweep(sweep->store, orr_sweep_plan_name(options->plan), fingerprint, options->command,
                                 &sweep->number, err);
    }
    return status == ORR_OK ? read_kept(sweep, err) : status;
}

/* What is to be run is looked for in the shards' files instead. */
static enum orr_status keep_collect(struct orr_sweep *sweep, const char *fingerprint, struct orr_error *err)
{
    bool *wanted = arena_zalloc(&sweep->arena, (size_t)sweep->points * sizeof *wanted);
    if (wanted == NULL) {
        return mem_error(&sweep->mem, "the points of a sweep", err);
    }
    for (uint64_t i = 0; i < sweep->todo_count; i++) {
        wanted[sweep->todo[i]] = true;
    }
    return sweep_shards_gather(sweep, fingerprint, wanted, sweep_keep_add, err);
}

enum orr_status sweep_keep_open(struct orr_sweep *sweep, struct orr_error *err)
{
    const struct orr_sweep_options *options = sweep->options;
    char fingerprint[IO_HASH_TEXT];
    if (options->shards > 0 && (options->shard == 0 || options->shard > options->shards || options->collect)) {
        return error_set(err, ORR_EINVAL, "shard %" PRIu32 " of %" PRIu32 " cannot be%s", options->shard,
                         options->shards, options->collect ? " run and collected at once" : "");
    }
    enum orr_status status = sweep_inputs_fingerprint(&sweep->inputs, options, sweep->points, fingerprint, err);
    if (status == ORR_OK) {
        status = options->shards > 0 ? sweep_shard_open(sweep, fingerprint, keep_seen, err)
                                     : keep_open_store(sweep, fingerprint, err);
    }
    if (status == ORR_OK) {
        sweep_keep_choose(sweep);
    }
    return status == ORR_OK && options->collect ? keep_collect(sweep, fingerprint, err) : status;
}
