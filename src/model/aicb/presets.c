/* SPDX-License-Identifier: Apache-2.0 */
/* Facts from the models' papers and published configurations; the counts that follow from them are checked against the
 * published parameter counts in tests/model. */
#include "model/aicb/presets.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#define GPT(l, h, a)                                                                                                   \
    .frame = AICB_FRAME_MEGATRON, .layers = (l), .hidden = (h), .heads = (a), .kv_heads = (a), .head_dim = (h) / (a),  \
    .ffn = INT64_C(4) * (h), .vocab = 50257, .positions = 2048, .seq = 2048, .bias = true
#define LLAMA(l, h, a, kv, f, v, s)                                                                                    \
    .frame = AICB_FRAME_MEGATRON, .layers = (l), .hidden = (h), .heads = (a), .kv_heads = (kv), .head_dim = (h) / (a), \
    .ffn = (f), .vocab = (v), .positions = (s), .seq = (s), .gated = true, .rms = true, .rope = true, .untied = true
#define MLA(ql)                                                                                                        \
    .frame = AICB_FRAME_DEEPSEEK, .family = AICB_FAMILY_DEEPSEEK, .q_lora = (ql), .kv_lora = 512, .qk_nope = 128,      \
    .qk_rope = 64, .v_head = 128, .head_dim = 128, .seq = 4096, .gated = true, .rms = true, .rope = true,              \
    .untied = true
#define QWEN3(l, h, a, kv, f)                                                                                          \
    .frame = AICB_FRAME_MEGATRON, .layers = (l), .hidden = (h), .heads = (a), .kv_heads = (kv), .head_dim = 128,       \
    .ffn = (f), .vocab = 151936, .positions = 40960, .seq = 4096, .gated = true, .rms = true, .rope = true,            \
    .untied = true

static const struct aicb_preset presets[] = {
    {.name = "gpt-7b", GPT(36, 4096, 32)},
    {.name = "gpt-13b", GPT(40, 5120, 40)},
    {.name = "gpt-22b", GPT(48, 6144, 64)},
    {.name = "gpt-175b", GPT(96, 12288, 96)},
    {.name = "llama-7b", LLAMA(32, 4096, 32, 32, 11008, 32000, 2048)},
    {.name = "llama-13b", LLAMA(40, 5120, 40, 40, 13824, 32000, 2048)},
    {.name = "llama-65b", LLAMA(80, 8192, 64, 64, 22016, 32000, 2048)},
    {.name = "llama2-70b", LLAMA(80, 8192, 64, 8, 28672, 32000, 4096)},
    {.name = "llama3-8b", LLAMA(32, 4096, 32, 8, 14336, 128256, 8192)},
    {.name = "llama3-70b", LLAMA(80, 8192, 64, 8, 28672, 128256, 8192)},
    {.name = "llama-405b", LLAMA(126, 16384, 128, 8, 53248, 128256, 8192)},
    {.name = "mixtral-8x7b", LLAMA(32, 4096, 32, 8, 14336, 32000, 4096), .moe_ffn = 14336, .experts = 8, .topk = 2},
    {.name = "mixtral-8x22b", LLAMA(56, 6144, 48, 8, 16384, 32768, 4096), .moe_ffn = 16384, .experts = 8, .topk = 2},
    {.name = "deepseek-16b",
     MLA(0),
     .layers = 27,
     .hidden = 2048,
     .heads = 16,
     .kv_heads = 16,
     .ffn = 10944,
     .moe_ffn = 1408,
     .vocab = 102400,
     .positions = 163840,
     .experts = 64,
     .topk = 6,
     .shared = 2,
     .dense_layers = 1},
    {.name = "deepseek-v2",
     MLA(1536),
     .layers = 60,
     .hidden = 5120,
     .heads = 128,
     .kv_heads = 128,
     .ffn = 12288,
     .moe_ffn = 1536,
     .vocab = 102400,
     .positions = 163840,
     .experts = 160,
     .topk = 6,
     .shared = 2,
     .dense_layers = 1},
    {.name = "deepseek-v3",
     MLA(1536),
     .layers = 61,
     .hidden = 7168,
     .heads = 128,
     .kv_heads = 128,
     .ffn = 18432,
     .moe_ffn = 2048,
     .vocab = 129280,
     .positions = 163840,
     .experts = 256,
     .topk = 8,
     .shared = 1,
     .dense_layers = 3},
    {.name = "qwen3-8b", QWEN3(36, 4096, 32, 8, 12288)},
    {.name = "qwen3-32b", QWEN3(64, 5120, 64, 8, 25600)},
    {.name = "qwen3-moe-30b",
     QWEN3(48, 2048, 32, 4, 6144),
     .family = AICB_FAMILY_QWEN3_MOE,
     .moe_ffn = 768,
     .experts = 128,
     .topk = 8},
    {.name = "qwen3-moe-235b",
     QWEN3(94, 4096, 64, 4, 12288),
     .family = AICB_FAMILY_QWEN3_MOE,
     .moe_ffn = 1536,
     .experts = 128,
     .topk = 8},
    {.name = "qwen3-next-80b",
     .frame = AICB_FRAME_MEGATRON,
     .family = AICB_FAMILY_QWEN3_NEXT,
     .no_training = true,
     .layers = 48,
     .hidden = 2048,
     .heads = 16,
     .kv_heads = 2,
     .head_dim = 256,
     .ffn = 5120,
     .moe_ffn = 512,
     .vocab = 151936,
     .positions = 262144,
     .seq = 4096,
     .experts = 512,
     .topk = 10,
     .shared = 1,
     .full_attention_interval = 4,
     .gated = true,
     .rms = true,
     .rope = true,
     .untied = true},
};

enum { PRESETS = sizeof presets / sizeof presets[0] };

static bool same_name(const char *a, const char *b)
{
    for (; *a != '\0' && *b != '\0'; a++, b++) {
        char letter = (char)tolower((unsigned char)*b);
        if (*a != (letter == '_' ? '-' : letter)) {
            return false;
        }
    }
    return *a == *b;
}

const struct aicb_preset *aicb_preset_find(const char *name)
{
    for (unsigned i = 0; i < PRESETS; i++) {
        if (same_name(presets[i].name, name)) {
            return &presets[i];
        }
    }
    return NULL;
}

/* The error of a name that is none of them, with the nearest. */
static enum orr_status aicb_preset_refuse(const char *name, struct orr_error *err)
{
    const char *known[PRESETS + 1];
    for (unsigned i = 0; i < PRESETS; i++) {
        known[i] = presets[i].name;
    }
    known[PRESETS] = NULL;
    struct error_proposal near = error_propose(name, known);
    return error_set(err, ORR_EINVAL, "no model \"%.60s\"%s", name,
                     near.text[0] != '\0' ? near.text
                                          : "; known are gpt-7b … gpt-175b, llama-7b … llama-405b, mixtral, deepseek, "
                                            "qwen3 (parameter 'list-models' has all)");
}

#define FILL(options, field, value)                                                                                    \
    do {                                                                                                               \
        if (!AICB_GIVEN(options, field)) {                                                                             \
            (options)->field = (value);                                                                                \
        }                                                                                                              \
    } while (0)

static void apply_experts(const struct aicb_preset *p, struct aicb_options *o)
{
    FILL(o, moe_enable, true);
    FILL(o, num_experts, p->experts);
    FILL(o, moe_router_topk, p->topk);
    FILL(o, moe_ffn_hidden_size, p->moe_ffn);
    FILL(o, n_shared_expert, p->shared);
    FILL(o, n_dense_layers, p->dense_layers);
}

static void apply_latent(const struct aicb_preset *p, struct aicb_options *o)
{
    FILL(o, q_lora_rank, p->q_lora);
    FILL(o, kv_lora_rank, p->kv_lora);
    FILL(o, qk_nope_dim, p->qk_nope);
    FILL(o, qk_rope_dim, p->qk_rope);
    FILL(o, v_head_dim, p->v_head);
}

enum orr_status aicb_preset_apply(const struct aicb_preset *p, struct aicb_options *o, struct orr_error *err)
{
    if (p->no_training) {
        return error_set(err, ORR_EINVAL,
                         "%s has linear attention, which the training generators do not know; inference and vidur do",
                         p->name);
    }
    FILL(o, frame, p->frame);
    FILL(o, model_name, p->name);
    FILL(o, num_layers, p->layers);
    FILL(o, hidden_size, p->hidden);
    FILL(o, num_attention_heads, p->heads);
    FILL(o, num_query_groups, p->kv_heads);
    FILL(o, kv_channels, p->head_dim);
    FILL(o, ffn_hidden_size, p->ffn);
    FILL(o, vocab_size, p->vocab);
    FILL(o, max_position_embeddings, p->positions);
    FILL(o, seq_length, p->seq);
    FILL(o, swiglu, p->gated);
    FILL(o, add_bias_linear, p->bias && !o->compat);
    FILL(o, normalization, p->rms ? AICB_NORM_RMS : AICB_NORM_LAYER);
    FILL(o, position_embedding_type, p->rope ? AICB_POSITION_ROPE : AICB_POSITION_LEARNED);
    FILL(o, untie_embeddings_and_output_weights, p->untied);
    if (p->experts > 0) {
        apply_experts(p, o);
    }
    if (p->kv_lora > 0) {
        apply_latent(p, o);
    }
    return ORR_OK;
}

enum orr_status aicb_preset_resolve(struct aicb_options *options, struct orr_error *err)
{
    if (options->model == NULL) {
        return ORR_OK;
    }
    const struct aicb_preset *preset = aicb_preset_find(options->model);
    return preset == NULL ? aicb_preset_refuse(options->model, err) : aicb_preset_apply(preset, options, err);
}

void aicb_presets_print(FILE *stream)
{
    (void)fprintf(stream, "%-15s %6s %6s %5s %3s %6s %7s %7s %8s %5s\n", "model", "layers", "hidden", "heads", "kv",
                  "ffn", "vocab", "experts", "moe_ffn", "topk");
    for (unsigned i = 0; i < PRESETS; i++) {
        const struct aicb_preset *p = &presets[i];
        (void)fprintf(stream, "%-15s %6" PRId64 " %6" PRId64 " %5" PRId64 " %3" PRId64 " %6" PRId64 " %7" PRId64,
                      p->name, p->layers, p->hidden, p->heads, p->kv_heads, p->ffn, p->vocab);
        if (p->experts > 0) {
            (void)fprintf(stream, " %7" PRId64 " %8" PRId64 " %5" PRId64 "%s", p->experts, p->moe_ffn, p->topk,
                          p->no_training ? "  inference only" : "");
        }
        (void)fprintf(stream, "\n");
    }
}
