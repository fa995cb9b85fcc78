/* SPDX-License-Identifier: Apache-2.0 */
/* What a remote memory file may say, what it means, and how it is refused. */
#include "config/table.h"
#include "tests/config/reading.h"

static enum orr_status parse(struct reading *reading, const char *text, struct sim_memory *memory)
{
    return config_parse_memory("m.json", text, strlen(text), &reading->notes, memory, &reading->err);
}

static void the_kinds_are_told_apart(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        enum sim_memory_kind want;
    } kinds[] = {
        {"{\"memory-type\": \"NO_MEMORY_EXPANSION\"}", SIM_MEMORY_NONE},
        {"{\"memory-type\": \"PER_NPU_MEMORY_EXPANSION\", \"remote-mem-bw\": 1}", SIM_MEMORY_PER_NPU},
        {"{\"memory-type\": \"MEMORY_POOL\", \"remote-mem-bw\": 1}", SIM_MEMORY_POOL},
        {"{\"memory-type\": \"PER_NODE_MEMORY_EXPANSION\", \"remote-mem-bw\": 1, \"num-nodes\": 2,\n"
         "\"num-npus-per-node\": 4}",
         SIM_MEMORY_PER_NODE},
    };
    for (size_t i = 0; i < COUNT_OF(kinds); i++) {
        struct reading reading;
        reading_begin(&reading, true);
        struct sim_memory memory;
        CHECK_OK(parse(&reading, kinds[i].text, &memory), &reading.err);
        CHECK_U64(memory.kind, kinds[i].want, "%s", kinds[i].text);
        reading_end(&reading);
    }
}

static void fractions_are_cut_and_noted(void **state)
{
    (void)state;
    struct reading reading;
    reading_begin(&reading, false);
    struct sim_memory memory;
    CHECK_OK(parse(&reading,
                   "{\"memory-type\": \"MEMORY_POOL\",\n\"remote-mem-latency\": 99.9,\n\"remote-mem-bw\": 7.3}",
                   &memory),
             &reading.err);
    CHECK_U64(memory.latency_ns, 99, "remote-mem-latency");
    CHECK_U64(memory.bandwidth_gbps, 7, "remote-mem-bw");
    check_noted(&reading, "m.json:3: \"remote-mem-bw\" is 7.3; the fraction is dropped, as in ASTRA-sim: 7 is used");
    reading_end(&reading);
}

static void units_are_accepted_and_the_example_too(void **state)
{
    (void)state;
    struct reading reading;
    reading_begin(&reading, true);
    struct sim_memory memory;
    CHECK_OK(parse(&reading, config_format_memory.example, &memory), &reading.err);
    CHECK_U64(memory.latency_ns, 1000, "1us");
    CHECK_U64(memory.bandwidth_gbps, 50, "50 GB/s");
    CHECK_OK(parse(&reading, "{\"memory-type\": \"MEMORY_POOL\", \"remote-mem-bw\": \"400Gbps\"}", &memory),
             &reading.err);
    CHECK_U64(memory.bandwidth_gbps, 50, "400 Gbit/s");
    reading_end(&reading);
}

static void a_file_without_a_type_has_no_remote_memory(void **state)
{
    (void)state;
    struct reading reading;
    reading_begin(&reading, false);
    struct sim_memory memory;
    CHECK_OK(parse(&reading, "{\"memory-tpye\": \"MEMORY_POOL\"}", &memory), &reading.err);
    CHECK_U64(memory.kind, SIM_MEMORY_NONE, "the default");
    check_noted(&reading, "m.json: no \"memory-type\"; NO_MEMORY_EXPANSION is used");
    check_noted(&reading, "m.json:1: unknown key \"memory-tpye\"; did you mean \"memory-type\"? (ignored)");
    reading_end(&reading);
}

static const struct bad_text bad[] = {
    {"", "m.json:1: the file is empty"},
    {"{\n\"memory-type\": \"MEMORY_POL\"}",
     "m.json:2: \"memory-type\" is \"MEMORY_POL\"; accepted: NO_MEMORY_EXPANSION"},
    {"{\"memory-type\": \"MEMORY_POL\"}", "did you mean \"MEMORY_POOL\"?"},
    {"{\n\"memory-type\": \"MEMORY_POOL\"}", "m.json:2: \"remote-mem-bw\" is missing; MEMORY_POOL needs at least 1"},
    {"{\"memory-type\": \"MEMORY_POOL\",\n\"remote-mem-bw\": 0.5}",
     "m.json:2: \"remote-mem-bw\" is 0; MEMORY_POOL needs at least 1"},
    {"{\"memory-type\": \"PER_NODE_MEMORY_EXPANSION\", \"remote-mem-bw\": 5}", "\"num-nodes\" is missing"},
    {"{\"memory-type\": \"PER_NODE_MEMORY_EXPANSION\", \"remote-mem-bw\": 5, \"num-nodes\": 2}",
     "\"num-npus-per-node\" is missing; PER_NODE_MEMORY_EXPANSION needs at least 1"},
    {"{\"remote-mem-latency\": -1}", "\"remote-mem-latency\" is -1; accepted: time, whole ns, 0 to 1e+15"},
    {"{\"remote-mem-latency\": {}}", "\"remote-mem-latency\" is a map of 0; accepted"},
    {"{\"num-nodes\": \"two\"}", "\"num-nodes\" is \"two\"; accepted: whole number"},
};

static void a_bad_file_is_refused_with_its_line_and_what_is_accepted(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        struct reading reading;
        reading_begin(&reading, false);
        struct sim_memory memory = {.nodes = 77};
        check_refusal(&reading, parse(&reading, bad[i].text, &memory), &bad[i]);
        CHECK_U64(memory.nodes, 77, "outputs are written on success only");
        reading_end(&reading);
    }
}

TEST_MAIN(the_kinds_are_told_apart, fractions_are_cut_and_noted, units_are_accepted_and_the_example_too,
          a_file_without_a_type_has_no_remote_memory, a_bad_file_is_refused_with_its_line_and_what_is_accepted)
