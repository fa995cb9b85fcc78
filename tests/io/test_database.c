/* SPDX-License-Identifier: Apache-2.0 */
/* One SQLite file that several writers make and use at once. */
#include "tests/check.h"
#include "tests/folder.h"

#include <pthread.h>
#include <sys/stat.h>

#include "io/database.h"

enum { WRITERS = 6, ROUNDS = 40 };

struct writer {
    pthread_barrier_t *start;
    const char *path;
    enum orr_status status;
    struct orr_error err;
};

static void *make_and_write(void *argument)
{
    struct writer *writer = argument;
    struct io_database *database = NULL;
    (void)pthread_barrier_wait(writer->start);
    writer->status = io_database_open(writer->path, IO_DATABASE_WRITE, &database, &writer->err);
    if (writer->status == ORR_OK) {
        writer->status = io_database_share(database, &writer->err);
    }
    if (writer->status == ORR_OK) {
        writer->status = io_database_begin(database, &writer->err);
    }
    if (writer->status == ORR_OK) {
        writer->status = io_database_run(database, "CREATE TABLE IF NOT EXISTS t (n INTEGER); INSERT INTO t VALUES (1)",
                                         &writer->err);
    }
    if (writer->status == ORR_OK) {
        writer->status = io_database_commit(database, &writer->err);
    }
    io_database_close(database);
    return NULL;
}

static int64_t rows_of(const char *path)
{
    struct orr_error err = {0};
    struct io_database *database = NULL;
    struct io_statement *statement = NULL;
    bool row = false;
    CHECK_OK(io_database_open(path, IO_DATABASE_READ, &database, &err), &err);
    CHECK_OK(io_statement_prepare(database, "SELECT count(*) FROM t", &statement, &err), &err);
    CHECK_OK(io_statement_step(statement, &row, &err), &err);
    int64_t rows = io_column_int(statement, 0);
    io_statement_free(statement);
    io_database_close(database);
    return rows;
}

static void writers_that_make_a_file_at_once_wait_for_each_other(void **state)
{
    (void)state;
    pthread_barrier_t start;
    assert_int_equal(pthread_barrier_init(&start, NULL, WRITERS), 0);
    for (int round = 0; round < ROUNDS; round++) {
        char name[32];
        char path[4096];
        (void)snprintf(name, sizeof name, "made-%d.db", round);
        (void)snprintf(path, sizeof path, "%s", folder_path(name));
        struct writer writers[WRITERS];
        pthread_t threads[WRITERS];
        for (int i = 0; i < WRITERS; i++) {
            writers[i] = (struct writer){.start = &start, .path = path};
            assert_int_equal(pthread_create(&threads[i], NULL, make_and_write, &writers[i]), 0);
        }
        for (int i = 0; i < WRITERS; i++) {
            assert_int_equal(pthread_join(threads[i], NULL), 0);
        }
        for (int i = 0; i < WRITERS; i++) {
            CHECK_OK(writers[i].status, &writers[i].err);
        }
        CHECK_U64(rows_of(path), WRITERS, "round %d", round);
    }
    (void)pthread_barrier_destroy(&start);
}

static void what_is_no_file_is_refused_at_once(void **state)
{
    (void)state;
    struct orr_error err = {0};
    struct io_database *database = NULL;
    assert_int_equal(mkfifo(folder_path("pipe.db"), 0600), 0);
    for (int mode = IO_DATABASE_READ; mode <= IO_DATABASE_WRITE; mode++) {
        CHECK_STATUS(io_database_open(folder_path("pipe.db"), (enum io_database_mode)mode, &database, &err), ORR_EIO);
        CHECK_CONTAINS(err.text, "pipe.db: ");
        CHECK_STATUS(io_database_open("/dev/null", (enum io_database_mode)mode, &database, &err), ORR_EIO);
        CHECK_STATUS(io_database_open(folder, (enum io_database_mode)mode, &database, &err), ORR_EIO);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(writers_that_make_a_file_at_once_wait_for_each_other),
                                       cmocka_unit_test(what_is_no_file_is_refused_at_once)};
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
