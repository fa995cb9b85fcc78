/* SPDX-License-Identifier: Apache-2.0 */
/* Memory over time as users meet it: ASTRA-sim's files and line, our own report, what does not fit. */
#include <stdlib.h>
#include <string.h>

#include "tests/cli/program.h"

/* Two layers on two ranks, whose nodes name their tensors; `keys` are added to the system file. */
static void prepare(const char *keys)
{
    char text[700];
    program_enter();
    CHECK_EXIT(program_run("gen stg --dp 2 --num_stacks 1 --seq 64 --batch 2 --dmodel 64 --dff 128 --head 4 --kvhead 4 "
                           "--dvocal 100 -o w/m"),
               0);
    (void)snprintf(text, sizeof text,
                   "{\"scheduling-policy\": \"LIFO\", \"endpoint-delay\": 10, \"active-chunks-per-dimension\": 1, "
                   "\"preferred-dataset-splits\": 1, \"all-reduce-implementation\": [\"ring\"], "
                   "\"all-gather-implementation\": [\"ring\"], \"reduce-scatter-implementation\": [\"ring\"], "
                   "\"all-to-all-implementation\": [\"ring\"], \"collective-optimization\": \"localBWAware\", "
                   "\"local-mem-bw\": 1600, \"peak-perf\": 100, \"roofline-enabled\": 1%s}",
                   keys);
    program_write_text("system.json", text);
    program_write_text("network.yml",
                       "topology: [ Ring ]\nnpus_count: [ 2 ]\nbandwidth: [ 50.0 ]\nlatency: [ 500.0 ]\n");
}

#define RUN "run --no-progress -w w/m -s system.json -n network.yml --groups w/m.json"

/* The number behind the first `key` of a document. */
static uint64_t number_after(const char *text, const char *key)
{
    const char *found = strstr(text, key);
    CHECK(found != NULL, "no %s in %.200s", key, text);
    return found == NULL ? 0 : strtoull(found + strlen(key), NULL, 10);
}

static void astras_line_and_files_come_where_the_system_file_asks(void **state)
{
    (void)state;
    prepare(", \"track-local-mem\": 1, \"local-mem-trace-filename\": \"held\"");
    const struct program_result *result = program_run(RUN " --format astra");
    CHECK_EXIT(result, 0);
    const char *line = strstr(result->out, "[workload] [info] sys[0] peak memory usage: ");
    CHECK(line != NULL, "%s", result->out);
    const char *statistics = strstr(result->out, "sys[0], Wall time");
    CHECK(statistics != NULL && statistics < line, "behind the statistics");
    CHECK_CONTAINS(result->out, "sys[1] peak memory usage: ");
    char *unit = NULL;
    double printed = strtod(line + strlen("[workload] [info] sys[0] peak memory usage: "), &unit);
    CHECK(strncmp(unit, " MB\n", 4) == 0, "%.10s", unit);
    CHECK(program_exists("held.0.json") && program_exists("held.1.json"), "a file a rank");
    size_t size = 0;
    const char *file = program_read("held.0.json", &size);
    CHECK_CONTAINS(file, "\"traceEvents\"");
    CHECK_CONTAINS(file, "\"cat\": \"tensorRead\", \"ph\": \"B\"");
    CHECK_CONTAINS(file, "\"node_name\": \"UNDEFINED\"");
    CHECK_CONTAINS(file, "\"cat\": \"tensorLifetime\", \"ph\": \"E\"");
    CHECK_CONTAINS(file, "\"name\": \"GPU Memory Usage (MB)\", \"cat\": \"GPU Memory\", \"ph\": \"C\"");
    result = program_run(RUN " --json -");
    CHECK_EXIT(result, 0);
    double peak = (double)number_after(result->out, "\"peak_bytes\": ");
    double mib = peak / (1024 * 1024);
    CHECK(printed > mib - 0.006 && printed < mib + 0.006, "%f MB are %f B", printed, peak);
}

static void nothing_is_said_where_nobody_asks(void **state)
{
    (void)state;
    prepare("");
    const struct program_result *result = program_run(RUN " --json -");
    CHECK_EXIT(result, 0);
    CHECK(strstr(result->out, "\"memory\"") == NULL, "no member");
    result = program_run(RUN " --format astra");
    CHECK(strstr(result->out, "peak memory") == NULL && !program_exists("local_mem_trace.0.json"), "no line, no file");
}

static void a_capacity_alone_tells_what_spills_and_where_to(void **state)
{
    (void)state;
    prepare("");
    const struct program_result *result =
        program_run(RUN " --set system.local-mem-capacity=200KiB --json o.json --csv c");
    CHECK_EXIT(result, 0);
    CHECK_CONTAINS(result->out, "Memory     peak ");
    CHECK_CONTAINS(result->out, " of 200 KiB (");
    CHECK_CONTAINS(result->out, "2 of 2 ranks do not fit: rank 0 is over by up to ");
    CHECK_CONTAINS(result->out, "find no place, the first at ");
    CHECK(!program_exists("local_mem_trace.0.json"), "files are ASTRA-sim's");
    CHECK_CONTAINS(program_read("c/memory.csv", NULL), "rank,time_ns,bytes\n0,0,");
    const char *json = program_read("o.json", NULL);
    CHECK_U64(number_after(json, "\"over_bytes\": "), number_after(json, "\"peak_bytes\": ") - 200 * 1024, "over");
    uint64_t spilled = number_after(json, "\"most_bytes\": ");
    CHECK_U64(number_after(json, "\"nowhere_bytes\": "), spilled, "there is no other memory");

    result =
        program_run(RUN " --set system.local-mem-capacity=200KiB --set system.host-mem-capacity=1GiB --json o.json");
    CHECK_CONTAINS(result->out, "all of it finds a place");
    CHECK_U64(number_after(program_read("o.json", NULL), "\"host_bytes\": "), spilled, "both ranks are on one server");

    result = program_run(RUN " --set system.local-mem-capacity=1GiB");
    CHECK_CONTAINS(result->out, " of 1 GiB (");
    CHECK(strstr(result->out, "do not fit") == NULL, "%s", result->out);
}

static void traces_that_name_no_tensors_are_told_in_one_line(void **state)
{
    (void)state;
    prepare(", \"track-local-mem\": 1");
    CHECK_EXIT(program_run("gen collective --npus 2 --bytes 1KiB -o w/c"), 0);
    const struct program_result *result = program_run("run --no-progress -w w/c -s system.json -n network.yml");
    CHECK_EXIT(result, 0);
    CHECK_CONTAINS(result->err, "no node of w/c.*.et names the tensors it reads and writes");
    CHECK(strchr(result->err, '\n') == strrchr(result->err, '\n'), "one line: %s", result->err);
    CHECK(strstr(result->out, "Memory") == NULL && !program_exists("local_mem_trace.0.json"), "and nothing else");
}

static void files_that_would_replace_an_input_or_have_no_folder_are_refused_before_the_run(void **state)
{
    (void)state;
    prepare(", \"track-local-mem\": 1, \"local-mem-trace-filename\": \"w/g\"");
    CHECK_EXIT(program_run("gen collective --npus 2 --bytes 1KiB -o w/c"), 0);
    size_t size = 0;
    const char *groups = program_read("w/m.json", &size);
    program_write("w/g.1.json", groups, size);
    const struct program_result *result =
        program_run("run --no-progress -w w/m -s system.json -n network.yml --groups w/g.1.json");
    CHECK_EXIT(result, 2);
    CHECK_CONTAINS(result->err, "local-mem-trace-filename of the system file would replace the file of --groups");
    prepare(", \"track-local-mem\": 1, \"local-mem-trace-filename\": \"nowhere/x\"");
    result = program_run(RUN);
    CHECK_EXIT(result, 2);
    CHECK_CONTAINS(result->err, "local-mem-trace-filename");
}

static void a_host_without_a_capacity_of_the_ranks_is_noted(void **state)
{
    (void)state;
    prepare(", \"track-local-mem\": 1, \"host-mem-capacity\": \"1TiB\"");
    const struct program_result *result = program_run(RUN);
    CHECK_EXIT(result, 0);
    CHECK_CONTAINS(result->err, "\"host-mem-capacity\" has no effect without \"local-mem-capacity\"");
}

TEST_MAIN(nothing_is_said_where_nobody_asks, astras_line_and_files_come_where_the_system_file_asks,
          a_capacity_alone_tells_what_spills_and_where_to, traces_that_name_no_tensors_are_told_in_one_line,
          files_that_would_replace_an_input_or_have_no_folder_are_refused_before_the_run,
          a_host_without_a_capacity_of_the_ranks_is_noted)
