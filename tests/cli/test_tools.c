/* SPDX-License-Identifier: Apache-2.0 */
/* The tools on traces from the shell's side: where results go, what is refused, how they end. */
#include <unistd.h>

#include "tests/cli/program.h"

static void prepare(void)
{
    program_enter();
    program_write_machine(4, 4);
    CHECK_EXIT(program_run("gen three-node --npus 4 -o job/three"), 0);
}

/* A file with this node repeated: its id is used twice. */
static void write_twice(void)
{
    size_t size = 0;
    const char *trace = program_read("job/three.0.et", &size);
    static char twice[1 << 16];
    size_t first = 1 + (size_t)(unsigned char)trace[0];
    memcpy(twice, trace, size);
    memcpy(twice + size, trace + first, size - first);
    program_write("twice.0.et", twice, size + size - first);
}

static void an_output_never_replaces_an_input_unasked(void **state)
{
    (void)state;
    prepare();
    const struct program_result *result = program_run("trace fix job/three.0.et -o job/../job/three.0.et");
    CHECK_EXIT(result, 2);
    CHECK_CONTAINS(result->err, "-o would replace the input job/three.0.et");
    CHECK_EXIT(program_run("trace fix job/three.0.et job/three.1.et -o job/three"), 2);
    CHECK_EXIT(program_run("trace fix job/three.0.et --in-place"), 0);
    result = program_run("trace fix job/three.0.et");
    CHECK_EXIT(result, 2);
    CHECK_CONTAINS(result->err, "missing -o OUT");
}

static void several_inputs_give_a_prefix(void **state)
{
    (void)state;
    prepare();
    CHECK_EXIT(program_run("trace scale --compute 2 job/three.0.et job/three.1.et -o twice/as/long"), 0);
    CHECK(program_exists("twice/as/long.0.et") && program_exists("twice/as/long.1.et"), "both are there");
    const struct program_result *result = program_run("trace scale --compute 2 job/three.0.et system.json -o x/y");
    CHECK_EXIT(result, 2);
    CHECK_CONTAINS(result->err, "must be named NAME.R.et");
}

static void words_and_options_may_be_mixed(void **state)
{
    (void)state;
    prepare();
    CHECK_EXIT(program_run("trace merge job/three.0.et -o both.0.et --concurrent -- job/three.0.et job/three.1.et"), 0);
    char apart[4096];
    size_t size = 0;
    size_t length = 0;
    memcpy(apart, program_read("both.0.et", &length), sizeof apart < length ? sizeof apart : length);
    CHECK_EXIT(program_run("trace merge --parallel -oagain.0.et job/three.0.et job/three.0.et job/three.1.et"), 0);
    const char *again = program_read("again.0.et", &size);
    CHECK(size == length && memcmp(again, apart, size) == 0, "the same files in the same order");
    const struct program_result *result = program_run("trace stat job/three.1.et --json - job/three.0.et");
    CHECK_EXIT(result, 0);
    const char *first = strstr(result->out, "job/three.1.et");
    CHECK(first != NULL && strstr(first, "job/three.0.et") != NULL, "in the order named");
}

static void all_files_are_written_or_none(void **state)
{
    (void)state;
    prepare();
    write_twice();
    const struct program_result *result = program_run("trace fix job/three.1.et twice.0.et -o none/of");
    CHECK_EXIT(result, 2);
    CHECK_ONE_LINE(result);
    CHECK_CONTAINS(result->err, "--renumber");
    CHECK(!program_exists("none/of.1.et") && !program_exists("none/of.0.et"), "neither is there");
    result = program_run("trace fix --renumber twice.0.et -o once.0.et");
    CHECK_EXIT(result, 0);
    CHECK_CONTAINS(result->out, "nodes with an id used before given a new one");
    CHECK_EXIT(program_run("trace check once.0.et"), 0);
}

static void a_dry_run_only_reports(void **state)
{
    (void)state;
    prepare();
    const struct program_result *result = program_run("trace fix --dry-run job/three.0.et -o dry.0.et");
    CHECK_EXIT(result, 0);
    CHECK_CONTAINS(result->out, "1 file, 3 nodes in, 3 out");
    CHECK(!program_exists("dry.0.et"), "nothing is written");
}

static void a_simplification_is_measured_by_simulating_both(void **state)
{
    (void)state;
    prepare();
    const struct program_result *result =
        program_run("trace simplify --level comm --measure --system system.json --network network.yml "
                    "job/three.0.et job/three.1.et job/three.2.et job/three.3.et -o small/three");
    CHECK_EXIT(result, 0);
    CHECK_CONTAINS(result->out, "step time before");
    CHECK_CONTAINS(result->out, "difference        0.000%");
    result = program_run("trace simplify --level comm --measure job/three.0.et -o small/one.0.et");
    CHECK_EXIT(result, 2);
    CHECK_CONTAINS(result->err, "--measure needs --system");
    result = program_run("trace simplify --level coom job/three.0.et -o small/one.0.et");
    CHECK_CONTAINS(result->err, "did you mean \"comm\"?");
}

static void diff_ends_like_diff(void **state)
{
    (void)state;
    prepare();
    CHECK_EXIT(program_run("trace scale --comm 3/2 job/three.0.et -o more.0.et"), 0);
    CHECK_EXIT(program_run("trace diff job/three.0.et job/three.0.et"), 0);
    const struct program_result *result = program_run("trace diff job/three.0.et more.0.et");
    CHECK_EXIT(result, 1);
    CHECK_CONTAINS(result->out, "comm_size");
    CHECK_CONTAINS(result->out, "2 sizes");
    result = program_run("trace diff --json - job/three.0.et more.0.et");
    CHECK_EXIT(result, 1);
    CHECK_CONTAINS(result->out, "\"same\": false");
    CHECK_EXIT(program_run("trace diff job/three.0.et missing.et"), 2);
}

static void json_comes_back_as_the_same_bytes(void **state)
{
    (void)state;
    prepare();
    CHECK_EXIT(program_run("trace export --to json job/three.2.et -o three.json.gz"), 0);
    CHECK_EXIT(program_run("trace convert --from json three.json.gz -o back.et"), 0);
    CHECK_EXIT(program_run("trace diff job/three.2.et back.et"), 0);
    size_t size = 0;
    static char before[1 << 12];
    const char *bytes = program_read("job/three.2.et", &size);
    CHECK(size < sizeof before, "a small file");
    memcpy(before, bytes, size);
    size_t back = 0;
    bytes = program_read("back.et", &back);
    CHECK(back == size && memcmp(before, bytes, size) == 0, "the same bytes");
}

static void an_exported_schedule_runs(void **state)
{
    (void)state;
    prepare();
    CHECK_EXIT(program_run("trace export --to goal job/three -o three.goal"), 0);
    CHECK(strncmp(program_read("three.goal", NULL), "num_ranks 4\nrank 0 {\n", 20) == 0, "GOAL");
    CHECK_EXIT(program_run("trace convert --from goal three.goal -o messages/three"), 0);
    CHECK_EXIT(program_run("run -w messages/three -s system.json -n network.yml"), 0);
    const struct program_result *result = program_run("trace export --to dot job/three.0.et");
    CHECK_EXIT(result, 0);
    CHECK_CONTAINS(result->out, "digraph trace {");
    CHECK_EXIT(program_run("trace export --to graphml job/three.0.et -o three.graphml"), 0);
}

static void every_collective_of_an_exported_schedule_runs(void **state)
{
    (void)state;
    static const char *const types[] = {"all-reduce", "all-gather", "reduce-scatter", "all-to-all", "broadcast",
                                        "reduce",     "gather",     "scatter",        "barrier"};
    program_enter();
    program_write_machine(4, 4);
    for (size_t i = 0; i < COUNT_OF(types); i++) {
        char line[256];
        (void)snprintf(line, sizeof line, "gen collective --type %s --bytes 1001 --npus 4 -o c/%s", types[i], types[i]);
        CHECK_EXIT(program_run(line), 0);
        (void)snprintf(line, sizeof line, "trace export --to goal c/%s -o c/%s.goal", types[i], types[i]);
        CHECK_EXIT(program_run(line), 0);
        (void)snprintf(line, sizeof line, "trace convert --from goal c/%s.goal -o g/%s", types[i], types[i]);
        CHECK_EXIT(program_run(line), 0);
        (void)snprintf(line, sizeof line, "run -w g/%s -s system.json -n network.yml", types[i]);
        CHECK_EXIT(program_run(line), 0);
    }
}

static void packed_traces_are_read(void **state)
{
    (void)state;
    prepare();
    CHECK_EXIT(program_run("trace fix job/three.0.et -o packed.0.et.gz"), 0);
    CHECK_EXIT(program_run("trace rewrite --type all-to-all --bytes 1MiB packed.0.et.gz -o plain.0.et"), 0);
    const struct program_result *result = program_run("trace stat plain.0.et");
    CHECK_EXIT(result, 0);
    CHECK_CONTAINS(result->out, "all-to-all");
}

TEST_MAIN(an_output_never_replaces_an_input_unasked, several_inputs_give_a_prefix, words_and_options_may_be_mixed,
          all_files_are_written_or_none, a_dry_run_only_reports, a_simplification_is_measured_by_simulating_both,
          diff_ends_like_diff, json_comes_back_as_the_same_bytes, an_exported_schedule_runs,
          every_collective_of_an_exported_schedule_runs, packed_traces_are_read)
