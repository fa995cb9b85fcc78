/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who receives what, in a GOAL file that was read whole: receives from any source or with any tag are given the one
 * sender there can be, every send must have its receive and the other way round, and the n-th send from one rank to
 * another with a tag meets the n-th receive of it, as in MPI. What cannot be decided, or would stall, is refused.
 */
#ifndef ORR_CONVERT_GOAL_MATCH_H
#define ORR_CONVERT_GOAL_MATCH_H

#include "convert/workload.h"

/* As peer of a RECV, or as tag. */
enum { GOAL_ANY = -1 };

/* Changes receives: their source, their tag, and their size where the message is of another size (noted). */
ORR_MUST_CHECK enum orr_status goal_match(struct workload *workload, const struct convert_request *request,
                                          struct orr_error *err);

#endif
