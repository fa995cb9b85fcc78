/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One collective as NCCL lays it out (coll/nccl.h), for people: the flow dump that SimAI's goldens have, a table with a
 * drawing in text, and a picture. Reads what was built, to a stream of the caller's; builds nothing.
 */
#ifndef ORR_REPORT_COLL_H
#define ORR_REPORT_COLL_H

#include <stdio.h>

#include "coll/nccl.h"

/* What was built. Without a group it is a list of sends and receives: `groups` and `channels` are then unused. */
struct report_coll {
    const struct nccl_job *job;
    const struct nccl_group *groups; /* all of the job, for the dump */
    uint32_t group_count;
    uint32_t rank;                  /* whose group it is */
    const struct nccl_group *group; /* or NULL: the rank has none of that type, or pairs */
    const struct nccl_channels *channels;
    const struct nccl_flows *flows;
    const char *type; /* for people */
    bool pairs;       /* messages that follow no ring or tree */
    uint64_t bytes;
};

/* The text of spec simai §14. */
void report_coll_dump(const struct report_coll *coll, FILE *stream);

/* What it costs and how it looks. Needs memory in proportion to the flows. */
ORR_MUST_CHECK enum orr_status report_coll_text(const struct report_coll *coll, struct arena *arena, FILE *stream,
                                                struct orr_error *err);

/* Rings or trees, a panel each. */
void report_coll_svg(const struct report_coll *coll, FILE *stream);

#endif
