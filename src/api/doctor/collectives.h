/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The doctor's numeric test: every algorithm's collectives in many sizes, one row each. Which sizes is the table in the
 * .c file; how one is acted out is api/doctor/steps.h and api/doctor/flows.h.
 */
#ifndef ORR_API_DOCTOR_COLLECTIVES_H
#define ORR_API_DOCTOR_COLLECTIVES_H

#include "base/arena.h"
#include "report/doctor_text.h"

/* Fills a row for each algorithm and collective; what comes out wrong is told in its row. `spoiled` as in
 * api/doctor/stage.h, in every act that has so many messages. */
ORR_MUST_CHECK enum orr_status doctor_collectives_run(uint64_t spoiled, struct arena *arena,
                                                      const struct doctor_check **checks, uint32_t *count,
                                                      struct orr_error *err);

#endif
