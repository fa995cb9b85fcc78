/* SPDX-License-Identifier: Apache-2.0 */
/* One rank's graph with other groups, peers and amounts: replicate.c says which, replicate_graph.c makes it. */
#ifndef ORR_TRACE_REPLICATE_GRAPH_H
#define ORR_TRACE_REPLICATE_GRAPH_H

#include "trace/replicate.h"

/* What becomes of the source's group, for one replica. */
struct replica_group {
    int32_t from, to;          /* ids */
    bool grows;                /* spans the growing role */
    struct scale_factor share; /* an all-gather's part: old size over new size */
};

struct replica_view {
    const struct replica_group *groups; /* ascending `from` */
    uint32_t group_count;
    int32_t whole_to;                /* the group that all ranks become; 0: they stay all */
    struct scale_factor whole_share; /* the same for collectives of all ranks */
    struct scale_factor comm, inner, compute;
    /* The rank in the larger job that does what `peer` did for this one; UINT32_MAX when there is none. */
    uint32_t (*peer)(const void *context, uint32_t peer);
    /* The same for a root, which is a member of its group: the source's id, 0 for all ranks. NULL: as a peer. */
    uint32_t (*root)(const void *context, int32_t group, uint32_t root);
    const void *context;
};

/* Whether a graph's meaning depends on which source rank it belongs to: it names other ranks. */
bool replica_graph_names_ranks(const struct trace_graph *graph);
/* Whether the view changes anything in the graph. */
bool replica_graph_changes(const struct trace_graph *graph, const struct replica_view *view);

/* A graph that borrows its edges from `source`. `name` starts the error messages. */
ORR_MUST_CHECK enum orr_status replica_graph_make(const struct trace_graph *source, const struct replica_view *view,
                                                  const char *name, struct mem *mem, struct trace_graph **graph,
                                                  struct orr_error *err);

#endif
