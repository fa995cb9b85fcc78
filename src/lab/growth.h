/*
 * A traced job made as large as the machine (orrery.h, struct orr_growth): the user's words turned into what
 * trace/replicate.h carries out, and its groups into the simulator's. The arithmetic of sizes that fit lives here too,
 * so that a refusal can name them.
 */
#ifndef ORR_LAB_GROWTH_H
#define ORR_LAB_GROWTH_H

#include "base/notes.h"
#include "orrery.h"
#include "sim/config.h"
#include "trace/replicate.h"

/* Makes `ranks` ranks of the traces in `source`; `groups` are those of the traced job, and become those of the larger
 * one (in the arena). `*grown` is freed with trace_set_free, before `source`; it is NULL when there are as many traces
 * as ranks and nothing is to be scaled. */
ORR_MUST_CHECK enum orr_status lab_grow(const struct orr_growth *growth, const struct trace_set *source, uint32_t ranks,
                                        struct arena *arena, struct mem *mem, const struct sim_group **groups,
                                        uint32_t *group_count, struct trace_set **grown, struct orr_error *err);

#endif
