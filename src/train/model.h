/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The shape of a model: from a preset (presets/models), from a config.json as Hugging Face has it, or from numbers; and
 * its parameters counted. Knows neither how a model is divided nor what it runs on.
 */
#ifndef ORR_TRAIN_MODEL_H
#define ORR_TRAIN_MODEL_H

#include "base/mem.h"
#include "orrery/train.h"

struct model_preset {
    struct orr_train_model model;
    const char *synonyms; /* a blank between two */
};

/* NULL behind the last. */
const struct model_preset *model_preset_at(size_t index);
/* The name of a preset as tables have it, with more about the run behind a dash ("resnet50-b256"); NULL: there is none.
 */
const char *model_preset_like(const char *name);
const char *model_family_word(enum orr_train_family family);

/* Reads a config.json. ORR_EINVAL names the key and its line. */
ORR_MUST_CHECK enum orr_status model_config_read(const char *path, struct mem *mem, struct orr_train_model *model,
                                                 struct orr_error *err);

/* The same of a text, which `name` stands for in errors. */
ORR_MUST_CHECK enum orr_status model_config_parse(const char *name, const char *text, size_t size, struct mem *mem,
                                                  struct orr_train_model *model, struct orr_error *err);

/* Whether attention sees all tokens, not only those before. */
bool model_is_two_way(const struct orr_train_model *model);
/* Of its layers, those whose attention looks at all of `seq` tokens; the others look at a window of them. */
double model_global_share(const struct orr_train_model *model, double seq);
/* Whether it is made of layers with attention. */
bool model_is_transformer(const struct orr_train_model *model);
/* Tokens of one sample: words, or patches and the one for the class. */
uint32_t model_tokens(const struct orr_train_model *model);

#endif
