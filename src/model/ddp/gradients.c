/* SPDX-License-Identifier: Apache-2.0 */
/* Models are few shapes with different numbers, so that each shape is a function and each model a row. */
#include "model/ddp/gradients.h"

#include <inttypes.h>
#include <string.h>

/* ---- lists ---- */

struct making {
    struct ddp_list *list;
    struct mem *mem;
    bool failed;
};

static void ddp_gradients_add(struct making *making, uint64_t value)
{
    struct ddp_list *list = making->list;
    making->failed = making->failed || !MEM_GROW(making->mem, list->items, list->capacity, list->count);
    if (!making->failed) {
        list->items[list->count++] = value;
    }
}

void ddp_list_free(struct ddp_list *list, struct mem *mem)
{
    mem_free(mem, list->items, list->capacity * sizeof *list->items);
    *list = (struct ddp_list){0};
}

static enum orr_status ddp_gradients_finish(const struct making *making, const char *what, struct orr_error *err)
{
    if (making->failed) {
        ddp_list_free(making->list, making->mem);
        return mem_error(making->mem, what, err);
    }
    return ORR_OK;
}

/* ---- models ---- */

struct shape {
    const char *name, *text;
    void (*gradients)(struct making *making, const struct shape *shape);
    /* Transformers: layers, hidden size, MLP size, size of keys and values, vocabulary, biases of q, k and v.
     * Residual networks: side of the first filter, classes, 1 = bottleneck blocks, then blocks of the four stages. */
    uint64_t n[8];
};

enum { LAYERS, HIDDEN, MIDDLE, KEYS, VOCABULARY, BIASES };
enum { FIRST_SIDE, CLASSES, BOTTLENECK, STAGE };

static void add_projection(struct making *making, uint64_t out, uint64_t in, bool bias)
{
    ddp_gradients_add(making, out * in);
    if (bias) {
        ddp_gradients_add(making, out);
    }
}

/* A decoder with gated MLPs, grouped queries and tied embeddings. Its backward pass meets the MLP's output first, and
 * the embeddings, which the loss has touched too, last. */
static void ddp_gradients_transformer(struct making *making, const struct shape *shape)
{
    const uint64_t *n = shape->n;
    bool bias = n[BIASES] != 0;
    ddp_gradients_add(making, n[HIDDEN]);
    for (uint64_t layer = 0; layer < n[LAYERS]; layer++) {
        add_projection(making, n[HIDDEN], n[MIDDLE], false);
        add_projection(making, n[MIDDLE], n[HIDDEN], false);
        add_projection(making, n[MIDDLE], n[HIDDEN], false);
        ddp_gradients_add(making, n[HIDDEN]);
        add_projection(making, n[HIDDEN], n[HIDDEN], false);
        add_projection(making, n[KEYS], n[HIDDEN], bias);
        add_projection(making, n[KEYS], n[HIDDEN], bias);
        add_projection(making, n[HIDDEN], n[HIDDEN], bias);
        ddp_gradients_add(making, n[HIDDEN]);
    }
    ddp_gradients_add(making, n[VOCABULARY] * n[HIDDEN]);
}

static void reverse(struct ddp_list *list)
{
    for (uint32_t i = 0; i < list->count / 2; i++) {
        uint64_t other = list->items[list->count - 1 - i];
        list->items[list->count - 1 - i] = list->items[i];
        list->items[i] = other;
    }
}

/* A filter and the two vectors of its batch normalisation. */
static void add_filter(struct making *making, uint64_t out, uint64_t in, uint64_t side)
{
    ddp_gradients_add(making, out * in * side * side);
    ddp_gradients_add(making, out);
    ddp_gradients_add(making, out);
}

/* In the order of the forward pass, then turned round. */
static void residual(struct making *making, const struct shape *shape)
{
    bool bottleneck = shape->n[BOTTLENECK] != 0;
    uint64_t in = 64;
    add_filter(making, 64, 3, shape->n[FIRST_SIDE]);
    for (uint32_t stage = 0; stage < 4; stage++) {
        uint64_t width = UINT64_C(64) << stage;
        uint64_t out = bottleneck ? 4 * width : width;
        for (uint64_t block = 0; block < shape->n[STAGE + stage]; block++) {
            add_filter(making, width, in, bottleneck ? 1 : 3);
            add_filter(making, width, width, 3);
            if (bottleneck) {
                add_filter(making, out, width, 1);
            }
            if (block == 0 && in != out) {
                add_filter(making, out, in, 1);
            }
            in = out;
        }
    }
    add_projection(making, shape->n[CLASSES], in, true);
    reverse(making->list);
}

/* The network of ROCm-ASTRAsim's CIFAR-10 runs: three convolutions and two linear layers. */
static void small_convolutional(struct making *making, const struct shape *shape)
{
    static const uint64_t channels[] = {3, 64, 128, 256};
    (void)shape;
    for (size_t i = 0; i + 1 < sizeof channels / sizeof channels[0]; i++) {
        ddp_gradients_add(making, channels[i + 1] * channels[i] * 9);
        ddp_gradients_add(making, channels[i + 1]);
    }
    add_projection(making, 1024, UINT64_C(256) * 8 * 8, true);
    add_projection(making, 10, 1024, true);
    reverse(making->list);
}

static const struct shape shapes[] = {
    {"qwen05b", "Qwen2.5-0.5B, 494,032,768 parameters", ddp_gradients_transformer, {24, 896, 4864, 128, 151936, 1}},
    {"qwen15b", "Qwen2.5-1.5B, 1,543,714,304 parameters", ddp_gradients_transformer, {28, 1536, 8960, 256, 151936, 1}},
    {"llama1b", "Llama-3.2-1B, 1,235,814,400 parameters", ddp_gradients_transformer, {16, 2048, 8192, 512, 128256, 0}},
    {"resnet18", "ResNet-18, 11,689,512 parameters", residual, {7, 1000, 0, 2, 2, 2, 2}},
    {"resnet50", "ResNet-50, 25,557,032 parameters", residual, {7, 1000, 1, 3, 4, 6, 3}},
    {"resnet50-cifar",
     "ResNet-50 with a 3x3 first filter and 10 classes, 23,520,842 parameters",
     residual,
     {3, 10, 1, 3, 4, 6, 3}},
    {"cnn-cifar", "three convolutions, two linear layers, 17,159,306 parameters", small_convolutional, {0}},
};

enum { SHAPES = sizeof shapes / sizeof shapes[0] };

const char *const *ddp_models(void)
{
    static const char *const names[] = {"qwen05b",  "qwen15b",        "llama1b",   "resnet18",
                                        "resnet50", "resnet50-cifar", "cnn-cifar", NULL};
    _Static_assert(sizeof names / sizeof names[0] == SHAPES + 1, "a name for each model");
    return names;
}

static const struct shape *ddp_gradients_find(const char *name)
{
    for (size_t i = 0; i < SHAPES; i++) {
        if (strcmp(shapes[i].name, name) == 0) {
            return &shapes[i];
        }
    }
    return NULL;
}

const char *ddp_model_text(const char *name)
{
    const struct shape *shape = ddp_gradients_find(name);
    return shape == NULL ? "" : shape->text;
}

enum orr_status ddp_gradients(const char *model, struct mem *mem, struct ddp_list *gradients, struct orr_error *err)
{
    const struct shape *shape = ddp_gradients_find(model);
    if (shape == NULL) {
        const char *nearest = error_nearest(model, ddp_models());
        return error_set(err, ORR_EINVAL,
                         "\"%.60s\" is no model that is known here%s%s%s; orrery gen ddp "
                         "parameter 'list-models' names all",
                         model, nearest != NULL ? "; did you mean \"" : "", nearest != NULL ? nearest : "",
                         nearest != NULL ? "\"" : "");
    }
    struct making making = {.list = gradients, .mem = mem};
    shape->gradients(&making, shape);
    return ddp_gradients_finish(&making, "the gradients", err);
}

/* ---- buckets ---- */

enum orr_status ddp_buckets(const struct ddp_list *gradients, uint64_t element_bytes, uint64_t first_limit,
                            uint64_t limit, struct mem *mem, struct ddp_list *buckets, struct orr_error *err)
{
    struct making making = {.list = buckets, .mem = mem};
    uint64_t open = 0;
    for (uint32_t i = 0; i < gradients->count; i++) {
        uint64_t bytes = 0;
        if (__builtin_mul_overflow(gradients->items[i], element_bytes, &bytes) ||
            __builtin_add_overflow(open, bytes, &open) || open > INT64_MAX) {
            ddp_list_free(buckets, mem);
            return error_set(err, ORR_ERANGE, "a bucket of more than %" PRId64 " bytes", INT64_MAX);
        }
        if (open >= (buckets->count == 0 ? first_limit : limit)) {
            ddp_gradients_add(&making, open);
            open = 0;
        }
    }
    if (open > 0) {
        ddp_gradients_add(&making, open);
    }
    return ddp_gradients_finish(&making, "the buckets", err);
}

enum orr_status ddp_buckets_even(uint64_t bytes, uint64_t limit, struct mem *mem, struct ddp_list *buckets,
                                 struct orr_error *err)
{
    enum { MOST = 1 << 20 };
    struct making making = {.list = buckets, .mem = mem};
    if (bytes / limit >= MOST || bytes > INT64_MAX) {
        return error_set(err, ORR_ERANGE,
                         "%" PRIu64 " bytes in buckets of %" PRIu64 ": at most %d buckets can be written", bytes, limit,
                         MOST);
    }
    for (; bytes > limit; bytes -= limit) {
        ddp_gradients_add(&making, limit);
    }
    ddp_gradients_add(&making, bytes);
    return ddp_gradients_finish(&making, "the buckets", err);
}
