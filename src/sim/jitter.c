/* SPDX-License-Identifier: Apache-2.0 */
/* Delays that vary without chance: the factor is a hash of the seed, the pair and how many messages the pair has sent,
 * so a run is the same on every machine and a message's factor does not depend on what others do. */
#include "sim/engine.h"

static uint64_t mix(uint64_t x)
{
    x += UINT64_C(0x9E3779B97F4A7C15);
    x = (x ^ (x >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94D049BB133111EB);
    return x ^ (x >> 31);
}

/* How many messages the pair has sent before this one. */
static uint32_t count_message(struct sim *sim, uint32_t src, uint32_t dst)
{
    uint64_t key = (uint64_t)src << 32 | dst;
    uint64_t mask = sim->jitter_mask;
    uint64_t at = mix(key) & mask;
    while (sim->jitter_pairs[at].count != 0 && sim->jitter_pairs[at].key != key) {
        at = (at + 1) & mask;
    }
    sim->jitter_pairs[at].key = key;
    return sim->jitter_pairs[at].count++;
}

static bool keep_room(struct sim *sim)
{
    uint64_t size = sim->jitter_pairs == NULL ? 0 : sim->jitter_mask + 1;
    if (sim->jitter_used < size / 2) {
        return true;
    }
    uint64_t wider = size == 0 ? 256 : size * 2;
    struct sim_jitter_pair *old = sim->jitter_pairs;
    sim->jitter_pairs = mem_zalloc(sim->mem, (size_t)wider * sizeof *old);
    if (sim->jitter_pairs == NULL) {
        sim->jitter_pairs = old;
        sim_fail_memory(sim);
        return false;
    }
    sim->jitter_mask = wider - 1;
    for (uint64_t i = 0; i < size; i++) {
        if (old[i].count != 0) {
            uint64_t at = mix(old[i].key) & sim->jitter_mask;
            while (sim->jitter_pairs[at].count != 0) {
                at = (at + 1) & sim->jitter_mask;
            }
            sim->jitter_pairs[at] = old[i];
        }
    }
    mem_free(sim->mem, old, (size_t)size * sizeof *old);
    return true;
}

double sim_jitter_stretch(struct sim *sim, uint32_t src, uint32_t dst)
{
    if (!keep_room(sim)) {
        return 1.0;
    }
    uint32_t count = count_message(sim, src, dst);
    if (count == 0) {
        sim->jitter_used++;
    }
    uint64_t hash = mix(mix(mix(mix(sim->config->seed) ^ src) ^ dst) ^ count);
    double u = (double)(hash >> 11) * 0x1p-53;
    return 1.0 + sim->config->jitter * u;
}

void sim_jitter_free(struct sim *sim)
{
    if (sim->jitter_pairs != NULL) {
        mem_free(sim->mem, sim->jitter_pairs, (size_t)(sim->jitter_mask + 1) * sizeof *sim->jitter_pairs);
        sim->jitter_pairs = NULL;
    }
}
