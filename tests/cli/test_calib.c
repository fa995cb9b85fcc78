/* SPDX-License-Identifier: Apache-2.0 */
/* `orrery calib` and the calibrated runs as a user meets them: bare numbers, a run of the store, files that are made
 * and used, and what is refused. */
#include "tests/cli/program.h"

#include <stdlib.h>

#define PUBLISHED                                                                                                      \
    "calib fit --real-step-ms 662.92 --real-comm-ms 7.54 --sim-wall 274982000 --sim-steps 2 --comm-bytes 94083368 "    \
    "--ranks 2 --bandwidth 65Gbps"

/* recording/: a step of two ranks; its run is number 1 of runs/orrery.db. */
static void enter(void)
{
    program_enter();
    if (program_exists("recording")) {
        return;
    }
    const char *data = getenv("ORRERY_DATA");
    char line[4200];
    CHECK(data != NULL, "ORRERY_DATA is set");
    (void)snprintf(line, sizeof line, "cp -r '%s/cifar10_gloo' recording && cp -r '%s/cifar10_sync' sync", data, data);
    CHECK(system(line) == 0, "%s", line);
    CHECK_EXIT(program_run("lab run --workload recording --topology 2gpu_auto1d_2"), 0);
}

static void the_published_numbers_come_out_as_the_corrected_arithmetic_says(void **state)
{
    (void)state;
    enter();
    const struct program_result *result = program_run(PUBLISHED " --collectives 5 --launch-overhead 25");
    CHECK_EXIT(result, 0);
    CHECK_CONTAINS(result->out, "Simulated   137.491 ms a step: 274.982 ms for 2 steps\n");
    CHECK_CONTAINS(result->out, "Alpha       4.821552 (0.0048216 us a cycle)\n");
    CHECK_CONTAINS(result->out, "Lower bound 11.579 ms a step: 94083368 B over a link at 65 Gbps\n");
    CHECK_CONTAINS(result->out, "configured bandwidth is lower than the bandwidth the trace achieved: 65 Gbps against "
                                "99.823 Gbps");
    CHECK_CONTAINS(result->out, "Launching: 5 collectives x 25 us = 125.0 us a step");
    CHECK_CONTAINS(result->out, "Verdict     refused: samples: 1, where at least 3 is wanted\n");
    CHECK(!program_exists("runs/orrery.db-journal"), "no store is touched");
}

static void rank_0_predicts_rank_1_of_a_recording(void **state)
{
    (void)state;
    enter();
    const struct program_result *result =
        program_run("calib fit --run 1 --rank 0 recording/device_0.json.gz recording/device_1.json.gz "
                    "recording/training_0.json -m recording/training_1.json -o calib.json");
    CHECK_EXIT(result, 0);
    CHECK_CONTAINS(result->out, "Measured    9.415 ms a step under the profiler, 1 sample\n");
    CHECK_CONTAINS(result->out, "            4.162 ms without it, 1 sample\n");
    CHECK_CONTAINS(result->out, "error on other ranks      below 0.05                0.0089");
    CHECK_CONTAINS(result->out, "are predicted to within 2.0%.\n");
    CHECK_EXIT(program_run("calib show calib.json"), 0);
    CHECK_EXIT(program_run("calib show"), 0);
    CHECK_CONTAINS(program_run("calib show")->out, "9.415");
    CHECK_CONTAINS(program_run("calib show --json -")->out, "\"accepted\": false");
    static const char *const keys[] = {"\"calibration\": 1", "\"alpha_us\"", "\"iqr\"", "\"world\""};
    for (size_t i = 0; i < COUNT_OF(keys); i++) { /* one row, one form, wherever it is shown */
        CHECK_CONTAINS(program_run("calib show --json -")->out, keys[i]);
        CHECK_CONTAINS(program_run("lab export --json -")->out, keys[i]);
    }
    CHECK_CONTAINS(program_run("lab show 1")->out, "alibration");
}

static void steps_that_disagree_are_refused_unless_told(void **state)
{
    (void)state;
    enter();
    const struct program_result *result = program_run("calib fit --run 1 sync/device_0.json.gz");
    CHECK_EXIT(result, 2);
    CHECK_ONE_LINE(result);
    CHECK_CONTAINS(result->err, "the recordings hold 2 steps and the simulated traces 1");
    CHECK_EXIT(program_run("calib fit --run 1 sync/device_0.json.gz sync/training_0.json sync/gpu_metrics_0.json "
                           "--steps 1"),
               0);
    result = program_run("calib fit --real-step-ms 3 --sim-wall 5");
    CHECK_EXIT(result, 2);
    CHECK_CONTAINS(result->err, "--steps N says it");
}

static const struct {
    const char *line, *says;
} mistakes[] = {
    {"calib fit --run 1", "nothing to fit"},
    {"calib fit --real-step-ms 3", "no simulated time"},
    {"calib fit --real-step-ms 0 --sim-wall 3", "milliseconds above 0"},
    {"calib fit --real-step-ms 3 --sim-wall 5 --run 1", "give one"},
    {"calib fit --run 99 --real-step-ms 3", "99"},
    {"calib fit --real-step-ms 3 --sim-wall 5 --sim-steps 1 --comm-bytes 9", "--ranks N"},
    {"calib fit --real-step-ms 3 --sim-wall 5 --sim-steps 1 --bandwidth 0", "moves nothing"},
    {"calib fit --run 1 none.json", "none.json"},
    {"calib fit --real-step-ms 3 --sim-wall 5 --sim-steps 1 --hops 2", "--hops says nothing without --bench FILE"},
    {"calib fit --real-step-ms 3 --sim-wall 5 --sim-steps 1 --untraced", "--untraced says nothing without --measured"},
    {"calib fit --real-step-ms 3 --run 1 --sim-comm 4", "--sim-comm says nothing without --sim-wall NS"},
    {"calib fit --bench none.txt --real-comm-ms 4", "--real-comm-ms says nothing without a measured step"},
    {"calib fit --bench none.txt --run 1", "--run says nothing without a measured step"},
    {"calib fit --real-step-ms 1e300 --sim-wall 5 --sim-steps 1", "to a year is"},
    {"calib fit --real-step-ms 3 --sim-wall 5 --sim-steps 6", "less than a nanosecond"},
    {"calib fit --run 1 recording/training_0.json recording/../recording/training_0.json", "is given twice"},
    {"lab run --workload sync --world-size 8 --auto-calibrate", "the trace of one rank"},
    {"calib fit --run 1 recording/host_0.json.gz", "has no step times"},
    {"calib fit --run 1 recording/training_0.json -o recording/training_0.json", "would replace"},
    {"calib show none.json", "none.json"},
    {"calib show recording/training_0.json", "is no calibration"},
    {"calib apply calib.json", "--output DIR"},
    {"run --calibration recording/training_0.json -w a -s b -n c", "is no calibration"},
    {"lab run --workload recording --calibration none.json", "none.json"},
    {"lab run --workload recording --auto-calibrate --trace-dir runs", "--trace-dir DIR says where"},
    {"lab run --workload recording --auto-calibrate --calibration x.json", "give one of them"},
};

static void a_mistake_is_answered_in_one_line(void **state)
{
    (void)state;
    enter();
    for (size_t i = 0; i < COUNT_OF(mistakes); i++) {
        const struct program_result *result = program_run(mistakes[i].line);
        CHECK_EXIT(result, 2);
        CHECK_ONE_LINE(result);
        CHECK_CONTAINS(result->err, mistakes[i].says);
    }
}

#define FORMAT "{\"format\": \"orrery-calibration-1\", \"accepted\": true, "

static void fitted_links_and_memory_go_into_copies_of_a_machine(void **state)
{
    (void)state;
    enter();
    program_write_machine(8, 4);
    program_write_text("link.json", FORMAT "\"link_gbps\": 65.5, \"link_latency_us\": 12.5, "
                                           "\"local_memory_gbytes_per_s\": 540.849}");
    program_write_text("two.yml", "topology: [Ring, Switch]\nnpus_count: [2, 4]\nbandwidth: [50, 25]\n"
                                  "latency: [500, 700]\n");
    program_write_text("wires.txt", "3 1 2\n2\n0 2 400Gbps 1us 0\n1 2  100Gbps  0.001ms 0 \n");
    CHECK_EXIT(program_run("calib apply link.json -s system.json -n two.yml --dims 1 -o applied"), 0);
    CHECK_TEXT(program_read("applied/two.yml", NULL),
               "topology: [Ring, Switch]\nnpus_count: [2, 4]\nbandwidth: [50, 65.5Gbps]\nlatency: [500, 12.5us]\n");
    CHECK_CONTAINS(program_read("applied/system.json", NULL), "\"local-mem-bw\": 540.849");
    CHECK_EXIT(program_run("calib apply link.json -n wires.txt -o applied"), 0);
    CHECK_TEXT(program_read("applied/wires.txt", NULL), "3 1 2\n2\n0 2 65.5Gbps 12.5us 0\n1 2  65.5Gbps 12.5us 0 \n");
    program_write_text("empty.json", "{ }");
    CHECK_EXIT(program_run("calib apply link.json -s empty.json -o applied"), 0);
    CHECK_TEXT(program_read("applied/empty.json", NULL), "{\n  \"local-mem-bw\": 540.849\n }");
    program_write_text("huge.json", FORMAT "\"link_gbps\": 1e30, \"link_latency_us\": 1e30}");
    CHECK_EXIT(program_run("calib apply huge.json -n wires.txt -o applied"), 0);
    const struct program_result *result = program_run("calib apply link.json -n two.yml -o .");
    CHECK_EXIT(result, 2);
    CHECK_CONTAINS(result->err, "would replace the file that it is made of");
    result = program_run("calib apply link.json -n two.yml --dims 2 -o applied");
    CHECK_EXIT(result, 2);
    CHECK_CONTAINS(result->err, "the network has 2");
}

static void a_machine_by_name_gets_the_fitted_link(void **state)
{
    (void)state;
    enter();
    program_write_text("link.json", FORMAT "\"link_gbps\": 65.5, \"link_latency_us\": 12.5}");
    CHECK_EXIT(program_run("calib apply link.json --machine ring:8 -o ring"), 0);
    CHECK_TEXT(program_read("ring/network.yml", NULL),
               "topology: [Ring]\nnpus_count: [8]\nbandwidth: [65.5Gbps]\nlatency: [12.5us]\n");
    CHECK_EXIT(program_run("calib apply link.json --machine dgx-h100:2 --dims 1 -o dgx"), 0);
    CHECK_CONTAINS(program_read("dgx/network.yml", NULL), "bandwidth: [419.09515857696533, 65.5Gbps]\n");
    CHECK_EXIT(program_run("calib apply link.json --machine 16gpu_fattree_4 -o tree"), 0);
    CHECK_CONTAINS(program_read("tree/topology.txt", NULL), "\n0 16 65.5Gbps 12.5us 0\n");
    CHECK_CONTAINS(program_read("tree/config.txt", NULL), "KMAX_MAP 1 65500000000 ");
    CHECK_EXIT(program_run("gen collective --npus 16 -o sixteen"), 0);
    CHECK_EXIT(program_run("run -q --strict -w sixteen -s tree/system.json -n tree/config.txt --backend flow"), 0);
    static const char *const wrong[][2] = {
        {"calib apply link.json --machine dgx-h100:2 -o x", "have several rates; --dims says which dimensions"},
        {"calib apply link.json --machine ring -o x", "ring leaves open how many ranks it has"},
        {"calib apply link.json --machine ring:8 -n two.yml -o x", "both say what the machine is"},
        {"calib apply link.json -n link.json -o x", "link.json: this is a calibration (JSON), which --calibration"},
        {"calib fit --machine ring --real-step-ms 5", "ring leaves open how many ranks it has; --ranks N says it"},
        {"calib fit --machine ring:8 --ranks 4 --real-step-ms 5", "--ranks 4: ring:8 has 8"},
        {"calib fit --machine dgx-h100:2 --bandwidth 5 --real-step-ms 5", "--bandwidth: dgx-h100:2 says it"},
    };
    for (size_t i = 0; i < COUNT_OF(wrong); i++) {
        const struct program_result *result = program_run(wrong[i][0]);
        CHECK_EXIT(result, 2);
        CHECK_CONTAINS(result->err, wrong[i][1]);
    }
    const struct program_result *result =
        program_run("calib fit --machine torus:4x2 --bandwidth 10,30 --real-step-ms 5 --sim-wall 4000000 "
                    "--sim-steps 1 --comm-bytes 1MiB");
    CHECK_EXIT(result, 0);
    CHECK_CONTAINS(result->out, "1835008 B over a link at 40 Gbps");
}

static void a_run_takes_the_scale_and_the_overhead(void **state)
{
    (void)state;
    enter();
    program_write_machine(2, 4);
    CHECK_EXIT(program_run("gen collective --npus 2 -o ar"), 0);
    program_write_text("tune.json", FORMAT "\"compute_scale\": 2, \"launch_us\": 25}");
    program_write_text("refused.json", "{\"format\": \"orrery-calibration-1\", \"launch_us\": 25}");
    char *plain =
        strdup(program_run("run -w ar -s system.json -n network.yml --launch-overhead 25us --format astra")->out);
    CHECK(plain != NULL, "memory");
    const struct program_result *result =
        program_run("run -w ar -s system.json -n network.yml --calibration tune.json --format astra");
    CHECK_EXIT(result, 0);
    CHECK_TEXT(result->out, plain);
    free(plain);
    result = program_run("run -w ar -s system.json -n network.yml --calibration refused.json --format astra");
    CHECK_EXIT(result, 0);
    CHECK_CONTAINS(result->err, "warning: refused.json: the calibration was refused");
    CHECK_EXIT(program_run("run -w ar -s system.json -n network.yml --calibration refused.json --strict"), 2);
}

/* One step of the recording, in ns. */
static uint64_t run_host(const char *factor)
{
    char line[200];
    (void)snprintf(line, sizeof line,
                   "run -w runs/0001_2gpu_auto1d_2/traces/job -s runs/0001_2gpu_auto1d_2/system.json -n "
                   "runs/0001_2gpu_auto1d_2/network.yml%s --format astra",
                   factor);
    const struct program_result *result = program_run(line);
    CHECK_EXIT(result, 0);
    const char *at = strstr(result->out, "sys[0] finished, ");
    CHECK(at != NULL, "%s", result->out);
    return strtoull(at + strlen("sys[0] finished, "), NULL, 10);
}

static void a_host_factor_shortens_what_the_host_does(void **state)
{
    (void)state;
    enter();
    uint64_t whole = run_host("");
    CHECK_U64(run_host(" --host-factor 1"), whole, "a factor of 1 is none");
    uint64_t half = run_host(" --host-factor 0.5");
    CHECK(half < 3 * whole / 4 && half > whole / 2, "%" PRIu64 " of %" PRIu64 ": the device keeps its times", half,
          whole);
    CHECK_EXIT(program_run("run -w a -s b -n c --host-factor 0"), 2);
    CHECK_EXIT(program_run("lab run -w recording --host-factor -1"), 2);
}

static void one_command_calibrates_and_scales(void **state)
{
    (void)state;
    enter();
    const struct program_result *result = program_run("lab run --workload recording --topology 8gpu_ring2d_4 "
                                                      "--virtual-scale 4 --auto-calibrate --output-dir auto");
    CHECK_EXIT(result, 0);
    CHECK_CONTAINS(result->out, "Measured    9.457 ms a step under the profiler, 2 samples");
    CHECK_CONTAINS(result->out, "Fitted on   rank 0, step 1: 9.415 ms measured, 9.41");
    CHECK_CONTAINS(result->out,
                   "Held out, never fitted on         measured   predicted       error\n  rank 1, step 1 ");
    CHECK(strstr(result->out, "  rank 0, step 1 ") == NULL, "what was fitted is not among what was held out");
    CHECK_CONTAINS(result->out, "With these  ");
    CHECK_CONTAINS(result->out,
                   "Calibration 1 of the store, and auto/0002_calibration_2gpu_auto1d_2/calibration.json\n");
    CHECK_CONTAINS(result->out, "Scaling     2 -> 8 ranks (4x)");
    CHECK_CONTAINS(result->out, "Calibrated  ");
    CHECK_CONTAINS(result->out, "4.21");
    CHECK_CONTAINS(result->out, " measured without the profiler\n");
    CHECK_CONTAINS(result->out, " a step without the profiler where what the simulation lacks stays");
    CHECK_CONTAINS(result->out, "steps that it was not fitted on are predicted to within ");
    CHECK_CONTAINS(program_read("auto/0003_8gpu_ring2d_4/manifest.json", NULL), "\"host-factor\": ");
    result = program_run("lab run --workload recording --topology 8gpu_ring2d_4 --virtual-scale 4 --calibration "
                         "auto/0002_calibration_2gpu_auto1d_2/calibration.json --output-dir auto");
    CHECK_EXIT(result, 0);
    CHECK_CONTAINS(result->out, "Calibrated  ");
    CHECK_EXIT(program_run("lab diff 3 4 --store auto/orrery.db"), 0);
}

static void a_factor_that_cannot_be_is_refused(void **state)
{
    (void)state;
    enter();
    program_write_text("odd.json",
                       "{\"format\": \"orrery-calibration-1\", \"accepted\": true, \"host_factor\": 0.042}\n");
    const struct program_result *result =
        program_run("lab run --workload recording --topology 2gpu_auto1d_2 --calibration odd.json");
    CHECK_EXIT(result, 2);
    CHECK_CONTAINS(result->err, "odd.json: \"host_factor\" is 0.042; plausible, and accepted, are 0.1 to 1");
}

TEST_MAIN(the_published_numbers_come_out_as_the_corrected_arithmetic_says, rank_0_predicts_rank_1_of_a_recording,
          steps_that_disagree_are_refused_unless_told, a_mistake_is_answered_in_one_line,
          fitted_links_and_memory_go_into_copies_of_a_machine, a_machine_by_name_gets_the_fitted_link,
          a_run_takes_the_scale_and_the_overhead, a_host_factor_shortens_what_the_host_does,
          a_factor_that_cannot_be_is_refused, one_command_calibrates_and_scales)
