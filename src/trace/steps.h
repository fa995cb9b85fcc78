/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which training step each node of a trace belongs to. The attribute "step" says it where a converter of ours wrote it;
 * in other traces the marks a profiler leaves ("ProfilerStep#7", with a start and a duration) do, by the start time of
 * each node. A node outside all steps has none.
 */
#ifndef ORR_TRACE_STEPS_H
#define ORR_TRACE_STEPS_H

#include "trace/record.h"

struct steps_mark {
    uint64_t start_us, end_us;
    int64_t step;
};

struct steps {
    struct mem *mem;
    int64_t *step;      /* by node; STEPS_NONE */
    uint64_t *start_us; /* by node */
    uint32_t node_count, step_capacity, start_capacity;
    struct steps_mark *marks; /* by start, once settled */
    uint32_t mark_count, mark_capacity;
    bool by_attribute; /* some node has the attribute */
};

#define STEPS_NONE INT64_MIN

void steps_init(struct steps *steps, struct mem *mem);
void steps_free(struct steps *steps);

/* Adds the next node. */
ORR_MUST_CHECK enum orr_status steps_add(struct steps *steps, const struct record_facts *facts, struct orr_error *err);

/* After the last node: steps->step is right for every node. Whether the trace has any step at all. */
bool steps_settle(struct steps *steps);

#endif
