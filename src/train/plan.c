/* SPDX-License-Identifier: Apache-2.0 */
#include "train/plan.h"

#include <inttypes.h>

#include "model/calc.h"
#include "train/model.h"
#include "train/order.h"

/* What divides `whole` next to `value`, as "the nearest that do are 4 and 8"; one, where there is no other. */
static const char *plan_nearest_divisors(uint64_t whole, uint64_t value, char *text, size_t room)
{
    uint64_t below = 0, above = 0;
    calc_near_divisors(value, whole, &below, &above);
    if (below == 0 || above == 0) {
        (void)snprintf(text, room, "the nearest that does is %" PRIu64, below == 0 ? above : below);
    } else {
        (void)snprintf(text, room, "the nearest that do are %" PRIu64 " and %" PRIu64, below, above);
    }
    return text;
}

/* `part` of what is called `name` must divide `whole`, which is called `of`. */
static enum orr_status plan_divides(const char *name, uint64_t part, const char *of, uint64_t whole,
                                    struct orr_error *err)
{
    char near[96];
    if (part != 0 && whole % part == 0) {
        return ORR_OK;
    }
    return error_set(err, ORR_EINVAL, "parameter '%s': %" PRIu64 " does not divide %s %" PRIu64 "; %s", name, part, of,
                     whole, plan_nearest_divisors(whole, part, near, sizeof near));
}

static void plan_fill_ones(struct orr_train_plan *plan)
{
    uint32_t *const degrees[] = {&plan->tp, &plan->pp, &plan->cp, &plan->ep, &plan->vpp};
    for (size_t i = 0; i < sizeof degrees / sizeof degrees[0]; i++) {
        if (*degrees[i] == 0) {
            *degrees[i] = 1;
        }
    }
    if (plan->etp == 0) {
        plan->etp = plan->ep > 1 ? 1 : plan->tp;
    }
}

/* gpus, or dp, whichever was not said. */
static enum orr_status plan_settle_ranks(struct orr_train_plan *plan, struct orr_error *err)
{
    uint64_t inside = (uint64_t)plan->tp * plan->cp * plan->pp;
    if (plan->gpus == 0) {
        uint64_t gpus = inside * (plan->dp == 0 ? 1 : plan->dp);
        if (gpus > INT32_MAX) {
            return error_set(err, ORR_ERANGE, "tp x cp x pp x dp are more than 2147483647 GPUs");
        }
        plan->gpus = (uint32_t)gpus;
    }
    if (plan->gpus % inside != 0) {
        char near[96];
        return error_set(err, ORR_EINVAL,
                         "parameter 'gpus': %" PRIu32 " are not a multiple of tp x cp x pp = %" PRIu64
                         ": the product divides them; %s",
                         plan->gpus, inside, plan_nearest_divisors(plan->gpus, inside, near, sizeof near));
    }
    uint32_t dp = (uint32_t)(plan->gpus / inside);
    if (plan->dp != 0 && plan->dp != dp) {
        return error_set(err, ORR_EINVAL,
                         "parameter 'dp': %" PRIu32 ", but %" PRIu32 " GPUs over tp x cp x pp = %" PRIu64
                         " are %" PRIu32,
                         plan->dp, plan->gpus, inside, dp);
    }
    plan->dp = dp;
    return ORR_OK;
}

static enum orr_status plan_settle_batches(struct orr_train_plan *plan, struct orr_error *err)
{
    if (plan->micro_batch == 0) {
        plan->micro_batch = 1;
    }
    uint64_t once = (uint64_t)plan->micro_batch * plan->dp;
    if (plan->global_batch == 0) {
        plan->global_batch = (uint32_t)(once * (plan->pp > 1 ? 4 * plan->pp : 1));
    }
    if (plan->global_batch % once != 0) {
        uint64_t below = plan->global_batch / once * once;
        return error_set(err, ORR_EINVAL,
                         "parameter 'global-batch': %" PRIu32 " is not a multiple of micro-batch x dp = %" PRIu64
                         "; the nearest are %" PRIu64 " and %" PRIu64,
                         plan->global_batch, once, below == 0 ? once : below, below + once);
    }
    return ORR_OK;
}

/* Where ranks share heads of keys and values, each head has as many of them. */
static enum orr_status plan_check_tensors(const struct orr_train_model *model, const struct orr_train_plan *plan,
                                          struct orr_error *err)
{
    enum orr_status status = plan_divides("tp", plan->tp, "the heads,", model->heads, err);
    if (status == ORR_OK && model->kv_rank == 0 && plan->tp % model->kv_heads != 0) {
        status = plan_divides("tp", plan->tp, "the heads of keys and values, nor is a multiple of them,",
                              model->kv_heads, err);
    }
    if (status == ORR_OK && model->ffn != 0) {
        status = plan_divides("tp", plan->tp, "the MLP's width,", model->ffn, err);
    }
    if (status == ORR_OK && plan->sp && model->family != ORR_TRAIN_VIT) {
        status = plan_divides("tp", plan->tp, "with sp a rank's part of the sequence,", plan->seq / plan->cp, err);
    }
    return status;
}

static enum orr_status plan_check_experts(const struct orr_train_model *model, const struct orr_train_plan *plan,
                                          struct orr_error *err)
{
    uint64_t ranks = (uint64_t)plan->dp * plan->cp * plan->tp;
    bool tensors = plan->etp > 1 && plan->etp != plan->tp; /* else as the rest of the layer, which is looked at there */
    if (model->experts == 0) {
        return plan->ep > 1 || tensors ? error_set(err, ORR_EINVAL, "parameter '%s': model '%s' has no experts",
                                                   plan->ep > 1 ? "ep" : "etp", model->name)
                                       : ORR_OK;
    }
    enum orr_status status = plan_divides("ep", plan->ep, "the experts,", model->experts, err);
    if (status == ORR_OK) {
        status = plan_divides("etp", plan->etp, "the ranks it lies across, dp x cp x tp =", ranks, err);
    }
    if (status == ORR_OK) {
        status = plan_divides("etp", plan->etp, "an expert's width,", model->expert_ffn, err);
    }
    if (status == ORR_OK) {
        status = plan_divides("ep", plan->ep, "the ranks it lies across, dp x cp x tp / etp =", ranks / plan->etp, err);
    }
    return status;
}

/* As the code of DeepSeek asks: two streams of micro-batches, one from each end. */
static enum orr_status plan_check_dualpipe(const struct orr_train_plan *plan, struct orr_error *err)
{
    uint32_t batches = plan_micro_batches(plan), least = 2 * plan->pp;
    uint64_t once = (uint64_t)plan->micro_batch * plan->dp;
    if (plan->pp % 2 != 0) {
        return error_set(err, ORR_EINVAL,
                         "parameter 'schedule': dualpipe has an even number of stages, and pp is %" PRIu32
                         "; the nearest are %" PRIu32 " and %" PRIu32,
                         plan->pp, plan->pp - 1, plan->pp + 1);
    }
    if (batches >= least && batches % 2 == 0) {
        return ORR_OK;
    }
    uint32_t nearest = batches < least ? least : batches + 1;
    return error_set(err, ORR_EINVAL,
                     "parameter 'schedule': dualpipe has an even number of micro-batches, at least 2 x pp = %" PRIu32
                     ", and there are %" PRIu32 "; the nearest global batch is %" PRIu64,
                     least, batches, nearest * once);
}

static enum orr_status plan_check_stages(const struct orr_train_model *model, const struct orr_train_plan *plan,
                                         struct orr_error *err)
{
    uint32_t chunks = model->layers + 2; /* the ends may have chunks of their own */
    if ((uint64_t)plan->pp * plan->vpp > chunks) {
        return error_set(err, ORR_EINVAL,
                         "parameter 'pp': %" PRIu32 " stages of %" PRIu32 " chunks are more than %" PRIu32
                         " layers, the embedding and the head; with %" PRIu32 " chunks the nearest is %" PRIu32,
                         plan->pp, plan->vpp, model->layers, plan->vpp < chunks ? plan->vpp : chunks,
                         plan->vpp < chunks ? chunks / plan->vpp : 1);
    }
    return plan->pp > 1 && plan->schedule == ORR_TRAIN_SCHEDULE_DUALPIPE ? plan_check_dualpipe(plan, err) : ORR_OK;
}

static enum orr_status plan_check_shape(const struct orr_train_model *model, const struct orr_train_plan *plan,
                                        struct orr_error *err)
{
    if (!model_is_transformer(model)) {
        return plan->tp * plan->pp * plan->cp * plan->ep == 1
                   ? ORR_OK
                   : error_set(err, ORR_EINVAL,
                               "a model of family '%s' is divided over data alone: tp, pp, cp and ep are 1",
                               model_family_word(model->family));
    }
    enum orr_status status = plan->cp > 1 ? plan_divides("cp", plan->cp, "the sequence,", plan->seq, err) : ORR_OK;
    if (status == ORR_OK && plan->tp > 1) {
        status = plan_check_tensors(model, plan, err);
    }
    if (status == ORR_OK) {
        status = plan_check_experts(model, plan, err);
    }
    return status == ORR_OK ? plan_check_stages(model, plan, err) : status;
}

enum orr_status orr_train_plan_settle(const struct orr_train_model *model, struct orr_train_plan *plan,
                                      struct orr_error *err)
{
    struct orr_train_plan settled = *plan;
    if (settled.schedule == ORR_TRAIN_SCHEDULE_INTERLEAVED && settled.vpp == 0 && settled.pp > 1 &&
        UINT64_C(2) * settled.pp <= model->layers) {
        settled.vpp = 2; /* else there is nothing to interleave */
    }
    plan_fill_ones(&settled);
    if (settled.seq == 0) {
        settled.seq = model_tokens(model);
    }
    if (settled.zero > 3) {
        return error_set(err, ORR_EINVAL, "parameter 'zero': %" PRIu32 " is none of 0, 1, 2, 3", settled.zero);
    }
    if (settled.vpp > 1 && settled.pp == 1) {
        return error_set(err, ORR_EINVAL, "parameter 'vpp': chunks are interleaved over pipeline stages, and pp is 1");
    }
    if (settled.vpp > 1 && settled.schedule == ORR_TRAIN_SCHEDULE_ONE_F_ONE_B) {
        settled.schedule = ORR_TRAIN_SCHEDULE_INTERLEAVED;
    }
    enum orr_status status = plan_settle_ranks(&settled, err);
    if (status == ORR_OK && settled.fsdp_group != 0) {
        status = plan_divides("fsdp-group", settled.fsdp_group,
                              "the data-parallel ranks, dp x cp =", (uint64_t)settled.dp * settled.cp, err);
    }
    if (status == ORR_OK) {
        status = plan_settle_batches(&settled, err);
    }
    if (status == ORR_OK) {
        status = plan_check_shape(model, &settled, err);
    }
    if (status == ORR_OK) {
        status = order_settle(&settled, err);
    }
    if (status == ORR_OK) {
        *plan = settled;
    }
    return status;
}

uint32_t plan_micro_batches(const struct orr_train_plan *plan)
{
    return plan->global_batch / (plan->micro_batch * plan->dp);
}

static struct plan_chunk plan_chunk_evenly(const struct orr_train_model *model, uint32_t chunks, uint32_t chunk)
{
    uint32_t even = model->layers / chunks, left = model->layers % chunks;
    uint32_t fuller = (chunks - left + 1) / 2; /* these stand in the middle, later ones first */
    uint32_t before = chunk < fuller ? 0 : chunk < fuller + left ? chunk - fuller : left;
    bool last = chunk == chunks - 1;
    return (struct plan_chunk){.first = even * chunk + before,
                               .layers = even + (chunk >= fuller && chunk < fuller + left ? 1 : 0),
                               .embedding = chunk == 0,
                               .head = last,
                               .loss = last};
}

static struct plan_chunk plan_chunk_by_cost(const struct orr_train_model *model, uint32_t chunks, uint32_t chunk)
{
    double hidden = model->hidden, layer = hidden * (4.0 * model->heads * model->head_dim);
    layer += hidden * model->ffn * (model->gated ? 3 : 2);
    double head = hidden * model->vocab, all = layer * model->layers + head, sum = 0;
    struct plan_chunk found = {.first = model->layers, .embedding = chunk == 0};
    uint32_t at = 0;
    for (uint32_t i = 0; i < model->layers; i++) {
        if (at == chunk) {
            found.first = found.layers == 0 ? i : found.first;
            found.layers++;
        }
        sum += layer;
        at += sum > all * (at + 1.0) / chunks;
    }
    found.head = at == chunk;
    at += all > all * (at + 1.0) / chunks;
    found.loss = at == chunk;
    return found;
}

struct plan_chunk plan_chunk_of(const struct orr_train_model *model, const struct orr_train_plan *plan, bool by_cost,
                                uint32_t chunk)
{
    uint32_t chunks = plan->pp * plan->vpp;
    return by_cost ? plan_chunk_by_cost(model, chunks, chunk) : plan_chunk_evenly(model, chunks, chunk);
}

uint32_t plan_optimizer_shards(const struct orr_train_plan *plan)
{
    if (plan->sharding == ORR_TRAIN_SHARDING_HYBRID && plan->fsdp_group != 0) {
        return plan->fsdp_group;
    }
    return plan->zero > 0 || plan->sharding != ORR_TRAIN_SHARDING_NONE ? plan->dp * plan->cp : 1;
}

void plan_settle_group(struct orr_train_plan *plan, uint32_t node_gpus)
{
    if (plan->sharding == ORR_TRAIN_SHARDING_HYBRID && plan->fsdp_group == 0) {
        plan->fsdp_group = order_shards_inside(plan, node_gpus);
    }
}
