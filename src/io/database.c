/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The store is written by whoever runs simulations, perhaps many at once, and read by people with the sqlite3 program.
 * Hence the write-ahead log, a busy handler that waits, and "synchronous = normal": a killed process loses nothing, and
 * a power cut at most the last transactions, never the file.
 */
#include "io/database.h"

#include "base/clock.h"
#include "io/file.h"
#include "io/outfile.h"

#include <errno.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BUSY_MS = 60 * 1000, PAUSE_LONGEST_MS = 50 };

struct io_database {
    sqlite3 *handle;
    char *path;
};

struct io_statement {
    struct io_database *database;
    sqlite3_stmt *handle;
    int bind_error;
};

static enum orr_status status_of(int code)
{
    switch (code & 0xff) {
    case SQLITE_NOTADB:
    case SQLITE_CORRUPT:
    case SQLITE_CONSTRAINT:
    case SQLITE_ERROR:
    case SQLITE_MISMATCH:
        return ORR_EINVAL;
    default:
        return ORR_EIO;
    }
}

static enum orr_status io_database_fail(const struct io_database *database, int code, struct orr_error *err)
{
    if ((code & 0xff) == SQLITE_NOTADB) {
        return error_set(err, ORR_EINVAL, "%s: is not an SQLite database", database->path);
    }
    if ((code & 0xff) == SQLITE_NOMEM || code == SQLITE_IOERR_NOMEM) {
        return error_set(err, ORR_ENOMEM, "%s: out of memory", database->path);
    }
    if ((code & 0xff) == SQLITE_FULL || (code & 0xff) == SQLITE_IOERR) {
        int system = sqlite3_system_errno(database->handle);
        return error_system(err, (code & 0xff) == SQLITE_FULL ? ENOSPC : system, "%s", database->path);
    }
    if ((code & 0xff) == SQLITE_BUSY) {
        return error_set(err, ORR_EFAIL, "%s: another program has been writing to it for a minute", database->path);
    }
    return error_set(err, status_of(code), "%s: %s", database->path, sqlite3_errmsg(database->handle));
}

/* io_database_run for what SQLite gives up at once where it should wait: a statement that has begun to read and then
 * wants the file for itself, like the switch to the write-ahead log, does not ask the busy handler, since two that did
 * so would wait for each other. It has let go of everything when it fails, so that it can be tried again. */
static enum orr_status run_patiently(struct io_database *database, const char *sql, struct orr_error *err)
{
    uint64_t end = clock_now_ms() + BUSY_MS;
    for (int pause = 1;; pause = pause * 2 > PAUSE_LONGEST_MS ? PAUSE_LONGEST_MS : pause * 2) {
        int code = sqlite3_exec(database->handle, sql, NULL, NULL, NULL);
        if (code == SQLITE_OK || (code & 0xff) != SQLITE_BUSY || clock_now_ms() >= end) {
            return code == SQLITE_OK ? ORR_OK : io_database_fail(database, code, err);
        }
        (void)sqlite3_sleep(pause);
    }
}

static enum orr_status open_handle(struct io_database *database, const char *name, int flags, struct orr_error *err)
{
    int code = sqlite3_open_v2(name, &database->handle, flags | SQLITE_OPEN_NOMUTEX, NULL);
    if (database->handle == NULL) {
        return error_set(err, ORR_ENOMEM, "%s: out of memory opening it", database->path);
    }
    if (code != SQLITE_OK) {
        int system = sqlite3_system_errno(database->handle);
        return system == 0 || (code & 0xff) == SQLITE_NOMEM ? io_database_fail(database, code, err)
                                                            : error_system(err, system, "%s", database->path);
    }
    (void)sqlite3_busy_timeout(database->handle, BUSY_MS);
    (void)sqlite3_extended_result_codes(database->handle, 1);
    /* The first statement that reads the file, so that one which is no database is found here. */
    return run_patiently(database, "PRAGMA foreign_keys = ON; SELECT count(*) FROM sqlite_schema", err);
}

/* "file:PATH?immutable=1"; NULL when there is no memory. */
static char *immutable_name(const char *path)
{
    static const char digits[] = "0123456789ABCDEF";
    static const char before[] = "file://";
    static const char after[] = "?immutable=1";
    char *name = malloc(sizeof before + sizeof after + 3 * strlen(path));
    char *at = name;
    if (name == NULL) {
        return NULL;
    }
    size_t prefix = path[0] == '/' ? 7 : 5; /* "file:" suits a path that is not absolute */
    memcpy(at, before, prefix);
    for (at += prefix; *path != '\0'; path++) {
        unsigned char byte = (unsigned char)*path;
        if (byte == '%' || byte == '?' || byte == '#') {
            *at++ = '%';
            *at++ = digits[byte >> 4];
            *at++ = digits[byte & 15];
        } else {
            *at++ = *path;
        }
    }
    memcpy(at, after, sizeof after);
    return name;
}

/* A reader too needs files beside a database with a write-ahead log, and cannot make them in a folder of another's.
 * With no log there, nobody is writing, and the file can be read as it lies. */
static bool lies_still(const struct io_database *database)
{
    int code = sqlite3_errcode(database->handle) & 0xff;
    char *log = NULL;
    bool still = (code == SQLITE_READONLY || code == SQLITE_CANTOPEN) && asprintf(&log, "%s-wal", database->path) > 0 &&
                 access(log, F_OK) != 0 && access(database->path, R_OK) == 0;
    free(log);
    return still;
}

static enum orr_status open_for_reading(struct io_database *database, struct orr_error *err)
{
    enum orr_status status = open_handle(database, database->path, SQLITE_OPEN_READONLY, err);
    if (status == ORR_OK || database->handle == NULL || !lies_still(database)) {
        return status;
    }
    char *name = immutable_name(database->path);
    (void)sqlite3_close_v2(database->handle);
    database->handle = NULL;
    status = name == NULL ? error_set(err, ORR_ENOMEM, "%s: out of memory opening it", database->path)
                          : open_handle(database, name, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, err);
    free(name);
    return status;
}

static enum orr_status open_for_writing(struct io_database *database, struct orr_error *err)
{
    return open_handle(database, database->path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, err);
}

enum orr_status io_database_share(struct io_database *database, struct orr_error *err)
{
    return run_patiently(database, "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL", err);
}

enum orr_status io_database_open(const char *path, enum io_database_mode mode, struct io_database **database,
                                 struct orr_error *err)
{
    enum orr_status status = mode == IO_DATABASE_WRITE ? io_make_folder_above(path, err) : ORR_OK;
    if (status == ORR_OK && (mode == IO_DATABASE_READ || file_exists(path))) {
        status = file_check_regular(path, err); /* SQLite would wait for the other end of a pipe for ever */
    }
    if (status != ORR_OK) {
        return status;
    }
    struct io_database *opened = calloc(1, sizeof *opened);
    char *copy = opened == NULL ? NULL : strdup(path);
    if (copy == NULL) {
        free(opened);
        return error_set(err, ORR_ENOMEM, "%s: out of memory opening it", path);
    }
    opened->path = copy;
    status = mode == IO_DATABASE_WRITE ? open_for_writing(opened, err) : open_for_reading(opened, err);
    if (status != ORR_OK) {
        io_database_close(opened);
        return status;
    }
    *database = opened;
    return ORR_OK;
}

void io_database_close(struct io_database *database)
{
    if (database == NULL) {
        return;
    }
    (void)sqlite3_close_v2(database->handle);
    free(database->path);
    free(database);
}

const char *io_database_path(const struct io_database *database)
{
    return database->path;
}

enum orr_status io_database_run(struct io_database *database, const char *sql, struct orr_error *err)
{
    int code = sqlite3_exec(database->handle, sql, NULL, NULL, NULL);
    return code == SQLITE_OK ? ORR_OK : io_database_fail(database, code, err);
}

enum orr_status io_database_ask(struct io_database *database, const char *sql, int64_t *answer, struct orr_error *err)
{
    struct io_statement *statement = NULL;
    enum orr_status status = io_statement_prepare(database, sql, &statement, err);
    bool row = false;
    if (statement != NULL) {
        status = io_statement_step(statement, &row, err);
    }
    if (status == ORR_OK) {
        *answer = row ? io_column_int(statement, 0) : 0;
    }
    io_statement_free(statement);
    return status;
}

enum orr_status io_database_begin(struct io_database *database, struct orr_error *err)
{
    return io_database_run(database, "BEGIN IMMEDIATE", err);
}

enum orr_status io_database_commit(struct io_database *database, struct orr_error *err)
{
    return io_database_run(database, "COMMIT", err);
}

void io_database_rollback(struct io_database *database)
{
    (void)sqlite3_exec(database->handle, "ROLLBACK", NULL, NULL, NULL);
}

enum orr_status io_statement_prepare(struct io_database *database, const char *sql, struct io_statement **statement,
                                     struct orr_error *err)
{
    struct io_statement *prepared = calloc(1, sizeof *prepared);
    if (prepared == NULL) {
        return error_set(err, ORR_ENOMEM, "%s: out of memory for a statement", database->path);
    }
    prepared->database = database;
    int code = sqlite3_prepare_v2(database->handle, sql, -1, &prepared->handle, NULL);
    if (code != SQLITE_OK) {
        free(prepared);
        return io_database_fail(database, code, err);
    }
    *statement = prepared;
    return ORR_OK;
}

void io_statement_free(struct io_statement *statement)
{
    if (statement != NULL) {
        (void)sqlite3_finalize(statement->handle);
        free(statement);
    }
}

static void note_bind(struct io_statement *statement, int code)
{
    if (code != SQLITE_OK && statement->bind_error == SQLITE_OK) {
        statement->bind_error = code;
    }
}

void io_bind_int(struct io_statement *statement, int at, int64_t value)
{
    note_bind(statement, sqlite3_bind_int64(statement->handle, at, value));
}

void io_bind_real(struct io_statement *statement, int at, double value)
{
    note_bind(statement, sqlite3_bind_double(statement->handle, at, value));
}

void io_bind_text(struct io_statement *statement, int at, const char *value)
{
    note_bind(statement, sqlite3_bind_text(statement->handle, at, value, -1, SQLITE_TRANSIENT));
}

void io_bind_null(struct io_statement *statement, int at)
{
    note_bind(statement, sqlite3_bind_null(statement->handle, at));
}

enum orr_status io_statement_step(struct io_statement *statement, bool *row, struct orr_error *err)
{
    int code = statement->bind_error;
    statement->bind_error = SQLITE_OK;
    if (code == SQLITE_OK) {
        code = sqlite3_step(statement->handle);
    }
    if (code == SQLITE_ROW) {
        *row = true;
        return ORR_OK;
    }
    enum orr_status status = code == SQLITE_DONE ? ORR_OK : io_database_fail(statement->database, code, err);
    io_statement_reset(statement);
    if (status == ORR_OK) {
        *row = false;
    }
    return status;
}

enum orr_status io_statement_run(struct io_statement *statement, struct orr_error *err)
{
    bool row = false;
    enum orr_status status = io_statement_step(statement, &row, err);
    io_statement_reset(statement);
    return status;
}

void io_statement_reset(struct io_statement *statement)
{
    (void)sqlite3_reset(statement->handle);
    (void)sqlite3_clear_bindings(statement->handle);
}

bool io_column_is_null(const struct io_statement *statement, int at)
{
    return sqlite3_column_type(statement->handle, at) == SQLITE_NULL;
}

int64_t io_column_int(const struct io_statement *statement, int at)
{
    return sqlite3_column_int64(statement->handle, at);
}

double io_column_real(const struct io_statement *statement, int at)
{
    return sqlite3_column_double(statement->handle, at);
}

const char *io_column_text(const struct io_statement *statement, int at)
{
    const unsigned char *text = sqlite3_column_text(statement->handle, at);
    return text == NULL ? "" : (const char *)text;
}

int64_t io_database_last_id(const struct io_database *database)
{
    return sqlite3_last_insert_rowid(database->handle);
}
