/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A SimAI workload text made into what the executor runs (sim/simai/program.h): words become collectives and groups,
 * the header's degrees become groups of ranks and stages, rows become micro-batches where there are stages. Says what
 * the header and the machine do not agree on.
 */
#ifndef ORR_API_SIMAI_PROGRAM_H
#define ORR_API_SIMAI_PROGRAM_H

#include "base/notes.h"
#include "sim/simai/program.h"

struct lab_simai_program {
    struct simai_program program;
    uint32_t tp, ep, cp, pp, vpp, ga; /* of the header, at least 1 */
};

/* Everything in the arena. `gpus` are the machine's. Compat: read as SimAI reads, with one pipeline stage. Interleaved:
 * a stage's rows are cut into as many chunks as the header's vpp: says. */
ORR_MUST_CHECK enum orr_status lab_simai_program_read(const char *path, uint32_t gpus, bool compat, bool interleaved,
                                                      struct arena *arena, struct notes *notes,
                                                      struct lab_simai_program *made, struct orr_error *err);

#endif
