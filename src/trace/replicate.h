/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A larger job made of a smaller one's traces, in memory: the ranks of one role (data parallel, as a rule) become more,
 * each new one doing what the rank in its place of the small job did. Groups are carried over by role: what spans the
 * growing role grows with it, the others are there once for every new replica, so that tensor- and pipeline-parallel
 * neighbours stay the same. Nothing is written to disk, and ranks that do the same share one graph.
 *
 * How bytes change with the number of ranks follows from what a size means (spec analytical §9): an all-reduce, a
 * reduce-scatter and an all-to-all state the whole buffer, which stays; an all-gather states one rank's share, which
 * shrinks as the group grows.
 */
#ifndef ORR_TRACE_REPLICATE_H
#define ORR_TRACE_REPLICATE_H

#include "trace/graph.h"
#include "trace/scale.h"

enum { TRACE_ROLES_MAX = 6, TRACE_ROLE_NAME = 8 };

struct trace_role {
    char name[TRACE_ROLE_NAME]; /* "tp", "pp", "dp", … */
    uint32_t size;
};

/* How a job's ranks are numbered: the first role changes fastest. */
struct trace_layout {
    struct trace_role roles[TRACE_ROLES_MAX];
    uint32_t role_count;
};

/* "tp:2,pp:2,dp:4". ORR_EINVAL with `option` before the message. */
ORR_MUST_CHECK enum orr_status trace_layout_parse(const char *option, const char *text, struct trace_layout *layout,
                                                  struct orr_error *err);
/* The number of ranks. */
uint64_t trace_layout_ranks(const struct trace_layout *layout);
/* The index of a role, or UINT32_MAX. */
uint32_t trace_layout_find(const struct trace_layout *layout, const char *name);

struct trace_group {
    int32_t id; /* > 0, what pg_name says */
    uint32_t count;
    const uint32_t *ranks;
};

struct trace_growth {
    struct trace_layout layout;  /* of the traces there are */
    uint32_t grows;              /* which role */
    uint32_t to;                 /* its new size, at least 1 */
    struct scale_factor comm;    /* bytes of every all-reduce, all-gather, reduce-scatter and all-to-all */
    struct scale_factor inner;   /* bytes of what does not span the growing role */
    struct scale_factor compute; /* durations of compute on the device */
};

struct trace_grown {
    struct trace_set *set;
    struct trace_group *groups; /* in the arena given, ascending id */
    uint32_t group_count;
};

/*
 * Makes the traces of the larger job. `source` and `groups` must outlive the result, which borrows from them; the
 * result's set is freed with trace_set_free. ORR_EINVAL: the number of traces is not that of the layout, a group does
 * not lie along the roles, a send crosses the growing role. ORR_ERANGE: a size does not fit 64 bits.
 */
ORR_MUST_CHECK enum orr_status trace_set_replicate(const struct trace_set *source, const struct trace_group *groups,
                                                   uint32_t group_count, const struct trace_growth *growth,
                                                   struct arena *arena, struct mem *mem, struct trace_grown *grown,
                                                   struct orr_error *err);

#endif
