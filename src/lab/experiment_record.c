/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hashing is what costs: the traces of all ranks are read once more for it. Whoever has many runs of the same traces
 * says what their hash is.
 */
#include "lab/experiment_record.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "io/file.h"
#include "io/hash.h"
#include "net/packet/packet.h"
#include "report/number.h"
#include "run/files.h"
#include "run/network_choice.h"
#include "run/session.h"

enum { INPUTS_MOST = 8 };

struct entering {
    const struct lab_experiment *experiment;
    struct lab_input inputs[INPUTS_MOST];
    char hashes[INPUTS_MOST][IO_HASH_TEXT];
    uint32_t count;
    struct orr_error *err;
};

void lab_record_init(struct lab_record *record)
{
    *record = (struct lab_record){0};
    arena_init(&record->arena, &record->mem);
}

void lab_record_free(struct lab_record *record)
{
    arena_free(&record->arena);
}

static const char *lab_experiment_record_copy(struct lab_record *record, const char *text)
{
    return text == NULL ? NULL : arena_strndup(&record->arena, text, strlen(text));
}

/* ---- inputs ---- */

static enum orr_status add_input(struct entering *e, const char *role, const char *path)
{
    /* What exists in memory only follows from the settings. */
    if (path == NULL || run_text_find(&e->experiment->options, path) != NULL) {
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
static enum orr_status lab_experiment_record_add_workload(struct entering *e, uint32_t traces)
{
    const struct lab_input *known = e->experiment->workload;
    if (known != NULL && e->experiment->workload_traces == traces) {
        (void)snprintf(e->hashes[e->count], IO_HASH_TEXT, "%s", known->hash);
        e->inputs[e->count] = *known;
        e->inputs[e->count].hash = e->hashes[e->count];
        e->count++;
        return ORR_OK;
    }
    const char *prefix = e->experiment->options.workload;
    size_t room = strlen(prefix) + sizeof ".4294967295.et";
    char *path = malloc(room);
    if (path == NULL) {
        return error_set(e->err, ORR_ENOMEM, "out of memory for a path of %zu bytes", room);
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

/* A text, not traces: another role. */
static enum orr_status add_simai_inputs(struct entering *e)
{
    const struct orr_simai_simulation *simai = e->experiment->simai;
    enum orr_status status = add_input(e, "rows", simai->run.workload);
    status = status == ORR_OK ? add_input(e, "topology", simai->topology) : status;
    status = status == ORR_OK ? add_input(e, "network", simai->config) : status;
    const char *machine = simai->run.machine;
    return status == ORR_OK && machine != NULL && file_exists(machine) ? add_input(e, "machine", machine) : status;
}

static enum orr_status add_inputs(struct entering *e, const struct orr_run *run)
{
    const struct orr_run_options *options = &e->experiment->options;
    if (e->experiment->simai != NULL) {
        return add_simai_inputs(e);
    }
    const struct {
        const char *role, *path;
    } files[] = {
        {"system", options->system},
        {"network", options->network},
        {"logical", options->logical},
        {"memory", options->memory},
        {"groups", options->groups},
        {"topology", orr_run_named_file(run, ORR_OUTPUT_TEXT)},
        {"machine", options->machine != NULL && file_exists(options->machine) ? options->machine : NULL},
    };
    enum orr_status status = lab_experiment_record_add_workload(e, orr_run_source_count(run));
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

/* Copies of the inputs, since the run they are asked of is closed before they are used. */
static bool keep_inputs(struct lab_record *record, const struct entering *e)
{
    const struct lab_experiment *experiment = e->experiment;
    uint32_t count = e->count + experiment->extra_count;
    struct lab_input *inputs = arena_alloc(&record->arena, ((size_t)count + 1) * sizeof *inputs);
    for (uint32_t i = 0; inputs != NULL && i < count; i++) {
        const struct lab_input *from = i < e->count ? &e->inputs[i] : &experiment->extra[i - e->count];
        inputs[i] = (struct lab_input){from->role, lab_experiment_record_copy(record, from->path),
                                       lab_experiment_record_copy(record, from->hash), from->bytes};
        if (inputs[i].path == NULL || inputs[i].hash == NULL) {
            return false;
        }
    }
    record->manifest.inputs = inputs;
    record->manifest.input_count = count;
    return inputs != NULL;
}

/* ---- settings ---- */

enum { KEPT_SETTINGS = 7 };

/* Where the results are, and what the machine's files came to, under the names that metrics.csv has for it; "none"
 * where the network has no such thing. They follow from the inputs or change no result: no part of the fingerprint. */
static void kept_settings(struct lab_record *record, const struct sim_config *config, const char *results,
                          struct lab_setting settings[KEPT_SETTINGS])
{
    const struct packet_config *packet = config->packet == NULL ? NULL : config->packet->config;
    bool aware = config->system.optimization == SIM_LOCAL_BW_AWARE;
    const struct lab_setting made[KEPT_SETTINGS] = {
        {"run_dir", lab_experiment_record_copy(record, results)},
        {"qcn", packet == NULL       ? "none"
                : packet->enable_qcn ? "1"
                                     : "0"},
        {"pfc_dyn", packet == NULL ? "none" : "1"}, /* the only way there is (docs/packet.md) */
        {"buffer", packet == NULL ? "none"
                                  : lab_experiment_record_copy(
                                        record, report_fixed((double)packet->buffer_bytes / 1048576.0, 0).text)},
        {"payload",
         packet == NULL ? "none" : lab_experiment_record_copy(record, report_count(packet->payload_bytes).text)},
        {"coll_opt", aware ? "localBWAware" : "baseline"},
        {"lmbw", lab_experiment_record_copy(record, report_short(config->system.local_mem_bw_gbps).text)},
    };
    memcpy(settings, made, sizeof made);
}

static bool keep_settings(struct lab_record *record, const struct lab_experiment *experiment, const struct orr_run *run)
{
    record->manifest.settings = experiment->settings;
    record->manifest.setting_count = experiment->setting_count;
    if (run == NULL || experiment->results == NULL) {
        return true;
    }
    uint32_t count = experiment->setting_count;
    struct lab_setting *settings = arena_alloc(&record->arena, ((size_t)count + KEPT_SETTINGS) * sizeof *settings);
    if (settings == NULL) {
        return false;
    }
    if (count > 0) {
        memcpy(settings, experiment->settings, count * sizeof *settings);
    }
    kept_settings(record, session_config(run), experiment->results, settings + count);
    record->manifest.settings = settings;
    record->manifest.setting_count = count + KEPT_SETTINGS;
    for (uint32_t i = 0; i < KEPT_SETTINGS; i++) {
        if (settings[count + i].value == NULL) {
            return false;
        }
    }
    return true;
}

enum orr_status lab_record_describe(struct lab_record *record, const struct lab_experiment *experiment,
                                    const struct orr_run *run, struct orr_error *err)
{
    struct entering e = {.experiment = experiment, .err = err};
    enum orr_status status = run == NULL ? ORR_OK : add_inputs(&e, run);
    char fingerprint[IO_HASH_TEXT];
    if (status == ORR_OK) {
        status = make_fingerprint(&e, fingerprint);
    }
    if (status != ORR_OK) {
        return status;
    }
    char *folder = getcwd(NULL, 0);
    const struct orr_growth *growth = &experiment->options.growth;
    record->manifest = (struct lab_manifest){
        .kind = experiment->kind,
        .command = experiment->command,
        .folder = lab_experiment_record_copy(record, folder),
        .tag = experiment->tag,
        .backend = run_backend_word(run == NULL ? experiment->options.backend : orr_run_backend(run)),
        .topology = experiment->topology,
        .logical_dims = experiment->dims,
        .comm_scale = experiment->options.grow && growth->comm_scale != NULL ? growth->comm_scale : "1",
        .fingerprint = run == NULL ? NULL : lab_experiment_record_copy(record, fingerprint),
        .seed = experiment->options.seed,
        .world = run == NULL ? 0 : orr_run_rank_count(run),
        .source_world = run == NULL ? 0 : orr_run_source_count(run),
    };
    free(folder);
    bool kept = keep_inputs(record, &e) && keep_settings(record, experiment, run) &&
                (run == NULL || record->manifest.fingerprint != NULL);
    return kept ? ORR_OK : mem_error(&record->mem, "what is known of a run", err);
}

/* ---- results ---- */

static bool keep_ranks(struct lab_record *record, const struct orr_run *run)
{
    uint32_t count = orr_run_rank_count(run);
    struct lab_rank_row *rows = arena_alloc(&record->arena, ((size_t)count + 1) * sizeof *rows);
    for (uint32_t i = 0; rows != NULL && i < count; i++) {
        struct orr_rank_result row;
        orr_run_rank(run, i, &row);
        rows[i] = (struct lab_rank_row){.finished = row.finished,
                                        .finish_ns = row.finish_ns,
                                        .compute_ns = row.compute_ns,
                                        .exposed_comm_ns = row.exposed_comm_ns,
                                        .exposed_other_ns = row.exposed_other_ns,
                                        .idle_ns = row.idle_ns};
    }
    record->results.ranks = rows;
    record->results.rank_count = count;
    return rows != NULL;
}

static bool keep_collectives(struct lab_record *record, const struct orr_run *run)
{
    uint32_t count = orr_run_collective_count(run);
    struct lab_collective_row *rows = arena_alloc(&record->arena, ((size_t)count + 1) * sizeof *rows);
    for (uint32_t i = 0; rows != NULL && i < count; i++) {
        struct orr_collective_result row;
        orr_run_collective(run, i, &row);
        rows[i] = (struct lab_collective_row){.type = lab_experiment_record_copy(record, row.type),
                                              .group_size = row.group_size,
                                              .bytes = row.bytes,
                                              .count = row.count,
                                              .total_ns = row.total_ns,
                                              .min_ns = row.min_ns,
                                              .max_ns = row.max_ns};
        if (rows[i].type == NULL) {
            return false;
        }
    }
    record->results.collectives = rows;
    record->results.collective_count = count;
    return rows != NULL;
}

enum orr_status lab_record_results(struct lab_record *record, const struct lab_experiment *experiment,
                                   const struct orr_run *run, const struct lab_outcome *outcome, const char *error,
                                   struct orr_error *err)
{
    record->results = (struct lab_results){.state = outcome->state,
                                           .error = lab_experiment_record_copy(record, error),
                                           .total_ns = outcome->total_ns,
                                           .steps = experiment->steps,
                                           .comm_ns = outcome->comm_ns,
                                           .compute_ns = outcome->compute_ns,
                                           .wall_ms = outcome->wall_ms,
                                           .events = outcome->events,
                                           .messages = outcome->messages,
                                           .peak_bytes = run == NULL ? 0 : orr_run_peak_bytes(run)};
    bool kept = error == NULL || record->results.error != NULL;
    if (run != NULL) {
        kept = kept && keep_ranks(record, run) && keep_collectives(record, run);
    }
    return kept ? ORR_OK : mem_error(&record->mem, "the results of a run", err);
}
