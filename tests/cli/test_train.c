/* SPDX-License-Identifier: Apache-2.0 */
/* `orrery train` and `orrery validate` as users type them: prices, tables, what is refused. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/cli/program.h"

#define JOB "train --model llama3-8b --machine dgx-h100:2 --gpus 16 --global-batch 32 "

static void a_price_makes_a_cost(void **state)
{
    (void)state;
    program_enter();
    const struct program_result *result = program_run(JOB);
    CHECK_EXIT(result, 0);
    CHECK_CONTAINS(result->out, "\nEnergy        ");
    CHECK(strstr(result->out, "\nCost ") == NULL, "no price was said: %s", result->out);
    result = program_run(JOB "--gpu-hour 2.5");
    CHECK_EXIT(result, 0);
    CHECK_CONTAINS(result->out, " a trillion tokens, at 2.5 for a GPU and hour\n");
    result = program_run(JOB "--gpu-hour 2.5 --json -");
    CHECK_EXIT(result, 0);
    CHECK_CONTAINS(result->out, "\"gpu_hour\": 2.500000");
    CHECK_CONTAINS(result->out, "\"cost_per_step\": ");
    CHECK_CONTAINS(result->out, "\"cost_per_trillion_tokens\": ");
    CHECK_CONTAINS(result->out, "\"joules_per_step\": ");
}

/* 16 GPUs of 8760 each, paid over a year: a GPU and hour is 1. */
static void a_price_list_makes_the_price_of_a_gpu(void **state)
{
    (void)state;
    program_enter();
    program_write_text("prices.yml", "currency: USD\nlifetime: 1\nitems:\n- name: GPU\n  each: gpu\n  price: 8760\n");
    const struct program_result *result = program_run(JOB "--prices prices.yml");
    CHECK_EXIT(result, 0);
    CHECK_CONTAINS(result->out, ", at 1 for a GPU and hour\n");
    result = program_run("train --model llama3-8b --gpu h100 --gpus 16 --global-batch 32 --prices prices.yml");
    CHECK_EXIT(result, 0);
    CHECK_CONTAINS(result->out, ", at 1 for a GPU and hour\n");
}

static void a_table_goes_to_standard_output_and_can_be_asked_again(void **state)
{
    (void)state;
    program_enter();
    program_write_text("runs.csv", "model,gpu,gpus,global_batch,note\nllama3-8b,h100,16,32,mine\n");
    const struct program_result *result = program_run("train --table runs.csv -o -");
    CHECK_EXIT(result, 0);
    CHECK_CONTAINS(result->out, "note,predicted_step_s,");
    CHECK_CONTAINS(result->out, ",ok\n");
    CHECK(access("-", F_OK) != 0, "no file is called so");
    char *once = strdup(result->out);
    program_write_text("again.csv", once);
    result = program_run("train --table again.csv");
    CHECK_EXIT(result, 0);
    assert_string_equal(result->out, once);
    free(once);
}

static void what_makes_no_sense_is_refused_in_one_line(void **state)
{
    (void)state;
    static const struct {
        const char *line, *said;
    } cases[] = {
        {JOB "--gpu-hour 2 --prices prices.yml", "--prices and --gpu-hour both say what a GPU costs"},
        {JOB "--prices prices.yml", "no price of an hour"},
        {"validate --data nowhere", "nowhere: no runs.csv there, nor in runs/ below it"},
        {"validate --data .", "runs.csv: no header line"},
    };
    program_enter();
    program_write_text("prices.yml", "currency: USD\nitems:\n- name: GPU\n  each: gpu\n  price: 8760\n");
    program_write_text("runs.csv", "");
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        const struct program_result *result = program_run(cases[i].line);
        CHECK_EXIT(result, 2);
        CHECK_CONTAINS(result->err, cases[i].said);
    }
}

/* A preset with other numbers is what the same numbers say without it: keys and values follow the heads, the MLP the
 * hidden size, where they did so before. */
static void what_followed_from_a_presets_numbers_follows_from_the_new_ones(void **state)
{
    (void)state;
    static const char preset[] = "train --model gpt2 --hidden 1024 --heads 16 --gpu h100 --gpus 1 --json -";
    static const char whole[] =
        "train --model gpt2 --hidden 1024 --heads 16 --kv-heads 16 --ffn 4096 --gpu h100 --gpus 1 --json -";
    program_enter();
    CHECK_EXIT(program_run(preset), 0);
    char *one = strdup(program_run(preset)->out);
    CHECK_TEXT(program_run(whole)->out, one);
    free(one);
}

static void the_first_word_is_the_model(void **state)
{
    (void)state;
    program_enter();
    const struct program_result *result = program_run(JOB "--json named.json");
    CHECK_EXIT(result, 0);
    result = program_run("train llama3-8b --machine dgx-h100:2 --gpus 16 --global-batch 32 --json -");
    CHECK_EXIT(result, 0);
    CHECK_TEXT(result->out, program_read("named.json", NULL));
    CHECK_EXIT(program_run(JOB "--zero 0"), 0);
    result = program_run("train llama3-8b gpt2 --machine dgx-h100:2");
    CHECK_EXIT(result, 2);
    CHECK_CONTAINS(result->err, "unexpected argument \"gpt2\"");
    result = program_run("train --list llama3-8b --json -");
    CHECK_EXIT(result, 0);
    CHECK_CONTAINS(result->out, "\"parameters\": 8030261248");
    result = program_run("plan gpt2 --machine dgx-h100 --fix tp=1,pp=1,cp=1 --top 1");
    CHECK_EXIT(result, 0);
    CHECK_CONTAINS(result->out, "Job           gpt2 on 8 x h100");
}

/* "zero": what the plan of a step says after `options`. */
static double zero_stage(const char *options)
{
    char line[256];
    (void)snprintf(line, sizeof line, "train llama3-8b --machine dgx-h100:2 --no-neighbours %s --json -", options);
    const struct program_result *result = program_run(line);
    CHECK_EXIT(result, 0);
    const char *zero = strstr(result->out, "\"zero\": ");
    CHECK(zero != NULL, "a stage in %s", result->out);
    return strtod(zero + 8, NULL);
}

static void frameworks_that_shard_do_so_unless_told_otherwise(void **state)
{
    (void)state;
    program_enter();
    CHECK(zero_stage("") == 0, "Megatron shards what it is asked to");
    CHECK(zero_stage("--framework fsdp") == 3, "FSDP shards weights");
    CHECK(zero_stage("--framework torchtitan --pp 2") == 2, "in a pipeline gradients and states");
    CHECK(zero_stage("--framework torchtitan --zero 0") == 0, "0 that is said is meant");
    CHECK(zero_stage("--framework fsdp --zero 1") == 1, "so is 1");
    CHECK(zero_stage("--framework fsdp --fsdp hybrid") == 0, "and another sharding");
    const struct program_result *result = program_run("train llama3-8b --machine dgx-h100:2 --zero 4");
    CHECK_EXIT(result, 2);
    CHECK_CONTAINS(result->err, "--zero: 4 is not between 0 and 3");
}

static void a_slice_has_as_many_chips_as_its_name_says(void **state)
{
    (void)state;
    static const char *const plans[][2] = {{"--machine tpu-v4", "64 x tpu-v4"},
                                           {"--machine tpu-v4:128", "128 x tpu-v4"},
                                           {"--machine tpu-v5p:4x4x8", "128 x tpu-v5p"},
                                           {"--machine tpu-v5p --gpus 256", "256 x tpu-v5p"}};
    program_enter();
    for (size_t i = 0; i < COUNT_OF(plans); i++) {
        char line[128];
        (void)snprintf(line, sizeof line, "train llama3-8b --no-neighbours --framework maxtext %s", plans[i][0]);
        const struct program_result *result = program_run(line);
        CHECK_EXIT(result, 0);
        CHECK_CONTAINS(result->out, plans[i][1]);
    }
}

static void a_chart_has_the_parts_of_the_step(void **state)
{
    (void)state;
    program_enter();
    CHECK_EXIT(program_run(JOB "--tp 2 --chart step.svg"), 0);
    const char *picture = program_read("step.svg", NULL);
    CHECK_CONTAINS(picture, "<svg");
    CHECK_CONTAINS(picture, "llama3-8b on 16 x h100: ");
    CHECK_CONTAINS(picture, "tensor-parallel communication");
    CHECK(strstr(picture, "pipeline bubble") == NULL, "there is none: %s", picture);
    CHECK_EXIT(program_run(JOB "--chart step.png"), 2);
}

TEST_MAIN(a_slice_has_as_many_chips_as_its_name_says, frameworks_that_shard_do_so_unless_told_otherwise,
          a_chart_has_the_parts_of_the_step, what_followed_from_a_presets_numbers_follows_from_the_new_ones,
          the_first_word_is_the_model, a_price_makes_a_cost, a_price_list_makes_the_price_of_a_gpu,
          a_table_goes_to_standard_output_and_can_be_asked_again, what_makes_no_sense_is_refused_in_one_line)
