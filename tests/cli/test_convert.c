/* SPDX-License-Identifier: Apache-2.0 */
/* `orrery trace convert` and chakra_converter from the shell's side. */
#include "tests/cli/program.h"

#include <unistd.h>

#include "tests/convert/hdt.h"

static void prepare(void)
{
    program_enter();
    hdt_write("hdt.json", "1.0.2-chakra.0.0.4",
              HDT_FRONT "2~nccl:all_reduce~1~\"exclusive_dur\": 3\n"
                        "3~ncclDevKernel_AllReduce_Sum~2~\"cat\": \"kernel\", \"stream\": 7, \"exclusive_dur\": 5~"
                        "[10, 11, 0, 1000, 4, \"cuda:0\"]~\"Tensor(float)\"");
    program_write_text("work.txt", "DATA\n1\nlayer -1 5 NONE 0 5 NONE 0 5 ALLREDUCE 1024 1\n");
}

static void the_format_is_told_by_the_content(void **state)
{
    (void)state;
    prepare();
    const struct program_result *result = program_run("trace convert --compat chakra hdt.json -o new/x.0.et");
    CHECK_EXIT(result, 0);
    CHECK_CONTAINS(result->out,
                   "Wrote new/x.0.et from pytorch: 3 nodes (2 compute, 1 collective, 0 sends, 0 receives), "
                   "4000 bytes of communication.");
    result = program_run("trace convert --ranks 2 work.txt -o w");
    CHECK_EXIT(result, 0);
    CHECK_CONTAINS(result->out, "Wrote 2 traces, w.0.et to w.1.et from text");
    CHECK(program_exists("w.1.et") && !program_exists("w.2.et"), "two ranks");
}

static const struct {
    const char *line, *says, *file;
} named[] = {
    {"--ranks 1 work.txt -o one", "Wrote one.0.et from text", "one.0.et"},
    {"--ranks 1 work.txt -o single.et", "Wrote single.et from text", "single.et"},
    {"--ranks 2 work.txt -o pair.et", "Wrote 2 traces, pair.0.et to pair.1.et from text", "pair.1.et"},
    {"--ranks 1 work.txt -o plain.et --compat chakra", "Wrote plain.et.0.et from text", "plain.et.0.et"},
    {"--ranks 1 table.csv -o row", "Wrote row.0.et from csv", "row.0.et"},
    {"--ranks 1 table.csv -o row.et", "Wrote row.et from csv", "row.et"},
    {"--ranks 2 table.csv -o rows.et", "Wrote 2 traces, rows.0.et to rows.1.et from csv", "rows.1.et"},
};

static void the_files_it_names_are_those_it_wrote(void **state)
{
    (void)state;
    prepare();
    program_write_text("table.csv", "name,duration_us\nforward,5\n");
    for (size_t i = 0; i < COUNT_OF(named); i++) {
        char line[120];
        (void)snprintf(line, sizeof line, "trace convert %s", named[i].line);
        const struct program_result *result = program_run(line);
        CHECK_EXIT(result, 0);
        CHECK_CONTAINS(result->out, named[i].says);
        CHECK(program_exists(named[i].file), "%s: no %s", line, named[i].file);
    }
}

static void chakras_name_and_its_options_give_the_same_bytes(void **state)
{
    (void)state;
    size_t size = 0;
    char want[1 << 14];
    prepare();
    CHECK_EXIT(program_run("trace convert --compat chakra --from pytorch hdt.json -o ours.et"), 0);
    const char *ours = program_read("ours.et", &size);
    CHECK(size > 0 && size < sizeof want, "a small file");
    size_t ours_size = size;
    memcpy(want, ours, size);
    const struct program_result *result =
        program_run("chakra_converter --log-filename=log.txt PyTorch --input hdt.json --output=theirs.et --simulate");
    CHECK_EXIT(result, 0);
    CHECK_CONTAINS(result->out, "Issuing GPU Node ID 3 (ncclDevKernel_AllReduce_Sum) at 2us on stream 7");
    CHECK_CONTAINS(result->out, "Conversion successful. Output file is available at theirs.et.");
    CHECK_CONTAINS(program_read("log.txt", &size), "Issuing GPU Node ID 3");
    const char *theirs = program_read("theirs.et", &size);
    CHECK(size == ours_size && memcmp(theirs, want, size) == 0, "the same file");
    CHECK_EXIT(program_run("chakra_converter Text --input work.txt --output t --num-npus 2 --num-passes 1"), 0);
    CHECK(program_exists("t.0.et") && program_exists("t.1.et"), "two ranks");
}

static const struct {
    const char *line, *want;
} refusals[] = {
    {"trace convert -o x", "no input given"},
    {"trace convert hdt.json -o -", "\"-\" (standard output) is not for this"},
    {"trace convert hdt.json -o x/", "-o: \"x/\" is not the name of a file"},
    {"trace convert hdt.json", "missing -o OUT"},
    {"trace convert hdt.json work.txt -o x", "a second input \"work.txt\""},
    {"trace convert hdt.json -o hdt.json", "-o would replace the input hdt.json"},
    {"trace convert --from pytroch hdt.json -o x", "did you mean \"pytorch\"?"},
    {"trace convert --compat astra hdt.json -o x", "chakra"},
    {"trace convert --ranks 2 hdt.json -o x", "a number of ranks means nothing to the format pytorch"},
    {"trace convert --passes 2 hdt.json -o x", "a number of passes means nothing to the format pytorch"},
    {"trace convert --map id=a hdt.json -o x", "a map of columns means nothing to the format pytorch"},
    {"trace convert --unknown-size 5 --ranks 2 work.txt -o x", "a size for unknown sizes means nothing"},
    {"trace convert --simulate hdt.json -o x", "needs its mode"},
    {"trace convert --compat chakra --unknown-size 5 hdt.json -o x", "Chakra's converter has no size"},
    {"trace convert missing.json -o x", "missing.json: "},
    {"chakra_converter Tensorflow", "unknown converter \"Tensorflow\""},
    {"chakra_converter --log PyTorch", "unknown or unfinished option"},
    {"chakra_converter PyTorch --input hdt.json", "missing --output"},
    {"chakra_converter Text --input work.txt --output x --num-npus 2", "missing --num-passes"},
    {"chakra_converter PyTorch --input hdt.json --output hdt.json", "--output would replace the input"},
    {"chakra_converter --log-filename hdt.json PyTorch --input hdt.json --output x", "--log-filename would replace"},
    {"chakra_converter --log-filename x PyTorch --input hdt.json --output x", "--log-filename would replace"},
};

static void what_cannot_be_done_is_one_line_and_no_file(void **state)
{
    (void)state;
    prepare();
    for (size_t i = 0; i < COUNT_OF(refusals); i++) {
        const struct program_result *result = program_run(refusals[i].line);
        CHECK_EXIT(result, 2);
        CHECK_ONE_LINE(result);
        CHECK_CONTAINS(result->err, refusals[i].want);
        CHECK(!program_exists("x"), "%s leaves no file", refusals[i].line);
    }
}

static void a_repair_is_a_warning_and_with_strict_an_error(void **state)
{
    (void)state;
    prepare();
    FILE *file = fopen("twice.json", "w");
    hdt_put(file, "1.0.2-chakra.0.0.4", HDT_FRONT, NULL);
    hdt_put(file, "1.0.2-chakra.0.0.4", HDT_FRONT "2~a~1", NULL);
    fclose(file);
    const struct program_result *result = program_run("trace convert --compat chakra twice.json -o y.et");
    CHECK_EXIT(result, 0);
    CHECK_CONTAINS(result->err, "holds 2 documents; number 2");
    unlink("y.et");
    result = program_run("trace convert --strict --compat chakra twice.json -o y.et");
    CHECK_EXIT(result, 2);
    CHECK_ONE_LINE(result);
    CHECK(!program_exists("y.et"), "no file");
}

TEST_MAIN(the_format_is_told_by_the_content, the_files_it_names_are_those_it_wrote,
          chakras_name_and_its_options_give_the_same_bytes, what_cannot_be_done_is_one_line_and_no_file,
          a_repair_is_a_warning_and_with_strict_an_error)
