/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows of steps of one GPU as collect/bench_steps.py writes them: `kind` says the family, `config` the shape as a JSON
 * object. Its keys are parameters' names but for three: `mbs` is the batch, `net` a network's name, and an MoE's `ffn`
 * is its experts'. A key that is none says nothing about the step.
 */
#include <inttypes.h>
#include <string.h>

#include "io/json.h"
#include "param/param.h"
#include "train/model.h"
#include "train/runs.h"

static const struct {
    const char *kind;
    enum orr_train_family family;
} kinds[] = {{"gpt", ORR_TRAIN_GPT},   {"llama", ORR_TRAIN_LLAMA}, {"moe", ORR_TRAIN_LLAMA},
             {"bert", ORR_TRAIN_BERT}, {"vit", ORR_TRAIN_VIT},     {"cnn", ORR_TRAIN_RESNET}};

static enum orr_status runs_config_value(const char *name, const struct io_value *value,
                                         struct orr_train_options *options, struct orr_error *err)
{
    const struct param *row = runs_param(name);
    char text[32];
    if (row == NULL || value->kind != IO_INTEGER || value->integer == 0) { /* 0: there are none */
        return ORR_OK;
    }
    (void)snprintf(text, sizeof text, "%" PRId64, value->integer);
    return param_read(row, name, text, options, err);
}

static enum orr_status runs_config_key(const struct io_value *value, bool experts, struct orr_train_options *options,
                                       struct orr_error *err)
{
    if (strcmp(value->key, "net") == 0 && value->kind == IO_TEXT) {
        options->model = model_preset_like(value->text);
        return options->model != NULL ? ORR_OK : error_set(err, ORR_EINVAL, "config: no network '%.60s'", value->text);
    }
    if (strcmp(value->key, "mbs") == 0) {
        enum orr_status status = runs_config_value("micro_batch", value, options, err);
        return status == ORR_OK ? runs_config_value("global_batch", value, options, err) : status;
    }
    return runs_config_value(experts && strcmp(value->key, "ffn") == 0 ? "expert_ffn" : value->key, value, options,
                             err);
}

enum orr_status runs_config_read(const char *kind, const char *text, struct orr_train_options *options,
                                 struct orr_error *err)
{
    struct mem mem = {0};
    struct arena arena;
    struct io_value *root = NULL;
    arena_init(&arena, &mem);
    enum orr_status status = io_json_parse("config", text, strlen(text), &arena, &root, err);
    if (status == ORR_OK && root->kind != IO_MAP) {
        status = error_set(err, ORR_EINVAL, "config: a JSON object is wanted");
    }
    for (const struct io_value *value = status == ORR_OK ? root->first : NULL; value != NULL && status == ORR_OK;
         value = value->next) {
        status = runs_config_key(value, strcmp(kind, "moe") == 0, options, err);
    }
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        if (strcmp(kind, kinds[i].kind) == 0 && options->shape.hidden != 0) {
            options->shape.family = kinds[i].family;
            options->gated = kinds[i].family == ORR_TRAIN_LLAMA;
            options->tied = 0;
        }
    }
    arena_free(&arena);
    return status;
}
