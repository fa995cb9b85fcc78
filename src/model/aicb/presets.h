/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Published models by name: their shapes, so that nobody has to type fourteen options. A preset fills what no option
 * has given, in whatever order they came. The numbers are the models' own; where a script of AICB has others
 * (docs/aicb.md names them), it is the script that is mistaken.
 */
#ifndef ORR_MODEL_AICB_PRESETS_H
#define ORR_MODEL_AICB_PRESETS_H

#include "model/aicb/options.h"

/* The three families AICB's inference generators know, by the layers they are made of. */
enum aicb_family { AICB_FAMILY_NONE, AICB_FAMILY_DEEPSEEK, AICB_FAMILY_QWEN3_MOE, AICB_FAMILY_QWEN3_NEXT };

struct aicb_preset {
    const char *name;
    enum aicb_frame frame;
    enum aicb_family family;
    int64_t layers, hidden, heads, kv_heads, head_dim;
    int64_t ffn, moe_ffn; /* of a dense layer, of an expert */
    int64_t vocab, positions, seq;
    int64_t experts, topk, shared, dense_layers;
    int64_t q_lora, kv_lora, qk_nope, qk_rope, v_head;
    int64_t full_attention_interval; /* Qwen3-Next: every so many layers attend fully */
    bool gated, rms, rope, untied, bias;
    bool no_training; /* has layers that no training generator knows */
};

/* By name, upper or lower case, '_' for '-'; NULL when there is none. */
const struct aicb_preset *aicb_preset_find(const char *name);

/* Fills the training options that were not given. With compat a bias is left to add_bias_linear, as AICB's scripts
 * do. Fails with ORR_EINVAL for a model that has no training generator. */
ORR_MUST_CHECK enum orr_status aicb_preset_apply(const struct aicb_preset *preset, struct aicb_options *options,
                                                 struct orr_error *err);

/* What the option model asks for, if it was given. Fails with ORR_EINVAL for an unknown name too. */
ORR_MUST_CHECK enum orr_status aicb_preset_resolve(struct aicb_options *options, struct orr_error *err);

/* One line a preset. */
void aicb_presets_print(FILE *stream);

#endif
