/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which of the three families a name means, and its shape: the preset's numbers, over which the configuration's go.
 * AICB takes whatever keys the JSON has and fails later on those it misses; here a key that the family needs must be
 * there, and be a number that makes sense.
 */
#include "model/aicb/inference.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#include "io/file.h"
#include "io/json.h"

static const struct {
    const char *part;  /* of the name that is typed */
    const char *name;  /* AICB's own, which goes into the file's */
    const char *model; /* preset */
    enum aicb_family family;
} families[] = {{"Qwen3-Moe", "Qwen3-Moe-235B", "qwen3-moe-235b", AICB_FAMILY_QWEN3_MOE},
                {"Qwen3-Next", "Qwen3-Next-80B", "qwen3-next-80b", AICB_FAMILY_QWEN3_NEXT},
                {"DeepSeek", "DeepSeek-671B", "deepseek-v3", AICB_FAMILY_DEEPSEEK}};
enum { FAMILIES = sizeof families / sizeof families[0] };

static bool holds(const char *name, const char *part, bool exact)
{
    size_t length = strlen(part);
    for (; *name != '\0'; name++) {
        size_t i = 0;
        while (i < length && name[i] != '\0' &&
               (name[i] == part[i] || (!exact && tolower((unsigned char)name[i]) == tolower((unsigned char)part[i])))) {
            i++;
        }
        if (i == length) {
            return true;
        }
    }
    return false;
}

static void aicb_inference_model_fill(struct aicb_inference_model *model, const struct aicb_preset *preset)
{
    model->preset = preset;
    model->family = preset->family;
    model->layers = preset->layers;
    model->dense_layers = preset->dense_layers;
    model->hidden = preset->hidden;
    model->topk = preset->topk;
    model->shared = preset->shared;
    model->full_attention_interval = preset->full_attention_interval;
}

static const char *asked_name(const struct aicb_options *o)
{
    return o->model != NULL ? o->model : o->model_name;
}

static enum orr_status find_family(const struct aicb_options *o, struct aicb_inference_model *model,
                                   struct orr_error *err)
{
    const char *asked = asked_name(o);
    if (asked == NULL) {
        return error_set(err, ORR_EINVAL,
                         "which model? DeepSeek, Qwen3-Moe, Qwen3-Next, or a preset such as deepseek-v3");
    }
    const struct aicb_preset *preset = aicb_preset_find(asked);
    if (preset != NULL && preset->family != AICB_FAMILY_NONE) {
        aicb_inference_model_fill(model, preset);
    }
    for (size_t i = 0; i < FAMILIES; i++) {
        bool same = model->family != AICB_FAMILY_NONE ? model->family == families[i].family
                                                      : holds(asked, families[i].part, o->compat);
        if (same) {
            if (model->family == AICB_FAMILY_NONE) {
                aicb_inference_model_fill(model, aicb_preset_find(families[i].model));
            }
            model->name = o->compat ? families[i].name : o->model_name != NULL ? o->model_name : asked;
            return ORR_OK;
        }
    }
    if (preset != NULL) {
        return error_set(err, ORR_EINVAL,
                         "\"%.60s\": inference knows DeepSeek, Qwen3-Moe and Qwen3-Next models; this one has "
                         "a training workload only",
                         asked);
    }
    return error_set(err, ORR_EINVAL,
                     "\"%.60s\" is no model for inference: the name must hold DeepSeek, Qwen3-Moe or "
                     "Qwen3-Next",
                     asked);
}

/* ---- configuration ---------------------------------------------------------------------------------------------- */

struct config {
    const char *path;
    const struct io_value *root;
    struct orr_error *err;
    enum orr_status status;
};

static void aicb_inference_model_read_key(struct config *config, const char *key, int64_t least, int64_t *value)
{
    enum { MOST = 1 << 20 };
    char shown[80];
    if (config->status != ORR_OK) {
        return;
    }
    const struct io_value *found = io_value_member(config->root, key);
    if (found == NULL) {
        config->status = error_set(config->err, ORR_EINVAL, "%s:%u: the key \"%s\" is missing", config->path,
                                   config->root->line, key);
    } else if (found->kind != IO_INTEGER || found->integer < least || found->integer > MOST) {
        config->status =
            error_set(config->err, ORR_EINVAL, "%s:%u: %s is %s, not a whole number between %" PRId64 " and %d",
                      config->path, found->line, key, io_value_describe(found, shown, sizeof shown), least, MOST);
    } else {
        *value = found->integer;
    }
}

static void read_keys(struct config *config, struct aicb_inference_model *model)
{
    if (model->family == AICB_FAMILY_DEEPSEEK) {
        aicb_inference_model_read_key(config, "num_layers", 1, &model->layers);
        aicb_inference_model_read_key(config, "dense_layer", 0, &model->dense_layers);
        aicb_inference_model_read_key(config, "hidden_size", 1, &model->hidden);
        aicb_inference_model_read_key(config, "shared_experts", 0, &model->shared);
        aicb_inference_model_read_key(config, "moe_router_topk", 1, &model->topk);
        return;
    }
    aicb_inference_model_read_key(config, "num_hidden_layers", 1, &model->layers);
    aicb_inference_model_read_key(config, "hidden_size", 1, &model->hidden);
    aicb_inference_model_read_key(config, "num_experts_per_tok", 1, &model->topk);
    if (model->family == AICB_FAMILY_QWEN3_NEXT) {
        aicb_inference_model_read_key(config, "full_attention_interval", 1, &model->full_attention_interval);
    }
}

static enum orr_status read_config(const char *path, struct arena *arena, struct aicb_inference_model *model,
                                   struct orr_error *err)
{
    struct file_buffer buffer;
    struct io_value *root = NULL;
    file_buffer_init(&buffer, arena->mem);
    enum orr_status status = file_buffer_read(&buffer, path, err);
    if (status == ORR_OK) {
        status = io_json_parse(path, (const char *)buffer.bytes, buffer.size, arena, &root, err);
    }
    if (status == ORR_OK && root->kind != IO_MAP) {
        status = error_set(err, ORR_EINVAL, "%s:%u: the model's keys must be in one JSON object", path, root->line);
    }
    if (status == ORR_OK) {
        struct config config = {.path = path, .root = root, .err = err};
        read_keys(&config, model);
        status = config.status;
    }
    file_buffer_free(&buffer);
    return status;
}

enum orr_status aicb_inference_model_read(const struct aicb_options *o, struct arena *arena,
                                          struct aicb_inference_model *model, struct orr_error *err)
{
    struct aicb_inference_model read = {0};
    enum orr_status status = find_family(o, &read, err);
    if (status == ORR_OK && o->config_file != NULL) {
        status = read_config(o->config_file, arena, &read, err);
    } else if (status == ORR_OK && o->compat) {
        status = error_set(err, ORR_EINVAL,
                           "AICB fails without a configuration file; without parameter 'compat' aicb the "
                           "family's preset is taken");
    }
    if (status == ORR_OK) {
        *model = read;
    }
    return status;
}

enum orr_status aicb_inference_name(const struct aicb_options *o, bool vidur, char *name, size_t size,
                                    struct orr_error *err)
{
    static const char *const phases[] = {"decode", "prefill"};
    struct aicb_inference_model model = {0};
    enum orr_status status = find_family(o, &model, err);
    if (status == ORR_OK) {
        (void)snprintf(name, size,
                       "%s%s-world_size%" PRId64 "-tp%" PRId64 "-pp%" PRId64 "-ep%" PRId64 "-bs%" PRId64 "-seq%" PRId64
                       "-%s.%s",
                       vidur ? "vidur-" : "", model.name, o->world_size, o->tp, o->pp, o->ep, o->micro_batch,
                       o->seq_length, phases[o->phase], vidur ? "csv" : "txt");
    }
    return status;
}
