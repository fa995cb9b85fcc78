/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a look at a recording found (convert/pytorch/ready/ready.h), for people and as JSON. Writes to the stream it is
 * given; whether that worked is for the caller to ask the stream.
 */
#ifndef ORR_REPORT_READY_TEXT_H
#define ORR_REPORT_READY_TEXT_H

#include <stdio.h>

#include "convert/pytorch/ready/ready.h"

/* One run: counts by rank, collectives, mode, findings, verdict. `brief`: the last two alone. */
void ready_text_run(const struct ready_run *run, bool brief, FILE *stream);

/* Recorded against simulated, a line a rank, and why they differ where they do; nothing where nothing was measured. */
void ready_text_measure(const struct ready_run *run, FILE *stream);

/* Runs side by side, a column each. */
void ready_text_compare(const struct ready_run *runs, uint32_t count, FILE *stream);

/* One object with all runs, and why other places could not be looked at. */
void ready_text_json(const char *place, const struct ready_run *runs, uint32_t count, const char *const *refusals,
                     uint32_t refusal_count, FILE *stream);

#endif
