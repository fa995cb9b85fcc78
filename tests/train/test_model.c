/* SPDX-License-Identifier: Apache-2.0 */
/* Shapes of models: presets, config.json files, and their parameters as the projects themselves count them. */
#include "tests/check.h"
#include "tests/folder.h"
#include "train/model.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static struct orr_error err;

/* As printed by transformers, torchvision or the model's own page; within `parts` in a million, for norms of queries
 * and keys, an embedding's norm and relative positions are not in the shape. */
static const struct {
    const char *name;
    uint64_t parameters, active, parts;
} published[] = {
    {"gpt2", 124439808, 0, 0},
    {"gpt2-medium", 354823168, 0, 0},
    {"gpt2-xl", 1557611200, 0, 0},
    {"llama2-7b", 6738415616, 0, 0},
    {"llama2-13b", 13015864320, 0, 0},
    {"llama2-70b", 68976648192, 0, 0},
    {"llama3-8b", 8030261248, 0, 0},
    {"llama3-70b", 70553706496, 0, 0},
    {"llama3-405b", 405853388800, 0, 0},
    {"llama3.2-1b", 1235814400, 0, 0},
    {"llama3.2-3b", 3212749824, 0, 0},
    {"mistral-7b", 7241732096, 0, 0},
    {"mixtral-8x7b", 46702792704, 12879925248, 0},
    {"qwen2.5-0.5b", 494032768, 0, 0},
    {"qwen2.5-7b", 7615616512, 0, 0},
    {"qwen3-8b", 8190735360, 0, 5},
    {"deepseek-v2-lite", 15706484224, 0, 0},
    {"deepseek-v2", 235741434880, 0, 0},
    {"deepseek-v3", 671026419200, 0, 1},
    {"gemma-7b", 8537680896, 0, 0},
    {"gpt-oss-120b", 116829156672, 0, 200},
    {"bloom-176b", 176247271424, 0, 1},
    {"t5-base", 222903552, 0, 5},
    {"vit-b16", 86567656, 0, 0},
    {"vit-l16", 304326632, 0, 0},
    {"resnet18", 11689512, 0, 0},
    {"resnet50", 25557032, 0, 0},
    {"resnet152", 60192808, 0, 0},
    {"vgg16", 138357544, 0, 0},
};

static void parameters_are_as_many_as_the_projects_count(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(published); i++) {
        struct orr_train_model model;
        struct orr_train_parameters count;
        CHECK_OK(orr_train_model_find(published[i].name, &model, &err), &err);
        orr_train_model_count(&model, &count);
        uint64_t wanted = published[i].parameters;
        uint64_t off = count.total > wanted ? count.total - wanted : wanted - count.total;
        CHECK(off * 1000000 <= wanted * published[i].parts, "%s has %" PRIu64 ", not %" PRIu64, published[i].name,
              count.total, wanted);
        CHECK(published[i].active == 0 || count.active == published[i].active, "%s: %" PRIu64 " of a token",
              published[i].name, count.active);
    }
}

static void every_preset_is_a_model_and_has_a_source(void **state)
{
    (void)state;
    for (size_t i = 0; model_preset_at(i) != NULL; i++) {
        struct orr_train_model model;
        struct orr_train_parameters count;
        CHECK_OK(orr_train_model_find(model_preset_at(i)->model.name, &model, &err), &err);
        orr_train_model_count(&model, &count);
        CHECK(count.total != 0 && count.active <= count.total, "%s", model.name);
        CHECK(model.source != NULL && model.source[0] != '\0', "%s", model.name);
    }
}

static enum orr_status read_config(const char *text, struct orr_train_model *model)
{
    const char *path = folder_path("config.json");
    FILE *file = fopen(path, "w");
    CHECK(file != NULL && fputs(text, file) >= 0, "%s", path);
    (void)fclose(file);
    return orr_train_model_find(path, model, &err);
}

static void a_config_file_is_the_model_that_the_preset_is(void **state)
{
    (void)state;
    static const struct {
        const char *preset, *text;
    } same[] = {
        {"llama3-8b",
         "{\"model_type\": \"llama\", \"num_hidden_layers\": 32, \"hidden_size\": 4096, \"intermediate_size\": "
         "14336, \"num_attention_heads\": 32, \"num_key_value_heads\": 8, \"vocab_size\": 128256, "
         "\"max_position_embeddings\": 8192, \"tie_word_embeddings\": false}"},
        {"gpt2", "{\"model_type\": \"gpt2\", \"n_layer\": 12, \"n_embd\": 768, \"n_head\": 12, \"n_inner\": null, "
                 "\"n_positions\": 1024, \"vocab_size\": 50257}"},
        {"deepseek-v3",
         "{\"model_type\": \"deepseek_v3\", \"num_hidden_layers\": 61, \"hidden_size\": 7168, "
         "\"intermediate_size\": 18432, \"num_attention_heads\": 128, \"num_key_value_heads\": 128, "
         "\"vocab_size\": 129280, \"max_position_embeddings\": 163840, \"kv_lora_rank\": 512, "
         "\"q_lora_rank\": 1536, \"qk_nope_head_dim\": 128, \"qk_rope_head_dim\": 64, \"v_head_dim\": 128, "
         "\"n_routed_experts\": 256, \"num_experts_per_tok\": 8, \"moe_intermediate_size\": 2048, "
         "\"n_shared_experts\": 1, \"first_k_dense_replace\": 3}"},
        {"gemma3-12b",
         "{\"model_type\": \"gemma3_text\", \"num_hidden_layers\": 48, \"hidden_size\": 3840, \"intermediate_size\": "
         "15360, \"num_attention_heads\": 16, \"num_key_value_heads\": 8, \"head_dim\": 256, \"vocab_size\": 262208, "
         "\"max_position_embeddings\": 131072, \"sliding_window\": 1024, \"sliding_window_pattern\": 6}"},
        {"gemma3-12b", /* with pictures, and what the kind means left out */
         "{\"model_type\": \"gemma3\", \"text_config\": {\"model_type\": \"gemma3_text\", \"num_hidden_layers\": 48, "
         "\"hidden_size\": 3840, \"intermediate_size\": 15360, \"num_attention_heads\": 16, "
         "\"num_key_value_heads\": 8, \"sliding_window\": 1024}, \"vision_config\": {\"hidden_size\": 1152}}"},
        {"qwen2.5-7b",
         "{\"model_type\": \"qwen2\", \"num_hidden_layers\": 28, \"hidden_size\": 3584, \"intermediate_size\": 18944, "
         "\"num_attention_heads\": 28, \"num_key_value_heads\": 4, \"vocab_size\": 152064, "
         "\"max_position_embeddings\": 131072, \"sliding_window\": 131072, \"use_sliding_window\": false}"},
        {"mixtral-8x7b",
         "{\"model_type\": \"mixtral\", \"num_hidden_layers\": 32, \"hidden_size\": 4096, \"intermediate_size\": "
         "14336, \"num_attention_heads\": 32, \"num_key_value_heads\": 8, \"vocab_size\": 32000, "
         "\"max_position_embeddings\": 32768, \"num_local_experts\": 8, \"num_experts_per_tok\": 2}"},
        {"mistral-7b",
         "{\"model_type\": \"mistral\", \"num_hidden_layers\": 32, \"hidden_size\": 4096, \"intermediate_size\": "
         "14336, \"num_attention_heads\": 32, \"num_key_value_heads\": 8, \"vocab_size\": 32000, "
         "\"max_position_embeddings\": 32768, \"sliding_window\": 4096}"},
        {"gpt2", "{\"model_type\": \"gpt2\", \"n_layer\": 12, \"n_embd\": 768, \"n_head\": 12, \"n_positions\": 1024, "
                 "\"vocab_size\": 50257, \"use_sliding_window\": false, \"sliding_window\": 512}"},
    };
    for (size_t i = 0; i < COUNT_OF(same); i++) {
        struct orr_train_model preset, read;
        CHECK_OK(orr_train_model_find(same[i].preset, &preset, &err), &err);
        CHECK_OK(read_config(same[i].text, &read), &err);
        memcpy(read.name, preset.name, sizeof read.name);
        read.source = preset.source;
        CHECK(memcmp(&read, &preset, sizeof read) == 0, "%s differs", same[i].preset);
    }
}

/* As transformers counts them; norms of queries and keys, biases that some layers lack and second norms aside. */
static void config_files_of_other_kinds_have_the_parameters_their_projects_count(void **state)
{
    (void)state;
    static const struct {
        uint64_t parameters;
        const char *text;
    } known[] = {
        {UINT64_C(41303293952), /* Falcon 40B */
         "\"falcon\", \"hidden_size\": 8192, \"num_hidden_layers\": 60, \"num_attention_heads\": 128, \"vocab_size\": "
         "65024, \"num_kv_heads\": 8, \"multi_query\": true, \"new_decoder_architecture\": true, \"bias\": false"},
        {UINT64_C(6921720704), /* Falcon 7B: one head of keys and values, whatever its file says of them */
         "\"falcon\", \"hidden_size\": 4544, \"num_hidden_layers\": 32, \"num_attention_heads\": 71, \"vocab_size\": "
         "65024, \"num_kv_heads\": 71, \"multi_query\": true, \"new_decoder_architecture\": false, \"bias\": false"},
        {UINT64_C(7173923840), /* StarCoder 2 7B */
         "\"starcoder2\", \"hidden_size\": 4608, \"intermediate_size\": 18432, \"num_hidden_layers\": 32, "
         "\"num_attention_heads\": 36, \"num_key_value_heads\": 4, \"vocab_size\": 49152, \"use_bias\": true, "
         "\"max_position_embeddings\": 16384"},
        {UINT64_C(15517456384), /* StarCoder */
         "\"gpt_bigcode\", \"n_embd\": 6144, \"n_head\": 48, \"n_layer\": 40, \"n_positions\": 8192, \"vocab_size\": "
         "49152, \"n_inner\": 24576, \"multi_query\": true"},
        {UINT64_C(57409040384), /* Qwen2 57B A14B: a shared expert as wide as eight */
         "\"qwen2_moe\", \"hidden_size\": 3584, \"num_hidden_layers\": 28, \"num_attention_heads\": 28, "
         "\"num_key_value_heads\": 4, \"vocab_size\": 151936, \"num_experts\": 64, \"num_experts_per_tok\": 8, "
         "\"moe_intermediate_size\": 2560, \"shared_expert_intermediate_size\": 20480, "
         "\"max_position_embeddings\": 131072"},
        {UINT64_C(131596523520), /* DBRX */
         "\"dbrx\", \"d_model\": 6144, \"n_heads\": 48, \"n_layers\": 40, \"max_seq_len\": 32768, \"vocab_size\": "
         "100352, \"attn_config\": {\"kv_n_heads\": 8}, \"ffn_config\": {\"ffn_hidden_size\": 10752, "
         "\"moe_num_experts\": 16, \"moe_top_k\": 4}"},
        {UINT64_C(6649286656), /* MPT 7B: ALiBi in place of positions */
         "\"mpt\", \"d_model\": 4096, \"n_heads\": 32, \"n_layers\": 32, \"max_seq_len\": 2048, \"expansion_ratio\": "
         "4, "
         "\"vocab_size\": 50432, \"no_bias\": true, \"attn_config\": {\"alibi\": true}"},
        {UINT64_C(247577856), /* T5 1.1 */
         "\"t5\", \"d_model\": 768, \"d_ff\": 2048, \"d_kv\": 64, \"num_heads\": 12, \"num_layers\": 12, "
         "\"vocab_size\": 32128, \"feed_forward_proj\": \"gated-gelu\", \"tie_word_embeddings\": false"},
    };
    for (size_t i = 0; i < COUNT_OF(known); i++) {
        char text[640];
        struct orr_train_model model;
        struct orr_train_parameters count;
        (void)snprintf(text, sizeof text, "{\"model_type\": %s}", known[i].text);
        CHECK_OK(read_config(text, &model), &err);
        orr_train_model_count(&model, &count);
        CHECK_NEAR((double)count.total, (double)known[i].parameters, 1e-4);
    }
}

static void what_is_no_model_is_refused_with_its_place(void **state)
{
    (void)state;
    static const struct {
        const char *text, *reason;
    } wrong[] = {
        {"[1]", "an object is expected"},
        {"{\"hidden_size\": 8}", "there is no \"model_type\""},
        {"{\"model_type\": \"lama\"}", "the nearest is 'llama'; there are gpt2, "},
        {"{\"model_type\": \"llama\",\n\"hidden_size\": -1}", "config.json:2: 'hidden_size' is -1"},
        {"{\"model_type\": \"llama\", \"tie_word_embeddings\": 3}", "true or false is expected"},
        {"{\"model_type\": \"llama\"}", "'hidden' must be at least 1"},
        {"{\"model_type\": \"llama\", \"num_hidden_layers\": 1, \"hidden_size\": 10, \"vocab_size\": 5, "
         "\"max_position_embeddings\": 4, \"num_attention_heads\": 3}",
         "3 heads do not divide a hidden size of 10"},
        {"{\"model_type\": \"mixtral\", \"num_hidden_layers\": 1, \"hidden_size\": 8, \"vocab_size\": 5, "
         "\"max_position_embeddings\": 4, \"num_attention_heads\": 2, \"num_local_experts\": 4, "
         "\"num_experts_per_tok\": 5}",
         "'topk' = 5 of 4 experts"},
    };
    for (size_t i = 0; i < COUNT_OF(wrong); i++) {
        struct orr_train_model model;
        CHECK(read_config(wrong[i].text, &model) == ORR_EINVAL, "%s", wrong[i].text);
        CHECK(strstr(err.text, wrong[i].reason) != NULL, "%s", err.text);
    }
    struct orr_train_model model;
    CHECK(orr_train_model_find("llama3-7b", &model, &err) == ORR_EINVAL, "there is no such model");
    CHECK(strstr(err.text, "did you mean 'llama") != NULL, "%s", err.text);
}

static void the_lists_as_json_have_all_that_the_text_has(void **state)
{
    (void)state;
    char *lines = NULL, *json = NULL;
    size_t size = 0;
    FILE *stream = NULL;
    CHECK_OK(orr_stream_text(&lines, &size, &stream, &err), &err);
    CHECK_OK(orr_train_model_list(NULL, ORR_FORM_TEXT, stream, &err), &err);
    CHECK_OK(orr_stream_close(stream, &err), &err);
    CHECK_OK(orr_stream_text(&json, &size, &stream, &err), &err);
    CHECK_OK(orr_train_models_json(stream, &err), &err);
    CHECK_OK(orr_stream_close(stream, &err), &err);
    for (const char *at = strchr(lines, '\n') + 1; *at != '\0'; at = strchr(at, '\n') + 1) {
        char name[96];
        (void)snprintf(name, sizeof name, "{\"name\": \"%.*s\", ", (int)strcspn(at, " "), at);
        CHECK_CONTAINS(json, name);
    }
    orr_free(lines);
    orr_free(json);
    CHECK_OK(orr_stream_text(&json, &size, &stream, &err), &err);
    CHECK_OK(orr_train_frameworks_json(stream, &err), &err);
    CHECK_OK(orr_stream_close(stream, &err), &err);
    CHECK_CONTAINS(json, "{\"name\": \"megatron\", ");
    orr_free(json);
    CHECK(orr_train_model_is_file("a/b") && orr_train_model_is_file("config.json"), "files");
    CHECK(!orr_train_model_is_file("llama3-8b") && orr_machine_is_file("file:x > y"), "names, and a file all the same");
    CHECK(!orr_machine_is_file("dgx-h100:2 > rail:50GB/s") && orr_machine_is_file("network.yml"), "a line; a file");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parameters_are_as_many_as_the_projects_count),
        cmocka_unit_test(every_preset_is_a_model_and_has_a_source),
        cmocka_unit_test(a_config_file_is_the_model_that_the_preset_is),
        cmocka_unit_test(config_files_of_other_kinds_have_the_parameters_their_projects_count),
        cmocka_unit_test(what_is_no_model_is_refused_with_its_place),
        cmocka_unit_test(the_lists_as_json_have_all_that_the_text_has),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
