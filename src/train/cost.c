/* SPDX-License-Identifier: Apache-2.0 */
#include "train/cost.h"

#include <math.h>

double cost_collective_us(const struct cost_machine *machine, enum orr_coll_op op, struct work_layout group,
                          double bytes)
{
    struct orr_coll_answer answer;
    if (work_layout_size(&group) <= 1 || bytes < 1) {
        return 0;
    }
    struct order_place place = order_place_of(&group, machine->node_gpus);
    struct orr_coll_question question = {
        .op = op, .bytes = (uint64_t)bytes, .gpus = place.inside, .nodes = place.servers, .groups = place.groups};
    return orr_coll_time(machine->timer, &question, &answer, NULL) == ORR_OK ? answer.us : 0;
}

double cost_send_us(const struct cost_machine *machine, const struct orr_train_plan *plan, bool crosses, double bytes)
{
    struct orr_coll_question question = {.op = ORR_COLL_OP_SEND_RECV, .bytes = (uint64_t)bytes};
    struct orr_coll_answer answer;
    if (bytes < 1) {
        return 0;
    }
    uint32_t stride = order_stage_stride(plan);
    question.gpus = crosses ? 1 : 2;
    question.nodes = crosses ? 2 : 1;
    question.groups = !crosses                      ? machine->node_gpus / 2
                      : stride < machine->node_gpus ? stride /* the ranks of one stage alone leave the server */
                                                    : machine->node_gpus;
    return orr_coll_time(machine->timer, &question, &answer, NULL) == ORR_OK ? answer.us : 0;
}

double cost_stream_us(const struct cost_machine *machine, double bytes)
{
    struct orr_op op = {.kind = ORR_OP_COPY, .dtype = ORR_OP_BF16, .dims = {(uint64_t)(bytes / 4)}};
    struct orr_op_prediction answer;
    orr_op_predict(machine->ops, machine->device, ORR_OP_KERNEL, &op, &answer);
    return answer.kernel_us;
}

/* A product by itself runs at its best clock; in a step, product after product, power holds the clock down. Power goes
 * with about the third power of the clock, and devices whose bf16 peak is up to `free` TFLOP/s for a watt keep it. */
double cost_throttled(double peak_tflops, double watts)
{
    const double free = 1.4;
    double density = watts > 0 ? peak_tflops / watts : 0;
    return density > free ? cbrt(density / free) : 1;
}

static double cost_factor(const struct cost_machine *machine, const struct framework *framework, enum orr_op_kind kind)
{
    switch (kind) {
    case ORR_OP_GROUPED_GEMM:
        return framework->gemm * framework->experts * machine->throttled;
    case ORR_OP_GEMM:
    case ORR_OP_BATCHED_GEMM:
    case ORR_OP_CONV2D:
    case ORR_OP_CONV2D_BACKWARD:
        return framework->gemm * machine->throttled;
    case ORR_OP_ATTENTION:
    case ORR_OP_ATTENTION_BACKWARD:
        return framework->attention * (machine->is_recent ? framework->attention_hopper : 1) * machine->throttled;
    default: /* faster than memory: a part of what one kernel wrote is still in the cache when the next one reads it */
        return framework->stream < 1 ? 1 - machine->cached * (1 - framework->stream) : framework->stream;
    }
}

/* A collective of the tensor-parallel ranks. */
static void cost_tp(const struct cost_machine *machine, const struct work_job *job, enum orr_coll_op op,
                    struct work_item *item, struct cost_pass *pass)
{
    struct work_layout group = order_groups(job->plan, ORDER_TP);
    double outside = work_layout_size(&group) - order_place_of(&group, machine->node_gpus).inside;
    double stall = outside * job->framework->comm_rank_us;
    item->us = job->framework->comm * cost_collective_us(machine, op, group, item->bytes) + stall;
    pass->tp += item->us;
    item->stall = stall;
    pass->stall += stall;
}

/* Matrix units read rows of 16 bytes: batched products whose rows are no multiple of that (heads of 150, say) run on
 * the vector units, which are nearer to their peak with them. bigscience-a100's heads of 150 and 450 take as long. */
static double cost_unaligned(const struct cost_machine *machine, const struct orr_op *op)
{
    bool aligned = op->dims[2] % 8 == 0 && op->dims[3] % 8 == 0;
    return op->kind == ORR_OP_BATCHED_GEMM && !aligned ? fmax(1, 0.85 * machine->matrix_to_vector) : 1;
}

/* Adds an item to the pass it belongs to. */
static void cost_item(const struct cost_machine *machine, const struct work_job *job, struct work_item *item,
                      struct cost_pass *pass, double *flops)
{
    const struct orr_train_plan *plan = job->plan;
    double comm = job->framework->comm;
    double launches = item->launches > 0 ? item->launches : item->times;
    pass->launches += launches;
    switch (item->comm) {
    case WORK_COMPUTE: {
        struct orr_op_prediction answer;
        orr_op_predict(machine->ops, machine->device, ORR_OP_KERNEL, &item->op, &answer);
        item->us =
            answer.kernel_us * cost_factor(machine, job->framework, item->op.kind) * cost_unaligned(machine, &item->op);
        item->flops = answer.flops;
        item->moved = answer.bytes;
        pass->compute += item->us * item->times;
        *flops += answer.flops * launches;
        return;
    }
    case WORK_TP_GATHER:
        cost_tp(machine, job, ORR_COLL_OP_ALL_GATHER, item, pass);
        return;
    case WORK_TP_SCATTER:
        cost_tp(machine, job, ORR_COLL_OP_REDUCE_SCATTER, item, pass);
        return;
    case WORK_TP_REDUCE:
        cost_tp(machine, job, ORR_COLL_OP_ALL_REDUCE, item, pass);
        return;
    case WORK_CP_SHIFT:
        item->us = comm * cost_collective_us(machine, ORR_COLL_OP_ALL_GATHER, order_groups(plan, ORDER_CP),
                                             item->bytes * plan->cp);
        pass->cp += item->us;
        return;
    case WORK_DP_EXCHANGE:
        item->us =
            comm * cost_collective_us(machine, ORR_COLL_OP_ALL_TO_ALL, order_groups(plan, ORDER_DP), item->bytes);
        pass->ep += item->us;
        return;
    default:
        item->us =
            comm * cost_collective_us(machine, ORR_COLL_OP_ALL_TO_ALL, order_groups(plan, ORDER_EP), item->bytes);
        pass->ep += item->us;
        return;
    }
}

void cost_piece(const struct cost_machine *machine, const struct work_job *job, struct work_piece *piece,
                struct cost_piece *cost)
{
    struct cost_pass again = {0};
    *cost = (struct cost_piece){0};
    for (uint32_t i = 0; i < piece->forward.count; i++) {
        if (i == piece->again_items) {
            again = cost->forward;
        }
        cost_item(machine, job, &piece->forward.items[i], &cost->forward, &cost->hardware_flops);
    }
    cost->forward_flops = cost->hardware_flops;
    for (uint32_t i = 0; i < piece->backward.count; i++) {
        double before = cost->backward.compute;
        cost_item(machine, job, &piece->backward.items[i], &cost->backward, &cost->hardware_flops);
        if (work_is_weight(&piece->backward, i)) {
            cost->backward.weight += cost->backward.compute - before;
        }
    }
    again = piece->again_items == 0 ? cost->forward : again;
    cost->backward.compute += piece->again * again.compute;
    cost->backward.tp += piece->again * again.tp;
    cost->backward.stall += piece->again * again.stall;
    cost->backward.cp += piece->again * again.cp;
    cost->backward.ep += piece->again * again.ep;
    cost->backward.launches += piece->again * again.launches;
}
