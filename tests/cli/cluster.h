/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Eight ranks on every network, for the tests of clusters as they are: the files of each, and what a run on it says.
 * All in the test's own folder (program.h).
 */
#ifndef ORR_TESTS_CLI_CLUSTER_H
#define ORR_TESTS_CLI_CLUSTER_H

#include <stdlib.h>

#include "tests/cli/program.h"

/* Eight hosts at one switch, of 100 or 50 Gbit/s. */
static inline void write_wires(const char *config, const char *topology, const char *rate)
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

static inline void prepare(void)
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
static inline const char *run_lines(const char *network, const char *more)
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

static inline uint64_t figure(const char *json, const char *key)
{
    const char *at = strstr(json, key);
    CHECK(at != NULL, "%s is told", key);
    return strtoull(at + strlen(key) + 2, NULL, 10);
}

static inline uint64_t time_of(const char *network, const char *more)
{
    char line[400];
    (void)snprintf(line, sizeof line, "run --no-progress -w w/three -s system.json %s %s --json -", network, more);
    const struct program_result *result = program_run(line);
    CHECK_EXIT(result, 0);
    return figure(result->out, "\"time_ns\"");
}

#endif
