/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Times are kept as integers of nanoseconds, and so limited to 2^63: SQLite has no larger ones. Every row hangs off its
 * run, so that `DELETE FROM run` by a user with the sqlite3 program takes everything along.
 *
 * A new column or table raises STORE_VERSION and adds one entry to `upgrades`; old files are then brought forward when
 * they are opened for writing.
 */
#include "lab/store/store.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* upgrades[n] makes version n + 1 of version n. */
static const char *const upgrades[] = {
    "CREATE TABLE run ("
    " id INTEGER PRIMARY KEY AUTOINCREMENT,"
    " state TEXT NOT NULL,"
    " kind TEXT NOT NULL,"
    " started TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%SZ', 'now')),"
    " ended TEXT,"
    " version TEXT NOT NULL,"
    " command TEXT, folder TEXT, tag TEXT,"
    " backend TEXT, topology TEXT, logical_dims TEXT, comm_scale TEXT,"
    " fingerprint TEXT,"
    " seed INTEGER NOT NULL,"
    " world INTEGER NOT NULL, source_world INTEGER NOT NULL,"
    " error TEXT,"
    " total_ns INTEGER, steps INTEGER, comm_ns INTEGER, compute_ns INTEGER,"
    " wall_ms INTEGER, events INTEGER, messages INTEGER, peak_bytes INTEGER);"
    "CREATE INDEX run_fingerprint ON run (fingerprint);"
    "CREATE TABLE input ("
    " run INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE,"
    " role TEXT NOT NULL, path TEXT NOT NULL, hash TEXT NOT NULL, bytes INTEGER NOT NULL);"
    "CREATE INDEX input_run ON input (run);"
    "CREATE TABLE setting ("
    " run INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE,"
    " key TEXT NOT NULL, value TEXT NOT NULL, PRIMARY KEY (run, key)) WITHOUT ROWID;"
    "CREATE TABLE rank ("
    " run INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE,"
    " rank INTEGER NOT NULL, finished INTEGER NOT NULL,"
    " finish_ns INTEGER, compute_ns INTEGER, exposed_comm_ns INTEGER, exposed_other_ns INTEGER, idle_ns INTEGER,"
    " PRIMARY KEY (run, rank)) WITHOUT ROWID;"
    "CREATE TABLE collective ("
    " run INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE,"
    " type TEXT NOT NULL, group_size INTEGER NOT NULL, bytes INTEGER NOT NULL,"
    " count INTEGER, total_ns INTEGER, min_ns INTEGER, max_ns INTEGER,"
    " PRIMARY KEY (run, type, group_size, bytes)) WITHOUT ROWID;"
    "CREATE TABLE calibration ("
    " id INTEGER PRIMARY KEY AUTOINCREMENT,"
    " run INTEGER REFERENCES run (id) ON DELETE SET NULL,"
    " made TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%SZ', 'now')),"
    " version TEXT NOT NULL,"
    " tag TEXT, topology TEXT, source TEXT, flags TEXT, notes TEXT,"
    " alpha_us REAL, alpha_comm_us REAL, alpha_gpu_us REAL,"
    " real_step_ms REAL, real_comm_ms REAL, real_kernel_ms REAL,"
    " sim_step_ms REAL, sim_comm_ms REAL, sim_gpu_ms REAL,"
    " lower_bound_ms REAL, iqr REAL, samples INTEGER, steps INTEGER, world INTEGER,"
    " accepted INTEGER NOT NULL);"
    "CREATE INDEX calibration_run ON calibration (run);"
    "CREATE TABLE sweep ("
    " id INTEGER PRIMARY KEY AUTOINCREMENT,"
    " name TEXT, fingerprint TEXT NOT NULL UNIQUE, command TEXT,"
    " started TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%SZ', 'now')));"
    "CREATE TABLE point ("
    " sweep INTEGER NOT NULL REFERENCES sweep (id) ON DELETE CASCADE,"
    " number INTEGER NOT NULL,"
    " run INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE,"
    " PRIMARY KEY (sweep, number)) WITHOUT ROWID;"
    "CREATE INDEX point_run ON point (run);",
};
enum { STORE_VERSION = sizeof upgrades / sizeof upgrades[0], FIRST_TABLES = 8 };

struct lab_store {
    struct io_database *database;
    bool batch; /* a transaction is open that holds several entries */
};

const char *lab_run_state_word(enum lab_run_state state)
{
    static const char *const words[] = {
#define LAB_X(name, word) [LAB_RUN_##name] = (word),
        LAB_RUN_STATES(LAB_X)
#undef LAB_X
    };
    return state < LAB_RUN_STATE_COUNT ? words[state] : "unknown";
}

static enum orr_status check_version(const struct lab_store *store, int64_t version, struct orr_error *err)
{
    if (version > STORE_VERSION) {
        return error_set(err, ORR_EINVAL,
                         "%s: was written by a newer Orrery (form %lld; this one knows forms up to %d)",
                         io_database_path(store->database), (long long)version, STORE_VERSION);
    }
    return ORR_OK;
}

enum { STORE_APPLICATION = 0x4f727279 }; /* "Orry", in the header of the file; stores made before have 0 there */

/* An SQLite file with tables of another program is left alone, whatever form their number claims. `*version` is 0 for
 * one that nobody has used yet. */
static enum orr_status find_version(const struct lab_store *store, int64_t *version, struct orr_error *err)
{
    int64_t application = 0;
    int64_t tables = 0;
    int64_t ours = 0;
    enum orr_status status = io_database_ask(store->database, "PRAGMA application_id", &application, err);
    if (status == ORR_OK) {
        status = io_database_ask(store->database,
                                 "SELECT count(*) FROM sqlite_schema WHERE name NOT LIKE 'sqlite\\_%' ESCAPE '\\'",
                                 &tables, err);
    }
    if (status == ORR_OK) {
        status = io_database_ask(store->database,
                                 "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name IN ('run', 'input',"
                                 " 'setting', 'rank', 'collective', 'calibration', 'sweep', 'point')",
                                 &ours, err);
    }
    if (status == ORR_OK) {
        status = io_database_ask(store->database, "PRAGMA user_version", version, err);
    }
    bool is_new = application == 0 && tables == 0;
    bool is_ours = (application == 0 || application == STORE_APPLICATION) && ours == FIRST_TABLES;
    if (status == ORR_OK && !is_new && !is_ours) {
        return error_set(err, ORR_EINVAL, "%s: is a database of another program, not a result store; it is left alone",
                         io_database_path(store->database));
    }
    return status == ORR_OK ? check_version(store, *version, err) : status;
}

static enum orr_status upgrade_locked(struct lab_store *store, struct orr_error *err)
{
    int64_t version = 0;
    enum orr_status status = find_version(store, &version, err);
    for (; status == ORR_OK && version < STORE_VERSION; version++) {
        status = io_database_run(store->database, upgrades[version], err);
    }
    if (status == ORR_OK) {
        char sql[96];
        (void)snprintf(sql, sizeof sql, "PRAGMA user_version = %d; PRAGMA application_id = %d", STORE_VERSION,
                       STORE_APPLICATION);
        status = io_database_run(store->database, sql, err);
    }
    return status;
}

static enum orr_status store_begin(struct lab_store *store, struct orr_error *err)
{
    return store->batch ? ORR_OK : io_database_begin(store->database, err);
}

static enum orr_status store_end(struct lab_store *store, enum orr_status status, struct orr_error *err)
{
    if (store->batch) {
        return status;
    }
    if (status == ORR_OK) {
        status = io_database_commit(store->database, err);
    }
    if (status != ORR_OK) {
        io_database_rollback(store->database);
    }
    return status;
}

static enum orr_status prepare_tables(struct lab_store *store, enum io_database_mode mode, struct orr_error *err)
{
    int64_t version = 0;
    enum orr_status status = find_version(store, &version, err);
    if (status == ORR_OK && mode == IO_DATABASE_WRITE) {
        status = io_database_share(store->database, err);
    }
    if (status != ORR_OK || version == STORE_VERSION) {
        return status;
    }
    if (mode == IO_DATABASE_READ) {
        return error_set(err, ORR_EINVAL, "%s: has no results of Orrery in it", io_database_path(store->database));
    }
    status = io_database_begin(store->database, err);
    return status != ORR_OK ? status : store_end(store, upgrade_locked(store, err), err);
}

enum orr_status lab_store_open(const char *path, enum io_database_mode mode, struct lab_store **store,
                               struct orr_error *err)
{
    struct lab_store *opened = calloc(1, sizeof *opened);
    if (opened == NULL) {
        return error_set(err, ORR_ENOMEM, "%s: out of memory opening it", path);
    }
    enum orr_status status = io_database_open(path, mode, &opened->database, err);
    if (status == ORR_OK) {
        status = prepare_tables(opened, mode, err);
    }
    if (status != ORR_OK) {
        lab_store_close(opened);
        return status;
    }
    *store = opened;
    return ORR_OK;
}

void lab_store_close(struct lab_store *store)
{
    if (store != NULL) {
        io_database_close(store->database);
        free(store);
    }
}

struct io_database *lab_store_database(struct lab_store *store)
{
    return store->database;
}

enum orr_status lab_store_batch(struct lab_store *store, struct orr_error *err)
{
    enum orr_status status = store_begin(store, err);
    store->batch = status == ORR_OK;
    return status;
}

enum orr_status lab_store_batch_end(struct lab_store *store, enum orr_status status, struct orr_error *err)
{
    store->batch = false;
    return store_end(store, status, err);
}

/* SQLite's integers end at 2^63 - 1; nothing real comes near. */
static void bind_count(struct io_statement *statement, int at, uint64_t value)
{
    io_bind_int(statement, at, value > INT64_MAX ? INT64_MAX : (int64_t)value);
}

static enum orr_status insert_inputs(struct lab_store *store, int64_t run, const struct lab_manifest *manifest,
                                     struct orr_error *err)
{
    struct io_statement *statement = NULL;
    enum orr_status status =
        io_statement_prepare(store->database, "INSERT INTO input VALUES (?1, ?2, ?3, ?4, ?5)", &statement, err);
    for (uint32_t i = 0; status == ORR_OK && i < manifest->input_count; i++) {
        const struct lab_input *input = &manifest->inputs[i];
        io_bind_int(statement, 1, run);
        io_bind_text(statement, 2, input->role);
        io_bind_text(statement, 3, input->path);
        io_bind_text(statement, 4, input->hash);
        bind_count(statement, 5, input->bytes);
        status = io_statement_run(statement, err);
    }
    io_statement_free(statement);
    return status;
}

static enum orr_status insert_settings(struct lab_store *store, int64_t run, const struct lab_manifest *manifest,
                                       struct orr_error *err)
{
    struct io_statement *statement = NULL;
    enum orr_status status =
        io_statement_prepare(store->database, "INSERT INTO setting VALUES (?1, ?2, ?3)", &statement, err);
    for (uint32_t i = 0; status == ORR_OK && i < manifest->setting_count; i++) {
        io_bind_int(statement, 1, run);
        io_bind_text(statement, 2, manifest->settings[i].key);
        io_bind_text(statement, 3, manifest->settings[i].value);
        status = io_statement_run(statement, err);
    }
    io_statement_free(statement);
    return status;
}

static enum orr_status insert_run(struct lab_store *store, const struct lab_manifest *manifest, int64_t *run,
                                  struct orr_error *err)
{
    struct io_statement *statement = NULL;
    enum orr_status status = io_statement_prepare(
        store->database,
        "INSERT INTO run (state, kind, version, command, folder, tag, backend, topology, logical_dims, comm_scale,"
        " fingerprint, seed, world, source_world)"
        " VALUES ('partial', ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)",
        &statement, err);
    if (status != ORR_OK) {
        return status;
    }
    const char *texts[] = {manifest->kind,       orr_version(),        manifest->command,  manifest->folder,
                           manifest->tag,        manifest->backend,    manifest->topology, manifest->logical_dims,
                           manifest->comm_scale, manifest->fingerprint};
    int at = 1;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        io_bind_text(statement, at++, texts[i]);
    }
    bind_count(statement, at++, manifest->seed);
    bind_count(statement, at++, manifest->world);
    bind_count(statement, at, manifest->source_world);
    status = io_statement_run(statement, err);
    *run = io_database_last_id(store->database);
    io_statement_free(statement);
    return status;
}

enum orr_status lab_store_begin(struct lab_store *store, const struct lab_manifest *manifest, int64_t *run,
                                struct orr_error *err)
{
    enum orr_status status = store_begin(store, err);
    if (status != ORR_OK) {
        return status;
    }
    int64_t number = 0;
    status = insert_run(store, manifest, &number, err);
    if (status == ORR_OK) {
        status = insert_inputs(store, number, manifest, err);
    }
    if (status == ORR_OK) {
        status = insert_settings(store, number, manifest, err);
    }
    status = store_end(store, status, err);
    if (status == ORR_OK) {
        *run = number;
    }
    return status;
}

static enum orr_status update_run(struct lab_store *store, int64_t run, const struct lab_results *results,
                                  struct orr_error *err)
{
    struct io_statement *statement = NULL;
    enum orr_status status = io_statement_prepare(
        store->database,
        "UPDATE run SET state = ?2, error = ?3, total_ns = ?4, steps = ?5, comm_ns = ?6, compute_ns = ?7,"
        " wall_ms = ?8, events = ?9, messages = ?10, peak_bytes = ?11,"
        " ended = strftime('%Y-%m-%dT%H:%M:%SZ', 'now') WHERE id = ?1 AND state = 'partial' RETURNING id",
        &statement, err);
    if (status != ORR_OK) {
        return status;
    }
    io_bind_int(statement, 1, run);
    io_bind_text(statement, 2, lab_run_state_word(results->state));
    io_bind_text(statement, 3, results->error);
    const uint64_t counts[] = {results->total_ns, results->steps,  results->comm_ns,  results->compute_ns,
                               results->wall_ms,  results->events, results->messages, results->peak_bytes};
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        bind_count(statement, (int)i + 4, counts[i]);
    }
    bool found = false;
    status = io_statement_step(statement, &found, err);
    io_statement_free(statement);
    if (status == ORR_OK && !found) {
        return error_set(err, ORR_EINVAL, "%s: run %lld is not there or has its results already",
                         io_database_path(store->database), (long long)run);
    }
    return status;
}

static enum orr_status insert_ranks(struct lab_store *store, int64_t run, const struct lab_results *results,
                                    struct orr_error *err)
{
    struct io_statement *statement = NULL;
    enum orr_status status = io_statement_prepare(
        store->database, "INSERT INTO rank VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)", &statement, err);
    for (uint32_t i = 0; status == ORR_OK && i < results->rank_count; i++) {
        const struct lab_rank_row *row = &results->ranks[i];
        io_bind_int(statement, 1, run);
        io_bind_int(statement, 2, i);
        io_bind_int(statement, 3, row->finished ? 1 : 0);
        bind_count(statement, 4, row->finish_ns);
        bind_count(statement, 5, row->compute_ns);
        bind_count(statement, 6, row->exposed_comm_ns);
        bind_count(statement, 7, row->exposed_other_ns);
        bind_count(statement, 8, row->idle_ns);
        status = io_statement_run(statement, err);
    }
    io_statement_free(statement);
    return status;
}

static enum orr_status insert_collectives(struct lab_store *store, int64_t run, const struct lab_results *results,
                                          struct orr_error *err)
{
    struct io_statement *statement = NULL;
    enum orr_status status = io_statement_prepare(
        store->database, "INSERT INTO collective VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)", &statement, err);
    for (uint32_t i = 0; status == ORR_OK && i < results->collective_count; i++) {
        const struct lab_collective_row *row = &results->collectives[i];
        io_bind_int(statement, 1, run);
        io_bind_text(statement, 2, row->type);
        bind_count(statement, 3, row->group_size);
        bind_count(statement, 4, row->bytes);
        bind_count(statement, 5, row->count);
        bind_count(statement, 6, row->total_ns);
        bind_count(statement, 7, row->min_ns);
        bind_count(statement, 8, row->max_ns);
        status = io_statement_run(statement, err);
    }
    io_statement_free(statement);
    return status;
}

enum orr_status lab_store_finish(struct lab_store *store, int64_t run, const struct lab_results *results,
                                 struct orr_error *err)
{
    enum orr_status status = store_begin(store, err);
    if (status != ORR_OK) {
        return status;
    }
    status = update_run(store, run, results, err);
    if (status == ORR_OK) {
        status = insert_ranks(store, run, results, err);
    }
    if (status == ORR_OK) {
        status = insert_collectives(store, run, results, err);
    }
    return store_end(store, status, err);
}

/* What is not known is NULL in the table. */
static void bind_known(struct io_statement *statement, int at, double value)
{
    if (isnan(value)) {
        io_bind_null(statement, at);
    } else {
        io_bind_real(statement, at, value);
    }
}

enum orr_status lab_store_calibrate(struct lab_store *store, const struct lab_calibration *calibration, int64_t *id,
                                    struct orr_error *err)
{
    struct io_statement *statement = NULL;
    enum orr_status status = io_statement_prepare(
        store->database,
        "INSERT INTO calibration (run, version, tag, topology, source, flags, notes, alpha_us, alpha_comm_us,"
        " alpha_gpu_us, real_step_ms, real_comm_ms, real_kernel_ms, sim_step_ms, sim_comm_ms, sim_gpu_ms,"
        " lower_bound_ms, iqr, samples, steps, world, accepted) VALUES"
        " (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21, ?22)",
        &statement, err);
    if (status != ORR_OK) {
        return status;
    }
    if (calibration->run == 0) {
        io_bind_null(statement, 1);
    } else {
        io_bind_int(statement, 1, calibration->run);
    }
    const char *texts[] = {orr_version(),       calibration->tag,   calibration->topology,
                           calibration->source, calibration->flags, calibration->notes};
    int at = 2;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        io_bind_text(statement, at++, texts[i]);
    }
    const double reals[] = {
        calibration->alpha_us,     calibration->alpha_comm_us,  calibration->alpha_gpu_us, calibration->real_step_ms,
        calibration->real_comm_ms, calibration->real_kernel_ms, calibration->sim_step_ms,  calibration->sim_comm_ms,
        calibration->sim_gpu_ms,   calibration->lower_bound_ms, calibration->iqr};
    for (size_t i = 0; i < sizeof reals / sizeof reals[0]; i++) {
        bind_known(statement, at++, reals[i]);
    }
    bind_count(statement, at++, calibration->samples);
    bind_count(statement, at++, calibration->steps);
    bind_count(statement, at++, calibration->world);
    io_bind_int(statement, at, calibration->accepted ? 1 : 0);
    status = io_statement_run(statement, err);
    if (status == ORR_OK) {
        *id = io_database_last_id(store->database);
    }
    io_statement_free(statement);
    return status;
}

enum orr_status lab_store_sweep(struct lab_store *store, const char *name, const char *fingerprint, const char *command,
                                int64_t *sweep, struct orr_error *err)
{
    struct io_statement *statement = NULL;
    /* Two programs that begin the same sweep share it; the assignment makes the row come back in either case. */
    enum orr_status status =
        io_statement_prepare(store->database,
                             "INSERT INTO sweep (name, fingerprint, command) VALUES (?1, ?2, ?3)"
                             " ON CONFLICT (fingerprint) DO UPDATE SET fingerprint = excluded.fingerprint RETURNING id",
                             &statement, err);
    bool row = false;
    if (status == ORR_OK) {
        io_bind_text(statement, 1, name);
        io_bind_text(statement, 2, fingerprint);
        io_bind_text(statement, 3, command);
        status = io_statement_step(statement, &row, err);
    }
    if (status == ORR_OK) {
        *sweep = row ? io_column_int(statement, 0) : 0;
        io_statement_reset(statement);
    }
    io_statement_free(statement);
    return status;
}

enum orr_status lab_store_point_done(struct lab_store *store, int64_t sweep, uint64_t index, int64_t run,
                                     struct orr_error *err)
{
    struct io_statement *statement = NULL;
    enum orr_status status = io_statement_prepare(
        store->database,
        "INSERT INTO point VALUES (?1, ?2, ?3) ON CONFLICT (sweep, number) DO UPDATE SET run = excluded.run",
        &statement, err);
    if (status == ORR_OK) {
        io_bind_int(statement, 1, sweep);
        bind_count(statement, 2, index);
        io_bind_int(statement, 3, run);
        status = io_statement_run(statement, err);
    }
    io_statement_free(statement);
    return status;
}
