/* SPDX-License-Identifier: Apache-2.0 */
#include "train/step.h"

#include <math.h>
#include <string.h>

#include "train/memory.h"
#include "train/schedule.h"
#include "train/work_network.h"

struct step_plan {
    const struct cost_machine *machine;
    const struct work_job *job;
    struct work_piece piece[STEP_PIECES];
    struct cost_piece cost[STEP_PIECES];
    double send_us[2]; /* to the next stage: inside a server, across; 0: no stage has such a neighbour */
};

/* Of one chunk, or of all chunks of a stage, for one micro-batch. */
struct step_load {
    double count[STEP_PIECES];
    double forward, backward; /* kernels */
    double weight;
    double tp, cp, ep;                /* exposed, of both passes */
    double stall;                     /* of `tp`: what the host does not hide either */
    double tp_forward, stall_forward; /* of these, forwards; `tp_forward` without what stalls */
    double host_forward, host_backward;
};

/* ---- pieces ---- */

bool step_has_experts(const struct orr_train_model *model, uint32_t layer)
{
    return model->experts != 0 && layer >= model->dense_layers;
}

static void step_cost_pieces(struct step_plan *step)
{
    const struct work_job *job = step->job;
    if (model_is_transformer(job->model)) {
        work_embedding(job, &step->piece[STEP_EMBEDDING]);
        work_layer(job, false, &step->piece[STEP_DENSE]);
        if (job->model->experts != 0) {
            work_layer(job, true, &step->piece[STEP_SPARSE]);
        }
        work_head(job, &step->piece[STEP_HEAD]);
        work_loss(job, &step->piece[STEP_LOSS]);
    } else {
        network_piece(job, &step->piece[STEP_DENSE]);
    }
    for (int i = 0; i < STEP_PIECES; i++) {
        cost_piece(step->machine, job, &step->piece[i], &step->cost[i]);
    }
}

/* Which pieces chunk `chunk` has. */
static void step_count_pieces(const struct step_plan *step, uint32_t chunk, double count[STEP_PIECES])
{
    const struct orr_train_model *model = step->job->model;
    const struct orr_train_plan *plan = step->job->plan;
    memset(count, 0, STEP_PIECES * sizeof *count);
    if (!model_is_transformer(model)) {
        count[STEP_DENSE] = 1;
        return;
    }
    struct plan_chunk has = plan_chunk_of(model, plan, step->job->framework->stages_by_cost, chunk);
    for (uint32_t i = has.first; i < has.first + has.layers; i++) {
        count[step_has_experts(model, i) ? STEP_SPARSE : STEP_DENSE]++;
    }
    count[STEP_EMBEDDING] = has.embedding;
    count[STEP_HEAD] = has.head;
    count[STEP_LOSS] = has.loss;
}

double step_hidden_share(const struct work_job *job, enum work_comm comm, bool backward)
{
    switch (comm) {
    case WORK_TP_GATHER:
    case WORK_TP_SCATTER:
    case WORK_TP_REDUCE:
        return (job->plan->overlap & ORR_TRAIN_OVERLAP_TP) == 0 ? 0
               : backward && job->framework->async_tp           ? 1
                                                                : job->framework->overlap_tp;
    case WORK_CP_SHIFT:
        return 0.7;
    case WORK_EP_DISPATCH:
    case WORK_EP_COMBINE:
    case WORK_DP_EXCHANGE:
        return job->plan->overlap & ORR_TRAIN_OVERLAP_EP ? 0.7 : 0;
    default:
        return 0;
    }
}

/* What shows of tensor-parallel communication of a piece's backward pass. */
static double step_shown_backward(const struct step_plan *step, const struct cost_pass *pass)
{
    double us = pass->tp - pass->stall, share = step_hidden_share(step->job, WORK_TP_REDUCE, true);
    return pass->stall + fmax(us * (1 - share), share == 1 ? us - pass->compute : 0);
}

/* Of the host for one layer forwards. */
static double step_host_layer(const struct step_plan *step)
{
    const struct framework *framework = step->job->framework;
    const struct orr_train_plan *plan = step->job->plan;
    bool across = plan->pp > 1 && plan->gpus > step->machine->node_gpus;
    double rank = framework->host_tp_us + (across ? framework->host_pipeline_us : 0);
    return framework->host_layer_us + (plan->tp > 1 ? rank * plan->tp : 0);
}

static void step_load_of(const struct step_plan *step, const double count[STEP_PIECES], struct step_load *load)
{
    const struct framework *framework = step->job->framework;
    double tp_shown = 1 - step_hidden_share(step->job, WORK_TP_REDUCE, false);
    double cp_shown = 1 - step_hidden_share(step->job, WORK_CP_SHIFT, false);
    double ep_shown = 1 - step_hidden_share(step->job, WORK_EP_DISPATCH, false);
    double layer = step_host_layer(step);
    *load = (struct step_load){0};
    for (int i = 0; i < STEP_PIECES; i++) {
        const struct cost_piece *cost = &step->cost[i];
        double many = count[i], passes = step->piece[i].again + framework->host_backward;
        double host = many * (i == STEP_DENSE || i == STEP_SPARSE ? layer : 0);
        double stall = many * cost->forward.stall;
        double tp = stall + many * tp_shown * (cost->forward.tp - cost->forward.stall);
        load->count[i] = many;
        load->forward += many * cost->forward.compute;
        load->backward += many * cost->backward.compute;
        load->weight += many * cost->backward.weight;
        load->tp += tp + many * step_shown_backward(step, &cost->backward);
        load->tp_forward += tp - stall;
        load->stall_forward += stall;
        load->stall += stall + many * cost->backward.stall;
        load->cp += many * cp_shown * (cost->forward.cp + cost->backward.cp);
        load->ep += many * ep_shown * (cost->forward.ep + cost->backward.ep);
        load->host_forward += host + many * cost->forward.launches * framework->host_op_us;
        load->host_backward +=
            host * passes + many * cost->backward.launches * framework->host_op_us * framework->host_backward;
    }
}

/* ---- the pipeline ---- */

bool step_hides_sends(const struct work_job *job)
{
    return job->framework->async_pp || (job->plan->overlap & ORR_TRAIN_OVERLAP_PP) != 0;
}

/* A stage's neighbours are in its server or in others: there are two times at most. */
static void step_find_sends(struct step_plan *step)
{
    const struct orr_train_plan *plan = step->job->plan;
    double bytes = (double)plan->micro_batch * plan->seq / plan->cp * step->job->model->hidden * 2;
    bytes = plan->sp ? bytes / plan->tp : bytes;
    for (uint32_t stage = 0; plan->pp > 1 && stage < plan->pp; stage++) {
        bool crosses = order_send_crosses(plan, stage, step->machine->node_gpus);
        if (!(step->send_us[crosses] > 0)) {
            step->send_us[crosses] = cost_send_us(step->machine, plan, crosses, bytes);
        }
    }
}

/* From stage `stage` to the next. */
static double step_send_us(const struct step_plan *step, uint32_t stage)
{
    return step->send_us[order_send_crosses(step->job->plan, stage, step->machine->node_gpus)];
}

static double step_both(const struct framework *framework, double kernels, double host)
{
    double p = framework->host_power, most = fmax(kernels, host);
    if (framework->host_or_kernels || most <= 0) {
        return most;
    }
    return p == 2 ? hypot(kernels, host) : most * pow(pow(kernels / most, p) + pow(host / most, p), 1 / p);
}

/* Kernels, what communication shows, and what the host adds: it runs ahead of long kernels and falls behind short ones
 * in one and the same pass, so that neither alone bounds it; where both are as long, the pass takes 1.4 times that. A
 * framework that launches evenly is bound by one of them. */
static struct schedule_chunk step_chunk_of(const struct step_plan *step, const struct step_load *load, double send)
{
    const struct framework *framework = step->job->framework;
    double others = load->cp + load->ep, whole = load->forward + load->backward;
    double share = whole > 0 ? load->forward / whole : 0;
    double forward = load->forward + load->tp_forward + others * share;
    double backward = load->backward + load->tp - load->stall - load->tp_forward + others * (1 - share);
    forward = step_both(framework, forward, load->host_forward) + load->stall_forward;
    backward = step_both(framework, backward, load->host_backward) + load->stall - load->stall_forward;
    return (struct schedule_chunk){forward, backward, load->weight, send};
}

/* ---- gradients and weights ---- */

enum orr_coll_op step_sum_op(const struct work_job *job)
{
    bool divided = plan_optimizer_shards(job->plan) > 1 && !job->framework->ddp;
    return divided ? ORR_COLL_OP_REDUCE_SCATTER : ORR_COLL_OP_ALL_REDUCE;
}

bool step_sums_beside(const struct cost_machine *machine, const struct work_job *job)
{
    const struct orr_train_plan *plan = job->plan;
    bool torch = plan_optimizer_shards(plan) == 1 && plan->pp == 1 && plan->tp <= machine->node_gpus;
    return (plan->overlap & ORR_TRAIN_OVERLAP_DP) != 0 && (!job->framework->ddp || torch);
}

struct step_update {
    double gather, reduce; /* of all gradients and weights of a stage */
    double optimizer;
};

static void step_update_of(const struct step_plan *step, const struct step_load *stage, struct step_update *update)
{
    const struct orr_train_plan *plan = step->job->plan;
    const struct framework *framework = step->job->framework;
    double weights = 0, experts = 0, shards = plan_optimizer_shards(plan);
    for (int i = 0; i < STEP_PIECES; i++) {
        weights += stage->count[i] * step->piece[i].parameters;
        experts += stage->count[i] * step->piece[i].experts;
    }
    struct work_layout dense = order_groups(plan, ORDER_SHARDS), sparse = order_groups(plan, ORDER_EXPERTS_DP);
    double comm = framework->comm, bytes = framework->gradient_bytes;
    enum orr_coll_op sum = step_sum_op(step->job);
    update->reduce =
        comm * (cost_collective_us(step->machine, sum, dense, weights * bytes) +
                cost_collective_us(step->machine, ORR_COLL_OP_ALL_REDUCE, order_groups(plan, ORDER_REPLICAS),
                                   weights * bytes / work_layout_size(&dense)) +
                cost_collective_us(step->machine, sum, sparse, experts * bytes));
    update->gather = shards > 1
                         ? comm * (cost_collective_us(step->machine, ORR_COLL_OP_ALL_GATHER, dense, weights * 2) +
                                   cost_collective_us(step->machine, ORR_COLL_OP_ALL_GATHER, sparse, experts * 2))
                         : 0;
    double own = weights / shards + experts / (shards > 1 ? (double)work_layout_size(&sparse) : 1);
    update->optimizer = cost_stream_us(step->machine, own * framework->optimizer_bytes);
}

/* What of the sums and gathers over data-parallel ranks shows: without overlap all; with it what does not fit beside
 * the last backward and the first forward pass; sharded weights are gathered for every micro-batch. */
static double step_exposed_dp(const struct step_plan *step, const struct step_update *update,
                              const struct step_load *stage)
{
    const struct orr_train_plan *plan = step->job->plan;
    double beside = step->job->framework->overlap_dp, shards = plan_optimizer_shards(plan);
    bool sharded = plan->zero == 3 || plan->sharding != ORR_TRAIN_SHARDING_NONE;
    if (sharded) {
        double times = plan_micro_batches(plan), layers = stage->count[STEP_DENSE] + stage->count[STEP_SPARSE];
        double forward = fmax(0, update->gather - stage->forward * beside) + update->gather / fmax(1, layers);
        double backward =
            fmax(0, update->gather + update->reduce - stage->backward * beside) + update->reduce / fmax(1, layers);
        return times * (forward + backward);
    }
    if (!step_sums_beside(step->machine, step->job)) {
        return update->reduce + update->gather + (shards > 1 ? step->job->framework->host_zero_us * shards : 0);
    }
    double reduce = fmax(update->reduce * 0.05, update->reduce - stage->backward * beside);
    double gather = fmax(update->gather * 0.05, update->gather - stage->forward * beside);
    return reduce + gather;
}

/* ---- together ---- */

static uint64_t step_ns(double us)
{
    return us > 0 ? (uint64_t)llround(us * 1e3) : 0;
}

static void step_name_bound(struct orr_train_result *result)
{
    const struct {
        const char *name;
        uint64_t ns;
    } parts[] = {{"compute", result->forward_ns + result->backward_ns},
                 {"tensor-parallel comm", result->exposed_tp_ns},
                 {"context-parallel comm", result->exposed_cp_ns},
                 {"expert-parallel comm", result->exposed_ep_ns},
                 {"pipeline sends", result->exposed_pp_ns},
                 {"data-parallel comm", result->exposed_dp_ns},
                 {"pipeline bubble", result->bubble_ns},
                 {"launch", result->launch_ns},
                 {"optimizer", result->optimizer_ns}};
    size_t most = 0;
    for (size_t i = 1; i < sizeof parts / sizeof parts[0]; i++) {
        most = parts[i].ns > parts[most].ns ? i : most;
    }
    (void)snprintf(result->bound_by, sizeof result->bound_by, "%s", parts[most].name);
}

static void step_fill(const struct step_plan *step, const struct schedule_result *pipeline,
                      const struct step_load *stage, const struct schedule_chunk *busy, double exposed_dp,
                      double optimizer, struct orr_train_result *result)
{
    const struct orr_train_plan *plan = step->job->plan;
    double times = plan_micro_batches(plan);
    double kernels = stage->forward + stage->backward, comm = stage->tp + stage->cp + stage->ep;
    double sent = step_send_us(step, pipeline->bottleneck) /* to both sides */
                  + step_send_us(step, (pipeline->bottleneck + plan->pp - 1) % plan->pp);
    double sends = step_hides_sends(step->job) ? 0 : sent * plan->vpp * times;
    double idle = pipeline->us - pipeline->busiest;
    sends = sends < idle ? sends : idle;
    result->forward_ns = step_ns(stage->forward * times);
    result->backward_ns = step_ns(stage->backward * times);
    result->exposed_tp_ns = step_ns(stage->tp * times);
    result->exposed_cp_ns = step_ns(stage->cp * times);
    result->exposed_ep_ns = step_ns(stage->ep * times);
    result->exposed_pp_ns = step_ns(sends);
    result->exposed_dp_ns = step_ns(exposed_dp);
    result->launch_ns =
        step_ns((busy->forward + busy->backward - kernels - comm) * times + step->job->framework->host_step_us);
    result->bubble_ns = step_ns(idle - sends);
    result->optimizer_ns = step_ns(optimizer);
    result->exposed_comm_ns = result->exposed_tp_ns + result->exposed_cp_ns + result->exposed_ep_ns +
                              result->exposed_pp_ns + result->exposed_dp_ns;
    result->step_ns = result->forward_ns + result->backward_ns + result->exposed_comm_ns + result->launch_ns +
                      result->bubble_ns + result->optimizer_ns;
    step_name_bound(result);
}

/* Products of all pieces, forwards and twice as many backwards, of all ranks. */
static double step_model_flops(const struct step_plan *step)
{
    const struct orr_train_plan *plan = step->job->plan;
    double count[STEP_PIECES], flops = 0;
    for (uint32_t i = 0; i < plan->pp * plan->vpp; i++) {
        step_count_pieces(step, i, count);
        for (int piece = 0; piece < STEP_PIECES; piece++) {
            flops += count[piece] * step->cost[piece].forward_flops;
        }
    }
    return 3 * flops * plan_micro_batches(plan) * plan->tp * plan->cp * plan->dp;
}

static void step_memory(const struct step_plan *step, double device_bytes, struct orr_train_memory *most)
{
    const struct orr_train_plan *plan = step->job->plan;
    *most = (struct orr_train_memory){0};
    for (uint32_t stage = 0; stage < plan->pp; stage++) {
        struct orr_train_memory memory;
        struct memory_stage pieces = {.index = stage};
        struct step_load load;
        double sum[STEP_PIECES] = {0}, count[STEP_PIECES];
        for (uint32_t i = 0; i < plan->vpp; i++) {
            step_count_pieces(step, i * plan->pp + stage, count);
            for (int piece = 0; piece < STEP_PIECES; piece++) {
                sum[piece] += count[piece];
            }
        }
        pieces.embedding = sum[STEP_EMBEDDING] > 0 ? &step->piece[STEP_EMBEDDING] : NULL;
        pieces.dense = sum[STEP_DENSE] > 0 ? &step->piece[STEP_DENSE] : NULL;
        pieces.sparse = sum[STEP_SPARSE] > 0 ? &step->piece[STEP_SPARSE] : NULL;
        pieces.head = sum[STEP_HEAD] > 0 ? &step->piece[STEP_HEAD] : NULL;
        pieces.loss = sum[STEP_LOSS] > 0 ? &step->piece[STEP_LOSS] : NULL;
        pieces.dense_count = (uint32_t)sum[STEP_DENSE];
        pieces.sparse_count = (uint32_t)sum[STEP_SPARSE];
        step_load_of(step, sum, &load);
        /* In a pipeline the host waits at every send, and makes up for no stall. */
        double kernels = load.forward + load.tp_forward + (plan->pp > 1 ? 0 : load.stall_forward);
        pieces.ahead = kernels > load.host_forward;
        memory_of_stage(step->job, &pieces, device_bytes, &memory);
        if (memory.total > most->total) {
            *most = memory;
        }
    }
}

/* All chunks' passes, and in `launch` (or NULL) what the host adds to both of each. */
static void step_chunks(const struct step_plan *step, struct schedule_chunk *chunks, double *launch)
{
    const struct orr_train_plan *plan = step->job->plan;
    struct step_load load;
    double count[STEP_PIECES], host = step->job->framework->host_micro_us;
    for (uint32_t i = 0; i < plan->pp * plan->vpp; i++) {
        step_count_pieces(step, i, count);
        step_load_of(step, count, &load);
        load.host_forward += host / 2 / plan->vpp;
        load.host_backward += host / 2 / plan->vpp;
        chunks[i] = step_chunk_of(step, &load, step_send_us(step, i % plan->pp));
        if (launch != NULL) {
            double kernels = load.forward + load.backward + load.tp - load.stall + load.cp + load.ep;
            launch[i] = chunks[i].forward + chunks[i].backward - kernels;
        }
    }
}

/* Chunks, the pipeline over them, and what its busiest stage does. `chunks` has room for pp x vpp. */
static enum orr_status step_pipeline(const struct step_plan *step, struct schedule_chunk *chunks, struct mem *mem,
                                     struct schedule_result *pipeline, struct step_load *stage,
                                     struct schedule_chunk *busy, struct orr_error *err)
{
    const struct orr_train_plan *plan = step->job->plan;
    double count[STEP_PIECES];
    step_chunks(step, chunks, NULL);
    struct schedule_request request = {.schedule = plan->schedule,
                                       .stages = plan->pp,
                                       .chunks = plan->vpp,
                                       .micro_batches = plan_micro_batches(plan),
                                       .chunk = chunks,
                                       .hidden_sends = step_hides_sends(step->job)};
    enum orr_status status = schedule_run(&request, mem, pipeline, err);
    *busy = (struct schedule_chunk){0};
    double sum[STEP_PIECES] = {0};
    for (uint32_t i = 0; i < plan->vpp; i++) {
        uint32_t chunk = i * plan->pp + pipeline->bottleneck;
        step_count_pieces(step, chunk, count);
        for (int piece = 0; piece < STEP_PIECES; piece++) {
            sum[piece] += count[piece];
        }
        busy->forward += chunks[chunk].forward;
        busy->backward += chunks[chunk].backward;
    }
    step_load_of(step, sum, stage);
    return status;
}

enum orr_status step_predict(const struct cost_machine *machine, const struct work_job *job, double device_bytes,
                             struct mem *mem, struct orr_train_result *result, struct orr_error *err)
{
    const struct orr_train_plan *plan = job->plan;
    struct step_plan *step = mem_zalloc(mem, sizeof *step);
    size_t count = (size_t)plan->pp * plan->vpp;
    struct schedule_chunk *chunks = mem_alloc(mem, count * sizeof *chunks), busy;
    struct schedule_result pipeline;
    struct step_load stage;
    struct step_update update;
    if (step == NULL || chunks == NULL) {
        mem_free(mem, chunks, count * sizeof *chunks);
        mem_free(mem, step, sizeof *step);
        return mem_error(mem, "a step", err);
    }
    step->machine = machine;
    step->job = job;
    step_cost_pieces(step);
    step_find_sends(step);
    enum orr_status status = step_pipeline(step, chunks, mem, &pipeline, &stage, &busy, err);
    if (status == ORR_OK) {
        step_update_of(step, &stage, &update);
        step_fill(step, &pipeline, &stage, &busy, step_exposed_dp(step, &update, &stage), update.optimizer, result);
        step_memory(step, device_bytes, &result->memory);
        result->model_flops = step_model_flops(step);
    }
    mem_free(mem, chunks, count * sizeof *chunks);
    mem_free(mem, step, sizeof *step);
    return status;
}

/* ---- taken apart ---- */

static void step_layout_fill(struct step_plan *step, struct step_layout *layout)
{
    const struct orr_train_plan *plan = step->job->plan;
    step_cost_pieces(step);
    step_find_sends(step);
    memcpy(layout->piece, step->piece, sizeof layout->piece);
    memcpy(layout->cost, step->cost, sizeof layout->cost);
    step_chunks(step, layout->chunks, layout->launch);
    for (uint32_t stage = 0; stage < plan->pp; stage++) {
        struct step_load load;
        struct step_update update;
        double count[STEP_PIECES], sum[STEP_PIECES] = {0};
        for (uint32_t i = 0; i < plan->vpp; i++) {
            step_count_pieces(step, i * plan->pp + stage, count);
            for (int piece = 0; piece < STEP_PIECES; piece++) {
                sum[piece] += count[piece];
            }
        }
        step_load_of(step, sum, &load);
        step_update_of(step, &load, &update);
        layout->optimizer[stage] = update.optimizer;
    }
}

enum orr_status step_layout_make(const struct cost_machine *machine, const struct work_job *job, struct mem *mem,
                                 struct step_layout **layout, struct orr_error *err)
{
    struct step_plan *step = mem_zalloc(mem, sizeof *step);
    struct step_layout *made = mem_zalloc(mem, sizeof *made);
    enum orr_status status = step == NULL || made == NULL ? mem_error(mem, "a step", err) : ORR_OK;
    if (status == ORR_OK) {
        made->stage_count = job->plan->pp;
        made->chunk_count = (size_t)job->plan->pp * job->plan->vpp;
        made->chunks = mem_zalloc(mem, made->chunk_count * sizeof *made->chunks);
        made->launch = mem_zalloc(mem, made->chunk_count * sizeof *made->launch);
        made->optimizer = mem_zalloc(mem, made->stage_count * sizeof *made->optimizer);
        status = made->chunks == NULL || made->launch == NULL || made->optimizer == NULL
                     ? mem_error(mem, "a step's chunks", err)
                     : ORR_OK;
    }
    if (status == ORR_OK) {
        *step = (struct step_plan){.machine = machine, .job = job};
        step_layout_fill(step, made);
        *layout = made;
    } else {
        step_layout_free(made, mem);
    }
    mem_free(mem, step, sizeof *step);
    return status;
}

void step_layout_free(struct step_layout *layout, struct mem *mem)
{
    if (layout != NULL) {
        mem_free(mem, layout->chunks, layout->chunk_count * sizeof *layout->chunks);
        mem_free(mem, layout->launch, layout->chunk_count * sizeof *layout->launch);
        mem_free(mem, layout->optimizer, layout->stage_count * sizeof *layout->optimizer);
        mem_free(mem, layout, sizeof *layout);
    }
}
