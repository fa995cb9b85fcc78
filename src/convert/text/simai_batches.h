/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a pipeline needs to know of a SimAI workload's rows: where each micro-batch begins. AICB unrolls the
 * micro-batches one after the other, each with its embedding first (spec simai §2.3); rows before the first are the
 * step's own, and so are those behind the last.
 */
#ifndef ORR_CONVERT_TEXT_SIMAI_BATCHES_H
#define ORR_CONVERT_TEXT_SIMAI_BATCHES_H

#include "base/notes.h"
#include "convert/text/simai_read.h"

/* `*start` has `*count` + 1 entries, in the arena. Without embeddings all rows are one micro-batch. A number of
 * micro-batches that the header's ga: does not say is a note. */
ORR_MUST_CHECK enum orr_status simai_batches_find(const struct simai_text *text, struct arena *arena,
                                                  struct notes *notes, const uint32_t **start, uint32_t *count,
                                                  struct orr_error *err);

/* Marks the rows that checkpoints: and checkpoint_initiates: name. */
ORR_MUST_CHECK enum orr_status simai_checkpoints_mark(struct simai_text *text, struct orr_error *err);

#endif
