/* SPDX-License-Identifier: Apache-2.0 */
/* The result store: what a run leaves behind when it ends, when it is killed, and when others write at the same time.
 */
#include "tests/check.h"
#include "tests/folder.h"

#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lab/store/store.h"

static struct orr_error err;

static struct lab_store *open_store(const char *name, enum io_database_mode mode)
{
    struct lab_store *store = NULL;
    CHECK_OK(lab_store_open(folder_path(name), mode, &store, &err), &err);
    return store;
}

static int64_t count_of(struct lab_store *store, const char *sql)
{
    struct io_statement *statement = NULL;
    bool row = false;
    CHECK_OK(io_statement_prepare(lab_store_database(store), sql, &statement, &err), &err);
    CHECK_OK(io_statement_step(statement, &row, &err), &err);
    CHECK(row, "%s returns a row", sql);
    int64_t count = io_column_int(statement, 0);
    io_statement_free(statement);
    return count;
}

static int64_t begin(struct lab_store *store, const char *fingerprint)
{
    const struct lab_input inputs[] = {{"workload", "a.0.et", "00112233445566778899aabbccddeeff", 95},
                                       {"system", "system.json", "ffeeddccbbaa99887766554433221100", 300}};
    const struct lab_setting settings[] = {{"bandwidth", "25Gbps"}, {"latency", "1us"}};
    const struct lab_manifest manifest = {
        .kind = "lab",
        .command = "orrery lab run --workload traces",
        .backend = "unaware",
        .fingerprint = fingerprint,
        .world = 8,
        .source_world = 2,
        .inputs = inputs,
        .input_count = 2,
        .settings = settings,
        .setting_count = 2,
    };
    int64_t run = 0;
    CHECK_OK(lab_store_begin(store, &manifest, &run, &err), &err);
    return run;
}

static struct lab_results results_of(enum lab_run_state state)
{
    static const struct lab_rank_row ranks[] = {{true, 100, 60, 30, 0, 10}, {true, 90, 60, 20, 0, 20}};
    static const struct lab_collective_row collectives[] = {{"all-reduce", 8, 1048576, 16, 800, 40, 60}};
    return (struct lab_results){.state = state,
                                .total_ns = 100,
                                .ranks = ranks,
                                .rank_count = 2,
                                .collectives = collectives,
                                .collective_count = 1};
}

static void a_run_is_partial_until_it_has_its_results(void **state)
{
    (void)state;
    struct lab_store *store = open_store("a.db", IO_DATABASE_WRITE);
    int64_t run = begin(store, "f1");
    struct lab_store *reader = open_store("a.db", IO_DATABASE_READ);
    CHECK_U64(count_of(reader, "SELECT count(*) FROM run WHERE state = 'partial'"), 1, "seen by another at once");
    CHECK_U64(count_of(reader, "SELECT count(*) FROM input"), 2, "inputs");
    const struct lab_results results = results_of(LAB_RUN_DONE);
    CHECK_OK(lab_store_finish(store, run, &results, &err), &err);
    CHECK_U64(count_of(reader, "SELECT total_ns FROM run WHERE state = 'done'"), 100, "total");
    CHECK_U64(count_of(reader, "SELECT sum(finish_ns) FROM rank"), 190, "ranks");
    CHECK_U64(count_of(reader, "SELECT total_ns FROM collective WHERE type = 'all-reduce'"), 800, "collectives");
    lab_store_close(reader);
    lab_store_close(store);
}

static void results_are_given_once(void **state)
{
    (void)state;
    struct lab_store *store = open_store("once.db", IO_DATABASE_WRITE);
    int64_t run = begin(store, "f1");
    const struct lab_results results = results_of(LAB_RUN_STALLED);
    CHECK_OK(lab_store_finish(store, run, &results, &err), &err);
    CHECK_STATUS(lab_store_finish(store, run, &results, &err), ORR_EINVAL);
    CHECK_CONTAINS(err.text, "has its results already");
    CHECK_STATUS(lab_store_finish(store, run + 1, &results, &err), ORR_EINVAL);
    CHECK_U64(count_of(store, "SELECT count(*) FROM rank"), 2, "the second attempt added nothing");
    lab_store_close(store);
}

static void results_that_contradict_themselves_leave_the_run_partial(void **state)
{
    (void)state;
    struct lab_store *store = open_store("twice.db", IO_DATABASE_WRITE);
    int64_t run = begin(store, "f1");
    static const struct lab_collective_row twice[] = {{.type = "barrier"}, {.type = "barrier"}};
    struct lab_results results = results_of(LAB_RUN_DONE);
    results.collectives = twice;
    results.collective_count = 2;
    CHECK_STATUS(lab_store_finish(store, run, &results, &err), ORR_EINVAL);
    CHECK_U64(count_of(store, "SELECT count(*) FROM run WHERE state = 'partial'"), 1, "nothing was written");
    CHECK_U64(count_of(store, "SELECT count(*) FROM rank"), 0, "nor the ranks");
    lab_store_close(store);
}

static void a_sweep_begun_again_is_the_same_and_knows_its_points(void **state)
{
    (void)state;
    struct lab_store *store = open_store("sweep.db", IO_DATABASE_WRITE);
    int64_t first = 0;
    int64_t again = 0;
    int64_t other = 0;
    CHECK_OK(lab_store_sweep(store, "s", "fp", "orrery sweep s.yml", &first, &err), &err);
    CHECK_OK(lab_store_sweep(store, "s", "fp", "orrery sweep s.yml", &again, &err), &err);
    CHECK_OK(lab_store_sweep(store, "s", "fp2", "orrery sweep s.yml", &other, &err), &err);
    CHECK_U64(first, again, "same fingerprint, same sweep");
    CHECK(first != other, "another fingerprint, another sweep");
    int64_t run = begin(store, "f1");
    const struct lab_results results = results_of(LAB_RUN_STALLED);
    CHECK_OK(lab_store_finish(store, run, &results, &err), &err);
    CHECK_OK(lab_store_point_done(store, first, 7, run, &err), &err);
    CHECK_U64(count_of(store, "SELECT count(*) FROM point JOIN run ON run.id = point.run WHERE number = 7 AND"
                              " run.state = 'stalled'"),
              1, "the point's run and its state");
    CHECK_U64(count_of(store, "SELECT count(*) FROM point WHERE number = 8"), 0, "a point that was never reached");
    lab_store_close(store);
}

static void four_programs_write_at_once_and_nothing_is_lost(void **state)
{
    (void)state;
    enum { PROGRAMS = 4, RUNS = 25 };
    lab_store_close(open_store("many.db", IO_DATABASE_WRITE));
    for (int i = 0; i < PROGRAMS; i++) {
        if (fork() == 0) {
            struct lab_store *store = NULL;
            bool good = lab_store_open(folder_path("many.db"), IO_DATABASE_WRITE, &store, &err) == ORR_OK;
            for (int k = 0; good && k < RUNS; k++) {
                const struct lab_results results = results_of(LAB_RUN_DONE);
                good = lab_store_finish(store, begin(store, "f"), &results, &err) == ORR_OK;
            }
            lab_store_close(store);
            _exit(good ? 0 : 1);
        }
    }
    for (int i = 0; i < PROGRAMS; i++) {
        int ended = -1;
        CHECK(wait(&ended) > 0 && ended == 0, "a writer failed");
    }
    struct lab_store *store = open_store("many.db", IO_DATABASE_READ);
    CHECK_U64(count_of(store, "SELECT count(*) FROM run WHERE state = 'done'"), PROGRAMS * RUNS, "runs");
    CHECK_U64(count_of(store, "SELECT count(*) FROM rank"), PROGRAMS * RUNS * 2, "ranks");
    lab_store_close(store);
}

static void a_killed_program_leaves_a_partial_run_and_a_sound_file(void **state)
{
    (void)state;
    pid_t child = fork();
    if (child == 0) {
        struct lab_store *store = NULL;
        if (lab_store_open(folder_path("killed.db"), IO_DATABASE_WRITE, &store, &err) == ORR_OK) {
            (void)begin(store, "f");
            if (io_database_begin(lab_store_database(store), &err) == ORR_OK &&
                io_database_run(lab_store_database(store), "DELETE FROM run", &err) == ORR_OK) {
                (void)raise(SIGKILL); /* with the deletion done but not committed */
            }
        }
        _exit(1);
    }
    int ended = 0;
    CHECK(waitpid(child, &ended, 0) == child && WIFSIGNALED(ended), "killed");
    struct lab_store *store = open_store("killed.db", IO_DATABASE_WRITE);
    CHECK_U64(count_of(store, "SELECT count(*) FROM run WHERE state = 'partial'"), 1, "the run as it stood");
    CHECK_U64(count_of(store, "SELECT count(*) FROM pragma_integrity_check WHERE integrity_check = 'ok'"), 1, "sound");
    lab_store_close(store);
}

/* Root may write anywhere, and sees no more than that reading works. */
static void a_store_in_a_folder_that_one_cannot_write_to_is_read(void **state)
{
    (void)state;
    struct lab_store *store = open_store("lent/a #1?.db", IO_DATABASE_WRITE);
    (void)begin(store, "f1");
    lab_store_close(store);
    assert_int_equal(chmod(folder_path("lent"), 0555), 0);
    store = open_store("lent/a #1?.db", IO_DATABASE_READ);
    CHECK_U64(count_of(store, "SELECT count(*) FROM run"), 1, "the run");
    lab_store_close(store);
    assert_int_equal(chmod(folder_path("lent"), 0755), 0);
}

static void what_is_not_our_store_is_refused(void **state)
{
    (void)state;
    struct lab_store *store = NULL;
    CHECK_STATUS(lab_store_open(folder_path("none.db"), IO_DATABASE_READ, &store, &err), ORR_EIO);
    CHECK_CONTAINS(err.text, "No such file");
    FILE *text = fopen(folder_path("text.db"), "w");
    CHECK(text != NULL && fputs("this is a text of some length, and no database at all\n", text) >= 0, "made");
    CHECK(fclose(text) == 0, "written");
    CHECK_STATUS(lab_store_open(folder_path("text.db"), IO_DATABASE_WRITE, &store, &err), ORR_EINVAL);
    CHECK_CONTAINS(err.text, "is not an SQLite database");
    store = open_store("newer.db", IO_DATABASE_WRITE);
    CHECK_OK(io_database_run(lab_store_database(store), "PRAGMA user_version = 99", &err), &err);
    lab_store_close(store);
    CHECK_STATUS(lab_store_open(folder_path("newer.db"), IO_DATABASE_READ, &store, &err), ORR_EINVAL);
    CHECK_CONTAINS(err.text, "newer Orrery");
}

static void a_database_of_another_program_is_left_as_it_is(void **state)
{
    (void)state;
    /* Also one whose number of a form happens to be ours, and one with a table of one of our names. */
    static const char *const others[] = {
        "CREATE TABLE recipe (n INTEGER)",
        "CREATE TABLE run (id INTEGER PRIMARY KEY, state TEXT); PRAGMA user_version = 1",
        "PRAGMA application_id = 77",
    };
    for (size_t i = 0; i < COUNT_OF(others); i++) {
        char name[32];
        char command[512];
        (void)snprintf(name, sizeof name, "other-%zu.db", i);
        struct io_database *database = NULL;
        CHECK_OK(io_database_open(folder_path(name), IO_DATABASE_WRITE, &database, &err), &err);
        CHECK_OK(io_database_run(database, others[i], &err), &err);
        io_database_close(database);
        (void)snprintf(command, sizeof command, "cp %s %s", folder_path(name), folder_path("before.db"));
        assert_int_equal(system(command), 0);
        struct lab_store *store = NULL;
        for (int mode = IO_DATABASE_READ; mode <= IO_DATABASE_WRITE; mode++) {
            CHECK_STATUS(lab_store_open(folder_path(name), (enum io_database_mode)mode, &store, &err), ORR_EINVAL);
            CHECK_CONTAINS(err.text, "is a database of another program");
        }
        (void)snprintf(command, sizeof command, "cmp %s %s", folder_path(name), folder_path("before.db"));
        CHECK(system(command) == 0, "not a byte of it is changed: %s", others[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_run_is_partial_until_it_has_its_results),
        cmocka_unit_test(results_are_given_once),
        cmocka_unit_test(results_that_contradict_themselves_leave_the_run_partial),
        cmocka_unit_test(a_sweep_begun_again_is_the_same_and_knows_its_points),
        cmocka_unit_test(four_programs_write_at_once_and_nothing_is_lost),
        cmocka_unit_test(a_killed_program_leaves_a_partial_run_and_a_sound_file),
        cmocka_unit_test(a_store_in_a_folder_that_one_cannot_write_to_is_read),
        cmocka_unit_test(what_is_not_our_store_is_refused),
        cmocka_unit_test(a_database_of_another_program_is_left_as_it_is),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
