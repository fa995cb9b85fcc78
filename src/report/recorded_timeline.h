/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What ran when, as it was recorded: the start times and durations that a converter left on a trace's nodes, as Chrome
 * trace events for chrome://tracing and Perfetto. One process a file, one row a device stream and a host thread. The
 * counterpart of report/timeline.h, which shows a simulated run; reads traces only.
 */
#ifndef ORR_REPORT_RECORDED_TIMELINE_H
#define ORR_REPORT_RECORDED_TIMELINE_H

#include <stdio.h>

#include "trace/document.h"

struct recorded_timeline;

/* Begins the document on `stream`, which the caller owns and looks for write errors in. */
ORR_MUST_CHECK enum orr_status recorded_timeline_begin(FILE *stream, struct mem *mem,
                                                       struct recorded_timeline **timeline, struct orr_error *err);
/* Adds a trace as the next process. ORR_EINVAL when none of its nodes has a time. */
ORR_MUST_CHECK enum orr_status recorded_timeline_add(struct recorded_timeline *timeline,
                                                     const struct trace_document *document, struct orr_error *err);
void recorded_timeline_end(struct recorded_timeline *timeline); /* ends the document too; NULL is fine */

#endif
