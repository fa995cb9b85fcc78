/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How a job is split, told by its process groups: a group of ranks 0, 2, 4, 6 is a role of four ranks that lie two
 * apart, and the roles of a job nest, each one's stride being the product of the sizes below it. From the groups that
 * one rank is in, and the peers it sends to, follows the layout of the whole job; what no group tells of is one more
 * role. Names come from the groups' descriptions where there are some ("mesh_tp"), else from what is done in them.
 *
 * Owns nothing. Knows no file: where groups and descriptions come from is the caller's.
 */
#ifndef ORR_TRACE_ROLES_H
#define ORR_TRACE_ROLES_H

#include "trace/replicate.h"

/* What is known of one group of the rank's. */
struct trace_role_group {
    const uint32_t *ranks;
    uint32_t count;
    const char *text;     /* its description; NULL or "" = none */
    uint64_t collectives; /* in it, a step or so: many are taken for tensor parallelism */
    bool exchanges;       /* all-to-alls */
};

struct trace_role_clues {
    const struct trace_role_group *groups; /* that the rank is in */
    uint32_t group_count;
    const uint32_t *peers; /* of its sends and receives */
    uint32_t peer_count;
    uint32_t rank;
    uint32_t ranks; /* of the job */
};

/* Fastest role first; a job of which no group tells anything is "dp". Fails with ORR_EINVAL when strides and sizes do
 * not nest, naming both. */
ORR_MUST_CHECK enum orr_status trace_roles_infer(const struct trace_role_clues *clues, struct trace_layout *layout,
                                                 struct orr_error *err);

/* "tp:2,pp:2,dp:2". */
enum { TRACE_LAYOUT_TEXT = TRACE_ROLES_MAX * (TRACE_ROLE_NAME + 12) };
const char *trace_layout_text(const struct trace_layout *layout, char text[TRACE_LAYOUT_TEXT]);

#endif
