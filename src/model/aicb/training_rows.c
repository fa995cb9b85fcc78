/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A layer as rows, with compute times. AICB's rule for a time: the section that has the layer's own name; else that of
 * the part it belongs to, attention or mlp, of which a column and a row are half each.
 */
#include "model/aicb/training_rows.h"

#include <string.h>

void training_add(struct training *t, struct aicb_rows *rows, struct aicb_row row)
{
    if (t->status == ORR_OK) {
        t->status = aicb_rows_add(rows, row, t->err);
    }
}

struct aicb_pass training_tp(const struct training *t, int64_t compute_ns, const char *comm, int64_t bytes)
{
    bool alone = t->o->tp == 1;
    return (struct aicb_pass){compute_ns, alone ? NULL : comm, alone ? 0 : bytes};
}

bool training_has_cp(const struct training *t)
{
    return t->o->fix.context_parallel && t->o->cp > 1;
}

/* ---- times ------------------------------------------------------------------------------------------------------ */

/* The section by itself; 1 counts as missing. */
static int64_t own_time(const struct training *t, const char *name)
{
    int64_t ns = aicb_times_find(t->times, name);
    return ns == 1 ? AICB_NO_TIME : ns;
}

static int64_t part_time(const struct training *t, const struct aicb_piece *piece)
{
    if (piece->kind == AICB_PIECE_FINAL) {
        int64_t ns = aicb_times_find(t->times, "final");
        return ns != AICB_NO_TIME ? ns : t->times->attention;
    }
    return piece->attention ? t->times->attention : t->times->mlp;
}

static bool is_half(const struct training *t, const struct aicb_piece *piece, bool own)
{
    bool linear = piece->kind == AICB_PIECE_COLUMN || piece->kind == AICB_PIECE_ROW || piece->kind == AICB_PIECE_FINAL;
    return t->model.split && linear && !(own && t->o->fix.layer_times);
}

/* What the operator model says of a piece, or 0 of what computes nothing. */
static struct aicb_part_time modelled_time(struct training *t, const struct aicb_piece *piece)
{
    t->part = aicb_part_of(piece->name, strlen(piece->name), t->part);
    return t->o->part_times->of[t->part];
}

static struct aicb_part_time aicb_training_rows_time_of(struct training *t, const struct aicb_piece *piece)
{
    if (t->o->part_times != NULL) {
        return modelled_time(t, piece);
    }
    if (t->times == NULL) {
        return (struct aicb_part_time){1, 1, 1};
    }
    int64_t ns = own_time(t, piece->name);
    if (piece->kind == AICB_PIECE_FINAL && t->o->fix.final_layer && ns == AICB_NO_TIME) {
        ns = own_time(t, "logit_time");
    }
    bool own = ns != AICB_NO_TIME;
    ns = own ? ns : part_time(t, piece);
    bool recomputes = t->o->recompute_activations && piece->attention;
    /* A linear layer of DeepSeek's attention is doubled too; experts and whole layers are not. */
    bool doubled = recomputes && !t->o->fix.recompute && t->model.split && piece->kind != AICB_PIECE_EXPERTS;
    int64_t forward = doubled ? 2 * ns : ns;
    int64_t again = recomputes && t->o->fix.recompute && !own ? t->times->flash : 0;
    if (is_half(t, piece, own)) {
        return (struct aicb_part_time){forward / 2, (ns + again) / 2, ns / 2};
    }
    return (struct aicb_part_time){forward, ns + again, ns};
}

static int64_t embedding_time(struct training *t)
{
    if (t->o->part_times != NULL) {
        return t->o->part_times->of[AICB_PART_EMBEDDING].forward;
    }
    if (t->times == NULL) {
        return 1;
    }
    int64_t ns = aicb_times_find(t->times, "embedding");
    ns = ns != AICB_NO_TIME ? ns : aicb_times_find(t->times, "Emb");
    if (ns == AICB_NO_TIME && t->status == ORR_OK) {
        t->status =
            notes_add(t->notes, t->err, "%s: no section Emb: the embedding computes for 1 ns", t->o->comp_filepath);
    }
    return ns == AICB_NO_TIME ? 1 : ns;
}

/* ---- rows ------------------------------------------------------------------------------------------------------- */

static void aicb_training_rows_add_embedding(struct training *t, struct aicb_rows *rows, const struct aicb_piece *piece)
{
    int64_t ns = embedding_time(t);
    bool scattered = t->o->fix.embedding_exchange && t->o->enable_sequence_parallel;
    struct aicb_row row = {
        .name = piece->name,
        .forward = training_tp(t, ns, scattered ? AICB_REDUCESCATTER : AICB_ALLREDUCE, t->activations),
        .input_gradient = {1, NULL, 0},
        .weight_gradient = {t->o->part_times != NULL       ? t->o->part_times->of[AICB_PART_EMBEDDING].weight_gradient
                            : t->o->fix.embedding_backward ? ns
                                                           : t->stale,
                            NULL, 0},
    };
    if (scattered) {
        row.input_gradient = training_tp(t, 1, AICB_ALLGATHER, t->activations);
    }
    training_add(t, rows, row);
}

/* What a column gathers: AICB says the whole width of the model, also where its input is narrower. */
static int64_t gathered_bytes(struct training *t, const struct aicb_piece *piece)
{
    return t->o->fix.latent_exchange && piece->kind == AICB_PIECE_COLUMN
               ? aicb_mul(2 * piece->width, t->s.tokens, &t->overflow)
               : t->activations;
}

static void add_linear(struct training *t, struct aicb_rows *rows, const struct aicb_piece *piece)
{
    struct aicb_part_time time = aicb_training_rows_time_of(t, piece);
    struct aicb_row row = {
        piece->name, {time.forward, NULL, 0}, {time.input_gradient, NULL, 0}, {time.weight_gradient, NULL, 0}};
    bool fixed = t->o->fix.backward_exchange;
    int64_t bytes = gathered_bytes(t, piece);
    if (!t->model.split) {
        const char *forward = piece->kind == AICB_PIECE_FINAL ? NULL : AICB_ALLREDUCE;
        row.forward = training_tp(t, time.forward, forward, forward == NULL ? 0 : bytes);
        row.input_gradient = training_tp(t, time.input_gradient, fixed ? AICB_ALLREDUCE : NULL, fixed ? bytes : 0);
    } else if (piece->kind == AICB_PIECE_ROW) {
        row.forward = training_tp(t, time.forward, AICB_REDUCESCATTER, bytes);
        row.input_gradient = training_tp(t, time.input_gradient, AICB_ALLGATHER, bytes);
    } else if (piece->kind != AICB_PIECE_LINEAR) {
        row.forward = training_tp(t, time.forward, AICB_ALLGATHER, bytes);
        row.input_gradient = training_tp(t, time.input_gradient, AICB_REDUCESCATTER, fixed ? bytes : 0);
    }
    t->stale = time.weight_gradient;
    training_add(t, rows, row);
}

void training_add_experts(struct training *t, struct aicb_rows *rows, struct aicb_part_time time)
{
    const struct aicb_options *o = t->o;
    static const char name[] = "mlp_moelayer";
    bool lone = o->fix.lone_groups || t->times != NULL; /* AICB without times names them all */
    const char *to_experts = lone && o->ep == 1 ? NULL : AICB_ALLTOALL_EP;
    const char *gather = lone && o->tp == 1 ? NULL : AICB_ALLGATHER;
    const char *scatter = lone && o->tp == 1 ? NULL : AICB_REDUCESCATTER;
    /* Token counts go round all of TP x EP really, which no word of the format says. */
    const char *counts = o->fix.expert_metadata && o->ep > 1 ? AICB_ALLGATHER_EP : AICB_ALLGATHER;
    counts = lone && o->tp == 1 && o->ep == 1 ? NULL : counts;
    int64_t routed = aicb_mul(t->activations, o->moe_router_topk, &t->overflow);
    int64_t sent = routed / o->tp;
    /* FP8 with a 4-byte scale every 128 values, of the bytes that 2 a value take. */
    int64_t dispatched = o->frame == AICB_FRAME_DEEPSEEK ? aicb_mul(sent, 33, &t->overflow) / 64 : sent;
    int64_t count_bytes = aicb_mul(2 * o->num_experts, o->ep * o->tp, &t->overflow);
    const struct aicb_row experts[] = {
        {name,
         {time.forward, counts, counts == NULL ? 0 : count_bytes},
         {time.input_gradient, NULL, 0},
         {time.weight_gradient, NULL, 0}},
        {name,
         {1, to_experts, to_experts == NULL ? 0 : dispatched},
         {1, to_experts, to_experts == NULL ? 0 : sent},
         {1, NULL, 0}},
        {name, {1, gather, gather == NULL ? 0 : routed}, {1, scatter, scatter == NULL ? 0 : routed}, {1, NULL, 0}},
        {name, {1, scatter, scatter == NULL ? 0 : routed}, {1, gather, gather == NULL ? 0 : routed}, {1, NULL, 0}},
        {name,
         {1, to_experts, to_experts == NULL ? 0 : sent},
         {1, to_experts, to_experts == NULL ? 0 : sent},
         {1, NULL, 0}},
    };
    for (size_t i = 0; i < sizeof experts / sizeof experts[0]; i++) {
        training_add(t, rows, experts[i]);
    }
}

/* Values of K and V a token that a rank holds. Fewer key/value heads than TP ranks are copied; latent ones are
 * exchanged as heads, as Megatron-LM does. */
static int64_t kv_width(struct training *t)
{
    const struct aicb_options *o = t->o;
    if (o->frame == AICB_FRAME_DEEPSEEK) {
        return aicb_mul(t->s.heads / o->tp, o->qk_nope_dim + o->qk_rope_dim + o->v_head_dim, &t->overflow);
    }
    int64_t heads = t->s.kv_heads > o->tp ? t->s.kv_heads / o->tp : 1;
    return aicb_mul(2 * heads, t->s.head_dim, &t->overflow);
}

/*
 * Each of the ranks that share a sequence has to see all its keys and values: they go round in CP - 1 rounds, which is
 * a ring's all-gather. Back they go round again, and their gradients are summed to where they belong, a ring's
 * reduce-scatter in as many rounds. A row has one exchange a pass; backward the second row comes first.
 */
static void add_exchange(struct training *t, struct aicb_rows *rows)
{
    int64_t own = aicb_mul(2 * t->s.tokens, kv_width(t), &t->overflow);
    int64_t all = aicb_mul(own, t->o->cp, &t->overflow);
    const struct aicb_pass none = {0, NULL, 0};
    training_add(
        t, rows,
        (struct aicb_row){"attention_kv_exchange", {0, AICB_ALLGATHER_CP, all}, {0, AICB_SCATTER_CP, all}, none});
    training_add(t, rows, (struct aicb_row){"attention_kv_again", none, {0, AICB_ALLGATHER_CP, all}, none});
}

void training_add_layers(struct training *t, struct aicb_rows *rows)
{
    for (uint32_t i = 0; i < t->model.count && t->status == ORR_OK; i++) {
        const struct aicb_piece *piece = &t->model.pieces[i];
        bool attends = piece->attention && (piece->kind == AICB_PIECE_ROW || piece->kind == AICB_PIECE_WHOLE);
        if (attends && training_has_cp(t)) {
            add_exchange(t, rows);
        }
        switch (piece->kind) {
        case AICB_PIECE_COUNTED:
            break;
        case AICB_PIECE_EMBEDDING:
            aicb_training_rows_add_embedding(t, rows, piece);
            break;
        case AICB_PIECE_EXPERTS:
            if (t->model.split) {
                struct aicb_part_time time = aicb_training_rows_time_of(t, piece);
                t->stale = time.weight_gradient;
                time.weight_gradient = t->o->fix.expert_backward ? time.weight_gradient : 1;
                training_add_experts(t, rows, time);
                break;
            }
            add_linear(t, rows, piece);
            break;
        case AICB_PIECE_LINEAR:
        case AICB_PIECE_COLUMN:
        case AICB_PIECE_ROW:
        case AICB_PIECE_WHOLE:
        case AICB_PIECE_FINAL:
            add_linear(t, rows, piece);
            break;
        }
    }
}
