/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Remote memory (spec analytical §12). A pool is one server for all ranks, per-node memory one for each node; they
 * serve one request at a time, in order. The two calls that end a request are put off on the requesting rank, the
 * node's completion first: its next request then stands in line before the server looks.
 */
#include "sim/engine.h"

uint64_t sim_memory_ns(const struct sim_config *config, const struct trace_node *node)
{
    const struct sim_memory *memory = &config->memory;
    uint64_t transfer = memory->bandwidth_gbps == 0 ? 0 : node->tensor_bytes / memory->bandwidth_gbps;
    uint64_t total = memory->latency_ns + transfer;
    return total < TICKS_MAX_STEP ? total : TICKS_MAX_STEP;
}

static uint64_t access_ns(const struct sim *sim, uint32_t rank, uint32_t node)
{
    return sim_memory_ns(sim->config, &sim->ranks[rank].graph->nodes[node]);
}

static void serve(struct sim *sim, uint32_t server, uint32_t rank, uint32_t node)
{
    uint64_t duration = access_ns(sim, rank, node);
    sim_call_after(sim, rank, duration, SIM_CALL_NODE_DONE, node, rank);
    sim_call_after(sim, rank, duration, SIM_CALL_MEMORY_NEXT, server, rank);
}

static bool server_grow(struct sim *sim, struct sim_memory_server *server)
{
    uint32_t capacity = server->capacity == 0 ? 16 : server->capacity * 2;
    uint32_t *wider = mem_alloc(sim->mem, (size_t)capacity * 2 * sizeof *wider);
    if (wider == NULL) {
        sim_fail_memory(sim);
        return false;
    }
    for (uint32_t i = 0; i < server->count; i++) {
        size_t to = i;
        size_t from = (server->head + i) % server->capacity;
        wider[2 * to] = server->waiting[2 * from];
        wider[2 * to + 1] = server->waiting[2 * from + 1];
    }
    mem_free(sim->mem, server->waiting, (size_t)server->capacity * 2 * sizeof *wider);
    server->waiting = wider;
    server->capacity = capacity;
    server->head = 0;
    return true;
}

void sim_memory_access(struct sim *sim, uint32_t rank, uint32_t node)
{
    const struct sim_memory *memory = &sim->config->memory;
    if (memory->kind == SIM_MEMORY_PER_NPU) {
        sim_call_after(sim, rank, access_ns(sim, rank, node), SIM_CALL_NODE_DONE, node, rank);
        return;
    }
    uint32_t index = memory->kind == SIM_MEMORY_POOL ? 0 : (uint32_t)(rank / memory->npus_per_node);
    struct sim_memory_server *server = &sim->servers[index];
    if (!server->busy) {
        server->busy = true;
        serve(sim, index, rank, node);
        return;
    }
    if (server->count == server->capacity && !server_grow(sim, server)) {
        return;
    }
    size_t at = (server->head + server->count++) % server->capacity;
    server->waiting[2 * at] = rank;
    server->waiting[2 * at + 1] = node;
}

void sim_memory_next(struct sim *sim, uint32_t index)
{
    struct sim_memory_server *server = &sim->servers[index];
    if (server->count == 0) {
        server->busy = false;
        return;
    }
    size_t at = server->head;
    server->head = (server->head + 1) % server->capacity;
    server->count--;
    serve(sim, index, server->waiting[2 * at], server->waiting[2 * at + 1]);
}
