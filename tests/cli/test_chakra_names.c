/* SPDX-License-Identifier: Apache-2.0 */
/* Chakra's programs by their own names, in all three spellings, with their own options. */
#include <stdlib.h>
#include <unistd.h>

#include "tests/cli/program.h"

#define WORKLOAD "DATA\n1\na -1 4 NONE 0 2 NONE 0 3 ALLREDUCE 10 4\n"

static void prepare(void)
{
    program_enter();
    program_write_text("w.txt", WORKLOAD);
}

/* One trace, made by the name under test. */
static void check_trace(const char *path)
{
    char line[128];
    snprintf(line, sizeof line, "trace show %s", path);
    const struct program_result *result = program_run(line);
    CHECK_EXIT(result, 0);
    CHECK_CONTAINS(result->out, "\"COMM_COLL_NODE_a_ALLREDUCE\"");
    CHECK_CONTAINS(result->out, "duration 4 us");
}

static void a_symbolic_link_of_the_name_is_the_program(void **state)
{
    (void)state;
    prepare();
    CHECK(access("chakra_converter", F_OK) == 0 || symlink(getenv("ORRERY"), "chakra_converter") == 0, "symlink");
    CHECK_EXIT(program_run_as("./chakra_converter", "Text --input w.txt --output link --num-npus 2 --num-passes 1",
                              NULL, NULL),
               0);
    check_trace("link.1.et");
}

static void the_names_are_commands_of_orrery_too(void **state)
{
    (void)state;
    prepare();
    CHECK_EXIT(program_run("chakra_converter Text --input w.txt --output word --num-npus 1 --num-passes 1"), 0);
    check_trace("word.0.et");
    CHECK_EXIT(
        program_run("chakra.src.converter.converter Text --input=w.txt --output=module --num-npus=1 --num-passes=1"),
        0);
    check_trace("module.0.et");
}

/* As in the tutorials' demo2/convert.sh and demo3/convert.sh. */
static void the_spelling_of_the_tutorials_is_todays(void **state)
{
    (void)state;
    prepare();
    const struct program_result *result =
        program_run("chakra.et_converter.et_converter --input_type=Text --input_filename=w.txt "
                    "--output_filename=tutorial --num_npus=2");
    CHECK_EXIT(result, 0);
    check_trace("tutorial.1.et");
    CHECK_EXIT(program_run("chakra_converter --input_filename w.txt --input_type Text --output_filename apart "
                           "--num_npus 2 --num_passes 1 --log_filename log.txt"),
               0);
    check_trace("apart.0.et");
    CHECK(access("log.txt", F_OK) == 0, "the log");
    result = program_run("chakra_converter --input_type=Text --input_filename=w.txt --output_filename=x");
    CHECK_EXIT(result, 2);
    CHECK_CONTAINS(result->err, "missing --num_npus N");
    result = program_run("chakra_converter --input_type=PyTorch --output_filename=x");
    CHECK_EXIT(result, 2);
    CHECK_CONTAINS(result->err, "missing --input_filename FILE");
    result = program_run("chakra_converter --input_type=Excel --input_filename=w.txt --output_filename=x");
    CHECK_EXIT(result, 2);
    CHECK_CONTAINS(result->err, "unknown --input_type \"Excel\"; PyTorch or Text is needed");
    result =
        program_run("chakra_converter --input_type=Text --input_filename=w.txt --output_filename=dims --num_npus=1 "
                    "--num_dims=2");
    CHECK_EXIT(result, 0);
    CHECK_CONTAINS(result->err, "--num_dims has no effect");
}

/* chakra_converter was not given --compat, so nobody can leave it out. */
static void advice_names_a_command_that_can_follow_it(void **state)
{
    (void)state;
    prepare();
    program_write_text(
        "new.json",
        "{\"schema\": \"1.0.1\", \"pid\": 1, \"time\": \"t\", \"start_ts\": 1, \"finish_ts\": 2, \"nodes\": []}");
    const struct program_result *result = program_run("chakra_converter PyTorch --input new.json --output x.et");
    CHECK_EXIT(result, 2);
    CHECK_CONTAINS(result->err, "orrery trace convert");
    CHECK(strstr(result->err, "leave out") == NULL, "%s", result->err);
}

static void each_name_explains_itself(void **state)
{
    (void)state;
    static const char *const names[] = {
        "chakra_converter",
        "chakra_trace_link",
        "chakra_jsonizer",
        "chakra_visualizer",
        "chakra_generator",
        "chakra_timeline_visualizer",
        "chakra.src.converter.converter",
        "chakra.src.trace_link.trace_link",
        "chakra.src.jsonizer.jsonizer",
        "chakra.src.visualizer.visualizer",
        "chakra.src.generator.generator",
        "chakra.src.timeline_visualizer.timeline_visualizer",
    };
    program_enter();
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        char line[80];
        snprintf(line, sizeof line, "%s --help", names[i]);
        const struct program_result *result = program_run(line);
        CHECK_EXIT(result, 0);
        CHECK_CONTAINS(result->out, "Usage: chakra_");
    }
}

static void options_may_be_cut_short_where_only_one_begins_so(void **state)
{
    (void)state;
    prepare();
    CHECK_EXIT(program_run("chakra_converter Text --input w.txt --output cut --num-npus 1 --num-passes 1"), 0);
    CHECK_EXIT(program_run("chakra_jsonizer --input cut.0.et --out=cut.json"), 0);
    size_t size = 0;
    CHECK_CONTAINS(program_read("cut.json", &size), "}{\n  \"name\": \"COMP_NODE_a_FWD\"");
    const struct program_result *result = program_run("chakra_generator --default 4");
    CHECK_EXIT(result, 2);
    CHECK_ONE_LINE(result);
    CHECK_EXIT(program_run("trace show --lim 1 cut.0.et"), 2);
}

static void each_of_the_small_tools_writes_its_file(void **state)
{
    (void)state;
    prepare();
    CHECK_EXIT(program_run("chakra_generator --num_npus 2 --default_comm_size 7"), 0);
    CHECK(program_exists("BARRIER.1.et") && !program_exists("BARRIER.2.et"), "two ranks");
    CHECK_EXIT(program_run("chakra_visualizer --input_filename ALL_REDUCE.1.et --output_filename a.dot --source"), 0);
    size_t size = 0;
    CHECK_TEXT(program_read("a.dot", &size), "digraph {\n\t17 [label=ALL_REDUCE id=17 shape=record]\n}\n");
    CHECK_EXIT(
        program_run("chakra.src.visualizer.visualizer --input_filename ALL_REDUCE.1.et --output_filename a.graphml"),
        0);
    CHECK_CONTAINS(program_read("a.graphml", &size), "<data key=\"d0\">ALL_REDUCE</data>");
    program_write_text("log.csv", "issue,s=0,t=0,n=1,m=COMP_NODE\ncallback,s=0,t=2000000,n=1,m=COMP_NODE\n");
    CHECK_EXIT(program_run("chakra_timeline_visualizer --input_filename log.csv --output_filename t.json --num_npus 1 "
                           "--npu_frequency 1000"),
               0);
    CHECK_CONTAINS(program_read("t.json", &size), "\"dur\": 2.0, \"ph\": \"X\"");
}

static const struct {
    const char *line, *want;
} bad[] = {
    {"chakra_jsonizer --output_filename x", "missing --input_filename"},
    {"chakra_jsonizer --input_filename w.txt", "missing --output_filename"},
    {"chakra_jsonizer --input_filename w.txt --output_filename x.json", "w.txt: byte"},
    {"chakra_jsonizer --input_filename nothing --output_filename x.json", "nothing: "},
    {"chakra_jsonizer --input_filename w.txt --output_filename w.txt",
     "--output_filename would replace the input w.txt"},
    {"chakra_visualizer --input_filename w.txt --output_filename x.png",
     "x.png: the name must end in .dot, .pdf or .graphml"},
    {"chakra_generator --num_npus 0", "--num_npus: 0 is not between 1 and"},
    {"chakra_generator --num_npu 1 --defualt_runtime 3",
     "unknown option --defualt_runtime; did you mean --default_runtime?"},
    {"chakra_timeline_visualizer --input_filename w.txt --output_filename x.json --num_npus 1",
     "missing --npu_frequency"},
    {"chakra_timeline_visualizer --input_filename w.txt --output_filename x.json --num_npus 1 --npu_frequency 1.5GHz",
     "--npu_frequency: \"1.5GHz\" is not a whole number"},
};

static void mistakes_end_with_one_line_and_code_2(void **state)
{
    (void)state;
    prepare();
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        const struct program_result *result = program_run(bad[i].line);
        CHECK_EXIT(result, 2);
        CHECK_ONE_LINE(result);
        CHECK_CONTAINS(result->err, bad[i].want);
        CHECK(!program_exists("x.json"), "%s leaves a file", bad[i].line);
    }
}

TEST_MAIN(a_symbolic_link_of_the_name_is_the_program, each_name_explains_itself, the_names_are_commands_of_orrery_too,
          the_spelling_of_the_tutorials_is_todays, advice_names_a_command_that_can_follow_it,
          options_may_be_cut_short_where_only_one_begins_so, each_of_the_small_tools_writes_its_file,
          mistakes_end_with_one_line_and_code_2)
