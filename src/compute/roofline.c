/* SPDX-License-Identifier: Apache-2.0 */
/* The order of the floating point operations is part of the result: it is ASTRA-sim's. */
#include "compute/roofline.h"

#include "base/ticks.h"

struct roofline_estimate roofline_estimate(const struct roofline *roofline, uint64_t ops, uint64_t bytes)
{
    double operations = (double)ops;
    double intensity = operations / (double)bytes;
    double by_memory = roofline->memory_bytes_rate * intensity;
    double achieved = by_memory < roofline->peak_flops ? by_memory : roofline->peak_flops;
    struct roofline_estimate estimate = {.intensity = intensity, .compute_bound = achieved >= roofline->peak_flops};
    if (ops == 0 || achieved <= 0.0) {
        return estimate;
    }
    double seconds = operations / achieved;
    estimate.duration_ns = ticks_from_double(seconds * 1e9);
    estimate.compute_share = achieved / roofline->peak_flops;
    estimate.memory_share = achieved / intensity / roofline->memory_bytes_rate;
    return estimate;
}
