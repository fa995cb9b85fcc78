/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What data-parallel ranks do, by how weights are divided.
 *
 * Weights that every rank has: gradients are summed once a step, in buckets while the last micro-batch goes back where
 * the plan overlaps them, else all behind it. With the optimizer divided, each rank gets its part of the sums, and what
 * it made of it is gathered: bucket by bucket while the first micro-batch goes forward (of the step before, as it
 * were), else behind the optimizer.
 *
 * Weights that ranks divide (ZeRO 3, FSDP): every piece is gathered before each of its passes, one piece ahead of
 * compute, and its gradients are summed behind each backward pass.
 *
 * What runs beside a pass does so beside the framework's share of it (overlap_dp): it starts when the rest is done.
 */
#include "train/roles_build.h"

#include "coll/impl.h"

/* Of a bucket, as Megatron-LM sizes them: so many weights, or so many for each rank where they are many. */
enum { DATA_BUCKET_WEIGHTS = 40000000, DATA_BUCKET_WEIGHTS_A_RANK = 1000000 };

static bool role_is_sharded(const struct orr_train_plan *plan)
{
    return plan->zero == 3 || plan->sharding != ORR_TRAIN_SHARDING_NONE;
}

static const struct work_piece *role_work_of(const struct role_builder *builder, const struct role_piece *piece)
{
    return &builder->request->layout->piece[piece->kind];
}

/* ---- buckets ---- */

void role_data_buckets(struct role_builder *builder)
{
    const struct orr_train_plan *plan = builder->plan;
    double ranks = (double)plan->dp * plan->cp * DATA_BUCKET_WEIGHTS_A_RANK;
    double usual = ranks > DATA_BUCKET_WEIGHTS ? ranks : DATA_BUCKET_WEIGHTS;
    double room = plan->bucket > 0 ? plan->bucket : usual;
    uint32_t bucket = 0;
    for (uint32_t c = 0; c < plan->vpp; c++) {
        struct role_chunk *chunk = &builder->chunks[c];
        double filled = 0;
        for (uint32_t i = chunk->count; i-- > 0;) { /* they fill as gradients come */
            const struct work_piece *work = role_work_of(builder, &chunk->pieces[i]);
            filled += work->parameters + work->experts;
            chunk->pieces[i].bucket = bucket;
            if (filled >= room || i == 0) {
                bucket++;
                filled = 0;
            }
        }
    }
    builder->bucket_count = bucket;
    /* From the order of backward passes to that of forward passes, inside each chunk. */
    for (uint32_t c = 0; c < plan->vpp; c++) {
        struct role_chunk *chunk = &builder->chunks[c];
        uint32_t low = chunk->count > 0 ? chunk->pieces[chunk->count - 1].bucket : 0;
        uint32_t high = chunk->count > 0 ? chunk->pieces[0].bucket : 0;
        for (uint32_t i = 0; i < chunk->count; i++) {
            chunk->pieces[i].bucket = low + high - chunk->pieces[i].bucket;
        }
    }
}

/* Weights of a bucket, or of all pieces of the stage: dense ones and those of experts. */
static void role_bucket_weights(const struct role_builder *builder, uint32_t bucket, double weights[2])
{
    weights[0] = weights[1] = 0;
    for (uint32_t c = 0; c < builder->plan->vpp; c++) {
        for (uint32_t i = 0; i < builder->chunks[c].count; i++) {
            const struct role_piece *piece = &builder->chunks[c].pieces[i];
            if (bucket == WORK_NONE || piece->bucket == bucket) {
                weights[0] += role_work_of(builder, piece)->parameters;
                weights[1] += role_work_of(builder, piece)->experts;
            }
        }
    }
}

/* ---- gathers and sums ---- */

static void role_gather_weights(struct role_builder *builder, const char *what, uint32_t number,
                                const double weights[2], uint32_t node[2])
{
    bool inside = builder->plan->sharding == ORR_TRAIN_SHARDING_HYBRID;
    node[0] = role_collective(builder, role_name(builder, "gather %s %u", what, number), COLL_ALL_GATHER,
                              inside ? WORK_SHARD : WORK_DP, weights[0] * 2, ROLE_ON_DP, ROLE_DP, &builder->front);
    node[1] = role_collective(builder, role_name(builder, "gather experts of %s %u", what, number), COLL_ALL_GATHER,
                              WORK_DP_EP, weights[1] * 2, ROLE_ON_DP, ROLE_DP, &builder->front);
}

/* Behind the chain and the last sum of its group, so that the last one stands for all. */
static void role_sum_one(struct role_builder *builder, const char *name, int32_t type, enum work_group group,
                         double bytes, enum role_stream stream, uint32_t also)
{
    struct role_front front = builder->front;
    role_front_join(&front, builder->sums[group]);
    role_front_join(&front, also);
    uint32_t node = role_collective(builder, name, type, group, bytes, stream, ROLE_DP, &front);
    builder->sums[group] = node != WORK_NONE ? node : builder->sums[group];
}

static void role_sum_weights(struct role_builder *builder, const char *what, uint32_t number, const double weights[2])
{
    double bytes = builder->request->job->framework->gradient_bytes;
    bool inside = builder->plan->sharding == ORR_TRAIN_SHARDING_HYBRID;
    bool scatters = step_sum_op(builder->request->job) == ORR_COLL_OP_REDUCE_SCATTER;
    int32_t type = scatters ? COLL_REDUCE_SCATTER : COLL_ALL_REDUCE;
    role_sum_one(builder, role_name(builder, "sum %s %u", what, number), type, inside ? WORK_SHARD : WORK_DP,
                 weights[0] * bytes, ROLE_ON_DP, WORK_NONE);
    if (inside) {
        uint32_t shards = work_layout_size(&builder->work->layouts[WORK_SHARD]);
        role_sum_one(builder, role_name(builder, "sum over replicas %s %u", what, number), COLL_ALL_REDUCE,
                     WORK_REPLICA, weights[0] * bytes / (shards > 0 ? shards : 1), ROLE_ON_REPLICAS,
                     builder->sums[WORK_SHARD]);
    }
    role_sum_one(builder, role_name(builder, "sum experts of %s %u", what, number), type, WORK_DP_EP,
                 weights[1] * bytes, ROLE_ON_DP, WORK_NONE);
}

/* ---- around pieces ---- */

void role_data_start(struct role_builder *builder)
{
    struct role_delayed gather = builder->gather, sum = builder->sum;
    builder->gather.what = builder->sum.what = NULL;
    if (gather.what != NULL) {
        role_gather_weights(builder, gather.what, gather.number, gather.weights, gather.node);
    }
    if (sum.what != NULL) {
        role_sum_weights(builder, sum.what, sum.number, sum.weights);
    }
}

static void role_delay_sum(struct role_builder *builder, struct role_delayed sum)
{
    if (builder->sum.what != NULL) {
        role_data_start(builder);
    }
    builder->sum = sum;
}

static void role_join_gather(struct role_builder *builder, const struct role_gather *gather)
{
    if (builder->gather.node == gather->node && builder->gather.what != NULL) {
        role_data_start(builder); /* nothing ran that it could have run beside */
    }
    role_front_join(&builder->front, gather->node[0]);
    role_front_join(&builder->front, gather->node[1]);
}

/* The gather of a bucket, where there is such a one and it was not asked for yet. */
static struct role_delayed role_bucket_gather(struct role_builder *builder, uint32_t bucket)
{
    struct role_delayed gather = {0};
    if (bucket < builder->bucket_count && !builder->gathers[bucket].issued) {
        gather = (struct role_delayed){.what = "bucket", .number = bucket, .node = builder->gathers[bucket].node};
        role_bucket_weights(builder, bucket, gather.weights);
        builder->gathers[bucket].issued = true;
    }
    return gather;
}

static bool role_gathers_first(const struct role_builder *builder)
{
    return plan_optimizer_shards(builder->plan) > 1 && builder->sums_beside && !role_is_sharded(builder->plan);
}

void role_data_begin(struct role_builder *builder)
{
    if (role_gathers_first(builder)) {
        builder->gather = role_bucket_gather(builder, 0);
        role_data_start(builder);
    }
}

/* A piece's weights, into one of two places that take turns. */
static struct role_delayed role_piece_gather(struct role_builder *builder, uint32_t index)
{
    const struct work_piece *work = role_work_of(builder, &builder->chunks[builder->pass.chunk].pieces[index]);
    return (struct role_delayed){.what = "piece",
                                 .number = index,
                                 .weights = {work->parameters, work->experts},
                                 .node = builder->gathers[index % 2].node};
}

/* The next piece's weights are asked for while this one runs. */
static void role_before_sharded(struct role_builder *builder, uint32_t index)
{
    const struct role_chunk *chunk = &builder->chunks[builder->pass.chunk];
    bool backward = builder->pass.kind == SCHEDULE_BACKWARD;
    bool begins = index == (backward ? chunk->count - 1 : 0);
    bool ends = index == (backward ? 0 : chunk->count - 1);
    role_run_flush(builder);
    if (begins) {
        role_data_start(builder);
        builder->gather = role_piece_gather(builder, index);
        role_data_start(builder);
    }
    role_join_gather(builder, &builder->gathers[index % 2]);
    for (uint32_t group = 0; group < WORK_GROUPS; group++) {
        role_front_join(&builder->front, builder->sums[group]); /* what the piece before did not hide shows */
    }
    if (!ends) {
        builder->gather = role_piece_gather(builder, backward ? index - 1 : index + 1);
    }
}

void role_data_before(struct role_builder *builder, uint32_t index)
{
    const struct role_chunk *chunk = &builder->chunks[builder->pass.chunk];
    const struct role_piece *piece = &chunk->pieces[index];
    if (role_is_sharded(builder->plan)) {
        role_before_sharded(builder, index);
        return;
    }
    bool begins = index == 0 || chunk->pieces[index - 1].bucket != piece->bucket;
    if (role_gathers_first(builder) && begins && builder->pass.kind == SCHEDULE_FORWARD && builder->pass.is_first) {
        role_run_flush(builder);
        if (!builder->gathers[piece->bucket].issued) {
            role_data_start(builder);
            builder->gather = role_bucket_gather(builder, piece->bucket);
            role_data_start(builder);
        }
        role_join_gather(builder, &builder->gathers[piece->bucket]);
        role_data_start(builder);
        builder->gather = role_bucket_gather(builder, piece->bucket + 1);
    }
}

void role_data_after(struct role_builder *builder, uint32_t index)
{
    const struct role_chunk *chunk = &builder->chunks[builder->pass.chunk];
    const struct role_piece *piece = &chunk->pieces[index];
    const struct work_piece *work = role_work_of(builder, piece);
    struct role_delayed sum = {"piece", index, {work->parameters, work->experts}, NULL};
    if (builder->pass.kind == SCHEDULE_FORWARD || builder->pass.without_weights) {
        return;
    }
    if (role_is_sharded(builder->plan)) {
        role_run_flush(builder);
        role_delay_sum(builder, sum);
        return;
    }
    bool ends = index == 0 || chunk->pieces[index - 1].bucket != piece->bucket;
    if (builder->sums_beside && ends && builder->pass.is_last) {
        sum.what = "bucket", sum.number = piece->bucket;
        role_bucket_weights(builder, piece->bucket, sum.weights);
        role_run_flush(builder);
        role_delay_sum(builder, sum);
    }
}

void role_data_end(struct role_builder *builder)
{
    const struct orr_train_plan *plan = builder->plan;
    bool at_once = !role_is_sharded(plan) && !builder->sums_beside;
    double weights[2];
    role_data_start(builder);
    role_bucket_weights(builder, WORK_NONE, weights);
    if (at_once) {
        role_sum_weights(builder, "all weights of stage", builder->stage, weights);
    }
    for (uint32_t group = 0; group < WORK_GROUPS; group++) {
        role_front_join(&builder->front, builder->sums[group]);
    }
    role_compute(builder, "optimizer", builder->request->layout->optimizer[builder->stage], 0, 0, ROLE_OPTIMIZER);
    uint32_t shards = plan_optimizer_shards(plan);
    const struct framework *framework = builder->request->job->framework;
    role_host(builder, "host of the step",
              framework->host_step_us + (at_once && shards > 1 ? framework->host_zero_us * shards : 0));
    if (at_once && shards > 1) {
        uint32_t node[2];
        role_gather_weights(builder, "all weights of stage", builder->stage, weights, node);
    }
}
