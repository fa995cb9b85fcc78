/*
 * The run is opened before it is entered, because only then all of its inputs are known (a packet configuration names a
 * topology); one that cannot be opened is entered all the same and at once marked as failed, so that a sweep's list of
 * failures is complete.
 */
#include "lab/experiment.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "io/hash.h"

enum { INPUTS_MOST = 8 };

struct entering {
    const struct lab_experiment *experiment;
    struct lab_input inputs[INPUTS_MOST];
    char hashes[INPUTS_MOST][IO_HASH_TEXT];
    uint32_t count;
    struct orr_error *err;
};

/* ---- inputs ---- */

static enum orr_status add_input(struct entering *e, const char *role, const char *path)
{
    if (path == NULL) {
        return ORR_OK;
    }
    struct io_hash *hash = NULL;
    struct lab_input *input = &e->inputs[e->count];
    enum orr_status status = io_hash_open(&hash, e->err);
    uint64_t bytes = 0;
    if (status == ORR_OK) {
        status = io_hash_file(hash, path, &bytes, e->err);
    }
    if (status == ORR_OK) {
        io_hash_result(hash, e->hashes[e->count]);
        *input = (struct lab_input){.role = role, .path = path, .hash = e->hashes[e->count], .bytes = bytes};
        e->count++;
    }
    io_hash_close(hash);
    return status;
}

/* All ranks' traces are one input: what matters is whether any of them changed. */
static enum orr_status add_workload(struct entering *e, uint32_t traces)
{
    const char *prefix = e->experiment->options.workload;
    size_t room = strlen(prefix) + sizeof ".4294967295.et";
    char *path = malloc(room);
    if (path == NULL) {
        return error_set(e->err, ORR_ENOMEM, "no memory for a path of %zu bytes", room);
    }
    struct io_hash *hash = NULL;
    uint64_t bytes = 0;
    enum orr_status status = io_hash_open(&hash, e->err);
    for (uint32_t rank = 0; status == ORR_OK && rank < traces; rank++) {
        (void)snprintf(path, room, "%s.%" PRIu32 ".et", prefix, rank);
        status = io_hash_file(hash, path, &bytes, e->err);
    }
    if (status == ORR_OK) {
        io_hash_result(hash, e->hashes[e->count]);
        e->inputs[e->count] =
            (struct lab_input){.role = "workload", .path = prefix, .hash = e->hashes[e->count], .bytes = bytes};
        e->count++;
    }
    io_hash_close(hash);
    free(path);
    return status;
}

static enum orr_status add_inputs(struct entering *e, const struct orr_run *run)
{
    const struct orr_run_options *options = &e->experiment->options;
    const struct {
        const char *role, *path;
    } files[] = {
        {"system", options->system},   {"network", options->network},
        {"logical", options->logical}, {"memory", options->memory},
        {"groups", options->groups},   {"topology", orr_run_named_file(run, ORR_OUTPUT_TEXT)},
    };
    enum orr_status status = add_workload(e, orr_run_source_count(run));
    for (size_t i = 0; status == ORR_OK && i < sizeof files / sizeof files[0]; i++) {
        status = add_input(e, files[i].role, files[i].path);
    }
    return status;
}

/* Equal where the same settings meet the same bytes, wherever the files lie. */
static enum orr_status make_fingerprint(const struct entering *e, char text[IO_HASH_TEXT])
{
    const struct lab_experiment *experiment = e->experiment;
    struct io_hash *hash = NULL;
    enum orr_status status = io_hash_open(&hash, e->err);
    if (status != ORR_OK) {
        return status;
    }
    io_hash_text(hash, orr_version());
    for (uint32_t i = 0; i < experiment->setting_count; i++) {
        io_hash_text(hash, experiment->settings[i].key);
        io_hash_text(hash, experiment->settings[i].value);
    }
    for (uint32_t i = 0; i < e->count; i++) {
        io_hash_text(hash, e->inputs[i].role);
        io_hash_text(hash, e->inputs[i].hash);
    }
    for (uint32_t i = 0; i < experiment->extra_count; i++) {
        io_hash_text(hash, experiment->extra[i].role);
        io_hash_text(hash, experiment->extra[i].hash);
    }
    io_hash_result(hash, text);
    io_hash_close(hash);
    return ORR_OK;
}

static const char *backend_word(enum orr_backend backend)
{
    static const char *const words[] = {[ORR_BACKEND_UNAWARE] = "unaware",
                                        [ORR_BACKEND_AWARE] = "aware",
                                        [ORR_BACKEND_PACKET] = "packet",
                                        [ORR_BACKEND_FLOW] = "flow",
                                        [ORR_BACKEND_AUTO] = "auto"};
    return words[backend];
}

/* `run` is NULL when it could not be opened: its inputs are then not known. */
static enum orr_status enter(const struct lab_experiment *experiment, struct lab_store *store,
                             const struct orr_run *run, int64_t *number, struct orr_error *err)
{
    struct entering e = {.experiment = experiment, .err = err};
    enum orr_status status = run == NULL ? ORR_OK : add_inputs(&e, run);
    struct lab_input *inputs = NULL;
    char fingerprint[IO_HASH_TEXT];
    char *folder = getcwd(NULL, 0);
    if (status == ORR_OK) {
        status = make_fingerprint(&e, fingerprint);
    }
    if (status == ORR_OK) {
        inputs = malloc(((size_t)e.count + experiment->extra_count + 1) * sizeof *inputs);
        status = inputs != NULL ? ORR_OK : error_set(err, ORR_ENOMEM, "no memory for the list of inputs");
    }
    if (inputs != NULL) {
        for (uint32_t i = 0; i < e.count; i++) {
            inputs[i] = e.inputs[i];
        }
        for (uint32_t i = 0; i < experiment->extra_count; i++) {
            inputs[e.count + i] = experiment->extra[i];
        }
        const struct orr_growth *growth = experiment->options.growth;
        const struct lab_manifest manifest = {
            .kind = experiment->kind,
            .command = experiment->command,
            .folder = folder,
            .tag = experiment->tag,
            .backend = backend_word(experiment->options.backend),
            .topology = experiment->topology,
            .logical_dims = experiment->dims,
            .comm_scale = growth != NULL && growth->comm_scale != NULL ? growth->comm_scale : "1",
            .fingerprint = run == NULL ? NULL : fingerprint,
            .seed = experiment->options.seed,
            .world = run == NULL ? 0 : orr_run_rank_count(run),
            .source_world = run == NULL ? 0 : orr_run_source_count(run),
            .inputs = inputs,
            .input_count = e.count + experiment->extra_count,
            .settings = experiment->settings,
            .setting_count = experiment->setting_count,
        };
        status = lab_store_begin(store, &manifest, number, err);
    }
    free(inputs);
    free(folder);
    return status;
}

/* ---- results ---- */

static enum lab_run_state state_of(enum orr_status status)
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

struct results {
    struct lab_rank_row *ranks;
    struct lab_collective_row *collectives;
};

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

static bool read_results(const struct orr_run *run, struct results *results, struct lab_results *all)
{
    all->rank_count = orr_run_rank_count(run);
    all->collective_count = orr_run_collective_count(run);
    results->ranks = malloc(((size_t)all->rank_count + 1) * sizeof *results->ranks);
    results->collectives = malloc(((size_t)all->collective_count + 1) * sizeof *results->collectives);
    if (results->ranks == NULL || results->collectives == NULL) {
        return false;
    }
    for (uint32_t i = 0; i < all->rank_count; i++) {
        struct orr_rank_result row;
        orr_run_rank(run, i, &row);
        results->ranks[i] = (struct lab_rank_row){.finished = row.finished,
                                                  .finish_ns = row.finish_ns,
                                                  .compute_ns = row.compute_ns,
                                                  .exposed_comm_ns = row.exposed_comm_ns,
                                                  .exposed_other_ns = row.exposed_other_ns,
                                                  .idle_ns = row.idle_ns};
    }
    for (uint32_t i = 0; i < all->collective_count; i++) {
        struct orr_collective_result row;
        orr_run_collective(run, i, &row);
        results->collectives[i] = (struct lab_collective_row){.type = row.type,
                                                              .group_size = row.group_size,
                                                              .bytes = row.bytes,
                                                              .count = row.count,
                                                              .total_ns = row.total_ns,
                                                              .min_ns = row.min_ns,
                                                              .max_ns = row.max_ns};
    }
    all->ranks = results->ranks;
    all->collectives = results->collectives;
    all->peak_bytes = orr_run_peak_bytes(run);
    return true;
}

static enum orr_status record(const struct lab_experiment *experiment, struct lab_store *store,
                              const struct orr_run *run, const struct lab_outcome *outcome, const char *error,
                              struct orr_error *err)
{
    struct results results = {0};
    struct lab_results all = {.state = outcome->state,
                              .error = error,
                              .total_ns = outcome->total_ns,
                              .steps = experiment->steps,
                              .comm_ns = outcome->comm_ns,
                              .compute_ns = outcome->compute_ns,
                              .wall_ms = outcome->wall_ms,
                              .events = outcome->events,
                              .messages = outcome->messages};
    enum orr_status status = ORR_OK;
    if (run != NULL && !read_results(run, &results, &all)) {
        status = error_set(err, ORR_ENOMEM, "no memory for the results of %" PRIu32 " ranks", all.rank_count);
    }
    if (status == ORR_OK) {
        status = lab_store_finish(store, outcome->run, &all, err);
    }
    free(results.ranks);
    free(results.collectives);
    return status;
}

/* ---- the run ---- */

static uint64_t now_ms(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
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
    uint64_t begun = now_ms();
    enum orr_status status = orr_run_open(&experiment->options, &run, &why);
    enum orr_status entered = store == NULL ? ORR_OK : enter(experiment, store, run, &made.run, &later);
    if (status == ORR_OK) {
        made.world = orr_run_rank_count(run);
        made.source_world = orr_run_source_count(run);
        /* What could not be entered is not run: its result would be lost. */
        if (entered == ORR_OK) {
            status = orr_run_execute(run, &why);
            read_outcome(run, &made);
        }
    }
    made.state = state_of(status);
    made.wall_ms = now_ms() - begun;
    if (store != NULL && entered == ORR_OK) {
        entered = record(experiment, store, run, &made, status == ORR_OK ? NULL : why.text, &later);
    }
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
