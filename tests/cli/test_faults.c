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

static void jitter_of_nothing_changes_nothing(void **state)
{
    (void)state;
    prepare();
    for (size_t i = 0; i < COUNT_OF(networks); i++) {
        const char *plain = run_lines(networks[i].options, "");
        CHECK_TEXT(run_lines(networks[i].options, "--jitter normal:0% --seed 5"), plain);
        CHECK_TEXT(run_lines(networks[i].options, "--stragglers 3:1x --jitter lognormal:0:rank"), plain);
    }
}

static void a_named_straggler_is_a_device_of_that_factor(void **state)
{
    (void)state;
    prepare();
    for (size_t i = 0; i < COUNT_OF(networks); i++) {
        const char *device = run_lines(networks[i].options, "--devices 2-3=x9");
        CHECK_TEXT(run_lines(networks[i].options, "--stragglers ranks=2-3:9x"), device);
    }
}

static uint64_t figure(const char *json, const char *key)
{
    const char *at = strstr(json, key);
    CHECK(at != NULL, "%s is told", key);
    return strtoull(at + strlen(key) + 2, NULL, 10);
}

#define NOISY "run --no-progress -w w/three -s system.json -n network.yml --jitter lognormal:3 --stragglers 1:4x "

static void many_seeds_give_the_same_figures_on_any_number_of_threads(void **state)
{
    (void)state;
    prepare();
    static char first[1 << 16];
    (void)snprintf(first, sizeof first, "%.60000s", program_run(NOISY "--seed 3 --repeat 24 -j 1 --json -")->out);
    CHECK_TEXT(program_run(NOISY "--seed 3 --repeat 24 -j 3 --json -")->out, first);
    uint64_t worst = figure(first, "\"worst_ns\"");
    CHECK(worst > figure(first, "\"plain_ns\""), "some seed is slower than none");
    CHECK(figure(first, "\"p50_ns\"") <= figure(first, "\"p99_ns\""), "percentiles ascend");
    char line[300];
    (void)snprintf(line, sizeof line, NOISY "--seed %" PRIu64 " --json -", figure(first, "\"worst_seed\""));
    const struct program_result *one = program_run(line);
    CHECK_EXIT(one, 0);
    CHECK_U64(figure(one->out, "\"time_ns\""), worst, "the worst seed by itself");
}

static void what_is_of_one_run_is_not_repeated(void **state)
{
    (void)state;
    prepare();
    const struct program_result *result = program_run(NOISY "--repeat 2 --csv tables");
    CHECK_EXIT(result, 2);
    CHECK_CONTAINS(result->err, "--csv is of one run; --repeat has text and --json");
    result = program_run(NOISY "-j 2");
    CHECK_EXIT(result, 2);
    CHECK_CONTAINS(result->err, "--threads is for --repeat");
    result = program_run(NOISY "--jitter gauss:5%");
    CHECK_EXIT(result, 2);
    CHECK_CONTAINS(result->err, "--jitter: \"gauss:5%\" is neither a number nor normal:5%");
    CHECK_EXIT(program_run(NOISY "--jitter uniform:101%"), 2);
    result = program_run("run -w w/three --replay --jitter normal:5%");
    CHECK_EXIT(result, 2);
    CHECK_CONTAINS(result->err, "--jitter changes nothing in a replay");
}

TEST_MAIN(jitter_of_nothing_changes_nothing, a_named_straggler_is_a_device_of_that_factor,
          many_seeds_give_the_same_figures_on_any_number_of_threads, what_is_of_one_run_is_not_repeated,
          factors_of_one_change_nothing, all_links_at_half_their_rate_are_a_network_of_half_the_rate,
          one_slow_link_is_waited_for_by_all, a_file_of_devices_that_is_wrong_is_told_with_its_line)
