/*
 * What a stream does in a phase. Here are the dispatch and the packet machine that ring, direct and halving-doubling
 * share (spec analytical §9.1): a packet is inserted, passes the endpoint, and then a send and a receive go out
 * together. Since the k-th packet's peer and size follow from k (coll/steps.h), the line of waiting packets is two
 * counters.
 */
#include "sim/engine.h"

static inline bool is_packet_method(const struct sim_stream *stream)
{
    return stream->method <= COLL_BY_HALVING;
}

static void insert_packet(struct sim *sim, uint32_t index)
{
    struct sim_stream *stream = &sim->streams.at[index];
    if (stream->plain == 0 && stream->processed == 0) {
        stream->plain = stream->parallel;
        stream->processed = stream->phase->coll.processed;
        stream->toggle = !stream->toggle;
    }
    struct sim_bundle bundle = {.bytes = stream->message_bytes};
    if (stream->method == COLL_BY_HALVING) {
        uint32_t last = stream->phase->coll.sends;
        uint32_t step = stream->inserted < last ? stream->inserted : last;
        bundle.bytes = stream->phase->coll.steps[step].bytes;
    }
    if (stream->plain > 0) {
        stream->plain--;
    } else {
        bool process = stream->type == COLL_REDUCE_SCATTER || (stream->type == COLL_ALL_REDUCE && stream->toggle);
        bundle.memory_code = process ? stream->inserted + 1 : SIM_MEMORY_SKIP;
        bundle.to_npu = true;
        bundle.send_back = stream->processed > stream->parallel;
        stream->processed--;
    }
    stream->inserted++;
    sim_endpoint_bundle(sim, index, bundle);
}

static void send_ring_packet(struct sim *sim, uint32_t index)
{
    struct sim_stream *stream = &sim->streams.at[index];
    if (stream->send_channel == 0) {
        const struct coll_ring *ring = &stream->phase->coll.ring;
        uint32_t rank = stream->rank;
        uint32_t to =
            coll_ring_rank(ring, rank, stream->index, coll_ring_walk(ring, stream->index, 1, stream->clockwise));
        uint32_t from =
            coll_ring_rank(ring, rank, stream->index, coll_ring_walk(ring, stream->index, 1, !stream->clockwise));
        stream->send_channel = sim_channel_hold(sim, rank, to, stream->tag, stream->message_bytes);
        stream->recv_channel = sim_channel_hold(sim, from, rank, stream->tag, stream->message_bytes);
    }
    sim_channel_send(sim, stream->send_channel, (struct sim_party){.kind = SIM_PARTY_NOBODY});
    sim_channel_recv(sim, stream->recv_channel, (struct sim_party){.kind = SIM_PARTY_STREAM, .a = index});
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
    if (stream->method == COLL_BY_RING && !sim->config->rendezvous) {
        send_ring_packet(sim, index);
    } else {
        const struct coll_ring *ring = &stream->phase->coll.ring;
        uint32_t to = 0;
        uint32_t from = 0;
        uint64_t bytes = 0;
        packet_peers(stream, &to, &from, &bytes);
        to = coll_ring_rank(ring, stream->rank, stream->index, to);
        from = coll_ring_rank(ring, stream->rank, stream->index, from);
        sim_send(sim, stream->rank, to, stream->tag, bytes, (struct sim_party){.kind = SIM_PARTY_NOBODY});
        sim_recv(sim, from, stream->rank, stream->tag, bytes, (struct sim_party){.kind = SIM_PARTY_STREAM, .a = index});
    }
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

static void end_if_done(struct sim *sim, uint32_t index)
{
    struct sim_stream *stream = &sim->streams.at[index];
    if (stream->sends_left != 0 || stream->ready != stream->parallel) {
        return;
    }
    if (stream->send_channel != 0) {
        sim_channel_drop(sim, stream->send_channel);
        sim_channel_drop(sim, stream->recv_channel);
        stream->send_channel = 0;
        stream->recv_channel = 0;
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
    end_if_done(sim, index);
}

static void packet_start(struct sim *sim, uint32_t index)
{
    struct sim_stream *stream = &sim->streams.at[index];
    const struct coll_phase *phase = &stream->phase->coll;
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
    }
}

void sim_phase_general(struct sim *sim, uint32_t index)
{
    const struct sim_stream *stream = &sim->streams.at[index];
    if (is_packet_method(stream)) {
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
    if (is_packet_method(stream)) {
        stream->received++;
        insert_packet(sim, index);
    } else if (stream->method == COLL_BY_TREE) {
        sim_tree_received(sim, index);
    } else {
        sim_program_received(sim, index);
    }
}
