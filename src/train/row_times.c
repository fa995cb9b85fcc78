/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A list is walked once forwards and once backwards; products say which row they belong to, and what stands between
 * them goes with the product before it (a norm with the one behind it), so that nothing is lost: the rows add up to the
 * piece.
 */
#include "train/row_times.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "compute/device.h"
#include "model/aicb/inference.h"
#include "train/predict.h"
#include "train/step.h"

/* ---- from lists to rows ---- */

static const struct {
    const char *item;
    enum aicb_part part;
} products[] = {
    {"queries, keys, values", AICB_PART_QKV},
    {"queries down", AICB_PART_Q_DOWN},
    {"queries up", AICB_PART_Q_UP},
    {"queries", AICB_PART_Q_UP},
    {"keys down", AICB_PART_KV_DOWN},
    {"keys up", AICB_PART_KV_UP},
    {"attention", AICB_PART_ATTENTION_OUT},
    {"attention out", AICB_PART_ATTENTION_OUT},
    {"MLP in", AICB_PART_MLP_IN},
    {"MLP out", AICB_PART_MLP_OUT},
    {"router", AICB_PART_EXPERTS},
    {"shared in", AICB_PART_SHARED_IN},
    {"shared out", AICB_PART_SHARED_OUT},
};

/* Microseconds, until all are there. */
struct row_sums {
    double forward[AICB_PARTS], input[AICB_PARTS], weight[AICB_PARTS];
};

static enum aicb_part row_times_part(const struct work_list *list, uint32_t at, enum aicb_part before)
{
    bool norm = strcmp(list->items[at].name, "norm") == 0;
    for (uint32_t i = at; i < list->count; i++) {
        for (size_t k = 0; k < sizeof products / sizeof products[0]; k++) {
            if (strcmp(list->items[i].name, products[k].item) == 0) {
                return products[k].part;
            }
        }
        if (!norm && before != AICB_PART_NONE) {
            break;
        }
    }
    return before;
}

static void row_times_add_layer(const struct work_piece *piece, const struct cost_piece *cost, struct row_sums *sums)
{
    enum aicb_part part = AICB_PART_NONE;
    for (uint32_t i = 0; i < piece->forward.count; i++) {
        const struct work_item *item = &piece->forward.items[i];
        part = row_times_part(&piece->forward, i, part);
        sums->forward[part] += item->comm == WORK_COMPUTE ? item->us * item->times : 0;
    }
    part = AICB_PART_NONE;
    for (uint32_t i = 0; i < piece->backward.count; i++) {
        const struct work_item *item = &piece->backward.items[i];
        part = row_times_part(&piece->backward, i, part);
        double *into = work_is_weight(&piece->backward, i) ? sums->weight : sums->input;
        into[part] += item->comm == WORK_COMPUTE ? item->us * item->times : 0;
    }
    sums->input[AICB_PART_ATTENTION_OUT] += piece->again * cost->forward.compute; /* attention is what runs again */
}

static void row_times_sum(const struct step_layout *layout, bool dense, bool sparse, struct row_sums *sums)
{
    struct row_sums other = {0};
    const struct cost_piece *cost = layout->cost;
    *sums = (struct row_sums){0};
    if (dense || !sparse) {
        row_times_add_layer(&layout->piece[STEP_DENSE], &cost[STEP_DENSE], sums);
    }
    if (sparse) {
        row_times_add_layer(&layout->piece[STEP_SPARSE], &cost[STEP_SPARSE], &other);
        for (int part = 0; part < AICB_PARTS; part++) { /* both have the same attention */
            bool own = part >= AICB_PART_EXPERTS || !dense;
            sums->forward[part] = own ? other.forward[part] : sums->forward[part];
            sums->input[part] = own ? other.input[part] : sums->input[part];
            sums->weight[part] = own ? other.weight[part] : sums->weight[part];
        }
    }
    const struct cost_pass *head = &cost[STEP_HEAD].backward;
    sums->forward[AICB_PART_EMBEDDING] = cost[STEP_EMBEDDING].forward.compute;
    sums->weight[AICB_PART_EMBEDDING] = cost[STEP_EMBEDDING].backward.compute;
    sums->forward[AICB_PART_FINAL] = cost[STEP_HEAD].forward.compute;
    sums->input[AICB_PART_FINAL] = head->compute - head->weight;
    sums->weight[AICB_PART_FINAL] = head->weight;
    sums->forward[AICB_PART_LOSS] = cost[STEP_LOSS].forward.compute;
    sums->input[AICB_PART_LOSS] = cost[STEP_LOSS].backward.compute;
    sums->forward[AICB_PART_UPDATE] = layout->optimizer[0];
}

static enum orr_status row_times_ns(const struct row_sums *sums, struct aicb_part_times *times, struct orr_error *err)
{
    const double most = 9007199254740992.0; /* 2^53 */
    for (int part = 0; part < AICB_PARTS; part++) {
        double ns[] = {sums->forward[part] * 1e3, sums->input[part] * 1e3, sums->weight[part] * 1e3};
        if (!(fmax(ns[0], fmax(ns[1], ns[2])) < most)) {
            return error_set(err, ORR_ERANGE, "a row's compute time does not fit 2^53 ns");
        }
        times->of[part] = (struct aicb_part_time){llround(ns[0]), llround(ns[1]), llround(ns[2])};
    }
    aicb_part_times_sum(times);
    return ORR_OK;
}

/* One stage as one job: its layers, embedding and head, and the ranks that share its weights. */
static enum orr_status row_times_make(const struct orr_train_options *options, struct mem *mem,
                                      struct aicb_part_times *times, struct orr_error *err)
{
    struct predict_data *data = NULL;
    struct predict_job job;
    struct step_layout *layout = NULL;
    struct row_sums sums;
    enum orr_status status = predict_open(&data, err);
    status = status == ORR_OK ? predict_settle(data, options, &job, err) : status;
    status = status == ORR_OK ? step_layout_make(&job.cost, &job.job, mem, &layout, err) : status;
    if (status == ORR_OK) {
        bool sparse = job.model.experts != 0 && job.model.dense_layers < job.model.layers;
        row_times_sum(layout, !sparse || job.model.dense_layers > 0, sparse, &sums);
        status = row_times_ns(&sums, times, err);
    }
    step_layout_free(layout, mem);
    predict_close(data);
    return status;
}

/* ---- what is asked ---- */

static void row_times_begin(struct orr_train_options *asked)
{
    orr_train_options_init(asked);
    asked->framework = "megatron";
    asked->without_neighbours = true;
    asked->plan.zero = 1; /* the rows gather weights and scatter gradients */
}

static enum orr_status row_times_dtype(const char *text, enum orr_train_dtype *dtype, struct orr_error *err)
{
    static const struct {
        const char *word;
        enum orr_train_dtype dtype;
    } words[] = {{"bfloat16", ORR_TRAIN_DTYPE_BF16}, {"bf16", ORR_TRAIN_DTYPE_BF16}, {"float16", ORR_TRAIN_DTYPE_FP16},
                 {"fp16", ORR_TRAIN_DTYPE_FP16},     {"fp8", ORR_TRAIN_DTYPE_FP8},   {"float32", ORR_TRAIN_DTYPE_FP32}};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (strcmp(text, words[i].word) == 0) {
            *dtype = words[i].dtype;
            return ORR_OK;
        }
    }
    return error_set(err, ORR_EINVAL,
                     "parameter 'dtype': the operator model knows bfloat16, float16, fp8 and float32, not \"%.40s\"",
                     text);
}

static bool row_times_fit(const int64_t *values, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (values[i] < 0 || values[i] > INT32_MAX) {
            return false;
        }
    }
    return true;
}

/* What is larger than 32 bits was refused by the options' own bounds, but for the batch and what is reckoned. */
static void row_times_shape(const struct aicb_options *o, const struct aicb_shape *s, struct orr_train_options *asked)
{
    struct orr_train_model *shape = &asked->shape;
    bool latent = o->frame == AICB_FRAME_DEEPSEEK, experts = latent || o->moe_enable;
    bool rotary = latent || o->position_embedding_type == AICB_POSITION_ROPE;
    shape->family = rotary ? ORR_TRAIN_LLAMA : ORR_TRAIN_GPT;
    shape->layers = (uint32_t)s->layers;
    shape->hidden = (uint32_t)o->hidden_size;
    shape->ffn = (uint32_t)s->ffn;
    shape->heads = (uint32_t)s->heads;
    shape->kv_heads = (uint32_t)(latent ? s->heads : s->kv_heads);
    shape->head_dim = (uint32_t)(latent ? o->qk_nope_dim + o->qk_rope_dim : s->head_dim);
    shape->vocab = (uint32_t)s->vocab;
    shape->positions = rotary ? 0 : (uint32_t)o->max_position_embeddings;
    if (latent) {
        shape->kv_rank = (uint32_t)o->kv_lora_rank;
        shape->q_rank = (uint32_t)o->q_lora_rank;
        shape->rope_dim = (uint32_t)o->qk_rope_dim;
        shape->v_head_dim = (uint32_t)o->v_head_dim;
    }
    if (experts) {
        shape->experts = (uint32_t)o->num_experts;
        shape->topk = (uint32_t)o->moe_router_topk;
        shape->expert_ffn = (uint32_t)s->moe_ffn;
        shape->shared_experts = latent ? (uint32_t)o->n_shared_expert : 0;
        shape->dense_layers = latent ? (uint32_t)(o->n_dense_layers < s->layers ? o->n_dense_layers : s->layers) : 0;
    }
    asked->gated = o->swiglu || latent;
    asked->tied = !latent && !o->untie_embeddings_and_output_weights;
}

static void row_times_plan(const struct aicb_options *o, const struct aicb_shape *s, struct orr_train_plan *plan)
{
    plan->gpus = (uint32_t)(o->world_size / o->pp);
    plan->tp = (uint32_t)o->tp;
    plan->cp = (uint32_t)o->cp;
    plan->dp = (uint32_t)s->dp;
    plan->pp = 1;
    plan->ep = (uint32_t)o->ep;
    plan->etp = plan->tp; /* AICB divides an expert as it divides an MLP */
    plan->sp = o->enable_sequence_parallel;
    plan->micro_batch = (uint32_t)o->micro_batch;
    plan->global_batch = plan->micro_batch * plan->dp;
    plan->seq = (uint32_t)o->seq_length;
    plan->recompute = o->recompute_activations ? ORR_TRAIN_RECOMPUTE_SELECTIVE : ORR_TRAIN_RECOMPUTE_NONE;
}

enum orr_status row_times_of_aicb(const struct aicb_options *o, struct mem *mem, struct aicb_part_times *times,
                                  struct orr_error *err)
{
    struct orr_train_options asked;
    struct aicb_shape s;
    struct notes notes; /* the generator's own derivation tells them */
    notes_init(&notes, mem, false);
    enum orr_status status = aicb_options_derive(o, &s, &notes, err);
    notes_free(&notes);
    row_times_begin(&asked);
    asked.gpu = o->device != NULL ? o->device : o->gpu_type;
    if (status == ORR_OK && asked.gpu == NULL) {
        status = error_set(err, ORR_EINVAL,
                           "parameter 'compute-times' model needs parameter 'device' NAME (h100, mi300x: as orrery op "
                           "list names them)");
    }
    status = status == ORR_OK ? row_times_dtype(o->dtype, &asked.plan.dtype, err) : status;
    if (status == ORR_OK) {
        bool overflow = false;
        int64_t batch = aicb_mul(o->micro_batch, s.dp, &overflow);
        const int64_t all[] = {o->world_size,
                               batch,
                               s.tokens,
                               s.vocab,
                               s.ffn,
                               s.moe_ffn,
                               o->hidden_size,
                               o->qk_nope_dim + o->qk_rope_dim,
                               o->max_position_embeddings};
        if (overflow || !row_times_fit(all, sizeof all / sizeof all[0])) {
            return error_set(err, ORR_ERANGE, "parameter 'compute-times' model: a size of this job is above 2^31 - 1");
        }
        row_times_shape(o, &s, &asked);
        row_times_plan(o, &s, &asked.plan);
        status = row_times_make(&asked, mem, times, err);
    }
    return status;
}

/* ---- of inference ---- */

enum serve_part {
    SERVE_NORM,
    SERVE_ATTENTION,
    SERVE_MOE_NORM,
    SERVE_MLP,
    SERVE_ROUTE,
    SERVE_EXPERTS,
    SERVE_SHARED,
    SERVE_PARTS
};

/* One token behind `cached` others: heads that share keys and values are the rows of one block, and what is cached is
 * divided until there are blocks for all units. Of latent attention the weights of keys and values go to the queries
 * and all heads share the one latent state, which is wider than heads that were measured: as many rows more of those.
 */
static double row_times_decode(const struct predict_job *job, const struct work_item *item, uint64_t cached)
{
    const struct orr_train_model *model = &job->model;
    struct orr_op op = item->op;
    struct orr_op_prediction alone, behind;
    orr_op_predict(job->cost.ops, job->cost.device, ORR_OP_KERNEL, &op, &alone);
    uint64_t rows = op.dims[2] / op.dims[3], bytes = 2 * op.dims[0] * cached;
    if (model->kv_rank != 0) {
        bytes *= model->kv_rank + model->rope_dim;
        rows = (op.dims[2] * (2 * model->kv_rank + model->rope_dim) + 255) / 256;
        op.dims[3] = 1, op.dims[4] = 128, op.v_head_dim = 0;
    } else {
        bytes *= op.dims[3] * (model->head_dim + model->v_head_dim);
    }
    op.dims[1] = rows, op.dims[2] = op.dims[3];
    double blocks = fmin(ceil(job->device->units / (double)(op.dims[0] * op.dims[2])), (double)cached / 256);
    uint64_t parts = blocks > 1 ? (uint64_t)blocks : 1;
    op.dims[0] *= parts, op.kv_seq = cached / parts, op.full = true;
    orr_op_predict(job->cost.ops, job->cost.device, ORR_OP_KERNEL, &op, &behind);
    double factor = alone.kernel_us > 0 ? item->us / alone.kernel_us : 1; /* of the framework and the device */
    return factor * fmax(behind.kernel_us, cost_stream_us(&job->cost, (double)bytes));
}

/* Adds the forward pass of a layer by its rows; `cached`: of decoding. */
static void row_times_serve(const struct predict_job *job, const struct work_list *list, uint64_t cached,
                            double us[SERVE_PARTS])
{
    static const struct {
        const char *item;
        enum serve_part part;
    } begins[] = {{"queries, keys, values", SERVE_ATTENTION},
                  {"queries down", SERVE_ATTENTION},
                  {"queries", SERVE_ATTENTION},
                  {"MLP in", SERVE_MLP},
                  {"router", SERVE_ROUTE},
                  {"experts in", SERVE_EXPERTS},
                  {"shared in", SERVE_SHARED}};
    enum serve_part part = SERVE_NORM;
    for (uint32_t i = 0; i < list->count; i++) {
        const struct work_item *item = &list->items[i];
        part = strcmp(item->name, "norm") == 0 && part == SERVE_ATTENTION ? SERVE_MOE_NORM : part;
        for (size_t k = 0; k < sizeof begins / sizeof begins[0]; k++) {
            part = strcmp(item->name, begins[k].item) == 0 ? begins[k].part : part;
        }
        if (item->comm == WORK_COMPUTE) {
            bool looks = cached != 0 && item->op.kind == ORR_OP_ATTENTION;
            us[part] += (looks ? row_times_decode(job, item, cached) : item->us) * item->times;
        }
    }
}

static double row_times_product(const struct predict_job *job, double m, double n, double k)
{
    struct orr_op op = {.kind = ORR_OP_GEMM, .dtype = ORR_OP_BF16, .dims = {(uint64_t)m, (uint64_t)n, (uint64_t)k}};
    struct orr_op_prediction answer;
    orr_op_predict(job->cost.ops, job->cost.device, ORR_OP_KERNEL, &op, &answer);
    return answer.kernel_us * job->framework.gemm * job->cost.throttled;
}

/* Gated DeltaNet of Qwen3-Next: 16 heads of keys, 32 of values, 128 wide. Between the products its state in float32 is
 * read and written once for a chunk of 64 tokens, and what goes in and out of it passes memory three times. */
static double row_times_delta_net(const struct predict_job *job, double sequences, double tokens)
{
    const double tp = job->plan.tp, keys = 16 * 128 / tp, values = 32 * 128 / tp, hidden = job->model.hidden;
    double all = sequences * tokens, chunks = sequences * ceil(tokens / 64);
    double bytes = chunks * values * 128 * 4 * 2 + 3 * all * (2 * keys + 2 * values) * 2;
    return row_times_product(job, all, 2 * keys + 2 * values, hidden) +
           job->framework.stream * cost_stream_us(&job->cost, bytes) + row_times_product(job, all, hidden, values);
}

static enum orr_status row_times_serve_all(const struct orr_train_options *asked,
                                           const struct aicb_inference_model *model, uint64_t cached, struct mem *mem,
                                           struct aicb_inference_times *times, struct orr_error *err)
{
    struct predict_data *data = NULL;
    struct predict_job job;
    struct step_layout *layout = NULL;
    double dense[SERVE_PARTS] = {0}, us[SERVE_PARTS] = {0};
    enum orr_status status = predict_open(&data, err);
    status = status == ORR_OK ? predict_settle(data, asked, &job, err) : status;
    status = status == ORR_OK ? step_layout_make(&job.cost, &job.job, mem, &layout, err) : status;
    if (status == ORR_OK) {
        bool apart = model->family != AICB_FAMILY_DEEPSEEK; /* rows of norms; shared experts have none */
        row_times_serve(&job, &layout->piece[STEP_DENSE].forward, cached, dense);
        row_times_serve(&job, &layout->piece[STEP_SPARSE].forward, cached, us);
        double delta = row_times_delta_net(&job, job.plan.micro_batch, job.plan.seq);
        double shared = apart || model->shared == 0 ? 0 : us[SERVE_SHARED] / (double)model->shared;
        double attention = us[SERVE_ATTENTION] + (apart ? 0 : us[SERVE_NORM]);
        double mlp = dense[SERVE_MLP] + dense[SERVE_MOE_NORM];
        double route = us[SERVE_ROUTE] + (apart ? 0 : us[SERVE_MOE_NORM]);
        double experts = us[SERVE_EXPERTS] + (apart ? us[SERVE_SHARED] : 0);
        *times = (struct aicb_inference_times){
            llround(us[SERVE_NORM] * 1e3),     llround(delta * 1e3), llround(attention * 1e3), llround(mlp * 1e3),
            llround(us[SERVE_MOE_NORM] * 1e3), llround(route * 1e3), llround(experts * 1e3),   llround(shared * 1e3)};
    }
    step_layout_free(layout, mem);
    predict_close(data);
    return status;
}

enum orr_status row_times_of_inference(const struct aicb_options *o, struct mem *mem,
                                       struct aicb_inference_times *times, struct orr_error *err)
{
    struct orr_train_options asked;
    struct aicb_inference_model model;
    struct arena arena;
    arena_init(&arena, mem);
    enum orr_status status = aicb_inference_model_read(o, &arena, &model, err);
    arena_free(&arena);
    row_times_begin(&asked);
    asked.gpu = o->device;
    if (status == ORR_OK && asked.gpu == NULL) {
        status = error_set(err, ORR_EINVAL,
                           "parameter 'compute-times' model needs parameter 'device' NAME (h100, mi300x: as orrery op "
                           "list names them)");
    }
    if (status != ORR_OK) {
        return status;
    }
    const struct aicb_preset *preset = model.preset;
    bool decodes = o->phase != AICB_PHASE_PREFILL, latent = preset->kv_lora != 0;
    const int64_t all[] = {o->world_size, o->micro_batch, o->seq_length, model.hidden, model.layers};
    if (!row_times_fit(all, sizeof all / sizeof all[0]) || o->micro_batch > INT32_MAX / o->world_size) {
        return error_set(err, ORR_ERANGE, "parameter 'compute-times' model: a size of this job is above 2^31 - 1");
    }
    asked.shape = (struct orr_train_model){
        .family = ORR_TRAIN_LLAMA,
        .layers = (uint32_t)model.layers,
        .hidden = (uint32_t)model.hidden,
        .ffn = (uint32_t)preset->ffn,
        .heads = (uint32_t)preset->heads,
        .kv_heads = (uint32_t)preset->kv_heads,
        .head_dim = (uint32_t)(latent ? preset->qk_nope + preset->qk_rope : preset->head_dim),
        .vocab = (uint32_t)preset->vocab,
        .kv_rank = (uint32_t)preset->kv_lora,
        .q_rank = (uint32_t)preset->q_lora,
        .rope_dim = (uint32_t)preset->qk_rope,
        .v_head_dim = (uint32_t)preset->v_head,
        .experts = (uint32_t)preset->experts,
        .topk = (uint32_t)model.topk,
        .expert_ffn = (uint32_t)preset->moe_ffn,
        .shared_experts = (uint32_t)model.shared,
        .dense_layers = (uint32_t)(model.dense_layers < model.layers ? model.dense_layers : model.layers)};
    asked.plan.gpus = (uint32_t)(o->world_size / o->pp);
    asked.plan.tp = (uint32_t)o->tp;
    asked.plan.ep = (uint32_t)o->ep;
    asked.plan.micro_batch = (uint32_t)o->micro_batch;
    asked.plan.seq = decodes ? 1 : (uint32_t)o->seq_length;
    return row_times_serve_all(&asked, &model, decodes ? (uint64_t)o->seq_length : 0, mem, times, err);
}

/* ---- of a text ---- */

/* Bytes of a micro-batch between layers, where a row or the header says it; 0: none does. */
static int64_t row_times_activations(const struct simai_text *text, bool sp)
{
    static const char *const names[] = {"embedding_layer", "mlp_column", "mlp_row", "mlp_layer", "final_column"};
    for (size_t k = 0; k < sizeof names / sizeof names[0]; k++) {
        for (uint32_t i = 0; i < text->workload.layer_count; i++) {
            const struct text_layer *row = &text->workload.layers[i];
            if (text_word_is(row->name, names[k]) && row->cells[TEXT_FWD].bytes > 0) {
                return row->cells[TEXT_FWD].bytes;
            }
        }
    }
    int64_t between = text->values[SIMAI_PP_COMM], tp = text->values[SIMAI_TP];
    return text->values[SIMAI_PP] > 1 && between > 0 && between < INT64_MAX / (tp > 0 ? tp : 1)
               ? between * (sp && tp > 0 ? tp : 1)
               : 0;
}

static bool row_times_has_row(const struct simai_text *text, const char *name)
{
    for (uint32_t i = 0; i < text->workload.layer_count; i++) {
        if (text_word_is(text->workload.layers[i].name, name)) {
            return true;
        }
    }
    return false;
}

/* Sequences and tokens of a micro-batch: what is asked for, and what the sizes of messages leave of it. */
static enum orr_status row_times_batch(const struct simai_text *text, const struct orr_simai_compute *asked,
                                       const struct orr_train_model *model, struct orr_train_plan *plan,
                                       struct orr_error *err)
{
    const char *path = text->workload.path;
    int64_t token = INT64_C(2) * model->hidden, bytes = row_times_activations(text, plan->sp);
    int64_t tokens = bytes / token * plan->cp;
    plan->micro_batch = asked->micro_batch;
    plan->seq = asked->seq;
    if (plan->seq == 0 && plan->micro_batch == 0) {
        return error_set(err, ORR_EINVAL,
                         "%s: a workload does not say how long its sequences are: parameter 'seq' N or parameter "
                         "'micro-batch' N does",
                         path);
    }
    if (bytes == 0 && (plan->seq == 0 || plan->micro_batch == 0)) {
        return error_set(err, ORR_EINVAL,
                         "%s: no message of a micro-batch in it says how many tokens that has: parameter 'seq' N and "
                         "parameter 'micro-batch' N do",
                         path);
    }
    int64_t known = plan->seq != 0 ? plan->seq : plan->micro_batch;
    int64_t other = bytes == 0 ? 0 : tokens / known;
    bool fits = bytes == 0 || (bytes % token == 0 && other > 0 && other * known == tokens && other <= INT32_MAX);
    if (bytes != 0 && plan->seq != 0 && plan->micro_batch != 0) {
        fits = fits && other == plan->micro_batch;
    }
    if (!fits) {
        return error_set(err, ORR_EINVAL,
                         "%s: %" PRId64 " bytes between layers are %g tokens of %s (hidden size %" PRIu32
                         "), which is not parameter '%s' %" PRId64 " times a whole number%s",
                         path, bytes, (double)bytes / (double)token * plan->cp, model->name, model->hidden,
                         plan->seq != 0 ? "seq" : "micro-batch", known,
                         plan->seq != 0 && plan->micro_batch != 0 ? ", or not parameter 'micro-batch'" : "");
    }
    plan->micro_batch = plan->micro_batch != 0 ? plan->micro_batch : (uint32_t)other;
    plan->seq = plan->seq != 0 ? plan->seq : (uint32_t)other;
    return ORR_OK;
}

/* The model by its name: one of orrery train's, or else one of gen aicb's. */
static enum orr_status row_times_model(const char *name, struct orr_train_options *options,
                                       struct orr_train_model *model, struct orr_error *err)
{
    const struct aicb_preset *preset = aicb_preset_find(name);
    struct orr_error refused = {0};
    if (orr_train_model_find(name, model, &refused) == ORR_OK) {
        options->model = name;
        return ORR_OK;
    }
    if (preset == NULL) {
        return error_set(err, refused.status, "%s", refused.text);
    }
    struct aicb_options o;
    struct aicb_shape s;
    aicb_options_init(&o, AICB_TRAINING, false);
    enum orr_status status = aicb_preset_apply(preset, &o, err);
    o.global_batch = 1;
    status = status == ORR_OK ? aicb_options_derive(&o, &s, NULL, err) : status;
    if (status == ORR_OK) {
        row_times_shape(&o, &s, options);
        *model = options->shape;
        (void)snprintf(model->name, sizeof model->name, "%s", preset->name);
    }
    return status;
}

static uint32_t row_times_degree(const struct simai_text *text, enum simai_key key)
{
    int64_t value = text->values[key];
    return value < 1 || value > INT32_MAX ? 1 : (uint32_t)value;
}

/* The stage's layers, as the header says them and as the model has them. */
static enum orr_status row_times_layers(const struct simai_text *text, const struct orr_train_model *model, uint32_t pp,
                                        uint32_t *layers, struct orr_error *err)
{
    uint32_t said = row_times_degree(text, SIMAI_VPP), least = model->layers / pp, most = (model->layers + pp - 1) / pp;
    *layers = said;
    if (text->given[SIMAI_VPP] && (said < least || said > most)) {
        return error_set(err, ORR_EINVAL,
                         "%s:1: vpp: %" PRIu32 " layers in each of %" PRIu32 " stages are not %s, which has %" PRIu32
                         " layers",
                         text->workload.path, said, pp, model->name, model->layers);
    }
    *layers = text->given[SIMAI_VPP] ? said : most;
    return ORR_OK;
}

enum orr_status row_times_of_text(const struct simai_text *text, const struct orr_simai_compute *asked, uint32_t gpus,
                                  struct mem *mem, struct aicb_part_times *times, struct orr_error *err)
{
    struct orr_train_options options;
    struct orr_train_plan *plan = &options.plan;
    struct orr_train_model model;
    row_times_begin(&options);
    if (asked->model == NULL || asked->device == NULL) {
        return error_set(err, ORR_EINVAL, "parameter 'compute-times' model needs parameter '%s': %s",
                         asked->model == NULL ? "model" : "device",
                         asked->model == NULL
                             ? "a workload says the sizes of messages, not the shapes of kernels"
                             : "times are those of a device (h100, mi300x: as orrery op list names them)");
    }
    enum orr_status status = row_times_model(asked->model, &options, &model, err);
    if (status != ORR_OK) {
        return status;
    }
    if (model.family != ORR_TRAIN_GPT && model.family != ORR_TRAIN_LLAMA) {
        return error_set(err, ORR_EINVAL, "parameter 'model': %s is no decoder, and AICB's rows are of decoders",
                         model.name);
    }
    uint32_t pp = row_times_degree(text, SIMAI_PP);
    plan->tp = plan->etp = row_times_degree(text, SIMAI_TP);
    plan->cp = row_times_degree(text, SIMAI_CP);
    plan->ep = model.experts != 0 ? row_times_degree(text, SIMAI_EP) : 1;
    plan->sp = row_times_has_row(text, "attention_row") || row_times_has_row(text, "attention_o_row");
    plan->pp = 1;
    uint64_t inside = (uint64_t)plan->tp * plan->cp * pp;
    if (inside > gpus || gpus % inside != 0) {
        return error_set(err, ORR_EINVAL, "%s:1: %" PRIu32 " GPUs do not divide into TP x CP x PP = %" PRIu64,
                         text->workload.path, gpus, inside);
    }
    plan->dp = (uint32_t)(gpus / inside);
    plan->gpus = gpus / pp;
    status = row_times_batch(text, asked, &model, plan, err);
    status = status == ORR_OK ? row_times_layers(text, &model, pp, &options.shape.layers, err) : status;
    if (status == ORR_OK && (uint64_t)plan->micro_batch * plan->dp > INT32_MAX) {
        status = error_set(err, ORR_ERANGE, "%s: micro-batch x DP is above 2^31 - 1", text->workload.path);
    }
    if (status == ORR_OK) {
        plan->global_batch = plan->micro_batch * plan->dp;
        options.gpu = asked->device;
        status = row_times_make(&options, mem, times, err);
    }
    return status;
}
