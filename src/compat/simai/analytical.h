/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SimAI 1.6's analytical mode as it counts, to the byte of its report (spec simai §9): the functions that
 * model/simai/original.h leaves open. For api/ alone, which is asked for SimAI's bytes by name.
 */
#ifndef ORR_COMPAT_SIMAI_ANALYTICAL_H
#define ORR_COMPAT_SIMAI_ANALYTICAL_H

#include "model/simai/original.h"

extern const struct simai_original simai_original;

/* The column for a number of servers: 9 is taken for the first shared column, what is not listed for 16 servers. */
unsigned simai_original_ratio_column(int64_t servers);

#endif
