/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A SimAI run from within the library: what tests set and see that the public functions do not show.
 */
#ifndef ORR_API_SIMAI_INSIDE_H
#define ORR_API_SIMAI_INSIDE_H

#include "orrery.h"
#include "sim/simai/simai.h"

struct orr_simai;

/* May be changed until the run is executed. */
struct simai_config *lab_simai_config(struct orr_simai *simai);
const struct simai_result *lab_simai_result(const struct orr_simai *simai);

#endif
