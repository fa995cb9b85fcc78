/* SPDX-License-Identifier: Apache-2.0 */
/* Which kernels there are was read off profiles of steps on an H200 (PyTorch 2.11). */
#include "train/work_eager.h"

/* cuBLAS has kernels with wide loads for rows of whole 16 bytes only. Of 30,522 columns a product takes so many times
 * what it takes of 30,528. */
static const double eager_unaligned = 2.9;
/* Elementwise with a column spread over a row: kernels without wide loads. */
static const double eager_spread = 1.75;

bool eager_is_meant(const struct work_job *job)
{
    const struct orr_train_plan *plan = job->plan;
    return job->framework->eager && plan->tp * plan->cp * plan->ep == 1;
}

struct eager eager_begin(const struct work_job *job, struct work_piece *piece, const char *name)
{
    *piece = (struct work_piece){.name = name};
    return (struct eager){job, piece, job->plan->compile, job->plan->dtype == ORR_TRAIN_DTYPE_FP32 ? 4 : 2};
}

/* ---- kernels ---- */

static enum orr_op_dtype eager_dtype(const struct eager *eager)
{
    return eager->value > 2 ? ORR_OP_FP32 : ORR_OP_BF16;
}

void eager_kernel(const struct eager *eager, struct work_list *list, const char *name, enum orr_op_kind kind,
                  double rows, double cols)
{
    struct orr_op op = {.kind = kind, .dtype = eager_dtype(eager), .dims = {(uint64_t)rows, (uint64_t)cols}};
    work_append(list, name)->op = op;
}

void eager_move(const struct eager *eager, struct work_list *list, const char *name, double bytes, double launches)
{
    struct orr_op op = {.kind = ORR_OP_COPY, .dtype = eager_dtype(eager)};
    struct work_item *item = work_append(list, name);
    op.dims[0] = (uint64_t)(bytes / (2 * eager->value)); /* a copy reads and writes each */
    item->op = op;
    item->launches = launches;
}

void eager_keep(const struct eager *eager, double rows, double cols)
{
    eager->piece->kept_bytes += rows * cols * eager->value;
}

static void eager_product(const struct eager *eager, struct work_list *list, const char *name, double m, double n,
                          double k, bool aligned)
{
    struct orr_op op = {.kind = ORR_OP_GEMM, .dtype = work_dtype(eager->job)};
    struct work_item *item = work_append(list, name);
    op.dims[0] = (uint64_t)m, op.dims[1] = (uint64_t)n, op.dims[2] = (uint64_t)k;
    item->op = op;
    item->launches = 1;
    item->times = aligned ? 1 : eager_unaligned;
}

void eager_linear(const struct eager *eager, const char *name, double rows, double out, double in, bool bias)
{
    struct work_piece *piece = eager->piece;
    bool aligned = eager->compiled || ((uint64_t)out % 8 == 0 && (uint64_t)in % 8 == 0); /* compiled: padded */
    eager_product(eager, &piece->forward, name, rows, out, in, aligned);
    eager_product(eager, &piece->backward, name, rows, in, out, aligned);
    eager_product(eager, &piece->backward, name, out, in, rows, aligned);
    if (bias) {
        eager_kernel(eager, &piece->backward, "bias", ORR_OP_SUM_ROWS, rows, out);
    }
    piece->parameters += out * in + (bias ? out : 0);
}

void eager_convolution(const struct eager *eager, const char *name, const uint64_t dims[ORR_OP_DIMS], bool is_first,
                       bool bias)
{
    struct work_piece *piece = eager->piece;
    struct orr_op op = {.kind = ORR_OP_CONV2D, .dtype = work_dtype(eager->job)};
    for (int i = 0; i < ORR_OP_DIMS; i++) {
        op.dims[i] = dims[i];
    }
    work_append(&piece->forward, name)->op = op;
    struct work_item *back = work_append(&piece->backward, name);
    op.kind = is_first ? ORR_OP_CONV2D : ORR_OP_CONV2D_BACKWARD;
    back->op = op;
    if (is_first) { /* the filters' gradient alone, which splits better than the pass forwards */
        back->times = 0.6;
        back->launches = 1;
    }
    double side = (double)(uint64_t)((dims[3] + dims[5] - 1) / dims[5]);
    if (bias) { /* added by a kernel of its own, without wide loads */
        double bytes = (double)dims[0] * side * side * (double)dims[2] * eager->value;
        eager_move(eager, &piece->forward, "bias", (eager->compiled ? 2 : 6) * bytes, 0);
        eager_kernel(eager, &piece->backward, "bias", ORR_OP_SUM_ROWS, (double)dims[0] * side * side, (double)dims[2]);
    }
    piece->parameters += (double)(dims[1] * dims[2] * dims[4] * dims[4] + (bias ? dims[2] : 0));
}

void eager_loss(const struct eager *eager, double rows, double classes)
{
    struct work_piece *piece = eager->piece;
    double bytes = rows * classes * eager->value;
    if (eager->compiled) { /* the conversion is part of two passes over the logits; the gradient takes their place */
        double padded = (uint64_t)classes % 8 == 0 ? 0 : bytes; /* which products want in whole 16 bytes */
        eager_move(eager, &piece->forward, "loss", 3.1 * bytes + 2 * padded, 2);
        eager_move(eager, &piece->backward, "loss", 2.5 * bytes + 4 * padded, 1);
        piece->kept_bytes += bytes;
        piece->working_bytes += padded;
        return;
    }
    eager_kernel(eager, &piece->forward, "loss", ORR_OP_CROSS_ENTROPY, rows, classes);
    eager_kernel(eager, &piece->backward, "loss", ORR_OP_CROSS_ENTROPY_BACKWARD, rows, classes);
    piece->forward.items[piece->forward.count - 1].launches = 3;
    piece->backward.items[piece->backward.count - 1].launches = 3;
    piece->kept_bytes += 4 * rows * classes;    /* the logarithms of the softmax */
    piece->working_bytes += 8 * rows * classes; /* their gradient and the logits' */
}

/* ---- a layer ---- */

static bool eager_has_rms(const struct orr_train_model *model)
{
    return model->family == ORR_TRAIN_LLAMA || model->family == ORR_TRAIN_T5;
}

static void eager_norm(const struct eager *eager, double rows, bool with_sum)
{
    const struct orr_train_model *model = eager->job->model;
    struct work_piece *piece = eager->piece;
    double hidden = model->hidden, bytes = rows * hidden * eager->value;
    bool rms = eager_has_rms(model);
    if (eager->compiled) {
        eager_move(eager, &piece->forward, "norm and sum", (with_sum ? 4 : 2) * bytes, 1);
        eager_move(eager, &piece->backward, "norm and sum", (with_sum ? 5 : 3) * bytes, 1);
        eager_move(eager, &piece->backward, "norm's weights", bytes, 1);
    } else {
        eager_kernel(eager, &piece->forward, "norm", rms ? ORR_OP_RMSNORM : ORR_OP_LAYERNORM, rows, hidden);
        eager_kernel(eager, &piece->backward, "norm", rms ? ORR_OP_RMSNORM_BACKWARD : ORR_OP_LAYERNORM_BACKWARD, rows,
                     hidden);
        if (with_sum) {
            eager_kernel(eager, &piece->forward, "sum", ORR_OP_ADD, rows, hidden);
            eager_kernel(eager, &piece->backward, "sum", ORR_OP_ADD, rows, hidden);
        }
    }
    eager_keep(eager, rows, 2 * hidden);
    piece->parameters += hidden * (rms ? 1 : 2);
}

/* Queries and keys turned by their places: halves swapped and negated, two products with a column spread over heads,
 * their sum. */
static void eager_rotate(const struct eager *eager, double rows, double width)
{
    double bytes = rows * width * eager->value, more = eager->compiled ? 0 : 1;
    eager_move(eager, &eager->piece->forward, "positions", (2 + more * 13) * bytes, 1 + more * 9);
    eager_move(eager, &eager->piece->backward, "positions", (2 + more * 16) * bytes, 1 + more * 11);
}

static void eager_latent(const struct eager *eager, double rows)
{
    const struct orr_train_model *model = eager->job->model;
    double hidden = model->hidden, queries = (double)model->heads * model->head_dim;
    double plain = (double)model->head_dim - model->rope_dim;
    if (model->q_rank != 0) {
        eager_linear(eager, "queries down", rows, model->q_rank, hidden, false);
        eager_linear(eager, "queries up", rows, queries, model->q_rank, false);
        eager_keep(eager, rows, 2.0 * model->q_rank);
    } else {
        eager_linear(eager, "queries", rows, queries, hidden, false);
    }
    eager_linear(eager, "keys down", rows, (double)model->kv_rank + model->rope_dim, hidden, false);
    eager_linear(eager, "keys up", rows, model->heads * (plain + model->v_head_dim), model->kv_rank, false);
    eager_keep(eager, rows, 2.0 * model->kv_rank);
    eager_rotate(eager, rows, 2.0 * model->heads * model->rope_dim);
}

static void eager_projections(const struct eager *eager, double rows, bool apart)
{
    const struct orr_train_model *model = eager->job->model;
    double hidden = model->hidden, queries = (double)model->heads * model->head_dim;
    double keys = (double)model->kv_heads * model->head_dim, values = (double)model->kv_heads * model->v_head_dim;
    bool bias = model->bias || model->qkv_bias;
    if (!apart) {
        eager_linear(eager, "queries, keys, values", rows, queries + keys + values, hidden, bias);
        eager_move(eager, &eager->piece->backward, "their gradients in one",
                   2 * rows * (queries + keys + values) * eager->value, 1);
        return;
    }
    eager_linear(eager, "queries", rows, queries, hidden, bias);
    eager_linear(eager, "keys", rows, keys, hidden, bias);
    eager_linear(eager, "values", rows, values, hidden, bias);
    if (!eager->compiled) { /* the input has three gradients, which are added up */
        eager_kernel(eager, &eager->piece->backward, "sum", ORR_OP_ADD, rows, hidden);
        eager_kernel(eager, &eager->piece->backward, "sum", ORR_OP_ADD, rows, hidden);
    }
    if (model->family == ORR_TRAIN_LLAMA) {
        eager_rotate(eager, rows, queries + keys);
    }
}

static void eager_attention(const struct eager *eager, double rows, bool full, bool across)
{
    const struct orr_train_model *model = eager->job->model;
    struct work_piece *piece = eager->piece;
    struct orr_op op = {.kind = ORR_OP_ATTENTION, .dtype = ORR_OP_BF16, .full = full};
    double heads = model->heads, shared = model->kv_rank != 0 ? heads : model->kv_heads;
    if (model->kv_rank != 0) {
        eager_latent(eager, rows);
    } else {
        eager_projections(eager, rows, eager_has_rms(model) || across);
    }
    op.dims[0] = eager->job->plan->micro_batch, op.dims[1] = eager->job->plan->seq, op.dims[2] = model->heads;
    op.dims[3] = (uint64_t)shared, op.dims[4] = model->head_dim;
    op.v_head_dim = model->v_head_dim == model->head_dim ? 0 : model->v_head_dim;
    work_attend(eager->job, piece, op);
    eager_linear(eager, "attention out", rows, model->hidden, heads * model->v_head_dim, model->bias);
    eager_keep(eager, rows,
               heads * (model->head_dim + model->v_head_dim) + shared * (model->head_dim + model->v_head_dim));
    piece->kept_bytes += 4 * rows * heads; /* logarithms of the sums */
}

/* silu(gate) x up, of rows x width values each; what is kept besides is the products' results and inputs. */
static void eager_gate(const struct eager *eager, double rows, double width)
{
    struct work_piece *piece = eager->piece;
    if (eager->compiled) {
        double bytes = rows * width * eager->value;
        eager_move(eager, &piece->forward, "gate", 3 * bytes, 1);
        eager_move(eager, &piece->backward, "gate", 5 * bytes, 1);
    } else {
        eager_kernel(eager, &piece->forward, "gate", ORR_OP_SILU, rows, width);
        eager_kernel(eager, &piece->forward, "gate", ORR_OP_MUL, rows, width);
        eager_kernel(eager, &piece->backward, "gate by up", ORR_OP_MUL, rows, width);
        eager_kernel(eager, &piece->backward, "up by gate", ORR_OP_MUL, rows, width);
        eager_kernel(eager, &piece->backward, "gate", ORR_OP_SILU_BACKWARD, rows, width);
    }
    eager_keep(eager, rows, (eager->compiled ? 3 : 4) * width);
}

static void eager_mlp(const struct eager *eager, double rows, double width)
{
    const struct orr_train_model *model = eager->job->model;
    struct work_piece *piece = eager->piece;
    if (model->gated) {
        eager_linear(eager, "MLP gate", rows, width, model->hidden, model->bias);
        eager_linear(eager, "MLP up", rows, width, model->hidden, model->bias);
        eager_gate(eager, rows, width);
        if (!eager->compiled) {
            eager_kernel(eager, &piece->backward, "sum", ORR_OP_ADD, rows, model->hidden);
        }
    } else {
        bool relu = model->family == ORR_TRAIN_T5;
        eager_linear(eager, "MLP in", rows, width, model->hidden, model->bias);
        eager_kernel(eager, &piece->forward, "activation", relu ? ORR_OP_RELU : ORR_OP_GELU, rows, width);
        eager_kernel(eager, &piece->backward, "activation", relu ? ORR_OP_RELU_BACKWARD : ORR_OP_GELU_BACKWARD, rows,
                     width);
        eager_keep(eager, rows, 2 * width);
    }
    eager_linear(eager, "MLP out", rows, model->hidden, width, model->bias);
}

/* Three products of all experts at once, each of an equal share of the tokens. */
static void eager_expert_products(const struct eager *eager, double sent)
{
    const struct orr_train_model *model = eager->job->model;
    struct work_piece *piece = eager->piece;
    struct orr_op op = {.kind = ORR_OP_BATCHED_GEMM, .dtype = work_dtype(eager->job), .dims = {model->experts}};
    uint64_t rows = (uint64_t)(sent / model->experts), hidden = model->hidden, width = model->expert_ffn;
    int ways = model->gated ? 3 : 2;
    for (int i = 0; i < ways; i++) {
        const char *name = i + 1 < ways ? "experts in" : "experts out";
        uint64_t into = i + 1 < ways ? hidden : width, out = i + 1 < ways ? width : hidden;
        op.dims[1] = rows, op.dims[2] = out, op.dims[3] = into;
        work_append(&piece->forward, name)->op = op;
        op.dims[2] = into, op.dims[3] = out;
        work_append(&piece->backward, name)->op = op;
        op.dims[1] = into, op.dims[2] = out, op.dims[3] = rows;
        work_append(&piece->backward, name)->op = op;
        piece->experts += (double)model->experts * (double)(hidden * width);
    }
}

/* Softmax, choice, a sort: kernels that are short whatever they sort. */
static void eager_small(const struct eager *eager, struct work_list *list, const char *name, double kernels,
                        double launches)
{
    eager_move(eager, list, name, 2 * eager->value * 1024, launches);
    list->items[list->count - 1].times = kernels;
}

static void eager_router(const struct eager *eager, double tokens, double sent)
{
    const struct orr_train_model *model = eager->job->model;
    struct work_piece *piece = eager->piece;
    eager_linear(eager, "router", tokens, model->experts, model->hidden, false);
    eager_small(eager, &piece->forward, "choice", 45, eager->compiled ? 6 : 9);
    eager_small(eager, &piece->backward, "choice", 25, eager->compiled ? 6 : 18);
    piece->kept_bytes += 4 * tokens * model->experts + 24 * sent;
}

static void eager_experts(const struct eager *eager, double tokens)
{
    const struct orr_train_model *model = eager->job->model;
    struct work_piece *piece = eager->piece;
    double hidden = model->hidden, sent = tokens * model->topk, bytes = sent * hidden * eager->value;
    double own = tokens * hidden * eager->value;
    eager_router(eager, tokens, sent);
    eager_move(eager, &piece->forward, "gather", 2 * bytes, 1);
    eager_expert_products(eager, sent);
    if (model->gated) {
        eager_gate(eager, sent, model->expert_ffn);
    } else {
        eager_kernel(eager, &piece->forward, "activation", ORR_OP_GELU, sent, model->expert_ffn);
        eager_kernel(eager, &piece->backward, "activation", ORR_OP_GELU_BACKWARD, sent, model->expert_ffn);
        eager_keep(eager, sent, 2.0 * model->expert_ffn);
    }
    /* weighing them, a spread column; adding them up by atomics, which takes nine copies' time */
    eager_move(eager, &piece->forward, "weigh", (eager->compiled ? 2 : 3 * eager_spread) * bytes, 1);
    eager_move(eager, &piece->forward, "add up", 18 * bytes + own / 2, 2);
    eager_move(eager, &piece->backward, "gather", 2 * bytes, 1);
    eager_move(eager, &piece->backward, "weigh", (eager->compiled ? 3.5 : 4.5 + 3 * eager_spread) * bytes,
               eager->compiled ? 1 : 3);
    eager_move(eager, &piece->backward, "scatter", (eager->compiled ? 4 : 6) * bytes + 4.4 * own,
               eager->compiled ? 2 : 4);
    if (!eager->compiled) {
        eager_move(eager, &piece->backward, "sum", 3 * bytes, 1);
    }
    piece->kept_bytes += (eager->compiled ? 2 : 3) * bytes;
    if (model->shared_experts != 0) {
        eager_mlp(eager, tokens, (double)model->expert_ffn * model->shared_experts);
    }
}

static double eager_tokens(const struct work_job *job)
{
    return (double)job->plan->micro_batch * job->plan->seq;
}

void eager_layer(const struct work_job *job, bool with_experts, struct work_piece *piece)
{
    struct eager eager = eager_begin(job, piece, with_experts ? "layer with experts" : "layer");
    const struct orr_train_model *model = job->model;
    double rows = eager_tokens(job);
    int stacks = model->family == ORR_TRAIN_T5 ? 2 : 1; /* a layer of the encoder and one of the decoder */
    for (int i = 0; i < stacks; i++) {
        bool decoder = i == 1;
        eager_norm(&eager, rows, true);
        eager_attention(&eager, rows, model_is_two_way(model) || (stacks == 2 && !decoder), false);
        if (decoder) {
            eager_norm(&eager, rows, true);
            eager_attention(&eager, rows, true, true);
        }
        eager_norm(&eager, rows, true);
        if (with_experts) {
            eager_experts(&eager, rows);
        } else {
            eager_mlp(&eager, rows, model->ffn);
        }
    }
    piece->input_bytes = stacks * rows * model->hidden * eager.value;
    /* gradients inside the MLP and of the hidden state, while the first of its products is gone through */
    piece->working_bytes = rows * ((model->gated ? 2.0 : 1.0) * model->ffn + 3.0 * model->hidden) * eager.value;
    piece->again = work_again(job);
    piece->again_items = piece->forward.count - 1; /* it stops when all is there again that backward needs */
}

/* ---- the ends ---- */

void eager_embedding(const struct work_job *job, struct work_piece *piece)
{
    struct eager eager = eager_begin(job, piece, "embedding");
    const struct orr_train_model *model = job->model;
    double rows = eager_tokens(job), hidden = model->hidden, bytes = rows * hidden * eager.value;
    if (model->family == ORR_TRAIN_VIT) {
        uint64_t dims[ORR_OP_DIMS] = {job->plan->micro_batch, 3,           model->hidden, model->image,
                                      model->patch,           model->patch};
        eager_convolution(&eager, "patches", dims, true, true);
        eager_move(&eager, &piece->forward, "class and positions", 5 * bytes, 2);
        eager_move(&eager, &piece->backward, "class and positions", 3 * bytes, 3);
        piece->parameters += hidden * (1.0 + model_tokens(model));
        piece->input_bytes = 3.0 * job->plan->micro_batch * model->image * model->image * eager.value;
        return;
    }
    struct orr_op op = {.kind = ORR_OP_EMBEDDING, .dtype = ORR_OP_BF16};
    op.dims[0] = (uint64_t)rows, op.dims[1] = model->vocab, op.dims[2] = model->hidden;
    work_append(&piece->forward, "embedding")->op = op;
    op.kind = ORR_OP_EMBEDDING_BACKWARD;
    work_append(&piece->backward, "embedding")->op = op;
    piece->parameters = ((double)model->vocab + model->positions) * hidden;
    if (model->family == ORR_TRAIN_GPT || model->family == ORR_TRAIN_BERT) {
        eager_kernel(&eager, &piece->forward, "positions", ORR_OP_ADD, rows, hidden);
        eager_move(&eager, &piece->backward, "positions", bytes, 2);
    }
    piece->kept_bytes = 16 * rows;
}

void eager_head(const struct work_job *job, struct work_piece *piece)
{
    struct eager eager = eager_begin(job, piece, "head");
    const struct orr_train_model *model = job->model;
    bool pictures = model->family == ORR_TRAIN_VIT;
    double rows = pictures ? job->plan->micro_batch : eager_tokens(job),
           classes = pictures ? model->classes : model->vocab;
    eager_norm(&eager, eager_tokens(job), false);
    eager_linear(&eager, "logits", rows, classes, model->hidden, pictures);
    if (model->tied && job->plan->pp == 1) {
        piece->parameters -= classes * model->hidden;
    }
    piece->input_bytes = eager_tokens(job) * model->hidden * eager.value;
}
