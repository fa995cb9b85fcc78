/* SPDX-License-Identifier: Apache-2.0 */
/* What AICB's model counts, against the published numbers of parameters, and how a stage is made of options. */
#include "model/aicb/model.h"
#include "tests/model/aicb_maker.h"

static void count(const char *line, struct aicb_model *model)
{
    struct aicb_options options;
    struct aicb_shape shape;
    struct mem mem = {0};
    struct notes notes;
    struct arena arena;
    struct orr_error err = {0};
    char words[1024];
    notes_init(&notes, &mem, false);
    arena_init(&arena, &mem);
    aicb_options_init(&options, AICB_TRAINING, false);
    aicb_set_line(&options, AICB_TRAINING, line, words, sizeof words);
    CHECK_OK(aicb_preset_resolve(&options, &err), &err);
    CHECK_OK(aicb_options_derive(&options, &shape, &notes, &err), &err);
    CHECK_OK(aicb_model_build(&options, &shape, &arena, model, &err), &err);
    arena_free(&arena);
    notes_free(&notes);
}

/* One rank holds the whole model. Counts are those of the published checkpoints; DeepSeek-V3's has 256 correction
 * values a layer of experts besides, and Qwen3's a normalisation of 128 values each for queries and keys. */
static const struct {
    const char *model;
    uint64_t params, besides;
} published[] = {
    {"llama-7b", 6738415616u, 0},
    {"llama-13b", 13015864320u, 0},
    {"llama-65b", 65285660672u, 0},
    {"llama2-70b", 68976648192u, 0},
    {"llama3-8b", 8030261248u, 0},
    {"llama3-70b", 70553706496u, 0},
    {"llama-405b", 405853388800u, 0},
    {"mixtral-8x7b", 46702792704u, 0},
    {"mixtral-8x22b", 140630071296u, 0},
    {"deepseek-16b", 15706484224u, 0},
    {"deepseek-v2", 235741434880u, 0},
    {"deepseek-v3", 671026419200u, 58 * 256},
    {"qwen3-8b", 8190735360u, 36 * 256},
    {"qwen3-32b", 32762123264u, 64 * 256},
    {"qwen3-moe-30b", 30532122624u, 48 * 256},
    {"qwen3-moe-235b", 235093634560u, 94 * 256},
};

static void a_preset_has_the_published_number_of_parameters(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(published); i++) {
        char line[80];
        struct aicb_model model;
        (void)snprintf(line, sizeof line, "--model %s", published[i].model);
        count(line, &model);
        CHECK_U64((uint64_t)model.total + published[i].besides, published[i].params, "%s", published[i].model);
    }
}

/* 12 l h² (1 + 13/(12h)) of the transformer, and the embeddings: the formula of the Megatron-LM papers with V padded,
 * plus the final normalisation. */
static void gpt_has_the_parameters_of_the_formula_in_the_papers(void **state)
{
    (void)state;
    struct aicb_model model;
    count("--model gpt-175b", &model);
    const uint64_t h = 12288;
    CHECK_U64(model.total, 96 * (12 * h * h + 13 * h) + (50304 + 2048) * h + 2 * h, "GPT-3");
}

/* Tensor and expert parallelism divide all but the normalisations and the router. */
static void ranks_share_the_parameters(void **state)
{
    (void)state;
    struct aicb_model one;
    struct aicb_model part;
    count("--model mixtral-8x7b", &one);
    count("--model mixtral-8x7b --world_size 16 --tensor_model_parallel_size 2 --expert_model_parallel_size 8 "
          "--global_batch 8 --enable_sequence_parallel",
          &part);
    CHECK_U64(part.moe, one.moe / 16, "experts");
    uint64_t copied = (uint64_t)one.norms + 32 * 4096 * 8;
    CHECK_U64((uint64_t)(part.total - part.moe) - copied, ((uint64_t)(one.total - one.moe) - copied) / 2, "the rest");
}

/* Fewer key and value heads than ranks: every rank has one, copied. */
static void few_key_heads_are_copied_to_all_tensor_ranks(void **state)
{
    (void)state;
    struct aicb_model at8;
    struct aicb_model at16;
    count("--model llama-405b --tensor 8 --world 8 --global_batch 1", &at8);
    count("--model llama-405b --tensor 16 --world 16 --global_batch 1", &at16);
    /* per layer: a column of 16384 x 128 x (128 + 16) / 8, then x (128 + 32) / 16 */
    int64_t column8 = INT64_C(126) * 16384 * 128 * 144 / 8;
    int64_t column16 = INT64_C(126) * 16384 * 128 * 160 / 16;
    int64_t rest8 = at8.total - at8.norms - column8;
    CHECK_U64(at16.total - at16.norms - column16, rest8 / 2, "all else is halved");
}

TEST_MAIN(a_preset_has_the_published_number_of_parameters, gpt_has_the_parameters_of_the_formula_in_the_papers,
          ranks_share_the_parameters, few_key_heads_are_copied_to_all_tensor_ranks)
