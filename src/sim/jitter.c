/* SPDX-License-Identifier: Apache-2.0 */
/* Delays that vary without chance: the factor is a hash of the seed, the pair and how many messages the pair has sent,
 * so a run is the same on every machine and a message's factor does not depend on what others do. */
#include "sim/engine.h"

double sim_jitter_stretch(struct sim *sim, uint32_t src, uint32_t dst)
{
    uint32_t *sent = number_map_at(&sim->jitter_pairs, src, dst);
    if (sent == NULL) {
        sim_fail_memory(sim);
        return 1.0;
    }
    uint64_t hash = map_mix(map_mix(map_mix(map_mix(sim->config->seed) ^ src) ^ dst) ^ (*sent)++);
    double u = (double)(hash >> 11) * 0x1p-53;
    return 1.0 + sim->config->jitter * u;
}

void sim_jitter_free(struct sim *sim)
{
    number_map_free(&sim->jitter_pairs);
}
