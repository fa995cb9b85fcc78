/* SPDX-License-Identifier: Apache-2.0 */
/* `--machine`: one description for every network, and `orrery machine`, which tells what it is. */
#include "tests/cli/program.h"

#include <stdlib.h>

static void prepare(void)
{
    program_enter();
    if (!program_exists("m.0.et")) {
        CHECK_EXIT(program_run("gen collective --type all-reduce --bytes 64MiB --npus 16 -o m"), 0);
    }
}

static double step_ns(const char *options)
{
    char line[256];
    (void)snprintf(line, sizeof line, "run -q -w m %s --json -", options);
    const struct program_result *result = program_run(line);
    CHECK_EXIT(result, 0);
    const char *time = strstr(result->out, "\"time_ns\": ");
    CHECK(time != NULL, "a time in %s", result->out);
    return strtod(time + 11, NULL);
}

/* Long messages: what headers and acknowledgements add is small then. */
static void a_machine_means_the_same_on_every_network(void **state)
{
    (void)state;
    prepare();
    static const char *const machines[] = {"ring", "torus2d", "switch", "fc"};
    for (size_t i = 0; i < COUNT_OF(machines); i++) {
        char line[96];
        double ns[3];
        static const char *const networks[] = {"unaware", "flow", "packet"};
        for (size_t k = 0; k < COUNT_OF(networks); k++) {
            (void)snprintf(line, sizeof line, "--machine %s --bandwidth 100 --latency 1us --backend %s", machines[i],
                           networks[k]);
            ns[k] = step_ns(line);
        }
        CHECK(ns[1] > ns[0] && ns[1] < 1.05 * ns[0], "%s: %.0f ns in dimensions, %.0f ns on wires", machines[i], ns[0],
              ns[1]);
        CHECK_NEAR(ns[2], ns[1], 0.002);
    }
}

static void nvlink_is_not_marked_by_congestion_control(void **state)
{
    (void)state;
    prepare();
    double alone = step_ns("--machine dgx-h100:2 --cc none");
    CHECK_NEAR(step_ns("--machine dgx-h100:2 --cc dcqcn"), alone, 0.05);
    CHECK(64 * 1048576.0 * 2 * 15 / 16 / alone > 300, "bus bandwidth above 300 GB/s, in %.0f ns", alone);
}

static void what_bounds_a_run_on_wires_names_the_busiest_link(void **state)
{
    (void)state;
    prepare();
    const struct program_result *result = program_run("run -q -w m --machine fattree --bandwidth 100");
    CHECK_EXIT(result, 0);
    CHECK_CONTAINS(result->out, "Bound by communication");
    CHECK_CONTAINS(result->out, "(100 Gbit/s) is");
    CHECK_CONTAINS(result->out, "busiest, at ");
}

static void ranks_and_traces_must_be_as_many(void **state)
{
    (void)state;
    prepare();
    const struct program_result *result = program_run("run -w m --machine dgx-h100:4");
    CHECK_EXIT(result, 2);
    CHECK_CONTAINS(result->err, "dgx-h100:4 has 32 ranks, and there are 16 traces: a machine of 16 fits, or --grow");
    CHECK_EXIT(program_run("run -q -w m --machine dgx-h100:4 --grow"), 0);
    result = program_run("run -w m --machine dgx-h100:1");
    CHECK_EXIT(result, 2);
    CHECK_CONTAINS(result->err, "dgx-h100:1 has 8 ranks, and there are 16 traces");
    result = program_run("run -w m --machine ring:4");
    CHECK_EXIT(result, 2);
    CHECK_CONTAINS(result->err, "ring:4 has 4 ranks, and there are 16 traces: a machine of as many is needed");
    result = program_run("run -w m --machine ring --grow");
    CHECK_CONTAINS(result->err, "--grow needs a machine that says how many ranks it has");
    result = program_run("run -w nothing --machine ring");
    CHECK_CONTAINS(result->err, "nothing.0.et: there is no such trace; --workload is the prefix");
}

static void a_machine_is_said_once(void **state)
{
    (void)state;
    prepare();
    static const char *const lines[][2] = {
        {"--machine ring --network n.yml", "--machine and --network both say what the machine is"},
        {"--machine dgx-h100:2 --bandwidth 10", "--bandwidth: dgx-h100:2 says it; change it there"},
        {"--machine rnig", "did you mean \"ring\"?"},
        {"--machine torus2d --bandwidth 10,20,30", "--bandwidth: 3 values, where the machine has 2 dimensions"},
    };
    for (size_t i = 0; i < COUNT_OF(lines); i++) {
        char line[128];
        (void)snprintf(line, sizeof line, "run -w m %s", lines[i][0]);
        const struct program_result *result = program_run(line);
        CHECK_EXIT(result, 2);
        CHECK_CONTAINS(result->err, lines[i][1]);
    }
}

static void a_machine_is_shown_with_its_sources(void **state)
{
    (void)state;
    prepare();
    const struct program_result *result = program_run("machine show dgx-h100:16");
    CHECK_EXIT(result, 0);
    CHECK_CONTAINS(result->out, "source      DGX H100 data sheet");
    CHECK_CONTAINS(result->out, "0: Switch of 8, links of 3600Gbps and 0.025us\n");
    CHECK_CONTAINS(result->out, "128 GPUs, 16 NVSwitches, 24 switches, 384 links");
    result = program_run("machine show torus:4x4x8");
    CHECK_CONTAINS(result->out, "ranks       128\n");
    result = program_run("machine list");
    CHECK_CONTAINS(result->out, "\n  gb300-nvl72 ");
    result = program_run("machine show m.0.et");
    CHECK_EXIT(result, 2);
}

static void a_file_is_what_its_content_says(void **state)
{
    (void)state;
    prepare();
    program_write_text("dims.txt", "{\"logical-dims\": [\"4\", \"4\"]}\n");
    program_write_text("net.conf", "topology: [ Ring ]\nnpus_count: [ 16 ]\nbandwidth: [ 50 ]\nlatency: [ 500 ]\n");
    program_write_text("system.txt", "{\"scheduling-policy\": \"LIFO\"}\n");
    program_write_text("list.yml", "currency: USD\n");
    program_write_text("work.yml", "HYBRID_TRANSFORMER model_parallel_NPU_group: 8\n0\n");
    const struct program_result *result = program_run("run -w m --machine ./dims.txt --bandwidth 10");
    CHECK_EXIT(result, 0);
    CHECK_CONTAINS(result->out, "16 ranks, Ring 4 x Ring 4, congestion-unaware");
    result = program_run("run -w m --machine ./net.conf");
    CHECK_EXIT(result, 0);
    CHECK_CONTAINS(result->out, "16 ranks, Ring 16, congestion-unaware");
    static const char *const wrong[][2] = {
        {"run -w m --machine ./system.txt", "system.txt: this is a system file (JSON); --machine wants a network file"},
        {"lab run -w m --machine list.yml", "list.yml: this is a price list (YAML) of orrery cost; --machine wants"},
        {"run -w m --machine m.0.et", "m.0.et: this is a Chakra trace; --machine wants"},
        {"run -w m -s system.txt -n work.yml", "work.yml: this is a workload text, which orrery simai and"},
        {"run -w m -s list.yml -n net.conf", "list.yml: this is a price list (YAML) of orrery cost; --system wants"},
    };
    for (size_t i = 0; i < COUNT_OF(wrong); i++) {
        result = program_run(wrong[i][0]);
        CHECK_EXIT(result, 2);
        CHECK_CONTAINS(result->err, wrong[i][1]);
    }
}

/* A recording of one GPU: nothing is sent, whatever it runs on. */
static void one_trace_runs_on_one_gpu_of_any_machine(void **state)
{
    (void)state;
    prepare();
    CHECK_EXIT(program_run("gen collective --type all-reduce --bytes 64MiB --ranks 1 -o alone"), 0);
    CHECK_CONTAINS(program_run("gen collective --ranks 1 -o alone")->out, "Next: orrery run --workload alone\n");
    program_write_text("one.yml", "topology: [ Ring ]\nnpus_count: [ 1 ]\nbandwidth: [ 50 ]\nlatency: [ 500 ]\n");
    static const char *const machines[] = {"",
                                           "--machine gpu",
                                           "--machine ring:1",
                                           "--machine mi300x",
                                           "--machine gpu:1>leaf:100Gbps>spine:2",
                                           "--machine torus3d --backend packet",
                                           "--machine ./one.yml"};
    for (size_t i = 0; i < COUNT_OF(machines); i++) {
        char line[128];
        (void)snprintf(line, sizeof line, "run -w alone %s", machines[i]);
        const struct program_result *result = program_run(line);
        CHECK_EXIT(result, 0);
        CHECK_CONTAINS(result->out, "Machine    1 rank, no network\n");
    }
    const struct program_result *result = program_run("run -w alone --machine dgx-h100:1");
    CHECK_EXIT(result, 2);
    CHECK_CONTAINS(result->err, "dgx-h100:1 has 8 ranks, and there is 1 trace: a machine of 1 fits");
    result = program_run("run -w m");
    CHECK_EXIT(result, 2);
    CHECK_CONTAINS(result->err, "missing --machine NAME (dgx-h100:16, ring:8, a line or a file); or --system and");
}

static void points_of_a_sweep_run_on_one_network(void **state)
{
    (void)state;
    prepare();
    const struct program_result *result =
        program_run("sweep -q --store m.db --vary machine=ring,dgx-h100 -- run --workload m");
    CHECK_EXIT(result, 0);
    CHECK_CONTAINS(result->out, "All ranked on the flow network.\n");
}

/* The machine says which network it is, so that this is known late. */
static void what_only_wires_can_do_is_refused_where_the_machine_has_none(void **state)
{
    (void)state;
    prepare();
    static const char *const options[] = {"--cc swift", "--rto 1ms", "--routing adaptive"};
    for (size_t i = 0; i < COUNT_OF(options); i++) {
        char line[96];
        char says[96];
        (void)snprintf(line, sizeof line, "run -w m --machine ring %s", options[i]);
        (void)snprintf(says, sizeof says, "%.*s needs --backend packet, flow or auto", (int)strcspn(options[i], " "),
                       options[i]);
        const struct program_result *result = program_run(line);
        CHECK_EXIT(result, 2);
        CHECK_CONTAINS(result->err, says);
    }
    CHECK_EXIT(program_run("run -q -w m --machine ring --backend flow --cc swift"), 0);
}

static void what_is_no_prefix_of_traces_is_named_for_what_it_is(void **state)
{
    (void)state;
    prepare();
    program_write_text("n.yml", "topology: [ Ring ]\nnpus_count: [ 8 ]\n");
    const struct program_result *result = program_run("run -w m.0.et --machine ring");
    CHECK_EXIT(result, 2);
    CHECK_CONTAINS(result->err, "m.0.et: this is the trace of one rank; --workload wants the prefix of all: m\n");
    result = program_run("run -w n.yml --machine ring");
    CHECK_EXIT(result, 2);
    CHECK_CONTAINS(result->err, "n.yml: this is a network file (YAML)");
}

static void a_file_of_another_kind_is_named_by_every_reader(void **state)
{
    (void)state;
    prepare();
    program_write_text("n.yml", "topology: [ Ring ]\nnpus_count: [ 8 ]\n");
    static const char *const commands[] = {"trace stat n.yml",
                                           "trace convert n.yml -o x",
                                           "topo show n.yml --text",
                                           "topo check n.yml",
                                           "simai simulate -w n.yml --machine dgx-h100:1",
                                           "run -w m --machine ring --groups n.yml",
                                           "cost --machine ring8 --prices n.yml",
                                           "report n.yml -o x.html"};
    for (size_t i = 0; i < COUNT_OF(commands); i++) {
        const struct program_result *result = program_run(commands[i]);
        CHECK_EXIT(result, 2);
        CHECK_CONTAINS(result->err, " is a network file (YAML)");
    }
}

/* ASTRA-sim replays broadcasts; one that was never recorded would take no time at all, without a word. */
static void a_broadcast_without_a_time_is_told_and_can_be_simulated(void **state)
{
    (void)state;
    program_enter();
    const struct program_result *result = program_run("gen collective --type broadcast --ranks 4 -o cast");
    CHECK_EXIT(result, 0);
    CHECK_CONTAINS(result->out, "--broadcast simulate\n");
    result = program_run("run -w cast --machine ring");
    CHECK_EXIT(result, 0);
    CHECK_CONTAINS(result->err, "cast: broadcasts without a recorded time take 1 ns; --broadcast simulate");
    result = program_run("run -w cast --machine ring --broadcast simulate");
    CHECK_EXIT(result, 0);
    CHECK(strstr(result->err, "1 ns") == NULL, "%s", result->err);
}

TEST_MAIN(a_broadcast_without_a_time_is_told_and_can_be_simulated, what_bounds_a_run_on_wires_names_the_busiest_link,
          a_machine_means_the_same_on_every_network, nvlink_is_not_marked_by_congestion_control,
          ranks_and_traces_must_be_as_many, a_machine_is_said_once, a_machine_is_shown_with_its_sources,
          a_file_is_what_its_content_says, one_trace_runs_on_one_gpu_of_any_machine,
          points_of_a_sweep_run_on_one_network, what_only_wires_can_do_is_refused_where_the_machine_has_none,
          what_is_no_prefix_of_traces_is_named_for_what_it_is, a_file_of_another_kind_is_named_by_every_reader)
