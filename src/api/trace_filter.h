/* SPDX-License-Identifier: Apache-2.0 */
/* The filter of orrery.h, its words read (coll/ and trace/ each know half of them). */
#ifndef ORR_API_TRACE_FILTER_H
#define ORR_API_TRACE_FILTER_H

#include "orrery.h"
#include "trace/filter.h"

/* Cuts the document down; `kept` may be NULL. */
ORR_MUST_CHECK enum orr_status lab_trace_filter(struct trace_document *document, const struct orr_trace_filter *filter,
                                                struct mem *mem, uint64_t *kept, struct orr_error *err);

#endif
