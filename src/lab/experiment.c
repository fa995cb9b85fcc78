/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The run is opened before it is entered, because only then all of its inputs are known (a packet configuration names a
 * topology); one that cannot be opened is entered all the same and at once marked as failed, so that a sweep's list of
 * failures is complete.
 *
 * A run of its own is entered before it starts, so that one which is killed leaves a trace. A point of a sweep is made
 * on a thread that has no store, and entered when it has ended: its sweep knows what is missing.
 */
#include "lab/experiment.h"

#include <stdlib.h>

#include "base/clock.h"
#include "lab/experiment_record.h"

static enum lab_run_state lab_experiment_state_of(enum orr_status status)
{
    switch (status) {
    case ORR_OK:
        return LAB_RUN_DONE;
    case ORR_ESTALL:
        return LAB_RUN_STALLED;
    case ORR_EINTR:
        return LAB_RUN_INTERRUPTED;
    default:
        return LAB_RUN_FAILED;
    }
}

static uint64_t greater(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static void read_outcome(const struct orr_run *run, struct lab_outcome *outcome)
{
    outcome->total_ns = orr_run_time_ns(run);
    outcome->events = orr_run_event_count(run);
    outcome->messages = orr_run_message_count(run);
    for (uint32_t rank = 0; rank < outcome->world; rank++) {
        struct orr_rank_result row;
        orr_run_rank(run, rank, &row);
        outcome->comm_ns = greater(outcome->comm_ns, row.busy_comm_ns);
        outcome->compute_ns = greater(outcome->compute_ns, row.busy_gpu_ns);
        outcome->exposed_comm_ns = greater(outcome->exposed_comm_ns, row.exposed_comm_ns);
    }
}

/* ---- the run ---- */

/* Of a run that could not be opened (NULL) only the state is known. */
static void settle_outcome(const struct orr_run *run, bool executed, enum orr_status status, uint64_t wall_ms,
                           struct lab_outcome *outcome)
{
    outcome->state = lab_experiment_state_of(status);
    outcome->wall_ms = wall_ms;
    if (run != NULL) {
        outcome->world = orr_run_rank_count(run);
        outcome->source_world = orr_run_source_count(run);
    }
    if (run != NULL && executed) {
        read_outcome(run, outcome);
    }
}

void lab_outcome_read(const struct orr_run *run, enum orr_status status, uint64_t wall_ms, struct lab_outcome *outcome)
{
    settle_outcome(run, true, status, wall_ms, outcome);
}

/* Of two failures the first is told. */
static enum orr_status first_of(enum orr_status first, struct orr_error *first_err, enum orr_status second,
                                const struct orr_error *second_err)
{
    if (first == ORR_OK && second != ORR_OK) {
        *first_err = *second_err;
        return second;
    }
    return first;
}

enum orr_status lab_experiment_run(const struct lab_experiment *experiment, struct lab_store *store,
                                   enum orr_status (*use)(void *context, const struct orr_run *run,
                                                          struct orr_error *err),
                                   void *context, struct lab_outcome *outcome, struct orr_error *err)
{
    struct orr_run *run = NULL;
    struct orr_error why = {0};
    struct orr_error later = {0};
    struct lab_outcome made = {0};
    struct lab_record record;
    lab_record_init(&record);
    uint64_t begun = clock_now_ms();
    enum orr_status status = orr_run_open(&experiment->options, &run, &why);
    enum orr_status entered = store == NULL ? ORR_OK : lab_record_describe(&record, experiment, run, &later);
    if (store != NULL && entered == ORR_OK) {
        entered = lab_store_begin(store, &record.manifest, &made.run, &later);
    }
    /* What could not be entered is not run: its result would be lost. */
    if (status == ORR_OK && entered == ORR_OK) {
        status = orr_run_execute(run, &why);
    }
    settle_outcome(run, entered == ORR_OK, status, clock_now_ms() - begun, &made);
    if (store != NULL && entered == ORR_OK) {
        entered = lab_record_results(&record, experiment, run, &made, status == ORR_OK ? NULL : why.text, &later);
    }
    if (store != NULL && entered == ORR_OK) {
        entered = lab_store_finish(store, made.run, &record.results, &later);
    }
    lab_record_free(&record);
    status = first_of(status, &why, entered, &later);
    if (run != NULL && use != NULL && entered == ORR_OK) {
        struct orr_error used_err = {0};
        enum orr_status used = use(context, run, &used_err);
        status = first_of(status, &why, used, &used_err);
    }
    orr_run_close(run);
    *outcome = made;
    if (status != ORR_OK && err != NULL) {
        *err = why;
    }
    return status;
}

enum orr_status lab_experiment_make(const struct lab_experiment *experiment,
                                    void (*see)(void *context, const struct orr_run *run), void *context,
                                    struct lab_record *record, struct lab_outcome *outcome, struct orr_error *err)
{
    struct orr_run *run = NULL;
    struct orr_error why = {0};
    struct orr_error later = {0};
    struct lab_outcome made = {0};
    uint64_t begun = clock_now_ms();
    enum orr_status status = orr_run_open(&experiment->options, &run, &why);
    if (status == ORR_OK) {
        status = orr_run_execute(run, &why);
    }
    settle_outcome(run, true, status, clock_now_ms() - begun, &made);
    enum orr_status described = lab_record_describe(record, experiment, run, &later);
    if (described == ORR_OK) {
        described = lab_record_results(record, experiment, run, &made, status == ORR_OK ? NULL : why.text, &later);
    }
    if (run != NULL && see != NULL) {
        see(context, run);
    }
    orr_run_close(run);
    *outcome = made;
    bool failed = status != ORR_OK || described != ORR_OK;
    if (failed && err != NULL) {
        *err = described != ORR_OK ? later : why;
    }
    return described;
}
