/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A traced job made as large as the machine (orrery.h, struct orr_growth): the user's words turned into what
 * trace/replicate.h carries out, and its groups into the simulator's. The arithmetic of sizes that fit lives here too,
 * so that a refusal can name them.
 */
#ifndef ORR_RUN_GROWTH_H
#define ORR_RUN_GROWTH_H

#include "base/notes.h"
#include "orrery.h"
#include "sim/config.h"
#include "trace/replicate.h"

/* What was made: freed with run_grown_free, before the traces it is made of. */
struct run_grown {
    struct trace_set *whole;  /* the job that one rank was recorded of; NULL: all of it was */
    struct trace_set *larger; /* made of that, or of the traces; NULL: there are as many ranks as asked for */
};

/* Makes `ranks` ranks of the traces in `source`; `groups` are those of the traced job, and become those of the larger
 * one (in the arena). Where the groups name ranks that have no trace, the job they tell of is made whole first. */
ORR_MUST_CHECK enum orr_status run_grow(const struct orr_growth *growth, const struct trace_set *source, uint32_t ranks,
                                        struct arena *arena, struct mem *mem, struct notes *notes,
                                        const struct sim_group **groups, uint32_t *group_count, struct run_grown *grown,
                                        struct orr_error *err);
void run_grown_free(struct run_grown *grown);

#endif
