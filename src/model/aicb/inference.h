/* SPDX-License-Identifier: Apache-2.0 */
/*
 * AICB's inference workload for SimAI and its table for Vidur (spec simai §4): one forward pass, layer by layer, of
 * DeepSeek's, Qwen3's mixture-of-experts or Qwen3-Next's models. The shape comes from a JSON configuration, or from the
 * family's preset where there is none.
 *
 * `options` are those of AICB_INFERENCE or AICB_VIDUR. With compat, compute times are looked for where AICB leaves
 * them (results/aiob_outputs/ in the working folder), otherwise they come from comp_filepath alone.
 */
#ifndef ORR_MODEL_AICB_INFERENCE_H
#define ORR_MODEL_AICB_INFERENCE_H

#include "model/aicb/presets.h"

/* Layers and widths of a model, by AICB's names of its layers. */
struct aicb_inference_model {
    enum aicb_family family;
    const char *name;                 /* of the file */
    int64_t layers, dense_layers;     /* dense ones: DeepSeek */
    int64_t hidden, topk;             /* values a token, experts a token */
    int64_t shared;                   /* shared experts: DeepSeek */
    int64_t full_attention_interval;  /* Qwen3-Next */
    const struct aicb_preset *preset; /* the published model whose other widths it has */
};

/* The model that the options name, with the numbers of its configuration. Fails with ORR_EINVAL (unknown family; a key
 * that is missing or no number, "file:line: …"), ORR_EIO or ORR_ENOMEM. */
ORR_MUST_CHECK enum orr_status aicb_inference_model_read(const struct aicb_options *options, struct arena *arena,
                                                         struct aicb_inference_model *model, struct orr_error *err);

/* AICB's name for the file: SimAI's text, or Vidur's table. Fails as above: the name has the model's. */
ORR_MUST_CHECK enum orr_status aicb_inference_name(const struct aicb_options *options, bool vidur, char *name,
                                                   size_t size, struct orr_error *err);

ORR_MUST_CHECK enum orr_status aicb_inference_write(const struct aicb_options *options, struct mem *mem, FILE *stream,
                                                    struct orr_error *err);
ORR_MUST_CHECK enum orr_status aicb_vidur_write(const struct aicb_options *options, struct mem *mem, FILE *stream,
                                                struct orr_error *err);

#endif
