/* SPDX-License-Identifier: Apache-2.0 */
/* A packet passes the endpoint before the algorithm may send: a fixed delay or the bus, then memory if it is reduced.
 */
#include "sim/engine.h"

void sim_endpoint_bundle(struct sim *sim, uint32_t index, struct sim_bundle bundle)
{
    const struct sim_stream *stream = &sim->streams.at[index];
    if (sim->buses != NULL && !stream->fast) {
        sim_bus_request(sim, index, bundle);
        return;
    }
    sim_call_after(sim, stream->rank, sim_endpoint_delay(sim, stream), SIM_CALL_ENDPOINT, index, bundle.memory_code);
}

/* Three passes over the data at the memory's rate, divided first, then scaled, then truncated (§8). */
uint64_t sim_memory_pass_ns(const struct sim *sim, uint64_t bytes)
{
    double rate = sim->config->system.local_mem_bw_gbps * 1e9;
    return rate > 0.0 ? 3 * ticks_from_double((double)bytes / rate * 1e9) : 0;
}

static uint64_t memory_delay(const struct sim_stream *stream, uint32_t memory_code)
{
    if (stream->method != COLL_BY_HALVING) {
        return stream->memory_ns;
    }
    uint32_t last = stream->phase->coll.sends;
    uint32_t step = memory_code - 1 < last ? memory_code - 1 : last;
    return stream->phase->step_memory_ns[step];
}

void sim_endpoint_passed(struct sim *sim, uint32_t index, uint32_t memory_code)
{
    if (memory_code == SIM_MEMORY_SKIP) {
        sim_phase_general(sim, index);
        return;
    }
    const struct sim_stream *stream = &sim->streams.at[index];
    sim_call_after(sim, stream->rank, memory_delay(stream, memory_code), SIM_CALL_GENERAL, index, 0);
}
