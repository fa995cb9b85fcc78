/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Flow lists of whole machines of equal servers, where one rank of each class stands for the others (topo/alike.h). Of
 * all flows that the turns of the machine take into each other one is listed, the one that leaves a rank that is
 * carried out. A channel's ring begins a place further on in each server than that of the channel before it, so that a
 * turn of the places takes a channel to another: a flow that comes to a rank in one channel is, seen from the rank that
 * is carried out for it, one of another channel.
 *
 * So a list of n ranks has a few n entries where the whole one has n times as many. Shares of bytes that differ by one
 * from rank to rank are those of the ranks carried out, and one byte goes where a share is none. Rings take every other
 * server the other way round, so that of an odd number of them the last one is left out of the rings and of the pairs,
 * and what each rank sends is as much as if it were not.
 */
#include "coll/nccl_parts.h"

bool nccl_alike_find(const struct nccl_job *job, struct topo_alike *alike)
{
    uint32_t each = job->gpus_per_server;
    if (job->compat || each == 0 || job->gpus % each != 0 || job->gpus < 2) {
        return false;
    }
    uint32_t servers = job->gpus / each;
    uint32_t period = !job->as_nccl || servers == 1 ? 1 : 2;
    *alike = (struct topo_alike){.ranks = job->gpus - servers % period * each,
                                 .each = each,
                                 .servers = period,
                                 .places = each > NCCL_MAX_CHANNELS ? each : 1};
    return topo_alike_members(alike) > 1;
}

/* Adds a flow as the rank sees it that is carried out for its source. */
static uint32_t add_seen(struct nccl_builder *builder, struct nccl_flow flow, uint32_t parent)
{
    const struct topo_alike *alike = builder->job->alike;
    uint32_t src = flow.src;
    flow.src = topo_alike_seen_from(alike, src, src);
    flow.dst = topo_alike_seen_from(alike, src, flow.dst);
    uint32_t id = nccl_builder_add(builder, flow);
    nccl_builder_parent(builder, parent);
    return id;
}

uint32_t nccl_alike_channel(const struct topo_alike *alike, uint32_t channels, uint32_t channel, uint32_t rank)
{
    uint32_t turn = topo_alike_turn(alike, rank);
    return turn == 0 ? channel : (channel + channels - turn % channels) % channels;
}

/* The place in a channel's ring of the rank that is carried out for a class. */
static const struct nccl_ring_place *place_of(const struct nccl_builder *builder, uint32_t channel, uint32_t class)
{
    return &builder->channels
                ->rings[(size_t)channel * builder->channels->ring_size + topo_alike_first(builder->job->alike, class)];
}

/* Who hands on what a place sends; its own rank where nobody does. */
static uint32_t ring_relay(const struct nccl_builder *builder, const struct nccl_ring_place *place)
{
    bool leaves = builder->choice->pxn && builder->group->node_count > 1 && place->node_send == place->rank;
    return leaves ? nccl_relay_of(builder, place->rank, place->next) : place->rank;
}

/* One chunk from a rank that is carried out to the next of the channel; the flow that arrives there. */
static uint32_t ring_hop(struct nccl_builder *builder, const struct nccl_ring_place *place, uint32_t parent,
                         struct nccl_flow flow)
{
    const struct topo_alike *alike = builder->job->alike;
    uint32_t relay = ring_relay(builder, place);
    flow.src = place->rank;
    flow.dst = place->next;
    if (relay != place->rank) {
        struct nccl_flow inside = flow;
        inside.dst = relay;
        inside.reduces = false; /* only passed on */
        parent = add_seen(builder, inside, parent);
        flow.src = relay;
        flow.connection = NCCL_CONN_PXN_INIT;
        flow.channel = nccl_alike_channel(alike, builder->choice->channels, flow.channel, relay);
    }
    return add_seen(builder, flow, parent);
}

/* Flows of a step, by channel and class. */
static void ring_step(struct nccl_builder *builder, uint64_t bytes, const struct nccl_flow *like, const uint32_t *last,
                      uint32_t *now)
{
    const struct topo_alike *alike = builder->job->alike;
    uint32_t classes = topo_alike_classes(alike);
    uint32_t count = builder->choice->channels;
    for (uint32_t channel = 0; channel < count; channel++) {
        uint64_t share = nccl_share(nccl_share(bytes, count, channel), builder->job->gpus, 0);
        for (uint32_t class = 0; class < classes; class ++) {
            const struct nccl_ring_place *place = place_of(builder, channel, class);
            uint32_t from = nccl_alike_channel(alike, count, channel, place->prev);
            struct nccl_flow flow = *like;
            flow.channel = channel;
            flow.bytes = share > 0 ? share : 1;
            now[channel * classes + class] =
                ring_hop(builder, place, last[from * classes + topo_alike_class_of(alike, place->prev)], flow);
        }
    }
}

/* Flows of each step. */
static uint64_t ring_step_flows(const struct nccl_builder *builder)
{
    uint64_t flows = 0;
    for (uint32_t channel = 0; channel < builder->choice->channels; channel++) {
        for (uint32_t class = 0; class < topo_alike_classes(builder->job->alike); class ++) {
            const struct nccl_ring_place *place = place_of(builder, channel, class);
            flows += ring_relay(builder, place) == place->rank ? 1 : 2;
        }
    }
    return flows;
}

enum orr_status nccl_alike_ring_flows(struct nccl_builder *builder, enum coll_type type, uint64_t bytes,
                                      struct orr_error *err)
{
    uint32_t ranks = builder->job->gpus;
    uint32_t steps = type == COLL_ALL_REDUCE ? 2 * (ranks - 1) : ranks - 1;
    uint32_t reduce_steps = type == COLL_ALL_GATHER ? 0 : ranks - 1;
    uint32_t width = topo_alike_classes(builder->job->alike) * builder->choice->channels;
    uint64_t flows = bytes == 0 ? 0 : nccl_times(ring_step_flows(builder), steps);
    uint32_t *work = NULL;
    enum orr_status status = nccl_builder_reserve(builder, flows, flows, 0, err);
    if (status == ORR_OK) {
        status = nccl_builder_work(builder, UINT64_C(2) * width, sizeof *work, &work, err);
    }
    for (uint32_t i = 0; status == ORR_OK && i < width; i++) {
        work[i] = NCCL_NO_FLOW;
    }
    for (uint32_t step = 0; status == ORR_OK && flows > 0 && step < steps; step++) {
        struct nccl_flow like = {
            .chunk = step, .chunk_count = steps, .connection = NCCL_CONN_RING, .reduces = step < reduce_steps};
        ring_step(builder, bytes, &like, work + (step % 2) * (size_t)width, work + ((step + 1) % 2) * (size_t)width);
    }
    return status;
}

enum orr_status nccl_alike_exchange_flows(struct nccl_builder *builder, uint64_t bytes, struct orr_error *err)
{
    const struct topo_alike *alike = builder->job->alike;
    uint32_t n = builder->group->rank_count;
    uint32_t all = builder->job->gpus;
    uint64_t pairs = nccl_times(topo_alike_classes(alike), n - 1);
    uint64_t share = nccl_share(bytes, all, 0);
    uint64_t outside = n == alike->each ? 0 : share * (all - alike->each) / (n - alike->each);
    enum orr_status status = nccl_builder_reserve(builder, 2 * pairs, pairs, 0, err);
    for (uint32_t class = 0; status == ORR_OK && share > 0 && class < topo_alike_classes(alike); class ++) {
        uint32_t src = topo_alike_first(alike, class);
        for (uint32_t i = 1; i < n; i++) {
            uint32_t dst = (src + i) % n;
            uint32_t relay = builder->choice->pxn ? nccl_relay_of(builder, src, dst) : src;
            bool inside = nccl_server_of(builder->job, src) == nccl_server_of(builder->job, dst);
            struct nccl_flow flow = {.bytes = inside ? share : outside,
                                     .src = src,
                                     .dst = dst,
                                     .chunk_count = 1,
                                     .connection = NCCL_CONN_PAIR};
            uint32_t first = NCCL_NO_FLOW;
            if (relay != src) {
                flow.dst = relay;
                first = add_seen(builder, flow, NCCL_NO_FLOW);
                flow.src = relay;
                flow.dst = dst;
            }
            (void)add_seen(builder, flow, first);
        }
    }
    return status;
}
