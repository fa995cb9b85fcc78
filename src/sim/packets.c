/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a stream does in a phase. Here are the dispatch and the packet machine that ring, direct and halving-doubling
 * share (spec analytical §9.1): a packet is inserted, passes the endpoint, and then a send and a receive go out
 * together. Since the k-th packet's peer and size follow from k (coll/steps.h), the line of waiting packets is two
 * counters.
 */
#include "sim/lanes.h"

/* Whether the packet inserted now is one of a round's last, `processed` ones; a new round starts when the last is used
 * up (z = nz = 0). */
static inline bool next_in_round(struct sim_stream *stream)
{
    if (stream->plain == 0 && stream->processed == 0) {
        stream->plain = stream->parallel;
        stream->processed = stream->phase->coll.processed;
        stream->toggle = !stream->toggle;
    }
    if (stream->plain > 0) {
        stream->plain--;
        return false;
    }
    stream->processed--;
    return true;
}

/* Whether processed packets pass memory: they do while data is being reduced. */
static inline bool sim_packets_reduces(const struct sim_stream *stream)
{
    return stream->type == COLL_REDUCE_SCATTER || (stream->type == COLL_ALL_REDUCE && stream->toggle);
}

static void insert_packet(struct sim *sim, uint32_t index)
{
    struct sim_stream *stream = &sim->streams.at[index];
    struct sim_bundle bundle = {.bytes = stream->message_bytes};
    if (next_in_round(stream)) {
        bundle.to_npu = true;
        bundle.send_back = stream->processed + 1 > stream->parallel;
        bundle.memory_code = sim_packets_reduces(stream) ? stream->inserted + 1 : SIM_MEMORY_SKIP;
    }
    if (stream->method == COLL_BY_HALVING) {
        uint32_t last = stream->phase->coll.sends;
        uint32_t step = stream->inserted < last ? stream->inserted : last;
        bundle.bytes = stream->phase->coll.steps[step].bytes;
    }
    stream->inserted++;
    sim_endpoint_bundle(sim, index, bundle);
}

/* ---- ring: one packet at a time, always to and from the same neighbours ---------------------------------------- */

/* Rank 0 for all: what is sent next goes round a dimension, or from number to number through several, or to a partner
 * and back. */
static void tell_peers(struct sim *sim, const struct sim_stream *stream)
{
    const struct coll_phase *phase = &stream->phase->coll;
    const struct topo_dim *dim = &sim->config->dims.dim[phase->dim];
    bool turned = phase->ring.size == dim->size && phase->ring.stride == dim->stride;
    sim_symmetry_peers(sim, stream->method == COLL_BY_HALVING ? SIM_PEERS_PAIRED
                            : turned                          ? SIM_PEERS_TURNED
                                                              : SIM_PEERS_COUNTED);
}

static void hold_ring_lanes(struct sim *sim, struct sim_stream *stream)
{
    const struct coll_ring *ring = &stream->phase->coll.ring;
    uint32_t rank = stream->rank;
    uint32_t to = coll_ring_walk(ring, stream->index, 1, stream->clockwise);
    uint32_t from = coll_ring_walk(ring, stream->index, 1, !stream->clockwise);
    if (sim->symmetry != NULL) {
        from = to; /* what rank 0 gets is what it sends */
    }
    to = coll_ring_rank(ring, rank, stream->index, to);
    from = coll_ring_rank(ring, rank, stream->index, from);
    stream->send_lane = sim_lane_hold(sim, rank, to, stream->tag, stream->message_bytes);
    stream->recv_lane = sim_lane_hold(sim, from, rank, stream->tag, stream->message_bytes);
}

static void ring_received(struct sim *sim, uint32_t index)
{
    struct sim_stream *stream = &sim->streams.at[index];
    uint32_t memory_code = next_in_round(stream) && sim_packets_reduces(stream) ? 1 : SIM_MEMORY_SKIP;
    sim_call_after(sim, stream->rank, sim_endpoint_delay(sim, stream), SIM_CALL_ENDPOINT, index, memory_code);
}

static void ring_general(struct sim *sim, uint32_t index)
{
    struct sim_stream *stream = &sim->streams.at[index];
    if (__builtin_expect(stream->sends_left != 0, 1)) {
        if (__builtin_expect(stream->send_lane == 0, 0)) {
            hold_ring_lanes(sim, stream);
        }
        if (__builtin_expect(sim->symmetry != NULL, 0)) {
            tell_peers(sim, stream);
        }
        stream->sends_left--;
        sim_lane_send(sim, stream->send_lane);
        sim_lane_recv(sim, stream->recv_lane, index);
        return;
    }
    if (stream->send_lane != 0) {
        sim_lane_drop(sim, stream->send_lane);
        sim_lane_drop(sim, stream->recv_lane);
        stream->send_lane = 0;
        stream->recv_lane = 0;
    }
    sim_stream_proceed(sim, index);
}

/* ---- any packet method ---------------------------------------------------------------------------------------- */

static inline bool is_packet_method(const struct sim_stream *stream)
{
    return stream->method <= COLL_BY_HALVING;
}

/* Peers as member indices, and the size, of the packet that leaves next. */
static void packet_peers(const struct sim_stream *stream, uint32_t *to, uint32_t *from, uint64_t *bytes)
{
    const struct coll_phase *phase = &stream->phase->coll;
    *bytes = stream->message_bytes;
    if (stream->method == COLL_BY_HALVING) {
        const struct coll_halving_step *step = &phase->steps[stream->popped];
        *to = coll_halving_partner(&phase->ring, stream->index, step->offset);
        *from = *to;
        *bytes = step->bytes;
        return;
    }
    uint32_t distance = stream->method == COLL_BY_DIRECT ? coll_direct_distance(phase->ring.size, stream->popped) : 1;
    *to = coll_ring_walk(&phase->ring, stream->index, distance, stream->clockwise);
    *from = coll_ring_walk(&phase->ring, stream->index, distance, !stream->clockwise);
}

static void send_packet(struct sim *sim, uint32_t index)
{
    struct sim_stream *stream = &sim->streams.at[index];
    const struct coll_ring *ring = &stream->phase->coll.ring;
    uint32_t to = 0;
    uint32_t from = 0;
    uint64_t bytes = 0;
    packet_peers(stream, &to, &from, &bytes);
    if (sim->symmetry != NULL) {
        from = to;
        tell_peers(sim, stream);
    }
    sim_stream_send(sim, index, coll_ring_rank(ring, stream->rank, stream->index, to), bytes);
    sim_stream_recv(sim, index, coll_ring_rank(ring, stream->rank, stream->index, from), bytes);
    stream->popped++;
    stream->sends_left--;
    stream->ready--;
}

static bool send_if_ready(struct sim *sim, uint32_t index)
{
    const struct sim_stream *stream = &sim->streams.at[index];
    if (stream->inserted == stream->popped || stream->sends_left == 0 || stream->ready == 0) {
        return false;
    }
    send_packet(sim, index);
    return true;
}

static void sim_packets_end_if_done(struct sim *sim, uint32_t index)
{
    const struct sim_stream *stream = &sim->streams.at[index];
    if (stream->sends_left != 0 || stream->ready != stream->parallel) {
        return;
    }
    sim_stream_proceed(sim, index);
}

static void packet_general(struct sim *sim, uint32_t index)
{
    struct sim_stream *stream = &sim->streams.at[index];
    stream->ready++;
    uint32_t others = stream->phase->coll.ring.size - 1;
    if (stream->method == COLL_BY_DIRECT && stream->type == COLL_ALL_REDUCE && stream->sends_left <= others) {
        /* The gather half waits until everything of the scatter half has come (§9.3). */
        if (stream->received < others) {
            return;
        }
        for (uint32_t i = 0; i < stream->parallel && send_if_ready(sim, index); i++) {
        }
    } else {
        (void)send_if_ready(sim, index);
    }
    sim_packets_end_if_done(sim, index);
}

static void packet_start(struct sim *sim, uint32_t index)
{
    struct sim_stream *stream = &sim->streams.at[index];
    const struct coll_phase *phase = &stream->phase->coll;
    if (sim->rings != NULL && stream->method == COLL_BY_RING && sim_rings_join(sim, index)) {
        return;
    }
    stream->message_bytes = phase->message_bytes;
    stream->memory_ns = stream->phase->memory_ns;
    stream->sends_left = phase->sends;
    stream->parallel = phase->parallel;
    stream->ready = 0;
    stream->plain = 0;
    stream->processed = 0;
    stream->toggle = false;
    stream->inserted = 0;
    stream->popped = 0;
    stream->received = 0;
    uint32_t parallel = phase->parallel;
    for (uint32_t i = 0; i < parallel; i++) {
        insert_packet(sim, index);
    }
}

void sim_phase_start(struct sim *sim, uint32_t index)
{
    if (sim->rings != NULL && sim->net.contention && sim->streams.at[index].method != COLL_BY_RING) {
        sim_order_give_up(sim); /* its messages would meet those of rings on links */
        return;
    }
    switch ((enum coll_method)sim->streams.at[index].method) {
    case COLL_BY_RING:
    case COLL_BY_DIRECT:
    case COLL_BY_HALVING:
        packet_start(sim, index);
        break;
    case COLL_BY_TREE:
        sim_tree_start(sim, index);
        break;
    case COLL_BY_PROGRAM:
        sim_program_start(sim, index);
        break;
    case COLL_BY_TRACE:
        sim_custom_start(sim, index);
        break;
    case COLL_BY_FLOWS:
        sim_flows_start(sim, index);
        break;
    }
}

void sim_phase_general(struct sim *sim, uint32_t index)
{
    const struct sim_stream *stream = &sim->streams.at[index];
    if (stream->method == COLL_BY_RING && sim->use_lanes) {
        ring_general(sim, index);
    } else if (is_packet_method(stream)) {
        packet_general(sim, index);
    } else if (stream->method == COLL_BY_TREE) {
        sim_tree_general(sim, index);
    } else {
        sim_program_general(sim, index);
    }
}

void sim_phase_received(struct sim *sim, uint32_t index)
{
    struct sim_stream *stream = &sim->streams.at[index];
    if (stream->method == COLL_BY_RING && sim->plain_rings) {
        ring_received(sim, index);
    } else if (is_packet_method(stream)) {
        stream->received++;
        insert_packet(sim, index);
    } else if (stream->method == COLL_BY_TREE) {
        sim_tree_received(sim, index);
    } else {
        sim_program_received(sim, index);
    }
}
