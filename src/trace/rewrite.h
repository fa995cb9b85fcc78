/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Collectives and messages told to be others: another type, another size, another group, for the nodes whose name and
 * type match. What-if studies ("this job with all-to-all instead", "every bucket 64 MiB") without a converter. An
 * attribute keeps the kind of integer it had.
 */
#ifndef ORR_TRACE_REWRITE_H
#define ORR_TRACE_REWRITE_H

#include <stdio.h>

#include "trace/pattern.h"

enum { REWRITE_ANY_TYPE = -1 };

struct rewrite_options {
    const struct pattern *match; /* communication nodes of such names */
    int32_t from_type;           /* only collectives of this type; REWRITE_ANY_TYPE: all, messages too */
    int32_t to_type;             /* of collectives; REWRITE_ANY_TYPE: as it is */
    bool set_bytes;
    uint64_t bytes;
    const char *group; /* pg_name of collectives, "" to take it away; NULL: as it is */
};

struct rewrite_counts {
    uint64_t nodes;
    uint64_t matched;              /* communication nodes that match */
    uint64_t types, sizes, groups; /* changed */
    uint64_t bytes_before, bytes;  /* comm_size of those that match */
};

/* As scale_trace. */
ORR_MUST_CHECK enum orr_status rewrite_trace(struct record_reader *reader, const struct rewrite_options *options,
                                             FILE *stream, struct rewrite_counts *counts, struct mem *mem,
                                             struct orr_error *err);

#endif
