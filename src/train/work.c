/* SPDX-License-Identifier: Apache-2.0 */
/* A layer of a transformer, its ends: lists in the order a framework issues them. m is the rows of a product: tokens of
 * a micro-batch on this rank. */
#include "train/work.h"

#include "train/work_eager.h"

struct work_sizes {
    double tokens;       /* of a micro-batch, this rank's share of the sequence */
    double hidden_bytes; /* one hidden state of them, bf16 */
    double divided;      /* the same where sequence parallelism divides it */
};

static struct work_sizes work_sizes_of(const struct work_job *job)
{
    const struct orr_train_plan *plan = job->plan;
    double tokens = (double)plan->micro_batch * plan->seq / plan->cp;
    double bytes = tokens * job->model->hidden * 2;
    bool divided = plan->sp || job->framework->divided_states;
    return (struct work_sizes){tokens, bytes, divided ? bytes / plan->tp : bytes};
}

struct work_item *work_append(struct work_list *list, const char *name)
{
    struct work_item *item = &list->items[list->count < WORK_ITEMS_MOST ? list->count++ : WORK_ITEMS_MOST - 1];
    *item = (struct work_item){.name = name, .times = 1};
    return item;
}

enum orr_op_dtype work_dtype(const struct work_job *job)
{
    static const enum orr_op_dtype dtypes[] = {
        [ORR_TRAIN_DTYPE_BF16] = ORR_OP_BF16,   [ORR_TRAIN_DTYPE_FP16] = ORR_OP_FP16,
        [ORR_TRAIN_DTYPE_FP8] = ORR_OP_FP8,     [ORR_TRAIN_DTYPE_MXFP8] = ORR_OP_FP8_BLOCK,
        [ORR_TRAIN_DTYPE_NVFP4] = ORR_OP_NVFP4, [ORR_TRAIN_DTYPE_FP32] = ORR_OP_FP32};
    return dtypes[job->plan->dtype];
}

/* Reads and writes `bytes` forwards and `back` backwards: norms, activations, sums, masks. As a copy of as many bytes.
 */
static void work_stream(struct work_piece *piece, const char *name, double bytes, double back)
{
    struct orr_op op = {.kind = ORR_OP_COPY, .dtype = ORR_OP_BF16};
    op.dims[0] = (uint64_t)(bytes / 4); /* a copy reads and writes two bytes each */
    work_append(&piece->forward, name)->op = op;
    op.dims[0] = (uint64_t)(back / 4);
    work_append(&piece->backward, name)->op = op;
}

/* Products in fewer bits than bf16 have their inputs converted first, one copy for either pass; the smaller formats
 * scale by blocks and turn them besides. `in` and `out` are values that go in forwards and whose gradients come back.
 */
static void work_casts(const struct work_job *job, struct work_piece *piece, double in, double out)
{
    static const double bytes[ORR_TRAIN_DTYPE_COUNT] = {
        [ORR_TRAIN_DTYPE_FP8] = 2, [ORR_TRAIN_DTYPE_MXFP8] = 3, [ORR_TRAIN_DTYPE_NVFP4] = 4};
    if (bytes[job->plan->dtype] > 0) {
        work_stream(piece, "convert", in * bytes[job->plan->dtype], out * bytes[job->plan->dtype]);
    }
}

/* One product forwards is two backwards: of the input's gradient and of the weight's. */
static void work_gemm(const struct work_job *job, struct work_piece *piece, const char *name, double m, double n,
                      double k)
{
    struct orr_op op = {.kind = ORR_OP_GEMM, .dtype = work_dtype(job)};
    op.dims[0] = (uint64_t)m, op.dims[1] = (uint64_t)n, op.dims[2] = (uint64_t)k;
    work_append(&piece->forward, name)->op = op;
    op.dims[1] = (uint64_t)k, op.dims[2] = (uint64_t)n;
    work_append(&piece->backward, name)->op = op;
    op.dims[0] = (uint64_t)k, op.dims[1] = (uint64_t)n, op.dims[2] = (uint64_t)m;
    work_append(&piece->backward, name)->op = op;
    work_casts(job, piece, m * k, m * n);
    piece->parameters += n * k;
    piece->largest = n * k > piece->largest ? n * k : piece->largest;
}

bool work_is_weight(const struct work_list *list, uint32_t item)
{
    const struct work_item *items = list->items;
    return item > 0 && (items[item].op.kind == ORR_OP_GEMM || items[item].op.kind == ORR_OP_GROUPED_GEMM) &&
           items[item].comm == WORK_COMPUTE && items[item].name == items[item - 1].name;
}

static void work_collective(struct work_list *list, const char *name, enum work_comm comm, double bytes)
{
    struct work_item *item = work_append(list, name);
    item->comm = comm;
    item->bytes = bytes;
}

/* What tensor parallelism gathers before the products and sums behind them. */
static void work_enter(const struct work_job *job, struct work_piece *piece, double bytes)
{
    if (job->plan->tp == 1) {
        return;
    }
    if (job->plan->sp) {
        work_collective(&piece->forward, "gather", WORK_TP_GATHER, bytes);
        work_collective(&piece->backward, "gather", WORK_TP_GATHER,
                        bytes); /* the weights' gradients need it whole again */
        work_collective(&piece->backward, "scatter", WORK_TP_SCATTER, bytes);
    } else {
        work_collective(&piece->backward, "reduce", WORK_TP_REDUCE, bytes);
    }
}

static void work_leave(const struct work_job *job, struct work_piece *piece, double bytes)
{
    if (job->plan->tp == 1) {
        return;
    }
    if (job->plan->sp) {
        work_collective(&piece->forward, "scatter", WORK_TP_SCATTER, bytes);
        work_collective(&piece->backward, "gather", WORK_TP_GATHER, bytes);
    } else {
        work_collective(&piece->forward, "reduce", WORK_TP_REDUCE, bytes);
    }
}

/* ---- attention ---- */

/* Scores in memory: two batched products, a softmax and a dropout between them. */
static void work_scores(const struct work_job *job, struct work_piece *piece, double heads)
{
    const struct orr_train_model *model = job->model;
    double batch = job->plan->micro_batch * heads, seq = (double)job->plan->seq / job->plan->cp;
    struct orr_op op = {.kind = ORR_OP_BATCHED_GEMM, .dtype = ORR_OP_BF16};
    op.dims[0] = (uint64_t)batch, op.dims[1] = (uint64_t)seq, op.dims[2] = job->plan->seq, op.dims[3] = model->head_dim;
    double scores = batch * seq * job->plan->seq;
    work_append(&piece->forward, "scores")->op = op;
    work_stream(piece, "softmax", scores * 4, scores * 6);
    work_stream(piece, "dropout", scores * 5, scores * 5);
    work_append(&piece->forward, "values")->op = op;
    for (int i = 0; i < 4; i++) {
        work_append(&piece->backward, "scores")->op = op;
    }
    piece->kept_bytes += scores * 5;
}

/* Layers are one piece, so that those that look at all tokens and those that look at a window have their shares of it.
 * A window is as much work as stretches as long as it is, each over as many tokens and a block's more. */
static void work_attend_shares(struct work_list *list, struct orr_op op, double global, uint32_t window)
{
    const uint32_t block = 128; /* queries that kernels take at once, which look at what each of them looks at */
    if (global > 0) {
        struct work_item *item = work_append(list, "attention");
        item->op = op;
        item->times = global;
    }
    if (global < 1) {
        struct work_item *item = work_append(list, "attention in a window");
        uint64_t rows = op.dims[1] < window ? op.dims[1] : window;
        op.dims[0] *= (op.dims[1] + rows - 1) / rows;
        op.dims[1] = rows;
        op.kv_seq = window + block;
        op.full = true;
        item->op = op;
        item->times = 1 - global;
    }
}

void work_attend(const struct work_job *job, struct work_piece *piece, struct orr_op op)
{
    double global = model_global_share(job->model, job->plan->seq);
    work_attend_shares(&piece->forward, op, global, job->model->window);
    op.kind = ORR_OP_ATTENTION_BACKWARD;
    work_attend_shares(&piece->backward, op, global, job->model->window);
}

static void work_flash(const struct work_job *job, struct work_piece *piece, double heads, double shared, bool full)
{
    const struct orr_train_model *model = job->model;
    const struct orr_train_plan *plan = job->plan;
    struct orr_op op = {.kind = ORR_OP_ATTENTION, .dtype = ORR_OP_BF16, .full = full};
    op.dims[0] = plan->micro_batch, op.dims[1] = plan->seq / plan->cp, op.dims[2] = (uint64_t)heads;
    op.dims[3] = (uint64_t)shared, op.dims[4] = model->head_dim;
    op.v_head_dim = model->v_head_dim == model->head_dim ? 0 : model->v_head_dim;
    op.kv_seq = plan->cp > 1 ? plan->seq : 0;
    work_attend(job, piece, op);
}

/* `full`: over all tokens, not only those before. */
static void work_attention(const struct work_job *job, const struct work_sizes *sizes, struct work_piece *piece,
                           bool full)
{
    const struct orr_train_model *model = job->model;
    const struct orr_train_plan *plan = job->plan;
    double tp = plan->tp, heads = model->heads / tp;
    double shared = model->kv_heads < plan->tp ? 1 : model->kv_heads / tp;
    double queries = heads * model->head_dim, keys = shared * model->head_dim, values = shared * model->v_head_dim;
    work_enter(job, piece, sizes->hidden_bytes);
    if (model->kv_rank == 0) {
        work_gemm(job, piece, "queries, keys, values", sizes->tokens, queries + keys + values, model->hidden);
    } else {
        double plain = model->head_dim - model->rope_dim;
        if (model->q_rank != 0) {
            work_gemm(job, piece, "queries down", sizes->tokens, model->q_rank, model->hidden);
            work_gemm(job, piece, "queries up", sizes->tokens, queries, model->q_rank);
        } else {
            work_gemm(job, piece, "queries", sizes->tokens, queries, model->hidden);
        }
        work_gemm(job, piece, "keys down", sizes->tokens, model->kv_rank + model->rope_dim, model->hidden);
        work_gemm(job, piece, "keys up", sizes->tokens, heads * (plain + model->v_head_dim), model->kv_rank);
        keys = queries, values = heads * model->v_head_dim, shared = heads;
    }
    if (model->family == ORR_TRAIN_LLAMA) {
        double bytes = sizes->tokens * (queries + keys) * 2;
        work_stream(piece, "positions", bytes * (job->framework->fused ? 2 : 6),
                    bytes * (job->framework->fused ? 2 : 6));
    }
    if (plan->cp > 1) {
        work_collective(&piece->forward, "shift", WORK_CP_SHIFT, sizes->tokens * (keys + values) * 2);
        work_collective(&piece->backward, "shift", WORK_CP_SHIFT, sizes->tokens * (keys + values) * 4);
    }
    if (job->framework->unfused_attention) {
        work_scores(job, piece, heads);
    } else {
        work_flash(job, piece, heads, shared, full);
    }
    work_gemm(job, piece, "attention out", sizes->tokens, model->hidden, heads * model->v_head_dim);
    work_leave(job, piece, sizes->hidden_bytes);
    piece->kept_bytes += sizes->tokens * (queries + keys + values + heads * model->v_head_dim) * 2;
}

/* ---- what follows it ---- */

/* Bytes of a product's input as it is kept for the backward pass, for one of bf16: in fewer bits it is kept as it was
 * converted. */
static double work_kept_share(const struct work_job *job)
{
    enum orr_train_dtype dtype = job->plan->dtype;
    return dtype == ORR_TRAIN_DTYPE_FP8 || dtype == ORR_TRAIN_DTYPE_MXFP8 || dtype == ORR_TRAIN_DTYPE_NVFP4 ? 0.5 : 1;
}

static void work_norm_and_sum(const struct work_job *job, const struct work_sizes *sizes, struct work_piece *piece)
{
    double bytes = sizes->divided;
    work_stream(piece, "norm", 2 * bytes, 3 * bytes);
    if (job->framework->fused) {
        work_stream(piece, "bias, dropout, sum", 3.5 * bytes, 2.5 * bytes);
    } else {
        work_stream(piece, "sum", 3 * bytes, 3 * bytes);
    }
    piece->kept_bytes += (1 + work_kept_share(job)) * bytes +
                         (job->model->family == ORR_TRAIN_GPT && job->framework->fused ? bytes / 2 : 0);
}

static void work_activation(const struct work_job *job, struct work_piece *piece, double rows, double width)
{
    double bytes = rows * width * 2;
    if (job->model->gated) {
        work_stream(piece, "gate", job->framework->fused ? 3 * bytes : 5 * bytes,
                    job->framework->fused ? 5 * bytes : 8 * bytes);
    } else {
        work_stream(piece, "activation", 2 * bytes, 3 * bytes);
    }
    piece->kept_bytes += ((job->model->gated ? 2 : 1) + work_kept_share(job)) * bytes;
}

static void work_mlp(const struct work_job *job, const struct work_sizes *sizes, struct work_piece *piece)
{
    const struct orr_train_model *model = job->model;
    double width = (double)model->ffn / job->plan->tp;
    work_enter(job, piece, sizes->hidden_bytes);
    work_gemm(job, piece, "MLP in", sizes->tokens, width * (model->gated ? 2 : 1), model->hidden);
    work_activation(job, piece, sizes->tokens, width);
    work_gemm(job, piece, "MLP out", sizes->tokens, model->hidden, width);
    work_leave(job, piece, sizes->hidden_bytes);
}

static void work_grouped(const struct work_job *job, struct work_piece *piece, const char *name, double groups,
                         double m, double n, double k)
{
    struct orr_op op = {.kind = ORR_OP_GROUPED_GEMM, .dtype = work_dtype(job)};
    op.dims[0] = (uint64_t)groups, op.dims[1] = (uint64_t)m, op.dims[2] = (uint64_t)n, op.dims[3] = (uint64_t)k;
    work_append(&piece->forward, name)->op = op;
    op.dims[2] = (uint64_t)k, op.dims[3] = (uint64_t)n;
    work_append(&piece->backward, name)->op = op;
    op.dims[1] = (uint64_t)k, op.dims[2] = (uint64_t)n, op.dims[3] = (uint64_t)m;
    work_append(&piece->backward, name)->op = op;
    work_casts(job, piece, groups * m * k, groups * m * n);
    piece->experts += groups * n * k;
    piece->largest = groups * n * k > piece->largest ? groups * n * k : piece->largest;
}

/* Tokens of a rank go to `topk` experts each, spread evenly over the ranks that hold them. */
static void work_experts(const struct work_job *job, const struct work_sizes *sizes, struct work_piece *piece)
{
    const struct orr_train_model *model = job->model;
    const struct orr_train_plan *plan = job->plan;
    double tokens = sizes->tokens / (plan->tp > 1 && plan->sp ? plan->tp : 1);
    double sent = tokens * model->topk, bytes = sent * model->hidden * 2;
    double groups = (double)model->experts / plan->ep, width = (double)model->expert_ffn / plan->etp;
    double rows = sent * plan->etp * plan->ep / model->experts;
    double moved = bytes * job->framework->experts;
    work_stream(piece, "router", tokens * model->experts * 8, tokens * model->experts * 8);
    work_stream(piece, "permute", 2 * moved, 2 * moved);
    if (plan->ep > 1) {
        work_collective(&piece->forward, "dispatch", WORK_EP_DISPATCH, bytes);
        work_collective(&piece->backward, "combine", WORK_EP_COMBINE, bytes);
    }
    work_grouped(job, piece, "experts in", groups, rows, width * (model->gated ? 2 : 1), model->hidden);
    work_activation(job, piece, groups * rows, width);
    work_grouped(job, piece, "experts out", groups, rows, model->hidden, width);
    if (plan->ep > 1) {
        work_collective(&piece->forward, "combine", WORK_EP_COMBINE, bytes);
        work_collective(&piece->backward, "dispatch", WORK_EP_DISPATCH, bytes);
    }
    work_stream(piece, "unpermute", 3 * moved, 3 * moved);
    piece->kept_bytes += (1 + work_kept_share(job)) * bytes;
    piece->parameters += (double)model->hidden * model->experts;
    if (model->shared_experts != 0) {
        double shared = (double)model->expert_ffn * model->shared_experts / plan->tp;
        work_gemm(job, piece, "shared in", sizes->tokens, shared * (model->gated ? 2 : 1), model->hidden);
        work_activation(job, piece, sizes->tokens, shared);
        work_gemm(job, piece, "shared out", sizes->tokens, model->hidden, shared);
    }
}

/* Where gradients are not added up in place. */
static void work_accumulate(const struct work_job *job, struct work_piece *piece)
{
    if (job->framework->accumulate_bytes != 0) {
        struct orr_op op = {.kind = ORR_OP_COPY, .dtype = ORR_OP_BF16};
        op.dims[0] = (uint64_t)((piece->parameters + piece->experts) * job->framework->accumulate_bytes / 4);
        work_append(&piece->backward, "add up gradients")->op = op;
    }
}

static void work_block(const struct work_job *job, const struct work_sizes *sizes, struct work_piece *piece, bool full,
                       bool with_experts)
{
    work_norm_and_sum(job, sizes, piece);
    work_attention(job, sizes, piece, full);
    work_norm_and_sum(job, sizes, piece);
    if (with_experts) {
        work_experts(job, sizes, piece);
    } else {
        work_mlp(job, sizes, piece);
    }
}

double work_again(const struct work_job *job)
{
    switch (job->plan->recompute) {
    case ORR_TRAIN_RECOMPUTE_FULL:
        return 1;
    case ORR_TRAIN_RECOMPUTE_SELECTIVE:
        return job->framework->selective;
    default:
        return 0;
    }
}

void work_layer(const struct work_job *job, bool with_experts, struct work_piece *piece)
{
    struct work_sizes sizes = work_sizes_of(job);
    if (eager_is_meant(job)) {
        eager_layer(job, with_experts, piece);
        return;
    }
    *piece = (struct work_piece){.name = with_experts ? "layer with experts" : "layer", .input_bytes = sizes.divided};
    if (job->model->family == ORR_TRAIN_T5) { /* the encoder's; here on one of the decoder, with a look across */
        work_block(job, &sizes, piece, true, false);
        piece->input_bytes += sizes.divided;
        work_norm_and_sum(job, &sizes, piece);
        work_attention(job, &sizes, piece, true);
    }
    work_block(job, &sizes, piece, model_is_two_way(job->model), with_experts);
    work_accumulate(job, piece);
    piece->kept_bytes += job->framework->kept_states * sizes.divided;
    piece->again = work_again(job);
    piece->parameters += (job->model->family == ORR_TRAIN_T5 ? 5.0 : 4.0) * job->model->hidden;
}

/* ---- the ends ---- */

void work_embedding(const struct work_job *job, struct work_piece *piece)
{
    struct work_sizes sizes = work_sizes_of(job);
    if (eager_is_meant(job)) {
        eager_embedding(job, piece);
        return;
    }
    *piece = (struct work_piece){.name = "embedding", .input_bytes = sizes.tokens * 8};
    work_stream(piece, "embedding", 2 * sizes.hidden_bytes, 3 * sizes.hidden_bytes);
    if (job->plan->tp > 1) {
        work_collective(&piece->forward, "reduce", job->plan->sp ? WORK_TP_SCATTER : WORK_TP_REDUCE,
                        sizes.hidden_bytes);
        if (job->plan->sp) {
            work_collective(&piece->backward, "gather", WORK_TP_GATHER, sizes.hidden_bytes);
        }
    }
    piece->parameters = (double)job->model->vocab * job->model->hidden / job->plan->tp +
                        (double)job->model->positions * job->model->hidden;
    work_accumulate(job, piece);
}

/* Logits of a micro-batch on this rank: rows, and its part of the vocabulary. */
static void work_logits(const struct work_job *job, const struct work_sizes *sizes, double *rows, double *vocab)
{
    bool vit = job->model->family == ORR_TRAIN_VIT;
    *rows = vit ? job->plan->micro_batch : sizes->tokens;
    *vocab = (double)(vit ? job->model->classes : job->model->vocab) / job->plan->tp;
}

void work_head(const struct work_job *job, struct work_piece *piece)
{
    struct work_sizes sizes = work_sizes_of(job);
    double rows, vocab;
    if (eager_is_meant(job)) {
        eager_head(job, piece);
        return;
    }
    work_logits(job, &sizes, &rows, &vocab);
    *piece = (struct work_piece){.name = "head", .input_bytes = sizes.divided};
    work_stream(piece, "norm", 2 * sizes.divided, 3 * sizes.divided);
    work_enter(job, piece, sizes.hidden_bytes);
    work_gemm(job, piece, "logits", rows, vocab, job->model->hidden);
    work_accumulate(job, piece);
    if (job->model->tied && job->plan->pp == 1) {
        piece->parameters = 0; /* the embedding's, which this rank has */
    }
    piece->kept_bytes = sizes.divided;
}

/* In float32, over this rank's part of the vocabulary. */
void work_loss(const struct work_job *job, struct work_piece *piece)
{
    struct work_sizes sizes = work_sizes_of(job);
    double rows, vocab;
    work_logits(job, &sizes, &rows, &vocab);
    if (eager_is_meant(job)) {
        struct eager eager = eager_begin(job, piece, "loss");
        eager_loss(&eager, rows, vocab);
        return;
    }
    *piece = (struct work_piece){.name = "loss"};
    struct orr_op loss = {.kind = ORR_OP_CROSS_ENTROPY, .dtype = ORR_OP_BF16};
    loss.dims[0] = (uint64_t)rows, loss.dims[1] = (uint64_t)vocab;
    work_append(&piece->forward, "loss")->op = loss;
    loss.kind = ORR_OP_CROSS_ENTROPY_BACKWARD;
    work_append(&piece->backward, "loss")->op = loss;
    piece->kept_bytes = rows * vocab * job->framework->logit_bytes;
}
