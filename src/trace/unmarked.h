/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Nodes that do not say where they run. Today a node without is_cpu_op belongs to the GPU; to ASTRA-sim up to its
 * release for HOTI 2024 it belonged to the CPU, where communication is not simulated but takes the time its node
 * carries, and a node that carries none is passed over (spec analytical, "Tutorial numbers"). Numbers published then
 * were made so, and this makes them again.
 *
 * Changes a set that was just read and that nobody else holds.
 */
#ifndef ORR_TRACE_UNMARKED_H
#define ORR_TRACE_UNMARKED_H

#include "trace/graph.h"

/* Every node without is_cpu_op becomes one of the CPU; `*changed` is how many, each shared graph counted once. Fails
 * with ORR_ENOMEM. */
ORR_MUST_CHECK enum orr_status trace_set_unmarked_to_cpu(struct trace_set *set, uint64_t *changed,
                                                         struct orr_error *err);

#endif
