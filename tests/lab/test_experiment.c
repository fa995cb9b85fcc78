/* SPDX-License-Identifier: Apache-2.0 */
/* Runs and their entries in the store, whatever the end. */
#include "tests/check.h"
#include "tests/folder.h"

#include "lab/experiment.h"

static struct orr_error err;
static char workload[64], system_file[64], network[64], store_file[64];

static void write_file(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    CHECK(file != NULL && fputs(text, file) >= 0 && fclose(file) == 0, "%s", path);
}

static void write_network(const char *bandwidth)
{
    char text[160];
    (void)snprintf(text, sizeof text, "topology: [ Ring ]\nnpus_count: [ 4 ]\nbandwidth: [ %s ]\nlatency: [ 500.0 ]\n",
                   bandwidth);
    write_file(network, text);
}

static int make_inputs(void **state)
{
    if (make_folder(state) != 0) {
        return -1;
    }
    (void)snprintf(workload, sizeof workload, "%s/w", folder);
    (void)snprintf(system_file, sizeof system_file, "%s/system.json", folder);
    (void)snprintf(network, sizeof network, "%s/network.yml", folder);
    (void)snprintf(store_file, sizeof store_file, "%s/orrery.db", folder);
    const struct orr_gen_options gen = {
        .pattern = ORR_PATTERN_COLLECTIVE, .type = "all-reduce", .bytes = 1 << 20, .npus = 4, .prefix = workload};
    write_file(system_file, "{\"scheduling-policy\": \"LIFO\", \"endpoint-delay\": 10, "
                            "\"active-chunks-per-dimension\": 1, \"preferred-dataset-splits\": 4, "
                            "\"all-reduce-implementation\": [\"ring\"], \"all-gather-implementation\": [\"ring\"], "
                            "\"reduce-scatter-implementation\": [\"ring\"], \"all-to-all-implementation\": [\"ring\"], "
                            "\"collective-optimization\": \"localBWAware\", \"local-mem-bw\": 50, \"boost-mode\": 0}");
    return orr_gen(&gen, &err) == ORR_OK ? 0 : -1;
}

static enum orr_status run_one(struct lab_outcome *outcome)
{
    static const struct lab_setting settings[] = {{"bandwidth", "50GB/s"}};
    struct lab_experiment experiment = {
        .kind = "lab", .command = "orrery lab run", .settings = settings, .setting_count = 1};
    orr_run_options_init(&experiment.options);
    experiment.options.workload = workload;
    experiment.options.system = system_file;
    experiment.options.network = network;
    struct lab_store *store = NULL;
    CHECK_OK(lab_store_open(store_file, IO_DATABASE_WRITE, &store, &err), &err);
    enum orr_status status = lab_experiment_run(&experiment, store, NULL, NULL, outcome, &err);
    lab_store_close(store);
    return status;
}

/* One column of one run, as text. */
static const char *column_of(int64_t run, const char *column)
{
    static char texts[4][256];
    static unsigned next;
    char *text = texts[next++ % 4];
    char sql[160];
    struct lab_store *store = NULL;
    struct io_statement *statement = NULL;
    bool row = false;
    (void)snprintf(sql, sizeof sql, "SELECT %s FROM run WHERE id = %" PRId64, column, run);
    CHECK_OK(lab_store_open(store_file, IO_DATABASE_READ, &store, &err), &err);
    CHECK_OK(io_statement_prepare(lab_store_database(store), sql, &statement, &err), &err);
    CHECK_OK(io_statement_step(statement, &row, &err), &err);
    CHECK(row, "run %" PRId64 " is there", run);
    (void)snprintf(text, sizeof texts[0], "%s", io_column_text(statement, 0));
    io_statement_free(statement);
    lab_store_close(store);
    return text;
}

static void a_run_that_ends_well_is_kept_with_what_came_out(void **state)
{
    (void)state;
    struct lab_outcome outcome;
    write_network("50.0");
    CHECK_OK(run_one(&outcome), &err);
    CHECK(outcome.state == LAB_RUN_DONE && outcome.total_ns > 0, "done");
    char total[32];
    (void)snprintf(total, sizeof total, "%" PRIu64, outcome.total_ns);
    CHECK_TEXT(column_of(outcome.run, "total_ns"), total);
    CHECK_TEXT(column_of(outcome.run, "state"), "done");
    CHECK_TEXT(column_of(outcome.run, "(SELECT count(*) FROM rank WHERE run = run.id)"), "4");
    CHECK_TEXT(column_of(outcome.run, "(SELECT type FROM collective WHERE run = run.id)"), "all-reduce");
    CHECK_TEXT(column_of(outcome.run, "(SELECT group_concat(role) FROM input WHERE run = run.id)"),
               "workload,system,network");
}

static void equal_runs_have_equal_fingerprints_and_another_byte_makes_another(void **state)
{
    (void)state;
    struct lab_outcome first;
    struct lab_outcome again;
    struct lab_outcome other;
    write_network("50.0");
    CHECK_OK(run_one(&first), &err);
    CHECK_OK(run_one(&again), &err);
    write_network("50.1");
    CHECK_OK(run_one(&other), &err);
    CHECK_TEXT(column_of(first.run, "fingerprint"), column_of(again.run, "fingerprint"));
    CHECK(strcmp(column_of(first.run, "fingerprint"), column_of(other.run, "fingerprint")) != 0, "another input");
}

static void a_run_that_cannot_start_is_kept_as_failed_with_the_reason(void **state)
{
    (void)state;
    struct lab_outcome outcome;
    write_network("fast");
    CHECK_STATUS(run_one(&outcome), ORR_EINVAL);
    CHECK_CONTAINS(err.text, "network.yml");
    CHECK_TEXT(column_of(outcome.run, "state"), "failed");
    CHECK_CONTAINS(column_of(outcome.run, "error"), "network.yml");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_run_that_ends_well_is_kept_with_what_came_out),
        cmocka_unit_test(equal_runs_have_equal_fingerprints_and_another_byte_makes_another),
        cmocka_unit_test(a_run_that_cannot_start_is_kept_as_failed_with_the_reason),
    };
    return cmocka_run_group_tests(tests, make_inputs, remove_folder);
}
