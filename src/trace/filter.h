/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A document cut down to the nodes one wants to look at: by name, by kind and by when they started. What is left keeps
 * its order: a node that waited for one that is gone waits for the nearest ones before it that are still there. Changes
 * the document in place; for looking, not for simulating, since the work in between is gone.
 */
#ifndef ORR_TRACE_FILTER_H
#define ORR_TRACE_FILTER_H

#include "trace/document.h"

enum trace_kind {
    TRACE_KIND_CPU,        /* compute on the host */
    TRACE_KIND_GPU,        /* compute on the device */
    TRACE_KIND_MEMORY,     /* loads and stores of remote memory */
    TRACE_KIND_COLLECTIVE, /* of any type */
    TRACE_KIND_SEND,
    TRACE_KIND_RECV,
    TRACE_KIND_OTHER, /* metadata, invalid, unknown */
    TRACE_KIND_COUNT
};

struct trace_filter {
    const char *name;        /* a pattern (trace/pattern.h); NULL: any */
    uint32_t kinds;          /* bit enum trace_kind; with `collectives` 0: any */
    uint32_t collectives;    /* bit Chakra's collective type: these beside `kinds` */
    uint64_t from_us, to_us; /* started at or after, and before; from the trace's first start */
};

/* How many of how many stayed, and dependencies that were not carried over nodes that are gone, since too many led
 * there. */
struct trace_filtered {
    uint32_t kept, of;
    uint64_t lost_edges;
};

/* ORR_EINVAL when the pattern is none, and the document is as it was; ORR_ENOMEM, and it is fit for freeing only. */
ORR_MUST_CHECK enum orr_status trace_filter(struct trace_document *document, const struct trace_filter *filter,
                                            struct mem *mem, struct trace_filtered *filtered, struct orr_error *err);

#endif
