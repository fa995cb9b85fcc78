/* SPDX-License-Identifier: Apache-2.0 */
/* A stream that follows a list of sends and receives (coll/program.h). One endpoint delay before the first step, one
 * after each receive, with the memory delay where the data is reduced. */
#include <string.h>

#include "sim/engine.h"

void sim_program_start(struct sim *sim, uint32_t index)
{
    struct sim_stream *stream = &sim->streams.at[index];
    const struct coll_phase *phase = &stream->phase->coll;
    struct coll_op ops[COLL_PROGRAM_MAX_OPS];
    uint32_t root = sim->operations.at[stream->operation].plan->root;
    uint32_t count = coll_program_build(phase->type, phase->ring.size, stream->index, root, phase->bytes, ops);
    stream->of.program = (struct sim_program_state){.count = count};
    stream->of.program.ops = mem_alloc(sim->mem, count * sizeof *ops);
    if (stream->of.program.ops == NULL) {
        stream->of.program.count = 0;
        sim_fail_memory(sim);
        return;
    }
    memcpy(stream->of.program.ops, ops, count * sizeof *ops);
    sim_endpoint_bundle(sim, index, (struct sim_bundle){.bytes = phase->bytes});
}

void sim_program_end(struct sim *sim, struct sim_stream *stream)
{
    mem_free(sim->mem, stream->of.program.ops, stream->of.program.count * sizeof *stream->of.program.ops);
    stream->of.program = (struct sim_program_state){0};
}

void sim_program_general(struct sim *sim, uint32_t index)
{
    struct sim_stream *stream = &sim->streams.at[index];
    const struct coll_ring *ring = &stream->phase->coll.ring;
    struct sim_program_state *program = &stream->of.program;
    while (program->at < program->count) {
        const struct coll_op *op = &program->ops[program->at];
        uint32_t peer = coll_ring_rank(ring, stream->rank, stream->index, op->peer);
        if (op->kind != COLL_OP_SEND) {
            sim_stream_recv(sim, index, peer, op->bytes);
            return;
        }
        sim_stream_send(sim, index, peer, op->bytes);
        program->at++;
    }
    sim_program_end(sim, stream);
    sim_stream_proceed(sim, index);
}

void sim_program_received(struct sim *sim, uint32_t index)
{
    struct sim_stream *stream = &sim->streams.at[index];
    struct sim_program_state *program = &stream->of.program;
    const struct coll_op *op = &program->ops[program->at];
    struct sim_bundle bundle = {.bytes = op->bytes, .to_npu = true};
    if (op->kind == COLL_OP_RECV_REDUCE) {
        bundle.memory_code = 1;
        stream->memory_ns = sim_memory_pass_ns(sim, op->bytes);
    }
    program->at++;
    sim_endpoint_bundle(sim, index, bundle);
}
