/* SPDX-License-Identifier: Apache-2.0 */
/*
 * LogGOPSim's GOAL text (spec formats §8) turned into ET files, one a rank: calc becomes compute, send and recv become
 * messages, `requires` a dependency. `irequires` (after the other has started) has no counterpart in Chakra, where
 * every dependency waits for an end: an operation that others irequire gets a node of no duration before it, which
 * takes over its dependencies and on which it and they depend. Sends and receives are matched here, so that a file
 * that would stall is refused with the two sides named.
 */
#ifndef ORR_CONVERT_GOAL_H
#define ORR_CONVERT_GOAL_H

#include "convert/convert.h"
#include "convert/workload.h"

/* Fills a workload that was initialised. */
ORR_MUST_CHECK enum orr_status goal_read(const struct convert_request *request, struct workload *workload,
                                         struct orr_error *err);

#endif
