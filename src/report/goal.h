/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The traces of all ranks as one schedule in LogGOPSim's GOAL text (spec formats §8): compute becomes calc in
 * nanoseconds, sends and receives stay what they are, and collectives, which GOAL does not have, become the messages of
 * one plain algorithm each:
 *
 *   all-reduce              ring: reduce-scatter, then all-gather, 2(n-1) rounds of a chunk
 *   reduce-scatter          ring, n-1 rounds of a chunk; all-gather the same with the whole size
 *   all-to-all              direct: a chunk to each other member, all at once
 *   broadcast, reduce,      binomial tree (coll/program.h)
 *   gather, scatter
 *   barrier                 dissemination (coll/program.h), one byte a message
 *
 * GPU compute runs on cpu 0, CPU operators on cpu 1, messages on cpu 2, so that they overlap as in the trace. Knows no
 * network.
 */
#ifndef ORR_REPORT_GOAL_H
#define ORR_REPORT_GOAL_H

#include <stdio.h>

#include "trace/graph.h"

/* Which ranks take part in a collective whose pg_name is this number, in the order of the group's ring. */
struct goal_group {
    int64_t id;
    const uint32_t *ranks;
    uint32_t count;
};

/*
 * Write errors stay with the stream. ORR_EINVAL when a collective names an unknown group, a group without the rank, or
 * lacks its type or size, when a message lacks its peer, or when a trace has a cycle; ORR_ENOMEM.
 */
ORR_MUST_CHECK enum orr_status goal_write(const struct trace_set *traces, const struct goal_group *groups,
                                          uint32_t group_count, FILE *stream, struct mem *mem, struct orr_error *err);

#endif
