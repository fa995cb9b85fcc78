/* SPDX-License-Identifier: Apache-2.0 */
/* Clusters as they are, through the program: ranks that differ (docs/faults.md). What changes nothing changes nothing
 * to the integer, and what can be said in two ways ends the same. */
#include "tests/cli/program.h"

#include <stdlib.h>

/* Eight hosts at one switch, of 100 or 50 Gbit/s. */
static void write_wires(const char *config, const char *topology, const char *rate)
{
    char text[2048] = "9 1 8\n8\n";
    for (int i = 0; i < 8; i++) {
        size_t used = strlen(text);
        (void)snprintf(text + used, sizeof text - used, "%d 8 %s 1us 0\n", i, rate);
    }
    program_write_text(topology, text);
    (void)snprintf(text, sizeof text,
                   "TOPOLOGY_FILE %s CC_MODE 12 L2_ACK_INTERVAL 1 L2_CHUNK_SIZE 4000 GLOBAL_T 0\n"
                   "KMIN_MAP 1 100000000000 400 KMAX_MAP 1 100000000000 1600 PMAX_MAP 1 100000000000 0.2\n",
                   topology);
    program_write_text(config, text);
}

static void prepare(void)
{
    program_enter();
    if (program_exists("w/three.0.et")) {
        return;
    }
    program_write_machine(8, 4);
    write_wires("config.txt", "topology.txt", "100Gbps");
    write_wires("half.txt", "half-topology.txt", "50Gbps");
    CHECK_EXIT(program_run("gen three-node --npus 8 -o w/three"), 0);
}

/* A network and the options that make it; `half`: all its links at half their rate. */
static const struct {
    const char *name, *options, *half;
} networks[] = {
    {"unaware", "-n network.yml --backend unaware", "-n network.yml --backend unaware --set network.bandwidth=25"},
    {"aware", "-n network.yml --backend aware", "-n network.yml --backend aware --set network.bandwidth=25"},
    {"packet", "-n config.txt --backend packet", "-n half.txt --backend packet"},
    {"flow", "-n config.txt --backend flow", "-n half.txt --backend flow"},
};

/* What ASTRA-sim's lines say of every rank. */
static const char *run_lines(const char *network, const char *more)
{
    static char kept[2][sizeof(((struct program_result *)NULL)->out)];
    static int turn;
    char line[600];
    turn = !turn;
    (void)snprintf(line, sizeof line, "run --no-progress -w w/three -s system.json %s %s --format astra", network,
                   more);
    const struct program_result *result = program_run(line);
    CHECK_EXIT(result, 0);
    (void)snprintf(kept[turn], sizeof kept[turn], "%s", result->out);
    return kept[turn];
}

static void factors_of_one_change_nothing(void **state)
{
    (void)state;
    prepare();
    program_write_text("ones.csv", "ranks,compute_factor,link_factor\n0-2,1,1\n3-5,1.0,\n7,,1\n");
    for (size_t i = 0; i < COUNT_OF(networks); i++) {
        const char *plain = run_lines(networks[i].options, "");
        CHECK_TEXT(run_lines(networks[i].options, "--devices ones.csv"), plain);
        CHECK_TEXT(run_lines(networks[i].options, "--devices 0-2=x1:linkx1,3-5=x1,7=linkx1"), plain);
    }
}

static void all_links_at_half_their_rate_are_a_network_of_half_the_rate(void **state)
{
    (void)state;
    prepare();
    program_write_text("half.csv", "ranks,link_factor\n0-7,0.5\n");
    for (size_t i = 0; i < COUNT_OF(networks); i++) {
        const char *half = run_lines(networks[i].half, "");
        CHECK_TEXT(run_lines(networks[i].options, "--devices half.csv"), half);
        CHECK_TEXT(run_lines(networks[i].options, "--devices half.csv --no-symmetry --no-memo"), half);
    }
}

static void one_slow_link_is_waited_for_by_all(void **state)
{
    (void)state;
    prepare();
    program_write_text("one.json", "[{\"ranks\": 3, \"link_factor\": 0.25, \"compute_factor\": 1.5}]\n");
    for (size_t i = 0; i < COUNT_OF(networks); i++) {
        const char *plain = run_lines(networks[i].options, "");
        const char *slow = run_lines(networks[i].options, "--devices one.json");
        CHECK(strcmp(plain, slow) != 0, "%s: a slow link shows", networks[i].name);
        const char *listed = run_lines(networks[i].options, "--devices 3=linkx0.25:x1.5");
        CHECK_TEXT(listed, slow);
        CHECK_TEXT(run_lines(networks[i].options, "--no-symmetry --no-memo --devices one.json"), listed);
    }
}

static void a_file_of_devices_that_is_wrong_is_told_with_its_line(void **state)
{
    (void)state;
    prepare();
    program_write_text("bad.csv", "ranks,device\n0-3,h100\n4-8,a100\n");
    const struct program_result *result = program_run("run -w w/three -s system.json -n network.yml --devices bad.csv");
    CHECK_EXIT(result, 2);
    CHECK_CONTAINS(result->err, "bad.csv:3: there is no rank 8; the machine has ranks 0 to 7");
    result = program_run("run -w w/three -s system.json -n network.yml --devices none.csv");
    CHECK_EXIT(result, 2);
    CHECK_CONTAINS(result->err, "\"none.csv\" is not RANKS=DEVICE, as in 4-7=mi300x, nor a file");
}

TEST_MAIN(factors_of_one_change_nothing, all_links_at_half_their_rate_are_a_network_of_half_the_rate,
          one_slow_link_is_waited_for_by_all, a_file_of_devices_that_is_wrong_is_told_with_its_line)
