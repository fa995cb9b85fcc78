/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The text around the layers: what is reduced and gathered once a step, the loss, the optimizer, the header. The rows
 * of a micro-batch are made twice, because AICB's first one differs in a number from all others, and then written as
 * often as there are micro-batches.
 */
#include "model/aicb/training.h"

#include <inttypes.h>
#include <string.h>

#include "io/json_stream.h"
#include "model/aicb/training_rows.h"

void aicb_training_name(const struct aicb_options *o, char *name, size_t size)
{
    static const char *const truth[] = {"False", "True"};
    (void)snprintf(name, size,
                   "%s-%s-world_size%" PRId64 "-tp%" PRId64 "-pp%" PRId64 "-ep%" PRId64 "-gbs%" PRId64 "-mbs%" PRId64
                   "-seq%" PRId64 "-MOE-%s-GEMM-%s-flash_attn-%s.txt",
                   o->gpu_type == NULL ? "None" : o->gpu_type, o->model_name == NULL ? "None" : o->model_name,
                   o->world_size, o->tp, o->pp, o->ep, o->global_batch, o->micro_batch, o->seq_length,
                   truth[o->moe_enable], truth[o->moe_grouped_gemm], truth[o->use_flash_attn]);
}

/* ---- once a step ------------------------------------------------------------------------------------------------ */

/* A collective in a group of data parallelism. */
static struct aicb_pass aicb_training_in_group(const struct training *t, int64_t ranks, const char *comm, int64_t bytes)
{
    bool alone = t->o->fix.lone_groups && ranks == 1;
    return (struct aicb_pass){1, alone ? NULL : comm, alone ? 0 : bytes};
}

static const struct aicb_pass idle = {1, NULL, 0};

static void add_gradients_plain(struct training *t, struct aicb_rows *rows)
{
    int64_t total = t->model.total;
    training_add(t, rows,
                 (struct aicb_row){"grad_norm",
                                   {1, AICB_ALLGATHER, aicb_mul(2, total, &t->overflow)},
                                   idle,
                                   {1, AICB_REDUCESCATTER, aicb_mul(4, total, &t->overflow)}});
}

/* The time of "grad_forward" or "grad_backward", by whatever section says it. */
static int64_t grad_time(const struct training *t, const char *name, int64_t param_time)
{
    int64_t own = aicb_times_find(t->times, "grad");
    own = own != AICB_NO_TIME ? own : aicb_times_find(t->times, name);
    return own != AICB_NO_TIME ? own : param_time;
}

static int64_t forward_time(const struct training *t)
{
    return grad_time(t, "grad_forward", t->times->grad_forward);
}

static int64_t backward_time(const struct training *t)
{
    return grad_time(t, "grad_backward", t->times->grad_backward);
}

static void add_gradients(struct training *t, struct aicb_rows *rows)
{
    int64_t dense = t->model.total - t->model.moe;
    int64_t ranks = t->s.dp * (t->o->fix.context_parallel ? t->o->cp : 1);
    struct aicb_pass gather = aicb_training_in_group(t, ranks, AICB_ALLGATHER, aicb_mul(2, dense, &t->overflow));
    struct aicb_pass reduce = aicb_training_in_group(t, ranks, AICB_REDUCESCATTER, aicb_mul(4, dense, &t->overflow));
    training_add(t, rows, (struct aicb_row){"grad_gather", idle, idle, gather});
    training_add(t, rows, (struct aicb_row){"grad_param_comm", idle, idle, reduce});
    int64_t update = t->o->part_times != NULL ? t->o->part_times->of[AICB_PART_UPDATE].forward
                     : t->times == NULL       ? 1
                                              : forward_time(t) + backward_time(t);
    training_add(t, rows, (struct aicb_row){"grad_param_compute", idle, {update, NULL, 0}, idle});
}

static void add_norm_gradients(struct training *t, struct aicb_rows *rows)
{
    const struct aicb_options *o = t->o;
    bool present = o->fix.norm_gradients ? o->enable_sequence_parallel && o->tp > 1 : !o->enable_sequence_parallel;
    int64_t params = o->fix.norm_gradients ? t->model.norms : t->model.total;
    if (present) {
        int64_t width = o->fix.norm_gradients ? 4 : 2; /* bytes: the optimizer's gradients, as in grad_param_comm */
        struct aicb_pass reduce = {1, AICB_ALLREDUCE, aicb_mul(width, params, &t->overflow)};
        training_add(t, rows, (struct aicb_row){"layernorm", idle, reduce, idle});
    }
}

static void add_expert_gradients(struct training *t, struct aicb_rows *rows)
{
    const struct aicb_options *o = t->o;
    int64_t ranks = t->s.dp * (o->fix.context_parallel ? o->cp : 1);
    if (ranks == o->ep || (o->fix.expert_gradients && !t->model.experts)) {
        return;
    }
    struct aicb_pass gather = {1, AICB_ALLGATHER_DPEP, aicb_mul(2, t->model.moe, &t->overflow)};
    struct aicb_pass reduce = {1, AICB_SCATTER_DPEP, aicb_mul(4, t->model.moe, &t->overflow)};
    training_add(t, rows, (struct aicb_row){"moe_grad_norm1", idle, idle, gather});
    training_add(t, rows, (struct aicb_row){"moe_grad_norm2", idle, idle, reduce});
}

static void add_lead(struct training *t, struct aicb_rows *rows, bool plain)
{
    if (plain) {
        add_gradients_plain(t, rows);
    } else {
        add_gradients(t, rows);
    }
    add_norm_gradients(t, rows);
    if (!plain && !t->o->fix.embedding_exchange) {
        struct aicb_pass reduce = training_tp(t, 1, AICB_ALLREDUCE, t->activations);
        training_add(t, rows, (struct aicb_row){"embedding_grads", idle, reduce, idle});
    }
    add_expert_gradients(t, rows);
}

/* ---- behind the layers ------------------------------------------------------------------------------------------ */

static void add_reductions(struct training *t, struct aicb_rows *rows, const char *const *names, int64_t bytes)
{
    bool alone = t->o->fix.lone_groups && t->o->tp == 1;
    for (size_t i = 0; names[i] != NULL; i++) {
        training_add(t, rows,
                     (struct aicb_row){
                         names[i], {0, alone ? NULL : AICB_ALLREDUCE, alone ? 0 : bytes}, {0, NULL, 0}, {0, NULL, 0}});
    }
}

static void add_loss(struct training *t, struct aicb_rows *rows)
{
    static const char *const names[] = {"cross_entropy1", "cross_entropy2", "cross_entropy3", NULL};
    uint32_t first = rows->count;
    add_reductions(t, rows, names, aicb_mul(4, t->s.tokens, &t->overflow));
    if (t->status == ORR_OK && t->o->part_times != NULL) {
        const struct aicb_part_time *loss = &t->o->part_times->of[AICB_PART_LOSS];
        rows->items[first].forward.compute_ns = loss->forward;
        rows->items[first].input_gradient.compute_ns = loss->input_gradient;
    }
}

/* The embedding's gradient where the first and the last stage share it; the format has no group of these two. */
static void add_embedding_norm(struct training *t, struct aicb_rows *rows)
{
    const struct aicb_options *o = t->o;
    int64_t words = o->fix.tied_embeddings ? t->s.vocab / o->tp : o->vocab_size;
    int64_t bytes = aicb_mul(2, aicb_mul(words, o->hidden_size, &t->overflow), &t->overflow);
    training_add(t, rows, (struct aicb_row){"embedding_norm", {1, AICB_ALLREDUCE, bytes}, idle, idle});
}

static void add_tail(struct training *t, struct aicb_rows *rows)
{
    static const char *const names[] = {"optimizer1", "optimizer2", "optimizer3", "optimizer4", NULL};
    const struct aicb_options *o = t->o;
    if (o->fix.tied_embeddings && o->pp > 1 && o->tp > 1 && o->frame != AICB_FRAME_DEEPSEEK &&
        !o->untie_embeddings_and_output_weights) {
        add_embedding_norm(t, rows);
    }
    if (!o->fix.loss_rows) {
        add_loss(t, rows);
    }
    add_reductions(t, rows, names, 4);
}

static void add_micro_batch(struct training *t, struct aicb_rows *rows, bool plain)
{
    if (plain) {
        training_add_layers_plain(t, rows);
        if (!t->o->fix.tied_embeddings) {
            add_embedding_norm(t, rows);
        }
    } else {
        training_add_layers(t, rows);
    }
    if (t->o->fix.loss_rows) {
        add_loss(t, rows);
    }
}

/* ---- header ----------------------------------------------------------------------------------------------------- */

static void aicb_training_pipeline_bytes(const struct training *t, char *text, size_t size)
{
    const struct aicb_options *o = t->o;
    int64_t parts = o->enable_sequence_parallel ? o->tp : 1;
    if (o->pp == 1) {
        (void)snprintf(text, size, "0");
    } else if (o->fix.pp_comm_whole || !o->enable_sequence_parallel) {
        (void)snprintf(text, size, "%" PRId64, t->activations / parts + (t->activations % parts != 0));
    } else {
        char quotient[JSON_REAL_ROOM]; /* as Python prints a float */
        (void)json_real_repr((double)t->activations / (double)parts, quotient);
        (void)snprintf(text, size, "%s", quotient);
    }
}

static const char *make_header(const struct training *t, struct arena *arena)
{
    const struct aicb_options *o = t->o;
    char pp_comm[64];
    char cp[32] = ""; /* a key of ours, where it is needed */
    if (training_has_cp(t)) {
        (void)snprintf(cp, sizeof cp, " cp: %" PRId64, o->cp);
    }
    aicb_training_pipeline_bytes(t, pp_comm, sizeof pp_comm);
    return arena_printf(arena,
                        "HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: %" PRId64 " ep: %" PRId64
                        "%s pp: %" PRId64 " vpp: %" PRId64 " ga: %" PRId64 " all_gpus: %" PRId64
                        " checkpoints: 0 checkpoint_initiates: 0 pp_comm: %s",
                        o->tp, o->ep, cp, o->pp, t->s.layers, t->s.ga, o->world_size, pp_comm);
}

/* ---- all of it -------------------------------------------------------------------------------------------------- */

static enum orr_status aicb_training_read_times(struct training *t, struct arena *arena, struct aicb_times *times,
                                                struct orr_error *err)
{
    const struct aicb_options *o = t->o;
    if (o->part_times != NULL && o->comp_filepath != NULL) {
        return error_set(err, ORR_EINVAL,
                         "parameter 'compute-times' model and parameter 'comp_filepath' both say compute times; one is "
                         "needed");
    }
    bool wanted = o->part_times != NULL ? false
                  : o->compat           ? o->aiob_enable
                                        : o->aiob_enable || o->comp_filepath != NULL;
    if (!wanted) {
        return ORR_OK;
    }
    if (o->comp_filepath == NULL) {
        return error_set(
            err, ORR_EINVAL,
            "parameter 'aiob_enable' needs parameter 'comp_filepath' FILE: times are read, not measured on a GPU");
    }
    struct aicb_compute_reading reading = {
        .path = o->comp_filepath, .compat = o->compat, .recompute = o->recompute_activations && !o->fix.recompute};
    t->times = times;
    return aicb_times_read(&reading, arena, times, err);
}

static enum orr_status check_frame(const struct training *t, struct orr_error *err)
{
    const struct aicb_options *o = t->o;
    if (!o->compat && (o->frame == AICB_FRAME_DEEPSPEED || o->frame == AICB_FRAME_COLLECTIVE_TEST)) {
        return error_set(err, ORR_EINVAL, "parameter 'frame': the training text knows Megatron and DeepSeek");
    }
    if (o->compat && t->model.split && t->model.experts && !o->moe_enable) {
        return error_set(err, ORR_EINVAL,
                         "parameter 'frame' DeepSeek without parameter 'moe_enable': AICB crashes here; without "
                         "parameter 'compat' aicb it works");
    }
    return ORR_OK;
}

static enum orr_status make_text(struct training *t, struct arena *arena, struct aicb_text *text, struct orr_error *err)
{
    bool plain = t->times == NULL && !t->o->fix.one_row_set;
    t->activations = aicb_mul(aicb_mul(2, t->s.tokens, &t->overflow), t->o->hidden_size, &t->overflow);
    t->stale = t->times == NULL ? 1 : backward_time(t);
    add_lead(t, &text->lead, plain);
    if (t->s.ga > 0) { /* AICB fails at a row, so not where there are none */
        add_micro_batch(t, &text->first, plain);
        add_micro_batch(t, &text->again, plain);
    }
    add_tail(t, &text->tail);
    if (t->status == ORR_OK && t->overflow) {
        return error_set(err, ORR_ERANGE, "a size of this workload does not fit 64 bits");
    }
    text->repeats = t->s.ga;
    text->header = make_header(t, arena);
    if (t->status == ORR_OK && text->header == NULL) {
        return mem_error(arena->mem, "header of a workload", err);
    }
    return t->status;
}

static enum orr_status write_in(const struct aicb_options *o, struct arena *arena, struct notes *notes, FILE *stream,
                                struct orr_error *err)
{
    struct training t = {.o = o, .notes = notes, .err = err};
    struct aicb_times times = {0};
    struct aicb_text text = {.lead.arena = arena, .first.arena = arena, .again.arena = arena, .tail.arena = arena};
    enum orr_status status = aicb_options_derive(o, &t.s, notes, err);
    if (status == ORR_OK) {
        status = aicb_model_build(o, &t.s, arena, &t.model, err);
    }
    if (status == ORR_OK) {
        status = check_frame(&t, err);
    }
    if (status == ORR_OK) {
        status = aicb_training_read_times(&t, arena, &times, err);
    }
    if (status == ORR_OK) {
        status = make_text(&t, arena, &text, err);
    }
    return status == ORR_OK ? aicb_text_write(&text, stream, err) : status;
}

enum orr_status aicb_training_write(const struct aicb_options *options, struct mem *mem, struct notes *notes,
                                    FILE *stream, struct orr_error *err)
{
    struct arena arena;
    arena_init(&arena, mem);
    enum orr_status status = write_in(options, &arena, notes, stream, err);
    arena_free(&arena);
    return status;
}
