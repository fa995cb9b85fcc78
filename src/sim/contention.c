/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kernels that run at the same time on one device get in each other's way (--contention F). The model is one number: of
 * k kernels in flight on a rank, its communications counted, each goes on at 1/(1 + F*(k-1)) of its speed alone, from 0
 * (none notices the others) to 1 (they share one device). A communication's own time is the network's and stays.
 *
 * Each rank keeps what its kernels have left. When one begins or ends, what was done since is taken off at the old
 * speed and the next end is foreseen anew; an end that was foreseen before is told by its number and passed over.
 */
#include "sim/engine.h"

struct sim_shared_kernel {
    double left_ns; /* at its speed alone */
    uint32_t node;
};

struct sim_share {
    struct sim_shared_kernel *at; /* ascending node */
    uint32_t count, capacity;
    uint32_t foreseen; /* number of the end that counts */
    uint64_t since_ns;
    double slowdown; /* since then */
};

bool sim_share_make(struct sim *sim, struct sim_rank *state)
{
    if (sim->config->contention > 0.0) {
        state->share = arena_zalloc(&sim->arena, sizeof *state->share);
        return state->share != NULL;
    }
    return true;
}

void sim_share_free(struct sim *sim, struct sim_rank *state)
{
    if (state->share != NULL) {
        mem_free(sim->mem, state->share->at, (size_t)state->share->capacity * sizeof *state->share->at);
    }
}

static void sim_contention_settle(const struct sim *sim, struct sim_share *share)
{
    double done = (double)(sim->queue.now - share->since_ns) / (share->slowdown > 0.0 ? share->slowdown : 1.0);
    for (uint32_t i = 0; i < share->count; i++) {
        share->at[i].left_ns -= done;
    }
    share->since_ns = sim->queue.now;
}

static void foresee(struct sim *sim, uint32_t rank)
{
    struct sim_rank *state = &sim->ranks[rank];
    struct sim_share *share = state->share;
    uint32_t kernels = share->count + state->clock.active[SIM_OP_COMM];
    share->slowdown = kernels > 1 ? 1.0 + sim->config->contention * (kernels - 1) : 1.0;
    share->foreseen++;
    if (share->count == 0) {
        return;
    }
    double least = share->at[0].left_ns;
    for (uint32_t i = 1; i < share->count; i++) {
        least = share->at[i].left_ns < least ? share->at[i].left_ns : least;
    }
    uint64_t delay = least > 0.0 ? ticks_from_double(least * share->slowdown + 0.5) : 1;
    sim_call_after(sim, rank, delay == 0 ? 1 : delay, SIM_CALL_SHARED, share->foreseen, rank);
}

void sim_share_start(struct sim *sim, uint32_t rank, uint32_t node, uint64_t duration_ns)
{
    struct sim_share *share = sim->ranks[rank].share;
    if (!mem_reserve(sim->mem, (void **)&share->at, &share->capacity, (uint64_t)share->count + 1, sizeof *share->at)) {
        sim_fail_memory(sim);
        return;
    }
    sim_contention_settle(sim, share);
    uint32_t at = share->count++;
    for (; at > 0 && share->at[at - 1].node > node; at--) {
        share->at[at] = share->at[at - 1];
    }
    share->at[at] = (struct sim_shared_kernel){.left_ns = (double)duration_ns, .node = node};
    foresee(sim, rank);
}

void sim_share_changed(struct sim *sim, uint32_t rank)
{
    struct sim_share *share = sim->ranks[rank].share;
    if (share != NULL && share->count > 0) {
        sim_contention_settle(sim, share);
        foresee(sim, rank);
    }
}

void sim_share_due(struct sim *sim, uint32_t rank, uint32_t foreseen)
{
    struct sim_share *share = sim->ranks[rank].share;
    if (share->foreseen != foreseen) {
        return;
    }
    sim_contention_settle(sim, share);
    for (uint32_t i = 0; i < share->count; i++) {
        if (share->at[i].left_ns >= 1.0) {
            continue;
        }
        uint32_t node = share->at[i].node;
        share->count--;
        for (uint32_t k = i; k < share->count; k++) {
            share->at[k] = share->at[k + 1];
        }
        foresee(sim, rank);
        sim_workload_node_done(sim, rank, node); /* which may begin others: the rest is foreseen */
        return;
    }
    foresee(sim, rank);
}

/* Ends that no longer count may still have been in the queue when the last node was done. */
void sim_share_close(struct sim *sim)
{
    uint64_t last = 0;
    if (!(sim->config->contention > 0.0) || sim->result.ranks_finished < sim->played) {
        return;
    }
    for (uint32_t rank = 0; rank < sim->played; rank++) {
        last = sim->result.rows[rank].finish_ns > last ? sim->result.rows[rank].finish_ns : last;
    }
    sim->queue.now = last;
}
