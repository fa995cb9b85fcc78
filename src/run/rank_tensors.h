/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tensors of every rank's trace, where a run asks what ranks hold in memory (sim/usage.h): read from the files the
 * traces came from, each once, and kept once where ranks name the same. Owned by the run.
 */
#ifndef ORR_RUN_RANK_TENSORS_H
#define ORR_RUN_RANK_TENSORS_H

#include "base/notes.h"
#include "sim/config.h"
#include "trace/tensors.h"

struct run_rank_tensors {
    struct trace_tensors **sets;
    const struct trace_tensors **of_rank;
    uint32_t *set_of_file; /* plus 1; by the number in a trace's name */
    uint32_t set_count, set_capacity, rank_count, file_count;
};

/* Whether the system's settings ask for it. */
bool run_rank_tensors_wanted(const struct sim_system *system);

/* Reads those of `traces`. Notes what the files do not tell, and what is not known of ranks that were made. */
ORR_MUST_CHECK enum orr_status run_rank_tensors_load(const struct trace_set *traces, const char *prefix, bool grown,
                                                     struct mem *mem, struct notes *notes,
                                                     struct run_rank_tensors *tensors, struct orr_error *err);
void run_rank_tensors_free(struct run_rank_tensors *tensors, struct mem *mem); /* all zero is fine */

#endif
