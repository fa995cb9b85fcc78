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

/* What a kind has, unless its file says otherwise: biases on all linear layers, on queries, keys and values alone; the
 * embedding as head; learned positions; a gate. Llama's all have one. */
enum { BIAS = 1, QKV = 2, TIED = 4, PLACES = 8, GATED = 16 };

struct config_kind {
    const char *type;
    enum orr_train_family family;
    unsigned has;
};

static const struct config_kind config_kinds[] = {
    {"gpt2", ORR_TRAIN_GPT, BIAS | TIED | PLACES},
    {"gpt_bigcode", ORR_TRAIN_GPT, BIAS | TIED | PLACES},
    {"gptj", ORR_TRAIN_GPT, BIAS},
    {"gpt_neox", ORR_TRAIN_GPT, BIAS},
    {"phi", ORR_TRAIN_GPT, BIAS},
    {"opt", ORR_TRAIN_GPT, BIAS | TIED | PLACES},
    {"bloom", ORR_TRAIN_GPT, BIAS | TIED},
    {"falcon", ORR_TRAIN_GPT, TIED},
    {"mpt", ORR_TRAIN_GPT, TIED | PLACES},
    {"starcoder2", ORR_TRAIN_GPT, BIAS | TIED},
    {"nemotron", ORR_TRAIN_GPT, 0},
    {"llama", ORR_TRAIN_LLAMA, 0},
    {"mistral", ORR_TRAIN_LLAMA, 0},
    {"mixtral", ORR_TRAIN_LLAMA, 0},
    {"qwen2", ORR_TRAIN_LLAMA, QKV},
    {"qwen2_moe", ORR_TRAIN_LLAMA, QKV},
    {"qwen3", ORR_TRAIN_LLAMA, 0},
    {"qwen3_moe", ORR_TRAIN_LLAMA, 0},
    {"gemma", ORR_TRAIN_LLAMA, TIED},
    {"gemma2", ORR_TRAIN_LLAMA, TIED},
    {"gemma3_text", ORR_TRAIN_LLAMA, TIED},
    {"gpt_oss", ORR_TRAIN_LLAMA, BIAS},
    {"deepseek_v2", ORR_TRAIN_LLAMA, 0},
    {"deepseek_v3", ORR_TRAIN_LLAMA, 0},
    {"kimi_k2", ORR_TRAIN_LLAMA, 0},
    {"phi3", ORR_TRAIN_LLAMA, 0},
    {"phimoe", ORR_TRAIN_LLAMA, BIAS},
    {"cohere", ORR_TRAIN_LLAMA, TIED},
    {"cohere2", ORR_TRAIN_LLAMA, TIED},
    {"olmo", ORR_TRAIN_LLAMA, 0},
    {"olmo2", ORR_TRAIN_LLAMA, 0},
    {"olmo3", ORR_TRAIN_LLAMA, 0},
    {"olmoe", ORR_TRAIN_LLAMA, 0},
    {"stablelm", ORR_TRAIN_LLAMA, 0},
    {"granite", ORR_TRAIN_LLAMA, TIED},
    {"granitemoe", ORR_TRAIN_LLAMA, TIED},
    {"internlm2", ORR_TRAIN_LLAMA, 0},
    {"smollm3", ORR_TRAIN_LLAMA, TIED},
    {"glm4_moe", ORR_TRAIN_LLAMA, 0},
    {"dbrx", ORR_TRAIN_LLAMA, 0},
    {"bert", ORR_TRAIN_BERT, BIAS | TIED | PLACES},
    {"roberta", ORR_TRAIN_BERT, BIAS | TIED | PLACES},
    {"xlm-roberta", ORR_TRAIN_BERT, BIAS | TIED | PLACES},
    {"t5", ORR_TRAIN_T5, TIED},
    {"mt5", ORR_TRAIN_T5, GATED},
    {"vit", ORR_TRAIN_VIT, BIAS},
    {"deit", ORR_TRAIN_VIT, BIAS},
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
    {AT(ffn), {"intermediate_size", "n_inner", "d_ff", "ffn_dim", "ffn_hidden_size"}},
    {AT(heads), {"num_attention_heads", "n_head", "n_heads", "num_heads"}},
    {AT(kv_heads), {"num_key_value_heads", "num_kv_heads", "kv_n_heads"}},
    {AT(head_dim), {"head_dim", "d_kv"}},
    {AT(vocab), {"vocab_size"}},
    {AT(seq), {"max_position_embeddings", "n_positions", "max_seq_len", "seq_length"}},
    {AT(experts), {"num_local_experts", "num_experts", "n_routed_experts", "moe_num_experts"}},
    {AT(topk), {"num_experts_per_tok", "moe_top_k"}},
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

/* What a kind means where its file is silent. */
static const struct {
    const char *type;
    size_t place;
    uint32_t number;
} config_defaults[] = {{"gemma3_text", AT(heads), 8},
                       {"gemma3_text", AT(kv_heads), 4},
                       {"gemma3_text", AT(head_dim), 256},
                       {"gemma3_text", AT(vocab), 262208},
                       {"gemma3_text", AT(seq), 131072},
                       {"falcon", AT(seq), 2048},
                       {"bloom", AT(seq), 2048},
                       {"t5", AT(seq), 512},
                       {"mt5", AT(seq), 512}};

struct config_reader {
    const char *path;
    const struct io_value *root;
    struct orr_error *err;
};

static const struct io_value *config_find(const struct config_reader *reader, const char *key)
{
    static const char *const parts[] = {"attn_config", "ffn_config"}; /* of MosaicML's files */
    const struct io_value *value = io_value_member(reader->root, key);
    for (size_t i = 0; value == NULL && i < sizeof parts / sizeof parts[0]; i++) {
        const struct io_value *part = io_value_member(reader->root, parts[i]);
        value = part != NULL && part->kind == IO_MAP ? io_value_member(part, key) : NULL;
    }
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
    char all[640] = "";
    for (size_t i = 0, length = 0; i < CONFIG_KINDS && length < sizeof all; i++) {
        length += (size_t)snprintf(all + length, sizeof all - length, "%s%s", i > 0 ? ", " : "", known[i]);
    }
    return error_set(reader->err, ORR_EINVAL, "%s:%" PRIu32 ": model_type '%s' is not known%s%s%s; there are %s",
                     reader->path, type->line, type->text, near != NULL ? "; the nearest is '" : "",
                     near != NULL ? near : "", near != NULL ? "'" : "", all);
}

static uint32_t *config_place(struct orr_train_model *model, size_t place)
{
    return (uint32_t *)(void *)((char *)model + place);
}

static enum orr_status config_numbers_read(const struct config_reader *reader, const struct config_kind *kind,
                                           struct orr_train_model *model)
{
    for (size_t i = 0; i < sizeof config_numbers / sizeof config_numbers[0]; i++) {
        uint32_t *place = config_place(model, config_numbers[i].place);
        for (const char *const *key = config_numbers[i].keys; *key != NULL && *place == 0; key++) {
            enum orr_status status = config_number(reader, *key, place);
            if (status != ORR_OK) {
                return status;
            }
        }
    }
    for (size_t i = 0; i < sizeof config_defaults / sizeof config_defaults[0]; i++) {
        uint32_t *place = config_place(model, config_defaults[i].place);
        if (*place == 0 && strcmp(config_defaults[i].type, kind->type) == 0) {
            *place = config_defaults[i].number;
        }
    }
    return ORR_OK;
}

/* A window counts unless a flag says that it is not used. Which layers look at all tokens is said by a period, by a
 * list of all layers, or (Gemma 2 and 3) known. */
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
    model->window_every = global != 0                              ? model->layers / global
                          : strcmp(kind->type, "gemma2") == 0      ? 2
                          : strcmp(kind->type, "gemma3_text") == 0 ? 6
                                                                   : 0;
    return config_number(reader, "sliding_window_pattern", &model->window_every);
}

static enum orr_status config_flags_read(const struct config_reader *reader, struct orr_train_model *model)
{
    bool unbiased = !model->bias, one = false, many = false, alibi = false;
    const struct {
        const char *key;
        bool *flag;
    } flags[] = {{"tie_word_embeddings", &model->tied},
                 {"attention_bias", &model->qkv_bias},
                 {"use_qkv_bias", &model->qkv_bias},
                 {"use_bias", &model->bias},
                 {"bias", &model->bias},
                 {"no_bias", &unbiased},
                 {"is_gated_act", &model->gated},
                 {"multi_query", &one},
                 {"new_decoder_architecture", &many},
                 {"alibi", &alibi}};
    for (size_t i = 0; i < sizeof flags / sizeof flags[0]; i++) {
        enum orr_status status = config_flag(reader, flags[i].key, flags[i].flag);
        if (status != ORR_OK) {
            return status;
        }
    }
    model->bias = config_find(reader, "no_bias") != NULL ? !unbiased : model->bias;
    model->kv_heads = one && !many ? 1 : model->kv_heads;
    model->positions = alibi ? 0 : model->positions;
    return ORR_OK;
}

/* What one project says in a way of its own. */
static enum orr_status config_oddities(const struct config_reader *reader, const struct config_kind *kind,
                                       struct orr_train_model *model)
{
    uint32_t plain = 0, ratio = 0, shared = 0;
    enum orr_status status = config_number(reader, "qk_nope_head_dim", &plain);
    if (status == ORR_OK && plain != 0) {
        model->head_dim = plain + model->rope_dim;
    }
    if (status == ORR_OK && model->ffn == 0) {
        status = config_number(reader, "expansion_ratio", &ratio);
        model->ffn = ratio * model->hidden;
    }
    if (status == ORR_OK) { /* one as wide as several of the others */
        status = config_number(reader, "shared_expert_intermediate_size", &shared);
        model->shared_experts =
            shared != 0 && model->expert_ffn != 0 ? shared / model->expert_ffn : model->shared_experts;
    }
    const struct io_value *gate = config_find(reader, "feed_forward_proj");
    model->gated = gate != NULL && gate->kind == IO_TEXT ? strncmp(gate->text, "gated", 5) == 0 : model->gated;
    if ((kind->has & PLACES) != 0) {
        model->positions = model->seq;
    }
    if (status == ORR_OK) {
        status = config_flags_read(reader, model);
    }
    if (status == ORR_OK) {
        status = config_window(reader, kind, model);
    }
    const struct io_value *labels = config_find(reader, "id2label");
    if (status == ORR_OK && labels != NULL && labels->kind == IO_MAP) {
        model->classes = labels->count;
    }
    if (model->seq > CONFIG_SEQ_MOST) {
        model->seq = CONFIG_SEQ_MOST;
    }
    return status;
}

/* Of a model of text and pictures the part that has the text. */
static void config_enter_text(struct config_reader *reader)
{
    const struct io_value *text = io_value_member(reader->root, "text_config");
    const struct io_value *type = text != NULL && text->kind == IO_MAP ? io_value_member(text, "model_type") : NULL;
    reader->root = type != NULL ? text : reader->root;
}

static enum orr_status config_read_root(struct config_reader *reader, struct orr_train_model *model)
{
    const struct config_kind *kind = NULL;
    if (reader->root->kind != IO_MAP) {
        return error_set(reader->err, ORR_EINVAL, "%s: this is no model's config.json: an object is expected",
                         reader->path);
    }
    config_enter_text(reader);
    enum orr_status status = config_kind_of(reader, &kind);
    if (status != ORR_OK) {
        return status;
    }
    *model = (struct orr_train_model){.family = kind->family,
                                      .gated = kind->family == ORR_TRAIN_LLAMA || (kind->has & GATED) != 0,
                                      .bias = (kind->has & BIAS) != 0,
                                      .qkv_bias = (kind->has & QKV) != 0,
                                      .tied = (kind->has & TIED) != 0,
                                      .source = "a config.json"};
    (void)snprintf(model->name, sizeof model->name, "%s", kind->type);
    status = config_numbers_read(reader, kind, model);
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
