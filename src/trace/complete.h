/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A whole job made of one rank's trace, in memory: rank 0 of a job of N was recorded, and the others do what it did,
 * each in its own groups. Where a group lies along a role, the other ranks' groups of that role are its images; a
 * collective of all ranks stays one.
 *
 * Stages of a pipeline are no images of each other: the first sends forward and receives gradients, the last the other
 * way round, those between do both. So a stage that was not recorded does the recorded one's work, receives what the
 * stage before it sends, where that is due, and sends back what that one waits for; what would go beyond the last stage
 * is left out. Times of its own it has none: embedding and head, which stages have or have not, are the recorded
 * rank's.
 *
 * The result is as long as the recording's world, so that nothing is scaled; a larger one is trace/replicate.h's.
 */
#ifndef ORR_TRACE_COMPLETE_H
#define ORR_TRACE_COMPLETE_H

#include "trace/replicate.h"

/* Makes trace_layout_ranks(layout) ranks of `source`, which has one; the role that its messages go along is the
 * pipeline. `source` and `groups` must outlive the result, which borrows from them. ORR_EINVAL: a group does not lie
 * along the roles, a message goes neither to the next stage nor to the one before. */
ORR_MUST_CHECK enum orr_status trace_set_complete(const struct trace_set *source, const struct trace_group *groups,
                                                  uint32_t group_count, const struct trace_layout *layout,
                                                  struct arena *arena, struct mem *mem, struct trace_grown *grown,
                                                  struct orr_error *err);

#endif
