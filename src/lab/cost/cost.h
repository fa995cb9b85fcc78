/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A price list applied to a machine: which item each thing is bought as, and the bill. Rules: a switch is bought as the
 * item of its level (leaf, spine) with the fewest ports that are enough, else as such a `switch`; a cable as the item
 * of its rate, else as one of any rate; everything else as every item that is counted by it.
 */
#ifndef ORR_LAB_COST_COST_H
#define ORR_LAB_COST_COST_H

#include "lab/cost/count.h"
#include "lab/cost/prices.h"
#include "report/cost_text.h"

/* Fills the bill but for its step. ORR_EINVAL when a switch has more ports than any item that is for it, ORR_ERANGE
 * when the sum does not fit. Notes: switches and cables that have no price. */
ORR_MUST_CHECK enum orr_status cost_bill_make(const struct cost_prices *prices, const struct cost_count *count,
                                              const char *machine, struct arena *arena, struct notes *notes,
                                              struct cost_bill *bill, struct orr_error *err);

#endif
