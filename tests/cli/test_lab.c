/* SPDX-License-Identifier: Apache-2.0 */
/* `orrery lab run` as a user meets it: the commands that people were promised, machines by name, sizes that fit and
 * sizes that do not, and runs that can be repeated from what they left behind. */
#include "tests/cli/program.h"

#include <dirent.h>
#include <math.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* recording/: a step of two ranks; traces/job: the same, imported. */
static void enter(void)
{
    program_enter();
    if (program_exists("traces/job.0.et")) {
        return;
    }
    const char *data = getenv("ORRERY_DATA");
    char line[4200];
    CHECK(data != NULL, "ORRERY_DATA is set");
    (void)snprintf(line, sizeof line, "cp -r '%s/cifar10_gloo' recording", data);
    CHECK(system(line) == 0, "%s", line);
    CHECK_EXIT(program_run("trace import recording -o traces/job"), 0);
}

/* The text behind `label` in what was printed, to the end of the line. */
static const char *line_of(const struct program_result *result, const char *label)
{
    static char text[2000];
    const char *at = strstr(result->out, label);
    CHECK(at != NULL, "\"%s\" is not in: %s", label, result->out);
    at += strlen(label);
    at += strspn(at, " ");
    (void)snprintf(text, sizeof text, "%.*s", (int)strcspn(at, "\n"), at);
    return text;
}

static uint64_t time_of(const struct program_result *result)
{
    const char *text = strchr(line_of(result, "Step time"), '(');
    return text == NULL ? 0 : strtoull(text + 1, NULL, 10);
}

static unsigned folders_in(const char *path)
{
    unsigned count = 0;
    DIR *folder = opendir(path);
    for (const struct dirent *entry = folder == NULL ? NULL : readdir(folder); entry != NULL; entry = readdir(folder)) {
        count += entry->d_name[0] >= '0' && entry->d_name[0] <= '9';
    }
    if (folder != NULL) {
        (void)closedir(folder);
    }
    return count;
}

static void compute_times_can_be_forced_as_in_run(void **state)
{
    (void)state;
    enter();
    const struct program_result *result = program_run("lab run --workload traces --topology 2gpu_ring --output-dir "
                                                      "forced --force-avg-kernel-ns 609000");
    CHECK_EXIT(result, 0);
    CHECK_CONTAINS(result->out, "--comp-source forced --force-avg-kernel-ns 609000");
    uint64_t forced = time_of(result);
    CHECK(forced > 50 * UINT64_C(609000), "dozens of kernels on one stream: %llu ns", (unsigned long long)forced);
    char repeat[2000];
    (void)snprintf(repeat, sizeof repeat, "%s", line_of(result, "Repeat") + strlen("orrery "));
    CHECK_U64(time_of(program_run(repeat)), forced, "repeated");
    result = program_run("lab run --workload traces --topology 2gpu_ring --output-dir forced --force-avg-kernel-ns "
                         "609000 --devices 1=x2");
    CHECK_EXIT(result, 0);
    CHECK_CONTAINS(result->out, "--devices 1=x2");
    uint64_t slower = time_of(result);
    CHECK(slower > forced, "one rank's device is slower: %llu ns", (unsigned long long)slower);
    (void)snprintf(repeat, sizeof repeat, "%s", line_of(result, "Repeat") + strlen("orrery "));
    CHECK_U64(time_of(program_run(repeat)), slower, "repeated with its devices");
    result = program_run("lab run --workload traces --comp-source duration --default-gpu-freq 2000");
    CHECK_EXIT(result, 2);
    CHECK_CONTAINS(result->err, "--default-gpu-freq has no effect");
}

static void a_run_s_folder_has_its_row_its_calibrations_and_astra_sims_lines(void **state)
{
    (void)state;
    enter();
    CHECK_EXIT(
        program_run("lab run --workload traces --topology 2gpu_ring --output-dir kept --bandwidth 100 --latency 2"), 0);
    const char *table = program_read("kept/0001_2gpu_ring/metrics.csv", NULL);
    CHECK_CONTAINS(table, "sim_t_comm_ms_comm,unaware_comm_ms,unaware_rel_err_comm,");
    CHECK_CONTAINS(table, ",none,none,none,none,localBWAware,540,");
    CHECK_CONTAINS(table, "/kept/0001_2gpu_ring,");
    CHECK_CONTAINS(program_read("kept/0001_2gpu_ring/calibration_all.csv", NULL), "calib_id");
    CHECK_CONTAINS(program_read("kept/0001_2gpu_ring/stdout.log", NULL), "sys[1] finished,");
    CHECK_EXIT(program_run("lab run --workload traces --topology 2gpu_ring --output-dir kept --backend packet"), 0);
    table = program_read("kept/0002_2gpu_ring/metrics.csv", NULL);
    CHECK_CONTAINS(table, ",ns3_comm_ms,");
    CHECK_CONTAINS(table, ",1,1,32,4096,localBWAware,540,");
    CHECK_CONTAINS(program_run("lab export --store kept/orrery.db --metrics -")->out, ",net_comm_ms,net_rel_err_comm,");
}

static void the_first_promised_command_runs_from_the_recording(void **state)
{
    (void)state;
    enter();
    const struct program_result *result =
        program_run("lab run --workload recording --topology 2gpu_auto1d_2 --bandwidth 25 --latency 1 --output-dir "
                    "first/");
    CHECK_EXIT(result, 0);
    CHECK_CONTAINS(result->out, "recording: 2 traces, 1 step\n");
    CHECK_CONTAINS(result->out, "2gpu_auto1d_2: 2 ranks in 2, 25Gbps, 1us; unaware network\n");
    CHECK(time_of(result) > 0, "a step takes time");
    CHECK(program_exists("first/0001_2gpu_auto1d_2/traces/job.1.et"), "the traces are in the run's folder");
    const char *manifest = program_read("first/0001_2gpu_auto1d_2/manifest.json", NULL);
    CHECK_CONTAINS(manifest, "\"bandwidth\": \"25Gbps\"");
    CHECK_CONTAINS(manifest, "\"latency\": \"1us\"");
    CHECK_CONTAINS(manifest, "\"command\": \"orrery lab run --workload recording --topology 2gpu_auto1d_2");
    CHECK_CONTAINS(manifest, "\"role\": \"workload\"");
}

static void the_second_promised_command_is_told_how_to_grow(void **state)
{
    (void)state;
    enter();
    const struct program_result *result =
        program_run("lab run --workload traces --topology 8gpu_ring2d_4 --bandwidth 100 --latency 0.5 -o second");
    CHECK_EXIT(result, 2);
    CHECK_ONE_LINE(result);
    CHECK_CONTAINS(result->err, "--machine: it has 8 ranks, and there are 2 traces");
    CHECK_CONTAINS(result->err, "a machine of 2 fits, or --virtual-scale 4 or --world-size 8");
    CHECK(!program_exists("second"), "nothing was made");
    result = program_run("lab run --workload traces --topology 8gpu_ring2d_4 --bandwidth 100 --latency 0.5 -o second "
                         "--world-size 8");
    CHECK_EXIT(result, 0);
    CHECK_CONTAINS(result->out, "8 ranks in 4x2, 100Gbps, 0.5us; unaware network\n");
    CHECK_CONTAINS(result->out, "2 -> 8 ranks (4x), weak");
    CHECK_CONTAINS(program_read("second/0001_8gpu_ring2d_4/network.yml", NULL), "npus_count: [4, 2]\n");
}

static void the_topology_has_the_last_word_on_the_size_unless_strict(void **state)
{
    (void)state;
    enter();
    const struct program_result *result =
        program_run("lab run --workload traces --topology 128gpu_torus3d_16 --virtual-scale 16 -o third");
    CHECK_EXIT(result, 0);
    CHECK_CONTAINS(result->err, "--virtual-scale 16 of 2 traces is 32 ranks, and the topology has 128");
    CHECK_CONTAINS(result->out, "128 ranks in 4x4x8");
    CHECK_CONTAINS(result->out, "2 -> 128 ranks (64x)");
    result = program_run("lab run --workload traces --topology 128gpu_torus3d_16 --virtual-scale 16 -o third --strict");
    CHECK_EXIT(result, 2);
    CHECK_CONTAINS(result->err, "(--strict)");
    CHECK_EXIT(program_run("lab run -w traces --topology 128gpu_torus3d_16 --virtual-scale 64 -o third --strict"), 0);
}

static void a_recorded_step_grows_to_a_thousand_ranks(void **state)
{
    (void)state;
    enter();
    static const unsigned sizes[] = {2, 8, 128, 1024};
    for (size_t i = 0; i < COUNT_OF(sizes); i++) {
        char line[120];
        char says[40];
        (void)snprintf(line, sizeof line, "lab run -w traces --topology auto:3d --world-size %u -o grown", sizes[i]);
        const struct program_result *result = program_run(line);
        CHECK_EXIT(result, 0);
        (void)snprintf(says, sizeof says, ": %u ranks in ", sizes[i]);
        CHECK_CONTAINS(result->out, says);
    }
    CHECK_U64(folders_in("grown"), 4, "each run has its folder");
}

static void every_kind_of_machine_runs_and_repeats_itself(void **state)
{
    (void)state;
    enter();
    static const struct {
        const char *topology, *options;
    } cases[] = {
        {"ring", ""},
        {"ring2d", ""},
        {"mesh2d", ""},
        {"torus2d", "--backend aware"},
        {"torus3d", "--jitter 0.25 --seed 7"},
        {"ttorus3d", ""},
        {"fattree", ""},
        {"16gpu_fattree_4", "--backend packet"},
        {"switch", "--backend auto"},
        {"fc", "--strong --comm-scale 15/8"},
        {"torus2d", "--backend flow --bandwidth 25,65 --latency 5us,14us"},
        {"16gpu_torus2d_8x2", "--backend packet"},
        {"dims:4x4", "--parallel tp:2,dp:1 --policy astra"},
    };
    CHECK_EXIT(program_run("gen collective --type all-reduce --bytes 1MiB --npus 2 -o pair/ar"), 0);
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        char line[2100];
        (void)snprintf(line, sizeof line, "lab run -w pair --world-size 16 -o kinds --topology %s %s",
                       cases[i].topology, cases[i].options);
        const struct program_result *result = program_run(line);
        CHECK_EXIT(result, 0);
        CHECK(result->err[0] == '\0', "%s: %s", line, result->err);
        uint64_t time = time_of(result);
        (void)snprintf(line, sizeof line, "%s", line_of(result, "Repeat") + strlen("orrery "));
        result = program_run(line);
        CHECK_EXIT(result, 0);
        CHECK_U64(time_of(result), time, "%s, run again by %s", cases[i].topology, line);
    }
}

static void a_collective_takes_half_the_time_on_twice_the_bandwidth(void **state)
{
    (void)state;
    enter();
    double time[3];
    CHECK_EXIT(program_run("gen collective --type all-reduce --bytes 64MiB --npus 4 -o one/ar"), 0);
    for (unsigned i = 0; i < 3; i++) {
        char line[120];
        (void)snprintf(line, sizeof line, "lab run -w one --bandwidth %u --latency 0 -o linear", 25u << i);
        const struct program_result *result = program_run(line);
        CHECK_EXIT(result, 0);
        time[i] = (double)time_of(result);
    }
    /* What does not depend on the bandwidth (endpoints, memory) drops out of the differences. */
    double ratio = (time[0] - time[1]) / (time[1] - time[2]);
    CHECK(fabs(ratio - 2) < 1e-3, "the differences have the ratio %f", ratio);
    double wire = 2 * (time[0] - time[1]); /* of the first */
    double bound = 2.0 * 3 / 4 * 64 * 1048576 * 8 / 25;
    CHECK(fabs(wire / bound - 1) < 1e-3, "2(N-1)/N of the bytes at 25 Gbps are %f ns, not %f", bound, wire);
}

static void a_user_s_own_files_are_taken(void **state)
{
    (void)state;
    enter();
    CHECK_EXIT(program_run("topo make single-switch --hosts 2 --bandwidth 65Gbps --latency 14us -o pair.topo"), 0);
    const struct program_result *result = program_run("lab run -w traces --topology pair.topo -o own");
    CHECK_EXIT(result, 0);
    CHECK(result->err[0] == '\0', "no warning: %s", result->err);
    CHECK_CONTAINS(result->out, "2gpu_file_pair: 2 ranks in 2; flow network");
    program_write_machine(2, 4);
    result = program_run("lab run -w traces --topology network.yml --system system.json -o own --tag mine");
    CHECK_EXIT(result, 0);
    CHECK_CONTAINS(result->out, "own/0002_mine_2gpu_file_network: ");
    CHECK(!program_exists("own/0002_mine_2gpu_file_network/system.json"), "the user's own system file is enough");
    result = program_run("lab run -w traces --topology network.yml --bandwidth 25 -o own");
    CHECK_EXIT(result, 2);
    CHECK_CONTAINS(result->err, "--bandwidth: network.yml says it");
    result = program_run("lab run -w traces --topology network.yml --backend packet -o own");
    CHECK_EXIT(result, 2);
    CHECK_CONTAINS(result->err, "packet needs a physical topology");
}

static void the_traces_of_a_folder_are_found(void **state)
{
    (void)state;
    enter();
    CHECK_EXIT(program_run("gen collective --npus 2 -o several/a"), 0);
    CHECK_EXIT(program_run("gen collective --npus 3 -o several/b.c"), 0);
    const struct program_result *result = program_run("lab run -w several -o found");
    CHECK_EXIT(result, 2);
    CHECK_CONTAINS(result->err, "traces of several jobs are there (a, b.c); --prefix chooses one");
    result = program_run("lab run -w several --prefix b.c -o found");
    CHECK_EXIT(result, 0);
    CHECK_CONTAINS(result->out, "several: 3 traces\n");
    CHECK_EXIT(program_run("lab run -w several/a -o found"), 0);
    CHECK(unlink("several/b.c.1.et") == 0, "a hole in the row");
    result = program_run("lab run -w several --prefix b.c -o found");
    CHECK_EXIT(result, 2);
    CHECK_CONTAINS(result->err, "several/b.c.1.et: no such file, but there is a trace of rank 2");
    CHECK(mkdir("nothing", 0777) == 0, "an empty folder");
    result = program_run("lab run -w nothing -o found");
    CHECK_EXIT(result, 2);
    CHECK_CONTAINS(result->err, "no traces (PREFIX.R.et) in nothing, and as a recording: ");
}

static void what_contradicts_itself_is_refused_and_leaves_nothing(void **state)
{
    (void)state;
    enter();
    static const struct {
        const char *options, *says;
    } cases[] = {
        {"", "missing --workload"},
        {"-w missing", "missing.0.et: no such file"},
        {"-w traces --virtual-scale 2 --world-size 4", "both say how many ranks; give one"},
        {"-w traces --topology 8gpu_rign_8", "did you mean \"ring\"?"},
        {"-w traces --bandwidth 25,50", "2 values, where the machine has 1 dimension"},
        {"-w traces --bandwidth 0", "a rate of 0 moves nothing"},
        {"-w traces --bandwidth 25us", "--bandwidth: "},
        {"-w traces --tag a/b", "becomes part of a folder's name"},
        {"-w traces --virtual-scale 2147483647", "more than 2147483647 ranks"},
        {"-w traces --backend fast", "is not one of unaware, aware, packet, flow, auto"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        char line[160];
        (void)snprintf(line, sizeof line, "lab run %s -o refused", cases[i].options);
        const struct program_result *result = program_run(line);
        CHECK_EXIT(result, 2);
        CHECK_CONTAINS(result->err, cases[i].says);
        CHECK(!program_exists("refused"), "%s made nothing", line);
    }
}

static void a_refused_import_leaves_no_folder(void **state)
{
    (void)state;
    enter();
    CHECK(system("mkdir -p broken && cp recording/* broken && echo '{' > broken/host_0.json && rm -f "
                 "broken/host_0.json.gz") == 0,
          "set-up");
    CHECK_EXIT(program_run("lab run -w broken -o partly"), 2);
    CHECK_U64(folders_in("partly"), 0, "folders of runs");
}

/* Which of several ranks grows is the user's to say. */
static void a_job_that_cannot_grow_so_is_refused_and_kept_as_failed(void **state)
{
    (void)state;
    enter();
    const struct program_result *result =
        program_run("lab run -w traces --topology auto:1d --world-size 7 --parallel tp:2,dp:1 -o failed");
    CHECK_EXIT(result, 2);
    CHECK_CONTAINS(result->err, "every replica has 2 ranks, so 6 or 8 would fit");
    CHECK_CONTAINS(program_read("failed/0001_7gpu_auto1d_7/manifest.json", NULL), "\"state\": \"failed\"");
}

static void one_ring_is_the_machine_of_no_more_than_64_ranks(void **state)
{
    (void)state;
    enter();
    const struct program_result *result = program_run("lab run -w traces --world-size 64 -o chosen");
    CHECK_EXIT(result, 0);
    CHECK_CONTAINS(result->out, "64gpu_auto1d_64: 64 ranks in 64");
    result = program_run("lab run -w traces --virtual-scale 64 -o chosen");
    CHECK_EXIT(result, 0);
    CHECK_CONTAINS(result->out, "128gpu_auto3d_4x4x8: 128 ranks in 4x4x8");
}

static void a_run_that_stalls_is_kept_as_such(void **state)
{
    (void)state;
    enter();
    CHECK_EXIT(program_run("gen three-node --npus 2 -o short/a"), 0);
    CHECK_EXIT(program_run("gen collective --npus 2 -o other/b"), 0);
    CHECK(rename("other/b.1.et", "short/a.1.et") == 0, "rank 1 leaves out what rank 0 waits for");
    const struct program_result *result = program_run("lab run -w short -o stalled");
    CHECK_EXIT(result, 4);
    CHECK_CONTAINS(result->err, "rank 1 never joins");
    CHECK_CONTAINS(result->out, "with 1 of 2 ranks finished");
    CHECK_CONTAINS(program_read("stalled/0001_2gpu_auto1d_2/manifest.json", NULL), "\"state\": \"stalled\"");
    CHECK_CONTAINS(program_read("stalled/0001_2gpu_auto1d_2/summary.txt", NULL), "Fix: ");
}

TEST_MAIN(compute_times_can_be_forced_as_in_run, a_run_s_folder_has_its_row_its_calibrations_and_astra_sims_lines,
          the_first_promised_command_runs_from_the_recording, the_second_promised_command_is_told_how_to_grow,
          the_topology_has_the_last_word_on_the_size_unless_strict, a_recorded_step_grows_to_a_thousand_ranks,
          every_kind_of_machine_runs_and_repeats_itself, a_collective_takes_half_the_time_on_twice_the_bandwidth,
          a_user_s_own_files_are_taken, the_traces_of_a_folder_are_found,
          what_contradicts_itself_is_refused_and_leaves_nothing, a_refused_import_leaves_no_folder,
          a_job_that_cannot_grow_so_is_refused_and_kept_as_failed, one_ring_is_the_machine_of_no_more_than_64_ranks,
          a_run_that_stalls_is_kept_as_such)
