/* SPDX-License-Identifier: Apache-2.0 */
/* AICB's options by name, what is refused and how it is said, presets, and compute files that are not what they should
 * be. */
#include <unistd.h>

#include "io/json_stream.h"
#include "model/aicb/compute_file.h"
#include "model/aicb/rows.h"
#include "tests/folder.h"
#include "tests/model/aicb_maker.h"

static const struct {
    enum aicb_generator generator;
    const char *word, *name; /* NULL: none or several */
} spellings[] = {
    {AICB_TRAINING, "world_size", "world_size"},
    {AICB_TRAINING, "world-size", "world_size"},
    {AICB_TRAINING, "context_parallel_size", "context-parallel-size"},
    {AICB_TRAINING, "tensor", "tensor_model_parallel_size"},
    {AICB_TRAINING, "kv", "kv_lora_rank"}, /* unique among AICB's own */
    {AICB_TRAINING, "model", "model"},
    {AICB_TRAINING, "num_q", "num_query_groups"},
    {AICB_TRAINING, "moe", NULL},
    {AICB_TRAINING, "phase", NULL},
    {AICB_INFERENCE, "pha", "phase"},
    {AICB_VIDUR, "moe_routing_strategy", NULL},
};

static void a_name_is_found_whole_or_by_a_beginning_of_its_own(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(spellings); i++) {
        const struct aicb_option *row =
            aicb_option_find(spellings[i].generator, spellings[i].word, strlen(spellings[i].word), true);
        CHECK((row == NULL) == (spellings[i].name == NULL), "%s is %s", spellings[i].word,
              row == NULL ? "nothing" : row->name);
        if (row != NULL) {
            CHECK_TEXT(row->name, spellings[i].name);
        }
    }
}

static const struct {
    const char *name, *value;
    enum orr_status status;
    const char *says;
} refused[] = {
    {"world_siz", "8", ORR_EINVAL, "did you mean parameter 'world_size'?"},
    {"frobnicate", NULL, ORR_EINVAL, "unknown parameter 'frobnicate'"},
    {"world_size", "eight", ORR_EINVAL, "is not a whole number"},
    {"world_size", "8x", ORR_EINVAL, "is not a whole number"},
    {"world_size", "0", ORR_ERANGE, "is not between 1 and"},
    {"num_layers", "99999999999999999999", ORR_ERANGE, "is not between 1 and"},
    {"frame", "Megatrom", ORR_EINVAL, "did you mean \"Megatron\"?"},
    {"moe_enable", "true", ORR_EINVAL, "takes no value"},
    {"hidden_size", NULL, ORR_EINVAL, "needs a value"},
    {"phase", "decode", ORR_EINVAL, "unknown parameter 'phase'"},
};

static void a_wrong_option_says_what_is_accepted_and_changes_nothing(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(refused); i++) {
        struct aicb_options options;
        struct aicb_options before;
        struct orr_error err = {0};
        aicb_options_init(&options, AICB_TRAINING, false);
        memcpy(&before, &options, sizeof before);
        CHECK_STATUS(aicb_options_set(&options, AICB_TRAINING, refused[i].name, refused[i].value, &err),
                     refused[i].status);
        CHECK_CONTAINS(err.text, refused[i].says);
        CHECK(memcmp(&before, &options, sizeof before) == 0, "%s changed something", refused[i].name);
    }
}

static void an_option_of_ours_is_refused_beside_compat(void **state)
{
    (void)state;
    struct aicb_options options;
    struct orr_error err = {0};
    aicb_options_init(&options, AICB_TRAINING, true);
    CHECK_STATUS(aicb_options_set(&options, AICB_TRAINING, "num_query_groups", "8", &err), ORR_EINVAL);
    CHECK_CONTAINS(err.text, "not an option of AICB");
    CHECK_OK(aicb_options_set(&options, AICB_TRAINING, "model", "gpt-7b", &err), &err);
}

static const struct {
    enum aicb_generator generator;
    bool compat;
    const char *options, *says;
} broken[] = {
    {AICB_TRAINING, true, "--world_size 9 --tensor_model_parallel_size 2",
     "parameter 'world_size' 9 is not a multiple of TP"},
    {AICB_TRAINING, true, "--moe_enable --num_experts 8", "needs parameter 'enable_sequence_parallel'"},
    {AICB_TRAINING, true, "--expert_model_parallel_size 3 --num_experts 8",
     "parameter 'num_experts' 8 is not a multiple"},
    {AICB_TRAINING, true, "--expert_model_parallel_size 2 --num_experts 8 --dtype float16",
     "not with parameter 'dtype' float16"},
    {AICB_TRAINING, true, "--moe_grouped_gemm --dtype float32", "needs parameter 'dtype' bfloat16"},
    {AICB_TRAINING, true, "--world_size 3 --tensor_model_parallel_size 3 --enable_sequence_parallel",
     "is not divisible by parameter 'tensor_model_parallel_size' 3"},
    {AICB_TRAINING, true, "--aiob_enable", "needs parameter 'comp_filepath'"},
    {AICB_TRAINING, false, "--global_batch 3 --world_size 2 --num_attention_heads 16",
     "parameter 'global_batch' 3 is not a"},
    {AICB_TRAINING, false, "--num_layers 24",
     "not a multiple of parameter 'num_attention_heads' 24, by default num_layers"},
    {AICB_TRAINING, false, "--num_attention_heads 16 --num_query_groups 5",
     "multiple of parameter 'num_query_groups' 5"},
    {AICB_TRAINING, false, "--num_attention_heads 16 --world_size 3 --context-parallel-size 3",
     "parameter 'seq_length' 2048"},
    {AICB_TRAINING, false, "--model mixtral-8x7b --world_size 4 --expert_model_parallel_size 8",
     "does not divide the 4 ranks"},
    {AICB_TRAINING, false, "--num_layers 2 --num_attention_heads 2 --world_size 4 --pipeline_model_parallel 4",
     "fewer than the 4 pipeline stages"},
    {AICB_TRAINING, false, "--frame DeepSpeed --num_attention_heads 16", "Megatron and DeepSeek"},
    {AICB_TRAINING, false, "--model lama-7b", "did you mean \"llama-7b\"?"},
    {AICB_TRAINING, false, "--model qwen3-next-80b", "linear attention"},
    {AICB_TRAINING, false,
     "--hidden_size 2000000000 --num_attention_heads 1 --num_layers 60000 --ffn_hidden_size 2000000000",
     "do not fit 64 bits"},
    {AICB_TRAINING, false,
     "--hidden_size 2000000 --num_attention_heads 1 --num_layers 1 --seq_length 2000000000 --micro_batch 2000 "
     "--global_batch 2000",
     "does not fit 64 bits"},
    {AICB_TRAINING, true, "--global_batch 9000000000000000000", "micro-batches of"},
    {AICB_INFERENCE, true, "--model_name DeepSeek", "fails without a configuration"},
    {AICB_INFERENCE, true, "--model_name Llama", "is no model for inference"},
    {AICB_INFERENCE, false, "--model_name llama-7b", "training workload only"},
    {AICB_INFERENCE, false, "--model_name DeepSeek --tensor_model_parallel_size 2",
     "parameter 'world_size' 1 is less than TP 2"},
    {AICB_VIDUR, false, "--model_name DeepSeek --config_file nowhere.json", "nowhere.json"},
    {AICB_VIDUR, false, "--model_name DeepSeek --config_file list.json", "list.json:1: the model's keys"},
    {AICB_VIDUR, false, "--model_name DeepSeek --config_file missing.json", "missing.json:1: the key \"dense_layer\""},
    {AICB_VIDUR, false, "--model_name DeepSeek --config_file text.json", "text.json:2: num_layers is \"x\""},
};

static void a_rule_that_is_broken_is_named(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(broken); i++) {
        struct aicb_made made;
        aicb_make(broken[i].generator, broken[i].compat, NULL, broken[i].options, &made);
        CHECK(made.status == ORR_EINVAL || made.status == ORR_ERANGE || made.status == ORR_EIO, "%s: %s",
              broken[i].options, orr_status_text(made.status));
        CHECK_CONTAINS(made.err.text, broken[i].says);
        aicb_made_free(&made);
    }
}

/* Where DeepSeek's layers would make AICB fail there are none. */
static void a_batch_below_one_micro_batch_leaves_no_layers_in_aicbs_file(void **state)
{
    struct aicb_made made;
    (void)state;
    aicb_make(AICB_TRAINING, true, NULL,
              "--frame DeepSeek --moe_enable --enable_sequence_parallel --num_attention_heads 16 --num_layers 4 "
              "--world_size 8 --global_batch 4 --num_experts 8",
              &made);
    CHECK_OK(made.status, &made.err);
    CHECK_CONTAINS(made.text, " ga: 0 ");
    CHECK_CONTAINS(made.text, "\n10\ngrad_norm\t");
    CHECK(made.notes == 1, "a warning says so");
    aicb_made_free(&made);
}

static void an_option_wins_over_a_preset_wherever_it_stands(void **state)
{
    (void)state;
    static const char *const lines[] = {"--model llama-7b --seq_length 512", "--seq_length 512 --model LLAMA_7B"};
    for (size_t i = 0; i < COUNT_OF(lines); i++) {
        struct aicb_options options;
        struct orr_error err = {0};
        char words[100];
        char name[200];
        aicb_options_init(&options, AICB_TRAINING, false);
        aicb_set_line(&options, AICB_TRAINING, lines[i], words, sizeof words);
        CHECK_OK(aicb_preset_resolve(&options, &err), &err);
        CHECK_U64(options.seq_length, 512, "%s", lines[i]);
        CHECK_U64(options.num_layers, 32, "%s", lines[i]);
        aicb_training_name(&options, name, sizeof name);
        CHECK_TEXT(name, "None-llama-7b-world_size1-tp1-pp1-ep1-gbs4-mbs1-seq512-MOE-False-GEMM-False-"
                         "flash_attn-False.txt");
    }
}

/* ---- compute files ---------------------------------------------------------------------------------------------- */

static const struct {
    const char *text;
    const char *says; /* NULL: read */
} profiles[] = {
    {"train_iter:10\nEmb:\n    time_gpu_max: 1\n    time_gpu_min: 1\n    time_gpu_avg: 1.5\n\n", NULL},
    {"train_iter:10\r\nEmb:\r\n    time_gpu_avg: 1.5\r\n", NULL},
    {"", NULL},
    {"train_iter:10\nEmb:\n    time_gpu_avg: -1\n", ":3: "},
    {"train_iter:10\nEmb:\n    time_gpu_avg: 1e3\n", ":3: "},
    {"train_iter:10\nEmb:\n    time_gpu_avg: \n", ":3: "},
    {"train_iter:10\n    time_gpu_avg: 1\nEmb\n", ":3: "},
    {"{\"Emb\": [{\"time_gpu\": 1}]}", ":1: "},
    {"train_iter:10\nEmb:\n    time_gpu_avg: 99999999999999999999\n", "above 2^53 ns"},
};

static void put(const char *name, const char *text)
{
    FILE *file = fopen(name, "w");
    CHECK(file != NULL && fputs(text, file) >= 0 && fclose(file) == 0, "%s is written", name);
}

static void a_compute_file_is_read_whole_or_refused_by_line(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(profiles); i++) {
        struct mem mem = {0};
        struct arena arena;
        struct aicb_times times;
        struct orr_error err = {0};
        put("profile.txt", profiles[i].text);
        arena_init(&arena, &mem);
        struct aicb_compute_reading reading = {.path = "profile.txt"};
        enum orr_status status = aicb_times_read(&reading, &arena, &times, &err);
        CHECK((status == ORR_OK) == (profiles[i].says == NULL), "case %zu: %s", i, err.text);
        if (profiles[i].says != NULL) {
            CHECK_CONTAINS(err.text, "profile.txt:");
            CHECK_CONTAINS(err.text, profiles[i].says);
        } else if (profiles[i].text[0] != '\0') {
            CHECK_U64(aicb_times_find(&times, "Emb"), 1500, "ns");
        }
        arena_free(&arena);
    }
}

/* 0.0005 us is half a nanosecond: to the even one, and sums are rounded once. */
static void halves_go_to_the_even_nanosecond(void **state)
{
    (void)state;
    struct mem mem = {0};
    struct arena arena;
    struct aicb_times times;
    struct orr_error err = {0};
    put("profile.txt", "train_iter:1\n"
                       "Emb:\n time_gpu_avg: 0.0125\n"
                       "logit_time:\n time_gpu_avg: 0.0135\n"
                       "mlp_a:\n time_gpu_avg: 0.0005\nmlp_b:\n time_gpu_avg: 0.0005\nlayernorm2:\n time_gpu_avg: 2\n");
    arena_init(&arena, &mem);
    struct aicb_compute_reading reading = {.path = "profile.txt"};
    CHECK_OK(aicb_times_read(&reading, &arena, &times, &err), &err);
    CHECK_U64(aicb_times_find(&times, "Emb"), 12, "12.5");
    CHECK_U64(aicb_times_find(&times, "logit_time"), 14, "13.5");
    CHECK_U64(times.mlp, 2001, "0.5 + 0.5 + 2000");
    arena_free(&arena);
}

static void a_float_is_printed_as_python_prints_it(void **state)
{
    (void)state;
    static const struct {
        double value;
        const char *text;
    } floats[] = {{0, "0.0"},
                  {8388608, "8388608.0"},
                  {8000000, "8000000.0"},
                  {1.5, "1.5"},
                  {0.1, "0.1"},
                  {1.0 / 3, "0.3333333333333333"},
                  {1e15, "1000000000000000.0"},
                  {1e16, "1e+16"},
                  {1.5e22, "1.5e+22"},
                  {5461.333333333333, "5461.333333333333"}};
    for (size_t i = 0; i < COUNT_OF(floats); i++) {
        char text[JSON_REAL_ROOM];
        (void)json_real_repr(floats[i].value, text);
        CHECK_TEXT(text, floats[i].text);
    }
}

static int enter_folder(void **state)
{
    if (make_folder(state) != 0 || chdir(folder) != 0) {
        return -1;
    }
    put("list.json", "[1]");
    put("missing.json", "{\"num_layers\": 3}");
    put("text.json", "{\n\"num_layers\": \"x\"}");
    return 0;
}

static int leave_folder(void **state)
{
    return chdir("..") != 0 ? -1 : remove_folder(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CHECK_MAP(a_name_is_found_whole_or_by_a_beginning_of_its_own,
                  a_wrong_option_says_what_is_accepted_and_changes_nothing, an_option_of_ours_is_refused_beside_compat,
                  a_rule_that_is_broken_is_named, a_batch_below_one_micro_batch_leaves_no_layers_in_aicbs_file,
                  an_option_wins_over_a_preset_wherever_it_stands, a_compute_file_is_read_whole_or_refused_by_line,
                  halves_go_to_the_even_nanosecond, a_float_is_printed_as_python_prints_it)};
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
