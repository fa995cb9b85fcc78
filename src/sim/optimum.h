/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How short the step could be at best: lower bounds of a job on a machine that no schedule, algorithm or overlap can
 * beat, so that a run's time can be held against something. Computed once, after a run, from the traces and the machine
 * alone; knows nothing of how the run went.
 *
 * - compute: the longest chain of the trace with every communication for nothing, and where a device does one thing at
 * a time the sum of what it does;
 * - bandwidth: what the busiest rank must put on its links at least (coll_bus_factor of each collective's buffer), over
 *   the rate of all of them together;
 * - latency: the longest chain of communications, each one link's latency long, with everything else for nothing;
 * - all: the longest chain with each node at its least, and the largest of the three.
 *
 * A rank's chain does not follow messages to other ranks, so the bound can be lower than the true optimum; it is never
 * higher on a network whose links are shared. On `unaware`, where messages pass through each other, a run can be
 * shorter than the bandwidth bound: then the network was too kind.
 */
#ifndef ORR_SIM_OPTIMUM_H
#define ORR_SIM_OPTIMUM_H

#include <stdint.h>

struct sim_optimum {
    uint64_t compute_ns;
    uint64_t bandwidth_ns;
    uint64_t latency_ns;
    uint64_t all_ns; /* at least the largest of the others */
};

#endif
