/* SPDX-License-Identifier: Apache-2.0 */
/* Parameters, one term a weight; tests hold the sums against what frameworks report. */
#include "train/model.h"

static uint64_t count_linear(uint64_t into, uint64_t out, bool bias)
{
    return into * out + (bias ? out : 0);
}

static uint64_t count_norm(const struct orr_train_model *model)
{
    bool rms = model->family == ORR_TRAIN_LLAMA || model->family == ORR_TRAIN_T5;
    return (uint64_t)model->hidden * (rms ? 1 : 2);
}

static uint64_t count_attention(const struct orr_train_model *model)
{
    uint64_t hidden = model->hidden, heads = model->heads, size = model->head_dim;
    uint64_t values = model->v_head_dim;
    uint64_t out = count_linear(heads * values, hidden, model->bias);
    if (model->kv_rank == 0) {
        uint64_t into = heads * size + model->kv_heads * (size + values);
        return count_linear(hidden, into, model->bias || model->qkv_bias) + out;
    }
    uint64_t queries = model->q_rank == 0 ? hidden * heads * size
                                          : hidden * model->q_rank + model->q_rank + model->q_rank * heads * size;
    uint64_t keys = hidden * (model->kv_rank + model->rope_dim) + model->kv_rank +
                    model->kv_rank * heads * (size - model->rope_dim + values);
    return queries + keys + out;
}

static uint64_t count_mlp(const struct orr_train_model *model, uint64_t ffn)
{
    return count_linear(model->hidden, ffn, model->bias) * (model->gated ? 2 : 1) +
           count_linear(ffn, model->hidden, model->bias);
}

/* The ones of a ViT carry the class, the patches' filter and its head. */
static void count_ends(const struct orr_train_model *model, struct orr_train_parameters *count)
{
    uint64_t hidden = model->hidden;
    if (model->family == ORR_TRAIN_VIT) {
        count->embedding = count_linear(UINT64_C(3) * model->patch * model->patch, hidden, true) +
                           hidden * (UINT64_C(1) + model_tokens(model));
        count->head = count_linear(hidden, model->classes, true);
        return;
    }
    count->embedding = model->vocab * hidden + model->positions * hidden;
    count->head = model->tied ? 0 : model->vocab * hidden;
}

static void count_transformer(const struct orr_train_model *model, struct orr_train_parameters *count)
{
    uint64_t layers = model->layers, dense = model->experts == 0 ? layers : model->dense_layers;
    count_ends(model, count);
    count->attention = count_attention(model);
    count->mlp = count_mlp(model, model->ffn);
    count->norms = 2 * count_norm(model);
    uint64_t common = layers * (count->attention + count->norms) + dense * count->mlp;
    uint64_t ends = count->embedding + count->head + count_norm(model);
    uint64_t sparse = 0, taken = 0;
    if (model->experts != 0) {
        count->router = (uint64_t)model->hidden * model->experts;
        count->expert = count_mlp(model, model->expert_ffn);
        sparse = (layers - dense) * (count->router + (model->experts + model->shared_experts) * count->expert);
        taken = (layers - dense) * (count->router + (model->topk + model->shared_experts) * count->expert);
    }
    if (model->family == ORR_TRAIN_T5) { /* the decoder: as many layers, with attention to the encoder besides */
        common += layers * (2 * count->attention + count->mlp + 3 * count_norm(model));
        ends += count_norm(model);
    }
    count->total = common + ends + sparse;
    count->active = common + ends + taken;
}

static uint64_t count_convolution(uint64_t into, uint64_t out, uint64_t side)
{
    return into * out * side * side;
}

static uint64_t count_resnet(const struct orr_train_model *model)
{
    bool small = model->blocks[3] == 0; /* for CIFAR's pictures */
    uint64_t into = small ? 16 : 64, base = into;
    uint64_t total = count_convolution(3, base, small ? 3 : 7) + 2 * base;
    for (uint64_t stage = 0; stage < 4; stage++) {
        uint64_t width = base << stage, out = width * (model->bottleneck ? 4 : 1);
        for (uint32_t block = 0; block < model->blocks[stage]; block++) {
            total += model->bottleneck
                         ? count_convolution(into, width, 1) + count_convolution(width, width, 3) +
                               count_convolution(width, out, 1) + 2 * (2 * width + out)
                         : count_convolution(into, width, 3) + count_convolution(width, width, 3) + 4 * width;
            if (into != out || (stage != 0 && block == 0)) {
                total += count_convolution(into, out, 1) + 2 * out;
            }
            into = out;
        }
    }
    return total + count_linear(into, model->classes, true);
}

static uint64_t count_vgg(const struct orr_train_model *model)
{
    uint64_t total = 0, into = 3, side = model->image >> 5;
    for (uint32_t stage = 0; stage < ORR_TRAIN_STAGES; stage++) {
        uint64_t width = stage < 4 ? UINT64_C(64) << stage : 512;
        width = width > 512 ? 512 : width;
        for (uint32_t block = 0; block < model->blocks[stage]; block++) {
            total += count_convolution(into, width, 3) + width;
            into = width;
        }
    }
    side = side == 0 ? 1 : side;
    return total + count_linear(into * side * side, 4096, true) + count_linear(4096, 4096, true) +
           count_linear(4096, model->classes, true);
}

static uint64_t count_dlrm(const struct orr_train_model *model)
{
    uint64_t features = model->tables + UINT64_C(1), width = model->hidden;
    uint64_t pairs = features * (features - 1) / 2 + width;
    uint64_t bottom = count_linear(13, 512, true) + count_linear(512, 256, true) + count_linear(256, width, true);
    uint64_t top = count_linear(pairs, 1024, true) + count_linear(1024, 1024, true) + count_linear(1024, 512, true) +
                   count_linear(512, 256, true) + count_linear(256, 1, true);
    return bottom + top;
}

void orr_train_model_count(const struct orr_train_model *model, struct orr_train_parameters *parameters)
{
    struct orr_train_parameters count = {0};
    if (model_is_transformer(model)) {
        count_transformer(model, &count);
    } else if (model->family == ORR_TRAIN_DLRM) {
        count.embedding = (uint64_t)model->tables * model->vocab * model->hidden;
        count.active = count_dlrm(model) + (uint64_t)model->tables * model->hidden;
        count.total = count_dlrm(model) + count.embedding;
    } else {
        count.total = model->family == ORR_TRAIN_RESNET ? count_resnet(model)
                      : model->family == ORR_TRAIN_VGG  ? count_vgg(model)
                                                        : model->layers * count_linear(model->hidden, model->ffn, true);
        count.active = count.total;
    }
    *parameters = count;
}
