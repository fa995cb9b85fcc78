/* SPDX-License-Identifier: Apache-2.0 */
/* Several jobs on one machine, through the program (docs/faults.md). */
#include "tests/cli/cluster.h"

static void prepare_jobs(void)
{
    prepare();
    if (!program_exists("w/four.0.et")) {
        CHECK_EXIT(program_run("gen collective --type all-reduce --bytes 1MiB --npus 4 -o w/four"), 0);
        CHECK_EXIT(program_run("gen collective --type all-to-all --bytes 4MiB --npus 4 -o w/other"), 0);
    }
}

static const char *run_jobs(const char *network, const char *jobs)
{
    char line[400];
    (void)snprintf(line, sizeof line, "run --no-progress -s system.json %s %s --json -", network, jobs);
    const struct program_result *result = program_run(line);
    CHECK_EXIT(result, 0);
    return result->out;
}

static void one_job_is_the_plain_run(void **state)
{
    (void)state;
    prepare_jobs();
    for (size_t i = 0; i < COUNT_OF(networks); i++) {
        uint64_t plain = time_of(networks[i].options, "");
        const char *out = run_jobs(networks[i].options, "--job A=w/three");
        CHECK_U64(figure(out, "\"together_ns\""), plain, "%s", networks[i].name);
        CHECK_U64(figure(out, "\"alone_ns\""), plain, "%s", networks[i].name);
    }
}

static void jobs_apart_do_not_notice_each_other(void **state)
{
    (void)state;
    prepare_jobs();
    for (size_t i = 0; i < COUNT_OF(networks); i++) {
        const char *out = run_jobs(networks[i].options, "--job A=w/four --job B=w/other");
        static char packed[1 << 16];
        (void)snprintf(packed, sizeof packed, "%.60000s", out);
        CHECK_TEXT(run_jobs(networks[i].options, "--job A=w/four:0-3 --job B=w/other:4-7"), packed);
        if (i == 0) {
            CHECK_CONTAINS(packed, "\"slowdown\": 1.000000}");
            CHECK(strstr(strstr(packed, "slowdown") + 1, "\"slowdown\": 1.000000}") != NULL, "both: %s", packed);
        }
    }
}

static void jobs_that_share_links_slow_each_other(void **state)
{
    (void)state;
    prepare_jobs();
    const char *out = run_jobs("-n network.yml --backend aware", "--job A=w/four --job B=w/other --placement spread");
    CHECK(figure(out, "\"together_ns\"") > figure(out, "\"alone_ns\""), "in turn on one ring: %s", out);
    CHECK(figure(out, "\"queued_messages_together\"") > figure(out, "\"queued_messages_alone\""), "they wait");
    static char first[1 << 16];
    (void)snprintf(
        first, sizeof first, "%.60000s",
        run_jobs("-n network.yml --backend aware", "--job A=w/four --job B=w/four --placement random --seed 4"));
    CHECK_TEXT(run_jobs("-n network.yml --backend aware", "--job A=w/four --job B=w/four --placement random --seed 4"),
               first);
}

static void links_of_several_jobs_are_told_of_a_wired_machine(void **state)
{
    (void)state;
    prepare_jobs();
    char text[600] = "10 2 9\n8 9\n8 9 100Gbps 1us 0\n"; /* two switches and one link between them */
    for (int i = 0; i < 8; i++) {
        size_t used = strlen(text);
        (void)snprintf(text + used, sizeof text - used, "%d %d 100Gbps 1us 0\n", i, i < 4 ? 8 : 9);
    }
    program_write_text("two-topology.txt", text);
    program_write_text("two.txt", "TOPOLOGY_FILE two-topology.txt CC_MODE 12 L2_ACK_INTERVAL 1 L2_CHUNK_SIZE 4000 "
                                  "GLOBAL_T 0\nKMIN_MAP 1 100000000000 400 KMAX_MAP 1 100000000000 1600 PMAX_MAP 1 "
                                  "100000000000 0.2\n");
    const struct program_result *result =
        program_run("run --no-progress -s system.json -n two.txt --backend packet --job A=w/four:0-1+4-5 --job "
                    "B=w/four:2-3+6-7");
    CHECK_EXIT(result, 0);
    CHECK_CONTAINS(result->out, "slow-down");
    CHECK_CONTAINS(result->out, "Links of several jobs: 2\n");
    CHECK_CONTAINS(result->out, "\n  8 > 9                2 ");
    CHECK_CONTAINS(result->out, "\n  9 > 8                2 ");
    result = program_run("run --no-progress --machine torus3d --job A=w/four");
    CHECK_EXIT(result, 2);
    CHECK_CONTAINS(result->err, "--job needs a machine that says how many ranks it has");
}

static void jobs_that_do_not_fit_are_refused(void **state)
{
    (void)state;
    prepare_jobs();
    static const struct {
        const char *jobs, *says;
    } cases[] = {
        {"--job A=w/three --job B=w/four", "the jobs have 12 ranks, and the machine 8"},
        {"--job A=w/four:0-3 --job B=w/four:3-6", "job B: rank 3 is job A's already"},
        {"--job A=w/four:5-8", "job A: there is no rank 8; the machine has ranks 0 to 7"},
        {"--job A=w/four:0-2", "job A: 3 ranks are given to 4 traces"},
        {"--job A=w/four:2-0", "job A: \"2-0\" is not a list of ranks"},
        {"--job A=w/four --job A=w/four", "there are two jobs A"},
        {"--job w/four", "\"w/four\" is not NAME=PREFIX"},
        {"--job A=w/none", "w/none.0.et"},
        {"--job A=w/four -w w/three", "--workload does not go with --job"},
        {"--job A=w/four --repeat 3", "--repeat does not go with --job"},
        {"--job A=w/four --csv tables", "--csv is of one run; --job has text and --json"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        char line[300];
        (void)snprintf(line, sizeof line, "run --no-progress -s system.json -n network.yml %s", cases[i].jobs);
        const struct program_result *result = program_run(line);
        CHECK_EXIT(result, 2);
        CHECK_CONTAINS(result->err, cases[i].says);
    }
}

TEST_MAIN(links_of_several_jobs_are_told_of_a_wired_machine, one_job_is_the_plain_run,
          jobs_apart_do_not_notice_each_other, jobs_that_share_links_slow_each_other, jobs_that_do_not_fit_are_refused)
