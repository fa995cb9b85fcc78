/* SPDX-License-Identifier: Apache-2.0 */
/* `orrery op` as users type it: one operator, tables, measurements of their own, what is refused. */
#include <stdlib.h>

#include "tests/cli/program.h"

static void one_operator_says_what_its_time_rests_on(void **state)
{
    (void)state;
    program_enter();
    const struct program_result *result = program_run("op predict --op gemm --device h100_sxm --shape 2048x4096x4096");
    CHECK_EXIT(result, 0);
    CHECK_CONTAINS(result->out, "gemm bf16 2048x4096x4096 on h100, stack serving\n");
    CHECK_CONTAINS(result->out, "bound by compute");
    CHECK_CONTAINS(result->out, "From      measured, h100");
    result =
        program_run("op predict --op attention-backward --device gb300 --stack kernel --shape 2x32x4096x128 --full");
    CHECK_EXIT(result, 0);
    CHECK_CONTAINS(result->out, "From      datasheet, h200");
}

static void an_answer_says_what_it_does_not_know(void **state)
{
    (void)state;
    static const struct {
        const char *line, *said;
    } cases[] = {
        {"op predict --op gemm --device mi300x --shape 4096x14336x4096", "nothing of the kind was measured on mi300x"},
        {"op predict --op gemm --device a100 --dtype fp8 --shape 4096x4096x4096", "a100 has no units for fp8"},
        {"op predict --op gemm --device h100 --dtype nvfp4 --shape 4096x4096x4096", "h100 has no units for nvfp4"},
        {"op predict --op gemm --device h200 --shape 4096x4096x4096", "Stack     torch: one call of PyTorch"},
        {"op predict --op adamw --device h200 --shape 1000000000", "Rates     1"},
        {"op predict --op gemm --device h100 --shape 100000x100000x100000", "Time      2.212 s, "},
        {"op list --device mi300x", "mi300x: nothing measured; answered from h100, carried by data sheet"},
    };
    program_enter();
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        const struct program_result *result = program_run(cases[i].line);
        CHECK_EXIT(result, 0);
        CHECK_CONTAINS(result->out, cases[i].said);
    }
}

static void measurements_of_ones_own_are_used_at_once(void **state)
{
    (void)state;
    program_enter();
    program_write_text("mine.csv", "op,device,dtype,m,n,k,us\ngemm,h100_sxm,bf16,3000,5000,5000,300\n");
    CHECK_EXIT(program_run("op import mine.csv -o mine.ops.zst"), 0);
    const struct program_result *result =
        program_run("op predict --op gemm --device h100 --shape 3000x5000x5000 --data mine.ops.zst");
    CHECK_EXIT(result, 0);
    CHECK_CONTAINS(result->out, "Time      300");
    CHECK_CONTAINS(result->out, "From      measured, h100");
    CHECK(setenv("ORRERY_OPS", "mine.ops.zst", 1) == 0, "the environment names it");
    result = program_run("op predict --op gemm --device h100 --shape 3000x5000x5000");
    CHECK_CONTAINS(result->out, "Time      300");
    result = program_run("op predict --op gemm --device h100 --shape 64x512x512");
    CHECK_CONTAINS(result->out, "Time      3."); /* far away little changes */
    CHECK(unsetenv("ORRERY_OPS") == 0, "and no longer");
}

static void a_thinned_table_is_compared_with_what_a_fit_without_it_says(void **state)
{
    (void)state;
    char line[2000];
    program_enter();
    (void)snprintf(line, sizeof line, "op compare %s/../ops/thin.csv -o page.md", getenv("ORRERY_DATA"));
    const struct program_result *result = program_run(line);
    CHECK_EXIT(result, 0);
    CHECK_CONTAINS(result->out, "| serving gemm | ");
    CHECK_CONTAINS(result->out, "| b300 attention-forward bf16 | ");
    CHECK(program_exists("page.md") && program_exists("page-serving.svg"), "a page and its drawings");
}

static void a_bad_row_says_why_and_the_others_are_answered(void **state)
{
    (void)state;
    program_enter();
    program_write_text("some.csv", "op,m,n,k\ngemm,64,512,512\ngem,1,2,3\ngemm,1,2,0\ngemm,128,512,512\n");
    const struct program_result *result = program_run("op predict --table some.csv --device h100 -o -");
    CHECK_EXIT(result, 0);
    CHECK(!program_exists("-"), "- is standard output");
    CHECK_CONTAINS(result->out, ",serving,ok\ngem,1,2,3,,,,,,,,,,");
    CHECK_CONTAINS(result->out, "k of gemm is 0: from 1 on are accepted\ngemm,128,512,512,");
    CHECK_CONTAINS(result->err, "2 of 4 rows were not understood");
}

static void a_row_with_too_few_or_too_many_fields_is_told_and_the_table_goes_on(void **state)
{
    (void)state;
    program_enter();
    program_write_text("ragged.csv", "op,m,n,k\ngemm,64,512\ngemm,64,512,512,9\ngemm,128,512,512\n");
    const struct program_result *result = program_run("op predict --table ragged.csv --device h100 -o -");
    CHECK_EXIT(result, 0);
    CHECK_CONTAINS(result->out, "\ngemm,64,512,,,,,,,,,,,\"ragged.csv:2: 3 fields, where the header has 4\"\n");
    CHECK_CONTAINS(result->out, "\"ragged.csv:3: 5 fields, where the header has 4\"\ngemm,128,512,512,");
    CHECK_CONTAINS(result->err, "2 of 3 rows were not understood");
}

static void bad_input_is_refused_in_one_line(void **state)
{
    (void)state;
    static const struct {
        const char *line, *said;
    } cases[] = {
        {"op predict --op gemm --device h100", "missing --table FILE, or --op NAME --device NAME --shape DIMS"},
        {"op predict --op gem --device h100 --shape 1x2x3", "did you mean \"gemm\"?"},
        {"op predict --op gemm --device h1000 --shape 1x2x3", "did you mean \"h100\"?"},
        {"op predict --op gemm --device h100 --shape 1x2", "gemm takes 3 numbers"},
        {"op predict --op gemm --device h100 --shape 1x2x3 --table x.csv", "one of them"},
        {"op predict --table nothing.csv --device h100 --op gemm", "nothing.csv"},
        {"op predict --op gemm --device h100 --shape 1x2x3 --data wrong.csv", "is no data of operators"},
        {"op predict --table wrong.csv --device h100", "wrong.csv:2: unknown operator \"gem\""},
        {"op predict --table wrong.csv --device h100 -o wrong.csv", "--output is the table itself"},
        {"op predict --op gemm --device h100 --shape 1x2x3 -o x.csv", "--output is for --table"},
        {"op predict --table wrong.csv", "no column \"device\": give --device for all rows"},
        {"op import wrong.csv", "missing --output FILE"},
        {"op fit wrong.csv --device h100", "wrong.csv:2:"},
        {"op bench -o x.zst", "missing --device NAME"},
    };
    program_enter();
    program_write_text("wrong.csv", "op,m,n,k\ngem,1,2,3\n");
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        const struct program_result *result = program_run(cases[i].line);
        CHECK_EXIT(result, 2);
        CHECK_CONTAINS(result->err, cases[i].said);
    }
}

TEST_MAIN(a_bad_row_says_why_and_the_others_are_answered,
          a_row_with_too_few_or_too_many_fields_is_told_and_the_table_goes_on, one_operator_says_what_its_time_rests_on,
          an_answer_says_what_it_does_not_know, measurements_of_ones_own_are_used_at_once,
          a_thinned_table_is_compared_with_what_a_fit_without_it_says, bad_input_is_refused_in_one_line)
