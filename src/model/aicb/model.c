/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One builder with a sticky status: each layer is a handful of additions, and a failure (memory, a width that does not
 * divide, an overflow) is looked at once at the end.
 */
#include "model/aicb/model.h"

#include <inttypes.h>
#include <string.h>

struct builder {
    const struct aicb_options *o;
    const struct aicb_shape *s;
    struct arena *arena;
    struct aicb_model *model;
    struct orr_error *err;
    enum orr_status status;
    bool overflow;
};

static void aicb_model_add(struct builder *b, struct aicb_piece piece)
{
    struct aicb_model *model = b->model;
    if (b->status == ORR_OK && model->count == model->capacity) {
        uint32_t capacity = model->capacity == 0 ? 256 : 2 * model->capacity;
        struct aicb_piece *grown = arena_alloc(b->arena, capacity * sizeof *grown);
        if (grown == NULL) {
            b->status = mem_error(b->arena->mem, "layers of a model", b->err);
            return;
        }
        if (model->count > 0) {
            memcpy(grown, model->pieces, model->count * sizeof *grown);
        }
        model->pieces = grown;
        model->capacity = capacity;
    }
    if (b->status != ORR_OK) {
        return;
    }
    piece.attention = strncmp(piece.name, "attention", 9) == 0;
    model->pieces[model->count++] = piece;
    model->total = aicb_add(model->total, piece.params, &b->overflow);
    model->moe = aicb_add(model->moe, piece.kind == AICB_PIECE_EXPERTS ? piece.params : 0, &b->overflow);
}

static int64_t mul(struct builder *b, int64_t x, int64_t y)
{
    return aicb_mul(x, y, &b->overflow);
}

static int64_t sum(struct builder *b, int64_t x, int64_t y)
{
    return aicb_add(x, y, &b->overflow);
}

static int64_t aicb_model_divide(struct builder *b, int64_t whole, const char *what)
{
    if (b->status == ORR_OK && !b->overflow && whole % b->o->tp != 0) {
        b->status = error_set(b->err, ORR_EINVAL,
                              "%s: %" PRId64 " is not divisible by parameter 'tensor_model_parallel_size' %" PRId64,
                              what, whole, b->o->tp);
    }
    return whole / b->o->tp;
}

static int64_t column_params(struct builder *b, int64_t in, int64_t out, const char *what)
{
    int64_t part = aicb_model_divide(b, out, what);
    return sum(b, mul(b, in, part), b->o->add_bias_linear ? part : 0);
}

static int64_t row_params(struct builder *b, int64_t in, int64_t out, const char *what)
{
    return sum(b, mul(b, out, aicb_model_divide(b, in, what)), b->o->add_bias_linear ? out : 0);
}

static void add_column(struct builder *b, const char *name, int64_t in, int64_t out, const char *what)
{
    aicb_model_add(b, (struct aicb_piece){name, AICB_PIECE_COLUMN, false, column_params(b, in, out, what), in});
}

static void aicb_model_add_row(struct builder *b, const char *name, int64_t in, int64_t out, const char *what)
{
    aicb_model_add(b, (struct aicb_piece){name, AICB_PIECE_ROW, false, row_params(b, in, out, what), out});
}

/* A normalisation of `width` values: AICB's "fused" ones always have a weight and a bias. */
static void add_norm(struct builder *b, int64_t width)
{
    bool bias = !b->o->fix.norm_count || (b->o->normalization == AICB_NORM_LAYER && b->o->frame != AICB_FRAME_DEEPSEEK);
    int64_t params = bias ? 2 * width : width;
    b->model->norms = sum(b, b->model->norms, params);
    aicb_model_add(b, (struct aicb_piece){"norm", AICB_PIECE_COUNTED, false, params, 0});
}

/* Those of a layer, between its parts. */
static void add_layer_norms(struct builder *b)
{
    if (b->model->split || b->o->fix.norm_count) {
        add_norm(b, b->o->hidden_size);
    }
    if (b->o->fix.norm_count) {
        add_norm(b, b->o->hidden_size);
    }
}

static void aicb_model_add_embedding(struct builder *b)
{
    const struct aicb_options *o = b->o;
    int64_t words = mul(b, b->s->vocab / o->tp, o->hidden_size);
    bool learned = o->frame != AICB_FRAME_DEEPSEEK && o->position_embedding_type == AICB_POSITION_LEARNED;
    int64_t positions = learned ? mul(b, o->max_position_embeddings, o->hidden_size) : 0;
    int64_t params = o->fix.embedding_count ? sum(b, words, positions)
                                            : sum(b, mul(b, 4, words), mul(b, o->seq_length, o->hidden_size));
    aicb_model_add(b, (struct aicb_piece){"embedding_layer", AICB_PIECE_EMBEDDING, false, params, o->hidden_size});
}

static bool aicb_model_is_gated(const struct builder *b)
{
    return b->o->fix.gated_mlp && (b->o->swiglu || b->o->frame == AICB_FRAME_DEEPSEEK);
}

static void aicb_model_add_mlp(struct builder *b, int64_t ffn)
{
    int64_t h = b->o->hidden_size;
    int64_t out = aicb_model_is_gated(b) ? mul(b, 2, ffn) : ffn;
    if (b->model->split) {
        add_column(b, "mlp_column", h, out, "width of the MLP");
        aicb_model_add_row(b, "mlp_row", ffn, h, "width of the MLP");
    } else {
        int64_t params =
            sum(b, column_params(b, h, out, "width of the MLP"), row_params(b, ffn, h, "width of the MLP"));
        aicb_model_add(b, (struct aicb_piece){"mlp_layer", AICB_PIECE_WHOLE, false, params, h});
    }
}

/* ---- Megatron --------------------------------------------------------------------------------------------------- */

/* Queries, keys and values side by side. Fewer key/value heads than TP ranks are copied. */
static int64_t qkv_width(struct builder *b)
{
    const struct aicb_options *o = b->o;
    int64_t heads = b->s->heads;
    if (!o->fix.attention_shape) {
        return 3 * b->s->head_dim * heads; /* AICB drops what remains of hidden_size / heads */
    }
    int64_t kv = b->s->kv_heads;
    if (b->status == ORR_OK && kv % o->tp != 0 && o->tp % kv != 0) {
        b->status =
            error_set(b->err, ORR_EINVAL,
                      "parameter 'num_query_groups' %" PRId64 " and parameter 'tensor_model_parallel_size' %" PRId64
                      ": neither is a multiple of the other",
                      kv, o->tp);
    }
    kv = kv < o->tp ? o->tp : kv;
    (void)aicb_model_divide(b, heads, "attention heads");
    return mul(b, b->s->head_dim, heads + 2 * kv);
}

static void aicb_model_add_attention(struct builder *b)
{
    int64_t h = b->o->hidden_size;
    int64_t inner = mul(b, b->s->head_dim, b->s->heads);
    int64_t qkv = qkv_width(b);
    if (b->model->split) {
        add_column(b, "attention_column", h, qkv, "width of queries, keys and values");
        aicb_model_add_row(b, "attention_row", inner, h, "width of attention");
    } else {
        int64_t params = sum(b, column_params(b, h, qkv, "width of queries, keys and values"),
                             row_params(b, inner, h, "width of attention"));
        aicb_model_add(b, (struct aicb_piece){"attention_layer", AICB_PIECE_WHOLE, false, params, h});
    }
}

static void add_router(struct builder *b)
{
    if (b->o->fix.router_count) {
        aicb_model_add(b, (struct aicb_piece){"router", AICB_PIECE_COUNTED, false,
                                              mul(b, b->o->hidden_size, b->o->num_experts), 0});
    }
}

/* `matrices` a rank's experts have; `more` is what AICB counts with them. */
static void aicb_model_add_experts(struct builder *b, int64_t matrices, int64_t more)
{
    int64_t width = mul(b, b->s->moe_ffn, b->o->num_experts / b->o->ep);
    int64_t params =
        mul(b, mul(b, matrices, b->o->hidden_size), aicb_model_divide(b, width, "width of a rank's experts"));
    b->model->experts = true;
    add_router(b);
    aicb_model_add(
        b, (struct aicb_piece){"mlp_moelayer", AICB_PIECE_EXPERTS, false, sum(b, params, more), b->o->hidden_size});
}

static void add_megatron_layer(struct builder *b)
{
    aicb_model_add_attention(b);
    add_layer_norms(b);
    if (b->o->moe_enable) {
        aicb_model_add_experts(b, aicb_model_is_gated(b) ? 3 : 2, 0);
    } else {
        aicb_model_add_mlp(b, b->s->ffn);
    }
}

/* ---- DeepSeek --------------------------------------------------------------------------------------------------- */

/* Without a compressed query there is nothing to project down, and AICB multiplies by 0. */
static void add_query(struct builder *b)
{
    const struct aicb_options *o = b->o;
    int64_t out = mul(b, b->s->heads, o->qk_nope_dim + o->qk_rope_dim);
    if (o->fix.query_projection && o->q_lora_rank == 0) {
        add_column(b, "attention_q_column", o->hidden_size, out, "width of queries");
        return;
    }
    aicb_model_add(b, (struct aicb_piece){"attention_linear_q_lora", AICB_PIECE_LINEAR, false,
                                          mul(b, o->hidden_size, o->q_lora_rank), 0});
    add_norm(b, o->q_lora_rank);
    add_column(b, "attention_q_column", o->q_lora_rank, out, "width of queries");
}

static void add_latent_attention(struct builder *b)
{
    const struct aicb_options *o = b->o;
    int64_t latent = o->kv_lora_rank + o->qk_rope_dim;
    add_query(b);
    aicb_model_add(b, (struct aicb_piece){"attention_linear_kv_lora", AICB_PIECE_LINEAR, false,
                                          mul(b, o->hidden_size, latent), 0});
    add_norm(b, o->kv_lora_rank);
    int64_t out = mul(b, b->s->heads, o->qk_nope_dim + o->v_head_dim);
    aicb_model_add(b, (struct aicb_piece){"attention_kv_column", AICB_PIECE_COLUMN, false,
                                          column_params(b, o->kv_lora_rank, out, "width of keys and values"), latent});
    aicb_model_add_row(b, "attention_o_row", mul(b, b->s->heads, o->v_head_dim), o->hidden_size, "width of attention");
}

/* All of it in one piece, for AICB's list without sequence parallelism. */
static void add_latent_attention_whole(struct builder *b)
{
    struct aicb_model *model = b->model;
    struct aicb_model before = *model;
    add_latent_attention(b);
    int64_t params = model->total - before.total;
    model->count = before.count;
    model->total = before.total;
    aicb_model_add(b, (struct aicb_piece){"attention_layer_mla", AICB_PIECE_WHOLE, false, params, b->o->hidden_size});
}

static int64_t shared_params(struct builder *b)
{
    int64_t h = b->o->hidden_size;
    return sum(b, column_params(b, h, b->s->moe_ffn, "width of the shared expert"),
               row_params(b, b->s->moe_ffn, h, "width of the shared expert"));
}

static void add_deepseek_layer(struct builder *b, int64_t index)
{
    const struct aicb_options *o = b->o;
    if (b->model->split) {
        add_latent_attention(b);
    } else {
        add_latent_attention_whole(b);
    }
    add_layer_norms(b);
    if (index < o->n_dense_layers) {
        aicb_model_add_mlp(b, b->s->ffn);
    } else if (o->fix.shared_experts) {
        aicb_model_add_experts(b, 3, 0);
        if (o->n_shared_expert > 0) {
            aicb_model_add_mlp(b, mul(b, b->s->moe_ffn, o->n_shared_expert));
        }
    } else {
        aicb_model_add_experts(b, 3, o->n_shared_expert > 0 ? shared_params(b) : 0);
        if (o->n_shared_expert > 0) {
            aicb_model_add_mlp(b, b->s->moe_ffn);
        }
    }
}

/* ---- all of it -------------------------------------------------------------------------------------------------- */

static void add_final(struct builder *b)
{
    const struct aicb_options *o = b->o;
    if (o->fix.norm_count) {
        add_norm(b, o->hidden_size);
    }
    if (!b->model->split && !o->fix.final_layer) {
        return;
    }
    bool tied = o->fix.tied_embeddings && !o->untie_embeddings_and_output_weights && o->frame != AICB_FRAME_DEEPSEEK;
    int64_t params = column_params(b, o->hidden_size, b->s->vocab, "padded vocabulary");
    aicb_model_add(b, (struct aicb_piece){"final_column", AICB_PIECE_FINAL, false, tied ? 0 : params, o->hidden_size});
}

enum orr_status aicb_model_build(const struct aicb_options *o, const struct aicb_shape *s, struct arena *arena,
                                 struct aicb_model *model, struct orr_error *err)
{
    bool experts = o->moe_enable || o->frame == AICB_FRAME_DEEPSEEK;
    /* A model with experts and one TP rank is the same with and without sequence parallelism. */
    struct aicb_model built = {.split = o->enable_sequence_parallel || (experts && !o->compat)};
    struct builder b = {.o = o, .s = s, .arena = arena, .model = &built, .err = err};
    aicb_model_add_embedding(&b);
    for (int64_t i = 0; i < s->layers && b.status == ORR_OK; i++) {
        if (o->frame == AICB_FRAME_DEEPSEEK) {
            add_deepseek_layer(&b, i);
        } else {
            add_megatron_layer(&b);
        }
    }
    add_final(&b);
    if (b.status == ORR_OK && b.overflow) {
        b.status = error_set(err, ORR_ERANGE, "the model's parameters do not fit 64 bits");
    }
    if (b.status == ORR_OK) {
        *model = built;
    }
    return b.status;
}
