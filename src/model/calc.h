/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The arithmetic of a parallel training job: how many micro-batches a batch makes, how ranks fall into groups, what a
 * pipeline stage sends. Whole numbers only: what does not divide is an error that names the rule and the nearest values
 * that would.
 *
 * The structures are public (orrery.h). Knows no file and no machine.
 */
#ifndef ORR_MODEL_CALC_H
#define ORR_MODEL_CALC_H

#include "base/error.h"
#include "orrery/machine.h"

/* As orr_calc_groups, orr_calc_batch and orr_calc_pp_comm say. */
ORR_MUST_CHECK enum orr_status calc_groups(const struct orr_calc_degrees *degrees, enum orr_calc_nesting nesting,
                                           struct orr_calc_groups *groups, struct orr_error *err);
ORR_MUST_CHECK enum orr_status calc_batch(const struct orr_calc_batch *given, struct orr_calc_batch *whole,
                                          struct orr_error *err);
ORR_MUST_CHECK enum orr_status calc_pp_comm(const struct orr_calc_pp_comm *given, uint64_t *bytes,
                                            struct orr_error *err);

/* The largest divisor of `of` below `value` and the smallest above it; 0 where there is none. `of` is at least 1. */
void calc_near_divisors(uint64_t value, uint64_t of, uint64_t *below, uint64_t *above);

#endif
