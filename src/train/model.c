/* SPDX-License-Identifier: Apache-2.0 */
#include "train/model.h"

#include <inttypes.h>
#include <string.h>

#include "base/units.h"
#include "io/json_write.h"
#include "presets.h"

#define MODEL_FIELDS(...) {__VA_ARGS__},
#define MODEL_X(fields)   MODEL_FIELDS fields

static const struct model_preset model_presets[] = {PRESET_MODELS(MODEL_X)};

enum { MODEL_PRESETS = sizeof model_presets / sizeof model_presets[0] };

static const char *const model_family_words[] = {
#define FAMILY_X(symbol, word, text) word,
    ORR_TRAIN_FAMILIES(FAMILY_X)
#undef FAMILY_X
};

const struct model_preset *model_preset_at(size_t index)
{
    return index < MODEL_PRESETS ? &model_presets[index] : NULL;
}

const char *model_family_word(enum orr_train_family family)
{
    return model_family_words[family];
}

bool model_is_transformer(const struct orr_train_model *model)
{
    return model->family <= ORR_TRAIN_VIT;
}

bool model_is_two_way(const struct orr_train_model *model)
{
    return model->family == ORR_TRAIN_BERT || model->family == ORR_TRAIN_VIT;
}

double model_global_share(const struct orr_train_model *model, double seq)
{
    if (model->window == 0 || model->window >= seq || model->layers == 0) {
        return 1;
    }
    uint32_t global = model->window_every != 0 ? model->layers / model->window_every : 0;
    return (double)global / model->layers;
}

uint32_t model_tokens(const struct orr_train_model *model)
{
    if (model->family == ORR_TRAIN_VIT) {
        uint32_t side = model->image / model->patch;
        return side * side + 1;
    }
    return model_is_transformer(model) ? model->seq : 1;
}

/* ---- whether it can be ---- */

static enum orr_status model_lacks(const struct orr_train_model *model, const char *what, struct orr_error *err)
{
    return error_set(err, ORR_EINVAL, "model '%s': '%s' must be at least 1", model->name, what);
}

static enum orr_status model_settle_heads(struct orr_train_model *model, struct orr_error *err)
{
    if (model->heads == 0) {
        return model_lacks(model, "heads", err);
    }
    if (model->kv_heads == 0) {
        model->kv_heads = model->heads;
    }
    if (model->heads % model->kv_heads != 0) {
        return error_set(err, ORR_EINVAL,
                         "model '%s': %" PRIu32 " heads do not share %" PRIu32 " heads of keys and values", model->name,
                         model->heads, model->kv_heads);
    }
    if (model->head_dim == 0) {
        if (model->hidden % model->heads != 0) {
            return error_set(err, ORR_EINVAL, "model '%s': %" PRIu32 " heads do not divide a hidden size of %" PRIu32,
                             model->name, model->heads, model->hidden);
        }
        model->head_dim = model->hidden / model->heads;
    }
    if (model->v_head_dim == 0) {
        model->v_head_dim = model->head_dim;
    }
    if (model->kv_rank != 0 && model->rope_dim >= model->head_dim) {
        return error_set(err, ORR_EINVAL,
                         "model '%s': of a head's %" PRIu32 " values, %" PRIu32 " cannot carry positions", model->name,
                         model->head_dim, model->rope_dim);
    }
    return ORR_OK;
}

static enum orr_status model_settle_experts(struct orr_train_model *model, struct orr_error *err)
{
    if (model->experts == 0) {
        model->topk = model->expert_ffn = model->shared_experts = model->dense_layers = 0;
        return ORR_OK;
    }
    if (model->expert_ffn == 0) {
        model->expert_ffn = model->ffn;
    }
    if (model->topk == 0 || model->topk > model->experts) {
        return error_set(err, ORR_EINVAL, "model '%s': a token goes to 'topk' = %" PRIu32 " of %" PRIu32 " experts",
                         model->name, model->topk, model->experts);
    }
    if (model->dense_layers > model->layers) {
        return error_set(err, ORR_EINVAL, "model '%s': %" PRIu32 " dense layers of %" PRIu32, model->name,
                         model->dense_layers, model->layers);
    }
    return ORR_OK;
}

/* Blocks of each stage of a network known by its depth: of VGG (table 1 of Simonyan and Zisserman), of ResNets for
 * large pictures and of those for CIFAR's, 6 n + 2 (He et al., table 1 and section 4.2). */
static enum orr_status model_settle_depth(struct orr_train_model *model, struct orr_error *err)
{
    static const struct {
        enum orr_train_family family;
        uint32_t layers, blocks[ORR_TRAIN_STAGES];
        bool bottleneck;
    } known[] = {{ORR_TRAIN_VGG, 11, {1, 1, 2, 2, 2}, false}, {ORR_TRAIN_VGG, 13, {2, 2, 2, 2, 2}, false},
                 {ORR_TRAIN_VGG, 16, {2, 2, 3, 3, 3}, false}, {ORR_TRAIN_VGG, 19, {2, 2, 4, 4, 4}, false},
                 {ORR_TRAIN_RESNET, 18, {2, 2, 2, 2}, false}, {ORR_TRAIN_RESNET, 34, {3, 4, 6, 3}, false},
                 {ORR_TRAIN_RESNET, 50, {3, 4, 6, 3}, true},  {ORR_TRAIN_RESNET, 101, {3, 4, 23, 3}, true},
                 {ORR_TRAIN_RESNET, 152, {3, 8, 36, 3}, true}};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (known[i].family == model->family && known[i].layers == model->layers) {
            memcpy(model->blocks, known[i].blocks, sizeof model->blocks);
            model->bottleneck = known[i].bottleneck;
            return ORR_OK;
        }
    }
    if (model->family == ORR_TRAIN_RESNET && model->layers >= 8 && model->layers % 6 == 2) {
        for (int i = 0; i < 3; i++) {
            model->blocks[i] = (model->layers - 2) / 6;
        }
        return ORR_OK;
    }
    return error_set(err, ORR_EINVAL,
                     "model '%s': no %s of %" PRIu32
                     " layers is known: parameter 'blocks' says how many each stage has",
                     model->name, model_family_words[model->family], model->layers);
}

static enum orr_status model_settle_pictures(struct orr_train_model *model, struct orr_error *err)
{
    model->image = model->image == 0 ? 224 : model->image;
    model->classes = model->classes == 0 ? 1000 : model->classes;
    if (model->family == ORR_TRAIN_VIT && model->patch == 0) {
        model->patch = 16;
    }
    if (model->family != ORR_TRAIN_VIT && model->blocks[0] == 0) {
        return model_settle_depth(model, err);
    }
    if (model->family == ORR_TRAIN_VIT && (model->patch == 0 || model->image % model->patch != 0)) {
        return error_set(err, ORR_EINVAL, "model '%s': patches of %" PRIu32 " do not divide a side of %" PRIu32,
                         model->name, model->patch, model->image);
    }
    return ORR_OK;
}

enum orr_status orr_train_model_settle(struct orr_train_model *model, struct orr_error *err)
{
    bool pictures = model->family >= ORR_TRAIN_VIT && model->family <= ORR_TRAIN_VGG;
    bool convolutions = pictures && model->family != ORR_TRAIN_VIT;
    enum orr_status status = pictures ? model_settle_pictures(model, err) : ORR_OK;
    if (status != ORR_OK || convolutions) {
        return status;
    }
    if (model->hidden == 0) {
        return model_lacks(model, "hidden", err);
    }
    if (model->family != ORR_TRAIN_DLRM && model->layers == 0) {
        return model_lacks(model, "layers", err);
    }
    if (model->ffn == 0) {
        model->ffn = 4 * model->hidden;
    }
    if (!model_is_transformer(model)) {
        return ORR_OK;
    }
    if (model->family != ORR_TRAIN_VIT && (model->vocab == 0 || model->seq == 0)) {
        return model_lacks(model, model->vocab == 0 ? "vocab" : "seq", err);
    }
    status = model_settle_heads(model, err);
    return status == ORR_OK ? model_settle_experts(model, err) : status;
}

/* ---- by name ---- */

/* `length`: of the name. */
static const struct model_preset *model_preset_find(const char *name, size_t length)
{
    for (size_t i = 0; i < MODEL_PRESETS; i++) {
        const struct model_preset *preset = &model_presets[i];
        if (strlen(preset->model.name) == length && memcmp(preset->model.name, name, length) == 0) {
            return preset;
        }
        for (const char *at = preset->synonyms; *at != '\0'; at += strspn(at, " ")) {
            size_t word = strcspn(at, " ");
            if (word == length && memcmp(at, name, length) == 0) {
                return preset;
            }
            at += word;
        }
    }
    return NULL;
}

const char *model_preset_like(const char *name)
{
    const struct model_preset *found = NULL;
    for (size_t length = strlen(name); found == NULL && length > 0; length--) {
        if (name[length] == '\0' || name[length] == '-') {
            found = model_preset_find(name, length);
        }
    }
    return found != NULL ? found->model.name : NULL;
}

static enum orr_status model_unknown(const char *name, struct orr_error *err)
{
    const char *known[MODEL_PRESETS + 1] = {NULL};
    for (size_t i = 0; i < MODEL_PRESETS; i++) {
        known[i] = model_presets[i].model.name;
    }
    const char *near = error_nearest(name, known);
    return near != NULL
               ? error_set(err, ORR_EINVAL, "no model '%s'; did you mean '%s'?", name, near)
               : error_set(
                     err, ORR_EINVAL,
                     "no model '%s': neither a preset (parameter 'list' shows them) nor the path of a config.json",
                     name);
}

bool orr_train_model_is_file(const char *what)
{
    size_t length = strlen(what);
    return strchr(what, '/') != NULL || (length > 5 && strcmp(what + length - 5, ".json") == 0);
}

enum orr_status orr_train_model_find(const char *what, struct orr_train_model *model, struct orr_error *err)
{
    struct orr_train_model found = {0};
    enum orr_status status = ORR_OK;
    if (orr_train_model_is_file(what)) {
        struct mem mem = {0};
        status = model_config_read(what, &mem, &found, err);
    } else {
        const struct model_preset *preset = model_preset_find(what, strlen(what));
        if (preset == NULL) {
            return model_unknown(what, err);
        }
        found = preset->model;
    }
    if (status == ORR_OK) {
        status = orr_train_model_settle(&found, err);
    }
    if (status == ORR_OK) {
        *model = found;
    }
    return status;
}

/* ---- lists ---- */

static void model_print_line(const struct orr_train_model *model, FILE *stream)
{
    struct orr_train_parameters count;
    orr_train_model_count(model, &count);
    (void)fprintf(stream, "%-18s %-7s %9.3f", model->name, model_family_word(model->family), (double)count.total / 1e9);
    if (count.active != count.total) {
        (void)fprintf(stream, "  %.3f of them for a token", (double)count.active / 1e9);
    }
    (void)fputc('\n', stream);
}

/* The numbers that make up a shape, in the order they are told. */
#define MODEL_NUMBERS(X)                                                                                               \
    X(layers)                                                                                                          \
    X(hidden)                                                                                                          \
    X(ffn)                                                                                                             \
    X(heads)                                                                                                           \
    X(kv_heads)                                                                                                        \
    X(head_dim)                                                                                                        \
    X(v_head_dim)                                                                                                      \
    X(kv_rank)                                                                                                         \
    X(q_rank)                                                                                                          \
    X(rope_dim)                                                                                                        \
    X(window)                                                                                                          \
    X(window_every)                                                                                                    \
    X(vocab)                                                                                                           \
    X(seq)                                                                                                             \
    X(positions)                                                                                                       \
    X(experts)                                                                                                         \
    X(topk)                                                                                                            \
    X(expert_ffn)                                                                                                      \
    X(shared_experts)                                                                                                  \
    X(dense_layers)                                                                                                    \
    X(image)                                                                                                           \
    X(patch)                                                                                                           \
    X(classes)                                                                                                         \
    X(tables)

static void model_print_number(const char *name, uint64_t value, FILE *stream)
{
    if (value != 0) {
        (void)fprintf(stream, "  %-16s%" PRIu64 "\n", name, value);
    }
}

static void model_print_whole(const struct orr_train_model *model, FILE *stream)
{
    struct orr_train_parameters count;
    orr_train_model_count(model, &count);
    (void)fprintf(stream, "%s (%s)\n", model->name, model_family_word(model->family));
#define SHOW_X(field) model_print_number(#field, model->field, stream);
    MODEL_NUMBERS(SHOW_X)
#undef SHOW_X
    (void)fprintf(stream, "  %-16s%s%s%s\n", "linear layers", model->bias ? "biased" : "without bias",
                  model->gated ? ", gated" : "", model->tied ? ", head tied to the embedding" : "");
    model_print_number("parameters", count.total, stream);
    if (count.active != count.total) {
        model_print_number("  of a token", count.active, stream);
    }
    (void)fprintf(stream, "  %-16s%s\n", "source", model->source);
}

static void model_json(const struct orr_train_model *model, bool flat, struct json_writer *writer)
{
    struct orr_train_parameters count;
    orr_train_model_count(model, &count);
    json_write_object(writer, flat);
    json_write_member_string(writer, "name", model->name);
    json_write_member_string(writer, "family", model_family_word(model->family));
    json_write_member_u64(writer, "parameters", count.total);
    json_write_member_u64(writer, "active_parameters", count.active);
#define SHOW_X(field) json_write_member_u64(writer, #field, model->field);
    MODEL_NUMBERS(SHOW_X)
#undef SHOW_X
    json_write_member_bool(writer, "bias", model->bias);
    json_write_member_bool(writer, "gated", model->gated);
    json_write_member_bool(writer, "tied", model->tied);
    json_write_member_string(writer, "source", model->source);
    json_write_object_end(writer);
}

static enum orr_status model_list_all(struct json_writer *writer, FILE *stream, struct orr_error *err)
{
    struct orr_train_model model;
    if (writer == NULL) {
        (void)fprintf(stream, "%-18s %-7s %9s\n", "model", "family", "billions");
    } else {
        json_write_object(writer, false);
        json_write_key(writer, "models");
        json_write_array(writer, false);
    }
    for (size_t i = 0; i < MODEL_PRESETS; i++) {
        model = model_presets[i].model;
        enum orr_status status = orr_train_model_settle(&model, err);
        if (status != ORR_OK) {
            return status;
        }
        if (writer == NULL) {
            model_print_line(&model, stream);
        } else {
            model_json(&model, true, writer);
        }
    }
    if (writer != NULL) {
        json_write_array_end(writer);
        json_write_object_end(writer);
    }
    return ORR_OK;
}

enum orr_status orr_train_model_list(const char *name, enum orr_form form, FILE *stream, struct orr_error *err)
{
    struct orr_train_model model;
    struct json_writer writer;
    struct json_writer *json = form == ORR_FORM_JSON ? &writer : NULL;
    enum orr_status status = name != NULL ? orr_train_model_find(name, &model, err) : ORR_OK;
    if (status != ORR_OK) {
        return status;
    }
    if (json != NULL) {
        json_write_begin(json, stream);
    }
    if (name == NULL) {
        status = model_list_all(json, stream, err);
    } else if (json != NULL) {
        model_json(&model, false, json);
    } else {
        model_print_whole(&model, stream);
    }
    if (json != NULL && status == ORR_OK) {
        json_write_end(json);
    }
    return status == ORR_OK ? error_of_stream(stream, name != NULL ? "the model" : "the list of models", err) : status;
}

enum orr_status orr_train_models_json(FILE *stream, struct orr_error *err)
{
    return orr_train_model_list(NULL, ORR_FORM_JSON, stream, err);
}
