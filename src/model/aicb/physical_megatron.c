/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Megatron and DeepSeek (spec simai §5.3). The rows of a part depend on three questions: are there TP ranks, is the
 * sequence divided among them, are products written; each part asks them in the order in which the rows come.
 */
#include "model/aicb/physical_parts.h"

/* What the rows of a layer are made with. */
struct view {
    struct physical *p;
    int64_t tp, s, b;
    bool split;    /* sequence parallelism, with TP ranks */
    bool products; /* are written */
};

static struct view view_of(struct physical *p)
{
    const struct aicb_options *o = p->o;
    return (struct view){.p = p,
                         .tp = o->tp,
                         .s = o->seq_length / (o->fix.context_parallel ? o->cp : 1),
                         .b = o->micro_batch,
                         .split = o->tp > 1 && o->enable_sequence_parallel,
                         .products = o->computation_enable || o->aiob_enable};
}

/* Bytes of `width` values a token, two bytes each. */
static int64_t token_bytes(const struct view *v, int64_t width)
{
    return physical_mul(v->p, physical_mul(v->p, 2 * v->b, v->s), width);
}

static void aicb_physical_megatron_exchange(const struct view *v, const char *op, int64_t bytes, const char *stage)
{
    physical_collective(v->p, op, PHYSICAL_TP, v->tp, bytes, stage);
}

static void aicb_physical_megatron_compute(const struct view *v, struct physical_product product, const char *stage,
                                           const char *name)
{
    if (v->products) {
        physical_compute(v->p, product, stage, name);
    }
}

/* ---- linear layers ---- */

static int64_t column_tokens(const struct view *v)
{
    return v->split && !v->p->fix.gathered_tokens ? physical_mul(v->p, v->s, v->tp) : v->s;
}

static void column_forward(const struct view *v, const struct physical_part *part)
{
    static const char stage[] = "forward.MegatronColumnLinear";
    if (v->split) {
        aicb_physical_megatron_exchange(v, "all_gather", token_bytes(v, part->in), stage);
    }
    aicb_physical_megatron_compute(
        v, (struct physical_product){column_tokens(v), v->b, part->in, part->in, part->out / v->tp},
        "forward.MegatronColumnLinear.", part->name);
}

static void column_backward(const struct view *v, const struct physical_part *part)
{
    static const char stage[] = "backward.MegatronColumnLinear";
    static const char named[] = "backward.MegatronColumnLinear.";
    int64_t out = part->out / v->tp;
    int64_t tokens = physical_mul(v->p, column_tokens(v), v->b);
    if (v->split) {
        aicb_physical_megatron_exchange(v, "all_gather", token_bytes(v, part->in), stage);
    }
    aicb_physical_megatron_compute(v, (struct physical_product){column_tokens(v), v->b, out, out, part->in}, named,
                                   part->name);
    if (v->split) {
        aicb_physical_megatron_exchange(v, "reduce_scatter", token_bytes(v, part->in), stage);
    }
    aicb_physical_megatron_compute(v, (struct physical_product){0, out, tokens, tokens, part->in}, named, part->name);
    if (v->tp > 1 && !v->split) {
        aicb_physical_megatron_exchange(v, "all_reduce", token_bytes(v, part->in), stage);
    }
}

static void row_forward(const struct view *v, const struct physical_part *part)
{
    int64_t in = part->in / v->tp;
    aicb_physical_megatron_compute(v, (struct physical_product){v->s, v->b, in, in, part->out},
                                   "forward.MegatronRowLinear.", part->name);
    if (v->tp > 1) {
        aicb_physical_megatron_exchange(v, v->split ? "reduce_scatter" : "all_reduce", token_bytes(v, part->out),
                                        "forward.MegatronRowLinear");
    }
}

static void row_backward(const struct view *v, const struct physical_part *part)
{
    const char *named = v->p->fix.row_names ? "backward.MegatronRowLinear." : "backward.MegatronRowLinear";
    int64_t in = part->in / v->tp;
    int64_t tokens = physical_mul(v->p, v->s, v->b);
    if (v->split) {
        aicb_physical_megatron_exchange(v, "all_gather", token_bytes(v, part->out), "backward.MegatronRowLinear");
    }
    aicb_physical_megatron_compute(v, (struct physical_product){v->s, v->b, part->out, part->out, in}, named,
                                   part->name);
    aicb_physical_megatron_compute(v, (struct physical_product){0, part->out, tokens, tokens, in}, named, part->name);
}

static void linear_forward(const struct view *v, const struct physical_part *part)
{
    aicb_physical_megatron_compute(v, (struct physical_product){v->s, v->b, part->in, part->in, part->out},
                                   "forward.Linear.", part->name);
}

static void linear_backward(const struct view *v, const struct physical_part *part)
{
    int64_t tokens = physical_mul(v->p, v->s, v->b);
    if (v->p->fix.linear_gradient) {
        aicb_physical_megatron_compute(v, (struct physical_product){v->s, v->b, part->out, part->out, part->in},
                                       "backward.Linear.", part->name);
    }
    aicb_physical_megatron_compute(v, (struct physical_product){0, part->out, tokens, tokens, part->in},
                                   "backward.Linear.", part->name);
}

/* ---- experts ---- */

/* One exchange of an expert block. `group` PHYSICAL_EP: between experts; else between TP ranks. */
static void expert_exchange(const struct view *v, const char *op, enum physical_group group, int64_t bytes,
                            const char *stage, bool in_64ths)
{
    int64_t ranks = group == PHYSICAL_EP ? v->p->o->ep : v->tp;
    physical_put(v->p, (struct physical_row){.op = op,
                                             .group = group,
                                             .ranks = v->p->fix.group_sizes ? ranks : PHYSICAL_UNKNOWN,
                                             .bytes = bytes,
                                             .stage = stage,
                                             .dst = PHYSICAL_UNKNOWN,
                                             .src = PHYSICAL_UNKNOWN,
                                             .in_64ths = in_64ths});
}

struct expert_sizes {
    int64_t sent;      /* by a rank to the experts: every token's copies, 2 bytes a value */
    int64_t exchanged; /* between the TP ranks */
    int64_t tokens;    /* copies of tokens that a rank's experts work on, evenly spread */
};

static struct expert_sizes expert_sizes(const struct view *v)
{
    struct physical *p = v->p;
    const struct aicb_options *o = p->o;
    int64_t copies = physical_mul(p, physical_mul(p, v->s, v->b), o->moe_router_topk);
    int64_t values = physical_mul(p, copies, o->hidden_size);
    return (struct expert_sizes){
        .sent = physical_mul(p, 2, values / v->tp), .exchanged = physical_mul(p, 2, values), .tokens = copies};
}

/* DeepSeek sends 8-bit values with a 32-bit scale for every 128 of them. */
static void dispatch(const struct view *v, const struct expert_sizes *sizes, const char *stage, bool forward)
{
    if (v->p->o->ep == 1) {
        return;
    }
    bool packed = forward && v->p->o->frame == AICB_FRAME_DEEPSEEK;
    int64_t part = packed ? physical_mul(v->p, sizes->sent, 33) : sizes->sent;
    bool fraction = packed && !v->p->fix.dispatch_bytes;
    expert_exchange(v, "all_to_all", PHYSICAL_EP, packed && !fraction ? part / 64 : part, stage, fraction);
}

static bool aicb_physical_megatron_is_gated(const struct aicb_options *o)
{
    return o->frame == AICB_FRAME_DEEPSEEK || (o->fix.gated_mlp && o->swiglu);
}

/* A rank's experts as one product of all their tokens each way: an expert's own share is as large a part of both. */
static void expert_products(const struct view *v, const struct physical_part *part, const struct expert_sizes *sizes,
                            bool forward)
{
    const struct aicb_options *o = v->p->o;
    int64_t experts = o->num_experts / o->ep;
    int64_t width = part->out / v->tp / experts;
    int64_t up = aicb_physical_megatron_is_gated(o) ? 2 * width : width;
    int64_t tokens = sizes->tokens;
    if (!v->p->fix.expert_rows || !v->products) {
        return;
    }
    if (forward) {
        physical_compute(v->p, (struct physical_product){0, tokens, part->in, part->in, up}, "forward.MoE.",
                         part->name);
        physical_compute(v->p, (struct physical_product){0, tokens, width, width, part->in}, "forward.MoE.",
                         part->name);
        return;
    }
    physical_compute(v->p, (struct physical_product){0, tokens, part->in, part->in, width}, "backward.MoE.",
                     part->name);
    physical_compute(v->p, (struct physical_product){0, part->in, tokens, tokens, width}, "backward.MoE.", part->name);
    physical_compute(v->p, (struct physical_product){0, tokens, up, up, part->in}, "backward.MoE.", part->name);
    physical_compute(v->p, (struct physical_product){0, up, tokens, tokens, part->in}, "backward.MoE.", part->name);
}

static void experts_forward(const struct view *v, const struct physical_part *part)
{
    struct physical *p = v->p;
    const struct aicb_options *o = p->o;
    struct expert_sizes sizes = expert_sizes(v);
    if (o->frame != AICB_FRAME_DEEPSEEK && (o->ep > 1 || (v->tp > 1 && !o->fix.lone_groups))) {
        int64_t counts = physical_mul(p, 2 * o->ep, physical_mul(p, o->num_experts, v->tp));
        expert_exchange(v, "all_gather", PHYSICAL_EP, counts, "forward.MoE.preprocess", false);
    }
    dispatch(v, &sizes, "forward.MoE.dispatch", true);
    if (v->tp > 1) {
        expert_exchange(v, "all_gather", PHYSICAL_TP, sizes.exchanged, "forward.MoE.permutation", false);
    }
    expert_products(v, part, &sizes, true);
    if (v->tp > 1) {
        expert_exchange(v, "reduce_scatter", PHYSICAL_TP, sizes.exchanged, "forward.MoE.unpermutation", false);
    }
    if (o->ep > 1) {
        expert_exchange(v, "all_to_all", PHYSICAL_EP, sizes.sent, "forward.MoE.combine", false);
    }
}

static void experts_backward(const struct view *v, const struct physical_part *part)
{
    struct expert_sizes sizes = expert_sizes(v);
    if (!v->p->fix.expert_rows) {
        return;
    }
    if (v->p->o->ep > 1) {
        expert_exchange(v, "all_to_all", PHYSICAL_EP, sizes.sent, "backward.MoE.combine", false);
    }
    if (v->tp > 1) {
        expert_exchange(v, "all_gather", PHYSICAL_TP, sizes.exchanged, "backward.MoE.unpermutation", false);
    }
    expert_products(v, part, &sizes, false);
    if (v->tp > 1) {
        expert_exchange(v, "reduce_scatter", PHYSICAL_TP, sizes.exchanged, "backward.MoE.permutation", false);
    }
    dispatch(v, &sizes, "backward.MoE.dispatch", false);
}

/* ---- layers ---- */

static void part_run(const struct view *v, const struct physical_part *part, bool forward)
{
    static void (*const runs[][2])(const struct view *, const struct physical_part *) = {
        [PHYSICAL_LINEAR] = {linear_backward, linear_forward},
        [PHYSICAL_COLUMN] = {column_backward, column_forward},
        [PHYSICAL_ROW] = {row_backward, row_forward},
        [PHYSICAL_EXPERTS] = {experts_backward, experts_forward},
    };
    runs[part->kind][forward](v, part);
}

static void layer_run(const struct view *v, const struct physical_parts *parts, int64_t index, bool forward)
{
    const struct physical_layer *layer = index < parts->dense_layers ? &parts->dense : &parts->expert;
    bool reversed = !forward && v->p->fix.backward_order;
    for (unsigned i = 0; i < layer->count; i++) {
        part_run(v, &layer->parts[reversed ? layer->count - 1 - i : i], forward);
    }
}

static void embedding_run(const struct view *v, const struct physical_parts *parts, const char *stage)
{
    if (v->tp > 1 && parts->first) {
        aicb_physical_megatron_exchange(v, "all_reduce", token_bytes(v, v->p->o->hidden_size), stage);
    }
}

static void model_forward(struct physical *p, const struct physical_parts *parts)
{
    struct view v = view_of(p);
    embedding_run(&v, parts, "forward.MegatronEmbedding");
    for (int64_t i = 0; i < parts->layers && physical_good(p); i++) {
        layer_run(&v, parts, i, true);
    }
    if (p->fix.final_rows && parts->last) {
        column_forward(&v, &parts->final);
    }
}

static void model_backward(struct physical *p, const struct physical_parts *parts)
{
    struct view v = view_of(p);
    if (p->fix.final_rows && parts->last) {
        column_backward(&v, &parts->final);
    }
    for (int64_t i = parts->layers; i > 0 && physical_good(p); i--) {
        layer_run(&v, parts, i - 1, false);
    }
    embedding_run(&v, parts, "backward.MegatronEmbedding");
}

/* ---- one micro-batch ---- */

static void broadcast_data(struct physical *p)
{
    const struct aicb_options *o = p->o;
    int64_t tokens = p->fix.data_broadcast
                         ? physical_mul(p, physical_sum(p, o->seq_length, 1), o->micro_batch)
                         : physical_sum(p, o->world_size, physical_mul(p, o->seq_length, o->micro_batch));
    physical_broadcast(p, PHYSICAL_TP, o->tp, 40, "forward_step");
    physical_broadcast(p, PHYSICAL_TP, o->tp, physical_mul(p, 8, tokens), "forward_step");
}

static void loss(struct physical *p)
{
    const struct aicb_options *o = p->o;
    int64_t bytes = physical_mul(p, 4, p->shape.tokens);
    for (unsigned i = 0; i < 3; i++) {
        physical_collective(p, "all_reduce", PHYSICAL_TP, o->tp, bytes, "forward_step._VocabParallelCrossEntropy");
    }
    physical_collective(p, "all_reduce", PHYSICAL_DP, p->shape.dp, 4,
                        "forward_step.average_losses_across_data_parallel_group");
}

static void megatron_forward(struct physical *p, void *state)
{
    if (p->o->tp > 1) {
        broadcast_data(p);
    }
    model_forward(p, state);
    loss(p);
}

static void megatron_backward(struct physical *p, void *state)
{
    model_backward(p, state);
}

/* ---- the pipeline: one forward, one backward ---- */

static void message(struct physical *p, const char *op, const char *stage, const char *peer)
{
    const struct aicb_options *o = p->o;
    int64_t bytes = physical_mul(p, 2 * o->hidden_size, p->shape.tokens);
    bool divides = p->fix.stage_view && o->enable_sequence_parallel; /* each TP rank sends its part of the sequence */
    physical_put(p, (struct physical_row){.op = op,
                                          .group = PHYSICAL_PP,
                                          .ranks = p->fix.stage_view ? o->pp : 1,
                                          .bytes = divides ? bytes / o->tp : bytes,
                                          .stage = stage,
                                          .dst = PHYSICAL_UNKNOWN,
                                          .src = PHYSICAL_UNKNOWN,
                                          .additional = peer});
}

/* As AICB writes it: the first stage's rows. */
static void pipeline_compat(struct physical *p, struct physical_parts *parts)
{
    int64_t batches = p->shape.ga;
    int64_t ahead = p->o->pp - 1 < batches ? p->o->pp - 1 : batches;
    for (int64_t i = 0; i < ahead && physical_good(p); i++) {
        broadcast_data(p);
        model_forward(p, parts);
        message(p, "isend", "forward_step", "send_next");
    }
    for (int64_t i = 0; i < batches - ahead && physical_good(p); i++) {
        broadcast_data(p);
        model_forward(p, parts);
        message(p, "irecv", "forward_step", "recv_next");
        message(p, "isend", "forward_step", "send_next");
        model_backward(p, parts);
    }
    for (int64_t i = 0; i < ahead && physical_good(p); i++) {
        message(p, "irecv", "backward_step", "recv_next");
        model_backward(p, parts);
    }
}

static void stage_forward(struct physical *p, struct physical_parts *parts)
{
    if (!parts->first) {
        message(p, "irecv", "forward_step", "recv_prev");
    }
    if (parts->first || parts->last) {
        broadcast_data(p); /* the first stage needs the tokens, the last the labels */
    }
    model_forward(p, parts);
    if (parts->last) {
        loss(p);
    } else {
        message(p, "isend", "forward_step", "send_next");
    }
}

static void stage_backward(struct physical *p, struct physical_parts *parts)
{
    if (!parts->last) {
        message(p, "irecv", "backward_step", "recv_next");
    }
    model_backward(p, parts);
    if (!parts->first) {
        message(p, "isend", "backward_step", "send_prev");
    }
}

static void megatron_pipeline(struct physical *p, void *state)
{
    struct physical_parts *parts = state;
    int64_t batches = p->shape.ga;
    int64_t behind = p->o->pp - 1 - parts->stage;
    int64_t ahead = behind < batches ? behind : batches;
    if (!p->fix.stage_view) {
        pipeline_compat(p, parts);
        return;
    }
    for (int64_t i = 0; i < batches + ahead && physical_good(p); i++) {
        if (i < batches) {
            stage_forward(p, parts);
        }
        if (i >= ahead) {
            stage_backward(p, parts);
        }
    }
}

/* ---- before and after ---- */

static void megatron_init(struct physical *p, void *state)
{
    static const char stage[] = "init.model_setup";
    const struct aicb_options *o = p->o;
    (void)state;
    physical_collective(p, "all_reduce", PHYSICAL_DP, p->shape.dp, 8, stage);
    for (unsigned i = 0; i < 3; i++) {
        physical_collective(p, "all_reduce", PHYSICAL_DP, p->shape.dp, 8, stage);
        if (o->pp > 1) {
            physical_collective(p, "all_reduce", PHYSICAL_PP, o->pp, 8, stage);
        }
    }
    physical_collective(p, "all_gather", PHYSICAL_DP, p->shape.dp, 32, stage);
    physical_broadcast(p, PHYSICAL_TP, o->tp, 24, stage);
    if (o->pp > 1 && o->pp_rank == o->pp - 1) {
        int64_t words = physical_mul(p, p->shape.vocab / o->tp, o->hidden_size);
        physical_collective(p, "all_reduce", PHYSICAL_TP, o->tp, physical_mul(p, 8, words), stage);
        physical_collective(p, "all_reduce", PHYSICAL_TP, o->tp,
                            physical_mul(p, 2, physical_mul(p, o->seq_length, o->hidden_size)), stage);
    }
    physical_collective(p, "all_gather", PHYSICAL_DP, p->shape.dp, 64, stage);
}

static void reduce_gradients(struct physical *p, int64_t params, enum physical_group group, int64_t ranks)
{
    int64_t stages = p->fix.step_once ? 1 : p->o->pp;
    int64_t full = physical_mul(p, 4, params) / stages;
    if (p->o->use_distributed_optimizer) {
        physical_collective(p, "reduce_scatter", group, ranks, full, "step");
        physical_collective(p, "all_gather", group, ranks, physical_mul(p, 2, params) / stages, "step");
    } else {
        physical_collective(p, "all_reduce", group, ranks, full, "step.finish_grad_sync");
    }
}

static void megatron_step(struct physical *p, void *state)
{
    const struct physical_parts *parts = state;
    const struct aicb_options *o = p->o;
    bool apart = p->fix.expert_gradients_apart && parts->expert_params > 0;
    int64_t between = p->shape.dp / o->ep > 0 ? p->shape.dp / o->ep : 1;
    reduce_gradients(p, parts->params - (apart ? parts->expert_params : 0), PHYSICAL_DP, p->shape.dp);
    if (apart) {
        reduce_gradients(p, parts->expert_params, PHYSICAL_EP_DP, between);
    }
    if (!p->fix.norm_reduce) {
        physical_collective(p, "all_reduce", PHYSICAL_TP, o->tp, 0, "step._allreduce_layernorm_grads");
    } else if (o->enable_sequence_parallel) {
        physical_collective(p, "all_reduce", PHYSICAL_TP, o->tp, physical_mul(p, 4, parts->norm_params),
                            "step._allreduce_layernorm_grads");
    }
    physical_collective(p, "all_reduce", PHYSICAL_TP, o->tp, 4, "step.check_for_nan");
}

const struct physical_family physical_megatron = {megatron_init, megatron_forward, megatron_backward, megatron_step,
                                                  megatron_pipeline};
