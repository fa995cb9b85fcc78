/* SPDX-License-Identifier: Apache-2.0 */
/* Sweeps as their users meet them: the same table whatever the threads, nothing lost and nothing twice when the program
 * is killed, failures that are results, and points that give what a single run gives. */
#include "tests/cli/program.h"

#include <signal.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "tests/prng.h"

#define RUN_OPTIONS " -- --workload w/ar --system system.json --network network.yml"

static void prepare(void)
{
    program_enter();
    if (!program_exists("w/ar.0.et")) {
        program_write_machine(8, 4);
        CHECK_EXIT(program_run("gen collective --npus 8 -o w/ar"), 0);
    }
}

/* A copy that survives the next reading. */
static char *read_copy(const char *path)
{
    char *text = strdup(program_read(path, NULL));
    CHECK(text != NULL && text[0] != '\0', "%s is there", path);
    return text;
}

static size_t line_count(const char *text)
{
    size_t lines = 0;
    for (; *text != '\0'; text++) {
        lines += *text == '\n';
    }
    return lines;
}

static void one_thread_and_eight_write_the_same_bytes(void **state)
{
    (void)state;
    prepare();
    static const char points[] =
        " -q --vary network.bandwidth=10..40 --vary jitter=0,0.5 --vary network.npus_count=4,8,9"
        " --store t%d.db --csv t%d.csv --json t%d.json --chart t%d.svg -j %d" RUN_OPTIONS;
    char line[400];
    for (int threads = 1; threads <= 8; threads += 7) {
        (void)snprintf(line, sizeof line, points, threads, threads, threads, threads, threads);
        char words[420];
        (void)snprintf(words, sizeof words, "sweep%s", line);
        CHECK_EXIT(program_run(words), 1); /* there is no trace of a ninth rank */
    }
    char *one = read_copy("t1.csv");
    CHECK_TEXT(program_read("t8.csv", NULL), one);
    CHECK_CONTAINS(program_read("t1.svg", NULL), "the best 20 of 186 points");
    CHECK_U64(line_count(one), 1 + 31 * 2 * 3, "a line a point");
    CHECK_CONTAINS(one, "3,10,0,9,failed,,0,0,0,0,0,0,unaware,w/ar.8.et: cannot be opened");
    free(one);
}

/* "time_ns" of the only line behind the titles. */
static uint64_t time_of(const char *csv, int column)
{
    const char *at = strchr(csv, '\n');
    CHECK(at != NULL, "%s", csv);
    for (int i = 0; i < column && at != NULL; i++) {
        at = strchr(at + 1, ',');
    }
    CHECK(at != NULL, "%s", csv);
    return strtoull(at + 1, NULL, 10);
}

static const struct {
    const char *vary, *run; /* the point, and the options that a single run has for it */
} same[] = {
    {"--vary policy=safe", "--policy safe"},
    {"--vary jitter=0.5 --vary seed=7", "--jitter 0.5 --seed 7"},
    {"--vary rendezvous=true", "--rendezvous"},
    {"--vary backend=aware", "--backend aware"},
    {"--vary network.bandwidth=200 --vary network.latency=100", "--network faster.yml"},
    {"--vary endpoint-delay=25", "--injection-scale 2.5"},
};

static void a_point_gives_what_a_single_run_gives(void **state)
{
    (void)state;
    prepare();
    program_write_text("faster.yml", "topology: [ Ring ]\nnpus_count: [ 8 ]\nbandwidth: [ 200 ]\nlatency: [ 100 ]\n");
    for (size_t i = 0; i < COUNT_OF(same); i++) {
        char line[300];
        int keys = strstr(strchr(same[i].vary, '='), "--vary") != NULL ? 2 : 1;
        (void)snprintf(line, sizeof line, "sweep -q %s --store same.db --csv -" RUN_OPTIONS, same[i].vary);
        const struct program_result *result = program_run(line);
        CHECK_EXIT(result, 0);
        uint64_t swept = time_of(result->out, keys + 3);
        (void)snprintf(line, sizeof line, "run -q --workload w/ar --system system.json --network network.yml %s",
                       same[i].run);
        result = program_run(line);
        CHECK_EXIT(result, 0);
        const char *ns = strchr(result->out, '(');
        CHECK(ns != NULL, "%s", result->out);
        CHECK_U64(swept, strtoull(ns + 1, NULL, 10), "%s", same[i].vary);
    }
}

static void a_lab_point_gives_what_a_lab_run_gives_and_makes_no_folder(void **state)
{
    (void)state;
    prepare();
    static const char *const topologies[] = {"ring", "8gpu_ring2d_4", "fattree", "switch"};
    CHECK_EXIT(program_run("sweep -q --vary topology=ring,8gpu_ring2d_4,fattree,switch --store l.db --csv l.csv"
                           " -- lab run --workload w --bandwidth 50"),
               0);
    CHECK(!program_exists("runs"), "points have no folders");
    char *csv = read_copy("l.csv");
    const char *at = csv;
    for (size_t i = 0; i < COUNT_OF(topologies); i++) {
        char line[200];
        char want[40];
        (void)snprintf(line, sizeof line,
                       "lab run -q --workload w --bandwidth 50 --backend flow --topology %s -o single", topologies[i]);
        CHECK_EXIT(program_run(line), 0);
        (void)snprintf(line, sizeof line, "lab show --store single/orrery.db --json -");
        const char *found = strstr(program_run(line)->out, "\"total_ns\": ");
        CHECK(found != NULL, "the run is in its store");
        (void)snprintf(want, sizeof want, "%llu", strtoull(found + 12, NULL, 10));
        at = strchr(at, '\n') + 1;
        CHECK(time_of(at - 1, 4) == strtoull(want, NULL, 10), "%s: %s in \"%s\"", topologies[i], want, at);
    }
    free(csv);
}

static size_t runs_in(const char *store)
{
    char line[120];
    (void)snprintf(line, sizeof line, "lab export --store %s --csv -", store);
    const struct program_result *result = program_run(line);
    return result->exit_code == 0 ? line_count(result->out) - 1 : 0;
}

/* Enough points that ten kills fall into the work, few enough for a busy machine. */
static void a_sweep_that_is_killed_ten_times_loses_nothing_and_does_nothing_twice(void **state)
{
    (void)state;
    prepare();
    enum { POINTS = 400, KILLS = 10 };
    static const char sweep[] = "sweep -q --vary seed=1..400 --vary system.preferred-dataset-splits=200 --store %s"
                                " --csv %s" RUN_OPTIONS " --jitter 0.3";
    char line[400];
    struct prng prng = {2026};
    size_t kept = 0;
    int fell = 0;
    for (int i = 0; i < KILLS; i++) {
        (void)snprintf(line, sizeof line, sweep, "killed.db", "killed.csv");
        pid_t pid = program_start(line, NULL);
        const struct timespec nap = {.tv_nsec = (long)(10 + prng_below(&prng, 120)) * 1000000};
        (void)nanosleep(&nap, NULL);
        (void)kill(pid, SIGKILL);
        fell += program_wait(pid)->exit_code == 128 + SIGKILL;
        size_t now = runs_in("killed.db");
        CHECK(now >= kept && now <= POINTS, "kill %d: %zu runs, %zu before", i, now, kept);
        kept = now;
    }
    CHECK(fell > 0, "some kill fell into the work");
    (void)snprintf(line, sizeof line, sweep, "killed.db", "killed.csv");
    CHECK_EXIT(program_run(line), 0);
    CHECK_U64(runs_in("killed.db"), POINTS, "each point is one run");
    (void)snprintf(line, sizeof line, sweep, "whole.db", "whole.csv");
    CHECK_EXIT(program_run(line), 0);
    char *whole = read_copy("whole.csv");
    CHECK_TEXT(program_read("killed.csv", NULL), whole);
    CHECK_U64(line_count(whole), 1 + POINTS, "a line a point");
    free(whole);
}

static void a_sweep_that_is_asked_to_stop_keeps_what_has_ended(void **state)
{
    (void)state;
    prepare();
    static const char sweep[] =
        "sweep -q --vary seed=1..2000 --vary system.preferred-dataset-splits=200 --store i.db" RUN_OPTIONS
        " --jitter 0.3";
    pid_t pid = program_start(sweep, NULL);
    const struct timespec nap = {.tv_nsec = 300000000};
    for (int i = 0; i < 100 && access("i.db", F_OK) != 0; i++) { /* slow machines take their time to begin */
        (void)nanosleep(&nap, NULL);
    }
    (void)nanosleep(&nap, NULL);
    (void)kill(pid, SIGTERM);
    const struct program_result *result = program_wait(pid);
    CHECK_EXIT(result, 1);
    CHECK_CONTAINS(result->err, "interrupted; the same command goes on where it was stopped");
    CHECK_CONTAINS(result->out, " not run\n");
    const char *count = strstr(result->out, "2000 points: ");
    CHECK(count != NULL, "%s", result->out);
    size_t done = strtoul(count + strlen("2000 points: "), NULL, 10);
    CHECK_U64(runs_in("i.db"), done, "what the table counts is in the store");
}

static void a_key_that_is_set_for_one_run_is_what_a_point_has(void **state)
{
    (void)state;
    prepare();
    static const char run[] = "run -q --workload w/ar --system system.json --network network.yml ";
    char line[300];
    (void)snprintf(line, sizeof line, "%s%s", run, "--set network.bandwidth=100 --set preferred-dataset-splits=1");
    const struct program_result *result = program_run(line);
    CHECK_EXIT(result, 0);
    uint64_t alone = strtoull(strchr(result->out, '(') + 1, NULL, 10);
    (void)snprintf(line, sizeof line, "%s%s --set network.bandwidth=[100]", run,
                   "--set network.bandwidth=50 --set preferred-dataset-splits=1");
    result = program_run(line);
    CHECK_EXIT(result, 0);
    CHECK_U64(strtoull(strchr(result->out, '(') + 1, NULL, 10), alone, "the last one counts");
    result = program_run("sweep -q --vary bandwidth=100 --store set.db --csv -" RUN_OPTIONS
                         " --set bandwidth=7 --set preferred-dataset-splits=1");
    CHECK_EXIT(result, 0);
    CHECK_U64(time_of(result->out, 4), alone, "what varies goes before what is set");
    static const char *const bad[][2] = {
        {"--set bandwith=1", "--set:1: \"bandwith\" is no key of a configuration file"},
        {"--set CC_MODE=1", "--set:1: \"CC_MODE\" is no key"},
        {"--set bandwidth", "--set: \"bandwidth\" is not KEY=VALUE"},
        {"--set bandwidth=fast", "--set:1: \"bandwidth\": \"fast\""}};
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        (void)snprintf(line, sizeof line, "%s%s", run, bad[i][0]);
        result = program_run(line);
        CHECK_EXIT(result, 2);
        CHECK_ONE_LINE(result);
        CHECK_CONTAINS(result->err, bad[i][1]);
    }
}

static void equal_runs_on_wires_are_equal_wherever_they_lie(void **state)
{
    (void)state;
    prepare();
    program_write_text("topology.txt", "another machine's");
    for (int i = 0; i < 2; i++) {
        CHECK_EXIT(program_run("lab run -q --workload w --topology fattree -o wires"), 0);
    }
    const char *shown = program_run("lab show 1 --store wires/orrery.db")->out;
    char fingerprint[33] = "";
    const char *at = strstr(shown, "fingerprint   ");
    CHECK(at != NULL && sscanf(at, "fingerprint %32s", fingerprint) == 1, "%s", shown);
    CHECK_CONTAINS(program_run("lab show 2 --store wires/orrery.db")->out, fingerprint);
    (void)remove("topology.txt");
    CHECK_EXIT(program_run("run -q --backend flow --workload w/ar --system wires/0001_8gpu_fattree/system.json"
                           " --network wires/0001_8gpu_fattree/config.txt"),
               0);
}

static void the_same_sweep_goes_on_and_another_begins_anew(void **state)
{
    (void)state;
    prepare();
    static const char sweep[] = "sweep -q --vary seed=1,2,3 --store on.db" RUN_OPTIONS;
    CHECK_EXIT(program_run(sweep), 0);
    CHECK_CONTAINS(program_run(sweep)->out, "3 points: 3 done, 0 stalled, 0 failed; 3 of them from the store\n");
    CHECK_U64(runs_in("on.db"), 3, "nothing was run again");
    CHECK_EXIT(program_run("sweep -q --vary seed=1,2,3 --store on.db --point 2,3" RUN_OPTIONS), 0);
    CHECK_U64(runs_in("on.db"), 5, "two were");
    CHECK_EXIT(program_run("sweep -q --vary seed=1,2,3 --store on.db --fresh" RUN_OPTIONS), 0);
    CHECK_U64(runs_in("on.db"), 8, "all three were");
    char *system = read_copy("system.json");
    program_write_machine(8, 8);
    CHECK_EXIT(program_run(sweep), 0);
    CHECK_U64(runs_in("on.db"), 11, "with another system file it is another sweep");
    program_write_text("system.json", system);
    free(system);
    const struct program_result *again = program_run("lab rerun 2 --store on.db");
    CHECK_EXIT(again, 0);
    CHECK_CONTAINS(again->out, "The simulated results are the same.");
}

static void failures_and_stalls_are_listed_and_the_exit_code_tells(void **state)
{
    (void)state;
    prepare();
    CHECK_EXIT(program_run("gen collective --type all-gather --npus 8 -o other"), 0);
    CHECK_EXIT(program_run("gen collective --npus 8 -o w/stall"), 0);
    size_t size = 0;
    const char *trace = program_read("other.3.et", &size);
    program_write("w/stall.3.et", trace, size);
    const struct program_result *result =
        program_run("sweep -q --vary workload=w/stall --vary seed=1,2 --store s.db -- --system system.json"
                    " --network network.yml");
    CHECK_EXIT(result, 4);
    CHECK_CONTAINS(result->out, "Stalled: 2\n  point 1 (workload=w/stall seed=1): ");
    result = program_run("sweep -q --vary workload=w/stall,w/ar --store s.db -- --system system.json"
                         " --network network.yml");
    CHECK_EXIT(result, 0);
    CHECK_CONTAINS(result->out, "2 points: 1 done, 1 stalled, 0 failed\n");
    result = program_run("sweep -q --vary workload=w/none,w/ar --store s.db -- --system system.json"
                         " --network network.yml");
    CHECK_EXIT(result, 1);
    CHECK_CONTAINS(result->out, "Failed: 1\n  point 1 (workload=w/none): w/none.0.et: ");
    CHECK_CONTAINS(result->out, "   1      2      w/ar");
}

static const struct {
    const char *line, *reason;
} refused[] = {
    {"--vary polici=safe", "--vary:1: \"polici\" is no option and no key of a configuration file; did you mean "
                           "\"policy\"?"},
    {"--vary network.bandwith=1", "\"bandwith\" is no key of a network file; did you mean \"bandwidth\"?"},
    {"--vary policy=safe,saef",
     "--vary:1: point 2: --policy: \"saef\" is not one of astra, safe, streams; did you mean \"safe\"?"},
    {"--vary strict=maybe", "--vary:1: point 1: --strict: \"maybe\" is neither true nor false"},
    {"--vary help=true", "--vary:1: \"help\" is no option and no key of a configuration file"},
    {"--vary network.bandwidth=[50,25", "lacks a closing bracket"},
    {"wrong-value.yml", "wrong-value.yml:3: point 1: --jitter: \"much\""},
    {"wrong-name.yml", "wrong-name.yml:2: point 1: unknown option --wrokload; did you mean --workload?"},
    {"--vary timeline=a", "--timeline is for a single run"},
    {"--vary seed=1 --vary seed=2", "\"seed\" varies already"},
    {"--vary seed=1,2 --point 3", "--point: 3 is not between 1 and 2"},
    {"--vary seed=1,2 --by speed", "--by: \"speed\" is not one of time, exposed, comm, compute"},
    {"--vary seed=1 --csv system.json", "system.json is an input of point 1"},
    {"--vary seed=1 --csv w/ar.0.et", "w/ar.0.et is an input of point 1"},
    {"--vary seed=1 --csv a --json a", "both want a"},
    {"no-such.yml", "no-such.yml: "},
    {"--threads 0 --vary seed=1", "--threads: 0 is not between"},
    {"a.yml b.yml", "unexpected argument \"b.yml\""},
    {"", "nothing varies"},
};

static void what_cannot_be_meant_is_refused_before_anything_runs(void **state)
{
    (void)state;
    prepare();
    program_write_text("wrong-value.yml", "options:\n  seed: 1\n  jitter: much\nvary: {policy: safe}\n");
    program_write_text("wrong-name.yml", "options:\n  wrokload: w/ar\nvary: {policy: safe}\n");
    for (size_t i = 0; i < COUNT_OF(refused); i++) {
        char line[300];
        (void)snprintf(line, sizeof line, "sweep %s --store refused.db" RUN_OPTIONS, refused[i].line);
        const struct program_result *result = program_run(line);
        CHECK_EXIT(result, 2);
        CHECK_ONE_LINE(result);
        CHECK_CONTAINS(result->err, refused[i].reason);
    }
    CHECK(!program_exists("refused.db"), "no store was made");
}

/* Words behind the sweep's own. */
static const struct {
    const char *line, *reason;
} refused_points[] = {
    {"--vary seed=1 -- lab run", "point 1: missing --workload"},
    {"--vary seed=1 -- lab run --help", "--help is for a single run"},
    {"--vary seed=1 --csv w/ar.0.et -- lab run --workload w", "w/ar.0.et is an input of point 1"},
    {"--vary seed=1" RUN_OPTIONS " --strict --logging-folder x", "has no effect: no log files are written (an error"},
    {"--vary seed=1 --json tune.json" RUN_OPTIONS " --calibration tune.json", "tune.json is an input of point 1"},
};

static void options_that_no_point_can_have_are_refused_before_anything_runs(void **state)
{
    (void)state;
    prepare();
    program_write_text("tune.json", "{\"format\": \"orrery-calibration-1\", \"accepted\": true, \"launch_us\": 25}");
    for (size_t i = 0; i < COUNT_OF(refused_points); i++) {
        char line[300];
        (void)snprintf(line, sizeof line, "sweep -q --store refused.db %s", refused_points[i].line);
        const struct program_result *result = program_run(line);
        CHECK_EXIT(result, 2);
        CHECK_CONTAINS(result->err, refused_points[i].reason);
    }
    CHECK(!program_exists("refused.db"), "no store was made");
}

static void another_calibration_makes_another_sweep_and_is_an_input_of_its_runs(void **state)
{
    (void)state;
    prepare();
    static const char sweep[] =
        "sweep -q --vary seed=1,2 --store tuned.db --csv tuned.csv" RUN_OPTIONS " --calibration tune.json";
    static const char form[] = "{\"format\": \"orrery-calibration-1\", \"accepted\": true, \"launch_us\": %d}";
    char *before = NULL;
    for (int launch_us = 25; launch_us <= 50; launch_us += 25) {
        char text[100];
        (void)snprintf(text, sizeof text, form, launch_us);
        program_write_text("tune.json", text);
        CHECK_EXIT(program_run(sweep), 0);
        CHECK(before == NULL || strcmp(before, program_read("tuned.csv", NULL)) != 0, "the times are others");
        free(before);
        before = read_copy("tuned.csv");
    }
    free(before);
    CHECK_U64(runs_in("tuned.db"), 4, "all were run again");
    CHECK_CONTAINS(program_run("lab show 1 --store tuned.db")->out, "calibration");
}

/* Each reads what it may: the traces that another point had room for are no help. */
static void a_memory_limit_is_a_point_s_own_whatever_came_before_it(void **state)
{
    (void)state;
    prepare();
    static const char *const orders[] = {"100KB,1GB", "1GB,100KB"};
    for (size_t i = 0; i < COUNT_OF(orders); i++) {
        char line[300];
        (void)snprintf(line, sizeof line, "sweep -q -j1 --store limit%zu.db --vary memory-limit=%s" RUN_OPTIONS, i,
                       orders[i]);
        const struct program_result *result = program_run(line);
        CHECK_EXIT(result, 3);
        CHECK_CONTAINS(result->out, "(memory-limit=100KB): memory limit: reading w/ar.0.et");
        CHECK_CONTAINS(result->out, "1 done, 0 stalled, 1 failed");
    }
}

static void a_strict_point_makes_no_other_strict(void **state)
{
    (void)state;
    prepare();
    CHECK_EXIT(program_run("gen collective --npus 8 -o only/ar"), 0);
    const struct program_result *result =
        program_run("sweep -q --store strict.db --vary strict=true,false -- lab run --workload only --topology"
                    " 16gpu_ring --world-size 8");
    CHECK_EXIT(result, 1);
    CHECK_CONTAINS(result->out, "Failed: 1\n  point 1 (strict=true): --world-size 8 of 8 traces is 8 ranks");
    CHECK_CONTAINS(result->out, "2 points: 1 done, 0 stalled, 1 failed");
}

static void a_file_describes_a_sweep_and_the_command_line_adds_to_it(void **state)
{
    (void)state;
    prepare();
    program_write_text("sweep.yml", "name: chunks\noptions:\n  workload: w/ar\n  system: system.json\n"
                                    "  network-configuration: network.yml\n"
                                    "vary:\n  system.preferred-dataset-splits: [1, 2]\n");
    const struct program_result *result =
        program_run("sweep sweep.yml --vary seed=1,2 --dry-run --store f.db -- --jitter 0.1");
    CHECK_EXIT(result, 0);
    CHECK_TEXT(result->out, "point 1: system.preferred-dataset-splits=1 seed=1\n"
                            "point 2: system.preferred-dataset-splits=1 seed=2\n"
                            "point 3: system.preferred-dataset-splits=2 seed=1\n"
                            "point 4: system.preferred-dataset-splits=2 seed=2\n");
    CHECK(!program_exists("f.db"), "a dry run keeps nothing");
    CHECK_EXIT(program_run("sweep sweep.yml --store f.db -j 1"), 0); /* runs are numbered as they end */
    CHECK_CONTAINS(program_run("lab list --store f.db")->out, "chunks");
    CHECK_CONTAINS(program_run("lab show --store f.db")->out, "system.preferred-dataset-splits  2\n");
}

static void shards_that_are_collected_give_what_one_process_gives(void **state)
{
    (void)state;
    prepare();
    static const char sweep[] = "sweep -q --vary network.bandwidth=10..24 --vary network.npus_count=4,8,9 --vary "
                                "jitter=0,0.5 -j 1 --store %s --csv %s%s" RUN_OPTIONS;
    char line[400];
    char part[40];
    (void)snprintf(line, sizeof line, sweep, "all.db", "all.csv", "");
    CHECK_EXIT(program_run(line), 1);
    for (int shard = 1; shard <= 4; shard++) {
        (void)snprintf(part, sizeof part, " --shard %d/4", shard);
        (void)snprintf(line, sizeof line, sweep, "parts.db", "parts.csv", part);
        CHECK_EXIT(program_run(line), 1);
        CHECK(!program_exists("parts.csv") && !program_exists("parts.db"), "a shard keeps its points for itself");
    }
    /* The last shard is cut as a kill would cut it: nothing of it is believed, and it goes on from there. */
    size_t size = 0;
    const char *bytes = program_read("parts.db.4-of-4.points", &size);
    program_write("parts.db.4-of-4.points", bytes, size - 100);
    (void)snprintf(line, sizeof line, sweep, "parts.db", "parts.csv", " --collect");
    const struct program_result *result = program_run(line);
    CHECK_EXIT(result, 1);
    CHECK_CONTAINS(result->err, "1 of 90 points are in no shard's file; the same command without --collect runs them");
    (void)snprintf(line, sizeof line, sweep, "parts.db", "parts.csv", part);
    (void)program_run(line);
    (void)snprintf(line, sizeof line, sweep, "parts.db", "parts.csv", " --collect");
    CHECK_EXIT(program_run(line), 1); /* there is no trace of a ninth rank */
    char *whole = read_copy("all.csv");
    CHECK_TEXT(program_read("parts.csv", NULL), whole);
    free(whole);
}

static void a_batch_script_has_the_sweep_in_it(void **state)
{
    (void)state;
    prepare();
    CHECK_EXIT(program_run("sweep --slurm job.sh --slurm-tasks 4 --vary network.bandwidth=10..24" RUN_OPTIONS), 0);
    const char *script = program_read("job.sh", NULL);
    CHECK_CONTAINS(script, "#SBATCH --array=1-4\n");
    CHECK_CONTAINS(script, "exec orrery sweep --shard \"$SLURM_ARRAY_TASK_ID/4\" --threads 1 --vary "
                           "network.bandwidth=10..24 -- --workload w/ar");
    CHECK_CONTAINS(script, "exec orrery sweep --collect --vary network.bandwidth=10..24 -- --workload w/ar");
    CHECK_EXIT(program_run("sweep --slurm job.sh --slurm-form mpi --vary network.bandwidth=10..24 -j 3" RUN_OPTIONS),
               0);
    script = program_read("job.sh", NULL);
    CHECK_CONTAINS(script, "#SBATCH --ntasks=15\n");
    CHECK_CONTAINS(script, "#SBATCH --cpus-per-task=3\n");
    CHECK_CONTAINS(script, "exec mpirun orrery sweep --vary network.bandwidth=10..24 -j 3 -- --workload w/ar");
    CHECK_CONTAINS(program_run("sweep --vary seed=1,2 --shard 3" RUN_OPTIONS)->err, "--shard: \"3\" is not K/N");
    CHECK_CONTAINS(program_run("sweep --vary seed=1,2 --shard 3/2" RUN_OPTIONS)->err,
                   "--shard: 3 is not between 1 and 2");
    CHECK_CONTAINS(program_run("sweep --vary seed=1,2 --shard 1/2 --collect" RUN_OPTIONS)->err,
                   "cannot be run and collected at once");
}

TEST_MAIN(one_thread_and_eight_write_the_same_bytes, a_point_gives_what_a_single_run_gives,
          a_lab_point_gives_what_a_lab_run_gives_and_makes_no_folder,
          a_sweep_that_is_killed_ten_times_loses_nothing_and_does_nothing_twice,
          a_sweep_that_is_asked_to_stop_keeps_what_has_ended, a_key_that_is_set_for_one_run_is_what_a_point_has,
          equal_runs_on_wires_are_equal_wherever_they_lie, the_same_sweep_goes_on_and_another_begins_anew,
          failures_and_stalls_are_listed_and_the_exit_code_tells, what_cannot_be_meant_is_refused_before_anything_runs,
          options_that_no_point_can_have_are_refused_before_anything_runs,
          another_calibration_makes_another_sweep_and_is_an_input_of_its_runs,
          a_memory_limit_is_a_point_s_own_whatever_came_before_it, a_strict_point_makes_no_other_strict,
          a_file_describes_a_sweep_and_the_command_line_adds_to_it,
          shards_that_are_collected_give_what_one_process_gives, a_batch_script_has_the_sweep_in_it)
