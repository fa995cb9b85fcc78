/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A model's config.json as Hugging Face has it. Projects name one thing in several ways, so each number has a list of
 * keys; what a kind of model has without saying so is in the table of kinds. Keys that do not bear on the shape are
 * passed over.
 */
#include <inttypes.h>
#include <string.h>

#include "io/file.h"
#include "io/json.h"
#include "train/model.h"

enum { CONFIG_SEQ_MOST = 8192 }; /* what a file allows at most is not what one trains with */

struct config_kind {
    const char *type;
    enum orr_train_family family;
    bool bias, qkv_bias, tied, positions;
};

static const struct config_kind config_kinds[] = {
    {"gpt2", ORR_TRAIN_GPT, true, false, true, true},
    {"gpt_neox", ORR_TRAIN_GPT, true, false, false, false},
    {"opt", ORR_TRAIN_GPT, true, false, true, true},
    {"bloom", ORR_TRAIN_GPT, true, false, true, false},
    {"mpt", ORR_TRAIN_GPT, false, false, true, true},
    {"nemotron", ORR_TRAIN_GPT, false, false, false, false},
    {"llama", ORR_TRAIN_LLAMA, false, false, false, false},
    {"mistral", ORR_TRAIN_LLAMA, false, false, false, false},
    {"mixtral", ORR_TRAIN_LLAMA, false, false, false, false},
    {"qwen2", ORR_TRAIN_LLAMA, false, true, false, false},
    {"qwen2_moe", ORR_TRAIN_LLAMA, false, true, false, false},
    {"qwen3", ORR_TRAIN_LLAMA, false, false, false, false},
    {"qwen3_moe", ORR_TRAIN_LLAMA, false, false, false, false},
    {"gemma", ORR_TRAIN_LLAMA, false, false, true, false},
    {"gemma2", ORR_TRAIN_LLAMA, false, false, true, false},
    {"gemma3_text", ORR_TRAIN_LLAMA, false, false, true, false},
    {"gpt_oss", ORR_TRAIN_LLAMA, true, false, false, false},
    {"deepseek_v2", ORR_TRAIN_LLAMA, false, false, false, false},
    {"deepseek_v3", ORR_TRAIN_LLAMA, false, false, false, false},
    {"phi3", ORR_TRAIN_LLAMA, false, false, false, false},
    {"bert", ORR_TRAIN_BERT, true, false, true, true},
    {"roberta", ORR_TRAIN_BERT, true, false, true, true},
    {"t5", ORR_TRAIN_T5, false, false, true, false},
    {"vit", ORR_TRAIN_VIT, true, false, false, false},
};

enum { CONFIG_KINDS = sizeof config_kinds / sizeof config_kinds[0] };

/* A number of the shape and the keys it goes by, the first that is there counts. */
struct config_number {
    size_t place;
    const char *keys[6];
};

#define AT(field) offsetof(struct orr_train_model, field)

static const struct config_number config_numbers[] = {
    {AT(layers), {"num_hidden_layers", "n_layer", "n_layers", "num_layers"}},
    {AT(hidden), {"hidden_size", "n_embd", "d_model", "n_embed"}},
    {AT(ffn), {"intermediate_size", "n_inner", "d_ff", "ffn_dim"}},
    {AT(heads), {"num_attention_heads", "n_head", "n_heads", "num_heads"}},
    {AT(kv_heads), {"num_key_value_heads"}},
    {AT(head_dim), {"head_dim", "d_kv"}},
    {AT(vocab), {"vocab_size"}},
    {AT(seq), {"max_position_embeddings", "n_positions", "max_seq_len", "seq_length"}},
    {AT(experts), {"num_local_experts", "num_experts", "n_routed_experts"}},
    {AT(topk), {"num_experts_per_tok"}},
    {AT(expert_ffn), {"moe_intermediate_size"}},
    {AT(shared_experts), {"n_shared_experts"}},
    {AT(dense_layers), {"first_k_dense_replace"}},
    {AT(kv_rank), {"kv_lora_rank"}},
    {AT(q_rank), {"q_lora_rank"}},
    {AT(rope_dim), {"qk_rope_head_dim"}},
    {AT(v_head_dim), {"v_head_dim"}},
    {AT(image), {"image_size"}},
    {AT(patch), {"patch_size"}},
};

struct config_reader {
    const char *path;
    const struct io_value *root;
    struct orr_error *err;
};

static const struct io_value *config_find(const struct config_reader *reader, const char *key)
{
    const struct io_value *value = io_value_member(reader->root, key);
    return value == NULL || value->kind == IO_NULL ? NULL : value;
}

static enum orr_status config_number(const struct config_reader *reader, const char *key, uint32_t *number)
{
    const struct io_value *value = config_find(reader, key);
    if (value == NULL) {
        return ORR_OK;
    }
    if (value->kind != IO_INTEGER || value->integer < 0 || value->integer > INT32_MAX) {
        char found[64];
        return error_set(reader->err, ORR_EINVAL,
                         "%s:%" PRIu32 ": '%s' is %s; a whole number from 0 to 2147483647 is expected", reader->path,
                         value->line, key, io_value_describe(value, found, sizeof found));
    }
    *number = (uint32_t)value->integer;
    return ORR_OK;
}

static enum orr_status config_flag(const struct config_reader *reader, const char *key, bool *flag)
{
    const struct io_value *value = config_find(reader, key);
    if (value == NULL) {
        return ORR_OK;
    }
    if (value->kind != IO_BOOL) {
        char found[64];
        return error_set(reader->err, ORR_EINVAL, "%s:%" PRIu32 ": '%s' is %s; true or false is expected", reader->path,
                         value->line, key, io_value_describe(value, found, sizeof found));
    }
    *flag = value->boolean;
    return ORR_OK;
}

static enum orr_status config_kind_of(const struct config_reader *reader, const struct config_kind **kind)
{
    const struct io_value *type = config_find(reader, "model_type");
    const char *known[CONFIG_KINDS + 1] = {NULL};
    if (type == NULL || type->kind != IO_TEXT) {
        return error_set(reader->err, ORR_EINVAL, "%s: there is no \"model_type\": this is no model's config.json",
                         reader->path);
    }
    for (size_t i = 0; i < CONFIG_KINDS; i++) {
        known[i] = config_kinds[i].type;
        if (strcmp(config_kinds[i].type, type->text) == 0) {
            *kind = &config_kinds[i];
            return ORR_OK;
        }
    }
    const char *near = error_nearest(type->text, known);
    return error_set(reader->err, ORR_EINVAL, "%s:%" PRIu32 ": model_type '%s' is not known%s%s%s", reader->path,
                     type->line, type->text, near != NULL ? "; the nearest is '" : "", near != NULL ? near : "",
                     near != NULL ? "'" : "");
}

static enum orr_status config_numbers_read(const struct config_reader *reader, struct orr_train_model *model)
{
    for (size_t i = 0; i < sizeof config_numbers / sizeof config_numbers[0]; i++) {
        uint32_t *place = (uint32_t *)(void *)((char *)model + config_numbers[i].place);
        for (const char *const *key = config_numbers[i].keys; *key != NULL && *place == 0; key++) {
            enum orr_status status = config_number(reader, *key, place);
            if (status != ORR_OK) {
                return status;
            }
        }
    }
    return ORR_OK;
}

/* A window counts unless a flag says that it is not used. Which layers look at all tokens is said by a period, by a
 * list of all layers, or (Gemma 2) known. */
static enum orr_status config_window(const struct config_reader *reader, const struct config_kind *kind,
                                     struct orr_train_model *model)
{
    bool used = true;
    uint32_t global = 0;
    const struct io_value *layers = config_find(reader, "layer_types");
    enum orr_status status = config_flag(reader, "use_sliding_window", &used);
    status = status != ORR_OK || !used ? status : config_number(reader, "sliding_window", &model->window);
    if (status != ORR_OK || model->window == 0) {
        return status;
    }
    for (const struct io_value *type = layers != NULL && layers->kind == IO_LIST ? layers->first : NULL; type != NULL;
         type = type->next) {
        global += type->kind == IO_TEXT && strcmp(type->text, "full_attention") == 0;
    }
    model->window_every = global != 0 ? model->layers / global : strcmp(kind->type, "gemma2") == 0 ? 2 : 0;
    return config_number(reader, "sliding_window_pattern", &model->window_every);
}

/* What one project says in a way of its own. */
static enum orr_status config_oddities(const struct config_reader *reader, const struct config_kind *kind,
                                       struct orr_train_model *model)
{
    uint32_t plain = 0, ratio = 0;
    enum orr_status status = config_number(reader, "qk_nope_head_dim", &plain);
    if (status == ORR_OK && plain != 0) {
        model->head_dim = plain + model->rope_dim;
    }
    if (status == ORR_OK && model->ffn == 0) {
        status = config_number(reader, "expansion_ratio", &ratio);
        model->ffn = ratio * model->hidden;
    }
    if (status == ORR_OK) {
        status = config_flag(reader, "tie_word_embeddings", &model->tied);
    }
    if (status == ORR_OK) {
        status = config_flag(reader, "attention_bias", &model->qkv_bias);
    }
    if (status == ORR_OK) {
        status = config_window(reader, kind, model);
    }
    const struct io_value *labels = config_find(reader, "id2label");
    if (status == ORR_OK && labels != NULL && labels->kind == IO_MAP) {
        model->classes = labels->count;
    }
    if (kind->positions) {
        model->positions = model->seq;
    }
    if (model->seq > CONFIG_SEQ_MOST) {
        model->seq = CONFIG_SEQ_MOST;
    }
    return status;
}

static enum orr_status config_read_root(const struct config_reader *reader, struct orr_train_model *model)
{
    const struct config_kind *kind = NULL;
    if (reader->root->kind != IO_MAP) {
        return error_set(reader->err, ORR_EINVAL, "%s: this is no model's config.json: an object is expected",
                         reader->path);
    }
    enum orr_status status = config_kind_of(reader, &kind);
    if (status != ORR_OK) {
        return status;
    }
    *model = (struct orr_train_model){.family = kind->family,
                                      .gated = kind->family == ORR_TRAIN_LLAMA,
                                      .bias = kind->bias,
                                      .qkv_bias = kind->qkv_bias,
                                      .tied = kind->tied,
                                      .source = "a config.json"};
    (void)snprintf(model->name, sizeof model->name, "%s", kind->type);
    status = config_numbers_read(reader, model);
    return status == ORR_OK ? config_oddities(reader, kind, model) : status;
}

enum orr_status model_config_parse(const char *name, const char *text, size_t size, struct mem *mem,
                                   struct orr_train_model *model, struct orr_error *err)
{
    struct arena arena;
    struct config_reader reader = {.path = name, .err = err};
    struct io_value *root = NULL;
    arena_init(&arena, mem);
    enum orr_status status = io_json_parse(name, text, size, &arena, &root, err);
    if (status == ORR_OK) {
        reader.root = root;
        status = config_read_root(&reader, model);
    }
    arena_free(&arena);
    return status;
}

enum orr_status model_config_read(const char *path, struct mem *mem, struct orr_train_model *model,
                                  struct orr_error *err)
{
    struct file_buffer file;
    file_buffer_init(&file, mem);
    enum orr_status status = file_buffer_read(&file, path, err);
    if (status == ORR_OK) {
        status = model_config_parse(path, (const char *)file.bytes, file.size, mem, model, err);
    }
    file_buffer_free(&file);
    return status;
}
