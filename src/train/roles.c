/* SPDX-License-Identifier: Apache-2.0 */
/* A stage's passes one after the other, as schedule.h orders them: what a pass needs is received, its pieces run, what
 * comes of it is sent on. */
#include "train/roles.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "train/roles_build.h"

/* ---- groups ---- */

enum orr_status role_check(const struct orr_train_plan *plan, struct orr_error *err)
{
    uint64_t block = (uint64_t)plan->tp * plan->cp * plan->dp;
    if (plan->schedule == ORR_TRAIN_SCHEDULE_DUALPIPE && plan->pp > 1) {
        return error_set(
            err, ORR_EINVAL,
            "parameter 'schedule': dualpipe is known by its formula alone; as nodes there are 1f1b, gpipe, "
            "interleaved and zero-bubble");
    }
    if (plan->ep > 1 && block % ((uint64_t)plan->etp * plan->ep) != 0) {
        return error_set(err, ORR_EINVAL,
                         "parameter 'etp': groups of etp x ep = %" PRIu64 " do not fill a stage's %" PRIu64 " ranks",
                         (uint64_t)plan->etp * plan->ep, block);
    }
    return ORR_OK;
}

void role_layouts(const struct orr_train_plan *plan, struct work_layout *layouts)
{
    memset(layouts, 0, WORK_GROUPS * sizeof *layouts);
    layouts[WORK_TP] = order_groups(plan, ORDER_TP);
    layouts[WORK_CP] = order_groups(plan, ORDER_CP);
    layouts[WORK_DP] = order_groups(plan, ORDER_DP);
    if ((uint64_t)plan->dp * plan->cp * plan->tp % ((uint64_t)plan->etp * plan->ep) == 0) {
        layouts[WORK_EP] = order_groups(plan, ORDER_EP);
        layouts[WORK_DP_EP] = order_groups(plan, ORDER_EXPERTS_DP);
    }
    if (plan->sharding == ORR_TRAIN_SHARDING_HYBRID) {
        layouts[WORK_SHARD] = order_groups(plan, ORDER_SHARDS);
        layouts[WORK_REPLICA] = order_groups(plan, ORDER_REPLICAS);
    }
}

/* ---- nodes ---- */

uint32_t role_add(struct role_builder *builder, struct work_node *node, const struct role_front *front)
{
    uint32_t place = WORK_NONE;
    node->dims = WORK_ALL_DIMS;
    if (builder->status == ORR_OK) {
        builder->status = work_add(builder->work, node, front->at, front->count, &place, builder->err);
    }
    return builder->status == ORR_OK ? place : WORK_NONE;
}

void role_front_join(struct role_front *front, uint32_t node)
{
    for (uint32_t i = 0; i < front->count; i++) {
        if (front->at[i] == node) {
            return;
        }
    }
    if (node != WORK_NONE && front->count < ROLE_FRONT) {
        front->at[front->count++] = node;
    }
}

const char *role_name(struct role_builder *builder, const char *format, ...)
{
    char text[ROLE_NAME];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    size_t size = length < 0 ? 0 : (size_t)length < sizeof text ? (size_t)length : sizeof text - 1;
    const char *kept = arena_strndup(&builder->work->arena, text, size);
    if (kept == NULL && builder->status == ORR_OK) {
        builder->status = mem_error(builder->work->mem, "the names of nodes", builder->err);
    }
    return kept != NULL ? kept : "";
}

static void role_on_chain(struct role_builder *builder, struct work_node *node)
{
    uint32_t place = role_add(builder, node, &builder->front);
    builder->front = (struct role_front){{place}, place != WORK_NONE};
}

void role_compute(struct role_builder *builder, const char *name, double us, double flops, double moved,
                  enum role_part part)
{
    struct work_node node = {.name = name, .type = TRACE_COMP, .stream = ROLE_ON_COMPUTE, .mark = (uint8_t)part};
    builder->owed += us;
    node.duration_us = (uint64_t)(builder->owed + 1e-9);
    builder->owed -= (double)node.duration_us;
    node.num_ops = (uint64_t)flops;
    node.tensor_bytes = (uint64_t)moved;
    role_on_chain(builder, &node);
}

void role_host(struct role_builder *builder, const char *name, double us)
{
    struct work_node node = {.name = name, .type = TRACE_COMP, .stream = WORK_HOST, .mark = ROLE_LAUNCH};
    node.duration_us = (uint64_t)llround(us);
    if (node.duration_us > 0) {
        role_on_chain(builder, &node);
    }
}

uint32_t role_collective(struct role_builder *builder, const char *name, int32_t type, enum work_group group,
                         double bytes, enum role_stream stream, enum role_part part, const struct role_front *front)
{
    enum { ALL_GATHER = 2 }; /* whose size is one rank's part (spec analytical §9) */
    uint32_t ranks = work_layout_size(&builder->work->layouts[group]);
    struct work_node node = {.name = name,
                             .type = TRACE_COLL,
                             .comm_type = type,
                             .group = (uint8_t)group,
                             .stream = (uint8_t)stream,
                             .mark = (uint8_t)part};
    if (ranks <= 1 || bytes < 1) {
        return WORK_NONE;
    }
    bytes = type == ALL_GATHER ? bytes / ranks : bytes;
    node.comm_bytes = bytes < 1 ? 1 : (int64_t)bytes;
    return role_add(builder, &node, front);
}

/* ---- the stage ---- */

static bool role_add_piece(struct role_builder *builder, struct role_chunk *chunk, uint32_t *capacity, uint32_t kind,
                           uint32_t layer)
{
    if (!mem_reserve(builder->work->mem, (void **)&chunk->pieces, capacity, (uint64_t)chunk->count + 1,
                     sizeof *chunk->pieces)) {
        builder->status = mem_error(builder->work->mem, "a stage's pieces", builder->err);
        return false;
    }
    chunk->pieces[chunk->count++] = (struct role_piece){.kind = kind, .layer = layer};
    return true;
}

static void role_fill_chunk(struct role_builder *builder, uint32_t index, uint32_t *capacity)
{
    const struct work_job *job = builder->request->job;
    struct role_chunk *chunk = &builder->chunks[index];
    if (!model_is_transformer(job->model)) { /* one piece, which is all of it */
        (void)role_add_piece(builder, chunk, capacity, STEP_DENSE, 0);
        chunk->layers = 1;
        return;
    }
    struct plan_chunk has =
        plan_chunk_of(job->model, job->plan, job->framework->stages_by_cost, index * job->plan->pp + builder->stage);
    bool room = !has.embedding || role_add_piece(builder, chunk, capacity, STEP_EMBEDDING, 0);
    for (uint32_t i = has.first; room && i < has.first + has.layers; i++) {
        room = role_add_piece(builder, chunk, capacity, step_has_experts(job->model, i) ? STEP_SPARSE : STEP_DENSE, i);
        chunk->layers++;
    }
    room = room && (!has.head || role_add_piece(builder, chunk, capacity, STEP_HEAD, 0));
    if (room && has.loss) {
        (void)role_add_piece(builder, chunk, capacity, STEP_LOSS, 0);
    }
}

/* What costs count beside the lists. */
static void role_find_again(struct role_builder *builder)
{
    for (uint32_t kind = 0; kind < STEP_PIECES; kind++) {
        const struct work_piece *piece = &builder->request->layout->piece[kind];
        const struct cost_piece *cost = &builder->request->layout->cost[kind];
        double us = cost->backward.compute;
        for (uint32_t i = 0; i < piece->forward.count && (piece->again_items == 0 || i < piece->again_items); i++) {
            const struct work_item *item = &piece->forward.items[i];
            us -= item->comm == WORK_COMPUTE ? piece->again * item->us * item->times : 0;
        }
        for (uint32_t i = 0; i < piece->backward.count; i++) {
            const struct work_item *item = &piece->backward.items[i];
            us -= item->comm == WORK_COMPUTE ? item->us * item->times : 0;
        }
        builder->again[kind] = (struct work_item){.name = "again", .times = 1, .us = us > 1e-3 ? us : 0};
    }
}

/* ---- weights' gradients by themselves ---- */

/* Those left by backward passes, oldest first: micro-batch by micro-batch, its pieces from the last to the first. */
struct role_later {
    struct role_pass *passes; /* in the order they were left */
    uint32_t count, next;     /* `next`: not done yet */
    uint32_t piece;           /* of it: pieces of its chunk that are done */
    double owed;              /* microseconds that gaps had room for, less what was done in them */
};

static void role_later_do(struct role_builder *builder, struct role_later *later, double us)
{
    later->owed += us;
    while (later->next < later->count && builder->status == ORR_OK) {
        builder->pass = later->passes[later->next];
        const struct role_chunk *chunk = &builder->chunks[builder->pass.chunk];
        if (later->piece == chunk->count) {
            later->piece = 0;
            later->next++;
            continue;
        }
        uint32_t index = chunk->count - 1 - later->piece;
        double takes = role_weights_us(builder, &chunk->pieces[index]);
        if (later->owed < takes / 2) {
            break;
        }
        later->owed -= takes;
        role_run_add(builder, &chunk->pieces[index], true);
        role_run_flush(builder);
        role_data_after(builder, index);
        later->piece++;
    }
}

/* ---- passes ---- */

static double role_send_bytes(const struct role_builder *builder)
{
    const struct orr_train_plan *plan = builder->plan;
    double bytes = (double)plan->micro_batch * plan->seq / plan->cp * builder->request->job->model->hidden * 2;
    return plan->sp ? bytes / plan->tp : bytes;
}

/* Forward passes send to the next stage, backward passes to the one before, round the ends; `to_order` is the chunk it
 * goes to. A message's tag is its micro-batch, that chunk and its direction. */
static uint32_t role_message(struct role_builder *builder, bool sends, bool forward, uint32_t to_order,
                             const struct role_front *front)
{
    const struct orr_train_plan *plan = builder->plan;
    bool up = sends == forward;
    uint32_t other = up ? (builder->stage + 1) % plan->pp : (builder->stage + plan->pp - 1) % plan->pp;
    struct work_node node = {.type = sends ? TRACE_SEND : TRACE_RECV,
                             .stream = ROLE_ON_PP,
                             .mark = sends ? ROLE_SEND : ROLE_RECV,
                             .comm_bytes = (int64_t)role_send_bytes(builder)};
    node.peer = ((int64_t)other - builder->stage) * order_stage_stride(plan);
    node.tag = (builder->pass.micro_batch * plan->pp * plan->vpp + to_order) * 2 + !forward;
    node.name =
        role_name(builder, "%c%u %s", builder->pass.letter, builder->pass.micro_batch, sends ? "send" : "receive");
    return role_add(builder, &node, front);
}

static void role_run_pieces(struct role_builder *builder)
{
    const struct role_chunk *chunk = &builder->chunks[builder->pass.chunk];
    for (uint32_t i = 0; i < chunk->count && builder->status == ORR_OK; i++) {
        uint32_t index = builder->pass.kind == SCHEDULE_FORWARD ? i : chunk->count - 1 - i;
        role_data_before(builder, index);
        role_front_join(&builder->front, builder->received);
        builder->received = WORK_NONE;
        role_run_add(builder, &chunk->pieces[index], false);
        role_data_after(builder, index);
    }
    role_run_flush(builder);
    role_front_join(&builder->front, builder->received); /* of a chunk without pieces */
}

/* Receives are asked for from the beginning, so that no send ever has to wait for one, whatever the network wants. */
static void role_play_pass(struct role_builder *builder)
{
    static const struct role_front nothing;
    const struct orr_train_plan *plan = builder->plan;
    const struct role_pass *pass = &builder->pass;
    bool forward = pass->kind == SCHEDULE_FORWARD;
    uint32_t last = plan->pp * plan->vpp - 1;
    bool receives = forward ? pass->order > 0 : pass->order < last;
    bool sends = forward ? pass->order < last : pass->order > 0;
    builder->received = receives ? role_message(builder, false, forward, pass->order, &nothing) : WORK_NONE;
    role_run_pieces(builder);
    if (sends) {
        uint32_t node =
            role_message(builder, true, forward, forward ? pass->order + 1 : pass->order - 1, &builder->front);
        if (!step_hides_sends(builder->request->job)) {
            role_front_join(&builder->front, node);
        }
    }
}

static void role_play(struct role_builder *builder, const struct schedule_request *schedule, struct role_later *later)
{
    const struct orr_train_plan *plan = builder->plan;
    bool splits = plan->schedule == ORR_TRAIN_SCHEDULE_ZERO_BUBBLE;
    uint64_t passes = schedule_passes(schedule);
    role_data_begin(builder);
    for (uint64_t i = 0; i < passes && builder->status == ORR_OK; i++) {
        struct schedule_step step = schedule_step_of(schedule, builder->stage, i);
        if (splits) {
            role_later_do(builder, later, schedule->filled[builder->stage * passes + i]);
        }
        bool backward = step.kind == SCHEDULE_BACKWARD;
        builder->pass = (struct role_pass){.kind = step.kind,
                                           .letter = backward ? 'B' : 'F',
                                           .without_weights = splits && backward,
                                           .micro_batch = step.micro_batch,
                                           .chunk = step.chunk,
                                           .order = step.chunk * plan->pp + builder->stage,
                                           .is_first = step.micro_batch == 0,
                                           .is_last = step.micro_batch + 1 == schedule->micro_batches};
        role_play_pass(builder);
        if (splits && backward) {
            later->passes[later->count] = builder->pass;
            later->passes[later->count].letter = 'W';
            later->passes[later->count++].without_weights = false;
        }
    }
    if (splits) {
        role_later_do(builder, later, INFINITY);
    }
    role_data_end(builder);
}

/* Where gaps leave room for weights' gradients is found by playing all stages. */
static void role_play_schedule(struct role_builder *builder)
{
    const struct orr_train_plan *plan = builder->plan;
    struct mem *mem = builder->work->mem;
    struct schedule_request schedule = {.schedule = plan->schedule,
                                        .stages = plan->pp,
                                        .chunks = plan->vpp,
                                        .micro_batches = plan_micro_batches(plan),
                                        .chunk = builder->request->layout->chunks,
                                        .hidden_sends = step_hides_sends(builder->request->job)};
    struct schedule_result result;
    struct role_later later = {0};
    size_t passes = schedule_passes(&schedule), filled = passes * plan->pp;
    if (plan->schedule == ORR_TRAIN_SCHEDULE_ZERO_BUBBLE) {
        schedule.filled = mem_zalloc(mem, filled * sizeof *schedule.filled);
        later.passes = mem_zalloc(mem, passes * sizeof *later.passes);
        builder->status = schedule.filled == NULL || later.passes == NULL
                              ? mem_error(mem, "the schedule", builder->err)
                              : schedule_run(&schedule, mem, &result, builder->err);
    }
    if (builder->status == ORR_OK) {
        role_play(builder, &schedule, &later);
    }
    mem_free(mem, schedule.filled, filled * sizeof *schedule.filled);
    mem_free(mem, later.passes, passes * sizeof *later.passes);
}

enum orr_status role_build(const struct role_request *request, uint32_t stage, struct work *work, struct orr_error *err)
{
    const struct orr_train_plan *plan = request->job->plan;
    struct mem *mem = work->mem;
    struct role_builder builder = {.request = request, .plan = plan, .work = work, .stage = stage, .err = err};
    uint32_t *capacity = mem_zalloc(mem, plan->vpp * sizeof *capacity);
    builder.chunks = mem_zalloc(mem, plan->vpp * sizeof *builder.chunks);
    work->version = "0.0.4";
    work->streams = true;
    role_layouts(plan, work->layouts);
    builder.sums_beside = step_sums_beside(request->machine, request->job);
    memset(builder.sums, 0xff, sizeof builder.sums); /* WORK_NONE */
    if (capacity == NULL || builder.chunks == NULL) {
        builder.status = mem_error(mem, "a stage's chunks", err);
    }
    for (uint32_t i = 0; i < plan->vpp && builder.status == ORR_OK; i++) {
        role_fill_chunk(&builder, i, &capacity[i]);
    }
    size_t gathers = 0;
    if (builder.status == ORR_OK) {
        role_find_again(&builder);
        role_data_buckets(&builder);
        gathers = builder.bucket_count + 2;
        builder.gathers = mem_zalloc(mem, gathers * sizeof *builder.gathers);
        builder.status = builder.gathers == NULL ? mem_error(mem, "a stage's buckets", err) : ORR_OK;
    }
    for (size_t i = 0; i < gathers && builder.gathers != NULL; i++) {
        builder.gathers[i].node[0] = builder.gathers[i].node[1] = WORK_NONE;
    }
    if (builder.status == ORR_OK) {
        role_play_schedule(&builder);
    }
    for (uint32_t i = 0; builder.chunks != NULL && capacity != NULL && i < plan->vpp; i++) {
        mem_free(mem, builder.chunks[i].pieces, capacity[i] * sizeof *builder.chunks[i].pieces);
    }
    mem_free(mem, builder.run, builder.run_capacity * sizeof *builder.run);
    mem_free(mem, builder.gathers, gathers * sizeof *builder.gathers);
    mem_free(mem, builder.chunks, plan->vpp * sizeof *builder.chunks);
    mem_free(mem, capacity, plan->vpp * sizeof *capacity);
    return builder.status;
}
