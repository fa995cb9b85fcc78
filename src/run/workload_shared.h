/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Traces that many runs use at once (orrery.h, struct orr_workload): read whole when opened and never changed, so that
 * threads need no lock for them. A run that has fewer ranks than there are traces gets a view of the first ones.
 *
 * Owns the traces and their account of memory; what was noted while reading is kept, since every run tells it.
 */
#ifndef ORR_RUN_WORKLOAD_SHARED_H
#define ORR_RUN_WORKLOAD_SHARED_H

#include "base/notes.h"
#include "orrery.h"
#include "sim/config.h"
#include "trace/graph.h"

/*
 * The traces of `ranks` ranks as reading them for this run alone would give them, with the same notes; UINT32_MAX: all.
 * `*view` borrows everything and is not to be freed. ORR_EINVAL or ORR_EIO as trace_set_load where there are fewer;
 * ORR_EINVAL when `prefix` or `missing_is_cpu` is not what the workload was opened with.
 */
ORR_MUST_CHECK enum orr_status workload_shared_view(const struct orr_workload *workload,
                                                    const struct orr_run_options *options, uint32_t ranks,
                                                    struct notes *notes, struct trace_set *view, struct orr_error *err);

/* The most memory that reading them took: a run with less could not have read them itself. */
uint64_t workload_shared_peak(const struct orr_workload *workload);

/* Reads a run's own traces: what the shared ones are made of, too. */
ORR_MUST_CHECK enum orr_status workload_read(const char *prefix, uint32_t ranks, bool as_many_as_exist,
                                             bool missing_is_cpu, struct mem *mem, struct notes *notes,
                                             struct trace_set **set, struct orr_error *err);

/* ---- made, not read ---- */

/* A workload of `ranks` ranks, under a name for messages, with room for `graphs` graphs. It is filled rank by rank:
 * workload_give hands it a graph made on its account, which it owns, for one of the first `graphs` ranks, and
 * workload_same makes a rank do what an earlier one does. */
ORR_MUST_CHECK enum orr_status workload_make(const char *name, uint32_t ranks, uint32_t graphs, uint64_t memory_limit,
                                             struct orr_workload **workload, struct orr_error *err);
struct mem *workload_mem(struct orr_workload *workload);
void workload_give(struct orr_workload *workload, uint32_t rank, struct trace_graph *graph);
void workload_same(struct orr_workload *workload, uint32_t rank, uint32_t as);
/* Room for `count` groups of `members` ranks together, its own; NULL where memory is refused. */
struct sim_group *workload_groups_make(struct orr_workload *workload, uint32_t count, uint64_t members,
                                       uint32_t **ranks);
/* Groups that it brings along; none where it was read. */
const struct sim_group *workload_groups(const struct orr_workload *workload, uint32_t *count);

#endif
