/* SPDX-License-Identifier: Apache-2.0 */
/* Compute that varies by chance: each draw has a key made of the seed, the rank and the node, so that a node's time is
 * the same whatever else runs, in whatever order, on whichever thread. */
#include <math.h>

#include "base/draw.h"
#include "sim/engine.h"

enum { STREAM = 0x6e6f6973 }; /* apart from what else is drawn from the seed */

static const double most_factor = 1e6;

bool sim_noise_parts_ranks(const struct sim_config *config)
{
    bool draws = config->noise.kind != ORR_NOISE_NONE && config->noise.spread > 0.0;
    return config->straggling != NULL || (draws && config->noise.per != ORR_NOISE_PER_STEP);
}

static double drawn_factor(const struct orr_noise *noise, uint64_t key)
{
    double s = noise->spread;
    switch (noise->kind) {
    case ORR_NOISE_NORMAL:
        return fmax(0.0, 1.0 + s * draw_normal(key));
    case ORR_NOISE_LOGNORMAL: {
        double variance = draw_log(1.0 + s * s); /* of the logarithm, for mean 1 and standard deviation s */
        return draw_exp(sqrt(variance) * draw_normal(key) - variance / 2.0);
    }
    case ORR_NOISE_UNIFORM:
        return 1.0 + s * (2.0 * draw_uniform(key) - 1.0);
    case ORR_NOISE_EXPONENTIAL:
        return 1.0 + s * draw_exponential(key);
    case ORR_NOISE_NONE:
        break;
    }
    return 1.0;
}

double sim_noise_factor(const struct sim_config *config, uint32_t rank, uint32_t node)
{
    const struct orr_noise *noise = &config->noise;
    double factor = config->straggling != NULL ? config->straggling[rank] : 1.0;
    if (noise->kind == ORR_NOISE_NONE || noise->spread == 0.0) {
        return factor;
    }
    uint64_t key = draw_key(config->seed, STREAM);
    if (noise->per != ORR_NOISE_PER_STEP) {
        key = draw_key(key, rank);
    }
    if (noise->per == ORR_NOISE_PER_NODE) {
        key = draw_key(key, node);
    }
    return fmin(factor * drawn_factor(noise, key), most_factor);
}
