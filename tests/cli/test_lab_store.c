/* SPDX-License-Identifier: Apache-2.0 */
/* The result store as its users meet it: lists, comparisons, runs done again, tables; programs that write at once, and
 * one that is killed. */
#include "tests/cli/program.h"

#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

static void make_runs(void)
{
    program_enter();
    if (program_exists("runs/orrery.db")) {
        return;
    }
    CHECK_EXIT(program_run("gen collective --npus 8 -o traces/ar"), 0);
    CHECK_EXIT(program_run("lab run --workload traces --topology 8gpu_ring2d_4 --tag slow"), 0);
    CHECK_EXIT(program_run("lab run --workload traces --topology 8gpu_ring2d_4 --bandwidth 50 --tag fast"), 0);
}

static void a_list_is_filtered_by_what_runs_are(void **state)
{
    (void)state;
    make_runs();
    const struct program_result *result = program_run("lab list --tag fast");
    CHECK_EXIT(result, 0);
    CHECK_CONTAINS(result->out, "fast  unaware  8gpu_ring2d_4");
    CHECK(strstr(result->out, "slow") == NULL, "%s", result->out);
    CHECK_CONTAINS(program_run("lab list --limit 1")->out, "\n  2  done");
    CHECK_TEXT(program_run("lab list --state partial")->out, "No runs.\n");
    CHECK_CONTAINS(program_run("lab list --backend unaware --json -")->out, "{\"run\": 1, \"state\": \"done\"");
    result = program_run("lab list --state don");
    CHECK_EXIT(result, 2);
    CHECK_CONTAINS(result->err, "unknown state \"don\"; did you mean \"done\"?");
}

static void a_run_is_shown_with_inputs_settings_and_results(void **state)
{
    (void)state;
    make_runs();
    const struct program_result *result = program_run("lab show 1");
    CHECK_EXIT(result, 0);
    static const char *const parts[] = {"Run 1: done\n",
                                        "  tag           slow\n",
                                        "command       orrery lab run",
                                        "unchanged\n",
                                        "bandwidth     25Gbps\n",
                                        "Ranks (8 of 8 finished)",
                                        "  all-reduce                8        1 MiB          8"};
    for (size_t i = 0; i < COUNT_OF(parts); i++) {
        CHECK_CONTAINS(result->out, parts[i]);
    }
    CHECK_CONTAINS(program_run("lab show")->out, "Run 2: done");
    result = program_run("lab show 77");
    CHECK_EXIT(result, 2);
    CHECK_ONE_LINE(result);
    CHECK_CONTAINS(result->err, "there is no run 77; the newest is 2");
    CHECK_EXIT(program_run("lab show 1 --json shown.json"), 0);
    CHECK_CONTAINS(program_read("shown.json", NULL), "\"median_ns\": 357301");
}

static void two_runs_are_compared_and_the_exit_code_tells(void **state)
{
    (void)state;
    make_runs();
    const struct program_result *result = program_run("lab diff 1 2");
    CHECK_EXIT(result, 1);
    CHECK_CONTAINS(result->out, "bandwidth                  1: 25Gbps\n");
    CHECK_CONTAINS(result->out, "simulated time             357.3 us     189.5 us    -46.96%");
    CHECK_CONTAINS(result->out, "Inputs that differ\n  network");
    result = program_run("lab diff 1 1");
    CHECK_EXIT(result, 0);
    CHECK_CONTAINS(result->out, "The simulated results are the same.");
    CHECK(strstr(result->out, "differ") == NULL, "%s", result->out);
    CHECK_CONTAINS(program_run("lab diff 1 2 --json -")->out, "\"total_ns\": [357301, 189525]");
    CHECK_EXIT(program_run("lab diff 1"), 2);
}

static void a_run_done_again_gives_the_same(void **state)
{
    (void)state;
    make_runs();
    CHECK_EXIT(program_run("lab run --workload traces --topology 8gpu_ring2d_4 --store again.db"), 0);
    const struct program_result *result = program_run("lab rerun 1 --store again.db");
    CHECK_EXIT(result, 0);
    CHECK_CONTAINS(result->out, "Run 1 again in /");
    CHECK_CONTAINS(result->out, "The simulated results are the same.");
    CHECK_CONTAINS(program_run("lab list --store again.db")->out, "\n  2  done");
    CHECK_CONTAINS(program_run("lab rerun 1 --dry-run --store again.db")->out, "--topology 8gpu_ring2d_4");
    CHECK(strstr(program_run("lab list --store again.db")->out, "\n  3  ") == NULL, "a dry run runs nothing");
}

static void a_run_whose_input_changed_is_done_again_by_force_only(void **state)
{
    (void)state;
    make_runs();
    CHECK_EXIT(program_run("gen collective --npus 2 -o mine/ar"), 0);
    CHECK_EXIT(program_run("lab run --workload mine --store force.db"), 0);
    CHECK_EXIT(program_run("gen collective --npus 2 --bytes 2MiB -o mine/ar"), 0);
    CHECK_CONTAINS(program_run("lab show --store force.db")->out, "changed\n");
    const struct program_result *result = program_run("lab rerun --store force.db");
    CHECK_EXIT(result, 2);
    CHECK_ONE_LINE(result);
    CHECK_CONTAINS(result->err, "run 1: its workload mine/ar has changed since");
    result = program_run("lab rerun --force --store force.db");
    CHECK_EXIT(result, 1);
    CHECK_CONTAINS(result->err, "warning: run 1: its workload mine/ar has changed since");
    CHECK_CONTAINS(result->out, "The simulated results differ.");
    assert_int_equal(unlink("mine/ar.1.et"), 0);
    result = program_run("lab rerun 1 --store force.db");
    CHECK_EXIT(result, 2);
    CHECK_CONTAINS(result->err, "its workload mine/ar is not there any more");
}

static void tables_go_out_and_come_back_into_another_store(void **state)
{
    (void)state;
    make_runs();
    const struct program_result *result = program_run("lab export --csv out/runs.csv --json out/runs.json --metrics "
                                                      "out/metrics.csv --calibrations out/calibration_all.csv");
    CHECK_EXIT(result, 0);
    CHECK_CONTAINS(result->out, "Wrote out/metrics.csv: 2 runs.\n");
    CHECK_CONTAINS(program_read("out/runs.csv", NULL), "id,state,kind,started");
    CHECK_CONTAINS(program_read("out/runs.json", NULL), "\"calibrations\": []");
    char first[4096];
    (void)snprintf(first, sizeof first, "%s", program_read("out/metrics.csv", NULL));
    CHECK_EXIT(program_run("lab import --store other.db out/metrics.csv"), 0);
    CHECK_CONTAINS(program_run("lab import --store other.db out/metrics.csv")->out, "2 there already");
    CHECK_TEXT(program_run("lab export --store other.db --metrics -")->out, first);
    CHECK_CONTAINS(program_run("lab import out/metrics.csv")->out, "0 runs and 0 calibrations entered, 2 there");
    result = program_run("lab rerun 1 --store other.db");
    CHECK_EXIT(result, 2);
    CHECK_CONTAINS(result->err, "run 1 has no command: it was imported from a table");
}

static const struct {
    const char *line, *error;
} refused[] = {
    {"lab export", "nothing to export"},
    {"lab export --csv runs/orrery.db", "would replace the store"},
    {"lab export --csv a.csv --json a.csv", "both write a.csv"},
    {"lab export --csv - --json -", "only one table can go to standard output"},
    {"lab export --csv /dev/full", "No space left"},
    {"lab export --csv runs", "it is a folder"},
    {"lab import --strict", "missing FILE"},
    {"lab import traces/ar.0.et", "traces/ar.0.et"},
    {"lab import nothing.csv", "No such file"},
    {"lab list --store nothing.db", "nothing.db: cannot be opened: No such file"},
    {"lab list --store traces/ar.0.et", "is not an SQLite database"},
    {"lab list --store traces", "traces"},
    {"lab list --json runs/orrery.db", "would replace the input runs/orrery.db"},
    {"lab list --limit 0", "--limit"},
    {"lab show x", "RUN: \"x\" is not a whole number"},
    {"lab show 1 2", "one run is shown"},
    {"lab diff 1 99", "there is no run 99"},
    {"lab rerun 99", "there is no run 99"},
};

static void what_makes_no_sense_is_refused_in_one_line(void **state)
{
    (void)state;
    make_runs();
    for (size_t i = 0; i < COUNT_OF(refused); i++) {
        const struct program_result *result = program_run(refused[i].line);
        CHECK(result->exit_code == 2 || result->exit_code == 1, "%s ends with %d", refused[i].line, result->exit_code);
        CHECK_ONE_LINE(result);
        CHECK_CONTAINS(result->err, refused[i].error);
    }
    CHECK(!program_exists("nothing.db"), "looking makes no store");
}

static void programs_that_write_at_once_lose_nothing(void **state)
{
    (void)state;
    enum { PROGRAMS = 4, ROUNDS = 2 };
    make_runs();
    for (int round = 0; round < ROUNDS; round++) {
        pid_t started[PROGRAMS];
        for (int i = 0; i < PROGRAMS; i++) {
            started[i] = program_start_to("lab run --workload traces --topology 8gpu_ring2d_4 -o many", "/dev/null");
        }
        for (int i = 0; i < PROGRAMS; i++) {
            CHECK_EXIT(program_wait(started[i]), 0);
        }
    }
    const struct program_result *result = program_run("lab list --state done --store many/orrery.db --json -");
    CHECK_EXIT(result, 0);
    int found = 0;
    for (const char *at = result->out; (at = strstr(at, "\"total_ns\": 357301")) != NULL; at++) {
        found++;
    }
    assert_int_equal(found, PROGRAMS * ROUNDS);
}

/* The run would take minutes; it is killed as soon as it is in the store. */
static void a_killed_run_stays_behind_as_partial(void **state)
{
    (void)state;
    make_runs();
    CHECK_EXIT(program_run("gen collective --type all-to-all --bytes 1GiB --npus 64 -o big/a2a"), 0);
    pid_t victim =
        program_start_to("lab run --workload big --topology 64gpu_fattree_8 --backend packet -o killed", "/dev/null");
    bool entered = false;
    for (int tries = 0; tries < 3000 && !entered; tries++) {
        (void)usleep(10000);
        entered = program_exists("killed/orrery.db") &&
                  strstr(program_run("lab list --store killed/orrery.db")->out, "  1  partial") != NULL;
    }
    CHECK(entered, "the run is in the store while it runs");
    assert_int_equal(kill(victim, SIGKILL), 0);
    CHECK_EXIT(program_wait(victim), 128 + SIGKILL);
    const struct program_result *result = program_run("lab show 1 --store killed/orrery.db");
    CHECK_EXIT(result, 0);
    CHECK_CONTAINS(result->out, "Run 1: partial\n");
    CHECK_CONTAINS(result->out, "unchanged\n");
    CHECK(strstr(result->out, "Results") == NULL, "there are none: %s", result->out);
    CHECK_CONTAINS(program_run("lab export --store killed/orrery.db --csv -")->out, "\n1,partial,lab,");
    CHECK_EXIT(program_run("lab run --workload traces --topology 8gpu_ring2d_4 -o killed"), 0);
    CHECK_CONTAINS(program_run("lab list --store killed/orrery.db")->out, "\n  2  done");
}

TEST_MAIN(a_list_is_filtered_by_what_runs_are, a_run_is_shown_with_inputs_settings_and_results,
          two_runs_are_compared_and_the_exit_code_tells, a_run_done_again_gives_the_same,
          a_run_whose_input_changed_is_done_again_by_force_only, tables_go_out_and_come_back_into_another_store,
          what_makes_no_sense_is_refused_in_one_line, programs_that_write_at_once_lose_nothing,
          a_killed_run_stays_behind_as_partial)
