/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SQLite, as much of it as a result store needs: open, run text, a prepared statement that is bound by position and
 * stepped, transactions. Every error names the file and what SQLite said of it. Knows no table.
 *
 * A database is used by one thread; several processes may use one file at once: writers wait for each other (up to
 * a minute), readers never do (write-ahead log).
 */
#ifndef ORR_IO_DATABASE_H
#define ORR_IO_DATABASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct io_database;
struct io_statement;

enum io_database_mode {
    IO_DATABASE_READ,  /* must exist */
    IO_DATABASE_WRITE, /* made where missing, folders above it too */
};

/* ORR_EIO: cannot be opened or made, or is a folder, a device, a pipe; ORR_EINVAL: is there and is no SQLite database.
 * Nothing is written to a file that is there: it may be another program's, and whoever knows its tables decides. */
ORR_MUST_CHECK enum orr_status io_database_open(const char *path, enum io_database_mode mode,
                                                struct io_database **database, struct orr_error *err);
void io_database_close(struct io_database *database); /* NULL is fine; statements must be gone */
const char *io_database_path(const struct io_database *database);

/* Before the first write: from here on readers and writers do not wait for each other (write-ahead log). */
ORR_MUST_CHECK enum orr_status io_database_share(struct io_database *database, struct orr_error *err);

/* Runs statements that return no rows. */
ORR_MUST_CHECK enum orr_status io_database_run(struct io_database *database, const char *sql, struct orr_error *err);

/* The first column of the first row, 0 where there is none: "PRAGMA user_version", "SELECT count(*) …". */
ORR_MUST_CHECK enum orr_status io_database_ask(struct io_database *database, const char *sql, int64_t *answer,
                                               struct orr_error *err);

/* A transaction that takes the right to write at its begin, so that it cannot fail half way for another's sake. */
ORR_MUST_CHECK enum orr_status io_database_begin(struct io_database *database, struct orr_error *err);
ORR_MUST_CHECK enum orr_status io_database_commit(struct io_database *database, struct orr_error *err);
void io_database_rollback(struct io_database *database);

/* `sql` is one statement with ?1, ?2 … in it. */
ORR_MUST_CHECK enum orr_status io_statement_prepare(struct io_database *database, const char *sql,
                                                    struct io_statement **statement, struct orr_error *err);
void io_statement_free(struct io_statement *statement); /* NULL is fine */

/* `at` counts from 1. Texts are copied. A failed bind shows in the next step. */
void io_bind_int(struct io_statement *statement, int at, int64_t value);
void io_bind_real(struct io_statement *statement, int at, double value);
void io_bind_text(struct io_statement *statement, int at, const char *value); /* NULL binds NULL */
void io_bind_null(struct io_statement *statement, int at);

/* Steps once: `*row` says whether there is a row to read. Without one the statement is ready to be bound again. */
ORR_MUST_CHECK enum orr_status io_statement_step(struct io_statement *statement, bool *row, struct orr_error *err);
/* Steps a statement that returns no row, and makes it ready to be bound again. */
ORR_MUST_CHECK enum orr_status io_statement_run(struct io_statement *statement, struct orr_error *err);
void io_statement_reset(struct io_statement *statement);

/* Columns of the row, from 0; texts are valid until the next step. */
bool io_column_is_null(const struct io_statement *statement, int at);
int64_t io_column_int(const struct io_statement *statement, int at);
double io_column_real(const struct io_statement *statement, int at);
const char *io_column_text(const struct io_statement *statement, int at); /* "" for NULL */

int64_t io_database_last_id(const struct io_database *database);

#endif
