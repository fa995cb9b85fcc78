/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Double binary tree (spec analytical §9.5): data is reduced up to the root and sent down again, whole, on every edge.
 * An inner node here has one or two children, since trees of any size are allowed; with two it is ASTRA-sim's.
 */
#include "sim/engine.h"

static uint32_t member_rank(const struct sim_stream *stream, uint32_t member)
{
    return coll_ring_rank(&stream->phase->coll.ring, stream->rank, stream->index, member);
}

static void receive_from(struct sim *sim, uint32_t index, uint32_t member)
{
    const struct sim_stream *stream = &sim->streams.at[index];
    sim_stream_recv(sim, index, member_rank(stream, member), stream->phase->coll.bytes);
}

static void send_to(struct sim *sim, uint32_t index, uint32_t member)
{
    const struct sim_stream *stream = &sim->streams.at[index];
    sim_stream_send(sim, index, member_rank(stream, member), stream->phase->coll.bytes);
}

static void pass_endpoint(struct sim *sim, uint32_t index, struct sim_bundle bundle)
{
    bundle.bytes = sim->streams.at[index].phase->coll.bytes;
    sim_endpoint_bundle(sim, index, bundle);
}

void sim_tree_start(struct sim *sim, uint32_t index)
{
    struct sim_stream *stream = &sim->streams.at[index];
    bool root_last = !sim_stream_draw(stream, stream->phase_index)->second_tree;
    struct coll_tree_place place = coll_tree_place(stream->phase->coll.ring.size, root_last, stream->index);
    stream->of.tree = (struct sim_tree_state){.place = place};
    stream->memory_ns = stream->phase->memory_ns;
    stream->fast = false;
    if (place.child_count == 0) {
        pass_endpoint(sim, index, (struct sim_bundle){0});
        return;
    }
    for (uint32_t i = 0; i < place.child_count; i++) {
        receive_from(sim, index, place.child[i]);
    }
}

static void send_down_and_end(struct sim *sim, uint32_t index)
{
    struct coll_tree_place place = sim->streams.at[index].of.tree.place;
    for (uint32_t i = 0; i < place.child_count; i++) {
        send_to(sim, index, place.child[i]);
    }
    sim_stream_proceed(sim, index);
}

void sim_tree_general(struct sim *sim, uint32_t index)
{
    struct sim_tree_state *tree = &sim->streams.at[index].of.tree;
    uint32_t children = tree->place.child_count;
    uint32_t parent = tree->place.parent;
    uint32_t reached = ++tree->endpoints;
    /* A leaf passes the endpoint once before it sends up; others once for each child. */
    uint32_t before_up = children == 0 ? 1 : children;
    if (reached < before_up) {
        return;
    }
    if (reached == before_up && parent != COLL_TREE_NONE) {
        send_to(sim, index, parent);
        receive_from(sim, index, parent);
        return;
    }
    send_down_and_end(sim, index);
}

void sim_tree_received(struct sim *sim, uint32_t index)
{
    struct sim_tree_state *tree = &sim->streams.at[index].of.tree;
    uint32_t received = ++tree->received;
    uint32_t children = tree->place.child_count;
    struct sim_bundle bundle = {.to_npu = true};
    if (children > 0) {
        bundle.memory_code = 1;
        bundle.send_back = received >= children; /* the sum goes back once, with the last child's part */
    }
    pass_endpoint(sim, index, bundle);
}
