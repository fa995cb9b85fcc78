/* SPDX-License-Identifier: Apache-2.0 */
/* AICB counts a rank's parameters in its own way (spec simai §5.3, P); where they are counted rightly, model.h does it,
 * so that all workloads of one model agree. */
#include "model/aicb/physical_parts.h"

#include <inttypes.h>

#include "model/aicb/model.h"

struct maker {
    struct physical *p;
    struct orr_error *err;
    enum orr_status status;
};

static int64_t divided(struct maker *m, int64_t width, const char *what)
{
    int64_t tp = m->p->o->tp;
    if (m->status == ORR_OK && width % tp != 0) {
        m->status =
            error_set(m->err, ORR_EINVAL, "the width of %s, %" PRId64 ", does not divide among TP %" PRId64 " ranks",
                      what, width, tp);
    }
    return width / tp;
}

static void aicb_physical_parts_add(struct maker *m, struct physical_layer *layer, enum physical_part_kind kind,
                                    const char *name, int64_t in, int64_t out)
{
    (void)divided(m, kind == PHYSICAL_COLUMN ? out : kind == PHYSICAL_ROW ? in : 0, name);
    layer->parts[layer->count++] = (struct physical_part){kind, name, in, out};
}

static void aicb_physical_parts_add_attention(struct maker *m, struct physical_layer *layer)
{
    struct physical *p = m->p;
    const struct aicb_options *o = p->o;
    const struct aicb_shape *s = &p->shape;
    int64_t h = o->hidden_size;
    if (o->frame != AICB_FRAME_DEEPSEEK) {
        int64_t inner = physical_mul(p, s->head_dim, s->heads);
        int64_t kv = o->fix.attention_shape && s->kv_heads < o->tp ? o->tp : s->kv_heads;
        aicb_physical_parts_add(m, layer, PHYSICAL_COLUMN, "attention_column", h,
                                physical_mul(p, s->head_dim, s->heads + 2 * kv));
        aicb_physical_parts_add(m, layer, PHYSICAL_ROW, "attention_row", inner, h);
        return;
    }
    int64_t queries = physical_mul(p, s->heads, o->qk_nope_dim + o->qk_rope_dim);
    if (o->fix.query_projection && o->q_lora_rank == 0) {
        aicb_physical_parts_add(m, layer, PHYSICAL_COLUMN, "attention_q_column", h, queries);
    } else {
        aicb_physical_parts_add(m, layer, PHYSICAL_LINEAR, "attention_linear_q_lora", h, o->q_lora_rank);
        aicb_physical_parts_add(m, layer, PHYSICAL_COLUMN, "attention_q_column", o->q_lora_rank, queries);
    }
    aicb_physical_parts_add(m, layer, PHYSICAL_LINEAR, "attention_linear_kv_lora", h, o->kv_lora_rank + o->qk_rope_dim);
    aicb_physical_parts_add(m, layer, PHYSICAL_COLUMN, "attention_kv_column", o->kv_lora_rank,
                            physical_mul(p, s->heads, o->qk_nope_dim + o->v_head_dim));
    aicb_physical_parts_add(m, layer, PHYSICAL_ROW, "attention_o_row", physical_mul(p, s->heads, o->v_head_dim), h);
}

static bool aicb_physical_parts_is_gated(const struct aicb_options *o)
{
    return o->fix.gated_mlp && (o->swiglu || o->frame == AICB_FRAME_DEEPSEEK);
}

static void aicb_physical_parts_add_mlp(struct maker *m, struct physical_layer *layer, int64_t ffn)
{
    int64_t h = m->p->o->hidden_size;
    aicb_physical_parts_add(m, layer, PHYSICAL_COLUMN, "mlp_column", h,
                            aicb_physical_parts_is_gated(m->p->o) ? physical_mul(m->p, 2, ffn) : ffn);
    aicb_physical_parts_add(m, layer, PHYSICAL_ROW, "mlp_row", ffn, h);
}

/* `in` and `out` are the width of the model and of all experts of a rank. */
static void aicb_physical_parts_add_experts(struct maker *m, struct physical_layer *layer)
{
    struct physical *p = m->p;
    const struct aicb_options *o = p->o;
    int64_t width = physical_mul(p, p->shape.moe_ffn, o->num_experts / o->ep);
    (void)divided(m, width, "a rank's experts");
    aicb_physical_parts_add(m, layer, PHYSICAL_EXPERTS, "mlp_experts", o->hidden_size, width);
    if (o->frame == AICB_FRAME_DEEPSEEK && o->n_shared_expert > 0) {
        aicb_physical_parts_add_mlp(
            m, layer, o->fix.shared_experts ? physical_mul(p, p->shape.moe_ffn, o->n_shared_expert) : p->shape.moe_ffn);
    }
}

/* ---- how many parameters ---- */

static int64_t part_params(struct physical *p, const struct physical_part *part)
{
    const struct aicb_options *o = p->o;
    int64_t matrices = o->frame == AICB_FRAME_DEEPSEEK ? 3 : 2;
    switch (part->kind) {
    case PHYSICAL_LINEAR:
        return physical_sum(p, physical_mul(p, part->in, part->out), o->add_bias_linear ? part->out : 0);
    case PHYSICAL_COLUMN:
        return physical_sum(p, physical_mul(p, part->in, part->out / o->tp),
                            o->add_bias_linear ? part->out / o->tp : 0);
    case PHYSICAL_ROW:
        return physical_sum(p, physical_mul(p, part->out, part->in / o->tp), o->add_bias_linear ? part->out : 0);
    case PHYSICAL_EXPERTS:
        return physical_mul(p, matrices, physical_mul(p, part->in, part->out / o->tp));
    }
    return 0;
}

static int64_t layer_params(struct physical *p, const struct physical_layer *layer)
{
    const struct aicb_options *o = p->o;
    int64_t params = physical_mul(p, 3, o->hidden_size); /* normalisation and a bias */
    if (o->frame == AICB_FRAME_DEEPSEEK) {
        params = physical_sum(p, params, 2 * (o->q_lora_rank + o->kv_lora_rank));
    }
    for (unsigned i = 0; i < layer->count; i++) {
        params = physical_sum(p, params, part_params(p, &layer->parts[i]));
    }
    return params;
}

static void aicb_physical_parts_count_compat(struct physical *p, struct physical_parts *parts)
{
    const struct aicb_options *o = p->o;
    int64_t words = physical_mul(p, p->shape.vocab / o->tp, o->hidden_size);
    int64_t params = physical_sum(p, physical_mul(p, 4, words), physical_mul(p, o->seq_length, o->hidden_size));
    params = physical_sum(p, params, part_params(p, &parts->final));
    params = physical_sum(p, params, physical_mul(p, parts->dense_layers, layer_params(p, &parts->dense)));
    parts->params =
        physical_sum(p, params, physical_mul(p, parts->layers - parts->dense_layers, layer_params(p, &parts->expert)));
}

/* Embedding and output layer belong to the first and the last stage; a tied output layer is a copy on the last. */
static void count_meant(struct maker *m, struct physical_parts *parts)
{
    struct physical *p = m->p;
    struct arena arena;
    struct aicb_model model;
    arena_init(&arena, p->mem);
    if (m->status == ORR_OK) {
        m->status = aicb_model_build(p->o, &p->shape, &arena, &model, m->err);
    }
    for (uint32_t i = 0; m->status == ORR_OK && i < model.count; i++) {
        const struct aicb_piece *piece = &model.pieces[i];
        bool elsewhere =
            (piece->kind == AICB_PIECE_EMBEDDING && !parts->first) || (piece->kind == AICB_PIECE_FINAL && !parts->last);
        parts->params += elsewhere ? 0 : piece->params;
        bool copied = piece->kind == AICB_PIECE_FINAL && parts->last && !parts->first && piece->params == 0;
        parts->params += copied ? part_params(p, &parts->final) : 0;
    }
    if (m->status == ORR_OK) {
        parts->expert_params = model.moe;
        parts->norm_params = model.norms;
    }
    arena_free(&arena);
}

static enum orr_status choose_stage(const struct physical *p, struct physical_parts *parts, struct orr_error *err)
{
    int64_t asked = p->o->pp_rank;
    if (p->fix.stage_view && asked >= p->o->pp) {
        return error_set(err, ORR_ERANGE, "parameter 'pp_rank' %" PRId64 " of %" PRId64 " stages, counted from 0",
                         asked, p->o->pp);
    }
    if (p->o->compat && p->o->pp > 1 && !p->o->workload_only) {
        return error_set(err, ORR_EINVAL,
                         "parameter 'pipeline_model_parallel' %" PRId64
                         " needs parameter 'workload_only': AICB asks the cluster it runs on "
                         "otherwise",
                         p->o->pp);
    }
    parts->stage = p->fix.stage_view && asked > 0 ? asked : 0;
    parts->first = parts->stage == 0;
    parts->last = parts->stage == p->o->pp - 1;
    return ORR_OK;
}

enum orr_status physical_parts_make(struct physical *p, struct physical_parts *parts, struct orr_error *err)
{
    const struct aicb_options *o = p->o;
    bool deepseek = o->frame == AICB_FRAME_DEEPSEEK;
    struct maker m = {.p = p, .err = err};
    *parts = (struct physical_parts){.layers = p->shape.layers};
    m.status = choose_stage(p, parts, err);
    int64_t dense = deepseek ? o->n_dense_layers : o->moe_enable ? 0 : parts->layers;
    dense = deepseek && p->fix.stage_view && !parts->first ? dense - parts->stage * parts->layers : dense;
    dense = dense < 0 ? 0 : dense;
    parts->dense_layers = dense < parts->layers ? dense : parts->layers;
    if (parts->dense_layers > 0) {
        aicb_physical_parts_add_attention(&m, &parts->dense);
        aicb_physical_parts_add_mlp(&m, &parts->dense, p->shape.ffn);
    }
    if (parts->dense_layers < parts->layers) {
        aicb_physical_parts_add_attention(&m, &parts->expert);
        aicb_physical_parts_add_experts(&m, &parts->expert);
    }
    parts->final = (struct physical_part){PHYSICAL_COLUMN, "final_column", o->hidden_size, p->shape.vocab};
    if (o->compat) {
        aicb_physical_parts_count_compat(p, parts);
    } else {
        count_meant(&m, parts);
    }
    return m.status;
}
