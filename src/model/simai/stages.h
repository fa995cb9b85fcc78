/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The pipeline of an analytical count: what a stage waits for the others, and what of their messages shows, by the
 * schedule that was asked for (model/simai/pipeline.h). Every stage runs the rows of the file. Fills the sums bubble
 * and pipeline, `chunks` and `messages_hide`; all rows must have been counted.
 */
#ifndef ORR_MODEL_SIMAI_STAGES_H
#define ORR_MODEL_SIMAI_STAGES_H

#include "model/simai/analytical.h"

/* Fails with ORR_EINVAL (nothing says how fast stages send), ORR_ERANGE, ORR_ENOMEM. */
ORR_MUST_CHECK enum orr_status simai_stages_count(const struct simai_machine *machine, const struct simai_text *text,
                                                  struct simai_analysis *analysis, struct notes *notes,
                                                  struct orr_error *err);

#endif
